//! Floats on the way: their bounds, and what comparisons and extremes give by them.
//!
//! Singles have the bounds of floats: what an op gives is that of floats, rounded once more. Of sums, products,
//! quotients and roots that is what the op of singles gives (S. Figueroa, "When is double rounding innocuous?", 1995:
//! 53 bits are enough for 24).

use super::float_bound::FloatBound;
use super::known::{Definition, Known};
use super::seen::Seen;
use crate::optimize::forward::peephole::Instead;
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Op, Opcode, Operand};
use smallvec::{SmallVec, smallvec};

/// The op of floats that one of singles is like; others as they are.
pub(crate) fn of_floats(opcode: Opcode) -> Opcode {
    use Opcode as O;
    match opcode {
        O::SingleAdd => O::FloatAdd,
        O::SingleSub => O::FloatSub,
        O::SingleMul => O::FloatMul,
        O::SingleTruediv => O::FloatTruediv,
        O::SingleMod => O::FloatMod,
        O::SingleNeg => O::FloatNeg,
        O::SingleAbs => O::FloatAbs,
        O::SingleSqrt => O::FloatSqrt,
        O::SingleFloor => O::FloatFloor,
        O::SingleCeil => O::FloatCeil,
        O::SingleTrunc => O::FloatTrunc,
        O::SingleNearest => O::FloatNearest,
        O::SingleCopysign => O::FloatCopysign,
        O::SingleMin => O::FloatMin,
        O::SingleMax => O::FloatMax,
        O::SingleSelect => O::FloatSelect,
        O::SingleEq => O::FloatEq,
        O::SingleNe => O::FloatNe,
        O::SingleLt => O::FloatLt,
        O::SingleLe => O::FloatLe,
        O::SingleGt => O::FloatGt,
        O::SingleGe => O::FloatGe,
        other => other,
    }
}

/// What a constant is.
pub(crate) fn constant(constant: Const) -> FloatBound {
    match constant {
        Const::Float(bits) => FloatBound::constant(f64::from_bits(bits)),
        Const::Single(bits) => FloatBound::constant(f64::from(f32::from_bits(bits))),
        _ => FloatBound::unbounded(),
    }
}

/// The same rounded to singles.
fn rounded(bound: FloatBound) -> FloatBound {
    let (Some(lower), Some(upper)) = (bound.lower(), bound.upper()) else { return bound };
    let of_numbers = singles(lower as f32, upper as f32);
    if bound.may_be_nan() { of_numbers.or_nan() } else { of_numbers }
}

fn singles(lower: f32, upper: f32) -> FloatBound {
    FloatBound::from_range(lower.into(), upper.into()).unwrap_or(FloatBound::unbounded())
}

/// The bound of a number times itself.
fn squared(bound: FloatBound) -> FloatBound {
    let size = bound.abs_bound();
    let (Some(lower), Some(upper)) = (size.lower(), size.upper()) else { return bound };
    let of_numbers = FloatBound::from_range(lower * lower, upper * upper).unwrap_or(FloatBound::number());
    if bound.may_be_nan() { of_numbers.or_nan() } else { of_numbers }
}

/// The bound of the result of an op that gives a float or a single.
pub(crate) fn transfer(op: &Op, known: &Known) -> FloatBound {
    use Opcode as O;
    let floats: SmallVec<[FloatBound; 3]> = op.args.iter().map(|arg| known.float(*arg)).collect();
    let ints = known.bounds(&op.args);
    match op.opcode {
        O::CastSingleToFloat | O::Likely => floats[0],
        O::CastFloatToSingle => rounded(floats[0]),
        O::CastIntToSingle => singles(ints[0].lower() as f32, ints[0].upper() as f32),
        O::CastUintToSingle => singles(ints[0].unsigned_lower() as f32, ints[0].unsigned_upper() as f32),
        O::FloatMul | O::SingleMul if op.args[0] == op.args[1] => match op.opcode {
            O::SingleMul => rounded(squared(floats[0])),
            _ => squared(floats[0]),
        },
        opcode => match of_floats(opcode) {
            like if like != opcode => rounded(FloatBound::transfer(like, &floats, &ints)),
            _ if opcode.is_pure() => FloatBound::transfer(opcode, &floats, &ints),
            _ => FloatBound::unbounded(),
        },
    }
}

