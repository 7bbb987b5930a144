//! Red ops that only compute: folded where their operands are constants or say enough, else emitted.
//!
//! Only what costs nothing to know stands here: constants, the algebraic identities of one op, comparisons that ranges
//! decide, and a comparison of a comparison. Everything that rewrites several ops belongs to the optimizer's rules.

use super::engine::Engine;
use super::error::SpecError;
use super::memory::Origin;
use super::residual::FULL;
use super::state::{Red, State};
use flowgraph::ir::{Const, Imm, Loc, Opcode, Operand, OperandType, Word};
use smallvec::{SmallVec, smallvec};

/// The results of an op.
pub(super) type Reds = SmallVec<[Red; 2]>;

/// The operands as constants, if all are.
pub(super) fn constants_of(args: &[Red]) -> Option<SmallVec<[Const; 4]>> {
    let mut constants = SmallVec::new();
    for arg in args {
        constants.push(arg.constant()?);
    }
    Some(constants)
}

impl Engine<'_> {
    /// What a pure op computes from constants. Addresses stay symbolic where that is possible.
    pub(super) fn compute(&self, opcode: Opcode, args: &[Const]) -> Option<SmallVec<[Const; 2]>> {
        if let Some(symbolic) = compute_address(opcode, args) {
            return Some(smallvec![symbolic]);
        }
        let words: SmallVec<[Word; 4]> = args.iter().map(|c| self.memory.resolve(*c)).collect();
        let given = opcode.compute(&words)?;
        let mut constants = SmallVec::new();
        for (word, ty) in given.iter().zip(opcode.results()) {
            constants.push(match ty {
                OperandType::Is(ty) => Const::from_word(*ty, *word),
                _ => Const::Int(*word as i64),
            });
        }
        Some(constants)
    }

    /// A red op that only computes.
    pub(super) fn red_pure(
        &mut self,
        st: &mut State,
        opcode: Opcode,
        args: &[Red],
        loc: Loc,
    ) -> Result<Reds, SpecError> {
        if let Some(constants) = constants_of(args)
            && !is_nan_bits(opcode, &constants)
            && let Some(folded) = self.compute(opcode, &constants)
        {
            self.count_fold(st);
            return Ok(folded.into_iter().map(Red::Const).collect());
        }
        if let Some(same) = self.identity(st, opcode, args) {
            self.count_fold(st);
            return Ok(smallvec![same]);
        }
        if let Some((opcode, args)) = self.comparison_of_comparison(st, opcode, args) {
            return self.red_pure(st, opcode, &args, loc);
        }
        if let (
            Opcode::IntAdd,
            [Red::Slot(id, at), Red::Const(Const::Int(k))] | [Red::Const(Const::Int(k)), Red::Slot(id, at)],
        ) = (opcode, args)
        {
            return Ok(smallvec![Red::Slot(*id, at.wrapping_add(*k))]);
        }
        let mut operands: SmallVec<[Operand; 3]> = SmallVec::new();
        for arg in args {
            operands.push(self.real(st, *arg, loc)?);
        }
        if opcode.is_commutative() && operands[0].constant().is_some() {
            operands.swap(0, 1);
        }
        let types = opcode.result_types();
        let known = self.fragments[st.fragment].info.len();
        let results = self.emit_pure(st, opcode, &operands, Imm::None, &types, loc)?;
        if let [Red::Value(v)] = results[..] {
            let range = self.result_range(st, opcode, args);
            if v.index() < known {
                // It was computed before, and is seen by other paths, too, which don't know what this one does.
                st.facts.narrow(v, range);
            } else {
                let origin = self.result_origin(st, opcode, &operands);
                let info = &mut self.fragments[st.fragment].info[v.index()];
                (info.range, info.origin) = (range, origin);
            }
        }
        Ok(results)
    }

    /// The operand or constant that an op with such operands gives, if any.
    fn identity(&self, st: &State, opcode: Opcode, args: &[Red]) -> Option<Red> {
        use Opcode::*;
        let int = |i: usize| args.get(i).and_then(|a| a.as_int());
        let zero = Red::Const(Const::Int(0));
        let known = |b: bool| Some(Red::Const(Const::Int(i64::from(b))));
        match opcode {
            IntAdd | IntOr | IntXor | IntSub | IntLshift | IntRshift | UintRshift if int(1) == Some(0) => Some(args[0]),
            IntAdd | IntOr | IntXor if int(0) == Some(0) => Some(args[1]),
            IntMul if int(1) == Some(1) => Some(args[0]),
            IntMul if int(0) == Some(1) => Some(args[1]),
            IntMul | IntAnd if int(0) == Some(0) || int(1) == Some(0) => Some(zero),
            IntAnd if int(1) == Some(-1) => Some(args[0]),
            IntAnd if int(0) == Some(-1) => Some(args[1]),
            IntAnd | IntOr if args[0] == args[1] => Some(args[0]),
            IntSub | IntXor if args[0] == args[1] => Some(zero),
            IntFloordiv | UintFloordiv if int(1) == Some(1) => Some(args[0]),
            IntLshift | UintRshift | IntRshift if int(0) == Some(0) => Some(zero),
            IntSelect | FloatSelect | SingleSelect => match int(0) {
                Some(cond) => Some(if cond != 0 { args[1] } else { args[2] }),
                None => (args[1] == args[2]).then_some(args[1]),
            },
            IntAnd => match int(1) {
                // A mask that keeps all that can be set.
                Some(mask) if mask >= 0 && (mask & mask.wrapping_add(1)) == 0 => {
                    let (low, high) = self.range(st, args[0]);
                    (low >= 0 && high <= mask).then_some(args[0])
                }
                _ => None,
            },
            IntSignext => {
                let bits = 8 * u32::try_from(int(1)?).ok()?.clamp(1, 8);
                let (low, high) = self.range(st, args[0]);
                let limit = if bits == 64 { i64::MAX } else { (1i64 << (bits - 1)) - 1 };
                (low >= -limit - 1 && high <= limit).then_some(args[0])
            }
            IntInvert | IntNeg => {
                let Red::Value(v) = args[0] else { return None };
                self.definition(st, v).filter(|op| op.opcode == opcode).map(|op| red_of(op.args[0]))
            }
            IntEq | IntLe | IntGe | UintLe | UintGe if args[0] == args[1] => known(true),
            IntNe | IntLt | IntGt | UintLt | UintGt if args[0] == args[1] => known(false),
            IntIsTrue if self.is_bool(st, args[0]) => Some(args[0]),
            _ => self.decided(st, opcode, args).and_then(known),
        }
    }

    /// A comparison that the ranges of its operands decide.
    fn decided(&self, st: &State, opcode: Opcode, args: &[Red]) -> Option<bool> {
        use Opcode::*;
        if matches!(opcode, IntIsTrue | IntIsZero) {
            let (low, high) = self.range(st, args[0]);
            let nonzero = low > 0 || high < 0;
            return if nonzero {
                Some(opcode == IntIsTrue)
            } else {
                (low == 0 && high == 0).then_some(opcode == IntIsZero)
            };
        }
        let signed = matches!(opcode, IntEq | IntNe | IntLt | IntLe | IntGt | IntGe);
        let unsigned = matches!(opcode, UintLt | UintLe | UintGt | UintGe);
        if !signed && !unsigned {
            return None;
        }
        let ((l, h), (l2, h2)) = (self.range(st, args[0]), self.range(st, args[1]));
        if unsigned && (l < 0 || l2 < 0) {
            return None;
        }
        match opcode {
            IntLt | UintLt if h < l2 => Some(true),
            IntLt | UintLt if l >= h2 => Some(false),
            IntLe | UintLe if h <= l2 => Some(true),
            IntLe | UintLe if l > h2 => Some(false),
            IntGt | UintGt if l > h2 => Some(true),
            IntGt | UintGt if h <= l2 => Some(false),
            IntGe | UintGe if l >= h2 => Some(true),
            IntGe | UintGe if h < l2 => Some(false),
            IntEq if h < l2 || l > h2 => Some(false),
            IntNe if h < l2 || l > h2 => Some(true),
            _ => None,
        }
    }

    /// `(a < b) == 0` is `a >= b`, for ints; `(a < b) != 0` is `a < b`.
    fn comparison_of_comparison(
        &self,
        st: &State,
        opcode: Opcode,
        args: &[Red],
    ) -> Option<(Opcode, SmallVec<[Red; 3]>)> {
        let negated = match (opcode, args) {
            (Opcode::IntIsZero, [_]) => true,
            (Opcode::IntEq, [_, Red::Const(Const::Int(0))]) | (Opcode::IntXor, [_, Red::Const(Const::Int(1))]) => true,
            (Opcode::IntEq, [_, Red::Const(Const::Int(1))]) | (Opcode::IntNe, [_, Red::Const(Const::Int(0))]) => false,
            _ => return None,
        };
        let Red::Value(v) = args[0] else { return None };
        let inner = self.definition(st, v).filter(|op| op.opcode.is_comparison())?;
        let opcode = if negated { opposite(inner.opcode)? } else { inner.opcode };
        Some((opcode, inner.args.iter().map(|o| red_of(*o)).collect()))
    }

    fn is_bool(&self, st: &State, red: Red) -> bool {
        let (low, high) = self.range(st, red);
        low >= 0 && high <= 1
    }

    /// The range of an op's result, from the ranges of its operands.
    fn result_range(&self, st: &State, opcode: Opcode, args: &[Red]) -> (i64, i64) {
        use Opcode::*;
        if opcode.is_comparison() {
            return (0, 1);
        }
        let range = |i: usize| self.range(st, args[i]);
        match opcode {
            IntAdd => {
                let ((l, h), (l2, h2)) = (range(0), range(1));
                l.checked_add(l2).zip(h.checked_add(h2)).unwrap_or(FULL)
            }
            IntSub => {
                let ((l, h), (l2, h2)) = (range(0), range(1));
                l.checked_sub(h2).zip(h.checked_sub(l2)).unwrap_or(FULL)
            }
            IntAnd => {
                let ((l, h), (l2, h2)) = (range(0), range(1));
                match (l >= 0, l2 >= 0) {
                    (true, true) => (0, h.min(h2)),
                    (true, false) => (0, h),
                    (false, true) => (0, h2),
                    (false, false) => FULL,
                }
            }
            UintRshift => match args[1].as_int() {
                Some(by) if by & 63 != 0 => (0, (u64::MAX >> (by & 63)) as i64),
                _ => FULL,
            },
            IntRshift => match args[1].as_int() {
                Some(by) => (range(0).0 >> (by & 63), range(0).1 >> (by & 63)),
                _ => FULL,
            },
            IntSignext => match args[1].as_int() {
                Some(bytes @ (1 | 2 | 4)) => (-(1i64 << (8 * bytes - 1)), (1i64 << (8 * bytes - 1)) - 1),
                _ => FULL,
            },
            IntPopcount | IntClz | IntCtz => (0, 64),
            IntForceGeZero => (range(0).0.max(0), range(0).1.max(0)),
            UintMod => match args[1].as_int() {
                Some(by) if by > 0 => (0, by - 1),
                _ => FULL,
            },
            IntMod => match args[1].as_int() {
                Some(by) if by > 0 => (if range(0).0 >= 0 { 0 } else { 1 - by }, by - 1),
                _ => FULL,
            },
            SingleToBits => (0, i64::from(u32::MAX)),
            IntSelect => {
                let ((l, h), (l2, h2)) = (range(1), range(2));
                (l.min(l2), h.max(h2))
            }
            _ => FULL,
        }
    }

    /// An address that is computed from an exclusive one lies under the same root.
    fn result_origin(&self, st: &State, opcode: Opcode, operands: &[Operand]) -> Origin {
        let origin = |o: Operand| self.origin(st, red_of(o));
        match opcode {
            Opcode::IntAdd => match (origin(operands[0]), origin(operands[1])) {
                (address, Origin::Outside) => address.moved(operands[1].as_int()),
                (Origin::Outside, address) => address.moved(operands[0].as_int()),
                _ => Origin::Unknown,
            },
            Opcode::IntSub => match (origin(operands[0]), origin(operands[1])) {
                (address, Origin::Outside) => address.moved(operands[1].as_int().map(i64::wrapping_neg)),
                _ => Origin::Unknown,
            },
            Opcode::IntSelect => origin(operands[1]).or(origin(operands[2])),
            _ => Origin::Outside,
        }
    }

    /// What a branch on `cond` teaches the side on which it is `taken`.
    pub(super) fn learn(&mut self, st: &mut State, cond: Red, taken: bool) {
        let holds = self.holds(st, cond, taken);
        for (value, constant) in self.decisions(st, cond, taken) {
            self.learn_equal(st, value, constant);
        }
        if let Some((opcode, args)) = holds {
            self.learn_bounds(st, opcode, &args);
        }
    }

    /// The operands that are constants on the side of a branch on `cond` on which it is `taken`.
    pub(super) fn decisions(&self, st: &State, cond: Red, taken: bool) -> SmallVec<[(Red, Const); 2]> {
        let mut decisions = SmallVec::new();
        if !taken || self.is_bool(st, cond) {
            decisions.push((cond, Const::Int(i64::from(taken))));
        }
        match self.holds(st, cond, taken) {
            Some((Opcode::IntIsZero, args)) => decisions.push((args[0], Const::Int(0))),
            Some((Opcode::IntEq, args)) => match (args[0], args[1]) {
                (value, Red::Const(c @ Const::Int(_))) | (Red::Const(c @ Const::Int(_)), value) => {
                    decisions.push((value, c));
                }
                _ => {}
            },
            _ => {}
        }
        decisions
    }

    /// The op that gives true, with its operands, on the side of a branch on `cond` on which it is `taken`.
    fn holds(&self, st: &State, cond: Red, taken: bool) -> Option<(Opcode, SmallVec<[Red; 3]>)> {
        let Red::Value(v) = cond else { return None };
        let op = self.definition(st, v)?;
        let opcode = if taken { op.opcode } else { opposite(op.opcode)? };
        Some((opcode, op.args.iter().map(|o| red_of(*o)).collect()))
    }

    fn learn_bounds(&mut self, st: &mut State, opcode: Opcode, args: &[Red]) {
        use Opcode::*;
        match opcode {
            IntLt | IntLe | IntGt | IntGe => {
                let (low, high, strict) = match opcode {
                    IntLt => (args[0], args[1], true),
                    IntLe => (args[0], args[1], false),
                    IntGt => (args[1], args[0], true),
                    _ => (args[1], args[0], false),
                };
                let step = i64::from(strict);
                let below = self.range(st, high).1.saturating_sub(step);
                let above = self.range(st, low).0.saturating_add(step);
                narrow(st, low, (i64::MIN, below));
                narrow(st, high, (above, i64::MAX));
            }
            UintLt | UintLe | UintGt | UintGe => {
                let (low, high, strict) = match opcode {
                    UintLt => (args[0], args[1], true),
                    UintLe => (args[0], args[1], false),
                    UintGt => (args[1], args[0], true),
                    _ => (args[1], args[0], false),
                };
                let step = i64::from(strict);
                let (least, most) = self.range(st, high);
                if least >= 0 {
                    narrow(st, low, (0, most.saturating_sub(step)));
                    let above = self.range(st, low).0.saturating_add(step);
                    narrow(st, high, (above, i64::MAX));
                }
            }
            _ => {}
        }
    }

    /// On this path `value` is `c`.
    pub(super) fn learn_equal(&mut self, st: &mut State, value: Red, c: Const) {
        if let Red::Value(v) = value {
            self.work += st.size();
            st.facts.decide(v, c);
            st.substitute(value, Red::Const(c));
        }
    }
}

