//! What is known on the way to a block: bounds of integers, what has been computed, how values compare, and which
//! indices lie below which lengths.
//!
//! A walk goes down the dominator tree; what it learns holds in all that is dominated, and is forgotten when it goes up
//! again (P. Briggs, K. Cooper, L. T. Simpson, "Value numbering", 1997, section 4). What a branch says of its condition
//! is followed backward through the ops that it was computed by.

mod learning;
mod lengths;
mod orders;
mod parts;

use super::conditions::{against_constant, equality, offset_of};
use super::done::{Args, DoneOps, SameOp};
use super::float_bound::FloatBound;
use super::floats;
use super::memory::{Changed, Contents, Found, Place};
use super::relations::{Before, Relations};
use super::seen::{Seen, seen};
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Effect, Graph, Op, Opcode, Operand, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::ops::Deref;

/// Something of each operand of an op that only computes: no such op has more than three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OfEach<T> {
    all: [T; 3],
    count: u8,
}

impl<T: Copy> OfEach<T> {
    /// What there is of each of these operands, of a call of the first three; the places of others are filled up.
    pub(crate) fn new(args: &[Operand], filler: T, of: impl Fn(Operand) -> T) -> OfEach<T> {
        let mut all = [filler; 3];
        let count = all.iter_mut().zip(args).map(|(place, arg)| *place = of(*arg)).count();
        OfEach { all, count: count as u8 }
    }
}

impl Args {
    pub(crate) fn of(args: &[Operand]) -> Args {
        OfEach::new(args, Operand::int(0), |arg| arg)
    }
}

impl<T> Deref for OfEach<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[..usize::from(self.count)]
    }
}

/// The op that computes a value, as far as it is looked through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub opcode: Opcode,
    pub args: Args,
    /// Which of its results the value is.
    pub result: usize,
}

/// How many ops what is learnt is followed through.
pub(crate) const DEPTH: u32 = 6;

/// Offsets further apart than this say nothing of those in between: the sum might wrap.
pub(crate) const FAR: i64 = 1 << 40;

/// What holds in a block and in all that it dominates.
pub(crate) struct Known {
    bounds: Vec<IntBound>,
    /// Of floats and singles; empty if there are none.
    floats: Vec<FloatBound>,
    /// By value: what is seen of it; nothing if there are no floats.
    seen: Vec<Seen>,
    /// How values are computed, and by value the number of that and one more; 0 where it isn't known.
    definitions: Vec<Definition>,
    defined: Vec<u32>,
    /// By value: how often it is used, as the graph was at first.
    uses: Vec<u32>,
    contents: Contents,
    /// What ops give that have been done.
    done: DoneOps,
    /// The least that values can be, as words without sign, where that isn't 0.
    least: FxHashMap<ValueId, u64>,
    /// By value: of what it lies below.
    within: FxHashMap<ValueId, Within>,
    /// How values compare with each other.
    relations: Relations,
    /// Another value that is the same.
    equal: FxHashMap<ValueId, ValueId>,
    /// How to forget what was learnt, the latest last.
    learnt: Vec<Learnt>,
}

/// Of some lengths, from which to which offset from a value all are less than that, without signs.
pub(crate) type Within = SmallVec<[(Operand, (i64, i64)); 1]>;

enum Learnt {
    Bound(ValueId, IntBound),
    Float(ValueId, FloatBound),
    Done,
    Least(ValueId, Option<u64>),
    Within(ValueId, Option<Box<Within>>),
    Relation(Before),
    Equal(ValueId),
    Memory(Changed),
}

impl Known {
    pub(crate) fn new(graph: &Graph) -> Known {
        let ops = || graph.blocks.iter().flat_map(|block| &block.ops);
        let computed: usize = ops().filter(|op| op.opcode.is_pure()).map(|op| op.results.len()).sum();
        let seen = seen(graph);
        let mut known = Known {
            bounds: vec![IntBound::unbounded(); graph.values.len()],
            floats: if seen.is_empty() { Vec::new() } else { vec![FloatBound::unbounded(); graph.values.len()] },
            seen,
            definitions: Vec::with_capacity(computed),
            defined: vec![0; graph.values.len()],
            uses: uses(graph),
            contents: Contents::default(),
            done: DoneOps::of(computed),
            least: FxHashMap::default(),
            within: FxHashMap::default(),
            relations: Relations::default(),
            equal: FxHashMap::default(),
            learnt: Vec::with_capacity(2 * computed),
        };
        ops().for_each(|op| known.define(op));
        known
    }

