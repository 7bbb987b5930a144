//! Which green keeps changing in a green loop that doesn't end.

use crate::specialize::engine::Engine;
use crate::specialize::error::{Met, SpecError};
use crate::specialize::state::{Frame, KeyFrame, Reg, State};
use crate::specialize::step::{Outcome, show_const};
use flowgraph::ir::{Const, Loc, MarkKind, ValueId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The values of greens, by how many calls lie between their frame and the innermost one, and by what they are the
/// values of.
type Seen = BTreeMap<(usize, ValueId), Vec<Const>>;

impl Engine<'_> {
    /// `merges`: the loop goes by a merge point that runs can enter; `here`: where that has been found out.
    fn endless(&self, st: &State, values: &Seen, met: Met, merges: bool, here: Loc) -> SpecError {
        let portal = self.is_in_portal(st);
        let different = |seen: &[Const]| seen.iter().collect::<BTreeSet<_>>().len();
        let changing = values.iter().filter(|(_, seen)| different(seen) > 1);
        // Of those that change as often it is the outermost one's loop: what is inside of it changes with it.
        let most = changing.max_by_key(|((out, v), seen)| (different(seen), *out, Reverse(*v)));
        let Some(((out, v), seen)) = most else { return SpecError::TooMuch { met, portal, loc: here } };
        let (out, v) = self.of_the_caller(st, *out, *v);
        let frames = &st.frames[..st.frames.len() - out];
        let graph = frames.last().map_or(st.frame().graph, |f| f.graph);
        let mut rounds = seen.clone();
        rounds.dedup();
        let shown: Vec<String> = rounds.iter().take(4).map(|c| show_const(*c)).collect();
        let portal = merges && self.program.graph(graph).attributes.portal.is_some();
        SpecError::EndlessGreen {
            green: self.program.name_of(graph, v),
            values: format!("{}, …", shown.join(", ")),
            met,
            portal,
            loc: if out == 0 { here } else { self.loc_in(frames) },
        }
    }

    /// A parameter of a call that is copied in is what the caller hands over, as far as that has a name.
    fn of_the_caller(&self, st: &State, out: usize, v: ValueId) -> (usize, ValueId) {
        let (mut out, mut v) = (out, v);
        while let Some([caller, callee]) = st.frames.len().checked_sub(out + 2).and_then(|at| st.frames.get(at..at + 2))
        {
            let params = self.program.graph(callee.graph).entry_params();
            let call = self.program.graph(caller.graph).block(caller.block).ops.get(caller.index as usize);
            let given = params.iter().position(|param| *param == v).zip(call.filter(|op| op.callee().is_some()));
            match given.and_then(|(at, op)| op.args.get(at)?.value()) {
                Some(given) if self.program.variable(caller.graph, given).is_some() => (out, v) = (out + 1, given),
                _ => break,
            }
        }
        (out, v)
    }

    /// Whether what is being compiled belongs to a portal's loop.
    fn is_in_portal(&self, st: &State) -> bool {
        st.frames.iter().any(|f| self.program.graph(f.graph).attributes.portal.is_some())
    }

    /// Too many keys of one loop head, or too much that is held under them.
    pub(crate) fn endless_green_keys(&self, st: &State, met: Met) -> SpecError {
        let f = st.frame();
        let mut values = Seen::new();
        for key in self.versions.keys().chain([&self.key(st, MarkKind::LocalMerge)]) {
            let frames = [&key.frame].into_iter().chain(self.stacks.frames(key.outer)).zip(st.frames.iter().rev());
            let same =
                |(own, f): &(&KeyFrame, &Frame)| (own.graph, own.block, own.index) == (f.graph, f.block, f.index);
            for (out, (own, _)) in frames.take_while(same).enumerate() {
                own.greens.iter().for_each(|(v, c)| values.entry((out, *v)).or_default().push(*c));
            }
        }
        let merges = self.program.mark(f.graph, f.block, f.index) == Some(MarkKind::GlobalMerge);
        self.endless(st, &values, met, merges, self.loc(st))
    }

    /// Too many steps without an op emitted: goes once more around to see what changes.
    pub(crate) fn endless_green_loop(&mut self, st: &State, met: Met) -> SpecError {
        let home = st;
        let mut st = st.clone();
        st.passed = true;
        let mut values = Seen::new();
        let mut merges = false;
        self.quiet_steps = 0;
        let limits = self.limits.clone();
        self.limits.green_steps = u64::MAX;
        self.limits.unrolled_ops = usize::MAX;
        for _ in 0..10_000 {
            let same = |(f, home): (&Frame, &Frame)| (f.graph, f.block) == (home.graph, home.block);
            let is_home = st.frames.len() == home.frames.len() && st.frame().index == 0;
            if is_home && st.frames.iter().zip(&home.frames).all(same) {
                for (out, f) in st.frames.iter().rev().enumerate() {
                    for (v, reg) in f.regs.iter() {
                        if let Reg::Green(c) = reg {
                            values.entry((out, *v)).or_default().push(*c);
                        }
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
        self.endless(home, &values, met, merges, self.loc(&st))
    }
}
