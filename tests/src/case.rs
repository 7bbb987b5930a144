//! A case: a flow module, what is known when compiling, and the arguments of some runs.
//!
//! As text it is graph text with two kinds of directive before it:
//!
//! ```text
//! // greens: 0, 2
//! // args: 7, [1, 2, 3], 0.5
//! // args: 9, [0, 0, 0], -1.0
//! module flow
//! entry f
//! …
//! ```
//!
//! Each `args` line is a run, written as for `hueshift spec --args`. The known parameters are those of the first run in all of
//! them.

use flowgraph::ir::Module;
use flowgraph::text::{parse_module, print_module};
use std::collections::BTreeSet;
use std::fmt;

/// A module, and what to do with it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The flow graphs.
    pub module: Module,
    /// The function to begin with.
    pub entry: String,
    /// Its parameters that are known when compiling.
    pub greens: BTreeSet<usize>,
    /// The arguments of each run.
    pub runs: Vec<String>,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Case, String> {
        let module = parse_module(text).map_err(|e| e.to_string())?;
        let entry = module.entry.clone().ok_or("the module names no entry")?;
        let (mut greens, mut runs) = (BTreeSet::new(), Vec::new());
        for line in text.lines() {
            if let Some(list) = line.strip_prefix("// greens:") {
                for item in list.split(',').map(str::trim).filter(|s| !s.is_empty()) {
                    greens.insert(item.parse().map_err(|e| format!("{item}: {e}"))?);
                }
            } else if let Some(args) = line.strip_prefix("// args:") {
                runs.push(args.trim().to_owned());
            }
        }
        Ok(Case { module, entry, greens, runs })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let greens: Vec<String> = self.greens.iter().map(usize::to_string).collect();
        writeln!(f, "// greens: {}", greens.join(", "))?;
        for run in &self.runs {
            writeln!(f, "// args: {run}")?;
        }
        f.write_str(&print_module(&Module { entry: Some(self.entry.clone()), ..self.module.clone() }))
    }
}
