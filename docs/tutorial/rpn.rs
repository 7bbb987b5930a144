use hueshift::prelude::*;

/// A formula in reverse Polish notation, one character each: digits, `x`, `+`, `-`, `*`.
pub fn rpn(code: &[u8], x: i64) -> i64 {
    let mut stack = [0i64; 8];
    let mut sp = 0usize;
    let mut pc = 0usize;
    while pc < code.len() {
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'x' => {
                stack[sp] = x;
                sp += 1;
            }
            b'0'..=b'9' => {
                stack[sp] = (op - b'0') as i64;
                sp += 1;
            }
            b'+' | b'-' | b'*' => {
                sp -= 1;
                let right = stack[sp];
                let left = stack[sp - 1];
                stack[sp - 1] = match op {
                    b'+' => left + right,
                    b'-' => left - right,
                    _ => left * right,
                };
            }
            _ => panic!("what is the character {}?", op),
        }
    }
    stack[sp - 1]
}
