//! The stages from a compiler graph to machine code, on programs whose every op has a bounds check on an index that isn't
//! known: time in each, for programs that grow. It must grow no faster than they do.

use crate::best;
use flowgraph::ir::Graph;
use hueshift::JitOptions;
use hueshift_tests::pipeline::{Pipeline, Prepared};
use std::fmt::Write;
use std::time::{Duration, Instant};
use timeshifter::optimize::{Rewrites, optimize};
use timeshifter::specialize::{Engine, Program};

/// A machine with a pointer into a tape, as Brainfuck's. Its ops are pairs of a kind and an argument.
const TAPE: &str = r#"
use hueshift::prelude::*;

#[portal(greens(code, pc), reds(tape, at, sum))]
pub fn run(code: &[i64], mut pc: usize, tape: &mut [u8], mut at: usize, mut sum: i64) -> i64 {
    loop {
        merge_point!();
        if pc >= code.len() {
            return sum;
        }
        let op = code[pc];
        let arg = code[pc + 1];
        pc += 2;
        match op {
            0 => tape[at] = tape[at].wrapping_add(arg as u8),
            1 => at = at.wrapping_add(arg as usize),
            2 => {
                if tape[at] == 0 {
                    pc = arg as usize;
                }
            }
            3 => {
                if tape[at] != 0 {
                    pc = arg as usize;
                    can_enter_jit!();
                }
            }
            _ => sum = sum * 31 + tape[at] as i64,
        }
    }
}
"#;

/// A guest program of the tape machine: `size` ops in loops of twenty, every fifth of which holds another; where the pointer
/// is going nobody knows.
fn guest(size: usize) -> String {
    let mut code: Vec<(i64, i64)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for at in 0..size {
        match at % 20 {
            0 => {
                open.push(code.len());
                code.push((2, 0));
            }
            19 if at / 20 % 5 != 3 => {
                for begin in open.drain(..).rev() {
                    code.push((3, 2 * begin as i64 + 2));
                    code[begin].1 = 2 * code.len() as i64;
                }
            }
            7 => code.push((4, 0)),
            k if k % 2 == 0 => code.push((1, if k % 4 == 0 { 1 } else { -1 })),
            k => code.push((0, k as i64)),
        }
    }
    for begin in open.drain(..).rev() {
        code[begin].1 = 2 * code.len() as i64;
    }
    let mut text = String::from("[");
    for (at, (op, arg)) in code.iter().enumerate() {
        let _ = write!(text, "{}{op},{arg}", if at == 0 { "" } else { "," });
    }
    let tape = vec!["0"; 1000].join(",");
    text + "],0,[" + &tape + "],3,0"
}

/// A function of `size` reads at indices that aren't known, one after another.
fn reads(size: usize) -> String {
    let body = "    x = x + s[(x ^ i) as usize & 7];\n".repeat(size);
    format!("pub fn f(s: &[i64], i: i64, mut x: i64) -> i64 {{\n{body}    x\n}}\n")
}

/// Prints the table.
pub fn run() -> Result<(), String> {
    println!("\n| program | residual ops | specializing | linking | optimizing | generating code | all, an op |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for size in [500, 1_000, 2_000, 4_000] {
        let pipeline = Pipeline::new("reads.rs", &reads(size), "f", &[])?;
        row(&format!("{size} checked reads in a row"), &pipeline, "[1,2,3,4,5,6,7,8],3,4")?;
    }
    let tape = Pipeline::new("tape.rs", TAPE, "run", &[0, 1])?;
    for size in [1_000, 4_000, 16_000] {
        row(&format!("tape machine, {size} guest ops"), &tape, &guest(size))?;
    }
    Ok(())
}

fn row(name: &str, pipeline: &Pipeline, arguments: &str) -> Result<(), String> {
    let mut times: [Vec<Duration>; 4] = Default::default();
    let started = Instant::now();
    let mut ops = 0;
    for round in 0..100 {
        if round >= 2 && started.elapsed() > Duration::from_secs(3) {
            break;
        }
        let mut prepared = pipeline.prepare(arguments)?;
        let (graph, [specializing, linking, cleaning]) = residual(&mut prepared)?;
        ops = graph.blocks.iter().map(|b| b.ops.len()).sum();
        let stats = prepared.specialize(JitOptions::default())?.stats();
        let generating = stats.compiling.saturating_sub(stats.optimizing);
        for (times, time) in times.iter_mut().zip([specializing, linking, cleaning, generating]) {
            times.push(time);
        }
    }
    let times = times.map(best);
    let all: f64 = times.iter().sum();
    let [specializing, linking, cleaning, generating] = times.map(|t| format!("{:.2} ms", t * 1e3));
    let each = all * 1e6 / ops.max(1) as f64;
    println!("| {name} | {ops} | {specializing} | {linking} | {cleaning} | {generating} | {each:.2} µs |");
    Ok(())
}

/// The residual graph, and the times of what makes it.
fn residual(prepared: &mut Prepared) -> Result<(Graph, [Duration; 3]), String> {
    let args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
    let program = Program::load(&prepared.compiler.module).map_err(|e| e.to_string())?;
    let mut engine = Engine::new(program, &mut prepared.memory);
    let begun = Instant::now();
    let unit = engine.specialize(&prepared.compiler.entry, &args).map_err(|e| e.to_string())?;
    let specializing = begun.elapsed();
    let begun = Instant::now();
    let mut graph = engine.linked_raw(engine.units[unit].fragment, &|_| false);
    let linking = begun.elapsed();
    let begun = Instant::now();
    optimize(&mut graph, &[], &mut Rewrites::default());
    Ok((graph, [specializing, linking, begun.elapsed()]))
}
