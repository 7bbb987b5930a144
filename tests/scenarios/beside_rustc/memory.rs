//! Structs, arrays, slices, references and cells.

use hueshift::prelude::*;
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct P {
    pub x: i64,
    pub y: i32,
    pub f: f64,
}
pub struct M {
    pub a: [i64; 4],
    pub n: usize,
    pub p: P,
}
pub struct C {
    pub n: Cell<i64>,
    pub k: i64,
}
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    Red,
    Green = 5,
    Blue,
}

impl P {
    pub fn new(x: i64) -> P {
        P { x, y: 2, f: 0.5 }
    }
    pub fn sum(&self) -> i64 {
        self.x + self.y as i64
    }
    pub fn bump(&mut self, by: i64) {
        self.x += by;
        self.y -= 1;
    }
    pub fn with(self, x: i64) -> P {
        let mut q = self;
        q.x = x;
        q
    }
}
impl M {
    fn push(&mut self, v: i64) {
        self.a[self.n] = v;
        self.n += 1;
    }
    fn pop(&mut self) -> i64 {
        self.n -= 1;
        self.a[self.n]
    }
    fn top(&self) -> i64 {
        self.a[self.n - 1]
    }
}
pub fn m_stack(m: &mut M, k: i64) -> i64 {
    m.push(k);
    m.push(k * 2);
    let t = m.top();
    let a = m.pop();
    let b = m.pop();
    m.push(a - b);
    m.p.bump(t);
    m.p.sum()
}
pub fn local_stack(k: i64, n: i64) -> i64 {
    let mut m = M { a: [0; 4], n: 0, p: P::new(k) };
    let mut i = 0;
    while i < n {
        m.push(i * k);
        if m.n == 4 {
            let a = m.pop();
            let b = m.pop();
            m.push(a + b);
        }
        i += 1;
    }
    m.top() + m.n as i64
}
pub fn p_methods(k: i64) -> i64 {
    let mut p = P::new(k);
    p.bump(3);
    let q = p.with(7);
    p.bump(1);
    if p == q { 1 } else { p.sum() * 100 + q.sum() }
}
pub fn cells(c: &C, d: &C) -> i64 {
    c.n.set(c.n.get() + c.k);
    d.n.set(d.n.get() * 2);
    c.n.get() - d.n.get()
}
pub fn swap_mut(a: &mut P, b: &mut P) -> i64 {
    let t = a.x;
    a.x = b.x;
    b.x = t;
    a.y += b.y;
    a.x - b.x
}
pub fn choose_mut(a: &mut P, b: &mut P, c: bool) -> i64 {
    a.x = 5;
    b.x = 6;
    let r = if c { a } else { b };
    r.x += 10;
    r.y = 1;
    r.x
}
fn fill(s: &mut [u8], v: u8) {
    for i in 0..s.len() {
        s[i] = v + i as u8;
    }
}
pub fn subslices(s: &mut [u8], k: usize) -> u64 {
    fill(&mut s[k..], 10);
    fill(&mut s[..k], 100);
    let t = &s[1..3];
    t[0] as u64 * 1000 + t[1] as u64 + t.len() as u64
}
pub fn sum_for(s: &[i32]) -> i64 {
    let mut t = 0;
    for x in s {
        t += *x as i64;
    }
    for &y in s {
        t = t * 2 + y as i64;
    }
    t
}
pub fn iter_idx(s: &[i64]) -> i64 {
    let mut best = s[0];
    let mut at = 0;
    for i in 1..s.len() {
        if s[i] > best {
            best = s[i];
            at = i;
        }
    }
    at as i64 * 100 + best
}
pub fn matrix(k: usize) -> i64 {
    let mut m = [[0i64; 3]; 3];
    let mut i = 0;
    while i < 3 {
        let mut j = 0;
        while j < 3 {
            m[i][j] = (i * 3 + j) as i64;
            j += 1;
        }
        i += 1;
    }
    m[k][2 - k] + m[1][k]
}
pub fn red_array(k: usize, v: i64) -> i64 {
    let mut a = [1, 2, 3, 4];
    a[k] = v;
    a[1] += a[k];
    let b = a;
    a[0] = 9;
    b[0] + a[0] + a[1] + b[3]
}
pub fn bubble(a: &mut [i64]) -> i64 {
    let mut sw = 0;
    let n = a.len();
    for i in 0..n {
        for j in 0..n - 1 - i {
            if a[j] > a[j + 1] {
                let t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
                sw += 1;
            }
        }
    }
    sw
}
pub fn color(n: i64) -> Color {
    match n {
        0 => Color::Red,
        1 => Color::Green,
        _ => Color::Blue,
    }
}
pub fn color_num(n: i64) -> i64 {
    let c = color(n);
    let k = c as i64;
    if c == Color::Green {
        k * 10
    } else {
        match c {
            Color::Red => -1,
            Color::Green => 0,
            Color::Blue => k,
        }
    }
}
pub fn le(b: &[u8], i: usize) -> u64 {
    read_u16_le(b, i) as u64 * 3 + read_u32_le(b, i + 1) as u64
}
static TAB: [u8; 6] = [3, 1, 4, 1, 5, 9];
const PAIRS: [(i32, bool); 3] = [(1, true), (-5, false), (7, true)];
const NAMES: &[u8] = b"hello";
pub fn tables(i: usize) -> i64 {
    TAB[i] as i64 * 10 + if PAIRS[i].1 { PAIRS[i].0 as i64 } else { 0 } + NAMES[i + 1] as i64
}
pub fn text(s: &str, i: usize) -> i64 {
    s.as_bytes()[i] as i64 + s.len() as i64
}
pub struct Node<'a> {
    pub v: i64,
    pub s: &'a [i64],
}
pub fn nested_ref(n: &Node, i: usize) -> i64 {
    n.s[i] + n.v
}
fn total(p: &P, s: &[i64]) -> i64 {
    p.x + s[0]
}
pub fn ref_local(k: i64) -> i64 {
    let p = P { x: k, y: 0, f: 1.5 };
    let a = [k, 3];
    total(&p, &a) + p.f as i64
}
fn add_to(x: &mut i64, by: i64) {
    *x += by;
}
pub fn ref_scalar(k: i64) -> i64 {
    let mut t = 1;
    let mut i = 0;
    while i < k {
        add_to(&mut t, i);
        i += 1;
    }
    t
}
pub fn ref_elem(a: &mut [i64], i: usize) -> i64 {
    add_to(&mut a[i], 5);
    a[i] + a[0]
}
pub fn ref_field(p: &mut P) -> i64 {
    add_to(&mut p.x, 9);
    p.x
}
pub fn arr_param(a: [i64; 3], i: usize) -> i64 {
    a[i] * 2 + a[0]
}
pub fn count_mut(a: &mut [i64]) -> i64 {
    let mut n = 0;
    for x in a {
        *x += 1;
        n += *x;
    }
    n
}
pub fn early(a: &[i64], key: i64) -> i64 {
    let mut i = 0;
    loop {
        if i >= a.len() {
            return -1;
        }
        if a[i] == key {
            return i as i64;
        }
        i += 1;
    }
}
pub fn struct_loop(n: i64) -> i64 {
    let mut p = P { x: 0, y: 1, f: 0.25 };
    for i in 0..n {
        let old = p;
        p.x += old.y as i64 + i;
        p.y = (old.x & 7) as i32;
        p.f *= 2.0;
        if p.f > 100.0 {
            p = P { x: p.x, y: 0, f: 1.0 };
        }
    }
    p.x * 10 + p.f as i64
}
