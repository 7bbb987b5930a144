//! Going through a function for all that it may decide.
//!
//! A comparison of words asks [`decide`]. A function is run once for each way its decisions can go, and what it gives
//! becomes one term: a choice for each decision ([`summary`]). So a caller sees one result, with few decisions left: is
//! there a bound at all, is it true. What would panic is gathered as a term, too.

use crate::term::{Term, choice, either, isnt, name, truth};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// More ways than this through one function are too many.
const WAYS: usize = 200_000;

/// What a function gives that may be one of several: terms, as many for each of them. Those without a meaning aren't
/// there.
pub trait Merge: Sized {
    /// The widths of the terms.
    fn widths(found: &mut Vec<u32>);
    /// Its terms.
    fn put(&self, found: &mut Vec<Option<Term>>);
    /// From its terms; asks where it has to be one or the other.
    fn take(terms: &mut impl Iterator<Item = Term>) -> Self;

    /// Its terms, as a list.
    fn terms(&self) -> Vec<Option<Term>> {
        let mut found = Vec::new();
        self.put(&mut found);
        found
    }
}

/// What has been decided on the way that is gone now.
#[derive(Default)]
struct Way {
    ahead: Vec<bool>,
    decided: Vec<(Term, bool)>,
    panics: Vec<Term>,
}

#[derive(Clone)]
struct Summary {
    terms: Rc<Vec<Option<Term>>>,
    panics: Term,
}

/// What is known of what a function gives, where that is taken for what it computes: from the terms of its parameters,
/// and the widths of those that it gives.
pub type Contract = Rc<dyn Fn(&[Term], &[u32]) -> Vec<Term>>;

