use hueshift::prelude::*;

/// Both operands known after two promotions: no operation is left on that path.
#[portal(greens(), reds(a, b))]
pub fn two_promoted(a: i64, b: i64) -> i64 {
    merge_point!();
    let x = promote(a);
    let y = promote(b);
    x * y + x - y
}

/// The second promotion of the same value costs nothing.
#[portal(greens(), reds(a))]
pub fn promoted_twice(a: i64) -> i64 {
    merge_point!();
    let x = promote(a);
    let y = promote(a);
    let z = promote(x + y);
    z * 3
}

/// A bool: two cases at most.
#[portal(greens(), reds(a, x))]
pub fn promoted_test(a: i64, x: i64) -> i64 {
    merge_point!();
    let pos = promote(a > 0);
    let k = if pos { concrete(10) } else { concrete(20) };
    k * x
}

/// After the test it is known, so nothing is to promote.
#[portal(greens(), reds(a, x))]
pub fn promoted_in_arm(a: i64, x: i64) -> i64 {
    merge_point!();
    if a == 7 {
        let k = promote(a);
        x + concrete(k * 6)
    } else {
        x
    }
}

/// In a loop, the same value each time: one switch suffices, or one before it.
#[portal(greens(), reds(n, k, s))]
pub fn same_each_round(mut n: i64, k: i64, mut s: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 {
            return s;
        }
        let g = promote(k);
        s += concrete(g * g);
        n -= 1;
        can_enter_jit!();
    }
}

fn inner(n: i64) -> i64 {
    let k = promote(n & 3);
    concrete(k + 1)
}

/// Two calls, each with a promotion of its own.
#[portal(greens(), reds(a, b))]
pub fn promotions_in_two_calls(a: i64, b: i64) -> i64 {
    merge_point!();
    inner(a) * 10 + inner(b)
}

/// What is promoted is an element's index: the element is at a known place then.
pub fn promoted_index(regs: &mut [i64; 4], i: usize, v: i64) -> i64 {
    let i = promote(i & 3);
    regs[i] = v;
    regs[0] + regs[1] + regs[2] + regs[3]
}

/// A promoted character decides a match.
pub fn promoted_char(c: char, x: i64) -> i64 {
    match promote(c) {
        '+' => x + 1,
        'é' => x + 2,
        _ => x,
    }
}

/// Promoted, changed, made red again, promoted.
#[portal(greens(), reds(n))]
pub fn back_and_forth(n: i64) -> i64 {
    merge_point!();
    let a = promote(n);
    let b = variable(a + 1);
    let c = b * 2;
    let d = promote(c);
    concrete(d + 1)
}

#[derive(Clone, Copy, PartialEq)]
pub enum Mode { Up, Down }

/// The mode is promoted in each round, and changes on the way.
#[portal(greens(), reds(mode, n, x))]
pub fn modes(mut mode: Mode, mut n: i64, mut x: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 {
            return x;
        }
        let m = promote(mode);
        if m == Mode::Up { x += 3; } else { x -= 2; }
        if x > 10 { mode = Mode::Down; } else if x < 0 { mode = Mode::Up; }
        n -= 1;
        can_enter_jit!();
    }
}
