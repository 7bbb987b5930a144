//! Places: variables, memory, values; and loads and stores.
//!
//! The container class of an access is that of the innermost container: the struct whose field it is, `[T]` for
//! elements. A field's offset is always from the start of its struct, so that accesses to one field through different
//! references have equal descriptors: nested structs cost an `int_add`. Scalar fields that some reference points to
//! are accessed as `[T]`, as what that reference points to is.

use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind, LocalId};
use super::super::types::{Ty, element_class};
use super::{Lowerer, Val};
use crate::ir::{Access, Const, Imm, MemDesc, MemKind, Opcode, Operand, Scalar, TrapKind};
use std::rc::Rc;

/// A place in memory that holds a value of type `ty`.
#[derive(Clone, Debug)]
pub(super) struct Mem {
    pub(super) base: Operand,
    pub(super) offset: i64,
    pub(super) index: Option<(Operand, u32)>,
    pub(super) kind: MemKind,
    /// The class and field name, where the place is a field or element.
    pub(super) class: Option<(String, String)>,
    /// The outermost enum that the place is a payload of, or part of one: all of it has that enum's class, since other
    /// variants' payloads lie in the same bytes.
    pub(super) within: Option<Rc<str>>,
    /// It is a `#[green]` field: what is read there is promoted, unless it can't change.
    pub(super) green: bool,
    /// It lies in the memory of a local that needs an address.
    pub(super) own: bool,
    pub(super) ty: Ty,
}

impl Mem {
    pub(super) fn new(base: Operand, kind: MemKind, ty: Ty) -> Mem {
        Mem { base, offset: 0, index: None, kind, class: None, within: None, green: false, own: false, ty }
    }
}

/// What a variable refers to that stands for a reference that isn't made: `x` of `for x in slice`, or a variable of a
/// pattern that looks through a reference.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) mem: Mem,
}

pub(super) enum Place {
    /// Leaves of an SSA variable.
    Vars(LocalId, usize, usize),
    Mem(Mem),
    Value(Val),
}

impl Lowerer<'_, '_> {
    pub(super) fn place(&mut self, e: &Expr) -> Place {
        match &e.kind {
            ExprKind::Local(id) => match self.slot(*id) {
                Some(mem) => Place::Mem(mem),
                None => {
                    self.b.at(e.pos);
                    let n = self.vars_of(*id).len();
                    Place::Vars(*id, 0, n)
                }
            },
            ExprKind::Deref(inner) => {
                if let ExprKind::Local(id) = &inner.kind
                    && let Some(element) = &self.elements[*id]
                {
                    return Place::Mem(element.mem.clone());
                }
                let kind = self.pointee_kind(inner);
                let address = self.value(inner);
                let ty = self.ty(&e.ty);
                match address.first() {
                    Some(address) => Place::Mem(Mem::new(*address, kind, ty)),
                    None => Place::Value(self.nothing(&e.ty)),
                }
            }
            ExprKind::Field(base, index) => {
                let whole = self.ty(&base.ty);
                match self.place(base) {
                    Place::Mem(mem) => Place::Mem(self.project_field(&mem, *index, e.pos)),
                    Place::Vars(id, first, _) => {
                        let (at, n) = self.leaf_range(&whole, *index);
                        Place::Vars(id, first + at, n)
                    }
                    Place::Value(value) => {
                        let (at, n) = self.leaf_range(&whole, *index);
                        Place::Value(value.iter().skip(at).take(n).copied().collect())
                    }
                }
            }
            ExprKind::Index(base, index) => self.place_index(e, base, index),
            ExprKind::Const(id) => {
                let large = self.is_large(&e.ty);
                match self.p.const_value(*id) {
                    Some(_) if large => match self.p.const_data(*id) {
                        Some(address) => {
                            let ty = self.ty(&e.ty);
                            Place::Mem(Mem::new(Operand::Const(address), MemKind::Immutable, ty))
                        }
                        None => Place::Value(Val::new()),
                    },
                    Some(value) => Place::Value(value.leaves.iter().map(|c| Operand::Const(*c)).collect()),
                    None => Place::Value(self.nothing(&e.ty)),
                }
            }
            _ if self.is_large(&e.ty) => {
                let mem = self.new_slot(&e.ty, "(temporary)", e.pos);
                self.value_into(e, &mem, true);
                Place::Mem(mem)
            }
            _ => Place::Value(self.value(e)),
        }
    }

