//! What the command works on: a file of the dialect, graphs as text, or a bundled interpreter.

use crate::problem::{Failure, Problem, compile_failure, file_problem, refusal_problem, text_problem};
use flowgraph::analysis::CallGraph;
use flowgraph::frontend;
use flowgraph::ir::{Graph, Module, Stage};
use flowgraph::near::{in_brackets, near_names};
use flowgraph::text::place_in;
use flowgraph::verify::Violation;
use hintannotator::{Colors, Letter, letters_of_key};
use hueshift::{CompileError, Compiler};
use interpreters::Interpreter;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// A source, lifted.
#[derive(Debug)]
pub struct Source {
    /// Its flow graphs.
    pub module: Module,
    /// The bundled interpreter that it is.
    pub interpreter: Option<&'static Interpreter>,
    /// It was read as graphs, which somebody may have edited: they may do what no source can ask for.
    pub is_text: bool,
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &str) -> Result<String, Failure> {
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes).map_err(|e| {
        let (before, rest) = e.as_bytes().split_at(e.utf8_error().valid_up_to());
        let lines = String::from_utf8_lossy(before);
        let (line, column) =
            (lines.matches('\n').count() + 1, lines.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1);
        let byte = rest.first().copied().unwrap_or_default();
        let name = if path == "-" { "<stdin>" } else { path };
        let message = format!("{name}:{line}:{column} is not text: the byte 0x{byte:02x} begins no character of UTF-8");
        Problem::new(message).help("save the file as UTF-8").into()
    })
}

/// Reads a file, or standard input for `-`.
pub fn read_bytes(path: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let done = if path == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    match done {
        Ok(()) => Ok(bytes),
        Err(error) => Err(file_problem(path, "read", &error).into()),
    }
}

/// Arguments as text: `-` stands for what is on standard input.
pub fn arguments(text: &str) -> Result<String, Failure> {
    if text == "-" { Ok(read("-")?.trim_end_matches(['\n', '\r']).to_owned()) } else { Ok(text.to_owned()) }
}

/// Refuses options of which more than one is to be read from standard input.
pub fn one_from_stdin(options: &[(&str, Option<&str>)]) -> Result<(), Failure> {
    let from: Vec<&str> = options.iter().filter(|(_, path)| *path == Some("-")).map(|(option, _)| *option).collect();
    let [first, second, ..] = from[..] else { return Ok(()) };
    let message = format!("{first} and {second} can't both be read from standard input");
    Err(Problem::new(message).help(format!("give {second} on the command line, or {first} in a file")).into())
}

/// So many places at which a text breaks rules are shown.
const MOST_SHOWN: usize = 20;

/// So many places of a source that are refused are shown.
const MOST_REFUSALS: usize = 100;

const MEND_THE_FIRST: &str = "mend the first ones: what follows may come of them";

/// A module that was written as text, verified: its shape, and whether its colors hang together.
pub fn parse_module(name: &str, text: &str, stage: Stage) -> Result<Module, Failure> {
    if text.trim().is_empty() {
        let help = format!("its first line would be `module {}`", stage.name());
        return Err(Problem::new(format!("{name} is empty")).help(help).into());
    }
    refuse_source(name, text, stage)?;
    let mut module = flowgraph::text::parse_module(text).map_err(|e| text_problem(name, text, &e))?;
    // Graphs that are emitted one by one have no line that says so.
    if stage == Stage::Residual && module.stage != stage && !text.lines().any(|line| line.starts_with("module")) {
        module.stage = stage;
    }
    if module.stage != stage {
        let message = format!("{name} has {} graphs; {} graphs are wanted here", module.stage.name(), stage.name());
        return Err(Problem::new(message).help(fitting(module.stage, name)).into());
    }
    // The verifier has found so many more.
    let mut more = 0;
    let problem = |message: String, remedy: &str, place: Option<(usize, usize)>| {
        let problem = Problem::new(message).help(remedy);
        let (at, len) = place.unwrap_or_default();
        Box::new(problem.within(name, text, at, len)) as _
    };
    let mut problems: Vec<_> = match flowgraph::verify::verify(&module) {
        Err(violations) => {
            let placed =
                |v: &Violation| problem(v.to_string(), v.rule.remedy(), place_in(text, &v.item, v.block, v.op));
            more = violations.len().saturating_sub(MOST_SHOWN);
            violations.iter().take(MOST_SHOWN).map(placed).collect()
        }
        Ok(()) if stage == Stage::Compiler => {
            let remedy = "color it as `hueshift graph --stage compiler` does";
            let placed = |v: &hintannotator::Violation| {
                let place = place_in(text, &format!("graph {}", v.graph), Some(v.block), Some(v.op));
                problem(v.to_string(), remedy, place)
            };
            let violations = hintannotator::check(&module);
            more = violations.len().saturating_sub(MOST_SHOWN);
            violations.iter().take(MOST_SHOWN).map(placed).collect()
        }
        Ok(()) => Vec::new(),
    };
    if more > 0 {
        let message = format!("{name}: rules are broken at {more} more places");
        problems.push(Box::new(Problem::new(message).help(MEND_THE_FIRST)) as _);
    }
    if problems.is_empty() { Ok(module) } else { Err(Failure::Refused(problems)) }
}

