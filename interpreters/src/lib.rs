//! The interpreters that ship with hueshift: for each its source in the dialect, its assembler and loader, and guest
//! programs with what they are expected to give.
//!
//! ```
//! let tl = interpreters::find("tl").unwrap();
//! let square = tl.program("square").unwrap();
//! let args = tl.load_text(square.text, &["7"]).unwrap();
//! assert_eq!(args, "[22,6,0,10,21],0,7"); // what `hueshift spec tl.rs --entry tl --args …` takes
//! assert_eq!(square.runs()[0].expected, Ok(49));
//! ```
//!
//! A folder beside `src` holds each interpreter: `tl/tl.rs` is the dialect source, which this crate carries as text;
//! `tl/loader.rs` is its table row and what turns programs into arguments; `tl/programs` are the guest programs. The dialect
//! source is also part of this crate (`hueshift::interpreter_file!` in the loader): rustc has compiled it.

#![forbid(unsafe_code)]

pub mod assembler;
mod disassembler;
mod error;
mod plain;
mod program;

#[path = "../plus_minus/loader.rs"]
mod plus_minus;
#[path = "../tl/loader.rs"]
mod tl;
#[path = "../tlr/loader.rs"]
mod tlr;

pub use assembler::{Instruction, InstructionSet};
pub use error::{LoadError, Problem, ProblemKind, Span};
pub use program::{Program, Run};

use hueshift::Trap;
use hueshift::embed::{Error, Jit};

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
    /// The instructions, where the program is assembled from a table.
    pub instructions: Option<InstructionSet>,
    /// The bundled guest programs.
    pub programs: &'static [Program],
    assemble: fn(&str) -> Result<Vec<u8>, LoadError>,
    disassemble: fn(&[u8]) -> String,
    arguments: fn(&[u8], &[i64]) -> String,
    embedded: fn() -> &'static hueshift::Interpreter,
    interpret: Interpret,
    compiled: Compiled,
}

/// Runs a program, given its code and what it takes, in the interpreter as rustc has compiled it.
type Interpret = fn(&[u8], &[i64]) -> Result<i64, Trap>;

/// Runs it compiled. Where the code is no reference of the entry, it is only read.
type Compiled = for<'p> fn(&mut Jit<'p>, &'p [u8], &[i64]) -> Result<i64, Error>;

static ALL: [Interpreter; 3] = [plus_minus::INTERPRETER, tl::INTERPRETER, tlr::INTERPRETER];

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
    /// Every problem of the text, in its order.
    pub fn assemble(&self, text: &str) -> Result<Vec<u8>, LoadError> {
        (self.assemble)(text)
    }

    /// The interpreter as a part of this program.
    pub fn embedded(&self) -> &'static hueshift::Interpreter {
        (self.embedded)()
    }

    /// Runs a program in the interpreter as rustc has compiled it: tier 0. `arguments` is one for each of
    /// [`Interpreter::parameters`]; missing ones count as 0.
    ///
    /// # Errors
    /// If the program traps.
    pub fn interpret(&self, code: &[u8], arguments: &[i64]) -> Result<i64, Trap> {
        (self.interpret)(code, arguments)
    }

    /// Compiles a program, unless this has been done, and runs it. The `Jit` is one for [`Interpreter::embedded`].
    ///
    /// # Errors
    /// If the program traps, or can't be compiled.
    pub fn run_compiled<'p>(&self, jit: &mut Jit<'p>, code: &'p [u8], arguments: &[i64]) -> Result<i64, Error> {
        (self.compiled)(jit, code, arguments)
    }

    /// A text that assembles to `code`.
    pub fn disassemble(&self, code: &[u8]) -> String {
        (self.disassemble)(code)
    }

    /// The arguments of the entry for a program in assembly, as `--args` takes them.
    ///
    /// # Errors
    /// What is wrong with the program or with the arguments.
    pub fn load_text(&self, text: &str, arguments: &[&str]) -> Result<String, LoadError> {
        self.load_bytes(&self.assemble(text)?, arguments)
    }

    /// The arguments of the entry for an assembled program, as `--args` takes them.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn load_bytes(&self, code: &[u8], arguments: &[&str]) -> Result<String, LoadError> {
        if arguments.len() != self.parameters.len() {
            let parameters = self.parameters.to_vec();
            let given = arguments.len();
            return Err(ProblemKind::ArgumentCount { interpreter: self.name, parameters, given }.into());
        }
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
        if problems.is_empty() { Ok((self.arguments)(code, &values)) } else { Err(LoadError { problems }) }
    }

    /// The arguments of the entry for the contents of a file: text if its name ends in `.asm` or it is plain ASCII
    /// text, else bytes.
    ///
    /// # Errors
    /// What is wrong with the program or with the arguments.
    pub fn load_file(&self, name: &str, contents: &[u8], arguments: &[&str]) -> Result<String, LoadError> {
        let printable = |b: &u8| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~');
        if !name.ends_with(".asm") && !contents.iter().all(printable) {
            return self.load_bytes(contents, arguments);
        }
        let text = std::str::from_utf8(contents).map_err(|_| ProblemKind::NotText)?;
        self.load_text(text, arguments)
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
