//! What all ways to a join bring: contents of memory, and what tests give.
//!
//! A walk down the dominator tree comes to a join with what was known above the branch. So the join asks the ends of the ways, before it is come
//! to: what would this load give, what would this test? Where each way knows the content, the join gets a parameter and the load goes; where
//! all say the same of a test, that holds behind the join, as if it had been made there.
//!
//! ```text
//! b1: setfield v0, 1            b1: setfield v0, 1
//!     jump b3                       jump b3(1)
//! b2: setfield v0, v1           b2: setfield v0, v1
//!     jump b3              ->       jump b3(v1)
//! b3: v2 = getfield v0          b3(v2):
//! ```
//!
//! Nothing is asked for the heads of loops, whose ends aren't known yet, nor for exits, to which a guard may be made to go.

use super::dominators::{Dominators, exits};
use super::flow::takes;
use super::forward::Walk;
use super::int_bound::IntBound;
use super::memory::Found;
use super::rewrites::{Kind, shown_op};
use flowgraph::ir::{Block, BlockId, Effect, Graph, Op, Operand, Type};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Joins of more ways ask nothing.
const WAYS: usize = 8;

/// So much is asked at the most.
const QUESTIONS: usize = 8;

/// In so many blocks behind a join it is looked for tests.
const BLOCKS: usize = 4;

/// What a join asks, and the answers.
#[derive(Default)]
pub(super) struct Join {
    /// Loads before anything that writes, with their numbers in the block.
    loads: Vec<(usize, Op)>,
    /// Comparisons of integers, of what is known before the join.
    tests: Vec<Op>,
    /// By edge, if it can be taken: the block that it leads from, and which it is there.
    answers: Vec<Answers>,
    edges: usize,
}

/// What one edge says.
struct Answers {
    from: BlockId,
    side: usize,
    /// By load: what it gives, and its bound.
    loads: Vec<Option<(Operand, IntBound)>>,
    /// By test: whether it holds.
    tests: Vec<Option<bool>>,
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
    pub(super) fn answer(&mut self, from: BlockId) {
        if self.joins.is_empty() {
            return;
        }
        let Walk { graph, known, replaced, joins, .. } = self;
        let term = &graph.block(from).term;
        for (side, edge) in term.edges().enumerate() {
            let Some(join) = joins.get_mut(&edge.block) else { continue };
            let mark = known.mark();
            // An edge that can't be taken doesn't answer: its join learns nothing.
            if takes(term, side, known) {
                let loads = join.loads.iter().map(|(_, op)| {
                    let mut op = op.clone();
                    op.args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
                    match known.loaded(&op)? {
                        Found::Value(value) => {
                            let value = replaced.find(value);
                            Some((value, known.bound(value)))
                        }
                        Found::Extended(..) => None,
                    }
                });
                let loads = loads.collect();
                let tests = join.tests.iter().map(|op| {
                    let mut op = op.clone();
                    op.args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
                    known.transfer(&op)[0].get_constant_int().map(|holds| holds != 0)
                });
                let tests = tests.collect();
                join.answers.push(Answers { from, side, loads, tests });
            }
            known.forget(mark);
        }
    }

