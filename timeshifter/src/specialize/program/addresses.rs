//! Which values of a compiler graph may be addresses: those that memory is accessed by, and that are handed to others
//! as references, with all that they are computed of. What a word of any other value looks like says nothing.

use flowgraph::ir::{Access, Effect, Graph, Module, Opcode, Operand, ValueId};
use rustc_hash::FxHashMap;

/// By value, whether it may be an address. `in_memory` says whether references may lie in memory.
pub(crate) fn addresses(graph: &Graph, module: &Module, in_memory: bool) -> Vec<bool> {
    let mut found = Addresses { is_address: vec![false; graph.values.len()], todo: Vec::new() };
    let mut computed_of: FxHashMap<ValueId, &[Operand]> = FxHashMap::default();
    for op in graph.blocks.iter().flat_map(|block| &block.ops) {
        // A hint gives what it is handed: `variable(m)` is the reference that `m` is.
        if matches!(op.opcode.effect(), Effect::Pure | Effect::Hint) {
            computed_of.extend(op.results.iter().map(|result| (*result, &op.args[..])));
        }
        if let Some(desc) = op.mem() {
            found.add(op.args.first());
            // What is stored may be loaded and used as one.
            if op.opcode.effect() == Effect::Write && in_memory && desc.access == Access::I64 {
                found.add(op.args.last());
            }
        }
        if let Some(callee) = op.callee() {
            let params = module.graphs.get(&*callee.name).map(|graph| &graph.signature.params);
            let leaves: Vec<bool> = (params.into_iter().flatten())
                .flat_map(|param| module.leaves(&param.ty))
                .map(|leaf| leaf.reference.is_some())
                .collect();
            op.args
                .iter()
                .enumerate()
                .filter(|(at, _)| leaves.get(*at) != Some(&false))
                .for_each(|(_, arg)| found.add(Some(arg)));
        }
        if op.opcode == Opcode::RecordExactValue || op.opcode == Opcode::RecordKnownResult {
            op.args.iter().for_each(|arg| found.add(Some(arg)));
        }
    }
    if module.has_reference(&graph.signature.result) {
        graph.blocks.iter().flat_map(|block| block.term.operands()).for_each(|operand| found.add(Some(&operand)));
    }
    let mut params: FxHashMap<ValueId, (usize, usize)> = FxHashMap::default();
    for (block, code) in graph.blocks.iter().enumerate() {
        params.extend(code.params.iter().enumerate().map(|(at, param)| (*param, (block, at))));
    }
    let mut incoming: Vec<Vec<&[Operand]>> = vec![Vec::new(); graph.blocks.len()];
    graph
        .blocks
        .iter()
        .flat_map(|block| block.term.edges())
        .for_each(|edge| incoming[edge.block.index()].push(&edge.args));
    while let Some(value) = found.todo.pop() {
        if let Some((block, at)) = params.get(&value) {
            incoming[*block].iter().for_each(|args| found.add(args.get(*at)));
        }
        computed_of.get(&value).into_iter().flat_map(|args| args.iter()).for_each(|arg| found.add(Some(arg)));
    }
    found.is_address
}

struct Addresses {
    is_address: Vec<bool>,
    todo: Vec<ValueId>,
}

impl Addresses {
    fn add(&mut self, operand: Option<&Operand>) {
        if let Some(Operand::Value(value)) = operand
            && !std::mem::replace(&mut self.is_address[value.index()], true)
        {
            self.todo.push(*value);
        }
    }
}
