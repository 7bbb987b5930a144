//! Tier 0: programs compiled by rustc, all of a batch by one call of it, and run.
//!
//! Each program is a module of the crate that is made, in a file of its own whose lines are the program's. Behind its
//! text stand functions that call the entry with the arguments of each run and print what came of it. The crate uses
//! hueshift's prelude, and is built as release builds are: sums wrap, and nothing is checked that is only checked when
//! debugging.

use super::rust;
use flowgraph::ir::{Module, RustType};
use flowgraph::value::{Value, parse};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::spanned::Spanned;

/// A run that is asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The lifted program.
    pub module: &'a Module,
    /// The function.
    pub entry: &'a str,
    /// Its arguments, as for `hueshift spec --args`.
    pub args: &'a str,
    /// What it reads.
    pub input: &'a str,
}

/// A program to compile, and its runs.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The names and texts of its files, the root first.
    pub files: Vec<(&'a str, &'a str)>,
    /// The runs.
    pub asked: Vec<Asked<'a>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this result, as `{:?}` prints it.
    Returned(String),
    /// By a panic.
    Trapped {
        /// The line of the program; nothing if it was in a library's.
        line: Option<u32>,
        /// What it said.
        message: String,
    },
}

/// What can be seen of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What lies behind each parameter that is a reference (not `&str`), by number, as `{:?}` prints it.
    pub after: BTreeMap<usize, String>,
    /// What it wrote.
    pub output: Vec<u8>,
}

impl Ran {
    /// The result, or what the panic said.
    pub fn shown(&self) -> Result<&str, &str> {
        match &self.end {
            End::Returned(text) => Ok(text),
            End::Trapped { message, .. } => Err(message),
        }
    }
}

/// Why there is nothing to compare with.
#[derive(Debug, thiserror::Error)]
pub enum Tier0Error {
    /// Nothing to compile with.
    #[error("there is no rustc: {0}")]
    NoRustc(std::io::Error),
    /// Its programs are for another machine than the one that is emulated.
    #[error("what rustc compiles doesn't run under this emulator")]
    Emulated,
    /// rustc refuses the programs.
    #[error("rustc says:\n{0}")]
    Refused(String),
    /// A file can't be written, or the programs can't be run.
    #[error("{0}: {1}")]
    Io(PathBuf, std::io::Error),
    /// The programs didn't come to their end.
    #[error("the compiled programs ended early, with {0}, behind run {1}")]
    Ended(String, String),
    /// Arguments that don't fit.
    #[error("{0}")]
    Arguments(String),
}

/// The rustc that compiles: `RUSTC`, or the one of the path.
fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Whether there is a rustc to compile with, whose programs can be run.
///
/// # Errors
/// Why not.
pub fn available() -> Result<(), Tier0Error> {
    if std::env::var_os("HUESHIFT_EMULATED").is_some() {
        return Err(Tier0Error::Emulated);
    }
    rustc().arg("--version").output().map(drop).map_err(Tier0Error::NoRustc)
}

/// Compiles the programs in `folder`, which is made, and runs them: what came of each run of each.
///
/// # Errors
/// See [`Tier0Error`].
pub fn run(folder: &Path, sources: &[Source<'_>]) -> Result<Vec<Vec<Ran>>, Tier0Error> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |e| Tier0Error::Io(path, e)
    };
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(io(folder))?;
    }
    let mut root = MAIN.to_owned();
    let mut calls = String::new();
    for (n, source) in sources.iter().enumerate() {
        let home = folder.join(format!("p{n}"));
        for (at, (name, text)) in source.files.iter().enumerate() {
            let path = home.join(name);
            let parent = path.parent().unwrap_or(&home);
            std::fs::create_dir_all(parent).map_err(io(parent))?;
            let mut text = with_debug(text);
            if at == 0 {
                text.push_str(&runner(n, source)?);
                let _ = writeln!(root, "#[path = \"p{n}/{name}\"]\nmod p{n};");
            }
            std::fs::write(&path, text).map_err(io(&path))?;
        }
        let _ = writeln!(calls, "    p{n}::hueshift_runs();");
    }
    let _ = writeln!(root, "fn main() {{\n    quiet();\n{calls}}}");
    let main = folder.join("main.rs");
    std::fs::write(&main, root).map_err(io(&main))?;
    compile(folder)?;
    let program = folder.join("programs");
    let output = Command::new(&program).output().map_err(io(&program))?;
    read(&output, sources)
}