    /// A join learns what all ways to it say.
    pub(super) fn take_what_comes(&mut self, block: BlockId) {
        let Some(join) = self.joins.remove(&block) else { return };
        if !join.is_answered() {
            return;
        }
        for (number, test) in join.tests.iter().enumerate() {
            if let Some(holds) = join.test(number) {
                let args: SmallVec<[Operand; 3]> = test.args.iter().map(|arg| self.replaced.find(*arg)).collect();
                self.known.learn_test(test.opcode, &args, holds);
                self.known.does((test.opcode, args, None), [Operand::int(i64::from(holds))]);
            }
        }
        // The last one first: the numbers of the others stay.
        for (at, (number, load)) in join.loads.iter().enumerate().rev() {
            let brought: Option<Vec<(Operand, IntBound)>> =
                join.answers.iter().map(|answers| answers.loads[at]).collect();
            let Some((brought, bound)) = brought.and_then(|brought| {
                let bound = brought.iter().map(|(_, bound)| *bound).reduce(IntBound::join)?;
                Some((brought, bound))
            }) else {
                continue;
            };
            let told = || (shown_op(load.opcode, &load.args), "each way to here has stored or loaded there".to_owned());
            if !self.rewrites.may(Kind::LoadOverJoin, load.loc, told) {
                continue;
            }
            self.changed = true;
            let param = self.graph.new_value(self.graph.values[load.results[0].index()].ty);
            self.known.has_value(param);
            self.replaced.has_value(param);
            self.known.computed(param, bound);
            self.graph.block_mut(block).params.push(param);
            for (answers, (operand, _)) in join.answers.iter().zip(&brought) {
                if let Some(edge) = self.graph.block_mut(answers.from).term.edges_mut().nth(answers.side) {
                    edge.args.push(*operand);
                }
            }
            let mut load = self.graph.block_mut(block).ops.remove(*number);
            self.replaced.replace(load.results[0], param.into());
            load.args.iter_mut().for_each(|arg| *arg = self.replaced.find(*arg));
            load.results = smallvec![param];
            self.known.accesses(&load);
        }
    }
}

/// By block: what it asks.
pub(super) fn joins(graph: &Graph, tree: &Dominators) -> FxHashMap<BlockId, Join> {
    let mut edges = vec![0; graph.blocks.len()];
    let mut comes_back = vec![false; graph.blocks.len()];
    for from in graph.block_ids() {
        for edge in graph.block(from).term.edges() {
            edges[edge.block.index()] += 1;
            comes_back[edge.block.index()] |= tree.dominates(edge.block, from);
        }
    }
    let is_join = |id: &BlockId| (2..=WAYS).contains(&edges[id.index()]) && !comes_back[id.index()];
    let mut joins = FxHashMap::default();
    let mut defined: Vec<BlockId> = Vec::new();
    for id in graph.block_ids().filter(is_join).filter(|id| !exits(graph, *id)) {
        if defined.is_empty() {
            defined = definitions(graph);
        }
        let mut join = Join { edges: edges[id.index()], ..Join::default() };
        let is_above = |op: &Op| {
            op.args.iter().filter_map(|arg| arg.value()).all(|value| !tree.dominates(id, defined[value.index()]))
        };
        let loads = graph.block(id).ops.iter().enumerate();
        let loads = loads.take_while(|(_, op)| !matches!(op.opcode.effect(), Effect::Write | Effect::Call));
        let loads = loads.filter(|(_, op)| op.opcode.effect() == Effect::Read && op.results.len() == 1 && is_above(op));
        join.loads = loads.take(QUESTIONS).map(|(number, op)| (number, op.clone())).collect();
        let mut behind = vec![id];
        let mut at = 0;
        while at < behind.len().min(BLOCKS) {
            let block: &Block = graph.block(behind[at]);
            let is_test = |op: &&Op| op.opcode.is_comparison() && is_of_integers(op, graph) && is_above(op);
            join.tests.extend(block.ops.iter().filter(is_test).take(QUESTIONS - join.tests.len()).cloned());
            behind.extend(tree.children[behind[at].index()].iter().take(BLOCKS));
            at += 1;
        }
        if !(join.loads.is_empty() && join.tests.is_empty()) {
            joins.insert(id, join);
        }
    }
    joins
}

fn is_of_integers(op: &Op, graph: &Graph) -> bool {
    let mut values = op.args.iter().filter_map(|arg| arg.value()).peekable();
    values.peek().is_some() && values.all(|value| graph.values[value.index()].ty == Type::Int)
}

/// By value: the block that computes it, or is handed it.
pub(super) fn definitions(graph: &Graph) -> Vec<BlockId> {
    let mut defined = vec![BlockId::ENTRY; graph.values.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for value in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
            defined[value.index()] = id;
        }
    }
    defined
}
