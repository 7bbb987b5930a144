//! Linking: fragments that enter each other become one residual graph.
//!
//! While specializing, every version that code made later may enter is a fragment of its own. Code that is finished is
//! better off as one graph: what was an `enter` is a jump, parameters that are always the same go, and the code
//! generator sees loops. Fragments that have been compiled *apart* stay so, and are entered.

use super::engine::Engine;
use super::entry::param_names;
use crate::optimize::{Firings, Kinds, Rewrites, copy_rounds, int_bound::IntBound, optimize};
use flowgraph::ir::{Block, BlockId, Edge, Graph, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

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
    /// Fragment `root` with all fragments that it enters, but for those that are compiled `apart`: to be cleaned, by
    /// whoever has the time for it.
    pub fn linked(&self, root: usize, apart: &dyn Fn(&str) -> bool) -> Linked {
        let (graph, entry) = (self.linked_raw(root, apart), self.entry_bounds(root));
        Linked { graph, entry, rewrites_off: self.rewrites_off }
    }

    /// The graph of a fragment, cleaned.
    pub(super) fn cleaned(&self, fragment: usize) -> Cleaned {
        let (graph, entry) = (self.raw_graph(fragment), self.entry_bounds(fragment));
        let cleaned = Linked { graph, entry, rewrites_off: self.rewrites_off }.optimize();
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
    pub fn linked_raw(&self, root: usize, apart: &dyn Fn(&str) -> bool) -> Graph {
        let first = &self.fragments[root].graph;
        let mut taken: FxHashMap<String, Shift> = FxHashMap::default();
        let mut order = vec![root];
        let mut graph = self.empty_graph(root, &first.key);
        graph.params = param_names(first);
        let entry = graph.new_block();
        let (mut next, mut values) = (0, 0);
        taken.insert(first.key.clone(), Shift { blocks: 1, values });
        let (mut blocks, mut all_values) = (1 + first.blocks.len() as u32, first.values.len() as u32);
        while let Some(at) = order.get(next).copied() {
            next += 1;
            for key in self.fragments[at].graph.entered() {
                let Some(target) = self.fragment_of(key) else { continue };
                if taken.contains_key(key) || apart(key) {
                    continue;
                }
                let target_graph = &self.fragments[target].graph;
                taken.insert(key.to_owned(), Shift { blocks, values: all_values });
                blocks += target_graph.blocks.len() as u32;
                all_values += target_graph.values.len() as u32;
                order.push(target);
            }
        }
        for at in order {
            let source = &self.fragments[at].graph;
            let shift = taken[&source.key];
            debug_assert_eq!(shift.values, values);
            values += source.values.len() as u32;
            graph.values.extend_from_slice(&source.values);
            graph.blocks.extend(source.blocks.iter().map(|block| shifted(block, shift, &taken)));
        }
        let params = first.entry_params();
        let own: Vec<ValueId> = params.iter().map(|p| graph.new_value(first.values[p.index()].ty)).collect();
        let args: Vec<Operand> = own.iter().map(|v| Operand::Value(*v)).collect();
        graph.block_mut(entry).params = own;
        graph.block_mut(entry).term = Terminator::Jump(Edge::new(BlockId(1), args));
        self.describe(root, &mut graph);
        graph
    }
}

/// A block in its new place, entering what has been taken in by a jump.
fn shifted(block: &Block, shift: Shift, taken: &FxHashMap<String, Shift>) -> Block {
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
