//! Which blocks lead to a block, and which come before it on every way.

use crate::ir::{BlockId, Graph};
use smallvec::SmallVec;
use std::ops::Range;

/// The blocks that the entry reaches, those that lead to a block before it where that can be; of two ways on, what the
/// first leads to comes first.
pub fn reverse_postorder(graph: &Graph) -> Vec<BlockId> {
    let mut order = Vec::with_capacity(graph.blocks.len());
    let mut seen = vec![false; graph.blocks.len()];
    let mut stack = Vec::new();
    stack.extend((!graph.blocks.is_empty()).then_some((BlockId::ENTRY, false)));
    while let Some((block, done)) = stack.pop() {
        if done {
            order.push(block);
        } else if seen.get(block.index()) == Some(&false) {
            seen[block.index()] = true;
            stack.push((block, true));
            stack.extend(graph.block(block).term.edges().map(|edge| (edge.block, false)));
        }
    }
    order.reverse();
    order
}

/// The blocks that lead to each block. Edges to blocks that aren't there don't count.
#[derive(Clone, Debug)]
pub struct Predecessors {
    /// By block, and one more: where its own begin.
    starts: Vec<u32>,
    all: Vec<BlockId>,
}

impl Predecessors {
    /// Those of a graph's blocks.
    pub fn new(graph: &Graph) -> Predecessors {
        let is_there = |to: BlockId| to.index() < graph.blocks.len();
        let mut starts = vec![0; graph.blocks.len() + 1];
        graph.edges().filter(|edge| is_there(edge.block)).for_each(|edge| starts[edge.block.index() + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![BlockId::ENTRY; starts[graph.blocks.len()] as usize];
        for from in graph.block_ids() {
            for edge in graph.block(from).term.edges().filter(|edge| is_there(edge.block)) {
                let place = &mut next[edge.block.index()];
                all[*place as usize] = from;
                *place += 1;
            }
        }
        Predecessors { starts, all }
    }

    /// Those of one block, one for each edge, in the order of their numbers.
    pub fn of(&self, block: BlockId) -> &[BlockId] {
        &self.all[self.starts[block.index()] as usize..self.starts[block.index() + 1] as usize]
    }

    /// The blocks from which one of these is reached without coming by `head`, and `head`, sorted: of latches, the body
    /// of the loop around it. Nothing if there are more than `most`.
    pub fn body(&self, head: BlockId, latches: &[BlockId], most: usize) -> Option<Vec<BlockId>> {
        let mut body = vec![head];
        let mut todo = latches.to_vec();
        while let Some(at) = todo.pop() {
            if let Err(place) = body.binary_search(&at) {
                if body.len() == most {
                    return None;
                }
                body.insert(place, at);
                todo.extend_from_slice(self.of(at));
            }
        }
        Some(body)
    }
}

/// The dominator tree of a graph, numbered so that a question takes no walk.
#[derive(Clone, Debug)]
pub struct Dominators {
    above: Vec<Option<BlockId>>,
    children: Vec<SmallVec<[BlockId; 2]>>,
    predecessors: Predecessors,
    has_loops: bool,
    /// By block: its number in a walk down the tree, and the end of those that it dominates; empty, at no number, if
    /// the entry doesn't reach it.
    within: Vec<Range<usize>>,
    order: Vec<BlockId>,
}

impl Dominators {
    /// That of a graph.
    pub fn new(graph: &Graph) -> Dominators {
        let predecessors = Predecessors::new(graph);
        let order = reverse_postorder(graph);
        let (above, has_loops) = above(graph, &order, &predecessors);
        let mut children = vec![SmallVec::new(); graph.blocks.len()];
        for block in &order {
            if let Some(above) = above[block.index()] {
                children[above.index()].push(*block);
            }
        }
        let within = numbered(&children);
        Dominators { above, children, predecessors, has_loops, within, order }
    }

    /// The block that all ways to `block` come through last; `None` for the entry and what it doesn't reach.
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.above[block.index()]
    }

    /// The blocks that `block` dominates immediately, in an order in which each comes behind all that lead to it, but
    /// for those that come back.
    pub fn children(&self, block: BlockId) -> &[BlockId] {
        &self.children[block.index()]
    }

    /// The blocks that lead to each.
    pub fn predecessors(&self) -> &Predecessors {
        &self.predecessors
    }

    /// Whether anything comes back.
    pub fn has_loops(&self) -> bool {
        self.has_loops
    }

    /// Whether the entry reaches the block.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.place(block) != NOWHERE
    }

    /// Whether every way to `block` leads by `above`; a block that the entry reaches dominates itself.
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        self.within[above.index()].contains(&self.within[block.index()].start)
    }

    /// The blocks that the entry reaches, in reverse postorder: none before one that dominates it.
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// The number of a block in a walk down the tree: none comes before one that leads to it, but for those that come
    /// back.
    pub fn place(&self, block: BlockId) -> usize {
        self.within[block.index()].start
    }
}

const NOWHERE: usize = usize::MAX;

/// By block: the one that dominates it immediately; and whether there are loops (K. Cooper, T. Harvey, K. Kennedy, "A
/// simple, fast dominance algorithm", 2001). Without loops each block is looked at once.
fn above(graph: &Graph, order: &[BlockId], predecessors: &Predecessors) -> (Vec<Option<BlockId>>, bool) {
    let mut all = vec![None; graph.blocks.len()];
    // All by places in the order; what dominates stands before.
    let mut place = vec![NOWHERE; graph.blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| place[block.index()] = at);
    let is_back = |at: usize, from: &BlockId| place[from.index()] != NOWHERE && place[from.index()] >= at;
    let loops =
        order.iter().enumerate().any(|(at, block)| predecessors.of(*block).iter().any(|from| is_back(at, from)));
    let mut above = vec![NOWHERE; order.len()];
    let Some(entry) = above.first_mut() else { return (all, false) };
    *entry = 0;
    loop {
        let mut changed = false;
        for (at, block) in order.iter().enumerate().skip(1) {
            let mut found = NOWHERE;
            // The latest first: where a thousand checks leave for one block, it's a step from each to the one before.
            for from in predecessors.of(*block).iter().rev().map(|from| place[from.index()]) {
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
    for (at, block) in order.iter().enumerate().skip(1) {
        all[block.index()] = Some(order[above[at]]);
    }
    (all, loops)
}

/// By block: its number in a walk down the dominator tree, and the end of those that it dominates.
fn numbered(children: &[SmallVec<[BlockId; 2]>]) -> Vec<Range<usize>> {
    let mut ranges = vec![NOWHERE..NOWHERE; children.len()];
    let mut todo = Vec::new();
    todo.extend((!children.is_empty()).then_some((BlockId::ENTRY, false)));
    let mut next = 0;
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
