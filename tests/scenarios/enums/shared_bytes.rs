use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum V { Nil, Bool(bool), Int(i64), Real(f64), Half(f32), Pair { a: u16, b: i16 }, Small(i8), Quad { a: u8, b: u8, c: u16, d: i32 } }

impl V {
    fn num(&self) -> f64 {
        match self {
            V::Nil => 0.0,
            V::Bool(b) => if *b { 1.0 } else { 0.0 },
            V::Int(i) => *i as f64,
            V::Real(x) => *x,
            V::Half(x) => *x as f64,
            V::Pair { a, b } => *a as f64 + *b as f64,
            V::Small(s) => *s as f64,
            V::Quad { a, b, c, d } => *a as f64 + *b as f64 * 2.0 + *c as f64 * 3.0 + *d as f64 * 4.0,
        }
    }
    fn set(&mut self, k: u8, x: i64) {
        *self = make(k, x);
    }
}

fn make(k: u8, x: i64) -> V {
    match k {
        0 => V::Nil,
        1 => V::Bool(x > 3),
        2 => V::Int(x),
        3 => V::Real(x as f64 / 4.0),
        4 => V::Half(x as f32 / 8.0),
        5 => V::Pair { a: x as u16, b: x as i16 },
        6 => V::Small(x as i8),
        _ => V::Quad { a: x as u8, b: (x >> 8) as u8, c: (x >> 3) as u16, d: -x as i32 },
    }
}

pub fn joined(k: u8, x: i64) -> f64 {
    let v = make(k, x);
    v.num()
}

pub fn overwritten(k: u8, j: u8, x: i64) -> f64 {
    let mut v = make(k, x);
    let before = v.num();
    if x > 0 { v.set(j, x + 1); }
    before * 1000.0 + v.num()
}

pub fn stack(k: u8, n: u8, x: i64) -> f64 {
    let mut s = [V::Nil; 4];
    let mut i = 0u8;
    let mut sum = 0.0;
    while i < n {
        s[0] = s[1];
        s[1] = s[2];
        s[2] = make((k + i) % 8, x + i as i64);
        s[3].set(i % 8, x - i as i64);
        sum = sum * 0.5 + s[0].num() + s[1].num() + s[2].num() + s[3].num();
        i += 1;
    }
    sum
}

pub fn swapped(k: u8, x: i64) -> f64 {
    let mut a = make(k, x);
    let mut b = V::Real(x as f64);
    if x % 2 == 0 { let t = a; a = b; b = t; }
    a.num() * 3.0 + b.num()
}

fn first(values: &[V], i: usize) -> f64 {
    values[i].num()
}

/// What was met as one scalar is found in memory as what it was stored as.
pub fn real_after_all(k: u8, j: u8, x: i64, i: usize) -> f64 {
    let mut s = [V::Nil; 3];
    s[0] = make(k, x);
    s[1] = make(j, x + 1);
    if x > 0 {
        s[2].set(k, x);
        s[2].set(j, x + 2);
    }
    s[0].num() + 16.0 * first(&s, i % 3) + 256.0 * s[2].num()
}

/// An address isn't taken apart.
#[derive(Clone, Copy)]
pub enum Link<'a> {
    End,
    Data(&'a [i64]),
    Two(u32, u32, u16),
}

fn total(link: &Link) -> i64 {
    match link {
        Link::End => 0,
        Link::Data(cells) => cells[0] * 100 + cells.len() as i64,
        Link::Two(a, b, c) => *a as i64 + *b as i64 * 2 + *c as i64 * 3,
    }
}

pub fn addresses(k: u8, cells: &mut [i64], x: i64) -> i64 {
    cells[0] = x;
    let link = match k {
        0 => Link::End,
        1 => Link::Data(cells),
        _ => Link::Two(x as u32, 7, 9),
    };
    total(&link)
}
