//! `hueshift rules`: the rules by which the optimizer replaces ops, looked at, proven, written in one shape, counted,
//! and found.

use crate::Done;
use crate::output::{json, print, print_aside, write};
use crate::parallel::in_order;
use crate::problem::{Failure, Problem};
use crate::progress::Progress;
use crate::source;
use ::rules::mine::{Cheaper, Finder, Sequence};
use ::rules::prove::{Solver, Verdict, prove, refute};
use ::rules::{Ends, Interpreted, Joined, Ledger, Pair, Pairs, Rule, ends, goes_on};
use clap::{Args, Subcommand};
use flowgraph::ir::Stage;
use miette::Diagnostic;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;
use timeshifter::optimize::{Rewrites, optimize, with_bounds};

/// Prove, format, count or find the rules by which ops are replaced.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Rules {
    #[command(subcommand)]
    what: What,
}

const EXAMPLE: &str = "Example:
  hueshift rules check timeshifter/rules/integer.rules --strict
The language is described in docs/rules.md.";

#[derive(Debug, Subcommand)]
enum What {
    Check(Check),
    Fmt(Fmt),
    Stats(Stats),
    Mine(Mine),
}

/// Prove the rules of a file with Z3, or refute them with values; say whether rewriting ends, and whether the order of
/// rules matters.
#[derive(Debug, Args)]
#[command(after_help = CHECK)]
struct Check {
    /// The file (`-`: standard input); without one, the optimizer's own rules.
    file: Option<String>,
    /// Fail also where rewriting may not end, or the order of rules matters.
    #[arg(long)]
    strict: bool,
    /// Say something of each rule and pair, also where all is well.
    #[arg(long)]
    verbose: bool,
    /// Write what has been proven to this file.
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// How many seconds Z3 has for one question.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    timeout: u64,
}

const CHECK: &str = "Example:
  hueshift rules check my.rules
Three verdicts a rule: whether both sides give the same wherever it applies (Z3, at 64 bits), whether something gets smaller, and whether it
comes to the same as each other rule that could be used instead. The last line counts the first of these. Z3 is looked for when this runs
(libz3.so.4); hueshift can be built with it, too: `--features verify-z3`. Exit code 2: a rule is refuted, can never apply, isn't proven, or isn't
well-formed; with --strict also where one of the other two verdicts is bad.";

/// Write rules in one shape; comments stay where they are.
#[derive(Debug, Args)]
#[command(after_help = FMT)]
struct Fmt {
    /// The file, which is rewritten (`-`: from standard input to standard output).
    file: String,
    /// Change nothing; fail if something would change.
    #[arg(long)]
    check: bool,
}

const FMT: &str = "Example:
  hueshift rules fmt my.rules";

