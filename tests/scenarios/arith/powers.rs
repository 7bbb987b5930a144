//! Powers: of an exponent that is known nothing is left but products.
use hueshift::prelude::*;

const THREE: u32 = 3;
const CUBE: u32 = THREE.pow(3);
const TABLE: [u8; 3] = [2u8.pow(1), 2u8.wrapping_pow(9), 3u8.pow(5)];

pub fn in_constants(x: u32) -> u32 {
    CUBE + x + u32::from(TABLE[0]) + u32::from(TABLE[1]) + u32::from(TABLE[2])
}

pub fn fifth(x: i64) -> i64 {
    x.pow(5)
}

pub fn eighth(x: u32) -> u32 {
    x.wrapping_pow(8)
}

pub fn checked_fifth(x: i8) -> i8 {
    match x.checked_pow(5) {
        Some(v) => v,
        None => -1,
    }
}

pub fn to_zero(x: i8) -> i8 {
    match x.checked_pow(0) {
        Some(v) => v,
        None => -1,
    }
}

pub fn power(x: i32, n: u32) -> i32 {
    x.wrapping_pow(n)
}

pub fn checked(x: i32, n: u32) -> i32 {
    match x.checked_pow(n) {
        Some(v) => v,
        None => -1,
    }
}

pub fn overflowing(x: i32, n: u32) -> i64 {
    let (v, over) = x.overflowing_pow(n);
    v as i64 + over as i64
}

pub fn lesser_of_all(x: u8) -> u8 {
    x.min(255)
}

pub fn greater_of_all(x: i8) -> i8 {
    x.max(-128).min(127)
}
