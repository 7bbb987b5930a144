use hueshift::prelude::*;

/// A program is a string of hexadecimal digits, lowest first: A adds y, 5 subtracts it, all others do nothing.
pub fn plus_minus(encoded_insn: i64, nb_insn: i64, x: i64, y: i64) -> i64 {
    let mut acc = x;
    let mut pc = 0;
    while pc < nb_insn {
        let op = concrete((encoded_insn >> (pc * 4)) & 0xF);
        if op == 0xA {
            acc += y;
        } else if op == 0x5 {
            acc -= y;
        }
        pc += 1;
    }
    acc
}
