//! The correctness equation. For every graph `f` and every split of its arguments into green `g` and red `r`:
//!
//! ```text
//! eval(f, g ++ r)  ==  eval(specialize(f, g), r)  ==  native(specialize(f, g), r)  ==  trace(f, g, r), then run(r)
//! ```
//!
//! in results, memory, traps and output, with promotions and exits served.

use crate::Case;
use crate::oracle::{FUEL, Observed, Stage, on_input};
use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::{Const, MarkKind, Module, Stage as IrStage, Terminator, Word};
use flowgraph::memory::Memory;
use flowgraph::testing::Histogram;
use flowgraph::text::print_module;
use flowgraph::verify::{Rule, Violation, verify};
use hueshift::events::Reason;
use hueshift::{CompileError, Compiler, Jit, JitError};
use rustc_hash::FxHashMap;
use std::fmt;
use timeshifter::specialize::{Engine, Merge, Program, SpecError};

/// Two engines disagree, or one of them gave up.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Which engine, on which run.
    pub engine: String,
    /// What is wrong.
    pub what: String,
    /// The graphs that it ran.
    pub graphs: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n{}", self.engine, self.what, self.graphs)
    }
}

/// What came of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The runs compared, each by every engine.
    pub runs: usize,
    /// The runs that never end.
    pub endless: usize,
    /// The case can't be colored: something must be green that can't be.
    pub refused: bool,
    /// Specializing found a green loop or recursion that never ends.
    pub endless_green: bool,
    /// What is in the compiler's graphs, what runs executed, and what the engine and the driver did.
    pub histogram: Histogram,
}

impl Done {
    /// Adds what came of another case.
    pub fn add(&mut self, other: &Done) {
        self.runs += other.runs;
        self.endless += other.endless;
        self.histogram.merge(&other.histogram);
    }
}

/// The compiler of a case; `None` if it can't be colored.
///
/// # Errors
/// If the compiler's graphs break the rules of graphs.
pub fn compiler(stage: &Stage, case: &Case) -> Result<Option<Compiler>, Difference> {
    match Compiler::new(&stage.flow, &case.entry, &case.greens) {
        Ok(compiler) => {
            verified("the compiler", &compiler.module)?;
            Ok(Some(compiler))
        }
        Err(CompileError::Colors(_)) => Ok(None),
        Err(e) => Err(difference("coloring", e.to_string(), &stage.flow)),
    }
}

/// Holds one case to the equation.
///
/// # Errors
/// The first difference.
pub fn check(case: &Case) -> Result<Done, Difference> {
    on_input(case, || check_here(case))
}

fn check_here(case: &Case) -> Result<Done, Difference> {
    let (stage, mut memory) = Stage::new(case).map_err(|what| difference("the oracle", what, &case.module))?;
    let mut done = Done::default();
    let Some(compiler) = compiler(&stage, case)? else {
        done.refused = true;
        return Ok(done);
    };
    done.histogram = Histogram::of(&compiler.module);
    done.histogram.merge(&stage.histogram);
    let params = stage.flow.graphs[&case.entry].signature.params.len();
    let greens = compiler.known.len();
    done.histogram.see(format!("split: {} green", few(greens)));
    done.histogram.see(format!("split: {} red", few(params.saturating_sub(greens))));
    done.endless = stage.wanted.iter().filter(|w| w.is_none()).count();
    done.runs = stage.wanted.len() - done.endless;
    match check_eager(&stage, &compiler, &mut memory, &mut done)? {
        Specialized::Yes => {}
        Specialized::Endless => {
            done.endless_green = true;
            return Ok(done);
        }
    }
    for first in 0..stage.wanted.len() {
        check_traced(&stage, &compiler, &mut memory, first, &mut done)?;
    }
    Ok(done)
}

enum Specialized {
    Yes,
    Endless,
}

fn check_eager(
    stage: &Stage,
    compiler: &Compiler,
    memory: &mut Memory,
    done: &mut Done,
) -> Result<Specialized, Difference> {
    match evaluate_eager(stage, compiler, memory)? {
        Specialized::Yes => {}
        Specialized::Endless => return Ok(Specialized::Endless),
    }
    let switches = &stage.case.switches;
    let mut jit = Jit::new(compiler, memory, switches.options()).map_err(|e| failed("eager", &e, &compiler.module))?;
    switches.limit(jit.engine());
    jit.specialize(&stage.arguments(compiler)).map_err(|e| failed("specializing", &e, &compiler.module))?;
    // Twice, so that what promotions have grown is run too.
    for round in 0..2 {
        for run in stage.that_end() {
            stage.refresh(run, jit.memory());
            let engine = format!("native code, round {round}");
            let outcome = match jit.run(&stage.unknown_words(run)) {
                Ok(outcome) => outcome,
                Err(JitError::Specialize(e)) if is_endless(&e) => return Ok(Specialized::Endless),
                Err(e) => return Err(failed(&engine, &e, &compiler.module)),
            };
            compare_jit(stage, run, &engine, &outcome, &mut jit)?;
        }
    }
    let residual = jit.residual().map_err(|e| failed("eager", &e, &compiler.module))?.module;
    verified("residual graphs with cases", &residual)?;
    count(done, &mut jit, "eager");
    Ok(Specialized::Yes)
}

