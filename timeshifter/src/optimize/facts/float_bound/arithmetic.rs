//! What ops on floats give.
//!
//! Products, quotients and remainders go by sign: between numbers of one sign each, they are monotone in the
//! magnitudes, and the sign of the result, also of a zero, is known.

use super::{FloatBound, at_most, larger, smaller};
use crate::optimize::int_bound::IntBound;

/// The numbers of one sign: magnitudes from the first to the second.
#[derive(Clone, Copy)]
struct Part {
    negative: bool,
    lower: f64,
    upper: f64,
}

impl FloatBound {
    /// `self + other`.
    pub fn add_bound(self, other: Self) -> Self {
        let opposite = |a: Self, b: Self| a.contains(f64::INFINITY) && b.contains(f64::NEG_INFINITY);
        let nan = self.nan || other.nan || opposite(self, other) || opposite(other, self);
        if !self.may_be_number() || !other.may_be_number() {
            return Self::only_nan();
        }
        // Ends of opposite infinities: one operand is this one infinity, and so is each sum that is a number.
        let (lower, upper) = (self.lower + other.lower, self.upper + other.upper);
        let lower = if lower.is_nan() { f64::INFINITY } else { lower };
        let upper = if upper.is_nan() { f64::NEG_INFINITY } else { upper };
        Self::made(lower, upper, nan).unwrap_or(Self::only_nan())
    }

    /// `self - other`.
    pub fn sub_bound(self, other: Self) -> Self {
        self.add_bound(other.neg_bound())
    }

    /// `self * other`.
    pub fn mul_bound(self, other: Self) -> Self {
        let nan = self.may_be_zero() && other.may_be_infinite() || self.may_be_infinite() && other.may_be_zero();
        // Zero times infinity among ends: of the rest all products are infinite, or all are zero.
        self.by_parts(other, nan, |a, b| (a.lower * b.lower, a.upper * b.upper))
    }

    /// `self / other`.
    pub fn truediv_bound(self, other: Self) -> Self {
        let nan = self.may_be_zero() && other.may_be_zero() || self.may_be_infinite() && other.may_be_infinite();
        self.by_parts(other, nan, |a, b| (a.lower / b.upper, a.upper / b.lower))
    }

    /// The remainder: it has the sign of `self`, and is smaller than both, or `self` itself.
    pub fn mod_bound(self, other: Self) -> Self {
        let nan = self.may_be_infinite() || other.may_be_zero();
        let remainders = |a: Part, b: Part| {
            let kept = a.upper < b.lower;
            (if kept { a.lower } else { 0.0 }, a.upper.min(b.upper).min(f64::MAX))
        };
        self.by_parts(other.abs_bound(), nan, remainders)
    }

    /// `-self`.
    pub fn neg_bound(self) -> Self {
        FloatBound { lower: -self.upper, upper: -self.lower, nan: self.nan }
    }

    /// The absolute value.
    pub fn abs_bound(self) -> Self {
        let found = self.parts().map(|part| Part { negative: false, ..part }.bound()).reduce(Self::join);
        self.with_numbers(found)
    }

    /// The square root.
    pub fn sqrt_bound(self) -> Self {
        let nan = self.nan || self.lower < 0.0;
        let lower = larger(self.lower, -0.0);
        if at_most(lower, self.upper) {
            FloatBound { lower: lower.sqrt(), upper: self.upper.sqrt(), nan }
        } else {
            Self::only_nan()
        }
    }

    /// The largest integer not above.
    pub fn floor_bound(self) -> Self {
        self.monotone(f64::floor)
    }

    /// The smallest integer not below.
    pub fn ceil_bound(self) -> Self {
        self.monotone(f64::ceil)
    }

    /// The integer part.
    pub fn trunc_bound(self) -> Self {
        self.monotone(f64::trunc)
    }

    /// The nearest integer, ties to even.
    pub fn nearest_bound(self) -> Self {
        self.monotone(f64::round_ties_even)
    }

    /// The smaller; the other one if one is NaN.
    pub fn min_bound(self, other: Self) -> Self {
        let lower = smaller(self.lower, other.lower);
        self.choice(other, lower, smaller(self.upper, other.upper))
    }

    /// The larger; the other one if one is NaN.
    pub fn max_bound(self, other: Self) -> Self {
        let lower = larger(self.lower, other.lower);
        self.choice(other, lower, larger(self.upper, other.upper))
    }

