//! Theorems, and asking Z3 for them.

use crate::contract::{About, Kind, PROMISES, Promise, promise};
use crate::explore::{Contract, begin, begin_with, facts, terms_of};
use crate::set::{IntBound, Set};
use crate::term::{Op, Term, all, apply, both, either, implies, isnt, name, number, truth, written};
use flowgraph::ir::{Opcode, OperandType, Type};
use rules::prove::{Answer, Effort, Solver, formula_of};
use std::rc::Rc;

/// A question: what is given, and what follows from it.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it is about.
    pub what: &'static str,
    /// SMT-LIB text: what is given, and that the claim is wrong.
    pub script: String,
    /// Just what is given: that must be possible.
    pub given: String,
}

/// What is to be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theorem {
    /// What a function promises, by its place among the promises.
    Promise(usize),
    /// That what an op gives lies in the bound that its transfer gives.
    Forward(Opcode),
    /// That refining an op's operands leaves all that can be.
    Backward(Opcode),
}

/// What Z3 says of questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against it.
    Proven,
    /// Something does: this isn't so.
    Refuted(&'static str),
    /// There was no answer in time to whether this is so.
    Unknown(&'static str),
}

/// Asks until one answer isn't what is hoped for.
pub fn prove(questions: &[Question], solver: &Solver) -> Verdict {
    for question in questions {
        match solver.ask(&question.script, false, &[], Effort::ALL) {
            Answer::Unsat => {}
            Answer::Sat(_) => return Verdict::Refuted(question.what),
            Answer::Unknown(_) => return Verdict::Unknown(question.what),
        }
    }
    Verdict::Proven
}

/// All theorems: the promises, then of each op on integers alone the transfer, then its refinement.
pub fn theorems() -> Vec<Theorem> {
    let int = OperandType::Is(Type::Int);
    let is_of_ints = |op: &Opcode| {
        op.is_pure() && !op.results().is_empty() && op.operands().iter().chain(op.results()).all(|own| *own == int)
    };
    let ops: Vec<Opcode> =
        Opcode::ALL.iter().copied().filter(is_of_ints).filter(|op| formula_of(*op, &names(*op)).is_some()).collect();
    let promises = (0..PROMISES.len()).map(Theorem::Promise);
    promises
        .chain(ops.iter().copied().map(Theorem::Forward))
        .chain(ops.iter().copied().map(Theorem::Backward))
        .collect()
}

fn names(op: Opcode) -> Vec<String> {
    (0..op.operands().len()).map(|at| format!("x{at}")).collect()
}

/// Whether the proof is of second operands that are known, all of them. Some that aren't are gone through one by one.
pub fn by_constant(op: Opcode) -> bool {
    matches!(op, Opcode::IntLshift | Opcode::IntRshift | Opcode::UintRshift | Opcode::IntSignext)
}

/// Why an op's transfer, or its refinement, is tested only.
pub fn tested_only(theorem: Theorem) -> Option<&'static str> {
    use Opcode as O;
    let (Theorem::Forward(op) | Theorem::Backward(op)) = theorem else { return None };
    match (op, theorem) {
        (O::IntMul | O::IntMulOvf | O::UintMulHigh, _) => Some("products of 64 bits; known bits go through a loop"),
        (O::IntFloordiv | O::IntMod | O::UintFloordiv | O::UintMod, _) => Some("quotients of 64 bits"),
        (O::IntLshift | O::UintRshift | O::IntPopcount | O::IntClz | O::IntSelect, Theorem::Backward(_)) => {
            Some("Z3 gives no answer in time")
        }
        (op, Theorem::Backward(_)) if op.is_comparison() || matches!(op, O::IntIsTrue | O::IntIsZero) => {
            Some("what it teaches is proven (`refine_…` above), that the right one is asked isn't")
        }
        _ => None,
    }
}

impl Theorem {
    /// What it is about.
    pub fn name(self) -> String {
        match self {
            Theorem::Promise(at) => PROMISES[at].function.to_owned(),
            Theorem::Forward(op) => op.name().to_owned(),
            Theorem::Backward(op) => format!("{} backward", op.name()),
        }
    }

    /// What a test asks: of many cases that are asked for one by one a few, and nothing of what takes longest.
    pub fn brief(self) -> Vec<Question> {
        match self {
            // These two are as the third one, and take long.
            Theorem::Promise(at)
                if matches!(PROMISES[at].function, "bits::Bound::and_bound" | "bits::Bound::xor_bound") =>
            {
                Vec::new()
            }
            Theorem::Promise(at) => match PROMISES[at].each {
                Some(_) => [8, 33, 63]
                    .into_iter()
                    .flat_map(|case| of_promise(&Promise { each: Some((case, case)), ..PROMISES[at] }))
                    .collect(),
                None => self.questions(),
            },
            Theorem::Backward(Opcode::IntSignext) => {
                [1, 4, 8].into_iter().flat_map(|n| of_op(Opcode::IntSignext, true, Some(n))).collect()
            }
            _ => self.questions(),
        }
    }

