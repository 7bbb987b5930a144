//! What asking the rules costs: `cargo run --release -p timeshifter --example asking -- FILE…`, of files of residual
//! graphs.
//!
//! Each op of the graphs is asked about, many times, with what is known of its operands from their ops alone.

use flowgraph::ir::{Graph, Opcode, Operand};
use flowgraph::text::parse_module;
use rules::{Interpreted, Terms};
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;
use timeshifter::optimize::integer::rewrite;

const TIMES: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for file in std::env::args().skip(1) {
        let module = parse_module(&std::fs::read_to_string(&file)?).map_err(|error| format!("{file}: {error}"))?;
        all.extend(module.graphs.values().map(terms));
    }
    let interpreted = Interpreted::new(rules::read(rules::INTEGER).map_err(|problems| format!("{problems:?}"))?);
    let ops: usize = all.iter().map(|(_, asked)| asked.len()).sum();
    let time = |times: usize, ask: &dyn Fn(Opcode, &[Operand], &Terms) -> bool| {
        let from = Instant::now();
        let mut fired = 0;
        for _ in 0..times {
            for (terms, asked) in &all {
                fired += asked.iter().filter(|(op, args)| ask(*op, args, terms)).count();
            }
        }
        (from.elapsed().as_nanos() as f64 / (times * ops.max(1)) as f64, black_box(fired) / times)
    };
    let (compiled, fired) = time(TIMES, &|op, args, terms| rewrite(op, args, terms).is_some());
    let (slow, also) = time(TIMES / 20, &|op, args, terms| interpreted.ask(op, args, terms).is_some());
    println!("{ops} ops; rules apply to {fired} of them ({also} by the interpreter)");
    println!("compiled: {compiled:.1} ns an op; interpreted: {slow:.1} ns an op");
    Ok(())
}

/// A graph's ops as terms, and what is asked about each.
fn terms(graph: &Graph) -> (Terms, Vec<(Opcode, Vec<Operand>)>) {
    let mut terms = Terms::default();
    let mut values: HashMap<Operand, Operand> = HashMap::new();
    let mut asked = Vec::new();
    for op in graph.blocks.iter().flat_map(|block| &block.ops) {
        let mut operand = |arg: &Operand| match arg {
            Operand::Const(_) => *arg,
            Operand::Value(_) => *values.entry(*arg).or_insert_with(|| terms.unknown(bounds::IntBound::unbounded())),
        };
        let args: Vec<Operand> = op.args.iter().map(&mut operand).collect();
        if op.opcode.is_pure() && op.results.len() == 1 && op.opcode.operands().len() == args.len() {
            let value = terms.op(op.opcode, &args);
            values.insert(Operand::Value(op.results[0]), value);
            asked.push((op.opcode, args));
        }
    }
    (terms, asked)
}
