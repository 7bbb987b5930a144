//! Regular expressions: a pattern becomes the table of a deterministic automaton, which the interpreter `regex.rs` runs; compiled
//! for a table, it is a matcher in machine code.
//!
//! ```text
//! pattern --regex_syntax--> Hir --Nfa--> states with byte ranges --Dfa--> table --specialize--> native matcher
//! ```
//!
//! ```
//! use interpreters::regex::{Dfa, lang};
//! let dfa = Dfa::of_pattern("b(an)+a$").unwrap();
//! assert_eq!(lang::regex(&dfa.states, &dfa.ranges, b"a banana"), 8);
//! assert_eq!(lang::regex(&dfa.states, &dfa.ranges, b"a banana!"), -1);
//! ```
//!
//! The construction is Thompson's, then that of subsets, then Moore's minimization. A pattern may match anywhere; `^` and `$` are
//! the ends of the text. What depends on more than bytes that have been read (word boundaries, ends of lines) is refused, and
//! so are patterns that grow too large.

mod dfa;
mod loader;
mod nfa;

pub use dfa::Dfa;
pub(crate) use loader::REGEX;
pub use nfa::{Nfa, Node};

/// The interpreter, `regex.rs`, as a part of this program.
pub mod lang {
    pub use super::loader::lang::*;
}
