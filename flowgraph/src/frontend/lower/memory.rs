//! Large values in memory, and bytes of slices.

use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::place::{Mem, Place};
use super::{Lowerer, Val};
use crate::ir::{Access, Imm, MemDesc, MemKind, Opcode, Operand, Scalar, TrapKind, Type};
use smallvec::smallvec;

impl Lowerer<'_, '_> {
    /// Evaluates `e` into memory. `fresh`: the memory is a new slot, all zero.
    pub(super) fn value_into(&mut self, e: &Expr, mem: &Mem, fresh: bool) {
        let pos = e.pos;
        if !self.is_large(&e.ty) {
            let value = self.value(e);
            return self.store(mem, &value, pos);
        }
        match &e.kind {
            ExprKind::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let place = self.project_index(mem, Operand::int(i as i64), pos);
                    self.value_into(item, &place, fresh);
                }
            }
            ExprKind::Repeat(value, n) => {
                if self.is_large(&value.ty) {
                    return self.refuse(pos, Reason::LargeValue, "so large a value can't be repeated");
                }
                let one = self.value(value);
                if fresh && one.iter().all(|v| v.constant().and_then(|c| c.word()) == Some(0)) {
                    return;
                }
                self.counted(*n, pos, |this, i| {
                    let place = this.project_index(mem, i, pos);
                    this.store(&place, &one, pos);
                });
            }
            ExprKind::Struct(fields) => {
                for (i, value) in fields {
                    let place = self.project_field(mem, *i, pos);
                    self.value_into(value, &place, fresh);
                }
            }
            ExprKind::Variant(index, fields) => {
                let ty = self.ty(&e.ty);
                let Some(shape) = self.p.shape(&ty) else { return };
                self.store_tag(mem, &shape, *index, pos);
                for (i, value) in fields {
                    let place = self.project_variant(mem, &shape, *index, *i, pos);
                    self.value_into(value, &place, fresh);
                }
            }
            ExprKind::Tuple(items) => {
                for (i, value) in items.iter().enumerate() {
                    let place = self.project_field(mem, i, pos);
                    self.value_into(value, &place, fresh);
                }
            }
            ExprKind::FromNever(inner) => drop(self.value(inner)),
            ExprKind::Block(block) if block.tail.is_some() => {
                self.statements(&block.stmts);
                if let Some(tail) = &block.tail {
                    self.value_into(tail, mem, fresh);
                }
            }
            ExprKind::Local(_)
            | ExprKind::Field(..)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Const(_) => match self.place(e) {
                Place::Mem(from) => self.copy(&from, mem, pos),
                place => {
                    let value = self.read(place, pos);
                    self.store(mem, &value, pos);
                }
            },
            _ => {
                let ty = self.ty(&e.ty);
                self.refuse(pos, Reason::LargeValue, &format!("a value of the type {ty} is too large for this place"));
            }
        }
    }

    /// Copies a value in memory.
    pub(super) fn copy(&mut self, from: &Mem, to: &Mem, pos: Pos) {
        if self.p.leaf_count(&from.ty) <= super::MAX_LEAVES {
            let value = self.load(from, pos);
            return self.store(to, &value, pos);
        }
        if self.is_sum(&from.ty) {
            return self.copy_enum(from, to, pos);
        }
        match from.ty.clone() {
            Ty::Array(_, n) => self.counted(n, pos, |this, i| {
                let source = this.project_index(from, i, pos);
                let target = this.project_index(to, i, pos);
                this.copy(&source, &target, pos);
            }),
            ty => {
                for i in 0..self.p.fields_of(&ty).len() {
                    let source = self.project_field(from, i, pos);
                    let target = self.project_field(to, i, pos);
                    self.copy(&source, &target, pos);
                }
            }
        }
    }

    pub(super) fn assign_large(&mut self, place: &Expr, value: &Expr, pos: Pos) {
        // The value may read what is overwritten.
        let from = match value.kind {
            ExprKind::Local(_) | ExprKind::Const(_) => self.place(value),
            _ => {
                let temporary = self.new_slot(&value.ty, "(temporary)", pos);
                self.value_into(value, &temporary, true);
                Place::Mem(temporary)
            }
        };
        match (self.place(place), from) {
            (Place::Mem(to), Place::Mem(from)) => self.copy(&from, &to, pos),
            _ => {
                let ty = self.ty(&value.ty);
                self.refuse(pos, Reason::LargeValue, &format!("a value of the type {ty} is too large to be assigned"));
            }
        }
    }

    /// A loop over `0..n`.
    fn counted(&mut self, n: u64, pos: Pos, mut body: impl FnMut(&mut Self, Operand)) {
        let counter = self.b.new_var(Type::Int);
        let (head, inside, after) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.b.write(counter, Operand::int(0));
        self.b.jump(head, pos);
        self.b.switch_to(head);
        let i = self.b.read(counter);
        let more = self.op2(Opcode::UintLt, i, Operand::int(n as i64), pos);
        self.b.branch(more, inside, after, pos);
        self.b.enter(inside);
        body(self, i);
        let next = self.op2(Opcode::IntAdd, i, Operand::int(1), pos);
        self.b.write(counter, next);
        self.b.jump(head, pos);
        self.b.seal(head);
        self.b.enter(after);
    }

    // ---- bytes

    fn raw(&self, scalar: Scalar, kind: MemKind) -> MemDesc {
        MemDesc { class: "bytes".into(), field: "".into(), offset: 0, stride: 0, access: scalar.access(), kind }
    }

    /// Whether `size` bytes from `at` lie in `len` bytes.
    fn in_bytes(&mut self, at: Operand, size: i64, len: Operand, pos: Pos) -> Operand {
        let first = self.op2(Opcode::UintLt, at, len, pos);
        let end = self.op2(Opcode::IntAdd, at, Operand::int(size), pos);
        // No overflow if the first test holds: lengths are below 2^63.
        let last = self.op2(Opcode::UintLe, end, len, pos);
        self.op2(Opcode::IntAnd, first, last, pos)
    }

    pub(super) fn read_bytes(&mut self, scalar: Scalar, slice: &Expr, at: &Expr, pos: Pos) -> Val {
        let kind = self.pointee_kind(slice);
        let bytes = self.value(slice);
        let at = self.value(at);
        let ([address, len], [at]) = (bytes.as_slice(), at.as_slice()) else {
            return smallvec![super::super::ssa::zero(scalar.ty())];
        };
        let ok = self.in_bytes(*at, i64::from(scalar.bits() / 8), *len, pos);
        self.bytes_check(ok, *at, *len, pos, |_, _| {});
        let desc = self.raw(scalar, kind);
        self.b.op(Opcode::RawLoad, &[*address, *at], Imm::mem(desc), &[scalar.ty()], pos).into_iter().collect()
    }

    pub(super) fn write_bytes(&mut self, scalar: Scalar, slice: &Expr, at: &Expr, value: &Expr, pos: Pos) {
        let kind = self.pointee_kind(slice);
        let bytes = self.value(slice);
        let at = self.value(at);
        let value = self.value(value);
        let ([address, len], [at], [v]) = (bytes.as_slice(), at.as_slice(), value.as_slice()) else { return };
        let (address, len, at, v) = (*address, *len, *at, *v);
        let size = i64::from(scalar.bits() / 8);
        let ok = self.in_bytes(at, size, len, pos);
        let byte = MemDesc { access: Access::U8, ..self.raw(scalar, kind) };
        self.bytes_check(ok, at, len, pos, |this, done| {
            // The bytes that do lie in the slice are written before the trap, as they are one by one in Rust.
            let bits = match scalar {
                Scalar::F64 => this.op1(Opcode::FloatToBits, v, pos),
                Scalar::F32 => this.op1(Opcode::SingleToBits, v, pos),
                _ => v,
            };
            for i in 0..size - 1 {
                let place = this.op2(Opcode::IntAdd, at, Operand::int(i), pos);
                let inside = this.op2(Opcode::UintLt, place, len, pos);
                let write = this.b.new_block();
                this.b.branch(inside, write, done, pos);
                this.b.enter(write);
                let shifted = this.op2(Opcode::UintRshift, bits, Operand::int(8 * i), pos);
                let low = this.op2(Opcode::IntAnd, shifted, Operand::int(255), pos);
                this.b.op(Opcode::RawStore, &[address, place, low], Imm::mem(byte.clone()), &[], pos);
            }
        });
        let desc = self.raw(scalar, kind);
        self.b.op(Opcode::RawStore, &[address, at, v], Imm::mem(desc), &[], pos);
    }

    /// Goes on if `ok`; otherwise does `before`, which may jump ahead to the block it is given, and traps about the
    /// first byte that lies outside.
    fn bytes_check(
        &mut self,
        ok: Operand,
        at: Operand,
        len: Operand,
        pos: Pos,
        before: impl FnOnce(&mut Self, crate::ir::BlockId),
    ) {
        let (go_on, slow, stop) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.b.branch(ok, go_on, slow, pos);
        self.b.enter(slow);
        before(self, stop);
        self.b.jump(stop, pos);
        self.b.enter(stop);
        let beyond = self.op2(Opcode::UintGe, at, len, pos);
        let first = self.b.pure(Opcode::IntSelect, &[beyond, at, len], pos);
        self.trap_now(TrapKind::IndexOutOfBounds, None, vec![(len, Scalar::Usize), (first, Scalar::Usize)], pos);
        self.b.enter(go_on);
    }

    /// `T::from_le_bytes(array)`
    pub(super) fn bytes_to_number(&mut self, value: &Expr, big: bool, ty: &Ty, pos: Pos) -> Val {
        let mut bytes = self.value(value);
        let scalar = self.scalar(ty);
        if big {
            bytes.reverse();
        }
        let mut word = Operand::int(0);
        for (i, byte) in bytes.iter().enumerate() {
            let shifted = match i {
                0 => *byte,
                _ => self.op2(Opcode::IntLshift, *byte, Operand::int(8 * i as i64), pos),
            };
            word = if i == 0 { shifted } else { self.op2(Opcode::IntOr, word, shifted, pos) };
        }
        smallvec![if scalar.is_signed() { self.canonical(word, scalar, pos) } else { word }]
    }

    /// `x.to_le_bytes()`
    pub(super) fn number_to_bytes(&mut self, value: &Expr, big: bool, pos: Pos) -> Val {
        let scalar = self.scalar(&value.ty);
        let word = self.value(value);
        let Some(word) = word.first().copied() else { return Val::new() };
        let mut bytes: Val = (0..scalar.bits() / 8)
            .map(|i| {
                let shifted = match i {
                    0 => word,
                    _ => self.op2(Opcode::UintRshift, word, Operand::int(8 * i64::from(i)), pos),
                };
                self.op2(Opcode::IntAnd, shifted, Operand::int(255), pos)
            })
            .collect();
        if big {
            bytes.reverse();
        }
        bytes
    }
}
