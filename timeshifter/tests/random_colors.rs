//! Random programs are colored and shifted: nothing panics, and the checker finds nothing.

use flowgraph::ir::*;
use flowgraph::text::{parse_module, print_module};
use hintannotator::{annotate, check};
use std::collections::BTreeSet;
use timeshifter::shift::shift;

/// A small generator of pseudo-random numbers (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

const FUNCTIONS: usize = 4;

fn function(random: &mut Random, index: usize) -> Graph {
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
                1 | 2 => (Opcode::Promote, vec![a], Imm::None),
                3 => (Opcode::Variable, vec![a], Imm::None),
                4..=6 => {
                    let callee = format!("f{}", random.below(FUNCTIONS));
                    (Opcode::Call, vec![a, c], Imm::Call(Callee::plain(&callee)))
                }
                7 => {
                    let kind = if random.below(3) == 0 { MemKind::Shared } else { MemKind::Immutable };
                    let (class, field) = ("[i64]".into(), "".into());
                    let desc = MemDesc { class, field, offset: 0, stride: 8, access: Access::I64, kind };
                    (Opcode::Getarrayitem, vec![a, c], Imm::Mem(desc))
                }
                8 => (Opcode::IntNeg, vec![a], Imm::None),
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
        let mut edge = |random: &mut Random| {
            let to = 1 + random.below(count - 1);
            let args: Vec<Operand> =
                (0..graph.blocks[to].params.len()).map(|_| values[random.below(values.len())]).collect();
            Edge::new(BlockId(to as u32), args)
        };
        let (time, on) = (Time::Now, values[random.below(values.len())]);
        graph.blocks[b].term = match random.below(6) {
            0 => Terminator::Return(vec![on]),
            1 | 2 => Terminator::Jump(edge(random)),
            3 => {
                let cases = vec![(0, edge(random)), (1, edge(random))];
                Terminator::Switch { value: on, cases, default: edge(random), time, promotion: false }
            }
            _ => Terminator::Branch { cond: on, then: edge(random), otherwise: edge(random), time },
        };
    }
    graph
}

fn program(random: &mut Random) -> Module {
    let mut module = Module::default();
    for i in 0..FUNCTIONS {
        let graph = function(random, i);
        module.graphs.insert(graph.key.clone(), graph);
    }
    module
}

#[test]
fn colors_hang_together() {
    let (mut colored, mut refused) = (0, 0);
    for seed in 1..600u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let module = program(&mut random);
        let green = BTreeSet::from_iter((0..2).filter(|_| random.below(3) > 0));
        match annotate(&module, "f0", &green) {
            Ok(colors) => {
                colored += 1;
                assert_eq!(check(&colors.module), [], "seed {seed}\n{}", print_module(&colors.module));
                let shifted = shift(&colors);
                let text = print_module(&shifted);
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
