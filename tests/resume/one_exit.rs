// Two guards of one trace that leave by one exit: `x + 1` and `x + 5` below 16, and `x` below 20 and 9. In every other round only the later one fails.
use hueshift::prelude::*;

#[portal(greens(kind), reds(n, x, s))]
fn run(kind: i64, mut n: i64, mut x: u64, mut s: u64) -> u64 {
    loop {
        merge_point!();
        if n == 0 {
            return s;
        }
        if kind == 0 {
            if x + 1 < 16 && x + 5 < 16 {
                s = s * 3 + x;
            } else {
                s = s + 7;
            }
        } else {
            if x < 20 && x < 9 {
                s = s * 5 + x;
            } else {
                s = s ^ x;
            }
        }
        x = (x * 5 + 3) & 31;
        n -= 1;
        can_enter_jit!();
    }
}

pub fn main(kind: i64, n: i64) -> u64 {
    run(kind, n, 1, 0)
}
