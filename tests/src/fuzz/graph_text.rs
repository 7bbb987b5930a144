//! The parser of graph text on any bytes.

use super::arguments::arguments;
use crate::Switches;
use flowgraph::draw;
use flowgraph::eval::{EvalError, Evaluator, Outcome};
use flowgraph::ir::{DataId, Module, Stage};
use flowgraph::memory::Memory;
use flowgraph::text::{parse_module, print_module};
use flowgraph::verify::verify;
use hueshift::io::{self, Io};
use hueshift::{Compiler, Jit, JitOptions};
use std::collections::BTreeSet;

/// So many graphs of a module are run and colored.
const GRAPHS: usize = 8;

/// Modules with more lines than this are not drawn.
const DRAWN: usize = 120;

/// The bytes as text of graphs: refused at a place inside of it, with reason and remedy; or printed as it was read.
/// Graphs that hold can be run and drawn; flow graphs can be colored; a compiler's graphs compile, or it is said why
/// not.
///
/// # Panics
/// If any of this isn't so.
pub fn graph_text(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let module = match parse_module(&text) {
        Ok(module) => module,
        Err(e) => {
            let line = text.lines().nth((e.line as usize).wrapping_sub(1));
            let width = line.map_or(0, |line| line.chars().count());
            assert!(e.line > 0 && e.line as usize <= text.lines().count() + 1, "{e}: is not in the text");
            assert!(e.column > 0 && e.column as usize <= width + 1, "{e}: is beyond the end of the line");
            assert!(!e.reason.is_empty() && !e.remedy.is_empty(), "{e}");
            return false;
        }
    };
    let printed = print_module(&module);
    match parse_module(&printed) {
        Ok(again) => assert_eq!(print_module(&again), printed),
        Err(e) => panic!("what was read is not read again: {e}\n{printed}"),
    }
    match verify(&module) {
        Ok(()) => holds(&module, printed.lines().count()),
        Err(violations) => {
            assert!(violations.iter().all(|v| !v.to_string().is_empty()));
            return false;
        }
    }
    true
}

fn holds(module: &Module, lines: usize) {
    for graph in module.graphs.values().filter(|g| !g.is_host()).take(GRAPHS) {
        run(module, &graph.key, graph.entry_params().len());
    }
    if lines <= DRAWN {
        assert!(!draw::svg(module, None, &draw::no_reasons).is_empty());
        assert!(!draw::dot(module, None).is_empty());
    }
    if module.stage == Stage::Compiler
        && let Some(entry) = module.entry.as_ref().or_else(|| module.graphs.keys().next())
    {
        specialize(module, entry);
    }
    if module.stage == Stage::Flow {
        for key in module.graphs.keys().take(GRAPHS) {
            // Colors may be refused; what is given is sound (`Compiler::new` says so).
            let _ = Compiler::new(module, key, &BTreeSet::new());
            let _ = Compiler::new(module, key, &BTreeSet::from([0]));
        }
    }
}

/// Compiles with the compiler that these graphs are. It may be a wrong one, since somebody has edited it: what it makes
/// is sound all the same, or it fails with a reason.
fn specialize(module: &Module, entry: &str) {
    let Ok(mut compiler) = Compiler::of_module(module.clone(), entry) else { return };
    if !compiler.hosts.missing(&compiler.module).is_empty() {
        return;
    }
    let signature = compiler.module.graphs[&compiler.entry].signature.clone();
    let Some(mut arguments) = arguments(&compiler.module, &signature) else { return };
    let known: Vec<usize> = compiler.known.iter().copied().collect();
    arguments.name_greens(&mut compiler.module, &known);
    let mut memory = compiler.memory();
    let placed = arguments.place(&mut memory);
    let given = compiler.arguments(&arguments, &placed);
    let switches = Switches { residual_ops: 2_000, ..Switches::default() };
    let options = JitOptions { check_accesses: true, ..switches.options() };
    let failed = match Jit::new(&compiler, &mut memory, options) {
        Ok(mut jit) => {
            switches.limit(jit.engine());
            jit.engine().limits.green_steps = 10_000;
            jit.specialize(&given).err()
        }
        Err(e) => Some(e),
    };
    assert!(failed.is_none_or(|e| !e.to_string().is_empty()), "{entry}: failed without a reason");
}

/// Runs a graph with words that lead nowhere and words that lead to the module's data. Whatever it does, it does no
/// harm.
fn run(module: &Module, key: &str, params: usize) {
    let mut memory = Memory::for_module(module);
    memory.set_hosts(hueshift::hosts());
    let mut choices = vec![memory.allocate(64), 3, 0, 1, u64::MAX];
    choices.extend((0..module.data.len()).map(|i| memory.data_address(DataId(i as u32))));
    for first in 0..2 {
        let words: Vec<u64> = (0..params).map(|i| choices[(first * 3 + i) % choices.len()]).collect();
        io::with(Io::bytes(*b"input"), || {
            let mut evaluator = Evaluator::new(module, &mut memory).with_fuel(3_000);
            (evaluator.slot_limit, evaluator.depth_limit) = (1 << 20, 500);
            match evaluator.call(key, &words) {
                Ok(Outcome::Exited { frames, .. } | Outcome::Stopped { frames }) => {
                    frames.into_iter().for_each(|frame| evaluator.release(frame));
                }
                Ok(Outcome::Returned(_) | Outcome::Trapped(_)) => {}
                Err(EvalError::BadPosition { .. } | EvalError::NotExecutable(_)) if module.stage == Stage::Flow => {
                    panic!("{key} has no such position, though it is sound")
                }
                Err(_) => {}
            }
        });
    }
}
