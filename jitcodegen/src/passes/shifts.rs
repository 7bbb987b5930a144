//! Values that move up round by round, as in `(a, b) = (b, a + b)`: two rounds become one, in which they stay where
//! they are.
//!
//! What a round hands on to the next one as another parameter has to be copied to that one's register, and where its
//! own register is taken by what comes after it, the two change places. In a small loop that takes as long as all the
//! rest. In the second of two rounds the values can be looked for where they are.
//!
//! ```text
//! b1(v1, v2, v3):                    b1(v1, v2, v3):
//!     v4 = int_add v1, v2                v4 = int_add v1, v2
//!     v5 = int_sub v3, 1                 v5 = int_sub v3, 1
//!     branch v5, b1(v2, v4, v5), b2  ->  branch v5, b3, b2(v4)
//! b2: return v4                      b3: v6 = int_add v2, v4
//!                                        v7 = int_sub v3, 2
//!                                        branch v7, b1(v4, v6, v7), b2(v6)
//!                                    b2(v8): return v8
//! ```
//!
//! Every test and op is done as often as before, and in the same order. What is counted is so from where the first
//! round began, without waiting for what that has counted.

use crate::passes::arms::is_cheap;
use crate::passes::rounds::{Path, Rounds, exits, hand_over};
use flowgraph::ir::{BlockId, Edge, Graph, Op, Opcode, Operand, Renaming, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of larger rounds a copy is a small part.
const OPS: usize = 6;

/// The graph with two rounds for one where values move up; nothing if they don't anywhere.
pub(crate) fn unrolled(graph: &Graph) -> Option<Graph> {
    let heads = heads(graph);
    if heads.is_empty() {
        return None;
    }
    let rounds = Rounds::of(graph);
    let mut unrolled: Option<Graph> = None;
    let mut changed: FxHashSet<BlockId> = FxHashSet::default();
    for path in heads.into_iter().filter_map(|head| rounds.path(head)) {
        let blocks: Vec<BlockId> = path.iter().map(|(block, _)| *block).collect();
        let mut ops = blocks.iter().flat_map(|block| &graph.block(*block).ops);
        if ops.clone().count() > OPS || !ops.all(is_cheap) {
            continue;
        }
        // Each but the last side leaves; what is behind is of one loop alone.
        let exits: Vec<BlockId> = exits(graph, &path).collect();
        let touched = || blocks.iter().chain(&exits);
        let Some(used) = rounds.used_behind(&blocks) else { continue };
        if exits.iter().any(|exit| blocks.contains(exit)) || touched().any(|block| changed.contains(block)) {
            continue;
        }
        changed.extend(touched());
        let graph = unrolled.get_or_insert_with(|| graph.clone());
        hand_over(graph, &path, &used);
        unroll(graph, &path);
    }
    unrolled
}

/// The blocks that an edge hands one of their parameters as another one.
fn heads(graph: &Graph) -> Vec<BlockId> {
    let mut is_head = vec![false; graph.blocks.len()];
    for edge in graph.edges().filter(|edge| edge.block != BlockId::ENTRY) {
        let params = &graph.block(edge.block).params;
        let own = edge.args.iter().zip(params).filter(|(arg, param)| **arg != Operand::Value(**param));
        is_head[edge.block.index()] |= own.filter_map(|(arg, _)| arg.value()).any(|value| params.contains(&value));
    }
    graph.block_ids().filter(|id| is_head[id.index()]).collect()
}

/// Puts a second round behind the first one.
fn unroll(graph: &mut Graph, path: &Path) {
    let second: Vec<BlockId> = path.iter().map(|_| graph.new_block()).collect();
    let Some((last, side)) = path.last().copied() else { unreachable!("a round has blocks") };
    let Some(back) = graph.block_mut(last).term.edges_mut().nth(side) else { unreachable!("its last one leads back") };
    let back = std::mem::replace(back, Edge::new(second[0], []));
    // What the values of the first round are in the second.
    let params = graph.block(back.block).params.clone();
    let mut now = Renaming::entered(&params, &back);
    let mut counted: FxHashMap<ValueId, (ValueId, i64)> = FxHashMap::default();
    let first = path.iter().flat_map(|(block, _)| &graph.block(*block).ops);
    counted.extend(first.filter_map(|op| Some((op.results.first().copied()?, count_of(op)?))));
    for (place, (block, side)) in path.iter().enumerate() {
        let mut copy = graph.block(*block).clone();
        copy.params.clear();
        for op in &mut copy.ops {
            now.uses(op);
            if let Some((from, by)) = count_of(op)
                && let Some((start, before)) = counted.get(&from)
            {
                op.opcode = Opcode::IntAdd;
                op.args = [(*start).into(), Operand::int(before.wrapping_add(by))].into_iter().collect();
            }
            now.results(graph, op);
        }
        if place + 1 == path.len()
            && let Some(edge) = copy.term.edges_mut().nth(*side)
        {
            *edge = back.clone();
        }
        now.term(&mut copy.term);
        if place + 1 < path.len()
            && let Some(edge) = copy.term.edges_mut().nth(*side)
        {
            edge.block = second[place + 1];
        }
        *graph.block_mut(second[place]) = copy;
    }
}

/// What an op adds a constant to, and that.
fn count_of(op: &Op) -> Option<(ValueId, i64)> {
    let [Operand::Value(value), by] = op.args[..] else { return None };
    match op.opcode {
        Opcode::IntAdd => Some((value, by.as_int()?)),
        Opcode::IntSub => Some((value, by.as_int()?.wrapping_neg())),
        _ => None,
    }
}
