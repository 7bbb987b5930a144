//! What one op can be replaced by, given what is known of its operands. Rewrite rules are asked here.

use super::floats;
use super::int_bound::IntBound;
use super::known::Known;
use flowgraph::ir::{Const, Op, Opcode, Operand};
use smallvec::{SmallVec, smallvec};

/// What there is instead of an op.
#[derive(Debug, PartialEq)]
pub(super) enum Instead {
    /// Its result is this operand.
    Operand(Operand, &'static str),
    /// This op gives the same.
    Op(Opcode, SmallVec<[Operand; 3]>, &'static str),
    /// This op gives its first result, and the second is 0.
    Plain(Opcode),
    /// A selection between two operands by a comparison.
    Selected {
        /// What compares.
        less: Opcode,
        /// What it compares: the first of `from` is taken where the first of these is less.
        compared: [Operand; 2],
        /// What selects.
        select: Opcode,
        /// From what.
        from: [Operand; 2],
    },
    /// This op on some bits of an operand gives the same.
    OfBits(Opcode, Operand, i64, &'static str),
}

/// What there is instead of an op, if anything.
pub(super) fn instead(op: &Op, known: &Known) -> Option<Instead> {
    use Opcode as O;
    let args = &op.args;
    let bound = |at: usize| known.bound(args[at]);
    let constant = |at: usize| args.get(at).and_then(|arg| arg.as_int());
    let same = |why| Some(Instead::Operand(args[0], why));
    match op.opcode {
        O::IntAdd | O::IntSub | O::IntOr | O::IntXor | O::IntLshift | O::IntRshift | O::UintRshift
            if constant(1) == Some(0) =>
        {
            same("nothing is added")
        }
        O::IntMul | O::IntFloordiv | O::UintFloordiv if constant(1) == Some(1) => same("times one"),
        O::IntAnd => mask(args, known).or_else(|| lowest_byte(args, known)),
        O::IntOr => bits_are_set(args, known),
        O::IntSignext => {
            let bytes = u32::try_from(constant(1)?).ok()?.clamp(1, 8);
            if fits_signed(bound(0), 8 * bytes) { same("the sign is there") } else { None }
        }
        O::IntForceGeZero if bound(0).known_nonnegative() => same("not negative"),
        O::IntIsTrue if bound(0).is_bool() => same("0 or 1"),
        O::IntNe if bound(0).is_bool() && constant(1) == Some(0) => same("0 or 1"),
        O::IntEq if bound(0).is_bool() && constant(1) == Some(1) => same("0 or 1"),
        O::IntAddOvf if bound(0).add_bound_cannot_overflow(bound(1)) => Some(Instead::Plain(O::IntAdd)),
        O::IntSubOvf if bound(0).sub_bound_cannot_overflow(bound(1)) => Some(Instead::Plain(O::IntSub)),
        O::IntMulOvf if bound(0).mul_bound_cannot_overflow(bound(1)) => Some(Instead::Plain(O::IntMul)),
        O::IntMod | O::UintMod | O::IntFloordiv | O::UintFloordiv => divide(op, known),
        O::IntSelect | O::FloatSelect | O::SingleSelect => match bound(0) {
            cond if cond.get_constant_int() == Some(0) => Some(Instead::Operand(args[2], "the condition is 0")),
            cond if !cond.contains(0) => Some(Instead::Operand(args[1], "the condition isn't 0")),
            _ if args[1] == args[2] => Some(Instead::Operand(args[1], "both are the same")),
            _ => None,
        },
        O::FloatMin | O::FloatMax | O::SingleMin | O::SingleMax => floats::extreme(op, known),
        O::IntEq | O::IntNe => equal_sums(op, known).or_else(|| equal_to_its_part(op, known)),
        O::IntMul | O::IntLshift => there_and_back(op, known),
        _ => None,
    }
    .or_else(|| sum(op, known))
}

/// Whether a number of so many bits with a sign holds all that a bound does.
fn fits_signed(bound: IntBound, bits: u32) -> bool {
    let most = i64::MAX >> (64 - bits);
    -most - 1 <= bound.lower() && bound.upper() <= most
}

/// A mask that keeps all that can be set in the other operand.
fn mask(args: &[Operand], known: &Known) -> Option<Instead> {
    other_alone(args, |mask, masked| may_be_set(known.bound(masked)) & !known.bound(mask).ones() == 0)
        .map(|masked| Instead::Operand(masked, "the mask keeps all that can be set"))
}

/// Bits that are set anyway.
fn bits_are_set(args: &[Operand], known: &Known) -> Option<Instead> {
    other_alone(args, |bits, other| may_be_set(known.bound(bits)) & !known.bound(other).ones() == 0)
        .map(|other| Instead::Operand(other, "the bits are set"))
}

/// The operand that is all that is left where the other one changes nothing: `changes_nothing` is asked of both in either order.
fn other_alone(args: &[Operand], changes_nothing: impl Fn(Operand, Operand) -> bool) -> Option<Operand> {
    let (one, other) = (args[0], args[1]);
    match one == other || changes_nothing(other, one) {
        true => Some(one),
        false => changes_nothing(one, other).then_some(other),
    }
}

/// The bits that are not known to be 0.
fn may_be_set(bound: IntBound) -> u64 {
    bound.tvalue() | bound.tmask()
}

/// The lowest of eight bytes in opposite order.
fn lowest_byte(args: &[Operand], known: &Known) -> Option<Instead> {
    let definition = known.definition(args[0].value()?)?;
    let swapped = definition.opcode == Opcode::IntBswap && args[1].as_int() == Some(0xff);
    let args = smallvec![definition.args[0], Operand::int(56)];
    swapped.then_some(Instead::Op(Opcode::UintRshift, args, "the highest byte of what was swapped"))
}

/// Division by a power of two, and remainders of what is smaller than the divisor.
fn divide(op: &Op, known: &Known) -> Option<Instead> {
    use Opcode as O;
    let (dividend, divisor) = (known.bound(op.args[0]), known.bound(op.args[1]));
    let unsigned = matches!(op.opcode, O::UintMod | O::UintFloordiv);
    if !dividend.known_nonnegative() && !unsigned {
        return None;
    }
    let remainder = matches!(op.opcode, O::IntMod | O::UintMod);
    if remainder && (unsigned || divisor.known_nonnegative()) && dividend.known_ult(divisor) {
        return Some(Instead::Operand(op.args[0], "less than the divisor"));
    }
    let by = divisor.get_constant_int().filter(|by| *by > 0 && by & (by - 1) == 0);
    let Some(by) = by else {
        // Where neither is negative, there is no sign to look after.
        let without_sign = if remainder { O::UintMod } else { O::UintFloordiv };
        let there_is_none = !unsigned && divisor.known_nonnegative();
        return there_is_none.then(|| Instead::Op(without_sign, op.args.clone(), "neither is negative"));
    };
    let why = "a power of two, of what isn't negative";
    Some(match remainder {
        true => Instead::Op(O::IntAnd, smallvec![op.args[0], Operand::int(by - 1)], why),
        false => Instead::Op(O::UintRshift, smallvec![op.args[0], Operand::int(i64::from(by.trailing_zeros()))], why),
    })
}

/// `(x + c) + d` is `x + (c + d)`, where all of it is computed in one step less.
fn sum(op: &Op, known: &Known) -> Option<Instead> {
    let by = match (op.opcode, op.args.get(1)) {
        (Opcode::IntAdd, Some(Operand::Const(Const::Int(by)))) => *by,
        (Opcode::IntSub, Some(Operand::Const(Const::Int(by)))) => by.wrapping_neg(),
        _ => return None,
    };
    let (value, inner) = constant_sum(op.args[0], known)?;
    let sum = inner.wrapping_add(by);
    Some(match sum {
        0 => Instead::Operand(value, "there and back"),
        _ => Instead::Op(Opcode::IntAdd, smallvec![value, Operand::int(sum)], "two constants are one"),
    })
}

/// `x + c == d` is `x == d - c`.
fn equal_sums(op: &Op, known: &Known) -> Option<Instead> {
    let to = op.args[1].as_int()?;
    let (value, by) = constant_sum(op.args[0], known)?;
    let args = smallvec![value, Operand::int(to.wrapping_sub(by))];
    Some(Instead::Op(op.opcode, args, "the same on both sides"))
}

/// `(x >> n) << n`, or times a power of two instead of the second shift: the low bits are cleared.
fn there_and_back(op: &Op, known: &Known) -> Option<Instead> {
    let to = op.args.get(1)?.as_int()?;
    let left = match op.opcode {
        Opcode::IntLshift => to & 63,
        _ if to > 0 && to & (to - 1) == 0 => i64::from(to.trailing_zeros()),
        _ => return None,
    };
    let definition = known.definition(op.args[0].value()?)?;
    let shifts_right = matches!(definition.opcode, Opcode::IntRshift | Opcode::UintRshift);
    let right = definition.args.get(1).and_then(|by| by.as_int()).filter(|_| shifts_right)?;
    let args = smallvec![definition.args[0], Operand::int(-1 << left)];
    (right & 63 == left).then_some(Instead::Op(Opcode::IntAnd, args, "shifted there and back"))
}

/// `x & c == x` is `x & !c == 0`.
fn equal_to_its_part(op: &Op, known: &Known) -> Option<Instead> {
    let part_of = |part: Operand, whole: Operand| {
        let definition = known.definition(part.value()?)?;
        let mask = definition.args.get(1)?.as_int()?;
        (definition.opcode == Opcode::IntAnd && definition.args[0] == whole).then_some(mask)
    };
    let (one, other) = (op.args[0], op.args[1]);
    let (whole, mask) = match part_of(one, other) {
        Some(mask) => (other, mask),
        None => (one, part_of(other, one)?),
    };
    let test = if op.opcode == Opcode::IntEq { Opcode::IntIsZero } else { Opcode::IntIsTrue };
    Some(Instead::OfBits(test, whole, !mask, "equal if the mask clears no bit that is set"))
}

/// A value and a constant that add up to an operand.
fn constant_sum(operand: Operand, known: &Known) -> Option<(Operand, i64)> {
    let definition = known.definition(operand.value()?)?;
    match (definition.opcode, &definition.args[..]) {
        (Opcode::IntAdd, [value @ Operand::Value(_), Operand::Const(Const::Int(by))])
        | (Opcode::IntAdd, [Operand::Const(Const::Int(by)), value @ Operand::Value(_)]) => Some((*value, *by)),
        (Opcode::IntSub, [value @ Operand::Value(_), Operand::Const(Const::Int(by))]) => {
            Some((*value, by.wrapping_neg()))
        }
        _ => None,
    }
}
