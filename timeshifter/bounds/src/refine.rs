//! Backward: what the operands can be, given what the result is.
//!
//! First the result is met with what the op can give at all, then each operand with what the others and the result
//! leave to it. Most follow from an identity that holds in wrapping arithmetic, as `a = r - b` from `r = a + b`.

use super::Bound;
use super::shifts::extend;
use super::tristate::{Tristate, above};
use flowgraph::ir::Opcode;
use smallvec::SmallVec;

/// Bounds of operands.
pub type Operands<B> = SmallVec<[B; 3]>;
/// Bounds of two operands, if there is no contradiction.
pub(super) type Pair<B> = Option<(B, B)>;

impl<const W: u32> Bound<W> {
    /// The bounds of the operands of a pure op, given that its (first) result lies in `result`. Each implies the one in
    /// `args`. `None`: a contradiction, so the place is never reached.
    ///
    /// One step, without a loop to a fixed point: asking again may learn more. Of the overflow-checked ops the result
    /// is the wrapped value, whether or not it overflowed; see [`refine_no_overflow`](Self::refine_no_overflow).
    pub fn refine(opcode: Opcode, args: &[Self], result: Self) -> Option<Operands<Self>> {
        use Opcode as O;
        let forward = Self::transfer(opcode, args);
        let r = match forward.first() {
            Some(forward) => forward.meet(result)?,
            None => return Some(args.into()),
        };
        match *args {
            [a] => Some(SmallVec::from_slice(&[a.refine_unary(opcode, r)?])),
            [a, b] => {
                let (a, b) = match opcode {
                    O::IntAdd | O::IntAddOvf => a.refine_add(b, r)?,
                    O::IntSub | O::IntSubOvf => a.refine_sub(b, r)?,
                    O::IntMul | O::IntMulOvf => a.refine_mul(b, r)?,
                    O::IntFloordiv => (a.refine_floordiv(b, r)?, b),
                    O::IntMod => (a.refine_mod(b, r)?, b),
                    O::UintFloordiv => (a.refine_uint_floordiv(b, r)?, b),
                    O::UintMod => (a.refine_uint_mod(b, r)?, b),
                    O::IntAnd => a.refine_and(b, r)?,
                    O::IntOr => {
                        let (a, b) = a.invert_bound().refine_and(b.invert_bound(), r.invert_bound())?;
                        (a.invert_bound(), b.invert_bound())
                    }
                    O::IntXor => (a.meet(r.xor_bound(b))?, b.meet(r.xor_bound(a))?),
                    O::IntLshift => a.refine_shift(b, r, Self::lshift_const, Self::unshift_left)?,
                    O::IntRshift => a.refine_shift(b, r, Self::rshift_const, Self::unshift_right)?,
                    O::UintRshift => a.refine_shift(b, r, Self::urshift_const, Self::unshift_uint_right)?,
                    O::IntSignext => (a.refine_signext(b, r)?, b),
                    _ => a.refine_comparison(opcode, b, r)?,
                };
                Some(SmallVec::from_slice(&[a, b]))
            }
            [cond, a, b] if opcode == O::IntSelect => cond.refine_select(a, b, r),
            _ => Some(args.into()),
        }
    }

    /// As [`refine`](Self::refine), for an overflow-checked op (or the one that wraps) that did not overflow.
    pub fn refine_no_overflow(opcode: Opcode, args: &[Self], result: Self) -> Option<Operands<Self>> {
        use Opcode as O;
        let &[a, b] = args else {
            return Some(args.into());
        };
        let (a, b) = match opcode {
            O::IntAdd | O::IntAddOvf => {
                let r = a.add_bound_no_overflow(b)?.meet(result)?;
                let a = a.meet(r.sub_bound_no_overflow(b)?)?;
                (a, b.meet(r.sub_bound_no_overflow(a)?)?)
            }
            O::IntSub | O::IntSubOvf => {
                let r = a.sub_bound_no_overflow(b)?.meet(result)?;
                let a = a.meet(r.add_bound_no_overflow(b)?)?;
                (a, b.meet(a.sub_bound_no_overflow(r)?)?)
            }
            O::IntMul | O::IntMulOvf => {
                let r = a.mul_bound_no_overflow(b)?.meet(result)?;
                let a = a.refine_factor(b, r)?.refine_factor_range(b, r)?;
                (a, b.refine_factor(a, r)?.refine_factor_range(a, r)?)
            }
            _ => return Self::refine(opcode, args, result),
        };
        Some(SmallVec::from_slice(&[a, b]))
    }