/// Count how often each rule fires on residual graphs.
#[derive(Debug, Args)]
#[command(after_help = STATS)]
struct Stats {
    /// Files of residual graphs, as `hueshift graph --stage residual` prints them, or `hueshift spec --emit residual`.
    #[arg(required = true)]
    files: Vec<String>,
    /// Rules to use instead of the optimizer's own.
    #[arg(long, value_name = "FILE")]
    rules: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const STATS: &str = "Example:
  hueshift rules stats tests/optimizer/sums_of_constants.graph
Of what runs: hueshift run tl primes --mode jit --stats -- 1000";

/// Find rules: short sequences of ops in residual graphs for which there is something cheaper, with proof.
#[derive(Debug, Args)]
#[command(after_help = MINE)]
struct Mine {
    /// Files of residual graphs, as `hueshift graph --stage residual` prints them, or `hueshift spec --emit residual`.
    #[arg(required = true)]
    files: Vec<String>,
    /// How often a sequence must occur.
    #[arg(long, value_name = "N", default_value_t = 1)]
    least: usize,
}

const MINE: &str = "Example:
  hueshift rules mine tests/optimizer/sums_of_constants.graph
Candidates are written as rules, those first that would fire most often. Needs Z3.";

impl Rules {
    /// Runs the subcommand.
    pub fn run(&self) -> Done {
        match &self.what {
            What::Check(check) => check.run(),
            What::Fmt(fmt) => fmt.run(),
            What::Stats(stats) => stats.run(),
            What::Mine(mine) => mine.run(),
        }
    }
}

/// The rules of a file, or all that is wrong with it.
pub fn read(name: &str, text: &str) -> Result<Vec<Rule>, Failure> {
    ::rules::read(text).map_err(|problems| refused(name, text, problems))
}

/// Refuses what was done with rules of which one goes around in circles.
pub fn refuse_endless(rewrites: &Rewrites) -> Done {
    let Some(rule) = rewrites.endless() else { return Ok(()) };
    let problem = Problem::new(format!("the rule `{rule}` is used without end"));
    Err(problem.help("`hueshift rules check` says which rules may not end, and why").into())
}

/// More mistakes than these are counted only.
const TOLD: usize = 100;

fn refused(name: &str, text: &str, mut problems: Vec<::rules::Problem>) -> Failure {
    if problems.len() > TOLD {
        let more = problems.len() - TOLD;
        problems.truncate(TOLD);
        let message = format!("and {more} more");
        problems.push(::rules::Problem { message, help: "mend these first".to_owned(), ..problems[TOLD - 1].clone() });
    }
    let drawn = problems.into_iter().map(|problem| {
        let (from, to) = problem.span;
        let drawn =
            Problem::new(problem.message.clone()).within(name, text, from, (to - from).max(1)).help(problem.help);
        Box::new(drawn) as Box<dyn Diagnostic + Send + Sync>
    });
    Failure::Refused(drawn.collect())
}

fn shown_name(file: &str) -> &str {
    if file == "-" { "<stdin>" } else { file }
}

impl Check {
    fn run(&self) -> Done {
        let (name, text) = match &self.file {
            Some(file) => (shown_name(file), source::read(file)?),
            None => ("integer.rules", ::rules::INTEGER.to_owned()),
        };
        let all = read(name, &text)?;
        if all.is_empty() {
            let problem = Problem::new(format!("there is no rule in {name}"));
            return Err(problem.help("write one, as `add_zero: int_add(x, 0) => x`").into());
        }
        let solver = Solver::new(Duration::from_secs(self.timeout.max(1)));
        let mut bad = 0;
        // What is wrong is told when it is found: thousands of rules take their time.
        let verdicts = verdicts(&all, solver.as_ref().ok().map(|(solver, _)| solver), |rule, verdict| {
            let mut told = String::new();
            bad += usize::from(self.tell(&mut told, name, rule, verdict));
            if told.is_empty() { Ok(()) } else { print(&told) }
        })?;
        let mut told = String::new();
        let endless = self.tell_ends(&mut told, name, &all);
        let apart = self.tell_pairs(&mut told, name, &text, &all, solver.as_ref().ok().map(|(solver, _)| solver));
        let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
        let _ = writeln!(
            told,
            "never apply: {}, unknown: {}",
            count(|verdict| matches!(verdict, Verdict::NeverApplies(_))),
            count(|verdict| matches!(verdict, Verdict::Unknown(_)))
        );
        let _ = writeln!(
            told,
            "proven: {}, exhaustive: {}, sorry: {}, refuted: {}",
            count(|verdict| matches!(verdict, Verdict::Proven)),
            count(|verdict| matches!(verdict, Verdict::Exhaustive(_))),
            count(|verdict| matches!(verdict, Verdict::Sorry)),
            count(|verdict| matches!(verdict, Verdict::Refuted(_)))
        );
        print(&told)?;
        if let (Some(path), Ok((_, version))) = (&self.ledger, &solver) {
            write(Some(path), &Ledger::write(all.iter().zip(&verdicts), version))?;
        }
        if bad == 0 && (!self.strict || endless + apart == 0) {
            return Ok(());
        }
        let mut wrong = Vec::new();
        if bad > 0 {
            wrong.push(format!("{bad} of {} rules aren't proven", all.len()));
        }
        if self.strict && endless > 0 {
            wrong.push(format!("{endless} may go on forever"));
        }
        if self.strict && apart > 0 {
            wrong.push(format!("of {apart} pairs the order matters"));
        }
        let problem = Problem::new(format!("{name}: {}", wrong.join("; ")));
        Err(match &solver {
            Err(error) if bad > 0 => {
                problem.help(format!("{error}: install it (Debian: libz3-4), or build with --features verify-z3"))
            }
            _ => problem.help("what is wrong with each is said above, with its line"),
        }
        .into())
    }

