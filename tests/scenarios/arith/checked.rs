use hueshift::prelude::*;

/// One test for the carry, as in PyPy's test_int_add_ovf.
pub fn ovf_add(x: i64, y: i64) -> i64 {
    let mut res = 0;
    let mut x = x;
    let mut y = y;
    while y > 0 {
        match x.checked_add(y) {
            Some(v) => res += v,
            None => return res - 1,
        }
        y -= 1;
        x += 1;
    }
    res
}

pub fn ovf_mul_invariant(x: i64, y: i64) -> i64 {
    let mut res: i64 = 0;
    let mut y = y;
    while y > 0 {
        match x.checked_mul(x) {
            Some(b) => match res.checked_add(b) {
                Some(r) => res = r,
                None => return -2,
            },
            None => return -1,
        }
        y -= 1;
    }
    res
}

/// Shifting left and back tells whether bits were lost.
pub fn lshift_ovf(x: i64, y: u32) -> i64 {
    let s = x << y;
    if s >> y != x { -42 } else { s }
}

pub fn rem_ovf(x: i64, y: i64) -> i64 {
    match x.checked_rem(y) {
        Some(v) => v,
        None => 1000,
    }
}

/// A divisor that is known needs neither test.
pub fn div_by_known(x: i64, y: i64) -> i64 {
    let y = concrete(y);
    match x.checked_div(y) {
        Some(v) => v,
        None => 1000,
    }
}

pub fn saturated(x: i8, y: i8) -> i64 {
    (x.saturating_add(y) as i64) * 10 + x.saturating_sub(y) as i64
}

/// The first test is implied by the second's failure.
pub fn overflowing_pair(x: u32, y: u32) -> u64 {
    let (s, o) = x.overflowing_add(y);
    if o { s as u64 + 4294967296 } else { s as u64 }
}
