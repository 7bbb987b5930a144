//! Which values are live before each position.

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

/// Live values, ascending.
type Live = Vec<ValueId>;

fn insert(live: &mut Live, value: ValueId) {
    if let Err(at) = live.binary_search(&value) {
        live.insert(at, value);
    }
}

fn remove(live: &mut Live, value: ValueId) {
    if let Ok(at) = live.binary_search(&value) {
        live.remove(at);
    }
}

fn values(operands: impl IntoIterator<Item = Operand>) -> impl Iterator<Item = ValueId> {
    operands.into_iter().filter_map(|operand| match operand {
        Operand::Value(v) => Some(v),
        Operand::Const(_) => None,
    })
}

fn terminator_uses(term: &Terminator) -> impl Iterator<Item = ValueId> + '_ {
    values(term.operands().chain(term.edges().flat_map(|e| e.args.iter().copied())))
}

fn before_terminator(term: &Terminator, live_in: &[Live], graph: &Graph) -> Live {
    let mut live = Live::new();
    for edge in term.edges() {
        // A parameter of the target is not live here; but a value that dominates it may be.
        let params = &graph.block(edge.block).params;
        live.extend(live_in[edge.block.index()].iter().filter(|v| !params.contains(v)));
    }
    live.extend(terminator_uses(term));
    live.sort_unstable();
    live.dedup();
    live
}

fn step_back(block: &Block, index: usize, live: &mut Live) {
    let op = &block.ops[index];
    op.results.iter().for_each(|result| remove(live, *result));
    values(op.args.iter().copied()).for_each(|value| insert(live, value));
}

/// What is live at the head of each block. From each use of a value the ways back to its definition are gone, each
/// block once, so that the work is proportional to what is found.
fn live_in(graph: &Graph) -> Vec<Live> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); graph.blocks.len()];
    // By value: the block that one of its ops defines it in, and the blocks that use it.
    let mut defined = vec![None; graph.values.len()];
    let mut used: Vec<Vec<usize>> = vec![Vec::new(); graph.values.len()];
    for (at, block) in graph.blocks.iter().enumerate() {
        block.term.edges().for_each(|edge| from[edge.block.index()].push(at));
        for op in &block.ops {
            op.results.iter().for_each(|result| defined[result.index()] = Some(at));
            values(op.args.iter().copied()).for_each(|value| used[value.index()].push(at));
        }
        terminator_uses(&block.term).for_each(|value| used[value.index()].push(at));
    }
    let mut live_in = vec![Live::new(); graph.blocks.len()];
    for (at, mut todo) in used.into_iter().enumerate() {
        let value = ValueId(at as u32);
        while let Some(block) = todo.pop() {
            // Values come in order: the one that came last is the last.
            if defined[at] == Some(block) || live_in[block].last() == Some(&value) {
                continue;
            }
            live_in[block].push(value);
            if !graph.blocks[block].params.contains(&value) {
                todo.extend(&from[block]);
            }
        }
    }
    live_in
}

impl Liveness {
    /// Analyses a graph.
    pub fn new(graph: &Graph) -> Liveness {
        let live_in = live_in(graph);
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
                out.values.extend_from_slice(set);
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
