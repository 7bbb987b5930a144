//! Blocks that do the same: ways that lead to one may lead to the other. Where both arms of a branch do, there is
//! nothing to branch for.

use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{Block, BlockId, Effect, Graph, Loc, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// After so many rounds the rest stays: each finds what leads to what the one before has made one.
const ROUNDS: usize = 8;

/// Lets ways to blocks that do the same lead to one of them. Gives whether there were any.
pub(crate) fn merge_equal_blocks(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        let instead = equal_blocks(graph, rewrites);
        if instead.is_empty() {
            break;
        }
        for edge in graph.blocks.iter_mut().flat_map(|block| block.term.edges_mut()) {
            if let Some(other) = instead.get(&edge.block) {
                edge.block = *other;
            }
        }
        changed = true;
    }
    changed
}

/// By block: an earlier one that does the same. Blocks that nothing leads to don't count.
fn equal_blocks(graph: &Graph, rewrites: &mut Rewrites) -> FxHashMap<BlockId, BlockId> {
    let arrivals = graph.arrivals();
    // Most blocks differ from all others already in where they lead.
    let mut ways_out: FxHashMap<u64, bool> = FxHashMap::with_capacity_and_hasher(graph.blocks.len(), FxBuildHasher);
    let mut instead = FxHashMap::default();
    let mut any = false;
    for (_, block) in graph.block_ids().zip(&graph.blocks).filter(|(id, _)| arrivals[id.index()] > 0) {
        let several = |several: &mut bool| (*several, any) = (true, true);
        ways_out.entry(way_out(block)).and_modify(several).or_insert(false);
    }
    if !any {
        return instead;
    }
    let used_elsewhere = used_elsewhere(graph);
    let mut alike: FxHashMap<u64, Vec<(BlockId, Option<Block>)>> = FxHashMap::default();
    let mut own_numbers = vec![0; graph.values.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        if arrivals[id.index()] == 0 || used_elsewhere[id.index()] || !ways_out[&way_out(block)] {
            continue;
        }
        let others = alike.entry(shape(block, &mut own_numbers)).or_default();
        let mut own = None;
        let equal = others.iter_mut().find_map(|(other, normal)| {
            let theirs = normal.get_or_insert_with(|| normalized(graph, graph.block(*other)));
            let own = own.get_or_insert_with(|| normalized(graph, block));
            let types = |block: &Block| block.params.iter().map(|p| graph.values[p.index()].ty).collect::<Vec<_>>();
            (theirs == own && types(graph.block(*other)) == types(block)).then_some(*other)
        });
        let change = |other: BlockId| (format!("{id} -> {other}"), "they do the same".to_owned());
        match equal {
            Some(other) if rewrites.may(Kind::EqualBlock, block.loc, || change(other)) => {
                instead.insert(id, other);
            }
            _ => others.push((id, own)),
        }
    }
    instead
}

/// By block: whether another uses a value that is computed or handed over there.
fn used_elsewhere(graph: &Graph) -> Vec<bool> {
    let mut defined = vec![None; graph.values.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for value in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
            defined[value.index()] = Some(id);
        }
    }
    let mut elsewhere = vec![false; graph.blocks.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        let handed_on = block.term.edges().flat_map(|edge| edge.args.iter().copied());
        let operands = block.ops.iter().flat_map(|op| op.args.iter().copied()).chain(block.term.operands());
        for value in operands.chain(handed_on).filter_map(|operand| operand.value()) {
            if let Some(at) = defined[value.index()].filter(|at| *at != id) {
                elsewhere[at.index()] = true;
            }
        }
    }
    elsewhere
}

/// A number that blocks have in common that are of the same size and lead to the same.
fn way_out(block: &Block) -> u64 {
    let mut hasher = FxHasher::default();
    (block.params.len(), block.ops.len(), discriminant(&block.term)).hash(&mut hasher);
    block.term.edges().for_each(|edge| edge.block.hash(&mut hasher));
    match &block.term {
        Terminator::Exit { exit, .. } => exit.hash(&mut hasher),
        Terminator::Trap(trap) => (trap.loc.line, trap.loc.column, trap.kind).hash(&mut hasher),
        _ => {}
    }
    hasher.finish()
}

/// A number that blocks have in common that do the same, and hardly any others. `own` has room for a number of each
/// value.
fn shape(block: &Block, own: &mut [u32]) -> u64 {
    let values = || block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results));
    for (number, value) in (1..).zip(values()) {
        own[value.index()] = number;
    }
    let mut hasher = FxHasher::default();
    let operand = |operand: &Operand, hasher: &mut FxHasher| match operand {
        Operand::Value(value) if own[value.index()] > 0 => own[value.index()].hash(hasher),
        other => other.hash(hasher),
    };
    way_out(block).hash(&mut hasher);
    for op in &block.ops {
        match (op.opcode.mirrored(), &op.args[..]) {
            (mirrored, [a, b]) if mirrored.is_some() || op.opcode.is_commutative() => {
                op.opcode.min(mirrored.unwrap_or(op.opcode)).hash(&mut hasher);
                let each = [a, b].map(|arg| {
                    let mut hasher = FxHasher::default();
                    operand(arg, &mut hasher);
                    hasher.finish()
                });
                each[0].wrapping_add(each[1]).hash(&mut hasher);
            }
            _ => {
                op.opcode.hash(&mut hasher);
                op.args.iter().for_each(|arg| operand(arg, &mut hasher));
            }
        }
        op.imm.hash(&mut hasher);
    }
    block.term.operands().for_each(|arg| operand(&arg, &mut hasher));
    for value in values() {
        own[value.index()] = 0;
    }
    hasher.finish()
}

/// A block with its own values numbered from the graph's last on, operands that may stand in either order in one, and
/// without places in the source where nobody looks at them: traps, and what may trap, keep theirs.
fn normalized(graph: &Graph, block: &Block) -> Block {
    let mut block = block.clone();
    let mut numbers: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let own = block.params.iter_mut().chain(block.ops.iter_mut().flat_map(|op| op.results.iter_mut()));
    for (number, value) in (graph.values.len() as u32..).zip(own) {
        numbers.insert(*value, ValueId(number));
        *value = ValueId(number);
    }
    let renumber = |operand: &mut Operand| {
        if let Operand::Value(value) = operand
            && let Some(number) = numbers.get(value)
        {
            *value = *number;
        }
    };
    for op in &mut block.ops {
        op.args.iter_mut().for_each(renumber);
        match (op.opcode.mirrored(), &op.args[..]) {
            (Some(mirrored), [_, _]) if mirrored < op.opcode => {
                op.opcode = mirrored;
                op.args.reverse();
            }
            (None, [a, b]) if op.opcode.is_commutative() && b < a => op.args.reverse(),
            _ => {}
        }
        if !matches!(op.opcode.effect(), Effect::Call | Effect::ElidableCall) && op.opcode != Opcode::Likely {
            op.loc = Loc::UNKNOWN;
        }
    }
    block.term.for_each_operand_mut(renumber);
    block.loc = Loc::UNKNOWN;
    block
}