fn narrow(st: &mut State, red: Red, bounds: (i64, i64)) {
    if let Red::Value(v) = red {
        st.facts.narrow(v, bounds);
    }
}

/// The comparison that is true exactly where `opcode` is false; none for floats, because of NaNs.
pub(super) fn opposite(opcode: Opcode) -> Option<Opcode> {
    use Opcode::*;
    Some(match opcode {
        IntEq => IntNe,
        IntNe => IntEq,
        IntLt => IntGe,
        IntGe => IntLt,
        IntLe => IntGt,
        IntGt => IntLe,
        UintLt => UintGe,
        UintGe => UintLt,
        UintLe => UintGt,
        UintGt => UintLe,
        IntIsTrue => IntIsZero,
        IntIsZero => IntIsTrue,
        FloatEq => FloatNe,
        FloatNe => FloatEq,
        SingleEq => SingleNe,
        SingleNe => SingleEq,
        _ => return None,
    })
}

/// An operand of residual code as a red operand.
pub(super) fn red_of(operand: Operand) -> Red {
    match operand {
        Operand::Value(v) => Red::Value(v),
        Operand::Const(c) => Red::Const(c),
    }
}

/// The bits of a NaN are the machine's business: never folded.
fn is_nan_bits(opcode: Opcode, args: &[Const]) -> bool {
    match (opcode, args) {
        (Opcode::FloatToBits, [Const::Float(bits)]) => f64::from_bits(*bits).is_nan(),
        (Opcode::SingleToBits, [Const::Single(bits)]) => f32::from_bits(*bits).is_nan(),
        _ => false,
    }
}

/// Arithmetic on addresses that stays symbolic.
fn compute_address(opcode: Opcode, args: &[Const]) -> Option<Const> {
    match (opcode, args) {
        (Opcode::IntAdd, [Const::Addr(data, at), Const::Int(k)] | [Const::Int(k), Const::Addr(data, at)]) => {
            Some(Const::Addr(*data, at.wrapping_add(*k)))
        }
        (Opcode::IntSub, [Const::Addr(data, at), Const::Int(k)]) => Some(Const::Addr(*data, at.wrapping_sub(*k))),
        (Opcode::IntSub, [Const::Addr(a, at), Const::Addr(b, from)]) if a == b => {
            Some(Const::Int(at.wrapping_sub(*from)))
        }
        (Opcode::IntSelect, [Const::Int(cond), a, b]) => Some(if *cond != 0 { *a } else { *b }),
        _ => None,
    }
}
