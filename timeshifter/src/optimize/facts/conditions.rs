//! What conditions say: of what values they ask what, as far as that is a constant, an offset or a length.

use super::known::{DEPTH, FAR};
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, ValueId};
use smallvec::SmallVec;

/// What is left of a bound without some of its members, as far as a bound says that; nothing if none is left.
pub(crate) fn without(mut bound: IntBound, cases: &[i64]) -> Option<IntBound> {
    let mut cases: SmallVec<[i64; 16]> = cases.into();
    cases.sort_unstable();
    cases.dedup();
    let mut cases = &cases[..];
    while let [first, rest @ ..] = cases
        && *first <= bound.lower()
    {
        if *first == bound.lower() {
            bound = bound.meet(IntBound::from_range(first.checked_add(1)?, i64::MAX)?)?;
        }
        cases = rest;
    }
    while let [rest @ .., last] = cases
        && *last >= bound.upper()
    {
        if *last == bound.upper() {
            bound = bound.meet(IntBound::from_range(i64::MIN, last.checked_sub(1)?)?)?;
        }
        cases = rest;
    }
    Some(bound)
}

/// A value and a constant that add up to an operand; `definition` says how values are computed.
pub(crate) fn offset_of<'a>(
    operand: Operand,
    definition: impl Fn(ValueId) -> Option<(Opcode, &'a [Operand])>,
) -> Option<(ValueId, i64)> {
    let mut value = operand.value()?;
    let mut offset = 0i64;
    for _ in 0..DEPTH {
        let (next, by) = match definition(value) {
            Some((Opcode::IntAdd, [Operand::Value(v), Operand::Const(Const::Int(by))]))
            | Some((Opcode::IntAdd, [Operand::Const(Const::Int(by)), Operand::Value(v)])) => (*v, *by),
            Some((Opcode::IntSub, [Operand::Value(v), Operand::Const(Const::Int(by))])) => (*v, by.wrapping_neg()),
            _ => break,
        };
        let Some(sum) = offset.checked_add(by).filter(|sum| sum.unsigned_abs() < FAR as u64) else { break };
        (value, offset) = (next, sum);
    }
    Some((value, offset))
}

/// A comparison without signs of a constant with a value, the constant first.
pub(crate) fn against_constant(opcode: Opcode, args: &[Operand]) -> Option<(Opcode, u64, ValueId)> {
    let [one, other] = args else { return None };
    let orders = [Opcode::UintLt, Opcode::UintLe, Opcode::UintGt, Opcode::UintGe];
    let swapped = opcode.mirrored().filter(|_| orders.contains(&opcode))?;
    match (one, other) {
        (Operand::Const(Const::Int(bound)), Operand::Value(value)) => Some((opcode, *bound as u64, *value)),
        (Operand::Value(value), Operand::Const(Const::Int(bound))) => Some((swapped, *bound as u64, *value)),
        _ => None,
    }
}

/// A value and a constant that it is or is not.
pub(crate) fn equality(opcode: Opcode, args: &[Operand]) -> Option<(ValueId, u64)> {
    match (opcode, args) {
        (Opcode::IntIsTrue | Opcode::IntIsZero, [Operand::Value(value)]) => Some((*value, 0)),
        (Opcode::IntEq | Opcode::IntNe, [Operand::Value(value), Operand::Const(Const::Int(constant))])
        | (Opcode::IntEq | Opcode::IntNe, [Operand::Const(Const::Int(constant)), Operand::Value(value)]) => {
            Some((*value, *constant as u64))
        }
        _ => None,
    }
}

/// The least that a value can be where a comparison holds, or doesn't.
pub(crate) fn least(opcode: Opcode, args: &[Operand], holds: bool) -> Option<(ValueId, u64)> {
    let (test, bound, value) = against_constant(opcode, args)?;
    let least = match (test, holds) {
        (Opcode::UintLt, true) | (Opcode::UintGe, false) => bound.checked_add(1)?,
        (Opcode::UintLe, true) | (Opcode::UintGt, false) => bound,
        _ => return None,
    };
    Some((value, least))
}

/// What is no more than what, without signs, where a comparison holds, or doesn't.
pub(crate) fn no_more(opcode: Opcode, args: &[Operand], holds: bool) -> Option<(Operand, Operand)> {
    match (opcode, args, holds) {
        (Opcode::UintLe, [a, b], true) | (Opcode::UintGt, [a, b], false) => Some((*a, *b)),
        (Opcode::UintGe, [a, b], true) | (Opcode::UintLt, [a, b], false) => Some((*b, *a)),
        _ => None,
    }
}

/// The order without signs for one with signs, of which it is the same where nothing is negative.
pub(crate) fn without_signs(opcode: Opcode) -> Opcode {
    match opcode {
        Opcode::IntLt => Opcode::UintLt,
        Opcode::IntLe => Opcode::UintLe,
        Opcode::IntGt => Opcode::UintGt,
        Opcode::IntGe => Opcode::UintGe,
        other => other,
    }
}

/// What is less than what, without signs, where a comparison holds, or doesn't.
pub(crate) fn below(opcode: Opcode, args: &[Operand], holds: bool) -> Option<(Operand, Operand)> {
    match (opcode, args, holds) {
        (Opcode::UintLt, [a, b], true) | (Opcode::UintGe, [a, b], false) => Some((*a, *b)),
        (Opcode::UintGt, [a, b], true) | (Opcode::UintLe, [a, b], false) => Some((*b, *a)),
        _ => None,
    }
}
