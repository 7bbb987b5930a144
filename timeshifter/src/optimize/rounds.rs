//! What rounds of loops say of each other: that a check of an index holds in the next round, or that the check of a later round says as much of those before it.
//!
//! It is found of the very graph whose rounds are copied: what holds of one graph needn't of another that does the same, as a loop may have more ways back to its head
//! there, or hand on something else.

use super::conditions::below;
use super::copies::Innermost;
use super::dominators::Dominators;
use super::flow::{Flow, down, scoped, takes};
use super::int_bound::IntBound;
use super::known::Known;
use super::unroll::{ROUNDS, Scan};
use flowgraph::ir::{BlockId, Graph, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

/// What rounds of innermost loops say of each other.
#[derive(Debug, Default)]
pub(super) struct RoundFacts {
    /// By head and condition: checks of which each round says that they hold in the next one, if the length is the same there: that, and what the condition is where the check
    /// holds.
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

/// A loop, and the checks that it makes of what it is handed.
struct Seen<'l> {
    of: &'l Innermost,
    checks: Vec<Check>,
}

impl RoundFacts {
    /// What the rounds of these loops say, in a graph whose entry is handed what lies in these bounds.
    pub(super) fn new(graph: &Graph, tree: &Dominators, loops: &[Innermost], entry: &[IntBound]) -> RoundFacts {
        let mut scans = FxHashMap::default();
        let mut seen: FxHashMap<BlockId, Seen> =
            loops.iter().map(|one| (one.head, Seen { of: one, checks: Vec::new() })).collect();
        let params = loops.iter().flat_map(|one| graph.block(one.head).params.iter().map(|param| (*param, one.head)));
        let heads: FxHashMap<ValueId, BlockId> = params.collect();
        let mut known = Known::new(graph);
        let makes_check = |block: &BlockId| match &graph.block(*block).term {
            Terminator::Branch { cond: Operand::Value(cond), .. } => check(graph, &heads, &known, *cond).is_some(),
            _ => false,
        };
        if !loops.iter().flat_map(|one| &one.body).any(makes_check) {
            return RoundFacts::default();
        }
        let leads_to_loop = leads_to(tree, loops);
        let flow = Flow::new(graph, tree, entry, &mut known);
        down(tree, |block, marks, depth| {
            if !leads_to_loop[block.index()] {
                return false;
            }
            scoped(&mut known, marks, depth);
            if !flow.enter(graph, tree, block, &mut known) {
                return false;
            }
            for op in &graph.block(block).ops {
                known.computes(op);
                known.learn_chosen(op);
            }
            let term = &graph.block(block).term;
            if let Terminator::Branch { cond: Operand::Value(cond), .. } = term
                && let Some((head, check)) = check(graph, &heads, &known, *cond)
                && let Some(seen) = seen.get_mut(&head)
            {
                if head == block
                    && let Some(scan) = scan(graph, &mut known, seen.of, &check)
                {
                    scans.insert(head, scan);
                }
                seen.checks.push(check);
            }
            for (side, edge) in term.edges().enumerate().filter(|(_, edge)| tree.dominates(edge.block, block)) {
                let Some(Seen { checks, .. }) = seen.get_mut(&edge.block) else { continue };
                let mark = known.mark();
                if takes(term, side, &mut known) {
                    for check in checks {
                        let within = known.within(edge.args[check.param], &[]);
                        let says = |(length, (low, high)): &(Operand, (i64, i64))| {
                            *length == check.length && (*low..=*high).contains(&check.offset)
                        };
                        check.held += usize::from(within.iter().any(says));
                    }
                }
                known.forget(mark);
            }
            true
        });
        let carried = |Seen { of, checks }: Seen| {
            let all = checks.into_iter().filter(|check| check.held == of.latches.len());
            all.map(|check| ((of.head, check.cond), (check.length, check.holds))).collect::<Vec<_>>()
        };
        RoundFacts { carried: seen.into_values().flat_map(carried).collect(), scans }
    }
}

/// By block: whether it is in one of these loops, or dominates a block of one.
fn leads_to(tree: &Dominators, loops: &[Innermost]) -> Vec<bool> {
    let mut leads = vec![false; tree.above.len()];
    loops.iter().flat_map(|one| &one.body).for_each(|block| leads[block.index()] = true);
    for block in tree.bottom_up() {
        if let Some(above) = tree.above[block.index()] {
            leads[above.index()] |= leads[block.index()];
        }
    }
    leads
}

/// The check of an index that a condition is, if it is one, and whose parameter that counts from.
fn check(graph: &Graph, heads: &FxHashMap<ValueId, BlockId>, known: &Known, cond: ValueId) -> Option<(BlockId, Check)> {
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
