//! Ops over what a join is handed as constants only: they are done on the ways there, which is to say now.
//!
//! ```text
//! b1: jump b3(3)                b1: jump b3(22)
//! b2: jump b3(5)          ->    b2: jump b3(36)
//! b3(v0):                       b3(v0):
//!     v1 = int_mul v0, 7            .. v0 ..
//!     v2 = int_add v1, 1
//!     .. v2 ..
//! ```
//!
//! The op must be the only one that uses the parameter, which takes the place of its result: so a join never gets more
//! of them.

use crate::optimize::cleanup::{Cleaned, Edges, folded};
use crate::optimize::facts::known::uses;
use crate::optimize::graph::replacements::Replacements;
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::ir::{Graph, Op, Operand, ValueId};
use rustc_hash::FxHashMap;

/// What a parameter is handed, edge by edge.
type Handed = Vec<Operand>;

/// Does such ops on the ways.
pub(crate) fn fold_handed(graph: &mut Graph, rewrites: &mut Rewrites) -> Cleaned {
    // By value: whether it is a parameter that some edge hands something else.
    let mut varies = vec![false; graph.values.len()];
    for edge in graph.edges() {
        for (param, given) in graph.block(edge.block).params.iter().zip(&edge.args) {
            varies[param.index()] |= given.constant().is_none();
        }
    }
    let is_candidate = |block: &usize| {
        let block = &graph.blocks[*block];
        !block.ops.is_empty() && block.params.iter().any(|param| !varies[param.index()])
    };
    let candidates: Vec<usize> = (1..graph.blocks.len()).filter(is_candidate).collect();
    if candidates.is_empty() {
        return Cleaned::Nothing;
    }
    let edges = Edges::new(graph);
    let mut replaced = Replacements::new(graph);
    let mut uses = uses(graph);
    for block in candidates {
        let params = graph.blocks[block].params.iter().copied().enumerate();
        let mut constant: FxHashMap<ValueId, (usize, Handed)> = params
            .filter(|(_, param)| !varies[param.index()])
            .map(|(at, param)| (param, (at, edges.given(block, at).collect())))
            .collect();
        let mut changed = false;
        let mut ops = std::mem::take(&mut graph.blocks[block].ops);
        ops.retain_mut(|op| {
            op.args.iter_mut().for_each(|arg| *arg = replaced.find(*arg));
            let Some((param, given)) = over_handed(op, &constant, &uses) else { return true };
            let told = || {
                (format!("{} on the ways here", shown_op(op.opcode, &op.args)), "all hand over constants".to_owned())
            };
            let result = op.results[0];
            if !rewrites.may(Kind::Constant, op.loc, told) || !replaced.replace(result, param.into()) {
                return true;
            }
            if let Some((_, handed)) = constant.get_mut(&param) {
                *handed = given;
            }
            uses[param.index()] = uses[result.index()];
            graph.values[param.index()] = graph.values[result.index()];
            changed = true;
            false
        });
        graph.blocks[block].ops = ops;
        if changed {
            hand_over(graph, block, constant);
        }
    }
    if replaced.is_empty() {
        return Cleaned::Nothing;
    }
    Cleaned::replacing(replaced, graph)
}

/// The parameter that takes the place of an op's result, and what it is then handed.
fn over_handed(op: &Op, constant: &FxHashMap<ValueId, (usize, Handed)>, uses: &[u32]) -> Option<(ValueId, Handed)> {
    if !op.opcode.is_pure() || op.results.len() != 1 {
        return None;
    }
    let values = || op.args.iter().filter_map(|arg| arg.value());
    let is_last_use = |value: ValueId| values().filter(|other| *other == value).count() as u32 == uses[value.index()];
    if !values().all(|value| constant.contains_key(&value) && is_last_use(value)) {
        return None;
    }
    let param = values().next()?;
    let edges = constant[&param].1.len();
    let given: Option<Handed> = (0..edges)
        .map(|edge| {
            let mut on_the_way = op.clone();
            for arg in &mut on_the_way.args {
                if let Operand::Value(value) = *arg {
                    *arg = constant[&value].1[edge];
                }
            }
            folded(&on_the_way)?.first().copied()
        })
        .collect();
    Some((param, given?))
}

/// The edges to a block hand over something else now.
fn hand_over(graph: &mut Graph, block: usize, constant: FxHashMap<ValueId, (usize, Handed)>) {
    let edges = graph.blocks.iter_mut().flat_map(|from| from.term.edges_mut());
    for (number, edge) in edges.filter(|edge| edge.block.index() == block).enumerate() {
        for (at, handed) in constant.values() {
            edge.args[*at] = handed[number];
        }
    }
}
