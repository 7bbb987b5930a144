use hueshift::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op { Add, Sub = 5, Mul, Neg = -3 }

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Level { Low = 10, High = 200 }

impl Op {
    fn weight(self) -> i32 { self as i32 * 10 }
    fn is_add(&self) -> bool { *self == Op::Add }
    fn of(n: u8) -> Op {
        match n { 0 => Op::Add, 1 => Op::Sub, 2 => Op::Mul, _ => Self::Neg }
    }
}

type Word = u16;
const WIDTH: usize = 2 + 1;
const TABLE: [[Word; WIDTH]; 2] = [[1, 2, 3], [500, 600, 700]];
const FLAGS: u8 = !0 << 4 | 1;
const PAIRS: &[(u8, i64)] = &[(1, -1), (2, i64::MIN), (3, 30)];
const NAME: &str = "hue\n";
const RAW: &[u8; 4] = b"\x00ab\xff";
static PRIMES: [u32; 5] = [2, 3, 5, 7, 11];
const THIRD: f64 = 1.0 / 3.0;
const BIG: u64 = u64::MAX - TABLE[1][2] as u64;
const LEVELS: [Level; 2] = [Level::High, Level::Low];

pub mod inner {
    use super::*;
    pub const SHIFT: u32 = super::WIDTH as u32;
    pub fn shifted(x: i64) -> i64 { x << SHIFT }
    pub mod deep {
        pub struct Thing { pub n: i64 }
        impl Thing { pub fn get(&self) -> i64 { self.n + super::SHIFT as i64 } }
        pub fn thing(n: i64) -> Thing { Thing { n } }
    }
}

use inner::deep::{self, Thing};

pub fn enums(n: u8) -> (i32, bool, Op, u8) {
    let op = Op::of(n);
    let level = if n > 1 { Level::High } else { Level::Low };
    let r = match op {
        Op::Add => 1,
        Op::Sub | Op::Mul => 2,
        Op::Neg => 3,
    };
    (op.weight() + r, op.is_add(), op, level as u8 + matches_level(level))
}

fn matches_level(l: Level) -> u8 {
    match l { Level::Low => 1, Level::High => 2 }
}

pub fn consts(i: usize, j: usize) -> (u16, u8, i64, u32, f64, u64, u8) {
    const LOCAL: [u8; 2] = [FLAGS, FLAGS / 2];
    let row = TABLE[i];
    let n = NAME.len() + RAW.len();
    (row[j] + TABLE[1][j], LOCAL[i], PAIRS[j].1, PRIMES[i + j] * n as u32, THIRD * 3.0, BIG, LEVELS[i] as u8)
}

pub fn bytes_of(i: usize) -> (u8, u8, u8, usize) {
    let s = b"xyz";
    (RAW[i], NAME.as_bytes()[i], s[i % 3], PAIRS.len())
}

pub fn modules(x: i64) -> i64 {
    let t: Thing = deep::thing(x);
    inner::shifted(t.get()) + crate_like(x)
}

fn crate_like(x: i64) -> i64 { self::inner::shifted(x) }

pub fn pattern_consts(x: u8) -> u8 {
    const LOW: u8 = 3;
    const HIGH: u8 = LOW * 4;
    match x {
        LOW => 1,
        HIGH => 2,
        LOW..=HIGH => 3,
        FLAGS => 4,
        u8::MAX => 5,
        _ => 6,
    }
}

pub fn conversions(a: u8, c: char) -> (i64, u32, f64, u64, char, bool) {
    (i64::from(a), u32::from(c), f64::from(a), u64::from(a > 3), char::from(a), bool::from(a == 0))
}

pub fn hints(x: i64, y: u8) -> (i64, u8, bool) {
    let a = concrete(x) + variable(3);
    let b = promote(y);
    if likely(a > 3) && !we_are_jitted() { (a, b, is_constant(x)) } else { (0, 0, true) }
}

mod left {
    use super::right::*;
    use super::*;
    pub fn one(x: i64) -> i64 { two(x) + x }
}

mod right {
    use super::left::*;
    use super::*;
    pub fn two(x: i64) -> i64 { if x > 5 { x } else { one(x + 1) } }
}

pub fn globs(x: i64) -> i64 {
    use_left(x)
}

use left::*;
use right::*;

fn use_left(x: i64) -> i64 { one(x) * 10 + two(x) }
