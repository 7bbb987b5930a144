//! Aggregates of the function's own: alone, or two of which one is handed on; accessed at once, and by what comes
//! later.

use super::{Env, Generator, branch};
use flowgraph::ir::*;

/// The bytes of one.
const SIZE: u32 = 40;

impl Generator<'_> {
    pub(super) fn locals(&mut self, env: &mut Env) {
        let mut bases = vec![self.local()];
        if self.random.below(3) == 0 {
            bases.push(self.local());
            bases.extend(self.one_of(env, [bases[0], bases[1]]));
        }
        if self.random.below(6) == 0 {
            // Its address is used for something else.
            env.values.push(self.pure(Opcode::IntIsTrue, &[bases[0]]));
        }
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(2) {
                0 => self.accesses(env, &bases, None),
                _ => self.rounds(env, &bases),
            }
        }
    }

    fn accesses(&mut self, env: &mut Env, bases: &[Operand], index: Option<Operand>) {
        for _ in 0..1 + self.random.below(4) {
            let base = bases[self.random.below(bases.len())];
            let (load, store, mut args, desc) = self.local_place(env, base, index);
            if self.random.below(2) == 0 {
                env.places.push((load, store, args.clone(), desc.clone()));
            }
            match self.random.below(5) {
                0 => self.arithmetic(env),
                1 | 2 => {
                    args.push(self.value(env));
                    self.op(store, &args, Imm::mem(desc), 0);
                }
                _ => env.values.extend(self.op(load, &args, Imm::mem(desc), 1)),
            }
        }
    }

    /// A loop over the elements, of which each round accesses some next to each other.
    fn rounds(&mut self, env: &mut Env, bases: &[Operand]) {
        let [head, body, end] = [(); 3].map(|()| self.graph.new_block());
        let first = self.value(env);
        self.end(Terminator::Jump(Edge::new(head, [Operand::int(0), first])));
        let mut own = env.clone();
        self.join(&mut own, head, 2);
        let [round, sum] = [2, 1].map(|from| own.values[own.values.len() - from]);
        let rounds = Operand::int(self.random.below(6) as i64);
        let goes_on = self.pure(Opcode::IntLt, &[round, rounds]);
        self.end(branch(goes_on, Edge::new(body, []), Edge::new(end, [sum])));
        self.block = body;
        let index = self.pure(Opcode::IntAnd, &[round, Operand::int(3)]);
        if self.random.below(2) == 0 {
            // What one round stores the next one loads, or the other way around.
            let desc = |offset| {
                let (class, kind) = ("words".into(), MemKind::Exclusive);
                Imm::mem(MemDesc { class, field: "".into(), offset, stride: 8, access: Access::I64, kind })
            };
            let (base, by) = (bases[0], 8 * self.random.below(2) as i32);
            own.values.extend(self.op(Opcode::Getarrayitem, &[base, index], desc(by), 1));
            let stored = self.value(&own);
            self.op(Opcode::Setarrayitem, &[base, index, stored], desc(8 - by), 0);
        } else {
            self.accesses(&mut own, bases, Some(index));
        }
        let last = self.value(&own);
        let sum = self.pure(Opcode::IntAdd, &[sum, last]);
        let next = self.pure(Opcode::IntAdd, &[round, Operand::int(1)]);
        self.end(Terminator::Jump(Edge::new(head, [next, sum])));
        self.join(env, end, 1);
    }

    fn local(&mut self) -> Operand {
        self.op(Opcode::StackSlot, &[], Imm::Slot(SlotDesc { size: SIZE, name: "own".into() }), 1)[0]
    }

    /// One of two addresses, by what a value is.
    fn one_of(&mut self, env: &Env, addresses: [Operand; 2]) -> Option<Operand> {
        let cond = self.value(env);
        let sides = [(); 2].map(|()| self.graph.new_block());
        let end = self.graph.new_block();
        self.end(branch(cond, Edge::new(sides[0], []), Edge::new(sides[1], [])));
        for (side, address) in sides.into_iter().zip(addresses) {
            self.graph.block_mut(side).term = Terminator::Jump(Edge::new(end, [address]));
        }
        let mut own = Env { values: Vec::new(), indices: Vec::new(), places: Vec::new() };
        self.join(&mut own, end, 1);
        own.values.pop()
    }

    /// A scalar in one of them; with this index more often than not, if one is given.
    fn local_place(
        &mut self,
        env: &Env,
        base: Operand,
        index: Option<Operand>,
    ) -> (Opcode, Opcode, Vec<Operand>, MemDesc) {
        use Access::*;
        let access = [I64, I64, I32, U16, U8][self.random.below(5)];
        let kind = [MemKind::Exclusive, MemKind::Shared][self.random.below(2)];
        let class = ["words", "words", MemDesc::ANY][self.random.below(3)];
        let offset = 8 * self.random.below(2) as i32;
        let desc = |stride| MemDesc { class: class.into(), field: "".into(), offset, stride, access, kind };
        if self.random.below(2) == 0 {
            return (Opcode::Getfield, Opcode::Setfield, vec![base], desc(0));
        }
        let given = index.filter(|_| self.random.below(4) > 0);
        let index = given.unwrap_or_else(|| {
            let index = self.value(env);
            self.pure(Opcode::IntAnd, &[index, Operand::int(3)])
        });
        match self.random.below(3) {
            0 => {
                let by = self.pure(Opcode::IntLshift, &[index, Operand::int(3)]);
                let base = self.pure(Opcode::IntAdd, &[base, by]);
                (Opcode::Getfield, Opcode::Setfield, vec![base], desc(0))
            }
            _ => (Opcode::Getarrayitem, Opcode::Setarrayitem, vec![base, index], desc(8)),
        }
    }
}
