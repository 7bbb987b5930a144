//! Operators, casts and assignments.
//!
//! Narrow integers are canonical in their 64-bit words: after an op that may leave the type's range the low bits are
//! extended again. Where the op can't leave it (`&`, `|`, `>>`, division but for `MIN / -1`) nothing is emitted.

use super::super::numbers::no_negation;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{BinOp, CompareOp, Expr, ExprKind};
use super::super::types::Ty;
use super::exhaustive::number;
use super::place::Place;
use super::{Lowerer, Val};
use crate::ir::{Opcode, Operand, Scalar, TrapKind};
use smallvec::smallvec;

/// What is said of arithmetic in a constant that leaves its type.
const OVERFLOWS: &str = "this overflows, which Rust refuses in a constant (`wrapping_add` and its like don't)";

impl Lowerer<'_, '_> {
    /// The canonical form of the low bits of `v`.
    pub(super) fn canonical(&mut self, v: Operand, scalar: Scalar, pos: Pos) -> Operand {
        match scalar {
            Scalar::Bool | Scalar::F64 | Scalar::F32 => v,
            _ if scalar.bits() == 64 => v,
            s if s.is_signed() => self.op2(Opcode::IntSignext, v, Operand::int(i64::from(s.bits() / 8)), pos),
            s => self.op2(Opcode::IntAnd, v, Operand::int((u64::MAX >> (64 - s.bits())) as i64), pos),
        }
    }

    pub(super) fn not(&mut self, inner: &Expr, pos: Pos) -> Val {
        let value = self.value(inner);
        let scalar = self.scalar(&inner.ty);
        let Some(v) = value.first().copied() else { return self.nothing(&inner.ty) };
        smallvec![match scalar {
            Scalar::Bool => self.op1(Opcode::IntIsZero, v, pos),
            s if s.is_signed() || s.bits() == 64 => self.op1(Opcode::IntInvert, v, pos),
            s => self.op2(Opcode::IntXor, v, Operand::int((u64::MAX >> (64 - s.bits())) as i64), pos),
        }]
    }

    pub(super) fn negate(&mut self, inner: &Expr, pos: Pos) -> Val {
        // Of a literal the type may be known only now.
        let scalar = self.ty(&inner.ty).as_scalar();
        if let Some(unsigned) = scalar.filter(|s| s.is_integer() && !s.is_signed()) {
            let detail = format!("`{}` has no operator `-`", unsigned.name());
            self.p.refuse_with(pos, Reason::NoOperator, &detail, &no_negation(unsigned));
        }
        if let ExprKind::Int(v) = inner.kind {
            return smallvec![self.integer(v, true, &inner.ty, pos)];
        }
        let value = self.value(inner);
        let Some(v) = value.first().copied() else { return self.nothing(&inner.ty) };
        smallvec![match self.scalar(&inner.ty) {
            Scalar::F64 => self.op1(Opcode::FloatNeg, v, pos),
            Scalar::F32 => self.op1(Opcode::SingleNeg, v, pos),
            s => {
                self.overflows_if(self.constant && v.as_int() == Some(Lowerer::minimum(s)), pos);
                let negated = self.op1(Opcode::IntNeg, v, pos);
                self.canonical(negated, s, pos)
            }
        }]
    }

    /// `left op right`, with its traps. `right_ty` matters for shifts only.
    pub(super) fn binary(
        &mut self,
        op: BinOp,
        left: &[Operand],
        right: &[Operand],
        ty: &Ty,
        right_ty: &Ty,
        pos: Pos,
    ) -> Val {
        let (Some(a), Some(b)) = (left.first().copied(), right.first().copied()) else { return self.nothing(ty) };
        let scalar = self.scalar(ty);
        let _ = right_ty;
        self.overflows_if(self.constant && overflows(op, a, b, scalar), pos);
        smallvec![self.scalar_binary(op, a, b, scalar, pos)]
    }

    /// Refuses a constant that leaves its type.
    pub(super) fn overflows_if(&mut self, overflows: bool, pos: Pos) {
        if overflows {
            self.refuse(pos, Reason::Constant, OVERFLOWS);
        }
    }

