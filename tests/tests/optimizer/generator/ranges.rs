//! Two tests whether a value lies in a range, as branches or as bits, and now and then the same ones again.

use super::{Env, Generator, branch};
use flowgraph::ir::*;

impl Generator<'_> {
    /// Some ranges of one value, or of two. What comes of the tests is handed on.
    pub(super) fn ranges(&mut self, env: &mut Env) {
        let values = [self.value(env), self.value(env)];
        let mut ends = [self.constant(), self.constant(), Operand::int(0), self.length];
        if self.random.below(2) == 0 {
            let part = self.value(env);
            ends[1] = self.pure(Opcode::IntAnd, &[part, Operand::int(31)]);
        }
        for _ in 0..1 + self.random.below(3) {
            let value = values[usize::from(self.random.below(4) == 0)];
            let tests = match self.random.below(4) {
                0 => [0, 1].map(|_| self.end_of_range(value, &ends)),
                _ => self.both_ends(value, &ends),
            };
            match self.random.below(3) {
                0 => {
                    let bits = tests.map(|(test, args)| self.pure(test, &args));
                    let both = [Opcode::IntAnd, Opcode::IntOr][self.random.below(2)];
                    env.values.push(self.pure(both, &bits));
                }
                _ => self.tested(env, tests),
            }
        }
    }

    /// Comparisons of a value with both ends of a range, in either order; one may be made the other way around.
    fn both_ends(&mut self, value: Operand, ends: &[Operand]) -> [(Opcode, [Operand; 2]); 2] {
        use Opcode::*;
        let low = self.random.below(12) as i64 - 6;
        let high = match self.random.below(3) {
            0 => ends[1],
            _ => Operand::int(low + self.random.below(30) as i64),
        };
        let low = Operand::int(if self.random.below(2) == 0 { 0 } else { low });
        let mut tests = [
            ([IntGe, IntGt][self.random.below(2)], [value, low]),
            ([IntLe, IntLt][self.random.below(2)], [value, high]),
        ];
        if self.random.below(2) == 0 {
            tests.swap(0, 1);
        }
        let (test, _) = &mut tests[self.random.below(2)];
        if self.random.below(3) == 0 {
            *test = test.negated().unwrap_or(*test);
        }
        tests
    }

    /// A comparison of a value with an end.
    fn end_of_range(&mut self, value: Operand, ends: &[Operand]) -> (Opcode, [Operand; 2]) {
        use Opcode::*;
        let signed = [IntLt, IntLe, IntGt, IntGe];
        let test = match self.random.below(6) {
            0 => [UintLt, UintLe, UintGt, UintGe][self.random.below(4)],
            _ => signed[self.random.below(4)],
        };
        let end = ends[self.random.below(ends.len())];
        if self.random.below(4) == 0 { (test, [end, value]) } else { (test, [value, end]) }
    }

    /// Branches by one test, and on one way by another one: to two places, or to a third one.
    fn tested(&mut self, env: &mut Env, [first, second]: [(Opcode, [Operand; 2]); 2]) {
        let [next, end] = [(); 2].map(|()| self.graph.new_block());
        let handed = [self.value(env), self.value(env), self.constant()];
        let cond = self.pure(first.0, &first.1);
        let bit = Operand::int(self.random.below(2) as i64);
        let as_bit = self.random.below(2) == 0;
        let out = Edge::new(end, [if as_bit { bit } else { handed[0] }]);
        let on = Edge::new(next, []);
        let term =
            if self.random.below(2) == 0 { branch(cond, on, out.clone()) } else { branch(cond, out.clone(), on) };
        self.end(term);
        self.block = next;
        let cond = self.pure(second.0, &second.1);
        let other = Edge::new(end, [handed[1 + self.random.below(2)]]);
        let term = match (as_bit, self.random.below(2)) {
            (true, _) => Terminator::Jump(Edge::new(end, [cond])),
            (false, 0) => branch(cond, other, out),
            (false, _) => branch(cond, out, other),
        };
        self.end(term);
        self.join(env, end, 1);
    }
}
