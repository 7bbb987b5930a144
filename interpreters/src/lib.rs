//! The interpreters that ship with hueshift: for each its source in the dialect, its assembler and loader, and guest
//! programs with what they are expected to give.
//!
//! ```
//! let tl = interpreters::find("tl").unwrap();
//! let square = tl.program("square").unwrap();
//! let args = tl.load_text(square.text, &["7"]).unwrap();
//! assert_eq!(args, "[22,6,0,10,21],0,7"); // what `hueshift spec tl.rs --entry tl --args …` takes
//! assert_eq!(square.runs()[0].expected, Ok("49"));
//! ```
//!
//! Programs of most languages are rows of numbers as `--args` takes them, once they are read; programs of [`brainfuck`]
//! are read by a parser in final encoding.
//!
//! A folder beside `src` holds each interpreter: `tl/tl.rs` is the dialect source, which this crate carries as text;
//! `tl/loader.rs` is its table row and what turns programs into arguments; `tl/programs` are the guest programs. The
//! dialect source is also part of this crate (`hueshift::interpreter_file!` in the loader): rustc has compiled it.

#![forbid(unsafe_code)]

pub mod assembler;
mod disassembler;
mod error;
mod plain;
mod program;

#[path = "../brainfuck/mod.rs"]
pub mod brainfuck;
#[path = "../plus_minus/loader.rs"]
mod plus_minus;
#[path = "../regex/mod.rs"]
pub mod regex;
#[path = "../tl/loader.rs"]
#[allow(missing_docs, reason = "the field of its frame is a line of the dialect source")]
mod tl;
#[path = "../tlr/loader.rs"]
mod tlr;

/// The stack machine, `tl.rs`, as a part of this program.
pub mod stack_machine {
    pub use crate::tl::lang::*;
}

/// The register machine, `tlr.rs`, as a part of this program.
pub mod register_machine {
    pub use crate::tlr::lang::*;
}

pub use assembler::{Instruction, InstructionSet};
pub use error::{LoadError, Problem, ProblemKind, Span};
pub use program::{FileRun, Program, Run};

use hueshift::embed::{Error, Jit};
use hueshift::events::Sink;
use hueshift::{JitOptions, Size, Specialized, Stats, Trap};

/// An interpreter: a row of the table [`all`].
#[derive(Clone, Copy, Debug)]
pub struct Interpreter {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub doc: &'static str,
    /// The name of the dialect source, for messages.
    pub file: &'static str,
    /// The dialect source.
    pub source: &'static str,
    /// The function that a run begins with.
    pub entry: &'static str,
    /// The parameters of `entry` that are known when compiling, from 0.
    pub greens: &'static [usize],
    /// What a guest program takes, after `--` on the command line: names.
    pub parameters: &'static [&'static str],
    /// How many of the last of them may be left out.
    pub optional: usize,
    /// The instructions, where the program is assembled from a table.
    pub instructions: Option<InstructionSet>,
    /// The bundled guest programs.
    pub programs: &'static [Program],
    /// Whether the entry's result, and what is left in memory, are what a run is for; else it is what the guest writes.
    pub shows_result: bool,
    guest: Guest,
    embedded: fn() -> &'static hueshift::Interpreter,
}

/// How programs are read and run. In the end they are arguments of the entry.
#[derive(Clone, Copy, Debug)]
enum Guest {
    /// Text is assembled to bytes; what follows the program are numbers.
    Assembled {
        /// From text to bytes.
        assemble: fn(&str) -> Result<Vec<u8>, LoadError>,
        /// And back.
        disassemble: fn(&[u8]) -> String,
        /// Bytes and numbers as `--args` takes arguments.
        arguments: fn(&[u8], &[i64]) -> String,
        /// Runs a program, given its code and what it takes.
        run: RunBytes,
        /// Runs it compiled.
        compiled: Compiled,
    },
    /// What follows the program is text, too.
    Text {
        /// As `--args` takes arguments.
        arguments: fn(&[u8], &[&str]) -> Result<String, LoadError>,
        /// Runs it. The result is text as Rust's `{:?}` prints it.
        run: RunText,
    },
}

/// What is left in memory that a run may have changed, as Rust's `{:?}` prints it.
pub type After = Vec<(&'static str, String)>;

/// A run in the interpreter as rustc has compiled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier0 {
    /// The result as Rust's `{:?}` prints it.
    pub result: Result<String, Trap>,
    /// Memory afterwards.
    pub after: After,
}

/// A run that began in the interpreter as rustc has compiled it, and went over to compiled code where it was hot.
#[derive(Debug)]
pub struct Jitted {
    /// The result as Rust's `{:?}` prints it.
    pub result: Result<String, Error>,
    /// Memory afterwards.
    pub after: After,
    /// How much was compiled, and how long it took.
    pub stats: Stats,
    /// How much code there is for each place in the guest program, largest first; if that was asked for.
    pub sizes: Vec<Size>,
    /// What was compiled, if that was asked for.
    pub compiled: Vec<Specialized>,
}

