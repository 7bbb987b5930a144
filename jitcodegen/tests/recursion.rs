//! Functions that call themselves: what several levels of them give as one.
#![allow(missing_docs)]

mod common;

use common::{function, gives_what_it_should};
use flowgraph::ir::TrapKind;
use flowgraph::testing::Random;
use jitcodegen::{Engine, OptLevel, Options, Outcome};

/// Functions, and how many calls are left of theirs.
const FUNCTIONS: [(&str, usize, &str); 8] = [
    (
        "two calls, whose results are added: four levels go into one",
        32,
        "b0(v0: int, v1: int):
    v2 = int_lt v0, 2
    branch v2, b2(v0), b1
b1:
    v3 = int_sub v0, 1
    v4: int = call f(v3, v1)
    v5 = int_sub v0, 2
    v6: int = call f(v5, v1)
    v7 = int_add v4, v6
    jump b2(v7)
b2(v8: int):
    return v8",
    ),
    (
        "one call, behind which the parameters are used",
        1,
        "b0(v0: int, v1: int):
    v2 = int_le v0, 0
    branch v2, b2, b1
b1:
    v3 = int_sub v0, 1
    v4 = int_xor v1, v0
    v5: int = call f(v3, v4)
    v6 = int_mul v5, v1
    v7 = int_sub v6, v0
    return v7
b2:
    return v1",
    ),
    (
        "what one gives is what the next is called with",
        27,
        "b0(v0: int, v1: int):
    v2 = int_le v0, 0
    branch v2, b2, b1
b1:
    v3 = int_sub v0, 1
    v4: int = call f(v3, v1)
    v5: int = call f(v3, v4)
    v6: int = call f(v3, v5)
    return v6
b2:
    v7 = int_add v1, 1
    return v7",
    ),
    (
        "called on one of two ways that meet, and in a loop",
        32,
        "b0(v0: int, v1: int):
    v2 = int_gt v0, 0
    branch v2, b1(v0, 0), b4
b1(v3: int, v4: int):
    v5 = int_sub v3, 3
    v6: int = call f(v5, v4)
    v7 = int_and v6, 1
    branch v7, b2, b3(v6)
b2:
    v8: int = call f(v5, v6)
    jump b3(v8)
b3(v9: int):
    v10 = int_gt v5, 0
    v11 = int_add v4, v9
    branch v10, b1(v5, v11), b5(v11)
b4:
    jump b5(v1)
b5(v12: int):
    return v12",
    ),
    (
        "it traps on the way back",
        1,
        "b0(v0: int, v1: int):
    v2 = int_le v0, 0
    branch v2, b3, b1
b1:
    v3 = int_sub v0, 1
    v4: int = call f(v3, v1)
    v5 = int_sub v4, v0
    branch v5, b2, b4
b2:
    return v5
b3:
    return v1
b4:
    trap index_out_of_bounds(v4: usize, v0: usize)",
    ),
    (
        "what is called with is what was, in another order; the result isn't looked at",
        32,
        "b0(v0: int, v1: int):
    v2 = int_le v0, 0
    branch v2, b2, b1
b1:
    v3 = int_sub v0, 1
    v4: int = call f(v1, v3)
    return v4
b2:
    v5 = int_gt v1, 7
    branch v5, b3, b4
b3:
    v6 = int_sub v1, 9
    v7: int = call f(v6, 1)
    return v1
b4:
    return v0",
    ),
    (
        "nothing but a call",
        1,
        "b0(v0: int, v1: int):
    branch v0, b1, b2
b1:
    v2: int = call f(0, v1)
    return v2
b2:
    return v1",
    ),
    (
        "it has a place on the stack",
        1,
        "b0(v0: int, v1: int):
    v2 = stack_slot {size 8 place}
    v3 = int_le v0, 0
    branch v3, b2, b1
b1:
    v4 = int_sub v0, 1
    v5: int = call f(v4, v1)
    return v5
b2:
    return v1",
    ),
];

/// Calls of its own in a function's text.
fn calls(text: &str) -> usize {
    text.matches("call fn").count()
}

#[test]
fn levels_of_a_recursion_are_one() {
    for (what, left, blocks) in FUNCTIONS {
        for opt_level in [OptLevel::Quick, OptLevel::None, OptLevel::Speed] {
            // From no level to some that begin a function once more.
            let all = (-2..13).flat_map(|n| [-7, 0, 1, 5, 12, 20].map(|m| (n, m)));
            let engine = gives_what_it_should(blocks, opt_level, all);
            let clif = engine.clif("f").expect("its text");
            assert_eq!(calls(&clif), left, "{what}: {clif}");
        }
    }
}

