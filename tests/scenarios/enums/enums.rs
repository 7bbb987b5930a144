use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq)]
pub enum Animal { Dog { age: i64 }, Cat(i64), Fish }

impl Animal {
    fn legs(self) -> i64 {
        match self {
            Animal::Dog { .. } => 4,
            Animal::Cat(_) => 4,
            Animal::Fish => 0,
        }
    }
    fn years(self) -> i64 {
        match self {
            Animal::Dog { age } => age * 7,
            Animal::Cat(a) => a * 5,
            Animal::Fish => 1,
        }
    }
    fn older(self) -> Animal {
        match self {
            Animal::Dog { age } => Animal::Dog { age: age + 1 },
            Animal::Cat(a) => Animal::Cat(a + 1),
            Animal::Fish => Animal::Fish,
        }
    }
}

/// The kind is the same in each round; its number changes.
pub fn same_kind_in_loop(n: i64) -> i64 {
    let mut a = Animal::Cat(0);
    let mut n = n;
    while n > 0 {
        a = a.older();
        n -= 1;
    }
    a.years() + a.legs()
}

/// Asked twice, answered once.
pub fn asked_twice(k: i64, x: i64) -> i64 {
    let a = if k > 0 { Animal::Dog { age: x } } else { Animal::Fish };
    let r = match a {
        Animal::Dog { age } => age,
        _ => 0,
    };
    let s = match a {
        Animal::Dog { .. } => 10,
        _ => 20,
    };
    r + s
}

/// No test is needed for what has been made just now.
pub fn made_just_now(x: i64) -> i64 {
    let a = Animal::Dog { age: x };
    a.older().older().years() + a.legs()
}

/// Of a given animal: one switch on its kind.
pub fn of_a_given(a: Animal) -> i64 {
    a.years() + a.legs() * 100
}

#[derive(Clone, Copy, PartialEq)]
pub enum Op { Add, Sub, Mul, Neg }

const PROGRAM: [Op; 6] = [Op::Add, Op::Mul, Op::Add, Op::Neg, Op::Sub, Op::Mul];

/// A table of plain enums is the program.
pub fn table_of_ops(x: i64, y: i64) -> i64 {
    let mut pc = concrete(0usize);
    let mut acc = x;
    while pc < PROGRAM.len() {
        match PROGRAM[pc] {
            Op::Add => acc += y,
            Op::Sub => acc -= y,
            Op::Mul => acc *= y,
            Op::Neg => acc = -acc,
        }
        pc += 1;
    }
    acc
}

fn find(a: &[i64], x: i64) -> Option<i64> {
    if a[0] == x {
        Some(0)
    } else if a[1] == x {
        Some(1)
    } else {
        None
    }
}

/// Options inside of each other: what is known of them needs no tags.
pub fn option_of_option(a: &[i64], x: i64) -> i64 {
    let o: Option<Option<i64>> = if x < 0 { None } else { Some(find(a, x)) };
    match o {
        None => -1,
        Some(None) => -2,
        Some(Some(i)) => i,
    }
}

/// Numbers of a plain enum.
pub fn numbered(k: i64) -> i64 {
    let op = match k & 3 {
        0 => Op::Add,
        1 => Op::Sub,
        2 => Op::Mul,
        _ => Op::Neg,
    };
    op as i64
}

/// A comparison of enums.
pub fn compared(a: Animal, b: Animal) -> i64 {
    (a == b) as i64 * 10 + (a == Animal::Fish) as i64
}

#[derive(Clone, Copy)]
pub enum Expr { Num(i64), Var, Add(usize, usize), Mul(usize, usize), Neg(usize) }

#[unroll_safe]
fn eval(nodes: &[Expr], at: usize, x: i64) -> i64 {
    match nodes[concrete(at)] {
        Expr::Num(n) => n,
        Expr::Var => x,
        Expr::Add(l, r) => eval(nodes, l, x) + eval(nodes, r, x),
        Expr::Mul(l, r) => eval(nodes, l, x) * eval(nodes, r, x),
        Expr::Neg(e) => -eval(nodes, e, x),
    }
}

/// An expression tree in an arena that is known.
pub fn tree(nodes: &[Expr], at: usize, x: i64) -> i64 {
    eval(nodes, at, x)
}

/// The tag is promoted in a loop: inside there is no question.
pub fn promoted_kind(a: Animal, n: i64) -> i64 {
    let a = promote_tag(a);
    let mut s = 0;
    let mut n = n;
    while n > 0 {
        s += a.years();
        n -= 1;
    }
    s
}
