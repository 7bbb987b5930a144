//! Steps: what a round of a loop adds to a value that the next round is handed, as `v6 + 9` here.
//!
//! ```text
//! b1(v6): v8 = int_add v6, 9
//!         v9 = uint_lt v8, v3
//!         branch v9, b2, ..
//! b2:     v7 = getarrayitem v2, v8 ..
//!         branch v7, b1(v8), ..
//! ```
//!
//! Cranelift makes addresses of sums: the load above would be of `v2 + v6 + 9`. So `v6` stays alive beside `v8`, and
//! each round copies the one to the other before it jumps back. A step is computed in place; as a difference it isn't
//! seen to be part of an address.

use flowgraph::ir::{Graph, Opcode, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The results of sums and differences of a constant and a parameter of a block which the same parameter is handed
/// along some edge.
pub(crate) fn steps(graph: &Graph) -> FxHashSet<ValueId> {
    let mut places = FxHashMap::default();
    for at in graph.block_ids() {
        places.extend(graph.block(at).params.iter().enumerate().map(|(i, param)| (*param, (at, i))));
    }
    let ops = graph
        .blocks
        .iter()
        .flat_map(|block| &block.ops)
        .filter(|op| matches!(op.opcode, Opcode::IntAdd | Opcode::IntSub));
    let mut sums: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for op in ops {
        if let [Operand::Value(value), Operand::Const(_)] = op.args[..]
            && places.contains_key(&value)
        {
            sums.insert(op.results[0], value);
        }
    }
    let mut steps = FxHashSet::default();
    for edge in graph.edges() {
        for (i, arg) in edge.args.iter().enumerate() {
            if let Operand::Value(sum) = arg
                && sums.get(sum).is_some_and(|param| places[param] == (edge.block, i))
            {
                steps.insert(*sum);
            }
        }
    }
    steps
}
