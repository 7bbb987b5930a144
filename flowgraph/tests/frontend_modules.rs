//! Sources of several files.

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::frontend::{Reason, Refused, collect_files, lift};
use flowgraph::ir::Module;
use flowgraph::memory::Memory;

const FILES: &[(&str, &str)] = &[
    (
        "src/lang.rs",
        "mod ops;\nmod table;\nmod inner { pub mod deep; pub fn here() -> i64 { deep::LIMIT } }\n#[cfg(test)]\nmod tests;\n\
         use ops::{Op, apply};\npub fn f(x: i64) -> i64 { apply(Op::Twice(x), table::start()) + inner::here() }",
    ),
    (
        "src/ops.rs",
        "use super::table::start;\npub mod more;\npub enum Op { Twice(i64), Stop }\n\
         pub fn apply(op: Op, y: i64) -> i64 { match op { Op::Twice(n) => more::twice(n) + y, Op::Stop => start() } }",
    ),
    ("src/ops/more.rs", "pub fn twice(x: i64) -> i64 {\n    assert!(x < 1000, \"{} is much\", x);\n    x + x\n}"),
    ("src/table/mod.rs", "mod own;\npub fn start() -> i64 { own::FIRST }"),
    ("src/table/own.rs", "pub const FIRST: i64 = crate::inner::deep::LIMIT * 10;"),
    ("src/inner/deep.rs", "pub const LIMIT: i64 = 7;"),
    ("src/unused.rs", "pub fn g( {"),
];

fn read(without: &str, with: &[(&str, &str)]) -> Vec<(String, String)> {
    let all: Vec<(&str, &str)> = FILES.iter().chain(with).copied().filter(|(name, _)| *name != without).collect();
    let find = |name: &str| all.iter().rev().find(|(n, _)| *n == name).map(|(_, text)| (*text).to_owned());
    let root = find("src/lang.rs").unwrap();
    collect_files("src/lang.rs", root, |name| Ok::<_, ()>(find(name))).unwrap()
}

fn lifted(without: &str, with: &[(&str, &str)]) -> Result<Module, Refused> {
    let files = read(without, with);
    lift(&files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>())
}

fn call(module: &Module, x: i64) -> Outcome {
    let mut memory = Memory::for_module(module);
    Evaluator::new(module, &mut memory).with_fuel(10_000).call("f", &[x as u64]).unwrap()
}

#[test]
fn files_are_found_as_rustc_finds_them() {
    let names: Vec<String> = read("", &[]).into_iter().map(|(name, _)| name).collect();
    let wanted = ["lang", "ops", "table/mod", "inner/deep", "ops/more", "table/own"];
    let mut sorted = names.clone();
    sorted.sort();
    let mut expected: Vec<String> = wanted.iter().map(|name| format!("src/{name}.rs")).collect();
    expected.sort();
    assert_eq!((names[0].as_str(), sorted), ("src/lang.rs", expected));
    let module = lifted("", &[]).unwrap();
    assert_eq!(call(&module, 4), Outcome::Returned(vec![8 + 70 + 7].into_iter().collect()));
    assert!(module.graphs.contains_key("ops::more::twice") && module.graphs.contains_key("inner::here"));
}

#[test]
fn places_are_in_their_files() {
    let module = lifted("", &[]).unwrap();
    let Outcome::Trapped(trap) = call(&module, 1000) else { panic!("no trap") };
    assert_eq!(module.show_loc(trap.loc), "src/ops/more.rs:2:5");
    let text = flowgraph::text::print_module(&module);
    assert!(text.contains("@4:2:5"), "{text}");
    assert_eq!(flowgraph::text::print_module(&flowgraph::text::parse_module(&text).unwrap()), text);
    let refused =
        lifted("", &[("src/table/own.rs", "pub const FIRST: i64 = 1;\nfn g() { let c = |x| x; }")]).unwrap_err();
    assert!(refused.to_string().starts_with("src/table/own.rs:2:18: closures"), "{refused}");
    let refused = lifted("", &[("src/ops/more.rs", "pub fn twice( {")]).unwrap_err();
    assert!(refused.to_string().starts_with("src/ops/more.rs:1:"), "{refused}");
}

#[test]
fn files_that_are_missing_or_there_twice_are_refused() {
    let refused = lifted("src/ops/more.rs", &[]).unwrap_err();
    let own = refused.refusals.iter().find(|r| r.reason == Reason::ModuleFile).unwrap();
    assert_eq!(own.to_string().split(": ").next(), Some("src/ops.rs:2:9"));
    assert!(own.message.contains("`src/ops/more.rs` nor `src/ops/more/mod.rs`"), "{}", own.message);
    let refused = lifted("", &[("src/ops/mod.rs", "")]).unwrap_err();
    assert!(refused.to_string().contains("there is a file `src/ops.rs` and also `src/ops/mod.rs`"), "{refused}");
    let refused = lift(&[("a.rs", "#[path = \"b.rs\"]\nmod c;")]).unwrap_err();
    assert!(refused.refusals.iter().any(|r| r.reason == Reason::Attribute), "{refused}");
}

#[test]
fn two_declarations_of_one_module_are_refused() {
    let files = [("a.rs", "mod b;\nmod b;\npub fn f() -> i64 { b::g() }"), ("b.rs", "pub fn g() -> i64 { 1 }")];
    let refused = lift(&files).unwrap_err();
    assert!(refused.to_string().contains("that of another module already"), "{refused}");
}

#[test]
fn names_of_modules_do_not_meet() {
    let files = [
        ("a.rs", "mod b;\nmod c;\npub fn f() -> i64 { b::g() * 10 + c::g() + b::K + c::K }"),
        ("b.rs", "pub const K: i64 = 100;\npub struct S { pub x: i64 }\npub fn g() -> i64 { let s = S { x: 1 }; s.x }"),
        (
            "c.rs",
            "pub const K: i64 = 200;\npub struct S(pub i64, pub i64);\npub fn g() -> i64 { let s = S(2, 3); s.1 }",
        ),
    ];
    let module = lift(&files).unwrap();
    let mut memory = Memory::for_module(&module);
    let outcome = Evaluator::new(&module, &mut memory).with_fuel(10_000).call("f", &[]).unwrap();
    assert_eq!(outcome, Outcome::Returned(vec![10 + 3 + 300].into_iter().collect()));
    assert!(module.structs.contains_key("b::S") && module.structs.contains_key("c::S"));
}
