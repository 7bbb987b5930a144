//! The driver over many runs: what it takes it gives back; and what a question to the compiler gives in its code.

use flowgraph::frontend::lift;
use flowgraph::ir::Word;
use flowgraph::memory::Memory;
use flowgraph::value::Arguments;
use hueshift::events::{Event, Reason, What};
use hueshift::{Choice, Compiler, Ending, Jit, JitOptions, Stats, abort_everywhere, force_every_guard};
use hueshift_tests::Switches;
use hueshift_tests::pipeline::Pipeline;
use timeshifter::specialize::{Engine, Limits, Program, SpecError};

/// Everything that takes memory: a local that is forced, calls that trap, loops over reds, promotions.
const SOURCE: &str = "
use hueshift::prelude::*;

#[dont_look_inside]
fn fill(into: &mut [i64; 4], x: i64) {
    into[(x & 3) as usize] = x;
}

pub fn run(cells: &mut [i64], n: i64) -> i64 {
    let mut local = [0; 4];
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        can_enter_jit!();
        let step = promote(n & 1) + 1;
        fill(&mut local, n);
        if n % 3 == 0 {
            cells[(n % 5) as usize] += local[(n & 3) as usize];
        }
        sum += local[(step & 3) as usize];
        n -= step;
    }
    sum
}
";

/// Two thousand drivers over one memory, one after the other, each stopped, disturbed or neither; and one that runs
/// often.
#[test]
fn drivers_give_their_memory_back() {
    let pipeline = Pipeline::new("run.rs", SOURCE, "run", &[]).expect("a source of the dialect");
    // With four cells a run can end in a trap, too.
    for cells in ["[0; 5]", "[0; 4]"] {
        let mut prepared = pipeline.prepare(&format!("{cells}, 25")).expect("arguments that fit");
        let words: Vec<Word> = prepared.placed.words();
        let args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
        let regions = prepared.memory.regions();
        let mut ends = Vec::new();
        for turn in 0..1000 {
            let options = JitOptions {
                abort_at: (turn % 3 == 0).then_some(turn % 97),
                force_guard: (turn % 3 == 1).then_some(turn as u32 % 23),
                ..Switches::default().options()
            };
            prepared.arguments.refresh(&prepared.placed, &mut prepared.memory);
            let mut jit = Jit::new(&prepared.compiler, &mut prepared.memory, options).expect("a driver");
            let with_slots = jit.memory().regions();
            ends.push(jit.trace(&args, &words).expect("a run"));
            for _ in 0..if turn == 0 { 50 } else { 1 } {
                jit.run(&words).expect("a run");
                assert_eq!(jit.memory().regions(), with_slots, "turn {turn}");
            }
            drop(jit);
            assert_eq!(prepared.memory.regions(), regions, "turn {turn}");
        }
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    }
}

/// Whatever the code generator refuses of a whole program but its beginning, runs go on in the interpreter without it.
#[test]
fn what_is_refused_stays_in_the_interpreter() {
    let pipeline = Pipeline::new("run.rs", SOURCE, "run", &[]).expect("a source of the dialect");
    let mut prepared = pipeline.prepare("[0; 5], 25").expect("arguments that fit");
    let words: Vec<Word> = prepared.placed.words();
    let args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
    let (mut ends, mut refused) = (Vec::new(), 0);
    for number in 3..12 {
        let options = JitOptions { refuse_code: Some(number), ..Switches::default().options() };
        prepared.arguments.refresh(&prepared.placed, &mut prepared.memory);
        let mut jit = Jit::new(&prepared.compiler, &mut prepared.memory, options).expect("a driver");
        let first = jit.trace(&args, &words);
        ends.push(first.unwrap_or_else(|error| panic!("batch {number}: {error}")));
        for run in 0..20 {
            prepared.arguments.refresh(&prepared.placed, jit.memory());
            ends.push(jit.run(&words).unwrap_or_else(|error| panic!("batch {number}, run {run}: {error}")));
        }
        refused += jit.events().iter().filter(|event| event.reason == Reason::CodeGeneration).count();
    }
    assert!(refused > 4, "{refused}");
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
}

