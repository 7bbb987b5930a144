//! Sums, differences and products: wrapping, with a flag, and given that they did not overflow.

use super::Bound;
use super::tristate::Tristate;

/// A range of integers without a width, both ends included.
type Wide = (i128, i128);

impl<const W: u32> Bound<W> {
    /// `self + other`, wrapping.
    pub fn add_bound(self, other: Self) -> Self {
        if let (Some(lower), Some(upper)) = (self.lower.checked_add(other.lower), self.upper.checked_add(other.upper))
            && Self::MIN <= lower
            && upper <= Self::MAX
        {
            let bits = self.tristate().add(other.tristate());
            return Self::never_empty(Self::reduced(lower, upper, Self::extend(bits)));
        }
        if self.is_unbounded() || other.is_unbounded() {
            return Self::unbounded();
        }
        let turns = [-1, 0, 1].into_iter().map(|turn| self.sums_in_turn(other, turn));
        Self::never_empty(turns.fold(None, Self::join_options))
    }

    /// `self - other`, wrapping.
    pub fn sub_bound(self, other: Self) -> Self {
        self.invert_bound().add_bound(other).invert_bound()
    }

    /// `self * other`, wrapping.
    pub fn mul_bound(self, other: Self) -> Self {
        let (lower, upper) = self.products(other);
        Self::never_empty(Self::wrapped(lower, upper, self.product_bits(other)))
    }

    /// `-self`, wrapping.
    pub fn neg_bound(self) -> Self {
        Self::constant(0).sub_bound(self)
    }

    /// The sum, and whether it overflows.
    pub fn add_ovf_bound(self, other: Self) -> (Self, Self) {
        (self.add_bound(other), Self::overflow_flag(self.sums(other)))
    }

    /// The difference, and whether it overflows.
    pub fn sub_ovf_bound(self, other: Self) -> (Self, Self) {
        (self.sub_bound(other), Self::overflow_flag(self.differences(other)))
    }

    /// The product, and whether it overflows.
    pub fn mul_ovf_bound(self, other: Self) -> (Self, Self) {
        let flag = if self.mul_bound_cannot_overflow(other) {
            Self::constant(0)
        } else {
            let fits = |(lower, upper)| !Self::fits_not_at_all((lower, upper));
            let may_fit = self.parts().any(|a| other.parts().any(|b| fits(a.products(b))));
            if may_fit { Self::boolean() } else { Self::constant(1) }
        };
        (self.mul_bound(other), flag)
    }

    /// Whether no sum overflows.
    pub fn add_bound_cannot_overflow(self, other: Self) -> bool {
        Self::fits(self.sums(other))
    }

    /// Whether no difference overflows.
    pub fn sub_bound_cannot_overflow(self, other: Self) -> bool {
        Self::fits(self.differences(other))
    }

    /// Whether no product overflows.
    pub fn mul_bound_cannot_overflow(self, other: Self) -> bool {
        Self::fits(self.products(other))
    }

    /// Whether no negation overflows: whether the smallest integer isn't a member.
    pub fn neg_bound_cannot_overflow(self) -> bool {
        self.lower > Self::MIN
    }

    /// The sum, given that it did not overflow; `None` if it must.
    pub fn add_bound_no_overflow(self, other: Self) -> Option<Self> {
        let (lower, upper) = self.sums(other);
        Self::clamped(lower, upper, self.tristate().add(other.tristate()))
    }

    /// The difference, given that it did not overflow; `None` if it must.
    pub fn sub_bound_no_overflow(self, other: Self) -> Option<Self> {
        let (lower, upper) = self.differences(other);
        Self::clamped(lower, upper, self.tristate().sub(other.tristate()))
    }

    /// The product, given that it did not overflow; `None` if it must.
    pub fn mul_bound_no_overflow(self, other: Self) -> Option<Self> {
        let bits = self.product_bits(other);
        let mut found = None;
        for a in self.parts() {
            for b in other.parts() {
                let (lower, upper) = a.products(b);
                found = Self::join_options(found, Self::clamped(lower, upper, bits));
            }
        }
        found
    }

    /// Those sums that wrap around `turn` times: upward once, not, or downward once.
    fn sums_in_turn(self, other: Self, turn: i128) -> Option<Self> {
        let least = i128::from(Self::MIN) + (turn << W);
        let most = least + i128::from(Self::MASK);
        let (lower, upper) = self.sums(other);
        if upper < least || most < lower {
            return None;
        }
        let a = self.within(least - i128::from(other.upper), most - i128::from(other.lower))?;
        let b = other.within(least - i128::from(a.upper), most - i128::from(a.lower))?;
        let (lower, upper) = a.sums(b);
        let bits = a.tristate().add(b.tristate());
        Self::clamped(lower.max(least) - (turn << W), upper.min(most) - (turn << W), bits)
    }

    fn within(self, least: i128, most: i128) -> Option<Self> {
        Self::clamped(least.max(i128::from(self.lower)), most.min(i128::from(self.upper)), self.tristate())
    }

    /// In either order the product is right; the loop is shorter with the better known number first.
    fn product_bits(self, other: Self) -> Tristate {
        let (a, b) = (self.tristate(), other.tristate());
        let (a, b) = if a.mask.count_ones() <= b.mask.count_ones() { (a, b) } else { (b, a) };
        let bits = a.mul(b);
        if a.mask == 0 { bits.meet(b.mul_constant(a.value)).unwrap_or(bits) } else { bits }
    }

    fn sums(self, other: Self) -> Wide {
        (i128::from(self.lower) + i128::from(other.lower), i128::from(self.upper) + i128::from(other.upper))
    }

    fn differences(self, other: Self) -> Wide {
        (i128::from(self.lower) - i128::from(other.upper), i128::from(self.upper) - i128::from(other.lower))
    }

    pub(super) fn products(self, other: Self) -> Wide {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let corners = [
            product(self.lower, other.lower),
            product(self.lower, other.upper),
            product(self.upper, other.lower),
            product(self.upper, other.upper),
        ];
        let least = corners.into_iter().fold(i128::MAX, i128::min);
        (least, corners.into_iter().fold(i128::MIN, i128::max))
    }

    fn fits((lower, upper): Wide) -> bool {
        Self::narrow(lower).is_some() && Self::narrow(upper).is_some()
    }

    fn fits_not_at_all((lower, upper): Wide) -> bool {
        upper < i128::from(Self::MIN) || lower > i128::from(Self::MAX)
    }

    fn overflow_flag(range: Wide) -> Self {
        Self::from_decision(match (Self::fits(range), Self::fits_not_at_all(range)) {
            (true, _) => Some(false),
            (_, true) => Some(true),
            _ => None,
        })
    }
}
