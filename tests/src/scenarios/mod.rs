//! The scenario corpus: dialect functions with what goes in, what comes out, and how many operations may be left.
//!
//! `tests/scenarios/README.md` describes the fields of a case. A case is run by every engine (the evaluator and machine
//! code on its flow graphs, the evaluator on its compiler graphs, and residual code under both policies), which must
//! all agree with it; bounds and colors are those of its own policy.
//!
//! ```text
//! group           passed  later
//! arith              34       0
//! ...
//! 250 passed, 0 failed
//! ```
//!
//! Cases that ask for what isn't built yet are in `later.txt`, by id with the reason. They are run all the same, and
//! one that passes must be taken off the list.

mod case;
mod check;
mod later;

pub use case::{Case, CasePolicy, ErrorKind, Problems, corpus, load};
pub use check::{Failure, check, compiler_of, ends_as_wanted};
pub use later::{Extent, Later};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long one case may take: ten times as long under an emulator (`ci/isa.sh`).
fn patience() -> Duration {
    let emulated = std::env::var_os("HUESHIFT_EMULATED").is_some();
    Duration::from_secs(if emulated { 600 } else { 60 })
}

/// A run of the corpus.
#[derive(Debug, Default)]
pub struct Outcome {
    /// For each group: passed, passed but for bounds that are for later, wholly for later, failed.
    pub groups: BTreeMap<String, [usize; 4]>,
    /// What fell short.
    pub failures: Vec<String>,
}

impl Outcome {
    /// The table by group, and the closing line.
    pub fn table(&self) -> String {
        let mut text =
            format!("{:16} {:>7} {:>13} {:>6} {:>7}\n", "group", "passed", "bounds later", "later", "failed");
        let mut sum = [0; 4];
        for (group, counts) in &self.groups {
            let [passed, bounds, later, failed] = counts;
            text += &format!("{group:16} {passed:>7} {bounds:>13} {later:>6} {failed:>7}\n");
            sum.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        let [passed, bounds, later, failed] = sum;
        text + &format!(
            "{} passed ({bounds} with bounds for later), {failed} failed, {later} for later\n",
            passed + bounds
        )
    }
}

/// Checks the cases whose ids contain `filter`, with a list of those that are for later.
pub fn run(cases: &[Arc<Case>], later: &Later, filter: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let unknown = later.ids().filter(|id| !cases.iter().any(|case| case.id == *id));
    outcome.failures.extend(unknown.map(|id| format!("{id}: later.txt has it, but there is no such case")));
    let chosen: Vec<&Arc<Case>> = cases.iter().filter(|case| case.id.contains(filter)).collect();
    for (case, failure) in chosen.iter().zip(check_all(&chosen)) {
        let counts = outcome.groups.entry(case.group().to_owned()).or_default();
        let (column, message) = match (failure, later.extent(&case.id)) {
            (None, None) => (0, None),
            (None, Some(_)) => (3, Some("passes: take it off later.txt".to_owned())),
            (Some(failure), Some(Extent::Bounds)) if failure.problems.is_empty() => (1, None),
            (Some(failure), Some(Extent::All)) if !failure.problems.is_empty() => (2, None),
            (Some(_), Some(Extent::All)) => (3, Some("only its bounds fail: list it as `bounds`".to_owned())),
            (Some(failure), _) => (3, Some(failure.to_string())),
        };
        counts[column] += 1;
        outcome.failures.extend(message.map(|m| format!("{}: {m}", case.id)));
    }
    outcome
}

/// Checks cases, as many at once as there are processors.
fn check_all(cases: &[&Arc<Case>]) -> Vec<Option<Failure>> {
    let next = AtomicUsize::new(0);
    let failures: Vec<OnceLock<Option<Failure>>> = cases.iter().map(|_| OnceLock::new()).collect();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { break };
                    failures[at].get_or_init(|| check_patiently(case));
                }
            });
        }
    });
    failures
        .into_iter()
        .map(|f| f.into_inner().unwrap_or_else(|| Some(Failure::of("isn't checked".to_owned()))))
        .collect()
}

/// Checks a case on a thread of its own, so that a panic or a hang is one case's failure.
pub fn check_patiently(case: &Arc<Case>) -> Option<Failure> {
    let (sender, receiver) = channel();
    let mine = case.clone();
    let started = std::thread::Builder::new().name(case.id.clone()).stack_size(64 << 20).spawn(move || {
        // Nobody may be listening any more.
        let _ = sender.send(check(&mine).err());
    });
    if let Err(error) = started {
        return Some(Failure::of(format!("no thread: {error}")));
    }
    let patience = patience();
    match receiver.recv_timeout(patience) {
        Ok(failure) => failure,
        Err(RecvTimeoutError::Timeout) => Some(Failure::of(format!("takes more than {} s", patience.as_secs()))),
        Err(RecvTimeoutError::Disconnected) => Some(Failure::of("panics".to_owned())),
    }
}
