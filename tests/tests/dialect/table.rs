//! `docs/dialect_tests.md`: everything that it names is there, and the whole corpus is named.

use crate::harness::corpus;
use std::collections::BTreeSet;
use std::path::Path;

/// What stands in backticks in the second column of the tables.
fn named() -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/dialect_tests.md")).expect("the page");
    let (_, tables) = page.split_once("\n## ").expect("tables behind the first heading");
    let rows = tables.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let proofs: Vec<&str> = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next()).collect();
    assert!(proofs.len() > 60, "only {} sentences", proofs.len());
    let mut all = Vec::new();
    for proof in proofs.into_iter().filter(|proof| *proof != "held by") {
        let names: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "nothing holds this: {proof}");
        all.extend(names.into_iter().map(str::to_owned));
    }
    all
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The functions of the corpus that are called, as `file::function`.
fn called() -> BTreeSet<String> {
    let mut called = BTreeSet::new();
    for call in read("tests/tests/dialect/topics.rs").split("call!(calls: ").skip(1) {
        called.insert(call.split(['(', '[']).next().unwrap_or_default().to_owned());
    }
    called
}

/// The entries of the corpus.
fn entries() -> BTreeSet<String> {
    let mut entries = BTreeSet::new();
    let files = std::fs::read_dir(corpus()).expect("the corpus").flatten();
    for path in files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a file");
        let names = text.lines().filter_map(|line| line.strip_prefix("pub fn "));
        let names = names.filter_map(|rest| rest.split(['(', '<']).next());
        // A file that others are made of.
        if file != "beside" {
            entries.extend(names.map(|name| format!("{file}::{name}")));
        }
    }
    entries
}

#[test]
fn every_sentence_is_held_by_a_test_that_is_there() {
    let (called, entries) = (called(), entries());
    let reasons: String = ["language", "lowering", "portals", "besides", "hints"]
        .map(|file| read(&format!("flowgraph/tests/frontend/refused/{file}.rs")))
        .concat();
    let scenarios = hueshift_tests::scenarios::load(&hueshift_tests::scenarios::corpus()).expect("the scenarios");
    let mut held = BTreeSet::new();
    for name in named() {
        let there = match name.split_once(' ') {
            None if name.ends_with(".md") => root().join(&name).exists(),
            None => called.contains(&name),
            Some(("refused", reason)) => reasons.contains(&format!("//~ {reason}\n")),
            Some(("scenario", id)) => scenarios.iter().any(|case| case.id.split('#').next() == Some(id)),
            Some((file, test)) => read(file).contains(&format!("#[test]\nfn {test}(")),
        };
        assert!(there, "there is no `{name}`");
        held.insert(name);
    }
    let uncalled: Vec<_> = entries.difference(&called).collect();
    assert!(uncalled.is_empty(), "never called: {uncalled:?}");
    let unnamed: Vec<_> = entries.iter().filter(|entry| !held.contains(*entry)).collect();
    assert!(unnamed.is_empty(), "no sentence names {unnamed:?}");
}