    /// `self` with the sign of `other`.
    pub fn copysign_bound(self, other: Self) -> Self {
        let positive = self.abs_bound();
        let signs = other.parts().map(|part| part.negative);
        let (plus, minus) =
            signs.fold((other.nan, other.nan), |(plus, minus), negative| (plus || !negative, minus || negative));
        match (plus, minus) {
            (true, false) => positive,
            (false, _) => positive.neg_bound(),
            (true, true) => positive.join(positive.neg_bound()),
        }
    }

    /// `a` if `cond` isn't zero, else `b`.
    pub fn select(cond: IntBound, a: Self, b: Self) -> Self {
        match (cond.contains(0), cond.is_constant()) {
            (false, _) => a,
            (true, true) => b,
            (true, false) => a.join(b),
        }
    }

    /// The float of a signed integer.
    pub fn cast_int_to_float(int: IntBound) -> Self {
        FloatBound { lower: int.lower() as f64, upper: int.upper() as f64, nan: false }
    }

    /// The float of an unsigned integer.
    pub fn cast_uint_to_float(int: IntBound) -> Self {
        FloatBound { lower: int.unsigned_lower() as f64, upper: int.unsigned_upper() as f64, nan: false }
    }

    /// The signed integer, saturating; 0 for NaN.
    pub fn cast_float_to_int(self) -> IntBound {
        let numbers =
            if self.may_be_number() { IntBound::from_range(self.lower as i64, self.upper as i64) } else { None };
        self.or_zero(numbers)
    }

    /// The unsigned integer, saturating; 0 for NaN.
    pub fn cast_float_to_uint(self) -> IntBound {
        let numbers = || IntBound::from_unsigned_range(self.lower as u64, self.upper as u64);
        self.or_zero(if self.may_be_number() { numbers() } else { None })
    }

    fn or_zero(self, numbers: Option<IntBound>) -> IntBound {
        let zero = IntBound::constant(0);
        match numbers {
            Some(numbers) if self.nan => numbers.join(zero),
            Some(numbers) => numbers,
            None => zero,
        }
    }

    fn may_be_zero(self) -> bool {
        self.lower <= 0.0 && self.upper >= 0.0
    }

    fn may_be_infinite(self) -> bool {
        self.contains(f64::INFINITY) || self.contains(f64::NEG_INFINITY)
    }

    fn monotone(self, op: impl Fn(f64) -> f64) -> Self {
        FloatBound { lower: op(self.lower), upper: op(self.upper), nan: self.nan }
    }

    /// One of two, by order: what both numbers give, and either's numbers if the other may be NaN.
    fn choice(self, other: Self, lower: f64, upper: f64) -> Self {
        let both = self.may_be_number() && other.may_be_number();
        let chosen = if both { Self::made(lower, upper, false) } else { None };
        let first = if other.nan { self.without_nan() } else { None };
        let second = if self.nan { other.without_nan() } else { None };
        let found = Self::join_options(chosen, Self::join_options(first, second));
        FloatBound { nan: self.nan && other.nan, ..Self::only_nan() }.with_numbers(found)
    }

    /// These numbers, and NaN if `self` may be.
    fn with_numbers(self, numbers: Option<Self>) -> Self {
        match numbers {
            Some(numbers) => FloatBound { nan: self.nan, ..numbers },
            None => Self::only_nan(),
        }
    }

    /// The positive numbers with 0.0, and the negative ones with -0.0.
    fn parts(self) -> impl Iterator<Item = Part> + Clone {
        let positive = Part { negative: false, lower: larger(self.lower, 0.0), upper: self.upper };
        let negative = Part { negative: true, lower: larger(-self.upper, 0.0), upper: -self.lower };
        [positive, negative].into_iter().filter(|part| at_most(part.lower, part.upper))
    }

    /// An op that computes magnitudes and signs apart, from the ends of magnitudes. Where an end would be NaN, no
    /// number is smaller than infinity, or larger than zero.
    fn by_parts(self, other: Self, nan: bool, op: impl Fn(Part, Part) -> (f64, f64)) -> Self {
        let mut found = None;
        for a in self.parts() {
            for b in other.parts() {
                let (lower, upper) = op(a, b);
                let lower = if lower.is_nan() { f64::INFINITY } else { lower };
                let upper = if upper.is_nan() { 0.0 } else { upper };
                let part = Part { negative: a.negative != b.negative, lower, upper };
                if at_most(lower, upper) {
                    found = Self::join_options(found, Some(part.bound()));
                }
            }
        }
        FloatBound { nan: self.nan || other.nan || nan, ..Self::only_nan() }.with_numbers(found)
    }
}

impl Part {
    fn bound(self) -> FloatBound {
        let positive = FloatBound { lower: self.lower, upper: self.upper, nan: false };
        if self.negative { positive.neg_bound() } else { positive }
    }
}
