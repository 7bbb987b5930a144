//! What anybody sees of floats and singles: which zero a zero is, whether they are negative, whether they are positive,
//! or all of them.
//!
//! Backward, to a fixed point: `x < 0` sees whether `x` is negative, and the greater of two numbers is so where both
//! are; a sum is looked at as it is. Not a number isn't negative: `x < 0` doesn't see whether `x` is one, and `x >= 0`
//! does.
//!
//! ```text
//! d = single_sqrt s           all of it: the difference is computed from it
//! e = single_sub d, 0.5       whether it is negative
//! m = single_max e, f         whether it is negative
//! c = single_lt m, 0.0
//! ```

use super::floats::of_floats;
use flowgraph::ir::{Const, Graph, Op, Opcode, Operand, Terminator, Type};
use std::ops::{BitOr, BitOrAssign};

/// What is seen of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(u8);

impl Seen {
    /// Nothing.
    pub const NOTHING: Seen = Seen(0);
    /// Of a zero, whether it is -0.0.
    pub const ZERO: Seen = Seen(1);
    /// Whether it is less than 0.
    pub const NEGATIVE: Seen = Seen(2);
    /// Whether it is greater than 0.
    pub const POSITIVE: Seen = Seen(4);
    /// Whether it is less than 0, or greater.
    pub const SIGN: Seen = Seen(2 | 4);
    /// On which side of constants it lies.
    pub const COMPARED: Seen = Seen(8);
    /// Whether it is NaN.
    pub const NAN: Seen = Seen(32);
    /// Which number it is, or whether it is one, but for the sign of a zero.
    const NUMBER: Seen = Seen(2 | 4 | 8 | 16 | 32);
    /// Everything.
    pub const ALL: Seen = Seen(63);

    /// Whether all of this is seen.
    pub fn contains(self, other: Seen) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is nothing else than this, and something.
    pub fn is_some_of(self, other: Seen) -> bool {
        self != Seen::NOTHING && other.contains(self)
    }

    fn only(self, mask: Seen) -> Seen {
        Seen(self.0 & mask.0)
    }

    /// What is seen of it if it is a number.
    pub fn of_number(self) -> Seen {
        Seen(self.0 & !Seen::NAN.0)
    }

    /// The same of its opposite.
    fn negated(self) -> Seen {
        let mut seen = self.only(Seen(1 | 8 | 16 | 32));
        for (one, other) in [(Seen::NEGATIVE, Seen::POSITIVE), (Seen::POSITIVE, Seen::NEGATIVE)] {
            if self.contains(one) {
                seen |= other;
            }
        }
        seen
    }
}

impl BitOr for Seen {
    type Output = Seen;
    fn bitor(self, other: Seen) -> Seen {
        Seen(self.0 | other.0)
    }
}

impl BitOrAssign for Seen {
    fn bitor_assign(&mut self, other: Seen) {
        *self = *self | other;
    }
}

/// After so many rounds it is taken that everything is seen.
const ROUNDS: usize = 20;

/// By value: what is seen of it; nothing if the graph has no floats.
pub(crate) fn seen(graph: &Graph) -> Vec<Seen> {
    if graph.values.iter().all(|value| value.ty == Type::Int) {
        return Vec::new();
    }
    let mut seen = vec![Seen::NOTHING; graph.values.len()];
    for _ in 0..ROUNDS {
        let mut changed = false;
        let mut see = |operand: &Operand, what: Seen, seen: &mut Vec<Seen>| {
            if let Operand::Value(value) = operand {
                changed |= !seen[value.index()].contains(what);
                seen[value.index()] |= what;
            }
        };
        for block in graph.blocks.iter().rev() {
            match &block.term {
                Terminator::Jump(_) | Terminator::Branch { .. } | Terminator::Switch { .. } => {}
                term => term.operands().for_each(|operand| see(&operand, Seen::ALL, &mut seen)),
            }
            for edge in block.term.edges() {
                for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                    let what = seen[param.index()];
                    see(arg, what, &mut seen);
                }
            }
            for op in block.ops.iter().rev() {
                let result = op.results.first().map_or(Seen::NOTHING, |result| seen[result.index()]);
                for (at, arg) in op.args.iter().enumerate() {
                    let zero = if sees_sign_of_zero(op.opcode, at).unwrap_or(result.contains(Seen::ZERO)) {
                        Seen::ZERO
                    } else {
                        Seen::NOTHING
                    };
                    see(arg, zero | sees_number(op, at, result), &mut seen);
                }
            }
        }
        if !changed {
            return seen;
        }
    }
    seen.fill(Seen::ALL);
    seen
}

