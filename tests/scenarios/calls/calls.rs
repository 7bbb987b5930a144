use hueshift::prelude::*;

fn two_ways(x: i64) -> i64 {
    if x < 0 {
        return -1;
    }
    if x > 100 {
        return -1;
    }
    x
}

/// Two returns with one constant.
pub fn same_constant_twice(x: i64) -> i64 {
    two_ways(x) + 1
}

fn divmod(a: i64, b: i64) -> (i64, i64) {
    (a / b, a % b)
}

pub fn tuple_result(a: i64) -> i64 {
    let (q, r) = divmod(a, 10);
    q * 10 + r
}

fn nothing(_x: i64) {}

pub fn void_call(x: i64) -> i64 {
    nothing(x);
    nothing(x + 1);
    x
}

#[unroll_safe]
fn power(x: i64, n: i64) -> i64 {
    let mut n = n;
    let mut r = 1;
    while n > 0 {
        r *= x;
        n -= 1;
    }
    r
}

/// Unrolled, since its loop is known to end.
pub fn green_power(x: i64, n: i64) -> i64 {
    power(x, concrete(n))
}

fn power2(x: i64, n: i64) -> i64 {
    let mut n = concrete(n);
    let mut r = 1;
    while n > 0 {
        r *= x;
        n -= 1;
    }
    r
}

pub fn cubes_and_squares(x: i64, y: i64) -> i64 {
    power2(x, 3) + power2(y, 2)
}

fn fib(n: i64) -> i64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

pub fn red_recursion(n: i64) -> i64 {
    fib(n)
}

#[elidable]
fn table(i: i64) -> i64 {
    let mut s = 0;
    let mut k = 0;
    while k < i {
        s += k * k;
        k += 1;
    }
    s
}

/// Nobody needs the result.
pub fn unused_elidable(x: i64) -> i64 {
    let _unused = table(x);
    x
}

/// The argument does not change in the loop.
pub fn invariant_elidable(x: i64, n: i64) -> i64 {
    let mut n = n;
    let mut s = 0;
    while n > 0 {
        s += table(x);
        n -= 1;
    }
    s
}

/// Equal on both arms, so needed once.
pub fn elidable_on_both_arms(x: i64, y: i64) -> i64 {
    let first = table(x);
    if y > 0 { first + table(x) } else { table(x) - y }
}

#[elidable]
fn checked_table(i: i64) -> Result<i64, i64> {
    if i < 10 { Ok(i * 7) } else { Err(i) }
}

pub fn elidable_result(x: i64) -> i64 {
    match checked_table(x) {
        Ok(v) => v,
        Err(e) => -e,
    }
}

#[dont_look_inside]
fn slow(x: i64) -> i64 {
    x * x
}

/// The call belongs to one arm.
pub fn called_where_needed(x: i64, y: i64) -> i64 {
    let v = if x > 0 { slow(y) } else { y };
    v + 1
}

/// PyPy's conditional call: made while the cache is empty.
pub fn conditional_call(cache: &mut [i64], x: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < x {
        if cache[0] == 0 {
            cache[0] = slow(5);
        }
        s += cache[0];
        i += 1;
    }
    s
}

fn helper(a: i64, b: i64, c: i64) -> i64 {
    if a == 0 { b } else { c }
}

/// Known which, so the other isn't computed.
pub fn dead_argument(x: i64, y: i64) -> i64 {
    helper(0, x + 1, x * y * y)
}

fn deep1(x: i64) -> i64 { deep2(x) + 1 }
fn deep2(x: i64) -> i64 { deep3(x) + 1 }
fn deep3(x: i64) -> i64 { deep4(x) + 1 }
fn deep4(x: i64) -> i64 { x + 1 }

pub fn five_levels(x: i64) -> i64 {
    deep1(x)
}

fn early(a: &[i64], key: i64) -> Option<usize> {
    let mut i = 0;
    while i < a.len() {
        if a[i] == key {
            return Some(i);
        }
        i += 1;
    }
    None
}

pub fn found_or_not(a: &[i64], key: i64) -> i64 {
    match early(a, key) {
        Some(i) => i as i64,
        None => -1,
    }
}
