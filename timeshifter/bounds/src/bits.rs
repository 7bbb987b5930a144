//! Bitwise ops, counts and permutations of bits, and choices.
//!
//! Known bits alone miss what ranges say of bitwise ops: `x & y` is at most 5 if `x` is 0 to 5. The bounds for unsigned
//! ranges are those of Warren, "Hacker's Delight", 4-3, with his search from the highest bit made one step: which bit
//! it stops at can be computed. Operands are split at 0, where signed and unsigned order part.

use super::Bound;
use super::tristate::Tristate;

impl<const W: u32> Bound<W> {
    /// `self & other`.
    pub fn and_bound(self, other: Self) -> Self {
        self.bitwise(other, Tristate::and, |a, b| (min_and(a, b), max_and(a, b)))
    }

    /// `self | other`.
    pub fn or_bound(self, other: Self) -> Self {
        self.bitwise(other, Tristate::or, |a, b| (min_or(a, b), max_or(a, b)))
    }

    /// `self ^ other`.
    pub fn xor_bound(self, other: Self) -> Self {
        if self.is_unbounded() || other.is_unbounded() {
            return Self::unbounded();
        }
        self.bitwise(other, Tristate::xor, |a, b| (min_xor(a, b), max_xor(a, b)))
    }

    /// `!self`.
    pub const fn invert_bound(self) -> Self {
        let Tristate { value, mask } = self.tristate().not();
        Bound { lower: !self.upper, upper: !self.lower, tvalue: value, tmask: mask }
    }

    /// The number of ones.
    pub fn popcount_bound(self) -> Self {
        let least = i64::from((self.tvalue & Self::MASK).count_ones());
        let most = i64::from((self.tristate().possible() & Self::MASK).count_ones());
        let least = if least == 0 && !self.contains(0) { 1 } else { least };
        let most = if most == i64::from(W) && !self.contains(-1) { most - 1 } else { most };
        Self::never_empty(Self::from_range(least, most))
    }

    /// The number of leading zeros, the width for 0.
    pub fn clz_bound(self) -> Self {
        let zeros = |value: i64| i64::from(value.leading_zeros().saturating_sub(64 - W));
        match self.nonnegative_part() {
            None => Self::constant(0),
            Some(part) if self.lower < 0 => Self::never_empty(Self::from_range(0, zeros(part.lower))),
            Some(part) => Self::never_empty(Self::from_range(zeros(part.upper), zeros(part.lower))),
        }
    }

    /// The number of trailing zeros, the width for 0.
    pub fn ctz_bound(self) -> Self {
        let least = self.tristate().trailing_zeros().min(W);
        let most = match (self.tvalue, self.contains(0)) {
            (0, true) => W,
            (0, false) => (self.tmask & Self::MASK).ilog2(),
            (ones, _) => ones.trailing_zeros(),
        };
        Self::never_empty(Self::from_range(i64::from(least), i64::from(most)))
    }

    /// The bytes in opposite order; the bits, where the width isn't 64.
    pub const fn bswap_bound(self) -> Self {
        if W == 64 {
            Self::from_bits(self.tvalue.swap_bytes(), self.tmask.swap_bytes())
        } else {
            self.bitreverse_bound()
        }
    }

    /// The bits in opposite order.
    pub const fn bitreverse_bound(self) -> Self {
        Self::from_bits(self.tvalue.reverse_bits() >> (64 - W), self.tmask.reverse_bits() >> (64 - W))
    }

    /// `self` where it isn't negative, else 0.
    pub fn force_ge_zero(self) -> Self {
        match self.nonnegative_part() {
            None => Self::constant(0),
            Some(part) if self.lower < 0 => part.join(Self::constant(0)),
            Some(part) => part,
        }
    }

    /// `a` if `self` isn't zero, else `b`.
    pub const fn select(self, a: Self, b: Self) -> Self {
        match (self.contains(0), self.is_constant()) {
            (false, _) => a,
            (true, true) => b,
            (true, false) => a.join(b),
        }
    }

