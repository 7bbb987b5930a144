//! The cheapest term that gives what a sequence gives: computed on some hundred inputs, and only then proven.

use super::{Condition, NAMES, Sequence};
use crate::matching::{Interpreted, Subject};
use crate::order::{Ends, ends, is_cheaper};
use crate::prove::{Solver, Verdict, prove};
use crate::rule::{Literal, Rule, Term};
use crate::sample::Random;
use crate::terms::Terms;
use bounds::IntBound;
use flowgraph::ir::{Opcode, Operand};
use std::collections::HashSet;

/// How many inputs candidates are tried on before they are proven.
const INPUTS: usize = 400;
/// With a condition: how many of these must satisfy it.
const ENOUGH: usize = 30;
/// How many candidates of one sequence are proven, at most.
const PROOFS: usize = 4;
/// How many numbers besides the sequence's own are combined from these.
const NUMBERS: usize = 24;
/// How many different terms of one op are operands of a second.
const INNER: usize = 3000;

/// Ops that candidates are made of.
const UNARY: [Opcode; 4] = [Opcode::IntNeg, Opcode::IntInvert, Opcode::IntIsTrue, Opcode::IntIsZero];
const BINARY: [Opcode; 18] = [
    Opcode::IntAdd,
    Opcode::IntSub,
    Opcode::IntAnd,
    Opcode::IntOr,
    Opcode::IntXor,
    Opcode::IntLshift,
    Opcode::UintRshift,
    Opcode::IntRshift,
    Opcode::IntEq,
    Opcode::IntNe,
    Opcode::IntLt,
    Opcode::IntLe,
    Opcode::IntGt,
    Opcode::IntGe,
    Opcode::UintLt,
    Opcode::UintLe,
    Opcode::UintGt,
    Opcode::UintGe,
];

/// A rule that makes a sequence cheaper.
#[derive(Clone, Debug)]
pub struct Cheaper {
    /// The rule, without its name: `pattern`, checks and target, a line each.
    pub text: String,
    rule: Rule,
    /// The names of the pattern's ops.
    pub ops: Vec<&'static str>,
    /// The rule with `C` for each number: what rules of one kind have in common.
    pub kind: String,
    /// How often it would fire.
    pub count: usize,
    /// Its proof.
    pub verdict: Verdict,
}

/// Looks for what is cheaper.
#[derive(Debug)]
pub struct Finder<'s> {
    solver: &'s Solver,
    known: Interpreted,
}

/// A term and what it gives, for each input.
#[derive(Clone, Debug)]
struct Computed {
    term: Term,
    gives: Vec<i64>,
}

