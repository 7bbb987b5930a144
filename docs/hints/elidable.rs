use hueshift::prelude::*;

/// The opcode with this character.
#[elidable]
fn decode(character: u8) -> u8 {
    let known = b"+-*";
    let mut at = 0;
    while at < known.len() {
        if known[at] == character {
            return at as u8;
        }
        at += 1;
    }
    panic!("what is {}?", character)
}

pub fn apply(operator: u8, x: i64, y: i64) -> i64 {
    match concrete(decode(operator)) {
        0 => x + y,
        1 => x - y,
        _ => x * y,
    }
}
