//! Exits, bridges, entering other graphs, activation frames.
#![allow(missing_docs)]

mod common;

use common::{Build, build, engine, module, returned};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use jitcodegen::{Batch, CodegenError, Engine, Exit, FrameLayout, Options, Outcome, Tier};
use std::cell::Cell;
use std::rc::Rc;

const I: Type = Type::Int;

/// Counts `n` down to 0 adding to `acc`; leaves through exit 3 whenever `n & mask == 0`, with `live` more values.
fn countdown(live: &[Type]) -> Build {
    let mut types = vec![I, I, I];
    types.extend(live);
    let (mut b, p) = build("loop", &types, &[I]);
    let (head, h) = b.block(&types);
    let (body, _) = b.block(&[]);
    let (cont, _) = b.block(&[]);
    let (out, g) = b.block(&[I]);
    let (done, _) = b.block(&[]);
    b.jump(head, &p);
    b.to(head);
    let more = b.op(Opcode::IntIsTrue, &[h[0]]);
    b.branch(more, (body, &[]), (done, &[]));
    b.to(body);
    let n = b.op(Opcode::IntSub, &[h[0], Operand::int(1)]);
    let acc = b.op(Opcode::IntAdd, &[h[2], n]);
    let low = b.op(Opcode::IntAnd, &[n, h[1]]);
    b.branch(low, (cont, &[]), (out, &[Operand::int(17)]));
    let now: Vec<Operand> = [n, h[1], acc].into_iter().chain(h[3..].iter().copied()).collect();
    b.to(cont);
    b.jump(head, &now);
    b.to(out);
    b.end(Terminator::Exit { exit: 3, guard: g[0], args: now });
    b.to(done);
    b.ret(&[h[2]]);
    b
}

/// Adds 1000 and goes on in the loop.
fn bridge(live: &[Type]) -> Build {
    let mut types = vec![I, I, I];
    types.extend(live);
    let (mut b, mut p) = build("bridge", &types, &[I]);
    p[2] = b.op(Opcode::IntAdd, &[p[2], Operand::int(1000)]);
    b.end(Terminator::Enter { graph: "loop".into(), args: p });
    b
}

/// Branches on `x < y` or on `x & y`. Both sides hand on what was branched on, twice: as it is, and through a
/// parameter.
fn branching(opcode: Opcode) -> Build {
    let (mut b, p) = build("branching", &[I, I], &[I, I]);
    let (then, t) = b.block(&[I]);
    let (otherwise, o) = b.block(&[I]);
    let cond = b.op(opcode, &[p[0], p[1]]);
    b.branch(cond, (then, &[cond]), (otherwise, &[cond]));
    b.to(then);
    b.ret(&[cond, t[0]]);
    b.to(otherwise);
    b.end(Terminator::Exit { exit: 0, guard: Operand::int(4), args: vec![p[1], cond, o[0]] });
    b
}

/// What was branched on is known behind the branch, so that a comparison that an exit hands over isn't computed as a
/// number.
#[test]
fn what_was_branched_on_is_known_behind_it() {
    for opcode in [Opcode::IntLt, Opcode::IntAnd] {
        let options = Options { keep_text: true, ..Options::default() };
        let engine = engine(vec![branching(opcode)], options);
        for (x, y) in [(3, 6), (6, 3), (4, 3), (0, 0), (7, 15)] {
            let cond = if opcode == Opcode::IntLt { u64::from(x < y) } else { x & y };
            match engine.call("branching", &[x, y]) {
                Ok(Outcome::Returned(words)) if cond != 0 => assert_eq!(words, [cond, cond]),
                Ok(Outcome::Exited(exit)) if cond == 0 => assert_eq!(exit.args, [y, 0, 0]),
                other => panic!("{x} {y}: {other:?}"),
            }
        }
        let asm = engine.asm("branching").unwrap_or_default();
        assert!(!asm.is_empty());
        if cfg!(target_arch = "x86_64") {
            assert!(!asm.contains("  set"), "{asm}");
        }
    }
}

