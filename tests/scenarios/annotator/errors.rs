use hueshift::prelude::*;

#[dont_look_inside]
fn outside(x: i64) -> i64 {
    x + 1
}

pub fn of_a_residual_call(x: i64) -> i64 {
    let r = outside(x);
    concrete(r)
}

pub struct P { pub a: i64, pub b: i64 }

pub fn of_a_mutable_field(p: &mut P, x: i64) -> i64 {
    let f = p.a;
    concrete(f) + x
}

/// Made red on purpose, then asked for.
pub fn after_variable(x: i64) -> i64 {
    let v = variable(x);
    concrete(v)
}

/// The counter is green, its end is red: the sum depends on how often.
pub fn element_at_red_place(a: &[i64], i: usize) -> i64 {
    concrete(a[i])
}

fn demanding(k: i64) -> i64 {
    concrete(k) * 2
}

/// The message is about the callee's hint and this function's parameter.
pub fn through_a_callee(n: i64) -> i64 {
    demanding(n + 1)
}

pub fn of_a_red_tuple_field(a: i64, b: i64) -> i64 {
    let t = (a, b);
    concrete(t.1)
}
