// args: 3
// args: -7
// greens:
// greens: 0
use hueshift::prelude::*;

pub fn entry(x: i32) -> ([u8; 2], [u8; 4], [u8; 4]) {
    (u16::to_le_bytes(x as u16), i32::to_be_bytes(x), u32::to_le_bytes(260))
}
