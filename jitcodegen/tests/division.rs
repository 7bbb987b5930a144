//! Division by constants: what the op table says, by code in which nothing is divided, at all levels and on all
//! machines.
#![allow(missing_docs)]

mod common;

use common::{build, engine, returned};
use flowgraph::ir::*;
use jitcodegen::{Machine, ObjectInput, ObjectOptions, OptLevel, Options, object_file};

const OPS: [Opcode; 4] = [Opcode::IntFloordiv, Opcode::IntMod, Opcode::UintFloordiv, Opcode::UintMod];
const LEVELS: [OptLevel; 3] = [OptLevel::Quick, OptLevel::None, OptLevel::Speed];

/// Each way to divide: by shifts, by a product, by one behind a shift, by one of 65 bits, by a comparison.
fn divisors() -> Vec<i64> {
    let mut all: Vec<i64> =
        (0..=16).chain([25, 28, 60, 100, 641, 1000, 86_400, 1_000_000_007, u32::MAX.into()]).collect();
    all.extend([1 << 31, 1 << 62, (1 << 62) + 1, 6_700_417 << 20, i64::MAX, i64::MAX - 1]);
    let negative: Vec<i64> = all.iter().map(|divisor| divisor.wrapping_neg()).collect();
    all.extend(negative.into_iter().skip(1));
    all.extend([i64::MIN, i64::MIN + 1, i64::MIN + 2]);
    all
}

/// `f(x)`: an op with a constant, for each op and constant.
fn graphs() -> Vec<common::Build> {
    let all = OPS.iter().flat_map(|op| divisors().into_iter().map(move |divisor| (*op, divisor)));
    all.map(|(op, divisor)| {
        let (mut b, params) = build(&key(op, divisor), &[Type::Int], &[Type::Int]);
        let result = b.op(op, &[params[0], Operand::int(divisor)]);
        b.ret(&[result]);
        b
    })
    .collect()
}

fn key(op: Opcode, divisor: i64) -> String {
    format!("{}#{divisor}", op.name())
}

#[test]
fn results_are_those_of_the_op_table() {
    for level in LEVELS {
        let engine = engine(graphs(), Options { opt_level: level, ..Options::default() });
        for op in OPS {
            for divisor in divisors() {
                let entry = engine.entry(&key(op, divisor)).expect("it is compiled");
                let multiples = [0, 1, 2, 3, 1000].map(|by: i64| divisor.wrapping_mul(by));
                let ends = [u64::MAX, 1 << 63, i64::MAX as u64, u64::MAX.checked_div(divisor as u64).unwrap_or(5)];
                let corners = multiples.into_iter().chain(ends.map(|end| end as i64));
                let corners = corners.chain([(u64::MAX - u64::MAX.checked_rem(divisor as u64).unwrap_or(0)) as i64]);
                for x in corners.flat_map(|x| [-2, -1, 0, 1, 2].map(|by| x.wrapping_add(by))) {
                    let wanted = op.compute(&[x as u64, divisor as u64]).expect("pure");
                    assert_eq!(returned(entry.call(&[x as u64])), *wanted, "{}({x}, {divisor}) {level:?}", op.name());
                }
            }
        }
    }
}

/// The words of an instruction that divides, of all places where one may begin.
fn divides(machine: Machine, bytes: &[u8]) -> bool {
    let is = |word: u32| match machine {
        Machine::Aarch64 => word & 0xffe0_f800 == 0x9ac0_0800,
        Machine::Riscv64 => word & 0xfe00_407f == 0x0200_4033,
        Machine::X86_64 => unreachable!("read as text"),
    };
    (0..bytes.len().saturating_sub(3)).step_by(2).any(|at| {
        let word: [u8; 4] = std::array::from_fn(|byte| bytes[at + byte]);
        is(u32::from_le_bytes(word))
    })
}

fn object(graph: Graph, machine: Machine, opt_level: OptLevel) -> Vec<u8> {
    let mut module = Module::default();
    let entry = graph.key.clone();
    module.graphs.insert(entry.clone(), graph);
    let input = ObjectInput { module: &module, entry: &entry, jitted: &|_| false, writable: &|_| false };
    object_file(input, &ObjectOptions { machine, pic: true, opt_level, verify: true }).expect("an object file").bytes
}

#[test]
fn nothing_is_divided() {
    let by_value = || {
        let (mut b, params) = build("by_value", &[Type::Int; 2], &[Type::Int]);
        let result = b.op(Opcode::UintMod, &params);
        b.ret(&[result]);
        b
    };
    for level in LEVELS {
        for machine in [Machine::Aarch64, Machine::Riscv64] {
            for b in graphs() {
                let name = b.graph.key.clone();
                assert!(!divides(machine, &object(b.graph, machine, level)), "{name} on {machine}, {level:?}");
            }
            assert!(divides(machine, &object(by_value().graph, machine, level)), "{machine} {level:?}");
        }
        if Machine::host() == Some(Machine::X86_64) {
            let mut all = graphs();
            all.push(by_value());
            let engine = engine(all, Options { opt_level: level, keep_text: true, ..Options::default() });
            let divides = |key: &str| engine.asm(key).expect("its text").contains("div");
            for (op, divisor) in OPS.iter().flat_map(|op| divisors().into_iter().map(move |by| (*op, by))) {
                assert!(!divides(&key(op, divisor)), "{} {divisor} {level:?}", op.name());
            }
            assert!(divides("by_value"), "{level:?}");
        }
    }
}

/// A quotient and a remainder of the same numbers take one product with a reciprocal, and one for the remainder.
#[test]
fn a_quotient_is_shared() {
    if Machine::host() != Some(Machine::X86_64) {
        return;
    }
    for level in LEVELS {
        for (divide, rest) in [(OPS[0], OPS[1]), (OPS[2], OPS[3])] {
            let (mut b, params) = build("both", &[Type::Int], &[Type::Int; 2]);
            let results = [divide, rest].map(|op| b.op(op, &[params[0], Operand::int(10)]));
            b.ret(&results);
            let engine = engine(vec![b], Options { opt_level: level, keep_text: true, ..Options::default() });
            let text = engine.asm("both").expect("its text");
            assert_eq!(text.lines().filter(|line| line.contains("mul")).count(), 2, "{level:?}: {text}");
        }
    }
}
