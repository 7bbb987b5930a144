use hueshift::prelude::*;

pub fn shadow_and_blocks(x: i64) -> i64 {
    let y = { let x = x + 1; x * 2 };
    let x = { let y = y - 1; x + y };
    let z;
    if x > 10 { z = x - y; } else { z = y - x; }
    x * 100 + y * 10 + z
}

pub fn loops_with_values(n: i64) -> i64 {
    let mut i = 0;
    let a = loop { i += 1; if i * i > n { break i; } };
    let b = 'outer: loop {
        let mut j = 0;
        loop {
            if j == a { break 'outer j * 10; }
            if j > 100 { break; }
            j += 1;
        }
    };
    let c = 'block: {
        if n > 50 { break 'block 1; }
        if n > 20 { break 'block 2; }
        3
    };
    a + b * 3 + c
}

pub fn continues(n: u32) -> u32 {
    let mut s = 0u32;
    'rows: for i in 0..n {
        for j in 0..n {
            if j == i { continue 'rows; }
            if (i + j) % 3 == 0 { continue; }
            s = s.wrapping_mul(31).wrapping_add(i * 10 + j);
            if s % 97 == 1 { break 'rows; }
        }
        s += 1;
    }
    s
}

pub fn while_let(n: u8) -> u32 {
    let mut x = n;
    let mut count = 0;
    while let Some(next) = x.checked_sub(7) {
        x = next;
        count += 1;
    }
    count * 100 + x as u32
}

pub fn if_let_chain(a: u8, b: u8) -> u32 {
    if let Some(s) = a.checked_add(b) && s > 10 && let Some(d) = s.checked_sub(20) {
        d as u32
    } else if let Some(d) = a.checked_sub(b) {
        1000 + d as u32
    } else {
        2000
    }
}

pub fn let_else(a: u8, b: u8) -> i32 {
    let Some(s) = a.checked_add(b) else { return -1; };
    s as i32
}

pub fn up(a: i8, b: i8) -> (i64, u32) {
    let mut s = 0i64;
    let mut n = 0;
    for i in a..b { s = s * 3 % 1_000_003 + i as i64; n += 1; }
    (s, n)
}

pub fn up_inclusive(a: i8, b: i8) -> (i64, u32) {
    let mut s = 0i64;
    let mut n = 0;
    for i in a..=b { s = s * 3 % 1_000_003 + i as i64; n += 1; }
    (s, n)
}

pub fn down(a: u8, b: u8) -> (i64, u32) {
    let mut s = 0i64;
    let mut n = 0;
    for i in (a..b).rev() { s = s * 3 % 1_000_003 + i as i64; n += 1; }
    (s, n)
}

pub fn down_inclusive(a: u8, b: u8) -> (i64, u32) {
    let mut s = 0i64;
    let mut n = 0;
    for i in (a..=b).rev() { s = s * 3 % 1_000_003 + i as i64; n += 1; }
    (s, n)
}

pub fn wide_ends(k: u32) -> (u64, u64, u64, u64) {
    let mut r = (0u64, 0u64, 0u64, 0u64);
    let k = k as u64;
    for i in u64::MAX - k..=u64::MAX { r.0 = r.0.wrapping_mul(7).wrapping_add(i); }
    for i in (0..=k).rev() { r.1 = r.1.wrapping_mul(7).wrapping_add(i); }
    for i in i64::MIN..=i64::MIN + k as i64 { r.2 = r.2.wrapping_mul(7).wrapping_add(i as u64); }
    for i in (i64::MAX - k as i64..i64::MAX).rev() { r.3 = r.3.wrapping_mul(7).wrapping_add(i as u64); }
    r
}

pub fn steps(a: u8, b: u8, k: usize) -> (u32, u32, u32, u32, u32) {
    let mut r = (0u32, 0u32, 0u32, 0u32, 0u32);
    for i in (a..b).step_by(k) { r.0 = r.0.wrapping_mul(31).wrapping_add(i as u32); }
    for i in (a..=b).step_by(k) { r.1 = r.1.wrapping_mul(31).wrapping_add(i as u32); }
    for i in (a..b).rev().step_by(k) { r.2 = r.2.wrapping_mul(31).wrapping_add(i as u32); }
    for i in (a..=b).rev().step_by(k) { r.3 = r.3.wrapping_mul(31).wrapping_add(i as u32); }
    for i in (a..b).step_by(k).rev() { r.4 = r.4.wrapping_mul(31).wrapping_add(i as u32); }
    r
}

pub fn const_steps(n: i64) -> (i64, i64, i64) {
    let mut r = (0i64, 0i64, 0i64);
    for i in (0..n).step_by(3) { r.0 = r.0.wrapping_mul(31).wrapping_add(i); }
    for i in (0..20).step_by(7) { r.1 = r.1.wrapping_mul(31).wrapping_add(i); }
    for i in (n..i64::MAX).step_by(1 << 61) { r.2 = r.2.wrapping_mul(31).wrapping_add(i); }
    r
}

pub fn frozen_bounds(n: usize) -> usize {
    let mut n = n;
    let mut s = 0;
    for mut i in 0..n {
        n += 1;
        i *= 2;
        s += i;
    }
    s * 100 + n
}

pub fn breaks_in_for(n: i32) -> i32 {
    let mut last = -1;
    for i in 0..=n {
        if i * i > 50 { break; }
        if i % 2 == 1 { continue; }
        last = i;
    }
    last
}

fn bump(x: &mut i64, by: i64) -> i64 {
    *x += by;
    *x
}

pub fn evaluation_order(a: i64) -> (i64, i64, i64) {
    let mut x = a;
    let r = x + bump(&mut x, 1) * 10 + x * 100;
    let mut y = a;
    y += bump(&mut x, 5) + y;
    let mut z = 1;
    z -= { z = 10; z * 2 };
    (r, y, z)
}

pub fn short_circuit(a: i64, b: i64, log: &mut [i64]) -> bool {
    let r = (a > 0 && note(log, 0)) || (b > 0 && !note(log, 1)) || note(log, 2);
    let s = note(log, 3) & (a > b);
    r ^ s
}

fn note(log: &mut [i64], i: usize) -> bool {
    log[i] += 1;
    true
}

pub fn nested_matches(a: i64, b: i64, c: bool) -> i64 {
    match (a, b, c) {
        (0, _, true) => 1,
        (1..=5, x, false) if x > a => 10 + x,
        (x, 7 | 9, _) => x.wrapping_mul(2),
        (i64::MIN..=-1, y @ (2 | 3), true) => y * 1000,
        (_, _, false) => -1,
        _ => -2,
    }
}

pub fn overlapping_alternatives(a: i64, b: i64, log: &mut [i64]) -> i64 {
    match (a, b) {
        (1, _) | (_, 1) if { log[0] += 1; log[0] > 1 } => 5,
        (x, 2) | (2, x) => x + 10,
        _ => 0,
    }
}

pub fn bool_match(a: bool, b: bool) -> u8 {
    let x = match a { true => 1, false => 2 };
    let y = match b { false => 10, _ => 20 };
    x + y
}

pub fn early(n: i64) -> i64 {
    let x: i64 = if n < 0 { return -1 } else { n };
    let y = match x { 0 => return 0, 1 => 5, v => v * 2 };
    let z: i64 = loop { if y > 10 { return y; } break 3; };
    y + z
}

pub fn unit_things(n: i64) -> () {
    let _ = n + 1;
    let () = ();
    if n > 3 { return; }
    ()
}

pub fn recursive(n: u64) -> u64 {
    if n < 2 { n } else { recursive(n - 1) + recursive(n - 2) }
}

pub fn traps(n: i64) -> i64 {
    assert!(n != 1, "one: {} and {n:?}", n + 1);
    assert!(n != 2 && n < 1000);
    if n == 3 { panic!("three {{}} {}", n as u8 as char); }
    if n == 4 { unreachable!(); }
    if n == 5 { unreachable!("five {}", 2.5); }
    if n == 6 { panic!(); }
    assert_eq!(n % 7, n - n / 7 * 7);
    assert_eq!(n, n + (n == 8) as i64, "eight");
    assert_ne!(n, 9);
    if n == 10 { todo!(); }
    if n == 11 { return (n as u8).checked_sub(12).unwrap() as i64; }
    if n == 12 { return (n as u8).checked_sub(13).expect("expect {} it") as i64; }
    debug_assert!(n < 5000);
    100 / (n - 14)
}

pub fn step_zero(n: usize) -> usize {
    let mut s = 0;
    for i in (0..10).step_by(n) { s += i; }
    s
}

pub fn inferred(n: u8) -> u64 {
    let mut total = 0;
    let k = 3;
    let mut m = 1;
    for i in 0..n {
        m = (m * k) % 251;
        total += m as u64 + i as u64;
    }
    let late;
    late = total + 1;
    let _unused: i8 = -128;
    late & 0xFFFF_FFFF_FFFF
}

pub fn many_tuples(a: i64, b: f64) -> ((i64, f64), (bool, char), (u8,)) {
    let t = ((a, b), (a > 0, 'x'), (7u8,));
    let ((p, _), q, (r,)) = t;
    let mut u = t;
    u.0.0 = p + 1;
    u.1.1 = if q.0 { 'y' } else { u.1.1 };
    u.2 = (r + 1,);
    (u.0.0, u.0.1) = (u.0.0 * 2, u.0.1 / 2.0);
    u
}

const ALWAYS: bool = true;

/// Code that nothing leads to is lowered, too: loops in it, one after another.
pub fn loops_after_the_end(x: i64) -> i64 {
    if ALWAYS {
        return x;
    }
    let mut s = x;
    for i in 0..3 {
        s += i;
    }
    for i in 0..3 {
        s += x;
    }
    while s > 0 {
        s -= 1;
    }
    while s > 3 {
        s -= x;
        if s == 7 { continue; }
    }
    s + x
}
