//! What is known of an integer: a signed range and known bits, each tightening the other.
//!
//! ```
//! # use bounds::IntBound;
//! // A pointer to something of eight bytes, below a hundred.
//! let multiple = IntBound::from_bits(0, !7);
//! let pointer = IntBound::from_range(1, 99).and_then(|range| range.meet(multiple)).expect("8 is one");
//! assert_eq!((pointer.lower(), pointer.upper()), (8, 96));
//! assert_eq!(pointer.to_string(), "8..=96 bits 0…????000");
//! assert_eq!(pointer.add_bound(IntBound::constant(4)).to_string(), "12..=100 bits 0…????100");
//! assert!(pointer.known_gt_const(7));
//! ```
//!
//! A [`Bound`] stands for a set that is never empty; operations that may find a contradiction answer `None`, which
//! means that the place is never reached. Every bound is kept *reduced* (see `reduce`): its ends are members, and each
//! unknown bit is 0 in some member and 1 in another. So two bounds are equal exactly if their sets are, `meet` is
//! exactly the intersection, and each comparison of two bounds that can be decided is.
//!
//! Operations are sound, not always the tightest possible: the example `precision` prints the numbers. Nothing here is
//! relational: `x - x` of an unknown `x` is unknown. That they are sound Z3 proves, from this source (the crate
//! `soundness`).
//!
//! The width is a parameter so that tests can go over all bounds of few bits; the compiler uses [`IntBound`]. At `W`
//! bits values are kept sign-extended in an `i64`, as are both halves of the known bits. Ops that speak of 64 bits have
//! these analogues: shift amounts are taken modulo `W` (unsigned), a byte has one bit in `int_signext` and `int_bswap`.
//!
//! Ideas: PyPy's `IntBound` (`rpython/jit/metainterp/optimizeopt/intutils.py`; names of methods, known bits beside the
//! range), tristate numbers (see `tristate`), and the bounds of bitwise ops in H. S. Warren, "Hacker's Delight",
//! chapter 4.

mod arithmetic;
mod bits;
mod compare;
mod division;
mod lattice;
mod narrow;
mod reduce;
mod refine;
mod refine_compare;
mod shifts;
mod transfer;
mod tristate;

pub use narrow::compute;
pub use refine::Operands;
use std::fmt;
use tristate::Tristate;

/// The bound of an integer of the IR.
pub type IntBound = Bound<64>;

/// What is known of an integer of `W` bits, from 3 to 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bound<const W: u32> {
    lower: i64,
    upper: i64,
    tvalue: u64,
    tmask: u64,
}

impl<const W: u32> Bound<W> {
    /// The smallest integer of this width.
    pub const MIN: i64 = i64::MIN >> (64 - W);
    /// The largest integer of this width.
    pub const MAX: i64 = i64::MAX >> (64 - W);
    /// `W` ones: an integer of this width and this mask give its unsigned value.
    pub const MASK: u64 = u64::MAX >> (64 - W);

    /// Nothing known.
    pub const fn unbounded() -> Self {
        Bound { lower: Self::MIN, upper: Self::MAX, tvalue: 0, tmask: u64::MAX }
    }

    /// Just `c`, wrapped to the width.
    pub const fn constant(c: i64) -> Self {
        let c = Self::wrap(c);
        Bound { lower: c, upper: c, tvalue: c as u64, tmask: 0 }
    }

    /// From `lower` to `upper`, both included; `None` if that is empty. Ends beyond the width are moved to its ends.
    pub fn from_range(lower: i64, upper: i64) -> Option<Self> {
        Self::reduced(lower.max(Self::MIN), upper.min(Self::MAX), Tristate::UNKNOWN)
    }

    /// Where `tmask` has a one the bit is unknown, elsewhere it is that of `tvalue`. Bits beyond the width don't count.
    pub const fn from_bits(tvalue: u64, tmask: u64) -> Self {
        Self::from_tristate(Tristate::new(tvalue, tmask))
    }

    /// 0 or 1.
    pub const fn boolean() -> Self {
        Bound { lower: 0, upper: 1, tvalue: 0, tmask: 1 }
    }

    /// 1 if `known` is true, 0 if it is false, either if it isn't known.
    pub const fn from_decision(known: Option<bool>) -> Self {
        match known {
            Some(known) => Self::constant(known as i64),
            None => Self::boolean(),
        }
    }

