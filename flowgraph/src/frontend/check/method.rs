//! Method calls: of the file's types, of numbers, cells, slices, options.

use super::super::infer::VarKind;
use super::super::items::{Item, ident_text};
use super::super::numbers::{METHODS, NumberMethod, Of, On};
use super::super::quasi;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Block, Expr, ExprKind};
use super::super::types::{BOOL, Ty, USIZE};
use super::super::uses::Used;
use super::{Checker, wrong_count};
use crate::ir::{Scalar, TrapKind, Type};
use crate::math;
use std::rc::Rc;
use syn::spanned::Spanned;

const ITERATORS: &[&str] = &[
    "iter",
    "iter_mut",
    "into_iter",
    "map",
    "filter",
    "fold",
    "sum",
    "collect",
    "zip",
    "enumerate",
    "windows",
    "chunks",
    "any",
    "all",
    "bytes",
    "chars",
    "rev",
    "step_by",
    "take",
    "skip",
];

/// Methods of text that make a new one.
const TEXTS: &[&str] = &["to_owned", "to_uppercase", "to_lowercase", "push_str", "replace", "repeat"];

impl Checker<'_, '_> {
    pub(super) fn method_call(&mut self, m: &syn::ExprMethodCall, expected: Option<&Ty>, pos: Pos) -> Expr {
        let name = ident_text(&m.method);
        if m.turbofish.is_some() {
            self.refuse(m.method.span(), Reason::Generic, "");
        }
        if ITERATORS.contains(&name.as_str()) && matches!(super::expr::strip(&m.receiver), syn::Expr::Range(_)) {
            return self.refuse(m.method.span(), Reason::Iterator, &format!("`.{name}()`"));
        }
        let receiver = self.expr(&m.receiver, None);
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let ty = self.infer.shallow(&receiver.ty);
        if ty == Ty::Error {
            self.arguments_only(m.args.iter());
            return self.error(pos);
        }
        if let Some(found) = self.own_method(&receiver, &name, m, pos) {
            return found;
        }
        let written = receiver.ty.clone();
        let value = self.autoderef(receiver);
        let pos = self.blamed(m, pos);
        if name == "to_string" || (value.ty == Ty::Str && TEXTS.contains(&name.as_str())) {
            self.arguments_only(m.args.iter());
            return self.refuse(m.method.span(), Reason::GrowingText, &format!("`.{name}()`"));
        }
        match (&value.ty.clone(), name.as_str(), args.as_slice()) {
            (Ty::Cell(t), "get", []) => self.make(ExprKind::CellGet(Box::new(value)), (**t).clone(), pos),
            (Ty::Cell(t), "set", [arg]) => {
                let new = self.expr(arg, Some(t));
                let new = self.coerce(new, t);
                self.make(ExprKind::CellSet(Box::new(value), Box::new(new)), Ty::Unit, pos)
            }
            (Ty::Struct(key), "get" | "set", _) if quasi::content(key).is_some() => {
                self.quasi_cell_method(value, &name, &args, m, pos)
            }
            (Ty::Slice(..) | Ty::Array(..) | Ty::Str, "len", []) => {
                self.make(ExprKind::Len(Box::new(value)), USIZE, pos)
            }
            (Ty::Slice(..) | Ty::Array(..) | Ty::Str, "is_empty", []) => {
                let len = self.make(ExprKind::Len(Box::new(value)), USIZE, pos);
                let zero = self.make(ExprKind::Int(0), USIZE, pos);
                let kind = ExprKind::Compare(super::super::tree::CompareOp::Eq, Box::new(len), Box::new(zero));
                self.make(kind, BOOL, pos)
            }
            (Ty::Str, "as_bytes", []) => {
                let ty = Ty::Slice(false, Rc::new(Ty::Scalar(Scalar::U8)));
                self.make(ExprKind::Freeze(Box::new(value)), ty, pos)
            }
            (ty, "clone", []) if !ty.has_reference(true) && self.is_known_or_number(ty) => {
                // A value of its own, whatever is done with it; as of a block, which is none of the places in it.
                let block = Block { stmts: Vec::new(), tail: Some(Box::new(value)) };
                self.make(ExprKind::Block(block), ty.clone(), pos)
            }
            (Ty::Option(_) | Ty::Result(..), _, _) => self.option_method(value, &name, &args, m, pos),
            (Ty::Scalar(_), "to_le_bytes" | "to_be_bytes", []) if self.infer.is_integer(&value.ty) => {
                let n = value.ty.as_scalar().map_or(8, |s| u64::from(s.bits() / 8));
                let ty = Ty::Array(Rc::new(Ty::Scalar(Scalar::U8)), n);
                self.make(ExprKind::ToBytes(Box::new(value), name == "to_be_bytes"), ty, pos)
            }
            (Ty::Scalar(_) | Ty::Var(_), _, _) => {
                let call = self.number_call(&name, value, &args, m, pos);
                self.note_method(&call, m.method.span(), &written);
                call
            }
            (ty, _, _) => {
                let ty = self.show(&ty.clone());
                self.arguments_only(m.args.iter());
                if ITERATORS.contains(&name.as_str()) {
                    return self.refuse(m.method.span(), Reason::Iterator, &format!("`.{name}()`"));
                }
                let _ = expected;
                self.refuse_method(m.method.span(), &name, &format!("`{ty}` has no method `{name}` in the dialect"))
            }
        }
    }

