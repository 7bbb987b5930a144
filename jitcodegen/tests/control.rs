//! Control flow, calls, traps, memory.
#![allow(missing_docs)]

mod common;

use common::{Build, build, engine, returned};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use jitcodegen::{CodegenError, Engine, Options, Outcome};

const I: Type = Type::Int;

/// `sum of 0..n`, by a loop.
fn sum() -> Build {
    let (mut b, p) = build("sum", &[I], &[I]);
    let (head, h) = b.block(&[I, I]);
    let (body, _) = b.block(&[]);
    let (done, _) = b.block(&[]);
    b.jump(head, &[Operand::int(0), Operand::int(0)]);
    b.to(head);
    let more = b.op(Opcode::IntLt, &[h[0], p[0]]);
    b.branch(more, (body, &[]), (done, &[]));
    b.to(body);
    let acc = b.op(Opcode::IntAdd, &[h[1], h[0]]);
    let next = b.op(Opcode::IntAdd, &[h[0], Operand::int(1)]);
    b.jump(head, &[next, acc]);
    b.to(done);
    b.ret(&[h[1]]);
    b
}

fn fib() -> Build {
    let (mut b, p) = build("fib", &[I], &[I]);
    let (base, _) = b.block(&[]);
    let (rec, _) = b.block(&[]);
    let small = b.op(Opcode::IntLt, &[p[0], Operand::int(2)]);
    b.branch(small, (base, &[]), (rec, &[]));
    b.to(base);
    b.ret(&[p[0]]);
    b.to(rec);
    let one = b.op(Opcode::IntSub, &[p[0], Operand::int(1)]);
    let x = b.call("fib", &[one], &[I])[0];
    let two = b.op(Opcode::IntSub, &[p[0], Operand::int(2)]);
    let y = b.call("fib", &[two], &[I])[0];
    let z = b.op(Opcode::IntAdd, &[x, y]);
    b.ret(&[z]);
    b
}

#[test]
fn loops_and_calls() {
    let engine = engine(vec![sum(), fib()], Options::default());
    assert_eq!(returned(engine.call("sum", &[100])), [4950]);
    assert_eq!(returned(engine.call("fib", &[20])), [6765]);
    assert!(matches!(engine.call("fib", &[]), Err(CodegenError::Arguments { .. })));
    assert!(matches!(engine.call("fob", &[]), Err(CodegenError::UnknownGraph(_))));
}

#[test]
fn texts_show_names() {
    let engine = engine(vec![fib()], Options { keep_text: true, ..Options::default() });
    let clif = engine.clif("fib").unwrap();
    assert!(clif.contains("function %fib(") && clif.contains("= colocated %fib"), "{clif}");
    assert!(engine.asm("fib").unwrap().contains("ret"));
    // The branch uses the comparison itself.
    assert!(clif.contains("brif v9"), "{clif}");
}

#[test]
fn switches() {
    let (mut b, p) = build("pick", &[I], &[I]);
    let (ret, r) = b.block(&[I]);
    let (direct, _) = b.block(&[]);
    let cases = [(0, 10), (1, 11), (2, 12), (3, 13), (-5, 14), (i64::MIN, 15), (i64::MAX, 16), (1000, 17)];
    let mut edges: Vec<(i64, Edge)> = cases.iter().map(|(c, v)| (*c, Edge::new(ret, [Operand::int(*v)]))).collect();
    edges.push((77, Edge::new(direct, [])));
    edges.push((78, Edge::new(direct, [])));
    let default = Edge::new(ret, [Operand::int(99)]);
    b.end(Terminator::Switch { value: p[0], cases: edges, default, time: Time::Now, promotion: false });
    b.to(ret);
    b.ret(&[r[0]]);
    b.to(direct);
    b.ret(&[p[0]]);
    let engine = engine(vec![b], Options::default());
    for (case, want) in cases {
        assert_eq!(returned(engine.call("pick", &[case as u64])), [want as u64]);
    }
    assert_eq!(returned(engine.call("pick", &[77])), [77]);
    assert_eq!(returned(engine.call("pick", &[78])), [78]);
    assert_eq!(returned(engine.call("pick", &[4])), [99]);
}

