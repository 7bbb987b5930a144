//! Asking rules about an op as they stand: the interpreter of the language. The compiler's output answers the same.

use crate::eval::Bindings;
use crate::rule::{Rule, Term, VarKind};
use bounds::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, Type};
use std::collections::HashMap;

/// What rules are asked about: ops, and what is known of their operands.
pub trait Subject {
    /// The op that gives an operand as its first result, and its operands.
    fn definition(&self, operand: Operand) -> Option<(Opcode, &[Operand])>;

    /// What is known of an operand that is an integer.
    fn bound(&self, operand: Operand) -> IntBound;

    /// Whether nothing else uses an operand, so that the op that gives it goes when its only use does.
    fn used_once(&self, operand: Operand) -> bool;

    /// The constant that an operand is.
    fn constant(&self, operand: Operand) -> Option<Const> {
        match operand {
            Operand::Const(constant) => Some(constant),
            Operand::Value(_) => self.bound(operand).get_constant_int().map(Const::Int),
        }
    }
}

/// What an operand is, as far as patterns tell.
#[derive(Clone, Copy, Debug)]
pub enum At<'s> {
    /// A constant.
    Constant(Const),
    /// What this op gives.
    Op(Opcode, &'s [Operand]),
    /// Something else.
    Other,
}

/// What an operand is. A constant is nothing else.
pub fn at<S: Subject>(subject: &S, operand: Operand) -> At<'_> {
    match subject.constant(operand) {
        Some(constant) => At::Constant(constant),
        None => match subject.definition(operand) {
            Some((op, args)) => At::Op(op, args),
            None => At::Other,
        },
    }
}

/// Whether two operands are the same.
pub fn same<S: Subject>(subject: &S, one: Operand, other: Operand) -> bool {
    one == other || subject.constant(one).is_some_and(|constant| subject.constant(other) == Some(constant))
}

/// What there is instead of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum Built {
    /// An operand.
    Operand(Operand),
    /// An op.
    Op(Opcode, Vec<Built>),
}

impl Built {
    /// A constant.
    pub fn int(value: i64) -> Built {
        Built::Operand(Operand::int(value))
    }
}

/// A rule that applies, by its number, and what there is instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// The number of the rule in its file.
    pub rule: usize,
    /// What there is instead.
    pub target: Built,
}

/// Rules made ready to be asked.
#[derive(Clone, Debug)]
pub struct Interpreted {
    rules: Vec<Rule>,
    /// By op: the rule's number and one way to write its pattern, in the order in which they are asked.
    rows: HashMap<Opcode, Vec<(usize, Term)>>,
    /// By rule: all ways to write its pattern.
    ways: Vec<Vec<Term>>,
}

