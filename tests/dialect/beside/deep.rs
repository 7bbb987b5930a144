//! A module of a module, in a file of its own.

use super::SCALE;

pub struct Deep(pub i64);

impl Deep {
    pub fn get(&self) -> i64 {
        depth(self.0) - SCALE
    }
}

pub fn depth(x: i64) -> i64 {
    x.wrapping_mul(x) + super::SCALE
}
