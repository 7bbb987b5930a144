//! Traps: message and line, the effects before, none behind.

use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Low,
    High,
}

pub fn index(a: &[i64], own: [u8; 3], i: usize, log: &mut [i64]) -> i64 {
    log[0] = 1;
    let x = a[i];
    log[0] = 2;
    let y = own[i];
    log[0] = 3;
    log[i] = 4;
    x + y as i64
}

pub fn slice(a: &[i64], b: &mut [u8], i: usize, j: usize) -> usize {
    b[0] += 1;
    let n = (&a[i..]).len();
    b[0] += 1;
    let m = (&a[..j]).len();
    b[0] += 1;
    let k = (&mut b[i..j]).len();
    b[0] += 1;
    n + m + k
}

pub fn division(a: i32, b: i32, log: &mut [i64]) -> i32 {
    log[0] += 1;
    let q = a / b;
    log[0] += 1;
    q
}

pub fn remainder(a: i8, b: i8, c: u64) -> (i8, u64) {
    (a % b, 7 / c + 8 % c)
}

pub fn methods(a: i64, b: i64, c: u8) -> i64 {
    let q = a.wrapping_div(b) + a.rem_euclid(b);
    q + 5u8.wrapping_rem(c) as i64 + i64::div_euclid(a, b)
}

pub fn unwrapped(a: Option<u8>, b: Result<u8, i32>) -> u8 {
    let x = a.unwrap();
    x + b.unwrap()
}

pub fn expected(a: Option<u8>, b: Result<u8, Kind>) -> u8 {
    let x = a.expect("a is there");
    x + b.expect("b is fine")
}

pub fn panics(kind: u8, x: i64, y: f64, c: char) -> i64 {
    match kind {
        0 => panic!(),
        1 => panic!("plain text with {{braces}}"),
        2 => panic!("x = {}, y = {y:?}, again {0}", x),
        3 => panic!("{c} is {c:?}; {} {:?}", x > 0, Kind::High as u8),
        4 => unreachable!(),
        5 => unreachable!("kind {}", kind),
        6 => todo!(),
        7 => unimplemented!("never {}", x),
        _ => x,
    }
}

pub fn asserts(kind: u8, x: i64, y: i64) -> i64 {
    match kind {
        0 => assert!(x < y),
        1 => assert!(x < y && x != 0, "{x} and {}", y),
        2 => assert_eq!(x, y),
        3 => assert_ne!(x, y, "both are {}", x),
        4 => assert!(matches(x)),
        _ => {}
    }
    x - y
}

fn matches(x: i64) -> bool {
    match x {
        0..=9 => true,
        _ => false,
    }
}

pub fn effects_before(cells: &mut [i64], shared: &Shared, n: i64) -> i64 {
    cells[0] = n;
    shared.count.set(n);
    let mut i = 0;
    while i < 10 {
        cells[1] += 1;
        shared.count.set(shared.count.get() + 1);
        step(cells, i, n);
        i += 1;
    }
    cells[0] = -1;
    i
}

#[derive(Debug)]
pub struct Shared {
    pub count: Cell<i64>,
}

fn step(cells: &mut [i64], i: i64, n: i64) {
    cells[2] = 100 / (n - i);
    cells[3] += 1;
}

pub fn in_the_line_of_the_call(x: i64) -> i64 {
    let a = inner(x);
    a + inner(x - 5)
}

fn inner(x: i64) -> i64 {
    assert!(x != 0, "x is nothing");
    x
}

pub fn debug_asserts(x: i64) -> i64 {
    debug_assert!(x > 3, "x is {x}");
    debug_assert_eq!(x, x, "itself");
    x
}

pub fn deep(n: u64) -> u64 {
    if n == 0 { 0 } else { deep(n - 1) * 3 + n }
}
