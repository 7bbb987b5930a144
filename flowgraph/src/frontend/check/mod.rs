//! Checking: from syntax to the typed tree.
//!
//! One walk in source order over a body, as rustc does it: types are unified on the way, expectations flow down to
//! literals, coercions happen at arguments, initialisers, fields, assignments and results. What isn't in the dialect
//! is refused, and the walk goes on, so that all problems are reported at once.

mod call;
mod condition;
mod control;
mod expr;
mod macros;
mod method;
mod operator;
mod pattern;
mod recorded;
mod reference;
mod remedies;

use super::infer::{Infer, VarKind};
use super::items::{FnItem, FnTypes, Item, ModuleId, Program, Space};
use super::numbers;
use super::refusal::{Pos, Reason};
use super::tree::{Body, ConstId, Expr, ExprKind, Local, LocalId, LoopId, Pat, PatKind};
use super::types::Ty;
use super::uses::Pending;
use super::written::Site;
use crate::ir::{FileId, Scalar};
use crate::near::{did_you_mean, near_names};
use proc_macro2::Span;
use std::cell::Cell;
use std::rc::Rc;
use syn::spanned::Spanned;

/// What a name of a block means.
#[derive(Clone, Debug)]
enum Binding {
    Local(LocalId),
    Const(ConstId),
}

/// A loop or labelled block around what is being checked.
struct LoopScope {
    id: LoopId,
    label: Option<String>,
    /// The type of what `break` gives, where it gives something.
    value: Option<Ty>,
    /// `continue` and plain `break` work.
    is_loop: bool,
    broken: bool,
}

pub(super) struct Checker<'p, 's> {
    p: &'p Program<'s>,
    module: ModuleId,
    pub(super) file: FileId,
    self_ty: Option<Ty>,
    infer: Infer,
    locals: Vec<Local>,
    scopes: Vec<Vec<(String, Binding)>>,
    loops: Vec<LoopScope>,
    loop_count: usize,
    result: Ty,
    /// What comes next can't be reached.
    diverges: bool,
    /// Something in the body was refused, or uses what was.
    failed: Cell<bool>,
    pub(super) uses: Vec<Pending>,
}

impl<'p, 's> Checker<'p, 's> {
    fn new(p: &'p Program<'s>, site: Site<'_>) -> Checker<'p, 's> {
        let consts = site.consts.iter().map(|(name, id)| (name.clone(), Binding::Const(*id))).collect();
        Checker {
            p,
            module: site.module,
            file: p.file_of(site.module),
            self_ty: site.self_ty.cloned(),
            infer: Infer::default(),
            locals: Vec::new(),
            scopes: vec![consts],
            loops: Vec::new(),
            loop_count: 0,
            result: Ty::Error,
            diverges: false,
            failed: Cell::new(false),
            uses: Vec::new(),
        }
    }

    /// Checks the body of a function.
    pub(super) fn function(p: &'p Program<'s>, f: &FnItem<'s>, types: &FnTypes) -> Body {
        let mut c = Checker::new(p, f.site());
        let params = c.parameters(f, types);
        let result = types.result.clone();
        c.result = result.clone();
        let braces = f.block.brace_token.span;
        let (block, ty) = c.block(f.block, Some(&result));
        let pos = c.pos(if block.tail.is_some() { braces.open() } else { braces.close() });
        let value = Expr { kind: ExprKind::Block(block), ty, pos };
        let value = c.coerce(value, &result);
        let failed = c.failed.get();
        let uses = c.uses.iter().filter_map(|used| used.resolve(&mut c.infer));
        p.uses.borrow_mut().extend(uses);
        Body { locals: c.locals, params, value, result, infer: c.infer, loops: c.loop_count, failed }
    }

    /// Checks a condition on the parameters of a function.
    pub(super) fn decision(p: &'p Program<'s>, f: &FnItem<'s>, types: &FnTypes, cond: &syn::Expr) -> Body {
        let mut c = Checker::new(p, f.site());
        let params = c.parameters(f, types);
        let result = Ty::Scalar(Scalar::Bool);
        c.result = result.clone();
        let value = c.expr(cond, Some(&result));
        let value = c.coerce(value, &result);
        let failed = c.failed.get();
        Body { locals: c.locals, params, value, result, infer: c.infer, loops: c.loop_count, failed }
    }

