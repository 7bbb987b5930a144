//! References, slices of slices, and what may be written.

use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind, Local, LocalId};
use super::super::types::{Ty, USIZE};
use super::Checker;
use super::expr::{start, strip};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Where a place begins.
enum Root {
    /// A variable itself.
    Local(LocalId),
    /// Memory behind a reference.
    Memory,
    /// A constant or static.
    Constant,
    /// A value without a place.
    Value,
}

fn root(place: &Expr) -> Root {
    match &place.kind {
        ExprKind::Local(id) => Root::Local(*id),
        ExprKind::Const(_) => Root::Constant,
        ExprKind::Deref(_) => Root::Memory,
        ExprKind::Index(base, _) if matches!(base.ty, Ty::Slice(..)) => Root::Memory,
        ExprKind::Field(base, _) | ExprKind::Index(base, _) => root(base),
        _ => Root::Value,
    }
}

impl Checker<'_, '_> {
    /// `&e` and `&mut e`. `argument`: it is handed to a call at once.
    pub(super) fn reference(&mut self, r: &syn::ExprReference, expected: Option<&Ty>, argument: bool) -> Expr {
        let pos = start(self.file, &syn::Expr::Reference(r.clone()));
        let mutable = r.mutability.is_some();
        if let syn::Expr::Index(i) = strip(&r.expr)
            && matches!(strip(&i.index), syn::Expr::Range(_))
        {
            let slice = self.index(i, mutable, pos);
            return self.check_slice_root(slice, r, argument);
        }
        let hint = match expected.map(|e| self.infer.shallow(e)) {
            Some(Ty::Ref(_, t)) => Some((*t).clone()),
            Some(Ty::Slice(_, t)) => Some(Ty::Slice(false, t)),
            _ => None,
        };
        let place = self.expr(&r.expr, hint.as_ref());
        let is_deref = matches!(strip(&r.expr), syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)));
        match self.infer.shallow(&place.ty) {
            Ty::Error => return self.error(pos),
            // `&*slice`, `&mut *slice`
            Ty::Slice(m, t) if is_deref => {
                if mutable && !m {
                    return self.refuse(r.span(), Reason::SharedWrite, &format!("`{}`", self.text(&r.expr)));
                }
                let ty = Ty::Slice(mutable, t);
                return if m == mutable { place } else { self.make(ExprKind::Freeze(Box::new(place)), ty, pos) };
            }
            Ty::Str if is_deref => return place,
            _ => {}
        }
        self.reference_to(place, mutable, argument, r, pos)
    }

    /// A reference to a place that has been checked.
    pub(super) fn reference_to(
        &mut self,
        place: Expr,
        mutable: bool,
        argument: bool,
        at: &impl Spanned,
        pos: Pos,
    ) -> Expr {
        match root(&place) {
            Root::Local(id) => {
                self.locals[id].addressed = true;
                if !argument {
                    let remedy = match &place.ty {
                        Ty::Ref(..) | Ty::Slice(..) => "the variable is a reference already: hand it over as it is",
                        _ => Reason::LocalReference.remedy(),
                    };
                    return self.refuse_with(at.span(), Reason::LocalReference, "", remedy);
                }
                if mutable {
                    self.writable(&place, at, false);
                }
            }
            Root::Memory if mutable => self.writable(&place, at, false),
            Root::Constant if mutable => {
                return self.refuse(at.span(), Reason::ValueReference, "a constant that may be changed");
            }
            Root::Value if mutable && !argument => {
                return self.refuse(at.span(), Reason::ValueReference, "a temporary value");
            }
            _ => {}
        }
        self.note_field(&place);
        let ty = Ty::Ref(mutable, Rc::new(place.ty.clone()));
        self.make(ExprKind::Ref { mutable, place: Box::new(place), argument }, ty, pos)
    }

    /// The variable that the place is part of needs an address.
    pub(super) fn needs_address(&mut self, place: &Expr) {
        if let Root::Local(id) = root(place) {
            self.locals[id].addressed = true;
        }
    }

    /// Remembers scalar fields that references point to.
    fn note_field(&mut self, place: &Expr) {
        if let ExprKind::Field(base, index) = &place.kind {
            let key = (self.infer.resolve(&base.ty).to_string(), *index);
            self.p.referenced_fields.borrow_mut().insert(key);
        }
    }

    /// `base[from..to]`
    pub(super) fn slice_of(
        &mut self,
        base: Expr,
        range: &syn::ExprRange,
        mutable: bool,
        at: &syn::Expr,
        pos: Pos,
    ) -> Expr {
        let mut bound = |e: &Option<Box<syn::Expr>>| {
            let e = e.as_ref()?;
            let value = self.expr(e, Some(&USIZE));
            Some(Box::new(self.coerce(value, &USIZE)))
        };
        let (from, to) = (bound(&range.start), bound(&range.end));
        if matches!(range.limits, syn::RangeLimits::Closed(_)) {
            let detail = "an inclusive range as an index of a slice";
            return self.refuse_with(
                range.span(),
                Reason::Expression,
                detail,
                "write the end behind it: `&a[i..j + 1]`",
            );
        }
        let elem = match &base.ty {
            Ty::Array(t, _) | Ty::Slice(_, t) => t.clone(),
            Ty::Error => return self.error(pos),
            other => {
                let ty = self.show(&other.clone());
                return self.refuse(at.span(), Reason::NoOperator, &format!("a part of `{ty}` can't be taken"));
            }
        };
        if mutable {
            match &base.ty {
                Ty::Slice(true, _) => self.writable_path(&base, at),
                Ty::Slice(false, _) => {
                    self.refuse(at.span(), Reason::SharedWrite, &format!("`{}`", self.text(at)));
                }
                _ => self.writable(&base, at, false),
            }
        }
        let kind = ExprKind::SliceOf { base: Box::new(base), from, to };
        self.make(kind, Ty::Slice(mutable, elem), pos)
    }

    /// A part of a local array may only be an argument.
    pub(super) fn check_slice_root(&mut self, slice: Expr, at: &impl Spanned, argument: bool) -> Expr {
        if let ExprKind::SliceOf { base, .. } = &slice.kind
            && matches!(base.ty, Ty::Array(..))
        {
            match root(base) {
                Root::Local(id) => {
                    self.locals[id].addressed = true;
                    if !argument {
                        return self.refuse(at.span(), Reason::LocalReference, "");
                    }
                }
                Root::Value if !argument => {
                    return self.refuse(at.span(), Reason::ValueReference, "a temporary value");
                }
                _ => {}
            }
        }
        slice
    }

    /// Refuses a place that can't be written. `whole`: it is assigned, so a variable that has no value yet is fine.
    pub(super) fn writable(&mut self, place: &Expr, at: &impl Spanned, whole: bool) {
        match &place.kind {
            ExprKind::Local(id) => {
                let local = &self.locals[*id];
                if !(local.mutable || (local.late && whole)) {
                    self.not_mutable(*id, at);
                }
            }
            ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Deref(_) => self.writable_path(place, at),
            ExprKind::Error => {}
            _ => {
                self.refuse(at.span(), Reason::NotAssignable, &format!("`{}`", self.text(at)));
            }
        }
    }

    fn writable_path(&mut self, place: &Expr, at: &impl Spanned) {
        let shared = |c: &mut Self| {
            let text = c.text(at);
            c.refuse(at.span(), Reason::SharedWrite, &format!("`{text}`"));
        };
        match &place.kind {
            ExprKind::Deref(e) => match self.infer.shallow(&e.ty) {
                Ty::Ref(false, _) => shared(self),
                _ => self.writable_path(e, at),
            },
            ExprKind::Index(base, _) => match self.infer.shallow(&base.ty) {
                Ty::Slice(false, _) => shared(self),
                _ => self.writable_path(base, at),
            },
            ExprKind::Field(base, _) => match &base.kind {
                ExprKind::Local(_) => self.writable(base, at, false),
                _ => self.writable_path(base, at),
            },
            ExprKind::Const(_) if matches!(place.ty, Ty::Array(..) | Ty::Struct(_) | Ty::Tuple(_)) => {
                self.refuse(at.span(), Reason::NotAssignable, "a constant");
            }
            ExprKind::Local(id)
                if !matches!(self.infer.shallow(&place.ty), Ty::Ref(..) | Ty::Slice(..))
                    && !self.locals[*id].mutable =>
            {
                self.not_mutable(*id, at);
            }
            _ => {}
        }
    }

    fn not_mutable(&mut self, id: LocalId, at: &impl Spanned) {
        let Local { name, pos, .. } = &self.locals[id];
        let remedy = match name.as_str() {
            "self" => format!("take `mut self` or `&mut self` in line {}", pos.loc.line),
            name => format!("write `mut {name}` in line {}, where the variable begins", pos.loc.line),
        };
        self.refuse_with(at.span(), Reason::NotAssignable, &format!("`{name}` (it isn't `mut`)"), &remedy);
    }
}
