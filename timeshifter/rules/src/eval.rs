//! What a rule's expressions and terms come to, at any width.
//!
//! This is the meaning of the language: the compiler's output and the prover's formulas are tested against it.

use crate::methods::{Attribute, Overflow, Predicate, Transfer};
use crate::rule::{Bool, BoundExpr, Int, Rule, Step, Term};
use bounds::Bound;
use flowgraph::ir::Opcode;
use smallvec::SmallVec;

/// What the variables of a rule stand for.
#[derive(Clone, Debug)]
pub struct Bindings<const W: u32> {
    /// Of constants and computed integers, their values. Steps don't look at those of others; terms do. Floats are
    /// their bits.
    pub values: Vec<i64>,
    /// Of operands and computed bounds, what is known of them.
    pub bounds: Vec<Bound<W>>,
    /// Of computed truth values.
    pub truths: Vec<bool>,
}

impl<const W: u32> Bindings<W> {
    /// Nothing bound yet.
    pub fn new(rule: &Rule) -> Bindings<W> {
        let vars = rule.vars.len();
        Bindings { values: vec![0; vars], bounds: vec![Bound::unbounded(); vars], truths: vec![false; vars] }
    }

    /// Goes through a rule's steps. Gives whether it applies.
    pub fn applies(&mut self, rule: &Rule) -> bool {
        rule.steps.iter().all(|step| self.step(step) == Some(true))
    }

    /// Goes through one step: whether it holds. `None` where the only member of a bound is asked for that has more.
    pub fn step(&mut self, step: &Step) -> Option<bool> {
        match step {
            Step::Check(holds, _) => return self.truth(holds),
            Step::Int(var, int) => self.values[*var] = self.int(int)?,
            Step::Bound(var, bound) => self.bounds[*var] = self.bound(bound)?,
            Step::Bool(var, holds) => self.truths[*var] = self.truth(holds)?,
        }
        Some(true)
    }

    /// An integer.
    pub fn int(&self, int: &Int) -> Option<i64> {
        Some(match int {
            Int::Literal(literal) => literal.value::<W>(),
            Int::Var(var) => self.values[*var],
            Int::Op(op, args) => {
                let args: SmallVec<[i64; 2]> = args.iter().map(|arg| self.int(arg)).collect::<Option<_>>()?;
                bounds::compute::<W>(*op, &args)?[0]
            }
            Int::Min(both) => self.int(&both[0])?.min(self.int(&both[1])?),
            Int::Max(both) => self.int(&both[0])?.max(self.int(&both[1])?),
            Int::HighestBit(of) => {
                let bits = self.int(of)? as u64 & Bound::<W>::MASK;
                63 - i64::from(bits.leading_zeros())
            }
            Int::Attribute(attribute, of) => {
                let bound = self.bound(of)?;
                match attribute {
                    Attribute::Lower => bound.lower(),
                    Attribute::Upper => bound.upper(),
                    Attribute::Ones => bound.ones() as i64,
                    Attribute::Zeros => bound.zeros() as i64,
                    Attribute::Tvalue => bound.tvalue() as i64,
                    Attribute::Tmask => bound.tmask() as i64,
                }
            }
            Int::ConstantOf(of) => self.bound(of)?.get_constant_int()?,
        })
    }

    /// Whether something holds.
    pub fn truth(&self, holds: &Bool) -> Option<bool> {
        Some(match holds {
            Bool::Var(var) => self.truths[*var],
            Bool::Not(of) => !self.truth(of)?,
            Bool::And(parts) => {
                for part in parts {
                    if !self.truth(part)? {
                        return Some(false);
                    }
                }
                true
            }
            Bool::Or(parts) => {
                for part in parts {
                    if self.truth(part)? {
                        return Some(true);
                    }
                }
                false
            }
            Bool::Compare(op, both) => {
                let both = [self.int(&both[0])?, self.int(&both[1])?];
                bounds::compute::<W>(*op, &both)?[0] != 0
            }
            Bool::Predicate(predicate, of) => {
                let bound = self.bound(of)?;
                match predicate {
                    Predicate::Nonnegative => bound.known_nonnegative(),
                    Predicate::Negative => bound.known_negative(),
                    Predicate::Boolean => bound.is_bool(),
                    Predicate::Constant => bound.is_constant(),
                }
            }
            Bool::Known(op, both) => known(*op, self.bound(&both[0])?, self.bound(&both[1])?),
            Bool::CannotOverflow(overflow, args) => cannot_overflow(*overflow, &self.bounds(args)?),
        })
    }

