//! What functions that are called may change.

use hueshift::prelude::*;

pub struct Counter {
    pub n: Cell<i64>,
}

pub struct Holder<'a> {
    pub counter: &'a Counter,
}

fn sum(n: i64, k: i64) -> i64 {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        sum += k;
        i += 1;
    }
    sum
}

fn count(n: i64, c: &Counter) -> i64 {
    let mut i = 0;
    while i < n {
        c.n.set(c.n.get() + 2);
        i += 1;
    }
    i
}

fn count_held(n: i64, h: &Holder) -> i64 {
    count(n, h.counter)
}

fn fill(n: usize, all: &mut [i64]) -> i64 {
    let mut i = 0;
    while i < n {
        all[i] = 5;
        i += 1;
    }
    7
}

#[dont_look_inside]
fn three_times(a: i64) -> i64 {
    a * 3
}

/// It is handed numbers: the cell is as it was.
pub fn around_a_cell(a: i64, c: &Counter) -> i64 {
    c.n.set(7);
    let k = sum(a, 3);
    k + c.n.get()
}

pub fn around_a_cell_unseen(a: i64, c: &Counter) -> i64 {
    c.n.set(7);
    let k = three_times(a);
    k + c.n.get()
}

/// It is handed the cell.
pub fn of_the_cell(a: i64, c: &Counter) -> i64 {
    c.n.set(7);
    let k = count(a, c);
    k + c.n.get()
}

/// Or what leads there.
pub fn of_its_holder(a: i64, c: &Counter) -> i64 {
    c.n.set(7);
    let h = Holder { counter: c };
    let k = count_held(a, &h);
    k + c.n.get()
}

pub fn of_a_slice(c: &Counter, all: &mut [i64]) -> i64 {
    all[1] = 3;
    c.n.set(7);
    let k = fill(2, all);
    k + c.n.get() + all[1]
}
