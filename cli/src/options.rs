//! Options that subcommands share.

use crate::output::print;
use crate::problem::{Failure, Problem, run_failure, spec_failure};
use clap::{Args, ValueEnum};
use flowgraph::ir::SourceFile;
use hueshift::{Compiler, JitOptions, Report, Sweep};
use std::path::PathBuf;
use timeshifter::specialize::Event;

/// Which function, and which of its parameters are known when compiling.
#[derive(Debug, Args)]
pub struct EntryOptions {
    /// The function to begin with (an interpreter has one; so has a file with one public function).
    #[arg(long, value_name = "F")]
    pub entry: Option<String>,
    /// The parameters known when compiling, counted from 0, separated by commas.
    #[arg(long, value_name = "N,…", value_parser = parse_green)]
    pub green: Option<Green>,
}

/// Where the log goes.
#[derive(Debug, Args)]
pub struct LogOption {
    /// Write to a file what was compiled, which limits were met and where, and how often guards were executed where they
    /// are counted.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// The numbers of parameters.
#[derive(Clone, Debug, Default)]
pub struct Green(pub Vec<usize>);

impl EntryOptions {
    /// The parameters asked for.
    pub fn green(&self) -> Option<&[usize]> {
        self.green.as_ref().map(|g| g.0.as_slice())
    }
}

fn parse_green(text: &str) -> Result<Green, String> {
    let number = |part: &str| {
        let part = part.trim();
        part.parse().map_err(|_| format!("`{part}` is not the number of a parameter; write for example 0,2"))
    };
    if text.trim().is_empty() {
        Ok(Green::default())
    } else {
        text.split(',').map(number).collect::<Result<_, _>>().map(Green)
    }
}

/// Settings of the JIT, and runs that are disturbed on purpose.
#[derive(Clone, Debug, Default)]
pub struct Jit {
    /// The driver's settings.
    pub options: JitOptions,
    /// What to disturb instead of a plain run.
    pub sweep: Option<Disturb>,
    /// The settings that were given, by name.
    given: Vec<String>,
}

/// What to disturb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturb {
    /// Stop tracing at every step.
    Aborts,
    /// Make guards fail: all, or this one.
    Guards(Option<u32>),
}

/// The help of `--jit`.
pub const JIT_HELP: &str = "Settings of the JIT, separated by commas: threshold=N (backward jumps \
    before a loop is traced), bridge=N (exits before a bridge is compiled), \
    cases=N (cases of a promotion), reenter=yes|no; for tests abort-at=N|all (stop tracing at that step), \
    force-guard=K|all (make guards fail), count-guards=yes|no";

/// The settings with which a run is watched or disturbed: the interpreter's graphs take the place of the interpreter then.
pub const FOR_TESTS: &[&str] = &["reenter", "abort-at", "force-guard", "count-guards"];

/// Parses `k=v,…`.
pub fn parse_jit(text: &str) -> Result<Jit, String> {
    let mut jit = Jit::default();
    for setting in text.split(',').map(str::trim).filter(|s| !s.is_empty()) {
        let (key, value) =
            setting.split_once('=').ok_or_else(|| format!("`{setting}` is not of the form key=value"))?;
        if jit.given.iter().any(|k| k == key) {
            return Err(format!("{key} is given twice"));
        }
        jit.given.push(key.to_owned());
        let wrong = |wanted: &str| format!("{key} is {wanted}, not `{value}`");
        let yes = || match value {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(wanted_yes(key, value)),
        };
        let number = || value.parse::<u32>().map_err(|_| wrong("a number"));
        match (key, value) {
            ("threshold", _) => jit.options.threshold = number()?,
            ("bridge", _) => jit.options.bridge = number()?,
            ("cases", _) => jit.options.cases = number()? as usize,
            ("region", _) => jit.options.region = number()?,
            ("reenter", _) => jit.options.reenter = yes()?,
            ("count-guards", _) => jit.options.count_guards = yes()?,
            ("abort-at", "all") => jit.sweep = Some(Disturb::Aborts),
            ("abort-at", _) => jit.options.abort_at = Some(number()?.into()),
            ("force-guard", "all") => jit.sweep = Some(Disturb::Guards(None)),
            ("force-guard", _) => jit.sweep = Some(Disturb::Guards(Some(number()?))),
            _ => {
                let keys = "threshold, bridge, cases, region, reenter, abort-at, force-guard, count-guards";
                return Err(format!("there is no setting `{key}`; there are {keys}"));
            }
        }
    }
    Ok(jit)
}

fn wanted_yes(key: &str, value: &str) -> String {
    format!("{key} is yes or no, not `{value}`")
}

