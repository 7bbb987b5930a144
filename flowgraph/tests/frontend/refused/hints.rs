use hueshift::prelude::*;
use inner::missing; //~ unknown_name
use inner::{here, gone as other}; //~ unknown_name
use self::nothing; //~ unknown_name
use Color::Blue; //~ unknown_name
use Color::Red;
use std::cell::Cell;
use elsewhere::unknown;

mod inner {
    use super::sum;
    use super::nobody; //~ unknown_name
    use crate::no_one; //~ unknown_name
    pub fn here(x: i64) -> i64 { sum(x) }
}

pub enum Color { Red, Green }

fn sum(x: i64) -> i64 { x }

#[unroll_safe(3)] //~ hints
fn counted(x: i64) -> i64 { x }
#[elidable()] //~ hints
fn pure(x: i64) -> i64 { x }
#[dont_look_inside = "yes"] //~ hints
fn outside(x: i64) -> i64 { x }
#[unroll_safe]
#[unroll_safe] //~ hints
fn twice(x: i64) -> i64 { x }
#[portal(greens(x), reds())]
#[elidable] //~ hints
fn portal(x: i64) -> i64 { merge_point!(); x }
#[look_inside_if(is_constant(x))] //~ hints
#[portal(greens(x), reds())]
fn conditional_portal(x: i64) -> i64 { merge_point!(); x }
#[look_inside_if(is_constant(x))]
#[dont_look_inside] //~ hints
fn both(x: i64) -> i64 { x }
#[elidable] //~ hints
#[look_inside_if(is_constant(x))]
fn folded(x: i64) -> i64 { x }
#[unroll_safe]
#[dont_look_inside] //~ hints
fn neither(x: i64) -> i64 { x }
#[elidable]
#[dont_look_inside]
fn computes(x: i64) -> i64 { x }

#[elidable]
fn halved(x: u8) -> i64 { x as i64 / 2 }
#[elidable]
fn paired(x: i64) -> (i64, i64) { (x, x) }
#[elidable]
#[idempotent(2)] //~ recorded
fn worded(x: i64) -> i64 { x }
#[elidable]
#[idempotent]
#[idempotent] //~ hints
fn again(x: i64) -> i64 { x }
#[elidable]
#[idempotent] //~ recorded
fn widened(x: u8) -> i64 { x as i64 }
#[idempotent] //~ recorded
fn impure(x: i64) -> i64 { x }
#[elidable]
#[idempotent] //~ recorded
fn summed(x: i64, y: i64) -> i64 { x + y }
#[elidable]
#[inverse_of] //~ recorded
fn nameless(x: i64) -> i64 { x }
#[elidable]
#[inverse_of(halved, widened)] //~ recorded
fn inverse_of_two(x: i64) -> i64 { x }
#[elidable]
#[inverse_of(Color)] //~ recorded
fn inverse_of_a_type(x: i64) -> i64 { x }
#[elidable]
#[inverse_of(sum)] //~ recorded
fn inverse_of_impure(x: i64) -> i64 { x }
#[elidable]
#[inverse_of(halved)] //~ recorded
fn inverse_of_another_type(x: i64) -> i64 { x }
fn recorded(x: i64, c: bool) {
    record_known_result!(x); //~ recorded
    record_known_result!(x, 3, x); //~ recorded
    record_known_result!(x, missing_function, x); //~ recorded
    record_known_result!(x, sum, x); //~ recorded
    record_known_result!((x, x), paired, x); //~ recorded
    record_known_result!(c, computes, x); //~ type_mismatch
    record_known_result!(x, computes, c); //~ type_mismatch
    record_known_result!(x, computes); //~ wrong_count
    record_known_result!(x y); //~ syntax
    record_exact_value!(x); //~ recorded
    record_exact_value!(x, c); //~ type_mismatch
    record_exact_value!((x, x), (3, 3)); //~ recorded
}

#[look_inside_if] //~ condition
fn without(x: i64) -> i64 { x }
#[look_inside_if()] //~ condition
fn empty(x: i64) -> i64 { x }
#[look_inside_if(x > 0, x < 3)] //~ condition
fn two(x: i64) -> i64 { x }
#[look_inside_if(y > 0)] //~ unknown_name
fn unknown(x: i64) -> i64 { x }
#[look_inside_if(x)] //~ type_mismatch
fn number(x: i64) -> i64 { x }
#[look_inside_if(sum(x) > 0)] //~ condition
fn calling(x: i64) -> i64 { x }
#[look_inside_if(a[0] > 0)] //~ condition
fn trapping(a: &[i64]) -> i64 { a[0] }
#[look_inside_if(10 / x > 0)] //~ condition
fn dividing(x: i64) -> i64 { x }
#[look_inside_if(panic!("no"))] //~ condition
fn never(x: i64) -> i64 { x }
#[look_inside_if({ a[0] = 3; true })] //~ condition
fn writing(a: &mut [i64; 4]) -> i64 { a[0] }
#[look_inside_if({ c.x.set(3); true })] //~ condition
fn setting(c: &Held) -> i64 { c.x.get() }
#[look_inside_if(promote(x) > 3)] //~ condition
fn promoting(x: i64) -> i64 { x }
#[look_inside_if({ let mut i = x; while i > 3 { i -= 1; } i == 3 })] //~ condition
fn looping(x: i64) -> i64 { x }
#[look_inside_if(|n: i64| n > 0)] //~ closure
fn closing(x: i64) -> i64 { x }

pub struct Held { pub x: Cell<i64>, pub n: usize }

impl Held {
    #[look_inside_if(self.len() > 3)] //~ condition
    fn shown(&self) -> i64 { self.x.get() }
    #[look_inside_if(self.n < 4 && is_constant(self.n) || likely(by < 3) && self.x.get() == 0 && we_are_jitted())]
    fn well(&self, by: i64) -> i64 { self.x.get() + by }
    fn len(&self) -> usize { self.n }
}

pub struct Settings { pub step: QuasiCell<i64>, pub n: i64 }
pub struct Odd { pub pair: QuasiCell<(i64, i64)> } //~ quasi_cell
pub struct More { pub settings: [Settings; 2] }

fn made(x: i64) -> i64 { let c = QuasiCell::new(x); 3 } //~ quasi_cell
fn in_a_struct(x: i64) -> i64 { inside(&Settings { step: QuasiCell::new(x), n: 3 }) } //~ quasi_cell
fn by_value(s: Settings) -> i64 { s.n } //~ quasi_cell
fn handed(c: QuasiCell<i64>) -> i64 { 3 } //~ quasi_cell
fn overwritten(a: &mut Settings, b: &mut More) { a.step = b.settings[0].step; } //~ quasi_cell
fn whole(a: &mut More, b: &mut More) { b.settings[1] = a.settings[0]; } //~ quasi_cell
fn inside(s: &Settings) -> i64 { s.step.set(s.n); s.step.get() + one(&s.step) }
fn one(c: &QuasiCell<i64>) -> i64 { c.get() }
fn wrong(s: &Settings) -> i64 { s.step.set(3u8); s.step.get(1) } //~ type_mismatch //~ wrong_count
fn hidden(s: &Settings) -> u32 { s.step.version.get() } //~ no_field
