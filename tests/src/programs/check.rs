//! What a program gives in every engine, and beside what rustc's build of it gives.

use super::Program;
use super::tier0::{Asked, End, Ran, Source};
use crate::Case;
use crate::equation::{self, Difference, Done};
use flowgraph::eval::{EvalError, Evaluator, Outcome};
use flowgraph::frontend::{Refused, lift};
use flowgraph::ir::{Module, RustType};
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, debug_words};
use hueshift::io::{self, Io};
use std::collections::BTreeMap;

/// How much the evaluator may do in one run.
const FUEL: u64 = 50_000_000;

/// What is wrong with a program.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The front end doesn't take it.
    #[error("refused:\n{0}")]
    Refused(Refused),
    /// The evaluator can't run it.
    #[error("the evaluator of the flow graphs: {0}")]
    Evaluator(String),
    /// Two engines disagree.
    #[error("{0}")]
    Difference(Difference),
    /// The evaluator and rustc disagree.
    #[error("rustc: {0}")]
    Rustc(String),
}

/// A program that has been lifted.
#[derive(Clone, Debug)]
pub struct Lifted<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its flow graphs.
    pub module: Module,
}

/// What the file of a program is called.
pub const FILE: &str = "program.rs";

impl Lifted<'_> {
    /// Lifts a program.
    ///
    /// # Errors
    /// If the front end refuses it.
    pub fn new(program: &Program) -> Result<Lifted<'_>, Fault> {
        let module = lift(&[(FILE, &program.source)]).map_err(Fault::Refused)?;
        Ok(Lifted { program, module })
    }

    /// As one of a batch for rustc.
    pub fn source(&self) -> Source<'_> {
        let Lifted { program, module } = self;
        let asked = |args| Asked { module, entry: &program.entry, args, input: &program.input };
        Source { files: vec![(FILE, &program.source)], asked: program.runs.iter().map(|args| asked(args)).collect() }
    }

    /// The case of a split into greens and reds.
    pub fn case(&self, greens: &[usize]) -> Case {
        Case {
            module: self.module.clone(),
            entry: self.program.entry.clone(),
            greens: greens.iter().copied().collect(),
            runs: self.program.runs.clone(),
            input: self.program.input.clone(),
            switches: self.program.switches,
        }
    }

    /// Holds the program to the correctness equation, for each of its splits into greens and reds.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self) -> Result<Done, Fault> {
        let mut done = Done::default();
        for greens in &self.program.splits {
            let one = equation::check(&self.case(greens)).map_err(Fault::Difference)?;
            done.add(&one);
            done.refused |= one.refused;
            done.endless_green |= one.endless_green;
        }
        Ok(done)
    }

    /// Compares what rustc's build gave with what the evaluator gives.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, theirs: &[Ran]) -> Result<(), Fault> {
        for (asked, theirs) in self.source().asked.iter().zip(theirs) {
            let ours = evaluate(asked).map_err(Fault::Evaluator)?;
            compare(&ours, theirs).map_err(|what| Fault::Rustc(format!("for `{}`: {what}", asked.args)))?;
        }
        Ok(())
    }
}

/// Holds a program to the correctness equation. It needs no rustc: the evaluator says what a run gives.
///
/// # Errors
/// What is wrong with it.
pub fn check_program(program: &Program) -> Result<Done, Fault> {
    Lifted::new(program)?.check()
}

/// Runs the flow graphs in the evaluator.
///
/// # Errors
/// If arguments don't fit, or the run doesn't end.
pub fn evaluate(asked: &Asked<'_>) -> Result<Ran, String> {
    let (ran, io) = io::with(Io::bytes(asked.input.as_bytes()), || evaluate_here(asked));
    let mut ran = ran?;
    ran.output = io.output().to_vec();
    Ok(ran)
}

fn evaluate_here(asked: &Asked<'_>) -> Result<Ran, String> {
    let Asked { module, entry, args, .. } = asked;
    let graph = module.graphs.get(*entry).ok_or_else(|| format!("no function `{entry}`"))?;
    let signature = &graph.signature;
    let arguments = Arguments::parse(module, signature, args).map_err(|e| e.to_string())?;
    let mut memory = Memory::for_module(module);
    memory.set_hosts(hueshift::hosts());
    let placed = arguments.place(&mut memory);
    let outcome = Evaluator::new(module, &mut memory).with_fuel(FUEL).call(entry, &placed.words());
    let end = match outcome {
        Ok(Outcome::Returned(words)) => {
            End::Returned(debug_words(module, &memory, &signature.result, &words).map_err(|e| e.to_string())?)
        }
        Ok(Outcome::Trapped(trap)) => End::Trapped { line: Some(trap.loc.line), message: trap.message },
        Ok(other) => return Err(format!("the run ended in the middle: {other:?}")),
        Err(EvalError::OutOfFuel) => return Err("the run doesn't end".to_owned()),
        Err(e) => return Err(e.to_string()),
    };
    let mut after = BTreeMap::new();
    for (i, param) in signature.params.iter().enumerate() {
        if matches!(param.ty, RustType::Ref { .. } | RustType::Slice { .. }) {
            let shown = debug_words(module, &memory, &param.ty, placed.parameter(i)).map_err(|e| e.to_string())?;
            after.insert(i, shown);
        }
    }
    Ok(Ran { end, after, output: Vec::new() })
}

/// Compares a run with the same of rustc's build.
///
/// # Errors
/// What differs.
pub fn compare(ours: &Ran, theirs: &Ran) -> Result<(), String> {
    if !same_end(&ours.end, &theirs.end) {
        return Err(format!("ends with {:?}, and should with {:?}", ours.end, theirs.end));
    }
    for (param, wanted) in &theirs.after {
        let got = ours.after.get(param).map_or("nothing", String::as_str);
        if got != wanted {
            return Err(format!("leaves parameter {param} = {got}, and should {wanted}"));
        }
    }
    if ours.output != theirs.output {
        return Err(format!("writes {:?}, and should {:?}", ours.output, theirs.output));
    }
    Ok(())
}

fn same_end(ours: &End, theirs: &End) -> bool {
    match (ours, theirs) {
        (End::Returned(ours), End::Returned(theirs)) => ours == theirs,
        (End::Trapped { line, message }, End::Trapped { line: their_line, message: said }) => {
            // A panic in the standard library has no line of the program.
            message == said && (their_line.is_none() || line == their_line)
        }
        _ => false,
    }
}
