//! Graphs that are not to be trusted: every access is checked.
#![allow(missing_docs)]

mod common;

use common::returned;
use flowgraph::memory::Memory;
use flowgraph::text::parse_module;
use jitcodegen::{Engine, Options, Outcome};

const TEXT: &str = r#"module flow
graph word(p: int, i: int) -> int {
b0(v0: int, v1: int):
    v2 = getarrayitem v0, v1 {[i64] i64 +8 *8 imm} @3:7
    return v2
}
graph local(i: int) -> int {
b0(v0: int):
    v1 = stack_slot {size 16 a}
    setarrayitem v1, v0, 7 {[i64] i64 +0 *8 excl} @9:1
    v2 = getfield v1 {[i64] i64 +8 excl}
    return v2
}
"#;

#[test]
fn accesses_outside_of_memory_are_traps() {
    let mut module = parse_module(TEXT).unwrap();
    module.graphs.values_mut().for_each(|g| g.results = vec![flowgraph::ir::Type::Int]);
    let mut memory = Memory::new();
    let at = memory.allocate(32);
    let mut engine = Engine::new(Options { bounds: Some(memory.bounds()), ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    let trapped = |key: &str, args: &[u64]| match engine.call(key, args) {
        Ok(Outcome::Trapped(report)) => (report.message, report.loc.line),
        other => panic!("{other:?}"),
    };
    memory.store(at + 24, flowgraph::ir::Access::I64, 5).unwrap();
    assert_eq!(returned(engine.call("word", &[at, 2])), [5]);
    assert_eq!(returned(engine.call("word", &[at + 16, 0])), [5]);
    let (message, line) = trapped("word", &[at, 3]);
    assert!(message.contains("an access of 8 bytes") && line == 3, "{message} @{line}");
    for (p, i) in [(0, 0), (at, 1 << 40), (at, u64::MAX - 1), (u64::MAX, 0), (at + 17, 0)] {
        trapped("word", &[p, i]);
    }
    // Memory that comes later counts, too; what is freed doesn't.
    let later = memory.allocate(16);
    assert_eq!(returned(engine.call("word", &[later, 0])), [0]);
    memory.free(at);
    trapped("word", &[at, 2]);
    // Local aggregates.
    assert_eq!(returned(engine.call("local", &[1])), [7]);
    assert_eq!(trapped("local", &[1 << 30]).1, 9);
}
