//! Snapshots and exits: how to continue as the interpreter (RESUME.md, 3).
//!
//! A snapshot is a state cut to what is live: frames, slots, stores not yet made; no facts, no values of a run. It
//! names residual values, which the exit hands over in a fixed order. Going on from one is either *executing* the
//! compiler graphs (blackholing), with words for the values, or *specializing* on, with the values as parameters of a
//! new fragment.

use crate::specialize::engine::Engine;
use crate::specialize::error::SpecError;
use crate::specialize::event::GuestPosition;
use crate::specialize::exits::packed::Packed;
use crate::specialize::state::facts::Facts;
use crate::specialize::state::memory::KnownMemory;
use crate::specialize::state::{Red, Reg, State};
use flowgraph::ir::{BlockId, Const, Imm, Loc, NO_GUARD, Opcode, Operand, Terminator, Type, ValueId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An exit of residual code.
#[derive(Clone, Debug)]
pub struct ExitSite {
    /// The state to continue with ([`Engine::snapshot_at`]).
    pub(crate) snapshot: Packed,
    /// The guest position there.
    pub at: Option<GuestPosition>,
    /// The residual values that the snapshot names, in the order in which the exit hands them over.
    pub values: Vec<ValueId>,
    /// The fragment that it leaves.
    pub fragment: usize,
    /// Where the interpreter goes on.
    pub loc: Loc,
    /// The value that is promoted here, if it is a promotion.
    pub promoted: Option<ValueId>,
    /// How many values of the promotion have code in front of it: its other values leave here.
    pub cases: usize,
    /// The block that guards share to leave by this exit; none where a block's own end is the exit.
    pub block: Option<BlockId>,
    /// The condition that is branched on right behind the snapshot, if it hands it over, with its outcome where the
    /// branch doesn't leave by this exit. The exit's block has a parameter for it.
    pub decided: Option<(ValueId, bool)>,
    /// What comes next can't be compiled: a bridge would end where it begins.
    pub dead_end: bool,
}

impl ExitSite {
    /// The types of the values handed over.
    pub fn types(&self, engine: &Engine<'_>) -> Vec<Type> {
        let graph = &engine.fragments[self.fragment].graph;
        self.values.iter().map(|v| graph.values[v.index()].ty).collect()
    }

    /// Where the promoted value is among those handed over.
    pub fn promoted_position(&self) -> Option<usize> {
        self.promoted.and_then(|p| self.values.iter().position(|v| *v == p))
    }
}

impl Engine<'_> {
    /// How many guards have been made.
    pub fn guards_made(&self) -> usize {
        self.guards as usize
    }

    /// About how many bytes the snapshots of all exits take.
    pub fn snapshot_bytes(&self) -> usize {
        let bytes =
            |site: &ExitSite| size_of::<ExitSite>() + site.snapshot.bytes() + site.values.len() * size_of::<ValueId>();
        self.exits.iter().map(bytes).sum::<usize>() + self.packer.bytes()
    }

    /// The state to continue with at an exit.
    pub fn snapshot_at(&self, exit: u32) -> State {
        let site = &self.exits[exit as usize];
        self.packer.unpack(&site.snapshot, site.fragment)
    }

    /// Whether the value that is promoted at an exit is the version of a `QuasiCell`.
    pub fn promotes_version(&self, exit: u32) -> bool {
        let site = &self.exits[exit as usize];
        let Some(promoted) = site.promoted else { return false };
        let mut ops = self.fragments[site.fragment].graph.blocks.iter().flat_map(|block| &block.ops);
        let made = ops.find(|op| op.results.contains(&promoted));
        made.is_some_and(|op| matches!(&op.imm, Imm::Mem(mem) if mem.is_version()))
    }

    /// A snapshot of a state, and the residual values that it names.
    pub(crate) fn snapshot(&mut self, st: &State) -> (State, Vec<ValueId>) {
        let mut snapshot = State {
            frames: self.live_frames(st),
            slots: st.slots.clone(),
            memory: KnownMemory {
                roots: st.memory.roots.clone(),
                places: st.memory.places.iter().filter(|(_, l)| l.dirty).map(|(p, l)| (*p, l.clone())).collect(),
                elements: Default::default(),
                escaped: st.memory.escaped.clone(),
            },
            facts: Facts::default(),
            origin: None,
            snapshot: None,
            concrete: None,
            ..*st
        };
        self.work += snapshot.size();
        snapshot.drop_unreachable_slots();
        self.trim_memory(&mut snapshot);
        let named: Vec<Red> = snapshot
            .red_registers()
            .chain(snapshot.slots.values().flat_map(|s| s.cells.values()))
            .chain(snapshot.memory.roots.values().copied())
            .chain(snapshot.memory.places.values().map(|l| l.value))
            .collect();
        let mut values: Vec<ValueId> = Vec::new();
        for red in named {
            if let Red::Value(v) = red
                && !values.contains(&v)
            {
                values.push(v);
            }
        }
        (snapshot, values)
    }

    /// Registers an exit at the state's position.
    pub(crate) fn new_exit(&mut self, st: &State, promoted: Option<ValueId>, loc: Loc) -> u32 {
        let (snapshot, values) = self.snapshot(st);
        let loc = if loc.is_known() { loc } else { self.loc(st) };
        let (at, fragment, block) = (snapshot.at, st.fragment, None);
        let snapshot = self.packer.pack(&snapshot);
        let (decided, dead_end, cases) = (None, false, 0);
        let site = ExitSite { snapshot, at, values, fragment, loc, promoted, cases, block, decided, dead_end };
        self.exits.push(site);
        self.exits.len() as u32 - 1
    }

    /// The terminator that leaves through an exit, always: no guard leads there, and none may be taken for one that
    /// does, since the snapshot lies behind the branch that is before it.
    pub(crate) fn exit_terminator(&self, exit: u32) -> Terminator {
        let guard = Operand::int(NO_GUARD);
        let args = self.exits[exit as usize].values.iter().map(|v| Operand::Value(*v)).collect();
        Terminator::Exit { exit, guard, args }
    }

    /// A promotion under the eager policy: an exit, which specializes on for each value seen.
    pub(crate) fn end_in_exit(&mut self, st: State, loc: Loc) -> Result<(), SpecError> {
        let frame = st.frame();
        let code = self.program.graph(frame.graph).block(frame.block);
        let promoted = match code.ops.get(frame.index as usize) {
            Some(op) if op.opcode == Opcode::Promote => match self.operand(&st, op.args[0], loc)? {
                Red::Value(v) => Some(v),
                _ => None,
            },
            _ => None,
        };
        let exit = self.new_exit(&st, promoted, loc);
        let term = self.exit_terminator(exit);
        self.fragments[st.fragment].end(st.block, term, loc);
        Ok(())
    }

    /// The state of an exit in a new fragment, whose parameters are the values handed over.
    pub(crate) fn state_at_exit(&mut self, exit: u32) -> State {
        let site = self.exits[exit as usize].clone();
        let unit = self.fragments[site.fragment].unit;
        let graph = self.units[unit].graph;
        let name = self.fresh_name(graph);
        let fragment = self.new_fragment(graph, &name, unit);
        let mut st = self.snapshot_at(exit);
        let types = site.types(self);
        let mut renamed = Vec::new();
        for (value, ty) in site.values.iter().zip(types) {
            let param = self.fragments[fragment].new_param(BlockId::ENTRY, ty);
            let mut info = self.fragments[site.fragment].info(*value).clone();
            info.definition = None;
            self.fragments[fragment].info[param.index()] = info;
            renamed.push((*value, param));
        }
        rename(&mut st, &renamed);
        self.fragments[fragment].at = st.at;
        st.fragment = fragment;
        st.block = BlockId::ENTRY;
        self.name_params(&st);
        // What stands before the op has been passed: offered again, it would lead back here (RESUME.md, 4).
        st.passed |= self.stands_at_merge_point(&st);
        st
    }

    /// Specializes on from a promotion's exit for one value seen, eagerly. Gives the key of the fragment to enter with
    /// the values handed over. Where that can't be done, all is as before.
    ///
    /// # Errors
    /// As [`Engine::specialize`].
    pub fn specialize_case(&mut self, exit: u32, seen: Const) -> Result<String, SpecError> {
        let position = self.exits[exit as usize].promoted_position();
        let before = self.begin_attempt();
        let mut st = self.state_at_exit(exit);
        let fragment = st.fragment;
        if let Some(position) = position {
            let param = self.fragments[fragment].graph.entry_params()[position];
            self.learn_equal(&mut st, Red::Value(param), seen);
        }
        self.finish_attempt(before, st)?;
        Ok(self.fragments[fragment].graph.key.clone())
    }

    /// What there is before something is specialized that may not come to its end.
    pub(crate) fn begin_attempt(&mut self) -> Attempt {
        self.functions.before = self.functions.made.len();
        Attempt { fragments: self.fragments.len(), versions: self.versions.values().map(Vec::len).collect() }
    }

    /// Goes on eagerly from a state. If that doesn't come to its end, all is as before the attempt.
    pub(crate) fn finish_attempt(&mut self, before: Attempt, st: State) -> Result<(), SpecError> {
        let unit = self.fragments[st.fragment].unit;
        let filled = self.run_unit(unit, vec![st]).and_then(|()| self.run_functions_or_refuse());
        if filled.is_err() {
            self.forget_new_functions();
            self.fragments[before.fragments..].iter_mut().for_each(|fragment| fragment.abandoned = true);
            let versions = before.versions.into_iter().chain(std::iter::repeat(0));
            self.versions.values_mut().zip(versions).for_each(|(versions, before)| versions.truncate(before));
        }
        filled
    }
}

/// What there was before something was specialized: how many fragments, and versions of each key.
pub(crate) struct Attempt {
    fragments: usize,
    versions: Vec<usize>,
}

/// So many values are looked through one after another.
pub(crate) const FEW: usize = 16;

/// Renames residual values of a state, all at once.
pub(crate) fn rename(st: &mut State, renamed: &[(ValueId, ValueId)]) {
    let many: Option<FxHashMap<ValueId, ValueId>> = (renamed.len() > FEW).then(|| renamed.iter().copied().collect());
    let new = |red: &mut Red| {
        let Red::Value(value) = red else { return };
        let to = match &many {
            Some(many) => many.get(value),
            None => renamed.iter().find(|(from, _)| from == value).map(|(_, to)| to),
        };
        if let Some(to) = to {
            *value = *to;
        }
    };
    for frame in &mut st.frames {
        for (_, reg) in frame.regs.iter_mut() {
            if let Reg::Red(red) = reg {
                new(red);
            }
        }
    }
    for (_, slot) in &mut st.slots {
        Rc::make_mut(slot).cells.for_each_value(new);
    }
    st.memory.roots.iter_mut().for_each(|(_, address)| new(address));
    st.memory.places.iter_mut().for_each(|(_, location)| new(&mut location.value));
}
