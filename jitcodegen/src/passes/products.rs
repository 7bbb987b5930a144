//! Products that loops carry: where each round multiplies what the last one has left, and does little else, two rounds
//! become one, and two of these.
//!
//! A product takes a processor three cycles, and can't begin before the last one is there; the rest of such a round
//! takes one or two. What two rounds multiply by doesn't depend on the product: so it is multiplied first, beside the
//! product of the rounds before.
//!
//! ```text
//! b1(v1, v2):                        b1(v1, v2):
//!     branch v2, b2, b3                  branch v2, b2, b3(v1)
//! b2: v3 = int_mul v1, v2      ->    b2: v4 = int_sub v2, 1
//!     v4 = int_sub v2, 1                 branch v4, b5, b4
//!     jump b1(v3, v4)                b5: v5 = int_mul v2, v4
//! b3: return v1                          v6 = int_mul v1, v5
//!                                        v7 = int_sub v4, 1
//!                                        jump b1(v6, v7)
//!                                    b4: v3 = int_mul v1, v2
//!                                        jump b3(v3)
//!                                    b3(v8): return v8
//! ```
//!
//! Two such rounds become one again: the product of four rounds is waited for once.
//!
//! Wrapping products are the same in any order. Every test is made as often as before; what a round in between would
//! have left is computed where the loop is left there.

use crate::passes::arms::is_cheap;
use crate::passes::rounds::{Rounds, exits, hand_over};
use flowgraph::ir::{
    BlockId, Const, Edge, Graph, Imm, Loc, Op, Opcode, Operand, Renaming, Terminator, Time, Type, ValueId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// It has no more ops than these, the product among them.
const OPS: usize = 6;

/// So many others are products, too: of a pair of rounds what the one multiplies by and what the other does.
const FACTORS: usize = 1;

/// The graph with pairs of rounds where that pays, and pairs of these again; nothing if it pays nowhere.
pub(crate) fn in_fours(graph: &Graph) -> Option<Graph> {
    let in_pairs = self::in_pairs(graph)?;
    Some(self::in_pairs(&in_pairs).unwrap_or(in_pairs))
}

fn in_pairs(graph: &Graph) -> Option<Graph> {
    let carried = carried(graph);
    if carried.is_empty() {
        return None;
    }
    let rounds = Rounds::of(graph);
    let rounds: Vec<Round> =
        carried.into_iter().filter_map(|(head, at)| Round::find(graph, &rounds, head, at)).collect();
    let mut paired: Option<Graph> = None;
    let mut changed: FxHashSet<BlockId> = FxHashSet::default();
    for round in rounds {
        // Of two in one loop, or where one leads to the other, the first is enough.
        let touched: Vec<BlockId> =
            round.path.iter().map(|(block, _)| *block).chain(exits(graph, &round.path)).collect();
        if touched.iter().any(|block| changed.contains(block)) {
            continue;
        }
        changed.extend(touched);
        round.pair(paired.get_or_insert_with(|| graph.clone()));
    }
    paired
}

/// Blocks with the number of a parameter that is multiplied by another value somewhere.
fn carried(graph: &Graph) -> Vec<(BlockId, usize)> {
    let mut multiplied: FxHashSet<ValueId> = FxHashSet::default();
    for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode == Opcode::IntMul) {
        if let [Operand::Value(a), Operand::Value(b)] = op.args[..]
            && a != b
        {
            multiplied.extend([a, b]);
        }
    }
    if multiplied.is_empty() {
        return Vec::new();
    }
    let of_block = |id: BlockId| {
        let params = graph.block(id).params.iter().enumerate();
        params.filter(|(_, param)| multiplied.contains(param)).map(move |(at, _)| (id, at)).collect::<Vec<_>>()
    };
    graph.block_ids().filter(|id| *id != BlockId::ENTRY).flat_map(of_block).collect()
}

