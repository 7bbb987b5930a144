use hueshift::prelude::*;

/// The element at a fixed place goes round in a register.
pub fn fixed_place(a: &mut [i64], n: i64) -> i64 {
    let mut n = n;
    while n > 0 {
        a[0] += n;
        n -= 1;
    }
    a[0]
}

/// What is read is not what is written.
pub fn other_array(a: &[i64], b: &mut [i64]) -> i64 {
    let x = a[0];
    b[0] = 7;
    x + a[0] + b[0]
}

/// The two places differ, whatever i is.
pub fn neighbours(a: &mut [i64], i: usize) -> i64 {
    a[i] = 3;
    a[i + 1] = 4;
    a[i] * 10 + a[i + 1]
}

/// Only the last store is seen.
pub fn stored_twice(a: &mut [i64], i: usize, x: i64) -> i64 {
    a[i] = x;
    a[i] = x + 1;
    a[i]
}

pub fn sum_slice(a: &[i64]) -> i64 {
    let mut s = 0;
    for x in a {
        s += *x;
    }
    s
}

/// The loop's own test is the bounds check.
pub fn sum_indexed(a: &[i64]) -> i64 {
    let mut s = 0;
    for i in 0..a.len() {
        s += a[i];
    }
    s
}

pub fn asserted_index(a: &[i64], i: usize) -> i64 {
    if i < a.len() { a[i] } else { -1 }
}

pub fn masked_index(a: &[i64; 4], i: usize) -> i64 {
    a[i & 3]
}

pub fn dot(a: &[i64], b: &[i64]) -> i64 {
    let mut s = 0;
    let mut i = 0;
    while i < a.len() && i < b.len() {
        s += a[i] * b[i];
        i += 1;
    }
    s
}

/// The elements of a slice of known length and red content are sorted by a network: no memory for the copy.
pub fn sorted_three(a: i64, b: i64, c: i64) -> i64 {
    let mut v = [a, b, c];
    let mut i = concrete(0usize);
    while i < 2 {
        let mut j = concrete(0usize);
        while j < 2 - i {
            if v[j] > v[j + 1] {
                let t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
            j += 1;
        }
        i += 1;
    }
    v[0] * 100 + v[1] * 10 + v[2]
}

/// Fibonacci by a matrix, to a green power.
pub fn matrix_power(n: i64, x: i64) -> i64 {
    let mut m = [[1, 0], [0, 1]];
    let b = [[x, 1], [1, 0]];
    let mut n = concrete(n);
    while n > 0 {
        let mut r = [[0i64; 2]; 2];
        let mut i = concrete(0usize);
        while i < 2 {
            let mut j = concrete(0usize);
            while j < 2 {
                r[i][j] = m[i][0] * b[0][j] + m[i][1] * b[1][j];
                j += 1;
            }
            i += 1;
        }
        m = r;
        n -= 1;
    }
    m[0][1]
}

/// Three elements rotate; the places are green.
pub fn rotating(n: i64, a: i64, b: i64, c: i64) -> i64 {
    let mut v = [a, b, c];
    let mut n = n;
    while n > 0 {
        let t = v[0];
        v[0] = v[1];
        v[1] = v[2];
        v[2] = t + n;
        n -= 1;
    }
    v[0] + v[1] * 3 + v[2] * 9
}

pub fn fill_then_sum(n: usize) -> i64 {
    let mut v = [0i64; 8];
    let mut i = 0;
    while i < n {
        v[i & 7] += i as i64;
        i += 1;
    }
    let mut s = 0;
    for x in v {
        s = s * 3 + x;
    }
    s
}

/// The first and the last of what may be empty.
pub fn ends(a: &[i64]) -> i64 {
    if a.is_empty() {
        return -1;
    }
    a[0] * 10 + a[a.len() - 1]
}

/// The length of a window is known, so its elements need no check.
pub fn known_window(a: &[i64], from: usize) -> i64 {
    let w = &a[from..from + 4];
    w[0] + w[1] * w[2] - w[3]
}

pub fn equal_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// A sieve over a local array.
pub fn primes_below_32() -> i64 {
    let mut composite = [false; 32];
    let mut count = 0;
    let mut i = 2;
    while i < 32 {
        if !composite[i] {
            count += 1;
            let mut j = i * 2;
            while j < 32 {
                composite[j] = true;
                j += i;
            }
        }
        i += 1;
    }
    count
}

/// The loop reads where nobody writes.
pub fn read_only_in_loop(a: &[i64], n: i64) -> i64 {
    let mut n = n;
    let mut s = 0;
    while n > 0 {
        s += a[0] * a[1];
        n -= 1;
    }
    s
}

/// What a run hands over at its merge point, when it has left a trace, is what the trace began with: its loop is entered
/// again, and what is behind the `&` doesn't change in it.
pub fn letters(a: &[u8], letter: u8) -> i64 {
    let mut found = 0;
    let mut others = 0;
    let mut at = 0;
    while at < a.len() {
        merge_point!();
        if a[at] == letter {
            found += 1;
        } else {
            others += 1;
        }
        at += 1;
    }
    100 * found + others
}
