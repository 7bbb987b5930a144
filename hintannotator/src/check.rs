//! Do the colors of a module hang together across calls? Knows the rules, and nothing of how colors were found or times
//! set. What can be seen in one graph is the verifier's.
//!
//! It is on in tests and fuzzing, and for compiler graphs that come as text: these may have been edited.

use crate::signature::is_twin_key;
use flowgraph::ir::{BlockId, CallMode, Color, Graph, Module, Op, Opcode, Operand, Terminator, ValueId};
use std::fmt;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key of the graph.
    pub graph: String,
    /// The block.
    pub block: BlockId,
    /// The op.
    pub op: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, op {}: {}", self.graph, self.block, self.op, self.what)
    }
}

/// Every violated rule of a colored module or a compiler module that has passed the verifier.
pub fn check(module: &Module) -> Vec<Violation> {
    let mut check = Check { module, out: Vec::new() };
    for graph in module.graphs.values().filter(|g| has_colors(g)) {
        check.graph(graph);
    }
    check.out
}

/// Whether the graph is one that is looked into: the others are called as they are.
pub fn has_colors(graph: &Graph) -> bool {
    graph.key.contains('#') || graph.values.iter().any(|v| v.color.is_some())
}

struct Check<'m> {
    module: &'m Module,
    out: Vec<Violation>,
}

/// A place in a graph.
#[derive(Clone, Copy)]
struct At<'m> {
    graph: &'m Graph,
    block: BlockId,
    op: usize,
}

impl At<'_> {
    fn is_green(self, operand: Operand) -> bool {
        operand.value().is_none_or(|v| self.color(v) == Some(Color::Green))
    }

    fn color(self, v: ValueId) -> Option<Color> {
        self.graph.values.get(v.index()).and_then(|i| i.color)
    }
}

impl<'m> Check<'m> {
    fn broken(&mut self, at: At<'_>, what: impl Into<String>) {
        self.out.push(Violation { graph: at.graph.key.clone(), block: at.block, op: at.op, what: what.into() });
    }

    fn graph(&mut self, graph: &'m Graph) {
        let twin = is_twin_key(&graph.key);
        for block in graph.block_ids() {
            let code = graph.block(block);
            let defined = code.params.iter().map(|p| (0, *p));
            let results = code.ops.iter().enumerate().flat_map(|(i, op)| op.results.iter().map(move |r| (i, *r)));
            for (op, v) in defined.chain(results) {
                let at = At { graph, block, op };
                if twin && at.color(v) == Some(Color::Green) {
                    self.broken(at, format!("{v} is green in an all-red twin"));
                }
            }
            for (i, op) in code.ops.iter().enumerate() {
                self.op(At { graph, block, op: i }, op);
            }
        }
    }

    fn op(&mut self, at: At<'m>, op: &Op) {
        let Some(callee) = op.callee() else {
            if op.opcode == Opcode::Variable && op.results.iter().any(|r| at.color(*r) == Some(Color::Green)) {
                self.broken(at, "`variable` can't give a green");
            }
            return;
        };
        let green = op.results.iter().any(|r| at.color(*r) == Some(Color::Green));
        let target = self.module.graphs.get(&*callee.name);
        let colored = target.is_some_and(has_colors);
        match target {
            Some(target) if colored => self.call(at, op, target),
            target if green => {
                let elidable = op.opcode == Opcode::CallElidable || target.is_some_and(|g| g.attributes.elidable);
                if !elidable || !op.args.iter().all(|a| at.is_green(*a)) {
                    self.broken(at, format!("`{}` can't be called when compiling", callee.name));
                }
            }
            _ => {}
        }
        match callee.mode {
            CallMode::Inline | CallMode::Specialize if !colored => {
                self.broken(at, "only a colored function can be inlined or specialized");
            }
            CallMode::Fold | CallMode::Residual if colored => {
                self.broken(at, "a colored function is inlined or specialized");
            }
            CallMode::Specialize | CallMode::Residual if green => {
                self.broken(at, "what an emitted call returns can't be green");
            }
            _ => {}
        }
    }

    fn call(&mut self, at: At<'m>, op: &Op, target: &'m Graph) {
        let entry = At { graph: target, block: BlockId::ENTRY, op: 0 };
        for (param, arg) in target.entry_params().iter().zip(&op.args) {
            if entry.color(*param) == Some(Color::Green) && !at.is_green(*arg) {
                self.broken(at, format!("a red argument for the green {param} of `{}`", target.key));
            }
        }
        for (leaf, r) in op.results.iter().enumerate().filter(|(_, r)| at.color(**r) == Some(Color::Green)) {
            let red = target.blocks.iter().any(|b| match &b.term {
                Terminator::Return(values) => values.get(leaf).is_some_and(|v| !entry.is_green(*v)),
                _ => false,
            });
            if red {
                self.broken(at, format!("{r} is green, but `{}` returns a red", target.key));
            }
        }
    }
}
