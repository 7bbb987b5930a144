//! The eager policy, and the scheduling of states: both sides of every split, each join once.
//!
//! A state that reaches a mark waits under its key. One rule decides which key is taken up next: the lowest, comparing
//! the stacks from the outermost frame, each by the number of its position in a weak topological order, then by its
//! greens; an arrival over a back edge counts as the end of its loop. So a join is taken up after all its arms, and a
//! loop's exit after all of its body.
//!
//! ```text
//! arms        what becomes of a split's sides
//! promotions  where nobody serves exits: in functions that are called
//! endless     which green keeps changing in a loop that doesn't end
//! ```

pub(super) mod arms;
pub(super) mod endless;
mod promotions;

use crate::specialize::chaos::Choice;
use crate::specialize::engine::Engine;
use crate::specialize::error::{Met, SpecError};
use crate::specialize::event::What;
use crate::specialize::merge::alone::is_whole;
use crate::specialize::merge::merges::Merge;
use crate::specialize::state::key::KeyOf;
use crate::specialize::state::stacks::{PositionsId, Rank, StackId};
use crate::specialize::state::{Frame, GraphIx, Key, Red, Reg, State, VersionId};
use crate::specialize::step::Outcome;
use flowgraph::ir::{BlockId, Const, Loc, MarkKind, Terminator, Trap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::rc::Rc;

/// Where all frames of a state stand: those that wait, and the innermost one.
type Positions = (PositionsId, GraphIx, BlockId, u32);

/// A stack of positions in the order of blocks, each with its greens behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Priority {
    outer: Rc<[Rank]>,
    own: SmallVec<[Rank; 4]>,
}

impl Ord for Priority {
    fn cmp(&self, other: &Priority) -> Ordering {
        if Rc::ptr_eq(&self.outer, &other.outer) {
            return self.own.cmp(&other.own);
        }
        self.outer.iter().chain(&self.own).cmp(other.outer.iter().chain(&other.own))
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Priority) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The hash of a key.
type KeyHash = u64;

/// States that wait under one key, and the highest of their priorities.
struct Waiting {
    priority: Priority,
    states: Vec<State>,
}

/// What has come to the head of a loop.
#[derive(Default)]
struct LoopKeys {
    keys: usize,
    /// How much the states hold that have come first under a key.
    values: usize,
}

/// States that wait, by key: an index into the engine's versions.
#[derive(Default)]
pub(crate) struct Schedule {
    todo: Vec<State>,
    /// The one state that there is: it waits for no other.
    alone: Option<(usize, State)>,
    waiting: FxHashMap<usize, Waiting>,
    order: BTreeSet<(Priority, usize)>,
    /// The tuples of greens at each join, in each version of the loop that it is in: versions have fragments of their
    /// own.
    joins: FxHashMap<(Positions, Option<usize>, usize), FxHashSet<KeyHash>>,
    decided: FxHashMap<(Positions, Option<usize>), FxHashSet<Const>>,
    loop_keys: FxHashMap<(GraphIx, BlockId, u32), LoopKeys>,
}

/// So many values at one join have keys of their own because they decide a split behind it; the states with more are
/// met.
const MOST_DECIDED: usize = 8;

/// At a join of a region there may be so many times as many tuples of greens: runs have come with each of them, and
/// what lies behind them is code by itself already.
const TUPLES_OF_REGIONS: usize = 64;

impl Schedule {
    /// Whether a state that stands there may wait by itself with all that have this value, which decides a split behind
    /// the join.
    fn may_decide(&mut self, (positions, enclosing): (Positions, Option<usize>), value: Const) -> bool {
        let seen = self.decided.entry((positions, enclosing)).or_default();
        seen.contains(&value) || seen.len() < MOST_DECIDED && seen.insert(value)
    }
}

impl Engine<'_> {
    /// Runs states, and all that comes of them, to their ends.
    pub(crate) fn run_unit(&mut self, unit: usize, states: Vec<State>) -> Result<(), SpecError> {
        let first_key = self.versions.len();
        self.functions.copied.clear();
        let mut schedule = Schedule { todo: states, ..Schedule::default() };
        loop {
            if let Some(st) = self.take_state(&mut schedule.todo) {
                self.run(&mut schedule, st)?;
            } else if let Some((key, st)) = schedule.alone.take() {
                self.take_one(&mut schedule, key, st)?;
            } else if let Some((_, key)) = schedule.order.pop_first() {
                let states = schedule.waiting.remove(&key).map(|w| w.states).unwrap_or_default();
                match <[State; 1]>::try_from(states) {
                    Ok([st]) => self.take_one(&mut schedule, key, st)?,
                    Err(states) => self.take(&mut schedule, key, states)?,
                }
            } else {
                break;
            }
        }
        self.units[unit].done = true;
        self.drop_peeled_versions(first_key)
    }

