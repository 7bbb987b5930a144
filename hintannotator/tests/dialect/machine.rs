use hueshift::prelude::*;

pub struct Insn {
    pub op: u8,
    pub arg: i64,
}

pub struct Machine {
    pub acc: i64,
    pub steps: Cell<i64>,
}

fn decode(code: &[u8], pc: usize) -> Insn {
    Insn { op: code[pc], arg: code[pc + 1] as i64 }
}

fn apply(op: u8, acc: i64, arg: i64) -> i64 {
    if op == 0 {
        acc + arg
    } else {
        acc - arg
    }
}

fn digits(n: i64) -> i64 {
    let mut n = n;
    let mut count = 0;
    while n > 0 {
        count += 1;
        n /= 10;
    }
    count
}

#[elidable]
fn weight(op: u8) -> i64 {
    op as i64 * 7
}

#[portal(greens(code, pc), reds(acc))]
pub fn run(code: &[u8], mut pc: usize, mut acc: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return acc;
        }
        let insn = decode(code, pc);
        acc = apply(insn.op, acc, insn.arg);
        let bonus = concrete(weight(code[pc]));
        let spread = digits(acc);
        acc += bonus * spread;
        pc += 2;
    }
}

pub fn twice(code: &[u8], a: i64, b: i64) -> i64 {
    let first = run(code, 0, a);
    let first = promote(first);
    let pair = (first, b);
    let next = apply(1, pair.0, pair.1);
    run(code, 0, next)
}
