//! Asks Z3 for all theorems and prints what it says as a Markdown table:
//! `cargo run --release -p soundness > docs/soundness.md`. With words behind it: just for theorems with one of these in
//! their names.

use flowgraph::ir::Opcode;
use rules::prove::Solver;
use soundness::contract::PROMISES;
use soundness::theorem::{Theorem, Verdict, by_constant, prove, tested_only, theorems};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long one question may take.
const TIMEOUT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |theorem: &Theorem| wanted.is_empty() || wanted.iter().any(|part| theorem.name().contains(part));
    if !theorems().iter().any(is_wanted) {
        eprintln!("no theorem has {} in its name; int_add and Bound::join are names of some", wanted.join(" or "));
        return ExitCode::from(2);
    }
    let (solver, version) = match Solver::new(TIMEOUT) {
        Ok(found) => found,
        Err(reason) => {
            eprintln!("{reason}: nothing is asked, nothing is proven");
            return ExitCode::from(2);
        }
    };
    println!("# What is proven of `IntBound`\n");
    println!(
        "For all bounds and all their members, at 64 bits: that what the op gives is a member of what its transfer gives (forward), and"
    );
    println!(
        "that refining operands by a result takes no member away that gives it (backward). First the functions that these are made"
    );
    println!(
        "of, and on which promises each rests ([how](optimizer.md#why-it-can-be-believed)). Asked of {version}, on one core."
    );
    println!("Made by `cargo run --release -p soundness > docs/soundness.md`.\n");
    println!("| function or op | verdict | questions | seconds | rests on |\n|---|---|---|---|---|");
    let (mut proven, mut not) = (0, 0);
    let all = Instant::now();
    for theorem in theorems().into_iter().filter(is_wanted) {
        let name = theorem.name();
        if let Some(reason) = tested_only(theorem) {
            println!("| `{name}` | tested only: {reason} | | | |");
            continue;
        }
        let from = Instant::now();
        let questions = theorem.questions();
        let verdict = prove(&questions, &solver);
        let says = match &verdict {
            Verdict::Proven => "proven".to_owned(),
            Verdict::Refuted(what) => format!("**refuted**: {what}"),
            Verdict::Unknown(what) => format!("no answer in {} s: {what}", TIMEOUT.as_secs()),
        };
        let limits = match theorem {
            Theorem::Forward(Opcode::IntSignext) | Theorem::Backward(Opcode::IntSignext) => ", for 1 to 8 bytes, known",
            Theorem::Forward(op) | Theorem::Backward(op) if by_constant(op) => {
                ", for amounts that are known, all of them"
            }
            _ => "",
        };
        let rests = match theorem {
            Theorem::Promise(at) => PROMISES[at].by.iter().map(|by| short(by)).collect::<Vec<_>>().join(", "),
            _ => "the functions above".to_owned(),
        };
        println!(
            "| `{}` | {says}{limits} | {} | {:.1} | {rests} |",
            short(&name),
            questions.len(),
            from.elapsed().as_secs_f64()
        );
        if verdict == Verdict::Proven { proven += 1 } else { not += 1 }
    }
    println!("\n{proven} proven, {not} not, in {} s.", all.elapsed().as_secs());
    if not == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Without the file.
fn short(function: &str) -> &str {
    function.split_once("::").map_or(function, |(_, name)| name)
}
