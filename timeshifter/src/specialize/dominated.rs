//! What is known where a residual graph's block can't be reached without: an op that a dominating block has done already is
//! not done again, and a branch that one has decided is a jump.
//!
//! A walk down the dominator tree, with what holds on the way in scope (P. Briggs, K. Cooper, L. T. Simpson, "Value numbering",
//! 1997, section 4). While graphs are specialized, equal ops are found in the same way; but joins and loops forget what
//! their heads don't carry, and only the finished graph tells what dominates what.

use super::cleanup::Replacements;
use super::residual::SameOp;
use flowgraph::ir::{BlockId, Const, Edge, Graph, Op, Opcode, Operand, Terminator, ValueId};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What holds in a block and in all that it dominates.
#[derive(Default)]
struct Scope {
    /// What ops give that have been done.
    done: FxHashMap<SameOp, SmallVec<[ValueId; 2]>>,
    /// What values are that have been branched on.
    known: FxHashMap<ValueId, Const>,
    /// The least that values can be, as words without sign.
    least: FxHashMap<ValueId, u64>,
    /// How to forget what was learnt, the latest last.
    learnt: Vec<Learnt>,
}

enum Learnt {
    Done(SameOp),
    Known(ValueId),
    Least(ValueId, Option<u64>),
}

impl Scope {
    fn forget(&mut self, down_to: usize) {
        for learnt in self.learnt.drain(down_to..).rev() {
            match learnt {
                Learnt::Done(op) => drop(self.done.remove(&op)),
                Learnt::Known(value) => drop(self.known.remove(&value)),
                Learnt::Least(value, Some(before)) => drop(self.least.insert(value, before)),
                Learnt::Least(value, None) => drop(self.least.remove(&value)),
            }
        }
    }

    fn is_known(&mut self, value: ValueId, constant: Const) {
        if self.known.insert(value, constant).is_none() {
            self.learnt.push(Learnt::Known(value));
        }
    }

    fn is_at_least(&mut self, value: ValueId, bound: u64) {
        let before = self.least.get(&value).copied();
        if before.is_none_or(|before| before < bound) {
            self.least.insert(value, bound);
            self.learnt.push(Learnt::Least(value, before));
        }
    }

    /// What an op gives that need not be done: the results of an equal one, or a constant.
    fn given(&self, op: &Op, same: &SameOp) -> Option<SmallVec<[Operand; 2]>> {
        if let Some(results) = self.done.get(same) {
            return Some(results.iter().copied().map(Operand::Value).collect());
        }
        let (test, bound, value) = against_constant(op)?;
        let least = *self.least.get(&value)?;
        let holds = match test {
            Opcode::UintLt if least > bound => true,
            Opcode::UintLe if least >= bound => true,
            Opcode::UintGt if least >= bound => false,
            Opcode::UintGe if least > bound => false,
            _ => return None,
        };
        Some(smallvec::smallvec![Operand::int(i64::from(holds))])
    }
}

/// A comparison without signs of a constant with a value, the constant first.
fn against_constant(op: &Op) -> Option<(Opcode, u64, ValueId)> {
    let [one, other] = &op.args[..] else { return None };
    let swapped = match op.opcode {
        Opcode::UintLt => Opcode::UintGt,
        Opcode::UintLe => Opcode::UintGe,
        Opcode::UintGt => Opcode::UintLt,
        Opcode::UintGe => Opcode::UintLe,
        _ => return None,
    };
    match (one, other) {
        (Operand::Const(Const::Int(bound)), Operand::Value(value)) => Some((op.opcode, *bound as u64, *value)),
        (Operand::Value(value), Operand::Const(Const::Int(bound))) => Some((swapped, *bound as u64, *value)),
        _ => None,
    }
}

/// The least that a value can be where a comparison holds, or doesn't.
fn least(op: &Op, holds: bool) -> Option<(ValueId, u64)> {
    let (test, bound, value) = against_constant(op)?;
    let least = match (test, holds) {
        (Opcode::UintLt, true) | (Opcode::UintGe, false) => bound.checked_add(1)?,
        (Opcode::UintLe, true) | (Opcode::UintGt, false) => bound,
        _ => return None,
    };
    Some((value, least))
}

/// Drops what dominating blocks have done and decided. Gives whether there was anything.
pub(super) fn drop_dominated(graph: &mut Graph) -> bool {
    let children = dominator_tree(graph);
    let entered = sole_edges(graph, &children);
    let tests = tests(graph);
    let mut replaced = Replacements::new(graph);
    let (mut scope, mut changed) = (Scope::default(), false);
    let mut todo = vec![(BlockId::ENTRY, 0)];
    let mut open: Vec<usize> = Vec::new();
    while let Some((id, depth)) = todo.pop() {
        // Back to what holds in the block above.
        if let Some(learnt) = open.get(depth).copied() {
            scope.forget(learnt);
        }
        open.truncate(depth);
        open.push(scope.learnt.len());
        if let Some((from, holds)) = entered[id.index()] {
            learn(graph, &tests, from, holds, &mut scope);
        }
        changed |= walk(graph, id, &mut scope, &mut replaced);
        todo.extend(children[id.index()].iter().map(|child| (*child, depth + 1)));
    }
    replaced.apply(graph);
    changed
}

