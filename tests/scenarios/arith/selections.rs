use hueshift::prelude::*;

pub fn minimum_is_less(x: i64) -> i64 {
    let m = x.min(10);
    if m > 10 { 1000 } else { m }
}

pub fn minimum_of_both(a: i64, b: i64) -> i64 {
    let m = a.min(b);
    if m > a { 1000 } else { m }
}

pub fn magnitude(x: i32) -> u32 {
    let m = x.unsigned_abs();
    if m > 2147483648 { 7 } else { m }
}

pub fn sign_is_small(x: i64) -> i64 {
    let s = x.signum();
    if s > 1 || s < -1 { 1000 } else { s }
}

/// Between 0 and 7: the element needs no check.
pub fn clamped_index(t: &[i64; 8], i: i64) -> i64 {
    t[i.clamp(0, 7) as usize]
}

/// By hand the same.
pub fn clamped_by_hand(t: &[i64; 8], i: i64) -> i64 {
    let j = if i < 0 { 0 } else if i > 7 { 7 } else { i };
    t[j as usize]
}

pub fn saturated_byte(a: u8, b: u8) -> i64 {
    let s = a.saturating_add(b);
    if s < a { 1000 } else { s as i64 & 255 }
}

/// The number of ones is 64 at most.
pub fn ones_bounded(x: u64) -> i64 {
    let n = x.count_ones() as i64;
    if n > 64 || n < 0 { 1000 } else { n }
}

pub fn all_of_four(x: u8) -> i64 {
    match x & 3 {
        0 => 4,
        1 => 5,
        2 => 6,
        3 => 7,
        _ => x as i64 * x as i64,
    }
}

/// The same checked product, the same way round.
pub fn same_checked(a: i64, b: i64) -> i64 {
    let x = match a.checked_mul(b) { Some(v) => v, None => return -1 };
    let y = match a.checked_mul(b) { Some(v) => v, None => return -2 };
    x - y
}

/// A sum's order doesn't matter.
pub fn either_order(a: i64, b: i64) -> i64 {
    (a + b) - (b + a) + (a * b - b * a) + ((a & b) ^ (b & a))
}

/// Equal, so one may stand for the other.
pub fn one_for_other(a: i64, b: i64) -> i64 {
    if a == b { a * 3 - b * 3 } else { 1 }
}

pub fn constant_by_equality(a: i64, b: i64) -> i64 {
    if a == 5 && b == a { b * 10 } else { 0 }
}

pub fn constant_by_bounds(a: i64) -> i64 {
    if a >= 5 && a <= 5 { a * 10 } else { 0 }
}

pub fn not_less_not_greater(a: i64, b: i64) -> bool {
    if a <= b && b <= a { a == b } else { a != b }
}
