//! The order of a graph's blocks, its loops and its dominators.

use super::{BitSet, Dominators};
use crate::ir::{BlockId, Graph};
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, NodeFiltered};

/// A loop: a strongly connected set of blocks, without the heads of the loops around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block that the loop is entered at (where there are several: the first one in reverse postorder).
    pub head: BlockId,
    /// All blocks of the loop, by index: the head, and those of inner loops too.
    pub body: BitSet,
    /// A number after those of the whole body and before those of everything behind the loop.
    pub end: u32,
    /// The loop directly around it, as an index into [`Order::loops`].
    pub parent: Option<usize>,
    /// How many loops are around it.
    pub depth: u32,
}

/// A weak topological order of a graph's blocks (F. Bourdoncle, *Efficient chaotic iteration strategies with
/// widenings*, 1993): a loop's body directly follows its head and precedes everything that the loop exits to.
///
/// Blocks that the entry doesn't reach are in no order, have no number and no loop.
#[derive(Clone, Debug)]
pub struct Order {
    /// The reachable blocks in weak topological order.
    pub blocks: Vec<BlockId>,
    /// The loops; outer ones before those inside them.
    pub loops: Vec<Loop>,
    numbers: Vec<Option<u32>>,
    loop_of: Vec<Option<usize>>,
    head_of: Vec<Option<usize>>,
    dominators: Dominators,
}

fn node(block: BlockId) -> NodeIndex {
    NodeIndex::new(block.index())
}

fn block(node: NodeIndex) -> BlockId {
    BlockId(node.index() as u32)
}

impl Order {
    /// Analyses a graph.
    pub fn new(graph: &Graph) -> Order {
        let mut shape: DiGraph<(), ()> = DiGraph::with_capacity(graph.blocks.len(), graph.blocks.len() * 2);
        for _ in &graph.blocks {
            shape.add_node(());
        }
        for from in graph.block_ids() {
            // petgraph visits the edge added last first.
            let targets: Vec<BlockId> = graph.block(from).term.edges().map(|e| e.block).collect();
            for to in targets.iter().rev().filter(|to| to.index() < graph.blocks.len()) {
                shape.update_edge(node(from), node(*to), ());
            }
        }
        let mut order = Order {
            blocks: Vec::new(),
            loops: Vec::new(),
            numbers: vec![None; graph.blocks.len()],
            loop_of: vec![None; graph.blocks.len()],
            head_of: vec![None; graph.blocks.len()],
            dominators: Dominators::new(graph),
        };
        if graph.blocks.is_empty() {
            return order;
        }
        order.number(&shape);
        order
    }

    fn number(&mut self, shape: &DiGraph<(), ()>) {
        let mut walk = DfsPostOrder::new(shape, node(BlockId::ENTRY));
        let mut reached = Vec::new();
        while let Some(n) = walk.next(shape) {
            reached.push(n);
        }
        let mut position = vec![usize::MAX; shape.node_count()];
        let mut nodes = BitSet::new(shape.node_count());
        for (i, n) in reached.iter().rev().enumerate() {
            position[n.index()] = i;
            nodes.insert(n.index());
        }
        self.visit(shape, &position, &nodes, None);
    }

    /// Numbers `nodes`, which lie directly in the loop `parent`. Numbers are even, so that ends fit between.
    fn visit(&mut self, shape: &DiGraph<(), ()>, position: &[usize], nodes: &BitSet, parent: Option<usize>) {
        for component in components(shape, position, nodes) {
            let Some(head) = component.iter().copied().min_by_key(|n| position[n.index()]) else { continue };
            self.numbers[head.index()] = Some(2 * self.blocks.len() as u32);
            self.blocks.push(block(head));
            self.loop_of[head.index()] = parent;
            if component.len() == 1 && !shape.contains_edge(head, head) {
                continue;
            }
            let mut body = BitSet::new(shape.node_count());
            for n in &component {
                body.insert(n.index());
            }
            let mut inside = body.clone();
            inside.remove(head.index());
            let this = self.loops.len();
            let depth = parent.map_or(0, |p| self.loops[p].depth + 1);
            self.loops.push(Loop { head: block(head), body, end: 0, parent, depth });
            self.loop_of[head.index()] = Some(this);
            self.head_of[head.index()] = Some(this);
            self.visit(shape, position, &inside, Some(this));
            self.loops[this].end = 2 * self.blocks.len() as u32 - 1;
        }
    }

    /// The place of a block in the order: an even number; `None` if the entry doesn't reach it.
    pub fn number_of(&self, block: BlockId) -> Option<u32> {
        self.numbers[block.index()]
    }

    /// The blocks with an edge to `block`, one for each edge.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.dominators.predecessors().of(block)
    }

    /// The innermost loop that `block` lies in (of which it may be the head), as an index into [`Order::loops`].
    pub fn loop_of(&self, block: BlockId) -> Option<usize> {
        self.loop_of[block.index()]
    }

    /// The loop whose head `block` is.
    pub fn loop_at(&self, block: BlockId) -> Option<&Loop> {
        self.head_of[block.index()].map(|l| &self.loops[l])
    }

    /// Whether an edge from `from` to `to` closes a loop.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.loop_at(to).is_some_and(|l| l.body.contains(from.index()))
    }

    /// The loops that `block` lies in, innermost first, as indices into [`Order::loops`].
    pub fn loops_around(&self, block: BlockId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.loop_of(block), |l| self.loops[*l].parent)
    }

    /// The block that all ways to `block` come through last; `None` for the entry and what it doesn't reach.
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.dominators.immediate_dominator(block)
    }

    /// Whether all ways from the entry to `block`, which it reaches, come through `above` (as they do if these are the
    /// same).
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        self.dominators.dominates(above, block)
    }
}

/// The strongly connected components among `nodes`, in topological order; by reverse postorder where that is one.
fn components(shape: &DiGraph<(), ()>, position: &[usize], nodes: &BitSet) -> Vec<Vec<NodeIndex>> {
    let filtered = NodeFiltered::from_fn(shape, |n: NodeIndex| nodes.contains(n.index()));
    let mut topological = kosaraju_scc(&filtered);
    topological.retain(|c| c.iter().all(|n| nodes.contains(n.index())));
    topological.reverse();
    let first = |c: &Vec<NodeIndex>| c.iter().map(|n| position[n.index()]).min();
    let mut sorted = topological.clone();
    sorted.sort_by_key(first);
    let mut rank = vec![0; shape.node_count()];
    for (i, component) in sorted.iter().enumerate() {
        component.iter().for_each(|n| rank[n.index()] = i);
    }
    // True of reducible graphs, in which a loop is entered at its head only.
    let ascends = sorted.iter().flatten().all(|n| {
        let targets = shape.neighbors_directed(*n, Direction::Outgoing);
        targets.filter(|t| nodes.contains(t.index())).all(|t| rank[n.index()] <= rank[t.index()])
    });
    if ascends { sorted } else { topological }
}
