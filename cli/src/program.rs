//! A guest program of a bundled interpreter: a file, standard input, or one of those that are bundled.

use crate::problem::{Failure, Problem};
use crate::run::programs;
use crate::source;
use interpreters::{Interpreter, LoadError};
use std::path::Path;

/// A guest program, read.
pub struct Program {
    interpreter: &'static Interpreter,
    name: String,
    contents: Vec<u8>,
    bundled: bool,
}

impl Program {
    /// The program of an interpreter that `name` means, if one is named at all: a bundled one, else a file. So what
    /// lies in the folder at hand changes nothing; a file with a bundled program's name is asked for by a path, as
    /// `./primes`.
    pub fn read(interpreter: &'static Interpreter, name: Option<&str>) -> Result<Program, Failure> {
        let help = programs(interpreter);
        let Some(name) = name else {
            return Err(Problem::new(format!("which program of {}?", interpreter.name)).help(help).into());
        };
        let bundled = interpreter.program(name);
        if bundled.is_none() && name != "-" && !Path::new(name).exists() {
            let message = format!("there is neither a program of {} nor a file `{name}`", interpreter.name);
            return Err(Problem::new(message).help(help).into());
        }
        let contents = match bundled {
            Some(bundled) => bundled.text.as_bytes().to_vec(),
            None => source::read_bytes(name)?,
        };
        Ok(Program { interpreter, name: name.to_owned(), contents, bundled: bundled.is_some() })
    }

    /// The file that it was read from, if it was.
    pub fn file(&self) -> Option<&Path> {
        (!self.bundled && self.name != "-").then(|| Path::new(&self.name))
    }

    /// The arguments of the interpreter's entry for it, as `--args` takes them, with arguments of its own.
    pub fn load(&self, arguments: &[&str]) -> Result<String, LoadError> {
        // Bundled programs are text.
        let name = if self.bundled { ".asm" } else { self.name.as_str() };
        self.interpreter.load_bytes(&self.interpreter.program_of_file(name, &self.contents)?, arguments)
    }

    /// What is wrong with it, or with its arguments.
    pub fn refused(&self, error: &LoadError) -> Failure {
        let text = String::from_utf8_lossy(&self.contents);
        let problems = error.problems.iter().map(|p| {
            let problem = Problem::new(format!("{}: {}", p.kind, p.kind.reason())).help(p.kind.remedy());
            Box::new(match p.span {
                Some(span) => problem.within(&self.name, &text, span.offset, span.len),
                None => problem,
            }) as _
        });
        Failure::Refused(problems.collect())
    }
}
