//! From op and bounds of operands to the bound of the result.

use super::FloatBound;
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Opcode, OperandType, Type};

impl FloatBound {
    /// The bound of the result of an op that gives a float. `floats[i]` and `ints[i]` are what is known of operand `i`
    /// as a float and as an integer; only the one of its type is looked at, and what is missing counts as unbounded.
    pub fn transfer(opcode: Opcode, floats: &[Self], ints: &[IntBound]) -> Self {
        use Opcode as O;
        debug_assert!(opcode.results() != [OperandType::Is(Type::Int)], "{opcode:?} gives an integer");
        let float = |i: usize| floats.get(i).copied().unwrap_or(Self::unbounded());
        let int = |i: usize| ints.get(i).copied().unwrap_or(IntBound::unbounded());
        let (a, b, c) = (float(0), float(1), float(2));
        match opcode {
            O::FloatAdd => a.add_bound(b),
            O::FloatSub => a.sub_bound(b),
            O::FloatMul => a.mul_bound(b),
            O::FloatTruediv => a.truediv_bound(b),
            O::FloatMod => a.mod_bound(b),
            O::FloatNeg => a.neg_bound(),
            O::FloatAbs => a.abs_bound(),
            O::FloatSqrt => a.sqrt_bound(),
            O::FloatFloor => a.floor_bound(),
            O::FloatCeil => a.ceil_bound(),
            O::FloatTrunc => a.trunc_bound(),
            O::FloatNearest => a.nearest_bound(),
            O::FloatCopysign => a.copysign_bound(b),
            O::FloatMin => a.min_bound(b),
            O::FloatMax => a.max_bound(b),
            O::FloatSelect => Self::select(int(0), b, c),
            O::CastIntToFloat => Self::cast_int_to_float(int(0)),
            O::CastUintToFloat => Self::cast_uint_to_float(int(0)),
            O::Concrete | O::Variable => a,
            // Fma, bits, singles, and what memory and calls give.
            _ => Self::unbounded(),
        }
    }
}
