//! `hueshift run`: run a guest program of an interpreter, or a function of a file.

use crate::Done;
use crate::emit::Emit;
use crate::guest_io;
use crate::log::{self, Lines};
use crate::options::{EntryOptions, FOR_TESTS, JIT_HELP, Jit, LogOption, ignored, jit_help, parse_jit};
use crate::output::{self, print, print_aside};
use crate::problem::{Failure, Problem, run_failure, spec_failure};
use crate::progress::Spinner;
use crate::source::{self, Source};
use crate::spec::{result_text, trapped};
use crate::stats::{StatsFormat, rows};
use clap::{Args, ValueEnum};
use flowgraph::eval::{EvalError, Evaluator, Outcome, TrapReport};
use flowgraph::ir::{Loc, Module, SourceFile};
use flowgraph::memory::{BadAccess, Memory};
use flowgraph::value::{Arguments, debug_words};
use hueshift::embed::Error;
use hueshift::{Counts, Ending, JitOptions, Ran, SpecFailure, Specialized, Trap};
use interpreters::{Interpreter, Jitted, LoadError, Tier0, Wanted};
use std::path::{Path, PathBuf};

/// Run a guest program of an interpreter, or a function of a file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Run {
    /// The name of an interpreter, a file of the dialect, or `-` for standard input.
    source: String,
    /// The guest program: a file, `-` for standard input, or the name of a bundled one (a file with such a name is
    /// `./NAME`).
    program: Option<String>,
    #[command(flatten)]
    entry: EntryOptions,
    /// Its arguments, as for `hueshift spec`.
    #[arg(long, allow_hyphen_values = true)]
    args: Option<String>,
    /// How to run it.
    #[arg(long, value_enum, default_value = "aot")]
    mode: Mode,
    #[arg(long, value_name = "K=V,…", value_parser = parse_jit, help = JIT_HELP, long_help = jit_help())]
    jit: Option<Jit>,
    /// Print where time goes, how much is compiled and how often compiled code is left, to standard error.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    stats: Option<StatsFormat>,
    #[command(flatten)]
    log: LogOption,
    /// Write residual code to a file: all of it that the run has come by, in this form.
    #[arg(long, value_enum, value_name = "FORM", requires = "emit_to")]
    emit: Option<Emit>,
    /// The file to write it to.
    #[arg(long, value_name = "FILE", requires = "emit")]
    emit_to: Option<PathBuf>,
    /// What the guest program takes.
    #[arg(last = true)]
    arguments: Vec<String>,
}

const EXAMPLE: &str = "Example:
  hueshift run tl primes --mode aot -- 1000
counts the primes up to 1000, with the guest program compiled ahead of time.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// The graphs of the interpreter by the evaluator: slow, and the measure of all others.
    Eval,
    /// The interpreter itself, tier 0: a bundled one as rustc has compiled it, others' graphs as machine code.
    Interp,
    /// The guest program compiled ahead of time.
    Aot,
    /// Interpreted, and compiled where it is hot.
    Jit,
}

