//! Bounds of block parameters, integers and floats: what can come along any way that can be taken.
//!
//! Once over the blocks, down the dominator tree, from the assumption that nothing is reached but the entry: what comes
//! along the edges that can be taken is joined (M. Wegman, F. K. Zadeck, "Constant propagation with conditional
//! branches", 1991, with bounds for constants). At an outermost loop there are rounds over it before the walk goes on:
//! each takes what the one before has found, and widens what keeps growing, until nothing changes (F. Bourdoncle,
//! "Efficient chaotic iteration strategies with widenings", 1993). So what is behind a loop is looked at once.

mod orders;

use super::thresholds::{Thresholds, widened};
use crate::optimize::facts::float_bound::FloatBound;
use crate::optimize::facts::floats;
use crate::optimize::facts::known::{Known, Within};
use crate::optimize::graph::dominators::{Dominators, exits, is_trap};
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{BlockId, Edge, Graph, Op, Opcode, Operand, Terminator, Type, ValueId};
use orders::Orders;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// After so many rounds bounds that still grow are widened.
const EXACT: usize = 3;

/// After so many they rest at no thresholds any more.
const RESTING: usize = 16;

/// After so many nothing is claimed of parameters.
const ROUNDS: usize = 40;

/// Of more lengths than these nothing is said.
const LENGTHS: usize = 16;

/// By value: from which to which offset from it indices are.
type Asked = FxHashMap<ValueId, (i64, i64)>;

/// What can come to the parameters of blocks.
pub(crate) struct Flow {
    /// By block: how many parameters those before it have, which is the number of its first one.
    first: Vec<u32>,
    /// By number: the bound of a parameter; nothing where nothing comes.
    bounds: Vec<Option<IntBound>>,
    /// The same of those that are floats or singles; empty if none are.
    floats: Vec<Option<FloatBound>>,
    /// By number: below which lengths the offsets from a parameter lie; nothing where nothing comes.
    within: Vec<Option<Within>>,
    /// What indices are held against, and the blocks that compute it.
    lengths: Vec<(ValueId, BlockId)>,
    asked: Asked,
    /// How parameters compare with other values.
    orders: Orders,
    /// Where bounds of parameters rest that keep growing.
    thresholds: Thresholds,
    reached: Vec<bool>,
    /// Whether nothing was looked for: ways only part, and nothing comes along them. A walk finds out as much by
    /// itself.
    is_plain: bool,
}

/// Goes through the ops of a graph that can be come to, with what is known of operands there.
pub(crate) fn with_bounds(graph: &Graph, mut see: impl FnMut(&Op, &dyn Fn(Operand) -> IntBound)) {
    let tree = Dominators::new(graph);
    let mut known = Known::new(graph);
    let flow = Flow::new(graph, &tree, &[], &mut known);
    down(&tree, |block, marks, depth| {
        scoped(&mut known, marks, depth);
        flow.enter(graph, &tree, block, &mut known) && {
            for op in &graph.block(block).ops {
                see(op, &|operand| known.bound(operand));
                known.computes(op);
            }
            true
        }
    });
}

impl Flow {
    /// That nothing is known of what comes along ways: but for the entry, which is handed what lies in these bounds.
    pub(crate) fn unknown(graph: &Graph, entry: &[IntBound]) -> Flow {
        let mut params = 0;
        let first = graph.blocks.iter().map(|block| {
            params += block.params.len() as u32;
            params - block.params.len() as u32
        });
        let first = first.collect();
        let mut flow = Flow {
            first,
            bounds: vec![None; params as usize],
            floats: Vec::new(),
            within: vec![None; params as usize],
            lengths: Vec::new(),
            asked: Asked::default(),
            orders: Orders::default(),
            thresholds: Thresholds::default(),
            reached: vec![true; graph.blocks.len()],
            is_plain: true,
        };
        for (at, number) in flow.numbers(BlockId::ENTRY).enumerate() {
            flow.bounds[number] = Some(entry.get(at).copied().unwrap_or(IntBound::unbounded()));
        }
        flow
    }

