//! `hueshift explain`: what the log of a run in the mode `jit` says, for people.
//!
//! ```text
//! read      lines of JSON as events, and the counts of the last line
//! summary   what belongs together: exits, promotions, widened loops, limits, refusals
//! text      each with its source line, the greens there, and what to do
//! ```

use crate::Done;
use crate::output::print;
use crate::problem::{Failure, Problem};
use crate::source;
use clap::Args;
use hueshift::events::{End, Event, Reason, What};
use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use std::fmt::Write;

/// Sum up a log of `run --mode jit`: where time went, what was not compiled, which exits and promotions cost time, and
/// what to do.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Explain {
    /// The log, as `hueshift run --mode jit --log` writes it (`-`: standard input).
    log: String,
}

const EXAMPLE: &str = "Example:
  hueshift run tl primes --mode jit --log primes.jsonl -- 10000
  hueshift explain primes.jsonl";

/// So many lines a section has; the rest is counted.
const LINES: usize = 10;

impl Explain {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        let text = source::read(&self.log)?;
        let log = Log::read(if self.log == "-" { "<stdin>" } else { &self.log }, &text)?;
        print(&log.summary().text(log.stats.as_ref(), log.cut_off))
    }
}

/// A log that has been read.
struct Log {
    events: Vec<Event>,
    /// The counts of the last line, where the run has come to its end.
    stats: Option<Value>,
    /// The last line is a part of an event: the run was stopped while it wrote it. It is left out.
    cut_off: bool,
}

impl Log {
    fn read(name: &str, text: &str) -> Result<Log, Failure> {
        let text = text.trim_start_matches('\u{feff}');
        let mut log = Log { events: Vec::new(), stats: None, cut_off: false };
        let (mut at, mut lines) = (0, 0);
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let content = line.trim();
            let wrong_for = |reason: String, help: &str| {
                let problem = Problem::new(format!("line {}: {reason}", number + 1)).help(help);
                let start = at + line.len() - line.trim_start().len();
                Failure::from(problem.within(name, text, start, content.len()))
            };
            let wrong = |reason: String| wrong_for(reason, WRITTEN_BY);
            if log.stats.is_some() && !content.is_empty() {
                return Err(wrong("the counts of a run are the last line of its log, but here is another".to_owned()));
            }
            if !content.is_empty() {
                let value: Value = match serde_json::from_str(content) {
                    Ok(value) => value,
                    Err(_) if content.starts_with("compiled ") => {
                        return Err(wrong_for("this is the log of a run ahead of time".to_owned(), TO_READ));
                    }
                    // Others are still whole.
                    Err(e) if e.is_eof() && !line.ends_with('\n') && lines > 0 => {
                        log.cut_off = true;
                        continue;
                    }
                    Err(e) => return Err(wrong(format!("this is no JSON: {}", plain(&e)))),
                };
                if value["event"] == "stats" {
                    log.stats = Some(value);
                } else {
                    let event =
                        serde_json::from_value(value).map_err(|e| wrong(format!("this is no event: {}", plain(&e))))?;
                    log.events.push(event);
                }
                lines += 1;
            }
            at += line.len();
        }
        if lines == 0 {
            return Err(Problem::new(format!("{name} is empty")).help(WRITTEN_BY).into());
        }
        Ok(log)
    }
}

const TO_READ: &str =
    "it is text, to be read as it is; what is summed up is the log of `hueshift run … --mode jit --log FILE`";

const WRITTEN_BY: &str = "logs are written by `hueshift run … --mode jit --log FILE`";

/// What is wrong, without the place in the one line that it is about.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

/// An exit: the number of the compiler, and its own.
type Exit = (u32, u32);

