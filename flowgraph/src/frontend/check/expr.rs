//! Expressions, by kind of syntax.

use super::super::infer::VarKind;
use super::super::items::{Item, Space, ident_text};
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind};
use super::super::types::{BOOL, Ty, USIZE};
use super::super::written::TWO_WORDS;
use super::{Binding, Checker};
use crate::ir::{FileId, Scalar};
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// Checks an expression. `expected` is a hint for literals; nothing is unified with it here.
    pub(super) fn expr(&mut self, e: &syn::Expr, expected: Option<&Ty>) -> Expr {
        let pos = start(self.file, e);
        match e {
            syn::Expr::Lit(l) => self.literal(&l.lit, expected, pos),
            syn::Expr::Paren(p) => self.expr(&p.expr, expected),
            syn::Expr::Group(g) => self.expr(&g.expr, expected),
            syn::Expr::Path(p) => self.path(p, expected, pos),
            syn::Expr::Unary(u) => self.unary(u, expected, pos),
            syn::Expr::Binary(b) => self.binary(b, expected, pos),
            syn::Expr::Cast(c) => {
                let ty = self.written_type(&c.ty);
                let hint = Some(&ty).filter(|_| is_literal(&c.expr));
                let value = self.expr(&c.expr, hint);
                self.cast(value, ty, pos)
            }
            syn::Expr::Assign(a) => self.assign(a, pos),
            syn::Expr::Reference(r) => self.reference(r, expected, false),
            syn::Expr::Field(f) => self.field(f, pos),
            syn::Expr::Index(i) => self.index(i, false, pos),
            syn::Expr::Tuple(t) if t.elems.is_empty() => self.make(ExprKind::Unit, Ty::Unit, pos),
            syn::Expr::Tuple(t) => {
                let hints = match expected.map(|e| self.infer.shallow(e)) {
                    Some(Ty::Tuple(items)) => items.to_vec(),
                    _ => Vec::new(),
                };
                let items: Vec<Expr> = t
                    .elems
                    .iter()
                    .enumerate()
                    .map(|(i, e)| {
                        let value = self.expr(e, hints.get(i));
                        match hints.get(i) {
                            Some(hint) => self.coerce_if_reference(value, hint),
                            None => value,
                        }
                    })
                    .collect();
                let ty = Ty::Tuple(items.iter().map(|i| i.ty.clone()).collect());
                self.make(ExprKind::Tuple(items), ty, pos)
            }
            syn::Expr::Array(a) => {
                let elem = match expected.map(|e| self.infer.shallow(e)) {
                    Some(Ty::Array(t, _) | Ty::Slice(_, t)) => (*t).clone(),
                    _ => self.infer.fresh(VarKind::Any),
                };
                let items: Vec<Expr> = a
                    .elems
                    .iter()
                    .map(|e| {
                        let value = self.expr(e, Some(&elem));
                        self.coerce(value, &elem)
                    })
                    .collect();
                let ty = Ty::Array(Rc::new(elem), items.len() as u64);
                self.make(ExprKind::Array(items), ty, pos)
            }
            syn::Expr::Repeat(r) => {
                let elem = match expected.map(|e| self.infer.shallow(e)) {
                    Some(Ty::Array(t, _) | Ty::Slice(_, t)) => (*t).clone(),
                    _ => self.infer.fresh(VarKind::Any),
                };
                let value = self.expr(&r.expr, Some(&elem));
                let value = self.coerce(value, &elem);
                match self.array_length(&r.len) {
                    Some(n) => self.make(ExprKind::Repeat(Box::new(value), n), Ty::Array(Rc::new(elem), n), pos),
                    None => self.error(pos),
                }
            }
            syn::Expr::Struct(s) => self.struct_literal(s, pos),
            syn::Expr::Block(b) => self.block_expr(b, expected, pos),
            syn::Expr::If(i) => self.if_expr(i, expected, pos),
            syn::Expr::Match(m) => self.match_expr(m, expected, pos),
            syn::Expr::Loop(l) => self.loop_expr(l, expected, pos),
            syn::Expr::While(w) => self.while_expr(w, pos),
            syn::Expr::ForLoop(f) => self.for_expr(f, pos),
            syn::Expr::Break(b) => self.break_expr(b, pos),
            syn::Expr::Continue(c) => self.continue_expr(c, pos),
            syn::Expr::Return(r) => self.return_expr(r, pos),
            syn::Expr::Let(l) => self.let_condition(l, pos),
            syn::Expr::Call(c) => self.call(c, expected, pos),
            syn::Expr::MethodCall(m) => self.method_call(m, expected, pos),
            syn::Expr::Macro(m) => self.macro_call(&m.mac, pos),
            syn::Expr::Try(t) => self.question(t, pos),
            syn::Expr::Closure(c) => {
                self.refuse(e.span(), Reason::Closure, "");
                // Look inside for further problems, without its parameters.
                let _ = c;
                self.error(pos)
            }
            syn::Expr::Unsafe(u) => {
                self.refuse(u.unsafe_token.span, Reason::Unsafe, "");
                self.error(pos)
            }
            syn::Expr::Async(a) => self.refuse(a.async_token.span, Reason::Async, ""),
            syn::Expr::Await(a) => self.refuse(a.await_token.span, Reason::Async, ""),
            syn::Expr::Range(r) => self.refuse(
                r.span(),
                Reason::Expression,
                "a range that isn't the subject of `for` or an index of a slice",
            ),
            syn::Expr::Infer(_) => self.refuse(e.span(), Reason::Expression, "`_` as an expression"),
            _ => self.refuse(e.span(), Reason::Expression, "this expression"),
        }
    }

    /// References in tuples are frozen where the tuple's type is known to want that.
    fn coerce_if_reference(&mut self, value: Expr, hint: &Ty) -> Expr {
        let from = self.infer.shallow(&value.ty);
        if matches!(from, Ty::Ref(..) | Ty::Slice(..) | Ty::Never) { self.coerce(value, hint) } else { value }
    }

    pub(super) fn literal(&mut self, lit: &syn::Lit, expected: Option<&Ty>, pos: Pos) -> Expr {
        let hint = expected.map(|e| self.infer.shallow(e));
        match lit {
            syn::Lit::Int(i) => {
                let (digits, negative) = match i.base10_digits().strip_prefix('-') {
                    Some(digits) => (digits, true),
                    None => (i.base10_digits(), false),
                };
                if matches!(i.suffix(), "f64" | "f32") {
                    return self.float_literal(digits, i.suffix(), hint, pos);
                }
                let ty = match Scalar::from_name(i.suffix()) {
                    Some(s) => Ty::Scalar(s),
                    None if matches!(i.suffix(), "i128" | "u128") => {
                        return self.refuse_with(i.span(), Reason::Type, &format!("`{}`", i.suffix()), TWO_WORDS);
                    }
                    None if !i.suffix().is_empty() => {
                        return self.refuse(i.span(), Reason::Type, &format!("`{}`", i.suffix()));
                    }
                    None => match hint {
                        Some(Ty::Scalar(s)) if s.is_integer() => Ty::Scalar(s),
                        Some(Ty::Scalar(Scalar::Char)) => Ty::Scalar(Scalar::U8),
                        _ => self.infer.fresh(VarKind::Integer),
                    },
                };
                let Ok(value) = digits.parse::<u64>() else {
                    return self.refuse(i.span(), Reason::LiteralRange, digits);
                };
                let literal = self.make(ExprKind::Int(value), ty.clone(), pos);
                if negative { self.make(ExprKind::Neg(Box::new(literal)), ty, pos) } else { literal }
            }
            syn::Lit::Float(f) => match f.base10_digits().strip_prefix('-') {
                Some(digits) => {
                    let literal = self.float_literal(digits, f.suffix(), hint, pos);
                    let ty = literal.ty.clone();
                    self.make(ExprKind::Neg(Box::new(literal)), ty, pos)
                }
                None => self.float_literal(f.base10_digits(), f.suffix(), hint, pos),
            },
            syn::Lit::Bool(b) => self.make(ExprKind::Bool(b.value), BOOL, pos),
            syn::Lit::Char(c) => self.make(ExprKind::Char(c.value()), Ty::Scalar(Scalar::Char), pos),
            syn::Lit::Byte(b) => self.make(ExprKind::Int(u64::from(b.value())), Ty::Scalar(Scalar::U8), pos),
            syn::Lit::Str(s) => self.make(ExprKind::Text(s.value().into()), Ty::Str, pos),
            syn::Lit::ByteStr(s) => {
                let bytes = s.value();
                let array = Ty::Array(Rc::new(Ty::Scalar(Scalar::U8)), bytes.len() as u64);
                self.make(ExprKind::Bytes(bytes.into()), Ty::Ref(false, Rc::new(array)), pos)
            }
            _ => self.refuse(lit.span(), Reason::Expression, "this literal"),
        }
    }

    fn float_literal(&mut self, digits: &str, suffix: &str, hint: Option<Ty>, pos: Pos) -> Expr {
        let ty = match (Scalar::from_name(suffix), hint) {
            (Some(s), _) => Ty::Scalar(s),
            (None, Some(Ty::Scalar(s))) if s.is_float() => Ty::Scalar(s),
            _ => self.infer.fresh(VarKind::Float),
        };
        self.make(ExprKind::Float(digits.into()), ty, pos)
    }

    fn path(&mut self, p: &syn::ExprPath, expected: Option<&Ty>, pos: Pos) -> Expr {
        if let Some(plain) = without_brackets(p) {
            return self.path(&plain, expected, pos);
        }
        if p.qself.is_some() {
            return self.refuse(p.span(), Reason::Trait, "a path with `<T as ..>`");
        }
        if let Some(ident) = p.path.get_ident() {
            match self.binding(&ident_text(ident)) {
                Some(Binding::Local(id)) => {
                    let ty = self.locals[id].ty.clone();
                    return self.make(ExprKind::Local(id), ty, pos);
                }
                Some(Binding::Const(id)) => return self.constant_use(id, pos),
                None => {}
            }
        }
        match self.lookup_path(&p.path, Space::Value) {
            Some(Item::Const(id)) => return self.constant_use(id, pos),
            Some(Item::Function(_) | Item::Prelude(_)) => {
                let remedy = "call it by its name; for one of several, `match` on a number or an enum that says which";
                return self.refuse_with(p.span(), Reason::Expression, "a function as a value", remedy);
            }
            _ => {}
        }
        if let Some((ty, index)) = self.variant_of(&p.path) {
            let ty = self.expected_enum(ty, expected);
            return self.variant_use(ty, index, &p.path, pos);
        }
        if let Some(known) = self.number_constant(&self.known_text(&p.path).0, pos) {
            return known;
        }
        if let Some(Item::Struct(key)) = self.lookup_path(&p.path, Space::Type)
            && self.p.field_types(&key).is_empty()
        {
            return self.make(ExprKind::Struct(Vec::new()), Ty::Struct(key), pos);
        }
        let text = super::super::collect::path_text(&p.path);
        self.refuse_with(p.span(), Reason::UnknownName, &format!("`{text}`"), &self.spelling(&text))
    }

    /// A variant without fields.
    pub(super) fn variant_use(&mut self, ty: Ty, index: usize, path: &syn::Path, pos: Pos) -> Expr {
        if self.is_unsupported(&ty, pos) {
            return self.error(pos);
        }
        if !self.p.variant_types(&ty, index).is_empty() {
            return self.refuse(
                path.span(),
                Reason::Expression,
                "a variant with fields as a value, without its fields,",
            );
        }
        self.make(ExprKind::Variant(index, Vec::new()), ty, pos)
    }

    fn is_unsupported(&mut self, ty: &Ty, pos: Pos) -> bool {
        let Ty::Enum(key) = ty else { return false };
        let unsupported = self.p.unsupported.borrow().contains(key);
        if unsupported {
            self.p.echo(pos, &format!("`{key}`"));
        }
        unsupported
    }

    /// The type of a variant's enum where its parameters are expected to be known: literals inside take them. Others
    /// may be written with the variant; that they are is found by whoever expects these.
    pub(super) fn expected_enum(&mut self, ty: Ty, expected: Option<&Ty>) -> Ty {
        match (&ty, expected.map(|e| self.infer.shallow(e))) {
            (Ty::Option(_), Some(known @ Ty::Option(_))) | (Ty::Result(..), Some(known @ Ty::Result(..)))
                if self.infer.unify(&ty, &known) =>
            {
                known
            }
            _ => ty,
        }
    }

    /// `V(a, b)`
    pub(super) fn variant_call(&mut self, ty: Ty, index: usize, c: &syn::ExprCall, pos: Pos) -> Expr {
        if self.is_unsupported(&ty, pos) {
            self.arguments_only(c.args.iter());
            return self.error(pos);
        }
        let types = self.p.variant_types(&ty, index);
        let (name, _, parentheses) = self.p.variant_names(&ty, index);
        if types.len() != c.args.len() || !parentheses {
            self.arguments_only(c.args.iter());
            let detail = match parentheses {
                true => format!("`{name}` has {} fields, {} are given", types.len(), c.args.len()),
                false => format!("`{name}` isn't written with parentheses"),
            };
            return self.refuse(c.span(), Reason::WrongCount, &detail);
        }
        let fields = c.args.iter().zip(&types).enumerate().map(|(i, (a, ty))| (i, self.field_value(a, ty))).collect();
        self.make(ExprKind::Variant(index, fields), ty, pos)
    }

    fn constant_use(&mut self, id: usize, pos: Pos) -> Expr {
        let ty = self.p.const_type(id);
        self.make(ExprKind::Const(id), ty, pos)
    }

    /// `i64::MAX`, `f64::NAN`, `u8::BITS`, ...
    pub(super) fn number_constant(&mut self, text: &str, pos: Pos) -> Option<Expr> {
        let segments: Vec<&str> = text.split("::").collect();
        let segments = match segments.as_slice() {
            ["std" | "core", rest @ ..] => rest,
            all => all,
        };
        if let [ty @ ("f64" | "f32"), "consts", name] = segments {
            let value = match *name {
                "PI" => std::f64::consts::PI,
                "TAU" => std::f64::consts::TAU,
                "E" => std::f64::consts::E,
                "LN_2" => std::f64::consts::LN_2,
                "LN_10" => std::f64::consts::LN_10,
                "SQRT_2" => std::f64::consts::SQRT_2,
                "FRAC_PI_2" => std::f64::consts::FRAC_PI_2,
                "FRAC_PI_4" => std::f64::consts::FRAC_PI_4,
                _ => return None,
            };
            // The shortest decimal of the f64 rounds to the f32 of the same constant.
            let scalar = Scalar::from_name(ty)?;
            return Some(self.make(ExprKind::Float(format!("{value:?}").into()), Ty::Scalar(scalar), pos));
        }
        let [ty, name] = segments else { return None };
        let scalar = Scalar::from_name(ty)?;
        let int = |v: u64| ExprKind::Int(v);
        let bits = scalar.bits();
        let (kind, ty) = match (*name, scalar) {
            ("BITS", s) if s.is_integer() => (int(u64::from(bits)), Ty::Scalar(Scalar::U32)),
            ("MIN", s) if s.is_signed() => {
                let magnitude = self.make(int(1 << (bits - 1)), Ty::Scalar(s), pos);
                (ExprKind::Neg(Box::new(magnitude)), Ty::Scalar(s))
            }
            ("MAX", s) if s.is_signed() => (int((1 << (bits - 1)) - 1), Ty::Scalar(s)),
            ("MIN", s) if s.is_integer() => (int(0), Ty::Scalar(s)),
            ("MAX", s) if s.is_integer() => (int(u64::MAX >> (64 - bits)), Ty::Scalar(s)),
            ("MAX", Scalar::Char) => (ExprKind::Char(char::MAX), Ty::Scalar(Scalar::Char)),
            (name, s) if s.is_float() => {
                let double = s == Scalar::F64;
                let text = match name {
                    "MAX" if double => format!("{:?}", f64::MAX),
                    "MIN" if double => format!("{:?}", f64::MIN),
                    "EPSILON" if double => format!("{:?}", f64::EPSILON),
                    "MIN_POSITIVE" if double => format!("{:?}", f64::MIN_POSITIVE),
                    "MAX" => format!("{:?}", f32::MAX),
                    "MIN" => format!("{:?}", f32::MIN),
                    "EPSILON" => format!("{:?}", f32::EPSILON),
                    "MIN_POSITIVE" => format!("{:?}", f32::MIN_POSITIVE),
                    "INFINITY" => "inf".to_owned(),
                    "NEG_INFINITY" => "-inf".to_owned(),
                    "NAN" => "NaN".to_owned(),
                    _ => return None,
                };
                (ExprKind::Float(text.into()), Ty::Scalar(s))
            }
            _ => return None,
        };
        Some(self.make(kind, ty, pos))
    }

    fn field(&mut self, f: &syn::ExprField, pos: Pos) -> Expr {
        let base = self.expr(&f.base, None);
        let base = self.autoderef(base);
        let name = match &f.member {
            syn::Member::Named(n) => ident_text(n),
            syn::Member::Unnamed(i) => i.index.to_string(),
        };
        let index = match &base.ty {
            Ty::Error => return self.error(pos),
            Ty::Struct(key) => self.p.field_index(key, &name),
            Ty::Tuple(items) => name.parse::<usize>().ok().filter(|i| *i < items.len()),
            Ty::Var(_) => {
                return self.refuse(f.base.span(), Reason::UnknownType, &format!("`{}`", self.text(&f.base)));
            }
            _ => None,
        };
        let types = self.p.fields_of(&base.ty);
        match index.and_then(|i| Some((i, types.get(i)?.clone()))) {
            Some((i, ty)) => self.make(ExprKind::Field(Box::new(base), i), ty, pos),
            None => {
                let ty = self.show(&base.ty);
                self.refuse(f.member.span(), Reason::NoField, &format!("`{ty}` has no field `{name}`"))
            }
        }
    }

    pub(super) fn index(&mut self, i: &syn::ExprIndex, mutable: bool, pos: Pos) -> Expr {
        let base = self.expr(&i.expr, None);
        let base = self.autoderef(base);
        if let syn::Expr::Range(range) = strip(&i.index) {
            return self.slice_of(base, range, mutable, &i.expr, pos);
        }
        let index = self.expr(&i.index, Some(&USIZE));
        if matches!(index.ty, Ty::Never) {
            return self.error(pos);
        }
        self.same(&index, &USIZE);
        let literal = matches!(index.kind, ExprKind::Int(_) | ExprKind::Const(_));
        if matches!(base.ty, Ty::Array(..)) && !literal {
            self.needs_address(&base);
        }
        let elem = match &base.ty {
            Ty::Array(t, _) | Ty::Slice(_, t) => (**t).clone(),
            Ty::Error => return self.error(pos),
            Ty::Str => return self.refuse(i.span(), Reason::Expression, "indexing a `&str`"),
            other => {
                let ty = self.show(&other.clone());
                return self.refuse(i.span(), Reason::NoOperator, &format!("`{ty}` can't be indexed"));
            }
        };
        self.make(ExprKind::Index(Box::new(base), Box::new(index)), elem, pos)
    }

    fn struct_literal(&mut self, s: &syn::ExprStruct, pos: Pos) -> Expr {
        if let Some(rest) = &s.rest {
            self.refuse(rest.span(), Reason::StructUpdate, "");
        }
        let text = super::super::collect::path_text(&s.path);
        let (ty, variant, types, names) = if let Some((ty, index)) = self.variant_of(&s.path) {
            if self.is_unsupported(&ty, pos) {
                return self.error(pos);
            }
            let (types, names) = (self.p.variant_types(&ty, index), self.p.variant_names(&ty, index).1);
            (ty, Some(index), types, names)
        } else if let Some(Item::Struct(key)) = self.struct_of_path(&s.path) {
            if self.p.unsupported.borrow().contains(&key) {
                self.p.echo(pos, &format!("`{key}`"));
                return self.error(pos);
            }
            (Ty::Struct(key.clone()), None, self.p.field_types(&key), self.p.field_names(&key))
        } else {
            for f in &s.fields {
                self.expr(&f.expr, None);
            }
            return self.refuse(s.path.span(), Reason::UnknownName, &format!("struct `{text}`"));
        };
        let mut fields: Vec<(usize, Expr)> = Vec::new();
        for f in &s.fields {
            let name = match &f.member {
                syn::Member::Named(n) => ident_text(n),
                syn::Member::Unnamed(i) => i.index.to_string(),
            };
            let Some(index) = names.iter().position(|n| *n == name) else {
                self.refuse(f.member.span(), Reason::NoField, &format!("`{text}` has no field `{name}`"));
                continue;
            };
            let ty = types.get(index).cloned().unwrap_or(Ty::Error);
            let value = self.field_value(&f.expr, &ty);
            if fields.iter().any(|(i, _)| *i == index) {
                self.refuse(f.member.span(), Reason::Duplicate, &format!("`{name}`"));
            }
            fields.push((index, value));
        }
        if s.rest.is_none() && fields.len() < types.len() {
            self.refuse(s.path.span(), Reason::WrongCount, &format!("some fields of `{text}` are missing"));
        }
        let kind = match variant {
            Some(index) => ExprKind::Variant(index, fields),
            None => ExprKind::Struct(fields),
        };
        self.make(kind, ty, pos)
    }

    /// The value for a field: `Cell::new(v)` for a `Cell`.
    pub(super) fn field_value(&mut self, e: &syn::Expr, ty: &Ty) -> Expr {
        let value = self.expr(e, Some(ty));
        self.coerce(value, ty)
    }

    pub(super) fn struct_of_path(&mut self, path: &syn::Path) -> Option<Item> {
        match self.lookup_path(path, Space::Type)? {
            Item::Alias(id) => match self.p.resolve_alias(id) {
                Ty::Struct(key) => Some(Item::Struct(key)),
                _ => None,
            },
            other => Some(other),
        }
    }
}

