//! Blocks, statements, branches and loops.

use super::super::infer::VarKind;
use super::super::items::ident_text;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Arm, Block, Expr, ExprKind, LoopId, Pat, PatKind, Range, Stmt};
use super::super::types::{Ty, USIZE};
use super::expr::{start, strip};
use super::{Binding, Checker, LoopScope};
use std::rc::Rc;
use syn::spanned::Spanned;

/// What to do about an item that only a whole file may have.
const BESIDE: &str = "put it beside the function";

impl Checker<'_, '_> {
    /// A block and its type.
    pub(super) fn block(&mut self, b: &syn::Block, expected: Option<&Ty>) -> (Block, Ty) {
        self.scopes.push(Vec::new());
        self.block_items(b);
        let mut stmts = Vec::new();
        let mut tail = None;
        for (i, stmt) in b.stmts.iter().enumerate() {
            let last = i + 1 == b.stmts.len();
            match stmt {
                syn::Stmt::Local(l) => stmts.push(self.let_stmt(l)),
                syn::Stmt::Item(_) => {}
                // Just a semicolon.
                syn::Stmt::Expr(syn::Expr::Verbatim(nothing), Some(_)) if nothing.is_empty() => {}
                syn::Stmt::Expr(e, None) if last => {
                    let value = self.expr(e, expected);
                    tail = Some(match expected {
                        Some(ty) => self.coerce_if_branchy(value, ty),
                        None => value,
                    });
                }
                syn::Stmt::Expr(e, semi) => {
                    let value = self.expr(e, if semi.is_none() { Some(&Ty::Unit) } else { None });
                    if semi.is_none() && !matches!(value.ty, Ty::Never) {
                        self.same(&value, &Ty::Unit);
                    }
                    stmts.push(Stmt::Expr(value));
                }
                syn::Stmt::Macro(m) => {
                    let pos = self.pos(m.mac.path.span());
                    let value = self.macro_call(&m.mac, pos);
                    if last && m.semi_token.is_none() {
                        tail = Some(value);
                    } else {
                        stmts.push(Stmt::Expr(value));
                    }
                }
            }
        }
        self.scopes.pop();
        let ty = match &tail {
            Some(e) => e.ty.clone(),
            None if self.diverges => Ty::Never,
            None => Ty::Unit,
        };
        (Block { stmts, tail: tail.map(Box::new) }, ty)
    }

    /// Only a value whose type is known to want a coercion is coerced inside of the block.
    fn coerce_if_branchy(&mut self, value: Expr, ty: &Ty) -> Expr {
        let coercible = matches!(self.infer.shallow(ty), Ty::Ref(..) | Ty::Slice(..));
        if coercible && value.ty != Ty::Never { self.coerce(value, ty) } else { value }
    }

    /// Items of a block: constants. They are visible in all of it.
    fn block_items(&mut self, b: &syn::Block) {
        for stmt in &b.stmts {
            let syn::Stmt::Item(item) = stmt else { continue };
            let (ident, ty, expr) = match item {
                syn::Item::Const(c) => (&c.ident, &c.ty, &c.expr),
                syn::Item::Static(s) if !matches!(s.mutability, syn::StaticMutability::Mut(_)) => {
                    (&s.ident, &s.ty, &s.expr)
                }
                syn::Item::Use(_) => {
                    self.refuse(item.span(), Reason::Item, "`use` inside a function");
                    continue;
                }
                _ => {
                    self.refuse_with(item.span(), Reason::Item, "this item inside a function", BESIDE);
                    continue;
                }
            };
            let id = self.here(|p, site| p.add_const(site, ident, ty, expr));
            if let Some(names) = self.scopes.last_mut() {
                names.push((ident_text(ident), Binding::Const(id)));
            }
        }
    }

