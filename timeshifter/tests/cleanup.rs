//! What is done before, and decided before, isn't done again in residual graphs: each case is a graph as text, and what
//! is not in it any more.
#![allow(missing_docs)]

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;
use flowgraph::text::{parse_module, print_module};
use timeshifter::optimize::{Rewrites, optimize};

/// Cleans a graph of two integers and one result, and holds it to the same results as before. Gives what is left, as
/// text.
fn cleaned(body: &str) -> String {
    let text = format!("module residual\n\ngraph f(n: int, m: int) -> int {{\n{body}\n}}\n");
    let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let runs = |module: &Module| -> Vec<Outcome> {
        let mut memory = Memory::for_module(module);
        let words = [0, 1, 2, 3, 4, 7, 8, u64::MAX];
        let all = words.into_iter().flat_map(|n| words.map(|m| [n, m]));
        all.map(|args| Evaluator::new(module, &mut memory).call("f", &args).expect("it runs")).collect()
    };
    let before = runs(&module);
    optimize(&mut module.graphs[0], &[], &mut Rewrites::default());
    let text = print_module(&module);
    assert_eq!(runs(&module), before, "{text}");
    text
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn ops_of_dominating_blocks() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    v2 = int_mul v0, v1
    v11 = int_and v0, 4
    branch v11, b1, b2
b1:
    v3 = int_mul v0, v1
    jump b3(v3)
b2:
    v4 = int_add v0, v1
    jump b3(v4)
b3(v5: int):
    v6 = int_mul v0, v1
    v7 = int_add v0, v1
    v8 = int_add v5, v6
    v9 = int_add v8, v7
    v10 = int_add v9, v2
    return v10",
    );
    // What one of two ways does, and the join behind both, is done before they part.
    assert_eq!((count(&text, "int_mul"), count(&text, "int_add v0, v1")), (1, 1), "{text}");
}

#[test]
fn ops_of_one_of_two_ways() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    v2 = int_and v0, 4
    branch v2, b1, b2
b1:
    v3 = int_add v0, v1
    jump b3(v3)
b2:
    jump b3(v0)
b3(v4: int):
    v5 = int_and v1, 4
    branch v5, b4, b5
b4:
    v6 = int_add v0, v1
    v7 = int_mul v4, v6
    return v7
b5:
    return v4",
    );
    // There is a way on which it isn't done at all, so it is done again.
    assert_eq!(count(&text, "int_add v0, v1"), 2, "{text}");
}

#[test]
fn branches_that_dominating_ones_decide() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    v2 = int_lt v0, v1
    branch v2, b1, b2
b1:
    v3 = int_lt v0, v1
    branch v3, b3, b4
b2:
    branch v2, b4, b5
b3:
    v4 = int_add v2, v0
    return v4
b4:
    return 77
b5:
    v5 = int_add v2, v1
    return v5",
    );
    assert_eq!((count(&text, "branch"), count(&text, "return 77")), (1, 0), "{text}");
    // What was branched on is a constant on both sides.
    assert!(text.contains("int_add v0, 1") || text.contains("int_add 1, v0"), "{text}");
    assert!(text.contains("int_add 0, v1") || text.contains("return v1"), "{text}");
}

#[test]
fn branches_that_join_decide_nothing() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    branch v1, b6, b7
b6:
    branch v0, b1, b2
b1:
    jump b3(v1)
b2:
    jump b3(3)
b7:
    jump b3(9)
b3(v2: int):
    branch v0, b4, b5
b4:
    return v2
b5:
    return v1",
    );
    assert_eq!(count(&text, "branch v0"), 2, "{text}");
}

#[test]
fn a_branch_that_all_ways_have_taken_is_gone() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    v3 = int_lt v0, v1
    branch v3, b1, b2
b1:
    jump b3(v1)
b2:
    jump b3(3)
b3(v2: int):
    branch v3, b4, b5
b4:
    return v2
b5:
    return v0",
    );
    assert_eq!(count(&text, "branch"), 1, "{text}");
    assert!(text.contains("return v1") && text.contains("return v0"), "{text}");
}

#[test]
fn lengths_that_are_long_enough() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    v2 = uint_lt 3, v1
    branch v2, b1, b9
b1:
    v3 = uint_lt 2, v1
    branch v3, b2, b9
b2:
    v4 = uint_gt 4, v1
    branch v4, b9, b3
b3:
    v5 = uint_ge v1, 4
    branch v5, b4, b9
b4:
    v6 = uint_le v1, 3
    branch v6, b9, b5
b5:
    v7 = uint_lt 4, v1
    branch v7, b6, b9
b6:
    v8 = uint_le 5, v1
    branch v8, b7, b9
b7:
    v9 = uint_gt v1, 5
    branch v9, b8, b9
b8:
    return 8
b9:
    return 9",
    );
    // Three say something new: that it is above 3, above 4, above 5.
    assert_eq!(count(&text, "branch"), 3, "{text}");
}

/// A loop's body may use what was known before the loop, for what doesn't change in it.
#[test]
fn what_is_known_before_a_loop() {
    let text = cleaned(
        "b0(v0: int, v1: int):
    v2 = uint_lt 6, v1
    branch v2, b1(v0, v1), b5
b1(v3: int, v4: int):
    v5 = uint_lt 5, v4
    branch v5, b2, b5
b2:
    v6 = int_and v3, 7
    branch v6, b3, b4
b3:
    v7 = int_add v3, -1
    jump b1(v7, v4)
b4:
    return v3
b5:
    return -1",
    );
    assert_eq!(count(&text, "uint_lt"), 1, "{text}");
}
