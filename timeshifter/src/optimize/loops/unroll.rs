//! Unrolling of scans: loops that only look for where to stop check their index once for several rounds.
//!
//! ```text
//! b1(v3): v4 = int_add v3, 9            b1(v3): v9 = int_add v3, 36
//!     v5 = uint_lt v4, v1                   v10 = uint_lt v9, v1
//!     branch v5, b2, b4(v4)                 branch v10, b5, b6
//! b2: v6 = getarrayitem v0, v4          b5: v11 = int_add v3, 9
//!     branch v6, b1(v4), b3(v4)    ->       v12 = getarrayitem v0, v11
//!                                           branch v12, b7, b3(v11)
//!                                       b7: ..
//!                                           branch v18, b1(v9), b3(v9)
//!                                       b6: what b1 was, back to b1
//! ```
//!
//! That the last of the indices lies below the length says so of those before it, as has been seen ([`RoundFacts`]):
//! those between an index that does and another one that does lie there, too; where nothing is known of the parameter,
//! the first of the indices is checked besides. Where it doesn't, the round is done as ever, and the next one tries
//! again. A round may compute and load, and leave the loop, but change nothing; and of all that it hands over to the
//! next one each value is counted up or down, or the same.

use super::copies::{Innermost, UsedBehind, values};
use super::rounds::RoundFacts;
use crate::optimize::branches::rows::{compute_at_end, is_copied};
use crate::optimize::facts::conditions::{below, offset_of};
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::graph::loops::Unchanged;
use flowgraph::ir::{Block, BlockId, Const, Edge, Graph, Op, Opcode, Operand, Renaming, Terminator, Time, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// So many rounds have one check.
pub(crate) const ROUNDS: i64 = 8;

/// Rounds of more ops, or more blocks, stay as they are.
const OPS: usize = 6;
const BLOCKS: usize = 4;

/// The check of a scan: that a parameter of the loop's head plus `offset` lies below a length; each round adds `step`
/// to the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    pub param: ValueId,
    pub offset: i64,
    pub step: i64,
    pub length: Operand,
    /// It takes the check of the first of the rounds, too, to say of those between it and the last that they hold.
    pub by_first: bool,
}

impl Scan {
    /// The offset from the parameter that the last of the rounds checks.
    pub(crate) fn last(&self) -> Option<i64> {
        self.step.checked_mul(ROUNDS - 1)?.checked_add(self.offset)
    }
}

/// A loop that is unrolled.
pub(crate) struct Plan {
    scan: Scan,
    /// The offset that is checked for all.
    last: i64,
    /// Its blocks, each of which leads to the next, the head first, and else out of the loop.
    chain: Vec<BlockId>,
    /// The same, sorted.
    pub body: Vec<BlockId>,
    pub used_behind: UsedBehind,
}

/// The scans among these loops.
pub(crate) fn plans(graph: &Graph, tree: &Dominators, loops: &[Innermost], facts: &RoundFacts) -> Vec<Plan> {
    if facts.scans.is_empty() {
        return Vec::new();
    }
    let unchanged = Unchanged::new(graph, tree);
    let mut found = Vec::new();
    for Innermost { head, body, .. } in loops.iter().filter(|one| one.body.len() <= BLOCKS) {
        if let Some(scan) = facts.scans.get(head)
            && let Some(last) = scan.last()
            && let Some(chain) = chain(graph, *head, body)
            && is_scan(graph, &chain, *scan)
            && unchanged.is_same(scan.length, *head, &FxHashSet::default())
        {
            let body = body.clone();
            found.push(Plan { scan: *scan, last, chain, body, used_behind: UsedBehind::new() });
        }
    }
    found
}

/// Unrolls scans, behind which it has been seen to that there may be more of each of their values.
pub(crate) fn unroll(graph: &mut Graph, plans: &[Plan]) {
    // What leads to a head, from inside of the loop or outside, tries several rounds first.
    let firsts: FxHashMap<BlockId, BlockId> = plans.iter().map(|plan| (plan.head(), graph.new_block())).collect();
    for edge in graph.blocks.iter_mut().flat_map(|block| block.term.edges_mut()) {
        if let Some(first) = firsts.get(&edge.block) {
            edge.block = *first;
        }
    }
    plans.iter().for_each(|plan| plan.unroll(graph, firsts[&plan.head()]));
}

/// The blocks of a loop in the order in which a round goes through them, if there is but one.
fn chain(graph: &Graph, head: BlockId, body: &[BlockId]) -> Option<Vec<BlockId>> {
    let mut chain = vec![head];
    while chain.len() <= body.len() {
        let next = stays(graph.block(chain[chain.len() - 1]), body)?.block;
        if next == head {
            return (chain.len() == body.len()).then_some(chain);
        }
        chain.push(next);
    }
    None
}

