//! What calls give, and what enums are, is known by their types: nothing is masked, extended or compared for it.

use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq)]
pub enum Level {
    Low = 1,
    Middle,
    High = 7,
}

#[dont_look_inside]
fn mixed(x: u8) -> u8 {
    x.wrapping_mul(7) ^ 3
}

#[dont_look_inside]
fn signed(x: i64) -> i32 {
    x as i32
}

#[dont_look_inside]
fn level(x: i64) -> Level {
    if x > 9 { Level::High } else { Level::Middle }
}

pub fn masked(x: u8) -> u64 {
    mixed(x) as u64 & 255
}

pub fn extended(x: i64) -> i64 {
    signed(x) as i64 as i32 as i64
}

pub fn index(x: u8, table: &[i64; 256]) -> i64 {
    table[mixed(x) as usize]
}

pub fn in_a_loop(x: u8, n: i64) -> u64 {
    let mut value = x;
    let mut i = 0;
    while i < n {
        value = mixed(value);
        i += 1;
    }
    value as u64 & 255
}

pub fn level_of_call(x: i64) -> bool {
    level(x) as i64 > 7
}

pub fn level_given(level: Level, table: &[i64; 8]) -> i64 {
    table[level as usize]
}
