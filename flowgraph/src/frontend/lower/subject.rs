//! What patterns are matched against.
//!
//! A place in memory is read where a pattern asks for a part of it, and of an enum only what the variant that is there
//! has: its tag first, then the fields that are bound.

use super::super::enums::Shape;
use super::super::refusal::Pos;
use super::super::tree::{Expr, ExprKind, Pat, PatKind};
use super::super::types::Ty;
use super::place::{Element, Mem, Place};
use super::{Lowerer, Val};
use crate::ir::{MemKind, Operand};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// The leaves of a value.
    Value(Val),
    /// A place in memory.
    Mem(Mem),
    /// An enum in memory whose tag has been read, or is known.
    Tagged(Mem, Operand),
    /// A reference that isn't made.
    Ref(Box<Subject>),
    /// A tuple of subjects.
    Parts(Vec<Subject>),
}

impl Lowerer<'_, '_> {
    /// What an expression gives to be matched.
    pub(super) fn subject(&mut self, e: &Expr) -> Subject {
        match &e.kind {
            ExprKind::Ref { place, .. } if !matches!(place.kind, ExprKind::Const(_)) => {
                return match self.place(place) {
                    Place::Mem(mem) => Subject::Ref(Box::new(Subject::Mem(mem))),
                    Place::Value(value) => {
                        let ty = self.ty(&place.ty);
                        let mem = self.spill(&value, &ty, e.pos);
                        Subject::Ref(Box::new(Subject::Mem(mem)))
                    }
                    Place::Vars(..) => Subject::Value(self.value(e)),
                };
            }
            ExprKind::Freeze(inner) if matches!(self.ty(&e.ty), Ty::Ref(..)) => return self.subject(inner),
            ExprKind::Local(id) => {
                if let Some(element) = &self.elements[*id] {
                    return Subject::Ref(Box::new(Subject::Mem(element.mem.clone())));
                }
            }
            // Nothing in one part can change what another has read.
            ExprKind::Tuple(items) if !self.is_large(&e.ty) && items.iter().all(is_quiet) => {
                return Subject::Parts(items.iter().map(|i| self.subject(i)).collect());
            }
            _ => {}
        }
        let is_place = matches!(
            e.kind,
            ExprKind::Local(_) | ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Const(_)
        );
        let ty = self.ty(&e.ty);
        if is_place && (self.has_sum(&ty) || self.is_large(&e.ty)) {
            return match self.place(e) {
                Place::Mem(mem) => Subject::Mem(mem),
                place => Subject::Value(self.read(place, e.pos)),
            };
        }
        Subject::Value(self.value(e))
    }

