//! Which blocks come before which on every way.

use crate::ir::{BlockId, Graph};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};

/// The dominator tree, numbered so that a question takes no walk.
pub(super) struct Dominance {
    /// For each block the numbers at which its part of the tree begins and ends; `None` if nothing reaches it.
    span: Vec<Option<(usize, usize)>>,
}

impl Dominance {
    /// That of a graph with a block at least. Edges to blocks that aren't there don't count.
    pub fn new(graph: &Graph) -> Dominance {
        let count = graph.blocks.len();
        let mut flow: DiGraph<(), ()> = DiGraph::with_capacity(count, count);
        for _ in 0..count {
            flow.add_node(());
        }
        for (from, block) in graph.blocks.iter().enumerate() {
            for to in block.term.edges().map(|e| e.block.index()).filter(|to| *to < count) {
                flow.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            }
        }
        let tree = dominators::simple_fast(&flow, NodeIndex::new(0));
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        for node in 0..count {
            if let Some(parent) = tree.immediate_dominator(NodeIndex::new(node)) {
                children[parent.index()].push(node);
            }
        }
        let mut span = vec![None; count];
        let mut next = 0;
        let mut todo = vec![(0, false)];
        while let Some((node, done)) = todo.pop() {
            if done {
                if let Some((_, end)) = &mut span[node] {
                    *end = next;
                }
                continue;
            }
            span[node] = Some((next, next));
            next += 1;
            todo.push((node, true));
            todo.extend(children[node].iter().map(|child| (*child, false)));
        }
        Dominance { span }
    }

    /// Whether the entry reaches the block.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.span[block.index()].is_some()
    }

    /// Whether all ways to `block` come through `above`.
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        match (self.span[above.index()], self.span[block.index()]) {
            (Some((begin, end)), Some((at, _))) => begin <= at && at < end,
            _ => false,
        }
    }
}
