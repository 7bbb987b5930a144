//! A block that only decides, with what it decides by known on each way to it: they go on where it would send them
//! (jump threading).
//!
//! ```text
//! b1: jump b3(1, v4)                        b1: jump b4(v4)
//! b2: jump b3(2, v5)                        b2: jump b5(v5)
//! b3(v6, v7): switch v6 [1: b4, 2: b5] ->
//! b4: .. v7 ..                              b4(v8): .. v8 ..
//! b5: .. v7 ..                              b5(v9): .. v9 ..
//! ```
//!
//! Such a block comes of a `match` on what arms before it have made: an `enum` that is made in one arm each and taken
//! apart at once, or copied; or of two `match`es on the same value. Few blocks behind it may need what it hands on by
//! its parameters: these get parameters of their own. A way by which a switch comes with none of its cases knows that
//! much; one behind a branch or a switch on the same value, with no other way in between, what that came out as. Where it
//! isn't known on all ways the block stays, for all of them: two copies of a test cost more than a jump. A loop whose
//! head is gone past has another head, or is none: so two rounds are done in a row, and a machine with states goes on
//! where its next state is.

use super::latches::split_latches;
use crate::optimize::rewrites::{Kind, Rewrites};
use crate::specialize::FxIndexSet;
use flowgraph::analysis::{Predecessors, reverse_postorder};
use flowgraph::ir::{BlockId, Edge, Graph, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Lets ways go past blocks that only decide what is known. Gives whether there were any.
pub(crate) fn thread_jumps(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let mut deciding = deciding(graph);
    if deciding.is_empty() {
        return false;
    }
    // Loops within each other that begin at one place would be one.
    let heads = heads(graph);
    deciding.retain(|block| {
        !heads.contains(block) || graph.block(*block).term.edges().all(|edge| !heads.contains(&edge.block))
    });
    let (mut edges, mut arrivals) = (edges_to(graph, &deciding), graph.arrivals());
    let mut alone = soles(graph, &arrivals);
    let above = Above { heads: &heads, soles: &alone, touched: &FxHashSet::default() };
    let mut changed = split_latches(graph, &deciding, &edges, above, rewrites);
    if changed {
        (edges, arrivals) = (edges_to(graph, &deciding), graph.arrivals());
        alone = soles(graph, &arrivals);
    }
    let users = users(graph, &deciding);
    let mut before = None;
    // What has been handed on since the users were looked for, and the blocks that have got edges or parameters since:
    // what is known of these is no longer all.
    let mut handed_on: FxHashSet<ValueId> = FxHashSet::default();
    let mut touched: FxHashSet<BlockId> = FxHashSet::default();
    for block in deciding {
        if touched.contains(&block) {
            continue;
        }
        let params = graph.block(block).params.clone();
        let above = Above { heads: &heads, soles: &alone, touched: &touched };
        let Some(ways) = edges
            .get(&block)
            .filter(|ways| !ways.is_empty() && ways.iter().all(|way| way.onward(graph, &params, above).is_some()))
        else {
            continue;
        };
        if params.iter().any(|param| handed_on.contains(param)) {
            continue;
        }
        let only = only_taker(graph, block, &arrivals);
        let mut behind = |param: &ValueId| {
            let before = before.get_or_insert_with(|| Predecessors::new(graph));
            Some((*param, needed_in(before, block, users.get(param)?, &touched)))
        };
        let takers: Vec<_> = params.iter().filter(|_| only.is_none()).filter_map(&mut behind).collect();
        if takers.iter().any(|(_, takers)| takers.is_none()) {
            continue;
        }
        let told = || (format!("ways past {block}"), "what it decides by is known on them".to_owned());
        if !rewrites.may(Kind::Jump, graph.block(block).loc, told) {
            continue;
        }
        match only {
            Some(taker) => {
                touched.insert(taker);
                let used = params.iter().filter(|param| users.contains_key(*param));
                used.for_each(|param| hand_over_to_all(graph, block, taker, *param));
            }
            None => {
                for (param, takers) in takers {
                    let takers = takers.unwrap_or_default();
                    hand_over(graph, block, param, &takers);
                    touched.extend(takers);
                }
            }
        }
        for way in ways {
            if let Some(on) = way.onward(graph, &params, Above { heads: &heads, soles: &alone, touched: &touched }) {
                handed_on.extend(on.args.iter().filter_map(|arg| arg.value()));
                arrivals[on.block.index()] += 1;
                touched.insert(on.block);
                *way.edge_mut(graph) = on;
                changed = true;
            }
        }
    }
    changed
}

/// A parameter is handed on to so many blocks.
const TAKERS: usize = 32;

/// So many edges above a way it is looked for what they say.
const ABOVE: usize = 8;

/// The edges that alone led to blocks; more may lead by now to those that have been touched. And the heads of loops:
/// of these only constants are asked.
#[derive(Clone, Copy)]
pub(super) struct Above<'a> {
    heads: &'a FxHashSet<BlockId>,
    soles: &'a [Option<Way>],
    touched: &'a FxHashSet<BlockId>,
}

