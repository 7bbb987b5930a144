//! Small loops that are tested at their heads: the test is made behind each round, and no jump leads back.
#![allow(missing_docs)]

mod common;

use common::gives_what_it_should;
use flowgraph::testing::Random;
use jitcodegen::OptLevel;

/// Loops, and whether they are tested behind their rounds.
const LOOPS: [(&str, bool, &str); 8] = [
    (
        "values of the head are used in the loop and behind it, by no more than their names",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_gt v2, 0
    branch v4, b2, b3
b2:
    v5 = int_sub v2, 2
    v6 = int_xor v3, v2
    v7 = int_add v6, v4
    jump b1(v5, v7)
b3:
    v8 = int_sub v3, v2
    return v8",
    ),
    (
        "left where the condition holds, and handed over",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_le v2, 0
    branch v4, b3(v3, v2), b2(v2)
b2(v5: int):
    v6 = int_sub v5, 1
    v7 = int_mul v3, 3
    jump b1(v6, v7)
b3(v8: int, v9: int):
    v10 = int_add v8, v9
    return v10",
    ),
    (
        "left in the midst, to where the head leads as well, and by its names",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_gt v2, 0
    branch v4, b2, b4
b2:
    v5 = int_and v3, 7
    branch v5, b3, b4
b3:
    v6 = int_sub v2, 1
    v7 = int_sub v3, v2
    jump b1(v6, v7)
b4:
    v8 = int_add v2, v3
    return v8",
    ),
    (
        "an arm in the loop, and the test computes",
        true,
        "b0(v0: int, v1: int):
    jump b1(1, v1)
b1(v2: int, v3: int):
    v4 = int_mul v2, v2
    v5 = int_le v4, v0
    branch v5, b2, b5
b2:
    v6 = int_and v2, 1
    branch v6, b3, b4(v3)
b3:
    v7 = int_mul v3, v4
    jump b4(v7)
b4(v8: int):
    v9 = int_add v2, 1
    jump b1(v9, v8)
b5:
    v10 = int_add v3, v4
    return v10",
    ),
    (
        "one in another: the inner one",
        true,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_gt v2, 0
    branch v4, b2, b5
b2:
    jump b3(v2, v3)
b3(v5: int, v6: int):
    v7 = int_gt v5, 1
    branch v7, b4, b6
b4:
    v8 = int_sub v5, 3
    v9 = int_add v6, v2
    jump b3(v8, v9)
b5:
    return v3
b6:
    v10 = int_sub v2, 1
    jump b1(v10, v6)",
    ),
    (
        "what both ways lead to uses a value of the head: its name is all there is",
        false,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_gt v2, 0
    branch v4, b2, b4(5)
b2:
    v5 = int_and v3, 7
    branch v5, b3, b5
b3:
    v6 = int_sub v2, 1
    v7 = int_sub v3, v2
    jump b1(v6, v7)
b4(v8: int):
    jump b6(v8)
b5:
    jump b6(7)
b6(v9: int):
    v10 = int_add v2, v9
    return v10",
    ),
    (
        "much is done before the test",
        false,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_xor v3, v2
    v5 = int_add v4, 5
    v6 = int_xor v5, v3
    v7 = int_sub v6, 9
    v8 = int_gt v2, 0
    branch v8, b2, b3
b2:
    v9 = int_sub v2, 1
    jump b1(v9, v7)
b3:
    return v7",
    ),
    (
        "two ways lead back",
        false,
        "b0(v0: int, v1: int):
    jump b1(v0, v1)
b1(v2: int, v3: int):
    v4 = int_gt v2, 0
    branch v4, b2, b5
b2:
    v5 = int_and v3, 1
    v6 = int_sub v2, 1
    branch v5, b3, b4
b3:
    v7 = int_mul v3, 5
    jump b1(v6, v7)
b4:
    v8 = int_xor v3, v2
    v9 = int_rshift v8, v0
    jump b1(v6, v9)
b5:
    return v3",
    ),
];