    /// Of a graph whose entry is handed what lies in these bounds; nothing is known of what has none.
    pub(crate) fn new(graph: &Graph, tree: &Dominators, entry: &[IntBound], known: &mut Known) -> Flow {
        let mut flow = Flow::unknown(graph, entry);
        if !tree.has_loops() && graph.blocks.iter().skip(1).all(|block| block.params.is_empty()) {
            return flow;
        }
        flow.is_plain = false;
        (flow.lengths, flow.asked) = lengths(graph, known);
        flow.orders = Orders::asked(graph, tree, known);
        flow.thresholds = Thresholds::of(graph, known);
        if has_float_params(graph) {
            flow.floats = vec![None; flow.bounds.len()];
        }
        flow.reached.fill(false);
        flow.reached[BlockId::ENTRY.index()] = true;
        let outermost = outermost_loops(graph, tree);
        let leads_out = leads_out(tree, &outermost);
        let mut news = News::new(graph);
        let mut ends = true;
        down(tree, |block, marks, depth| {
            if outermost[block.index()] == Some(block) {
                let around = Loop { head: block, depth, outermost: &outermost };
                let mut rounds = 0..ROUNDS;
                ends &= rounds.any(|round| {
                    flow.round((graph, tree), known, &mut news, around, marks, round);
                    !news.are_left()
                });
            }
            if !leads_out[block.index()] {
                return false; // it and what it dominates has been looked at
            }
            scoped(known, marks, depth);
            ends && flow.enter(graph, tree, block, known) && {
                if news.take_own(block) {
                    flow.hand_over((graph, tree), known, &mut news, block, 0);
                }
                true
            }
        });
        known.forget(0);
        if ends {
            return flow;
        }
        // What was computed so far was computed of bounds that are too narrow.
        known.forget_computed();
        flow.bounds[graph.entry_params().len()..].fill(Some(IntBound::unbounded()));
        flow.floats.fill(None);
        flow.within.fill(None);
        flow.orders.give_up();
        flow.reached.fill(true);
        flow
    }

    /// The numbers of a block's parameters.
    fn numbers(&self, block: BlockId) -> Range<usize> {
        let next = self.first.get(block.index() + 1).map_or(self.bounds.len(), |next| *next as usize);
        self.first[block.index()] as usize..next
    }

    /// Whether a block can be come to.
    fn reaches(&self, block: BlockId) -> bool {
        self.reached[block.index()]
    }

    /// Whether a block can be come to, if that has been looked for.
    pub(crate) fn has_reached(&self, block: BlockId) -> Option<bool> {
        (!self.is_plain).then(|| self.reaches(block))
    }

    /// Begins a block: what its parameters are, and what the only way to it says. Gives whether it can be come to.
    pub(crate) fn enter(&self, graph: &Graph, tree: &Dominators, block: BlockId, known: &mut Known) -> bool {
        if !self.reaches(block) {
            return false;
        }
        let code = graph.block(block);
        if let Some((from, side)) = tree.sole[block.index()]
            && let Terminator::Branch { cond, .. } = &graph.block(from).term
            && code.params.is_empty()
            && code.ops.is_empty()
            && is_trap(graph, block)
        {
            let (cond, holds) = (*cond, side == 0);
            // What the op right above gives has just been looked for, by all that is known.
            let is_fresh =
                || graph.block(from).ops.last().is_some_and(|op| op.results.first().copied() == cond.value());
            return (is_fresh() || known.may_be(cond, holds)) && known.learn_for_trap(cond, holds);
        }
        for (number, param) in self.numbers(block).zip(&code.params) {
            known.computed(*param, self.bounds[number].unwrap_or(IntBound::unbounded()));
            if let Some(float) = self.floats.get(number) {
                known.computed_float(*param, float.unwrap_or(FloatBound::unbounded()));
            }
        }
        for (number, param) in self.numbers(block).zip(&code.params) {
            if let Some(within) = &self.within[number] {
                known.param_is_within(*param, within);
            }
        }
        self.orders.enter(block, known);
        match tree.sole[block.index()] {
            Some((from, side)) => takes(&graph.block(from).term, side, known),
            None => true,
        }
    }

