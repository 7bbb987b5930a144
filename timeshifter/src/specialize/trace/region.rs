//! Regions: what has been traced from a loop on, specialized again as one residual graph with joins.
//!
//! A trace is a path, and a bridge another one, from an exit on to its own end: what comes after a join is there once
//! for each path that leads to it, and what one path knows another finds out again. A region begins with a loop's
//! version and goes on as the eager policy does, but takes of each split only the sides that traces have taken, and of
//! each promotion the values that they have seen. For the rest it has lazy exits, as a trace has (DESIGN.md, section
//! 5).

use crate::specialize::chaos::Choice;
use crate::specialize::engine::{Engine, Version};
use crate::specialize::error::SpecError;
use crate::specialize::event::What;
use crate::specialize::exits::snapshot::rename;
use crate::specialize::state::{Frame, Key, Red, Reg, State, VersionId};
use crate::specialize::trace::TraceEnd;
use crate::specialize::trace::nests::Nests;
use flowgraph::ir::{BlockId, Const, Edge, Loc, MarkKind, Operand, Terminator, Time, ValueId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Where a path goes on behind a split: 1 or 0 for the sides of a branch, a switch's case or a promotion's value;
/// nothing for a switch's default.
pub(crate) type Way = Option<i64>;

/// The ways that have been seen at one place.
pub(crate) type Ways = SmallVec<[Way; 2]>;

/// So many are remembered at one place; the rest are exits.
const MOST_WAYS: usize = 1024;

/// The ways that traces have taken, by a hash of the place: the stack of positions, and the greens. Places that share
/// one share their ways: then a region has a side that isn't taken there.
#[derive(Debug, Default)]
pub struct Profile(FxHashMap<u64, Ways>);

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
    /// The keys of the loops that belong to it.
    loops: FxHashSet<usize>,
    /// The keys of the loops that don't. What is in no loop that traces have been around is just gone by.
    elsewhere: FxHashSet<usize>,
    /// It is the first code of its loop here, and goes on behind it as far as others are known.
    born: bool,
    /// How many frames there are at its head.
    depth: usize,
    /// With more ops its paths end at their next merge points.
    most_ops: usize,
}