/// How many jumps lead back: to a block that stands before them.
fn jumps_back(clif: &str) -> usize {
    let mut seen: Vec<&str> = Vec::new();
    let mut back = 0;
    for line in clif.lines().map(str::trim) {
        if line.starts_with("block") && line.contains(':') {
            seen.extend(line.split(['(', ':', ' ']).next());
        } else if let Some(to) = line.strip_prefix("jump ") {
            back += usize::from(to.split(['(', ' ']).next().is_some_and(|to| seen.contains(&to)));
        }
    }
    back
}

#[test]
fn small_loops_are_tested_behind_each_round() {
    for (what, inverted, blocks) in LOOPS {
        for opt_level in [OptLevel::Quick, OptLevel::None, OptLevel::Speed] {
            let all = (-2..9).flat_map(|n| (-3..9).map(move |m| (n, m))).chain([(1000, 40), (77, -5)]);
            let engine = gives_what_it_should(blocks, opt_level, all);
            let clif = engine.clif("f").expect("its text");
            let outer = usize::from(what.starts_with("one in another"));
            assert_eq!(jumps_back(&clif) == outer, inverted, "{what}: {clif}");
        }
    }
}

/// Loops of a counter and two values that are left at their head, and perhaps in the midst, with whatever they have.
fn random(numbers: &mut Random) -> String {
    let mut pick = |from: &[&str]| from[numbers.below(from.len())].to_owned();
    let ops = ["int_add", "int_xor", "int_sub", "int_and", "int_mul"];
    let head = ["v2", "v3", "v4", "v5", "v6", "v0", "5"];
    let inner = ["v2", "v3", "v4", "v5", "v6", "v7", "v8", "v1", "3"];
    let test = format!(
        "    v5 = {} {}, {}\n    v6 = int_gt v2, {}\n",
        pick(&ops),
        pick(&head[..3]),
        pick(&["v4", "v1", "2"]),
        pick(&["0", "1", "2"])
    );
    let stays_first = pick(&["yes", "no"]) == "yes";
    let sides = if stays_first { "b2, b5(v3)" } else { "b5(v3), b2" };
    let test = if stays_first { test } else { test.replace("int_gt", "int_le") };
    let midst = match pick(&["none", "same", "other"]).as_str() {
        "none" => format!("    jump b3({})\n", pick(&inner[..5])),
        "same" => format!("    branch v8, b3({}), b5({})\n", pick(&inner), pick(&inner)),
        _ => format!("    branch v8, b3({}), b4\n", pick(&inner)),
    };
    format!(
        "b0(v0: int, v1: int):
    jump b1(v0, v1, 9)
b1(v2: int, v3: int, v4: int):
{test}    branch v6, {sides}
b2:
    v7 = {} {}, {}
    v8 = int_and v7, {}
{midst}b3(v9: int):
    v10 = int_sub v2, {}
    jump b1(v10, {}, {})
b4:
    v11 = {} {}, {}
    return v11
b5(v12: int):
    v13 = {} v12, {}
    return v13",
        pick(&ops),
        pick(&inner[..5]),
        pick(&inner[..5]),
        pick(&["1", "3", "7"]),
        pick(&["1", "2"]),
        pick(&["v3", "v4", "v5", "v7", "v9", "v8"]),
        pick(&["v3", "v4", "v5", "v7", "v9", "v0"]),
        pick(&ops),
        pick(&inner),
        pick(&inner),
        pick(&ops),
        pick(&["v2", "v3", "v4", "v5", "v1", "v6"]),
    )
}

#[test]
fn random_loops_give_the_same() {
    let (mut numbers, cases) = common::random(11, 300);
    let mut inverted = 0;
    for _ in 0..cases {
        let mut text = random(&mut numbers);
        if !text.contains("), b4\n") {
            // Nothing leads there.
            let (before, behind) = text.split_once("b4:").expect("it is there");
            let (_, behind) = behind.split_once("b5(").expect("it is there");
            text = format!("{before}b5({behind}").replace("b5(", "b4(");
        }
        let many = (0..14).map(|n| (n, numbers.below(1 << 40) as i64 - (1 << 39))).collect::<Vec<_>>();
        let engine = gives_what_it_should(&text, OptLevel::Quick, many.into_iter());
        inverted += usize::from(jumps_back(&engine.clif("f").unwrap_or_default()) == 0);
    }
    assert!(inverted * 4 > cases * 3, "{inverted} of {cases} loops are tested behind their rounds");
}