    /// What it comes to; if all is `unsat`, it is proven.
    pub fn questions(self) -> Vec<Question> {
        match self {
            Theorem::Promise(at) => of_promise(&PROMISES[at]),
            // Less than one byte is taken for one, more than eight for eight.
            Theorem::Forward(Opcode::IntSignext) => {
                (1..=8).flat_map(|n| of_op(Opcode::IntSignext, false, Some(n))).collect()
            }
            Theorem::Backward(Opcode::IntSignext) => {
                (1..=8).flat_map(|n| of_op(Opcode::IntSignext, true, Some(n))).collect()
            }
            Theorem::Forward(op) => of_op(op, false, None),
            Theorem::Backward(op) => of_op(op, true, None),
        }
    }
}

/// From now on these functions are known by what they promise of these numbers.
fn known_by(functions: &[&'static str], about: &About) {
    let contracts: Vec<(&'static str, Contract)> = functions
        .iter()
        .map(|function| {
            let promise = promise(function);
            let about = about.clone();
            let keep: Contract = Rc::new(move |parameters, widths| promise.keep(parameters, widths, &about));
            (*function, keep)
        })
        .collect();
    begin_with(&contracts);
}

fn question(
    what: &'static str,
    given: &[Term],
    claim: Term,
    before: &str,
    defined: &[(Term, String)],
) -> Option<Question> {
    if claim.value() == Some(1) {
        return None;
    }
    let (text, names) = written(&[all(given), isnt(claim)], defined);
    let asserted: String = names.iter().map(|name| format!("(assert {name})\n")).collect();
    let given = format!("{before}{text}(assert {})\n", names[0]);
    Some(Question { what, script: format!("{before}{text}{asserted}"), given })
}

/// Nothing panics, and it is as it says.
pub fn of_promise(promise: &Promise) -> Vec<Question> {
    let mut questions = Vec::new();
    let cases: Vec<Option<u32>> = match promise.each {
        Some((first, last)) => (first..=last).map(Some).collect(),
        None => vec![None],
    };
    for (case, panics) in cases.into_iter().flat_map(|case| [(case, true), (case, false)]) {
        begin(&[]);
        let mut parameters: Vec<Vec<Term>> =
            promise.kinds.iter().enumerate().map(|(at, kind)| kind.any(&format!("p{at}"))).collect();
        if let Some(case) = case {
            *parameters.last_mut().expect("it has parameters") = vec![number(case.into(), 32)];
        }
        let flat = parameters.concat();
        // No bound is empty: where something would panic for want of members, the least ones are some.
        let least = || {
            parameters.iter().zip(promise.kinds).filter(|(_, kind)| **kind != Kind::Word(32)).map(|(terms, _)| terms[0])
        };
        let members: Vec<Term> = match panics {
            true => least().take(promise.members).collect(),
            false => (0..promise.members).map(|at| name(&format!("m{at}"), 64)).collect(),
        };
        known_by(promise.by, &(promise.about)(&flat, &members));
        let (result, panics_if) = (promise.run)(&flat);
        let given = [facts(), vec![promise.is_made(&flat)]].concat();
        match panics {
            true => {
                for case in by_sign(if promise.by_sign { &members } else { &[] }) {
                    questions.extend(question("it never panics", &given, implies(case, isnt(panics_if)), "", &[]));
                }
            }
            false => {
                // That has been asked.
                let given = [given, vec![isnt(panics_if)]].concat();
                let claims = (promise.says)(&flat, &result, &members);
                for claim in conjuncts(claims, promise.by_sign) {
                    let members = if promise.by_sign && mentions(claim, &members) { &members[..] } else { &[] };
                    for case in by_sign(members) {
                        questions.extend(question("it is as it says", &given, implies(case, claim), "", &[]));
                    }
                }
            }
        }
    }
    questions
}

/// Whether a term speaks of one of these names.
fn mentions(term: Term, names: &[Term]) -> bool {
    let (text, _) = written(&[term], &[]);
    let declared = |name: &Term| written(&[*name], &[]).0;
    names.iter().any(|name| text.contains(&declared(name)))
}

/// Each way in which numbers can be negative or not.
fn by_sign(members: &[Term]) -> Vec<Term> {
    let Some((first, rest)) = members.split_first() else { return vec![truth(true)] };
    let is_negative = apply(Op::Slt, &[*first, number(0, 64)]);
    let rest = by_sign(rest);
    [is_negative, isnt(is_negative)].into_iter().flat_map(|own| rest.iter().map(move |case| both(own, *case))).collect()
}

/// What a claim says, one by one; where it is hard, also of what it says under a condition.
fn conjuncts(claim: Term, hard: bool) -> Vec<Term> {
    match claim.parts() {
        Some((Op::Both, parts)) => parts.into_iter().flat_map(|part| conjuncts(part, hard)).collect(),
        Some((Op::Either, parts)) if hard => {
            let (one, others) = (conjuncts(parts[0], hard), conjuncts(parts[1], hard));
            one.iter().flat_map(|one| others.iter().map(|other| either(*one, *other))).collect()
        }
        _ => vec![claim],
    }
}

fn of_op(op: Opcode, backward: bool, second: Option<u128>) -> Vec<Question> {
    let mut questions = Vec::new();
    begin(&[]);
    let names = names(op);
    let results = formula_of(op, &names).unwrap_or_else(|| unreachable!("ops with formulas"));
    let sets: Vec<Set> = names.iter().map(|name| Set::any(&format!("{name}.in"))).collect();
    let members: Vec<Term> = names.iter().map(|of| name(of, 64)).collect();
    let sets: Vec<Set> = match by_constant(op) {
        true => vec![sets[0], Set::constant(second.map_or(members[1], |second| number(second, 64)))],
        false => sets,
    };
    let values: Vec<Term> = (0..results.len()).map(|at| name(&format!("r{at}"), 64)).collect();
    let result = Set::any("r.in");
    let mut before: String = names.iter().map(|name| format!("(declare-const {name} (_ BitVec 64))\n")).collect();
    for (at, text) in results.iter().enumerate() {
        before.push_str(&format!("(define-fun r{at} () (_ BitVec 64) {text})\n"));
    }
    if let Some(second) = second {
        before.push_str(&format!("(assert (= x1 #x{second:016x}))\n"));
    }
    let mut defined: Vec<(Term, String)> = members.iter().copied().zip(names.iter().cloned()).collect();
    defined.extend(values.iter().enumerate().map(|(at, value)| (*value, format!("r{at}"))));
    let all_functions: Vec<&'static str> = PROMISES.iter().map(|promise| promise.function).collect();
    known_by(&all_functions, &about(op, &members, values[0]));
    let bounds = || -> Vec<IntBound> { sets.iter().map(|set| set.bound()).collect() };
    let (terms, panics) = match backward {
        false => terms_of(|| IntBound::transfer(op, &bounds())),
        true => terms_of(|| IntBound::refine(op, &bounds(), result.bound())),
    };
    let mut given = facts();
    given.extend(sets.iter().zip(&members).flat_map(|(set, member)| [set.valid(), set.has(*member)]));
    let mut claims = Vec::new();
    if backward {
        given.push(result.valid());
        claims.push(("there is something left", implies(result.has(values[0]), terms[0])));
        for (at, member) in members.iter().enumerate() {
            let found = Set::of(&terms[2 + 4 * at..]);
            claims.push(("it is as bounds are", implies(terms[0], found.valid())));
            claims.push(("it holds the operand", implies(result.has(values[0]), found.has(*member))));
        }
    } else {
        for (at, value) in values.iter().enumerate() {
            let found = Set::of(&terms[1 + 4 * at..]);
            claims.push(("it is as bounds are", found.valid()));
            claims.push(("it holds the result", found.has(*value)));
        }
    }
    questions.extend(question("it never panics", &given, isnt(panics), &before, &defined));
    given.push(isnt(panics));
    for (what, claim) in claims.into_iter().flat_map(|(what, claim)| {
        conjuncts(claim, op == Opcode::IntForceGeZero).into_iter().map(move |one| (what, one))
    }) {
        questions.extend(question(what, &given, claim, &before, &defined));
    }
    questions
}

/// The numbers, and the pairs, that an op's proof speaks of besides.
fn about(op: Opcode, x: &[Term], r: Term) -> About {
    let not = |a: Term| apply(Op::Not, &[a]);
    let (a, b) = (x[0], x.get(1).copied().unwrap_or(x[0]));
    let mut numbers = [x, &[r]].concat();
    let zero = number(0, 64);
    let mut pairs = vec![[a, b]];
    match op {
        Opcode::IntAdd | Opcode::IntAddOvf => pairs.extend([[r, b], [r, a]]),
        Opcode::IntSub | Opcode::IntSubOvf => pairs.extend([[r, b], [a, r]]),
        Opcode::IntNeg => pairs = vec![[zero, a], [zero, r]],
        Opcode::IntAnd => {
            pairs.extend([
                [a, not(b)],
                [b, not(a)],
                [r, apply(Op::And, &[a, not(b)])],
                [r, apply(Op::And, &[b, not(a)])],
            ]);
        }
        Opcode::IntOr => {
            numbers.extend([not(a), not(b)]);
            pairs.extend([
                [not(a), b],
                [not(b), a],
                [not(r), apply(Op::And, &[not(a), b])],
                [not(r), apply(Op::And, &[not(b), a])],
            ]);
        }
        Opcode::IntXor => pairs.extend([[r, a], [r, b]]),
        Opcode::IntForceGeZero => numbers.push(zero),
        Opcode::IntIsTrue | Opcode::IntIsZero => pairs.push([a, zero]),
        _ if op.is_comparison() => pairs.push([b, a]),
        _ => {}
    }
    About { numbers, pairs, joined: None }
}
