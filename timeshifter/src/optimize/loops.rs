//! Loops: where they come back from, and which blocks they are.

use super::dominators::Dominators;
use flowgraph::ir::{BlockId, Graph};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Loops of more blocks than these are not looked at.
const BLOCKS: usize = 256;

/// By head of a loop: the blocks from which it comes back there, once for each edge.
pub(super) fn latches(graph: &Graph, tree: &Dominators) -> FxHashMap<BlockId, SmallVec<[BlockId; 2]>> {
    let mut latches: FxHashMap<BlockId, SmallVec<[BlockId; 2]>> = FxHashMap::default();
    for from in graph.block_ids() {
        for edge in graph.block(from).term.edges().filter(|edge| tree.dominates(edge.block, from)) {
            latches.entry(edge.block).or_default().push(from);
        }
    }
    latches
}

/// The blocks from which a round of a loop can still end, sorted; nothing if there are too many of them.
pub(super) fn body(head: BlockId, latches: &[BlockId], tree: &Dominators) -> Option<Vec<BlockId>> {
    let mut body = vec![head];
    let mut todo = latches.to_vec();
    while let Some(at) = todo.pop() {
        if let Err(place) = body.binary_search(&at) {
            if body.len() == BLOCKS {
                return None;
            }
            body.insert(place, at);
            todo.extend_from_slice(tree.leading_to(at));
        }
    }
    Some(body)
}
