use hueshift::prelude::*;

/// x to the power of n.
pub fn power(x: i64, n: u64) -> i64 {
    let mut left = concrete(n);
    let mut result = 1;
    while left > 0 {
        result *= x;
        left -= 1;
    }
    result
}