/// `we_are_jitted()` is true in all that the compiler looks into, inlined, called or interpreted behind an exit, and
/// nowhere else.
#[test]
fn jitted_is_what_is_looked_into() {
    const ASKING: &str = "
use hueshift::prelude::*;

fn ask(x: i64) -> i64 {
    if we_are_jitted() { x } else { 1_000_000 }
}

fn ask_in_a_loop(x: i64) -> i64 {
    let mut i = 0;
    let mut sum = 0;
    while i < x {
        sum += ask(i);
        i += 1;
    }
    sum
}

#[dont_look_inside]
fn ask_outside(x: i64) -> i64 {
    ask(x)
}

pub fn run(asked: &mut i64, n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        if n % 3 == 0 {
            *asked += ask_outside(n);
        }
        sum += if n % 4 == 0 { ask(n) } else { ask_in_a_loop(n) };
        n -= 1;
    }
    sum
}
";
    let pipeline = Pipeline::new("asking.rs", ASKING, "run", &[]).expect("a source of the dialect");
    let args = "0, 12";
    let inside: i64 = (1..=12).map(|n| if n % 4 == 0 { n } else { n * (n - 1) / 2 }).sum();
    let ran = hueshift::interpret(&mut pipeline.compiler.clone(), args).expect("a run");
    assert_eq!(ran.ending, hueshift::Ending::Returned(inside.to_string()));
    assert_eq!(ran.after.values().collect::<Vec<_>>(), ["4000000"]);
    let eager =
        hueshift::spec(&mut pipeline.compiler.clone(), args, hueshift::Policy::Eager, &Switches::default().options());
    assert_eq!(eager.expect("a run").ran, ran);
    let aborts =
        abort_everywhere(&pipeline.compiler, args, &Switches::default().options()).expect("an undisturbed run");
    let guards =
        force_every_guard(&pipeline.compiler, args, &Switches::default().options(), None).expect("an undisturbed run");
    assert_eq!(aborts.wrong, [""; 0]);
    assert_eq!(guards.wrong, [""; 0]);
    assert!(guards.is_complete() && guards.guards[0] > 3, "{guards:?}");
}

/// Why an entry can't be specialized within small limits: so many ops of one graph, and 300 greens of a loop.
fn refusal(file: &str, source: &str, entry: &str, greens: &[usize], args: &str, ops: usize) -> SpecError {
    let mut module = lift(&[(file, source)]).unwrap_or_else(|refused| panic!("{refused}"));
    let signature = module.graphs[entry].signature.clone();
    let mut arguments = Arguments::parse(&module, &signature, args).unwrap_or_else(|e| panic!("{e}"));
    arguments.name_greens(&mut module, greens);
    let compiler = Compiler::new(&module, entry, &greens.iter().copied().collect()).expect("colors");
    let mut memory = Memory::for_module(&compiler.module);
    memory.set_hosts(hueshift::hosts());
    let placed = arguments.place(&mut memory);
    let known = compiler.arguments(&arguments, &placed);
    let mut engine =
        Engine::new(Program::load(&compiler.module, &compiler.analyses).expect("compiler graphs"), &mut memory);
    engine.limits = Limits { loop_keys: 300, unrolled_ops: ops, residual_ops: ops / 2, ..Limits::default() };
    engine.specialize(&compiler.entry, &known).expect_err("it is too long")
}

/// Where no green changes without an end, none is named, and the remedy is another one.
#[test]
fn too_many_calls_copied_into_each_other() {
    let calls = |n: i32| format!("fn f{n}(x: i64) -> i64 {{ f{next}(f{next}(x)) }}\n", next = n + 1);
    let source: String = (0..40).map(calls).collect();
    let source = source + "fn f40(x: i64) -> i64 { x + 1 }\npub fn f(x: i64) -> i64 { f0(x) }";
    let error = refusal("f.rs", &source, "f", &[], "3", 3000);
    assert!(matches!(error, SpecError::TooMuch { portal: false, .. }) && error.is_limit(), "{error}");
    let said = "too much is compiled in one piece: no green keeps changing, but too many calls are copied into each other; the \
                limit is 3000 operations of one residual graph; mark functions that need not be copied `#[dont_look_inside]`, or copy less";
    assert_eq!(error.to_string(), said);
    // Behind the call that went beyond it.
    assert_eq!(error.loc().line, 38);
}

