//! What branches have taught about residual values, on the path of one state.
//!
//! States fork at every split, and facts only grow on the way to the next merge: so the facts of a state are a tree
//! whose branches states share, and that is copied where it is written to, along one path from the root. A fork is a
//! pointer. As long as there are but few of them, they stand in a row.

use bounds::IntBound;
use flowgraph::ir::{Const, ValueId};
use std::rc::Rc;

/// The bits of a value's number that one node tells apart.
const BITS: u32 = 3;

/// The places of a node.
const WIDTH: usize = 1 << BITS;

/// What is known about one value.
#[derive(Clone, Copy, Debug)]
struct Fact {
    bound: IntBound,
    known: Option<Const>,
}

const NOTHING: Fact = Fact { bound: IntBound::unbounded(), known: None };

#[derive(Clone, Debug)]
enum Node {
    Inner([Option<Rc<Node>>; WIDTH]),
    Leaf(Box<[Fact; WIDTH]>),
}

/// So many facts stand in a row.
const ROW: usize = 8;

/// Facts about residual values that hold on this path.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The facts learned last, by value, which are no longer true in the tree.
    row: Option<Rc<Vec<(ValueId, Fact)>>>,
    root: Option<Rc<Node>>,
    /// The levels of inner nodes above the leaves.
    levels: u32,
}

fn place(value: ValueId, level: u32) -> usize {
    (value.0 >> (BITS * level)) as usize & (WIDTH - 1)
}

impl Facts {
    fn get(&self, value: ValueId) -> Option<&Fact> {
        let in_row = self.row.as_ref().and_then(|row| row.iter().find(|(v, _)| *v == value));
        match in_row {
            Some((_, fact)) => Some(fact),
            None => self.in_tree(value),
        }
    }

    fn in_tree(&self, value: ValueId) -> Option<&Fact> {
        // Shifting by all bits and more is no shift for a processor.
        let beyond = u64::from(value.0) >> (BITS * (self.levels + 1)) != 0;
        let mut node = self.root.as_deref().filter(|_| !beyond)?;
        let mut level = self.levels;
        loop {
            match node {
                Node::Leaf(facts) => return Some(&facts[place(value, 0)]),
                Node::Inner(nodes) => node = nodes[place(value, level)].as_deref()?,
            }
            level -= 1;
        }
    }

    fn set(&mut self, value: ValueId, fact: Fact) {
        let row = Rc::make_mut(self.row.get_or_insert_default());
        if let Some((_, old)) = row.iter_mut().find(|(v, _)| *v == value) {
            *old = fact;
            return;
        }
        if row.len() < ROW {
            row.push((value, fact));
            return;
        }
        let row = std::mem::replace(row, vec![(value, fact)]);
        for (value, fact) in row {
            *self.place_in_tree(value) = fact;
        }
    }

    fn place_in_tree(&mut self, value: ValueId) -> &mut Fact {
        while u64::from(value.0) >> (BITS * (self.levels + 1)) != 0 {
            self.levels += 1;
            if let Some(root) = self.root.take() {
                let mut nodes = [const { None }; WIDTH];
                nodes[0] = Some(root);
                self.root = Some(Rc::new(Node::Inner(nodes)));
            }
        }
        let mut node = &mut self.root;
        let mut level = self.levels;
        loop {
            let new = || match level {
                0 => Rc::new(Node::Leaf(Box::new([NOTHING; WIDTH]))),
                _ => Rc::new(Node::Inner([const { None }; WIDTH])),
            };
            match Rc::make_mut(node.get_or_insert_with(new)) {
                Node::Leaf(facts) => return &mut facts[place(value, 0)],
                Node::Inner(nodes) => node = &mut nodes[place(value, level)],
            }
            level -= 1;
        }
    }

    /// The bound that this path has narrowed the value down to.
    pub fn bound(&self, value: ValueId) -> IntBound {
        self.get(value).map_or(NOTHING.bound, |fact| fact.bound)
    }

    /// What the value is, if this path has decided it.
    pub fn known(&self, value: ValueId) -> Option<Const> {
        self.get(value)?.known
    }

    /// The value lies within this bound, too.
    pub fn narrow(&mut self, value: ValueId, to: IntBound) {
        let Fact { bound, known } = self.get(value).copied().unwrap_or(NOTHING);
        if !bound.implies(to) {
            // Where nothing is in both nobody comes.
            self.set(value, Fact { bound: bound.meet(to).unwrap_or(to), known });
        }
    }

    /// The value is this constant.
    pub fn decide(&mut self, value: ValueId, constant: Const) {
        let Fact { bound, .. } = self.get(value).copied().unwrap_or(NOTHING);
        self.set(value, Fact { bound, known: Some(constant) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_share_what_they_knew_and_differ_in_what_they_learn() {
        let from = |v: u32| IntBound::from_range(i64::from(v), i64::MAX).unwrap();
        let mut facts = Facts::default();
        for v in (0..5_000).step_by(7) {
            facts.narrow(ValueId(v), from(v));
        }
        let before = facts.clone();
        facts.narrow(ValueId(700), IntBound::from_range(0, 900).unwrap());
        facts.decide(ValueId(u32::MAX), Const::Int(1));
        assert_eq!(facts.bound(ValueId(700)), IntBound::from_range(700, 900).unwrap());
        assert_eq!(before.bound(ValueId(700)), from(700));
        assert_eq!(facts.known(ValueId(u32::MAX)), Some(Const::Int(1)));
        assert_eq!(before.known(ValueId(u32::MAX)), None);
        for v in 0..5_000 {
            let expected = if v % 7 == 0 { from(v) } else { IntBound::unbounded() };
            assert_eq!(before.bound(ValueId(v)), expected, "v{v}");
            assert_eq!(before.known(ValueId(v)), None, "v{v}");
        }
    }
}
