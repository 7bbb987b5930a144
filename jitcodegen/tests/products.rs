//! Loops that carry a product: two rounds are done as one, and two of these, and every round that is left in between
//! gives what it would have.
#![allow(missing_docs)]

mod common;

use common::returned;
use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::Type;
use flowgraph::memory::Memory;
use flowgraph::testing::Random;
use flowgraph::text::parse_module;
use jitcodegen::{Engine, Machine, OptLevel, Options};

/// Loops, and whether rounds are paired.
const LOOPS: [(&str, bool, &str); 11] = [
    (
        "multiplied by a product",
        true,
        "b0(v0: int, v1: int):
    jump b1(1, v0)
b1(v2: int, v3: int):
    v4 = int_le v3, v1
    branch v4, b2, b3
b2:
    return v2
b3:
    v7 = int_mul v3, v3
    v5 = int_mul v2, v7
    v6 = int_add v3, -3
    jump b1(v5, v6)",
    ),
    (
        "left before the product, which is used behind without being handed over",
        true,
        "b0(v0: int, v1: int):
    jump b1(1, v0)
b1(v2: int, v3: int):
    v4 = int_le v3, v1
    branch v4, b2, b3
b2:
    v7 = int_add v2, v3
    return v7
b3:
    v5 = int_mul v2, v3
    v6 = int_sub v3, 1
    jump b1(v5, v6)",
    ),
    (
        "left behind the product, with what it was and what it is",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, 1)
b1(v2: int, v3: int):
    v4 = int_add v3, 3
    v5 = int_mul v4, v2
    v6 = int_ge v4, v1
    branch v6, b2(v2, v5, v4), b1(v5, v4)
b2(v7: int, v8: int, v9: int):
    v10 = int_sub v7, v8
    v11 = int_xor v10, v9
    return v11",
    ),
    (
        "left at both places, behind which ways meet",
        true,
        "b0(v0: int, v1: int):
    jump b1(3, v0)
b1(v2: int, v3: int):
    v4 = int_le v3, v1
    branch v4, b4(v2, 5), b2
b2:
    v5 = int_mul v2, v3
    v6 = int_sub v3, 7
    v7 = int_and v6, 64
    branch v7, b3, b1(v5, v6)
b3:
    v8 = int_add v5, v2
    jump b4(v8, v6)
b4(v9: int, v10: int):
    v11 = int_xor v9, v10
    return v11",
    ),
    (
        "by what never changes",
        true,
        "b0(v0: int, v1: int):
    jump b1(v1, v0)
b1(v2: int, v3: int):
    branch v3, b2, b3
b2:
    v4 = int_mul v2, v1
    v5 = int_rshift v3, 1
    jump b1(v4, v5)
b3:
    return v2",
    ),
    (
        "the product of the last round is looked at in the loop",
        false,
        "b0(v0: int, v1: int):
    jump b1(1, v0, v1)
b1(v2: int, v3: int, v7: int):
    branch v3, b3, b2
b2:
    v8 = int_sub v2, v7
    return v8
b3:
    v4 = int_xor v7, v2
    v5 = int_mul v2, v1
    v6 = int_rshift v3, 1
    jump b1(v5, v6, v4)",
    ),
    (
        "what it is multiplied by is made of it",
        false,
        "b0(v0: int, v1: int):
    jump b1(3, v0)
b1(v2: int, v3: int):
    branch v3, b3, b2
b2:
    return v2
b3:
    v4 = int_add v2, v1
    v5 = int_mul v2, v4
    v6 = int_rshift v3, 1
    jump b1(v5, v6)",
    ),
    (
        "handed over twice",
        false,
        "b0(v0: int, v1: int):
    jump b1(1, 2, v0)
b1(v2: int, v7: int, v3: int):
    branch v3, b3, b2
b2:
    v8 = int_sub v7, v2
    return v8
b3:
    v5 = int_mul v2, v1
    v6 = int_rshift v3, 1
    jump b1(v5, v2, v6)",
    ),
    (
        "used far behind",
        false,
        "b0(v0: int, v1: int):
    jump b1(1, v0)
b1(v2: int, v3: int):
    branch v3, b3, b2
b2:
    branch v1, b4, b5
b3:
    v5 = int_mul v2, v1
    v6 = int_rshift v3, 1
    jump b1(v5, v6)
b4:
    jump b5
b5:
    return v2",
    ),
    (
        "much else is done",
        false,
        "b0(v0: int, v1: int):
    jump b1(1, v0)
b1(v2: int, v3: int):
    branch v3, b3, b2
b2:
    return v2
b3:
    v4 = int_xor v3, v1
    v7 = int_add v4, v3
    v8 = int_xor v7, 17
    v9 = int_sub v8, v3
    v10 = int_or v9, 1
    v5 = int_mul v2, v10
    v6 = int_rshift v3, 1
    jump b1(v5, v6)",
    ),
    (
        "squared",
        false,
        "b0(v0: int, v1: int):
    jump b1(v1, v0)
b1(v2: int, v3: int):
    branch v3, b3, b2
b2:
    return v2
b3:
    v5 = int_mul v2, v2
    v6 = int_rshift v3, 1
    jump b1(v5, v6)",
    ),
];

/// How many times machine code multiplies.
fn products(asm: &str) -> usize {
    asm.matches("imul").count()
}

