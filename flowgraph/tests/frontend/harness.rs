//! Runs lifted graphs on the evaluator, and Rust code beside them.

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use flowgraph::value::{Arguments, debug_words};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result as `{:?}` prints it, or `panic: MESSAGE`; then the memory behind `&mut` parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub result: String,
    pub after: Vec<(String, String)>,
}

/// Lifts a file, checks the graphs and their text.
pub fn lift(name: &str, text: &str) -> Module {
    let module = match flowgraph::frontend::lift(&[(name, text)]) {
        Ok(module) => module,
        Err(refused) => panic!("{refused}"),
    };
    if let Err(violations) = flowgraph::verify::verify(&module) {
        panic!("{}", violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    let printed = flowgraph::text::print_module(&module);
    let again = flowgraph::text::parse_module(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(flowgraph::text::print_module(&again), printed);
    module
}

/// Evaluates `entry`.
pub fn evaluate(module: &Module, entry: &str, args: &str) -> Ran {
    let graph = module.graphs.get(entry).unwrap_or_else(|| panic!("no function {entry}"));
    let args = Arguments::parse(module, &graph.signature, args).unwrap_or_else(|e| panic!("{entry}: {e}"));
    let mut memory = Memory::for_module(module);
    let placed = args.place(&mut memory);
    let outcome = Evaluator::new(module, &mut memory).with_fuel(10_000_000).call(entry, &placed.words());
    let result = match outcome {
        Ok(Outcome::Returned(words)) => {
            debug_words(module, &memory, &graph.signature.result, &words).expect("in memory")
        }
        Ok(Outcome::Trapped(trap)) => format!("panic: {}", trap.message),
        other => panic!("{entry}: {other:?}"),
    };
    let after = args.after(module, &placed, &memory).expect("in memory").into_iter().collect();
    Ran { result, after }
}

/// Runs Rust code; a panic's message is the result.
pub fn native<T: std::fmt::Debug>(code: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => format!("{value:?}"),
        Err(payload) => {
            let message = payload.downcast_ref::<String>().cloned();
            let message = message.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            format!("panic: {}", message.unwrap_or_default())
        }
    }
}

/// Panics are part of the tests: they are not to be printed.
pub fn quietly<T>(code: impl FnOnce() -> T) -> T {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Only those of the harness itself.
            let own = ["programs.rs", "harness.rs"];
            if info.location().is_some_and(|l| own.iter().any(|f| l.file().ends_with(f))) {
                usual(info);
            }
        }));
    });
    code()
}
