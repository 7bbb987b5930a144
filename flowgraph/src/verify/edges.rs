//! Terminators: edges, returns, traps, exits.

use super::ops::parameter_types;
use super::{Checker, Rule, Types};
use crate::ir::*;
use rustc_hash::FxHashSet;

impl Checker<'_> {
    pub(super) fn terminator(&mut self, block: &Block) {
        for edge in block.term.edges() {
            self.edge(edge);
        }
        match &block.term {
            Terminator::Jump(_) => {}
            Terminator::Branch { cond, .. } => self.condition(*cond),
            Terminator::Switch { value, cases, .. } => {
                self.condition(*value);
                let mut seen = FxHashSet::default();
                for (case, _) in cases {
                    if !seen.insert(*case) {
                        self.report(Rule::DuplicateCase(*case));
                    }
                }
            }
            Terminator::Return(values) => {
                let expected = Types(self.graph.results.iter().copied().map(Some).collect());
                let found = self.tys(values);
                if expected != found {
                    self.report(Rule::ReturnTypes { expected, found });
                }
            }
            Terminator::Trap(trap) => self.trap(trap),
            Terminator::Exit { guard, .. } => self.condition(*guard),
            Terminator::Enter { graph, args } => match self.module.graphs.get(&**graph) {
                None => self.report(Rule::NoSuchFunction(graph.to_string())),
                Some(target) => {
                    let (expected, found) = (parameter_types(self.module, target), self.tys(args));
                    if expected != found {
                        self.report(Rule::Arguments { callee: graph.to_string(), expected, found });
                    }
                }
            },
        }
    }

    fn condition(&mut self, operand: Operand) {
        match self.ty(operand) {
            Some(Type::Int) | None => {}
            Some(other) => self.report(Rule::ConditionType(other)),
        }
    }

    fn edge(&mut self, edge: &Edge) {
        let to = edge.block;
        let Some(target) = self.graph.blocks.get(to.index()) else { return self.report(Rule::NoSuchBlock(to)) };
        if to == BlockId::ENTRY {
            self.report(Rule::EntryPredecessor);
        }
        if target.params.len() != edge.args.len() {
            let (expected, found) = (target.params.len(), edge.args.len());
            self.report(Rule::EdgeArguments { to, expected, found });
        }
        for (index, (param, arg)) in target.params.iter().zip(&edge.args).enumerate() {
            if let (Some(expected), Some(found)) = (self.ty(Operand::Value(*param)), self.ty(*arg))
                && expected != found
            {
                self.report(Rule::EdgeType { to, index, expected, found });
            }
        }
    }

    fn trap(&mut self, trap: &Trap) {
        if trap.kind.has_message() != trap.message.is_some() {
            self.report(Rule::TrapMessage(trap.kind.has_message()));
        }
        let expected = trap.kind.operands().unwrap_or_else(|| trap.message.as_deref().map_or(0, placeholders));
        if expected != trap.args.len() {
            self.report(Rule::TrapOperands { expected, found: trap.args.len() });
        }
        for (index, (operand, shown)) in trap.args.iter().enumerate() {
            match self.ty(*operand) {
                Some(found) if found != shown.ty() => self.report(Rule::TrapType { index, shown: *shown, found }),
                _ => {}
            }
        }
    }
}

/// How many operands a message shows: its braces, without the doubled ones.
fn placeholders(message: &str) -> usize {
    let text = message.replace("{{", "").replace("}}", "");
    text.matches('{').count()
}
