//! Copies of blocks of a loop: what they compute is used behind the loop, where there are two of each then.

use super::peel::{self, peel};
use super::rounds::RoundFacts;
use super::unroll::{self, unroll};
use crate::optimize::cleanup::{drop_unreachable, simplify};
use crate::optimize::graph::dominators::Dominators;
use crate::optimize::graph::loops::{body, latches};
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, Rewrites};
use crate::optimize::with_lengths;
use flowgraph::ir::{Block, BlockId, Edge, Graph, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Behind a loop no more values are handed on, from block to block, than these.
const HANDED_ON: usize = 256;

/// By value of a loop that is used behind it: the blocks there that need it.
pub(crate) type UsedBehind = Vec<(ValueId, Vec<BlockId>)>;

/// Loops of more blocks than these aren't copied.
const BLOCKS: usize = 16;

/// A loop without another one in it.
pub(crate) struct Innermost {
    pub head: BlockId,
    /// The blocks from which it comes back to the head, once for each edge.
    pub latches: SmallVec<[BlockId; 2]>,
    /// Its blocks, sorted.
    pub body: Vec<BlockId>,
}

/// The innermost loops that are small enough, by their heads.
fn innermost(graph: &Graph, tree: &Dominators) -> Vec<Innermost> {
    let all = latches(graph, tree);
    let mut found: Vec<Innermost> = Vec::new();
    for (head, latches) in &all {
        let body = body(*head, latches, tree).filter(|body| body.len() <= BLOCKS);
        let is_innermost = |body: &[BlockId]| body.iter().all(|block| block == head || !all.contains_key(block));
        if let Some(body) = body.filter(|body| *head != BlockId::ENTRY && is_innermost(body)) {
            found.push(Innermost { head: *head, latches: latches.clone(), body });
        }
    }
    found.sort_unstable_by_key(|one| one.head);
    found
}

/// A residual graph as machine code is made of it, if it is another one: with copies of rounds of loops, which spare
/// others something. Nobody reads those, or counts them, so the graph itself stays as it is. Its entry is handed what
/// lies in these bounds.
pub fn copy_rounds(graph: &Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> Option<Graph> {
    if rewrites.only_cleans() || rewrites.is_spent() {
        return None;
    }
    let tree = Dominators::new(graph);
    let loops = innermost(graph, &tree);
    if loops.is_empty() {
        return None;
    }
    let facts = RoundFacts::new(graph, &tree, &loops, &with_lengths(graph, entry));
    let mut scans = unroll::plans(graph, &tree, &loops, &facts);
    let heads: FxHashSet<BlockId> = scans.iter().map(unroll::Plan::head).collect();
    let others = loops.iter().filter(|one| !heads.contains(&one.head));
    let mut firsts = peel::plans(graph, &tree, others, &facts);
    if scans.is_empty() && firsts.is_empty() {
        return None;
    }
    let used = {
        let of_firsts = firsts.iter().map(|plan| (&plan.body[..], plan.own(graph)));
        let all: Vec<_> = of_firsts.chain(scans.iter().map(|plan| (&plan.body[..], plan.own(graph)))).collect();
        used_behind(graph, &tree, &all)
    };
    let mut used = used.into_iter();
    firsts.retain_mut(|plan| used.next().flatten().map(|used| plan.used_behind = used).is_some());
    scans.retain_mut(|plan| used.next().flatten().map(|used| plan.used_behind = used).is_some());
    firsts.retain(|plan| rewrites.may(Kind::Peeled, graph.block(plan.head).loc, || plan.told()));
    scans.retain(|plan| rewrites.may(Kind::Unrolled, graph.block(plan.head()).loc, || plan.told()));
    if scans.is_empty() && firsts.is_empty() {
        return None;
    }
    let mut graph = graph.clone();
    firsts.iter().for_each(|plan| hand_on(&mut graph, &plan.body, &plan.used_behind));
    scans.iter().for_each(|plan| hand_on(&mut graph, &plan.body, &plan.used_behind));
    peel(&mut graph, &firsts);
    unroll(&mut graph, &scans);
    simplify(&mut graph, rewrites);
    drop_unreachable(&mut graph);
    Some(graph)
}

/// Of some loops, each given by its blocks, sorted, and those of its values that are copied: what is used behind them;
/// nothing for one of which there is too much of it.
pub(crate) fn used_behind(
    graph: &Graph,
    tree: &Dominators,
    loops: &[(&[BlockId], Vec<ValueId>)],
) -> Vec<Option<UsedBehind>> {
    let copied: FxHashMap<ValueId, usize> =
        loops.iter().enumerate().flat_map(|(at, (_, own))| own.iter().map(move |value| (*value, at))).collect();
    let mut users: FxHashMap<ValueId, Vec<BlockId>> = FxHashMap::default();
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for value in uses(block) {
            if let Some(at) = copied.get(&value)
                && loops[*at].0.binary_search(&id).is_err()
            {
                users.entry(value).or_default().push(id);
            }
        }
    }
    let of_each = loops.iter().map(|(body, own)| {
        let mut used = UsedBehind::new();
        let mut handed_on = 0;
        for value in own {
            let Some(users) = users.get(value) else { continue };
            let needs = needing(users, body, tree);
            handed_on += needs.len();
            if handed_on > HANDED_ON {
                return None;
            }
            used.push((*value, needs));
        }
        Some(used)
    });
    of_each.collect()
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
pub(crate) fn hand_on(graph: &mut Graph, body: &[BlockId], used_behind: &UsedBehind) {
    for (value, needing) in used_behind {
        let info = graph.values[value.index()];
        let params: FxHashMap<BlockId, ValueId> =
            needing.iter().map(|block| (*block, graph.new_value(info.ty))).collect();
        // Only what needs it and the loop itself lead to what needs it.
        for at in needing.iter().chain(body) {
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

/// Gives what a copied block computes names of its own, but for what `stays`, and remembers them; what it uses is
/// renamed.
pub(crate) fn rename_own(
    graph: &mut Graph,
    block: &mut Block,
    renamed: &mut FxHashMap<ValueId, ValueId>,
    stays: impl Fn(ValueId) -> bool,
) {
    let results = block.ops.iter_mut().flat_map(|op| op.results.iter_mut());
    for value in block.params.iter_mut().chain(results).filter(|value| !stays(**value)) {
        let new = renamed.entry(*value).or_insert_with(|| graph.new_value(graph.values[value.index()].ty));
        *value = *new;
    }
}

/// Puts the names of a copy's values in place of those of what it is a copy of.
pub(crate) fn rename_uses(block: &mut Block, renamed: &FxHashMap<ValueId, ValueId>) {
    rename(block, &mut |operand| {
        if let Operand::Value(value) = operand
            && let Some(new) = renamed.get(value)
        {
            *value = *new;
        }
    });
}

/// Lets ways into loops lead into their copies. `copies` are a loop's head, its blocks, sorted, and the copy of its
/// head; blocks from `first` on are copies, of which `origins` says of which loop and which block.
pub(crate) fn enter_copies(
    graph: &mut Graph,
    first: usize,
    origins: &[(usize, BlockId)],
    copies: &[(BlockId, &[BlockId], BlockId)],
) {
    let heads: FxHashMap<BlockId, usize> = copies.iter().enumerate().map(|(at, (head, ..))| (*head, at)).collect();
    for at in 0..graph.blocks.len() {
        // Of which loop a block is a copy, if it is, and of what. It is inside of the loops that its own loop is inside
        // of.
        let (of, origin) = match at.checked_sub(first) {
            Some(copied) => (Some(origins[copied].0), origins[copied].1),
            None => (None, BlockId(at as u32)),
        };
        let enters = |edge: &mut Edge| {
            if let Some(to) = heads.get(&edge.block).copied()
                && of != Some(to)
                && copies[to].1.binary_search(&origin).is_err()
            {
                edge.block = copies[to].2;
            }
        };
        graph.blocks[at].term.edges_mut().for_each(enters);
    }
}

fn rename(block: &mut Block, rename: &mut impl FnMut(&mut Operand)) {
    block.ops.iter_mut().flat_map(|op| op.args.iter_mut()).for_each(&mut *rename);
    block.term.for_each_operand_mut(rename);
}

/// The values that a block computes.
pub(crate) fn values(block: &Block) -> impl Iterator<Item = ValueId> {
    block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)).copied()
}

/// The values that a block uses, each as often as it does.
fn uses(block: &Block) -> impl Iterator<Item = ValueId> {
    let handed_over = block.term.edges().flat_map(|edge| edge.args.iter().copied());
    let own = block.ops.iter().flat_map(|op| op.args.iter().copied()).chain(block.term.operands());
    own.chain(handed_over).filter_map(|operand| operand.value())
}
