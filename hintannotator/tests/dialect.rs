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

/// Of a float no switch can tell the values apart: it is its bits that can be promoted.
#[test]
fn floats_are_promoted_by_their_bits() {
    let source = "use hueshift::prelude::*;\n\
                  pub fn double(x: f64) -> f64 { concrete(x) }\n\
                  pub fn single(x: f32) -> f32 { let y = x; concrete(y * 2.0) }\n\
                  pub fn read(x: &mut [f64]) -> f64 { concrete(x[0]) }\n\
                  #[dont_look_inside] fn outside(x: i64) -> f64 { x as f64 }\n\
                  pub fn called(x: i64) -> f64 { concrete(outside(x)) }\n\
                  pub fn integer(x: i64) -> f64 { concrete(x as f64) }\n";
    let module = flowgraph::frontend::lift(&[("floats.rs", source)]).unwrap_or_else(|e| panic!("{e}"));
    for (entry, wanted) in [
        ("double", "or make it green with `promote`, of a float the bits: `f64::from_bits(promote(x.to_bits()))`"),
        ("single", "or make it green with `promote`, of a float the bits: `f32::from_bits(promote(x.to_bits()))`"),
        ("read", "make what is read green with `promote`, of a float the bits: `f64::from_bits("),
        ("called", "or `promote` its result, of a float the bits: `f64::from_bits(promote(x.to_bits()))`"),
        ("integer", "say that `x` is known when compiling (`--green`), or make it green with `promote`"),
    ] {
        let error = annotate(&module, entry, &BTreeSet::new()).unwrap_err().remove(0);
        let ColorError::MustBeGreen { remedy, .. } = &error else { panic!("{entry}: {error}") };
        let fits = if entry == "integer" { remedy == wanted } else { remedy.contains(wanted) };
        assert!(fits, "{entry}: {error}: {remedy}");
    }
}