#[test]
fn many_values_travel_in_memory() {
    let types: Vec<Type> = (0..40).map(|i| [Type::Int, Type::Float, Type::Single][i % 3]).collect();
    let (mut callee, p) = build("last", &types, &types);
    callee.ret(&p);
    let (mut caller, p) = build("caller", &types, &types);
    let results = caller.call("last", &p, &types);
    caller.ret(&results);
    let engine = engine(vec![callee, caller], Options::default());
    let words: Vec<u64> = (0..40u64).map(|i| (i * 3) | if i % 3 == 2 { 0 } else { 1 << 40 }).collect();
    assert_eq!(returned(engine.call("caller", &words)), words);
}

#[test]
fn traps_tell_kind_message_and_place() {
    let (mut b, p) = build("get", &[I, I], &[I]);
    let (bad, _) = b.block(&[]);
    let (good, _) = b.block(&[]);
    let ok = b.op(Opcode::UintLt, &[p[1], p[0]]);
    b.branch(ok, (good, &[]), (bad, &[]));
    b.to(good);
    b.ret(&[p[1]]);
    b.to(bad);
    let loc = Loc { line: 4, column: 9, ..Loc::UNKNOWN };
    let args = vec![(p[0], Scalar::Usize), (p[1], Scalar::Usize)];
    b.end(Terminator::Trap(Trap { kind: TrapKind::IndexOutOfBounds, message: None, args, loc }));
    let (mut outer, q) = build("outer", &[I], &[I]);
    let x = outer.call("get", &[Operand::int(3), q[0]], &[I])[0];
    outer.ret(&[x]);
    let engine = engine(vec![b, outer], Options::default());
    assert_eq!(returned(engine.call("outer", &[2])), [2]);
    let Ok(Outcome::Trapped(report)) = engine.call("outer", &[5]) else { panic!() };
    assert_eq!(report.kind, TrapKind::IndexOutOfBounds);
    assert_eq!(report.message, "index out of bounds: the len is 3 but the index is 5");
    assert_eq!(report.loc, loc);
    assert_eq!(returned(engine.call("outer", &[1])), [1]);
}

#[test]
fn recursion_without_end_is_a_trap() {
    let (mut b, p) = build("down", &[I], &[I]);
    let slot = Imm::Slot(SlotDesc { size: 200, name: "buffer".into() });
    b.full_op(Opcode::StackSlot, &[], &[I], slot);
    let next = b.op(Opcode::IntAdd, &[p[0], Operand::int(1)]);
    let x = b.call("down", &[next], &[I])[0];
    let y = b.op(Opcode::IntAdd, &[x, p[0]]);
    b.ret(&[y]);
    let (mut plain, p) = build("plain", &[I], &[I]);
    let next = plain.op(Opcode::IntAdd, &[p[0], Operand::int(1)]);
    let x = plain.call("plain", &[next], &[I])[0];
    let y = plain.op(Opcode::IntAdd, &[x, p[0]]);
    plain.ret(&[y]);
    let engine = engine(vec![b, plain, sum()], Options { slot_bytes: 1 << 20, ..Options::default() });
    for key in ["down", "plain", "down", "plain"] {
        let Ok(Outcome::Trapped(report)) = engine.call(key, &[0]) else { panic!() };
        assert_eq!((report.kind, report.message.as_str()), (TrapKind::StackExhausted, "stack exhausted"));
        assert_eq!(report.loc.line, 1);
        assert_eq!(returned(engine.call("sum", &[10])), [45]);
    }
}

fn desc(access: Access, offset: i32, stride: u32) -> Imm {
    let (class, field) = ("bytes".into(), "".into());
    Imm::mem(MemDesc { class, field, offset, stride, access, kind: MemKind::Exclusive })
}

