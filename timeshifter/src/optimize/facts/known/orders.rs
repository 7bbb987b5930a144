//! How two operands compare, as far as bounds, tests, and the sums and choices that they are say.

use super::super::relations::{ALL, Before, EQUAL, GREATER, LESS, Order, swapped};
use super::{Definition, FAR, Known, Learnt};
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, ValueId};

/// Through so many sums and choices an operand is followed.
const STEPS: u32 = 4;

impl Known {
    /// How an operand may compare with another one.
    pub(in crate::optimize) fn order(&mut self, a: Operand, b: Operand) -> Order {
        self.order_through(a, b, STEPS)
    }

    fn order_through(&mut self, a: Operand, b: Operand, steps: u32) -> Order {
        if a == b {
            return [EQUAL; 2];
        }
        let order = self.order_of_tests(a, b);
        let is_decided = order.iter().all(|possible| possible.count_ones() <= 1);
        if is_decided || steps == 0 {
            return order;
        }
        let of_first = self.order_by_definition(a, b, steps);
        let of_second = self.order_by_definition(b, a, steps).map(swapped);
        [0, 1].map(|signs| order[signs] & of_first[signs] & of_second[signs])
    }

    /// What tests of the two would give.
    fn order_of_tests(&self, a: Operand, b: Operand) -> Order {
        let order = |less, greater| {
            let (is_less, is_greater) = (self.decided(less, a, b), self.decided(greater, a, b));
            match (is_less, is_greater) {
                (Some(true), _) => return LESS,
                (_, Some(true)) => return GREATER,
                (Some(false), Some(false)) => return EQUAL,
                _ => {}
            }
            let is_equal = self.decided(Opcode::IntEq, a, b);
            let possible = [(LESS, is_less), (EQUAL, is_equal), (GREATER, is_greater)];
            possible.iter().filter(|(_, is_so)| *is_so != Some(false)).map(|(how, _)| how).sum()
        };
        let unsigned = order(Opcode::UintLt, Opcode::UintGt);
        match [a, b].iter().all(|operand| self.bound(*operand).known_nonnegative()) {
            true => [unsigned; 2],
            false => [order(Opcode::IntLt, Opcode::IntGt), unsigned],
        }
    }

    /// How the first compares with the second by what it is computed of: a sum with a constant, or a choice.
    fn order_by_definition(&mut self, a: Operand, b: Operand, steps: u32) -> Order {
        let Some(Definition { opcode, args, result: 0 }) = a.value().and_then(|value| self.definition(value)).copied()
        else {
            return [ALL; 2];
        };
        match (opcode, &args[..]) {
            (Opcode::IntAdd, [Operand::Value(of), Operand::Const(Const::Int(by))])
            | (Opcode::IntAdd, [Operand::Const(Const::Int(by)), Operand::Value(of)]) => {
                self.order_of_sum(*of, *by, b, steps)
            }
            (Opcode::IntSub, [Operand::Value(of), Operand::Const(Const::Int(by))]) => {
                by.checked_neg().map_or([ALL; 2], |by| self.order_of_sum(*of, by, b, steps))
            }
            (Opcode::IntSelect, [cond, arm, other]) => {
                let each = [(*arm, true), (*other, false)]
                    .map(|(arm, holds)| self.where_it(*cond, holds, |known| known.order_through(arm, b, steps - 1)));
                [0, 1].map(|signs| each.iter().flatten().fold(0, |all, order| all | order[signs]))
            }
            _ => [ALL; 2],
        }
    }

    /// How the sum of a value and a constant compares with an operand.
    fn order_of_sum(&mut self, of: ValueId, by: i64, b: Operand, steps: u32) -> Order {
        let exact = self.are_exact(of, by);
        if exact == [false; 2] {
            return [ALL; 2];
        }
        let order = self.order_through(of.into(), b, steps - 1);
        let beyond = if by > 0 { GREATER } else { LESS };
        // What is no less than the other is greater by what is added to it, and the other way about; and what is less
        // is no more when it is greater by 1.
        [0, 1].map(|signs| match order[signs] {
            _ if !exact[signs] || by == 0 => ALL,
            possible if possible & !(beyond | EQUAL) == 0 => beyond,
            possible if possible & (beyond | EQUAL) == 0 && by.unsigned_abs() == 1 => ALL & !beyond,
            _ => ALL,
        })
    }

    /// Whether a sum of a value and a constant is what it says: with signs, and without.
    fn are_exact(&self, value: ValueId, by: i64) -> [bool; 2] {
        let bound = self.bound(value.into());
        let signed = bound.lower().checked_add(by).is_some() && bound.upper().checked_add(by).is_some();
        let unsigned = match by < 0 {
            true => self.is_no_less(value, by.unsigned_abs()),
            false => bound.known_nonnegative() && by <= FAR,
        };
        [signed, unsigned]
    }

    /// What a test of two operands gives.
    fn decided(&self, test: Opcode, a: Operand, b: Operand) -> Option<bool> {
        let args = [a, b];
        let by_bounds = IntBound::transfer(test, &self.bounds(&args))[0].get_constant_int();
        by_bounds.map(|gives| gives != 0).or_else(|| self.compares(test, &args))
    }

    /// Learns how a value may compare with another one.
    pub(in crate::optimize) fn learn_order(&mut self, a: ValueId, b: ValueId, order: Order) {
        let before = self.relations.learn_order(a, b, order);
        self.has_learnt_order(before);
    }

    /// More is known of how two values compare, and this was before.
    pub(crate) fn has_learnt_order(&mut self, before: Option<Before>) {
        let Some(before) = before else { return };
        let (a, b) = before.pair;
        self.learnt.push(Learnt::Relation(before));
        if self.relations.are_equal(a, b) {
            self.learn_same(a, b);
        }
    }
}
