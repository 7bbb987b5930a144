//! Random residual graphs: arithmetic on few values, checked and masked accesses to one array in all widths and to
//! aggregates of the function's own, branches, loops that end, tests of ranges, guards with exits, traps.

mod locals;
mod ranges;
mod rows;
mod scans;
mod silent;

use flowgraph::ir::*;
use flowgraph::testing::Random;

/// The bytes of the array that graphs work on.
pub const BYTES: usize = 128;

/// From here on nothing is stored in it.
const CHANGING: i32 = 64;

/// Of each exit there are fewer guards: their numbers begin with the exit's, times this.
pub const GUARDS: i64 = 16;

/// A graph of two integers, the address of the array, and its length in bytes.
pub fn graph(random: &mut Random) -> Graph {
    let mut graph = Graph::new("f", Signature { params: Vec::new(), result: RustType::Unit });
    graph.results = vec![Type::Int];
    let block = graph.new_block();
    let [n, m, base, length] = [0; 4].map(|_| graph.new_value(Type::Int));
    graph.block_mut(block).params = vec![n, m, base, length];
    graph.params = ["n", "m", "base", "base.len"].map(str::to_owned).to_vec();
    let mut g = Generator { graph, random, block, base: base.into(), length: length.into(), exits: 0 };
    let mut env = Env { values: vec![Operand::Value(n), Operand::Value(m)], indices: Vec::new(), places: Vec::new() };
    g.statements(&mut env, 3);
    let result = g.value(&env);
    g.end(Terminator::Return(vec![result]));
    g.graph
}

/// What is in scope.
#[derive(Clone)]
struct Env {
    values: Vec<Operand>,
    /// Indices of bytes that lie in the array with some behind them.
    indices: Vec<Operand>,
    /// Scalars that have been accessed: the ops that load and store them, and what these are handed.
    places: Vec<(Opcode, Opcode, Vec<Operand>, MemDesc)>,
}

struct Generator<'r> {
    graph: Graph,
    random: &'r mut Random,
    block: BlockId,
    base: Operand,
    length: Operand,
    exits: u32,
}

