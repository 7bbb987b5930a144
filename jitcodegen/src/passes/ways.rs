//! Sums that are counted anew on the ways that hand them over, as `v11` here.
//!
//! ```text
//! b2: v11 = int_add v3, 18
//!     v12 = getarrayitem v0, v11 ..
//!     branch v12, b3, b4(v11)
//! ```
//!
//! The load's address is of `v0 + v3 + 18`, and needs no `v11`. That it is handed over on one way would make it a
//! register's content on both: so it is computed on that way.

use flowgraph::ir::{BlockId, Const, Graph, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sums of a value and a constant, as such, that only addresses of bytes and branches that go on use: these hand
/// them over. `order` has the blocks, each after all that dominate it.
pub(crate) fn counted_on_ways(graph: &Graph, order: &[BlockId]) -> FxHashMap<ValueId, (ValueId, i64)> {
    let mut sums: FxHashMap<ValueId, (ValueId, i64)> = FxHashMap::default();
    for op in order.iter().flat_map(|block| &graph.block(*block).ops) {
        let sum = match (op.opcode, &op.args[..]) {
            (Opcode::IntAdd, [Operand::Value(of), Operand::Const(Const::Int(by))]) => (*of, *by),
            (Opcode::IntSub, [Operand::Value(of), Operand::Const(Const::Int(by))]) => (*of, by.wrapping_neg()),
            _ => continue,
        };
        sums.insert(op.results[0], sum);
    }
    if sums.is_empty() {
        return sums;
    }
    let mut place = vec![usize::MAX; graph.blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| place[block.index()] = at);
    let mut handed_over: FxHashSet<ValueId> = FxHashSet::default();
    for (at, id) in order.iter().enumerate() {
        let block = graph.block(*id);
        for op in &block.ops {
            let is_of_bytes = matches!(op.opcode, Opcode::Getarrayitem | Opcode::Setarrayitem)
                && op.mem().is_some_and(|desc| desc.stride == 1);
            let is_address = |number: usize| is_of_bytes && number == 1;
            let others = op.args.iter().enumerate().filter(|(number, _)| !is_address(*number));
            others.filter_map(|(_, arg)| arg.value()).for_each(|value| _ = sums.remove(&value));
        }
        let goes_on = matches!(block.term, Terminator::Branch { .. });
        for edge in block.term.edges() {
            for value in edge.args.iter().filter_map(|arg| arg.value()) {
                // What comes back to a loop is moved on in place.
                if goes_on && place[edge.block.index()] > at {
                    handed_over.insert(value);
                } else {
                    sums.remove(&value);
                }
            }
        }
        block.term.operands().filter_map(|operand| operand.value()).for_each(|value| _ = sums.remove(&value));
    }
    sums.retain(|sum, _| handed_over.contains(sum));
    sums
}
