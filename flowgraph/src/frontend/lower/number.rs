//! What the number methods do.

use super::super::numbers::NumberMethod as M;
use super::super::refusal::Pos;
use super::super::tree::{BinOp, CompareOp, Expr};
use super::super::types::Ty;
use super::{Lowerer, Val};
use crate::ir::{Const, Imm, Opcode as O, Operand, Scalar, TrapKind, Type};
use smallvec::smallvec;

impl Lowerer<'_, '_> {
    pub(super) fn number(&mut self, method: M, args: &[Expr], ty: &Ty, pos: Pos) -> Val {
        let values: Val = args.iter().flat_map(|a| self.value(a)).collect();
        let Some(receiver) = args.first() else { return self.nothing(ty) };
        if values.len() != args.len() {
            return self.nothing(ty);
        }
        let s = self.scalar(&receiver.ty);
        let a = values[0];
        let b = values.get(1).copied().unwrap_or(Operand::int(0));
        let c = values.get(2).copied().unwrap_or(Operand::int(0));
        if s.is_float() {
            return smallvec![self.float_method(method, a, b, c, s, pos)];
        }
        let signed = s.is_signed();
        let bits = i64::from(s.bits());
        let one = |v| -> Val { smallvec![v] };
        match method {
            M::WrappingAdd => one(self.wrapping(O::IntAdd, a, b, s, pos)),
            M::WrappingSub => one(self.wrapping(O::IntSub, a, b, s, pos)),
            M::WrappingMul => one(self.wrapping(O::IntMul, a, b, s, pos)),
            M::WrappingAddSigned | M::WrappingAddUnsigned => one(self.wrapping(O::IntAdd, a, b, s, pos)),
            M::WrappingSubSigned | M::WrappingSubUnsigned => one(self.wrapping(O::IntSub, a, b, s, pos)),
            M::WrappingDiv | M::OverflowingDiv => {
                self.check_divisor(a, b, s, false, false, pos);
                let q = self.quotient(a, b, s, pos);
                if method == M::WrappingDiv { one(q) } else { self.with_division_flag(q, a, b, s, pos) }
            }
            M::WrappingRem | M::OverflowingRem => {
                self.check_divisor(a, b, s, true, false, pos);
                let r = self.remainder(a, b, s, pos);
                if method == M::WrappingRem { one(r) } else { self.with_division_flag(r, a, b, s, pos) }
            }
            M::WrappingNeg => one(self.neg(a, s, pos)),
            M::Abs => {
                self.overflows_if(self.constant && a.as_int() == Some(Lowerer::minimum(s)), pos);
                one(self.abs(a, s, pos))
            }
            M::WrappingAbs => one(self.abs(a, s, pos)),
            M::UnsignedAbs => {
                let v = self.abs(a, s, pos);
                one(self.unsigned_of(v, s, pos))
            }
            M::WrappingShl => one(self.shift_left(a, b, s, pos)),
            M::WrappingShr => one(self.shift_right(a, b, s, pos)),
            M::CheckedAdd
            | M::OverflowingAdd
            | M::CheckedSub
            | M::OverflowingSub
            | M::CheckedMul
            | M::OverflowingMul => {
                let op = match method {
                    M::CheckedAdd | M::OverflowingAdd => BinOp::Add,
                    M::CheckedSub | M::OverflowingSub => BinOp::Sub,
                    _ => BinOp::Mul,
                };
                let (v, overflow) = self.overflowing(op, a, b, s, pos);
                let checked = matches!(method, M::CheckedAdd | M::CheckedSub | M::CheckedMul);
                self.flagged(v, overflow, checked, pos)
            }
            M::CheckedNeg | M::OverflowingNeg => {
                let v = self.neg(a, s, pos);
                let overflow = if signed {
                    self.op2(O::IntEq, a, Operand::int(Lowerer::minimum(s)), pos)
                } else {
                    self.op2(O::IntNe, a, Operand::int(0), pos)
                };
                self.flagged(v, overflow, method == M::CheckedNeg, pos)
            }
            M::CheckedAbs | M::OverflowingAbs => {
                let v = self.abs(a, s, pos);
                let overflow = self.op2(O::IntEq, a, Operand::int(Lowerer::minimum(s)), pos);
                self.flagged(v, overflow, method == M::CheckedAbs, pos)
            }
            M::CheckedShl | M::CheckedShr | M::OverflowingShl | M::OverflowingShr => {
                let left = matches!(method, M::CheckedShl | M::OverflowingShl);
                let v = if left { self.shift_left(a, b, s, pos) } else { self.shift_right(a, b, s, pos) };
                let overflow = self.op2(O::UintGe, b, Operand::int(bits), pos);
                self.flagged(v, overflow, matches!(method, M::CheckedShl | M::CheckedShr), pos)
            }
            M::CheckedDiv | M::CheckedRem => {
                let rem = method == M::CheckedRem;
                let v = if rem { self.remainder(a, b, s, pos) } else { self.quotient(a, b, s, pos) };
                let zero = self.op1(O::IntIsZero, b, pos);
                let bad = match self.division_overflows(a, b, s, pos) {
                    Some(overflow) => self.op2(O::IntOr, zero, overflow, pos),
                    None => zero,
                };
                self.flagged(v, bad, true, pos)
            }
            M::SaturatingAdd | M::SaturatingSub | M::SaturatingMul => {
                let op = match method {
                    M::SaturatingAdd => BinOp::Add,
                    M::SaturatingSub => BinOp::Sub,
                    _ => BinOp::Mul,
                };
                one(self.saturating(op, a, b, s, pos))
            }
            M::RotateLeft | M::RotateRight => one(self.rotate(a, b, s, method == M::RotateLeft, pos)),
            M::CountOnes => {
                let v = self.unsigned_of(a, s, pos);
                one(self.op1(O::IntPopcount, v, pos))
            }
            M::CountZeros => {
                let v = self.unsigned_of(a, s, pos);
                let n = self.op1(O::IntPopcount, v, pos);
                one(self.op2(O::IntSub, Operand::int(bits), n, pos))
            }
            M::LeadingZeros => {
                let v = self.unsigned_of(a, s, pos);
                one(self.leading_zeros(v, s, pos))
            }
            M::LeadingOnes => {
                let inverted = self.op1(O::IntInvert, a, pos);
                let v = self.unsigned_of(inverted, s, pos);
                one(self.leading_zeros(v, s, pos))
            }
            M::TrailingZeros => one(self.trailing_zeros(a, s, pos)),
            M::TrailingOnes => {
                let inverted = self.op1(O::IntInvert, a, pos);
                one(self.trailing_zeros(inverted, s, pos))
            }
            M::SwapBytes | M::ReverseBits => {
                if s.bits() == 8 && method == M::SwapBytes {
                    return one(a);
                }
                let wide = self.op1(if method == M::SwapBytes { O::IntBswap } else { O::IntBitreverse }, a, pos);
                if bits == 64 {
                    return one(wide);
                }
                // The low bits have become the high ones.
                let opcode = if signed { O::IntRshift } else { O::UintRshift };
                one(self.op2(opcode, wide, Operand::int(64 - bits), pos))
            }
            M::Signum => {
                let positive = self.op2(O::IntGt, a, Operand::int(0), pos);
                let negative = self.op2(O::IntLt, a, Operand::int(0), pos);
                one(self.op2(O::IntSub, positive, negative, pos))
            }
            M::IsPositive => one(self.op2(O::IntGt, a, Operand::int(0), pos)),
            M::IsNegative => one(self.op2(O::IntLt, a, Operand::int(0), pos)),
            M::Min => one(self.lesser(a, b, s, pos)),
            M::Max => one(self.greater(a, b, s, pos)),
            M::Clamp => {
                let ordered = self.compare_scalars(CompareOp::Le, b, c, s, pos);
                let message = if s.is_integer() {
                    Some("min > max. min = {:?}, max = {:?}".to_owned())
                } else {
                    Some("assertion failed: min <= max".to_owned())
                };
                let shown = [(b, s), (c, s)];
                let shown: &[(Operand, Scalar)] = if s.is_integer() { &shown } else { &[] };
                self.check_saying(ordered, TrapKind::Assert, message, shown, pos);
                let raised = self.greater(a, b, s, pos);
                one(self.lesser(raised, c, s, pos))
            }
            M::Pow if self.constant => {
                let (v, overflow) = self.power(a, b, s, true, pos);
                self.overflows_if(overflow.as_int() == Some(1), pos);
                one(v)
            }
            M::Pow | M::WrappingPow => one(self.power(a, b, s, false, pos).0),
            M::CheckedPow | M::OverflowingPow => {
                let (v, overflow) = self.power(a, b, s, true, pos);
                self.flagged(v, overflow, method == M::CheckedPow, pos)
            }
            // Rounded down, a division by a power of two is a shift, whatever the dividend's sign.
            M::RemEuclid if is_power_of_two(b) => {
                let mask = b.as_int().map_or(0, |power| power - 1);
                one(self.op2(O::IntAnd, a, Operand::int(mask), pos))
            }
            M::DivEuclid if is_power_of_two(b) => {
                let by = b.as_int().map_or(0, |power| i64::from(power.trailing_zeros()));
                one(self.op2(if signed { O::IntRshift } else { O::UintRshift }, a, Operand::int(by), pos))
            }
            M::RemEuclid => {
                self.check_divisor(a, b, s, true, true, pos);
                let r = self.remainder(a, b, s, pos);
                if !signed {
                    return one(r);
                }
                let negative = self.op2(O::IntLt, r, Operand::int(0), pos);
                let magnitude = self.abs(b, Scalar::I64, pos);
                let raised = self.op2(O::IntAdd, r, magnitude, pos);
                one(self.b.pure(O::IntSelect, &[negative, raised, r], pos))
            }
            M::DivEuclid => {
                self.check_divisor(a, b, s, false, true, pos);
                let q = self.quotient(a, b, s, pos);
                if !signed {
                    return one(q);
                }
                let r = self.remainder(a, b, s, pos);
                let negative = self.op2(O::IntLt, r, Operand::int(0), pos);
                let positive = self.op2(O::IntGt, b, Operand::int(0), pos);
                let (down, up) =
                    (self.op2(O::IntSub, q, Operand::int(1), pos), self.op2(O::IntAdd, q, Operand::int(1), pos));
                let moved = self.b.pure(O::IntSelect, &[positive, down, up], pos);
                one(self.b.pure(O::IntSelect, &[negative, moved, q], pos))
            }
            M::AbsDiff => {
                let less = self.compare_scalars(CompareOp::Lt, a, b, s, pos);
                let (up, down) = (self.op2(O::IntSub, b, a, pos), self.op2(O::IntSub, a, b, pos));
                // Below 2^64 in either case, and positive at narrow widths.
                one(self.b.pure(O::IntSelect, &[less, up, down], pos))
            }
            M::IsPowerOfTwo => {
                let n = self.op1(O::IntPopcount, a, pos);
                one(self.op2(O::IntEq, n, Operand::int(1), pos))
            }
            M::CastSigned => {
                let signed = [Scalar::I8, Scalar::I16, Scalar::I32].into_iter().find(|t| t.bits() == s.bits());
                one(self.canonical(a, signed.unwrap_or(Scalar::I64), pos))
            }
            M::CastUnsigned => one(self.unsigned_of(a, s, pos)),
            M::IsAsciiDigit => one(self.within(a, b'0', b'9', pos)),
            M::IsAsciiLowercase => one(self.within(a, b'a', b'z', pos)),
            M::IsAsciiUppercase => one(self.within(a, b'A', b'Z', pos)),
            M::IsAsciiAlphabetic => one(self.alphabetic(a, pos)),
            M::IsAsciiAlphanumeric => one(self.alphanumeric(a, pos)),
            M::IsAsciiHexdigit => {
                let lower = self.op2(O::IntOr, a, Operand::int(0x20), pos);
                let (letter, digit) = (self.within(lower, b'a', b'f', pos), self.within(a, b'0', b'9', pos));
                one(self.op2(O::IntOr, letter, digit, pos))
            }
            M::IsAsciiPunctuation => {
                let (graphic, alphanumeric) = (self.within(a, b'!', b'~', pos), self.alphanumeric(a, pos));
                one(self.op2(O::IntGt, graphic, alphanumeric, pos))
            }
            M::IsAsciiGraphic => one(self.within(a, b'!', b'~', pos)),
            M::IsAsciiControl => {
                let (control, delete) = (self.within(a, 0, 0x1f, pos), self.op2(O::IntEq, a, Operand::int(0x7f), pos));
                one(self.op2(O::IntOr, control, delete, pos))
            }
            M::IsAscii => one(self.within(a, 0, 0x7f, pos)),
            M::ToAsciiUppercase => {
                let (lower, upper) = (self.within(a, b'a', b'z', pos), self.op2(O::IntSub, a, Operand::int(0x20), pos));
                one(self.b.pure(O::IntSelect, &[lower, upper, a], pos))
            }
            M::ToAsciiLowercase => {
                let (upper, lower) = (self.within(a, b'A', b'Z', pos), self.op2(O::IntOr, a, Operand::int(0x20), pos));
                one(self.b.pure(O::IntSelect, &[upper, lower, a], pos))
            }
            M::IsAsciiWhitespace => {
                let mut any = Operand::int(0);
                for c in [b' ', b'\t', b'\n', b'\x0c', b'\r'] {
                    let this = self.op2(O::IntEq, a, Operand::int(i64::from(c)), pos);
                    any = if any == Operand::int(0) { this } else { self.op2(O::IntOr, any, this, pos) };
                }
                one(any)
            }
            _ => self.nothing(ty),
        }
    }

