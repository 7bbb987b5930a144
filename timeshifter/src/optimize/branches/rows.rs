//! Rows of checks: several of one length, at constant distances, are one check.
//!
//! ```text
//! b0: v3 = int_add v0, 1              b0: v3 = int_add v0, 1
//!     v4 = uint_lt v3, 8                  v7 = uint_lt v3, 3
//!     branch v4, b1, b3                   branch v7, b1, b5
//! b1: v5 = int_add v0, 6       ->     b1: v5 = int_add v0, 6
//!     v6 = uint_lt v5, 8                  ..
//!     branch v6, b2, b4               b5: v4 = uint_lt v3, 8
//! b2: ..                                  branch v4, b4, b3
//! ```
//!
//! Let `y` be the least of the indices, and `y + d` the greatest. If the length isn't negative, as a number with a
//! sign, and at least `d`, all indices are less than it exactly if `y` is less than the length minus `d`, without
//! signs: then no sum wraps. Where that fails, the checks are made one by one, and one of them traps as it would have;
//! of constants the greatest says all, whatever the length; what they compare is computed there, too. Behind a store or
//! a call a row ends, and where a trap needs what else was computed or loaded on the way.

use crate::optimize::facts::conditions::{below, offset_of};
use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::one_way;
use crate::optimize::forward::flow::at_ends;
use crate::optimize::graph::dominators::{is_guards_exit, is_trap};
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, Rewrites, shown};
use flowgraph::ir::{
    BlockId, Edge, Effect, Graph, Imm, Loc, Op, Opcode, Operand, Renaming, Terminator, Time, Type, ValueId,
};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// So many ops may lie between the checks of a row: they are there twice then.
const OPS: usize = 24;

/// A row has no more checks.
const CHECKS: usize = 8;

/// So far it is looked whether a way ends in traps alone.
const DEPTH: u32 = 8;

