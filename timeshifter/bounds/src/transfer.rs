//! From op and bounds of operands to bounds of results.

use super::Bound;
use flowgraph::ir::{Opcode, OperandType, Type};
use smallvec::{SmallVec, smallvec};

impl<const W: u32> Bound<W> {
    /// The bounds of the results of `opcode` on operands with these bounds, one for each result that the row of the op
    /// names. Operands and results that aren't integers count as unbounded. What a floating-point comparison or a load
    /// gives depends on more than bounds of integers: the answer is then what its type says.
    ///
    /// At less than 64 bits, conversions that speak of 64 bits make no sense.
    pub fn transfer(opcode: Opcode, args: &[Self]) -> SmallVec<[Self; 2]> {
        use Opcode as O;
        let arg = |i: usize| args.get(i).copied().unwrap_or(Self::unbounded());
        let (a, b, c) = (arg(0), arg(1), arg(2));
        let pair = |(value, flag): (Self, Self)| -> SmallVec<[Self; 2]> { smallvec![value, flag] };
        let result = match opcode {
            O::IntAdd => a.add_bound(b),
            O::IntSub => a.sub_bound(b),
            O::IntMul => a.mul_bound(b),
            O::UintMulHigh => a.uint_mul_high_bound(b),
            O::IntAddOvf => return pair(a.add_ovf_bound(b)),
            O::IntSubOvf => return pair(a.sub_ovf_bound(b)),
            O::IntMulOvf => return pair(a.mul_ovf_bound(b)),
            O::IntFloordiv => a.floordiv_bound(b),
            O::IntMod => a.mod_bound(b),
            O::UintFloordiv => a.uint_floordiv_bound(b),
            O::UintMod => a.uint_mod_bound(b),
            O::IntAnd => a.and_bound(b),
            O::IntOr => a.or_bound(b),
            O::IntXor => a.xor_bound(b),
            O::IntLshift => a.lshift_bound(b),
            O::IntRshift => a.rshift_bound(b),
            O::UintRshift => a.urshift_bound(b),
            O::IntNeg => a.neg_bound(),
            O::IntInvert => a.invert_bound(),
            O::IntSignext => a.signext_bound(b),
            O::IntForceGeZero => a.force_ge_zero(),
            O::IntPopcount => a.popcount_bound(),
            O::IntClz => a.clz_bound(),
            O::IntCtz => a.ctz_bound(),
            O::IntBswap => a.bswap_bound(),
            O::IntBitreverse => a.bitreverse_bound(),
            O::IntSelect => a.select(b, c),
            O::IntEq => a.eq_bound(b),
            O::IntNe => a.ne_bound(b),
            O::IntLt => a.lt_bound(b),
            O::IntLe => a.le_bound(b),
            O::IntGt => a.gt_bound(b),
            O::IntGe => a.ge_bound(b),
            O::UintLt => a.ult_bound(b),
            O::UintLe => a.ule_bound(b),
            O::UintGt => a.ugt_bound(b),
            O::UintGe => a.uge_bound(b),
            O::IntIsTrue => a.is_true_bound(),
            O::IntIsZero => a.is_zero_bound(),
            O::FloatEq | O::FloatNe | O::FloatLt | O::FloatLe | O::FloatGt | O::FloatGe => Self::boolean(),
            O::SingleEq | O::SingleNe | O::SingleLt | O::SingleLe | O::SingleGt | O::SingleGe => Self::boolean(),
            O::SingleToBits => Self::from_range(0, i64::from(u32::MAX)).unwrap_or(Self::unbounded()),
            O::CastFloatToInt | O::CastFloatToUint | O::CastSingleToInt | O::CastSingleToUint | O::FloatToBits => {
                Self::unbounded()
            }
            // These copy; or ask, and are answered 0 or 1.
            O::Concrete | O::Variable | O::Promote | O::Likely => a,
            O::WeAreJitted | O::IsConstant | O::IsVirtual => Self::boolean(),
            _ => {
                debug_assert!(
                    !opcode.is_pure() || !opcode.results().contains(&OperandType::Is(Type::Int)),
                    "{opcode:?}"
                );
                return opcode
                    .results()
                    .iter()
                    .filter(|r| **r != OperandType::Rest)
                    .map(|_| Self::unbounded())
                    .collect();
            }
        };
        smallvec![result]
    }
}
