use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point { pub x: i32, pub y: i16, pub ok: bool }

#[derive(Debug)]
pub struct Machine { pub regs: [i64; 4], pub at: Point, pub pc: usize, pub tape: [u8; 3] }

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair(pub u8, pub f64);

pub struct Counters { pub hits: Cell<i64>, pub limit: i64, pub last: Cell<u8> }

impl Point {
    const ORIGIN: Point = Point { x: 0, y: 0, ok: true };
    pub fn new(x: i32, y: i16) -> Self { Point { ok: x > 0, y, x } }
    fn moved(self, dx: i32) -> Point { Point { x: self.x.wrapping_add(dx), y: self.y, ok: self.ok } }
    fn flip(&mut self) { self.ok = !self.ok; self.y = self.y.wrapping_neg(); }
    fn sum(&self) -> i64 { self.x as i64 + self.y as i64 }
}

pub fn points(a: i32, b: i16) -> (i64, bool, bool) {
    let mut p = Point::new(a, b);
    let q = p.moved(3);
    p.flip();
    let r = p;
    p.flip();
    p.flip();
    (p.sum() * 1000 + q.sum() + Point::ORIGIN.sum(), p == r, q != Point::ORIGIN)
}

pub fn machine(m: &mut Machine, i: usize) -> i64 {
    m.regs[i] += 5;
    m.regs[0] ^= m.regs[i] * 3;
    m.at.x += 1;
    m.at.flip();
    m.tape[i % 3] = m.tape[i % 3].wrapping_add(200);
    m.pc = i;
    let t = m.tape;
    let mut sum = 0;
    for b in t { sum += b as i64; }
    for b in &m.regs { sum += *b; }
    fill(&mut m.regs[1..3], sum);
    set(&mut m.pc, 77);
    sum + m.regs[1] + m.pc as i64 + m.regs.len() as i64
}

fn fill(s: &mut [i64], v: i64) {
    for x in s { *x = v; }
}

fn set(p: &mut usize, v: usize) {
    *p = v;
}

pub fn field_references(m: &mut Machine) -> (i64, i32) {
    let before = m.at.x;
    add_to(&mut m.at.x, 10);
    m.at.x *= 2;
    add_to(&mut m.at.x, 1);
    let after = m.at.x;
    nudge(&mut m.regs[2]);
    let mut t = (3i32, 4i64);
    add_to(&mut t.0, 5);
    t.0 += 1;
    nudge(&mut t.1);
    (t.1 + m.regs[2], after - before + t.0)
}

fn add_to(x: &mut i32, by: i32) { *x += by; }
fn nudge(x: &mut i64) { *x = *x * 2 + 1; }

pub fn local_arrays(i: usize, j: usize) -> (i64, [i64; 4], [u8; 3]) {
    let mut a = [1i64, 2, 3, 4];
    let mut b = [9u8; 3];
    a[i] = 50;
    let copy = a;
    a[j] += copy[i] + a[0];
    b[1] = 7;
    let c = a;
    a[0] = 0;
    b[j % 3] ^= 255;
    (a[0] + c[j] + copy[j], c, b)
}

pub fn grid(i: usize, j: usize) -> i32 {
    let mut g = [[0i32; 3]; 4];
    for r in 0..4 {
        for c in 0..3 { g[r][c] = (r * 10 + c) as i32; }
    }
    let row = g[i];
    g[i][j] = -1;
    g[3] = row;
    let mut s = 0;
    for r in g { for x in r { s = s * 7 % 100_003 + x; } }
    s + row[j]
}

pub fn large(n: usize) -> (u64, u64) {
    let mut a = [0u32; 200];
    let mut b = [3u64; 100];
    for i in 0..200 { a[i] = (i * n) as u32; }
    let c = b;
    b[n % 100] = 1000;
    let mut s = 0u64;
    for x in &a { s += *x as u64; }
    for &x in &b { s += x; }
    for x in c { s += x * 2; }
    b = c;
    (s, b[n % 100])
}

pub struct Big { pub data: [u16; 80], pub n: usize }

pub fn big_struct(n: usize) -> u32 {
    let mut big = Big { data: [1; 80], n };
    big.data[n] = 9;
    touch(&mut big);
    let other = Big { n: big.n + 1, data: big.data };
    total(&big) + total(&other) * 3
}

