//! Calls of functions of the corpus: what rustc says of them, and whether everything else says the same.

use flowgraph::frontend::{collect_files, lift};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, debug_words};
use hueshift_tests::beside::End;
use hueshift_tests::case::uncelled;
use hueshift_tests::oracle::{Observed, Stage};
use hueshift_tests::{Case, Switches, check};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One call, as rustc's build has carried it out.
pub struct Call {
    pub function: &'static str,
    /// Parameters that must be known, as hints ask for them.
    pub known: &'static [usize],
    /// The arguments before and after, as for `hueshift spec --args`.
    pub args: String,
    pub after: String,
    pub end: End,
}

/// `call!(calls: module::function(a, &mut b))` calls it, and notes what came of it. Parameters that must be known stand in
/// brackets: `call!(calls: module::function[0, 2](a, b, c))`.
macro_rules! call {
    ($calls:ident: $module:ident :: $f:ident $([$($known:literal),*])? ($($arg:expr),* $(,)?)) => {
        call!(@ $calls $module $f [$($($known),*)?] [$($arg,)*] [a b c d e f g h] [])
    };
    (@ $calls:ident $module:ident $f:ident $known:tt [$arg:expr, $($rest:tt)*] [$name:ident $($names:ident)*] [$($done:tt)*]) => {
        call!(@ $calls $module $f $known [$($rest)*] [$($names)*] [$($done)* $name = $arg,])
    };
    (@ $calls:ident $module:ident $f:ident [$($known:literal),*] [] $names:tt [$($name:ident = $arg:expr,)*]) => {{
        $(#[allow(unused_mut)] let mut $name = $arg;)*
        let args = crate::harness::written(&[$(format!("{:?}", $name)),*]);
        let end = hueshift_tests::beside::ended(|| format!("{:?}", $module::$f($($name),*)));
        let after = crate::harness::written(&[$(format!("{:?}", $name)),*]);
        $calls.push(crate::harness::Call { function: stringify!($f), known: &[$($known),*], args, after, end });
    }};
}
pub(crate) use call;

/// Arguments as one text.
pub fn written(args: &[String]) -> String {
    uncelled(&args.join(", "))
}

/// The folder of the corpus.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dialect")
}