impl Jit {
    /// The settings where tier 0 is the interpreter as rustc has compiled it: the usual ones, but for those given.
    pub fn just_in_time(&self) -> JitOptions {
        let (usual, given) = (JitOptions::just_in_time(), |key| self.given(&[key]).is_some());
        JitOptions {
            threshold: if given("threshold") { self.options.threshold } else { usual.threshold },
            bridge: if given("bridge") { self.options.bridge } else { usual.bridge },
            region: if given("region") { self.options.region } else { usual.region },
            ..self.options.clone()
        }
    }

    /// Whether one of these settings was given: the first such.
    pub fn given(&self, keys: &[&str]) -> Option<&str> {
        self.given.iter().map(String::as_str).find(|key| keys.contains(key))
    }

    /// Refuses what only traces have, where nothing is traced. Runs that are disturbed are traced.
    pub fn without_traces(&self, instead: &str) -> Result<(), Failure> {
        let setting = self.given(&["threshold", "abort-at"]).filter(|_| self.sweep.is_none());
        setting.map_or(Ok(()), |key| Err(ignored(&format!("--jit {key}=…"), "nothing is traced", instead)))
    }

    /// Refuses options that tell about one run where there are many, disturbed ones.
    pub fn alone(&self, others: &[(&str, bool)]) -> Result<(), Failure> {
        let with = others.iter().find(|(_, given)| *given && self.sweep.is_some());
        with.map_or(Ok(()), |(option, _)| {
            Err(ignored(option, "--jit disturbs many runs and tells what came of them", "leave out one or the other"))
        })
    }

    /// Says so if tracing was to be stopped at a step that there is none.
    pub fn check_step(&self, report: &Report) -> Result<(), Failure> {
        let stopped = report.events.iter().any(|e| matches!(e, Event::TraceAborted { .. }));
        match self.options.abort_at {
            Some(step) if !stopped => {
                let message = format!("no trace has a step {step}: the longest has {}", report.stats.longest_trace);
                Err(Problem::new(message).help("--jit abort-at=N counts the steps of a trace from 1").into())
            }
            _ => Ok(()),
        }
    }

    /// Runs the disturbed runs that are asked for, if any: prints what came of them.
    pub fn disturb(
        &self,
        compiler: &Compiler,
        args: &str,
        files: &[SourceFile],
        is_text: bool,
    ) -> Result<bool, Failure> {
        let Some(disturb) = self.sweep else { return Ok(false) };
        let options = JitOptions { check_accesses: is_text, ..self.options.clone() };
        let done = match disturb {
            Disturb::Aborts => hueshift::abort_everywhere(compiler, args, &options),
            Disturb::Guards(only) => hueshift::force_every_guard(compiler, args, &options, only),
        };
        let sweep = done.map_err(|e| spec_failure(e, files, is_text))?;
        let mut out = String::new();
        if matches!(disturb, Disturb::Guards(_)) {
            for ((k, guards), forced) in Sweep::EXECUTIONS.iter().zip(sweep.guards).zip(sweep.forced) {
                out.push_str(&format!("guards({k}): {guards}, forced({k}): {forced}\n"));
            }
            let unreached: Vec<String> = sweep.unreached.iter().map(i64::to_string).collect();
            let listed = if unreached.is_empty() { "none".to_owned() } else { unreached.join(" ") };
            out.push_str(&format!("guards never reached: {listed}\n"));
            let (reached, made_up, forced) = (sweep.guards[0], sweep.made_up, sweep.forced[0] + sweep.made_up);
            let all = reached + sweep.unreached.len();
            let sign = if sweep.is_complete() { "=" } else { "!=" };
            out.push_str(&format!("guards({all}, reached {reached}, made up {made_up}) {sign} forced({forced})\n"));
        }
        out.push_str(&format!("{} runs, {} wrong\n", sweep.runs, sweep.wrong.len()));
        print(&out)?;
        if sweep.wrong.is_empty() { Ok(true) } else { Err(run_failure(sweep.wrong.join("\n"), is_text)) }
    }
}

/// The refusal of an option that would do nothing.
pub fn ignored(option: &str, why: &str, instead: &str) -> Failure {
    Problem::new(format!("{option} does nothing here: {why}")).help(instead).into()
}

/// What decides at red branches and promotions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// Both sides of a branch.
    #[default]
    Eager,
    /// The side that this run takes; the other is an exit.
    Tracing,
    /// The sides that have been seen to run (not there yet).
    Region,
}

impl Policy {
    /// The driver's policy.
    pub fn driver(self) -> Result<hueshift::Policy, Failure> {
        match self {
            Policy::Eager => Ok(hueshift::Policy::Eager),
            Policy::Tracing => Ok(hueshift::Policy::Tracing),
            Policy::Region => {
                Err(Problem::new("the policy `region` is not there yet").help("use `eager` or `tracing`").into())
            }
        }
    }
}
