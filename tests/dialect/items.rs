//! Items: functions, methods, structs, enums, constants, tables, aliases, names from elsewhere, modules.

use hueshift::prelude::*;

mod beside;

use beside::deep::{self, Deep};
use beside::{Pair, SCALE, scaled as scale};

/// Adds one.
///
/// It says so in two paragraphs.
fn free(x: i64) -> i64 {
    x + 1
}

pub fn functions(x: i64) -> i64 {
    free(tripled(x)) - tripled(free(x))
}

fn tripled(x: i64) -> i64 {
    free(x) * 3
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    pub count: i64,
    step: i64,
}

impl Counter {
    const FIRST: i64 = 10;

    pub fn new(step: i64) -> Self {
        Counter { count: Self::FIRST, step }
    }

    fn value(self) -> i64 {
        self.count
    }

    fn twice(&self) -> i64 {
        self.count + Counter::value(*self)
    }

    fn bump(&mut self) -> i64 {
        self.count += self.step;
        self.twice()
    }

    fn bumped(mut self) -> Self {
        self.bump();
        self
    }
}

pub fn methods(step: i64) -> (i64, i64, Counter) {
    let mut counter = Counter::new(step);
    let before = counter.bump();
    let copy = counter.bumped();
    (before, counter.twice() + Counter::twice(&counter), copy)
}

pub fn methods_behind_a_reference(counter: &mut Counter) -> i64 {
    let a = counter.value() + counter.twice();
    counter.bump() + a
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Named {
    pub x: u8,
    pub y: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tuple(pub u8, pub Named);

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nothing;

pub fn structs(x: u8, y: f64) -> (Tuple, bool, Nothing) {
    let named = Named { y, x };
    let tuple = Tuple(named.x / 2, Named { x: 7, y: named.y });
    (tuple, tuple.1 == named, Nothing)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    Red,
    Green = 7,
    Blue,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    None,
    Int(i64),
    Pair(u8, f64),
    Named { color: Color, of: bool },
}

impl Value {
    fn number(&self) -> i64 {
        match self {
            Value::None => -1,
            Value::Int(n) => *n,
            Value::Pair(a, b) => *a as i64 + *b as i64,
            Value::Named { color, of: true } => *color as i64,
            Value::Named { color: Color::Blue, .. } => 100,
            Value::Named { .. } => 200,
        }
    }
}

pub fn enums(kind: u8, n: i64) -> (Value, i64, Color) {
    let color = if n > 3 { Color::Blue } else { Color::Green };
    let value = match kind {
        0 => Value::None,
        1 => Value::Int(n),
        2 => Value::Pair(n as u8, 2.5),
        3 => Value::Named { of: n > 0, color },
        _ => Value::Named { color: Color::Red, of: true },
    };
    (value, value.number(), color)
}

const LIMIT: i64 = 3 * SCALE + 1;
const WEIGHTS: [[i16; 2]; 3] = [[1, -2], [300, 400], [i16::MIN, i16::MAX]];
const PAIRS: &[(char, u64)] = &[('a', 1), ('ß', u64::MAX), ('\u{1F600}', 1 << 40)];
const SHAPES: [Value; 2] = [Value::Pair(9, 0.5), Value::Named { color: Color::Blue, of: false }];
static PRIMES: [u8; 4] = [2, 3, 5, 7];
static HALVES: [f32; 3] = [0.5, -1.5, 2.5];

pub fn constants(i: usize, j: usize) -> (i64, i16, (char, u64), Value) {
    const LOCAL: [bool; 2] = [true, false];
    let limit = if LOCAL[j % 2] { LIMIT } else { -LIMIT };
    (limit, WEIGHTS[i][j], PAIRS[j], SHAPES[i])
}

pub fn statics(i: usize) -> (u8, f32, usize) {
    (PRIMES[i], HALVES[i], PRIMES.len() + HALVES.len())
}

type Word = u16;
type Words = [Word; 2];
type Scalar = Value;

pub fn aliases(a: Word, b: Word) -> (Words, Scalar) {
    let words: Words = [a.rotate_left(4), b];
    (words, Scalar::Int(words[0] as i64))
}

type Real = f32;
type Tally = Cell<Word>;

pub fn names_of_aliases(x: i64, y: u8) -> (u32, Word, u16, Real) {
    let kind = match x as Word {
        Word::MIN => 1,
        Word::MAX => 2,
        3..Word::MAX => 3,
        _ => 4,
    };
    let tally = Tally::new(Word::from(y));
    tally.set(tally.get() + Word::max(kind, 2));
    (Word::BITS, tally.get(), kind, Real::EPSILON)
}

type Small = Cell<u8>;
type Single = Cell<Real>;

/// What is in a cell is what its alias says, whatever it begins with.
pub fn cells_of_aliases(x: u8) -> (i64, f32) {
    let small = Small::new(255);
    let before = small.get();
    small.set(before - x);
    ((before as i8) as i64 + (!small.get()) as i64 * 1000, Single::new(16777217.0).get())
}

pub fn names_from_siblings(x: i64) -> (Pair, i64, i64) {
    (Pair { left: x, right: scale(x) }, beside::scaled(x) + deep::depth(x), Deep(x).get() + free_of_prelude(x))
}

fn free_of_prelude(x: i64) -> i64 {
    concrete(LIMIT) + variable(x)
}

pub mod outer {
    use super::*;

    pub const OWN: i64 = 11;

    pub fn here(x: i64) -> i64 {
        self::inner::further(x) + super::free(x)
    }

    pub mod inner {
        pub fn further(x: i64) -> i64 {
            super::OWN * x + super::super::free(x) + super::LIMIT
        }
    }
}

pub fn nested_modules(x: i64) -> i64 {
    outer::here(x) + outer::inner::further(1) + outer::OWN
}
