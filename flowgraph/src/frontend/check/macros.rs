//! The macros of the dialect: merge points, traps, assertions.

use super::super::collect::path_text;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{CompareOp, Expr, ExprKind};
use super::super::types::Ty;
use super::{Checker, remedies};
use crate::ir::{Opcode, TrapKind};
use crate::near::{did_you_mean, near_names};
use syn::Token;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

/// The macros of the dialect.
const MACROS: [&str; 14] = [
    "merge_point",
    "can_enter_jit",
    "record_known_result",
    "record_exact_value",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
];

impl Checker<'_, '_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro, pos: Pos) -> Expr {
        let text = path_text(&mac.path);
        let name = text.rsplit("::").next().unwrap_or_default();
        let parser = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        let args = || parser.parse2(mac.tokens.clone()).map(|p| p.into_iter().collect::<Vec<_>>());
        match name {
            "merge_point" | "can_enter_jit" => {
                if !mac.tokens.is_empty() {
                    let remedy = format!("write `{name}!()`: what is green and red, the portal's attribute says");
                    let detail = format!("`{name}!` takes no arguments");
                    return self.refuse_with(mac.tokens.span(), Reason::WrongCount, &detail, &remedy);
                }
                let opcode = if name == "merge_point" { Opcode::MergePoint } else { Opcode::CanEnterJit };
                self.make(ExprKind::Hint(opcode, None), Ty::Unit, pos)
            }
            "record_known_result" | "record_exact_value" => match args() {
                Ok(args) if name == "record_known_result" => self.record_known_result(mac, &args, pos),
                Ok(args) => self.record_exact_value(mac, &args, pos),
                Err(e) => self.refuse(e.span(), Reason::Syntax, &e.to_string()),
            },
            "record_exact_class" => self.refuse(mac.path.span(), Reason::NotYet, &format!("`{name}!`")),
            "panic" | "unreachable" | "todo" | "unimplemented" | "assert" | "assert_eq" | "assert_ne"
            | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => match args() {
                Ok(args) => self.trap_macro(name, &args, pos),
                Err(e) => self.refuse(e.span(), Reason::Syntax, &e.to_string()),
            },
            "print" | "println" | "eprint" | "eprintln" | "dbg" | "write" | "writeln" => {
                let remedy = "write the guest's output byte by byte, with `put_byte(b)` of `hueshift::prelude`; what only helps to find a \
                              mistake, leave out";
                self.refuse_with(mac.path.span(), Reason::Macro, &format!("`{name}!`"), remedy)
            }
            _ => {
                let usual = Reason::Macro.remedy();
                let remedy = match (remedies::of_macro(name), did_you_mean(&near_names(name, MACROS.into_iter()))) {
                    (Some(remedy), _) => remedy.to_owned(),
                    (None, Some(meant)) => format!("{meant} ({usual})"),
                    (None, None) => usual.to_owned(),
                };
                self.refuse_with(mac.path.span(), Reason::Macro, &format!("`{name}!`"), &remedy)
            }
        }
    }

    fn trap_macro(&mut self, name: &str, args: &[syn::Expr], pos: Pos) -> Expr {
        let prefix = |text: &str, message: Option<String>| match message {
            Some(m) => format!("{text}: {m}"),
            None => text.to_owned(),
        };
        match name {
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let (message, values) = self.format(args);
                let (kind, text) = match name {
                    "panic" => (TrapKind::Panic, message.unwrap_or_else(|| "explicit panic".to_owned())),
                    "unreachable" => {
                        (TrapKind::Unreachable, prefix("internal error: entered unreachable code", message))
                    }
                    "todo" => (TrapKind::Panic, prefix("not yet implemented", message)),
                    _ => (TrapKind::Panic, prefix("not implemented", message)),
                };
                self.make(ExprKind::Trap(kind, Some(text), values), Ty::Never, pos)
            }
            "assert" | "debug_assert" => {
                let Some((cond, rest)) = args.split_first() else {
                    self.p.refuse_at(pos, Reason::WrongCount, "`assert!` needs a condition");
                    return self.error(pos);
                };
                let value = self.condition(cond);
                let (message, values) = self.format(rest);
                let message = message.unwrap_or_else(|| {
                    let shown = super::condition::written(cond).unwrap_or_else(|| self.text(cond));
                    format!("assertion failed: {shown}").replace('{', "{{").replace('}', "}}")
                });
                if name == "debug_assert" {
                    return self.make(ExprKind::Unit, Ty::Unit, pos);
                }
                self.make(ExprKind::Assert(Box::new(value), Some(message), values), Ty::Unit, pos)
            }
            _ => self.assert_compare(name, args, pos),
        }
    }

    fn assert_compare(&mut self, name: &str, args: &[syn::Expr], pos: Pos) -> Expr {
        let [left, right, rest @ ..] = args else {
            self.p.refuse_at(pos, Reason::WrongCount, &format!("`{name}!` needs two values"));
            return self.error(pos);
        };
        let equal = name.ends_with("_eq");
        let l = self.expr(left, None);
        let r = self.expr(right, Some(&l.ty.clone()));
        self.same(&r, &l.ty.clone());
        let (message, values) = self.format(rest);
        if !matches!(self.infer.resolve(&l.ty), Ty::Scalar(_) | Ty::Error) {
            return self.refuse(left.span(), Reason::Format, &format!("`{name}!` is only supported on scalars"));
        }
        if name.starts_with("debug") {
            return self.make(ExprKind::Unit, Ty::Unit, pos);
        }
        // Both sides are bound, so that they are evaluated once.
        self.scopes.push(Vec::new());
        let (a, b) =
            (self.declare("(left)", l.ty.clone(), false, pos), self.declare("(right)", r.ty.clone(), false, pos));
        self.scopes.pop();
        let bind = |local, init: Expr| super::super::tree::Stmt::Let {
            pat: super::super::tree::Pat {
                kind: super::super::tree::PatKind::Bind(local, None),
                ty: init.ty.clone(),
                pos,
            },
            init: Some(init),
            otherwise: None,
        };
        let use_of = |local, ty: &Ty| Expr { kind: ExprKind::Local(local), ty: ty.clone(), pos };
        let (left, right) = (use_of(a, &l.ty), use_of(b, &r.ty));
        let op = if equal { CompareOp::Eq } else { CompareOp::Ne };
        let sign = if equal { "==" } else { "!=" };
        let said = message.map(|m| format!(": {m}")).unwrap_or_default();
        let message = format!("assertion `left {sign} right` failed{said}\n  left: {{:?}}\n right: {{:?}}");
        let mut shown = values;
        shown.extend([left.clone(), right.clone()]);
        let cond = ExprKind::Compare(op, Box::new(left), Box::new(right));
        let cond = Expr { kind: cond, ty: super::super::types::BOOL, pos };
        let check = Expr { kind: ExprKind::Assert(Box::new(cond), Some(message), shown), ty: Ty::Unit, pos };
        let stmts = vec![bind(a, l), bind(b, r), super::super::tree::Stmt::Expr(check)];
        self.make(ExprKind::Block(super::super::tree::Block { stmts, tail: None }), Ty::Unit, pos)
    }

    /// A format string and its arguments: the message with `{}` and `{:?}` in the order of the values.
    fn format(&mut self, args: &[syn::Expr]) -> (Option<String>, Vec<Expr>) {
        let Some((first, rest)) = args.split_first() else { return (None, Vec::new()) };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = first else {
            self.refuse(first.span(), Reason::Format, "the message must be a string literal");
            return (Some(String::new()), Vec::new());
        };
        let mut order = Vec::new();
        let mut named: Vec<(String, Expr)> = Vec::new();
        let mut positional: Vec<Expr> = Vec::new();
        for arg in rest {
            match arg {
                syn::Expr::Assign(a) => {
                    let value = self.expr(&a.right, None);
                    named.push((self.text(&a.left), value));
                }
                other => positional.push(self.expr(other, None)),
            }
        }
        let span = text.span();
        let text = text.value();
        let mut message = String::new();
        let mut values = Vec::new();
        let mut next = 0;
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            message.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                message.push_str(&rest[..2]);
                rest = &rest[2..];
                continue;
            }
            let Some((inside, after)) = rest.strip_prefix('{').and_then(|r| r.split_once('}')) else {
                self.refuse(span, Reason::Format, "the braces in the message don't match");
                break;
            };
            rest = after;
            let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
            let value = self.format_argument(name.trim(), &mut next, &positional, &named, &mut order, span);
            if !matches!(spec, "" | "?") {
                self.refuse(span, Reason::Format, &format!("the format `{{:{spec}}}` is not supported"));
            }
            if let Some(value) = value {
                let value = self.autoderef(value);
                let ty = self.infer.resolve(&value.ty);
                if !matches!(ty, Ty::Scalar(_) | Ty::Error) {
                    self.refuse(span, Reason::Format, &format!("a `{ty}` can't be part of a message"));
                }
                values.push(value);
                message.push_str(if spec == "?" { "{:?}" } else { "{}" });
            }
        }
        message.push_str(rest);
        // Rust evaluates each argument once, in the order of the list.
        let in_order = named.is_empty() && order.iter().copied().eq(0..positional.len());
        if !in_order && !positional.iter().chain(named.iter().map(|(_, e)| e)).all(is_simple) {
            self.refuse(
                span,
                Reason::Format,
                "arguments that aren't shown once each, in their order, must be variables",
            );
        }
        (Some(message), values)
    }

    fn format_argument(
        &mut self,
        name: &str,
        next: &mut usize,
        positional: &[Expr],
        named: &[(String, Expr)],
        order: &mut Vec<usize>,
        span: proc_macro2::Span,
    ) -> Option<Expr> {
        let missing = |this: &mut Self| {
            this.refuse(span, Reason::Format, "the message has more places than arguments");
            None
        };
        if name.is_empty() {
            *next += 1;
            order.push(*next - 1);
            return positional.get(*next - 1).cloned().or_else(|| missing(self));
        }
        if let Ok(index) = name.parse::<usize>() {
            order.push(index);
            return positional.get(index).cloned().or_else(|| missing(self));
        }
        if let Some((_, value)) = named.iter().find(|(n, _)| n == name) {
            return Some(value.clone());
        }
        match syn::parse_str::<syn::Ident>(name) {
            Ok(mut ident) => {
                ident.set_span(span);
                let path = syn::ExprPath { attrs: Vec::new(), qself: None, path: ident.into() };
                Some(self.expr(&syn::Expr::Path(path), None))
            }
            Err(_) => missing(self),
        }
    }
}

/// Whether evaluating the expression can neither do anything nor trap.
fn is_simple(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Local(_) | ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Error => true,
        ExprKind::Bool(_) | ExprKind::Char(_) => true,
        ExprKind::Variant(_, fields) => fields.is_empty(),
        ExprKind::Field(inner, _) | ExprKind::Deref(inner) | ExprKind::Cast(inner) | ExprKind::Neg(inner) => {
            is_simple(inner)
        }
        _ => false,
    }
}