/// Learns from the branch at the end of a block that the only way leads by it on that side.
fn learn(graph: &Graph, tests: &FxHashMap<ValueId, Op>, from: BlockId, holds: bool, scope: &mut Scope) {
    let Terminator::Branch { cond: Operand::Value(cond), .. } = graph.block(from).term else { return };
    let test = tests.get(&cond);
    if !holds || test.is_some() {
        scope.is_known(cond, Const::Int(i64::from(holds)));
    }
    if let Some((value, bound)) = test.and_then(|test| least(test, holds)) {
        scope.is_at_least(value, bound);
    }
}

/// Goes through a block: ops that needn't be done go, and operands that are known become constants.
fn walk(graph: &mut Graph, id: BlockId, scope: &mut Scope, replaced: &mut Replacements) -> bool {
    let mut changed = false;
    let block = graph.block_mut(id);
    block.ops.retain_mut(|op| {
        changed |= use_known(op.args.iter_mut(), scope, replaced);
        if !op.opcode.is_pure() {
            return true;
        }
        let same: SameOp = (op.opcode, op.args[..].into(), op.imm.clone());
        if let Some(given) = scope.given(op, &same) {
            for (result, given) in op.results.iter().zip(given) {
                replaced.replace(*result, given);
            }
            changed = true;
            return false;
        }
        scope.learnt.push(Learnt::Done(same.clone()));
        scope.done.insert(same, op.results.iter().copied().collect());
        true
    });
    // What an exit hands over is what the values are, also where a guard has been made to fail.
    let mut operands = Vec::new();
    block.term.for_each_operand_mut(|operand| operands.push(*operand));
    changed |= use_known(operands.iter_mut(), scope, replaced);
    let mut operands = operands.into_iter();
    block.term.for_each_operand_mut(|operand| *operand = operands.next().unwrap_or(*operand));
    changed
}

fn use_known<'o>(operands: impl Iterator<Item = &'o mut Operand>, scope: &Scope, replaced: &mut Replacements) -> bool {
    let mut changed = false;
    for operand in operands {
        let found = replaced.find(*operand);
        let known = found.value().and_then(|value| scope.known.get(&value));
        changed |= known.is_some();
        *operand = known.map_or(found, |known| Operand::Const(*known));
    }
    changed
}

/// By block: those that it dominates immediately.
fn dominator_tree(graph: &Graph) -> Vec<Vec<BlockId>> {
    let mut shape: DiGraph<(), (), u32> = DiGraph::with_capacity(graph.blocks.len(), graph.blocks.len() * 2);
    for _ in &graph.blocks {
        shape.add_node(());
    }
    let node = |block: BlockId| NodeIndex::new(block.index());
    for from in graph.block_ids() {
        for edge in graph.block(from).term.edges() {
            shape.add_edge(node(from), node(edge.block), ());
        }
    }
    let dominators = simple_fast(&shape, node(BlockId::ENTRY));
    let mut children = vec![Vec::new(); graph.blocks.len()];
    for id in graph.block_ids() {
        if let Some(above) = dominators.immediate_dominator(node(id)) {
            children[above.index()].push(id);
        }
    }
    children
}

/// By block: the one that a branch leads here from, and on which side, if all other ways come back from here. Not for blocks that
/// exit: a guard that a test makes fail leads there though its condition holds.
fn sole_edges(graph: &Graph, children: &[Vec<BlockId>]) -> Vec<Option<(BlockId, bool)>> {
    let within = numbered(children);
    let comes_back = |from: BlockId, to: BlockId| within[to.index()].contains(&within[from.index()].start);
    let mut ways = vec![0; graph.blocks.len()];
    let mut sole = vec![None; graph.blocks.len()];
    for from in graph.block_ids() {
        let term = &graph.block(from).term;
        let is_branch = matches!(term, Terminator::Branch { .. });
        for (side, Edge { block, .. }) in term.edges().enumerate().filter(|(_, edge)| !comes_back(from, edge.block)) {
            ways[block.index()] += 1;
            let exits = matches!(graph.block(*block).term, Terminator::Exit { .. });
            sole[block.index()] = (is_branch && !exits).then_some((from, side == 0));
        }
    }
    sole.into_iter().zip(ways).map(|(edge, ways)| edge.filter(|_| ways == 1)).collect()
}

/// By block: its number in a walk down the dominator tree, and the end of those that it dominates.
fn numbered(children: &[Vec<BlockId>]) -> Vec<std::ops::Range<usize>> {
    let mut ranges = vec![0..0; children.len()];
    let (mut next, mut todo) = (0, vec![(BlockId::ENTRY, false)]);
    while let Some((id, done)) = todo.pop() {
        if done {
            ranges[id.index()].end = next;
            continue;
        }
        ranges[id.index()].start = next;
        next += 1;
        todo.push((id, true));
        todo.extend(children[id.index()].iter().map(|child| (*child, false)));
    }
    ranges
}

/// The comparisons, by what they give: those values are 0 or 1.
fn tests(graph: &Graph) -> FxHashMap<ValueId, Op> {
    let ops = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode.is_comparison());
    ops.map(|op| (op.results[0], op.clone())).collect()
}