/// Traces one run, then runs the others, and all of them again, so that bridges and cases grow.
fn check_traced(
    stage: &Stage,
    compiler: &Compiler,
    memory: &mut Memory,
    first: usize,
    done: &mut Done,
) -> Result<(), Difference> {
    if stage.wanted[first].is_none() {
        return Ok(());
    }
    let switches = &stage.case.switches;
    let mut jit = Jit::new(compiler, memory, switches.options()).map_err(|e| failed("traced", &e, &compiler.module))?;
    switches.limit(jit.engine());
    stage.refresh(first, jit.memory());
    let engine = format!("tracing run {first}");
    let outcome = match jit.trace(&stage.arguments(compiler), &stage.words(first)) {
        Ok(outcome) => outcome,
        Err(JitError::Specialize(error)) if error.is_limit() => return Ok(()),
        Err(e) => return Err(failed(&engine, &e, &compiler.module)),
    };
    compare_jit(stage, first, &engine, &outcome, &mut jit)?;
    let raw = raw_module(jit.engine());
    verified("traces before cleaning", &raw)?;
    let residual = jit.residual().map_err(|e| failed("traced", &e, &compiler.module))?.module;
    verified("traces", &residual)?;
    // There is no entry where all code was thrown away in the run.
    for (run, entry) in stage.that_end().flat_map(|run| residual.entry.as_ref().map(|entry| (run, entry))) {
        let engine = "the evaluator of traces";
        stage.refresh(run, jit.memory());
        let outcome = evaluate_trace(jit.engine(), &residual, entry, &stage.unknown_words(run));
        let outcome = outcome.map_err(|what| difference(engine, format!("run {run}: {what}"), &residual))?;
        compare(stage, run, engine, &outcome, jit.memory(), &residual)?;
    }
    for round in 0..4 {
        for run in stage.that_end() {
            stage.refresh(run, jit.memory());
            let engine = format!("the trace of run {first}, round {round}");
            let outcome = match jit.run(&stage.unknown_words(run)) {
                Ok(outcome) => outcome,
                Err(JitError::Specialize(error)) if error.is_limit() => {
                    return Ok(());
                }
                Err(e) => return Err(failed(&engine, &e, &compiler.module)),
            };
            compare_jit(stage, run, &engine, &outcome, &mut jit)?;
        }
    }
    let residual = jit.residual().map_err(|e| failed("traced", &e, &compiler.module))?.module;
    verified("traces with bridges", &residual)?;
    count(done, &mut jit, "traced");
    Ok(())
}

/// Up to four, or more.
fn few(n: usize) -> String {
    if n < 5 { n.to_string() } else { "many".to_owned() }
}

/// Counts what the engine and the driver did.
fn count(done: &mut Done, jit: &mut Jit<'_>, policy: &str) {
    let stats = jit.stats();
    let seen = &mut done.histogram;
    seen.see_often(format!("{policy}: bridges"), stats.bridges);
    seen.see_often(format!("{policy}: regions"), stats.regions);
    seen.see_often(format!("{policy}: code thrown away"), stats.evictions);
    seen.see_often(format!("{policy}: cases of promotions"), stats.cases);
    seen.see_often(format!("{policy}: runs that went on in the interpreter"), stats.blackholed);
    let events = jit.events();
    let engine = jit.engine();
    seen.see_often(format!("{policy}: arrivals that entered as others before"), engine.passages_taken());
    for kind in [MarkKind::LocalMerge, MarkKind::GlobalMerge] {
        for merge in Merge::ALL {
            let count = engine.merges.count(kind, merge);
            // A trace passes joins; what it calls is specialized eagerly.
            let eager = kind == MarkKind::LocalMerge && merge != Merge::Passed;
            let policy = if eager { "eager" } else { policy };
            seen.see_often(format!("{policy} {}: {}", kind.name(), merge.name()), count);
        }
    }
    for event in &events {
        seen.see(match event.reason {
            Reason::KnownLoop => "traced: loops known from elsewhere",
            Reason::JoinTuples => "limit: tuples of greens at a join",
            Reason::ResidualOps => "limit: code",
            Reason::InlineDepth => "limit: inline depth",
            Reason::AbortAt | Reason::TraceSteps => "limit: steps of a trace",
            Reason::RegionRefused => "limit: region",
            _ => continue,
        });
    }
    for block in engine.fragments.iter().flat_map(|f| &f.graph.blocks) {
        let class = match &block.term {
            Terminator::Switch { promotion: true, .. } => "switches of promotions",
            Terminator::Exit { .. } => "exits",
            Terminator::Enter { .. } => "jumps to other fragments",
            _ => continue,
        };
        seen.see(format!("{policy}: {class}"));
    }
}

