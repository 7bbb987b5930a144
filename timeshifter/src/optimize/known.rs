//! What is known on the way to a block: bounds of integers, what has been computed, how values compare, and which indices lie below which lengths.
//!
//! A walk goes down the dominator tree; what it learns holds in all that is dominated, and is forgotten when it goes up
//! again (P. Briggs, K. Cooper, L. T. Simpson, "Value numbering", 1997, section 4). What a branch says of its condition
//! is followed backward through the ops that it was computed by.

use super::conditions::{against_constant, below, equality, least, offset_of, without};
use super::done::{Args, DoneOps, SameOp};
use super::float_bound::FloatBound;
use super::floats;
use super::int_bound::IntBound;
use super::memory::{Changed, Contents, Found, Place};
use super::relations::{Before, Relations};
use super::seen::{Seen, seen};
use flowgraph::ir::{Const, Effect, Graph, Op, Opcode, Operand, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::ops::Deref;

/// Something of each operand of an op that only computes: no such op has more than three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OfEach<T> {
    all: [T; 3],
    count: u8,
}

impl<T: Copy> OfEach<T> {
    /// What there is of each of these operands, of a call of the first three; the places of others are filled up.
    pub(super) fn new(args: &[Operand], filler: T, of: impl Fn(Operand) -> T) -> OfEach<T> {
        let mut all = [filler; 3];
        let count = all.iter_mut().zip(args).map(|(place, arg)| *place = of(*arg)).count();
        OfEach { all, count: count as u8 }
    }
}

