//! Random programs are colored and shifted: nothing panics, and the checker finds nothing.

use flowgraph::eval::{Evaluator, Outcome};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use flowgraph::testing::Random;
use flowgraph::text::{parse_module, print_module};
use flowgraph::verify::verify;
use hintannotator::{annotate, check};
use std::collections::BTreeSet;
use timeshifter::shift::shift;
use timeshifter::specialize::{Analyses, Argument, Engine, Program, SpecError};

const FUNCTIONS: usize = 4;

fn function(random: &mut Random, index: usize, wild: bool) -> Graph {
    let int = || RustType::Scalar(Scalar::I64);
    let params = (0..2).map(|i| Param { name: format!("p{i}"), ty: int() }).collect();
    let mut graph = Graph::new(&format!("f{index}"), Signature { params, result: int() });
    graph.results = vec![Type::Int];
    graph.attributes.elidable = random.below(9) == 0;
    graph.attributes.dont_look_inside = index > 0 && random.below(9) == 0;
    graph.attributes.unroll_safe = random.below(5) == 0;
    let count = 2 + random.below(7);
    for b in 0..count {
        graph.new_block();
        let params = if b == 0 { 2 } else { random.below(3) };
        graph.blocks[b].params = (0..params).map(|_| graph.new_value(Type::Int)).collect();
    }
    graph.params = vec!["p0".to_owned(), "p1".to_owned()];
    let globals: Vec<Operand> = graph.entry_params().iter().map(|v| (*v).into()).collect();
    for b in 0..count {
        let mut values = globals.clone();
        values.extend(graph.blocks[b].params.iter().map(|v| Operand::from(*v)));
        values.push(Operand::int(3));
        for _ in 0..random.below(5) {
            let mut arg = || values[random.below(values.len())];
            let (a, c) = (arg(), arg());
            let (opcode, args, imm) = match random.below(14) {
                0 => (Opcode::Concrete, vec![a], Imm::None),
                1 | 2 if wild => (Opcode::Promote, vec![a], Imm::None),
                3 => (Opcode::Variable, vec![a], Imm::None),
                4..=6 => {
                    let callee = format!("f{}", random.below(FUNCTIONS));
                    (Opcode::Call, vec![a, c], Imm::Call(Callee::plain(&callee)))
                }
                7 if wild => {
                    let kind = if random.below(3) == 0 { MemKind::Shared } else { MemKind::Immutable };
                    let (class, field) = ("[i64]".into(), "".into());
                    let desc = MemDesc { class, field, offset: 0, stride: 8, access: Access::I64, kind };
                    (Opcode::Getarrayitem, vec![a, c], Imm::mem(desc))
                }
                8 => (Opcode::IntNeg, vec![a], Imm::None),
                9 => (Opcode::IntLt, vec![a, c], Imm::None),
                _ => (Opcode::IntAdd, vec![a, c], Imm::None),
            };
            let result = graph.new_value(Type::Int);
            let op = Op {
                opcode,
                args: args.into(),
                results: [result].into_iter().collect(),
                imm,
                time: Time::Now,
                loc: Loc::UNKNOWN,
            };
            graph.blocks[b].ops.push(op);
            values.push(result.into());
        }
        // The first way on leads to the next block, so that all are reached.
        let mut next = b + 1;
        let mut edge = |random: &mut Random| {
            let to = if next < count { next } else { 1 + random.below(count - 1) };
            next = count;
            let args: Vec<Operand> =
                (0..graph.blocks[to].params.len()).map(|_| values[random.below(values.len())]).collect();
            Edge::new(BlockId(to as u32), args)
        };
        let (time, on) = (Time::Now, values[random.below(values.len())]);
        let last = b + 1 == count && random.below(4) > 0;
        graph.blocks[b].term = match random.below(6) {
            _ if last => Terminator::Return(vec![on]),
            0 | 1 => Terminator::Jump(edge(random)),
            2 => {
                let cases = vec![(0, edge(random)), (1, edge(random))];
                Terminator::Switch { value: on, cases, default: edge(random), time, promotion: false }
            }
            _ => Terminator::Branch { cond: on, then: edge(random), otherwise: edge(random), time },
        };
    }
    graph
}

