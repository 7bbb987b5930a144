//! Random guest programs: one and the same in tier 0, compiled ahead of time, and just in time, with and without chaos.
//!
//! ```text
//! stack      programs of the stack machine, `tl`
//! registers  programs of the register machine, `tlr`
//! brainfuck  programs in Brainfuck, for both interpreters of it
//! patterns   regular expressions, and texts to look for them in
//! tiers      runs of a program in a tier
//! check      what tier 0 gives is what everything else gives
//! case       a program and settings with which it fails, as files
//! trial      programs one after the other, from a seed
//! shrink     a smaller program that fails in the same way
//! ```
//!
//! A program is drawn from bytes, any bytes, and ends whatever they are: loops count cells or registers down that
//! nothing else in them touches, and calls that recurse hand on less than they were given.

mod brainfuck;
pub mod case;
pub mod check;
mod patterns;
mod registers;
pub mod shrink;
mod stack;
pub mod tiers;
pub mod trial;

pub use case::GuestCase;
pub use check::{Checked, Settings, Wrong, check};

use crate::{Case, Switches};
use flowgraph::testing::Source;
use interpreters::{Interpreter, find};

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The stack machine.
    Tl,
    /// The register machine.
    Tlr,
    /// Brainfuck in rows.
    Bf,
    /// Brainfuck in a tree.
    BfAst,
    /// Regular expressions.
    Regex,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 5] = [Language::Tl, Language::Tlr, Language::Bf, Language::BfAst, Language::Regex];

    /// The name of its interpreter.
    pub fn name(self) -> &'static str {
        match self {
            Language::Tl => "tl",
            Language::Tlr => "tlr",
            Language::Bf => "bf",
            Language::BfAst => "bf_ast",
            Language::Regex => "regex",
        }
    }

    /// The one whose interpreter has this name.
    pub fn of_name(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// How files with programs end.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Tl | Language::Tlr => "asm",
            Language::Bf | Language::BfAst => "b",
            Language::Regex => "regex",
        }
    }

    /// Its interpreter.
    ///
    /// # Panics
    /// Never: all are bundled.
    pub fn interpreter(self) -> &'static Interpreter {
        find(self.name()).unwrap_or_else(|| unreachable!("{} is bundled", self.name()))
    }
}

/// A guest program, and what its runs take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The language.
    pub language: Language,
    /// The text.
    pub text: String,
    /// The argument of each run, as on the command line.
    pub runs: Vec<String>,
    /// What each run reads.
    pub input: String,
}

impl Program {
    /// The same as a case of the correctness equation; nothing if it can't be read. Its graphs are the interpreter's.
    pub fn case(&self, switches: Switches) -> Option<Case> {
        let interpreter = self.language.interpreter();
        let arguments = |run: &String| interpreter.load_text(&self.text, &[run]).ok();
        let runs = self.runs.iter().map(arguments).collect::<Option<_>>()?;
        let module = interpreter.embedded().module().clone();
        let (entry, greens) = (interpreter.entry.to_owned(), interpreter.greens.iter().copied().collect());
        Some(Case { module, entry, greens, runs, input: self.input.clone(), switches })
    }

    /// The program that bytes stand for.
    pub fn drawn(language: Language, bytes: &[u8]) -> Program {
        let mut source = Source::new(bytes);
        match language {
            Language::Tl => stack::program(&mut source),
            Language::Tlr => registers::program(&mut source),
            Language::Bf | Language::BfAst => Program { language, ..brainfuck::program(&mut source) },
            Language::Regex => patterns::program(&mut source),
        }
    }
}