impl<'s> Finder<'s> {
    /// One that passes over what these rules know already.
    pub fn new(solver: &'s Solver, known: Interpreted) -> Finder<'s> {
        Finder { solver, known }
    }

    /// Passes over also what these know: of longer sequences, what is new.
    pub fn learn(&mut self, found: &[Cheaper]) {
        let own = self.known.rules().iter().cloned();
        self.known = Interpreted::new(own.chain(found.iter().map(|one| one.rule.clone())).collect());
    }

    /// Rules that make a sequence cheaper: one without conditions; or if there is none, one for each condition under
    /// which it would fire so often; or for two that are about a variable each.
    pub fn cheaper(&self, sequence: &Sequence, least: usize) -> Vec<Cheaper> {
        let inputs = inputs(sequence);
        if let Some(found) = self.under(sequence, &inputs, &[]) {
            return vec![found];
        }
        let conditions = Condition::all(sequence.vars);
        let often = |of: &[usize]| sequence.times(of.iter().fold(0, |bits, at| bits | 1 << at)) >= least.max(1);
        let found = |of: &[usize]| {
            let of: Vec<(usize, Condition)> = of.iter().map(|at| (*at, conditions[*at])).collect();
            self.under(sequence, &inputs, &of)
        };
        let single: Vec<Cheaper> =
            (0..conditions.len()).filter(|at| often(&[*at])).filter_map(|at| found(&[at])).collect();
        if !single.is_empty() {
            return single;
        }
        let about_one = |at: usize| match conditions[at] {
            Condition::IsBool(var) | Condition::Nonnegative(var) => Some(var),
            _ => None,
        };
        let pairs = (0..conditions.len()).flat_map(|at| (0..at).map(move |other| [other, at]));
        let apart = |[one, other]: &[usize; 2]| match (about_one(*one), about_one(*other)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        pairs.filter(apart).filter(|of| often(of)).filter_map(|of| found(&of)).collect()
    }

    fn under(&self, sequence: &Sequence, inputs: &[Vec<i64>], conditions: &[(usize, Condition)]) -> Option<Cheaper> {
        let only: Vec<Condition> = conditions.iter().map(|(_, condition)| *condition).collect();
        if self.is_known(sequence, &only) {
            return None;
        }
        let satisfies = |input: &&Vec<i64>| {
            let known: Vec<IntBound> = input.iter().map(|value| IntBound::constant(*value)).collect();
            only.iter().all(|condition| condition.holds(&known))
        };
        let inputs: Vec<&Vec<i64>> = inputs.iter().filter(satisfies).collect();
        if inputs.len() < ENOUGH {
            return None;
        }
        let wanted: Vec<i64> = inputs.iter().map(|input| value(&sequence.pattern, input)).collect::<Option<_>>()?;
        let columns: Vec<Vec<i64>> =
            (0..sequence.vars).map(|var| inputs.iter().map(|input| input[var]).collect()).collect();
        let smaller = |target: &Term| {
            rule(sequence, &only, target).filter(|rule| is_cheaper(rule) && ends(rule) == Ends::Smaller)
        };
        for (target, rule) in candidates(&sequence.pattern, columns, &wanted)
            .into_iter()
            .filter_map(|target| smaller(&target).map(|rule| (target, rule)))
            .take(PROOFS)
        {
            let verdict = prove(&rule, self.solver);
            if matches!(verdict, Verdict::Proven | Verdict::Exhaustive(_)) {
                let (pattern, without_numbers) = (with_constants(&sequence.pattern), with_constants(&target));
                return Some(Cheaper {
                    text: text(sequence, &only, &target),
                    rule,
                    ops: ops(&sequence.pattern),
                    kind: format!("{pattern:?} {only:?} {without_numbers:?}"),
                    count: sequence.times(conditions.iter().fold(0, |bits, (at, _)| bits | 1 << at)),
                    verdict,
                });
            }
        }
        None
    }

    /// Whether a rule makes something else of a sequence already.
    fn is_known(&self, sequence: &Sequence, conditions: &[Condition]) -> bool {
        let mut terms = Terms::default();
        let operands: Vec<Operand> = (0..sequence.vars)
            .map(|var| {
                terms.unknown(conditions.iter().fold(IntBound::unbounded(), |bound, condition| match condition {
                    Condition::IsBool(own) if *own == var => IntBound::boolean(),
                    Condition::Nonnegative(own) if *own == var => IntBound::nonnegative(),
                    _ => bound,
                }))
            })
            .collect();
        let whole = build(&mut terms, &sequence.pattern, &operands);
        let Some(normal) = terms.normal(whole, &self.known) else { return true };
        // Without rules, ops that commute get the same order; what bounds decide is decided without rules.
        let plain = terms.normal(whole, &Interpreted::new(Vec::new()));
        Some(normal) != plain || ops_of(&terms, normal) < sequence.pattern.ops()
    }
}

fn ops_of(terms: &Terms, operand: Operand) -> usize {
    Subject::definition(terms, operand)
        .map_or(0, |(_, args)| 1 + args.iter().map(|arg| ops_of(terms, *arg)).sum::<usize>())
}

fn build(terms: &mut Terms, term: &Term, operands: &[Operand]) -> Operand {
    match term {
        Term::Op(op, args) => {
            let args: Vec<Operand> = args.iter().map(|arg| build(terms, arg, operands)).collect();
            terms.op(*op, &args)
        }
        Term::Var(var) => operands[*var],
        Term::Int(literal) => Operand::int(literal.value::<64>()),
        Term::Float(_) => unreachable!("sequences are of integers"),
    }
}

/// What a term gives.
fn value(term: &Term, input: &[i64]) -> Option<i64> {
    match term {
        Term::Var(var) => Some(input[*var]),
        Term::Int(literal) => Some(literal.value::<64>()),
        Term::Float(_) => None,
        Term::Op(op, args) => {
            let args =
                args.iter().map(|arg| value(arg, input).map(|value| value as u64)).collect::<Option<Vec<_>>>()?;
            op.compute(&args).map(|results| results[0] as i64)
        }
    }
}

fn each(term: &Term, f: &mut impl FnMut(i64)) {
    term.each(&mut |term| {
        if let Term::Int(literal) = term {
            f(literal.value::<64>());
        }
    });
}

/// Inputs for a sequence: corners, truth values, small numbers, any, and such as lie about the numbers in it.
fn inputs(sequence: &Sequence) -> Vec<Vec<i64>> {
    let mut random = Random::new(7);
    let mut corners = vec![0, 1, -1, 2, i64::MIN, i64::MAX];
    each(&sequence.pattern, &mut |number| {
        corners.extend([number, number.wrapping_add(1), number.wrapping_sub(1), number.wrapping_neg()]);
    });
    let mut input = |at: usize| -> Vec<i64> {
        (0..sequence.vars)
            .map(|_| match at % 5 {
                0 => (random.word() & 1) as i64,
                1 => (random.word() >> 1 >> random.below(50)) as i64,
                _ => random.int::<64>(&corners),
            })
            .collect()
    };
    (0..INPUTS).map(&mut input).collect()
}

/// Terms that give what is wanted for all inputs, the lightest first: operands and numbers, one op on these, two.
fn candidates(pattern: &Term, columns: Vec<Vec<i64>>, wanted: &[i64]) -> Vec<Term> {
    let same = wanted.iter().all(|value| *value == wanted[0]);
    if same {
        return vec![Term::Int(Literal::Number(wanted[0]))];
    }
    let mut leaves: Vec<Computed> =
        columns.into_iter().enumerate().map(|(var, gives)| Computed { term: Term::Var(var), gives }).collect();
    if let Some(leaf) = leaves.iter().find(|leaf| leaf.gives == wanted) {
        return vec![leaf.term.clone()];
    }
    let vars = leaves.len();
    leaves.extend(
        numbers(pattern)
            .into_iter()
            .map(|number| Computed { term: Term::Int(Literal::Number(number)), gives: vec![number; wanted.len()] }),
    );
    let mut found = Vec::new();
    let mut inner: Vec<Computed> = Vec::new();
    let mut seen: HashSet<Vec<i64>> = HashSet::new();
    let mut look = |term: &dyn Fn() -> Term, gives: &mut dyn Iterator<Item = i64>, found: &mut Vec<Term>| {
        let Some(first) = gives.next() else { return };
        let is_wanted = first == wanted[0];
        if !is_wanted && inner.len() >= INNER {
            return;
        }
        let all: Vec<i64> = [first].into_iter().chain(gives).collect();
        if all == wanted {
            found.push(term());
        } else if inner.len() < INNER && seen.insert(all.clone()) {
            inner.push(Computed { term: term(), gives: all });
        }
    };
    for leaf in &leaves[..vars] {
        for op in UNARY {
            let mut gives = leaf.gives.iter().map(|value| apply(op, &[*value]));
            look(&|| Term::Op(op, vec![leaf.term.clone()]), &mut gives, &mut found);
        }
        for (op, number, number_first) in solved(&leaf.gives, wanted) {
            found.push(with_number(op, &leaf.term, number, number_first));
        }
    }
    for (at, a) in leaves.iter().enumerate() {
        for (other, b) in leaves.iter().enumerate() {
            if at >= vars && other >= vars {
                continue;
            }
            for op in BINARY.into_iter().filter(|op| is_normal(*op, &b.term)) {
                let mut gives = a.gives.iter().zip(&b.gives).map(|(a, b)| apply(op, &[*a, *b]));
                look(&|| Term::Op(op, vec![a.term.clone(), b.term.clone()]), &mut gives, &mut found);
            }
        }
    }
    // Two ops, where that may be less.
    let is_long = pattern.ops() > 2 || ops(pattern).iter().any(|op| op.contains("div") || op.contains("mod"));
    if found.is_empty() && is_long {
        for a in &inner {
            for op in UNARY {
                if a.gives.iter().zip(wanted).all(|(value, wanted)| apply(op, &[*value]) == *wanted) {
                    found.push(Term::Op(op, vec![a.term.clone()]));
                }
            }
            for (op, number, number_first) in solved(&a.gives, wanted) {
                found.push(with_number(op, &a.term, number, number_first));
            }
            for b in &leaves[..vars] {
                for op in BINARY {
                    for (one, other) in [(a, b), (b, a)] {
                        let gives = one.gives.iter().zip(&other.gives).map(|(one, other)| apply(op, &[*one, *other]));
                        if gives.zip(wanted).all(|(gives, wanted)| gives == *wanted) {
                            found.push(Term::Op(op, vec![one.term.clone(), other.term.clone()]));
                        }
                    }
                }
            }
        }
    }
    found
}

fn apply(op: Opcode, args: &[i64]) -> i64 {
    let words: smallvec::SmallVec<[u64; 2]> = args.iter().map(|arg| *arg as u64).collect();
    op.compute(&words).map_or(0, |results| results[0] as i64)
}

/// What is added or subtracted is positive.
fn is_normal(op: Opcode, second: &Term) -> bool {
    let is_negative = matches!(second, Term::Int(Literal::Number(number)) if *number < 0);
    !(is_negative && matches!(op, Opcode::IntAdd | Opcode::IntSub))
}

fn with_number(op: Opcode, term: &Term, number: i64, first: bool) -> Term {
    let number = Term::Int(Literal::Number(number));
    Term::Op(op, if first { vec![number, term.clone()] } else { vec![term.clone(), number] })
}

/// Ops with a number that make what is wanted of what there is: the number follows from one input, or from all bits.
/// Whether it stands first.
fn solved(from: &[i64], wanted: &[i64]) -> Vec<(Opcode, i64, bool)> {
    let (v, w) = (from[0], wanted[0]);
    let difference = w.wrapping_sub(v);
    let sum = match difference {
        i64::MIN..0 => (Opcode::IntSub, difference.wrapping_neg(), false),
        _ => (Opcode::IntAdd, difference, false),
    };
    let odd = from.iter().zip(wanted).find(|(value, _)| *value & 1 != 0);
    let mut all = vec![
        sum,
        (Opcode::IntSub, w.wrapping_add(v), true),
        (Opcode::IntXor, w ^ v, false),
        (Opcode::IntAnd, wanted.iter().fold(0, |bits, wanted| bits | wanted), false),
        (Opcode::IntOr, wanted.iter().fold(-1, |bits, wanted| bits & wanted), false),
    ];
    all.extend(odd.map(|(value, wanted)| (Opcode::IntMul, wanted.wrapping_mul(inverse(*value)), false)));
    let shifts = [Opcode::IntLshift, Opcode::UintRshift, Opcode::IntRshift];
    all.extend((1..64).flat_map(|by| shifts.map(|op| (op, by, false))));
    all.retain(|(op, number, first)| {
        let makes = |value: i64| apply(*op, &if *first { [*number, value] } else { [value, *number] });
        from.iter().zip(wanted).all(|(value, wanted)| makes(*value) == *wanted)
    });
    all
}

/// The number whose product with an odd one is 1: each step of Newton's doubles the bits that are right.
fn inverse(odd: i64) -> i64 {
    (0..6).fold(odd, |found, _| found.wrapping_mul(2i64.wrapping_sub(odd.wrapping_mul(found))))
}

/// The numbers of a sequence, what two of them make, and a few more.
fn numbers(pattern: &Term) -> Vec<i64> {
    let mut own = Vec::new();
    each(pattern, &mut |number| own.push(number));
    own.sort_unstable();
    own.dedup();
    let mut numbers = vec![0, 1, -1];
    numbers.extend(own.iter().flat_map(|a| [*a, a.wrapping_neg(), !a, a.wrapping_add(1), a.wrapping_sub(1)]));
    for a in &own {
        for b in own.iter().filter(|b| *b != a) {
            numbers.extend([a.wrapping_add(*b), a.wrapping_sub(*b), a & b, a | b, a.wrapping_mul(*b), a >> (b & 63)]);
        }
    }
    let mut seen = HashSet::new();
    numbers.retain(|number| seen.insert(*number));
    numbers.truncate(NUMBERS);
    numbers
}

fn ops(term: &Term) -> Vec<&'static str> {
    let mut ops = Vec::new();
    term.each(&mut |term| {
        if let Term::Op(op, _) = term {
            ops.push(op.name());
        }
    });
    ops
}

/// A term in which all numbers are the same.
fn with_constants(term: &Term) -> Term {
    match term {
        Term::Op(op, args) => Term::Op(*op, args.iter().map(with_constants).collect()),
        Term::Int(_) => Term::Int(Literal::Number(0)),
        other => other.clone(),
    }
}

fn shown(term: &Term) -> String {
    match term {
        Term::Op(op, args) => format!("{}({})", op.name(), args.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Term::Var(var) => NAMES[*var].to_owned(),
        Term::Int(literal) => literal.value::<64>().to_string(),
        Term::Float(number) => format!("{number:?}"),
    }
}

fn text(sequence: &Sequence, conditions: &[Condition], target: &Term) -> String {
    let checks: String = conditions.iter().map(|condition| format!("    check {}\n", condition.text())).collect();
    format!("{}\n{checks}    => {}\n", shown(&sequence.pattern), shown(target))
}

fn rule(sequence: &Sequence, conditions: &[Condition], target: &Term) -> Option<Rule> {
    crate::read(&format!("found: {}", text(sequence, conditions, target))).ok()?.pop()
}
