//! Looked into on a condition, as in the literature: where what decides how long the loop is is known.

use hueshift::prelude::*;

/// Pops n values and adds them up.
#[look_inside_if(is_constant(n))]
fn pop_many(stack: &mut [i64], sp: usize, n: usize) -> i64 {
    let mut left = n;
    let mut sum = 0;
    while left > 0 {
        sum += stack[sp - n + left - 1];
        stack[sp - n + left - 1] = 0;
        left -= 1;
    }
    sum
}

/// The number of values to pop stands in the program: 0 pushes x, another number pops so many and pushes their sum.
#[portal(greens(code, pc), reds(sp, x, stack))]
pub fn machine(code: &[u8], mut pc: usize, mut sp: usize, mut x: i64, stack: &mut [i64]) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return stack[0];
        }
        let count = concrete(code[pc]) as usize;
        pc += 1;
        let sum = if count == 0 { x } else { pop_many(stack, sp, count) };
        sp = sp - count + 1;
        stack[sp - 1] = sum;
        if pc == code.len() && x > 0 {
            x -= 1;
            pc = 0;
            can_enter_jit!();
        }
    }
}

/// How many to pop is known only when running.
pub fn popped_by_number(stack: &mut [i64; 6], n: usize) -> i64 {
    pop_many(stack, 6, n % 7)
}

/// Whether x is among the items.
#[look_inside_if(is_constant(items.len()) && items.len() <= 4)]
fn contains(items: &[i64], x: i64) -> bool {
    let mut i = items.len();
    while i > 0 {
        i -= 1;
        if items[i] == x {
            return true;
        }
    }
    false
}

/// Short, and known.
pub fn in_short(items: &[i64], x: i64) -> bool {
    contains(items, x)
}

const SHORT: [i64; 3] = [3, 5, 8];
const LONG: [i64; 6] = [1, 2, 3, 5, 8, 13];

/// How many numbers from 0 to n are in the short table, and in the long one.
pub fn in_tables(n: i64) -> (i64, i64) {
    let mut found = (0, 0);
    let mut x = 0;
    while x < n {
        merge_point!();
        if contains(&SHORT, x) {
            found.0 += 1;
        }
        if contains(&LONG, x) {
            found.1 += 1;
        }
        x += 1;
    }
    found
}

/// A counter behind a reference: a method, whose other argument decides.
pub struct Counter {
    pub total: i64,
}

impl Counter {
    #[look_inside_if(by == 2 || is_constant(times) && times < 10)]
    fn add(&mut self, by: i64, times: i64) {
        let mut left = times;
        while left > 0 {
            self.total += by;
            left -= 1;
        }
    }
}

/// Looked into for either reason; the third time for none.
pub fn counted(counter: &mut Counter, by: i64, times: i64) -> i64 {
    counter.add(2, times);
    counter.add(by, 3);
    counter.add(by, times);
    counter.total
}

/// The condition asks for what is known of a field; and in itself it calls itself.
#[look_inside_if(is_constant(n) && n > 0)]
fn deep(counter: &mut Counter, n: i64) -> i64 {
    if n <= 0 {
        return counter.total;
    }
    counter.total += n;
    deep(counter, n - 1) + 1
}

pub fn deeper(counter: &mut Counter, n: i64) -> i64 {
    deep(counter, 3) + deep(counter, n)
}

/// A trap inside, which either way is the same.
pub fn popped_too_many(stack: &mut [i64; 3], n: usize) -> i64 {
    pop_many(stack, 2, 2) + pop_many(stack, n, n)
}