/// A round of a loop that multiplies what it is handed.
struct Round {
    /// The blocks from the head on, each with the number of the edge that stays in the loop; the last one leads back to
    /// the head.
    path: Vec<(BlockId, usize)>,
    /// The head's parameter.
    carried: ValueId,
    /// Where in the path it is multiplied, and the number of the op there.
    multiplied: (usize, usize),
    /// What it is multiplied by.
    by: Operand,
    /// What that gives.
    product: ValueId,
    /// What blocks behind the loop use of it without being handed it.
    used: FxHashMap<BlockId, Vec<ValueId>>,
}

impl Round {
    fn find(graph: &Graph, rounds: &Rounds, head: BlockId, at: usize) -> Option<Round> {
        let path = rounds.path(head)?;
        let blocks: Vec<BlockId> = path.iter().map(|(block, _)| *block).collect();
        let carried = graph.block(head).params[at];
        let all = || blocks.iter().flat_map(|block| &graph.block(*block).ops);
        if all().count() > OPS {
            return None;
        }
        let (last, side) = *path.last()?;
        let back = graph.block(last).term.edges().nth(side)?;
        let product = back.args[at].value()?;
        let (mut found, mut factors) = (None, 0);
        for (place, block) in blocks.iter().enumerate() {
            for (number, op) in graph.block(*block).ops.iter().enumerate() {
                let uses = op.args.contains(&Operand::Value(carried));
                if op.results[..] == [product] && op.opcode == Opcode::IntMul && uses {
                    let by = *op.args.iter().find(|arg| **arg != Operand::Value(carried))?;
                    found = Some(((place, number), by));
                } else if uses || op.args.contains(&Operand::Value(product)) {
                    return None;
                } else if !is_cheap(op) {
                    factors += usize::from(op.opcode == Opcode::IntMul);
                    if op.opcode != Opcode::IntMul || factors > FACTORS {
                        return None;
                    }
                }
            }
        }
        let (multiplied, by) = found?;
        // Nothing else in the loop looks at either; only whoever comes behind it.
        let kept = [carried, product].map(Operand::Value);
        for (block, side) in &path {
            let term = &graph.block(*block).term;
            if term.operands().any(|operand| kept.contains(&operand)) {
                return None;
            }
            for (number, edge) in term.edges().enumerate() {
                let goes_on = number == *side;
                let is_own = |place: usize| goes_on && *block == last && place == at;
                if (goes_on && edge.args.iter().enumerate().any(|(place, arg)| kept.contains(arg) && !is_own(place)))
                    || !goes_on && blocks.contains(&edge.block)
                {
                    return None;
                }
            }
        }
        let used = rounds.used_behind(&blocks)?;
        Some(Round { path, carried, multiplied, by, product, used })
    }

