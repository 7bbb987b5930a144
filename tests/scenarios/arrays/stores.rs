use hueshift::prelude::*;

/// Four elements are written: four stores.
pub fn four_written(a: &mut [i64], x: i64) -> i64 {
    a[0] = x;
    a[1] = x + 1;
    a[2] = x + 2;
    a[3] = x + 3;
    x
}

/// Written to the end, then upwards: the first check says all.
pub fn last_first(a: &mut [i64], x: i64) -> i64 {
    a[3] = x;
    a[0] = 1;
    a[1] = 2;
    a[2] = 3;
    x
}

/// The length is asked for beforehand.
pub fn asked_before(a: &mut [i64], x: i64) -> i64 {
    if a.len() < 4 {
        return -1;
    }
    a[0] = x;
    a[1] = x;
    a[2] = x;
    a[3] = x;
    1
}

/// A division between two stores.
pub fn division_between(a: &mut [i64; 2], x: i64, y: i64) -> i64 {
    a[0] = 1;
    let q = x / y;
    a[1] = q;
    q
}

/// Two swaps of the same places.
pub fn swapped_and_back(a: &mut [i64], i: usize, j: usize) -> i64 {
    let t = a[i];
    a[i] = a[j];
    a[j] = t;
    a[i] + a[j]
}

/// A copy from one to the other.
pub fn copied(a: &[u8], b: &mut [u8]) -> usize {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        b[i] = a[i];
        i += 1;
    }
    i
}

/// Sum of a prefix, stored as it goes: what was stored last is known.
pub fn prefix_sums(a: &mut [i64]) -> i64 {
    let mut i = 1;
    while i < a.len() {
        a[i] += a[i - 1];
        i += 1;
    }
    if a.is_empty() { 0 } else { a[a.len() - 1] }
}
