//! Proves the optimizer's rules and writes the ledger, without which they aren't built in: `cargo run --release -p
//! rules --example ledger`. (`hueshift rules check` does the same for any file, but can't be built while the ledger
//! lacks a rule.)

use rules::prove::{Solver, Verdict, prove};
use rules::{Ledger, Rule};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let text = std::fs::read_to_string(format!("{folder}integer.rules")).map_err(|error| error.to_string())?;
    let rules = rules::read(&text).map_err(|problems| {
        let told = problems
            .iter()
            .map(|problem| format!("line {}: {problem}; {}", rules::line_of(&text, problem.span.0), problem.help));
        told.collect::<Vec<_>>().join("\n")
    })?;
    let (solver, version) = Solver::new(Duration::from_secs(60))?;
    let before = Ledger::parse(rules::PROOFS);
    let mut all: Vec<(&Rule, Verdict)> = Vec::new();
    for rule in &rules {
        if before.how(rule).is_none() {
            eprintln!("{}: {}", rule.name, rule.arrow());
        }
        match prove(rule, &solver) {
            Verdict::Refuted(found) => {
                return Err(format!("line {}: {}\n{}", rule.line, rule.name, found.describe(rule)));
            }
            Verdict::NeverApplies(what) => {
                return Err(format!("line {}: {} never applies: {what}", rule.line, rule.name));
            }
            Verdict::Unknown(why) => return Err(format!("line {}: {}: {why}", rule.line, rule.name)),
            verdict => all.push((rule, verdict)),
        }
    }
    let ledger = Ledger::write(all.iter().map(|(rule, verdict)| (*rule, verdict)), &version);
    std::fs::write(format!("{folder}integer.proofs"), ledger).map_err(|error| error.to_string())
}
