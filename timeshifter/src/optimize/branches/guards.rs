//! Guards of one exit: a later one that says more is made in the place of an earlier one, and several checks of indices
//! at constant distances are one.
//!
//! ```text
//! b0: v4 = int_lt v0, 10                   b0: v5 = int_lt v0, 5
//!     branch v4, b1, b3(7)                     branch v5, b2, b3(7)
//! b1: v5 = int_lt v0, 5             ->     b2: ..
//!     branch v5, b2, b3(8)                 b3(v6): exit 4 guard v6 (v0)
//! b2: ..
//! b3(v6): exit 4 guard v6 (v0)
//! ```
//!
//! What is done between them only computes and loads, and they hand over the same: guards that share a snapshot do,
//! others that leave by one exit needn't. So it is right to leave by it at the first of them, also where that one's own
//! condition holds: no more has been done at the last. A promotion has an exit of its own, and takes no part. Of two
//! ends of a range neither says more; both are one test, as in [`super::ranges`].

use super::ranges::Range;
use super::rows::{Offsets, compute_at_end, is_copied};
use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::one_way;
use crate::optimize::forward::flow::at_ends;
use crate::optimize::graph::dominators::exits;
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{Block, BlockId, Edge, Graph, Imm, Op, Operand, Terminator, Time, ValueId};

/// So many guards in a row are looked at.
const GUARDS: usize = 8;

/// Merges guards of a graph whose entry is handed what lies in these bounds. Gives whether there were any.
pub(crate) fn merge_guards(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> bool {
    let one_way = one_way(graph);
    if !graph.block_ids().any(|block| in_a_row(graph, &one_way, block).len() > 1) {
        return false;
    }
    let mut found: Vec<(Guard, usize, Instead)> = Vec::new();
    let mut taken = vec![false; graph.blocks.len()];
    at_ends(graph, entry, |block, known| {
        let guards = in_a_row(graph, &one_way, block);
        if guards.len() > 1 && !taken[block.index()] {
            for (at, later) in guards.iter().enumerate().skip(1) {
                let Some(instead) = Instead::of(graph, known, &guards[..=at]) else { break };
                let told = || (format!("{block}, {}", later.block), "they leave by one exit".to_owned());
                if !rewrites.may(Kind::MergedGuards, graph.block(block).loc, told) {
                    break;
                }
                taken[later.block.index()] = true;
                found.retain(|(first, ..)| first.block != block);
                found.push((guards[0], at, instead));
            }
        }
    });
    for (first, count, instead) in &found {
        merge(graph, &one_way, *first, *count, instead);
    }
    !found.is_empty()
}

/// A branch of which one side is an exit.
#[derive(Clone, Copy)]
struct Guard {
    block: BlockId,
    cond: ValueId,
    /// At which side it goes on.
    side: usize,
    exit: u32,
}

impl Guard {
    fn at(graph: &Graph, block: BlockId) -> Option<Guard> {
        let Terminator::Branch { cond: Operand::Value(cond), then, otherwise, time: Time::Now } =
            &graph.block(block).term
        else {
            return None;
        };
        let side = match [then, otherwise].map(|edge| exits(graph, edge.block)) {
            [true, false] => 1,
            [false, true] => 0,
            _ => return None,
        };
        let left = graph.block(if side == 0 { otherwise.block } else { then.block });
        let Terminator::Exit { exit, .. } = left.term else { return None };
        left.ops.is_empty().then_some(Guard { block, cond: *cond, side, exit })
    }

    /// What is handed over where it leaves.
    fn state(&self, graph: &Graph) -> Option<Vec<Operand>> {
        let edge = graph.block(self.block).term.edges().nth(1 - self.side)?;
        let Block { params, term: Terminator::Exit { args, .. }, .. } = graph.block(edge.block) else { return None };
        let given = |arg: &Operand| {
            let at = params.iter().position(|param| Operand::Value(*param) == *arg);
            at.map_or(*arg, |at| edge.args[at])
        };
        Some(args.iter().map(given).collect())
    }

    fn goes_on<'g>(&self, graph: &'g Graph) -> Option<&'g Edge> {
        graph.block(self.block).term.edges().nth(self.side)
    }
}

