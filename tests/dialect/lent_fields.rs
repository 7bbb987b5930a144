//! Fields that patterns bind through references, and that are lent on: what is written there is in the field.

use hueshift::prelude::*;

#[derive(Clone, Copy, Debug)]
pub struct One {
    b: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct Two {
    a: f32,
    b: u8,
}

pub struct Held {
    cell: Cell<i64>,
    other: i64,
}

fn add(to: &mut i64) {
    *to = *to + 1;
}

fn both(a: &mut f32, b: &mut u8) {
    *a = *a * 2.0;
    *b = *b + 3;
}

fn by_match(one: &mut One) {
    match one {
        One { b: y } => add(y),
    }
}

fn by_let(one: &mut One) {
    let One { b: y } = one;
    add(y);
}

fn of_tuple(pair: &mut (i64, i64)) {
    match pair {
        (x, y) => {
            add(x);
            add(y);
            add(y);
        }
    }
}

pub fn matched(n: i64) -> i64 {
    let mut arr = [One { b: 2 }, One { b: 4 }];
    by_match(&mut arr[(n & 1) as usize]);
    arr[0].b * 100 + arr[1].b
}

pub fn bound_by_let(n: i64) -> i64 {
    let mut arr = [One { b: 2 }, One { b: 4 }];
    by_let(&mut arr[(n & 1) as usize]);
    arr[0].b * 100 + arr[1].b
}

pub fn matched_at_once(n: i64) -> i64 {
    let mut arr = [One { b: 2 }, One { b: 4 }];
    match &mut arr[(n & 1) as usize] {
        One { b: y } => add(y),
    }
    arr[0].b * 100 + arr[1].b
}

pub fn tuples(n: i64) -> i64 {
    let mut arr = [(1, 2), (3, 4)];
    of_tuple(&mut arr[(n & 1) as usize]);
    arr[0].0 * 1000 + arr[0].1 * 100 + arr[1].0 * 10 + arr[1].1
}

fn in_slice(arr: &mut [One], at: usize) {
    match &mut arr[at] {
        One { b: y } => add(y),
    }
}

pub fn in_a_slice(all: &mut [i64], n: i64) -> i64 {
    let mut arr = [One { b: all[0] }, One { b: 4 }];
    let before = arr[0].b + arr[1].b;
    in_slice(&mut arr, (n & 1) as usize);
    all[0] = arr[0].b;
    before * 1000 + arr[0].b * 100 + arr[1].b
}

pub fn of_two_types(n: i64) -> f64 {
    let mut arr = [Two { a: 0.5, b: 1 }, Two { a: 1.5, b: 2 }];
    let first = arr[0].a as f64 + arr[1].b as f64;
    match &mut arr[(n & 1) as usize] {
        Two { a, b } => both(a, b),
    }
    first * 1000.0 + arr[0].a as f64 * 100.0 + arr[1].a as f64 * 10.0 + arr[0].b as f64 + arr[1].b as f64
}

fn write(cell: &Cell<i64>) {
    cell.set(cell.get() + 1);
}

pub fn cells(n: i64) -> i64 {
    let held = [Held { cell: Cell::new(1), other: 5 }, Held { cell: Cell::new(2), other: 6 }];
    let before = held[0].cell.get() + held[1].cell.get();
    match &held[(n & 1) as usize] {
        Held { cell, other } => {
            write(cell);
            if *other > 5 {
                write(cell);
            }
        }
    }
    before * 100 + held[0].cell.get() * 10 + held[1].cell.get()
}

#[portal(greens(code, pc), reds(arr, n))]
fn run(code: &[u8], mut pc: usize, mut arr: [One; 2], mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return arr[0].b * 100 + arr[1].b;
        }
        let op = code[pc];
        pc += 1;
        match op {
            b'm' => by_match(&mut arr[(n & 1) as usize]),
            b'l' => by_let(&mut arr[(n & 1) as usize]),
            b'b' => arr[0].b = arr[0].b * 3 + arr[1].b,
            _ => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
        }
    }
}

pub fn in_a_portal(code: &[u8], n: i64) -> i64 {
    run(code, 0, [One { b: 2 }, One { b: 4 }], n)
}
