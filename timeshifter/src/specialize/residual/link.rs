//! Linking: fragments that enter each other become one residual graph.
//!
//! While specializing, every version that code made later may enter is a fragment of its own. Code that is finished is
//! better off as one graph: what was an `enter` is a jump, parameters that are always the same go, and the code
//! generator sees loops. Fragments that have been compiled *apart* stay so, and are entered. A promotion's exit can
//! become a switch over its cases, which are then part of the graph as well.

use crate::optimize::{Firings, Kinds, Rewrites, copy_rounds, int_bound::IntBound, optimize};
use crate::specialize::engine::{Engine, FxIndexSet};
use crate::specialize::entry::param_names;
use crate::specialize::residual::{Fragment, Info};
use flowgraph::ir::{Block, BlockId, Edge, Graph, Loc, Operand, Terminator, Time, ValueId};
use rustc_hash::FxHashMap;

/// What becomes one graph with a fragment.
#[derive(Clone, Copy)]
pub struct Linking<'a> {
    /// Whether the fragment of this key stays apart: it is entered.
    pub apart: &'a dyn Fn(&str) -> bool,
    /// The cases of the promotion at an exit, by value, each with the key of the fragment that goes on for it. Where
    /// there are none the exit stays.
    pub cases: &'a dyn Fn(u32) -> &'a [(i64, String)],
}

impl Linking<'_> {
    /// Whatever fragments enter, but for those that stay apart; no cases.
    pub fn but_for<'a>(apart: &'a dyn Fn(&str) -> bool) -> Linking<'a> {
        Linking { apart, cases: &|_| &[] }
    }
}

/// A graph taken into another: by how much its blocks and values are shifted.
#[derive(Clone, Copy)]
struct Shift {
    blocks: u32,
    values: u32,
}

impl Shift {
    fn operand(self, operand: &mut Operand) {
        if let Operand::Value(v) = operand {
            v.0 += self.values;
        }
    }

    fn block(self, id: BlockId) -> BlockId {
        BlockId(id.0 + self.blocks)
    }
}

/// Fragments that have been linked. All that cleaning them takes is here: another thread can do it.
#[derive(Debug)]
pub struct Linked {
    /// The graph, with all that is redundant.
    pub graph: Graph,
    entry: Vec<IntBound>,
    rewrites_off: Kinds,
}

/// A residual graph, cleaned.
pub struct Cleaned {
    /// The graph.
    pub graph: Graph,
    /// The same as machine code is made of it, if it is another one: with [copies](copy_rounds) of rounds of loops.
    pub copied: Option<Graph>,
    /// The rules that have fired.
    pub firings: Firings,
}

impl Cleaned {
    /// What machine code is made of.
    pub fn for_machine(&self) -> &Graph {
        self.copied.as_ref().unwrap_or(&self.graph)
    }
}

impl Linked {
    /// The graph without what is redundant.
    pub fn optimize(self) -> Cleaned {
        let Linked { mut graph, entry, rewrites_off } = self;
        let mut rewrites = Rewrites::without(rewrites_off);
        optimize(&mut graph, &entry, &mut rewrites);
        let copied = copy_rounds(&graph, &entry, &mut rewrites);
        Cleaned { graph, copied, firings: rewrites.firings() }
    }
}