impl Args {
    pub(super) fn of(args: &[Operand]) -> Args {
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
pub(super) struct Definition {
    pub opcode: Opcode,
    pub args: Args,
    /// Which of its results the value is.
    pub result: usize,
}

/// How many ops what is learnt is followed through.
pub(super) const DEPTH: u32 = 6;

/// Where only a trap looks at it, just through the test itself.
const SHALLOW: u32 = 1;

/// Offsets further apart than this say nothing of those in between: the sum might wrap.
pub(super) const FAR: i64 = 1 << 40;

/// So many choices between indices are looked through.
const SELECTS: u32 = 2;

/// So many ranges of offsets are remembered where what lies between them isn't known.
const APART: usize = 4;

/// Of more cases that a value isn't only the least and the greatest are remembered.
const CASES: usize = 16;

/// What holds in a block and in all that it dominates.
pub(super) struct Known {
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
pub(super) type Within = SmallVec<[(Operand, (i64, i64)); 1]>;

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
    pub(super) fn new(graph: &Graph) -> Known {
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
    pub(super) fn define(&mut self, op: &Op) {
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
    pub(super) fn definition(&self, value: ValueId) -> Option<&Definition> {
        self.definitions.get((self.defined[value.index()] as usize).checked_sub(1)?)
    }

    /// How much has been learnt: to come back to.
    pub(super) fn mark(&self) -> usize {
        self.learnt.len()
    }

    /// Forgets what was learnt since.
    pub(super) fn forget(&mut self, down_to: usize) {
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
    pub(super) fn bound(&self, operand: Operand) -> IntBound {
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
    pub(super) fn bounds(&self, args: &[Operand]) -> OfEach<IntBound> {
        OfEach::new(args, IntBound::unbounded(), |arg| self.bound(arg))
    }

    /// There is one more value.
    pub(super) fn has_value(&mut self, value: ValueId) {
        self.bounds.resize(value.index() + 1, IntBound::unbounded());
        if !self.seen.is_empty() {
            self.floats.resize(value.index() + 1, FloatBound::unbounded());
            self.seen.resize(value.index() + 1, Seen::ALL);
        }
        self.defined.resize(value.index() + 1, 0);
        self.uses.resize(value.index() + 1, u32::MAX);
    }

    /// A value is computed here, with this bound.
    pub(super) fn computed(&mut self, value: ValueId, bound: IntBound) {
        self.bounds[value.index()] = bound;
    }

    /// The bound of an operand that is a float or a single, here.
    pub(super) fn float(&self, operand: Operand) -> FloatBound {
        match operand {
            Operand::Const(constant) => floats::constant(constant),
            Operand::Value(value) => self.floats.get(value.index()).copied().unwrap_or(FloatBound::unbounded()),
        }
    }

    /// A float or single is computed here.
    pub(super) fn computed_float(&mut self, value: ValueId, bound: FloatBound) {
        if let Some(float) = self.floats.get_mut(value.index()) {
            *float = bound;
        }
    }

    /// What is seen of a value.
    pub(super) fn seen(&self, value: ValueId) -> Seen {
        self.seen.get(value.index()).copied().unwrap_or(Seen::ALL)
    }

    /// The bounds of an op's results.
    pub(super) fn transfer(&mut self, op: &Op) -> SmallVec<[IntBound; 2]> {
        if let Some(desc) = op.mem() {
            let (low, high) = desc.access.range();
            return smallvec![IntBound::from_range(low, high).unwrap_or(IntBound::unbounded()); op.results.len()];
        }
        if !op.opcode.is_pure() && op.opcode != Opcode::Likely {
            return smallvec![IntBound::unbounded(); op.results.len()];
        }
        let mut bounds = IntBound::transfer(op.opcode, &self.bounds(&op.args));
        if let Some(holds) = self.compares(op.opcode, &op.args) {
            bounds[0] = IntBound::constant(i64::from(holds));
        }
        if matches!(op.opcode, Opcode::IntSub | Opcode::IntXor) && self.compares(Opcode::IntEq, &op.args) == Some(true)
        {
            bounds[0] = IntBound::constant(0);
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

    /// What is seen of what is known where a condition holds, or doesn't; nothing if that can't be.
    fn where_it<T>(&mut self, cond: Operand, holds: bool, see: impl FnOnce(&Known) -> T) -> Option<T> {
        let mark = self.mark();
        let seen = self.learn(cond, holds).then(|| see(self));
        self.forget(mark);
        seen
    }

    /// Something simpler that is the same as an operand where a condition holds, or doesn't.
    pub(super) fn simpler_where(&mut self, cond: Operand, holds: bool, operand: Operand) -> Option<Operand> {
        let Operand::Value(value) = operand else { return None };
        let definition = self.definition(value).copied();
        self.where_it(cond, holds, |known| {
            if let Some(constant) = known.bound_by_now(operand).get_constant_int() {
                return Some(Operand::int(constant));
            }
            let cut = definition.and_then(|Definition { opcode, args, .. }| match (opcode, &args[..]) {
                (Opcode::IntAnd, [of, Operand::Const(Const::Int(mask))]) => {
                    (known.bound(*of).zeros() | *mask as u64 == u64::MAX).then_some(*of)
                }
                (Opcode::IntSignext, [of, Operand::Const(Const::Int(bytes))]) => {
                    let limit = i64::MAX >> (64 - 8 * (*bytes).clamp(1, 8));
                    let bound = known.bound(*of);
                    (bound.lower() >= !limit && bound.upper() <= limit).then_some(*of)
                }
                _ => None,
            });
            let same = known.standing_for(value);
            cut.or_else(|| (same != value).then_some(same.into()))
        })
        .flatten()
    }

    /// An op is carried out: its results are what follows from its operands.
    pub(super) fn computes(&mut self, op: &Op) {
        for (result, bound) in op.results.iter().zip(self.transfer(op)) {
            self.computed(*result, bound);
        }
    }

    // ---- what lies in memory

    /// Whether anything is known of memory.
    pub(super) fn knows_memory(&self) -> bool {
        !self.contents.is_empty()
    }

    /// Nothing is known of memory from here on.
    pub(super) fn forget_memory(&mut self) {
        self.learnt.extend(self.contents.empty().map(Learnt::Memory));
    }

    /// An op may have been carried out on the way here.
    pub(super) fn may_have_done(&mut self, op: &Op) {
        if matches!(op.opcode.effect(), Effect::Write | Effect::Call) {
            let mut contents = std::mem::take(&mut self.contents);
            self.learnt.extend(contents.without(op, self).into_iter().map(Learnt::Memory));
            self.contents = contents;
        }
    }

    /// What a load gives, if that is known.
    pub(super) fn loaded(&self, op: &Op) -> Option<Found> {
        self.contents.find(op, self)
    }

    /// The value whose low bits lie where an op accesses memory, if that is known.
    pub(super) fn lies(&self, op: &Op) -> Option<Operand> {
        self.contents.lies(op, self)
    }

    /// What lies in a place that was accessed through a `&mut`, as far as its bits go.
    pub(super) fn exclusive_at(&self, place: &Place) -> Option<Operand> {
        self.contents.exclusive_at(place)
    }

    /// An op is carried out that may use memory.
    pub(super) fn accesses(&mut self, op: &Op) {
        if matches!(op.opcode.effect(), Effect::Read | Effect::Write | Effect::Call) {
            let mut contents = std::mem::take(&mut self.contents);
            self.learnt.extend(contents.after(op, self).into_iter().map(Learnt::Memory));
            self.contents = contents;
        }
    }

    // ---- what has been done

    /// The results of an equal op that has been done.
    pub(super) fn done(&self, same: &SameOp) -> Option<&[Operand]> {
        self.done.results(same)
    }

    pub(super) fn does(&mut self, same: SameOp, results: impl IntoIterator<Item = Operand>) {
        self.done.push(same, results);
        self.learnt.push(Learnt::Done);
    }

    // ---- learning

    /// Learns that a condition holds, or doesn't. Gives whether that can be.
    pub(super) fn learn(&mut self, cond: Operand, holds: bool) -> bool {
        self.learn_through(cond, holds, DEPTH)
    }

    /// The same where only a trap looks at what is known.
    pub(super) fn learn_for_trap(&mut self, cond: Operand, holds: bool) -> bool {
        if let Operand::Value(value) = cond
            && self.holds(value, !holds)
        {
            return false;
        }
        self.learn_through(cond, holds, SHALLOW)
    }

    fn learn_through(&mut self, cond: Operand, holds: bool, depth: u32) -> bool {
        let bound = self.bound(cond);
        let met = match (holds, bound.lower(), bound.upper()) {
            (false, ..) => bound.meet(IntBound::constant(0)),
            (true, 0, upper) => IntBound::from_range(1, upper).and_then(|positive| bound.meet(positive)),
            (true, lower, 0) => IntBound::from_range(lower, -1).and_then(|negative| bound.meet(negative)),
            (true, ..) => Some(bound),
        };
        let Some(met) = met else { return false };
        let Operand::Value(value) = cond else { return true };
        if !holds && self.least.contains_key(&value) {
            return false;
        }
        if holds {
            if met.contains(0) {
                self.is_at_least(value, 1); // no bound with a sign says so
            }
            // Not zero, even where no bound says so.
            if let Some(Definition { opcode: Opcode::IntIsTrue, args, .. }) = self.definition(value) {
                let nonzero = args[0];
                return self.narrow(value, met, depth) && self.learn_through(nonzero, true, depth);
            }
        }
        self.narrow(value, met, depth)
    }

    /// Whether a condition may hold, or not hold.
    pub(super) fn may_be(&self, cond: Operand, holds: bool) -> bool {
        let bound = self.bound(cond);
        let by_bound = if holds { bound != IntBound::constant(0) } else { bound.contains(0) };
        let Operand::Value(value) = cond else { return by_bound };
        by_bound && (holds || !self.least.contains_key(&value)) && !self.holds(value, !holds)
    }

    /// Whether a condition is known to hold, or not to, by what is known of the operands of the op that computes it.
    pub(super) fn holds(&self, cond: ValueId, holds: bool) -> bool {
        let Some(Definition { opcode, args, result: 0 }) = self.definition(cond) else { return false };
        let bounds = OfEach::new(args, IntBound::unbounded(), |arg| self.bound_by_now(arg));
        let transferred = IntBound::transfer(*opcode, &bounds);
        let known = self.compares(*opcode, args).or_else(|| Some(transferred.first()?.get_constant_int()? != 0));
        known == Some(holds)
    }

    /// Learns that an operand is none of these integers. Gives whether that can be.
    pub(super) fn learn_none_of(&mut self, operand: Operand, cases: &[i64]) -> bool {
        let Some(bound) = without(self.bound(operand), cases) else { return false };
        let Operand::Value(value) = operand else { return true };
        for case in cases.iter().take(CASES) {
            if *case == 0 {
                self.is_at_least(value, 1);
                self.does(SameOp::pure(Opcode::IntIsZero, &[operand]), [Operand::int(0)]);
                self.does(SameOp::pure(Opcode::IntIsTrue, &[operand]), [Operand::int(1)]);
            }
            let test = |opcode| SameOp::pure(opcode, &[operand, Operand::int(*case)]);
            self.does(test(Opcode::IntEq), [Operand::int(0)]);
            self.does(test(Opcode::IntNe), [Operand::int(1)]);
        }
        self.narrow(value, bound, DEPTH)
    }

    /// Whether an operand may be this integer.
    pub(super) fn may_be_case(&self, operand: Operand, case: i64) -> bool {
        let test = SameOp::pure(Opcode::IntEq, &[operand, Operand::int(case)]);
        self.bound(operand).contains(case) && self.done(&test).is_none_or(|gives| gives != [Operand::int(0)])
    }

    /// Whether an operand may be something else than all of these integers.
    pub(super) fn may_be_none_of(&self, operand: Operand, cases: &[i64]) -> bool {
        without(self.bound(operand), cases).is_some()
    }

    /// Learns that an operand is this integer. Gives whether that can be.
    pub(super) fn learn_equal(&mut self, operand: Operand, to: i64) -> bool {
        match operand {
            Operand::Value(value) => self.narrow(value, IntBound::constant(to), DEPTH),
            Operand::Const(Const::Int(i)) => i == to,
            Operand::Const(_) => true,
        }
    }

    /// Learns that a value lies in a bound, and what follows for what it was computed from. Gives whether that can be.
    fn narrow(&mut self, value: ValueId, bound: IntBound, depth: u32) -> bool {
        let before = self.bounds[value.index()];
        let Some(met) = before.meet(bound) else { return false };
        if met == before && depth < DEPTH {
            return true;
        }
        if met != before {
            self.learnt.push(Learnt::Bound(value, before));
            self.bounds[value.index()] = met;
        }
        if depth == 0 {
            return true;
        }
        let Some(definition) = self.definition(value).copied() else { return true };
        let Definition { opcode, args, result } = definition;
        let bounds = self.bounds(&args);
        let refined = match result {
            0 => IntBound::refine(opcode, &bounds, met),
            // The flag of an op that may overflow: where it is 0, it has not.
            _ if met.get_constant_int() == Some(0) => {
                IntBound::refine_no_overflow(opcode, &bounds, IntBound::unbounded())
            }
            _ => return true,
        };
        let Some(refined) = refined else { return false };
        for ((arg, old), new) in args.iter().zip(bounds.iter()).zip(refined) {
            if let Operand::Value(arg) = arg
                && new != *old
                && !self.narrow(*arg, new, depth - 1)
            {
                return false;
            }
        }
        if let (Some(holds), true) = (met.get_constant_int(), opcode.is_comparison() && depth > SHALLOW) {
            self.learn_comparison(opcode, &args, holds != 0);
        }
        if let (true, Some(holds), [a, b]) = (floats::is_comparison(opcode), met.get_constant_int(), &args[..]) {
            let before = [self.float(*a), self.float(*b)];
            let (of_a, of_b) = floats::refined(opcode, before[0], before[1], holds != 0);
            for (operand, before, after) in [(a, before[0], of_a), (b, before[1], of_b)] {
                if let Operand::Value(value) = operand
                    && after != before
                {
                    self.learnt.push(Learnt::Float(*value, before));
                    self.computed_float(*value, after);
                }
            }
        }
        true
    }

    /// Learns what a test gives, which hasn't been made here.
    pub(super) fn learn_test(&mut self, opcode: Opcode, args: &[Operand], holds: bool) {
        let bounds = self.bounds(args);
        let refined = IntBound::refine(opcode, &bounds, IntBound::constant(i64::from(holds)));
        for (arg, new) in args.iter().zip(refined.into_iter().flatten()) {
            if let Operand::Value(value) = arg {
                self.narrow(*value, new, DEPTH);
            }
        }
        self.learn_comparison(opcode, args, holds);
    }

    /// What bounds with a sign can't say: that a value is at least so much without one, or less than a length.
    fn learn_comparison(&mut self, opcode: Opcode, args: &[Operand], holds: bool) {
        if let Some((value, bound)) = least(opcode, args, holds) {
            self.is_at_least(value, bound);
        }
        let no_signs = args.iter().all(|arg| self.bound(*arg).known_nonnegative());
        if let Some(before) = self.relations.learn(opcode, args, holds, no_signs) {
            self.learnt.push(Learnt::Relation(before));
            if let [Operand::Value(a), Operand::Value(b)] = *args
                && self.relations.are_equal(a, b)
            {
                self.learn_same(a, b);
            }
        }
        if let Some((index, Operand::Value(length))) = below(opcode, args, holds) {
            if !self.bounds[length.index()].known_nonnegative() {
                let least = index.value().and_then(|index| self.least.get(&index)).copied().unwrap_or(0);
                self.is_at_least(length, least.saturating_add(1));
            }
            if let Some((value, offset)) = self.offset_of(index) {
                self.learn_within(value, length.into(), (offset, offset));
            }
        }
    }

    /// Learns that what chooses the lesser or the greater of two values is no more than either, or no less.
    pub(super) fn learn_chosen(&mut self, op: &Op) {
        let (Opcode::IntSelect, [Operand::Value(cond), a, b], [result]) = (op.opcode, &op.args[..], &op.results[..])
        else {
            return;
        };
        let Some(Definition { opcode, args, .. }) = self.definition(*cond).copied() else { return };
        // The order as if the first were compared with the second.
        let opcode = match args[..] == [*b, *a] {
            true => opcode.mirrored(),
            false => (args[..] == [*a, *b]).then_some(opcode),
        };
        let chosen = match opcode {
            Some(Opcode::IntLt | Opcode::IntLe) => Opcode::IntLe,
            Some(Opcode::IntGt | Opcode::IntGe) => Opcode::IntGe,
            Some(Opcode::UintLt | Opcode::UintLe) => Opcode::UintLe,
            Some(Opcode::UintGt | Opcode::UintGe) => Opcode::UintGe,
            _ => return,
        };
        for arm in [*a, *b] {
            self.learn_comparison(chosen, &[Operand::Value(*result), arm], true);
        }
    }

    /// Learns that two values are the same: the one with the lower number stands for both.
    fn learn_same(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.standing_for(a), self.standing_for(b));
        if a != b {
            self.equal.insert(a.max(b), a.min(b));
            self.learnt.push(Learnt::Equal(a.max(b)));
        }
    }

    /// The value that stands for all that are the same as one.
    pub(super) fn standing_for(&self, mut value: ValueId) -> ValueId {
        while let Some(other) = self.equal.get(&value) {
            value = *other;
        }
        value
    }

    /// Learns the least that a value can be, as a word without sign.
    fn is_at_least(&mut self, value: ValueId, bound: u64) {
        let before = self.least.get(&value).copied();
        if before.unwrap_or(0) < bound {
            self.least.insert(value, bound);
            self.learnt.push(Learnt::Least(value, before));
        }
    }

    /// Learns that some offsets from a value, all of a range, lie below a length.
    fn learn_within(&mut self, value: ValueId, length: Operand, (low, high): (i64, i64)) {
        let before = self.within.get(&value);
        let mut after = before.cloned().unwrap_or_default();
        let own = || (0..after.len()).filter(|at| after[*at].0 == length);
        if own().any(|at| after[at].1.0 <= low && high <= after[at].1.1) {
            return;
        }
        let both = own().map(|at| (at, (after[at].1.0.min(low), after[at].1.1.max(high))));
        match both.into_iter().find(|(_, range)| self.spans(length, *range)) {
            Some((at, range)) => after[at].1 = range,
            None if own().count() < APART => after.push((length, (low, high))),
            None => return,
        }
        let before = self.within.insert(value, after);
        self.learnt.push(Learnt::Within(value, before.map(Box::new)));
    }

    /// Learns of a parameter what is said of all that is handed over for it.
    pub(super) fn param_is_within(&mut self, param: ValueId, within: &Within) {
        for (length, range) in within {
            self.learn_within(param, *length, *range);
        }
    }

    /// Of which lengths which offsets from an operand lie below them; of a constant, below `lengths`.
    pub(super) fn within(&self, operand: Operand, lengths: &[ValueId]) -> Within {
        match operand {
            Operand::Value(_) => {
                let Some((value, offset)) = self.offset_of(operand) else { return Within::new() };
                let own = self.within.get(&value).into_iter().flatten();
                own.map(|(length, (low, high))| (*length, (low - offset, high - offset))).collect()
            }
            Operand::Const(Const::Int(index)) if index >= 0 => {
                let least = |length: &ValueId| {
                    let signed = self.bounds[length.index()];
                    let signed = if signed.known_nonnegative() { signed.lower() as u64 } else { 0 };
                    let least = self.least.get(length).copied().unwrap_or(0).max(signed);
                    (least > index as u64).then(|| {
                        let above = i64::try_from(least - 1 - index as u64).unwrap_or(i64::MAX).min(FAR);
                        (Operand::Value(*length), (-index.min(FAR), above))
                    })
                };
                lengths.iter().filter_map(least).collect()
            }
            Operand::Const(_) => Within::new(),
        }
    }

    /// Whether two offsets from one value that lie below a length, which may be one, say so of all in between: no sum between them wraps. Let `a`
    /// be the lower one's sum, less than the length, and `d` the distance: `a + d` is less than the length plus `d`, and that no
    /// more than 2^64.
    fn spans(&self, length: Operand, (low, high): (i64, i64)) -> bool {
        low == high || high.checked_sub(low).is_some_and(|d| d <= FAR) && self.bound(length).known_nonnegative()
    }

    /// Whether an operand isn't negative, and at least this.
    pub(super) fn is_at_least_distance(&self, operand: Operand, distance: i64) -> bool {
        let bound = self.bound(operand);
        let least = operand.value().and_then(|value| self.least.get(&value)).copied().unwrap_or(0);
        (0..=FAR).contains(&distance)
            && bound.known_nonnegative()
            && (bound.lower() >= distance || least >= distance as u64)
    }

    /// A value and a constant that add up to an operand.
    pub(super) fn offset_of(&self, operand: Operand) -> Option<(ValueId, i64)> {
        offset_of(operand, |value| rules::Subject::definition(self, value.into()))
    }

    /// What a comparison gives that bounds with a sign don't decide.
    pub(super) fn compares(&self, opcode: Opcode, args: &[Operand]) -> Option<bool> {
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
    pub(super) fn is_less(&self, operand: Operand, than: Operand) -> bool {
        let args = [operand, than];
        let by_bounds = || IntBound::transfer(Opcode::UintLt, &self.bounds(&args))[0].get_constant_int() == Some(1);
        self.compares(Opcode::UintLt, &args) == Some(true) || by_bounds()
    }

    /// What a comparison of an index with a length gives.
    fn is_below_length(&self, opcode: Opcode, args: &[Operand]) -> Option<bool> {
        let (index, length, holds) = match (opcode, args) {
            (Opcode::UintLt, [index, length]) | (Opcode::UintGt, [length, index]) => (index, length, true),
            (Opcode::UintGe, [index, length]) | (Opcode::UintLe, [length, index]) => (index, length, false),
            _ => return None,
        };
        self.is_below(*index, *length, SELECTS).then_some(holds)
    }

    /// Whether an index lies below a length, without signs; what `selects` choose is looked through.
    fn is_below(&self, index: Operand, length: Operand, selects: u32) -> bool {
        let Some((value, offset)) = self.offset_of(index) else { return false };
        if self.offset_is_within(value, offset, length)
            || index.value().is_some_and(|index| self.relations.is_below_by_another(index, length, self))
            || length == value.into() && offset < 0 && self.is_no_less(value, offset.unsigned_abs())
        {
            return true;
        }
        match index.value().and_then(|index| self.definition(index)) {
            Some(Definition { opcode: Opcode::UintMod, args, .. }) => {
                args[1] == length && length.value().is_some_and(|length| self.is_no_less(length, 1))
            }
            Some(Definition { opcode: Opcode::IntSelect, args, .. }) if selects > 0 => {
                let [cond, a, b] = args.all;
                let is_below = |index| self.is_below(index, length, selects - 1);
                let is_least = cond.value().and_then(|cond| self.definition(cond)).is_some_and(|test| {
                    let of_these = |args: [Operand; 2]| test.args[..] == args;
                    match test.opcode {
                        Opcode::UintLt | Opcode::UintLe => of_these([a, b]),
                        Opcode::UintGt | Opcode::UintGe => of_these([b, a]),
                        _ => false,
                    }
                });
                if is_least { is_below(a) || is_below(b) } else { is_below(a) && is_below(b) }
            }
            _ => false,
        }
    }

    /// Whether a value is at least so much, as a word without sign.
    fn is_no_less(&self, value: ValueId, least: u64) -> bool {
        let bound = self.bounds[value.index()];
        self.least.get(&value).is_some_and(|known| *known >= least)
            || bound.known_nonnegative() && bound.lower() as u64 >= least
    }

    fn offset_is_within(&self, value: ValueId, offset: i64, length: Operand) -> bool {
        let is_there = |(other, (low, high)): &(Operand, (i64, i64))| {
            // What is less than the value, which lies below the length itself, does so, too.
            let is_less = || (*low..=*high).contains(&0) && offset < 0 && self.is_no_less(value, offset.unsigned_abs());
            *other == length && (*low <= offset && offset <= *high || is_less())
        };
        self.within.get(&value).is_some_and(|within| within.iter().any(is_there))
    }

    /// Whether a value is known to lie below a length.
    pub(super) fn is_within(&self, value: ValueId, length: Operand) -> bool {
        self.offset_of(value.into()).is_some_and(|(value, offset)| self.offset_is_within(value, offset, length))
    }
}

/// Whether an operand is an integer that may be replaced by a constant.
pub(super) fn is_int(graph_values: &[flowgraph::ir::ValueInfo], value: ValueId) -> bool {
    graph_values[value.index()].ty == Type::Int
}

/// By value: how often it is used.
pub(super) fn uses(graph: &Graph) -> Vec<u32> {
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
        (definition.result == 0).then_some((definition.opcode, &definition.args[..]))
    }

    fn bound(&self, operand: Operand) -> IntBound {
        Known::bound(self, operand)
    }

    fn used_once(&self, operand: Operand) -> bool {
        operand.value().is_some_and(|value| self.uses[value.index()] <= 1)
    }
}
