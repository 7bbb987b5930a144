//! The lowering of every op: one table, without a wildcard, so that a new op doesn't compile until it has its row.

mod call;
mod division;
mod float;
mod integer;
mod memory;

use crate::CodegenError;
use crate::function::Translator;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, types};
use float::Extreme;
use flowgraph::ir::{BlockId, Op, Opcode};

/// Emits the instructions of one op and says what its results are.
pub(crate) fn lower(t: &mut Translator, op: &Op, block: BlockId, at: usize) -> Result<(), CodegenError> {
    match op.opcode {
        // ---- integers
        Opcode::IntAdd => t.add(op),
        Opcode::IntSub => t.subtract(op),
        Opcode::IntMul => t.multiply(op),
        Opcode::UintMulHigh => t.binary(op, |b, x, y| b.ins().umulhi(x, y)),
        Opcode::IntAddOvf => t.add_overflow(op),
        Opcode::IntSubOvf => t.sub_overflow(op),
        Opcode::IntMulOvf => t.mul_overflow(op),
        Opcode::IntFloordiv => t.divide(op, block, true),
        Opcode::IntMod => t.remainder(op, block, true),
        Opcode::UintFloordiv => t.divide(op, block, false),
        Opcode::UintMod => t.remainder(op, block, false),
        Opcode::IntAnd => t.and(op),
        Opcode::IntOr => t.bitwise(op, |b, x, y| b.ins().bor(x, y)),
        Opcode::IntXor => t.bitwise(op, |b, x, y| b.ins().bxor(x, y)),
        Opcode::IntLshift => t.binary(op, |b, x, y| b.ins().ishl(x, y)),
        Opcode::IntRshift => t.binary(op, |b, x, y| b.ins().sshr(x, y)),
        Opcode::UintRshift => t.binary(op, |b, x, y| b.ins().ushr(x, y)),
        Opcode::IntNeg => t.unary(op, |b, x| b.ins().ineg(x)),
        Opcode::IntInvert => t.unary(op, |b, x| b.ins().bnot(x)),
        Opcode::IntSignext => t.sign_extend(op),
        Opcode::IntForceGeZero => t.unary(op, |b, x| {
            let zero = b.ins().iconst(types::I64, 0);
            b.ins().smax(x, zero)
        }),
        Opcode::IntPopcount => t.unary(op, |b, x| b.ins().popcnt(x)),
        Opcode::IntClz => t.unary(op, |b, x| b.ins().clz(x)),
        Opcode::IntCtz => t.unary(op, |b, x| b.ins().ctz(x)),
        Opcode::IntBswap => t.unary(op, |b, x| b.ins().bswap(x)),
        Opcode::IntBitreverse => t.unary(op, |b, x| b.ins().bitrev(x)),
        Opcode::IntSelect | Opcode::FloatSelect | Opcode::SingleSelect => t.select(op),

        // ---- comparisons of integers
        Opcode::IntEq => t.compare(op, IntCC::Equal),
        Opcode::IntNe => t.compare(op, IntCC::NotEqual),
        Opcode::IntLt => t.compare(op, IntCC::SignedLessThan),
        Opcode::IntLe => t.compare(op, IntCC::SignedLessThanOrEqual),
        Opcode::IntGt => t.compare(op, IntCC::SignedGreaterThan),
        Opcode::IntGe => t.compare(op, IntCC::SignedGreaterThanOrEqual),
        Opcode::UintLt => t.compare(op, IntCC::UnsignedLessThan),
        Opcode::UintLe => t.compare(op, IntCC::UnsignedLessThanOrEqual),
        Opcode::UintGt => t.compare(op, IntCC::UnsignedGreaterThan),
        Opcode::UintGe => t.compare(op, IntCC::UnsignedGreaterThanOrEqual),
        Opcode::IntIsTrue => t.test(op, IntCC::NotEqual),
        Opcode::IntIsZero => t.test(op, IntCC::Equal),

        // ---- floats and singles: the type of the operands tells them apart
        Opcode::FloatAdd | Opcode::SingleAdd => t.binary(op, |b, x, y| b.ins().fadd(x, y)),
        Opcode::FloatSub | Opcode::SingleSub => t.binary(op, |b, x, y| b.ins().fsub(x, y)),
        Opcode::FloatMul | Opcode::SingleMul => t.binary(op, |b, x, y| b.ins().fmul(x, y)),
        Opcode::FloatTruediv | Opcode::SingleTruediv => t.binary(op, |b, x, y| b.ins().fdiv(x, y)),
        Opcode::FloatMod => t.support(op, "fmod"),
        Opcode::SingleMod => t.support(op, "fmodf"),
        Opcode::FloatNeg | Opcode::SingleNeg => t.unary(op, |b, x| b.ins().fneg(x)),
        Opcode::FloatAbs | Opcode::SingleAbs => t.unary(op, |b, x| b.ins().fabs(x)),
        Opcode::FloatSqrt | Opcode::SingleSqrt => t.unary(op, |b, x| b.ins().sqrt(x)),
        Opcode::FloatFloor | Opcode::SingleFloor => t.unary(op, |b, x| b.ins().floor(x)),
        Opcode::FloatCeil | Opcode::SingleCeil => t.unary(op, |b, x| b.ins().ceil(x)),
        Opcode::FloatTrunc | Opcode::SingleTrunc => t.unary(op, |b, x| b.ins().trunc(x)),
        Opcode::FloatNearest | Opcode::SingleNearest => t.unary(op, |b, x| b.ins().nearest(x)),
        Opcode::FloatFma | Opcode::SingleFma => t.fma(op),
        Opcode::FloatCopysign | Opcode::SingleCopysign => t.binary(op, |b, x, y| b.ins().fcopysign(x, y)),
        Opcode::FloatMin | Opcode::SingleMin => t.extreme(op, Extreme::Least),
        Opcode::FloatMax | Opcode::SingleMax => t.extreme(op, Extreme::Greatest),
        Opcode::FloatEq | Opcode::SingleEq => t.compare_floats(op, FloatCC::Equal),
        Opcode::FloatNe | Opcode::SingleNe => t.compare_floats(op, FloatCC::NotEqual),
        Opcode::FloatLt | Opcode::SingleLt => t.compare_floats(op, FloatCC::LessThan),
        Opcode::FloatLe | Opcode::SingleLe => t.compare_floats(op, FloatCC::LessThanOrEqual),
        Opcode::FloatGt | Opcode::SingleGt => t.compare_floats(op, FloatCC::GreaterThan),
        Opcode::FloatGe | Opcode::SingleGe => t.compare_floats(op, FloatCC::GreaterThanOrEqual),

        // ---- casts
        Opcode::CastIntToFloat => t.unary(op, |b, x| b.ins().fcvt_from_sint(types::F64, x)),
        Opcode::CastUintToFloat => t.unary(op, |b, x| b.ins().fcvt_from_uint(types::F64, x)),
        Opcode::CastIntToSingle => t.unary(op, |b, x| b.ins().fcvt_from_sint(types::F32, x)),
        Opcode::CastUintToSingle => t.unary(op, |b, x| b.ins().fcvt_from_uint(types::F32, x)),
        Opcode::CastFloatToInt | Opcode::CastSingleToInt => t.unary(op, |b, x| b.ins().fcvt_to_sint_sat(types::I64, x)),
        Opcode::CastFloatToUint | Opcode::CastSingleToUint => {
            t.unary(op, |b, x| b.ins().fcvt_to_uint_sat(types::I64, x))
        }
        Opcode::CastFloatToSingle => t.unary(op, |b, x| b.ins().fdemote(types::F32, x)),
        Opcode::CastSingleToFloat => t.unary(op, |b, x| b.ins().fpromote(types::F64, x)),
        Opcode::FloatToBits => t.unary(op, |b, x| float::bits(b, types::I64, x)),
        Opcode::BitsToFloat => t.unary(op, |b, x| float::bits(b, types::F64, x)),
        Opcode::SingleToBits => t.unary(op, |b, x| {
            let bits = float::bits(b, types::I32, x);
            b.ins().uextend(types::I64, bits)
        }),
        Opcode::BitsToSingle => t.unary(op, |b, x| {
            let bits = b.ins().ireduce(types::I32, x);
            float::bits(b, types::F32, bits)
        }),

        // ---- memory
        Opcode::Getfield | Opcode::Getarrayitem | Opcode::RawLoad => t.load(op),
        Opcode::Setfield | Opcode::Setarrayitem | Opcode::RawStore => t.store(op),
        Opcode::StackSlot => t.stack_slot(op, block, at),

        // ---- calls
        Opcode::Call | Opcode::CallElidable => t.call(op),

        // ---- hints: copies, nothing, or the portal's way to its host
        Opcode::Concrete | Opcode::Variable | Opcode::Promote | Opcode::Likely => {
            t.define_copy(op.results[0], op.args[0])
        }
        Opcode::MergePoint => t.merge_point(op, block),
        Opcode::CanEnterJit | Opcode::RecordKnownResult | Opcode::RecordExactValue => Ok(()),
        Opcode::WeAreJitted => {
            let jitted = t.unit.tier.jitted;
            t.constant(op, i64::from(jitted))
        }
        Opcode::IsConstant | Opcode::IsVirtual => t.constant(op, 0),
    }
}
