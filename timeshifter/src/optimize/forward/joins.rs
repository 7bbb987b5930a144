//! What all ways to a join bring: contents of memory, what tests give, and ops over what it is handed
//! ([`super::over_joins`]).
//!
//! A walk down the dominator tree comes to a join with what was known above the branch. So the join asks the ends of
//! the ways, before it is come to: what would this load give, what would this test? Where each way knows the content,
//! the join gets a parameter and the load goes; where all say the same of a test, that holds behind the join, as if it
//! had been made there.
//!
//! ```text
//! b1: setfield v0, 1            b1: setfield v0, 1
//!     jump b3                       jump b3(1)
//! b2: setfield v0, v1           b2: setfield v0, v1
//!     jump b3              ->       jump b3(v1)
//! b3: v2 = getfield v0          b3(v2):
//! ```
//!
//! What a load looks at may be a parameter of the join: then each edge is asked about what it hands over. Of the head
//! of a loop the answers are complete only behind the walk: its parameters for loads are made then. If the one edge
//! that leads into a loop doesn't know the content, it is loaded there, once, instead of in each round. What was stored
//! may be wider than its place in memory: then it is handed over as it is, and the load becomes the extension of its
//! low bits. Nothing is asked for exits, to which a guard may be made to go.

use super::flow::takes;
use super::over_joins::{brought, ops_over_join};
use crate::optimize::facts::done::SameOp;
use crate::optimize::facts::memory::{Found, extension};
use crate::optimize::forward::{OverJoins, Walk};
use crate::optimize::graph::dominators::{Dominators, exits};
use crate::optimize::graph::loops::{body, latches};
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, shown_op};
use flowgraph::ir::{Block, BlockId, Const, Edge, Effect, Graph, Imm, Op, Opcode, Operand, Terminator, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::cell::LazyCell;
use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::Arc;

/// Joins of more ways ask nothing.
const WAYS: u32 = 8;

/// So much is asked at the most.
const QUESTIONS: usize = 8;

/// In so many blocks behind a join it is looked for tests and loads.
const BLOCKS: usize = 4;

/// What a join asks, and the answers.
#[derive(Default)]
pub(crate) struct Join {
    /// Loads before anything that writes.
    loads: Vec<Question>,
    /// Comparisons of integers, of what is known before the join.
    tests: Vec<Op>,
    /// Ops over what it is handed.
    ops: Vec<Op>,
    /// By edge, if it can be taken: the block that it leads from, and which it is there.
    answers: Vec<Answers>,
    edges: usize,
    /// It is the head of a loop: its answers come late.
    is_head: bool,
    /// What is loaded again behind the loop, with nothing written since the head: by the number of the load in it, the
    /// block and what it gives.
    again: Vec<(usize, BlockId, ValueId)>,
}

/// A load.
struct Question {
    /// Its block: the join, or one that only the join leads to, over tests.
    of: BlockId,
    load: Op,
    /// The same load by what is known before the join: a constant that is added to the index behind that is part of the
    /// offset.
    asked: Op,
}

/// What one edge says.
pub(super) struct Answers {
    from: BlockId,
    side: usize,
    /// A round of a loop ends there.
    comes_back: bool,
    /// By load: what lies there.
    loads: Vec<Option<Brought>>,
    /// By test: whether it holds.
    tests: Vec<Option<bool>>,
    /// By op: what it gives.
    pub ops: Vec<Option<Operand>>,
}

/// What a way brings for a load.
#[derive(Clone, Copy)]
struct Brought {
    value: Operand,
    bound: IntBound,
    /// Only its low bits are in memory: what is loaded is these, extended.
    cut: bool,
}

impl Join {
    /// Whether all edges have answered.
    fn is_answered(&self) -> bool {
        self.answers.len() == self.edges
    }

    /// What a test gives, if all edges say the same.
    fn test(&self, number: usize) -> Option<bool> {
        let first = self.answers.first()?.tests[number]?;
        self.answers.iter().all(|answers| answers.tests[number] == Some(first)).then_some(first)
    }
}

impl Walk<'_> {
    /// Answers what joins ask to which a block leads.
    pub(crate) fn answer(&mut self, tree: &Dominators, from: BlockId) {
        if self.joins.is_empty() {
            return;
        }
        let Walk { graph, known, replaced, joins, rewrites, .. } = self;
        let term = &graph.block(from).term;
        for (side, edge) in term.edges().enumerate() {
            let Some(join) = joins.get_mut(&edge.block) else { continue };
            let mark = known.mark();
            // An edge that can't be taken doesn't answer: its join learns nothing.
            if takes(term, side, known) {
                let params = &graph.block(edge.block).params;
                let loads = join.loads.iter().map(|question| {
                    let mut op = question.asked.clone();
                    op.args.iter_mut().for_each(|arg| *arg = replaced.find(handed_over(*arg, params, edge)));
                    let (value, cut) = match known.loaded(&op)? {
                        Found::Value(value) => (value, false),
                        Found::Extended(value, _) => (value, true),
                    };
                    let value = replaced.find(value);
                    Some(Brought { value, bound: known.bound(value), cut })
                });
                let loads = loads.collect();
                let tests = join.tests.iter().map(|op| {
                    let mut op = op.clone();
                    op.args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
                    known.transfer(&op)[0].get_constant_int().map(|holds| holds != 0)
                });
                let tests = tests.collect();
                let ops = match &join.ops[..] {
                    [] => Vec::new(),
                    ops => {
                        let given = params.iter().copied().zip(edge.args.iter().copied().map(Some)).collect();
                        brought(ops, given, known, (&rewrites.rules, replaced))
                    }
                };
                let comes_back = tree.dominates(edge.block, from);
                join.answers.push(Answers { from, side, comes_back, loads, tests, ops });
            }
            known.forget(mark);
        }
    }

    /// A join learns what all ways to it say.
    pub(crate) fn take_what_comes(&mut self, block: BlockId) {
        let Entry::Occupied(join) = self.joins.entry(block) else { return };
        if join.get().is_head {
            return;
        }
        let join = join.remove();
        if !join.is_answered() {
            return;
        }
        for (number, test) in join.tests.iter().enumerate() {
            if let Some(holds) = join.test(number) {
                let args: SmallVec<[Operand; 3]> = test.args.iter().map(|arg| self.replaced.find(*arg)).collect();
                self.known.learn_test(test.opcode, &args, holds);
                self.known.does(SameOp::pure(test.opcode, &args), [Operand::int(i64::from(holds))]);
            }
        }
        for (at, Question { of, load, asked }) in join.loads.iter().enumerate() {
            let brought: Option<Vec<Brought>> = join.answers.iter().map(|answers| answers.loads[at]).collect();
            let Some((brought, bound)) = brought.and_then(|brought| {
                let bound = brought.iter().map(|brought| brought.bound).reduce(IntBound::join)?;
                Some((brought, bound))
            }) else {
                continue;
            };
            let told = || (shown_op(load.opcode, &load.args), "each way to here has stored or loaded there".to_owned());
            if !self.rewrites.may(Kind::LoadOverJoin, load.loc, told) {
                continue;
            }
            let operands = brought.iter().map(|brought| brought.value);
            let ty = self.graph.values[load.results[0].index()].ty;
            let param = self.hand_over(block, ty, join.answers.iter().zip(operands));
            self.known.computed(param, bound);
            // Behind a test the walk finds that it lies there, and anywhere that it has to be cut down.
            if *of == block && !brought.iter().any(|brought| brought.cut) {
                self.graph.block_mut(block).ops.retain(|op| op.results != load.results);
                self.replaced.replace(load.results[0], param.into());
            }
            let mut loaded = Op { results: smallvec![param], ..asked.clone() };
            loaded.args.iter_mut().for_each(|arg| *arg = self.replaced.find(*arg));
            self.known.accesses(&loaded);
        }
        self.take_ops(block, &join.ops, &join.answers);
    }
}

