//! Do the colors of a module hang together? Knows the rules, and nothing of how colors were found or times set.
//!
//! It is on in tests and fuzzing, and for compiler graphs that come as text: these may have been edited.

use crate::signature::is_twin_key;
use flowgraph::ir::{
    BlockId, CallMode, Color, Effect, Graph, Imm, MemKind, Module, Op, Opcode, Operand, Stage, Terminator, Time,
    ValueId,
};
use std::fmt;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key of the graph.
    pub graph: String,
    /// The block.
    pub block: BlockId,
    /// The op; the number of ops for the terminator.
    pub op: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, op {}: {}", self.graph, self.block, self.op, self.what)
    }
}

/// Every violated rule of a module of stage [`Stage::Colored`] or [`Stage::Compiler`] that has passed the verifier.
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
                match at.color(v) {
                    None => self.broken(at, format!("{v} has no color")),
                    Some(Color::Green) if twin => self.broken(at, format!("{v} is green in an all-red twin")),
                    Some(_) => {}
                }
            }
            for (i, op) in code.ops.iter().enumerate() {
                self.op(At { graph, block, op: i }, op);
            }
            self.terminator(At { graph, block, op: code.ops.len() }, &code.term);
        }
    }

    fn op(&mut self, at: At<'m>, op: &Op) {
        let green = op.results.iter().any(|r| at.color(*r) == Some(Color::Green));
        let from_greens = op.args.iter().all(|a| at.is_green(*a));
        if let Imm::Call(callee) = &op.imm
            && let Some(target) = self.module.graphs.get(&*callee.name).filter(|g| has_colors(g))
        {
            self.call(at, op, target);
        } else if green {
            let can = match (op.opcode, op.opcode.effect(), &op.imm) {
                (Opcode::Promote | Opcode::WeAreJitted | Opcode::IsConstant | Opcode::IsVirtual, ..) => true,
                (Opcode::Variable, ..) | (_, Effect::Allocate, _) => false,
                (_, Effect::Read, Imm::Mem(mem)) => mem.kind == MemKind::Immutable && from_greens,
                (_, Effect::Call, Imm::Call(callee)) => {
                    from_greens && self.module.graphs.get(&*callee.name).is_some_and(|g| g.attributes.elidable)
                }
                _ => from_greens,
            };
            if !can {
                self.broken(at, format!("`{}` can't give a green here", op.opcode.name()));
            }
        }
        if self.module.stage == Stage::Compiler {
            self.time(at, op, green, from_greens);
        }
    }

    fn time(&mut self, at: At<'m>, op: &Op, green: bool, from_greens: bool) {
        let speaks = matches!(op.opcode, Opcode::MergePoint | Opcode::CanEnterJit);
        let calls = op.callee().is_some();
        if op.time == Time::Now && !speaks && !calls && !(green && from_greens) {
            self.broken(at, format!("`{}` can't be executed when compiling: not all of it is green", op.opcode.name()));
        }
        if op.time == Time::Emit && green && op.opcode != Opcode::Promote && op.results.len() == 1 && !calls {
            self.broken(at, format!("what `{}` emits can't be green", op.opcode.name()));
        }
        match op.callee().map(|c| (c.mode, self.module.graphs.get(&*c.name).is_some_and(has_colors))) {
            Some((CallMode::Plain, _)) => self.broken(at, "a call of a compiler graph says how it is carried out"),
            Some((CallMode::Inline | CallMode::Specialize, false)) => {
                self.broken(at, "only a colored function can be inlined or specialized");
            }
            Some((CallMode::Fold | CallMode::Residual, true)) => {
                self.broken(at, "a colored function is inlined or specialized");
            }
            Some((CallMode::Specialize | CallMode::Residual, _)) if green => {
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

    fn terminator(&mut self, at: At<'m>, term: &Terminator) {
        for edge in term.edges() {
            let Some(target) = at.graph.blocks.get(edge.block.index()) else { continue };
            for (param, arg) in target.params.iter().zip(&edge.args) {
                if at.color(*param) == Some(Color::Green) && !at.is_green(*arg) {
                    self.broken(at, format!("a red argument for the green {param} of {}", edge.block));
                }
            }
        }
        if let Terminator::Branch { cond: on, time: Time::Now, .. }
        | Terminator::Switch { value: on, time: Time::Now, .. } = term
            && self.module.stage == Stage::Compiler
            && !at.is_green(*on)
        {
            self.broken(at, "a branch on a red is a split");
        }
    }
}
