//! The ops on integers at any width: those of the table at 64 bits, and the same written out at few, over which tests
//! can go through everything.

use super::Bound;
use flowgraph::ir::{Opcode, OperandType, Type};
use smallvec::{SmallVec, smallvec};

/// The results of an op on integers of `W` bits (at most 31, or 64), sign-extended. `None` if it isn't one that only
/// computes integers from integers.
///
/// Below 64 bits these are the definitions of the table with shift amounts modulo `W` and bytes of one bit.
pub fn compute<const W: u32>(op: Opcode, args: &[i64]) -> Option<SmallVec<[i64; 2]>> {
    let is_int = |ty: &OperandType| *ty == OperandType::Is(Type::Int);
    if args.len() != op.operands().len() || !op.operands().iter().chain(op.results()).all(is_int) {
        return None;
    }
    if W == 64 {
        let words: SmallVec<[u64; 3]> = args.iter().map(|arg| *arg as u64).collect();
        return Some(op.compute(&words)?.into_iter().map(|word| word as i64).collect());
    }
    use Opcode as O;
    let arg = |at: usize| args.get(at).copied().unwrap_or_default();
    let (a, b) = (arg(0), arg(1));
    let (ua, ub) = (a as u64 & Bound::<W>::MASK, b as u64 & Bound::<W>::MASK);
    let amount = ub % u64::from(W);
    let flagged = |exact: i64| smallvec![Bound::<W>::wrap(exact), i64::from(Bound::<W>::wrap(exact) != exact)];
    let value = match op {
        O::IntAdd => a + b,
        O::IntSub => a - b,
        O::IntMul => a * b,
        O::UintMulHigh => ((ua * ub) >> W) as i64,
        O::IntAddOvf => return Some(flagged(a + b)),
        O::IntSubOvf => return Some(flagged(a - b)),
        O::IntMulOvf => return Some(flagged(a * b)),
        O::IntFloordiv => a.checked_div(b).unwrap_or(0),
        O::IntMod => a.checked_rem(b).unwrap_or(a),
        O::UintFloordiv => ua.checked_div(ub).unwrap_or(0) as i64,
        O::UintMod => ua.checked_rem(ub).unwrap_or(ua) as i64,
        O::IntAnd => a & b,
        O::IntOr => a | b,
        O::IntXor => a ^ b,
        O::IntLshift => a << amount,
        O::IntRshift => a >> amount,
        O::UintRshift => (ua >> amount) as i64,
        O::IntSignext => {
            let unused = 64 - b.clamp(1, i64::from(W));
            a << unused >> unused
        }
        O::IntNeg => -a,
        O::IntInvert => !a,
        O::IntForceGeZero => a.max(0),
        O::IntPopcount => i64::from(ua.count_ones()),
        O::IntClz => i64::from(ua.leading_zeros() - (64 - W)),
        O::IntCtz => i64::from(ua.trailing_zeros().min(W)),
        O::IntBswap | O::IntBitreverse => (0..W).filter(|i| ua >> i & 1 != 0).map(|i| 1 << (W - 1 - i)).sum(),
        O::IntSelect => {
            if a != 0 {
                b
            } else {
                arg(2)
            }
        }
        O::IntEq => (a == b).into(),
        O::IntNe => (a != b).into(),
        O::IntLt => (a < b).into(),
        O::IntLe => (a <= b).into(),
        O::IntGt => (a > b).into(),
        O::IntGe => (a >= b).into(),
        O::UintLt => (ua < ub).into(),
        O::UintLe => (ua <= ub).into(),
        O::UintGt => (ua > ub).into(),
        O::UintGe => (ua >= ub).into(),
        O::IntIsTrue => (a != 0).into(),
        O::IntIsZero => (a == 0).into(),
        _ => return None,
    };
    Some(smallvec![Bound::<W>::wrap(value)])
}
