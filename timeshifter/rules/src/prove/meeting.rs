//! Whether there are operands to which two rules apply at once.
//!
//! The formula has what both check, and of each op of the term that both match a bound that holds what the op gives;
//! then, if that leaves too much, what is known of such bounds ([`transfers`]). What Z3 finds is tried: either both
//! rules apply to it, or Z3 is told what is known there ([`Meeting::learn`]).

use super::formula::{Formula, Ops, Parts, equal, is, is_constant};
use super::solver::{Answer, Effort, Solver};
use super::transfers;
use super::{BRIEFLY, each_amount, is_amount};
use crate::rule::{Rule, Term, VarId, result_type};
use bounds::IntBound;
use flowgraph::ir::{Opcode, Type};
use std::fmt::Write;

/// How often Z3 is told that what it found can't be.
const ROUNDS: usize = 8;
/// What Z3 may do for one question. Mostly a hundredth of it is enough.
const MOST: Effort = Effort::millions(40);

/// A term that two rules match, each in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Both<'r> {
    /// The rule that matches the whole, and the one that matches it or a part of it.
    pub rules: (&'r Rule, &'r Rule),
    /// The whole. The variables of the second rule are numbered behind those of the first.
    pub whole: &'r Term,
    /// By variable: what it is besides.
    pub same: &'r [Option<Term>],
}

/// What a variable is in what Z3 finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaf {
    /// A constant, by its bits.
    Constant(i64),
    /// A value of which this is known.
    Value(IntBound),
}

/// Whether two rules ever apply at once.
#[derive(Debug)]
pub(crate) enum Meets<T> {
    /// They don't.
    Never,
    /// They do, and this came of it.
    There(T),
    /// Nobody knows.
    Unknown,
}

/// Asks Z3 for operands. `tried` has, by variable, what was found (nothing for those that are something else besides);
/// and gives something if both rules apply to that.
pub(crate) fn meet<T>(
    both: &Both<'_>,
    solver: &Solver,
    mut tried: impl FnMut(&[Option<Leaf>]) -> Option<T>,
) -> Meets<T> {
    [Ops::Exact, Ops::HardOnesAny]
        .into_iter()
        .filter(|ops| *ops == Ops::Exact || is_hard(both.whole))
        .find_map(|ops| match meet_with(both, ops, solver, &mut tried) {
            Ok(Meets::Unknown) | Err(_) => None,
            Ok(known) => Some(known),
        })
        .unwrap_or(Meets::Unknown)
}

/// Whether there are ops in a term that are hard to ask about.
fn is_hard(term: &Term) -> bool {
    match term {
        Term::Op(op, args) => transfers::is_hard(*op) || args.iter().any(is_hard),
        _ => false,
    }
}

fn meet_with<T>(
    both: &Both<'_>,
    ops: Ops,
    solver: &Solver,
    tried: &mut impl FnMut(&[Option<Leaf>]) -> Option<T>,
) -> Result<Meets<T>, Opcode> {
    let formula = Formula::of_both(both.rules.0, both.rules.1, both.same, ops)?;
    // What is hard is asked otherwise if it takes long.
    let effort = if ops == Ops::Exact && is_hard(both.whole) { BRIEFLY } else { MOST };
    // Mostly what both check is enough.
    if let Answer::Unsat = solver.ask(&formula.holds, formula.floats, &[], effort) {
        return Ok(Meets::Never);
    }
    let meeting = Meeting::new(*both, formula)?;
    let mut facts = meeting.formula.reduced();
    facts.extend(meeting.ops.iter().map(|(_, parts)| parts.reduced()));
    facts.push_str(&meeting.transfers(transfers::tight));
    facts.push_str(&asserted(meeting.formula.of_answers()));
    for round in 0..ROUNDS {
        if round == 1 {
            facts.push_str(&meeting.transfers(transfers::holds));
        }
        let wanted = meeting.wanted();
        let script = format!("{}{facts}", meeting.formula.holds);
        let values = match solver.ask(&script, meeting.formula.floats, &wanted, effort) {
            Answer::Unsat => return Ok(Meets::Never),
            Answer::Unknown(_) => break,
            Answer::Sat(values) => values,
        };
        let value_of = |name: &str| wanted.iter().position(|(own, _)| own == name).map(|at| values[at]);
        if let Some(leaves) = meeting.leaves_of(&value_of) {
            if let Some(found) = tried(&leaves) {
                return Ok(Meets::There(found));
            }
            facts.push_str(&meeting.learn(&leaves));
        }
        facts.push_str(&meeting.formula.learn(&value_of));
    }
    facts.push_str(&meeting.transfers(transfers::holds));
    let cases = meeting.amounts();
    let script = format!("{}{facts}", meeting.formula.holds);
    let never = !cases.is_empty() && solver.impossible(&script, meeting.formula.floats, &cases, BRIEFLY) == cases.len();
    Ok(if never { Meets::Never } else { Meets::Unknown })
}

