//! What is said when something is wrong, and with which exit code.

use crate::excerpt::{Excerpt, visible};
use flowgraph::frontend::Refusal;
use flowgraph::ir::{Loc, SourceFile};
use flowgraph::text::TextError;
use flowgraph::value::ArgumentError;
use hintannotator::ColorError;
use hueshift::{CompileError, JitError, SpecFailure};
use jitcodegen::CodegenError;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, SourceSpan};
use std::fmt;
use std::io::{self, IsTerminal, Write};
use timeshifter::specialize::SpecError;

/// Exit code: the guest program failed or trapped.
pub const GUEST: u8 = 1;
/// Exit code: wrong usage, or refused source.
pub const USAGE: u8 = 2;
/// Exit code: a bug in hueshift.
pub const INTERNAL: u8 = 3;

const REPORT: &str =
    "please report it, with the command and the files it was given: https://github.com/hueshift/hueshift/issues";

/// One thing that is wrong: what, where, and what to do about it.
#[derive(Debug, Default)]
pub struct Problem {
    message: String,
    source: Option<Excerpt>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: visible(&message.into()).into_owned(), ..Problem::default() }
    }

    /// A trap. Its message is the guest's, as what it writes is.
    pub fn trap(message: &str) -> Problem {
        Problem { message: format!("trap: {message}"), ..Problem::default() }
    }

    /// The same problem with a remedy.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(visible(&help.into()).into_owned());
        self
    }

    /// The same problem, at `len` bytes of a text.
    pub fn within(mut self, name: &str, text: &str, at: usize, len: usize) -> Problem {
        self.point(name, text, vec![label(at, len, None)]);
        self
    }

    fn point(&mut self, name: &str, text: &str, labels: Vec<LabeledSpan>) {
        if text.trim().is_empty() {
            return; // there is nothing to point at
        }
        // Of the end of a text the last character is drawn.
        let last = text.trim_end().char_indices().last().map_or((0, 0), |(at, c)| (at, c.len_utf8()));
        let behind = |label: LabeledSpan| match label.offset() >= text.trim_end().len() {
            true => {
                LabeledSpan::new_with_span(label.label().map(str::to_owned), SourceSpan::new(last.0.into(), last.1))
            }
            false => label,
        };
        let labels = labels.into_iter().map(behind).collect();
        let (source, labels) = Excerpt::new(name, text, labels);
        (self.source, self.labels) = (Some(source), labels);
    }

    /// The same problem, blamed on places of the source, the first of them the main one.
    pub fn at(mut self, files: &[SourceFile], places: &[(Loc, Option<String>)]) -> Problem {
        let known = places.iter().filter(|(loc, _)| loc.is_known()).collect::<Vec<_>>();
        let Some((main, _)) = known.first() else { return self };
        let Some(file) = files.get(main.file.0 as usize) else { return self };
        let Some(text) = &file.text else {
            self.message = format!("{}:{}:{}: {}", file.name, main.line, main.column, self.message);
            return self;
        };
        // What is drawn in one piece should be near each other; the message names all places.
        let near = |loc: &Loc| loc.file == main.file && loc.line.abs_diff(main.line) <= 8;
        let labelled = |(loc, said): &&(Loc, Option<String>)| {
            let (at, len) = span(text, *loc);
            label(at, len, said.clone())
        };
        let labels = known.iter().copied().filter(|(loc, _)| near(loc)).map(|place| labelled(&place)).collect();
        self.point(&file.name, text, labels);
        self
    }
}

fn label(at: usize, len: usize, said: Option<String>) -> LabeledSpan {
    LabeledSpan::new_with_span(said, SourceSpan::new(at.into(), len))
}

