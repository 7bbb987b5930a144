//! The stacks of frames that wait at calls, each once.
//!
//! Frames below the innermost one stay as they are while that one runs: where each of them stands, and with which
//! greens, is found out when it begins to wait. A stack is a frame on another stack, so that to know a deep one costs what
//! its topmost frame does (hash consing). What it is ordered by is a list of all frames, made once where that is asked.

use crate::specialize::engine::FxIndexMap;
use crate::specialize::state::key::{KeyFrame, KeyFrameOf};
use crate::specialize::state::{Frame, GraphIx};
use flowgraph::ir::{BlockId, Const};
use indexmap::Equivalent;
use std::cell::OnceCell;
use std::hash::Hash;
use std::rc::Rc;

/// A stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackId(u32);

impl StackId {
    /// The one without frames.
    pub const EMPTY: StackId = StackId(u32::MAX);
}

/// Where the frames of a stack stand, whatever their greens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PositionsId(u32);

impl PositionsId {
    const NONE: PositionsId = PositionsId(u32::MAX);
}

/// What states that wait are ordered by: a block's number in the order, with the op's, and then the greens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Position(u32, u32),
    Green(Const),
}

/// What is known of a stack.
#[derive(Debug)]
struct Stack {
    positions: PositionsId,
    has_greens: bool,
    /// That of its topmost frame's position.
    rank: Rank,
    /// Those of all frames, outermost first, as soon as somebody has asked.
    ranks: OnceCell<Rc<[Rank]>>,
}

/// A frame, and the stack that it is on.
type OnStack = (StackId, KeyFrame);

/// All stacks that there have been.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    stacks: FxIndexMap<OnStack, Stack>,
    positions: FxIndexMap<(PositionsId, GraphIx, BlockId, u32), ()>,
}

/// The same to look with.
#[derive(Hash)]
struct FrameOn<'a>(StackId, KeyFrameOf<'a>);

impl Equivalent<OnStack> for FrameOn<'_> {
    fn equivalent(&self, (below, frame): &OnStack) -> bool {
        self.0 == *below && self.1.equivalent(frame)
    }
}

impl Stacks {
    /// The stack of a frame that begins to wait on another. `rank` is that of its position.
    pub fn push(&mut self, below: StackId, frame: &Frame, rank: Rank) -> StackId {
        let on = FrameOn(below, KeyFrameOf(frame));
        if let Some(index) = self.stacks.get_index_of(&on) {
            return StackId(index as u32);
        }
        let frame = on.1.make();
        let positions = self.positions_on(below, &frame);
        let has_greens = self.has_greens(below) || !frame.greens.is_empty();
        let stack = Stack { positions, has_greens, rank, ranks: OnceCell::new() };
        StackId(self.stacks.insert_full((below, frame), stack).0 as u32)
    }

    fn positions_on(&mut self, below: StackId, frame: &KeyFrame) -> PositionsId {
        let at = (self.positions(below), frame.graph, frame.block, frame.index);
        PositionsId(self.positions.insert_full(at, ()).0 as u32)
    }

    fn get(&self, stack: StackId) -> Option<(&OnStack, &Stack)> {
        self.stacks.get_index(stack.0 as usize)
    }

    /// Where its frames stand.
    pub fn positions(&self, stack: StackId) -> PositionsId {
        self.get(stack).map_or(PositionsId::NONE, |(_, stack)| stack.positions)
    }

    /// Whether any of its frames has greens.
    pub fn has_greens(&self, stack: StackId) -> bool {
        self.get(stack).is_some_and(|(_, stack)| stack.has_greens)
    }

    /// What it is ordered by.
    pub fn ranks(&self, stack: StackId) -> Rc<[Rank]> {
        let Some((_, asked)) = self.get(stack) else { return Rc::from([]) };
        let ranks = asked.ranks.get_or_init(|| {
            let mut ranks = Vec::new();
            for (frame, Stack { rank, .. }) in self.each(stack) {
                ranks.extend(frame.greens.iter().rev().map(|(_, green)| Rank::Green(*green)));
                ranks.push(*rank);
            }
            ranks.reverse();
            Rc::from(ranks)
        });
        ranks.clone()
    }

    /// Its frames, innermost first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = &KeyFrame> {
        self.each(stack).map(|(frame, _)| frame)
    }

    fn each(&self, mut stack: StackId) -> impl Iterator<Item = (&KeyFrame, &Stack)> {
        std::iter::from_fn(move || {
            let ((below, frame), of) = self.get(stack)?;
            stack = *below;
            Some((frame, of))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specialize::state::{Reg, Regs};
    use flowgraph::ir::ValueId;

    fn frame(index: u32, green: Option<i64>) -> Frame {
        let mut regs = Regs::default();
        if let Some(green) = green {
            regs.set(ValueId(0), Reg::Green(Const::Int(green)));
        }
        Frame { graph: GraphIx(1), block: BlockId(2), index, stack: None, regs, greens: Rc::from([]) }
    }

    #[test]
    fn a_stack_is_one_of_its_frames_in_their_order() {
        let mut stacks = Stacks::default();
        let mut push = |below, index, green| stacks.push(below, &frame(index, green), Rank::Position(0, index));
        let [a, b] = [push(StackId::EMPTY, 3, None), push(StackId::EMPTY, 4, Some(1))];
        let ab = push(a, 4, Some(1));
        let ba = push(b, 3, None);
        let other = push(a, 4, Some(2));
        assert_eq!([push(StackId::EMPTY, 3, None), push(a, 4, Some(1))], [a, ab]);
        assert!(ab != ba && ab != other && ba != other);
        let indices = |stack| stacks.frames(stack).map(|frame| frame.index).collect::<Vec<_>>();
        assert_eq!([indices(ab), indices(ba), indices(StackId::EMPTY)], [vec![4, 3], vec![3, 4], vec![]]);
        assert_eq!(stacks.positions(ab), stacks.positions(other));
        assert_ne!(stacks.positions(ab), stacks.positions(ba));
        assert_eq!(
            [StackId::EMPTY, a, b, ab, ba].map(|stack| stacks.has_greens(stack)),
            [false, false, true, true, true]
        );
        let (once, again) = (stacks.ranks(ab), stacks.ranks(ab));
        assert_eq!(once[..], [Rank::Position(0, 3), Rank::Position(0, 4), Rank::Green(Const::Int(1))]);
        assert!(Rc::ptr_eq(&once, &again), "what lies on one stack is told from that");
        assert!(stacks.ranks(StackId::EMPTY).is_empty());
    }
}
