use hueshift::prelude::*;

// Guests that don't say where they jump back: a loop shows only when a merge point is come to again.

/// Straight code, all of it known but for the last sum.
#[portal(greens(pc), reds(sum, x))]
fn counting(mut pc: i64, mut sum: i64, x: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= 4 {
            return sum + x;
        }
        sum = sum * 2 + 1;
        pc += 1;
    }
}

pub fn straight(x: i64) -> i64 {
    counting(0, 0, x)
}

#[portal(greens(code, pc), reds(a, n))]
fn run(code: &[u8], mut pc: usize, mut a: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return a;
        }
        match code[pc] {
            b'+' => a += 1,
            b'n' => a += n,
            b'2' => a *= 2,
            b'<' => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    continue;
                }
            }
            b'!' => {
                if a & 1 != 0 {
                    pc += 1;
                }
            }
            _ => return -1,
        }
        pc += 1;
    }
}

/// A loop with code behind it.
pub fn looping(n: i64) -> i64 {
    run(b"n+<2+", 0, 0, n)
}

/// Its first round goes another way than the second one.
pub fn first_otherwise(n: i64) -> i64 {
    run(b"!2n+2<", 0, 1, n)
}

/// No loop.
pub fn once(n: i64) -> i64 {
    run(b"n+2+2", 0, 0, n)
}
