//! The rule language: rewrites of ops as data.
//!
//! ```
//! # fn main() -> Result<(), Vec<rules::Problem>> {
//! let rules = rules::read(
//!     "add_reassoc_consts: int_add(int_add(x, C1), C2)
//!          C = C1 + C2
//!          => int_add(x, C)",
//! )?;
//! assert_eq!(rules[0].arrow(), "int_add(int_add(x, C1), C2) => int_add(x, C)");
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! syntax      text: read, and written in one shape
//! check       names and types: from text to rules
//! rule        a rule as it is understood; methods: what may be asked of bounds
//! eval        what expressions and terms come to: the meaning of the language
//! matching    asking rules about an op: the interpreter
//! compile     the same as Rust, a decision tree for each op
//! order       whether rewriting ends; confluence: whether it matters which rule is used first; terms: rewriting to the end;
//!             instances: terms to which rules apply
//! mine        finding rules in residual graphs
//! sample      trying rules on values; prove: proving them with Z3; ledger: what has been proven
//! ```
//!
//! The language is that of PyPy's JIT (`rpython/jit/metainterp/ruleopt`); its ops are those of the op table, whose
//! semantics, also those of shifts by 64 and more and of division by zero, hold in patterns, targets and expressions
//! alike.

mod amounts;
mod check;
mod compile;
mod confluence;
mod eval;
mod instances;
mod ledger;
mod matching;
pub mod methods;
pub mod mine;
mod order;
pub mod prove;
pub mod rule;
mod sample;
pub mod syntax;
mod terms;

pub use check::{line_of, read};
pub use compile::compile;
pub use confluence::{Joined, Pair, Pairs};
pub use eval::Bindings;
pub use instances::{goes_on, instance_of};
pub use ledger::Ledger;
pub use matching::{At, Built, Fired, Interpreted, Subject, at, has_bits, same, variants};
pub use order::{Ends, ends};
pub use rule::Rule;
pub use sample::{Counterexample, Sampled, Tried, sample};
pub use syntax::Problem;
pub use terms::Terms;

/// The reason that a file gives for judging its pairs inside out: `# confluent inside out: reason` before its first
/// rule.
pub fn inside_out(text: &str) -> Option<String> {
    let comments = text.lines().map_while(|line| line.is_empty().then_some("").or_else(|| line.strip_prefix('#')));
    let mut reasons = comments.filter_map(|comment| comment.trim().strip_prefix("confluent inside out:"));
    reasons.next().map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty())
}

/// The optimizer's own rules, as text.
pub const INTEGER: &str = include_str!("../integer.rules");

/// The ledger of their proofs.
pub const PROOFS: &str = include_str!("../integer.proofs");
