//! Loops whose values move up round by round: two rounds are done as one, and each that is left in between gives what
//! it would have.
#![allow(missing_docs)]

mod common;

use common::{function, gives_what_it_should};
use flowgraph::testing::Random;
use jitcodegen::{Engine, Machine, OptLevel, Options};

/// Loops, and whether two rounds of them become one.
const LOOPS: [(&str, bool, &str); 7] = [
    (
        "one block, whose sum is used behind without being handed over",
        true,
        "b0(v0: int, v1: int):
    jump b1(v1, 1, v0)
b1(v2: int, v3: int, v4: int):
    v5 = int_add v2, v3
    v6 = int_sub v4, 1
    v7 = int_gt v6, 0
    branch v7, b1(v3, v5, v6), b2
b2:
    v8 = int_xor v5, v2
    return v8",
    ),
    (
        "left at the head, and in the midst, behind which ways meet",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, 0, v1)
b1(v2: int, v3: int, v4: int):
    v5 = int_le v2, 0
    branch v5, b4(v3), b2
b2:
    v6 = int_add v3, v4
    v7 = int_eq v6, 610
    branch v7, b4(v6), b3
b3:
    v8 = int_sub v2, 1
    jump b1(v8, v4, v6)
b4(v9: int):
    v10 = int_add v9, 3
    return v10",
    ),
    (
        "three that move up, one behind the other",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, 1, v1, 3)
b1(v2: int, v3: int, v4: int, v5: int):
    branch v2, b2, b3
b2:
    v6 = int_xor v3, v5
    v7 = int_rshift v2, 1
    jump b1(v7, v4, v5, v6)
b3:
    v8 = int_sub v3, v4
    v9 = int_add v8, v5
    return v9",
    ),
    (
        "two that change places",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, v1, 5)
b1(v2: int, v3: int, v4: int):
    v5 = int_rshift v2, 1
    branch v5, b1(v5, v4, v3), b2
b2:
    return v3",
    ),
    (
        "nothing moves up",
        false,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_rshift v2, 1
    v5 = int_add v3, v2
    branch v4, b1(v4, v5), b2
b2:
    return v5",
    ),
    (
        "much else is done",
        false,
        "b0(v0: int, v1: int):
    jump b1(v0, v1, 5)
b1(v2: int, v3: int, v4: int):
    v5 = int_rshift v2, 1
    v6 = int_add v4, v3
    v7 = int_xor v6, v3
    v8 = int_or v7, v4
    v9 = int_sub v8, v3
    v10 = int_and v9, v8
    v11 = int_xor v10, v9
    branch v5, b1(v5, v4, v11), b2
b2:
    return v3",
    ),
    (
        "a block behind what is behind the loop uses the sum",
        false,
        "b0(v0: int, v1: int):
    jump b1(v1, 1, v0)
b1(v2: int, v3: int, v4: int):
    v5 = int_add v2, v3
    v6 = int_rshift v4, 1
    branch v6, b1(v3, v5, v6), b2
b2:
    branch v1, b3, b4
b3:
    return v5
b4:
    return v2",
    ),
];

/// How often branches of machine code test.
fn tests(clif: &str) -> usize {
    clif.matches("brif").count()
}

#[test]
fn rounds_in_which_values_move_up_are_two() {
    for (what, unrolled, blocks) in LOOPS {
        for opt_level in [OptLevel::Quick, OptLevel::None, OptLevel::Speed] {
            let all = (0..12).flat_map(|n| (-3..9).map(move |m| (n, m))).chain([(1000, 40), (77, -5)]);
            let engine = gives_what_it_should(blocks, opt_level, all);
            let clif = engine.clif("f").expect("its text");
            let written = blocks.matches("branch").count();
            // Behind the loop there may be one more, which isn't there twice.
            assert_eq!(tests(&clif) > written, unrolled, "{what}: {clif}");
        }
    }
}

/// Fibonacci's numbers: no round copies a register.
#[test]
fn what_moves_up_is_not_copied() {
    if Machine::host() != Some(Machine::X86_64) {
        println!("skipped: the machine code looked at is that of x86-64");
        return;
    }
    let (module, memory) = function(LOOPS[0].2);
    let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    let asm = engine.asm("f").expect("its text");
    let sums: Vec<&str> = asm.split("\nblock").filter(|block| block.contains("leaq (")).collect();
    assert_eq!(sums.len(), 2, "{asm}");
    for block in sums {
        assert!(!block.contains("movq %r"), "{block}\n{asm}");
    }
    // The second round counts from where the first one began, not from what that has counted.
    assert!(asm.contains("subq $0x2") && !asm.contains("$0xffffffffffffffff"), "{asm}");
}

/// A loop of a counter and three values, of which some move up, that is left at one or two places with whatever it has.
fn random(numbers: &mut Random) -> String {
    let mut pick = |from: &[&str]| from[numbers.below(from.len())].to_owned();
    let head = ["v3", "v4", "v5", "v1", "7"];
    let all = ["v3", "v4", "v5", "v8", "v9", "v10", "v0"];
    let op = |pick: &mut dyn FnMut(&[&str]) -> String| pick(&["int_add", "int_xor", "int_sub", "int_and"]);
    let (one, two) = (op(&mut pick), op(&mut pick));
    let rest: Vec<String> = (0..3).map(|_| pick(&all)).collect();
    let out: Vec<String> = (0..4).map(|_| pick(&all)).collect();
    let (first, second) = (pick(&head), pick(&head));
    let back = format!("b1(v10, {})", rest.join(", "));
    let test = match pick(&["handed", "used"]).as_str() {
        "handed" => format!("branch v11, b4({}, {}), {back}\n", out[0], out[1]),
        _ => format!(
            "branch v11, b3, {back}\nb3:\n    v20 = int_add {}, {}\n    jump b4(v20, {})\n",
            out[2], out[3], out[1]
        ),
    };
    format!(
        "b0(v0: int, v1: int):
    jump b1(v0, 9, v1, v0)
b1(v2: int, v3: int, v4: int, v5: int):
    v7 = int_le v2, 0
    branch v7, b4({first}, {second}), b2
b2:
    v8 = {one} {}, {}
    v9 = {two} v8, {}
    v10 = int_sub v2, 1
    v11 = int_eq v10, {}
    {test}b4(v30: int, v31: int):
    v32 = int_mul v31, 31
    v33 = int_add v30, v32
    return v33",
        pick(&head),
        pick(&head),
        pick(&head),
        pick(&["0", "1", "2", "3", "6", "7"]),
    )
}

#[test]
fn random_loops_give_the_same() {
    let (mut numbers, cases) = common::random(11, 300);
    let mut unrolled = 0;
    for _ in 0..cases {
        let text = random(&mut numbers);
        // Blocks are numbered without gaps.
        let text = if text.contains("b3:") { text } else { text.replace("b4(", "b3(") };
        let many = (0..14).map(|n| (n, numbers.below(1 << 40) as i64 - (1 << 39))).collect::<Vec<_>>();
        let engine = gives_what_it_should(&text, OptLevel::Quick, many.into_iter());
        unrolled += usize::from(tests(&engine.clif("f").unwrap_or_default()) > 2);
    }
    assert!(unrolled * 2 > cases && unrolled < cases, "{unrolled} of {cases} loops have two rounds for one");
}
