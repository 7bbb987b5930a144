//! Scalars of slots that are read or written as others than they were stored as.
//!
//! The variants of an enum share their bytes: where one has a `u32` another may have two `u16`, and an `f64` where that
//! has an `i64`. As long as one way is followed nobody asks for the bytes of another variant. But a slot holds the same
//! scalars on all ways to a version, so where ways meet, and where one variant is stored over another, scalars are
//! taken apart and put together, as they would be by memory: the first byte is the lowest. That takes only ops that
//! nobody needs if nobody asks for what they give.
//!
//! Only numbers are treated so. An address would not be known any more for what it leads to.

use crate::specialize::engine::Engine;
use crate::specialize::error::SpecError;
use crate::specialize::state::memory::{Cell, Origin};
use crate::specialize::state::{Red, SlotId, State};
use bounds::IntBound;
use flowgraph::ir::{Access, Const, Loc, MemDesc, MemKind, Opcode, Type};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// Scalars with the offsets at which they lie.
type Placed = SmallVec<[(i64, Cell); 4]>;

/// A place in a slot that is to be one scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    pub(crate) slot: SlotId,
    pub(crate) offset: i64,
    pub(crate) access: Access,
}

impl Engine<'_> {
    /// What a load of a place in a slot gives, if the slot can say.
    pub(crate) fn load_slot(
        &mut self,
        st: &mut State,
        id: SlotId,
        offset: i64,
        access: Access,
        loc: Loc,
    ) -> Result<Option<Red>, SpecError> {
        let Some(slot) = st.slots.get(&id) else { return Ok(None) };
        let end = offset + i64::from(access.size());
        if offset < 0 || end > i64::from(slot.size) {
            return Ok(None);
        }
        if let Some(cell) = slot.cells.get(offset)
            && cell.access == access
        {
            return Ok(Some(cell.value));
        }
        let there: Placed = slot.cells.overlapping(offset, access.size()).cloned().collect();
        let inside = |(at, cell): &(i64, Cell)| *at >= offset && at + i64::from(cell.access.size()) <= end;
        if there.is_empty() {
            return Ok(Some(Red::Const(Const::from_word(access.ty(), 0))));
        }
        if there.iter().any(|(_, cell)| !self.is_number(st, cell.value)) {
            return Ok(None);
        }
        let bits = match &there[..] {
            [(at, cell)] if *at <= offset && at + i64::from(cell.access.size()) >= end => {
                let bits = self.bits(st, cell, loc)?;
                self.shifted(st, Opcode::UintRshift, bits, offset - at, loc)?
            }
            _ if there.iter().all(inside) => {
                let mut all = Red::Const(Const::Int(0));
                for (at, cell) in &there {
                    let bits = self.bits(st, cell, loc)?;
                    let part = self.shifted(st, Opcode::IntLshift, bits, at - offset, loc)?;
                    all = self.red_pure(st, Opcode::IntOr, &[all, part], loc)?[0];
                }
                all
            }
            _ => return Ok(None),
        };
        self.scalar(st, bits, access, loc).map(Some)
    }

    /// Stores into a slot. Gives whether it can hold the place as a scalar of its own.
    pub(crate) fn store_slot(
        &mut self,
        st: &mut State,
        id: SlotId,
        offset: i64,
        desc: &Arc<MemDesc>,
        value: Red,
        loc: Loc,
    ) -> Result<bool, SpecError> {
        let Some(slot) = st.slots.get(&id) else { return Ok(false) };
        let size = desc.access.size();
        if offset < 0 || offset + i64::from(size) > i64::from(slot.size) {
            return Ok(false);
        }
        let cell = Cell { access: desc.access, value, desc: desc.clone() };
        self.put(st, id, offset, cell, loc)
    }

    /// Makes a place of a slot one scalar of what lies there. Gives whether that can be.
    pub(crate) fn pack(&mut self, st: &mut State, pack: Pack, loc: Loc) -> Result<bool, SpecError> {
        let Pack { slot, offset, access } = pack;
        match self.load_slot(st, slot, offset, access, loc)? {
            Some(value) => self.put(st, slot, offset, packed(offset, access, value), loc),
            None => Ok(false),
        }
    }

    /// Makes a place of a slot one scalar of which nothing is known, in a state that nothing is emitted for. Gives
    /// whether that can be.
    pub(crate) fn vary_place(&mut self, st: &mut State, pack: Pack) -> bool {
        let Pack { slot: id, offset, access } = pack;
        let Some(slot) = st.slots.get(&id) else { return false };
        if slot.cells.overlapping(offset, access.size()).any(|(_, cell)| !self.is_number(st, cell.value)) {
            return false;
        }
        let fragment = &mut self.fragments[st.fragment];
        let value = fragment.new_value(access.ty());
        let (low, high) = access.range();
        fragment.info[value.index()].bound = IntBound::from_range(low, high).unwrap_or(IntBound::unbounded());
        let Some(slot) = st.slots.get_mut(&id) else { return false };
        let cells = &mut Rc::make_mut(slot).cells;
        cells.remove_overlapping(offset, access.size());
        cells.insert(offset, packed(offset, access, Red::Value(value)));
        true
    }

    /// Puts a scalar into a slot. What reaches beyond it is taken apart; gives whether that can be.
    fn put(&mut self, st: &mut State, id: SlotId, offset: i64, cell: Cell, loc: Loc) -> Result<bool, SpecError> {
        let size = cell.access.size();
        let end = offset + i64::from(size);
        let Some(slot) = st.slots.get(&id) else { return Ok(false) };
        let there: Placed = slot.cells.overlapping(offset, size).cloned().collect();
        let mut pieces = Placed::new();
        for (at, old) in there {
            let rest = [(at, offset), (end, at + i64::from(old.access.size()))];
            for (from, access) in rest.into_iter().flat_map(|(from, to)| scalars(from, to)) {
                if !self.is_number(st, old.value) {
                    return Ok(false);
                }
                let bits = self.bits(st, &old, loc)?;
                let bits = self.shifted(st, Opcode::UintRshift, bits, from - at, loc)?;
                let value = self.scalar(st, bits, access, loc)?;
                pieces.push((from, packed(from, access, value)));
            }
        }
        let Some(slot) = st.slots.get_mut(&id) else { return Ok(false) };
        let cells = &mut Rc::make_mut(slot).cells;
        cells.remove_overlapping(offset, size);
        for (at, cell) in pieces.into_iter().chain([(offset, cell)]) {
            cells.insert(at, cell);
        }
        Ok(true)
    }

    /// Whether what a slot holds is a number, and not perhaps an address that the state knows something about.
    fn is_number(&self, st: &State, value: Red) -> bool {
        let is_address = matches!(value, Red::Slot(..) | Red::Const(Const::Addr(..)));
        !is_address && self.origin(st, value) == Origin::Outside
    }

    /// The bytes of a scalar as an integer; those that it doesn't have are zero.
    fn bits(&mut self, st: &mut State, cell: &Cell, loc: Loc) -> Result<Red, SpecError> {
        let opcode = match cell.access {
            Access::F64 => Opcode::FloatToBits,
            Access::F32 => Opcode::SingleToBits,
            Access::I8 | Access::I16 | Access::I32 => {
                return self.truncated(st, cell.value, unsigned(cell.access.size()), loc);
            }
            Access::U8 | Access::Bool | Access::U16 | Access::U32 | Access::I64 => return Ok(cell.value),
        };
        Ok(self.red_pure(st, opcode, &[cell.value], loc)?[0])
    }

    /// What a load of the lowest bytes of an integer gives.
    fn scalar(&mut self, st: &mut State, bits: Red, access: Access, loc: Loc) -> Result<Red, SpecError> {
        let opcode = match access {
            Access::F64 => Opcode::BitsToFloat,
            Access::F32 => Opcode::BitsToSingle,
            _ => return self.truncated(st, bits, access, loc),
        };
        let bits = self.truncated(st, bits, unsigned(access.size()), loc)?;
        Ok(self.red_pure(st, opcode, &[bits], loc)?[0])
    }

    fn shifted(&mut self, st: &mut State, opcode: Opcode, bits: Red, bytes: i64, loc: Loc) -> Result<Red, SpecError> {
        if bytes == 0 {
            return Ok(bits);
        }
        Ok(self.red_pure(st, opcode, &[bits, Red::Const(Const::Int(8 * bytes))], loc)?[0])
    }
}