    fn refine_unary(self, opcode: Opcode, r: Self) -> Option<Self> {
        use Opcode as O;
        match opcode {
            O::IntNeg => self.meet(r.neg_bound()),
            O::IntInvert => self.meet(r.invert_bound()),
            O::IntBswap => self.meet(r.bswap_bound()),
            O::IntBitreverse => self.meet(r.bitreverse_bound()),
            O::IntForceGeZero => {
                let below = if r.contains(0) { self.negative_part() } else { None };
                let above = self.nonnegative_part().and_then(|part| part.meet(r));
                Self::join_options(below, above)
            }
            O::IntIsTrue => self.refine_comparison(O::IntNe, Self::constant(0), r).map(|(a, _)| a),
            O::IntIsZero => self.refine_comparison(O::IntEq, Self::constant(0), r).map(|(a, _)| a),
            O::IntPopcount => {
                let known = if r.contains(0) { Some(self) } else { self.without(0) };
                if r.contains(i64::from(W)) { known } else { known?.without(-1) }.and_then(|known| {
                    match r.get_constant_int() {
                        Some(0) => known.meet(Self::constant(0)),
                        Some(n) if n == i64::from(W) => known.meet(Self::constant(-1)),
                        _ => Some(known),
                    }
                })
            }
            O::IntClz => {
                let highest = |zeros: i64| if zeros == i64::from(W) { 0 } else { Self::MASK >> zeros };
                let upper = highest(r.lower);
                let lower = highest(r.upper);
                self.meet(Self::from_unsigned_range(lower ^ lower >> 1, upper)?)
            }
            O::IntCtz => {
                let zeros = above(r.lower as u32);
                match r.get_constant_int() {
                    Some(n) if n < i64::from(W) => self.meet(Self::from_bits(1 << n, zeros & !(1 << n))),
                    _ => self.meet(Self::from_bits(0, zeros)),
                }
            }
            _ => Some(self),
        }
    }

    fn refine_add(self, other: Self, r: Self) -> Pair<Self> {
        let a = self.meet(r.sub_bound(other))?;
        Some((a, other.meet(r.sub_bound(a))?))
    }

    fn refine_sub(self, other: Self, r: Self) -> Pair<Self> {
        let a = self.meet(r.add_bound(other))?;
        Some((a, other.meet(a.sub_bound(r))?))
    }

    fn refine_mul(self, other: Self, r: Self) -> Pair<Self> {
        let a = self.refine_factor(other, r)?;
        let b = other.refine_factor(a, r)?;
        if !a.mul_bound_cannot_overflow(b) {
            return Some((a, b));
        }
        let a = a.refine_factor_range(b, r)?;
        Some((a, b.refine_factor_range(a, r)?))
    }

