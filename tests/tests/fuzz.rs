//! The targets of fuzzing on everything that ever failed, and on a fixed number of mutations of what fuzzing begins
//! with.
//!
//! `HUESHIFT_SEED=7 HUESHIFT_CASES=5000 cargo test -p hueshift-tests --test fuzz -- --nocapture` makes others, and
//! more. `docs/internals.md` says how libFuzzer runs the same targets.

use hueshift_tests::fuzz::{BRAINFUCK, EQUATION, FRONT_END, GRAPH_TEXT, Target};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What once failed.
fn regressions(target: &Target) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions/fuzz").join(target.name);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Whether the input meant something; or the file that holds it now, because the target panicked.
fn run(target: &Target, input: &[u8], number: u64) -> Result<bool, String> {
    catch_unwind(|| (target.body)(input)).map_err(|_| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", target.name));
        std::fs::write(&path, input).expect("a file");
        format!("{}: mutation {number}, saved as {}", target.name, path.display())
    })
}

/// Runs the regressions, then `cases` mutations, of which at least `least` in a hundred must mean something.
fn check(target: &Target, cases: u64, least: u64) {
    let (seed, cases) = (setting("HUESHIFT_SEED", 1), setting("HUESHIFT_CASES", cases));
    let mut wrong = Vec::new();
    let old = regressions(target);
    for path in &old {
        let input = std::fs::read(path).expect("a regression");
        if catch_unwind(|| (target.body)(&input)).is_err() {
            wrong.push(path.display().to_string());
        }
    }
    let seeds = target.seeds();
    let mut accepted = 0;
    for number in 0..cases {
        let begin = &seeds[number as usize % seeds.len()];
        let input = target.mutation(begin, seed << 32 | number);
        match run(target, &input, number) {
            Ok(meant) => accepted += u64::from(meant),
            Err(what) => wrong.push(what),
        }
    }
    println!(
        "{}: seed {seed}, {} seeds, {} regressions, {cases} mutations, {accepted} of them accepted",
        target.name,
        seeds.len(),
        old.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted * 100 >= cases * least, "{accepted} of {cases} meant something; {least} in a hundred should");
    assert!(accepted < cases || target.name == "equation", "all meant something: nothing was damaged");
}

#[test]
fn front_end() {
    check(&FRONT_END, 250, 5);
}

#[test]
fn graph_text() {
    check(&GRAPH_TEXT, 200, 8);
}

#[test]
fn brainfuck() {
    check(&BRAINFUCK, 80, 30);
}

#[test]
fn equation() {
    check(&EQUATION, 24, 80);
}
