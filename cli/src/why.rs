//! `hueshift why`: the reason of a color.

use crate::Done;
use crate::options::EntryOptions;
use crate::output::print;
use crate::problem::Problem;
use crate::source::Source;
use clap::Args;
use flowgraph::ir::Module;
use hintannotator::{QueryError, letters_of_key};
use std::collections::BTreeSet;

/// Say why a variable has its color.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Why {
    /// The name of an interpreter, or a file of the dialect.
    source: String,
    /// The variable: `function::variable`, with `@LINE` for one of its definitions, with `#SIGNATURE` for one signature
    /// of the function.
    variable: String,
    #[command(flatten)]
    entry: EntryOptions,
}

const EXAMPLE: &str = "Example:
  hueshift why interpreters/plus_minus/plus_minus.rs plus_minus::op";

impl Why {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        let source = Source::load(&self.source, self.entry.entry.as_deref())?;
        let function = self.variable.split(['@', '#']).next().and_then(|path| path.rsplit_once("::"));
        let Some((function, _)) = function else {
            let message = format!("`{}` doesn't name a variable", self.variable);
            return Err(Problem::new(message).help("write `function::variable`").into());
        };
        let entry = source.entry_reaching(self.entry.entry.as_deref(), function)?;
        let greens = source.greens(&entry, self.entry.green())?;
        let colors = source.colors(&entry, &greens)?;
        let why = colors.why(&self.variable).map_err(|e| unanswered(&e, &self.variable, &colors.module))?;
        print(&why.to_string())
    }
}

/// Why there is no answer, with the names that there are.
fn unanswered(error: &QueryError, asked: &str, module: &Module) -> Problem {
    let problem = Problem::new(error.to_string());
    let bare = asked.split(['@', '#']).next().unwrap_or(asked);
    let instead = |all: Vec<String>| format!("ask for `{}`", all.join("`, `"));
    let (what, names): (String, BTreeSet<&str>) = match error {
        QueryError::NoSuchVariable { function, .. } => {
            let of = module.graphs.values().filter(|g| g.function == *function).flat_map(|g| &g.names);
            (format!("the variables of `{function}` are"), of.map(|def| def.name.as_str()).collect())
        }
        QueryError::NoSuchFunction { .. } => {
            ("the functions reached are".to_owned(), module.graphs.values().map(|g| g.function.as_str()).collect())
        }
        QueryError::NotLookedInto(_) => {
            let looked_into = module.graphs.values().filter(|g| letters_of_key(&g.key).is_some());
            let names = looked_into.map(|g| g.function.as_str());
            ("its callers have: the functions that are looked into are".to_owned(), names.collect())
        }
        QueryError::NoSuchLine { lines, .. } => {
            let lines: BTreeSet<&u32> = lines.iter().collect();
            return problem.help(instead(lines.into_iter().map(|line| format!("{bare}@{line}")).collect()));
        }
        QueryError::NoSuchSignature { reached, .. } => {
            let reached = reached.iter().map(|signature| format!("{bare}#{}", signature.trim_matches('`')));
            return problem.help(instead(reached.collect()));
        }
        QueryError::Malformed(_) => return problem,
    };
    match names.is_empty() {
        true => problem.help("it has none"),
        false => problem.help(format!("{what} {}", names.into_iter().collect::<Vec<_>>().join(", "))),
    }
}
