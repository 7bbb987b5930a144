//! Which ops are executed when compiling, and which are emitted.

use super::calls::is_red_split;
use flowgraph::ir::{Color, Graph, Op, Opcode, Operand, Terminator, Time, ValueId};

/// Whether the value is green.
pub(super) fn is_green(graph: &Graph, v: ValueId) -> bool {
    graph.values[v.index()].color == Some(Color::Green)
}

/// Whether the operand is known when compiling.
pub(super) fn is_green_operand(graph: &Graph, operand: Operand) -> bool {
    operand.value().is_none_or(|v| is_green(graph, v))
}

/// Gives every op and terminator its time.
pub(super) fn set(graph: &mut Graph) {
    for block in 0..graph.blocks.len() {
        for op in 0..graph.blocks[block].ops.len() {
            graph.blocks[block].ops[op].time = time(graph, &graph.blocks[block].ops[op]);
        }
        let split = if is_red_split(graph, &graph.blocks[block].term) { Time::Emit } else { Time::Now };
        if let Terminator::Branch { time, .. } | Terminator::Switch { time, .. } = &mut graph.blocks[block].term {
            *time = split;
        }
    }
}

fn time(graph: &Graph, op: &Op) -> Time {
    let green = !op.results.is_empty() && op.results.iter().all(|r| is_green(graph, *r));
    let now = match op.opcode {
        Opcode::MergePoint | Opcode::CanEnterJit => true,
        Opcode::Promote => green && op.args.iter().all(|a| is_green_operand(graph, *a)),
        _ => green,
    };
    if now { Time::Now } else { Time::Emit }
}
