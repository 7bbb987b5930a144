//! Disturbing runs in every way that must not matter: how the resume contract is tested (the book's chapter on
//! internals).
//!
//! The tracing policy is stopped at every one of its steps, and every guard of what it compiles is made to fail on its
//! first, second and hundredth execution; each time result, memory and trap must be those of the evaluator.

use crate::compiler::Compiler;
use crate::events::{Event, Reason};
use crate::forcing::{FORCED_AT, guards_of};
use crate::io::{self, Io};
use crate::jit::{JitOptions, MadeUp, Policy};
use crate::spec::{Ran, SpecFailure, interpret, spec};
use std::sync::atomic::{AtomicUsize, Ordering};
use timeshifter::optimize::Kind;

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
    /// How many of these failed in states made up for them.
    pub made_up: usize,
    /// In how many made-up states fragments were entered.
    pub states: usize,
}

impl Sweep {
    /// The executions on which guards are made to fail.
    pub const EXECUTIONS: [u64; 3] = FORCED_AT;

    /// Whether every guard that is reached failed whenever it was to, and every other one in a made-up state.
    pub fn is_complete(&self) -> bool {
        self.guards == self.forced && self.made_up == self.unreached.len()
    }

    /// Adds what came of other runs.
    fn add(&mut self, other: Sweep) {
        self.runs += other.runs;
        self.wrong.extend(other.wrong);
        for i in 0..FORCED_AT.len() {
            self.guards[i] += other.guards[i];
            self.forced[i] += other.forced[i];
        }
        self.unreached.extend(other.unreached);
        self.made_up += other.made_up;
        self.states += other.states;
    }

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
    with_kept_output(|| abort_everywhere_here(compiler, args, options))
}

fn abort_everywhere_here(compiler: &Compiler, args: &str, options: &JitOptions) -> Result<Sweep, SpecFailure> {
    let wanted = interpret(&mut compiler.clone(), args)?;
    let undisturbed = spec(&mut compiler.clone(), args, Policy::Tracing, options)?;
    let mut sweep = Sweep::default();
    sweep.compare("undisturbed", &wanted, Ok(&undisturbed.ran));
    let steps: Vec<u64> = (1..=undisturbed.stats.longest_trace).collect();
    let stopped = |e: &Event| e.reason == Reason::AbortAt;
    let sweeps = on_all_threads(&steps, |step| {
        let mut sweep = Sweep::default();
        let options = JitOptions { abort_at: Some(*step), ..options.clone() };
        let report = spec(&mut compiler.clone(), args, Policy::Tracing, &options);
        sweep.compare(&format!("abort-at={step}"), &wanted, report.as_ref().map(|r| &r.ran));
        if report.is_ok_and(|r| !r.events.iter().any(stopped)) {
            sweep.wrong.push(format!("abort-at={step} stops nothing"));
        }
        sweep
    });
    sweeps.into_iter().for_each(|other| sweep.add(other));
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
    with_kept_output(|| force_every_guard_here(compiler, args, options, only))
}

fn force_every_guard_here(
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
    let present = guards_of(&undisturbed.residual.module);
    if let Some(asked) = only
        && !present.contains(&asked.into())
        && !counts.contains_key(&asked.into())
    {
        return Err(SpecFailure::NoSuchGuard { asked, there: present.into_iter().collect() });
    }
    let unreached = present.into_iter().filter(|g| considered(g) && !counts.contains_key(g));
    let reached = counts.iter().filter(|(guard, _)| considered(guard));
    let failures: Vec<Failing> = reached
        .flat_map(|(guard, count)| Failing::all_of(*guard, *count))
        .chain(unreached.map(|guard| Failing { guard, how: How::MadeUp }))
        .collect();
    let sweeps = on_all_threads(&failures, |failing| failing.run(compiler, args, &options, &wanted));
    let mut sweep = Sweep::default();
    sweeps.into_iter().for_each(|other| sweep.add(other));
    Ok(sweep)
}

