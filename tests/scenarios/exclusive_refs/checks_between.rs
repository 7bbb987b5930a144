//! Stores through `&mut` with checks between them: each check that fails leaves memory as it was then, and nothing is there twice for that.
use hueshift::prelude::*;

pub struct Xy {
    pub x: i64,
    pub y: i64,
}

pub struct Stack {
    pub items: [i64; 4],
    pub sp: usize,
    pub pushes: i64,
}

pub fn in_a_row(a: &mut [i64], k: i64) -> i64 {
    a[0] = 1;
    a[1] = 2;
    a[2] = k;
    a[0] + a[1]
}

/// So many elements that a store of each in each arm that fails would be too much to compile.
pub fn fill(a: &mut [i64], n: usize, v: i64) {
    let mut i = concrete(0usize);
    while i < concrete(n) {
        a[i] = v;
        i += 1;
    }
}

pub fn read_between(a: &mut [i64], x: i64) {
    a[0] += x;
    a[1] *= x;
    a[2] -= x;
}

pub fn of_another(p: &mut Xy, a: &[i64]) {
    p.x += a[0];
    p.y += a[1];
}

/// What is overwritten is stored only where a check fails, and nothing else is computed there again.
pub fn overwritten(p: &mut Xy, a: &[i64]) {
    p.x += a[0];
    p.x *= a[1];
    p.x -= a[2];
    p.x ^= a[3];
}

pub fn before_a_division(p: &mut Xy, a: i64, b: i64) -> i64 {
    p.x += 1;
    let q = a / b;
    p.y += q;
    q
}

pub fn either_way(p: &mut Xy, c: bool) -> i64 {
    p.x = 1;
    if c {
        return 5;
    }
    p.y
}

pub fn push(s: &mut Stack, v: i64) -> bool {
    s.pushes += 1;
    if s.sp >= 4 {
        return false;
    }
    s.items[s.sp] = v;
    s.sp += 1;
    true
}

/// Behind a loop that may have no rounds.
pub fn added(p: &mut Xy, n: i64) -> i64 {
    for i in 0..n {
        p.x += i;
    }
    p.x
}

pub fn moved(p: &mut Xy) -> i64 {
    while p.x > 0 {
        p.x -= 1;
        p.y += 2;
    }
    p.y
}

fn add_to(y: &mut i64, n: i64) {
    *y += n;
}

/// A part that is handed on is the same place.
pub fn parts(p: &mut Xy, n: i64) -> i64 {
    if n > 0 {
        add_to(&mut p.y, n);
    }
    p.y
}

/// What is tested is what is stored, on both ways.
pub fn counted_down(p: &mut Xy) -> i64 {
    p.x -= 1;
    if p.x == 0 {
        return 7;
    }
    p.y
}
