use hueshift::prelude::*;

/// What is known but asked for by nothing is a red that holds a constant: it folds while it lasts.
pub fn known_but_not_asked(n: i64, x: i64) -> i64 {
    let y = n * n + 1;
    x + y
}

/// A join forgets it.
pub fn forgotten_at_a_join(n: i64, x: i64) -> i64 {
    let mut y = n;
    if x > 10 {
        y = x;
    }
    y * 2
}

/// A name with several definitions: the last is the name's own, the others have their line.
pub fn defined_twice(x: i64, n: i64) -> i64 {
    let y = x + 1;
    let z = y * 2;
    let y = concrete(n);
    y + z
}

#[elidable]
fn product(a: i64, b: i64) -> i64 {
    a * b
}

/// After a promotion the value that was promoted is known as well, on that path.
pub fn known_after_promotion(x: i64, y: i64) -> i64 {
    let z = promote(x);
    if x == 3 { product(x, 5) + y } else { product(z, 7) - y }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plain {
    Low = -4,
    High = 4,
}

/// Integers of any width, bools, chars and plain enums.
pub fn promoted_types(a: u8, b: i16, c: bool, d: char, e: Plain) -> i64 {
    let small = promote(a) as i64 * 2 + promote(b) as i64;
    let more = if promote(c) { promote(d) as i64 } else { promote(e) as i64 };
    product(small, more)
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Int(i64),
    Pair(i64, i64),
    Nothing,
}

/// A match on a payload enum whose tag has been promoted is decided when compiling.
pub fn promoted_tag(v: Value) -> i64 {
    match promote_tag(v) {
        Value::Int(n) => n,
        Value::Pair(a, b) => a + b,
        Value::Nothing => 0,
    }
}

fn sum_below(n: i64, x: i64) -> i64 {
    let mut i = concrete(0);
    let mut sum = x;
    while i < concrete(n) {
        sum += i;
        i += 1;
    }
    sum
}

fn doubled(n: i64, x: i64) -> i64 {
    let mut left = n;
    let mut sum = x;
    while left > 0 {
        sum *= 2;
        left -= 1;
    }
    sum
}

#[unroll_safe]
fn doubled_here(n: i64, x: i64) -> i64 {
    let mut left = n;
    let mut sum = x;
    while left > 0 {
        sum *= 2;
        left -= 1;
    }
    sum
}

/// A function is looked into if all its loops are over greens at this call, or if it says so; else it is called.
pub fn looked_into(n: i64, x: i64) -> i64 {
    let n = concrete(n);
    sum_below(n, x) + doubled(x & 7, 1) + doubled_here(x & 3, 1)
}

#[elidable]
fn quotient(a: i64, b: i64) -> Result<i64, bool> {
    if b == 0 { Err(a > 0) } else { Ok(a / b) }
}

/// An elidable function that returns `Err` on constants isn't folded.
pub fn err_is_not_folded(n: i64, x: i64) -> i64 {
    match quotient(concrete(n), 0) {
        Ok(q) => q + x,
        Err(positive) => x * 2 + positive as i64,
    }
}

#[elidable]
fn hundredth(n: i64) -> i64 {
    100 / n
}

/// Nor is one that traps: the trap is that of the run, behind the effects before it, if the run comes there.
pub fn trap_is_not_folded(n: i64, x: i64, log: &mut [i64]) -> i64 {
    log[0] = x;
    if x > 5 {
        log[0] += hundredth(concrete(n));
    }
    log[0]
}

#[elidable]
fn total(a: &[i64]) -> i64 {
    let mut sum = 0;
    for x in a {
        sum += *x;
    }
    sum
}

/// Elidable functions of slices are told apart by address and length.
pub fn totals(a: &[i64], b: &[i64], x: i64) -> i64 {
    let once = total(a);
    let part = total(&a[1..]);
    let other = total(b);
    once + total(a) * 10 + part * 100 + other * 1000 + x
}
