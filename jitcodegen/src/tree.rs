//! What dominates what in a graph, and the blocks of its loops.

use flowgraph::ir::{BlockId, Graph};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use smallvec::SmallVec;
use std::ops::Range;

/// What dominates what.
pub(crate) struct Tree {
    /// By block: the one above it.
    pub above: Vec<Option<BlockId>>,
    /// By block: its number in a walk down the tree, and the end of those that it dominates; nothing if nothing leads
    /// there.
    within: Vec<Range<u32>>,
    /// By block: those that lead there.
    pub before: Vec<SmallVec<[BlockId; 2]>>,
}

impl Tree {
    /// Of one graph.
    pub fn of(graph: &Graph) -> Tree {
        let mut ways = DiGraph::<(), (), u32>::with_capacity(graph.blocks.len(), 2 * graph.blocks.len());
        let mut before = vec![SmallVec::new(); graph.blocks.len()];
        graph.block_ids().for_each(|_| _ = ways.add_node(()));
        for from in graph.block_ids() {
            for edge in graph.block(from).term.edges() {
                ways.add_edge(from.0.into(), edge.block.0.into(), ());
                before[edge.block.index()].push(from);
            }
        }
        let dominators = simple_fast(&ways, BlockId::ENTRY.0.into());
        let number = |node: NodeIndex<u32>| BlockId(node.index() as u32);
        let above: Vec<Option<BlockId>> =
            ways.node_indices().map(|node| dominators.immediate_dominator(node).map(number)).collect();
        let mut children: Vec<SmallVec<[BlockId; 2]>> = vec![SmallVec::new(); above.len()];
        for (block, above) in graph.block_ids().zip(&above) {
            if let Some(above) = above {
                children[above.index()].push(block);
            }
        }
        let mut within = vec![0..0; above.len()];
        let (mut next, mut todo) = (0, vec![(BlockId::ENTRY, false)]);
        while let Some((block, is_done)) = todo.pop() {
            if is_done {
                within[block.index()].end = next;
                continue;
            }
            within[block.index()].start = next;
            next += 1;
            todo.push((block, true));
            todo.extend(children[block.index()].iter().map(|child| (*child, false)));
        }
        Tree { above, within, before }
    }

    /// Whether every way to `block` leads by `above`; a block dominates itself.
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        self.within[above.index()].contains(&self.within[block.index()].start)
    }

    /// The blocks of the loop around `head` that `latch` leads back to it, sorted; nothing if there are more than
    /// `most`.
    pub fn body(&self, head: BlockId, latch: BlockId, most: usize) -> Option<Vec<BlockId>> {
        body(&self.before, head, latch, most)
    }
}

/// The same by the blocks before each block.
pub(crate) fn body(
    before: &[SmallVec<[BlockId; 2]>],
    head: BlockId,
    latch: BlockId,
    most: usize,
) -> Option<Vec<BlockId>> {
    let mut body = vec![head];
    let mut todo = vec![latch];
    while let Some(at) = todo.pop() {
        if let Err(place) = body.binary_search(&at) {
            if body.len() == most {
                return None;
            }
            body.insert(place, at);
            todo.extend_from_slice(&before[at.index()]);
        }
    }
    Some(body)
}
