//! Registered functions and merge points.
#![allow(missing_docs)]
#![allow(unsafe_code, reason = "one of the functions is as machine code calls it")]

mod common;

use common::{Build, build, engine, module, returned};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use jitcodegen::{Answer, CodegenError, Engine, Failure, Helper, Options, Outcome, Tier, TrapReport};
use std::cell::RefCell;
use std::rc::Rc;

const I: Type = Type::Int;

fn asking() -> Options {
    Options { tier: Tier { merge_points: true, ..Tier::default() }, ..Options::default() }
}

fn caller() -> Build {
    let (mut b, p) = build("caller", &[I, Type::Single], &[I, Type::Single]);
    let r = b.call("outside", &p, &[I, Type::Single]);
    let x = b.op(Opcode::IntAdd, &[r[0], p[0]]);
    b.ret(&[x, r[1]]);
    b
}

#[test]
fn registered_functions() {
    let mut engine = Engine::new(Options::default()).unwrap();
    let types = || vec![I, Type::Single];
    let function = |cx: &jitcodegen::HelperCx<'_>, args: &[u64], results: &mut [u64]| {
        assert_eq!(cx.loc().line, 7);
        match args[0] {
            1 => return Err("it said no".into()),
            2 => panic!("oh {}", args[0]),
            3 => {
                let message = "other".to_owned();
                return Err(Failure::Trap(TrapReport { kind: TrapKind::Assert, message, loc: Loc::UNKNOWN }));
            }
            _ => {}
        }
        results[0] = args[0] * 2;
        results[1] = u64::from((f32::from_bits(args[1] as u32) + 1.0).to_bits());
        Ok(())
    };
    let helper = Helper { params: types(), results: types(), function: Box::new(function), direct: None };
    engine.register_helper("outside", helper).unwrap();
    let again = Helper { params: types(), results: types(), function: Box::new(|_, _, _| Ok(())), direct: None };
    assert!(matches!(engine.register_helper("outside", again), Err(CodegenError::DuplicateHelper(_))));
    engine.compile(&module(vec![caller()]), &Memory::new()).unwrap();
    let half = u64::from(0.5f32.to_bits());
    let call = |x: u64| engine.call("caller", &[x, half]);
    assert_eq!(returned(call(5)), [15, u64::from(1.5f32.to_bits())]);
    let trapped = |x: u64| match call(x) {
        Ok(Outcome::Trapped(report)) => (report.kind, report.message, report.loc.line),
        other => panic!("{other:?}"),
    };
    assert_eq!(trapped(1), (TrapKind::Panic, "it said no".to_owned(), 7));
    assert_eq!(trapped(2), (TrapKind::Panic, "helper panicked: oh 2".to_owned(), 7));
    assert_eq!(trapped(3), (TrapKind::Assert, "other".to_owned(), 0));
    assert_eq!(returned(call(5)), [15, u64::from(1.5f32.to_bits())]);
}

/// As `registered_functions`' helper, called without the shim.
///
/// # Safety
/// There are two words at each place.
unsafe extern "C" fn direct(args: *const u64, results: *mut u64) -> i64 {
    // SAFETY: the caller's promise.
    let (args, results) = unsafe { (*args.cast::<[u64; 2]>(), &mut *results.cast::<[u64; 2]>()) };
    if args[0] == 1 {
        flowgraph::host::fail("it said no".to_owned());
        return 1;
    }
    *results = [args[0] * 2, u64::from((f32::from_bits(args[1] as u32) + 1.0).to_bits())];
    0
}

/// One without words.
extern "C" fn nothing(_: *const u64, _: *mut u64) -> i64 {
    0
}

#[test]
fn functions_that_are_called_as_they_are() {
    let mut engine = Engine::new(Options::default()).unwrap();
    let types = || vec![I, Type::Single];
    let helper = Helper {
        params: types(),
        results: types(),
        function: Box::new(|_, _, _| unreachable!()),
        direct: Some(direct),
    };
    engine.register_helper("outside", helper).unwrap();
    let nothing =
        Helper { params: vec![], results: vec![], function: Box::new(|_, _, _| unreachable!()), direct: Some(nothing) };
    engine.register_helper("nothing", nothing).unwrap();
    // The smaller call comes first.
    let (mut b, p) = build("caller", &[I, Type::Single], &[I, Type::Single]);
    b.call("nothing", &[], &[]);
    let r = b.call("outside", &p, &[I, Type::Single]);
    let x = b.op(Opcode::IntAdd, &[r[0], p[0]]);
    b.ret(&[x, r[1]]);
    engine.compile(&module(vec![b]), &Memory::new()).unwrap();
    let half = u64::from(0.5f32.to_bits());
    for _ in 0..2 {
        assert_eq!(returned(engine.call("caller", &[5, half])), [15, u64::from(1.5f32.to_bits())]);
        let Ok(Outcome::Trapped(report)) = engine.call("caller", &[1, half]) else { panic!("it has failed") };
        assert_eq!((report.kind, &*report.message, report.loc.line), (TrapKind::Panic, "it said no", 7));
    }
    assert_eq!(flowgraph::host::take_failure(), "a function of the host failed", "it has been asked why");
}