    /// Whether what an edge hands over is known of the parameters already.
    fn is_nothing_new(&self, graph: &Graph, edge: &Edge, known: &mut Known) -> bool {
        let mut params = self.numbers(edge.block).zip(&graph.block(edge.block).params).zip(&edge.args);
        let of_params = params.all(|((number, param), arg)| {
            let is_there = |(length, (low, high)): &(Operand, (i64, i64))| {
                let comes = known.within(*arg, length.value().as_slice());
                comes.iter().any(|(other, (least, most))| other == length && least <= low && high <= most)
            };
            !is_float(graph, *param)
                && self.bounds[number].is_some_and(|bound| known.bound(*arg).implies(bound))
                && (self.lengths.is_empty()
                    || self.within[number].as_ref().is_some_and(|within| within.iter().all(is_there)))
        });
        of_params && self.orders.is_nothing_new(edge, known)
    }

    /// This comes for a parameter that is a float, too. Gives whether what is known of it has changed.
    fn join_float(&mut self, number: usize, comes: FloatBound, round: usize) -> bool {
        let before = self.floats[number];
        let after = match before {
            None => comes,
            Some(before) if round >= EXACT => before.widen(comes),
            Some(before) => before.join(comes),
        };
        self.floats[number] = Some(after);
        before != Some(after)
    }

    /// What is said of a parameter, now that this comes for it, too. Gives whether that has changed.
    fn join_within(
        &mut self,
        tree: &Dominators,
        block: BlockId,
        (number, param): (usize, ValueId),
        arg: Operand,
        known: &Known,
        round: usize,
    ) -> bool {
        if self.lengths.is_empty() {
            return false;
        }
        // A length that is computed in the block, or behind it, is another one there than where this comes from.
        let above = |from: BlockId| from != block && tree.dominates(from, block);
        let there: SmallVec<[ValueId; 4]> =
            self.lengths.iter().filter(|(_, from)| above(*from)).map(|(length, _)| *length).collect();
        let comes = known.within(arg, &there);
        let is_there = |length: &Operand| length.value().is_none_or(|length| there.contains(&length));
        let comes = comes.into_iter().filter(|(length, _)| is_there(length));
        let after: Within = match &self.within[number] {
            None => comes.collect(),
            Some(before) => {
                let comes: Within = comes.collect();
                let both = before.iter().filter_map(|(length, (low, high))| {
                    let common = comes.iter().filter(|(other, _)| other == length);
                    let common = common.map(|(_, (least, most))| (*low.max(least), *high.min(most)));
                    let both = common.filter(|both| both.0 <= both.1).max_by_key(|both| both.1 - both.0)?;
                    // What keeps shrinking would take as many rounds as there are offsets: what nobody asks for goes.
                    if round < EXACT || both == (*low, *high) {
                        return Some((*length, both));
                    }
                    let asked = self.asked.get(&param).filter(|_| round < RESTING)?;
                    let rest = (both.0.max(asked.0), both.1.min(asked.1));
                    (rest.0 <= rest.1).then_some((*length, rest))
                });
                both.collect()
            }
        };
        let changed = self.within[number].as_ref() != Some(&after);
        self.within[number] = Some(after);
        changed
    }

    /// Once over an outermost loop: over the blocks of it that something new has come to, and those that these
    /// dominate. For others nothing has changed.
    fn round(
        &mut self,
        (graph, tree): (&Graph, &Dominators),
        known: &mut Known,
        news: &mut News,
        around: Loop,
        marks: &mut Vec<usize>,
        round: usize,
    ) {
        // By depth below the head: whether something is new there, or above.
        let mut is_new: Vec<bool> = Vec::new();
        down_from(tree, (around.head, around.depth), marks, |block, marks, at| {
            if around.outermost[block.index()] != Some(around.head) {
                return false;
            }
            is_new.truncate(at - around.depth);
            let Some(differs) = news.take(block, is_new.last() == Some(&true)) else { return false };
            is_new.push(differs);
            scoped(known, marks, at);
            self.enter(graph, tree, block, known) && {
                if differs {
                    self.hand_over((graph, tree), known, news, block, round);
                }
                true // else what it computes is as it was
            }
        });
    }

