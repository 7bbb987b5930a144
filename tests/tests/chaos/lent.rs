use hueshift::prelude::*;

pub struct Pair {
    pub a: i64,
    pub b: i64,
}

#[dont_look_inside]
fn sum(p: &mut Pair) -> i64 {
    p.a += 1;
    p.a + p.b
}

#[portal(greens(code, pc), reds(pair, k))]
fn work(code: &[u8], mut pc: usize, pair: &mut Pair, mut k: i64) -> i64 {
    loop {
        merge_point!();
        match code[pc] {
            0 => pair.a += k,
            1 => k -= 1,
            2 => {
                if k > 0 {
                    pc = 0;
                    continue;
                }
            }
            _ => return pair.a,
        }
        pc += 1;
    }
}

#[portal(greens(code), reds(i, total))]
pub fn run(code: &[u8], mut i: i64, mut total: i64) -> i64 {
    loop {
        merge_point!();
        let mut pair = Pair { a: i & 7, b: 7 };
        let r = sum(&mut pair);
        if (i * 7 + total) & 3 == 1 {
            total ^= r;
        }
        total += work(code, 0, &mut pair, 3 + (i & 3));
        i -= 1;
        if i == 0 {
            return total;
        }
    }
}
