//! Statements and expressions: bindings, assignments, choices, loops.

use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nested(pub u8, pub Point, pub (bool, [i16; 3]));

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Low,
    Middle,
    High,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Token {
    Number(i64),
    Pair { left: u8, right: char },
    Kind(Kind),
    End,
}

pub fn let_patterns(n: Nested, t: (i64, (u8, char), ())) -> (i32, i64, char, i16) {
    let Nested(a, Point { x, y: height }, (_, [first, .., last])) = n;
    let (b, (_, c), _) = t;
    let _ = a;
    let (mut sum, ..) = (x + height, 5);
    sum += a as i32;
    (sum, b, c, first - last)
}

pub fn let_mut_and_later(x: i64) -> (i64, u8, i64) {
    let mut a = x;
    let b;
    let c: u8;
    a += 1;
    if a > 10 {
        b = a * 2;
        c = 1;
    } else {
        c = 2;
        b = -a;
    }
    let a = a;
    let x = x - a;
    (a, c, b + x)
}

pub fn let_else(x: u8, y: u8) -> i32 {
    let Some(sum) = x.checked_add(y) else { return -1 };
    let Token::Pair { left, right: 'a'..='z' } = token(sum) else {
        return -2;
    };
    left as i32
}

fn token(n: u8) -> Token {
    match n % 4 {
        0 => Token::Number(n as i64 - 100),
        1 => Token::Pair { left: n, right: n as char },
        2 => Token::Kind(if n > 100 { Kind::High } else { Kind::Middle }),
        _ => Token::End,
    }
}

#[derive(Debug)]
pub struct Machine {
    pub at: Point,
    pub regs: [i64; 3],
    pub count: Cell<u32>,
}

pub fn assignments(m: &mut Machine, a: &mut [u16], i: usize, v: i64) -> i64 {
    let mut x = v;
    let mut pair = (1, [2, 3]);
    x = x * 3;
    x += 5;
    x -= 1;
    x *= 7;
    x /= 2;
    x %= 1000;
    x &= !1;
    x |= 64;
    x ^= 0x55;
    x <<= 3;
    x >>= 1;
    pair.1[i % 2] += x;
    pair.0 = pair.1[0];
    m.at.x += pair.0 as i32;
    m.at = Point { x: m.at.y, y: m.at.x };
    m.regs[i] -= x;
    m.regs[(i + 1) % 3] <<= 2;
    m.count.set(m.count.get() + 1);
    a[i] ^= 0xFF;
    a[0] += a[i];
    (m.regs[0], x) = (x, m.regs[0]);
    x
}

pub fn blocks_as_values(x: i64) -> (i64, i64, u8) {
    let a = {
        let x = x + 1;
        x * x
    };
    let b = if a > 10 {
        a - 10
    } else if a == 4 {
        44
    } else {
        -a
    };
    let c = 'found: {
        if b > 50 {
            break 'found 1;
        }
        if b < 0 {
            break 'found 2;
        }
        3
    };
    (a, b, c)
}

pub fn if_let(x: u8, t: Token) -> i64 {
    let mut sum = 0;
    if let Some(half) = if x % 2 == 0 { Some(x / 2) } else { None } {
        sum += half as i64;
    }
    if let Token::Number(n @ (1..=9 | 100)) = t {
        sum += n * 1000;
    } else if let Token::Kind(Kind::Low | Kind::High) = t {
        sum += 7;
    } else {
        sum -= 1;
    }
    sum
}

pub fn match_integers(x: i64, y: u8) -> (u8, i64) {
    const LIMIT: i64 = 50;
    let a = match x {
        i64::MIN..=-1 => 0,
        0 => 1,
        1 | 3 | 5 => 2,
        2..10 => 3,
        LIMIT => 4,
        n if n % 2 == 0 => 5,
        i64::MAX => 6,
        _ => 7,
    };
    let b = match y {
        0 => 5,
        b'a'..=b'f' => y as i64 - 87,
        n @ 1..=9 => n as i64 * 10,
        other => -(other as i64),
    };
    (a, b)
}