impl Walk<'_> {
    /// A block gets a parameter for what its ways bring. Gives it.
    pub(super) fn hand_over<'a>(
        &mut self,
        block: BlockId,
        ty: Type,
        brought: impl Iterator<Item = (&'a Answers, Operand)>,
    ) -> ValueId {
        self.changed = true;
        let param = self.graph.new_value(ty);
        self.known.has_value(param);
        self.replaced.has_value(param);
        self.graph.block_mut(block).params.push(param);
        for (answers, operand) in brought {
            if let Some(edge) = self.graph.block_mut(answers.from).term.edges_mut().nth(answers.side) {
                edge.args.push(operand);
            }
        }
        param
    }

    /// The heads of loops take what comes along all ways, behind the walk.
    pub(crate) fn take_what_comes_back(&mut self) {
        let mut heads: Vec<(BlockId, Join)> = std::mem::take(&mut self.joins)
            .into_iter()
            .filter(|(_, join)| join.is_head && join.is_answered())
            .collect();
        heads.sort_unstable_by_key(|(block, _)| *block);
        for (block, mut join) in heads {
            for (at, Question { of, load, asked }) in join.loads.iter().enumerate() {
                let result = load.results[0];
                // It may have gone since.
                let is_it = |op: &Op| op.results.first() == Some(&result);
                let Some(number) = self.graph.block(*of).ops.iter().position(is_it) else { continue };
                let knows_not = |answers: &Answers| answers.loads[at].is_none();
                let unknown = join.answers.iter().position(knows_not);
                // One way into the loop may load it, if that isn't above a test, and where is known there.
                if unknown.is_some_and(|way| join.answers[way].comes_back || *of != block || load.args != asked.args)
                    || join.answers.iter().filter(|answers| knows_not(answers)).count() > 1
                {
                    continue;
                }
                let told =
                    || (shown_op(load.opcode, &load.args), "each round before has stored or loaded there".to_owned());
                if !self.rewrites.may(Kind::LoadOverJoin, load.loc, told) {
                    continue;
                }
                let loaded = unknown.map(|way| self.load_on(&mut join.answers[way], load));
                let brought = join.answers.iter().filter_map(|answers| {
                    let known = answers.loads[at].map(|brought| brought.value);
                    Some((answers, known.or(loaded)?))
                });
                let param = self.hand_over(block, self.graph.values[result.index()].ty, brought);
                let cut = join.answers.iter().filter_map(|answers| answers.loads[at]).any(|brought| brought.cut);
                let ops = &mut self.graph.block_mut(*of).ops;
                if let Some(access) = load.mem().map(|desc| desc.access).filter(|_| cut) {
                    let (opcode, args) = extension(param.into(), access);
                    (ops[number].opcode, ops[number].args, ops[number].imm) = (opcode, args, Imm::None);
                    continue;
                }
                ops.remove(number);
                self.replaced.replace(result, param.into());
                for (_, of, again) in join.again.iter().filter(|(number, ..)| *number == at) {
                    let ops = &mut self.graph.block_mut(*of).ops;
                    if let Some(number) = ops.iter().position(|op| op.results.first() == Some(again)) {
                        ops.remove(number);
                        self.replaced.replace(*again, param.into());
                    }
                }
            }
        }
    }

    /// Loads on a way what the block at its end would, in a block of its own if there isn't one that only jumps there.
    fn load_on(&mut self, way: &mut Answers, load: &Op) -> Operand {
        let result = self.graph.new_value(self.graph.values[load.results[0].index()].ty);
        self.known.has_value(result);
        self.replaced.has_value(result);
        if !matches!(self.graph.block(way.from).term, Terminator::Jump(_)) {
            let between = self.graph.new_block();
            let loc = self.graph.block(way.from).loc;
            let onward = self.graph.block_mut(way.from).term.edges_mut().nth(way.side);
            let onward = onward.map(|edge| std::mem::replace(edge, Edge::new(between, [])));
            let block = self.graph.block_mut(between);
            block.loc = loc;
            if let Some(onward) = onward {
                block.term = Terminator::Jump(onward);
            }
            (way.from, way.side) = (between, 0);
        }
        let mut load = Op { results: smallvec![result], ..load.clone() };
        if let Terminator::Jump(edge) = &self.graph.block(way.from).term {
            let params = &self.graph.block(edge.block).params;
            load.args.iter_mut().for_each(|arg| *arg = handed_over(*arg, params, edge));
        }
        self.graph.block_mut(way.from).ops.push(load);
        result.into()
    }
}

