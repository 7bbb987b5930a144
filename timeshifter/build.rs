//! Compiles the rules to Rust; those that haven't been proven are refused.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=build.rs");
    match compiled().and_then(write) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The rules as Rust.
fn compiled() -> Result<String, String> {
    let place = |at: usize| format!("timeshifter/rules/integer.rules:{}", rules::line_of(rules::INTEGER, at));
    let rules = rules::read(rules::INTEGER).map_err(|problems| {
        let told = problems.iter().map(|problem| format!("{}: {problem}; {}", place(problem.span.0), problem.help));
        told.collect::<Vec<_>>().join("\n")
    })?;
    let ledger = rules::Ledger::parse(rules::PROOFS);
    match rules.iter().find(|rule| ledger.how(rule).is_none()) {
        None => Ok(rules::compile(&rules)),
        Some(rule) => Err(format!(
            "{}: `{}` isn't in the ledger of proofs; prove it: cargo run --release --package rules --example ledger",
            place(rule.span.0),
            rule.name
        )),
    }
}

fn write(text: String) -> Result<(), String> {
    let folder = std::env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    let file = Path::new(&folder).join("integer.rs");
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
}
