//! What the generator knows while it writes: the items, the variables in scope, and how much a run may cost.

use super::types::{Items, Ty};
use flowgraph::testing::Source;

/// Who may use a variable at the moment: part of it may be borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lock {
    /// Anybody.
    Free,
    /// It may be read.
    Write,
    /// It may not be named.
    All,
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub name: String,
    pub ty: Ty,
    pub mutable: bool,
    pub lock: Lock,
    /// A parameter that is known when compiling.
    pub green: bool,
}

/// A loop, or a block with a label.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub label: Option<String>,
    /// What `break` takes with it.
    pub value: Option<Ty>,
    pub is_loop: bool,
}

/// The most operations that a function may take, about.
pub(super) const COST: u64 = 6_000;

/// How deep expressions nest.
pub(super) const DEPTH: usize = 4;

/// Writes programs.
pub(super) struct Generator<'s, 'b> {
    pub source: &'s mut Source<'b>,
    pub items: Items,
    pub vars: Vec<Var>,
    pub targets: Vec<Target>,
    /// How many names have been given.
    pub names: usize,
    /// How often what is being written runs, at most.
    pub weight: u64,
    /// What the function that is being written costs so far.
    pub cost: u64,
    /// Above zero nothing may be changed, and nowhere gone: what is written is a guard or part of a place.
    pub frozen: usize,
    /// What the function gives.
    pub result: Ty,
    /// How many blocks are around.
    pub nesting: usize,
    /// The function that is being written, if it may call itself, and how often it may still.
    pub itself: Option<(usize, usize)>,
    /// What is being written reads or writes bytes, or calls what does.
    pub does_io: bool,
    /// The function is a portal, which has one merge point.
    pub portal: bool,
    /// Nothing may trap: the function is elidable, and a call of it may be dropped.
    pub tame: bool,
    /// Whether an arm of a match may end in a jump: one that doesn't comes later.
    pub may_leave: bool,
    /// Functions that only some programs need.
    pub wanted: std::collections::BTreeSet<&'static str>,
}

impl<'s, 'b> Generator<'s, 'b> {
    pub fn new(source: &'s mut Source<'b>) -> Generator<'s, 'b> {
        Generator {
            source,
            items: Items::default(),
            vars: Vec::new(),
            targets: Vec::new(),
            names: 0,
            weight: 1,
            cost: 0,
            frozen: 0,
            result: Ty::Unit,
            nesting: 0,
            itself: None,
            does_io: false,
            portal: false,
            tame: false,
            may_leave: false,
            wanted: Default::default(),
        }
    }

    /// A name that nothing else has.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Brings a variable into scope.
    pub fn declare(&mut self, name: &str, ty: &Ty, mutable: bool) {
        let (name, ty, lock) = (name.to_owned(), ty.clone(), Lock::Free);
        self.vars.push(Var { name, ty, mutable, lock, green: false });
    }

    /// What `work` brings into scope goes out of it again.
    pub fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.vars.len();
        let done = work(self);
        self.vars.truncate(before);
        done
    }

    /// In `work` nothing is changed.
    pub fn freeze<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.frozen += 1;
        let done = work(self);
        self.frozen -= 1;
        done
    }

    /// In `work` a variable can be used less.
    pub fn locked<T>(&mut self, var: usize, lock: Lock, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.vars[var].lock;
        self.vars[var].lock = before.max(lock);
        let done = work(self);
        self.vars[var].lock = before;
        done
    }

    /// `work` runs `times` as often.
    pub fn repeated<T>(&mut self, times: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.weight;
        self.weight *= times;
        let done = work(self);
        self.weight = before;
        done
    }

    /// Whether something that costs so much may stand here.
    pub fn affords(&self, cost: u64) -> bool {
        self.cost + self.weight * cost <= COST
    }

    /// Whether no bytes are left to choose by.
    pub fn is_tired(&self) -> bool {
        self.source.is_empty()
    }

    /// One of some choices, by weight.
    pub fn choose(&mut self, weights: &[usize]) -> usize {
        let mut at = self.source.below(weights.iter().sum());
        for (choice, weight) in weights.iter().enumerate() {
            if at < *weight {
                return choice;
            }
            at -= weight;
        }
        0
    }
}

/// Lines between braces.
pub(super) fn braces(lines: &[String]) -> String {
    if lines.is_empty() {
        return "{}".to_owned();
    }
    let mut text = String::from("{\n");
    for line in lines.iter().flat_map(|l| l.lines()) {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('}');
    text
}
