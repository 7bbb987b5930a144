//! Colors, reasons and errors of sources in the dialect. `HUESHIFT_BLESS=1` rewrites the expected texts.

use flowgraph::ir::Module;
use hintannotator::{ColorError, Colors, annotate, check};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/dialect").join(name)
}

fn module(name: &str) -> Module {
    let text = std::fs::read_to_string(path(name)).unwrap();
    flowgraph::frontend::lift(&[(name, &text)]).unwrap_or_else(|e| panic!("{e}"))
}

fn colors(name: &str, entry: &str, green: &[usize]) -> Result<Colors, Vec<ColorError>> {
    annotate(&module(name), entry, &BTreeSet::from_iter(green.iter().copied()))
}

fn expect(name: &str, got: &str) {
    let path = path(name);
    if std::env::var_os("HUESHIFT_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{} differs; got:\n{got}", path.display());
}

#[test]
fn a_machine() {
    let mut text = String::new();
    for (entry, green) in [("run", [].as_slice()), ("twice", &[0])] {
        let colors = colors("machine.rs", entry, green).unwrap();
        flowgraph::verify::verify(&colors.module).unwrap();
        assert_eq!(check(&colors.module), []);
        let reached = colors.module.graphs.keys().filter(|key| !key.ends_with("#twin"));
        writeln!(text, "{entry} reaches {}", reached.cloned().collect::<Vec<_>>().join(" ")).unwrap();
        for (name, color) in colors.named() {
            assert_eq!(colors.color_of(&name).unwrap(), color);
            writeln!(text, "    {name}: {color}").unwrap();
        }
        for query in ["run::pc", "run::bonus", "run::spread", "apply::acc"] {
            writeln!(text, "{}", colors.why(query).unwrap()).unwrap();
        }
        if entry == "twice" {
            writeln!(text, "{}", colors.why("twice::first").unwrap()).unwrap();
            assert_eq!(colors.color_of("twice::first@57").unwrap(), "red");
            assert_eq!(colors.color_of("twice::first@58").unwrap(), "green");
        }
    }
    expect("machine.out", &text);
}

#[test]
fn errors_in_source_order() {
    let mut text = String::new();
    for error in colors("errors.rs", "many", &[2]).unwrap_err() {
        writeln!(text, "{error}").unwrap();
    }
    expect("errors.out", &text);
}