    /// 0 and up.
    pub const fn nonnegative() -> Self {
        Bound { lower: 0, upper: Self::MAX, tvalue: 0, tmask: Self::MAX as u64 }
    }

    /// The smallest member.
    pub const fn lower(self) -> i64 {
        self.lower
    }

    /// The largest member.
    pub const fn upper(self) -> i64 {
        self.upper
    }

    /// The known bits; 0 where the bit isn't known.
    pub const fn tvalue(self) -> u64 {
        self.tvalue
    }

    /// The bits that aren't known.
    pub const fn tmask(self) -> u64 {
        self.tmask
    }

    /// The bits known to be one, the sign's copies among them.
    pub const fn ones(self) -> u64 {
        self.tvalue
    }

    /// The bits known to be zero, the sign's copies among them.
    pub const fn zeros(self) -> u64 {
        !self.tvalue & !self.tmask
    }

    /// The smallest member in unsigned order, as an unsigned number of `W` bits.
    pub fn unsigned_lower(self) -> u64 {
        self.nonnegative_part().unwrap_or(self).lower as u64 & Self::MASK
    }

    /// The largest member in unsigned order, as an unsigned number of `W` bits.
    pub fn unsigned_upper(self) -> u64 {
        self.negative_part().unwrap_or(self).upper as u64 & Self::MASK
    }

    /// The only member, if there is just one.
    pub const fn get_constant_int(self) -> Option<i64> {
        if self.is_constant() { Some(self.lower) } else { None }
    }

    /// Whether there is only one member.
    pub const fn is_constant(self) -> bool {
        self.lower == self.upper
    }

    /// Whether all members are 0 or 1.
    pub const fn is_bool(self) -> bool {
        self.lower >= 0 && self.upper <= 1
    }

    /// Whether nothing is known.
    pub const fn is_unbounded(self) -> bool {
        self.lower == Self::MIN && self.upper == Self::MAX && self.tmask == u64::MAX
    }

    /// Whether the value may be `value`.
    pub const fn contains(self, value: i64) -> bool {
        self.lower <= value && value <= self.upper && (value as u64 ^ self.tvalue) & !self.tmask == 0
    }

    /// Whether all members are 0 or more.
    pub const fn known_nonnegative(self) -> bool {
        self.lower >= 0
    }

    /// Whether all members are below 0.
    pub const fn known_negative(self) -> bool {
        self.upper < 0
    }

    /// Brings a number to the width: its low `W` bits, sign-extended.
    pub const fn wrap(value: i64) -> i64 {
        value << (64 - W) >> (64 - W)
    }

    const fn tristate(self) -> Tristate {
        Tristate { value: self.tvalue, mask: self.tmask }
    }
}

impl<const W: u32> fmt::Display for Bound<W> {
    /// `any`, a number, a range, bits, or both of these where neither says all. A run of equal leading bits is written
    /// once, with dots.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unbounded() {
            return f.write_str("any");
        }
        if let Some(c) = self.get_constant_int() {
            return write!(f, "{c}");
        }
        if Self::from_tristate(self.tristate()) != *self {
            write!(f, "{}..={}", self.lower, self.upper)?;
            if Self::from_range(self.lower, self.upper) == Some(*self) {
                return Ok(());
            }
            f.write_str(" ")?;
        } else if Self::from_range(self.lower, self.upper) == Some(*self) {
            return write!(f, "{}..={}", self.lower, self.upper);
        }
        let digits: Vec<char> = (0..W).rev().map(|i| self.digit(i)).collect();
        let run = digits.iter().take_while(|d| **d == digits[0]).count();
        let shown = if run > 3 { run - 1 } else { 0 };
        f.write_str("bits ")?;
        if shown > 0 {
            write!(f, "{}…", digits[0])?;
        }
        digits[shown..].iter().skip(usize::from(shown > 0)).try_for_each(|d| write!(f, "{d}"))
    }
}

impl<const W: u32> fmt::Debug for Bound<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<const W: u32> Bound<W> {
    fn digit(&self, i: u32) -> char {
        match (self.tmask >> i & 1, self.tvalue >> i & 1) {
            (1, _) => '?',
            (_, 1) => '1',
            _ => '0',
        }
    }
}
