//! Specializing costs no more than what it goes through: for programs twice as long, twice the steps, twice the work
//! (what states hold that is copied or gone through), and twice the code. Counted, not timed.

use hueshift_tests::pipeline::Pipeline;
use timeshifter::specialize::{Engine, Program};

/// What specializing costs: steps, work and residual ops before cleaning.
fn cost(source: &str, greens: &[usize], arguments: &str, traced: bool) -> [usize; 3] {
    let pipeline = Pipeline::new("long.rs", source, "f", greens).expect("it is of the dialect");
    let mut prepared = pipeline.prepare(arguments).expect("the arguments fit");
    let args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
    let words = prepared.placed.words();
    let program = Program::load(&prepared.compiler.module, &prepared.compiler.analyses).expect("compiler graphs");
    let mut engine = Engine::new(program, &mut prepared.memory);
    let key = &prepared.compiler.entry;
    if traced {
        engine.trace_entry(key, &args, &words).expect("it can be traced");
    } else {
        engine.specialize(key, &args).expect("it can be specialized");
    }
    [engine.steps as usize, engine.work, engine.fragments.iter().map(|f| f.size).sum()]
}

/// Twice the size costs twice as much, give or take what there is besides.
fn assert_linear(what: &str, cost: impl Fn(usize) -> [usize; 3]) {
    let (once, twice) = (cost(200), cost(400));
    for ((name, once), twice) in ["steps", "work", "ops"].iter().zip(once).zip(twice) {
        let per_round = twice / 400;
        assert!(twice <= 2 * once + once / 10, "{what}: {name} {once}, for twice the size {twice}");
        assert!(per_round < 250, "{what}: {name} {per_round} a round");
    }
}

fn function(parameters: &str, rounds: usize, round: impl Fn(usize) -> String) -> String {
    let body: String = (0..rounds).map(round).collect();
    format!("pub fn f({parameters}) -> i64 {{\n{body}    x\n}}\n")
}

#[test]
fn checked_reads_one_after_another() {
    let source = |n| function("s: &[i64], i: i64, mut x: i64", n, |_| "x = x + s[(x ^ i) as usize & 7];\n".to_owned());
    for traced in [false, true] {
        assert_linear("reads", |n| cost(&source(n), &[], "[1,2,3,4,5,6,7,8],3,4", traced));
    }
}

#[test]
fn checked_stores_one_after_another() {
    let round = |_| "s[(x ^ i) as usize & 7] = x;\nx = x + s[(x + i) as usize & 7];\n".to_owned();
    let source = |n| function("s: &mut [i64], i: i64, mut x: i64", n, round);
    for traced in [false, true] {
        assert_linear("stores", |n| cost(&source(n), &[], "[1,2,3,4,5,6,7,8],3,4", traced));
    }
}

#[test]
fn loads_that_are_remembered() {
    let round = |k| format!("let a{k} = s[(i + {k}) as usize];\nx = x ^ a{k};\n");
    let source = |n| function("s: &mut [i64], i: i64, mut x: i64", n, round);
    assert_linear("loads", |n| cost(&source(n), &[], "[1],0,4", false));
}

#[test]
fn other_ways_out() {
    let round = |k| format!("if x * {} == i {{ return x - {k}; }}\nx = x * 3 + i;\n", k + 2);
    let source = |n| function("i: i64, mut x: i64", n, round);
    for traced in [false, true] {
        assert_linear("returns", |n| cost(&source(n), &[], "3,4", traced));
    }
    let round = |k| format!("if x == {k} {{ x = x * 5; }} else {{ x = x + i; }}\n");
    let source = |n| function("i: i64, mut x: i64", n, round);
    for traced in [false, true] {
        assert_linear("diamonds", |n| cost(&source(n), &[], "3,4", traced));
    }
}

#[test]
fn guest_code_with_a_check_at_every_op() {
    let interpreter = "
        #[portal(greens(code, pc), reds(tape, at))]
        pub fn f(code: &[i64], mut pc: usize, tape: &mut [u8], mut at: usize) -> i64 {
            loop {
                merge_point!();
                if pc >= code.len() {
                    return at as i64;
                }
                let op = code[pc];
                pc += 1;
                if op == 0 {
                    tape[at] = tape[at].wrapping_add(1);
                } else if op == 1 {
                    at = at.wrapping_add(tape[at] as usize);
                } else if tape[at] != 0 {
                    pc -= 3;
                    can_enter_jit!();
                }
            }
        }";
    let guest = |n: usize| format!("[{}],0,[0,0,0,0],1", vec!["0,1,2"; n].join(","));
    assert_linear("guest code", |n| cost(interpreter, &[], &guest(n), false));
}
