//! Hoisting: what is the same in each round of a loop is done once, before it.
//!
//! As long as a round has done nothing but compute, load and test whether to leave the loop, its beginning can be done
//! twice: so it is copied before the loop, up to the last test, load or costly op that always gives the same. Ops that
//! do move there, and branches on what they give: behind those before the loop the ones in it are decided. Of the rest
//! of the copy what nobody needs goes. Nothing comes before the test that guards it, and a test that fails before the
//! loop leaves as the first round would have.
//!
//! ```text
//! b0: jump b1(0)                          b0: v2 = uint_lt 1, v0
//! b1(v1):                                     branch v2, b1(0), b3(0)
//!     v2 = uint_lt 1, v0           ->     b1(v1):
//!     branch v2, b2, b3(v1)                   v4 = int_add v1, 1
//! b2: v4 = int_add v1, 1                      ..
//!     ..                                  b3(v3):
//! b3(v3): exit 0(v3)                          exit 0(v3)
//! ```
//!
//! It is a loop peeled (as in H. Ardö, C. F. Bolz, M. Fijałkowski, "Loop-aware optimizations in PyPy's tracing JIT",
//! 2012), but no further than its first effect: what a round stores, it stores in the loop.

use super::copies::{UsedBehind, enter_copies, hand_on, rename_own, rename_uses, used_behind, values};
use crate::optimize::facts::memory::one_way;
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::graph::loops::{Unchanged, body, latches};
use crate::optimize::rewrites::{Kind, Rewrites};
use flowgraph::ir::{BlockId, Edge, Effect, Graph, Op, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of the beginning of a round no more ops are copied than these.
const OPS: usize = 64;

/// Puts before loops what is the same in each of their rounds. Gives whether there was anything.
pub(crate) fn hoist(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let tree = Dominators::new(graph);
    if !tree.has_loops() {
        return false;
    }
    let mut plans = plans(graph, &tree);
    plans.retain(|plan| {
        let change = || (format!("{}: {}", plan.head(), plan.found), "it is the same in each round".to_owned());
        rewrites.may(Kind::Hoisted, graph.block(plan.head()).loc, change)
    });
    plans.iter().for_each(|plan| hand_on(graph, &plan.body, &plan.used_behind));
    let before = graph.blocks.len();
    let origins: Vec<(usize, BlockId)> =
        plans.iter().enumerate().flat_map(|(at, plan)| plan.chain.iter().map(move |block| (at, *block))).collect();
    let copies: Vec<_> = plans.iter().map(|plan| (plan.head(), &plan.body[..], copy(graph, plan))).collect();
    enter_copies(graph, before, &origins, &copies);
    !plans.is_empty()
}

/// What is done before a loop.
struct Plan {
    /// The blocks of the loop, sorted.
    body: Vec<BlockId>,
    /// The blocks that a round begins with, the loop's head first. One leads to the next, and else out of the loop.
    chain: Vec<BlockId>,
    /// So many ops of the chain's last block are copied, if not all of it and its test.
    cut: Option<usize>,
    /// What the ops give that move.
    moved: FxHashSet<ValueId>,
    /// The blocks of the chain whose test gives the same in each round.
    decided: FxHashSet<BlockId>,
    /// By value that the chain computes, doesn't move, and somebody uses behind the loop: the blocks there that need
    /// it.
    used_behind: UsedBehind,
    /// What is the same in each round, in words.
    found: String,
}

impl Plan {
    fn head(&self) -> BlockId {
        self.chain[0]
    }

    /// How many ops of a block of the chain are copied or moved.
    fn ops(&self, graph: &Graph, at: usize) -> usize {
        self.cut.filter(|_| at + 1 == self.chain.len()).unwrap_or(graph.block(self.chain[at]).ops.len())
    }
}

/// How much is the same in each round.
#[derive(Clone, Copy, Default)]
struct Found {
    tests: usize,
    loads: usize,
    ops: usize,
}

impl Found {
    fn count(self) -> usize {
        self.tests + self.loads + self.ops
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut first = true;
        for (count, one, more) in
            [(self.tests, "test", "tests"), (self.loads, "load", "loads"), (self.ops, "op", "ops")]
        {
            if count > 0 {
                let comma = if std::mem::take(&mut first) { "" } else { ", " };
                write!(f, "{comma}{count} {}", if count == 1 { one } else { more })?;
            }
        }
        Ok(())
    }
}

fn plans(graph: &Graph, tree: &Dominators) -> Vec<Plan> {
    let latches = latches(graph, tree);
    let one_way = one_way(graph);
    let mut search = Search { graph, one_way, unchanged: Unchanged::new(graph, tree) };
    let mut found = Vec::new();
    for head in graph.block_ids().skip(1) {
        if let Some(latches) = latches.get(&head)
            && let Some(body) = body(head, latches, tree)
        {
            found.extend(search.plan(head, body));
        }
    }
    let copied = |plan: &Plan| {
        let own = plan.chain.iter().flat_map(|block| values(graph.block(*block)));
        own.filter(|value| !plan.moved.contains(value)).collect()
    };
    let loops: Vec<(&[BlockId], Vec<ValueId>)> = found.iter().map(|plan| (&plan.body[..], copied(plan))).collect();
    let used = used_behind(graph, tree, &loops);
    let kept = found.into_iter().zip(used).filter_map(|(plan, used)| Some(Plan { used_behind: used?, ..plan }));
    kept.collect()
}

/// Looks for what is the same in each round of a loop.
struct Search<'g> {
    graph: &'g Graph,
    one_way: Vec<bool>,
    unchanged: Unchanged<'g>,
}

