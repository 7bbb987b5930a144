//! What is no more than something else by how it is computed: a half of it, what a mask or a division leaves, or less
//! by a constant.

use super::{Definition, FAR, Known, Within};
use flowgraph::ir::{Opcode, Operand, ValueId};
use smallvec::{SmallVec, smallvec};

/// So many such steps are looked through.
const STEPS: u32 = 3;

/// Of what an operand is a part, and by how much it is less than that, at least.
type Wholes = SmallVec<[(Operand, i64); 2]>;

impl Known {
    /// What a value is no more than, without signs.
    fn wholes(&self, part: ValueId) -> Wholes {
        let Some(Definition { opcode, args, result: 0 }) = self.definition(part) else { return Wholes::new() };
        match (opcode, &args[..]) {
            // What is divided by 0 gives 0.
            (Opcode::UintRshift | Opcode::UintFloordiv, [whole, _]) => smallvec![(*whole, 0)],
            (Opcode::IntAnd, [a, b]) => smallvec![(*a, 0), (*b, 0)],
            // A rest by 0 is what was divided.
            (Opcode::UintMod, [whole, by @ Operand::Value(divisor)]) if self.is_no_less(*divisor, 1) => {
                smallvec![(*whole, 0), (*by, 1)]
            }
            (Opcode::UintMod, [whole, _]) => smallvec![(*whole, 0)],
            (Opcode::IntSub, [whole @ Operand::Value(from), Operand::Value(by)])
                if self.relations.is_no_more(*by, *from) =>
            {
                smallvec![(*whole, i64::from(self.is_no_less(*by, 1)))]
            }
            (Opcode::IntAdd | Opcode::IntSub, [_, Operand::Const(_)]) => match self.offset_of(part.into()) {
                Some((whole, by)) if (-FAR..0).contains(&by) && self.is_no_less(whole, by.unsigned_abs()) => {
                    smallvec![(whole.into(), -by)]
                }
                _ => Wholes::new(),
            },
            _ => Wholes::new(),
        }
    }

    /// Whether a value lies below a length, without signs, by what it is a part of.
    pub(super) fn is_part_below(&self, part: ValueId, length: Operand, steps: u32) -> bool {
        steps > 0
            && self.wholes(part).into_iter().any(|(whole, by)| match by {
                0 => self.is_below(whole, length, steps - 1),
                _ => self.is_no_more(whole, length, steps - 1),
            })
    }

    /// Whether an operand is no more than another one, without signs, by what it is a part of.
    pub(super) fn is_no_more_by_parts(&self, operand: Operand, than: Operand) -> bool {
        self.is_no_more(operand, than, STEPS)
    }

    fn is_no_more(&self, operand: Operand, than: Operand, steps: u32) -> bool {
        if operand == than {
            return true;
        }
        let Operand::Value(value) = operand else { return false };
        let is_related = |than: Operand| than.value().is_some_and(|than| self.relations.is_no_more(value, than));
        // What is less than something is so by one at least.
        let is_within = |(root, by): (ValueId, i64)| {
            self.offset_is_within(root, by, than) || by > 0 && self.offset_is_within(root, by - 1, than)
        };
        let is_less_by_a_sum = |(root, by): (ValueId, i64)| {
            let is_more = (1..=FAR).contains(&by) && self.bounds[root.index()].known_nonnegative();
            is_more && (value == root || is_related(root.into()))
        };
        is_related(than)
            || self.offset_of(operand).is_some_and(is_within)
            || self.offset_of(than).is_some_and(is_less_by_a_sum)
            || steps > 0 && self.wholes(value).into_iter().any(|(whole, _)| self.is_no_more(whole, than, steps - 1))
    }

    /// Learns that some offsets from a value, all of a range, lie below a length, and so below what that is a part of.
    pub(crate) fn learn_within(&mut self, value: ValueId, length: Operand, (low, high): (i64, i64)) {
        let mut todo: SmallVec<[(Operand, i64, u32); 2]> = smallvec![(length, high, STEPS)];
        while let Some((length, high, steps)) = todo.pop() {
            if self.learn_within_length(value, length, (low, high))
                && steps > 0
                && let Operand::Value(part) = length
            {
                // What is less by something is below the whole also with that added.
                let above = |(whole, by): (Operand, i64)| Some((whole, high.checked_add(by)?, steps - 1));
                todo.extend(
                    self.wholes(part).into_iter().filter(|(whole, _)| whole.value().is_some()).filter_map(above),
                );
            }
        }
    }

    /// Below which lengths a value lies by what it is a part of.
    pub(super) fn part_is_within(&self, part: ValueId) -> Within {
        let mut within = Within::new();
        for (whole, by) in self.wholes(part) {
            let Operand::Value(value) = whole else { continue };
            if by > 0 {
                within.push((whole, (0, by - 1)));
            }
            let own = self.within.get(&value).into_iter().flatten();
            within.extend(
                own.filter(|(_, (low, high))| (*low..=*high).contains(&0)).map(|(length, _)| (*length, (0, 0))),
            );
        }
        within
    }
}
