//! Where bounds of parameters that keep growing come to rest first: at the constants that these are held against.
//!
//! An index that goes around, `k = if k == 7 { 0 } else { k + 1 }`, grows up to what it is compared with, and no
//! further; and `k = (k + 1) % 8` up to the most that such a remainder can be. What is less than something else is less
//! than the greatest of all, so that one more doesn't overflow. Widened at once it would be unbounded, and nothing that
//! is found behind a test makes it less again (widening with thresholds: B. Blanchet et al., "Design and implementation
//! of a special-purpose static program analyzer for safety-critical real-time embedded software", 2002).

use crate::optimize::facts::known::{Definition, Known, OfEach};
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Graph, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// So many constants are remembered of one parameter.
const CONSTANTS: usize = 8;

/// Over so many edges constants come from what a parameter is handed on as.
const HANDED_ON: usize = 2;

/// By parameter: the constants that it is held against, less what is added to it before, the ends of what ops can give
/// that it is handed, and the greatest or the least value but one, if what it is handed is compared with another value.
#[derive(Default)]
pub(crate) struct Thresholds(Found);

type Found = FxHashMap<ValueId, SmallVec<[i64; CONSTANTS]>>;

impl Thresholds {
    /// Those of a graph.
    pub(crate) fn of(graph: &Graph, known: &Known) -> Thresholds {
        let mut found = Found::default();
        let mut compared: FxHashMap<ValueId, i64> = FxHashMap::default();
        for op in graph.blocks.iter().flat_map(|block| &block.ops) {
            match (&op.args[..], rests_at(op.opcode)) {
                ([tested, Operand::Const(Const::Int(constant))], Some(beside)) => {
                    held_against(&mut found, known, *tested, *constant, beside);
                }
                ([Operand::Const(Const::Int(constant)), tested], Some(beside)) => {
                    held_against(&mut found, known, *tested, *constant, -beside);
                }
                ([Operand::Value(one), Operand::Value(other)], Some(_)) => {
                    compared.extend(rest_beside(op.opcode, *one, *other));
                }
                ([tested], _) if matches!(op.opcode, Opcode::IntIsTrue | Opcode::IntIsZero) => {
                    held_against(&mut found, known, *tested, 0, 0);
                }
                _ => {}
            }
        }
        for block in &graph.blocks {
            if let Terminator::Branch { cond, .. } = &block.term {
                held_against(&mut found, known, *cond, 0, 0);
            }
        }
        for edge in graph.edges() {
            for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                let Some(value) = arg.value() else { continue };
                if let Some(end) = compared.get(&value) {
                    remember(&mut found, *param, *end);
                }
                let Some(gives) = at_most(known, value) else { continue };
                for end in [gives.lower(), gives.upper()].into_iter().filter(|end| ![i64::MIN, i64::MAX].contains(end))
                {
                    remember(&mut found, *param, end);
                }
            }
        }
        // A parameter that is handed on as another one rests where that does.
        for _ in 0..HANDED_ON {
            for edge in graph.edges() {
                for (param, arg) in graph.block(edge.block).params.iter().zip(&edge.args) {
                    if let Operand::Value(value) = arg
                        && known.definition(*value).is_none()
                        && !found.contains_key(value)
                        && let Some(thresholds) = found.get(param).cloned()
                    {
                        found.insert(*value, thresholds);
                    }
                }
            }
        }
        Thresholds(found)
    }

    /// A bound of a parameter that holds this one and what comes besides, no end of which lies beyond the next
    /// threshold if there is one.
    pub(crate) fn widen(&self, param: ValueId, before: IntBound, comes: IntBound) -> IntBound {
        let joined = before.join(comes);
        let widened = widened(before, joined);
        let Some(thresholds) = self.0.get(&param) else { return widened };
        let lower = thresholds.iter().copied().filter(|at| *at <= joined.lower()).max().unwrap_or(i64::MIN);
        let upper = thresholds.iter().copied().filter(|at| joined.upper() <= *at).min().unwrap_or(i64::MAX);
        IntBound::from_range(lower, upper).and_then(|rests| widened.meet(rests)).unwrap_or(widened)
    }
}

/// A bound that holds this one and a greater one, and has grown a lot where that has grown. An end that hasn't moved
/// stays where it is: an index that goes up from 2 is never less.
pub(crate) fn widened(before: IntBound, joined: IntBound) -> IntBound {
    let widened = before.widen(joined);
    let lower = if joined.lower() == before.lower() { before.lower() } else { i64::MIN };
    let upper = if joined.upper() == before.upper() { before.upper() } else { i64::MAX };
    IntBound::from_range(lower, upper).and_then(|stays| widened.meet(stays)).unwrap_or(widened)
}

/// An operand is held against a constant, and against the one that lies so far from it.
fn held_against(found: &mut Found, known: &Known, tested: Operand, constant: i64, beside: i64) {
    if let Some((value, offset)) = known.offset_of(tested)
        && known.definition(value).is_none()
        && let Some(threshold) = constant.checked_sub(offset)
    {
        remember(found, value, threshold);
        if let Some(beside) = threshold.checked_add(beside).filter(|beside| *beside != threshold) {
            remember(found, value, beside);
        }
    }
}

fn remember(found: &mut Found, value: ValueId, threshold: i64) {
    let thresholds = found.entry(value).or_default();
    if thresholds.len() < CONSTANTS && !thresholds.contains(&threshold) {
        thresholds.push(threshold);
    }
}

/// Whether an op compares integers, and by how much the last one for which it holds lies from a constant that it holds
/// them against.
fn rests_at(opcode: Opcode) -> Option<i64> {
    use Opcode as O;
    match opcode {
        O::IntLt | O::UintLt | O::IntGe | O::UintGe => Some(-1),
        O::IntGt | O::UintGt | O::IntLe | O::UintLe => Some(1),
        O::IntEq | O::IntNe => Some(0),
        _ => None,
    }
}

/// Where two values rest of which one is less than the other, on one of the ways behind this comparison.
fn rest_beside(opcode: Opcode, one: ValueId, other: ValueId) -> SmallVec<[(ValueId, i64); 2]> {
    let (less, more) = match opcode {
        Opcode::IntLt | Opcode::IntGe => (one, other),
        Opcode::IntGt | Opcode::IntLe => (other, one),
        _ => return SmallVec::new(),
    };
    smallvec![(less, i64::MAX - 1), (more, i64::MIN + 1)]
}

/// What an op can give that computes a value, whatever its operands are, as far as they are no constants.
fn at_most(known: &Known, value: ValueId) -> Option<IntBound> {
    let Definition { opcode, args, result } = known.definition(value)?;
    let of = |arg: Operand| arg.as_int().map_or(IntBound::unbounded(), IntBound::constant);
    let bounds: OfEach<IntBound> = OfEach::new(args, IntBound::unbounded(), of);
    IntBound::transfer(*opcode, &bounds).get(*result).copied()
}