/// A guest program may be too long to be compiled as a whole: what its user can do is said.
#[test]
fn guest_programs_too_long_to_be_compiled() {
    let bf = interpreters::find("bf").expect("it is bundled");
    let refusal = |program: &str, ops: usize| {
        let args = bf.load_file("program.bf", program.as_bytes(), &[]).unwrap_or_else(|e| panic!("{e}"));
        refusal(bf.file, bf.source, bf.entry, bf.greens, &args, ops)
    };
    let long = refusal(&"+>.<,".repeat(61), 3000).to_string();
    assert!(
        long.starts_with(
            "a guest program too long to be compiled as a whole, or an endless green loop: `pc` keeps changing"
        ),
        "{long}"
    );
    let modes = "the modes `interp` and `jit` run it, since they compile no more than is hot";
    assert!(long.contains("the limit is 300 different greens at the head of a loop") && long.contains(modes), "{long}");
    let deep = refusal(&("+[>".repeat(60) + &"<]".repeat(60)), 1000);
    assert!(matches!(deep, SpecError::TooMuch { portal: true, .. }), "{deep}");
    let deep = deep.to_string();
    assert!(deep.contains("its loops are nested too deeply") && deep.contains(modes), "{deep}");
}

/// A loop that has no colors, since it runs inside of a function that isn't looked into: told once, where and why.
#[test]
fn hot_loops_that_are_not_looked_into_are_told_of() {
    let source = "
use hueshift::prelude::*;

#[dont_look_inside]
fn total(n: i64) -> i64 {
    let mut left = n;
    let mut sum = 0;
    while left > 0 {
        merge_point!();
        sum += left;
        left -= 1;
        can_enter_jit!();
    }
    sum
}

pub fn run(n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        can_enter_jit!();
        if n % 5 == 0 {
            sum += total(n);
        }
        n -= 1;
    }
    sum
}
";
    let pipeline = Pipeline::new("run.rs", source, "run", &[]).expect("a source of the dialect");
    let mut prepared = pipeline.prepare("44").expect("an argument that fits");
    let options = JitOptions { threshold: 3, bridge: 1000, ..Switches::default().options() };
    let report = hueshift::run_traced(&mut prepared.compiler, "44", &options).expect("a run");
    assert!(report.ran.agrees(&hueshift::interpret(&mut prepared.compiler, "44").expect("a run")), "{:?}", report.ran);
    let events = report.events;
    let told: Vec<_> = events.iter().filter(|event| event.reason == Reason::NotLookedInto).collect();
    let [told] = told[..] else { panic!("{events:#?}") };
    let What::Refused { message } = &told.what else { panic!("{told:?}") };
    assert!(message.contains("a loop of `total` is hot"), "{message}");
    assert_eq!(told.at.as_ref().map(|place| place.line), Some(9), "{told:?}");
}

/// What is known where a run comes back from an exit may fit no version of the code at the merge point: then it isn't
/// left to the interpreter for good, as if all had been done there.
#[test]
fn runs_that_fit_no_version_are_traced_again() {
    let source = "
use hueshift::prelude::*;

pub struct Frame { seed: u64, sum: u64, stack: [u64; 4] }

/// `r` draws a number, `t` jumps to one of the places that follow it, `1` adds its operand (by way of the stack), `j`
/// jumps, `l` loops.
#[portal(greens(code, pc), reds(frame, left))]
fn run(code: &[u8], mut pc: usize, frame: &mut Frame, mut left: u64) -> u64 {
    loop {
        merge_point!();
        let op = concrete(code[pc]);
        pc += 1;
        match op {
            b'r' => frame.seed = frame.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407),
            b't' => {
                let k = promote(frame.seed >> 61);
                pc = code[pc + k as usize] as usize;
            }
            b'1' => {
                frame.stack[0] = frame.sum;
                frame.stack[1] = code[pc] as u64;
                pc += 1;
                frame.sum = frame.stack[0] + frame.stack[1];
            }
            b'j' => pc = code[pc] as usize,
            b'l' => {
                left -= 1;
                if left == 0 {
                    return frame.sum;
                }
                pc = 0;
                can_enter_jit!();
            }
            _ => unreachable!(),
        }
    }
}

