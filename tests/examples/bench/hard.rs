//! Programs that are hard on traces: how fast their code is just in time, once it is warm, next to that of the eager
//! policy, and how large it is; what a guard costs that fails every other time; and when a run is as fast as it gets.

use crate::aims::Aim;
use crate::{best, warm};
use hueshift::JitOptions;
use hueshift::embed::{Error, Jit};
use hueshift_tests::hard::{Hard, INTERPRETER, aot, interp, jit, programs, registers};
use std::time::{Duration, Instant};

/// The most that warm code may take, as a multiple of the eager policy's.
const AIM: f64 = 1.5;

/// The most that a guard may cost that fails every other time, in nanoseconds, before its region is compiled.
const GUARD_AIM: f64 = 5.0;

/// What is nothing, in nanoseconds: the noise of measuring.
const NOTHING: f64 = 0.2;

const ROUNDS: usize = 7;

/// Prints the tables.
///
/// # Errors
/// If two ways to run a program disagree.
pub fn run() -> Result<(), String> {
    println!(
        "\n| program | rounds | tier 0 | eager | bytes | just in time, bridges only | bytes | with regions | bytes | of eager's time | |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let (mut met, mut guard) = (0, None);
    let programs = programs();
    for hard in &programs {
        let row = measure(hard)?;
        let ratio = row.regions.0 / row.eager.0;
        met += u32::from(ratio <= AIM);
        let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {ratio:.2} | {} |",
            hard.name,
            hard.rounds,
            ms(row.tier0),
            ms(row.eager.0),
            row.eager.1,
            ms(row.bridges.0),
            row.bridges.1,
            ms(row.regions.0),
            row.regions.1,
            Aim::Hard.judge(hard.name, ratio <= AIM)
        );
        let cost = |seconds: f64| (seconds - row.eager.0) * 1e9 / hard.rounds as f64;
        guard = guard.or(Some((cost(row.bridges.0), cost(row.regions.0))));
    }
    println!("\n{met} of {} take at most {AIM} times the eager code's time", programs.len());
    if let Some((bridges, regions)) = guard {
        let verdict = Aim::Guards.judge("with a bridge", bridges <= GUARD_AIM);
        let in_region = Aim::Guards.judge("in a region", regions <= NOTHING);
        println!(
            "a guard that fails every other time (the first row): {bridges:.1} ns a round more than joined code with a bridge (aim: {GUARD_AIM} ns, {verdict}), {regions:.1} ns in a region (aim: none, {in_region})"
        );
    }
    warm::header("rounds of a run");
    for hard in &programs {
        warm_up(hard)?;
    }
    Ok(())
}

/// Seconds, and bytes of machine code.
type Code = (f64, usize);

struct Row {
    tier0: f64,
    eager: Code,
    bridges: Code,
    regions: Code,
}

/// Times a run, and compares what it has come to.
fn timed<'p>(
    hard: &'p Hard,
    rounds: i64,
    wanted: Option<i64>,
    run: impl FnOnce(&'p [u16], &mut [i64; 12]) -> Result<i64, Error>,
) -> Result<(Duration, i64), String> {
    let mut registers = registers(rounds);
    let begun = Instant::now();
    let got = run(&hard.code, &mut registers);
    let took = begun.elapsed();
    let got = got.map_err(|e| format!("{}: {e}", hard.name))?;
    match wanted {
        Some(wanted) if wanted != got => Err(format!("{}: {got}, not {wanted}", hard.name)),
        _ => Ok((took, got)),
    }
}

fn measure(hard: &Hard) -> Result<Row, String> {
    let options = Jit::usual_options();
    let mut eager = Jit::with_options(&INTERPRETER, options.clone());
    let mut bridges = Jit::with_options(&INTERPRETER, JitOptions { region: 0, ..options.clone() });
    let mut regions = Jit::with_options(&INTERPRETER, options);
    let (mut in_tier0, mut in_eager, mut in_bridges, mut in_regions) = (vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        let tier0 = |code: &[u16], r: &mut [i64; 12]| interp::run(code, 0, r).map_err(Error::from);
        let (took, wanted) = timed(hard, hard.rounds, None, tier0)?;
        in_tier0.push(took);
        let wanted = Some(wanted);
        let took = [
            timed(hard, hard.rounds, wanted, |code, r| aot::run(&mut eager, code, 0, r))?.0,
            timed(hard, hard.rounds, wanted, |code, r| jit::run(&mut bridges, code, 0, r))?.0,
            timed(hard, hard.rounds, wanted, |code, r| jit::run(&mut regions, code, 0, r))?.0,
        ];
        // The first two rounds warm up.
        if round >= 2 {
            in_eager.push(took[0]);
            in_bridges.push(took[1]);
            in_regions.push(took[2]);
        }
    }
    Ok(Row {
        tier0: best(in_tier0),
        eager: (best(in_eager), eager.stats().code_bytes),
        bridges: (best(in_bridges), bridges.stats().code_bytes),
        regions: (best(in_regions), regions.stats().code_bytes),
    })
}

/// Prints when short runs, of about 1 ms in tier 0, are as fast as they get.
fn warm_up(hard: &Hard) -> Result<(), String> {
    let tier0 = |code: &[u16], r: &mut [i64; 12]| interp::run(code, 0, r).map_err(Error::from);
    let mut rounds = 16;
    while timed(hard, rounds, None, tier0)?.0 < Duration::from_millis(1) {
        rounds *= 2;
    }
    let wanted = timed(hard, rounds, None, tier0)?.1;
    let mut own = Jit::with_options(&INTERPRETER, Jit::usual_options());
    warm::row(hard.name, rounds, &mut own, |own| {
        Ok(timed(hard, rounds, Some(wanted), |code, r| jit::run(own, code, 0, r))?.0)
    })
}