/// What an op sees of one of its operands, but for zeros' signs, where this is seen of its result.
fn sees_number(op: &Op, operand: usize, result: Seen) -> Seen {
    use Opcode as O;
    let other = if op.args.len() == 2 { op.args.get(1 - operand.min(1)) } else { None };
    let against_zero = other.is_some_and(|other| number(*other) == Some(0.0));
    let against_constant = matches!(other, Some(Operand::Const(_)));
    let result = result.only(Seen::NUMBER);
    let is_sign = |seen: Seen| seen.of_number().is_some_of(Seen::SIGN);
    match (of_floats(op.opcode), operand) {
        (O::FloatLt, 0) | (O::FloatGt, 1) if against_zero => Seen::NEGATIVE,
        (O::FloatGt, 0) | (O::FloatLt, 1) if against_zero => Seen::POSITIVE,
        // Not less than 0 is at least 0, or NaN.
        (O::FloatGe, 0) | (O::FloatLe, 1) if against_zero => Seen::NEGATIVE | Seen::NAN,
        (O::FloatLe, 0) | (O::FloatGe, 1) if against_zero => Seen::POSITIVE | Seen::NAN,
        (O::FloatEq | O::FloatNe, _) if against_zero => Seen::SIGN | Seen::NAN,
        (O::FloatLt | O::FloatLe | O::FloatGt | O::FloatGe, _) if against_constant => Seen::COMPARED | Seen::NAN,
        // In place of NaN is the other one: whether the lesser one is negative depends on it as on what is not.
        (O::FloatMin, _) if result == Seen::NEGATIVE => result,
        (O::FloatMax, _) if result == Seen::POSITIVE => result,
        (O::FloatMin | O::FloatMax, _) if result != Seen::NOTHING => result | Seen::NAN,
        (O::FloatMin | O::FloatMax, _) | (O::FloatSelect, 1 | 2) => result,
        (O::FloatNeg, _) => result.negated(),
        (O::FloatMul, _) if is_sign(result) && other.is_some_and(|other| keeps_sign(*other)) => result,
        (O::FloatSqrt, _) if is_sign(result) => Seen::SIGN | Seen::NAN,
        _ => Seen::NUMBER,
    }
}

/// Whether a number has the same sign after it has been multiplied by this: less than 1 might leave nothing of it.
pub(crate) fn keeps_sign(by: Operand) -> bool {
    number(by).is_some_and(|by| (1.0..f64::INFINITY).contains(&by))
}

/// What constant an operand is.
pub(crate) fn number(operand: Operand) -> Option<f64> {
    match operand {
        Operand::Const(Const::Float(bits)) => Some(f64::from_bits(bits)),
        Operand::Const(Const::Single(bits)) => Some(f64::from(f32::from_bits(bits))),
        _ => None,
    }
}

/// Whether an op sees the sign of a zero in one of its operands; nothing if it depends on whether that of its result is
/// seen.
fn sees_sign_of_zero(opcode: Opcode, operand: usize) -> Option<bool> {
    use Opcode as O;
    match (of_floats(opcode), operand) {
        (O::FloatEq | O::FloatNe | O::FloatLt | O::FloatLe | O::FloatGt | O::FloatGe, _) => Some(false),
        (O::CastFloatToInt | O::CastFloatToUint | O::CastSingleToInt | O::CastSingleToUint, _) => Some(false),
        (O::FloatAdd | O::FloatSub | O::FloatMul | O::FloatNeg | O::FloatMin | O::FloatMax | O::FloatFma, _) => None,
        (O::FloatSqrt | O::FloatFloor | O::FloatCeil | O::FloatTrunc | O::FloatNearest | O::FloatSelect, _) => None,
        (O::CastFloatToSingle | O::CastSingleToFloat, _) => None,
        // These see none, but where the operand's bound is positive the operand takes their place, and such bounds are
        // those of what it was before its sign did not matter.
        (O::FloatAbs, _) | (O::FloatCopysign, 0) => None,
        (O::SingleFma, _) | (O::FloatTruediv | O::FloatMod, 0) => None,
        _ => Some(true),
    }
}