impl Interpreted {
    /// Makes rules ready.
    pub fn new(rules: Vec<Rule>) -> Interpreted {
        let mut by_op: HashMap<Opcode, Vec<(usize, Term)>> = HashMap::new();
        for (rule, pattern) in rows(&rules) {
            by_op.entry(rules[rule].root().0).or_default().push((rule, pattern));
        }
        let ways = rules.iter().map(|rule| variants(&rule.pattern)).collect();
        Interpreted { rules, rows: by_op, ways }
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The first rule that applies to an op.
    pub fn ask<S: Subject>(&self, op: Opcode, args: &[Operand], subject: &S) -> Option<Fired> {
        self.rows.get(&op)?.iter().find_map(|(rule, pattern)| {
            let target = apply(&self.rules[*rule], pattern, op, args, subject)?;
            Some(Fired { rule: *rule, target })
        })
    }

    /// All ways to write a rule's pattern that differ in the order of operands that commute.
    pub(crate) fn ways(&self, rule: usize) -> &[Term] {
        &self.ways[rule]
    }

    /// What one rule makes of an op, if it applies.
    pub fn ask_one<S: Subject>(&self, rule: usize, op: Opcode, args: &[Operand], subject: &S) -> Option<Built> {
        self.ways[rule].iter().find_map(|pattern| apply(&self.rules[rule], pattern, op, args, subject))
    }

    /// What one rule makes of an op, if it applies with its pattern written in one of its ways.
    pub(crate) fn ask_way<S: Subject>(
        &self,
        (rule, way): (usize, usize),
        op: Opcode,
        args: &[Operand],
        subject: &S,
    ) -> Option<Built> {
        apply(&self.rules[rule], &self.ways[rule][way], op, args, subject)
    }
}

/// All rules with all ways to write their patterns, in the order in which they are asked.
pub(crate) fn rows(rules: &[Rule]) -> Vec<(usize, Term)> {
    let mut order: Vec<usize> = (0..rules.len()).collect();
    order.sort_by_key(|rule| rules[*rule].rank());
    order
        .into_iter()
        .flat_map(|rule| variants(&rules[rule].pattern).into_iter().map(move |pattern| (rule, pattern)))
        .collect()
}

/// All ways to write a term that differ in the order of operands that commute, itself first.
pub fn variants(term: &Term) -> Vec<Term> {
    let Term::Op(op, args) = term else { return vec![term.clone()] };
    let mut lists: Vec<Vec<Term>> = vec![Vec::new()];
    for arg in args {
        let ways = variants(arg);
        lists = lists
            .into_iter()
            .flat_map(|list| ways.iter().map(move |way| [list.clone(), vec![way.clone()]].concat()))
            .collect();
    }
    if op.is_commutative() {
        let swapped: Vec<Vec<Term>> = lists
            .iter()
            .map(|list| {
                let mut list = list.clone();
                list.swap(0, 1);
                list
            })
            .collect();
        lists.extend(swapped);
    }
    let mut found: Vec<Term> = Vec::new();
    for list in lists {
        let term = Term::Op(*op, list);
        if !found.contains(&term) {
            found.push(term);
        }
    }
    found
}

fn apply<S: Subject>(rule: &Rule, pattern: &Term, op: Opcode, args: &[Operand], subject: &S) -> Option<Built> {
    let Term::Op(own, terms) = pattern else { return None };
    if *own != op || args.len() != terms.len() {
        return None;
    }
    let mut matched = vec![None; rule.vars.len()];
    let mut inner = Vec::new();
    for (term, arg) in terms.iter().zip(args) {
        matches(rule, term, *arg, subject, &mut matched, &mut inner)?;
    }
    if rule.needs_single_use() && !inner.iter().all(|operand| subject.used_once(*operand)) {
        return None;
    }
    let mut bindings = Bindings::<64>::new(rule);
    for (var, operand) in matched.iter().enumerate() {
        let Some(operand) = operand else { continue };
        if rule.vars[var].ty() == Type::Int {
            let bound = subject.bound(*operand);
            bindings.bounds[var] = bound;
            bindings.values[var] = bound.lower();
        }
    }
    bindings.applies(rule).then(|| build(rule, &rule.target, &matched, &bindings))
}

fn matches<S: Subject>(
    rule: &Rule,
    term: &Term,
    operand: Operand,
    subject: &S,
    matched: &mut [Option<Operand>],
    inner: &mut Vec<Operand>,
) -> Option<()> {
    match (term, at(subject, operand)) {
        (Term::Op(op, terms), At::Op(found, args)) if *op == found && terms.len() == args.len() => {
            inner.push(operand);
            terms.iter().zip(args).try_for_each(|(term, arg)| matches(rule, term, *arg, subject, matched, inner))
        }
        (Term::Int(literal), At::Constant(Const::Int(constant))) if literal.value::<64>() == constant => Some(()),
        (Term::Float(number), At::Constant(Const::Float(bits))) if number.to_bits() == bits => Some(()),
        (Term::Var(var), found) => {
            if rule.vars[*var].is_constant() && !matches!(found, At::Constant(constant) if has_bits(constant)) {
                return None;
            }
            match matched[*var] {
                Some(before) => same(subject, before, operand).then_some(()),
                None => {
                    matched[*var] = Some(operand);
                    Some(())
                }
            }
        }
        _ => None,
    }
}

/// Whether a constant is a number; an address is none that could be computed with.
pub fn has_bits(constant: Const) -> bool {
    !matches!(constant, Const::Addr(..))
}

fn build(rule: &Rule, term: &Term, matched: &[Option<Operand>], bindings: &Bindings<64>) -> Built {
    match term {
        Term::Op(op, args) => Built::Op(*op, args.iter().map(|arg| build(rule, arg, matched, bindings)).collect()),
        Term::Int(literal) => Built::int(literal.value::<64>()),
        Term::Float(number) => Built::Operand(Operand::Const(Const::Float(number.to_bits()))),
        Term::Var(var) => match (rule.vars[*var].kind, matched[*var]) {
            (VarKind::Any(_) | VarKind::Constant(_), Some(operand)) => Built::Operand(operand),
            _ => Built::int(bindings.values[*var]),
        },
    }
}
