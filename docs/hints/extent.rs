use hueshift::prelude::*;

/// A function with a loop over reds is called...
fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}

/// ...unless it says this.
#[unroll_safe]
fn gcd_here(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}

pub fn called(a: i64, b: i64) -> i64 {
    gcd(a, b) + 1
}

pub fn inlined(a: i64, b: i64) -> i64 {
    gcd_here(a, b) + 1
}
