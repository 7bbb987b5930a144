//! The proofs, and what they stand on: the source that is proven computes what the crate computes, Z3 is told what is
//! computed, and what is wrong is refuted.
#![allow(missing_docs)]

use bounds::IntBound as Real;
use flowgraph::ir::Opcode;
use rules::prove::{Answer, Effort, Solver};
use soundness::contract::{PROMISES, Promise, promise};
use soundness::explore::{Merge, begin, terms_of};
use soundness::set::{IntBound, Set};
use soundness::source::tristate::Tristate;
use soundness::term::{Term, isnt, number, same, truth, written};
use soundness::theorem::{Theorem, Verdict, of_promise, prove, tested_only, theorems};
use soundness::word::{I64, lit, sub};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(120);

fn z3() -> Option<Solver> {
    match Solver::new(TIMEOUT) {
        Ok((solver, _)) => Some(solver),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            None
        }
    }
}

/// Numbers that look random, often at corners.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn int(&mut self) -> i64 {
        let power = 1i64.wrapping_shl(self.next() as u32);
        match self.next() % 4 {
            0 => [0, 1, -1, i64::MIN, i64::MAX, 7, 8, 63, 64][self.next() as usize % 9],
            1 => power.wrapping_add(self.next() as i64 % 2),
            2 => self.next() as i64 % 70,
            _ => self.next() as i64,
        }
    }

    fn bound(&mut self) -> Real {
        let (value, other) = (self.int(), self.int());
        let range = Real::from_range(value.min(other), value.max(other)).expect("it isn't empty");
        let mask = [0, u64::MAX, u64::MAX << (self.next() % 64), self.next(), 6][self.next() as usize % 5];
        let bits = Real::from_bits(value as u64, mask);
        match self.next() % 4 {
            0 => Real::constant(value),
            1 => range,
            2 => bits,
            _ => range.meet(bits).expect("the value is in both"),
        }
    }
}

fn terms(bound: Real) -> Vec<Term> {
    let parts = [bound.lower() as u64, bound.upper() as u64, bound.tvalue(), bound.tmask()];
    parts.iter().map(|part| number((*part).into(), 64)).collect()
}

fn real(terms: &[Term]) -> Option<[u64; 4]> {
    let values: Option<Vec<u64>> = terms.iter().map(|term| term.value().map(|value| value as u64)).collect();
    values?.try_into().ok()
}

fn parts(bound: &Real) -> [u64; 4] {
    [bound.lower() as u64, bound.upper() as u64, bound.tvalue(), bound.tmask()]
}

