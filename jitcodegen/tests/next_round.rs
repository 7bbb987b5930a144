//! Loops that move on before they look whether to stop, of which is used behind where the last round began: it is
//! counted from where the next one would, and is the same.
#![allow(missing_docs)]

mod common;

use common::{function, gives_what_it_should, returned};
use flowgraph::testing::Random;
use jitcodegen::{Engine, Machine, OptLevel, Options};

/// Loops over the numbers `v0`, `v0 + 9`, … up to one whose product with itself has the low bits of `v1`.
const LOOP: &str = "b0(v0: int, v1: int):
    jump b1(v0, 0)
b1(v2: int, v3: int):
    v4 = int_add v2, STEP
    v5 = int_mul v4, v4
    v6 = int_xor v5, v1
    v7 = int_and v6, 15
    v8 = int_add v3, 1
    v9 = int_lt v8, 50
    v10 = int_and v7, v9
    branch v10, b1(v4, v8), ";

/// What is behind.
const BEHIND: [(&str, &str); 8] = [
    ("a sum", "b2\nb2:\n    v11 = int_add v2, 10\n    return v11"),
    (
        "a difference that is the next value, and whether it is a number",
        "b2\nb2:\n    v11 = int_sub v2, -9\n    v12 = int_eq v2, 40\n    v13 = int_add v11, v12\n    return v13",
    ),
    (
        "anything, in two blocks and behind them",
        "b2\nb2:\n    v11 = int_mul v2, 3\n    branch v3, b3, b4(v11)\nb3:\n    v12 = int_xor v2, v4\n    jump b4(v12)\nb4(v13: int):\n    v14 = int_add v13, v2\n    return v14",
    ),
    (
        "a way out that hands it over, and another one that does not",
        "b2(v2, v3)\nb2(v11: int, v12: int):\n    v13 = int_add v11, v12\n    return v13",
    ),
    (
        "a loop behind the loop",
        "b2\nb2:\n    v11 = int_and v2, 7\n    jump b3(v11)\nb3(v12: int):\n    v13 = int_sub v12, 1\n    v14 = int_gt v13, 0\n    branch v14, b3(v13), b4\nb4:\n    v15 = int_mul v12, v2\n    return v15",
    ),
    ("whoever returns it", "b2\nb2:\n    return v2"),
    ("a trap", "b2\nb2:\n    trap index_out_of_bounds(v4: usize, v2: usize)"),
    (
        "a way back into the same loop",
        "b2\nb2:\n    v11 = int_mul v2, 5\n    v12 = int_and v11, 63\n    v13 = int_add v3, 20\n    v14 = int_lt v13, 99\n    branch v14, b1(v12, v13), b3\nb3:\n    return v12",
    ),
];

#[test]
fn what_is_used_behind_a_loop_is_the_same() {
    for step in ["9", "-9", "1", &i64::MIN.to_string(), &(1i64 << 40).to_string()] {
        for (what, behind) in BEHIND {
            let blocks = format!("{LOOP}{behind}").replace("STEP", step);
            for opt_level in [OptLevel::Quick, OptLevel::None, OptLevel::Speed] {
                let all = (-3..9).flat_map(|n| (0..16).map(move |m| (n * 1001, m)));
                println!("{what} by {step}");
                gives_what_it_should(&blocks, opt_level, all);
            }
        }
    }
}

/// A loop that looks for a number that isn't 0, and is left with where it began: no round copies a register.
#[test]
fn a_round_that_moves_on_copies_nothing() {
    if Machine::host() != Some(Machine::X86_64) {
        println!("skipped: the machine code looked at is that of x86-64");
        return;
    }
    let scan = "b0(v0: int, v1: int):
    jump b1(v0)
b1(v2: int):
    v4 = int_add v2, 9
    v5 = int_and v4, 1024
    branch v5, b2, b1(v4)
b2:
    v6 = int_mul v2, 3
    return v6";
    let (module, memory) = function(scan);
    let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    assert_eq!(returned(engine.call("f", &[3, 0])), [3 * 1020]);
    let asm = engine.asm("f").expect("its text");
    let round = asm.split("\nblock").find(|block| block.contains("subq") || block.contains("addq")).expect("a round");
    assert!(!round.contains("movq %r"), "{round}\n{asm}");
}

/// A loop of two numbers that move on by constants, left at two places, with whatever it has, used and handed over in
/// blocks behind.
fn random(numbers: &mut Random) -> String {
    let mut pick = |from: &[&str]| from[numbers.below(from.len())].to_owned();
    let steps = ["1", "9", "-9", "0", "4611686018427387904", "-9223372036854775808"];
    let all = ["v2", "v3", "v5", "v6", "v7", "v2", "v3"];
    let early = ["v2", "v3", "v5", "v0", "v1"];
    let ops = ["int_add", "int_sub", "int_xor", "int_eq", "int_mul", "int_ne", "int_lt"];
    let behind = |result: &str, pick: &mut dyn FnMut(&[&str]) -> String| {
        let op = pick(&ops);
        let second = pick(&["v2", "v3", "v6", "9", "-9", "10", "1", "-9223372036854775808"]);
        format!("    {result} = {op} {}, {second}\n", pick(&all))
    };
    let ops_behind: Vec<String> = ["v20", "v21", "v22", "v23"].iter().map(|result| behind(result, &mut pick)).collect();
    let first = match pick(&["handed", "not"]).as_str() {
        "handed" => format!("b6({}, {})", pick(&early), pick(&early)),
        _ => "b6(v0, v1)".to_owned(),
    };
    let again = pick(&["b6(v20, v22)", "b6(v2, v20)", "b6(v20, v3)"]);
    let inside = pick(&["v5", "v6", "v2", "v3"]);
    let back = pick(&["b1(v5, v6, v7)", "b1(v5, v6, v7)", "b1(v6, v5, v7)"]);
    format!(
        "b0(v0: int, v1: int):
    jump b1(v0, v1, 0)
b1(v2: int, v3: int, v4: int):
    v7 = int_add v4, 1
    v5 = int_add v2, {}
    v8 = int_eq v7, {}
    branch v8, {first}, b2
b2:
    v6 = int_sub v3, {}
    v9 = int_mul {inside}, 31
    v10 = int_and v9, {}
    branch v10, {back}, b3
b3:
{}    branch v20, b4, b5
b4:
{}{}    jump {again}
b5:
{}    v24 = int_add v23, v20
    jump b6(v24, v2)
b6(v30: int, v31: int):
    v32 = int_mul v31, 31
    v33 = int_add v30, v32
    return v33",
        pick(&steps),
        pick(&["1", "3", "8"]),
        pick(&steps),
        pick(&["7", "12", "1", "56"]),
        ops_behind[0],
        ops_behind[1],
        ops_behind[2],
        ops_behind[3],
    )
}

#[test]
fn random_loops_give_the_same() {
    let (mut numbers, cases) = common::random(5, 400);
    for _ in 0..cases {
        let text = random(&mut numbers);
        let many = (0..14).map(|n| (n * 7 - 20, numbers.below(1 << 40) as i64 - (1 << 39))).collect::<Vec<_>>();
        gives_what_it_should(&text, OptLevel::Quick, many.into_iter());
    }
}