impl Above<'_> {
    fn of(self, block: BlockId) -> Option<Way> {
        self.soles[block.index()].filter(|_| !self.touched.contains(&block))
    }
}

/// By block: the edge that alone leads there.
fn soles(graph: &Graph, arrivals: &[u32]) -> Vec<Option<Way>> {
    let mut soles = vec![None; graph.blocks.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for (at, edge) in block.term.edges().enumerate() {
            if arrivals[edge.block.index()] == 1 {
                soles[edge.block.index()] = Some(Way(id, at));
            }
        }
    }
    soles
}

/// An edge: its block, and which of that block's.
#[derive(Clone, Copy)]
pub(super) struct Way(pub BlockId, pub usize);

impl Way {
    pub fn edge(self, graph: &Graph) -> &Edge {
        let found = graph.block(self.0).term.edges().nth(self.1);
        found.unwrap_or_else(|| unreachable!("edges stay what they are in number"))
    }

    pub fn edge_mut(self, graph: &mut Graph) -> &mut Edge {
        let found = graph.block_mut(self.0).term.edges_mut().nth(self.1);
        found.unwrap_or_else(|| unreachable!("edges stay what they are in number"))
    }

    /// Where the block with these parameters that it leads to sends it, if that is known.
    pub fn onward(self, graph: &Graph, params: &[ValueId], above: Above<'_>) -> Option<Edge> {
        let edge = self.edge(graph);
        let given = |operand: Operand| {
            let at = params.iter().position(|param| operand == Operand::Value(*param));
            at.map_or(operand, |at| edge.args[at])
        };
        let is_head = above.heads.contains(&edge.block);
        let excluded = |value: Operand, number: i64| !is_head && self.excludes(graph, value, number);
        let on = match &graph.block(edge.block).term {
            Terminator::Branch { cond, then, otherwise, .. } => match given(*cond) {
                value if value.as_int() == Some(0) => otherwise,
                value if value.as_int().is_some() || excluded(value, 0) => then,
                _ if is_head => return None,
                value => match self.has_tested(graph, value, above)? {
                    true => then,
                    false => otherwise,
                },
            },
            Terminator::Switch { value, cases, default, .. } => match given(*value) {
                value if value.as_int().is_some() => {
                    cases.iter().find(|(case, _)| Some(*case) == value.as_int()).map_or(default, |(_, edge)| edge)
                }
                _ if is_head => return None,
                value => match self.has_switched(graph, value, above) {
                    Switched::To(number) => cases.iter().find(|(case, _)| *case == number).map_or(default, |on| &on.1),
                    Switched::ToNoneOf(all) if cases.iter().all(|(case, _)| all.contains(case)) => default,
                    Switched::ToNoneOf(_) => return None,
                },
            },
            _ => return None,
        };
        Some(Edge::new(on.block, on.args.iter().map(|arg| given(*arg))))
    }

    /// What a value is where this way is taken, if it branches on that itself, or what alone leads to it does.
    fn has_tested(self, graph: &Graph, value: Operand, above: Above<'_>) -> Option<bool> {
        let mut way = self;
        for _ in 0..ABOVE {
            match &graph.block(way.0).term {
                Terminator::Branch { cond, .. } if *cond == value => return Some(way.1 == 0),
                _ => way = above.of(way.0)?,
            }
        }
        None
    }

