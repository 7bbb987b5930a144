//! Less to do in each round of a loop.
//!
//! ```text
//! hoist        what is the same in each round is done before the loop
//! invariant    so is what only computes, behind effects as well
//! copies       rounds of loops for machine code alone, and what all of that needs; rounds: what they say of each other
//! peel         the first round of a loop, where that spares the others something
//! unroll       rounds of a loop that only looks for its end have one check
//! ```

pub(super) mod copies;
pub(super) mod hoist;
pub(super) mod invariant;
mod peel;
mod rounds;
mod unroll;
