//! Which indices lie below which lengths, by which offsets from a value.

use super::{Definition, FAR, Known, Learnt, Within};
use flowgraph::ir::{Const, Opcode, Operand, ValueId};

/// So many choices between indices, or parts of others, are looked through.
const STEPS: u32 = 2;

/// So many ranges of offsets are remembered where what lies between them isn't known.
const APART: usize = 4;

impl Known {
    /// Learns the least that a value can be, as a word without sign.
    pub(crate) fn is_at_least(&mut self, value: ValueId, bound: u64) {
        let before = self.least.get(&value).copied();
        if before.unwrap_or(0) < bound {
            self.least.insert(value, bound);
            self.learnt.push(Learnt::Least(value, before));
        }
    }

    /// Learns that some offsets from a value, all of a range, lie below a length. Gives whether that is new.
    pub(super) fn learn_within_length(&mut self, value: ValueId, length: Operand, (low, high): (i64, i64)) -> bool {
        let before = self.within.get(&value);
        let mut after = before.cloned().unwrap_or_default();
        let own = || (0..after.len()).filter(|at| after[*at].0 == length);
        if own().any(|at| after[at].1.0 <= low && high <= after[at].1.1) {
            return false;
        }
        let both = own().map(|at| (at, (after[at].1.0.min(low), after[at].1.1.max(high))));
        match both.into_iter().find(|(_, range)| self.spans(length, *range)) {
            Some((at, range)) => after[at].1 = range,
            None if own().count() < APART => after.push((length, (low, high))),
            None => return false,
        }
        let before = self.within.insert(value, after);
        self.learnt.push(Learnt::Within(value, before.map(Box::new)));
        true
    }

    /// Learns of a parameter what is said of all that is handed over for it.
    pub(in crate::optimize) fn param_is_within(&mut self, param: ValueId, within: &Within) {
        for (length, range) in within {
            self.learn_within(param, *length, *range);
        }
    }

    /// Whether of these offsets from a value all lie below a length if some do.
    pub(in crate::optimize) fn follow(
        &mut self,
        value: ValueId,
        length: Operand,
        some: &[i64],
        mut offsets: impl Iterator<Item = i64>,
    ) -> bool {
        let mark = self.mark();
        some.iter().for_each(|offset| self.learn_within(value, length, (*offset, *offset)));
        let follow = offsets.all(|offset| self.offset_is_within(value, offset, length));
        self.forget(mark);
        follow
    }