pub fn match_chars_and_bools(c: char, a: bool, b: bool) -> (u32, u8) {
    let n = match c {
        '0'..='9' => c as u32 - '0' as u32,
        'a' | 'e' | 'i' | 'o' | 'u' => 100,
        '\u{80}'.. => 300,
        _ => 200,
    };
    let m = match a {
        true => match (a, b) {
            (_, true) => 3,
            (false, false) => 9,
            (true, false) => 2,
        },
        false => b as u8,
    };
    (n, m)
}

pub fn match_enums(t: Token, k: Kind) -> i64 {
    match t {
        Token::Number(n) if n > 100 => n,
        Token::Number(1 | 2) => 12,
        Token::Number(n @ 3..=9) => n * 10,
        Token::Number(_) => -1,
        Token::Pair { left: 0, .. } => 0,
        Token::Pair { left, right: c @ 'a'..='z' } => left as i64 + c as i64,
        Token::Pair { right, left: _ } => -(right as i64),
        Token::Kind(same) if same == k => 1000,
        Token::Kind(Kind::Low) => 1001,
        Token::Kind(Kind::Middle | Kind::High) => 1002,
        Token::End => match k {
            Kind::Low => 1,
            Kind::Middle => 2,
            Kind::High => 3,
        },
    }
}

pub fn match_tuples(t: Token, pair: (i64, Kind), flag: bool) -> i64 {
    match (t, pair, flag) {
        (Token::End, (0, _), true) => 1,
        (Token::End, (n, Kind::Low), _) if n < 0 => 2,
        (Token::Number(a), (b, _), _) if a > 5 && b > a => a,
        (Token::Kind(Kind::Low), (a, _), _) | (Token::Number(a), (_, Kind::High), _) => a + 1,
        (Token::Pair { left, .. }, (1..=5, k), false) => left as i64 * 10 + k as i64,
        (_, (n @ (7 | 8), Kind::Middle), _) => n * 100,
        (_, _, true) => -1,
        (_, _, false) => -2,
    }
}

pub fn match_through_references(tokens: &[Token], n: &Nested, i: usize) -> i64 {
    let mut sum = 0;
    match &tokens[i] {
        Token::Number(n) => sum += *n,
        Token::Pair { left, right } => sum += *left as i64 + *right as i64,
        Token::Kind(k) => sum += *k as i64,
        Token::End => sum -= 1,
    }
    match n {
        Nested(0, Point { x, .. }, _) => sum + *x as i64,
        Nested(k, Point { x: 1..=9, y }, (true, _)) => sum + *k as i64 * *y as i64,
        Nested(.., (_, [a, _, c])) => sum - (*a as i64 - *c as i64),
    }
}

pub fn match_and_change(token: &mut Token, p: &mut Point) -> i32 {
    match token {
        Token::Number(n) if *n < 0 => *token = Token::End,
        Token::Number(n) => *n += 1,
        Token::Pair { left, right } => {
            *left = left.wrapping_add(*right as u8);
            *right = '!';
        }
        Token::Kind(k) => *k = Kind::High,
        Token::End => *token = Token::Number(5),
    }
    let Point { x, y } = p;
    *x += *y;
    *y = 0;
    p.x
}

pub fn while_loops(n: u32) -> (u64, u32) {
    let mut i = 0;
    let mut sum = 1u64;
    while i < n && sum < 10_000 {
        sum = sum * 3 + i as u64;
        i += 1;
        if sum % 7 == 0 {
            continue;
        }
        if sum % 11 == 0 {
            break;
        }
    }
    (sum, i)
}

pub fn while_let(start: u8) -> (u8, u32) {
    let mut x = start;
    let mut rounds = 0;
    while let Some(next) = x.checked_sub(9) {
        x = next;
        rounds += 1;
    }
    let mut t = Token::Number(x as i64);
    while let Token::Number(n @ 1..) = t {
        t = if n > 3 { Token::Number(n - 2) } else { Token::End };
        rounds += 10;
    }
    (x, rounds)
}