/// What an operand of a block is where this edge leads there.
fn handed_over(operand: Operand, params: &[ValueId], edge: &Edge) -> Operand {
    params.iter().position(|param| Operand::Value(*param) == operand).map_or(operand, |at| edge.args[at])
}

/// By block: what it asks. `defined` has by value the block that computes it ([`definitions`]).
pub(crate) fn joins(
    graph: &Graph,
    tree: &Dominators,
    defined: &impl Deref<Target = Vec<BlockId>>,
    over: OverJoins,
) -> FxHashMap<BlockId, Join> {
    let edges = graph.arrivals();
    let latches = latches(graph, tree);
    let is_join = |id: &BlockId| (2..=WAYS).contains(&edges[id.index()]) && *id != BlockId::ENTRY;
    let mut joins = FxHashMap::default();
    for id in graph.block_ids().filter(is_join).filter(|id| !exits(graph, *id)) {
        let latches = latches.get(&id);
        let is_head = latches.is_some();
        // What is loaded behind a loop alone is loaded there once, and not handed around in it.
        let body = LazyCell::new(|| latches.and_then(|latches| body(id, latches, tree)));
        let stays = |next: &BlockId| body.as_ref().is_none_or(|body| body.binary_search(next).is_ok());
        let mut join = Join { edges: edges[id.index()] as usize, is_head, ..Join::default() };
        let params = &graph.block(id).params;
        let is_above = |arg: &Operand| arg.value().is_none_or(|value| !tree.dominates(id, defined[value.index()]));
        let is_handed_over = |arg: &Operand| arg.value().is_some_and(|value| params.contains(&value));
        let is_known = |arg: &Operand| is_handed_over(arg) || is_above(arg);
        let writes = |op: &Op| matches!(op.opcode.effect(), Effect::Write | Effect::Call);
        let mut sums = Sums::default();
        let mut chain = vec![id];
        let mut outside: SmallVec<[BlockId; BLOCKS]> = SmallVec::new();
        let mut at = 0;
        while at < chain.len() {
            let of = chain[at];
            let block = graph.block(of);
            let until = block.ops.iter().position(writes).unwrap_or(block.ops.len());
            for load in &block.ops[..until] {
                sums.add(load, is_known);
                if join.loads.len() < QUESTIONS
                    && load.opcode.effect() == Effect::Read
                    && load.results.len() == 1
                    && let Some(asked) = sums.asked(load, is_known)
                {
                    join.loads.push(Question { of, load: load.clone(), asked });
                }
            }
            if until == block.ops.len() {
                // What is done on a way out alone is done seldom.
                let goes_on =
                    |next: &BlockId| !matches!(graph.block(*next).term, Terminator::Exit { .. } | Terminator::Trap(_));
                let next = || block.term.edges().map(|edge| edge.block).filter(|next| edges[next.index()] == 1);
                chain.extend(next().filter(goes_on).filter(stays).take(BLOCKS - chain.len()));
                outside.extend(next().filter(|next| is_head && !stays(next)));
            }
            at += 1;
        }
        for of in outside {
            for load in graph.block(of).ops.iter().take_while(|op| !writes(op)) {
                sums.add(load, is_known);
                let asked = (load.opcode.effect() == Effect::Read && !join.loads.is_empty())
                    .then(|| sums.asked(load, is_known));
                let is_same = |question: &Question| {
                    let same = |asked: &Op| (&asked.args, &asked.imm) == (&question.asked.args, &question.asked.imm);
                    load.opcode == question.load.opcode && asked.iter().flatten().any(same)
                };
                if let Some(number) = join.loads.iter().position(is_same) {
                    join.again.push((number, of, load.results[0]));
                }
            }
        }
        let mut behind = vec![id];
        let mut at = 0;
        while at < behind.len().min(BLOCKS) && !is_head {
            let block: &Block = graph.block(behind[at]);
            let is_test =
                |op: &&Op| op.opcode.is_comparison() && is_of_integers(op, graph) && op.args.iter().all(is_above);
            join.tests.extend(block.ops.iter().filter(is_test).take(QUESTIONS - join.tests.len()).cloned());
            behind.extend(tree.children(behind[at]).iter().take(BLOCKS));
            at += 1;
        }
        if !is_head && over != OverJoins::None {
            join.ops = ops_over_join(graph, graph.block(id), is_above);
        }
        if !(join.loads.is_empty() && join.tests.is_empty() && join.ops.is_empty()) {
            joins.insert(id, join);
        }
    }
    joins
}