    /// `Option` of the value (none if `bad`), or the pair with the flag.
    fn flagged(&mut self, value: Operand, bad: Operand, checked: bool, pos: Pos) -> Val {
        if checked {
            let some = self.op1(O::IntIsZero, bad, pos);
            smallvec![some, value]
        } else {
            smallvec![value, bad]
        }
    }

    fn with_division_flag(&mut self, v: Operand, a: Operand, b: Operand, s: Scalar, pos: Pos) -> Val {
        let overflow = self.division_overflows(a, b, s, pos).unwrap_or(Operand::int(0));
        // `MIN % -1` is 0 and `MIN / -1` is `MIN` already.
        smallvec![v, overflow]
    }

    fn neg(&mut self, a: Operand, s: Scalar, pos: Pos) -> Operand {
        let v = self.op1(O::IntNeg, a, pos);
        self.canonical(v, s, pos)
    }

    fn abs(&mut self, a: Operand, s: Scalar, pos: Pos) -> Operand {
        let negative = self.op2(O::IntLt, a, Operand::int(0), pos);
        let negated = self.neg(a, s, pos);
        self.b.pure(O::IntSelect, &[negative, negated, a], pos)
    }

    /// The word as one of the unsigned type of the same width.
    fn unsigned_of(&mut self, a: Operand, s: Scalar, pos: Pos) -> Operand {
        match s.bits() {
            64 => a,
            bits => self.op2(O::IntAnd, a, Operand::int((u64::MAX >> (64 - bits)) as i64), pos),
        }
    }

