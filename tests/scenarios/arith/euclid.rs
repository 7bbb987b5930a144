use hueshift::prelude::*;

pub fn rem_of_a_power(a: i64) -> i64 { a.rem_euclid(8) }
pub fn div_of_a_power(a: i64) -> i64 { a.div_euclid(8) }
pub fn rem_of_narrow(a: i16) -> i16 { a.rem_euclid(256).wrapping_add(a.div_euclid(16)) }
pub fn unsigned_by_a_power(a: u32) -> u32 { a.rem_euclid(64) * 3 + a.div_euclid(64) }
pub fn by_one(a: i8) -> i8 { a.rem_euclid(1) + a.div_euclid(1) }
pub fn by_another(a: i64) -> i64 { a.rem_euclid(7) * 100 + a.div_euclid(-8) }
pub fn index(a: &[u8; 8], i: i32) -> u8 { a[i.rem_euclid(8) as usize] }
