use hueshift::prelude::*;

/// A green swap in a loop: each is the other one a round later.
pub fn swapped_in_loop(a: i64, b: i64, n: i64, x: i64) -> i64 {
    let mut a = a;
    let mut b = b;
    let mut n = concrete(n);
    let mut x = x;
    while n > 0 {
        let t = a;
        a = b;
        b = t;
        x += concrete(a);
        n -= 1;
    }
    x
}

/// What is promoted stays red, its name after that is green.
pub fn promoted_name(n: i64, x: i64) -> i64 {
    let k = promote(n);
    let g = concrete(k * 3);
    g + x
}

fn scale(k: i64, x: i64) -> i64 {
    let f = concrete(k) * 10;
    f * x
}

/// The demand is in the callee.
pub fn demanded_by_callee(k: i64, x: i64) -> i64 {
    let k2 = k + 1;
    scale(k2, x) + k
}

/// A tuple has a color for each field.
pub fn half_green_tuple(a: i64, b: i64) -> i64 {
    let t = (a + 1, b + 1);
    let g = concrete(t.0);
    g * 100 + t.1
}

/// `variable` ends the demand.
pub fn demand_ends(a: i64, x: i64) -> i64 {
    let g = concrete(a);
    let v = variable(g);
    let w = v + 1;
    w * x
}

pub fn green_len(code: &[u8], x: i64) -> i64 {
    let n = concrete(code.len());
    let m = n as i64 * 2;
    m + x
}

/// A green parameter that a red test reassigns.
pub fn reassigned_by_split(flag: bool, g: i64, x: i64) -> i64 {
    let mut g = g;
    if flag {
        g += 1;
    }
    let h = concrete(g);
    h * 10 + x
}

#[portal(greens(a, b), reds(r))]
fn two_keys(mut a: i64, mut b: u8, mut r: i64) -> i64 {
    loop {
        merge_point!();
        if a == 0 {
            return r + b as i64;
        }
        r = r * 2 + b as i64;
        let t = a - 1;
        b = b.wrapping_sub(t as u8);
        a = t;
    }
}

pub fn into_two_keys(a: i64, b: u8, r: i64) -> i64 {
    two_keys(a, b, r)
}

/// A literal that is asked for has its name's color.
pub fn literal(n: i64, x: i64) -> i64 {
    let c = 7;
    let e = concrete(c);
    e * x + n
}

/// So has one of two.
pub fn either_literal(n: i64, x: i64) -> i64 {
    let mut c = 7;
    if n > 3 {
        c = 8;
    }
    let e = concrete(c);
    e * x
}

fn same(x: i64) -> i64 {
    let y = x;
    y
}

/// What a function is asked for is asked of what it is handed.
pub fn literal_handed_on(n: i64, x: i64) -> i64 {
    let k = 9;
    let e = concrete(same(k));
    e * x + n
}

/// Nobody asks for this one.
pub fn literal_unasked(n: i64, x: i64) -> i64 {
    let c = 7;
    let e = concrete(n + 1);
    e * x + c
}
