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

    /// A loop that is come back to in several ways, some of which make the same check as its head, with as far a step
    /// or another one. It may be handed another length in each round, and hold a loop that makes the check of the one
    /// around it, or doesn't.
    pub(super) fn ways_back(&mut self, env: &mut Env) {
        use Opcode as O;
        let from = self.value(env);
        let mask = Operand::int([7, 31][self.random.below(2)]);
        let from = self.pure(O::IntAnd, &[from, mask]);
        let changes = self.random.below(2) == 0;
        let [head, body, again, behind] = [0; 4].map(|_| self.graph.new_block());
        let [at, own_length, looked, other, left_at, left_by] = [0; 6].map(|_| self.graph.new_value(Type::Int));
        let length = if changes { own_length.into() } else { self.length };
        self.graph.block_mut(head).params = if changes { vec![at, own_length] } else { vec![at] };
        self.graph.block_mut(body).params = vec![looked];
        self.graph.block_mut(again).params = vec![other];
        self.graph.block_mut(behind).params = vec![left_at, left_by];
        let into = |at: Operand, length: Operand| Edge::new(head, [at].into_iter().chain(changes.then_some(length)));
        let out = |at: Operand| Edge::new(behind, [at, length]);
        self.end(Terminator::Jump(into(from, self.length)));

        self.block = head;
        let cond = self.pure(O::UintLt, &[at.into(), length]);
        self.end(branch(cond, Edge::new(body, [at.into()]), out(at.into())));
        self.block = body;
        let looked = Operand::from(looked);
        let byte = self.byte(looked, MemKind::Exclusive);
        if self.random.below(3) == 0 {
            self.check_of_the_loop_around(looked, length, out(looked));
        }
        if self.random.below(2) == 0 {
            self.round(env, looked, length);
        }
        // All up: so it ends.
        let steps = [1, 1, 3, 9, 25].map(Operand::int);
        let [near, far] = [0; 2].map(|_| steps[self.random.below(5)]);
        let moved = self.pure(O::IntAdd, &[looked, near]);
        let holds = self.pure(O::UintLt, &[moved, length]);
        // Another length is no longer than the array, and not always as long as it was.
        let short = self.pure(O::IntAnd, &[byte, Operand::int(63)]);
        let handed = [length, short][self.random.below(2)];
        let [one, two, back] = [0; 3].map(|_| self.graph.new_block());
        let few = Operand::int(self.random.below(90) as i64);
        let test = self.pure(O::UintLt, &[byte, few]);
        self.end(branch(test, Edge::new(one, []), Edge::new(two, [])));
        self.block = one;
        self.end(branch(holds, Edge::new(back, []), out(moved)));
        self.block = back;
        let wanted = self.constant();
        let stays = self.pure(O::IntNe, &[byte, wanted]);
        self.end(branch(stays, into(moved, handed), out(looked)));
        self.block = two;
        let moved = self.pure(O::IntAdd, &[looked, far]);
        self.end(Terminator::Jump(Edge::new(again, [moved])));
        self.block = again;
        if self.random.below(3) == 0 {
            // Whether that holds the head finds out.
            self.end(Terminator::Jump(into(other.into(), length)));
        } else {
            let holds = self.pure(O::UintLt, &[other.into(), length]);
            let past_head = !changes && self.random.below(3) > 0;
            let on = if past_head { Edge::new(body, [other.into()]) } else { into(other.into(), length) };
            self.end(branch(holds, on, out(other.into())));
        }
        self.block = behind;
        env.values.extend([left_at, left_by].map(Operand::Value));
    }

    /// A loop of a few rounds, some of which check an index of the loop around it, and store there.
    fn check_of_the_loop_around(&mut self, index: Operand, length: Operand, out: Edge) {
        use Opcode as O;
        let [head, checks, stores, next, behind] = [0; 5].map(|_| self.graph.new_block());
        let count = self.graph.new_value(Type::Int);
        self.graph.block_mut(head).params = vec![count];
        self.end(Terminator::Jump(Edge::new(head, [Operand::int(0)])));
        self.block = head;
        let byte = self.byte(count.into(), MemKind::Exclusive);
        self.end(branch(byte, Edge::new(checks, []), Edge::new(next, [])));
        self.block = checks;
        let by = Operand::int(self.random.below(12) as i64);
        let near = self.pure(O::IntAdd, &[index, by]);
        let cond = self.pure(O::UintLt, &[near, length]);
        self.end(branch(cond, Edge::new(stores, []), out));
        self.block = stores;
        self.store_byte(near, count.into(), MemKind::Exclusive);
        self.end(Terminator::Jump(Edge::new(next, [])));
        self.block = next;
        let more = self.pure(O::IntAdd, &[count.into(), Operand::int(1)]);
        let stays = self.pure(O::IntLt, &[more, Operand::int(6)]);
        self.end(branch(stays, Edge::new(head, [more]), Edge::new(behind, [])));
        self.block = behind;
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

    /// What a round does that stores: to where it looks or near that, with checks and loads of what is the same in each
    /// behind it.
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