/// What belongs together.
#[derive(Default)]
struct Summary<'a> {
    us: u64,
    traces: Made,
    tracing_us: u64,
    compiling_us: u64,
    emitted: usize,
    ops: usize,
    bytes: usize,
    bridges: Made,
    /// Values of promotions.
    values: Made,
    regions: usize,
    /// How often code was thrown away, and how many bytes.
    evictions: (usize, usize),
    /// The latest event of each exit.
    exits: IndexMap<Exit, (&'a Event, u64)>,
    bridged: Vec<Exit>,
    /// The values of each promotion that got code, and the first event of it.
    promotions: IndexMap<Exit, (&'a Event, Vec<i64>)>,
    full: IndexMap<Exit, &'a Event>,
    /// By place: what makes code there more than one.
    multiplied: IndexMap<String, Multiplied<'a>>,
    /// By exit: the latest event of code that was left since a `QuasiCell` had been written, and how many there were.
    written: IndexMap<Exit, (&'a Event, usize)>,
    /// By place, reason and variables.
    widened: IndexMap<(String, Reason, &'a [String]), Widened<'a>>,
    /// By place, the names of a portal's greens.
    greens: IndexMap<String, IndexSet<&'a str>>,
    /// By place and reason.
    limits: Grouped<'a>,
    evicted: Grouped<'a>,
    refused: Grouped<'a>,
}

/// What was traced.
#[derive(Default)]
struct Made {
    times: usize,
    /// Those among them that were stopped before they came to compiled code or to an end.
    stopped: usize,
}

impl Made {
    fn text(&self, noun: &str) -> String {
        let stopped = match self.stopped {
            0 => String::new(),
            stopped => format!(" ({stopped} stopped)"),
        };
        times(self.times, noun) + &stopped
    }
}

/// Code of one place in the interpreter.
#[derive(Default)]
struct Multiplied<'a> {
    bridges: usize,
    values: usize,
    keys: IndexSet<&'a str>,
}

/// Code of one place in the interpreter that was made less specific: where in the guest program, and how often.
#[derive(Default)]
struct Widened<'a> {
    keys: IndexSet<&'a str>,
    times: usize,
}

/// Events of the same place, greens and reason: the first, and how many.
type Grouped<'a> = IndexMap<(String, String, Reason), (&'a Event, usize)>;

fn count<'a>(grouped: &mut Grouped<'a>, event: &'a Event) {
    let place = event.at.as_ref().map(ToString::to_string).unwrap_or_default();
    let entry = grouped.entry((place, event.key.clone(), event.reason)).or_insert((event, 0));
    entry.1 += 1;
}

impl Log {
    fn summary(&self) -> Summary<'_> {
        let mut sum = Summary::default();
        for event in &self.events {
            sum.us = sum.us.max(event.us);
            if !event.key.is_empty() {
                let names = event.key.split(", ").filter_map(|green| green.split('=').next());
                sum.greens.entry(place(event)).or_default().extend(names);
            }
            let took = event.duration_us.unwrap_or_default();
            match &event.what {
                What::Region { ops, .. } => {
                    sum.regions += 1;
                    sum.tracing_us += took;
                    sum.emitted += ops;
                }
                What::Traced { ops, .. } | What::Specialized { ops, .. } => {
                    let stopped = usize::from(matches!(event.what, What::Traced { end: End::Stopped, .. }));
                    match event.reason {
                        // Those behind exits are told of again, as bridges and cases.
                        Reason::HotExit | Reason::BehindLoop => sum.bridges.stopped += stopped,
                        Reason::NewValue => sum.values.stopped += stopped,
                        _ => {
                            sum.traces.times += 1;
                            sum.traces.stopped += stopped;
                        }
                    }
                    sum.tracing_us += took;
                    sum.emitted += ops;
                }
                What::Compiled { ops, bytes, .. } => {
                    sum.compiling_us += took;
                    sum.ops += ops;
                    sum.bytes += bytes;
                }
                What::Exit { exit, taken, .. } => drop(sum.exits.insert((event.compiler, *exit), (event, *taken))),
                What::Bridge { exit, .. } => {
                    sum.bridges.times += 1;
                    sum.bridged.push((event.compiler, *exit));
                    sum.at(event).bridges += 1;
                }
                What::Promoted { exit, value, .. } => {
                    let promotion = sum.promotions.entry((event.compiler, *exit)).or_insert((event, Vec::new()));
                    promotion.1.push(*value);
                    sum.values.times += 1;
                    sum.at(event).values += 1;
                }
                What::Widened { variables, .. } => {
                    let entry = sum.widened.entry((place(event), event.reason, variables)).or_default();
                    entry.keys.insert(&event.key);
                    entry.times += 1;
                }
                What::Limit { exit: Some(exit), .. } => drop(sum.full.insert((event.compiler, *exit), event)),
                What::Limit { .. } => count(&mut sum.limits, event),
                What::Refused { .. } => {
                    // What has come of a promoted value that is refused is told by nothing else.
                    sum.tracing_us += took;
                    count(&mut sum.refused, event);
                }
                What::Evicted { bytes, .. } => {
                    sum.evictions = (sum.evictions.0 + 1, sum.evictions.1 + bytes);
                    count(&mut sum.evicted, event);
                }
                What::Invalidated { exit, .. } => {
                    let entry = sum.written.entry((event.compiler, *exit)).or_insert((event, 0));
                    *entry = (event, entry.1 + 1);
                }
                What::Hot { .. } | What::Closed { .. } => {}
            }
        }
        let bridged = std::mem::take(&mut sum.bridged);
        sum.exits.retain(|exit, (event, _)| !bridged.contains(exit) && event.reason != Reason::ValueWithoutCase);
        sum.exits.sort_by(|_, a, _, b| b.1.cmp(&a.1));
        sum
    }
}

