//! `hueshift compile`: make an executable of a guest program, or of a function of a file.

use crate::Done;
use crate::log;
use crate::options::{EntryOptions, LogOption};
use crate::problem::{Failure, Problem, drawn, specialize_problem};
use crate::program::Program;
use crate::progress::Spinner;
use crate::source::{self, Source};
use clap::{Args, ValueEnum};
use flowgraph::ir::{Loc, SourceFile};
use hueshift::standalone::{
    LinkError, LinkOptions, Standalone, StandaloneError, Template, TrapText, c_compiler, link, standalone,
};
use jitcodegen::{CodegenError, Machine, ObjectOptions, OptLevel};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Make an executable of a guest program, or of a function of a file, that runs without hueshift.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Compile {
    /// The name of an interpreter, a file of the dialect, or `-` for standard input.
    source: String,
    /// The guest program: a file, `-` for standard input, or the name of a bundled one (a file with such a name is
    /// `./NAME`).
    program: Option<String>,
    /// The executable to make.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The machine to make it for (this one, unless said otherwise).
    #[arg(long, value_enum)]
    target: Option<Target>,
    /// The C compiler that links it (cc, aarch64-linux-gnu-gcc or riscv64-linux-gnu-gcc, unless HUESHIFT_CC says
    /// otherwise).
    #[arg(long, value_name = "COMMAND")]
    cc: Option<OsString>,
    /// Make it run at one fixed address.
    #[arg(long)]
    no_pie: bool,
    /// Write the C of the executable's host to a file, too.
    #[arg(long, value_name = "FILE")]
    emit_host: Option<PathBuf>,
    #[command(flatten)]
    entry: EntryOptions,
    /// The function's arguments, as for `hueshift spec`: the executable has them all in it.
    #[arg(long, allow_hyphen_values = true)]
    args: Option<String>,
    #[command(flatten)]
    log: LogOption,
    /// What the guest program takes, if the executable is not to take it from its own command line.
    #[arg(last = true)]
    arguments: Vec<String>,
}

const EXAMPLE: &str = "Examples:
  hueshift compile tl primes -o primes && ./primes 1000
counts the primes up to 1000.
  hueshift compile tl primes -o primes --target aarch64
needs the C compiler aarch64-linux-gnu-gcc; `qemu-aarch64 -L /usr/aarch64-linux-gnu primes 1000` runs it elsewhere.
  hueshift compile interpreters/plus_minus/plus_minus.rs --args 0xA5A,3,32,10 -o a5a && ./a5a
prints 42.";

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Target {
    #[value(name = "x86_64")]
    X86_64,
    Aarch64,
    Riscv64,
}

impl Target {
    fn machine(self) -> Machine {
        match self {
            Target::X86_64 => Machine::X86_64,
            Target::Aarch64 => Machine::Aarch64,
            Target::Riscv64 => Machine::Riscv64,
        }
    }
}