    /// Whether a type is known, or one of several kinds of numbers.
    fn is_known_or_number(&mut self, ty: &Ty) -> bool {
        !matches!(ty, Ty::Var(_)) || self.infer.is_integer(ty) || self.infer.is_float(ty)
    }

    /// Where a trap in a method of Rust's own is: in the line of the method's name.
    fn blamed(&self, m: &syn::ExprMethodCall, pos: Pos) -> Pos {
        let name = Pos::of(self.file, m.method.span());
        if name.loc.line == pos.loc.line { pos } else { name }
    }

    /// Notes the use of a method that doesn't mean in every build, or on every machine, what it means in the dialect.
    pub(super) fn note_method(&mut self, call: &Expr, at: proc_macro2::Span, receiver: &Ty) {
        let used = match &call.kind {
            ExprKind::Number(NumberMethod::Abs, _) => Used::Method("abs"),
            ExprKind::Number(NumberMethod::Pow, _) => Used::Method("pow"),
            ExprKind::Number(NumberMethod::FloatMin, _) => Used::Extreme("min"),
            ExprKind::Number(NumberMethod::FloatMax, _) => Used::Extreme("max"),
            ExprKind::Libm(function, _) => Used::Mathematics(function),
            _ => return,
        };
        self.note_use(at, used, receiver, None);
    }

    /// A method of one of the file's types.
    fn own_method(&mut self, receiver: &Expr, name: &str, m: &syn::ExprMethodCall, pos: Pos) -> Option<Expr> {
        let mut at = self.infer.shallow(&receiver.ty);
        while let Ty::Ref(_, to) = &at {
            at = self.infer.shallow(to);
        }
        let (Ty::Struct(key) | Ty::Enum(key)) = &at else { return None };
        let Item::Function(id) = self.p.associated.get(&(key.clone(), name.to_owned()))?.clone() else { return None };
        let Some(types) = self.p.fn_types(id) else {
            self.arguments_only(m.args.iter());
            return Some(self.call_function(id, None, m.args.iter(), &m.method, pos));
        };
        if !types.method {
            return None;
        }
        let by_reference = matches!(types.params.first(), Some(Ty::Ref(..)));
        let mut receiver = receiver.clone();
        // Down to `&Struct`, or to the struct itself.
        while let Ty::Ref(_, to) = self.infer.shallow(&receiver.ty) {
            if by_reference && !matches!(self.infer.shallow(&to), Ty::Ref(..)) {
                break;
            }
            let pos = receiver.pos;
            receiver = Expr { kind: ExprKind::Deref(Box::new(receiver)), ty: (*to).clone(), pos };
        }
        if let (Some(Ty::Ref(mutable, _)), Ty::Struct(_) | Ty::Enum(_)) =
            (types.params.first(), self.infer.shallow(&receiver.ty))
        {
            receiver = self.reference_to(receiver, *mutable, true, &*m.receiver, pos);
        }
        Some(self.call_function(id, Some(receiver), m.args.iter(), &m.method, pos))
    }

