//! Disturbing runs in every way that must not matter: how the resume contract is tested (the book's chapter on internals).
//!
//! The tracing policy is stopped at every one of its steps, and every guard of what it compiles is made to fail on its
//! first, second and hundredth execution; each time result, memory and trap must be those of the evaluator.

use crate::compiler::Compiler;
use crate::forcing::{FORCED_AT, guards};
use crate::jit::{JitOptions, Policy};
use crate::spec::{Ran, SpecFailure, interpret, spec};
use std::collections::BTreeSet;
use timeshifter::specialize::Event;

/// What came of disturbing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// How many runs there were.
    pub runs: usize,
    /// What differed, a line for each run that did.
    pub wrong: Vec<String>,
    /// For each of [`Sweep::EXECUTIONS`], how many guards an undisturbed run executes at least so often.
    pub guards: [usize; 3],
    /// For each of these, how many guards failed on that execution.
    pub forced: [usize; 3],
    /// The guards that an undisturbed run doesn't reach.
    pub unreached: Vec<i64>,
}

impl Sweep {
    /// The executions on which guards are made to fail.
    pub const EXECUTIONS: [u64; 3] = FORCED_AT;

    fn compare(&mut self, how: &str, wanted: &Ran, got: Result<&Ran, &SpecFailure>) {
        self.runs += 1;
        match got {
            Ok(ran) if ran.agrees(wanted) => {}
            Ok(ran) => self.wrong.push(format!("{how}: {ran:?}, wanted {wanted:?}")),
            Err(error) => self.wrong.push(format!("{how}: {error}")),
        }
    }
}

/// Stops the tracing of an entry at its first step, its second, and so on until it isn't stopped any more.
///
/// # Errors
/// If the undisturbed run can't be carried out.
pub fn abort_everywhere(compiler: &Compiler, args: &str, options: &JitOptions) -> Result<Sweep, SpecFailure> {
    let wanted = interpret(&mut compiler.clone(), args)?;
    let mut sweep = Sweep::default();
    for step in 1.. {
        let options = JitOptions { abort_at: Some(step), ..options.clone() };
        let report = spec(&mut compiler.clone(), args, Policy::Tracing, &options);
        sweep.compare(&format!("abort-at={step}"), &wanted, report.as_ref().map(|r| &r.ran));
        let stopped = |r: &crate::spec::Report| r.events.iter().any(|e| matches!(e, Event::TraceAborted { .. }));
        if !report.as_ref().is_ok_and(stopped) {
            break;
        }
    }
    Ok(sweep)
}

/// Makes guards of an entry's compiled trace fail: all, or just the one given.
///
/// # Errors
/// If the undisturbed run can't be carried out.
pub fn force_every_guard(
    compiler: &Compiler,
    args: &str,
    options: &JitOptions,
    only: Option<u32>,
) -> Result<Sweep, SpecFailure> {
    let wanted = interpret(&mut compiler.clone(), args)?;
    let options = JitOptions { count_guards: true, ..options.clone() };
    let undisturbed = spec(&mut compiler.clone(), args, Policy::Tracing, &options)?;
    let (counts, _) = undisturbed.guards.clone().unwrap_or_default();
    let considered = |guard: &i64| only.is_none_or(|o| i64::from(o) == *guard);
    let mut sweep = Sweep::default();
    let present: BTreeSet<i64> = undisturbed.residual.module.graphs.values().flat_map(guards).collect();
    sweep.unreached = present.into_iter().filter(|g| *g >= 0 && considered(g) && !counts.contains_key(g)).collect();
    for (guard, count) in counts.iter().filter(|(guard, _)| considered(guard)) {
        let force_guard = u32::try_from(*guard).ok();
        let options = JitOptions { force_guard, ..options.clone() };
        let report = spec(&mut compiler.clone(), args, Policy::Tracing, &options);
        sweep.compare(&format!("force-guard={guard}"), &wanted, report.as_ref().map(|r| &r.ran));
        // A guard that fails early may not be reached again, so each of these executions has a run of its own, too.
        for (i, k) in FORCED_AT.into_iter().enumerate().filter(|(_, k)| count >= k) {
            let options = JitOptions { force_at: vec![k], ..options.clone() };
            let report = spec(&mut compiler.clone(), args, Policy::Tracing, &options);
            sweep.compare(&format!("force-guard={guard}, execution {k}"), &wanted, report.as_ref().map(|r| &r.ran));
            let forced = report.ok().and_then(|r| r.guards).map(|g| g.1).unwrap_or_default();
            sweep.guards[i] += 1;
            sweep.forced[i] += usize::from(forced.contains(&k));
        }
    }
    Ok(sweep)
}