/// A guard, and when it is to fail.
struct Failing {
    guard: i64,
    how: How,
}

enum How {
    /// On each of [`FORCED_AT`], as far as the run then comes to it.
    Always,
    /// On one of these, by number.
    On(usize),
    /// In made-up states.
    MadeUp,
    /// The same, where one check stands for those of several indices and the guard is only behind that: with a check
    /// for each index.
    MadeUpEach,
}

impl Failing {
    /// All failures of a guard that is executed `count` times. One that fails early may not be reached again, so each
    /// execution has a run of its own, too.
    fn all_of(guard: i64, count: u64) -> impl Iterator<Item = Failing> {
        let on = (0..FORCED_AT.len()).filter(move |i| count >= FORCED_AT[*i]).map(How::On);
        std::iter::once(How::Always).chain(on).map(move |how| Failing { guard, how })
    }

    fn run(&self, compiler: &Compiler, args: &str, given: &JitOptions, wanted: &Ran) -> Sweep {
        let guard = self.guard;
        let options = JitOptions { force_guard: u32::try_from(guard).ok(), ..given.clone() };
        let (options, name) = match self.how {
            How::Always => (options, format!("force-guard={guard}")),
            How::On(i) => {
                let k = FORCED_AT[i];
                (JitOptions { force_at: vec![k], ..options }, format!("force-guard={guard}, execution {k}"))
            }
            How::MadeUp => {
                let options = JitOptions { force_at: vec![1], make_up: true, ..options };
                (options, format!("force-guard={guard}, made up"))
            }
            How::MadeUpEach => {
                let rewrites_off = [Kind::MergedChecks, Kind::Unrolled].into_iter().collect();
                let options = JitOptions { force_at: vec![1], make_up: true, rewrites_off, ..options };
                (options, format!("force-guard={guard}, made up, each check by itself"))
            }
        };
        let report = spec(&mut compiler.clone(), args, Policy::Tracing, &options);
        let mut sweep = Sweep::default();
        sweep.compare(&name, wanted, report.as_ref().map(|r| &r.ran));
        let (made_up, forced) = report.map(|r| (r.made_up, r.guards.unwrap_or_default().1)).unwrap_or_default();
        match self.how {
            How::Always => {}
            How::On(i) => {
                sweep.guards[i] += 1;
                sweep.forced[i] += usize::from(forced.contains(&FORCED_AT[i]));
            }
            How::MadeUp | How::MadeUpEach => {
                let MadeUp { states, runs, forced, wrong } = made_up.unwrap_or_default();
                sweep.runs += runs;
                sweep.states += states;
                sweep.wrong.extend(wrong);
                if !forced && matches!(self.how, How::MadeUp) {
                    sweep.add(Failing { guard, how: How::MadeUpEach }.run(compiler, args, given, wanted));
                } else {
                    sweep.unreached.push(guard);
                    sweep.made_up += usize::from(forced);
                }
            }
        }
        sweep
    }
}

/// The stack of a thread that runs guest programs, in bytes.
const STACK: usize = 64 << 20;

/// Runs can only be compared where output is kept. Where it isn't, they have no input.
fn with_kept_output<R>(work: impl FnOnce() -> R) -> R {
    io::with(Io::bytes(io::input().unwrap_or_default()), work).0
}

/// Runs `work` on each item, on as many threads as there are processors, all with the input of this one. Gives the
/// results in order.
fn on_all_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let input = io::input().unwrap_or_default();
    let take = || {
        let mut done = Vec::new();
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(at)
        {
            done.push((at, io::with(Io::bytes(input.clone()), || work(item)).0));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take);
        let spawned: Vec<_> = (0..threads).filter_map(|n| spawn(n).ok()).collect();
        // Where no thread is to be had, this one does it all.
        let mut done = if spawned.is_empty() { take() } else { Vec::new() };
        for thread in spawned {
            match thread.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
