//! What one op does when it is run.

use super::EvalError;
use crate::ir::{Imm, MemDesc, Op, Opcode, Word, Words};
use crate::math;
use crate::memory::Memory;
use smallvec::smallvec;

/// The address that a memory op touches.
fn address(desc: &MemDesc, opcode: Opcode, args: &[Word]) -> Word {
    let base = args[0].wrapping_add(i64::from(desc.offset) as Word);
    match opcode {
        Opcode::Getarrayitem | Opcode::Setarrayitem => base.wrapping_add(args[1].wrapping_mul(u64::from(desc.stride))),
        Opcode::RawLoad | Opcode::RawStore => base.wrapping_add(args[1]),
        _ => base,
    }
}

/// Runs one op: computes, touches memory, or does what a hint means at run time (a copy or nothing; `we_are_jitted` is
/// `jitted`). Of the calls only those of the mathematics library. The place that `stack_slot` makes belongs to the
/// caller, who frees it when the frame ends.
///
/// # Errors
/// If memory is touched outside of all regions, or the op is a call of a graph.
pub fn execute(op: &Op, args: &[Word], memory: &mut Memory, jitted: bool) -> Result<Words, EvalError> {
    match op.opcode {
        // These are many, and compute nothing.
        Opcode::Getfield | Opcode::Getarrayitem | Opcode::Setfield | Opcode::Setarrayitem => {
            do_more(op, args, memory, jitted)
        }
        opcode => match opcode.compute(args) {
            Some(words) => Ok(words),
            None => do_more(op, args, memory, jitted),
        },
    }
}

/// The same of ops that do more than compute.
fn do_more(op: &Op, args: &[Word], memory: &mut Memory, jitted: bool) -> Result<Words, EvalError> {
    let unable = EvalError::NotExecutable(op.opcode.name());
    if args.len() < op.opcode.operands().iter().filter(|o| **o != crate::ir::OperandType::Rest).count() {
        return Err(unable);
    }
    match op.opcode {
        Opcode::Getfield | Opcode::Getarrayitem | Opcode::RawLoad => {
            let desc = op.mem().ok_or(unable)?;
            Ok(smallvec![memory.load(address(desc, op.opcode, args), desc.access)?])
        }
        Opcode::Setfield | Opcode::Setarrayitem | Opcode::RawStore => {
            let desc = op.mem().ok_or(unable)?;
            memory.store(address(desc, op.opcode, args), desc.access, args[args.len() - 1])?;
            Ok(Words::new())
        }
        Opcode::StackSlot => {
            let Imm::Slot(slot) = &op.imm else { return Err(unable) };
            Ok(smallvec![memory.allocate(u64::from(slot.size))])
        }
        Opcode::Call | Opcode::CallElidable => {
            let function = op.callee().and_then(|c| c.libm()).and_then(math::function).ok_or(unable)?;
            Ok(smallvec![function.compute(args)])
        }
        Opcode::Concrete | Opcode::Variable | Opcode::Promote | Opcode::Likely => Ok(smallvec![args[0]]),
        Opcode::MergePoint | Opcode::CanEnterJit | Opcode::RecordKnownResult | Opcode::RecordExactValue => {
            Ok(Words::new())
        }
        Opcode::WeAreJitted => Ok(smallvec![u64::from(jitted)]),
        Opcode::IsConstant | Opcode::IsVirtual => Ok(smallvec![0]),
        _ => Err(unable),
    }
}
