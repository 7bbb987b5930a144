//! Dead stores: those that others overwrite before anybody can look.
//!
//! Backward over each block, from what all blocks behind it overwrite first. At the end of a run, at exits, traps and
//! calls somebody looks; and nothing is known of ways that come back.
//!
//! A store that all ways out of its block overwrite but one, to which only this one edge leads, moves to the beginning
//! of that one: an exit looks at what a run that goes on stores again.

use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::{Place, one_way};
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{Block, BlockId, Effect, Graph, Op, Terminator, ValueId};
use smallvec::SmallVec;

/// More places than these are not remembered at once.
const PLACES: usize = 32;

/// Of the ways out of a block of which there are more none is looked at by itself.
const WAYS: usize = 4;

/// Drops dead stores. Gives whether there were any.
pub(crate) fn drop_dead_stores(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let stores = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode.effect() == Effect::Write);
    if stores.count() < 2 {
        return false;
    }
    let (known, sole) = (Known::new(graph), one_way(graph));
    // By block: what is overwritten from its beginning on, before anybody can look; nothing if that isn't known yet.
    let mut overwritten: Vec<Option<Vec<Place>>> = vec![None; graph.blocks.len()];
    let mut changed = false;
    for at in reverse_postorder(graph).into_iter().rev().map(BlockId::index) {
        let mut places = behind(&graph.blocks[at].term, &overwritten);
        let mut partly = behind_all_but_one(&graph.blocks[at].term, &overwritten, &sole);
        let mut moved = Vec::new();
        let ops = std::mem::take(&mut graph.blocks[at].ops);
        let before = ops.len();
        let mut kept = Vec::with_capacity(before);
        for op in ops.into_iter().rev() {
            match fate(&op, &known, &mut places, &mut partly, rewrites) {
                Fate::Stays => kept.push(op),
                Fate::Dead => {}
                Fate::Sinks(to) => moved.push((to, op)),
            }
        }
        changed |= kept.len() < before;
        kept.reverse();
        graph.blocks[at].ops = kept;
        // The last one first: each comes before those behind it.
        moved.into_iter().for_each(|(to, op)| graph.block_mut(to).ops.insert(0, op));
        let block = &graph.blocks[at];
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

/// What all ways from the end of a block overwrite but one, and which one that is: no other leads there.
fn behind_all_but_one(term: &Terminator, overwritten: &[Option<Vec<Place>>], sole: &[bool]) -> Vec<(Place, BlockId)> {
    let ways: SmallVec<[BlockId; 2]> = term.edges().map(|edge| edge.block).collect();
    if !(2..=WAYS).contains(&ways.len()) {
        return Vec::new();
    }
    let at = |to: BlockId| overwritten[to.index()].as_deref().unwrap_or_default();
    let mut found = Vec::new();
    for to in ways.iter().copied().filter(|to| sole[to.index()]) {
        let mut others = ways.iter().copied().filter(|other| *other != to);
        let Some(first) = others.next() else { continue };
        let rest: SmallVec<[BlockId; 2]> = others.collect();
        let is_only_there =
            |place: &&Place| !at(to).contains(place) && rest.iter().all(|other| at(*other).contains(place));
        found.extend(at(first).iter().filter(is_only_there).map(|place| (place.clone(), to)));
    }
    found
}

/// What becomes of an op.
enum Fate {
    Stays,
    Dead,
    Sinks(BlockId),
}

/// What becomes of an op in front of what overwrites these places, and those but on one way. Tells what is overwritten
/// before it.
fn fate(
    op: &Op,
    known: &Known,
    places: &mut Vec<Place>,
    partly: &mut Vec<(Place, BlockId)>,
    rewrites: &mut Rewrites,
) -> Fate {
    match (op.opcode.effect(), Place::of(op, known)) {
        (Effect::Write, Some(place)) => {
            if places.iter().any(|other| place.is_within(other)) {
                if may(rewrites, op, Kind::DeadStore, None) {
                    return Fate::Dead;
                }
            } else if let Some((_, to)) = partly.iter().find(|(other, _)| place.is_within(other)) {
                let to = *to;
                if may(rewrites, op, Kind::Sunk, Some(to)) {
                    // It is overwritten there, too, now.
                    remember(places, place);
                    return Fate::Sinks(to);
                }
            } else {
                remember(places, place.clone());
            }
            // What stays is not to be done before what is in front of it.
            partly.retain(|(other, _)| !other.may_touch(&place));
        }
        (Effect::Read, Some(place)) => {
            places.retain(|other| !other.may_touch(&place));
            partly.retain(|(other, _)| !other.may_touch(&place));
        }
        (Effect::Write, None) => partly.clear(),
        (Effect::Read | Effect::Call | Effect::ElidableCall, _) => {
            places.clear();
            partly.clear();
        }
        (Effect::Pure | Effect::Allocate | Effect::Hint, _) => {}
    }
    Fate::Stays
}

fn remember(places: &mut Vec<Place>, place: Place) {
    if places.len() < PLACES {
        places.push(place);
    }
}

fn may(rewrites: &mut Rewrites, op: &Op, what: Kind, to: Option<BlockId>) -> bool {
    rewrites.may(what, op.loc, || {
        let own = shown_op(op.opcode, &op.args);
        match to {
            Some(to) => (format!("{own} -> {to}"), "it is overwritten on all other ways".to_owned()),
            None => (format!("{own} -> nothing"), "it is overwritten".to_owned()),
        }
    })
}

fn defines(block: &Block, value: ValueId) -> bool {
    block.params.contains(&value) || block.ops.iter().any(|op| op.results.contains(&value))
}