/// A file of the corpus with those of its modules, lifted.
pub fn lifted(file: &str) -> Module {
    let read = |name: &str| std::fs::read_to_string(corpus().join(name));
    let text = read(file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let beside = |name: &str| if corpus().join(name).exists() { read(name).map(Some) } else { Ok(None) };
    let files = collect_files(file, text, beside).unwrap_or_else(|e| panic!("{file}: {e}"));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    lift(&files).unwrap_or_else(|refused| panic!("{refused}"))
}

/// So many calls are the runs of one case: a trace of each is run on all.
const TOGETHER: usize = 4;

/// Holds calls of the functions of a file to what rustc's build did: the evaluator and machine code of the flow graphs, and
/// all that the equation holds for, with no parameter known, with each of them, with all but each, and with all.
pub fn check_calls(file: &str, calls: &[Call]) {
    let module = lifted(file);
    let mut functions: IndexMap<&str, Vec<&Call>> = IndexMap::new();
    for call in calls {
        functions.entry(call.function).or_default().push(call);
    }
    let mut wrong = Vec::new();
    for (function, calls) in functions {
        if let Err(what) = check_function(&module, function, &calls) {
            wrong.push(format!("{file}: {function}: {what}"));
        }
    }
    wrong.extend(check_tier_0(&module, calls).err());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn check_function(module: &Module, function: &str, calls: &[&Call]) -> Result<(), String> {
    let all = case(module, function, &BTreeSet::new(), calls);
    let (stage, _) = Stage::new(&all)?;
    for (call, observed) in calls.iter().zip(&stage.wanted) {
        let Some(observed) = observed else { return Err(format!("({}) doesn't end", call.args)) };
        compare(module, function, call, "the evaluator", observed)?;
    }
    let params = module.graphs[function].signature.params.len();
    for greens in choices(module, function, params, calls[0].known) {
        // What is known is that of the first call, for all of them; where all is known, each has its own.
        let together = if greens.len() == params && params > 0 { 1 } else { TOGETHER };
        for calls in calls.chunks(together) {
            let done = check(&case(module, function, &greens, calls)).map_err(|d| format!("greens {greens:?}: {d}"))?;
            // With what is known of the first call another may not end.
            if done.refused || done.endless_green || done.runs == 0 || done.runs + done.endless != calls.len() {
                return Err(format!("greens {greens:?}: {done:?}"));
            }
        }
    }
    Ok(())
}

/// Which parameters are known: none, each, all but each, all; those that must be, always. A portal says it itself.
fn choices(module: &Module, function: &str, params: usize, must: &[usize]) -> BTreeSet<BTreeSet<usize>> {
    if let Some(portal) = &module.graphs[function].attributes.portal {
        return BTreeSet::from([portal.greens.iter().copied().collect()]);
    }
    let all: BTreeSet<usize> = (0..params).collect();
    let mut choices = BTreeSet::from([BTreeSet::new(), all.clone()]);
    for i in 0..params {
        choices.insert(BTreeSet::from([i]));
        choices.insert(all.iter().copied().filter(|p| *p != i).collect());
    }
    choices.into_iter().map(|greens| greens.into_iter().chain(must.iter().copied()).collect()).collect()
}

fn case(module: &Module, function: &str, greens: &BTreeSet<usize>, calls: &[&Call]) -> Case {
    Case {
        module: module.clone(),
        entry: function.to_owned(),
        greens: greens.clone(),
        runs: calls.iter().map(|call| call.args.clone()).collect(),
        input: String::new(),
        switches: Switches::default(),
    }
}

/// Compares a run with what rustc's build did.
fn compare(module: &Module, function: &str, call: &Call, engine: &str, observed: &Observed) -> Result<(), String> {
    let line_of = |line| if matches!(call.end, Err((_, 0))) { 0 } else { line };
    let end = observed.end.clone().map_err(|trap| (trap.message, line_of(trap.loc.line)));
    if end != call.end {
        return Err(format!("{function}({}): {engine} gives {end:?}, rustc {:?}", call.args, call.end));
    }
    let signature = &module.graphs[function].signature;
    let after = Arguments::parse(module, signature, &call.after).map_err(|e| e.to_string())?;
    let mut memory = Memory::for_module(module);
    let placed = after.place(&mut memory);
    let after = after.after(module, &placed, &memory).map_err(|e| e.to_string())?;
    for (place, wanted) in &after {
        let found = observed.after.get(place);
        if found != Some(wanted) {
            return Err(format!("{function}({}): {engine} leaves {place} = {found:?}, rustc {wanted}", call.args));
        }
    }
    Ok(())
}

/// Runs machine code of the flow graphs.
fn check_tier_0(module: &Module, calls: &[Call]) -> Result<(), String> {
    let mut memory = Memory::for_module(module);
    let mut engine = jitcodegen::Engine::new(jitcodegen::Options::default()).map_err(|e| e.to_string())?;
    engine.compile(module, &memory).map_err(|e| e.to_string())?;
    for call in calls {
        let signature = &module.graphs[call.function].signature;
        let arguments = Arguments::parse(module, signature, &call.args).map_err(|e| e.to_string())?;
        let placed = arguments.place(&mut memory);
        let end = match engine.call(call.function, &placed.words()).map_err(|e| e.to_string())? {
            jitcodegen::Outcome::Returned(words) => {
                Ok(debug_words(module, &memory, &signature.result, &words).map_err(|e| e.to_string())?)
            }
            jitcodegen::Outcome::Trapped(report) => Err(report),
            jitcodegen::Outcome::Exited(_) => return Err("a flow graph has left by an exit".to_owned()),
        };
        let after = arguments.after(module, &placed, &memory).map_err(|e| e.to_string())?;
        let observed = Observed { end, after, output: Vec::new() };
        compare(module, call.function, call, "machine code of the flow graphs", &observed)?;
    }
    Ok(())
}