/// The one edge of a block that stays in a loop.
fn stays<'b>(block: &'b Block, body: &[BlockId]) -> Option<&'b Edge> {
    let mut stay = block.term.edges().filter(|edge| body.binary_search(&edge.block).is_ok());
    let edge = stay.next()?;
    let is_plain = matches!(block.term, Terminator::Jump(_) | Terminator::Branch { time: Time::Now, .. });
    (is_plain && stay.next().is_none()).then_some(edge)
}

/// Whether a round only looks, is small, and hands over nothing but what is counted.
fn is_scan(graph: &Graph, chain: &[BlockId], scan: Scan) -> bool {
    let ops = || chain.iter().flat_map(|block| &graph.block(*block).ops);
    let definition = |value: ValueId| {
        let op = ops().find(|op| op.results.first() == Some(&value))?;
        op.opcode.is_pure().then_some((op.opcode, &op.args[..]))
    };
    let [head, .., last] = chain else { return false };
    let (head, last) = (graph.block(*head), graph.block(*last));
    let Terminator::Branch { cond: Operand::Value(cond), then, .. } = &head.term else { return false };
    // The check is what has been seen.
    let holds = then.block == chain[1];
    let checks = definition(*cond).and_then(|(opcode, args)| below(opcode, args, holds));
    let is_check = checks.is_some_and(|(index, length)| {
        length == scan.length && offset_of(index, definition) == Some((scan.param, scan.offset))
    });
    let Some(back) = last.term.edges().find(|edge| edge.block == chain[0]) else { return false };
    let counts = |(param, arg): (&ValueId, &Operand)| match offset_of(*arg, definition) {
        Some((root, by)) if *param == scan.param => root == *param && by == scan.step,
        Some((root, _)) => root == *param,
        None => false,
    };
    let tests = chain[1..].iter().filter(|block| matches!(graph.block(**block).term, Terminator::Branch { .. }));
    is_check
        && tests.count() > 0
        && ops().count() <= OPS
        && ops().all(is_copied)
        && head.params.iter().zip(&back.args).all(counts)
}

impl Plan {
    pub(crate) fn head(&self) -> BlockId {
        self.chain[0]
    }

    /// What is done, and why.
    pub(crate) fn told(&self) -> (String, String) {
        (format!("{}: {ROUNDS} rounds", self.head()), "one check says as much as all".to_owned())
    }

    /// All values of a round: there will be more of each.
    pub(crate) fn own(&self, graph: &Graph) -> Vec<ValueId> {
        self.chain.iter().flat_map(|block| values(graph.block(*block))).collect()
    }

    /// The length by the name that it has by now: it may come from a loop that is copied, too, and be handed on.
    fn length(&self, graph: &Graph) -> Operand {
        let head = graph.block(self.head());
        let length = || {
            let Terminator::Branch { cond: Operand::Value(cond), then, .. } = &head.term else { return None };
            let check = head.ops.iter().find(|op| op.results.first() == Some(cond))?;
            Some(below(check.opcode, &check.args, then.block == self.chain[1])?.1)
        };
        length().unwrap_or(self.scan.length)
    }

    /// Fills the block that is come to in place of the head.
    fn unroll(&self, graph: &mut Graph, first: BlockId) {
        let head = self.head();
        let length = self.length(graph);
        let loc = graph.block(head).loc;
        let params = std::mem::take(&mut graph.block_mut(head).params);
        graph.block_mut(first).loc = loc;
        let slow = Edge::new(head, []);
        let mut made = FxHashMap::default();
        let mut at = first;
        let offsets = [Some(self.last), self.scan.by_first.then_some(self.scan.offset)];
        for (number, offset) in offsets.into_iter().flatten().enumerate() {
            if number > 0 {
                let next = graph.new_block();
                graph.block_mut(next).loc = loc;
                if let Terminator::Branch { then, .. } = &mut graph.block_mut(at).term {
                    then.block = next;
                }
                at = next;
            }
            let index = match offset {
                0 => self.scan.param.into(),
                offset => {
                    let (opcode, args) = added(self.scan.param.into(), offset);
                    compute_at_end(graph, at, opcode, &args, loc)
                }
            };
            made.insert((self.scan.param, offset), index);
            let cond = compute_at_end(graph, at, Opcode::UintLt, &[index, length], loc);
            let [then, otherwise] = [slow.clone(), slow.clone()];
            graph.block_mut(at).term = Terminator::Branch { cond, then, otherwise, time: Time::Now };
        }
        let mut copies = Rounds { graph, plan: self, renamed: Renaming::default(), sums: FxHashMap::default(), made };
        let rounds = copies.copy(&params, first);
        graph.block_mut(first).params = params;
        if let Terminator::Branch { then, .. } = &mut graph.block_mut(at).term {
            then.block = rounds;
        }
    }
}

