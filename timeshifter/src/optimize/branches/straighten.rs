//! Arms that change nothing where they aren't taken: they are always done, and there is nothing to branch for.
//!
//! `if cell != 0 { *there += cell; cell = 0; }` stores what lies there anyway if the cell is 0 (a silent store: K.
//! Lepak, M. Lipasti, "Silent stores for free", 2000). A branch on data like this is hard to foresee; stores cost less.
//! What the arm tests for is tested first, of those tests a processor foresees the outcome. Where one fails, it is
//! asked after all whether the arm was to be done, up to there.
//!
//! ```text
//! b0: ..                                    b0: ..
//!     branch v4, b1, b3                         v6 = int_add v5, 2
//! b1: v6 = int_add v5, 2                        v7 = uint_lt v6, v1
//!     v7 = uint_lt v6, v1                       branch v7, b2, b5
//!     branch v7, b2, b4              ->     b2: v8 = getarrayitem v0, v6
//! b2: v8 = getarrayitem v0, v6                  v9 = int_add v8, v4
//!     v9 = int_add v8, v4                       setarrayitem v0, v6, v9
//!     setarrayitem v0, v6, v9                   jump b3
//!     jump b3                               b5: branch v4, b4, b3
//! ```
//!
//! What the arm stores is held against what lies there, with what was branched on taken for the constant that it is
//! where the arm isn't taken ([`crate::optimize::facts::assumed`]). Then all stores leave memory as it is, and so no
//! store of the arm is in the way of another or of a load. What is handed over has to be the same in both ways, too.
//! Only what is behind a `&mut` is stored to: nobody else sees it, and it can be written to; a `Cell`, or what `&`
//! leads to, may lie where one mustn't.
//!
//! A load of the arm hasn't been made where it isn't taken, and nobody may have seen to it that there is something to
//! load: its check may be gone because the branch says that it holds (`k != 0` decides `7 < 8 * k`). So it must lie
//! between elements that have been accessed behind a `&mut` on all ways to here, with nothing called since that might
//! have ended that: at a constant distance from an index between two others, or at an index no greater than a constant
//! one. Or it is an element of a slice that the graph is handed (by the names of its parameters, `tape` and
//! `tape.len`), at an index that is less than the length without a look at the branch. The branch asks for a value that
//! was loaded or handed over, of which neither the index nor what the arm tests is computed, and of which it says no
//! more than that it isn't 0. An arm that only computes something, in an op or two, costs less than any branch: there
//! it may ask for anything (`if x == y { x } else { x & y }`).

