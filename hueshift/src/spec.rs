//! Specializing an entry for the arguments of a guest program and running what comes out: what `hueshift spec` does.

use crate::compiler::Compiler;
use crate::jit::{Jit, JitError, JitOptions, Policy, Residual, Stats};
use flowgraph::eval::{Outcome, TrapReport};
use flowgraph::ir::{Module, RustType, Word};
use flowgraph::memory::{BadAccess, Memory};
use flowgraph::value::{ArgumentError, Arguments, Placed, debug_words};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeMap;
use timeshifter::specialize::{Argument, Event, SpecError};

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
    /// Memory afterwards, as far as it can have changed, by path, as Rust's `{:?}` prints it.
    pub after: IndexMap<String, String>,
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
    /// What happened to the limits.
    pub events: Vec<Event>,
    /// Times and numbers.
    pub stats: Stats,
    /// How often each guard was executed, and on which executions one was made to fail, where that was asked for.
    pub guards: Option<(BTreeMap<i64, u64>, Vec<u64>)>,
}

/// Why there is no report. The guest's trap is no such reason.
#[derive(Debug, thiserror::Error)]
pub enum SpecFailure {
    /// The arguments don't fit the entry.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Specializing, code generation or interpreting stopped.
    #[error(transparent)]
    Jit(#[from] JitError),
    /// A reference points outside of memory after a run.
    #[error("after the run: {0}")]
    Memory(#[from] BadAccess),
    /// The run that was traced and the run of the trace differ.
    #[error("the traced run and the run of the compiled trace differ: {0:?} and {1:?}")]
    Disagreement(Box<Ran>, Box<Ran>),
}

impl SpecFailure {
    /// Whether this is a bug in hueshift and not the fault of a source, a program or arguments, provided that the compiler
    /// graphs came from a source, and were not edited.
    pub fn is_internal(&self) -> bool {
        match self {
            SpecFailure::Arguments(_) => false,
            SpecFailure::Jit(JitError::Specialize(error)) => {
                !matches!(error, SpecError::EndlessGreen { .. } | SpecError::EndlessRecursion { .. })
            }
            _ => true,
        }
    }
}

/// What `hueshift spec` does. Reads the arguments and makes those that are known when compiling data of the compiler's
/// module; specializes the entry for them under `policy`; and runs the machine code on the others. Under the tracing
/// policy the run that is traced and the run of the compiled code, on fresh copies of the arguments, must agree.
///
/// # Errors
/// See [`SpecFailure`].
pub fn spec(compiler: &mut Compiler, args: &str, policy: Policy, options: &JitOptions) -> Result<Report, SpecFailure> {
    let signature = compiler.module.graphs[&compiler.entry].signature.clone();
    let mut arguments = Arguments::parse(&compiler.module, &signature, args)?;
    let known: Vec<usize> = compiler.known.iter().copied().collect();
    arguments.name_greens(&mut compiler.module, &known);
    let mut memory = Memory::for_module(&compiler.module);
    let placed = arguments.place(&mut memory);
    let given = compiler.arguments(&arguments, &placed);
    let words = placed.words();
    let unknown: Vec<Word> =
        given.iter().zip(&words).filter(|(a, _)| **a == Argument::Unknown).map(|(_, w)| *w).collect();
    let run = Runs { module: &compiler.module, arguments: &arguments, placed: &placed, result: &signature.result };
    let mut jit = Jit::new(compiler, &mut memory, options.clone())?;
    let ran = match policy {
        Policy::Eager => {
            jit.specialize(&given)?;
            let outcome = jit.run(&unknown)?;
            run.ran(outcome, jit.memory())?
        }
        Policy::Tracing => {
            let outcome = jit.trace(&given, &words)?;
            let traced = run.ran(outcome, jit.memory())?;
            arguments.refresh(&placed, jit.memory());
            let outcome = jit.run(&unknown)?;
            let ran = run.ran(outcome, jit.memory())?;
            if !same(&traced, &ran) {
                return Err(SpecFailure::Disagreement(Box::new(traced), Box::new(ran)));
            }
            ran
        }
    };
    let residual = jit.residual()?;
    let text = |key: &String| Some((key.clone(), (jit.code().clif(key)?, jit.code().asm(key)?.to_owned())));
    let machine = residual.module.graphs.keys().filter_map(text).collect();
    let guards = jit.guards().map(|g| (g.counts(), g.forced().at));
    let (stats, events) = (jit.stats(), jit.engine().events.clone());
    let counts = Counts::of(&residual);
    Ok(Report { ran, counts, residual, machine, events, stats, guards })
}

/// Two runs that differ in nothing that a guest program decides.
fn same(a: &Ran, b: &Ran) -> bool {
    let endings = match (&a.ending, &b.ending) {
        (Ending::Trapped(a), Ending::Trapped(b)) => a.message == b.message && a.kind == b.kind,
        (a, b) => a == b,
    };
    endings && a.after == b.after
}

struct Runs<'a> {
    module: &'a Module,
    arguments: &'a Arguments,
    placed: &'a Placed,
    result: &'a RustType,
}

impl Runs<'_> {
    fn ran(&self, outcome: Outcome, memory: &Memory) -> Result<Ran, SpecFailure> {
        let after = self.arguments.after(self.module, self.placed, memory)?;
        let ending = match outcome {
            Outcome::Returned(words) => Ending::Returned(debug_words(self.module, memory, self.result, &words)?),
            Outcome::Trapped(report) => Ending::Trapped(report),
            Outcome::Exited { .. } | Outcome::Stopped { .. } => {
                unreachable!("the driver goes on behind exits and merge points")
            }
        };
        Ok(Ran { ending, after })
    }
}

impl Counts {
    /// Counts what is in the entry's own residual graphs, as far as a run can come to it.
    pub fn of(residual: &Residual) -> Counts {
        let mut counts = Counts { switches: residual.switches, ..Counts::default() };
        for key in residual.reachable() {
            let graph = &residual.module.graphs[&key];
            counts.blocks += graph.blocks.len();
            for op in graph.blocks.iter().flat_map(|b| &b.ops) {
                *counts.ops.entry(op.opcode.name().to_owned()).or_default() += 1;
                if let Some(callee) = op.callee() {
                    let function = residual.module.graphs.get(&*callee.name).map(|g| g.function.clone());
                    *counts.calls.entry(function.unwrap_or_else(|| callee.name.to_string())).or_default() += 1;
                }
            }
        }
        counts
    }
}

impl Residual {
    /// The keys of the entry's own graphs that a run can come to, the entry's first: those that one enters another in, and
    /// those behind exits.
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
