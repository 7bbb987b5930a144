//! How two values compare, as far as tests have said: less, equal or greater, with signs and without.
//!
//! After `a < b`, `b <= a` is false and `a != b` true; after `a <= b` and `b < length`, without signs, `a < length`.
//! Constants are no business of this: bounds know more of them.

use super::known::Known;
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Opcode, Operand, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What is possible: less 1, equal 2, greater 4.
pub(crate) type Possible = u8;

pub(crate) const LESS: Possible = 1;
pub(crate) const EQUAL: Possible = 2;
pub(crate) const GREATER: Possible = 4;
pub(crate) const ALL: Possible = 7;

/// How one value may compare with another: with signs, and without.
pub(crate) type Order = [Possible; 2];

/// Of more values than these it isn't remembered that one has been compared with them.
const OTHERS: usize = 8;

/// What is known of pairs of values.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    /// How the first compares with the second, the one with the lower number first; with signs, and without.
    pairs: FxHashMap<(ValueId, ValueId), Order>,
    /// By value: others that it has been compared with.
    others: FxHashMap<ValueId, SmallVec<[ValueId; 4]>>,
}

/// How to undo a change.
#[derive(Debug)]
pub(crate) struct Before {
    pub pair: (ValueId, ValueId),
    possible: Option<Order>,
}

/// What of two operands a test asks for, and whether it looks at signs; equality does both.
pub(crate) fn asked(opcode: Opcode) -> Option<(Possible, Option<bool>)> {
    use Opcode as O;
    Some(match opcode {
        O::IntLt => (LESS, Some(true)),
        O::IntLe => (LESS | EQUAL, Some(true)),
        O::IntGt => (GREATER, Some(true)),
        O::IntGe => (GREATER | EQUAL, Some(true)),
        O::UintLt => (LESS, Some(false)),
        O::UintLe => (LESS | EQUAL, Some(false)),
        O::UintGt => (GREATER, Some(false)),
        O::UintGe => (GREATER | EQUAL, Some(false)),
        O::IntEq => (EQUAL, None),
        O::IntNe => (LESS | GREATER, None),
        _ => return None,
    })
}

/// The test that asks for this, if there is one: not for nothing or all that is possible.
pub(crate) fn test_for(possible: Possible, signs: bool) -> Option<Opcode> {
    use Opcode as O;
    let [with, without] = match possible {
        EQUAL => [O::IntEq; 2],
        LESS => [O::IntLt, O::UintLt],
        GREATER => [O::IntGt, O::UintGt],
        _ => match ALL & !possible {
            EQUAL => [O::IntNe; 2],
            LESS => [O::IntGe, O::UintGe],
            GREATER => [O::IntLe, O::UintLe],
            _ => return None,
        },
    };
    Some(if signs { with } else { without })
}

pub(crate) fn swapped(possible: Possible) -> Possible {
    possible & EQUAL | (possible & LESS) << 2 | (possible & GREATER) >> 2
}

/// How the first of three compares with the last, by how both do with the one between.
fn by_another(first: Order, second: Order) -> Order {
    [0, 1].map(|signs| match (first[signs], second[signs]) {
        (EQUAL, other) | (other, EQUAL) => other,
        (first, second) if (first | second) & GREATER == 0 => LESS | first & second & EQUAL,
        (first, second) if (first | second) & LESS == 0 => GREATER | first & second & EQUAL,
        _ => ALL,
    })
}

impl Relations {
    /// Learns that a test of two values holds, or doesn't. `no_signs` says that neither is negative.
    pub(crate) fn learn(&mut self, opcode: Opcode, args: &[Operand], holds: bool, no_signs: bool) -> Option<Before> {
        let (mut possible, signs) = asked(opcode)?;
        let [Operand::Value(a), Operand::Value(b)] = *args else { return None };
        if !holds {
            possible = ALL & !possible;
        }
        // Whether they are equal is the same with signs and without.
        let other = match possible & EQUAL {
            0 => LESS | GREATER,
            _ if possible == EQUAL => EQUAL,
            _ => ALL,
        };
        let each = match signs {
            _ if no_signs => [possible; 2],
            Some(true) => [possible, other],
            Some(false) => [other, possible],
            None => [possible; 2],
        };
        self.learn_order(a, b, each)
    }

    /// Learns how a value may compare with another one.
    pub(crate) fn learn_order(&mut self, a: ValueId, b: ValueId, order: Order) -> Option<Before> {
        let (pair, each) = if b < a { ((b, a), order.map(swapped)) } else { ((a, b), order) };
        let before = self.pairs.get(&pair).copied();
        let mut after = before.unwrap_or([ALL; 2]);
        after = [after[0] & each[0], after[1] & each[1]];
        // What has been ruled out for one of them is for the other one.
        let equal = after[0] & after[1] & EQUAL;
        after = match after.contains(&EQUAL) {
            true => [equal; 2],
            false => after.map(|possible| possible & !EQUAL | equal),
        };
        if before.unwrap_or([ALL; 2]) == after || a == b {
            return None;
        }
        self.pairs.insert(pair, after);
        if before.is_none() {
            for (one, other) in [(a, b), (b, a)] {
                let others = self.others.entry(one).or_default();
                if others.len() < OTHERS {
                    others.push(other);
                }
            }
        }
        Some(Before { pair, possible: before })
    }