    /// `get` and `set` of a `QuasiCell`: calls of functions that [`quasi`] makes.
    fn quasi_cell_method(
        &mut self,
        cell: Expr,
        name: &str,
        args: &[&syn::Expr],
        m: &syn::ExprMethodCall,
        pos: Pos,
    ) -> Expr {
        let Ty::Struct(key) = &cell.ty else { return self.error(pos) };
        let Some(content) = quasi::content(key) else { return self.error(pos) };
        let (ty, wanted) = (Ty::Scalar(content), usize::from(name == "set"));
        if args.len() != wanted {
            let detail = wrong_count(name, wanted, args.len());
            return self.refuse(m.method.span(), Reason::WrongCount, &detail);
        }
        let mut values = vec![self.reference_to(cell, false, true, &*m.receiver, pos)];
        for arg in args {
            let value = self.expr(arg, Some(&ty));
            values.push(self.coerce(value, &ty));
        }
        let callee = quasi::function(content, name);
        self.note_call(&callee);
        self.p.note_quasi_get(content);
        let result = if name == "set" { Ty::Unit } else { ty };
        self.make(ExprKind::Call(callee.into(), values, false), result, pos)
    }

    fn option_method(
        &mut self,
        value: Expr,
        name: &str,
        args: &[&syn::Expr],
        m: &syn::ExprMethodCall,
        pos: Pos,
    ) -> Expr {
        let (payload, result) = match self.infer.shallow(&value.ty) {
            Ty::Option(t) => ((*t).clone(), false),
            Ty::Result(t, _) => ((*t).clone(), true),
            _ => (Ty::Error, false),
        };
        let value = Box::new(value);
        // rustc blames the method, which may stand on another line than what it is called on.
        let blamed = self.pos(m.method.span());
        match (name, args) {
            ("is_some", []) if !result => self.make(ExprKind::TagIs(value, true), BOOL, pos),
            ("is_none", []) if !result => self.make(ExprKind::TagIs(value, false), BOOL, pos),
            ("is_ok", []) if result => self.make(ExprKind::TagIs(value, false), BOOL, pos),
            ("is_err", []) if result => self.make(ExprKind::TagIs(value, true), BOOL, pos),
            ("unwrap", []) => {
                let (kind, message) = if result {
                    (TrapKind::Expect, Some("called `Result::unwrap()` on an `Err` value".to_owned()))
                } else {
                    (TrapKind::UnwrapNone, None)
                };
                self.make(ExprKind::Unwrap { value, kind, message }, payload, blamed)
            }
            ("expect", [arg]) => {
                let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = super::expr::strip(arg) else {
                    return self.refuse(arg.span(), Reason::Format, "`expect` needs a literal message");
                };
                let message = Some(text.value().replace('{', "{{").replace('}', "}}"));
                self.make(ExprKind::Unwrap { value, kind: TrapKind::Expect, message }, payload, blamed)
            }
            ("unwrap_or", [arg]) => {
                let other = self.expr(arg, Some(&payload));
                let other = self.coerce(other, &payload);
                self.make(ExprKind::UnwrapOr(value, Box::new(other)), payload, pos)
            }
            _ => {
                self.arguments_only(m.args.iter());
                let kind = if result { "Result" } else { "Option" };
                let detail = format!("`{kind}` has no method `{name}` in the dialect");
                self.refuse_method(m.method.span(), name, &detail)
            }
        }
    }

