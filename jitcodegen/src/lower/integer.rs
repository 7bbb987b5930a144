//! Integers: what takes more than one instruction.

use crate::CodegenError;
use crate::function::Translator;
use crate::lower::division::{self, Signed, Unsigned};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use flowgraph::ir::{BlockId, Op, Operand};
use target_lexicon::Architecture;

impl<'f> Translator<'_, 'f, '_> {
    /// An op of one operand and one result.
    pub fn unary(
        &mut self,
        op: &Op,
        emit: impl FnOnce(&mut FunctionBuilder<'f>, Value) -> Value,
    ) -> Result<(), CodegenError> {
        let x = self.value(op.args[0])?;
        let result = emit(self.b, x);
        self.define(op.results[0], result);
        Ok(())
    }

    /// An op of two operands and one result.
    pub fn binary(
        &mut self,
        op: &Op,
        emit: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value,
    ) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let result = emit(self.b, x, y);
        self.define(op.results[0], result);
        Ok(())
    }

    /// A sum. A step of a loop is a difference on x86-64, so that it isn't made part of an address; other machines'
    /// addresses have no room for a base, an index and a constant.
    pub fn add(&mut self, op: &Op) -> Result<(), CodegenError> {
        match op.args[1].as_int() {
            Some(by) if self.steps.contains(&op.results[0]) && self.architecture() == Architecture::X86_64 => {
                let x = self.value(op.args[0])?;
                let less = self.b.ins().iconst(types::I64, by.wrapping_neg());
                let result = self.b.ins().isub(x, less);
                self.define(op.results[0], result);
                Ok(())
            }
            _ => self.binary(op, |b, x, y| b.ins().iadd(x, y)),
        }
    }

    /// A difference. One from a constant is a sum, which may be part of an address, if it is no step of a loop.
    pub fn subtract(&mut self, op: &Op) -> Result<(), CodegenError> {
        match op.args[1].as_int() {
            Some(by) if !self.steps.contains(&op.results[0]) && self.architecture() == Architecture::X86_64 => {
                let x = self.value(op.args[0])?;
                let less = self.b.ins().iconst(types::I64, by.wrapping_neg());
                let result = self.b.ins().iadd(x, less);
                self.define(op.results[0], result);
                Ok(())
            }
            _ => self.binary(op, |b, x, y| b.ins().isub(x, y)),
        }
    }

    /// A product. By one more or one less than a power of two it is a sum or difference with a shifted value: sooner
    /// there than a product, and by three, five and nine one instruction with x86-64's addresses, by one more one with
    /// aarch64's shifted operands.
    pub fn multiply(&mut self, op: &Op) -> Result<(), CodegenError> {
        let power = |n: i64| (n.count_ones() == 1).then(|| i64::from(n.trailing_zeros()));
        let by = op.args[1].as_int().filter(|by| (3..i64::MAX).contains(by));
        match (by.and_then(|by| power(by - 1)), by.and_then(|by| power(by + 1))) {
            (Some(bits), _) => self.unary(op, |b, x| {
                let shifted = b.ins().ishl_imm_u(x, bits);
                b.ins().iadd(x, shifted)
            }),
            (None, Some(bits)) => self.unary(op, |b, x| {
                let shifted = b.ins().ishl_imm_u(x, bits);
                b.ins().isub(shifted, x)
            }),
            (None, None) => self.binary(op, |b, x, y| b.ins().imul(x, y)),
        }
    }

    /// And. What keeps the low bytes of a word is an extension on x86-64: that needs no copy first, and no constant.
    pub fn and(&mut self, op: &Op) -> Result<(), CodegenError> {
        let narrow = match op.args[1].as_int().filter(|_| self.architecture() == Architecture::X86_64) {
            Some(0xff) => types::I8,
            Some(0xffff) => types::I16,
            Some(0xffff_ffff) => types::I32,
            _ => return self.bitwise(op, |b, x, y| b.ins().band(x, y)),
        };
        let x = self.value(op.args[0])?;
        let low = self.b.ins().ireduce(narrow, x);
        let result = self.b.ins().uextend(types::I64, low);
        self.define(op.results[0], result);
        Ok(())
    }

    /// And, or, exclusive or: of two comparisons, their flags.
    pub fn bitwise(
        &mut self,
        op: &Op,
        emit: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value,
    ) -> Result<(), CodegenError> {
        match (self.flag(op.args[0]), self.flag(op.args[1])) {
            (Some(x), Some(y)) => {
                let flag = emit(self.b, x, y);
                self.define_flag(op.results[0], flag);
                Ok(())
            }
            _ => self.binary(op, emit),
        }
    }

    /// An op that is the same word every time.
    pub fn constant(&mut self, op: &Op, word: i64) -> Result<(), CodegenError> {
        let value = self.b.ins().iconst(types::I64, word);
        self.define(op.results[0], value);
        Ok(())
    }

