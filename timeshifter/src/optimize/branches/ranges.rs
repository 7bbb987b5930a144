//! Two tests whether a value lies in a range are one; so are two of the same values, as `x < y` and `x == y` in `x <=
//! y`.
//!
//! ```text
//! b0: v1 = int_ge v0, 48            b0: v4 = int_sub v0, 48
//!     branch v1, b1, b3                 v5 = uint_lt v4, 10
//! b1: v2 = int_le v0, 57       ->       branch v5, b2, b3
//!     branch v2, b2, b3
//! ```
//!
//! The distance from the lower end to the value, without signs, is less than how many there are in the range: below
//! that end it wraps, and is more than any (H. S. Warren, "Hacker's Delight", 2nd edition, section 4-1). From 0 on
//! there is nothing to subtract, and the upper end may be any value that isn't negative.
//!
//! Of two values each test says of less, equal and greater which may be, and both what both say; of a value and two
//! ends on one side the closer one counts.
//!
//! The second test may be on either way from the first, with nothing before it but what computes and loads; or both are
//! bits that are joined.

use super::rows::{compute_at_end, is_copied};
use crate::optimize::facts::known::Known;
use crate::optimize::facts::memory::one_way;
use crate::optimize::forward::flow::at_ends;
use crate::optimize::graph::dominators::{exits, is_guards_exit};
use crate::optimize::int_bound::IntBound;
use crate::optimize::rewrites::{Kind, Rewrites, shown, shown_op};
use flowgraph::ir::{BlockId, Edge, Graph, Op, Opcode, Operand, Terminator, Time};

/// That a value lies in a range: what is left of it without the least is so much, or less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub value: Operand,
    pub low: i64,
    /// `uint_lt` or `uint_le`.
    pub test: Opcode,
    pub against: Operand,
}

/// What two tests that hold ask for.
enum Asked {
    Range(Range),
    /// One comparison.
    Test(Opcode, [Operand; 2]),
}

/// The end of a range that a test asks for.
#[derive(Clone, Copy)]
struct End {
    value: Operand,
    end: Operand,
    /// Whether the end itself isn't in the range.
    is_strict: bool,
    is_signed: bool,
}

/// What a comparison with its operands in this order says of the first one: the lower end, or else the upper one.
fn end_of(opcode: Opcode, [value, end]: [Operand; 2]) -> Option<(bool, End)> {
    use Opcode::*;
    let is_lower = matches!(opcode, IntGe | IntGt | UintGe | UintGt);
    let is_strict = matches!(opcode, IntGt | IntLt | UintGt | UintLt);
    let is_signed = matches!(opcode, IntGe | IntGt | IntLe | IntLt);
    let is_order = is_signed || matches!(opcode, UintGe | UintGt | UintLe | UintLt);
    is_order.then_some((is_lower, End { value, end, is_strict, is_signed }))
}

/// What a condition asks for, where it is to hold or not: of both of its operands.
fn ends_of(opcode: Opcode, args: &[Operand], holds: bool) -> Option<[(bool, End); 2]> {
    let [one, other] = *args else { return None };
    let opcode = if holds { opcode } else { opcode.negated()? };
    Some([end_of(opcode, [one, other])?, end_of(opcode.mirrored()?, [other, one])?])
}

