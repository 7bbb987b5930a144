//! The optimizer: what residual graphs needn't do.
//!
//! ```text
//! cleanup      parameters that are always the same, dead code, jumps to jumps; and in what order everything is done
//! forward      one walk down the dominator tree: what is decided, done before, or simpler
//!   flow         first the bounds of block parameters, to a fixed point
//!   known        what holds on the way
//!   memory       what lies in memory
//!   peephole     what one op can be replaced by
//! demanded     one walk backward: which bits of values are looked at
//! int_bound    what is known of an integer: its range and its bits
//! float_bound  and of a float: its interval, and whether it may be a NaN
//! dominators   what dominates what
//! rewrites     counting what is done, for those who look for the one that is wrong
//! ```
//!
//! Everything works on finished graphs, and so serves every policy, and graphs that come as text.

mod cleanup;
mod demanded;
mod dominators;
pub mod float_bound;
mod flow;
mod forward;
pub mod int_bound;
mod known;
mod memory;
mod peephole;
mod rewrites;

pub use cleanup::{cleanup, optimize};
pub use rewrites::{Rewrite, Rewrites};
