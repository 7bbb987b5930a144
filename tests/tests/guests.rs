//! Every example of every guest program, on every engine there is: the evaluator and machine code on the flow graphs,
//! the evaluator on residual graphs, and the driver with its compiled code, exits and bridges under both policies. (The
//! reference machines of the crate `interpreters` have confirmed the examples already.)

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use flowgraph::value::Arguments;
use hueshift::io::{self, Io};
use hueshift::{Jit, JitOptions};
use hueshift_tests::pipeline::Pipeline;
use interpreters::{Interpreter, Run, all};

/// The result as text or the trap's message, and what was written.
type Ended = (Result<String, String>, Vec<u8>);

fn ended(outcome: Outcome) -> Ended {
    let ended = match outcome {
        Outcome::Returned(words) => returned(&words),
        Outcome::Trapped(trap) => Err(trap.message),
        other => panic!("{other:?}"),
    };
    (ended, io::output().expect("it is kept"))
}

/// The entries of bundled interpreters give an integer or nothing.
fn returned(words: &[u64]) -> Result<String, String> {
    Ok(words.first().map_or("()".to_owned(), |word| (*word as i64).to_string()))
}

/// Calls `check` for each example with its name, the arguments' text, and what is expected; its input is there.
fn for_each_example(check: impl Fn(&Pipeline, &str, &str, &Ended)) {
    let mut runs = 0;
    for interpreter in all() {
        let pipeline = Pipeline::of(interpreter).unwrap_or_else(|e| panic!("{}: {e}", interpreter.name));
        for Example { what, args, input, expected } in examples(interpreter) {
            io::with(Io::bytes(input), || check(&pipeline, &what, &args, &expected));
            runs += 1;
        }
    }
    assert!(runs >= 40, "{runs} examples");
}

struct Example {
    what: String,
    args: String,
    input: &'static [u8],
    expected: Ended,
}

fn examples(interpreter: &'static Interpreter) -> Vec<Example> {
    let programs = interpreter.programs.iter();
    let runs = programs.flat_map(|program| program.runs().into_iter().map(move |run| (program, run)));
    // Without optimization, long runs take minutes in the evaluator.
    let short = |run: &Run| !run.arguments.iter().any(|a| a.parse::<i64>().is_ok_and(|a| a.abs() > 30));
    let runs = runs.filter(|(_, run)| !cfg!(debug_assertions) || short(run));
    runs.map(|(program, run)| {
        let what = format!("{}/{} {:?}", interpreter.name, program.name, run.arguments);
        let args = interpreter.load_text(program.text, &run.arguments).expect("a bundled program");
        let expected = run.expected.map(str::to_owned).map_err(str::to_owned);
        Example { what, args, input: run.input, expected: (expected, run.output.to_vec()) }
    })
    .collect()
}

#[test]
fn the_evaluator() {
    for_each_example(|pipeline, what, args, expected| {
        let flow = &pipeline.flow;
        let arguments = Arguments::parse(flow, &pipeline.entry_graph().signature, args).expect("arguments that fit");
        let mut memory = Memory::for_module(flow);
        memory.set_hosts(hueshift::hosts());
        let words = arguments.place(&mut memory).words();
        let outcome = Evaluator::new(flow, &mut memory).call(&pipeline.entry, &words).expect("it runs");
        assert_eq!(ended(outcome), *expected, "{what}");
    });
}

#[test]
fn tier_0() {
    for_each_example(|pipeline, what, args, expected| {
        let flow = &pipeline.flow;
        let arguments = Arguments::parse(flow, &pipeline.entry_graph().signature, args).expect("arguments that fit");
        let mut memory = Memory::for_module(flow);
        memory.set_hosts(hueshift::hosts());
        let words = arguments.place(&mut memory).words();
        let mut engine = jitcodegen::Engine::new(jitcodegen::Options::default()).expect("an engine");
        engine.compile(flow, &memory).expect("it compiles");
        let got = match engine.call(&pipeline.entry, &words).expect("it can be entered") {
            jitcodegen::Outcome::Returned(words) => Outcome::Returned(words),
            jitcodegen::Outcome::Trapped(trap) => Outcome::Trapped(trap),
            other => panic!("{other:?}"),
        };
        assert_eq!(ended(got), *expected, "{what}");
    });
}

/// The evaluator on what is left, where it has no exits (they need the driver).
#[test]
fn residual_graphs_in_the_evaluator() {
    let has_exits = |module: &Module| {
        let mut blocks = module.graphs.values().flat_map(|g| &g.blocks);
        blocks.any(|b| matches!(b.term, flowgraph::ir::Terminator::Exit { .. }))
    };
    for_each_example(|pipeline, what, args, expected| {
        let mut prepared = pipeline.prepare(args).expect("arguments that fit");
        let unknown = prepared.unknown();
        let jit = prepared.specialize(JitOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
        let residual = jit.residual().expect("it has been specialized").module;
        drop(jit);
        if has_exits(&residual) {
            return;
        }
        let key = residual.entry.clone().expect("an entry");
        let outcome = Evaluator::new(&residual, &mut prepared.memory).call(&key, &unknown).expect("it runs");
        assert_eq!(ended(outcome), *expected, "{what}");
    });
}

#[test]
fn specialized() {
    for_each_example(|pipeline, what, args, expected| {
        let mut prepared = pipeline.prepare(args).expect("arguments that fit");
        let (unknown, arguments, placed) = (prepared.unknown(), prepared.arguments.clone(), prepared.placed.clone());
        let mut jit = prepared.specialize(JitOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
        for round in 0..4 {
            arguments.refresh(&placed, jit.memory());
            io::rewind();
            let outcome = jit.run(&unknown).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(ended(outcome), *expected, "{what}, round {round}");
        }
    });
}

#[test]
fn traced() {
    for_each_example(|pipeline, what, args, expected| {
        let mut prepared = pipeline.prepare(args).expect("arguments that fit");
        let (unknown, arguments, placed) = (prepared.unknown(), prepared.arguments.clone(), prepared.placed.clone());
        let engine_args = prepared.compiler.arguments(&arguments, &placed);
        let mut jit = Jit::new(&prepared.compiler, &mut prepared.memory, JitOptions::default()).expect("a driver");
        let outcome = jit.trace(&engine_args, &placed.words()).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(ended(outcome), *expected, "{what}, traced");
        for round in 0..4 {
            arguments.refresh(&placed, jit.memory());
            io::rewind();
            let outcome = jit.run(&unknown).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(ended(outcome), *expected, "{what}, round {round} after tracing");
        }
    });
}
