use hueshift::prelude::*;

// A reference that a hint is handed is the one that it gives: what is stored through it shows in what is loaded through the other.
pub struct Y {
    pub a: i64,
    pub b: i64,
}
pub struct S {
    pub x: i64,
    pub y: Y,
}
fn get(s: &Y) -> i64 {
    s.a
}
fn put(s: &mut Y, k: i64) {
    s.a = s.a + k;
}
#[unroll_safe]
fn inner(m: &mut Y, k: i64) -> i64 {
    let mut i = 0;
    let mut acc = 0;
    while i < k {
        merge_point!();
        let q: &mut Y = variable(&mut *m);
        acc = acc * 3 + get(&*q);
        put(&mut *q, 1);
        acc = acc * 3 + get(&*q);
        i += 1;
    }
    acc
}
#[portal(greens(code, pc), reds(s, acc, n))]
pub fn run(code: &[u8], mut pc: usize, s: &mut S, mut acc: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        match code[pc] {
            0 => {
                acc += inner(&mut s.y, 20);
                pc += 1;
            }
            1 => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                } else {
                    pc += 1;
                }
            }
            _ => {
                return acc;
            }
        }
    }
}
