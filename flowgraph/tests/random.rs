//! Random modules are well-formed, end, and have everything in them; text and verifier hold on all of them.

use flowgraph::eval::Outcome;
use flowgraph::ir::*;
use flowgraph::testing::*;
use flowgraph::text::*;
use flowgraph::verify::{verify, verify_graph};
use proptest::prelude::*;

/// Bytes from a seed, so that a test sees the same modules in every build.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Says what is wrong with the module, with its text.
fn check(generated: &Generated) -> Result<(), String> {
    let module = &generated.module;
    let text = print_module(module);
    if let Err(violations) = verify(module) {
        let list: Vec<String> = violations.iter().map(|v| v.to_string()).collect();
        return Err(format!("{}\n{text}", list.join("\n")));
    }
    let mut again = parse_module(&text).map_err(|e| format!("{e}\n{text}"))?;
    if again != *module {
        return Err(format!("printing and parsing changes\n{text}\ninto\n{}", print_module(&again)));
    }
    for graph in module.graphs.values() {
        let short = print_graph_short(module, graph);
        let read = parse_graph(&short, module).map_err(|e| format!("{e}\n{short}"))?;
        if print_graph_short(module, &read) != short {
            return Err(format!("printing and parsing changes\n{short}"));
        }
        if renumber(graph) != *graph {
            return Err(format!("renumbering what is numbered changes\n{text}"));
        }
    }
    // What is read means the same as what was written.
    again.files.clone_from(&module.files);
    for run in 0..generated.runs.len() {
        let first = generated.evaluate(run, &generated.must_be_green).map_err(|e| format!("{e}\n{text}"))?;
        let same = Generated { module: again.clone(), ..generated.clone() };
        let second = same.evaluate(run, &generated.must_be_green).map_err(|e| format!("{e}\n{text}"))?;
        let results = &module.graphs[&generated.entry].results;
        if !same_outcome(results, &first.0, &second.0) || first.1 != second.1 {
            return Err(format!("{first:?}\nis not\n{second:?}\n{text}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_modules_are_well(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        let generated = random_module(&mut Source::new(&bytes));
        prop_assert!(check(&generated).is_ok(), "{}", check(&generated).unwrap_err());
    }

    #[test]
    fn broken_modules_are_reported_in_any_case(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        changes in prop::collection::vec(any::<(u16, u16, u16)>(), 1..8),
    ) {
        let mut generated = random_module(&mut Source::new(&bytes));
        for (graph, place, what) in changes {
            damage(&mut generated.module, usize::from(graph), usize::from(place), what);
        }
        // It says what it says; but it says the same of the same, and names graphs that are there.
        let found = verify(&generated.module).err().unwrap_or_default();
        prop_assert_eq!(&found, &verify(&generated.module).err().unwrap_or_default());
        for violation in &found {
            let graph = &generated.module.graphs[violation.item.trim_start_matches("graph ")];
            prop_assert!(verify_graph(&generated.module, graph).contains(violation));
        }
        let _ = print_module(&generated.module);
    }
}

/// Breaks something.
fn damage(module: &mut Module, graph: usize, place: usize, what: u16) {
    let count = module.graphs.len();
    let Some((_, graph)) = module.graphs.get_index_mut(graph % count) else { return };
    let blocks = graph.blocks.len();
    let block = &mut graph.blocks[place % blocks];
    let ops = block.ops.len();
    let value = ValueId(u32::from(what) % (graph.values.len() as u32 + 3));
    match what % 7 {
        0 if ops > 0 => _ = block.ops.remove(place % ops),
        1 if ops > 0 => block.ops[place % ops].args.push(Operand::Value(value)),
        2 if ops > 0 => block.ops[place % ops].results.push(value),
        3 if ops > 0 => block.ops[place % ops].opcode = Opcode::ALL[place % Opcode::ALL.len()],
        4 => block.params.push(value),
        5 => {
            let edge = block.term.edges_mut().next();
            edge.into_iter().for_each(|edge| edge.block = BlockId(u32::from(what) % (blocks as u32 + 2)));
        }
        _ => block.term.for_each_operand_mut(|operand| *operand = Operand::Value(value)),
    }
}

#[test]
fn everything_comes_up() {
    let mut histogram = Histogram::default();
    let (mut returned, mut trapped, mut steps) = (0, 0, 0);
    for seed in 0..400 {
        let bytes = bytes(seed, 200 + 4 * seed as usize);
        let generated = random_module(&mut Source::new(&bytes));
        histogram.add(&generated.module);
        for run in 0..generated.runs.len() {
            match generated.evaluate(run, &[]).unwrap().0 {
                Outcome::Returned(_) => returned += 1,
                Outcome::Trapped(_) => trapped += 1,
                other => panic!("{other:?}"),
            }
        }
        steps += generated.splits.len();
    }
    println!("{histogram}{returned} returned, {trapped} trapped, {steps} splits");
    for opcode in Opcode::ALL.iter().filter(|op| !matches!(op, Opcode::IsVirtual)) {
        assert!(histogram.count(&format!("op: {}", opcode.name())) > 0, "{} doesn't come up", opcode.name());
    }
    for kind in TrapKind::ALL.iter().filter(|kind| **kind != TrapKind::StackExhausted) {
        assert!(histogram.count(&format!("trap: {}", kind.name())) > 0, "{} doesn't come up", kind.name());
    }
    for name in [
        "calling: itself",
        "calling: each other",
        "calling: with &mut local",
        "calling: with &local",
        "memory: load imm",
        "memory: store excl",
        "memory: store shared",
        "loop: self loop",
        "loop: while",
        "loop: do while",
        "loop: with early exit",
        "loop: nested twice",
        "join: of 2 with parameters",
        "join: of 3 with parameters",
        "function: portal",
        "function: elidable",
        "function: unroll_safe",
        "function: dont_look_inside",
        "function: 3 results",
        "type: parameter &H",
    ] {
        assert!(histogram.count(name) > 0, "{name} doesn't come up");
    }
    assert!(returned > trapped / 2 && trapped > returned / 20, "{returned} returned, {trapped} trapped");
}

#[test]
fn no_bytes_are_the_simplest_module() {
    let generated = random_module(&mut Source::new(&[]));
    check(&generated).unwrap();
    assert_eq!(generated.module.graphs.len(), 1);
    assert_eq!(generated.module.graphs["main"].blocks.len(), 1);
}
