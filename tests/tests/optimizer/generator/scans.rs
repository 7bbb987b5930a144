//! Loops that move an index on until a byte or the end of the array says so: some only look, some store.

use super::{Env, Generator, branch};
use flowgraph::ir::*;

impl Generator<'_> {
    /// A loop of one index. Where a check fails it traps, or the loop is left.
    pub(super) fn scan(&mut self, env: &mut Env) {
        use Opcode as O;
        let from = self.value(env);
        let mask = Operand::int([7, 31, 63][self.random.below(3)]);
        let mut from = self.pure(O::IntAnd, &[from, mask]);
        let length = match self.random.below(3) {
            0 => self.length,
            1 => self.pure(O::IntAnd, &[self.length, Operand::int(63)]),
            _ => Operand::int([40, 48][self.random.below(2)]),
        };
        match self.random.below(4) {
            0 => from = self.value(env),
            1 => {}
            _ => self.check_below(from, length),
        }
        let step = [1, 1, 2, 3, 9, -1, -1, -2, -9][self.random.below(9)];
        let counts = self.random.below(3) == 0;
        let stores = self.random.below(2) == 0;
        let [head, behind] = [0; 2].map(|_| self.graph.new_block());
        let [at, count] = [0; 2].map(|_| self.graph.new_value(Type::Int));
        self.graph.block_mut(head).params = if counts { vec![at, count] } else { vec![at] };
        let [left_at, left_by] = [0; 2].map(|_| self.graph.new_value(Type::Int));
        self.graph.block_mut(behind).params = vec![left_at, left_by];
        let zero = counts.then(|| Operand::int(0));
        self.end(Terminator::Jump(Edge::new(head, [from].into_iter().chain(zero))));
        self.block = head;

        // Before it is checked, or when it has been, the index moves on.
        let early = self.random.below(3) > 0;
        let next = |g: &mut Self| g.pure(O::IntAdd, &[at.into(), Operand::int(step)]);
        let looked = if early { next(self) } else { at.into() };
        self.checked_or_left(looked, length, behind);
        let byte = self.byte(looked, MemKind::Exclusive);
        if stores {
            self.round(env, looked, length);
        }
        if self.random.below(4) == 0 {
            let by = Operand::int(self.random.below(3) as i64 + 1);
            let near = self.pure(O::IntAdd, &[looked, by]);
            self.checked_or_left(near, length, behind);
        }
        let moved = if early { looked } else { next(self) };
        let more = counts.then(|| self.pure(O::IntAdd, &[count.into(), Operand::int(1)]));
        let (wanted, few) = (self.constant(), Operand::int(self.random.below(40) as i64));
        let test = match self.random.below(3) {
            0 => byte,
            1 => self.pure(O::IntNe, &[byte, wanted]),
            _ => self.pure(O::UintGe, &[byte, few]),
        };
        let back = Edge::new(head, [moved].into_iter().chain(more));
        let given = [byte, moved, at.into(), Operand::int(7)];
        let left = Edge::new(behind, [given[self.random.below(4)], given[self.random.below(4)]]);
        self.end(branch(test, back, left));
        self.block = behind;
        env.values.extend([left_at, left_by].map(Operand::Value));
        if self.random.below(2) == 0 {
            env.values.push(at.into());
        }
    }

    /// Goes on where an index is less than a length, and else traps or leaves for a block of two parameters.
    fn checked_or_left(&mut self, index: Operand, length: Operand, left: BlockId) {
        if self.random.below(2) == 0 {
            return self.check_below(index, length);
        }
        let cond = self.pure(Opcode::UintLt, &[index, length]);
        let next = self.graph.new_block();
        self.end(branch(cond, Edge::new(next, []), Edge::new(left, [index, length])));
        self.block = next;
    }

    /// What a round does that stores: to where it looks or near that, with checks and loads of what is the same in each behind it.
    fn round(&mut self, env: &mut Env, at: Operand, length: Operand) {
        use Opcode as O;
        let same = self.value(env);
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(4) {
                0 => {
                    let by = self.random.below(20) as i64 - 9;
                    let near = self.pure(O::IntAdd, &[at, Operand::int(by)]);
                    self.check_below(near, length);
                    let there = self.byte(near, MemKind::Exclusive);
                    let sum = self.pure(O::IntAdd, &[there, Operand::int(3)]);
                    self.store_byte(near, sum, MemKind::Exclusive);
                }
                1 => {
                    let stored = self.value(env);
                    self.store_byte(at, stored, MemKind::Exclusive);
                }
                2 => self.check_below(same, length),
                _ => {
                    let place = self.pure(O::IntAnd, &[same, Operand::int(3)]);
                    let there = self.byte(place, MemKind::Exclusive);
                    self.store_byte(at, there, MemKind::Exclusive);
                }
            }
        }
    }
}
