//! Loops that look for something: each round moves an index by a constant, checks it and loads there.
#![allow(missing_docs)]

mod common;

use common::returned;
use flowgraph::ir::Type;
use flowgraph::memory::Memory;
use flowgraph::text::parse_module;
use jitcodegen::{Engine, Machine, OptLevel, Options};

/// The first place from `n` on, `STEP` apart, where a 0 lies; the length where the bytes end before.
const SCAN: &str = r#"module flow
graph scan(n: int, base: int, length: int) -> int {
b0(v0: int, v1: int, v2: int):
    jump b1(v0)
b1(v3: int):
    v4 = int_add v3, STEP
    v5 = uint_lt v4, v2
    branch v5, b2, b3
b2:
    v6 = getarrayitem v1, v4 {[u8] u8 +0 *1 excl}
    branch v6, b1(v4), b4
b3:
    return v2
b4:
    return v4
}
"#;

fn expected(bytes: &[u8], from: i64, step: i64) -> u64 {
    let mut at = from.wrapping_add(step);
    while bytes.get(at as usize).is_some_and(|byte| *byte != 0) {
        at = at.wrapping_add(step);
    }
    if (at as usize) < bytes.len() { at as u64 } else { bytes.len() as u64 }
}

#[test]
fn steps_are_done_in_place() {
    let mut bytes = vec![1u8; 100];
    bytes[28] = 0;
    for (step, opt_level) in
        [9i64, -9, 1, 1 << 40, i64::MIN].into_iter().zip([OptLevel::None, OptLevel::Speed].repeat(3))
    {
        let mut module = parse_module(&SCAN.replace("STEP", &step.to_string())).unwrap();
        module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
        let memory = Memory::for_module(&module);
        let mut engine = Engine::new(Options { keep_text: true, opt_level, ..Options::default() }).unwrap();
        engine.compile(&module, &memory).unwrap();
        for from in [0, 1, 28, 37, 46, 99, -9, -10, i64::MIN, i64::MAX] {
            let words = [from as u64, bytes.as_ptr() as u64, bytes.len() as u64];
            let found = returned(engine.call("scan", &words));
            assert_eq!(found, [expected(&bytes, from, step)], "from {from} by {step}");
        }
        if Machine::host() == Some(Machine::X86_64) && opt_level == OptLevel::None {
            let text = engine.asm("scan").expect("its text");
            let load = text.lines().find(|line| line.contains("movzbq")).expect("a load");
            assert!(load.contains(" 0(") || load.contains(" ("), "{load} in {text}");
        }
    }
}

/// The same of three places at once, which the caller has checked: each way out hands over where it was, one of them
/// twice.
const ROUNDS: &str = r#"module flow
graph scan(n: int, base: int, length: int) -> int {
b0(v0: int, v1: int, v2: int):
    jump b1(v0)
b1(v3: int):
    v4 = int_add v3, STEP
    v5 = getarrayitem v1, v4 {[u8] u8 +0 *1 excl}
    branch v5, b2, b5(v4, v2)
b2:
    v6 = int_sub v3, TWICE
    v7 = getarrayitem v1, v6 {[u8] u8 +0 *1 excl}
    branch v7, b3, b5(v6, v6)
b3:
    v8 = int_add v3, THRICE
    v9 = getarrayitem v1, v8 {[u8] u8 +0 *1 excl}
    v10 = int_is_zero v9
    branch v10, b5(v8, v3), b4(v8)
b4(v11: int):
    v12 = uint_lt v11, v2
    branch v12, b1(v11), b6
b5(v13: int, v14: int):
    v15 = int_mul v14, 1000
    v16 = int_add v13, v15
    return v16
b6:
    return 0
}
"#;

#[test]
fn ways_out_count_what_only_addresses_use() {
    let mut bytes = [1u8; 200];
    let middle = 100i64;
    for step in [9i64, -9, 1, -1, 30] {
        for opt_level in [OptLevel::None, OptLevel::Quick, OptLevel::Speed] {
            let text = ROUNDS.replace("STEP", &step.to_string());
            let text = text.replace("TWICE", &(-2 * step).to_string()).replace("THRICE", &(3 * step).to_string());
            let mut module = parse_module(&text).unwrap();
            module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
            let memory = Memory::for_module(&module);
            let mut engine = Engine::new(Options { keep_text: true, opt_level, ..Options::default() }).unwrap();
            engine.compile(&module, &memory).unwrap();
            for (number, other) in [(1, 120), (2, middle + 2 * step), (3, middle)] {
                let at = middle + number * step;
                bytes[at as usize] = 0;
                let found = returned(engine.call("scan", &[middle as u64, bytes.as_ptr() as u64, 120]));
                assert_eq!(found, [(at + 1000 * other) as u64], "round {number} by {step}");
                bytes[at as usize] = 1;
            }
            if Machine::host() == Some(Machine::X86_64) && opt_level == OptLevel::None {
                let asm = engine.asm("scan").expect("its text");
                let lines: Vec<&str> = asm.lines().collect();
                let loads: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains("movzbq")).collect();
                let [first, .., last] = loads[..] else { panic!("{asm}") };
                let sums = lines[first..last].iter().filter(|line| line.contains("lea") || line.contains("add"));
                assert_eq!(sums.count(), 0, "{asm}");
            }
        }
    }
}
