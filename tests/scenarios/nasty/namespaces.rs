//! Names of types that are names of something else among values, and variables that get their values from a pattern later.
use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub enum Err {
    A(i64),
    B,
}

fn checked(x: i64) -> Result<i64, Err> {
    if x > 0 {
        Ok(x)
    } else if x == 0 {
        Err(Err::B)
    } else {
        Err(Err::A(x))
    }
}

pub fn error_named_err(x: i64) -> i64 {
    match checked(x) {
        Ok(v) => v,
        Err(Err::A(y)) => y * 2,
        Err(_) => -7,
    }
}

pub enum Some {
    One,
}

pub fn option_beside_some(x: i64) -> i64 {
    let one = Some::One;
    let found = if x > 3 { Some(x) } else { None };
    match (found, one) {
        (Some(v), Some::One) => v,
        _ => 0,
    }
}

pub fn later(x: i64) -> i64 {
    let (c, d);
    (c, d) = (x, 3);
    c + d
}

pub fn later_in_arms(x: i64) -> i64 {
    let (a, [b, _]): (i64, [i64; 2]);
    if x > 0 {
        a = x;
        b = 2;
    } else {
        a = 5;
        b = -x;
    }
    a * b
}
