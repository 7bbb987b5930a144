//! Small arms: where both sides of a branch lead to one block and hardly do anything on the way, both are done, and
//! what they hand over is selected.
//!
//! A branch that goes either way at random costs a processor more than a few ops, one that it foresees costs less; so
//! it is done for very few. In the residual graph it stays a branch: there it says what it is, and more is known in its
//! arms.

use flowgraph::ir::{Block, BlockId, Edge, Graph, Op, Opcode, Operand, OperandType, Terminator, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Arms together have no more ops than these.
const OPS: usize = 3;

/// No more than these is selected.
const SELECTED: usize = 2;

/// One side of a branch: the block whose ops are done, if there is one, and the edge from there to where both meet.
#[derive(Clone, Copy)]
pub(crate) struct Arm<'g> {
    /// The block, and what it is handed.
    pub block: Option<(BlockId, &'g Edge)>,
    /// Where it leads.
    pub onward: &'g Edge,
}

/// By block that ends in a branch with small arms: where that holds, and where not.
pub(crate) type Arms<'g> = FxHashMap<BlockId, [Arm<'g>; 2]>;

/// Finds the small arms of a graph. Branches on what `likely` gives are left: somebody knows which way they go.
pub(crate) fn arms(graph: &Graph) -> Arms<'_> {
    let ways = graph.arrivals();
    let ops = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode == Opcode::Likely);
    let expected: FxHashSet<ValueId> = ops.flat_map(|op| op.results.iter().copied()).collect();
    let mut arms: Arms = FxHashMap::default();
    for at in graph.block_ids() {
        let Terminator::Branch { cond: Operand::Value(cond), then, otherwise, .. } = &graph.block(at).term else {
            continue;
        };
        if expected.contains(cond) {
            continue;
        }
        let ways = [then, otherwise].map(|edge| [Some(Arm { block: None, onward: edge }), arm(graph, edge, &ways)]);
        let mut pairs =
            ways[0].iter().flatten().flat_map(|one| ways[1].iter().flatten().map(move |other| [*one, *other]));
        if let Some(pair) = pairs.find(|pair| is_small(graph, pair)) {
            arms.insert(at, pair);
        }
    }
    arms
}

/// The arm that a block is, if only this edge leads there, and it does little and jumps on.
fn arm<'g>(graph: &'g Graph, edge: &'g Edge, ways: &[u32]) -> Option<Arm<'g>> {
    let Block { ops, term: Terminator::Jump(onward), .. } = graph.block(edge.block) else { return None };
    let does_little = ways[edge.block.index()] == 1 && ops.len() <= OPS && ops.iter().all(is_cheap);
    does_little.then_some(Arm { block: Some((edge.block, edge)), onward })
}

/// Whether an op only computes, on integers, in about the time of an addition.
pub(crate) fn is_cheap(op: &Op) -> bool {
    use Opcode as O;
    let is_int = |ty: &OperandType| *ty == OperandType::Is(Type::Int);
    match op.opcode {
        O::IntMul => op.args.iter().any(|arg| arg.constant().is_some()),
        O::IntAdd | O::IntSub | O::IntAnd | O::IntOr | O::IntXor | O::IntNeg | O::IntInvert | O::IntSignext => true,
        O::IntLshift | O::IntRshift | O::UintRshift => true,
        op => op.is_comparison() && op.operands().iter().all(is_int),
    }
}

/// Whether two arms lead to one block that goes on, do little, and hand over few that differ, all of them integers.
fn is_small(graph: &Graph, [one, other]: &[Arm; 2]) -> bool {
    let to = one.onward.block;
    if to != other.onward.block || matches!(graph.block(to).term, Terminator::Exit { .. } | Terminator::Trap(_)) {
        return false;
    }
    let ops = |arm: &Arm| arm.block.map_or(0, |(block, _)| graph.block(block).ops.len());
    let handed_over = graph.block(to).params.iter().zip(one.onward.args.iter().zip(&other.onward.args));
    let mut selected = 0;
    for (param, _) in handed_over.filter(|(_, (one, other))| one != other) {
        selected += 1;
        if graph.values[param.index()].ty != Type::Int {
            return false;
        }
    }
    ops(one) + ops(other) <= OPS && (1..=SELECTED).contains(&selected)
}
