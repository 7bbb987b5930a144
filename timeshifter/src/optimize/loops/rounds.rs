//! What rounds of loops say of each other: that a check of an index holds in the next round, or that the check of a
//! later round says as much of those before it.
//!
//! It is found of the very graph whose rounds are copied: what holds of one graph needn't of another that does the
//! same, as a loop may have more ways back to its head there, or hand on something else.

use super::copies::Innermost;
use super::unroll::{ROUNDS, Scan};
use crate::optimize::facts::conditions::below;
use crate::optimize::facts::known::Known;
use crate::optimize::forward::flow::{Flow, down, scoped, takes};
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{BlockId, Graph, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

/// What rounds of innermost loops say of each other.
#[derive(Debug, Default)]
pub(crate) struct RoundFacts {
    /// By head and condition: checks of which each round says that they hold in the next one, if the length is the same
    /// there: that, and what the condition is where the check holds.
    pub carried: FxHashMap<(BlockId, ValueId), (Operand, bool)>,
    /// By head: the check that it ends in, of which that of a later round says that the ones before it hold.
    pub scans: FxHashMap<BlockId, Scan>,
}

/// A check that an index, which is so far from a loop's parameter, lies below a length.
struct Check {
    cond: ValueId,
    param: usize,
    offset: i64,
    length: Operand,
    /// What the condition is where it holds.
    holds: bool,
    /// How many ends of rounds say that it holds in the next one.
    held: usize,
}

impl RoundFacts {
    /// What the rounds of these loops say, in a graph whose entry is handed what lies in these bounds.
    pub(crate) fn new(graph: &Graph, tree: &Dominators, loops: &[Innermost], entry: &[IntBound]) -> RoundFacts {
        let params = loops.iter().flat_map(|one| graph.block(one.head).params.iter().map(|param| (*param, one.head)));
        let heads: FxHashMap<ValueId, BlockId> = params.collect();
        let mut known = Known::new(graph);
        let blocks = || loops.iter().flat_map(|one| one.body.iter().copied());
        if !blocks().any(|block| check(graph, &heads, &known, block).is_some()) {
            return RoundFacts::default();
        }
        let leads_to_loop = tree.leading_down_to(blocks());
        let flow = Flow::new(graph, tree, entry, &mut known);
        let seen = loops.iter().map(|one| (one.head, Seen { of: one, checks: Vec::new() })).collect();
        let mut walk = Walk { graph, tree, known, heads, seen, scans: FxHashMap::default() };
        down(tree, |block, marks, depth| {
            leads_to_loop[block.index()] && {
                scoped(&mut walk.known, marks, depth);
                flow.enter(graph, tree, block, &mut walk.known) && {
                    walk.block(block);
                    true
                }
            }
        });
        walk.facts()
    }
}

/// A loop, and the checks that it makes of what it is handed.
struct Seen<'g> {
    of: &'g Innermost,
    checks: Vec<Check>,
}

/// A walk down to innermost loops.
struct Walk<'g> {
    graph: &'g Graph,
    tree: &'g Dominators,
    known: Known,
    /// By parameter of a loop's head: that.
    heads: FxHashMap<ValueId, BlockId>,
    /// By head.
    seen: FxHashMap<BlockId, Seen<'g>>,
    scans: FxHashMap<BlockId, Scan>,
}

impl Walk<'_> {
    /// Goes through a block, and looks at its end for checks, and for what ends of rounds say of those that have been
    /// found.
    fn block(&mut self, block: BlockId) {
        for op in &self.graph.block(block).ops {
            self.known.computes(op);
            self.known.learn_chosen(op);
        }
        if let Some((head, check)) = check(self.graph, &self.heads, &self.known, block)
            && let Some(seen) = self.seen.get_mut(&head)
        {
            if head == block
                && let Some(scan) = scan(self.graph, &mut self.known, seen.of, &check)
            {
                self.scans.insert(head, scan);
            }
            seen.checks.push(check);
        }
        let term = &self.graph.block(block).term;
        for (side, edge) in term.edges().enumerate().filter(|(_, edge)| self.tree.dominates(edge.block, block)) {
            let Some(Seen { checks, .. }) = self.seen.get_mut(&edge.block) else { continue };
            let mark = self.known.mark();
            if takes(term, side, &mut self.known) {
                for check in checks {
                    let within = self.known.within(edge.args[check.param], &[]);
                    let says = |(length, (low, high)): &(Operand, (i64, i64))| {
                        *length == check.length && (*low..=*high).contains(&check.offset)
                    };
                    check.held += usize::from(within.iter().any(says));
                }
            }
            self.known.forget(mark);
        }
    }

    /// What has been seen.
    fn facts(self) -> RoundFacts {
        let carried = |Seen { of, checks }: Seen| {
            let all = checks.into_iter().filter(|check| check.held == of.latches.len());
            all.map(|check| ((of.head, check.cond), (check.length, check.holds))).collect::<Vec<_>>()
        };
        RoundFacts { carried: self.seen.into_values().flat_map(carried).collect(), scans: self.scans }
    }
}

/// The check of an index that a block ends in, if it does, and the head of the loop whose parameter that counts from.
fn check(
    graph: &Graph,
    heads: &FxHashMap<ValueId, BlockId>,
    known: &Known,
    block: BlockId,
) -> Option<(BlockId, Check)> {
    let Terminator::Branch { cond: Operand::Value(cond), .. } = graph.block(block).term else { return None };
    let definition = known.definition(cond)?;
    let below = |holds| below(definition.opcode, &definition.args, holds).map(|found| (found, holds));
    let ((index, length), holds) = [true, false].into_iter().find_map(below)?;
    let (param, offset) = known.offset_of(index)?;
    let head = *heads.get(&param)?;
    let param = graph.block(head).params.iter().position(|other| *other == param)?;
    Some((head, Check { cond, param, offset, length, holds, held: 0 }))
}

/// The check that a loop begins with, if that of a later round says that those before it hold.
fn scan(graph: &Graph, known: &mut Known, of: &Innermost, check: &Check) -> Option<Scan> {
    let [latch] = of.latches[..] else { return None };
    let param = graph.block(of.head).params[check.param];
    let back = graph.block(latch).term.edges().find(|edge| edge.block == of.head)?;
    let (root, step) = known.offset_of(back.args[check.param])?;
    let scan = Scan { param, offset: check.offset, step, length: check.length, by_first: false };
    let last = scan.last().filter(|_| root == param && step != 0)?;
    let earlier = || (0..ROUNDS - 1).map(|round| check.offset + round * step);
    let mut follow = |some: &[i64]| known.follow(param, check.length, some, earlier());
    match follow(&[last]) {
        true => Some(scan),
        false => follow(&[check.offset, last]).then_some(Scan { by_first: true, ..scan }),
    }
}