    /// Of which lengths which offsets from an operand lie below them; of a constant, below `lengths`.
    pub(in crate::optimize) fn within(&self, operand: Operand, lengths: &[ValueId]) -> Within {
        match operand {
            Operand::Value(_) => {
                let Some((value, offset)) = self.offset_of(operand) else { return Within::new() };
                let own = self.within.get(&value).into_iter().flatten();
                let own = own.map(|(length, (low, high))| (*length, (low - offset, high - offset)));
                // What is less than a value, and not less than zero, lies below the value itself.
                let below_itself = (offset < 0 && self.is_no_less(value, offset.unsigned_abs()))
                    .then_some((Operand::Value(value), (0, -offset - 1)));
                let of_part = if offset == 0 { self.part_is_within(value) } else { Within::new() };
                own.chain(below_itself).chain(of_part).collect()
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

    /// Whether two offsets from one value that lie below a length, which may be one, say so of all in between: no sum
    /// between them wraps. Let `a` be the lower one's sum, less than the length, and `d` the distance: `a + d` is less
    /// than the length plus `d`, and that no more than 2^64.
    fn spans(&self, length: Operand, (low, high): (i64, i64)) -> bool {
        low == high || high.checked_sub(low).is_some_and(|d| d <= FAR) && self.bound(length).known_nonnegative()
    }

    /// Whether an operand isn't negative, and at least this.
    pub(in crate::optimize) fn is_at_least_distance(&self, operand: Operand, distance: i64) -> bool {
        let bound = self.bound(operand);
        let least = operand.value().and_then(|value| self.least.get(&value)).copied().unwrap_or(0);
        (0..=FAR).contains(&distance)
            && bound.known_nonnegative()
            && (bound.lower() >= distance || least >= distance as u64)
    }

    /// What a comparison of an index with a length gives.
    pub(crate) fn is_below_length(&self, opcode: Opcode, args: &[Operand]) -> Option<bool> {
        let [a, b] = *args else { return None };
        let (index, length, holds) = match opcode {
            Opcode::UintLt => (a, b, true),
            Opcode::UintGt => (b, a, true),
            Opcode::UintGe => (a, b, false),
            Opcode::UintLe => (b, a, false),
            _ => return None,
        };
        if self.is_below(index, length, STEPS) {
            return Some(holds);
        }
        match self.is_less_by_offset(index, length) {
            Some(is_less) => Some(is_less == holds),
            None => self.is_no_more_by_parts(length, index).then_some(!holds),
        }
    }

    /// Whether one sum of a value and a constant is less than another one of the same value, without signs: where
    /// neither wraps, the constants say.
    fn is_less_by_offset(&self, one: Operand, other: Operand) -> Option<bool> {
        let ((value, by), (same, other_by)) = (self.offset_of(one)?, self.offset_of(other)?);
        let is_exact = |by: i64| match by {
            0 => true,
            _ if by < 0 => self.is_no_less(value, by.unsigned_abs()),
            _ => by <= FAR && self.bounds[value.index()].known_nonnegative(),
        };
        (value == same && is_exact(by) && is_exact(other_by)).then_some(by < other_by)
    }

    /// Whether an index lies below a length, without signs; so many steps to what it is chosen from, or is a part of, are
    /// looked through.
    pub(super) fn is_below(&self, index: Operand, length: Operand, steps: u32) -> bool {
        let Some((value, offset)) = self.offset_of(index) else { return false };
        if self.offset_is_within(value, offset, length)
            || index.value().is_some_and(|index| self.relations.is_below_by_another(index, length, self))
            || offset < 0
                && (length == value.into()
                    || length.value().is_some_and(|other| self.relations.is_no_more(value, other)))
                && self.is_no_less(value, offset.unsigned_abs())
        {
            return true;
        }
        if index.value().is_some_and(|index| self.is_part_below(index, length, steps)) {
            return true;
        }
        match index.value().and_then(|index| self.definition(index)) {
            // A half or less of what isn't nothing.
            Some(Definition { opcode: opcode @ (Opcode::UintRshift | Opcode::UintFloordiv), args, .. }) => {
                let by = args[1].as_int();
                let is_part = match opcode {
                    Opcode::UintRshift => by.is_some_and(|by| (1..64).contains(&by)),
                    _ => by.is_some_and(|by| by as u64 > 1),
                };
                is_part && args[0] == length && length.value().is_some_and(|length| self.is_no_less(length, 1))
            }
            Some(Definition { opcode: Opcode::IntSelect, args, .. }) if steps > 0 => {
                let [cond, a, b] = args.all;
                let is_below = |index| self.is_below(index, length, steps - 1);
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

    /// Whether an operand isn't 0, and not negative either.
    pub(crate) fn is_positive(&self, operand: Operand) -> bool {
        self.bound_by_now(operand).lower() > 0 || operand.value().is_some_and(|value| self.is_no_less(value, 1))
    }

    /// Whether a value is at least so much, as a word without sign.
    pub(crate) fn is_no_less(&self, value: ValueId, least: u64) -> bool {
        let bound = self.bounds[value.index()];
        self.least.get(&value).is_some_and(|known| *known >= least)
            || bound.known_nonnegative() && bound.lower() as u64 >= least
    }

    pub(super) fn offset_is_within(&self, value: ValueId, offset: i64, length: Operand) -> bool {
        let is_there = |(other, (low, high)): &(Operand, (i64, i64))| {
            // What is less than the value, which lies below the length itself, does so, too.
            let is_less = || (*low..=*high).contains(&0) && offset < 0 && self.is_no_less(value, offset.unsigned_abs());
            // Neither the lesser sum nor the greater one wraps.
            let is_no_more = || {
                offset <= *high
                    && *high <= FAR
                    && self.bounds[value.index()].known_nonnegative()
                    && (offset >= 0 || self.is_no_less(value, offset.unsigned_abs()))
            };
            *other == length && (*low <= offset && offset <= *high || is_less() || is_no_more())
        };
        self.within.get(&value).is_some_and(|within| within.iter().any(is_there))
    }

    /// Whether a value is known to lie below a length.
    pub(in crate::optimize) fn is_within(&self, value: ValueId, length: Operand) -> bool {
        self.offset_of(value.into()).is_some_and(|(value, offset)| self.offset_is_within(value, offset, length))
    }
}