#[test]
fn exits_lead_to_the_host_or_a_bridge() {
    for count in [0, 9, 10, 40] {
        let live: Vec<Type> = (0..count).map(|i| [Type::Float, I, Type::Single][i % 3]).collect();
        let mut engine = engine(vec![countdown(&live)], Options::default());
        let extra: Vec<u64> = (0..count as u64).map(|i| i + 5).collect();
        let args = |n: u64| -> Vec<u64> { [n, 7, 0].into_iter().chain(extra.iter().copied()).collect() };
        let Ok(Outcome::Exited(Exit { graph, exit, guard, args: live_values })) = engine.call("loop", &args(10)) else {
            panic!()
        };
        assert_eq!((graph.as_str(), exit, guard), ("loop", 3, 17));
        assert_eq!(live_values[..3], [8, 7, 17]);
        assert_eq!(live_values[3..], extra[..]);

        engine.compile_more(&[&bridge(&live).graph], &Memory::new()).unwrap();
        engine.patch("loop", 3, "bridge").unwrap();
        assert_eq!(returned(engine.call("loop", &args(20))), [190 + 3000]);
        // The stack doesn't grow with round trips.
        assert_eq!(returned(engine.call("loop", &args(1_000_000))), [499_999_500_000 + 125_000_000]);
        engine.unpatch("loop", 3).unwrap();
        assert!(matches!(engine.call("loop", &args(10)), Ok(Outcome::Exited(_))));
        // Whether patched or not, runs that don't exit just return.
        assert_eq!(returned(engine.call("loop", &args(0))), [0]);
    }
}

/// The loop makes no guard's number, and asks for no registers: that is left to the way out, which all exits share.
#[test]
fn what_an_exit_takes_is_not_beside_the_branch() {
    let options = Options { keep_text: true, ..Options::default() };
    let engine = engine(vec![countdown(&[])], options);
    let clif = engine.clif("loop").unwrap_or_default();
    let blocks: Vec<&str> = clif.split("\nblock").collect();
    let makes: Vec<&&str> = blocks.iter().filter(|block| block.contains("iconst.i64 17")).collect();
    assert_eq!(makes.len(), 1, "{clif}");
    assert!(!makes[0].contains("brif"), "{clif}");
    assert_eq!(clif.matches("return_call_indirect").count(), 1, "{clif}");
    let leaves = clif.lines().find(|line| line.contains("return_call_indirect")).unwrap_or_default();
    let travels = leaves.rsplit('(').next().unwrap_or_default();
    assert!(travels.starts_with('v') && !travels.contains(','), "the context alone: {leaves}");
}

#[test]
fn bridges_must_fit() {
    let mut engine = engine(vec![countdown(&[])], Options::default());
    let (mut b, p) = build("other", &[I], &[I]);
    b.ret(&p);
    engine.compile_more(&[&b.graph], &Memory::new()).unwrap();
    assert!(matches!(engine.patch("loop", 3, "other"), Err(CodegenError::BridgeTypes { .. })));
    assert!(matches!(engine.patch("loop", 4, "other"), Err(CodegenError::UnknownExit { .. })));
    assert!(matches!(engine.patch("loop", 3, "nothing"), Err(CodegenError::UnknownGraph(_))));
    assert!(matches!(engine.unpatch("nothing", 3), Err(CodegenError::UnknownExit { .. })));
}

/// Enters a graph with what it is given.
fn enters(key: &str, inner: &str) -> Build {
    let (mut b, p) = build(key, &[I], &[I]);
    b.end(Terminator::Enter { graph: inner.into(), args: p });
    b
}

/// Gives what it is given, and some more.
fn adds(key: &str, more: i64) -> Build {
    let (mut b, p) = build(key, &[I], &[I]);
    let sum = b.op(Opcode::IntAdd, &[p[0], Operand::int(more)]);
    b.ret(&[sum]);
    b
}