impl Compile {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        let machine = self.target.map(Target::machine).or_else(Machine::host).ok_or_else(|| {
            Problem::new("no executables can be made for a machine like this one")
                .help("name another one: `--target x86_64`")
        })?;
        self.refuse_same_file()?;
        let program = ("the guest program", self.program.as_deref());
        source::one_from_stdin(&[("the source", Some(&self.source)), program, ("--args", self.args.as_deref())])?;
        let source = Source::load(&self.source, self.entry.entry.as_deref())?;
        if source.is_text {
            let message = "an executable can't be made of graphs: nobody checks there what they access";
            return Err(Problem::new(message).help("give the source that the graphs were made from").into());
        }
        let entry = source.entry(self.entry.entry.as_deref())?;
        self.spare(source.files())?;
        let template = self.template(&source, &entry)?;
        let greens = source.greens(&entry, self.entry.green())?;
        let mut compiler = source.compiler(&source.colors(&entry, &greens)?, &entry)?;
        let options = ObjectOptions {
            machine,
            pic: !self.no_pie,
            opt_level: OptLevel::default(),
            verify: cfg!(debug_assertions),
        };
        let silent = source.interpreter.is_some_and(|i| !i.shows_result) && self.program.is_some();
        let shows_result = !silent;
        let spinner = Spinner::start("compiling");
        let files = &source.module.files;
        let made = standalone(&mut compiler, &template, &options, shows_result, &|loc| trap_text(loc, files));
        let made = made.map_err(|e| self.failure(&e, files))?;
        if let Some(path) = &self.emit_host {
            crate::output::write(Some(path), &made.source)?;
        }
        self.link(&made, machine)?;
        drop(spinner);
        log::write(self.log.log.as_deref(), &made)
    }

    /// Refuses to write two things to one file.
    fn refuse_same_file(&self) -> Done {
        let (host, log) = (("--emit-host", self.emit_host.as_deref()), ("--log", self.log.log.as_deref()));
        let given: Vec<_> = [("-o", Some(self.output.as_path())), host, log]
            .into_iter()
            .filter_map(|(option, path)| path.map(|path| (option, written(path))))
            .collect();
        for (at, (option, path)) in given.iter().enumerate() {
            if let Some((other, _)) = given[at + 1..].iter().find(|(_, other)| other == path) {
                let problem = Problem::new(format!("{option} and {other} name the same file"));
                return Err(problem.help("name two files: each would overwrite the other").into());
            }
        }
        Ok(())
    }

    /// Refuses to write over what is compiled.
    fn spare<'a>(&self, sources: impl IntoIterator<Item = &'a Path>) -> Done {
        let written = [("-o", Some(&self.output)), ("--emit-host", self.emit_host.as_ref())];
        for source in sources {
            let same = |path: &Path| path.canonicalize().is_ok_and(|p| source.canonicalize().is_ok_and(|s| s == p));
            if let Some((option, _)) = written.iter().find(|(_, path)| path.is_some_and(|path| same(path))) {
                let message = format!("{option} would write over {}, which is to be compiled", source.display());
                return Err(Problem::new(message).help("name another file").into());
            }
        }
        Ok(())
    }

    /// The arguments of the entry: fixed, or to be taken by the executable.
    fn template(&self, source: &Source, entry: &str) -> Result<Template, Failure> {
        let signature = &source::function(&source.module, entry)?.signature;
        let fixed =
            |text: &str| Template::fixed(&source.module, signature, text).map_err(|e| Failure::from(Problem::from(e)));
        let Some(interpreter) = source.interpreter.filter(|_| self.args.is_none()) else {
            if self.program.is_some() || !self.arguments.is_empty() {
                let message = "a guest program and its arguments go with an interpreter, --args with a file";
                return Err(Problem::new(message).help("leave out one or the other").into());
            }
            return fixed(&source::arguments(self.args.as_deref().unwrap_or_default())?);
        };
        let program = Program::read(interpreter, self.program.as_deref())?;
        self.spare(program.file())?;
        // What may be left out is.
        let taken = &interpreter.parameters[..interpreter.parameters.len() - interpreter.optional];
        if !self.arguments.is_empty() || taken.is_empty() {
            let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
            return fixed(&program.load(&arguments).map_err(|e| program.refused(&e))?);
        }
        // What is wrong with the program itself is said as for `hueshift run`.
        let zeros = vec!["0"; taken.len()];
        let load = |arguments: &[&str]| program.load(arguments).ok();
        let open = Template::open(&source.module, signature, taken, &load);
        open.map_err(|not_open| match program.load(&zeros) {
            Err(error) => program.refused(&error),
            Ok(_) => Problem::new(not_open.to_string()).help(must_be_given(taken)).into(),
        })
    }

    fn link(&self, made: &Standalone, machine: Machine) -> Done {
        let compiler = self.cc.clone().or_else(|| std::env::var_os("HUESHIFT_CC")).filter(|cc| !cc.is_empty());
        let options = LinkOptions { machine, compiler, pie: !self.no_pie };
        link(made, &options, &self.output).map_err(|error| {
            let usual = c_compiler(machine);
            let help = match &error {
                LinkError::NoCompiler { .. } if options.compiler.is_some() => {
                    format!("--cc, or else HUESHIFT_CC, names a command; without them it is `{usual}`")
                }
                LinkError::NoCompiler { .. } => {
                    format!(
                        "install `{usual}` (Debian: the package {}), or name another with --cc or HUESHIFT_CC",
                        package(machine)
                    )
                }
                LinkError::Failed { .. } => {
                    format!("it must be one that makes executables for {machine}, with its C library: see --cc")
                }
                LinkError::Write { path, .. } if *path == self.output => {
                    "name a file in a folder that is there and may be written to: `-o FILE`".to_owned()
                }
                LinkError::Write { .. } => "temporary files go where TMPDIR says".to_owned(),
            };
            Problem::new(error.to_string()).help(help).into()
        })
    }

    fn failure(&self, error: &StandaloneError, files: &[SourceFile]) -> Failure {
        let problem = Problem::new(error.to_string());
        match error {
            StandaloneError::Specialize(error) if error.is_limit() => specialize_problem(error, files).into(),
            StandaloneError::MustBeKnown(name) => problem.help(must_be_given(&[name])).into(),
            StandaloneError::Show(_) => problem.help("let the entry return something that can be printed").into(),
            StandaloneError::Codegen(CodegenError::NotStandalone { loc, .. }) => {
                problem.at(files, &[(*loc, None)]).help("`hueshift run` has it").into()
            }
            StandaloneError::Codegen(CodegenError::NoHostFunction { .. }) => {
                problem.help("`hueshift run` has it").into()
            }
            StandaloneError::Codegen(error) if error.is_limit() => problem.into(),
            error => Failure::Internal(error.to_string()),
        }
    }
}

/// A path as one file is called in one way only, whether it is there yet or not.
fn written(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = |name| folder.canonicalize().ok().map(|folder| folder.join(name));
    path.canonicalize().ok().or_else(|| path.file_name().and_then(named)).unwrap_or_else(|| path.to_owned())
}

fn must_be_given(names: &[&str]) -> String {
    let names: String = names.iter().map(|name| format!(" <{name}>")).collect();
    format!("give it now: `hueshift compile … --{names}`")
}

/// The package of Debian that has a machine's C compiler.
fn package(machine: Machine) -> String {
    match c_compiler(machine) {
        "cc" => "gcc".to_owned(),
        _ => format!("gcc-{}-linux-gnu", machine.name().replace('_', "-")),
    }
}

/// What is drawn around the message of a trap at a place.
fn trap_text(loc: Loc, files: &[SourceFile]) -> TrapText {
    /// Stands for the message. It is in no source: nobody has agreed on its meaning.
    const MESSAGE: char = '\u{f8ff}';
    let text = drawn(&Problem::trap(&MESSAGE.to_string()).at(files, &[(loc, None)]));
    let (before, behind) = text.split_once(MESSAGE).unwrap_or(("trap: ", "\n"));
    TrapText { before: before.to_owned(), behind: behind.to_owned() }
}
