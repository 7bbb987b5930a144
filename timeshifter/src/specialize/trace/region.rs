//! Regions: what has been traced from a loop on, specialized again as one residual graph with joins.
//!
//! A trace is a path, and a bridge another one, from an exit on to its own end: what comes after a join is there once
//! for each path that leads to it, and what one path knows another finds out again. A region begins with a loop's
//! version and goes on as the eager policy does, but takes of each split only the sides that traces have taken, and of
//! each promotion the values that they have seen. For the rest it has lazy exits, as a trace has (DESIGN.md, section
//! 5).
//!
//! A trace that comes to a loop with other frames below it than traces have been around it with needn't find out its
//! ways again, exit by exit: it ends in a region of all that is known from there on.

use crate::specialize::chaos::Choice;
use crate::specialize::engine::{Engine, Version};
use crate::specialize::error::SpecError;
use crate::specialize::event::What;
use crate::specialize::exits::snapshot::rename;
use crate::specialize::state::key::KeyOf;
use crate::specialize::state::{Key, Red, State, VersionId};
use crate::specialize::trace::TraceEnd;
use crate::specialize::trace::heads::Heads;
use crate::specialize::trace::nests::Nests;
use crate::specialize::trace::profile::Ways;
use flowgraph::ir::{BlockId, Const, Edge, Loc, MarkKind, Operand, Terminator, Time, ValueId};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// A region that has been specialized.
#[derive(Debug)]
pub struct NewRegion {
    id: VersionId,
    fragment: usize,
    template: Rc<State>,
}

impl NewRegion {
    /// The version that it is a region of.
    pub fn of(&self) -> VersionId {
        self.id
    }
}

/// A region that is being filled.
#[derive(Debug)]
pub(crate) struct Region {
    fragment: usize,
    extent: Extent,
    /// With more ops its paths end at their next merge points.
    most_ops: usize,
}

/// How far a region goes. What is in no loop that traces have been around is just gone by.
#[derive(Debug)]
enum Extent {
    /// A loop that traces have been around, and the loops within.
    Nest {
        /// The keys of the loops that belong to it.
        loops: FxHashSet<usize>,
        /// The keys of the loops that don't.
        elsewhere: FxHashSet<usize>,
        /// How many frames there are at its head: with more, loops that traces know from elsewhere belong to it.
        frames: usize,
    },
    /// All that traces know from elsewhere, from the merge point with this key on, up to the versions that they have
    /// made with these frames.
    Known {
        /// The key.
        from: usize,
    },
}

/// Loops that are known from elsewhere may take so many times as many steps as all else that is specialized, and a few
/// more. A run that comes by one once may come there from many places, and each time there is as much of it.
const KNOWN_STEPS: u64 = 4;
const FEW_STEPS: u64 = 20_000;

/// An op comes of about so many steps.
const STEPS_OF_AN_OP: u64 = 8;

