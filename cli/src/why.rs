//! `hueshift why`: the reason of a color.

use crate::Done;
use crate::options::EntryOptions;
use crate::output::print;
use crate::problem::Problem;
use crate::source::Source;
use clap::Args;

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
        let why = colors.why(&self.variable).map_err(|e| Problem::new(e.to_string()))?;
        print(&why.to_string())
    }
}