/// Compares a run with what the oracle says.
///
/// # Errors
/// If they differ.
pub fn compare(
    stage: &Stage,
    run: usize,
    engine: &str,
    outcome: &eval::Outcome,
    memory: &Memory,
    graphs: &Module,
) -> Result<(), Difference> {
    let Some(wanted) = &stage.wanted[run] else { return Ok(()) };
    match stage.observe(run, outcome, memory) {
        Ok(observed) if observed == *wanted => Ok(()),
        Ok(observed) => Err(said(engine, run, &observed, wanted, graphs)),
        Err(what) => Err(difference(engine, format!("run {run}: {what}"), graphs)),
    }
}

/// Compares a run of a driver with what the oracle says.
///
/// # Errors
/// If they differ.
pub fn compare_jit(
    stage: &Stage,
    run: usize,
    engine: &str,
    outcome: &eval::Outcome,
    jit: &mut Jit<'_>,
) -> Result<(), Difference> {
    let done = compare(stage, run, engine, outcome, jit.memory(), &Module::default());
    let graphs = |jit: &Jit<'_>| jit.residual().map(|r| print_module(&r.module)).unwrap_or_default();
    done.map_err(|difference| Difference { graphs: graphs(jit), ..difference })
}

fn said(engine: &str, run: usize, observed: &Observed, wanted: &Observed, graphs: &Module) -> Difference {
    let places = wanted.after.iter().filter(|(place, value)| observed.after.get(*place) != Some(value));
    let places: Vec<String> = places
        .map(|(place, value)| {
            format!("\n  {place} is {}\n  but should be {value}", observed.after.get(place).map_or("gone", |s| s))
        })
        .collect();
    let (got, want) = (observed.shown_end(), wanted.shown_end());
    let output = match observed.output == wanted.output {
        true => String::new(),
        false => format!("\n  writes {:?}\n  but should {:?}", observed.output, wanted.output),
    };
    let what = format!("run {run} gives {got}, and should give {want}{}{output}", places.concat());
    difference(engine, what, graphs)
}

/// Specializes, and runs the residual graphs in the evaluator.
fn evaluate_eager(stage: &Stage, compiler: &Compiler, memory: &mut Memory) -> Result<Specialized, Difference> {
    let gave_up = |e: SpecError| failed("specializing", &e.into(), &compiler.module);
    let mut engine = Engine::new(Program::load(&compiler.module, &compiler.analyses).map_err(gave_up)?, memory);
    stage.case.switches.limit(&mut engine);
    let unit = match engine.specialize(&compiler.entry, &stage.arguments(compiler)) {
        Ok(unit) => unit,
        Err(e) if is_endless(&e) => return Ok(Specialized::Endless),
        Err(e) => return Err(gave_up(e)),
    };
    verified("residual graphs before cleaning", &raw_module(&mut engine))?;
    verified("residual graphs", &engine.residual_module(unit))?;
    let mut cases = FxHashMap::default();
    for run in stage.that_end() {
        stage.refresh(run, engine.memory);
        let entry = engine.residual_module(unit).entry.unwrap_or_default();
        let outcome = evaluate_residual(&mut engine, unit, &entry, &stage.unknown_words(run), &mut cases);
        let residual = engine.residual_module(unit);
        let name = "the evaluator of residual graphs";
        let outcome = outcome.map_err(|what| difference(name, format!("run {run}: {what}"), &residual))?;
        compare(stage, run, name, &outcome, engine.memory, &residual)?;
    }
    verified("residual graphs with cases", &engine.residual_module(unit))?;
    Ok(Specialized::Yes)
}

/// Whether an interpreter is at fault, not the engine: a green loop or recursion that never ends.
pub fn is_endless(error: &SpecError) -> bool {
    error.is_limit() || matches!(error, SpecError::Evaluation { .. })
}

