//! Loops of the interpreter that end soon, whatever isn't known.

use hueshift::prelude::*;

#[unroll_safe]
fn dot(a: &[i64; 3], b: &[i64; 3]) -> i64 {
    let mut sum = 0;
    for i in 0..3 {
        sum += a[i] * b[i];
    }
    sum
}

/// Local arrays, by numbers that are known when tracing, too.
pub fn dot_product(x: i64, y: i64) -> i64 {
    dot(&[x, 1, y], &[2, y, 0])
}

pub fn sum_of_three(x: i64) -> i64 {
    let mut sum = 0;
    for v in [x, 2, 3] {
        sum += v * 5;
    }
    sum
}

/// Each round takes what the one before has left, and goes two ways.
pub fn halves(x: i64) -> i64 {
    let mut rest = 40;
    let mut sum = x;
    while rest > 2 {
        if sum > 100 {
            sum -= rest;
        } else {
            sum += rest;
        }
        rest /= 2;
    }
    sum
}

/// This one doesn't.
pub fn long(x: i64) -> i64 {
    let mut sum = 0;
    for i in 0..1000 {
        sum = sum * 3 + x + i;
    }
    sum
}

/// This one ends by what isn't known.
pub fn unknown(n: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        sum += 3 * i;
        i += 1;
    }
    sum
}

/// Numbers of 32 bits are cut off where the loop is left.
pub fn random(n: i64) -> u32 {
    let mut state = 1u32;
    let mut i = 0;
    while i < n {
        state = state * 1664525 + 1013904223;
        i += 1;
    }
    state
}
