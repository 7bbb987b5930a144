//! Proofs with Z3: each rule at 64 bits.
//!
//! First the rule is tried on values ([`crate::sample()`]): what is wrong mostly shows at once. Then Z3 is asked for
//! values where the rule applies and its sides differ (`formula`); there must be none. What it finds is computed again
//! by the language's own meaning, so that a counterexample that is printed is one. Where Z3 doesn't answer in time,
//! shift amounts and powers of two are gone through one by one.

mod formula;
#[cfg(not(feature = "verify-z3"))]
mod library;
mod meeting;
mod ops;
mod solver;
mod transfers;

pub(crate) use meeting::{Both, Leaf, Meets, known_of, meet};
pub use solver::{Answer, Effort, Solver};

use crate::eval::Bindings;
use crate::rule::{Bool, Int, Literal, Rule, Step, Term, VarId, VarKind};
use crate::sample::{Counterexample, Tried, sample, shrunk};
use bounds::IntBound;
use flowgraph::ir::{Opcode, Type};
use formula::Formula;
use ops::word;
use std::fmt::Write;

/// How many sets of values are tried before Z3 is asked.
const TRIES: usize = 20_000;
/// How often Z3 is told that what it found can't be.
const ROUNDS: usize = 24;
/// What Z3 may do before the same is asked in another way.
const BRIEFLY: Effort = Effort::millions(2);
/// For one shift amount or power of two, if that is one of many.
const FIRST: Effort = Effort::millions(5);
/// For a smaller counterexample.
const SMALLER: Effort = Effort::millions(3);

/// What is known of a rule.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It is right: for all values at once.
    Proven,
    /// It is right: for each shift amount or power of two by itself; of so many cases.
    Exhaustive(usize),
    /// It says that there is no proof; at least nothing was found in a moment that refutes it.
    Sorry,
    /// It is wrong, here.
    Refuted(Box<Counterexample<64>>),
    /// Nothing makes these conditions true.
    NeverApplies(String),
    /// Nobody knows, and why.
    Unknown(String),
}

/// Tries a rule on values alone. Without Z3 that is all there is.
pub fn refute(rule: &Rule) -> Option<Verdict> {
    sample::<64>(rule, TRIES).counterexample.map(|found| Verdict::Refuted(Box::new(found)))
}

/// Proves or refutes a rule.
pub fn prove(rule: &Rule, solver: &Solver) -> Verdict {
    let sampled = sample::<64>(rule, TRIES);
    if let Some(found) = sampled.counterexample {
        return Verdict::Refuted(Box::new(found));
    }
    let mut formula = match Formula::new(rule) {
        Ok(formula) => formula,
        Err(_) if rule.sorry => return Verdict::Sorry,
        Err(op) => return Verdict::Unknown(no_formula(op)),
    };
    if sampled.applied == 0
        && let Some(verdict) = never_applies(rule, &mut formula, solver)
    {
        return verdict;
    }
    match search(rule, &mut formula, solver, "", BRIEFLY) {
        Found::Nothing | Found::Unknown(_) if rule.sorry => Verdict::Sorry,
        Found::Nothing => Verdict::Proven,
        Found::Counterexample(found) => {
            Verdict::Refuted(Box::new(shrunk(rule, smaller(rule, &mut formula, solver, *found))))
        }
        Found::Unknown(_) => {
            // Products that differ in their order alone are the same to Z3; a shift to the left is one, and in a
            // remainder there is one.
            if let Ok(mut products) = Formula::with_products(rule)
                && (products.holds != formula.holds || products.differs != formula.differs)
                && let Found::Nothing = search(rule, &mut products, solver, "", BRIEFLY)
            {
                return Verdict::Proven;
            }
            one_by_one(rule, &mut formula, solver)
        }
    }
}

/// The results of an op on integers as SMT-LIB text, if it has a formula.
pub fn formula_of(op: Opcode, args: &[String]) -> Option<Vec<String>> {
    ops::results(op, args, &mut |_, _| unreachable!("only floats are any of several"))
}

/// Why nothing can be said of an op.
fn no_formula(op: Opcode) -> String {
    let why = match op {
        Opcode::FloatMod | Opcode::SingleMod => {
            ": Z3's remainder of floats is rounded to the nearest, and `fmod` to zero"
        }
        _ => "",
    };
    format!("there is no formula for `{}`{why}", op.name())
}

/// What Z3 finds.
enum Found {
    Nothing,
    Counterexample(Box<Counterexample<64>>),
    Unknown(String),
}