    fn lesser(&mut self, a: Operand, b: Operand, s: Scalar, pos: Pos) -> Operand {
        let less = self.compare_scalars(CompareOp::Lt, a, b, s, pos);
        self.b.pure(O::IntSelect, &[less, a, b], pos)
    }

    fn greater(&mut self, a: Operand, b: Operand, s: Scalar, pos: Pos) -> Operand {
        let greater = self.compare_scalars(CompareOp::Gt, a, b, s, pos);
        self.b.pure(O::IntSelect, &[greater, a, b], pos)
    }

    /// The wrapped result, and whether it is not the true one.
    fn overflowing(&mut self, op: BinOp, a: Operand, b: Operand, s: Scalar, pos: Pos) -> (Operand, Operand) {
        let (plain, with_flag) = match op {
            BinOp::Add => (O::IntAdd, O::IntAddOvf),
            BinOp::Sub => (O::IntSub, O::IntSubOvf),
            _ => (O::IntMul, O::IntMulOvf),
        };
        if s.bits() < 64 {
            // The true result fits 64 bits.
            let wide = self.op2(plain, a, b, pos);
            let v = self.canonical(wide, s, pos);
            return (v, self.op2(O::IntNe, wide, v, pos));
        }
        if s.is_signed() {
            let both = self.b.pure_all(with_flag, &[a, b], pos);
            return (both[0], both[1]);
        }
        let v = self.op2(plain, a, b, pos);
        let overflow = match op {
            BinOp::Add => self.op2(O::UintLt, v, a, pos),
            BinOp::Sub => self.op2(O::UintLt, a, b, pos),
            _ => {
                let high = self.op2(O::UintMulHigh, a, b, pos);
                self.op2(O::IntNe, high, Operand::int(0), pos)
            }
        };
        (v, overflow)
    }

