//! Constants: computing them, and their data.

use super::check::Checker;
use super::items::{ConstItem, ConstValue, Program, Progress};
use super::lower::Lowerer;
use super::refusal::{Pos, Reason};
use super::tree::{Body, ConstId};
use super::types::{Ty, USIZE, rust_type};
use super::written::Site;
use crate::ir::{Const, Data, DataId};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Constants that need each other, at most.
const MAX_DEPTH: usize = 40;

impl ConstItem {
    fn site(&self) -> Site<'_> {
        Site { module: self.module, self_ty: self.self_ty.as_ref(), consts: &self.scope }
    }
}

impl<'s> Program<'s> {
    /// The written type of a constant.
    pub(super) fn const_type(&self, id: ConstId) -> Ty {
        let item = self.consts.borrow()[id].clone();
        self.resolve_type(item.site(), &item.ty, false)
    }

    /// The value of a constant; `None` if it was refused.
    pub(super) fn const_value(&self, id: ConstId) -> Option<Rc<ConstValue>> {
        let item = self.consts.borrow()[id].clone();
        match &*item.value.borrow() {
            Progress::Done(value) => return value.clone(),
            Progress::Busy => {
                let name = format!("const `{}`", item.name);
                self.refuse(self.file_of(item.module), item.expr.span(), Reason::Recursive, &name);
                return None;
            }
            Progress::Todo => {}
        }
        *item.value.borrow_mut() = Progress::Busy;
        let ty = self.const_type(id);
        let leaves = self.compute(item.site(), &item.expr, &ty);
        let value = leaves.map(|leaves| Rc::new(ConstValue { ty, leaves }));
        *item.value.borrow_mut() = Progress::Done(value.clone());
        value
    }

    fn compute(&self, site: Site<'_>, expr: &syn::Expr, ty: &Ty) -> Option<Vec<Const>> {
        let pos = Pos::of(self.file_of(site.module), expr.span());
        if self.const_depth.get() >= MAX_DEPTH {
            self.refuse_at(pos, Reason::Constant, "this constant needs too many others, one for the other");
            return None;
        }
        self.const_depth.set(self.const_depth.get() + 1);
        let before = self.refusals.borrow().len();
        let Body { locals, value, infer, loops, failed, .. } = Checker::constant(self, site, expr, ty);
        let refused = |p: &Program<'_>| p.refusals.borrow().len() > before || *ty == Ty::Error || failed;
        let mut leaves = None;
        if !refused(self) {
            leaves = Lowerer::new(self, infer, locals, loops, true).constant_leaves(&value);
            if leaves.is_none() && !refused(self) {
                self.refuse_at(pos, Reason::Constant, "this constant can't be computed here");
            }
        }
        self.const_depth.set(self.const_depth.get() - 1);
        if refused(self) { None } else { leaves }
    }

    /// The length that an array type's or repeat expression's constant gives.
    pub(super) fn eval_length(&self, site: Site<'_>, expr: &syn::Expr) -> Option<u64> {
        let leaves = self.compute(site, expr, &USIZE)?;
        leaves.first()?.as_int().map(|n| n as u64)
    }

    // ---- data

    /// The address of a constant's data: it is in memory once.
    pub(super) fn const_data(&self, id: ConstId) -> Option<Const> {
        let item = self.consts.borrow()[id].clone();
        if let Some(data) = item.data.get() {
            return Some(Const::Addr(data, 0));
        }
        let value = self.const_value(id)?;
        let pos = Pos::of(self.file_of(item.module), item.expr.span());
        let data = self.add_data(Some(&item.name), &value.ty, &value.leaves, pos)?;
        item.data.set(Some(data));
        Some(Const::Addr(data, 0))
    }

    /// Data for a constant value without a name; `None` if it can't be data.
    pub(super) fn unnamed_data(&self, ty: &Ty, leaves: &[Const]) -> Option<Const> {
        if leaves.iter().any(|c| matches!(c, Const::Addr(..))) {
            return None;
        }
        self.add_data(None, ty, leaves, Pos::default()).map(|d| Const::Addr(d, 0))
    }