    fn bitwise(
        self,
        other: Self,
        bits: impl Fn(Tristate, Tristate) -> Tristate,
        range: impl Fn(Self, Self) -> (u64, u64),
    ) -> Self {
        if self.is_all_of_its_bits() && other.is_all_of_its_bits() {
            // All combinations of bits are there: the result is exact.
            return Self::from_tristate(bits(self.tristate(), other.tristate()));
        }
        let mut found = None;
        for a in self.parts() {
            for b in other.parts() {
                let (lower, upper) = range(a, b);
                let part = Self::reduced(lower as i64, upper as i64, bits(a.tristate(), b.tristate()));
                found = Self::join_options(found, part);
            }
        }
        Self::never_empty(found)
    }

    /// Whether the range says no more than the bits.
    fn is_all_of_its_bits(self) -> bool {
        self == Self::from_tristate(self.tristate())
    }
}

/// An unsigned range.
#[derive(Clone, Copy)]
struct Range(u64, u64);

impl Range {
    /// Of a bound whose members have one sign.
    fn of<const W: u32>(bound: Bound<W>) -> Range {
        Range(bound.lower as u64, bound.upper as u64)
    }

    fn not(self) -> Range {
        Range(!self.1, !self.0)
    }

    /// The bits from the first in which the ends differ down: of these any can be raised in the lower end, if all below
    /// become 0, or lowered in the upper end, if all below become 1, and the result is in the range.
    fn free(self) -> u64 {
        u64::MAX.checked_shr((self.0 ^ self.1).leading_zeros()).unwrap_or(0)
    }

    /// The smallest `x | y`. From the lower ends: the highest bit that one end has and the other can be raised to makes
    /// the other's lower bits 0 for free.
    fn min_or(self, other: Range) -> u64 {
        let (a, b) = (self.0, other.0);
        let raise_a = !a & b & self.free();
        let raise_b = a & !b & other.free();
        let cleared = below_highest(raise_a | raise_b);
        if raise_a > raise_b { a & !cleared | b } else { a | b & !cleared }
    }

    /// The largest `x | y`. From the upper ends: of the highest bit that both have, one can do without, and has ones
    /// below.
    fn max_or(self, other: Range) -> u64 {
        let (a, b) = (self.1, other.1);
        a | b | below_highest(a & b & (self.free() | other.free()))
    }

    fn min_and(self, other: Range) -> u64 {
        !self.not().max_or(other.not())
    }

    fn max_and(self, other: Range) -> u64 {
        !self.not().min_or(other.not())
    }
}

/// The highest one and all bits below.
fn below_highest(bits: u64) -> u64 {
    let down = u64::MAX.checked_shr(bits.leading_zeros()).unwrap_or(0);
    down >> 1
}

fn min_and<const W: u32>(a: Bound<W>, b: Bound<W>) -> u64 {
    Range::of(a).min_and(Range::of(b))
}

fn max_and<const W: u32>(a: Bound<W>, b: Bound<W>) -> u64 {
    Range::of(a).max_and(Range::of(b))
}

fn min_or<const W: u32>(a: Bound<W>, b: Bound<W>) -> u64 {
    Range::of(a).min_or(Range::of(b))
}

fn max_or<const W: u32>(a: Bound<W>, b: Bound<W>) -> u64 {
    Range::of(a).max_or(Range::of(b))
}

/// `x ^ y` is `(x & !y) | (!x & y)`, which have no bit in common.
fn min_xor<const W: u32>(a: Bound<W>, b: Bound<W>) -> u64 {
    let (a, b) = (Range::of(a), Range::of(b));
    a.min_and(b.not()) | a.not().min_and(b)
}

fn max_xor<const W: u32>(a: Bound<W>, b: Bound<W>) -> u64 {
    let (a, b) = (Range::of(a), Range::of(b));
    Range(0, a.max_and(b.not())).max_or(Range(0, a.not().max_and(b)))
}