    /// A comparison.
    pub fn compare(&mut self, op: &Op, cond: IntCC) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let flag = self.b.ins().icmp(cond, x, y);
        self.define_flag(op.results[0], flag);
        Ok(())
    }

    /// A comparison with zero.
    pub fn test(&mut self, op: &Op, cond: IntCC) -> Result<(), CodegenError> {
        let x = self.condition(op.args[0])?;
        let flag = self.b.ins().icmp_imm_s(cond, x, 0);
        self.define_flag(op.results[0], flag);
        Ok(())
    }

    /// One of two.
    pub fn select(&mut self, op: &Op) -> Result<(), CodegenError> {
        let cond = self.condition(op.args[0])?;
        let (x, y) = (self.value(op.args[1])?, self.value(op.args[2])?);
        let result = self.b.ins().select(cond, x, y);
        self.define(op.results[0], result);
        Ok(())
    }

    /// The sum with a constant, and whether it overflowed: it lies on the wrong side of the other operand. One compare,
    /// which a branch on it takes as it is.
    fn add_constant(&mut self, x: Value, constant: i64) -> (Value, Value) {
        let sum = self.b.ins().iadd_imm_s(x, constant);
        let wrong_side = if constant < 0 { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
        (sum, self.b.ins().icmp(wrong_side, sum, x))
    }

    fn with_overflow(&mut self, op: &Op, result: Value, overflow: Value) {
        self.define(op.results[0], result);
        self.define_flag(op.results[1], overflow);
    }

    /// A sum, and whether it overflowed: the signs of the operands agree, and that of the sum with neither.
    pub fn add_overflow(&mut self, op: &Op) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let (sum, overflow) = if let Some(constant) = op.args[1].as_int() {
            self.add_constant(x, constant)
        } else if self.unit.common.overflow_ops {
            self.b.ins().sadd_overflow(x, y)
        } else {
            let sum = self.b.ins().iadd(x, y);
            let (dx, dy) = (self.b.ins().bxor(x, sum), self.b.ins().bxor(y, sum));
            let differ = self.b.ins().band(dx, dy);
            (sum, self.b.ins().icmp_imm_s(IntCC::SignedLessThan, differ, 0))
        };
        self.with_overflow(op, sum, overflow);
        Ok(())
    }

    /// A difference, and whether it overflowed: the signs of the operands differ, and that of the result from the
    /// first.
    pub fn sub_overflow(&mut self, op: &Op) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let (difference, overflow) = if let Some(constant) = op.args[1].as_int().filter(|c| *c != i64::MIN) {
            self.add_constant(x, -constant)
        } else if self.unit.common.overflow_ops {
            self.b.ins().ssub_overflow(x, y)
        } else {
            let difference = self.b.ins().isub(x, y);
            let (dy, dd) = (self.b.ins().bxor(x, y), self.b.ins().bxor(x, difference));
            let differ = self.b.ins().band(dy, dd);
            (difference, self.b.ins().icmp_imm_s(IntCC::SignedLessThan, differ, 0))
        };
        self.with_overflow(op, difference, overflow);
        Ok(())
    }

    /// A product, and whether it overflowed: its high half is not the sign of its low half.
    pub fn mul_overflow(&mut self, op: &Op) -> Result<(), CodegenError> {
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let (product, overflow) = if self.unit.common.overflow_ops {
            self.b.ins().smul_overflow(x, y)
        } else {
            let product = self.b.ins().imul(x, y);
            let high = self.b.ins().smulhi(x, y);
            let sign = self.b.ins().sshr_imm_u(product, 63);
            (product, self.b.ins().icmp(IntCC::NotEqual, high, sign))
        };
        self.with_overflow(op, product, overflow);
        Ok(())
    }

    /// Whether an operand of an op in `block` can't be `word`, as a constant or by a branch that dominates it.
    fn cannot_be(&self, operand: Operand, word: i64, block: BlockId) -> bool {
        match operand {
            Operand::Const(c) => c.as_int().is_some_and(|i| i != word),
            Operand::Value(v) => self.facts.differs(self.graph, v, word, block),
        }
    }

    /// 1 where `divisor` is `word`, else `divisor`.
    fn avoid(&mut self, divisor: Value, word: i64) -> Value {
        let one = self.b.ins().iconst(types::I64, 1);
        let is_word = self.b.ins().icmp_imm_s(IntCC::Equal, divisor, word);
        self.b.ins().select(is_word, one, divisor)
    }

    /// What `half` or `whole` makes of two numbers. On x86-64 dividing 64 bits takes two to three times as long as
    /// dividing 32 on many processors, and most numbers have no more: so that is tested, as LLVM does where it knows of
    /// none that is better at it. Of halves, neither of which is negative, it makes no difference whether there are
    /// signs. Beside dividing 64 bits it takes no time to come from elsewhere, and to have seen to operands there.
    fn half_or_whole(
        &mut self,
        x: Value,
        y: Value,
        half: impl FnOnce(&mut FunctionBuilder<'f>, Value, Value) -> Value,
        whole: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        if self.architecture() != Architecture::X86_64 {
            return whole(self, x, y);
        }
        let [of_halves, of_words, done] = [0; 3].map(|_| self.b.create_block());
        self.b.set_cold_block(of_words);
        let result = self.b.append_block_param(done, types::I64);
        let both = self.b.ins().bor(x, y);
        let high = self.b.ins().ushr_imm_u(both, 32);
        self.b.ins().brif(high, of_words, &[], of_halves, &[]);
        self.b.switch_to_block(of_halves);
        let [low_x, low_y] = [x, y].map(|word| self.b.ins().ireduce(types::I32, word));
        let low = half(self.b, low_x, low_y);
        let low = self.b.ins().uextend(types::I64, low);
        self.b.ins().jump(done, &[low.into()]);
        self.b.switch_to_block(of_words);
        let words = whole(self, x, y);
        self.b.ins().jump(done, &[words.into()]);
        self.b.switch_to_block(done);
        result
    }

    /// A quotient, of all operands: `x / 0` is 0, `x / -1` is `-x`. The machine's division gets neither divisor, unless
    /// the graph has seen to that.
    pub fn divide(&mut self, op: &Op, block: BlockId, signed: bool) -> Result<(), CodegenError> {
        if let Some(quotient) = self.quotient_by_constant(op, block, signed)? {
            self.define(op.results[0], quotient);
            return Ok(());
        }
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let zero_possible = !self.cannot_be(op.args[1], 0, block);
        let minus_one_possible = signed && !self.cannot_be(op.args[1], -1, block);
        let divisor = if zero_possible { self.avoid(y, 0) } else { y };
        let mut quotient = self.half_or_whole(
            x,
            divisor,
            |b, x, y| b.ins().udiv(x, y),
            |t, x, y| {
                if !signed {
                    return t.b.ins().udiv(x, y);
                }
                if !minus_one_possible {
                    return t.b.ins().sdiv(x, y);
                }
                let divisor = t.avoid(y, -1);
                let quotient = t.b.ins().sdiv(x, divisor);
                let negated = t.b.ins().ineg(x);
                let minus_one = t.b.ins().icmp_imm_s(IntCC::Equal, y, -1);
                t.b.ins().select(minus_one, negated, quotient)
            },
        );
        if zero_possible {
            let zero = self.b.ins().iconst(types::I64, 0);
            let by_zero = self.b.ins().icmp_imm_s(IntCC::Equal, y, 0);
            quotient = self.b.ins().select(by_zero, zero, quotient);
        }
        self.define(op.results[0], quotient);
        Ok(())
    }

    /// A quotient by a constant, which the machine's division has no part in.
    fn quotient_by_constant(&mut self, op: &Op, block: BlockId, signed: bool) -> Result<Option<Value>, CodegenError> {
        let x = self.value(op.args[0])?;
        let Some(divisor) = op.args[1].as_int() else { return Ok(None) };
        if divisor == 0 {
            return Ok(Some(self.b.ins().iconst(types::I64, 0)));
        }
        // A quotient and a remainder of the same numbers have the product in common.
        let key = (x, divisor, signed);
        if let Some((_, quotient)) = self.quotients.get(&key).filter(|(known_in, _)| *known_in == block) {
            return Ok(Some(*quotient));
        }
        let quotient = match signed {
            false => self.unsigned_quotient(x, divisor as u64),
            true => self.signed_quotient(x, divisor),
        };
        if let Some(quotient) = quotient {
            self.quotients.insert(key, (block, quotient));
        }
        Ok(quotient)
    }

    fn unsigned_quotient(&mut self, x: Value, divisor: u64) -> Option<Value> {
        let found = division::unsigned(divisor)?;
        let word = |b: &mut FunctionBuilder<'f>, word: u64| b.ins().iconst(types::I64, word as i64);
        Some(match found {
            Unsigned::Shift(0) => x,
            Unsigned::Shift(by) => self.b.ins().ushr_imm_u(x, i64::from(by)),
            Unsigned::Reaches => {
                let divisor = word(self.b, divisor);
                let reaches = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, x, divisor);
                self.b.ins().uextend(types::I64, reaches)
            }
            Unsigned::Product { before, multiplier, after } => {
                let x = if before == 0 { x } else { self.b.ins().ushr_imm_u(x, i64::from(before)) };
                let multiplier = word(self.b, multiplier);
                let high = self.b.ins().umulhi(x, multiplier);
                if after == 0 { high } else { self.b.ins().ushr_imm_u(high, i64::from(after)) }
            }
            Unsigned::Wide { multiplier, after } => {
                let multiplier = word(self.b, multiplier);
                let high = self.b.ins().umulhi(x, multiplier);
                let rest = self.b.ins().isub(x, high);
                let half = self.b.ins().ushr_imm_u(rest, 1);
                let sum = self.b.ins().iadd(half, high);
                if after == 0 { sum } else { self.b.ins().ushr_imm_u(sum, i64::from(after)) }
            }
        })
    }

    fn signed_quotient(&mut self, x: Value, divisor: i64) -> Option<Value> {
        let quotient = match divisor.unsigned_abs() {
            1 => x,
            magnitude => match division::signed(magnitude)? {
                Signed::Shift(by) => {
                    let by = i64::from(by);
                    let signs = self.b.ins().sshr_imm_u(x, by - 1);
                    let added = self.b.ins().ushr_imm_u(signs, 64 - by);
                    let sum = self.b.ins().iadd(x, added);
                    self.b.ins().sshr_imm_u(sum, by)
                }
                Signed::Product { multiplier, after } => {
                    let factor = self.b.ins().iconst(types::I64, multiplier);
                    let mut high = self.b.ins().smulhi(x, factor);
                    if multiplier < 0 {
                        high = self.b.ins().iadd(high, x);
                    }
                    if after != 0 {
                        high = self.b.ins().sshr_imm_u(high, i64::from(after));
                    }
                    let negative = self.b.ins().ushr_imm_u(x, 63);
                    self.b.ins().iadd(high, negative)
                }
            },
        };
        Some(if divisor < 0 { self.b.ins().ineg(quotient) } else { quotient })
    }

    /// A remainder by a constant: what the quotient leaves.
    fn remainder_by_constant(&mut self, op: &Op, block: BlockId, signed: bool) -> Result<Option<Value>, CodegenError> {
        let x = self.value(op.args[0])?;
        match op.args[1].as_int() {
            None => return Ok(None),
            Some(0) => return Ok(Some(x)),
            Some(mask) if !signed && (mask as u64).is_power_of_two() => {
                return Ok(Some(self.b.ins().band_imm_s(x, mask.wrapping_sub(1))));
            }
            Some(_) => {}
        }
        let Some(quotient) = self.quotient_by_constant(op, block, signed)? else { return Ok(None) };
        let divisor = self.value(op.args[1])?;
        let product = self.b.ins().imul(quotient, divisor);
        Ok(Some(self.b.ins().isub(x, product)))
    }

    /// A remainder, of all operands: `x % 0` is `x`. (`x % -1` is 0 for Cranelift as well.)
    pub fn remainder(&mut self, op: &Op, block: BlockId, signed: bool) -> Result<(), CodegenError> {
        if let Some(remainder) = self.remainder_by_constant(op, block, signed)? {
            self.define(op.results[0], remainder);
            return Ok(());
        }
        let (x, y) = (self.value(op.args[0])?, self.value(op.args[1])?);
        let zero_possible = !self.cannot_be(op.args[1], 0, block);
        let divisor = if zero_possible { self.avoid(y, 0) } else { y };
        let mut remainder = self.half_or_whole(
            x,
            divisor,
            |b, x, y| b.ins().urem(x, y),
            |t, x, y| match signed {
                true => t.b.ins().srem(x, y),
                false => t.b.ins().urem(x, y),
            },
        );
        if zero_possible {
            let by_zero = self.b.ins().icmp_imm_s(IntCC::Equal, y, 0);
            remainder = self.b.ins().select(by_zero, x, remainder);
        }
        self.define(op.results[0], remainder);
        Ok(())
    }

    /// Sign extension of the low bytes.
    pub fn sign_extend(&mut self, op: &Op) -> Result<(), CodegenError> {
        let x = self.value(op.args[0])?;
        let narrow = match op.args[1].as_int() {
            Some(1) => Some(types::I8),
            Some(2) => Some(types::I16),
            Some(4) => Some(types::I32),
            _ => None,
        };
        let result = if let Some(ty) = narrow {
            let low = self.b.ins().ireduce(ty, x);
            self.b.ins().sextend(types::I64, low)
        } else {
            let bytes = self.value(op.args[1])?;
            let (one, eight) = (self.b.ins().iconst(types::I64, 1), self.b.ins().iconst(types::I64, 8));
            let bytes = self.b.ins().smax(bytes, one);
            let bytes = self.b.ins().smin(bytes, eight);
            let unused = self.b.ins().isub(eight, bytes);
            let unused = self.b.ins().ishl_imm_u(unused, 3);
            let high = self.b.ins().ishl(x, unused);
            self.b.ins().sshr(high, unused)
        };
        self.define(op.results[0], result);
        Ok(())
    }
}