/// Makes one check of each row in a graph whose entry is handed what lies in these bounds. Gives whether there were
/// any.
pub(crate) fn merge_rows(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> bool {
    let one_way = one_way(graph);
    if !may_be_any(graph, &one_way) {
        return false;
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut taken = vec![false; graph.blocks.len()];
    at_ends(graph, entry, |block, known| {
        if !taken[block.index()]
            && let Some(row) = Row::at(graph, &one_way, block, CHECKS).and_then(|row| row.of_one_length(graph, known))
            && rewrites.may(Kind::MergedChecks, graph.block(block).loc, || row.told())
        {
            row.blocks.iter().for_each(|block| taken[block.index()] = true);
            rows.push(row);
        }
    });
    rows.iter().for_each(|row| row.merge(graph));
    !rows.is_empty()
}

/// Whether two checks one behind the other may be of one length: by no more than how what they compare is computed.
fn may_be_any(graph: &Graph, one_way: &[bool]) -> bool {
    let mut pairs = graph.block_ids().filter_map(|block| Row::at(graph, one_way, block, 2)).peekable();
    if pairs.peek().is_none() {
        return false;
    }
    let mut computed: Vec<Option<&Op>> = vec![None; graph.values.len()];
    for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode.is_pure()) {
        if let Some(result) = op.results.first() {
            computed[result.index()] = Some(op);
        }
    }
    let definition = |value: ValueId| computed[value.index()].map(|op| (op.opcode, &op.args[..]));
    pairs.any(|pair| Offsets::with(definition, pair.tests(graph).into_iter(), |_, _| true).is_some())
}

/// Indices at constant distances that are held against one length.
pub(crate) struct Offsets {
    /// What is added to this for the least index and the greatest one; 0 if they are constants.
    value: Operand,
    range: (i64, i64),
    length: Operand,
}

impl Offsets {
    /// What these conditions ask for, each with whether it is to hold, if it is all that.
    pub(crate) fn of(known: &Known, tests: impl Iterator<Item = (ValueId, bool)>) -> Option<Offsets> {
        let definition = |value: ValueId| known.definition(value).map(|found| (found.opcode, &found.args[..]));
        Offsets::with(definition, tests, |length, distance| known.is_at_least_distance(length, distance))
    }

    /// The same, where `definition` says how values are computed, and `is_enough` that a length is long enough for
    /// indices so far apart.
    fn with<'a>(
        definition: impl Fn(ValueId) -> Option<(Opcode, &'a [Operand])>,
        tests: impl Iterator<Item = (ValueId, bool)>,
        is_enough: impl Fn(Operand, i64) -> bool,
    ) -> Option<Offsets> {
        let mut all: Option<Offsets> = None;
        for (cond, holds) in tests {
            // A length that isn't 0 is more than 0.
            let order = definition(cond).and_then(|(opcode, args)| below(opcode, args, holds));
            let (index, length) = order.or_else(|| holds.then_some((Operand::int(0), cond.into())))?;
            let (value, offset) = match index.as_int() {
                Some(constant) => (Operand::int(0), Some(constant).filter(|constant| *constant >= 0)?),
                None => offset_of(index, &definition).map(|(value, offset)| (value.into(), offset))?,
            };
            all = Some(match all {
                None => Offsets { value, range: (offset, offset), length },
                Some(row) => {
                    let range = (row.range.0.min(offset), row.range.1.max(offset));
                    let is_one = row.value == value && row.length == length;
                    let is_enough = || value.as_int().is_some() || is_enough(length, range.1 - range.0);
                    if !is_one || !is_enough() {
                        return None;
                    }
                    Offsets { range, ..row }
                }
            });
        }
        all
    }

    /// One check of all, at the end of a block.
    pub(crate) fn check_at_end(&self, graph: &mut Graph, block: BlockId) -> Operand {
        let loc = graph.block(block).loc;
        if self.value.as_int().is_some() {
            // Of constants the greatest says all.
            return compute_at_end(graph, block, Opcode::UintLt, &[Operand::int(self.range.1), self.length], loc);
        }
        let distance = Operand::int(self.range.1 - self.range.0);
        let least = compute_at_end(graph, block, Opcode::IntAdd, &[self.value, Operand::int(self.range.0)], loc);
        let fewer = compute_at_end(graph, block, Opcode::IntSub, &[self.length, distance], loc);
        compute_at_end(graph, block, Opcode::UintLt, &[least, fewer], loc)
    }
}

/// What an op gives at the end of a block.
pub(crate) fn compute_at_end(graph: &mut Graph, block: BlockId, opcode: Opcode, args: &[Operand], loc: Loc) -> Operand {
    let result = graph.new_value(Type::Int);
    let (args, results) = (args.iter().copied().collect(), smallvec![result]);
    graph.block_mut(block).ops.push(Op { opcode, args, results, imm: Imm::None, time: Time::Now, loc });
    result.into()
}

/// Whether an op only computes or loads.
pub(crate) fn is_copied(op: &Op) -> bool {
    op.opcode.is_pure() || op.opcode.effect() == Effect::Read
}

/// Checks in a row.
struct Row {
    /// The blocks that end in them. One leads to the next, and else to a trap.
    blocks: SmallVec<[BlockId; CHECKS]>,
    offsets: Option<Offsets>,
}

impl Row {
    /// So many blocks at most that end in tests, from this one on, with nothing between them that changes anything.
    fn at(graph: &Graph, one_way: &[bool], first: BlockId, most: usize) -> Option<Row> {
        let mut blocks: SmallVec<[BlockId; CHECKS]> = smallvec![first];
        let (mut at, mut ops) = (first, 0);
        while blocks.len() < most {
            let next = passes(graph, at)?.0;
            let block = graph.block(next.block);
            ops += block.ops.len();
            if !one_way[next.block.index()]
                || !block.params.is_empty()
                || ops > OPS
                || !block.ops.iter().all(is_copied)
                || passes(graph, next.block).is_none()
            {
                break;
            }
            at = next.block;
            blocks.push(at);
        }
        (blocks.len() > 1).then_some(Row { blocks, offsets: None })
    }

    /// As many of them as look at one length, at constant distances.
    fn of_one_length(mut self, graph: &Graph, known: &Known) -> Option<Row> {
        let tests = self.tests(graph);
        let all = |count: usize| Offsets::of(known, tests[..count].iter().copied());
        let count = (1..=tests.len()).take_while(|count| all(*count).is_some()).last()?;
        let count = self.are_copied_for_checks(graph, count);
        self.offsets = all(count);
        self.blocks.truncate(count);
        let (next, _) = passes(graph, self.blocks[count - 1])?;
        // Of checks that are made one by one already some trap is the end.
        (count > 1 && !only_traps(graph, next.block, DEPTH)).then_some(self)
    }

    /// How many of the first checks, one by one, need no more ops again than those that compute what they compare. What
    /// a trap stores or says that was computed for it would be computed twice.
    fn are_copied_for_checks(&self, graph: &Graph, count: usize) -> usize {
        let ops = || self.blocks[1..count].iter().flat_map(|block| &graph.block(*block).ops);
        let mut compared: FxHashSet<Operand> = FxHashSet::default();
        for block in &self.blocks[..count] {
            compared.extend(graph.block(*block).term.operands().next());
        }
        for op in self.blocks[1..count].iter().rev().flat_map(|block| graph.block(*block).ops.iter().rev()) {
            if op.opcode.is_pure() && op.results.iter().any(|result| compared.contains(&Operand::Value(*result))) {
                compared.extend(op.args.iter().copied());
            }
        }
        let results = ops().flat_map(|op| op.results.iter().copied().map(Operand::Value));
        let others: FxHashSet<Operand> = results.filter(|result| !compared.contains(result)).collect();
        let needs_others = |block: &BlockId| {
            let fails = passes(graph, *block).and_then(|(_, side)| graph.block(*block).term.edges().nth(1 - side));
            fails.is_some_and(|edge| {
                let trap = graph.block(edge.block);
                let used = trap.ops.iter().flat_map(|op| op.args.iter().copied()).chain(trap.term.operands());
                edge.args.iter().copied().chain(used).any(|operand| others.contains(&operand))
            })
        };
        self.blocks[..count].iter().position(needs_others).unwrap_or(count)
    }

    /// What they ask for, and whether it is to hold.
    fn tests(&self, graph: &Graph) -> Vec<(ValueId, bool)> {
        let test = |block: &BlockId| match graph.block(*block).term {
            Terminator::Branch { cond: Operand::Value(cond), .. } => Some((cond, passes(graph, *block)?.1 == 0)),
            _ => None,
        };
        self.blocks.iter().map_while(test).collect()
    }

    fn told(&self) -> (String, String) {
        let against = self.offsets.as_ref().map(|Offsets { value, range: (low, high), length }| {
            format!("{} + {low}..={high} against {}", shown(*value), shown(*length))
        });
        let change = format!("{}: {} checks of {}", self.blocks[0], self.blocks.len(), against.unwrap_or_default());
        (change, "one says as much as all".to_owned())
    }

    fn merge(&self, graph: &mut Graph) {
        let first = self.blocks[0];
        let Some(holds) = self.offsets.as_ref().map(|offsets| offsets.check_at_end(graph, first)) else { return };
        let Some(slow) = self.one_by_one(graph, 0, &mut Renaming::default()) else { return };
        for block in &self.blocks {
            let Some(next) = passes(graph, *block).map(|(edge, _)| edge.clone()) else { continue };
            let otherwise = Edge::new(slow, []);
            graph.block_mut(*block).term = match *block == first {
                true => Terminator::Branch { cond: holds, then: next, otherwise, time: Time::Now },
                false => Terminator::Jump(next),
            };
        }
    }

    /// A block that makes the checks from this one on. The last one fails if the others don't.
    fn one_by_one(&self, graph: &mut Graph, at: usize, renaming: &mut Renaming) -> Option<BlockId> {
        let id = graph.new_block();
        let mut block = graph.block(self.blocks[at]).clone();
        block.params.clear();
        if at == 0 {
            block.ops.clear();
        }
        block.ops.iter_mut().for_each(|op| renaming.op(graph, op));
        let (_, side) = passes(graph, self.blocks[at])?;
        renaming.term(&mut block.term);
        let fails = block.term.edges_mut().nth(1 - side)?;
        *fails = trap_of(graph, fails, renaming);
        if at + 1 == self.blocks.len() {
            block.term = Terminator::Jump(fails.clone());
        } else {
            let next = self.one_by_one(graph, at + 1, renaming)?;
            *block.term.edges_mut().nth(side)? = Edge::new(next, []);
        }
        *graph.block_mut(id) = block;
        Some(id)
    }
}

/// The way to a trap from a copy, which hands over its own values already: to one of its own, if the trap uses values
/// without being handed them.
fn trap_of(graph: &mut Graph, edge: &Edge, renaming: &Renaming) -> Edge {
    let trap = graph.block(edge.block);
    let mut used = trap.ops.iter().flat_map(|op| op.args.iter().copied()).chain(trap.term.operands());
    let uses_own = used.any(|operand| operand.value().is_some_and(|value| renaming.renames(value)));
    drop(used);
    if !uses_own {
        return edge.clone();
    }
    let id = graph.new_block();
    let mut block = graph.block(edge.block).clone();
    let mut own = renaming.clone();
    own.extend(block.params.drain(..).zip(edge.args.iter().copied()));
    block.ops.iter_mut().for_each(|op| own.op(graph, op));
    own.term(&mut block.term);
    *graph.block_mut(id) = block;
    Edge::new(id, [])
}

/// Where a block leads that else traps, and at which side of its branch. What traps unless a guard fails is no check.
fn passes(graph: &Graph, block: BlockId) -> Option<(&Edge, usize)> {
    let Terminator::Branch { cond: Operand::Value(_), then, otherwise, time: Time::Now } = &graph.block(block).term
    else {
        return None;
    };
    let (on, side) = match [then, otherwise].map(|edge| is_trap(graph, edge.block)) {
        [true, false] => (otherwise, 1),
        [false, true] => (then, 0),
        _ => return None,
    };
    (!is_guards_exit(graph, on.block)).then_some((on, side))
}

fn only_traps(graph: &Graph, block: BlockId, depth: u32) -> bool {
    match &graph.block(block).term {
        Terminator::Trap(_) => true,
        term @ (Terminator::Jump(_) | Terminator::Branch { .. }) => {
            depth > 0 && term.edges().all(|edge| only_traps(graph, edge.block, depth - 1))
        }
        _ => false,
    }
}