/// The bound of an integer that is made of floats, where they say something of it.
pub(crate) fn to_int(op: &Op, known: &Known) -> Option<IntBound> {
    use Opcode as O;
    let float = |at: usize| known.float(op.args[at]);
    match op.opcode {
        O::CastFloatToInt | O::CastSingleToInt => Some(float(0).cast_float_to_int()),
        O::CastFloatToUint | O::CastSingleToUint => Some(float(0).cast_float_to_uint()),
        opcode => {
            let (true, [a, b]) = (is_comparison(opcode), &op.args[..]) else { return None };
            let like = of_floats(opcode);
            let itself = || if a == b { compared_with_itself(like, float(0)) } else { None };
            let holds = FloatBound::compare(like, float(0), float(1)).or_else(itself)?;
            Some(IntBound::constant(i64::from(holds)))
        }
    }
}

/// Whether an op compares floats or singles.
pub(crate) fn is_comparison(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(of_floats(opcode), O::FloatEq | O::FloatNe | O::FloatLt | O::FloatLe | O::FloatGt | O::FloatGe)
}

/// What other comparisons of the same two give where one holds, or doesn't. One that doesn't hold may be of a NaN.
pub(crate) fn said_by(opcode: Opcode, holds: bool) -> impl Iterator<Item = (Opcode, bool)> {
    use Opcode as O;
    let said: &[(O, O, bool)] = match (of_floats(opcode), holds) {
        (O::FloatLt, true) => &[
            (O::FloatLe, O::SingleLe, true),
            (O::FloatEq, O::SingleEq, false),
            (O::FloatNe, O::SingleNe, true),
            (O::FloatGt, O::SingleGt, false),
            (O::FloatGe, O::SingleGe, false),
        ],
        (O::FloatGt, true) => &[
            (O::FloatGe, O::SingleGe, true),
            (O::FloatEq, O::SingleEq, false),
            (O::FloatNe, O::SingleNe, true),
            (O::FloatLt, O::SingleLt, false),
            (O::FloatLe, O::SingleLe, false),
        ],
        (O::FloatLe, true) => &[(O::FloatGt, O::SingleGt, false)],
        (O::FloatGe, true) => &[(O::FloatLt, O::SingleLt, false)],
        (O::FloatEq, true) | (O::FloatNe, false) => &[
            (O::FloatLe, O::SingleLe, true),
            (O::FloatGe, O::SingleGe, true),
            (O::FloatLt, O::SingleLt, false),
            (O::FloatGt, O::SingleGt, false),
        ],
        _ => &[],
    };
    let is_float = of_floats(opcode) == opcode;
    said.iter().map(move |(float, single, gives)| (if is_float { *float } else { *single }, *gives))
}

/// What a comparison of a float with itself gives: NaN is equal to nothing.
fn compared_with_itself(opcode: Opcode, float: FloatBound) -> Option<bool> {
    use Opcode as O;
    match opcode {
        O::FloatLt | O::FloatGt => Some(false),
        O::FloatNe if !float.may_be_nan() => Some(false),
        O::FloatEq | O::FloatLe | O::FloatGe if !float.may_be_nan() => Some(true),
        _ => None,
    }
}

/// What a comparison of floats says of both, where it holds or doesn't.
pub(crate) fn refined(opcode: Opcode, a: FloatBound, b: FloatBound, holds: bool) -> (FloatBound, FloatBound) {
    FloatBound::refine_comparison(of_floats(opcode), a, b, holds).unwrap_or((a, b))
}

/// A quotient by a power of two as a product, which costs less: both are what the same number is rounded to.
pub(crate) fn by_a_power(op: &Op) -> Option<Instead> {
    let (product, [x, Operand::Const(divisor)]) = (
        match op.opcode {
            Opcode::FloatTruediv => Opcode::FloatMul,
            Opcode::SingleTruediv => Opcode::SingleMul,
            _ => return None,
        },
        &op.args[..],
    ) else {
        return None;
    };
    let factor = match *divisor {
        Const::Float(bits) => {
            let number = f64::from_bits(bits);
            let is_power =
                bits.trailing_zeros() >= f64::MANTISSA_DIGITS - 1 && number.is_normal() && number.recip().is_normal();
            is_power.then(|| Const::Float(number.recip().to_bits()))
        }
        Const::Single(bits) => {
            let number = f32::from_bits(bits);
            let is_power =
                bits.trailing_zeros() >= f32::MANTISSA_DIGITS - 1 && number.is_normal() && number.recip().is_normal();
            is_power.then(|| Const::Single(number.recip().to_bits()))
        }
        _ => None,
    };
    Some(Instead::Op(
        product,
        smallvec![*x, Operand::Const(factor?)],
        "a product with the reciprocal of a power of two",
    ))
}

