//! Tier 0 alone against tier 0 with the JIT, warm-up included, for runs that take tier 0 about 1, 10, 100 and 1,000 ms:
//! how a JIT feels is how it begins. Each run has a `Jit` of its own. The aim: never slower than 1.2 times tier 0.

use crate::aims::Aim;
use crate::best;
use crate::guests::Guest;
use std::time::{Duration, Instant};

/// How long tier 0 is to take, in milliseconds.
const LENGTHS: [u64; 4] = [1, 10, 100, 1000];

/// The most that a run may take, as a multiple of tier 0's time.
const AIM: f64 = 1.2;

/// How often each of both is run: so many times, and more often where that takes no time.
const ROUNDS: u32 = 3;

/// All runs of a row that are short take tier 0 as long as this, together.
const SHORT: Duration = Duration::from_millis(150);

/// The most that there are of them.
const MOST_ROUNDS: u32 = 15;

fn rounds(length: Duration) -> u32 {
    (SHORT.as_micros() / length.as_micros()).clamp(ROUNDS.into(), MOST_ROUNDS.into()) as u32
}

/// Prints the table: a row for each program whose runs can be made longer, and each length that they can have.
///
/// # Errors
/// If both disagree.
pub fn run() -> Result<(), String> {
    println!("\n| program | size | tier 0 | with the JIT | of tier 0's time | |");
    println!("| --- | ---: | ---: | ---: | ---: | --- |");
    let (mut rows, mut met) = (0, 0);
    for guest in Guest::all()? {
        let mut size = guest.least;
        for length in LENGTHS.map(Duration::from_millis) {
            let Some(longer) = guest.size_for(size, length) else {
                println!("| `{}` | | | | | has no runs of {} ms |", guest.name, length.as_millis());
                break;
            };
            size = longer;
            let (mut alone, mut jitted) = (Vec::new(), Vec::new());
            for _ in 0..rounds(length) {
                let (took, wanted) = guest.tier0(size);
                let begun = Instant::now();
                let mut jit = guest.jit();
                let made = begun.elapsed();
                let (took_jitted, got) = guest.jitted(&mut jit, size);
                if wanted != got {
                    return Err(format!("{} {size}: {wanted:?} and {got:?}", guest.name));
                }
                alone.push(took);
                jitted.push(made + took_jitted);
            }
            let (alone, jitted) = (best(alone), best(jitted));
            let ratio = jitted / alone;
            rows += 1;
            met += u32::from(ratio <= AIM);
            let verdict = Aim::Warming.judge(format!("`{}` {size}", guest.name), ratio <= AIM);
            println!(
                "| `{}` | {size} | {:.2} ms | {:.2} ms | {ratio:.2} | {verdict} |",
                guest.name,
                alone * 1e3,
                jitted * 1e3
            );
        }
    }
    println!("\n{met} of {rows} rows take at most {AIM} times tier 0's time");
    Ok(())
}
