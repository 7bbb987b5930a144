//! `--log FILE`: as text what was compiled, and what was not done as well as it might have been, a line each; of a
//! JIT's run all that happened, as lines of JSON, which `hueshift explain` reads.
//!
//! ```text
//! compiled tl: 41 ops in 12 blocks
//! tl.rs:60:9: a trace begins, where the run comes by often
//! tl.rs:40:9: reached with too many different values of greens, most of `sp`: it goes on with everything red
//! guard 3: executed 97 times
//! ```

use crate::output;
use crate::problem::{Failure, Problem, file_problem};
use hueshift::events::{Event, Reason, Sink, What};
use hueshift::standalone::Standalone;
use hueshift::{Report, Residual, Specialized};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, LineWriter, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What there is to tell.
pub struct Told<'a> {
    /// The residual graphs.
    pub residual: &'a Residual,
    /// What happened.
    pub events: &'a [Event],
    /// How often guards were executed, where that was counted.
    pub guards: Option<&'a BTreeMap<i64, u64>>,
}

impl<'a> From<&'a Report> for Told<'a> {
    fn from(report: &'a Report) -> Told<'a> {
        let guards = report.guards.as_ref().map(|(counts, _)| counts);
        Told { residual: &report.residual, events: &report.events, guards }
    }
}

impl<'a> From<&'a Specialized> for Told<'a> {
    fn from(made: &'a Specialized) -> Told<'a> {
        Told { residual: &made.residual, events: &made.events, guards: None }
    }
}

impl<'a> From<&'a Standalone> for Told<'a> {
    fn from(made: &'a Standalone) -> Told<'a> {
        Told { residual: &made.residual, events: &made.events, guards: None }
    }
}

/// Writes it to a file, if there is to be one.
pub fn write<'a>(to: Option<&Path>, told: impl Into<Told<'a>>) -> Result<(), Failure> {
    let Some(path) = to else { return Ok(()) };
    output::write(Some(path), &text(&told.into()))
}

fn text(told: &Told<'_>) -> String {
    let mut out = String::new();
    let residual = told.residual;
    let keys = residual.own.iter().chain(residual.behind_exits.iter().filter(|key| !residual.own.contains(key)));
    for graph in keys.filter_map(|key| residual.module.graphs.get(key)) {
        let ops: usize = graph.blocks.iter().map(|b| b.ops.len()).sum();
        let _ = writeln!(out, "compiled {}: {}", graph.key, size(ops, graph.blocks.len()));
    }
    let mut events: IndexMap<String, usize> = IndexMap::new();
    for event in told.events {
        let Some(what) = what_happened(event) else { continue };
        let line = event.at.as_ref().map_or(what.clone(), |place| format!("{place}: {what}"));
        *events.entry(line).or_default() += 1;
    }
    for (line, times) in events {
        let _ = if times == 1 { writeln!(out, "{line}") } else { writeln!(out, "{line} ({times} times)") };
    }
    for (guard, executed) in told.guards.into_iter().flatten() {
        let _ = writeln!(out, "guard {guard}: executed {executed} times");
    }
    out
}

fn size(ops: usize, blocks: usize) -> String {
    let (s, t) = (if ops == 1 { "" } else { "s" }, if blocks == 1 { "" } else { "s" });
    format!("{ops} op{s} in {blocks} block{t}")
}

