//! Comparisons of floats: when they are decided, and what they teach. Here -0.0 and 0.0 are equal, and NaN is neither
//! equal to anything nor before nor after it.

use super::{FloatBound, larger, smaller};
use flowgraph::ir::Opcode;

impl FloatBound {
    /// Whether the two are equal, if that is decided.
    pub fn known_eq(self, other: Self) -> Option<bool> {
        let overlap = self.lower <= other.upper && other.lower <= self.upper;
        let same = self.lower == other.upper && self.upper == other.lower;
        self.decided(other, overlap, same)
    }

    /// Whether the two differ, or one is NaN, if that is decided.
    pub fn known_ne(self, other: Self) -> Option<bool> {
        self.known_eq(other).map(|equal| !equal)
    }

    /// Whether `self < other`, if that is decided.
    pub fn known_lt(self, other: Self) -> Option<bool> {
        self.decided(other, self.lower < other.upper, self.upper < other.lower)
    }

    /// Whether `self <= other`, if that is decided.
    pub fn known_le(self, other: Self) -> Option<bool> {
        self.decided(other, self.lower <= other.upper, self.upper <= other.lower)
    }

    /// Whether `self > other`, if that is decided.
    pub fn known_gt(self, other: Self) -> Option<bool> {
        other.known_lt(self)
    }

    /// Whether `self >= other`, if that is decided.
    pub fn known_ge(self, other: Self) -> Option<bool> {
        other.known_le(self)
    }

    /// The result of a comparison of floats, if it is decided; `None` for other ops, too.
    pub fn compare(opcode: Opcode, a: Self, b: Self) -> Option<bool> {
        match opcode {
            Opcode::FloatEq => a.known_eq(b),
            Opcode::FloatNe => a.known_ne(b),
            Opcode::FloatLt => a.known_lt(b),
            Opcode::FloatLe => a.known_le(b),
            Opcode::FloatGt => a.known_gt(b),
            Opcode::FloatGe => a.known_ge(b),
            _ => None,
        }
    }

    /// Both operands of a comparison of floats, given its result. `None`: a contradiction, so the place is never
    /// reached. Of other ops nothing is learnt.
    pub fn refine_comparison(opcode: Opcode, a: Self, b: Self, result: bool) -> Option<(Self, Self)> {
        use Opcode as O;
        let swap = |(b, a): (Self, Self)| (a, b);
        match (opcode, result) {
            (O::FloatEq, true) | (O::FloatNe, false) => a.refine_eq(b),
            (O::FloatEq, false) | (O::FloatNe, true) => a.refine_ne(b),
            (O::FloatLt, true) => a.refine_lt(b),
            (O::FloatLe, true) => a.refine_le(b),
            (O::FloatGt, true) => b.refine_lt(a).map(swap),
            (O::FloatGe, true) => b.refine_le(a).map(swap),
            (O::FloatLt, false) => a.refuted(b, |a, b| b.refine_le(a).map(swap)),
            (O::FloatLe, false) => a.refuted(b, |a, b| b.refine_lt(a).map(swap)),
            (O::FloatGt, false) => a.refuted(b, Self::refine_le),
            (O::FloatGe, false) => a.refuted(b, Self::refine_lt),
            _ => Some((a, b)),
        }
    }

    /// Both, given that they are equal: numbers, the same but for the sign of zero.
    pub fn refine_eq(self, other: Self) -> Option<(Self, Self)> {
        let (a, b) = (self.without_nan()?, other.without_nan()?);
        Some((a.meet(b.with_both_zeros())?, b.meet(a.with_both_zeros())?))
    }

    /// Both, given that they aren't equal, or one is NaN.
    pub fn refine_ne(self, other: Self) -> Option<(Self, Self)> {
        Some((self.without_equal(other)?, other.without_equal(self)?))
    }

    /// Both, given that `self < other`.
    pub fn refine_lt(self, other: Self) -> Option<(Self, Self)> {
        let (a, b) = (self.without_nan()?, other.without_nan()?);
        if b.upper == f64::NEG_INFINITY || a.lower == f64::INFINITY {
            return None;
        }
        let below = Self::made(a.lower, smaller(a.upper, b.upper.next_down()), false)?;
        Some((below, Self::made(larger(b.lower, a.lower.next_up()), b.upper, false)?))
    }

    /// Both, given that `self <= other`.
    pub fn refine_le(self, other: Self) -> Option<(Self, Self)> {
        let (a, b) = (self.without_nan()?, other.without_nan()?);
        let below = Self::made(a.lower, smaller(a.upper, b.with_both_zeros().upper), false)?;
        Some((below, Self::made(larger(b.lower, a.with_both_zeros().lower), b.upper, false)?))
    }

    fn decided(self, other: Self, may_hold: bool, must_hold: bool) -> Option<bool> {
        let numbers = self.may_be_number() && other.may_be_number();
        match (numbers && may_hold, !self.nan && !other.nan && must_hold) {
            (false, _) => Some(false),
            (true, true) => Some(true),
            (true, false) => None,
        }
    }

    /// With the other zero where an end is a zero.
    fn with_both_zeros(self) -> Self {
        let lower = if self.lower == 0.0 { -0.0 } else { self.lower };
        FloatBound { lower, upper: if self.upper == 0.0 { 0.0 } else { self.upper }, nan: self.nan }
    }

    /// The values that aren't equal to `other`, if `other` is one number.
    fn without_equal(self, other: Self) -> Option<Self> {
        if other.nan || other.lower != other.upper {
            return Some(self);
        }
        let lower = if self.lower == other.lower { self.lower.next_up() } else { self.lower };
        let upper = if self.upper == other.lower { self.upper.next_down() } else { self.upper };
        // Of one infinity alone nothing is left, though the next number of infinity is itself.
        let only = self.lower == self.upper && self.lower == other.lower;
        if only { self.nan.then_some(Self::only_nan()) } else { Self::made(lower, upper, self.nan) }
    }

    /// Both, given that an order is refuted: the opposite one holds between numbers, or one of the two is NaN.
    fn refuted(self, other: Self, opposite: impl Fn(Self, Self) -> Option<(Self, Self)>) -> Option<(Self, Self)> {
        let (a, b) = match opposite(self, other) {
            Some((a, b)) => (Some(a), Some(b)),
            None => (None, None),
        };
        let kept = |whole: Self, numbers: Option<Self>, other_nan: bool| {
            if other_nan {
                return Some(whole);
            }
            Self::join_options(numbers, whole.nan.then_some(Self::only_nan()))
        };
        Some((kept(self, a, other.nan)?, kept(other, b, self.nan)?))
    }
}
