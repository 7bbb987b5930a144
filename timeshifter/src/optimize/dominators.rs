//! What dominates what in a graph.

use super::cleanup::in_order;
use flowgraph::ir::{BlockId, Graph, Terminator};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

/// Ways over more blocks than these are not looked at.
const MOST_ON_THE_WAY: usize = 32;

/// The dominator tree of a graph, and which edges are the only ones.
pub(super) struct Dominators {
    /// By block: those that it dominates immediately, in an order in which each comes behind all that lead to it, but for those that
    /// come back.
    pub children: Vec<Vec<BlockId>>,
    /// By block: the one that leads here, and along which of its edges, if all other ways come back from here. Not for blocks
    /// that exit: a guard that a test makes fail leads there though its condition holds.
    pub sole: Vec<Option<(BlockId, usize)>>,
    /// By block: the one above it in the tree.
    pub above: Vec<Option<BlockId>>,
    /// By block: those that lead to it.
    preds: Vec<Vec<BlockId>>,
    /// By block: its number in a walk down the tree, and the end of those that it dominates.
    within: Vec<std::ops::Range<usize>>,
}

impl Dominators {
    pub(super) fn new(graph: &Graph) -> Dominators {
        let children = tree(graph);
        let within = numbered(&children);
        let sole = sole_edges(graph, &within);
        let mut above = vec![None; graph.blocks.len()];
        for (at, children) in graph.block_ids().zip(&children) {
            children.iter().for_each(|child| above[child.index()] = Some(at));
        }
        let mut preds = vec![Vec::new(); graph.blocks.len()];
        for from in graph.block_ids() {
            graph.block(from).term.edges().for_each(|edge| preds[edge.block.index()].push(from));
        }
        Dominators { children, sole, above, preds, within }
    }

    /// The blocks on the ways to `block` from the one above it, itself if it is among them; nothing if there are too many of them.
    pub(super) fn on_the_way(&self, block: BlockId) -> Option<Vec<BlockId>> {
        let above = self.above[block.index()]?;
        let mut todo = self.preds[block.index()].clone();
        let mut found: Vec<BlockId> = Vec::new();
        while let Some(at) = todo.pop() {
            if at == above || found.contains(&at) {
                continue;
            }
            if found.len() == MOST_ON_THE_WAY {
                return None;
            }
            found.push(at);
            todo.extend_from_slice(&self.preds[at.index()]);
        }
        Some(found)
    }

    /// Whether every way to `block` leads by `above`; a block dominates itself.
    pub(super) fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        self.within[above.index()].contains(&self.within[block.index()].start)
    }
}

fn tree(graph: &Graph) -> Vec<Vec<BlockId>> {
    let mut shape: DiGraph<(), (), u32> = DiGraph::with_capacity(graph.blocks.len(), graph.blocks.len() * 2);
    for _ in &graph.blocks {
        shape.add_node(());
    }
    let node = |block: BlockId| NodeIndex::new(block.index());
    for from in graph.block_ids() {
        for edge in graph.block(from).term.edges() {
            shape.add_edge(node(from), node(edge.block), ());
        }
    }
    let dominators = simple_fast(&shape, node(BlockId::ENTRY));
    let mut children = vec![Vec::new(); graph.blocks.len()];
    for id in in_order(graph).into_iter().map(|at| BlockId(at as u32)) {
        if let Some(above) = dominators.immediate_dominator(node(id)) {
            children[above.index()].push(id);
        }
    }
    children
}

fn sole_edges(graph: &Graph, within: &[std::ops::Range<usize>]) -> Vec<Option<(BlockId, usize)>> {
    let comes_back = |from: BlockId, to: BlockId| within[to.index()].contains(&within[from.index()].start);
    let mut ways = vec![0; graph.blocks.len()];
    let mut sole = vec![None; graph.blocks.len()];
    for from in graph.block_ids() {
        for (side, edge) in graph.block(from).term.edges().enumerate() {
            if !comes_back(from, edge.block) {
                ways[edge.block.index()] += 1;
                sole[edge.block.index()] = (!exits(graph, edge.block)).then_some((from, side));
            }
        }
    }
    sole.into_iter().zip(ways).map(|(edge, ways)| edge.filter(|_| ways == 1)).collect()
}

/// Whether a block leaves compiled code.
pub(super) fn exits(graph: &Graph, block: BlockId) -> bool {
    matches!(graph.block(block).term, Terminator::Exit { .. })
}

/// By block: its number in a walk down the dominator tree, and the end of those that it dominates.
fn numbered(children: &[Vec<BlockId>]) -> Vec<std::ops::Range<usize>> {
    let mut ranges = vec![0..0; children.len()];
    let (mut next, mut todo) = (0, vec![(BlockId::ENTRY, false)]);
    while let Some((id, done)) = todo.pop() {
        if done {
            ranges[id.index()].end = next;
            continue;
        }
        ranges[id.index()].start = next;
        next += 1;
        todo.push((id, true));
        todo.extend(children[id.index()].iter().map(|child| (*child, false)));
    }
    ranges
}
