//! What a state knows about memory.
//!
//! Exclusive memory (behind `&mut`, or a local) is held in the state, not in the residual code: a store is remembered
//! and made only where somebody else may look, and a load of what is remembered costs nothing. Two kinds of places:
//!
//! * a [`Slot`] is a local aggregate that has no address yet: nothing of it exists in the residual code until it is
//!   *forced* (a red index, a call that is handed its reference);
//! * a [`Location`] of [`KnownMemory`] is a place at a constant offset from a root ([`RootId`]): the memory behind an
//!   exclusive reference that residual code has. `dirty` locations differ from what really lies there and are *flushed*
//!   before a call that is handed the reference, a return, a trap, and any access that may alias them.
//!
//! Exclusivity belongs to the root that an address was derived from, not to the reference: `p.x` read through a `&T`
//! that was made from a `&mut` is found under that root.

use crate::specialize::state::Red;
use flowgraph::ir::{Access, Const, MemDesc};
use litemap::LiteMap;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// Where an exclusive address was derived from: a `&mut` that came from outside, or a slot that has been forced. Memory
/// under one root is disjoint from that under every other. Numbers are never used again within a run of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RootId(pub u32);

/// How an address follows from a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Provenance {
    /// The root.
    pub root: RootId,
    /// The offset from it in bytes, where that is a constant.
    pub offset: Option<i64>,
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// From no exclusive root: what its descriptor says is true of it. (Or it is no address at all.)
    #[default]
    Outside,
    /// From this root.
    Root(Provenance),
    /// Perhaps from one of several roots: reads see all of them, writes may change any.
    Unknown,
}

impl Origin {
    /// The origin of an address `by` bytes (if constant) further on.
    pub fn moved(self, by: Option<i64>) -> Origin {
        match self {
            Origin::Root(p) => {
                Origin::Root(Provenance { root: p.root, offset: p.offset.zip(by).map(|(o, k)| o.wrapping_add(k)) })
            }
            other => other,
        }
    }

    /// The origin of a value that is one of two.
    pub fn or(self, other: Origin) -> Origin {
        match (self, other) {
            (a, b) if a == b => a,
            (Origin::Root(a), Origin::Root(b)) if a.root == b.root => {
                Origin::Root(Provenance { root: a.root, offset: None })
            }
            _ => Origin::Unknown,
        }
    }
}

/// A scalar in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// How it lies there.
    pub access: Access,
    /// What it is.
    pub value: Red,
    /// The descriptor it was stored with, for the store that forcing makes.
    pub desc: Arc<MemDesc>,
}

/// Of so many places where zero has been stored, they are an array's rather than fields of a struct.
const ZEROS: usize = 9;

impl Cell {
    /// Whether it holds what bytes without a cell hold.
    pub fn is_zero(&self) -> bool {
        self.value.constant().and_then(Const::word) == Some(0)
    }
}

/// The scalars of a slot by offset, which never overlap. What is zero needs no cell; where zero has been stored is kept
/// apart, for who takes nothing to be constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    cells: Vec<(i64, Cell)>,
    /// Shared, as a slot is copied for each store and these hardly change.
    zeros: Rc<Vec<(i64, Cell)>>,
}

impl Cells {
    /// The scalar that begins at `offset`, if it isn't zero.
    pub fn get(&self, offset: i64) -> Option<&Cell> {
        self.cells.binary_search_by_key(&offset, |c| c.0).ok().map(|at| &self.cells[at].1)
    }

    /// All scalars that have a byte in common with the `size` bytes at `offset`.
    pub fn overlapping(&self, offset: i64, size: u32) -> impl Iterator<Item = &(i64, Cell)> {
        // A scalar has eight bytes at most.
        let from = self.cells.partition_point(|c| c.0 <= offset.saturating_sub(8));
        let near = self.cells[from..].iter().take_while(move |c| c.0 < offset.saturating_add(i64::from(size)));
        near.filter(move |(at, c)| ranges_overlap(*at, c.access.size(), offset, size))
    }

