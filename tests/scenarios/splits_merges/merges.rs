use hueshift::prelude::*;

/// Three constants meet: one parameter, no operation but the tests.
pub fn three_constants(x: i64, y: i64) -> i64 {
    let k = if x > 0 {
        if y > 0 { 1 } else { 2 }
    } else {
        3
    };
    k
}

/// The same test again, after a join.
pub fn tested_again(x: i64, y: i64) -> i64 {
    let mut r = y;
    if x == 0 {
        r += 1;
    }
    r *= 2;
    if x == 0 {
        r += 5;
    }
    r
}

/// Both arms do the same.
pub fn same_on_both(x: i64, y: i64) -> i64 {
    if x > 3 { y + 1 } else { y + 1 }
}

/// The arms agree in what follows.
pub fn equal_green_meets(x: i64, g: i64) -> i64 {
    let g = concrete(g);
    let a = if x > 0 { g + 1 } else { g + 1 };
    variable(concrete(a * 2))
}

fn classify(x: i64) -> i64 {
    match x {
        0 => 10,
        1 | 2 => 20,
        3..=9 => 30,
        _ => 40,
    }
}

/// A class, then a decision by the class.
pub fn by_class(x: i64) -> i64 {
    match classify(x) {
        10 => 1,
        20 => 2,
        30 => 3,
        _ => 4,
    }
}

/// The answer of a test is a value, then a condition again.
pub fn condition_as_value(a: i64, b: i64, x: i64) -> i64 {
    let less = a < b;
    let pos = x > 0;
    let both = less && pos;
    if both { x + 1 } else if less { x + 2 } else { x }
}

/// A split within the argument of a call within a split.
fn pick(c: bool, a: i64, b: i64) -> i64 {
    if c { a } else { b }
}

pub fn picks(a: i64, b: i64, c: i64) -> i64 {
    pick(a > b, pick(b > c, a, b), pick(a > b, c, 7))
}

/// A chain of else-ifs over a green.
pub fn green_chain(g: i64, x: i64) -> i64 {
    let g = concrete(g);
    if g < 10 { x + 1 } else if g < 20 { x - 1 } else if g < 30 { x * 3 } else { x }
}

/// Sixteen constants through a red switch, and one operation on them.
pub fn big_switch(k: i64, x: i64) -> i64 {
    let c = match k {
        0 => 3,
        1 => 1,
        2 => 4,
        3 => 1,
        4 => 5,
        5 => 9,
        6 => 2,
        _ => 6,
    };
    x + c
}

/// Unequal on one side only: what is known there decides.
pub fn equal_or_not(a: i64, b: i64) -> i64 {
    if a != b {
        if a == b { 100 } else { a - b }
    } else {
        a - b
    }
}

/// Short-circuit with greens: only the red half is tested.
pub fn half_known(g: i64, x: i64) -> i64 {
    let g = concrete(g);
    if g > 3 && x > 3 { 1 } else if g > 3 || x > 10 { 2 } else { 3 }
}

/// A green is different on each path, and used after the join.
pub fn green_differs(c: bool, x: i64) -> i64 {
    let g = if c { 3 } else { 4 };
    let mut i = concrete(g);
    let mut r = x;
    while i > 0 {
        r *= x;
        i -= 1;
    }
    r
}
