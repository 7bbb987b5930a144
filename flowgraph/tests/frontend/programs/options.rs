use hueshift::prelude::*;

fn less_one(x: i64) -> Result<i64, i64> {
    if x == 0 { Err(1) } else { Ok(x - 1) }
}

fn half(x: i64) -> Option<i64> {
    if x % 2 != 0 { return None; }
    Some(x / 2)
}

fn quarter(x: i64) -> Option<i64> {
    let h = half(x)?;
    half(h)
}

fn chained(x: i64, log: &mut [i64]) -> Result<(i64, bool), i64> {
    log[0] += 1;
    let a = less_one(x)?;
    log[1] += a;
    let b = less_one(a)?;
    log[2] += b;
    Ok((b, a > b))
}

fn given(v: Option<i64>, d: Option<(u8, f64)>) -> f64 {
    match (v, d) {
        (Some(1), None) => 1.0,
        (Some(n), Some((b, f))) if n > 3 => n as f64 + b as f64 + f,
        (None, Some((_, f))) => f,
        (Some(n), _) => n as f64 * 2.0,
        (None, None) => -1.0,
    }
}

pub fn options(x: i64) -> (i64, i64, bool, bool) {
    let q = match quarter(x) { Some(q) => q, None => -7 };
    let h = half(x).unwrap_or(99);
    (q, h, half(x).is_some() && quarter(x).is_none(), half(x) == Some(3))
}

pub fn results(x: i64, log: &mut [i64]) -> i64 {
    match chained(x, log) {
        Ok((b, true)) => b,
        Ok((b, false)) => b + 1000,
        Err(e) if log[0] > 5 => e,
        Err(e) => -e,
    }
}

pub fn pairs(x: i64) -> (f64, f64, f64, f64) {
    let v = if x > 2 { Some(x) } else { None };
    let mut d = None;
    if x % 2 == 0 { d = Some((x as u8, 0.5)); }
    (given(v, d), given(v, None), given(None, d), given(Some(1), None))
}

pub fn unwrapped(x: i64) -> i64 {
    let a = half(x).expect("must be even");
    let b = less_one(a).unwrap();
    less_one(b).expect("twice") + quarter(x).unwrap()
}

pub fn loops(n: i64) -> i64 {
    let mut best: Option<i64> = None;
    for i in 0..n {
        best = match best {
            None => Some(i * 3 % 7),
            Some(b) if i * 3 % 7 > b => Some(i * 3 % 7),
            kept => kept,
        };
    }
    let mut x = n * 64;
    while let Some(h) = half(x) {
        if h == 0 { break; }
        x = h;
    }
    best.unwrap_or(-1) * 1000 + x
}
