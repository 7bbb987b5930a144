//! The shape of a graph, as far as colors depend on it: where each value is defined, what joins hand over, and which
//! loops a green ends.

use flowgraph::analysis::{Loop, Order};
use flowgraph::ir::{BlockId, Edge, Graph, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashSet;

/// Where a value is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Def {
    /// Parameter `index` of a block.
    Param { block: BlockId, index: usize },
    /// A result of an op.
    Op { block: BlockId, op: usize },
    /// Nowhere: a number that no definition uses.
    Nowhere,
}

/// What is known about a graph besides its text.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(crate) defs: Vec<Def>,
    /// For each block the edges that lead to it: from which block, and which of its edges.
    pub(crate) preds: Vec<Vec<(BlockId, usize)>>,
    /// The order of the blocks, and the loops.
    pub order: Order,
    /// For each block whether a way from it leads to a return, or goes on for ever, rather than to a trap.
    goes_on: Vec<bool>,
}

impl Shape {
    /// The shape of `graph`.
    pub fn of(graph: &Graph) -> Shape {
        let mut defs = vec![Def::Nowhere; graph.values.len()];
        let mut preds = vec![Vec::new(); graph.blocks.len()];
        for block in graph.block_ids() {
            for (index, p) in graph.block(block).params.iter().enumerate() {
                defs[p.index()] = Def::Param { block, index };
            }
            for (op, o) in graph.block(block).ops.iter().enumerate() {
                for r in &o.results {
                    defs[r.index()] = Def::Op { block, op };
                }
            }
            for (index, edge) in graph.block(block).term.edges().enumerate() {
                preds[edge.block.index()].push((block, index));
            }
        }
        let mut shape = Shape { defs, order: Order::new(graph), goes_on: Vec::new(), preds };
        shape.goes_on = shape.not_only_trapping(graph);
        shape
    }

    /// The arguments that the edges to the block of parameter `index` hand to it, with the block that each comes from.
    pub(crate) fn inputs<'a>(
        &'a self,
        graph: &'a Graph,
        block: BlockId,
        index: usize,
    ) -> impl Iterator<Item = (BlockId, Operand)> + 'a {
        self.preds[block.index()].iter().filter_map(move |&(from, edge)| {
            let edge = graph.block(from).term.edges().nth(edge)?;
            edge.args.get(index).map(|arg| (from, *arg))
        })
    }

    fn not_only_trapping(&self, graph: &Graph) -> Vec<bool> {
        let mut goes_on = vec![false; graph.blocks.len()];
        let mut todo: Vec<BlockId> = graph
            .block_ids()
            .filter(|b| matches!(graph.block(*b).term, Terminator::Return(_)))
            .chain(self.order.loops.iter().flat_map(blocks))
            .collect();
        while let Some(block) = todo.pop() {
            if !std::mem::replace(&mut goes_on[block.index()], true) {
                todo.extend(self.preds[block.index()].iter().map(|(from, _)| *from));
            }
        }
        goes_on
    }

    /// Whether some way out of the loop, other than into a trap, is decided by a green that changes in it. Then the
    /// loop is unrolled when compiling; else it may have no end there.
    pub fn is_controlled(&self, graph: &Graph, l: &Loop, green: &dyn Fn(ValueId) -> bool) -> bool {
        let varying = self.varying_in(graph, l);
        blocks(l).any(|block| {
            let (cond, edges) = match &graph.block(block).term {
                term @ Terminator::Branch { cond, .. } => (*cond, term.edges()),
                term @ Terminator::Switch { value, .. } => (*value, term.edges()),
                _ => return false,
            };
            cond.value().is_some_and(|v| green(v) && varying.contains(&v)) && leaves(self, l, edges)
        })
    }

    /// The values of the loop that may differ from round to round, as far as that can be seen from here.
    fn varying_in(&self, graph: &Graph, l: &Loop) -> FxHashSet<ValueId> {
        let mut varying = FxHashSet::default();
        loop {
            let before = varying.len();
            for block in blocks(l) {
                for (index, &p) in graph.block(block).params.iter().enumerate() {
                    let mut inputs: Vec<Operand> = self
                        .inputs(graph, block, index)
                        .filter(|(from, arg)| within(l, *from) && *arg != Operand::Value(p))
                        .map(|(_, arg)| arg)
                        .collect();
                    inputs.dedup();
                    let differs = if block == l.head {
                        inputs.iter().any(|arg| !self.only_passed_around(graph, l, *arg, p))
                    } else {
                        inputs.len() > 1
                    };
                    if differs || inputs.iter().any(|a| a.value().is_some_and(|v| varying.contains(&v))) {
                        varying.insert(p);
                    }
                }
                for op in &graph.block(block).ops {
                    let changes = matches!(op.opcode, Opcode::Promote | Opcode::Call)
                        || op.args.iter().any(|a| a.value().is_some_and(|v| varying.contains(&v)));
                    if changes {
                        varying.extend(op.results.iter().copied());
                    }
                }
            }
            if varying.len() == before {
                return varying;
            }
        }
    }

    /// Whether `arg` is the parameter `p` of the loop's head, handed through parameters of blocks of the loop alone.
    pub(crate) fn only_passed_around(&self, graph: &Graph, l: &Loop, arg: Operand, p: ValueId) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![arg]);
        while let Some(arg) = todo.pop() {
            let Operand::Value(v) = arg else { return false };
            if v == p || !seen.insert(v) {
                continue;
            }
            match self.defs[v.index()] {
                Def::Param { block, index } if within(l, block) => {
                    todo.extend(self.inputs(graph, block, index).map(|(_, arg)| arg));
                }
                _ => return false,
            }
        }
        true
    }
}

/// The blocks of a loop.
pub fn blocks(l: &Loop) -> impl Iterator<Item = BlockId> + '_ {
    l.body.iter().map(|b| BlockId(b as u32))
}

/// Whether the block is in the loop.
pub fn within(l: &Loop, block: BlockId) -> bool {
    l.body.contains(block.index())
}

fn leaves<'a>(shape: &Shape, l: &Loop, mut edges: impl Iterator<Item = &'a Edge>) -> bool {
    edges.any(|e| !within(l, e.block) && shape.goes_on[e.block.index()])
}