    fn let_stmt(&mut self, l: &syn::Local) -> Stmt {
        self.p.attributes(self.module, &l.attrs, &["allow", "warn", "deny", "expect", "rustfmt"]);
        let (pat, written) = match &l.pat {
            syn::Pat::Type(t) => (&*t.pat, Some(self.written_type(&t.ty))),
            other => (other, None),
        };
        let known = written.is_some();
        let ty = written.unwrap_or_else(|| self.infer.fresh(VarKind::Any));
        let mut init = None;
        let mut otherwise = None;
        if let Some(i) = &l.init {
            let value = match &l.pat {
                syn::Pat::Ident(_) | syn::Pat::Type(_) => self.expr(&i.expr, known.then_some(&ty)),
                _ => self.scrutinee(&i.expr),
            };
            init = Some(if known || value.ty == Ty::Never {
                self.coerce(value, &ty)
            } else {
                self.same(&value, &ty);
                value
            });
            if let Some((_, e)) = &i.diverge {
                let diverges = self.diverges;
                let value = self.expr(e, None);
                if value.ty != Ty::Never && value.ty != Ty::Error {
                    self.refuse(e.span(), Reason::TypeMismatch, "the `else` of a `let` must not come back");
                }
                self.diverges = diverges;
                otherwise = Some(value);
            }
        }
        let pat = self.pattern(pat, &ty);
        if otherwise.is_none() {
            self.irrefutable(&pat);
        }
        if init.is_none() {
            self.mark_late(&pat);
        }
        Stmt::Let { pat, init, otherwise }
    }

    fn mark_late(&mut self, pat: &Pat) {
        match &pat.kind {
            PatKind::Bind(id, _) => self.locals[*id].late = true,
            PatKind::Fields(fields) => fields.iter().for_each(|(_, field)| self.mark_late(field)),
            PatKind::Elements(first, last) => first.iter().chain(last).for_each(|element| self.mark_late(element)),
            _ => {}
        }
    }

    pub(super) fn block_expr(&mut self, b: &syn::ExprBlock, expected: Option<&Ty>, pos: Pos) -> Expr {
        let Some(label) = &b.label else {
            let (block, ty) = self.block(&b.block, expected);
            return self.make(ExprKind::Block(block), ty, pos);
        };
        let value = match expected {
            Some(ty) => ty.clone(),
            None => self.infer.fresh(VarKind::Any),
        };
        let id = self.enter_loop(Some(label), Some(value.clone()), false);
        let before = self.diverges;
        let (block, ty) = self.block(&b.block, Some(&value));
        let body = Expr { kind: ExprKind::Block(block), ty, pos };
        let body = self.coerce(body, &value);
        if self.leave_loop() {
            self.diverges = before;
        }
        self.make(ExprKind::Labelled(id, Box::new(body)), value, pos)
    }

    // ---- branches

    pub(super) fn if_expr(&mut self, i: &syn::ExprIf, expected: Option<&Ty>, pos: Pos) -> Expr {
        self.scopes.push(Vec::new());
        let cond = self.condition(&i.cond);
        let before = self.diverges;
        let (block, ty) = self.block(&i.then_branch, expected);
        self.scopes.pop();
        let then = Expr { kind: ExprKind::Block(block), ty, pos };
        let then_diverges = std::mem::replace(&mut self.diverges, before);
        let Some((_, e)) = &i.else_branch else {
            let then = self.coerce(then, &Ty::Unit);
            self.diverges = before;
            return self.make(ExprKind::If(Box::new(cond), Box::new(then), None), Ty::Unit, pos);
        };
        let otherwise = self.expr(e, expected.or(Some(&then.ty)).filter(|t| **t != Ty::Never));
        self.diverges = before || (self.diverges && then_diverges);
        let ty = self.join(&[&then, &otherwise], expected);
        let then = self.coerce(then, &ty);
        let otherwise = self.coerce(otherwise, &ty);
        self.make(ExprKind::If(Box::new(cond), Box::new(then), Some(Box::new(otherwise))), ty, pos)
    }

    /// The common type of branches: the first that comes back, frozen if any is. Where they differ it is the one that
    /// is expected, so that the others are to blame.
    fn join(&mut self, branches: &[&Expr], expected: Option<&Ty>) -> Ty {
        let types: Vec<Ty> = branches.iter().map(|b| self.infer.shallow(&b.ty)).collect();
        let mut returning = types.iter().filter(|t| !matches!(t, Ty::Never));
        let Some(first) = returning.next() else { return Ty::Never };
        if let Some(expected) = expected.map(|ty| self.infer.shallow(ty))
            && let (Ty::Scalar(_), Ty::Scalar(_)) = (&expected, first)
            && *first != expected
            && types.contains(&expected)
        {
            return expected;
        }
        let frozen = returning.find(|t| {
            matches!(
                (first, t),
                (Ty::Ref(true, _), Ty::Ref(false, _)) | (Ty::Slice(true, _), Ty::Slice(false, _)) | (Ty::Error, _)
            )
        });
        frozen.unwrap_or(first).clone()
    }

