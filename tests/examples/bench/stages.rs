//! The stages from a compiler graph to machine code, on programs whose every op has a bounds check on an index that
//! isn't known: time in each, for programs that grow. It must grow no faster than they do. And on the Brainfuck program
//! that `BRAINFUCK` names, if it does.

use crate::aims::Aim;
use crate::best;
use flowgraph::ir::Graph;
use hueshift::{JitOptions, Stats};
use hueshift_tests::pipeline::{Pipeline, Prepared};
use jitcodegen::OptLevel;
use std::fmt::Write;
use std::time::{Duration, Instant};
use timeshifter::optimize::{Kinds, Rewrites, copy_rounds, optimize};
use timeshifter::specialize::{Engine, Linking, Program};

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

/// A guest program of the tape machine: `size` ops in loops of twenty, every fifth of which holds another; where the
/// pointer is going nobody knows.
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

/// The optimizer takes no more than this part of the time that generating code takes for the graph that it is given.
const AIM: f64 = 0.25;

/// Prints the table.
pub fn run() -> Result<(), String> {
    println!(
        "\n| program | residual ops | specializing | linking | cleaning | optimizing | generating code | all, an op |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut second = String::from(
        "\n| program | ops unoptimized | generating code for these | with Cranelift's optimizer | our optimizer, of these | | all of compiling, with ours | with Cranelift's | |\n\
         | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |",
    );
    for size in [500, 1_000, 2_000, 4_000] {
        let pipeline = Pipeline::new("reads.rs", &reads(size), "f", &[])?;
        second += &row(&format!("{size} checked reads in a row"), &pipeline, "[1,2,3,4,5,6,7,8],3,4")?;
    }
    let tape = Pipeline::new("tape.rs", TAPE, "run", &[0, 1])?;
    for size in [1_000, 4_000, 16_000] {
        second += &row(&format!("tape machine, {size} guest ops"), &tape, &guest(size))?;
    }
    if let Some((path, text)) = crate::brainfuck::program()? {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let bf = interpreters::all().iter().find(|i| i.name == "bf").ok_or("no interpreter `bf`")?;
        let arguments = bf.load_bytes(&text, &[]).map_err(|e| e.to_string())?;
        second += &row(&format!("Brainfuck, `{name}`"), &Pipeline::of(bf)?, &arguments)?;
    }
    println!("{second}");
    Ok(())
}

/// Prints the stages of a program. Gives its row of the second table.
fn row(name: &str, pipeline: &Pipeline, arguments: &str) -> Result<String, String> {
    let mut times: [Vec<Duration>; 9] = Default::default();
    let started = Instant::now();
    let (mut emitted, mut ops) = (0, 0);
    for round in 0..100 {
        if round >= 2 && started.elapsed() > Duration::from_secs(4) {
            break;
        }
        let mut prepared = pipeline.prepare(arguments)?;
        let (sizes, [specializing, linking, cleaning, optimizing]) = residual(&mut prepared)?;
        (emitted, ops) = sizes;
        let on = prepared.specialize(JitOptions::default())?.stats();
        let without = |opt_level| {
            let options = JitOptions { rewrites_off: Kinds::all(), opt_level, ..JitOptions::default() };
            Ok::<_, String>(pipeline.prepare(arguments)?.specialize(options)?.stats())
        };
        let (off, theirs) = (without(OptLevel::None)?, without(OptLevel::Speed)?);
        let generating = |stats: &Stats| stats.compiling.saturating_sub(stats.optimizing);
        let all = [specializing, linking, cleaning, optimizing, generating(&on), generating(&off), generating(&theirs)];
        for (times, time) in times.iter_mut().zip(all.into_iter().chain([on.compiling, theirs.compiling])) {
            times.push(time);
        }
    }
    let [specializing, linking, cleaning, both, optimized, off, theirs, with_ours, with_theirs] = times.map(best);
    let optimizing = both - cleaning;
    let each = (specializing + linking + both + optimized) * 1e6 / ops.max(1) as f64;
    let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    let stages = [specializing, linking, cleaning, optimizing, optimized].map(ms).join(" | ");
    println!("| {name} | {ops} | {stages} | {each:.2} µs |");
    let part = format!(
        "{:.0} %, {:.0} % | {}",
        100.0 * optimizing / off,
        100.0 * optimizing / theirs,
        Aim::OptimizerQuarter.judge(name, optimizing <= AIM * off)
    );
    let all = format!(
        "{} | {} | {}",
        ms(with_ours),
        ms(with_theirs),
        Aim::CompilingNoLonger.judge(name, with_ours <= with_theirs)
    );
    Ok(format!("\n| {name} | {emitted} | {} | {} | {part} | {all} |", ms(off), ms(theirs)))
}

/// How many ops the residual graph has before it is optimized (but cleaned) and after, and the times of what makes it.
fn residual(prepared: &mut Prepared) -> Result<((usize, usize), [Duration; 4]), String> {
    let args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
    let program = Program::load(&prepared.compiler.module, &prepared.compiler.analyses).map_err(|e| e.to_string())?;
    let mut engine = Engine::new(program, &mut prepared.memory);
    let begun = Instant::now();
    let unit = engine.specialize(&prepared.compiler.entry, &args).map_err(|e| e.to_string())?;
    let specializing = begun.elapsed();
    let begun = Instant::now();
    let linked = engine.linked_raw(engine.units[unit].fragment, Linking::but_for(&|_| false));
    let linking = begun.elapsed();
    // Both on copies: of one in the order in which it lies in memory less has to be fetched than of what has just been
    // put together.
    let (mut cleaned, mut graph) = (linked.clone(), linked.clone());
    let begun = Instant::now();
    optimize(&mut cleaned, &[], &mut Rewrites::without(Kinds::all()));
    let cleaning = begun.elapsed();
    let begun = Instant::now();
    optimize(&mut graph, &[], &mut Rewrites::default());
    let copied = copy_rounds(&graph, &[], &mut Rewrites::default());
    let optimizing = begun.elapsed();
    drop(copied);
    let ops = |graph: &Graph| graph.blocks.iter().map(|b| b.ops.len()).sum();
    Ok(((ops(&cleaned), ops(&graph)), [specializing, linking, cleaning, optimizing]))
}
