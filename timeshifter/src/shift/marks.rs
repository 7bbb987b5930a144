//! Where states wait for each other.
//!
//! A red split, a promotion or an inlined call that splits makes several states of one. Those that it reaches wait for
//! each other, so that what follows is emitted once for each key of greens: at joins, at heads of loops, where a loop
//! is left, where an inlined call comes back, at merge points, and where the last green that may differ between them
//! dies, which may be in mid-block. (Without the last three, what follows is copied once for each green that has long
//! been forgotten.)
//!
//! A head whose loop no green ends is a [`MarkKind::GlobalMerge`], as is a merge point: the place of versions, under
//! every policy. All others are [`MarkKind::LocalMerge`]s, also the head of a loop that has a merge point in it.

use super::calls::{Calls, is_red_split};
use super::times::is_green;
use flowgraph::analysis::Liveness;
use flowgraph::ir::{BlockId, Graph, Mark, MarkKind, Op, Opcode, Operand, Terminator, ValueId};
use hintannotator::{Shape, blocks, within};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Sets the marks of a graph that has its times and modes.
pub(super) fn set(graph: &mut Graph, shape: &Shape, calls: &Calls<'_>) {
    let mut splits = Splits::of(graph, calls);
    splits.find_varying(graph);
    let live = if splits.varying.is_empty() { None } else { Some(Liveness::new(graph)) };
    let mut marks: Vec<BTreeMap<u32, MarkKind>> = vec![BTreeMap::new(); graph.blocks.len()];
    for block in graph.block_ids() {
        let marks = &mut marks[block.index()];
        if splits.reached[block.index()]
            && (splits.preds[block.index()].len() > 1 || splits.leaves_a_loop(shape, block))
        {
            marks.insert(0, MarkKind::LocalMerge);
        }
        for (i, op) in graph.block(block).ops.iter().enumerate() {
            if splits.come_back[block.index()].contains(&i) && op.opcode != Opcode::Promote {
                marks.insert(i as u32 + 1, MarkKind::LocalMerge);
            }
        }
        for at in live.iter().flat_map(|live| deaths(graph, block, &splits, live)) {
            marks.insert(at as u32, MarkKind::LocalMerge);
        }
    }
    for l in &shape.order.loops {
        let has_merge_point = blocks(l).any(|b| graph.block(b).ops.iter().any(is_merge_point));
        let red = !shape.is_controlled(graph, l, &|v| is_green(graph, v));
        if red && !has_merge_point {
            marks[l.head.index()].insert(0, MarkKind::GlobalMerge);
        } else if splits.reached[l.head.index()] {
            marks[l.head.index()].entry(0).or_insert(MarkKind::LocalMerge);
        }
    }
    for block in graph.block_ids() {
        for (i, _) in graph.block(block).ops.iter().enumerate().filter(|(_, op)| is_merge_point(op)) {
            marks[block.index()].insert(i as u32, MarkKind::GlobalMerge);
        }
    }
    for (block, marks) in graph.blocks.iter_mut().zip(marks) {
        block.marks = marks.into_iter().map(|(at, kind)| Mark { at, kind }).collect();
    }
}

fn is_merge_point(op: &Op) -> bool {
    op.opcode == Opcode::MergePoint
}

/// Where several states may come from, and what they reach.
struct Splits {
    preds: Vec<Vec<BlockId>>,
    /// For each block the ops out of which several states may come.
    come_back: Vec<Vec<usize>>,
    /// The blocks that are reached by them.
    reached: Vec<bool>,
    /// The greens that may differ between states.
    varying: FxHashSet<ValueId>,
}

impl Splits {
    fn of(graph: &Graph, calls: &Calls<'_>) -> Splits {
        let mut preds = vec![Vec::new(); graph.blocks.len()];
        let mut come_back = Vec::new();
        let mut todo: Vec<BlockId> = Vec::new();
        for id in graph.block_ids() {
            let block = graph.block(id);
            let twice: Vec<usize> =
                (0..block.ops.len()).filter(|i| calls.may_come_back_twice(graph, &block.ops[*i])).collect();
            if !twice.is_empty() || is_red_split(graph, &block.term) {
                todo.extend(block.term.edges().map(|e| e.block));
            }
            for edge in block.term.edges() {
                preds[edge.block.index()].push(id);
            }
            come_back.push(twice);
        }
        let mut reached = vec![false; graph.blocks.len()];
        while let Some(id) = todo.pop() {
            if !std::mem::replace(&mut reached[id.index()], true) {
                todo.extend(graph.block(id).term.edges().map(|e| e.block));
            }
        }
        Splits { preds, come_back, reached, varying: FxHashSet::default() }
    }

    /// Joins that are reached, promotions, results of calls that split, and what is computed from them.
    fn find_varying(&mut self, graph: &Graph) {
        let mut before = usize::MAX;
        while self.varying.len() != before {
            before = self.varying.len();
            for id in graph.block_ids() {
                let block = graph.block(id);
                let joins = self.reached[id.index()] && self.preds[id.index()].len() > 1;
                if joins {
                    self.varying.extend(block.params.iter().filter(|p| is_green(graph, **p)));
                }
                for (i, op) in block.ops.iter().enumerate() {
                    if self.come_back[id.index()].contains(&i) || op.args.iter().any(|a| self.varies(*a)) {
                        self.varying.extend(op.results.iter().filter(|r| is_green(graph, **r)));
                    }
                }
                for edge in block.term.edges() {
                    for (p, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                        if is_green(graph, *p) && self.varies(*arg) {
                            self.varying.insert(*p);
                        }
                    }
                }
            }
        }
    }

    fn varies(&self, operand: Operand) -> bool {
        operand.value().is_some_and(|v| self.varying.contains(&v))
    }

    fn leaves_a_loop(&self, shape: &Shape, block: BlockId) -> bool {
        let leaves = |from: &BlockId| shape.order.loops.iter().any(|l| within(l, *from) && !within(l, block));
        self.preds[block.index()].iter().any(leaves)
    }
}

/// The positions of a block before which the last varying green has died: at most one between calls that come back
/// more than once, since states wait behind those anyway; none where the function ends.
fn deaths(graph: &Graph, id: BlockId, splits: &Splits, live: &Liveness) -> Vec<usize> {
    let block = graph.block(id);
    let varying_at = |at: usize| live.live_before(id, at).iter().any(|v| splits.varying.contains(v));
    let ends = matches!(block.term, Terminator::Return(_) | Terminator::Trap(_));
    let calls = splits.come_back[id.index()].iter().copied().filter(|i| block.ops[*i].opcode != Opcode::Promote);
    let mut out = Vec::new();
    let mut start = 0;
    for end in calls.chain([block.ops.len()]) {
        let is_death = |at: &usize| {
            let op = &block.ops[*at - 1];
            let before = varying_at(*at - 1) || op.results.iter().any(|v| splits.varying.contains(v));
            let at_end = *at == block.ops.len() && ends;
            before && !varying_at(*at) && !is_merge_point(op) && !at_end
        };
        out.extend((start + 1..=end).rev().find(is_death));
        start = end + 1;
    }
    out
}
