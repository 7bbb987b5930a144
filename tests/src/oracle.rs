//! The oracle: the evaluator of the flow graphs says what a run gives.
//!
//! What is compared is text: results as Rust prints them (so that all NaNs are equal), what lies behind the references
//! afterwards, and traps with kind, message and place; and the bytes that a run has written. Runs read and write the
//! thread's input and output, which must be a [`Case`]'s: see [`on_input`].

use crate::Case;
use flowgraph::eval::{self, CallAnswer, EvalError, Evaluator, Frame, Hooks, TrapReport};
use flowgraph::ir::{Graph, Module, Op, Opcode, Word};
use flowgraph::memory::Memory;
use flowgraph::testing::Histogram;
use flowgraph::value::{Arguments, Placed, debug_words};
use hueshift::io::{self, Io};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use timeshifter::specialize::Argument;

/// How much the evaluator may do in one run.
pub const FUEL: u64 = 300_000;

/// What can be seen of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The result, or the trap.
    pub end: Result<String, TrapReport>,
    /// What lies behind the references.
    pub after: IndexMap<String, String>,
    /// What has been written.
    pub output: Vec<u8>,
}

impl Observed {
    /// The result or the trap, for people.
    pub fn shown_end(&self) -> String {
        match &self.end {
            Ok(text) => text.clone(),
            Err(trap) => format!("trap {:?} at {}:{} ({})", trap.kind, trap.loc.line, trap.loc.column, trap.message),
        }
    }
}

/// The arguments of one run, in memory.
#[derive(Debug)]
struct Run {
    arguments: Arguments,
    placed: Placed,
    same: Vec<(usize, usize)>,
}

/// A case whose arguments lie in memory: all engines work on the same.
#[derive(Debug)]
pub struct Stage {
    /// The flow module, with what known references lead to among its data.
    pub flow: Module,
    /// The case.
    pub case: Case,
    runs: Vec<Run>,
    /// For each run what it gives; `None` if it never ends.
    pub wanted: Vec<Option<Observed>>,
    /// In how many runs each op was executed (`executed op`), and how many ended in which way or did what (`run`).
    pub histogram: Histogram,
}

/// From so many calls inside of each other on a run counts as deep.
const DEEP: usize = 50;

/// What a run has done: which ops it has executed, and what it has called.
struct Executed<'m> {
    flow: &'m Module,
    ops: BTreeSet<Opcode>,
    /// Of the functions that are being run, which are portals.
    portals: Vec<bool>,
    /// Names of classes.
    seen: BTreeSet<&'static str>,
}

impl Executed<'_> {
    fn new(flow: &Module) -> Executed<'_> {
        Executed { flow, ops: BTreeSet::new(), portals: Vec::new(), seen: BTreeSet::new() }
    }
}

impl Hooks for Executed<'_> {
    fn op(&mut self, _graph: &Graph, _frame: &Frame, op: &Op) {
        self.ops.insert(op.opcode);
    }

    fn call(&mut self, depth: usize, callee: &str, _args: &[Word], _memory: &mut Memory) -> CallAnswer {
        match callee {
            "prelude::get_byte" => self.seen.insert("run: read a byte"),
            "prelude::put_byte" => self.seen.insert("run: wrote a byte"),
            _ => false,
        };
        let portal = self.flow.graphs.get(callee).is_some_and(|graph| graph.attributes.portal.is_some());
        self.portals.resize(depth, false);
        self.portals.push(portal);
        if portal {
            self.seen.insert("run: called a portal");
        }
        if self.portals.len() >= DEEP {
            self.seen.insert("run: 50 calls deep");
            if portal && self.portals.iter().filter(|portal| **portal).count() >= DEEP {
                self.seen.insert("run: 50 portals deep");
            }
        }
        CallAnswer::Enter
    }
}

/// Works with the input of a case, and an output that is kept.
pub fn on_input<T>(case: &Case, work: impl FnOnce() -> T) -> T {
    io::with(Io::bytes(case.input.as_bytes()), work).0
}