pub fn entry(code: &[u8], left: u64) -> u64 {
    let mut frame = Frame { seed: 0, sum: 0, stack: [0; 4] };
    run(code, 0, &mut frame, left)
}
";
    let code = "114,116,10,14,18,22,10,10,14,22,49,1,106,26,49,2,106,26,49,3,106,26,49,4,106,26,108";
    let rounds = 20_000;
    let args = format!("[{code}],{rounds}");
    let pipeline = Pipeline::new("run.rs", source, "entry", &[0]).expect("a source of the dialect");
    let mut prepared = pipeline.prepare(&args).expect("arguments that fit");
    for options in [JitOptions { threshold: 2, bridge: 2, ..JitOptions::default() }, JitOptions::default()] {
        let report = hueshift::run_traced(&mut prepared.compiler, &args, &options).expect("a run");
        let interpreted = report.stats.interpreted;
        assert!(interpreted < 10 * rounds, "{interpreted} steps of {rounds} rounds");
    }
}

/// Cells behind a `&mut` that a `&` leads to which an earlier round has made: handed on, in an `Option`, or lying in
/// memory. Nothing says so when a run comes to compiled code. (Embedded in a crate rustc refuses such a portal: its
/// state would be borrowed for good.)
#[test]
fn cells_that_earlier_rounds_refer_to() {
    let source = "
use hueshift::prelude::*;

pub struct S { pub a: Cell<i64>, pub c: Cell<i64> }
pub struct Outer { pub x: i64, pub s: S }
pub struct Ctx<'a> { pub k: i64, pub r: &'a S }
#[dont_look_inside]
fn put<'a>(ctx: &mut Ctx<'a>, s: &'a S) { ctx.r = s; }
#[dont_look_inside]
fn set(ctx: &mut Ctx, v: i64) { ctx.r.c.set(v); }
#[portal(greens(), reds(o, r, t, i, acc, n, k))]
fn by_turns<'a>(o: &'a mut Outer, mut r: &'a S, t: &'a S, mut i: i64, mut acc: i64, n: i64, k: i64) -> i64 {
    loop {
        merge_point!();
        if i >= n { return acc; }
        let a = o.s.c.get();
        r.c.set(a + i);
        acc = acc * 3 + o.s.c.get() - a;
        if i % k == k - 1 { r = &o.s; }
        if i % k == k - 2 { r = t; }
        i += 1;
    }
}
pub fn cell_by_turns(o: &mut Outer, t: &S, n: i64, k: i64) -> i64 { by_turns(o, t, t, 0, 0, n, k) }
#[portal(greens(), reds(o, r, i, acc, n, k))]
fn at_last<'a>(o: &'a mut Outer, mut r: Option<&'a S>, mut i: i64, mut acc: i64, n: i64, k: i64) -> i64 {
    loop {
        merge_point!();
        if i >= n { return acc; }
        if i % k == k - 1 { r = Some(&o.s); }
        match r {
            Some(q) => {
                let a = o.s.c.get();
                q.c.set(a + i);
                acc = acc * 3 + o.s.c.get() - a;
            }
            None => { acc += 1; }
        }
        i += 1;
    }
}
pub fn cell_at_last(o: &mut Outer, n: i64, k: i64) -> i64 { at_last(o, None, 0, 0, n, k) }
#[portal(greens(), reds(o, ctx, i, acc, n, k))]
fn kept_by_a_round<'a>(o: &'a mut Outer, ctx: &mut Ctx<'a>, mut i: i64, mut acc: i64, n: i64, k: i64) -> i64 {
    loop {
        merge_point!();
        if i >= n { return acc; }
        if i % k == k - 1 { ctx.r = &o.s; }
        let a = o.s.c.get();
        set(ctx, a + i);
        acc = acc * 3 + o.s.c.get() - a;
        i += 1;
    }
}
pub fn cell_kept_by_a_round<'a>(o: &'a mut Outer, ctx: &mut Ctx<'a>, n: i64, k: i64) -> i64 { kept_by_a_round(o, ctx, 0, 0, n, k) }
";
    let runs = [
        ("cell_by_turns", "{x: 3, s: {a: 1, c: 2}}, {a: 1, c: 2}, 50, 3"),
        ("cell_at_last", "{x: 3, s: {a: 1, c: 2}}, 50, 20"),
        ("cell_kept_by_a_round", "{x: 3, s: {a: 1, c: 2}}, {k: 1, r: {a: 1, c: 2}}, 40, 4"),
    ];
    for (entry, args) in runs {
        agree_however_they_are_compiled(source, entry, args);
    }
}

