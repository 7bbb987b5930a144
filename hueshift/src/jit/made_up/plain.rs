//! Which of the values that an exit hands over may be replaced: those that only ever are computed with and compared.

use flowgraph::ir::{Effect, Graph, Op, Opcode, Operand, Terminator, Type, ValueId, Word};
use std::collections::BTreeSet;
use timeshifter::optimize::int_bound::IntBound;
use timeshifter::specialize::{Engine, Origin, Red, Reg, State};

/// How many states are made of one at most.
const MOST: usize = 8;

/// A value of an exit that may be replaced by any other of its type and bound.
struct Plain {
    position: usize,
    ty: Type,
    bound: IntBound,
}

/// The values of an exit that may be replaced.
pub(super) struct PlainValues(Vec<Plain>);

impl PlainValues {
    /// Those of exit `exit`.
    pub fn of(engine: &Engine<'_>, exit: u32) -> PlainValues {
        let site = &engine.exits[exit as usize];
        let (fragment, snapshot) = (&engine.fragments[site.fragment], engine.snapshot_at(exit));
        let plain = |(position, value): (usize, &ValueId)| {
            let info = fragment.info(*value);
            let may = info.origin == Origin::Outside && site.promoted != Some(*value);
            let ty = fragment.graph.values[value.index()].ty;
            (may && is_plain(engine, &snapshot, *value)).then_some(Plain { position, ty, bound: info.bound })
        };
        PlainValues(site.values.iter().enumerate().filter_map(plain).collect())
    }

    /// States that differ from one in one value each.
    pub fn states(&self, words: &[Word]) -> Vec<Vec<Word>> {
        let mut states = Vec::new();
        for plain in &self.0 {
            for word in plain.extremes(words[plain.position]) {
                let mut state = words.to_vec();
                state[plain.position] = word;
                states.push(state);
            }
        }
        // Not only those of the first value.
        let step = states.len().div_ceil(MOST).max(1);
        states.into_iter().step_by(step).collect()
    }
}

impl Plain {
    /// Other values of the type that `word` may be of, at its ends.
    fn extremes(&self, word: Word) -> Vec<Word> {
        let words: Vec<Word> = match self.ty {
            Type::Float => [0.0, -1.5, f64::INFINITY, f64::NAN].map(f64::to_bits).into(),
            Type::Single => [0.0, -1.5, f32::INFINITY, f32::NAN].map(|f: f32| u64::from(f.to_bits())).into(),
            Type::Int => {
                let (low, high) = narrowest(word as i64);
                let (low, high) = (low.max(self.bound.lower()), high.min(self.bound.upper()));
                let corners = BTreeSet::from([low, -1, 0, 1, high]);
                let can_be = |c: &i64| (low..=high).contains(c) && self.bound.contains(*c);
                corners.into_iter().filter(can_be).map(|c| c as Word).collect()
            }
        };
        words.into_iter().filter(|w| *w != word).collect()
    }
}

/// The values that all integer types have which have `i`: it may be a `bool`, or a byte.
fn narrowest(i: i64) -> (i64, i64) {
    let bits = [1, 7, 8, 15, 16, 31, 32, 63].into_iter().find(|bits| i >= 0 && i >> (bits - 1) >> 1 == 0);
    match bits {
        Some(63) => (0, i64::MAX),
        Some(bits) => (0, (1 << bits) - 1),
        None => {
            let bits = [7, 15, 31].into_iter().find(|bits| i >> bits == -1).unwrap_or(63);
            (-1 << bits, (1u64 << bits).wrapping_sub(1) as i64)
        }
    }
}