fn touch(b: &mut Big) { b.data[b.n + 1] = 11; b.n += 2; }
fn total(b: &Big) -> u32 { let mut s = b.n as u32; for x in &b.data { s += *x as u32; } s }

pub fn structs_in_slices(ps: &mut [Point], i: usize) -> (i64, bool) {
    let p = ps[i];
    ps[i].x = 100;
    ps[i].y += 1;
    ps[0] = Point { x: ps[i].x + 1, y: ps[i].y, ok: false };
    ps[1].flip();
    let mut s = 0;
    let frozen: &[Point] = ps;
    for q in frozen { s += q.sum() * 3 + q.x as i64; }
    (s, p == ps[i])
}

pub fn windows(a: &mut [i64], i: usize, j: usize) -> i64 {
    let n = a.len();
    let w = &mut a[i..j];
    if w.len() > 0 { w[0] = 5; }
    let rest = &a[i..];
    let first = &a[..j];
    let all = &a[..];
    (rest.len() * 1000 + first.len() * 10 + all.len() + n) as i64 + sum(&a[1..]) + sum(rest)
}

fn sum(a: &[i64]) -> i64 {
    let mut s = 0;
    for x in a { s += x; }
    s
}

pub fn cells(c: &Counters, n: i64) -> i64 {
    for i in 0..n {
        if c.hits.get() >= c.limit { break; }
        c.hits.set(c.hits.get() + i);
        c.last.set(i as u8);
    }
    twice(c, c);
    c.hits.get() * 10 + c.last.get() as i64
}

fn twice(a: &Counters, b: &Counters) {
    a.hits.set(a.hits.get() + 1);
    b.hits.set(a.hits.get() * 2);
}

pub fn local_cells(n: i64) -> i64 {
    let c = Counters { hits: Cell::new(n), limit: n + 10, last: Cell::new(1) };
    cells(&c, 5) + c.hits.get()
}

pub fn bytes(b: &mut [u8], i: usize, v: u32) -> (u16, u32, u64) {
    write_u32_le(b, i, v);
    write_u16_le(b, i + 2, 0xBEEF);
    let r = (read_u16_le(b, i + 1), read_u32_le(b, i), read_u64_le(b, 0));
    write_u64_le(b, i + 1, 0x0102_0304_0506_0708);
    r
}

pub fn strings(s: &str, i: usize) -> (usize, u8) {
    let b = s.as_bytes();
    (s.len(), b[i])
}

pub fn index_order(a: &mut [i64], i: usize) -> i64 {
    a[pick(i, 1)] += pick(i, 0) as i64;
    a[0] = a[pick(i, 1)] * 2;
    a[i] = a[i.wrapping_sub(1)] / a[i + 1];
    a[1]
}

fn pick(i: usize, k: usize) -> usize { (i + k) % 3 }

pub fn references_of_references(a: &[i64], p: &Pair) -> (f64, usize) {
    (through(&p, &a), pass(&&a[1..]))
}

fn through(p: &&Pair, a: &&[i64]) -> f64 { p.1 + a.len() as f64 + p.0 as f64 }
fn pass(a: &&[i64]) -> usize { a.len() }

pub fn chosen(a: &mut [i64], b: &mut [i64], first: bool) -> i64 {
    let r = if first { &mut a[1] } else { &mut b[0] };
    *r += 7;
    let s: &[i64] = if first { a } else { b };
    s[0] + s[1]
}

pub fn returned<'a>(m: &'a mut Machine, i: usize) -> i64 {
    let r = register(m, i);
    *r = 9;
    *register(m, 1) += 4;
    m.regs[i] + m.regs[1]
}

fn register(m: &mut Machine, i: usize) -> &mut i64 { &mut m.regs[i] }

pub fn tuple_struct(a: u8, b: f64) -> (u8, f64) {
    let mut p = Pair(a, b);
    p.0 = p.0.wrapping_add(1);
    p.1 *= 2.0;
    let Pair(x, y) = p;
    let Pair(ref_like, ..) = p;
    (x.wrapping_add(ref_like), y)
}
