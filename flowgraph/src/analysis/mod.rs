//! What the stages want to know of a graph's shape: liveness, order, loops, dominators, the call graph.
//!
//! ```text
//! Liveness      which values are live before each position
//! Dominators    predecessors, reverse postorder, the dominator tree
//! Order         a weak topological order, loops and how they nest
//! CallGraph     who calls whom, recursion
//! ```
//!
//! Where passes ask each time they are done (dominators, liveness) the algorithms are our own, over block numbers;
//! else they are petgraph's.

mod bits;
mod calls;
mod dominators;
mod liveness;
mod order;
#[cfg(test)]
mod tests;

pub use bits::BitSet;
pub use calls::CallGraph;
pub use dominators::{Dominators, Predecessors, reverse_postorder};
pub use liveness::Liveness;
pub use order::{Loop, Order};
