//! What only computes, and the same in each round of a loop, is done once, before it.
//!
//! ```text
//! b0: jump b1(0, v0)               b0: v3 = int_mul v9, v9
//! b1(v1, v2):                          jump b1(0, v0)
//!     v3 = int_mul v9, v9     ->   b1(v1, v2):
//!     v4 = int_add v1, v3              v4 = int_add v1, v3
//!     ..                               ..
//! ```
//!
//! Such an op can't fail, so it may as well be done where no round comes (A. Aho, M. Lam, R. Sethi, J. Ullman,
//! "Compilers", 2nd edition, section 9.5.1); but it is done only if each round would, and if what then has to be kept
//! throughout the loop is little. A comparison stays: as a rule a branch is taken by it, and it costs least right
//! before that. What loads, and tests that always give the same, are [`super::hoist`]'s business.

use crate::optimize::facts::known::uses;
use crate::optimize::forward::joins::definitions;
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::graph::loops::{body, latches};
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::ir::{BlockId, Edge, Graph, Op, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that would have to keep more values than so many for it stays as it is.
const KEPT: usize = 4;

/// Does before loops what gives the same in each of their rounds. Gives whether there was anything.
pub(crate) fn hoist_invariants(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let tree = Dominators::new(graph);
    if !tree.has_loops() {
        return false;
    }
    let latches = latches(graph, &tree);
    let mut search = Search { tree: &tree, defined: definitions(graph), uses: uses(graph) };
    // By head of a loop that a branch leads into: what is done on the way there, and where that comes from.
    let mut on_the_way: Vec<(BlockId, BlockId, Vec<Op>)> = Vec::new();
    let mut changed = false;
    // From inner loops first, to where outer ones can hand it on.
    for head in tree.bottom_up().filter(|head| *head != BlockId::ENTRY) {
        let Some(latches) = latches.get(&head) else { continue };
        let Some(body) = body(head, latches, &tree) else { continue };
        let mut ways_in = tree.leading_to(head).iter().copied().filter(|from| body.binary_search(from).is_err());
        let (Some(before), None) = (ways_in.next(), ways_in.next()) else { continue };
        let each_round = |block: &BlockId| latches.iter().all(|latch| tree.dominates(*block, *latch));
        let mut blocks: Vec<BlockId> = body.into_iter().filter(each_round).collect();
        blocks.sort_unstable_by_key(|block| tree.place(*block));
        let moving = search.invariants(graph, head, &blocks);
        let mut ops = Vec::new();
        for block in blocks.iter().filter(|_| !moving.is_empty()) {
            ops.extend(graph.block_mut(*block).ops.extract_if(.., |op| {
                let told = || (shown_op(op.opcode, &op.args), "it is the same in each round".to_owned());
                op.results.first().is_some_and(|result| moving.contains(result))
                    && rewrites.may(Kind::Hoisted, op.loc, told)
            }));
        }
        if ops.is_empty() {
            continue;
        }
        changed = true;
        search.are_computed(&ops, before);
        match graph.block(before).term {
            Terminator::Jump(_) => graph.block_mut(before).ops.extend(ops),
            _ => on_the_way.push((before, head, ops)),
        }
    }
    for (before, head, ops) in on_the_way {
        let loc = graph.block(before).loc;
        let between = graph.new_block();
        let edge = graph.block_mut(before).term.edges_mut().find(|edge| edge.block == head);
        if let Some(edge) = edge {
            let onward = std::mem::replace(edge, Edge::new(between, []));
            let block = graph.block_mut(between);
            (block.ops, block.loc, block.term) = (ops, loc, Terminator::Jump(onward));
        }
    }
    changed
}

struct Search<'t> {
    tree: &'t Dominators,
    /// By value: the block that computes it.
    defined: Vec<BlockId>,
    /// By value: how often it is used.
    uses: Vec<u32>,
}

impl Search<'_> {
    /// What only computes and gives the same in each round of a loop, if it is worth it, in blocks that each round
    /// comes to.
    fn invariants(&self, graph: &Graph, head: BlockId, blocks: &[BlockId]) -> FxHashSet<ValueId> {
        let mut same: FxHashSet<ValueId> = FxHashSet::default();
        // How often what moves uses a value.
        let mut used: FxHashMap<ValueId, u32> = FxHashMap::default();
        for op in blocks.iter().flat_map(|block| &graph.block(*block).ops) {
            let values = || op.args.iter().filter_map(|arg| arg.value());
            let is_same =
                |value: ValueId| same.contains(&value) || !self.tree.dominates(head, self.defined[value.index()]);
            if op.opcode.is_pure() && !op.opcode.is_comparison() && values().next().is_some() && values().all(is_same) {
                values().for_each(|value| *used.entry(value).or_default() += 1);
                same.extend(&op.results);
            }
        }
        let is_used_up = |value: ValueId| used.get(&value).copied().unwrap_or(0) == self.uses[value.index()];
        let kept = same.iter().filter(|value| !is_used_up(**value)).count();
        let spared = used.keys().filter(|value| !same.contains(value) && is_used_up(**value)).count();
        if kept > KEPT + spared { FxHashSet::default() } else { same }
    }

    /// Ops are done in another block from here on.
    fn are_computed(&mut self, ops: &[Op], block: BlockId) {
        ops.iter().flat_map(|op| &op.results).for_each(|result| self.defined[result.index()] = block);
    }
}
