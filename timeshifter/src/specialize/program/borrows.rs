//! Which addresses are borrowed from a local or an argument itself.
//!
//! As long as such a reference is in use nobody else gets at what it leads to: what it was borrowed from is lent. A
//! reference that was found in memory is another thing. It is lent by whoever holds that memory, and when it is used no
//! more, a call that is handed the holder may follow the original. So if both have the same word, an arrival from the
//! interpreter can't tell what is exclusive to which.

use flowgraph::ir::{BlockId, Effect, Graph, Op, Opcode, Operand, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// For the values that are the address of a local aggregate or an argument, handed on from block to block: the
/// arguments that they may be, by number.
#[derive(Debug, Default)]
pub(crate) struct Borrows(FxHashMap<ValueId, SmallVec<[usize; 2]>>);

impl Borrows {
    /// Those of a graph.
    pub fn of(graph: &Graph) -> Borrows {
        let mut found: FxHashMap<ValueId, SmallVec<[usize; 2]>> = FxHashMap::default();
        found.extend(graph.entry_params().iter().enumerate().map(|(at, param)| (*param, SmallVec::from_slice(&[at]))));
        // All others that might be, which those that aren't are taken from.
        for (id, block) in graph.block_ids().zip(&graph.blocks) {
            let params = block.params.iter().filter(|_| id != BlockId::ENTRY);
            let slots = block.ops.iter().filter(|op| op.opcode == Opcode::StackSlot || is_handed_on(op));
            found.extend(params.chain(slots.flat_map(|op| &op.results)).map(|value| (*value, SmallVec::new())));
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let edges = graph.edges().flat_map(|edge| edge.args.iter().zip(&graph.block(edge.block).params));
            let ops = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| is_handed_on(op));
            let ops = ops.flat_map(|op| op.args.iter().zip(&op.results));
            for (given, value) in edges.chain(ops) {
                changed |= hand_on(&mut found, given, *value);
            }
        }
        Borrows(found)
    }

    /// The arguments that a value may be, if it is borrowed from one of them, or from a local.
    pub fn get(&self, value: ValueId) -> Option<&[usize]> {
        self.0.get(&value).map(|arguments| &arguments[..])
    }
}

/// Whether an op gives what it is handed, or the address of a part of it.
fn is_handed_on(op: &Op) -> bool {
    let is_part = || op.opcode == Opcode::IntAdd && matches!(op.args[..], [_, Operand::Const(_)]);
    op.opcode.effect() == Effect::Hint || is_part()
}

/// A value is also what is given. Whether that changed what it may be.
fn hand_on(found: &mut FxHashMap<ValueId, SmallVec<[usize; 2]>>, given: &Operand, value: ValueId) -> bool {
    let Operand::Value(given) = given else { return false };
    let Some(arguments) = found.get(given).cloned() else { return found.remove(&value).is_some() };
    let Some(known) = found.get_mut(&value) else { return false };
    let before = known.len();
    arguments.into_iter().for_each(|at| {
        if !known.contains(&at) {
            known.push(at);
        }
    });
    known.len() > before
}
