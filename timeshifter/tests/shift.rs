//! What shifting adds to graphs written as text. `HUESHIFT_BLESS=1` rewrites the expected texts.

use flowgraph::ir::{Module, Stage};
use flowgraph::text::{parse_module, print_module};
use hintannotator::annotate;
use std::collections::BTreeSet;
use std::path::PathBuf;
use timeshifter::shift::shift;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/shift").join(name)
}

fn compiler(name: &str, entry: &str, green: &[usize]) -> Module {
    let text = std::fs::read_to_string(path(&format!("{name}.txt"))).unwrap();
    let module = parse_module(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let colors = annotate(&module, entry, &BTreeSet::from_iter(green.iter().copied()));
    let shifted = shift(&colors.unwrap_or_else(|e| panic!("{entry}: {e:?}")));
    assert_eq!(shifted.stage, Stage::Compiler);
    let text = print_module(&shifted);
    let again = parse_module(&text).unwrap_or_else(|e| panic!("{entry}: {e}\n{text}"));
    assert!(print_module(&again) == text, "printing, parsing and printing {entry} changes it");
    shifted
}

fn check(name: &str, got: &str) {
    let path = path(name);
    if std::env::var_os("HUESHIFT_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{} differs; got:\n{got}", path.display());
}

#[test]
fn marks() {
    let mut text = String::new();
    for (entry, green) in [
        ("diamond", [].as_slice()),
        ("forgotten", &[]),
        ("calls", &[]),
        ("promoted", &[]),
        ("searched", &[]),
        ("counted", &[]),
        ("endless", &[]),
        ("portal", &[0]),
        ("merged", &[]),
        ("local", &[]),
    ] {
        let mut module = compiler("marks", entry, green);
        module.graphs.retain(|key, _| !key.ends_with("#twin"));
        text.push_str(&print_module(&module));
        text.push('\n');
    }
    check("marks.out", &text);
}

#[test]
fn modes() {
    check("modes.out", &print_module(&compiler("modes", "main", &[0])));
}

#[test]
fn positions_stay() {
    let text = std::fs::read_to_string(path("modes.txt")).unwrap();
    let flow = parse_module(&text).unwrap();
    for graph in compiler("modes", "main", &[0]).graphs.values() {
        let before = &flow.graphs[&graph.function];
        assert_eq!(before.blocks.len(), graph.blocks.len());
        for (a, b) in before.blocks.iter().zip(&graph.blocks) {
            assert_eq!(a.params, b.params);
            let ops = |block: &flowgraph::ir::Block| {
                block.ops.iter().map(|op| (op.opcode, op.args.clone(), op.results.clone())).collect::<Vec<_>>()
            };
            assert_eq!(ops(a), ops(b));
        }
    }
}
