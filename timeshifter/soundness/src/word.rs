//! Integers that are terms, with the names and the arithmetic of Rust's.
//!
//! Where Rust's arithmetic panics in a debug build (an overflow, an amount that is too large, a division by zero) there
//! is a condition for that to be never so.

use crate::explore::{Merge, decide, panics_if};
use crate::term::{Op, Term, apply, at_most, at_most_unsigned, both, choice, either, extended, isnt, number, same};

/// What a literal may be.
pub trait Literal: Copy {
    /// The number.
    fn of(value: i128) -> Self;
}

/// An integer type.
pub trait Word: Literal + Merge {
    /// Its bits.
    const WIDTH: u32;
    /// Whether it has a sign.
    const SIGNED: bool;
    /// From its term.
    fn from_term(term: Term) -> Self;
    /// Its term.
    fn term(self) -> Term;
}

/// What operators take.
#[allow(missing_docs)]
pub trait Arithmetic: Literal {
    fn apply(self, op: Op, other: Self) -> Self;
    fn shifted(self, op: Op, amount: Term) -> Self;
}

/// A literal.
pub fn lit<T: Literal>(value: i128) -> T {
    T::of(value)
}

macro_rules! operators {
    ($($name:ident $op:ident)*) => {$(
        #[allow(missing_docs)]
        pub fn $name<T: Arithmetic>(a: T, b: T) -> T {
            a.apply(Op::$op, b)
        }
    )*};
}

operators! { add Add sub Sub mul Mul div Udiv rem Urem and And or Or xor Xor }

/// A literal that says how far is shifted.
pub fn amount(amount: U32) -> U32 {
    amount
}

#[allow(missing_docs)]
pub fn shl<T: Arithmetic>(a: T, amount: impl Word) -> T {
    a.shifted(Op::Shl, amount.term())
}

#[allow(missing_docs)]
pub fn shr<T: Arithmetic>(a: T, amount: impl Word) -> T {
    a.shifted(Op::Lshr, amount.term())
}

macro_rules! comparisons {
    ($($name:ident $bound:ident $mark:tt)*) => {$(
        #[allow(missing_docs)]
        pub fn $name<T: $bound + ?Sized>(a: &T, b: &T) -> bool {
            a $mark b
        }
    )*};
}

comparisons! { lt PartialOrd < le PartialOrd <= gt PartialOrd > ge PartialOrd >= eq PartialEq == ne PartialEq != }

/// A cast.
pub trait CastFrom<S> {
    /// As `as` does it.
    fn cast(from: S) -> Self;
}

/// All from one to another one, both included.
pub fn up_to(first: U32, last: U32) -> impl Iterator<Item = U32> {
    let next = move |at: U32| (at <= last).then_some(at);
    std::iter::successors(next(first), move |at| next(at.apply(Op::Add, lit(1)))).take(64)
}

/// `std::iter::successors`, of which no more than eight are wanted: that there are more would be a mistake.
pub fn successors<T: Copy>(first: Option<T>, next: impl FnMut(&T) -> Option<T>) -> impl Iterator<Item = T> {
    let counted = move |(at, value)| {
        if at == 8 {
            crate::explore::never();
        }
        value
    };
    std::iter::successors(first, next).enumerate().map(counted)
}

fn half(width: u32) -> Term {
    number(1 << (width - 1), width)
}

