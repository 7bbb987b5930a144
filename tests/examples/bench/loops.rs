//! The loops of guest programs: compiled, against the same loops in Rust and against tier 0.

use crate::aims::Aim;
use crate::{best, native};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use hueshift::{Jit, JitOptions};
use hueshift_tests::pipeline::Pipeline;
use jitcodegen::{Engine, Options};
use std::hint::black_box;
use std::time::{Duration, Instant};

type Native = fn(i64) -> i64;

/// The most that a loop may take, as a multiple of Rust's time.
const RUST_AIM: f64 = 1.3;

/// How many times as fast as tier 0 loops are to be just in time.
const AIM: f64 = 20.0;

/// Program, argument, the same in Rust, by how much less tier 0 is given, and an argument for which a run takes so long
/// that what comes before the loop is compiled hardly counts.
const PROGRAMS: [(&str, i64, Native, i64, i64); 6] = [
    ("fibonacci", 100_000_000, native::fibonacci, 50, 1_000_000_000),
    ("factorial", 100_000_000, native::factorial, 50, 1_000_000_000),
    ("checksum", 12_000, native::checksum, 7, 40_000),
    ("primes", 400_000, native::primes, 10, 2_000_000),
    ("collatz_total", 300_000, native::collatz_total, 30, 3_000_000),
    ("fib_recursive", 32, native::fib_recursive, 1, 41),
];

/// The interpreter's own graphs as machine code.
fn tier0(module: &Module, memory: &Memory) -> Result<Engine, String> {
    let mut engine = Engine::new(Options::default()).map_err(|e| e.to_string())?;
    engine.compile(module, memory).map_err(|e| e.to_string())?;
    Ok(engine)
}

fn timed(run: impl FnOnce() -> Result<i64, String>) -> Result<(Duration, i64), String> {
    let started = Instant::now();
    let result = run()?;
    Ok((started.elapsed(), result))
}

fn one(words: &[u64]) -> Result<i64, String> {
    words.first().map(|w| *w as i64).ok_or_else(|| "no result".to_owned())
}

fn enter(entry: &jitcodegen::Entry, words: &[u64]) -> Result<i64, String> {
    match entry.call(words).map_err(|e| e.to_string())? {
        jitcodegen::Outcome::Returned(words) => one(&words),
        other => Err(format!("{other:?}")),
    }
}

fn run_compiled(jit: &mut Jit<'_>, words: &[u64]) -> Result<i64, String> {
    match jit.run(words).map_err(|e| e.to_string())? {
        flowgraph::eval::Outcome::Returned(words) => one(&words),
        other => Err(format!("{other:?}")),
    }
}

/// Prints the table.
pub fn run() -> Result<(), String> {
    let tl = interpreters::find("tl").ok_or("the stack machine is gone")?;
    let pipeline = Pipeline::of(tl)?;
    println!("\n| guest program | n | Rust, -O | compiled | of Rust's speed | | tier 0 | faster than tier 0 |");
    println!("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |");
    for (name, n, native, less, _) in PROGRAMS {
        let program = tl.program(name).ok_or_else(|| format!("there is no program {name}"))?;
        let load = |n: i64| tl.load_text(program.text, &[&n.to_string()]).map_err(|e| e.to_string());
        let mut prepared = pipeline.prepare(&load(n)?)?;
        let unknown = prepared.unknown();
        let mut jit = prepared.specialize(JitOptions::default())?;

        let signature = &pipeline.entry_graph().signature;
        let slow = flowgraph::value::Arguments::parse(&pipeline.flow, signature, &load(n / less)?)
            .map_err(|e| e.to_string())?;
        let mut memory = Memory::for_module(&pipeline.flow);
        let words = slow.place(&mut memory).words();
        let tier0 = tier0(&pipeline.flow, &memory)?;
        let tier0 = tier0.entry(&pipeline.entry).map_err(|e| e.to_string())?;

        let (mut in_rust, mut in_code, mut in_code_less, mut in_tier0) = (vec![], vec![], vec![], vec![]);
        for _ in 0..5 {
            let (took, expected) = timed(|| Ok(native(black_box(n))))?;
            in_rust.push(took);
            let (took, result) = timed(|| run_compiled(&mut jit, &unknown))?;
            in_code.push(took);
            let (took, less_result) = timed(|| run_compiled(&mut jit, &[(n / less) as u64]))?;
            in_code_less.push(took);
            let (took, tier0_result) = timed(|| enter(&tier0, &words))?;
            in_tier0.push(took);
            if result != expected || less_result != tier0_result || less_result != native(n / less) {
                return Err(format!(
                    "{name}: Rust gives {expected}, compiled code {result}; {less_result} and {tier0_result}"
                ));
            }
        }
        let (rust, code, code_less, slow) = (best(in_rust), best(in_code), best(in_code_less), best(in_tier0));
        println!(
            "| {name} | {n} | {:.1} ms | {:.1} ms | {:.0} % | {} | {:.1} ms for n = {} | {:.0} times |",
            rust * 1e3,
            code * 1e3,
            100.0 * rust / code,
            Aim::LoopsOfRust.judge(format!("tl {name} ahead of time"), code <= RUST_AIM * rust),
            slow * 1e3,
            n / less,
            slow / code_less
        );
    }
    just_in_time()
}