#[test]
fn what_enters_a_graph_can_be_redirected() {
    let graphs = vec![enters("first", "inner"), enters("second", "first"), adds("inner", 1), adds("better", 2)];
    let mut engine = engine(graphs, Options::default());
    assert_eq!(returned(engine.call("second", &[5])), [6]);
    engine.redirect("inner", "better").unwrap();
    assert_eq!(returned(engine.call("first", &[5])), [7]);
    assert_eq!(returned(engine.call("second", &[5])), [7]);
    // Who calls it by its name gets it; and what is compiled later goes where the others go.
    assert_eq!(returned(engine.call("inner", &[5])), [6]);
    engine.compile_more(&[&enters("third", "inner").graph, &adds("best", 3).graph], &Memory::new()).unwrap();
    assert_eq!(returned(engine.call("third", &[5])), [7]);
    engine.redirect("inner", "best").unwrap();
    engine.redirect("first", "best").unwrap();
    assert_eq!(returned(engine.call("third", &[5])), [8]);
    assert_eq!(returned(engine.call("second", &[5])), [8]);
    // A graph that nobody enters yet.
    engine.redirect("third", "inner").unwrap();
    engine.compile_more(&[&enters("fourth", "third").graph], &Memory::new()).unwrap();
    assert_eq!(returned(engine.call("fourth", &[5])), [6]);
    assert!(matches!(engine.redirect("inner", "nothing"), Err(CodegenError::UnknownGraph(_))));
    let (mut other, p) = build("other", &[Type::Float], &[I]);
    let _ = p;
    other.ret(&[Operand::int(0)]);
    engine.compile_more(&[&other.graph], &Memory::new()).unwrap();
    assert!(matches!(engine.redirect("inner", "other"), Err(CodegenError::BridgeTypes { .. })));
}

/// Calls the loop and adds one.
fn caller() -> Build {
    let (mut b, p) = build("caller", &[I], &[I]);
    let x = b.call("loop", &[p[0], Operand::int(7), Operand::int(0)], &[I])[0];
    let y = b.op(Opcode::IntAdd, &[x, Operand::int(1)]);
    b.ret(&[y]);
    b
}

#[test]
fn called_graphs_that_exit_are_finished_by_the_host() {
    let mut engine = engine(vec![countdown(&[]), caller()], Options::default());
    let seen = Rc::new(Cell::new(0));
    let count = seen.clone();
    let entry = engine.entry("loop").unwrap();
    engine.set_exit_hook(Some(Rc::new(move |exit: &Exit| {
        count.set(count.get() + 1);
        match entry.call(&exit.args) {
            Ok(Outcome::Returned(words)) => Ok(words),
            Ok(Outcome::Exited(_)) => Ok(vec![77]),
            other => panic!("{other:?}"),
        }
    })));
    assert_eq!(returned(engine.call("caller", &[5])), [11]);
    assert_eq!(seen.get(), 1);
    assert_eq!(returned(engine.call("caller", &[10])), [78]);
    engine.set_exit_hook(Some(Rc::new(|_: &Exit| panic!("no way"))));
    let Ok(Outcome::Trapped(report)) = engine.call("caller", &[10]) else { panic!() };
    assert_eq!(report.message, "helper panicked: no way");
}

/// A function that only calls `inner`, and gives what that gives.
fn calls(key: &str, inner: &str) -> Build {
    let (mut b, p) = build(key, &[I], &[I]);
    let x = b.call(inner, &[p[0]], &[I])[0];
    b.ret(&[x]);
    b
}