    fn saturating(&mut self, op: BinOp, a: Operand, b: Operand, s: Scalar, pos: Pos) -> Operand {
        let (v, overflow) = self.overflowing(op, a, b, s, pos);
        let (min, max) = (Operand::int(Lowerer::minimum(s)), Operand::int(Lowerer::maximum(s)));
        let limit = match (s.is_signed(), op) {
            (false, BinOp::Sub) => min,
            (false, _) => max,
            // The sign of the true result: that of `a` for sums and differences, of both for products.
            (true, BinOp::Mul) => {
                let signs = self.op2(O::IntXor, a, b, pos);
                let negative = self.op2(O::IntLt, signs, Operand::int(0), pos);
                self.b.pure(O::IntSelect, &[negative, min, max], pos)
            }
            (true, _) => {
                let negative = self.op2(O::IntLt, a, Operand::int(0), pos);
                self.b.pure(O::IntSelect, &[negative, min, max], pos)
            }
        };
        self.b.pure(O::IntSelect, &[overflow, limit, v], pos)
    }

    fn rotate(&mut self, a: Operand, n: Operand, s: Scalar, left: bool, pos: Pos) -> Operand {
        let v = self.unsigned_of(a, s, pos);
        let mask = i64::from(s.bits() - 1);
        let n = self.op2(O::IntAnd, n, Operand::int(mask), pos);
        // For n = 0 both shifts are by 0, as the other amount is taken modulo the width too.
        let negated = self.op1(O::IntNeg, n, pos);
        let back = self.op2(O::IntAnd, negated, Operand::int(mask), pos);
        let (l, r) = if left { (n, back) } else { (back, n) };
        let high = self.op2(O::IntLshift, v, l, pos);
        let low = self.op2(O::UintRshift, v, r, pos);
        let joined = self.op2(O::IntOr, high, low, pos);
        self.canonical(joined, s, pos)
    }

