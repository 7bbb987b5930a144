use hueshift::prelude::*;

pub struct Counter {
    pub n: Cell<i64>,
    pub m: Cell<i64>,
    pub small: Cell<u8>,
}

/// What was stored in a cell needs no load.
pub fn stored_then_read(c: &Counter, v: i64) -> i64 {
    c.n.set(v);
    c.m.set(1);
    c.n.get() * 10 + c.n.get() + c.m.get()
}

/// Two references may be to the same counter.
pub fn perhaps_the_same(c: &Counter, d: &Counter, v: i64) -> i64 {
    c.n.set(v);
    d.n.set(v + 1);
    c.n.get() * 10 + d.n.get()
}

#[dont_look_inside]
fn touch(c: &Counter) -> i64 {
    c.n.set(c.n.get() + 100);
    c.m.get()
}

/// A call may change a cell, even of what it isn't handed.
pub fn across_a_call(c: &Counter, v: i64) -> i64 {
    c.n.set(v);
    let k = touch(c);
    c.n.get() + k
}

/// A narrow cell holds what fits.
pub fn narrow_cell(c: &Counter, v: i64) -> i64 {
    c.small.set(v as u8);
    c.small.get() as i64 + c.small.get() as i64
}

/// Read once where nothing comes between.
pub fn read_twice(c: &Counter, n: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        s += c.n.get() - c.n.get() / 2;
        c.n.set(s);
        i += 1;
    }
    s
}