#[test]
fn called_graphs_that_exit_without_anybody_to_finish_them_are_errors() {
    let graphs = vec![countdown(&[]), caller(), calls("outer", "caller"), bridge(&[])];
    let mut engine = engine(graphs, Options::default());
    for (key, args) in [("caller", [10]), ("outer", [10]), ("caller", [12])] {
        let ended = engine.call(key, &args);
        let Err(error @ CodegenError::ExitOfCallee { .. }) = ended else { panic!("{key}: {ended:?}") };
        let said = "graph `loop` was called by generated code and left through its exit 3, which nobody finishes";
        assert_eq!(error.to_string(), said);
        // It is the run that is lost, not the engine.
        assert_eq!(returned(engine.call(key, &[0])), [1]);
    }
    // One that nobody has called may leave, and so may one that is called, into a bridge.
    assert!(matches!(engine.call("loop", &[10, 7, 0]), Ok(Outcome::Exited(Exit { exit: 3, .. }))));
    engine.patch("loop", 3, "bridge").unwrap();
    assert_eq!(returned(engine.call("outer", &[20])), [190 + 3000 + 1]);
}

fn desc(offset: i32) -> Imm {
    let (class, field) = ("bytes".into(), "".into());
    Imm::mem(MemDesc { class, field, offset, stride: 0, access: Access::I64, kind: MemKind::Exclusive })
}

/// Makes a local aggregate, puts `x` there and leaves with its address.
fn with_slot(size: u32) -> Build {
    let (mut b, p) = build("fragment", &[I], &[I]);
    let slot = b.full_op(Opcode::StackSlot, &[], &[I], Imm::Slot(SlotDesc { size, name: "s".into() }))[0];
    b.full_op(Opcode::Setfield, &[slot, p[0]], &[], desc(8));
    b.end(Terminator::Exit { exit: 0, guard: Operand::int(0), args: vec![slot, p[0]] });
    b
}

/// Reads it back, from a function that has slots of its own and from a fragment that calls itself on the way.
fn readers() -> [Build; 2] {
    let (mut b, p) = build("plain reader", &[I, I], &[I]);
    let slot = b.full_op(Opcode::StackSlot, &[], &[I], Imm::Slot(SlotDesc { size: 16, name: "t".into() }))[0];
    b.full_op(Opcode::Setfield, &[slot, Operand::int(1)], &[], desc(8));
    let x = b.full_op(Opcode::Getfield, &[p[0]], &[I], desc(8))[0];
    b.ret(&[x]);
    let (mut c, q) = build("nesting reader", &[I, I], &[I]);
    let (more, _) = c.block(&[]);
    let (done, _) = c.block(&[]);
    c.branch(q[1], (more, &[]), (done, &[]));
    c.to(more);
    let less = c.op(Opcode::IntSub, &[q[1], Operand::int(1)]);
    let inner = c.call("fragment", &[less], &[I])[0];
    let x = c.full_op(Opcode::Getfield, &[q[0]], &[I], desc(8))[0];
    let sum = c.op(Opcode::IntAdd, &[x, inner]);
    c.ret(&[sum]);
    c.to(done);
    c.ret(&[Operand::int(0)]);
    [b, c]
}

#[test]
fn slots_of_fragments_live_in_the_activation() {
    let [plain, nesting] = readers();
    let mut engine = engine(vec![with_slot(64), plain, nesting], Options::default());
    let entry = engine.entry("fragment").unwrap();
    // The host can use them as long as it keeps the activation, whatever else runs.
    let activation = entry.activation().unwrap();
    let Ok(Outcome::Exited(exit)) = entry.call_in(&activation, &[42]) else { panic!() };
    let other = engine.entry("fragment").unwrap();
    assert!(matches!(other.call(&[43]), Ok(Outcome::Exited(_))));
    let reader = engine.entry("plain reader").unwrap();
    assert_eq!(returned(reader.call(&exit.args)), [42]);
    assert_eq!(returned(reader.call(&exit.args)), [42]);
    drop(activation);
    // A bridge finds them, a plain function or not, and each call has its own.
    engine.patch("fragment", 0, "plain reader").unwrap();
    assert_eq!(returned(engine.call("fragment", &[42])), [42]);
    engine.patch("fragment", 0, "nesting reader").unwrap();
    assert_eq!(returned(engine.call("fragment", &[10])), [55]);
    let Ok(Outcome::Trapped(report)) = engine.call("fragment", &[1 << 40]) else { panic!() };
    assert_eq!(report.kind, TrapKind::StackExhausted);
    assert_eq!(returned(engine.call("fragment", &[10])), [55]);
}

