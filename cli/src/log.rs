//! `--log FILE`: what was compiled, and what was not done as well as it might have been, a line each.
//!
//! ```text
//! compiled tl: 41 ops in 12 blocks
//! tl.rs:40:9: reached with too many different values of greens, most of `sp`: it goes on with everything red
//! guard 3: executed 97 times
//! ```

use crate::output;
use crate::problem::Failure;
use flowgraph::ir::{Loc, SourceFile};
use hueshift::Report;
use indexmap::IndexMap;
use std::fmt::Write;
use std::path::Path;
use timeshifter::specialize::Event;

/// Writes what `report` has to tell to a file, if there is to be one.
pub fn write(to: Option<&Path>, report: &Report, files: &[SourceFile]) -> Result<(), Failure> {
    if let Some(path) = to { output::write(Some(path), &text(report, files)) } else { Ok(()) }
}

fn text(report: &Report, files: &[SourceFile]) -> String {
    let mut out = String::new();
    let residual = &report.residual;
    let keys = residual.own.iter().chain(residual.behind_exits.iter().filter(|key| !residual.own.contains(key)));
    for graph in keys.filter_map(|key| residual.module.graphs.get(key)) {
        let ops: usize = graph.blocks.iter().map(|b| b.ops.len()).sum();
        let _ = writeln!(out, "compiled {}: {}", graph.key, size(ops, graph.blocks.len()));
    }
    let mut events: IndexMap<String, usize> = IndexMap::new();
    for event in &report.events {
        let (loc, what) = told(event);
        let line = match files.get(usize::from(loc.file.0)).filter(|_| loc.is_known()) {
            Some(file) => format!("{}:{}:{}: {what}", file.name, loc.line, loc.column),
            None => what,
        };
        *events.entry(line).or_default() += 1;
    }
    for (line, times) in events {
        let _ = if times == 1 { writeln!(out, "{line}") } else { writeln!(out, "{line} ({times} times)") };
    }
    for (guard, executed) in report.guards.iter().flat_map(|(counts, _)| counts) {
        let _ = writeln!(out, "guard {guard}: executed {executed} times");
    }
    out
}

fn size(ops: usize, blocks: usize) -> String {
    let (s, t) = (if ops == 1 { "" } else { "s" }, if blocks == 1 { "" } else { "s" });
    format!("{ops} op{s} in {blocks} block{t}")
}

fn told(event: &Event) -> (Loc, String) {
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
        Event::TraceAborted { reason, loc } => (*loc, format!("the trace was stopped: {reason}")),
    }
}
