//! `hueshift spec`: specialize a function for the arguments that are known, and run the rest.

use crate::Done;
use crate::emit::Emit;
use crate::guest_io;
use crate::log;
use crate::options::{EntryOptions, JIT_HELP, Jit, LogOption, Policy, ignored, jit_help, parse_jit};
use crate::output::{self, print};
use crate::problem::{Failure, Problem, compile_failure, spec_failure};
use crate::progress::Spinner;
use crate::source::{self, Source};
use clap::Args;
use flowgraph::eval::TrapReport;
use flowgraph::ir::{SourceFile, Stage};
use hintannotator::Colors;
use hueshift::{Compiler, Counts, Ending, JitOptions, Report};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// Specialize a function for the arguments known when compiling, and run what is left on the others.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Spec {
    /// A file of the dialect, `-` for standard input, or the name of an interpreter.
    #[arg(required_unless_present = "compiler_graph", conflicts_with = "compiler_graph")]
    source: Option<String>,
    /// Compiler graphs as `hueshift graph --stage compiler` prints them, instead of a source (`-`: standard input).
    #[arg(long, value_name = "FILE", conflicts_with = "green")]
    compiler_graph: Option<String>,
    #[command(flatten)]
    entry: EntryOptions,
    /// The arguments, separated by commas: 0x1F, -2.5, true, 'c', "text", [1,2,3], [0; 64], {field: 1}; `-` reads them
    /// from standard input.
    #[arg(long, default_value = "", allow_hyphen_values = true, hide_default_value = true)]
    args: String,
    /// What decides at branches and promotions.
    #[arg(long, value_enum, default_value_t)]
    policy: Policy,
    #[arg(long, value_name = "K=V,…", value_parser = parse_jit, help = JIT_HELP, long_help = jit_help())]
    jit: Option<Jit>,
    /// Print everything as one JSON object.
    #[arg(long)]
    json: bool,
    /// Print the residual code instead of the result. Under the eager policy nothing is run: a promotion is an exit, as
    /// before its first case. Under `--policy tracing` the program is run, since its run decides what is compiled.
    #[arg(long, value_enum, conflicts_with = "json")]
    emit: Option<Emit>,
    /// Add the color of every named variable to the JSON.
    #[arg(long, requires = "json", conflicts_with = "compiler_graph")]
    colors: bool,
    #[command(flatten)]
    log: LogOption,
}

const EXAMPLE: &str = "Example:
  hueshift spec interpreters/plus_minus/plus_minus.rs --entry plus_minus --args 0xA5A,3,32,10 --green 0,1
prints 42: what is left when the program `+-+` is known is x + y - y + y, run on 32 and 10.";

/// What there is to specialize with.
struct Made {
    compiler: Compiler,
    colors: Option<Colors>,
    /// Its graphs were read as text.
    is_text: bool,
}