/// Runs residual graphs in the evaluator. A promotion gets a case for each value seen, unless that is an endless green
/// loop; there, and at other exits, the compiler graphs are run from the snapshot.
fn evaluate_residual(
    engine: &mut Engine<'_>,
    unit: usize,
    entry: &str,
    words: &[Word],
    cases: &mut FxHashMap<(u32, Word), String>,
) -> Result<eval::Outcome, String> {
    let (mut key, mut words, mut left) = (entry.to_owned(), words.to_vec(), Vec::new());
    let mut fuel = 10 * FUEL;
    let mut residual = engine.residual_module(unit);
    let outcome = loop {
        let mut evaluator = Evaluator::new(&residual, engine.memory).with_fuel(fuel);
        let outcome = evaluator.call(&key, &words).map_err(|e| e.to_string())?;
        fuel = evaluator.fuel.saturating_sub(200); // serving an exit is work, too
        let eval::Outcome::Exited { exit, args, frames, .. } = outcome else { break outcome };
        if frames.len() > 1 {
            return Err("a function that was called leaves by an exit".to_owned());
        }
        left.extend(frames);
        let seen = engine.exits[exit as usize].promoted_position().map(|at| args[at]);
        let grown = cases.keys().filter(|(e, _)| *e == exit).count();
        key = match seen {
            Some(seen) if cases.contains_key(&(exit, seen)) => cases[&(exit, seen)].clone(),
            Some(seen) if grown < MOST_CASES => {
                let case = match engine.specialize_case(exit, Const::Int(seen as i64)) {
                    Ok(case) => case,
                    // There is no code for it, and nothing of it is left.
                    Err(e) if is_endless(&e) => break blackhole(engine, exit, &args)?,
                    Err(e) => return Err(e.to_string()),
                };
                cases.insert((exit, seen), case.clone());
                residual = engine.residual_module(unit);
                case
            }
            _ => break blackhole(engine, exit, &args)?,
        };
        words = args;
    };
    let module = engine.program.module;
    let mut evaluator = Evaluator::new(module, engine.memory);
    left.into_iter().for_each(|frame| evaluator.release(frame));
    Ok(outcome)
}

/// Runs a trace in the evaluator; where it leaves by an exit, the compiler graphs are run from its snapshot.
fn evaluate_trace(
    engine: &mut Engine<'_>,
    residual: &Module,
    entry: &str,
    words: &[Word],
) -> Result<eval::Outcome, String> {
    let mut evaluator = Evaluator::new(residual, engine.memory).with_fuel(10 * FUEL);
    let outcome = evaluator.call(entry, words).map_err(|e| e.to_string())?;
    let eval::Outcome::Exited { exit, args, frames, .. } = outcome else { return Ok(outcome) };
    let outcome = blackhole(engine, exit, &args);
    let mut evaluator = Evaluator::new(residual, engine.memory);
    frames.into_iter().for_each(|frame| evaluator.release(frame));
    outcome
}

/// Cases of one promotion; further values are interpreted.
const MOST_CASES: usize = 6;

/// Runs the compiler graphs from an exit to the end.
fn blackhole(engine: &mut Engine<'_>, exit: u32, words: &[Word]) -> Result<eval::Outcome, String> {
    let resumed = engine.blackhole(exit, words).map_err(|e| e.to_string())?;
    let module = engine.program.module;
    let mut evaluator = Evaluator::new(module, engine.memory).with_fuel(10 * FUEL);
    evaluator.jitted = true;
    evaluator.resume(resumed).map_err(|e| format!("blackholing from exit {exit}: {e}"))
}

/// The residual graphs before they are cleaned.
fn raw_module(engine: &mut Engine<'_>) -> Module {
    let Program { module: source, .. } = &engine.program;
    let mut module = Module { graphs: Default::default(), stage: IrStage::Residual, ..(*source).clone() };
    module.entry = None;
    let usable = (0..engine.fragments.len()).filter(|at| !engine.fragments[*at].abandoned);
    for graph in usable.map(|at| engine.raw_graph(at)) {
        module.graphs.insert(graph.key.clone(), graph);
    }
    for key in engine.functions_as_they_are() {
        if let Some(graph) = source.graphs.get(&key) {
            module.graphs.insert(key, graph.clone());
        }
    }
    module
}

fn verified(engine: &str, module: &Module) -> Result<(), Difference> {
    match verify(module) {
        Ok(()) => Ok(()),
        Err(violations) => {
            // Blocks that nothing leads to (any more) go when a residual graph is cleaned.
            let raw = engine.ends_with("before cleaning");
            let counts = |v: &&Violation| !(raw && v.rule == Rule::Unreachable);
            let what: Vec<String> = violations.iter().filter(counts).map(ToString::to_string).collect();
            if what.is_empty() {
                return Ok(());
            }
            Err(difference(engine, format!("the verifier says: {}", what.join("; ")), module))
        }
    }
}

/// A difference.
pub fn difference(engine: &str, what: String, module: &Module) -> Difference {
    Difference { engine: engine.to_owned(), what, graphs: print_module(module) }
}

/// An engine gave up.
pub fn failed(engine: &str, error: &JitError, module: &Module) -> Difference {
    difference(engine, format!("failed: {error}"), module)
}
