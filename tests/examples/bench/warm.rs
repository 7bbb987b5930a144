//! When runs of about 1 ms in tier 0, one after the other with the same `Jit`, are as fast as they get, and what
//! specializing takes while tracing. The aim for that: at most 1 µs for each residual op.

use crate::aims::Aim;
use crate::guests::Guest;
use hueshift::embed::Jit;
use std::time::{Duration, Instant};

/// What a run takes in tier 0 that is repeated.
const LENGTH: Duration = Duration::from_millis(1);

/// How long runs are repeated.
const WARMING: Duration = Duration::from_millis(1500);

/// The most that specializing may take for each residual op, in microseconds.
const AIM: f64 = 1.0;

/// Prints the table: a row for each bundled program whose runs can take that long.
///
/// # Errors
/// If a run gives something else than tier 0.
pub fn run() -> Result<(), String> {
    header("size");
    for guest in Guest::all()? {
        match guest.size_for(guest.least, LENGTH) {
            Some(size) => warm(&guest, size)?,
            None => println!("| `{}` | | has no runs of {} ms | | | | | | |", guest.name, LENGTH.as_millis()),
        }
    }
    Ok(())
}

/// Prints the row of a program for runs of one size.
fn warm(guest: &Guest, size: i64) -> Result<(), String> {
    let (_, wanted) = guest.tier0(size);
    row(&format!("`{}`", guest.name), size, &mut guest.jit(), |jit| {
        let (took, got) = guest.jitted(jit, size);
        if got == wanted { Ok(took) } else { Err(format!("{got:?}, not {wanted:?}")) }
    })
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
        Aim::SpecializingTraces.judge(name, an_op <= AIM)
    );
    Ok(())
}
