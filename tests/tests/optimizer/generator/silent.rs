//! Arms that store what lies there anyway where they aren't taken, as Brainfuck's multiply loops do; and some that only
//! look so.

use super::{Env, Generator, branch};
use flowgraph::ir::*;

impl Generator<'_> {
    /// Tests a byte, and does something with it if it isn't 0, mostly.
    pub(super) fn silent(&mut self, env: &mut Env) {
        use Opcode as O;
        let kind = if self.random.below(6) == 0 { MemKind::Shared } else { MemKind::Exclusive };
        let wanted = self.value(env);
        let mask = [7, 15, 31][self.random.below(3)];
        let at = self.pure(O::IntAnd, &[wanted, Operand::int(mask)]);
        self.check(at);
        let mut cell = self.byte(at, kind);
        match self.random.below(4) {
            0 => {
                let by = self.constant();
                let changed = self.pure(O::IntAdd, &[cell, by]);
                let wide = self.random.below(2) == 0;
                cell = self.pure(O::IntAnd, &[changed, Operand::int(255)]);
                self.store_byte(at, if wide { changed } else { cell }, kind);
            }
            1 => cell = self.pure(O::IntAnd, &[cell, Operand::int(mask)]),
            _ => {}
        }
        // Sometimes somebody else has stored meanwhile.
        if self.random.below(6) == 0 {
            let other = self.value(env);
            let other = self.pure(O::IntAnd, &[other, Operand::int(15)]);
            self.check(other);
            self.store_byte(other, cell, kind);
        }
        let (cond, side, is) = self.test(cell);
        let [arm, past] = [0; 2].map(|_| self.graph.new_block());
        let before = [self.value(env), cell];
        let edges = [Edge::new(arm, []), Edge::new(past, before)];
        let [then, otherwise] = if side == 0 { edges } else { [edges[1].clone(), edges[0].clone()] };
        self.end(branch(cond, then, otherwise));

        self.block = arm;
        let mut last = before[0];
        for _ in 0..1 + self.random.below(3) {
            let there = self.there(env, at, cell, is);
            let lies = self.byte(there, kind);
            let part = self.part(cell, is);
            let opcode = [O::IntAdd, O::IntAdd, O::IntSub, O::IntXor, O::IntOr][self.random.below(5)];
            let sum = self.pure(opcode, &[lies, part]);
            last = match self.random.below(3) {
                0 => self.pure(O::IntAnd, &[sum, Operand::int(255)]),
                _ => sum,
            };
            self.store_byte(there, last, kind);
        }
        if self.random.below(3) > 0 {
            let left = if self.random.below(4) == 0 { self.constant() } else { Operand::int(is) };
            self.store_byte(at, left, kind);
        }
        let after = match self.random.below(4) {
            0 => [last, cell],
            1 => {
                let part = self.part(cell, is);
                [self.pure(O::IntAdd, &[before[0], part]), Operand::int(is)]
            }
            _ => [before[0], Operand::int(is)],
        };
        self.end(Terminator::Jump(Edge::new(past, after)));
        self.join(env, past, 2);
        if self.random.below(2) == 0 {
            env.values.push(self.byte(at, kind));
        }
    }

    /// A test of a byte, at which side it says that there is something to do, and what the byte is where there isn't.
    fn test(&mut self, cell: Operand) -> (Operand, usize, i64) {
        let is = self.random.below(3) as i64;
        let other = Operand::int(is);
        match self.random.below(6) {
            0 => (self.pure(Opcode::IntIsTrue, &[cell]), 0, 0),
            1 => (self.pure(Opcode::IntIsZero, &[cell]), 1, 0),
            2 => (self.pure(Opcode::IntNe, &[cell, other]), 0, is),
            3 => (self.pure(Opcode::IntEq, &[cell, other]), 1, is),
            _ => (cell, 0, 0),
        }
    }

    /// An index in an arm, checked: against the length, or against one that is wrong where the arm isn't taken; or one
    /// that needs no check where it is.
    fn there(&mut self, env: &mut Env, at: Operand, cell: Operand, is: i64) -> Operand {
        use Opcode as O;
        let by = Operand::int(self.random.below(12) as i64 - 4);
        match self.random.below(8) {
            0 => {
                let value = self.value(env);
                let there = self.pure(O::IntAnd, &[value, Operand::int(1023)]);
                let none = self.pure(O::IntEq, &[cell, Operand::int(is)]);
                let more = self.pure(O::IntMul, &[none, Operand::int(1000)]);
                let length = self.pure(O::IntAdd, &[self.length, more]);
                self.check_below(there, length);
                there
            }
            1 => {
                // 0 to 31 where the arm is taken, and else far away.
                let none = self.pure(O::IntEq, &[cell, Operand::int(is)]);
                let far = self.pure(O::IntMul, &[none, Operand::int(-4096)]);
                let near = self.pure(O::IntAnd, &[cell, Operand::int(31)]);
                self.pure(O::IntAdd, &[far, near])
            }
            _ => {
                let there = self.pure(O::IntAdd, &[at, by]);
                self.check(there);
                there
            }
        }
    }

    /// Something of a byte that is 0 where the byte is `is`, mostly.
    fn part(&mut self, cell: Operand, is: i64) -> Operand {
        use Opcode as O;
        let mut part = if is == 0 { cell } else { self.pure(O::IntSub, &[cell, Operand::int(is)]) };
        for _ in 0..self.random.below(3) {
            let by = self.constant();
            part = match self.random.below(6) {
                0 => self.pure(O::IntMul, &[part, by]),
                1 => self.pure(O::IntLshift, &[part, Operand::int(by.as_int().unwrap_or(0) & 7)]),
                2 => self.pure(O::IntSignext, &[part, Operand::int(1)]),
                3 => self.pure(O::IntAnd, &[part, by]),
                4 if self.random.below(3) == 0 => self.pure(O::IntAdd, &[part, by]),
                _ => self.pure(O::IntMul, &[part, Operand::int(255)]),
            };
        }
        part
    }

    pub(super) fn byte(&mut self, at: Operand, kind: MemKind) -> Operand {
        self.op(Opcode::Getarrayitem, &[self.base, at], Imm::mem(byte(kind)), 1)[0]
    }

    pub(super) fn store_byte(&mut self, at: Operand, value: Operand, kind: MemKind) {
        self.op(Opcode::Setarrayitem, &[self.base, at, value], Imm::mem(byte(kind)), 0);
    }
}

fn byte(kind: MemKind) -> MemDesc {
    MemDesc { class: "bytes".into(), field: "".into(), offset: 0, stride: 1, access: Access::U8, kind }
}
