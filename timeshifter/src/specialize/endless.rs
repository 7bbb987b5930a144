//! Which green keeps changing in a green loop that doesn't end.

use super::engine::Engine;
use super::error::{Met, SpecError};
use super::state::{GraphIx, Reg, State};
use super::step::{Outcome, show_const};
use flowgraph::ir::{Const, MarkKind, ValueId};
use std::collections::{BTreeMap, BTreeSet};

impl Engine<'_> {
    /// `merges`: the loop goes by a merge point that runs can enter.
    fn endless(
        &self,
        st: &State,
        values: BTreeMap<ValueId, Vec<Const>>,
        met: Met,
        graph: GraphIx,
        merges: bool,
    ) -> SpecError {
        let (portal, loc) = (self.is_in_portal(st), self.loc(st));
        let different = |seen: &[Const]| seen.iter().collect::<BTreeSet<_>>().len();
        let changing = values.iter().filter(|(_, seen)| different(seen) > 1);
        let Some((v, seen)) = changing.max_by_key(|(v, seen)| (different(seen), std::cmp::Reverse(*v))) else {
            return SpecError::TooMuch { met, portal, loc };
        };
        let shown: Vec<String> = seen.iter().take(4).map(|c| show_const(*c)).collect();
        let values = format!("{}, …", shown.join(", "));
        let portal = merges && self.program.graph(graph).attributes.portal.is_some();
        SpecError::EndlessGreen { green: self.program.name_of(graph, *v), values, met, portal, loc }
    }

    /// Whether what is being compiled belongs to a portal's loop.
    fn is_in_portal(&self, st: &State) -> bool {
        st.frames.iter().any(|f| self.program.graph(f.graph).attributes.portal.is_some())
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
        let merges = self.program.mark(f.graph, f.block, f.index) == Some(MarkKind::GlobalMerge);
        self.endless(st, values, Met::LoopKeys(self.limits.loop_keys), f.graph, merges)
    }

    /// Too many steps without an op emitted: goes once more around to see what changes.
    pub(super) fn endless_green_loop(&mut self, st: &State, met: Met) -> SpecError {
        let mut st = st.clone();
        st.passed = true;
        let home = (st.frame().graph, st.frame().block, st.frames.len());
        let mut values: BTreeMap<ValueId, Vec<Const>> = BTreeMap::new();
        let mut merges = false;
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
                Ok(Some(Outcome::Mark(kind))) => {
                    merges |= kind == MarkKind::GlobalMerge;
                    st.passed = true;
                }
                _ => break,
            }
        }
        self.limits = limits;
        self.endless(&st, values, met, home.0, merges)
    }
}