pub fn loops_with_values(n: i64) -> (i64, (i64, bool)) {
    let mut i = 0;
    let root = loop {
        if i * i >= n {
            break i;
        }
        i += 1;
    };
    let pair = 'outer: loop {
        let mut j = 0;
        loop {
            j += 1;
            if j == 3 {
                break 'outer (j, false);
            }
            if j * root > 20 {
                break;
            }
        }
        if root > 3 {
            break (root, true);
        }
    };
    (root, pair)
}

pub fn ranges(a: i16, b: i16) -> (i64, i64, u32) {
    let (mut half_open, mut closed, mut count) = (0i64, 0i64, 0);
    for i in a..b {
        half_open = half_open * 3 % 10_007 + i as i64;
        count += 1;
    }
    for i in a..=b {
        closed = closed * 5 % 10_007 + i as i64;
    }
    for _ in 0..count {
        closed += 1;
    }
    (half_open, closed, count)
}

pub fn ranges_reversed_and_stepped(a: u8, b: u8, k: usize) -> [i64; 6] {
    let mut sums = [0i64; 6];
    for i in (a..b).rev() {
        sums[0] = sums[0] * 3 % 10_007 + i as i64;
    }
    for i in (a..=b).rev() {
        sums[1] = sums[1] * 3 % 10_007 + i as i64;
    }
    for i in (a..b).step_by(k) {
        sums[2] = sums[2] * 3 % 10_007 + i as i64;
    }
    for i in (a..=b).step_by(k) {
        sums[3] = sums[3] * 3 % 10_007 + i as i64;
    }
    for i in (a..b).rev().step_by(k) {
        sums[4] = sums[4] * 3 % 10_007 + i as i64;
    }
    for i in (a..=b).step_by(k).rev() {
        sums[5] = sums[5] * 3 % 10_007 + i as i64;
    }
    sums
}

pub fn slices(a: &[i64], points: &[Point], b: &mut [u8]) -> i64 {
    let mut sum = 0;
    for x in a {
        sum = sum * 3 + *x;
    }
    for &x in a {
        sum += x;
    }
    for p in points {
        sum += (p.x - p.y) as i64;
    }
    for &Point { x, .. } in points {
        sum ^= x as i64;
    }
    for x in b {
        *x = x.wrapping_mul(3);
        sum += *x as i64;
    }
    for x in &a[1..] {
        sum -= x;
    }
    sum
}

pub fn own_arrays(i: usize, v: i64) -> i64 {
    let mut a = [1, 2, v, 4];
    a[i] = 9;
    let mut sum = 0;
    for x in a {
        sum = sum * 10 + x;
    }
    for x in &a {
        sum += *x;
    }
    for x in &mut a {
        *x *= 2;
    }
    sum * 100 + a[i]
}

pub fn labels(n: u32) -> u32 {
    let mut sum = 0;
    'rows: for i in 0..n {
        'columns: for j in 0..n {
            if j > i {
                continue 'rows;
            }
            let mut k = 0;
            while k < j {
                k += 1;
                if k * i == 6 {
                    continue 'columns;
                }
                if k * j > 12 {
                    break 'rows;
                }
            }
            sum += i * j + k;
        }
        sum += 1000;
    }
    sum
}

pub fn early_returns(x: i64, a: &[i64]) -> i64 {
    if x < 0 {
        return -1;
    }
    for (i) in 0..a.len() {
        if a[i] == x {
            return i as i64;
        }
    }
    let y = if x > 100 { return 100 } else { x };
    match y {
        7 => return 77,
        _ => {}
    }
    y + 1000
}

fn checked(x: i64) -> Result<i64, Kind> {
    if x > 100 {
        Err(Kind::High)
    } else if x < 0 {
        Err(Kind::Low)
    } else {
        Ok(x * 2)
    }
}

