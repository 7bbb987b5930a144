//! Guest programs that are hard on traces: what their code gives, whatever chaos does to it, and how large it grows.

use flowgraph::ir::{Graph, Opcode};
use hueshift::embed::Jit;
use hueshift::{JitOptions, Stats};
use hueshift_tests::hard::{INTERPRETER, aot, interp, jit, never_taken, programs, registers};

/// Rounds that are enough for regions of the outermost loops.
const ROUNDS: i64 = 600;

/// So many seeds of chaos.
const SEEDS: u64 = 4;

fn options() -> JitOptions {
    JitOptions { threshold: 5, bridge: 2, region: 5, slot_bytes: 1 << 22, ..JitOptions::default() }
}

/// Runs a program three times with the same code, beside tier 0.
fn run(name: &str, code: &[u16], options: JitOptions) -> Stats {
    let shown =
        format!("{name}: region={}, chaos={}, code-bytes={}", options.region, options.chaos, options.code_bytes);
    let mut jit = Jit::with_options(&INTERPRETER, options);
    for rounds in [ROUNDS, 7, ROUNDS] {
        let (mut wanted_r, mut r) = (registers(rounds), registers(rounds));
        let wanted = interp::run(code, 0, &mut wanted_r).expect("no trap");
        let got = jit::run(&mut jit, code, 0, &mut r).unwrap_or_else(|e| panic!("{shown}: {e}"));
        assert_eq!((wanted, wanted_r), (got, r), "{shown}");
    }
    jit.stats()
}

#[test]
fn code_is_right_and_bounded() {
    for hard in programs() {
        let mut eager = Jit::with_options(&INTERPRETER, options());
        let (mut wanted, mut r) = (registers(ROUNDS), registers(ROUNDS));
        let ran = interp::run(&hard.code, 0, &mut wanted).expect("no trap");
        assert_eq!(aot::run(&mut eager, &hard.code, 0, &mut r).expect("no trap"), ran);
        assert_eq!(r, wanted);
        for region in [0, 5] {
            let stats = run(hard.name, &hard.code, JitOptions { region, ..options() });
            assert!((stats.regions > 0) == (region > 0), "{}: {stats:?}", hard.name);
            let bytes = (stats.code_bytes, eager.stats().code_bytes);
            assert!(bytes.0 <= 2_000 + 8 * bytes.1, "{}: {} bytes, {} ahead of time", hard.name, bytes.0, bytes.1);
        }
    }
}

#[test]
fn chaos_changes_nothing() {
    let mut total = Stats::default();
    for hard in programs() {
        for chaos in 1..=SEEDS {
            let code_bytes = if chaos % 4 == 0 { 2_000 } else { options().code_bytes };
            total += run(hard.name, &hard.code, JitOptions { chaos, code_bytes, ..options() });
        }
    }
    assert!(total.regions > 10 && total.bridges > 100 && total.evictions > 0, "{total:?}");
}

/// What no run has come to is an exit of a region: none of its ops are compiled.
#[test]
fn branches_that_were_not_seen_stay_exits() {
    let mut jit = Jit::with_options(&INTERPRETER, options());
    let code = never_taken();
    let (mut wanted_r, mut r) = (registers(ROUNDS), registers(ROUNDS));
    let wanted = interp::run(&code, 0, &mut wanted_r).expect("no trap");
    assert_eq!((jit::run(&mut jit, &code, 0, &mut r).expect("no trap"), r), (wanted, wanted_r));
    assert_eq!(jit.stats().regions, 1);
    let made = jit.specialized().expect("it can be shown").remove(0).residual;
    let has = |graph: &Graph, opcode| graph.blocks.iter().flat_map(|b| &b.ops).any(|op| op.opcode == opcode);
    let graphs = || made.module.graphs.values().filter(|graph| !graph.is_host());
    assert!(!graphs().any(|graph| has(graph, Opcode::IntMul)), "the branch that no run takes has code");
    let regions: Vec<&Graph> =
        graphs().filter(|graph| has(graph, Opcode::IntXor) && has(graph, Opcode::IntAdd)).collect();
    assert!(!regions.is_empty(), "no graph has both sides of the branch that goes both ways");
    let ops = |graph: &Graph| graph.blocks.iter().map(|block| block.ops.len()).sum::<usize>();
    // The round: r0 & 1, both sides, r0 + 1, and three conditions; and what is loaded before the loop and stored
    // behind.
    let sizes: Vec<usize> = regions.iter().map(|graph| ops(graph)).collect();
    assert!(sizes.iter().all(|size| *size <= 20), "{sizes:?}");
}