/// What takes the graphs of a stage.
fn fitting(stage: Stage, name: &str) -> String {
    let name = shown(name);
    match stage {
        Stage::Flow => format!(
            "`hueshift graph {name}` takes these; with `--stage residual` and `--args` it prints what `hueshift opt` takes"
        ),
        Stage::Colored => {
            "nothing takes colored graphs: give the source, or the flow graphs, that they were made of".to_owned()
        }
        Stage::Compiler => format!("`hueshift spec --compiler-graph {name}` takes these"),
        Stage::Residual => format!("`hueshift opt {name}` takes these"),
    }
}

/// What is written on the command line for a text of this name.
fn shown(name: &str) -> &str {
    if name == "<stdin>" { "-" } else { name }
}

/// The first line of a text that says something.
fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"))
}

/// The stage of the graphs that a text says it has. Graphs that are emitted one by one, without a line that says it,
/// are residual.
fn stage_of(text: &str) -> Option<Stage> {
    let mut words = first_line(text)?.split_whitespace();
    let stages = [Stage::Flow, Stage::Colored, Stage::Compiler, Stage::Residual];
    match (words.next()?, words.next()) {
        // No source in Rust begins so; what is wrong with another name is for the parser of graphs to say.
        ("module", name) => stages.into_iter().find(|stage| Some(stage.name()) == name).or(Some(Stage::Flow)),
        ("graph", Some(_)) => Some(Stage::Residual),
        _ => None,
    }
}

/// Refuses a source in Rust where graphs are wanted.
fn refuse_source(name: &str, text: &str, wanted: Stage) -> Result<(), Failure> {
    const FIRST: [&str; 9] = ["#", "use ", "pub ", "fn ", "mod ", "const ", "static ", "impl ", "type "];
    let is_source = first_line(text).is_some_and(|line| FIRST.iter().any(|first| line.starts_with(first)));
    if is_source { Err(graphs_wanted(&format!("{name} is a source in Rust"), shown(name), wanted)) } else { Ok(()) }
}

/// Refuses the name of an interpreter where residual graphs are wanted.
pub fn refuse_interpreter(name: &str) -> Result<(), Failure> {
    let is_one = interpreters::find(name).is_some() && !Path::new(name).exists();
    if is_one { Err(graphs_wanted(&format!("`{name}` is an interpreter"), name, Stage::Residual)) } else { Ok(()) }
}

fn graphs_wanted(given: &str, name: &str, wanted: Stage) -> Failure {
    let help = match wanted {
        Stage::Compiler => format!("`hueshift spec {name}` takes it as it is"),
        _ => format!("`hueshift graph {name} --stage {} --args …` prints such graphs", wanted.name()),
    };
    Problem::new(format!("{given}; {} graphs are wanted here", wanted.name())).help(help).into()
}

