//! Building graphs in tests.
#![allow(dead_code, missing_docs)]

use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use flowgraph::testing::Random;
use flowgraph::text::parse_module;
use jitcodegen::{Engine, OptLevel, Options, Outcome};

/// A graph under construction: ops go to the current block.
pub struct Build {
    pub graph: Graph,
    pub at: BlockId,
}

pub fn build(key: &str, params: &[Type], results: &[Type]) -> (Build, Vec<Operand>) {
    let mut graph = Graph::new(key, Signature { params: Vec::new(), result: RustType::Unit });
    graph.results = results.to_vec();
    let at = graph.new_block();
    let values: Vec<ValueId> = params.iter().map(|ty| graph.new_value(*ty)).collect();
    graph.params = (0..params.len()).map(|i| format!("p{i}")).collect();
    graph.block_mut(at).params = values.clone();
    graph.loc = Loc { line: 1, column: 1, ..Loc::UNKNOWN };
    (Build { graph, at }, values.into_iter().map(Operand::Value).collect())
}

impl Build {
    pub fn block(&mut self, params: &[Type]) -> (BlockId, Vec<Operand>) {
        let id = self.graph.new_block();
        let values: Vec<ValueId> = params.iter().map(|ty| self.graph.new_value(*ty)).collect();
        self.graph.block_mut(id).params = values.clone();
        (id, values.into_iter().map(Operand::Value).collect())
    }

    pub fn full_op(&mut self, opcode: Opcode, args: &[Operand], results: &[Type], imm: Imm) -> Vec<Operand> {
        let results: Vec<ValueId> = results.iter().map(|ty| self.graph.new_value(*ty)).collect();
        let (args, loc) = (args.iter().copied().collect(), Loc { line: 7, column: 3, ..Loc::UNKNOWN });
        let op = Op { opcode, args, results: results.iter().copied().collect(), imm, time: Time::Now, loc };
        self.graph.block_mut(self.at).ops.push(op);
        results.into_iter().map(Operand::Value).collect()
    }

    pub fn ops(&mut self, opcode: Opcode, args: &[Operand]) -> Vec<Operand> {
        let any = args.first().map(|a| self.graph.ty(*a)).unwrap_or(Type::Int);
        let types: Vec<Type> = opcode
            .results()
            .iter()
            .map(|ty| match ty {
                OperandType::Is(ty) => *ty,
                _ => any,
            })
            .collect();
        self.full_op(opcode, args, &types, Imm::None)
    }

    pub fn op(&mut self, opcode: Opcode, args: &[Operand]) -> Operand {
        self.ops(opcode, args)[0]
    }

    pub fn call(&mut self, callee: &str, args: &[Operand], results: &[Type]) -> Vec<Operand> {
        self.full_op(Opcode::Call, args, results, Imm::Call(Callee::plain(callee)))
    }

    pub fn end(&mut self, term: Terminator) {
        self.graph.block_mut(self.at).term = term;
    }

    pub fn ret(&mut self, values: &[Operand]) {
        self.end(Terminator::Return(values.to_vec()));
    }

    pub fn jump(&mut self, block: BlockId, args: &[Operand]) {
        self.end(Terminator::Jump(Edge::new(block, args.iter().copied())));
    }

    pub fn branch(&mut self, cond: Operand, then: (BlockId, &[Operand]), otherwise: (BlockId, &[Operand])) {
        let edge = |(block, args): (BlockId, &[Operand])| Edge::new(block, args.iter().copied());
        self.end(Terminator::Branch { cond, then: edge(then), otherwise: edge(otherwise), time: Time::Now });
    }

    pub fn to(&mut self, block: BlockId) {
        self.at = block;
    }
}

pub fn module(graphs: Vec<Build>) -> Module {
    let mut module = Module::default();
    for b in graphs {
        module.graphs.insert(b.graph.key.clone(), b.graph);
    }
    module
}

pub fn engine(graphs: Vec<Build>, options: Options) -> Engine {
    let mut engine = Engine::new(options).expect("an engine");
    engine.compile(&module(graphs), &Memory::new()).expect("compiled");
    engine
}

pub fn returned(outcome: Result<Outcome, jitcodegen::CodegenError>) -> Vec<u64> {
    match outcome {
        Ok(Outcome::Returned(words)) => words,
        other => panic!("{other:?}"),
    }
}

/// A module with one function `f` of these blocks, from two integers to one, and memory for it.
pub fn function(blocks: &str) -> (Module, Memory) {
    let text = format!("module flow\ngraph f(n: int, m: int) -> int {{\n{blocks}\n}}\n");
    let mut module = parse_module(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    module.graphs.values_mut().for_each(|graph| graph.results = vec![Type::Int]);
    let memory = Memory::for_module(&module);
    (module, memory)
}

/// Compiles such a function, and holds what it gives for these against the evaluator.
pub fn gives_what_it_should(blocks: &str, opt_level: OptLevel, all: impl Iterator<Item = (i64, i64)>) -> Engine {
    let (module, mut memory) = function(blocks);
    let mut engine = Engine::new(Options { keep_text: true, opt_level, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap();
    for (n, m) in all {
        let words = [n as u64, m as u64];
        match Evaluator::new(&module, &mut memory).call("f", &words) {
            Ok(eval::Outcome::Returned(wanted)) => {
                assert_eq!(returned(engine.call("f", &words)), wanted, "f({n}, {m})\n{blocks}");
            }
            Ok(eval::Outcome::Trapped(wanted)) => match engine.call("f", &words) {
                Ok(Outcome::Trapped(report)) => assert_eq!(report, wanted, "f({n}, {m})\n{blocks}"),
                other => panic!("f({n}, {m}): {other:?}\n{blocks}"),
            },
            other => panic!("{other:?}\n{blocks}"),
        }
    }
    engine
}

/// Random numbers, and how many cases to make of them: by a seed that is printed, and that `HUESHIFT_SEED` sets, as
/// `HUESHIFT_CASES` does the other.
pub fn random(seed: u64, cases: usize) -> (Random, usize) {
    fn set<T: std::str::FromStr>(name: &str) -> Option<T> {
        std::env::var(name).ok()?.parse().ok()
    }
    let seed = set("HUESHIFT_SEED").unwrap_or(seed);
    println!("HUESHIFT_SEED={seed}");
    (Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), set("HUESHIFT_CASES").unwrap_or(cases))
}
