//! Random programs of each guest language, in tier 0, ahead of time, just in time, and just in time under chaos.
//!
//! `HUESHIFT_CASES=5000 cargo test --release --workspace --test chaos -- --nocapture` makes more programs, and others each time
//! (`HUESHIFT_SEED` gives the same again). What fails is made small and saved in `tests/regressions/guests`, whose files are
//! replayed; `HUESHIFT_CASE=FILE` replays one.

use flowgraph::testing::Source;
use hueshift_tests::guests::tiers::Tier;
use hueshift_tests::guests::{Checked, GuestCase, Language, Program, Settings, Wrong, check, shrink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// How many programs of each language are made unless it is said otherwise.
const CASES: u64 = 8;

/// So many programs that fail are made small and saved.
const FAILURES: usize = 5;

/// How many bytes a program is drawn from at most.
const MOST_BYTES: u64 = 400;

fn regressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions/guests")
}

/// xorshift64*: bytes to draw from.
struct Random(u64);

impl Random {
    /// Those of a case of a seed.
    fn new(seed: u64, case: u64) -> Random {
        let mut random =
            Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ case.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        (0..4).for_each(|_| _ = random.next());
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.next() % MOST_BYTES;
        (0..length).map(|_| self.next() as u8).collect()
    }
}

/// The ways in which a program is run beside tier 0.
fn ways(random: &mut Random) -> Vec<(Tier, Settings)> {
    let bytes = random.bytes();
    let mut source = Source::new(&bytes);
    let mut seed = || 1 + random.next() % 1_000_000;
    let mut ways = vec![
        (Tier::Aot, Settings::drawn(&mut source, 0)),
        (Tier::Aot, Settings::drawn(&mut source, seed())),
        (Tier::Jit, Settings::drawn(&mut source, 0)),
    ];
    ways.extend((0..4).map(|_| (Tier::Jit, Settings::drawn(&mut source, seed()))));
    ways
}

/// What a check says, panics included.
fn said(program: &Program, ways: &[(Tier, Settings)]) -> Result<Checked, Wrong> {
    let mut sum = Checked::default();
    for way in ways {
        let (tier, settings) = *way;
        let checked = catch_unwind(AssertUnwindSafe(|| check(program, &[*way])));
        let of_way = checked.unwrap_or_else(|panic| {
            let what = format!("panicked: {:?}", panic.downcast_ref::<String>());
            Err(Wrong { tier, settings, what })
        })?;
        sum.add(&of_way);
    }
    sum.programs = sum.programs.min(1);
    Ok(sum)
}

/// Makes a failing program small and saves it. Gives the message for the smaller one.
fn save(program: &Program, bytes: &[u8], wrong: &Wrong) -> String {
    let case = GuestCase { program: program.clone(), tier: wrong.tier, settings: wrong.settings };
    let panicked = wrong.what.starts_with("panicked");
    let small = if panicked { case } else { shrink::shrink(&case, bytes) };
    let saved = match small.save(&regressions()) {
        Ok(path) => {
            let again = format!("HUESHIFT_CASE={} cargo test --workspace --test chaos ever", path.display());
            format!("saved; again with\n  {again}\nand the last run alone with\n  {}", small.command(&path))
        }
        Err(e) => format!("not saved: {e}"),
    };
    let wrong = said(&small.program, &[(small.tier, small.settings)]).err().unwrap_or_else(|| wrong.clone());
    format!("{wrong}\n{saved}\n{}", small.program.text)
}

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

fn seed() -> u64 {
    let drawn = || std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_micros() as u64);
    let seed = asked("HUESHIFT_SEED").unwrap_or_else(|| if asked("HUESHIFT_CASES").is_some() { drawn() } else { 0 });
    println!("HUESHIFT_SEED={seed}");
    seed
}

/// Random programs of a language.
fn random_programs(language: Language) {
    let (seed, cases) = (seed(), asked("HUESHIFT_CASES").unwrap_or(CASES));
    let (mut total, mut failures) = (Checked::default(), Vec::new());
    for case in 0..cases {
        let mut random = Random::new(seed, case);
        let bytes = random.bytes();
        let program = Program::drawn(language, &bytes);
        match said(&program, &ways(&mut random)) {
            Ok(checked) => total.add(&checked),
            Err(wrong) => failures.push(format!("program {case}: {}", save(&program, &bytes, &wrong))),
        }
        if failures.len() >= FAILURES {
            break;
        }
    }
    println!("{}: {}", language.name(), summary(&total));
    assert!(failures.is_empty(), "{} programs failed:\n{}", failures.len(), failures.join("\n\n"));
    assert!(total.programs >= cases * 3 / 4, "{}: only {} programs", language.name(), total.programs);
    assert!(total.stats.traces > 0, "{}: nothing was traced", language.name());
}

/// What was done, in a line.
fn summary(total: &Checked) -> String {
    let Checked { programs, runs, trapped, refused, stats } = total;
    let flipped =
        hueshift::Choice::ALL.iter().map(|choice| format!("\n  {} {}", stats.flipped.of(*choice), choice.doc()));
    format!(
        "{programs} programs, {runs} runs, {trapped} of them trapped, {refused} refused; {} traces, {} bridges, {} cases, {} regions; made otherwise:{}",
        stats.traces,
        stats.bridges,
        stats.cases,
        stats.regions,
        flipped.collect::<String>(),
    )
}

#[test]
fn stack_machine() {
    random_programs(Language::Tl);
}

#[test]
fn register_machine() {
    random_programs(Language::Tlr);
}

#[test]
fn brainfuck_in_rows() {
    random_programs(Language::Bf);
}

#[test]
fn brainfuck_in_a_tree() {
    random_programs(Language::BfAst);
}

#[test]
fn regular_expressions() {
    random_programs(Language::Regex);
}

#[test]
fn all_that_ever_failed() {
    let files: Vec<PathBuf> = match std::env::var_os("HUESHIFT_CASE") {
        Some(path) => vec![path.into()],
        None => {
            let files = std::fs::read_dir(regressions()).expect("the folder is there");
            files.map(|entry| entry.expect("an entry").path()).collect()
        }
    };
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "case")) {
        let case = GuestCase::read(path).unwrap_or_else(|e| panic!("{e}"));
        if let Err(wrong) = said(&case.program, &[(case.tier, case.settings)]) {
            panic!("{}: {wrong}", path.display());
        }
    }
}