    /// Remembers how an op computes its results.
    pub(crate) fn define(&mut self, op: &Op) {
        if !op.opcode.is_pure() {
            return;
        }
        for (result, value) in op.results.iter().enumerate() {
            let definition = Definition { opcode: op.opcode, args: Args::of(&op.args), result };
            match self.defined[value.index()] {
                0 => {
                    self.definitions.push(definition);
                    self.defined[value.index()] = self.definitions.len() as u32;
                }
                number => self.definitions[number as usize - 1] = definition,
            }
        }
    }

    /// How a value is computed, where that is by an op that only computes.
    pub(crate) fn definition(&self, value: ValueId) -> Option<&Definition> {
        self.definitions.get((self.defined[value.index()] as usize).checked_sub(1)?)
    }

    /// The op whose first result an operand is, where that only computes, and its operands.
    pub(crate) fn definition_of(&self, operand: Operand) -> Option<(Opcode, &[Operand])> {
        rules::Subject::definition(self, operand)
    }

    /// How much has been learnt: to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.learnt.len()
    }

    /// Forgets what was learnt since.
    pub(crate) fn forget(&mut self, down_to: usize) {
        for learnt in self.learnt.drain(down_to..).rev() {
            match learnt {
                Learnt::Bound(value, before) => self.bounds[value.index()] = before,
                Learnt::Float(value, before) => self.floats[value.index()] = before,
                Learnt::Done => self.done.pop(),
                Learnt::Least(value, Some(before)) => drop(self.least.insert(value, before)),
                Learnt::Least(value, None) => drop(self.least.remove(&value)),
                Learnt::Within(value, Some(before)) => drop(self.within.insert(value, *before)),
                Learnt::Within(value, None) => drop(self.within.remove(&value)),
                Learnt::Relation(before) => self.relations.undo(before),
                Learnt::Equal(value) => drop(self.equal.remove(&value)),
                Learnt::Memory(changed) => self.contents.undo(changed),
            }
        }
    }

    /// The bound of an operand, here.
    pub(crate) fn bound(&self, operand: Operand) -> IntBound {
        match operand {
            Operand::Const(Const::Int(i)) => IntBound::constant(i),
            Operand::Const(_) => IntBound::unbounded(),
            Operand::Value(value) => self.bounds[value.index()],
        }
    }

    /// The bound of an operand, computed anew of what it is computed of: more may be known of that since.
    fn bound_by_now(&self, operand: Operand) -> IntBound {
        let bound = self.bound(operand);
        let Some(Definition { opcode, args, result: 0 }) = operand.value().and_then(|value| self.definition(value))
        else {
            return bound;
        };
        let again = IntBound::transfer(*opcode, &self.bounds(args)).first().and_then(|again| again.meet(bound));
        again.unwrap_or(bound)
    }

    /// The bounds of the operands of an op that only computes.
    pub(crate) fn bounds(&self, args: &[Operand]) -> OfEach<IntBound> {
        OfEach::new(args, IntBound::unbounded(), |arg| self.bound(arg))
    }

    /// There is one more value.
    pub(crate) fn has_value(&mut self, value: ValueId) {
        self.bounds.resize(value.index() + 1, IntBound::unbounded());
        if !self.seen.is_empty() {
            self.floats.resize(value.index() + 1, FloatBound::unbounded());
            self.seen.resize(value.index() + 1, Seen::ALL);
        }
        self.defined.resize(value.index() + 1, 0);
        self.uses.resize(value.index() + 1, u32::MAX);
    }

    /// Forgets the bounds of all that has been computed.
    pub(crate) fn forget_computed(&mut self) {
        self.bounds.fill(IntBound::unbounded());
        self.floats.fill(FloatBound::unbounded());
    }

    /// A value is computed here, with this bound.
    pub(crate) fn computed(&mut self, value: ValueId, bound: IntBound) {
        self.bounds[value.index()] = bound;
    }

    /// The bound of an operand that is a float or a single, here.
    pub(crate) fn float(&self, operand: Operand) -> FloatBound {
        match operand {
            Operand::Const(constant) => floats::constant(constant),
            Operand::Value(value) => self.floats.get(value.index()).copied().unwrap_or(FloatBound::unbounded()),
        }
    }

    /// A float or single is computed here.
    pub(crate) fn computed_float(&mut self, value: ValueId, bound: FloatBound) {
        if let Some(float) = self.floats.get_mut(value.index()) {
            *float = bound;
        }
    }

    /// What is seen of a value.
    pub(crate) fn seen(&self, value: ValueId) -> Seen {
        self.seen.get(value.index()).copied().unwrap_or(Seen::ALL)
    }

    /// The bounds of an op's results.
    pub(crate) fn transfer(&mut self, op: &Op) -> SmallVec<[IntBound; 2]> {
        if let Some(desc) = op.mem() {
            let (low, high) = desc.access.range();
            return smallvec![IntBound::from_range(low, high).unwrap_or(IntBound::unbounded()); op.results.len()];
        }
        if !op.opcode.is_pure() && op.opcode != Opcode::Likely {
            return smallvec![IntBound::unbounded(); op.results.len()];
        }
        let mut bounds = IntBound::transfer(op.opcode, &self.bounds(&op.args));
        // More may be known by now of what the operands of a test were computed of.
        if op.opcode.is_comparison() && bounds[0].get_constant_int().is_none() {
            let by_now = OfEach::new(&op.args, IntBound::unbounded(), |arg| self.bound_by_now(arg));
            if by_now != self.bounds(&op.args) {
                bounds = IntBound::transfer(op.opcode, &by_now);
            }
        }
        if let (Opcode::IntMul, [a, b]) = (op.opcode, &op.args[..])
            && a == b
            && let Some(both) = square(self.bound(*a)).and_then(|square| bounds[0].meet(square))
        {
            bounds[0] = both;
        }
        if let (Opcode::UintFloordiv, [a, b]) = (op.opcode, &op.args[..])
            && self.is_less(*a, *b)
        {
            bounds[0] = IntBound::constant(0);
        }
        if let Some(holds) = self.compares(op.opcode, &op.args) {
            bounds[0] = IntBound::constant(i64::from(holds));
        }
        if matches!(op.opcode, Opcode::IntSub | Opcode::IntXor) && self.compares(Opcode::IntEq, &op.args) == Some(true)
        {
            bounds[0] = IntBound::constant(0);
        }
        if let (Opcode::IntSub, [a, b]) = (op.opcode, &op.args[..])
            && self.compares(Opcode::IntGe, &op.args) == Some(true)
            && self.bound(*a).upper().checked_sub(self.bound(*b).lower()).is_some()
            && let Some(positive) = IntBound::from_range(0, i64::MAX).and_then(|bound| bounds[0].meet(bound))
        {
            bounds[0] = positive;
        }
        if let Some(bound) = floats::to_int(op, self)
            && let Some(both) = bounds[0].meet(bound)
        {
            bounds[0] = both;
        }
        if let (Opcode::IntSelect, [cond @ Operand::Value(_), a, b]) = (op.opcode, &op.args[..]) {
            let each = [(*a, true), (*b, false)]
                .map(|(arm, holds)| self.where_it(*cond, holds, |known| known.bound_by_now(arm)));
            let chosen = each.into_iter().flatten().reduce(IntBound::join);
            if let Some(both) = chosen.and_then(|chosen| bounds[0].meet(chosen)) {
                bounds[0] = both;
            }
        }
        bounds
    }

    /// An op is carried out: its results are what follows from its operands.
    pub(crate) fn computes(&mut self, op: &Op) {
        for (result, bound) in op.results.iter().zip(self.transfer(op)) {
            self.computed(*result, bound);
        }
    }

    // ---- what lies in memory

    /// Whether anything is known of memory.
    pub(crate) fn knows_memory(&self) -> bool {
        !self.contents.is_empty()
    }

    /// Nothing is known of memory from here on.
    pub(crate) fn forget_memory(&mut self) {
        self.learnt.extend(self.contents.empty().map(Learnt::Memory));
    }

    /// An op may have been carried out on the way here.
    pub(crate) fn may_have_done(&mut self, op: &Op) {
        if matches!(op.opcode.effect(), Effect::Write | Effect::Call) {
            let mut contents = std::mem::take(&mut self.contents);
            self.learnt.extend(contents.without(op, self).into_iter().map(Learnt::Memory));
            self.contents = contents;
        }
    }

    /// What a load gives, if that is known.
    pub(crate) fn loaded(&self, op: &Op) -> Option<Found> {
        self.contents.find(op, self)
    }

    /// The value whose low bits lie where an op accesses memory, if that is known.
    pub(crate) fn lies(&self, op: &Op) -> Option<Operand> {
        self.contents.lies(op, self)
    }

    /// What lies in a place that was accessed through a `&mut`, as far as its bits go.
    pub(crate) fn exclusive_at(&self, place: &Place) -> Option<Operand> {
        self.contents.exclusive_at(place)
    }

    /// An op is carried out that may use memory.
    pub(crate) fn accesses(&mut self, op: &Op) {
        if matches!(op.opcode.effect(), Effect::Read | Effect::Write | Effect::Call) {
            let mut contents = std::mem::take(&mut self.contents);
            self.learnt.extend(contents.after(op, self).into_iter().map(Learnt::Memory));
            self.contents = contents;
        }
    }

    // ---- what has been done

    /// The results of an equal op that has been done.
    pub(crate) fn done(&self, same: &SameOp) -> Option<&[Operand]> {
        self.done.results(same)
    }

    /// The results of an op that has been done and is equal to this one, which is done from here on if there is none.
    pub(crate) fn done_or_does(&mut self, op: &Op) -> Option<SmallVec<[Operand; 1]>> {
        let same = SameOp::of(op);
        let bits = self.done.bits(&same);
        if let Some(results) = self.done.results_with(&same, bits) {
            return Some(results.into());
        }
        self.done.push_with(same, bits, op.results.iter().copied().map(Operand::Value));
        self.learnt.push(Learnt::Done);
        None
    }

    pub(crate) fn does(&mut self, same: SameOp, results: impl IntoIterator<Item = Operand>) {
        self.done.push(same, results);
        self.learnt.push(Learnt::Done);
    }

    /// The value that stands for all that are the same as one.
    pub(crate) fn standing_for(&self, mut value: ValueId) -> ValueId {
        while let Some(other) = self.equal.get(&value) {
            value = *other;
        }
        value
    }

    /// A value and a constant that add up to an operand.
    pub(crate) fn offset_of(&self, operand: Operand) -> Option<(ValueId, i64)> {
        offset_of(operand, |value| rules::Subject::definition(self, value.into()))
    }

    /// What a comparison gives that bounds with a sign don't decide.
    pub(crate) fn compares(&self, opcode: Opcode, args: &[Operand]) -> Option<bool> {
        if !opcode.is_comparison() {
            return None;
        }
        if let Some((value, constant)) = equality(opcode, args)
            && self.least.get(&value).is_some_and(|least| constant < *least)
        {
            return Some(matches!(opcode, Opcode::IntIsTrue | Opcode::IntNe));
        }
        if let Some((test, bound, value)) = against_constant(opcode, args)
            && let Some(least) = self.least.get(&value).copied()
        {
            match test {
                Opcode::UintLt if least > bound => return Some(true),
                Opcode::UintLe if least >= bound => return Some(true),
                Opcode::UintGt if least >= bound => return Some(false),
                Opcode::UintGe if least > bound => return Some(false),
                _ => {}
            }
        }
        self.is_below_length(opcode, args).or_else(|| {
            let no_signs = args.iter().all(|arg| self.bound(*arg).known_nonnegative());
            self.relations.compares(opcode, args, no_signs)
        })
    }

    /// Whether an operand is known to be less than another one, without signs.
    pub(crate) fn is_less(&self, operand: Operand, than: Operand) -> bool {
        let args = [operand, than];
        let by_bounds = || IntBound::transfer(Opcode::UintLt, &self.bounds(&args))[0].get_constant_int() == Some(1);
        self.compares(Opcode::UintLt, &args) == Some(true) || by_bounds()
    }
}