/// References that led nowhere when they were traced: `None`, and a slice at the end of its memory. Later ones lead
/// into what others lead to as well.
#[test]
fn references_that_led_nowhere_once() {
    let source = "
use hueshift::prelude::*;

pub struct In { pub v: i64, pub w: i64 }
pub struct P { pub x: i64, pub s: In }
fn get(p: &In) -> i64 { p.v }
#[portal(greens(), reds(cur, n, acc))]
fn of_an_option(mut cur: Option<&mut In>, mut n: i64, mut acc: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 { return acc; }
        n -= 1;
        match cur {
            None => { acc += 1; cur = None; }
            Some(p) => { let x = get(p); p.v = x + 1; let y = get(p); acc = acc * 3 + x * 10 + y; cur = Some(p); }
        }
        can_enter_jit!();
    }
}
pub fn none_at_first(p: &mut P, n: i64, k: i64) -> i64 {
    let mut s = 0;
    let mut i = 0;
    while i < k { s = s * 7 + of_an_option(if i < 2 { None } else { Some(&mut p.s) }, n, 0); i += 1; }
    s
}
fn first(s: &[i64]) -> i64 { s[0] }
#[portal(greens(), reds(rest, n, acc))]
fn of_a_rest(mut rest: &mut [i64], mut n: i64, mut acc: i64) -> i64 {
    loop {
        merge_point!();
        if n == 0 { return acc; }
        n -= 1;
        if rest.len() == 0 { acc += 1; } else {
            let x = first(rest);
            rest[0] = x + 1;
            let y = first(rest);
            acc = acc * 3 + x * 10 + y;
            rest = &mut rest[1..];
        }
        can_enter_jit!();
    }
}
pub fn empty_at_last(a: &mut [i64], n: i64, k: i64) -> i64 {
    let mut s = 0;
    let mut i = 0;
    while i < k { s = s * 7 + of_a_rest(a, n, 0); i += 1; }
    s
}
";
    for (entry, args) in [
        ("none_at_first", "{x: 1, s: {v: 5, w: 6}}, 2, 3"),
        ("none_at_first", "{x: 1, s: {v: 5, w: 6}}, 30, 20"),
        ("empty_at_last", "[5, 6, 7], 5, 3"),
        ("empty_at_last", "[5, 6, 7], 40, 20"),
    ] {
        agree_however_they_are_compiled(source, entry, args);
    }
}

/// A portal that calls itself for ever ends as any other recursion does, and soon.
#[test]
fn recursion_of_a_portal_without_end() {
    let source = "
use hueshift::prelude::*;
#[portal(greens(code, pc), reds(x))]
pub fn nested(code: &[u8], mut pc: usize, mut x: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() { return x; }
        pc += 1;
        x = nested(code, 0, x) + 1;
    }
}
";
    let args = "[97], 0, 10";
    let pipeline = Pipeline::new("run.rs", source, "nested", &[]).expect("a source of the dialect");
    let mut prepared = pipeline.prepare(args).expect("arguments that fit");
    for (threshold, bridge) in [(2, 2), (2, 1), (1, 1), (1000, 50)] {
        let options = JitOptions { threshold, bridge, ..JitOptions::default() };
        let report = hueshift::run_traced(&mut prepared.compiler, args, &options).expect("a run");
        let Ending::Trapped(trap) = &report.ran.ending else { panic!("{:?}", report.ran) };
        assert_eq!(trap.message, "stack exhausted");
    }
}

const CALLS_ITSELF: &str = include_str!("driver/calls_itself.rs");