/// Prints how fast the same loops are just in time, warm-up included, next to Rust and to what tier 0 by rustc takes:
/// in short runs, which are warm-up in part, and in longer ones, by which loops are judged.
fn just_in_time() -> Result<(), String> {
    println!(
        "\n| guest program | n | Rust, -O | just in time | of Rust's speed | tier 0 by rustc | faster than tier 0 \
         | n | Rust, -O | just in time | of Rust's speed | | faster than tier 0 | |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- |");
    let (mut rows, mut met) = (0, 0);
    for (machine, (name, n, native, less, long)) in ["tl", "tlr"].into_iter().flat_map(|m| PROGRAMS.map(|p| (m, p))) {
        let interpreter = interpreters::find(machine).ok_or("a machine is gone")?;
        let Some(program) = interpreter.program(name) else { continue };
        let code = interpreter.program_of_file(".asm", program.text.as_bytes()).map_err(|e| e.to_string())?;
        let options = hueshift::embed::Jit::usual_options();
        let (mut in_rust, mut jitted, mut in_tier0, mut in_rust_less) = (vec![], vec![], vec![], vec![]);
        let text = |result: Result<String, String>, wanted: i64| match result {
            Ok(text) if text == wanted.to_string() => Ok(wanted),
            other => Err(format!("{machine} {name}: {other:?}, but {wanted} in Rust")),
        };
        let in_jit = |n: i64, wanted: i64| {
            timed(|| {
                let ran = interpreter.jit(&code, &[&n.to_string()], &options).map_err(|e| e.to_string())?;
                text(ran.result.map_err(|e| e.to_string()), wanted)
            })
        };
        let (mut long_in_rust, mut long_jitted) = (vec![], vec![]);
        for _ in 0..3 {
            let (took, wanted) = timed(|| Ok(native(black_box(n))))?;
            in_rust.push(took);
            jitted.push(in_jit(n, wanted)?.0);
            let (took, wanted) = timed(|| Ok(native(black_box(long))))?;
            long_in_rust.push(took);
            long_jitted.push(in_jit(long, wanted)?.0);
            let (took, wanted) = timed(|| Ok(native(black_box(n / less))))?;
            in_rust_less.push(took);
            let (took, _) = timed(|| {
                let ran = interpreter.tier0(&code, &[&(n / less).to_string()]).map_err(|e| e.to_string())?;
                text(ran.result.map_err(|e| e.message), wanted)
            })?;
            in_tier0.push(took);
        }
        let (rust, jit, slow, rust_less) = (best(in_rust), best(jitted), best(in_tier0), best(in_rust_less));
        let (long_rust, long_jit) = (best(long_in_rust), best(long_jitted));
        // Tier 0 is given less: its time for all is what the work in Rust takes as many times.
        let (whole, long_whole) = (slow * (rust / rust_less), slow * (long_rust / rust_less));
        println!(
            "| {machine} {name} | {n} | {:.1} ms | {:.1} ms | {:.0} % | {:.1} ms for n = {} | {:.0} times \
             | {long} | {:.1} ms | {:.1} ms | {:.0} % | {} | {:.0} times | {} |",
            rust * 1e3,
            jit * 1e3,
            100.0 * rust / jit,
            slow * 1e3,
            n / less,
            whole / jit,
            long_rust * 1e3,
            long_jit * 1e3,
            100.0 * long_rust / long_jit,
            Aim::LoopsOfRust.judge(format!("{machine} {name} just in time"), long_jit <= RUST_AIM * long_rust),
            long_whole / long_jit,
            Aim::LoopsOfTier0.judge(format!("{machine} {name}"), long_whole / long_jit >= AIM)
        );
        rows += 1;
        met += u32::from(long_whole / long_jit >= AIM);
    }
    println!("\n{met} of {rows} are at least {AIM} times as fast as tier 0");
    Ok(())
}
