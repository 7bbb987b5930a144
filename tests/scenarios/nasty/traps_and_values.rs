use hueshift::prelude::*;

/// The order of evaluation: the index before the value, the left before the right.
pub fn evaluation_order(a: &mut [i64], i: usize) -> i64 {
    let mut k = i;
    a[{ k += 1; k }] = { k *= 2; k as i64 };
    let v = { k += 1; k as i64 } * 10 + { k += 1; k as i64 };
    v + a[i + 1]
}

/// A compound assignment reads its left side last for scalars.
pub fn compound(x: i64) -> i64 {
    let mut x = x;
    x += { x = 10; 5 };
    x -= { x *= 2; x };
    x
}

/// Each variable gets what the others were.
pub fn rotated(n: i64, a: i64, b: i64, c: i64) -> i64 {
    let (mut a, mut b, mut c) = (a, b, c);
    let mut i = 0;
    while i < n {
        (a, b, c) = (b, c, a + i);
        i += 1;
    }
    a * 10000 + b * 100 + c
}

/// Extremes of all widths.
pub fn extremes(x: i64) -> i64 {
    let a = (x as i8).wrapping_neg() as i64;
    let b = (x as u8).wrapping_neg() as i64;
    let c = (x as i32).wrapping_abs() as i64;
    let d = (x as u16 as i16) as i64;
    let e = (x as i8 as u64 >> 56) as i64;
    let f = (x as u64 % 1000) as i64;
    a ^ (b << 8) ^ c ^ d ^ (e << 16) ^ f
}

/// Loops in both arms, and a merge of their results with a constant.
pub fn loops_in_arms(n: i64, m: i64) -> i64 {
    let r = if n > m {
        let mut k = n;
        while k > m { k -= 3; }
        k
    } else if n == m {
        7
    } else {
        let mut k = 1;
        while k < m { k *= 2; }
        k
    };
    r * 2 + 1
}

/// Shifts by negative, and by more than the width.
pub fn shifts_of_all(x: i64, n: i32) -> i64 {
    let a = x.wrapping_shl(n as u32);
    let b = x.wrapping_shr(n as u32);
    let c = (x as u8).wrapping_shl(n as u32) as i64;
    let d = (x as i16 >> (n & 15)) as i64;
    let e = match (x as i32).checked_shl(n as u32) { Some(v) => v as i64, None => -999 };
    a ^ b ^ c ^ d ^ e
}

/// One name is green on one path and red on another.
pub fn green_or_red(g: i64, x: i64, c: bool) -> i64 {
    let g = concrete(g);
    let v = if c { g } else { x };
    let w = if v == g { v * 3 } else { g - v };
    w + concrete(g + 1)
}

/// The negation of a comparison with NaN isn't its opposite, nor is its mirror image.
pub fn nan_min(a: f64, b: f64) -> i64 {
    let m = a.min(b);
    let n = b.min(a);
    let mut r = 0;
    if m == n { r += 1; }
    if !(a <= b) { r += 2; }
    if a > b { r += 4; }
    if !(b >= a) { r += 8; }
    if m.is_nan() { r += 16; }
    r
}

/// i64::MIN through all that may overflow.
pub fn min_value(x: i64) -> i64 {
    let mut r = 0;
    if x == -x { r += 1; }
    if x.checked_neg().is_none() { r += 2; }
    if x.checked_abs().is_none() { r += 4; }
    if x.unsigned_abs() == 9223372036854775808 { r += 8; }
    if (x - 1) > x { r += 16; }
    if x.checked_mul(-1).is_none() { r += 32; }
    if x.wrapping_div(-1) == x { r += 64; }
    r
}

/// A remainder has the sign of its left side.
pub fn signs_of_rest(a: i64, b: i64) -> i64 {
    a % b * 1000 + a.rem_euclid(b) * 10 + (a / b) - a.div_euclid(b)
}
