//! Enums that are lent by `&` or `&mut`: they lie in a local's own memory, and are moved whole where that can be.

use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Top {
    Empty,
    One(i64),
    Two(i64, u8),
}

fn mix(top: &Top, x: i64) -> i64 {
    match *top {
        Top::Empty => x,
        Top::One(v) => v ^ x,
        Top::Two(v, b) => v + b as i64,
    }
}

fn mix_value(top: Top, x: i64) -> i64 {
    match top {
        Top::Empty => x,
        Top::One(v) => v ^ x,
        Top::Two(v, b) => v + b as i64,
    }
}

fn next(top: Top, n: i64) -> Top {
    match top {
        Top::Empty => Top::One(n),
        Top::One(v) => Top::Two(v, n as u8),
        Top::Two(_, _) => Top::Empty,
    }
}

#[portal(greens(code, pc), reds(top, x, n))]
fn run_lent(code: &[u8], mut pc: usize, mut top: Top, mut x: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return x + mix(&top, 0);
        }
        let op = code[pc];
        pc += 1;
        match op {
            b'p' => top = next(top, n),
            b'm' => x ^= mix(&top, x),
            b'x' => x = x * 3 + n,
            _ => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
        }
    }
}

#[portal(greens(code, pc), reds(top, x, n))]
fn run_by_value(code: &[u8], mut pc: usize, mut top: Top, mut x: i64, mut n: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return x + mix_value(top, 0);
        }
        let op = code[pc];
        pc += 1;
        match op {
            b'p' => top = next(top, n),
            b'm' => x ^= mix_value(top, x),
            b'x' => x = x * 3 + n,
            _ => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
        }
    }
}

fn first(kind: i64, x: i64) -> Top {
    match kind {
        0 => Top::Empty,
        1 => Top::One(x),
        _ => Top::Two(x, 7),
    }
}

pub fn lent(code: &[u8], kind: i64, x: i64, n: i64) -> i64 {
    run_lent(code, 0, first(kind, x), x, n)
}

pub fn by_value(code: &[u8], kind: i64, x: i64, n: i64) -> i64 {
    run_by_value(code, 0, first(kind, x), x, n)
}

/// Words of all types, and enums in structs, tuples, arrays and each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    top: Option<i64>,
    pair: (u8, Option<bool>),
    kinds: [Top; 2],
    real: Result<f64, f32>,
    inner: Option<Option<char>>,
}

impl State {
    fn step(&mut self, x: i64) {
        match self.top {
            Some(v) if v > 9 => self.top = None,
            Some(v) => self.top = Some(v + x),
            None => self.top = Some(1),
        }
        self.pair.1 = match self.pair.1 {
            None => Some(x % 2 == 0),
            Some(true) => Some(false),
            Some(false) => None,
        };
        self.pair.0 = self.pair.0.wrapping_add(200);
        self.kinds[(x & 1) as usize] = next(self.kinds[1], x);
        self.real = match self.real {
            Ok(v) => {
                if v > 2.0 {
                    Err(0.5)
                } else {
                    Ok(v + 0.75)
                }
            }
            Err(v) => Ok(v as f64),
        };
        self.inner = match self.inner {
            None => Some(None),
            Some(None) => Some(Some('a')),
            Some(Some(c)) => {
                if c == 'a' {
                    Some(Some('ß'))
                } else {
                    None
                }
            }
        };
    }

    fn sum(&self) -> i64 {
        let top = self.top.unwrap_or(-1);
        let pair = match self.pair {
            (n, None) => n as i64,
            (n, Some(b)) => n as i64 * 2 + b as i64,
        };
        let real = match self.real {
            Ok(v) => (v * 8.0) as i64,
            Err(v) => -((v * 8.0) as i64),
        };
        let inner = match self.inner {
            None => 0,
            Some(None) => 1,
            Some(Some(c)) => c as i64,
        };
        top + pair * 3 + mix(&self.kinds[0], 5) * 7 + mix(&self.kinds[1], 6) * 11 + real * 13 + inner * 17
    }
}

#[portal(greens(pc), reds(state, n, sum))]
fn run_nested(mut pc: usize, mut state: State, mut n: i64, mut sum: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 {
            let same = state.inner == Some(None) || state.kinds[1] == Top::One(1) || state.top == None;
            return sum * 2 + same as i64;
        }
        if pc == 0 {
            state.step(n);
            pc = 1;
        } else {
            sum = sum * 3 + state.sum();
            pc = 0;
            n -= 1;
            can_enter_jit!();
        }
    }
}

pub fn nested(n: i64, x: i64) -> i64 {
    let kinds = [Top::Empty, Top::Two(x, 3)];
    let state = State { top: Some(x), pair: (3, None), kinds, real: Ok(0.25), inner: None };
    run_nested(0, state, n, 0)
}

/// Numbers that lie across each other: these go by the tag.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Across {
    Bytes(u8, u8, i16),
    Long(i64),
    Real(f64),
    Nothing,
}

impl Across {
    fn turn(&mut self, x: i64) -> i64 {
        let was = match *self {
            Across::Bytes(a, b, c) => a as i64 + b as i64 * 2 + c as i64,
            Across::Long(v) => v,
            Across::Real(v) => v as i64,
            Across::Nothing => 0,
        };
        *self = match *self {
            Across::Bytes(..) => Across::Long(x * 1_000_003),
            Across::Long(v) => Across::Real(v as f64 / 2.0),
            Across::Real(_) => Across::Nothing,
            Across::Nothing => Across::Bytes(x as u8, 3, -5),
        };
        was
    }
}

#[portal(greens(way), reds(value, n, sum))]
fn run_across(way: bool, mut value: Across, mut n: i64, mut sum: i64) -> i64 {
    loop {
        merge_point!();
        if n <= 0 {
            return sum;
        }
        sum = sum * 3 + if way { value.turn(n) } else { -value.turn(n) };
        n -= 1;
        can_enter_jit!();
    }
}

pub fn across(way: bool, n: i64) -> i64 {
    run_across(way, Across::Nothing, n, 1)
}
