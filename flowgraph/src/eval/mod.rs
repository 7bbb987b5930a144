//! The evaluator: runs graphs of every stage, slowly, obviously and completely. It is the oracle of every other engine.
//!
//! [`execute`] is the one definition of what an op that is no call does when it is run; the evaluator, the tracer and
//! the blackhole share it. [`Evaluator`] adds calls and control flow over explicit [`Frame`]s, so that a run can begin
//! at any position `(graph, block, op index)` for which the registers are known, and be stopped at one.
//!
//! Colored and compiler graphs run as the flow graphs that they were made from: colors, times and marks mean nothing
//! here. Residual graphs end in [`Outcome::Exited`] where they leave by an exit, and go on in another graph of the
//! module at an `enter`.
//!
//! ```
//! use flowgraph::{eval::{Evaluator, Outcome}, ir::*, memory::Memory};
//! let int = RustType::Scalar(Scalar::I64);
//! let mut graph = Graph::new("id", Signature { params: vec![], result: int });
//! let x = graph.new_value(Type::Int);
//! let entry = graph.new_block();
//! graph.block_mut(entry).params.push(x);
//! graph.block_mut(entry).term = Terminator::Return(vec![x.into()]);
//! let mut module = Module::default();
//! module.graphs.insert("id".into(), graph);
//! let mut memory = Memory::for_module(&module);
//! assert_eq!(Evaluator::new(&module, &mut memory).call("id", &[7]).unwrap(), Outcome::Returned(vec![7]));
//! ```
//!
//! Not promised: anything about graphs that the verifier refuses, except that they cannot corrupt the process.

mod evaluator;
mod execute;
mod hooks;
#[cfg(test)]
mod tests;

pub use evaluator::{DEFAULT_DEPTH, DEFAULT_SLOT_BYTES, Evaluator, Frame, Scratch};
pub use execute::execute;
pub use hooks::{CallAnswer, Hooks, MergeAnswer, MergePoint, NoHooks};

use crate::ir::{BlockId, Loc, TrapKind, Word};
use crate::memory::BadAccess;

/// How a run ended by a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapReport {
    /// The kind.
    pub kind: TrapKind,
    /// The message, operands filled in.
    pub message: String,
    /// The source line blamed.
    pub loc: Loc,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The outermost frame returned these words.
    Returned(Vec<Word>),
    /// A trap.
    Trapped(TrapReport),
    /// A residual graph left by an exit.
    Exited {
        /// Which exit of the graph.
        exit: u32,
        /// The guard that failed.
        guard: i64,
        /// The live values.
        args: Vec<Word>,
        /// All frames; the last one is that which left, still owning its stack slots (see [`Evaluator::release`]).
        frames: Vec<Frame>,
    },
    /// A hook said stop, before the op at which the last frame stands.
    Stopped {
        /// All frames, for [`Evaluator::resume`].
        frames: Vec<Frame>,
    },
}

/// What keeps the evaluator from going on. Nothing that a verified graph with valid arguments does, but for fuel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The fuel is used up.
    #[error("out of fuel: the run took more steps than it was given")]
    OutOfFuel,
    /// A load or store outside all regions.
    #[error("{0}")]
    BadAccess(#[from] BadAccess),
    /// A call or `enter` names no graph of the module, and no hook answered for it.
    #[error("there is no graph called `{0}`")]
    UnknownGraph(String),
    /// A call of a function of the host that has no implementation.
    #[error("nobody has registered the function `{0}` of the host")]
    NoHost(String),
    /// The wrong number of arguments or results.
    #[error("`{graph}` takes {wanted} words but was given {given}")]
    WrongCount {
        /// The graph.
        graph: String,
        /// How many it takes.
        wanted: usize,
        /// How many it was given.
        given: usize,
    },
    /// A frame stands where its graph has no op, or waits for a callee where there is no call.
    #[error("there is no such position: {block} op {index} of `{graph}`")]
    BadPosition {
        /// The graph.
        graph: String,
        /// The block.
        block: BlockId,
        /// The op.
        index: usize,
    },
    /// An op that `execute` alone can't execute: a call, or one without its descriptor.
    #[error("`{0}` can't be executed on its own")]
    NotExecutable(&'static str),
}
