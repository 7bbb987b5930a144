//! Native code and the evaluator agree on random modules: results, memory, traps.
//!
//! What NaNs look like is left open by both, so nothing here looks at their bits. `HUESHIFT_ROUNDS` sets how many
//! modules are made.
#![allow(missing_docs)]

mod common;

use common::{Build, build, module};
use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::*;
use flowgraph::memory::Memory;
use jitcodegen::{Engine, OptLevel, Options, Outcome};

const TYPES: [Type; 3] = [Type::Int, Type::Float, Type::Single];
const BUFFER: u64 = 256;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn constant(&mut self, ty: Type) -> Const {
        const INTS: [i64; 12] = [0, 1, -1, 2, 7, 8, 63, 255, -128, i64::MAX, i64::MIN, 1 << 53];
        const FLOATS: [f64; 9] = [0.0, -0.0, 1.0, -1.5, 0.1, 1e18, -1e300, f64::INFINITY, f64::NAN];
        match ty {
            Type::Int => Const::Int(self.pick(&INTS)),
            Type::Float => Const::Float(self.pick(&FLOATS).to_bits()),
            Type::Single => Const::Single((self.pick(&FLOATS) as f32).to_bits()),
        }
    }
}

struct Generator {
    random: Random,
    b: Build,
    /// The address of the buffer.
    buffer: Operand,
    callees: Vec<(String, Vec<Type>, Vec<Type>)>,
    results: Vec<Type>,
}

/// What is in scope.
type Scope = Vec<Operand>;

impl Generator {
    fn operand(&mut self, scope: &Scope, ty: Type) -> Operand {
        let fitting: Scope = scope.iter().copied().filter(|o| self.b.graph.ty(*o) == ty).collect();
        if fitting.is_empty() || self.random.below(6) == 0 {
            return self.random.constant(ty).into();
        }
        self.random.pick(&fitting)
    }

    /// An operand that is no NaN.
    fn number(&mut self, scope: &Scope, ty: Type) -> Operand {
        let x = self.operand(scope, ty);
        let (eq, select, zero) = match ty {
            Type::Int => return x,
            Type::Float => (Opcode::FloatEq, Opcode::FloatSelect, Const::Float(0)),
            Type::Single => (Opcode::SingleEq, Opcode::SingleSelect, Const::Single(0)),
        };
        let same = self.b.op(eq, &[x, x]);
        let types = [ty];
        self.b.full_op(select, &[same, x, zero.into()], &types, Imm::None)[0]
    }

