use super::*;
use crate::ir::{
    Access, Imm, Loc, MemDesc, MemKind, Module, Opcode, Operand, Scalar, SlotDesc, Terminator, Trap, TrapKind,
};
use crate::memory::Memory;
use crate::sketch::{branch, call, edge, graph, jump, module, op, param, pure, ret};

fn run(module: &Module, key: &str, args: &[u64]) -> Result<Outcome, EvalError> {
    let mut memory = Memory::for_module(module);
    let outcome = Evaluator::new(module, &mut memory).with_fuel(1_000_000).call(key, args);
    assert_eq!(memory.regions(), module.data.len(), "a stack slot outlived its frame");
    outcome
}

/// Sums `p0 + (p0 - 1) + … + 1` around a merge point.
fn sum() -> crate::ir::Graph {
    let mut g = graph("sum", 1, 4);
    let n = g.entry_params()[0].into();
    jump(&mut g, 0, 1, &[n, Operand::int(0)]);
    let (i, acc) = (param(&mut g, 1), param(&mut g, 1));
    op(&mut g, 1, Opcode::MergePoint, &[i, acc], Imm::None);
    branch(&mut g, 1, i, edge(2, &[]), edge(3, &[]));
    let more = pure(&mut g, 2, Opcode::IntAdd, &[acc, i]);
    let less = pure(&mut g, 2, Opcode::IntSub, &[i, Operand::int(1)]);
    jump(&mut g, 2, 1, &[less, more]);
    ret(&mut g, 3, acc);
    g
}

fn desc(kind: MemKind) -> MemDesc {
    MemDesc { class: "[i64]".into(), field: "".into(), offset: 8, stride: 8, access: Access::I64, kind }
}

#[test]
fn loops_and_calls() {
    let mut twice = graph("twice", 1, 1);
    let n = twice.entry_params()[0].into();
    let first = call(&mut twice, 0, "sum", &[n]);
    let second = call(&mut twice, 0, "sum", &[first]);
    ret(&mut twice, 0, second);
    assert_eq!(run(&module([sum(), twice]), "twice", &[4]), Ok(Outcome::Returned(vec![55])));
}

#[test]
fn an_evaluator_goes_on_with_what_one_before_it_has_left() {
    // What isn't set on the way is 0, whatever a frame before had there.
    let mut maybe = graph("maybe", 2, 3);
    let [n, sets] = maybe.entry_params()[..] else { panic!("two parameters") };
    branch(&mut maybe, 0, sets.into(), edge(1, &[]), edge(2, &[]));
    let double = pure(&mut maybe, 1, Opcode::IntAdd, &[n.into(), n.into()]);
    jump(&mut maybe, 1, 2, &[]);
    ret(&mut maybe, 2, double);
    let mut both = graph("both", 1, 1);
    let n = both.entry_params()[0].into();
    let first = call(&mut both, 0, "maybe", &[n, Operand::int(1)]);
    let second = call(&mut both, 0, "maybe", &[first, Operand::int(0)]);
    let sum = pure(&mut both, 0, Opcode::IntSub, &[first, second]);
    ret(&mut both, 0, sum);
    let module = module([maybe, both]);
    let mut memory = Memory::for_module(&module);
    let mut scratch = Scratch::default();
    for n in [21, 0, 4] {
        let mut evaluator = Evaluator::new(&module, &mut memory).with_scratch(scratch);
        assert_eq!(evaluator.call("both", &[n]), Ok(Outcome::Returned(vec![2 * n])));
        scratch = evaluator.scratch;
    }
}

#[test]
fn edges_assign_all_parameters_at_once() {
    let mut g = graph("swap", 3, 3);
    let p: Vec<Operand> = g.entry_params().iter().map(|v| (*v).into()).collect();
    jump(&mut g, 0, 1, &p);
    let (a, b, n) = (param(&mut g, 1), param(&mut g, 1), param(&mut g, 1));
    let less = pure(&mut g, 1, Opcode::IntSub, &[n, Operand::int(1)]);
    branch(&mut g, 1, n, edge(1, &[b, a, less]), edge(2, &[]));
    let ten = pure(&mut g, 2, Opcode::IntMul, &[a, Operand::int(10)]);
    let both = pure(&mut g, 2, Opcode::IntAdd, &[ten, b]);
    ret(&mut g, 2, both);
    assert_eq!(run(&module([g]), "swap", &[1, 2, 3]), Ok(Outcome::Returned(vec![21])));
}