#[test]
fn memory_accesses() {
    let mut graphs = Vec::new();
    for access in Access::ALL {
        let ty = access.ty();
        let name = access.name();
        let (mut b, p) = build(&format!("field {name}"), &[I, ty], &[ty]);
        b.full_op(Opcode::Setfield, &[p[0], p[1]], &[], desc(access, -8, 0));
        let v = b.full_op(Opcode::Getfield, &[p[0]], &[ty], desc(access, -8, 0));
        b.ret(&v);
        graphs.push(b);
        for stride in [access.size(), 24] {
            let (mut b, p) = build(&format!("item {name} {stride}"), &[I, I, ty], &[ty]);
            b.full_op(Opcode::Setarrayitem, &p, &[], desc(access, 16, stride));
            let v = b.full_op(Opcode::Getarrayitem, &p[..2], &[ty], desc(access, 16, stride));
            b.ret(&v);
            graphs.push(b);
        }
        let (mut b, p) = build(&format!("raw {name}"), &[I, I, ty], &[ty]);
        b.full_op(Opcode::RawStore, &p, &[], desc(access, 1, 0));
        let v = b.full_op(Opcode::RawLoad, &p[..2], &[ty], desc(access, 1, 0));
        b.ret(&v);
        graphs.push(b);
    }
    let mut memory = Memory::new();
    let (native, model) = (memory.allocate(256), memory.allocate(256));
    let engine = engine(graphs, Options::default());
    let words = [0u64, 1, 0x80, 0xff, 0x8000, 0xffff_8000, 0x1234_5678_9abc_def0, u64::MAX];
    for access in Access::ALL {
        let name = access.name();
        let size = access.size();
        for word in words.map(|w| if access == Access::F32 { u64::from(w as u32) } else { w }) {
            let check = |key: String, args: &[u64], at: u64| {
                assert_eq!(returned(engine.call(&key, args)), [access.truncate(word)], "{key} {word:x}");
                at
            };
            let mut at = vec![check(format!("field {name}"), &[native + 64, word], 56)];
            at.push(check(format!("item {name} {size}"), &[native, 3, word], 16 + 3 * u64::from(size)));
            at.push(check(format!("item {name} 24"), &[native, 3, word], 16 + 72));
            at.push(check(
                format!("item {name} {size}"),
                &[native + 100, -2i64 as u64, word],
                116 - 2 * u64::from(size),
            ));
            at.push(check(format!("raw {name}"), &[native, 120, word], 121));
            for at in at {
                memory.store(model + at, access, word).unwrap();
            }
            assert_eq!(memory.read(native, 256), memory.read(model, 256));
        }
    }
}

#[test]
fn slots_are_cleared_each_time() {
    for size in [8u32, 300] {
        let (mut b, p) = build("slots", &[I], &[I]);
        let (head, h) = b.block(&[I, I]);
        let (body, _) = b.block(&[]);
        let (done, _) = b.block(&[]);
        b.jump(head, &[Operand::int(0), Operand::int(0)]);
        b.to(head);
        let more = b.op(Opcode::IntLt, &[h[0], p[0]]);
        b.branch(more, (body, &[]), (done, &[]));
        b.to(body);
        let slot = b.full_op(Opcode::StackSlot, &[], &[I], Imm::Slot(SlotDesc { size, name: "s".into() }))[0];
        let other = b.full_op(Opcode::StackSlot, &[], &[I], Imm::Slot(SlotDesc { size, name: "t".into() }))[0];
        let at = size as i32 - 8;
        let old = b.full_op(Opcode::Getfield, &[slot], &[I], desc(Access::I64, at, 0))[0];
        b.full_op(Opcode::Setfield, &[slot, Operand::int(5)], &[], desc(Access::I64, at, 0));
        b.full_op(Opcode::Setfield, &[other, Operand::int(6)], &[], desc(Access::I64, at, 0));
        let new = b.full_op(Opcode::Getfield, &[slot], &[I], desc(Access::I64, at, 0))[0];
        let acc = b.op(Opcode::IntAdd, &[h[1], old]);
        let acc = b.op(Opcode::IntAdd, &[acc, new]);
        let next = b.op(Opcode::IntAdd, &[h[0], Operand::int(1)]);
        b.jump(head, &[next, acc]);
        b.to(done);
        b.ret(&[h[1]]);
        let engine = engine(vec![b], Options::default());
        assert_eq!(returned(engine.call("slots", &[10])), [50]);
        assert_eq!(returned(engine.call("slots", &[3])), [15]);
    }
}