impl Source {
    /// The source that `name` means: an interpreter's name, else a file, of which what `entry` reaches is wanted.
    pub fn load(name: &str, entry: Option<&str>) -> Result<Source, Failure> {
        if let Some(interpreter) = interpreters::find(name) {
            let module = lift(vec![(interpreter.file.to_owned(), interpreter.source.to_owned())], None)?;
            return Ok(Source { module, interpreter: Some(interpreter), is_text: false });
        }
        if name != "-" && !Path::new(name).exists() && !name.contains(['/', '.']) {
            let all: Vec<&str> = interpreters::all().iter().map(|i| i.name).collect();
            let help = format!("the interpreters are {}; anything else is the path of a file", all.join(", "));
            return Err(Problem::new(format!("there is neither an interpreter nor a file `{name}`")).help(help).into());
        }
        let text = read(name)?;
        let name = if name == "-" { "<stdin>" } else { name };
        let stage = stage_of(&text);
        let is_text = stage == Some(Stage::Flow);
        let module = match stage {
            Some(Stage::Flow) => parse_module(name, &text, Stage::Flow)?,
            Some(stage) => {
                let message = format!("{name} has {} graphs; a source or flow graphs are wanted here", stage.name());
                return Err(Problem::new(message).help(fitting(stage, name)).into());
            }
            None => lift(files(name, text)?, entry)?,
        };
        Ok(Source { module, interpreter: None, is_text })
    }

    /// The files that it was read from.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.module.files.iter().filter(|_| self.interpreter.is_none());
        files.map(|file| Path::new(&file.name)).filter(|path| path.exists())
    }

    /// The entry to use: the one asked for, the interpreter's own, or the only public function.
    pub fn entry(&self, asked: Option<&str>) -> Result<String, Failure> {
        if let Some(name) = asked {
            function(&self.module, name)?;
            return Ok(name.to_owned());
        }
        if let Some(interpreter) = self.interpreter {
            return Ok(interpreter.entry.to_owned());
        }
        if let Some(entry) = &self.module.entry {
            return Ok(entry.clone());
        }
        let public: Vec<&str> = self
            .module
            .graphs
            .values()
            .filter(|g| g.attributes.public && !g.is_host())
            .map(|g| g.key.as_str())
            .collect();
        match public[..] {
            [only] => Ok(only.to_owned()),
            [] => Err(self.no_public_function()),
            _ => {
                let help = format!("choose one of the public functions: `--entry {}`", public.join("`, `--entry "));
                Err(Problem::new("which function?").help(help).into())
            }
        }
    }

    fn no_public_function(&self) -> Failure {
        if self.module.graphs.is_empty() {
            return Problem::new("there is no function").help("write one: `pub fn f(x: i64) -> i64 { x }`").into();
        }
        let all: Vec<&str> = self.module.graphs.keys().map(String::as_str).collect();
        let help = format!("put `pub` before one, or name one: `--entry {}`", all.join("`, `--entry "));
        Problem::new("which function? there is no `pub fn`").help(help).into()
    }

    /// An entry from which the function `name` is reached: itself if it is public or nobody calls it.
    pub fn entry_reaching(&self, asked: Option<&str>, name: &str) -> Result<String, Failure> {
        if asked.is_some() || self.interpreter.is_some() {
            return self.entry(asked);
        }
        let graphs = &self.module.graphs;
        let Some(wanted) = graphs.get_index_of(name) else {
            function(&self.module, name)?;
            return self.entry(None);
        };
        let calls = CallGraph::new(&self.module);
        let public = |i: &usize| graphs[*i].attributes.public && !graphs[*i].is_host();
        let found = std::iter::once(wanted).filter(public).chain((0..graphs.len()).filter(public));
        let found = found.into_iter().find(|i| calls.reachable(*i).contains(&wanted)).unwrap_or(wanted);
        Ok(graphs[found].key.clone())
    }

    /// The parameters known when compiling: those asked for, else the interpreter's own, else those that the hints ask
    /// for. A portal says itself which they are.
    pub fn greens(&self, entry: &str, asked: Option<&[usize]>) -> Result<BTreeSet<usize>, Failure> {
        let graph = function(&self.module, entry)?;
        match (asked, self.interpreter) {
            (Some(_), _) if graph.attributes.portal.is_some() => {
                let message = format!("`{entry}` is a portal: its attribute says which parameters are green");
                Err(Problem::new(message).help("leave out --green").into())
            }
            (Some(asked), _) => Ok(asked.iter().copied().collect()),
            (None, Some(interpreter)) if interpreter.entry == entry => Ok(interpreter.greens.iter().copied().collect()),
            _ => self.demanded(entry),
        }
    }

    /// The colors of what `entry` reaches, with these parameters known.
    pub fn colors(&self, entry: &str, greens: &BTreeSet<usize>) -> Result<Colors, Failure> {
        hintannotator::annotate(&self.module, entry, greens)
            .map_err(|errors| compile_failure(&CompileError::Colors(errors), &self.module.files))
    }

    /// The compiler made from `colors`.
    pub fn compiler(&self, colors: &Colors, entry: &str) -> Result<Compiler, Failure> {
        Compiler::of_colors(colors, entry).map_err(|e| compile_failure(&e, &self.module.files))
    }

    /// The parameters of a function that its hints ask for. What is wrong even if all of them are known when compiling
    /// is what is wrong: with none of them, others would be missed as well.
    fn demanded(&self, entry: &str) -> Result<BTreeSet<usize>, Failure> {
        let params = &self.module.graphs[entry].signature.params;
        let all = match hintannotator::annotate(&self.module, entry, &(0..params.len()).collect()) {
            Ok(all) => all,
            Err(_) if hintannotator::annotate(&self.module, entry, &BTreeSet::new()).is_ok() => {
                return Ok(BTreeSet::new());
            }
            Err(errors) => return Err(compile_failure(&CompileError::Colors(errors), &self.module.files)),
        };
        let mut letters = all.module.entry.as_deref().and_then(letters_of_key).unwrap_or_default().into_iter();
        let mut out = BTreeSet::new();
        for (i, param) in params.iter().enumerate() {
            let leaves = self.module.leaves(&param.ty).len();
            if letters.by_ref().take(leaves).filter(|l| *l == Letter::Green).count() > 0 {
                out.insert(i);
            }
        }
        Ok(out)
    }
}