impl<'a> Summary<'a> {
    /// What is made at the place of an event.
    fn at(&mut self, event: &'a Event) -> &mut Multiplied<'a> {
        let made = self.multiplied.entry(place(event)).or_default();
        made.keys.insert(&event.key);
        made
    }
}

impl Summary<'_> {
    fn text(&self, stats: Option<&Value>, cut_off: bool) -> String {
        let mut out = self.times(stats, cut_off);
        let sections = [
            section("Not compiled", self.refused()),
            section("Limits that were met", self.limits()),
            section("Code that was thrown away", self.evicted()),
            section("Exits that are taken and have no code of their own", self.exits()),
            section("Promotions with many values", self.promotions()),
            section("Code that was made less specific", self.widened()),
            section("`QuasiCell`s that are written often", self.written()),
            section("Compiling takes most of the time: where the most is made", self.multiplied(stats)),
        ];
        let said = sections.concat();
        match said.is_empty() {
            true if interpreter_takes_most(stats) => out.push_str(INTERPRETED),
            true => out.push_str("\nNothing stands out.\n"),
            false => out.push_str(&said),
        }
        out
    }

    /// Where time went, and how much was compiled.
    fn times(&self, stats: Option<&Value>, cut_off: bool) -> String {
        let mut out = "Where time went\n".to_owned();
        let known = |name: &str| stats.and_then(|stats| stats[name].as_u64());
        let rows = [
            ("tier 0", known("tier0_us")),
            ("compiled code", known("compiled_code_us")),
            ("interpreter behind exits", known("blackholing_us")),
            ("specializing", known("specializing_us").or(Some(self.tracing_us))),
            ("optimizing", known("optimizing_us")),
            ("code generation", known("compiling_us").or(Some(self.compiling_us))),
            ("the driver itself", known("driving_us")),
        ];
        let all: u64 = rows.iter().filter_map(|(_, us)| *us).sum();
        for (name, us) in rows.iter().filter_map(|(name, us)| Some((name, (*us)?))) {
            let percent = (us * 100).checked_div(all).unwrap_or_default();
            let _ = writeln!(out, "  {name:<26} {:>10}  {percent:>3} %", ms(us));
        }
        if stats.is_none() {
            let _ = writeln!(
                out,
                "  (the run has not come to its end: times of runs are not known, the last event is at {}{})",
                ms(self.us),
                if cut_off { "; the last line is no whole event, and is left out" } else { "" }
            );
        }
        let _ = write!(
            out,
            "\n{}, {}, {}, {}{}: {} ops emitted, {} compiled, {} bytes",
            self.traces.text("trace"),
            self.bridges.text("bridge"),
            times(self.regions, "region"),
            times(self.promotions.len(), "promotion"),
            if self.promotions.is_empty() { String::new() } else { format!(" of {}", self.values.text("value")) },
            self.emitted,
            self.ops,
            self.bytes
        );
        // Events tell of graphs; code that they share is nobody's.
        match known("code_bytes").filter(|all| *all > self.bytes as u64) {
            Some(all) => _ = writeln!(out, ", {all} with what leads into and out of them"),
            None => out.push('\n'),
        }
        if let (evictions @ 1.., bytes) = self.evictions {
            let _ = writeln!(out, "{}, of {bytes} bytes", times(evictions, "eviction"));
        }
        out
    }