    /// Puts a scalar at `offset`, in the place of the one that begins there. It must overlap no other that isn't zero.
    pub fn insert(&mut self, offset: i64, cell: Cell) {
        self.forget_zeros(offset, cell.access.size());
        let found = self.cells.binary_search_by_key(&offset, |c| c.0);
        if cell.is_zero() {
            if let Ok(at) = found {
                self.cells.remove(at);
            }
            if self.zeros.len() < ZEROS {
                let at = self.zeros.partition_point(|zero| zero.0 < offset);
                Rc::make_mut(&mut self.zeros).insert(at, (offset, cell));
            }
            return;
        }
        match found {
            Ok(at) => self.cells[at].1 = cell,
            Err(at) => self.cells.insert(at, (offset, cell)),
        }
    }

    /// Forgets all scalars that have a byte in common with the `size` bytes at `offset`.
    pub fn remove_overlapping(&mut self, offset: i64, size: u32) {
        self.cells.retain(|(at, cell)| !ranges_overlap(*at, cell.access.size(), offset, size));
        self.forget_zeros(offset, size);
    }

    fn forget_zeros(&mut self, offset: i64, size: u32) {
        let overlaps = |(at, zero): &(i64, Cell)| ranges_overlap(*at, zero.access.size(), offset, size);
        if self.zeros.iter().any(overlaps) {
            Rc::make_mut(&mut self.zeros).retain(|zero| !overlaps(zero));
        }
    }

    /// All scalars with their offsets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &Cell)> {
        self.cells.iter().map(|(at, cell)| (*at, cell))
    }

    /// The places where zero has been stored last, ascending; nothing if they are many.
    pub fn zeros(&self) -> impl Iterator<Item = (i64, &Cell)> {
        let few = if self.zeros.len() < ZEROS { &self.zeros[..] } else { &[] };
        few.iter().map(|(at, cell)| (*at, cell))
    }

    /// How the scalar that begins at `offset` is accessed, also if it is zero.
    pub fn description(&self, offset: i64) -> Option<Arc<MemDesc>> {
        let all = self.cells.iter().chain(self.zeros.iter());
        all.filter(|(at, _)| *at == offset).map(|(_, cell)| cell.desc.clone()).next()
    }

    /// The values of all scalars.
    pub fn values(&self) -> impl Iterator<Item = Red> + '_ {
        self.cells.iter().map(|(_, cell)| cell.value)
    }

    /// Changes the values of all scalars.
    pub fn for_each_value(&mut self, mut change: impl FnMut(&mut Red)) {
        self.cells.iter_mut().for_each(|(_, cell)| change(&mut cell.value));
        self.cells.retain(|(_, cell)| !cell.is_zero());
    }
}

/// A local aggregate without an address. Bytes without a cell are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Size in bytes.
    pub size: u32,
    /// The source variable.
    pub name: Arc<str>,
    /// Its scalars.
    pub cells: Cells,
}

/// A place in real memory at a constant offset from a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// What it holds.
    pub value: Red,
    /// Whether real memory differs.
    pub dirty: bool,
    /// If it does: how many sides of branches may have a store of their own of what is there.
    pub copies: u8,
    /// The descriptor, relative to the root's address and with stride 0.
    pub desc: Arc<MemDesc>,
}

/// Where an access goes, as offsets from a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The least offset that it may have.
    pub lowest: i64,
    /// The greatest.
    pub highest: i64,
    /// It is known to be this one offset.
    pub is_one: bool,
}

impl Reach {
    /// It may go anywhere.
    pub const ANYWHERE: Reach = Reach { lowest: i64::MIN, highest: i64::MAX, is_one: false };

    /// It goes to this offset.
    pub fn to(offset: i64) -> Reach {
        Reach { lowest: offset, highest: offset, is_one: true }
    }

    /// Whether an access of so many bytes may share one with another access.
    pub fn may_overlap(self, size: u32, other: Reach, others: u32) -> bool {
        let end = |reach: Reach, size: u32| i128::from(reach.highest) + i128::from(size);
        i128::from(self.lowest) < end(other, others) && i128::from(other.lowest) < end(self, size)
    }
}

