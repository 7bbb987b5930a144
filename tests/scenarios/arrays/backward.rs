use hueshift::prelude::*;

/// From the last element to the first.
pub fn from_the_end(a: &[u8], k: i64) -> i64 {
    let mut sum = k;
    let mut i = a.len();
    while i > 0 {
        i -= 1;
        sum = sum * 2 + a[i] as i64;
    }
    sum
}

pub fn reversed(a: &[u8], k: i64) -> i64 {
    let mut sum = k;
    for i in (0..a.len()).rev() {
        sum = sum * 3 + a[i] as i64;
    }
    sum
}

/// Each element with the one before it.
pub fn neighbours(a: &[u8]) -> i64 {
    let mut sum = 0;
    let mut i = a.len();
    while i > 1 {
        sum = sum * 2 + a[i - 2] as i64;
        i -= 1;
    }
    sum
}

/// One element to another one, and again what it was.
pub fn moved(r: &mut [i64], to: usize, from: usize) -> i64 {
    r[to] = r[from];
    r[from] + r[to]
}

/// What a test has found to lie there is stored.
pub fn stored_as_found(a: &mut [u8], i: usize) -> i64 {
    if a[i] == 3 {
        a[i] = 3;
        1
    } else {
        2
    }
}

/// Two comparisons of the same two.
pub fn compared(a: i64, b: i64) -> i64 {
    let less = a < b;
    let greater = a > b;
    let mut found = 0;
    if less | greater {
        found += 1;
    }
    if less & greater {
        found += 10;
    }
    if (a <= b) & (a >= b) {
        found += 100;
    }
    found
}