/// A program; a `wild` one promotes and reads memory that isn't there.
fn program(random: &mut Random, wild: bool) -> Module {
    let mut module = Module::default();
    for i in 0..FUNCTIONS {
        let graph = function(random, i, wild);
        module.graphs.insert(graph.key.clone(), graph);
    }
    module
}

#[test]
fn colors_hang_together() {
    let (mut colored, mut refused) = (0, 0);
    for seed in 1..600u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let module = program(&mut random, true);
        let green = BTreeSet::from_iter((0..2).filter(|_| random.below(3) > 0));
        match annotate(&module, "f0", &green) {
            Ok(colors) => {
                colored += 1;
                assert_eq!(verify(&colors.module), Ok(()), "seed {seed}\n{}", print_module(&colors.module));
                assert_eq!(check(&colors.module), [], "seed {seed}\n{}", print_module(&colors.module));
                let shifted = shift(&colors);
                let text = print_module(&shifted);
                assert_eq!(verify(&shifted), Ok(()), "seed {seed}\n{text}");
                assert_eq!(check(&shifted), [], "seed {seed}\n{text}");
                assert!(parse_module(&text).unwrap() == shifted, "seed {seed}: printed and parsed, it differs\n{text}");
                let reasons = colors.reasons();
                for (key, graph) in colors.module.graphs.iter().filter(|(key, _)| !key.ends_with("#twin")) {
                    for v in 0..graph.values.len() as u32 {
                        assert_eq!(reasons(key, ValueId(v)).is_some(), key.contains('#'));
                    }
                }
            }
            Err(errors) => {
                refused += 1;
                assert!(errors.iter().all(|e| e.to_string().contains("must be green")), "seed {seed}: {errors:?}");
            }
        }
    }
    assert!(colored > 50 && refused > 50, "{colored} colored, {refused} refused");
}

fn run(module: &Module, key: &str, args: &[u64]) -> Option<Outcome> {
    let mut memory = Memory::for_module(module);
    Evaluator::new(module, &mut memory).with_fuel(3_000).call(key, args).ok()
}

#[test]
fn specialized_does_the_same() {
    let (mut compared, mut endless) = (0, 0);
    let range = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(600u64);
    for seed in 1..range {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let module = program(&mut random, false);
        let green = BTreeSet::from_iter((0..2).filter(|_| random.below(3) > 0));
        let Ok(colors) = annotate(&module, "f0", &green) else { continue };
        let shifted = shift(&colors);
        let analyses = Analyses::of(&shifted);
        for args in [[0u64, 1], [5, 2]] {
            let Some(want) = run(&module, "f0", &args) else { continue };
            let mut memory = Memory::for_module(&shifted);
            let mut engine = Engine::new(Program::load(&shifted, &analyses).unwrap(), &mut memory);
            engine.limits.green_steps = 20_000;
            engine.limits.loop_keys = 300;
            let known: Vec<Argument> = (0..2)
                .map(|i| match green.contains(&i) {
                    true => Argument::Known(Const::Int(args[i] as i64)),
                    false => Argument::Unknown,
                })
                .collect();
            let key = shifted.entry.clone().unwrap();
            match engine.specialize(&key, &known) {
                Ok(unit) => {
                    let residual = engine.residual_module(unit);
                    let red: Vec<u64> = (0..2).filter(|i| !green.contains(i)).map(|i| args[i]).collect();
                    let got = run(&residual, residual.entry.as_deref().unwrap(), &red);
                    assert!(
                        got.as_ref() == Some(&want),
                        "seed {seed} {args:?}: {got:?}, wanted {want:?}\n{}\n{}",
                        print_module(&shifted),
                        print_module(&residual)
                    );
                    compared += 1;
                }
                // Functions that are called when compiling may be endless too.
                Err(error) if error.is_limit() || matches!(error, SpecError::Evaluation { .. }) => endless += 1,
                Err(e) => panic!("seed {seed} {args:?}: {e}\n{}", print_module(&shifted)),
            }
        }
    }
    assert!(compared > 50, "{compared} compared, {endless} endless");
    println!("{compared} compared, {endless} endless");
}