    /// Whether the type has an enum with a payload in it.
    fn has_sum(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Struct(_) | Ty::Tuple(_) => self.p.fields_of(ty).iter().any(|t| self.has_sum(t)),
            Ty::Array(t, _) => self.has_sum(t),
            _ => self.is_sum(ty),
        }
    }

    /// The leaves of a subject.
    pub(super) fn leaves_of(&mut self, subject: &Subject, pos: Pos) -> Val {
        match subject {
            Subject::Value(value) => value.clone(),
            Subject::Mem(mem) => self.read(Place::Mem(mem.clone()), pos),
            Subject::Tagged(mem, tag) => self.load_tagged(mem, *tag, pos),
            Subject::Ref(inner) => match &**inner {
                Subject::Mem(mem) | Subject::Tagged(mem, _) => smallvec::smallvec![self.address(mem, pos)],
                other => self.leaves_of(&other.clone(), pos),
            },
            Subject::Parts(parts) => parts.iter().flat_map(|p| self.leaves_of(p, pos)).collect(),
        }
    }

    /// What the subject, a reference of type `ty`, refers to.
    pub(super) fn behind(&mut self, subject: &Subject, ty: &Ty, changes: bool, pos: Pos) -> Option<Subject> {
        if let Subject::Ref(inner) = subject {
            return Some((**inner).clone());
        }
        let Ty::Ref(mutable, to) = ty else { return None };
        let kind = if *mutable || changes { MemKind::Exclusive } else { MemKind::Immutable };
        let address = self.leaves_of(subject, pos);
        let to = self.ty(to);
        Some(Subject::Mem(Mem::new(*address.first()?, kind, to)))
    }

    /// A field of a struct or tuple.
    pub(super) fn field_of(&mut self, subject: &Subject, whole: &Ty, index: usize, pos: Pos) -> Subject {
        match subject {
            Subject::Mem(mem) => Subject::Mem(self.project_field(mem, index, pos)),
            Subject::Parts(parts) if index < parts.len() => parts[index].clone(),
            other => {
                let (at, n) = self.leaf_range(whole, index);
                let value = self.leaves_of(other, pos);
                Subject::Value(value.iter().skip(at).take(n).copied().collect())
            }
        }
    }

    /// An element of an array.
    pub(super) fn element_of(&mut self, subject: &Subject, elem: &Ty, index: usize, pos: Pos) -> Subject {
        match subject {
            Subject::Mem(mem) => Subject::Mem(self.project_index(mem, Operand::int(index as i64), pos)),
            other => {
                let size = self.p.leaf_count(elem) as usize;
                let value = self.leaves_of(other, pos);
                Subject::Value(value.iter().skip(index * size).take(size).copied().collect())
            }
        }
    }

    /// A field of a variant that the subject is known to be.
    pub(super) fn variant_field(
        &mut self,
        subject: &Subject,
        shape: &Shape,
        variant: usize,
        field: usize,
        pos: Pos,
    ) -> Subject {
        match subject {
            Subject::Mem(mem) | Subject::Tagged(mem, _) => {
                Subject::Mem(self.project_variant(mem, shape, variant, field, pos))
            }
            other => {
                let value = self.leaves_of(other, pos);
                let leaves = self.payload(shape, variant, &value);
                let types = &shape.variants[variant].types;
                let before: u64 = types.iter().take(field).map(|t| self.p.leaf_count(t)).sum();
                let n = types.get(field).map_or(0, |t| self.p.leaf_count(t));
                Subject::Value(leaves.iter().skip(before as usize).take(n as usize).copied().collect())
            }
        }
    }

    /// The subject with the tag read that it begins with, behind references too, if it is an enum.
    pub(super) fn tagged(&mut self, subject: Subject, ty: &Ty, pos: Pos) -> Subject {
        match (subject, ty) {
            (Subject::Mem(mem), _) => match self.p.shape(ty).filter(|s| s.has_payload()) {
                Some(shape) => {
                    let tag = self.load_tag(&mem, &shape, pos);
                    Subject::Tagged(mem, tag)
                }
                None => Subject::Mem(mem),
            },
            (Subject::Ref(inner), Ty::Ref(_, to)) => Subject::Ref(Box::new(self.tagged(*inner, to, pos))),
            (Subject::Parts(parts), Ty::Tuple(items)) => {
                let parts = parts.into_iter().zip(items.iter()).map(|(p, t)| self.tagged(p, t, pos));
                Subject::Parts(parts.collect())
            }
            (other, _) => other,
        }
    }

    /// The tag of an enum.
    pub(super) fn tag_of(&mut self, subject: &Subject, shape: &Shape, pos: Pos) -> Operand {
        match subject {
            Subject::Tagged(_, tag) => *tag,
            Subject::Mem(mem) if shape.has_payload() => self.load_tag(mem, shape, pos),
            other => self.leaves_of(other, pos).first().copied().unwrap_or(Operand::int(0)),
        }
    }

    /// The type of what a match looks at, without references around it, and the subject if all arms look through them.
    pub(super) fn look_through(
        &mut self,
        subject: Subject,
        ty: &Ty,
        pats: &[&Pat],
        changes: bool,
        pos: Pos,
    ) -> (Subject, Ty) {
        let derefs = |p: &&Pat| matches!(p.kind, PatKind::Deref(_));
        let Ty::Ref(_, to) = ty else { return (subject, ty.clone()) };
        if !pats.iter().any(derefs) {
            return (subject, ty.clone());
        }
        let to = self.ty(to);
        let Some(inner) = self.behind(&subject, ty, changes, pos) else { return (subject, ty.clone()) };
        let below: Vec<&Pat> = pats
            .iter()
            .filter_map(|p| if let PatKind::Deref(inner) = &p.kind { Some(&**inner) } else { None })
            .collect();
        let (inner, _) = self.look_through(inner, &to, &below, changes, pos);
        (Subject::Ref(Box::new(inner)), ty.clone())
    }

    /// Lets a variable stand for a reference to the subject; false if the reference must be made.
    pub(super) fn refer(&mut self, id: usize, subject: &Subject) -> bool {
        let plain = !self.locals[id].mutable && !self.locals[id].addressed;
        match subject {
            Subject::Mem(mem) | Subject::Tagged(mem, _) if plain => {
                self.elements[id] = Some(Element { mem: mem.clone() });
                true
            }
            _ => false,
        }
    }
}

impl Subject {
    /// The subject, an enum or a reference to one, where its tag is known to be `tag`.
    pub(super) fn with_tag(&self, tag: i64) -> Subject {
        match self {
            Subject::Value(value) => {
                let mut value = value.clone();
                if let Some(first) = value.first_mut() {
                    *first = Operand::int(tag);
                }
                Subject::Value(value)
            }
            Subject::Mem(mem) | Subject::Tagged(mem, _) => Subject::Tagged(mem.clone(), Operand::int(tag)),
            Subject::Ref(inner) => Subject::Ref(Box::new(inner.with_tag(tag))),
            Subject::Parts(_) => self.clone(),
        }
    }
}

/// Whether evaluating the expression changes nothing.
fn is_quiet(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Local(_) | ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Char(_) => true,
        ExprKind::Float(_) | ExprKind::Unit => true,
        ExprKind::Field(inner, _) | ExprKind::Deref(inner) | ExprKind::Freeze(inner) => is_quiet(inner),
        ExprKind::Index(base, index) => is_quiet(base) && is_quiet(index),
        ExprKind::Ref { place, .. } => is_quiet(place),
        ExprKind::Tuple(items) => items.iter().all(is_quiet),
        _ => false,
    }
}

/// The shape of the enum that a type is behind references.
pub(super) fn enum_behind(p: &super::Program<'_>, ty: &Ty) -> Option<Rc<Shape>> {
    match ty {
        Ty::Ref(_, to) => enum_behind(p, to),
        _ => p.shape(ty),
    }
}
