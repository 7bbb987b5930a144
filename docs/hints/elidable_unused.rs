use hueshift::prelude::*;

/// Half of an even number.
#[elidable]
fn half(x: i64) -> i64 {
    assert!(x % 2 == 0, "{} is odd", x);
    x / 2
}

pub fn unused(x: i64) -> i64 {
    half(x);
    x + 1
}
