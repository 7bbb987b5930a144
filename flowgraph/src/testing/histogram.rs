//! What is in modules, counted: so that a test can say that everything came up.

use crate::analysis::Order;
use crate::ir::*;
use std::collections::BTreeMap;
use std::fmt;

/// Counts by name: `op int_add`, `trap panic`, `call inline`, `loop with 2 exits`, `mark local_merge`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The counts.
    pub counts: BTreeMap<String, u64>,
}

impl Histogram {
    /// What is in a module.
    pub fn of(module: &Module) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.add(module);
        histogram
    }

    /// How often something of this name came up.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    fn see(&mut self, name: String) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// Counts what is in a module, too.
    pub fn add(&mut self, module: &Module) {
        for graph in module.graphs.values() {
            self.graph(graph);
        }
    }

    fn graph(&mut self, graph: &Graph) {
        self.see("graph".to_owned());
        let attributes = &graph.attributes;
        for (word, set) in [
            ("portal", attributes.portal.is_some()),
            ("elidable", attributes.elidable),
            ("unroll_safe", attributes.unroll_safe),
            ("dont_look_inside", attributes.dont_look_inside),
        ] {
            if set {
                self.see(format!("graph {word}"));
            }
        }
        for block in &graph.blocks {
            for op in &block.ops {
                self.see(format!("op {}", op.opcode.name()));
                if let Some(callee) = op.callee() {
                    let recursive = if *callee.name == *graph.key { "recursive " } else { "" };
                    self.see(format!("call {recursive}{}", callee.mode.name()));
                }
                if let Some(desc) = op.mem() {
                    self.see(format!("memory {}", desc.kind.name()));
                }
            }
            for mark in &block.marks {
                self.see(format!("mark {}", mark.kind.name()));
            }
            self.see(match &block.term {
                Terminator::Jump(_) => "end jump".to_owned(),
                Terminator::Branch { time: Time::Now, .. } => "end branch".to_owned(),
                Terminator::Branch { time: Time::Emit, .. } => "end split".to_owned(),
                Terminator::Switch { promotion: true, .. } => "end promotion".to_owned(),
                Terminator::Switch { time: Time::Now, .. } => "end switch".to_owned(),
                Terminator::Switch { time: Time::Emit, .. } => "end split_switch".to_owned(),
                Terminator::Return(values) => format!("end return of {}", values.len()),
                Terminator::Trap(trap) => format!("trap {}", trap.kind.name()),
                Terminator::Exit { .. } => "end exit".to_owned(),
                Terminator::Enter { .. } => "end enter".to_owned(),
            });
        }
        self.loops_and_joins(graph);
    }

    fn loops_and_joins(&mut self, graph: &Graph) {
        if graph.blocks.is_empty() {
            return;
        }
        let order = Order::new(graph);
        for l in &order.loops {
            let exits = l.body.iter().flat_map(|block| graph.blocks[block].term.edges());
            let exits = exits.filter(|edge| !l.body.contains(edge.block.index())).count();
            self.see(format!("loop with {} exits", if exits > 3 { "many".to_owned() } else { exits.to_string() }));
            self.see(format!("loop at depth {}", l.depth));
        }
        for block in graph.block_ids() {
            let count = order.predecessors(block).len();
            if count > 1 && order.loop_at(block).is_none() {
                let params = if graph.block(block).params.is_empty() { "without" } else { "with" };
                self.see(format!(
                    "join of {} {params} parameters",
                    if count > 3 { "many".to_owned() } else { count.to_string() }
                ));
            }
        }
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(name, count)| writeln!(f, "{count:8} {name}"))
    }
}
