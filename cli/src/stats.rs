//! `--stats`: times and numbers of a run.

use clap::ValueEnum;
use hueshift::{Counts, Size, Stats};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::time::Duration;

/// How `--stats` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// A line for each, and one for each of the places with the most code.
    Text,
    /// One JSON object, with all places.
    Json,
}

/// So many places with code are printed as text.
const PLACES: usize = 10;

/// The numbers, by name; last the list of places with code.
pub fn rows(stats: &Stats, counts: &Counts, sizes: &[Size]) -> Map<String, Value> {
    let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let made = stats.specializing + stats.compiling.saturating_sub(stats.compiling_aside);
    let rows = [
        ("tier0_us", us(stats.tier0)),
        ("compiled_code_us", us(stats.running)),
        ("blackholing_us", us(stats.interpreting)),
        ("specializing_us", us(stats.specializing)),
        ("optimizing_us", us(stats.optimizing)),
        ("compiling_us", us(stats.compiling.saturating_sub(stats.optimizing))),
        ("driving_us", us(stats.driving.saturating_sub(made))),
        ("steps", stats.steps),
        ("emitted_ops", stats.emitted as u64),
        ("residual_ops", counts.ops.values().sum::<usize>() as u64),
        ("code_bytes", stats.code_bytes as u64),
        ("blocks", counts.blocks as u64),
        ("switches", counts.switches as u64),
        ("cases", stats.cases),
        ("traces", stats.traces),
        ("bridges", stats.bridges),
        ("regions", stats.regions),
        ("evictions", stats.evictions),
        ("guards", stats.guards as u64),
        ("snapshots", stats.snapshots as u64),
        ("bytes_per_guard", stats.snapshot_bytes.checked_div(stats.guards).unwrap_or_default() as u64),
        ("exits", stats.exits),
        ("blackholed", stats.blackholed),
        ("interpreted_steps", stats.interpreted),
        ("arrived", stats.arrived),
        ("entered", stats.entered),
        ("finished", stats.finished),
        ("forwarded", stats.forwarded),
    ];
    let mut rows: Map<String, Value> = rows.into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect();
    let fired: Vec<_> =
        stats.rules.iter().map(|(op, rule, count)| (op.name().to_owned(), rule.to_owned(), count)).collect();
    rows.insert("rules".to_owned(), crate::rules::fired_json(&fired));
    let size = |size: &Size| {
        let Size { key, at, compiler, graphs, ops, bytes } = size;
        let at = at.as_ref().map(ToString::to_string);
        serde_json::json!({ "key": key, "at": at, "compiler": compiler, "graphs": graphs, "ops": ops, "bytes": bytes })
    };
    rows.insert("sizes".to_owned(), sizes.iter().map(size).collect());
    rows
}

impl StatsFormat {
    /// The numbers as they are printed.
    pub fn text(self, rows: &Map<String, Value>) -> String {
        if self == StatsFormat::Json {
            return crate::output::json(&Value::Object(rows.clone())) + "\n";
        }
        let mut out = String::new();
        for (name, value) in rows {
            if let Some(rules) = value.as_object() {
                out.push_str(&crate::rules::fired_text(rules));
                continue;
            }
            match value.as_array() {
                None => drop(writeln!(out, "{name}: {value}")),
                Some(places) => places.iter().take(PLACES).for_each(|place| {
                    let (key, at) = (place["key"].as_str().unwrap_or_default(), place["at"].as_str().unwrap_or("?"));
                    let key = if key.is_empty() { "no greens" } else { key };
                    let _ = writeln!(out, "code at {at} ({key}): {} ops, {} bytes", place["ops"], place["bytes"]);
                }),
            }
        }
        out
    }
}