impl Run {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        self.refuse_ignored()?;
        let program = ("the guest program", self.program.as_deref());
        source::one_from_stdin(&[("the source", Some(&self.source)), program, ("--args", self.args.as_deref())])?;
        let source = Source::load(&self.source, self.entry.entry.as_deref())?;
        let entry = source.entry(self.entry.entry.as_deref())?;
        let given = self.given(&source)?;
        if self.jit.as_ref().is_some_and(|jit| jit.sweep.is_some()) {
            return guest_io::kept(guest_io::reads(&source.module), || self.run_on(&source, &entry, &given));
        }
        guest_io::real(|| self.run_on(&source, &entry, &given))
    }

    fn run_on(&self, source: &Source, entry: &str, given: &Given) -> Done {
        let ran = match (self.mode, given) {
            (Mode::Interp, Given::Program { interpreter, program, .. }) => {
                let ran = interpreter.tier0(program, &self.arguments());
                tier0(ran.map_err(|e| given.problems(&e))?)
            }
            (Mode::Jit, Given::Program { interpreter, program, .. }) if self.is_undisturbed() => {
                self.jitted(interpreter, program, given, &source.module.files)?
            }
            (Mode::Eval, _) => interpret(source, entry, given.text(), false)?,
            (Mode::Interp, _) => interpret(source, entry, given.text(), true)?,
            (Mode::Aot | Mode::Jit, _) => match self.compiled(source, entry, given)? {
                Some(ran) => ran,
                None => return Ok(()),
            },
        };
        // The guest's own output comes first; what keeps it from being written is reported at the end.
        let _ = hueshift::io::flush();
        report(&ran, &source.module.files, given.is_silent())
    }

    /// Refuses options that would do nothing.
    fn refuse_ignored(&self) -> Done {
        let jit = self.jit.clone().unwrap_or_default();
        let (log, stats) = (("--log", self.log.log.is_some()), ("--stats", self.stats.is_some()));
        let emit = ("--emit", self.emit.is_some());
        if self.emit_to.is_some() && self.emit_to == self.log.log {
            let problem = Problem::new("--log and --emit-to name the same file");
            return Err(problem.help("name two files: each would overwrite the other").into());
        }
        jit.alone(&[log, stats, emit])?;
        match self.mode {
            Mode::Jit => Ok(()),
            Mode::Aot => jit.without_traces("use `--mode jit`"),
            Mode::Eval | Mode::Interp => {
                let greens = ("--green", self.entry.green.is_some());
                let options = [("--jit", self.jit.is_some()), greens, log, stats, emit];
                let given = options.into_iter().find(|(_, given)| *given);
                let why = "in this mode nothing is specialized";
                given.map_or(Ok(()), |(option, _)| Err(ignored(option, why, "use `--mode aot` or `--mode jit`")))
            }
        }
    }

    /// Runs compiled code, made ahead of time or just in time; nothing if the run was to be disturbed instead.
    fn compiled(&self, source: &Source, entry: &str, given: &Given) -> Result<Option<Ran>, Failure> {
        let text = given.text();
        let greens = source.greens(entry, self.entry.green())?;
        let mut compiler = source.compiler(&source.colors(entry, &greens)?, entry)?;
        let jit = self.jit.clone().unwrap_or_default();
        jit.without_background()?;
        if jit.disturb(&compiler, text, &source.module.files, source.is_text)? {
            return Ok(None);
        }
        let options = JitOptions {
            check_accesses: source.is_text,
            show_memory: !given.is_silent(),
            time_tiers: self.looks(),
            keep_text: self.keeps_text(),
            ..jit.without_tier0()
        };
        let log = self.log.log.as_deref();
        let lines = if self.mode == Mode::Jit { Lines::create(log)? } else { None };
        let spinner = spinner(&source.module);
        let report = match (self.mode, &lines) {
            (Mode::Jit, Some(lines)) => hueshift::run_traced_telling(&mut compiler, text, &options, lines.sink()),
            (Mode::Jit, None) => hueshift::run_traced(&mut compiler, text, &options),
            _ => hueshift::spec(&mut compiler, text, hueshift::Policy::Eager, &options),
        };
        let report = report.map_err(|e| spec_failure(e, &source.module.files, source.is_text))?;
        drop(spinner);
        jit.check_step(&report)?;
        let rows = rows(&report.stats, &Counts::of_all(&report.residual), &report.sizes);
        if let Some(format) = self.stats {
            print_aside(&format.text(&rows))?;
        }
        match lines {
            Some(lines) => lines.finish(rows, report.guards.as_ref().map(|(counts, _)| counts))?,
            None => log::write(log, &report)?,
        }
        let ran = report.ran.clone();
        self.write_code(&[report.into()])?;
        Ok(Some(ran))
    }

    /// Whether machine code is wanted as text.
    fn keeps_text(&self) -> bool {
        matches!(self.emit, Some(Emit::Clif | Emit::Asm))
    }

    /// Writes what was compiled, if it is wanted.
    fn write_code(&self, made: &[Specialized]) -> Done {
        let Some(emit) = self.emit else { return Ok(()) };
        let code: Vec<String> = made.iter().map(|made| emit.all(made)).collect();
        output::write(self.emit_to.as_deref(), &code.join("\n"))
    }

    /// Whether anybody wants to know where time goes.
    fn looks(&self) -> bool {
        self.stats.is_some() || self.log.log.is_some()
    }

    /// Whether it is one run, from which nothing else is wanted than that it be fast.
    fn is_undisturbed(&self) -> bool {
        self.jit.as_ref().is_none_or(|jit| jit.sweep.is_none() && jit.given(FOR_TESTS).is_none())
    }

    /// Runs a program in the interpreter as rustc has compiled it, and in compiled code where it is hot.
    fn jitted(
        &self,
        interpreter: &Interpreter,
        program: &[u8],
        given: &Given,
        files: &[SourceFile],
    ) -> Result<Ran, Failure> {
        let jit = self.jit.clone().unwrap_or_default();
        let lines = Lines::create(self.log.log.as_deref())?;
        let spinner = (!guest_io::writes(interpreter.embedded().module())).then(|| Spinner::start("running"));
        let compiled = self.looks() || self.emit.is_some();
        let wanted = Wanted { sink: lines.as_ref().map(Lines::sink), compiled, leaves_memory: true };
        let options = JitOptions { time_tiers: self.looks(), keep_text: self.keeps_text(), ..jit.just_in_time() };
        let ran = interpreter.jit_showing(program, &self.arguments(), &options, wanted);
        drop(spinner);
        let Jitted { result, after, stats, sizes, compiled } = ran.map_err(|e| given.problems(&e))?;
        let mut counts = Counts::default();
        compiled.iter().for_each(|made| counts += Counts::of_all(&made.residual));
        let rows = rows(&stats, &counts, &sizes);
        if let Some(format) = self.stats {
            print_aside(&format.text(&rows))?;
        }
        if let Some(lines) = lines {
            lines.finish(rows, None)?;
        }
        self.write_code(&compiled)?;
        let result = match result {
            Ok(result) => Ok(result),
            Err(Error::Trap(trap)) => Err(trap),
            Err(Error::Jit(error)) => return Err(spec_failure(error.into(), files, false)),
            Err(error) => return Err(run_failure(error, false)),
        };
        Ok(tier0(Tier0 { result, after }))
    }

    fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// What the entry is given.
    fn given(&self, source: &Source) -> Result<Given, Failure> {
        let Some(interpreter) = source.interpreter else {
            if let Some(program) = &self.program {
                let message = format!("a file has no guest program, but here is `{program}`");
                return Err(Problem::new(message).help("hand arguments over with --args").into());
            }
            if !self.arguments.is_empty() {
                let message = "what stands behind `--` is for a guest program, and a file has none";
                return Err(Problem::new(message).help("hand arguments over with --args").into());
            }
            return source::arguments(self.args.as_deref().unwrap_or_default()).map(Given::Arguments);
        };
        if let Some(args) = &self.args {
            if self.program.is_some() || !self.arguments.is_empty() {
                let message = format!("--args are all that {} takes: no program goes with them", interpreter.name);
                return Err(Problem::new(message).help("leave out one or the other").into());
            }
            return source::arguments(args).map(Given::Arguments);
        }
        let Some(program) = &self.program else {
            let problem = Problem::new(format!("which program of {}?", interpreter.name));
            return Err(problem.help(programs(interpreter)).into());
        };
        let (name, contents) = match interpreter.program(program) {
            // Bundled programs are text.
            Some(bundled) => (".asm", bundled.text.as_bytes().to_vec()),
            None => {
                if program != "-" && !Path::new(program).exists() {
                    let message = format!("there is neither a program of {} nor a file `{program}`", interpreter.name);
                    return Err(Problem::new(message).help(programs(interpreter)).into());
                }
                (program.as_str(), source::read_bytes(program)?)
            }
        };
        let source = String::from_utf8_lossy(&contents).into_owned();
        let mut given =
            Given::Program { interpreter, name: program.clone(), source, program: Vec::new(), text: String::new() };
        let loaded = interpreter.program_of_file(name, &contents).map_err(|e| given.problems(&e))?;
        let loaded_text = interpreter.load_bytes(&loaded, &self.arguments()).map_err(|e| given.problems(&e))?;
        if let Given::Program { program, text, .. } = &mut given {
            (*program, *text) = (loaded, loaded_text);
        }
        Ok(given)
    }
}

