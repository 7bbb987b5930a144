//! What is learnt of a condition that holds, or doesn't: followed backward through the ops that it was computed by.

use super::super::conditions::{below, least, no_more, without, without_signs};
use super::super::done::SameOp;
use super::super::floats;
use super::{DEPTH, Definition, Known, Learnt, OfEach};
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Op, Opcode, Operand, ValueId};

/// Where only a trap looks at it, just through the test itself.
const SHALLOW: u32 = 1;

/// Of more cases that a value isn't only the least and the greatest are remembered.
const CASES: usize = 16;

impl Known {
    /// What is seen of what is known where a condition holds, or doesn't; nothing if that can't be.
    pub(crate) fn where_it<T>(&mut self, cond: Operand, holds: bool, see: impl FnOnce(&mut Known) -> T) -> Option<T> {
        let mark = self.mark();
        let seen = self.learn(cond, holds).then(|| see(self));
        self.forget(mark);
        seen
    }

    /// Something simpler that is the same as an operand where a condition holds, or doesn't.
    pub(in crate::optimize) fn simpler_where(
        &mut self,
        cond: Operand,
        holds: bool,
        operand: Operand,
    ) -> Option<Operand> {
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
            cut.or_else(|| (same != value).then_some(same.into())).or_else(|| known.chosen(value))
        })
        .flatten()
    }

    /// Which of two a value is that was chosen by a condition, where that is known.
    pub(in crate::optimize) fn chosen(&self, value: ValueId) -> Option<Operand> {
        use Opcode::{FloatSelect, IntSelect, SingleSelect};
        let Definition { opcode: IntSelect | FloatSelect | SingleSelect, args, .. } = self.definition(value)? else {
            return None;
        };
        match self.bound(args[0]).get_constant_int() {
            Some(0) => Some(args[2]),
            Some(_) => Some(args[1]),
            None => None,
        }
    }

    /// Learns that a condition holds, or doesn't. Gives whether that can be.
    pub(in crate::optimize) fn learn(&mut self, cond: Operand, holds: bool) -> bool {
        self.learn_through(cond, holds, DEPTH)
    }

    /// The same where only a trap looks at what is known.
    pub(in crate::optimize) fn learn_for_trap(&mut self, cond: Operand, holds: bool) -> bool {
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
        if let (false, Some(Definition { opcode: Opcode::IntIsZero, args, .. })) = (holds, self.definition(value)) {
            let nonzero = args[0];
            return self.narrow(value, met, depth) && self.learn_through(nonzero, true, depth);
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
    pub(in crate::optimize) fn may_be(&self, cond: Operand, holds: bool) -> bool {
        let bound = self.bound(cond);
        let by_bound = if holds { bound != IntBound::constant(0) } else { bound.contains(0) };
        let Operand::Value(value) = cond else { return by_bound };
        by_bound && (holds || !self.least.contains_key(&value)) && !self.holds(value, !holds)
    }

    /// Whether a condition is known to hold, or not to, by what is known of the operands of the op that computes it.
    pub(in crate::optimize) fn holds(&self, cond: ValueId, holds: bool) -> bool {
        let Some(Definition { opcode, args, result: 0 }) = self.definition(cond) else { return false };
        let bounds = OfEach::new(args, IntBound::unbounded(), |arg| self.bound_by_now(arg));
        let transferred = IntBound::transfer(*opcode, &bounds);
        let known = self.compares(*opcode, args).or_else(|| Some(transferred.first()?.get_constant_int()? != 0));
        known == Some(holds)
    }

    /// Learns that an operand is none of these integers. Gives whether that can be.
    pub(in crate::optimize) fn learn_none_of(&mut self, operand: Operand, cases: &[i64]) -> bool {
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
    pub(in crate::optimize) fn may_be_case(&self, operand: Operand, case: i64) -> bool {
        let has_given = |opcode, wanted| {
            let test = SameOp::pure(opcode, &[operand, Operand::int(case)]);
            self.done(&test).is_some_and(|gives| self.bound(gives[0]) == IntBound::constant(wanted))
        };
        let is_positive = || operand.value().is_some_and(|value| self.least.contains_key(&value));
        let is_excluded = case == 0 && is_positive() || has_given(Opcode::IntEq, 0) || has_given(Opcode::IntNe, 1);
        self.bound(operand).contains(case) && !is_excluded
    }

    /// Whether an operand may be something else than all of these integers.
    pub(in crate::optimize) fn may_be_none_of(&self, operand: Operand, cases: &[i64]) -> bool {
        without(self.bound(operand), cases).is_some()
    }

    /// Learns that an operand is this integer. Gives whether that can be.
    pub(in crate::optimize) fn learn_equal(&mut self, operand: Operand, to: i64) -> bool {
        match operand {
            Operand::Value(value) => self.narrow(value, IntBound::constant(to), DEPTH),
            Operand::Const(Const::Int(i)) => i == to,
            Operand::Const(_) => true,
        }
    }

    /// Learns that a value lies in a bound, and what follows for what it was computed from. Gives whether that can be.
    fn narrow(&mut self, value: ValueId, bound: IntBound, depth: u32) -> bool {
        let before = self.bounds[value.index()];
        let Some(mut met) = before.meet(bound) else { return false };
        // What isn't negative is as large with a sign as without.
        if met.known_nonnegative()
            && let Some(least) = self.least.get(&value).copied()
            && least > met.lower() as u64
        {
            let above = i64::try_from(least).ok().and_then(|least| IntBound::from_range(least, i64::MAX));
            let Some(more) = above.and_then(|above| met.meet(above)) else { return false };
            met = more;
        }
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
        if met != before {
            for (other, bound) in self.relations.bounds_of_others(value, before, met) {
                if !self.narrow(other, bound, depth - 1) {
                    return false;
                }
            }
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
        if result == 1 && met.get_constant_int() == Some(0) && depth > SHALLOW {
            self.learn_no_overflow(opcode, &args);
        }
        if matches!(opcode, Opcode::IntSub | Opcode::IntXor) && depth > SHALLOW {
            let is_zero = met.get_constant_int() == Some(0);
            if is_zero || !met.contains(0) || self.least.contains_key(&value) {
                self.learn_comparison(Opcode::IntEq, &args, is_zero);
            }
        }
        if let (true, Some(holds), [a, b]) = (floats::is_comparison(opcode), met.get_constant_int(), &args[..]) {
            for (test, gives) in floats::said_by(opcode, holds != 0) {
                self.does(SameOp::pure(test, &args), [Operand::int(i64::from(gives))]);
            }
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
    pub(in crate::optimize) fn learn_test(&mut self, opcode: Opcode, args: &[Operand], holds: bool) {
        let bounds = self.bounds(args);
        let refined = IntBound::refine(opcode, &bounds, IntBound::constant(i64::from(holds)));
        for (arg, new) in args.iter().zip(refined.into_iter().flatten()) {
            if let Operand::Value(value) = arg {
                self.narrow(*value, new, DEPTH);
            }
        }
        self.learn_comparison(opcode, args, holds);
    }

    /// What an op gives that hasn't overflowed is greater than an operand to which a positive one has been added, and
    /// so on.
    fn learn_no_overflow(&mut self, opcode: Opcode, args: &[Operand]) {
        let Some(gives) = self.done(&SameOp::pure(opcode, args)).map(|results| results[0]) else { return };
        let [a, b] = *args else { return };
        let (than_a, than_b) = (self.bound(b), self.bound(a));
        let compares = |by: IntBound, swapped: bool| {
            let (is_more, is_less) =
                if swapped { (Opcode::IntLt, Opcode::IntGt) } else { (Opcode::IntGt, Opcode::IntLt) };
            match (by.lower(), by.upper()) {
                (1.., _) => Some((is_more, true)),
                (_, ..=-1) => Some((is_less, true)),
                (0, _) => Some((is_less, false)),
                (_, 0) => Some((is_more, false)),
                _ => None,
            }
        };
        let of_each = match opcode {
            Opcode::IntAddOvf => [(a, compares(than_a, false)), (b, compares(than_b, false))],
            Opcode::IntSubOvf => [(a, compares(than_a, true)), (b, None)],
            _ => return,
        };
        for (arg, (test, holds)) in of_each.into_iter().filter_map(|(arg, how)| Some((arg, how?))) {
            self.learn_comparison(test, &[gives, arg], holds);
        }
    }

    /// What bounds with a sign can't say: that a value is at least so much without one, or less than a length.
    fn learn_comparison(&mut self, opcode: Opcode, args: &[Operand], holds: bool) {
        if let Some((value, bound)) = least(opcode, args, holds) {
            self.is_at_least(value, bound);
        }
        let no_signs = args.iter().all(|arg| self.bound(*arg).known_nonnegative());
        let before = self.relations.learn(opcode, args, holds, no_signs);
        self.has_learnt_order(before);
        // Of what isn't negative both orders are one.
        let opcode = if no_signs { without_signs(opcode) } else { opcode };
        if let Some((index, Operand::Value(length))) = below(opcode, args, holds) {
            if !self.bounds[length.index()].known_nonnegative() {
                let least = index.value().and_then(|index| self.least.get(&index)).copied().unwrap_or(0);
                self.is_at_least(length, least.saturating_add(1));
            }
            if let Some((value, offset)) = self.offset_of(index) {
                self.learn_within(value, length.into(), (offset, offset));
            }
        }
        // What is at least 1 and no more than a length is one more than an index.
        if let Some((end, length @ Operand::Value(_))) = no_more(opcode, args, holds)
            && let Some((value, offset)) = self.offset_of(end)
            && self.is_positive(end)
            && let Some(last) = offset.checked_sub(1)
        {
            self.learn_within(value, length, (last, last));
        }
    }

    /// Learns that what chooses the lesser or the greater of two values is no more than either, or no less.
    pub(in crate::optimize) fn learn_chosen(&mut self, op: &Op) {
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

    /// Learns that two values are the same: the one with the lower number stands for both, but for one that is
    /// another's sum with a constant, since that says more.
    pub(crate) fn learn_same(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.standing_for(a), self.standing_for(b));
        if a == b {
            return;
        }
        let is_sum = |value: ValueId| self.offset_of(value.into()).is_some_and(|(of, _)| of != value);
        let (stands, other) = match (is_sum(a), is_sum(b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => (a.min(b), a.max(b)),
        };
        self.equal.insert(other, stands);
        self.learnt.push(Learnt::Equal(other));
    }
}
