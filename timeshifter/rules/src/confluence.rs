//! Whether it matters which rule is used first: where two rules apply to one term, both must come to the same in the
//! end.
//!
//! Where the pattern of one rule can lie in that of another, the smallest term to which both apply is a *critical pair*
//! (Knuth and Bendix, 1970). Of each pair instances are made: operands of which this or that is known, constants small
//! and large; both rules are used, and all rules after that until none applies. If both ends are the same each time,
//! the pair is joined. That is a search for what is wrong, not a proof. Where no instance is found, Z3 is asked for
//! one, or proves that there is none.
//!
//! A file may say `# confluent inside out: reason` before its first rule. Then only pairs count whose operands are
//! normal forms already, and of which both leave an operand or both make ops: what leaves an operand is asked first.

use crate::amounts::contradict;
use crate::instances::{build, operands};
use crate::matching::{Built, Interpreted, Subject};
use crate::prove::{Both, Leaf, Meets, Solver, known_of, meet};
use crate::rule::{Exception, Rule, Term};
use crate::sample::Random;
use crate::terms::Terms;
use bounds::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, Type};
use std::collections::{BTreeMap, HashMap};

/// How many instances of a pair are made, how many where both rules applied to none of these, and how many both must
/// have applied to.
const INSTANCES: usize = 600;
const MORE_INSTANCES: usize = 8000;
const ENOUGH: usize = 30;

/// Two rules that may both apply.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Their numbers: the one that replaces the whole term, and the one that replaces it or a part of it.
    pub rules: (usize, usize),
    /// What is known.
    pub verdict: Joined,
}

/// What is known of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joined {
    /// Both came to the same each time.
    Joined,
    /// No instance was found to which both apply, nor a proof that there is none.
    Undecided,
    /// There is none: an op of what both match is a constant, and those are computed before rules are asked; or what
    /// both ask of shift amounts can't be; or Z3 proves that both never apply at once.
    NeverMeet,
    /// They don't, but a comment says why that is fine.
    Believed(String),
    /// They don't, but only where an operand could still be rewritten, or where one leaves an operand and the other
    /// makes ops: a walk that asks about operands before the ops that use them never has that choice (J. van de Pol, H.
    /// Zantema, "Generalized innermost rewriting", 2005). The term, and what each makes of it.
    ApartInside(String),
    /// They don't, here: the term, and what each makes of it.
    Apart(String),
}

/// The pairs of rules that may both apply to a term.
pub struct Pairs<'r> {
    rules: &'r Interpreted,
    by_root: HashMap<Opcode, Vec<usize>>,
}

impl<'r> Pairs<'r> {
    /// Those of these rules.
    pub fn new(rules: &'r Interpreted) -> Pairs<'r> {
        let mut by_root: HashMap<Opcode, Vec<usize>> = HashMap::new();
        for (at, rule) in rules.rules().iter().enumerate() {
            by_root.entry(rule.root().0).or_default().push(at);
        }
        Pairs { rules, by_root }
    }

    /// The pairs of the rule of this number with those whose patterns lie in its own. Where no instance is found, the
    /// solver is asked whether there is one, if there is a solver.
    pub fn of(&self, outer: usize, solver: Option<&Solver>) -> Vec<Pair> {
        let all = self.rules.rules();
        let one = &all[outer];
        let mut verdicts: BTreeMap<usize, Joined> = BTreeMap::new();
        let mut undecided: Vec<Overlap> = Vec::new();
        for overlap in self.overlaps(outer) {
            let never = overlap.is_computed() || overlap.is_contradictory();
            let next = if never { Joined::NeverMeet } else { overlap.instances(INSTANCES) };
            take_worse(&mut verdicts, overlap.inner, &next);
            if next == Joined::Undecided {
                undecided.push(overlap);
            }
        }
        // Where nothing else has shown more, it is looked for longer; and then the solver is asked.
        undecided.retain(|pair| verdicts[&pair.inner] == Joined::Undecided);
        undecided.iter().for_each(|pair| _ = verdicts.remove(&pair.inner));
        for pair in undecided {
            let next = match (pair.instances(MORE_INSTANCES), solver) {
                (Joined::Undecided, Some(solver)) => pair.search(solver),
                (verdict, _) => verdict,
            };
            take_worse(&mut verdicts, pair.inner, &next);
        }
        let pair = |(inner, verdict)| Pair { rules: (outer, inner), verdict: believed(verdict, one, &all[inner]) };
        verdicts.into_iter().map(pair).collect()
    }

    /// Where the patterns of rules lie in that of one.
    fn overlaps(&self, outer: usize) -> Vec<Overlap<'r>> {
        let all = self.rules.rules();
        let one = &all[outer];
        let mut found = Vec::new();
        for place in places(&one.pattern) {
            let part = at(&one.pattern, &place);
            let Term::Op(root, _) = part else { continue };
            // Both at the root: each pair once. A rule meets itself there where its pattern can be written in another
            // way.
            let others =
                self.by_root.get(root).into_iter().flatten().filter(|inner| !place.is_empty() || **inner >= outer);
            for inner in others {
                let other = &all[*inner];
                let is_itself = place.is_empty() && *inner == outer;
                let ways = self.rules.ways(*inner).iter().enumerate().skip(usize::from(is_itself));
                for (way, pattern) in ways.filter(|(_, way)| !clash(part, way)) {
                    let other_pattern = renamed(pattern, one.vars.len());
                    let mut unified = vec![None; one.vars.len() + other.vars.len()];
                    if unify(part, &other_pattern, (one, other), &mut unified) {
                        let (rules, inner, place) = (self.rules, *inner, place.clone());
                        found.push(Overlap { rules, outer, inner, place, way, other_pattern, unified });
                    }
                }
            }
        }
        found
    }
}

