//! Comparisons. Each is decided exactly when the members decide it.

use super::Bound;

macro_rules! orders {
    ($($(#[$doc:meta])* $known:ident $known_const:ident $bound:ident = $opposite:ident;)*) => {
        impl<const W: u32> Bound<W> {
            $(
                $(#[$doc])*
                /// With a constant.
                pub fn $known_const(self, c: i64) -> bool {
                    self.$known(Self::constant(c))
                }

                $(#[$doc])*
                /// As the result of the op: 1, 0 or either.
                pub fn $bound(self, other: Self) -> Self {
                    Self::from_decision(if self.$known(other) {
                        Some(true)
                    } else if self.$opposite(other) {
                        Some(false)
                    } else {
                        None
                    })
                }
            )*
        }
    };
}

orders! {
    /// Equal.
    known_eq known_eq_const eq_bound = known_ne;
    /// Not equal.
    known_ne known_ne_const ne_bound = known_eq;
    /// Less.
    known_lt known_lt_const lt_bound = known_ge;
    /// Less or equal.
    known_le known_le_const le_bound = known_gt;
    /// Greater.
    known_gt known_gt_const gt_bound = known_le;
    /// Greater or equal.
    known_ge known_ge_const ge_bound = known_lt;
    /// Less, unsigned.
    known_ult known_ult_const ult_bound = known_uge;
    /// Less or equal, unsigned.
    known_ule known_ule_const ule_bound = known_ugt;
    /// Greater, unsigned.
    known_ugt known_ugt_const ugt_bound = known_ule;
    /// Greater or equal, unsigned.
    known_uge known_uge_const uge_bound = known_ult;
}

impl<const W: u32> Bound<W> {
    /// Whether both must be equal: both are the same constant.
    pub const fn known_eq(self, other: Self) -> bool {
        self.is_constant() && other.is_constant() && self.lower == other.lower
    }

    /// Whether both cannot be equal: they have no member in common.
    pub fn known_ne(self, other: Self) -> bool {
        self.meet(other).is_none()
    }

    /// Whether `self` must be less than `other`.
    pub const fn known_lt(self, other: Self) -> bool {
        self.upper < other.lower
    }

    /// Whether `self` must be at most `other`.
    pub const fn known_le(self, other: Self) -> bool {
        self.upper <= other.lower
    }

    /// Whether `self` must be greater than `other`.
    pub const fn known_gt(self, other: Self) -> bool {
        other.known_lt(self)
    }

    /// Whether `self` must be at least `other`.
    pub const fn known_ge(self, other: Self) -> bool {
        other.known_le(self)
    }

    /// Whether `self` must be less than `other`, unsigned.
    pub fn known_ult(self, other: Self) -> bool {
        self.unsigned_upper() < other.unsigned_lower()
    }

    /// Whether `self` must be at most `other`, unsigned.
    pub fn known_ule(self, other: Self) -> bool {
        self.unsigned_upper() <= other.unsigned_lower()
    }

    /// Whether `self` must be greater than `other`, unsigned.
    pub fn known_ugt(self, other: Self) -> bool {
        other.known_ult(self)
    }

    /// Whether `self` must be at least `other`, unsigned.
    pub fn known_uge(self, other: Self) -> bool {
        other.known_ule(self)
    }

    /// 1 if this isn't zero, 0 if it is, either if that isn't known.
    pub fn is_true_bound(self) -> Self {
        self.ne_bound(Self::constant(0))
    }

    /// 1 if this is zero, 0 if it isn't, either if that isn't known.
    pub fn is_zero_bound(self) -> Self {
        self.eq_bound(Self::constant(0))
    }
}
