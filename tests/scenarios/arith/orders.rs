use hueshift::prelude::*;

pub fn product_order(a: i64, b: i64) -> i64 { a * b - b * a }
pub fn and_order(a: i64, b: i64) -> i64 { (a & b) - (b & a) }
pub fn or_order(a: i64, b: i64) -> i64 { (a | b) - (b | a) }
pub fn xor_order(a: i64, b: i64) -> i64 { (a ^ b) - (b ^ a) }
pub fn equality_order(a: i64, b: i64) -> bool { (a == b) == (b == a) }
pub fn sum_order(a: i64, b: i64, c: i64) -> i64 { (a + b) * c - (b + a) * c }
pub fn float_order(a: f64, b: f64) -> f64 { (a + b) * (b + a) }
pub fn difference_order(a: i64, b: i64) -> i64 { (a - b) + (b - a) }

/// In a loop: the product does not depend on the order, nor on the round.
pub fn product_in_loop(a: i64, b: i64, n: i64) -> i64 {
    let mut n = n;
    let mut s = 0;
    while n > 0 {
        s += a * b;
        s ^= b * a;
        n -= 1;
    }
    s
}

pub fn decided_by_both(a: i64, b: i64) -> i64 {
    if a <= b && b <= a {
        if a == b { 1 } else { 2 }
    } else {
        3
    }
}

pub fn not_decided(a: i64, b: i64) -> i64 {
    if a <= b {
        if a == b { 1 } else if a < b { 2 } else { 4 }
    } else {
        3
    }
}

pub fn three_loads(a: &[i64]) -> i64 {
    a[0] + a[1] * a[2]
}

pub fn backwards_loads(a: &[i64]) -> i64 {
    a[2] + a[1] * a[0]
}

/// The larger of two is not less than either.
pub fn maximum_covers(a: i64, b: i64, c: i64) -> i64 {
    let m = a.max(b);
    if c > m {
        if c > a { 1 } else { 2 }
    } else {
        3
    }
}

/// An empty diamond twice, with the same condition.
pub fn same_diamond(c: bool, x: i64, y: i64) -> i64 {
    let p = if c { x } else { y };
    let q = if c { 1 } else { 2 };
    let r = if c { x } else { y };
    (p - r) * q + q
}

/// What follows the switch knows its value on each edge.
pub fn edge_values(k: i64, x: i64) -> i64 {
    let w = match k { 0 => 10, 1 => 20, _ => 30 };
    let v = match k { 0 => x, 1 => x + 1, _ => x + 2 };
    w + v
}