impl Spec {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        let policy = self.policy.driver();
        let graphs = ("the compiler graphs", self.compiler_graph.as_deref());
        source::one_from_stdin(&[("the source", self.source.as_deref()), graphs, ("--args", Some(&self.args))])?;
        let Made { compiler, colors, is_text } = self.compiler()?;
        let args = source::arguments(&self.args)?;
        let jit = self.jit.clone().unwrap_or_default();
        jit.alone(&[("--json", self.json), ("--emit", self.emit.is_some()), ("--log", self.log.log.is_some())])?;
        if policy == hueshift::Policy::Eager {
            if self.emit.is_some() && self.jit.is_some() {
                let why = "under the eager policy --emit runs nothing";
                return Err(ignored("--jit", why, "leave it out, or use `--policy tracing`"));
            }
            jit.without_traces("use `--policy tracing`")?;
        }
        let run = |compiler| self.run_with(compiler, colors, is_text, policy, &args, &jit);
        if self.emit.is_some() && policy == hueshift::Policy::Eager {
            return run(compiler);
        }
        guest_io::kept(guest_io::reads(&compiler.module), || run(compiler))
    }

    fn run_with(
        &self,
        mut compiler: Compiler,
        colors: Option<Colors>,
        is_text: bool,
        policy: hueshift::Policy,
        args: &str,
        jit: &Jit,
    ) -> Done {
        let files = compiler.module.files.clone();
        jit.without_background()?;
        if jit.disturb(&compiler, args, &files, is_text)? {
            return Ok(());
        }
        let keep_text = matches!(self.emit, Some(Emit::Clif | Emit::Asm));
        let options = JitOptions { keep_text, check_accesses: is_text, ..self.policy.settings(jit.options.clone()) };
        if let (Some(emit), hueshift::Policy::Eager) = (self.emit, policy) {
            let spinner = Spinner::start("specializing");
            let made = hueshift::specialize(&mut compiler, args, &options);
            let made = made.map_err(|e| spec_failure(e, &files, is_text))?;
            drop(spinner);
            log::write(self.log.log.as_deref(), &made)?;
            return print(&emit.text(&made));
        }
        let spinner = Spinner::start("specializing and running");
        let report =
            hueshift::spec(&mut compiler, args, policy, &options).map_err(|e| spec_failure(e, &files, is_text))?;
        drop(spinner);
        jit.check_step(&report)?;
        log::write(self.log.log.as_deref(), &report)?;
        let colors = colors.filter(|_| self.colors).map(|c| c.named());
        self.print(report, colors, &files, guest_io::writes(&compiler.module))
    }

    fn compiler(&self) -> Result<Made, Failure> {
        let Some(name) = &self.compiler_graph else {
            let source = Source::load(self.source.as_deref().unwrap_or("-"), self.entry.entry.as_deref())?;
            let entry = source.entry(self.entry.entry.as_deref())?;
            let greens = match self.entry.green() {
                None if source.interpreter.is_none() => Default::default(),
                asked => source.greens(&entry, asked)?,
            };
            let colors = source.colors(&entry, &greens)?;
            let compiler = source.compiler(&colors, &entry)?;
            return Ok(Made { compiler, colors: Some(colors), is_text: source.is_text });
        };
        let text = source::read(name)?;
        let module = source::parse_module(if name == "-" { "<stdin>" } else { name }, &text, Stage::Compiler)?;
        let entry = self.entry.entry.clone().or_else(|| module.entry.clone());
        let Some(entry) = entry else {
            return Err(Problem::new("which function?").help("name it: `--entry f`").into());
        };
        let compiler = Compiler::of_module(module, &entry).map_err(|e| compile_failure(&e, &[]))?;
        Ok(Made { compiler, colors: None, is_text: true })
    }

    fn print(
        &self,
        report: Report,
        colors: Option<BTreeMap<String, String>>,
        files: &[SourceFile],
        writes: bool,
    ) -> Done {
        let (result, trap) = match report.ran.ending.clone() {
            Ending::Returned(text) => (Some(text), None),
            Ending::Trapped(report) => (None, Some(report)),
        };
        if self.json {
            print(&format!("{}\n", output::json(&json(&report, result, trap.as_ref(), colors, writes))))?;
            return if trap.is_some() { Err(Failure::Guest(None)) } else { Ok(()) };
        }
        if let Some(emit) = self.emit {
            print(&emit.text(&report.into()))?;
        } else {
            guest_io::print(&report.ran.output)?;
            print(&result_text(result.as_deref(), &report.ran.after))?;
        }
        trap.map_or(Ok(()), |report| Err(trapped(&report, files)))
    }
}

/// What `--json` prints.
fn json(
    report: &Report,
    result: Option<String>,
    trap: Option<&TrapReport>,
    colors: Option<BTreeMap<String, String>>,
    writes: bool,
) -> serde_json::Value {
    let after: serde_json::Map<_, _> = report.ran.after.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
    let Counts { ops, calls, switches, blocks } = &report.counts;
    let mut json = serde_json::json!({
        "result": result,
        "after": after,
        "ops": ops,
        "calls": calls,
        "switches": switches,
        "blocks": blocks,
        "trap": trap.map(|t| &t.message),
    });
    let fields = [
        ("output", writes.then(|| String::from_utf8_lossy(&report.ran.output).into())),
        ("colors", colors.map(|c| serde_json::json!(c))),
    ];
    if let serde_json::Value::Object(all) = &mut json {
        all.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    json
}

/// The result and memory afterwards, for people: `42`, then a line `p.y = 1` for each place.
pub fn result_text(result: Option<&str>, after: &IndexMap<String, String>) -> String {
    let result = result.map(|r| format!("{r}\n")).unwrap_or_default();
    let after: String = after.iter().map(|(place, value)| format!("{place} = {value}\n")).collect();
    result + &after
}

/// The failure of a guest program that trapped.
pub fn trapped(report: &TrapReport, files: &[SourceFile]) -> Failure {
    Failure::Guest(Some(Box::new(Problem::trap(&report.message).at(files, &[(report.loc, None)]))))
}