    fn pure(&mut self, scope: &mut Scope) {
        let ops: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|op| op.is_pure()).collect();
        let op = self.random.pick(&ops);
        let shows_bits = ["to_bits", "copysign"].iter().any(|s| op.name().contains(s));
        let args: Scope = op
            .operands()
            .iter()
            .map(|o| {
                let OperandType::Is(ty) = o else { panic!("pure ops have typed operands") };
                if shows_bits { self.number(scope, *ty) } else { self.operand(scope, *ty) }
            })
            .collect();
        let types: Vec<Type> =
            op.results().iter().map(|r| if let OperandType::Is(ty) = r { *ty } else { Type::Int }).collect();
        scope.extend(self.b.full_op(op, &args, &types, Imm::None));
    }

    fn memory(&mut self, scope: &mut Scope) {
        let access = self.random.pick(&Access::ALL);
        let mut base = self.buffer;
        if self.random.below(4) == 0 {
            let slot = Imm::Slot(SlotDesc { size: BUFFER as u32, name: "local".into() });
            base = self.b.full_op(Opcode::StackSlot, &[], &[Type::Int], slot)[0];
        }
        let i = self.operand(scope, Type::Int);
        let i = self.b.op(Opcode::IntAnd, &[i, Operand::int(7)]);
        let (load, store, args) = match self.random.below(3) {
            0 => (Opcode::Getfield, Opcode::Setfield, vec![base]),
            1 => (Opcode::Getarrayitem, Opcode::Setarrayitem, vec![base, i]),
            _ => (Opcode::RawLoad, Opcode::RawStore, vec![base, i]),
        };
        let (offset, stride) = (8 * self.random.below(16) as i32, 8 * (1 + self.random.below(2)) as u32);
        let (class, field, kind) = ("bytes".into(), "".into(), MemKind::Exclusive);
        let imm = Imm::mem(MemDesc { class, field, offset, stride, access, kind });
        if self.random.below(2) == 0 {
            let value = self.number(scope, access.ty());
            let args: Scope = args.iter().copied().chain([value]).collect();
            self.b.full_op(store, &args, &[], imm.clone());
        }
        if access.ty() == Type::Int {
            scope.extend(self.b.full_op(load, &args, &[Type::Int], imm));
        }
    }

    fn call(&mut self, scope: &mut Scope) {
        if self.random.below(3) == 0 || self.callees.is_empty() {
            let function = &flowgraph::math::FUNCTIONS[self.random.below(flowgraph::math::FUNCTIONS.len())];
            let args: Scope = function.params().iter().map(|ty| self.operand(scope, *ty)).collect();
            let callee = Imm::Call(Callee::plain(&format!("libm::{}", function.name)));
            scope.extend(self.b.full_op(Opcode::CallElidable, &args, &[function.result()], callee));
            return;
        }
        let (name, params, results) = self.callees[self.random.below(self.callees.len())].clone();
        let mut args = vec![self.buffer];
        args.extend(params[1..].iter().map(|ty| self.operand(scope, *ty)).collect::<Scope>());
        scope.extend(self.b.call(&name, &args, &results));
    }

    fn straight(&mut self, scope: &mut Scope) {
        for _ in 0..self.random.below(6) {
            match self.random.below(12) {
                0 | 1 => self.memory(scope),
                2 => self.call(scope),
                3 => {
                    let ty = self.random.pick(&TYPES);
                    let x = self.operand(scope, ty);
                    let hint = self.random.pick(&[Opcode::Concrete, Opcode::Variable]);
                    scope.push(self.b.op(hint, &[x]));
                }
                _ => self.pure(scope),
            }
        }
    }

    /// Code that ends at the start of a block with everything of `scope` that is still in scope, and more.
    fn body(&mut self, depth: usize, scope: &mut Scope) {
        self.straight(scope);
        if depth == 0 {
            return;
        }
        match self.random.below(9) {
            0..=2 => self.ways(depth, scope),
            3 | 4 => self.repeat(depth, scope),
            5 => self.check(scope),
            _ => self.body(depth - 1, scope),
        }
        self.body(depth - 1, scope);
    }

    /// Two or more ways that join.
    fn ways(&mut self, depth: usize, scope: &mut Scope) {
        let ty = self.random.pick(&TYPES);
        let (join, params) = self.b.block(&[ty, Type::Int]);
        let cond = self.operand(scope, Type::Int);
        let switch = self.random.below(3) == 0;
        let arms: Vec<BlockId> = (0..if switch { 4 } else { 2 }).map(|_| self.b.block(&[]).0).collect();
        if switch {
            let cond = self.b.op(Opcode::IntAnd, &[cond, Operand::int(7)]);
            let cases = arms[1..].iter().zip([0, 3, 6]).map(|(arm, case)| (case, Edge::new(*arm, []))).collect();
            let default = Edge::new(arms[0], []);
            self.b.end(Terminator::Switch { value: cond, cases, default, time: Time::Now, promotion: false });
        } else {
            self.b.branch(cond, (arms[0], &[]), (arms[1], &[]));
        }
        for arm in arms {
            self.b.to(arm);
            let mut inner = scope.clone();
            self.body(depth - 1, &mut inner);
            if self.random.below(8) == 0 {
                let types = self.results.clone();
                let values: Scope = types.iter().map(|ty| self.operand(&inner, *ty)).collect();
                self.b.ret(&values);
            } else {
                let args = [self.operand(&inner, ty), self.operand(&inner, Type::Int)];
                self.b.jump(join, &args);
            }
        }
        self.b.to(join);
        scope.extend(params);
    }

    /// A loop of a few rounds with a value that changes.
    fn repeat(&mut self, depth: usize, scope: &mut Scope) {
        let ty = self.random.pick(&TYPES);
        let (head, params) = self.b.block(&[Type::Int, ty]);
        let (inside, _) = self.b.block(&[]);
        let (after, _) = self.b.block(&[]);
        let first = self.operand(scope, ty);
        self.b.jump(head, &[Operand::int(0), first]);
        self.b.to(head);
        let rounds = Operand::int(1 + self.random.below(4) as i64);
        let more = self.b.op(Opcode::IntLt, &[params[0], rounds]);
        self.b.branch(more, (inside, &[]), (after, &[]));
        self.b.to(inside);
        let mut inner = scope.clone();
        inner.extend(params.clone());
        self.body(depth - 1, &mut inner);
        let next = self.b.op(Opcode::IntAdd, &[params[0], Operand::int(1)]);
        let value = self.operand(&inner, ty);
        self.b.jump(head, &[next, value]);
        self.b.to(after);
        scope.extend(params);
    }

    /// A check that may trap.
    fn check(&mut self, scope: &mut Scope) {
        let (x, y) = (self.operand(scope, Type::Int), self.operand(scope, Type::Int));
        let (bad, _) = self.b.block(&[]);
        let (good, _) = self.b.block(&[]);
        let is_bad = if self.random.below(2) == 0 {
            self.b.op(Opcode::IntEq, &[x, y])
        } else {
            self.b.op(Opcode::IntIsZero, &[x])
        };
        self.b.branch(is_bad, (bad, &[]), (good, &[]));
        self.b.to(bad);
        let f = self.operand(scope, Type::Float);
        let args = vec![(x, Scalar::I64), (y, Scalar::U8), (f, Scalar::F64)];
        let (kind, message) = (TrapKind::Panic, Some("{} and {:?}, {}".to_owned()));
        let loc = Loc { line: 1 + self.random.below(100) as u32, column: 2, ..Loc::UNKNOWN };
        self.b.end(Terminator::Trap(Trap { kind, message, args, loc }));
        self.b.to(good);
        scope.push(self.b.op(Opcode::IntFloordiv, &[y, x]));
        scope.push(self.b.op(Opcode::IntMod, &[y, x]));
    }
}

