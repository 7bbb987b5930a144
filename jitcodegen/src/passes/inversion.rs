//! Loop inversion: small loops that are tested before each round are tested behind it.
//!
//! A round is one jump shorter then: what is behind the test follows it, and the test leads back.
//!
//! ```text
//! b1(v1):                            b1(v1):
//!     v2 = int_gt v1, 0                  v2 = int_gt v1, 0
//!     branch v2, b2, b3          ->      branch v2, b2(v1), b3
//! b2: v3 = int_sub v1, 2             b2(v4): v3 = int_sub v4, 2
//!     jump b1(v3)                        v5 = int_gt v3, 0
//!                                        branch v5, b2(v3), b3
//! ```
//!
//! Every test is made as often as before. (Loop inversion, or rotation: S. Muchnick, "Advanced compiler design and
//! implementation", 1997, section 18.5.)

use crate::passes::arms::is_cheap;
use crate::passes::rounds::users;
use flowgraph::analysis::{Dominators, Predecessors};
use flowgraph::ir::{BlockId, Edge, Graph, Op, Opcode, Operand, Renaming, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The test is there twice: it may have as many ops.
const TEST: usize = 4;
/// In larger loops one jump is little: so many blocks, and so many ops.
const BLOCKS: usize = 8;
const OPS: usize = 32;

/// The graph with its small loops tested behind each round; nothing if there are no such loops.
pub(crate) fn tested_behind(graph: &Graph) -> Option<Graph> {
    let heads = heads(graph);
    if heads.is_empty() {
        return None;
    }
    let tree = Dominators::new(graph);
    let mut loops: Vec<Tested> = heads.into_iter().filter_map(|head| Tested::find(graph, &tree, head)).collect();
    // Of two that have a block in common the smaller one matters more.
    loops.sort_by_key(|tested| tested.body.len());
    let mut inverted = Inverted { users: Vec::new(), more: FxHashMap::default(), graph: None };
    let mut changed: FxHashSet<BlockId> = FxHashSet::default();
    for tested in loops {
        let touched = [tested.head, tested.latch, tested.inside, tested.behind];
        if touched.iter().any(|block| changed.contains(block)) {
            continue;
        }
        if inverted.users.is_empty() {
            inverted.users = users(graph).into_iter().map(|blocks| blocks.to_vec()).collect();
        }
        if inverted.invert(graph, &tree, &tested).is_some() {
            changed.extend(touched);
        }
    }
    inverted.graph
}

/// Blocks that only test something, and that jumps lead to.
fn heads(graph: &Graph) -> Vec<BlockId> {
    let mut jumped_to = vec![false; graph.blocks.len()];
    for block in &graph.blocks {
        if let Terminator::Jump(edge) = &block.term {
            jumped_to[edge.block.index()] = true;
        }
    }
    let only_tests = |id: &BlockId| {
        let block = graph.block(*id);
        let only_computes = |op: &Op| is_cheap(op) || matches!(op.opcode, Opcode::IntMul | Opcode::Likely);
        let is_test = block.ops.len() <= TEST && block.ops.iter().all(only_computes);
        is_test && matches!(block.term, Terminator::Branch { .. })
    };
    graph.block_ids().skip(1).filter(|id| jumped_to[id.index()]).filter(only_tests).collect()
}

/// A loop that is tested at its head.
struct Tested {
    head: BlockId,
    /// The only block that leads back to the head: it jumps there.
    latch: BlockId,
    /// Where the head leads within the loop, and nothing else does.
    inside: BlockId,
    /// Where it leads otherwise.
    behind: BlockId,
    /// All blocks, sorted.
    body: Vec<BlockId>,
}

impl Tested {
    fn find(graph: &Graph, tree: &Dominators, head: BlockId) -> Option<Tested> {
        let mut latches = tree.predecessors().of(head).iter().filter(|from| tree.dominates(head, **from));
        let (latch, None) = (*latches.next()?, latches.next()) else { return None };
        if latch == head || !matches!(graph.block(latch).term, Terminator::Jump(_)) {
            return None;
        }
        let body = tree.predecessors().body(head, &[latch], BLOCKS)?;
        if body.iter().map(|id| graph.block(*id).ops.len()).sum::<usize>() > OPS {
            return None;
        }
        let edges: Vec<&Edge> = graph.block(head).term.edges().collect();
        let is_inside = |edge: &Edge| body.binary_search(&edge.block).is_ok();
        let (inside, behind) = match edges[..] {
            [one, other] if is_inside(one) && !is_inside(other) => (one.block, other.block),
            [one, other] if is_inside(other) && !is_inside(one) => (other.block, one.block),
            _ => return None,
        };
        (*tree.predecessors().of(inside) == [head]).then_some(Tested { head, latch, inside, behind, body })
    }
}

/// The graph as it is so far.
struct Inverted {
    /// By value, the blocks that used it at first.
    users: Vec<Vec<BlockId>>,
    /// And those that use it since a test is behind a round there.
    more: FxHashMap<ValueId, Vec<BlockId>>,
    graph: Option<Graph>,
}

impl Inverted {
    /// Values of the head are handed to what follows it, which is come to from the end of a round, too. Nothing is done
    /// where they are used elsewhere.
    fn invert(&mut self, before: &Graph, tree: &Dominators, tested: &Tested) -> Option<()> {
        let Tested { head, latch, inside, behind, .. } = *tested;
        let test = before.block(head);
        let values: Vec<ValueId> =
            test.params.iter().chain(test.ops.iter().flat_map(|op| &op.results)).copied().collect();
        let mut uses: Vec<(ValueId, BlockId)> = Vec::new();
        for value in &values {
            let more = self.more.get(value).into_iter().flatten();
            let blocks = self.users.get(value.index()).into_iter().flatten().chain(more);
            uses.extend(blocks.filter(|block| **block != head).map(|block| (*value, *block)));
        }
        let is_behind = |block: BlockId| tree.dominates(behind, block);
        if uses.iter().any(|(_, block)| !is_behind(*block) && !tree.dominates(inside, *block)) {
            return None;
        }
        let used_behind: Vec<ValueId> =
            values.iter().copied().filter(|value| uses.iter().any(|(v, at)| v == value && is_behind(*at))).collect();
        let ways_behind: Vec<BlockId> =
            tree.predecessors().of(behind).iter().copied().filter(|from| *from != head).collect();
        if !used_behind.is_empty() && ways_behind.iter().any(|from| !tree.dominates(inside, *from)) {
            return None;
        }
        let is_inside = |value: &ValueId| uses.iter().any(|(v, at)| v == value && !is_behind(*at));
        let handed_on = |value: &ValueId| !ways_behind.is_empty() && used_behind.contains(value);
        let used_inside: Vec<ValueId> =
            values.iter().copied().filter(|value| is_inside(value) || handed_on(value)).collect();

        let graph = self.graph.get_or_insert_with(|| before.clone());
        let inner = hand(graph, head, inside, &used_inside);
        let outer = hand(graph, head, behind, &used_behind);
        for (_, block) in &uses {
            let now = if is_behind(*block) { &outer } else { &inner };
            let block = graph.block_mut(*block);
            block.ops.iter_mut().for_each(|op| now.uses(op));
            now.term(&mut block.term);
        }
        let mut others = ways_behind;
        others.dedup();
        for from in others {
            for edge in graph.block_mut(from).term.edges_mut().filter(|edge| edge.block == behind) {
                edge.args.extend(used_behind.iter().map(|value| inner.operand((*value).into())));
            }
        }
        self.test_behind(head, latch);
        Some(())
    }

    /// Puts a copy of the head where the loop leads back to it.
    fn test_behind(&mut self, head: BlockId, latch: BlockId) {
        let Some(graph) = &mut self.graph else { return };
        let mut test = graph.block(head).clone();
        let Terminator::Jump(back) = &graph.block(latch).term else { unreachable!("it jumps back") };
        let mut now = Renaming::entered(&test.params, back);
        let mut note = |operand: Operand| {
            if let Some(value) = operand.value() {
                self.more.entry(value).or_default().push(latch);
            }
        };
        for op in &mut test.ops {
            now.op(graph, op);
            op.args.iter().for_each(|arg| note(*arg));
        }
        now.term(&mut test.term);
        test.term.for_each_operand_mut(|operand| note(*operand));
        let latch = graph.block_mut(latch);
        latch.ops.extend(test.ops);
        latch.term = test.term;
    }
}

/// Has `from` hand values to `to`, and gives what they are there.
fn hand(graph: &mut Graph, from: BlockId, to: BlockId, values: &[ValueId]) -> Renaming {
    let mut now = Renaming::default();
    for value in values {
        let param = graph.new_value(graph.values[value.index()].ty);
        graph.block_mut(to).params.push(param);
        for edge in graph.block_mut(from).term.edges_mut().filter(|edge| edge.block == to) {
            edge.args.push((*value).into());
        }
        now.insert(*value, param.into());
    }
    now
}

/// A branch with one side in a small loop, and one that leaves it.
#[derive(Clone, Copy)]
pub(crate) struct Stays {
    /// Whether the loop goes on if the condition holds.
    pub holds: bool,
    /// Whether that is the end of a round: what it leads to stands before the branch.
    pub back: bool,
    /// Whether the loop lies in another one: then it is left about as often as that one has rounds.
    pub nested: bool,
}

/// The blocks that end in such branches. `order` has the blocks, each after all that dominate it.
pub(crate) fn staying(graph: &Graph, order: &[BlockId]) -> FxHashMap<BlockId, Stays> {
    let mut place = vec![usize::MAX; graph.blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| place[block.index()] = at);
    let mut back: Vec<(BlockId, BlockId)> = Vec::new();
    // By place, the first block that a round comes back to from there or behind.
    let mut around = vec![usize::MAX; order.len()];
    for (at, id) in order.iter().enumerate() {
        for edge in graph.block(*id).term.edges().filter(|edge| place[edge.block.index()] <= at) {
            around[at] = around[at].min(place[edge.block.index()]);
            back.push((*id, edge.block));
        }
    }
    let mut staying = FxHashMap::default();
    if back.is_empty() {
        return staying;
    }
    for at in (1..around.len()).rev() {
        around[at - 1] = around[at - 1].min(around[at]);
    }
    let before = Predecessors::new(graph);
    let mut loops: Vec<(BlockId, Vec<BlockId>)> =
        back.into_iter().filter_map(|(latch, head)| Some((head, before.body(head, &[latch], BLOCKS)?))).collect();
    loops.sort_by_key(|(_, body)| body.len());
    for (head, body) in loops {
        let at = place[head.index()];
        let nested = around[at] < at;
        let is_inside = |edge: &Edge| body.binary_search(&edge.block).is_ok();
        for id in &body {
            let Terminator::Branch { then, otherwise, .. } = &graph.block(*id).term else { continue };
            let (holds, way) = match (is_inside(then), is_inside(otherwise)) {
                (true, false) => (true, then),
                (false, true) => (false, otherwise),
                _ => continue,
            };
            staying.entry(*id).or_insert(Stays { holds, back: way.block == head, nested });
        }
    }
    staying
}
