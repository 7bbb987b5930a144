//! Which values are live before each position.

use super::BitSet;
use crate::ir::{Block, BlockId, Graph, Operand, Terminator, ValueId};

/// The live values of a graph before each of its positions.
///
/// A value is live if some op, terminator or edge that may come later has it as an operand; merge points use their
/// operands as any op does. The arguments of an edge count whether the parameter that they are for is live or not, so
/// that whoever follows an edge finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// All sets one after another, each ascending.
    values: Vec<ValueId>,
    /// By position: where its set begins in `values`. One more at the end.
    starts: Vec<u32>,
    /// By block: the number of its first position.
    blocks: Vec<u32>,
}

fn uses(operands: impl IntoIterator<Item = Operand>, live: &mut BitSet) {
    for operand in operands {
        if let Operand::Value(v) = operand {
            live.insert(v.index());
        }
    }
}

fn before_terminator(term: &Terminator, live_in: &[BitSet], graph: &Graph) -> BitSet {
    let mut live = BitSet::new(graph.values.len());
    for edge in term.edges() {
        if let Some(target) = live_in.get(edge.block.index()) {
            // A parameter of the target is not live here; but a value that dominates it may be.
            let mut through = target.clone();
            for param in &graph.block(edge.block).params {
                through.remove(param.index());
            }
            live.union(&through);
        }
        uses(edge.args.iter().copied(), &mut live);
    }
    uses(term.operands(), &mut live);
    live
}

fn step_back(block: &Block, index: usize, live: &mut BitSet) {
    let op = &block.ops[index];
    for result in &op.results {
        live.remove(result.index());
    }
    uses(op.args.iter().copied(), live);
}

impl Liveness {
    /// Analyses a graph.
    pub fn new(graph: &Graph) -> Liveness {
        let mut live_in = vec![BitSet::new(graph.values.len()); graph.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (i, block) in graph.blocks.iter().enumerate().rev() {
                let mut live = before_terminator(&block.term, &live_in, graph);
                for index in (0..block.ops.len()).rev() {
                    step_back(block, index, &mut live);
                }
                changed |= live_in[i].union(&live);
            }
        }
        let mut out = Liveness { values: Vec::new(), starts: vec![0], blocks: Vec::new() };
        for block in &graph.blocks {
            out.blocks.push((out.starts.len() - 1) as u32);
            let mut live = before_terminator(&block.term, &live_in, graph);
            let mut sets = vec![live.clone()];
            for index in (0..block.ops.len()).rev() {
                step_back(block, index, &mut live);
                sets.push(live.clone());
            }
            for set in sets.iter().rev() {
                out.values.extend(set.iter().map(|v| ValueId(v as u32)));
                out.starts.push(out.values.len() as u32);
            }
        }
        out
    }

    /// The values that are live before op `index` of `block` (the number of ops: before the terminator), ascending.
    ///
    /// # Panics
    /// If the graph has no such position.
    pub fn live_before(&self, block: BlockId, index: usize) -> &[ValueId] {
        let at = self.blocks[block.index()] as usize + index;
        &self.values[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The values that are live when `block` has been entered: those of its parameters that are used among them.
    pub fn live_in(&self, block: BlockId) -> &[ValueId] {
        self.live_before(block, 0)
    }

    /// Whether `value` is live before op `index` of `block`.
    pub fn is_live_before(&self, block: BlockId, index: usize, value: ValueId) -> bool {
        self.live_before(block, index).binary_search(&value).is_ok()
    }
}
