//! What the tests that go through several crates share.
//!
//! ```text
//! scenarios   cases of tests/scenarios, and what is wrong with one
//! beside      what a function does as rustc has compiled it
//! case        a flow module, what is known when compiling, and the arguments of some runs; as one text file
//! switches    settings that must not change what a run gives
//! classes     what must come up in random cases, and how often
//! oracle      the evaluator of the flow graphs: what a run gives, leaves in memory, or traps with
//! fuzz        targets of fuzzing: what holds for any bytes
//! hard        guest programs that are hard on traces
//! guests      random programs of the guest languages, in all tiers, under chaos
//! equation    the correctness equation: specialized, native, traced, bridged, it is the same
//! resume      traces stopped at every op, guards made to fail: the same, each effect once
//! shrink      cuts failing cases down
//! programs    random programs in the dialect, beside what rustc makes of them
//! pipeline    one source through all stages, for golden texts and benchmarks
//! ```

pub mod beside;
pub mod case;
pub mod classes;
pub mod equation;
pub mod fuzz;
pub mod guests;
pub mod hard;
pub mod oracle;
pub mod pipeline;
pub mod programs;
pub mod resume;
pub mod scenarios;
pub mod shrink;
pub mod switches;

pub use case::Case;
pub use equation::{Difference, Done, check};
pub use switches::Switches;
