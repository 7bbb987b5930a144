use hueshift::prelude::*;

/// A constant on each way, and a product of it: it is a constant on each way as well.
pub fn product_of_joined(x: i64, y: i64) -> i64 {
    let k = if x > 0 { 3 } else { 5 };
    let m = k * 7 + 1;
    y + m
}

/// The class of a class: the second match is decided on each way to it.
pub fn match_of_match(x: i64, y: i64) -> i64 {
    let (class, weight) = match x {
        0 => (1, y * 2),
        1 => (1, y * 3),
        2 => (2, y),
        _ => (0, 1),
    };
    match class {
        1 => weight + 1,
        2 => weight + 2,
        _ => weight,
    }
}

/// A bool that says which way it was.
pub fn remembered(x: i64, y: i64) -> i64 {
    let mut big = false;
    let mut r = y;
    if x > 100 {
        big = true;
        r *= 2;
    }
    r += 1;
    if big { r - x } else { r }
}

/// A difference that is known to be 0 on this way.
pub fn equal_by_two_tests(a: i64, b: i64) -> i64 {
    if a < b {
        1
    } else if a > b {
        2
    } else {
        (a - b) + 3
    }
}

/// The maximum by hand, twice.
pub fn maximum_twice(a: i64, b: i64) -> i64 {
    let m = if a > b { a } else { b };
    let n = if a > b { a } else { b };
    m - n
}

/// Not in the range, so not equal to anything in it.
pub fn outside_range(x: i64) -> i64 {
    match x {
        10..=20 => 1,
        _ => {
            if x == 15 { 2 } else if x > 20 { 3 } else if x >= 10 { 4 } else { 5 }
        }
    }
}

/// A loop that stops by a flag.
pub fn stopped_by_flag(n: i64, limit: i64) -> i64 {
    let mut done = false;
    let mut i = 0;
    while !done {
        i += n;
        if i > limit {
            done = true;
        }
    }
    i
}
