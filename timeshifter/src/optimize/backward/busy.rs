//! What all ways from a branch do is done before it: stores, loads, and what only computes.
//!
//! ```text
//! b0: branch v2, b1, b2               b0: setfield v0, 1 {P.x}
//! b1: setfield v0, 1 {P.x}     ->         branch v2, b1, b2
//!     trap ..                         b1: trap ..
//! b2: setfield v0, 1 {P.x}            b2: ..
//! ```
//!
//! What the interpreter has behind a `&mut` stays pending until somebody may look: so each check has an arm that stores
//! it all and traps, and of a row of stores with checks between them there would be as many copies as there are checks
//! behind each. Such an op is *very busy* (F. E. Allen, J. Cocke, "A catalogue of optimizing transformations", 1971):
//! it is done whichever way is taken, before anything that it could be told from. It goes up to the first branch of
//! which that is true.
//!
//! Backward over the blocks. A store goes up only where no other way leads to, so that all that it takes the place of
//! are known. Anything else may come from where ways meet, if another one of the same goes: that it isn't needed there
//! any more is found by [`mod@crate::optimize::forward`]. A constant that is stored where the branch says that a value
//! is that is the value. A comparison stays where it is: as a rule it is what a branch there is taken by, and costs
//! least right before that.

use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::{Place, one_way};
use crate::optimize::graph::replacements::Replacements;
use crate::optimize::rewrites::{Kind, Rewrites, shown_op};
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{Block, BlockId, Effect, Graph, Op, Opcode, Operand, Terminator, ValueId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};
use smallvec::{SmallVec, smallvec};
use std::hash::{Hash, Hasher};

/// More of them are not remembered at once: those that come first.
const AHEAD: usize = 128;

/// Where an op is: the block, and its number there.
type At = (BlockId, usize);

/// An op that is done for certain, on the way from some point.
#[derive(Clone)]
struct Busy {
    hash: u64,
    /// Where it loads or stores; one that only computes does neither.
    place: Option<Place>,
    is_store: bool,
    /// An op that it is the same as.
    like: At,
    /// The ops that needn't be done where it is done before; none of those that are come to on other ways, too.
    instead_of: SmallVec<[At; 2]>,
    /// The branch in front of which it can be done, with those that it takes the place of.
    before: Option<(BlockId, SmallVec<[At; 2]>)>,
}

impl Busy {
    fn op<'g>(&self, graph: &'g Graph) -> &'g Op {
        &graph.block(self.like.0).ops[self.like.1]
    }

    fn is_same(&self, other: &Busy, graph: &Graph) -> bool {
        self.hash == other.hash && is_same(self.op(graph), other.op(graph))
    }

    fn may_touch(&self, place: &Place) -> bool {
        self.place.as_ref().is_some_and(|own| own.may_touch(place))
    }

    /// Whether this store is the other one where a value is a constant: that is what it stores.
    fn is_said_by(&self, other: &Busy, said: Said, graph: &Graph) -> bool {
        let (own, others) = (self.op(graph), other.op(graph));
        let (Some((value, constant)), true) = (said, self.is_store && self.hash == other.hash) else { return false };
        let ([own_place @ .., stored], [place @ .., instead]) = (&own.args[..], &others.args[..]) else { return false };
        (*stored, *instead) == (Operand::int(constant), Operand::Value(value))
            && own_place == place
            && (own.opcode, &own.imm) == (others.opcode, &others.imm)
    }
}

/// What a way says: which value is which constant there.
type Said = Option<(ValueId, i64)>;

/// Does in front of a branch what all ways from it do. Gives whether there was anything.
pub(crate) fn hoist_busy(graph: &mut Graph, rewrites: &mut Rewrites) -> bool {
    let again = again(graph);
    if again.is_empty() {
        return false;
    }
    let mut walk = Walk { known: Known::new(graph), one_way: one_way(graph), again, found: Vec::new() };
    let mut ahead: Vec<Vec<Busy>> = vec![Vec::new(); graph.blocks.len()];
    for at in reverse_postorder(graph).into_iter().rev() {
        let behind = walk.behind(graph, at, &mut ahead);
        ahead[at.index()] = walk.through(graph, at, behind);
    }
    for left in ahead.into_iter().flatten() {
        walk.settle(left);
    }
    let mut found = walk.found;
    // In the order that they had, for who reads it.
    found.sort_by_key(|busy| busy.like);
    apply(graph, found, rewrites)
}

/// The numbers of ops that are there more than once. All others can be passed over.
fn again(graph: &Graph) -> FxHashSet<u64> {
    let ops: usize = graph.blocks.iter().map(|block| block.ops.len()).sum();
    let mut seen = FxHashSet::with_capacity_and_hasher(ops, FxBuildHasher);
    let mut again = FxHashSet::default();
    for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| may_go_up(op)) {
        let hash = hash(op);
        if !seen.insert(hash) {
            again.insert(hash);
        }
    }
    again
}

