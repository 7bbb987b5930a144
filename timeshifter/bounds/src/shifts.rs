//! Shifts and sign extension: exact for constant amounts, by cases for few, coarse for many.

use super::Bound;
use super::tristate::{Tristate, above};
use smallvec::SmallVec;

/// Up to so many amounts are gone through one by one.
const FEW_AMOUNTS: u32 = 8;
/// The bits of a byte of `int_signext`, at 64 bits and below.
const BYTE: [u32; 2] = [8, 1];

impl<const W: u32> Bound<W> {
    /// `self << other`, the amount modulo the width.
    pub fn lshift_bound(self, other: Self) -> Self {
        self.shifted(other, Self::lshift_const, Self::lshift_between)
    }

    /// `self >> other`, copying the sign; the amount modulo the width.
    pub fn rshift_bound(self, other: Self) -> Self {
        self.shifted(other, Self::rshift_const, Self::rshift_between)
    }

    /// `self >> other`, filling with zeros; the amount modulo the width.
    pub fn urshift_bound(self, other: Self) -> Self {
        self.shifted(other, Self::urshift_const, Self::urshift_between)
    }

    /// Whether no left shift loses bits: whether shifting back gives the number again.
    pub fn lshift_bound_cannot_overflow(self, other: Self) -> bool {
        let amount = other.amounts().upper;
        let fits = |value: i64| Self::narrow(i128::from(value) << amount).is_some();
        fits(self.lower) && fits(self.upper)
    }

    /// Sign extension of the low `bytes` bytes, taken as from 1 to 8 (of one bit, 1 to `W`, where the width isn't 64).
    pub fn signext_bound(self, bytes: Self) -> Self {
        let (least, most) = Self::extended_bytes(bytes);
        let mut found = None;
        for count in least..=most {
            if least == most || Self::may_be_bytes(bytes, count) {
                found = Self::join_options(found, Some(self.sign_extended(count * Self::byte())));
            }
        }
        Self::never_empty(found)
    }

    /// The low `n` bits, of which the highest is the sign. Exact. `n` is from 1 to `W`.
    ///
    /// The numbers fall into cycles of `2^n`. If all members are in one, the rest is a translation. If not, the first
    /// cycle with members and the last one count in part, and any between them is there in full.
    pub fn sign_extended(self, n: u32) -> Self {
        if n >= W {
            return self;
        }
        let half = 1i128 << (n - 1);
        let cycle = |value: i64| (i128::from(value) + half) >> n;
        let (first, last) = (cycle(self.lower), cycle(self.upper));
        if first == last {
            return self.translated(n);
        }
        let end = ((first << n) + half - 1) as i64;
        let start = ((last << n) - half) as i64;
        if end + 1 < start && Self::reduced(end + 1, start - 1, self.tristate()).is_some() {
            let (value, mask) = (extend(n, self.tvalue as i64), extend(n, self.tmask as i64));
            let sign = mask & (-half) as i64;
            return Bound {
                lower: value | sign,
                upper: value | mask & !sign,
                tvalue: value as u64,
                tmask: mask as u64,
            };
        }
        let low = Self::reduced(self.lower, end, self.tristate());
        let high = Self::reduced(start, self.upper, self.tristate());
        let translated = |part: Option<Self>| part.map(|part| part.translated(n));
        Self::never_empty(Self::join_options(translated(low), translated(high)))
    }

    /// The sign extension from `n` bits of members that lie in one cycle.
    fn translated(self, n: u32) -> Self {
        Bound {
            lower: extend(n, self.lower),
            upper: extend(n, self.upper),
            tvalue: extend(n, self.tvalue as i64) as u64,
            tmask: extend(n, self.tmask as i64) as u64,
        }
    }

    /// `self << amount`, exactly. The amount is below the width.
    pub fn lshift_const(self, amount: u32) -> Self {
        let kept = self.sign_extended(W - amount);
        let Tristate { value, mask } = kept.tristate().shl(amount);
        Bound { lower: kept.lower << amount, upper: kept.upper << amount, tvalue: value, tmask: mask }
    }

    /// `self >> amount`, copying the sign, exactly. The amount is below the width.
    pub const fn rshift_const(self, amount: u32) -> Self {
        let Tristate { value, mask } = self.tristate().sar(amount);
        Bound { lower: self.lower >> amount, upper: self.upper >> amount, tvalue: value, tmask: mask }
    }

