//! Rounds of small loops: the way that one takes, and what has to be seen to before it is there twice.

use flowgraph::ir::{BlockId, Graph, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::OnceCell;

/// A round goes through no more blocks than these.
const BLOCKS: usize = 4;

/// The blocks of a round from the head on, each with the number of the edge that stays in the loop; the last one leads
/// back to the head.
pub(crate) type Path = [(BlockId, usize)];

/// A graph, and what has to be known of all of it to find rounds.
pub(crate) struct Rounds<'g> {
    graph: &'g Graph,
    /// How many edges lead to each block.
    ways: Vec<u32>,
    /// By value, the blocks that use it, each once: asked for few loops, so only made when asked for.
    users: OnceCell<Vec<SmallVec<[BlockId; 2]>>>,
}

impl<'g> Rounds<'g> {
    /// For one graph.
    pub fn of(graph: &'g Graph) -> Rounds<'g> {
        Rounds { graph, ways: graph.arrivals(), users: OnceCell::new() }
    }

    /// The only way from a head back to it, over blocks that nothing else leads to and that are handed nothing.
    pub fn path(&self, head: BlockId) -> Option<Vec<(BlockId, usize)>> {
        let mut path = Vec::new();
        let found = self.leads_back(head, head, &mut path);
        (found && path[1..].iter().all(|(block, _)| self.graph.block(*block).params.is_empty())).then_some(path)
    }

    fn leads_back(&self, head: BlockId, at: BlockId, path: &mut Vec<(BlockId, usize)>) -> bool {
        let term = &self.graph.block(at).term;
        if path.len() == BLOCKS || matches!(term, Terminator::Switch { .. }) {
            return false;
        }
        for (side, edge) in term.edges().enumerate() {
            path.push((at, side));
            let leads = self.ways[edge.block.index()] == 1 && edge.block != BlockId::ENTRY;
            if edge.block == head || leads && self.leads_back(head, edge.block, path) {
                return true;
            }
            path.pop();
        }
        false
    }

    /// By block behind a loop: what it uses of the loop without being handed it. Nothing if another one uses such than
    /// those that only the loop leads to, by one edge.
    pub fn used_behind(&self, blocks: &[BlockId]) -> Option<FxHashMap<BlockId, Vec<ValueId>>> {
        let users = self.users.get_or_init(|| users(self.graph));
        let mut used: FxHashMap<BlockId, Vec<ValueId>> = FxHashMap::default();
        for block in blocks.iter().map(|block| self.graph.block(*block)) {
            for value in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
                for id in users[value.index()].iter().filter(|id| !blocks.contains(id)) {
                    if self.ways[id.index()] != 1 || !self.leads(blocks, *id) {
                        return None;
                    }
                    used.entry(*id).or_default().push(*value);
                }
            }
        }
        Some(used)
    }

    fn leads(&self, blocks: &[BlockId], to: BlockId) -> bool {
        blocks.iter().any(|at| self.graph.block(*at).term.edges().any(|edge| edge.block == to))
    }
}

/// By value, the blocks that use it, each once.
pub(crate) fn users(graph: &Graph) -> Vec<SmallVec<[BlockId; 2]>> {
    let mut users: Vec<SmallVec<[BlockId; 2]>> = vec![SmallVec::new(); graph.values.len()];
    for (id, block) in graph.block_ids().zip(&graph.blocks) {
        let handed = block.term.edges().flat_map(|edge| edge.args.iter().copied());
        let operands =
            block.ops.iter().flat_map(|op| op.args.iter().copied()).chain(block.term.operands()).chain(handed);
        for value in operands.filter_map(|operand| operand.value()) {
            let users = &mut users[value.index()];
            if users.last() != Some(&id) {
                users.push(id);
            }
        }
    }
    users
}

/// Where a loop is left to.
pub(crate) fn exits<'g>(graph: &'g Graph, path: &'g Path) -> impl Iterator<Item = BlockId> + 'g {
    path.iter().flat_map(|(block, side)| {
        let edges = graph.block(*block).term.edges().enumerate();
        edges.filter(move |(number, _)| number != side).map(|(_, edge)| edge.block)
    })
}

/// Blocks behind a loop are handed what they use of it: it comes from either round.
pub(crate) fn hand_over(graph: &mut Graph, path: &Path, used: &FxHashMap<BlockId, Vec<ValueId>>) {
    for (behind, values) in used {
        for value in values {
            let param = graph.new_value(graph.values[value.index()].ty);
            let block = graph.block_mut(*behind);
            block.params.push(param);
            let hand = |operand: &mut Operand| {
                if *operand == Operand::Value(*value) {
                    *operand = param.into();
                }
            };
            block.ops.iter_mut().flat_map(|op| op.args.iter_mut()).for_each(hand);
            block.term.for_each_operand_mut(hand);
            for (at, _) in path {
                for edge in graph.block_mut(*at).term.edges_mut().filter(|edge| edge.block == *behind) {
                    edge.args.push((*value).into());
                }
            }
        }
    }
}