/// Which of less, equal and greater a comparison lets through, and with which signs, if that matters.
fn outcomes(opcode: Opcode) -> Option<(u8, Option<bool>)> {
    use Opcode::*;
    Some(match opcode {
        IntEq => (EQUAL, None),
        IntNe => (LESS | GREATER, None),
        IntLt => (LESS, Some(true)),
        IntLe => (LESS | EQUAL, Some(true)),
        IntGt => (GREATER, Some(true)),
        IntGe => (GREATER | EQUAL, Some(true)),
        UintLt => (LESS, Some(false)),
        UintLe => (LESS | EQUAL, Some(false)),
        UintGt => (GREATER, Some(false)),
        UintGe => (GREATER | EQUAL, Some(false)),
        _ => return None,
    })
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

/// The one comparison that holds where two do, each with whether it is to hold.
fn one_test<'a>(
    definition: impl Fn(Operand) -> Option<(Opcode, &'a [Operand])>,
    tests: [(Operand, bool); 2],
) -> Option<(Opcode, [Operand; 2])> {
    let asked = |(cond, holds): (Operand, bool)| {
        let (opcode, args) = definition(cond)?;
        let [a, b] = *args else { return None };
        Some((if holds { opcode } else { opcode.negated()? }, [a, b]))
    };
    let (first, second) = (asked(tests[0])?, asked(tests[1])?);
    let mirrored = (second.0.mirrored().unwrap_or(second.0), [second.1[1], second.1[0]]);
    if let Some((other, _)) = [second, mirrored].into_iter().find(|(_, args)| *args == first.1) {
        let ((some, signs), (others, other_signs)) = (outcomes(first.0)?, outcomes(other)?);
        if signs.is_some() && other_signs.is_some() && signs != other_signs {
            return None;
        }
        let wanted = |opcode: &Opcode| {
            outcomes(*opcode).is_some_and(|(outcomes, own)| outcomes == some & others && own == signs.or(other_signs))
        };
        let of_both = Opcode::ALL.iter().copied().find(|opcode| match some & others {
            EQUAL => *opcode == Opcode::IntEq,
            outcomes if outcomes == LESS | GREATER => *opcode == Opcode::IntNe,
            _ => wanted(opcode),
        });
        return of_both.map(|opcode| (opcode, first.1));
    }
    closer_end(first, second)
}

/// Of two ends on one side of a value the one that is closer.
fn closer_end(first: (Opcode, [Operand; 2]), second: (Opcode, [Operand; 2])) -> Option<(Opcode, [Operand; 2])> {
    let end = |(opcode, args): (Opcode, [Operand; 2])| {
        let (is_lower, end) = end_of(opcode, args)?;
        let at = end.end.as_int()?;
        // In an order that has no signs: the first, or the last, that is on this side.
        let place = (at as u64) ^ if end.is_signed { 1 << 63 } else { 0 };
        let place = match (end.is_strict, is_lower) {
            (false, _) => place,
            (true, true) => place.checked_add(1)?,
            (true, false) => place.checked_sub(1)?,
        };
        Some((end.value, is_lower, end.is_signed, place))
    };
    let ((value, is_lower, is_signed, place), (other, other_is_lower, other_is_signed, other_place)) =
        (end(first)?, end(second)?);
    let are_alike = value == other && is_lower == other_is_lower && is_signed == other_is_signed;
    let closer = if (place > other_place) == is_lower { first } else { second };
    (are_alike && value.value().is_some()).then_some(closer)
}

impl Range {
    /// The range that two tests ask for, each with whether it is to hold.
    pub(crate) fn known(known: &Known, tests: [(Operand, bool); 2]) -> Option<Range> {
        Range::of(|cond| known.definition_of(cond), |end| known.bound(end).lower() < 0, tests)
    }

    /// The same, where `definition` says how values are computed.
    fn of<'a>(
        definition: impl Fn(Operand) -> Option<(Opcode, &'a [Operand])>,
        is_negative: impl Fn(Operand) -> bool,
        tests: [(Operand, bool); 2],
    ) -> Option<Range> {
        let ends =
            |(cond, holds): (Operand, bool)| definition(cond).and_then(|(opcode, args)| ends_of(opcode, args, holds));
        let [first, second] = [ends(tests[0])?, ends(tests[1])?];
        [(first, second), (second, first)].into_iter().find_map(|(lower, upper)| {
            let constant = |(is_lower, end): &(bool, End)| *is_lower && end.end.as_int().is_some();
            let (_, lower) = lower.into_iter().find(constant)?;
            let (_, upper) = upper.into_iter().find(|(is_lower, end)| !is_lower && end.value == lower.value)?;
            Range::between(lower, upper, &is_negative)
        })
    }

    fn between(lower: End, upper: End, is_negative: impl Fn(Operand) -> bool) -> Option<Range> {
        let (value, is_signed) = (lower.value, lower.is_signed);
        if value.as_int().is_some() {
            return None;
        }
        let next =
            |end: i64| if is_signed { end.checked_add(1) } else { (end as u64).checked_add(1).map(|n| n as i64) };
        let low = lower.end.as_int()?;
        let low = if lower.is_strict { next(low)? } else { low };
        // What lies below the upper end without signs isn't negative.
        let says_it_all = is_signed && !upper.is_signed && low <= 0;
        if is_signed != upper.is_signed && !says_it_all {
            return None;
        }
        let Some(end) = upper.end.as_int().filter(|_| !says_it_all) else {
            let test = if upper.is_strict { Opcode::UintLt } else { Opcode::UintLe };
            let from_nothing = is_signed && (low == 0 || says_it_all) && !is_negative(upper.end);
            return from_nothing.then_some(Range { value, low: 0, test, against: upper.end });
        };
        // The first one that isn't in it any more; there are fewer than all words.
        let end = if upper.is_strict { end } else { next(end)? };
        let is_any = if is_signed { low < end } else { (low as u64) < end as u64 };
        let count = Operand::int(end.wrapping_sub(low));
        is_any.then_some(Range { value, low, test: Opcode::UintLt, against: count })
    }

    /// Computes at the end of a block whether the value lies in it, or whether it doesn't.
    pub(crate) fn test_at_end(&self, graph: &mut Graph, block: BlockId, is_in: bool) -> Operand {
        let loc = graph.block(block).loc;
        let distance = match self.low {
            0 => self.value,
            low => compute_at_end(graph, block, Opcode::IntSub, &[self.value, Operand::int(low)], loc),
        };
        let test = if is_in { Some(self.test) } else { self.test.negated() };
        let Some(test) = test else { unreachable!("a comparison of integers has an opposite") };
        compute_at_end(graph, block, test, &[distance, self.against], loc)
    }
}

impl Asked {
    /// Computes at the end of a block whether that holds, or whether it doesn't.
    fn test_at_end(&self, graph: &mut Graph, block: BlockId, holds: bool) -> Operand {
        match self {
            Asked::Range(range) => range.test_at_end(graph, block, holds),
            Asked::Test(opcode, args) => {
                let test = if holds { Some(*opcode) } else { opcode.negated() };
                let Some(test) = test else { unreachable!("a comparison of integers has an opposite") };
                compute_at_end(graph, block, test, args, graph.block(block).loc)
            }
        }
    }
}

/// Makes one test of two. Gives whether there were any.
pub(crate) fn merge_ranges(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> bool {
    let one_way = one_way(graph);
    if !may_be_any(graph, &one_way) {
        return false;
    }
    let mut found: Vec<(Pair, Asked)> = Vec::new();
    let mut taken = vec![false; graph.blocks.len()];
    at_ends(graph, entry, |block, known| {
        let asked = Pair::all(graph, &one_way, block).find_map(|pair| {
            let test = || one_test(|cond| known.definition_of(cond), pair.tests);
            let asked = match Range::known(known, pair.tests).filter(|range| pair.is_early(graph, range)) {
                Some(range) => Asked::Range(range),
                None => test().map(|(opcode, args)| Asked::Test(opcode, args))?,
            };
            Some((pair, asked))
        });
        if let Some((pair, asked)) = asked.filter(|_| !taken[block.index()])
            && rewrites.may(Kind::Range, graph.block(block).loc, || pair.told(&asked))
        {
            taken[pair.second.index()] = true;
            found.push((pair, asked));
        }
    });
    found.iter().for_each(|(pair, asked)| pair.merge(graph, asked));
    !found.is_empty()
}

/// Whether any two tests may be of one range: by no more than what they compare.
fn may_be_any(graph: &Graph, one_way: &[bool]) -> bool {
    let mut pairs = graph.block_ids().flat_map(|block| Pair::all(graph, one_way, block)).peekable();
    if pairs.peek().is_none() {
        return false;
    }
    let mut computed: Vec<Option<&Op>> = vec![None; graph.values.len()];
    for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.opcode.is_comparison()) {
        computed[op.results[0].index()] = Some(op);
    }
    let definition = |cond: Operand| computed[cond.value()?.index()].map(|op| (op.opcode, &op.args[..]));
    pairs.any(|pair| {
        Range::of(definition, |_| false, pair.tests).is_some() || one_test(definition, pair.tests).is_some()
    })
}

/// Two tests, one behind the other.
struct Pair {
    first: BlockId,
    /// Only the first one leads there.
    second: BlockId,
    /// Each with whether it is to hold for what both ask for.
    tests: [(Operand, bool); 2],
    joined: Joined,
}

/// What follows from both.
enum Joined {
    /// The second one branches: to what comes if both hold, and else to where the first one goes at once.
    Branch { on: Edge, out: Edge },
    /// A bit is handed on, at this place: that both hold, or that they don't.
    Bit { to: Edge, at: usize, is_in: bool },
}

impl Pair {
    /// The pairs that begin with the test at the end of a block.
    fn all<'g>(graph: &'g Graph, one_way: &'g [bool], first: BlockId) -> impl Iterator<Item = Pair> {
        let edges = match &graph.block(first).term {
            Terminator::Branch { cond, then, otherwise, time: Time::Now } => Some((*cond, [then, otherwise])),
            _ => None,
        };
        edges.into_iter().flat_map(move |(cond, edges)| {
            (0..2).filter_map(move |side| {
                let (next, out) = (edges[side], edges[1 - side]);
                let is_alone = one_way[next.block.index()] && next.block != first && next.block != out.block;
                let (second, joined) = Pair::second(graph, next.block, out).filter(|_| is_alone)?;
                let holds = match &joined {
                    Joined::Bit { is_in: false, .. } => false,
                    _ => second.1,
                };
                Some(Pair { first, second: next.block, tests: [(cond, side == 0), (second.0, holds)], joined })
            })
        })
    }

    /// What a block tests, and what follows if the first test didn't lead out by an edge.
    fn second(graph: &Graph, block: BlockId, out: &Edge) -> Option<((Operand, bool), Joined)> {
        let code = graph.block(block);
        if !code.params.is_empty() || !code.ops.iter().all(is_copied) {
            return None;
        }
        match &code.term {
            Terminator::Branch { cond, then, otherwise, time: Time::Now } => {
                let (on, holds) = match [then == out, otherwise == out] {
                    [false, true] => (then, true),
                    [true, false] => (otherwise, false),
                    _ => return None,
                };
                let joined = Joined::Branch { on: on.clone(), out: out.clone() };
                (!is_guards_exit(graph, on.block)).then_some(((*cond, holds), joined))
            }
            Terminator::Jump(to) if to.block == out.block && !exits(graph, to.block) => {
                let mut others = to.args.iter().zip(&out.args).enumerate().filter(|(_, (own, out))| own != out);
                let (Some((at, (bit, out))), None) = (others.next(), others.next()) else { return None };
                let is_in = match out.as_int() {
                    Some(0) => true,
                    Some(1) => false,
                    _ => return None,
                };
                Some(((*bit, true), Joined::Bit { to: to.clone(), at, is_in }))
            }
            _ => None,
        }
    }

    /// Whether all that a range is of is there at the first test.
    fn is_early(&self, graph: &Graph, range: &Range) -> bool {
        let ops = &graph.block(self.second).ops;
        !ops.iter().flat_map(|op| &op.results).any(|result| range.against == Operand::Value(*result))
    }

    fn told(&self, asked: &Asked) -> (String, String) {
        let Range { value, low, test, against } = match asked {
            Asked::Range(range) => range,
            Asked::Test(opcode, args) => {
                let change = format!("{}: {}", self.first, shown_op(*opcode, args));
                return (change, format!("{} and it ask for that", self.second));
            }
        };
        let distance = match low {
            0 => shown(*value),
            low => format!("({})", shown_op(Opcode::IntSub, &[*value, Operand::int(*low)])),
        };
        let change = format!("{}: {} {distance}, {}", self.first, test.name(), shown(*against));
        (change, format!("{} and it ask for one range", self.second))
    }

    fn merge(&self, graph: &mut Graph, asked: &Asked) {
        match &self.joined {
            Joined::Branch { on, out } => {
                let cond = asked.test_at_end(graph, self.first, true);
                let (then, otherwise) = (Edge::new(self.second, []), out.clone());
                graph.block_mut(self.first).term = Terminator::Branch { cond, then, otherwise, time: Time::Now };
                graph.block_mut(self.second).term = Terminator::Jump(on.clone());
            }
            Joined::Bit { to, at, is_in } => {
                let mut to = to.clone();
                to.args[*at] = asked.test_at_end(graph, self.first, *is_in);
                graph.block_mut(self.first).term = Terminator::Jump(to);
            }
        }
    }
}

/// Two bits that are joined with `and`, or the opposite of both with `or`: the range, and whether the value lies in it.
pub(crate) fn joined_bits(opcode: Opcode, args: &[Operand], known: &Known) -> Option<(Range, bool)> {
    let is_in = match opcode {
        Opcode::IntAnd => true,
        Opcode::IntOr => false,
        _ => return None,
    };
    let [one, other] = *args else { return None };
    let range = Range::known(known, [(one, is_in), (other, is_in)])?;
    // Both tests must go where one more op comes.
    let goes = |bit: Operand| rules::Subject::used_once(known, bit);
    (range.low == 0 || goes(one) && goes(other)).then_some((range, is_in))
}