    /// Runs one state until it ends, splits or waits.
    fn run(&mut self, schedule: &mut Schedule, mut st: State) -> Result<(), SpecError> {
        loop {
            match self.step(&mut st)? {
                Outcome::Mark(kind) => return self.park(schedule, st, kind),
                Outcome::Split { cond, then, otherwise, loc } if self.in_region(&st) => {
                    schedule.todo.extend(self.split_in_region(st, cond, (then, otherwise), loc)?);
                    return Ok(());
                }
                Outcome::SwitchSplit { value, cases, default, loc } if self.in_region(&st) => {
                    schedule.todo.extend(self.switch_in_region(st, value, (cases, default), loc)?);
                    return Ok(());
                }
                Outcome::Promotion { value, loc } if self.in_region(&st) => {
                    schedule.todo.extend(self.promote_in_region(st, value, loc)?);
                    return Ok(());
                }
                Outcome::Split { cond, then, otherwise, loc } => {
                    schedule.todo.extend(self.split(&mut st, cond, (then, otherwise), loc)?);
                }
                Outcome::SwitchSplit { value, cases, default, loc } => {
                    schedule.todo.extend(self.split_switch(st, value, (cases, default), loc)?);
                    return Ok(());
                }
                Outcome::Promotion { value, loc } => {
                    if self.units[self.fragments[st.fragment].unit].exits {
                        return self.end_in_exit(st, loc);
                    }
                    schedule.todo.extend(self.promote_without_exit(st, value, loc)?);
                    return Ok(());
                }
                Outcome::Returned(values, loc) => return self.end_in_return(st, &values, loc),
                Outcome::Trapped(trap, args) => return self.end_in_trap(st, *trap, &args),
                Outcome::Calls(_) | Outcome::CallTrapped(_) => unreachable!("the eager policy does not run calls"),
            }
        }
    }

    /// The outermost function returns.
    pub(crate) fn end_in_return(&mut self, mut st: State, values: &[Red], loc: Loc) -> Result<(), SpecError> {
        self.flush_outside(&mut st, loc)?;
        let values = values.iter().map(|v| self.real(&mut st, *v, loc)).collect::<Result<Vec<_>, _>>()?;
        self.fragments[st.fragment].end(st.block, Terminator::Return(values), loc);
        Ok(())
    }

    /// A trap: what was stored before it must be home.
    pub(crate) fn end_in_trap(&mut self, mut st: State, mut trap: Trap, args: &[Red]) -> Result<(), SpecError> {
        let loc = trap.loc;
        self.flush_outside(&mut st, loc)?;
        for ((operand, _), red) in trap.args.iter_mut().zip(args) {
            *operand = self.real(&mut st, *red, loc)?;
        }
        self.fragments[st.fragment].end(st.block, Terminator::Trap(trap), loc);
        Ok(())
    }

    // ---- waiting

    /// The key of a trimmed state at a mark.
    pub(crate) fn key(&self, st: &State, kind: MarkKind) -> Key {
        self.key_of(st, kind).make()
    }