    pub(super) fn match_expr(&mut self, m: &syn::ExprMatch, expected: Option<&Ty>, pos: Pos) -> Expr {
        let scrutinee = self.scrutinee(&m.expr);
        let ty = scrutinee.ty.clone();
        let before = self.diverges;
        let mut all_diverge = true;
        let mut arms = Vec::new();
        let mut result: Option<Ty> = expected.cloned().filter(|t| !matches!(t, Ty::Never));
        for arm in &m.arms {
            self.diverges = before;
            self.scopes.push(Vec::new());
            let pat = self.pattern(&arm.pat, &ty);
            let guard = arm.guard.as_ref().map(|(_, g)| self.condition(g));
            self.diverges = before;
            let body = self.expr(&arm.body, result.as_ref());
            let body = match expected {
                Some(ty) => self.coerce_if_branchy(body, ty),
                None => body,
            };
            all_diverge &= self.diverges;
            self.scopes.pop();
            if result.is_none() && body.ty != Ty::Never {
                result = Some(body.ty.clone());
            }
            arms.push(Arm { pat, guard, body });
        }
        self.diverges = before || all_diverge;
        let bodies: Vec<&Expr> = arms.iter().map(|a| &a.body).collect();
        let joined = self.join(&bodies, expected);
        let arms: Vec<Arm> =
            arms.into_iter().map(|a| Arm { body: self.coerce(a.body, &joined), pat: a.pat, guard: a.guard }).collect();
        self.make(ExprKind::Match(Box::new(scrutinee), arms), joined, pos)
    }

    /// What patterns are matched against. References to locals may be written here: they live no longer than the match.
    fn scrutinee(&mut self, e: &syn::Expr) -> Expr {
        match strip(e) {
            syn::Expr::Reference(r) => self.reference(r, None, true),
            syn::Expr::Tuple(t) if !t.elems.is_empty() => {
                let pos = start(self.file, e);
                let items: Vec<Expr> = t.elems.iter().map(|e| self.scrutinee(e)).collect();
                let ty = Ty::Tuple(items.iter().map(|i| i.ty.clone()).collect());
                self.make(ExprKind::Tuple(items), ty, pos)
            }
            other => self.expr(other, None),
        }
    }

    pub(super) fn let_condition(&mut self, l: &syn::ExprLet, pos: Pos) -> Expr {
        let value = self.scrutinee(&l.expr);
        let ty = value.ty.clone();
        let pat = self.pattern(&l.pat, &ty);
        self.make(ExprKind::Let(Box::new(pat), Box::new(value)), super::super::types::BOOL, pos)
    }

    // ---- loops

    fn enter_loop(&mut self, label: Option<&syn::Label>, value: Option<Ty>, is_loop: bool) -> LoopId {
        let id = self.loop_count;
        self.loop_count += 1;
        let label = label.map(|l| l.name.ident.to_string());
        self.loops.push(LoopScope { id, label, value, is_loop, broken: false });
        id
    }

    /// Whether something breaks out of it.
    fn leave_loop(&mut self) -> bool {
        self.loops.pop().is_some_and(|l| l.broken)
    }

    fn unit_body(&mut self, b: &syn::Block, pos: Pos) -> Expr {
        let before = self.diverges;
        let (block, ty) = self.block(b, Some(&Ty::Unit));
        self.diverges = before;
        let body = Expr { kind: ExprKind::Block(block), ty, pos };
        self.coerce(body, &Ty::Unit)
    }

    pub(super) fn loop_expr(&mut self, l: &syn::ExprLoop, expected: Option<&Ty>, pos: Pos) -> Expr {
        let value = match expected {
            Some(ty) if !matches!(ty, Ty::Never) => ty.clone(),
            _ => self.infer.fresh(VarKind::Any),
        };
        let id = self.enter_loop(l.label.as_ref(), Some(value.clone()), true);
        let body = self.unit_body(&l.body, pos);
        let ty = if self.leave_loop() { value } else { Ty::Never };
        self.make(ExprKind::Loop(id, Box::new(body)), ty, pos)
    }

    pub(super) fn while_expr(&mut self, w: &syn::ExprWhile, pos: Pos) -> Expr {
        let id = self.enter_loop(w.label.as_ref(), None, true);
        self.scopes.push(Vec::new());
        let before = self.diverges;
        let cond = self.condition(&w.cond);
        let body = self.unit_body(&w.body, pos);
        self.diverges = before;
        self.scopes.pop();
        self.leave_loop();
        self.make(ExprKind::While(id, Box::new(cond), Box::new(body)), Ty::Unit, pos)
    }