/// Copies of rounds, one behind the other.
struct Rounds<'g> {
    graph: &'g mut Graph,
    plan: &'g Plan,
    /// What values of the loop are in the present round.
    renamed: Renaming,
    /// Of what values are sums, and of what constant.
    sums: FxHashMap<ValueId, (ValueId, i64)>,
    /// The sums that there are by now.
    made: FxHashMap<(ValueId, i64), Operand>,
}

impl Rounds<'_> {
    /// Copies the rounds, the last of which leads to this block. Gives the block that they begin with.
    fn copy(&mut self, params: &[ValueId], onward: BlockId) -> BlockId {
        let first = self.graph.new_block();
        let mut at = first;
        for round in 1..=ROUNDS {
            for (number, from) in self.plan.chain.iter().enumerate() {
                let block = self.graph.block(*from).clone();
                self.graph.block_mut(at).loc = block.loc;
                block.ops.into_iter().for_each(|op| self.op(at, op));
                let Some(stay) = stays_of(&block.term, &self.plan.body, onward).cloned() else { continue };
                let args: Vec<Operand> = stay.args.iter().map(|arg| self.renamed.operand(*arg)).collect();
                let is_last = number + 1 == self.plan.chain.len();
                // The check holds, and what only jumps on goes on here.
                let goes_on = number == 0 || matches!(block.term, Terminator::Jump(_));
                let next = match (is_last && round == ROUNDS, goes_on) {
                    (true, _) => onward,
                    (false, true) => at,
                    (false, false) => self.graph.new_block(),
                };
                if next != at {
                    let mut term = block.term;
                    let handed_on = if next == onward { args.clone() } else { Vec::new() };
                    let on = Edge::new(next, handed_on);
                    for edge in term.edges_mut() {
                        if *edge == stay {
                            *edge = on.clone();
                        } else {
                            edge.args.iter_mut().for_each(|arg| *arg = self.renamed.operand(*arg));
                        }
                    }
                    if let Terminator::Branch { cond, .. } = &mut term {
                        *cond = self.renamed.operand(*cond);
                    }
                    self.graph.block_mut(at).term = term;
                }
                let own = if is_last { params.to_vec() } else { self.graph.block(stay.block).params.clone() };
                self.renamed.extend(own.into_iter().zip(args));
                at = next;
            }
        }
        first
    }

    /// Does an op in the present round, at the end of a block: sums of sums are one.
    fn op(&mut self, at: BlockId, mut op: Op) {
        self.renamed.uses(&mut op);
        let sum = match (op.opcode, &op.args[..]) {
            (Opcode::IntAdd, [Operand::Value(of), Operand::Const(Const::Int(by))]) => Some((*of, *by)),
            (Opcode::IntSub, [Operand::Value(of), Operand::Const(Const::Int(by))]) => Some((*of, by.wrapping_neg())),
            _ => None,
        };
        let sum = sum.map(|(of, by)| {
            let (root, before) = self.sums.get(&of).copied().unwrap_or((of, 0));
            (root, before.wrapping_add(by))
        });
        if let Some((root, by)) = sum {
            let there = if by == 0 { Some(root.into()) } else { self.made.get(&(root, by)).copied() };
            if let Some(there) = there {
                self.renamed.insert(op.results[0], there);
                self.sums.extend(there.value().map(|value| (value, (root, by))));
                return;
            }
            (op.opcode, op.args) = added(root.into(), by);
        }
        self.renamed.results(self.graph, &mut op);
        if let Some(sum) = sum {
            self.sums.insert(op.results[0], sum);
            self.made.insert(sum, op.results[0].into());
        }
        self.graph.block_mut(at).ops.push(op);
    }
}

/// The op that adds a constant.
fn added(to: Operand, by: i64) -> (Opcode, SmallVec<[Operand; 3]>) {
    match by.checked_neg() {
        Some(less) if less > 0 => (Opcode::IntSub, smallvec![to, Operand::int(less)]),
        _ => (Opcode::IntAdd, smallvec![to, Operand::int(by)]),
    }
}

/// The edge of a round that stays in the loop, or leads to its next round.
fn stays_of<'t>(term: &'t Terminator, body: &[BlockId], onward: BlockId) -> Option<&'t Edge> {
    term.edges().find(|edge| edge.block == onward || body.binary_search(&edge.block).is_ok())
}
