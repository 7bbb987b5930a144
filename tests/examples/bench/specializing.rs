//! How long specializing takes for each residual op and for each op of the interpreter, and next to generating code.

use crate::aims::Aim;
use crate::best;
use hueshift::JitOptions;
use hueshift_tests::pipeline::Pipeline;
use std::time::{Duration, Instant};

/// A guest program of one shape, `size` times repeated.
struct Workload {
    name: &'static str,
    text: String,
    argument: &'static str,
}

fn workloads() -> Vec<Workload> {
    let straight = |n: usize| "pusharg\nadd\npush 3\nmul\n".repeat(n);
    let repeated = |n: usize, body: &dyn Fn(usize) -> String| (0..n).map(body).collect::<String>();
    let diamond = |i: usize| format!("pick 0\npush 7\nlt\nbr_cond else{i}\npush 5\nadd\nelse{i}: pusharg\nmul\n");
    let nest = |i: usize| {
        format!(
            "pusharg\nloop{i}: swap\npush 3\nmul\npick 1\nadd\nswap\npush 1\nsub\npick 0\npush 0\ngt\nbr_cond loop{i}\npop\n"
        )
    };
    let whole = |body: String| format!("pusharg\n{body}return\n");
    vec![
        Workload { name: "straight code, 1,000 times 2 ops", text: whole(straight(1_000)), argument: "7" },
        Workload { name: "straight code, 10,000 times 2 ops", text: whole(straight(10_000)), argument: "7" },
        Workload { name: "100 diamonds", text: whole(repeated(100, &diamond)), argument: "7" },
        Workload { name: "1,000 diamonds", text: whole(repeated(1_000, &diamond)), argument: "7" },
        Workload { name: "100 loops", text: whole(repeated(100, &nest)), argument: "7" },
        Workload { name: "1,000 loops", text: whole(repeated(1_000, &nest)), argument: "7" },
        Workload { name: "the program `primes`", text: bundled("primes"), argument: "10" },
        Workload { name: "the program `collatz_total`", text: bundled("collatz_total"), argument: "10" },
    ]
}

fn bundled(name: &str) -> String {
    interpreters::find("tl").and_then(|tl| tl.program(name)).map(|p| p.text.to_owned()).unwrap_or_default()
}

/// A function of which nothing is known when compiling: all its ops are residual, `rounds` times four.
fn nothing_to_fold(rounds: usize) -> String {
    let round = |i: usize| format!("    x = (x ^ {}) * y;\n    y = y - (x >> {});\n", i * 7 + 3, i % 13 + 1);
    let body: String = (0..rounds).map(round).collect();
    format!("pub fn f(mut x: i64, mut y: i64) -> i64 {{\n{body}    x ^ y\n}}\n")
}

/// The most that specializing may take for each residual op, in microseconds.
const AIM: f64 = 1.0;

/// Prints the table.
pub fn run() -> Result<(), String> {
    let tl = interpreters::find("tl").ok_or("the stack machine is gone")?;
    let pipeline = Pipeline::of(tl)?;
    println!(
        "\n| guest program | residual ops | specializing | a residual op | residual ops a second | interpreter's ops | one of them | generating code | share of specializing | |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for rounds in [100, 2_000] {
        let plain = Pipeline::new("plain.rs", &nothing_to_fold(rounds), "f", &[])?;
        row(&format!("none: a function of {} ops, nothing known", 4 * rounds + 1), &plain, "3,5")?;
    }
    for workload in workloads() {
        let text = tl.load_text(&workload.text, &[workload.argument]).map_err(|e| e.to_string())?;
        row(workload.name, &pipeline, &text)?;
    }
    Ok(())
}

/// Measures one row, and prints it.
fn row(name: &str, pipeline: &Pipeline, arguments: &str) -> Result<(), String> {
    let (mut specializing, mut generating, mut ops, mut steps) = (Vec::new(), Vec::new(), 0, 0);
    let started = Instant::now();
    for round in 0.. {
        if round >= 3 && started.elapsed() > Duration::from_secs(3) || round == 200 {
            break;
        }
        let mut prepared = pipeline.prepare(arguments)?;
        let jit = prepared.specialize(JitOptions::default())?;
        let stats = jit.stats();
        specializing.push(stats.specializing);
        generating.push(stats.compiling);
        steps = stats.steps;
        if round == 0 {
            let residual = jit.residual().map_err(|e| e.to_string())?.module;
            ops = residual.graphs.values().flat_map(|g| &g.blocks).map(|b| b.ops.len()).sum();
        }
    }
    let (s, g) = (best(specializing), best(generating));
    let an_op = s * 1e6 / ops.max(1) as f64;
    println!(
        "| {} | {ops} | {:.2} ms | {an_op:.2} µs | {:.0} | {steps} | {:.0} ns | {:.2} ms | {:.0} % | {} |",
        name,
        s * 1e3,
        ops as f64 / s,
        s * 1e9 / steps.max(1) as f64,
        g * 1e3,
        100.0 * s / (s + g),
        Aim::SpecializingAhead.judge(name, an_op <= AIM)
    );
    Ok(())
}
