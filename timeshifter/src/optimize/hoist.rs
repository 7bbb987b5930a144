//! Hoisting: what is the same in each round of a loop is done once, before it.
//!
//! As long as a round has done nothing but compute, load and test whether to leave the loop, its beginning can be done twice: so it is copied
//! before the loop, up to the last test, load or costly op that always gives the same. Ops that do move there, and branches on what they give: behind
//! those before the loop the ones in it are decided. Of the rest of the copy what nobody needs goes. Nothing
//! comes before the test that guards it, and a test that fails before the loop leaves as the first round would have.
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
//! It is a loop peeled (as in H. Ardö, C. F. Bolz, M. Fijałkowski, "Loop-aware optimizations in PyPy's tracing JIT", 2012), but no further than
//! its first effect: what a round stores, it stores in the loop.

use super::dominators::Dominators;
use super::joins::definitions;
use super::known::Known;
use super::loops::{body, latches};
use super::memory::{Place, one_way};
use super::rewrites::{Kind, Rewrites};
use flowgraph::ir::{Block, BlockId, Edge, Effect, Graph, MemKind, Op, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Of the beginning of a round no more ops are copied than these.
const OPS: usize = 64;

/// A load isn't held against more writes than these.
const WRITES: usize = 16;

/// Behind a loop no more values are handed on, from block to block, than these.
const HANDED_ON: usize = 256;

/// Puts before loops what is the same in each of their rounds. Gives whether there was anything.
pub(super) fn hoist(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let tree = Dominators::new(graph);
    if !tree.has_loops {
        return false;
    }
    let mut plans = plans(graph, &tree);
    plans.retain(|plan| {
        let change = || (format!("{}: {}", plan.head(), plan.found), "it is the same in each round".to_owned());
        rewrites.may(Kind::Hoisted, graph.block(plan.head()).loc, change)
    });
    for plan in &plans {
        hand_on(graph, plan);
    }
    let before = graph.blocks.len();
    let copies: Vec<BlockId> = plans.iter().map(|plan| copy(graph, plan)).collect();
    // A copy's blocks are inside of the loops that its own loop is inside of.
    let origins: Vec<(usize, BlockId)> =
        plans.iter().enumerate().flat_map(|(at, plan)| plan.chain.iter().map(move |block| (at, *block))).collect();
    let heads: FxHashMap<BlockId, usize> = plans.iter().enumerate().map(|(at, plan)| (plan.head(), at)).collect();
    for at in 0..graph.blocks.len() {
        // By which plan a block is a copy, if it is, and of what.
        let (of, origin) = match at.checked_sub(before) {
            Some(copied) => (Some(origins[copied].0), origins[copied].1),
            None => (None, BlockId(at as u32)),
        };
        for edge in graph.blocks[at].term.edges_mut() {
            if let Some(plan) = heads.get(&edge.block).copied()
                && of != Some(plan)
                && plans[plan].body.binary_search(&origin).is_err()
            {
                edge.block = copies[plan];
            }
        }
    }
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
    /// By value that the chain computes, doesn't move, and somebody uses behind the loop: the blocks there that need it.
    used_behind: Vec<(ValueId, Vec<BlockId>)>,
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
    let mut search = Search { graph, tree, one_way, defined: definitions(graph), known: None };
    let mut found = Vec::new();
    for head in graph.block_ids().skip(1) {
        if let Some(latches) = latches.get(&head)
            && let Some(body) = body(head, latches, tree)
        {
            found.extend(search.plan(head, body));
        }
    }
    let chained: FxHashMap<ValueId, usize> = (0..)
        .zip(&found)
        .flat_map(|(at, plan)| plan.chain.iter().map(move |block| (at, block)))
        .flat_map(|(at, block)| values(graph.block(*block)).map(move |value| (value, at)))
        .collect();
    let mut users: FxHashMap<ValueId, Vec<BlockId>> = FxHashMap::default();
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for value in uses(block) {
            if let Some(plan) = chained.get(&value)
                && found[*plan].body.binary_search(&id).is_err()
            {
                users.entry(value).or_default().push(id);
            }
        }
    }
    let mut kept = Vec::new();
    for mut plan in found {
        let mut handed_on = 0;
        let own = plan.chain.iter().flat_map(|block| values(graph.block(*block)));
        for value in own.filter(|value| users.contains_key(value) && !plan.moved.contains(value)) {
            let needs = needing(&users[&value], &plan.body, tree);
            handed_on += needs.len();
            if handed_on > HANDED_ON {
                break;
            }
            plan.used_behind.push((value, needs));
        }
        if handed_on <= HANDED_ON {
            kept.push(plan);
        }
    }
    kept
}

/// Looks for what is the same in each round of a loop.
struct Search<'g> {
    graph: &'g Graph,
    tree: &'g Dominators,
    one_way: Vec<bool>,
    /// By value: the block that computes it.
    defined: Vec<BlockId>,
    known: Option<Known>,
}

