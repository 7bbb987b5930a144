//! Random residual graphs before and after the optimizer: the same results, memory, traps, and values at exits, in the
//! evaluator and as machine code. Where they differ, the first rewrite with which they do is named.
#![allow(missing_docs)]

mod generator;

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::{BlockId, Graph, Module, NO_GUARD, Stage};
use flowgraph::memory::Memory;
use flowgraph::testing::Random;
use flowgraph::text::{parse_module, print_module, renumber};
use flowgraph::verify::verify;
use generator::{BYTES, GUARDS};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use timeshifter::optimize::{Kind, Rewrite, Rewrites, copy_rounds, optimize};

/// So many graphs are made: `HUESHIFT_CASES` says otherwise.
const CASES: usize = 1500;

/// How a run ended, and what it has left in the array.
#[derive(Clone, Debug, PartialEq)]
struct Ran {
    end: End,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
enum End {
    Returned(Vec<u64>),
    Trapped(String),
    Exited(u32, i64, Vec<u64>),
}

impl Ran {
    /// Whether another graph may have done this in place of one that has done `before`. An exit that is taken in any
    /// case needn't be a guard's any more, and of the guards of one exit any may have failed.
    fn may_stand_for(&self, before: &Ran) -> bool {
        match (&self.end, &before.end) {
            (End::Exited(exit, guard, args), End::Exited(of, other, given))
                if *guard == NO_GUARD || guard / GUARDS == other / GUARDS =>
            {
                (exit, args, &self.bytes) == (of, given, &before.bytes)
            }
            _ => self == before,
        }
    }
}

/// Whether runs may stand for those before them, one by one.
fn may_stand_for(after: &[Ran], before: &[Ran]) -> bool {
    after.len() == before.len() && after.iter().zip(before).all(|(after, before)| after.may_stand_for(before))
}

fn asked(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

fn module(graph: &Graph) -> Module {
    let mut module = Module { stage: Stage::Residual, ..Module::default() };
    module.graphs.insert("f".to_owned(), graph.clone());
    module
}

/// Which integers graphs are handed, and how long they are told that the array is.
fn inputs(random: &mut Random) -> Vec<[u64; 3]> {
    let corners = [0, 1, 5, 12, 40, 255, u64::MAX, 1 << 63, i64::MAX as u64, (-7i64) as u64];
    let mut corner = || corners[random.below(corners.len())];
    let few = (0..5).map(|at| [corner(), corner(), [48, 0, 7, 48, 30][at]]);
    few.collect()
}

/// Runs a graph on some inputs.
fn evaluate(module: &Module, inputs: &[[u64; 3]]) -> Vec<Ran> {
    let mut memory = Memory::for_module(module);
    // Where it lies differs from run to run: graphs read and write there, and compute nothing from it.
    let array = memory.allocate(BYTES as u64);
    let run = |[n, m, length]: &[u64; 3]| {
        fill(&mut memory, array);
        let outcome = Evaluator::new(module, &mut memory).call("f", &[*n, *m, array, *length]);
        let end = match outcome {
            Ok(Outcome::Returned(words)) => End::Returned(words),
            Ok(Outcome::Trapped(trap)) => End::Trapped(trap.message),
            Ok(Outcome::Exited { exit, guard, args, .. }) => End::Exited(exit, guard, args),
            other => panic!("{other:?}\n{}", print_module(module)),
        };
        Ran { end, bytes: memory.read(array, BYTES as u64).expect("the array") }
    };
    inputs.iter().map(run).collect()
}

/// Runs its machine code.
fn native(module: &Module, inputs: &[[u64; 3]]) -> Vec<Ran> {
    let mut memory = Memory::for_module(module);
    let array = memory.allocate(BYTES as u64);
    let mut engine = jitcodegen::Engine::new(jitcodegen::Options::default()).expect("this machine");
    engine.compile(module, &memory).unwrap_or_else(|e| panic!("{e}\n{}", print_module(module)));
    let run = |[n, m, length]: &[u64; 3]| {
        fill(&mut memory, array);
        let end = match engine.call("f", &[*n, *m, array, *length]).expect("it runs") {
            jitcodegen::Outcome::Returned(words) => End::Returned(words),
            jitcodegen::Outcome::Trapped(trap) => End::Trapped(trap.message),
            jitcodegen::Outcome::Exited(exit) => End::Exited(exit.exit, exit.guard, exit.args),
        };
        Ran { end, bytes: memory.read(array, BYTES as u64).expect("the array") }
    };
    inputs.iter().map(run).collect()
}

fn fill(memory: &mut Memory, array: u64) {
    let bytes: Vec<u8> = (0..BYTES).map(|at| (at * 37 + 11) as u8).collect();
    memory.write(array, &bytes).expect("the array");
}

fn optimized(graph: &Graph, fuel: Option<u64>) -> (Graph, Rewrites) {
    let (mut graph, mut rewrites) = (graph.clone(), Rewrites::new(fuel, true));
    optimize(&mut graph, &[], &mut rewrites);
    (graph, rewrites)
}

/// The same, with copies of rounds of loops, as machine code is made of it.
fn with_copies(graph: &Graph, fuel: Option<u64>) -> (Graph, Rewrites) {
    let (mut graph, mut rewrites) = (graph.clone(), Rewrites::new(fuel, true));
    optimize(&mut graph, &[], &mut rewrites);
    let copied = copy_rounds(&graph, &[], &mut rewrites);
    (copied.unwrap_or(graph), rewrites)
}

#[test]
fn random_graphs_do_what_they_did() {
    let seed = asked("HUESHIFT_SEED").unwrap_or(7) as u64;
    println!("HUESHIFT_SEED={seed}");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut done: FxHashMap<&'static str, usize> = FxHashMap::default();
    let mut ends = [0; 3];
    for case in 0..asked("HUESHIFT_CASES").unwrap_or(CASES) {
        let graph = generator::graph(&mut random);
        let inputs = inputs(&mut random);
        let before = module(&graph);
        assert!(verify(&before).is_ok(), "{:?}\n{}", verify(&before), print_module(&before));
        let wanted = evaluate(&before, &inputs);
        for ran in &wanted {
            ends[match ran.end {
                End::Returned(_) => 0,
                End::Trapped(_) => 1,
                End::Exited(..) => 2,
            }] += 1;
        }
        let (plain, _) = optimized(&graph, None);
        let (copied, rewrites) = with_copies(&graph, None);
        for rewrite in rewrites.told() {
            *done.entry(rewrite.what.name()).or_default() += 1;
        }
        let after = module(&copied);
        for after in [&module(&plain), &after] {
            assert!(verify(after).is_ok(), "{:?}\n{}\n{}", verify(after), print_module(&before), print_module(after));
            if !may_stand_for(&evaluate(after, &inputs), &wanted) {
                culprit(case, &graph, &inputs, &wanted, rewrites.count());
            }
        }
        if case % 8 == 0 {
            let compiled = native(&after, &inputs);
            assert!(
                may_stand_for(&compiled, &wanted),
                "case {case}: {compiled:?}, not {wanted:?}: {}",
                print_module(&after)
            );
            // Any number of rewrites is as good as all of them, and each is told of.
            assert!(with_copies(&graph, Some(0)).0 == graph, "case {case}: changed by no rewrite");
            assert_eq!(rewrites.count(), rewrites.told().len() as u64);
            let some = random.below(rewrites.count() as usize + 1) as u64;
            let halfway = module(&with_copies(&graph, Some(some)).0);
            assert!(verify(&halfway).is_ok(), "{some}: {:?}\n{}", verify(&halfway), print_module(&before));
            let halfway = evaluate(&halfway, &inputs);
            assert!(may_stand_for(&halfway, &wanted), "case {case}, {some}: {halfway:?}, not {wanted:?}");
        }
    }
    println!("{done:?} {ends:?}");
    for what in [
        "known",
        "fold",
        "same op",
        "simpler",
        "selected",
        "sign",
        "sunk",
        "hoisted",
        "all ways",
        "peeled",
        "unrolled",
        "no overflow",
        "load",
        "load over a join",
        "op over a join",
        "decided",
        "dead store",
        "straightened",
        "range",
        "merged checks",
        "merged guards",
        "undemanded",
        "appended",
        "parameter",
        "constant",
        "branch",
        "dead",
        "jump",
    ] {
        assert!(done.contains_key(what), "{what} is never done: {done:?}");
    }
    assert!(ends.iter().all(|end| *end > 100), "{ends:?}");
}

/// Names the first rewrite with which a graph does something else.
fn culprit(case: usize, graph: &Graph, inputs: &[[u64; 3]], wanted: &[Ran], all: u64) -> ! {
    let wrong = |fuel: &u64| !may_stand_for(&evaluate(&module(&with_copies(graph, Some(*fuel)).0), inputs), wanted);
    let fuel = (0..=all).find(wrong).unwrap_or(all);
    let (after, rewrites) = with_copies(graph, Some(fuel));
    let after = module(&after);
    panic!(
        "case {case}: wrong by rewrite {fuel}, {:?}\nwanted {wanted:?}\nbut {:?}\n{}\n{}",
        rewrites.told().last(),
        evaluate(&after, inputs),
        print_module(&module(graph)),
        print_module(&after)
    );
}

/// A graph's blocks that may be come to from themselves, as text.
fn in_loops(graph: &Graph) -> String {
    let comes_back = |block: &BlockId| {
        let leads_to = |block: BlockId| graph.block(block).term.edges().map(|edge| edge.block);
        let (mut seen, mut todo): (Vec<BlockId>, Vec<BlockId>) = (Vec::new(), leads_to(*block).collect());
        while let Some(at) = todo.pop() {
            if !seen.contains(&at) {
                seen.push(at);
                todo.extend(leads_to(at));
            }
        }
        seen.contains(block)
    };
    let loops: Vec<BlockId> = graph.block_ids().filter(comes_back).collect();
    let text = print_module(&module(graph));
    let blocks = text.split("\nb").skip(1).filter(|block| {
        let number: u32 = block.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a block");
        loops.contains(&BlockId(number))
    });
    blocks.collect::<Vec<_>>().join("\n")
}

/// The files of `tests/optimizer`: graphs with what is absent when they have been optimized, what has moved below what,
/// what is no more in a loop, and what must be kept, beside what comes of them; with copies of rounds, if they ask for
/// that. `HUESHIFT_BLESS=1` writes that.
#[test]
fn each_optimization_leaves_what_it_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("optimizer");
    let files = std::fs::read_dir(&folder).expect("the folder").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "graph")).collect();
    files.sort();
    assert!(files.len() >= 16, "{files:?}");
    let inputs = inputs(&mut Random(99));
    let mut done: FxHashMap<&'static str, usize> = FxHashMap::default();
    for path in files {
        let name = path.display();
        let text = std::fs::read_to_string(&path).expect("a text");
        let before = parse_module(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(verify(&before).is_ok(), "{name}: {:?}", verify(&before));
        let copies = text.lines().any(|line| line == "// copies");
        let with = if copies { with_copies } else { optimized };
        let (graph, rewrites) = with(&before.graphs[0], None);
        for rewrite in rewrites.told() {
            *done.entry(rewrite.what.name()).or_default() += 1;
        }
        let after = module(&renumber(&graph));
        let left = print_module(&after);
        let said = |what: &'static str| text.lines().filter_map(move |line| line.strip_prefix(what));
        let wants = ["// absent: ", "// below: ", "// once: "];
        assert!(wants.into_iter().flat_map(said).count() > 0, "{name}: what is absent?");
        for absent in said("// absent: ").flat_map(|absent| absent.split('|')) {
            assert!(text.lines().any(|line| !line.starts_with("//") && line.contains(absent)), "{name}: {absent}");
            assert!(!print_module(&module(&graph)).contains(absent), "{name}: {absent} is there:\n{left}");
        }
        for (moved, under) in said("// below: ").filter_map(|line| line.split_once(" | ")) {
            let is_below = |text: &str| text.find(moved) > text.rfind(under) && text.contains(under);
            assert!(text.contains(moved) && !is_below(&print_module(&before)), "{name}: {moved}");
            assert!(is_below(&print_module(&module(&graph))), "{name}: {moved} isn't below {under}:\n{left}");
        }
        for once in said("// once: ") {
            assert!(in_loops(&before.graphs[0]).contains(once), "{name}: {once} is in no loop");
            assert!(left.contains(once) && !in_loops(&graph).contains(once), "{name}: {once} is in a loop:\n{left}");
        }
        for kept in said("// kept: ") {
            assert!(print_module(&module(&graph)).contains(kept), "{name}: {kept} is gone:\n{left}");
        }
        assert!(may_stand_for(&evaluate(&after, &inputs), &evaluate(&before, &inputs)), "{name}");
        let output = path.with_extension("optimized");
        if std::env::var_os("HUESHIFT_BLESS").is_some() {
            std::fs::write(&output, &left).expect("it can be written");
        }
        let blessed = std::fs::read_to_string(&output).unwrap_or_default();
        assert_eq!(left, blessed, "{name}: HUESHIFT_BLESS=1 makes it this");
        let (again, rewrites) = with(&graph, None);
        if copies {
            // What copies leave isn't gone over once more; but there are none of copies.
            let is_copy = |rewrite: &Rewrite| matches!(rewrite.what, Kind::Peeled | Kind::Unrolled);
            assert!(!rewrites.told().iter().any(is_copy), "{name}: copied again:\n{left}");
            continue;
        }
        assert_eq!(
            (print_module(&module(&renumber(&again))), rewrites.count()),
            (left, 0),
            "{name}: there is nothing left to do"
        );
    }
    for what in [
        "known",
        "fold",
        "simpler",
        "no overflow",
        "load",
        "decided",
        "hoisted",
        "all ways",
        "peeled",
        "unrolled",
        "bit",
        "undemanded",
    ] {
        assert!(done.contains_key(what), "{what}: {done:?}");
    }
}
