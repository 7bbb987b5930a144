//! Type inference: unification, with integer and float literals defaulting to `i32` and `f64` as in rustc.

use super::types::Ty;
use crate::ir::Scalar;
use ena::unify::{InPlaceUnificationTable, NoError, UnifyKey, UnifyValue};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TyVar(u32);

/// What is known about a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum VarKind {
    Any,
    Integer,
    Float,
    Known(Ty),
}

impl UnifyKey for TyVar {
    type Value = VarKind;
    fn index(&self) -> u32 {
        self.0
    }
    fn from_index(u: u32) -> TyVar {
        TyVar(u)
    }
    fn tag() -> &'static str {
        "TyVar"
    }
}

impl UnifyValue for VarKind {
    type Error = NoError;
    // Only called with kinds that `Infer::unify` found to be compatible.
    fn unify_values(a: &VarKind, b: &VarKind) -> Result<VarKind, NoError> {
        Ok(match (a, b) {
            (VarKind::Any, other) | (other, VarKind::Any) => other.clone(),
            (VarKind::Known(_), _) => a.clone(),
            _ => b.clone(),
        })
    }
}

/// The variables of one function.
#[derive(Default)]
pub(super) struct Infer {
    table: InPlaceUnificationTable<TyVar>,
}

impl Infer {
    pub(super) fn fresh(&mut self, kind: VarKind) -> Ty {
        Ty::Var(self.table.new_key(kind).0)
    }

    /// The type with its outermost variable replaced, if that is known.
    pub(super) fn shallow(&mut self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Var(v) = ty {
            match self.table.probe_value(TyVar(v)) {
                VarKind::Known(known) => ty = known,
                _ => return Ty::Var(self.table.find(TyVar(v)).0),
            }
        }
        ty
    }

    /// What is known of the type if it is a variable.
    pub(super) fn kind(&mut self, ty: &Ty) -> Option<VarKind> {
        match self.shallow(ty) {
            Ty::Var(v) => Some(self.table.probe_value(TyVar(v))),
            _ => None,
        }
    }

    pub(super) fn is_integer(&mut self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Scalar(s) => s.is_integer(),
            other => self.kind(&other) == Some(VarKind::Integer),
        }
    }

    pub(super) fn is_float(&mut self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Scalar(s) => s.is_float(),
            other => self.kind(&other) == Some(VarKind::Float),
        }
    }

    /// Makes two types equal, or says that they can't be.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            // What was refused once is not complained about again.
            (Ty::Error, Ty::Var(v)) | (Ty::Var(v), Ty::Error) => {
                self.table.unify_var_value(TyVar(*v), VarKind::Known(Ty::Error)).is_ok()
            }
            (Ty::Error, _) | (_, Ty::Error) => true,
            (Ty::Var(x), Ty::Var(y)) => {
                let kinds = (self.table.probe_value(TyVar(*x)), self.table.probe_value(TyVar(*y)));
                if matches!(kinds, (VarKind::Integer, VarKind::Float) | (VarKind::Float, VarKind::Integer)) {
                    return false;
                }
                self.table.unify_var_var(TyVar(*x), TyVar(*y)).is_ok()
            }
            (Ty::Var(v), known) | (known, Ty::Var(v)) => {
                let fits = match self.table.probe_value(TyVar(*v)) {
                    VarKind::Integer => known.as_scalar().is_some_and(Scalar::is_integer),
                    VarKind::Float => known.as_scalar().is_some_and(Scalar::is_float),
                    _ => !self.occurs(*v, known),
                };
                fits && self.table.unify_var_value(TyVar(*v), VarKind::Known(known.clone())).is_ok()
            }
            (Ty::Ref(m, t), Ty::Ref(n, u)) | (Ty::Slice(m, t), Ty::Slice(n, u)) => m == n && self.unify(t, u),
            (Ty::Tuple(ts), Ty::Tuple(us)) => {
                ts.len() == us.len() && ts.iter().zip(us.iter()).all(|(t, u)| self.unify(t, u))
            }
            (Ty::Array(t, m), Ty::Array(u, n)) => m == n && self.unify(t, u),
            (Ty::Cell(t), Ty::Cell(u)) | (Ty::Option(t), Ty::Option(u)) => self.unify(t, u),
            (Ty::Result(t, e), Ty::Result(u, f)) => self.unify(t, u) && self.unify(e, f),
            _ => a == b,
        }
    }

    fn occurs(&mut self, v: u32, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Var(w) => self.table.unioned(TyVar(v), TyVar(w)),
            Ty::Ref(_, t) | Ty::Slice(_, t) | Ty::Array(t, _) | Ty::Cell(t) | Ty::Option(t) => self.occurs(v, &t),
            Ty::Tuple(items) => items.iter().any(|t| self.occurs(v, t)),
            Ty::Result(t, e) => self.occurs(v, &t) || self.occurs(v, &e),
            _ => false,
        }
    }

    /// The type with all variables replaced: those of literals by their defaults, those that nothing is known of by
    /// [`Ty::Var`] still.
    pub(super) fn resolve(&mut self, ty: &Ty) -> Ty {
        let shallow = self.shallow(ty);
        match shallow {
            Ty::Var(_) => match self.kind(&shallow) {
                Some(VarKind::Integer) => Ty::Scalar(Scalar::I32),
                Some(VarKind::Float) => Ty::Scalar(Scalar::F64),
                _ => shallow,
            },
            Ty::Ref(m, t) => Ty::Ref(m, Rc::new(self.resolve(&t))),
            Ty::Slice(m, t) => Ty::Slice(m, Rc::new(self.resolve(&t))),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|t| self.resolve(t)).collect()),
            Ty::Array(t, n) => Ty::Array(Rc::new(self.resolve(&t)), n),
            Ty::Cell(t) => Ty::Cell(Rc::new(self.resolve(&t))),
            Ty::Option(t) => Ty::Option(Rc::new(self.resolve(&t))),
            Ty::Result(t, e) => Ty::Result(Rc::new(self.resolve(&t)), Rc::new(self.resolve(&e))),
            other => other,
        }
    }

    /// Whether some part of the resolved type is still unknown.
    pub(super) fn is_unknown(ty: &Ty) -> bool {
        match ty {
            Ty::Var(_) => true,
            Ty::Ref(_, t) | Ty::Slice(_, t) | Ty::Array(t, _) | Ty::Cell(t) | Ty::Option(t) => Infer::is_unknown(t),
            Ty::Tuple(items) => items.iter().any(Infer::is_unknown),
            Ty::Result(t, e) => Infer::is_unknown(t) || Infer::is_unknown(e),
            _ => false,
        }
    }
}
