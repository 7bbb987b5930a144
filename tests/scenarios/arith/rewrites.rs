use hueshift::prelude::*;

/// The comparisons of one pair, as values: mirrored, and inverted.
pub fn mirrored_value(a: i64, b: i64) -> i64 {
    let p = (a < b) as i64;
    let q = (b > a) as i64;
    p * 2 + q
}

pub fn inverted_value(a: i64, b: i64) -> i64 {
    let p = (a < b) as i64;
    let q = (a >= b) as i64;
    p + q
}

/// Mirrored, as a condition in each other.
pub fn mirrored_condition(a: i64, b: i64) -> i64 {
    if a < b {
        if b > a { 1 } else { 2 }
    } else if b <= a {
        3
    } else {
        4
    }
}

/// Equal numbers lead to the same element.
pub fn known_equal(a: &[i64], i: usize, j: usize) -> i64 {
    if i == j { a[i] - a[j] + 3 } else { 0 }
}

/// What did not overflow is the plain sum.
pub fn sum_after_checked(a: i64, b: i64) -> i64 {
    match a.checked_add(b) {
        Some(v) => v * 2 - (a + b),
        None => 0,
    }
}

/// The same checked sum twice.
pub fn checked_twice(a: i64, b: i64) -> i64 {
    let x = match a.checked_add(b) { Some(v) => v, None => return -1 };
    let y = match b.checked_add(a) { Some(v) => v, None => return -2 };
    x ^ y
}

pub fn equal_to_sum(x: i64) -> bool {
    x + 5 == 7
}

pub fn both_shifted_zero(x: u32) -> i64 {
    let z = x as i64 & 0;
    (z << x) + (z >> x) + 4
}

pub fn fifteen_less(x: i64) -> i64 {
    15 - (15 - x)
}

pub fn truth_of_truth(x: i64) -> bool {
    ((x != 0) == false) == false
}

/// Bounds through a shift.
pub fn shifted_bounds(x: i64) -> i64 {
    if x >= 0 && x < 16 {
        let y = x << 4;
        if y > 240 { 1000 } else if y < 0 { 2000 } else { y }
    } else {
        -1
    }
}

/// Bounds through a quotient and a rest.
pub fn divided_bounds(x: u8) -> i64 {
    let q = x as i64 / 25;
    let r = x as i64 % 25;
    if q > 10 || r >= 25 || q < 0 { -1 } else { q * 100 + r }
}

/// Bounds through a sum of two.
pub fn sum_bounds(a: i64, b: i64) -> i64 {
    if a > 10 && a < 20 && b > 10 && b < 20 {
        let s = a + b;
        if s < 22 || s > 38 { 1000 } else { s }
    } else {
        0
    }
}

pub fn min_of_bounds(a: u8, b: i64) -> i64 {
    let m = b.max(0).min(a as i64);
    if m < 0 || m > 255 { 1000 } else { m }
}

/// The signs of the factors are known where it counts.
pub fn abs_of_abs(x: i32) -> i64 {
    let a = (x as i64).abs();
    let b = a.abs();
    if b < 0 { -1 } else { b }
}

pub fn or_of_parts(x: u64) -> u64 {
    (x & 0xffff_0000_0000_0000) | (x & 0x0000_ffff_ffff_ffff)
}

pub fn twice_extended(x: i64) -> i64 {
    ((x as i8) as i16) as i8 as i64
}

pub fn bytes_again(x: u32) -> u32 {
    let b = x.to_le_bytes();
    u32::from_le_bytes([b[0], b[1], b[2], b[3]])
}

pub fn swapped_bytes(x: u32) -> u32 {
    x.swap_bytes().swap_bytes()
}

pub fn self_quotient(x: i64) -> i64 {
    if x > 0 { x / x + x % x } else { 0 }
}

pub fn xor_chain(x: i64, y: i64) -> i64 {
    let mut a = x;
    let mut b = y;
    a ^= b;
    b ^= a;
    a ^= b;
    a * 1000 + b
}

pub fn selected_twice(c: bool, x: i64, y: i64) -> i64 {
    let a = if c { x } else { y };
    let b = if c { y } else { x };
    a + b
}

pub fn bit_of_and(x: i64) -> i64 {
    if x & 8 != 0 {
        if x & 12 == 0 { 1 } else { 2 }
    } else if x & 8 == 8 {
        3
    } else {
        4
    }
}

/// x is even and between 0 and 6: three bits say all.
pub fn even_switch(x: i64) -> i64 {
    match x & 6 {
        0 => 5,
        2 => 6,
        4 => 7,
        6 => 8,
        _ => x * x * x,
    }
}

pub fn multiples(x: i64) -> i64 {
    x * 6 - x * 2 - x * 4
}

pub fn product_of_shifts(x: i64) -> i64 {
    (x << 3) * 4 - (x << 5)
}

pub fn clamp_to_byte(x: i64) -> i64 {
    let y = if x < 0 { 0 } else if x > 255 { 255 } else { x };
    y & 255
}