/// What is wanted of a run beside its result.
#[derive(Default)]
pub struct Wanted {
    /// Each event is handed to this function when it happens.
    pub sink: Option<Sink>,
    /// What was compiled is shown, and how much it is.
    pub compiled: bool,
    /// The process ends behind the run: memory is left for it to give back at once, not piece by piece.
    pub leaves_memory: bool,
}

/// How to run a program of an interpreter that is part of this one.
enum Tier<'a> {
    /// As rustc has compiled it.
    Interp,
    /// The same, and compiled where it is hot.
    Jit(&'a JitOptions, &'a mut Made),
}

/// What comes of a run beside its result, and who hears of events while it runs.
#[derive(Default)]
struct Made {
    stats: Stats,
    sizes: Vec<Size>,
    compiled: Vec<Specialized>,
    wanted: Wanted,
}

/// Runs an entry of an embedded interpreter.
macro_rules! run {
    ($tier:ident, $lang:ident::$entry:ident($($argument:expr),*)) => {
        match $tier {
            $crate::Tier::Interp => $lang::interp::$entry($($argument),*).map_err(hueshift::embed::Error::from),
            $crate::Tier::Jit(options, made) => {
                let mut jit = hueshift::embed::Jit::with_options(&$lang::INTERPRETER, options.clone());
                if let Some(sink) = made.wanted.sink.take() {
                    jit.on_event(sink);
                }
                let result = $lang::jit::$entry(&mut jit, $($argument),*);
                made.stats = jit.stats();
                let result = if made.wanted.compiled {
                    made.sizes = jit.sizes();
                    jit.specialized().and_then(|compiled| {
                        made.compiled = compiled;
                        result
                    })
                } else {
                    result
                };
                if made.wanted.leaves_memory {
                    std::mem::forget(jit);
                }
                result
            }
        }
    };
}
pub(crate) use run;

type RunBytes = fn(Tier<'_>, &[u8], &[i64], &mut After) -> Result<i64, Error>;

type RunText = fn(Tier<'_>, &[u8], &[&str]) -> Result<Result<String, Error>, LoadError>;

/// Runs a program compiled. Where the code is no reference of the entry, it is only read.
type Compiled = for<'p> fn(&mut Jit<'p>, &'p [u8], &[i64]) -> Result<i64, Error>;

static ALL: [Interpreter; 6] =
    [plus_minus::INTERPRETER, tl::INTERPRETER, tlr::INTERPRETER, brainfuck::BF, brainfuck::BF_AST, regex::REGEX];

/// Every interpreter.
pub fn all() -> &'static [Interpreter] {
    &ALL
}

/// The interpreter of this name.
pub fn find(name: &str) -> Option<&'static Interpreter> {
    ALL.iter().find(|i| i.name == name)
}

