//! Patterns.

use super::super::infer::VarKind;
use super::super::items::{Item, Space, ident_text};
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind, LocalId, Pat, PatKind};
use super::super::types::Ty;
use super::{Binding, Checker};
use proc_macro2::Span;
use std::collections::BTreeSet;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// Checks a pattern for a value of type `ty`, and brings its variables into the current scope.
    pub(super) fn pattern(&mut self, p: &syn::Pat, ty: &Ty) -> Pat {
        let mut bound = Bound::default();
        self.sub_pattern(p, ty, None, &mut bound)
    }

    /// `mode`: variables are references to what they match, mutable or not, since a reference was looked through
    /// (Rust's default binding modes).
    fn sub_pattern(&mut self, p: &syn::Pat, ty: &Ty, mode: Mode, bound: &mut Bound) -> Pat {
        let pos = self.pos(first_span(p));
        let shallow = self.infer.shallow(ty);
        let make = |kind| Pat { kind, ty: ty.clone(), pos };
        // A pattern that isn't a reference looks through references.
        let looks_through =
            !matches!(p, syn::Pat::Reference(_) | syn::Pat::Wild(_) | syn::Pat::Paren(_) | syn::Pat::Or(_))
                && !matches!(p, syn::Pat::Ident(i) if self.named_value(i).is_none());
        if let Ty::Ref(mutable, to) = &shallow
            && looks_through
        {
            let mode = Some(*mutable && mode != Some(false));
            let inner = self.sub_pattern(p, to, mode, bound);
            return make(PatKind::Deref(Box::new(inner)));
        }
        match p {
            syn::Pat::Wild(_) => make(PatKind::Wild),
            syn::Pat::Paren(p) => self.sub_pattern(&p.pat, ty, mode, bound),
            syn::Pat::Ident(i) => {
                if let Some(value) = self.named_value(i) {
                    return self.value_pattern(value, ty, pos, p.span());
                }
                if i.by_ref.is_some() {
                    self.refuse(p.span(), Reason::Pattern, "`ref`");
                }
                if mode.is_some() && i.mutability.is_some() {
                    self.refuse(p.span(), Reason::Pattern, "`mut` behind a reference (copy it: `let mut y = *x;`)");
                }
                let own = match mode {
                    Some(mutable) => Ty::Ref(mutable, ty.clone().into()),
                    None => ty.clone(),
                };
                let name = ident_text(&i.ident);
                let known = bound.names.iter().find(|(n, _)| *n == name).map(|(_, id)| *id);
                let local = match known {
                    Some(id) if bound.here.contains(&id) => {
                        self.refuse(i.ident.span(), Reason::Duplicate, &format!("in this pattern `{name}`"));
                        id
                    }
                    Some(id) => {
                        let other = self.locals[id].ty.clone();
                        if !self.infer.unify(&other, &own) {
                            self.mismatch(pos, &other, &own);
                        }
                        id
                    }
                    None => {
                        let id = self.declare(&name, own, i.mutability.is_some(), pos);
                        bound.names.push((name, id));
                        id
                    }
                };
                bound.here.insert(local);
                let inner = i.subpat.as_ref().map(|(_, p)| Box::new(self.sub_pattern(p, ty, mode, bound)));
                make(if mode.is_some() { PatKind::BindRef(local, inner) } else { PatKind::Bind(local, inner) })
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
                let fields = self.positional(&elems, &items, p.span(), mode, bound);
                make(PatKind::Fields(fields))
            }
            syn::Pat::TupleStruct(t) => self.tuple_struct(t, ty, mode, bound),
            syn::Pat::Struct(s) => self.struct_pattern(s, ty, mode, bound),
            syn::Pat::Reference(r) => match &shallow {
                Ty::Ref(_, to) => {
                    let inner = self.sub_pattern(&r.pat, to, None, bound);
                    make(PatKind::Deref(Box::new(inner)))
                }
                Ty::Error => self.sub_pattern(&r.pat, ty, None, bound),
                _ => {
                    self.sub_pattern(&r.pat, &Ty::Error, None, bound);
                    let shown = self.show(ty);
                    let detail = format!("expected `{shown}`, found a reference pattern");
                    self.refused(p.span(), Reason::TypeMismatch, &detail, ty, pos)
                }
            },
            syn::Pat::Or(o) => {
                let mut cases: Vec<Pat> = Vec::new();
                // Each alternative binds the same variables, none of them twice.
                let (before, mut after) = (bound.here.clone(), bound.here.clone());
                for case in &o.cases {
                    cases.push(self.sub_pattern(case, ty, mode, bound));
                    after.append(&mut std::mem::replace(&mut bound.here, before.clone()));
                }
                bound.here = after;
                let names: Vec<BTreeSet<LocalId>> = cases.iter().map(variables).collect();
                if names.windows(2).any(|pair| pair[0] != pair[1]) {
                    self.refuse(p.span(), Reason::Pattern, "whose alternatives bind different variables");
                }
                make(PatKind::Or(cases))
            }
            syn::Pat::Slice(s) => {
                let (elem, n) = match &shallow {
                    Ty::Array(t, n) => ((**t).clone(), *n),
                    _ => {
                        // Its variables are known, so that no use of them is refused as well.
                        for e in s.elems.iter().filter(|e| !matches!(e, syn::Pat::Rest(_))) {
                            self.sub_pattern(e, &Ty::Error, None, bound);
                        }
                        if shallow == Ty::Error {
                            return make(PatKind::Wild);
                        }
                        return self.refused(p.span(), Reason::Pattern, "of a slice", ty, pos);
                    }
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
                    all.push(self.sub_pattern(e, &elem, mode, bound));
                }
                let tail = all.split_off(split);
                make(PatKind::Elements(all, tail))
            }
            syn::Pat::Type(t) => {
                let written = self.written_type(&t.ty);
                if !self.infer.unify(&written, ty) {
                    self.mismatch(pos, &written, ty);
                }
                self.sub_pattern(&t.pat, ty, mode, bound)
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
        mode: Mode,
        bound: &mut Bound,
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
            out.push((at, self.sub_pattern(e, &types[at], mode, bound)));
            at += 1;
        }
        out
    }

    fn tuple_struct(&mut self, t: &syn::PatTupleStruct, ty: &Ty, mode: Mode, bound: &mut Bound) -> Pat {
        let pos = self.pos(t.path.span());
        let make = |kind| Pat { kind, ty: ty.clone(), pos };
        let elems: Vec<&syn::Pat> = t.elems.iter().collect();
        if let Some((own, index)) = self.variant_of(&t.path) {
            if !self.infer.unify(&own, ty) {
                self.mismatch(pos, ty, &own);
            }
            let types = self.payload_types(&own, index, ty);
            if !self.p.variant_names(&own, index).2 {
                let detail = format!("`{}` isn't written with parentheses", self.text(&t.path));
                return self.refused(t.path.span(), Reason::WrongCount, &detail, ty, pos);
            }
            let fields = self.positional(&elems, &types, t.span(), mode, bound);
            return make(PatKind::Variant(index, fields));
        }
        match self.struct_of_path(&t.path) {
            Some(Item::Struct(key)) if !self.p.unsupported.borrow().contains(&key) => {
                let own = Ty::Struct(key.clone());
                if !self.infer.unify(&own, ty) {
                    self.mismatch(pos, ty, &own);
                }
                let types = self.p.field_types(&key);
                let fields = self.positional(&elems, &types, t.span(), mode, bound);
                make(PatKind::Fields(fields))
            }
            _ => {
                // Bind what it binds, so that its names are known.
                for e in elems.iter().filter(|e| !matches!(e, syn::Pat::Rest(_))) {
                    self.sub_pattern(e, &Ty::Error, None, bound);
                }
                if self.infer.shallow(ty) == Ty::Error {
                    return make(PatKind::Wild);
                }
                let name = super::super::collect::path_text(&t.path);
                self.refused(t.path.span(), Reason::UnknownName, &format!("`{name}`"), ty, pos)
            }
        }
    }

    /// The variant that a path names, and its enum: one of the file's, `Some`, `Ok`, ...
    pub(super) fn variant_of(&mut self, path: &syn::Path) -> Option<(Ty, usize)> {
        match self.lookup_path(path, Space::Value) {
            Some(Item::Variant(key, index)) => return Some((Ty::Enum(key), index)),
            Some(_) => return None,
            None => {}
        }
        // An enum is no value: what else has its name is one.
        if self.lookup_path(path, Space::Type).is_some_and(|item| !matches!(item, Item::Enum(_))) {
            return None;
        }
        let text = super::super::collect::path_text(path);
        let segments: Vec<&str> = text.split("::").collect();
        let (ty, index) = match segments.as_slice() {
            ["None"] | [.., "Option", "None"] => (true, 0),
            ["Some"] | [.., "Option", "Some"] => (true, 1),
            ["Ok"] | [.., "Result", "Ok"] => (false, 0),
            ["Err"] | [.., "Result", "Err"] => (false, 1),
            _ => return None,
        };
        // `None::<u8>` says of what it is none.
        let mut written = path.segments.iter().flat_map(|segment| match &segment.arguments {
            syn::PathArguments::AngleBracketed(of) => of.args.iter().collect(),
            _ => Vec::new(),
        });
        let mut of = || {
            Rc::new(match written.next() {
                Some(syn::GenericArgument::Type(ty)) => self.written_type(ty),
                _ => self.infer.fresh(VarKind::Any),
            })
        };
        Some((if ty { Ty::Option(of()) } else { Ty::Result(of(), of()) }, index))
    }

    /// The types of a variant's fields; nothing is known of them where the value was refused.
    fn payload_types(&mut self, own: &Ty, index: usize, value: &Ty) -> Vec<Ty> {
        let mut types = self.p.variant_types(own, index);
        if self.infer.shallow(value) == Ty::Error {
            types.iter_mut().for_each(|t| *t = Ty::Error);
        }
        types
    }

    fn struct_pattern(&mut self, s: &syn::PatStruct, ty: &Ty, mode: Mode, bound: &mut Bound) -> Pat {
        let pos = self.pos(s.path.span());
        let name = super::super::collect::path_text(&s.path);
        let found = match self.variant_of(&s.path) {
            Some((own, index)) => {
                let types = self.payload_types(&own, index, ty);
                let names = self.p.variant_names(&own, index).1;
                Some((own, Some(index), types, names))
            }
            None => match self.struct_of_path(&s.path) {
                Some(Item::Struct(key)) => {
                    let own = Ty::Struct(key.clone());
                    Some((own, None, self.p.field_types(&key), self.p.field_names(&key)))
                }
                _ => None,
            },
        };
        let Some((own, index, types, names)) = found else {
            for f in &s.fields {
                self.sub_pattern(&f.pat, &Ty::Error, None, bound);
            }
            return self.refused(s.path.span(), Reason::UnknownName, &format!("struct `{name}`"), ty, pos);
        };
        if !self.infer.unify(&own, ty) {
            self.mismatch(pos, ty, &own);
        }
        let mut fields = Vec::new();
        for f in &s.fields {
            let member = match &f.member {
                syn::Member::Named(n) => ident_text(n),
                syn::Member::Unnamed(i) => i.index.to_string(),
            };
            match names.iter().position(|n| *n == member) {
                Some(index) => {
                    let field = types.get(index).cloned().unwrap_or(Ty::Error);
                    fields.push((index, self.sub_pattern(&f.pat, &field, mode, bound)));
                }
                None => {
                    self.refuse(f.member.span(), Reason::NoField, &format!("`{name}` has no field `{member}`"));
                }
            }
        }
        if s.rest.is_none() && fields.len() < types.len() {
            self.refuse(
                s.path.span(),
                Reason::WrongCount,
                &format!("some fields of `{name}` are missing (write `..`)"),
            );
        }
        let kind = match index {
            Some(index) => PatKind::Variant(index, fields),
            None => PatKind::Fields(fields),
        };
        Pat { kind, ty: ty.clone(), pos }
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
            _ => {
                if let Some((ty, index)) = self.variant_of(path) {
                    return Some(self.variant_use(ty, index, path, pos));
                }
                if let Some(Item::Struct(key)) = self.lookup_path(path, Space::Type)
                    && self.p.structs.get(&key).is_some_and(|s| matches!(s.item.fields, syn::Fields::Unit))
                {
                    return Some(Expr { kind: ExprKind::Struct(Vec::new()), ty: Ty::Struct(key), pos });
                }
                self.number_constant(&self.known_text(path).0, pos)
            }
        }
    }

    fn value_pattern(&mut self, value: Expr, ty: &Ty, pos: Pos, span: Span) -> Pat {
        self.same(&value, ty);
        let kind = match &value.kind {
            ExprKind::Variant(index, _) => PatKind::Variant(*index, Vec::new()),
            ExprKind::Text(_) | ExprKind::Bytes(_) => {
                self.refuse(span, Reason::Pattern, "of a string");
                PatKind::Wild
            }
            ExprKind::Error => PatKind::Wild,
            ExprKind::Struct(_) => PatKind::Fields(Vec::new()),
            _ => PatKind::Value(Box::new(value)),
        };
        Pat { kind, ty: ty.clone(), pos }
    }

    /// Refuses patterns that may not match where there is no way out.
    pub(super) fn irrefutable(&mut self, pat: &Pat) {
        if self.refutable(pat) {
            self.p.refuse_at(pat.pos, Reason::NotExhaustive, "this pattern may not match");
        }
    }

    fn refutable(&mut self, pat: &Pat) -> bool {
        match &pat.kind {
            PatKind::Wild => false,
            PatKind::Bind(_, inner) | PatKind::BindRef(_, inner) => inner.as_ref().is_some_and(|p| self.refutable(p)),
            PatKind::Value(_) | PatKind::Range(..) => true,
            PatKind::Variant(_, fields) => {
                let ty = self.infer.shallow(&pat.ty);
                self.p.variant_count(&ty).is_some_and(|n| n > 1) || fields.iter().any(|(_, p)| self.refutable(p))
            }
            PatKind::Fields(fields) => fields.iter().any(|(_, p)| self.refutable(p)),
            PatKind::Elements(head, tail) => head.iter().chain(tail).any(|p| self.refutable(p)),
            PatKind::Or(cases) => cases.iter().all(|p| self.refutable(p)),
            PatKind::Deref(inner) => self.refutable(inner),
        }
    }
}

/// The variables that a pattern has bound.
#[derive(Default)]
struct Bound {
    /// All of them, by name: each alternative binds the same ones.
    names: Vec<(String, LocalId)>,
    /// Those that are bound already where it is looked on: in other parts of the same alternative, or beside all of
    /// them.
    here: BTreeSet<LocalId>,
}

/// Whether variables are references to what they match, and mutable ones.
type Mode = Option<bool>;

/// The variables that a pattern binds.
fn variables(pat: &Pat) -> BTreeSet<LocalId> {
    match &pat.kind {
        PatKind::Wild | PatKind::Value(_) | PatKind::Range(..) => BTreeSet::new(),
        PatKind::Bind(id, inner) | PatKind::BindRef(id, inner) => {
            let within = inner.iter().flat_map(|p| variables(p));
            within.chain([*id]).collect()
        }
        PatKind::Fields(fields) | PatKind::Variant(_, fields) => {
            fields.iter().flat_map(|(_, p)| variables(p)).collect()
        }
        PatKind::Elements(head, tail) => head.iter().chain(tail).flat_map(variables).collect(),
        PatKind::Or(cases) => cases.iter().flat_map(variables).collect(),
        PatKind::Deref(inner) => variables(inner),
    }
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
