//! The verifier: every invariant of the IR that a module violates, with graph, block and op.
//!
//! ```text
//! graph f, b2, op 3 (v9 = int_add v1, v7): operand v7 is not defined on all ways to here
//! ```
//!
//! A verified graph can be evaluated, colored, specialized and compiled without another look at its shape. What is
//! checked is what the text of a graph promises and what its stage asks for; that the graph means what its source does
//! is not the verifier's business.
//!
//! It takes any module whatever, however broken, and reports all that it finds.

mod edges;
mod ops;
mod portal;
mod stages;
mod types;
mod violation;

pub(crate) use types::declarations;
pub use violation::{Rule, Types, Violation};

use crate::analysis::Dominators;
use crate::ir::*;

/// All invariants that a module violates.
pub fn verify(module: &Module) -> Result<(), Vec<Violation>> {
    let mut violations = declarations(module);
    if violations.is_empty() {
        violations.extend(module.graphs.values().flat_map(|graph| verify_graph(module, graph)));
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// In builds with debug assertions: makes sure that a stage has made a sound module. `stage` says whose work it is.
///
/// # Panics
/// If the verifier finds anything: that is a bug in the stage, whatever it was given.
pub fn assert_sound(module: &Module, stage: &str) {
    if cfg!(debug_assertions)
        && let Err(violations) = verify(module)
    {
        let found: Vec<String> = violations.iter().take(5).map(ToString::to_string).collect();
        unreachable!("{stage} gives a sound module, but the verifier finds: {}", found.join("; "));
    }
}

/// The invariants that one graph of a module violates; none if all is well.
pub fn verify_graph(module: &Module, graph: &Graph) -> Vec<Violation> {
    let mut checker = Checker { module, graph, colored: is_colored(graph), found: Vec::new(), at: (None, None) };
    if graph.blocks.is_empty() {
        // A function that is never looked into may be known by its signature alone.
        if !graph.attributes.dont_look_inside {
            checker.report(Rule::NoBlocks);
        }
        return checker.found;
    }
    checker.header();
    checker.portal();
    checker.definitions();
    for id in graph.block_ids() {
        checker.block(id);
    }
    checker.names();
    checker.found
}

/// Whether the graph is one with colors: in modules with colors, others are called as they are.
fn is_colored(graph: &Graph) -> bool {
    graph.key.contains('#') || graph.values.iter().any(|v| v.color.is_some())
}

/// One graph on its way through the checks.
struct Checker<'a> {
    module: &'a Module,
    graph: &'a Graph,
    colored: bool,
    found: Vec<Violation>,
    /// The block and op that are being looked at.
    at: (Option<BlockId>, Option<usize>),
}

impl Checker<'_> {
    fn report(&mut self, rule: Rule) {
        let (block, op) = self.at;
        self.found.push(Violation::new(self.module, self.graph, block, op, rule));
    }

    /// Whether this is a graph of a stage with colors.
    fn has_colors(&self) -> bool {
        self.colored && matches!(self.module.stage, Stage::Colored | Stage::Compiler)
    }

    /// The type of an operand, if there is such a value.
    fn ty(&self, operand: Operand) -> Option<Type> {
        match operand {
            Operand::Value(v) => self.graph.values.get(v.index()).map(|info| info.ty),
            Operand::Const(c) => Some(c.ty()),
        }
    }

    fn tys(&self, operands: &[Operand]) -> Types {
        Types(operands.iter().map(|o| self.ty(*o)).collect())
    }

    /// Names of parameters, and in flow graphs the source signature.
    fn header(&mut self) {
        let entry = &self.graph.blocks[0].params;
        if entry.len() != self.graph.params.len() {
            self.report(Rule::ParameterNames { names: self.graph.params.len(), params: entry.len() });
        }
        if self.module.stage == Stage::Residual {
            return;
        }
        if let Some(key) = self.graph.attributes.look_inside_if.as_ref().filter(|_| self.module.stage == Stage::Flow) {
            let decider = self.module.graphs.get(key).filter(|g| g.key != self.graph.key && !g.blocks.is_empty());
            if decider.is_none_or(|g| g.signature != self.graph.signature) {
                self.report(Rule::NoDecider(key.clone()));
            }
        }
        let types = |ty: &RustType| self.module.leaves(ty).into_iter().map(|leaf| Some(leaf.scalar.ty()));
        let params = Types(self.graph.signature.params.iter().flat_map(|p| types(&p.ty)).collect());
        let found = self.tys(&entry.iter().map(|v| Operand::Value(*v)).collect::<Vec<_>>());
        let result = Types(types(&self.graph.signature.result).collect());
        let results = Types(self.graph.results.iter().copied().map(Some).collect());
        if params != found {
            self.report(Rule::SignatureParameters { expected: params, found });
        }
        if result != results {
            self.report(Rule::SignatureResult { expected: result, found: results });
        }
    }

    /// Every value is there, is defined once, and before it is used on every way.
    fn definitions(&mut self) {
        let dominance = Dominators::new(self.graph);
        for id in self.graph.block_ids() {
            if !dominance.is_reachable(id) {
                self.at = (Some(id), None);
                self.report(Rule::Unreachable);
            }
        }
        // Where each value is defined: the block, and how many of its ops come before.
        let mut definitions: Vec<Option<(BlockId, usize)>> = vec![None; self.graph.values.len()];
        for id in self.graph.block_ids() {
            let block = self.graph.block(id);
            let params = block.params.iter().map(|v| (*v, 0, None));
            let results =
                block.ops.iter().enumerate().flat_map(|(i, op)| op.results.iter().map(move |v| (*v, i + 1, Some(i))));
            for (v, from, op) in params.chain(results) {
                self.at = (Some(id), op);
                match definitions.get_mut(v.index()) {
                    None => self.report(Rule::NoSuchValue(v)),
                    Some(Some(_)) => self.report(Rule::DefinedTwice(v)),
                    Some(slot) => *slot = Some((id, from)),
                }
            }
        }
        for id in self.graph.block_ids() {
            let block = self.graph.block(id);
            for (i, op) in block.ops.iter().enumerate() {
                self.at = (Some(id), Some(i));
                self.uses(&dominance, &definitions, op.args.iter().copied());
            }
            self.at = (Some(id), Some(block.ops.len()));
            let edges = block.term.edges().flat_map(|edge| edge.args.iter().copied());
            self.uses(&dominance, &definitions, block.term.operands().chain(edges));
        }
    }

    fn uses(
        &mut self,
        dominance: &Dominators,
        definitions: &[Option<(BlockId, usize)>],
        operands: impl Iterator<Item = Operand>,
    ) {
        let (Some(block), Some(at)) = self.at else { return };
        for operand in operands {
            let v = match operand {
                Operand::Value(v) => v,
                Operand::Const(Const::Addr(id, _)) if id.0 as usize >= self.module.data.len() => {
                    self.report(Rule::NoSuchData(id));
                    continue;
                }
                Operand::Const(_) => continue,
            };
            match definitions.get(v.index()) {
                None => self.report(Rule::NoSuchValue(v)),
                Some(None) => self.report(Rule::Undefined(v)),
                Some(Some((home, from))) => {
                    let before = if *home == block { *from <= at } else { dominance.dominates(*home, block) };
                    // In a block that nothing reaches nothing is wrong.
                    if !before && dominance.is_reachable(block) {
                        self.report(Rule::NotDominated(v));
                    }
                }
            }
        }
    }

    fn block(&mut self, id: BlockId) {
        let block = self.graph.block(id);
        self.at = (Some(id), None);
        self.marks(block);
        if self.has_colors() {
            self.colors_of(&block.params);
        }
        for (i, op) in block.ops.iter().enumerate() {
            self.at = (Some(id), Some(i));
            self.op(op);
            self.merge_point(block, i, op);
            self.op_stage(op);
        }
        self.at = (Some(id), Some(block.ops.len()));
        self.terminator(block);
        self.terminator_stage(&block.term);
    }

    fn names(&mut self) {
        self.at = (None, None);
        for def in &self.graph.names {
            for v in def.values.iter().filter_map(|o| o.value()) {
                if v.index() >= self.graph.values.len() {
                    self.report(Rule::NoSuchValue(v));
                }
            }
        }
    }
}