    /// Of a zero-extended word.
    fn leading_zeros(&mut self, v: Operand, s: Scalar, pos: Pos) -> Operand {
        let n = self.op1(O::IntClz, v, pos);
        match s.bits() {
            64 => n,
            bits => self.op2(O::IntSub, n, Operand::int(64 - i64::from(bits)), pos),
        }
    }

    fn trailing_zeros(&mut self, a: Operand, s: Scalar, pos: Pos) -> Operand {
        let v = match s.bits() {
            64 => a,
            // A one beyond the width ends the count for zero.
            bits => self.op2(O::IntOr, a, Operand::int(1 << bits), pos),
        };
        self.op1(O::IntCtz, v, pos)
    }

    fn within(&mut self, a: Operand, from: u8, to: u8, pos: Pos) -> Operand {
        let above = self.op2(O::IntSub, a, Operand::int(i64::from(from)), pos);
        self.op2(O::UintLe, above, Operand::int(i64::from(to - from)), pos)
    }

    fn alphabetic(&mut self, a: Operand, pos: Pos) -> Operand {
        let lower = self.op2(O::IntOr, a, Operand::int(0x20), pos);
        self.within(lower, b'a', b'z', pos)
    }

    fn alphanumeric(&mut self, a: Operand, pos: Pos) -> Operand {
        let (letter, digit) = (self.alphabetic(a, pos), self.within(a, b'0', b'9', pos));
        self.op2(O::IntOr, letter, digit, pos)
    }

