//! Stores that all ways to a block end with: one at its beginning, of what each way hands over.
//!
//! ```text
//! b1: setfield v0, v2         b1: jump b3(v2)
//!     jump b3             ->  b2: jump b3(0)
//! b2: setfield v0, 0          b3(v4):
//!     jump b3                     setfield v0, v4
//! b3:
//! ```
//!
//! So a load behind it gives what was handed over, and what lies in a `Cell` that each arm of a loop counts differently
//! needn't be loaded in the next round. A store is the last of its block if nothing behind it may look at that place,
//! or write there.

use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::Place;
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{BlockId, Effect, Graph, Op, Operand, Terminator};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many ops at the end of a block are looked at.
const OPS: usize = 16;

/// A block gets no more parameters than these: each is a register on all ways.
const PARAMS: usize = 4;

/// Moves stores that all ways to a block end with to its beginning. Gives whether there were any.
pub(crate) fn merge_tails(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let joins = joins(graph);
    if joins.is_empty() {
        return false;
    }
    let known = Known::new(graph);
    let mut changed = false;
    for (join, from) in joins {
        // The last one first.
        let mut moved = Vec::new();
        let room = graph.block(join).params.len() + PARAMS;
        while graph.block(join).params.len() < room
            && let Some(stores) = last_of_all(graph, &from, &known)
        {
            let first = &graph.block(from[0]).ops[stores[0]];
            let change = || (format!("{} -> {join}", shown_op(first.opcode, &first.args)), "all ways do it".to_owned());
            if !rewrites.may(Kind::AllWays, first.loc, change) {
                break;
            }
            moved.push(take_out(graph, join, &from, &stores));
        }
        changed |= !moved.is_empty();
        graph.block_mut(join).ops.splice(..0, moved.into_iter().rev());
    }
    changed
}

/// Blocks that several jumps lead to, and nothing else does, each from a block that ends with a store; and these. Heads
/// of loops are none of them: what they do isn't known to be the same before the loop and in it.
fn joins(graph: &Graph) -> Vec<(BlockId, SmallVec<[BlockId; 4]>)> {
    let mut from: FxHashMap<BlockId, SmallVec<[BlockId; 4]>> = FxHashMap::default();
    for block in graph.block_ids() {
        let Terminator::Jump(edge) = &graph.block(block).term else { continue };
        let mut last = graph.block(block).ops.iter().rev().take(OPS);
        if last.any(|op| op.opcode.effect() == Effect::Write) {
            from.entry(edge.block).or_default().push(block);
        }
    }
    from.retain(|_, from| from.len() > 1);
    if from.is_empty() {
        return Vec::new();
    }
    let mut place = vec![usize::MAX; graph.blocks.len()];
    reverse_postorder(graph).into_iter().enumerate().for_each(|(at, block)| place[block.index()] = at);
    let ways = graph.arrivals();
    let mut joins: Vec<_> = from.into_iter().collect();
    joins.retain(|(join, from)| {
        from.len() == ways[join.index()] as usize && from.iter().all(|from| place[from.index()] < place[join.index()])
    });
    joins.sort_unstable_by_key(|(join, _)| place[join.index()]);
    joins
}

/// A store to the same place that each of these blocks ends with: its number there.
fn last_of_all(graph: &Graph, from: &[BlockId], known: &Known) -> Option<SmallVec<[usize; 4]>> {
    let (first, others) = from.split_first()?;
    last_stores(&graph.block(*first).ops, known).into_iter().find_map(|(number, place)| {
        let store = &graph.block(*first).ops[number];
        let same = |block: &BlockId| {
            let ops = &graph.block(*block).ops;
            let equal = |(number, other): &(usize, Place)| *other == place && stores_alike(store, &ops[*number]);
            last_stores(ops, known).into_iter().find(equal).map(|(number, _)| number)
        };
        std::iter::once(Some(number)).chain(others.iter().map(same)).collect()
    })
}

/// The stores of a block that nothing behind them in it may see, the last first.
fn last_stores(ops: &[Op], known: &Known) -> SmallVec<[(usize, Place); 4]> {
    let mut found: SmallVec<[(usize, Place); 4]> = SmallVec::new();
    let mut behind: SmallVec<[Place; 8]> = SmallVec::new();
    for (number, op) in ops.iter().enumerate().rev().take(OPS) {
        let effect = op.opcode.effect();
        match (effect, Place::of(op, known)) {
            (Effect::Pure, _) => {}
            (Effect::Read | Effect::Write, Some(place)) => {
                if effect == Effect::Write && !behind.iter().any(|other| place.may_touch(other)) {
                    found.push((number, place.clone()));
                }
                behind.push(place);
            }
            _ => break,
        }
    }
    found
}

/// Whether two stores differ in nothing but what they store: so they have the same address in all.
fn stores_alike(one: &Op, other: &Op) -> bool {
    let address = |op: &Op| op.args.split_last().map(|(_, address)| address.to_vec());
    one.opcode == other.opcode && one.imm == other.imm && address(one) == address(other)
}

/// Takes the stores with these numbers out of the blocks that lead to one. Gives the store for that one.
fn take_out(graph: &mut Graph, join: BlockId, from: &[BlockId], stores: &[usize]) -> Op {
    let mut removed: SmallVec<[Op; 4]> = SmallVec::new();
    for (block, number) in from.iter().zip(stores) {
        removed.push(graph.block_mut(*block).ops.remove(*number));
    }
    let stored: SmallVec<[Operand; 4]> = removed.iter().filter_map(|op| op.args.last().copied()).collect();
    let mut store = removed.swap_remove(0);
    if stored.iter().any(|other| *other != stored[0])
        && let Some(value) = store.args.last_mut()
    {
        let param = graph.new_value(graph.ty(stored[0]));
        graph.block_mut(join).params.push(param);
        for (block, stored) in from.iter().zip(stored) {
            graph.block_mut(*block).term.edges_mut().for_each(|edge| edge.args.push(stored));
        }
        *value = param.into();
    }
    store
}
