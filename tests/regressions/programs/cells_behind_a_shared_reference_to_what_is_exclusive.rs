// args: S(1, [T(4), T(5)]), 3
// greens:
// greens: 1
use hueshift::prelude::*;

#[derive(Debug)]
pub struct T(pub Cell<u8>);

#[derive(Debug)]
pub struct S(pub Cell<i64>, pub [T; 2]);

#[dont_look_inside]
fn bump(s: &S) {
    s.0.set(s.0.get() + 1);
    s.1[1].0.set(9);
}

#[dont_look_inside]
fn all(parts: &[T]) {
    parts[0].0.set(7);
}

pub fn entry(s: &mut S, x: i64) -> (i64, i64, u8, u8, u8) {
    let before = s.0.get();
    let first = s.1[1].0.get();
    bump(s);
    let second = s.1[1].0.get();
    s.1[0].0.set(x as u8);
    all(&s.1);
    (before, s.0.get(), first, second, s.1[0].0.get())
}
