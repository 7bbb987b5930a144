//! Makes failing cases small: graph surgery as long as the case goes on failing.
//!
//! Byte strings that a generator reads shrink to simpler programs; from there on it is quicker to cut the graphs
//! themselves: runs and greens go, a branch becomes a jump, an op's results become zeros, a call goes, a parameter of a
//! block becomes a zero. What no longer verifies is not tried.

use crate::Case;
use flowgraph::ir::{BlockId, Const, Edge, Graph, Op, Operand, Terminator, Type, ValueId};
use flowgraph::text::renumber;
use flowgraph::verify::verify;

/// The smallest case found for which `fails` still says yes.
pub fn shrink(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    loop {
        let before = best.clone();
        cut_runs(&mut best, fails);
        cut_functions(&mut best, fails);
        attempt(&mut best, fails, |case| {
            case.module.graphs.values_mut().for_each(|graph| graph.names.clear());
        });
        let keys: Vec<String> = best.module.graphs.keys().cloned().collect();
        for key in keys {
            cut_ways(&mut best, &key, fails);
            cut_ops(&mut best, &key, fails);
            cut_params(&mut best, &key, fails);
        }
        if best.module == before.module && best.runs == before.runs && best.greens == before.greens {
            return best;
        }
    }
}

fn attempt(best: &mut Case, fails: &dyn Fn(&Case) -> bool, change: impl FnOnce(&mut Case)) -> bool {
    let mut case = best.clone();
    change(&mut case);
    for graph in case.module.graphs.values_mut() {
        *graph = renumber(graph);
    }
    let good = verify(&case.module).is_ok() && fails(&case);
    if good {
        *best = case;
    }
    good
}

fn cut_runs(best: &mut Case, fails: &dyn Fn(&Case) -> bool) {
    let mut at = 0;
    while at < best.runs.len() && best.runs.len() > 1 {
        if !attempt(best, fails, |case| drop(case.runs.remove(at))) {
            at += 1;
        }
    }
    for green in best.greens.clone() {
        attempt(best, fails, |case| {
            case.greens.remove(&green);
        });
    }
}

fn cut_functions(best: &mut Case, fails: &dyn Fn(&Case) -> bool) {
    let keys: Vec<String> = best.module.graphs.keys().filter(|k| **k != best.entry).cloned().collect();
    for key in keys {
        attempt(best, fails, |case| drop(case.module.graphs.shift_remove(&key)));
    }
}

fn graph<'c>(case: &'c Case, key: &str) -> &'c Graph {
    &case.module.graphs[key]
}

fn cut_ways(best: &mut Case, key: &str, fails: &dyn Fn(&Case) -> bool) {
    let mut at = 0;
    while at < graph(best, key).blocks.len() {
        let edges: Vec<Edge> = graph(best, key).blocks[at].term.edges().cloned().collect();
        if matches!(graph(best, key).blocks[at].term, Terminator::Branch { .. } | Terminator::Switch { .. }) {
            for edge in edges {
                let term = Terminator::Jump(edge);
                if attempt(best, fails, |case| case.module.graphs[key].blocks[at].term = term) {
                    break;
                }
            }
        }
        // To leave at once, and to take in what only this block leads to.
        let results = graph(best, key).results.clone();
        let zeros = results.iter().map(|ty| zero(*ty)).collect();
        if at < graph(best, key).blocks.len() && !matches!(graph(best, key).blocks[at].term, Terminator::Return(_)) {
            attempt(best, fails, |case| case.module.graphs[key].blocks[at].term = Terminator::Return(zeros));
        }
        if at < graph(best, key).blocks.len() {
            attempt(best, fails, |case| append_next(&mut case.module.graphs[key], at));
        }
        at += 1;
    }
}

/// A block that jumps to one that nothing else leads to takes it in.
fn append_next(graph: &mut Graph, at: usize) {
    let Terminator::Jump(edge) = graph.blocks[at].term.clone() else { return };
    let arrivals = graph.edges().filter(|e| e.block == edge.block).count();
    if arrivals != 1 || edge.block == BlockId::ENTRY || edge.block.index() == at {
        return;
    }
    let next = graph.block(edge.block).clone();
    graph.blocks[at].ops.extend(next.ops.iter().cloned());
    graph.blocks[at].term = next.term.clone();
    graph.blocks[at].loc = next.loc;
    // The block itself stays until it is renumbered away; what it defines is defined here now.
    let gone = graph.block_mut(edge.block);
    gone.ops.clear();
    gone.params.clear();
    gone.term = Terminator::Return(Vec::new());
    for (param, arg) in next.params.iter().zip(edge.args) {
        replace(graph, *param, arg);
    }
}

fn cut_ops(best: &mut Case, key: &str, fails: &dyn Fn(&Case) -> bool) {
    let mut block = 0;
    while block < graph(best, key).blocks.len() {
        let mut size = graph(best, key).blocks[block].ops.len().max(1);
        while size > 0 {
            let mut at = 0;
            while block < graph(best, key).blocks.len() && at < graph(best, key).blocks[block].ops.len() {
                let end = (at + size).min(graph(best, key).blocks[block].ops.len());
                if attempt(best, fails, |case| cut(&mut case.module.graphs[key], block, at..end, false)) {
                    continue;
                }
                // Not the op, but what it gives goes on as one of its operands.
                if size > 1 || !attempt(best, fails, |case| cut(&mut case.module.graphs[key], block, at..end, true)) {
                    at += size;
                }
            }
            size /= 2;
        }
        block += 1;
    }
}

fn cut(graph: &mut Graph, block: usize, ops: std::ops::Range<usize>, forward: bool) {
    let gone: Vec<Op> = graph.blocks[block].ops.drain(ops).collect();
    for op in gone {
        for result in &op.results {
            let ty = graph.values[result.index()].ty;
            let same = op.args.iter().find(|a| forward && a.value().is_some() && graph.ty(**a) == ty).copied();
            replace(graph, *result, same.unwrap_or_else(|| zero(ty)));
        }
    }
}

fn cut_params(best: &mut Case, key: &str, fails: &dyn Fn(&Case) -> bool) {
    for block in 1..graph(best, key).blocks.len() {
        let mut at = 0;
        while graph(best, key).blocks.get(block).is_some_and(|b| at < b.params.len()) {
            let changed = attempt(best, fails, |case| {
                let graph = &mut case.module.graphs[key];
                let param = graph.blocks[block].params.remove(at);
                let mut first = None;
                for edge in graph.blocks.iter_mut().flat_map(|b| b.term.edges_mut()) {
                    if edge.block.index() == block {
                        first.get_or_insert(edge.args.remove(at));
                    }
                }
                let zero = zero(graph.values[param.index()].ty);
                replace(graph, param, first.filter(|f| f.constant().is_some()).unwrap_or(zero));
            });
            at += usize::from(!changed);
        }
    }
}

fn replace(graph: &mut Graph, value: ValueId, by: Operand) {
    let set = |operand: &mut Operand| {
        if *operand == Operand::Value(value) {
            *operand = by;
        }
    };
    for block in &mut graph.blocks {
        block.ops.iter_mut().flat_map(|op| op.args.iter_mut()).for_each(set);
        block.term.for_each_operand_mut(set);
    }
    graph.names.iter_mut().flat_map(|n| n.values.iter_mut()).for_each(set);
}

fn zero(ty: Type) -> Operand {
    Operand::Const(Const::from_word(ty, 0))
}