    pub(super) fn scalar_binary(&mut self, op: BinOp, a: Operand, b: Operand, scalar: Scalar, pos: Pos) -> Operand {
        if scalar.is_float() {
            let double = scalar == Scalar::F64;
            let opcode = match op {
                BinOp::Add => [Opcode::SingleAdd, Opcode::FloatAdd],
                BinOp::Sub => [Opcode::SingleSub, Opcode::FloatSub],
                BinOp::Mul => [Opcode::SingleMul, Opcode::FloatMul],
                BinOp::Div => [Opcode::SingleTruediv, Opcode::FloatTruediv],
                _ => [Opcode::SingleMod, Opcode::FloatMod],
            }[usize::from(double)];
            return self.op2(opcode, a, b, pos);
        }
        match op {
            BinOp::Add => self.wrapping(Opcode::IntAdd, a, b, scalar, pos),
            BinOp::Sub => self.wrapping(Opcode::IntSub, a, b, scalar, pos),
            BinOp::Mul => self.wrapping(Opcode::IntMul, a, b, scalar, pos),
            BinOp::And => self.op2(Opcode::IntAnd, a, b, pos),
            BinOp::Or => self.op2(Opcode::IntOr, a, b, pos),
            BinOp::Xor => self.op2(Opcode::IntXor, a, b, pos),
            BinOp::Shl => self.shift_left(a, b, scalar, pos),
            BinOp::Shr => self.shift_right(a, b, scalar, pos),
            BinOp::Div => {
                self.check_divisor(a, b, scalar, false, true, pos);
                self.quotient(a, b, scalar, pos)
            }
            BinOp::Rem => {
                self.check_divisor(a, b, scalar, true, true, pos);
                self.remainder(a, b, scalar, pos)
            }
        }
    }

    pub(super) fn wrapping(&mut self, opcode: Opcode, a: Operand, b: Operand, scalar: Scalar, pos: Pos) -> Operand {
        let wide = self.op2(opcode, a, b, pos);
        self.canonical(wide, scalar, pos)
    }

    /// A shift amount, modulo the width.
    fn amount(&mut self, n: Operand, scalar: Scalar, pos: Pos) -> Operand {
        let mask = i64::from(scalar.bits() - 1);
        match n.as_int() {
            Some(known) => Operand::int(known & mask),
            None if scalar.bits() == 64 => n,
            None => self.op2(Opcode::IntAnd, n, Operand::int(mask), pos),
        }
    }

    pub(super) fn shift_left(&mut self, a: Operand, n: Operand, scalar: Scalar, pos: Pos) -> Operand {
        let n = self.amount(n, scalar, pos);
        self.wrapping(Opcode::IntLshift, a, n, scalar, pos)
    }

    pub(super) fn shift_right(&mut self, a: Operand, n: Operand, scalar: Scalar, pos: Pos) -> Operand {
        let n = self.amount(n, scalar, pos);
        let opcode = if scalar.is_signed() { Opcode::IntRshift } else { Opcode::UintRshift };
        self.op2(opcode, a, n, pos)
    }

    /// The smallest number of a signed type.
    pub(super) fn minimum(scalar: Scalar) -> i64 {
        if scalar.is_signed() { i64::MIN >> (64 - scalar.bits()) } else { 0 }
    }

    /// The largest number of a type, as a canonical word.
    pub(super) fn maximum(scalar: Scalar) -> i64 {
        if scalar.is_signed() { i64::MAX >> (64 - scalar.bits()) } else { (u64::MAX >> (64 - scalar.bits())) as i64 }
    }