    /// Makes two rounds one.
    fn pair(&self, graph: &mut Graph) {
        hand_over(graph, &self.path, &self.used);
        let second: Vec<BlockId> = self.path.iter().map(|_| graph.new_block()).collect();
        let (last, side) = self.path[self.path.len() - 1];
        let back = graph.block(last).term.edges().nth(side).cloned();
        let Some(back) = back else { unreachable!("the last block of a round leads back") };
        let head = back.block;
        let mut now = Renaming::entered(&graph.block(head).params, &back);
        let first = self.path.iter().flat_map(|(block, _)| &graph.block(*block).ops);
        let mut sums: FxHashMap<ValueId, (Operand, i64)> = first.filter_map(sum).collect();
        for (place, (block, side)) in self.path.iter().enumerate() {
            let source = graph.block(*block).clone();
            let mut ops = Vec::with_capacity(source.ops.len() + 1);
            for (number, op) in source.ops.iter().enumerate() {
                if (place, number) == self.multiplied {
                    let both = multiply(graph, &mut ops, [self.by, now.operand(self.by)], op.loc);
                    let product = multiply(graph, &mut ops, [self.carried.into(), both], op.loc);
                    now.insert(self.product, product);
                    continue;
                }
                let mut op = op.clone();
                now.op(graph, &mut op);
                // A counter goes on by the steps of both rounds at once.
                if let Some((result, (counted, step))) = sum(&op) {
                    let before = counted.value().and_then(|counted| sums.get(&counted)).copied();
                    let (counted, first) = before.unwrap_or((counted, 0));
                    let (opcode, step) = (Opcode::IntAdd, first.wrapping_add(step));
                    (op.opcode, op.args) = (opcode, smallvec![counted, Operand::Const(Const::Int(step))]);
                    sums.insert(result, (counted, step));
                }
                ops.push(op);
            }
            let mut term = source.term.clone();
            for (number, edge) in term.edges_mut().enumerate() {
                let stays = number == *side;
                // What the first round has left is nowhere yet.
                if !stays && edge.args.contains(&self.carried.into()) {
                    self.on_the_way_out(graph, edge, self.carried, &now);
                    continue;
                }
                edge.args.iter_mut().for_each(|arg| *arg = now.operand(*arg));
                if stays && place + 1 < second.len() {
                    edge.block = second[place + 1];
                }
            }
            if let Terminator::Branch { cond, .. } = &mut term {
                *cond = now.operand(*cond);
            }
            let copy = graph.block_mut(second[place]);
            (copy.ops, copy.term, copy.loc) = (ops, term, source.loc);
        }
        self.first_round(graph, second[0]);
    }

    /// The first round leads to the second, and multiplies only where it leaves.
    fn first_round(&self, graph: &mut Graph, second: BlockId) {
        let (place, number) = self.multiplied;
        graph.block_mut(self.path[place].0).ops.remove(number);
        for (at, (block, side)) in self.path.iter().enumerate() {
            let mut term = std::mem::replace(&mut graph.block_mut(*block).term, Terminator::Return(Vec::new()));
            for (number, edge) in term.edges_mut().enumerate() {
                if number != *side {
                    if edge.args.contains(&self.product.into()) {
                        self.on_the_way_out(graph, edge, self.product, &Renaming::default());
                    }
                } else if at + 1 == self.path.len() {
                    *edge = Edge::new(second, []);
                }
            }
            graph.block_mut(*block).term = term;
        }
    }

    /// Along an edge that leaves, the first round's product is computed where `wanted` is handed over.
    fn on_the_way_out(&self, graph: &mut Graph, edge: &mut Edge, wanted: ValueId, now: &Renaming) {
        let way = graph.new_block();
        let mut ops = Vec::new();
        let loc = graph.block(edge.block).loc;
        let product = multiply(graph, &mut ops, [self.carried.into(), self.by], loc);
        let given = |arg: &Operand| if *arg == wanted.into() { product } else { now.operand(*arg) };
        let onward = Edge::new(edge.block, edge.args.iter().map(given));
        let block = graph.block_mut(way);
        (block.ops, block.term, block.loc) = (ops, Terminator::Jump(onward), loc);
        *edge = Edge::new(way, []);
    }
}

/// A value that is another one and a constant.
fn sum(op: &Op) -> Option<(ValueId, (Operand, i64))> {
    let step = op.args.get(1)?.as_int()?;
    let step = match op.opcode {
        Opcode::IntAdd => step,
        Opcode::IntSub => step.wrapping_neg(),
        _ => return None,
    };
    Some((*op.results.first()?, (op.args[0], step)))
}

/// A product of two operands, at the end of `ops`.
fn multiply(graph: &mut Graph, ops: &mut Vec<Op>, by: [Operand; 2], loc: Loc) -> Operand {
    let result = graph.new_value(Type::Int);
    let (args, results) = (by.into_iter().collect(), smallvec![result]);
    ops.push(Op { opcode: Opcode::IntMul, args, results, imm: Imm::None, time: Time::Now, loc });
    result.into()
}