impl Generator<'_> {
    fn end(&mut self, term: Terminator) {
        self.graph.block_mut(self.block).term = term;
    }

    fn op(&mut self, opcode: Opcode, args: &[Operand], imm: Imm, results: usize) -> Vec<Operand> {
        let ty = match opcode.results().first() {
            Some(OperandType::Is(ty)) => *ty,
            _ => Type::Int,
        };
        let results: Vec<ValueId> = (0..results).map(|_| self.graph.new_value(ty)).collect();
        self.graph.block_mut(self.block).ops.push(Op {
            opcode,
            args: args.into(),
            results: results.iter().copied().collect(),
            imm,
            time: Time::Now,
            loc: Loc::UNKNOWN,
        });
        results.into_iter().map(Operand::Value).collect()
    }

    fn pure(&mut self, opcode: Opcode, args: &[Operand]) -> Operand {
        self.op(opcode, args, Imm::None, 1)[0]
    }

    fn constant(&mut self) -> Operand {
        const CORNERS: [i64; 16] =
            [0, 1, -1, 2, 3, 4, 7, 8, 15, 127, 128, 255, 256, i64::MAX, i64::MIN, u32::MAX as i64];
        Operand::int(match self.random.below(3) {
            0 => CORNERS[self.random.below(CORNERS.len())],
            _ => self.random.below(24) as i64 - 8,
        })
    }

    /// A value in scope, one of the latest more often than not, or a constant.
    fn value(&mut self, env: &Env) -> Operand {
        let env = &env.values;
        match self.random.below(8) {
            0 => self.constant(),
            1..=4 => env[env.len() - 1 - self.random.below(env.len().min(4))],
            _ => env[self.random.below(env.len())],
        }
    }

    fn statements(&mut self, env: &mut Env, depth: usize) {
        for _ in 0..1 + self.random.below(6) {
            match self.random.below(if depth == 0 { 10 } else { 14 }) {
                0..=4 => self.arithmetic(env),
                5 if self.random.below(4) == 0 => self.locals(env),
                5..=7 => self.access(env),
                8 if self.random.below(3) == 0 => self.compared(env),
                8 if self.random.below(2) == 0 => self.silent(env),
                8 if self.random.below(3) == 0 => self.ranges(env),
                8 if self.random.below(2) == 0 => self.row(env),
                8 if self.random.below(2) == 0 => self.guards(env),
                8 => self.guard(env),
                9 if self.random.below(3) == 0 => self.there_and_back(env),
                9 if self.random.below(3) == 0 => self.floats(env),
                9 if self.random.below(3) == 0 => self.float_loop(env),
                9 if self.random.below(2) == 0 => self.signs(env),
                9 => self.narrow(env),
                10 if self.random.below(3) == 0 => self.choices(env),
                11 if self.random.below(3) == 0 => self.scan(env),
                11 if self.random.below(2) == 0 => self.ways_back(env),
                10 | 11 => self.branch(env, depth - 1),
                12 if self.random.below(4) == 0 => self.two_ways_in(env, depth - 1),
                12 => self.repeat(env, depth - 1),
                _ => self.switch(env, depth - 1),
            }
        }
    }

    fn arithmetic(&mut self, env: &mut Env) {
        let pure: Vec<Opcode> = Opcode::ALL
            .iter()
            .copied()
            .filter(|op| op.is_pure() && op.operands().iter().all(|ty| *ty == OperandType::Is(Type::Int)))
            .filter(|op| op.results().iter().all(|ty| *ty == OperandType::Is(Type::Int)))
            .collect();
        // What interpreters are made of, more often.
        const USUAL: [Opcode; 6] =
            [Opcode::IntAdd, Opcode::IntSub, Opcode::IntAnd, Opcode::IntSignext, Opcode::IntLshift, Opcode::UintRshift];
        let opcode = match self.random.below(2) {
            0 => USUAL[self.random.below(USUAL.len())],
            _ => pure[self.random.below(pure.len())],
        };
        let mut args: Vec<Operand> = opcode.operands().iter().map(|_| self.value(env)).collect();
        if args.len() == 2 && self.random.below(2) == 0 {
            args[1] = match opcode {
                Opcode::IntSignext => Operand::int([1, 2, 4, 8][self.random.below(4)]),
                _ => self.constant(),
            };
        }
        env.values.extend(self.op(opcode, &args, Imm::None, opcode.results().len()));
    }

    /// Arithmetic of floats or singles, of which comparisons, integers and the bits of numbers come out.
    fn floats(&mut self, env: &mut Env) {
        use Opcode as O;
        let ty = [Type::Float, Type::Single][self.random.below(2)];
        let pick = |single, float| if ty == Type::Single { single } else { float };
        let mut values: Vec<Operand> = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let mut from = self.value(env);
            if self.random.below(2) == 0 {
                from = self.pure(O::IntAnd, &[from, Operand::int(63)]);
            }
            let casts = [
                pick(O::CastIntToSingle, O::CastIntToFloat),
                pick(O::CastUintToSingle, O::CastUintToFloat),
                pick(O::BitsToSingle, O::BitsToFloat),
            ];
            let kinds = if self.random.below(4) == 0 { 3 } else { 2 };
            let cast = casts[self.random.below(kinds)];
            values.push(self.pure(cast, &[from]));
        }
        for _ in 0..2 + self.random.below(8) {
            let value = self.float_op(ty, &values);
            values.push(value);
            if self.random.below(3) == 0 {
                let test = self.float_test(ty, &values);
                env.values.push(test);
            }
        }
        let seen = values[values.len() - 1 - self.random.below(values.len().min(3))];
        match self.random.below(3) {
            0 => env.values.push(self.pure(pick(O::CastSingleToInt, O::CastFloatToInt), &[seen])),
            1 => {
                let number = self.or_one(ty, seen);
                env.values.push(self.pure(pick(O::SingleToBits, O::FloatToBits), &[number]));
            }
            _ => {
                let test = self.float_test(ty, &values);
                env.values.push(test);
            }
        }
    }

    /// A loop that hands on two floats or singles, of which comparisons and integers come out, in its rounds and behind
    /// it.
    fn float_loop(&mut self, env: &mut Env) {
        let ty = [Type::Float, Type::Single][self.random.below(2)];
        let pick = |single, float| if ty == Type::Single { single } else { float };
        let from = self.value(env);
        let from = self.pure(Opcode::IntAnd, &[from, Operand::int(63)]);
        let outside = [self.pure(pick(Opcode::CastIntToSingle, Opcode::CastIntToFloat), &[from])];
        let rounds = self.value(env);
        let rounds = self.pure(Opcode::IntAnd, &[rounds, Operand::int(7)]);
        let starts = [self.float(ty, &outside), self.float(ty, &outside)];
        let [head, body, behind] = [0; 3].map(|_| self.graph.new_block());
        let [left, seen] = [0; 2].map(|_| self.graph.new_value(Type::Int));
        let handed = [0; 2].map(|_| self.graph.new_value(ty));
        self.graph.block_mut(head).params = vec![left, seen, handed[0], handed[1]];
        self.end(Terminator::Jump(Edge::new(head, [rounds, Operand::int(0), starts[0], starts[1]])));
        self.block = head;
        self.end(branch(left.into(), Edge::new(body, []), Edge::new(behind, [])));

        self.block = body;
        let mut values: Vec<Operand> = outside.into_iter().chain(handed.map(Operand::Value)).collect();
        for _ in 0..1 + self.random.below(4) {
            let value = self.float_op(ty, &values);
            values.push(value);
        }
        let test = self.float_test(ty, &values);
        let seen_more = self.pure(Opcode::IntLshift, &[seen.into(), Operand::int(1)]);
        let seen_more = self.pure(Opcode::IntAdd, &[seen_more, test]);
        let fewer = self.pure(Opcode::IntSub, &[left.into(), Operand::int(1)]);
        let next = [values[values.len() - 1], self.float(ty, &values)];
        self.end(Terminator::Jump(Edge::new(head, [fewer, seen_more, next[0], next[1]])));

        self.block = behind;
        let handed = handed.map(Operand::Value);
        let test = self.float_test(ty, &handed);
        let cast = pick(Opcode::CastSingleToInt, Opcode::CastFloatToInt);
        let cast = self.pure(cast, &handed[..1]);
        env.values.extend([seen.into(), test, cast]);
    }

    /// One op of which a float comes out, as what is among the values is.
    fn float_op(&mut self, ty: Type, values: &[Operand]) -> Operand {
        use Opcode as O;
        let pick = |single, float| if ty == Type::Single { single } else { float };
        let arithmetic = of_floats(ty, |op| op.results() == [OperandType::Is(ty)]);
        let opcode = match self.random.below(3) {
            0 => [pick(O::SingleMin, O::FloatMin), pick(O::SingleMax, O::FloatMax)][self.random.below(2)],
            _ => arithmetic[self.random.below(arithmetic.len())],
        };
        let mut args: Vec<Operand> = opcode.operands().iter().map(|_| self.float(ty, values)).collect();
        if matches!(opcode, O::FloatCopysign | O::SingleCopysign) {
            args[1] = self.or_one(ty, args[1]);
        }
        self.pure(opcode, &args)
    }

    /// A comparison of two floats.
    fn float_test(&mut self, ty: Type, values: &[Operand]) -> Operand {
        let comparisons = of_floats(ty, |op| op.is_comparison());
        let comparison = comparisons[self.random.below(comparisons.len())];
        let args = [self.float(ty, values), self.float(ty, values)];
        self.pure(comparison, &args)
    }

    /// A number, or 1 where it is NaN: which NaN it is, and its sign, aren't promised.
    fn or_one(&mut self, ty: Type, value: Operand) -> Operand {
        let pick = |single, float| if ty == Type::Single { single } else { float };
        let is_number = self.pure(pick(Opcode::SingleEq, Opcode::FloatEq), &[value, value]);
        self.pure(pick(Opcode::SingleSelect, Opcode::FloatSelect), &[is_number, value, number(ty, 1.0)])
    }

    /// Differences, roots and multiples, minima and maxima of them, and on which side of 0 the last one lies.
    fn signs(&mut self, env: &mut Env) {
        use Opcode as O;
        let single = self.random.below(2) == 0;
        let ty = if single { Type::Single } else { Type::Float };
        let pick = |of_singles, of_floats| if single { of_singles } else { of_floats };
        let mut values: Vec<Operand> = Vec::new();
        for _ in 0..2 + self.random.below(4) {
            let whole = self.value(env);
            let part = self.pure(O::IntAnd, &[whole, Operand::int(255)]);
            let casts = [pick(O::CastIntToSingle, O::CastIntToFloat), pick(O::BitsToSingle, O::BitsToFloat)];
            let bits = usize::from(self.random.below(5) == 0);
            let mut value = self.pure(casts[bits], &[if bits == 1 { whole } else { part }]);
            for _ in 0..self.random.below(4) {
                let by = [0.5, 2.0, 1.0, 3.7, -1.5, 1e-30, 11.0, 14.5][self.random.below(8)];
                let constant = number(ty, by);
                value = match self.random.below(7) {
                    0 => self.pure(pick(O::SingleAbs, O::FloatAbs), &[value]),
                    1 => self.pure(pick(O::SingleMul, O::FloatMul), &[value, constant]),
                    2 => self.pure(pick(O::SingleAdd, O::FloatAdd), &[value, constant]),
                    _ => self.pure(pick(O::SingleSqrt, O::FloatSqrt), &[value]),
                };
            }
            let from = [0.5, 1.0, 3.0, 4.0, 5.7, 11.0, 15.9, -2.0, 1e-20, 1e25][self.random.below(10)];
            let mut args = [value, number(ty, from)];
            if self.random.below(4) == 0 {
                args[1] = self.float(ty, &values.iter().copied().chain([value]).collect::<Vec<_>>());
            }
            if self.random.below(3) == 0 {
                args.swap(0, 1);
            }
            values.push(value);
            let difference = self.pure(pick(O::SingleSub, O::FloatSub), &args);
            values.push(difference);
        }
        let mut last = values[values.len() - 1];
        for _ in 0..self.random.below(4) {
            let other = values[self.random.below(values.len())];
            last = match self.random.below(5) {
                0 => self.pure(pick(O::SingleNeg, O::FloatNeg), &[last]),
                1 | 2 => self.pure(pick(O::SingleMin, O::FloatMin), &[last, other]),
                _ => self.pure(pick(O::SingleMax, O::FloatMax), &[other, last]),
            };
        }
        let zero = number(ty, [0.0, 0.0, 0.0, -0.0, 3.0][self.random.below(5)]);
        let tests: Vec<Opcode> = O::ALL
            .iter()
            .copied()
            .filter(|op| op.is_comparison() && op.operands().iter().all(|of| *of == OperandType::Is(ty)))
            .collect();
        for _ in 0..1 + self.random.below(2) {
            let args = if self.random.below(3) == 0 { [zero, last] } else { [last, zero] };
            let test = tests[self.random.below(tests.len())];
            env.values.push(self.pure(test, &args));
        }
    }

    /// One of the values, or a constant.
    fn float(&mut self, ty: Type, values: &[Operand]) -> Operand {
        const CORNERS: [f64; 10] = [0.0, -0.0, 1.0, -1.5, 0.1, 63.0, 1e30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        if self.random.below(4) > 0 {
            return values[values.len() - 1 - self.random.below(values.len().min(4))];
        }
        let corner = CORNERS[self.random.below(CORNERS.len())];
        number(ty, corner)
    }

    fn condition(&mut self, env: &Env) -> Operand {
        if self.random.below(8) == 0 {
            return self.value(env);
        }
        let of_ints =
            |op: &Opcode| op.is_comparison() && op.operands().iter().all(|ty| *ty == OperandType::Is(Type::Int));
        let comparisons: Vec<Opcode> = Opcode::ALL.iter().copied().filter(of_ints).collect();
        let opcode = comparisons[self.random.below(comparisons.len())];
        let args: Vec<Operand> = opcode.operands().iter().map(|_| self.value(env)).collect();
        self.pure(opcode, &args)
    }

    /// An index of a byte that lies in the array with those behind it: one that has been used before, or one near it,
    /// checked; or a new one.
    fn index(&mut self, env: &mut Env) -> Operand {
        if !env.indices.is_empty() && self.random.below(4) > 0 {
            let used = env.indices[self.random.below(env.indices.len())];
            if self.random.below(2) == 0 {
                return used;
            }
            let by = Operand::int(self.random.below(9) as i64 - 4);
            let index = self.pure(Opcode::IntAdd, &[used, by]);
            self.check(index);
            env.indices.push(index);
            return index;
        }
        let value = self.value(env);
        let index = match self.random.below(8) {
            0 => value,
            _ => {
                let mask = [7, 15, 31][self.random.below(3)];
                self.pure(Opcode::IntAnd, &[value, Operand::int(mask)])
            }
        };
        self.check(index);
        env.indices.push(index);
        env.values.push(index);
        index
    }

    /// Goes on where an index is less than the length.
    fn check(&mut self, index: Operand) {
        self.check_below(index, self.length);
    }

    fn check_below(&mut self, index: Operand, length: Operand) {
        let (opcode, args, holds) = match self.random.below(4) {
            0 => (Opcode::UintGt, [length, index], true),
            1 => (Opcode::UintGe, [index, length], false),
            _ => (Opcode::UintLt, [index, length], true),
        };
        let cond = self.pure(opcode, &args);
        let (next, fails) = (self.graph.new_block(), self.graph.new_block());
        let (then, otherwise) = if holds { (next, fails) } else { (fails, next) };
        self.end(branch(cond, Edge::new(then, []), Edge::new(otherwise, [])));
        let args = vec![(length, Scalar::Usize), (index, Scalar::Usize)];
        self.graph.block_mut(fails).term =
            Terminator::Trap(Trap { kind: TrapKind::IndexOutOfBounds, message: None, args, loc: Loc::UNKNOWN });
        self.block = next;
    }

    /// Shifts that undo each other but for some bits, and whether these were set.
    fn there_and_back(&mut self, env: &mut Env) {
        let value = self.value(env);
        let by = self.random.below(7) as i64;
        let right = [Opcode::IntRshift, Opcode::UintRshift][self.random.below(2)];
        let part = self.pure(right, &[value, Operand::int(by)]);
        let whole = match self.random.below(2) {
            0 => self.pure(Opcode::IntLshift, &[part, Operand::int(by)]),
            _ => self.pure(Opcode::IntMul, &[part, Operand::int(1 << by)]),
        };
        let args = if self.random.below(2) == 0 { [whole, value] } else { [value, whole] };
        let test = [Opcode::IntEq, Opcode::IntNe][self.random.below(2)];
        let equal = self.pure(test, &args);
        env.values.extend([whole, equal]);
    }

    /// Arithmetic of few bits: each step is brought to its type again.
    fn narrow(&mut self, env: &mut Env) {
        let bytes = [1, 2, 4][self.random.below(3)];
        let mut value = self.value(env);
        for _ in 0..1 + self.random.below(4) {
            let opcode = [Opcode::IntAdd, Opcode::IntSub, Opcode::IntMul, Opcode::IntXor][self.random.below(4)];
            let other = self.value(env);
            value = self.pure(opcode, &[value, other]);
            value = match self.random.below(2) {
                0 => self.pure(Opcode::IntSignext, &[value, Operand::int(bytes)]),
                _ => self.pure(Opcode::IntAnd, &[value, Operand::int((1 << (8 * bytes)) - 1)]),
            };
        }
        env.values.push(value);
    }

    fn access(&mut self, env: &mut Env) {
        // What is behind a `&`.
        if self.random.below(5) == 0 {
            let (load, _, args, mut desc) = self.place(env);
            desc.kind = MemKind::Immutable;
            desc.offset += CHANGING;
            env.values.extend(self.op(load, &args, Imm::mem(desc), 1));
            return;
        }
        let (load, store, mut args, desc) = match self.random.below(2) {
            0 if !env.places.is_empty() => env.places[self.random.below(env.places.len())].clone(),
            _ => self.place(env),
        };
        env.places.push((load, store, args.clone(), desc.clone()));
        if self.random.below(2) == 0 {
            args.push(self.value(env));
            self.op(store, &args, Imm::mem(desc), 0);
        } else {
            env.values.extend(self.op(load, &args, Imm::mem(desc), 1));
        }
    }

    /// A scalar in the array.
    fn place(&mut self, env: &mut Env) -> (Opcode, Opcode, Vec<Operand>, MemDesc) {
        const WIDTHS: [Access; 9] = {
            use Access::*;
            [U8, U8, U8, I8, I16, U16, I32, U32, I64]
        };
        let index = self.index(env);
        let access = WIDTHS[self.random.below(WIDTHS.len())];
        let kind = [MemKind::Exclusive, MemKind::Shared][self.random.below(2)];
        let class = ["bytes", MemDesc::ANY][self.random.below(2)];
        let offset = self.random.below(3) as i32;
        let desc = |stride| MemDesc { class: class.into(), field: "".into(), offset, stride, access, kind };
        match self.random.below(3) {
            0 => (Opcode::RawLoad, Opcode::RawStore, vec![self.base, index], desc(1)),
            1 => {
                let base = self.pure(Opcode::IntAdd, &[self.base, index]);
                (Opcode::Getfield, Opcode::Setfield, vec![base], desc(0))
            }
            _ => (Opcode::Getarrayitem, Opcode::Setarrayitem, vec![self.base, index], desc(1)),
        }
    }

    /// Two values that are compared, and compared again where that is known.
    fn compared(&mut self, env: &mut Env) {
        use Opcode as O;
        const TESTS: [O; 10] =
            [O::IntLt, O::IntLe, O::IntGt, O::IntGe, O::IntEq, O::IntNe, O::UintLt, O::UintLe, O::UintGt, O::UintGe];
        let mut pair = [self.value(env), self.value(env), self.length];
        for value in &mut pair[..2] {
            if self.random.below(3) == 0 {
                *value = self.pure(O::IntAnd, &[*value, Operand::int(127)]);
            }
        }
        for _ in 0..1 + self.random.below(3) {
            let (one, other) = (pair[self.random.below(3)], pair[self.random.below(3)]);
            let test = TESTS[self.random.below(TESTS.len())];
            let cond = self.pure(test, &[one, other]);
            let (next, exit) = (self.graph.new_block(), self.graph.new_block());
            let (then, otherwise) = if self.random.below(2) == 0 { (next, exit) } else { (exit, next) };
            self.end(branch(cond, Edge::new(then, []), Edge::new(otherwise, [])));
            let result = self.value(env);
            self.graph.block_mut(exit).term = Terminator::Return(vec![result]);
            self.block = next;
            for _ in 0..1 + self.random.below(3) {
                let (one, other) = (pair[self.random.below(3)], pair[self.random.below(3)]);
                let test = TESTS[self.random.below(TESTS.len())];
                let known = self.pure(test, &[one, other]);
                env.values.push(known);
            }
        }
    }

    /// A guard: leaves by an exit with all that is in scope.
    fn guard(&mut self, env: &Env) {
        let cond = self.condition(env);
        let (next, exit) = (self.graph.new_block(), self.graph.new_block());
        self.end(branch(cond, Edge::new(next, []), Edge::new(exit, [])));
        let guard = Operand::int(GUARDS * i64::from(self.exits));
        self.graph.block_mut(exit).term = Terminator::Exit { exit: self.exits, guard, args: env.values.clone() };
        self.exits += 1;
        self.block = next;
    }

    /// Guards of one exit, with loads between them: of indices at constant distances, of one value against constants,
    /// or of anything.
    fn guards(&mut self, env: &mut Env) {
        use Opcode as O;
        let exit = self.graph.new_block();
        let number = self.graph.new_value(Type::Int);
        let (args, guard) = (env.values.clone(), number.into());
        let block = self.graph.block_mut(exit);
        (block.params, block.term) = (vec![number], Terminator::Exit { exit: self.exits, guard, args });
        let mut value = self.value(env);
        if self.random.below(2) == 0 {
            value = self.pure(O::IntAnd, &[value, Operand::int(31)]);
        }
        let kind = self.random.below(3);
        for at in 0..2 + self.random.below(3) as i64 {
            let by = Operand::int(self.random.below(14) as i64 - 5);
            let cond = match kind {
                0 => {
                    let index = self.pure(O::IntAdd, &[value, by]);
                    let length = [self.length, Operand::int(30)][usize::from(self.random.below(4) > 0)];
                    let is_less = self.pure(O::UintLt, &[index, length]);
                    (index, is_less)
                }
                1 => {
                    let test = [O::IntLt, O::IntLe, O::UintLt, O::UintLe, O::IntGt][self.random.below(5)];
                    let limit = Operand::int(self.random.below(40) as i64);
                    (value, self.pure(test, &[value, limit]))
                }
                _ => (value, self.condition(&*env)),
            };
            let next = self.graph.new_block();
            let out = Edge::new(exit, [Operand::int(GUARDS * i64::from(self.exits) + at)]);
            let on = Edge::new(next, []);
            let term = match self.random.below(4) {
                0 => {
                    let none = self.pure(O::IntIsZero, &[cond.1]);
                    branch(none, out, on)
                }
                _ => branch(cond.1, on, out),
            };
            self.end(term);
            self.block = next;
            if kind == 0 && self.random.below(2) == 0 {
                let index = self.pure(O::IntAnd, &[cond.0, Operand::int(7)]);
                let loaded = self.byte(index, MemKind::Exclusive);
                env.values.push(loaded);
            }
        }
        self.exits += 1;
    }

    /// Both sides of a branch, and two values that come of either.
    fn branch(&mut self, env: &mut Env, depth: usize) {
        let cond = self.condition(env);
        let [then, otherwise, join] = [0; 3].map(|_| self.graph.new_block());
        // A place that both sides use, and whoever comes behind them; and an index that they check.
        let both = (self.random.below(3) == 0).then(|| self.place(env));
        let index = (self.random.below(4) == 0).then(|| self.value(env));
        self.end(branch(cond, Edge::new(then, []), Edge::new(otherwise, [])));
        for side in [then, otherwise] {
            self.block = side;
            let mut own = env.clone();
            self.statements(&mut own, depth);
            if let Some((load, store, args, desc)) = &both {
                if self.random.below(3) > 0 {
                    let value = self.value(&own);
                    self.op(*store, &[&args[..], &[value]].concat(), Imm::mem(desc.clone()), 0);
                } else {
                    own.values.extend(self.op(*load, args, Imm::mem(desc.clone()), 1));
                }
            }
            if let Some(index) = index {
                self.check(index);
            }
            let args = [self.value(&own), self.value(&own)];
            self.end(Terminator::Jump(Edge::new(join, args)));
        }
        self.join(env, join, 2);
        if let Some((load, _, args, desc)) = both {
            env.values.extend(self.op(load, &args, Imm::mem(desc), 1));
        }
        if let Some(index) = index {
            self.check(index);
        }
    }

    /// Branches by one order, or its opposite, or the other way around, one after the other: both ways lead to one
    /// block and hand it something else, or one leads past all that follows. Between them there is nothing, or a
    /// little.
    fn choices(&mut self, env: &mut Env) {
        let (a, b) = (self.value(env), self.value(env));
        let mut own = env.clone();
        let orders = [Opcode::IntLt, Opcode::IntGe, Opcode::UintLe, Opcode::IntEq];
        let order = orders[self.random.below(orders.len())];
        let end = self.graph.new_block();
        let mut last = None;
        for _ in 0..2 + self.random.below(4) {
            let cond = match (last, self.random.below(4)) {
                (Some(cond), 0 | 1) => cond,
                (_, 2) => self.pure(order.mirrored().unwrap_or(order), &[b, a]),
                (_, 3) => self.pure(order.negated().unwrap_or(order), &[a, b]),
                _ => self.pure(order, &[a, b]),
            };
            last = Some(cond);
            let next = self.graph.new_block();
            let way = |g: &mut Self| match g.random.below(5) {
                0 => Edge::new(end, [g.value(&own)]),
                _ => Edge::new(next, [g.value(&own), g.constant()]),
            };
            let (then, otherwise) = (way(self), way(self));
            // Something must lead on.
            let otherwise = match then.block == end && otherwise.block == end {
                true => Edge::new(next, [a, b]),
                false => otherwise,
            };
            self.end(branch(cond, then, otherwise));
            self.join(&mut own, next, 2);
            if self.random.below(3) == 0 {
                self.statements(&mut own, 0);
            }
        }
        let last = self.value(&own);
        self.end(Terminator::Jump(Edge::new(end, [last])));
        self.join(env, end, 1);
    }

    fn switch(&mut self, env: &mut Env, depth: usize) {
        let value = self.value(env);
        let join = self.graph.new_block();
        let from = self.block;
        let mut sides = Vec::new();
        for _ in 0..3 {
            let side = self.graph.new_block();
            sides.push(side);
            self.block = side;
            let mut own = env.clone();
            self.statements(&mut own, depth);
            let args = [self.value(&own)];
            self.end(Terminator::Jump(Edge::new(join, args)));
        }
        self.block = from;
        let first = self.random.below(4) as i64 - 1;
        let cases = vec![(first, Edge::new(sides[0], [])), (first + 5, Edge::new(sides[1], []))];
        let default = Edge::new(sides[2], []);
        self.end(Terminator::Switch { value, cases, default, time: Time::Now, promotion: false });
        self.join(env, join, 1);
    }

    /// A few rounds, with a counter and two values that change.
    fn repeat(&mut self, env: &mut Env, depth: usize) {
        let [head, body, behind] = [0; 3].map(|_| self.graph.new_block());
        let args = [Operand::int(0), self.value(env), self.value(env)];
        self.end(Terminator::Jump(Edge::new(head, args)));
        let mut own = env.clone();
        self.join(&mut own, head, 3);
        let counter = own.values[own.values.len() - 3];
        let rounds = 1 + self.random.below(5) as i64;
        let step = 1 + self.random.below(3) as i64;
        let cond = self.pure(Opcode::IntLt, &[counter, Operand::int(rounds)]);
        self.end(branch(cond, Edge::new(body, []), Edge::new(behind, [])));
        self.block = body;
        let mut inside = own.clone();
        self.statements(&mut inside, depth);
        let next = self.pure(Opcode::IntAdd, &[counter, Operand::int(step)]);
        let args = [next, self.value(&inside), self.value(&inside)];
        self.end(Terminator::Jump(Edge::new(head, args)));
        self.block = behind;
        *env = own;
    }

    /// A few rounds of a loop of two parts that can begin with either.
    fn two_ways_in(&mut self, env: &mut Env, depth: usize) {
        let [one, other, behind] = [0; 3].map(|_| self.graph.new_block());
        let [first, second] = [0; 2].map(|_| Edge::new(one, [Operand::int(0), self.value(env)]));
        let second = Edge { block: other, ..second };
        let cond = self.condition(env);
        self.end(branch(cond, first, second));
        for (part, next) in [(one, other), (other, one)] {
            let mut own = env.clone();
            self.block = part;
            self.join(&mut own, part, 2);
            let counter = own.values[own.values.len() - 2];
            self.statements(&mut own, depth);
            let rounds = 1 + self.random.below(6) as i64;
            let cond = self.pure(Opcode::IntLt, &[counter, Operand::int(rounds)]);
            let count = self.pure(Opcode::IntAdd, &[counter, Operand::int(1)]);
            let onward = Edge::new(next, [count, self.value(&own)]);
            let out = Edge::new(behind, [self.value(&own)]);
            self.end(branch(cond, onward, out));
        }
        self.join(env, behind, 1);
    }

    /// Goes on in a block that is handed so many values.
    fn join(&mut self, env: &mut Env, block: BlockId, values: usize) {
        let params: Vec<ValueId> = (0..values).map(|_| self.graph.new_value(Type::Int)).collect();
        env.values.extend(params.iter().copied().map(Operand::Value));
        self.graph.block_mut(block).params = params;
        self.block = block;
    }
}

fn branch(cond: Operand, then: Edge, otherwise: Edge) -> Terminator {
    Terminator::Branch { cond, then, otherwise, time: Time::Now }
}

/// The pure ops of which all operands are of a type, and that are as wanted.
fn of_floats(ty: Type, wanted: impl Fn(&Opcode) -> bool) -> Vec<Opcode> {
    let of_type = |op: &&Opcode| {
        op.is_pure() && !op.operands().is_empty() && op.operands().iter().all(|of| *of == OperandType::Is(ty))
    };
    Opcode::ALL.iter().filter(of_type).copied().filter(wanted).collect()
}

fn number(ty: Type, number: f64) -> Operand {
    Operand::Const(match ty {
        Type::Single => Const::Single((number as f32).to_bits()),
        _ => Const::Float(number.to_bits()),
    })
}