    /// Undoes the latest change.
    pub(crate) fn undo(&mut self, Before { pair, possible }: Before) {
        match possible {
            Some(possible) => drop(self.pairs.insert(pair, possible)),
            None => {
                self.pairs.remove(&pair);
                for (one, other) in [pair, (pair.1, pair.0)] {
                    if let Some(others) = self.others.get_mut(&one)
                        && others.last() == Some(&other)
                    {
                        others.pop();
                    }
                }
            }
        }
    }

    fn possible(&self, a: ValueId, b: ValueId) -> Order {
        let pair = if b < a { (b, a) } else { (a, b) };
        let possible = self.pairs.get(&pair).copied().unwrap_or([ALL; 2]);
        if b < a { possible.map(swapped) } else { possible }
    }

    /// The values that one has been compared with whose bounds may be tighter now that its own is: in which these lie
    /// then, with signs.
    pub(crate) fn bounds_of_others(
        &self,
        value: ValueId,
        before: IntBound,
        bound: IntBound,
    ) -> SmallVec<[(ValueId, IntBound); 2]> {
        let (is_less, is_more) = (bound.upper() < before.upper(), bound.lower() > before.lower());
        if self.pairs.is_empty() || !is_less && !is_more {
            return SmallVec::new();
        }
        let of_other = |other: &ValueId| {
            let [possible, _] = self.possible(*other, value);
            let (below, above) = (is_less && possible & GREATER == 0, is_more && possible & LESS == 0);
            if !below && !above {
                return None;
            }
            let apart = i64::from(possible & EQUAL == 0);
            let upper = if below { bound.upper().checked_sub(apart)? } else { i64::MAX };
            let lower = if above { bound.lower().checked_add(apart)? } else { i64::MIN };
            Some((*other, IntBound::from_range(lower, upper)?))
        };
        self.others.get(&value).into_iter().flatten().filter_map(of_other).collect()
    }

    /// Whether two values are the same.
    pub(crate) fn are_equal(&self, a: ValueId, b: ValueId) -> bool {
        self.possible(a, b)[1] == EQUAL
    }

    /// Whether one value is no more than another, without signs.
    pub(crate) fn is_no_more(&self, a: ValueId, b: ValueId) -> bool {
        let [_, unsigned] = self.possible(a, b);
        unsigned != 0 && unsigned & GREATER == 0
    }

    /// What a test gives.
    pub(crate) fn compares(&self, opcode: Opcode, args: &[Operand], no_signs: bool) -> Option<bool> {
        if self.pairs.is_empty() {
            return None;
        }
        let (wanted, signs) = asked(opcode)?;
        let [Operand::Value(a), Operand::Value(b)] = *args else { return None };
        let decided = |possible: Order| {
            let possible = match signs {
                _ if no_signs => possible[0] & possible[1],
                Some(true) => possible[0],
                Some(false) | None => possible[1],
            };
            // Where nothing is possible nothing comes.
            match possible {
                0 => None,
                _ if possible & wanted == 0 => Some(false),
                _ if possible & !wanted == 0 => Some(true),
                _ => None,
            }
        };
        decided(self.possible(a, b)).or_else(|| {
            let by_others = self.others.get(&a)?.iter().filter(|other| **other != b);
            by_others.map(|other| by_another(self.possible(a, *other), self.possible(*other, b))).find_map(decided)
        })
    }

    /// Whether a value lies below a length, without signs, since it is no more than another one that does.
    pub(crate) fn is_below_by_another(&self, value: ValueId, length: Operand, known: &Known) -> bool {
        let Some(others) = self.others.get(&value) else { return false };
        let not_negative = known.bound(Operand::Value(value)).known_nonnegative();
        others.iter().any(|other| {
            let [signed, unsigned] = self.possible(value, *other);
            // Where a value isn't negative and no more than another with signs, that isn't negative either.
            let possible = if not_negative && signed & GREATER == 0 { signed & unsigned } else { unsigned };
            if possible & GREATER != 0 || possible == 0 {
                return false;
            }
            let strict = possible & EQUAL == 0;
            let beyond = match length {
                Operand::Value(length) if length == *other => return strict,
                Operand::Value(length) => self.possible(*other, length)[1],
                Operand::Const(_) => ALL,
            };
            beyond & GREATER == 0 && (strict || beyond & EQUAL == 0) || known.is_within(*other, length)
        })
    }
}
