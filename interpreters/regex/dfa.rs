//! From a nondeterministic automaton to the table of a deterministic one.

use super::lang::{Range, State};
use super::nfa::{Nfa, Node};
use crate::error::{LoadError, ProblemKind};
use std::collections::{BTreeSet, HashMap};

/// The most states that there may be before minimization.
const MOST: usize = 2_000;

/// A deterministic automaton; it begins in state 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dfa {
    /// Its states.
    pub states: Vec<State>,
    /// Their ranges.
    pub ranges: Vec<Range>,
}

/// A state that is being built: a set of nodes that read, and whether a match has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Set {
    nodes: Vec<usize>,
    accepts: bool,
    accepts_at_end: bool,
}

impl Dfa {
    /// The automaton that finds a match of a pattern anywhere in a text.
    ///
    /// # Errors
    /// What is wrong with the pattern, not supported, or too large.
    pub fn of_pattern(pattern: &str) -> Result<Dfa, LoadError> {
        Subsets::new(&Nfa::of_pattern(pattern)?).build().map(|table| table.minimized())
    }
}

/// The construction of subsets.
struct Subsets<'n> {
    nfa: &'n Nfa,
    /// The greatest byte of each class of bytes that no node tells apart.
    classes: Vec<u8>,
    sets: Vec<Set>,
    known: HashMap<Set, usize>,
}

/// States with a successor for each class of bytes.
struct Table {
    classes: Vec<u8>,
    sets: Vec<Set>,
    next: Vec<Vec<usize>>,
}

impl<'n> Subsets<'n> {
    fn new(nfa: &'n Nfa) -> Subsets<'n> {
        let mut ends = BTreeSet::from([255]);
        for node in &nfa.nodes {
            if let Node::Byte(from, to, _) = node {
                ends.extend(from.checked_sub(1));
                ends.insert(*to);
            }
        }
        Subsets { nfa, classes: ends.into_iter().collect(), sets: Vec::new(), known: HashMap::new() }
    }

    fn build(mut self) -> Result<Table, LoadError> {
        let start = self.closure(vec![self.nfa.start], true);
        self.number(start)?;
        let mut next = Vec::new();
        while let Some(set) = self.sets.get(next.len()).cloned() {
            if set.accepts {
                next.push(vec![next.len(); self.classes.len()]); // nobody reads on
                continue;
            }
            let mut row = Vec::with_capacity(self.classes.len());
            for at in 0..self.classes.len() {
                let byte = self.classes[at];
                // A match may begin at every byte.
                let mut reached = vec![self.nfa.start];
                for node in &set.nodes {
                    if let Node::Byte(from, to, then) = self.nfa.nodes[*node]
                        && (from..=to).contains(&byte)
                    {
                        reached.push(then);
                    }
                }
                let reached = self.closure(reached, false);
                row.push(self.number(reached)?);
            }
            next.push(row);
        }
        Ok(Table { classes: self.classes, sets: self.sets, next })
    }

    /// What can be reached without reading.
    fn closure(&self, mut work: Vec<usize>, at_start: bool) -> Set {
        // Nodes by whether they are reached only at the end of the text.
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        let mut at_end: Vec<usize> = Vec::new();
        for only_at_end in [false, true] {
            while let Some(node) = work.pop() {
                if seen[0].contains(&node) || !seen[usize::from(only_at_end)].insert(node) {
                    continue;
                }
                match &self.nfa.nodes[node] {
                    Node::Split(arms) => work.extend(arms),
                    Node::AtStart(then) if at_start => work.push(*then),
                    Node::AtEnd(then) => {
                        if only_at_end {
                            work.push(*then)
                        } else {
                            at_end.push(*then)
                        }
                    }
                    Node::AtStart(_) | Node::Byte(..) | Node::Match => {}
                }
            }
            work = std::mem::take(&mut at_end);
        }
        let matches = |nodes: &BTreeSet<usize>| nodes.iter().any(|n| self.nfa.nodes[*n] == Node::Match);
        let accepts = matches(&seen[0]);
        let reads = |n: &usize| matches!(self.nfa.nodes[*n], Node::Byte(..));
        let nodes = seen[0].iter().copied().filter(reads).collect();
        Set { nodes, accepts, accepts_at_end: accepts || matches(&seen[1]) }
    }

    fn number(&mut self, set: Set) -> Result<usize, LoadError> {
        if let Some(known) = self.known.get(&set) {
            return Ok(*known);
        }
        if self.sets.len() >= MOST {
            return Err(ProblemKind::PatternTooLarge { what: "states", most: MOST }.into());
        }
        self.known.insert(set.clone(), self.sets.len());
        self.sets.push(set);
        Ok(self.sets.len() - 1)
    }
}

impl Table {
    /// States that nothing tells apart become one (Moore).
    fn minimized(self) -> Dfa {
        let mut part: Vec<usize> =
            self.sets.iter().map(|s| usize::from(s.accepts) * 2 + usize::from(s.accepts_at_end)).collect();
        let mut count = 0;
        loop {
            let mut numbers = HashMap::new();
            let refined: Vec<usize> = (0..part.len())
                .map(|state| {
                    let successors: Vec<usize> = self.next[state].iter().map(|s| part[*s]).collect();
                    let fresh = numbers.len();
                    *numbers.entry((part[state], successors)).or_insert(fresh)
                })
                .collect();
            part = refined;
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        let mut states: Vec<Option<State>> = vec![None; count];
        let mut ranges: Vec<Range> = Vec::new();
        for (state, number) in part.iter().enumerate() {
            if states[*number].is_some() {
                continue;
            }
            let (set, first) = (&self.sets[state], ranges.len());
            for (class, to) in self.next[state].iter().map(|s| part[*s]).zip(&self.classes) {
                match ranges[first..].last_mut() {
                    Some(range) if range.next == class => range.to = *to,
                    _ => ranges.push(Range { to: *to, next: class }),
                }
            }
            let (accepts, accepts_at_end) = (set.accepts, set.accepts_at_end);
            let last = ranges.len() - 1;
            let dead = !accepts_at_end && ranges[first].to == 255 && ranges[first].next == *number;
            states[*number] = Some(State { accepts, accepts_at_end, dead, first, last });
        }
        Dfa { states: states.into_iter().flatten().collect(), ranges }
    }
}