/// Whether what an op gives isn't the exact result.
fn overflows(op: Op, signed: bool, a: Term, b: Term) -> Term {
    let width = a.width();
    let exact = |op, bits| {
        let extend = if signed { Op::Sext } else { Op::Zext };
        let (a, b) = (extended(extend, a, bits), extended(extend, b, bits));
        let wide = apply(op, &[a, b]);
        isnt(same(wide, extended(extend, apply(Op::Extract(width - 1, 0), &[wide]), bits)))
    };
    let sign = |of: &[Term]| {
        apply(Op::Slt, &[of.iter().skip(1).fold(of[0], |a, b| apply(Op::And, &[a, *b])), number(0, width)])
    };
    match (op, signed) {
        (Op::Add, true) => {
            let sum = apply(op, &[a, b]);
            sign(&[apply(Op::Xor, &[a, sum]), apply(Op::Xor, &[b, sum])])
        }
        (Op::Sub, true) => sign(&[apply(Op::Xor, &[a, b]), apply(Op::Xor, &[a, apply(op, &[a, b])])]),
        (Op::Add, false) => apply(Op::Ult, &[apply(op, &[a, b]), a]),
        (Op::Sub, false) => apply(Op::Ult, &[a, b]),
        (Op::Mul, _) if width <= 64 => exact(op, 2 * width),
        // These come from numbers of 64 bits.
        _ => number(0, 0),
    }
}

/// How many zeros there are before the first one, or behind the last one.
fn zeros(term: Term, leading: bool) -> Term {
    let width = term.width();
    let (away, back) = if leading { (Op::Lshr, Op::Shl) } else { (Op::Shl, Op::Lshr) };
    let none = number(0, width);
    let mut rest = term;
    let mut count = number(0, 32);
    let mut step = width / 2;
    while step > 0 {
        let is_empty = same(apply(away, &[rest, number((width - step).into(), width)]), none);
        rest = choice(is_empty, apply(back, &[rest, number(step.into(), width)]), rest);
        count = apply(Op::Or, &[count, choice(is_empty, number(step.into(), 32), number(0, 32))]);
        step /= 2;
    }
    choice(same(term, none), number(width.into(), 32), count)
}

fn ones(term: Term) -> Term {
    let width = term.width();
    let bit = |at| extended(Op::Zext, apply(Op::Extract(at, at), &[term]), 32);
    (1..width).fold(bit(0), |sum, at| apply(Op::Add, &[sum, bit(at)]))
}

