//! The driver: from a flow module and an entry to the colored module.

use crate::colors::Colors;
use crate::demand::Demand;
use crate::error::ColorError;
use crate::forward::{Colored, Forward};
use crate::program::{FnId, Program};
use crate::signature::{Letter, Sig, twin_key};
use crate::{blame, reason};
use flowgraph::ir::{Color, Effect, Graph, Imm, Module, Opcode, Stage};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Colors everything that `entry` reaches, with the source parameters in `green` known when compiling. For an entry
/// that is a portal its attribute says which are known, and `green` is not looked at. The module must have passed the
/// verifier.
///
/// # Errors
/// All values that must be green but can't be; or [`ColorError::NoSuchFunction`].
pub fn annotate(module: &Module, entry: &str, green: &BTreeSet<usize>) -> Result<Colors, Vec<ColorError>> {
    let program = Program::new(module);
    let Some(root) = program.find(entry) else {
        return Err(vec![ColorError::no_such_function(module, entry)]);
    };
    if let Some(bad) = check_positions(&program, root, green) {
        return Err(vec![bad]);
    }
    let function = program.function(root);
    let known: Vec<bool> =
        function.leaves.iter().map(|leaf| leaf.key.unwrap_or_else(|| green.contains(&leaf.source))).collect();
    let demand = Demand::find(&program, root, &known);
    let errors = blame::errors(&program, &demand);
    if !errors.is_empty() {
        return Err(errors);
    }
    let sig = root_signature(&program, &demand, root, &known);
    let reached = reach(&program, &demand, root, &sig);
    let mut out = skeleton(module);
    out.entry = Some(sig.key(entry));
    for colored in &reached {
        let graph = colored_graph(&program, colored);
        out.graphs.insert(graph.key.clone(), graph);
    }
    let functions: IndexSet<FnId> = reached.iter().map(|c| c.function).collect();
    for &id in &functions {
        let twin = twin_graph(&program, id);
        out.graphs.insert(twin.key.clone(), twin);
    }
    add_residual(&program, &mut out);
    let reasons = reason::of_all(&program, &demand, &reached);
    Ok(Colors::new(out, reasons))
}

fn check_positions(program: &Program<'_>, root: FnId, green: &BTreeSet<usize>) -> Option<ColorError> {
    let graph = program.function(root).graph;
    let count = graph.signature.params.len().max(program.function(root).leaves.last().map_or(0, |l| l.source + 1));
    let position = *green.iter().find(|p| **p >= count)?;
    Some(ColorError::NoSuchParameter { function: graph.function.clone(), position, count })
}

fn root_signature(program: &Program<'_>, demand: &Demand<'_, '_>, root: FnId, known: &[bool]) -> Sig {
    let function = program.function(root);
    let want = vec![false; function.graph.results.len()];
    let demanded = |p| demand.lookup(root, &want).is_some_and(|i| i.demanded.contains_key(&p));
    let letters = function.graph.entry_params().iter().zip(known).map(|(p, known)| match (demanded(*p), known) {
        (true, _) => Letter::Green,
        (false, true) => Letter::Known,
        (false, false) => Letter::Red,
    });
    Sig { letters: letters.collect(), want }
}

/// The functions in the signatures in which `root` reaches them, it first.
fn reach(program: &Program<'_>, demand: &Demand<'_, '_>, root: FnId, sig: &Sig) -> Vec<Rc<Colored>> {
    let mut forward = Forward::new(program, demand);
    let mut order: IndexSet<(FnId, Sig)> = IndexSet::from([(root, sig.clone())]);
    let mut out = Vec::new();
    while let Some((id, sig)) = order.get_index(out.len()).cloned() {
        let colored = forward.color(id, &sig);
        let mut calls: Vec<_> = colored.calls.iter().collect();
        calls.sort();
        order.extend(calls.into_iter().map(|(_, callee)| callee.clone()));
        out.push(colored);
    }
    out
}

/// The module without its graphs.
fn skeleton(module: &Module) -> Module {
    Module {
        stage: Stage::Colored,
        files: module.files.clone(),
        structs: module.structs.clone(),
        enums: module.enums.clone(),
        data: module.data.clone(),
        graphs: IndexMap::new(),
        entry: None,
    }
}

fn colored_graph(program: &Program<'_>, colored: &Colored) -> Graph {
    let flow = program.function(colored.function).graph;
    let mut graph = flow.clone();
    graph.key = colored.sig.key(&flow.function);
    for (info, color) in graph.values.iter_mut().zip(&colored.colors) {
        info.color = Some(*color);
    }
    for (&(block, op), (callee, sig)) in &colored.calls {
        if let Imm::Call(target) = &mut graph.block_mut(block).ops[op].imm {
            target.name = sig.key(&program.function(*callee).graph.function).into();
        }
    }
    graph
}

/// The function with everything red: what can go on without any green.
fn twin_graph(program: &Program<'_>, id: FnId) -> Graph {
    let mut graph = program.function(id).graph.clone();
    graph.key = twin_key(&graph.function);
    for info in &mut graph.values {
        info.color = Some(Color::Red);
    }
    for op in graph.blocks.iter_mut().flat_map(|b| &mut b.ops) {
        let Some(callee) = op.callee() else { continue };
        if let crate::program::Kind::LookedInto(callee) = program.kind(op, callee) {
            let key = twin_key(&program.function(callee).graph.function);
            if let Imm::Call(target) = &mut op.imm {
                target.name = key.into();
            }
        }
    }
    for block in &mut graph.blocks {
        for op in block.ops.iter().filter(|op| op.opcode == Opcode::StackSlot) {
            debug_assert_eq!(op.opcode.effect(), Effect::Allocate);
            for r in &op.results {
                graph.values[r.index()].color = Some(Color::Blue);
            }
        }
    }
    graph
}

/// Adds the functions that are called without being looked into, and all that they call, as they are.
fn add_residual(program: &Program<'_>, out: &mut Module) {
    let mut todo: Vec<FnId> = called(program, out.graphs.values());
    while let Some(id) = todo.pop() {
        let graph = program.function(id).graph;
        if !out.graphs.contains_key(&graph.key) {
            todo.extend(called(program, [graph]));
            out.graphs.insert(graph.key.clone(), graph.clone());
        }
    }
}

fn called<'g>(program: &Program<'_>, graphs: impl IntoIterator<Item = &'g Graph>) -> Vec<FnId> {
    let ops = graphs.into_iter().flat_map(|g| &g.blocks).flat_map(|b| &b.ops);
    let mut out: Vec<FnId> = ops.filter_map(|op| program.find(&op.callee().or(op.recorded())?.name)).collect();
    out.reverse();
    out
}
