//! How each call is carried out, and which calls may come back more than once.

use super::times::{is_green, is_green_operand};
use flowgraph::analysis::CallGraph;
use flowgraph::ir::{CallMode, Graph, Module, Op, Opcode, Terminator};
use hintannotator::{Shape, has_colors};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

/// What calls do, for every colored graph of a module.
pub(super) struct Calls<'m> {
    module: &'m Module,
    /// Graphs with a loop that no green ends.
    red_loops: FxHashSet<&'m str>,
    /// Graphs that call portals, be it by way of others, but are never called by these.
    around_portals: FxHashSet<&'m str>,
    /// Graphs that may come back in several states.
    splitting: FxHashSet<&'m str>,
}

impl<'m> Calls<'m> {
    pub fn of(module: &'m Module, shapes: &IndexMap<&'m str, Shape>) -> Calls<'m> {
        let red_loops = shapes
            .iter()
            .filter(|(key, shape)| {
                let graph = &module.graphs[**key];
                shape.order.loops.iter().any(|l| !shape.is_controlled(graph, l, &|v| is_green(graph, v)))
            })
            .map(|(key, _)| *key)
            .collect();
        let around_portals = around_portals(module);
        let mut calls = Calls { module, red_loops, around_portals, splitting: FxHashSet::default() };
        loop {
            let more: Vec<&str> = shapes
                .keys()
                .filter(|key| !calls.splitting.contains(*key))
                .filter(|key| {
                    let graph = &module.graphs[**key];
                    graph.blocks.iter().any(|b| {
                        is_red_split(graph, &b.term) || b.ops.iter().any(|op| calls.may_come_back_twice(graph, op))
                    })
                })
                .copied()
                .collect();
            if more.is_empty() {
                return calls;
            }
            calls.splitting.extend(more);
        }
    }

    /// How the op, if it is a call, is carried out.
    pub fn mode(&self, graph: &Graph, op: &Op) -> Option<CallMode> {
        let callee = op.callee()?;
        let target = self.module.graphs.get(&*callee.name);
        let Some(target) = target.filter(|t| has_colors(t)) else {
            let green = !op.results.is_empty() && op.results.iter().all(|r| is_green(graph, *r));
            return Some(if green { CallMode::Fold } else { CallMode::Residual });
        };
        let attributes = &target.attributes;
        // A function that is called has no exits: what a portal in it promotes would stay red.
        let inline = !self.red_loops.contains(target.key.as_str())
            || self.around_portals.contains(target.key.as_str())
            || attributes.unroll_safe
            || attributes.look_inside_if.is_some()
            || attributes.portal.is_some()
            || target.key.contains('!');
        Some(if inline { CallMode::Inline } else { CallMode::Specialize })
    }

    /// Whether several states may come out of the op: a promotion, or an inlined call of what splits.
    pub fn may_come_back_twice(&self, graph: &Graph, op: &Op) -> bool {
        match op.opcode {
            Opcode::Promote => !is_green_operand(graph, op.args[0]) && op.results.iter().any(|r| is_green(graph, *r)),
            Opcode::Call | Opcode::CallElidable => {
                self.mode(graph, op) == Some(CallMode::Inline)
                    && op.callee().is_some_and(|c| self.splitting.contains(&*c.name))
            }
            _ => false,
        }
    }
}

/// Graphs that call portals, or call others that do; but not those that are called by these in turn.
fn around_portals(module: &Module) -> FxHashSet<&str> {
    let calls = CallGraph::new(module);
    let graphs: Vec<&Graph> = module.graphs.values().collect();
    let is_colored = |graph: usize| has_colors(graphs[graph]);
    let is_portal = |graph: usize| is_colored(graph) && graphs[graph].attributes.portal.is_some();
    let leads = calls.leading_to(is_portal, is_colored);
    let found = (0..graphs.len()).filter(|graph| leads[*graph] && !calls.is_recursive(*graph));
    found.map(|graph| graphs[graph].key.as_str()).collect()
}

/// Whether the way on is decided at run time.
pub(super) fn is_red_split(graph: &Graph, term: &Terminator) -> bool {
    match term {
        Terminator::Branch { cond: on, .. } | Terminator::Switch { value: on, .. } => !is_green_operand(graph, *on),
        _ => false,
    }
}