/// What each batch begins with.
const MAIN: &str = "\
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
static SAID: Mutex<(String, u32, String)> = Mutex::new((String::new(), 0, String::new()));
fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or(\"?\").to_owned();
        let place = info.location().map(|l| (l.file().to_owned(), l.line())).unwrap_or_default();
        *SAID.lock().unwrap() = (place.0, place.1, said);
    }));
}
fn report<R: std::fmt::Debug>(program: usize, run: usize, input: &'static str, call: impl FnOnce() -> R) {
    let work = || match catch_unwind(AssertUnwindSafe(|| println!(\"{program} {run} returned {:?}\", call()))) {
        Ok(()) => {}
        Err(_) => {
            let (file, line, said) = SAID.lock().unwrap().clone();
            let own = file.starts_with(&format!(\"p{program}/\"));
            println!(\"{program} {run} trapped {} {said:?}\", if own { line } else { 0 });
        }
    };
    let (_, io) = hueshift::io::with(hueshift::io::Io::bytes(input.as_bytes()), work);
    println!(\"{program} {run} output {:?}\", io.output());
}
";

/// The functions that make the runs of a program.
fn runner(n: usize, source: &Source<'_>) -> Result<String, Tier0Error> {
    let mut text = String::from("\npub fn hueshift_runs() {\n");
    for (run, asked) in source.asked.iter().enumerate() {
        let signature = &asked.module.graphs[asked.entry].signature;
        let values = parse(asked.module, signature, asked.args)
            .map_err(|e| Tier0Error::Arguments(format!("{}: {e} in `{}`", asked.entry, asked.args)))?;
        let (mut lets, mut args, mut after) = (String::new(), Vec::new(), String::new());
        for (i, (param, value)) in signature.params.iter().zip(&values).enumerate() {
            let (ty, mutable, given) = match (&param.ty, value) {
                (RustType::Ref { mutable, to }, Value::Ref(value)) => ((**to).clone(), Some(mutable), &**value),
                (RustType::Slice { mutable, elem }, Value::Slice(items)) => {
                    (RustType::Array(elem.clone(), items.len() as u64), Some(mutable), value)
                }
                (ty, value) => (ty.clone(), None, value),
            };
            let given = match (given, &ty) {
                (Value::Slice(items), RustType::Array(..)) => &Value::Many(items.clone()),
                (given, _) => given,
            };
            let (written, shown) = (rust::written(&ty), rust::expression(asked.module, &ty, given));
            let _ = writeln!(lets, "        let mut a{i}: {written} = {shown};");
            match mutable {
                Some(mutable) => {
                    let _ = writeln!(lets, "        let r{i} = &{}a{i};", if *mutable { "mut " } else { "" });
                    let _ = writeln!(after, "        println!(\"{n} {run} after {i} {{:?}}\", a{i});");
                    args.push(format!("r{i}"));
                }
                None => args.push(format!("a{i}")),
            }
        }
        let (entry, args, input) = (asked.entry, args.join(", "), asked.input);
        let _ = writeln!(text, "    {{\n{lets}        crate::report({n}, {run}, {input:?}, move || {entry}({args}));");
        let _ = writeln!(text, "{after}    }}");
    }
    text.push_str("}\n");
    Ok(text)
}

/// The text with `Debug` derived for all types, on the lines where they are, and without `#[green]`, which rustc knows
/// by hueshift's macros only.
fn with_debug(text: &str) -> String {
    let text = &text.replace("#[green]", "        ");
    let Ok(file) = syn::parse_file(text) else { return text.to_owned() };
    let mut places = Vec::new();
    without_debug(&file.items, &mut places);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    places.sort_unstable();
    for (line, column) in places.into_iter().rev() {
        if let Some(line) = lines.get_mut(line - 1) {
            let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
            line.insert_str(at, "#[derive(Debug)] ");
        }
    }
    lines.join("\n")
}

fn without_debug(items: &[syn::Item], places: &mut Vec<(usize, usize)>) {
    for item in items {
        let (attrs, start) = match item {
            syn::Item::Struct(s) => (&s.attrs, begin(&s.vis, s.struct_token.span())),
            syn::Item::Enum(e) => (&e.attrs, begin(&e.vis, e.enum_token.span())),
            syn::Item::Mod(m) => {
                without_debug(m.content.as_ref().map_or(&[][..], |(_, items)| items), places);
                continue;
            }
            _ => continue,
        };
        let derived = attrs.iter().any(|a| {
            let syn::Meta::List(list) = &a.meta else { return false };
            list.path.is_ident("derive") && list.tokens.clone().into_iter().any(|t| t.to_string() == "Debug")
        });
        if !derived {
            places.push((start.line, start.column));
        }
    }
}

fn begin(vis: &syn::Visibility, keyword: proc_macro2::Span) -> proc_macro2::LineColumn {
    match vis {
        syn::Visibility::Inherited => keyword.start(),
        vis => vis.span().start(),
    }
}

/// The folder where cargo puts what tests are linked with: that of this program.
fn dependencies() -> Result<PathBuf, Tier0Error> {
    let program = std::env::current_exe().map_err(|e| Tier0Error::Io("this program".into(), e))?;
    let folder = program.parent().unwrap_or(&program);
    // An example lies beside the folder.
    let deps = folder.with_file_name("deps");
    Ok(if folder.ends_with("deps") || !deps.exists() { folder.to_owned() } else { deps })
}

/// The library hueshift as it was built last.
fn library(folder: &Path) -> Result<PathBuf, Tier0Error> {
    let io = |e| Tier0Error::Io(folder.to_owned(), e);
    let files = std::fs::read_dir(folder).map_err(io)?.flatten();
    let libraries = files.filter(|f| {
        let name = f.file_name().to_string_lossy().into_owned();
        name.starts_with("libhueshift-") && name.ends_with(".rlib")
    });
    let newest = libraries.max_by_key(|f| f.metadata().and_then(|m| m.modified()).ok());
    newest.map(|f| f.path()).ok_or_else(|| io(std::io::Error::other("the library hueshift isn't there")))
}

fn compile(folder: &Path) -> Result<(), Tier0Error> {
    let dependencies = dependencies()?;
    let library = library(&dependencies)?;
    let output = rustc()
        .current_dir(folder)
        .args(["--edition=2024", "--crate-name=programs", "--cap-lints=allow", "--error-format=short", "main.rs"])
        .args(["-C", "opt-level=0", "-C", "debug-assertions=off", "-C", "overflow-checks=off", "-C", "debuginfo=0"])
        .args(["-C", "codegen-units=16", "-o", "programs"])
        .arg("--extern")
        .arg(format!("hueshift={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()))
        .output()
        .map_err(Tier0Error::NoRustc)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(Tier0Error::Refused(said)) }
}

/// Reads what the programs printed.
fn read(output: &std::process::Output, sources: &[Source<'_>]) -> Result<Vec<Vec<Ran>>, Tier0Error> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut ends: BTreeMap<(usize, usize), Ran> = BTreeMap::new();
    let mut last = "none".to_owned();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let mut number = || words.next().and_then(|w| w.parse::<usize>().ok());
        let (Some(program), Some(run)) = (number(), number()) else { continue };
        last = format!("{program} {run}");
        let (what, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let end = match what {
            "returned" => End::Returned(rest.to_owned()),
            "trapped" => {
                let (line, said) = rest.split_once(' ').unwrap_or((rest, ""));
                let said = syn::parse_str::<syn::LitStr>(said).map(|s| s.value()).unwrap_or_else(|_| said.to_owned());
                End::Trapped { line: line.parse().ok().filter(|l| *l > 0), message: said }
            }
            _ => {
                let Some(ran) = ends.get_mut(&(program, run)) else { continue };
                if what == "output" {
                    let bytes = rest.trim_matches(['[', ']']).split(", ").filter_map(|b| b.parse().ok());
                    ran.output = bytes.collect();
                } else if let Some((param, value)) = rest.split_once(' ')
                    && let Ok(param) = param.parse()
                {
                    ran.after.insert(param, value.to_owned());
                }
                continue;
            }
        };
        ends.insert((program, run), Ran { end, after: BTreeMap::new(), output: Vec::new() });
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Tier0Error::Ended(format!("{}: {said}", output.status), last));
    }
    let mut all = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        let runs = (0..source.asked.len()).map(|run| ends.remove(&(n, run)));
        let runs: Option<Vec<Ran>> = runs.collect();
        all.push(runs.ok_or_else(|| Tier0Error::Ended("runs missing".to_owned(), last.clone()))?);
    }
    Ok(all)
}
