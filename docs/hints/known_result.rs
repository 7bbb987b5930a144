use hueshift::prelude::*;

/// Each digit of a decimal number in four bits.
#[elidable]
#[inverse_of(from_decimal)]
fn to_decimal(x: u32) -> u64 {
    let mut digits = 0;
    let mut rest = x;
    let mut at = 0;
    while rest > 0 {
        digits |= ((rest % 10) as u64) << at;
        rest /= 10;
        at += 4;
    }
    digits
}

#[elidable]
fn from_decimal(digits: u64) -> u32 {
    let mut x = 0;
    let mut at = 40;
    while at > 0 {
        at -= 4;
        x = x * 10 + (digits >> at & 15) as u32;
    }
    x
}

#[elidable]
fn root(x: u32) -> u32 {
    let mut root = 0;
    while (root + 1) * (root + 1) <= x {
        root += 1;
    }
    root
}

/// What a guest does that keeps its numbers as digits.
pub fn incremented_twice(digits: u64) -> u64 {
    let once = to_decimal(from_decimal(digits) + 1);
    to_decimal(from_decimal(once) + 1)
}

/// The root of a square is known.
pub fn side(width: u16) -> u32 {
    let area = width as u32 * width as u32;
    record_known_result!(width as u32, root, area);
    root(area)
}

/// An image is 8 wide, and so the host promises.
pub fn row(pixels: &[u8], width: usize, at: usize) -> usize {
    record_exact_value!(width, 8);
    at / width + pixels[at % width] as usize
}

/// A promise that isn't kept.
pub fn broken(width: usize) -> usize {
    record_exact_value!(width, 8);
    64 / width
}
