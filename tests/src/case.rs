//! A case: a flow module, what is known when compiling, and the arguments of some runs.
//!
//! As text it is graph text with some directives before it:
//!
//! ```text
//! // greens: 0, 2
//! // args: 7, [1, 2, 3], 0.5
//! // args: 9, [0, 0, 0], -1.0
//! // input: "read by get_byte"
//! // switches: join_tuples 2
//! module flow
//! entry f
//! …
//! ```
//!
//! Each `args` line is a run, written as for `hueshift spec --args`, perhaps with `; same 2=1` behind it: parameter 2
//! is the very reference that parameter 1 is. The known parameters are those of the first run in all of them.

use crate::Switches;
use flowgraph::ir::Module;
use flowgraph::testing::{Argument, Generated, Run};
use flowgraph::text::{parse_module, print_module};
use flowgraph::value::debug;
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
    /// What each run reads.
    pub input: String,
    /// Settings that must not matter.
    pub switches: Switches,
}

impl Case {
    /// The case of a generated module for one of its splits into greens and reds.
    pub fn generated(generated: &Generated, split: usize) -> Case {
        Case {
            module: generated.module.clone(),
            entry: generated.entry.clone(),
            greens: generated.splits[split].iter().copied().collect(),
            runs: generated.runs.iter().map(|run| written(generated, run)).collect(),
            input: String::new(),
            switches: Switches::drawn(&generated.settings),
        }
    }

    /// Reads a case.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Case, String> {
        let module = parse_module(text).map_err(|e| e.to_string())?;
        let entry = module.entry.clone().ok_or("the module names no entry")?;
        let (mut greens, mut runs, mut switches) = (BTreeSet::new(), Vec::new(), Switches::default());
        let mut input = String::new();
        for line in text.lines() {
            if let Some(list) = line.strip_prefix("// greens:") {
                for item in list.split(',').map(str::trim).filter(|s| !s.is_empty()) {
                    greens.insert(item.parse().map_err(|e| format!("{item}: {e}"))?);
                }
            } else if let Some(args) = line.strip_prefix("// args:") {
                runs.push(args.trim().to_owned());
            } else if let Some(text) = line.strip_prefix("// input:") {
                input = parse_input(text)?;
            } else if let Some(list) = line.strip_prefix("// switches:") {
                switches = Switches::parse(list)?;
            }
        }
        Ok(Case { module, entry, greens, runs, input, switches })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let greens: Vec<String> = self.greens.iter().map(usize::to_string).collect();
        writeln!(f, "// greens: {}", greens.join(", "))?;
        for run in &self.runs {
            writeln!(f, "// args: {run}")?;
        }
        if !self.input.is_empty() {
            writeln!(f, "// input: {:?}", self.input)?;
        }
        if self.switches != Switches::default() {
            writeln!(f, "// switches: {}", self.switches)?;
        }
        f.write_str(&print_module(&Module { entry: Some(self.entry.clone()), ..self.module.clone() }))
    }
}

/// What runs read, written as a string of Rust behind `// input:`.
///
/// # Errors
/// If it is none.
pub fn parse_input(text: &str) -> Result<String, String> {
    let literal = syn::parse_str::<syn::LitStr>(text.trim());
    literal.map(|literal| literal.value()).map_err(|e| format!("{} is no string: {e}", text.trim()))
}

/// The arguments of a run as text.
fn written(generated: &Generated, run: &Run) -> String {
    let params = &generated.module.graphs[&generated.entry].signature.params;
    let shown =
        params.iter().enumerate().map(|(i, param)| uncelled(&debug(&generated.module, &param.ty, run.value(i))));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    let same = run.args.iter().enumerate().filter_map(|(i, arg)| match arg {
        Argument::Same(other) => Some(format!("{i}={other}")),
        _ => None,
    });
    let same: Vec<String> = same.collect();
    if !same.is_empty() {
        text.push_str(&format!("; same {}", same.join(", ")));
    }
    text
}

/// As arguments, cells are written as what is in them.
pub fn uncelled(text: &str) -> String {
    let mut parts = text.split("Cell { value: ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (value, rest) = part.split_once(" }").unwrap_or((part, ""));
        out.push_str(value);
        out.push_str(rest);
    }
    out
}

/// Two positions of a run's line.
pub type Overlap = (usize, usize);

/// A run's line: the arguments, and which parameters are the same as which.
///
/// # Errors
/// If what stands behind the `;` isn't understood.
pub fn split_run(line: &str) -> Result<(&str, Vec<Overlap>), String> {
    let Some((args, same)) = line.split_once("; same ") else { return Ok((line, Vec::new())) };
    let pair = |item: &str| {
        let (a, b) = item.split_once('=')?;
        Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
    };
    let same = same.split(',').map(|item| pair(item).ok_or_else(|| format!("`{item}` is no `2=1`")));
    Ok((args, same.collect::<Result<_, _>>()?))
}