/// The places that slots with these scalars, sorted, must have in common before they can be met: one for all that have
/// bytes in common. Nothing if there is none that has all of theirs.
pub(crate) fn common_places(scalars: &[(i64, Access)]) -> Option<SmallVec<[(i64, Access); 2]>> {
    let end = |(at, access): (i64, Access)| at + i64::from(access.size());
    let mut common = SmallVec::new();
    let mut rest = scalars;
    while let Some(first) = rest.first().copied() {
        let (mut many, mut beyond) = (1, end(first));
        while let Some(next) = rest.get(many).filter(|next| next.0 < beyond) {
            beyond = beyond.max(end(*next));
            many += 1;
        }
        if many > 1 {
            let all = rest[..many].iter().find(|scalar| scalar.0 == first.0 && end(**scalar) == beyond)?;
            common.push((first.0, unsigned(all.1.size())));
        }
        rest = &rest[many..];
    }
    Some(common)
}

/// A scalar that is a part of others, or has parts of them, and so may be accessed as anything.
fn packed(offset: i64, access: Access, value: Red) -> Cell {
    let (class, field) = (MemDesc::ANY.into(), "".into());
    let desc = MemDesc { class, field, offset: offset as i32, stride: 0, access, kind: MemKind::Exclusive };
    debug_assert_eq!(access.ty() == Type::Int, !matches!(access, Access::F64 | Access::F32));
    Cell { access, value, desc: Arc::new(desc) }
}

