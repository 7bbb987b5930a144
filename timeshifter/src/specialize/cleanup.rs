//! What is left to do on a finished residual graph: parameters that are always the same, dead code, and jumps to jumps.
//!
//! A residual block takes all live values as parameters, so that the engine need not think of dominance; most of them are
//! redundant, and go here. Each round is linear; rounds repeat until nothing changes.

use flowgraph::ir::{Block, BlockId, Const, Edge, Effect, Graph, Op, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

/// Cleans a residual graph.
pub fn cleanup(graph: &mut Graph) {
    loop {
        drop_unreachable(graph);
        let mut changed = drop_redundant_params(graph);
        changed |= fold_constants(graph);
        changed |= simplify_branches(graph);
        changed |= drop_dead(graph);
        changed |= shorten_jumps(graph);
        changed |= append_single_successors(graph);
        if !changed {
            return;
        }
    }
}

/// Which values are replaced by which operands. Chains are shortened when they are followed.
#[derive(Default)]
struct Replacements(FxHashMap<ValueId, Operand>);

impl Replacements {
    /// What an operand is in the end.
    fn find(&mut self, operand: Operand) -> Operand {
        let mut last = operand;
        while let Operand::Value(v) = last
            && let Some(to) = self.0.get(&v)
        {
            last = *to;
        }
        let mut at = operand;
        while let Operand::Value(v) = at
            && let Some(to) = self.0.get_mut(&v)
        {
            at = std::mem::replace(to, last);
        }
        last
    }

    /// Replaces `value` by `operand`, unless that is the value itself in the end.
    fn replace(&mut self, value: ValueId, operand: Operand) -> bool {
        let operand = self.find(operand);
        if operand == Operand::Value(value) {
            return false;
        }
        self.0.insert(value, operand);
        true
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Carries the replacements out, everywhere.
    fn apply(mut self, graph: &mut Graph) {
        for block in &mut graph.blocks {
            for arg in block.ops.iter_mut().flat_map(|op| op.args.iter_mut()) {
                *arg = self.find(*arg);
            }
            block.term.for_each_operand_mut(|operand| *operand = self.find(*operand));
        }
    }
}

/// Blocks that nothing leads to go, and the others move up.
fn drop_unreachable(graph: &mut Graph) {
    let mut reached = vec![false; graph.blocks.len()];
    let mut todo = vec![BlockId::ENTRY];
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut reached[id.index()], true) {
            todo.extend(graph.block(id).term.edges().map(|e| e.block));
        }
    }
    if reached.iter().all(|r| *r) {
        return;
    }
    let mut next = 0;
    let moved: Vec<BlockId> = reached
        .iter()
        .map(|r| {
            let id = BlockId(next);
            next += u32::from(*r);
            id
        })
        .collect();
    let mut at = 0;
    graph.blocks.retain(|_| {
        at += 1;
        reached[at - 1]
    });
    for edge in graph.blocks.iter_mut().flat_map(|b| b.term.edges_mut()) {
        edge.block = moved[edge.block.index()];
    }
}

/// For each block and parameter: the one operand that all edges hand over, if they agree (the parameter itself aside).
fn drop_redundant_params(graph: &mut Graph) -> bool {
    #[derive(Clone, Copy)]
    enum Incoming {
        None,
        One(Operand),
        Many,
    }
    let mut incoming: Vec<Vec<Incoming>> = graph.blocks.iter().map(|b| vec![Incoming::None; b.params.len()]).collect();
    for edge in graph.blocks.iter().flat_map(|b| b.term.edges()) {
        let params = &graph.block(edge.block).params;
        for ((arg, param), slot) in edge.args.iter().zip(params).zip(&mut incoming[edge.block.index()]) {
            *slot = match *slot {
                slot if *arg == Operand::Value(*param) => slot,
                Incoming::None => Incoming::One(*arg),
                Incoming::One(other) if other == *arg => Incoming::One(other),
                _ => Incoming::Many,
            };
        }
    }
    let mut replaced = Replacements::default();
    let mut redundant: Vec<Vec<bool>> = Vec::with_capacity(graph.blocks.len());
    for (at, (block, slots)) in graph.blocks.iter().zip(&incoming).enumerate() {
        let mut flags = vec![false; slots.len()];
        if at != 0 {
            for ((param, slot), flag) in block.params.iter().zip(slots).zip(&mut flags) {
                if let Incoming::One(operand) = slot {
                    *flag = replaced.replace(*param, *operand);
                }
            }
        }
        redundant.push(flags);
    }
    if replaced.is_empty() {
        return false;
    }
    remove_params(graph, &redundant);
    replaced.apply(graph);
    true
}

