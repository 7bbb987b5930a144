//! From the builder's blocks to a graph: parameters that are always the same go, unreachable and empty blocks go,
//! chains of blocks become one, unused pure ops go, and everything is numbered in reverse postorder.

use super::ssa::{BlockData, Builder};
use crate::ir::{Attributes, Block, BlockId, Edge, Graph, Operand, Signature, Terminator, Type, ValueId, ValueInfo};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn finish(builder: Builder, key: &str, signature: Signature, attributes: Attributes) -> Graph {
    let Builder { mut blocks, values, names, entry_params, .. } = builder;
    // A block without an end can't be reached, or the body was refused.
    for block in &mut blocks {
        block.term.get_or_insert_with(|| Terminator::Return(Vec::new()));
    }
    let mut work = Work { blocks, subst: FxHashMap::default() };
    let reachable = work.order();
    work.drop_trivial_params(&reachable.iter().copied().collect());
    work.arguments(&reachable);
    work.substitute();
    work.thread(&reachable);
    work.merge_chains();
    work.substitute();
    let mut names = names;
    for name in &mut names {
        name.values.iter_mut().for_each(|v| *v = work.find(*v));
    }
    let order = work.order();
    let defined = work.defined(&order, &entry_params);
    names.retain(|n| n.values.iter().all(|o| o.value().is_none_or(|v| defined.contains(&v))));
    let named: Vec<Operand> = names.iter().flat_map(|n| n.values.iter().copied()).collect();
    work.drop_unused(&order, &named);

    let mut graph = Graph::new(key, signature);
    graph.attributes = attributes;
    let numbers: FxHashMap<BlockId, BlockId> =
        order.iter().enumerate().map(|(i, b)| (*b, BlockId(u32::try_from(i).unwrap_or(u32::MAX)))).collect();
    let mut renumber = Renumber { map: FxHashMap::default(), types: &values, infos: Vec::new() };
    let mut done = Vec::with_capacity(order.len());
    for id in &order {
        let data = std::mem::take(&mut work.blocks[id.index()]);
        let mut params: Vec<ValueId> = data.phis.iter().map(|p| p.value).collect();
        if *id == BlockId::ENTRY {
            params = entry_params.clone();
        }
        let params = params.into_iter().map(|v| renumber.define(v)).collect();
        let mut ops = data.ops;
        for op in &mut ops {
            op.results.iter_mut().for_each(|v| *v = renumber.define(*v));
        }
        let term = data.term.unwrap_or(Terminator::Return(Vec::new()));
        done.push(Block { params, ops, term, loc: data.loc, marks: Vec::new() });
    }
    for block in &mut done {
        for op in &mut block.ops {
            op.args.iter_mut().for_each(|a| *a = renumber.operand(*a));
        }
        block.term.for_each_operand_mut(|o| *o = renumber.operand(*o));
        for edge in block.term.edges_mut() {
            edge.block = numbers.get(&edge.block).copied().unwrap_or(BlockId::ENTRY);
        }
    }
    for name in &mut names {
        name.values.iter_mut().for_each(|v| *v = renumber.operand(*v));
    }
    graph.values = renumber.infos;
    graph.blocks = done;
    graph.names = names;
    graph
}

struct Renumber<'a> {
    map: FxHashMap<ValueId, ValueId>,
    types: &'a [Type],
    infos: Vec<ValueInfo>,
}

impl Renumber<'_> {
    fn define(&mut self, v: ValueId) -> ValueId {
        self.infos.push(ValueInfo { ty: self.types[v.index()], color: None });
        let new = ValueId(u32::try_from(self.infos.len() - 1).unwrap_or(u32::MAX));
        self.map.insert(v, new);
        new
    }

    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Value(v) => {
                self.map.get(&v).map_or(super::ssa::zero(self.types[v.index()]), |new| Operand::Value(*new))
            }
            constant => constant,
        }
    }
}

struct Work {
    blocks: Vec<BlockData>,
    subst: FxHashMap<ValueId, Operand>,
}

impl Work {
    fn term(&self, block: BlockId) -> Option<&Terminator> {
        self.blocks[block.index()].term.as_ref()
    }

