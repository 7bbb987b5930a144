//! Rounds of small loops: the way that one takes, and what has to be seen to before it is there twice.

use flowgraph::ir::{BlockId, Graph, Operand, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A round goes through no more blocks than these.
const BLOCKS: usize = 4;

/// The blocks of a round from the head on, each with the number of the edge that stays in the loop; the last one leads back to
/// the head.
pub(crate) type Path = [(BlockId, usize)];

/// How many edges lead to each block.
pub(crate) fn ways(graph: &Graph) -> Vec<usize> {
    let mut ways = vec![0; graph.blocks.len()];
    graph.blocks.iter().flat_map(|block| block.term.edges()).for_each(|edge| ways[edge.block.index()] += 1);
    ways
}

/// The only way from a head back to it, over blocks that nothing else leads to and that are handed nothing.
pub(crate) fn path(graph: &Graph, ways: &[usize], head: BlockId) -> Option<Vec<(BlockId, usize)>> {
    let mut path = Vec::new();
    let found = leads_back(graph, ways, head, head, &mut path);
    (found && path[1..].iter().all(|(block, _)| graph.block(*block).params.is_empty())).then_some(path)
}

fn leads_back(graph: &Graph, ways: &[usize], head: BlockId, at: BlockId, path: &mut Vec<(BlockId, usize)>) -> bool {
    let term = &graph.block(at).term;
    if path.len() == BLOCKS || matches!(term, Terminator::Switch { .. }) {
        return false;
    }
    for (side, edge) in term.edges().enumerate() {
        path.push((at, side));
        let leads = ways[edge.block.index()] == 1 && edge.block != BlockId::ENTRY;
        if edge.block == head || leads && leads_back(graph, ways, head, edge.block, path) {
            return true;
        }
        path.pop();
    }
    false
}

/// Where a loop is left to.
pub(crate) fn exits<'g>(graph: &'g Graph, path: &'g Path) -> impl Iterator<Item = BlockId> + 'g {
    path.iter().flat_map(|(block, side)| {
        let edges = graph.block(*block).term.edges().enumerate();
        edges.filter(move |(number, _)| number != side).map(|(_, edge)| edge.block)
    })
}

/// By block behind a loop: what it uses of the loop without being handed it. Nothing if another one uses such than those that
/// only the loop leads to, by one edge.
pub(crate) fn used_behind(
    graph: &Graph,
    ways: &[usize],
    blocks: &[BlockId],
) -> Option<FxHashMap<BlockId, Vec<ValueId>>> {
    let values = |block: &BlockId| {
        let block = graph.block(*block);
        block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)).copied().collect::<Vec<_>>()
    };
    let own: FxHashSet<ValueId> = blocks.iter().flat_map(values).collect();
    let leads = |block: BlockId| blocks.iter().any(|at| graph.block(*at).term.edges().any(|edge| edge.block == block));
    let mut used: FxHashMap<BlockId, Vec<ValueId>> = FxHashMap::default();
    for id in graph.block_ids().filter(|id| !blocks.contains(id)) {
        let block = graph.block(id);
        let handed = block.term.edges().flat_map(|edge| edge.args.iter().copied());
        let operands =
            block.ops.iter().flat_map(|op| op.args.iter().copied()).chain(block.term.operands()).chain(handed);
        for value in operands.filter_map(|operand| operand.value()).filter(|value| own.contains(value)) {
            if ways[id.index()] != 1 || !leads(id) {
                return None;
            }
            let values = used.entry(id).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    Some(used)
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
