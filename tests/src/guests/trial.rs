//! Programs one after the other, from a seed: what is drawn, and what came of it.

use super::tiers::Tier;
use super::{Checked, GuestCase, Language, Program, Settings, Wrong, check, shrink};
use crate::{Case, Switches, equation};
use flowgraph::testing::{Source, random_module};
use hueshift::Choice;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// How many bytes a program is drawn from at most; some are much shorter.
const PROGRAM: u64 = 400;

/// How many bytes a module is drawn from at most.
const MODULE: u64 = 2600;

/// One trial of a seed: a program, or a module of graphs, and how to run it.
pub struct Trial {
    state: u64,
}

impl Trial {
    /// The trial of this number.
    pub fn new(seed: u64, number: u64) -> Trial {
        let mut trial =
            Trial { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(0xD134_2543_DE82_EF95) | 1 };
        (0..4).for_each(|_| _ = trial.next());
        trial
    }

    /// xorshift64* (S. Vigna, 2016).
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.next() % most;
        (0..length).map(|_| self.next() as u8).collect()
    }

    /// A seed of chaos.
    fn chaos(&mut self) -> u64 {
        1 + self.next() % u64::from(u32::MAX)
    }

    /// A program, and the bytes that it stands for.
    pub fn program(&mut self, language: Language) -> (Program, Vec<u8>) {
        let bytes = self.bytes(PROGRAM);
        (Program::drawn(language, &bytes), bytes)
    }

    /// The ways in which a program is run beside tier 0.
    pub fn ways(&mut self) -> Vec<(Tier, Settings)> {
        let bytes = self.bytes(PROGRAM);
        let mut source = Source::new(&bytes);
        let mut ways = vec![
            (Tier::Aot, Settings::drawn(&mut source, 0)),
            (Tier::Aot, Settings::drawn(&mut source, self.chaos())),
            (Tier::Jit, Settings::drawn(&mut source, 0)),
        ];
        ways.extend((0..4).map(|_| (Tier::Jit, Settings::drawn(&mut source, self.chaos()))));
        ways
    }

    /// Settings for graphs, with chaos.
    pub fn switches(&mut self) -> Switches {
        Switches { chaos: self.chaos() as u32, ..Switches::drawn(&self.bytes(PROGRAM)) }
    }

    /// A module of graphs with one of its splits into greens and reds, under chaos.
    pub fn module(&mut self) -> Case {
        let bytes = self.bytes(MODULE);
        let generated = random_module(&mut Source::new(&bytes));
        let split = self.next() as usize % generated.splits.len().max(1);
        Case { switches: self.switches(), ..Case::generated(&generated, split) }
    }
}

/// Runs a program in each of these ways; a panic is a failure, too.
///
/// # Errors
/// The first difference.
pub fn try_program(program: &Program, ways: &[(Tier, Settings)]) -> Result<Checked, Wrong> {
    let mut sum = Checked::default();
    for way in ways {
        let checked = catch_unwind(AssertUnwindSafe(|| check(program, &[*way])));
        let panicked = |panic: Box<dyn std::any::Any + Send>| {
            let what = format!("panicked: {:?}", panic.downcast_ref::<String>());
            Err(Wrong { tier: way.0, settings: way.1, what })
        };
        sum.add(&checked.unwrap_or_else(panicked)?);
    }
    sum.programs = sum.programs.min(1);
    Ok(sum)
}

/// Holds a case to the correctness equation; a panic is a failure, too.
///
/// # Errors
/// The first difference.
pub fn try_case(case: &Case) -> Result<equation::Done, String> {
    match catch_unwind(AssertUnwindSafe(|| equation::check(case))) {
        Ok(done) => done.map_err(|difference| difference.to_string()),
        Err(panic) => Err(format!("panicked: {:?}", panic.downcast_ref::<String>())),
    }
}

/// Makes a failing program small and saves it in a folder. Gives the message for the smaller one.
pub fn save(folder: &Path, program: &Program, bytes: &[u8], wrong: &Wrong) -> String {
    let case = GuestCase { program: program.clone(), tier: wrong.tier, settings: wrong.settings };
    // What panics is in no state to be tried again and again.
    let small = if wrong.what.starts_with("panicked") { case } else { shrink::shrink(&case, bytes) };
    let saved = match small.save(folder) {
        Ok(path) => format!(
            "saved; again with\n  HUESHIFT_CASE={} cargo test --workspace --test chaos ever\nand the last run alone with\n  {}",
            path.display(),
            small.command(&path)
        ),
        Err(e) => format!("not saved: {e}"),
    };
    let wrong = try_program(&small.program, &[(small.tier, small.settings)]).err().unwrap_or_else(|| wrong.clone());
    format!("{wrong}\n{saved}\n{}", small.program.text)
}

/// What the JITs have done, in lines.
pub fn summary(total: &Checked) -> String {
    let Checked { programs, runs, trapped, too_deep, refused, stats } = total;
    let mut text = format!(
        "{programs} programs, {runs} runs beside tier 0, {trapped} of them trapped, {too_deep} too deep for one tier; {refused} times refused\n\
         {} traces, {} bridges, {} cases, {} regions, {} times code thrown away, {} times machine code of the interpreter went on; choices made otherwise:\n",
        stats.traces, stats.bridges, stats.cases, stats.regions, stats.evictions, stats.forwarded
    );
    for choice in Choice::ALL {
        let _ = writeln!(text, "{:9} {}", stats.flipped.of(*choice), choice.doc());
    }
    text
}
