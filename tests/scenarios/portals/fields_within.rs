//! Loops of a guest within each other, each a portal of its own, with the fields of one `&mut` in registers in all of
//! them.

use hueshift::prelude::*;

pub struct S {
    pub acc: i64,
    pub i: i64,
    pub j: i64,
}

/// `code` from `start` to `end`, `n` times: `1 times length` is a loop over the `length` bytes behind it.
#[portal(greens(code, start, pc, end), reds(n, s))]
pub fn run(code: &[u8], start: usize, mut pc: usize, end: usize, mut n: i64, s: &mut S) -> i64 {
    while n > 0 {
        merge_point!();
        if pc >= end {
            n -= 1;
            pc = start;
            s.i += n;
            can_enter_jit!();
            continue;
        }
        match code[pc] {
            1 => {
                let length = code[pc + 2] as usize;
                let times = code[pc + 1] as i64 + (s.acc & 3);
                run(code, pc + 3, pc + 3, pc + 3 + length, times, s);
                pc += 3 + length;
            }
            2 => {
                s.acc += s.i;
                pc += 1;
            }
            3 => {
                s.i += 1;
                pc += 1;
            }
            4 => {
                s.j ^= s.acc;
                pc += 1;
            }
            _ => {
                s.j = s.acc * 3 + s.i;
                pc += 1;
            }
        }
    }
    s.acc
}
