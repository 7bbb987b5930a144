//! Snapshots in few bytes: there is one for every exit, and most are never looked at.
//!
//! All that a snapshot consists of is written one after the other as numbers of seven bits a byte (LEB128; signed ones
//! zigzag). Frames are kept once each and named by number: consecutive exits differ in the innermost frame alone, and
//! often not even in that. So are the slots that hold the same, and the descriptors of accesses. What is small and
//! common, as the number of a residual value, so takes a byte or two. PyPy does so, too (D. Schneider, C. F. Bolz, *The
//! Efficient Handling of Guards in the Design of RPython's Tracing JIT*, 2012).

use crate::specialize::FxIndexSet;
use crate::specialize::event::GuestPosition;
use crate::specialize::state::facts::Facts;
use crate::specialize::state::memory::{Cell, Cells, KnownMemory, Location, RootId, Slot};
use crate::specialize::state::{Frame, GraphIx, Red, Reg, Regs, SlotId, State};
use flowgraph::ir::{Access, BlockId, Const, DataId, MemDesc, ValueId};
use std::rc::Rc;
use std::sync::Arc;

/// A snapshot that has been packed.
#[derive(Clone, Debug)]
pub struct Packed(Box<[u8]>);

/// What snapshots have in common: what they name by number.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    frames: FxIndexSet<Box<[u8]>>,
    slots: FxIndexSet<Box<[u8]>>,
    descriptors: FxIndexSet<Arc<MemDesc>>,
    names: FxIndexSet<Arc<str>>,
    /// Where a part is written to see whether it is there already.
    part: Writer,
}

/// Where numbers are written.
#[derive(Debug, Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn constant(&mut self, constant: Const) {
        match constant {
            Const::Int(value) => {
                self.number(0);
                self.signed(value);
            }
            Const::Float(bits) => {
                self.number(1);
                self.0.extend(bits.to_le_bytes());
            }
            Const::Single(bits) => {
                self.number(2);
                self.0.extend(bits.to_le_bytes());
            }
            Const::Addr(data, offset) => {
                self.number(3);
                self.number(data.0.into());
                self.signed(offset);
            }
        }
    }

    /// A red operand, in one number with what its two lowest bits can't tell: `tag` is for green constants.
    fn red(&mut self, red: Red) {
        match red {
            Red::Const(constant) => {
                self.number(1);
                self.constant(constant);
            }
            Red::Value(value) => self.number(u64::from(value.0) << 2 | 2),
            Red::Slot(slot, offset) => {
                self.number(u64::from(slot.0) << 2 | 3);
                self.signed(offset);
            }
        }
    }

    fn reg(&mut self, reg: Reg) {
        match reg {
            Reg::Green(constant) => {
                self.number(0);
                self.constant(constant);
            }
            Reg::Red(red) => self.red(red),
        }
    }
}

/// As many bytes as most snapshots take.
const ROOM: usize = 64;

/// Where they are read. It reads what has been written, and nothing else.
struct Reader<'p>(&'p [u8]);

impl Reader<'_> {
    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.0[0];
            self.0 = &self.0[1..];
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn signed(&mut self) -> i64 {
        let number = self.number();
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }

    fn count(&mut self) -> usize {
        self.number() as usize
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let (own, rest) = self.0.split_at(N);
        bytes.copy_from_slice(own);
        self.0 = rest;
        bytes
    }

    fn constant(&mut self) -> Const {
        match self.number() {
            0 => Const::Int(self.signed()),
            1 => Const::Float(u64::from_le_bytes(self.bytes())),
            2 => Const::Single(u32::from_le_bytes(self.bytes())),
            _ => Const::Addr(DataId(self.number() as u32), self.signed()),
        }
    }

    fn reg(&mut self) -> Reg {
        let head = self.number();
        let payload = (head >> 2) as u32;
        Reg::Red(match head & 3 {
            0 => return Reg::Green(self.constant()),
            1 => Red::Const(self.constant()),
            2 => Red::Value(ValueId(payload)),
            _ => Red::Slot(SlotId(payload), self.signed()),
        })
    }

    fn red(&mut self) -> Red {
        self.reg().red()
    }
}

