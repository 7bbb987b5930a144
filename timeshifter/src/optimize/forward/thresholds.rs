//! Where bounds of parameters that keep growing come to rest first: at the constants that these are held against.
//!
//! An index that goes around, `k = if k == 7 { 0 } else { k + 1 }`, grows up to what it is compared with, and no
//! further. Widened at once it would be unbounded, and nothing that is found behind a test makes it less again
//! (widening with thresholds: B. Blanchet et al., "Design and implementation of a special-purpose static program
//! analyzer for safety-critical real-time embedded software", 2002).

use crate::optimize::facts::known::Known;
use crate::optimize::int_bound::IntBound;
use flowgraph::ir::{Const, Graph, Opcode, Operand, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many constants are remembered of one parameter.
const CONSTANTS: usize = 4;

/// Over so many edges constants come from what a parameter is handed on as.
const HANDED_ON: usize = 2;

/// By parameter: the constants that it is held against, less what is added to it before.
#[derive(Default)]
pub(crate) struct Thresholds(FxHashMap<ValueId, SmallVec<[i64; CONSTANTS]>>);

impl Thresholds {
    /// Those of a graph.
    pub(crate) fn of(graph: &Graph, known: &Known) -> Thresholds {
        let mut found: FxHashMap<ValueId, SmallVec<[i64; CONSTANTS]>> = FxHashMap::default();
        for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| is_order(op.opcode)) {
            let (tested, constant) = match op.args[..] {
                [tested, Operand::Const(Const::Int(constant))] | [Operand::Const(Const::Int(constant)), tested] => {
                    (tested, constant)
                }
                _ => continue,
            };
            if let Some((value, offset)) = known.offset_of(tested)
                && known.definition(value).is_none()
                && let Some(threshold) = constant.checked_sub(offset)
            {
                let thresholds = found.entry(value).or_default();
                if thresholds.len() < CONSTANTS && !thresholds.contains(&threshold) {
                    thresholds.push(threshold);
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

/// Whether an op compares integers.
fn is_order(opcode: Opcode) -> bool {
    use Opcode as O;
    let signed = matches!(opcode, O::IntLt | O::IntLe | O::IntGt | O::IntGe | O::IntEq | O::IntNe);
    signed || matches!(opcode, O::UintLt | O::UintLe | O::UintGt | O::UintGe)
}
