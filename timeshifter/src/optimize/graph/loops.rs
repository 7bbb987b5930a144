//! Loops: where they come back from, which blocks they are, and what is the same in each round.

use super::dominators::Dominators;
use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::Place;
use crate::optimize::forward::joins::definitions;
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{BlockId, Effect, Graph, MemKind, Op, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Loops of more blocks than these are not looked at.
const BLOCKS: usize = 256;

/// A load isn't held against more writes than these.
const WRITES: usize = 16;

/// By head of a loop: the blocks from which it comes back there, once for each edge.
pub(crate) fn latches(graph: &Graph, tree: &Dominators) -> FxHashMap<BlockId, SmallVec<[BlockId; 2]>> {
    let mut latches: FxHashMap<BlockId, SmallVec<[BlockId; 2]>> = FxHashMap::default();
    for from in graph.block_ids() {
        for edge in graph.block(from).term.edges().filter(|edge| tree.dominates(edge.block, from)) {
            latches.entry(edge.block).or_default().push(from);
        }
    }
    latches
}

/// By block: whether it may be done several times, since an edge comes back past it.
pub(crate) fn may_repeat(graph: &Graph) -> Vec<bool> {
    let order = reverse_postorder(graph);
    let mut place = vec![0; graph.blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| place[block.index()] = at);
    // By place: how many edges come back to here, and how many come from just before.
    let mut spans = vec![0i32; order.len() + 1];
    for from in &order {
        for edge in graph.block(*from).term.edges().filter(|edge| place[edge.block.index()] <= place[from.index()]) {
            spans[place[edge.block.index()]] += 1;
            spans[place[from.index()] + 1] -= 1;
        }
    }
    let mut repeats = vec![false; graph.blocks.len()];
    let mut open = 0;
    for (block, more) in order.iter().zip(spans) {
        open += more;
        repeats[block.index()] = open > 0;
    }
    repeats
}

/// The blocks from which a round of a loop can still end, sorted; nothing if there are too many of them.
pub(crate) fn body(head: BlockId, latches: &[BlockId], tree: &Dominators) -> Option<Vec<BlockId>> {
    tree.predecessors().body(head, latches, BLOCKS)
}

/// What is the same in each round of a loop.
pub(crate) struct Unchanged<'g> {
    graph: &'g Graph,
    tree: &'g Dominators,
    /// By value: the block that computes it.
    defined: Vec<BlockId>,
    known: Option<Known>,
}

impl<'g> Unchanged<'g> {
    pub(crate) fn new(graph: &'g Graph, tree: &'g Dominators) -> Unchanged<'g> {
        Unchanged { graph, tree, defined: definitions(graph), known: None }
    }

    /// Whether an operand is the same in each round of the loop with this head, if these values are.
    pub(crate) fn is_same(&self, operand: Operand, head: BlockId, same: &FxHashSet<ValueId>) -> bool {
        operand
            .value()
            .is_none_or(|value| same.contains(&value) || !self.tree.dominates(head, self.defined[value.index()]))
    }

    /// Whether a loop doesn't write where an op loads from.
    pub(crate) fn stays(&mut self, op: &Op, body: &[BlockId]) -> bool {
        if op.mem().is_some_and(|desc| desc.kind == MemKind::Immutable) {
            return true;
        }
        let known = self.known.get_or_insert_with(|| Known::new(self.graph));
        let Some(place) = Place::of(op, known) else { return false };
        let ops = body.iter().flat_map(|block| &self.graph.block(*block).ops);
        let mut writes = ops.filter(|op| matches!(op.opcode.effect(), Effect::Write | Effect::Call));
        for _ in 0..WRITES {
            let Some(write) = writes.next() else { return true };
            match Place::of(write, known).filter(|_| write.opcode.effect() == Effect::Write) {
                Some(written) if !place.may_touch(&written) => {}
                _ => return false,
            }
        }
        false
    }
}
