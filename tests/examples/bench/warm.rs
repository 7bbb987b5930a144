//! When runs of about 1 ms in tier 0, one after the other with the same `Jit`, are as fast as they get, and what specializing takes
//! while tracing. The aim for that: at most 1 µs for each residual op.

use crate::jit::{argument_for, only_number};
use hueshift::embed::Jit;
use interpreters::{register_machine, stack_machine};
use std::time::{Duration, Instant};

/// What a run takes in tier 0 that is repeated.
const LENGTH: Duration = Duration::from_millis(1);

/// How long runs are repeated.
const WARMING: Duration = Duration::from_millis(1500);

/// The most that specializing may take for each residual op, in microseconds.
const AIM: f64 = 1.0;

/// As many registers as programs of the register machine may have.
const REGISTERS: usize = 256;

/// Prints the table: a row for each bundled program of one number.
///
/// # Errors
/// If a run gives something else than tier 0.
pub fn run() -> Result<(), String> {
    header("argument");
    for name in ["tl", "tlr"] {
        let interpreter = interpreters::find(name).ok_or("a machine is gone")?;
        for program in interpreter.programs {
            let code = interpreter.program_of_file(".asm", program.text.as_bytes()).map_err(|e| e.to_string())?;
            let smallest = program.runs().iter().filter_map(|run| only_number(&run.arguments)).min();
            let Some(n) = smallest.and_then(|n| argument_for(interpreter, &code, n, LENGTH)) else { continue };
            let name = format!("`{name} {}`", program.name);
            match interpreter.name {
                "tl" => {
                    let wanted = stack_machine::interp::tl(&code, 0, n).map_err(|e| e.to_string())?;
                    let mut jit = Jit::new(&stack_machine::INTERPRETER);
                    row(&name, n, &mut jit, |jit| compared(wanted, || stack_machine::jit::tl(jit, &code, 0, n)))?;
                }
                _ => {
                    let wanted =
                        register_machine::interp::tlr(&code, n, &mut [0; REGISTERS]).map_err(|e| e.to_string())?;
                    let mut jit = Jit::new(&register_machine::INTERPRETER);
                    row(&name, n, &mut jit, |jit| {
                        compared(wanted, || register_machine::jit::tlr(jit, &code, n, &mut [0; REGISTERS]))
                    })?;
                }
            }
        }
    }
    Ok(())
}

fn compared<E: std::fmt::Display>(wanted: i64, run: impl FnOnce() -> Result<i64, E>) -> Result<Duration, String> {
    let begun = Instant::now();
    let got = run();
    let took = begun.elapsed();
    match got.map_err(|e| e.to_string())? {
        got if got == wanted => Ok(took),
        got => Err(format!("{got}, not {wanted}")),
    }
}

/// Prints the head of a table of [`row`]s; `size` is what a run has more or less of.
pub fn header(size: &str) {
    println!(
        "\n| program | {size} | first run | 90 % of peak after | runs by then | peak | residual ops traced | specializing, an op | |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
}

/// Repeats runs, which say what they took, and prints when they were within 10 % of the median of the last fifth.
///
/// # Errors
/// Those of the runs.
pub fn row<'p>(
    name: &str,
    size: i64,
    jit: &mut Jit<'p>,
    mut run: impl FnMut(&mut Jit<'p>) -> Result<Duration, String>,
) -> Result<(), String> {
    let begun = Instant::now();
    let mut runs = Vec::new();
    while begun.elapsed() < WARMING {
        let at = begun.elapsed();
        runs.push((at, run(jit).map_err(|e| format!("{name}: {e}"))?));
    }
    let median = |runs: &[(Duration, Duration)]| {
        let mut took: Vec<Duration> = runs.iter().map(|(_, took)| *took).collect();
        took.sort_unstable();
        took[took.len() / 2]
    };
    let peak = median(&runs[runs.len() * 4 / 5..]);
    // A run that is within 10 %, as are most of the six behind it.
    let is_warm = |took: Duration| took.mul_f64(0.9) <= peak;
    let warm = runs.windows(7).position(|some| is_warm(some[0].1) && is_warm(median(some))).unwrap_or_default();
    let stats = jit.stats();
    let an_op = stats.specializing.as_secs_f64() * 1e6 / (stats.emitted.max(1)) as f64;
    println!(
        "| {name} | {size} | {:.2} ms | {:.1} ms | {warm} | {:.3} ms | {} | {an_op:.1} µs | {} |",
        runs[0].1.as_secs_f64() * 1e3,
        runs[warm].0.as_secs_f64() * 1e3,
        peak.as_secs_f64() * 1e3,
        stats.emitted,
        if an_op <= AIM { "met" } else { "missed" }
    );
    Ok(())
}
