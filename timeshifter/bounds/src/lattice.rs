//! The lattice: both, either, and what a loop converges to.

use super::Bound;
use super::tristate::{Tristate, above};

/// Where a growing lower end may rest.
const LOWER_THRESHOLDS: [i64; 7] = [1, 0, -1, i8::MIN as i64, i16::MIN as i64, i32::MIN as i64, i64::MIN];
/// Where a growing upper end may rest.
const UPPER_THRESHOLDS: [i64; 9] =
    [-1, 0, 1, i8::MAX as i64, u8::MAX as i64, u16::MAX as i64, i32::MAX as i64, u32::MAX as i64, i64::MAX];
/// How many low bits may stay known.
const ALIGNMENTS: [u32; 8] = [32, 16, 8, 4, 3, 2, 1, 0];

impl<const W: u32> Bound<W> {
    /// How often [`widen`](Self::widen) can answer with something else than what it was given, at the most.
    pub const WIDENING_STEPS: usize = LOWER_THRESHOLDS.len() + UPPER_THRESHOLDS.len() + ALIGNMENTS.len();

    /// The intersection, exactly; `None` if it is empty.
    pub fn meet(self, other: Self) -> Option<Self> {
        let bits = self.tristate().meet(other.tristate())?;
        Self::reduced(self.lower.max(other.lower), self.upper.min(other.upper), bits)
    }

    /// The smallest bound that holds both.
    pub const fn join(self, other: Self) -> Self {
        // Already reduced: each end is a member of one, and the ends' common leading bits are known, and equal, in
        // both.
        let Tristate { value, mask } = self.tristate().join(other.tristate());
        Bound {
            lower: if self.lower < other.lower { self.lower } else { other.lower },
            upper: if self.upper > other.upper { self.upper } else { other.upper },
            tvalue: value,
            tmask: mask,
        }
    }

    /// Whether each member is one of `other`.
    pub const fn implies(self, other: Self) -> bool {
        other.lower <= self.lower
            && self.upper <= other.upper
            && (self.tmask | (self.tvalue ^ other.tvalue)) & !other.tmask == 0
    }

    /// What to assume of a loop's variable that was `self` and may also be `next` after one more turn: a bound that
    /// holds both and from which a chain of such steps soon ends, after at most
    /// [`WIDENING_STEPS`](Self::WIDENING_STEPS) that change anything.
    ///
    /// An answer other than `self` has its ends at thresholds (0, ±1, and those of the machine's types) and knows the
    /// lowest 0, 1, 2, 3, 4, 8, 16 or 32 bits, besides what these three say of each other. Along a chain neither end
    /// turns back, and as a bound of this kind that isn't constant knows exactly as many low bits as it was made with,
    /// neither does their number; and a step that changes neither that number nor a threshold changes nothing.
    pub fn widen(self, next: Self) -> Self {
        if next.implies(self) {
            return self;
        }
        let joined = self.join(next);
        let lower = resting_lower(joined.lower).max(Self::MIN);
        let upper = resting_upper(joined.upper).min(Self::MAX);
        let bits = Tristate::new(joined.tvalue, above(alignment(joined.tmask.trailing_zeros())));
        Self::never_empty(Self::reduced(lower, upper, bits))
    }

    /// Either, or whichever there is.
    pub(super) fn join_options(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.join(other)),
            (one, other) => one.or(other),
        }
    }

    /// Of a bound that holds all results of an op on arguments that exist.
    #[track_caller]
    pub(super) fn never_empty(bound: Option<Self>) -> Self {
        match bound {
            Some(bound) => bound,
            None => unreachable!("a transfer's range and bits hold the same results"),
        }
    }
}

/// The threshold next below a lower end.
fn resting_lower(lower: i64) -> i64 {
    LOWER_THRESHOLDS.into_iter().find(|t| *t <= lower).unwrap_or(i64::MIN)
}

/// The threshold next above an upper end.
fn resting_upper(upper: i64) -> i64 {
    UPPER_THRESHOLDS.into_iter().find(|t| *t >= upper).unwrap_or(i64::MAX)
}

/// How many of the known low bits stay known.
fn alignment(known: u32) -> u32 {
    ALIGNMENTS.into_iter().find(|n| *n <= known).unwrap_or(0)
}