/// The key of a location: root, byte offset, access.
pub type Place = (RootId, i64, Access);

/// What the very same access would load: an element at a red index, or a shared field. It is remembered until a store
/// or a call may change it, or paths meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The base operand.
    pub base: Red,
    /// The index operand of an element.
    pub index: Option<Red>,
    /// The descriptor.
    pub desc: Arc<MemDesc>,
    /// What it holds; real memory holds it too.
    pub value: Red,
    /// The root of exclusive memory; none of shared memory.
    pub root: Option<RootId>,
}

impl Element {
    /// Whether it says which version a cell has that is written rarely. That is true on a way until something is called
    /// or such a cell is written, and names no value of residual code.
    pub fn is_version(&self) -> bool {
        self.desc.is_version()
            && self.index.is_none()
            && self.base.constant().is_some()
            && self.value.constant().is_some()
    }
}

/// So many elements are remembered at a time: each load looks through all.
const MOST_ELEMENTS: usize = 32;

/// What is known about real memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownMemory {
    /// The addresses of the roots that places are known under, or that registers are derived from.
    pub roots: LiteMap<RootId, Red>,
    /// Places at constant offsets.
    pub places: LiteMap<Place, Location>,
    /// Elements at red indices: those seen last.
    pub elements: VecDeque<Element>,
    /// Roots whose address lies somewhere in memory: they are no longer exclusive.
    pub escaped: Vec<RootId>,
}

/// Whether `[a, a + n)` and `[b, b + m)` share a byte.
pub fn ranges_overlap(a: i64, n: u32, b: i64, m: u32) -> bool {
    let (a, b) = (i128::from(a), i128::from(b));
    a < b + i128::from(m) && b < a + i128::from(n)
}

impl KnownMemory {
    /// Replaces `old` by `new` in what places and elements hold.
    pub fn substitute(&mut self, old: Red, new: Red) {
        for (_, address) in &mut self.roots {
            if *address == old {
                *address = new;
            }
        }
        for (_, location) in &mut self.places {
            if location.value == old {
                location.value = new;
            }
        }
        for element in &mut self.elements {
            if element.value == old {
                element.value = new;
            }
            if element.index == Some(old) {
                element.index = Some(new);
            }
        }
    }

    /// The places under `root` that an access may touch.
    pub fn touched(&self, root: RootId, reach: Reach, desc: &MemDesc) -> Vec<Place> {
        // A scalar has eight bytes at most.
        let from = (root, reach.lowest.saturating_sub(8), Access::I8);
        let first = self.places.find_index(&from).unwrap_or_else(|at| at);
        (first..self.places.len())
            .filter_map(|at| self.places.get_indexed(at))
            .take_while(|((of, at, _), _)| *of == root && *at <= reach.highest.saturating_add(8))
            .filter(|((_, at, access), location)| {
                reach.may_overlap(desc.access.size(), Reach::to(*at), access.size())
                    && (reach.is_one || MemDesc::classes_may_alias(&location.desc.class, &desc.class))
            })
            .map(|(place, _)| *place)
            .collect()
    }

    /// Remembers an element, in the place of the oldest if there are many.
    pub fn remember(&mut self, element: Element) {
        if self.elements.len() == MOST_ELEMENTS {
            self.elements.pop_front();
        }
        self.elements.push_back(element);
    }

    /// Forgets what is known of shared memory: a call may have changed it.
    pub fn forget_shared(&mut self) {
        self.elements.retain(|e| e.root.is_some());
    }

    /// The dirty places for which `which` says yes, in order.
    pub fn dirty(&self, mut which: impl FnMut(RootId) -> bool) -> Vec<Place> {
        self.places.iter().filter(|(p, l)| l.dirty && which(p.0)).map(|(p, _)| *p).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_by_bytes() {
        assert!(ranges_overlap(0, 8, 4, 8));
        assert!(!ranges_overlap(0, 8, 8, 8));
        assert!(ranges_overlap(i64::MAX - 1, 8, i64::MAX, 1));
    }
}