/// Whether there is an op in a term that is a constant, whatever its variables are: all of its operands are constants,
/// or what is known of what it gives leaves no more than one number.
fn is_computed(term: &Term, rules: (&Rule, &Rule), unified: &[Option<Term>]) -> bool {
    let number = |term: &Term| match found(term, unified) {
        Term::Int(_) | Term::Float(_) => true,
        Term::Var(var) => is_constant(rules, var),
        Term::Op(..) => false,
    };
    match found(term, unified) {
        Term::Op(_, args) => {
            args.iter().all(number)
                || args.iter().any(|arg| is_computed(arg, rules, unified))
                || known_of(&resolved(term, unified), &vec![None; unified.len()]).is_constant()
        }
        _ => false,
    }
}

/// Whether terms are of different shape, whatever their variables are: most are, and are told apart by that.
fn clash(one: &Term, other: &Term) -> bool {
    match (one, other) {
        (Term::Op(one, args), Term::Op(other, others)) => {
            one != other || args.iter().zip(others).any(|(one, other)| clash(one, other))
        }
        (Term::Int(one), Term::Int(other)) => one.value::<64>() != other.value::<64>(),
        (Term::Op(..), Term::Int(_) | Term::Float(_)) | (Term::Int(_) | Term::Float(_), Term::Op(..)) => true,
        _ => false,
    }
}

/// Keeps the worse of what is known of a pair.
fn take_worse(verdicts: &mut BTreeMap<usize, Joined>, inner: usize, next: &Joined) {
    let rank = |joined: &Joined| match joined {
        Joined::NeverMeet => 0,
        Joined::Undecided => 1,
        Joined::Joined => 2,
        Joined::Believed(_) => 3,
        Joined::ApartInside(_) => 4,
        Joined::Apart(_) => 5,
    };
    let before = verdicts.entry(inner).or_insert(Joined::NeverMeet);
    if rank(before) < rank(next) {
        *before = next.clone();
    }
}

fn believed(verdict: Joined, one: &Rule, other: &Rule) -> Joined {
    let says = |rule: &Rule, of: &Rule| {
        rule.exceptions.iter().find_map(|exception| match exception {
            Exception::Confluent { with, reason } if *with == of.name => Some(reason.clone()),
            _ => None,
        })
    };
    match (&verdict, says(one, other).or_else(|| says(other, one))) {
        (Joined::Apart(_) | Joined::ApartInside(_), Some(reason)) => Joined::Believed(reason),
        _ => verdict,
    }
}

/// Where there are ops in a term, the root first.
fn places(term: &Term) -> Vec<Vec<usize>> {
    let Term::Op(_, args) = term else { return Vec::new() };
    let inner = args
        .iter()
        .enumerate()
        .flat_map(|(at, arg)| places(arg).into_iter().map(move |place| [vec![at], place].concat()));
    [Vec::new()].into_iter().chain(inner).collect()
}

fn at<'t>(term: &'t Term, place: &[usize]) -> &'t Term {
    place.iter().fold(term, |term, arg| match term {
        Term::Op(_, args) => &args[*arg],
        _ => unreachable!("a place is one of the term's"),
    })
}

/// A term with the numbers of its variables moved.
fn renamed(term: &Term, by: usize) -> Term {
    match term {
        Term::Op(op, args) => Term::Op(*op, args.iter().map(|arg| renamed(arg, by)).collect()),
        Term::Var(var) => Term::Var(var + by),
        other => other.clone(),
    }
}

