//! A module in a file of its own.

pub mod deep;

pub const SCALE: i64 = 5;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    pub left: i64,
    pub right: i64,
}

pub fn scaled(x: i64) -> i64 {
    x * SCALE + deep::depth(x)
}
