//! The `hueshift` command.
//!
//! ```text
//! spec          specialize a function for some of its arguments, and run the rest
//! graph         look at the graphs of any stage
//! why           why a variable has its color
//! run           run a guest program, or a function
//! compile       make an executable of a guest program, or of a function
//! explain       what a JIT's log says: where time goes, what is not compiled, and what to do about it
//! opt           the optimizer, on residual graphs as text
//! rules         the rules by which ops are replaced: proven, formatted, counted, found
//! interpreters  what is bundled
//! ```
//!
//! Exit codes: 0 done; 1 the guest failed or trapped; 2 wrong usage or refused source; 3 a bug in hueshift.

#![forbid(unsafe_code)]

mod compile;
mod emit;
mod excerpt;
mod explain;
mod graph;
mod guest_io;
mod interpreters;
mod log;
mod opt;
mod options;
mod output;
mod parallel;
mod problem;
mod program;
mod progress;
mod rules;
mod run;
mod source;
mod spec;
mod stats;
mod why;

use clap::{Parser, Subcommand};
use problem::Failure;
use std::process::ExitCode;

/// Specializing allocates much that is small and soon free again.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A compiler generator: write an interpreter, get a compiler and a JIT.
#[derive(Debug, Parser)]
#[command(name = "hueshift", version, max_term_width = 100, after_help = EXAMPLE)]
struct Command {
    #[command(subcommand)]
    subcommand: Sub,
}

const EXAMPLE: &str = "Example:
  hueshift spec interpreters/plus_minus/plus_minus.rs --entry plus_minus --args 0xA5A,3,32,10 --green 0,1

Exit codes: 0 done; 1 the guest program failed or trapped; 2 wrong usage or refused source; 3 a bug in hueshift.";

#[derive(Debug, Subcommand)]
enum Sub {
    Spec(spec::Spec),
    Graph(graph::Graph),
    Why(why::Why),
    Run(run::Run),
    Interpreters(interpreters::Interpreters),
    Compile(compile::Compile),
    Explain(explain::Explain),
    Opt(opt::Opt),
    Rules(rules::Rules),
}

/// Room for deeply nested sources and deep guest recursion; its pages are used only when needed.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    problem::install_panic_hook();
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(mut said) => {
            tell_of_the_guest(&mut said);
            let printed = said.print();
            return match output::written("standard output", printed) {
                Err(failure) if !said.use_stderr() => ended(Err(failure)),
                _ => ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(problem::USAGE)),
            };
        }
    };
    let work = std::thread::Builder::new().name("hueshift".to_owned()).stack_size(STACK).spawn(move || run(&command));
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic hook has said it.
        Ok(Err(_)) => ExitCode::from(problem::INTERNAL),
        Err(error) => {
            eprintln!("error: there is no memory for a thread: {error}");
            ExitCode::from(problem::INTERNAL)
        }
    }
}

/// What is handed to a guest program stands behind `--`: said where it stands before.
fn tell_of_the_guest(said: &mut clap::Error) {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let takes_guests = std::env::args().nth(1).is_some_and(|subcommand| ["run", "compile"].contains(&&*subcommand));
    let Some(ContextValue::String(argument)) = said.get(ContextKind::InvalidArg) else { return };
    if said.kind() != ErrorKind::UnknownArgument || !takes_guests || argument.starts_with('-') {
        return;
    }
    let tip = format!(
        "what a guest program takes stands behind `--`: `… -- {argument}`; what a function takes, in `--args {argument}`"
    );
    said.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

fn run(command: &Command) -> ExitCode {
    let done = match &command.subcommand {
        Sub::Spec(spec) => spec.run(),
        Sub::Graph(graph) => graph.run(),
        Sub::Why(why) => why.run(),
        Sub::Run(run) => run.run(),
        Sub::Interpreters(interpreters) => interpreters.run(),
        Sub::Compile(compile) => compile.run(),
        Sub::Explain(explain) => explain.run(),
        Sub::Opt(opt) => opt.run(),
        Sub::Rules(rules) => rules.run(),
    };
    ended(done)
}

fn ended(done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.draw();
            ExitCode::from(failure.exit_code())
        }
    }
}

/// What subcommands give.
type Done = Result<(), Failure>;