/// An integer of so many bytes, as it lies in memory.
fn unsigned(bytes: u32) -> Access {
    match bytes {
        1 => Access::U8,
        2 => Access::U16,
        4 => Access::U32,
        _ => Access::I64,
    }
}

/// The bytes from one offset to another as few integers, each of which lies at a multiple of its size.
fn scalars(mut from: i64, to: i64) -> impl Iterator<Item = (i64, Access)> {
    std::iter::from_fn(move || {
        let fits = |bytes: &u32| from % i64::from(*bytes) == 0 && from + i64::from(*bytes) <= to;
        let access = unsigned([8, 4, 2, 1].into_iter().find(fits)?);
        from += i64::from(access.size());
        Some((from - i64::from(access.size()), access))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Access::{F64, I64, U8, U16, U32};

    #[test]
    fn what_has_bytes_in_common_has_one_place() {
        let common = |scalars: &[(i64, Access)]| common_places(scalars).map(|places| places.to_vec());
        assert_eq!(common(&[(0, U32), (4, U32), (8, I64)]), Some(vec![]));
        assert_eq!(common(&[(4, U16), (4, U32), (6, U16)]), Some(vec![(4, U32)]));
        assert_eq!(common(&[(0, U8), (8, I64), (8, F64), (16, U8), (16, U16)]), Some(vec![(8, I64), (16, U16)]));
        assert_eq!(common(&[(0, U16), (1, U16)]), None);
    }

    #[test]
    fn bytes_are_few_integers() {
        assert_eq!(scalars(1, 8).collect::<Vec<_>>(), [(1, U8), (2, U16), (4, U32)]);
        assert_eq!(scalars(8, 15).collect::<Vec<_>>(), [(8, U32), (12, U16), (14, U8)]);
        assert_eq!(scalars(8, 8).count() + scalars(8, 4).count(), 0);
    }
}
