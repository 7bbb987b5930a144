//! Which green keeps changing in a green loop that doesn't end.

use super::engine::Engine;
use super::error::{Met, SpecError};
use super::state::{GraphIx, Reg, State};
use super::step::{Outcome, show_const};
use flowgraph::ir::{Const, Loc, MarkKind, ValueId};
use std::collections::{BTreeMap, BTreeSet};

impl Engine<'_> {
    fn endless(&self, values: BTreeMap<ValueId, Vec<Const>>, met: Met, graph: GraphIx, loc: Loc) -> SpecError {
        let most =
            values.iter().max_by_key(|(v, seen)| (seen.iter().collect::<BTreeSet<_>>().len(), std::cmp::Reverse(*v)));
        let (green, shown) = most.map_or_else(
            || ("a green".to_owned(), String::new()),
            |(v, seen)| {
                let shown: Vec<String> = seen.iter().take(4).map(|c| show_const(*c)).collect();
                (self.program.name_of(graph, *v), format!("{}, …", shown.join(", ")))
            },
        );
        SpecError::EndlessGreen { green, values: shown, met, loc }
    }

    /// Too many keys of one loop head.
    pub(super) fn endless_green_keys(&self, st: &State) -> SpecError {
        let f = st.frame();
        let mut values: BTreeMap<ValueId, Vec<Const>> = BTreeMap::new();
        for key in self.versions.keys().chain([&self.key(st, MarkKind::LocalMerge)]) {
            let Some(last) = key.frames.last() else { continue };
            if (last.graph, last.block, last.index) == (f.graph, f.block, f.index) {
                for (v, c) in &last.greens {
                    values.entry(*v).or_default().push(*c);
                }
            }
        }
        self.endless(values, Met::LoopKeys(self.limits.loop_keys), f.graph, self.loc(st))
    }

    /// Too many steps without an op emitted: goes once more around to see what changes.
    pub(super) fn endless_green_loop(&mut self, st: &State, met: Met) -> SpecError {
        let mut st = st.clone();
        st.passed = true;
        let home = (st.frame().graph, st.frame().block, st.frames.len());
        let mut values: BTreeMap<ValueId, Vec<Const>> = BTreeMap::new();
        self.quiet_steps = 0;
        let limits = self.limits.clone();
        self.limits.green_steps = u64::MAX;
        self.limits.unrolled_ops = usize::MAX;
        for _ in 0..10_000 {
            let f = st.frame();
            if (f.graph, f.block, st.frames.len()) == home && f.index == 0 {
                for (v, reg) in f.regs.iter() {
                    if let Reg::Green(c) = reg {
                        values.entry(*v).or_default().push(*c);
                    }
                }
            }
            match self.step_once(&mut st) {
                Ok(None) => {}
                Ok(Some(Outcome::Mark(_))) => st.passed = true,
                _ => break,
            }
        }
        self.limits = limits;
        let loc = self.loc(&st);
        self.endless(values, met, home.0, loc)
    }
}
