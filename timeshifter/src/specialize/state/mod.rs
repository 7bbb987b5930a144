//! The state of the specializer: plain data, so that a fork is a clone and a snapshot a clone cut to what is live.
//!
//! A state is a stack of frames, each a position in a compiler graph with its registers; what is known about memory
//! ([`memory`]); facts about residual values; and the residual block that is being filled. A register holds a *green*
//! constant, known because the colors say so, or a *red* operand: a constant that a merge may forget, a value of the
//! residual code, or a place in a virtual slot.
//!
//! ```text
//! facts    what branches have taught about residual values
//! key      what states have in common that may be one version
//! memory   what is known about memory, real and virtual
//! stacks   frames that wait at calls
//! ```

pub(super) mod facts;
pub(super) mod key;
pub(super) mod memory;
pub(super) mod stacks;

use crate::specialize::event::GuestPosition;
use crate::specialize::state::facts::Facts;
pub use crate::specialize::state::key::{Key, KeyFrame};
use crate::specialize::state::memory::{KnownMemory, Slot};
use crate::specialize::state::stacks::StackId;
use flowgraph::ir::{BlockId, Const, ValueId};
use litemap::LiteMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// A graph of the loaded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GraphIx(pub u32);

/// A virtual slot of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(pub u32);

/// A red operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Red {
    /// Known, for now.
    Const(Const),
    /// A value of the residual graph.
    Value(ValueId),
    /// An address inside a virtual slot: the slot and a byte offset.
    Slot(SlotId, i64),
}

impl Red {
    /// The constant, if it is one.
    pub fn constant(self) -> Option<Const> {
        match self {
            Red::Const(c) => Some(c),
            _ => None,
        }
    }

    /// The constant integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        self.constant().and_then(Const::as_int)
    }
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// Known when compiling.
    Green(Const),
    /// Known, if at all, when running.
    Red(Red),
}

impl Reg {
    /// As a red operand.
    pub fn red(self) -> Red {
        match self {
            Reg::Green(c) => Red::Const(c),
            Reg::Red(r) => r,
        }
    }
}

/// Registers by value, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regs(Vec<(ValueId, Reg)>);

/// As many registers as most frames gather between two marks.
const ROOM: usize = 12;

impl Regs {
    /// None yet, with room for so many.
    pub(crate) fn with_capacity(registers: usize) -> Regs {
        Regs(Vec::with_capacity(registers))
    }

    /// The same, and with room for what comes to them until the next mark.
    pub(crate) fn with_room(registers: usize) -> Regs {
        Regs::with_capacity(registers + ROOM)
    }

    /// A copy with such room.
    fn with_room_of(&self) -> Regs {
        let mut regs = Regs::with_room(self.len());
        regs.0.extend_from_slice(&self.0);
        regs
    }

    /// Gives back the room for more.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The register of `value`.
    pub fn get(&self, value: ValueId) -> Option<Reg> {
        // Most operands are what has just been set.
        match self.0.last() {
            Some((last, reg)) if *last == value => Some(*reg),
            _ => self.0.binary_search_by_key(&value, |r| r.0).ok().map(|i| self.0[i].1),
        }
    }

    /// Sets the register of `value`.
    pub fn set(&mut self, value: ValueId, reg: Reg) {
        // Most values are set in the order in which they are defined.
        if self.0.last().is_none_or(|(last, _)| *last < value) {
            self.0.push((value, reg));
            return;
        }
        match self.0.binary_search_by_key(&value, |r| r.0) {
            Ok(i) => self.0[i].1 = reg,
            Err(i) => self.0.insert(i, (value, reg)),
        }
    }

    /// Appends the register of a value above all others.
    pub(crate) fn push(&mut self, value: ValueId, reg: Reg) {
        debug_assert!(self.0.last().is_none_or(|(last, _)| *last < value));
        self.0.push((value, reg));
    }

    /// All registers, by value.
    pub fn iter(&self) -> impl Iterator<Item = &(ValueId, Reg)> {
        self.0.iter()
    }

    /// The green ones, by value.
    pub(crate) fn greens(&self) -> impl Iterator<Item = (ValueId, Const)> {
        self.0.iter().filter_map(|(value, reg)| match reg {
            Reg::Green(constant) => Some((*value, *constant)),
            Reg::Red(_) => None,
        })
    }

    /// All registers, by value, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (ValueId, Reg)> {
        self.0.iter_mut()
    }

    /// The registers of `live`, which ascend.
    pub(crate) fn kept(&self, live: &[ValueId]) -> Regs {
        let mut kept = Regs(Vec::with_capacity(live.len()));
        kept.0.extend(live.iter().filter_map(|value| Some((*value, self.get(*value)?))));
        kept
    }

    /// Forgets all registers but those of `live`, which ascend.
    pub(crate) fn keep(&mut self, mut live: &[ValueId]) {
        self.0.retain(|(value, _)| {
            while let [first, rest @ ..] = live
                && first < value
            {
                live = rest;
            }
            live.first() == Some(value)
        });
    }

    /// Forgets the registers of some values.
    pub(crate) fn forget(&mut self, values: &[ValueId]) {
        self.0.retain(|(value, _)| !values.contains(value));
    }
}

/// One function being executed: a position and its registers. All frames but the innermost stand at a call op.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The compiler graph.
    pub graph: GraphIx,
    /// The block.
    pub block: BlockId,
    /// The index of the op to be executed next; the number of ops for the terminator.
    pub index: u32,
    /// If it waits at a call, and has just the registers that are live behind that: the stack that it is on top of.
    pub stack: Option<StackId>,
    /// The registers.
    pub regs: Regs,
    /// The green arguments it was called with: with the graph, the key by which recursion is recognised.
    pub greens: Rc<[Const]>,
}

