//! Branches that only say which way they go: both lead to one block and hand over 1 and 0. What is handed over is the
//! condition, and there is nothing to branch for.
//!
//! ```text
//! b0: branch v0, b1(1), b1(0)       b0: v2 = int_is_true v0
//! b1(v1): ..                   ->       ..
//! ```

use crate::optimize::graph::dominators::exits;
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{Edge, Graph, Imm, Op, Opcode, Operand, Terminator, Time, Type};
use smallvec::{SmallVec, smallvec};

/// Makes jumps of such branches. Gives whether there were any.
pub(crate) fn branches_to_bits(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let mut changed = false;
    for at in graph.block_ids() {
        let Terminator::Branch { cond: cond @ Operand::Value(value), then, otherwise, .. } = &graph.block(at).term
        else {
            continue;
        };
        let pairs = then.args.iter().zip(&otherwise.args);
        let is_bit = |(first, second): (&Operand, &Operand)| first == second || bit(*first, *second).is_some();
        // A guard that is made to fail needs its branch.
        if then.block != otherwise.block || exits(graph, then.block) || !pairs.clone().all(is_bit) {
            continue;
        }
        let (cond, loc, to) = (*cond, graph.block(at).loc, then.block);
        let given: SmallVec<[_; 4]> = pairs.map(|(first, second)| (*first, bit(*first, *second))).collect();
        let told = || (format!("{at}: the branch on {value}"), "its arms hand over 1 and 0".to_owned());
        if !rewrites.may(Kind::Bit, loc, told) {
            continue;
        }
        let mut args = SmallVec::new();
        for (operand, bit) in given {
            let Some(opcode) = bit else {
                args.push(operand);
                continue;
            };
            let result = graph.new_value(Type::Int);
            let op =
                Op { opcode, args: smallvec![cond], results: smallvec![result], imm: Imm::None, time: Time::Now, loc };
            graph.block_mut(at).ops.push(op);
            args.push(result.into());
        }
        graph.block_mut(at).term = Terminator::Jump(Edge { block: to, args });
        changed = true;
    }
    changed
}

/// What of a condition gives the one operand where it holds, and else the other.
fn bit(first: Operand, second: Operand) -> Option<Opcode> {
    match (first.as_int(), second.as_int()) {
        (Some(1), Some(0)) => Some(Opcode::IntIsTrue),
        (Some(0), Some(1)) => Some(Opcode::IntIsZero),
        _ => None,
    }
}