#[test]
fn slots_are_zero_whenever_they_are_declared() {
    let mut g = graph("slots", 1, 3);
    let n = g.entry_params()[0].into();
    jump(&mut g, 0, 1, &[n]);
    let i = param(&mut g, 1);
    let slot = op(&mut g, 1, Opcode::StackSlot, &[], Imm::Slot(SlotDesc { size: 24, name: "a".into() }));
    let mem = || Imm::mem(desc(MemKind::Exclusive));
    let before = op(&mut g, 1, Opcode::Getarrayitem, &[slot, Operand::int(1)], mem());
    op(&mut g, 1, Opcode::Setarrayitem, &[slot, Operand::int(1), Operand::int(9)], mem());
    let less = pure(&mut g, 1, Opcode::IntSub, &[i, Operand::int(1)]);
    branch(&mut g, 1, less, edge(1, &[less]), edge(2, &[]));
    ret(&mut g, 2, before);
    assert_eq!(run(&module([g]), "slots", &[5]), Ok(Outcome::Returned(vec![0])));
}

#[test]
fn wild_accesses_are_errors() {
    let mut g = graph("wild", 1, 1);
    let p = g.entry_params()[0].into();
    let loaded = op(&mut g, 0, Opcode::Getfield, &[p], Imm::mem(desc(MemKind::Immutable)));
    ret(&mut g, 0, loaded);
    let bad = BadAccess { address: 24, size: 8, write: false };
    assert_eq!(run(&module([g]), "wild", &[16]), Err(EvalError::BadAccess(bad)));
}

#[test]
fn traps_report_kind_message_and_place() {
    let loc = Loc { line: 4, column: 9, ..Loc::default() };
    let mut g = graph("trap", 1, 1);
    let p = g.entry_params()[0].into();
    let args = vec![(Operand::int(3), Scalar::Usize), (p, Scalar::Usize)];
    g.blocks[0].term = Terminator::Trap(Trap { kind: TrapKind::IndexOutOfBounds, message: None, args, loc });
    let message = "index out of bounds: the len is 3 but the index is 7".to_owned();
    let report = TrapReport { kind: TrapKind::IndexOutOfBounds, message, loc };
    assert_eq!(run(&module([g]), "trap", &[7]), Ok(Outcome::Trapped(report)));
}

#[test]
fn endless_recursion_is_a_trap_and_an_endless_loop_runs_out_of_fuel() {
    let mut g = graph("deep", 1, 1);
    let p = g.entry_params()[0].into();
    let r = call(&mut g, 0, "deep", &[p]);
    ret(&mut g, 0, r);
    let mut endless = graph("endless", 0, 2);
    jump(&mut endless, 0, 1, &[]);
    jump(&mut endless, 1, 1, &[]);
    let m = module([g, endless]);
    assert!(matches!(run(&m, "deep", &[1]), Ok(Outcome::Trapped(t)) if t.kind == TrapKind::StackExhausted));
    assert_eq!(run(&m, "endless", &[]), Err(EvalError::OutOfFuel));
}

#[test]
fn wrong_calls_are_errors() {
    let mut g = graph("f", 0, 1);
    let r = call(&mut g, 0, "nobody", &[]);
    ret(&mut g, 0, r);
    let m = module([g, sum()]);
    assert_eq!(run(&m, "f", &[]), Err(EvalError::UnknownGraph("nobody".into())));
    assert_eq!(run(&m, "sum", &[]), Err(EvalError::WrongCount { graph: "sum".into(), wanted: 1, given: 0 }));
}

/// Stops at the n-th merge point, or answers as told.
struct At(usize, MergeAnswer);

impl Hooks for At {
    fn merge_point(&mut self, _: MergePoint<'_>, _: &mut Memory) -> MergeAnswer {
        self.0 = self.0.wrapping_sub(1);
        if self.0 == usize::MAX { self.1.clone() } else { MergeAnswer::Continue }
    }
}

