//! Quotients and remainders, signed (truncating) and unsigned, and the high half of a product.

use super::Bound;
use super::tristate::Tristate;

impl<const W: u32> Bound<W> {
    /// `self / other`, truncating; 0 for a zero divisor, wrapping for the smallest integer by -1.
    pub fn floordiv_bound(self, other: Self) -> Self {
        // For divisors of one sign the quotient is monotone in both operands, so it is extreme at corners.
        let mut found = other.contains(0).then(|| Self::constant(0));
        for divisor in other.parts().filter_map(|part| part.without(0)) {
            let quotient = |a: i64, b: i64| a.checked_div(b).map_or(1 << 63, i128::from);
            let corners = [
                quotient(self.lower, divisor.lower),
                quotient(self.lower, divisor.upper),
                quotient(self.upper, divisor.lower),
                quotient(self.upper, divisor.upper),
            ];
            let least = corners.into_iter().fold(i128::MAX, i128::min);
            let most = corners.into_iter().fold(i128::MIN, i128::max);
            let part = if Self::narrow(most).is_some() {
                Self::clamped(least, most, Tristate::UNKNOWN)
            } else {
                // MIN / -1 gives MIN. Without it the largest quotient is that of the next numerator, or divisor.
                let others = self.without(Self::MIN).map(|a| a.floordiv_bound(divisor));
                let min = Self::constant(Self::MIN);
                let by_others = divisor.without(-1).map(|b| min.floordiv_bound(b));
                Self::join_options(Some(min), Self::join_options(others, by_others))
            };
            found = Self::join_options(found, part);
        }
        Self::never_empty(found)
    }

    /// `self % other` with the sign of `self`; `self` for a zero divisor.
    pub fn mod_bound(self, other: Self) -> Self {
        let (mut least, mut most) = (u64::MAX, 0u64);
        for part in other.parts().filter_map(|part| part.without(0)) {
            let (one, another) = (part.lower.unsigned_abs(), part.upper.unsigned_abs());
            least = least.min(one).min(another);
            most = most.max(one).max(another);
        }
        let twos = other.tristate().trailing_zeros();
        let positive = self.nonnegative_part().map(|a| a.remainder(least, most, twos));
        let negative = self.negative_part().map(|a| a.negative_remainder(least, most, twos));
        let all = Self::join_options(positive, negative);
        Self::never_empty(if other.contains(0) { Self::join_options(all, Some(self)) } else { all })
    }

    /// The remainders of `self`, which is negative; see `remainder`. The sign of a divisor makes no difference: these
    /// are the remainders of the opposite, negated.
    fn negative_remainder(self, least: u64, most: u64, twos: u32) -> Self {
        let magnitude = self.lower.unsigned_abs();
        if most == 0 || magnitude < least {
            return self;
        }
        let bits = self.tristate().low(twos);
        if self.lower > Self::MIN {
            let found = self.neg_bound().remainder(least, most, twos).neg_bound();
            return Self::never_empty(
                Self::clamped(found.lower.into(), found.upper.into(), bits).and_then(|b| b.meet(found)),
            );
        }
        // The smallest integer has no opposite.
        let of_min = if least == most {
            Some(Self::constant(((magnitude % most) as i64).wrapping_neg()))
        } else {
            Self::clamped(1 - i128::from(most), 0, bits)
        };
        let rest = self.without(Self::MIN).map(|rest| rest.negative_remainder(least, most, twos));
        Self::never_empty(Self::join_options(of_min, rest))
    }

    /// `self / other`, unsigned; 0 for a zero divisor.
    pub fn uint_floordiv_bound(self, other: Self) -> Self {
        if let Some(divisor) = other.get_constant_int()
            && (divisor as u64 & Self::MASK).is_power_of_two()
        {
            return self.urshift_const(divisor.trailing_zeros());
        }
        let mut found = other.contains(0).then(|| Self::constant(0));
        for a in self.parts() {
            for b in other.parts().filter_map(|part| part.without(0)) {
                // By 1 large numbers stay large; by others they don't.
                let (one, b) = if b.lower == 1 { (Some(a), b.without(1)) } else { (None, Some(b)) };
                let quotients = b.and_then(|b| {
                    let ((lower, upper), (least, most)) = (a.unsigned(), b.unsigned());
                    Self::from_unsigned_range(lower / most, upper / least)
                });
                found = Self::join_options(found, Self::join_options(one, quotients));
            }
        }
        Self::never_empty(found)
    }