impl Interpreter {
    /// The bundled program of this name.
    pub fn program(&self, name: &str) -> Option<&'static Program> {
        self.programs.iter().find(|p| p.name == name)
    }

    /// The bytes of the program `text`.
    ///
    /// # Errors
    /// Every problem of the text, in its order; or that programs of this language are not bytes.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, LoadError> {
        match self.guest {
            Guest::Assembled { assemble, .. } => assemble(text),
            Guest::Text { .. } => Err(ProblemKind::NotAssembled { interpreter: self.name }.into()),
        }
    }

    /// A text that assembles to `code`, where programs are bytes.
    pub fn disassemble(&self, code: &[u8]) -> Option<String> {
        match self.guest {
            Guest::Assembled { disassemble, .. } => Some(disassemble(code)),
            Guest::Text { .. } => None,
        }
    }

    /// The interpreter as a part of this program.
    pub fn embedded(&self) -> &'static hueshift::Interpreter {
        (self.embedded)()
    }

    /// Runs a program (its text, or its bytes where text is assembled to bytes) in the interpreter as rustc has
    /// compiled it.
    ///
    /// # Errors
    /// What is wrong with the program or with the arguments. A trap is no such error.
    pub fn tier0(&self, program: &[u8], arguments: &[&str]) -> Result<Tier0, LoadError> {
        let mut after = After::new();
        let result = self.run(Tier::Interp, program, arguments, &mut after)?;
        let result = result.map_err(|error| match error {
            Error::Trap(trap) => trap,
            error => unreachable!("the interpreter only traps: {error}"),
        });
        Ok(Tier0 { result, after })
    }

    /// Runs a program in the interpreter as rustc has compiled it, from which compiled code is entered where it is hot.
    ///
    /// # Errors
    /// As for [`Interpreter::tier0`].
    pub fn jit(&self, program: &[u8], arguments: &[&str], options: &JitOptions) -> Result<Jitted, LoadError> {
        self.jit_showing(program, arguments, options, Wanted { compiled: true, ..Wanted::default() })
    }

    /// The same, with no more than is wanted beside the result.
    ///
    /// # Errors
    /// As for [`Interpreter::tier0`].
    pub fn jit_showing(
        &self,
        program: &[u8],
        arguments: &[&str],
        options: &JitOptions,
        wanted: Wanted,
    ) -> Result<Jitted, LoadError> {
        let (mut after, mut made) = (After::new(), Made { wanted, ..Made::default() });
        let result = self.run(Tier::Jit(options, &mut made), program, arguments, &mut after)?;
        let Made { stats, sizes, compiled, .. } = made;
        Ok(Jitted { result, after, stats, sizes, compiled })
    }

    fn run(
        &self,
        tier: Tier<'_>,
        program: &[u8],
        arguments: &[&str],
        after: &mut After,
    ) -> Result<Result<String, Error>, LoadError> {
        match self.guest {
            Guest::Assembled { run, .. } => {
                let numbers = self.numbers(arguments)?;
                Ok(run(tier, program, &numbers, after).map(|n| n.to_string()))
            }
            Guest::Text { run, .. } => {
                self.count(arguments)?;
                run(tier, program, arguments)
            }
        }
    }

    /// Compiles a program that is bytes, unless this has been done, and runs it. The `Jit` is one for
    /// [`Interpreter::embedded`].
    ///
    /// # Errors
    /// If the program traps, or can't be compiled. Nothing at all where programs are not bytes.
    pub fn run_compiled<'p>(&self, jit: &mut Jit<'p>, code: &'p [u8], arguments: &[i64]) -> Option<Result<i64, Error>> {
        match self.guest {
            Guest::Assembled { compiled, .. } => Some(compiled(jit, code, arguments)),
            Guest::Text { .. } => None,
        }
    }

    /// The arguments of the entry for a program as text, as `--args` takes them.
    ///
    /// # Errors
    /// What is wrong with the program or with the arguments.
    pub fn load_text(&self, text: &str, arguments: &[&str]) -> Result<String, LoadError> {
        match self.guest {
            Guest::Assembled { assemble, .. } => self.load_bytes(&assemble(text)?, arguments),
            Guest::Text { .. } => self.load_bytes(text.as_bytes(), arguments),
        }
    }

    /// The arguments of the entry for an assembled program, or one in a language that isn't assembled, as `--args`
    /// takes them.
    ///
    /// # Errors
    /// What is wrong with the program or with the arguments.
    pub fn load_bytes(&self, code: &[u8], given: &[&str]) -> Result<String, LoadError> {
        match self.guest {
            Guest::Assembled { arguments, .. } => Ok(arguments(code, &self.numbers(given)?)),
            Guest::Text { arguments, .. } => {
                self.count(given)?;
                arguments(code, given)
            }
        }
    }

    fn count(&self, arguments: &[&str]) -> Result<(), LoadError> {
        let given = arguments.len();
        if given > self.parameters.len() || given + self.optional < self.parameters.len() {
            let parameters = self.parameters.to_vec();
            let (interpreter, optional) = (self.name, self.optional);
            return Err(ProblemKind::ArgumentCount { interpreter, parameters, optional, given }.into());
        }
        Ok(())
    }

    fn numbers(&self, arguments: &[&str]) -> Result<Vec<i64>, LoadError> {
        self.count(arguments)?;
        let mut values = Vec::with_capacity(arguments.len());
        let mut problems = Vec::new();
        for (name, text) in self.parameters.iter().zip(arguments) {
            match assembler::number(text.trim()) {
                Some(value) => values.push(value),
                None => {
                    let kind = ProblemKind::BadArgument { name, text: (*text).to_owned() };
                    problems.push(Problem { span: None, kind });
                }
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(LoadError { problems }) }
    }

    /// The program in the contents of a file, as [`Interpreter::load_bytes`] and [`Interpreter::tier0`] take it. Where
    /// programs are assembled, it is text if its name ends in `.asm` or it is plain ASCII text, else bytes.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn program_of_file(&self, name: &str, contents: &[u8]) -> Result<Vec<u8>, LoadError> {
        let printable = |b: &u8| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~');
        let is_bytes = !name.ends_with(".asm") && !contents.iter().all(printable);
        if is_bytes || matches!(self.guest, Guest::Text { .. }) {
            return Ok(contents.to_vec());
        }
        self.assemble(std::str::from_utf8(contents).map_err(|_| ProblemKind::NotText)?)
    }

    /// The arguments of the entry for the contents of a file.
    ///
    /// # Errors
    /// What is wrong with the program or with the arguments.
    pub fn load_file(&self, name: &str, contents: &[u8], arguments: &[&str]) -> Result<String, LoadError> {
        self.load_bytes(&self.program_of_file(name, contents)?, arguments)
    }
}

/// What a guest program takes at a position.
fn argument(guest: &[i64], at: usize) -> i64 {
    guest.get(at).copied().unwrap_or(0)
}

/// `[1,2,3]`, as `--args` takes slices.
fn slice_text<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|i| i.to_string()).collect();
    format!("[{}]", items.join(","))
}
