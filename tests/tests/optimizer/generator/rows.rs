//! Checks of one length at constant distances, with loads and now and then a store between them.

use super::{Env, Generator};
use flowgraph::ir::*;

impl Generator<'_> {
    /// Checks in a row: of any value, so that sums wrap, or of one that is small.
    pub(super) fn row(&mut self, env: &mut Env) {
        use Opcode as O;
        let mut value = self.value(env);
        if self.random.below(3) > 0 {
            value = self.pure(O::IntAnd, &[value, Operand::int(31)]);
        }
        let length = match self.random.below(4) {
            0 => self.length,
            1 => {
                // Never less than the checks are apart, or now and then.
                let (mask, least) = [(31, 16), (7, 2), (15, 5)][self.random.below(3)];
                let part = self.value(env);
                let part = self.pure(O::IntAnd, &[part, Operand::int(mask)]);
                self.pure(O::IntOr, &[part, Operand::int(least)])
            }
            2 => {
                // At least 5, and it may be negative.
                let other = self.pure(O::IntSub, &[self.length, Operand::int(12)]);
                self.check_below(Operand::int(4), other);
                self.length
            }
            _ => Operand::int([2, 8, 30, 48][self.random.below(4)]),
        };
        for _ in 0..2 + self.random.below(3) {
            let by = Operand::int(self.random.below(14) as i64 - 5);
            let at = self.pure(O::IntAdd, &[value, by]);
            self.check_below(at, length);
            match self.random.below(4) {
                0 => {}
                1 if self.random.below(3) == 0 => {
                    let stored = self.value(env);
                    self.store_byte(at, stored, MemKind::Exclusive);
                }
                _ => env.values.push(self.byte(at, MemKind::Exclusive)),
            }
        }
    }
}
