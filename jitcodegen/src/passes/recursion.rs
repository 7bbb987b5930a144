//! Small functions that call themselves: some levels of the recursion become one.
//!
//! Of such a function most of the time is what a call takes: the frame, the look at the stack, the registers that are
//! kept. With the function's body in the place of its calls, and again in the place of those in it, a call does the
//! work of several.
//!
//! ```text
//! b0(v0): v1 = int_lt v0, 2               b0(v0): v1 = int_lt v0, 2
//!     branch v1, b2, b1                       branch v1, b2, b1
//! b1: v2 = int_sub v0, 1                  b1: v2 = int_sub v0, 1
//!     v3 = call f(v2)                         jump b3(v2)
//!     v4 = int_add v3, v0                 b3(v5): v6 = int_lt v5, 2
//!     return v4                      ->       branch v6, b5, b4
//! b2: return v0                           b4: v7 = int_sub v5, 1
//!                                             v8 = call f(v7)
//!                                             v9 = int_add v8, v5
//!                                             jump b6(v9)
//!                                         b5: jump b6(v5)
//!                                         b6(v3): v4 = int_add v3, v0
//!                                             return v4
//!                                         b2: return v0
//! ```
//!
//! Calls stay calls at the end of it: a recursion without end still finds the stack exhausted, only later.

use flowgraph::ir::{BlockId, CallMode, Edge, Effect, Graph, Op, Opcode, Operand, Terminator, ValueId};

/// With the body in place of its calls there are no more ops than these: more is compiled longer than it is worth.
const OPS: usize = 220;

/// No more levels than these become one.
const LEVELS: usize = 4;

/// The graph with some levels of its recursion in one; nothing if it has none, or is too large. Whoever calls it calls
/// a function of this name.
pub(crate) fn levels_in_one(graph: &Graph, name: &str) -> Option<Graph> {
    let all = || graph.blocks.iter().flat_map(|block| &block.ops);
    let calls = all().filter(|op| is_own_call(op, name)).count();
    if calls == 0 || !graph.blocks.iter().all(|block| may_be_copied(&block.term)) || !all().all(has_copies) {
        return None;
    }
    // Of each level there are `calls` times as many as of the one above.
    let own = all().count();
    let (mut ops, mut level, mut levels) = (own, own, 0);
    while levels < LEVELS && ops + level * calls <= OPS {
        level *= calls;
        ops += level;
        levels += 1;
    }
    let mut whole = (levels > 0).then(|| graph.clone())?;
    for _ in 0..levels {
        for at in whole.block_ids() {
            // From behind: what comes before a call stays where it is.
            for number in (0..whole.block(at).ops.len()).rev() {
                if is_own_call(&whole.block(at).ops[number], name) {
                    put_in_place(&mut whole, graph, at, number);
                }
            }
        }
    }
    Some(whole)
}

fn is_own_call(op: &Op, name: &str) -> bool {
    op.opcode == Opcode::Call
        && op.callee().is_some_and(|callee| callee.mode == CallMode::Plain && *callee.name == *name)
}

/// Whether an op does the same wherever it is, however often it is there.
fn has_copies(op: &Op) -> bool {
    !matches!(op.opcode.effect(), Effect::Allocate | Effect::Hint)
}

fn may_be_copied(term: &Terminator) -> bool {
    !matches!(term, Terminator::Exit { .. } | Terminator::Enter { .. })
}

/// Puts the body in the place of a call. What comes behind it has a block of its own, which is handed the results.
fn put_in_place(whole: &mut Graph, body: &Graph, at: BlockId, number: usize) {
    let behind = whole.new_block();
    let (first_block, first_value) = (whole.blocks.len(), whole.values.len());
    whole.values.extend(body.values.iter().cloned());
    let value = |value: ValueId| ValueId((first_value + value.index()) as u32);
    let block = |block: BlockId| BlockId((first_block + block.index()) as u32);
    let operand = |operand: &mut Operand| {
        if let Operand::Value(own) = operand {
            *own = value(*own);
        }
    };
    for own in &body.blocks {
        let mut copy = own.clone();
        copy.params.iter_mut().for_each(|param| *param = value(*param));
        for op in &mut copy.ops {
            op.args.iter_mut().for_each(operand);
            op.results.iter_mut().for_each(|result| *result = value(*result));
        }
        copy.term.for_each_operand_mut(operand);
        copy.term.edges_mut().for_each(|edge| edge.block = block(edge.block));
        if let Terminator::Return(values) = copy.term {
            copy.term = Terminator::Jump(Edge::new(behind, values));
        }
        whole.blocks.push(copy);
    }
    let before = whole.block_mut(at);
    let after = before.ops.split_off(number + 1);
    let Some(call) = before.ops.pop() else { unreachable!("the call is one of the block's ops") };
    let into = Terminator::Jump(Edge::new(block(BlockId::ENTRY), call.args));
    let term = std::mem::replace(&mut before.term, into);
    let loc = before.loc;
    let behind = whole.block_mut(behind);
    (behind.params, behind.ops, behind.term, behind.loc) = (call.results.to_vec(), after, term, loc);
}
