//! Patterns.

use super::super::infer::VarKind;
use super::super::items::{Item, Space, ident_text};
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind, Pat, PatKind};
use super::super::types::Ty;
use super::{Binding, Checker};
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// Checks a pattern for a value of type `ty`, and brings its variables into the current scope.
    pub(super) fn pattern(&mut self, p: &syn::Pat, ty: &Ty) -> Pat {
        let mut bound = Vec::new();
        self.sub_pattern(p, ty, &mut bound)
    }

    fn sub_pattern(&mut self, p: &syn::Pat, ty: &Ty, bound: &mut Vec<(String, usize)>) -> Pat {
        let pos = self.pos(first_span(p));
        let shallow = self.infer.shallow(ty);
        let make = |kind| Pat { kind, ty: ty.clone(), pos };
        // A pattern that isn't a reference looks through references.
        let looks_through =
            !matches!(p, syn::Pat::Reference(_) | syn::Pat::Wild(_) | syn::Pat::Paren(_) | syn::Pat::Or(_))
                && !matches!(p, syn::Pat::Ident(i) if self.named_value(i).is_none());
        if let Ty::Ref(_, to) = &shallow
            && looks_through
        {
            let inner = self.sub_pattern(p, to, bound);
            if binds(&inner) {
                self.refuse(p.span(), Reason::Pattern, "that binds variables behind a reference (write `match *x`)");
            }
            return make(PatKind::Deref(Box::new(inner)));
        }
        match p {
            syn::Pat::Wild(_) => make(PatKind::Wild),
            syn::Pat::Paren(p) => self.sub_pattern(&p.pat, ty, bound),
            syn::Pat::Ident(i) => {
                if let Some(value) = self.named_value(i) {
                    return self.value_pattern(value, ty, pos, p.span());
                }
                if i.by_ref.is_some() {
                    self.refuse(p.span(), Reason::Pattern, "`ref`");
                }
                let name = ident_text(&i.ident);
                let known = bound.iter().find(|(n, _)| *n == name).map(|(_, id)| *id);
                let local = match known {
                    Some(id) => {
                        let other = self.locals[id].ty.clone();
                        if !self.infer.unify(&other, ty) {
                            self.mismatch(pos, &other, ty);
                        }
                        id
                    }
                    None => {
                        let id = self.declare(&name, ty.clone(), i.mutability.is_some(), pos);
                        bound.push((name, id));
                        id
                    }
                };
                let inner = i.subpat.as_ref().map(|(_, p)| Box::new(self.sub_pattern(p, ty, bound)));
                make(PatKind::Bind(local, inner))
            }
            syn::Pat::Lit(l) => {
                let value = self.literal(&l.lit, Some(ty), pos);
                self.value_pattern(value, ty, pos, p.span())
            }
            syn::Pat::Range(r) => {
                let mut bound = |e: &Option<Box<syn::Expr>>| {
                    let value = self.expr(e.as_ref()?, Some(ty));
                    self.same(&value, ty);
                    Some(Box::new(value))
                };
                let (from, to) = (bound(&r.start), bound(&r.end));
                let resolved = self.infer.resolve(ty);
                let ordered = resolved.as_scalar().is_some_and(|s| s.is_integer() || s == crate::ir::Scalar::Char);
                if !ordered && resolved != Ty::Error {
                    self.refuse(p.span(), Reason::Pattern, "of a range of this type");
                }
                make(PatKind::Range(from, to, matches!(r.limits, syn::RangeLimits::Closed(_))))
            }
            syn::Pat::Path(e) => match self.path_value(&e.path, pos) {
                Some(value) => self.value_pattern(value, ty, pos, p.span()),
                None => self.refused(p.span(), Reason::UnknownName, &format!("`{}`", self.text(&e.path)), ty, pos),
            },
            syn::Pat::Tuple(t) => {
                let Some(items) = self.tuple_types(&shallow, t) else {
                    let shown = self.show(ty);
                    let detail = format!("expected `{shown}`, found a tuple pattern");
                    return self.refused(p.span(), Reason::TypeMismatch, &detail, ty, pos);
                };
                let elems: Vec<&syn::Pat> = t.elems.iter().collect();
                let fields = self.positional(&elems, &items, p.span(), bound);
                make(PatKind::Fields(fields))
            }
            syn::Pat::TupleStruct(t) => self.tuple_struct(t, ty, &shallow, pos, bound),
            syn::Pat::Struct(s) => self.struct_pattern(s, ty, pos, bound),
            syn::Pat::Reference(r) => match &shallow {
                Ty::Ref(_, to) => {
                    let inner = self.sub_pattern(&r.pat, to, bound);
                    make(PatKind::Deref(Box::new(inner)))
                }
                Ty::Error => make(PatKind::Wild),
                _ => {
                    let shown = self.show(ty);
                    let detail = format!("expected `{shown}`, found a reference pattern");
                    self.refused(p.span(), Reason::TypeMismatch, &detail, ty, pos)
                }
            },
            syn::Pat::Or(o) => {
                let first_new = bound.len();
                let mut cases: Vec<Pat> = Vec::new();
                for case in &o.cases {
                    cases.push(self.sub_pattern(case, ty, bound));
                }
                let names = bound.len() - first_new;
                if cases.iter().any(|c| count_binds(c) != names) {
                    self.refuse(p.span(), Reason::Pattern, "whose alternatives bind different variables");
                }
                make(PatKind::Or(cases))
            }
            syn::Pat::Slice(s) => {
                let (elem, n) = match &shallow {
                    Ty::Array(t, n) => ((**t).clone(), *n),
                    Ty::Error => return make(PatKind::Wild),
                    _ => return self.refused(p.span(), Reason::Pattern, "of a slice", ty, pos),
                };
                let rest = s.elems.iter().position(|e| matches!(e, syn::Pat::Rest(_)));
                let fixed = s.elems.len() - usize::from(rest.is_some());
                if (rest.is_none() && fixed as u64 != n) || fixed as u64 > n {
                    let detail = format!("an array of {n} elements is matched with {fixed}");
                    return self.refused(p.span(), Reason::WrongCount, &detail, ty, pos);
                }
                let split = rest.unwrap_or(s.elems.len());
                let mut all: Vec<Pat> = Vec::new();
                for e in s.elems.iter().filter(|e| !matches!(e, syn::Pat::Rest(_))) {
                    all.push(self.sub_pattern(e, &elem, bound));
                }
                let tail = all.split_off(split);
                make(PatKind::Elements(all, tail))
            }
            syn::Pat::Type(t) => {
                let written = self.written_type(&t.ty);
                if !self.infer.unify(&written, ty) {
                    self.mismatch(pos, &written, ty);
                }
                self.sub_pattern(&t.pat, ty, bound)
            }
            _ => self.refused(p.span(), Reason::Pattern, &format!("`{}`", self.text(p)), ty, pos),
        }
    }

    fn refused(&mut self, span: Span, reason: Reason, detail: &str, ty: &Ty, pos: Pos) -> Pat {
        self.refuse(span, reason, detail);
        Pat { kind: PatKind::Wild, ty: ty.clone(), pos }
    }

    fn tuple_types(&mut self, ty: &Ty, t: &syn::PatTuple) -> Option<Vec<Ty>> {
        match ty {
            Ty::Tuple(items) => Some(items.to_vec()),
            Ty::Unit if t.elems.is_empty() => Some(Vec::new()),
            Ty::Error => Some(t.elems.iter().map(|_| Ty::Error).collect()),
            Ty::Var(_) if !t.elems.iter().any(|e| matches!(e, syn::Pat::Rest(_))) => {
                let items: Vec<Ty> = t.elems.iter().map(|_| self.infer.fresh(VarKind::Any)).collect();
                self.infer.unify(ty, &Ty::Tuple(items.clone().into())).then_some(items)
            }
            _ => None,
        }
    }

    /// Patterns by position, with at most one `..`.
    fn positional(
        &mut self,
        elems: &[&syn::Pat],
        types: &[Ty],
        span: Span,
        bound: &mut Vec<(String, usize)>,
    ) -> Vec<(usize, Pat)> {
        let rest = elems.iter().position(|e| matches!(e, syn::Pat::Rest(_)));
        let fixed = elems.len() - usize::from(rest.is_some());
        if (rest.is_none() && fixed != types.len()) || fixed > types.len() {
            let detail = format!("this pattern has {fixed} fields, the value {}", types.len());
            self.refuse(span, Reason::WrongCount, &detail);
            return Vec::new();
        }
        let skipped = types.len() - fixed;
        let mut out = Vec::new();
        let mut at = 0;
        for e in elems {
            if matches!(e, syn::Pat::Rest(_)) {
                at += skipped;
                continue;
            }
            out.push((at, self.sub_pattern(e, &types[at], bound)));
            at += 1;
        }
        out
    }

    fn tuple_struct(
        &mut self,
        t: &syn::PatTupleStruct,
        ty: &Ty,
        shallow: &Ty,
        pos: Pos,
        bound: &mut Vec<(String, usize)>,
    ) -> Pat {
        let make = |kind| Pat { kind, ty: ty.clone(), pos };
        let name = super::super::collect::path_text(&t.path);
        let elems: Vec<&syn::Pat> = t.elems.iter().collect();
        let wrapped = match (name.rsplit("::").next().unwrap_or_default(), elems.as_slice()) {
            ("Some", [inner]) => {
                let payload = self.infer.fresh(VarKind::Any);
                Some((Ty::Option(payload.clone().into()), true, payload, *inner))
            }
            ("Ok" | "Err", [inner]) => {
                let (ok, err) = (self.infer.fresh(VarKind::Any), self.infer.fresh(VarKind::Any));
                let tag = name.ends_with("Err");
                let payload = if tag { err.clone() } else { ok.clone() };
                Some((Ty::Result(ok.into(), err.into()), tag, payload, *inner))
            }
            _ => None,
        };
        if self.lookup_path(&t.path, Space::Type).is_none()
            && let Some((whole, tag, payload, inner)) = wrapped
        {
            if !self.infer.unify(&whole, ty) {
                self.mismatch(pos, ty, &whole);
            }
            let inner = self.sub_pattern(inner, &payload, bound);
            return make(PatKind::Wrapped(tag, Some(Box::new(inner))));
        }
        match self.struct_of_path(&t.path) {
            Some(Item::Struct(key)) if !self.p.unsupported.borrow().contains(&key) => {
                let own = Ty::Struct(key.clone());
                if !self.infer.unify(&own, shallow) {
                    self.mismatch(pos, ty, &own);
                }
                let types = self.p.field_types(&key);
                let fields = self.positional(&elems, &types, t.span(), bound);
                make(PatKind::Fields(fields))
            }
            _ => {
                // Bind what it binds, so that its names are known.
                for e in elems.iter().filter(|e| !matches!(e, syn::Pat::Rest(_))) {
                    self.sub_pattern(e, &Ty::Error, bound);
                }
                if let Some(Item::Variant(key, _)) = self.lookup_path(&t.path, Space::Value) {
                    self.p.echo(pos, &format!("`{key}`"));
                    return make(PatKind::Wild);
                }
                if *shallow == Ty::Error {
                    return make(PatKind::Wild);
                }
                self.refused(t.path.span(), Reason::UnknownName, &format!("`{name}`"), ty, pos)
            }
        }
    }

    fn struct_pattern(&mut self, s: &syn::PatStruct, ty: &Ty, pos: Pos, bound: &mut Vec<(String, usize)>) -> Pat {
        let name = super::super::collect::path_text(&s.path);
        let Some(Item::Struct(key)) = self.struct_of_path(&s.path) else {
            for f in &s.fields {
                self.sub_pattern(&f.pat, &Ty::Error, bound);
            }
            if let Some(Item::Variant(key, _)) = self.lookup_path(&s.path, Space::Value) {
                self.p.echo(pos, &format!("`{key}`"));
                return Pat { kind: PatKind::Wild, ty: ty.clone(), pos };
            }
            return self.refused(s.path.span(), Reason::UnknownName, &format!("struct `{name}`"), ty, pos);
        };
        let own = Ty::Struct(key.clone());
        if !self.infer.unify(&own, ty) {
            self.mismatch(pos, ty, &own);
        }
        let types = self.p.field_types(&key);
        let mut fields = Vec::new();
        for f in &s.fields {
            let member = match &f.member {
                syn::Member::Named(n) => ident_text(n),
                syn::Member::Unnamed(i) => i.index.to_string(),
            };
            match self.p.field_index(&key, &member) {
                Some(index) => {
                    let field = types.get(index).cloned().unwrap_or(Ty::Error);
                    fields.push((index, self.sub_pattern(&f.pat, &field, bound)));
                }
                None => {
                    self.refuse(f.member.span(), Reason::NoField, &format!("`{key}` has no field `{member}`"));
                }
            }
        }
        if s.rest.is_none() && fields.len() < types.len() {
            self.refuse(s.path.span(), Reason::WrongCount, &format!("some fields of `{key}` are missing (write `..`)"));
        }
        Pat { kind: PatKind::Fields(fields), ty: ty.clone(), pos }
    }

    /// The constant or variant that an identifier in a pattern names.
    fn named_value(&mut self, i: &syn::PatIdent) -> Option<Expr> {
        if i.subpat.is_some() || i.by_ref.is_some() || i.mutability.is_some() {
            return None;
        }
        let pos = self.pos(i.ident.span());
        if let Some(Binding::Const(id)) = self.binding(&ident_text(&i.ident)) {
            let ty = self.p.const_type(id);
            return Some(Expr { kind: ExprKind::Const(id), ty, pos });
        }
        self.path_value(&i.ident.clone().into(), pos)
    }

    fn path_value(&mut self, path: &syn::Path, pos: Pos) -> Option<Expr> {
        if let Some(ident) = path.get_ident()
            && let Some(Binding::Const(id)) = self.binding(&ident_text(ident))
        {
            let ty = self.p.const_type(id);
            return Some(Expr { kind: ExprKind::Const(id), ty, pos });
        }
        match self.lookup_path(path, Space::Value) {
            Some(Item::Const(id)) => {
                let ty = self.p.const_type(id);
                Some(Expr { kind: ExprKind::Const(id), ty, pos })
            }
            Some(Item::Variant(key, index)) => Some(self.variant_use(key, index, pos)),
            _ => {
                let text = super::super::collect::path_text(path);
                if text == "None" || text == "Option::None" {
                    let payload = self.infer.fresh(VarKind::Any);
                    return Some(Expr { kind: ExprKind::Wrap(false, None), ty: Ty::Option(payload.into()), pos });
                }
                self.number_constant(&text, pos)
            }
        }
    }

    fn value_pattern(&mut self, value: Expr, ty: &Ty, pos: Pos, span: Span) -> Pat {
        self.same(&value, ty);
        let kind = match &value.kind {
            ExprKind::Wrap(tag, None) => PatKind::Wrapped(*tag, None),
            ExprKind::Text(_) | ExprKind::Bytes(_) => {
                self.refuse(span, Reason::Pattern, "of a string");
                PatKind::Wild
            }
            ExprKind::Error => PatKind::Wild,
            _ => PatKind::Value(Box::new(value)),
        };
        Pat { kind, ty: ty.clone(), pos }
    }

    /// Refuses patterns that may not match where there is no way out.
    pub(super) fn irrefutable(&mut self, pat: &Pat) {
        if refutable(pat) {
            self.p.refuse_at(pat.pos, Reason::NotExhaustive, "");
        }
    }
}