impl Engine<'_> {
    /// Remembers which way a trace takes at the split that it stands at.
    pub(crate) fn record(&mut self, st: &State, way: Way) {
        self.tracing.decisions.push(way);
        let place = self.place(st);
        let ways = self.tracing.profile.0.entry(place).or_default();
        if ways.len() < MOST_WAYS && !ways.contains(&way) {
            ways.push(way);
        }
    }

    fn ways(&mut self, st: &State) -> Ways {
        let mut ways = self.tracing.profile.0.get(&self.place(st)).cloned().unwrap_or_default();
        ways.retain(|_| !self.flips(Choice::Way));
        ways
    }

    fn place(&self, st: &State) -> u64 {
        let mut hasher = FxHasher::default();
        let last = st.frames.len() - 1;
        for (at, frame) in st.frames.iter().enumerate().skip(self.context(st)) {
            (frame.graph, frame.block, frame.index).hash(&mut hasher);
            let (live, _) = self.live_registers(frame, at == last);
            for value in live {
                if let Some(Reg::Green(constant)) = frame.regs.get(*value) {
                    (value, constant).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// The frame of the innermost portal: how the others stand makes no difference to where it is. The first one if a
    /// portal is inside of itself.
    fn context(&self, st: &State) -> usize {
        let is_portal = |frame: &&Frame| self.program.graph(frame.graph).attributes.portal.is_some();
        let Some(innermost) = st.frames.iter().rposition(|frame| is_portal(&frame)) else { return 0 };
        let portals: SmallVec<[&Frame; 8]> = st.frames[..=innermost].iter().filter(is_portal).collect();
        let recurs = portals.iter().enumerate().any(|(at, frame)| {
            portals[..at].iter().any(|other| (other.graph, &other.greens) == (frame.graph, &frame.greens))
        });
        if recurs { 0 } else { innermost }
    }

    /// Whether traces have been around the loop at a merge point with other frames below its portal's.
    fn knows_loop(&self, st: &State) -> bool {
        self.context(st) > 0 && self.tracing.loops.contains(&self.place(st))
    }

    /// A trace makes a version of the merge point that it stands at.
    pub(crate) fn knows_loop_from_now_on(&mut self, st: &State) {
        let place = self.place(st);
        self.tracing.loops.insert(place);
    }

    /// Where a trace comes to a loop for the first time with these frames, and others have been around it with other
    /// ones, all their ways become its code at once.
    pub(crate) fn enter_known_loop(&mut self, st: &mut State, key: &Key) -> Result<Option<TraceEnd>, SpecError> {
        if self.versions.get(key).is_some_and(|versions| !versions.is_empty()) || !self.knows_loop(st) {
            return Ok(None);
        }
        let key = self.versions.insert_full(key.clone(), Vec::new()).0;
        let id = self.trace_into_version(st, key, false, true)?;
        let concrete = st.concrete.take();
        let most_ops = self.limits.region_ops;
        let region = Region { fragment: 0, loops: FxHashSet::from_iter([key]), elsewhere: FxHashSet::default(), born: true, depth: st.frames.len(), most_ops };
        let Some(region) = self.fill_region(id, region) else {
            st.concrete = concrete;
            return Ok(None);
        };
        let entered = self.region_key(&region);
        self.install_region(region);
        let version = VersionId { key, version: self.versions[key].len() - 1 };
        let params: Vec<_> = self.fragments[st.fragment].graph.block(st.block).params.iter().copied().map(Operand::Value).collect();
        st.concrete = concrete;
        let words = params.iter().map(|param| self.concrete_word(st, *param)).collect();
        let loc = self.loc(st);
        self.link(st, version, params, loc);
        Ok(Some(TraceEnd::Enter(entered, words)))
    }

    /// The version of a loop that a fragment is the code of; that of a region's is the one that it was made for.
    pub fn version_of(&self, fragment: &str) -> Option<VersionId> {
        self.fragments[self.fragment_of(fragment)?].version
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
        let depth = self.version(id).template.frames.len();
        self.fill_region(id, Region { fragment: 0, loops, elsewhere, born: false, depth, most_ops })
    }

    fn fill_region(&mut self, id: VersionId, region: Region) -> Option<NewRegion> {
        let (fragment, st) = self.begin_region(id);
        let open = self.memory.is_open();
        self.memory.open_foreign(false);
        self.region = Some(Region { fragment, ..region });
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

    /// From now on, who comes to the loop in a state of the version enters the region.
    pub fn install_region(&mut self, region: NewRegion) {
        let NewRegion { id, fragment: region, template } = region;
        let block = template.block;
        self.fragments[region].version = Some(id);
        let version = Version { template, fragment: region, block, enterable: true, folds: 0, arrivals: Vec::new() };
        let before = self.versions[id.key].iter().position(|v| {
            let fragment = &self.fragments[v.fragment];
            fragment.version == Some(id) && v.fragment != self.versions[id.key][id.version].fragment
        });
        match before {
            Some(before) => self.versions[id.key][before] = version,
            None => self.versions[id.key].push(version),
        }
        self.has_changed(id.key);
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
        let key = Key { fragment: None, ..self.key(st, MarkKind::GlobalMerge) };
        self.versions.get_full(&key).filter(|(_, _, versions)| !versions.is_empty()).map(|(at, ..)| at)
    }

    /// Whether the loop that begins at the merge point that a state stands at, as far as traces have seen, belongs to
    /// the region that is being filled: where the guest hasn't jumped back to, paths only join.
    pub(crate) fn loop_of_region(&self, st: &State) -> Option<bool> {
        let region = self.region.as_ref()?;
        let key = self.traced_key(st);
        if let Some(key) = key {
            if region.loops.contains(&key) {
                return Some(true);
            }
            if region.born || region.elsewhere.contains(&key) {
                return Some(false);
            }
            return None;
        }
        self.knows_loop(st).then(|| region.born || st.frames.len() > region.depth)
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
        match self.ways(&st)[..] {
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
        let ways = self.ways(&st);
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
        let ways = self.ways(&st);
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
    fn arm(&mut self, st: &State) -> (BlockId, State) {
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