    /// Where the leaves of a field lie among those of the whole.
    pub(super) fn leaf_range(&mut self, whole: &Ty, index: usize) -> (usize, usize) {
        let fields = self.p.fields_of(whole);
        let before: u64 = fields.iter().take(index).map(|t| self.p.leaf_count(t)).sum();
        let own = fields.get(index).map_or(0, |t| self.p.leaf_count(t));
        (before as usize, own as usize)
    }

    fn place_index(&mut self, e: &Expr, base: &Expr, index: &Expr) -> Place {
        match self.ty(&base.ty) {
            Ty::Slice(_, elem) => {
                let kind = self.pointee_kind(base);
                let slice = self.value(base);
                let i = self.value(index);
                let ([address, len], [i]) = (slice.as_slice(), i.as_slice()) else {
                    return Place::Value(self.nothing(&e.ty));
                };
                self.check_bounds(*i, *len, e.pos);
                let array = Mem::new(*address, kind, Ty::Array(elem, 0));
                Place::Mem(self.project_index(&array, *i, e.pos))
            }
            Ty::Array(_, n) => {
                let place = self.place(base);
                let i = self.value(index);
                let Some(i) = i.first().copied() else { return Place::Value(self.nothing(&e.ty)) };
                self.check_bounds(i, Operand::int(n as i64), e.pos);
                let known = i.as_int().and_then(|i| usize::try_from(i).ok()).filter(|i| (*i as u64) < n);
                let leaves = self.leaf_count(&e.ty) as usize;
                match (place, known) {
                    (Place::Mem(mem), _) => Place::Mem(self.project_index(&mem, i, e.pos)),
                    (Place::Vars(id, first, _), Some(i)) => Place::Vars(id, first + i * leaves, leaves),
                    (Place::Value(value), Some(i)) => {
                        Place::Value(value.iter().skip(i * leaves).take(leaves).copied().collect())
                    }
                    (Place::Vars(..), None) => {
                        // The index is a literal beyond the end: the check has trapped.
                        if i.as_int().is_none() {
                            let detail = "an index in a constant that the loops before it compute is not supported";
                            self.refuse(e.pos, Reason::Constant, detail);
                        }
                        Place::Value(self.nothing(&e.ty))
                    }
                    (Place::Value(value), None) => {
                        let address = match &base.kind {
                            ExprKind::Const(id) => self.p.const_data(*id),
                            _ => None,
                        };
                        let ty = self.ty(&base.ty);
                        let mem = match address {
                            Some(address) => Mem::new(Operand::Const(address), MemKind::Immutable, ty),
                            None => self.spill(&value, &ty, e.pos),
                        };
                        Place::Mem(self.project_index(&mem, i, e.pos))
                    }
                }
            }
            _ => Place::Value(self.nothing(&e.ty)),
        }
    }

    /// A value in memory: constant data, or a stack slot.
    pub(super) fn spill(&mut self, value: &[Operand], ty: &Ty, pos: Pos) -> Mem {
        let constants: Option<Vec<Const>> = value.iter().map(|o| o.constant()).collect();
        if let Some(address) = constants.and_then(|leaves| self.p.unnamed_data(ty, &leaves)) {
            return Mem::new(Operand::Const(address), MemKind::Immutable, ty.clone());
        }
        let mem = self.new_slot(ty, "(temporary)", pos);
        self.store(&mem, value, pos);
        mem
    }

    pub(super) fn check_bounds(&mut self, index: Operand, len: Operand, pos: Pos) {
        let ok = self.op2(Opcode::UintLt, index, len, pos);
        self.check(ok, TrapKind::IndexOutOfBounds, &[(len, Scalar::Usize), (index, Scalar::Usize)], pos);
    }

    /// What is proven about what a reference (or slice) points to.
    pub(super) fn pointee_kind(&mut self, e: &Expr) -> MemKind {
        let mutable = matches!(self.ty(&e.ty), Ty::Ref(true, _) | Ty::Slice(true, _));
        if mutable || self.may_change(e) { MemKind::Exclusive } else { MemKind::Immutable }
    }

    /// The `#[green]` fields in a place, in the order of [`crate::ir::Module::key_fields`].
    pub(super) fn green_fields(&mut self, mem: &Mem, pos: Pos) -> Vec<Mem> {
        let mut found = Vec::new();
        for (index, ty) in self.p.fields_of(&mem.ty).into_iter().enumerate() {
            if self.p.is_green_field(&mem.ty, index) {
                found.push(self.project_field(mem, index, pos));
            } else if self.p.has_green_field(&ty) {
                let field = self.project_field(mem, index, pos);
                found.extend(self.green_fields(&field, pos));
            }
        }
        found
    }

