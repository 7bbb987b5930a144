// args: [3, 1, 0, 2, 0]
// args: [0, 0]
// greens:
// greens: 0
use hueshift::prelude::*;

pub fn entry(bytes: &[u8]) -> u64 {
    let sum = 0u64;
    assert!((bytes[((bytes[0] as usize) & (bytes[((sum as usize) ^ 25) % 2] as usize)) & 1] as i64) <= (sum as i64));
    sum
}
