//! What is known of a float: an interval of numbers, and whether it may be NaN.
//!
//! ```
//! # use timeshifter::optimize::float_bound::FloatBound;
//! let x = FloatBound::from_range(0.5, 2.0).expect("not empty");
//! let y = x.sub_bound(FloatBound::constant(1.0));
//! assert_eq!(y.to_string(), "-0.5..=1.0");
//! assert_eq!(x.truediv_bound(y).to_string(), "-inf..=inf");
//! assert!(y.sqrt_bound().may_be_nan());
//! assert_eq!(x.known_gt(FloatBound::constant(0.0)), Some(true));
//! ```
//!
//! The order of the interval is that of the numbers, with -0.0 before 0.0: from a lower end of 0.0 follows that the
//! value isn't -0.0. All NaNs are one. An interval is empty if only NaN is possible; never is nothing possible:
//! operations that may find a contradiction answer `None`.
//!
//! Rounding to nearest keeps the order, so the ends of a result are those that the op itself computes from ends; what
//! takes care are zeros, infinities and the NaNs that come of them. (Interval arithmetic: IEEE 1788; the rounding
//! outward there is for enclosing exact results, which nobody here asks for.)

mod arithmetic;
mod compare;
mod transfer;

use std::fmt;
use std::hash::{Hash, Hasher};

/// What is known of an `f64`.
#[derive(Clone, Copy)]
pub struct FloatBound {
    /// Not NaN; positive infinity if no number is possible.
    lower: f64,
    /// Not NaN; negative infinity if no number is possible.
    upper: f64,
    nan: bool,
}

/// Where a growing lower end may rest; the upper one at their opposites.
const THRESHOLDS: [f64; 8] = [1.0, 0.0, -0.0, -1.0, -2147483648.0, -9007199254740992.0, f64::MIN, f64::NEG_INFINITY];

impl FloatBound {
    /// How often [`widen`](Self::widen) can answer with something else than what it was given, at the most: an end for
    /// each threshold, the first numbers, and NaN.
    pub const WIDENING_STEPS: usize = 2 * THRESHOLDS.len() + 2;

    /// Nothing known.
    pub const fn unbounded() -> Self {
        FloatBound { lower: f64::NEG_INFINITY, upper: f64::INFINITY, nan: true }
    }

    /// Any number, the infinities among them, but not NaN.
    pub const fn number() -> Self {
        FloatBound { lower: f64::NEG_INFINITY, upper: f64::INFINITY, nan: false }
    }

    /// Just NaN.
    pub const fn only_nan() -> Self {
        FloatBound { lower: f64::INFINITY, upper: f64::NEG_INFINITY, nan: true }
    }

    /// Just `c`.
    pub const fn constant(c: f64) -> Self {
        if c.is_nan() { Self::only_nan() } else { FloatBound { lower: c, upper: c, nan: false } }
    }

    /// Numbers from `lower` to `upper`, both included; `None` if that is empty or an end is NaN.
    pub fn from_range(lower: f64, upper: f64) -> Option<Self> {
        if lower.is_nan() || upper.is_nan() { None } else { Self::made(lower, upper, false) }
    }

    /// The same numbers, and NaN.
    pub const fn or_nan(self) -> Self {
        FloatBound { nan: true, ..self }
    }

    /// The same numbers, without NaN; `None` if there is no number.
    pub fn without_nan(self) -> Option<Self> {
        Self::made(self.lower, self.upper, false)
    }

    /// The smallest number, with -0.0 before 0.0; `None` if only NaN is possible.
    pub fn lower(self) -> Option<f64> {
        self.may_be_number().then_some(self.lower)
    }

    /// The largest number, with -0.0 before 0.0; `None` if only NaN is possible.
    pub fn upper(self) -> Option<f64> {
        self.may_be_number().then_some(self.upper)
    }

    /// Whether NaN is possible.
    pub const fn may_be_nan(self) -> bool {
        self.nan
    }

    /// Whether anything but NaN is possible.
    pub fn may_be_number(self) -> bool {
        at_most(self.lower, self.upper)
    }

    /// The only value, if there is just one: a NaN stands for all.
    pub fn get_constant_float(self) -> Option<f64> {
        match (self.may_be_number(), self.nan) {
            (false, _) => Some(f64::NAN),
            (true, false) if self.lower.to_bits() == self.upper.to_bits() => Some(self.lower),
            _ => None,
        }
    }

    /// Whether the value may be `value`.
    pub fn contains(self, value: f64) -> bool {
        if value.is_nan() { self.nan } else { at_most(self.lower, value) && at_most(value, self.upper) }
    }

    /// The intersection; `None` if it is empty.
    pub fn meet(self, other: Self) -> Option<Self> {
        Self::made(larger(self.lower, other.lower), smaller(self.upper, other.upper), self.nan && other.nan)
    }

    /// The smallest bound that holds both.
    pub fn join(self, other: Self) -> Self {
        // An empty interval's ends are beyond any other's.
        FloatBound {
            lower: smaller(self.lower, other.lower),
            upper: larger(self.upper, other.upper),
            nan: self.nan || other.nan,
        }
    }

    /// Whether each value is one of `other`'s.
    pub fn implies(self, other: Self) -> bool {
        self.join(other) == other
    }

    /// A bound that holds both and from which a chain of such steps ends after at most
    /// [`WIDENING_STEPS`](Self::WIDENING_STEPS) that change anything: an end that moves goes on to a threshold.
    pub fn widen(self, next: Self) -> Self {
        let mut wide = self.join(next);
        if !self.may_be_number() {
            return wide;
        }
        if wide.lower.to_bits() != self.lower.to_bits() {
            wide.lower = THRESHOLDS.into_iter().find(|t| at_most(*t, wide.lower)).unwrap_or(f64::NEG_INFINITY);
        }
        if wide.upper.to_bits() != self.upper.to_bits() {
            wide.upper = -THRESHOLDS.into_iter().find(|t| at_most(*t, -wide.upper)).unwrap_or(f64::NEG_INFINITY);
        }
        wide
    }

    /// The one way to make an interval of ends that may be past each other.
    fn made(lower: f64, upper: f64, nan: bool) -> Option<Self> {
        if at_most(lower, upper) { Some(FloatBound { lower, upper, nan }) } else { nan.then_some(Self::only_nan()) }
    }

    fn join_options(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.join(other)),
            (one, other) => one.or(other),
        }
    }
}

/// Whether `a` is `b` or before it, -0.0 being before 0.0. Neither is NaN.
fn at_most(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_le()
}

fn smaller(a: f64, b: f64) -> f64 {
    if at_most(a, b) { a } else { b }
}

fn larger(a: f64, b: f64) -> f64 {
    if at_most(a, b) { b } else { a }
}

impl PartialEq for FloatBound {
    fn eq(&self, other: &Self) -> bool {
        let key = |bound: &Self| (bound.lower.to_bits(), bound.upper.to_bits(), bound.nan);
        key(self) == key(other)
    }
}

impl Eq for FloatBound {}

impl Hash for FloatBound {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.lower.to_bits(), self.upper.to_bits(), self.nan).hash(state);
    }
}

impl fmt::Display for FloatBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::unbounded() {
            return f.write_str("any");
        }
        if self.may_be_number() {
            if self.lower.to_bits() == self.upper.to_bits() {
                write!(f, "{:?}", self.lower)?;
            } else {
                write!(f, "{:?}..={:?}", self.lower, self.upper)?;
            }
        }
        match (self.may_be_number(), self.nan) {
            (true, true) => f.write_str(" or NaN"),
            (false, _) => f.write_str("NaN"),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for FloatBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