    /// Carries out a block, and hands what it computes to those that it leads to.
    fn hand_over(
        &mut self,
        (graph, tree): (&Graph, &Dominators),
        known: &mut Known,
        news: &mut News,
        block: BlockId,
        round: usize,
    ) {
        for op in &graph.block(block).ops {
            for (result, bound) in op.results.iter().zip(known.transfer(op)) {
                known.computed(*result, bound);
                if !self.floats.is_empty() && is_float(graph, *result) {
                    known.computed_float(*result, floats::transfer(op, known));
                }
            }
        }
        let term = &graph.block(block).term;
        for (side, edge) in term.edges().enumerate() {
            if graph.block(edge.block).params.is_empty() {
                // There is nothing to hand over.
                if !self.reaches(edge.block) && may_take(term, side, known) {
                    self.reached[edge.block.index()] = true;
                    news.come(tree, block, edge.block);
                }
                continue;
            }
            if self.reaches(edge.block) && self.is_nothing_new(graph, edge, known) {
                continue; // what the way says only narrows what comes along it
            }
            let mark = known.mark();
            // What is handed to an exit also comes where a guard has been made to fail; and nothing follows from what a
            // trap is handed.
            let comes = match exits(graph, edge.block) || is_trap(graph, edge.block) {
                true => may_take(term, side, known),
                false => takes(term, side, known),
            };
            if comes {
                let mut differs = !std::mem::replace(&mut self.reached[edge.block.index()], true);
                for ((number, param), arg) in
                    self.numbers(edge.block).zip(&graph.block(edge.block).params).zip(&edge.args)
                {
                    let before = self.bounds[number];
                    let comes = known.bound(*arg);
                    let after = match before {
                        None => comes,
                        Some(before) if comes.implies(before) => before,
                        Some(before) if round >= RESTING => widened(before, before.join(comes)),
                        Some(before) if round >= EXACT => self.thresholds.widen(*param, before, comes),
                        Some(before) => before.join(comes),
                    };
                    differs |= before != Some(after);
                    self.bounds[number] = Some(after);
                    differs |= is_float(graph, *param) && self.join_float(number, known.float(*arg), round);
                    differs |= self.join_within(tree, edge.block, (number, *param), *arg, known, round);
                }
                differs |= self.orders.join(edge, known, round >= EXACT);
                if differs {
                    news.come(tree, block, edge.block);
                }
            }
            known.forget(mark);
        }
    }
}

/// An outermost loop.
#[derive(Clone, Copy)]
struct Loop<'a> {
    head: BlockId,
    /// How many blocks dominate the head.
    depth: usize,
    /// By block: the head of the outermost loop that it is in.
    outermost: &'a [Option<BlockId>],
}

/// Where something new has come.
struct News {
    /// By block: whether something has come to it since it was looked at.
    own: Vec<bool>,
    /// By block: whether something has come to it, or to what it dominates.
    below: Vec<bool>,
    /// Whether something has come to a block that the present round has passed. What comes to others is no reason for
    /// another round.
    passed: bool,
}

impl News {
    /// No block has been looked at.
    fn new(graph: &Graph) -> News {
        let own = vec![true; graph.blocks.len()];
        News { below: own.clone(), own, passed: false }
    }

    /// Whether another round is needed. It is the next one then.
    fn are_left(&mut self) -> bool {
        std::mem::take(&mut self.passed)
    }

    /// Whether something has come to a block. It is looked at then.
    fn take_own(&mut self, block: BlockId) -> bool {
        std::mem::take(&mut self.own[block.index()])
    }

