//! Calls of portals in the interpreter behind exits.
//!
//! A place counts with all calls that it is inside of ([`super::heat`]). Two kinds of portals never become hot by that:
//! one that calls itself comes to ever new places; and where something green counts on around a call, code that has
//! been made for one call isn't entered by the next. So calls count by the portal and its greens alone, if the portal
//! is called inside of itself with the same ones, or if no code has been entered inside of its calls. When that is hot
//! it becomes a function, as where a trace comes to a recursion, and is called from then on.
//!
//! That is for runs of whole programs. Those from tier 0 have it finish the portals inside of them.

use super::{Jit, JitError, Next, Policy};
use crate::clock::Tier;
use crate::events::Reason;
use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::Word;
use jitcodegen::{Entry, Outcome};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher as _;
use std::rc::Rc;
use std::time::Instant;
use timeshifter::specialize::{Choice, GraphIx, GuestPosition, Program};

/// How many times as often a portal is called as a place is come to before that is hot: all that it may do for these
/// greens is compiled then, and not the way of one run.
const CALLS: u32 = 100;

/// Of the calls of portals that the interpreter is inside of so many are looked at, the innermost.
const CLOSE: usize = 100;

/// So many portals with their greens are counted at a time, and become functions.
const MOST: usize = 10_000;
const FUNCTIONS: usize = 100;

/// A portal that is called with certain greens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Called {
    portal: GraphIx,
    greens: SmallVec<[Word; 4]>,
}

/// How often a portal has been called.
#[derive(Clone, Copy, Default)]
struct Count {
    /// Inside of itself.
    by_itself: u32,
    /// Elsewhere, since code was last entered in such a call.
    in_vain: u32,
}

/// Calls of portals.
#[derive(Default)]
pub(super) struct Calls {
    /// How often one must be called to be hot; nothing where none becomes a function.
    hot: Option<u32>,
    /// The calls of portals that the interpreter is inside of, outermost first, with the number of frames below each.
    /// Those that it was inside of before it last left compiled code are missing.
    inside: Vec<(usize, Called)>,
    counts: FxHashMap<Called, Count>,
    functions: FxHashMap<Called, Rc<Entry>>,
    /// What can't be made functions of.
    refused: FxHashSet<Called>,
    /// The call that the interpreter has stopped at, with the words that aren't green.
    stopped_at: Option<(Called, SmallVec<[Word; 8]>)>,
    /// The next call is gone into.
    passing: bool,
}

impl Calls {
    /// The interpreter, inside of so many calls, has come to one of a portal. Gives whether it is to stop there.
    pub fn comes_by(&mut self, program: &Program<'_>, depth: usize, portal: GraphIx, words: &[Word]) -> bool {
        let Some(hot) = self.hot.filter(|_| hintannotator::has_colors(program.graph(portal))) else { return false };
        let passing = std::mem::take(&mut self.passing);
        while self.inside.pop_if(|(below, _)| *below >= depth).is_some() {}
        let (greens, reds) = program.split_words(portal, words);
        let called = Called { portal, greens };
        let by_itself = self.inside.iter().rev().take(CLOSE).any(|(_, one)| *one == called);
        if !passing && self.is_hot(&called, by_itself, hot) {
            self.stopped_at = Some((called, reds));
            return true;
        }
        self.inside.push((depth, called));
        false
    }

    /// How many functions have been made.
    pub fn made(&self) -> u64 {
        self.functions.len() as u64
    }

    /// Whether the interpreter has stopped at a call.
    pub fn has_stopped(&self) -> bool {
        self.stopped_at.is_some()
    }

    /// Compiled code can be entered where the interpreter stands.
    pub fn enters(&mut self) {
        for (_, called) in self.inside.iter().rev().take(CLOSE) {
            if let Some(count) = self.counts.get_mut(called) {
                count.in_vain = 0;
            }
        }
    }

    fn is_hot(&mut self, called: &Called, by_itself: bool, hot: u32) -> bool {
        if self.functions.contains_key(called) {
            return true;
        }
        if self.refused.contains(called) || self.functions.len() >= FUNCTIONS {
            return false;
        }
        if self.counts.len() >= MOST {
            self.counts.clear();
        }
        let count = self.counts.entry(called.clone()).or_default();
        let times = if by_itself { &mut count.by_itself } else { &mut count.in_vain };
        *times = times.saturating_add(1);
        *times >= hot
    }
}

impl Jit<'_> {
    /// The interpreter goes on from where a run has left compiled code.
    pub(super) fn watch_calls(&mut self) {
        let can = self.policy == Policy::Tracing && !self.tier0.goes_back;
        let early = can && self.engine.flips(Choice::Function);
        let calls = self.options.threshold.max(1).saturating_mul(CALLS);
        let hot = if early { 1 } else { self.heat.threshold_of_calls(calls) };
        self.calls.hot = can.then_some(hot);
        self.calls.inside.clear();
    }

    /// Carries out the call of a portal at which the interpreter has stopped, by a function if there can be one. Gives
    /// where the run goes on.
    pub(super) fn call_portal(&mut self, frames: Vec<eval::Frame>) -> Result<Next, JitError> {
        let Some((called, reds)) = self.calls.stopped_at.take() else { return Ok(Next::Frames(frames)) };
        let function = match self.calls.functions.get(&called) {
            Some(function) => Some(function.clone()),
            None => self.make_portal_function(called)?,
        };
        // Each run has local aggregates of its own: there may be too many inside of each other.
        let (Some(function), Some(activation)) = (function, self.code.engine.activation()) else {
            self.calls.passing = true;
            return Ok(Next::Frames(frames));
        };
        let within = self.enter_tier(Tier::Compiled);
        let ran = function.call_in(&activation, &reds)?;
        drop(within);
        Ok(match ran {
            Outcome::Returned(words) => {
                let evaluator = Evaluator::new(self.engine.program.module, self.engine.memory);
                Next::Frames(evaluator.returned(frames, &words)?)
            }
            Outcome::Trapped(trap) => {
                self.leave_slots(&frames);
                Next::Done(eval::Outcome::Trapped(trap))
            }
            Outcome::Exited(_) => unreachable!("functions that are called have no exits"),
        })
    }

    /// Makes a function of a portal for its greens; nothing where that can't be.
    fn make_portal_function(&mut self, called: Called) -> Result<Option<Rc<Entry>>, JitError> {
        if self.is_full() {
            return Ok(None);
        }
        let _making = self.enter_tier(Tier::Making);
        let begun = Instant::now();
        let key = match self.engine.function_of_portal(called.portal, &called.greens) {
            Ok(key) => key,
            Err(error) if error.is_limit() => {
                self.refused_ahead(GuestPosition::NONE, begun, error);
                self.calls.refused.insert(called);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        self.specialized(begun, Reason::HotCall);
        self.heat.made_function(FxBuildHasher.hash_one(&called));
        if !self.is_function_ready(&key)? {
            self.calls.refused.insert(called);
            return Ok(None);
        }
        let function = Rc::new(self.code.engine.entry(&key)?);
        self.calls.functions.insert(called, function.clone());
        Ok(Some(function))
    }
}
