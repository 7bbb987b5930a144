//! Checking one case.

use super::case::{Case, CasePolicy, ErrorKind};
use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::{Module, Word};
use flowgraph::memory::Memory;
use flowgraph::text::{print_graph_short, renumber};
use flowgraph::value::{Arguments, debug_words};
use hintannotator::Colors;
use hueshift::io::{self, Io};
use hueshift::{Compiler, Counts, Ending, JitOptions, Policy, Ran, Report};
use std::collections::BTreeSet;
use std::fmt;

/// How many steps the evaluator may take.
const FUEL: u64 = 50_000_000;

/// What falls short in a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// Wrong results, memory, traps, refusals and colors.
    pub problems: Vec<String>,
    /// Bounds that are exceeded.
    pub bounds: Vec<String>,
    /// The residual code.
    pub residual: String,
}

impl Failure {
    /// A failure for one problem.
    pub fn of(problem: String) -> Failure {
        Failure { problems: vec![problem], ..Failure::default() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", [&self.problems[..], &self.bounds].concat().join("\n    "))?;
        for line in self.residual.lines() {
            write!(f, "\n    | {line}")?;
        }
        Ok(())
    }
}

/// The colors and the compiler of a case; an error is as people are told it.
///
/// # Errors
/// If the source is refused, or its colors.
pub fn compiler_of(case: &Case) -> Result<(Module, Colors, Compiler), (ErrorKind, String)> {
    let files: Vec<(&str, &str)> = case.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let module = flowgraph::frontend::lift_for(&files, &case.entry)
        .map_err(|refused| (ErrorKind::Refused, refused.to_string()))?;
    let greens = green(case).map_err(|e| (ErrorKind::Refused, e))?;
    let colors = hintannotator::annotate(&module, &case.entry, &greens).map_err(|errors| {
        let line = |e: &hintannotator::ColorError| {
            let at = e.loc().map(|loc| format!("{}:{}:{}: ", case.file, loc.line, loc.column));
            at.unwrap_or_default() + &e.to_string()
        };
        (ErrorKind::Color, errors.iter().map(line).collect::<Vec<_>>().join("\n"))
    })?;
    let compiler = Compiler::of_colors(&colors, &case.entry).map_err(|e| (ErrorKind::Color, e.to_string()))?;
    Ok((module, colors, compiler))
}

fn green(case: &Case) -> Result<BTreeSet<usize>, String> {
    let numbers = case.green.split(',').filter(|n| !n.is_empty());
    numbers.map(|n| n.trim().parse().map_err(|e| format!("green `{n}`: {e}"))).collect()
}

/// Checks a case.
///
/// # Errors
/// What falls short.
pub fn check(case: &Case) -> Result<(), Failure> {
    io::with(Io::bytes(case.input.as_bytes()), || check_here(case)).0
}

fn check_here(case: &Case) -> Result<(), Failure> {
    let (module, colors, compiler) = match compiler_of(case) {
        Ok(made) => made,
        Err((kind, text)) => return refusal(case, kind, &text).map_err(Failure::of),
    };
    if matches!(case.error_kind, Some(ErrorKind::Color | ErrorKind::Refused)) {
        return Err(Failure::of("is not refused".to_owned()));
    }
    let mut failure = Failure::default();
    for (stage, module) in [("flow", &module), ("compiler", &compiler.module)] {
        if let Err(violations) = flowgraph::verify::verify(module) {
            failure.problems.extend(violations.iter().map(|v| format!("{stage} graphs: {v}")));
        }
    }
    for (engine, native) in [("evaluator", false), ("tier 0", true)] {
        match run_flow(&module, case, native) {
            Ok(ran) => expect(case, engine, &ran, &mut failure),
            Err(error) => failure.problems.push(format!("{engine}: {error}")),
        }
    }
    match hueshift::interpret(&mut compiler.clone(), &case.args) {
        Ok(ran) => expect(case, "evaluated compiler graphs", &ran, &mut failure),
        Err(error) => failure.problems.push(format!("evaluated compiler graphs: {error}")),
    }
    let named = colors.named();
    for (variable, wanted) in &case.colors {
        let got = named.get(variable).map_or("unknown", String::as_str);
        if got != wanted {
            failure.problems.push(format!("color of {variable}: {got}, wanted {wanted}"));
        }
    }
    for (name, policy, own) in
        [("eager", Policy::Eager, CasePolicy::Eager), ("tracing", Policy::Tracing, CasePolicy::Tracing)]
    {
        match hueshift::spec(&mut compiler.clone(), &case.args, policy, &JitOptions::default()) {
            Ok(report) => {
                expect(case, name, &report.ran, &mut failure);
                if own == case.policy {
                    bounds(case, &report.counts, &mut failure.bounds);
                    failure.residual = residual_text(&report);
                }
            }
            Err(error) => failure.problems.push(format!("{name}: {error}")),
        }
    }
    if failure.problems.is_empty() && failure.bounds.is_empty() { Ok(()) } else { Err(failure) }
}

/// A refusal must be the one wanted, with its place.
fn refusal(case: &Case, kind: ErrorKind, text: &str) -> Result<(), String> {
    let wanted = case.error.as_deref().unwrap_or_default();
    if case.error_kind != Some(kind) {
        return Err(format!("refused: {text}"));
    }
    if !text.to_lowercase().contains(&wanted.to_lowercase()) {
        return Err(format!("refused, wanted `{wanted}` in the message: {text}"));
    }
    let place = text.split(&format!("{}:", case.file)).nth(1).unwrap_or_default();
    let numbers: Vec<bool> = place.split(':').take(2).map(|n| n.parse::<u32>().is_ok()).collect();
    if numbers != [true, true] {
        return Err(format!("refused without file:line:column: {text}"));
    }
    Ok(())
}

/// Runs the flow graphs as they are.
fn run_flow(module: &Module, case: &Case, native: bool) -> Result<Ran, String> {
    let signature = &module.graphs[&case.entry].signature;
    let arguments = Arguments::parse(module, signature, &case.args).map_err(|e| e.to_string())?;
    let mut memory = Memory::for_module(module);
    memory.set_hosts(hueshift::hosts());
    io::rewind();
    let placed = arguments.place(&mut memory);
    let ending = if native {
        let mut engine = jitcodegen::Engine::new(jitcodegen::Options::default()).map_err(|e| e.to_string())?;
        engine.compile(module, &memory).map_err(|e| e.to_string())?;
        match engine.call(&case.entry, &placed.words()).map_err(|e| e.to_string())? {
            jitcodegen::Outcome::Returned(words) => returned(module, &memory, case, &words)?,
            jitcodegen::Outcome::Trapped(report) => Ending::Trapped(report),
            jitcodegen::Outcome::Exited(_) => return Err("a flow graph has left by an exit".to_owned()),
        }
    } else {
        let mut evaluator = Evaluator::new(module, &mut memory).with_fuel(FUEL);
        match evaluator.call(&case.entry, &placed.words()).map_err(|e| e.to_string())? {
            Outcome::Returned(words) => returned(module, &memory, case, &words)?,
            Outcome::Trapped(report) => Ending::Trapped(report),
            Outcome::Exited { .. } | Outcome::Stopped { .. } => {
                return Err("a flow graph has left by an exit".to_owned());
            }
        }
    };
    let after = arguments.after(module, &placed, &memory).map_err(|e| e.to_string())?;
    Ok(Ran { ending, after, output: io::output().unwrap_or_default() })
}

fn returned(module: &Module, memory: &Memory, case: &Case, words: &[Word]) -> Result<Ending, String> {
    let ty = &module.graphs[&case.entry].signature.result;
    debug_words(module, memory, ty, words).map(Ending::Returned).map_err(|e| e.to_string())
}

/// Compares a run with what is wanted.
fn expect(case: &Case, engine: &str, ran: &Ran, failure: &mut Failure) {
    let problems = &mut failure.problems;
    match (&ran.ending, case.error_kind, &case.error) {
        (Ending::Trapped(trap), Some(ErrorKind::Trap), Some(wanted)) => {
            if !trap.message.contains(wanted.as_str()) {
                problems.push(format!("{engine}: traps with `{}`, wanted `{wanted}`", trap.message));
            }
        }
        (Ending::Trapped(trap), _, _) => problems.push(format!("{engine}: traps with `{}`", trap.message)),
        (Ending::Returned(got), Some(_), _) => problems.push(format!("{engine}: returns {got}, wanted a trap")),
        (Ending::Returned(got), None, _) => {
            let wanted = case.result.as_deref().unwrap_or("()");
            if !same(got, wanted) {
                problems.push(format!("{engine}: returns {got}, wanted {wanted}"));
            }
        }
    }
    if ran.output != case.output.as_bytes() {
        problems.push(format!("{engine}: writes {:?}, wanted {:?}", String::from_utf8_lossy(&ran.output), case.output));
    }
    for (place, wanted) in &case.after {
        let got = ran.after.get(place).map_or("nothing", String::as_str);
        if !same(got, wanted) {
            problems.push(format!("{engine}: leaves {place} = {got}, wanted {wanted}"));
        }
    }
}

/// Whether a run that ended so (with a result, or with the message of a trap) did what the case wants.
///
/// # Errors
/// What is wanted.
pub fn ends_as_wanted(case: &Case, end: Result<&str, &str>) -> Result<(), String> {
    let fits = match (end, case.error_kind) {
        (Ok(got), None) => same(got, case.result.as_deref().unwrap_or("()")),
        (Err(message), Some(ErrorKind::Trap)) => message.contains(case.error.as_deref().unwrap_or_default()),
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("ends with {end:?}, wanted {:?} {:?}", case.result, case.error)) }
}

