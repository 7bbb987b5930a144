//! Dead stores: those that others overwrite before anybody can look.
//!
//! Backward over each block, from what all blocks behind it overwrite first. At the end of a run, at exits, traps and calls somebody
//! looks; and nothing is known of ways that come back.

use super::cleanup::in_order;
use super::known::Known;
use super::memory::Place;
use super::rewrites::{Kind, Rewrites, shown};
use flowgraph::ir::{Block, Effect, Graph, Op, Terminator, ValueId};

/// More places than these are not remembered at once.
const PLACES: usize = 32;

/// Drops dead stores. Gives whether there were any.
pub(super) fn drop_dead_stores(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let stores = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode.effect() == Effect::Write);
    if stores.count() < 2 {
        return false;
    }
    let known = Known::new(graph);
    // By block: what is overwritten from its beginning on, before anybody can look; nothing if that isn't known yet.
    let mut overwritten: Vec<Option<Vec<Place>>> = vec![None; graph.blocks.len()];
    let mut changed = false;
    for at in in_order(graph).into_iter().rev() {
        let mut places = behind(&graph.blocks[at].term, &overwritten);
        let block = &mut graph.blocks[at];
        let mut dead = Vec::new();
        for (number, op) in block.ops.iter().enumerate().rev() {
            if is_dead(op, &known, &mut places) && may(rewrites, op) {
                dead.push(number);
            }
        }
        changed |= !dead.is_empty();
        dead.iter().for_each(|number| drop(block.ops.remove(*number)));
        // What is computed in the block is something else before it.
        places.retain(|place| !place.values().any(|value| defines(block, value)));
        overwritten[at] = Some(places);
    }
    changed
}

/// What all ways from the end of a block overwrite.
fn behind(term: &Terminator, overwritten: &[Option<Vec<Place>>]) -> Vec<Place> {
    let mut ways = term.edges().map(|edge| overwritten[edge.block.index()].as_deref().unwrap_or_default());
    let Some(first) = ways.next() else { return Vec::new() };
    let others: Vec<&[Place]> = ways.collect();
    first.iter().filter(|place| others.iter().all(|other| other.contains(place))).cloned().collect()
}

/// Whether an op is a store into what is overwritten. Tells what is, before it.
fn is_dead(op: &Op, known: &Known, places: &mut Vec<Place>) -> bool {
    match (op.opcode.effect(), Place::of(op, known)) {
        (Effect::Write, Some(place)) => {
            if places.iter().any(|other| place.is_within(other)) {
                return true;
            }
            if places.len() < PLACES {
                places.push(place);
            }
        }
        (Effect::Read, Some(place)) => places.retain(|other| !other.may_touch(&place)),
        (Effect::Read | Effect::Call | Effect::ElidableCall, _) => places.clear(),
        (Effect::Write | Effect::Pure | Effect::Allocate | Effect::Hint, _) => {}
    }
    false
}

fn may(rewrites: &mut Rewrites, op: &Op) -> bool {
    rewrites.may(Kind::DeadStore, op.loc, || {
        let args: Vec<String> = op.args.iter().map(|arg| shown(*arg)).collect();
        (format!("{} {} -> nothing", op.opcode.name(), args.join(", ")), "it is overwritten".to_owned())
    })
}

fn defines(block: &Block, value: ValueId) -> bool {
    block.params.contains(&value) || block.ops.iter().any(|op| op.results.contains(&value))
}