    pub(super) fn for_expr(&mut self, f: &syn::ExprForLoop, pos: Pos) -> Expr {
        if let Some(range) = self.range(&f.expr) {
            let elem = range.from.ty.clone();
            if self.infer.shallow(&elem) == Ty::Error {
                return self.error(pos);
            }
            let (id, pat, body) = self.for_body(f, &elem, pos);
            return self.make(ExprKind::ForRange(id, Box::new(pat), Box::new(range), Box::new(body)), Ty::Unit, pos);
        }
        // `for x in &array` borrows for the loop only, so a local will do.
        let subject = match strip(&f.expr) {
            syn::Expr::Reference(r) => self.reference(r, None, true),
            other => self.expr(other, None),
        };
        let subject = match self.infer.shallow(&subject.ty) {
            Ty::Ref(m, t) => match self.infer.shallow(&t) {
                Ty::Array(elem, _) => {
                    let pos = subject.pos;
                    Expr { kind: ExprKind::ArrayToSlice(Box::new(subject)), ty: Ty::Slice(m, elem), pos }
                }
                _ => self.autoderef(subject),
            },
            _ => subject,
        };
        let (elem, ok) = match self.infer.shallow(&subject.ty) {
            Ty::Slice(m, t) => (Ty::Ref(m, t), true),
            Ty::Array(t, _) => ((*t).clone(), true),
            Ty::Error => (Ty::Error, true),
            _ => (Ty::Error, false),
        };
        if !ok {
            let ty = self.show(&subject.ty.clone());
            self.refuse(f.expr.span(), Reason::Iterator, &format!("`for` over `{ty}`"));
        }
        let (id, pat, body) = self.for_body(f, &elem, pos);
        self.make(ExprKind::ForSlice(id, Box::new(pat), Box::new(subject), Box::new(body)), Ty::Unit, pos)
    }

    /// The loop's number, its pattern for elements of type `elem`, and its body.
    fn for_body(&mut self, f: &syn::ExprForLoop, elem: &Ty, pos: Pos) -> (LoopId, Pat, Expr) {
        let id = self.enter_loop(f.label.as_ref(), None, true);
        self.scopes.push(Vec::new());
        let pat = self.pattern(&f.pat, elem);
        self.irrefutable(&pat);
        let body = self.unit_body(&f.body, pos);
        self.scopes.pop();
        self.leave_loop();
        (id, pat, body)
    }

    /// `a..b`, `a..=b`, `.rev()`, `.step_by(k)`.
    fn range(&mut self, e: &syn::Expr) -> Option<Range> {
        match strip(e) {
            syn::Expr::Range(r) => {
                let pos = start(self.file, e);
                let (Some(a), Some(b)) = (&r.start, &r.end) else {
                    self.refuse(r.span(), Reason::Iterator, "a range without both ends");
                    let error = self.error(pos);
                    return Some(Range {
                        from: error.clone(),
                        to: error,
                        inclusive: false,
                        step: None,
                        reversed: false,
                        step_first: false,
                        pos,
                    });
                };
                let from = self.expr(a, None);
                let to = self.expr(b, Some(&from.ty.clone()));
                self.same(&to, &from.ty.clone());
                if !self.infer.is_integer(&from.ty) && self.infer.shallow(&from.ty) != Ty::Error {
                    let ty = self.show(&from.ty.clone());
                    let remedy = match ty.as_str() {
                        "char" => {
                            "count bytes, if all are ASCII: `for b in b'a'..=b'e'`, and `b as char` where one is needed"
                        }
                        _ => "count in an integer, and compute the other number from it",
                    };
                    self.refuse_with(r.span(), Reason::Iterator, &format!("a range of `{ty}`"), remedy);
                }
                let inclusive = matches!(r.limits, syn::RangeLimits::Closed(_));
                Some(Range { from, to, inclusive, step: None, reversed: false, step_first: false, pos })
            }
            syn::Expr::MethodCall(m) if m.method == "rev" && m.args.is_empty() => {
                let mut range = self.range(&m.receiver)?;
                if range.reversed {
                    self.refuse(m.method.span(), Reason::Iterator, "`.rev()` twice");
                }
                range.step_first = range.step.is_some();
                range.reversed = true;
                Some(range)
            }
            syn::Expr::MethodCall(m) if m.method == "step_by" && m.args.len() == 1 => {
                let mut range = self.range(&m.receiver)?;
                if range.step.is_some() {
                    self.refuse(m.method.span(), Reason::Iterator, "`.step_by(..)` twice");
                }
                let step = m.args.first().map(|a| {
                    let value = self.expr(a, Some(&USIZE));
                    self.coerce(value, &USIZE)
                });
                range.step = step;
                range.pos = start(self.file, e);
                Some(range)
            }
            _ => None,
        }
    }