/// Whether two texts say the same value, whatever their spaces and the way that a float is written.
fn same(got: &str, wanted: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (got, wanted) = (words(got), words(wanted));
    got.eq_ignore_ascii_case(&wanted) || matches!((got.parse::<f64>(), wanted.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// Whether an op belongs to a family of ops.
fn in_family(op: &str, family: &str) -> Option<bool> {
    let starts = |prefixes: &[&str]| Some(prefixes.iter().any(|p| op.starts_with(p)));
    match family {
        "cmp" => Some(
            matches!(op, "int_is_true" | "int_is_zero")
                || op.split_once('_').is_some_and(|(ty, relation)| {
                    matches!(ty, "int" | "uint" | "float" | "single" | "ptr" | "ref")
                        && matches!(relation, "eq" | "ne" | "lt" | "le" | "gt" | "ge")
                }),
        ),
        "addsub" => Some(matches!(op, "int_add" | "int_sub")),
        "load" => starts(&["getfield", "getarrayitem", "raw_load"]),
        "store" => starts(&["setfield", "setarrayitem", "raw_store"]),
        "alloc" => starts(&["new"]),
        "call" => starts(&["call"]),
        _ => None,
    }
}

/// How many ops have a name or belong to a family.
fn count(counts: &Counts, name: &str) -> usize {
    counts.ops.iter().filter(|(op, _)| in_family(op, name).unwrap_or(*op == name)).map(|(_, n)| n).sum()
}

fn bounds(case: &Case, counts: &Counts, out: &mut Vec<String>) {
    let mut at_most = |what: &str, n: usize, limit: usize| {
        if n > limit {
            out.push(format!("{what}: {n}, at most {limit} wanted"));
        }
    };
    for (name, limit) in &case.ops_max {
        at_most(name, count(counts, name), *limit);
    }
    for name in &case.ops_zero {
        at_most(name, count(counts, name), 0);
    }
    if let Some(limit) = case.total_ops_max {
        at_most("ops", counts.ops.values().sum(), limit);
    }
    if let Some(limit) = case.switches_max {
        at_most("switches", counts.switches, limit);
    }
    for (name, limit) in &case.calls_max {
        at_most(&format!("calls of {name}"), counts.calls.get(name).copied().unwrap_or(0), *limit);
    }
}

/// The entry's own residual graphs as text.
fn residual_text(report: &Report) -> String {
    let graphs = report.residual.reachable();
    let graphs = graphs.iter().filter_map(|key| report.residual.module.graphs.get(key));
    graphs.map(|graph| print_graph_short(&report.residual.module, &renumber(graph))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families() {
        for op in ["int_lt", "uint_ge", "float_ne", "int_is_true"] {
            assert_eq!(in_family(op, "cmp"), Some(true), "{op}");
        }
        assert!(in_family("int_add", "cmp") == Some(false) && in_family("int_force_ge_zero", "cmp") == Some(false));
        assert!(in_family("call_elidable", "call") == Some(true) && in_family("setfield", "load") == Some(false));
        assert_eq!(in_family("int_mul", "int_mul"), None);
    }

    #[test]
    fn values() {
        assert!(same("[1,  2]", "[1, 2]") && same("15.0", "15") && !same("1", "2"));
    }
}
