use hueshift::prelude::*;

/// The length of the way from x to 1, where an odd number is rare.
pub fn steps(x: u64) -> i64 {
    let mut x = x;
    let mut steps = 0;
    while x > 1 {
        if likely(x % 2 == 0) {
            x /= 2;
        } else {
            x = x * 3 + 1;
        }
        steps += 1;
    }
    steps
}
