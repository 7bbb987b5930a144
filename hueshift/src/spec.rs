//! Specializing an entry for the arguments of a guest program and running what comes out: what `hueshift spec` does.

use crate::compiler::Compiler;
use crate::events::{Event, Sink};
use crate::io;
use crate::jit::{Jit, JitError, JitOptions, MadeUp, Policy, Residual, Size, Stats};
use flowgraph::eval::{Evaluator, Outcome, TrapReport};
use flowgraph::ir::{Graph, Module, RustType, Word};
use flowgraph::memory::{BadAccess, Memory};
use flowgraph::value::{ArgumentError, Arguments, Placed, debug_words};
use flowgraph::verify::assert_sound;
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use timeshifter::specialize::Argument;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It returned; the result as Rust's `{:?}` prints it.
    Returned(String),
    /// It trapped.
    Trapped(TrapReport),
}

/// A run: how it ended, and what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// Memory afterwards, as far as it can have changed, by path, as Rust's `{:?}` prints it; nothing if it isn't to be
    /// shown ([`JitOptions::show_memory`]).
    pub after: IndexMap<String, String>,
    /// What it has written, where that is kept ([`crate::io::Io::bytes`]).
    pub output: Vec<u8>,
}

/// What is in the entry's residual graph, its bridges and its switch cases, without the functions that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ops by name; terminators and constants don't count.
    pub ops: BTreeMap<String, usize>,
    /// Residual calls by callee.
    pub calls: BTreeMap<String, usize>,
    /// Promotion switches.
    pub switches: usize,
    /// Blocks.
    pub blocks: usize,
}

/// What came of specializing and running.
#[derive(Clone, Debug)]
pub struct Report {
    /// The run of the compiled code.
    pub ran: Ran,
    /// What it consists of.
    pub counts: Counts,
    /// The residual graphs.
    pub residual: Residual,
    /// Cranelift's form and machine instructions of the residual graphs, by key, where they were asked for.
    pub machine: IndexMap<String, (String, String)>,
    /// What happened.
    pub events: Vec<Event>,
    /// Times and numbers.
    pub stats: Stats,
    /// How much code there is for each place in the guest program, largest first.
    pub sizes: Vec<Size>,
    /// How often each guard was executed, and on which executions one was made to fail, where that was asked for.
    pub guards: Option<(BTreeMap<i64, u64>, Vec<u64>)>,
    /// What came of entering the guard's fragment in made-up states, where that was asked for and there is such a
    /// guard.
    pub made_up: Option<MadeUp>,
}

/// What came of specializing alone.
#[derive(Clone, Debug)]
pub struct Specialized {
    /// The residual graphs. A promotion is an exit in them: its cases come with the values that runs bring.
    pub residual: Residual,
    /// Cranelift's form and machine instructions of the residual graphs, by key, where they were asked for.
    pub machine: IndexMap<String, (String, String)>,
    /// What happened.
    pub events: Vec<Event>,
}

