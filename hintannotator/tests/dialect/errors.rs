use hueshift::prelude::*;

pub struct Machine {
    pub acc: i64,
    pub steps: Cell<i64>,
}

#[dont_look_inside]
fn outside(x: i64) -> i64 {
    x
}

fn inner(x: i64, y: i64) -> i64 {
    let sum = x + y;
    concrete(sum)
}

pub fn many(x: i64, m: &mut Machine, s: &Machine, bytes: &mut [u8]) -> i64 {
    let half = x / 2;
    let a = inner(half, 1);
    let b = concrete(m.acc);
    let c = concrete(s.steps.get());
    let d = concrete(s.acc);
    let e = concrete(bytes[0]) as i64;
    let f = outside(d);
    let g = concrete(f + 1);
    a + b + c + d + e + g
}