    fn refused(&self) -> Vec<String> {
        let said = |(event, n): &(&Event, usize)| {
            let What::Refused { message } = &event.what else { return None };
            // Behind it are the limit, and mostly what to do, better than anybody could say who knows the reason alone.
            let (message, remedy) = match message.split_once("; ") {
                Some((message, rest)) => (message, Some(rest)),
                None => (message.as_str(), event.reason.remedy()),
            };
            Some(line(event, &format!("{message}{}", often(*n)), remedy))
        };
        self.refused.values().filter_map(said).collect()
    }

    fn limits(&self) -> Vec<String> {
        let said = |(event, n): &(&Event, usize)| {
            let What::Limit { limit, name, .. } = &event.what else { return None };
            let name = name.as_ref().map(|name| format!(" (`{name}`)")).unwrap_or_default();
            let met = match event.reason {
                // What the setting is isn't what has been met.
                Reason::Chaos => format!("stopped at step {limit}"),
                reason => format!("{}={limit}", reason.id()),
            };
            let what = format!("{met}{name}{}: {}", often(*n), sentence(event.reason));
            Some(line(event, &what, event.reason.remedy()))
        };
        self.limits.values().filter_map(said).collect()
    }

    fn evicted(&self) -> Vec<String> {
        let said = |(event, n): &(&Event, usize)| {
            let What::Evicted { graphs, bytes } = &event.what else { return None };
            let what = format!("{graphs} graphs of {bytes} bytes{}: {}", often(*n), sentence(event.reason));
            Some(line(event, &what, event.reason.remedy()))
        };
        self.evicted.values().filter_map(said).collect()
    }

    fn exits(&self) -> Vec<String> {
        let said = |((_, exit), (event, taken)): (&Exit, &(&Event, u64))| {
            line(event, &format!("exit {exit}, taken {taken} times or more"), event.reason.remedy())
        };
        self.exits.iter().filter(|(_, (_, taken))| *taken > 1).map(said).collect()
    }

    fn promotions(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (exit, (event, values)) in &self.promotions {
            let full = self.full.get(exit);
            if full.is_none() && values.len() < MANY {
                continue;
            }
            let some: Vec<String> = values.iter().take(5).map(i64::to_string).collect();
            let (more, values) = (if values.len() > 5 { ", …" } else { "" }, values.len());
            let full = if full.is_some() { "; further values are interpreted" } else { "" };
            let what = format!("exit {}, {values} values: {}{more}{full}", exit.1, some.join(", "));
            lines.push(line(event, &what, Reason::Cases.remedy()));
        }
        // The first value of a promotion may have been promoted in a trace that is no longer in the log.
        for (exit, event) in self.full.iter().filter(|(exit, _)| !self.promotions.contains_key(*exit)) {
            let What::Limit { limit, .. } = event.what else { continue };
            let what = format!("exit {}, {limit} values; further values are interpreted", exit.1);
            lines.push(line(event, &what, Reason::Cases.remedy()));
        }
        lines
    }

    fn widened(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for ((place, reason, variables), Widened { keys, times }) in &self.widened {
            let of = match *variables {
                [] => String::new(),
                names => format!(": of `{}`", names.join("`, `")),
            };
            // What is green by the portal's attribute can't be made red by a hint.
            let greens = self.greens.get(place);
            let is_green = |name: &&str| greens.is_some_and(|greens| greens.contains(name));
            let (greens, reds): (Vec<&str>, Vec<&str>) = variables.iter().map(String::as_str).partition(is_green);
            let remedy = match (&greens[..], &reds[..]) {
                ([], []) => "what differs is no variable: a field, an element, or a value on its way to one".to_owned(),
                (greens, []) => format!(
                    "`{}`: green by the portal's attribute; what has many values is better among its reds",
                    greens.join("`, `")
                ),
                (_, reds) => {
                    let red = format!("variable({})", reds.join(")`, `variable("));
                    reason.remedy().unwrap_or_default().replace("variable(..)", &red)
                }
            };
            let (keys, meaning, often) = (shown_keys(keys), sentence(*reason), often(*times));
            lines.push(format!("  {place}{keys}: {meaning}{often}{of}\n    -> {remedy}\n"));
        }
        lines
    }

    fn written(&self) -> Vec<String> {
        let said = |((_, exit), (event, times)): (&Exit, &(&Event, usize))| {
            let What::Invalidated { written, .. } = &event.what else { return None };
            let what = format!("exit {exit}: code was made anew for {times} contents, of {written} writes so far");
            (*times >= MANY).then(|| line(event, &what, event.reason.remedy()))
        };
        self.written.iter().filter_map(said).collect()
    }

