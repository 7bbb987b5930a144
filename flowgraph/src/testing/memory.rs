//! Loads and stores, with the bounds checks of the front end.

use super::build::{Builder, Container, Deps, Shape, Val, both};
use crate::ir::*;

/// A field: name, scalar, offset, number of elements (1 if it is no array).
type FieldOf = (&'static str, Scalar, i32, i64);

/// The fields of `S`.
pub(super) const STATE: [FieldOf; 7] = [
    ("a", Scalar::I64, 0, 1),
    ("b", Scalar::U8, 8, 1),
    ("c", Scalar::I16, 10, 1),
    ("d", Scalar::U32, 12, 1),
    ("f", Scalar::F64, 16, 1),
    ("g", Scalar::F32, 24, 1),
    ("regs", Scalar::I64, 32, 4),
];
/// The size of `S` in bytes.
pub(super) const STATE_SIZE: u32 = 64;
/// The fields of `C`; the first two are cells.
pub(super) const CELLS: [FieldOf; 3] =
    [("count", Scalar::I64, 0, 1), ("small", Scalar::U8, 8, 1), ("plain", Scalar::I64, 16, 1)];
/// The size of `C` in bytes.
pub(super) const CELLS_SIZE: u32 = 24;

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
            Shape::Cells if write => self.field(container, "C", &CELLS[..2]),
            Shape::Cells => self.field(container, "C", &CELLS),
            Shape::Elements(scalar) => self.element(container, scalar),
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
                if self.source.chance(1, 2) {
                    index = self.small(index, 7);
                }
                let fits = self.int_op(Opcode::UintLt, index.operand, container.len);
                let shown = vec![(container.len, Scalar::Usize), (index.operand, Scalar::Usize)];
                self.check(fits, TrapKind::IndexOutOfBounds, None, shown);
            }
        }
        let desc = MemDesc {
            class: format!("[{}]", scalar.name()).into(),
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
        const WIDTHS: [Scalar; 6] = [Scalar::U8, Scalar::U16, Scalar::I32, Scalar::U64, Scalar::I8, Scalar::U32];
        let scalar = WIDTHS[self.source.below(WIDTHS.len())];
        let size = Operand::int(i64::from(scalar.access().size()));
        let at = self.expr(Scalar::I64, 1);
        let at = self.small(at, 7);
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
        let place = self.place(&container, false);
        let opcode = match (place.raw, place.operands.len()) {
            (true, _) => Opcode::RawLoad,
            (false, 1) => Opcode::Getfield,
            _ => Opcode::Getarrayitem,
        };
        let loaded = self.op_full(opcode, &place.operands, Imm::Mem(place.desc), &[place.scalar.ty()]);
        self.declare(Val { operand: loaded[0], scalar: place.scalar, deps: place.deps });
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
        self.op_full(opcode, &place.operands, Imm::Mem(place.desc), &[]);
    }

    /// A new local array or struct.
    pub fn slot(&mut self) {
        let (shape, size, len) = match self.source.below(3) {
            0 => (Shape::Elements(Scalar::I64), 32, 4),
            1 => (Shape::State, STATE_SIZE, 0),
            _ => (Shape::Elements(Scalar::U16), 16, 8),
        };
        let slot = SlotDesc { size, name: format!("local{}", self.containers.len()).into() };
        let base = self.op_full(Opcode::StackSlot, &[], Imm::Slot(slot), &[Type::Int])[0];
        let len = Operand::int(len);
        self.containers.push(Container { base, shape, kind: MemKind::Exclusive, deps: None, len });
    }
}
