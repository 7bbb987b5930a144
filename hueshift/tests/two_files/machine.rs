//! An interpreter of two files: its root.

use hueshift::prelude::*;

mod steps;

use steps::step;

/// Adds up the code, in one of two ways, `n` times.
#[portal(greens(code, pc), reds(n, sum))]
pub fn run(code: &[u8], mut pc: usize, mut n: u64, mut sum: u8) -> u8 {
    loop {
        merge_point!();
        if pc == code.len() {
            n -= 1;
            if n == 0 {
                return sum;
            }
            pc = 0;
            can_enter_jit!();
        }
        sum = step(concrete(code[pc]), sum);
        pc += 1;
    }
}
