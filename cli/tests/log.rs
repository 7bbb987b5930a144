//! `--log`: what was compiled, and what happened to the limits.

mod command;

use command::expect;
use std::path::PathBuf;

/// The log of a run of `hueshift`, which must succeed.
fn log(name: &str, args: &[&str], input: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.log"));
    let all: Vec<&str> = args[..1].iter().copied().chain(["--log", path.to_str().unwrap()]).collect();
    let all: Vec<&str> = all.into_iter().chain(args[1..].iter().copied()).collect();
    expect(0, &[], &all, input);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn compiled_code_and_widened_versions() {
    let text = log("aot", &["run", "tl", "primes", "--", "100"], "");
    assert!(text.starts_with("compiled tl: "), "{text}");
    let widened: Vec<&str> = text.lines().filter(|line| line.contains("made less specific")).collect();
    assert!(matches!(widened[..], [one] if one.starts_with("tl.rs:") && one.ends_with(" times)")), "{text}");
}

#[test]
fn guards_that_are_counted_and_traces_that_are_stopped() {
    let jit = ["run", "tl", "factorial", "--mode", "jit", "--jit", "count-guards=yes,abort-at=5", "--", "20"];
    let text = log("jit", &jit, "");
    assert!(text.contains("the trace was stopped: "), "{text}");
    let traced = ["run", "tl", "factorial", "--mode", "jit", "--jit", "count-guards=yes", "--", "20"];
    let text = log("guards", &traced, "");
    assert!(text.contains("guard ") && text.contains(": executed "), "{text}");
}

#[test]
fn traces_and_bridges_as_they_begin() {
    let jit = ["run", "tl", "primes", "--mode", "jit", "--jit", "threshold=20,bridge=5", "--", "100"];
    let text = log("traces", &jit, "");
    let begun: Vec<&str> = text.lines().filter(|line| line.contains(" begins")).collect();
    let is = |line: &&str, what: &str| line.starts_with("tl.rs:") && line.contains(what);
    assert!(begun.first().is_some_and(|line| is(line, "a trace begins")), "{text}");
    assert!(begun[1..].iter().any(|line| is(line, "a bridge begins, at exit ")), "{text}");
}

#[test]
fn the_green_that_takes_too_many_values() {
    let source = "use hueshift::prelude::*;
pub fn f(x: i64) -> i64 {
    let mut bits = 0;
    if x & 1 == 0 { bits += 1; }
    if x & 2 == 0 { bits += 2; }
    if x & 4 == 0 { bits += 4; }
    if x & 8 == 0 { bits += 8; }
    if x & 16 == 0 { bits += 16; }
    if x & 32 == 0 { bits += 32; }
    concrete(bits)
}";
    let text = log("greens", &["spec", "-", "--entry", "f", "--args", "21"], source);
    assert!(text.contains("<stdin>:") && text.contains("most of `bits`: it goes on with everything red"), "{text}");
}