#[test]
fn frames_have_a_limit() {
    let options = Options { frame_bytes: 1024, ..Options::default() };
    let mut engine = Engine::new(options).unwrap();
    let memory = Memory::new();
    let refused = engine.compile(&module(vec![with_slot(2000)]), &memory);
    assert!(matches!(refused, Err(CodegenError::FrameFull { needed: 2000, limit: 1024, .. })));
    engine.compile(&module(vec![with_slot(1000)]), &memory).unwrap();
    let mut second = with_slot(100).graph;
    second.key = "second".to_owned();
    assert!(matches!(engine.compile_more(&[&second], &memory), Err(CodegenError::FrameFull { .. })));
    let own = FrameLayout::new(1024);
    let (tier, graphs) = (Tier::default(), [&second]);
    engine
        .compile_batch(Batch { graphs: &graphs, memory: &memory, tier: &tier, layout: Some(&own), entered: &|_| false })
        .unwrap();
    assert_eq!(own.used(), 112);
}

#[test]
fn the_slot_stack_can_be_the_guests_memory() {
    let mut memory = Memory::new();
    let bytes = 256 << 10;
    let at = memory.allocate(bytes);
    let mut engine = Engine::new(Options { slot_memory: Some((at, bytes)), ..Options::default() }).unwrap();
    engine.compile(&module(vec![with_slot(64)]), &memory).unwrap();
    let entry = engine.entry("fragment").unwrap();
    let activation = entry.activation().unwrap();
    let Ok(Outcome::Exited(exit)) = entry.call_in(&activation, &[42]) else { panic!() };
    assert_eq!(memory.load(exit.args[0] + 8, Access::I64), Ok(42));
}

#[test]
fn entries_outlive_the_engine() {
    let engine = engine(vec![countdown(&[])], Options::default());
    let entry = engine.entry("loop").unwrap();
    drop(engine);
    assert!(matches!(entry.call(&[10, 7, 0]), Ok(Outcome::Exited(Exit { exit: 3, .. }))));
}

#[test]
fn tiers_have_names_of_their_own() {
    let interpreter = Tier { names: "tier0:".to_owned(), ..Tier::default() };
    let residual = Tier { falls_back_on: vec!["tier0:".to_owned()], jitted: true, ..Tier::default() };
    let mut engine = Engine::new(Options::default()).unwrap();
    let memory = Memory::new();
    let which = |key: &str, callee: &str, n: i64| {
        let (mut b, _) = build(key, &[], &[I]);
        let jitted = b.op(Opcode::WeAreJitted, &[]);
        let x = if callee.is_empty() { Operand::int(n) } else { b.call(callee, &[], &[I])[0] };
        let y = b.op(Opcode::IntMul, &[x, Operand::int(10)]);
        let z = b.op(Opcode::IntAdd, &[y, jitted]);
        b.ret(&[z]);
        b
    };
    let old = [which("f", "", 3), which("g", "f", 0), which("h", "f", 0)];
    let graphs: Vec<&Graph> = old.iter().map(|b| &b.graph).collect();
    engine
        .compile_batch(Batch {
            graphs: &graphs,
            memory: &memory,
            tier: &interpreter,
            layout: None,
            entered: &|_| false,
        })
        .unwrap();
    let new = [which("g", "h", 0), which("k", "g", 0)];
    let graphs: Vec<&Graph> = new.iter().map(|b| &b.graph).collect();
    engine
        .compile_batch(Batch { graphs: &graphs, memory: &memory, tier: &residual, layout: None, entered: &|_| false })
        .unwrap();
    assert_eq!(returned(engine.call("tier0:g", &[])), [3000 / 10]);
    assert_eq!(returned(engine.call("g", &[])), [3001]);
    assert_eq!(returned(engine.call("k", &[])), [30011]);
    assert!(!engine.is_compiled("f"));
}
