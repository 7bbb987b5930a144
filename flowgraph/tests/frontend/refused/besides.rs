use hueshift::prelude::*;

pub struct S { pub x: i64, pub y: i64 }
#[derive(Clone, Copy)]
pub struct NotCompared { pub x: i64 }
pub enum E { A(i64), B }
pub struct Keyed { #[green] pub x: f64, #[green] pub list: [u8; 2], #[green] pub e: E } //~ green_field //~ green_field //~ green_field
pub struct Worded { #[green(x)] pub x: i64, #[green = 1] pub y: u8 } //~ attribute //~ attribute
pub enum Keys { A(#[green] i64) } //~ attribute
pub enum Marked { #[green] A, B } //~ attribute
pub fn marked(#[green] x: i64) -> i64 { x } //~ attribute
#[cfg(any())] //~ conditional
pub type Left = u8;
pub enum Sometimes { A, #[cfg(any())] B } //~ conditional
pub fn conditional(x: i64) -> i64 {
    let mut x = x;
    #[cfg(any())] //~ conditional
    { x += 1; }
    #[cfg(test)] //~ conditional
    x += 10;
    match x { #[cfg(any())] 3 => 100, _ => x } //~ conditional
}
#[cfg(test)]
impl E { pub fn only_in_tests(self) -> i64 { 1 } }
pub fn let_marked(x: i64) -> i64 { #[green] let y = x; y } //~ attribute
pub struct Doubled { pub z: i64 }
pub struct Doubled { pub z: u8 } //~ duplicate
union Either { a: u64, b: f64 } //~ item
extern "C" { fn outside(x: i64) -> i64; } //~ item
extern crate std as other; //~ item
pub struct Raw(pub *const u8); //~ type
pub struct Called { pub f: fn(i64) -> i64 } //~ type
pub struct Owner { pub text: String, pub list: Vec<u8>, pub one: Box<i64> } //~ type
pub struct Sized<const N: usize> { pub x: [u8; N] } //~ generic //~ unknown_name
impl Drop for E { fn drop(&mut self) {} } //~ trait
use std::collections::HashMap;
pub fn bounded<T>(x: T) -> T where T: Copy { x } //~ generic
pub fn const_generic<const N: usize>(x: [u8; N]) -> usize { N } //~ generic //~ unknown_name
pub fn pointer(p: *const i64) -> i64 { 0 } //~ type
pub fn wide(x: u128, y: i128) -> i64 { 0 } //~ type
pub fn plain(x: i64) -> i64 { x }
pub fn variadic(text: &mut str) -> usize { text.len() } //~ type

pub fn nested_items(x: i64) -> i64 {
    fn inside(x: i64) -> i64 { x } //~ item
    struct Local { x: i64 } //~ item
    x
}

pub fn values_of_functions(x: i64) -> i64 {
    let f = plain; //~ expression
    let g: fn(i64) -> i64 = plain; //~ type //~ expression
    let h = E::A; //~ expression
    f(x)
}

pub fn heap(x: i64) -> i64 {
    let a = String::new(); //~ type
    let b = Box::new(x); //~ type
    let c = Vec::new(); //~ type
    let d = format!("{}", x); //~ macro
    let e = "text".to_owned(); //~ growing_text
    let g = HashMap::new(); //~ type
    x
}

pub fn iterators(a: &[i64], text: &str, n: usize) -> i64 {
    for c in text.chars() {} //~ iterator
    for b in text.bytes() {} //~ iterator
    for w in a.windows(2) {} //~ iterator
    for (i, x) in (0..n).zip(a) {} //~ iterator
    for i in (0..n).map(|i| i) {} //~ iterator
    for i in 0..=n as u8 as f64 {} //~ type_mismatch
    while let Some(x) = a.first() {} //~ no_method
    let sum: i64 = a.iter().sum(); //~ iterator
    let m = (0..n).max(); //~ expression
    a.contains(&3); //~ no_method
    a.last(); //~ no_method
    a.to_vec(); //~ no_method
    a.swap(0, 1); //~ no_method
    n as i64
}

pub fn patterns(a: &[i64], o: Option<i64>, n: i64) -> i64 {
    let ref r = n; //~ pattern
    if let Some(ref v) = o {} //~ pattern
    match a { [] => 1, [x] => *x, [x, .., y] => *x + *y }; //~ pattern
    match "text" { "a" => 1, _ => 2 }; //~ pattern
    n
}

pub fn options(o: Option<i64>, r: Result<i64, u8>) -> Option<i64> {
    o.map(|x| x + 1); //~ no_method //~ closure
    o.and_then(checked); //~ no_method //~ expression
    o.unwrap_or_else(|| 3); //~ no_method //~ closure
    o.unwrap_or_default(); //~ no_method
    r.ok(); //~ no_method
    r.map_err(|e| e); //~ no_method //~ closure
    o.ok_or(3); //~ no_method
    o.is_some_and(|x| x > 1); //~ no_method //~ closure
    r?; //~ question
    o
}

fn checked(x: i64) -> Option<i64> { Some(x) }

pub fn expressions(x: i64, f: f64, s: S, a: [i64; 3]) -> i64 {
    let p = &raw const x; //~ expression
    let y = x as *const i64; //~ type
    let z = (x, f) < (1, 2.0); //~ no_operator
    let c = NotCompared { x } == NotCompared { x }; //~ no_operator
    let r = 0..10; //~ expression
    let u = S { x: 1, ..s }; //~ struct_update
    let b = x.pow(f); //~ type_mismatch
    let w = async { 1 }; //~ async
    let l = x.max(1, 2); //~ wrong_count
    let n = <i64 as Default>::default(); //~ trait
    let q = i64::from_str_radix("7", 10); //~ no_method
    let v = char::from_u32(7); //~ no_method
    let k = core::mem::size_of::<i64>(); //~ generic
    let o: _ = Default::default(); //~ unknown_name
    std::process::exit(1); //~ unknown_name
    matches!(x, 1 | 2); //~ macro
    println!("{}", x); //~ macro
    write!(x, "a"); //~ macro
    include!("x.rs"); //~ macro
    asm!("nop"); //~ macro
    x
}

pub fn references(x: i64, s: &mut S) -> &i64 {
    let r = &x; //~ local_reference
    let mut t = [1, 2];
    let p = &mut t; //~ local_reference
    let q = &mut s.x;
    *q = 1;
    r
}

pub fn unknown_types() -> i64 {
    let n = None; //~ unknown_type
    let mut e = []; //~ unknown_type
    0
}

pub fn portal_hints(x: i64, s: S, g: f64) -> i64 {
    merge_point!(x); //~ wrong_count
    promote(g); //~ not_promotable
    promote(s); //~ not_promotable
    promote_tag(g); //~ not_promotable
    promote(x, x); //~ wrong_count
    we_are_jitted(x); //~ wrong_count
    0
}

#[inline]
#[cfg(feature = "x")] //~ conditional
#[must_use]
pub fn fine(a: i64) -> i64 { a }

fn written_with_variants(x: u8) -> Option<u8> {
    let none: Option<i64> = None::<u8>; //~ type_mismatch
    let ok: Result<i64, u8> = Ok::<i32, u8>(3); //~ type_mismatch
    Some::<u8>(x)
}
