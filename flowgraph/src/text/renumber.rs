//! Numbers blocks and values in the order in which a reader meets them.

use crate::analysis::reverse_postorder;
use crate::ir::{Block, BlockId, Graph, Operand, ValueId, ValueInfo};
use rustc_hash::FxHashMap;

/// The graph with its blocks in reverse postorder (arms in source order, loops together) and its values numbered by
/// their definitions. Unreachable blocks and values that nothing defines are gone, and names whose values went with
/// them.
pub fn renumber(graph: &Graph) -> Graph {
    let order = reverse_postorder(graph);
    let mut blocks: FxHashMap<BlockId, BlockId> = FxHashMap::default();
    let mut values: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut infos: Vec<ValueInfo> = Vec::new();
    for (i, id) in order.iter().enumerate() {
        blocks.insert(*id, BlockId(i as u32));
        let block = graph.block(*id);
        for v in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
            values.entry(*v).or_insert_with(|| {
                infos.push(graph.values[v.index()]);
                ValueId((infos.len() - 1) as u32)
            });
        }
    }
    // A use without definition (in a broken graph) keeps a number that nothing defines.
    let fresh = ValueId(infos.len() as u32);
    let value = |v: ValueId| values.get(&v).copied().unwrap_or(ValueId(fresh.0.saturating_add(v.0)));
    let operand = |o: &mut Operand| {
        if let Operand::Value(v) = o {
            *v = value(*v);
        }
    };
    let renumbered = |id: &BlockId| {
        let mut block: Block = graph.block(*id).clone();
        block.params.iter_mut().for_each(|v| *v = value(*v));
        for op in &mut block.ops {
            op.args.iter_mut().for_each(operand);
            op.results.iter_mut().for_each(|v| *v = value(*v));
        }
        block.term.for_each_operand_mut(operand);
        for edge in block.term.edges_mut() {
            edge.block = blocks.get(&edge.block).copied().unwrap_or(edge.block);
        }
        block
    };
    let mut names = graph.names.clone();
    names.retain(|def| def.values.iter().all(|o| o.value().is_none_or(|v| values.contains_key(&v))));
    names.iter_mut().flat_map(|def| &mut def.values).for_each(operand);
    Graph { blocks: order.iter().map(renumbered).collect(), values: infos, names, ..graph.clone() }
}