/// With numbers put in, the source that is proven gives what the crate gives, for each op, forward and backward.
#[test]
fn what_is_proven_is_what_is_executed() {
    let mut dice = Dice(1);
    let mut compared = 0;
    for theorem in theorems() {
        let Theorem::Forward(op) = theorem else { continue };
        for _ in 0..60 {
            begin(&[]);
            let args: Vec<Real> = op.operands().iter().map(|_| dice.bound()).collect();
            let result = dice.bound();
            let own: Vec<Vec<Term>> = args.iter().map(|arg| terms(*arg)).collect();
            let bounds = || -> Vec<IntBound> { own.iter().map(|terms| Set::of(terms).bound()).collect() };
            let (found, panics) = terms_of(|| IntBound::transfer(op, &bounds()));
            assert_eq!(panics.value(), Some(0), "{op:?} of {args:?}");
            for (at, expected) in Real::transfer(op, &args).iter().enumerate() {
                assert_eq!(real(&found[1 + 4 * at..5 + 4 * at]), Some(parts(expected)), "{op:?} of {args:?}");
                compared += 1;
            }
            let (found, panics) = terms_of(|| IntBound::refine(op, &bounds(), Set::of(&terms(result)).bound()));
            assert_eq!(panics.value(), Some(0), "{result} = {op:?} of {args:?}");
            let expected = Real::refine(op, &args, result);
            assert_eq!(found[0].value(), Some(expected.is_some().into()), "{result} = {op:?} of {args:?}");
            for (at, expected) in expected.iter().flatten().enumerate() {
                assert_eq!(
                    real(&found[2 + 4 * at..6 + 4 * at]),
                    Some(parts(expected)),
                    "{result} = {op:?} of {args:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

/// The text that Z3 reads means what is computed: with numbers put in, Z3 finds the same.
#[test]
fn what_is_written_is_what_is_computed() {
    let Some(z3) = z3() else { return };
    let mut dice = Dice(2);
    for op in [Opcode::UintLt, Opcode::IntForceGeZero, Opcode::IntCtz, Opcode::IntClz, Opcode::IntBswap] {
        begin(&[]);
        let sets: Vec<Set> = (0..op.operands().len()).map(|at| Set::any(&format!("p{at}"))).collect();
        let (found, _) = terms_of(|| IntBound::transfer(op, &sets.iter().map(|set| set.bound()).collect::<Vec<_>>()));
        for _ in 0..4 {
            let args: Vec<Real> = sets.iter().map(|_| dice.bound()).collect();
            let mut holds = truth(true);
            for (set, arg) in sets.iter().zip(&args) {
                for (part, value) in [set.lower, set.upper, set.tvalue, set.tmask].into_iter().zip(terms(*arg)) {
                    holds = soundness::term::both(holds, same(part, value));
                }
            }
            let expected = terms(Real::transfer(op, &args)[0]);
            let is = found[1..5].iter().zip(expected).map(|(own, expected)| same(*own, expected));
            let is = is.fold(truth(true), soundness::term::both);
            for (claim, possible) in [(is, true), (isnt(is), false)] {
                let (text, names) = written(&[holds, claim], &[]);
                let script = format!("{text}(assert {})\n(assert {})\n", names[0], names[1]);
                let answer = z3.ask(&script, false, &[], Effort::ALL);
                let as_expected =
                    if possible { matches!(answer, Answer::Sat(_)) } else { matches!(answer, Answer::Unsat) };
                assert!(as_expected, "{op:?} of {args:?}: {answer:?}");
            }
        }
    }
}

/// Each promise rests on such as come before it.
#[test]
fn no_promise_rests_on_itself() {
    for (at, own) in PROMISES.iter().enumerate() {
        for by in own.by {
            assert!(PROMISES[..at].iter().any(|before| before.function == *by), "{} rests on {by}", own.function);
        }
    }
}

/// All theorems hold; and what they take for given can be, so they aren't true for want of cases.
#[test]
#[ignore = "takes minutes; ci runs it in its step `proofs`"]
fn all_is_proven() {
    let all: Vec<Theorem> = theorems().into_iter().filter(|theorem| tested_only(*theorem).is_none()).collect();
    assert!(all.len() > 70, "{}", all.len());
    let next = AtomicUsize::new(0);
    let some = || {
        let Some(z3) = z3() else { return };
        while let Some(theorem) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let questions = theorem.brief();
            assert_eq!(prove(&questions, &z3), Verdict::Proven, "{}", theorem.name());
            if let Some(first) = questions.first() {
                assert!(
                    matches!(z3.ask(&first.given, false, &[], Effort::ALL), Answer::Sat(_)),
                    "{} has no cases",
                    theorem.name()
                );
            }
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(some)));
    });
}

/// A proof that can't fail is worth nothing.
#[test]
fn what_is_wrong_is_refuted() {
    let Some(z3) = z3() else { return };
    type B = IntBound;
    type Run = fn(&[Term]) -> (Vec<Term>, Term);
    fn taken<T: Merge>(parameters: &mut impl Iterator<Item = Term>) -> T {
        T::take(parameters)
    }
    let wrong: [(&str, Run); 5] = [
        // The largest number is left out.
        ("reduce::Bound::reduced", |p| {
            terms_of(|| {
                let mut p = p.iter().copied();
                let (lower, upper, bits): (I64, I64, Tristate) = (taken(&mut p), taken(&mut p), taken(&mut p));
                B::reduced(lower, upper.wrapping_sub(lit(1)), bits)
            })
        }),
        // Carries are forgotten.
        ("tristate::Tristate::add", |p| {
            terms_of(|| {
                let mut p = p.iter().copied();
                let (a, b): (Tristate, Tristate) = (taken(&mut p), taken(&mut p));
                a.xor(b)
            })
        }),
        // A difference for a sum.
        ("arithmetic::Bound::add_bound", |p| {
            terms_of(|| {
                let mut p = p.iter().copied();
                let (a, b): (B, B) = (taken(&mut p), taken(&mut p));
                a.add_bound(b.neg_bound())
            })
        }),
        // One of two.
        ("lattice::Bound::join", |p| {
            terms_of(|| {
                let mut p = p.iter().copied();
                let (a, b): (B, B) = (taken(&mut p), taken(&mut p));
                if a.is_constant() { b } else { a.join(b) }
            })
        }),
        // It panics at the smallest integer.
        ("lattice::Bound::meet", |p| {
            terms_of(|| {
                let mut p = p.iter().copied();
                let (a, b): (B, B) = (taken(&mut p), taken(&mut p));
                let _ = sub(a.lower(), lit(1));
                a.meet(b)
            })
        }),
    ];
    for (function, run) in wrong {
        let wrong = Promise { run, ..*promise(function) };
        assert!(matches!(prove(&of_promise(&wrong), &z3), Verdict::Refuted(_)), "{function}");
    }
}