fn refutable(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Wild => false,
        PatKind::Bind(_, inner) => inner.as_ref().is_some_and(|p| refutable(p)),
        PatKind::Value(_) | PatKind::Range(..) | PatKind::Wrapped(..) => true,
        PatKind::Fields(fields) => fields.iter().any(|(_, p)| refutable(p)),
        PatKind::Elements(head, tail) => head.iter().chain(tail).any(refutable),
        PatKind::Or(cases) => cases.iter().all(refutable),
        PatKind::Deref(inner) => refutable(inner),
    }
}

/// How many variables a pattern binds.
fn count_binds(pat: &Pat) -> usize {
    match &pat.kind {
        PatKind::Wild | PatKind::Value(_) | PatKind::Range(..) | PatKind::Wrapped(_, None) => 0,
        PatKind::Bind(_, inner) => 1 + inner.as_ref().map_or(0, |p| count_binds(p)),
        PatKind::Fields(fields) => fields.iter().map(|(_, p)| count_binds(p)).sum(),
        PatKind::Elements(head, tail) => head.iter().chain(tail).map(count_binds).sum(),
        PatKind::Or(cases) => cases.first().map_or(0, count_binds),
        PatKind::Deref(inner) | PatKind::Wrapped(_, Some(inner)) => count_binds(inner),
    }
}

fn binds(pat: &Pat) -> bool {
    count_binds(pat) > 0
}

fn first_span(p: &syn::Pat) -> Span {
    match p {
        syn::Pat::Ident(i) if i.by_ref.is_none() && i.mutability.is_none() => i.ident.span(),
        syn::Pat::Wild(w) => w.underscore_token.span,
        syn::Pat::Lit(l) => l.lit.span(),
        syn::Pat::Type(t) => first_span(&t.pat),
        other => other.span(),
    }
}
