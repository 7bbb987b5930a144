//! What has been done on the way to a block: the latest is forgotten first.
//!
//! Ops are found by a hash, as a chain of all that share its low bits, the latest first: so the table needs no more
//! room than there are ops on the way, and forgetting one moves nothing.

use super::known::OfEach;
use flowgraph::ir::{Op, Opcode, Operand};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The operands of an op that only computes.
pub(crate) type Args = OfEach<Operand>;

/// What makes two ops the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SameOp {
    /// One that only computes.
    Pure(Opcode, Args),
    /// A call of an elidable function.
    Call(Box<(Arc<str>, SmallVec<[Operand; 3]>)>),
}

impl SameOp {
    /// Of an op that only computes, or a call.
    pub(crate) fn of(op: &Op) -> SameOp {
        match op.callee() {
            Some(callee) => SameOp::call(&callee.name, op.args.clone()),
            None => SameOp::pure(op.opcode, &op.args),
        }
    }

    /// Of an op that only computes. Operands of ops that commute are in order, and of an order and the mirrored one
    /// there is but one.
    pub(crate) fn pure(opcode: Opcode, args: &[Operand]) -> SameOp {
        match (opcode.mirrored(), args) {
            (Some(mirrored), [a, b]) if mirrored < opcode => SameOp::Pure(mirrored, Args::of(&[*b, *a])),
            (None, [a, b]) if opcode.is_commutative() && b < a => SameOp::Pure(opcode, Args::of(&[*b, *a])),
            _ => SameOp::Pure(opcode, Args::of(args)),
        }
    }

    /// Of a call of a function.
    pub(crate) fn call(function: &Arc<str>, args: SmallVec<[Operand; 3]>) -> SameOp {
        SameOp::Call(Box::new((function.clone(), args)))
    }
}

/// An op that has been done.
struct Done {
    same: SameOp,
    results: SmallVec<[Operand; 1]>,
    /// Its hash's low bits.
    bits: usize,
    /// The number of the one before it with the same, and one more; 0 if there is none.
    before: u32,
}

/// The ops that have been done.
pub(crate) struct DoneOps {
    all: Vec<Done>,
    /// By low bits of a hash: the number of the latest op that has them, and one more; 0 if there is none.
    latest: Vec<u32>,
}

impl DoneOps {
    /// None yet, of so many that there are.
    pub(crate) fn of(ops: usize) -> DoneOps {
        DoneOps { all: Vec::with_capacity(ops), latest: vec![0; ops.max(1).next_power_of_two()] }
    }

    /// The results of an equal op.
    pub(crate) fn results(&self, same: &SameOp) -> Option<&[Operand]> {
        self.results_with(same, self.bits(same))
    }

    /// The same, where it is known which bits an op has.
    pub(crate) fn results_with(&self, same: &SameOp, bits: usize) -> Option<&[Operand]> {
        let mut number = self.latest[bits];
        while let Some(at) = (number as usize).checked_sub(1) {
            let done = &self.all[at];
            if done.same == *same {
                return Some(&done.results);
            }
            number = done.before;
        }
        None
    }

    /// One more has been done.
    pub(crate) fn push(&mut self, same: SameOp, results: impl IntoIterator<Item = Operand>) {
        let bits = self.bits(&same);
        self.push_with(same, bits, results);
    }

    /// The same, where it is known which bits it has.
    pub(crate) fn push_with(&mut self, same: SameOp, bits: usize, results: impl IntoIterator<Item = Operand>) {
        let results = results.into_iter().collect();
        let number = self.all.len() as u32 + 1;
        let before = std::mem::replace(&mut self.latest[bits], number);
        self.all.push(Done { same, results, bits, before });
    }

    /// The latest hasn't.
    pub(crate) fn pop(&mut self) {
        if let Some(Done { bits, before, .. }) = self.all.pop() {
            self.latest[bits] = before;
        }
    }

    /// The low bits of an op's hash.
    pub(crate) fn bits(&self, same: &SameOp) -> usize {
        let mut hasher = FxHasher::default();
        same.hash(&mut hasher);
        hasher.finish() as usize & (self.latest.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgraph::ir::ValueId;

    #[test]
    fn the_latest_is_found_and_forgotten_first() {
        // One chain for all: there is room for one hash.
        let mut done = DoneOps::of(0);
        let value = |number| Operand::Value(ValueId(number));
        let sum = |by| SameOp::pure(Opcode::IntAdd, &[value(0), Operand::int(by)]);
        let steps = [(sum(1), 5), (sum(2), 6), (sum(1), 7), (SameOp::call(&"f".into(), SmallVec::new()), 8)];
        let found = |done: &DoneOps| [sum(1), sum(2), sum(3)].map(|same| done.results(&same).map(<[_]>::to_vec));
        let mut before = Vec::new();
        for (same, result) in steps {
            before.push(found(&done));
            done.push(same.clone(), [value(result)]);
            assert_eq!(done.results(&same), Some(&[value(result)][..]));
        }
        assert_eq!(found(&done), [Some(vec![value(7)]), Some(vec![value(6)]), None]);
        for before in before.into_iter().rev() {
            done.pop();
            assert_eq!(found(&done), before);
        }
    }
}
