//! A program and settings with which it failed, as two files: the program as the command reads it, and beside it
//!
//! ```text
//! guest: tl
//! program: found_1f2e3d4c.asm
//! run: 5
//! run: -1
//! input: "read by get_byte"
//! mode: jit
//! jit: threshold=2,bridge=1,cases=32,region=2,background=no,chaos=17
//! choices: Guard, Stop, …
//! ```

use super::tiers::Tier;
use super::{Language, Program, Settings};
use crate::case::parse_input;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use timeshifter::specialize::choices_of;

/// A program, and how to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestCase {
    /// The program.
    pub program: Program,
    /// The mode.
    pub tier: Tier,
    /// The settings.
    pub settings: Settings,
}

impl GuestCase {
    /// Writes both files into a folder, named after what is in them. Gives the second one's path.
    ///
    /// # Errors
    /// What is wrong with the folder.
    pub fn save(&self, folder: &Path) -> io::Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        (&self.program.text, &self.program.runs, self.tier.name(), self.settings.to_string()).hash(&mut hasher);
        self.save_as(folder, &format!("found_{:08x}", hasher.finish() as u32))
    }

    /// The same with a name.
    ///
    /// # Errors
    /// What is wrong with the folder.
    pub fn save_as(&self, folder: &Path, name: &str) -> io::Result<PathBuf> {
        let program = format!("{name}.{}", self.program.language.extension());
        std::fs::write(folder.join(&program), &self.program.text)?;
        let mut text = format!("guest: {}\nprogram: {program}\n", self.program.language.name());
        for run in &self.program.runs {
            let _ = writeln!(text, "run: {run}");
        }
        if !self.program.input.is_empty() {
            let _ = writeln!(text, "input: {:?}", self.program.input);
        }
        let _ = writeln!(text, "mode: {}\njit: {}", self.tier.name(), self.settings);
        if self.settings.chaos != 0 {
            let choices: Vec<String> = choices_of(self.settings.chaos).map(|choice| format!("{choice:?}")).collect();
            let _ = writeln!(text, "choices: {}", choices.join(", "));
        }
        let path = folder.join(format!("{name}.case"));
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Reads a case from its second file.
    ///
    /// # Errors
    /// What is wrong with either file.
    pub fn read(path: &Path) -> Result<GuestCase, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let (mut language, mut code, mut tier, mut settings) = (None, None, None, None);
        let (mut runs, mut input) = (Vec::new(), String::new());
        for line in text.lines() {
            let (key, value) = line.split_once(':').ok_or_else(|| format!("`{line}` is no line of a case"))?;
            let value = value.strip_prefix(' ').unwrap_or(value);
            match key {
                "guest" => language = Language::of_name(value),
                "program" => {
                    let file = path.with_file_name(value);
                    code = Some(std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?);
                }
                "run" => runs.push(value.to_owned()),
                "input" => input = parse_input(value)?,
                "mode" => tier = Tier::ALL.into_iter().find(|tier| tier.name() == value),
                "choices" => {} // in words what the seed says
                "jit" => settings = Some(Settings::parse(value)?),
                _ => return Err(format!("`{key}` says nothing in a case")),
            }
        }
        let missing = |what: &str| format!("{}: no {what}, or none that there is", path.display());
        let program = Program {
            language: language.ok_or_else(|| missing("guest"))?,
            text: code.ok_or_else(|| missing("program"))?,
            runs,
            input,
        };
        let (tier, settings) = (tier.ok_or_else(|| missing("mode"))?, settings.ok_or_else(|| missing("jit"))?);
        Ok(GuestCase { program, tier, settings })
    }

    /// The command that runs the program's last run by itself.
    pub fn command(&self, path: &Path) -> String {
        let program = path.with_extension(self.program.language.extension());
        let run = self.program.runs.last().map_or("", String::as_str);
        let (language, mode) = (self.program.language.name(), self.tier.name());
        let settings = match self.tier {
            Tier::Interp => String::new(),
            Tier::Aot => format!(" --jit chaos={}", self.settings.chaos),
            Tier::Jit => format!(" --jit {}", self.settings),
        };
        format!("hueshift run {language} {} --mode {mode}{settings} -- {run:?}", program.display())
    }
}
