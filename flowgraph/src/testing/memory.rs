//! Loads and stores, with the bounds checks of the front end.

use super::build::{Builder, Container, Deps, Shape, Val, both};
use crate::ir::*;

/// A field: name, scalar, offset, number of elements (1 if it is no array).
type FieldOf = (&'static str, Scalar, i32, i64);

/// The fields of `S`.
pub(super) const STATE: [FieldOf; 11] = [
    ("a", Scalar::I64, 0, 1),
    ("b", Scalar::U8, 8, 1),
    ("e", Scalar::I8, 9, 1),
    ("c", Scalar::I16, 10, 1),
    ("d", Scalar::U32, 12, 1),
    ("f", Scalar::F64, 16, 1),
    ("g", Scalar::F32, 24, 1),
    ("i", Scalar::I32, 28, 1),
    ("regs", Scalar::I64, 32, 4),
    ("h", Scalar::U16, 64, 4),
    ("o", Scalar::Bool, 72, 1),
];
/// The size of `S` in bytes.
pub(super) const STATE_SIZE: u32 = 80;
/// The fields of `C`; all but the last are cells.
pub(super) const CELLS: [FieldOf; 4] = [
    ("count", Scalar::I64, 0, 1),
    ("small", Scalar::U8, 8, 1),
    ("ratio", Scalar::F64, 16, 1),
    ("plain", Scalar::I64, 24, 1),
];
/// The size of `C` in bytes.
pub(super) const CELLS_SIZE: u32 = 32;
/// The references in `H`: name and offset. A slice's length follows its address.
pub(super) const HOLDER: [(&str, i32); 3] = [("words", 8), ("state", 24), ("cells", 32)];
/// The size of `H` in bytes; its field `tag` is at 0.
pub(super) const HOLDER_SIZE: u32 = 40;

/// A place that was chosen: the op's descriptor, its operands (without a value to store), and what it is.
struct Place {
    desc: MemDesc,
    operands: Vec<Operand>,
    scalar: Scalar,
    raw: bool,
    deps: Deps,
}

impl Builder<'_, '_> {
    /// A container that may be stored to, if `write`.
    fn container(&mut self, write: bool) -> Option<Container> {
        let fits = |c: &&Container| !write || c.kind != MemKind::Immutable || c.shape == Shape::Cells;
        let all: Vec<Container> = self.containers.iter().filter(fits).cloned().collect();
        let index = self.source.below(all.len());
        all.into_iter().rev().nth(index)
    }

    fn place(&mut self, container: &Container, write: bool) -> Place {
        match container.shape {
            Shape::State => self.field(container, "S", &STATE),
            // A `C` is only ever behind `&`: its cells are shared, the rest never changes.
            Shape::Cells if write => self.field(container, "C", &CELLS[..CELLS.len() - 1]),
            Shape::Cells => self.field(container, "C", &CELLS),
            Shape::Holder => self.field(container, "H", &[("tag", Scalar::I64, 0, 1)]),
            Shape::Elements(scalar) => self.element(container, scalar),
            Shape::Bytes if self.source.chance(1, 6) => self.element(container, Scalar::U8),
            Shape::Bytes => self.raw(container),
        }
    }

    fn field(&mut self, container: &Container, class: &str, fields: &[FieldOf]) -> Place {
        let (field, scalar, offset, count) = fields[self.source.below(fields.len())];
        let is_cell = class == "C" && field != "plain";
        let kind = if is_cell { MemKind::Shared } else { container.kind };
        let mut desc =
            MemDesc { class: class.into(), field: field.into(), offset, stride: 0, access: scalar.access(), kind };
        let mut operands = vec![container.base];
        let mut deps = if kind == MemKind::Immutable { container.deps } else { None };
        if count > 1 {
            desc.stride = scalar.access().size();
            let index = self.expr(Scalar::I64, 1);
            let index = self.small(index, count - 1);
            deps = both(deps, index.deps);
            operands.push(index.operand);
        }
        Place { desc, operands, scalar, raw: false, deps }
    }

    fn element(&mut self, container: &Container, scalar: Scalar) -> Place {
        let mut index = self.expr(Scalar::I64, 1);
        match container.len.as_int() {
            Some(len) => index = self.small(index, len - 1),
            None => {
                match self.source.below(4) {
                    0 | 1 => index.operand = self.int_op(Opcode::UintMod, index.operand, container.len),
                    2 => index = self.small(index, 7),
                    _ => {}
                }
                let index = Val { deps: both(index.deps, container.deps), ..index };
                let fits = self.int_op(Opcode::UintLt, index.operand, container.len);
                let shown = vec![(container.len, Scalar::Usize), (index.operand, Scalar::Usize)];
                self.check(fits, TrapKind::IndexOutOfBounds, None, shown);
            }
        }
        let desc = MemDesc {
            class: if scalar == Scalar::U8 { "bytes".into() } else { format!("[{}]", scalar.name()).into() },
            field: "".into(),
            offset: 0,
            stride: scalar.access().size(),
            access: scalar.access(),
            kind: container.kind,
        };
        let deps = if container.kind == MemKind::Immutable { both(container.deps, index.deps) } else { None };
        Place { desc, operands: vec![container.base, index.operand], scalar, raw: false, deps }
    }

    fn raw(&mut self, container: &Container) -> Place {
        const WIDTHS: [Scalar; 9] = [
            Scalar::U8,
            Scalar::U16,
            Scalar::I32,
            Scalar::U64,
            Scalar::I8,
            Scalar::U32,
            Scalar::I16,
            Scalar::F64,
            Scalar::F32,
        ];
        let scalar = WIDTHS[self.source.below(WIDTHS.len())];
        let size = Operand::int(i64::from(scalar.access().size()));
        let at = self.expr(Scalar::I64, 1);
        let most = if self.source.chance(1, 3) { 15 } else { 7 };
        let at = self.small(at, most);
        let end = self.int_op(Opcode::IntAdd, at.operand, size);
        let fits = self.int_op(Opcode::UintLe, end, container.len);
        self.check(fits, TrapKind::SliceEnd, None, vec![(end, Scalar::Usize), (container.len, Scalar::Usize)]);
        let desc = MemDesc {
            class: "bytes".into(),
            field: "".into(),
            offset: 0,
            stride: 0,
            access: scalar.access(),
            kind: container.kind,
        };
        let deps = if container.kind == MemKind::Immutable { both(container.deps, at.deps) } else { None };
        Place { desc, operands: vec![container.base, at.operand], scalar, raw: true, deps }
    }

    /// Reads a place into a new variable.
    pub fn load(&mut self) {
        let Some(container) = self.container(false) else { return };
        if container.shape == Shape::Holder && self.source.chance(3, 4) {
            return self.follow(&container);
        }
        let place = self.place(&container, false);
        let opcode = match (place.raw, place.operands.len()) {
            (true, _) => Opcode::RawLoad,
            (false, 1) => Opcode::Getfield,
            _ => Opcode::Getarrayitem,
        };
        let loaded = self.op_full(opcode, &place.operands, Imm::mem(place.desc), &[place.scalar.ty()]);
        self.declare(Val { operand: loaded[0], scalar: place.scalar, deps: place.deps });
        if self.source.chance(3, 4) {
            self.concrete_at(self.vars.len() - 1);
        }
    }

    /// Writes a place.
    pub fn store(&mut self) {
        let Some(container) = self.container(true) else { return self.load() };
        let mut place = self.place(&container, true);
        let val = self.expr(place.scalar, 2);
        let val = self.no_nan(val);
        let opcode = match (place.raw, place.operands.len()) {
            (true, _) => Opcode::RawStore,
            (false, 1) => Opcode::Setfield,
            _ => Opcode::Setarrayitem,
        };
        place.operands.push(val.operand);
        self.op_full(opcode, &place.operands, Imm::mem(place.desc), &[]);
    }

    /// Reads or writes what needs no bounds check: a field, or an element of an array of known length.
    pub fn straight_access(&mut self, write: bool) {
        let fits = |c: &Container| match c.shape {
            Shape::State | Shape::Cells => true,
            Shape::Holder => false,
            Shape::Elements(_) => c.len.as_int().is_some(),
            Shape::Bytes => false,
        };
        let all = self.containers.clone();
        self.containers.retain(fits);
        if write {
            self.store();
        } else {
            self.load();
        }
        self.containers = all;
    }

    /// Reads a field that is known when compiling.
    pub fn green_load(&mut self) {
        let allowed = self.allowed;
        let fits = |c: &Container| {
            matches!(c.shape, Shape::State | Shape::Cells | Shape::Holder)
                && c.kind == MemKind::Immutable
                && c.deps.is_some_and(|deps| deps & !allowed == 0)
        };
        let all = self.containers.clone();
        self.containers.retain(fits);
        let kept = self.containers.len();
        self.load();
        // A reference that was read stays.
        let new = self.containers.split_off(kept);
        self.containers = all;
        self.containers.extend(new);
    }

    /// Takes a reference out of an `H`: what it leads to can be read from then on.
    fn follow(&mut self, holder: &Container) {
        let (field, offset) = HOLDER[self.source.below(HOLDER.len())];
        let desc = |offset| MemDesc {
            class: "H".into(),
            field: field.into(),
            offset,
            stride: 0,
            access: Access::I64,
            kind: holder.kind,
        };
        let base = self.op_full(Opcode::Getfield, &[holder.base], Imm::mem(desc(offset)), &[Type::Int])[0];
        let deps = if holder.kind == MemKind::Immutable { holder.deps } else { None };
        let (shape, len) = match field {
            "words" => {
                let len = self.op_full(Opcode::Getfield, &[holder.base], Imm::mem(desc(offset + 8)), &[Type::Int])[0];
                self.declare(Val { operand: len, scalar: Scalar::Usize, deps });
                (Shape::Elements(Scalar::I64), len)
            }
            "state" => (Shape::State, Operand::int(0)),
            _ => (Shape::Cells, Operand::int(0)),
        };
        self.containers.push(Container { base, shape, kind: MemKind::Immutable, deps, len, slot: false });
    }

    /// A new local array or struct.
    pub fn slot(&mut self) {
        const ARRAYS: [(Scalar, i64); 5] =
            [(Scalar::I64, 4), (Scalar::U16, 8), (Scalar::F64, 4), (Scalar::I32, 4), (Scalar::F32, 2)];
        let elements =
            |(scalar, len): (Scalar, i64)| (Shape::Elements(scalar), scalar.access().size() * len as u32, len);
        let (shape, size, len) = match self.source.below(13) {
            0 => elements(ARRAYS[0]),
            1 | 2 => (Shape::State, STATE_SIZE, 0),
            3 => elements(ARRAYS[self.source.below(ARRAYS.len())]),
            4 | 8 | 9 | 12 => (Shape::Bytes, 16, 16),
            5 | 10 | 11 => (Shape::Cells, CELLS_SIZE, 0),
            6 if self.holders => return self.holder(),
            6 => (Shape::State, STATE_SIZE, 0),
            _ => return self.freeze(),
        };
        self.slot_of(shape, size, len);
    }

    /// A new local that a reference of this shape may lead to.
    pub fn slot_for(&mut self, shape: Shape) {
        match shape {
            Shape::State => self.slot_of(shape, STATE_SIZE, 0),
            Shape::Cells => self.slot_of(shape, CELLS_SIZE, 0),
            Shape::Holder => self.holder(),
            Shape::Bytes => self.slot_of(shape, 16, 16),
            Shape::Elements(scalar) => self.slot_of(shape, scalar.access().size() * 4, 4),
        }
    }

    fn slot_of(&mut self, shape: Shape, size: u32, len: i64) {
        let slot = SlotDesc { size, name: format!("local{}", self.containers.len()).into() };
        let base = self.op_full(Opcode::StackSlot, &[], Imm::Slot(slot), &[Type::Int])[0];
        let len = Operand::int(len);
        // A local `C` is borrowed at once, for good: its cells can be written in any case.
        let kind = if shape == Shape::Cells { MemKind::Immutable } else { MemKind::Exclusive };
        self.containers.push(Container { base, shape, kind, deps: None, len, slot: true });
    }

    /// `let r = &local;`: from here on it is only read.
    fn freeze(&mut self) {
        let slots: Vec<usize> = self.containers.iter().enumerate().filter(|(_, c)| c.local()).map(|(i, _)| i).collect();
        match self.source.pick(&slots) {
            Some(at) => self.containers[*at].kind = MemKind::Immutable,
            None => self.slot_of(Shape::State, STATE_SIZE, 0),
        }
    }

    /// A local `H` with references to what is there, and will not be written any more, or to new locals.
    fn holder(&mut self) {
        let mut wanted = Vec::new();
        for shape in [Shape::Elements(Scalar::I64), Shape::State, Shape::Cells] {
            let fits = |c: &&Container| c.shape == shape && c.kind == MemKind::Immutable;
            let all: Vec<Container> = self.containers.iter().filter(fits).cloned().collect();
            let index = self.source.below(all.len());
            let found = match all.into_iter().rev().nth(index) {
                Some(found) => found,
                None => {
                    self.slot_for(shape);
                    let Some(new) = self.containers.last_mut() else { return };
                    new.kind = MemKind::Immutable;
                    new.clone()
                }
            };
            wanted.push(found);
        }
        self.slot_of(Shape::Holder, HOLDER_SIZE, 0);
        let Some(base) = self.containers.last().map(|c| c.base) else { return };
        for ((field, offset), container) in HOLDER.iter().zip(&wanted) {
            let mut parts = vec![(*offset, container.base)];
            if *field == "words" {
                parts.push((*offset + 8, container.len));
            }
            for (offset, value) in parts {
                let desc = MemDesc {
                    class: "H".into(),
                    field: (*field).into(),
                    offset,
                    stride: 0,
                    access: Access::I64,
                    kind: MemKind::Exclusive,
                };
                self.op_full(Opcode::Setfield, &[base, value], Imm::mem(desc), &[]);
            }
        }
    }
}
