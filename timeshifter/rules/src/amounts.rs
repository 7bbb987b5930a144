//! Whether what two rules ask of their constants can hold at once. Shift amounts are gone through, all of them; of
//! other constants nothing is known, but for numbers that the patterns have.
//!
//! Most pairs of rules that never apply to the same term are told apart by that, without asking Z3.

use crate::rule::{Bool, Int, Rule, Step, Term, VarId};
use flowgraph::ir::Opcode;
use smallvec::SmallVec;

/// A constant is gone through if no more numbers are left for it.
const AMOUNTS: i128 = 64;
/// As many choices are looked at: two shift amounts.
const MOST: i128 = AMOUNTS * AMOUNTS;
/// How often what is asked for is gone through to see which numbers are left.
const ROUNDS: usize = 4;

/// Whether two rules never apply at once, whatever else is known. The variables of the second are numbered behind those
/// of the first; `is` has by variable what it is in the term that both match: another variable or itself, a number, an
/// op.
pub(crate) fn contradict(one: &Rule, other: &Rule, is: &[Term]) -> bool {
    let both = [(one, 0), (other, one.vars.len())];
    let mut left = vec![(i64::MIN, i64::MAX); is.len()];
    for _ in 0..ROUNDS {
        for (rule, behind) in both {
            for step in &rule.steps {
                if let Step::Check(holds, _) = step {
                    narrow(holds, behind, is, &mut left);
                }
            }
        }
    }
    if left.iter().any(|(lower, upper)| lower > upper) {
        return true;
    }
    let mut chosen: Vec<VarId> = Vec::new();
    let mut choices = 1;
    for (var, (lower, upper)) in left.iter().enumerate() {
        let numbers = i128::from(*upper) - i128::from(*lower) + 1;
        if numbers <= AMOUNTS && choices * numbers <= MOST {
            chosen.push(var);
            choices *= numbers;
        }
    }
    let mut numbers: Vec<Option<i64>> = is.iter().map(number).collect();
    !some_choice(&chosen, &left, &mut numbers, &mut |numbers| {
        both.iter().all(|(rule, behind)| may_apply(rule, *behind, is, numbers))
    })
}

/// The number that a term is.
fn number(term: &Term) -> Option<i64> {
    match term {
        Term::Int(literal) => Some(literal.value::<64>()),
        _ => None,
    }
}

/// Takes from what is left for variables the numbers with which something doesn't hold.
fn narrow(holds: &Bool, behind: usize, is: &[Term], left: &mut [(i64, i64)]) {
    let (op, [a, b]) = match holds {
        Bool::And(parts) => return parts.iter().for_each(|part| narrow(part, behind, is, left)),
        Bool::Compare(op, both) => (*op, &**both),
        _ => return,
    };
    let (less, more, apart) = match op {
        Opcode::IntLt => (a, b, 1),
        Opcode::IntLe => (a, b, 0),
        Opcode::IntGt => (b, a, 1),
        Opcode::IntGe => (b, a, 0),
        _ => return,
    };
    let variable = |int: &Int| match int {
        Int::Var(var) => match &is[var + behind] {
            Term::Var(var) => Some(*var),
            _ => None,
        },
        _ => None,
    };
    let ends = |int: &Int, left: &[(i64, i64)]| match int {
        Int::Literal(literal) => Some((literal.value::<64>(), literal.value::<64>())),
        Int::Var(var) => match &is[var + behind] {
            Term::Var(var) => Some(left[*var]),
            term => number(term).map(|number| (number, number)),
        },
        _ => None,
    };
    let (Some((lower, _)), Some((_, upper))) = (ends(less, left), ends(more, left)) else { return };
    if let Some(var) = variable(less) {
        left[var].1 = left[var].1.min(upper.saturating_sub(apart));
    }
    if let Some(var) = variable(more) {
        left[var].0 = left[var].0.max(lower.saturating_add(apart));
    }
}

/// Whether there are numbers for the variables chosen, of those left, of which `may` is true.
fn some_choice(
    chosen: &[VarId],
    left: &[(i64, i64)],
    numbers: &mut Vec<Option<i64>>,
    may: &mut dyn FnMut(&[Option<i64>]) -> bool,
) -> bool {
    let Some((var, others)) = chosen.split_first() else { return may(numbers) };
    (left[*var].0..=left[*var].1).any(|number| {
        numbers[*var] = Some(number);
        some_choice(others, left, numbers, may)
    })
}

