//! Exits: left for the interpreter, or given code, a bridge or a case of a promotion's switch.

use super::made_up::Start;
use super::{Jit, JitError, Next, Policy};
use crate::clock::Tier;
use crate::events::{Reason, What};
use crate::switches;
use flowgraph::ir::{Const, Graph, Word};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::time::Instant;
use timeshifter::specialize::Choice;

/// The most values of promotions without code of which it is counted how often each was seen.
const MOST_SEEN: usize = 10_000;

/// Where a promotion has as many cases as it may have at once, a value gets another one when it has left so often: then
/// leaving has cost about as much as its code. Where there are twice as many cases, it takes twice as often.
const OFTEN: u64 = 100;

/// A promotion has at most so many times as many cases as it may have at once.
const MORE: u64 = 32;

/// An exit behind which the interpreter takes more steps than this counts more than once.
const STEPS_OF_AN_EXIT: u64 = 50;

/// What has become of exits, by their numbers.
#[derive(Default)]
pub(super) struct Exits {
    /// How often each has been taken to the interpreter.
    pub taken: FxHashMap<u32, Taken>,
    /// The bridges, by their keys.
    pub bridged: FxHashMap<u32, String>,
    /// The cases of promotions: the value, and the key of its code.
    pub switches: IndexMap<u32, Vec<(i64, String)>>,
    /// How often values of promotions without code have been seen.
    pub seen: FxHashMap<(u32, i64), u64>,
    /// The values of promotions whose code meets a limit.
    pub refused_cases: FxHashSet<(u32, i64)>,
    /// How often a switch was made anew without having grown.
    pub remade: FxHashMap<u32, usize>,
}

/// How often an exit has been taken to the interpreter.
#[derive(Clone, Copy, Default)]
pub(super) struct Taken {
    pub times: u32,
    /// The steps that the interpreter took from there until the run was in compiled code again.
    pub steps: u64,
}

impl Taken {
    /// Whether it has been taken so often, or has cost as much.
    pub fn is_as_much_as(self, times: u64) -> bool {
        u64::from(self.times).max(self.steps / STEPS_OF_AN_EXIT) >= times
    }
}

/// Whether a promotion that may have so many cases at once, and has so many, gets another one for a value that has been
/// seen so often.
fn has_room(room: u64, cases: u64, seen: u64) -> bool {
    cases < room || cases < room.saturating_mul(MORE) && seen >= OFTEN.saturating_mul(cases) / room
}