/// A portal that calls itself is hot by that, wherever it is called from, and becomes a function: the interpreter
/// doesn't go on with all of its calls.
#[test]
fn recursion_of_a_portal_that_no_trace_comes_to() {
    let pipeline = Pipeline::new("run.rs", CALLS_ITSELF, "run", &[]).expect("a source of the dialect");
    let run = |args: &str, change: &dyn Fn(&mut JitOptions)| {
        let mut prepared = pipeline.prepare(args).expect("arguments that fit");
        let wanted = hueshift::interpret(&mut prepared.compiler, args).expect("a run");
        let mut options = JitOptions { forward: 0, ..JitOptions::default() };
        change(&mut options);
        let report = hueshift::run_traced(&mut prepared.compiler, args, &options).expect("a run");
        assert!(report.ran.agrees(&wanted), "{args}: {:?}, not {wanted:?}", report.ran);
        report
    };
    let fibonacci = "\"?2 .f1+f2 ; .x \", 0, 20, 7";
    // (the arguments, the calls)
    for (args, calls) in [
        (fibonacci, 21_890),
        ("\"?2 .f1+f2-x ; .x \", 0, 24, 0", 150_048),
        ("\"?1 .f1+x ; .0 \", 0, 5000, 0", 5000),
        ("\"?1 .f1+x ; ! \", 0, 3000, 0", 3000),
    ] {
        let report = run(args, &|_| {});
        let made = report.events.iter().filter(|event| event.reason == Reason::HotCall).count();
        let steps = report.stats.interpreted;
        assert!(made == 1 && steps < 200_000, "{args}: {made} functions, {steps} steps for {calls} calls");
    }
    // The interpreter alone has no room for so many inside of each other.
    let deep = "\"?1 .f1+x ; .0 \", 0, 10000, 0";
    let mut prepared = pipeline.prepare(deep).expect("arguments that fit");
    let interpreted = hueshift::interpret(&mut prepared.compiler, deep).expect("a run");
    let report = hueshift::run_traced(&mut prepared.compiler, deep, &JitOptions::default()).expect("a run");
    assert!(
        matches!(interpreted.ending, Ending::Trapped(_)) && report.ran.ending == Ending::Returned("50005000".into())
    );
    let report = run(fibonacci, &|options| options.limits.unrolled_ops = 12);
    let is_refused = |event: &Event| matches!(event.what, What::Refused { .. }) && event.reason == Reason::TooMuch;
    assert_eq!(report.events.iter().filter(|event| is_refused(event)).count(), 1);
    assert!(report.stats.interpreted > 1_000_000, "{:?}", report.stats);
}

/// Where there is no room for the functions of portals, these must be ever hotter.
#[test]
fn functions_of_portals_that_are_thrown_away() {
    let source = "
use hueshift::prelude::*;
#[portal(greens(code, pc), reds(n, x, depth))]
pub fn run(code: &[u8], mut pc: usize, mut n: i64, mut x: i64, depth: i64) -> i64 {
    loop {
        merge_point!();
        let op = code[pc];
        pc += 1;
        match op {
            b';' => return x,
            b'j' => {
                n -= 1;
                if n > 0 {
                    pc = 0;
                    can_enter_jit!();
                }
            }
            b'p' => x ^= promote((n >> 10) & 3),
            b'c' => {
                if depth < 2 {
                    x ^= run(code, pc, 2, x & 3, depth + 1);
                }
            }
            _ => x = x.wrapping_mul(3) + 1,
        }
    }
}
";
    let pipeline = Pipeline::new("run.rs", source, "run", &[]).expect("a source of the dialect");
    let args = "\"cpc+j;\", 0, 10000, 1, 0";
    let mut prepared = pipeline.prepare(args).expect("arguments that fit");
    let wanted = hueshift::interpret(&mut prepared.compiler, args).expect("a run");
    for code_bytes in [1, 3000] {
        let options = JitOptions { threshold: 3, code_bytes, ..JitOptions::default() };
        let report = hueshift::run_traced(&mut prepared.compiler, args, &options).expect("a run");
        assert!(report.ran.agrees(&wanted), "{code_bytes}: {:?}, not {wanted:?}", report.ran);
        let evictions = report.stats.evictions;
        assert!((2..40).contains(&evictions), "{code_bytes} bytes: {evictions} evictions");
    }
}

/// Functions of portals before their time, and all else that chaos does.
#[test]
fn functions_of_portals_under_chaos() {
    let fibonacci = "\"?2 .f1+f2 ; .x \", 0, 12, 7";
    let until_a_trap = "\"?1 .f1+x ; ! \", 0, 60, 7";
    let two_tests = "\"?3 .f1-f3+12 ; ?1 .f1 ; .x+100 \", 0, 9, 0";
    let early = |args| agree_however_they_are_compiled(CALLS_ITSELF, "run", args).flipped.of(Choice::Function);
    let early = [fibonacci, until_a_trap, two_tests].map(early);
    assert!(early.iter().all(|times| *times > 0), "{early:?} times");
}

