//! The bundled programs that runs can be made longer of: by the one number that they take, by more input, or by a
//! longer text to match.

use hueshift::JitOptions;
use hueshift::embed::{Interpreter, Jit};
use hueshift::io::{self, Io};
use interpreters::brainfuck::{self, CELLS, Insn, Rooted};
use interpreters::{LoadError, all, regex, register_machine, stack_machine};
use std::fmt::Display;
use std::time::{Duration, Instant};

/// So many more runs must take as long as the one that looked long enough, which may have been held up.
const CONFIRMED: usize = 2;

/// As many registers as programs of the register machine may have.
const REGISTERS: usize = 256;

/// How a run ended: its result and its output, or what its trap says.
pub type Ended = Result<(String, Vec<u8>), String>;

/// A bundled program.
pub struct Guest {
    /// The interpreter's name and its own.
    pub name: String,
    /// The size to begin with.
    pub least: i64,
    size: Size,
    loaded: Loaded,
}

/// A program as its interpreter takes it.
enum Loaded {
    Stack(Vec<u8>),
    Registers(Vec<u8>),
    Rows(Vec<Insn>),
    Tree(Rooted),
    Table(regex::Dfa),
}

/// What there is more of in longer runs.
#[derive(Clone, Copy)]
enum Size {
    /// The program's one number is larger.
    Number,
    /// There are so many bytes to read, of these over and over.
    Bytes(&'static str),
}

impl Guest {
    /// All of them.
    ///
    /// # Errors
    /// If one can't be loaded.
    pub fn all() -> Result<Vec<Guest>, String> {
        let mut guests = Vec::new();
        for interpreter in all() {
            for program in interpreter.programs {
                let number = || {
                    let runs = program.runs();
                    let least = runs.iter().filter_map(|run| only_number(&run.arguments)).min()?;
                    Some((least, Size::Number))
                };
                let given = match (interpreter.name, program.name) {
                    ("bf" | "bf_ast", "rot13" | "reverse") => Some((1, Size::Bytes("Hueshift, twice over. "))),
                    ("bf" | "bf_ast", _) => None,
                    ("regex", "number") => Some((1, Size::Bytes("27182818284590452353602874713527"))),
                    ("regex", "date") => Some((1, Size::Bytes("on 2026-02-30, or 2024-04-31; "))),
                    ("regex", "word") => Some((1, Size::Bytes("logos"))),
                    _ => number(),
                };
                let Some((least, size)) = given else { continue };
                let text = program.text.as_bytes();
                let loaded = match interpreter.name {
                    "tl" => interpreter.program_of_file(".asm", text).map(Loaded::Stack),
                    "tlr" => interpreter.program_of_file(".asm", text).map(Loaded::Registers),
                    "bf" => brainfuck::rows(text).map(Loaded::Rows),
                    "bf_ast" => brainfuck::tree(text).map(Loaded::Tree),
                    "regex" => regex::Dfa::of_pattern(program.text.trim_end()).map(Loaded::Table),
                    other => return Err(format!("nobody says how {other} is run")),
                };
                let loaded = loaded.map_err(|e: LoadError| e.to_string())?;
                guests.push(Guest { name: format!("{} {}", interpreter.name, program.name), least, size, loaded });
            }
        }
        Ok(guests)
    }

    /// A run in tier 0 alone.
    pub fn tier0(&self, size: i64) -> (Duration, Ended) {
        let bytes = self.bytes(size);
        match &self.loaded {
            Loaded::Stack(code) => timed(&[], || stack_machine::interp::tl(code, 0, size)),
            Loaded::Registers(code) => timed(&[], || register_machine::interp::tlr(code, size, &mut [0; REGISTERS])),
            Loaded::Rows(rows) => timed(&bytes, || brainfuck::lang::interp::bf(rows, &mut [0; CELLS])),
            Loaded::Tree(Rooted { nodes, first, end }) => {
                timed(&bytes, || brainfuck::ast::interp::bf_ast(nodes, *first, *end, &mut [0; CELLS]))
            }
            Loaded::Table(dfa) => timed(&[], || regex::lang::interp::regex(&dfa.states, &dfa.ranges, &bytes)),
        }
    }

