//! What is damaged: the scenarios' sources with their arguments, and the bundled guest programs.

use super::mutate::pieces;
use hueshift::Compiler;
use std::collections::BTreeSet;
use std::path::Path;

/// A function of a source, and how it is called.
pub struct Scenario {
    pub entry: String,
    pub args: String,
    pub green: String,
    pub text: String,
}

/// Everything that there is to damage.
pub struct Corpus {
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
    pub fn load() -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
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
        lifted.map(|module| flowgraph::text::print_module(&module)).unwrap_or_default()
    }

    /// The text of its compiler; nothing if there is none.
    pub fn compiler(&self) -> String {
        let Ok(flow) = flowgraph::frontend::lift_for(&[("x.rs", &self.text)], &self.entry) else {
            return String::new();
        };
        let greens = self.green.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        let compiler = Compiler::new(&flow, &self.entry, &greens);
        compiler.map(|compiler| flowgraph::text::print_module(&compiler.module)).unwrap_or_default()
    }
}