    /// Whether a shared reference may come from a `&mut` or a local, which can change when it is gone.
    pub(super) fn may_change(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Local(id) => self.tainted[*id],
            ExprKind::Freeze(inner) => {
                matches!(self.ty(&inner.ty), Ty::Ref(true, _) | Ty::Slice(true, _)) || self.may_change(inner)
            }
            ExprKind::Ref { place, .. } => self.place_may_change(place),
            ExprKind::ArrayToSlice(inner) => self.may_change(inner),
            ExprKind::SliceOf { base, .. } => match self.ty(&base.ty) {
                Ty::Slice(true, _) => true,
                Ty::Slice(false, _) => self.may_change(base),
                _ => self.place_may_change(base),
            },
            ExprKind::Call(_, args, _) => args.iter().any(|a| {
                let ty = self.ty(&a.ty);
                ty.has_reference(false) || (ty.has_reference(true) && self.may_change(a))
            }),
            ExprKind::Block(b) => b.tail.as_ref().is_some_and(|t| self.may_change(t)),
            ExprKind::If(_, a, b) => self.may_change(a) || b.as_ref().is_some_and(|b| self.may_change(b)),
            ExprKind::Match(_, arms) => arms.iter().any(|a| self.may_change(&a.body)),
            ExprKind::Loop(..) | ExprKind::Labelled(..) | ExprKind::UnwrapOr(..) => true,
            ExprKind::Field(base, _) => match &base.kind {
                ExprKind::Local(id) => self.tainted[*id],
                _ => false,
            },
            ExprKind::Tuple(items) => items.iter().any(|i| self.may_change(i)),
            ExprKind::Struct(fields) => fields.iter().any(|(_, i)| self.may_change(i)),
            ExprKind::Hint(_, Some(inner)) => self.may_change(inner),
            _ => false,
        }
    }

    fn place_may_change(&mut self, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Local(_) => true,
            ExprKind::Deref(inner) => self.pointee_kind(inner) != MemKind::Immutable,
            ExprKind::Index(base, _) if matches!(self.ty(&base.ty), Ty::Slice(..)) => {
                self.pointee_kind(base) != MemKind::Immutable
            }
            ExprKind::Field(base, _) | ExprKind::Index(base, _) => self.place_may_change(base),
            ExprKind::Const(_) => false,
            _ => true,
        }
    }

    // ---- projections

    /// The place with its index added to the base.
    fn without_index(&mut self, mem: &Mem, pos: Pos) -> Mem {
        let mut mem = mem.clone();
        if let Some((index, stride)) = mem.index.take() {
            let bytes = match index.as_int() {
                Some(i) => Operand::int(i.wrapping_mul(i64::from(stride))),
                None if stride == 1 => index,
                None => self.op2(Opcode::IntMul, index, Operand::int(i64::from(stride)), pos),
            };
            mem.base = match bytes.as_int() {
                Some(bytes) => self.add_constant(mem.base, bytes, pos),
                None => self.op2(Opcode::IntAdd, mem.base, bytes, pos),
            };
        }
        mem
    }

    /// The place with its offset added to the base.
    pub(super) fn without_offset(&mut self, mem: &Mem, pos: Pos) -> Mem {
        let mut mem = mem.clone();
        mem.base = self.add_constant(mem.base, mem.offset, pos);
        mem.offset = 0;
        mem
    }

    pub(super) fn project_field(&mut self, mem: &Mem, index: usize, pos: Pos) -> Mem {
        let whole = mem.ty.clone();
        let ty = self.p.fields_of(&whole).get(index).cloned().unwrap_or(Ty::Error);
        let (offset, name) = self.p.field_place(&whole, index);
        if let Some(outer) = mem.within.clone() {
            let class = Some((outer.to_string(), name));
            return Mem { offset: mem.offset.wrapping_add(i64::from(offset)), ty, class, ..mem.clone() };
        }
        let mut field = self.without_offset(mem, pos);
        field.green = self.p.is_green_field(&whole, index);
        field.offset = i64::from(offset);
        field.ty = ty;
        let referenced = self.p.referenced_fields.borrow().contains(&(whole.to_string(), index));
        if referenced && self.is_lone(&field.ty) {
            let mut place = self.without_index(&field, pos);
            place = self.without_offset(&place, pos);
            place.class = None;
            return place;
        }
        field.class = Some((whole.to_string(), name));
        field
    }

    pub(super) fn project_index(&mut self, mem: &Mem, index: Operand, pos: Pos) -> Mem {
        let Ty::Array(elem, _) = mem.ty.clone() else { return mem.clone() };
        let mut place = self.without_index(mem, pos);
        let (size, _) = self.p.layout(&elem);
        place.index = Some((index, size));
        let class = place.within.as_ref().map_or_else(|| element_class(&elem), |outer| outer.to_string());
        place.class = Some((class, String::new()));
        place.ty = (*elem).clone();
        place
    }

    /// Whether what lies in a place of this type has the class of what it is a field of.
    fn is_lone(&self, ty: &Ty) -> bool {
        !matches!(ty, Ty::Struct(_) | Ty::Tuple(_) | Ty::Array(..)) && !self.is_sum(ty)
    }

    /// The address of a place. What is reached through a reference has its own class: so one in an enum's payload makes
    /// the enum's class one that may be part of anything, and one to a field that a pattern has found, that field's.
    pub(super) fn address(&mut self, mem: &Mem, pos: Pos) -> Operand {
        match (&mem.within, &mem.class) {
            (Some(outer), _) => drop(self.p.referenced_payloads.borrow_mut().insert(outer.to_string())),
            (None, Some(field)) if !field.1.is_empty() && self.is_lone(&mem.ty) => {
                self.p.bound_fields.borrow_mut().insert(field.clone());
            }
            _ => {}
        }
        let mem = self.without_index(mem, pos);
        self.without_offset(&mem, pos).base
    }

    // ---- loads and stores

    fn desc(&mut self, mem: &Mem, extra: i64, access: Access) -> MemDesc {
        let (class, field) = match &mem.class {
            Some((class, field)) => (class.clone(), field.clone()),
            None => (element_class(&mem.ty), String::new()),
        };
        let offset = i32::try_from(mem.offset.wrapping_add(extra)).unwrap_or(i32::MAX);
        let stride = mem.index.map_or(0, |(_, stride)| stride);
        MemDesc { class: class.into(), field: field.into(), offset, stride, access, kind: mem.kind }
    }

    pub(super) fn load_word(&mut self, mem: &Mem, extra: i64, scalar: Scalar, pos: Pos) -> Operand {
        if let Some(known) = self.known_word(mem, extra, scalar) {
            return known;
        }
        let desc = self.desc(mem, extra, scalar.access());
        let ty = [scalar.ty()];
        let word = match mem.index {
            Some((i, _)) => self.b.op(Opcode::Getarrayitem, &[mem.base, i], Imm::mem(desc), &ty, pos)[0],
            None => self.b.op(Opcode::Getfield, &[mem.base], Imm::mem(desc), &ty, pos)[0],
        };
        if mem.green && mem.kind == MemKind::Exclusive {
            return self.b.op(Opcode::Promote, &[word], Imm::None, &ty, pos)[0];
        }
        word
    }

    /// What is read from constant data at a known place.
    fn known_word(&mut self, mem: &Mem, extra: i64, scalar: Scalar) -> Option<Operand> {
        let Operand::Const(Const::Addr(data, start)) = mem.base else { return None };
        let index = match mem.index {
            Some((i, stride)) => i.as_int()?.checked_mul(i64::from(stride))?,
            None => 0,
        };
        let at = start.checked_add(index)?.checked_add(mem.offset)?.checked_add(extra)?;
        let module = self.p.module.borrow();
        let bytes = &module.data.get(data.0 as usize)?.bytes;
        let size = scalar.access().size() as usize;
        let bytes = bytes.get(usize::try_from(at).ok()?..)?.get(..size)?;
        let word = bytes.iter().rev().fold(0u64, |w, b| (w << 8) | u64::from(*b));
        Some(Operand::Const(Const::from_word(scalar.ty(), scalar.access().truncate(word))))
    }

    pub(super) fn store_word(&mut self, mem: &Mem, extra: i64, scalar: Scalar, value: Operand, pos: Pos) {
        let desc = self.desc(mem, extra, scalar.access());
        match mem.index {
            Some((i, _)) => drop(self.b.op(Opcode::Setarrayitem, &[mem.base, i, value], Imm::mem(desc), &[], pos)),
            None => drop(self.b.op(Opcode::Setfield, &[mem.base, value], Imm::mem(desc), &[], pos)),
        }
    }

    /// The lone scalars that a place of a leaf type consists of, with their offsets.
    fn words(&mut self, ty: &Ty) -> Vec<(i64, Scalar)> {
        match ty {
            Ty::Slice(..) | Ty::Str => vec![(0, Scalar::Usize), (8, Scalar::Usize)],
            Ty::Cell(t) => self.words(t),
            _ => {
                let mut scalars = Vec::new();
                self.p.leaf_scalars(ty, &mut scalars);
                scalars.into_iter().map(|s| (0, s)).collect()
            }
        }
    }

    /// The parts of an aggregate place; none for leaves.
    fn parts(&mut self, mem: &Mem, pos: Pos) -> Option<Vec<Mem>> {
        match &mem.ty {
            Ty::Struct(_) | Ty::Tuple(_) => {
                let n = self.p.fields_of(&mem.ty).len();
                let mem = self.without_offset(mem, pos);
                Some((0..n).map(|i| self.project_field(&mem, i, pos)).collect())
            }
            Ty::Array(t, _) if self.p.leaf_count(t) == 0 => Some(Vec::new()),
            Ty::Array(_, n) => Some((0..*n as i64).map(|i| self.project_index(mem, Operand::int(i), pos)).collect()),
            Ty::Cell(t) if matches!(**t, Ty::Struct(_) | Ty::Tuple(_) | Ty::Array(..)) && !self.is_sum(t) => {
                let mut inner = mem.clone();
                inner.ty = (**t).clone();
                inner.kind = MemKind::Shared;
                self.parts(&inner, pos)
            }
            _ => None,
        }
    }

    /// A cell is shared behind a `&mut`, too: a `&` that was made from that may be in use.
    pub(super) fn through_cell(mem: &Mem) -> Mem {
        let mut mem = mem.clone();
        if matches!(mem.ty, Ty::Cell(_)) {
            mem.kind = MemKind::Shared;
        }
        mem
    }

    pub(super) fn load(&mut self, mem: &Mem, pos: Pos) -> Val {
        if let Some(shape) = self.sum_at(mem) {
            return self.load_enum(&Lowerer::through_cell(mem), &shape, pos);
        }
        if let Some(parts) = self.parts(mem, pos) {
            return parts.iter().flat_map(|p| self.load(p, pos)).collect();
        }
        let mem = Lowerer::through_cell(mem);
        let words = self.words(&mem.ty);
        words.into_iter().map(|(at, s)| self.load_word(&mem, at, s, pos)).collect()
    }

    pub(super) fn store(&mut self, mem: &Mem, value: &[Operand], pos: Pos) {
        if self.p.has_quasi_cell(&mem.ty) {
            return self.refuse(pos, Reason::QuasiCell, "a value with a `QuasiCell` in it can't be put here");
        }
        if let Some(shape) = self.sum_at(mem) {
            return self.store_enum(&Lowerer::through_cell(mem), &shape, value, pos);
        }
        if let Some(parts) = self.parts(mem, pos) {
            let mut rest = value;
            for part in parts {
                let n = (self.p.leaf_count(&part.ty) as usize).min(rest.len());
                self.store(&part, &rest[..n], pos);
                rest = &rest[n..];
            }
            return;
        }
        let mem = Lowerer::through_cell(mem);
        let words = self.words(&mem.ty);
        for ((at, s), v) in words.into_iter().zip(value) {
            self.store_word(&mem, at, s, *v, pos);
        }
    }

    /// The value at a place.
    pub(super) fn read(&mut self, place: Place, pos: Pos) -> Val {
        match place {
            Place::Vars(id, first, n) => {
                let vars = self.vars_of(id);
                vars.iter().skip(first).take(n).map(|v| self.b.read(*v)).collect()
            }
            Place::Mem(mem) => {
                if !self.constant && self.p.leaf_count(&mem.ty) > super::MAX_LEAVES {
                    let detail = format!("a value of the type {} is too large to be copied here", mem.ty);
                    self.refuse(pos, Reason::LargeValue, &detail);
                    return Val::new();
                }
                self.load(&mem, pos)
            }
            Place::Value(value) => value,
        }
    }

    /// Writes a value to a place.
    pub(super) fn write(&mut self, place: Place, value: &[Operand], pos: Pos) {
        match place {
            Place::Vars(id, first, n) => {
                let vars = self.vars_of(id);
                let part: Vec<_> = vars.iter().skip(first).take(n).copied().collect();
                self.write_all(&part, value);
                let name = self.locals[id].name.clone();
                if first == 0 && n == vars.len() {
                    self.b.name(&name, pos, value);
                } else if !self.locals[id].late {
                    let all = self.read_all(&vars);
                    self.b.name(&name, pos, &all);
                }
            }
            Place::Mem(mem) => self.store(&mem, value, pos),
            Place::Value(_) => {}
        }
    }
}
