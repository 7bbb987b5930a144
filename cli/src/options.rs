//! Options that subcommands share.

use crate::output::print;
use crate::problem::{Failure, Problem, run_failure, spec_failure};
use clap::{Args, ValueEnum};
use flowgraph::ir::SourceFile;
use flowgraph::near::{in_brackets, near_names};
use hueshift::events::Reason;
use hueshift::{Compiler, JitOptions, Report, Sweep};
use std::path::PathBuf;
use std::time::Duration;

/// Which function, and which of its parameters are known when compiling.
#[derive(Debug, Args)]
pub struct EntryOptions {
    /// The function to begin with (an interpreter has one; so has a file with one public function).
    #[arg(long, value_name = "F")]
    pub entry: Option<String>,
    /// The parameters known when compiling, counted from 0, separated by commas.
    #[arg(long, value_name = "N,…", value_parser = parse_green, allow_hyphen_values = true)]
    pub green: Option<Green>,
}

/// Where the log goes.
#[derive(Debug, Args)]
pub struct LogOption {
    /// Write to a file what was compiled, which limits were met and where, and how often guards were executed where
    /// they are counted. In the mode `jit` of `run` these are lines of JSON.
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
        part.parse().map_err(|_| match part.split_once('=') {
            Some((name, value)) => format!(
                "`{part}` is not the number of a parameter: --green only says which parameters are known, counted from 0, as in \
                 `--green 0,2`; what they are (here {value} for {name}) stands in --args, with the other arguments"
            ),
            None => format!(
                "`{part}` is not the number of a parameter; parameters are counted from 0: write for example `--green 0,2`"
            ),
        })
    };
    if text.trim().is_empty() {
        return Ok(Green::default());
    }
    let greens: Vec<usize> = text.split(',').map(number).collect::<Result<_, _>>()?;
    match greens.iter().enumerate().find(|(at, green)| greens[..*at].contains(green)) {
        Some((_, twice)) => Err(format!("parameter {twice} is given twice")),
        None => Ok(Green(greens)),
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

/// One of the settings of `--jit`.
struct Setting {
    key: &'static str,
    /// What it takes, for the help.
    takes: &'static str,
    /// One line that says what it means.
    doc: &'static str,
    /// Its usual value, for the help.
    usual: fn(&JitOptions) -> String,
    /// Sets it.
    set: Set,
}

/// How a setting is set.
enum Set {
    /// To a number, from this one on.
    Number(u64, fn(&mut JitOptions, u64)),
    /// To a number of 64 bits.
    Seed(fn(&mut JitOptions, u64)),
    /// To `1/N`, or `no` for 0.
    Share(fn(&mut JitOptions, u64)),
    /// To yes or no.
    Flag(fn(&mut JitOptions, bool)),
    /// To a number, or all runs are made that there can be.
    Sweep(fn(&mut Jit, Option<u64>)),
}

/// The settings.
const SETTINGS: &[Setting] = &[
    Setting {
        key: "threshold",
        takes: "N",
        doc: "how often the guest comes to a place by jumping back before it is traced from there; the run of a file is also traced from its beginning",
        usual: |o| o.threshold.to_string(),
        set: Set::Number(0, |o, n| o.threshold = fitting(n)),
    },
    Setting {
        key: "bridge",
        takes: "N",
        doc: "how often an exit is taken before it gets compiled code of its own",
        usual: |o| o.bridge.to_string(),
        set: Set::Number(0, |o, n| o.bridge = fitting(n)),
    },
    Setting {
        key: "cases",
        takes: "N",
        doc: "how many values a promotion has compiled code for at once; others are interpreted until they have come often",
        usual: |o| o.cases.to_string(),
        set: Set::Number(0, |o, n| o.cases = size(n)),
    },
    Setting {
        key: "region",
        takes: "N",
        doc: "how often bridges lead around a loop, or promoted values to their code ahead of time, for each 64 ops, before it is compiled again, with joins; 0: never",
        usual: |o| o.region.to_string(),
        set: Set::Number(0, |o, n| o.region = fitting(n)),
    },
    Setting {
        key: "forward",
        takes: "N",
        doc: "after how many steps of the interpreter behind exits, in all, its own machine code goes on where there is none to enter; 0: never (not for embedded and bundled interpreters, which have some)",
        usual: |o| o.forward.to_string(),
        set: Set::Number(0, |o, n| o.forward = n),
    },
    Setting {
        key: "code-bytes",
        takes: "N",
        doc: "how many bytes of machine code there may be; the coldest code is thrown away, of a file all of it",
        usual: |o| o.code_bytes.to_string(),
        set: Set::Number(1, |o, n| o.code_bytes = size(n)),
    },
    Setting {
        key: "slot-bytes",
        takes: "N",
        doc: "how many bytes local arrays and structs of compiled code may take at a time; where there are more, runs stay in the interpreter",
        usual: |o| o.slot_bytes.to_string(),
        set: Set::Number(LEAST_SLOT_BYTES, |o, n| o.slot_bytes = n),
    },
    Setting {
        key: "versions",
        takes: "N",
        doc: "how many versions of a loop keep all that is known; the next one keeps no constants, ahead of time only after four times as many",
        usual: |o| o.limits.versions.to_string(),
        set: Set::Number(1, |o, n| o.limits.versions = size(n)),
    },
    Setting {
        key: "join-tuples",
        takes: "N",
        doc: "how many combinations of greens are compiled where paths meet; the rest goes on with everything red",
        usual: |o| o.limits.join_tuples.to_string(),
        set: Set::Number(1, |o, n| o.limits.join_tuples = size(n)),
    },
    Setting {
        key: "trace-steps",
        takes: "N",
        doc: "after how many steps a trace is stopped",
        usual: |o| o.limits.trace_steps.to_string(),
        set: Set::Number(1, |o, n| o.limits.trace_steps = n),
    },
    Setting {
        key: "inline-depth",
        takes: "N",
        doc: "how many calls are copied into each other; further ones are called, and refused where their results must be green",
        usual: |o| o.limits.inline_depth.to_string(),
        set: Set::Number(1, |o, n| o.limits.inline_depth = size(n)),
    },
    Setting {
        key: "residual-ops",
        takes: "N",
        doc: "after how many ops of one residual graph the rest goes on with everything red; not in a trace, which has trace-steps",
        usual: |o| o.limits.residual_ops.to_string(),
        set: Set::Number(1, |o, n| o.limits.residual_ops = size(n)),
    },
    Setting {
        key: "unrolled-ops",
        takes: "N",
        doc: "after how many ops of one residual graph the green loop that makes them is refused, or the trace stopped",
        usual: |o| o.limits.unrolled_ops.to_string(),
        set: Set::Number(1, |o, n| o.limits.unrolled_ops = size(n)),
    },
    Setting {
        key: "green-steps",
        takes: "N",
        doc: "after how many steps that leave nothing to run a green loop is refused, or the trace stopped",
        usual: |o| o.limits.green_steps.to_string(),
        set: Set::Number(1, |o, n| o.limits.green_steps = n),
    },
    Setting {
        key: "region-ops",
        takes: "N",
        doc: "after how many ops of a loop that is compiled again its paths end at their next merge points",
        usual: |o| o.limits.region_ops.to_string(),
        set: Set::Number(1, |o, n| o.limits.region_ops = size(n)),
    },
    Setting {
        key: "loop-keys",
        takes: "N",
        doc: "after how many different greens at its head a loop is refused",
        usual: |o| o.limits.loop_keys.to_string(),
        set: Set::Number(1, |o, n| o.limits.loop_keys = size(n)),
    },
    Setting {
        key: "loop-values",
        takes: "N",
        doc: "after how many values and places known at its head, under all greens together, a loop is refused",
        usual: |o| o.limits.loop_values.to_string(),
        set: Set::Number(1, |o, n| o.limits.loop_values = size(n)),
    },
    Setting {
        key: "functions",
        takes: "N",
        doc: "after how many functions specialized for their greens a recursion is refused",
        usual: |o| o.limits.functions.to_string(),
        set: Set::Number(1, |o, n| o.limits.functions = size(n)),
    },
    Setting {
        key: "background",
        takes: "yes|no",
        doc: "whether machine code is generated on a second thread, while tier 0 goes on",
        usual: |o| if o.background { "yes".to_owned() } else { "no".to_owned() },
        set: Set::Flag(|o, yes| o.background = yes),
    },
    Setting {
        key: "warm-up",
        takes: "MS",
        doc: "for so many milliseconds, from when something is hot, a run stays in tier 0 while it would mostly go to compiled code and back; 0: never, and nothing limits the time of making code later",
        usual: |o| o.warm_up.as_millis().to_string(),
        set: Set::Number(0, |o, n| o.warm_up = Duration::from_millis(n)),
    },
    Setting {
        key: "perf-map",
        takes: "yes|no",
        doc: "whether to write a map of compiled code for the profiler `perf`, /tmp/perf-PID.map",
        usual: |o| if o.perf_map { "yes".to_owned() } else { "no".to_owned() },
        set: Set::Flag(|o, yes| o.perf_map = yes),
    },
    Setting {
        key: "jitdump",
        takes: "yes|no",
        doc: "whether to write a dump of compiled code for `perf inject --jit`, /tmp/jit-PID.dump",
        usual: |o| if o.jitdump { "yes".to_owned() } else { "no".to_owned() },
        set: Set::Flag(|o, yes| o.jitdump = yes),
    },
    Setting {
        key: "reenter",
        takes: "yes|no",
        doc: "for tests: whether the interpreter goes on in compiled code behind an exit",
        usual: |o| if o.reenter { "yes".to_owned() } else { "no".to_owned() },
        set: Set::Flag(|o, yes| o.reenter = yes),
    },
    Setting {
        key: "count-guards",
        takes: "yes|no",
        doc: "for tests: count how often each guard is executed",
        usual: |o| if o.count_guards { "yes".to_owned() } else { "no".to_owned() },
        set: Set::Flag(|o, yes| o.count_guards = yes),
    },
    Setting {
        key: "check-hints",
        takes: "1/N|no",
        doc: "look once in N times whether what the source says of results is true (record_known_result! and its like)",
        usual: |o| if o.check_hints == 0 { "no".to_owned() } else { format!("1/{}", o.check_hints) },
        set: Set::Share(|o, n| o.check_hints = n),
    },
    Setting {
        key: "chaos",
        takes: "SEED",
        doc: "for tests: make choices otherwise than heuristics do, and fail guards at random; 0: don't",
        usual: |o| o.chaos.to_string(),
        set: Set::Seed(|o, n| o.chaos = n),
    },
    Setting {
        key: "abort-at",
        takes: "N|all",
        doc: "for tests: stop the first trace at this step; all: at each, run by run, and print how many went wrong",
        usual: |_| "never".to_owned(),
        set: Set::Sweep(|jit, step| match step {
            Some(step) => jit.options.abort_at = Some(step),
            None => jit.sweep = Some(Disturb::Aborts),
        }),
    },
    Setting {
        key: "force-guard",
        takes: "K|all",
        doc: "for tests: make this guard fail at its first, second and hundredth execution; all: each, run by run, and print how many went wrong",
        usual: |_| "none".to_owned(),
        set: Set::Sweep(|jit, guard| jit.sweep = Some(Disturb::Guards(guard.map(fitting)))),
    },
];

/// With less, no run might find room for its local arrays and structs.
const LEAST_SLOT_BYTES: u64 = 1 << 22;

/// A number that has been read as one of 32 bits.
fn fitting(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The help of `--jit`, in a line.
pub const JIT_HELP: &str =
    "Settings of the JIT, separated by commas, such as threshold=50,bridge=5 (`--help` lists them)";

/// The help of `--jit`, with a line for each setting.
pub fn jit_help() -> String {
    let (usual, hot) = (JitOptions::default(), JitOptions::just_in_time());
    let mut help =
        "Settings of the JIT, separated by commas; in brackets what they are else. Where there are two, the first \
        is for `--mode jit`\nof an interpreter with its program, the other where its graphs take its place; `region` is the first in all of `run`.\n"
            .to_owned();
    for Setting { key, takes, doc, usual: value, set } in SETTINGS {
        let (hot, usual) = (value(&hot), value(&usual));
        let usual = if hot == usual { usual } else { format!("{hot}, or {usual}") };
        let least = match set {
            Set::Number(least @ 1.., _) => format!("; {least} at least"),
            _ => String::new(),
        };
        help.push_str(&format!("\n{key}={takes}: {doc} [{usual}{least}]"));
    }
    help
}

/// The settings with which a run is watched or disturbed: the interpreter's graphs take the place of the interpreter
/// then.
pub const FOR_TESTS: &[&str] = &["reenter", "abort-at", "force-guard", "count-guards"];

/// Why a text is no number up to `most`.
fn no_number(key: &str, value: &str, most: u64) -> String {
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return format!("{key} is at most {most}, not `{value}`");
    }
    let all = SETTINGS.iter().any(|setting| setting.key == key && setting.takes.ends_with("|all"));
    format!("{key} is a number{}, not `{value}`", if all { " or `all`" } else { "" })
}

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
        let Some(Setting { set, .. }) = SETTINGS.iter().find(|setting| setting.key == key) else {
            let keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
            let meant = in_brackets(&near_names(key, keys.iter().copied()));
            return Err(format!("there is no setting `{key}`{meant}; there are {}", keys.join(", ")));
        };
        let number = || value.parse::<u32>().map(u64::from).map_err(|_| no_number(key, value, u32::MAX.into()));
        match set {
            Set::Number(least, set) => {
                let n = number()?;
                if n < *least {
                    return Err(format!("{key} is a number from {least} on, not `{value}`"));
                }
                set(&mut jit.options, n);
            }
            Set::Seed(set) => {
                let seed = value.parse().map_err(|_| no_number(key, value, u64::MAX))?;
                set(&mut jit.options, seed);
            }
            Set::Share(set) => {
                let every = value.strip_prefix("1/").and_then(|every| every.parse::<u32>().ok()).filter(|n| *n > 0);
                match (value, every) {
                    ("no", _) => set(&mut jit.options, 0),
                    (_, Some(every)) => set(&mut jit.options, every.into()),
                    _ => return Err(format!("{key} is no, or a share as 1/1000, not `{value}`")),
                }
            }
            Set::Flag(set) => match value {
                "yes" => set(&mut jit.options, true),
                "no" => set(&mut jit.options, false),
                _ => return Err(wanted_yes(key, value)),
            },
            Set::Sweep(set) => {
                let before = jit.sweep.take();
                set(&mut jit, if value == "all" { None } else { Some(number()?) });
                if before.is_some() && jit.sweep.is_some() {
                    return Err("abort-at=all and force-guard=… each are many runs; give one of them".to_owned());
                }
                jit.sweep = jit.sweep.or(before);
            }
        }
    }
    if jit.sweep.is_some() && jit.options.abort_at.is_some() {
        return Err("abort-at=N is one run, and force-guard=… are many; give one of them".to_owned());
    }
    if jit.given.is_empty() {
        return Err("no setting is given; settings are of the form key=value, separated by commas".to_owned());
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
            background: if given("background") { self.options.background } else { usual.background },
            warm_up: if given("warm-up") { self.options.warm_up } else { usual.warm_up },
            ..self.options.clone()
        }
    }

    /// Refuses what is only for runs that begin in tier 0: machine code made in the background, and a time to warm up.
    pub fn without_background(&self) -> Result<(), Failure> {
        let setting = if self.options.background {
            "--jit background=yes"
        } else if !self.options.warm_up.is_zero() {
            "--jit warm-up"
        } else {
            return Ok(());
        };
        Err(ignored(
            setting,
            "this run waits for its code, as there is nothing to go on with meanwhile",
            "leave it out, or run an interpreter with its program in `--mode jit`",
        ))
    }

    /// The settings of a run without tier 0: what is hot is compiled again, as where tier 0 is rustc's.
    pub fn without_tier0(&self) -> JitOptions {
        let mut options = self.options.clone();
        if self.given(&["region"]).is_none() {
            options.region = JitOptions::just_in_time().region;
        }
        options
    }

    /// Whether one of these settings was given: the first such.
    pub fn given(&self, keys: &[&str]) -> Option<&str> {
        self.given.iter().map(String::as_str).find(|key| keys.contains(key))
    }

    /// Refuses what only traces have, where nothing is traced. Runs that are disturbed are traced.
    pub fn without_traces(&self, instead: &str) -> Result<(), Failure> {
        let setting = self.given(&["threshold", "trace-steps", "abort-at"]).filter(|_| self.sweep.is_none());
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
        let stopped = report.events.iter().any(|e| e.reason == Reason::AbortAt);
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
    /// As tracing, but each loop that bridges lead around is compiled again, with the sides that have been seen to run.
    Region,
}

impl Policy {
    /// The driver's policy.
    pub fn driver(self) -> hueshift::Policy {
        match self {
            Policy::Eager => hueshift::Policy::Eager,
            Policy::Tracing | Policy::Region => hueshift::Policy::Tracing,
        }
    }

    /// Settings under this policy: regions are made at once, unless it is said when.
    pub fn settings(self, options: JitOptions) -> JitOptions {
        let region = if self == Policy::Region { options.region.max(1) } else { options.region };
        JitOptions { region, ..options }
    }
}
