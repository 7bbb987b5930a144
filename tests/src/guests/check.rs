//! What tier 0 gives is what everything else gives.

use super::Program;
use super::tiers::{Ended, Ran, Stopped, Tier, run};
use flowgraph::testing::Source;
use hueshift::{JitOptions, Stats};
use std::fmt;
use std::str::FromStr;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident $key:literal: $ty:ty;)*) => {
        /// Settings of the JIT that must not matter; shown, they are what `--jit` takes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Settings { $($(#[$doc])* pub $name: $ty,)* }

        impl fmt::Display for Settings {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let all = [$(format!("{}={}", $key, self.$name)),*];
                f.write_str(&all.join(","))
            }
        }

        impl Settings {
            /// Reads what `--jit` takes, as it is shown.
            ///
            /// # Errors
            /// If there is no such setting, or its value is no number.
            pub fn parse(text: &str) -> Result<Settings, String> {
                let mut settings = Settings::plain(1, 1, 1, 0);
                for item in text.split(',') {
                    let (key, value) = item.trim().split_once('=').ok_or_else(|| format!("`{item}` is no setting"))?;
                    match key {
                        $($key => settings.$name = value.parse().map_err(|e| format!("{item}: {e}"))?,)*
                        _ => return Err(format!("there is no setting `{key}`")),
                    }
                }
                Ok(settings)
            }
        }
    };
}

settings! {
    /// How often a place is come to before it is traced.
    threshold "threshold": u32;
    /// How often an exit is taken before it gets a bridge.
    bridge "bridge": u32;
    /// The cases of a promotion.
    cases "cases": usize;
    /// How often a bridge leads back before there is a region; 0: never.
    region "region": u32;
    /// Past so many bytes of machine code the coldest is thrown away.
    code_bytes "code-bytes": usize;
    /// Whether machine code is made on a second thread.
    background "background": Flag;
    /// The seed of chaos.
    chaos "chaos": u64;
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub bool);

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "yes" } else { "no" })
    }
}

impl FromStr for Flag {
    type Err = String;

    fn from_str(text: &str) -> Result<Flag, String> {
        match text {
            "yes" => Ok(Flag(true)),
            "no" => Ok(Flag(false)),
            _ => Err(format!("`{text}` is neither yes nor no")),
        }
    }
}

impl Settings {
    /// Settings without chaos.
    pub fn plain(threshold: u32, bridge: u32, cases: usize, region: u32) -> Settings {
        Settings { threshold, bridge, cases, region, code_bytes: MUCH, background: Flag(false), chaos: 0 }
    }

    /// Drawn from bytes, with this seed of chaos.
    pub fn drawn(source: &mut Source<'_>, chaos: u64) -> Settings {
        Settings {
            threshold: [0, 1, 2, 5, 20][source.below(5)],
            bridge: [1, 2, 3, 10][source.below(4)],
            cases: [32, 1, 2, 4][source.below(4)],
            region: [2, 0, 1, 5, 20][source.below(5)],
            background: Flag(source.chance(1, 8)),
            code_bytes: [MUCH, MUCH, 1, 2_000, 10_000][source.below(5)],
            chaos,
        }
    }

    /// The driver's options.
    pub fn options(&self) -> JitOptions {
        JitOptions {
            threshold: self.threshold,
            bridge: self.bridge,
            cases: self.cases,
            region: self.region,
            background: self.background.0,
            code_bytes: self.code_bytes,
            chaos: self.chaos,
            slot_bytes: 4 << 20,
            ..JitOptions::default()
        }
    }
}

/// More machine code than there is of any program.
const MUCH: usize = 64 << 20;

/// How often the runs of a program are made with the same code.
const TIMES: usize = 2;

/// A run gave something else than in tier 0, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The tier that it began in.
    pub tier: Tier,
    /// The settings.
    pub settings: Settings,
    /// The run, by its number from 0, and what it gave.
    pub what: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mode {}, {}: {}", self.tier.name(), self.settings, self.what)
    }
}

/// What came of a program.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The programs: none if it is refused.
    pub programs: u64,
    /// The runs that were compared with those in tier 0.
    pub runs: u64,
    /// Those among them that have trapped.
    pub trapped: u64,
    /// Those that went too deep in one tier and not in the other: how deep a recursion may go isn't promised.
    pub too_deep: u64,
    /// Programs that can't be read: patterns that grow too large.
    pub refused: u64,
    /// What the JITs did.
    pub stats: Stats,
}

impl Checked {
    /// Adds what came of another program.
    pub fn add(&mut self, other: &Checked) {
        self.programs += other.programs;
        self.runs += other.runs;
        self.trapped += other.trapped;
        self.too_deep += other.too_deep;
        self.refused += other.refused;
        self.stats += other.stats.clone();
    }
}

/// Runs a program in tier 0, and compares that with what it gives in other ways: compiled ahead of time, and just in
/// time.
///
/// # Errors
/// The first difference.
pub fn check(program: &Program, ways: &[(Tier, Settings)]) -> Result<Checked, Wrong> {
    let mut checked = Checked::default();
    let Some(wanted) = tier_0(program)? else {
        checked.refused = 1;
        return Ok(checked);
    };
    checked.programs = 1;
    for (tier, settings) in ways {
        let wrong = |what| Wrong { tier: *tier, settings: *settings, what };
        let ran = match run(program, *tier, &settings.options(), TIMES) {
            Ok(ran) => ran,
            Err(Stopped::Refused(why) | Stopped::Failed(why)) => return Err(wrong(format!("failed: {why}"))),
        };
        checked.too_deep += compare(program, &wanted, &ran).map_err(wrong)?;
        checked.runs += ran.ended.len() as u64;
        checked.trapped += ran.ended.iter().filter(|ended| ended.end.is_err()).count() as u64;
        checked.stats += ran.stats;
    }
    Ok(checked)
}

/// What a program gives in tier 0; nothing if it can't be read.
fn tier_0(program: &Program) -> Result<Option<Vec<Ended>>, Wrong> {
    let settings = Settings::plain(0, 0, 0, 0);
    match run(program, Tier::Interp, &settings.options(), 1) {
        Ok(ran) => Ok(Some(ran.ended)),
        Err(Stopped::Refused(_)) => Ok(None),
        Err(Stopped::Failed(what)) => Err(Wrong { tier: Tier::Interp, settings, what }),
    }
}

/// Gives how many runs went too deep in one of both tiers.
fn compare(program: &Program, wanted: &[Ended], ran: &Ran) -> Result<u64, String> {
    let mut too_deep = 0;
    for (at, got) in ran.ended.iter().enumerate() {
        let want = &wanted[at % wanted.len()];
        if got != want && (got.is_too_deep() || want.is_too_deep()) {
            too_deep += 1;
        } else if got != want {
            let run = &program.runs[at % wanted.len()];
            return Err(format!("run {at} ({run:?}) gives {got}, and should give {want}"));
        }
    }
    Ok(too_deep)
}