    /// Says what is known of a rule. Gives whether it may not be used.
    fn tell(&self, told: &mut String, name: &str, rule: &Rule, verdict: &Verdict) -> bool {
        let place = format!("{name}:{}: {}", rule.line, rule.name);
        let arrow = rule.arrow();
        let _ = match verdict {
            Verdict::Proven if self.verbose => writeln!(told, "{place}: proven"),
            Verdict::Exhaustive(cases) if self.verbose => writeln!(told, "{place}: exhaustive, {cases} cases"),
            Verdict::Sorry => {
                writeln!(told, "{place}: sorry: it says that there is no proof; nothing was found that refutes it")
            }
            Verdict::Proven | Verdict::Exhaustive(_) => Ok(()),
            Verdict::Refuted(found) => writeln!(told, "{place}: refuted: {arrow}\n{}", found.describe(rule).trim_end()),
            Verdict::NeverApplies(condition) => {
                writeln!(told, "{place}: can never apply: nothing makes this true: {condition}")
            }
            Verdict::Unknown(why) => writeln!(told, "{place}: unknown: {why}"),
        };
        matches!(verdict, Verdict::Refuted(_) | Verdict::NeverApplies(_) | Verdict::Unknown(_))
    }

    /// Says whether rewriting ends. Gives of how many rules it isn't known.
    fn tell_ends(&self, told: &mut String, name: &str, all: &[Rule]) -> usize {
        let (mut smaller, mut believed, mut not) = (0, 0, 0);
        let interpreted = Interpreted::new(all.to_vec());
        for rule in all {
            let place = format!("{name}:{}: {}", rule.line, rule.name);
            match ends(rule) {
                Ends::Smaller => smaller += 1,
                Ends::Believed(_) if goes_on(rule, &interpreted) => {
                    not += 1;
                    let _ = writeln!(
                        told,
                        "{place}: doesn't end, whatever its comment says: what it makes is rewritten on and on"
                    );
                }
                Ends::Believed(reason) => {
                    believed += 1;
                    if self.verbose {
                        let _ = writeln!(told, "{place}: ends, it says: {reason}");
                    }
                }
                Ends::Not(why) => {
                    not += 1;
                    let _ = writeln!(
                        told,
                        "{place}: may not end: {why}; `# terminates: reason` in the rule asks to be believed"
                    );
                }
            }
        }
        let _ = writeln!(
            told,
            "termination: {smaller} make something smaller, {believed} say why they end, {not} may not end"
        );
        not
    }