    fn find_loop(&mut self, label: &Option<syn::Lifetime>, at: proc_macro2::Span, what: &str) -> Option<usize> {
        let found = match label {
            Some(l) => {
                let name = l.ident.to_string();
                self.loops.iter().rposition(|s| s.label.as_deref() == Some(&name))
            }
            None => self.loops.iter().rposition(|s| s.is_loop),
        };
        if found.is_none() {
            let detail = match label {
                Some(l) => format!("there is no loop `{l}` here"),
                None => format!("`{what}` outside of a loop"),
            };
            self.refuse(at, Reason::NoLoop, &detail);
        }
        found
    }

    pub(super) fn break_expr(&mut self, b: &syn::ExprBreak, pos: Pos) -> Expr {
        let Some(index) = self.find_loop(&b.label, b.break_token.span, "break") else { return self.error(pos) };
        let (id, ty) = (self.loops[index].id, self.loops[index].value.clone());
        let value = match (&b.expr, ty) {
            (Some(e), Some(ty)) => {
                let value = self.expr(e, Some(&ty));
                Some(Box::new(self.coerce(value, &ty)))
            }
            (Some(e), None) => {
                self.refuse(e.span(), Reason::NoLoop, "`break` with a value only leaves a `loop` or a labelled block");
                None
            }
            (None, Some(ty)) => {
                if !self.infer.unify(&ty, &Ty::Unit) {
                    self.mismatch(pos, &ty, &Ty::Unit);
                }
                None
            }
            (None, None) => None,
        };
        self.loops[index].broken = true;
        self.make(ExprKind::Break(id, value), Ty::Never, pos)
    }

    pub(super) fn continue_expr(&mut self, c: &syn::ExprContinue, pos: Pos) -> Expr {
        let Some(index) = self.find_loop(&c.label, c.continue_token.span, "continue") else { return self.error(pos) };
        if !self.loops[index].is_loop {
            return self.refuse(c.span(), Reason::NoLoop, "`continue` to a block that isn't a loop");
        }
        let id = self.loops[index].id;
        self.make(ExprKind::Continue(id), Ty::Never, pos)
    }

    pub(super) fn return_expr(&mut self, r: &syn::ExprReturn, pos: Pos) -> Expr {
        let ty = self.result.clone();
        let value = match &r.expr {
            Some(e) => {
                let value = self.expr(e, Some(&ty));
                Some(Box::new(self.coerce(value, &ty)))
            }
            None => {
                if !self.infer.unify(&ty, &Ty::Unit) {
                    self.mismatch(pos, &ty, &Ty::Unit);
                }
                None
            }
        };
        self.make(ExprKind::Return(value), Ty::Never, pos)
    }

    pub(super) fn question(&mut self, t: &syn::ExprTry, pos: Pos) -> Expr {
        let (value, at) = (self.expr(&t.expr, None), t.span());
        let result = self.infer.shallow(&self.result.clone());
        let ty = match (self.infer.shallow(&value.ty), &result) {
            (Ty::Error, _) => return self.error(pos),
            (Ty::Option(t), Ty::Option(_)) => (*t).clone(),
            (Ty::Result(t, e), Ty::Result(_, f)) => {
                if !self.infer.unify(&e, f) {
                    let (found, wanted) = (self.show(&e), self.show(f));
                    let detail = format!("`?` on an error of the type `{found}` where the function's are `{wanted}`");
                    return self.refuse(at, Reason::Question, &detail);
                }
                (*t).clone()
            }
            (other, _) => {
                let ty = self.show(&other);
                let detail = format!("`?` on `{ty}` in a function that returns `{result}`");
                return self.refuse(at, Reason::Question, &detail);
            }
        };
        self.make(ExprKind::Question(Box::new(value)), ty, pos)
    }
}

/// A shared slice type, for helpers on bytes.
pub(super) fn bytes(mutable: bool) -> Ty {
    Ty::Slice(mutable, Rc::new(Ty::Scalar(crate::ir::Scalar::U8)))
}
