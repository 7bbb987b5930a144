use hueshift::prelude::*;

pub fn unit_changes(x: f64) -> f64 {
    let a = x * 1.0;
    let b = a - 0.0;
    -(-b)
}

/// Not to be folded: -0.0 + 0.0 is 0.0, and NaN * 0 is NaN.
pub fn zero_changes(x: f64) -> f64 {
    1.0 / (x + 0.0) + x * 0.0
}

pub fn absolute_twice(x: f64) -> f64 {
    x.abs().abs()
}

/// Division by a power of two is a multiplication.
pub fn quarter(x: f64) -> f64 {
    x / 4.0
}

/// In a loop, with a product that does not depend on the round.
pub fn same_product(x: f64, n: i64) -> f64 {
    let mut i = n;
    let mut s = 0.0;
    while i > 0 {
        s += x * x;
        i -= 1;
    }
    s
}

pub fn integer_and_back(n: i32) -> i32 {
    (n as f64) as i32
}

/// A word and back: too large numbers are rounded.
pub fn long_and_back(n: i64) -> i64 {
    (n as f64) as i64
}

pub fn compared(x: f64, y: f64) -> i64 {
    if x < y { 1 } else if x == y { 2 } else if x > y { 3 } else { 4 }
}