    /// `a.pow(n)` by squaring, as Rust's own: the wrapped power, and whether a product on the way overflowed. An
    /// exponent that is known when compiling is gone through then.
    fn power(&mut self, a: Operand, n: Operand, s: Scalar, flag: bool, pos: Pos) -> (Operand, Operand) {
        if let Some(exponent) = n.as_int() {
            return self.power_of(a, exponent as u64, s, flag, pos);
        }
        let (acc, over) = (self.b.new_var(Type::Int), self.b.new_var(Type::Int));
        let (known, unknown, after) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        let is_known = self.b.op(O::IsConstant, &[n], Imm::None, &[Type::Int], pos)[0];
        self.b.branch(is_known, known, unknown, pos);
        self.b.enter(known);
        let exponent = self.b.op(O::Promote, &[n], Imm::None, &[Type::Int], pos)[0];
        self.raise(a, exponent, (acc, over), s, flag, pos);
        self.b.jump(after, pos);
        self.b.enter(unknown);
        self.raise(a, n, (acc, over), s, flag, pos);
        self.b.jump(after, pos);
        self.b.enter(after);
        let result = self.b.read(acc);
        (result, if flag { self.b.read(over) } else { Operand::int(0) })
    }

    /// The power to a constant.
    fn power_of(&mut self, a: Operand, n: u64, s: Scalar, flag: bool, pos: Pos) -> (Operand, Operand) {
        let (mut acc, mut base, mut over) = (None, a, Operand::int(0));
        let mut rest = n;
        loop {
            if rest & 1 == 1 {
                let product = acc.map_or((base, Operand::int(0)), |acc| self.multiply(acc, base, s, flag, pos));
                acc = Some(product.0);
                over = self.either(over, product.1, pos);
            }
            rest >>= 1;
            if rest == 0 {
                return (acc.unwrap_or(Operand::int(1)), over);
            }
            let square = self.multiply(base, base, s, flag, pos);
            base = square.0;
            over = self.either(over, square.1, pos);
        }
    }

    /// The power in a loop, to variables for it and for whether a product overflowed.
    fn raise(
        &mut self,
        a: Operand,
        n: Operand,
        (acc, over): (super::Var, super::Var),
        s: Scalar,
        flag: bool,
        pos: Pos,
    ) {
        let (base, exp) = (self.b.new_var(Type::Int), self.b.new_var(Type::Int));
        let (head, odd, even, square, after) =
            (self.b.new_block(), self.b.new_block(), self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.write_all(&[acc, base, exp, over], &[Operand::int(1), a, n, Operand::int(0)]);
        self.b.jump(head, pos);

        self.b.switch_to(head);
        let e = self.b.read(exp);
        let low = self.op2(O::IntAnd, e, Operand::int(1), pos);
        self.b.branch(low, odd, even, pos);

        self.b.enter(odd);
        let (x, y) = (self.b.read(acc), self.b.read(base));
        self.multiply_into(x, y, (acc, over), s, flag, pos);
        self.b.jump(even, pos);

        self.b.enter(even);
        let e = self.b.read(exp);
        let rest = self.op2(O::UintRshift, e, Operand::int(1), pos);
        self.b.write(exp, rest);
        self.b.branch(rest, square, after, pos);

        self.b.enter(square);
        let x = self.b.read(base);
        self.multiply_into(x, x, (base, over), s, flag, pos);
        self.b.jump(head, pos);

        self.b.seal(head);
        self.b.enter(after);
    }

    fn multiply_into(
        &mut self,
        x: Operand,
        y: Operand,
        (to, over): (super::Var, super::Var),
        s: Scalar,
        flag: bool,
        pos: Pos,
    ) {
        let (product, overflow) = self.multiply(x, y, s, flag, pos);
        self.b.write(to, product);
        if flag {
            let so_far = self.b.read(over);
            let any = self.either(so_far, overflow, pos);
            self.b.write(over, any);
        }
    }

    /// The wrapped product, and whether it overflowed, if that is asked.
    fn multiply(&mut self, x: Operand, y: Operand, s: Scalar, flag: bool, pos: Pos) -> (Operand, Operand) {
        match flag {
            true => self.overflowing(BinOp::Mul, x, y, s, pos),
            false => (self.wrapping(O::IntMul, x, y, s, pos), Operand::int(0)),
        }
    }

    fn either(&mut self, a: Operand, b: Operand, pos: Pos) -> Operand {
        match (a.as_int(), b.as_int()) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.op2(O::IntOr, a, b, pos),
        }
    }

