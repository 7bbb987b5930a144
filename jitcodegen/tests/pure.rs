//! Every op that only computes gives what its row of the op table says, for operands as values and as constants.
#![allow(missing_docs)]

mod common;

use common::{build, engine, returned};
use flowgraph::ir::*;
use jitcodegen::{OptLevel, Options};

const INTS: [i64; 30] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    4,
    7,
    8,
    -8,
    31,
    32,
    63,
    64,
    65,
    127,
    128,
    255,
    -128,
    0x7fff,
    0x8000,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
    0x0123_4567_89ab_cdef,
];

fn floats() -> Vec<f64> {
    let mut all = vec![0.0, 0.5, 1.0, 1.5, 2.5, 0.1, 3.7, 1e-310, f64::MIN_POSITIVE, f64::EPSILON, 1e19, 1e300];
    all.extend([f64::MAX, f64::INFINITY, 9007199254740993.0, 9.3e18, 1.8446744073709552e19, 4294967296.5, f64::NAN]);
    let negative: Vec<f64> = all.iter().map(|f| -f).collect();
    all.extend(negative);
    all
}

fn corners(ty: Type) -> Vec<u64> {
    match ty {
        Type::Int => INTS.iter().map(|i| *i as u64).collect(),
        Type::Float => floats().iter().map(|f| f.to_bits()).collect(),
        Type::Single => floats().iter().map(|f| u64::from((*f as f32).to_bits())).collect(),
    }
}

fn types(op: Opcode) -> Vec<Type> {
    op.operands().iter().map(|o| if let OperandType::Is(ty) = o { *ty } else { Type::Int }).collect()
}

fn same(ty: Type, a: u64, b: u64) -> bool {
    let nan = match ty {
        Type::Int => false,
        Type::Float => f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan(),
        Type::Single => f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan(),
    };
    a == b || nan
}

fn check(op: Opcode, words: &[u64], got: &[u64], how: &str) {
    let want = op.compute(words).expect("pure");
    for ((want, got), ty) in want.iter().zip(got).zip(op.results()) {
        let OperandType::Is(ty) = ty else { panic!("{op:?}") };
        assert!(same(*ty, *want, *got), "{} {words:x?} ({how}): want {want:x}, got {got:x}", op.name());
    }
}

/// All combinations of corner words; three operands take every third word.
fn combinations(types: &[Type]) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for ty in types {
        let words = corners(*ty);
        let step = if types.len() > 2 { 3 } else { 1 };
        let longer = |w: &Vec<u64>| -> Vec<Vec<u64>> {
            words.iter().step_by(step).map(|x| w.iter().copied().chain([*x]).collect()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn pure_ops() -> impl Iterator<Item = Opcode> {
    Opcode::ALL.iter().copied().filter(|op| op.is_pure())
}

fn operands_as_values(level: OptLevel) {
    let graphs = pure_ops().map(|op| {
        let results: Vec<Type> =
            op.results().iter().map(|r| if let OperandType::Is(ty) = r { *ty } else { Type::Int }).collect();
        let (mut b, params) = build(op.name(), &types(op), &results);
        let values = b.ops(op, &params);
        b.ret(&values);
        b
    });
    let engine = engine(graphs.collect(), Options { opt_level: level, ..Options::default() });
    for op in pure_ops() {
        let entry = engine.entry(op.name()).unwrap();
        for words in combinations(&types(op)) {
            check(op, &words, &returned(entry.call(&words)), "values");
        }
    }
}

#[test]
fn values_at_speed() {
    operands_as_values(OptLevel::Speed);
}

#[test]
fn values_unoptimized() {
    operands_as_values(OptLevel::None);
}

#[test]
fn values_quick() {
    operands_as_values(OptLevel::Quick);
}

#[test]
fn constant_operands() {
    // The last operand constant, the others values: one graph for each constant returns for all.
    let mut graphs = Vec::new();
    for op in pure_ops() {
        let types = types(op);
        let (last, first) = types.split_last().unwrap();
        for (i, word) in corners(*last).into_iter().enumerate() {
            let results: Vec<Type> =
                op.results().iter().map(|r| if let OperandType::Is(ty) = r { *ty } else { Type::Int }).collect();
            let (mut b, mut args) = build(&format!("{}#{i}", op.name()), first, &results);
            args.push(Const::from_word(*last, word).into());
            let values = b.ops(op, &args);
            b.ret(&values);
            graphs.push(b);
        }
    }
    let engine = engine(graphs, Options { verify: false, ..Options::default() });
    for op in pure_ops() {
        let types = types(op);
        let (last, first) = types.split_last().unwrap();
        for (i, word) in corners(*last).into_iter().enumerate() {
            let entry = engine.entry(&format!("{}#{i}", op.name())).unwrap();
            for mut words in combinations(first) {
                let got = returned(entry.call(&words));
                words.push(word);
                check(op, &words, &got, "last constant");
            }
        }
    }
}

#[test]
fn first_constant_and_flags() {
    // The first operand constant, and the result used as a condition.
    let mut graphs = Vec::new();
    let ops: Vec<Opcode> =
        pure_ops().filter(|op| op.operands().len() == 2 && op.results() == [OperandType::Is(Type::Int)]).collect();
    for op in &ops {
        let types = types(*op);
        for (i, word) in corners(types[0]).into_iter().enumerate() {
            let (mut b, params) = build(&format!("{}#{i}", op.name()), &types[1..], &[Type::Int]);
            let value = b.op(*op, &[Const::from_word(types[0], word).into(), params[0]]);
            let (yes, _) = b.block(&[]);
            let (no, _) = b.block(&[]);
            b.branch(value, (yes, &[]), (no, &[]));
            b.to(yes);
            b.ret(&[Operand::int(1)]);
            b.to(no);
            b.ret(&[Operand::int(0)]);
            graphs.push(b);
        }
    }
    let engine = engine(graphs, Options { verify: false, ..Options::default() });
    for op in ops {
        let types = types(op);
        for (i, word) in corners(types[0]).into_iter().enumerate() {
            let entry = engine.entry(&format!("{}#{i}", op.name())).unwrap();
            for x in corners(types[1]) {
                let want = u64::from(op.compute(&[word, x]).unwrap()[0] != 0);
                assert_eq!(returned(entry.call(&[x])), [want], "{} {word:x} {x:x}", op.name());
            }
        }
    }
}