impl Engine<'_> {
    /// Whether a trace has come to a loop, with this key, that others have been around, but none with these frames.
    pub(crate) fn is_known_from_elsewhere(&self, st: &State, key: &Key) -> bool {
        self.settings.known_loops
            && self.ops_of_known_loops() > 0
            && self.versions.get(key).is_none_or(Vec::is_empty)
            && self.knows_loop(st)
    }

    /// How many ops loops that are known from elsewhere may still have.
    fn ops_of_known_loops(&self) -> u64 {
        let known_steps = self.tracing.known_steps;
        let most_steps = KNOWN_STEPS * (self.steps - known_steps) + FEW_STEPS;
        most_steps.saturating_sub(known_steps) / STEPS_OF_AN_OP
    }

    /// Where a trace comes to such a loop, all ways that are known become its code at once, and the trace ends there.
    /// If they can't, it goes on in the version that it has made.
    pub(crate) fn enter_known_loop(
        &mut self,
        st: &mut State,
        key: Key,
        heads: &mut Heads,
    ) -> Result<Option<TraceEnd>, SpecError> {
        self.run_functions_or_refuse()?;
        let (index, _) = self.versions.insert_full(key.clone(), Vec::new());
        let from = st.fragment;
        let id = self.trace_into_version(st, index, false, true)?;
        let (steps, most_ops) = (self.steps, self.limits.region_ops.min(self.ops_of_known_loops() as usize));
        let filled = match self.flips(Choice::Known) {
            true => None,
            false => self.fill_region(id, Extent::Known { from: index }, most_ops),
        };
        self.tracing.known_steps += self.steps - steps;
        let Some(region) = filled else {
            self.quiet_steps = 0;
            heads.rounds.insert(key.clone(), 1);
            self.made_version(key, id, from, heads);
            return Ok(None);
        };
        let (entered, ops) = (self.region_key(&region), self.fragments[region.fragment].size);
        self.happened(What::KnownLoop { ops }, st);
        let id = self.install_region(region);
        let params = &self.fragments[st.fragment].graph.block(st.block).params;
        let params: Vec<Operand> = params.iter().copied().map(Operand::Value).collect();
        let words = params.iter().map(|param| self.concrete_word(st, *param)).collect();
        let loc = self.loc(st);
        self.link(st, id, params, loc);
        Ok(Some(TraceEnd::Enter(entered, words)))
    }

    /// The version of a loop that a fragment is the code of; that of a region's is the one that it was made for.
    pub fn version_of(&self, fragment: &str) -> Option<VersionId> {
        self.fragments[self.fragment_of(fragment)?].version
    }

    /// The fragments that are the code of a version: its own one, and the region that is entered in its place, if there
    /// is one.
    pub fn code_of(&self, id: VersionId) -> impl Iterator<Item = usize> + '_ {
        let fragments = self.versions[id.key].iter().map(|version| version.fragment);
        fragments.filter(move |fragment| self.fragments[*fragment].version == Some(id))
    }

    /// Specializes a loop again, as a region, with the loops within; nothing if it can't be: then the traces stay. With
    /// more ops than `most_ops` its paths end at their next merge points. When it has been compiled, it is to be
    /// installed.
    pub fn specialize_region(&mut self, nests: &Nests, nest: usize, most_ops: usize) -> Option<NewRegion> {
        let nest = nests.nest(nest);
        let id = nest.head;
        let mut loops = nest.keys.clone();
        loops.retain(|key| *key == id.key || !self.flips(Choice::Inner));
        let elsewhere = nests.keys().filter(|key| !loops.contains(key)).collect();
        let frames = self.version(id).template.frames.len();
        self.fill_region(id, Extent::Nest { loops, elsewhere, frames }, most_ops)
    }

    /// Specializes a region of a version, as far as it goes; nothing if it can't be.
    fn fill_region(&mut self, id: VersionId, extent: Extent, most_ops: usize) -> Option<NewRegion> {
        let (fragment, st) = self.begin_region(id);
        let open = self.memory.is_open();
        self.memory.open_foreign(false);
        self.region = Some(Region { fragment, extent, most_ops });
        let unit = self.fragments[fragment].unit;
        let template = Rc::new(State { origin: None, ..st.clone() });
        let filled = self.run_unit(unit, vec![st]);
        self.region = None;
        self.memory.open_foreign(open);
        let region = NewRegion { id, fragment, template };
        match filled.and_then(|()| self.run_functions_or_refuse()) {
            Ok(()) => {
                self.fragments[fragment].make_entry(region.template.block);
                self.name_params(&region.template);
                Some(region)
            }
            Err(error) => {
                self.forget_new_functions();
                self.refuse_region(region, error.to_string());
                None
            }
        }
    }

    /// The key of a region's fragment, which takes what its version's takes.
    pub fn region_key(&self, region: &NewRegion) -> String {
        self.fragments[region.fragment].graph.key.clone()
    }

    /// Forgets a region that can't be used: the traces stay.
    pub fn refuse_region(&mut self, region: NewRegion, reason: String) {
        let loc = self.loc(&region.template);
        self.happened_at(What::RegionRefused { reason }, &region.template, loc);
        self.fragments[region.fragment].abandoned = true;
    }

    /// A fragment with the head of a version, and the state there, from which it is to be filled.
    fn begin_region(&mut self, id: VersionId) -> (usize, State) {
        let Version { template, fragment: old, block: old_head, .. } = self.version(id);
        let (mut st, old, old_head) = (template.continued(), *old, *old_head);
        let unit = self.fragments[old].unit;
        let graph = self.units[unit].graph;
        let name = self.fresh_name(graph);
        let region = self.new_fragment(graph, &name, unit);
        self.fragments[region].at = st.at;
        let head = self.fragments[region].new_block(None);
        let mut renamed = Vec::new();
        for param in self.fragments[old].graph.block(old_head).params.clone() {
            let (ty, info) =
                (self.fragments[old].graph.values[param.index()].ty, self.fragments[old].info(param).clone());
            let new = self.fragments[region].new_param(head, ty);
            self.fragments[region].info[new.index()] = info;
            renamed.push((param, new));
        }
        rename(&mut st, &renamed);
        (st.fragment, st.block) = (region, head);
        let key = Key { fragment: Some(region), ..self.key(&st, MarkKind::GlobalMerge) };
        let (key, _) = self.versions.insert_full(key, Vec::new());
        let within = self.add_version(key, st.clone(), false);
        st.origin = Some(within);
        st.enclosing = Some(key);
        st.passed = true;
        (region, st)
    }

    /// From now on, who comes to the loop in a state of the version enters the region. Gives the version that it is.
    pub fn install_region(&mut self, region: NewRegion) -> VersionId {
        let NewRegion { id, fragment: region, template } = region;
        let block = template.block;
        self.fragments[region].version = Some(id);
        let version = Version { template, fragment: region, block, enterable: true, folds: 0, arrivals: Vec::new() };
        let before = self.versions[id.key].iter().position(|v| {
            let fragment = &self.fragments[v.fragment];
            fragment.version == Some(id) && v.fragment != self.versions[id.key][id.version].fragment
        });
        let at = before.unwrap_or(self.versions[id.key].len());
        match before {
            Some(before) => self.versions[id.key][before] = version,
            None => self.versions[id.key].push(version),
        }
        self.has_changed(id.key);
        VersionId { version: at, ..id }
    }

    /// Whether a state belongs to the region that is being filled.
    pub(crate) fn in_region(&self, st: &State) -> bool {
        self.region.as_ref().is_some_and(|region| region.fragment == st.fragment)
    }

    /// Whether a path of the region ends at the merge point that a state stands at: where it is full, or a loop begins
    /// that doesn't belong to it.
    pub(crate) fn ends_region(&self, st: &State, kind: MarkKind) -> bool {
        let Some(region) = self.region.as_ref().filter(|_| self.in_region(st)) else { return false };
        self.fragments[st.fragment].size > region.most_ops
            || kind == MarkKind::GlobalMerge && self.loop_of_region(st) == Some(false)
    }

    /// The key of the versions that traces have made of the merge point that a state stands at.
    fn traced_key(&self, st: &State) -> Option<usize> {
        let key = KeyOf::new(st, None);
        self.versions.get_full(&key).filter(|(_, _, versions)| !versions.is_empty()).map(|(at, ..)| at)
    }

    /// Whether the loop that begins at the merge point that a state stands at, as far as traces have seen, belongs to
    /// the region that is being filled; nothing if none has been seen to begin there: where the guest hasn't jumped
    /// back to, paths only join.
    pub(crate) fn loop_of_region(&self, st: &State) -> Option<bool> {
        match (&self.region.as_ref()?.extent, self.traced_key(st)) {
            (Extent::Known { from }, Some(key)) => Some(key == *from),
            (Extent::Nest { loops, elsewhere, .. }, Some(key)) => {
                let belongs = loops.contains(&key);
                (belongs || elsewhere.contains(&key)).then_some(belongs)
            }
            (_, None) if !self.knows_loop(st) => None,
            (Extent::Known { .. }, None) => Some(true),
            (Extent::Nest { frames, .. }, None) => Some(st.frames.len() > *frames),
        }
    }

    /// The ways that the region which is being filled takes of a split: none where it is far too large already, since it
    /// comes to no merge point.
    fn ways_in_region(&mut self, st: &State) -> Ways {
        let most_ops = self.region.as_ref().map_or(0, |region| region.most_ops);
        if self.fragments[st.fragment].size > 2 * most_ops { Ways::new() } else { self.ways(st) }
    }

    // ---- splits

    /// Goes on behind a branch on the sides that traces have taken. Gives the states but for the one that is to go on
    /// at once.
    pub(crate) fn split_in_region(
        &mut self,
        mut st: State,
        cond: Red,
        (then, otherwise): (&Edge, &Edge),
        loc: Loc,
    ) -> Result<Vec<State>, SpecError> {
        match self.ways_in_region(&st)[..] {
            [] => {
                self.end_in_own_exit(&st);
                Ok(Vec::new())
            }
            [way] => {
                st.snapshot = None;
                self.keep_to(&mut st, cond, way == Some(1), (then, otherwise), loc)?;
                Ok(vec![st])
            }
            _ => {
                let other = self.split(&mut st, cond, (then, otherwise), loc)?;
                Ok([st].into_iter().chain(other).collect())
            }
        }
    }

    /// The same behind a switch.
    pub(crate) fn switch_in_region(
        &mut self,
        mut st: State,
        value: Red,
        (cases, default): (&[(i64, Edge)], &Edge),
        loc: Loc,
    ) -> Result<Vec<State>, SpecError> {
        let ways = self.ways_in_region(&st);
        self.trim_registers(&mut st);
        let exit = self.new_guard_exit(&st, None, None, loc);
        let (mut arms, mut made) = (Vec::new(), Vec::new());
        for (case, edge) in cases.iter().map(|(case, edge)| (Some(*case), edge)).chain([(None, default)]) {
            if !ways.contains(&case) {
                made.push((case, self.exit_edge(&st, exit)));
                continue;
            }
            let (block, mut arm) = self.arm(&st);
            made.push((case, Edge::new(block, [])));
            if let Some(case) = case {
                self.learn_equal(&mut arm, value, Const::Int(case));
            }
            self.go(&mut arm, edge, loc)?;
            arms.push(arm);
        }
        self.end_in_switch(&st, value, made, loc);
        Ok(arms)
    }

    /// The same behind a promotion.
    pub(crate) fn promote_in_region(
        &mut self,
        mut st: State,
        value: ValueId,
        loc: Loc,
    ) -> Result<Vec<State>, SpecError> {
        let ways = self.ways_in_region(&st);
        if ways.is_empty() {
            self.end_in_exit(st, loc)?;
            return Ok(Vec::new());
        }
        self.trim_registers(&mut st);
        let exit = self.new_guard_exit(&st, None, Some(value), loc);
        let default = self.exit_edge(&st, exit);
        let (mut arms, mut cases) = (Vec::new(), Vec::new());
        for seen in ways.into_iter().flatten() {
            let (block, mut arm) = self.arm(&st);
            cases.push((seen, Edge::new(block, [])));
            self.learn_equal(&mut arm, Red::Value(value), Const::Int(seen));
            arms.push(arm);
        }
        self.exits[exit as usize].cases = cases.len();
        let term = Terminator::Switch { value: value.into(), cases, default, time: Time::Now, promotion: true };
        self.fragments[st.fragment].end(st.block, term, loc);
        Ok(arms)
    }

    /// A copy of the state in a block of its own.
    pub(crate) fn arm(&mut self, st: &State) -> (BlockId, State) {
        let block = self.fragments[st.fragment].new_block(Some(st.block));
        (block, State { block, ..self.fork(st) })
    }

    /// Ends a path of a region: in a version that others have made, or in an exit.
    pub(crate) fn leave_region(&mut self, mut st: State, kind: MarkKind) -> Result<(), SpecError> {
        if let (MarkKind::GlobalMerge, Some(key)) = (kind, self.traced_key(&st)) {
            match self.jump_to_any(st, key)? {
                None => return Ok(()),
                Some(back) => st = back,
            }
        }
        self.end_in_own_exit(&st);
        Ok(())
    }
}
