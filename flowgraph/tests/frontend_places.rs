//! The places of the source that graphs and refusals name.

use flowgraph::frontend::lift;
use flowgraph::ir::Terminator;

/// Line and column of each `return` of the only function.
fn returns(text: &str) -> Vec<(u32, u32)> {
    let module = lift(&[("x.rs", text)]).unwrap();
    let blocks = module.graphs[0].blocks.iter().filter(|b| matches!(b.term, Terminator::Return(_)));
    blocks.map(|b| (b.loc.line, b.loc.column)).collect()
}

#[test]
fn a_return_is_where_the_value_is_written() {
    assert_eq!(returns("fn f(x: i64) -> i64 {\n    let y = x + 1;\n    y * 2\n}"), [(3, 5)]);
    assert_eq!(returns("fn f(x: i64) -> i64 {\n    {\n        x\n    }\n}"), [(3, 9)]);
    assert_eq!(returns("fn f(x: i64) -> i64 {\n    if x > 1 { x } else { 7 }\n}"), [(2, 5)]);
    assert_eq!(returns("fn f(x: i64) -> i64 {\n    return x;\n}"), [(2, 5)]);
    // Without a value, where the body ends.
    assert_eq!(returns("fn f(x: &mut i64) {\n    *x = 1;\n}"), [(3, 1)]);
}

#[test]
fn a_type_mismatch_is_where_the_value_is_written() {
    for (text, place) in [
        ("fn f(x: i64) -> bool {\n    x\n}", "x.rs:2:5:"),
        ("fn f(x: i64) -> bool {\n    let y = x;\n    { y }\n}", "x.rs:3:7:"),
        ("fn f(x: i64) -> i64 {\n    let y = x;\n}", "x.rs:3:1:"),
        ("fn f(x: i64) {\n    let y: bool = { x };\n}", "x.rs:2:21:"),
        ("fn f(x: i64) -> i64 {\n    if x > 1 { true } else { x }\n}", "x.rs:2:16:"),
        ("fn f(x: i64) -> i64 {\n    if x > 1 { x } else { true }\n}", "x.rs:2:27:"),
        (
            "fn f(x: i64) -> i64 {\n    let y = if x > 1 { true } else { false };\n    if y { y } else { y }\n}",
            "x.rs:3:12:",
        ),
        ("fn f(x: i64) -> i64 {\n    match x { 0 => return 1, 1 => true, _ => x }\n}", "x.rs:2:35:"),
    ] {
        let refused = lift(&[("x.rs", text)]).unwrap_err().to_string();
        assert!(refused.starts_with(place), "{text}: {refused}");
    }
}