    /// Whether `a / b` overflows; `None` if it can't.
    pub(super) fn division_overflows(&mut self, a: Operand, b: Operand, scalar: Scalar, pos: Pos) -> Option<Operand> {
        if !scalar.is_signed() || b.as_int().is_some_and(|b| b != -1) {
            return None;
        }
        let minus_one = self.op2(Opcode::IntEq, b, Operand::int(-1), pos);
        let min = self.op2(Opcode::IntEq, a, Operand::int(Lowerer::minimum(scalar)), pos);
        Some(match minus_one.as_int() {
            Some(0) => return None,
            Some(_) => min,
            None => self.op2(Opcode::IntAnd, minus_one, min, pos),
        })
    }

    pub(super) fn check_divisor(
        &mut self,
        a: Operand,
        b: Operand,
        scalar: Scalar,
        rem: bool,
        overflow: bool,
        pos: Pos,
    ) {
        let (zero, over) = if rem {
            (TrapKind::RemainderByZero, TrapKind::RemainderOverflow)
        } else {
            (TrapKind::DivideByZero, TrapKind::DivideOverflow)
        };
        let is_zero = self.op1(Opcode::IntIsZero, b, pos);
        self.check_not(is_zero, zero, &[], pos);
        if overflow && let Some(bad) = self.division_overflows(a, b, scalar, pos) {
            self.check_not(bad, over, &[], pos);
        }
    }

    /// The quotient, wrapping for `MIN / -1`.
    pub(super) fn quotient(&mut self, a: Operand, b: Operand, scalar: Scalar, pos: Pos) -> Operand {
        if !scalar.is_signed() {
            return self.op2(Opcode::UintFloordiv, a, b, pos);
        }
        let q = self.op2(Opcode::IntFloordiv, a, b, pos);
        // Only `MIN / -1` leaves the range.
        if b.as_int().is_some_and(|b| b != -1) { q } else { self.canonical(q, scalar, pos) }
    }

    pub(super) fn remainder(&mut self, a: Operand, b: Operand, scalar: Scalar, pos: Pos) -> Operand {
        self.op2(if scalar.is_signed() { Opcode::IntMod } else { Opcode::UintMod }, a, b, pos)
    }

    // ---- comparisons

    pub(super) fn compare(&mut self, op: CompareOp, left: &[Operand], right: &[Operand], ty: &Ty, pos: Pos) -> Operand {
        let ty = self.ty(ty);
        let negated = op == CompareOp::Ne;
        match &ty {
            Ty::Option(payload) => return self.compare_options(op, left, right, payload, pos),
            _ if self.is_sum(&ty) => return self.compare_enums(negated, left, right, &ty, pos),
            Ty::Array(elem, _) => {
                let n = self.p.leaf_count(elem) as usize;
                let mut all = None;
                for (a, b) in left.chunks(n.max(1)).zip(right.chunks(n.max(1))) {
                    let one = self.compare(op, a, b, elem, pos);
                    all = Some(self.both(all, one, negated, pos));
                }
                return all.unwrap_or(Operand::int(i64::from(!negated)));
            }
            Ty::Struct(_) | Ty::Tuple(_) => {
                let mut all = None;
                for (i, part) in self.p.fields_of(&ty).iter().enumerate() {
                    let (at, n) = self.leaf_range(&ty, i);
                    let (Some(a), Some(b)) = (left.get(at..at + n), right.get(at..at + n)) else { break };
                    if n > 0 {
                        let one = self.compare(op, a, b, part, pos);
                        all = Some(self.both(all, one, negated, pos));
                    }
                }
                return all.unwrap_or(Operand::int(i64::from(!negated)));
            }
            _ => {}
        }
        let scalars = self.scalars(&ty);
        match (scalars.as_slice(), left, right) {
            ([s], [a], [b]) => self.compare_scalars(op, *a, *b, *s, pos),
            _ => Operand::int(i64::from(!negated)),
        }
    }

    /// Parts are equal if all are, and differ if any does.
    fn both(&mut self, all: Option<Operand>, one: Operand, negated: bool, pos: Pos) -> Operand {
        match all {
            None => one,
            Some(other) if negated => self.op2(Opcode::IntOr, other, one, pos),
            Some(other) => self.op2(Opcode::IntAnd, other, one, pos),
        }
    }