/// What an op leaves as it is, to the last bit, but that a NaN is any NaN: a product with 1, a sum with -0, what has
/// been rounded already.
pub(crate) fn unchanged(op: &Op, known: &Known) -> Option<Instead> {
    use Opcode as O;
    let is = |operand: Operand, number: f64| {
        let constant = operand.constant().map(|constant| match constant {
            Const::Float(bits) => f64::from_bits(bits),
            Const::Single(bits) => f64::from(f32::from_bits(bits)),
            _ => f64::NAN,
        });
        constant.is_some_and(|constant| constant.to_bits() == number.to_bits())
    };
    let made_by = |operand: Operand| operand.value().and_then(|value| known.definition(value));
    let (same, why) = match (of_floats(op.opcode), &op.args[..]) {
        (O::FloatMul, [x, one] | [one, x]) if is(*one, 1.0) => (*x, "a product with 1"),
        (O::FloatTruediv, [x, one]) if is(*one, 1.0) => (*x, "a quotient by 1"),
        (O::FloatSub, [x, zero]) if is(*zero, 0.0) => (*x, "a difference from 0"),
        (O::FloatAdd, [x, zero] | [zero, x]) if is(*zero, -0.0) => {
            (*x, "a sum with -0, which unlike 0 leaves -0 as it is")
        }
        (O::FloatFloor | O::FloatCeil | O::FloatTrunc | O::FloatNearest, [x]) => {
            let whole = match of_floats(made_by(*x)?.opcode) {
                O::CastIntToFloat | O::CastUintToFloat | O::CastIntToSingle | O::CastUintToSingle => true,
                rounded => matches!(rounded, O::FloatFloor | O::FloatCeil | O::FloatTrunc | O::FloatNearest),
            };
            (whole.then_some(*x)?, "a whole number")
        }
        (O::CastFloatToSingle, [x]) => {
            let Definition { opcode: O::CastSingleToFloat, args, .. } = made_by(*x)? else { return None };
            (args[0], "it was a single before")
        }
        _ => return None,
    };
    Some(Instead::Operand(same, why))
}

/// The size of what is a number, and not negative, is itself.
pub(crate) fn size(op: &Op, known: &Known) -> Option<Instead> {
    let bound = known.float(op.args[0]);
    let is_positive = !bound.may_be_nan() && bound.lower().is_some_and(f64::is_sign_positive);
    is_positive.then(|| Instead::Operand(op.args[0], "its bound"))
}

/// The lesser or the greater of two, where the bounds say which it is, or that a comparison finds it.
pub(crate) fn extreme(op: &Op, known: &Known) -> Option<Instead> {
    use Opcode as O;
    let (is_least, less, select) = match op.opcode {
        O::FloatMin => (true, O::FloatLt, O::FloatSelect),
        O::FloatMax => (false, O::FloatLt, O::FloatSelect),
        O::SingleMin => (true, O::SingleLt, O::SingleSelect),
        O::SingleMax => (false, O::SingleLt, O::SingleSelect),
        _ => return None,
    };
    let [a, b] = op.args[..] else { return None };
    if a == b {
        return Some(Instead::Operand(a, "both are the same"));
    }
    let [of_a, of_b] = [a, b].map(|operand| known.float(operand));
    // The order has -0.0 before 0.0, as the op has; NaN is never what an op gives that is handed a number.
    let is_before = |one: FloatBound, other: FloatBound| {
        let ends = (one.upper(), other.lower());
        matches!(ends, (Some(upper), Some(lower)) if upper.total_cmp(&lower).is_le())
    };
    let wins = |one: FloatBound, other| {
        let first = if is_least { is_before(one, other) } else { is_before(other, one) };
        !one.may_be_nan() && first
    };
    if wins(of_a, of_b) {
        return Some(Instead::Operand(a, "its bound"));
    }
    if wins(of_b, of_a) {
        return Some(Instead::Operand(b, "its bound"));
    }
    let sees_signs = op.results.iter().any(|result| known.seen(*result).contains(Seen::ZERO));
    let zeros_differ = of_a.contains(0.0) && of_b.contains(-0.0) || of_a.contains(-0.0) && of_b.contains(0.0);
    if sees_signs && zeros_differ {
        return None;
    }
    // If it isn't less the second is taken: where the first is NaN, too.
    let (first, second) = match (of_a.may_be_nan(), of_b.may_be_nan()) {
        (_, false) => (a, b),
        (false, true) => (b, a),
        (true, true) => return None,
    };
    let compared = if is_least { [first, second] } else { [second, first] };
    Some(Instead::Selected { less, compared, select, from: [first, second] })
}