#[test]
fn data_addresses_and_libm() {
    let (mut b, p) = build("table", &[I, Type::Float], &[I, Type::Float]);
    let base = Operand::Const(Const::Addr(DataId(0), 8));
    let v = b.full_op(Opcode::Getarrayitem, &[base, p[0]], &[I], desc(Access::I64, 0, 8))[0];
    let e = b.full_op(Opcode::CallElidable, &[p[1]], &[Type::Float], Imm::Call(Callee::plain("libm::sin")))[0];
    b.ret(&[v, e]);
    let mut module = common::module(vec![b]);
    let bytes = [1i64, 2, 3].iter().flat_map(|i| i.to_le_bytes()).collect();
    module.add_data(Data::plain("T", RustType::Unit, bytes));
    let memory = Memory::for_module(&module);
    let mut engine = Engine::new(Options::default()).unwrap();
    engine.compile(&module, &memory).unwrap();
    let sin = flowgraph::math::function("sin").unwrap().compute(&[2.5f64.to_bits()]);
    assert_eq!(returned(engine.call("table", &[1, 2.5f64.to_bits()])), [3, sin]);
}

#[test]
fn refusals_leave_the_engine_usable() {
    let mut engine = Engine::new(Options::default()).unwrap();
    let memory = Memory::new();
    let (mut b, p) = build("caller", &[I], &[I]);
    let x = b.call("missing", &p, &[I])[0];
    b.ret(&[x]);
    let good = sum();
    let refused = engine.compile_more(&[&good.graph, &b.graph], &memory);
    assert!(matches!(refused, Err(CodegenError::UnknownCallee { .. })));
    assert!(!engine.is_compiled("sum"));
    engine.compile_more(&[&good.graph], &memory).unwrap();
    assert!(matches!(engine.compile_more(&[&good.graph], &memory), Err(CodegenError::Duplicate(_))));
    assert_eq!(returned(engine.call("sum", &[4])), [6]);
    let (mut wrong, _) = build("wrong", &[], &[I]);
    let x = wrong.call("sum", &[], &[I])[0];
    wrong.ret(&[x]);
    assert!(matches!(engine.compile_more(&[&wrong.graph], &memory), Err(CodegenError::CallTypes { .. })));
    assert_eq!(returned(engine.call("sum", &[4])), [6]);
}

/// A trap leaves by the block by which all do: its own code stores its operands, where one byte reaches, and goes
/// there.
#[test]
fn traps_share_a_way_out() {
    let (mut b, p) = build("get", &[I, I, I], &[I]);
    for (nth, length) in [p[0], p[1]].into_iter().enumerate() {
        let (bad, _) = b.block(&[]);
        let (good, _) = b.block(&[]);
        let ok = b.op(Opcode::UintLt, &[p[2], length]);
        b.branch(ok, (good, &[]), (bad, &[]));
        b.to(bad);
        let loc = Loc { line: nth as u32 + 1, column: 9, ..Loc::UNKNOWN };
        let args = vec![(length, Scalar::Usize), (p[2], Scalar::Usize)];
        b.end(Terminator::Trap(Trap { kind: TrapKind::IndexOutOfBounds, message: None, args, loc }));
        b.to(good);
    }
    b.ret(&[p[2]]);
    let engine = engine(vec![b], Options { keep_text: true, ..Options::default() });
    let clif = engine.clif("get").unwrap();
    assert_eq!(clif.matches("return v").count(), 2, "the result's and the traps': {clif}");
    for (args, line, message) in [
        ([5, 9, 7], 1, "index out of bounds: the len is 5 but the index is 7"),
        ([9, 5, 7], 2, "index out of bounds: the len is 5 but the index is 7"),
    ] {
        let Ok(Outcome::Trapped(report)) = engine.call("get", &args) else { panic!("{args:?} doesn't trap") };
        assert_eq!((report.loc.line, &*report.message), (line, message));
    }
    assert_eq!(returned(engine.call("get", &[9, 8, 7])), [7]);
}

