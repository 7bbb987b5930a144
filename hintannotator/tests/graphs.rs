//! Colors, reasons and errors on graphs written as text. `HUESHIFT_BLESS=1` rewrites the expected texts.

use flowgraph::ir::Module;
use flowgraph::text::{parse_module, print_module};
use hintannotator::{ColorError, Colors, annotate};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/graphs").join(name)
}

fn module(name: &str) -> Module {
    let text = std::fs::read_to_string(path(&format!("{name}.txt"))).unwrap();
    parse_module(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn colors(name: &str, entry: &str, green: &[usize]) -> Result<Colors, Vec<ColorError>> {
    annotate(&module(name), entry, &BTreeSet::from_iter(green.iter().copied()))
}

fn check(name: &str, got: &str) {
    let path = path(name);
    if std::env::var_os("HUESHIFT_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{} differs; got:\n{got}", path.display());
}

/// The colored text without twins, and the colors of all variables.
fn describe(colors: &Colors) -> String {
    let mut module = colors.module.clone();
    module.graphs.retain(|key, _| !key.ends_with("#twin"));
    for graph in module.graphs.values_mut() {
        graph.names.clear();
    }
    let mut text = print_module(&module);
    text.push_str("\n// colors\n");
    for (name, color) in colors.named() {
        writeln!(text, "//   {name}: {color}").unwrap();
    }
    text
}

#[test]
fn demand_goes_through_joins() {
    let colors = colors("join", "join", &[1, 2]).unwrap();
    check("join.colored", &describe(&colors));
    check("join.why", &colors.why("join::x").unwrap().to_string());
}

#[test]
fn an_interpreter() {
    let colors = colors("interpreter", "run", &[0]).unwrap();
    check("interpreter.colored", &describe(&colors));
    let why = ["code", "pc", "op", "acc", "x"].map(|v| colors.why(&format!("run::{v}")).unwrap().to_string());
    check("interpreter.why", &why.join("\n"));
}

#[test]
fn calls_in_every_way() {
    let colors = colors("calls", "main", &[0]).unwrap();
    check("calls.colored", &describe(&colors));
    let why = ["main::z0", "main::z2", "main::c", "main::o", "sum::x", "keyed::pc", "keyed::acc"];
    check("calls.why", &why.map(|v| colors.why(v).unwrap().to_string()).join("\n"));
    assert_eq!(colors.color_of("sum::x").unwrap(), "mixed");
    assert_eq!(colors.color_of("sum::x#er").unwrap(), "green");
}

#[test]
fn loops_that_a_green_ends() {
    let colors = colors("loops", "all", &[0]).unwrap();
    check("loops.colored", &describe(&colors));
    check("loops.why", &colors.why("counted::i@15").unwrap().to_string());
}

#[test]
fn twins_are_red_and_call_twins() {
    let colors = colors("calls", "main", &[0]).unwrap();
    for (key, graph) in colors.module.graphs.iter().filter(|(key, _)| key.ends_with("#twin")) {
        assert!(graph.values.iter().all(|v| v.color == Some(flowgraph::ir::Color::Red)), "{key}");
    }
    let twin = &colors.module.graphs["main#twin"];
    let callees: Vec<&str> = twin.blocks[0].ops.iter().filter_map(|op| op.callee()).map(|c| &*c.name).collect();
    assert_eq!(callees[..4], ["sum#twin", "sum#twin", "sum#twin", "keyed#twin"]);
    assert_eq!(callees[5..], ["outside", "square", "square", "libm::sqrt"]);
    assert!(colors.module.graphs.contains_key("helper"));
}

#[test]
fn errors_tell_the_way() {
    let mut text = String::new();
    for (entry, green) in [("from_red", 0), ("from_cell", 0), ("red_as_key", 9), ("several", 0), ("from_local", 0)] {
        let green: &[usize] = if green == 9 { &[] } else { &[0] };
        for error in colors("errors", entry, green).unwrap_err() {
            writeln!(text, "{entry}: {error}").unwrap();
            if let ColorError::MustBeGreen { remedy, .. } = &error {
                writeln!(text, "    {remedy}").unwrap();
            }
        }
    }
    check("errors.out", &text);
}

#[test]
fn questions_without_answers() {
    let colors = colors("calls", "main", &[0]).unwrap();
    let mut text = String::new();
    for query in ["x", "main::q", "man::x", "outside::x", "main::x@3", "sum::x#gg", "main::x@a", "sum::y@1#zz"] {
        writeln!(text, "{query}: {}", colors.why(query).unwrap_err()).unwrap();
    }
    for error in annotate(&module("calls"), "mian", &BTreeSet::new()).unwrap_err() {
        writeln!(text, "{error}").unwrap();
    }
    for error in annotate(&module("calls"), "main", &BTreeSet::from([2])).unwrap_err() {
        writeln!(text, "{error}").unwrap();
    }
    check("queries.out", &text);
}