fn remove_params(graph: &mut Graph, remove: &[Vec<bool>]) {
    for edge in graph.blocks.iter_mut().flat_map(|b| b.term.edges_mut()) {
        let flags = &remove[edge.block.index()];
        let mut at = 0;
        edge.args.retain(|_| {
            at += 1;
            !flags[at - 1]
        });
    }
    for (block, flags) in graph.blocks.iter_mut().zip(remove) {
        let mut at = 0;
        block.params.retain(|_| {
            at += 1;
            !flags[at - 1]
        });
    }
}

/// Ops over constants, and branches on constants, that only show after substitution.
fn fold_constants(graph: &mut Graph) -> bool {
    let mut replaced = Replacements::default();
    let mut changed = false;
    for block in &mut graph.blocks {
        block.ops.retain(|op| match folded(op) {
            Some(constants) => {
                for (result, constant) in op.results.iter().zip(constants) {
                    replaced.replace(*result, constant);
                }
                false
            }
            None => true,
        });
        if let Some(edge) = decided(&block.term) {
            block.term = Terminator::Jump(edge);
            changed = true;
        }
    }
    changed |= !replaced.is_empty();
    replaced.apply(graph);
    changed
}

fn folded(op: &Op) -> Option<Vec<Operand>> {
    if !op.opcode.is_pure() {
        return None;
    }
    let words: Option<Vec<u64>> = op.args.iter().map(|a| a.constant().and_then(Const::word)).collect();
    let words = words?;
    let bits_of_nan = matches!(op.opcode, Opcode::FloatToBits | Opcode::SingleToBits);
    if bits_of_nan {
        return None;
    }
    let given = op.opcode.compute(&words)?;
    let constants = given.iter().zip(super::fold::result_types(op.opcode));
    Some(constants.map(|(word, ty)| Operand::Const(Const::from_word(ty, *word))).collect())
}

fn decided(term: &Terminator) -> Option<Edge> {
    match term {
        Terminator::Branch { cond, then, otherwise, .. } => match cond.constant() {
            Some(Const::Int(0)) => Some(otherwise.clone()),
            Some(_) => Some(then.clone()),
            None => (then == otherwise).then(|| then.clone()),
        },
        Terminator::Switch { value, cases, default, promotion: false, .. } => match value.as_int() {
            Some(i) => Some(cases.iter().find(|(case, _)| *case == i).map_or(default, |(_, e)| e).clone()),
            None => cases.iter().all(|(_, e)| e == default).then(|| default.clone()),
        },
        _ => None,
    }
}

/// A branch on `x != 0` is one on `x`, one on `x == 0` the same the other way round.
fn simplify_branches(graph: &mut Graph) -> bool {
    let mut tests: FxHashMap<ValueId, (Operand, bool)> = FxHashMap::default();
    for op in graph.blocks.iter().flat_map(|b| &b.ops) {
        let nonzero = match (op.opcode, op.args.get(1).and_then(|a| a.as_int())) {
            (Opcode::IntIsTrue, _) | (Opcode::IntNe, Some(0)) => true,
            (Opcode::IntIsZero, _) | (Opcode::IntEq, Some(0)) => false,
            _ => continue,
        };
        tests.insert(op.results[0], (op.args[0], nonzero));
    }
    let mut changed = false;
    for block in &mut graph.blocks {
        if let Terminator::Branch { cond, then, otherwise, .. } = &mut block.term {
            while let Operand::Value(v) = *cond
                && let Some((tested, nonzero)) = tests.get(&v)
            {
                *cond = *tested;
                if !nonzero {
                    std::mem::swap(then, otherwise);
                }
                changed = true;
            }
        }
    }
    changed
}

/// Whether an op may go when nobody uses what it gives.
fn removable(op: &Op) -> bool {
    matches!(op.opcode.effect(), Effect::Pure | Effect::Read | Effect::Allocate | Effect::ElidableCall)
}

