//! Promotions where nobody serves exits: in functions that are called, and in executables.
//!
//! Of a value of which there are few, as an enum's tag or a bit, each one gets its code at once, behind a switch; and so
//! do those that traces have seen. With any other one what is left goes on with everything red, and so it does where
//! there are very many already.

use crate::specialize::engine::Engine;
use crate::specialize::error::SpecError;
use crate::specialize::event::What;
use crate::specialize::state::{Red, State};
use flowgraph::ir::{Const, Edge, Loc, Terminator, Time, ValueId};
use smallvec::SmallVec;

/// So many values of a promotion may get code of their own.
const FEW: usize = 8;

/// And so many of all promotions of a function: where several come in a row, each has all values of the next.
const MANY: usize = 500;

impl Engine<'_> {
    /// Goes on behind a promotion that has no exit.
    pub(super) fn promote_without_exit(
        &mut self,
        mut st: State,
        value: ValueId,
        loc: Loc,
    ) -> Result<Vec<State>, SpecError> {
        let unit = self.fragments[st.fragment].unit;
        let values = if self.units[unit].values < MANY { self.few_values(&st, value) } else { SmallVec::new() };
        self.units[unit].values += values.len();
        if values.is_empty() {
            let function = self.program.graph(st.frames[0].graph).function.clone();
            let promoted = self.promoted(&st).and_then(|value| self.program.variable(st.frame().graph, value));
            let variable = promoted.map(str::to_owned);
            self.happened_at(What::PromotedInCall { function, variable }, &st, loc);
            self.enter_twin(&mut st, loc)?;
            return Ok(vec![st]);
        }
        self.trim_registers(&mut st);
        let (mut arms, mut cases) = (Vec::new(), Vec::new());
        for seen in values {
            let (block, mut arm) = self.arm(&st);
            cases.push((seen, Edge::new(block, [])));
            self.learn_equal(&mut arm, Red::Value(value), Const::Int(seen));
            arms.push(arm);
        }
        let (block, mut other) = self.arm(&st);
        self.enter_twin(&mut other, loc)?;
        arms.push(other);
        let default = Edge::new(block, []);
        let term = Terminator::Switch { value: value.into(), cases, default, time: Time::Now, promotion: false };
        self.fragments[st.fragment].end(st.block, term, loc);
        Ok(arms)
    }

    /// What is promoted where a state stands.
    fn promoted(&self, st: &State) -> Option<ValueId> {
        let frame = st.frame();
        let block = self.program.graph(frame.graph).block(frame.block);
        block.ops.get(frame.index as usize).and_then(|op| op.args[0].value())
    }

    /// All values that there may be at the promotion that a state stands at, if they are few, or else those that traces
    /// have seen there.
    fn few_values(&mut self, st: &State, value: ValueId) -> SmallVec<[i64; FEW]> {
        let known = self.fragments[st.fragment].info(value).bound;
        let usual = self.promoted(st).and_then(|value| known.meet(self.program.usual_range(st.frame().graph, value)));
        let bound = usual.unwrap_or(known);
        if bound.upper().checked_sub(bound.lower()).is_some_and(|others| others < FEW as i64) {
            return (bound.lower()..=bound.upper()).filter(|value| bound.contains(*value)).collect();
        }
        self.ways(st).into_iter().flatten().take(FEW).collect()
    }
}
