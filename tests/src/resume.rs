//! The resume contract: stopping the tracing anywhere and failing any guard changes nothing that can be seen.
//!
//! A trace is stopped at its step N, for every N; the run goes on in the interpreter. A guard is made to fail on its
//! first, second or hundredth execution, for every guard. Each time results, memory and traps are the oracle's, so an effect is
//! there exactly once.

use crate::Case;
use crate::equation::{Difference, compare_jit, compiler, difference, failed, is_endless, limit, small_options};
use crate::oracle::Stage;
use flowgraph::memory::Memory;
use hueshift::{Compiler, GuardCounts, Jit, JitError, JitOptions};
use std::collections::BTreeMap;
use timeshifter::specialize::Event;

/// The executions on which guards are made to fail.
pub const EXECUTIONS: [u64; 3] = [1, 2, 100];

/// What came of disturbing a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbed {
    /// How many steps traces were stopped at.
    pub aborted: usize,
    /// For each of [`EXECUTIONS`], the guards that an undisturbed driver executes at least so often.
    pub guards: [usize; 3],
    /// For each of these, the guards that failed on that execution.
    pub forced: [usize; 3],
}

impl Disturbed {
    /// Adds what came of another case.
    pub fn add(&mut self, other: &Disturbed) {
        self.aborted += other.aborted;
        for i in 0..EXECUTIONS.len() {
            self.guards[i] += other.guards[i];
            self.forced[i] += other.forced[i];
        }
    }
}

/// Disturbs a case at each `stride`-th step and each `stride`-th guard.
///
/// # Errors
/// The first difference.
pub fn disturb(case: &Case, stride: usize) -> Result<Disturbed, Difference> {
    let (stage, mut memory) = Stage::new(case).map_err(|what| difference("the oracle", what, &case.module))?;
    let mut disturbed = Disturbed::default();
    let Some(compiler) = compiler(&stage, case)? else { return Ok(disturbed) };
    let Some(first) = stage.that_end().next() else { return Ok(disturbed) };
    let course = Course { stage: &stage, compiler: &compiler, first };
    for step in (1..).step_by(stride) {
        let options = JitOptions { abort_at: Some(step), ..small_options() };
        match course.run(&mut memory, options, &format!("stopped at step {step}"))? {
            Some(ran) if ran.aborted => disturbed.aborted += 1,
            Some(_) => break,
            None => return Ok(disturbed),
        }
    }
    let options = JitOptions { count_guards: true, ..small_options() };
    let Some(undisturbed) = course.run(&mut memory, options, "counting guards")? else { return Ok(disturbed) };
    for (guard, count) in undisturbed.guards.into_iter().step_by(stride) {
        for (i, k) in EXECUTIONS.into_iter().enumerate().filter(|(_, k)| count >= *k) {
            let force_guard = u32::try_from(guard).ok();
            let options = JitOptions { force_guard, force_at: vec![k], ..small_options() };
            let name = format!("guard {guard} forced on execution {k}");
            disturbed.guards[i] += 1;
            let ran = course.run(&mut memory, options, &name)?;
            disturbed.forced[i] += usize::from(ran.is_some_and(|ran| ran.forced.contains(&k)));
        }
    }
    Ok(disturbed)
}

/// What a driver does: one run is traced, then all are run, so that bridges grow.
struct Course<'c> {
    stage: &'c Stage,
    compiler: &'c Compiler,
    first: usize,
}

struct Ran {
    aborted: bool,
    guards: BTreeMap<i64, u64>,
    forced: Vec<u64>,
}

impl Course<'_> {
    /// `None` if there are endless green loops.
    fn run(&self, memory: &mut Memory, options: JitOptions, name: &str) -> Result<Option<Ran>, Difference> {
        let gave_up = |e: &JitError| failed(name, e, &self.compiler.module);
        let endless = |e: &JitError| matches!(e, JitError::Specialize(e) if is_endless(e));
        let mut jit = Jit::new(self.compiler, memory, options).map_err(|e| gave_up(&e))?;
        limit(jit.engine());
        self.stage.refresh(self.first, jit.memory());
        let traced = jit.trace(&self.stage.arguments(self.compiler), &self.stage.words(self.first));
        let outcome = match traced {
            Ok(outcome) => outcome,
            Err(e) if endless(&e) => return Ok(None),
            Err(e) => return Err(gave_up(&e)),
        };
        compare_jit(self.stage, self.first, name, &outcome, &mut jit)?;
        for _ in 0..3 {
            for run in self.stage.that_end() {
                self.stage.refresh(run, jit.memory());
                let outcome = match jit.run(&self.stage.unknown_words(run)) {
                    Ok(outcome) => outcome,
                    Err(e) if endless(&e) => return Ok(None),
                    Err(e) => return Err(gave_up(&e)),
                };
                compare_jit(self.stage, run, name, &outcome, &mut jit)?;
            }
        }
        Ok(Some(Ran {
            aborted: jit.engine().events.iter().any(|e| matches!(e, Event::TraceAborted { .. })),
            guards: jit.guards().map(GuardCounts::counts).unwrap_or_default(),
            forced: jit.guards().map(|g| g.forced().at).unwrap_or_default(),
        }))
    }
}
