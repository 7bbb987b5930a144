//! What the terms of a bound say.

use crate::explore::Merge;
use crate::source::Bound;
use crate::term::{Op, Term, all, apply, at_most, at_most_unsigned, name, number, same};

/// The bound of the IR's integers.
pub type IntBound = Bound<64>;

/// The terms of a bound: its ends, its known bits, its unknown ones.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Set {
    pub lower: Term,
    pub upper: Term,
    pub tvalue: Term,
    pub tmask: Term,
}

impl Set {
    /// Of four terms.
    pub fn of(terms: &[Term]) -> Set {
        let [lower, upper, tvalue, tmask] = terms[..4] else { unreachable!("a bound has four terms") };
        Set { lower, upper, tvalue, tmask }
    }

    /// Any.
    pub fn any(of: &str) -> Set {
        let part = |part: &str| name(&format!("{of}.{part}"), 64);
        Set { lower: part("lower"), upper: part("upper"), tvalue: part("tvalue"), tmask: part("tmask") }
    }

    /// One number.
    pub fn constant(value: Term) -> Set {
        Set { lower: value, upper: value, tvalue: value, tmask: number(0, 64) }
    }

    /// The bound.
    pub fn bound(self) -> IntBound {
        IntBound::take(&mut [self.lower, self.upper, self.tvalue, self.tmask].into_iter())
    }

    /// Whether it is as bounds are: its ends are members, and no bit above the first in which they differ is unknown.
    /// So each bit that is counted as unknown is 0 in a member and 1 in another (`bounds::reduce`).
    pub fn valid(self) -> Term {
        let differing = apply(Op::Xor, &[self.lower, self.upper]);
        let above = apply(Op::And, &[self.tmask, apply(Op::Not, &[differing])]);
        all(&[
            at_most(self.lower, self.upper),
            same(apply(Op::And, &[self.tvalue, self.tmask]), number(0, 64)),
            self.has_bits(self.lower),
            self.has_bits(self.upper),
            at_most_unsigned(above, differing),
        ])
    }

    /// Whether a number is a member.
    pub fn has(self, value: Term) -> Term {
        all(&[at_most(self.lower, value), at_most(value, self.upper), self.has_bits(value)])
    }

    /// Whether a number has the known bits.
    pub fn has_bits(self, value: Term) -> Term {
        has_bits(self.tvalue, self.tmask, value)
    }
}

/// Whether a number has known bits.
pub fn has_bits(tvalue: Term, tmask: Term, value: Term) -> Term {
    let wrong = apply(Op::And, &[apply(Op::Xor, &[value, tvalue]), apply(Op::Not, &[tmask])]);
    same(wrong, number(0, 64))
}