impl Jit<'_> {
    pub(super) fn serve_exit(&mut self, exit: u32, words: Vec<Word>) -> Result<Next, JitError> {
        let taken = self.exits.taken.entry(exit).or_default();
        taken.times = taken.times.saturating_add(1);
        let taken = *taken;
        let full = self.is_full();
        let position = self.engine.exits[exit as usize].promoted_position();
        if let Some(next) = self.serve_counted(exit, position, &words)? {
            return Ok(next);
        }
        self.stats.exits += 1;
        match position {
            Some(position) => {
                let grown = self.exits.switches.get(&exit).map_or(&[][..], Vec::as_slice);
                let (cases, value) = (grown.len() + self.engine.exits[exit as usize].cases, words[position] as i64);
                // A case that is still being compiled leaves by the exit, too.
                let is_coming = grown.iter().any(|(case, _)| *case == value);
                let is_refused = self.exits.refused_cases.contains(&(exit, value));
                let seen = if is_coming { 0 } else { self.see(exit, value) };
                let ripe = self.policy == Policy::Eager || self.is_ripe(taken);
                let room = self.engine.lowered(Choice::Full, self.options.cases as u64);
                if ripe && !is_coming && !is_refused && !full {
                    if has_room(room, cases as u64, seen) {
                        return self.grow_switch(exit, (position, seen), words);
                    }
                    self.full(exit);
                }
            }
            None if self.exits.bridged.contains_key(&exit) || self.engine.exits[exit as usize].dead_end => {}
            None if full => {}
            None if self.is_ripe(taken) => return self.build_bridge(exit, &words),
            None => {}
        }
        self.left_through(exit, taken.times, position.map(|position| words[position] as i64), full);
        self.leave_at(exit, &words)
    }

    /// A value that was promoted at an exit has left by it. Gives how often so far.
    fn see(&mut self, exit: u32, value: i64) -> u64 {
        let full = self.exits.seen.len() >= MOST_SEEN;
        match self.exits.seen.entry((exit, value)) {
            Entry::Vacant(_) if full => 1,
            times => {
                let times = times.or_default();
                *times += 1;
                *times
            }
        }
    }

    /// Leaves compiled code by an exit, for the interpreter.
    fn leave_at(&mut self, exit: u32, words: &[Word]) -> Result<Next, JitError> {
        self.following = None;
        self.left_by = Some(exit);
        self.stats.blackholed += 1;
        Ok(Next::Frames(self.engine.blackhole(exit, words)?))
    }

    /// Whether an exit that has been taken so often is to get code.
    fn is_ripe(&mut self, taken: Taken) -> bool {
        let bridge = self.engine.lowered(Choice::Hot, self.options.bridge.into());
        (taken.is_as_much_as(bridge) || self.following.is_some()) && !self.makes_too_much()
    }

    /// Adds to what the exit has cost that the run has left compiled code by.
    pub(super) fn has_cost(&mut self, steps: u64) {
        if let Some(taken) = self.left_by.and_then(|exit| self.exits.taken.get_mut(&exit)) {
            taken.steps += steps;
        }
    }

    fn build_bridge(&mut self, exit: u32, words: &[Word]) -> Result<Next, JitError> {
        let _making = self.enter_tier(Tier::Making);
        let beginning = self.beginning(|| Start::Exit(exit));
        let (begun, from) = (Instant::now(), self.engine.fragments.len());
        let (key, traced) = self.engine.trace_exit(exit, words)?;
        let end = self.follow_to_its_end(traced, begun)?;
        let counting = self.counted(exit, None, &key, &end)?;
        let target = counting.as_ref().map_or(&key, |counting| &counting.key).clone();
        let made = self.compile_with(&key, Vec::from_iter(counting))?;
        self.exits.bridged.insert(exit, key.clone());
        if !made {
            return Ok(self.after_trace(from, end));
        }
        self.code.patch(exit, &target)?;
        self.stats.bridges += 1;
        let taken = self.exits.taken.get(&exit).copied().unwrap_or_default().times.into();
        self.tell(What::Bridge { exit, taken }, self.bridge_reason(exit), self.exit_at(exit));
        self.rehearse(beginning, &key, words)?;
        self.bridge_made(exit, &key, &end)?;
        Ok(self.after_trace(from, end))
    }

    /// Gives a promotion a case for the value seen.
    fn grow_switch(&mut self, exit: u32, (position, seen): (usize, u64), words: Vec<Word>) -> Result<Next, JitError> {
        let value = words[position] as i64;
        let _making = self.enter_tier(Tier::Making);
        let beginning = self.beginning(|| Start::Exit(exit));
        let (begun, from) = (Instant::now(), self.engine.fragments.len());
        let given = words.clone();
        let (key, came, counting) = match self.policy {
            Policy::Eager => {
                self.engine.memory.open_foreign(false);
                let specialized = self.engine.specialize_case(exit, Const::Int(value));
                self.engine.memory.open_foreign(true);
                match specialized {
                    Err(error) if error.is_limit() => {
                        self.refused_case(exit, value, begun, error);
                        return self.leave_at(exit, &words);
                    }
                    specialized => {
                        let key = specialized?;
                        self.specialized(begun, Reason::NewValue);
                        let counting = self.counting(exit, Some(value), &key, None)?;
                        (key.clone(), Ok(Next::Code(key, words)), counting)
                    }
                }
            }
            Policy::Tracing => {
                let (key, traced) = self.engine.trace_case(exit, &words)?;
                let end = self.follow_to_its_end(traced, begun)?;
                let counting = self.counted(exit, Some(value), &key, &end)?;
                (key, Err(end), counting)
            }
        };
        let grown = self.exits.switches.entry(exit).or_default();
        grown.push((value, key.clone()));
        let cases = grown.len() + self.engine.exits[exit as usize].cases;
        self.exits.seen.remove(&(exit, value));
        let switch = self.switch_graph(exit, position, true);
        let target = switch.key.clone();
        let made = match self.compile_with(&key, counting.into_iter().chain([switch]).collect()) {
            // Ahead of time, too, the run goes on without the case.
            Err(JitError::Codegen(error)) if came.is_ok() => {
                self.refused_code(&error);
                false
            }
            made => made?,
        };
        if !made {
            self.drop_case(exit, value);
            return match came {
                Ok(_) => self.leave_at(exit, &given),
                Err(end) => Ok(self.after_trace(from, end)),
            };
        }
        self.stats.cases += 1;
        self.code.patch(exit, &target)?;
        self.tell(What::Promoted { exit, value, cases, seen }, Reason::NewValue, self.exit_at(exit));
        if self.engine.promotes_version(exit) {
            let written = value as u64;
            self.tell(What::Invalidated { exit, written }, Reason::CellWritten, self.exit_at(exit));
        }
        self.rehearse(beginning, &key, &given)?;
        if let Err(end) = &came {
            self.bridge_made(exit, &key, end)?;
        }
        Ok(came.unwrap_or_else(|end| self.after_trace(from, end)))
    }

    /// The code generator has refused the case of a promotion that was made last: none is made for its value again.
    fn drop_case(&mut self, exit: u32, value: i64) {
        self.exits.refused_cases.insert((exit, value));
        self.exits.switches.entry(exit).or_default().pop();
        // What has been refused keeps its name.
        *self.exits.remade.entry(exit).or_default() += 1;
    }

    /// The switch that a promotion's exit is pointed to, without cases that the code generator has refused; with the
    /// fragments that count before its cases, where there are any.
    pub(super) fn switch_graph(&self, exit: u32, position: usize, counted: bool) -> Graph {
        let site = &self.engine.exits[exit as usize];
        let mut cases = self.exits.switches.get(&exit).cloned().unwrap_or_default();
        let all = cases.len();
        cases.retain(|(_, target)| !self.code.is_refused(target));
        for (value, target) in cases.iter_mut().filter(|_| counted) {
            if let Some(counting) = self.regions.counting(exit, *value) {
                target.clone_from(counting);
            }
        }
        let function = &self.engine.program.graph(self.engine.fragments[site.fragment].source).function;
        let remade = self.exits.remade.get(&exit).copied().unwrap_or_default();
        let key = format!("{function}#switch{exit}_{}", all + remade);
        let empty = self.engine.empty_graph(site.fragment, &key);
        switches::switch_graph(empty, &site.types(&self.engine), position, exit, &cases)
    }
}
