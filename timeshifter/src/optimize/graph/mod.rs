//! The shape of a graph: what dominates what, where loops are, and which values stand for others.

pub(super) mod dominators;
pub(super) mod loops;
pub(super) mod replacements;
