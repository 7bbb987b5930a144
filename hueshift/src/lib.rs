//! The library that users of hueshift add: from an interpreter's flow graphs to a compiler, to residual code, to
//! machine code, to a run.
//!
//! ```text
//! flow module --Compiler::new--> compiler module --Jit::specialize | Jit::trace--> fragments --> machine code
//!                                                  Jit::run: enter, exit, blackhole, bridge, grow switches
//! ```
//!
//! [`prelude`] is what interpreters are written with.

mod again;
mod clock;
mod code;
mod compiler;
pub mod embed;
pub mod events;
mod forcing;
pub mod golden;
mod hosts;
pub mod io;
mod jit;
pub mod prelude;
mod spec;
pub mod standalone;
mod sweep;
mod switches;
pub mod tier0;

pub use compiler::{CompileError, Compiler};
pub use embed::{Interpreter, Trap};
pub use forcing::{Forced, GuardCounts, guards_of};
pub use hosts::hosts;
pub use jit::{Arrival, Jit, JitError, JitOptions, MadeUp, Observe, Policy, Residual, Size, Stats};
pub use spec::{
    Counts, Ending, Ran, Report, SpecFailure, Specialized, interpret, run_traced, run_traced_telling, spec, specialize,
};
pub use sweep::{Sweep, abort_everywhere, force_every_guard};

pub use flowgraph;
pub use hintannotator;
/// An interpreter embedded in a crate: see [`embed`].
pub use hueshift_macros::{interpreter, interpreter_file};
pub use jitcodegen;
pub use timeshifter;
pub use timeshifter::specialize::{Choice, Limits};
