//! Runs of a guest program in a tier.

use super::{Language, Program};
use flowgraph::ir::TrapKind;
use hueshift::embed::{Error, Jit};
use hueshift::io::{self, Io};
use hueshift::{JitOptions, Stats};
use interpreters::regex::Dfa;
use interpreters::{brainfuck, regex, register_machine, stack_machine};
use std::fmt;

/// Which tier a run begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The interpreter as rustc has compiled it.
    Interp,
    /// Compiled ahead of time.
    Aot,
    /// The same as the first, and what is hot is compiled.
    Jit,
}

impl Tier {
    /// All of them.
    pub const ALL: [Tier; 3] = [Tier::Interp, Tier::Aot, Tier::Jit];

    /// The command's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Interp => "interp",
            Tier::Aot => "aot",
            Tier::Jit => "jit",
        }
    }
}

/// What can be seen of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The result, or the message of the trap.
    pub end: Result<String, String>,
    /// The memory that it was given.
    pub memory: String,
    /// What it has written.
    pub output: Vec<u8>,
}

impl Ended {
    /// Whether the run went deeper than the stack of its tier, or the memory for its local aggregates, allows.
    pub fn is_too_deep(&self) -> bool {
        self.end.as_ref().err().is_some_and(|message| message == TrapKind::StackExhausted.template())
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            Ok(value) => write!(f, "{value}")?,
            Err(message) => write!(f, "the trap `{message}`")?,
        }
        if !self.memory.is_empty() {
            write!(f, ", memory {}", self.memory)?;
        }
        if !self.output.is_empty() {
            write!(f, ", output {:?}", String::from_utf8_lossy(&self.output))?;
        }
        Ok(())
    }
}

/// What came of all runs of a program, in their order, so many times over.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The runs.
    pub ended: Vec<Ended>,
    /// What was compiled.
    pub stats: Stats,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The program can't be read.
    Refused(String),
    /// Neither a result nor a trap.
    Failed(String),
}

macro_rules! call {
    ($tier:expr, $jit:expr, $($lang:ident)::+, $entry:ident($($argument:expr),*)) => {
        match $tier {
            Tier::Interp => $($lang)::+::interp::$entry($($argument),*).map_err(Error::from),
            Tier::Aot => $($lang)::+::aot::$entry($jit, $($argument),*),
            Tier::Jit => $($lang)::+::jit::$entry($jit, $($argument),*),
        }
    };
}

/// Runs a program so many times over, all runs with the same compiled code.
///
/// # Errors
/// What is in the way.
pub fn run(program: &Program, tier: Tier, options: &JitOptions, times: usize) -> Result<Ran, Stopped> {
    let refused = |e: interpreters::LoadError| Stopped::Refused(e.to_string());
    let text = program.text.as_bytes();
    let runs = || (0..times).flat_map(|_| &program.runs);
    let jit = || Jit::with_options(program.language.interpreter().embedded(), options.clone());
    let number = |run: &str| run.parse::<i64>().map_err(|e| Stopped::Refused(format!("`{run}`: {e}")));
    let on_input = |run: &mut dyn FnMut() -> (Result<String, Error>, String)| {
        let ((end, memory), io) = io::with(Io::bytes(program.input.as_bytes()), run);
        Ok(Ended { end: ended(end)?, memory, output: io.output().to_vec() })
    };
    let mut ended = Vec::new();
    match program.language {
        Language::Tl => {
            let code = program.language.interpreter().assemble(&program.text).map_err(refused)?;
            let mut jit = jit();
            for run in runs() {
                let arg = number(run)?;
                ended.push(on_input(&mut || {
                    (call!(tier, &mut jit, stack_machine, tl(&code, 0, arg)).map(shown), String::new())
                })?);
            }
            Ok(Ran { ended, stats: jit.stats() })
        }
        Language::Tlr => {
            let code = program.language.interpreter().assemble(&program.text).map_err(refused)?;
            let mut jit = jit();
            for run in runs() {
                let a = number(run)?;
                ended.push(on_input(&mut || {
                    let mut regs = vec![0; super::registers::REGISTERS];
                    let end = call!(tier, &mut jit, register_machine, tlr(&code, a, &mut regs)).map(shown);
                    (end, format!("{regs:?}"))
                })?);
            }
            Ok(Ran { ended, stats: jit.stats() })
        }
        Language::Bf => {
            let rows = brainfuck::rows(text).map_err(refused)?;
            let mut jit = jit();
            for run in runs() {
                let cells = number(run)? as usize;
                ended.push(on_input(&mut || {
                    let mut tape = vec![0; cells];
                    let end = call!(tier, &mut jit, brainfuck::lang, bf(&rows, &mut tape)).map(|()| "()".to_owned());
                    (end, format!("{tape:?}"))
                })?);
            }
            Ok(Ran { ended, stats: jit.stats() })
        }
        Language::BfAst => {
            let brainfuck::Rooted { nodes, first, end } = brainfuck::tree(text).map_err(refused)?;
            let mut jit = jit();
            for run in runs() {
                let cells = number(run)? as usize;
                ended.push(on_input(&mut || {
                    let mut tape = vec![0; cells];
                    let ran = call!(tier, &mut jit, brainfuck::ast, bf_ast(&nodes, first, end, &mut tape));
                    (ran.map(|()| "()".to_owned()), format!("{tape:?}"))
                })?);
            }
            Ok(Ran { ended, stats: jit.stats() })
        }
        Language::Regex => {
            let Dfa { states, ranges, .. } = Dfa::of_pattern(&program.text).map_err(refused)?;
            let mut jit = jit();
            for run in runs() {
                ended.push(on_input(&mut || {
                    let at = call!(tier, &mut jit, regex::lang, regex(&states, &ranges, run.as_bytes()));
                    (at.map(shown), String::new())
                })?);
            }
            Ok(Ran { ended, stats: jit.stats() })
        }
    }
}

fn shown(value: i64) -> String {
    value.to_string()
}

/// The result or the trap's message.
fn ended(end: Result<String, Error>) -> Result<Result<String, String>, Stopped> {
    match end {
        Ok(value) => Ok(Ok(value)),
        Err(Error::Trap(trap)) => Ok(Err(trap.message)),
        Err(e) => Err(Stopped::Failed(e.to_string())),
    }
}