    // ---- floats

    fn float_method(&mut self, m: M, a: Operand, b: Operand, c: Operand, s: Scalar, pos: Pos) -> Operand {
        let double = s == Scalar::F64;
        let pick = |single, float| if double { float } else { single };
        let number = |x: f64| {
            Operand::Const(if double { Const::Float(x.to_bits()) } else { Const::Single((x as f32).to_bits()) })
        };
        match m {
            M::FloatSqrt => self.op1(pick(O::SingleSqrt, O::FloatSqrt), a, pos),
            M::FloatAbs => self.op1(pick(O::SingleAbs, O::FloatAbs), a, pos),
            M::FloatFloor => self.op1(pick(O::SingleFloor, O::FloatFloor), a, pos),
            M::FloatCeil => self.op1(pick(O::SingleCeil, O::FloatCeil), a, pos),
            M::FloatTrunc => self.op1(pick(O::SingleTrunc, O::FloatTrunc), a, pos),
            M::FloatNearest => self.op1(pick(O::SingleNearest, O::FloatNearest), a, pos),
            M::FloatMin => self.op2(pick(O::SingleMin, O::FloatMin), a, b, pos),
            M::FloatMax => self.op2(pick(O::SingleMax, O::FloatMax), a, b, pos),
            M::FloatMulAdd => self.b.pure(pick(O::SingleFma, O::FloatFma), &[a, b, c], pos),
            M::FloatCopysign => self.op2(pick(O::SingleCopysign, O::FloatCopysign), a, b, pos),
            M::FloatToBits => self.op1(pick(O::SingleToBits, O::FloatToBits), a, pos),
            M::FloatIsNan => self.op2(pick(O::SingleNe, O::FloatNe), a, a, pos),
            M::FloatIsFinite | M::FloatIsInfinite => {
                let magnitude = self.op1(pick(O::SingleAbs, O::FloatAbs), a, pos);
                let opcode =
                    if m == M::FloatIsFinite { pick(O::SingleLt, O::FloatLt) } else { pick(O::SingleEq, O::FloatEq) };
                self.op2(opcode, magnitude, number(f64::INFINITY), pos)
            }
            M::FloatIsSignNegative | M::FloatIsSignPositive => {
                // By the sign of one with the number's sign: the bits of a NaN aren't looked at otherwise.
                let sign = self.op2(pick(O::SingleCopysign, O::FloatCopysign), number(1.0), a, pos);
                let opcode = if m == M::FloatIsSignNegative {
                    pick(O::SingleLt, O::FloatLt)
                } else {
                    pick(O::SingleGt, O::FloatGt)
                };
                self.op2(opcode, sign, number(0.0), pos)
            }
            M::FloatSignum => {
                let sign = self.op2(pick(O::SingleCopysign, O::FloatCopysign), number(1.0), a, pos);
                let nan = self.op2(pick(O::SingleNe, O::FloatNe), a, a, pos);
                self.b.pure(pick(O::SingleSelect, O::FloatSelect), &[nan, a, sign], pos)
            }
            M::FloatRecip => self.op2(pick(O::SingleTruediv, O::FloatTruediv), number(1.0), a, pos),
            _ => a,
        }
    }
}

/// Whether an operand is known to be a power of two, and positive.
fn is_power_of_two(operand: Operand) -> bool {
    operand.as_int().is_some_and(|n| n > 0 && n.count_ones() == 1)
}
