use hueshift::prelude::*;

pub fn rest(a: i64, b: i64) -> i64 {
    a % b
}

pub fn unsigned_quotient(a: u8, b: u8) -> u8 {
    a / b
}

pub fn narrow_overflow(a: i8, b: i8) -> i8 {
    a / b
}

pub fn unwrapped(a: &[i64], x: i64) -> i64 {
    let o = if a[0] == x { Some(a[1]) } else { None };
    o.unwrap()
}

pub fn unwrapped_error(x: i64) -> i64 {
    let r: Result<i64, i64> = if x > 0 { Ok(x) } else { Err(x) };
    r.unwrap()
}

pub fn never(x: i64) -> i64 {
    match x & 3 {
        0 => 10,
        1 => 11,
        2 => 12,
        _ => unreachable!("three of {}", x),
    }
}

pub fn equal(a: i64, b: i64) -> i64 {
    assert_eq!(a, b, "they differ");
    assert_ne!(a, 0);
    a
}

/// The trap is in an inlined callee, behind a store.
fn put(a: &mut [u8], i: usize, v: u8) {
    a[i] = v;
}

pub fn stores_then_traps(a: &mut [u8], i: usize) -> usize {
    put(a, 0, 1);
    put(a, i, 2);
    put(a, i + 1, 3);
    a.len()
}

/// A division that is the same in each round, behind a store: it may not move before it.
pub fn invariant_division(a: &mut [i64], n: i64, d: i64) -> i64 {
    let mut n = n;
    while n > 0 {
        a[0] += 1;
        a[1] += 100 / d;
        n -= 1;
    }
    a[1]
}

/// An unused division traps all the same.
pub fn unused_division(a: i64, b: i64) -> i64 {
    let _q = a / b;
    a
}

/// An unused element out of bounds as well.
pub fn unused_element(a: &[i64], i: usize) -> i64 {
    let _e = a[i];
    7
}

pub fn window_backwards(a: &[u8], from: usize, to: usize) -> usize {
    let w = &a[from..to];
    w.len()
}

/// Deep in a nest of calls, with a green that says where.
fn nest(d: i64, a: &[i64], i: usize) -> i64 {
    if concrete(d) == 0 { a[i] } else { nest(d - 1, a, i + 1) + 1 }
}

pub fn nested_trap(a: &[i64], i: usize) -> i64 {
    nest(3, a, i)
}

#[dont_look_inside]
fn outside(x: i64) -> i64 {
    if x > 5 { panic!("too much: {}", x) }
    x
}

/// The trap of a call that isn't looked into.
pub fn trap_outside(a: &mut [i64], n: i64) -> i64 {
    let mut i = 0;
    while i < n {
        a[0] = i;
        a[0] += outside(i);
        i += 1;
    }
    a[0]
}

/// Known to trap, but only if it comes there.
pub fn known_division(x: i64, d: i64) -> i64 {
    let d = concrete(d);
    if x > 0 { 100 / d } else { x }
}

pub fn shifted_index(t: &[i64; 4], x: u8) -> i64 {
    t[(x >> 6) as usize] + t[(x & 3) as usize]
}
