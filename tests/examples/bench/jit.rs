//! Tier 0 alone against tier 0 with the JIT, warm-up included, for runs that take tier 0 about 1, 10, 100 and 1,000 ms: how a JIT
//! feels is how it begins. Each run has a `Jit` of its own. The aim: never slower than 1.2 times tier 0.

use crate::best;
use hueshift::JitOptions;
use hueshift::embed::Jit;
use hueshift::io::{self, Io};
use interpreters::{Interpreter, all};
use std::time::{Duration, Instant};

/// How long tier 0 is to take, in milliseconds.
const LENGTHS: [u64; 4] = [1, 10, 100, 1000];

/// The most that a run may take, as a multiple of tier 0's time.
const AIM: f64 = 1.2;

/// How often each of both is run.
const ROUNDS: usize = 3;

/// Prints the table: a row for each program of one number and each length that it can have.
///
/// # Errors
/// If both disagree.
pub fn run() -> Result<(), String> {
    println!("\n| program | argument | tier 0 | with the JIT | of tier 0's time | |");
    println!("| --- | ---: | ---: | ---: | ---: | --- |");
    let (mut rows, mut met) = (0, 0);
    // What the matcher is handed is a text, whatever it looks like.
    for interpreter in all().iter().filter(|interpreter| interpreter.name != "regex") {
        for program in interpreter.programs {
            let code = interpreter.program_of_file(".asm", program.text.as_bytes()).map_err(|e| e.to_string())?;
            let Some(mut n) = program.runs().iter().filter_map(|run| only_number(&run.arguments)).min() else {
                continue;
            };
            for length in LENGTHS.map(Duration::from_millis) {
                let Some(longer) = argument_for(interpreter, &code, n, length) else { break };
                n = longer;
                let (mut alone, mut jitted) = (Vec::new(), Vec::new());
                for _ in 0..ROUNDS {
                    let (took, wanted) = tier0(interpreter, &code, n);
                    let (took_jitted, got) = with_jit(interpreter, &code, n);
                    if wanted != got {
                        return Err(format!("{}/{} {n}: {wanted:?} and {got:?}", interpreter.name, program.name));
                    }
                    alone.push(took);
                    jitted.push(took_jitted);
                }
                let (alone, jitted) = (best(alone), best(jitted));
                let ratio = jitted / alone;
                rows += 1;
                met += u32::from(ratio <= AIM);
                let verdict = if ratio <= AIM { "" } else { "missed" };
                let name = format!("{} {}", interpreter.name, program.name);
                println!(
                    "| `{name}` | {n} | {:.2} ms | {:.2} ms | {ratio:.2} | {verdict} |",
                    alone * 1e3,
                    jitted * 1e3
                );
            }
        }
    }
    println!("\n{met} of {rows} rows take at most {AIM} times tier 0's time");
    Ok(())
}

/// The number that a program is handed, if it is handed just one.
pub fn only_number<T: AsRef<str>>(arguments: &[T]) -> Option<i64> {
    match arguments {
        [one] => one.as_ref().parse().ok().filter(|n| *n > 0),
        _ => None,
    }
}

/// An argument, from `n` on, with which tier 0 takes so long; nothing if it takes no longer with larger ones.
pub fn argument_for(interpreter: &Interpreter, code: &[u8], mut n: i64, length: Duration) -> Option<i64> {
    for _ in 0..400 {
        let (took, result) = tier0(interpreter, code, n);
        if took >= length {
            return Some(n);
        }
        result.ok()?;
        // A run of a tenth of the length may be doubled, whatever its complexity; the rest is approached in small steps.
        n = n.checked_add(if took * 10 < length { (n / 2).clamp(1, n) } else { (n / 8).max(1) })?;
        if took * 1000 < length && n > 1 << 40 {
            return None;
        }
    }
    None
}

/// How a run ended: its result, or what its trap says.
type Ended = Result<String, String>;

fn tier0(interpreter: &Interpreter, code: &[u8], n: i64) -> (Duration, Ended) {
    let argument = n.to_string();
    let started = Instant::now();
    let (ran, _) = io::with(Io::bytes(&b""[..]), || interpreter.tier0(code, &[&argument]));
    let took = started.elapsed();
    (took, ran.map_err(|e| e.to_string()).and_then(|ran| ran.result.map_err(|trap| trap.message)))
}

fn with_jit(interpreter: &Interpreter, code: &[u8], n: i64) -> (Duration, Ended) {
    let argument = n.to_string();
    let options: JitOptions = Jit::usual_options();
    let started = Instant::now();
    let (ran, _) = io::with(Io::bytes(&b""[..]), || interpreter.jit(code, &[&argument], &options));
    let took = started.elapsed();
    let message = |error: hueshift::embed::Error| error.trap().map_or(error.to_string(), |trap| trap.message.clone());
    (took, ran.map_err(|e| e.to_string()).and_then(|ran| ran.result.map_err(message)))
}
