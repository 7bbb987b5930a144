//! What fuzzing begins with: the scenarios' sources with their arguments, the bundled interpreters and guest programs,
//! the golden graphs.

use super::mutate::{Random, pieces};
use flowgraph::text::print_module;
use hueshift::Compiler;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger texts are too slow to begin with.
const LARGEST: usize = 12 << 10;

/// A function of a source, and how it is called.
#[derive(Debug)]
pub struct Scenario {
    /// The function.
    pub entry: String,
    /// Its arguments, as for `--args`.
    pub args: String,
    /// Its parameters known when compiling, as for `--green`.
    pub green: String,
    /// The source.
    pub text: String,
}

/// Everything that a command can be given.
#[derive(Debug)]
pub struct Corpus {
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Interpreter, guest program, its arguments.
    pub programs: Vec<(&'static str, &'static str, &'static [&'static str])>,
    /// The words of all sources.
    pub words: Vec<Vec<u8>>,
    /// The words of all arguments.
    pub values: Vec<Vec<u8>>,
}

impl Corpus {
    /// The scenarios of the repository.
    ///
    /// # Panics
    /// If they can't be read.
    pub fn load() -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut folders: Vec<_> =
            std::fs::read_dir(root).expect("scenarios").map(|f| f.expect("a file").path()).collect();
        folders.sort();
        let mut scenarios = Vec::new();
        for folder in folders {
            let Ok(cases) = std::fs::read_to_string(folder.join("cases.json")) else { continue };
            let cases: Vec<serde_json::Value> = serde_json::from_str(&cases).expect("a list of cases");
            for case in cases {
                let field = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
                let text = std::fs::read_to_string(folder.join(field("file"))).expect("a source");
                scenarios.push(Scenario { entry: field("entry"), args: field("args"), green: field("green"), text });
            }
        }
        let words: BTreeSet<Vec<u8>> = scenarios.iter().flat_map(|s| pieces(s.text.as_bytes())).collect();
        let odd = ["", "[0; 99999999999]", "[[", "{", "\"", "'", "\\u{0}", "NaN", "1e999", "Some(1)", ",", "=", "all"];
        let odd = odd.into_iter().map(|text| text.as_bytes().to_vec());
        let values = scenarios.iter().flat_map(|s| pieces(s.args.as_bytes())).chain(odd).collect::<BTreeSet<_>>();
        let programs = interpreters::all().iter().flat_map(|i| {
            let arguments: &[&str] = if i.parameters.len() == 2 { &["32", "10"] } else { &["5"] };
            i.programs.iter().map(move |p| (i.name, p.text, arguments))
        });
        Corpus {
            programs: programs.collect(),
            words: words.into_iter().collect(),
            values: values.into_iter().collect(),
            scenarios,
        }
    }
}

impl Scenario {
    /// The text of its flow graphs; nothing if it is refused.
    pub fn flow(&self) -> String {
        let lifted = flowgraph::frontend::lift_for(&[("x.rs", &self.text)], &self.entry);
        lifted.map(|module| print_module(&module)).unwrap_or_default()
    }

    /// The text of its compiler; nothing if there is none.
    pub fn compiler(&self) -> String {
        let Ok(flow) = flowgraph::frontend::lift_for(&[("x.rs", &self.text)], &self.entry) else {
            return String::new();
        };
        let greens = self.green.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        let compiler = Compiler::new(&flow, &self.entry, &greens);
        compiler.map(|compiler| print_module(&compiler.module)).unwrap_or_default()
    }
}

/// The files in a folder of the repository with this extension, in the folders below it, too.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("an entry of a folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn texts(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let read = |path: PathBuf| std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    files(folder, extension).into_iter().map(read).filter(|text| text.len() <= LARGEST).collect()
}

/// The sources of the repository that are in the dialect.
pub(super) fn front_end() -> Vec<Vec<u8>> {
    let bundled = interpreters::all().iter().map(|i| i.source.as_bytes().to_vec());
    ["tests/scenarios", "docs/tutorial", "docs/hints"].iter().flat_map(|f| texts(f, "rs")).chain(bundled).collect()
}

/// Graphs of every stage: the golden ones, the regressions, and those of the scenarios.
pub(super) fn graph_text() -> Vec<Vec<u8>> {
    let graphs = |text: Vec<u8>| {
        let text = String::from_utf8_lossy(&text).into_owned();
        text.splitn(3, "---\n").last().unwrap_or_default().as_bytes().to_vec()
    };
    let mut out: Vec<Vec<u8>> = texts("tests/golden", "snap").into_iter().map(graphs).collect();
    out.extend(texts("flowgraph/tests/text", "txt"));
    out.extend(texts("tests/regressions", "txt"));
    let mut seen = BTreeSet::new();
    for scenario in Corpus::load().scenarios.iter().filter(|s| seen.insert(s.text.clone())) {
        out.extend([scenario.flow().into_bytes(), scenario.compiler().into_bytes()]);
    }
    out.retain(|text| !text.is_empty() && text.len() <= LARGEST);
    out
}

/// The bundled programs, and the idioms that the optimizer knows.
pub(super) fn brainfuck() -> Vec<Vec<u8>> {
    let bundled = texts("interpreters/brainfuck/programs", "b");
    let idioms = [
        "++++[->+++<]>.!",
        ",[.,]!echo",
        "+++[->++>+++<<]>.>.",
        ",[[-<+>]<.>,]!ab",
        "+[>+]",
        "-[<->+++]<.",
        ">,>,<[->[->+>+<<]>>[-<<+>>]<<<]>>.!\x03\x04",
        "[[-]]+[[+]-]>>[<<]",
        "[ not run ] ] [",
        "++[>++[>++<-]<-]>>.",
    ];
    bundled.into_iter().chain(idioms.iter().map(|text| text.as_bytes().to_vec())).collect()
}

/// Choices without pattern.
pub(super) fn equation() -> Vec<Vec<u8>> {
    let bytes = |number: u64| {
        let mut random = Random::new(1, number);
        let len = 40 << random.below(6);
        (0..len).map(|_| random.below(256) as u8).collect()
    };
    (0..48).map(bytes).collect()
}
