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
//! Down there the op needs its operands. Of those that nobody else uses there or right behind it may keep no more alive
//! on the way than there are results, which needn't be any longer. An operand that nobody else uses sinks, too: so what
//! counts is what that needs. Out of a loop to where it ends everything sinks, as that is done once then and not in
//! each round; and so do divisions and roots anywhere, which take longer than anything that has to be kept: these also
//! onto an edge that alone hands on what they give, which gets a block for it. A load moves over one edge only, and
//! stays above what may write where it looks. Stores are [`super::stores`]' business.
//!
//! An exit that several guards share is left to by several edges. What it alone needs is done there, too, since nobody
//! comes there twice; but only in the end, as guards are merged only where nothing is done
//! ([`crate::optimize::branches::guards`]).

use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::Place;
use crate::optimize::graph::dominators::{exits, is_trap};
use crate::optimize::graph::loops::may_repeat;
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::ir::{Block, BlockId, Edge, Effect, Graph, Op, Opcode, Operand, Terminator, Time, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// An op moves over no more edges than these.
const EDGES: usize = 8;

/// A load isn't held against more writes than these.
const WRITES: usize = 16;

/// In a block of more ops than these it isn't looked for who else uses an operand.
const OPS: usize = 32;

/// In so many blocks, the one that an op moves to and those behind it, is looked for who else uses an operand.
const BLOCKS: usize = 6;

/// Of so many operands inside of each other is looked for what they need.
const NESTED: usize = 3;

/// Sinks ops; also, in the end, into exits that are shared. Gives whether any is where a test has been made that it
/// wasn't behind before: exits don't count.
pub(crate) fn sink(graph: &mut Graph, rewrites: &mut Rewrites, in_the_end: bool) -> bool {
    let mut leads_here = only_from(graph);
    if leads_here.iter().all(Option::is_none) {
        return false;
    }
    let mut users = Users::new(graph);
    let (mut known, mut repeats) = (None, None);
    let mut behind_tests = false;
    // From below: what an op needs that has been moved comes after it.
    for at in (0..graph.blocks.len() as u32).rev().map(BlockId) {
        let mut writes: SmallVec<[usize; 4]> = SmallVec::new();
        let mut moved: Vec<usize> = Vec::new();
        // To blocks that are long, where nobody looks at single ops: all at once, the last first.
        let mut to_long: FxHashMap<BlockId, Vec<Op>> = FxHashMap::default();
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
            let Some(to) = users.only_in(op).filter(|to| *to != at || is_slow(op.opcode)) else { continue };
            let edge = users.edge_for(graph, op, to).filter(|_| to == at || comes_from(to, at, EDGES, &leads_here));
            if edge.is_none() {
                let is_shared = in_the_end && !reads && exits(graph, to);
                let comes = || is_shared || comes_from(to, at, if reads { 1 } else { EDGES }, &leads_here);
                let leaves = |repeats: &Vec<bool>| is_end(graph, to) && repeats[at.index()];
                if to == at
                    || !comes()
                    || !(is_slow(op.opcode)
                        || users.keeps_few(graph, (at, number), to)
                        || leaves(repeats.get_or_insert_with(|| may_repeat(graph))))
                {
                    continue;
                }
            }
            if reads && !writes.is_empty() {
                let (known, ops) = (known.get_or_insert_with(|| Known::new(graph)), &graph.block(at).ops);
                if writes.len() > WRITES || !writes.iter().all(|write| may_pass(op, &ops[*write], known)) {
                    continue;
                }
            }
            let change = || (format!("{} -> {to}", shown_op(op.opcode, &op.args)), "it is used there only".to_owned());
            if rewrites.may(Kind::Sunk, op.loc, change) {
                let op = op.clone();
                let to = match edge {
                    Some(side) => {
                        let new = put_on_edge(graph, to, side);
                        leads_here.push(Some(to));
                        users.are_handed_on(&graph.block(new).term, to, new);
                        new
                    }
                    None => to,
                };
                users.moves(&op, at, to);
                moved.push(number);
                behind_tests |= !exits(graph, to);
                // Whoever comes next looks at what is used there, this among it.
                match &mut graph.block_mut(to).ops {
                    ops if ops.len() <= OPS => ops.insert(0, op),
                    _ => to_long.entry(to).or_default().push(op),
                }
            }
        }
        if moved.is_empty() {
            continue;
        }
        for (to, ops) in to_long {
            graph.block_mut(to).ops.splice(..0, ops.into_iter().rev());
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

/// Whether nothing comes behind a block.
fn is_end(graph: &Graph, block: BlockId) -> bool {
    graph.block(block).term.edges().next().is_none()
}

/// Whether an op takes longer than whatever has to be kept for it.
fn is_slow(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(
        opcode,
        O::IntFloordiv
            | O::IntMod
            | O::UintFloordiv
            | O::UintMod
            | O::FloatTruediv
            | O::FloatMod
            | O::FloatSqrt
            | O::SingleTruediv
            | O::SingleMod
            | O::SingleSqrt
    )
}

/// A block on an edge, which goes on where that has led to.
fn put_on_edge(graph: &mut Graph, from: BlockId, side: usize) -> BlockId {
    let new = graph.new_block();
    let loc = graph.block(from).loc;
    let edge = graph.block_mut(from).term.edges_mut().nth(side);
    let Some(edge) = edge else { unreachable!("a branch has two sides") };
    let led_to = std::mem::replace(edge, Edge { block: new, args: SmallVec::new() });
    let code = graph.block_mut(new);
    (code.term, code.loc) = (Terminator::Jump(led_to), loc);
    new
}

/// Whether a block uses a value, or hands it on.
fn uses(block: &Block, value: ValueId) -> bool {
    let is = |operand: &Operand| *operand == Operand::Value(value);
    block.ops.iter().any(|op| op.args.iter().any(is))
        || block.term.operands().any(|arg| is(&arg))
        || block.term.edges().any(|edge| edge.args.iter().any(is))
}

/// Whether a value is used in a block or not far behind it.
fn is_used_behind(graph: &Graph, block: BlockId, value: ValueId) -> bool {
    let mut seen: SmallVec<[BlockId; BLOCKS]> = smallvec![block];
    let mut at = 0;
    while let Some(next) = seen.get(at).copied() {
        let code = graph.block(next);
        if code.ops.len() > OPS || uses(code, value) {
            return code.ops.len() <= OPS;
        }
        for edge in code.term.edges() {
            if seen.len() < BLOCKS && !seen.contains(&edge.block) {
                seen.push(edge.block);
            }
        }
        at += 1;
    }
    false
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

    /// Whether an op of a block, if it is done at the beginning of another one, keeps no more values alive until there
    /// than it frees.
    fn keeps_few(&self, graph: &Graph, (at, number): (BlockId, usize), to: BlockId) -> bool {
        let ops = &graph.block(at).ops;
        let mut values: SmallVec<[ValueId; 8]> = SmallVec::new();
        self.needs(&ops[..number], &ops[number], NESTED, &mut values);
        values.sort_unstable();
        values.dedup();
        let results = ops[number].results.len();
        if values.len() > results {
            values.retain(|value| !is_used_behind(graph, to, *value));
        }
        values.len() <= results
    }

    /// What an op needs, or what its operands do that would sink with it.
    fn needs(&self, before: &[Op], op: &Op, nested: usize, values: &mut SmallVec<[ValueId; 8]>) {
        for value in op.args.iter().filter_map(|arg| arg.value()) {
            let from = before.len().saturating_sub(OPS);
            let computed = (from..before.len()).rev().find(|at| before[*at].results[..] == [value]);
            let sinks = |at: &usize| {
                let is_once = matches!(self.0[value.index()], Used::In(_, 1));
                let writes = |op: &Op| matches!(op.opcode.effect(), Effect::Write | Effect::Call);
                is_once
                    && match before[*at].opcode.effect() {
                        Effect::Pure => true,
                        Effect::Read => !before[*at..].iter().any(writes),
                        _ => false,
                    }
            };
            match computed.filter(|_| nested > 0).filter(sinks) {
                Some(at) => self.needs(&before[..at], &before[at], nested - 1, values),
                None => values.push(value),
            }
        }
    }

    /// The side of a block's branch that alone hands on what a slow op gives, to where several ways lead, if nothing
    /// else of the block uses it.
    fn edge_for(&self, graph: &Graph, op: &Op, block: BlockId) -> Option<usize> {
        let term = &graph.block(block).term;
        let (true, Terminator::Branch { time: Time::Now, .. }) = (is_slow(op.opcode), term) else { return None };
        let [result] = op.results[..] else { return None };
        let Used::In(_, times) = self.0[result.index()] else { return None };
        let handed = |edge: &Edge| edge.args.iter().filter(|arg| **arg == Operand::Value(result)).count() as u32;
        let (side, edge) = term.edges().enumerate().find(|(_, edge)| handed(edge) == times)?;
        (!exits(graph, edge.block) && !is_trap(graph, edge.block)).then_some(side)
    }

    /// What one block has handed on, another one on its edge does from here on.
    fn are_handed_on(&mut self, term: &Terminator, from: BlockId, by: BlockId) {
        let args = || term.edges().flat_map(|edge| &edge.args).filter_map(|arg| arg.value());
        for value in args() {
            let times = args().filter(|other| *other == value).count() as u32;
            match &mut self.0[value.index()] {
                Used::In(block, all) if *block == from && *all == times => *block = by,
                Used::In(block, _) if *block == by => {}
                used => *used = Used::InSeveral,
            }
        }
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