/// Why there is no report. The guest's trap is no such reason.
#[derive(Debug, thiserror::Error)]
pub enum SpecFailure {
    /// The arguments don't fit the entry.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Its graphs call functions of the host that aren't there.
    #[error("the graphs call functions of the host that aren't there, or have other types: {0}")]
    NoHost(String),
    /// Specializing, code generation or interpreting stopped.
    #[error(transparent)]
    Jit(#[from] JitError),
    /// The guard to be failed is not among those compiled.
    #[error("there is no guard {asked}; the compiled trace and its bridges have {}", numbers(.there))]
    NoSuchGuard {
        /// The guard asked for.
        asked: u32,
        /// Those that there are.
        there: Vec<i64>,
    },
    /// A reference points outside of memory after a run.
    #[error("after the run: {0}")]
    Memory(#[from] BadAccess),
    /// The run that was traced and the run of the trace differ.
    #[error("the traced run and the run of the compiled trace differ: {0:?} and {1:?}")]
    Disagreement(Box<Ran>, Box<Ran>),
    /// The same, where the source says something of results, which may not be true.
    #[error("the traced run and the run of the compiled trace differ: {0} and {1}")]
    FalseHint(String, String),
}

/// `no guards`, `the guard 3`, `7 guards, from 0 to 6`.
fn numbers(there: &[i64]) -> String {
    match there {
        [] => "no guards".to_owned(),
        [only] => format!("the guard {only}"),
        [first, .., last] => format!("{} guards, from {first} to {last}", there.len()),
    }
}

impl SpecFailure {
    /// Whether this is a bug in hueshift and not the fault of a source, a program or arguments, provided that the
    /// compiler graphs came from a source, and were not edited.
    pub fn is_internal(&self) -> bool {
        match self {
            SpecFailure::Arguments(_) | SpecFailure::NoHost(_) | SpecFailure::NoSuchGuard { .. } => false,
            SpecFailure::FalseHint(..) => false,
            SpecFailure::Jit(JitError::Specialize(error)) => !error.is_limit(),
            SpecFailure::Jit(JitError::Codegen(error)) => !error.is_limit(),
            _ => true,
        }
    }
}

/// What `hueshift spec` does. Reads the arguments and makes those that are known when compiling data of the compiler's
/// module; specializes the entry for them under `policy`; and runs the machine code on the others. Under the tracing
/// policy the run that is traced and the run of the compiled code, on fresh copies of the arguments, must agree.
///
/// Input and output are the thread's ([`io`]); where output is kept, each run begins at the beginning of the input, and
/// has its own output. Under the tracing policy it should be kept: else the second run goes on where the first one
/// stopped.
///
/// # Errors
/// See [`SpecFailure`].
pub fn spec(compiler: &mut Compiler, args: &str, policy: Policy, options: &JitOptions) -> Result<Report, SpecFailure> {
    let course = if policy == Policy::Eager { Course::Eager } else { Course::TracedAndAgain };
    Setting::new(compiler, args)?.report(course, options, None)
}

/// Specializes an entry eagerly, as [`spec`] does, and runs nothing: that the guest program ends is not needed.
///
/// # Errors
/// See [`SpecFailure`].
pub fn specialize(compiler: &mut Compiler, args: &str, options: &JitOptions) -> Result<Specialized, SpecFailure> {
    let setting = Setting::new(compiler, args)?;
    let mut memory = setting.compiler.memory();
    let placed = setting.arguments.place(&mut memory);
    let given = setting.compiler.arguments(&setting.arguments, &placed);
    let mut jit = Jit::new(setting.compiler, &mut memory, with_all_events(options))?;
    jit.specialize(&given)?;
    Ok(specialized(&mut jit)?)
}

/// Settings with which no event of a run is forgotten.
fn with_all_events(options: &JitOptions) -> JitOptions {
    JitOptions { kept_events: usize::MAX, ..options.clone() }
}

/// What a driver has specialized so far.
pub(crate) fn specialized(jit: &mut Jit<'_>) -> Result<Specialized, JitError> {
    let residual = jit.residual()?;
    assert_sound(&residual.module, "specializing");
    let text = |key: &String| Some((key.clone(), (jit.code().clif(key)?, jit.code().asm(key)?.to_owned())));
    let machine = residual.module.graphs.keys().filter_map(text).collect();
    Ok(Specialized { residual, machine, events: jit.own_events() })
}

impl From<Report> for Specialized {
    fn from(report: Report) -> Specialized {
        let Report { residual, machine, events, .. } = report;
        Specialized { residual, machine, events }
    }
}

/// Runs an entry once, tracing it from its beginning, and going on in compiled code as soon as there is some.
///
/// # Errors
/// See [`SpecFailure`].
pub fn run_traced(compiler: &mut Compiler, args: &str, options: &JitOptions) -> Result<Report, SpecFailure> {
    Setting::new(compiler, args)?.report(Course::Traced, options, None)
}

/// The same, and each event is handed to a function when it happens.
///
/// # Errors
/// See [`SpecFailure`].
pub fn run_traced_telling(
    compiler: &mut Compiler,
    args: &str,
    options: &JitOptions,
    sink: Sink,
) -> Result<Report, SpecFailure> {
    Setting::new(compiler, args)?.report(Course::Traced, options, Some(sink))
}

/// Runs an entry's compiler graph by the evaluator: what every other way to run it must agree with.
///
/// # Errors
/// See [`SpecFailure`].
pub fn interpret(compiler: &mut Compiler, args: &str) -> Result<Ran, SpecFailure> {
    let setting = Setting::new(compiler, args)?;
    io::rewind();
    let mut memory = setting.compiler.memory();
    let placed = setting.arguments.place(&mut memory);
    let mut evaluator = Evaluator::new(&setting.compiler.module, &mut memory);
    evaluator.jitted = true;
    let outcome = evaluator.call(&setting.compiler.entry, &placed.words()).map_err(JitError::from)?;
    setting.ran(outcome, &placed, &memory, true)
}

/// In which order things are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Eager,
    Traced,
    TracedAndAgain,
}

/// A compiler and arguments for it.
struct Setting<'a> {
    compiler: &'a Compiler,
    arguments: Arguments,
    result: RustType,
}

