//! Parameters that are another value: each edge hands over that, or a constant that it is there.
//!
//! Where an arm of `branch v` hands over 1 and the other one 0, the parameter behind them is `v`, as far as that is a
//! bool; so it is where a case of a switch hands over its own number. What is handed around a loop so is the same in
//! each of its rounds after all.
//!
//! ```text
//! b0: branch v1, b1, b2(0)           b0: branch v1, b1, b2
//! b1: setfield v0, 1           ->    b1: setfield v0, 1
//!     jump b2(1)                         jump b2
//! b2(v2): return v2                  b2: return v1
//! ```
//!
//! It is the copies of sparse conditional propagation the other way around (M. Wegman, F. K. Zadeck, "Constant
//! propagation with conditional branches", 1991): a constant becomes the variable that it was learnt of.

use super::flow::takes;
use crate::optimize::forward::Walk;
use crate::optimize::graph::dominators::{Dominators, exits};
use crate::optimize::rewrites::{Kind, shown};
use flowgraph::ir::{Block, BlockId, Graph, Terminator, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Deref;

/// Blocks that more edges lead to are not looked at.
const EDGES: u32 = 16;

/// By block: the parameters that may be another value.
pub(crate) type StandIns = FxHashMap<BlockId, SmallVec<[StandIn; 2]>>;

/// A value that a parameter may be.
pub(crate) struct StandIn {
    /// The number of the parameter.
    at: usize,
    value: ValueId,
    /// How many edges haven't said so.
    open: usize,
}

/// What edges hand over for a parameter.
#[derive(Clone, Copy, Default)]
struct Given {
    edges: u32,
    constants: u32,
    /// A value that isn't the parameter itself.
    value: Option<ValueId>,
    /// There is more than one of these.
    several: bool,
}

/// The values that parameters may be, as far as the edges of a graph say so by themselves. `defined` has by value the
/// block that computes it.
pub(crate) fn stand_ins(graph: &Graph, tree: &Dominators, defined: &impl Deref<Target = Vec<BlockId>>) -> StandIns {
    // By block: the number of its first parameter.
    let mut params = 0;
    let number = |block: &Block| {
        params += block.params.len();
        params - block.params.len()
    };
    let first: Vec<usize> = graph.blocks.iter().map(number).collect();
    let mut given = vec![Given::default(); params];
    for edge in graph.edges() {
        let numbers = first[edge.block.index()]..;
        for ((number, param), arg) in numbers.zip(&graph.block(edge.block).params).zip(&edge.args) {
            let given = &mut given[number];
            given.edges += 1;
            match arg.value() {
                None => given.constants += 1,
                Some(value) if value == *param => {}
                Some(value) => given.several |= given.value.replace(value).is_some_and(|other| other != value),
            }
        }
    }
    let mut found = StandIns::default();
    for id in graph.block_ids().skip(1).filter(|id| !exits(graph, *id)) {
        for (at, param) in graph.block(id).params.iter().enumerate() {
            let Given { edges, constants, value, several } = given[first[id.index()] + at];
            if several || constants == 0 || !(2..=EDGES).contains(&edges) || graph.values[param.index()].ty != Type::Int
            {
                continue;
            }
            let Some(value) = value.or_else(|| branched_on(graph, tree.immediate_dominator(id)?)) else { continue };
            let from = defined[value.index()];
            if from != id && tree.dominates(from, id) {
                found.entry(id).or_default().push(StandIn { at, value, open: edges as usize });
            }
        }
    }
    found
}

/// What a block asks at its end.
fn branched_on(graph: &Graph, block: BlockId) -> Option<ValueId> {
    match graph.block(block).term {
        Terminator::Branch { cond: asked, .. } | Terminator::Switch { value: asked, .. } => asked.value(),
        _ => None,
    }
}

impl Walk<'_> {
    /// Asks the edges that lead from a block what they hand over for parameters that may be another value.
    pub(crate) fn ask_for_stand_ins(&mut self, from: BlockId) {
        if self.stand_ins.is_empty() {
            return;
        }
        let Walk { graph, known, replaced, stand_ins, .. } = self;
        let term = &graph.block(from).term;
        for (side, edge) in term.edges().enumerate() {
            let Some(stand_ins) = stand_ins.get_mut(&edge.block) else { continue };
            let mark = known.mark();
            // What the way itself says is asked for only where that may help.
            if !stand_ins.iter().any(|one| edge.args[one.at].value().is_none()) || takes(term, side, known) {
                let params = &graph.block(edge.block).params;
                for StandIn { at, value, open } in stand_ins {
                    let value = replaced.find((*value).into());
                    let says_so = match replaced.find(edge.args[*at]) {
                        given if given == value || given == params[*at].into() => true,
                        given => {
                            given.as_int().is_some_and(|given| known.bound(value).get_constant_int() == Some(given))
                        }
                    };
                    *open -= usize::from(says_so);
                }
            }
            known.forget(mark);
        }
    }

    /// Behind the walk: parameters that every edge says of that they are another value. Gives whether there are any.
    pub(crate) fn take_stand_ins(&mut self) -> bool {
        let mut taken = false;
        let mut stand_ins: Vec<_> = std::mem::take(&mut self.stand_ins).into_iter().collect();
        stand_ins.sort_unstable_by_key(|(block, _)| *block);
        for (block, StandIn { at, value, .. }) in stand_ins
            .into_iter()
            .flat_map(|(block, all)| all.into_iter().map(move |one| (block, one)))
            .filter(|(_, one)| one.open == 0)
        {
            let param = self.graph.block(block).params[at];
            let (own, value) = (self.replaced.find(param.into()), self.replaced.find(value.into()));
            if own != param.into() || own == value {
                continue; // it is something else already
            }
            let told = || (format!("{param} is {}", shown(value)), "each way here says so".to_owned());
            if self.rewrites.may(Kind::Known, self.graph.block(block).loc, told) {
                taken |= self.replaced.replace(param, value);
            }
        }
        self.changed |= taken;
        taken
    }
}