    /// Says whether the order of rules matters. Gives for how many pairs it does.
    fn tell_pairs(&self, told: &mut String, name: &str, text: &str, all: &[Rule], solver: Option<&Solver>) -> usize {
        let inside_out = ::rules::inside_out(text);
        let (mut joined, mut never, mut undecided, mut believed, mut inside, mut apart) = (0, 0, 0, 0, 0, 0);
        for pair in all_pairs(all, solver) {
            let (one, other) = (&all[pair.rules.0], &all[pair.rules.1]);
            let place = format!("{name}:{}: {} and {}", one.line, one.name, other.name);
            match pair.verdict {
                Joined::Joined => joined += 1,
                Joined::NeverMeet => never += 1,
                Joined::Undecided => {
                    undecided += 1;
                    if self.verbose {
                        let _ = writeln!(told, "{place}: undecided: no values were found to which both apply");
                    }
                }
                Joined::Believed(reason) => {
                    believed += 1;
                    if self.verbose {
                        let _ = writeln!(told, "{place}: confluent, it says: {reason}");
                    }
                }
                Joined::ApartInside(witness) if inside_out.is_some() => {
                    inside += 1;
                    if self.verbose {
                        let _ = writeln!(told, "{place}: not met inside out: {witness}");
                    }
                }
                Joined::Apart(witness) | Joined::ApartInside(witness) => {
                    apart += 1;
                    let _ = writeln!(told, "{place}: not confluent: {witness}");
                }
            }
        }
        let _ = writeln!(
            told,
            "confluence: {joined} pairs joined, {never} never meet, {undecided} undecided, {believed} say why they are fine, \
             {inside} not met inside out, {apart} apart"
        );
        apart
    }
}

/// What is known of each rule: by Z3, or else by values and, of the optimizer's own, the ledger.
fn verdicts(
    all: &[Rule],
    solver: Option<&Solver>,
    mut tell: impl FnMut(&Rule, &Verdict) -> Done,
) -> Result<Vec<Verdict>, Failure> {
    let progress = Progress::start(all.len());
    let ledger = Ledger::parse(::rules::PROOFS);
    let verdict = |at: usize| {
        let rule = &all[at];
        progress.next(&rule.name);
        match solver {
            Some(solver) => prove(rule, solver),
            None => refute(rule).unwrap_or_else(|| match ledger.how(rule) {
                Some(_) if rule.sorry => Verdict::Sorry,
                Some(how) => match how.split(['(', ')']).nth(1).and_then(|cases| cases.parse().ok()) {
                    Some(cases) => Verdict::Exhaustive(cases),
                    None => Verdict::Proven,
                },
                None if rule.sorry => Verdict::Sorry,
                None => Verdict::Unknown(
                    "there is no Z3 to prove it with, and values that refute it weren't found".to_owned(),
                ),
            }),
        }
    };
    let mut found = Vec::new();
    in_order(all.len(), verdict, |at, verdict| {
        progress.aside(|| tell(&all[at], &verdict))?;
        found.push(verdict);
        Ok::<(), Failure>(())
    })?;
    Ok(found)
}

/// What is known of all pairs of rules.
fn all_pairs(all: &[Rule], solver: Option<&Solver>) -> Vec<Pair> {
    let progress = Progress::start(all.len());
    let interpreted = Interpreted::new(all.to_vec());
    let pairs = Pairs::new(&interpreted);
    let of = |at: usize| {
        progress.next(&all[at].name);
        pairs.of(at, solver)
    };
    let mut found = Vec::new();
    let Ok(()) = in_order(all.len(), of, |_, pairs| {
        found.extend(pairs);
        Ok::<(), Infallible>(())
    });
    found
}

impl Fmt {
    fn run(&self) -> Done {
        let text = source::read(&self.file)?;
        let name = shown_name(&self.file);
        let file = ::rules::syntax::parse(&text).map_err(|problems| refused(name, &text, problems))?;
        let printed = ::rules::syntax::print(&file);
        match self.check {
            true if printed == text => Ok(()),
            true => {
                Err(Problem::new(format!("{name} isn't in its shape")).help("`hueshift rules fmt` writes it so").into())
            }
            false if self.file == "-" => print(&printed),
            false if printed == text => Ok(()),
            false => write(Some(&PathBuf::from(&self.file)), &printed),
        }
    }
}

impl Stats {
    fn run(&self) -> Done {
        let mut rewrites = Rewrites::new(None, false);
        if let Some(file) = &self.rules {
            rewrites = rewrites.with_rules(Interpreted::new(read(shown_name(file), &source::read(file)?)?));
        }
        for file in &self.files {
            let mut module = source::parse_module(shown_name(file), &source::read(file)?, Stage::Residual)?;
            for at in 0..module.graphs.len() {
                let graph = &mut module.graphs[at];
                if !graph.is_host() {
                    optimize(graph, &[], &mut rewrites);
                }
            }
        }
        refuse_endless(&rewrites)?;
        let fired: Vec<(String, String, u64)> =
            rewrites.fired().into_iter().map(|(op, rule, count)| (op.name().to_owned(), rule, count)).collect();
        let by_op = fired_json(&fired);
        if self.json {
            return print(&(json(&by_op) + "\n"));
        }
        let never = rewrites.rules().iter().filter(|rule| !fired.iter().any(|(_, own, _)| own == *rule)).count();
        print(&format!(
            "{}{} rules have fired, {never} have not\n",
            by_op.as_object().map(fired_text).unwrap_or_default(),
            rewrites.rules().len() - never
        ))
    }
}

/// How often rules fired, as lines of what [`fired_json`] gives.
pub fn fired_text(by_op: &serde_json::Map<String, serde_json::Value>) -> String {
    let mut text = String::new();
    for (op, rules) in by_op {
        for (rule, count) in rules.as_object().into_iter().flatten() {
            let _ = writeln!(text, "rule {op} {rule}: {count}");
        }
    }
    text
}

/// How often rules fired: an object by op of objects by rule.
pub fn fired_json(fired: &[(String, String, u64)]) -> serde_json::Value {
    let mut by_op: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for (op, rule, count) in fired {
        *by_op.entry(op).or_default().entry(rule).or_default() += count;
    }
    serde_json::json!(by_op)
}

impl Mine {
    fn run(&self) -> Done {
        let (solver, _) = Solver::new(Duration::from_secs(2))
            .map_err(|error| Problem::new(format!("candidates can't be proven: {error}")))?;
        let mut mined = ::rules::mine::Mined::default();
        for file in &self.files {
            let module = source::parse_module(shown_name(file), &source::read(file)?, Stage::Residual)?;
            for graph in module.graphs.values().filter(|graph| !graph.is_host()) {
                let ops = ::rules::mine::definitions(graph);
                with_bounds(graph, |op, bound| mined.look_at(op, &ops, bound));
            }
        }
        let sequences = mined.sequences(self.least.max(1));
        let found = self.search(&sequences, &solver)?;
        let mut kinds: Vec<Vec<Cheaper>> = Vec::new();
        for one in found {
            match kinds.iter_mut().find(|kind| kind[0].kind == one.kind) {
                Some(kind) => kind.push(one),
                None => kinds.push(vec![one]),
            }
        }
        let count = |kind: &[Cheaper]| kind.iter().map(|one| one.count).sum::<usize>();
        kinds.sort_by_key(|kind| std::cmp::Reverse(count(kind)));
        let mut named = BTreeMap::<String, usize>::new();
        for kind in &kinds {
            let one = &kind[0];
            let mut name = one.ops.join("_");
            // One name for one rule.
            let times = named.entry(name.clone()).or_default();
            *times += 1;
            if *times > 1 {
                name = format!("{name}_{times}");
            }
            let how = match one.verdict {
                Verdict::Exhaustive(cases) => format!("exhaustive, {cases} cases"),
                _ => "proven".to_owned(),
            };
            let times = |count: usize| counted(count, "time", "times");
            let others = match kind.len() {
                1 => String::new(),
                more => format!("; with {} other choices of its numbers {}", more - 1, times(count(kind))),
            };
            print(&format!("# {how}; would fire {}{others}\n{name}: {}\n", times(one.count), one.text))?;
        }
        print_aside(&format!(
            "{} looked at, {} would make them cheaper\n",
            counted(sequences.len(), "sequence of ops", "sequences of ops"),
            counted(kinds.iter().map(Vec::len).sum(), "rule", "rules")
        ))
    }

