//! `hueshift graph`: the graphs of any stage.

use crate::Done;
use crate::options::{EntryOptions, Policy};
use crate::output::write;
use crate::problem::{Problem, spec_failure};
use crate::source::{self, Source};
use clap::{Args, ValueEnum};
use flowgraph::draw;
use flowgraph::ir::{Module, Stage};
use flowgraph::near::{in_brackets, near_names};
use flowgraph::text::{print_graph, print_module};
use hueshift::{JitOptions, Specialized};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Print or draw the graphs of a stage.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Graph {
    /// The name of an interpreter, a file of the dialect, or `-` for standard input.
    source: String,
    /// One function only, in all its signatures, or one graph by its key.
    #[arg(long = "fn", value_name = "F")]
    function: Option<String>,
    /// Which stage.
    #[arg(long, value_enum, default_value = "flow")]
    stage: StageName,
    #[command(flatten)]
    entry: EntryOptions,
    /// The arguments to specialize for (stage residual), as for `hueshift spec`.
    #[arg(long, allow_hyphen_values = true)]
    args: Option<String>,
    /// What decides at branches and promotions (stage residual). Under `tracing` the guest program is run, since its
    /// run decides; under `eager` it is not.
    #[arg(long, value_enum)]
    policy: Option<Policy>,
    /// How it is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Where to write it instead of standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLE: &str = "Example:
  hueshift graph tl --stage colored --format html -o tl.html
draws the graphs of the interpreter tl, every variable in its color; the reason shows under the mouse.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StageName {
    /// As lifted from the source.
    Flow,
    /// With a color for every value.
    Colored,
    /// Shifted in time: the compiler.
    Compiler,
    /// What the compiler makes of a guest program.
    Residual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text, which can be parsed back.
    Text,
    /// For Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// A picture with the reasons of colors.
    Html,
}

impl Graph {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        source::one_from_stdin(&[("the source", Some(&self.source)), ("--args", self.args.as_deref())])?;
        self.nothing_in_vain()?;
        let source = Source::load(&self.source, self.entry.entry.as_deref())?;
        if self.stage == StageName::Flow {
            // Graphs as they are lifted need no entry: one that is named has to be there all the same.
            self.entry.entry.as_deref().map_or(Ok(()), |entry| source::function(&source.module, entry).map(drop))?;
            return self.print(&source.module, &draw::no_reasons);
        }
        let entry = match &self.function {
            Some(f) => source.entry_reaching(self.entry.entry.as_deref(), f.split('#').next().unwrap_or(f))?,
            None => source.entry(self.entry.entry.as_deref())?,
        };
        let greens = source.greens(&entry, self.entry.green())?;
        let colors = source.colors(&entry, &greens)?;
        let reasons = colors.reasons();
        match self.stage {
            StageName::Flow | StageName::Colored => self.print(&colors.module, &reasons),
            StageName::Compiler => self.print(&source.compiler(&colors, &entry)?.module, &reasons),
            StageName::Residual => {
                let mut compiler = source.compiler(&colors, &entry)?;
                let files = source.module.files.clone();
                let args = source::arguments(self.args.as_deref().unwrap_or_default())?;
                let policy = self.policy.unwrap_or_default();
                let options = policy.settings(JitOptions { check_accesses: source.is_text, ..JitOptions::default() });
                let made = match policy.driver() {
                    hueshift::Policy::Eager => hueshift::specialize(&mut compiler, &args, &options),
                    driver => hueshift::spec(&mut compiler, &args, driver, &options).map(Specialized::from),
                };
                let made = made.map_err(|e| spec_failure(e, &files, source.is_text))?;
                self.print(&made.residual.module, &draw::no_reasons)
            }
        }
    }

    /// What is given is of use at the stage.
    fn nothing_in_vain(&self) -> Done {
        let of_residual = [("--args", self.args.is_some()), ("--policy", self.policy.is_some())];
        let given = of_residual.into_iter().filter(|(_, given)| *given && self.stage != StageName::Residual);
        let given = given.map(|(option, _)| (option, "residual"));
        let of_colors = self.entry.green().is_some() && self.stage == StageName::Flow;
        let Some((option, stage)) = given.chain(of_colors.then_some(("--green", "colored"))).next() else {
            return Ok(());
        };
        let stages = if stage == "residual" { "" } else { ", or a later one" };
        let problem = Problem::new(format!("{option} says nothing of this stage"));
        Err(problem.help(format!("ask for `--stage {stage}`{stages}, or leave {option} out")).into())
    }

    fn print(&self, module: &Module, reasons: draw::Reasons<'_>) -> Done {
        let function = self.function.as_deref();
        let selected = draw::selected(module, function);
        if let (Some(f), true) = (function, selected.is_empty()) {
            let near = near_names(f, module.graphs.values().map(|g| g.function.as_str()));
            let what = if module.stage == Stage::Flow { "there is no function" } else { "the entry does not reach" };
            let all: BTreeSet<&str> = module.graphs.values().map(|g| g.function.as_str()).collect();
            let help = format!("the functions are {}", all.into_iter().collect::<Vec<_>>().join(", "));
            return Err(Problem::new(format!("{what} `{f}`{}", in_brackets(&near))).help(help).into());
        }
        let text = match self.format {
            Format::Text if function.is_none() => print_module(module),
            Format::Text => selected.iter().map(|g| print_graph(module, g)).collect::<Vec<_>>().join("\n"),
            Format::Dot => draw::dot(module, function),
            Format::Svg => draw::svg(module, function, reasons),
            Format::Html => draw::html(module, function, reasons),
        };
        write(self.output.as_deref(), &text)
    }
}
