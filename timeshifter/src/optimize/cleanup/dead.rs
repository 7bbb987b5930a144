//! What nobody needs: ops whose results aren't used, and parameters, also those that only need each other, round a
//! loop; and local aggregates that are only written. They go together.

use crate::optimize::backward::locals::{Local, Locals};
use crate::optimize::cleanup::{Edges, remove_params};
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{Block, Effect, Graph, Loc, Op, Opcode, Operand, ValueId};
use rustc_hash::FxHashSet;

/// Whether an op may go when nobody uses what it gives.
fn removable(op: &Op, unread: &Unread) -> bool {
    matches!(op.opcode.effect(), Effect::Pure | Effect::Read | Effect::Allocate | Effect::ElidableCall)
        || op.opcode == Opcode::Likely
        || unread.is_written_by(op)
}

/// The function's own aggregates that nobody loads from.
struct Unread(Option<Locals>, FxHashSet<Local>);

impl Unread {
    fn of(graph: &Graph) -> Unread {
        let Some(locals) = Locals::of(graph) else { return Unread(None, FxHashSet::default()) };
        let loads = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode.effect() == Effect::Read);
        let read = loads.filter_map(|op| locals.accessed(op)).collect();
        Unread(Some(locals), read)
    }

    fn is_written_by(&self, op: &Op) -> bool {
        let Unread(Some(locals), read) = self else { return false };
        op.opcode.effect() == Effect::Write && locals.accessed(op).is_some_and(|local| !read.contains(&local))
    }
}

/// By value: whether an op that stays, or a way out, needs it. What only needs itself, round a loop, is not.
fn needed(graph: &Graph, unread: &Unread) -> Vec<bool> {
    let mut needed = vec![false; graph.values.len()];
    // From behind, most uses of a value come before what computes it: those that don't are followed at the end.
    let mut passed = vec![false; graph.values.len()];
    let mut late: Vec<ValueId> = Vec::new();
    let mut needs = |operand: Operand, passed: &[bool], needed: &mut [bool]| {
        if let Operand::Value(v) = operand
            && !std::mem::replace(&mut needed[v.index()], true)
            && passed[v.index()]
        {
            late.push(v);
        }
    };
    for block in graph.blocks.iter().rev() {
        block.term.operands().for_each(|operand| needs(operand, &passed, &mut needed));
        for edge in block.term.edges() {
            for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                if needed[param.index()] {
                    needs(*arg, &passed, &mut needed);
                }
            }
        }
        for op in block.ops.iter().rev() {
            if !removable(op, unread) || op.results.iter().any(|result| needed[result.index()]) {
                op.args.iter().for_each(|arg| needs(*arg, &passed, &mut needed));
            }
            op.results.iter().for_each(|result| passed[result.index()] = true);
        }
        block.params.iter().for_each(|param| passed[param.index()] = true);
    }
    // Blocks that edges from behind lead to have said what they need only after that.
    for (at, block) in graph.blocks.iter().enumerate() {
        for edge in block.term.edges().filter(|edge| edge.block.index() <= at) {
            for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                if needed[param.index()] {
                    needs(*arg, &passed, &mut needed);
                }
            }
        }
    }
    if !late.is_empty() {
        follow(graph, late, &mut needed);
    }
    needed
}

/// Whatever these values need is needed.
fn follow(graph: &Graph, values: Vec<ValueId>, needed: &mut [bool]) {
    /// Where a value comes from.
    #[derive(Clone, Copy)]
    enum From {
        Nowhere,
        Op(u32, u32),
        Param(u32, u32),
    }
    let mut from = vec![From::Nowhere; graph.values.len()];
    for (b, block) in (0..).zip(&graph.blocks) {
        for (i, param) in (0..).zip(&block.params) {
            from[param.index()] = From::Param(b, i);
        }
        for (i, op) in (0..).zip(&block.ops) {
            op.results.iter().for_each(|result| from[result.index()] = From::Op(b, i));
        }
    }
    let edges = Edges::new(graph);
    let mut todo = values;
    while let Some(value) = todo.pop() {
        let mut needs = |operand: Operand| {
            if let Operand::Value(v) = operand
                && !std::mem::replace(&mut needed[v.index()], true)
            {
                todo.push(v);
            }
        };
        match from[value.index()] {
            From::Op(b, i) => graph.blocks[b as usize].ops[i as usize].args.iter().for_each(|arg| needs(*arg)),
            From::Param(b, i) => edges.given(b as usize, i as usize).for_each(needs),
            From::Nowhere => {}
        }
    }
}

/// Drops ops and parameters that nothing needs, also those that only need each other: so they go together.
pub(crate) fn drop_dead(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let unread = Unread::of(graph);
    let needed = needed(graph, &unread);
    let is_dead = |op: &Op| removable(op, &unread) && !op.results.iter().any(|r| needed[r.index()]);
    let params = || graph.blocks.iter().skip(1).flat_map(|block| &block.params);
    let has_params = params().any(|param| !needed[param.index()]);
    if !has_params && !graph.blocks.iter().any(|block| block.ops.iter().any(is_dead)) {
        return false;
    }
    let listed = || {
        let of_block = |(at, block): (usize, &Block)| {
            let params = block.params.iter().copied().filter(|param| at != 0 && !needed[param.index()]);
            params
                .chain(block.ops.iter().filter(|op| is_dead(op)).flat_map(|op| op.results.clone()))
                .collect::<Vec<_>>()
        };
        let dead = graph.blocks.iter().enumerate().flat_map(of_block);
        dead.map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
    };
    if !rewrites.may(Kind::Dead, Loc::UNKNOWN, || (listed(), "nobody uses that".to_owned())) {
        return false;
    }
    for block in &mut graph.blocks {
        block.ops.retain(|op| !is_dead(op));
    }
    if has_params {
        remove_params(graph, |param| !needed[param.index()]);
    }
    true
}