impl Packer {
    /// Packs what [`Packer::unpack`] gives again: all but facts, the fragment, and what belongs to one run.
    pub fn pack(&mut self, st: &State) -> Packed {
        let mut out = Writer(Vec::with_capacity(ROOM));
        out.number(u64::from(st.back) | u64::from(st.jumped) << 1 | u64::from(st.passed) << 2);
        out.number(st.block.0.into());
        out.number(st.enclosing.map_or(0, |key| key as u64 + 1));
        out.number(st.at.map_or(0, |at| u64::from(at.0) + 1));
        out.count(st.frames.len());
        for frame in &st.frames {
            self.part.0.clear();
            write_frame(&mut self.part, frame);
            out.count(number_of(&mut self.frames, &self.part.0));
        }
        out.count(st.slots.len());
        for (id, slot) in &st.slots {
            out.number(id.0.into());
            self.write_slot(slot);
            out.count(number_of(&mut self.slots, &self.part.0));
        }
        let KnownMemory { roots, places, escaped, elements: _ } = &st.memory;
        out.count(roots.len());
        for (root, address) in roots {
            out.number(root.0.into());
            out.red(*address);
        }
        out.count(places.len());
        for ((root, offset, access), Location { value, dirty, desc, .. }) in places {
            out.number(u64::from(root.0) << 1 | u64::from(*dirty));
            out.signed(*offset);
            out.number(*access as u64);
            out.red(*value);
            out.count(self.descriptor(desc));
        }
        out.count(escaped.len());
        escaped.iter().for_each(|root| out.number(root.0.into()));
        Packed(out.0.into())
    }

    /// The state that has been packed, in a fragment.
    pub fn unpack(&self, packed: &Packed, fragment: usize) -> State {
        let mut from = Reader(&packed.0);
        let flags = from.number();
        let optional = |number: u64| number.checked_sub(1);
        let mut st = State {
            back: flags & 1 != 0,
            jumped: flags & 2 != 0,
            passed: flags & 4 != 0,
            block: BlockId(from.number() as u32),
            enclosing: optional(from.number()).map(|key| key as usize),
            at: optional(from.number()).map(|at| GuestPosition(at as u32)),
            fragment,
            facts: Facts::default(),
            ..State::empty()
        };
        st.frames = (0..from.count()).map(|_| frame_of(&self.frames[from.count()])).collect();
        for _ in 0..from.count() {
            let id = SlotId(from.number() as u32);
            st.slots.insert(id, Rc::new(self.slot_of(&self.slots[from.count()])));
        }
        for _ in 0..from.count() {
            let root = RootId(from.number() as u32);
            st.memory.roots.insert(root, from.red());
        }
        for _ in 0..from.count() {
            let head = from.number();
            let place = (RootId((head >> 1) as u32), from.signed(), Access::ALL[from.count()]);
            let (value, desc) = (from.red(), self.descriptors[from.count()].clone());
            st.memory.places.insert(place, Location { value, dirty: head & 1 != 0, copies: 0, desc });
        }
        st.memory.escaped = (0..from.count()).map(|_| RootId(from.number() as u32)).collect();
        st
    }

    /// About how many bytes all snapshots have in common.
    pub fn bytes(&self) -> usize {
        let all = self.frames.iter().chain(&self.slots);
        let kept: usize = all.map(|bytes| bytes.len() + size_of::<Box<[u8]>>() + size_of::<usize>()).sum();
        kept + self.descriptors.len() * size_of::<MemDesc>()
    }

    fn descriptor(&mut self, desc: &Arc<MemDesc>) -> usize {
        match self.descriptors.get_index_of(desc) {
            Some(number) => number,
            None => self.descriptors.insert_full(desc.clone()).0,
        }
    }

    /// Writes a slot where parts are written.
    fn write_slot(&mut self, slot: &Slot) {
        let mut out = std::mem::take(&mut self.part);
        out.0.clear();
        out.number(slot.size.into());
        out.count(self.names.insert_full(slot.name.clone()).0);
        out.count(slot.cells.values().count());
        for (offset, Cell { access, value, desc }) in slot.cells.iter() {
            out.signed(offset);
            out.number(*access as u64);
            out.red(*value);
            out.count(self.descriptor(desc));
        }
        self.part = out;
    }

    fn slot_of(&self, bytes: &[u8]) -> Slot {
        let mut from = Reader(bytes);
        let (size, name) = (from.number() as u32, self.names[from.count()].clone());
        let mut cells = Cells::default();
        for _ in 0..from.count() {
            let offset = from.signed();
            let (access, value) = (Access::ALL[from.count()], from.red());
            let desc = self.descriptors[from.count()].clone();
            cells.insert(offset, Cell { access, value, desc });
        }
        Slot { size, name, cells }
    }
}

