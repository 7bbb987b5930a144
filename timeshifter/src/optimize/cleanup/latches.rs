//! A block by which several constants come to one that decides by them: there is one for each, so that ways may go past
//! the one that decides ([`threads`](super::threads)).
//!
//! ```text
//! b1: jump b3(0, v4)                        b1: jump b3(v4)
//! b2: jump b3(1, v5)                        b2: jump b6(v5)
//! b3(v6, v7):                               b3(v7):                b6(v10):
//!     v8 = int_add v7, 1              ->        v8 = int_add v7, 1     v9 = int_add v10, 1
//!     jump b0(v6, v8)                           jump b0(0, v8)         jump b0(1, v9)
//! b0(v1, v2): branch v1, ..                 b0(v1, v2): branch v1, ..
//! ```
//!
//! Such a block is the end of a loop's rounds that goes on while a flag is set, or of those of a machine with states.
//! It may do a little by the way. What it does is not done twice, and often not needed on all ways.

use super::threads::{Above, Way, edges_to, that_can_hand_on};
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{BlockId, Const, Edge, Effect, Graph, Operand, Renaming, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// So much may be done by the way.
const OPS: usize = 2;

/// For so many constants there is a block each.
const CONSTANTS: usize = 4;

/// Of the block with this number which of its parameters decides where one of those that decide goes.
type Latch = (BlockId, usize);

/// Makes them. Gives whether there are any.
pub(super) fn split_latches(
    graph: &mut Graph,
    deciding: &[BlockId],
    ways: &FxHashMap<BlockId, Vec<Way>>,
    above: Above<'_>,
    rewrites: &mut Rewrites,
) -> bool {
    let ways = |block: &BlockId| ways.get(block).map_or(&[][..], Vec::as_slice);
    let before = |block: &BlockId| latches_before(graph, *block, ways(block), above);
    let mut latches: Vec<(BlockId, Vec<Latch>)> = deciding
        .iter()
        .filter_map(|block| Some((*block, before(block)?)))
        .filter(|(_, latches)| !latches.is_empty())
        .collect();
    if latches.is_empty() {
        return false;
    }
    // Nobody goes past what would have to hand on too much.
    let can = that_can_hand_on(graph, &latches.iter().map(|(block, _)| *block).collect::<Vec<_>>());
    latches.retain(|(block, _)| can.contains(block));
    let latches: Vec<Latch> = latches.into_iter().flat_map(|(_, latches)| latches).collect();
    let blocks: Vec<BlockId> = latches.iter().map(|(block, _)| *block).collect();
    let (arriving, used) = (edges_to(graph, &blocks), used_elsewhere(graph, &blocks));
    let mut changed = false;
    for (block, by) in latches {
        let constants = arriving.get(&block).and_then(|ways| constants(graph, block, by, ways));
        let Some(constants) = constants.filter(|_| !used.contains(&block)) else { continue };
        let told = || (format!("a copy of {block} for each"), "what is decided by comes there as constants".to_owned());
        if rewrites.may(Kind::Jump, graph.block(block).loc, told) {
            split(graph, block, by, constants);
            changed = true;
        }
    }
    changed
}

/// The blocks by which ways come to one that decides that aren't known, if all of these jump there with a parameter of
/// their own.
fn latches_before(graph: &Graph, block: BlockId, ways: &[Way], above: Above<'_>) -> Option<Vec<Latch>> {
    let params = &graph.block(block).params;
    let by = match &graph.block(block).term {
        Terminator::Branch { cond, .. } => *cond,
        Terminator::Switch { value, .. } => *value,
        _ => return None,
    };
    let by = params.iter().position(|param| by == Operand::Value(*param))?;
    let unknown = ways.iter().filter(|way| way.onward(graph, params, above).is_none());
    let latch = |Way(latch, _): &Way| {
        let code = graph.block(*latch);
        let Terminator::Jump(edge) = &code.term else { return None };
        let is_small = code.ops.len() <= OPS && code.ops.iter().all(|op| op.opcode.effect() == Effect::Pure);
        let handed = code.params.iter().position(|param| edge.args[by] == Operand::Value(*param))?;
        (is_small && *latch != BlockId::ENTRY && *latch != block).then_some((*latch, handed))
    };
    unknown.map(latch).collect()
}

/// The blocks whose values others use, too.
fn used_elsewhere(graph: &Graph, blocks: &[BlockId]) -> FxHashSet<BlockId> {
    let of = |block: &BlockId| {
        let (code, block) = (graph.block(*block), *block);
        let results = code.ops.iter().flat_map(|op| op.results.iter().copied());
        code.params.iter().copied().chain(results).map(move |value| (value, block))
    };
    let own: FxHashMap<ValueId, BlockId> = blocks.iter().flat_map(of).collect();
    let mut found = FxHashSet::default();
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        let args = block.ops.iter().flat_map(|op| op.args.iter().copied());
        let handed = block.term.edges().flat_map(|edge| edge.args.iter().copied());
        let values = args.chain(block.term.operands()).chain(handed).filter_map(|operand| operand.value());
        found.extend(values.filter_map(|value| own.get(&value)).filter(|block| **block != id));
    }
    found
}

/// The constants that come to a parameter, with the ways that each comes by, if there are a few and nothing else.
fn constants(graph: &Graph, block: BlockId, by: usize, ways: &[Way]) -> Option<Vec<(Const, SmallVec<[Way; 4]>)>> {
    let mut found: Vec<(Const, SmallVec<[Way; 4]>)> = Vec::new();
    for way in ways {
        let constant = way.edge(graph).args[by].constant().filter(|_| way.0 != block)?;
        match found.iter_mut().find(|(other, _)| *other == constant) {
            Some((_, ways)) => ways.push(*way),
            None => found.push((constant, SmallVec::from_elem(*way, 1))),
        }
    }
    (2..=CONSTANTS).contains(&found.len()).then_some(found)
}

/// Gives all constants but the first a copy of the block, which is the first one's.
fn split(graph: &mut Graph, block: BlockId, by: usize, constants: Vec<(Const, SmallVec<[Way; 4]>)>) {
    let param = graph.block(block).params[by];
    let mut constants = constants.into_iter();
    let first = constants.next();
    for (constant, ways) in constants {
        let copy = graph.new_block();
        let code = graph.block(block).clone();
        let mut renaming = Renaming::default();
        for param in &code.params {
            let new = graph.new_value(graph.values[param.index()].ty);
            graph.block_mut(copy).params.push(new);
            renaming.insert(*param, new.into());
        }
        renaming.insert(param, constant.into());
        let mut ops = code.ops;
        ops.iter_mut().for_each(|op| renaming.op(graph, op));
        let mut term = code.term;
        term.for_each_operand_mut(|operand| *operand = renaming.operand(*operand));
        let new = graph.block_mut(copy);
        (new.ops, new.term, new.loc) = (ops, term, code.loc);
        for way in ways {
            let Edge { args, .. } = way.edge(graph).clone();
            *way.edge_mut(graph) = Edge::new(copy, args);
        }
    }
    if let Some((constant, _)) = first {
        let own = graph.block_mut(block);
        let known = |operand: &mut Operand| {
            if *operand == Operand::Value(param) {
                *operand = constant.into();
            }
        };
        own.ops.iter_mut().flat_map(|op| &mut op.args).for_each(known);
        own.term.for_each_operand_mut(known);
    }
}