fn may_go_up(op: &Op) -> bool {
    match op.opcode.effect() {
        Effect::Read | Effect::Write => op.mem().is_some(),
        Effect::Pure => !op.opcode.is_comparison(),
        _ => false,
    }
}

/// A number that ops have in common that are the same, and all stores of one place.
fn hash(op: &Op) -> u64 {
    let mut hasher = FxHasher::default();
    (op.opcode, without_stored(op), op.mem().map(|desc| (desc.offset, desc.stride))).hash(&mut hasher);
    hasher.finish()
}

/// The operands, but for what is stored.
fn without_stored(op: &Op) -> &[Operand] {
    let stored = usize::from(op.opcode.effect() == Effect::Write);
    &op.args[..op.args.len().saturating_sub(stored)]
}

fn is_same(op: &Op, other: &Op) -> bool {
    op.opcode == other.opcode && op.args == other.args && op.imm == other.imm
}

struct Walk {
    known: Known,
    /// By block: whether just one edge leads there.
    one_way: Vec<bool>,
    /// The numbers of ops that are there more than once.
    again: FxHashSet<u64>,
    /// What can be done in front of which branch.
    found: Vec<Busy>,
}

impl Walk {
    /// It comes no further up.
    fn settle(&mut self, busy: Busy) {
        if busy.before.is_some() {
            self.found.push(busy);
        }
    }

    fn settle_if(&mut self, all: &mut Vec<Busy>, goes: impl Fn(&Busy) -> bool) {
        all.extract_if(.., |busy| goes(busy))
            .filter(|busy| busy.before.is_some())
            .for_each(|busy| self.found.push(busy));
    }

    /// What is ahead along an edge.
    fn along(&self, to: BlockId, ahead: &mut [Vec<Busy>]) -> Vec<Busy> {
        if self.one_way[to.index()] {
            return std::mem::take(&mut ahead[to.index()]);
        }
        // It stays there for the other ways.
        let others = ahead[to.index()].iter().filter(|busy| !busy.is_store);
        others.map(|busy| Busy { instead_of: SmallVec::new(), before: None, ..busy.clone() }).collect()
    }

    /// What each way from the end of a block says of what is branched on.
    fn said(&self, term: &Terminator) -> SmallVec<[Said; 2]> {
        match term {
            Terminator::Branch { cond: Operand::Value(cond), .. } => {
                let by_test = self.known.definition(*cond).filter(|test| test.result == 0);
                let by_test = by_test.and_then(|test| match (test.opcode, &test.args[..]) {
                    (Opcode::IntEq, [Operand::Value(value), constant]) => Some((0, (*value, constant.as_int()?))),
                    (Opcode::IntNe, [Operand::Value(value), constant]) => Some((1, (*value, constant.as_int()?))),
                    (Opcode::IntIsZero, [Operand::Value(value)]) => Some((0, (*value, 0))),
                    (Opcode::IntIsTrue, [Operand::Value(value)]) => Some((1, (*value, 0))),
                    _ => None,
                });
                let (side, said) = by_test.unwrap_or((1, (*cond, 0)));
                smallvec![(side == 0).then_some(said), (side == 1).then_some(said)]
            }
            Terminator::Switch { value: Operand::Value(value), cases, .. } => {
                cases.iter().map(|(case, _)| Some((*value, *case))).chain([None]).collect()
            }
            other => other.edges().map(|_| None).collect(),
        }
    }

    /// What is done on all ways from the end of a block.
    fn behind(&mut self, graph: &Graph, at: BlockId, ahead: &mut [Vec<Busy>]) -> Vec<Busy> {
        let ways: SmallVec<[BlockId; 2]> = graph.block(at).term.edges().map(|edge| edge.block).collect();
        let Some((first, others)) = ways.split_first() else { return Vec::new() };
        let is_empty = |to: &BlockId| ahead[to.index()].is_empty();
        if ways.iter().any(is_empty) {
            return Vec::new();
        }
        let said = self.said(&graph.block(at).term);
        let mut all = self.along(*first, ahead);
        for (way, to) in others.iter().enumerate() {
            // What all ways so far do is what the first one says of it only as long as that is the only one.
            let says = [said[0].filter(|_| way == 0), said[way + 1]];
            let mut found: FxHashMap<u64, SmallVec<[Busy; 1]>> = FxHashMap::default();
            for busy in self.along(*to, ahead) {
                found.entry(busy.hash).or_default().push(busy);
            }
            let mut both = Vec::new();
            for one in all {
                let other = found.get_mut(&one.hash).and_then(|others| take_same(&one, others, says, graph));
                match other {
                    Some((other, is_value)) => both.push(met(one, other, is_value)),
                    None => self.settle(one),
                }
            }
            found.into_values().flatten().for_each(|left| self.settle(left));
            all = both;
        }
        if !others.is_empty() {
            for busy in &mut all {
                // What is needed nevertheless where ways meet is one more only if none goes.
                if !busy.instead_of.is_empty() {
                    busy.before = Some((at, busy.instead_of.clone()));
                }
            }
        }
        all
    }

