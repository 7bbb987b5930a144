//! Red ops that only compute: folded where their operands are constants or say enough, else emitted.
//!
//! Only what costs nothing to know stands here: constants, the algebraic identities of one op, what bounds
//! decide, and a comparison of a comparison. Everything that rewrites several ops belongs to the optimizer's rules.

use crate::specialize::engine::Engine;
use crate::specialize::error::SpecError;
use crate::specialize::state::memory::Origin;
use crate::specialize::state::{Red, State};
use bounds::IntBound;
use flowgraph::ir::{Const, Imm, Loc, Opcode, Operand, OperandType, Type, Word};
use smallvec::{SmallVec, smallvec};

/// What a branch says is followed through so many ops that its condition is computed by.
const DEPTH: usize = 3;

/// The results of an op.
pub(crate) type Reds = SmallVec<[Red; 2]>;

/// The operands as constants, if all are.
pub(crate) fn constants_of(args: &[Red]) -> Option<SmallVec<[Const; 4]>> {
    let mut constants = SmallVec::new();
    for arg in args {
        constants.push(arg.constant()?);
    }
    Some(constants)
}

impl Engine<'_> {
    /// What a pure op computes from constants. Addresses stay symbolic where that is possible.
    pub(crate) fn compute(&self, opcode: Opcode, args: &[Const]) -> Option<SmallVec<[Const; 2]>> {
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
    pub(crate) fn red_pure(
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
            return Ok(folded.into_iter().map(Red::Const).collect());
        }
        if let Some(same) = self.identity(st, opcode, args) {
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
        let bounds: SmallVec<[IntBound; 3]> = args.iter().map(|arg| self.bound(st, *arg)).collect();
        let bounds = IntBound::transfer(opcode, &bounds);
        if let (Some(constant), [OperandType::Is(Type::Int)]) = (bounds[0].get_constant_int(), opcode.results()) {
            return Ok(smallvec![Red::Const(Const::Int(constant))]);
        }
        if let Some((value, sum)) = self.sum_of_sum(st, opcode, args) {
            let results = self.red_pure(st, Opcode::IntAdd, &[value, Red::Const(Const::Int(sum))], loc)?;
            if let Red::Value(v) = results[0] {
                st.facts.narrow(v, bounds[0]);
            }
            return Ok(results);
        }
        if let ([_, flag], Some(plain)) = (&bounds[..], opcode.without_overflow())
            && flag.get_constant_int() == Some(0)
        {
            let mut results = self.red_pure(st, plain, args, loc)?;
            results.push(Red::Const(Const::Int(0)));
            return Ok(results);
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
        for (result, bound) in results.iter().zip(bounds) {
            let Red::Value(v) = *result else { continue };
            if v.index() < known {
                // It was computed before, and is seen by other paths, too, which don't know what this one does.
                st.facts.narrow(v, bound);
            } else {
                let origin = self.result_origin(st, opcode, &operands);
                let info = &mut self.fragments[st.fragment].info[v.index()];
                (info.bound, info.origin) = (bound, origin);
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
            // A mask that keeps all that can be set, bytes that hold all that can be.
            IntAnd => int(1).filter(|mask| self.bound(st, args[0]).zeros() | *mask as u64 == u64::MAX).map(|_| args[0]),
            IntSignext => {
                let bits = 8 * u32::try_from(int(1)?).ok()?.clamp(1, 8);
                let bound = self.bound(st, args[0]);
                let limit = i64::MAX >> (64 - bits);
                (bound.lower() >= !limit && bound.upper() <= limit).then_some(args[0])
            }
            IntInvert | IntNeg => {
                let Red::Value(v) = args[0] else { return None };
                self.definition(st, v).filter(|op| op.opcode == opcode).map(|op| red_of(op.args[0]))
            }
            IntEq | IntLe | IntGe | UintLe | UintGe if args[0] == args[1] => known(true),
            IntNe | IntLt | IntGt | UintLt | UintGt if args[0] == args[1] => known(false),
            IntIsTrue if self.bound(st, args[0]).is_bool() => Some(args[0]),
            _ => None,
        }
    }

    /// `(x + 1) - 1` is `x + 0`: so what lies at an index is found again by another that is the same.
    fn sum_of_sum(&self, st: &State, opcode: Opcode, args: &[Red]) -> Option<(Red, i64)> {
        let (value, by) = sum(opcode, args)?;
        let Red::Value(v) = value else { return None };
        let inner = self.definition(st, v)?;
        let args: SmallVec<[Red; 2]> = inner.args.iter().map(|o| red_of(*o)).collect();
        let (value, more) = sum(inner.opcode, &args)?;
        Some((value, by.wrapping_add(more)))
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
        let opcode = if negated { inner.opcode.negated()? } else { inner.opcode };
        Some((opcode, inner.args.iter().map(|o| red_of(*o)).collect()))
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
    pub(crate) fn learn(&mut self, st: &mut State, cond: Red, taken: bool) {
        // What isn't 0 needn't be 1.
        let result = match taken {
            false => Some(IntBound::constant(0)),
            true => self.bound(st, cond).is_bool().then_some(IntBound::constant(1)),
        };
        let computed = match cond {
            Red::Value(v) => {
                self.definition(st, v).map(|op| (op.opcode, op.args.iter().copied().map(red_of).collect()))
            }
            _ => None,
        };
        for (value, constant) in self.decisions(st, cond, taken) {
            self.learn_equal(st, value, constant);
        }
        if let (Some(result), Some((opcode, args))) = (result, computed) {
            let args: SmallVec<[Red; 3]> = args;
            self.learn_bounds(st, opcode, &args, result, DEPTH);
        }
    }

    /// The operands that are constants on the side of a branch on `cond` on which it is `taken`.
    pub(crate) fn decisions(&self, st: &State, cond: Red, taken: bool) -> SmallVec<[(Red, Const); 2]> {
        let mut decisions = SmallVec::new();
        if !taken || self.bound(st, cond).is_bool() {
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
        let opcode = if taken { op.opcode } else { op.opcode.negated()? };
        Some((opcode, op.args.iter().map(|o| red_of(*o)).collect()))
    }

    /// What an op's result says of its operands, and these of what they are computed from.
    fn learn_bounds(&mut self, st: &mut State, opcode: Opcode, args: &[Red], result: IntBound, depth: usize) {
        let before: SmallVec<[IntBound; 3]> = args.iter().map(|arg| self.bound(st, *arg)).collect();
        let Some(after) = IntBound::refine(opcode, &before, result) else { return };
        for ((arg, before), after) in args.iter().zip(before).zip(after) {
            let Red::Value(value) = *arg else { continue };
            if after == before {
                continue;
            }
            st.facts.narrow(value, after);
            if depth > 0
                && let Some(op) = self.definition(st, value).filter(|op| op.results.len() == 1)
            {
                let (opcode, args): (_, SmallVec<[Red; 3]>) =
                    (op.opcode, op.args.iter().copied().map(red_of).collect());
                self.learn_bounds(st, opcode, &args, after, depth - 1);
            }
        }
    }

    /// On this path `value` is `c`.
    pub(crate) fn learn_equal(&mut self, st: &mut State, value: Red, c: Const) {
        if let Red::Value(v) = value {
            self.work += st.size();
            st.facts.decide(v, c);
            st.substitute(value, Red::Const(c));
        }
    }
}

/// What is a value and a constant added up.
fn sum(opcode: Opcode, args: &[Red]) -> Option<(Red, i64)> {
    match (opcode, args) {
        (Opcode::IntAdd, [value, Red::Const(Const::Int(by))] | [Red::Const(Const::Int(by)), value]) => {
            Some((*value, *by))
        }
        (Opcode::IntSub, [value, Red::Const(Const::Int(by))]) => Some((*value, by.wrapping_neg())),
        _ => None,
    }
}

/// An operand of residual code as a red operand.
pub(crate) fn red_of(operand: Operand) -> Red {
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
