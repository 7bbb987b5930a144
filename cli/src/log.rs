//! `--log FILE`: what was compiled, and what was not done as well as it might have been, a line each.
//!
//! ```text
//! compiled tl: 41 ops in 12 blocks
//! tl.rs:60:9: a trace begins, where the run comes by often
//! tl.rs:40:9: reached with too many different values of greens, most of `sp`: it goes on with everything red
//! guard 3: executed 97 times
//! ```

use crate::output;
use crate::problem::Failure;
use flowgraph::ir::{Loc, SourceFile};
use hueshift::standalone::Standalone;
use hueshift::{Report, Residual, Specialized};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use timeshifter::specialize::{Beginning, Event};

/// What there is to tell.
pub struct Told<'a> {
    /// The residual graphs.
    pub residual: &'a Residual,
    /// What happened to the limits.
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
pub fn write<'a>(to: Option<&Path>, told: impl Into<Told<'a>>, files: &[SourceFile]) -> Result<(), Failure> {
    write_all(to, [told.into()], files)
}

/// Writes what several compilers have to tell, one after another.
pub fn write_all<'a>(
    to: Option<&Path>,
    told: impl IntoIterator<Item = Told<'a>>,
    files: &[SourceFile],
) -> Result<(), Failure> {
    let Some(path) = to else { return Ok(()) };
    let texts: String = told.into_iter().map(|told| text(&told, files)).collect();
    output::write(Some(path), &texts)
}

fn text(told: &Told<'_>, files: &[SourceFile]) -> String {
    let mut out = String::new();
    let residual = told.residual;
    let keys = residual.own.iter().chain(residual.behind_exits.iter().filter(|key| !residual.own.contains(key)));
    for graph in keys.filter_map(|key| residual.module.graphs.get(key)) {
        let ops: usize = graph.blocks.iter().map(|b| b.ops.len()).sum();
        let _ = writeln!(out, "compiled {}: {}", graph.key, size(ops, graph.blocks.len()));
    }
    let mut events: IndexMap<String, usize> = IndexMap::new();
    for event in told.events {
        let (loc, what) = what_happened(event);
        let line = match files.get(usize::from(loc.file.0)).filter(|_| loc.is_known()) {
            Some(file) => format!("{}:{}:{}: {what}", file.name, loc.line, loc.column),
            None => what,
        };
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

fn what_happened(event: &Event) -> (Loc, String) {
    match event {
        Event::JoinCapped { green, loc } => {
            let what = "reached with too many different values of greens";
            (*loc, format!("{what}, most of `{green}`: it goes on with everything red"))
        }
        Event::CodeLimit { loc } => (*loc, "the code has grown too large: it goes on with everything red".to_owned()),
        Event::InlineDepth { function, loc } => {
            (*loc, format!("`{function}` is called, not copied in: too many calls are copied into each other"))
        }
        Event::Widened { loc } => (*loc, "a version was made less specific, so that the next arrival fits".to_owned()),
        Event::TraceBegun { of, loc } => (
            *loc,
            match of {
                Beginning::Entry => "a trace begins with the run".to_owned(),
                Beginning::MergePoint => "a trace begins, where the run comes by often".to_owned(),
                Beginning::Bridge(exit) => format!("a bridge begins, at exit {exit}"),
                Beginning::Case(exit, value) => {
                    format!("a case begins, for the value {value} that is promoted at exit {exit}")
                }
            },
        ),
        Event::RegionRefused { reason, loc } => (*loc, format!("no region is made: {reason}")),
        Event::TraceAborted { reason, loc } => (*loc, format!("the trace was stopped: {reason}")),
    }
}
