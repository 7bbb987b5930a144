//! Numbers of all widths.

use hueshift::prelude::*;

pub fn u8_ops(a: u8, b: u8) -> u8 {
    let mut x = a;
    x += b;
    x <<= 1;
    x ^= b >> 2;
    x = !x;
    x -= 3;
    x *= 7;
    x
}
pub fn i8_ops(a: i8, b: i8) -> i8 {
    let mut x = a;
    x -= b;
    x <<= 3;
    x >>= 1;
    x = -x;
    x |= b;
    x
}
pub fn i16_mul(a: i16, b: i16) -> i32 {
    (a * b) as i32 + (a as u16 as i32)
}
pub fn u32_div(a: u32, b: u32) -> u32 {
    a / b + a % b
}
pub fn i32_rem(a: i32, b: i32) -> i32 {
    a % b * 10 + a / b
}
pub fn u64_cmp(a: u64, b: u64) -> i64 {
    if a < b {
        -1
    } else if a > b {
        1
    } else {
        0
    }
}
pub fn shifts(a: i64, s: u32) -> i64 {
    (a << s) ^ (a >> s) ^ ((a as u64) >> (s + 1)) as i64
}
pub fn casts(a: i64) -> i64 {
    (a as i8 as i64) * 3 + (a as u16 as i64) - (a as i32 as u32 as i64) + (a as u8 as char as u32 as i64)
}
pub fn floats(a: f64, b: f64) -> f64 {
    (a * b - a / b).sqrt().floor() + a.min(b) - b.max(a).abs() + (a % b)
}
pub fn single(a: f32, b: f32) -> f32 {
    a * b + 0.1 - (a as f64 * 2.0) as f32
}
pub fn fcmp(a: f64, b: f64) -> i64 {
    let mut r = 0;
    if a < b {
        r |= 1
    }
    if a <= b {
        r |= 2
    }
    if a == b {
        r |= 4
    }
    if a != b {
        r |= 8
    }
    if a >= b {
        r |= 16
    }
    if a > b {
        r |= 32
    }
    if !(a < b) {
        r |= 64
    }
    r
}
pub fn fcast(a: f64) -> i64 {
    (a as i64) ^ (a as u8 as i64) ^ (a as i32 as i64) ^ (a as u32 as i64) ^ ((a as u64) as i64)
}
pub fn tofloat(a: i64) -> f64 {
    a as f64 + a as u64 as f64 + a as u8 as f64 + (a as f32) as f64
}
pub fn numbers(a: i64, b: i64) -> i64 {
    a.rotate_left(5)
        ^ b.count_ones() as i64
        ^ (a.leading_zeros() as i64) << 3
        ^ a.swap_bytes()
        ^ b.reverse_bits()
        ^ a.signum()
        ^ a.rem_euclid(7)
        ^ a.abs_diff(b) as i64
}
pub fn numbers32(a: i32, b: u32) -> i64 {
    (a.rotate_right(3) as i64)
        ^ (b.leading_zeros() as i64)
        ^ (b.swap_bytes() as i64)
        ^ (a.wrapping_abs() as i64)
        ^ (b.pow(3) as i64)
        ^ (a.saturating_add(i32::MAX) as i64)
        ^ (b.saturating_sub(7) as i64)
}
pub fn checked(a: i32, b: i32) -> i64 {
    let mut r = 0i64;
    match a.checked_add(b) {
        Some(v) => r += v as i64,
        None => r -= 1,
    }
    match a.checked_mul(b) {
        Some(v) => r += v as i64,
        None => r -= 100,
    }
    match a.checked_div(b) {
        Some(v) => r += v as i64,
        None => r -= 10000,
    }
    r
}
pub fn checked_u8(a: u8, b: u8) -> i64 {
    match a.checked_sub(b) {
        Some(v) => v as i64,
        None => -1,
    }
}
pub fn overflowing(a: i64, b: i64) -> i64 {
    let (v, o) = a.overflowing_add(b);
    let (w, p) = a.overflowing_mul(b);
    if o {
        v ^ 1
    } else if p {
        w
    } else {
        v + w
    }
}
pub fn chars(c: char) -> u32 {
    match c {
        'a'..='z' => c as u32 - 32,
        '0' => 7,
        _ => c as u32,
    }
}
pub fn bools(a: bool, b: bool) -> bool {
    (a ^ b) | (a & !b) && (a == b || a != b)
}
pub fn bool_int(a: i64) -> i64 {
    let t = a > 3;
    (t as i64) * 10 + (!t) as i64
}
pub fn tuples(a: i64, b: i64) -> i64 {
    let (x, y) = if a > b { (a, b) } else { (b, a) };
    let t = (x, (y, x * y));
    t.0 - (t.1).0 + (t.1).1
}
pub fn neg_min(a: i64) -> i64 {
    -a + a.wrapping_neg()
}
pub fn minmax(a: i32, b: i32) -> i32 {
    a.min(b) * 3 - a.max(b)
}
pub fn isz(a: usize, b: isize) -> isize {
    (a as isize - b) / 3
}
pub fn ret_tuple(a: i64, b: u8) -> (i64, u8, bool) {
    (a + 1, b - 1, a > b as i64)
}
pub fn ret_f32(a: f32) -> f32 {
    a / 3.0
}
pub fn ret_char(a: u8) -> char {
    (a + 1) as char
}
pub fn unit_fn(a: &mut [i64], i: usize) {
    a[i] += 1;
}
pub fn float_const(a: f64) -> f64 {
    if a > 1e300 {
        f64::INFINITY
    } else if a < -1e300 {
        f64::NEG_INFINITY
    } else {
        a * 0.5
    }
}
pub fn pow_i(a: i64, n: u32) -> i64 {
    a.wrapping_pow(n)
}
pub fn bytelit(a: u8) -> i64 {
    match a {
        b'0'..=b'9' => (a - b'0') as i64,
        b'a' | b'A' => 10,
        _ => -1,
    }
}
pub fn trunc(a: f64) -> f64 {
    a.trunc() + a.ceil() * 10.0 + a.round_ties_even() * 100.0 + a.copysign(-1.0)
}
pub fn bits(a: f64) -> u64 {
    a.to_bits() ^ f64::from_bits(a.to_bits() >> 1).to_bits()
}
