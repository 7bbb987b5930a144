//! Peeling: the first round of a loop is done before it, where that spares the later ones something.
//!
//! ```text
//! b0: jump b1(v0)                       b0: ..
//! b1(v3): v4 = int_add v3, 10               the same as in b1, of v0; or b4
//!     v5 = uint_lt v4, v1                   jump b1(v9)
//!     branch v5, b2, b4            ->   b1(v3): setarrayitem v2, v3, 0
//! b2: setarrayitem v2, v3, 0                v6 = int_sub v3, 9
//!     v6 = int_sub v3, 9                    ..
//!     v7 = uint_lt v6, v1                   branch v7, b1(v6), b4
//!     branch v7, b1(v6), b4
//! ```
//!
//! Hoisting does as much for the beginning of a round, up to its first effect ([`super::hoist`]). Here the whole round is copied (H. Ardö, C. F. Bolz,
//! M. Fijałkowski, "Loop-aware optimizations in PyPy's tracing JIT", 2012). What pays for that are tests and loads that each round comes by:
//!
//! - a test that gives the same in each round, and leaves the loop on one side;
//! - a load of what the loop doesn't change;
//! - a check of an index of which each round says that it holds in the next one, as the forward walk has seen ([`Rounds`]).
//!
//! Behind the copy all three are known in the loop: what was tested goes on, what was loaded is there. The innermost loops alone are copied, if they are small, and call nothing.