    /// `self % other`, unsigned; `self` for a zero divisor.
    pub fn uint_mod_bound(self, other: Self) -> Self {
        let mut found = other.contains(0).then_some(self);
        let twos = other.tristate().trailing_zeros();
        for b in other.parts().filter_map(|part| part.without(0)) {
            let (least, most) = b.unsigned();
            for a in self.parts() {
                let remainders = if a.upper < 0 && b.upper < 0 && !b.is_constant() {
                    // From half of all numbers up the quotient is 0 or 1.
                    let quotient_0 = a.refine_ult(b).map(|(a, _)| a);
                    let quotient_1 = b.refine_ule(a).map(|(b, a)| a.sub_bound(b));
                    Self::join_options(quotient_0, quotient_1.and_then(|r| r.meet(Self::nonnegative())))
                } else {
                    Some(a.remainder(least, most, twos))
                };
                found = Self::join_options(found, remainders);
            }
        }
        Self::never_empty(found)
    }

    /// The high half of the unsigned product of `2 * W` bits.
    pub fn uint_mul_high_bound(self, other: Self) -> Self {
        let high = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> W) as u64;
        let mut found = None;
        for a in self.parts() {
            for b in other.parts() {
                let (lower, upper) = (high(a.unsigned().0, b.unsigned().0), high(a.unsigned().1, b.unsigned().1));
                found = Self::join_options(found, Self::from_unsigned_range(lower, upper));
            }
        }
        Self::never_empty(found)
    }

    /// The unsigned remainders of `self`, which has one sign, by divisors from `least` to `most`, or of 0 if `most` is
    /// 0; all divisors are multiples of two to the power of `twos`.
    fn remainder(self, least: u64, most: u64, twos: u32) -> Self {
        let (lower, upper) = self.unsigned();
        if most == 0 || upper < least {
            return self;
        }
        if least == most {
            if least.is_power_of_two() {
                return self.and_bound(Self::constant((least - 1) as i64));
            }
            // Where the quotient is one number, remainders are a difference.
            let (first, last) = (lower / least, upper / least);
            let in_turn = |lower: u64, upper: u64, quotient: u64| {
                let part = Self::from_unsigned_bits(lower, upper, self.tristate())?;
                Some(part.sub_bound(Self::constant(quotient.wrapping_mul(least) as i64)))
            };
            if first == last {
                return Self::never_empty(in_turn(lower, upper, first));
            }
            if last - first == 1 {
                let start = last * least;
                let both = Self::join_options(in_turn(lower, start - 1, first), in_turn(start, upper, last));
                return Self::never_empty(both);
            }
        }
        // The divisor divides the difference, so some low bits stay.
        let bits = self.tristate().low(twos);
        Self::never_empty(Self::from_unsigned_bits(0, upper.min(most - 1), bits))
    }

    /// The ends of a bound whose members have one sign, as unsigned numbers of `W` bits.
    fn unsigned(self) -> (u64, u64) {
        (self.lower as u64 & Self::MASK, self.upper as u64 & Self::MASK)
    }

    /// From `lower` to `upper` as unsigned numbers of `W` bits, both included; `None` if that is empty.
    pub fn from_unsigned_range(lower: u64, upper: u64) -> Option<Self> {
        Self::from_unsigned_bits(lower, upper, Tristate::UNKNOWN)
    }

    /// The numbers from `lower` to `upper` in unsigned order that have these bits.
    pub(super) fn from_unsigned_bits(lower: u64, upper: u64, bits: Tristate) -> Option<Self> {
        if lower > upper {
            return None;
        }
        Self::circle(Self::wrap(lower as i64), Self::wrap(upper as i64), Self::extend(bits))
    }
}