/// By value that is computed behind a join: what is known before and a constant that add up to it.
#[derive(Default)]
struct Sums(FxHashMap<ValueId, (Operand, i64)>);

impl Sums {
    fn add(&mut self, op: &Op, is_known: impl Fn(&Operand) -> bool) {
        let (arg, by) = match (op.opcode, &op.args[..]) {
            (Opcode::IntAdd, [arg, Operand::Const(Const::Int(by))]) => (*arg, *by),
            (Opcode::IntSub, [arg, Operand::Const(Const::Int(by))]) => (*arg, by.wrapping_neg()),
            _ => return,
        };
        let sum = match arg.value().and_then(|value| self.0.get(&value)) {
            Some((before, more)) => (*before, by.wrapping_add(*more)),
            None if is_known(&arg) => (arg, by),
            None => return,
        };
        self.0.insert(op.results[0], sum);
    }

    /// A load by what is known before the join, if that says where it is.
    fn asked(&self, load: &Op, is_known: impl Fn(&Operand) -> bool) -> Option<Op> {
        let mut asked = load.clone();
        for arg in &mut asked.args {
            if is_known(arg) {
                continue;
            }
            let (before, by) = *self.0.get(&arg.value()?)?;
            let Imm::Mem(desc) = &mut asked.imm else { return None };
            if load.opcode != Opcode::Getarrayitem || *arg != load.args[1] {
                return None;
            }
            let moved = by.checked_mul(i64::from(desc.stride))?.checked_add(i64::from(desc.offset))?;
            (*arg, Arc::make_mut(desc).offset) = (before, i32::try_from(moved).ok()?);
        }
        Some(asked)
    }
}

fn is_of_integers(op: &Op, graph: &Graph) -> bool {
    let mut values = op.args.iter().filter_map(|arg| arg.value()).peekable();
    values.peek().is_some() && values.all(|value| graph.values[value.index()].ty == Type::Int)
}

/// By value: the block that computes it, or is handed it.
pub(crate) fn definitions(graph: &Graph) -> Vec<BlockId> {
    let mut defined = vec![BlockId::ENTRY; graph.values.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for value in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
            defined[value.index()] = id;
        }
    }
    defined
}
