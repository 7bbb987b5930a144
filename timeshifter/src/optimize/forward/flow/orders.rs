//! How parameters compare with other values, whichever way was taken to their block.
//!
//! After `n = if a < b { a } else { b }` the one way says that `n` is `a`, and so less than `b`, the other one that it
//! is `b`, and no more than `a`: so `n` is no more than either. In `if v[i] > v[m] { m = i } i += 1`, `m` comes into
//! each round less than `i`. What comes along the ways is joined, as bounds are. Only pairs are looked at that tests
//! ask about: the two that a test compares, those that are compared with the same value, and what these are handed.
//!
//! Checks of indices, which lead to traps, ask only for two parameters of one block, and for one that begins as the
//! length, to count down from there: what else lies below a length is found apart ([`super::Flow`]).

use super::super::joins::definitions;
use crate::optimize::facts::known::Known;
use crate::optimize::facts::relations::{ALL, Order};
use crate::optimize::graph::dominators::{Dominators, is_trap};
use flowgraph::ir::{BlockId, Edge, Graph, Opcode, Operand, Terminator, ValueId};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A value is held against at most so many others.
const OTHERS: usize = 6;

/// So many pairs of a block are looked at.
const OF_BLOCK: usize = 8;

/// So many of a graph.
const OF_GRAPH: usize = 256;

/// How parameters of blocks compare with other values, by block.
#[derive(Default)]
pub(crate) struct Orders(FxHashMap<BlockId, SmallVec<[Pair; 2]>>);

/// A parameter, and another one of its block or a value of a block above.
struct Pair {
    param: ValueId,
    other: ValueId,
    /// Their places among the parameters.
    places: (usize, Option<usize>),
    /// How the first may compare with the second; nothing where nothing comes.
    order: Option<Order>,
}

/// By value: those that tests compare it with, but for what is added to them; and whether only checks do.
type Tested = IndexMap<ValueId, SmallVec<[(ValueId, bool); OTHERS]>, FxBuildHasher>;

impl Orders {
    /// The pairs of a graph that tests ask about, nothing known of them yet.
    pub(crate) fn asked(graph: &Graph, tree: &Dominators, known: &Known) -> Orders {
        let tested = tested(graph, known);
        let mut orders = Orders::default();
        if tested.is_empty() {
            return orders;
        }
        let defined = definitions(graph);
        let mut todo: Vec<(ValueId, ValueId)> = Vec::new();
        for (value, others) in tested.iter().rev() {
            let is_beside = |other: &ValueId| defined[other.index()] == defined[value.index()];
            for (other, is_checked) in others {
                let further = tested[other].iter().filter(|(further, _)| further != value);
                let is_asked = |(further, is_too): &&(ValueId, bool)| !is_checked || !is_too || is_beside(further);
                todo.extend(further.filter(is_asked).map(|(further, _)| (*value, *further)));
            }
            let is_asked = |(other, is_checked): &&(ValueId, bool)| {
                !is_checked || is_beside(other) || is_handed(graph, tree, (*value, defined[value.index()]), *other)
            };
            todo.extend(others.iter().filter(is_asked).map(|(other, _)| (*value, *other)));
        }
        let mut left = OF_GRAPH;
        while let Some((a, b)) = todo.pop() {
            let Some((block, pair)) = Pair::new(graph, tree, &defined, a, b) else { continue };
            let of_block = orders.0.entry(block).or_default();
            if of_block.len() == OF_BLOCK || of_block.iter().any(|other| other.is_of(&pair)) {
                continue;
            }
            for edge in tree.leading_to(block).iter().flat_map(|from| graph.block(*from).term.edges()) {
                if edge.block == block {
                    let (a, b) = pair.handed(edge);
                    let others = compared(b, known);
                    todo.extend(compared(a, known).iter().flat_map(|a| others.iter().map(|b| (*a, *b))));
                }
            }
            of_block.push(pair);
            left -= 1;
            if left == 0 {
                break;
            }
        }
        orders
    }

    /// Whether what an edge hands over is known already.
    pub(crate) fn is_nothing_new(&self, edge: &Edge, known: &mut Known) -> bool {
        self.0.get(&edge.block).into_iter().flatten().all(|pair| {
            let (a, b) = pair.handed(edge);
            pair.order.is_some_and(|there| there == [ALL; 2] || is_part(known.order(a, b), there))
        })
    }

    /// This comes along an edge, too. Gives whether what is known has changed; what does so `again` is given up.
    pub(crate) fn join(&mut self, edge: &Edge, known: &mut Known, again: bool) -> bool {
        let mut changed = false;
        for pair in self.0.get_mut(&edge.block).into_iter().flatten() {
            if pair.order == Some([ALL; 2]) {
                continue;
            }
            let (a, b) = pair.handed(edge);
            let comes = known.order(a, b);
            let after = match pair.order {
                None => comes,
                Some(before) if is_part(comes, before) => before,
                Some(_) if again => [ALL; 2],
                Some(before) => [before[0] | comes[0], before[1] | comes[1]],
            };
            changed |= pair.order.replace(after) != Some(after);
        }
        changed
    }

