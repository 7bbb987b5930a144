//! An interpreter of its text that calls itself, and in which the first trace ends in a loop over digits.

use hueshift::prelude::*;

fn peek(text: &[u8], at: usize) -> u8 {
    if at < text.len() { text[at] } else { 0 }
}

/// A number, or `x`, or `f` of `x` less a number, with what is behind it.
#[unroll_safe]
fn term(text: &[u8], from: usize, x: i64, calls: &Cell<i64>) -> (usize, i64) {
    let mut at = from;
    if text[at] == b'x' {
        return (at + 1, x);
    }
    if text[at] == b'f' {
        let (end, less) = term(text, at + 1, x, calls);
        calls.set(calls.get() + 1);
        return (end, run(text, 0, x - less, calls));
    }
    let mut number = concrete(0i64);
    while peek(text, at).is_ascii_digit() {
        number = number * 10 + (text[at] - b'0') as i64;
        at += 1;
    }
    (at, number)
}

#[unroll_safe]
fn expression(text: &[u8], from: usize, x: i64, calls: &Cell<i64>) -> (usize, i64) {
    let (end, mut sum) = term(text, from, x, calls);
    let mut at = promote(end);
    while text[at] == b'+' || text[at] == b'-' {
        let (end, next) = term(text, at + 1, x, calls);
        let end = promote(end);
        sum = if text[at] == b'+' { sum.wrapping_add(next) } else { sum.wrapping_sub(next) };
        at = end;
    }
    (at, sum)
}

/// `?3` goes on behind a `;` if `x` is less than 3, `.` returns an expression.
#[portal(greens(text, at), reds(x, calls))]
pub fn run(text: &[u8], mut at: usize, x: i64, calls: &Cell<i64>) -> i64 {
    loop {
        merge_point!();
        match text[at] {
            b'?' => {
                let (end, least) = expression(text, at + 1, x, calls);
                at = promote(end);
                if x < least {
                    while text[at] != b';' {
                        at += 1;
                    }
                }
                at += 1;
            }
            b'.' => {
                let (_, given) = expression(text, at + 1, x, calls);
                return given;
            }
            b'!' => panic!("{} after {} calls", x, calls.get()),
            _ => at += 1,
        }
    }
}
