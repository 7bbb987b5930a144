//! `spec --emit` and `graph --stage residual` specialize; they run nothing unless a run is what decides.

mod command;

use command::{expect, hueshift};

/// Programs that end late or never.
const LONG: [(&str, &str); 3] = [
    ("pub fn f(x: i64) -> i64 { let mut y = x; while y > 0 { y -= 1; } y }", "100000000000000"),
    ("pub fn f(x: i64) -> i64 { loop {} }", "1"),
    ("pub fn f(x: i64) -> i64 { let mut y = x; loop { y += 1; } }", "1"),
];

#[test]
fn residual_code_is_shown_without_a_run() {
    for (source, args) in LONG {
        for emit in ["residual", "clif", "asm"] {
            let what = if emit == "residual" { "graph f(x: int) -> int {" } else { "; f" };
            expect(0, &[what], &["spec", "-", "--args", args, "--emit", emit], source);
        }
        expect(0, &["module residual"], &["graph", "-", "--stage", "residual", "--args", args], source);
    }
}

#[test]
fn code_that_would_trap_is_shown() {
    let source = "pub fn f(a: &[i64], i: usize) -> i64 { a[i] }";
    let ran = expect(0, &["trap"], &["spec", "-", "--args", "[1],7", "--emit", "residual"], source);
    assert_eq!(ran.err, "");
    // Under the tracing policy the run decides, and its end is told.
    let traced = ["spec", "-", "--args", "[1],7", "--emit", "residual", "--policy", "tracing"];
    let ran = expect(1, &["index out of bounds"], &traced, source);
    assert!(ran.out.contains("graph f("), "{}", ran.out);
}

#[test]
fn a_promotion_is_an_exit_until_it_is_run() {
    let source = "use hueshift::prelude::*; pub fn f(x: i64) -> i64 { promote(x) + 1 }";
    let emit = hueshift(&["spec", "-", "--args", "5", "--emit", "residual"], source);
    assert!(emit.code == 0 && emit.out.contains("exit 0") && !emit.out.contains("switch"), "{}", emit.out);
    let json = hueshift(&["spec", "-", "--args", "5", "--json"], source);
    assert!(json.out.contains("\"result\": \"6\"") && json.out.contains("\"switches\": 1"), "{}", json.out);
}

#[test]
fn the_log_tells_what_was_compiled() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("emit.log");
    let log = path.to_str().expect("a path of text");
    expect(0, &[], &["spec", "-", "--args", "1", "--emit", "residual", "--log", log], LONG[2].0);
    let text = std::fs::read_to_string(&path).expect("the log");
    assert!(text.starts_with("compiled f: "), "{text}");
}
