use hueshift::prelude::*;

pub struct Pair {
    pub a: i64,
    pub b: i64,
}

fn step(pair: &mut Pair, i: i64) {
    pair.a += i;
    pair.b += pair.a;
}

/// A field that begins as zero is no more constant in a loop than another one.
pub fn sums(n: i64) -> i64 {
    let mut pair = Pair { a: 0, b: 1 };
    let mut i = 0;
    while i < n {
        merge_point!();
        step(&mut pair, i);
        i = i + 1;
    }
    pair.a + pair.b
}
