use hueshift::prelude::*;

/// Four equal bytes of x. Where x is known, nothing is left of this.
pub fn spread(x: u32) -> u32 {
    if is_constant(x) { (x & 255) * 0x0101_0101 } else { slow(x & 255) }
}

fn slow(byte: u32) -> u32 {
    byte | byte << 8 | byte << 16 | byte << 24
}
