//! The bundled interpreters as parts of this program: what the macro lifts is what the command lifts, and every example holds
//! in the interpreter as rustc compiled it and in code compiled for the program.

use flowgraph::frontend::lift;
use flowgraph::text::print_module;
use hueshift::embed::{Error, Jit};
use hueshift::golden::Golden;
use hueshift::{Compiler, Trap};
use interpreters::all;
use std::collections::BTreeSet;

#[test]
fn the_graphs_of_the_macro_are_those_of_the_file() {
    for interpreter in all() {
        let embedded = interpreter.embedded();
        let [(name, Some(text))] = embedded.files() else { panic!("{} is one file", interpreter.name) };
        assert_eq!(*text, interpreter.source);
        let module = lift(&[(name, text)]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(embedded.whole_flow().to_string(), print_module(&module), "{}", interpreter.name);
        let greens: BTreeSet<usize> = interpreter.greens.iter().copied().collect();
        let entry = embedded.entry(interpreter.entry).expect("the row's entry is one of the macro's");
        assert_eq!(entry.greens, interpreter.greens);
        let colors = hueshift::hintannotator::annotate(&module, interpreter.entry, &greens).expect("it has colors");
        let colored = embedded.whole_colored(interpreter.entry).expect("it has colors").to_string();
        assert_eq!(colored, print_module(&colors.module), "{}", interpreter.name);
        let compiler = Compiler::new(&module, interpreter.entry, &greens).expect("it has a compiler");
        let shifted = embedded.whole_compiler(interpreter.entry).expect("it has a compiler").to_string();
        assert_eq!(shifted, Golden::of_module(compiler.module).to_string(), "{}", interpreter.name);
    }
}

#[test]
fn examples_hold_in_every_tier() {
    for interpreter in all() {
        for program in interpreter.programs {
            let code = interpreter.assemble(program.text).expect("it assembles");
            let mut jit = Jit::new(interpreter.embedded());
            for run in program.runs() {
                let arguments: Vec<i64> = run.arguments.iter().map(|a| a.parse().expect("a number")).collect();
                let expected = run.expected.map_err(str::to_owned);
                let what = format!("{}/{} {arguments:?}", interpreter.name, program.name);
                let message = |trap: Trap| trap.message;
                assert_eq!(interpreter.interpret(&code, &arguments).map_err(message), expected, "{what}");
                let compiled = interpreter.run_compiled(&mut jit, &code, &arguments).map_err(|error| match error {
                    Error::Trap(trap) => trap.message,
                    error => panic!("{what}: {error}"),
                });
                assert_eq!(compiled, expected, "{what}");
            }
            assert_eq!(jit.compiled(), 1, "{}: compiled once for all runs", program.name);
        }
    }
}