    fn find(&self, operand: Operand) -> Operand {
        let mut operand = operand;
        while let Operand::Value(v) = operand {
            match self.subst.get(&v) {
                Some(next) => operand = *next,
                None => break,
            }
        }
        operand
    }

    /// Reverse postorder, the first edge of a terminator first.
    fn order(&self) -> Vec<BlockId> {
        let mut seen = vec![false; self.blocks.len()];
        let mut postorder = Vec::new();
        let successors = |b: BlockId| -> Vec<BlockId> {
            self.term(b).map(|t| t.edges().map(|e| e.block).collect()).unwrap_or_default()
        };
        seen[0] = true;
        let mut stack = vec![(BlockId::ENTRY, successors(BlockId::ENTRY))];
        while let Some((block, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if !seen[next.index()] => {
                    seen[next.index()] = true;
                    let after = successors(next);
                    stack.push((next, after));
                }
                Some(_) => {}
                None => {
                    postorder.push(*block);
                    stack.pop();
                }
            }
        }
        postorder.reverse();
        postorder
    }

    fn drop_trivial_params(&mut self, reachable: &FxHashSet<BlockId>) {
        for block in &mut self.blocks {
            for phi in &mut block.phis {
                phi.args.retain(|(pred, _)| reachable.contains(pred));
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for id in 0..self.blocks.len() {
                if self.blocks[id].pinned || !reachable.contains(&BlockId(id as u32)) {
                    continue;
                }
                let mut phis = std::mem::take(&mut self.blocks[id].phis);
                phis.retain(|phi| {
                    let mut only = None;
                    for (_, arg) in &phi.args {
                        let arg = self.find(*arg);
                        if arg == Operand::Value(phi.value) || only == Some(arg) {
                            continue;
                        }
                        if only.is_some() {
                            return true;
                        }
                        only = Some(arg);
                    }
                    let only = only.unwrap_or(Operand::int(0));
                    self.subst.insert(phi.value, only);
                    changed = true;
                    false
                });
                self.blocks[id].phis = phis;
            }
        }
    }

    /// Gives the edges their arguments.
    fn arguments(&mut self, reachable: &[BlockId]) {
        for from in reachable {
            let Some(mut term) = self.blocks[from.index()].term.take() else { continue };
            for edge in term.edges_mut() {
                edge.args = self.blocks[edge.block.index()]
                    .phis
                    .iter()
                    .map(|phi| phi.args.iter().find(|(pred, _)| pred == from).map_or(Operand::int(0), |(_, a)| *a))
                    .collect();
            }
            self.blocks[from.index()].term = Some(term);
        }
    }

    fn substitute(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        for block in &mut blocks {
            for op in &mut block.ops {
                op.args.iter_mut().for_each(|a| *a = self.find(*a));
            }
            if let Some(term) = &mut block.term {
                term.for_each_operand_mut(|o| *o = self.find(*o));
            }
        }
        self.blocks = blocks;
    }

    /// Leads edges past blocks that only jump on.
    fn thread(&mut self, reachable: &[BlockId]) {
        let uses = self.use_counts(reachable);
        let mut bypass: FxHashMap<BlockId, (Vec<ValueId>, Edge)> = FxHashMap::default();
        for id in reachable {
            let data = &self.blocks[id.index()];
            let Some(Terminator::Jump(next)) = &data.term else { continue };
            if *id == BlockId::ENTRY || data.pinned || !data.ops.is_empty() || next.block == *id {
                continue;
            }
            // The parameters are used nowhere but on the way out.
            let local = |v: ValueId| next.args.iter().filter(|a| **a == Operand::Value(v)).count();
            if data.phis.iter().all(|p| uses.get(&p.value).copied().unwrap_or(0) == local(p.value)) {
                let params = data.phis.iter().map(|p| p.value).collect();
                bypass.insert(*id, (params, next.clone()));
            }
        }
        for id in reachable {
            let Some(mut term) = self.blocks[id.index()].term.take() else { continue };
            for edge in term.edges_mut() {
                let mut steps = 0;
                while let Some((params, next)) = bypass.get(&edge.block) {
                    let given: FxHashMap<ValueId, Operand> =
                        params.iter().copied().zip(edge.args.iter().copied()).collect();
                    let pass = |a: &Operand| a.value().and_then(|v| given.get(&v)).copied().unwrap_or(*a);
                    *edge = Edge::new(next.block, next.args.iter().map(pass));
                    steps += 1;
                    if steps > bypass.len() {
                        break;
                    }
                }
            }
            if let Terminator::Branch { then, otherwise, .. } = &term
                && then == otherwise
            {
                term = Terminator::Jump(then.clone());
            }
            self.blocks[id.index()].term = Some(term);
        }
    }

    fn use_counts(&self, blocks: &[BlockId]) -> FxHashMap<ValueId, usize> {
        let mut uses: FxHashMap<ValueId, usize> = FxHashMap::default();
        let mut count = |o: &Operand| {
            if let Operand::Value(v) = o {
                *uses.entry(*v).or_default() += 1;
            }
        };
        for id in blocks {
            let data = &self.blocks[id.index()];
            data.ops.iter().flat_map(|op| &op.args).for_each(&mut count);
            if let Some(term) = &data.term {
                term.operands().for_each(|operand| count(&operand));
                term.edges().flat_map(|e| &e.args).for_each(&mut count);
            }
        }
        uses
    }

    /// Appends to a block the one that it jumps to, if nothing else leads there.
    fn merge_chains(&mut self) {
        let order = self.order();
        let mut edges_to: FxHashMap<BlockId, usize> = FxHashMap::default();
        for id in &order {
            for edge in self.term(*id).into_iter().flat_map(Terminator::edges) {
                *edges_to.entry(edge.block).or_default() += 1;
            }
        }
        let mut gone: FxHashSet<BlockId> = FxHashSet::default();
        for id in order {
            if gone.contains(&id) {
                continue;
            }
            while let Some(Terminator::Jump(edge)) = self.term(id) {
                let (next, args) = (edge.block, edge.args.clone());
                // A merge point begins its block.
                let pinned = self.blocks[next.index()].pinned;
                let begins = id != BlockId::ENTRY && self.blocks[id.index()].ops.is_empty();
                if next == id || next == BlockId::ENTRY || (pinned && !begins) || edges_to.get(&next) != Some(&1) {
                    break;
                }
                if pinned && !self.blocks[next.index()].phis.is_empty() {
                    break;
                }
                self.blocks[id.index()].pinned |= pinned;
                let data = std::mem::take(&mut self.blocks[next.index()]);
                gone.insert(next);
                for (phi, arg) in data.phis.iter().zip(args) {
                    let arg = self.find(arg);
                    if arg != Operand::Value(phi.value) {
                        self.subst.insert(phi.value, arg);
                    }
                }
                let this = &mut self.blocks[id.index()];
                this.ops.extend(data.ops);
                this.term = data.term;
                this.loc = data.loc;
            }
        }
    }

    /// Every value that some block still defines.
    fn defined(&self, order: &[BlockId], entry: &[ValueId]) -> FxHashSet<ValueId> {
        let blocks = || order.iter().map(|b| &self.blocks[b.index()]);
        let params = blocks().flat_map(|b| &b.phis).map(|p| p.value);
        let results = blocks().flat_map(|b| &b.ops).flat_map(|op| op.results.iter().copied());
        params.chain(results).chain(entry.iter().copied()).collect()
    }

    /// Drops pure ops whose results nothing uses.
    fn drop_unused(&mut self, order: &[BlockId], named: &[Operand]) {
        let mut uses = self.use_counts(order);
        for v in named.iter().filter_map(|o| o.value()) {
            *uses.entry(v).or_default() += 1;
        }
        for id in order.iter().rev() {
            let mut ops = std::mem::take(&mut self.blocks[id.index()].ops);
            let mut kept = Vec::with_capacity(ops.len());
            while let Some(op) = ops.pop() {
                let used = op.results.iter().any(|v| uses.get(v).copied().unwrap_or(0) > 0);
                if op.opcode.is_pure() && !used {
                    for v in op.args.iter().filter_map(|a| a.value()) {
                        if let Some(n) = uses.get_mut(&v) {
                            *n -= 1;
                        }
                    }
                } else {
                    kept.push(op);
                }
            }
            kept.reverse();
            self.blocks[id.index()].ops = kept;
        }
    }
}
