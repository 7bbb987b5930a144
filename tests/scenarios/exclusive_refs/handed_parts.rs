use hueshift::prelude::*;

pub struct Pair { pub x: i64, pub y: i64 }

#[dont_look_inside]
fn triple(n: &mut i64) {
    *n *= 3;
}

#[dont_look_inside]
fn peek(p: &Pair) -> i64 {
    p.x * 10 + p.y
}

/// A call that is handed one field can't touch the other.
pub fn other_field_known(p: &mut Pair, v: i64) -> i64 {
    p.y = v;
    triple(&mut p.x);
    p.x + p.y
}

/// Nor need the other be written before the call.
pub fn other_field_later(p: &mut Pair, v: i64) -> i64 {
    p.y = v;
    triple(&mut p.x);
    p.y = v + 1;
    p.x
}

/// A call by `&` may read, not write.
pub fn only_looked_at(p: &mut Pair, v: i64) -> i64 {
    p.x = v;
    p.y = 5;
    let a = peek(p);
    a + p.x + p.y
}

/// One element is handed on.
pub fn other_element_known(a: &mut [i64; 3], v: i64) -> i64 {
    a[0] = v;
    a[2] = 4;
    triple(&mut a[1]);
    a[0] * a[2]
}

/// Local, and one field goes out.
pub fn local_part(v: i64) -> i64 {
    let mut p = Pair { x: v, y: v + 1 };
    triple(&mut p.x);
    p.x + p.y
}

/// A slice is cut in two by hand: what is written to one is not in the other.
pub fn two_windows(a: &mut [i64], b: &mut [i64]) -> i64 {
    a[0] = 1;
    b[0] = 2;
    a[1] = 3;
    a[0] + b[0] + a[1]
}