/// Whether a rule may apply where some constants are these numbers.
fn may_apply(rule: &Rule, behind: usize, is: &[Term], numbers: &[Option<i64>]) -> bool {
    let of = |var: VarId| match &is[var + behind] {
        Term::Var(var) => numbers[*var],
        term => number(term),
    };
    let mut values: SmallVec<[Option<i64>; 8]> = (0..rule.vars.len()).map(of).collect();
    rule.steps.iter().all(|step| match step {
        Step::Check(holds, _) => truth(holds, &values) != Some(false),
        Step::Int(var, value) => {
            values[*var] = int(value, &values);
            true
        }
        Step::Bound(..) | Step::Bool(..) => true,
    })
}

/// An integer, if all that it is made of is known.
fn int(value: &Int, values: &[Option<i64>]) -> Option<i64> {
    match value {
        Int::Literal(literal) => Some(literal.value::<64>()),
        Int::Var(var) => values[*var],
        Int::Op(op, args) => {
            let args: SmallVec<[i64; 2]> = args.iter().map(|arg| int(arg, values)).collect::<Option<_>>()?;
            Some(bounds::compute::<64>(*op, &args)?[0])
        }
        Int::Min(both) => Some(int(&both[0], values)?.min(int(&both[1], values)?)),
        Int::Max(both) => Some(int(&both[0], values)?.max(int(&both[1], values)?)),
        Int::HighestBit(of) => Some(63 - i64::from(int(of, values)?.leading_zeros())),
        Int::Attribute(..) | Int::ConstantOf(_) => None,
    }
}

/// Whether something holds, if that is known.
fn truth(holds: &Bool, values: &[Option<i64>]) -> Option<bool> {
    match holds {
        Bool::Not(of) => truth(of, values).map(|holds| !holds),
        Bool::And(parts) => all(parts, values, false),
        Bool::Or(parts) => all(parts, values, true),
        Bool::Compare(op, both) => {
            let both = [int(&both[0], values)?, int(&both[1], values)?];
            Some(bounds::compute::<64>(*op, &both)?[0] != 0)
        }
        Bool::Var(_) | Bool::Predicate(..) | Bool::Known(..) | Bool::CannotOverflow(..) => None,
    }
}

/// `decides` if one of the parts is that, the opposite if none is, nothing if that isn't known.
fn all(parts: &[Bool], values: &[Option<i64>], decides: bool) -> Option<bool> {
    let mut known = Some(!decides);
    for part in parts {
        match truth(part, values) {
            Some(holds) if holds == decides => return Some(decides),
            Some(_) => {}
            None => known = None,
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::contradict;
    use crate::read;
    use crate::rule::Term;

    /// Whether two rules with as many variables each contradict each other where these are the same.
    fn told(text: &str) -> bool {
        let rules = read(text).expect("two rules");
        let [one, other] = &rules[..] else { panic!("two rules") };
        let mut is: Vec<Term> = (0..one.vars.len() + other.vars.len()).map(Term::Var).collect();
        for var in 0..one.matched {
            is[one.vars.len() + var] = Term::Var(var);
        }
        contradict(one, other, &is)
    }

    #[test]
    fn amounts_that_exclude_each_other_are_told_apart() {
        assert!(told(
            "one: int_rshift(x, C)\n    check C >=u LONG_BIT\n    => x\ntwo: int_rshift(x, C)\n    check 0 <= C < LONG_BIT\n    => x\n"
        ));
        assert!(told(
            "one: int_rshift(int_lshift(x, C1), C2)\n    check 0 <= C1 < C2 < LONG_BIT\n    => x\ntwo: int_rshift(int_lshift(x, C1), C2)\n    check 0 <= C2 < C1 < LONG_BIT\n    => x\n"
        ));
        assert!(told(
            "one: int_rshift(x, C1)\n    check 0 <= C1 < 8\n    => x\ntwo: int_rshift(x, C1)\n    C = C1 + 3\n    check C > 10 and x.known_nonnegative()\n    => x\n"
        ));
    }

    #[test]
    fn what_may_hold_is_left() {
        assert!(!told(
            "one: int_rshift(x, C)\n    check C >= 5\n    => x\ntwo: int_rshift(x, C)\n    check 0 <= C < 6\n    => x\n"
        ));
        // The one is about what is known of an operand, and the other about any constant.
        assert!(!told(
            "one: int_add(x, C)\n    check x.known_nonnegative()\n    => x\ntwo: int_add(x, C)\n    check C * C == 2\n    => x\n"
        ));
        assert!(!told(
            "one: int_rshift(x, C)\n    check 0 <= C < LONG_BIT and (C == 3 or x.known_nonnegative())\n    => x\ntwo: int_rshift(x, C)\n    check C == 4\n    => x\n"
        ));
    }
}
