//! The bundled interpreters as parts of this program: what the macro lifts is what the command lifts, and every example holds
//! in the interpreter as rustc compiled it and in code compiled for the program.

use flowgraph::frontend::lift;
use flowgraph::text::print_module;
use hueshift::embed::{Error, Jit};
use hueshift::golden::Golden;
use hueshift::io::{self, Io};
use hueshift::{Compiler, JitOptions, Trap};
use interpreters::{all, brainfuck, find};
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
            let code = interpreter.program_of_file(".asm", program.text.as_bytes()).expect("it can be read");
            let mut jit = Jit::new(interpreter.embedded());
            for run in program.runs() {
                let what = format!("{}/{} {:?}", interpreter.name, program.name, run.arguments);
                let expected = run.expected.map(str::to_owned).map_err(str::to_owned);
                let (ran, io) = io::with(Io::bytes(run.input), || interpreter.tier0(&code, &run.arguments));
                let ran = ran.expect("arguments that fit");
                assert_eq!(ran.result.map_err(|trap: Trap| trap.message), expected, "{what}");
                assert_eq!(io.output(), run.output, "{what}");
                let arguments: Vec<i64> = run.arguments.iter().filter_map(|a| a.parse().ok()).collect();
                let Some(compiled) = interpreter.run_compiled(&mut jit, &code, &arguments) else { continue };
                assert_eq!(compiled.map(|n| n.to_string()).map_err(message), expected, "{what}");
                assert_eq!(jit.compiled(), 1, "{}: compiled once for all runs", program.name);
            }
        }
    }
}

#[test]
fn examples_hold_just_in_time() {
    let settings = [(1, 1, 32), (2, 2, 2), (5, 1, 1), (40, 20, 32)];
    for (threshold, bridge, cases) in settings {
        let options = JitOptions { threshold, bridge, cases, slot_bytes: 1 << 22, ..JitOptions::default() };
        for interpreter in all() {
            for program in interpreter.programs {
                let code = interpreter.program_of_file(".asm", program.text.as_bytes()).expect("it can be read");
                for run in program.runs() {
                    let what = format!("{}/{} {:?} {options:?}", interpreter.name, program.name, run.arguments);
                    let expected = run.expected.map(str::to_owned).map_err(str::to_owned);
                    let jitted = || interpreter.jit(&code, &run.arguments, &options);
                    let (ran, io) = io::with(Io::bytes(run.input), jitted);
                    let ran = ran.expect("arguments that fit");
                    assert_eq!(ran.result.map_err(message), expected, "{what}");
                    assert_eq!(io.output(), run.output, "{what}");
                    eprintln!("{what} {:?}", ran.stats);
                }
            }
        }
    }
}

/// What was refused, or is still on its way when a run ends, is not among the residual graphs; the rest can be counted.
#[test]
fn graphs_without_code_are_not_there() {
    let bf = find("bf").expect("it is bundled");
    let program = bf.programs.iter().find(|program| program.name == "rot13").expect("it is bundled");
    let code = bf.program_of_file(".b", program.text.as_bytes()).expect("it can be read");
    let run = program.runs().into_iter().next().expect("it has a run");
    let (mut refused, mut counted) = (0, 0);
    for (number, background) in (1..12).flat_map(|number| [(number, false), (number, true)]) {
        let options =
            JitOptions { threshold: 2, bridge: 1, refuse_code: Some(number), background, ..Jit::usual_options() };
        let (ran, _) = io::with(Io::bytes(run.input), || bf.jit(&code, &run.arguments, &options));
        let ran = ran.expect("arguments that fit");
        for made in &ran.compiled {
            counted += hueshift::Counts::of(&made.residual).blocks;
            let is_there = |key: &String| made.residual.module.graphs.contains_key(key);
            assert!(made.residual.reachable().iter().all(is_there), "{number} {background}");
        }
        refused += usize::from(ran.stats.bridges > 0);
    }
    assert!(refused > 0 && counted > 0, "{refused} {counted}");
}

fn message(error: Error) -> String {
    match error {
        Error::Trap(trap) => trap.message,
        error => panic!("{error}"),
    }
}

/// In a program of one's own: the rows are borrowed as long as what was compiled for them may be run.
#[test]
fn brainfuck_compiled() {
    let bf = find("bf").expect("it is bundled");
    for program in bf.programs {
        let rows = brainfuck::rows(program.text.as_bytes()).expect("it can be read");
        let mut jit = Jit::new(bf.embedded());
        for run in program.runs() {
            let mut tape = vec![0; brainfuck::CELLS];
            let compiled = || brainfuck::lang::aot::bf(&mut jit, &rows, &mut tape);
            let (ran, io) = io::with(Io::bytes(run.input), compiled);
            assert_eq!(ran.map_err(message).map(|()| "()"), run.expected.map_err(str::to_owned), "{}", program.name);
            assert_eq!(io.output(), run.output, "{}", program.name);
        }
    }
}