impl Stage {
    /// Places the arguments, and runs the evaluator on each.
    ///
    /// # Errors
    /// If the arguments don't fit, or the flow graphs are at fault.
    pub fn new(case: &Case) -> Result<(Stage, Memory), String> {
        let mut flow = case.module.clone();
        let signature = match flow.graphs.get(&case.entry) {
            Some(graph) => graph.signature.clone(),
            None => return Err(format!("no function `{}`", case.entry)),
        };
        let mut arguments = Vec::new();
        let mut sames = Vec::new();
        for run in &case.runs {
            let (args, same) = crate::case::split_run(run)?;
            arguments.push(Arguments::parse(&flow, &signature, args).map_err(|e| format!("{e} in `{args}`"))?);
            sames.push(same);
        }
        if let Some(first) = arguments.first_mut() {
            let greens: Vec<usize> = case.greens.iter().copied().collect();
            first.name_greens(&mut flow, &greens);
        }
        let mut memory = Memory::for_module(&flow);
        memory.set_hosts(hueshift::hosts());
        let place = |(arguments, same): (Arguments, _)| {
            let placed = arguments.place(&mut memory);
            Run { arguments, placed, same }
        };
        let runs = arguments.into_iter().zip(sames).map(place).collect();
        let (wanted, histogram) = (Vec::new(), Histogram::default());
        let mut stage = Stage { flow, case: case.clone(), runs, wanted, histogram };
        for run in 0..stage.runs.len() {
            stage.refresh(run, &mut memory);
            let words = stage.words(run);
            let evaluator = Evaluator::new(&stage.flow, &mut memory).with_fuel(FUEL);
            let mut evaluator = evaluator.with_hooks(Executed::new(&stage.flow));
            let outcome = evaluator.call(&case.entry, &words);
            let Executed { ops: executed, seen: done, .. } = evaluator.hooks;
            let wanted = match outcome {
                Ok(outcome) => {
                    let seen = &mut stage.histogram;
                    executed.iter().for_each(|op| seen.see(format!("executed op: {}", op.name())));
                    done.into_iter().for_each(|class| seen.see(class));
                    match &outcome {
                        eval::Outcome::Trapped(trap) => seen.see(format!("run: trapped {}", trap.kind.name())),
                        _ => seen.see("run: returned"),
                    }
                    Some(stage.observe(run, &outcome, &memory)?)
                }
                Err(EvalError::OutOfFuel) => None,
                Err(e) => return Err(format!("the evaluator of the flow graphs: {e}")),
            };
            stage.wanted.push(wanted);
        }
        Ok((stage, memory))
    }

    /// The known and unknown arguments, for the engine.
    pub fn arguments(&self, compiler: &hueshift::Compiler) -> Vec<Argument> {
        let mut out = Vec::new();
        for param in 0..self.params() {
            let (run, param_of) = self.source(0, param);
            let known = compiler.known.contains(&param);
            let leaves = self.runs[run].arguments.constants(&self.runs[run].placed, param_of);
            out.extend(leaves.into_iter().map(|c| if known { Argument::Known(c) } else { Argument::Unknown }));
        }
        out
    }

    fn params(&self) -> usize {
        self.flow.graphs[&self.case.entry].signature.params.len()
    }

    /// Where the words of a parameter come from: run and parameter. A known reference can't be the same as one that
    /// isn't.
    fn source(&self, run: usize, param: usize) -> (usize, usize) {
        let is_green = |param: &usize| self.case.greens.contains(param);
        let run = if is_green(&param) { 0 } else { run };
        match self.runs[run].same.iter().find(|(a, _)| *a == param) {
            Some((_, other)) if *other < param && (is_green(other) || !is_green(&param)) => self.source(run, *other),
            _ => (run, param),
        }
    }

    /// The runs that come to an end.
    pub fn that_end(&self) -> impl Iterator<Item = usize> {
        (0..self.wanted.len()).filter(|run| self.wanted[*run].is_some())
    }

    /// All words of a run.
    pub fn words(&self, run: usize) -> Vec<Word> {
        self.select(run, |_| true)
    }

    /// The words of the parameters that aren't known.
    pub fn unknown_words(&self, run: usize) -> Vec<Word> {
        self.select(run, |param| !self.case.greens.contains(&param))
    }

    fn select(&self, run: usize, which: impl Fn(usize) -> bool) -> Vec<Word> {
        let words = |param| {
            let (run, param) = self.source(run, param);
            self.runs[run].placed.parameter(param).to_vec()
        };
        (0..self.params()).filter(|p| which(*p)).flat_map(words).collect()
    }

    /// Gives memory the contents that it has before a run; nothing has been read or written.
    pub fn refresh(&self, run: usize, memory: &mut Memory) {
        io::rewind();
        for run in [&self.runs[0], &self.runs[run]] {
            run.arguments.refresh(&run.placed, memory);
        }
    }

    /// What can be seen of a run that has ended.
    ///
    /// # Errors
    /// If it hasn't, or memory is in ruins.
    pub fn observe(&self, run: usize, outcome: &eval::Outcome, memory: &Memory) -> Result<Observed, String> {
        let result = &self.flow.graphs[&self.case.entry].signature.result;
        let end = match outcome {
            eval::Outcome::Returned(words) => {
                Ok(debug_words(&self.flow, memory, result, words).map_err(|e| e.to_string())?)
            }
            eval::Outcome::Trapped(trap) => Err(trap.clone()),
            other => return Err(format!("the run ended in the middle: {other:?}")),
        };
        let mut after = IndexMap::new();
        for (whose, run) in [("known ", &self.runs[0]), ("", &self.runs[run])] {
            let places = run.arguments.after(&self.flow, &run.placed, memory).map_err(|e| e.to_string())?;
            after.extend(places.into_iter().map(|(place, value)| (format!("{whose}{place}"), value)));
        }
        Ok(Observed { end, after, output: io::output().unwrap_or_default() })
    }
}
