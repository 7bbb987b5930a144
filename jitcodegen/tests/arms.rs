//! Branches whose arms hardly do anything: no branches in machine code; and products by one more and one less than
//! powers of two.
#![allow(missing_docs)]

mod common;

use common::{build, engine, returned};
use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use flowgraph::text::parse_module;
use jitcodegen::{Engine, Machine, Options};

/// Graphs, and whether they have a selection in place of their branch.
const GRAPHS: &str = r#"module flow
graph one_arm(n: int, m: int) -> int {
b0(v0: int, v1: int):
    v2 = int_and v0, 1
    branch v2, b1, b2(v1)
b1:
    v3 = int_mul v0, 3
    v4 = int_add v3, 1
    jump b2(v4)
b2(v5: int):
    v6 = int_xor v5, v0
    return v6
}
graph two_arms(n: int, m: int) -> int {
b0(v0: int, v1: int):
    v2 = int_lt v0, v1
    branch v2, b1(v0), b2(v1)
b1(v3: int):
    v4 = int_sub v3, v1
    jump b3(v4, v2, v0)
b2(v5: int):
    v6 = int_sub v5, 1
    jump b3(v6, 7, v0)
b3(v7: int, v8: int, v9: int):
    v10 = int_add v7, v8
    v11 = int_add v10, v9
    return v11
}
graph no_arms(n: int, m: int) -> int {
b0(v0: int, v1: int):
    jump b1(v0, 0)
b1(v2: int, v3: int):
    v4 = int_add v3, 1
    v5 = uint_gt v4, 5
    branch v5, b3, b2
b2:
    v6 = int_gt v2, v1
    branch v6, b1(v1, v4), b1(v4, v4)
b3:
    return v2
}
graph expected(n: int, m: int) -> int {
b0(v0: int, v1: int):
    v2 = int_lt v0, v1
    v3 = likely v2
    branch v3, b1(v0), b1(v1)
b1(v4: int):
    return v4
}
graph much_to_do(n: int, m: int) -> int {
b0(v0: int, v1: int):
    v2 = int_lt v0, v1
    branch v2, b1, b2(v1)
b1:
    v3 = int_mul v0, 3
    v4 = int_add v3, 1
    v5 = int_xor v4, v1
    v6 = int_sub v5, v0
    jump b2(v6)
b2(v7: int):
    return v7
}
graph hard_to_do(n: int, m: int) -> int {
b0(v0: int, v1: int):
    v2 = int_lt v0, v1
    branch v2, b1, b2(v1)
b1:
    v3 = int_floordiv v0, 5
    jump b2(v3)
b2(v4: int):
    return v4
}
"#;

const SELECTED: [&str; 3] = ["one_arm", "two_arms", "no_arms"];
const BRANCHES: [&str; 3] = ["expected", "much_to_do", "hard_to_do"];
const CORNERS: [i64; 9] = [0, 1, -1, 2, 5, 6, 1000, i64::MAX, i64::MIN];

#[test]
fn small_arms_are_both_done() {
    let mut module = parse_module(GRAPHS).unwrap();
    module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
    let mut memory = Memory::for_module(&module);
    let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    for name in SELECTED.into_iter().chain(BRANCHES) {
        for (n, m) in CORNERS.iter().flat_map(|n| CORNERS.iter().map(|m| (*n as u64, *m as u64))) {
            let wanted = match Evaluator::new(&module, &mut memory).call(name, &[n, m]) {
                Ok(Outcome::Returned(words)) => words,
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(returned(engine.call(name, &[n, m])), wanted, "{name}({n}, {m})");
        }
        if Machine::host() == Some(Machine::X86_64) {
            let text = engine.asm(name).expect("its text");
            assert_eq!(text.contains("cmov"), SELECTED.contains(&name), "{name}: {text}");
        }
    }
}

#[test]
fn products_by_neighbours_of_powers() {
    let powers = (1..63).flat_map(|bits| [(1i64 << bits) - 1, (1i64 << bits) + 1]);
    let factors: Vec<i64> = powers.chain([0, 1, 2, 6, 10, -1, -3, -7, i64::MIN, i64::MIN + 1, i64::MAX]).collect();
    let product = |factor: &i64| {
        let (mut b, params) = build(&format!("by#{factor}"), &[Type::Int], &[Type::Int]);
        let result = b.op(Opcode::IntMul, &[params[0], Operand::int(*factor)]);
        b.ret(&[result]);
        b
    };
    let engine = engine(factors.iter().map(product).collect(), Options { keep_text: true, ..Options::default() });
    for factor in &factors {
        let key = format!("by#{factor}");
        for x in CORNERS {
            let wanted = x.wrapping_mul(*factor) as u64;
            assert_eq!(returned(engine.call(&key, &[x as u64])), [wanted], "{x} * {factor}");
        }
        if Machine::host() == Some(Machine::X86_64) && [3, 5, 9, 31, 33].contains(factor) {
            assert!(!engine.asm(&key).expect("its text").contains("imul"), "{factor}");
        }
    }
}