/// Drops ops and parameters that nothing needs, also those that only need each other.
fn drop_dead(graph: &mut Graph) -> bool {
    let mut defined: FxHashMap<ValueId, (usize, usize)> = FxHashMap::default();
    let mut params: FxHashMap<ValueId, (usize, usize)> = FxHashMap::default();
    let mut todo: Vec<Operand> = Vec::new();
    for (b, block) in graph.blocks.iter().enumerate() {
        params.extend(block.params.iter().enumerate().map(|(i, p)| (*p, (b, i))));
        for (i, op) in block.ops.iter().enumerate() {
            defined.extend(op.results.iter().map(|r| (*r, (b, i))));
            if !removable(op) {
                todo.extend(op.args.iter().copied());
            }
        }
        todo.extend(block.term.operands());
    }
    let mut into: Vec<Vec<&Edge>> = vec![Vec::new(); graph.blocks.len()];
    for edge in graph.blocks.iter().flat_map(|b| b.term.edges()) {
        into[edge.block.index()].push(edge);
    }
    let mut needed = vec![false; graph.values.len()];
    while let Some(operand) = todo.pop() {
        let Operand::Value(v) = operand else { continue };
        if std::mem::replace(&mut needed[v.index()], true) {
            continue;
        }
        if let Some((b, i)) = defined.get(&v) {
            todo.extend(graph.blocks[*b].ops[*i].args.iter().copied());
        } else if let Some((b, i)) = params.get(&v) {
            todo.extend(into[*b].iter().map(|e| e.args[*i]));
        }
    }
    let mut changed = false;
    for block in &mut graph.blocks {
        let before = block.ops.len();
        block.ops.retain(|op| !removable(op) || op.results.iter().any(|r| needed[r.index()]));
        changed |= block.ops.len() < before;
    }
    let remove: Vec<Vec<bool>> = graph
        .blocks
        .iter()
        .enumerate()
        .map(|(b, block)| block.params.iter().map(|p| b != 0 && !needed[p.index()]).collect())
        .collect();
    if remove.iter().flatten().any(|r| *r) {
        remove_params(graph, &remove);
        changed = true;
    }
    changed
}

/// Edges to an empty block that only jumps on lead to where it jumps.
fn shorten_jumps(graph: &mut Graph) -> bool {
    let onward: Vec<Option<Edge>> = graph
        .blocks
        .iter()
        .enumerate()
        .map(|(at, block)| match block {
            Block { params, ops, term: Terminator::Jump(edge), .. }
                if params.is_empty() && ops.is_empty() && edge.block.index() != at && at != 0 =>
            {
                Some(edge.clone())
            }
            _ => None,
        })
        .collect();
    let mut changed = false;
    for edge in graph.blocks.iter_mut().flat_map(|b| b.term.edges_mut()) {
        if let Some(on) = &onward[edge.block.index()] {
            *edge = on.clone();
            changed = true;
        }
    }
    if changed {
        drop_unreachable(graph);
    }
    changed
}

/// A block that alone jumps to another takes it in.
fn append_single_successors(graph: &mut Graph) -> bool {
    let mut arrivals = vec![0usize; graph.blocks.len()];
    for edge in graph.blocks.iter().flat_map(|b| b.term.edges()) {
        arrivals[edge.block.index()] += 1;
    }
    let mut replaced = Replacements::default();
    let mut changed = false;
    for at in 0..graph.blocks.len() {
        while let Terminator::Jump(edge) = &graph.blocks[at].term {
            let (next, args) = (edge.block, edge.args.clone());
            if next.index() == at || next == BlockId::ENTRY || arrivals[next.index()] != 1 {
                break;
            }
            let taken = graph.block_mut(next);
            let params = std::mem::take(&mut taken.params);
            let mut ops = std::mem::take(&mut taken.ops);
            let term = std::mem::replace(&mut taken.term, Terminator::Return(Vec::new()));
            let loc = taken.loc;
            for (param, arg) in params.into_iter().zip(args) {
                replaced.replace(param, arg);
            }
            arrivals[next.index()] = 0;
            let block = &mut graph.blocks[at];
            block.ops.append(&mut ops);
            block.term = term;
            block.loc = loc;
            changed = true;
        }
    }
    if changed {
        replaced.apply(graph);
        drop_unreachable(graph);
    }
    changed
}