    /// Begins a block: how its parameters compare.
    pub(crate) fn enter(&self, block: BlockId, known: &mut Known) {
        for pair in self.0.get(&block).into_iter().flatten() {
            if let Some(order) = pair.order {
                known.learn_order(pair.param, pair.other, order);
            }
        }
    }

    /// Nothing is known.
    pub(crate) fn give_up(&mut self) {
        self.0.clear();
    }
}

impl Pair {
    /// The pair of two values, and the block at which it is known how they compare: that of the lower one, which has to
    /// be handed over there.
    fn new(graph: &Graph, tree: &Dominators, defined: &[BlockId], a: ValueId, b: ValueId) -> Option<(BlockId, Pair)> {
        let place = |value: ValueId| {
            let block = defined[value.index()];
            let params = &graph.block(block).params;
            params.iter().position(|param| *param == value).filter(|_| block != BlockId::ENTRY)
        };
        let (of_a, of_b) = (defined[a.index()], defined[b.index()]);
        let (block, param, other, places) = if of_a == of_b && a != b {
            let (param, other) = (a.min(b), a.max(b));
            (of_a, param, other, (place(param)?, Some(place(other)?)))
        } else if tree.dominates(of_b, of_a) {
            (of_a, a, b, (place(a)?, None))
        } else if tree.dominates(of_a, of_b) {
            (of_b, b, a, (place(b)?, None))
        } else {
            return None;
        };
        (a != b).then_some((block, Pair { param, other, places, order: None }))
    }

    fn is_of(&self, other: &Pair) -> bool {
        (self.param, self.other) == (other.param, other.other)
    }

    /// What an edge hands over for the two.
    fn handed(&self, edge: &Edge) -> (Operand, Operand) {
        let (param, other) = self.places;
        (edge.args[param], other.map_or(self.other.into(), |other| edge.args[other]))
    }
}

/// Whether all that is possible in one order is so in another one.
fn is_part(order: Order, of: Order) -> bool {
    order.iter().zip(of).all(|(possible, of)| possible & !of == 0)
}

/// The values that are compared where an operand is: what a constant is added to, or what is chosen from.
fn compared(operand: Operand, known: &Known) -> SmallVec<[ValueId; 2]> {
    let value = |operand: &Operand| known.offset_of(*operand).map(|(value, _)| value);
    let Some(of) = value(&operand) else { return SmallVec::new() };
    match known.definition_of(of.into()) {
        Some((Opcode::IntSelect, [_, arms @ ..])) => arms.iter().filter_map(value).collect(),
        _ => std::iter::once(of).collect(),
    }
}

/// Whether a parameter of a block is another value along some way.
fn is_handed(graph: &Graph, tree: &Dominators, (param, block): (ValueId, BlockId), other: ValueId) -> bool {
    let Some(place) = graph.block(block).params.iter().position(|of_block| *of_block == param) else { return false };
    let edges = tree.leading_to(block).iter().flat_map(|from| graph.block(*from).term.edges());
    edges.filter(|edge| edge.block == block).any(|edge| edge.args[place] == Operand::Value(other))
}

/// What tests compare with what.
fn tested(graph: &Graph, known: &Known) -> Tested {
    use Opcode as O;
    let mut tested = Tested::default();
    let checks = checks(graph);
    for op in graph.blocks.iter().flat_map(|block| &block.ops) {
        let is_test = matches!(
            op.opcode,
            O::IntLt
                | O::IntLe
                | O::IntGt
                | O::IntGe
                | O::UintLt
                | O::UintLe
                | O::UintGt
                | O::UintGe
                | O::IntEq
                | O::IntNe
        );
        if !is_test {
            continue;
        }
        let [Some((a, _)), Some((b, _))] = [0, 1].map(|at| known.offset_of(op.args[at])) else { continue };
        let is_check = checks.contains(&op.results[0]);
        for (one, other) in [(a, b), (b, a)] {
            let others = tested.entry(one).or_default();
            if let Some((_, only_checked)) = others.iter_mut().find(|(there, _)| *there == other) {
                *only_checked &= is_check;
            } else if others.len() < OTHERS {
                others.push((other, is_check));
            }
        }
    }
    tested
}

/// The conditions of branches that lead to a trap.
fn checks(graph: &Graph) -> FxHashSet<ValueId> {
    let check = |term: &Terminator| match term {
        Terminator::Branch { cond: Operand::Value(cond), .. } => {
            term.edges().any(|edge| is_trap(graph, edge.block)).then_some(*cond)
        }
        _ => None,
    };
    graph.blocks.iter().filter_map(|block| check(&block.term)).collect()
}