    /// `self >> amount`, filling with zeros, exactly. The amount is below the width.
    pub fn urshift_const(self, amount: u32) -> Self {
        if amount == 0 {
            return self;
        }
        let shift = |value: i64| ((value as u64 & Self::MASK) >> amount) as i64;
        let shifted = |part: Self| Bound {
            lower: shift(part.lower),
            upper: shift(part.upper),
            tvalue: shift(part.tvalue as i64) as u64,
            tmask: shift(part.tmask as i64) as u64,
        };
        Self::never_empty(Self::join_options(self.nonnegative_part().map(shifted), self.negative_part().map(shifted)))
    }

    /// The shift amounts that `self` stands for, from 0 and below the width.
    fn amounts(self) -> Self {
        if W.is_power_of_two() {
            self.and_bound(Self::constant(i64::from(W) - 1))
        } else {
            self.uint_mod_bound(Self::constant(i64::from(W)))
        }
    }

    /// The members one by one, if that isn't too much work.
    fn few_members(self) -> Option<impl Iterator<Item = i64>> {
        let few = self.upper.abs_diff(self.lower) < u64::from(FEW_AMOUNTS)
            || 1 << self.tmask.count_ones().min(31) <= FEW_AMOUNTS;
        few.then(|| std::iter::successors(Some(self.lower), move |value| self.next_member(*value)))
    }

    /// The least and the largest count of bytes that `int_signext` makes of this.
    pub(super) fn extended_bytes(bytes: Self) -> (u32, u32) {
        let most = i64::from(W / Self::byte());
        (bytes.lower.clamp(1, most) as u32, bytes.upper.clamp(1, most) as u32)
    }

    /// The bits of what `int_signext` calls a byte.
    pub(super) const fn byte() -> u32 {
        BYTE[(W != 64) as usize]
    }

    fn may_be_bytes(bytes: Self, count: u32) -> bool {
        let most = W / Self::byte();
        bytes.contains(i64::from(count))
            || count == 1 && bytes.lower < 1
            || count == most && bytes.upper > i64::from(most)
    }

    /// The amount that a member of the second operand of a shift stands for.
    pub(super) const fn amount(value: i64) -> u32 {
        ((value as u64 & Self::MASK) % W as u64) as u32
    }

    /// A few values that stand for all amounts that this bound stands for, and whether they are its members.
    pub(super) fn few_amounts(self) -> Option<(SmallVec<[i64; FEW_AMOUNTS as usize]>, bool)> {
        match self.few_members() {
            Some(members) => Some((members.collect(), true)),
            None => self.amounts().few_members().map(|amounts| (amounts.collect(), false)),
        }
    }

    fn shifted(self, other: Self, by: impl Fn(Self, u32) -> Self, between: impl Fn(Self, u32, u32) -> Self) -> Self {
        if let Some(value) = other.get_constant_int() {
            return by(self, Self::amount(value));
        }
        match other.few_amounts() {
            Some((amounts, _)) => {
                Self::never_empty(amounts.into_iter().map(|value| by(self, Self::amount(value))).reduce(Self::join))
            }
            None => {
                let amounts = other.amounts();
                between(self, amounts.lower as u32, amounts.upper as u32)
            }
        }
    }

    fn lshift_between(self, least: u32, most: u32) -> Self {
        let zeros = (self.tristate().trailing_zeros() + least).min(W);
        let bits = Tristate::new(0, above(zeros));
        let (lower, upper) = (i128::from(self.lower), i128::from(self.upper));
        let lower = lower << if lower < 0 { most } else { least };
        let upper = upper << if upper < 0 { least } else { most };
        match (Self::narrow(lower), Self::narrow(upper)) {
            (Some(lower), Some(upper)) => Self::never_empty(Self::reduced(lower, upper, bits)),
            _ => Self::from_tristate(bits),
        }
    }

    fn rshift_between(self, least: u32, most: u32) -> Self {
        let lower = self.lower >> if self.lower < 0 { least } else { most };
        let upper = self.upper >> if self.upper < 0 { most } else { least };
        Self::never_empty(Self::from_range(lower, upper))
    }

    fn urshift_between(self, least: u32, most: u32) -> Self {
        let lower = self.unsigned_lower() >> most;
        let upper = self.unsigned_upper() >> least;
        Self::never_empty(Self::from_unsigned_range(lower, upper))
    }
}

/// The low `n` bits, of which the highest is the sign.
pub(super) const fn extend(n: u32, value: i64) -> i64 {
    value << (64 - n) >> (64 - n)
}
