//! Operands, results and immediates, by the op table.

use super::{Checker, Rule, Types};
use crate::ir::*;
use crate::math;

impl Checker<'_> {
    pub(super) fn op(&mut self, op: &Op) {
        self.immediate(op);
        let (operands, results) = (op.opcode.operands(), op.opcode.results());
        let rest = |types: &[OperandType]| types.contains(&OperandType::Rest);
        if !rest(operands) && operands.len() != op.args.len() {
            self.report(Rule::OperandCount { opcode: op.opcode, expected: operands.len(), found: op.args.len() });
        }
        if !rest(results) && results.len() != op.results.len() {
            self.report(Rule::ResultCount { opcode: op.opcode, expected: results.len(), found: op.results.len() });
        }
        // All `Any` of a row are of one type: that of the first.
        let mut any = None;
        for (index, (wanted, operand)) in operands.iter().zip(&op.args).enumerate() {
            let Some(found) = self.ty(*operand) else { continue };
            if let Some(expected) = expected(op, *wanted, found, &mut any)
                && expected != found
            {
                self.report(Rule::OperandType { opcode: op.opcode, index, expected, found });
            }
        }
        for (wanted, value) in results.iter().zip(&op.results) {
            let Some(found) = self.ty(Operand::Value(*value)) else { continue };
            if let Some(expected) = expected(op, *wanted, found, &mut any)
                && expected != found
            {
                self.report(Rule::ResultType { opcode: op.opcode, value: *value, expected, found });
            }
        }
        if op.opcode.effect() == Effect::Write && op.mem().is_some_and(|desc| desc.kind == MemKind::Immutable) {
            self.report(Rule::StoresImmutable);
        }
        if let Some(callee) = op.callee() {
            self.call(op, callee);
        }
        if let Some(function) = op.recorded() {
            self.recorded(op, function);
        }
    }

    fn immediate(&mut self, op: &Op) {
        let needs = match op.opcode.effect() {
            _ if op.opcode == Opcode::RecordKnownResult => "a callee",
            // Where it isn't said the value is what its word is.
            _ if op.opcode == Opcode::RecordExactValue && op.imm != Imm::None => "a type of its values",
            Effect::Read | Effect::Write => "a descriptor",
            Effect::Call | Effect::ElidableCall => "a callee",
            Effect::Allocate => "a size",
            Effect::Pure | Effect::Hint => "nothing",
        };
        let has = match op.imm {
            Imm::None => "nothing",
            Imm::Mem(_) => "a descriptor",
            Imm::Call(_) => "a callee",
            Imm::Slot(_) => "a size",
            Imm::Scalar(scalar) if self.tys(&op.args).0.iter().any(|ty| *ty != Some(scalar.ty())) => "another type",
            Imm::Scalar(_) => "a type of its values",
        };
        if needs != has {
            self.report(Rule::Immediate { opcode: op.opcode, needs, has });
        }
    }

    /// What is said of a function's result. A residual graph may say it of one that it doesn't call, and that isn't
    /// there.
    fn recorded(&mut self, op: &Op, function: &Callee) {
        let Some(target) = self.module.graphs.get(&*function.name) else { return };
        let mut expected = Types(target.results.iter().copied().map(Some).collect());
        expected.0.extend(parameter_types(self.module, target).0);
        let found = self.tys(&op.args);
        if found != expected {
            self.report(Rule::Arguments { callee: function.name.to_string(), expected, found });
        }
    }

    fn call(&mut self, op: &Op, callee: &Callee) {
        let is = |types: &[Type]| Types(types.iter().copied().map(Some).collect());
        let (params, results) = match callee.libm() {
            Some(name) => match math::FUNCTIONS.iter().find(|f| f.name == name) {
                Some(function) => (is(function.params()), is(&[function.result()])),
                None => return self.report(Rule::NoSuchFunction(callee.name.to_string())),
            },
            None => match self.module.graphs.get(&*callee.name) {
                Some(target) => (parameter_types(self.module, target), is(&target.results)),
                None => return self.report(Rule::NoSuchFunction(callee.name.to_string())),
            },
        };
        let found = self.tys(&op.args);
        if found != params {
            self.report(Rule::Arguments { callee: callee.name.to_string(), expected: params, found });
        }
        let found = self.tys(&op.results.iter().map(|v| Operand::Value(*v)).collect::<Vec<_>>());
        if found != results {
            self.report(Rule::Results { callee: callee.name.to_string(), expected: results, found });
        }
    }
}

/// The types of a graph's parameters; those of the signature, if it has no blocks.
pub(super) fn parameter_types(module: &Module, graph: &Graph) -> Types {
    match graph.blocks.first() {
        Some(entry) => Types(entry.params.iter().map(|v| graph.values.get(v.index()).map(|info| info.ty)).collect()),
        None => {
            let leaves = graph.signature.params.iter().flat_map(|p| module.leaves(&p.ty));
            Types(leaves.map(|leaf| Some(leaf.scalar.ty())).collect())
        }
    }
}

/// The type that a row asks for where `found` is; `None` if it is all the same.
fn expected(op: &Op, wanted: OperandType, found: Type, any: &mut Option<Type>) -> Option<Type> {
    match wanted {
        OperandType::Is(ty) => Some(ty),
        OperandType::Any => Some(*any.get_or_insert(found)),
        OperandType::Accessed => op.mem().map(|desc| desc.access.ty()),
        OperandType::Rest => None,
    }
}
