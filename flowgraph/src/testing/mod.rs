//! Random modules for the correctness equation: generators live in the library, so that a property test or a fuzz
//! target is eight lines.
//!
//! ```
//! use flowgraph::testing::{Source, random_module};
//! let bytes: Vec<u8> = (0..400u32).map(|i| (i * i / 7) as u8).collect();
//! let generated = random_module(&mut Source::new(&bytes));
//! let (outcome, memory) = generated.evaluate(0, &[]).unwrap();
//! assert_eq!((outcome, memory), generated.evaluate(0, &[]).unwrap());
//! ```
//!
//! A [`Source`] draws choices from bytes and gives zeros when they are used up; zero is always the simplest choice. So
//! a shorter or smaller string of bytes is a simpler program, and shrinking the bytes (as proptest does) shrinks it.
//!
//! Every run of a generated module ends: loops count to at most seven, or burn a fuel that does, recursions count down.
//! Where `concrete` asks for a value, the parameters that it depends on are reported in [`Generated::must_be_green`]:
//! with these green (and any of [`Generated::may_be_green`] besides), coloring succeeds, and specializing ends, since
//! what is asked for changes only in loops that a green ends.
//!
//! Results don't depend on the bits of NaNs (which the IR leaves open) except where a result, or a message, *is* a NaN;
//! nor do they depend on where memory lies.

mod build;
mod calls;
mod control;
mod expr;
mod histogram;
mod loops;
mod memory;
mod module;
mod portal;
mod random;
mod run;
mod source;

pub use histogram::{Group, Histogram};
pub use module::random_module;
pub use random::Random;
pub use run::{Argument, MemoryAfter, Run, same_outcome};
pub use source::Source;

use crate::ir::Module;

/// A module, and what to try with it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The flow graphs.
    pub module: Module,
    /// The key of the function to begin with, which is also the module's entry.
    pub entry: String,
    /// The parameters of the entry (positions in its signature) that some `concrete` needs.
    pub must_be_green: Vec<usize>,
    /// Those that may be green: all but exclusive references. In a portal these are its greens, which must be.
    pub may_be_green: Vec<usize>,
    /// Splits to try: each a set of parameters that are green.
    pub splits: Vec<Vec<usize>>,
    /// Arguments for some runs.
    pub runs: Vec<Run>,
    /// Bytes for settings of whoever tries it: settings that must not change what runs give. Zeros are the usual ones.
    pub settings: [u8; 11],
}
