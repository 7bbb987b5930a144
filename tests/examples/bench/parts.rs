//! What each part of the optimizer earns: residual ops and run time of the bundled programs, compiled ahead of time,
//! with it off, and with Cranelift's own optimizations off.

use crate::guests::{Ended, Guest};
use hueshift::JitOptions;
use std::time::Duration;
use timeshifter::optimize::{Kind, Kinds};

/// What a run takes in tier 0.
const LENGTH: Duration = Duration::from_millis(100);

/// So often each is run; the best counts.
const ROUNDS: usize = 7;

/// Prints two tables, each with a row for a program and a column for a part that is off.
///
/// # Errors
/// If a run gives something else than tier 0.
pub fn run() -> Result<(), String> {
    let off = |kinds: Kinds| JitOptions { rewrites_off: kinds, ..JitOptions::default() };
    let mut ways = vec![("all on".to_owned(), off(Kinds::default()))];
    for kind in Kind::ALL.iter().filter(|kind| !kind.is_cleaning()) {
        ways.push((format!("no `{}`", kind.name()), off([*kind].into_iter().collect())));
    }
    ways.push(("none of them".to_owned(), off(Kinds::all())));
    let plain = JitOptions { opt_level: jitcodegen::OptLevel::Speed, ..JitOptions::default() };
    ways.push(("Cranelift `speed`".to_owned(), plain));
    let (mut ops, mut times) = (Vec::new(), Vec::new());
    for guest in Guest::all()? {
        let Some(size) = guest.size_for(guest.least, LENGTH) else { continue };
        let (_, wanted) = guest.tier0(size);
        let (counted, timed) = measured(&guest, size, &wanted, &ways)?;
        ops.push(row(&guest.name, counted.iter().map(usize::to_string)));
        let all = timed[0].as_secs_f64();
        let shown = timed.iter().enumerate().map(|(at, took)| match at {
            0 => format!("{:.2} ms", all * 1e3),
            _ => format!("{:.2}", took.as_secs_f64() / all),
        });
        times.push(row(&guest.name, shown));
    }
    for (what, rows) in [("Residual ops", ops), ("Time of a run, as a multiple of that with all on", times)] {
        println!(
            "\n{what}:\n\n| program | {} |",
            ways.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" | ")
        );
        println!("| --- |{}", " ---: |".repeat(ways.len()));
        rows.iter().for_each(|row| println!("{row}"));
    }
    Ok(())
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> String {
    format!("| `{name}` | {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// The residual ops and the best time of each way, the ways in turns.
fn measured(
    guest: &Guest,
    size: i64,
    wanted: &Ended,
    ways: &[(String, JitOptions)],
) -> Result<(Vec<usize>, Vec<Duration>), String> {
    let mut jits: Vec<_> = ways.iter().map(|(_, options)| guest.jit_with(options.clone())).collect();
    let mut best = vec![Duration::MAX; ways.len()];
    for _ in 0..=ROUNDS {
        for ((jit, (name, _)), best) in jits.iter_mut().zip(ways).zip(&mut best) {
            let (took, got) = guest.ahead(jit, size);
            if got != *wanted {
                return Err(format!("{} with {name}: {got:?}, not {wanted:?}", guest.name));
            }
            *best = took.min(*best);
        }
    }
    Ok((jits.iter_mut().map(|jit| jit.stats().residual).collect(), best))
}