use crate::optimize::facts::assumed::Assumed;
use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::{Place, is_exclusive, one_way};
use crate::optimize::forward::flow::{Flow, down, scoped};
use crate::optimize::graph::dominators::{Dominators, exits, is_trap};
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{
    Access, Block, BlockId, Edge, Effect, Graph, Op, Opcode, Operand, Renaming, Terminator, Time, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Arms of more ops are left.
const OPS: usize = 12;

/// So are those of more tests.
const TESTS: usize = 4;

/// Of no more ops than these, which only compute, it doesn't matter what the branch asks for.
const PLAIN: usize = 2;

/// So many stretches of elements are known to be in use: the latest.
const STRETCHES: usize = 16;

/// Elements further apart say nothing of those between them: the sum might wrap.
const FAR: i64 = 1 << 20;

/// So many ops are looked through for what an index is computed of.
const STEPS: usize = 32;

/// Straightens arms of a graph whose entry is handed what lies in these bounds. Gives whether there were any.
pub(crate) fn straighten(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> bool {
    let arms = arms(graph);
    if arms.is_empty() {
        return false;
    }
    let tree = Dominators::new(graph);
    let mut known = Known::new(graph);
    let flow = Flow::unknown(graph, entry);
    let one_way = one_way(graph);
    let handed = Handed(graph.slices().map(|(_, base, length)| (base, length)).collect());
    // By depth in the tree: what is in use at the end of a block.
    let mut in_use: Vec<Vec<Stretch>> = Vec::new();
    let mut found: Vec<(&Arm, FxHashSet<ValueId>)> = Vec::new();
    // Only what leads to one is looked at.
    let leads_to_arm = tree.leading_down_to(arms.keys().copied());
    down(&tree, |block, marks, depth| {
        if !leads_to_arm[block.index()] {
            return false;
        }
        scoped(&mut known, marks, depth);
        in_use.truncate(depth);
        flow.enter(graph, &tree, block, &mut known) && {
            let mut stretches = in_use.last().cloned().unwrap_or_default();
            if !one_way[block.index()] {
                join(graph, &tree, block, &mut known, &mut stretches);
            }
            for op in &graph.block(block).ops {
                known.computes(op);
                known.accesses(op);
                if op.opcode.effect() == Effect::Call {
                    stretches.clear();
                } else if let Some(stretch) = Stretch::of(op, &known).filter(|_| is_exclusive(op)) {
                    stretch.join(&mut stretches);
                }
            }
            for arm in arms.get(&block).into_iter().flatten() {
                let mark = known.mark();
                let first = arm.changes_nothing(graph, &mut known, &stretches, &handed);
                known.forget(mark);
                let told = || {
                    let reason = "where it isn't taken it changes nothing";
                    (format!("{block}: the arm {}", arm.chain[0]), reason.to_owned())
                };
                if let Some(first) = first
                    && rewrites.may(Kind::Straightened, graph.block(block).loc, told)
                {
                    found.push((arm, first));
                    break;
                }
            }
            in_use.push(stretches);
            true
        }
    });
    let changed = !found.is_empty();
    found.into_iter().for_each(|(arm, first)| arm.straighten(graph, &first));
    changed
}

/// Ways meet: of memory and of what is in use is known what was in the block above, and what nothing on the way here
/// may have changed.
fn join(graph: &Graph, tree: &Dominators, block: BlockId, known: &mut Known, stretches: &mut Vec<Stretch>) {
    if !known.knows_memory() && stretches.is_empty() {
        return;
    }
    let Some(blocks) = tree.on_the_way(block) else {
        known.forget_memory();
        stretches.clear();
        return;
    };
    for op in blocks.iter().flat_map(|id| &graph.block(*id).ops) {
        known.may_have_done(op);
        if op.opcode.effect() == Effect::Call {
            stretches.clear();
        }
    }
}

/// Elements in memory that are in use: of so many bytes each, from an address on.
#[derive(Clone, Copy, PartialEq)]
struct Stretch {
    base: Operand,
    stride: u32,
    /// To what the numbers of the first and the last one are added.
    from: Option<ValueId>,
    range: (i64, i64),
}

impl Stretch {
    /// Of an element that an op accesses; from the first one on if its index is known.
    fn of(op: &Op, known: &Known) -> Option<Stretch> {
        let stride = element(op)?;
        let (base, index) = (op.args[0], op.args[1]);
        let (from, range) = match (index.as_int(), known.offset_of(index)) {
            (Some(index), _) if (0..FAR).contains(&index) => (None, (0, index)),
            (None, Some((value, offset))) if offset.abs() < FAR => (Some(value), (offset, offset)),
            _ => return None,
        };
        Some(Stretch { base, stride, from, range })
    }

    fn is_of(&self, other: &Stretch) -> bool {
        (self.base, self.stride, self.from) == (other.base, other.stride, other.from)
    }

    /// Is in use like these: what lies between elements of one slice is.
    fn join(mut self, others: &mut Vec<Stretch>) {
        if let Some(at) = others.iter().position(|other| self.is_of(other)) {
            let (low, high) = others.remove(at).range;
            self.range = (self.range.0.min(low), self.range.1.max(high));
        } else if others.len() == STRETCHES {
            others.remove(0);
        }
        others.push(self);
    }

    /// Whether an op accesses an element of it.
    fn has(&self, op: &Op, known: &Known) -> bool {
        let Some(own) = Stretch::of(op, known).filter(|own| (own.base, own.stride) == (self.base, self.stride)) else {
            return false;
        };
        if self.from.is_none() && own.from.is_some() {
            let index = known.bound(op.args[1]);
            return index.known_nonnegative() && index.upper() <= self.range.1;
        }
        own.from == self.from && self.range.0 <= own.range.0 && own.range.1 <= self.range.1
    }
}

/// The slices that a graph is handed: addresses, and how many elements lie there.
struct Handed(Vec<(ValueId, ValueId)>);

impl Handed {
    /// Whether an op accesses an element of one of them: as far as what is known says that its index is less than the
    /// length.
    fn have(&self, op: &Op, known: &Known) -> bool {
        let is_of = |(base, _): &&(ValueId, ValueId)| op.args[0] == Operand::Value(*base);
        is_exclusive(op)
            && element(op).is_some()
            && self.0.iter().find(is_of).is_some_and(|(_, length)| known.is_less(op.args[1], (*length).into()))
    }
}

/// The size of the elements of which an op accesses one, or a part of it.
fn element(op: &Op) -> Option<u32> {
    let desc = op.mem().filter(|_| matches!(op.opcode, Opcode::Getarrayitem | Opcode::Setarrayitem))?;
    let end = u32::try_from(desc.offset).ok()? + desc.access.size();
    (end <= desc.stride).then_some(desc.stride)
}

/// Whether an operand may be computed of one of these values.
fn is_computed_of(operand: Operand, values: &[(ValueId, i64, u32)], known: &Known) -> bool {
    let mut todo: Vec<Operand> = vec![operand];
    let mut steps = 0;
    while let Some(operand) = todo.pop() {
        let Operand::Value(value) = operand else { continue };
        steps += 1;
        if steps > STEPS || values.iter().any(|(of, ..)| *of == value) {
            return true;
        }
        todo.extend(known.definition(value).iter().flat_map(|definition| definition.args.iter().copied()));
    }
    false
}

/// A side of a branch that does little and goes where the other side leads at once.
struct Arm {
    from: BlockId,
    /// Which of the edges leads there.
    side: usize,
    /// Its blocks. One leads to the next, and else to a trap; the last one jumps to where the other side leads.
    chain: SmallVec<[BlockId; TESTS]>,
}

/// By block: the arms that it branches to.
fn arms(graph: &Graph) -> FxHashMap<BlockId, Vec<Arm>> {
    let one_way = one_way(graph);
    let likely = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode == Opcode::Likely);
    // Somebody knows which way these go.
    let foreseen: FxHashSet<ValueId> = likely.flat_map(|op| op.results.iter().copied()).collect();
    let mut arms: FxHashMap<BlockId, Vec<Arm>> = FxHashMap::default();
    for from in graph.block_ids() {
        if let Terminator::Branch { cond: Operand::Value(cond), .. } = &graph.block(from).term
            && !foreseen.contains(cond)
        {
            let found = [0, 1].into_iter().filter_map(|side| Arm::at(graph, &one_way, from, side));
            let found: Vec<Arm> = found.collect();
            if !found.is_empty() {
                arms.insert(from, found);
            }
        }
    }
    arms
}

impl Arm {
    /// The arm at one side of a branch, if that is one.
    fn at(graph: &Graph, one_way: &[bool], from: BlockId, side: usize) -> Option<Arm> {
        let (first, past) = sides(&graph.block(from).term, side)?;
        // A guard that a test makes fail goes past the arm though it is to be taken.
        if exits(graph, past.block) || is_trap(graph, past.block) {
            return None;
        }
        let (mut chain, mut ops, mut next) = (SmallVec::new(), 0, first);
        loop {
            let block = graph.block(next.block);
            if !one_way[next.block.index()] || !block.params.is_empty() || chain.len() > TESTS {
                return None;
            }
            chain.push(next.block);
            ops += block.ops.len();
            if ops > OPS || !block.ops.iter().all(may_be_done) {
                return None;
            }
            next = match &block.term {
                Terminator::Jump(edge) if edge.block == past.block => return Some(Arm { from, side, chain }),
                term => sides(term, usize::from(fails(graph, term)? == 0))?.0,
            };
        }
    }

    fn ops<'g>(&self, graph: &'g Graph) -> impl DoubleEndedIterator<Item = &'g Op> + use<'g, '_> {
        self.chain.iter().flat_map(|block| &graph.block(*block).ops)
    }

    /// Whether the arm changes nothing where it isn't taken, if its tests hold: then what has to be computed for them.
    fn changes_nothing(
        &self,
        graph: &Graph,
        known: &mut Known,
        in_use: &[Stretch],
        handed: &Handed,
    ) -> Option<FxHashSet<ValueId>> {
        let first = self.needed_for_tests(graph)?;
        // Nothing is known here of what has been branched on.
        self.ops(graph).for_each(|op| known.computes(op));
        for block in &self.chain {
            let term = &graph.block(*block).term;
            if let Terminator::Branch { cond, .. } = term
                && !known.learn(*cond, fails(graph, term)? == 1)
            {
                return None;
            }
        }
        let term = &graph.block(self.from).term;
        let Terminator::Branch { cond: Operand::Value(cond), .. } = term else { return None };
        let assumed = Assumed::new(known, *cond, self.side == 1)?;
        let asked = if self.is_plain(graph) { &[] } else { assumed.of_unknown_origin()? };
        // Nor has what is tested for to do with it: an index that fits where the arm is taken needn't elsewhere.
        let mut tests = self.chain.iter().flat_map(|block| graph.block(*block).term.operands());
        if tests.any(|test| is_computed_of(test, asked, known)) {
            return None;
        }
        let mut loaded: Vec<(Place, Operand, bool)> = Vec::new();
        for op in self.ops(graph) {
            match op.opcode.effect() {
                Effect::Read => {
                    let place = Place::of(op, known)?;
                    let depends = op.args.iter().any(|arg| is_computed_of(*arg, asked, known));
                    let is_there = handed.have(op, known) || in_use.iter().any(|stretch| stretch.has(op, known));
                    // Where the arm isn't taken a bool's byte may be another variant's, and no index below 2.
                    let may_be_other = op.mem().is_some_and(|desc| desc.access == Access::Bool);
                    if depends || !is_there || may_be_other {
                        return None;
                    }
                    loaded.push((place, Operand::Value(*op.results.first()?), is_exclusive(op)));
                }
                Effect::Write => {
                    let place = Place::of(op, known)?;
                    let own = loaded.iter().find(|(other, _, exclusive)| *exclusive && place.is_same(other));
                    let lies = own.map(|(_, value, _)| *value).or_else(|| known.exclusive_at(&place))?;
                    if !assumed.are_equal(*op.args.last()?, lies, place.bits()) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        let Terminator::Jump(end) = &graph.block(*self.chain.last()?).term else { return None };
        let (_, past) = sides(term, self.side)?;
        let same = end.args.iter().zip(&past.args).all(|(one, other)| assumed.are_equal(*one, *other, 64));
        same.then_some(first)
    }

    /// Whether it hardly does anything but go where the other side leads: that costs less than to ask whatever it is.
    fn is_plain(&self, graph: &Graph) -> bool {
        self.chain.len() == 1 && self.ops(graph).count() <= PLAIN && self.ops(graph).all(|op| op.opcode.is_pure())
    }

    /// What the arm computes for its tests; nothing if one needs what it loads.
    fn needed_for_tests(&self, graph: &Graph) -> Option<FxHashSet<ValueId>> {
        let tests = self.chain.iter().filter_map(|block| match graph.block(*block).term {
            Terminator::Branch { cond, .. } => cond.value(),
            _ => None,
        });
        let mut needed: FxHashSet<ValueId> = tests.collect();
        for op in self.ops(graph).rev() {
            if op.results.iter().any(|result| needed.contains(result)) {
                if !op.opcode.is_pure() {
                    return None;
                }
                needed.extend(op.args.iter().filter_map(|arg| arg.value()));
            }
        }
        Some(needed)
    }

    /// Does the arm always: first the tests and what is needed for them.
    fn straighten(&self, graph: &mut Graph, first: &FxHashSet<ValueId>) {
        let Block { term: branch, loc, .. } = graph.block(self.from).clone();
        // What is done up to the end of each block.
        let mut done: Vec<Op> = Vec::new();
        for (at, id) in self.chain.iter().enumerate() {
            let ops = std::mem::take(&mut graph.block_mut(*id).ops);
            let (before, own): (Vec<Op>, Vec<Op>) =
                ops.into_iter().partition(|op| op.results.iter().any(|r| first.contains(r)));
            graph.block_mut(self.from).ops.extend(before);
            done.extend(own);
            let mut term = graph.block(*id).term.clone();
            let ends = if at == 0 { self.from } else { *id };
            let Some(fails) = fails(graph, &term) else {
                graph.block_mut(ends).ops.append(&mut done);
                graph.block_mut(ends).term = term;
                return;
            };
            let Some(edge) = term.edges_mut().nth(fails) else { return };
            let failed = failed(graph, &done, edge);
            let mut asked = branch.clone();
            if let Some(arm) = asked.edges_mut().nth(self.side) {
                *arm = Edge::new(failed, []);
            }
            *edge = Edge::new(graph.new_block(), []);
            let block = graph.block_mut(edge.block);
            (block.term, block.loc) = (asked, loc);
            graph.block_mut(ends).term = term;
        }
    }
}

/// A block that does what the arm has done when a test failed, and goes where that led.
fn failed(graph: &mut Graph, done: &[Op], edge: &Edge) -> BlockId {
    let id = graph.new_block();
    let mut renaming = Renaming::default();
    let mut block = Block { ops: done.to_vec(), term: Terminator::Jump(edge.clone()), ..graph.block(id).clone() };
    block.ops.iter_mut().for_each(|op| renaming.op(graph, op));
    let trap = graph.block(edge.block);
    let mut used = trap.ops.iter().flat_map(|op| op.args.iter().copied()).chain(trap.term.operands());
    let is_of_arm = |value| done.iter().any(|op| op.results.contains(&value));
    let uses_own = used.any(|operand| operand.value().is_some_and(is_of_arm));
    drop(used);
    if uses_own {
        // It uses what the arm has computed without being handed it.
        let Block { params, mut ops, term, loc, .. } = trap.clone();
        let handed: Vec<Operand> = edge.args.iter().map(|arg| renaming.operand(*arg)).collect();
        renaming.extend(params.into_iter().zip(handed));
        ops.iter_mut().for_each(|op| renaming.op(graph, op));
        block.ops.extend(ops);
        (block.term, block.loc) = (term, loc);
    }
    renaming.term(&mut block.term);
    *graph.block_mut(id) = block;
    id
}

/// The edge of a branch at this side, and the other one.
fn sides(term: &Terminator, side: usize) -> Option<(&Edge, &Edge)> {
    match term {
        Terminator::Branch { then, otherwise, time: Time::Now, .. } => {
            Some(if side == 0 { (then, otherwise) } else { (otherwise, then) })
        }
        _ => None,
    }
}

/// At which side a branch traps, if it does at one.
fn fails(graph: &Graph, term: &Terminator) -> Option<usize> {
    let Terminator::Branch { cond: Operand::Value(_), then, otherwise, .. } = term else { return None };
    match [then, otherwise].map(|edge| is_trap(graph, edge.block)) {
        [true, false] => Some(0),
        [false, true] => Some(1),
        _ => None,
    }
}

/// Whether an op may be done though nobody has asked for it: it computes cheaply, or it loads, or stores behind a
/// `&mut`.
fn may_be_done(op: &Op) -> bool {
    use Opcode as O;
    match op.opcode {
        O::IntAdd | O::IntSub | O::IntMul | O::IntAnd | O::IntOr | O::IntXor | O::IntNeg | O::IntInvert => true,
        O::IntLshift | O::IntRshift | O::UintRshift | O::IntSignext => true,
        O::IntLt | O::IntLe | O::IntGt | O::IntGe | O::IntEq | O::IntNe | O::IntIsTrue | O::IntIsZero => true,
        O::UintLt | O::UintLe | O::UintGt | O::UintGe => true,
        O::Getarrayitem => true,
        O::Setarrayitem | O::Setfield => is_exclusive(op),
        _ => false,
    }
}
