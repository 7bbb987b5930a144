//! Sets of small numbers.

/// A set of numbers below a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> BitSet {
        BitSet { words: vec![0; bound.div_ceil(64)] }
    }

    /// Whether `i` is in it.
    pub fn contains(&self, i: usize) -> bool {
        self.words.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 != 0)
    }

    /// Puts `i` in; whether it is new. Numbers at or above the bound are ignored.
    pub fn insert(&mut self, i: usize) -> bool {
        let Some(word) = self.words.get_mut(i / 64) else { return false };
        let old = *word;
        *word |= 1 << (i % 64);
        *word != old
    }

    /// Takes `i` out.
    pub fn remove(&mut self, i: usize) {
        if let Some(word) = self.words.get_mut(i / 64) {
            *word &= !(1 << (i % 64));
        }
    }

    /// Puts all of `other` in; whether anything is new.
    pub fn union(&mut self, other: &BitSet) -> bool {
        let mut new = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            new |= *more & !*word != 0;
            *word |= more;
        }
        new
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(i * 64 + bit)
            })
        })
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }
}
