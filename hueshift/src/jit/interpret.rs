//! The interpreter behind exits: it goes on from frames, to where compiled code can be entered or is worth making.

use super::calls::Calls;
use super::forward::Stretch;
use super::heat::is_due;
use super::made_up::Start;
use super::{Jit, JitError, Next, Policy};
use crate::clock::Tier;
use crate::events::Reason;
use flowgraph::eval::{self, CallAnswer, Evaluator, Hooks, MergeAnswer, MergePoint};
use flowgraph::ir::{Graph, Op, Opcode, Word};
use flowgraph::memory::Memory;
use std::time::Instant;
use timeshifter::specialize::{Choice, Entrance, GraphIx, GuestPosition, Program};

/// The steps that it takes to have tier 0 finish a portal inside of a run, and to go on behind it.
const STEPS_OF_A_PORTAL: u64 = 100;

/// Ahead of time, a place to which the interpreter has come back so often, by a backward jump of the guest, without any
/// code that it could enter, is worth code of its own.
const EAGER_HEAT: u32 = 1000;

impl Jit<'_> {
    /// Executes the compiler graphs from these frames until compiled code can be entered, or to the end. Where a
    /// backward jump of the guest has become hot, a trace begins.
    pub(super) fn interpret(&mut self, mut frames: Vec<eval::Frame>) -> Result<Next, JitError> {
        let module = self.engine.program.module;
        let mut stretch = Stretch::new();
        self.watch_calls();
        loop {
            let jumped = !self.engine.program.marks_jumps();
            let within = self.enter_tier(Tier::Blackholing);
            let (program, stop) = (&self.engine.program, self.options.reenter);
            let calls = &mut self.calls;
            let hooks = StopAtMergePoints { program, calls, stop, jumped, called: false };
            let scratch = std::mem::take(&mut self.scratch);
            let evaluator = Evaluator::new(module, self.engine.memory).with_scratch(scratch);
            let mut evaluator = evaluator.with_hooks(hooks);
            evaluator.jitted = true;
            let resumed = evaluator.resume(frames);
            drop(within);
            let steps = u64::MAX - evaluator.fuel;
            let (jumped, called) = (evaluator.hooks.jumped, evaluator.hooks.called);
            self.scratch = evaluator.scratch;
            self.has_stepped(steps);
            frames = match resumed? {
                eval::Outcome::Stopped { frames } => frames,
                outcome => return Ok(Next::Done(outcome)),
            };
            if self.calls.has_stopped() {
                frames = match self.call_portal(frames)? {
                    Next::Frames(frames) => frames,
                    next => return Ok(next),
                };
                continue;
            }
            // No version has so many frames, and each is looked at for all that is asked below.
            if frames.len() > self.engine.limits.inline_depth.max(DEEP) {
                continue;
            }
            // A long call stays in here: what is compiled aside must come to be used in it.
            self.install_finished(false)?;
            if self.is_to_start_over() {
                return Ok(Next::Anew(frames));
            }
            let mut traced = false;
            if self.goes_to_and_fro()
                && let Some(next) = self.back_to_tier0(&mut frames)
            {
                return Ok(next);
            }
            if !self.engine.flips(Choice::Reenter)
                && let Some(Entrance { fragment, words, .. }) = self.engine.find_entry(&frames)?
            {
                self.calls.enters();
                self.heat.enters(&frames);
                // So far it may only be part of a graph that it was linked into.
                self.compile_new(&fragment)?;
                if self.code.is_ready(&fragment) {
                    self.leave_slots(&frames);
                    return Ok(Next::Code(fragment, words));
                }
                traced = true;
            }
            if let Some(next) = self.back_to_tier0(&mut frames) {
                return Ok(next);
            }
            if !traced
                && self.heat.comes_by(jumped, called)
                && let Some(next) = self.may_be_hot(&frames)?
            {
                return Ok(next);
            }
            match self.go_forward(&mut frames, &mut stretch)? {
                Some(Next::Frames(behind)) => frames = behind,
                Some(next) => return Ok(next),
                None => {}
            }
        }
    }

    /// The interpreter has come to a place that counts, where there is no code. Gives where the run goes on if some is
    /// made.
    fn may_be_hot(&mut self, frames: &[eval::Frame]) -> Result<Option<Next>, JitError> {
        if self.policy == Policy::Eager {
            return self.specialize_from(frames);
        }
        if !self.may_be_traced(frames) {
            self.left_alone(frames);
            return Ok(None);
        }
        match self.is_hot(frames) {
            Some(times) => self.trace_frames(frames, Some(times)),
            None => Ok(None),
        }
    }

    /// Where tier 0 goes on from these frames, which stand at a merge point, if it can.
    fn back_to_tier0(&mut self, frames: &mut Vec<eval::Frame>) -> Option<Next> {
        let leaves = !self.engine.flips(Choice::Leave);
        if let Some(portal) = self.tier0.portal.as_ref().filter(|_| leaves)
            && let Some(words) = self.engine.leave(portal, frames)
        {
            return Some(Next::Tier0(words));
        }
        let (function, words) = self.engine.inner_portal(frames)?;
        let function = *self.tier0.inner_portals.get(function).filter(|_| leaves)?;
        self.has_cost(STEPS_OF_A_PORTAL);
        Some(Next::Inside(std::mem::take(frames), function, words))
    }

    /// Traces on from where the interpreter stands, and compiles the trace. Gives where the run goes on, if anything
    /// can be traced from there. It has come there so often, if that isn't counted by tier 0.
    pub(super) fn trace_frames(
        &mut self,
        frames: &[eval::Frame],
        times: Option<u32>,
    ) -> Result<Option<Next>, JitError> {
        if self.is_full() {
            return Ok(None);
        }
        let _making = self.enter_tier(Tier::Making);
        let beginning = self.beginning(|| Start::Frames(frames.to_vec()));
        // The loop at the merge point is made right behind what leads there.
        let (begun, from) = (Instant::now(), self.engine.fragments.len() + 1);
        let Some((key, words, traced)) = self.engine.trace_frames(frames)? else { return Ok(None) };
        self.teller.came(times);
        let end = self.follow_to_its_end(traced, begun)?;
        self.stats.traces += 1;
        self.leave_slots(frames);
        self.compile_new(&key)?;
        self.rehearse(beginning, &key, &words)?;
        Ok(Some(self.after_trace(from, end)))
    }

    /// Specializes on eagerly from where the interpreter has come to as often as is worth that, where no code of before
    /// can be entered. Gives where the run goes on, unless it meets a limit.
    fn specialize_from(&mut self, frames: &[eval::Frame]) -> Result<Option<Next>, JitError> {
        let count = self.heat.count(&self.engine.position_of(frames));
        let is_hot = is_due(count, EAGER_HEAT) || count < EAGER_HEAT && self.engine.flips(Choice::Hot);
        if !is_hot || self.is_full() || !self.may_be_traced(frames) {
            return Ok(None);
        }
        let _making = self.enter_tier(Tier::Making);
        let begun = Instant::now();
        self.engine.memory.open_foreign(false);
        let specialized = self.engine.specialize_frames(frames);
        self.engine.memory.open_foreign(true);
        let (key, words) = match specialized {
            Ok(Some(specialized)) => specialized,
            Ok(None) => return Ok(None),
            Err(error) if error.is_limit() => {
                self.refused_ahead(GuestPosition::NONE, begun, error);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        self.specialized(begun, Reason::HotLoop);
        match self.compile_new(&key) {
            // It is too large for the code generator: the interpreter goes on.
            Err(JitError::Codegen(error)) => {
                self.refused_code(&error);
                return Ok(None);
            }
            done => done?,
        }
        self.leave_slots(frames);
        Ok(Some(Next::Code(key, words)))
    }

    /// Compiled code goes on from these frames: their local aggregates stay to the end of the run.
    pub(super) fn leave_slots(&mut self, frames: &[eval::Frame]) {
        self.left_slots.extend(frames.iter().flat_map(|f| &f.slots));
    }

    /// Functions that aren't looked into, and what they call, have no colors: they can only be interpreted.
    fn may_be_traced(&self, frames: &[eval::Frame]) -> bool {
        let graphs = &self.engine.program.module.graphs;
        frames.iter().all(|f| graphs.get_index(f.graph).is_some_and(|(_, graph)| hintannotator::has_colors(graph)))
    }

    /// Whether to trace from where the interpreter stands, where it can't enter compiled code. Gives how often it has
    /// come.
    fn is_hot(&mut self, frames: &[eval::Frame]) -> Option<u32> {
        let position = self.engine.position_of(frames);
        let threshold = self.heat.threshold(&position, self.options.threshold);
        let count = self.heat.count(&position);
        let hot = is_due(count, threshold) || count < threshold && self.engine.flips(Choice::Hot);
        if self.policy != Policy::Tracing || !hot {
            return None;
        }
        self.heat.traced(&position);
        Some(count)
    }
}

/// Inside of more calls than these, or than are copied into each other, the interpreter goes on by itself.
const DEEP: usize = 1000;

/// Ends an interpreted run at every merge point, to see whether compiled code can be entered there.
struct StopAtMergePoints<'a, 'm> {
    program: &'a Program<'m>,
    calls: &'a mut Calls,
    stop: bool,
    /// A backward jump of the guest has been seen.
    jumped: bool,
    /// The call of a portal has.
    called: bool,
}

impl Hooks for StopAtMergePoints<'_, '_> {
    fn call(&mut self, depth: usize, callee: &str, args: &[Word], _memory: &mut Memory) -> CallAnswer {
        let is_portal = |ix: &GraphIx| self.program.graph(*ix).attributes.portal.is_some();
        let Some(portal) = self.program.find(callee).filter(is_portal) else { return CallAnswer::Enter };
        self.called = true;
        if self.calls.comes_by(self.program, depth, portal, args) { CallAnswer::Stop } else { CallAnswer::Enter }
    }

    fn merge_point(&mut self, _at: MergePoint<'_>, _memory: &mut Memory) -> MergeAnswer {
        if self.stop { MergeAnswer::Stop } else { MergeAnswer::Continue }
    }

    fn op(&mut self, _graph: &Graph, _frame: &eval::Frame, op: &Op) {
        self.jumped |= op.opcode == Opcode::CanEnterJit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgraph::text::parse_module;
    use timeshifter::specialize::Analyses;

    /// Of calls of portals only a part is counted where there are very many: that needs to know them from jumps.
    #[test]
    fn calls_of_portals_are_no_jumps() {
        let text = "module compiler\nfile \"one.rs\"\n\ngraph p(x: int) -> int {\n    function p\n    attributes portal(greens(0), \
                    reds())\nb0(v0: int):\n    return v0\n}\n\ngraph f(x: int) -> int {\n    function f\nb0(v0: int):\n    \
                    return v0\n}\n";
        let module = parse_module(text).expect("a module");
        let analyses = Analyses::of(&module);
        let program = Program::load(&module, &analyses).expect("a program");
        let calls = &mut Calls::default();
        let mut hooks = StopAtMergePoints { program: &program, calls, stop: true, jumped: false, called: false };
        let mut memory = Memory::default();
        hooks.call(1, "f", &[], &mut memory);
        assert!(!hooks.jumped && !hooks.called);
        hooks.call(1, "p", &[], &mut memory);
        assert!(!hooks.jumped && hooks.called);
    }
}
