//! Stores: constants are part of the instruction, in all widths; where an element lies is computed once in a block.
#![allow(missing_docs)]

mod common;

use common::returned;
use flowgraph::ir::Type;
use flowgraph::memory::Memory;
use flowgraph::text::parse_module;
use jitcodegen::{Engine, Machine, Options};

#[test]
fn constants_are_stored_as_they_are() {
    let mut bytes = vec![7u8; 24];
    for (access, size) in [("u8", 1), ("i8", 1), ("u16", 2), ("i16", 2), ("u32", 4), ("i32", 4), ("i64", 8)] {
        for constant in [0i64, 1, -1, 255, 256, 0x7fff_ffff, -129, i64::MIN, 0x1234_5678_9abc_def0] {
            let text = format!(
                "module flow\ngraph f(base: int) -> int {{\nb0(v0: int):\n    setfield v0, {constant} {{[u8] {access} +8 excl}}\n    return v0\n}}\n"
            );
            let mut module = parse_module(&text).unwrap();
            module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
            let memory = Memory::for_module(&module);
            let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
            engine.compile(&module, &memory).unwrap();
            bytes.fill(7);
            let base = bytes.as_mut_ptr() as u64;
            assert_eq!(returned(engine.call("f", &[base])), [base]);
            let mut wanted = vec![7u8; 24];
            wanted[8..8 + size].copy_from_slice(&constant.to_le_bytes()[..size]);
            assert_eq!(bytes, wanted, "{constant} as {access}");
            if Machine::host() == Some(Machine::X86_64) && size == 1 {
                let asm = engine.asm("f").expect("its text");
                assert!(asm.lines().any(|line| line.contains("movb") && line.contains('$')), "{asm}");
            }
        }
    }
}

/// Two fields of an element of 24 bytes, in two blocks: one product in each.
#[test]
fn where_an_element_lies_is_computed_once_in_a_block() {
    let text = "module flow\ngraph f(base: int, at: int) -> int {\nb0(v0: int, v1: int):
    v2 = getarrayitem v0, v1 {S.a i64 +0 *24 excl}
    v3 = getarrayitem v0, v1 {S.b i64 +8 *24 excl}
    setarrayitem v0, v1, v3 {S.c i64 +16 *24 excl}
    branch v2, b1, b2
b1:
    setarrayitem v0, v1, 5 {S.a i64 +0 *24 excl}
    setarrayitem v0, v1, 6 {S.b i64 +8 *24 excl}
    return v3
b2:
    return v2\n}\n";
    let mut module = parse_module(text).unwrap();
    module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
    let memory = Memory::for_module(&module);
    let mut engine = Engine::new(Options { keep_text: true, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    let mut words = [1u64, 2, 3, 4, 7, 0];
    let base = words.as_mut_ptr() as u64;
    assert_eq!(returned(engine.call("f", &[base, 1])), [7]);
    assert_eq!(words, [1, 2, 3, 5, 6, 7]);
    if Machine::host() == Some(Machine::X86_64) {
        let asm = engine.asm("f").expect("its text");
        assert_eq!(asm.lines().filter(|line| line.contains("imul")).count(), 2, "{asm}");
    }
}