/// Whether a variable, numbered over both rules, matches constants only.
fn is_constant((one, other): (&Rule, &Rule), var: usize) -> bool {
    match var.checked_sub(one.vars.len()) {
        Some(var) => other.vars[var].is_constant(),
        None => one.vars[var].is_constant(),
    }
}

fn ty((one, other): (&Rule, &Rule), var: usize) -> Type {
    var.checked_sub(one.vars.len()).map_or_else(|| one.vars[var].ty(), |var| other.vars[var].ty())
}

/// Makes two terms equal, if that goes.
fn unify(a: &Term, b: &Term, rules: (&Rule, &Rule), unified: &mut Vec<Option<Term>>) -> bool {
    let (a, b) = (found(a, unified), found(b, unified));
    match (&a, &b) {
        _ if a == b => true,
        (Term::Op(one, args), Term::Op(other, others)) => {
            one == other && args.iter().zip(others).all(|(a, b)| unify(a, b, rules, unified))
        }
        (Term::Var(one), Term::Var(other)) => {
            // What matches constants only goes on doing so.
            let (from, to) = if is_constant(rules, *one) { (*other, &a) } else { (*one, &b) };
            unified[from] = Some(to.clone());
            true
        }
        (Term::Var(var), term) | (term, Term::Var(var)) => {
            let is_op = matches!(term, Term::Op(..));
            if is_op && (is_constant(rules, *var) || occurs(*var, term, unified)) {
                return false;
            }
            unified[*var] = Some(term.clone());
            true
        }
        (Term::Int(one), Term::Int(other)) => one.value::<64>() == other.value::<64>(),
        _ => false,
    }
}

fn found(term: &Term, unified: &[Option<Term>]) -> Term {
    match term {
        Term::Var(var) => unified[*var].as_ref().map_or_else(|| term.clone(), |term| found(term, unified)),
        _ => term.clone(),
    }
}

/// A term with all that its variables are.
fn resolved(term: &Term, unified: &[Option<Term>]) -> Term {
    match found(term, unified) {
        Term::Op(op, args) => Term::Op(op, args.iter().map(|arg| resolved(arg, unified)).collect()),
        other => other,
    }
}

fn occurs(var: usize, term: &Term, unified: &[Option<Term>]) -> bool {
    term.vars()
        .into_iter()
        .any(|own| own == var || unified[own].as_ref().is_some_and(|term| occurs(var, term, unified)))
}

/// Where the pattern of one rule lies in that of another, or in its own.
struct Overlap<'r> {
    rules: &'r Interpreted,
    outer: usize,
    inner: usize,
    place: Vec<usize>,
    /// In which of its ways the inner rule's pattern is written.
    way: usize,
    other_pattern: Term,
    unified: Vec<Option<Term>>,
}

/// What comes of one instance.
enum Tried {
    /// Not both apply.
    NotBoth,
    Joined,
    ApartInside(String),
    Apart(String),
}

