use hueshift::prelude::*;

pub struct S { pub x: i64, pub r: [i64; 4] }
pub struct Gone<T> { pub x: T } //~ generic //~ unknown_name
pub trait Shape { fn area(&self) -> f64; } //~ trait
impl Clone for S { fn clone(&self) -> S { S { x: 0, r: [0; 4] } } } //~ trait
pub enum Payload { A(i64), B }
pub enum Endless { A(i64), B(Endless) } //~ recursive
static mut COUNT: i64 = 0; //~ item
macro_rules! twice { ($e:expr) => { $e + $e } } //~ macro
pub struct Loop { pub next: Loop } //~ recursive
pub struct Wide(pub u128); //~ type
const CIRCLE: i64 = ELLIPSE + 1; //~ recursive
const ELLIPSE: i64 = CIRCLE;
const CALLED: i64 = plain(3); //~ constant
const LEAST: f64 = 0.0f64.min(-0.0); //~ constant
const MOST: f32 = f32::max(0.0, -0.0); //~ constant
const OUT: i64 = [1, 2, 3][7]; //~ constant
const CUBED: u8 = 200u8.pow(3); //~ constant
const SQUARED: i64 = 4_000_000_000i64.pow(2); //~ constant
const WRAPPED: u8 = 200u8.wrapping_pow(3);
const POSITIVE: i8 = (-128i8).abs(); //~ constant
type Forever = Forever; //~ recursive

fn plain(x: i64) -> i64 { x }

pub async fn later() {} //~ async
pub unsafe fn risky() {} //~ unsafe
#[test_case] //~ attribute
pub fn attributed() {}
#[inverse_of(plain)] //~ recorded
pub fn inverse(x: i64) -> i64 { x }
pub fn takes_dyn(x: &dyn Fn(i64)) {} //~ dyn
pub fn takes_impl(x: impl Copy) {} //~ trait
pub fn takes_vec(v: Vec<i64>) {} //~ type
pub fn takes_list(v: List<i64>) {} //~ not_yet
pub fn takes_unknown(v: Nothing) {} //~ unknown_name
pub fn too_large(v: [u8; 65]) {} //~ large_value

pub fn closures(x: i64) -> i64 {
    let f = |y: i64| x + y; //~ closure
    let g = move || 3; //~ closure
    f(1) + g()
}

pub fn iterators(a: &[i64]) -> i64 {
    for x in a.iter() {} //~ iterator
    for (i, x) in a.iter().enumerate() {} //~ iterator
    for i in 0.. {} //~ iterator
    for c in 'a'..'z' {} //~ iterator
    for i in 0..a.len() { let _ = a[i]; }
    a.iter().sum() //~ iterator
}

pub fn references(x: i64) -> i64 {
    let mut a = x;
    let r = &mut a; //~ local_reference
    let mut t = [1, 2, 3];
    let s = &t[1..]; //~ local_reference
    a
}

pub fn updates(s: &S) -> i64 {
    let t = S { x: 1, ..*s }; //~ struct_update
    s.x = 3; //~ shared_write
    s.r[0] = 1; //~ shared_write
    let k = 4;
    k += 1; //~ not_assignable
    5 = k; //~ not_assignable
    0
}

pub fn patterns_on_the_left(x: i64) -> i64 {
    let mut a = [x, 2];
    let (mut b, mut c) = (1, 2);
    [a[0], a[1]] = [5, 6]; //~ expression
    S { x: b, .. } = S { x: 1, r: [2; 4] }; //~ expression
    (b, ..) = (9, 8, 7); //~ expression
    ([b, c], a[0]) = ([3, 4], 5); //~ expression
    a[0] + b + c
}

pub fn unknown(x: i64) -> i64 {
    nowhere(x); //~ unknown_name
    let y = missing; //~ unknown_name
    x.frobnicate(); //~ no_method
    x.field; //~ no_field
    Missing { x: 1 }; //~ unknown_name
    println!("{}", x); //~ macro
    vec![1, 2]; //~ macro
    std::mem::swap(&mut 1, &mut 2); //~ unknown_name
    x
}

pub fn types(x: i64, f: f64, b: bool) -> i64 {
    let a = x + f; //~ type_mismatch
    let c = b + b; //~ no_operator
    let promoted = promote(1.5); //~ not_promotable
    let g: u8 = x; //~ type_mismatch
    if x { 1 } else { 2 }; //~ type_mismatch
    let h = f as bool; //~ cast
    let i = b as f64; //~ cast
    let j = 3 as char;
    plain(1, 2); //~ wrong_count
    plain(b); //~ type_mismatch
    let k = -3u8; //~ no_operator
    let l = f & f; //~ no_operator
    x
}

pub fn patterns(x: i64, t: (i64, i64)) -> i64 {
    let Some(v) = x.checked_add(1); //~ not_exhaustive
    let (3, y) = t; //~ not_exhaustive
    match x { ref y => 3 }; //~ pattern
    break; //~ no_loop
    let z = 'a: { break 'b 3; }; //~ no_loop
    while x > 0 { break 4; } //~ no_loop
    v
}

pub fn formats(x: i64, t: (i64, i64)) -> i64 {
    assert!(x > 0, "{:x}", x); //~ format
    assert!(x > 0, "{} {}", x); //~ format
    assert!(x > 0, "{}", t); //~ format
    panic!("{missing}") //~ unknown_name
}

pub fn later_issues(x: i64) -> i64 {
    let l = List::new(); //~ not_yet
    let g = Gc::new(3); //~ not_yet
    let p = Payload::A(x);
    record_exact_class!(x, Payload); //~ not_yet
    promote_tag(x); //~ not_promotable
    promote(p); //~ not_promotable
    let q = Payload::A(1, 2); //~ wrong_count
    let r = Payload::C(1); //~ unknown_name
    let s = Payload::A; //~ expression
    let n = p as i64; //~ cast
    let Payload::A(x) = p; //~ not_exhaustive
    match Payload::B { Payload::A { y: 1, .. } => 1, _ => 2 }; //~ no_field
    x
}