/// What an entry is given.
enum Given {
    /// Arguments, as text.
    Arguments(String),
    /// A guest program.
    Program {
        interpreter: &'static Interpreter,
        /// What it is called, for messages.
        name: String,
        /// Its text.
        source: String,
        /// What is interpreted.
        program: Vec<u8>,
        /// It and its arguments as arguments of the entry.
        text: String,
    },
}

impl Given {
    fn text(&self) -> &str {
        match self {
            Given::Arguments(text) | Given::Program { text, .. } => text,
        }
    }

    /// Whether what the guest writes is all that there is to see.
    fn is_silent(&self) -> bool {
        matches!(self, Given::Program { interpreter, .. } if !interpreter.shows_result)
    }

    /// What is wrong with a program or its arguments.
    fn problems(&self, error: &LoadError) -> Failure {
        let problems = error.problems.iter().map(|p| {
            let problem = Problem::new(format!("{}: {}", p.kind, p.kind.reason())).help(p.kind.remedy());
            Box::new(match (p.span, self) {
                (Some(span), Given::Program { name, source, .. }) => {
                    problem.within(name, source, span.offset, span.len)
                }
                _ => problem,
            }) as _
        });
        Failure::Refused(problems.collect())
    }
}

/// A run in the interpreter as rustc has compiled it.
fn tier0(ran: Tier0) -> Ran {
    let ending = match ran.result {
        Ok(result) => Ending::Returned(result),
        Err(Trap { kind, message, line, column, .. }) => {
            Ending::Trapped(TrapReport { kind, message, loc: Loc { line, column, ..Loc::default() } })
        }
    };
    let after = ran.after.into_iter().map(|(place, value)| (place.to_owned(), value)).collect();
    Ran { ending, after, output: Vec::new() }
}

