//! Promotions in functions that are called.

use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub enum Value {
    Nil,
    Int(i64),
    Num(f64),
}

fn add(a: Value, b: Value) -> Value {
    match (promote_tag(a), promote_tag(b)) {
        (Value::Int(x), Value::Int(y)) => Value::Int(x + y),
        (Value::Int(x), Value::Num(y)) | (Value::Num(y), Value::Int(x)) => Value::Num(x as f64 + y),
        (Value::Num(x), Value::Num(y)) => Value::Num(x + y),
        _ => Value::Nil,
    }
}

fn less(a: Value, b: Value) -> bool {
    match (promote_tag(a), promote_tag(b)) {
        (Value::Int(x), Value::Int(y)) => x < y,
        (Value::Num(x), Value::Num(y)) => x < y,
        _ => false,
    }
}

/// Calls of the guest are calls of the portal.
#[portal(greens(code, pc), reds(regs))]
fn run(code: &[u8], mut pc: usize, regs: &mut [Value]) -> Value {
    loop {
        merge_point!();
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'1' => regs[3] = add(regs[0], Value::Int(-1)),
            b'2' => regs[3] = add(regs[0], Value::Int(-2)),
            b'?' => {
                if less(regs[0], Value::Int(2)) {
                    return regs[0];
                }
            }
            b'c' => {
                let r = run(code, 0, &mut regs[3..]);
                regs[3] = r;
            }
            b's' => regs[1] = regs[3],
            b'+' => regs[0] = add(regs[1], regs[3]),
            _ => return regs[0],
        }
    }
}

/// The tags of a recursion's values have code each: which op comes next isn't asked.
pub fn fibonacci(n: i64) -> i64 {
    let mut regs = [Value::Nil; 64];
    regs[0] = Value::Int(n);
    match run(b"?1cs2c+.", 0, &mut regs) {
        Value::Int(x) => x,
        Value::Num(x) => x as i64,
        Value::Nil => -1,
    }
}

#[portal(greens(code, pc), reds(x, cells))]
fn jumps(code: &[u8], mut pc: usize, mut x: i64, cells: &mut [i64]) -> i64 {
    loop {
        merge_point!();
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'+' => x = x * 3 + 1,
            b'-' => x -= 7,
            b'j' => {
                pc = promote(cells[0] as usize);
                cells[1] += 1;
                if cells[1] > 5 {
                    return x;
                }
                can_enter_jit!();
            }
            _ => return x,
        }
    }
}

fn many(code: &[u8], n: i64, cells: &mut [i64]) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        cells[1] = 0;
        sum += jumps(code, 0, i, cells);
        i += 1;
    }
    sum
}

/// A function with a loop that calls a portal is part of what calls it: so what the portal promotes is.
pub fn through_a_loop(n: i64) -> i64 {
    let mut cells = [2, 0];
    many(b"++-+-j", n, &mut cells)
}

/// The low bits of a word are few.
fn steps(n: i64, by: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        let mut k = promote(by & 3);
        while k > 0 {
            sum = sum * 2 + i;
            k -= 1;
        }
        i += 1;
    }
    sum
}

pub fn few(n: i64, by: i64) -> i64 {
    steps(n, by) + steps(n, by + 1)
}

/// Several in a row: each has all values of the next.
fn many_in_a_row(n: i64, x: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        let a = promote(x & 7);
        let b = promote((x >> 3) & 7);
        let c = promote((x >> 6) & 7);
        let d = promote((x >> 9) & 7);
        let e = promote((x >> 12) & 7);
        let f = promote((x >> 15) & 7);
        sum = sum * 3 + concrete(a) * i + concrete(b) * sum + concrete(c) + concrete(d) * x;
        sum = sum * concrete(e) + concrete(f);
        i += 1;
    }
    sum
}

pub fn in_a_row(n: i64, x: i64) -> i64 {
    many_in_a_row(n, x) + 1
}