/// The guards from this block on that leave by one exit with the same values, with nothing between them but what
/// computes and loads.
fn in_a_row(graph: &Graph, one_way: &[bool], block: BlockId) -> Vec<Guard> {
    let mut guards: Vec<Guard> = Guard::at(graph, block).into_iter().collect();
    while let Some(last) = guards.last()
        && guards.len() < GUARDS
        && let Some(next) = last.goes_on(graph)
    {
        let to = graph.block(next.block);
        if !one_way[next.block.index()] || !to.params.is_empty() || !to.ops.iter().all(is_copied) {
            break;
        }
        match Guard::at(graph, next.block) {
            Some(guard) if guard.exit == last.exit && guard.state(graph) == last.state(graph) => guards.push(guard),
            _ => break,
        }
    }
    guards
}

/// What the first guard asks instead, for all.
enum Instead {
    /// What the last one of them does.
    Last(Op, usize),
    /// One check of indices.
    Row(Offsets),
    /// Whether a value lies in a range.
    Range(Range),
}

impl Instead {
    /// For all of these; nothing if no one test says as much.
    fn of(graph: &Graph, known: &mut Known, guards: &[Guard]) -> Option<Instead> {
        let tests = || guards.iter().map(|guard| (guard.cond, guard.side == 0));
        if let Some(row) = Offsets::of(known, tests()) {
            return Some(Instead::Row(row));
        }
        let (last, before) = guards.split_last()?;
        let own = |guard: &Guard| graph.block(guard.block).ops.iter().flat_map(|op| op.results.iter().copied());
        let later: Vec<ValueId> = guards[1..].iter().flat_map(own).collect();
        let is_later = |operand: Operand| operand.value().is_some_and(|value| later.contains(&value));
        if let [first, second] = *guards
            && let Some(range) = Range::known(known, [first, second].map(|guard| (guard.cond.into(), guard.side == 0)))
            && !is_later(range.against)
        {
            return Some(Instead::Range(range));
        }
        let op = graph.block(last.block).ops.iter().find(|op| op.results[..] == [last.cond])?;
        // All that it is computed of must be there at the first one.
        if !op.opcode.is_pure() || op.imm != Imm::None || op.args.iter().any(|arg| is_later(*arg)) {
            return None;
        }
        guards[1..].iter().flat_map(|guard| &graph.block(guard.block).ops).for_each(|op| known.computes(op));
        let mark = known.mark();
        let can_be = known.learn(last.cond.into(), last.side == 0);
        let follows = can_be && before.iter().all(|guard| known.holds(guard.cond, guard.side == 0));
        known.forget(mark);
        follows.then(|| Instead::Last(op.clone(), last.side))
    }
}

/// The first guard asks for all up to this one.
fn merge(graph: &mut Graph, one_way: &[bool], first: Guard, count: usize, instead: &Instead) {
    let guards = in_a_row(graph, one_way, first.block);
    let (cond, side) = match instead {
        Instead::Last(op, side) => (compute_at_end(graph, first.block, op.opcode, &op.args, op.loc), *side),
        Instead::Row(row) => (row.check_at_end(graph, first.block), 0),
        Instead::Range(range) => (range.test_at_end(graph, first.block, true), 0),
    };
    let edges: Vec<Edge> = graph.block(first.block).term.edges().cloned().collect();
    let [on, out] = [&edges[first.side], &edges[1 - first.side]].map(Edge::clone);
    let (then, otherwise) = if side == 0 { (on, out) } else { (out, on) };
    graph.block_mut(first.block).term = Terminator::Branch { cond, then, otherwise, time: Time::Now };
    for guard in &guards[1..=count] {
        if let Some(next) = guard.goes_on(graph).cloned() {
            graph.block_mut(guard.block).term = Terminator::Jump(next);
        }
    }
}