    /// Declares the parameters of a function.
    fn parameters(&mut self, f: &FnItem<'s>, types: &FnTypes) -> Vec<(Pat, Ty)> {
        self.scopes.push(Vec::new());
        let mut params = Vec::new();
        for (input, ty) in f.sig.inputs.iter().zip(&types.params) {
            let pat = match input {
                syn::FnArg::Receiver(r) => {
                    let pos = self.pos(r.self_token.span);
                    let local = self.declare("self", ty.clone(), r.reference.is_none() && r.mutability.is_some(), pos);
                    Pat { kind: PatKind::Bind(local, None), ty: ty.clone(), pos }
                }
                syn::FnArg::Typed(t) => self.pattern(&t.pat, ty),
            };
            self.irrefutable(&pat);
            params.push((pat, ty.clone()));
        }
        for (i, local) in self.locals.iter().enumerate() {
            if self.locals[..i].iter().any(|before| before.name == local.name) {
                self.p.refuse_at(local.pos, Reason::Duplicate, &format!("the parameter `{}`", local.name));
            }
        }
        params
    }

    /// Checks the expression of a constant, or an array's length.
    pub(super) fn constant(p: &'p Program<'s>, site: Site<'_>, expr: &syn::Expr, ty: &Ty) -> Body {
        let mut c = Checker::new(p, site);
        c.result = ty.clone();
        let value = c.expr(expr, Some(ty));
        let value = c.coerce(value, ty);
        for used in &c.uses {
            if let Some(detail) = used.open_in_constants() {
                p.refuse_at(used.pos, Reason::Constant, &detail);
            }
        }
        let (failed, result) = (c.failed.get(), ty.clone());
        Body { locals: c.locals, params: Vec::new(), value, result, infer: c.infer, loops: c.loop_count, failed }
    }

    // ---- places and refusals

    fn pos(&self, span: Span) -> Pos {
        Pos::of(self.file, span)
    }

    fn refuse(&self, span: Span, reason: Reason, detail: &str) -> Expr {
        let pos = self.pos(span);
        self.p.refuse_at(pos, reason, detail);
        self.error(pos)
    }

    /// Refuses a method that the dialect hasn't got.
    fn refuse_method(&self, span: Span, name: &str, detail: &str) -> Expr {
        let remedy = remedies::of_method(name).unwrap_or(Reason::NoMethod.remedy());
        self.refuse_with(span, Reason::NoMethod, detail, remedy)
    }

    /// Refuses something for which there is a better remedy than what is usual for the reason.
    fn refuse_with(&self, span: Span, reason: Reason, detail: &str, remedy: &str) -> Expr {
        let pos = self.pos(span);
        self.p.refuse_with(pos, reason, detail, remedy);
        self.error(pos)
    }

    /// What to do about a name that isn't there: the ones that may have been meant.
    fn spelling(&self, name: &str) -> String {
        let bound = self.scopes.iter().flatten().map(|(bound, _)| bound.as_str());
        let scope = &self.p.modules[self.module];
        let values = scope.names.keys().filter(|(space, _)| *space == Space::Value).map(|(_, name)| name.as_str());
        let imported = scope.imports.keys().map(String::as_str);
        let near = near_names(name, bound.chain(values).chain(imported).chain(numbers::prelude_functions()));
        let usual = Reason::UnknownName.remedy();
        did_you_mean(&near).map_or_else(|| usual.to_owned(), |meant| format!("{meant} ({usual})"))
    }

    fn error(&self, pos: Pos) -> Expr {
        self.failed.set(true);
        Expr { kind: ExprKind::Error, ty: Ty::Error, pos }
    }

    fn text(&self, node: &impl Spanned) -> String {
        self.p.source_text(self.file, node.span())
    }