    /// What a value is where this way is taken, or is not, as far as it switches on that itself, or what alone leads to
    /// it does.
    fn has_switched(self, graph: &Graph, value: Operand, above: Above<'_>) -> Switched {
        let (mut way, mut none) = (self, SmallVec::new());
        for _ in 0..ABOVE {
            if let Terminator::Switch { value: by, cases, .. } = &graph.block(way.0).term
                && *by == value
            {
                match cases.get(way.1) {
                    Some((case, _)) => return Switched::To(*case),
                    None => none.extend(cases.iter().map(|(case, _)| *case)),
                }
            }
            match above.of(way.0) {
                Some(before) => way = before,
                None => break,
            }
        }
        Switched::ToNoneOf(none)
    }

    /// Whether it is the way of all values of a switch that are none of its cases, and this is one of these.
    fn excludes(self, graph: &Graph, value: Operand, number: i64) -> bool {
        match &graph.block(self.0).term {
            Terminator::Switch { value: by, cases, .. } => {
                *by == value && self.1 == cases.len() && cases.iter().any(|(case, _)| *case == number)
            }
            _ => false,
        }
    }
}

/// What switches have said of a value.
enum Switched {
    To(i64),
    ToNoneOf(SmallVec<[i64; 8]>),
}

/// The blocks that do nothing but decide, by one of their parameters or what was branched on before them. None that may
/// come to itself at once, and none that may leave by an exit: those are guards.
fn deciding(graph: &Graph) -> Vec<BlockId> {
    let mut found: Vec<BlockId> = Vec::new();
    // What is branched or switched on more than once.
    let (mut tested, mut again) = (FxHashSet::default(), FxHashSet::default());
    for block in &graph.blocks {
        let (Terminator::Branch { cond: by, .. } | Terminator::Switch { value: by, .. }) = block.term else { continue };
        if by.value().is_some() && !tested.insert(by) {
            again.insert(by);
        }
    }
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        let by = match &block.term {
            Terminator::Branch { cond, .. } => *cond,
            Terminator::Switch { value, promotion: false, .. } => *value,
            _ => continue,
        };
        let leaves = |edge: &Edge| matches!(graph.block(edge.block).term, Terminator::Exit { .. });
        let is_known_before =
            |by: &Operand| block.params.iter().any(|param| *by == Operand::Value(*param)) || again.contains(by);
        let stays = |edge: &Edge| edge.block == id || leaves(edge);
        if block.ops.is_empty() && is_known_before(&by) && id != BlockId::ENTRY && !block.term.edges().any(stays) {
            found.push(id);
        }
    }
    found
}

/// The heads of loops.
fn heads(graph: &Graph) -> FxHashSet<BlockId> {
    let mut position = vec![usize::MAX; graph.blocks.len()];
    reverse_postorder(graph).into_iter().enumerate().for_each(|(at, block)| position[block.index()] = at);
    let leads_back = |(from, edge): (usize, &Edge)| position[edge.block.index()] <= position[from];
    let edges = graph.blocks.iter().enumerate().flat_map(|(from, block)| block.term.edges().map(move |e| (from, e)));
    edges.filter(|way| leads_back(*way)).map(|(_, edge)| edge.block).collect()
}

pub(super) fn edges_to(graph: &Graph, blocks: &[BlockId]) -> FxHashMap<BlockId, Vec<Way>> {
    let mut ways: FxHashMap<BlockId, Vec<Way>> = blocks.iter().map(|block| (*block, Vec::new())).collect();
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        for (at, edge) in block.term.edges().enumerate() {
            if let Some(ways) = ways.get_mut(&edge.block) {
                ways.push(Way(id, at));
            }
        }
    }
    ways
}