fn chained(x: i64) -> Result<(i64, i64), Kind> {
    let a = checked(x)?;
    let b = checked(a + checked(x - 5)?)?;
    Ok((a, b))
}

fn halved(x: i64) -> Option<i64> {
    let half = if x % 2 == 0 { Some(x / 2) } else { None }?;
    Some(half - 1)
}

pub fn questions(x: i64) -> (Result<(i64, i64), Kind>, Option<i64>) {
    (chained(x), quartered(x))
}

fn quartered(x: i64) -> Option<i64> {
    halved(halved(x)?)
}

pub fn calls(x: i64, p: Point, t: &mut Token) -> (i64, Token) {
    let a = sum(x, p.x, swapped(p).y);
    (a + match_and_change(t, &mut swapped(p)) as i64, token(a as u8))
}

fn sum(a: i64, b: i32, c: i32) -> i64 {
    a * 100 + b as i64 * 10 + c as i64
}

fn swapped(p: Point) -> Point {
    Point { x: p.y, y: p.x }
}

pub fn recursion(n: u64) -> u64 {
    if n < 2 { n } else { recursion(n - 1) + recursion(n - 2) }
}

pub fn mutual_recursion(n: u32, t: Token) -> (bool, Token) {
    if n == 0 { (true, t) } else { odd(n - 1, token(n as u8)) }
}

fn odd(n: u32, t: Token) -> (bool, Token) {
    if n == 0 { (false, t) } else { mutual_recursion(n - 1, t) }
}

pub fn casts(a: i64, b: f64, c: char, d: bool) -> (i8, u16, f32, i32, u8, u32, u64, char, usize) {
    (a as i8, a as u16, a as f32, b as i32, b as u8, c as u32, d as u64, a as u8 as char, Kind::High as usize)
}

pub fn sub_slices(a: &[i64], b: &mut [u8], i: usize, j: usize) -> (i64, usize, u8) {
    let middle = &a[i..j];
    let tail = &a[i..];
    let head = &a[..j];
    let all = &a[..];
    let n = tail.len() * 100 + head.len() * 10 + all.len();
    let first = if middle.is_empty() { -1 } else { middle[0] + sum_of(&middle[1..]) };
    let part = &mut b[i..j];
    for x in part {
        *x += 1;
    }
    set_first(&mut b[i..], 40);
    set_first(&mut b[..j], 50);
    (first, n, b[0])
}

fn sum_of(a: &[i64]) -> i64 {
    let mut sum = 0;
    for x in a {
        sum += x;
    }
    sum
}

fn set_first(b: &mut [u8], v: u8) {
    if b.len() > 0 {
        b[0] = v;
    }
}

pub fn order_of_evaluation(log: &mut [u8], x: usize) -> i64 {
    let t = (note(log, 1), note(log, 2));
    let p = Point { y: note(log, 3) as i32, x: note(log, 4) as i32 };
    let a = [note(log, 5), note(log, 6)];
    let b = note(log, 7) - note(log, 8) * note(log, 9);
    let c = x > 3 && note(log, 10) > 0 || note(log, 11) > 0;
    let mut own = [0i64; 4];
    own[note(log, 1) as usize] = note(log, 2);
    own[note(log, 0) as usize] += note(log, 3);
    own[0] + own[1] * 10 + t.0 + p.x as i64 + a[1] + b + c as i64
}

fn note(log: &mut [u8], n: u8) -> i64 {
    let at = log[0] as usize + 1;
    log[at] = n;
    log[0] += 1;
    n as i64
}

pub fn match_floats(x: f64, y: f32) -> (u8, u8) {
    const HALF: f64 = 0.5;
    let a = match x {
        0.0 => 0,
        HALF => 1,
        -1.5 => 2,
        2.5 => 3,
        f64::INFINITY => 4,
        _ => 5,
    };
    let b = match y {
        0.25 => 1,
        -0.75 => 2,
        _ => 3,
    };
    (a, b)
}
