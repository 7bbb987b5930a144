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
//! Hoisting does as much for the beginning of a round, up to its first effect ([`super::hoist`]). Here the whole round
//! is copied (H. Ardö, C. F. Bolz, M. Fijałkowski, "Loop-aware optimizations in PyPy's tracing JIT", 2012). What pays
//! for that are tests and loads that each round comes by:
//!
//! - a test that gives the same in each round, and leaves the loop on one side;
//! - a load of what the loop doesn't change;
//! - a check of an index of which each round says that it holds in the next one, as has been seen ([`RoundFacts`]);
//! - a parameter for which each round hands over the same, which was something else before the first one.
//!
//! Behind the copy all four are known in the loop: what was tested goes on, what was loaded is there, and a parameter
//! that is always the same goes. The innermost loops alone are copied, if they are small, and call nothing.

use super::copies::{Innermost, UsedBehind, enter_copies, rename_own, rename_uses, values};
use super::rounds::RoundFacts;
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::graph::loops::Unchanged;
use flowgraph::ir::{BlockId, Effect, Graph, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops of more ops aren't copied.
const OPS: usize = 48;

/// A loop whose first round is done before it.
pub(crate) struct Plan {
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
    /// So many parameters.
    params: usize,
}

impl std::fmt::Display for Spares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [("test", self.tests.len()), ("load", self.loads.len()), ("parameter", self.params)];
        let spared = all.iter().filter(|(_, count)| *count > 0);
        let counted: Vec<String> =
            spared.map(|(what, count)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" })).collect();
        f.write_str(&counted.join(", "))
    }
}

impl Plan {
    /// What is done, and why.
    pub(crate) fn told(&self) -> (String, String) {
        (format!("{}: {}", self.head, self.spares), "the first round does it for all".to_owned())
    }

    /// All values of a round: there will be two of each.
    pub(crate) fn own(&self, graph: &Graph) -> Vec<ValueId> {
        self.body.iter().flat_map(|block| values(graph.block(*block))).collect()
    }
}

/// Which of these loops have first rounds that are worth doing before them.
pub(crate) fn plans<'l>(
    graph: &Graph,
    tree: &Dominators,
    loops: impl Iterator<Item = &'l Innermost>,
    facts: &RoundFacts,
) -> Vec<Plan> {
    let mut unchanged = Unchanged::new(graph, tree);
    let mut found = Vec::new();
    for one in loops.filter(|one| is_copied(graph, &one.body)) {
        let mut body = one.body.clone();
        body.sort_unstable_by_key(|block| tree.place(*block));
        let comes_by = |block: BlockId| one.latches.iter().all(|latch| tree.dominates(block, *latch));
        let mut spares = spares(graph, &mut unchanged, one.head, &body, facts, comes_by);
        spares.params = settled(graph, &unchanged, one);
        body.sort_unstable();
        if !(spares.tests.is_empty() && spares.loads.is_empty() && spares.params == 0) {
            found.push(Plan { body, head: one.head, used_behind: UsedBehind::new(), spares });
        }
    }
    found
}

/// Does first rounds of loops before them, behind which it has been seen to that there may be two of their values.
pub(crate) fn peel(graph: &mut Graph, plans: &[Plan]) {
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

/// What rounds needn't do behind the first one. The blocks of `body` stand behind what leads to them; `comes_by` says
/// whether each round does so to one.
fn spares(
    graph: &Graph,
    unchanged: &mut Unchanged,
    head: BlockId,
    body: &[BlockId],
    facts: &RoundFacts,
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
        let carried = facts.carried.get(&(head, *cond)).filter(|(length, _)| unchanged.is_same(*length, head, &same));
        let side = match carried {
            Some((_, holds)) => Some(usize::from(!holds)),
            None if comes_by(*id) && leaves() && unchanged.is_same((*cond).into(), head, &same) => stay(),
            None => None,
        };
        spares.tests.extend(side.map(|side| (*id, side)));
    }
    spares
}

/// For how many parameters each round of a loop hands over the same.
fn settled(graph: &Graph, unchanged: &Unchanged, one: &Innermost) -> usize {
    let edges = || one.latches.iter().flat_map(|latch| graph.block(*latch).term.edges());
    let back = || edges().filter(|edge| edge.block == one.head);
    let is_settled = |at: usize| {
        let mut given = back().map(|edge| edge.args[at]);
        let first = given.next();
        first
            .is_some_and(|first| unchanged.is_same(first, one.head, &FxHashSet::default()) && given.all(|g| g == first))
    };
    (0..graph.block(one.head).params.len()).filter(|at| is_settled(*at)).count()
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
