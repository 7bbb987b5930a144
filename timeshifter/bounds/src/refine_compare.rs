//! What a decided comparison teaches.

use super::Bound;
use super::refine::Pair;
use flowgraph::ir::Opcode;

impl<const W: u32> Bound<W> {
    /// Both operands of a comparison, given its result. Of other ops nothing is learnt.
    pub(super) fn refine_comparison(self, opcode: Opcode, other: Self, r: Self) -> Pair<Self> {
        use Opcode as O;
        let (a, b) = (self, other);
        let Some(result) = r.get_constant_int() else {
            return Some((a, b));
        };
        match (opcode, result != 0) {
            (O::IntEq, true) | (O::IntNe, false) => a.refine_eq(b),
            (O::IntNe, true) | (O::IntEq, false) => a.refine_ne(b),
            (O::IntLt, true) | (O::IntGe, false) => a.refine_lt(b),
            (O::IntLe, true) | (O::IntGt, false) => a.refine_le(b),
            (O::IntGt, true) | (O::IntLe, false) => swap(b.refine_lt(a)),
            (O::IntGe, true) | (O::IntLt, false) => swap(b.refine_le(a)),
            (O::UintLt, true) | (O::UintGe, false) => a.refine_ult(b),
            (O::UintLe, true) | (O::UintGt, false) => a.refine_ule(b),
            (O::UintGt, true) | (O::UintLe, false) => swap(b.refine_ult(a)),
            (O::UintGe, true) | (O::UintLt, false) => swap(b.refine_ule(a)),
            _ => Some((a, b)),
        }
    }

    /// Both, given that they are equal.
    pub fn refine_eq(self, other: Self) -> Option<(Self, Self)> {
        let both = self.meet(other)?;
        Some((both, both))
    }

    /// Both, given that they aren't equal.
    pub fn refine_ne(self, other: Self) -> Option<(Self, Self)> {
        let a = other.get_constant_int().map_or(Some(self), |c| self.without(c))?;
        Some((a, self.get_constant_int().map_or(Some(other), |c| other.without(c))?))
    }

    /// Both, given that `self < other`.
    pub fn refine_lt(self, other: Self) -> Option<(Self, Self)> {
        let a =
            self.meet(Self::clamped(i128::from(Self::MIN), i128::from(other.upper) - 1, super::Tristate::UNKNOWN)?)?;
        let b = Self::clamped(i128::from(self.lower) + 1, i128::from(Self::MAX), super::Tristate::UNKNOWN)?;
        Some((a, other.meet(b)?))
    }

    /// Both, given that `self <= other`.
    pub fn refine_le(self, other: Self) -> Option<(Self, Self)> {
        let a = self.meet(Self::from_range(Self::MIN, other.upper)?)?;
        Some((a, other.meet(Self::from_range(self.lower, Self::MAX)?)?))
    }

    /// Both, given that `self < other`, unsigned.
    pub fn refine_ult(self, other: Self) -> Option<(Self, Self)> {
        let most = other.unsigned_upper().checked_sub(1)?;
        let least = self.unsigned_lower().checked_add(1)?;
        self.refine_unsigned(most, other, least)
    }

    /// Both, given that `self <= other`, unsigned.
    pub fn refine_ule(self, other: Self) -> Option<(Self, Self)> {
        self.refine_unsigned(other.unsigned_upper(), other, self.unsigned_lower())
    }

    fn refine_unsigned(self, most: u64, other: Self, least: u64) -> Pair<Self> {
        // Their own ends, too: from 3 to 2^64 - 1 is any number with a sign, but from 3 to what isn't negative isn't.
        let a = Self::from_unsigned_range(self.unsigned_lower(), most.min(self.unsigned_upper()))?;
        let b = Self::from_unsigned_range(least.max(other.unsigned_lower()), other.unsigned_upper())?;
        Some((self.meet(a)?, other.meet(b)?))
    }
}

fn swap<B>(pair: Pair<B>) -> Pair<B> {
    pair.map(|(b, a)| (a, b))
}