#[test]
fn merge_points_update_return_and_stop() {
    let m = module([sum()]);
    let mut memory = Memory::new();
    let mut answer = |a| Evaluator::new(&m, &mut memory).with_hooks(At(2, a)).call("sum", &[4]).unwrap();
    assert_eq!(answer(MergeAnswer::Update(vec![1, 100])), Outcome::Returned(vec![101]));
    assert_eq!(answer(MergeAnswer::Return(vec![42])), Outcome::Returned(vec![42]));
    let Outcome::Stopped { frames } = answer(MergeAnswer::Stop) else { panic!("not stopped") };
    let mut evaluator = Evaluator::new(&m, &mut memory).with_hooks(At(0, MergeAnswer::Stop));
    // The merge point that it stands at is stepped over; the next one is offered.
    let Outcome::Stopped { frames } = evaluator.resume(frames).unwrap() else { panic!("not stopped") };
    assert_eq!(Evaluator::new(&m, &mut memory).resume(frames), Ok(Outcome::Returned(vec![10])));
}

#[test]
fn resumes_at_every_step() {
    struct Count(usize);
    impl Hooks for Count {
        fn op(&mut self, _: &crate::ir::Graph, _: &Frame, _: &crate::ir::Op) {
            self.0 += 1;
        }
    }
    let mut twice = graph("twice", 1, 1);
    let n = twice.entry_params()[0].into();
    let first = call(&mut twice, 0, "sum", &[n]);
    let again = pure(&mut twice, 0, Opcode::IntAdd, &[first, n]);
    ret(&mut twice, 0, again);
    let m = module([sum(), twice]);
    let mut memory = Memory::new();
    // In the middle of the inner loop, while `twice` waits at its call.
    let evaluator = Evaluator::new(&m, &mut memory);
    let outer = evaluator.frame("twice", crate::ir::BlockId(0), 0, vec![4]).unwrap();
    let sum = &m.graphs["sum"];
    let mut regs = vec![0; sum.values.len()];
    let more = sum.blocks[2].ops[0].results[0];
    (regs[sum.blocks[1].params[0].index()], regs[more.index()]) = (3, 7);
    let inner = evaluator.frame("sum", crate::ir::BlockId(2), 1, regs).unwrap();
    let mut counting = evaluator.with_hooks(Count(0));
    assert_eq!(counting.resume(vec![outer.clone(), inner]), Ok(Outcome::Returned(vec![14])));
    assert_eq!(counting.hooks.0, 1 + 3 + 3 + 1 + 1);
    assert_eq!(counting.resume_returning(vec![outer.clone()], &[10]), Ok(Outcome::Returned(vec![14])));
    let nowhere = Frame { index: 7, ..outer };
    assert!(matches!(counting.resume(vec![nowhere]), Err(EvalError::BadPosition { index: 7, .. })));
}

#[test]
fn hosts_answer_calls() {
    struct Helper;
    impl Hooks for Helper {
        fn call(&mut self, _: usize, callee: &str, args: &[u64], _: &mut Memory) -> CallAnswer {
            if callee == "helper" { CallAnswer::Return(vec![args[0] + 1]) } else { CallAnswer::Enter }
        }
    }
    let mut g = graph("f", 1, 1);
    let p = g.entry_params()[0].into();
    let r = call(&mut g, 0, "helper", &[p]);
    ret(&mut g, 0, r);
    let (m, mut memory) = (module([g]), Memory::new());
    let outcome = Evaluator::new(&m, &mut memory).with_hooks(Helper).call("f", &[41]);
    assert_eq!(outcome, Ok(Outcome::Returned(vec![42])));
}

#[test]
fn residual_graphs_exit_and_enter() {
    let mut g = graph("f", 1, 1);
    let p = g.entry_params()[0].into();
    g.blocks[0].term = Terminator::Enter { graph: "loop".into(), args: vec![p, Operand::int(2)] };
    let mut next = graph("loop", 2, 1);
    let args = next.entry_params().iter().map(|v| (*v).into()).collect();
    next.blocks[0].term = Terminator::Exit { exit: 3, guard: Operand::int(12), args };
    let m = module([g, next]);
    match run(&m, "f", &[1]) {
        Ok(Outcome::Exited { exit: 3, guard: 12, args, frames }) => {
            assert_eq!(args, [1, 2]);
            assert_eq!(frames.len(), 1);
            assert_eq!(frames[0].graph, 1);
        }
        other => panic!("{other:?}"),
    }
}