/// A sign of life, unless the guest's output is there.
fn spinner(module: &Module) -> Option<Spinner> {
    (!guest_io::writes(module)).then(|| Spinner::start("running"))
}

/// What to name.
pub fn programs(interpreter: &Interpreter) -> String {
    let names: Vec<&str> = interpreter.programs.iter().map(|p| p.name).collect();
    format!("name a file, or a bundled program: {}", names.join(", "))
}

/// Prints what a run comes to, unless what the guest has written is all.
fn report(ran: &Ran, files: &[SourceFile], silent: bool) -> Done {
    match &ran.ending {
        Ending::Returned(_) if silent => Ok(()),
        Ending::Trapped(report) if silent => Err(trapped(report, files)),
        Ending::Returned(result) => print(&result_text(Some(result), &ran.after)),
        Ending::Trapped(report) => {
            print(&result_text(None, &ran.after))?;
            Err(trapped(report, files))
        }
    }
}

/// Runs the graphs as they are: by the evaluator, or as machine code.
fn interpret(source: &Source, entry: &str, text: &str, native: bool) -> Result<Ran, Failure> {
    let module = &source.module;
    let failed = |error: &dyn std::fmt::Display| run_failure(error, source.is_text);
    let graph = source::function(module, entry)?;
    let arguments = Arguments::parse(module, &graph.signature, text).map_err(Problem::from)?;
    let mut memory = Memory::for_module(module);
    memory.set_hosts(hueshift::hosts());
    let missing = memory.hosts().missing(module);
    if !missing.is_empty() {
        return Err(spec_failure(SpecFailure::NoHost(missing.join(", ")), &module.files, source.is_text));
    }
    let placed = arguments.place(&mut memory);
    let spinner = spinner(module);
    let ending = if native {
        let bounds = source.is_text.then(|| memory.bounds());
        let options = jitcodegen::Options { bounds, ..jitcodegen::Options::default() };
        let mut engine = jitcodegen::Engine::new(options).map_err(|e| failed(&e))?;
        engine.compile(module, &memory).map_err(|e| match e {
            e if e.is_limit() => Problem::new(e.to_string()).into(),
            e => failed(&e),
        })?;
        match engine.call(entry, &placed.words()).map_err(|e| failed(&e))? {
            jitcodegen::Outcome::Returned(words) => Some(Ok(words)),
            jitcodegen::Outcome::Trapped(report) => Some(Err(report)),
            jitcodegen::Outcome::Exited(_) => None,
        }
    } else {
        let called = Evaluator::new(module, &mut memory).call(entry, &placed.words());
        match called.map_err(|e| if let EvalError::BadAccess(access) = e { gone(access) } else { failed(&e) })? {
            Outcome::Returned(words) => Some(Ok(words)),
            Outcome::Trapped(report) => Some(Err(report)),
            _ => None,
        }
    };
    let ending = match ending {
        Some(Ok(words)) => {
            Ending::Returned(debug_words(module, &memory, &graph.signature.result, &words).map_err(|e| failed(&e))?)
        }
        Some(Err(report)) => Ending::Trapped(report),
        None => return Err(failed(&"a flow graph has left by an exit")),
    };
    drop(spinner);
    let after = arguments.after(module, &placed, &memory).map_err(|e| failed(&e))?;
    Ok(Ran { ending, after, output: Vec::new() })
}

/// Memory is accessed that isn't there. Of what is proven of a source this is nothing that a program can do, unless a
/// reference has outlived the local variable that it leads to, which nobody has looked after.
fn gone(access: BadAccess) -> Failure {
    let help = "a reference leads to a local variable that is there no more: rustc refuses such a source, and says where. If it accepts \
                this one, please report that as a bug of hueshift";
    Problem::new(format!("the program accesses memory that isn't there: {access}")).help(help).into()
}