/// `portal(pc, acc)`: adds `pc` to `acc` until `pc` is 0; a merge point at its loop's head.
fn portal() -> Build {
    let (mut b, p) = build("portal", &[I, Type::Float], &[Type::Float]);
    let (head, h) = b.block(&[I, Type::Float]);
    let (body, _) = b.block(&[]);
    let (done, _) = b.block(&[]);
    b.jump(head, &p);
    b.to(head);
    b.full_op(Opcode::MergePoint, &h, &[], Imm::None);
    let more = b.op(Opcode::IntIsTrue, &[h[0]]);
    b.branch(more, (body, &[]), (done, &[]));
    b.to(body);
    let pc = b.op(Opcode::CastIntToFloat, &[h[0]]);
    let acc = b.op(Opcode::FloatAdd, &[h[1], pc]);
    let next = b.op(Opcode::IntSub, &[h[0], Operand::int(1)]);
    b.full_op(Opcode::CanEnterJit, &[], &[], Imm::None);
    b.jump(head, &[next, acc]);
    b.to(done);
    b.ret(&[h[1]]);
    b
}

#[test]
fn merge_points_ask_the_host() {
    let mut engine = engine(vec![portal()], asking());
    let run = |engine: &Engine, n: u64| engine.call("portal", &[n, 0f64.to_bits()]);
    let float = |f: f64| vec![f.to_bits()];
    assert_eq!(returned(run(&engine, 4)), float(10.0));

    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    let entry = engine.entry("portal").unwrap();
    engine.set_merge_hook(Some(Rc::new(move |site, values: &mut [u64]| {
        log.borrow_mut().push((site, values[0]));
        match values[0] {
            3 => {
                // Runs generated code, which comes back here, and then goes on elsewhere.
                let Ok(Outcome::Returned(words)) = entry.call(&[2, 0]) else { panic!() };
                values[0] = 1;
                values[1] = words[0];
                Answer::Continue
            }
            10 => Answer::Return(vec![0.25f64.to_bits()]),
            11 => {
                let (message, loc) = ("stop".to_owned(), Loc::UNKNOWN);
                Answer::Trapped(TrapReport { kind: TrapKind::Panic, message, loc })
            }
            12 => panic!("broken"),
            _ => Answer::Continue,
        }
    })));
    assert_eq!(returned(run(&engine, 4)), float(2.0 + 1.0 + 1.0));
    let pcs: Vec<u64> = seen.borrow().iter().map(|(_, pc)| *pc).collect();
    assert_eq!(pcs, [4, 3, 2, 1, 0, 0]);
    let site = engine.merge_site(seen.borrow()[0].0).unwrap();
    assert_eq!((site.graph.as_str(), site.types, site.results), ("portal", vec![I, Type::Float], vec![Type::Float]));
    assert_eq!(returned(run(&engine, 10)), float(0.25));
    assert!(matches!(run(&engine, 11), Ok(Outcome::Trapped(r)) if r.message == "stop"));
    assert!(matches!(run(&engine, 12), Ok(Outcome::Trapped(r)) if r.message == "helper panicked: broken"));
    engine.set_merge_hook(None);
    assert_eq!(returned(run(&engine, 4)), float(10.0));
}

#[test]
fn merge_points_are_gone_by() {
    let mut engine = engine(vec![portal()], asking());
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    engine.set_merge_hook(Some(Rc::new(move |_, values: &mut [u64]| {
        log.borrow_mut().push(values[0]);
        values[1] = 0f64.to_bits();
        Answer::Continue
    })));
    // 4, 3 and 2 are added up, and forgotten at the next one.
    engine.skip_merge_points(3);
    assert_eq!(returned(engine.call("portal", &[4, 0])), [0f64.to_bits()]);
    assert_eq!(seen.take(), [1, 0]);
    engine.skip_merge_points(100);
    assert_eq!(returned(engine.call("portal", &[4, 0])), [10f64.to_bits()]);
    assert_eq!(seen.take(), []);
}

#[test]
fn compiling_while_running() {
    let engine = Rc::new(RefCell::new(engine(vec![portal()], asking())));
    let shared = engine.clone();
    engine.borrow_mut().set_merge_hook(Some(Rc::new(move |_, values: &mut [u64]| {
        let (mut b, p) = build(&format!("made {}", values[0]), &[I], &[I]);
        let x = b.op(Opcode::IntMul, &[p[0], Operand::int(3)]);
        b.ret(&[x]);
        let key = b.graph.key.clone();
        shared.borrow_mut().compile_more(&[&b.graph], &Memory::new()).unwrap();
        let entry = shared.borrow().entry(&key).unwrap();
        assert_eq!(returned(entry.call(&[values[0]])), [values[0] * 3]);
        Answer::Continue
    })));
    let entry = engine.borrow().entry("portal").unwrap();
    assert_eq!(returned(entry.call(&[5, 0])), [15f64.to_bits()]);
    assert!(engine.borrow().is_compiled("made 0"));
    engine.borrow_mut().set_merge_hook(None);
}

#[test]
fn without_hooks_hints_cost_nothing() {
    let engine = engine(vec![portal()], Options { keep_text: true, ..Options::default() });
    assert_eq!(returned(engine.call("portal", &[4, 0])), [10f64.to_bits()]);
    assert!(!engine.clif("portal").unwrap().contains("call"));
}