    /// A run that goes over to compiled code where it is hot.
    pub fn jitted<'p>(&'p self, jit: &mut Jit<'p>, size: i64) -> (Duration, Ended) {
        let bytes = self.bytes(size);
        match &self.loaded {
            Loaded::Stack(code) => timed(&[], || stack_machine::jit::tl(jit, code, 0, size)),
            Loaded::Registers(code) => timed(&[], || register_machine::jit::tlr(jit, code, size, &mut [0; REGISTERS])),
            Loaded::Rows(rows) => timed(&bytes, || brainfuck::lang::jit::bf(jit, rows, &mut [0; CELLS])),
            Loaded::Tree(Rooted { nodes, first, end }) => {
                timed(&bytes, || brainfuck::ast::jit::bf_ast(jit, nodes, *first, *end, &mut [0; CELLS]))
            }
            Loaded::Table(dfa) => timed(&[], || regex::lang::jit::regex(jit, &dfa.states, &dfa.ranges, &bytes)),
        }
    }

    /// A run of compiled code, which is made ahead of time if it isn't there.
    pub fn ahead<'p>(&'p self, jit: &mut Jit<'p>, size: i64) -> (Duration, Ended) {
        let bytes = self.bytes(size);
        match &self.loaded {
            Loaded::Stack(code) => timed(&[], || stack_machine::aot::tl(jit, code, 0, size)),
            Loaded::Registers(code) => timed(&[], || register_machine::aot::tlr(jit, code, size, &mut [0; REGISTERS])),
            Loaded::Rows(rows) => timed(&bytes, || brainfuck::lang::aot::bf(jit, rows, &mut [0; CELLS])),
            Loaded::Tree(Rooted { nodes, first, end }) => {
                timed(&bytes, || brainfuck::ast::aot::bf_ast(jit, nodes, *first, *end, &mut [0; CELLS]))
            }
            Loaded::Table(dfa) => timed(&[], || regex::lang::aot::regex(jit, &dfa.states, &dfa.ranges, &bytes)),
        }
    }

    /// A `Jit` with these settings for its runs.
    pub fn jit_with<'p>(&self, options: JitOptions) -> Jit<'p> {
        Jit::with_options(self.interpreter(), options)
    }

    /// A `Jit` for its runs.
    pub fn jit<'p>(&self) -> Jit<'p> {
        Jit::new(self.interpreter())
    }

    fn interpreter(&self) -> &'static Interpreter {
        match self.loaded {
            Loaded::Stack(_) => &stack_machine::INTERPRETER,
            Loaded::Registers(_) => &register_machine::INTERPRETER,
            Loaded::Rows(_) => &brainfuck::lang::INTERPRETER,
            Loaded::Tree(_) => &brainfuck::ast::INTERPRETER,
            Loaded::Table(_) => &regex::lang::INTERPRETER,
        }
    }

    /// What a run of this size reads.
    fn bytes(&self, size: i64) -> Vec<u8> {
        match self.size {
            Size::Number => Vec::new(),
            Size::Bytes(text) => text.bytes().cycle().take(usize::try_from(size).unwrap_or(0)).collect(),
        }
    }

    /// A size, from `from` on, with which tier 0 takes so long; nothing if it takes no longer with larger ones.
    pub fn size_for(&self, from: i64, length: Duration) -> Option<i64> {
        let mut size = from;
        for _ in 0..400 {
            let (took, ended) = self.tier0(size);
            if took >= length && (0..CONFIRMED).all(|_| self.tier0(size).0 >= length) {
                return Some(size);
            }
            ended.ok()?;
            // A run of a tenth of the length may be doubled, whatever its complexity; the rest is approached in small
            // steps.
            let more = if took * 10 < length { (size / 2).clamp(1, size) } else { (size / 8).max(1) };
            size = size.checked_add(more)?;
            // What takes no time at all with so much never will.
            let most = if matches!(self.size, Size::Number) { 1 << 40 } else { 1 << 28 };
            if took * 1000 < length && size > most {
                return None;
            }
        }
        None
    }
}

/// The number that a program is handed, if it is handed just one.
fn only_number<T: AsRef<str>>(arguments: &[T]) -> Option<i64> {
    match arguments {
        [one] => one.as_ref().parse().ok().filter(|n| *n > 0),
        _ => None,
    }
}

/// How long a run takes, and what it gives and writes.
fn timed<T: std::fmt::Debug, E: Display>(input: &[u8], run: impl FnOnce() -> Result<T, E>) -> (Duration, Ended) {
    let ((took, ran), io) = io::with(Io::bytes(input), || {
        let begun = Instant::now();
        let ran = run();
        (begun.elapsed(), ran)
    });
    let ended = ran.map(|result| (format!("{result:?}"), io.output().to_vec()));
    (took, ended.map_err(|error| error.to_string()))
}