#[derive(Default)]
struct State {
    ways: Vec<Way>,
    known: HashMap<(&'static str, Vec<Option<Term>>), Summary>,
    contracts: HashMap<&'static str, Contract>,
    facts: Vec<Term>,
    names: usize,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Forgets all that was gone through; from now on these functions are known by what they promise alone.
pub fn begin(contracts: &[(&'static str, Contract)]) {
    crate::term::forget();
    STATE.with_borrow_mut(|state| {
        *state = State { contracts: contracts.iter().cloned().collect(), ..State::default() };
    });
}

/// From now on these functions are known by what they promise alone.
pub fn begin_with(contracts: &[(&'static str, Contract)]) {
    STATE.with_borrow_mut(|state| state.contracts = contracts.iter().cloned().collect());
}

/// What is true of what was taken for functions.
pub fn facts() -> Vec<Term> {
    STATE.with_borrow(|state| state.facts.clone())
}

/// Something that is true.
pub fn fact(holds: Term) {
    STATE.with_borrow_mut(|state| state.facts.push(holds));
}

/// A name of its own.
pub fn fresh(what: &str, width: u32) -> Term {
    let number = STATE.with_borrow_mut(|state| {
        state.names += 1;
        state.names
    });
    name(&format!("{what}.{number}"), width)
}

/// Whether something is so, on the way that is gone now.
pub fn decide(condition: Term) -> bool {
    if let Some(value) = condition.value() {
        return value != 0;
    }
    STATE.with_borrow_mut(|state| {
        let way = state.ways.last_mut().expect("words are compared inside of a function");
        let isnt = isnt(condition);
        for (before, taken) in &way.decided {
            if *before == condition {
                return *taken;
            }
            if *before == isnt {
                return !taken;
            }
        }
        let taken = way.ahead.get(way.decided.len()).copied().unwrap_or(true);
        way.decided.push((condition, taken));
        taken
    })
}

/// Says that the program would panic if this were so.
pub fn panics_if(condition: Term) {
    if condition.value() != Some(0) {
        STATE.with_borrow_mut(|state| state.ways.last_mut().expect("inside of a function").panics.push(condition));
    }
}

/// The end of a way that panics.
struct Never;

/// For `unreachable!`.
pub fn never() -> ! {
    resume_unwind(Box::new(Never))
}

/// The terms of parameters.
pub fn key(parameters: &[&dyn Key]) -> Vec<Option<Term>> {
    let mut found = Vec::new();
    parameters.iter().for_each(|parameter| parameter.key(&mut found));
    found
}

/// What is known by its terms.
pub trait Key {
    /// Its terms.
    fn key(&self, found: &mut Vec<Option<Term>>);
}

impl<T: Merge> Key for T {
    fn key(&self, found: &mut Vec<Option<Term>>) {
        self.put(found);
    }
}

impl<T: Merge> Key for &[T] {
    fn key(&self, found: &mut Vec<Option<Term>>) {
        self.iter().for_each(|part| part.put(found));
    }
}

impl Key for flowgraph::ir::Opcode {
    fn key(&self, found: &mut Vec<Option<Term>>) {
        found.push(Some(name(self.name(), 0)));
    }
}

/// A way's end: what it gives, unless it panics, and what panics on it.
type Leaf = (Vec<(Term, bool)>, Option<Vec<Option<Term>>>, Term);

/// What a function gives, for all its decisions, and where it panics.
pub fn summary<R: Merge>(name: &'static str, key: Option<Vec<Option<Term>>>, body: impl Fn() -> R) -> R {
    let known = key.as_ref().and_then(|key| STATE.with_borrow(|state| state.known.get(&(name, key.clone())).cloned()));
    let found = known.unwrap_or_else(|| {
        let contract = STATE.with_borrow(|state| state.contracts.get(name).cloned());
        let found = match (contract, &key) {
            (Some(contract), Some(key)) => promised::<R>(key, &contract),
            _ => gone_through(name, body),
        };
        if let Some(key) = key {
            STATE.with_borrow_mut(|state| state.known.insert((name, key), found.clone()));
        }
        found
    });
    if found.panics.value() == Some(1) {
        never();
    }
    if STATE.with_borrow(|state| !state.ways.is_empty()) {
        panics_if(found.panics);
    }
    let mut widths = Vec::new();
    R::widths(&mut widths);
    let mut terms =
        found.terms.iter().zip(widths).map(|(term, width)| term.unwrap_or_else(|| crate::term::number(0, width)));
    R::take(&mut terms)
}

/// What a function gives and where it panics, from outside of all functions.
pub fn terms_of<R: Merge>(body: impl Fn() -> R) -> (Vec<Term>, Term) {
    let found = gone_through("what is asked", body);
    let mut widths = Vec::new();
    R::widths(&mut widths);
    let terms = found.terms.iter().zip(widths);
    (terms.map(|(term, width)| term.unwrap_or_else(|| crate::term::number(0, width))).collect(), found.panics)
}

fn promised<R: Merge>(key: &[Option<Term>], contract: &Contract) -> Summary {
    let mut widths = Vec::new();
    R::widths(&mut widths);
    let parameters: Vec<Term> = key.iter().map(|term| term.unwrap_or(truth(false))).collect();
    // What it isn't promised for is as bad as a panic.
    let (terms, panics) = aside(|| contract(&parameters, &widths));
    Summary { terms: Rc::new(terms.into_iter().map(Some).collect()), panics }
}

/// What something gives, and what it says to panic, beside all ways.
fn aside<R>(body: impl Fn() -> R) -> (R, Term) {
    STATE.with_borrow_mut(|state| state.ways.push(Way::default()));
    let given = body();
    let way = STATE.with_borrow_mut(|state| state.ways.pop().unwrap_or_default());
    (given, way.panics.into_iter().fold(truth(false), either))
}

fn gone_through<R: Merge>(name: &str, body: impl Fn() -> R) -> Summary {
    let mut leaves: Vec<Leaf> = Vec::new();
    let mut ahead = Vec::new();
    loop {
        let depth = STATE.with_borrow_mut(|state| {
            state.ways.push(Way { ahead, ..Way::default() });
            state.ways.len()
        });
        let given = catch_unwind(AssertUnwindSafe(|| body().terms()));
        let way = STATE.with_borrow_mut(|state| {
            state.ways.truncate(depth);
            state.ways.pop().unwrap_or_default()
        });
        let (given, panics) = match given {
            Ok(terms) => (Some(terms), way.panics.iter().copied().fold(truth(false), either)),
            Err(panic) if panic.is::<Never>() => (None, truth(true)),
            Err(panic) => resume_unwind(panic),
        };
        let next = way.decided.iter().rposition(|(_, taken)| *taken);
        ahead = match next {
            Some(at) => way.decided[..at].iter().map(|(_, taken)| *taken).chain([false]).collect(),
            None => Vec::new(),
        };
        leaves.push((way.decided, given, panics));
        assert!(leaves.len() < WAYS, "{name} decides too much");
        if next.is_none() {
            break;
        }
    }
    let (terms, panics) = merged(&leaves, 0);
    Summary { terms: Rc::new(terms.unwrap_or_default()), panics }
}

/// One of the ends, for what is decided from a depth on.
fn merged(leaves: &[Leaf], depth: usize) -> (Option<Vec<Option<Term>>>, Term) {
    if let [(decided, terms, panics)] = leaves
        && decided.len() == depth
    {
        return (terms.clone(), *panics);
    }
    let condition = leaves[0].0[depth].0;
    let at = leaves.partition_point(|(decided, ..)| decided[depth].1);
    let ((a, a_panics), (b, b_panics)) = (merged(&leaves[..at], depth + 1), merged(&leaves[at..], depth + 1));
    let panics = choice(condition, a_panics, b_panics);
    let terms = match (a, b) {
        (Some(a), Some(b)) => {
            let one = |(a, b): (Option<Term>, Option<Term>)| match (a, b) {
                (Some(a), Some(b)) => Some(choice(condition, a, b)),
                (a, b) => a.or(b),
            };
            Some(a.into_iter().zip(b).map(one).collect())
        }
        (a, b) => a.or(b),
    };
    (terms, panics)
}

impl Merge for bool {
    fn widths(found: &mut Vec<u32>) {
        found.push(0);
    }

    fn put(&self, found: &mut Vec<Option<Term>>) {
        found.push(Some(truth(*self)));
    }

    fn take(terms: &mut impl Iterator<Item = Term>) -> Self {
        decide(terms.next().expect("as many as were put"))
    }
}

impl<T: Merge> Merge for Option<T> {
    fn widths(found: &mut Vec<u32>) {
        found.push(0);
        T::widths(found);
    }

    fn put(&self, found: &mut Vec<Option<Term>>) {
        found.push(Some(truth(self.is_some())));
        match self {
            Some(value) => value.put(found),
            None => {
                let mut widths = Vec::new();
                T::widths(&mut widths);
                found.extend(widths.iter().map(|_| None));
            }
        }
    }

    fn take(terms: &mut impl Iterator<Item = Term>) -> Self {
        let is_some = terms.next().expect("as many as were put");
        // What isn't there is skipped all the same.
        let mut widths = Vec::new();
        T::widths(&mut widths);
        let own: Vec<Term> = terms.take(widths.len()).collect();
        decide(is_some).then(|| T::take(&mut own.into_iter()))
    }
}

impl<A: Merge, B: Merge> Merge for (A, B) {
    fn widths(found: &mut Vec<u32>) {
        A::widths(found);
        B::widths(found);
    }

    fn put(&self, found: &mut Vec<Option<Term>>) {
        self.0.put(found);
        self.1.put(found);
    }

    fn take(terms: &mut impl Iterator<Item = Term>) -> Self {
        (A::take(terms), B::take(terms))
    }
}

/// Of how many there are the parts are; how many that is doesn't depend on decisions.
impl<T: Merge + Copy, const N: usize> Merge for SmallVec<[T; N]> {
    fn widths(found: &mut Vec<u32>) {
        found.push(32);
        (0..N).for_each(|_| T::widths(found));
    }

    fn put(&self, found: &mut Vec<Option<Term>>) {
        found.push(Some(crate::term::number(self.len() as u128, 32)));
        let mut widths = Vec::new();
        T::widths(&mut widths);
        for at in 0..N {
            match self.get(at) {
                Some(part) => part.put(found),
                None => found.extend(widths.iter().map(|_| None)),
            }
        }
    }

    fn take(terms: &mut impl Iterator<Item = Term>) -> Self {
        let len = terms.next().and_then(Term::value).expect("how many there are is known");
        let mut widths = Vec::new();
        T::widths(&mut widths);
        let rest: Vec<Term> = terms.take(widths.len() * N).collect();
        rest.chunks(widths.len()).take(len as usize).map(|own| T::take(&mut own.iter().copied())).collect()
    }
}
