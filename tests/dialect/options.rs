//! `Option` and `Result`: their methods, `?`, and what a trap says of them.

use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    pub line: u32,
    pub column: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    Empty,
    Unexpected(char, Place),
    TooLarge { value: i64, limit: (i64, f32) },
    Nested(Result<bool, Kind>, [u8; 2]),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Low,
    High = 9,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Code(pub u16, pub ());

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nothing;

pub fn option_methods(a: Option<i64>, b: Option<Place>) -> (bool, bool, i64, Place) {
    (a.is_some(), b.is_none(), a.unwrap_or(-7), b.unwrap_or(Place { line: 1, column: None }))
}

pub fn result_methods(a: Result<i64, Kind>, b: Result<Place, Fault>) -> (bool, bool, i64, Place) {
    (a.is_ok(), b.is_err(), a.unwrap_or(3), b.unwrap_or(Place { line: 0, column: Some(2) }))
}

pub fn option_unwrapped(a: Option<i64>, b: Option<Place>) -> i64 {
    a.unwrap() + b.expect("a place, {braces} and all").line as i64
}

pub fn scalar_error(a: Result<i64, u8>, b: Result<u8, char>, c: Result<(), f64>) -> i64 {
    let n = a.unwrap() + b.expect("a byte") as i64;
    c.unwrap();
    n
}

pub fn unit_error(a: Result<u8, ()>) -> u8 {
    a.unwrap()
}

pub fn enum_error(a: Result<i64, Kind>) -> i64 {
    a.unwrap()
}

pub fn struct_error(a: Result<i64, Place>, b: Result<i64, Code>) -> i64 {
    a.unwrap() - b.expect("no code")
}

pub fn other_errors(a: Result<i64, (u8, bool)>, b: Result<i64, [Kind; 2]>, c: Result<u8, Option<Nothing>>) -> i64 {
    a.unwrap() + b.unwrap() + c.unwrap() as i64
}

pub fn payload_error(kind: u8, n: i64) -> i64 {
    faulty(kind, n).unwrap()
}

pub fn payload_error_expected(log: &mut [i64], kind: u8, n: i64) -> i64 {
    log[0] += 1;
    let first = faulty(kind / 2, n).expect("the first");
    log[0] += first;
    faulty(kind, first).expect("the second of {two}") + first
}

fn faulty(kind: u8, n: i64) -> Result<i64, Fault> {
    match kind {
        0 => Ok(n * 2),
        1 => Err(Fault::Empty),
        2 => Err(Fault::Unexpected('\'', Place { line: n as u32, column: None })),
        3 => Err(Fault::Unexpected('"', Place { line: 7, column: Some(n as u8) })),
        4 => Err(Fault::TooLarge { value: n, limit: (-1, 0.5) }),
        5 => Err(Fault::Nested(Ok(n > 3), [n as u8, 2])),
        _ => Err(Fault::Nested(Err(if n > 3 { Kind::High } else { Kind::Low }), [0, 255])),
    }
}

pub fn other_payloads(a: Option<u8>, b: Result<u8, u8>) -> Result<i64, Fault> {
    let x = optional(a, b);
    let y = renamed(b);
    match (x, y) {
        (Some(n), Ok(m)) => Ok((n + m) as i64),
        (None, Ok(_)) => Err(Fault::Empty),
        (_, Err(e)) => Err(Fault::TooLarge { value: e as i64, limit: (0, 0.0) }),
    }
}

fn optional(a: Option<u8>, b: Result<u8, u8>) -> Option<u16> {
    let n = a? as u16;
    if let Ok(m) = b { Some(n * 2 + m as u16) } else { Some(n) }
}

fn renamed(b: Result<u8, u8>) -> Result<u16, u8> {
    let n = b?;
    Ok(n as u16 + 1)
}

pub fn compared(a: Option<i64>, b: Result<u8, Kind>) -> [bool; 5] {
    let none: Option<i64> = None;
    [a == Some(3), a == none, a != None, b == Ok(3), b == Err(Kind::High)]
}

/// What a variant says of the types that nothing else tells.
pub fn written_parameters(x: i64) -> (bool, i64) {
    let some = Some::<u8>(x as u8).unwrap_or(9);
    let none = Option::<i32>::None.unwrap_or(7);
    let ok = Ok::<i64, u8>(x).unwrap_or(1);
    let err = Result::<_, u8>::Err(3).unwrap_or(5i16);
    (x > 1 && None::<i64> == None::<i64>, some as i64 + none as i64 + ok + err as i64)
}
