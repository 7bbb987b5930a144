//! What dividing costs, by a constant and by a value that is the same number: `cargo run --release -p jitcodegen --example division`.
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Build, build, engine, returned};
use flowgraph::ir::*;
use jitcodegen::{OptLevel, Options};
use std::time::Instant;

const ROUNDS: u64 = 10_000_000;

/// `f(n, d)`: n rounds of `x = x / d + x % d + i`, each of which waits for the one before.
fn digits(divide: Opcode, rest: Opcode, divisor: Option<i64>) -> Build {
    let (mut b, params) = build("digits", &[Type::Int; 2], &[Type::Int]);
    let (head, at) = b.block(&[Type::Int; 2]);
    let (body, _) = b.block(&[]);
    let (done, _) = b.block(&[]);
    b.jump(head, &[Operand::int(i64::MAX), params[0]]);
    b.to(head);
    b.branch(at[1], (body, &[]), (done, &[]));
    b.to(body);
    let by = divisor.map_or(params[1], Operand::int);
    let quotient = b.op(divide, &[at[0], by]);
    let remainder = b.op(rest, &[at[0], by]);
    let sum = b.op(Opcode::IntAdd, &[quotient, remainder]);
    let mixed = b.op(Opcode::IntXor, &[sum, Operand::int(0x1234_5678_9abc_def0)]);
    let left = b.op(Opcode::IntSub, &[at[1], Operand::int(1)]);
    b.jump(head, &[mixed, left]);
    b.to(done);
    b.ret(&[at[0]]);
    b
}

fn main() {
    println!("ns a round of a quotient and a remainder; by a value, by a constant");
    let signed = (Opcode::IntFloordiv, Opcode::IntMod, "signed");
    let unsigned = (Opcode::UintFloordiv, Opcode::UintMod, "unsigned");
    for level in [OptLevel::Speed, OptLevel::None, OptLevel::Quick] {
        for (divide, rest, name) in [signed, unsigned] {
            for by in [10, 7] {
                let time = |divisor| {
                    let options = Options { opt_level: level, ..Options::default() };
                    let engine = engine(vec![digits(divide, rest, divisor)], options);
                    let entry = engine.entry("digits").expect("it is compiled");
                    let rounds = (0..5).map(|_| {
                        let start = Instant::now();
                        let result = returned(entry.call(&[ROUNDS, by as u64]));
                        (start.elapsed().as_nanos() as f64 / ROUNDS as f64, result)
                    });
                    rounds.min_by(|a, b| a.0.total_cmp(&b.0)).expect("five rounds")
                };
                let (value, constant) = (time(None), time(Some(by)));
                assert_eq!(value.1, constant.1);
                println!("{:6} {name:9} by {by:2}: {:5.1} {:5.1}", format!("{level:?}"), value.0, constant.0);
            }
        }
    }
}