/// `x / y` and `x % y`, with the checks that Rust has before them.
fn checked_division(signed: bool) -> Build {
    let (mut b, p) = build("divide", &[I, I], &[I, I]);
    let trap = |kind| Trap { kind, message: None, args: Vec::new(), loc: Loc::UNKNOWN };
    let (by_zero, _) = b.block(&[]);
    let (nonzero, _) = b.block(&[]);
    let is_zero = b.op(Opcode::IntEq, &[p[1], Operand::int(0)]);
    b.branch(is_zero, (by_zero, &[]), (nonzero, &[]));
    b.to(by_zero);
    b.end(Terminator::Trap(trap(TrapKind::DivideByZero)));
    b.to(nonzero);
    let (q, r) = if signed { (Opcode::IntFloordiv, Opcode::IntMod) } else { (Opcode::UintFloordiv, Opcode::UintMod) };
    let (q, r) = (b.op(q, &p), b.op(r, &p));
    b.ret(&[q, r]);
    b
}

#[test]
fn checked_divisors_are_not_checked_twice() {
    let minus_one = -1i64 as u64;
    let min = i64::MIN as u64;
    for signed in [true, false] {
        let engine = engine(vec![checked_division(signed)], Options { keep_text: true, ..Options::default() });
        let clif = engine.clif("divide").unwrap();
        assert_eq!(clif.matches("select").count(), if signed { 2 } else { 0 }, "{clif}");
        assert!(matches!(engine.call("divide", &[5, 0]), Ok(Outcome::Trapped(_))));
        for (x, y) in [(7, 2), (minus_one, 2), (min, minus_one), (5, minus_one), (0, 9), (min, 3)] {
            let (q, r) = if signed {
                ((x as i64).wrapping_div(y as i64) as u64, (x as i64).wrapping_rem(y as i64) as u64)
            } else {
                (x / y, x % y)
            };
            assert_eq!(returned(engine.call("divide", &[x, y])), [q, r]);
        }
    }
}

/// What `likely` says is rare lies behind the rest of the code.
#[test]
fn what_is_unlikely_is_cold() {
    let positive = |opcode: Option<Opcode>| {
        let (mut b, p) = build("positive", &[I], &[I]);
        let (usual, _) = b.block(&[]);
        let (rare, _) = b.block(&[]);
        let mut cond = b.op(Opcode::IntGt, &[p[0], Operand::int(0)]);
        if let Some(opcode) = opcode {
            cond = b.op(opcode, &[cond]);
        }
        b.branch(cond, (usual, &[]), (rare, &[]));
        b.to(rare);
        b.ret(&[Operand::int(-1)]);
        b.to(usual);
        b.ret(&[p[0]]);
        b
    };
    for (opcode, cold) in [(Some(Opcode::Likely), 1), (Some(Opcode::Variable), 0), (None, 0)] {
        let engine = engine(vec![positive(opcode)], Options { keep_text: true, ..Options::default() });
        let clif = engine.clif("positive").unwrap();
        assert_eq!(clif.matches(" cold:").count(), cold, "{clif}");
        assert_eq!(
            clif.matches("uextend").count() + clif.matches("brif v").count(),
            2,
            "the comparison itself: {clif}"
        );
        for (x, wanted) in [(5, 5), (0, -1i64 as u64)] {
            assert_eq!(returned(engine.call("positive", &[x])), [wanted]);
        }
    }
}