impl Packed {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

fn number_of(kept: &mut FxIndexSet<Box<[u8]>>, bytes: &[u8]) -> usize {
    match kept.get_index_of(bytes) {
        Some(number) => number,
        None => kept.insert_full(bytes.into()).0,
    }
}

fn write_frame(out: &mut Writer, frame: &Frame) {
    out.number(frame.graph.0.into());
    out.number(frame.block.0.into());
    out.number(frame.index.into());
    out.count(frame.regs.len());
    let mut before = 0;
    for (value, reg) in frame.regs.iter() {
        out.number((value.0 - before).into());
        out.reg(*reg);
        before = value.0;
    }
    out.count(frame.greens.len());
    frame.greens.iter().for_each(|constant| out.constant(*constant));
}

fn frame_of(bytes: &[u8]) -> Frame {
    let mut from = Reader(bytes);
    let graph = GraphIx(from.number() as u32);
    let (block, index) = (BlockId(from.number() as u32), from.number() as u32);
    let registers = from.count();
    let mut regs = Regs::with_room(registers);
    let mut before = 0;
    for _ in 0..registers {
        before += from.number() as u32;
        regs.push(ValueId(before), from.reg());
    }
    let greens = (0..from.count()).map(|_| from.constant()).collect();
    Frame { graph, block, index, stack: None, regs, greens }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowgraph::ir::MemKind;

    fn desc(field: &str) -> Arc<MemDesc> {
        let (class, field) = ("S".into(), field.into());
        Arc::new(MemDesc { class, field, offset: -8, stride: 0, access: Access::I64, kind: MemKind::Exclusive })
    }

    fn state(own: i64) -> State {
        let constants = [i64::MIN, -1, 0, 63, 64, i64::MAX].map(Const::Int).into_iter();
        let others = [Const::Float(u64::MAX), Const::Single(7), Const::Addr(DataId(u32::MAX), -5)];
        let mut regs = Regs::default();
        for (at, constant) in constants.chain(others).enumerate() {
            regs.set(ValueId(at as u32 * 300), Reg::Green(constant));
            regs.set(ValueId(at as u32 * 300 + 1), Reg::Red(Red::Const(constant)));
        }
        regs.set(ValueId(5000), Reg::Red(Red::Value(ValueId(1 << 29))));
        regs.set(ValueId(5001), Reg::Red(Red::Slot(SlotId(9), -16)));
        let greens: Rc<[Const]> = [Const::Int(3), Const::Float(0)].into();
        let outer = Frame { graph: GraphIx(2), block: BlockId(3), index: 4, stack: None, regs, greens };
        let mut inner = Frame { graph: GraphIx(0), index: 0, greens: Rc::from([]), regs: Regs::default(), ..outer };
        inner.regs.set(ValueId(0), Reg::Red(Red::Const(Const::Int(own))));
        let mut st = State { frames: vec![outer.clone(), inner], ..State::empty() };
        let mut cells = Cells::default();
        let value = Red::Value(ValueId(8));
        cells.insert(-8, Cell { access: Access::F32, value, desc: desc("x") });
        st.slots.insert(SlotId(9), Rc::new(Slot { size: 24, name: "local".into(), cells }));
        st.memory.roots.insert(RootId(1), Red::Slot(SlotId(9), 0));
        let place = |root| (RootId(root), 16, Access::U16);
        st.memory.places.insert(place(1), Location { value, dirty: true, copies: 0, desc: desc("x") });
        st.memory.places.insert(place(7), Location { value, dirty: false, copies: 0, desc: desc("y") });
        st.memory.escaped = vec![RootId(0), RootId(200)];
        State { block: BlockId(77), at: Some(GuestPosition(0)), enclosing: Some(0), passed: true, fragment: 5, ..st }
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        let mut packer = Packer::default();
        for own in [0, -1, i64::MAX] {
            for (back, jumped) in [(false, true), (true, false)] {
                let st = State { back, jumped, ..state(own) };
                let packed = packer.pack(&st);
                assert_eq!(format!("{:?}", packer.unpack(&packed, 5)), format!("{st:?}"));
            }
        }
        assert_eq!(format!("{:?}", State::empty()), {
            let packed = packer.pack(&State::empty());
            format!("{:?}", packer.unpack(&packed, 0))
        });
    }

    #[test]
    fn what_snapshots_have_in_common_is_there_once() {
        let mut packer = Packer::default();
        let first = packer.pack(&state(1)).bytes() + packer.bytes();
        let second = packer.pack(&state(2)).bytes() + packer.bytes() - first;
        assert!(second < 100 && first > 3 * second, "{first} bytes, then {second}");
        let third = packer.pack(&state(2)).bytes();
        assert!(third < 50, "{third} bytes of a snapshot that is there already");
        assert_eq!(packer.frames.len(), 3);
    }
}