    /// What would make sequences cheaper, the short ones first: what is found for these isn't found again in longer
    /// ones. Several are looked at at a time.
    fn search(&self, sequences: &[Sequence], solver: &Solver) -> Result<Vec<Cheaper>, Failure> {
        let progress = Progress::start(sequences.len());
        let known = Interpreted::new(read("integer.rules", ::rules::INTEGER)?);
        let mut finder = Finder::new(solver, known);
        let mut all = Vec::new();
        for ops in 1..=sequences.iter().map(Sequence::ops).max().unwrap_or(0) {
            let of_these: Vec<&Sequence> = sequences.iter().filter(|sequence| sequence.ops() == ops).collect();
            let found = self.find(&of_these, &finder, &progress);
            finder.learn(&found);
            all.extend(found);
        }
        Ok(all)
    }

    fn find(&self, sequences: &[&Sequence], finder: &Finder<'_>, progress: &Progress) -> Vec<Cheaper> {
        let cheaper = |at: usize| {
            progress.next("looking for something cheaper");
            finder.cheaper(sequences[at], self.least)
        };
        let mut found = Vec::new();
        let Ok(()) = in_order(sequences.len(), cheaper, |_, cheaper| {
            found.extend(cheaper);
            Ok::<(), Infallible>(())
        });
        found
    }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
