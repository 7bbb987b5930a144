//! Where the interpreter behind exits has been for long and has found no code to enter, machine code of the interpreter
//! itself goes on for a while: it takes a hundredth of the time.
//!
//! That is for runs of whole programs, which have no tier 0 that rustc has made. The code is made of the compiler
//! graphs as they are, and calls the host at merge points. A portal that stands at its merge point is called with the
//! words that it has there, which only some can be ([`comes_back`]); after some thousand rounds the host has it return,
//! and the interpreter goes on at that merge point, to see for a few rounds whether anything is hot. So nothing of a
//! run may lie between the call and the merge point that ends it: a portal that calls portals stays in the interpreter.

use super::{Jit, JitError, Next, residual_tier};
use crate::again::comes_back;
use crate::clock::Tier;
use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::{Graph, Word};
use indexmap::IndexMap;
use jitcodegen::{Answer, Entry, Outcome};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use timeshifter::specialize::Choice;

/// So many merge points the interpreter goes by before machine code goes on for it.
const SAMPLE: u64 = 16;

/// So many merge points machine code goes by at first, and at most: twice as many each time that there is nothing to
/// enter behind them.
const FIRST: u64 = 1 << 10;
const MOST: u64 = 1 << 14;

/// Machine code of the interpreter.
#[derive(Default)]
pub(super) struct Forward {
    /// The steps that the interpreter has taken in all.
    steps: u64,
    code: Option<jitcodegen::Engine>,
    /// By the number of a portal's graph: its code, if there can be any.
    portals: FxHashMap<usize, Option<Entry>>,
    /// The values at the merge point where it has stopped.
    stopped: Rc<RefCell<Option<Vec<Word>>>>,
}

/// One stretch in the interpreter, between two stays in compiled code.
pub(super) struct Stretch {
    /// The merge points that it goes by yet before machine code does.
    sample: u64,
    /// Those that machine code goes by then.
    rounds: u64,
    /// Those that it still goes by of these, since the portal that it has gone on with returned before.
    left: u64,
}

impl Stretch {
    pub fn new() -> Stretch {
        Stretch { sample: SAMPLE, rounds: FIRST, left: 0 }
    }
}

impl Jit<'_> {
    /// The interpreter has come to a merge point, by so many steps.
    pub(super) fn has_stepped(&mut self, steps: u64) {
        self.stats.interpreted += steps;
        self.forward.steps += steps;
        self.has_cost(steps);
    }

    /// Has machine code of the interpreter go on with a run that stands at these frames and can't enter compiled code,
    /// if it is time for that. Gives where the run goes on then.
    pub(super) fn go_forward(
        &mut self,
        frames: &mut Vec<eval::Frame>,
        stretch: &mut Stretch,
    ) -> Result<Option<Next>, JitError> {
        if self.tier0.goes_back || self.options.make_up || self.options.forward == 0 {
            return Ok(None);
        }
        let flips = self.engine.flips(Choice::Forward);
        if !flips && self.forward.steps < self.options.forward {
            return Ok(None);
        }
        if !flips && stretch.left == 0 && stretch.sample > 0 {
            stretch.sample -= 1;
            return Ok(None);
        }
        let Some(frame) = frames.last().filter(|frame| frame.slots.is_empty()) else { return Ok(None) };
        let Some((leaves, values)) = self.engine.portal_values(frame) else { return Ok(None) };
        let Some(entry) = self.portal_code(frame.graph)? else { return Ok(None) };
        let words: Vec<Word> = values.iter().take(leaves).map(|value| frame.regs[value.index()]).collect();
        let rounds = match stretch.left {
            _ if flips => 1 + stretch.rounds % 7,
            0 => stretch.rounds,
            left => left,
        };
        // The first one is where the run stands.
        self.forward.code.iter().for_each(|code| code.skip_merge_points(rounds));
        self.stats.forwarded += 1;
        let within = self.enter_tier(Tier::Tier0);
        let ran = entry.call(&words)?;
        drop(within);
        let stopped = self.forward.stopped.take();
        stretch.left = match (&stopped, &self.forward.code) {
            (None, Some(code)) => code.merge_points_left(),
            _ => 0,
        };
        if stretch.left == 0 {
            *stretch = Stretch { sample: SAMPLE, rounds: (2 * stretch.rounds).min(MOST), left: 0 };
        }
        match (ran, stopped) {
            (Outcome::Trapped(trap), _) => Ok(Some(Next::Done(eval::Outcome::Trapped(trap)))),
            (_, Some(words)) => {
                if let Some(frame) = frames.last_mut() {
                    values.iter().zip(words).for_each(|(value, word)| frame.regs[value.index()] = word);
                }
                Ok(None)
            }
            (Outcome::Returned(words), None) => {
                frames.pop();
                if frames.is_empty() {
                    return Ok(Some(Next::Done(eval::Outcome::Returned(words))));
                }
                let callers = std::mem::take(frames);
                let evaluator = Evaluator::new(self.engine.program.module, self.engine.memory);
                Ok(Some(Next::Frames(evaluator.returned(callers, &words)?)))
            }
            (Outcome::Exited(_), None) => unreachable!("the interpreter has no exits"),
        }
    }

    /// The machine code of a portal, by the number of its graph.
    fn portal_code(&mut self, portal: usize) -> Result<Option<Entry>, JitError> {
        if let Some(entry) = self.forward.portals.get(&portal) {
            return Ok(entry.clone());
        }
        let _making = self.enter_tier(Tier::Making);
        let entry = match self.compile_portal(portal) {
            Ok(entry) => entry,
            // It is too large, say: the interpreter goes on.
            Err(JitError::Codegen(error)) => {
                self.refused_code(&error);
                None
            }
            Err(error) => return Err(error),
        };
        self.forward.portals.insert(portal, entry.clone());
        Ok(entry)
    }

    fn compile_portal(&mut self, portal: usize) -> Result<Option<Entry>, JitError> {
        let module = self.engine.program.module;
        let graphs = &module.graphs;
        let Some((key, graph)) = graphs.get_index(portal).filter(|(_, graph)| comes_back(graph)) else {
            return Ok(None);
        };
        let mut found: IndexMap<&str, &Graph> = IndexMap::from_iter([(key.as_str(), graph)]);
        let mut at = 0;
        while let Some((_, graph)) = found.get_index(at) {
            for callee in graph.called() {
                match graphs.get(callee) {
                    Some(graph) if graph.attributes.portal.is_none() => _ = found.insert(callee, graph),
                    // What it calls would come to merge points of its own.
                    _ => return Ok(None),
                }
            }
            at += 1;
        }
        let code = match &mut self.forward.code {
            Some(code) => code,
            None => {
                let code = jitcodegen::Engine::new(jitcodegen::Options {
                    tier: jitcodegen::Tier { merge_points: true, jitted: true, ..residual_tier() },
                    bounds: self.options.check_accesses.then(|| self.engine.memory.bounds()),
                    opt_level: self.options.opt_level,
                    ..jitcodegen::Options::default()
                })?;
                let code = self.forward.code.insert(code);
                let stopped = self.forward.stopped.clone();
                code.set_merge_hook(Some(Rc::new(move |_, values: &mut [Word]| {
                    stopped.replace(Some(values.to_vec()));
                    // Nobody looks at what it returns.
                    Answer::Return(Vec::new())
                })));
                code
            }
        };
        let new: Vec<&Graph> = found.values().copied().filter(|graph| !code.is_compiled(&graph.key)).collect();
        code.compile_more(&new, self.engine.memory)?;
        Ok(Some(code.entry(key)?))
    }
}