impl<'a> Setting<'a> {
    fn new(compiler: &'a mut Compiler, args: &str) -> Result<Setting<'a>, SpecFailure> {
        let missing = compiler.hosts.missing(&compiler.module);
        if !missing.is_empty() {
            return Err(SpecFailure::NoHost(missing.join(", ")));
        }
        let signature = compiler.module.graphs[&compiler.entry].signature.clone();
        let mut arguments = Arguments::parse(&compiler.module, &signature, args)?;
        let known: Vec<usize> = compiler.known.iter().copied().collect();
        arguments.name_greens(&mut compiler.module, &known);
        Ok(Setting { compiler, arguments, result: signature.result })
    }

    fn report(&self, course: Course, options: &JitOptions, sink: Option<Sink>) -> Result<Report, SpecFailure> {
        io::rewind();
        let mut memory = self.compiler.memory();
        let placed = self.arguments.place(&mut memory);
        let given = self.compiler.arguments(&self.arguments, &placed);
        let words = placed.words();
        let unknown: Vec<Word> =
            given.iter().zip(&words).filter(|(a, _)| **a == Argument::Unknown).map(|(_, w)| *w).collect();
        let mut jit = Jit::new(self.compiler, &mut memory, with_all_events(options))?;
        if let Some(sink) = sink {
            jit.on_event(sink);
        }
        jit.engine().settings.limits_stop_traces = course == Course::Traced;
        if let (true, Some(guard)) = (options.make_up, options.force_guard) {
            let observe = |outcome: &Outcome, memory: &Memory| match self.ran(outcome.clone(), &placed, memory, true) {
                Ok(ran) => ran.shown(),
                Err(error) => error.to_string(),
            };
            jit.make_up(guard, Box::new(observe));
        }
        let outcome = if course == Course::Eager {
            jit.specialize(&given)?;
            jit.run(&unknown)?
        } else {
            jit.trace(&given, &words)?
        };
        let shown = options.show_memory || course == Course::TracedAndAgain;
        let mut ran = self.ran(outcome, &placed, jit.memory(), shown)?;
        if course == Course::TracedAndAgain {
            self.arguments.refresh(&placed, jit.memory());
            io::rewind();
            let outcome = jit.run(&unknown)?;
            let traced = std::mem::replace(&mut ran, self.ran(outcome, &placed, jit.memory(), true)?);
            // Only compiled code looks at hints.
            let is_hint = options.check_hints > 0 && matches!(ran.ending, Ending::Trapped(_));
            if !is_hint && !traced.agrees(&ran) {
                if self.compiler.says_of_values() {
                    return Err(SpecFailure::FalseHint(traced.shown(), ran.shown()));
                }
                return Err(SpecFailure::Disagreement(Box::new(traced), Box::new(ran)));
            }
        }
        let Specialized { residual, machine, events } = specialized(&mut jit)?;
        let guards = jit.guards().map(|g| (g.counts(), g.forced().at));
        let (stats, sizes) = (jit.stats(), jit.sizes());
        let counts = Counts::of(&residual);
        let made_up = jit.made_up().cloned();
        Ok(Report { ran, counts, residual, machine, events, stats, sizes, guards, made_up })
    }

    /// What a run has come to; `shown`: and what memory is like.
    fn ran(&self, outcome: Outcome, placed: &Placed, memory: &Memory, shown: bool) -> Result<Ran, SpecFailure> {
        let module = &self.compiler.module;
        let after = if shown { self.arguments.after(module, placed, memory)? } else { IndexMap::new() };
        let ending = match outcome {
            Outcome::Returned(words) => Ending::Returned(debug_words(module, memory, &self.result, &words)?),
            Outcome::Trapped(report) => Ending::Trapped(report),
            Outcome::Exited { .. } | Outcome::Stopped { .. } => {
                unreachable!("the driver goes on behind exits and merge points")
            }
        };
        Ok(Ran { ending, after, output: io::output().unwrap_or_default() })
    }
}

impl Ran {
    /// As text, which is equal for runs that agree.
    fn shown(&self) -> String {
        let ending = match &self.ending {
            Ending::Returned(text) => text.clone(),
            Ending::Trapped(trap) => format!("trap {:?} ({})", trap.kind, trap.message),
        };
        format!("{ending}, {:?}, {:?}", self.after, String::from_utf8_lossy(&self.output))
    }

