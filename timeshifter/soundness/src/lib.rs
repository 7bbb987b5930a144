//! Proofs that what is known of integers stays true: that the transfers of `bounds` are sound at 64 bits.
//!
//! Nothing is transcribed. `build.rs` writes the source of `bounds` once more, over words that are terms (`word`). A
//! function of it is gone through for all its decisions, and what it gives becomes one term (`explore`). Z3 is asked
//! for bounds, members and a result that isn't one (`theorem`).
//!
//! Whole transfers are too large for that. So functions have promises (`contract`), each proven from its source, with
//! those that it calls known by their promises alone:
//!
//! ```text
//! Bound::reduced          any ends and bits: the result holds just the numbers that lie between these ends and have these bits
//! Tristate::add           what two have of bits, their sum has of the result's
//! Bound::sums_in_turn     rests on these two
//! Bound::add_bound        rests on these three and on Bound::join
//! int_add                 what the row of the op table says
//! ```
//!
//! A promise is about any bounds that are as bounds are ([`set::Set::valid`]), and says that the result is one again,
//! and that nothing panics: no overflow of Rust's arithmetic, no `unreachable!`.
//!
//! ```
//! # use soundness::theorem::{Theorem, Verdict, prove, theorems};
//! # use std::time::Duration;
//! let sums = theorems().into_iter().find(|theorem| theorem.name() == "int_add").expect("there is one");
//! if let Ok((z3, _)) = rules::prove::Solver::new(Duration::from_secs(60)) {
//!     assert_eq!(prove(&sums.questions(), &z3), Verdict::Proven);
//! }
//! ```
//!
//! What is trusted besides Z3: that the rewritten source means the same, which tests hold to the crate itself, on
//! values; and that numbers and pairs that promises are made of are named (`about`) can only make a proof fail.

pub mod contract;
pub mod explore;
pub mod set;
pub mod term;
pub mod theorem;
pub mod word;

/// The source of `bounds` over words that are terms.
#[allow(missing_docs, private_bounds, private_interfaces, unused, non_snake_case, clippy::all, unreachable_patterns)]
pub mod source {
    use crate::word::*;
    include!(concat!(env!("OUT_DIR"), "/bounds.rs"));
}
