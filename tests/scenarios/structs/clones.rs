use hueshift::prelude::*;

#[derive(Clone, Copy)]
pub struct P { pub a: i64, pub b: i64 }
impl P { fn inc(&mut self) -> i64 { self.a += 1; self.a } }
#[derive(Clone)]
pub struct C { pub a: Cell<i64> }
impl C { fn set(&self, x: i64) -> i64 { self.a.set(x); self.a.get() } }
fn inc(a: &mut [i64]) -> i64 { a[0] += 1; a[0] }
fn inc_one(a: &mut i64) -> i64 { *a += 1; *a }
fn inc_p(p: &mut P) -> i64 { p.a += 1; p.a }

pub fn method(x: i64) -> i64 { let p = P { a: x, b: 2 }; let r = p.clone().inc(); p.a * 10 + r }
pub fn array(x: i64) -> i64 { let a = [x, 2, 3]; let b = inc(&mut a.clone()); a[0] * 10 + b }
pub fn element(x: i64) -> i64 { let a = [P { a: x, b: 1 }; 2]; let b = a[0].clone().inc(); a[0].a * 10 + b }
pub fn scalar(x: i64) -> i64 { let b = inc_one(&mut x.clone()); x * 10 + b }
pub fn whole(x: i64) -> i64 { let p = P { a: x, b: 1 }; let b = inc_p(&mut p.clone()); p.a * 10 + b + p.b }
pub fn behind(p: &mut P) -> i64 { let b = p.clone().inc(); p.a * 10 + b }
pub fn cell(c: &C) -> i64 { let b = c.clone().set(9); c.clone().a.set(7); c.a.get() * 10 + b }
pub fn of_an_option(x: i64) -> i64 { let o = Some(x); let p = o.clone(); p.unwrap() + o.clone().unwrap_or(0) }
pub fn of_a_result(x: i64) -> i64 { let o: Result<i64, u8> = if x > 0 { Ok(x) } else { Err(3) }; match o.clone() { Ok(y) => y, Err(e) => e as i64 } }
pub fn counted(x: i64) -> i64 { let mut i = 0; let t = [x, 2, 3]; while i.clone() < t.len() { i += 1; } i as i64 }
pub fn just_semicolons(x: i64) -> i64 { let y = x; ; { ; } return y; ; }
