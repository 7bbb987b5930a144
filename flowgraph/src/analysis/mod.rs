//! What the stages want to know of a graph's shape: liveness, order, loops, dominators, the call graph.
//!
//! ```text
//! Liveness      which values are live before each position
//! Order         predecessors, a weak topological order, loops and how they nest, dominators
//! CallGraph     who calls whom, recursion
//! ```
//!
//! The algorithms are petgraph's; here is what they mean for [`crate::ir::Graph`].

mod bits;
mod calls;
mod liveness;
mod order;
#[cfg(test)]
mod tests;

pub use bits::BitSet;
pub use calls::CallGraph;
pub use liveness::Liveness;
pub use order::{Loop, Order};
