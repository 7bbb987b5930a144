use hueshift::prelude::*;

/// A mask says enough for the comparison.
pub fn masked_below(x: i64) -> i64 {
    let y = x & 15;
    if y < 16 { y } else { x * 77 }
}

/// The sum of two bytes can't overflow a word.
pub fn bytes_never_overflow(a: u8, b: u8) -> i64 {
    match (a as i64).checked_add(b as i64) {
        Some(v) => v,
        None => -1,
    }
}

/// The product of two 16-bit numbers fits 32 bits.
pub fn narrow_product(a: i16, b: i16) -> i32 {
    match (a as i32).checked_mul(b as i32) {
        Some(v) => v,
        None => -1,
    }
}

/// The inner tests follow from the outer one, or from its opposite.
pub fn nested_bounds(n: i64) -> i64 {
    if n > 5 {
        if n > 10 {
            if n != 7 { 1 } else { 2 }
        } else if n >= 6 {
            3
        } else {
            4
        }
    } else if n < 6 {
        5
    } else {
        6
    }
}

pub fn add_then_take_back(a: i64, b: i64) -> i64 {
    (a + b) - b
}

pub fn up_and_down(x: i64) -> i64 {
    ((x & 255) << 8) >> 8
}

/// In this arm it is a constant.
pub fn known_in_arm(x: i64, y: i64) -> i64 {
    if x == 3 { x * 5 + 4 } else { y }
}

pub fn no_change(x: i64, b: bool) -> i64 {
    let y = (x | x) & x;
    let z = (y ^ x) + y - (x - x);
    if !!b { z << 0 } else { z * 1 }
}

pub fn self_difference_ovf(x: i64) -> i64 {
    match x.checked_sub(x) {
        Some(v) => v + 7,
        None => -1,
    }
}

/// A clamped number fits a byte.
pub fn clamped(x: i64) -> i64 {
    let c = x.clamp(0, 255);
    (c as u8) as i64
}

/// Not to be folded: the sum may wrap.
pub fn greater_than_itself(x: i64) -> bool {
    x + 1 > x
}

/// To be folded: a wrapped sum is another number.
pub fn never_itself(x: i64) -> bool {
    x + 1 != x
}

pub fn unsigned_not_negative(x: u64) -> bool {
    x >= 0
}

pub fn by_eight(x: u64) -> u64 {
    (x / 8) * 8 + x % 8
}

/// Known to be between 0 and 7 already.
pub fn rem_of_masked(x: i64) -> i64 {
    (x & 7) % 8
}

pub fn quotient_of_masked(x: i64) -> i64 {
    (x & 0xffff) / 16
}

/// Not to be folded: the product may wrap.
pub fn double_and_half(x: i64) -> i64 {
    x * 2 / 2
}

pub fn full_turn(x: u32) -> u32 {
    x.rotate_left(32).rotate_right(7).rotate_left(7)
}

pub fn twice_negated(x: i64) -> i64 {
    -(-x)
}

/// The sum of constants is one constant.
pub fn constants_gather(x: i64) -> i64 {
    ((x + 3) + 4) - 2 + 10
}

/// Bits that are known decide.
pub fn odd_is_not_zero(x: i64) -> i64 {
    if (x | 1) == 0 { x / 0x7f } else { 9 }
}

/// In a loop the counter stays within its bounds: none of the sums overflows.
pub fn counter_bounded(n: i64) -> i64 {
    let mut i: i64 = 0;
    let mut s: i64 = 0;
    while i < 100 {
        match i.checked_add(1) {
            Some(v) => i = v,
            None => return -1,
        }
        s ^= i * n;
    }
    s
}

/// The same comparison, asked three ways.
pub fn same_question(a: i64, b: i64) -> i64 {
    let mut r = 0;
    if a < b { r += 1; }
    if b > a { r += 2; }
    if !(a >= b) { r += 4; }
    r
}

/// With MIN the absolute value is negative.
pub fn absolute_sign(x: i64) -> bool {
    x.wrapping_abs() < 0
}

/// u8 shows only eight bits of it.
pub fn only_low_bits(a: i64, b: i64) -> u8 {
    ((a & 0xffff) + (b & 0xff00)) as u8
}

/// The sign is known by the masks.
pub fn product_sign(a: i64, b: i64) -> i64 {
    let p = (a & 255) * (b & 255);
    if p < 0 { 1000 } else if p > 65025 { 2000 } else { p }
}

pub fn bool_to_int_and_back(x: i64) -> bool {
    ((x > 4) as i64) != 0
}

pub fn three_way(a: i64, b: i64) -> i64 {
    if a < b { -1 } else if a > b { 1 } else { (a - b) * 100 }
}