    /// A bound.
    pub fn bound(&self, bound: &BoundExpr) -> Option<Bound<W>> {
        Some(match bound {
            BoundExpr::Var(var) => self.bounds[*var],
            BoundExpr::Constant(int) => Bound::constant(self.int(int)?),
            BoundExpr::Transfer(transfer, args) => transfer_of(*transfer, &self.bounds(args)?),
        })
    }

    fn bounds(&self, all: &[BoundExpr]) -> Option<SmallVec<[Bound<W>; 2]>> {
        all.iter().map(|bound| self.bound(bound)).collect()
    }

    /// All results of a term whose variables have values: what stands for an op with two results, where it has one,
    /// gives 0 for the second.
    pub fn results(&self, term: &Term) -> Option<[i64; 2]> {
        let Term::Op(op, args) = term else { return Some([self.value(term)?, 0]) };
        let args: SmallVec<[i64; 3]> = args.iter().map(|arg| self.value(arg)).collect::<Option<_>>()?;
        let results: SmallVec<[i64; 2]> = match W {
            64 => op
                .compute(&args.iter().map(|arg| *arg as u64).collect::<SmallVec<[u64; 3]>>())?
                .iter()
                .map(|word| *word as i64)
                .collect(),
            _ => bounds::compute::<W>(*op, &args)?,
        };
        Some([results[0], results.get(1).copied().unwrap_or(0)])
    }

    /// What a term gives.
    pub fn value(&self, term: &Term) -> Option<i64> {
        match term {
            Term::Op(..) => Some(self.results(term)?[0]),
            Term::Var(var) => Some(self.values[*var]),
            Term::Int(literal) => Some(literal.value::<W>()),
            Term::Float(number) => Some(number.to_bits() as i64),
        }
    }
}

/// What an op makes of bounds.
pub(crate) fn transfer_of<const W: u32>(transfer: Transfer, args: &[Bound<W>]) -> Bound<W> {
    let (a, b) = (args[0], args.get(1).copied().unwrap_or(Bound::unbounded()));
    match transfer {
        Transfer::Neg => a.neg_bound(),
        Transfer::Invert => a.invert_bound(),
        Transfer::And => a.and_bound(b),
        Transfer::Or => a.or_bound(b),
        Transfer::Xor => a.xor_bound(b),
        Transfer::Add => a.add_bound(b),
        Transfer::Sub => a.sub_bound(b),
        Transfer::Mul => a.mul_bound(b),
        Transfer::Lshift => a.lshift_bound(b),
        Transfer::Rshift => a.rshift_bound(b),
        Transfer::Urshift => a.urshift_bound(b),
    }
}

/// Whether an op on members of bounds never overflows.
pub(crate) fn cannot_overflow<const W: u32>(overflow: Overflow, args: &[Bound<W>]) -> bool {
    let (a, b) = (args[0], args.get(1).copied().unwrap_or(Bound::unbounded()));
    match overflow {
        Overflow::Neg => a.neg_bound_cannot_overflow(),
        Overflow::Add => a.add_bound_cannot_overflow(b),
        Overflow::Sub => a.sub_bound_cannot_overflow(b),
        Overflow::Mul => a.mul_bound_cannot_overflow(b),
        Overflow::Lshift => a.lshift_bound_cannot_overflow(b),
    }
}

/// Whether a comparison of members of two bounds always holds.
pub(crate) fn known<const W: u32>(op: Opcode, a: Bound<W>, b: Bound<W>) -> bool {
    match op {
        Opcode::IntEq => a.known_eq(b),
        Opcode::IntNe => a.known_ne(b),
        Opcode::IntLt => a.known_lt(b),
        Opcode::IntLe => a.known_le(b),
        Opcode::IntGt => a.known_gt(b),
        Opcode::IntGe => a.known_ge(b),
        Opcode::UintLt => a.known_ult(b),
        Opcode::UintLe => a.known_ule(b),
        Opcode::UintGt => a.known_ugt(b),
        Opcode::UintGe => a.known_uge(b),
        _ => unreachable!("a row of COMPARISONS is of these"),
    }
}
