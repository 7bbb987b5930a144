//! Calls by path: functions of the file, constructors, the prelude, associated functions of numbers.

use super::super::host::prelude_host;
use super::super::items::{Item, Space, ident_text};
use super::super::numbers;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Expr, ExprKind};
use super::super::types::{BOOL, Ty, USIZE};
use super::expr::{strip, without_brackets};
use super::{Binding, Checker, remedies, wrong_count};
use crate::ir::{Opcode, Scalar, Type};
use crate::math;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    pub(super) fn call(&mut self, c: &syn::ExprCall, expected: Option<&Ty>, pos: Pos) -> Expr {
        let syn::Expr::Path(p) = strip(&c.func) else {
            self.expr(&c.func, None);
            self.arguments_only(c.args.iter());
            return self.refuse(c.func.span(), Reason::Expression, "calling a value");
        };
        let plain = without_brackets(p);
        let p = plain.as_ref().unwrap_or(p);
        if p.qself.is_some() {
            self.arguments_only(c.args.iter());
            return self.refuse(p.span(), Reason::Trait, "a path with `<T as ..>`");
        }
        if let Some(ident) = p.path.get_ident()
            && let Some(Binding::Local(id)) = self.binding(&ident_text(ident))
        {
            self.arguments_only(c.args.iter());
            if self.infer.shallow(&self.locals[id].ty.clone()) == Ty::Error {
                return self.error(pos);
            }
            return self.refuse(p.span(), Reason::Expression, "calling a variable");
        }
        if p.path.segments.iter().any(|s| matches!(s.arguments, syn::PathArguments::AngleBracketed(_))) {
            let known = matches!(self.lookup_path(&p.path, Space::Value), Some(Item::Prelude(_)));
            if !known && !matches!(self.variant_of(&p.path), Some((Ty::Option(_) | Ty::Result(..), _))) {
                self.arguments_only(c.args.iter());
                return self.refuse(p.span(), Reason::Generic, "");
            }
        }
        match self.lookup_path(&p.path, Space::Value) {
            Some(Item::Function(id)) => return self.call_function(id, None, c.args.iter(), p, pos),
            Some(Item::Prelude(name)) => return self.call_prelude(&name, c, p, pos),
            Some(Item::Const(_)) => {
                return self.refuse(p.span(), Reason::Expression, "calling a constant");
            }
            _ => {}
        }
        if let Some((ty, index)) = self.variant_of(&p.path) {
            let ty = self.expected_enum(ty, expected);
            return self.variant_call(ty, index, c, pos);
        }
        if let Some(Item::Struct(key)) = self.struct_of_path(&p.path) {
            return self.tuple_struct_literal(key, c, pos);
        }
        self.known_call(c, p, expected, pos)
    }

    /// Checks arguments for their own problems.
    pub(super) fn arguments_only<'e>(&mut self, args: impl Iterator<Item = &'e syn::Expr>) {
        for a in args {
            self.argument(a, None);
        }
    }

    /// An argument: `&local` is allowed.
    pub(super) fn argument(&mut self, e: &syn::Expr, expected: Option<&Ty>) -> Expr {
        match strip(e) {
            syn::Expr::Reference(r) => self.reference(r, expected, true),
            _ => self.expr(e, expected),
        }
    }

    pub(super) fn call_function<'e>(
        &mut self,
        id: usize,
        receiver: Option<Expr>,
        args: impl ExactSizeIterator<Item = &'e syn::Expr>,
        at: &impl Spanned,
        pos: Pos,
    ) -> Expr {
        let path = self.p.functions[id].path.clone();
        self.note_call(&path);
        let home = self.p.functions[id].module;
        if !self.p.functions[id].public && !self.p.is_inside(self.module, home) {
            self.refuse(at.span(), Reason::Private, &format!("the function `{path}`"));
        }
        let Some(types) = self.p.fn_types(id) else {
            self.arguments_only(args);
            return self.error(pos);
        };
        let given = args.len() + usize::from(receiver.is_some());
        if given != types.params.len() {
            let detail = wrong_count(&path, types.params.len(), given);
            self.refuse(at.span(), Reason::WrongCount, &detail);
        }
        let mut values = Vec::new();
        let mut params = types.params.iter();
        if let Some(receiver) = receiver {
            let ty = params.next().cloned().unwrap_or(Ty::Error);
            values.push(self.coerce(receiver, &ty));
        }
        for a in args {
            match params.next() {
                Some(ty) => {
                    let value = self.argument(a, Some(ty));
                    values.push(self.coerce(value, ty));
                }
                None => {
                    self.argument(a, None);
                }
            }
        }
        if given != types.params.len() {
            return self.error(pos);
        }
        let elidable = self.p.is_elidable(id);
        self.make(ExprKind::Call(path, values, elidable), types.result.clone(), pos)
    }

    /// Notes that the function being checked calls another.
    pub(super) fn note_call(&self, path: &str) {
        if let Some(caller) = &*self.p.function.borrow() {
            self.p.calls.borrow_mut().entry(caller.clone()).or_default().insert(path.to_owned());
        }
    }

    fn tuple_struct_literal(&mut self, key: Rc<str>, c: &syn::ExprCall, pos: Pos) -> Expr {
        if self.p.unsupported.borrow().contains(&key) {
            self.p.echo(pos, &format!("`{key}`"));
            return self.error(pos);
        }
        let types = self.p.field_types(&key);
        if types.len() != c.args.len() {
            let detail = format!("`{key}` has {} fields, {} are given", types.len(), c.args.len());
            return self.refuse(c.span(), Reason::WrongCount, &detail);
        }
        let fields = c.args.iter().zip(&types).enumerate().map(|(i, (a, ty))| (i, self.field_value(a, ty))).collect();
        self.make(ExprKind::Struct(fields), Ty::Struct(key), pos)
    }

    fn call_prelude(&mut self, name: &str, c: &syn::ExprCall, p: &syn::ExprPath, pos: Pos) -> Expr {
        let args: Vec<&syn::Expr> = c.args.iter().collect();
        let wrong = |this: &mut Self, n: usize| {
            let detail = wrong_count(name, n, args.len());
            this.refuse(p.span(), Reason::WrongCount, &detail)
        };
        if let Some((write, scalar)) = numbers::memory_helper(name) {
            let bytes = super::control::bytes(write);
            let n = if write { 3 } else { 2 };
            if args.len() != n {
                return wrong(self, n);
            }
            let slice = self.argument(args[0], Some(&bytes));
            let slice = Box::new(self.coerce(slice, &bytes));
            let at = self.expr(args[1], Some(&USIZE));
            let at = Box::new(self.coerce(at, &USIZE));
            let ty = Ty::Scalar(scalar);
            if !write {
                return self.make(ExprKind::ReadLe(scalar, slice, at), ty, pos);
            }
            let value = self.expr(args[2], Some(&ty));
            let value = Box::new(self.coerce(value, &ty));
            return self.make(ExprKind::WriteLe(scalar, slice, at, value), Ty::Unit, pos);
        }
        if let Some(host) = prelude_host(name) {
            if args.len() != host.params.len() {
                return wrong(self, host.params.len());
            }
            let mut values = Vec::new();
            for (arg, (_, scalar)) in args.iter().zip(host.params) {
                let value = self.expr(arg, Some(&Ty::Scalar(*scalar)));
                values.push(self.coerce(value, &Ty::Scalar(*scalar)));
            }
            self.note_call(host.key);
            return self.make(ExprKind::Call(host.key.into(), values, false), host.result(), pos);
        }
        if name == "we_are_jitted" {
            if !args.is_empty() {
                return wrong(self, 0);
            }
            return self.make(ExprKind::Hint(Opcode::WeAreJitted, None), BOOL, pos);
        }
        let [arg] = args.as_slice() else { return wrong(self, 1) };
        if name == "is_virtual" {
            return self.is_virtual(arg, pos);
        }
        let value = self.expr(arg, None);
        let ty = value.ty.clone();
        let (opcode, result) = match name {
            "concrete" => (Opcode::Concrete, ty.clone()),
            "variable" => (Opcode::Variable, ty.clone()),
            "promote" => (Opcode::Promote, ty.clone()),
            "promote_tag" => {
                let shallow = self.infer.shallow(&ty);
                if self.p.variant_count(&shallow).is_none() && shallow != Ty::Error {
                    let shown = self.show(&ty);
                    let detail = format!("`{shown}` has no tag to promote");
                    return self.refuse(arg.span(), Reason::NotPromotable, &detail);
                }
                return self.make(ExprKind::PromoteTag(Box::new(value)), ty, pos);
            }
            "likely" => {
                let value = self.coerce(value, &BOOL);
                return self.make(ExprKind::Hint(Opcode::Likely, Some(Box::new(value))), BOOL, pos);
            }
            "is_constant" => (Opcode::IsConstant, BOOL),
            _ => return self.refuse(p.span(), Reason::NotYet, &format!("`{name}`")),
        };
        if opcode == Opcode::Promote {
            let shallow = self.infer.shallow(&ty);
            let fits = matches!(shallow, Ty::Error | Ty::Enum(_) | Ty::Scalar(Scalar::Bool | Scalar::Char))
                || self.infer.is_integer(&shallow);
            if !fits || self.p.has_payload(&shallow) {
                let shown = self.show(&ty);
                return self.refuse(arg.span(), Reason::NotPromotable, &format!("`{shown}` can't be promoted"));
            }
        }
        self.make(ExprKind::Hint(opcode, Some(Box::new(value))), result, pos)
    }

    /// `is_virtual(x)`, which takes a reference. Of a reference to a reference the inner one is asked about: the outer
    /// one is made for the question.
    fn is_virtual(&mut self, arg: &syn::Expr, pos: Pos) -> Expr {
        let value = match strip(arg) {
            syn::Expr::Reference(r) if r.mutability.is_none() && !matches!(strip(&r.expr), syn::Expr::Index(_)) => {
                let inner = self.expr(&r.expr, None);
                match self.infer.shallow(&inner.ty) {
                    Ty::Ref(..) | Ty::Slice(..) | Ty::Str | Ty::Error => inner,
                    _ => self.reference_to(inner, false, true, r, pos),
                }
            }
            _ => self.argument(arg, None),
        };
        let shallow = self.infer.shallow(&value.ty);
        if !matches!(shallow, Ty::Ref(..) | Ty::Slice(..) | Ty::Str | Ty::Never | Ty::Error) {
            let detail = format!("expected a reference, found `{}`", self.show(&shallow));
            let remedy =
                format!("`is_virtual` asks about what a reference leads to: `is_virtual(&{})`", self.text(arg));
            return self.refuse_with(arg.span(), Reason::TypeMismatch, &detail, &remedy);
        }
        self.make(ExprKind::Hint(Opcode::IsVirtual, Some(Box::new(value))), BOOL, pos)
    }

    /// `Some(x)`, `Cell::new(x)`, `i64::from(x)`, `u8::max(a, b)`, ...
    fn known_call(&mut self, c: &syn::ExprCall, p: &syn::ExprPath, expected: Option<&Ty>, pos: Pos) -> Expr {
        let (text, of_alias) = self.known_text(&p.path);
        let segments: Vec<&str> = text.split("::").collect();
        let args: Vec<&syn::Expr> = c.args.iter().collect();
        let hint = expected.map(|e| self.infer.shallow(e));
        match (segments.as_slice(), args.as_slice()) {
            (["Cell", "new"] | [.., "cell", "Cell", "new"], [arg]) => {
                let of_hint = if let Some(Ty::Cell(t)) = hint { Some(t) } else { None };
                let want = of_alias.or(of_hint).map(|of| (*of).clone());
                let value = self.expr(arg, want.as_ref());
                let value = if let Some(t) = &want { self.coerce(value, t) } else { value };
                let ty = Ty::Cell(Rc::new(value.ty.clone()));
                self.make(ExprKind::Freeze(Box::new(value)), ty, pos)
            }
            ([.., "cmp", method @ ("min" | "max")], [_, _]) => {
                let first = self.expr(args[0], None);
                self.number_call(method, first, &args[1..], c, pos)
            }
            ([ty, "from"], [arg]) if Scalar::from_name(ty).is_some() => {
                let to = Scalar::from_name(ty).map_or(Ty::Error, Ty::Scalar);
                let value = self.expr(arg, None);
                self.lossless_call(value, to, c, pos)
            }
            ([ty, "from_bits"], [arg]) if matches!(*ty, "f64" | "f32") => {
                let (bits, float) = if *ty == "f64" { (Scalar::U64, Scalar::F64) } else { (Scalar::U32, Scalar::F32) };
                let value = self.expr(arg, Some(&Ty::Scalar(bits)));
                let value = self.coerce(value, &Ty::Scalar(bits));
                let opcode = if *ty == "f64" { Opcode::BitsToFloat } else { Opcode::BitsToSingle };
                self.make(ExprKind::Hint(opcode, Some(Box::new(value))), Ty::Scalar(float), pos)
            }
            ([ty, order @ ("from_le_bytes" | "from_be_bytes")], [arg]) if integer(ty).is_some() => {
                let scalar = integer(ty).unwrap_or(Scalar::I64);
                let bytes = Ty::Array(Rc::new(Ty::Scalar(Scalar::U8)), u64::from(scalar.bits() / 8));
                let value = self.expr(arg, Some(&bytes));
                let value = self.coerce(value, &bytes);
                let kind = ExprKind::FromBytes(Box::new(value), *order == "from_be_bytes");
                self.make(kind, Ty::Scalar(scalar), pos)
            }
            ([ty, order @ ("to_le_bytes" | "to_be_bytes")], [arg]) if integer(ty).is_some() => {
                let scalar = integer(ty).unwrap_or(Scalar::I64);
                let value = self.expr(arg, Some(&Ty::Scalar(scalar)));
                let value = self.coerce(value, &Ty::Scalar(scalar));
                let bytes = Ty::Array(Rc::new(Ty::Scalar(Scalar::U8)), u64::from(scalar.bits() / 8));
                self.make(ExprKind::ToBytes(Box::new(value), *order == "to_be_bytes"), bytes, pos)
            }
            ([ty, method], [first, rest @ ..]) if Scalar::from_name(ty).is_some() => {
                let receiver = Scalar::from_name(ty).map_or(Ty::Error, Ty::Scalar);
                if !numbers::METHODS.iter().any(|(name, ..)| name == method) && !is_mathematics(method) {
                    self.arguments_only(c.args.iter());
                    let detail = format!("`{ty}` has no function `{method}` in the dialect");
                    return self.refuse(p.span(), Reason::NoMethod, &detail);
                }
                let value = self.expr(first, Some(&receiver));
                let value = self.coerce(value, &receiver);
                let call = self.number_call(method, value, rest, c, pos);
                if let Some(name) = p.path.segments.last() {
                    self.note_method(&call, name.ident.span(), &receiver);
                }
                call
            }
            _ => {
                self.arguments_only(c.args.iter());
                if segments.iter().any(|name| HEAP.contains(name)) {
                    return self.refuse(p.span(), Reason::Type, &format!("of `{text}`"));
                }
                if segments.contains(&"QuasiCell") {
                    return self.refuse(p.span(), Reason::QuasiCell, "a `QuasiCell` can't be made here");
                }
                if matches!(segments.first(), Some(&("Gc" | "GcArray" | "List"))) {
                    return self.refuse(p.span(), Reason::NotYet, &format!("`{text}`"));
                }
                if numbers::is_prelude_function(&text) {
                    return self.refuse(p.span(), Reason::NoPrelude, &format!("`{text}`"));
                }
                let remedy = remedies::of_function(&text).map_or_else(|| self.spelling(&text), str::to_owned);
                self.refuse_with(p.span(), Reason::UnknownName, &format!("function `{text}`"), &remedy)
            }
        }
    }

    /// `T::from(x)`: the lossless conversions.
    fn lossless_call(&mut self, value: Expr, to: Ty, c: &syn::ExprCall, pos: Pos) -> Expr {
        let mut from = self.infer.shallow(&value.ty);
        if let (Ty::Var(_), Ty::Scalar(s)) = (&from, &to)
            && self.infer.is_integer(&from)
        {
            // What a literal defaults to here depends on traits; with its target's type it is the same number.
            let target = if s.is_float() { Ty::Scalar(Scalar::I32) } else { to.clone() };
            self.infer.unify(&from, &target);
            from = target;
        }
        let allowed = match (&from, &to) {
            (Ty::Error, _) => true,
            (Ty::Scalar(f), Ty::Scalar(t)) if f == t => true,
            (Ty::Scalar(Scalar::Bool), Ty::Scalar(t)) => t.is_integer(),
            (Ty::Scalar(Scalar::U8), Ty::Scalar(Scalar::Char)) => true,
            (Ty::Scalar(Scalar::Char), Ty::Scalar(t)) => matches!(t, Scalar::U32 | Scalar::U64),
            (Ty::Scalar(Scalar::F32), Ty::Scalar(Scalar::F64)) => true,
            (Ty::Scalar(f), Ty::Scalar(t)) if f.is_integer() && t.is_float() => {
                f.bits() <= if *t == Scalar::F64 { 32 } else { 16 }
            }
            (Ty::Scalar(f), Ty::Scalar(t)) if f.is_integer() && t.is_integer() => {
                let wider = t.bits() > f.bits() && (!f.is_signed() || t.is_signed());
                let pointer = matches!(t, Scalar::Isize | Scalar::Usize);
                wider && !matches!(f, Scalar::Isize | Scalar::Usize) && (!pointer || f.bits() <= 16)
            }
            _ => false,
        };
        if !allowed {
            let detail = format!("`{to}` has no `from` for `{}`", self.show(&from));
            return self.refuse(c.span(), Reason::NoMethod, &detail);
        }
        self.make(ExprKind::Cast(Box::new(value)), to, pos)
    }
}

fn is_mathematics(name: &str) -> bool {
    [Type::Float, Type::Single].iter().any(|ty| math::method(name, *ty).is_some())
}

/// What lies in Rust's heap.
const HEAP: &[&str] = &["String", "Vec", "VecDeque", "Box", "Rc", "Arc", "HashMap", "HashSet", "BTreeMap", "BTreeSet"];

fn integer(name: &str) -> Option<Scalar> {
    Scalar::from_name(name).filter(|s| s.is_integer())
}
