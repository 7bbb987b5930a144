//! Sinking: what only one way out of a block needs is done on that way.
//!
//! An op that only computes or loads, and whose results are used in one block alone, moves to the beginning of that
//! block, if one edge leads there, and one edge to where that comes from, and so on up to the op: so it is never done
//! more often than before, also not in a loop. The typical one computes what an exit hands over, which most runs never
//! take.
//!
//! ```text
//! b0: v2 = int_mul v0, 3          b0: branch v1, b1, b2
//!     branch v1, b1, b2           b1: return 0
//! b1: return 0              ->    b2: v2 = int_mul v0, 3
//! b2: exit 0(v2)                      exit 0(v2)
//! ```
//!
//! Down there the op needs its operands. Of those that nobody else uses there it may keep no more alive on the way than
//! there are results, which needn't be any longer. A load moves over one edge only, and stays above what may write
//! where it looks. Stores are [`super::stores`]' business.

use super::dominators::exits;
use super::known::Known;
use super::memory::Place;
use super::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::ir::{Block, BlockId, Effect, Graph, Op, Operand, ValueId};
use smallvec::SmallVec;

/// An op moves over no more edges than these.
const EDGES: usize = 8;

/// A load isn't held against more writes than these.
const WRITES: usize = 16;

/// In a block of more ops than these it isn't looked for who else uses an operand.
const OPS: usize = 32;

/// Sinks ops. Gives whether any is where a test has been made that it wasn't behind before: exits don't count.
pub(super) fn sink(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let leads_here = only_from(graph);
    if leads_here.iter().all(Option::is_none) {
        return false;
    }
    let mut users = Users::new(graph);
    let mut known = None;
    let mut behind_tests = false;
    // From below: what an op needs that has been moved comes after it.
    for at in (0..graph.blocks.len() as u32).rev().map(BlockId) {
        let mut writes: SmallVec<[usize; 4]> = SmallVec::new();
        let mut moved: Vec<usize> = Vec::new();
        for number in (0..graph.block(at).ops.len()).rev() {
            let op = &graph.block(at).ops[number];
            let effect = op.opcode.effect();
            if matches!(effect, Effect::Write | Effect::Call) {
                writes.push(number);
            }
            if !matches!(effect, Effect::Pure | Effect::Read) {
                continue;
            }
            let reads = effect == Effect::Read;
            let Some(to) = users.only_in(op).filter(|to| *to != at) else { continue };
            if !comes_from(to, at, if reads { 1 } else { EDGES }, &leads_here) || !keeps_few(op, graph.block(to)) {
                continue;
            }
            if reads && !writes.is_empty() {
                let (known, ops) = (known.get_or_insert_with(|| Known::new(graph)), &graph.block(at).ops);
                if writes.len() > WRITES || !writes.iter().all(|write| may_pass(op, &ops[*write], known)) {
                    continue;
                }
            }
            let change = || (format!("{} -> {to}", shown_op(op.opcode, &op.args)), "it is used there only".to_owned());
            if rewrites.may(Kind::Sunk, op.loc, change) {
                users.moves(op, at, to);
                moved.push(number);
                behind_tests |= !exits(graph, to);
                // Whoever comes next looks at what is used there, this among it.
                let op = op.clone();
                graph.block_mut(to).ops.insert(0, op);
            }
        }
        if moved.is_empty() {
            continue;
        }
        let mut moved = moved.into_iter().rev().peekable();
        let mut number = 0;
        graph.block_mut(at).ops.retain(|_| {
            number += 1;
            moved.next_if_eq(&(number - 1)).is_none()
        });
    }
    behind_tests
}

/// By block: the one that leads there, if just one edge does.
fn only_from(graph: &Graph) -> Vec<Option<BlockId>> {
    let ways = graph.arrivals();
    let mut from = vec![None; graph.blocks.len()];
    for id in graph.block_ids() {
        for edge in graph.block(id).term.edges() {
            from[edge.block.index()] = Some(id);
        }
    }
    from.into_iter().zip(ways).map(|(from, ways)| from.filter(|_| ways == 1)).collect()
}

/// Whether the only way to a block comes from another one, over so many edges.
fn comes_from(to: BlockId, at: BlockId, edges: usize, leads_here: &[Option<BlockId>]) -> bool {
    let mut from = to;
    for _ in 0..edges {
        match leads_here[from.index()] {
            Some(above) if above == at => return true,
            Some(above) => from = above,
            None => return false,
        }
    }
    false
}

/// Whether an op, if it is done at the beginning of a block instead of before it, keeps no more values alive until
/// there than it frees.
fn keeps_few(op: &Op, to: &Block) -> bool {
    let mut values: SmallVec<[ValueId; 3]> = op.args.iter().filter_map(|arg| arg.value()).collect();
    values.sort_unstable();
    values.dedup();
    if values.len() > op.results.len() && to.ops.len() <= OPS {
        let used = |value: &ValueId| {
            let is = |operand: &Operand| *operand == Operand::Value(*value);
            to.ops.iter().any(|op| op.args.iter().any(is)) || to.term.operands().any(|arg| is(&arg))
        };
        values.retain(|value| !used(value));
    }
    values.len() <= op.results.len()
}

/// Whether a load gives the same behind what writes.
fn may_pass(load: &Op, write: &Op, known: &Known) -> bool {
    match (Place::of(load, known), Place::of(write, known)) {
        (Some(place), Some(other)) => write.opcode.effect() == Effect::Write && !other.may_touch(&place),
        _ => false,
    }
}

/// By value: in which block it is used, and how often there.
struct Users(Vec<Used>);

#[derive(Clone, Copy)]
enum Used {
    Nowhere,
    In(BlockId, u32),
    InSeveral,
}

impl Users {
    fn new(graph: &Graph) -> Users {
        let mut users = Users(vec![Used::Nowhere; graph.values.len()]);
        for (id, block) in graph.block_ids().zip(&graph.blocks) {
            block.ops.iter().flat_map(|op| &op.args).for_each(|arg| users.uses(*arg, id));
            block.term.operands().for_each(|operand| users.uses(operand, id));
            block.term.edges().flat_map(|edge| &edge.args).for_each(|arg| users.uses(*arg, id));
        }
        users
    }

    fn uses(&mut self, operand: Operand, block: BlockId) {
        let Operand::Value(value) = operand else { return };
        let used = &mut self.0[value.index()];
        *used = match *used {
            Used::Nowhere => Used::In(block, 1),
            Used::In(user, times) if user == block => Used::In(block, times + 1),
            _ => Used::InSeveral,
        };
    }

    /// The only block in which the results of an op are used.
    fn only_in(&self, op: &Op) -> Option<BlockId> {
        let mut only = None;
        for result in &op.results {
            match self.0[result.index()] {
                Used::Nowhere => {}
                Used::In(block, _) if only.is_none_or(|other| other == block) => only = Some(block),
                _ => return None,
            }
        }
        only
    }

    /// An op is done in another block from here on.
    fn moves(&mut self, op: &Op, from: BlockId, to: BlockId) {
        for arg in &op.args {
            if let Operand::Value(value) = arg
                && let Used::In(block, times) = self.0[value.index()]
                && block == from
            {
                self.0[value.index()] = if times > 1 { Used::In(from, times - 1) } else { Used::Nowhere };
            }
        }
        op.args.iter().for_each(|arg| self.uses(*arg, to));
    }
}
