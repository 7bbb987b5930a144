//! Sequences that are joined and bracketed at little cost.

use std::collections::VecDeque;

/// A sequence. Joining two moves the items of the shorter one, so that a program of n items costs n log n moves however it
/// is joined; putting something around one costs nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence<T>(VecDeque<T>);

impl<T> Default for Sequence<T> {
    fn default() -> Sequence<T> {
        Sequence(VecDeque::new())
    }
}

impl<T> Sequence<T> {
    /// A sequence of one.
    pub fn of(item: T) -> Sequence<T> {
        Sequence(VecDeque::from([item]))
    }

    /// This one, then the other.
    #[must_use]
    pub fn join(mut self, mut then: Sequence<T>) -> Sequence<T> {
        if self.0.len() >= then.0.len() {
            self.0.append(&mut then.0);
            return self;
        }
        while let Some(item) = self.0.pop_back() {
            then.0.push_front(item);
        }
        then
    }

    /// This one between two items.
    #[must_use]
    pub fn between(mut self, before: T, after: T) -> Sequence<T> {
        self.0.push_front(before);
        self.0.push_back(after);
        self
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl<T> IntoIterator for Sequence<T> {
    type Item = T;
    type IntoIter = std::collections::vec_deque::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