    /// Where there are the most bridges and values, if making code takes more than half of the time, and not next to
    /// none.
    fn multiplied(&self, stats: Option<&Value>) -> Vec<String> {
        let known = |name: &str| stats.and_then(|stats| stats[name].as_u64()).unwrap_or_default();
        let making: u64 = ["specializing_us", "optimizing_us", "compiling_us"].into_iter().map(known).sum();
        let running: u64 =
            ["tier0_us", "compiled_code_us", "blackholing_us", "driving_us"].into_iter().map(known).sum();
        if making <= running.max(MUCH_US) {
            return Vec::new();
        }
        let mut most: Vec<_> = self.multiplied.iter().collect();
        most.sort_by_key(|(_, made)| std::cmp::Reverse(made.bridges + made.values));
        let said = |(place, made): &(&String, &Multiplied<'_>)| {
            let Multiplied { bridges, values, keys } = made;
            let (bridges, values) = (times(*bridges, "bridge"), times(*values, "promoted value"));
            format!("  {place}{}: {bridges} and {values}\n", shown_keys(keys))
        };
        let mut lines: Vec<String> = most.iter().take(PLACES).map(said).collect();
        let values: usize = most.iter().map(|(_, made)| made.values).sum();
        if let Some(last) = lines.last_mut() {
            last.push_str(match values {
                0 => "    -> each green multiplies the code behind it: make a green red\n",
                _ => {
                    "    -> each green and each promoted value multiplies the code behind it: promote less, or make a green red\n"
                }
            });
        }
        lines
    }
}

/// Whether the interpreter behind exits takes more than half of the time, and not next to none.
fn interpreter_takes_most(stats: Option<&Value>) -> bool {
    let known = |name: &str| stats.and_then(|stats| stats[name].as_u64()).unwrap_or_default();
    let others = ["tier0_us", "compiled_code_us", "specializing_us", "optimizing_us", "compiling_us", "driving_us"];
    let interpreted = known("blackholing_us");
    interpreted > MUCH_US && interpreted > others.into_iter().map(known).sum()
}

const INTERPRETED: &str = "
The interpreter behind exits takes most of the time, but no exit stands out.
  -> a run becomes compiled at merge points that it comes back to: see to it that the guest's loops pass a `merge_point!()`
";

/// Making code for less than this is no matter.
const MUCH_US: u64 = 20_000;

/// A promotion with so many values costs time, though it may have more.
const MANY: usize = 8;

/// What a reason means, to go on behind a colon.
fn sentence(reason: Reason) -> String {
    let text = reason.meaning().trim_end_matches('.');
    text[..1].to_lowercase() + &text[1..]
}

fn place(event: &Event) -> String {
    event.at.as_ref().map_or("?".to_owned(), ToString::to_string)
}

/// So many places in a guest program are shown of what is summed up.
const PLACES: usize = 3;

/// Places in the guest program: a few of them, and how many there are.
fn shown_keys(keys: &IndexSet<&str>) -> String {
    let few: Vec<String> =
        keys.iter().filter(|key| !key.is_empty()).take(PLACES).map(|key| format!("({key})")).collect();
    match (&few[..], keys.len()) {
        ([], _) => String::new(),
        (few, n) if n > PLACES => format!(" at {n} places, as {}", few.join(", ")),
        (few, _) => format!(" {}", few.join(", ")),
    }
}

/// One thing, with its place and what to do about it.
fn line(event: &Event, what: &str, remedy: Option<&str>) -> String {
    let place = place(event);
    let key = if event.key.is_empty() { String::new() } else { format!(" ({})", event.key) };
    let remedy = remedy.map(|text| format!("\n    -> {text}")).unwrap_or_default();
    format!("  {place}{key}: {what}{remedy}\n")
}

fn section(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let more = lines.len().saturating_sub(LINES);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    format!("\n{title}\n{}{more}", lines.into_iter().take(LINES).collect::<String>())
}

/// `1 trace`, `2 traces`.
fn times(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn often(n: usize) -> String {
    if n > 1 { format!(", {n} times") } else { String::new() }
}

fn ms(us: u64) -> String {
    format!("{}.{:03} ms", us / 1000, us % 1000)
}