impl Overlap<'_> {
    fn both(&self) -> (&Rule, &Rule) {
        let all = self.rules.rules();
        (&all[self.outer], &all[self.inner])
    }

    fn is_computed(&self) -> bool {
        is_computed(&self.both().0.pattern, self.both(), &self.unified)
    }

    /// Whether the checks of both contradict each other.
    fn is_contradictory(&self) -> bool {
        let (one, other) = self.both();
        let is: Vec<Term> = (0..self.unified.len()).map(|var| found(&Term::Var(var), &self.unified)).collect();
        contradict(one, other, &is)
    }

    /// Instances at random.
    fn instances(&self, most: usize) -> Joined {
        let (one, other) = self.both();
        let mut random = Random::new(self.outer as u64 * 1009 + self.inner as u64);
        let mut joined = 0;
        let mut inside = None;
        for _ in 0..most {
            let mut terms = Terms::default();
            let wanted = (0..self.unified.len()).map(|var| (ty((one, other), var), is_constant((one, other), var)));
            let values = operands(&mut terms, &mut random, wanted);
            match self.try_one(terms, &values) {
                Tried::NotBoth => {}
                Tried::Joined => joined += 1,
                Tried::Apart(told) => return Joined::Apart(told),
                Tried::ApartInside(told) => {
                    inside = inside.or(Some(told));
                    // Another instance would say no more.
                    if !self.may_be_apart() {
                        break;
                    }
                }
            }
            if joined >= ENOUGH {
                break;
            }
        }
        match inside {
            Some(told) => Joined::ApartInside(told),
            None if joined > 0 => Joined::Joined,
            None => Joined::Undecided,
        }
    }

    /// An instance that Z3 finds, or that there is none.
    fn search(&self, solver: &Solver) -> Joined {
        let (one, other) = self.both();
        let same: Vec<Option<Term>> =
            self.unified.iter().map(|term| term.as_ref().map(|term| resolved(term, &self.unified))).collect();
        let whole = resolved(&one.pattern, &self.unified);
        let tried = |leaves: &[Option<Leaf>]| {
            let mut terms = Terms::default();
            let values: Vec<Operand> = leaves
                .iter()
                .enumerate()
                .map(|(var, leaf)| match leaf {
                    Some(Leaf::Value(bound)) => {
                        bound.get_constant_int().map_or_else(|| terms.unknown(*bound), Operand::int)
                    }
                    Some(Leaf::Constant(bits)) => match ty((one, other), var) {
                        Type::Float => Operand::Const(Const::Float(*bits as u64)),
                        Type::Single => Operand::Const(Const::Single(*bits as u32)),
                        _ => Operand::int(*bits),
                    },
                    None => terms.unknown(IntBound::unbounded()),
                })
                .collect();
            match self.try_one(terms, &values) {
                Tried::NotBoth => None,
                Tried::Joined => Some(Joined::Joined),
                Tried::Apart(told) => Some(Joined::Apart(told)),
                Tried::ApartInside(told) => Some(Joined::ApartInside(told)),
            }
        };
        match meet(&Both { rules: (one, other), whole: &whole, same: &same }, solver, tried) {
            Meets::Never => Joined::NeverMeet,
            Meets::There(verdict) => verdict,
            Meets::Unknown => Joined::Undecided,
        }
    }

    /// Whether it would matter if they were apart: where operands are asked about before ops, one of two rules at the
    /// same place is chosen by the order alone only if both leave an operand, or none.
    fn may_be_apart(&self) -> bool {
        let (one, other) = self.both();
        self.place.is_empty() && one.rank() == other.rank()
    }

    /// Uses both rules on an instance, and all rules after that.
    fn try_one(&self, mut terms: Terms, values: &[Operand]) -> Tried {
        let (one, other) = self.both();
        let whole = build(&mut terms, &one.pattern, &self.unified, values);
        let part = build(&mut terms, &self.other_pattern, &self.unified, values);
        // What is constant isn't asked about.
        if terms.constant(whole).is_some() || terms.constant(part).is_some() {
            return Tried::NotBoth;
        }
        let Some(a) = use_rule(&mut terms, self.rules, (self.outer, 0), whole) else { return Tried::NotBoth };
        let Some(b) = use_rule(&mut terms, self.rules, (self.inner, self.way), part) else { return Tried::NotBoth };
        let replaced = terms.built(&b);
        let other_whole = replace(&mut terms, whole, &self.place, replaced);
        let whole_replaced = terms.built(&a);
        let (first, second) = (terms.normal(whole_replaced, self.rules), terms.normal(other_whole, self.rules));
        if first == second && first.is_some() {
            return Tried::Joined;
        }
        let shown = |end: Option<Operand>| end.map_or("something without end".to_owned(), |end| terms.show(end));
        let told = format!(
            "{}: {} makes {}, {} makes {}",
            terms.show(whole),
            one.name,
            shown(first),
            other.name,
            shown(second)
        );
        let operands = Subject::definition(&terms, whole).map(|(_, args)| args.to_vec()).unwrap_or_default();
        let mut is_normal = |operand: &Operand| terms.normal(*operand, self.rules) == Some(*operand);
        match self.may_be_apart() && operands.iter().all(&mut is_normal) {
            true => Tried::Apart(told),
            false => Tried::ApartInside(told),
        }
    }
}

/// What one rule makes of an operand, if it applies.
fn use_rule(terms: &mut Terms, rules: &Interpreted, rule: (usize, usize), operand: Operand) -> Option<Built> {
    let (op, args) = Subject::definition(terms, operand)?;
    rules.ask_way(rule, op, args, terms)
}

/// A term with another one at a place inside of it.
fn replace(terms: &mut Terms, whole: Operand, place: &[usize], by: Operand) -> Operand {
    let Some((first, rest)) = place.split_first() else { return by };
    let Some((op, mut args)) = Subject::definition(terms, whole).map(|(op, args)| (op, args.to_vec())) else {
        return whole;
    };
    args[*first] = replace(terms, args[*first], rest, by);
    terms.op(op, &args)
}