    /// Whether two runs differ in nothing that a guest program decides.
    pub fn agrees(&self, other: &Ran) -> bool {
        let endings = match (&self.ending, &other.ending) {
            (Ending::Trapped(a), Ending::Trapped(b)) => a.message == b.message && a.kind == b.kind,
            (a, b) => a == b,
        };
        endings && self.after == other.after && self.output == other.output
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.switches += other.switches;
        self.blocks += other.blocks;
        for (counts, more) in [(&mut self.ops, other.ops), (&mut self.calls, other.calls)] {
            more.into_iter().for_each(|(name, n)| *counts.entry(name).or_default() += n);
        }
    }
}

impl Counts {
    /// Counts what is in the entry's own residual graphs, as far as a run can come to it.
    pub fn of(residual: &Residual) -> Counts {
        let mut counts = Counts { switches: residual.switches, ..Counts::default() };
        residual.reachable().iter().for_each(|key| counts.count(&residual.module.graphs[key], &residual.module));
        counts
    }

    /// Counts what is in all residual graphs: those of functions that are called, too, and those that nothing leads to
    /// any more.
    pub fn of_all(residual: &Residual) -> Counts {
        let mut counts = Counts { switches: residual.switches, ..Counts::default() };
        let graphs = residual.module.graphs.values().filter(|graph| !graph.is_host());
        graphs.for_each(|graph| counts.count(graph, &residual.module));
        counts
    }

    fn count(&mut self, graph: &Graph, module: &Module) {
        self.blocks += graph.blocks.len();
        for op in graph.blocks.iter().flat_map(|b| &b.ops) {
            *self.ops.entry(op.opcode.name().to_owned()).or_default() += 1;
            if let Some(callee) = op.callee() {
                let function = module.graphs.get(&*callee.name).map(|g| g.function.clone());
                *self.calls.entry(function.unwrap_or_else(|| callee.name.to_string())).or_default() += 1;
            }
        }
    }
}

impl Residual {
    /// The keys of the entry's own graphs that a run can come to, the entry's first: those that one enters another in,
    /// and those behind exits.
    pub fn reachable(&self) -> Vec<String> {
        let own: IndexSet<&String> = self.own.iter().collect();
        let mut keys: IndexSet<String> = self.own.first().into_iter().cloned().collect();
        keys.extend(self.behind_exits.iter().cloned());
        let mut at = 0;
        while let Some(graph) = keys.get_index(at).and_then(|key| self.module.graphs.get(key)) {
            at += 1;
            let entered = graph.blocks.iter().filter_map(|b| match &b.term {
                flowgraph::ir::Terminator::Enter { graph, .. } => Some(graph.to_string()),
                _ => None,
            });
            let entered: Vec<String> = entered.filter(|key| own.contains(key)).collect();
            keys.extend(entered);
        }
        keys.into_iter().collect()
    }
}