impl Search<'_> {
    /// What can be done before a loop, if that is worth it.
    fn plan(&mut self, head: BlockId, body: Vec<BlockId>) -> Option<Plan> {
        let mut chain = vec![head];
        let mut same: FxHashSet<ValueId> = FxHashSet::default();
        let mut decided: FxHashSet<BlockId> = FxHashSet::default();
        let (mut found, mut copied, mut varying) = (Found::default(), 0, 0);
        // What has been found last: how many blocks of the chain there were, where the last of them is cut, all that
        // had been found, and the tests before it that aren't the same in each round: they are made once more.
        let mut last = None;
        'chain: loop {
            let at = chain[chain.len() - 1];
            let block = self.graph.block(at);
            for (number, op) in block.ops.iter().enumerate() {
                copied += 1;
                if copied > OPS || matches!(op.opcode.effect(), Effect::Write | Effect::Call | Effect::Allocate) {
                    break 'chain;
                }
                if !op.args.iter().all(|arg| self.unchanged.is_same(*arg, head, &same)) {
                    continue;
                }
                match op.opcode.effect() {
                    Effect::Pure if is_costly(op) => found.ops += 1,
                    Effect::Pure => {
                        same.extend(&op.results);
                        continue;
                    }
                    Effect::ElidableCall => found.ops += 1,
                    Effect::Read if self.unchanged.stays(op, &body) => found.loads += 1,
                    _ => continue,
                }
                same.extend(&op.results);
                last = Some((chain.len(), Some(number + 1), found, varying));
            }
            let mut stays = block.term.edges().filter(|edge| body.binary_search(&edge.block).is_ok());
            let (Some(Edge { block: next, .. }), None) = (stays.next(), stays.next()) else { break };
            let next = *next;
            if let Terminator::Branch { cond: tested, .. } | Terminator::Switch { value: tested, .. } = &block.term {
                if tested.value().is_some() && self.unchanged.is_same(*tested, head, &same) {
                    found.tests += 1;
                    decided.insert(at);
                    last = Some((chain.len(), None, found, varying));
                } else {
                    varying += 1;
                }
            }
            if next == head || !self.one_way[next.index()] {
                break;
            }
            chain.push(next);
        }
        let (blocks, cut, found, _) = last.filter(|(.., found, varying)| *varying <= 2 * found.count())?;
        chain.truncate(blocks);
        let moved = FxHashSet::default();
        let mut plan = Plan { body, chain, cut, moved, decided, used_behind: Vec::new(), found: found.to_string() };
        for (at, block) in plan.chain.iter().enumerate() {
            let ops = &self.graph.block(*block).ops[..plan.ops(self.graph, at)];
            plan.moved.extend(ops.iter().flat_map(|op| &op.results).filter(|value| same.contains(value)));
        }
        Some(plan)
    }
}

/// Whether an op that only computes is worth a copy of what stands before it: a division, that comes with the check of
/// its divisor. Others move alone ([`super::invariant`]).
fn is_costly(op: &Op) -> bool {
    use Opcode as O;
    matches!(op.opcode, O::IntFloordiv | O::IntMod | O::UintFloordiv | O::UintMod) && op.args[1].value().is_some()
}

/// Copies the beginning of a round; what is the same in each moves. Gives the copy's first block.
fn copy(graph: &mut Graph, plan: &Plan) -> BlockId {
    let moves = |op: &Op| op.results.first().is_some_and(|result| plan.moved.contains(result));
    let mut renamed: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let first = graph.blocks.len() as u32;
    let number = |at: usize| BlockId(first + at as u32);
    let mut into_loop: Vec<Operand> = Vec::new();
    for (at, id) in plan.chain.iter().enumerate() {
        let mut block = graph.block(*id).clone();
        let stays = |edge: &Edge| plan.body.binary_search(&edge.block).is_ok();
        if plan.decided.contains(id)
            && let Some(edge) = block.term.edges().find(|edge| stays(edge))
        {
            graph.block_mut(*id).term = Terminator::Jump(edge.clone());
        }
        let is_last = at + 1 == plan.chain.len();
        block.ops.truncate(plan.ops(graph, at));
        graph.block_mut(*id).ops.retain(|op| !moves(op));
        rename_own(graph, &mut block, &mut renamed, |value| plan.moved.contains(&value));
        rename_uses(&mut block, &renamed);
        if at == 0 {
            into_loop = block.params.iter().copied().map(Operand::Value).collect();
        }
        let loop_again = Edge { block: plan.head(), args: into_loop.iter().copied().collect() };
        if is_last && plan.cut.is_some() {
            block.term = Terminator::Jump(loop_again);
        } else {
            for edge in block.term.edges_mut().filter(|edge| stays(edge)) {
                if is_last {
                    *edge = loop_again.clone();
                } else {
                    edge.block = number(at + 1);
                }
            }
        }
        graph.blocks.push(block);
    }
    number(0)
}