use super::conditions::below;
use super::copies::{UsedBehind, enter_copies, rename_own, rename_uses, values};
use super::dominators::Dominators;
use super::flow::takes;
use super::known::Known;
use super::loops::{Unchanged, body, latches};
use super::unroll::{ROUNDS, Scan};
use flowgraph::ir::{BlockId, Effect, Graph, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Loops of more ops, or more blocks, aren't copied.
const OPS: usize = 48;
const BLOCKS: usize = 16;

/// What a forward walk sees of rounds of loops.
pub(super) struct Rounds {
    latches: FxHashMap<BlockId, SmallVec<[BlockId; 2]>>,
    /// By parameter of a loop's head: that.
    heads: FxHashMap<ValueId, BlockId>,
    /// By head: checks that the loop makes of what it is handed.
    checks: FxHashMap<BlockId, Vec<Check>>,
    /// By condition: checks that loops begin with, of which that of a later round says that the ones before it hold.
    scans: FxHashMap<ValueId, Scan>,
}

/// What a walk has seen of a graph's loops.
#[derive(Debug, Default)]
pub struct Loops {
    /// Whether there are any.
    pub(super) are_there: bool,
    /// Conditions of checks of which each round says that they hold in the next one, if the length is the same there: that, and what the condition is where the check holds.
    pub(super) carried: FxHashMap<ValueId, (Operand, bool)>,
    /// By condition: checks that loops begin with, of which that of a later round says that the ones before it hold.
    pub(super) scans: FxHashMap<ValueId, Scan>,
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

impl Rounds {
    pub(super) fn new(graph: &Graph, tree: &Dominators) -> Rounds {
        let latches = if tree.has_loops { latches(graph, tree) } else { FxHashMap::default() };
        let params = latches.keys().flat_map(|head| graph.block(*head).params.iter().map(|param| (*param, *head)));
        Rounds { heads: params.collect(), latches, checks: FxHashMap::default(), scans: FxHashMap::default() }
    }

    /// The walk has come to the end of a block.
    pub(super) fn sees(&mut self, graph: &Graph, tree: &Dominators, known: &mut Known, block: BlockId) {
        if self.heads.is_empty() {
            return;
        }
        let term = &graph.block(block).term;
        if let Terminator::Branch { cond: Operand::Value(cond), .. } = term
            && let Some((head, check)) = self.check(graph, known, *cond)
        {
            if head == block
                && let Some(scan) = self.scan(graph, known, head, &check)
            {
                self.scans.insert(*cond, scan);
            }
            self.checks.entry(head).or_default().push(check);
        }
        for (side, edge) in term.edges().enumerate().filter(|(_, edge)| tree.dominates(edge.block, block)) {
            let Some(checks) = self.checks.get_mut(&edge.block) else { continue };
            let mark = known.mark();
            if takes(term, side, known) {
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
    }

    /// The check of an index that a condition is, if it is one, and whose parameter that counts from.
    fn check(&self, graph: &Graph, known: &Known, cond: ValueId) -> Option<(BlockId, Check)> {
        let definition = known.definition(cond)?;
        let below = |holds| below(definition.opcode, &definition.args, holds).map(|found| (found, holds));
        let ((index, length), holds) = [true, false].into_iter().find_map(below)?;
        let (param, offset) = known.offset_of(index)?;
        let head = *self.heads.get(&param)?;
        let param = graph.block(head).params.iter().position(|other| *other == param)?;
        Some((head, Check { cond, param, offset, length, holds, held: 0 }))
    }

    /// The check that a loop begins with, if that of a later round says that those before it hold.
    fn scan(&self, graph: &Graph, known: &mut Known, head: BlockId, check: &Check) -> Option<Scan> {
        let [latch] = self.latches[&head][..] else { return None };
        let param = graph.block(head).params[check.param];
        let back = graph.block(latch).term.edges().find(|edge| edge.block == head)?;
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

    /// The conditions of checks of which each round says that they hold in the next one.
    fn carried(&self) -> FxHashMap<ValueId, (Operand, bool)> {
        let all =
            self.checks.iter().flat_map(|(head, checks)| checks.iter().map(|check| (self.latches[head].len(), check)));
        all.filter(|(rounds, check)| check.held == *rounds)
            .map(|(_, check)| (check.cond, (check.length, check.holds)))
            .collect()
    }

    /// What has been seen.
    pub(super) fn found(self) -> Loops {
        Loops { are_there: !self.latches.is_empty(), carried: self.carried(), scans: self.scans }
    }
}

/// A loop whose first round is done before it.
pub(super) struct Plan {
    /// Its blocks, sorted.
    pub body: Vec<BlockId>,
    pub head: BlockId,
    pub used_behind: UsedBehind,
    spares: Spares,
}

/// What rounds needn't do behind the first one.
#[derive(Default)]
struct Spares {
    /// Blocks with the one side of their branches that is taken.
    tests: Vec<(BlockId, usize)>,
    /// What is loaded.
    loads: Vec<ValueId>,
}

impl std::fmt::Display for Spares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let (tests, loads) = (self.tests.len(), self.loads.len());
        match (tests, loads) {
            (_, 0) => write!(f, "{tests} test{}", s(tests)),
            (0, _) => write!(f, "{loads} load{}", s(loads)),
            _ => write!(f, "{tests} test{}, {loads} load{}", s(tests), s(loads)),
        }
    }
}

impl Plan {
    /// What is done, and why.
    pub(super) fn told(&self) -> (String, String) {
        (format!("{}: {}", self.head, self.spares), "the first round does it for all".to_owned())
    }

    /// All values of a round: there will be two of each.
    pub(super) fn own(&self, graph: &Graph) -> Vec<ValueId> {
        self.body.iter().flat_map(|block| values(graph.block(*block))).collect()
    }
}

/// The loops whose first rounds are worth doing before them, but for those with these heads.
pub(super) fn plans(
    graph: &Graph,
    tree: &Dominators,
    latches: &FxHashMap<BlockId, SmallVec<[BlockId; 2]>>,
    loops: &Loops,
    but_for: impl Fn(BlockId) -> bool,
) -> Vec<Plan> {
    let mut unchanged = Unchanged::new(graph, tree);
    let mut found = Vec::new();
    for head in graph.block_ids().skip(1) {
        let Some(latches_of_it) = latches.get(&head).filter(|_| !but_for(head)) else { continue };
        let Some(mut body) = body(head, latches_of_it, tree) else { continue };
        let is_innermost = || body.iter().all(|block| *block == head || !latches.contains_key(block));
        if body.len() > BLOCKS || !is_innermost() || !is_copied(graph, &body) {
            continue;
        }
        body.sort_unstable_by_key(|block| tree.place(*block));
        let comes_by = |block: BlockId| latches_of_it.iter().all(|latch| tree.dominates(block, *latch));
        let spares = spares(graph, &mut unchanged, head, &body, loops, comes_by);
        body.sort_unstable();
        if !(spares.tests.is_empty() && spares.loads.is_empty()) {
            found.push(Plan { body, head, used_behind: UsedBehind::new(), spares });
        }
    }
    found
}

/// Does first rounds of loops before them, behind which it has been seen to that there may be two of their values.
pub(super) fn peel(graph: &mut Graph, plans: &[Plan]) {
    let before = graph.blocks.len();
    let origins: Vec<(usize, BlockId)> =
        plans.iter().enumerate().flat_map(|(at, plan)| plan.body.iter().map(move |block| (at, *block))).collect();
    let copies: Vec<_> = plans.iter().map(|plan| (plan.head, &plan.body[..], copy(graph, plan))).collect();
    enter_copies(graph, before, &origins, &copies);
}

/// Whether a round may be done twice, as far as its size goes, and what it does.
fn is_copied(graph: &Graph, body: &[BlockId]) -> bool {
    let mut ops = body.iter().flat_map(|block| &graph.block(*block).ops);
    ops.clone().count() <= OPS
        && ops.all(|op| {
            matches!(op.opcode.effect(), Effect::Pure | Effect::Read | Effect::Write | Effect::ElidableCall)
                || op.opcode == Opcode::Likely
        })
        && body.iter().all(|block| !matches!(graph.block(*block).term, Terminator::Switch { promotion: true, .. }))
}

/// What rounds needn't do behind the first one. The blocks of `body` stand behind what leads to them; `comes_by` says whether each round
/// does so to one.
fn spares(
    graph: &Graph,
    unchanged: &mut Unchanged,
    head: BlockId,
    body: &[BlockId],
    loops: &Loops,
    comes_by: impl Fn(BlockId) -> bool,
) -> Spares {
    let mut spares = Spares::default();
    let mut same: FxHashSet<ValueId> = FxHashSet::default();
    for id in body {
        let block = graph.block(*id);
        for op in &block.ops {
            let stays = match op.opcode.effect() {
                Effect::Pure => true,
                Effect::Read => comes_by(*id) && unchanged.stays(op, body),
                _ => false,
            };
            if stays && op.args.iter().all(|arg| unchanged.is_same(*arg, head, &same)) {
                same.extend(&op.results);
                spares.loads.extend(op.results.iter().filter(|_| op.opcode.effect() == Effect::Read));
            }
        }
        let Terminator::Branch { cond: Operand::Value(cond), .. } = &block.term else { continue };
        let stay = || block.term.edges().position(|edge| body.contains(&edge.block));
        let leaves = || block.term.edges().any(|edge| !body.contains(&edge.block));
        let carried = loops.carried.get(cond).filter(|(length, _)| unchanged.is_same(*length, head, &same));
        let side = match carried {
            Some((_, holds)) => Some(usize::from(!holds)),
            None if comes_by(*id) && leaves() && unchanged.is_same((*cond).into(), head, &same) => stay(),
            None => None,
        };
        spares.tests.extend(side.map(|side| (*id, side)));
    }
    spares
}

/// Copies a round, which leads into the loop, and spares that what the copy does for it. Gives the copy's first block.
fn copy(graph: &mut Graph, plan: &Plan) -> BlockId {
    let first = graph.blocks.len() as u32;
    let mut renamed: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut blocks: Vec<_> = plan.body.iter().map(|block| graph.block(*block).clone()).collect();
    blocks.iter_mut().for_each(|block| rename_own(graph, block, &mut renamed, |_| false));
    let number = |block: BlockId| plan.body.binary_search(&block).ok().map(|at| BlockId(first + at as u32));
    for block in &mut blocks {
        rename_uses(block, &renamed);
        for edge in block.term.edges_mut().filter(|edge| edge.block != plan.head) {
            edge.block = number(edge.block).unwrap_or(edge.block);
        }
    }
    for (block, side) in &plan.spares.tests {
        let taken = graph.block(*block).term.edges().nth(*side).cloned();
        if let Some(edge) = taken {
            graph.block_mut(*block).term = Terminator::Jump(edge);
        }
    }
    let loads = &plan.spares.loads;
    let loaded = loads.iter().map(|value| (*value, renamed[value])).collect();
    for block in &plan.body {
        let block = graph.block_mut(*block);
        block.ops.retain(|op| op.results.first().is_none_or(|result| !loads.contains(result)));
        rename_uses(block, &loaded);
    }
    graph.blocks.extend(blocks);
    number(plan.head).unwrap_or(plan.head)
}