    /// The same to look with.
    pub(crate) fn key_of<'s>(&self, st: &'s State, kind: MarkKind) -> KeyOf<'s> {
        KeyOf::new(st, self.key_fragment(st, kind))
    }

    /// What the key of a state at a mark has for its fragment.
    fn key_fragment(&self, st: &State, kind: MarkKind) -> Option<usize> {
        let within = self.in_region(st);
        let enterable = kind == MarkKind::GlobalMerge && self.units[self.fragments[st.fragment].unit].exits && !within;
        (!enterable).then_some(st.fragment)
    }

    pub(crate) fn priority(&self, st: &State) -> Priority {
        let frame = st.frame();
        let order = &self.program.loaded(frame.graph).order;
        let position = match st.back.then(|| order.loop_at(frame.block)).flatten() {
            Some(ended) => Rank::Position(ended.end, u32::MAX),
            None => self.rank(frame),
        };
        let greens = frame.regs.greens().map(|(_, constant)| Rank::Green(constant));
        Priority { outer: self.stacks.ranks(st.outer()), own: std::iter::once(position).chain(greens).collect() }
    }

    fn rank(&self, frame: &Frame) -> Rank {
        let order = &self.program.loaded(frame.graph).order;
        Rank::Position(order.number_of(frame.block).unwrap_or_default(), frame.index)
    }

    /// The stack of a trimmed frame that waits at a call, on another one.
    pub(crate) fn push_on_stack(&mut self, below: StackId, frame: &Frame) -> StackId {
        let rank = self.rank(frame);
        self.stacks.push(below, frame, rank)
    }

    fn positions(&self, st: &State) -> Positions {
        let frame = st.frame();
        (self.stacks.positions(st.outer()), frame.graph, frame.block, frame.index)
    }

    pub(crate) fn is_loop_head(&self, st: &State) -> bool {
        let f = st.frame();
        if f.index == 0 && self.program.loaded(f.graph).order.loop_at(f.block).is_some() {
            return true;
        }
        self.program.is_merge_point(f.graph, f.block, f.index)
            && (!self.in_region(st) || self.loop_of_region(st).is_some())
    }

    fn park(&mut self, schedule: &mut Schedule, mut st: State, mut kind: MarkKind) -> Result<(), SpecError> {
        self.trim(&mut st);
        if self.ends_region(&st, kind) || self.in_region(&st) && self.flips(Choice::End) {
            return self.leave_region(st, kind);
        }
        let over = self.fragments[st.fragment].size > self.limits.residual_ops;
        if !self.is_twin(&st) && (over || self.flips(Choice::Twin)) {
            let loc = self.loc(&st);
            self.happened_at(What::CodeLimit, &st, loc);
            self.enter_twin(&mut st, loc)?;
            self.trim(&mut st);
        }
        if self.stands_at_merge_point(&st) {
            self.stand_at(&mut st);
        }
        let mut fragment = self.key_fragment(&st, kind);
        let mut found = self.versions.get_index_of(&KeyOf::new(&st, fragment));
        if self.is_loop_head(&st) {
            if found.is_none() {
                self.count_loop_key(schedule, &st)?;
            }
        } else if self.over_cap(schedule, &st, fragment) {
            self.merges.see(kind, Merge::Capped);
            let loc = self.loc(&st);
            let green = self.green_that_multiplied(&st);
            self.happened_at(What::JoinCapped { green }, &st, loc);
            if self.in_region(&st) {
                self.end_in_own_exit(&st);
                return Ok(());
            }
            self.enter_twin(&mut st, loc)?;
            let f = st.frame();
            match self.program.mark(f.graph, f.block, f.index) {
                Some(mark) => kind = mark,
                None => {
                    schedule.todo.push(st);
                    return Ok(());
                }
            }
            self.trim(&mut st);
            fragment = self.key_fragment(&st, kind);
            found = self.versions.get_index_of(&KeyOf::new(&st, fragment));
        }
        let mut decided = None;
        if kind == MarkKind::LocalMerge
            && !self.is_loop_head(&st)
            && !self.flips(Choice::Ahead)
            && let Some(ahead) = self.decided_ahead(&st)
            && schedule.may_decide((self.positions(&st), st.enclosing), ahead.1)
        {
            decided = Some(ahead);
            found = self.versions.get_index_of(&KeyOf { decided, ..KeyOf::new(&st, fragment) });
        }
        let is_alone = schedule.todo.is_empty() && schedule.order.is_empty();
        if is_alone && found.is_none() && !self.is_version(&st, fragment) {
            self.go_past(schedule, st);
            return Ok(());
        }
        let make = || KeyOf { decided, ..KeyOf::new(&st, fragment) }.make();
        let key = found.unwrap_or_else(|| self.versions.insert_full(make(), Vec::new()).0);
        if is_alone {
            schedule.alone = Some((key, st));
            return Ok(());
        }
        let priority = self.priority(&st);
        match schedule.waiting.entry(key) {
            Entry::Vacant(first) => {
                schedule.order.insert((priority.clone(), key));
                first.insert(Waiting { priority, states: vec![st] });
            }
            Entry::Occupied(waiting) => {
                let waiting = waiting.into_mut();
                if priority > waiting.priority {
                    schedule.order.remove(&(std::mem::replace(&mut waiting.priority, priority.clone()), key));
                    schedule.order.insert((priority, key));
                }
                waiting.states.push(st);
            }
        }
        Ok(())
    }

    fn over_cap(&mut self, schedule: &mut Schedule, st: &State, fragment: Option<usize>) -> bool {
        let has_greens = st.frame().regs.greens().next().is_some() || self.stacks.has_greens(st.outer());
        if !has_greens || self.is_twin(st) {
            return false;
        }
        let seen = schedule.joins.entry((self.positions(st), st.enclosing, st.fragment)).or_default();
        let hash = self.versions.hasher().hash_one(KeyOf::new(st, fragment));
        if seen.contains(&hash) {
            return false;
        }
        let more = if self.in_region(st) { TUPLES_OF_REGIONS } else { 1 };
        if seen.len() >= self.limits.join_tuples.saturating_mul(more) || self.flips(Choice::Cap) {
            return true;
        }
        seen.insert(hash);
        false
    }

    /// Counts a new key of a loop's head.
    fn count_loop_key(&mut self, schedule: &mut Schedule, st: &State) -> Result<(), SpecError> {
        let f = st.frame();
        let come = schedule.loop_keys.entry((f.graph, f.block, f.index)).or_default();
        come.keys += 1;
        come.values += st.size();
        if come.keys > self.limits.loop_keys {
            return Err(self.endless_green_keys(st, Met::LoopKeys(self.limits.loop_keys)));
        }
        if come.values > self.limits.loop_values {
            return Err(self.endless_green_keys(st, Met::LoopValues(self.limits.loop_values)));
        }
        Ok(())
    }

    // ---- versions

    /// Takes up a key under which one state waits: the first to come to where only paths join goes on as it is,
    /// elsewhere it is a version by itself.
    fn take_one(&mut self, schedule: &mut Schedule, key: usize, st: State) -> Result<(), SpecError> {
        if !self.versions[key].is_empty() {
            return self.take(schedule, key, vec![st]);
        }
        let (fragment, mark) = (self.key_fragment_of(key), self.mark_at(&st));
        if !self.is_version(&st, fragment) {
            self.go_past(schedule, st);
            return Ok(());
        }
        if !is_whole(&st) || self.flips(Choice::Alone) {
            return self.take(schedule, key, vec![st]);
        }
        self.count_version(mark, key, 1);
        let loc = self.loc(&st);
        let id = self.enter_alone(st, key, fragment.is_none(), loc);
        self.go_on(schedule, id);
        Ok(())
    }

    /// Whether a state that comes to a mark alone, before all others, is a version by itself.
    fn is_version(&self, st: &State, fragment: Option<usize>) -> bool {
        self.is_loop_head(st) || fragment.is_none()
    }

    /// Goes on behind a mark where only paths join.
    fn go_past(&mut self, schedule: &mut Schedule, mut st: State) {
        self.merges.see(self.mark_at(&st), Merge::Passed);
        st.passed = true;
        st.back = false;
        schedule.todo.push(st);
    }

    /// The fragment of a key; none if its versions may be entered from other fragments.
    fn key_fragment_of(&self, key: usize) -> Option<usize> {
        self.versions.get_index(key).and_then(|(key, _)| key.fragment)
    }

    fn mark_at(&self, st: &State) -> MarkKind {
        let f = st.frame();
        self.program.mark(f.graph, f.block, f.index).unwrap_or(MarkKind::LocalMerge)
    }

    /// Takes up a key: states that imply a version jump to it, the rest are met into a new one.
    fn take(&mut self, schedule: &mut Schedule, key: usize, states: Vec<State>) -> Result<(), SpecError> {
        let Some(first) = states.first() else { return Ok(()) };
        let (enterable, mark) = (self.key_fragment_of(key).is_none(), self.mark_at(first));
        let fresh = self.versions[key].is_empty();
        let mut rest = Vec::new();
        for st in states {
            if fresh || self.would_lose_registers(&st, key) || self.makes_another(key) {
                rest.push(st);
            } else if let Some(st) = self.jump_to_any(st, key)? {
                rest.push(st);
            } else {
                self.merges.see(mark, Merge::Jumped);
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        self.count_version(mark, key, rest.len());
        let loc = self.loc(&rest[0]);
        let id = self.new_version(&mut rest, key, enterable, loc)?;
        for st in rest {
            if self.jump(st, id)?.is_some() {
                return Err(SpecError::Malformed("a state does not imply what it was met into".to_owned(), loc));
            }
        }
        self.go_on(schedule, id);
        Ok(())
    }

    /// Goes on in a version that has just been made.
    fn go_on(&mut self, schedule: &mut Schedule, id: VersionId) {
        let mut st = self.version(id).template.continued();
        st.origin = Some(id);
        st.passed = true;
        if self.is_loop_head(&st) {
            st.enclosing = Some(id.key);
        }
        schedule.todo.push(st);
    }

    // ---- the twin

    fn is_twin(&self, st: &State) -> bool {
        self.program.loaded(st.frame().graph).twin
    }

    /// The same state in the all-red twin.
    pub(crate) fn enter_twin(&mut self, st: &mut State, loc: Loc) -> Result<(), SpecError> {
        for frame in &mut st.frames {
            frame.stack = None;
            if self.program.loaded(frame.graph).twin {
                continue;
            }
            let Some(twin) = self.program.twin(frame.graph) else {
                let function = &self.program.graph(frame.graph).function;
                return Err(SpecError::Malformed(format!("`{function}` has no all-red twin"), loc));
            };
            frame.graph = twin;
            for (_, reg) in frame.regs.iter_mut() {
                *reg = Reg::Red(reg.red());
            }
            frame.greens = Rc::from([]);
        }
        st.back = false;
        Ok(())
    }

    // ---- messages

    /// The source place of the innermost frame's next op.
    pub(crate) fn loc(&self, st: &State) -> Loc {
        self.loc_in(&st.frames)
    }

    /// The line at which the last of these frames stands.
    pub(crate) fn loc_in(&self, frames: &[Frame]) -> Loc {
        // What has no lines of its own is blamed on its call.
        let mut locs = frames.iter().rev().flat_map(|f| {
            let block = self.program.graph(f.graph).block(f.block);
            let ops = block.ops.get(f.index as usize..).unwrap_or_default();
            ops.iter().map(|op| op.loc).chain([block.loc])
        });
        locs.find(|l| l.is_known()).unwrap_or_default()
    }

    fn green_that_multiplied(&self, st: &State) -> String {
        let f = st.frame();
        let green = f.regs.iter().find(|(_, r)| matches!(r, Reg::Green(_)));
        green.map_or_else(|| "a caller's green".to_owned(), |(v, _)| self.program.name_of(f.graph, *v))
    }
}
