//! Known bits, without a width: the arithmetic of tristate numbers.
//!
//! The formulas are those of H. Vishwanathan, M. Shachnai, S. Narayana, S. Nagarakatte, "Sound, precise, and fast
//! abstract interpretation with tristate numbers", CGO 2022 (`add`, `sub` and the bitwise ones are optimal there; `mul`
//! is their `our_mul`, leaving as soon as nothing more can be lost).

/// Bits of which some are known: where `mask` is set the bit is unknown, elsewhere it is that of `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tristate {
    pub value: u64,
    pub mask: u64,
}

impl Tristate {
    /// Nothing known.
    pub const UNKNOWN: Tristate = Tristate { value: 0, mask: u64::MAX };

    pub const fn new(value: u64, mask: u64) -> Tristate {
        Tristate { value: value & !mask, mask }
    }

    pub const fn constant(value: u64) -> Tristate {
        Tristate { value, mask: 0 }
    }

    /// The bits that may be one.
    pub const fn possible(self) -> u64 {
        self.value | self.mask
    }

    /// How many zeros the number surely ends in.
    pub const fn trailing_zeros(self) -> u32 {
        self.possible().trailing_zeros()
    }

    /// Only the low `n` bits, the others unknown.
    pub const fn low(self, n: u32) -> Tristate {
        Tristate::new(self.value, self.mask | above(n))
    }

    pub const fn add(self, other: Tristate) -> Tristate {
        let masks = self.mask.wrapping_add(other.mask);
        let values = self.value.wrapping_add(other.value);
        let carries = masks.wrapping_add(values) ^ values;
        Tristate::new(values, carries | self.mask | other.mask)
    }

    pub const fn sub(self, other: Tristate) -> Tristate {
        let values = self.value.wrapping_sub(other.value);
        let borrows = values.wrapping_add(self.mask) ^ values.wrapping_sub(other.mask);
        Tristate::new(values, borrows | self.mask | other.mask)
    }

    pub const fn mul(self, other: Tristate) -> Tristate {
        let product = self.value.wrapping_mul(other.value);
        let lowest = min(
            self.value.trailing_zeros() + other.mask.trailing_zeros(),
            self.mask.trailing_zeros() + other.possible().trailing_zeros(),
        );
        // All that can become unknown; when all of it is, the rest of the loop changes nothing.
        let losable = above(lowest);
        let mut unknown = 0u64;
        let mut left = self.possible();
        while left != 0 && unknown != losable {
            let i = left.trailing_zeros();
            left &= left - 1;
            let addend = if self.mask >> i & 1 != 0 { other.possible() } else { other.mask } << i;
            unknown |= unknown.wrapping_add(addend) | addend;
        }
        Tristate::constant(product).add(Tristate { value: 0, mask: unknown })
    }

    /// The product by a constant, as sums and differences of shifted numbers: of the signed digits of the constant
    /// (none next to another) there are few where its bits are many, as of -1.
    pub fn mul_constant(self, mut factor: u64) -> Tristate {
        let mut product = Tristate::constant(0);
        let mut shift = 0;
        while factor != 0 && product.mask != u64::MAX {
            let zeros = factor.trailing_zeros();
            factor >>= zeros;
            shift += zeros;
            if shift >= 64 {
                break; // What a negative constant ends in is beyond all bits.
            }
            let addend = self.shl(shift);
            if factor & 3 == 3 {
                product = product.sub(addend);
                factor = factor.wrapping_add(1);
            } else {
                product = product.add(addend);
                factor -= 1;
            }
        }
        product
    }

    pub const fn and(self, other: Tristate) -> Tristate {
        let ones = self.value & other.value;
        Tristate::new(ones, self.possible() & other.possible() & !ones)
    }

    pub const fn or(self, other: Tristate) -> Tristate {
        let ones = self.value | other.value;
        Tristate::new(ones, (self.mask | other.mask) & !ones)
    }

    pub const fn xor(self, other: Tristate) -> Tristate {
        Tristate::new(self.value ^ other.value, self.mask | other.mask)
    }

    pub const fn not(self) -> Tristate {
        Tristate::new(!self.value, self.mask)
    }

    pub const fn shl(self, amount: u32) -> Tristate {
        Tristate { value: self.value << amount, mask: self.mask << amount }
    }

    /// Shifts right; the highest bit, known or not, is copied.
    pub const fn sar(self, amount: u32) -> Tristate {
        Tristate { value: ((self.value as i64) >> amount) as u64, mask: ((self.mask as i64) >> amount) as u64 }
    }

    /// What both say; `None` where they contradict.
    pub const fn meet(self, other: Tristate) -> Option<Tristate> {
        if (self.value ^ other.value) & !self.mask & !other.mask != 0 {
            return None;
        }
        let mask = self.mask & other.mask;
        Some(Tristate::new(self.value | other.value, mask))
    }

    /// What either says.
    pub const fn join(self, other: Tristate) -> Tristate {
        Tristate::new(self.value, self.mask | other.mask | (self.value ^ other.value))
    }
}

/// All bits from number `n` up; none for 64 and more.
pub(super) const fn above(n: u32) -> u64 {
    if n >= 64 { 0 } else { u64::MAX << n }
}

const fn min(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}