/// Whether a value that a snapshot names, and all that is computed from it, is only computed with and compared: no
/// address, no index, not stored, not handed to a call.
fn is_plain(engine: &Engine<'_>, snapshot: &State, value: ValueId) -> bool {
    let named = Red::Value(value);
    let in_slots = snapshot.slots.values().flat_map(|s| s.cells.values()).any(|value| value == named);
    let memory = &snapshot.memory;
    if in_slots || memory.roots.values().any(|r| *r == named) || memory.places.values().any(|p| p.value == named) {
        return false;
    }
    let graph = |depth: usize| engine.program.graph(snapshot.frames[depth].graph);
    let mut todo: Vec<(usize, ValueId)> = Vec::new();
    for (depth, frame) in snapshot.frames.iter().enumerate() {
        let holding = frame.regs.iter().filter(|(_, reg)| *reg == Reg::Red(named));
        todo.extend(holding.map(|(register, _)| (depth, *register)));
    }
    let mut seen: BTreeSet<(usize, ValueId)> = todo.iter().copied().collect();
    while let Some((depth, register)) = todo.pop() {
        let caller = |results: &[usize]| -> Option<Vec<(usize, ValueId)>> {
            let Some(below) = depth.checked_sub(1) else { return Some(Vec::new()) };
            let frame = &snapshot.frames[below];
            let op = graph(below).block(frame.block).ops.get(frame.index as usize)?;
            Some(results.iter().filter_map(|at| Some((below, *op.results.get(*at)?))).collect())
        };
        let Some(next) = flows_to(graph(depth), register) else { return false };
        let Some(returned) = caller(&next.returned) else { return false };
        let here = next.values.into_iter().map(|v| (depth, v));
        todo.extend(here.chain(returned).filter(|n| seen.insert(*n)));
    }
    true
}

/// What is computed from a value in its graph.
#[derive(Default)]
struct Flow {
    values: Vec<ValueId>,
    /// Which results of the graph.
    returned: Vec<usize>,
}

/// `None` if it becomes an address or an index, is stored, or is handed to a call.
fn flows_to(graph: &Graph, value: ValueId) -> Option<Flow> {
    let operand = Operand::Value(value);
    let mut flow = Flow::default();
    for block in &graph.blocks {
        for op in block.ops.iter().filter(|op| op.args.contains(&operand)) {
            flow.values.extend(computed(op)?);
        }
        for edge in block.term.edges() {
            let params = &graph.block(edge.block).params;
            flow.values.extend(params.iter().zip(&edge.args).filter(|(_, a)| **a == operand).map(|(p, _)| *p));
        }
        if let Terminator::Return(values) = &block.term {
            flow.returned.extend(values.iter().enumerate().filter(|(_, v)| **v == operand).map(|(at, _)| at));
        }
    }
    Some(flow)
}

/// The results of an op if it only computes.
fn computed(op: &Op) -> Option<impl Iterator<Item = ValueId> + '_> {
    let computes = match op.opcode.effect() {
        Effect::Pure => true,
        Effect::Hint => !matches!(op.opcode, Opcode::IsConstant | Opcode::IsVirtual),
        Effect::Call | Effect::ElidableCall => op.callee().is_some_and(|c| c.libm().is_some()),
        Effect::Read | Effect::Write | Effect::Allocate => false,
    };
    computes.then(|| op.results.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowest_types() {
        let of = |i| narrowest(i);
        assert_eq!([of(0), of(1), of(2), of(128)], [(0, 1), (0, 1), (0, 127), (0, 255)]);
        assert_eq!([of(0xffff), of(1 << 31), of(i64::MAX)], [(0, 0xffff), (0, 0xffff_ffff), (0, i64::MAX)]);
        assert_eq!([of(-1), of(-128), of(-129)], [(-128, 127), (-128, 127), (-0x8000, 0x7fff)]);
        assert_eq!([of(-0x8000_0001), of(i64::MIN)], [(i64::MIN, i64::MAX); 2]);
    }

    #[test]
    fn extremes_stay_in_range() {
        let plain = Plain { position: 0, ty: Type::Int, bound: IntBound::from_range(0, 99).unwrap() };
        assert_eq!(plain.extremes(7), [0, 1, 99]);
        assert_eq!(plain.extremes(1), [0]);
    }
}