    /// What is done for certain from the beginning of a block on, of what is behind it and its own.
    fn through(&mut self, graph: &Graph, at: BlockId, behind: Vec<Busy>) -> Vec<Busy> {
        let block: &Block = graph.block(at);
        let mut all = behind;
        for (number, op) in block.ops.iter().enumerate().rev() {
            let goes_up = may_go_up(op);
            let place = if goes_up { Place::of(op, &self.known) } else { None };
            let effect = op.opcode.effect();
            match (effect, &place) {
                (Effect::Pure | Effect::Hint | Effect::Allocate, _) => {}
                (Effect::Read, Some(place)) => {
                    self.settle_if(&mut all, |busy| busy.is_store && busy.may_touch(place));
                }
                (Effect::Read, None) => self.settle_if(&mut all, |busy| busy.is_store),
                (Effect::Write, Some(place)) => self.settle_if(&mut all, |busy| busy.may_touch(place)),
                (Effect::Write | Effect::Call | Effect::ElidableCall, _) => {
                    self.settle_if(&mut all, |busy| busy.place.is_some());
                }
            }
            if !op.results.is_empty() {
                let made = |arg: &Operand| arg.value().is_some_and(|value| op.results.contains(&value));
                self.settle_if(&mut all, |busy| busy.op(graph).args.iter().any(made));
            }
            if !goes_up || effect != Effect::Pure && place.is_none() {
                continue;
            }
            let hash = hash(op);
            if self.again.contains(&hash) {
                let (like, is_store) = ((at, number), effect == Effect::Write);
                let own = Busy { hash, place, is_store, like, instead_of: smallvec![like], before: None };
                // Of two of the same the first one says what it is.
                self.settle_if(&mut all, |busy| busy.is_same(&own, graph));
                all.push(own);
            }
        }
        if !block.params.is_empty() {
            let handed = |arg: &Operand| arg.value().is_some_and(|value| block.params.contains(&value));
            self.settle_if(&mut all, |busy| busy.op(graph).args.iter().any(handed));
        }
        if all.len() > AHEAD {
            let far = all.len() - AHEAD;
            all.drain(..far).for_each(|busy| self.settle(busy));
        }
        all
    }
}

/// Takes what another way does that is the same as what one does, and whether it is that of a value where one's is of
/// what it is said to be.
fn take_same(one: &Busy, others: &mut SmallVec<[Busy; 1]>, says: [Said; 2], graph: &Graph) -> Option<(Busy, bool)> {
    let place = |is: &dyn Fn(&Busy) -> bool| others.iter().position(is);
    let (at, is_value) = match place(&|other| one.is_same(other, graph)) {
        Some(at) => (at, false),
        None => match place(&|other| one.is_said_by(other, says[0], graph)) {
            Some(at) => (at, true),
            None => (place(&|other| other.is_said_by(one, says[1], graph))?, false),
        },
    };
    Some((others.remove(at), is_value))
}

/// What both of two ways do.
fn met(one: Busy, other: Busy, is_value: bool) -> Busy {
    let instead_of = one.instead_of.iter().chain(&other.instead_of).copied().collect();
    Busy { instead_of, before: None, ..if is_value { other } else { one } }
}

/// Carries it out: ops go at once, as they are named by their numbers.
fn apply(graph: &mut Graph, found: Vec<Busy>, rewrites: &mut Rewrites) -> bool {
    let mut done: Vec<(BlockId, Op)> = Vec::new();
    let mut goes: FxHashMap<At, SmallVec<[ValueId; 2]>> = FxHashMap::default();
    for busy in found {
        let Some((before, instead_of)) = &busy.before else { continue };
        let op = busy.op(graph);
        let told =
            || (format!("{} -> {before}", shown_op(op.opcode, &op.args)), "all ways from there do it".to_owned());
        if !rewrites.may(Kind::AllWays, op.loc, told) {
            continue;
        }
        let mut op = op.clone();
        op.results = op.results.iter().map(|result| graph.new_value(graph.values[result.index()].ty)).collect();
        goes.extend(instead_of.iter().map(|at| (*at, op.results.iter().copied().collect())));
        done.push((*before, op));
    }
    if done.is_empty() {
        return false;
    }
    let mut replaced = Replacements::new(graph);
    for (id, block) in graph.blocks.iter_mut().enumerate() {
        let mut number = 0;
        block.ops.retain(|op| {
            let results = goes.get(&(BlockId(id as u32), number));
            number += 1;
            for (result, new) in op.results.iter().zip(results.into_iter().flatten()) {
                replaced.replace(*result, Operand::Value(*new));
            }
            results.is_none()
        });
    }
    done.into_iter().for_each(|(before, op)| graph.block_mut(before).ops.push(op));
    replaced.apply(graph);
    true
}
