use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq)]
pub enum Fault { Missing, TooBig(i64) }

fn check(x: i64) -> Result<i64, Fault> {
    if x < 0 {
        return Err(Fault::Missing);
    }
    if x > 100 {
        return Err(Fault::TooBig(x));
    }
    Ok(x)
}

fn both(x: i64, y: i64) -> Result<i64, Fault> {
    Ok(check(x)? + check(y)?)
}

/// Two calls, two ways to fail each: one path through.
pub fn sum_checked(x: i64, y: i64) -> i64 {
    match both(x, y) {
        Ok(v) => v,
        Err(Fault::Missing) => -1,
        Err(Fault::TooBig(n)) => -n,
    }
}

/// The second check says nothing new.
pub fn checked_again(x: i64) -> i64 {
    let a = match check(x) {
        Ok(v) => v,
        Err(_) => return -1,
    };
    match check(a) {
        Ok(v) => v + 1,
        Err(_) => -2,
    }
}

fn step(i: i64, limit: i64) -> Result<i64, i64> {
    if i == limit { Err(i * 10) } else { Ok(i + 1) }
}

/// An error ends the loop.
pub fn loop_until_error(limit: i64) -> i64 {
    let mut i = 0;
    loop {
        match step(i, limit) {
            Ok(v) => i = v,
            Err(e) => return e,
        }
    }
}

fn deeper(x: i64, depth: i64) -> Result<i64, i64> {
    if concrete(depth) == 0 {
        if x == 0 { Err(-7) } else { Ok(x) }
    } else {
        Ok(deeper(x, depth - 1)? * 2)
    }
}

/// Through four levels of `?`: only the innermost test is left.
pub fn four_levels(x: i64) -> i64 {
    match deeper(x, 4) {
        Ok(v) => v,
        Err(e) => e,
    }
}

fn recover(x: i64) -> Result<i64, i64> {
    match step(x, 5) {
        Ok(v) => Err(v),
        Err(e) => Ok(e),
    }
}

/// Success and failure change places.
pub fn turned_round(x: i64) -> i64 {
    match recover(x) {
        Ok(v) => v,
        Err(e) => -e,
    }
}

#[dont_look_inside]
fn outside(x: i64, log: &mut [i64]) -> Result<i64, i64> {
    log[0] += 1;
    if x > 2 { Err(x) } else { Ok(x * 2) }
}

/// Errors from a call that isn't looked into, in a loop; each is counted.
pub fn errors_counted(n: i64, log: &mut [i64]) -> i64 {
    let mut i = 0;
    let mut good = 0;
    let mut bad = 0;
    while i < n {
        match outside(i, log) {
            Ok(v) => good += v,
            Err(e) => bad += e,
        }
        i += 1;
    }
    good * 100 + bad
}

fn overflow_is_error(a: i64, b: i64) -> Result<i64, u8> {
    match a.checked_mul(b) {
        Some(v) => Ok(v),
        None => Err(3),
    }
}

fn chain(a: i64, b: i64) -> Result<i64, u8> {
    let x = overflow_is_error(a, b)?;
    let y = overflow_is_error(x, 2)?;
    Ok(y + 1)
}

pub fn overflow_chain(a: i64, b: i64) -> i64 {
    match chain(a, b) {
        Ok(v) => v,
        Err(e) => -(e as i64),
    }
}

/// Never an error, so no test.
pub fn infallible(x: i64) -> i64 {
    match check(x & 63) {
        Ok(v) => v,
        Err(_) => -1,
    }
}

/// `unwrap` of what was tested.
pub fn unwrap_after_test(x: i64) -> i64 {
    let r = check(x);
    if r.is_ok() {
        return r.unwrap_or(0) + 1;
    }
    0
}