/// Where a place lies in a text, in bytes: the word that begins there, or one character.
fn span(text: &str, loc: Loc) -> (usize, usize) {
    let line = (loc.line as usize).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let skipped: usize = line.chars().take((loc.column as usize).saturating_sub(1)).map(char::len_utf8).sum();
    let rest = &line[skipped..];
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (start + skipped, word.max(rest.chars().next().map_or(0, char::len_utf8)))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() { None } else { Some(Box::new(self.labels.iter().cloned())) }
    }
}

/// Why a subcommand ends early.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage, or refused source.
    Refused(Vec<Box<dyn Diagnostic + Send + Sync>>),
    /// The guest program trapped, or there is nothing more to say.
    Guest(Option<Box<Problem>>),
    /// A bug in hueshift.
    Internal(String),
}

impl Failure {
    /// A failure for one problem.
    pub fn refused(problem: Problem) -> Failure {
        Failure::Refused(vec![Box::new(problem)])
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused(_) => USAGE,
            Failure::Guest(_) => GUEST,
            Failure::Internal(_) => INTERNAL,
        }
    }

    /// Draws it to standard error.
    pub fn draw(&self) {
        match self {
            Failure::Refused(problems) => problems.iter().for_each(|p| draw(&**p)),
            Failure::Guest(problem) => problem.iter().for_each(|p| draw(&**p)),
            Failure::Internal(message) => draw(&internal(message)),
        }
    }
}

fn internal(message: &str) -> Problem {
    Problem::new(format!("internal error: {message}")).help(format!("this is a bug in hueshift; {REPORT}"))
}

fn draw(problem: &dyn Diagnostic) {
    let colors = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colors { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    // Nothing is left to be done if even this can't be said.
    let _ = write!(std::io::stderr(), "{}", drawn_in(theme, problem));
}

/// A problem as it is drawn without colors.
pub fn drawn(problem: &Problem) -> String {
    drawn_in(GraphicalTheme::unicode_nocolor(), problem)
}

fn drawn_in(theme: GraphicalTheme, problem: &dyn Diagnostic) -> String {
    let handler = GraphicalReportHandler::new_themed(theme).with_width(120).with_links(false);
    let mut text = String::new();
    if handler.render_report(&mut text, problem).is_err() {
        text = format!("error: {problem}\n");
    }
    text.trim_start_matches('\n').to_owned()
}

/// Has panics, which are all bugs, reported as such.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or("a panic");
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        draw(&internal(&format!("{said}{place}")));
    }));
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::refused(problem)
    }
}

impl From<ArgumentError> for Problem {
    fn from(error: ArgumentError) -> Problem {
        Problem::new(&error.message).help(&error.remedy).within("--args", &error.text, error.at, error.len)
    }
}

/// A file that can't be read or written: `done` is which.
pub fn file_problem(path: &str, done: &str, error: &io::Error) -> Problem {
    let problem = Problem::new(format!("{path} can't be {done}: {error}"));
    match error.kind() {
        io::ErrorKind::NotFound if done == "read" => {
            problem.help("name a file that is there, or `-` for standard input")
        }
        io::ErrorKind::NotFound => problem.help("make the folder first, or name a file in one that is there"),
        io::ErrorKind::IsADirectory => problem.help("this is a folder: name a file"),
        io::ErrorKind::NotADirectory => problem.help("part of the path is a file: name one in a folder"),
        io::ErrorKind::PermissionDenied => {
            problem.help(format!("the file or its folder has to be one that may be {done}"))
        }
        _ => problem,
    }
}

/// A text error, in the text that it is about.
pub fn text_problem(name: &str, text: &str, error: &TextError) -> Problem {
    let loc = Loc { line: error.line.max(1), column: error.column, ..Loc::default() };
    let (at, len) = span(text, loc);
    Problem::new(&error.reason).help(&error.remedy).within(name, text, at.min(text.len()), len)
}