/// The expression without parentheses.
pub(super) fn strip(e: &syn::Expr) -> &syn::Expr {
    let mut e = e;
    loop {
        match e {
            syn::Expr::Paren(p) => e = &p.expr,
            syn::Expr::Group(g) => e = &g.expr,
            other => return other,
        }
    }
}

/// Whether it is a literal, perhaps with operators before it. Only such a one takes its type from an `as` behind it.
fn is_literal(e: &syn::Expr) -> bool {
    let mut e = strip(e);
    while let syn::Expr::Unary(u) = e {
        e = strip(&u.expr);
    }
    matches!(e, syn::Expr::Lit(_))
}

/// Where an expression begins: cheaper than the span of all its tokens.
pub(super) fn start(file: FileId, e: &syn::Expr) -> Pos {
    let mut at = e;
    let span = loop {
        at = match at {
            syn::Expr::Binary(b) => &b.left,
            syn::Expr::Assign(a) => &a.left,
            syn::Expr::MethodCall(m) => &m.receiver,
            syn::Expr::Call(c) => &c.func,
            syn::Expr::Field(f) => &f.base,
            syn::Expr::Index(i) => &i.expr,
            syn::Expr::Cast(c) => &c.expr,
            syn::Expr::Try(t) => &t.expr,
            syn::Expr::Path(p) => break p.path.segments.first().map_or(Span::call_site(), |s| s.ident.span()),
            syn::Expr::Lit(l) => break l.lit.span(),
            syn::Expr::Paren(p) => break p.paren_token.span.open(),
            syn::Expr::Block(b) if b.label.is_none() => break b.block.brace_token.span.open(),
            syn::Expr::If(i) => break i.if_token.span,
            syn::Expr::Match(m) => break m.match_token.span,
            syn::Expr::Loop(l) if l.label.is_none() => break l.loop_token.span,
            syn::Expr::While(w) if w.label.is_none() => break w.while_token.span,
            other => break other.span(),
        };
    };
    Pos::of(file, span)
}

/// `<i64>::MAX` as `i64::MAX`.
pub(super) fn without_brackets(p: &syn::ExprPath) -> Option<syn::ExprPath> {
    let syn::Type::Path(ty) = &*p.qself.as_ref().filter(|q| q.as_token.is_none())?.ty else { return None };
    if ty.qself.is_some() {
        return None;
    }
    let mut path = ty.path.clone();
    path.segments.extend(p.path.segments.iter().cloned());
    Some(syn::ExprPath { attrs: Vec::new(), qself: None, path })
}
