//! What dominates what in a graph.

use super::cleanup::in_order;
use flowgraph::ir::{BlockId, Graph, NO_GUARD, Terminator};
use smallvec::SmallVec;

/// Ways over more blocks than these are not looked at.
const MOST_ON_THE_WAY: usize = 32;

/// The dominator tree of a graph, and which edges are the only ones.
pub(super) struct Dominators {
    /// By block: those that it dominates immediately, in an order in which each comes behind all that lead to it, but
    /// for those that come back.
    pub children: Vec<SmallVec<[BlockId; 2]>>,
    /// By block: the one that leads here, and along which of its edges, if all other ways come back from here. Not for
    /// blocks that exit: a guard that a test makes fail leads there though its condition holds.
    pub sole: Vec<Option<(BlockId, usize)>>,
    /// By block: the one above it in the tree.
    pub above: Vec<Option<BlockId>>,
    preds: Preds,
    /// Whether anything comes back.
    pub has_loops: bool,
    /// By block: its number in a walk down the tree, and the end of those that it dominates.
    within: Vec<std::ops::Range<usize>>,
    /// The blocks, none before one that dominates it.
    order: Vec<BlockId>,
}

impl Dominators {
    pub(super) fn new(graph: &Graph) -> Dominators {
        let preds = Preds::new(graph);
        let order = in_order(graph);
        let (above, has_loops) = above(graph, &order, &preds);
        let order: Vec<BlockId> = order.into_iter().map(|block| BlockId(block as u32)).collect();
        let mut children = vec![SmallVec::new(); graph.blocks.len()];
        for block in &order {
            if let Some(above) = above[block.index()] {
                children[above.index()].push(*block);
            }
        }
        let within = numbered(&children);
        let sole = sole_edges(graph, &within);
        Dominators { children, sole, above, preds, has_loops, within, order }
    }

    /// The blocks on the ways to `block` from the one above it, itself if it is among them; nothing if there are too
    /// many of them.
    pub(super) fn on_the_way(&self, block: BlockId) -> Option<Vec<BlockId>> {
        let above = self.above[block.index()]?;
        let mut todo = self.preds.of(block.index()).to_vec();
        let mut found: Vec<BlockId> = Vec::new();
        while let Some(at) = todo.pop() {
            if at == above || found.contains(&at) {
                continue;
            }
            if found.len() == MOST_ON_THE_WAY {
                return None;
            }
            found.push(at);
            todo.extend_from_slice(self.preds.of(at.index()));
        }
        Some(found)
    }

    /// The blocks that lead to a block.
    pub(super) fn leading_to(&self, block: BlockId) -> &[BlockId] {
        self.preds.of(block.index())
    }

    /// Whether every way to `block` leads by `above`; a block dominates itself.
    pub(super) fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        self.within[above.index()].contains(&self.within[block.index()].start)
    }

    /// By block: whether it is one of these, or dominates one.
    pub(super) fn leading_down_to(&self, blocks: impl Iterator<Item = BlockId>) -> Vec<bool> {
        let mut leads = vec![false; self.above.len()];
        blocks.for_each(|block| leads[block.index()] = true);
        for block in self.bottom_up() {
            if let Some(above) = self.above[block.index()] {
                leads[above.index()] |= leads[block.index()];
            }
        }
        leads
    }

    /// The blocks, each before what dominates it.
    pub(super) fn bottom_up(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.order.iter().rev().copied()
    }

    /// The number of a block in a walk down the tree: none comes before one that leads to it, but for those that come
    /// back.
    pub(super) fn place(&self, block: BlockId) -> usize {
        self.within[block.index()].start
    }

    /// Whether a walk down the tree comes to `block` before `other`.
    pub(super) fn is_before(&self, block: BlockId, other: BlockId) -> bool {
        self.place(block) < self.place(other)
    }
}

/// The blocks that lead to each.
struct Preds {
    /// By block, and one more: where its own begin.
    starts: Vec<u32>,
    all: Vec<BlockId>,
}

impl Preds {
    fn new(graph: &Graph) -> Preds {
        let mut starts = vec![0; graph.blocks.len() + 1];
        graph.edges().for_each(|edge| starts[edge.block.index() + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![BlockId::ENTRY; starts[graph.blocks.len()] as usize];
        for from in graph.block_ids() {
            for edge in graph.block(from).term.edges() {
                let place = &mut next[edge.block.index()];
                all[*place as usize] = from;
                *place += 1;
            }
        }
        Preds { starts, all }
    }

    fn of(&self, block: usize) -> &[BlockId] {
        &self.all[self.starts[block] as usize..self.starts[block + 1] as usize]
    }
}

/// By block: the one that dominates it immediately; and whether there are loops (K. Cooper, T. Harvey, K. Kennedy, "A
/// simple, fast dominance algorithm", 2001). Without loops each block is looked at once.
fn above(graph: &Graph, order: &[usize], preds: &Preds) -> (Vec<Option<BlockId>>, bool) {
    const NOWHERE: usize = usize::MAX;
    // All by places in the order; what dominates stands before.
    let mut place = vec![NOWHERE; graph.blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| place[*block] = at);
    let is_back = |at: usize, from: &BlockId| place[from.index()] != NOWHERE && place[from.index()] >= at;
    let loops = order.iter().enumerate().any(|(at, block)| preds.of(*block).iter().any(|from| is_back(at, from)));
    let mut above = vec![NOWHERE; order.len()];
    above[0] = 0;
    loop {
        let mut changed = false;
        for (at, block) in order.iter().enumerate().skip(1) {
            let mut found = NOWHERE;
            // The latest first: where a thousand checks leave for one block, it's a step from each to the one before.
            for from in preds.of(*block).iter().rev().map(|from| place[from.index()]) {
                if from == NOWHERE || above[from] == NOWHERE {
                    continue;
                }
                // Of what has been found and this the nearest that dominates both.
                let mut other = from;
                while found != NOWHERE && found != other {
                    if found > other { found = above[found] } else { other = above[other] }
                }
                found = other;
            }
            changed |= found != std::mem::replace(&mut above[at], found);
        }
        if !(changed && loops) {
            break;
        }
    }
    let mut all = vec![None; graph.blocks.len()];
    for (at, block) in order.iter().enumerate().skip(1) {
        all[*block] = Some(BlockId(order[above[at]] as u32));
    }
    (all, loops)
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

/// Whether a block is where a guard leaves compiled code. A guard may be made to fail at any time: so what stands
/// before it must have been passed.
pub(super) fn is_guards_exit(graph: &Graph, block: BlockId) -> bool {
    matches!(graph.block(block).term, Terminator::Exit { guard, .. } if guard.as_int() != Some(NO_GUARD))
}

/// Whether a block ends in a trap.
pub(super) fn is_trap(graph: &Graph, block: BlockId) -> bool {
    matches!(graph.block(block).term, Terminator::Trap(_))
}

/// By block: its number in a walk down the dominator tree, and the end of those that it dominates.
fn numbered(children: &[SmallVec<[BlockId; 2]>]) -> Vec<std::ops::Range<usize>> {
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
        todo.extend(children[id.index()].iter().rev().map(|child| (*child, false)));
    }
    ranges
}
