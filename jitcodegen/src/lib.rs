//! Graphs to machine code, through Cranelift.
//!
//! An [`Engine`] compiles the graphs of a flow or residual module into memory, each graph one function, and runs them.
//! It knows nothing of how the graphs came to be.
//!
//! ```text
//! engine    what is compiled, and compiling more of it
//! function  a graph -> Cranelift's form: blocks, edges, terminators
//! passes    before that: graphs that suit a machine better
//! lower     one row for each op
//! facts     what dominating branches say of a value
//! fragment  exits through cells, bridges, entering other graphs, the activation frame
//! abi       how values travel, what a status means, the context shared with the host
//! translation  a batch of graphs with all that it refers to
//! code      compiling and installing
//! arena     the memory that code lies in
//! placement where in it a function begins
//! worker    compiling on a thread of its own
//! helpers   functions that generated code calls
//! run       entering generated code, and being called back
//! sites     what numbers of traps, exits and merge points mean
//! isa       what differs from machine to machine
//! object    the same code as an object file, and the host that it has in an executable
//! ```
//!
//! Generated code and the evaluator agree on every graph, in results, memory and traps, except on the bits of NaNs.
//! Not promised: how deep a recursion may go before "stack exhausted", and anything for graphs that the verifier
//! refuses.

mod abi;
mod arena;
mod code;
mod engine;
mod error;
mod facts;
mod fragment;
mod function;
mod glue;
mod helpers;
mod isa;
mod lower;
mod object;
mod passes;
mod placement;
mod run;
mod sites;
mod translation;
mod worker;

pub use abi::{MAX_TRAP_ARGS, MAX_VALUES, REGISTER_VALUES};
pub use engine::{Batch, Engine, Finished, Options, Tier};
pub use error::CodegenError;
pub use flowgraph::eval::TrapReport;
pub use fragment::FrameLayout;
pub use helpers::{Failure, Helper, HelperCx, HelperFn};
pub use isa::{Machine, OptLevel};
pub use object::{HostFunction, ObjectFile, ObjectInput, ObjectOptions, data_symbol, object_file, support_source};
pub use run::{Activation, Answer, Entry, Exit, ExitHook, MergeHook, Outcome, native_stack_limit};
pub use sites::MergeSite;
