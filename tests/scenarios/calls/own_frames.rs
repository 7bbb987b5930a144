use hueshift::prelude::*;

pub struct Frame { pub sp: usize, pub stack: [i64; 8] }

/// A function with a loop, so called, not copied.
fn sum_up(frame: &mut Frame, n: i64) -> i64 {
    let mut i = 0;
    while i < n { frame.stack[0] += i; i += 1; }
    frame.stack[0]
}
pub fn fresh(n: i64) -> i64 { let mut f = Frame { sp: 0, stack: [0; 8] }; sum_up(&mut f, n) }
pub fn filled(n: i64, x: i64) -> i64 { let mut f = Frame { sp: 2, stack: [0; 8] }; f.stack[0] = x; f.stack[3] = n; sum_up(&mut f, n) }
pub fn looked_at(n: i64, x: i64) -> i64 { let mut f = Frame { sp: 2, stack: [0; 8] }; f.stack[0] = x; sum_up(&mut f, n) * 1000 + f.stack[0] + f.sp as i64 }
pub fn in_one_arm(n: i64, x: i64) -> i64 {
    let mut f = Frame { sp: 1, stack: [0; 8] };
    f.stack[0] = x;
    let r = sum_up(&mut f, n);
    if x > 5 { r * 100 + f.stack[0] } else { r }
}
fn fib(n: i64, frame: &mut [i64; 4]) -> i64 {
    frame[0] = n;
    if n < 2 { return frame[0]; }
    let mut a = [0i64; 4];
    let mut b = [0i64; 4];
    frame[1] = fib(n - 1, &mut a);
    frame[2] = fib(n - 2, &mut b);
    frame[1] + frame[2]
}
pub fn fibonacci(n: i64) -> i64 { let mut f = [0i64; 4]; fib(n, &mut f) }
fn at_any(a: &mut [i64; 4], i: usize, n: i64) -> i64 { let mut k = 0; while k < n { a[i & 3] += k; k += 1; } a[0] * 1000 + a[1] * 100 + a[2] * 10 + a[3] }
pub fn anywhere(i: usize, n: i64) -> i64 { let mut a = [0, 2, 0, 4]; at_any(&mut a, i, n) }
pub fn twice(i: usize, n: i64) -> i64 { let mut a = [0, 2, 0, 4]; let x = at_any(&mut a, i, n); x * 7 + at_any(&mut a, i + 1, n) }
fn both(a: &[i64; 4], b: &[i64; 4], n: i64) -> i64 { let mut k = 0; let mut s = 0; while k < n { s += a[0] * b[1] - a[1]; k += 1; } s }
pub fn same_twice(n: i64, x: i64) -> i64 { let a = [x, 3, 0, 0]; both(&a, &a, n) }
pub fn one_each(n: i64, x: i64) -> i64 { let a = [x, 3, 0, 0]; let b = [1, x, 0, 9]; both(&a, &b, n) }
fn tail_of(a: &mut [i64], n: i64) -> &mut [i64] { let mut k = 0; while k < n { a[0] += k; k += 1; } &mut a[1..] }
pub fn given_back(n: i64, x: i64) -> i64 { let mut a = [x, 3, 5]; let t = tail_of(&mut a, n); t[0] += 40; t[0] * 10 + t[1] }
pub struct Keeper<'a> { pub n: i64, pub kept: &'a [i64; 2] }
fn keep<'a>(k: &mut Keeper<'a>, a: &'a [i64; 2], mut n: i64) { while n > 0 { k.n += a[0]; n -= 1; } k.kept = a; }
pub fn kept(first: &[i64; 2], n: i64, x: i64) -> i64 {
    let mut k = Keeper { n: 0, kept: first };
    let second = [x, 4];
    keep(&mut k, &second, n);
    k.n * 100 + k.kept[0] * 10 + k.kept[1]
}
pub struct Inner { pub a: u8, pub b: bool, pub c: f64 }
pub struct Mixed { pub i: Inner, pub s: i16, pub f: f32 }
fn mixed(m: &mut Mixed, n: i64) -> f64 {
    let mut k = 0;
    while k < n { m.i.c += m.f as f64; m.i.a = m.i.a.wrapping_add(100); m.s = m.s.wrapping_sub(9); m.i.b = !m.i.b; k += 1; }
    m.i.c + m.i.a as f64 + m.s as f64 + if m.i.b { 0.5 } else { 0.25 }
}
pub fn of_all_kinds(n: i64, x: f64, s: i16) -> f64 { let mut m = Mixed { i: Inner { a: 7, b: true, c: x }, s, f: 0.5 }; mixed(&mut m, n) }
fn divide(a: &mut [i64; 2], n: i64) -> i64 { let mut k = 3; while k > n { a[0] /= k; k -= 1; } a[0] }
pub fn may_trap(o: &mut [i64; 2], n: i64) -> i64 { o[1] = 5; let mut a = [600, 0]; let r = divide(&mut a, n); o[1] = 6; r }
fn deep(a: &mut [i64; 2], n: i64) -> i64 { if n == 0 { return a[0] + a[1]; } let mut b = [a[1], a[0] + n]; a[0] = 9; deep(&mut b, n - 1) + a[0] }
pub fn handed_on(n: i64, x: i64) -> i64 { let mut a = [x, 1]; deep(&mut a, n) }
pub struct Tree<'a> { pub v: i64, pub up: Option<&'a Tree<'a>> }
fn total(t: &Tree) -> i64 { let mut s = 0; let mut at = t; loop { s = s * 3 + at.v; match at.up { Some(u) => at = u, None => return s } } }
fn walk(t: &Tree, n: i64) -> i64 { let child = Tree { v: n, up: Some(t) }; if n == 0 { total(&child) } else { walk(&child, n - 1) } }
pub fn chain(n: i64) -> i64 { let root = Tree { v: 100, up: None }; walk(&root, n) }