/// Looks for a counterexample where something holds besides.
fn search(rule: &Rule, formula: &mut Formula, solver: &Solver, besides: &str, effort: Effort) -> Found {
    let mut facts = String::new();
    for round in 0..ROUNDS {
        let script = format!("{}{facts}{besides}{}", formula.holds, formula.differs);
        let wanted = formula.asked_for();
        let values = match solver.ask(&script, formula.floats, &wanted, effort) {
            Answer::Unsat => return Found::Nothing,
            Answer::Unknown(reason) => return Found::Unknown(gave_up(&reason, solver)),
            Answer::Sat(values) => values,
        };
        let value_of = |name: &str| wanted.iter().position(|(own, _)| own == name).map(|at| values[at]);
        for bindings in models(rule, formula, &value_of) {
            if let Tried::Differs(found) = Counterexample::of(rule, bindings) {
                return Found::Counterexample(Box::new(found));
            }
        }
        // Here the sides are the same; but of a NaN that arithmetic gives, only that it is one is certain.
        if formula.floats && formula.asks_nothing() {
            return Found::Unknown("a side gives a NaN, and not one of certain bits".to_owned());
        }
        // What it found can't be: the bounds aren't what bounds are.
        if round == 0 {
            facts.push_str(&formula.reduced());
        }
        facts.push_str(&formula.learn(&value_of));
    }
    Found::Unknown("what Z3 finds is never what bounds are".to_owned())
}

/// Why there is no answer.
fn gave_up(reason: &str, solver: &Solver) -> String {
    match reason {
        "unknown" | "timeout" | "canceled" => {
            format!("Z3 gave no answer in {} s for one question", solver.timeout().as_secs())
        }
        reason => format!("Z3 gave no answer: {reason}"),
    }
}

/// The values of a model with its bounds; and the same values with all known of them.
fn models(rule: &Rule, formula: &Formula, value_of: &impl Fn(&str) -> Option<i64>) -> Vec<Bindings<64>> {
    let mut bindings = Bindings::<64>::new(rule);
    for (var, name) in &formula.inputs {
        bindings.values[*var] = value_of(name).unwrap_or_default();
    }
    let mut known = bindings.clone();
    for (var, _) in formula.inputs.iter().filter(|(var, _)| rule.vars[*var].ty() == Type::Int) {
        known.bounds[*var] = IntBound::constant(known.values[*var]);
        if rule.vars[*var].is_constant() {
            bindings.bounds[*var] = known.bounds[*var];
        }
    }
    let mut fits = true;
    for (var, parts) in &formula.bounds {
        match parts.bound(value_of) {
            Some(bound) if bound.contains(bindings.values[*var]) => bindings.bounds[*var] = bound,
            _ => fits = false,
        }
    }
    if fits { vec![bindings, known] } else { vec![known] }
}

/// Whether nothing makes a rule's conditions true; and then which of them.
fn never_applies(rule: &Rule, formula: &mut Formula, solver: &Solver) -> Option<Verdict> {
    let mut facts = String::new();
    for round in 0..ROUNDS {
        let wanted = formula.asked_for();
        match solver.ask(&format!("{}{facts}", formula.holds), formula.floats, &wanted, FIRST) {
            Answer::Unsat => return Some(Verdict::NeverApplies(conflict(rule, solver))),
            Answer::Unknown(_) => return None,
            Answer::Sat(values) => {
                let value_of = |name: &str| wanted.iter().position(|(own, _)| own == name).map(|at| values[at]);
                for bindings in models(rule, formula, &value_of) {
                    match Counterexample::of(rule, bindings) {
                        Tried::DoesNotApply => {}
                        Tried::Same => return None,
                        Tried::Differs(found) => return Some(Verdict::Refuted(Box::new(found))),
                    }
                }
                if round == 0 {
                    facts.push_str(&formula.reduced());
                }
                facts.push_str(&formula.learn(&value_of));
            }
        }
    }
    None
}

/// The fewest conditions that can't all be true, as text.
fn conflict(rule: &Rule, solver: &Solver) -> String {
    let mut left = rule.clone();
    let is_check = |step: &Step| matches!(step, Step::Check(..));
    let mut at = 0;
    while at < left.steps.len() {
        if is_check(&left.steps[at]) {
            let mut without = left.clone();
            without.steps.remove(at);
            if let Ok(formula) = Formula::new(&without)
                && let Answer::Unsat = solver.ask(&formula.holds, formula.floats, &formula.asked_for(), FIRST)
            {
                left = without;
                continue;
            }
        }
        at += 1;
    }
    let conditions: Vec<&str> = left
        .steps
        .iter()
        .filter_map(|step| if let Step::Check(_, text) = step { Some(text.as_str()) } else { None })
        .collect();
    conditions.join(" and ")
}

/// A counterexample with smaller numbers, if there is one.
fn smaller(rule: &Rule, formula: &mut Formula, solver: &Solver, mut found: Counterexample<64>) -> Counterexample<64> {
    let ints: Vec<String> = formula
        .inputs
        .iter()
        .filter(|(var, _)| rule.vars[*var].ty() == Type::Int)
        .map(|(_, name)| name.clone())
        .collect();
    let within = |name: &str, most: i64| {
        format!("(assert (and (bvsle {} {name}) (bvsle {name} {})))\n", word(-most), word(most))
    };
    for most in [2, 8, 64, 256, 65536] {
        let besides: String = ints.iter().map(|name| within(name, most)).collect();
        if let Found::Counterexample(less) = search(rule, formula, solver, &besides, SMALLER) {
            return *less;
        }
    }
    // Not all together: one after the other.
    let mut besides = String::new();
    for name in &ints {
        for most in [1, 8, 64, 65536] {
            let more = format!("{besides}{}", within(name, most));
            if let Found::Counterexample(less) = search(rule, formula, solver, &more, SMALLER) {
                (found, besides) = (*less, more);
                break;
            }
        }
    }
    found
}

