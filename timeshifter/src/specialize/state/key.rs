//! The key of a merge: where a state stands, with its greens. Of the states that wait under one key one version is made.
//!
//! Versions are looked up by [`KeyOf`], which reads a state's frames as they are; a [`Key`] is made of it where something
//! is kept under it. Most joins are passed by one state alone, and need none.

use crate::specialize::state::stacks::StackId;
use crate::specialize::state::{Frame, GraphIx, State};
use flowgraph::ir::{BlockId, Const, ValueId};
use indexmap::Equivalent;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The key of a merge: every frame's position and live greens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The frames that wait at calls.
    pub outer: StackId,
    /// The innermost one.
    pub frame: KeyFrame,
    /// The fragment, where versions of this key can't be entered from others.
    pub fragment: Option<usize>,
    /// A red register of the innermost frame that is about to decide a split, where it is known.
    pub decided: Option<(ValueId, Const)>,
}

/// One frame of a [`Key`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFrame {
    /// The graph.
    pub graph: GraphIx,
    /// The block.
    pub block: BlockId,
    /// The op index.
    pub index: u32,
    /// The live greens.
    pub greens: SmallVec<[(ValueId, Const); 2]>,
}

impl Hash for KeyFrame {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.graph, self.block, self.index).hash(hasher);
        self.greens.iter().for_each(|green| green.hash(hasher));
    }
}

/// The key that a trimmed state has, or one of its frames: equal to it, and hashed like it.
#[derive(Clone, Copy, Hash)]
pub(crate) struct KeyOf<'a> {
    pub outer: StackId,
    pub frame: KeyFrameOf<'a>,
    pub fragment: Option<usize>,
    pub decided: Option<(ValueId, Const)>,
}

/// The same of one frame.
#[derive(Clone, Copy)]
pub(crate) struct KeyFrameOf<'a>(pub &'a Frame);

impl<'a> KeyOf<'a> {
    /// Of a state, for versions in this fragment alone, if any.
    pub fn new(st: &'a State, fragment: Option<usize>) -> KeyOf<'a> {
        KeyOf { outer: st.outer(), frame: KeyFrameOf(st.frame()), fragment, decided: None }
    }

    pub fn make(self) -> Key {
        Key { outer: self.outer, frame: self.frame.make(), fragment: self.fragment, decided: self.decided }
    }
}

impl KeyFrameOf<'_> {
    pub fn make(self) -> KeyFrame {
        let Frame { graph, block, index, ref regs, .. } = *self.0;
        KeyFrame { graph, block, index, greens: regs.greens().collect() }
    }
}

impl Hash for KeyFrameOf<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.0.graph, self.0.block, self.0.index).hash(hasher);
        self.0.regs.greens().for_each(|green| green.hash(hasher));
    }
}

impl Equivalent<Key> for KeyOf<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        (self.outer, self.fragment, self.decided) == (key.outer, key.fragment, key.decided)
            && self.frame.equivalent(&key.frame)
    }
}

impl Equivalent<KeyFrame> for KeyFrameOf<'_> {
    fn equivalent(&self, frame: &KeyFrame) -> bool {
        (self.0.graph, self.0.block, self.0.index) == (frame.graph, frame.block, frame.index)
            && self.0.regs.greens().eq(frame.greens.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specialize::state::stacks::{Rank, Stacks};
    use crate::specialize::state::{Red, Reg, Regs};
    use rustc_hash::FxBuildHasher;
    use std::hash::BuildHasher;
    use std::rc::Rc;

    fn frame(index: u32, greens: &[i64]) -> Frame {
        let mut regs = Regs::default();
        for (at, green) in greens.iter().enumerate() {
            regs.set(ValueId(2 * at as u32), Reg::Green(Const::Int(*green)));
            regs.set(ValueId(2 * at as u32 + 1), Reg::Red(Red::Const(Const::Int(*green))));
        }
        Frame { graph: GraphIx(1), block: BlockId(2), index, stack: None, regs, greens: Rc::from([]) }
    }

    #[test]
    fn a_state_has_the_key_that_is_made_of_it_and_no_other() {
        let mut stacks = Stacks::default();
        let mut on = |below: &[Frame], last: Frame| {
            let push = |stack, frame: &Frame| stacks.push(stack, frame, Rank::Position(0, 0));
            let outer = below.iter().fold(StackId::EMPTY, push);
            (outer, last)
        };
        let states = [
            on(&[], frame(3, &[4, 5])),
            on(&[], frame(3, &[4, 6])),
            on(&[], frame(3, &[4])),
            on(&[], frame(4, &[4])),
            on(&[frame(3, &[4, 5])], frame(3, &[])),
            on(&[frame(3, &[])], frame(3, &[4, 5])),
        ];
        let places = [(None, None), (Some(7), None), (None, Some((ValueId(1), Const::Int(1))))];
        let of = |(outer, frame)| places.map(|(fragment, decided)| KeyOf { outer, frame, fragment, decided });
        let all: Vec<KeyOf<'_>> = states.iter().flat_map(|(outer, frame)| of((*outer, KeyFrameOf(frame)))).collect();
        for (at, of) in all.iter().enumerate() {
            for (other, key) in all.iter().map(|of| of.make()).enumerate() {
                assert_eq!(of.equivalent(&key), at == other, "{at} and {other}");
                let hashes = (FxBuildHasher.hash_one(of), FxBuildHasher.hash_one(&key));
                assert_eq!(hashes.0 == hashes.1, at == other, "{at} and {other}");
            }
        }
    }
}
