//! Reduction: a range and known bits tighten each other until neither can say more.
//!
//! One round is enough. First each end moves inward to the nearest number with the known bits. Then the leading bits in
//! which both ends agree are known. Let `d` be the first bit in which they differ; 0 in the lower end, 1 in the upper.
//! Of the members with 0 at `d` the largest has ones in all unknown bits below, of those with 1 at `d` the smallest has
//! zeros there: no further bit is known, and the ends, being members, cannot move.

use super::Bound;
use super::tristate::Tristate;

const SIGN: u64 = 1 << 63;

impl<const W: u32> Bound<W> {
    /// The numbers from `lower` to `upper` with these bits; `None` if there is none. `lower` and `upper` are of the
    /// width.
    pub(super) fn reduced(lower: i64, upper: i64, bits: Tristate) -> Option<Self> {
        let lower = if bits.matches(lower) { lower } else { Self::first_from(lower, bits)? };
        let upper = if bits.matches(upper) { upper } else { Self::last_until(upper, bits)? };
        if lower > upper {
            return None;
        }
        let differing = u64::MAX.checked_shr((lower ^ upper).leading_zeros()).unwrap_or(0);
        let tmask = bits.mask & differing;
        Some(Bound { lower, upper, tvalue: lower as u64 & !tmask, tmask })
    }

    /// The numbers met going up from `first` to `last`, from the largest number to the smallest if need be, that have
    /// these bits.
    pub(super) fn circle(first: i64, last: i64, bits: Tristate) -> Option<Self> {
        if first <= last {
            return Self::reduced(first, last, bits);
        }
        let upward = Self::reduced(first, Self::MAX, bits);
        let downward = Self::reduced(Self::MIN, last, bits);
        Self::join_options(upward, downward)
    }

    /// Integers without a width, all from `first` to `last`, wrapped to the width; those that have these bits.
    pub(super) fn wrapped(first: i128, last: i128, bits: Tristate) -> Option<Self> {
        if let (Some(lower), Some(upper)) = (Self::narrow(first), Self::narrow(last)) {
            return Self::reduced(lower, upper, Self::extend(bits));
        }
        if last - first >= i128::from(Self::MASK) {
            return Some(Self::from_tristate(bits));
        }
        Self::circle(Self::wrap(first as i64), Self::wrap(last as i64), Self::extend(bits))
    }

    /// Those integers from `first` to `last` that fit the width and have these bits.
    pub(super) fn clamped(first: i128, last: i128, bits: Tristate) -> Option<Self> {
        let lower = first.max(i128::from(Self::MIN));
        let upper = last.min(i128::from(Self::MAX));
        if lower > upper { None } else { Self::reduced(lower as i64, upper as i64, Self::extend(bits)) }
    }

    /// The number, if it fits the width.
    pub(super) fn narrow(value: i128) -> Option<i64> {
        (i128::from(Self::MIN) <= value && value <= i128::from(Self::MAX)).then_some(value as i64)
    }

    /// All numbers with these bits, of which only the low `W` count.
    pub(super) const fn from_tristate(bits: Tristate) -> Self {
        let Tristate { value, mask } = Self::extend(bits);
        let sign = mask & Self::MIN as u64;
        Bound { lower: (value | sign) as i64, upper: (value | mask & !sign) as i64, tvalue: value, tmask: mask }
    }

    /// Copies the sign bit, known or not, upward.
    pub(super) const fn extend(bits: Tristate) -> Tristate {
        Tristate::new(Self::wrap(bits.value as i64) as u64, Self::wrap(bits.mask as i64) as u64)
    }

    /// The members below 0.
    pub(super) fn negative_part(self) -> Option<Self> {
        match (self.lower < 0, self.upper < 0) {
            (_, true) => Some(self),
            (true, false) => Self::reduced(self.lower, -1, self.tristate()),
            (false, _) => None,
        }
    }

    /// The members from 0 up.
    pub(super) fn nonnegative_part(self) -> Option<Self> {
        match (self.lower < 0, self.upper < 0) {
            (_, true) => None,
            (true, false) => Self::reduced(0, self.upper, self.tristate()),
            (false, _) => Some(self),
        }
    }

    /// Both parts, in unsigned order: in each the signed order is the unsigned one.
    pub(super) fn parts(self) -> impl Iterator<Item = Self> + Clone {
        [self.nonnegative_part(), self.negative_part()].into_iter().flatten()
    }

    /// The members but `value`, as far as a bound can say so: where it is at an end.
    pub(super) fn without(self, value: i64) -> Option<Self> {
        if value == self.lower {
            if self.is_constant() { None } else { Self::reduced(self.lower + 1, self.upper, self.tristate()) }
        } else if value == self.upper {
            Self::reduced(self.lower, self.upper - 1, self.tristate())
        } else {
            Some(self)
        }
    }

    /// The smallest number of the width from `at` up that has these bits.
    fn first_from(at: i64, bits: Tristate) -> Option<i64> {
        // In the highest bits, with the sign flipped, all is unsigned.
        let unused = 64 - W;
        let at = ((at << unused) as u64) ^ SIGN;
        let mask = bits.mask << unused;
        let value = ((bits.value << unused) ^ SIGN) & !mask;
        let wrong = (at ^ value) & !mask;
        if wrong == 0 {
            return Some(((at ^ SIGN) as i64) >> unused);
        }
        let from_wrong = u64::MAX >> wrong.leading_zeros();
        let found = if value & (from_wrong ^ from_wrong >> 1) != 0 {
            // The first wrong bit must become 1: all below may be as small as they can.
            at & !from_wrong | value & from_wrong
        } else {
            // It must become 0: a free 0 above it becomes 1.
            let free = mask & !at & !from_wrong;
            if free == 0 {
                return None;
            }
            let raised = free & free.wrapping_neg();
            at & !(raised - 1) | raised | value & (raised - 1)
        };
        Some(((found ^ SIGN) as i64) >> unused)
    }

    /// The largest number of the width from `at` down that has these bits.
    fn last_until(at: i64, bits: Tristate) -> Option<i64> {
        Self::first_from(!at, bits.not()).map(|found| !found)
    }

    /// The next member after `value`.
    pub(super) fn next_member(self, value: i64) -> Option<i64> {
        if value >= self.upper {
            return None;
        }
        Self::first_from((value + 1).max(self.lower), self.tristate())
    }
}

impl Tristate {
    fn matches(self, value: i64) -> bool {
        (value as u64 ^ self.value) & !self.mask == 0
    }
}