#[test]
fn rounds_are_paired() {
    for (what, paired, blocks) in LOOPS {
        let mut module =
            parse_module(&format!("module flow\ngraph f(n: int, m: int) -> int {{\n{blocks}\n}}\n")).unwrap();
        module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
        let mut memory = Memory::for_module(&module);
        for opt_level in [OptLevel::Quick, OptLevel::None, OptLevel::Speed] {
            let mut engine = Engine::new(Options { keep_text: true, opt_level, ..Options::default() }).unwrap();
            engine.compile(&module, &memory).unwrap();
            for (n, m) in (0..12).flat_map(|n| (-3..9).map(move |m| (n, m))).chain([(1 << 20, 3), (77, -5), (1000, 40)])
            {
                let words = [n as u64, m as u64];
                let wanted = match Evaluator::new(&module, &mut memory).call("f", &words) {
                    Ok(Outcome::Returned(words)) => words,
                    other => panic!("{what}: {other:?}"),
                };
                assert_eq!(returned(engine.call("f", &words)), wanted, "{what}: f({n}, {m})");
            }
            if Machine::host() == Some(Machine::X86_64) {
                let asm = engine.asm("f").expect("its text");
                assert_eq!(products(asm) > 1, paired, "{what}: {asm}");
            }
        }
    }
}

/// Four rounds wait for one product, and count by the steps of all four at once.
#[test]
fn four_rounds_are_one() {
    if Machine::host() != Some(Machine::X86_64) {
        return;
    }
    let text = "module flow\ngraph f(n: int) -> int {\nb0(v0: int):\n    jump b1(1, v0)\nb1(v2: int, v3: int):\n    \
                v4 = int_le v3, 1\n    branch v4, b2, b3\nb2:\n    return v2\nb3:\n    v5 = int_mul v2, v3\n    \
                v6 = int_sub v3, 1\n    jump b1(v5, v6)\n}\n";
    let mut module = parse_module(text).unwrap();
    module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
    let memory = Memory::for_module(&module);
    let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    let factorial = |n: u64| (1..=n).fold(1u64, u64::wrapping_mul);
    for n in 0..40 {
        assert_eq!(returned(engine.call("f", &[n])), [factorial(n)], "{n}");
    }
    let asm = engine.asm("f").expect("its text");
    // Four in the loop, and one on each of three ways out of its midst.
    assert_eq!(products(asm), 7, "{asm}");
    assert!(asm.contains("subq $0x4") && asm.contains("leaq -3("), "{asm}");
}

/// A loop over a counter that carries a product and something else, is left at one or two places, and hands over
/// whatever it has.
fn random(numbers: &mut Random) -> String {
    let pick = |numbers: &mut Random, from: &[&str]| from[numbers.below(from.len())].to_owned();
    let early = ["v3", "v4", "v5", "v1", "7"];
    let late = ["v3", "v4", "v5", "v8", "v9", "v1", "3"];
    let op = pick(numbers, &["int_add", "int_xor", "int_sub", "int_and"]);
    let by = pick(numbers, &["v4", "v5", "v8", "v1", "v0", "5"]);
    let first: Vec<String> = (0..2).map(|_| pick(numbers, &early)).collect();
    let second: Vec<String> = (0..2).map(|_| pick(numbers, &late)).collect();
    let other = pick(numbers, &["v4", "v5", "v8", "v1"]);
    let stop = numbers.below(12);
    let test = match numbers.below(2) {
        0 => format!("branch v10, b4({}, {}), b1(v9, v11, {other})", second[0], second[1]),
        _ => format!("branch v10, b3, b1(v9, v11, {other})"),
    };
    format!(
        "module flow
graph f(n: int, m: int) -> int {{
b0(v0: int, v1: int):
    jump b1({start}, v0, 9)
b1(v3: int, v4: int, v5: int):
    v7 = int_le v4, 0
    branch v7, b4({}, {}), b2
b2:
    v8 = {op} v5, v4
    v9 = int_mul v3, {by}
    v10 = int_eq v4, {stop}
    v11 = int_sub v4, 1
    {test}
b3:
    v20 = int_add {}, {}
    jump b4(v20, v9)
b4(v30: int, v31: int):
    v32 = int_mul v31, 31
    v33 = int_add v30, v32
    return v33
}}
",
        first[0],
        first[1],
        second[0],
        second[1],
        start = pick(numbers, &["1", "v1", "v0"]),
    )
}

#[test]
fn random_loops_give_the_same() {
    let (mut numbers, cases) = common::random(7, 300);
    let mut paired = 0;
    for case in 0..cases {
        let text = random(&mut numbers);
        // A block that nothing leads to is no graph.
        let text = if text.contains("b3, b1") { text } else { without_block(&text, "b3:") };
        let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
        let mut memory = Memory::for_module(&module);
        let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
        engine.compile(&module, &memory).unwrap();
        for n in 0..14u64 {
            let words = [n, (numbers.below(1 << 40) as u64).wrapping_sub(1 << 39)];
            let wanted = match Evaluator::new(&module, &mut memory).call("f", &words) {
                Ok(Outcome::Returned(words)) => words,
                other => panic!("{other:?}\n{text}"),
            };
            assert_eq!(returned(engine.call("f", &words)), wanted, "case {case}: f{words:?}\n{text}");
        }
        // The product behind the loop by 31 is none.
        paired += usize::from(engine.asm("f").is_some_and(|asm| products(asm) > 1));
    }
    if Machine::host() == Some(Machine::X86_64) {
        assert!(paired * 4 > cases, "{paired} of {cases} are paired");
    }
}

/// A graph's text without the block that begins so, and with the last one in its place.
fn without_block(text: &str, begin: &str) -> String {
    let mut inside = false;
    let kept = text.lines().filter(|line| {
        inside = if *line == begin { true } else { inside && line.starts_with(' ') };
        !inside
    });
    kept.collect::<Vec<_>>().join("\n").replace("b4(", "b3(") + "\n"
}
