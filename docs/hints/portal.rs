use hueshift::prelude::*;

/// A program is a row of counts: each subtracts from x, and 0 jumps back to the beginning while x is positive.
#[portal(greens(code, pc), reds(x, steps))]
pub fn run(code: &[i64], mut pc: usize, mut x: i64, mut steps: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return steps;
        }
        let count = concrete(code[pc]);
        pc += 1;
        if count != 0 {
            x -= count;
            steps += 1;
        } else if x > 0 {
            pc = 0;
            can_enter_jit!();
        }
    }
}
