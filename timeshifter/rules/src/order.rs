//! Whether rewriting ends: each rule must make something smaller, by an order in which nothing gets smaller forever.
//!
//! The order is that of D. Knuth and P. Bendix ("Simple word problems in universal algebras", 1970): a term is smaller
//! if it weighs less; at the same weight, if its op stands lower; and of two with the same op, if its operands are
//! smaller: from left to right, or of those that commute, as a set with repetitions (J. Steinbach, "Extensions and
//! comparison of simplification orderings", 1989). No variable may occur more often than before, since what it stands
//! for may weigh anything.
//!
//! Weights are what an op costs, so the order says too that no rule makes code dearer.

use crate::rule::{Exception, Literal, Rule, Term};
use flowgraph::ir::Opcode;

/// What a variable or constant weighs.
const LEAST: u64 = 1;

/// What an op weighs.
fn weight(op: Opcode) -> u64 {
    use Opcode as O;
    match op {
        O::IntFloordiv | O::IntMod | O::UintFloordiv | O::UintMod => 20,
        O::FloatTruediv | O::FloatMod | O::FloatSqrt | O::SingleTruediv | O::SingleMod | O::SingleSqrt => 20,
        O::IntMulOvf => 6,
        O::IntMul | O::UintMulHigh => 4,
        O::IntAddOvf | O::IntSubOvf => 3,
        O::IntPopcount | O::IntClz | O::IntCtz | O::IntBitreverse | O::IntSelect | O::FloatSelect | O::SingleSelect => {
            2
        }
        O::CastUintToFloat | O::CastUintToSingle => 2,
        _ => 1,
    }
}

/// How high an op stands among those of its weight.
fn precedence(op: Opcode) -> u32 {
    use Opcode as O;
    match op {
        O::IntSub => 5,
        O::IntNeg | O::IntInvert => 4,
        O::IntRshift | O::IntFloordiv | O::IntMod => 3,
        O::UintRshift | O::UintFloordiv | O::UintMod => 2,
        O::IntGt
        | O::IntGe
        | O::UintGt
        | O::UintGe
        | O::IntIsZero
        | O::IntIsTrue
        | O::FloatGt
        | O::FloatGe
        | O::SingleGt
        | O::SingleGe
        | O::SingleToBits => 2,
        _ => 1,
    }
}

/// What a rule's target is, beside its pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Smaller: rewriting ends.
    Smaller,
    /// Not smaller; but a comment says why rewriting ends all the same.
    Believed(String),
    /// Not smaller, and why.
    Not(String),
}

/// Whether a rule makes something smaller.
pub fn ends(rule: &Rule) -> Ends {
    if greater(&rule.pattern, &rule.target) {
        return Ends::Smaller;
    }
    for exception in &rule.exceptions {
        if let Exception::Terminates(reason) = exception {
            return Ends::Believed(reason.clone());
        }
    }
    Ends::Not(why_not(rule))
}

/// Whether what a rule makes costs less, not only as much.
pub fn is_cheaper(rule: &Rule) -> bool {
    weigh(&rule.target) < weigh(&rule.pattern)
}

fn why_not(rule: &Rule) -> String {
    let (before, after) = (rule.pattern.vars(), rule.target.vars());
    let count = |vars: &[usize], var: usize| vars.iter().filter(|other| **other == var).count();
    let more = (0..rule.matched).find(|var| count(&after, *var) > count(&before, *var));
    if let Some(var) = more {
        return format!("`{}` occurs more often than before, and may stand for anything", rule.vars[var].name);
    }
    let (before, after) = (weigh(&rule.pattern), weigh(&rule.target));
    let sides = format!("{} weighs {before}, {} weighs {after}", rule.show(&rule.pattern), rule.show(&rule.target));
    match after > before {
        true => format!("it makes something dearer: {sides}"),
        false => format!("nothing gets smaller ({sides}), so that rules could go around in circles"),
    }
}

fn weigh(term: &Term) -> u64 {
    match term {
        Term::Op(op, args) => weight(*op) + args.iter().map(weigh).sum::<u64>(),
        Term::Var(_) | Term::Int(_) | Term::Float(_) => LEAST,
    }
}

fn greater(one: &Term, other: &Term) -> bool {
    let (own, others) = (one.vars(), other.vars());
    let count = |vars: &[usize], var: usize| vars.iter().filter(|found| **found == var).count();
    // Computed constants are constants: only what is matched can be large.
    let covered = others.iter().all(|var| !own.contains(var) || count(&others, *var) <= count(&own, *var));
    if !covered {
        return false;
    }
    match (weigh(one), weigh(other)) {
        (a, b) if a != b => return a > b,
        _ => {}
    }
    match (one, other) {
        (Term::Op(a, args), Term::Op(b, others)) if a == b => arguments(*a, args, others),
        (Term::Op(a, _), Term::Op(b, _)) => precedence(*a) > precedence(*b),
        (Term::Int(a), Term::Int(b)) => number(*a) > number(*b),
        _ => false,
    }
}

fn number(literal: Literal) -> u64 {
    literal.value::<64>() as u64
}

fn arguments(op: Opcode, args: &[Term], others: &[Term]) -> bool {
    if !op.is_commutative() {
        return args.iter().zip(others).find(|(a, b)| a != b).is_some_and(|(a, b)| greater(a, b));
    }
    let mut left: Vec<&Term> = args.iter().collect();
    let mut right: Vec<&Term> = Vec::new();
    for other in others {
        match left.iter().position(|arg| *arg == other) {
            Some(at) => drop(left.remove(at)),
            None => right.push(other),
        }
    }
    !left.is_empty() && right.iter().all(|other| left.iter().any(|arg| greater(arg, other)))
}
