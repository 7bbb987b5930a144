use hueshift::prelude::*;

// One order is tested several times, in several forms.

pub fn mirrored(n: i64, m: i64, k: i64) -> i64 {
    let mut r = 0;
    let a0 = if !(m <= n) { 63 } else { -8 };
    let a1 = if !(m <= n) { k } else { 7 };
    let a2 = if n < m { 63 } else { -8 };
    if n < m {
        r = a0 * 3 + a1 * 4 + a2 * 5;
    }
    r + a0
}

pub fn past_a_call(n: i64, m: i64, a: &mut [i64]) -> i64 {
    let x = if n > m { 1 } else { a[0] };
    a[1] += x;
    let y = if m < n { x + 2 } else { 5 };
    let z = if n <= m { y * 2 } else { y };
    if !(n > m) { z + x } else { z - x }
}
