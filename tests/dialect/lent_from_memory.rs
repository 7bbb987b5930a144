//! A portal that is handed a `&mut` found in memory: when it has returned, a function that nobody looks into follows the
//! original, and must see what the portal has stored.

use hueshift::prelude::*;

#[derive(Debug)]
pub struct Regs {
    pub a: i64,
}

pub struct Holder<'a> {
    pub regs: &'a mut Regs,
}

#[dont_look_inside]
fn poke(holder: &mut Holder) {
    holder.regs.a ^= 1;
}

fn hold<'a>(regs: &'a mut Regs) -> Holder<'a> {
    Holder { regs }
}

/// `c` computes, `x` skips the next one every other time, `L` goes back.
#[portal(greens(code, pc), reds(regs, n))]
fn run(code: &[u8], mut pc: usize, regs: &mut Regs, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return n;
        }
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'c' => regs.a = regs.a.wrapping_mul(3).wrapping_add(n),
            b'x' => {
                if regs.a & 1 == 0 {
                    pc += 1;
                }
            }
            b'L' => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
            _ => {}
        }
    }
}

fn through(code: &[u8], holder: &mut Holder, n: i64) -> i64 {
    let left = run(code, 0, holder.regs, n);
    poke(holder);
    left
}

fn held(code: &[u8], regs: &mut Regs, n: i64) -> i64 {
    let mut holder = hold(regs);
    through(code, &mut holder, n)
}

pub fn of_a_local(code: &[u8], n: i64) -> i64 {
    let mut i = 0;
    let mut sum = 0i64;
    while i < 12 {
        let mut local = Regs { a: i };
        sum = sum.wrapping_add(held(code, &mut local, n));
        sum = sum.wrapping_mul(5) ^ local.a;
        i += 1;
    }
    sum
}

pub fn of_what_is_handed_in(code: &[u8], n: i64, regs: &mut Regs) -> i64 {
    let mut i = 0;
    let mut sum = 0i64;
    while i < 12 {
        sum = sum.wrapping_add(held(code, &mut *regs, n));
        sum = sum.wrapping_mul(5) ^ regs.a;
        i += 1;
    }
    sum
}

/// The portal's own red is another reference from the second round on.
#[portal(greens(code, pc), reds(holder, regs, n))]
fn changing<'a>(code: &[u8], mut pc: usize, mut holder: Holder<'a>, mut regs: &'a mut Regs, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return holder.regs.a.wrapping_mul(31) ^ regs.a;
        }
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'c' => regs.a = regs.a.wrapping_mul(3).wrapping_add(n),
            b'p' => poke(&mut holder),
            b's' => {
                let old = holder.regs;
                holder = Holder { regs };
                regs = old;
            }
            b'x' => {
                if regs.a & 1 == 0 {
                    pc += 1;
                }
            }
            b'L' => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
            _ => {}
        }
    }
}

fn both(code: &[u8], one: &mut Regs, two: &mut Regs, n: i64) -> i64 {
    changing(code, 0, hold(one), two, n)
}

pub fn that_change_places(code: &[u8], n: i64) -> i64 {
    let mut one = Regs { a: 3 };
    let mut two = Regs { a: 4 };
    both(code, &mut one, &mut two, n)
}
