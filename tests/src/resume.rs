//! The resume contract: stopping the tracing anywhere and failing any guard changes nothing that can be seen.
//!
//! A trace is stopped at its step N, for every N; the run goes on in the interpreter. A guard is made to fail on its
//! first, second or hundredth execution, for every guard; the fragment of one that is never reached is entered in
//! states made up for it. Each time results, memory, traps and output are the oracle's, so an effect is there exactly
//! once.

use crate::Case;
use crate::Switches;
use crate::equation::{Difference, compare_jit, compiler, difference, failed, is_endless};
use crate::oracle::{Stage, on_input};
use flowgraph::eval;
use flowgraph::memory::Memory;
use hueshift::events::Reason;
use hueshift::{Compiler, GuardCounts, Jit, JitError, JitOptions, MadeUp, guards_of};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The guards that no run of it reaches.
    pub unreached: usize,
    /// How many of these failed in made-up states.
    pub made_up: usize,
    /// In how many made-up states.
    pub states: usize,
}

impl Disturbed {
    /// Whether every guard that is reached failed whenever it was to, and every other one in a made-up state.
    pub fn is_complete(&self) -> bool {
        self.guards == self.forced && self.made_up == self.unreached
    }

    /// Adds what came of another case.
    pub fn add(&mut self, other: &Disturbed) {
        self.aborted += other.aborted;
        for i in 0..EXECUTIONS.len() {
            self.guards[i] += other.guards[i];
            self.forced[i] += other.forced[i];
        }
        self.unreached += other.unreached;
        self.made_up += other.made_up;
        self.states += other.states;
    }
}

/// Disturbs a case at each `stride`-th step and each `stride`-th guard.
///
/// # Errors
/// The first difference.
pub fn disturb(case: &Case, stride: usize) -> Result<Disturbed, Difference> {
    on_input(case, || disturb_here(case, stride))
}

fn disturb_here(case: &Case, stride: usize) -> Result<Disturbed, Difference> {
    let (stage, mut memory) = Stage::new(case).map_err(|what| difference("the oracle", what, &case.module))?;
    let mut disturbed = Disturbed::default();
    let Some(compiler) = compiler(&stage, case)? else { return Ok(disturbed) };
    let Some(first) = stage.that_end().next() else { return Ok(disturbed) };
    // Disturbed runs are compared with one that isn't.
    let switches = &Switches { chaos: 0, ..case.switches };
    let course = Course { stage: &stage, compiler: &compiler, switches, first };
    for step in (1..).step_by(stride) {
        let options = JitOptions { abort_at: Some(step), ..switches.options() };
        match course.run(&mut memory, options, &format!("stopped at step {step}"))? {
            Some(ran) if ran.aborted => disturbed.aborted += 1,
            Some(_) => break,
            None => return Ok(disturbed),
        }
    }
    let options = JitOptions { count_guards: true, ..switches.options() };
    let Some(undisturbed) = course.run(&mut memory, options, "counting guards")? else { return Ok(disturbed) };
    let unreached: Vec<i64> =
        undisturbed.present.iter().filter(|g| !undisturbed.guards.contains_key(g)).copied().collect();
    for (guard, count) in undisturbed.guards.into_iter().step_by(stride) {
        for (i, k) in EXECUTIONS.into_iter().enumerate().filter(|(_, k)| count >= *k) {
            let force_guard = u32::try_from(guard).ok();
            let options = JitOptions { force_guard, force_at: vec![k], ..switches.options() };
            let name = format!("guard {guard} forced on execution {k}");
            disturbed.guards[i] += 1;
            let ran = course.run(&mut memory, options, &name)?;
            disturbed.forced[i] += usize::from(ran.is_some_and(|ran| ran.forced.contains(&k)));
        }
    }
    for guard in unreached.into_iter().step_by(stride) {
        let force_guard = u32::try_from(guard).ok();
        let options = JitOptions { force_guard, force_at: vec![1], make_up: true, ..switches.options() };
        let name = format!("guard {guard} forced in made-up states");
        disturbed.unreached += 1;
        let Some(made_up) = course.run(&mut memory, options, &name)?.and_then(|ran| ran.made_up) else { continue };
        if let Some(wrong) = made_up.wrong.first() {
            return Err(difference(&name, wrong.clone(), &compiler.module));
        }
        disturbed.made_up += usize::from(made_up.forced);
        disturbed.states += made_up.states;
    }
    Ok(disturbed)
}

/// What a driver does: one run is traced, then all are run, so that bridges grow.
struct Course<'c> {
    stage: &'c Stage,
    compiler: &'c Compiler,
    switches: &'c Switches,
    first: usize,
}

struct Ran {
    aborted: bool,
    guards: BTreeMap<i64, u64>,
    /// The guards of all that was compiled.
    present: BTreeSet<i64>,
    forced: Vec<u64>,
    made_up: Option<MadeUp>,
}

impl Course<'_> {
    /// `None` if there are endless green loops.
    fn run(&self, memory: &mut Memory, options: JitOptions, name: &str) -> Result<Option<Ran>, Difference> {
        let gave_up = |e: &JitError| failed(name, e, &self.compiler.module);
        let endless = |e: &JitError| matches!(e, JitError::Specialize(e) if is_endless(e));
        let guard = options.force_guard.filter(|_| options.make_up);
        let mut jit = Jit::new(self.compiler, memory, options).map_err(|e| gave_up(&e))?;
        // Of which run the observed memory is, there is no telling: so it is that of all.
        if let Some(guard) = guard {
            let observe = |outcome: &eval::Outcome, memory: &Memory| {
                let seen: Vec<_> = self.stage.that_end().map(|run| self.stage.observe(run, outcome, memory)).collect();
                format!("{seen:?}")
            };
            jit.make_up(guard, Box::new(observe));
        }
        self.switches.limit(jit.engine());
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
            aborted: jit.events().iter().any(|event| event.reason == Reason::AbortAt),
            guards: jit.guards().map(GuardCounts::counts).unwrap_or_default(),
            present: jit.residual().map(|r| guards_of(&r.module)).unwrap_or_default(),
            forced: jit.guards().map(|g| g.forced().at).unwrap_or_default(),
            made_up: jit.made_up().cloned(),
        }))
    }
}
