//! What a host of the evaluator may watch and answer.

use super::{Frame, TrapReport};
use crate::ir::{Graph, Op, Word};
use crate::memory::Memory;

/// A merge point that a run has come to.
#[derive(Clone, Copy, Debug)]
pub struct MergePoint<'a> {
    /// How many frames are below: 0 in the outermost one.
    pub depth: usize,
    /// The graph.
    pub graph: &'a Graph,
    /// The frame, standing at the merge point.
    pub frame: &'a Frame,
    /// The words of the operands: in a portal those of all parameters' leaves.
    pub words: &'a [Word],
}

/// What to do at a merge point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeAnswer {
    /// Go on.
    Continue,
    /// Go on with these words in the values that are the operands.
    Update(Vec<Word>),
    /// The frame returns these words.
    Return(Vec<Word>),
    /// The run ends with this trap.
    Trap(TrapReport),
    /// End the run here, with [`super::Outcome::Stopped`].
    Stop,
}

/// What to do at a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallAnswer {
    /// Run the callee's graph.
    Enter,
    /// The host has done it: these are the results.
    Return(Vec<Word>),
    /// The host has done it: it trapped.
    Trap(TrapReport),
    /// End the run before the call, with [`super::Outcome::Stopped`].
    Stop,
}

/// What a host may watch and answer. Every method does nothing unless it is overridden.
pub trait Hooks {
    /// A merge point, in a portal or not. It is not called for a merge point that a run is resumed at.
    fn merge_point(&mut self, _at: MergePoint<'_>, _memory: &mut Memory) -> MergeAnswer {
        MergeAnswer::Continue
    }

    /// A call of anything but the mathematics library, `depth` frames being below the caller's.
    fn call(&mut self, _depth: usize, _callee: &str, _args: &[Word], _memory: &mut Memory) -> CallAnswer {
        CallAnswer::Enter
    }

    /// An op that is about to be run.
    fn op(&mut self, _graph: &Graph, _frame: &Frame, _op: &Op) {}
}

/// Hooks that do nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}

impl<H: Hooks> Hooks for &mut H {
    fn merge_point(&mut self, at: MergePoint<'_>, memory: &mut Memory) -> MergeAnswer {
        (**self).merge_point(at, memory)
    }
    fn call(&mut self, depth: usize, callee: &str, args: &[Word], memory: &mut Memory) -> CallAnswer {
        (**self).call(depth, callee, args, memory)
    }
    fn op(&mut self, graph: &Graph, frame: &Frame, op: &Op) {
        (**self).op(graph, frame, op);
    }
}
