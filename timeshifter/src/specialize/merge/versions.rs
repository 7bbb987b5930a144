//! Versions of merge points: which one a state enters, and making more.

use crate::specialize::chaos::Choice;
use crate::specialize::engine::{Engine, Version};
use crate::specialize::error::SpecError;
use crate::specialize::event::What;
use crate::specialize::merge::Keeps;
use crate::specialize::merge::alone::Left;
use crate::specialize::merge::merges::Merge;
use crate::specialize::state::{Red, Reg, State, VersionId};
use flowgraph::ir::{BlockId, Edge, Loc, MarkKind, Operand, Terminator};
use std::rc::Rc;

/// A state that has jumped to a version.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// As it was.
    Whole(Box<State>),
    /// The version was made of it alone.
    Alone(Left),
}

/// Up to so many times as many versions as keep all, the next one keeps constants.
const CONSTANT_VERSIONS: usize = 4;

impl Engine<'_> {
    /// Whether entering a loop's last version would mean to store, in every round, what another version can keep in
    /// registers. In a region, the last version of any join: that of a round that knew less leads back to it.
    pub(crate) fn would_lose_registers(&self, st: &State, key: usize) -> bool {
        let versions = &self.versions[key];
        let Some(last) = versions.last().filter(|_| versions.len() < self.limits.versions) else { return false };
        (self.is_loop_head(st) || self.in_region(st))
            && st.memory.places.iter().any(|(place, location)| {
                let kept = last.template.memory.places.get(place).is_some_and(|l| l.dirty);
                location.dirty && !kept && last.template.memory.roots.contains_key(&place.0)
            })
    }

    /// Jumps to the first version that the state implies, those before which nothing must be stored home first. Gives
    /// the state back if it implies none.
    pub(crate) fn jump_to_any(&mut self, mut st: State, key: usize) -> Result<Option<State>, SpecError> {
        let stores = |template: &State| {
            let kept = |place| template.memory.places.get(place).is_some_and(|l| l.dirty);
            st.memory.places.iter().any(|(place, l)| l.dirty && !kept(place))
        };
        let (last, first): (Vec<_>, Vec<_>) =
            (0..self.versions[key].len()).partition(|v| stores(&self.versions[key][*v].template));
        for version in first.into_iter().chain(last) {
            match self.jump(st, VersionId { key, version })? {
                Some(back) => st = back,
                None => return Ok(None),
            }
        }
        Ok(Some(st))
    }

    /// Makes the first version of a key of a state that has come alone, and ends the state's block in a jump to it.
    pub(crate) fn enter_alone(&mut self, st: State, key: usize, enterable: bool, loc: Loc) -> VersionId {
        let head = self.version_head(&st, enterable);
        let (template, left) = self.meet_alone(&st, head);
        let id = self.add_version(key, template, enterable);
        let args = left.values.iter().map(|(value, _)| Operand::Value(*value)).collect();
        self.link(&st, id, args, loc);
        self.arrived(id, Arrival::Alone(left));
        id
    }

    /// Meets states into a new version of a key, widened against the last one.
    pub(crate) fn new_version(
        &mut self,
        states: &mut [State],
        key: usize,
        enterable: bool,
        loc: Loc,
    ) -> Result<VersionId, SpecError> {
        let (fragment, block) = self.version_head(&states[0], enterable);
        let number = self.versions[key].len();
        let base = self.versions[key].last().map(|v| v.template.clone());
        let keeps = self.keeps(number);
        let template = self.meet(states, base.as_deref(), (fragment, block), keeps, loc)?;
        if let Some(base) = base {
            let forgotten = self.forgotten(&base, &template);
            self.happened_at(
                What::Widened { versions: number, top: keeps == Keeps::Nothing, forgotten },
                &states[0],
                loc,
            );
        }
        Ok(self.add_version(key, template, enterable))
    }

    /// What the next version of a key that has so many keeps.
    fn keeps(&self, versions: usize) -> Keeps {
        if versions < self.limits.versions {
            Keeps::All
        } else if versions < CONSTANT_VERSIONS * self.limits.versions {
            Keeps::Constants
        } else {
            Keeps::Nothing
        }
    }

    /// The variables that have a constant in one version and none in the next.
    pub(crate) fn forgotten(&self, version: &State, next: &State) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let is_constant = |reg: Reg| matches!(reg, Reg::Red(Red::Const(_)));
        for (frame, after) in version.frames.iter().zip(&next.frames) {
            let constants = frame.regs.iter().filter(|(_, reg)| is_constant(*reg)).map(|(value, _)| *value);
            for value in constants.filter(|value| after.regs.get(*value).is_some_and(|reg| !is_constant(reg))) {
                match self.program.variable(frame.graph, value) {
                    Some(name) if !names.iter().any(|known| known == name) => names.push(name.to_owned()),
                    _ => {}
                }
            }
        }
        names
    }

    /// Counts a version that is about to be made by [`Engine::new_version`].
    pub(crate) fn count_version(&mut self, mark: MarkKind, key: usize, states: usize) {
        self.merges.see(
            mark,
            match (self.keeps(self.versions[key].len()), self.versions[key].len()) {
                (Keeps::Nothing, _) => Merge::Topped,
                (_, 0) => Merge::New,
                _ => Merge::Widened,
            },
        );
        if states > 1 {
            self.merges.see(mark, Merge::Met);
        }
    }

    /// A block for a version's head: in the states' fragment, or in one of its own.
    pub(crate) fn version_head(&mut self, st: &State, enterable: bool) -> (usize, BlockId) {
        let fragment = if enterable {
            let unit = self.fragments[st.fragment].unit;
            let name = self.fresh_name(self.units[unit].graph);
            let fragment = self.new_fragment(self.units[unit].graph, &name, unit);
            self.fragments[fragment].at = st.at;
            fragment
        } else {
            st.fragment
        };
        (fragment, self.fragments[fragment].new_block(None))
    }

    /// Registers a version whose head is the block of its template.
    pub(crate) fn add_version(&mut self, key: usize, template: State, enterable: bool) -> VersionId {
        let (fragment, block) = (template.fragment, template.block);
        let id = VersionId { key, version: self.versions[key].len() };
        if enterable {
            if let Some((key, _)) = self.versions.get_index(key) {
                self.arrivals.entrances.insert(self.hash_of_key(key));
            }
            self.fragments[fragment].make_entry(block);
            self.name_params(&template);
            self.fragments[fragment].version = Some(id);
        }
        let template = Rc::new(template);
        let version = Version { template, fragment, block, enterable, folds: 0, arrivals: Vec::new() };
        let versions = &mut self.versions[key];
        if versions.is_empty() {
            versions.reserve_exact(1); // most keys have one
        }
        versions.push(version);
        self.has_changed(key);
        id
    }

    /// Ends the state's block in a jump to a version, if the state implies it; gives it back if not.
    pub(crate) fn jump(&mut self, mut st: State, id: VersionId) -> Result<Option<State>, SpecError> {
        let Version { fragment, block, enterable, .. } = *self.version(id);
        if fragment != st.fragment && !enterable {
            return Ok(Some(st));
        }
        let template = self.version(id).template.clone();
        let loc = self.loc(&st);
        let Some(args) = self.bind(&mut st, &template, block, true, loc)? else { return Ok(Some(st)) };
        self.link(&st, id, args, loc);
        st.frame_mut().regs.shrink_to_fit();
        self.arrived(id, Arrival::Whole(Box::new(st)));
        Ok(None)
    }

    /// A state has jumped to a version. It is kept until all is specialized, and goes on only if the version is
    /// dropped.
    fn arrived(&mut self, id: VersionId, arrival: Arrival) {
        let arrivals = &mut self.versions[id.key][id.version].arrivals;
        if arrivals.is_empty() {
            arrivals.reserve_exact(1); // most versions are come to but once
        }
        arrivals.push(arrival);
    }

    /// Ends the state's block in a jump to a version.
    pub(crate) fn link(&mut self, st: &State, id: VersionId, args: Vec<Operand>, loc: Loc) {
        let Version { fragment, block, .. } = *self.version(id);
        let term = if fragment == st.fragment {
            Terminator::Jump(Edge::new(block, args))
        } else {
            Terminator::Enter { graph: self.fragments[fragment].graph.key.as_str().into(), args }
        };
        self.fragments[st.fragment].end(st.block, term, loc);
    }

    /// A peeled version that folded no more ops than the key's last one is dropped, and its arrivals sent there.
    pub(crate) fn drop_peeled_versions(&mut self, first_key: usize) -> Result<(), SpecError> {
        for key in first_key..self.versions.len() {
            let Some(last) = self.versions[key].len().checked_sub(1) else { continue };
            for version in 0..last {
                let pays = self.versions[key][version].folds > self.versions[key][last].folds;
                if pays != self.flips(Choice::Drop) {
                    continue;
                }
                let arrivals = std::mem::take(&mut self.versions[key][version].arrivals);
                for arrival in arrivals {
                    let st = match arrival {
                        Arrival::Whole(st) => *st,
                        Arrival::Alone(left) => left.state(&self.versions[key][version].template),
                    };
                    self.jump(st, VersionId { key, version: last })?;
                }
            }
            for version in &mut self.versions[key] {
                version.arrivals = Vec::new();
            }
        }
        Ok(())
    }
}