fn asserted(facts: Vec<String>) -> String {
    facts.into_iter().map(|fact| format!("(assert {fact})\n")).collect()
}

/// The formula of two rules that apply at once, with what is known of all ops that they match.
struct Meeting<'r> {
    both: Both<'r>,
    formula: Formula,
    /// The integers that the operands are, with the names of their values.
    leaves: Vec<(VarId, String)>,
    /// Terms of integers with ops, and what is known of each.
    ops: Vec<(Term, Parts)>,
}

impl<'r> Meeting<'r> {
    fn new(both: Both<'r>, formula: Formula) -> Result<Meeting<'r>, Opcode> {
        let mut meeting = Meeting { both, formula, leaves: Vec::new(), ops: Vec::new() };
        for (var, same) in both.same.iter().enumerate() {
            if same.is_some() || !meeting.formula.values.contains_key(&var) {
                continue;
            }
            if let Some((Type::Int, name)) = meeting.input(var) {
                let parts = meeting.formula.known_of(var);
                if meeting.is_constant(var) {
                    meeting.formula.assert(&is_constant(&parts));
                }
                meeting.leaves.push((var, name));
            }
        }
        meeting.terms(both.whole)?;
        // What is known of an operand is known wherever it is asked for.
        for (var, same) in both.same.iter().enumerate() {
            let (Some(same), Some(own)) = (same, meeting.formula.computed.get(&var)) else { continue };
            let parts = match same {
                Term::Op(..) => meeting.ops.iter().find_map(|(term, parts)| (term == same).then_some(parts)),
                Term::Var(var) => meeting.formula.computed.get(var),
                Term::Int(_) | Term::Float(_) => None,
            };
            let equal = parts.map(|parts| equal(own, parts));
            equal.iter().for_each(|equal| meeting.formula.assert(equal));
        }
        Ok(meeting)
    }

    /// The type of a variable of a pattern that is nothing else, and its value's name.
    fn input(&self, var: VarId) -> Option<(Type, String)> {
        let (one, other) = self.both.rules;
        let (rule, own) = var.checked_sub(one.vars.len()).map_or((one, var), |own| (other, own));
        (own < rule.matched).then(|| (rule.vars[own].ty(), self.formula.values[&var].clone()))
    }

    fn is_constant(&self, var: VarId) -> bool {
        let (one, other) = self.both.rules;
        var.checked_sub(one.vars.len()).map_or_else(|| &one.vars[var], |own| &other.vars[own]).is_constant()
    }

    /// Bounds of a term's ops: what is constant, or has constants alone for operands, is none that rules are asked
    /// about.
    fn terms(&mut self, term: &Term) -> Result<(), Opcode> {
        let Term::Op(op, args) = term else { return Ok(()) };
        args.iter().try_for_each(|arg| self.terms(arg))?;
        let constant = |arg: &Term| match arg {
            Term::Int(_) | Term::Float(_) => "true".to_owned(),
            Term::Op(..) => "false".to_owned(),
            Term::Var(var) if self.is_constant(*var) => "true".to_owned(),
            Term::Var(var) => self.formula.computed.get(var).map_or_else(|| "false".to_owned(), is_constant),
        };
        let constants: Vec<String> = args.iter().map(constant).collect();
        self.formula.assert(&format!("(not (and {}))", constants.join(" ")));
        if result_type(*op) == Type::Int && !self.ops.iter().any(|(own, _)| own == term) {
            let member = self.formula.sides(self.both.rules.0, term)?.swap_remove(0);
            let parts = self.formula.known_of_value(member);
            self.formula.assert(&format!("(not {})", is_constant(&parts)));
            self.ops.push((term.clone(), parts));
        }
        Ok(())
    }

    /// What is known of bounds that ops give: `of` has it for an op, its operands' bounds and the one that it gives.
    fn transfers(&self, of: fn(Opcode, &[Parts], &Parts) -> Vec<String>) -> String {
        let parts_of = |term: &Term| match term {
            Term::Int(literal) => Some(transfers::constant(literal.value::<64>())),
            Term::Float(_) => None,
            Term::Var(var) => self.formula.computed.get(var).cloned(),
            Term::Op(..) => self.ops.iter().find_map(|(own, parts)| (own == term).then(|| parts.clone())),
        };
        let own = self.ops.iter().filter_map(|(term, result)| {
            let Term::Op(op, args) = term else { return None };
            let args: Option<Vec<Parts>> = args.iter().map(parts_of).collect();
            Some(of(*op, &args?, result))
        });
        asserted(own.flatten().chain(self.formula.of_transfers(of)).collect())
    }

    /// A constant that is the amount of a shift, case by case: each amount, and any other number.
    fn amounts(&self) -> Vec<String> {
        let (one, other) = self.both.rules;
        let amount = self.leaves.iter().find(|(var, _)| {
            self.is_constant(*var)
                && match var.checked_sub(one.vars.len()) {
                    Some(own) => is_amount(other, own),
                    None => is_amount(one, *var),
                }
        });
        amount.map(|(_, name)| each_amount(name, i64::from)).unwrap_or_default()
    }

    fn wanted(&self) -> Vec<(String, u32)> {
        let mut names = self.formula.asked_for();
        let mut more = Vec::new();
        for (var, name) in &self.leaves {
            more.push(name.clone());
            more.extend(self.formula.computed[var].names().map(str::to_owned));
        }
        for name in more {
            if !name.starts_with('#') && !names.iter().any(|(own, _)| *own == name) {
                names.push((name, 64));
            }
        }
        names
    }

    /// What a model has for the operands; nothing if that isn't what bounds are.
    fn leaves_of(&self, value_of: &impl Fn(&str) -> Option<i64>) -> Option<Vec<Option<Leaf>>> {
        let mut found = vec![None; self.both.same.len()];
        for (var, same) in self.both.same.iter().enumerate() {
            let Some((ty, name)) =
                same.is_none().then(|| self.formula.values.get(&var).and_then(|_| self.input(var))).flatten()
            else {
                continue;
            };
            found[var] = Some(match ty {
                _ if self.is_constant(var) => Leaf::Constant(value_of(&name)?),
                Type::Int => Leaf::Value(self.formula.computed.get(&var)?.bound(value_of)?),
                _ => Leaf::Value(IntBound::unbounded()),
            });
        }
        Some(found)
    }

    /// What is known of each term, with these operands.
    fn learn(&self, leaves: &[Option<Leaf>]) -> String {
        let mut facts = String::new();
        for (term, parts) in &self.ops {
            let mut case = Vec::new();
            for (var, _) in self.leaves.iter().filter(|(var, _)| term.vars().contains(var)) {
                let known = match leaves[*var] {
                    Some(Leaf::Constant(value)) => IntBound::constant(value),
                    Some(Leaf::Value(bound)) => bound,
                    None => continue,
                };
                case.push(is(&self.formula.computed[var], &known));
            }
            let known = known_of(term, leaves);
            let _ = writeln!(facts, "(assert (=> (and true {}) {}))", case.join(" "), is(parts, &known));
        }
        facts
    }
}

/// What is known of a term where this is known of its variables.
pub(crate) fn known_of(term: &Term, leaves: &[Option<Leaf>]) -> IntBound {
    match term {
        Term::Int(literal) => IntBound::constant(literal.value::<64>()),
        Term::Float(_) => IntBound::unbounded(),
        Term::Var(var) => match leaves[*var] {
            Some(Leaf::Constant(value)) => IntBound::constant(value),
            Some(Leaf::Value(bound)) => bound,
            None => IntBound::unbounded(),
        },
        Term::Op(op, args) => {
            let args: Vec<IntBound> = args.iter().map(|arg| known_of(arg, leaves)).collect();
            match result_type(*op) {
                Type::Int => IntBound::transfer(*op, &args)[0],
                _ => IntBound::unbounded(),
            }
        }
    }
}
