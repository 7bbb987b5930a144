//! What dominates what in a graph.

use flowgraph::analysis;
use flowgraph::ir::{BlockId, Graph, NO_GUARD, Terminator};
use std::ops::Deref;

/// Ways over more blocks than these are not looked at.
const MOST_ON_THE_WAY: usize = 32;

/// The dominator tree of a graph, and which edges are the only ones.
pub(crate) struct Dominators {
    tree: analysis::Dominators,
    /// By block: the one that leads here, and along which of its edges, if all other ways come back from here. Not for
    /// blocks that exit: a guard that a test makes fail leads there though its condition holds.
    pub sole: Vec<Option<(BlockId, usize)>>,
}

impl Deref for Dominators {
    type Target = analysis::Dominators;

    fn deref(&self) -> &analysis::Dominators {
        &self.tree
    }
}

impl Dominators {
    pub(crate) fn new(graph: &Graph) -> Dominators {
        let tree = analysis::Dominators::new(graph);
        let sole = sole_edges(graph, &tree);
        Dominators { tree, sole }
    }

    /// The blocks on the ways to `block` from the one above it, itself if it is among them; nothing if there are too
    /// many of them.
    pub(crate) fn on_the_way(&self, block: BlockId) -> Option<Vec<BlockId>> {
        let above = self.immediate_dominator(block)?;
        let mut todo = self.leading_to(block).to_vec();
        let mut found: Vec<BlockId> = Vec::new();
        while let Some(at) = todo.pop() {
            if at == above || found.contains(&at) {
                continue;
            }
            if found.len() == MOST_ON_THE_WAY {
                return None;
            }
            found.push(at);
            todo.extend_from_slice(self.leading_to(at));
        }
        Some(found)
    }

    /// The blocks that lead to a block.
    pub(crate) fn leading_to(&self, block: BlockId) -> &[BlockId] {
        self.predecessors().of(block)
    }

    /// By block: whether it is one of these, or dominates one.
    pub(crate) fn leading_down_to(&self, blocks: impl Iterator<Item = BlockId>) -> Vec<bool> {
        let mut leads = vec![false; self.sole.len()];
        blocks.for_each(|block| leads[block.index()] = true);
        for block in self.bottom_up() {
            if let Some(above) = self.immediate_dominator(block) {
                leads[above.index()] |= leads[block.index()];
            }
        }
        leads
    }

    /// The blocks, each before what dominates it.
    pub(crate) fn bottom_up(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.order().iter().rev().copied()
    }

    /// Whether a walk down the tree comes to `block` before `other`.
    pub(crate) fn is_before(&self, block: BlockId, other: BlockId) -> bool {
        self.place(block) < self.place(other)
    }
}

fn sole_edges(graph: &Graph, tree: &analysis::Dominators) -> Vec<Option<(BlockId, usize)>> {
    let mut ways = vec![0; graph.blocks.len()];
    let mut sole = vec![None; graph.blocks.len()];
    for from in graph.block_ids() {
        for (side, edge) in graph.block(from).term.edges().enumerate() {
            if !tree.dominates(edge.block, from) {
                ways[edge.block.index()] += 1;
                sole[edge.block.index()] = (!exits(graph, edge.block)).then_some((from, side));
            }
        }
    }
    sole.into_iter().zip(ways).map(|(edge, ways)| edge.filter(|_| ways == 1)).collect()
}

/// Whether a block leaves compiled code.
pub(crate) fn exits(graph: &Graph, block: BlockId) -> bool {
    matches!(graph.block(block).term, Terminator::Exit { .. })
}

/// Whether a block is where a guard leaves compiled code. A guard may be made to fail at any time: so what stands
/// before it must have been passed.
pub(crate) fn is_guards_exit(graph: &Graph, block: BlockId) -> bool {
    matches!(graph.block(block).term, Terminator::Exit { guard, .. } if guard.as_int() != Some(NO_GUARD))
}

/// Whether a block ends in a trap.
pub(crate) fn is_trap(graph: &Graph, block: BlockId) -> bool {
    matches!(graph.block(block).term, Terminator::Trap(_))
}