    /// A method of a number: called as one, or as `u8::max(a, b)`.
    pub(super) fn number_call(
        &mut self,
        name: &str,
        receiver: Expr,
        args: &[&syn::Expr],
        at: &impl Spanned,
        pos: Pos,
    ) -> Expr {
        let ty = self.infer.shallow(&receiver.ty);
        let (integer, float) = (self.infer.is_integer(&ty), self.infer.is_float(&ty));
        if self.infer.kind(&ty) == Some(VarKind::Any) {
            args.iter().for_each(|a| drop(self.expr(a, None)));
            return self.refuse(at.span(), Reason::UnknownType, "the receiver");
        }
        let word = if ty == Ty::Scalar(Scalar::F32) { Type::Single } else { Type::Float };
        if float && let Some(function) = math::method(name, word) {
            let params = function.params();
            return self.mathematics(function, params.len() - 1, receiver, args, at, pos);
        }
        let scalar = ty.as_scalar();
        let row = METHODS.iter().find(|(n, _, on, _, _)| {
            *n == name
                && match on {
                    On::Integer => integer,
                    On::Signed => integer && scalar.is_none_or(Scalar::is_signed),
                    On::Unsigned => integer && scalar.is_none_or(|s| !s.is_signed()),
                    On::Float => float,
                    On::Ascii => matches!(scalar, Some(Scalar::U8 | Scalar::Char)),
                }
        });
        let ordered = matches!(ty, Ty::Scalar(Scalar::Bool | Scalar::Char)) && matches!(name, "min" | "max" | "clamp");
        let row = row.or_else(|| METHODS.iter().find(|(n, _, on, _, _)| ordered && *n == name && *on == On::Integer));
        let Some((_, method, _, params, result)) = row else {
            args.iter().for_each(|a| drop(self.argument(a, None)));
            let ty = self.show(&ty);
            if ITERATORS.contains(&name) {
                return self.refuse(at.span(), Reason::Iterator, &format!("`.{name}()`"));
            }
            return self.refuse_method(at.span(), name, &format!("`{ty}` has no method `{name}` in the dialect"));
        };
        if params.len() != args.len() {
            let detail = wrong_count(name, params.len(), args.len());
            return self.refuse(at.span(), Reason::WrongCount, &detail);
        }
        let needs_type = params.iter().chain([result]).any(|of| matches!(of, Of::Unsigned | Of::Signed));
        if needs_type && scalar.is_none() {
            return self.refuse(at.span(), Reason::UnknownType, "the receiver");
        }
        let mut values = vec![receiver];
        for (of, arg) in params.iter().zip(args) {
            let want = of_type(*of, &ty);
            let value = self.argument(arg, Some(&want));
            values.push(self.coerce(value, &want));
        }
        self.make(ExprKind::Number(*method, values), of_type(*result, &ty), pos)
    }

    fn mathematics(
        &mut self,
        function: &'static math::Function,
        arity: usize,
        receiver: Expr,
        args: &[&syn::Expr],
        at: &impl Spanned,
        pos: Pos,
    ) -> Expr {
        if arity != args.len() {
            let detail = wrong_count(function.method, arity, args.len());
            return self.refuse(at.span(), Reason::WrongCount, &detail);
        }
        // The library is chosen by type, so a literal's type is settled here, by its default.
        let ty = self.infer.resolve(&receiver.ty);
        self.infer.unify(&receiver.ty, &ty);
        let mut values = vec![receiver];
        for (arg, param) in args.iter().zip(&function.params()[1..]) {
            let want = if *param == crate::ir::Type::Int { Ty::Scalar(Scalar::I32) } else { ty.clone() };
            let value = self.expr(arg, Some(&want));
            values.push(self.coerce(value, &want));
        }
        self.make(ExprKind::Libm(function, values), ty, pos)
    }
}

fn of_type(of: Of, receiver: &Ty) -> Ty {
    let scalar = receiver.as_scalar();
    match of {
        Of::Same => receiver.clone(),
        Of::U32 => Ty::Scalar(Scalar::U32),
        Of::Bool => BOOL,
        Of::Unsigned => Ty::Scalar(match scalar {
            Some(Scalar::I8) => Scalar::U8,
            Some(Scalar::I16) => Scalar::U16,
            Some(Scalar::I32) => Scalar::U32,
            Some(Scalar::I64) => Scalar::U64,
            Some(Scalar::Isize) => Scalar::Usize,
            other => other.unwrap_or(Scalar::U64),
        }),
        Of::Signed => Ty::Scalar(match scalar {
            Some(Scalar::U8) => Scalar::I8,
            Some(Scalar::U16) => Scalar::I16,
            Some(Scalar::U32) => Scalar::I32,
            Some(Scalar::U64) => Scalar::I64,
            Some(Scalar::Usize) => Scalar::Isize,
            other => other.unwrap_or(Scalar::I64),
        }),
        Of::Bits => Ty::Scalar(if scalar == Some(Scalar::F32) { Scalar::U32 } else { Scalar::U64 }),
        Of::Maybe => Ty::Option(Rc::new(receiver.clone())),
        Of::WithFlag => Ty::Tuple([receiver.clone(), BOOL].into()),
    }
}