    /// Equal tags, and equal payloads where there are any.
    fn compare_options(
        &mut self,
        op: CompareOp,
        left: &[Operand],
        right: &[Operand],
        payload: &Ty,
        pos: Pos,
    ) -> Operand {
        let option = Ty::Option(payload.clone().into());
        let (Some(a), Some(b), Some(shape)) = (left.first(), right.first(), self.p.shape(&option)) else {
            return Operand::int(0);
        };
        let tags = self.op2(Opcode::IntEq, *a, *b, pos);
        let (x, y) = (self.payload(&shape, 1, left), self.payload(&shape, 1, right));
        let inner = self.compare(CompareOp::Eq, &x, &y, payload, pos);
        let none = self.op1(Opcode::IntIsZero, *a, pos);
        let same = self.op2(Opcode::IntOr, none, inner, pos);
        let equal = self.op2(Opcode::IntAnd, tags, same, pos);
        if op == CompareOp::Ne { self.op1(Opcode::IntIsZero, equal, pos) } else { equal }
    }

    /// Equal tags, and equal fields of the variant that they say.
    fn compare_enums(&mut self, negated: bool, left: &[Operand], right: &[Operand], ty: &Ty, pos: Pos) -> Operand {
        let (Some(a), Some(b), Some(shape)) = (left.first(), right.first(), self.p.shape(ty)) else {
            return Operand::int(0);
        };
        let result = self.b.new_var(crate::ir::Type::Int);
        let (same, differ, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        let tags = self.op2(Opcode::IntEq, *a, *b, pos);
        self.b.branch(tags, same, differ, pos);
        self.b.enter(differ);
        self.b.write(result, Operand::int(i64::from(negated)));
        self.b.jump(join, pos);
        self.b.enter(same);
        self.by_variant(*a, &shape, pos, |this, variant| {
            let (x, y) = (this.payload(&shape, variant, left), this.payload(&shape, variant, right));
            let fields = Ty::Tuple(shape.variants[variant].types.clone().into());
            let op = if negated { CompareOp::Ne } else { CompareOp::Eq };
            let value = this.compare(op, &x, &y, &fields, pos);
            this.b.write(result, value);
        });
        self.b.jump(join, pos);
        self.b.enter(join);
        self.b.read(result)
    }

    pub(super) fn compare_scalars(&mut self, op: CompareOp, a: Operand, b: Operand, s: Scalar, pos: Pos) -> Operand {
        use Opcode as O;
        let signed = s.is_signed() || s.bits() < 64;
        let table = match s {
            Scalar::F64 => [O::FloatEq, O::FloatNe, O::FloatLt, O::FloatLe, O::FloatGt, O::FloatGe],
            Scalar::F32 => [O::SingleEq, O::SingleNe, O::SingleLt, O::SingleLe, O::SingleGt, O::SingleGe],
            // Narrow unsigned words are positive, so that both orders agree.
            _ if signed => [O::IntEq, O::IntNe, O::IntLt, O::IntLe, O::IntGt, O::IntGe],
            _ => [O::IntEq, O::IntNe, O::UintLt, O::UintLe, O::UintGt, O::UintGe],
        };
        let opcode = table[match op {
            CompareOp::Eq => 0,
            CompareOp::Ne => 1,
            CompareOp::Lt => 2,
            CompareOp::Le => 3,
            CompareOp::Gt => 4,
            CompareOp::Ge => 5,
        }];
        self.op2(opcode, a, b, pos)
    }

    // ---- casts

    pub(super) fn cast(&mut self, v: Operand, from: &Ty, to: &Ty, pos: Pos) -> Operand {
        let (from, to) = (self.scalar(from), self.scalar(to));
        match (from, to) {
            _ if from == to => v,
            (Scalar::F64, Scalar::F32) => self.op1(Opcode::CastFloatToSingle, v, pos),
            (Scalar::F32, Scalar::F64) => self.op1(Opcode::CastSingleToFloat, v, pos),
            (f, t) if f.is_float() => self.float_to_int(v, f == Scalar::F64, t, pos),
            (f, t) if t.is_float() => {
                let unsigned = !f.is_signed() && f.bits() == 64;
                let opcode = match (t == Scalar::F64, unsigned) {
                    (true, false) => Opcode::CastIntToFloat,
                    (true, true) => Opcode::CastUintToFloat,
                    (false, false) => Opcode::CastIntToSingle,
                    (false, true) => Opcode::CastUintToSingle,
                };
                self.op1(opcode, v, pos)
            }
            (f, t) => {
                // Nothing to do where every word of `f` is canonical in `t`.
                let fits = if f == Scalar::Bool {
                    true
                } else if f.is_signed() {
                    t.bits() == 64 || (t.is_signed() && f.bits() <= t.bits())
                } else {
                    f.bits() < t.bits() || (!t.is_signed() && f.bits() == t.bits()) || t.bits() == 64
                };
                if fits { v } else { self.canonical(v, t, pos) }
            }
        }
    }

    /// Saturating; 0 for NaN.
    fn float_to_int(&mut self, v: Operand, double: bool, to: Scalar, pos: Pos) -> Operand {
        let unsigned = !to.is_signed() && to.bits() == 64;
        let opcode = match (double, unsigned) {
            (true, false) => Opcode::CastFloatToInt,
            (true, true) => Opcode::CastFloatToUint,
            (false, false) => Opcode::CastSingleToInt,
            (false, true) => Opcode::CastSingleToUint,
        };
        let wide = self.op1(opcode, v, pos);
        if to.bits() == 64 {
            return wide;
        }
        let (min, max) = (Operand::int(Lowerer::minimum(to)), Operand::int(Lowerer::maximum(to)));
        let below = self.op2(Opcode::IntLt, wide, min, pos);
        let raised = self.b.pure(Opcode::IntSelect, &[below, min, wide], pos);
        let above = self.op2(Opcode::IntGt, raised, max, pos);
        self.b.pure(Opcode::IntSelect, &[above, max, raised], pos)
    }

    // ---- assignments

    pub(super) fn assign(&mut self, place: &Expr, value: &Expr, pos: Pos) {
        if self.is_large(&value.ty) {
            self.assign_large(place, value, pos);
            return self.note_given(place, pos);
        }
        let values = self.value(value);
        self.note_given(place, pos);
        if let (ExprKind::Local(id), true) = (&place.kind, self.may_change(value)) {
            self.tainted[*id] = true;
        }
        let place = self.place(place);
        self.write(place, &values, pos);
    }

    pub(super) fn assign_op(&mut self, op: BinOp, place: &Expr, value: &Expr, right_first: bool, pos: Pos) {
        let (place_value, right);
        if right_first {
            right = self.value(value);
            place_value = self.place(place);
        } else {
            place_value = self.place(place);
            right = self.value(value);
        }
        let target = match &place_value {
            Place::Vars(id, first, n) => Place::Vars(*id, *first, *n),
            Place::Mem(mem) => Place::Mem(mem.clone()),
            Place::Value(v) => Place::Value(v.clone()),
        };
        let left = self.read(place_value, pos);
        let result = self.binary(op, &left, &right, &place.ty, &value.ty, pos);
        self.note_given(place, pos);
        self.write(target, &result, pos);
    }
}

/// Whether an operator on known integers leaves the range of its type.
fn overflows(op: BinOp, a: Operand, b: Operand, scalar: Scalar) -> bool {
    let (Some(a), Some(b)) = (a.as_int(), b.as_int()) else { return false };
    if !scalar.is_integer() {
        return false;
    }
    let wide = |word| number(word, scalar);
    let result = match op {
        BinOp::Add => wide(a) + wide(b),
        BinOp::Sub => wide(a) - wide(b),
        BinOp::Mul => wide(a).saturating_mul(wide(b)),
        BinOp::Shl | BinOp::Shr => return b < 0 || b >= i64::from(scalar.bits()),
        _ => return false,
    };
    result < wide(Lowerer::minimum(scalar)) || result > wide(Lowerer::maximum(scalar))
}
