use hueshift::prelude::*;

// References that lie in locals alone: what is loaded from there leads to one of several places.

pub struct P {
    pub a: i64,
    pub b: i64,
}

pub enum E<'a> {
    None,
    Number(i64),
    Of(&'a mut P),
}

fn get(p: &P) -> i64 {
    p.a
}

#[elidable]
fn hash(s: &[i64]) -> i64 {
    let mut sum = 7;
    let mut i = 0;
    while i < s.len() {
        sum = sum * 31 + s[i];
        i += 1;
    }
    sum
}

pub fn one_of(p: &mut P, q: &mut P, i: usize) -> i64 {
    let mut all = [p, q];
    let r = &mut *all[i & 1];
    let x = get(r);
    r.a = x + 1;
    let y = get(r);
    x * 100 + y
}

pub fn payload(p: &mut P, q: &mut P, i: usize) -> i64 {
    let mut all = [E::Of(p), E::Of(q), E::None];
    match &mut all[i % 3] {
        E::Of(r) => {
            let r = &mut **r;
            let x = get(r);
            r.a = x + 1;
            let y = get(r);
            x * 100 + y
        }
        _ => 7,
    }
}

pub fn stored_before(p: &mut P, q: &mut P, i: usize, k: i64) -> i64 {
    p.a = k;
    let s = if k > 0 { &*p } else { &*q };
    let all = [s, s];
    get(all[i & 1])
}

pub fn hashed(p: &mut [i64], q: &mut [i64], i: usize) -> i64 {
    let mut all = [p, q];
    let r = &mut *all[i & 1];
    let x = hash(r);
    r[0] += 1;
    let y = hash(r);
    x ^ y
}

pub fn by_turns(p: &mut P, q: &mut P, k: i64, n: i64) -> i64 {
    let mut all = [E::Number(1), E::Number(2)];
    if k > 2 {
        all[0] = E::Of(p);
    }
    if k > 3 {
        all[1] = E::Of(q);
    }
    let mut i = 0;
    let mut sum = 0;
    while i < n {
        match &mut all[(i & 1) as usize] {
            E::None => sum += 1,
            E::Number(s) => {
                *s += 1;
                sum += *s;
            }
            E::Of(r) => {
                let r = &mut **r;
                let x = get(r);
                r.a = x + 1;
                let y = get(r);
                sum = sum * 3 + x * 100 + y;
            }
        }
        i += 1;
    }
    sum
}