    /// A round comes to a block. Gives whether it has to be looked at anew, as it has if one above was; nothing if
    /// neither that nor what it dominates does.
    fn take(&mut self, block: BlockId, above: bool) -> Option<bool> {
        let below = std::mem::take(&mut self.below[block.index()]);
        let own = self.take_own(block);
        (above || below).then_some(above || own)
    }

    /// Something new comes from one block to another.
    fn come(&mut self, tree: &Dominators, from: BlockId, to: BlockId) {
        self.own[to.index()] = true;
        let passed = !tree.is_before(from, to);
        self.passed |= passed;
        let mut at = to;
        while !std::mem::replace(&mut self.below[at.index()], true) {
            match tree.immediate_dominator(at) {
                // Those above where the walk is have been taken already, and are not to be taken again for what lies
                // ahead.
                Some(above) if passed || !tree.dominates(above, from) => at = above,
                _ => break,
            }
        }
    }
}

/// By block: the head of the outermost loop that it is in; a run's end counts as part of the loop that it is left from.
/// Where a loop has more than one way in, all blocks count as one.
fn outermost_loops(graph: &Graph, tree: &Dominators) -> Vec<Option<BlockId>> {
    let mut latches: Vec<(BlockId, BlockId)> = Vec::new();
    for from in graph.block_ids() {
        for to in graph.block(from).term.edges().map(|edge| edge.block) {
            if tree.dominates(to, from) {
                latches.push((to, from));
            } else if !tree.is_before(from, to) {
                return vec![Some(BlockId::ENTRY); graph.blocks.len()];
            }
        }
    }
    latches.sort_unstable_by_key(|(head, _)| tree.place(*head));
    let mut outermost: Vec<Option<BlockId>> = vec![None; graph.blocks.len()];
    let mut todo: Vec<BlockId> = Vec::new();
    for (head, latch) in latches {
        // The heads of those around come first.
        if outermost[head.index()].is_some_and(|around| around != head) {
            continue;
        }
        outermost[head.index()] = Some(head);
        todo.push(latch);
        while let Some(block) = todo.pop() {
            if outermost[block.index()].is_none() {
                outermost[block.index()] = Some(head);
                todo.extend_from_slice(tree.leading_to(block));
            }
        }
    }
    for block in graph.block_ids().filter(|block| graph.block(*block).term.edges().next().is_none()) {
        outermost[block.index()] = tree.immediate_dominator(block).and_then(|above| outermost[above.index()]);
    }
    outermost
}

/// By block: whether it is in no loop, or dominates what isn't in the same.
fn leads_out(tree: &Dominators, outermost: &[Option<BlockId>]) -> Vec<bool> {
    let mut leads: Vec<bool> = outermost.iter().map(Option::is_none).collect();
    for block in tree.bottom_up() {
        if let Some(above) = tree.immediate_dominator(block) {
            leads[above.index()] |= leads[block.index()] || outermost[block.index()] != outermost[above.index()];
        }
    }
    leads
}

/// Whether a value is a float or a single.
fn is_float(graph: &Graph, value: ValueId) -> bool {
    graph.values[value.index()].ty != Type::Int
}

/// Whether floats are handed over between blocks.
fn has_float_params(graph: &Graph) -> bool {
    graph.blocks.iter().skip(1).flat_map(|block| &block.params).any(|param| is_float(graph, *param))
}