    /// The type for a message.
    fn show(&mut self, ty: &Ty) -> String {
        match self.infer.kind(ty) {
            Some(VarKind::Integer) => "{integer}".to_owned(),
            Some(VarKind::Float) => "{float}".to_owned(),
            _ => self.infer.resolve(ty).to_string(),
        }
    }

    // ---- names

    fn declare(&mut self, name: &str, ty: Ty, mutable: bool, pos: Pos) -> LocalId {
        self.locals.push(Local { name: name.to_owned(), ty, mutable, late: false, pos, addressed: false });
        let id = self.locals.len() - 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.to_owned(), Binding::Local(id)));
        }
        id
    }

    fn binding(&self, name: &str) -> Option<Binding> {
        self.scopes.iter().rev().find_map(|s| s.iter().rev().find(|(n, _)| n == name).map(|(_, b)| b.clone()))
    }

    /// The constants of the enclosing blocks, for types and constants written in them.
    fn const_scope(&self) -> Vec<(String, ConstId)> {
        let entries = self.scopes.iter().flatten();
        entries.filter_map(|(n, b)| if let Binding::Const(id) = b { Some((n.clone(), *id)) } else { None }).collect()
    }

    pub(super) fn written_type(&mut self, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Infer(_) => self.infer.fresh(VarKind::Any),
            syn::Type::Array(a) if matches!(&*a.elem, syn::Type::Infer(_)) => {
                let elem = self.infer.fresh(VarKind::Any);
                self.array_length(&a.len).map_or(Ty::Error, |n| Ty::Array(Rc::new(elem), n))
            }
            _ => self.here(|p, site| p.resolve_type(site, ty, false)),
        }
    }

    fn array_length(&self, len: &syn::Expr) -> Option<u64> {
        self.here(|p, site| p.array_length(site, len))
    }

    /// What `of` says about the place that checking has come to.
    fn here<T>(&self, of: impl FnOnce(&Program<'s>, Site<'_>) -> T) -> T {
        let consts = self.const_scope();
        of(self.p, Site { module: self.module, self_ty: self.self_ty.as_ref(), consts: &consts })
    }

    fn lookup_path(&self, path: &syn::Path, space: Space) -> Option<Item> {
        let mut segments: Vec<String> = path.segments.iter().map(|s| super::items::ident_text(&s.ident)).collect();
        if segments.len() > 1 && segments[0] == "Self" {
            match &self.self_ty {
                Some(Ty::Struct(key) | Ty::Enum(key)) => {
                    let found = match self.self_ty {
                        Some(Ty::Enum(_)) => self.p.enum_info(key).and_then(|e| {
                            let index = e.variants.iter().position(|v| v.name == segments[1])?;
                            Some(Item::Variant(key.clone(), index))
                        }),
                        _ => None,
                    };
                    return found.or_else(|| self.p.associated.get(&(key.clone(), segments.swap_remove(1))).cloned());
                }
                _ => return None,
            }
        }
        if let ([name], Space::Type, Some(ty)) = (segments.as_slice(), space, &self.self_ty)
            && name == "Self"
        {
            return match ty {
                Ty::Struct(key) => Some(Item::Struct(key.clone())),
                Ty::Enum(key) => Some(Item::Enum(key.clone())),
                _ => None,
            };
        }
        self.p.lookup(self.module, &segments, space)
    }

    /// A path as text, with the type that an alias at its beginning stands for, if that is one of numbers or cells. Of
    /// a cell also what is in it.
    fn known_text(&self, path: &syn::Path) -> (String, Option<Rc<Ty>>) {
        let segments: Vec<String> = path.segments.iter().map(|s| super::items::ident_text(&s.ident)).collect();
        let alias =
            segments.split_last().filter(|(_, before)| !before.is_empty()).and_then(|(last, before)| {
                match self.p.lookup(self.module, before, Space::Type)? {
                    Item::Alias(alias) => Some((last, self.p.resolve_alias(alias))),
                    _ => None,
                }
            });
        match alias {
            Some((last, Ty::Scalar(scalar))) => (format!("{}::{last}", scalar.name()), None),
            Some((last, Ty::Cell(of))) => (format!("Cell::{last}"), Some(of)),
            _ => (segments.join("::"), None),
        }
    }

    // ---- types that fit

    fn mismatch(&mut self, pos: Pos, expected: &Ty, found: &Ty) {
        let detail = format!("expected `{}`, found `{}`", self.show(expected), self.show(found));
        self.p.refuse_at(pos, Reason::TypeMismatch, &detail);
    }

    /// Makes the expression's type `expected`, or refuses it.
    fn same(&mut self, expr: &Expr, expected: &Ty) {
        if !self.infer.unify(expected, &expr.ty) {
            self.mismatch(expr.blamed_pos(), expected, &expr.ty);
        }
    }

    /// The expression as one of type `to`: at arguments, initialisers, fields, assignments, results.
    fn coerce(&mut self, expr: Expr, to: &Ty) -> Expr {
        let (from, target) = (self.infer.shallow(&expr.ty), self.infer.shallow(to));
        let pos = expr.value_pos();
        let wrap = |kind, ty: &Ty| Expr { kind, ty: ty.clone(), pos };
        match (&from, &target) {
            (Ty::Never, Ty::Never) => expr,
            (Ty::Never, _) => wrap(ExprKind::FromNever(Box::new(expr)), to),
            (Ty::Ref(m, t), Ty::Slice(n, elem)) => match self.infer.shallow(t) {
                Ty::Array(u, _) if *m || !*n => {
                    if !self.infer.unify(elem, &u) {
                        self.mismatch(pos, to, &from);
                    }
                    wrap(ExprKind::ArrayToSlice(Box::new(expr)), to)
                }
                inner @ (Ty::Slice(..) | Ty::Ref(..)) => {
                    let inner = wrap(ExprKind::Deref(Box::new(expr)), &inner);
                    self.coerce(inner, to)
                }
                _ => {
                    self.mismatch(pos, to, &from);
                    self.error(pos)
                }
            },
            (Ty::Ref(true, t), Ty::Ref(false, u)) | (Ty::Slice(true, t), Ty::Slice(false, u)) => {
                if !self.infer.unify(u, t) {
                    self.mismatch(pos, to, &from);
                }
                wrap(ExprKind::Freeze(Box::new(expr)), to)
            }
            // `&&T` as `&T`.
            (Ty::Ref(_, t), Ty::Ref(_, u)) if matches!(self.infer.shallow(t), Ty::Ref(..)) && self.is_plain(u) => {
                let inner = self.infer.shallow(t);
                let inner = wrap(ExprKind::Deref(Box::new(expr)), &inner);
                self.coerce(inner, to)
            }
            _ => {
                self.same(&expr, to);
                expr
            }
        }
    }

    /// Whether a type is known not to be a reference.
    fn is_plain(&mut self, ty: &Ty) -> bool {
        !matches!(self.infer.shallow(ty), Ty::Ref(..) | Ty::Slice(..) | Ty::Str | Ty::Var(_) | Ty::Error)
    }

    /// The expression without references around it.
    fn autoderef(&mut self, expr: Expr) -> Expr {
        let mut expr = expr;
        while let Ty::Ref(_, to) = self.infer.shallow(&expr.ty) {
            let pos = expr.pos;
            expr = Expr { kind: ExprKind::Deref(Box::new(expr)), ty: (*to).clone(), pos };
        }
        expr.ty = self.infer.shallow(&expr.ty);
        expr
    }

    fn make(&mut self, kind: ExprKind, ty: Ty, pos: Pos) -> Expr {
        if ty == Ty::Never {
            self.diverges = true;
        }
        Expr { kind, ty, pos }
    }
}

/// What is wrong with a call that hands over too many or too few arguments.
fn wrong_count(name: &str, takes: usize, given: usize) -> String {
    let arguments = if takes == 1 { "argument" } else { "arguments" };
    format!("`{name}` takes {takes} {arguments}, here are {given}")
}

impl<'s> Program<'s> {
    /// Resolves the signature of a function, once.
    pub(super) fn fn_types(&self, id: usize) -> Option<Rc<FnTypes>> {
        self.functions[id].types.borrow().clone()
    }
}
