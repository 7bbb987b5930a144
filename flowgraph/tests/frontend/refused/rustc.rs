#!/usr/bin/env rustc
use hueshift::prelude::*;

pub struct Twice { pub a: i64, pub a: u8 } //~ duplicate
pub enum Shape { Both { x: u8, y: u8, x: i64 }, Empty } //~ duplicate
const ABOVE: i64 = i64::MAX + 1; //~ constant
const BELOW: u8 = 3 - 4; //~ constant
const LARGE: i32 = 65536 * 65536; //~ constant
const SHIFTED: u16 = 1 << 16; //~ constant
const NEGATED: i8 = -i8::MIN; //~ constant
const FINE: (i8, u64, u8) = (-128, u64::MAX - 1, 200u8.wrapping_add(100));

mod inner {
    fn hidden() -> i64 { 1 }
    pub fn shown() -> i64 { hidden() }
    pub struct Point { pub x: i64 }
    impl Point {
        fn secret(&self) -> i64 { self.x }
        pub fn public(&self) -> i64 { self.secret() }
    }
    pub mod below {
        pub fn outward(p: &super::Point) -> i64 { super::hidden() + p.secret() }
        pub fn without_prelude(x: i64) -> i64 { concrete(x) } //~ no_prelude
    }
}

pub fn private(p: &inner::Point) -> i64 {
    let a = inner::hidden(); //~ private
    let b = p.secret(); //~ private
    a + b + p.public() + inner::shown() + inner::below::outward(p)
}

pub fn parameters(x: i64, x: i64) -> i64 { x } //~ duplicate
pub fn in_patterns((x, y): (i64, i64), y: u8) -> i64 { x } //~ duplicate
pub fn no_method(self) -> i64 { 1 } //~ item

pub fn ranges(x: u8, c: char, y: Option<i64>) -> u8 {
    let a = match x { 9..=3 => 1, 4..4 => 2, 5..=5 => 3, _ => 4 }; //~ pattern
    let b = if let 'z'..='a' = c { 1 } else { 0 }; //~ pattern
    a + b + match y { Some(0..-1) => 1, _ => 0 } //~ pattern
}

pub fn numbers(x: f64, y: f32) -> u8 {
    let a = match x { 0.0 => 1, f64::NAN => 3, _ => 2 }; //~ pattern
    a + if let f32::NAN = y { 1 } else { 0 } //~ pattern
}

pub fn other_errors(x: Result<u8, u8>) -> Result<u8, u16> { Ok(x?) } //~ question
pub fn no_errors(x: Option<u8>) -> u8 { x? } //~ question
pub fn of_another(x: Option<u8>) -> Result<u8, u8> { Ok(x?) } //~ question

pub fn texts(x: i64, s: &[u8], t: &str) -> bool {
    let a = "a".to_string(); //~ growing_text
    let b = x.to_string(); //~ growing_text
    let c = t.to_uppercase(); //~ growing_text
    s == b"a" //~ no_operator
    || b"ab" != s //~ no_operator
    || t == "a" //~ no_operator
}

pub fn long(i: usize) -> i64 { let a = [0i64; 100000000000]; a[i] } //~ long_array

#[elidable]
pub fn prints(x: i64) -> i64 { put_byte(x as u8); x } //~ elidable
fn reads() -> i64 { get_byte() }
#[elidable]
fn hands_on(x: i64) -> i64 { if x == 0 { reads() } else { hands_on(x - 1) } } //~ elidable
#[elidable]
fn computes(x: i64) -> i64 { x + 1 }

pub fn never(x: i64) -> i64 { let y: !; x } //~ type
pub fn fails(x: i64) -> ! { panic!("{}", x) }

pub fn bound_twice(pair: (u8, u8), other: Option<(u8, u8)>) -> u8 {
    let (a, a) = pair; //~ duplicate
    let ((b, _) | (_, b)) = pair;
    let sum = match (pair.0, other) {
        (c, Some((1, c))) => c, //~ duplicate
        (d, Some((1, _))) | (1, Some((d, _))) => d,
        (e, Some((1, f) | (f, e))) => e + f, //~ duplicate //~ pattern
        (g @ 0..=9, Some((g, _))) => g, //~ duplicate
        _ => 0,
    };
    a + b + sum
}
pub fn of_a_parameter((x, x): (u8, u8)) -> u8 { x } //~ duplicate
