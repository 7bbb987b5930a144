//! The measurements of `docs/benchmarks.md`, all in one run, so that their ratios mean something on a noisy machine:
//!
//!     cargo run --release -p hueshift-tests --example bench
//!
//! Every figure is the best of several rounds; the rounds of what is compared take turns. Names of parts after `--`
//! have only these measured; `--check` has all measured that has an aim, prints how many rows meet each and which miss
//! it, and fails if one does.

mod aims;
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

/// The command's own, so that what is measured in here is what the command does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What can be measured by itself.
const PARTS: [&str; 9] = ["specializing", "stages", "loops", "brainfuck", "jit", "hard", "warm", "parts", "startup"];

/// The shortest of the durations, in seconds.
fn best(durations: impl IntoIterator<Item = std::time::Duration>) -> f64 {
    durations.into_iter().min().unwrap_or_default().as_secs_f64()
}

fn main() -> Result<(), String> {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let check = only.iter().any(|o| o == "--check");
    if let Some(unknown) = only.iter().find(|o| !PARTS.contains(&o.as_str()) && *o != "--check") {
        return Err(format!("there is no part `{unknown}`; there are {}", PARTS.join(", ")));
    }
    if check && only.len() > 1 {
        return Err("--check is of all parts".to_owned());
    }
    // Nobody aims at what a part of the optimizer earns.
    let wanted = |name: &str| if check { name != "parts" } else { only.is_empty() || only.iter().any(|o| o == name) };
    if cfg!(debug_assertions) {
        return Err("without --release the figures mean nothing".to_owned());
    }
    if wanted("brainfuck") && (check || !only.is_empty()) {
        brainfuck::required()?;
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
    if check { aims::check() } else { Ok(()) }
}