    pub(super) fn bytes_data(&self, bytes: &[u8]) -> Const {
        let leaves: Vec<Const> = bytes.iter().map(|b| Const::Int(i64::from(*b))).collect();
        let ty = Ty::Array(Rc::new(Ty::Scalar(crate::ir::Scalar::U8)), bytes.len() as u64);
        self.unnamed_data(&ty, &leaves).unwrap_or(Const::Int(0))
    }

    fn add_data(&self, name: Option<&str>, ty: &Ty, leaves: &[Const], pos: Pos) -> Option<DataId> {
        let rust = rust_type(ty)?;
        let mut bytes = vec![0; self.layout(ty).0 as usize];
        let mut rest = leaves;
        if !self.fill(ty, 0, &mut rest, &mut bytes) {
            self.refuse_at(pos, Reason::Constant, "a table of references or strings can only be indexed by literals");
            return None;
        }
        let mut module = self.module.borrow_mut();
        let name = match name {
            Some(name) => {
                let taken = |n: &str| module.data.iter().any(|d| d.name == n);
                let numbered = (1..).map(|i| format!("{name}_{i}"));
                [name.to_owned()].into_iter().chain(numbered).find(|n| !taken(n)).unwrap_or_default()
            }
            None => {
                let same = |d: &Data| d.ty == rust && d.bytes == bytes && d.name.starts_with("data_");
                if let Some(i) = module.data.iter().position(same) {
                    return Some(DataId(i as u32));
                }
                let n = self.unnamed_data.get();
                self.unnamed_data.set(n + 1);
                format!("data_{n}")
            }
        };
        Some(module.add_data(Data::plain(name, rust, bytes)))
    }

    /// Writes the leaves of a value into memory; false if one is an address.
    fn fill(&self, ty: &Ty, at: usize, leaves: &mut &[Const], bytes: &mut [u8]) -> bool {
        match ty {
            Ty::Struct(_) | Ty::Tuple(_) => {
                let fields = self.fields_of(ty);
                fields.iter().enumerate().all(|(i, t)| {
                    let offset = self.field_place(ty, i).0 as usize;
                    self.fill(t, at + offset, leaves, bytes)
                })
            }
            Ty::Array(t, n) => {
                let size = self.layout(t).0 as usize;
                let parts = if self.leaf_count(t) == 0 { 0 } else { *n as usize };
                (0..parts).all(|i| self.fill(t, at + i * size, leaves, bytes))
            }
            Ty::Cell(t) => self.fill(t, at, leaves, bytes),
            _ if self.has_payload(ty) => {
                let Some(shape) = self.shape(ty) else { return false };
                let n = (shape.words.len() + 1).min(leaves.len());
                let (own, rest) = leaves.split_at(n);
                *leaves = rest;
                let tag = own.first().and_then(|t| t.as_int());
                let Some(variant) = tag.and_then(|t| shape.index_of(t)).map(|i| &shape.variants[i]) else {
                    return false;
                };
                let mut tag = &own[..1];
                self.fill(&Ty::Scalar(shape.repr), at, &mut tag, bytes);
                let payload: Vec<Const> = variant.places.iter().filter_map(|i| own.get(*i).copied()).collect();
                let mut payload = payload.as_slice();
                let fields = variant.types.iter().zip(&variant.fields);
                fields.fold(true, |ok, (t, (_, offset))| self.fill(t, at + *offset as usize, &mut payload, bytes) && ok)
            }
            _ => {
                let mut scalars = Vec::new();
                self.leaf_scalars(ty, &mut scalars);
                let mut place = at;
                for scalar in scalars {
                    let Some((leaf, rest)) = leaves.split_first() else { return true };
                    *leaves = rest;
                    let Some(word) = leaf.word() else { return false };
                    let size = scalar.access().size() as usize;
                    if let Some(target) = bytes.get_mut(place..place + size) {
                        target.copy_from_slice(&word.to_le_bytes()[..size]);
                    }
                    place += size;
                }
                true
            }
        }
    }
}

impl Lowerer<'_, '_> {
    /// The leaves of a constant's value, if all of it folds.
    fn constant_leaves(mut self, value: &super::tree::Expr) -> Option<Vec<Const>> {
        let leaves = self.value(value);
        if self.has_trapped() {
            return None;
        }
        leaves.iter().map(|o| o.constant()).collect()
    }
}