/// A refusal of the front end.
pub fn refusal_problem(refusal: &Refusal, text: &str) -> Problem {
    let (at, _) = span(text, refusal.loc);
    let blamed = text[at..].lines().next().unwrap_or_default().chars().take(refusal.length as usize);
    let len = blamed.map(char::len_utf8).sum();
    let message = format!("{} [{}]", refusal.message, refusal.reason.id());
    Problem::new(message).help(&refusal.remedy).within(&refusal.file, text, at, len)
}

fn color_problem(error: &ColorError, files: &[SourceFile]) -> Problem {
    let problem = Problem::new(error.to_string());
    match error {
        ColorError::MustBeGreen { loc, obstacle, remedy, .. } => {
            let main = (*loc, Some("must be green".to_owned()));
            let labels =
                if obstacle.1 == *loc { vec![main] } else { vec![main, (obstacle.1, Some("is red".to_owned()))] };
            problem.at(files, &labels).help(remedy)
        }
        ColorError::NoSuchFunction { .. } => problem.help("name a function of the file, as `f` or `Type::f`"),
        ColorError::NoSuchParameter { count: 0, .. } => problem.help("leave out --green"),
        ColorError::NoSuchParameter { count, .. } => {
            let last = (0..*count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
            problem.help(format!("--green counts the parameters from 0; all of them are `--green {last}`"))
        }
    }
}

/// A failure to make a compiler, with the files that it speaks of.
pub fn compile_failure(error: &CompileError, files: &[SourceFile]) -> Failure {
    match error {
        CompileError::Colors(errors) => {
            Failure::Refused(errors.iter().map(|e| Box::new(color_problem(e, files)) as _).collect())
        }
        CompileError::NoEntry(_, entries) if entries.is_empty() => {
            Failure::refused(Problem::new(error.to_string()).help("write the entry's graph"))
        }
        CompileError::NoEntry(..) => {
            Failure::refused(Problem::new(error.to_string()).help("name one of them with `--entry`"))
        }
        error => Failure::refused(Problem::new(error.to_string())),
    }
}

/// A failure to specialize or run. Where graphs were read as text, what breaks the engine's rules is their author's,
/// and what goes wrong in a run is the guest's.
pub fn spec_failure(error: SpecFailure, files: &[SourceFile], is_text: bool) -> Failure {
    if error.is_internal() && !is_text {
        return Failure::Internal(error.to_string());
    }
    match error {
        SpecFailure::Jit(JitError::Interpreter(_)) | SpecFailure::Memory(_) => run_failure(error, is_text),
        SpecFailure::Arguments(error) => Failure::refused(error.into()),
        SpecFailure::Jit(JitError::Specialize(error)) => specialize_problem(&error, files).into(),
        SpecFailure::Jit(JitError::Codegen(CodegenError::FrameFull { loc, .. })) => {
            let help =
                "`--mode interp` and `--mode aot` have more room; or let the caller hand over the array, as `&mut`";
            Failure::refused(Problem::new(error.to_string()).at(files, &[(loc, None)]).help(help))
        }
        error @ SpecFailure::FalseHint(..) => {
            let help = "either what the source says of results or values isn't true (`--jit check-hints=1/1` looks), or this is \
                        a bug in hueshift";
            Failure::refused(Problem::new(error.to_string()).help(help))
        }
        error => Failure::refused(Problem::new(error.to_string())),
    }
}

/// A failure of a run, other than by a trap: of what was lifted a bug, of what was read as text its author's.
pub fn run_failure(error: impl fmt::Display, is_text: bool) -> Failure {
    if is_text {
        Failure::Guest(Some(Box::new(Problem::new(format!("the run failed: {error}")))))
    } else {
        Failure::Internal(error.to_string())
    }
}

/// What the specializer gives up on.
pub fn specialize_problem(error: &SpecError, files: &[SourceFile]) -> Problem {
    let text = error.to_string();
    let (message, help) = text.split_once("; ").map_or((text.as_str(), None), |(m, h)| (m, Some(h)));
    let problem = Problem::new(message).at(files, &[(error.loc(), None)]);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}
