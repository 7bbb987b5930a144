//! Sentences that aren't about what one call gives.

use crate::harness::lifted;
use crate::topics::traps;
use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::{Module, Terminator, TrapKind};
use flowgraph::memory::Memory;
use flowgraph::text::{print_graph, print_module};
use hueshift::{Compiler, Ending, JitOptions, Policy};
use hueshift_tests::beside::ended;
use std::collections::BTreeSet;

#[test]
fn doc_comments_are_kept() {
    let text = print_module(&lifted("items.rs"));
    let wanted =
        "graph free(x: int) -> int {\n    doc \"Adds one.\"\n    doc \"\"\n    doc \"It says so in two paragraphs.\"\n";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn failing_debug_assertions_are_checked_by_rustc_only() {
    let ended = ended(|| traps::debug_asserts(3).to_string());
    match cfg!(debug_assertions) {
        true => assert_eq!(ended.expect_err("debug assertions are on").0, "x is 3"),
        false => assert_eq!(ended.ok().as_deref(), Some("3")),
    }
    let module = lifted("traps.rs");
    let mut memory = Memory::for_module(&module);
    let outcome = Evaluator::new(&module, &mut memory).with_fuel(1_000).call("debug_asserts", &[3]);
    assert_eq!(outcome, Ok(Outcome::Returned([3].into_iter().collect())));
}

#[test]
fn deep_recursion_is_a_trap() {
    let module = lifted("traps.rs");
    let mut memory = Memory::for_module(&module);
    let outcome = Evaluator::new(&module, &mut memory).with_fuel(1 << 40).call("deep", &[100_000_000]);
    let Ok(Outcome::Trapped(trap)) = outcome else { panic!("{outcome:?}") };
    assert_eq!((trap.kind, trap.message.as_str()), (TrapKind::StackExhausted, "stack exhausted"));
    let compiler = Compiler::new(&module, "deep", &BTreeSet::new()).expect("it has colors");
    for policy in [Policy::Eager, Policy::Tracing] {
        let report = hueshift::spec(&mut compiler.clone(), "100000000", policy, &JitOptions::default());
        let ending = report.map(|report| report.ran.ending);
        let Ok(Ending::Trapped(trap)) = ending else { panic!("{policy:?}: {ending:?}") };
        assert_eq!((trap.kind, trap.message.as_str()), (TrapKind::StackExhausted, "stack exhausted"));
    }
}

/// What isn't looked into is compiled as it stands, and is a call where it is used.
#[test]
fn what_is_not_looked_into_is_called() {
    let module = lifted("accepted.rs");
    let compiler = Compiler::new(&module, "attributes", &BTreeSet::new()).expect("it has colors");
    let report = hueshift::spec(&mut compiler.clone(), "3, 2, [4]", Policy::Eager, &JitOptions::default());
    let report = report.expect("it runs");
    assert_eq!(report.counts.calls.get("outside"), Some(&1), "{:?}", report.counts);
    let text = print_graph(&compiler.module, &compiler.module.graphs[&compiler.entry]);
    assert!(text.contains("residual outside("), "{text}");
}

/// Lent by `&`, an enum of a portal costs no branch on its tag more than handed by value.
#[test]
fn lending_an_enum_costs_no_switch() {
    let module = lifted("lent_enums.rs");
    let residual = |entry: &str| {
        let compiler = Compiler::new(&module, entry, &BTreeSet::from([0])).expect("it has colors");
        let report =
            hueshift::spec(&mut compiler.clone(), "\"pmx.\", 1, 5, 100", Policy::Eager, &JitOptions::default());
        report.expect("it runs").residual.module
    };
    let switches = |module: &Module| {
        let blocks = module.graphs.values().flat_map(|graph| &graph.blocks);
        blocks.filter(|block| matches!(block.term, Terminator::Switch { .. })).count()
    };
    let (lent, by_value) = (residual("lent"), residual("by_value"));
    assert!(switches(&by_value) > 0);
    assert_eq!(switches(&lent), switches(&by_value), "{}{}", print_module(&lent), print_module(&by_value));
}
