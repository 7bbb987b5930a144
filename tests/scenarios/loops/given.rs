use hueshift::prelude::*;

/// How often is given, though nothing asks for it.
pub fn times(n: i64, x: i64) -> i64 {
    let mut i = 0;
    let mut sum = 0;
    while i < n {
        sum += x * i;
        i += 1;
    }
    sum
}

/// The length of a text that is given.
pub fn of_text(code: &[u8], x: i64) -> i64 {
    let mut pc = 0;
    let mut sum = 0;
    while pc < code.len() {
        match concrete(code[pc]) {
            b'z' => sum = 0,
            b'i' => sum += 1,
            b'x' => sum *= x,
            _ => sum -= 1,
        }
        pc += 1;
    }
    sum
}