/// By parameter of such a block: the other blocks that use it.
fn users(graph: &Graph, blocks: &[BlockId]) -> FxHashMap<ValueId, FxIndexSet<BlockId>> {
    let of = |block: BlockId| graph.block(block).params.iter().map(move |param| (*param, block));
    let own: FxHashMap<ValueId, BlockId> = blocks.iter().flat_map(|block| of(*block)).collect();
    let mut users: FxHashMap<ValueId, FxIndexSet<BlockId>> = FxHashMap::default();
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        let handed_on = block.term.edges().flat_map(|edge| edge.args.iter().copied());
        let args = block.ops.iter().flat_map(|op| op.args.iter().copied());
        for value in args.chain(block.term.operands()).chain(handed_on).filter_map(|operand| operand.value()) {
            if own.get(&value).is_some_and(|block| *block != id) {
                users.entry(value).or_default().insert(id);
            }
        }
    }
    users
}

/// The block to which all edges of another lead, and no others: all that it leads to comes behind that one.
fn only_taker(graph: &Graph, block: BlockId, arrivals: &[u32]) -> Option<BlockId> {
    let mut edges = graph.block(block).term.edges();
    let first = edges.next()?.block;
    (edges.all(|edge| edge.block == first)
        && first != block
        && arrivals[first.index()] as usize == graph.block(block).term.edges().count())
    .then_some(first)
}

/// The blocks behind another one that a parameter of that is needed in: those that use it, and those on the ways to
/// them. Nothing if they are too many, or if there may be edges to them by now that aren't known.
fn needed_in(
    before: &Predecessors,
    of: BlockId,
    users: &FxIndexSet<BlockId>,
    touched: &FxHashSet<BlockId>,
) -> Option<FxIndexSet<BlockId>> {
    let mut found = users.clone();
    let mut at = 0;
    while let Some(block) = found.get_index(at).copied() {
        at += 1;
        if at > TAKERS || touched.contains(&block) {
            return None;
        }
        found.extend(before.of(block).iter().filter(|id| **id != of));
    }
    Some(found)
}

/// Those of some blocks whose parameters few enough blocks behind them need.
pub(super) fn that_can_hand_on(graph: &Graph, blocks: &[BlockId]) -> FxHashSet<BlockId> {
    let (users, before, touched) = (users(graph, blocks), Predecessors::new(graph), FxHashSet::default());
    let are_few = |block: BlockId, param: &ValueId| {
        users.get(param).is_none_or(|users| needed_in(&before, block, users, &touched).is_some())
    };
    let can = |block: &BlockId| graph.block(*block).params.iter().all(|param| are_few(*block, param));
    blocks.iter().copied().filter(can).collect()
}

/// Gives these blocks, which are all that it is needed in, a parameter each in place of one of a block before them.
fn hand_over(graph: &mut Graph, from: BlockId, param: ValueId, takers: &FxIndexSet<BlockId>) {
    let ty = graph.values[param.index()].ty;
    let own: Vec<ValueId> = takers.iter().map(|_| graph.new_value(ty)).collect();
    for (taker, own) in takers.iter().zip(&own) {
        replace_in(graph, *taker, param, *own);
        graph.block_mut(*taker).params.push(*own);
    }
    let handed = own.iter().zip(takers).map(|(own, taker)| (*taker, *own)).chain([(from, param)]);
    for (by, value) in handed.collect::<Vec<_>>() {
        for edge in graph.block_mut(by).term.edges_mut().filter(|edge| takers.contains(&edge.block)) {
            edge.args.push(value.into());
        }
    }
}

/// Gives a block a parameter in place of one of the block that alone leads to it, for itself and for all that use it.
fn hand_over_to_all(graph: &mut Graph, from: BlockId, taker: BlockId, param: ValueId) {
    let own = graph.new_value(graph.values[param.index()].ty);
    graph.block_ids().filter(|at| *at != from).for_each(|at| replace_in(graph, at, param, own));
    graph.block_mut(taker).params.push(own);
    for edge in graph.block_mut(from).term.edges_mut().filter(|edge| edge.block == taker) {
        edge.args.push(param.into());
    }
}

fn replace_in(graph: &mut Graph, at: BlockId, value: ValueId, by: ValueId) {
    let replace = |operand: &mut Operand| {
        if *operand == Operand::Value(value) {
            *operand = by.into();
        }
    };
    let block = graph.block_mut(at);
    block.ops.iter_mut().flat_map(|op| &mut op.args).for_each(replace);
    block.term.for_each_operand_mut(replace);
}