fn resized(term: Term, signed: bool, width: u32) -> Term {
    match term.width() {
        own if own > width => apply(Op::Extract(width - 1, 0), &[term]),
        _ => extended(if signed { Op::Sext } else { Op::Zext }, term, width),
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident $width:literal $signed:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(Term);

        impl Literal for $name {
            fn of(value: i128) -> Self {
                $name(number(value as u128, $width))
            }
        }

        impl Merge for $name {
            fn widths(found: &mut Vec<u32>) {
                found.push($width);
            }

            fn put(&self, found: &mut Vec<Option<Term>>) {
                found.push(Some(self.0));
            }

            fn take(terms: &mut impl Iterator<Item = Term>) -> Self {
                $name(terms.next().expect("as many as were put"))
            }
        }

        impl Word for $name {
            const WIDTH: u32 = $width;
            const SIGNED: bool = $signed;

            fn from_term(term: Term) -> Self {
                assert_eq!(term.width(), $width);
                $name(term)
            }

            fn term(self) -> Term {
                self.0
            }
        }

        impl Arithmetic for $name {
            fn apply(self, op: Op, other: Self) -> Self {
                let (a, b) = (self.0, other.0);
                let op = match op {
                    Op::Udiv if $signed => Op::Sdiv,
                    Op::Urem if $signed => Op::Srem,
                    op => op,
                };
                match op {
                    Op::Add | Op::Sub | Op::Mul => panics_if(overflows(op, $signed, a, b)),
                    Op::Udiv | Op::Urem => panics_if(same(b, number(0, $width))),
                    Op::Sdiv | Op::Srem => {
                        let out = both(same(a, half($width)), same(b, number(u128::MAX, $width)));
                        panics_if(either(same(b, number(0, $width)), out));
                    }
                    _ => {}
                }
                $name(apply(op, &[a, b]))
            }

            fn shifted(self, op: Op, amount: Term) -> Self {
                panics_if(at_most_unsigned(number($width, amount.width()), amount));
                let amount = resized(amount, false, $width);
                let op = if op == Op::Lshr && $signed { Op::Ashr } else { op };
                $name(apply(op, &[self.0, amount]))
            }
        }

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                decide(same(self.0, other.0))
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                use std::cmp::Ordering as O;
                Some(if self.lt(other) { O::Less } else if self == other { O::Equal } else { O::Greater })
            }

            fn lt(&self, other: &Self) -> bool {
                decide(self.is_less(*other))
            }

            fn le(&self, other: &Self) -> bool {
                !decide(other.is_less(*self))
            }

            fn gt(&self, other: &Self) -> bool {
                other < self
            }

            fn ge(&self, other: &Self) -> bool {
                !decide(self.is_less(*other))
            }
        }

        impl std::ops::Not for $name {
            type Output = Self;

            fn not(self) -> Self {
                $name(apply(Op::Not, &[self.0]))
            }
        }

        impl std::ops::Neg for $name {
            type Output = Self;

            fn neg(self) -> Self {
                lit::<Self>(0).apply(Op::Sub, self)
            }
        }

        impl From<bool> for $name {
            fn from(from: bool) -> Self {
                Self::cast(from)
            }
        }

        impl CastFrom<bool> for $name {
            fn cast(from: bool) -> Self {
                <Self as Literal>::of(from.into())
            }
        }

        #[allow(missing_docs, non_snake_case, clippy::should_implement_trait)]
        impl $name {
            pub fn MIN() -> Self {
                $name(if $signed { half($width) } else { number(0, $width) })
            }

            pub fn MAX() -> Self {
                !Self::MIN()
            }

            pub fn of(value: impl TryInto<i128>) -> Self {
                <Self as Literal>::of(value.try_into().ok().expect("it fits"))
            }

            pub fn is_less(self, other: Self) -> Term {
                apply(if $signed { Op::Slt } else { Op::Ult }, &[self.0, other.0])
            }

            pub fn min(self, other: Self) -> Self {
                $name(choice(other.is_less(self), other.0, self.0))
            }

            pub fn max(self, other: Self) -> Self {
                $name(choice(self.is_less(other), other.0, self.0))
            }

            pub fn clamp(self, least: Self, most: Self) -> Self {
                self.max(least).min(most)
            }

            pub fn wrapping_add(self, other: Self) -> Self {
                $name(apply(Op::Add, &[self.0, other.0]))
            }

            pub fn wrapping_sub(self, other: Self) -> Self {
                $name(apply(Op::Sub, &[self.0, other.0]))
            }

            pub fn wrapping_mul(self, other: Self) -> Self {
                $name(apply(Op::Mul, &[self.0, other.0]))
            }

            pub fn wrapping_neg(self) -> Self {
                Self::of(0).wrapping_sub(self)
            }

            pub fn checked_add(self, other: Self) -> Option<Self> {
                (!decide(overflows(Op::Add, $signed, self.0, other.0))).then(|| self.wrapping_add(other))
            }

            pub fn checked_sub(self, other: Self) -> Option<Self> {
                (!decide(overflows(Op::Sub, $signed, self.0, other.0))).then(|| self.wrapping_sub(other))
            }

            pub fn saturating_sub(self, other: Self) -> Self {
                assert!(!$signed);
                $name(choice(self.is_less(other), number(0, $width), self.wrapping_sub(other).0))
            }

            pub fn checked_div(self, other: Self) -> Option<Self> {
                if other == Self::of(0) || $signed && self == Self::MIN() && other == Self::of(-1) {
                    return None;
                }
                Some($name(apply(if $signed { Op::Sdiv } else { Op::Udiv }, &[self.0, other.0])))
            }

            pub fn checked_shr(self, amount: U32) -> Option<Self> {
                (amount < U32::of($width)).then(|| shr(self, amount))
            }

            pub fn abs_diff(self, other: Self) -> U64 {
                let (a, b) = (self.wrapping_sub(other).0, other.wrapping_sub(self).0);
                U64::from_term(choice(self.is_less(other), b, a))
            }

            pub fn abs(self) -> Self {
                panics_if(same(self.0, half($width)));
                $name(choice(self.is_less(Self::of(0)), self.wrapping_neg().0, self.0))
            }

            pub fn unsigned_abs(self) -> U64 {
                U64::from_term(choice(self.is_less(Self::of(0)), self.wrapping_neg().0, self.0))
            }

            pub fn leading_zeros(self) -> U32 {
                U32(zeros(self.0, true))
            }

            pub fn trailing_zeros(self) -> U32 {
                U32(zeros(self.0, false))
            }

            pub fn count_ones(self) -> U32 {
                U32(ones(self.0))
            }

            pub fn ilog2(self) -> U32 {
                panics_if(same(self.0, number(0, $width)));
                U32::of($width - 1).wrapping_sub(self.leading_zeros())
            }

            pub fn is_power_of_two(self) -> bool {
                let less = self.wrapping_sub(Self::of(1));
                let is_one = isnt(same(self.0, number(0, $width)));
                decide(both(is_one, same(apply(Op::And, &[self.0, less.0]), number(0, $width))))
            }

            pub fn swap_bytes(self) -> Self {
                let bytes: Vec<Term> = (0..$width / 8).map(|at| apply(Op::Extract(8 * at + 7, 8 * at), &[self.0])).collect();
                $name(apply(Op::Concat, &bytes))
            }

            pub fn reverse_bits(self) -> Self {
                let bits: Vec<Term> = (0..$width).map(|at| apply(Op::Extract(at, at), &[self.0])).collect();
                $name(apply(Op::Concat, &bits))
            }
        }
    )*};
}