/// In which bound the square of what lies in this one is, unless it may be too large.
fn square(bound: IntBound) -> Option<IntBound> {
    let most = bound.lower().unsigned_abs().max(bound.upper().unsigned_abs());
    let least = match bound.lower() < 0 && bound.upper() > 0 {
        true => 0,
        false => bound.lower().unsigned_abs().min(bound.upper().unsigned_abs()),
    };
    let [least, most] = [least, most].map(|size| i64::try_from(size.checked_mul(size)?).ok());
    IntBound::from_range(least?, most?)
}

/// Whether an operand is an integer that may be replaced by a constant.
pub(crate) fn is_int(graph_values: &[flowgraph::ir::ValueInfo], value: ValueId) -> bool {
    graph_values[value.index()].ty == Type::Int
}

/// By value: how often it is used.
pub(crate) fn uses(graph: &Graph) -> Vec<u32> {
    let mut uses = vec![0; graph.values.len()];
    for block in &graph.blocks {
        let mut used = |operand: Operand| {
            if let Operand::Value(value) = operand {
                uses[value.index()] += 1;
            }
        };
        block.ops.iter().flat_map(|op| &op.args).for_each(|arg| used(*arg));
        block.term.operands().for_each(&mut used);
        block.term.edges().flat_map(|edge| &edge.args).for_each(|arg| used(*arg));
    }
    uses
}

impl rules::Subject for Known {
    fn definition(&self, operand: Operand) -> Option<(Opcode, &[Operand])> {
        let definition = Known::definition(self, operand.value()?)?;
        // The first result is the sum as it wraps, whether it does is another.
        let opcode = definition.opcode.without_overflow().unwrap_or(definition.opcode);
        (definition.result == 0).then_some((opcode, &definition.args[..]))
    }

    fn bound(&self, operand: Operand) -> IntBound {
        Known::bound(self, operand)
    }

    fn used_once(&self, operand: Operand) -> bool {
        operand.value().is_some_and(|value| self.uses[value.index()] <= 1)
    }
}
