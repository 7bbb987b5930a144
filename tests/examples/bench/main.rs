//! The measurements of `docs/benchmarks.md`, all in one run, so that their ratios mean something on a noisy machine:
//!
//!     cargo run --release -p hueshift-tests --example bench
//!
//! Every figure is the best of several rounds; the rounds of what is compared take turns.

mod brainfuck;
mod guests;
mod hard;
mod jit;
mod loops;
mod native;
mod parts;
mod specializing;
mod stages;
mod startup;
mod warm;

/// The shortest of the durations, in seconds.
fn best(durations: impl IntoIterator<Item = std::time::Duration>) -> f64 {
    durations.into_iter().min().unwrap_or_default().as_secs_f64()
}

fn main() -> Result<(), String> {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|o| o == name);
    if cfg!(debug_assertions) {
        return Err("without --release the figures mean nothing".to_owned());
    }
    if wanted("specializing") {
        specializing::run()?;
    }
    if wanted("stages") {
        stages::run()?;
    }
    if wanted("loops") {
        loops::run()?;
    }
    if wanted("brainfuck") {
        brainfuck::run()?;
    }
    if wanted("jit") {
        jit::run()?;
    }
    if wanted("hard") {
        hard::run()?;
    }
    if wanted("warm") {
        warm::run()?;
    }
    if wanted("parts") {
        parts::run()?;
    }
    if wanted("startup") {
        startup::run()?;
    }
    Ok(())
}
