//! What values are if another is a constant, though nobody has tested for that: as what an arm computes is where the
//! arm isn't taken.
//!
//! ```text
//! v3 = int_add v1, v0       if v0 is 0, v3 is v1,
//! v4 = int_and v3, 255      and so is v4 if v1 is a byte
//! ```
//!
//! What has been found to be equal to another value is taken for that one in the same way.
//!
//! Often only the low bits of a value are asked for, those that a store leaves in memory: then it is something that has
//! the same.

use super::known::{Definition, Known};
use flowgraph::ir::{Const, Opcode, Operand, ValueId};
use smallvec::SmallVec;

/// So deep is looked through ops.
const DEPTH: u32 = 6;

/// Some values are constants, or their low bits are, or one is equal to another.
pub(crate) struct Assumed<'k> {
    known: &'k Known,
    /// The value, the constant, and how many low bits they have in common.
    given: SmallVec<[(ValueId, i64, u32); 4]>,
    /// A value, and another one that it equals.
    equal: Option<(ValueId, ValueId)>,
}

impl<'k> Assumed<'k> {
    /// What a condition says that it holds, or doesn't; nothing if that makes no value a constant, or another value.
    pub(crate) fn new(known: &'k Known, cond: ValueId, holds: bool) -> Option<Assumed<'k>> {
        let (mut given, mut equal) = (SmallVec::new(), None);
        if !holds {
            given.push((cond, 0, 64));
        }
        if holds && known.bound(cond.into()).is_bool() {
            given.push((cond, 1, 64));
        }
        if let Some(Definition { opcode, args, result: 0 }) = known.definition(cond) {
            let is = match (opcode, &args[..], holds) {
                (Opcode::IntIsTrue, [Operand::Value(value)], false)
                | (Opcode::IntIsZero, [Operand::Value(value)], true) => Some((*value, 0)),
                (Opcode::IntNe, [Operand::Value(value), other], false)
                | (Opcode::IntEq, [Operand::Value(value), other], true) => {
                    equal = other.value().map(|other| (*value, other));
                    other.as_int().map(|other| (*value, other))
                }
                _ => None,
            };
            given.extend(is.map(|(value, constant)| (value, constant, 64)));
        }
        for (value, constant, _) in given.clone() {
            if let Some(Definition { opcode, args, result: 0 }) = known.definition(value)
                && let Some((Operand::Value(of), bits)) = low_bits(*opcode, args)
            {
                given.push((of, constant, bits));
            }
        }
        (!given.is_empty() || equal.is_some()).then_some(Assumed { known, given, equal })
    }

    /// The values that are constants, if all that has been asked is whether one is 0 that wasn't computed but loaded or
    /// handed over; and if that it isn't says no more.
    pub(crate) fn of_unknown_origin(&self) -> Option<&[(ValueId, i64, u32)]> {
        let (root, constant, _) = *self.given.last()?;
        let bound = self.known.bound(root.into());
        let says_little = bound.lower() < -1 || bound.upper() > 1;
        (constant == 0 && says_little && self.known.definition(root).is_none()).then_some(&self.given)
    }

    /// Whether two operands have the same low bits.
    pub(crate) fn are_equal(&self, one: Operand, other: Operand, bits: u32) -> bool {
        let [one, other] = [one, other].map(|operand| self.value(operand, bits, DEPTH));
        match (one.as_int(), other.as_int()) {
            (Some(one), Some(other)) => low(one ^ other, bits) == 0,
            _ => one == other,
        }
    }

    /// Something that has the same low bits.
    fn value(&self, operand: Operand, bits: u32, depth: u32) -> Operand {
        let Operand::Value(value) = operand else { return operand };
        if let Some((_, other)) = self.equal.filter(|(of, _)| *of == value) {
            return other.into();
        }
        if let Some((_, constant, _)) = self.given.iter().find(|(of, _, low)| *of == value && bits <= *low) {
            return Operand::int(*constant);
        }
        if let Some(constant) = self.known.bound(operand).get_constant_int() {
            return Operand::int(constant);
        }
        match self.known.definition(value) {
            Some(definition) if definition.result == 0 && depth > 0 => {
                self.computed(definition, bits, depth - 1).unwrap_or(operand)
            }
            _ => operand,
        }
    }

    /// Something simpler that has the same low bits as what an op gives.
    fn computed(&self, definition: &Definition, bits: u32, depth: u32) -> Option<Operand> {
        use Opcode as O;
        let Definition { opcode, args, .. } = definition;
        if let Some((of, kept)) = low_bits(*opcode, args) {
            if bits <= kept {
                return Some(self.value(of, bits, depth));
            }
            // What has the same low bits may have others beside; what is the same in all doesn't, if it is kept.
            let mut parts = [bits, kept].into_iter().map(|bits| self.value(of, bits, depth));
            let found = parts.find(|part| part.value().is_none() || self.is_kept(*opcode, *part, kept))?;
            return if found.value().is_none() { folded(*opcode, &[found, args[1]]) } else { Some(found) };
        }
        if let ([of @ Operand::Value(value), Operand::Const(Const::Int(mask))], O::IntOr | O::IntAnd) =
            (&args[..], opcode)
            && let Some((_, constant, kept)) = self.given.iter().find(|(given, ..)| given == value)
        {
            // The bits that it sets are set, or those that it clears are clear.
            let (changed, to) = if *opcode == O::IntOr { (*mask, *constant) } else { (!mask, !constant) };
            if changed >= 0 && changed.checked_shr(*kept).is_none_or(|beyond| beyond == 0) && changed & !to == 0 {
                return Some(*of);
            }
        }
        // In these no bit depends on higher ones of the operands.
        let part = |at: usize| self.value(args[at], bits, depth);
        let is = |operand: Operand, constant: i64| operand.as_int().is_some_and(|i| low(i ^ constant, bits) == 0);
        match opcode {
            O::IntAdd | O::IntOr | O::IntXor => match [part(0), part(1)] {
                [one, other] | [other, one] if is(one, 0) => Some(other),
                [one, other] if one == other && *opcode == O::IntOr => Some(one),
                [one, other] if one == other && *opcode == O::IntXor => Some(Operand::int(0)),
                parts => folded(*opcode, &parts),
            },
            O::IntSub => match [part(0), part(1)] {
                [one, other] if is(other, 0) => Some(one),
                [one, other] if one == other => Some(Operand::int(0)),
                parts => folded(*opcode, &parts),
            },
            O::IntMul => match [part(0), part(1)] {
                [one, other] | [other, one] if is(one, 1) => Some(other),
                [one, other] if is(one, 0) || is(other, 0) => Some(Operand::int(0)),
                parts => folded(*opcode, &parts),
            },
            O::IntAnd => match [part(0), part(1)] {
                [one, other] if is(one, 0) || is(other, 0) => Some(Operand::int(0)),
                [one, other] | [other, one] if one == other || is(one, -1) => Some(other),
                parts => folded(*opcode, &parts),
            },
            O::IntLshift => match [part(0), self.value(args[1], 64, depth)] {
                [one, _] if is(one, 0) => Some(Operand::int(0)),
                parts => folded(*opcode, &parts),
            },
            _ => {
                let all: SmallVec<[Operand; 3]> = args.iter().map(|arg| self.value(*arg, 64, depth)).collect();
                folded(*opcode, &all)
            }
        }
    }

    /// Whether an op that keeps so many low bits leaves an operand as it is.
    fn is_kept(&self, opcode: Opcode, operand: Operand, kept: u32) -> bool {
        let bound = self.known.bound(operand);
        match opcode {
            Opcode::IntSignext => bound.lower() >> (kept - 1) >= -1 && bound.upper() >> (kept - 1) <= 0,
            _ => bound.lower() >= 0 && bound.upper() >> kept == 0,
        }
    }
}

/// What an op gives the low bits of, and how many, if that is all it does.
fn low_bits(opcode: Opcode, args: &[Operand]) -> Option<(Operand, u32)> {
    match (opcode, args) {
        (Opcode::IntAnd, [of, mask]) => {
            let mask = mask.as_int().filter(|mask| *mask > 0 && mask & mask.wrapping_add(1) == 0)?;
            Some((*of, mask.trailing_ones())).filter(|(_, bits)| *bits < 63)
        }
        (Opcode::IntSignext, [of, bytes]) => {
            let bits = 8 * u32::try_from(bytes.as_int()?).ok().filter(|bytes| matches!(bytes, 1 | 2 | 4))?;
            Some((*of, bits))
        }
        _ => None,
    }
}

fn low(word: i64, bits: u32) -> i64 {
    word << (64 - bits)
}

/// What an op gives of constants.
fn folded(opcode: Opcode, args: &[Operand]) -> Option<Operand> {
    let words: Option<SmallVec<[u64; 3]>> = args.iter().map(|arg| arg.as_int().map(|i| i as u64)).collect();
    let given = opcode.compute(&words?)?;
    Some(Operand::int(*given.first()? as i64))
}