/// Goes through shift amounts and powers of two one by one, and what is neither.
fn one_by_one(rule: &Rule, formula: &mut Formula, solver: &Solver) -> Verdict {
    let mut cases = vec![String::new()];
    for (var, name) in formula.inputs.clone() {
        let is_amount = is_amount(rule, var);
        if !is_amount && !is_power(rule, var) {
            continue;
        }
        let own = each_amount(&name, |bit| if is_amount { i64::from(bit) } else { 1 << bit });
        cases = cases.iter().flat_map(|case| own.iter().map(move |own| format!("{case}{own}"))).collect();
        if cases.len() > 5000 {
            break;
        }
    }
    if cases.len() == 1 {
        return match search(rule, formula, solver, "", Effort::ALL) {
            Found::Nothing => Verdict::Proven,
            Found::Counterexample(found) => Verdict::Refuted(found),
            Found::Unknown(reason) => Verdict::Unknown(reason),
        };
    }
    let script = format!("{}{}", formula.holds, formula.differs);
    let mut done = 0;
    while done < cases.len() {
        done += solver.impossible(&script, formula.floats, &cases[done..], FIRST);
        // One that may be, as far as Z3 sees; or it has given up.
        let Some(case) = cases.get(done) else { break };
        match search(rule, formula, solver, case, Effort::ALL) {
            Found::Nothing => done += 1,
            Found::Counterexample(found) => return Verdict::Refuted(found),
            Found::Unknown(reason) => return Verdict::Unknown(reason),
        }
    }
    Verdict::Exhaustive(cases.len())
}

/// That a constant has to do with this bit or that, for each bit, and that it is nothing of the kind.
fn each_amount(name: &str, value: impl Fn(u32) -> i64) -> Vec<String> {
    let mut cases: Vec<String> = (0..64).map(|bit| format!("(assert (= {name} {}))\n", word(value(bit)))).collect();
    cases.push((0..64).fold(String::new(), |mut text, bit| {
        let _ = writeln!(text, "(assert (not (= {name} {})))", word(value(bit)));
        text
    }));
    cases
}

/// Whether a variable is the amount of a shift.
fn is_amount(rule: &Rule, var: VarId) -> bool {
    let is_shift = |op: Opcode| matches!(op, Opcode::IntLshift | Opcode::IntRshift | Opcode::UintRshift);
    let mut found = false;
    for term in [&rule.pattern, &rule.target] {
        term.each(&mut |term| {
            found |= matches!(term, Term::Op(op, args) if is_shift(*op) && args[1] == Term::Var(var))
        });
    }
    found || ints(rule).iter().any(|int| {
        any(
            int,
            &|int| matches!(int, Int::Op(op, args) if is_shift(*op) && matches!(args[1], Int::Var(own) if own == var)),
        )
    })
}

/// Whether a rule looks at `C & (C - 1)`, or at the highest bit.
fn is_power(rule: &Rule, var: VarId) -> bool {
    let own = |int: &Int| matches!(int, Int::Var(other) if *other == var);
    let less = |int: &Int| match int {
        Int::Op(Opcode::IntSub, args) => own(&args[0]) && matches!(args[1], Int::Literal(Literal::Number(1))),
        Int::Op(Opcode::IntAdd, args) => own(&args[0]) && matches!(args[1], Int::Literal(Literal::Number(-1))),
        _ => false,
    };
    let looks = |int: &Int| match int {
        Int::Op(Opcode::IntAnd, args) => (own(&args[0]) && less(&args[1])) || (own(&args[1]) && less(&args[0])),
        Int::HighestBit(of) => own(of),
        _ => false,
    };
    rule.vars[var].kind == VarKind::Constant(Type::Int) && ints(rule).iter().any(|int| any(int, &looks))
}

/// The integer expressions of a rule's steps, the outermost ones.
fn ints(rule: &Rule) -> Vec<&Int> {
    fn of<'r>(holds: &'r Bool, found: &mut Vec<&'r Int>) {
        match holds {
            Bool::Not(inner) => of(inner, found),
            Bool::And(parts) | Bool::Or(parts) => parts.iter().for_each(|part| of(part, found)),
            Bool::Compare(_, both) => found.extend(both.iter()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for step in &rule.steps {
        match step {
            Step::Int(_, int) => found.push(int),
            Step::Check(holds, _) | Step::Bool(_, holds) => of(holds, &mut found),
            Step::Bound(..) => {}
        }
    }
    found
}

fn any(int: &Int, is: &impl Fn(&Int) -> bool) -> bool {
    is(int)
        || match int {
            Int::Op(_, args) => args.iter().any(|arg| any(arg, is)),
            Int::Min(both) | Int::Max(both) => both.iter().any(|arg| any(arg, is)),
            Int::HighestBit(of) => any(of, is),
            _ => false,
        }
}
