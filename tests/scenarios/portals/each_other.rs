//! Six functions of a guest that call each other.
use hueshift::prelude::*;

/// Function `f`: it calls each of the six, for the bits of `x`.
#[portal(greens(f), reds(d, x))]
pub fn run(f: usize, d: i64, x: i64) -> i64 {
    merge_point!();
    if d < 1 {
        return x + f as i64;
    }
    let mut sum = 0;
    for k in 0..6 {
        if (x >> k) & 1 == 1 {
            sum ^= run((f + concrete(k)) % 6, d - 1, x + k as i64);
        }
    }
    sum
}