/// A portal that calls itself twice with a green that counts down is copied into itself a few times, and not two to the
/// power of that green.
#[test]
fn trees_of_calls_are_functions() {
    let source = "
use hueshift::prelude::*;
#[portal(greens(d), reds(x))]
fn go(d: u8, x: i64) -> i64 {
    merge_point!();
    if concrete(d) == 0 { return x * 3 & 0xffff; }
    let a = go(d - 1, x + 1);
    go(d - 1, a ^ x)
}
pub fn hanoi(x: i64) -> i64 { go(18, x) }
";
    let pipeline = Pipeline::new("run.rs", source, "hanoi", &[]).expect("a source of the dialect");
    let mut prepared = pipeline.prepare("3").expect("arguments that fit");
    let wanted = hueshift::interpret(&mut prepared.compiler, "3").expect("a run");
    let options = JitOptions::default();
    let ahead = hueshift::spec(&mut prepared.compiler, "3", hueshift::Policy::Eager, &options).expect("a run");
    let traced = hueshift::run_traced(&mut prepared.compiler, "3", &options).expect("a run");
    for report in [ahead, traced] {
        assert!(report.ran.agrees(&wanted), "{:?}, not {wanted:?}", report.ran);
        assert!(report.stats.emitted < 10_000, "{:?}", report.stats);
    }
    agree_however_they_are_compiled(&source.replace("18", "6"), "hanoi", "3");
}

/// A portal is called from a loop that counts by a green, so that no code for one call fits the next: few traces are
/// made, for few keys functions, and else machine code of the interpreter goes on.
#[test]
fn portals_called_where_a_green_counts_on() {
    let source = "
use hueshift::prelude::*;
#[portal(greens(k), reds(n, s))]
fn run(k: i64, mut n: i64, mut s: i64) -> i64 {
    while n > 0 {
        merge_point!();
        let mut i = concrete(0);
        while i < 3 {
            s = s.rotate_left(concrete(k) as u32 + i) ^ n;
            i += 1;
        }
        n -= 1;
        can_enter_jit!();
    }
    s
}
pub fn go(keys: &[u32], times: usize, n: i64) -> i64 {
    let mut s = 1;
    let mut at = 0;
    while at < keys.len() * times {
        s = run(keys[at % keys.len()] as i64, n, s);
        at += 1;
    }
    s
}
";
    let pipeline = Pipeline::new("run.rs", source, "go", &[0]).expect("a source of the dialect");
    for (keys, times) in [(5, 2000), (1000, 10)] {
        let args = format!("{:?}, {times}, 40", (0..keys).collect::<Vec<u32>>());
        let mut prepared = pipeline.prepare(&args).expect("arguments that fit");
        let wanted = hueshift::interpret(&mut prepared.compiler, &args).expect("a run");
        let report = hueshift::run_traced(&mut prepared.compiler, &args, &JitOptions::default()).expect("a run");
        assert!(report.ran.agrees(&wanted), "{keys} keys: {:?}, not {wanted:?}", report.ran);
        let functions = report.events.iter().filter(|event| event.reason == Reason::HotCall).count();
        let (traces, steps) = (report.stats.traces, report.stats.interpreted);
        assert_eq!(functions, if keys < 100 { keys as usize } else { 0 });
        // There are 10,000 calls of 40 rounds, and some 30 steps in each.
        assert!(traces < 600 && steps < 2_000_000, "{keys} keys: {traces} traces, {steps} steps");
    }
}

/// Runs an entry with the JIT under forty settings; what comes is to be what the interpreter gives. Gives what was done.
fn agree_however_they_are_compiled(source: &str, entry: &str, args: &str) -> Stats {
    let pipeline = Pipeline::new("run.rs", source, entry, &[]).expect("a source of the dialect");
    let mut prepared = pipeline.prepare(args).expect("arguments that fit");
    let wanted = hueshift::interpret(&mut prepared.compiler, args).expect("a run");
    let mut done = Stats::default();
    for (threshold, bridge, chaos) in (0..40).map(|n| (1 + n % 3, [1, 2, 5, 1000][n as usize % 4], u64::from(n / 8))) {
        let options = JitOptions { threshold, bridge, chaos, ..JitOptions::default() };
        let report = hueshift::run_traced(&mut prepared.compiler, args, &options).expect("a run");
        assert!(report.ran.agrees(&wanted), "{entry} {options:?}: {:?}, not {wanted:?}", report.ran);
        done += report.stats;
    }
    done
}