/// An event in words; nothing if what was compiled tells as much.
fn what_happened(event: &Event) -> Option<String> {
    let said = match (&event.what, event.reason) {
        (What::Limit { name: Some(green), .. }, Reason::JoinTuples) => {
            format!(
                "reached with too many different values of greens, most of `{green}`: it goes on with everything red"
            )
        }
        (What::Limit { name: Some(function), .. }, Reason::InlineDepth) => {
            format!("`{function}` is called, not copied in: too many calls are copied into each other")
        }
        (What::Limit { .. }, Reason::ResidualOps) => {
            "the code has grown too large: it goes on with everything red".to_owned()
        }
        (What::Limit { limit, .. }, Reason::AbortAt) => format!("the trace was stopped: abort-at={limit}"),
        (What::Limit { limit, .. }, Reason::TraceSteps) => {
            format!("the trace was stopped: it grew longer than {limit} steps")
        }
        (What::Limit { limit, .. }, Reason::Cases) => {
            format!("the promotion has {limit} cases: other values are interpreted until they have come often")
        }
        (What::Widened { variables, .. }, reason) => {
            let lost: Vec<String> = variables.iter().map(|name| format!("`{name}`")).collect();
            let lost = if lost.is_empty() { String::new() } else { format!(": no constant in {}", lost.join(", ")) };
            let least = if reason == Reason::TooManyVersions { ", and keeps none: raise `versions`" } else { "" };
            format!("a version was made less specific, so that the next arrival fits{lost}{least}")
        }
        (What::Traced { .. }, Reason::FirstRun) => "a trace begins with the run".to_owned(),
        (What::Traced { .. }, Reason::HotLoop) => "a trace begins, where the run comes by often".to_owned(),
        (What::Bridge { exit, .. }, _) => format!("a bridge begins, at exit {exit}"),
        (What::Promoted { exit, value, .. }, Reason::NewValue) => {
            format!("a case begins, for the value {value} that is promoted at exit {exit}")
        }
        (What::Limit { limit, .. }, Reason::Chaos) => format!("the trace was stopped at step {limit}, by chaos"),
        (What::Limit { limit, .. }, reason) => format!("{}={limit}: {}", reason.id(), reason.meaning()),
        (What::Region { .. }, Reason::HotCase) => {
            "a case and what it leads to are compiled again, with joins".to_owned()
        }
        (What::Region { .. }, Reason::KnownLoop) => {
            "a loop that is known from elsewhere begins, with all its ways".to_owned()
        }
        (What::Region { .. }, _) => "a loop is compiled again, with joins".to_owned(),
        (What::Refused { message }, _) => format!("not compiled: {message}"),
        _ => return None,
    };
    Some(said)
}

/// No event is longer, but for those of very many variables.
const LINE: usize = 1 << 14;

/// A log of events, which are written as they happen: a line of JSON each. Of a run that is stopped they are there,
/// too, up to then.
pub struct Lines {
    path: PathBuf,
    out: Rc<RefCell<io::Result<LineWriter<File>>>>,
}

impl Lines {
    /// Begins the log, if there is to be one.
    pub fn create(path: Option<&Path>) -> Result<Option<Lines>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let file = File::create(path).map_err(|e| not_written(path, &e))?;
        Ok(Some(Lines { path: path.to_owned(), out: Rc::new(RefCell::new(Ok(LineWriter::with_capacity(LINE, file)))) }))
    }

    /// What is handed the events.
    pub fn sink(&self) -> Sink {
        let out = self.out.clone();
        Box::new(move |event| {
            let mut out = out.borrow_mut();
            let written = match &mut *out {
                Ok(file) => {
                    serde_json::to_writer(&mut *file, event).map_err(Into::into).and_then(|()| file.write_all(b"\n"))
                }
                Err(_) => return,
            };
            if let Err(error) = written {
                *out = Err(error);
            }
        })
    }

    /// Ends the log, with what has been counted, and how often guards were executed, where that was.
    pub fn finish(self, rows: Map<String, Value>, guards: Option<&BTreeMap<i64, u64>>) -> Result<(), Failure> {
        let mut counted = Map::from_iter([("event".to_owned(), "stats".into())]);
        counted.extend(rows);
        counted.extend(guards.map(|guards| {
            let guards = guards.iter().map(|(guard, executed)| (guard.to_string(), Value::from(*executed)));
            ("guard_counts".to_owned(), Value::Object(guards.collect()))
        }));
        let counted = Value::Object(counted);
        let mut out = self.out.replace(Err(io::ErrorKind::Other.into())).map_err(|e| not_written(&self.path, &e))?;
        let written = writeln!(out, "{counted}").and_then(|()| out.flush());
        written.map_err(|e| not_written(&self.path, &e).into())
    }
}

fn not_written(path: &Path, error: &io::Error) -> Problem {
    file_problem(&path.display().to_string(), "written", error)
}
