use hueshift::prelude::*;

pub struct Seen {
    asked: i64,
    jitted: i64,
}

fn deeper(x: i64) -> bool {
    x > 0 && we_are_jitted()
}

#[dont_look_inside]
fn ask(seen: &mut Seen, x: i64) -> i64 {
    seen.asked += 1;
    if deeper(x) {
        seen.jitted += 1;
        x * 1000
    } else {
        x
    }
}

#[elidable]
fn ask_again(x: i64) -> i64 {
    if we_are_jitted() { x + 1000 } else { x + 1 }
}

/// What isn't looked into is what rustc makes of it, however it comes to be called.
pub fn asked_outside(seen: &mut Seen, n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        if n % 3 == 0 {
            sum += ask(seen, n);
        } else {
            sum += ask_again(n);
        }
        n -= 1;
    }
    sum + ask_again(7)
}

fn digits(mut x: i64) -> i64 {
    let mut count = 1;
    while x > 9 {
        x /= 10;
        count += 1;
    }
    count
}

#[unroll_safe]
fn digits_here(mut x: i64) -> i64 {
    let mut count = 1;
    while x > 9 {
        x /= 10;
        count += 1;
    }
    count
}

#[dont_look_inside]
fn digits_there(x: i64) -> i64 {
    if x > 9 { 2 } else { 1 }
}

/// Called, copied in, and called as it is.
pub fn counted_three_times(n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        sum += digits(n) * 10000 + digits_here(n) * 100 + digits_there(n);
        n -= 1;
    }
    sum
}

/// In compiled code only.
fn weight(x: i64) -> i64 {
    if we_are_jitted() { x + x } else { x * 2 }
}

/// Where x is known, by a table; and where it isn't.
fn squared(x: i64) -> i64 {
    const SQUARES: [i64; 4] = [0, 1, 4, 9];
    if is_constant(x) && x >= 0 && x < 4 { SQUARES[x as usize] } else { x * x }
}

pub fn asked_in_a_loop(n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        sum += weight(n) + squared(3);
        n -= 1;
    }
    sum + squared(n + sum)
}

/// Most of the time x is even.
pub fn likely_even(x: i64) -> i64 {
    let mut x = x;
    let mut odd = 0;
    while x > 0 {
        merge_point!();
        if likely(x & 1 == 0) {
            x >>= 1;
        } else {
            odd += x;
            x -= 1;
        }
        if likely(odd >= 0) && x == 77 {
            odd += 1;
        }
    }
    odd
}