/// Values of the run that a trace follows, by residual value.
pub type Concrete = FxHashMap<ValueId, u64>;

/// The state.
#[derive(Clone, Debug)]
pub struct State {
    /// The frames, outermost first.
    pub frames: Vec<Frame>,
    /// The virtual slots that registers lead to.
    pub slots: LiteMap<SlotId, Rc<Slot>>,
    /// What is known about real memory.
    pub memory: KnownMemory,
    /// Facts about residual values.
    pub facts: Facts,
    /// The fragment being filled.
    pub fragment: usize,
    /// The block of the fragment being filled.
    pub block: BlockId,
    /// Whether the innermost frame has just arrived over a back edge.
    pub back: bool,
    /// Tracing: whether the guest has jumped back since the last merge point.
    pub jumped: bool,
    /// Whether the mark at the present position has been passed.
    pub passed: bool,
    /// The version in which this state is making its way, for counting what was folded.
    pub origin: Option<VersionId>,
    /// The key of the merge point or loop head passed last: green tuples at joins are counted under it.
    pub enclosing: Option<usize>,
    /// The merge point of the language that has been passed last, for events.
    pub at: Option<GuestPosition>,
    /// Tracing: the snapshot that the next guard may share.
    pub snapshot: Option<u32>,
    /// Tracing: the values of this very run.
    pub concrete: Option<Concrete>,
}

/// A version of a merge point: its key's index and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VersionId {
    /// Index of the key.
    pub key: usize,
    /// Index of the version under that key.
    pub version: usize,
}

impl State {
    /// A state without frames, at the entry of fragment 0.
    pub fn empty() -> State {
        State {
            frames: Vec::new(),
            slots: LiteMap::new_vec(),
            memory: KnownMemory::default(),
            facts: Facts::default(),
            fragment: 0,
            block: BlockId::ENTRY,
            back: false,
            jumped: false,
            passed: false,
            origin: None,
            enclosing: None,
            at: None,
            snapshot: None,
            concrete: None,
        }
    }

    /// A copy to go on with, while this one stays.
    pub(crate) fn continued(&self) -> State {
        let last = self.frames.len().saturating_sub(1);
        let copied = |(at, frame): (usize, &Frame)| {
            let regs = if at == last { frame.regs.with_room_of() } else { frame.regs.clone() };
            Frame { regs, greens: frame.greens.clone(), ..*frame }
        };
        State {
            frames: self.frames.iter().enumerate().map(copied).collect(),
            slots: self.slots.clone(),
            memory: self.memory.clone(),
            facts: self.facts.clone(),
            concrete: self.concrete.clone(),
            ..*self
        }
    }

    /// The innermost frame.
    ///
    /// # Panics
    /// If there is none: a state whose outermost frame has returned is not stepped again.
    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("a state that runs has a frame")
    }

    /// The innermost frame, to change.
    pub fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a state that runs has a frame")
    }

    /// The frames around the innermost one of a trimmed state.
    pub(crate) fn outer(&self) -> StackId {
        let around = self.frames.len().checked_sub(2).and_then(|at| self.frames.get(at));
        around.map_or(StackId::EMPTY, |frame| frame.stack.expect("frames of a trimmed state are on the stack"))
    }

    /// How much there is to copy, or to go through.
    pub(crate) fn size(&self) -> usize {
        let registers: usize = self.frames.iter().map(|f| f.regs.len()).sum();
        registers + self.slots.len() + self.memory.places.len() + self.memory.elements.len()
    }

    /// Replaces `old` by `new` everywhere.
    pub fn substitute(&mut self, old: Red, new: Red) {
        for frame in &mut self.frames {
            for (_, reg) in frame.regs.iter_mut() {
                if *reg == Reg::Red(old) {
                    *reg = Reg::Red(new);
                }
            }
        }
        for (_, slot) in &mut self.slots {
            if slot.cells.values().any(|value| value == old) {
                Rc::make_mut(slot).cells.for_each_value(|value| {
                    if *value == old {
                        *value = new;
                    }
                });
            }
        }
        self.memory.substitute(old, new);
    }

    /// The red registers in a fixed order: equal for states with equal keys.
    pub fn red_registers(&self) -> impl Iterator<Item = Red> + '_ {
        self.frames.iter().flat_map(|f| f.regs.iter()).filter_map(|(_, reg)| match reg {
            Reg::Red(red) => Some(*red),
            Reg::Green(_) => None,
        })
    }

    /// Forgets slots that no register leads to.
    pub fn drop_unreachable_slots(&mut self) {
        if self.slots.is_empty() {
            return;
        }
        let mut seen: SmallVec<[SlotId; 8]> = self.red_registers().filter_map(slot_of).collect();
        seen.sort_unstable();
        seen.dedup();
        let mut at = 0;
        while let Some(id) = seen.get(at).copied() {
            at += 1;
            for led_to in self.slots.get(&id).into_iter().flat_map(|slot| slot.cells.values()).filter_map(slot_of) {
                if !seen.contains(&led_to) {
                    seen.push(led_to);
                }
            }
        }
        self.slots.retain(|id, _| seen.contains(id));
    }
}

/// The slot that an operand points into.
pub fn slot_of(red: Red) -> Option<SlotId> {
    match red {
        Red::Slot(id, _) => Some(id),
        _ => None,
    }
}