    /// The bits of a factor of the product `r` whose other factor is a constant: an odd number has an inverse.
    fn refine_factor(self, other: Self, r: Self) -> Option<Self> {
        let factor = match other.get_constant_int() {
            Some(factor) if factor != 0 => factor as u64,
            _ => return Some(self),
        };
        let twos = factor.trailing_zeros();
        let odd = factor >> twos;
        // Newton: an odd number is its own inverse modulo 8, and each step doubles the bits.
        let inverse = (0..5).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))));
        let quotient = Tristate { value: r.tvalue >> twos, mask: r.tmask >> twos };
        let bits = Tristate::constant(inverse).mul(quotient.low(W - twos)).low(W - twos);
        self.meet(Self::from_tristate(bits))
    }

    /// The range of a factor of the product `r` that did not overflow.
    fn refine_factor_range(self, other: Self, r: Self) -> Option<Self> {
        if other.contains(0) {
            return Some(self);
        }
        let Some(factor) = other.get_constant_int() else {
            return self.meet(r.floordiv_bound(other));
        };
        let factor = i128::from(factor);
        let (least, most) = if factor > 0 { (r.lower, r.upper) } else { (r.upper, r.lower) };
        let (least, most) = (i128::from(least), i128::from(most));
        let round_up = i128::from(least % factor != 0 && (least < 0) == (factor < 0));
        let round_down = i128::from(most % factor != 0 && (most < 0) != (factor < 0));
        self.meet(Self::clamped(least / factor + round_up, most / factor - round_down, Tristate::UNKNOWN)?)
    }

    fn refine_floordiv(self, other: Self, r: Self) -> Option<Self> {
        let divisor = match other.get_constant_int() {
            None | Some(0) => return Some(self),
            Some(-1) => return self.meet(r.neg_bound()),
            Some(divisor) => i128::from(divisor),
        };
        let (least, most) = (i128::from(r.lower), i128::from(r.upper));
        let (least, most) = if divisor > 0 { (least, most) } else { (-most, -least) };
        let size = divisor.abs();
        let lower = if least > 0 { least * size } else { least * size - (size - 1) };
        let upper = if most < 0 { most * size } else { most * size + (size - 1) };
        self.meet(Self::clamped(lower, upper, Tristate::UNKNOWN)?)
    }

    fn refine_mod(self, other: Self, r: Self) -> Option<Self> {
        let congruent = self.meet(Self::from_tristate(r.tristate().low(other.tristate().trailing_zeros())))?;
        if r.lower > 0 {
            congruent.meet(Self::from_range(r.lower, Self::MAX)?)
        } else if r.upper < 0 {
            congruent.meet(Self::from_range(Self::MIN, r.upper)?)
        } else {
            Some(congruent)
        }
    }

    fn refine_uint_floordiv(self, other: Self, r: Self) -> Option<Self> {
        let divisor = match other.get_constant_int() {
            None | Some(0) => return Some(self),
            Some(divisor) => u128::from(divisor as u64 & Self::MASK),
        };
        let lower = u128::from(r.unsigned_lower()) * divisor;
        let upper = (u128::from(r.unsigned_upper()) * divisor + divisor - 1).min(u128::from(Self::MASK));
        self.meet(Self::from_unsigned_range(u64::try_from(lower).ok()?, upper as u64)?)
    }

    fn refine_uint_mod(self, other: Self, r: Self) -> Option<Self> {
        let congruent = self.meet(Self::from_tristate(r.tristate().low(other.tristate().trailing_zeros())))?;
        congruent.meet(Self::from_unsigned_range(r.unsigned_lower(), Self::MASK)?)
    }

    /// `a` is `(a & b) | (a & !b)`, and the first of these is the result.
    fn refine_and(self, other: Self, r: Self) -> Pair<Self> {
        let a = self.meet(r.or_bound(self.and_bound(other.invert_bound())))?;
        Some((a, other.meet(r.or_bound(other.and_bound(a.invert_bound())))?))
    }

    /// Goes through the amounts if they are few: some may be impossible, and each leaves something to the operand.
    fn refine_shift(
        self,
        other: Self,
        r: Self,
        by: impl Fn(Self, u32) -> Self,
        back: impl Fn(Self, u32, Self) -> Option<Self>,
    ) -> Pair<Self> {
        let Some((amounts, are_members)) = other.few_amounts() else {
            return Some((self, other));
        };
        let (mut operand, mut possible) = (None, None);
        for value in amounts {
            let amount = Self::amount(value);
            let found = by(self, amount).meet(r).and_then(|shifted| back(self, amount, shifted));
            if found.is_some() {
                operand = Self::join_options(operand, found);
                possible = Self::join_options(possible, Some(Self::constant(value)));
            }
        }
        let possible: Self = possible?;
        let amount = if are_members {
            possible
        } else if W.is_power_of_two() {
            other.meet(Self::from_tristate(possible.tristate().low(W.trailing_zeros())))?
        } else {
            other
        };
        Some((operand?, amount))
    }

    /// What can be shifted left to `r`, which is met with the shifted `self`.
    fn unshift_left(self, amount: u32, r: Self) -> Option<Self> {
        self.refine_sign_extended(W - amount, r.rshift_const(amount))
    }

    /// What can be shifted right, copying the sign, to `r`, which is met with the shifted `self`.
    fn unshift_right(self, amount: u32, r: Self) -> Option<Self> {
        let low = !above(amount);
        let Tristate { value, mask } = r.tristate().shl(amount);
        self.meet(Self::reduced(r.lower << amount, r.upper << amount | low as i64, Tristate::new(value, mask | low))?)
    }

    /// What can be shifted right, filling with zeros, to `r`, which is met with the shifted `self`.
    fn unshift_uint_right(self, amount: u32, r: Self) -> Option<Self> {
        if amount == 0 {
            return self.meet(r);
        }
        let low = !above(amount);
        let Tristate { value, mask } = r.tristate().shl(amount);
        let (lower, upper) = ((r.lower as u64) << amount, (r.upper as u64) << amount | low);
        self.meet(Self::from_unsigned_bits(lower, upper, Tristate::new(value, mask | low))?)
    }

    fn refine_signext(self, bytes: Self, r: Self) -> Option<Self> {
        match Self::extended_bytes(bytes) {
            (least, most) if least == most => self.refine_sign_extended(least * Self::byte(), r),
            _ => Some(self),
        }
    }

    /// What can be extended from `n` bits to `r`: the low bits are known, and the range if all are of one cycle.
    fn refine_sign_extended(self, n: u32, r: Self) -> Option<Self> {
        let congruent = self.meet(Self::from_tristate(r.tristate().low(n)))?;
        let cycle = |value: i64| i128::from(value) - i128::from(extend(n, value));
        let base = cycle(congruent.lower);
        if base != cycle(congruent.upper) {
            return Some(congruent);
        }
        congruent.meet(Self::clamped(base + i128::from(r.lower), base + i128::from(r.upper), Tristate::UNKNOWN)?)
    }

    fn refine_select(self, a: Self, b: Self, r: Self) -> Option<Operands<Self>> {
        let if_true = self.without(0).and_then(|cond| Some([cond, a.meet(r)?, b]));
        let if_false = self.meet(Self::constant(0)).and_then(|cond| Some([cond, a, b.meet(r)?]));
        match (if_true, if_false) {
            (Some(_), Some(_)) => Some(SmallVec::from_slice(&[self, a, b])),
            (Some(only), None) | (None, Some(only)) => Some(SmallVec::from_slice(&only)),
            (None, None) => None,
        }
    }
}