words! {
    /// `i64`.
    I64 64 true;
    /// `u64`.
    U64 64 false;
    /// `i128`.
    I128 128 true;
    /// `u128`.
    U128 128 false;
    /// `u32`.
    U32 32 false;
}

macro_rules! casts {
    ($($from:ident: $($to:ident)*;)*) => {$($(
        impl CastFrom<$from> for $to {
            fn cast(from: $from) -> Self {
                $to(resized(from.0, $from::SIGNED, $to::WIDTH))
            }
        }
    )*)*};
}

casts! {
    I64: I64 U64 I128 U128 U32;
    U64: I64 U64 I128 U128 U32;
    I128: I64 U64 I128 U128 U32;
    U128: I64 U64 I128 U128 U32;
    U32: I64 U64 I128 U128 U32;
}

macro_rules! from {
    ($($from:ident $to:ident)*) => {$(
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                Self::cast(from)
            }
        }
    )*};
}

from! { I64 I128 U64 I128 U64 U128 U32 I64 U32 U64 U32 I128 U32 U128 }

macro_rules! narrow {
    ($($from:ident)*) => {$(
        impl CastFrom<$from> for I64 {
            fn cast(from: $from) -> Self {
                I64::of(from)
            }
        }
    )*};
}

narrow! { i8 i16 i32 u8 u16 u32 }

impl TryFrom<U128> for U64 {
    type Error = ();

    fn try_from(from: U128) -> Result<U64, ()> {
        if from <= U128::from(U64::MAX()) { Ok(U64::cast(from)) } else { Err(()) }
    }
}

impl Literal for usize {
    fn of(value: i128) -> usize {
        value as usize
    }
}

impl Arithmetic for usize {
    fn apply(self, op: Op, other: Self) -> Self {
        assert_eq!(op, Op::Add);
        self + other
    }

    fn shifted(self, _: Op, _: Term) -> Self {
        unreachable!("no such number is shifted")
    }
}

impl CastFrom<bool> for usize {
    fn cast(from: bool) -> usize {
        from.into()
    }
}

impl CastFrom<U32> for usize {
    fn cast(from: U32) -> usize {
        from.0.value().expect("it is known") as usize
    }
}

/// The least and the most that a word may be.
pub fn lies_between(term: Term, least: Term, most: Term) -> Term {
    both(at_most(least, term), at_most(term, most))
}