/// The lengths that indices are held against, as far as they are values, and the blocks that compute them; and from
/// which to which offset from a value indices are.
fn lengths(graph: &Graph, known: &Known) -> (Vec<(ValueId, BlockId)>, Asked) {
    let mut lengths: Vec<ValueId> = Vec::new();
    let mut asked = Asked::default();
    for op in graph.blocks.iter().flat_map(|block| &block.ops) {
        let (index, length) = match op.opcode {
            Opcode::UintLt | Opcode::UintGe => (op.args[0], op.args[1]),
            Opcode::UintGt | Opcode::UintLe => (op.args[1], op.args[0]),
            _ => continue,
        };
        if let Some((value, offset)) = known.offset_of(index) {
            // Where the value itself lies is what says so of those next to it.
            let (low, high) = asked.entry(value).or_insert((0, 0));
            (*low, *high) = ((*low).min(offset), (*high).max(offset));
        }
        if let Operand::Value(length) = length
            && !lengths.contains(&length)
        {
            lengths.push(length);
            if lengths.len() > LENGTHS {
                return (Vec::new(), asked);
            }
        }
    }
    let mut found = Vec::new();
    for (block, code) in graph.block_ids().zip(&graph.blocks) {
        let values = code.params.iter().chain(code.ops.iter().flat_map(|op| &op.results));
        found.extend(values.filter(|value| lengths.contains(value)).map(|value| (*value, block)));
    }
    (found, asked)
}

/// Goes through the blocks of a graph, down the dominator tree: each that can be come to from an entry that is handed
/// what lies in these bounds, with what is known behind its ops.
pub(crate) fn at_ends(graph: &Graph, entry: &[IntBound], mut visit: impl FnMut(BlockId, &mut Known)) {
    let (mut known, tree, flow) = (Known::new(graph), Dominators::new(graph), Flow::unknown(graph, entry));
    down(&tree, |block, marks, depth| {
        scoped(&mut known, marks, depth);
        let is_reached = flow.enter(graph, &tree, block, &mut known);
        if is_reached {
            graph.block(block).ops.iter().for_each(|op| known.computes(op));
            visit(block, &mut known);
        }
        is_reached
    });
}

/// Walks down the dominator tree. `visit` is handed a block, the marks of those above it, and how many these are; and
/// says whether what is dominated is to be visited, too.
pub(crate) fn down(tree: &Dominators, visit: impl FnMut(BlockId, &mut Vec<usize>, usize) -> bool) {
    down_from(tree, (BlockId::ENTRY, 0), &mut Vec::new(), visit);
}

/// The same from a block on, above which there are so many.
fn down_from(
    tree: &Dominators,
    from: (BlockId, usize),
    marks: &mut Vec<usize>,
    mut visit: impl FnMut(BlockId, &mut Vec<usize>, usize) -> bool,
) {
    let mut todo = vec![from];
    while let Some((block, depth)) = todo.pop() {
        if visit(block, marks, depth) {
            todo.extend(tree.children(block).iter().rev().map(|child| (*child, depth + 1)));
        }
    }
}

/// Back to what holds in the block above.
pub(crate) fn scoped(known: &mut Known, marks: &mut Vec<usize>, depth: usize) {
    if let Some(mark) = marks.get(depth) {
        known.forget(*mark);
    }
    marks.truncate(depth);
    marks.push(known.mark());
}

/// Learns that a terminator takes one of its edges. Gives whether that can be.
pub(crate) fn takes(term: &Terminator, side: usize, known: &mut Known) -> bool {
    match term {
        Terminator::Branch { cond, .. } => known.learn(*cond, side == 0),
        Terminator::Switch { value, cases, .. } => match cases.get(side) {
            Some((case, _)) => known.learn_equal(*value, *case),
            None => known.learn_none_of(*value, &numbers(cases)),
        },
        _ => true,
    }
}

/// Whether a terminator may take one of its edges: what is learnt when it does may say that it can't after all.
fn may_take(term: &Terminator, side: usize, known: &Known) -> bool {
    match term {
        Terminator::Branch { cond, .. } => known.may_be(*cond, side == 0),
        Terminator::Switch { value, cases, .. } => match cases.get(side) {
            Some((case, _)) => known.may_be_case(*value, *case),
            None => known.may_be_none_of(*value, &numbers(cases)),
        },
        _ => true,
    }
}

/// The numbers of cases.
pub(crate) fn numbers(cases: &[(i64, Edge)]) -> SmallVec<[i64; 16]> {
    cases.iter().map(|(case, _)| *case).collect()
}