impl Search<'_> {
    /// What can be done before a loop, if that is worth it.
    fn plan(&mut self, head: BlockId, body: Vec<BlockId>) -> Option<Plan> {
        let mut chain = vec![head];
        let mut same: FxHashSet<ValueId> = FxHashSet::default();
        let mut decided: FxHashSet<BlockId> = FxHashSet::default();
        let (mut found, mut copied, mut varying) = (Found::default(), 0, 0);
        // What has been found last: how many blocks of the chain there were, where the last of them is cut, all that had been found, and the
        // tests before it that aren't the same in each round: they are made once more.
        let mut last = None;
        'chain: loop {
            let at = chain[chain.len() - 1];
            let block = self.graph.block(at);
            for (number, op) in block.ops.iter().enumerate() {
                copied += 1;
                if copied > OPS || matches!(op.opcode.effect(), Effect::Write | Effect::Call | Effect::Allocate) {
                    break 'chain;
                }
                if !op.args.iter().all(|arg| self.is_same(*arg, head, &same)) {
                    continue;
                }
                match op.opcode.effect() {
                    Effect::Pure if is_costly(op) => found.ops += 1,
                    Effect::Pure => {
                        same.extend(&op.results);
                        continue;
                    }
                    Effect::ElidableCall => found.ops += 1,
                    Effect::Read if self.stays(op, &body) => found.loads += 1,
                    _ => continue,
                }
                same.extend(&op.results);
                last = Some((chain.len(), Some(number + 1), found, varying));
            }
            let mut stays = block.term.edges().filter(|edge| body.binary_search(&edge.block).is_ok());
            let (Some(Edge { block: next, .. }), None) = (stays.next(), stays.next()) else { break };
            let next = *next;
            if let Terminator::Branch { cond: tested, .. } | Terminator::Switch { value: tested, .. } = &block.term {
                if tested.value().is_some() && self.is_same(*tested, head, &same) {
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

    /// Whether an operand is the same in each round of the loop with this head.
    fn is_same(&self, operand: Operand, head: BlockId, same: &FxHashSet<ValueId>) -> bool {
        operand
            .value()
            .is_none_or(|value| same.contains(&value) || !self.tree.dominates(head, self.defined[value.index()]))
    }

    /// Whether a loop doesn't write where an op loads from.
    fn stays(&mut self, op: &Op, body: &[BlockId]) -> bool {
        if op.mem().is_some_and(|desc| desc.kind == MemKind::Immutable) {
            return true;
        }
        let known = self.known.get_or_insert_with(|| Known::new(self.graph));
        let Some(place) = Place::of(op, known) else { return false };
        let ops = body.iter().flat_map(|block| &self.graph.block(*block).ops);
        let mut writes = ops.filter(|op| matches!(op.opcode.effect(), Effect::Write | Effect::Call));
        for _ in 0..WRITES {
            let Some(write) = writes.next() else { return true };
            match Place::of(write, known).filter(|_| write.opcode.effect() == Effect::Write) {
                Some(written) if !place.may_touch(&written) => {}
                _ => return false,
            }
        }
        false
    }
}

/// Whether an op that only computes is worth a copy of what stands before it. The code generator moves others.
fn is_costly(op: &Op) -> bool {
    use Opcode as O;
    matches!(op.opcode, O::IntFloordiv | O::IntMod | O::UintFloordiv | O::UintMod) && op.args[1].value().is_some()
}

/// The blocks behind a loop that a value of it comes to for the sake of these users.
fn needing(users: &[BlockId], body: &[BlockId], tree: &Dominators) -> Vec<BlockId> {
    let mut needing: Vec<BlockId> = Vec::new();
    let mut todo = users.to_vec();
    while let Some(at) = todo.pop() {
        if needing.len() > HANDED_ON {
            break; // too many, which is noticed
        }
        if body.binary_search(&at).is_ok() || needing.contains(&at) {
            continue;
        }
        needing.push(at);
        todo.extend_from_slice(tree.leading_to(at));
    }
    needing
}

/// Hands what is used behind a loop on from block to block: of each there will be two.
fn hand_on(graph: &mut Graph, plan: &Plan) {
    for (value, needing) in &plan.used_behind {
        let info = graph.values[value.index()];
        let params: FxHashMap<BlockId, ValueId> =
            needing.iter().map(|block| (*block, graph.new_value(info.ty))).collect();
        // Only what needs it and the loop itself lead to what needs it.
        for at in needing.iter().chain(&plan.body) {
            let own = params.get(at).copied();
            let block = graph.block_mut(*at);
            if let Some(own) = own {
                rename(block, &mut |operand| {
                    if *operand == Operand::Value(*value) {
                        *operand = own.into();
                    }
                });
                block.params.push(own);
            }
            for edge in block.term.edges_mut().filter(|edge| params.contains_key(&edge.block)) {
                edge.args.push(own.unwrap_or(*value).into());
            }
        }
    }
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
        let results = block.ops.iter_mut().filter(|op| !moves(op)).flat_map(|op| op.results.iter_mut());
        for value in block.params.iter_mut().chain(results) {
            let new = graph.new_value(graph.values[value.index()].ty);
            renamed.insert(*value, new);
            *value = new;
        }
        rename(&mut block, &mut |operand| {
            if let Operand::Value(value) = operand
                && let Some(new) = renamed.get(value)
            {
                *value = *new;
            }
        });
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

fn rename(block: &mut Block, rename: &mut impl FnMut(&mut Operand)) {
    block.ops.iter_mut().flat_map(|op| op.args.iter_mut()).for_each(&mut *rename);
    block.term.for_each_operand_mut(rename);
}

fn values(block: &Block) -> impl Iterator<Item = ValueId> {
    block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)).copied()
}

/// The values that a block uses, each as often as it does.
fn uses(block: &Block) -> impl Iterator<Item = ValueId> {
    let handed_over = block.term.edges().flat_map(|edge| edge.args.iter().copied());
    let own = block.ops.iter().flat_map(|op| op.args.iter().copied()).chain(block.term.operands());
    own.chain(handed_over).filter_map(|operand| operand.value())
}