fn random_module(seed: u64) -> (Module, Vec<Type>, Vec<Type>) {
    let mut callees: Vec<(String, Vec<Type>, Vec<Type>)> = Vec::new();
    let mut graphs = Vec::new();
    for i in 0..3 {
        let mut random = Random(seed.wrapping_mul(977).wrapping_add(i) | 1);
        for _ in 0..5 {
            random.next();
        }
        let types = |random: &mut Random, most: usize| -> Vec<Type> {
            (0..random.below(most) + 1).map(|_| random.pick(&TYPES)).collect()
        };
        let most = if random.below(4) == 0 { 20 } else { 5 };
        let mut params = vec![Type::Int];
        params.extend(types(&mut random, most));
        let results = types(&mut random, 3);
        let key = format!("f{i}");
        let (b, values) = build(&key, &params, &results);
        let mut g = Generator { random, b, buffer: values[0], callees: callees.clone(), results: results.clone() };
        let mut scope = values[1..].to_vec();
        g.body(4, &mut scope);
        let values: Scope = results.iter().map(|ty| g.operand(&scope, *ty)).collect();
        g.b.ret(&values);
        graphs.push(g.b);
        callees.push((key, params, results));
    }
    let (_, params, results) = callees.pop().expect("three graphs");
    (module(graphs), params, results)
}

fn normal(types: &[Type], words: &[u64]) -> Vec<u64> {
    let nan = |ty: Type, w: u64| match ty {
        Type::Int => false,
        Type::Float => f64::from_bits(w).is_nan(),
        Type::Single => f32::from_bits(w as u32).is_nan(),
    };
    words.iter().zip(types).map(|(w, ty)| if nan(*ty, *w) { u64::MAX } else { *w }).collect()
}

fn agree(seed: u64, counts: &mut [usize; 2]) {
    let (module, params, results) = random_module(seed);
    let mut memory = Memory::for_module(&module);
    let at = memory.allocate(BUFFER);
    let mut random = Random(seed + 12345);
    let level = [OptLevel::Speed, OptLevel::None, OptLevel::Quick][seed as usize % 3];
    let mut engine = Engine::new(Options { opt_level: level, slot_bytes: 1 << 20, ..Options::default() }).unwrap();
    engine.compile(&module, &memory).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    for _ in 0..6 {
        let mut args = vec![at];
        args.extend(params[1..].iter().map(|ty| random.constant(*ty).word().unwrap_or(0)));
        let bytes: Vec<u8> = (0..BUFFER).map(|_| random.next() as u8).collect();
        memory.write(at, &bytes).unwrap();
        let want = Evaluator::new(&module, &mut memory).with_fuel(2_000_000).call("f2", &args);
        let want = match want {
            Ok(outcome) => outcome,
            Err(eval::EvalError::OutOfFuel) => continue,
            Err(e) => panic!("seed {seed}: {e}"),
        };
        let want_bytes = memory.read(at, BUFFER);
        memory.write(at, &bytes).unwrap();
        let got = engine.call("f2", &args).unwrap();
        match (want, got) {
            (eval::Outcome::Returned(want), Outcome::Returned(got)) => {
                assert_eq!(normal(&results, &want), normal(&results, &got), "seed {seed} {args:x?}");
                counts[0] += 1;
            }
            (eval::Outcome::Trapped(want), Outcome::Trapped(got)) => {
                assert_eq!(want, got, "seed {seed} {args:x?}");
                counts[1] += 1;
            }
            (want, got) => panic!("seed {seed} {args:x?}: evaluator {want:?}, native {got:?}"),
        }
        assert_eq!(want_bytes, memory.read(at, BUFFER), "seed {seed} {args:x?}");
    }
}

#[test]
fn native_code_agrees_with_the_evaluator() {
    let rounds = std::env::var("HUESHIFT_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(150);
    let mut counts = [0; 2];
    for seed in 1..=rounds {
        agree(seed, &mut counts);
    }
    let [returned, trapped] = counts;
    assert!(returned > rounds as usize / 2 && trapped > rounds as usize / 10, "{counts:?}");
}