/// A function with a call of its own and so many ops besides.
fn with_ops(ops: usize) -> String {
    let mut text = "b0(v0: int, v1: int):\n    v2 = int_le v0, 0\n    branch v2, b2, b1\nb1:\n".to_owned();
    text.push_str("    v3 = int_sub v0, 1\n    v4 = int_xor v1, v0\n");
    (5..2 + ops).for_each(|n| text.push_str(&format!("    v{n} = int_add v{}, v3\n", n - 1)));
    let (last, result) = (1 + ops, 2 + ops);
    text + &format!("    v{result}: int = call f(v3, v{last})\n    return v{result}\nb2:\n    return v1")
}

/// What is large stays as it is: a call takes little of its time, and the code would be larger still.
#[test]
fn what_is_large_stays_a_call() {
    let levels = |ops: usize| {
        let text = with_ops(ops);
        let engine = gives_what_it_should(&text, OptLevel::Quick, (-1..12).map(|n| (n, 3)));
        let clif = engine.clif("f").expect("its text");
        clif.matches("icmp sle").count()
    };
    assert_eq!([43, 44, 54, 55, 109, 110].map(levels), [5, 4, 4, 3, 2, 1]);
}

#[test]
fn without_end_the_stack_is_exhausted() {
    let blocks = "b0(v0: int, v1: int):
    v2 = int_add v0, 1
    v3: int = call f(v2, v1)
    v4 = int_add v3, v0
    return v4";
    let (module, memory) = function(blocks);
    let mut engine = Engine::new(Options::default()).expect("an engine");
    engine.compile(&module, &memory).expect("compiled");
    let Ok(Outcome::Trapped(report)) = engine.call("f", &[0, 0]) else { panic!("it ends") };
    assert_eq!(report.kind, TrapKind::StackExhausted);
}

/// A function that calls itself up to three times, in one or the other arm, with a smaller number each time.
fn random(numbers: &mut Random) -> String {
    let mut pick = |from: &[&str]| from[numbers.below(from.len())].to_owned();
    let ops = ["int_add", "int_xor", "int_sub", "int_and", "int_mul", "int_or"];
    let mut known = vec!["v0".to_owned(), "v1".to_owned(), "3".to_owned()];
    let mut next = 10;
    let mut arm = |pick: &mut dyn FnMut(&[&str]) -> String, calls: usize, known: &[String]| {
        let mut known = known.to_vec();
        let mut text = String::new();
        let any = |pick: &mut dyn FnMut(&[&str]) -> String, known: &[String]| {
            pick(&known.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for number in 0..2 * calls + 1 {
            let (one, two) = (any(pick, &known), any(pick, &known));
            if number % 2 == 1 {
                let by = pick(&["1", "2", "3"]);
                text.push_str(&format!("    v{next} = int_sub v0, {by}\n"));
                text.push_str(&format!("    v{}: int = call f(v{next}, {one})\n", next + 1));
                next += 1;
            } else {
                text.push_str(&format!("    v{next} = {} {one}, {two}\n", pick(&ops)));
            }
            known.push(format!("v{next}"));
            next += 1;
        }
        (text, any(pick, &known), any(pick, &known))
    };
    let (many, few) = (pick(&["1", "2", "3"]), pick(&["0", "1"]));
    let count = |text: &str| text.parse().unwrap_or(1);
    let (one, a, b) = arm(&mut pick, count(&many), &known);
    let (two, c, d) = arm(&mut pick, count(&few), &known);
    known.truncate(2);
    let odd = pick(&["1", "2", "4"]);
    format!(
        "b0(v0: int, v1: int):
    v2 = int_le v0, 0
    branch v2, b4(v1, v0), b1
b1:
    v3 = int_and v1, {odd}
    branch v3, b2, b3
b2:
{one}    jump b4({a}, {b})
b3:
{two}    jump b4({c}, {d})
b4(v4: int, v5: int):
    v6 = int_mul v4, 31
    v7 = int_add v6, v5
    v8 = int_eq v7, 1234
    branch v8, b5, b6
b5:
    trap index_out_of_bounds(v4: usize, v5: usize)
b6:
    return v7"
    )
}

#[test]
fn random_recursions_give_the_same() {
    let (mut numbers, cases) = common::random(5, 25);
    for _ in 0..cases {
        let text = random(&mut numbers);
        let many: Vec<(i64, i64)> = (0..7).map(|n| (n, numbers.below(1 << 40) as i64 - (1 << 39))).collect();
        let engine = gives_what_it_should(&text, OptLevel::Quick, many.into_iter());
        assert!(calls(&engine.clif("f").unwrap_or_default()) >= 1, "{text}");
    }
}