impl Engine<'_> {
    /// Fragment `root` with all that becomes one graph with it: to be cleaned, by whoever has the time for it.
    pub fn linked(&self, root: usize, linking: Linking<'_>) -> Linked {
        let (graph, entry) = (self.linked_raw(root, linking), self.entry_bounds(root));
        Linked { graph, entry, rewrites_off: self.settings.rewrites_off }
    }

    /// The graph of a fragment, cleaned.
    pub(crate) fn cleaned(&self, fragment: usize) -> Cleaned {
        let (graph, entry) = (self.raw_graph(fragment), self.entry_bounds(fragment));
        let cleaned = Linked { graph, entry, rewrites_off: self.settings.rewrites_off }.optimize();
        *self.firings.borrow_mut() += &cleaned.firings;
        cleaned
    }

    /// What lies in the parameters of a fragment's entry, whoever enters it. That of a version has those of its head.
    pub fn entry_bounds(&self, fragment: usize) -> Vec<IntBound> {
        let fragment = &self.fragments[fragment];
        let entry = fragment.graph.block(BlockId::ENTRY);
        let bound = |value: ValueId| fragment.info(value).bound;
        let head = match &entry.term {
            Terminator::Jump(edge) if entry.ops.is_empty() => Some((edge, &fragment.graph.block(edge.block).params)),
            _ => None,
        };
        let at_head = |param: ValueId| {
            let (edge, params) = head?;
            let at = edge.args.iter().position(|arg| *arg == Operand::Value(param))?;
            Some(bound(params[at]))
        };
        let both = |param: &ValueId| bound(*param).meet(at_head(*param).unwrap_or(IntBound::unbounded()));
        entry.params.iter().map(|param| both(param).unwrap_or(IntBound::unbounded())).collect()
    }

    /// The same, not cleaned.
    pub fn linked_raw(&self, root: usize, linking: Linking<'_>) -> Graph {
        let first = &self.fragments[root].graph;
        let mut graph = self.empty_graph(root, &first.key);
        graph.params = param_names(first);
        let entry = graph.new_block();
        let order = self.fragments_linked(root, linking);
        let mut taken: FxHashMap<&str, Shift> = FxHashMap::default();
        let mut shift = Shift { blocks: 1, values: 0 };
        for at in &order {
            let source = &self.fragments[*at].graph;
            taken.insert(&source.key, shift);
            shift.blocks += source.blocks.len() as u32;
            shift.values += source.values.len() as u32;
        }
        for at in order {
            let source = &self.fragments[at].graph;
            let shift = taken[&*source.key];
            graph.values.extend_from_slice(&source.values);
            graph.blocks.extend(source.blocks.iter().map(|block| shifted(block, shift, &taken)));
        }
        for at in 0..graph.blocks.len() {
            self.link_cases(&mut graph, at, linking, &taken);
        }
        let params = first.entry_params();
        let own: Vec<ValueId> = params.iter().map(|p| graph.new_value(first.values[p.index()].ty)).collect();
        let args: Vec<Operand> = own.iter().map(|v| Operand::Value(*v)).collect();
        graph.block_mut(entry).params = own;
        graph.block_mut(entry).term = Terminator::Jump(Edge::new(BlockId(1), args));
        self.describe(root, &mut graph);
        graph
    }

    /// The fragments that become one graph with `root`, which is the first.
    fn fragments_linked(&self, root: usize, linking: Linking<'_>) -> Vec<usize> {
        let mut order: FxIndexSet<usize> = [root].into_iter().collect();
        let mut next = 0;
        while let Some(at) = order.get_index(next).copied() {
            next += 1;
            let graph = &self.fragments[at].graph;
            let cases = exits_of(graph).flat_map(|exit| (linking.cases)(exit)).map(|(_, key)| key.as_str());
            let near = graph.entered().filter(|key| !(linking.apart)(key));
            order.extend(near.chain(cases).filter_map(|key| self.fragment_of(key)));
        }
        order.into_iter().collect()
    }

    /// The ops of the fragments that become one graph with one.
    pub fn ops_linked(&self, root: usize, linking: Linking<'_>) -> usize {
        self.fragments_linked(root, linking).into_iter().map(|at| self.fragments[at].size).sum()
    }

    /// Makes of a block that ends in a promotion's exit a switch over its cases, if there are any.
    fn link_cases(&self, graph: &mut Graph, at: usize, linking: Linking<'_>, taken: &FxHashMap<&str, Shift>) {
        let Terminator::Exit { exit, args, .. } = &graph.blocks[at].term else { return };
        let cases = (linking.cases)(*exit);
        let Some(position) = self.exits[*exit as usize].promoted_position().filter(|_| !cases.is_empty()) else {
            return;
        };
        let (value, args, loc) = (args[position], args.clone(), graph.blocks[at].loc);
        let exit = graph.blocks[at].term.clone();
        let mut led_to = |term: Terminator| {
            let block = graph.new_block();
            (graph.block_mut(block).term, graph.block_mut(block).loc) = (term, loc);
            Edge::new(block, [])
        };
        let case = |(value, key): &(i64, String)| {
            let entry = taken.get(&**key)?.block(BlockId::ENTRY);
            Some((*value, led_to(Terminator::Jump(Edge::new(entry, args.iter().copied())))))
        };
        let cases = cases.iter().filter_map(case).collect();
        let default = led_to(exit);
        graph.blocks[at].term = Terminator::Switch { value, cases, default, time: Time::Now, promotion: true };
    }

    /// A fragment that takes what the exit of a promotion hands over to the fragment `case`, and enters that: for what
    /// leads on from there, as one graph. Gives its key.
    pub fn new_joined(&mut self, case: usize) -> String {
        let Fragment { source, unit, at, .. } = *self.fragments[case];
        let name = self.fresh_name(self.units[unit].graph);
        let joined = self.new_fragment(source, &name, unit);
        let mut args = Vec::new();
        for param in self.fragments[case].graph.entry_params().to_vec() {
            let of = &self.fragments[case];
            let (ty, info) = (of.graph.values[param.index()].ty, Info { definition: None, ..of.info(param).clone() });
            let joined = &mut self.fragments[joined];
            let own = joined.new_param(BlockId::ENTRY, ty);
            joined.info[own.index()] = info;
            args.push(Operand::Value(own));
        }
        let graph = self.fragments[case].graph.key.as_str().into();
        let joined = &mut self.fragments[joined];
        joined.at = at;
        joined.end(BlockId::ENTRY, Terminator::Enter { graph, args }, Loc::UNKNOWN);
        name
    }
}

/// The exits that a graph leaves by.
fn exits_of(graph: &Graph) -> impl Iterator<Item = u32> {
    graph.blocks.iter().filter_map(|block| match block.term {
        Terminator::Exit { exit, .. } => Some(exit),
        _ => None,
    })
}

/// A block in its new place, entering what has been taken in by a jump.
fn shifted(block: &Block, shift: Shift, taken: &FxHashMap<&str, Shift>) -> Block {
    let mut block = block.clone();
    for value in block.params.iter_mut().chain(block.ops.iter_mut().flat_map(|op| op.results.iter_mut())) {
        value.0 += shift.values;
    }
    for arg in block.ops.iter_mut().flat_map(|op| op.args.iter_mut()) {
        shift.operand(arg);
    }
    block.term.for_each_operand_mut(|operand| shift.operand(operand));
    for edge in block.term.edges_mut() {
        edge.block = shift.block(edge.block);
    }
    if let Terminator::Enter { graph, args } = &block.term
        && let Some(target) = taken.get(&**graph)
    {
        block.term = Terminator::Jump(Edge::new(target.block(BlockId::ENTRY), args.iter().copied()));
    }
    block
}