/// The function `name` of a module.
pub fn function<'m>(module: &'m Module, name: &str) -> Result<&'m Graph, Failure> {
    module.graphs.get(name).ok_or_else(|| {
        if module.graphs.is_empty() {
            let message = format!("there is no function `{name}`: there is no function at all");
            return Problem::new(message).help("write one: `pub fn f(x: i64) -> i64 { x }`").into();
        }
        let near = near_names(name, module.graphs.values().map(|g| g.function.as_str()));
        let all: Vec<&str> = module.graphs.keys().map(String::as_str).collect();
        let help = format!("the functions are {}", all.join(", "));
        Problem::new(format!("there is no function `{name}`{}", in_brackets(&near))).help(help).into()
    })
}

/// A root file and the files of its modules. What comes from standard input lies in no folder.
fn files(name: &str, text: String) -> Result<Vec<frontend::File>, Failure> {
    let beside = |module: &str| {
        let there = name != "<stdin>" && Path::new(module).exists();
        if there { read(module).map(Some) } else { Ok(None) }
    };
    frontend::collect_files(name, text, beside)
}

/// Lifts files: all of them, or, if that can't be, what `entry` reaches.
fn lift(texts: Vec<frontend::File>, entry: Option<&str>) -> Result<Module, Failure> {
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let text_of = |name: &str| files.iter().find(|(n, _)| *n == name).map_or("", |(_, text)| *text);
    let lifted = match (frontend::lift(&files), entry) {
        (Err(_), Some(entry)) => frontend::lift_for(&files, entry),
        (lifted, _) => lifted,
    };
    lifted.map_err(|refused| {
        let shown = refused.refusals.iter().take(MOST_REFUSALS);
        let mut problems: Vec<_> = shown.map(|r| Box::new(refusal_problem(r, text_of(&r.file))) as _).collect();
        let more = refused.refusals.len().saturating_sub(MOST_REFUSALS);
        if more > 0 {
            let problem = Problem::new(format!("{more} more places are refused")).help(MEND_THE_FIRST);
            problems.push(Box::new(problem) as _);
        }
        Failure::Refused(problems)
    })
}
