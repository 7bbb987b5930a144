//! Control flow, calls, hints and traps.

use hueshift::prelude::*;
pub fn collatz(n: u64) -> u64 {
    let mut n = n;
    let mut s = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        s += 1;
    }
    s
}
fn fact(n: u64) -> u64 {
    if n <= 1 { 1 } else { n * fact(n - 1) }
}
pub fn factorial(n: u64) -> u64 {
    fact(n)
}
fn fibr(n: i64) -> i64 {
    if n < 2 { n } else { fibr(n - 1) + fibr(n - 2) }
}
pub fn fib(n: i64) -> i64 {
    fibr(n)
}
fn ack(m: i64, n: i64) -> i64 {
    if m == 0 {
        n + 1
    } else if n == 0 {
        ack(m - 1, 1)
    } else {
        ack(m - 1, ack(m, n - 1))
    }
}
pub fn ackermann(m: i64, n: i64) -> i64 {
    ack(m, n)
}
pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        let t = a % b;
        a = b;
        b = t;
    }
    a
}
pub fn primes(n: i64) -> i64 {
    let mut c = 0;
    'o: for i in 2..n {
        let mut d = 2;
        while d * d <= i {
            if i % d == 0 {
                continue 'o;
            }
            d += 1;
        }
        c += 1;
    }
    c
}
pub fn green_loop_red_break(g: i64, r: i64) -> i64 {
    let mut i = concrete(0);
    let mut acc = r;
    while i < concrete(g) {
        acc = acc * 3 + i;
        if acc > 1000 {
            break;
        }
        i += 1;
    }
    acc + i
}
pub fn green_after_join(g: i64, r: i64) -> i64 {
    let k;
    if r > 0 {
        k = concrete(g) + 1;
    } else {
        k = concrete(g) - 1;
    }
    let z = concrete(k);
    variable(z) * r
}
pub fn nested_green(g: i64, r: i64) -> i64 {
    let mut t = 0;
    let mut i = concrete(0);
    while i < concrete(g) {
        let mut j = concrete(0);
        while j < i {
            if r > j {
                t += i * j;
            } else {
                t -= r;
            }
            j += 1;
        }
        i += 1;
    }
    t
}
fn classify(n: i64) -> i64 {
    match n {
        i64::MIN..=-1 => 0,
        0 => 1,
        1..=9 => 2,
        10 | 20 | 30 => 3,
        _ => 4,
    }
}
pub fn by_class(n: i64, x: i64) -> i64 {
    let c = concrete(classify(n));
    let mut s = x;
    let mut i = concrete(0);
    while i < c {
        s += x * i;
        i += 1;
    }
    s
}
pub fn promo(n: i64, x: i64) -> i64 {
    let k = promote(n & 3);
    let mut s = x;
    let mut i = concrete(0);
    while i < k {
        s = s * 2 + n;
        i += 1;
    }
    s
}
pub fn promo_two(a: i64, b: i64) -> i64 {
    let k = promote(a);
    let l = promote(b);
    concrete(k * l) + a
}
pub fn promo_bool(a: i64, b: i64) -> i64 {
    let k = promote(a > b);
    if concrete(k) { a - b } else { b - a }
}
pub fn promo_loop(n: i64, x: i64) -> i64 {
    let mut n = n;
    let mut s = 0;
    while n > 0 {
        let k = promote(n % 3);
        if concrete(k) == 0 {
            s += x;
        } else if k == 1 {
            s ^= x;
        } else {
            s -= 1;
        }
        n -= 1;
    }
    s
}
pub fn trap_div(a: i64, b: i64) -> i64 {
    100 / a + 100 % b
}
pub fn trap_effects(a: &mut [i64], i: usize, j: usize) -> i64 {
    a[i] = 1;
    a[j] = 2;
    let r = a[i] / (a[j] - 2 + i as i64);
    a[0] = 7;
    r
}
pub fn trap_assert(a: i64) -> i64 {
    assert!(a > 0, "a is {}", a);
    assert!(a < 100);
    if a == 50 {
        panic!("fifty {} {:?}", a, a > 1);
    }
    if a == 51 {
        unreachable!();
    }
    a
}
pub fn trap_in_loop(a: &mut [i64], n: usize) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        a[i] = s;
        s += i as i64;
        i += 1;
    }
    s
}
fn inner_trap(a: &mut [i64], k: i64) -> i64 {
    a[0] += 1;
    if k == 3 {
        panic!("three");
    }
    a[1] += k;
    k
}
pub fn trap_in_call(a: &mut [i64], n: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < n {
        s += inner_trap(a, i);
        i += 1;
    }
    s
}
fn deep(n: i64) -> i64 {
    if n == -1 { 0 } else { 1 + deep(n - 1) }
}
pub fn deep_rec(n: i64) -> i64 {
    deep(n)
}
pub fn switch_big(n: i64) -> i64 {
    match n {
        0 => 5,
        1 => 6,
        2 => 9,
        3 => -1,
        4 => n * 2,
        5 => 0,
        100 => 1,
        1000 => 2,
        -5 => 3,
        _ => n,
    }
}
pub fn while_let_like(n: i64) -> i64 {
    let mut n = n;
    let r = loop {
        if n > 100 {
            break n;
        }
        n = n * 2 + 1;
        if n == 63 {
            continue;
        }
        n += 1;
    };
    r
}
pub fn logic(a: i64, b: i64) -> i64 {
    let x = a > 0 && b > 0 || a == b;
    let y = !x && (a < b || b == 3);
    (x as i64) * 2 + y as i64
}
pub fn block_val(a: i64) -> i64 {
    let b = {
        let c = a * 2;
        if c > 10 {
            c
        } else {
            let d = c + 1;
            d * d
        }
    };
    b - a
}
pub fn lab(n: i64) -> i64 {
    let r = 'a: {
        if n > 5 {
            break 'a 1;
        }
        if n > 3 {
            break 'a 2;
        }
        3
    };
    r * n
}
pub fn ranges(n: i64, m: i64) -> i64 {
    let mut s = 0;
    for i in n..m {
        s += i;
    }
    for i in n..=m {
        s ^= i;
    }
    for i in (n..m).rev() {
        s = s * 3 - i;
    }
    for i in (n..m).step_by(2) {
        s += i * 7;
    }
    for i in (n..m).rev().step_by(2) {
        s -= i;
    }
    s
}
pub fn u8_range() -> i64 {
    let mut s = 0i64;
    for i in 250u8..=255 {
        s += i as i64;
    }
    s
}
#[dont_look_inside]
fn outside(a: &mut [i64], k: i64) -> i64 {
    a[0] += k;
    a[1] * 2
}
pub fn call_outside(a: &mut [i64], k: i64) -> i64 {
    a[0] = 10;
    a[1] = k;
    let r = outside(a, 3);
    a[1] += 1;
    let q = outside(a, 4);
    a[0] + r * 100 + q
}
#[elidable]
fn pure_fn(a: i64, b: i64) -> i64 {
    let mut i = 0;
    let mut s = 0;
    while i < a {
        s += b * i;
        i += 1;
    }
    s
}
pub fn call_pure(a: i64, b: i64) -> i64 {
    let x = pure_fn(a, b);
    let y = pure_fn(a, b);
    if b > 0 { x + y + pure_fn(3, 4) } else { pure_fn(a, 1) }
}
#[elidable]
fn pure_trap(a: i64) -> i64 {
    10 / a
}
pub fn call_pure_trap(a: i64) -> i64 {
    let x = pure_trap(a);
    if a > 5 { x } else { pure_trap(0) + x }
}
#[unroll_safe]
fn dot(a: &[i64], b: &[i64]) -> i64 {
    let mut s = 0;
    let mut i = 0;
    while i < a.len() {
        s += a[i] * b[i];
        i += 1;
    }
    s
}
pub fn call_dot(a: &[i64], b: &[i64]) -> i64 {
    dot(a, b) + dot(b, a)
}
pub fn jitted(a: i64) -> i64 {
    a * 2
}
pub fn const_q(a: i64, b: i64) -> i64 {
    if is_constant(a) { a + b } else { a + b }
}
pub fn lkl(a: i64) -> i64 {
    if likely(a > 0) { 1 } else { 2 }
}
pub fn float_loop(n: i64) -> f64 {
    let mut x = 1.0;
    let mut i = 0;
    while i < n {
        x = x * 0.5 + i as f64;
        i += 1;
    }
    x
}
pub fn mandel(cr: f64, ci: f64) -> i64 {
    let (mut x, mut y) = (0.0, 0.0);
    let mut n = 0;
    while n < 50 && x * x + y * y < 4.0 {
        let t = x * x - y * y + cr;
        y = 2.0 * x * y + ci;
        x = t;
        n += 1;
    }
    n
}
pub fn const_fold_loop(a: i64) -> i64 {
    let mut i = 0;
    let mut x = a;
    let k = 5;
    while i < 10 {
        x += k;
        i += 1;
    }
    x
}
pub fn invariant(a: i64, n: i64) -> i64 {
    let k = a * 3;
    let mut s = 0;
    let mut i = 0;
    while i < n {
        s += k + a / 7;
        i += 1;
    }
    s
}
pub fn swap_loop(a: i64, b: i64, n: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    let mut i = 0;
    while i < n {
        let t = a;
        a = b;
        b = t + i;
        i += 1;
    }
    a * 1000 + b
}
