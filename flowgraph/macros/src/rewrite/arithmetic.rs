//! Arithmetic that wraps in every build, and mathematics that is the same on every machine.
//!
//! The front end knows the type of each operator, so `a + b` becomes `i64::wrapping_add(a, b)`, with the type written
//! out: where rustc would have inferred another one, it complains. What Rust does first is still done first: of
//! `place += value` the value, unless it is a reference. Floats keep their operators. Constants and the lengths of
//! arrays do, too, where rustc itself refuses what overflows.

use super::{Rewriter, text_between};
use flowgraph::frontend::{Use, Used};
use flowgraph::ir::Scalar;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ExprBinary, ExprLit, Ident, Lit, LitInt, Token, UnOp};

/// The wrapping form of an operator, and whether it is a compound assignment.
fn wrapping(op: &BinOp) -> Option<(&'static str, bool)> {
    Some(match op {
        BinOp::Add(_) => ("wrapping_add", false),
        BinOp::Sub(_) => ("wrapping_sub", false),
        BinOp::Mul(_) => ("wrapping_mul", false),
        BinOp::Shl(_) => ("wrapping_shl", false),
        BinOp::Shr(_) => ("wrapping_shr", false),
        BinOp::AddAssign(_) => ("wrapping_add", true),
        BinOp::SubAssign(_) => ("wrapping_sub", true),
        BinOp::MulAssign(_) => ("wrapping_mul", true),
        BinOp::ShlAssign(_) => ("wrapping_shl", true),
        BinOp::ShrAssign(_) => ("wrapping_shr", true),
        _ => return None,
    })
}

/// Where the user wrote it, but not the user's doing: lints leave it alone. A debugger shows the macro's line for it,
/// though, so only what goes around calls has it.
fn generated(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}

/// An operand without parentheses around it, and without the references in front of its value.
fn operand(e: &Expr, references: u32) -> TokenStream {
    let mut e = e;
    while let Expr::Paren(inner) = e {
        e = &inner.expr;
    }
    match references {
        0 => e.to_token_stream(),
        n => {
            let stars = std::iter::repeat_n(quote_spanned!(generated(e.span())=> *), n as usize);
            quote! { #(#stars)* (#e) }
        }
    }
}

/// A name as the user wrote it, but another.
fn renamed(old: &Ident, new: &str) -> Ident {
    Ident::new(new, old.span())
}

impl Rewriter<'_> {
    fn used(&self, at: Span) -> Option<&Use> {
        self.uses.get(&self.place(at)).copied()
    }

    /// What the operator here is used on, if that is integers. One that the front end knows nothing of is an error: it
    /// would be another in a debug build than in graphs.
    fn integers(&mut self, at: Span) -> Option<Use> {
        match self.used(at) {
            Some(used) => Some(*used).filter(|used| used.ty.is_integer()),
            None => {
                let message = "hueshift doesn't know what this operator is used on: an operand never comes back, or this is a bug";
                self.errors.push((self.file, syn::Error::new(at, message)));
                None
            }
        }
    }

    fn binary(&mut self, b: &ExprBinary) -> Option<Expr> {
        let (function, assigns) = wrapping(&b.op)?;
        let used = &self.integers(b.op.span())?;
        let at = b.op.span();
        let ty = Ident::new(used.ty.name(), at);
        let function = Ident::new(function, at);
        let function = quote_spanned!(at=> ::core::primitive::#ty::#function);
        let right = operand(&b.right, used.references[1]);
        let right = match (makes_u32(used, &b.op), &*b.right) {
            (false, _) => right,
            (true, Expr::Lit(ExprLit { lit: Lit::Int(lit), .. })) => {
                LitInt::new(lit.base10_digits(), lit.span()).to_token_stream()
            }
            (true, _) => quote_spanned!(at=> (#right) as u32),
        };
        if !assigns {
            let left = operand(&b.left, used.references[0]);
            return Some(Expr::Verbatim(quote_spanned!(at=> #function(#left, #right))));
        }
        let around = generated(at);
        let place = &b.left;
        let (value, target) = (Ident::new("__hueshift_value", around), Ident::new("__hueshift_place", around));
        let through = quote_spanned!(around=> let #target: &mut ::core::primitive::#ty = &mut #place;);
        let call = |target: TokenStream, value: TokenStream| quote_spanned!(at=> #function(#target, #value));
        let store = |value: TokenStream| {
            let call = call(quote_spanned!(around=> *#target), value);
            quote_spanned!(around=> *#target = #call;)
        };
        Some(Expr::Verbatim(match (&**place, used.references[1]) {
            (Expr::Path(_), _) => {
                let call = call(place.to_token_stream(), value.to_token_stream());
                quote_spanned!(around=> match #right { #value => #place = #call })
            }
            (_, 0) => {
                let store = store(value.to_token_stream());
                quote_spanned!(around=> match #right { #value => { #through #store } })
            }
            // `AddAssign<&T>` is called with the place first.
            _ => {
                let store = store(right);
                quote_spanned!(around=> { #through #store })
            }
        }))
    }

    fn negated(&mut self, u: &syn::ExprUnary) -> Option<Expr> {
        if !matches!(u.op, UnOp::Neg(_)) || matches!(&*u.expr, Expr::Lit(_)) {
            return None;
        }
        let used = self.integers(u.op.span())?;
        let at = u.op.span();
        let (ty, operand) = (Ident::new(used.ty.name(), at), operand(&u.expr, used.references[0]));
        Some(Expr::Verbatim(quote_spanned!(at=> ::core::primitive::#ty::wrapping_neg(#operand))))
    }

    fn method(&self, m: &mut syn::ExprMethodCall) -> Option<Expr> {
        let used = self.used(m.method.span())?;
        match used.used {
            Used::Method(name) => {
                m.method = renamed(&m.method, &format!("wrapping_{name}"));
                None
            }
            Used::Mathematics(function) => Some(called_on(used, function.method, m)),
            Used::Extreme(name) => Some(called_on(used, name, m)),
            Used::Operator => None,
        }
    }

    fn call(&self, c: &mut syn::ExprCall) {
        let Expr::Path(path) = &mut *c.func else { return };
        let Some(name) = path.path.segments.last_mut() else { return };
        let Some(used) = self.used(name.ident.span()) else { return };
        match used.used {
            Used::Method(method) => name.ident = renamed(&name.ident, &format!("wrapping_{method}")),
            Used::Mathematics(function) => {
                let at = name.ident.span();
                *c.func = Expr::Verbatim(mathematics(used, function.method, at));
            }
            Used::Extreme(method) => {
                let at = name.ident.span();
                *c.func = Expr::Verbatim(mathematics(used, method, at));
            }
            Used::Operator => {}
        }
    }

    /// What stands in the parentheses of a macro of the dialect: expressions, of which the first may be shown as it is
    /// written.
    fn macro_arguments(&mut self, mac: &mut syn::Macro) {
        let Some(name) = mac.path.segments.last().map(|s| s.ident.to_string()) else { return };
        const MACROS: [&str; 10] = [
            "panic",
            "unreachable",
            "assert",
            "debug_assert",
            "assert_eq",
            "assert_ne",
            "todo",
            "unimplemented",
            "record_known_result",
            "record_exact_value",
        ];
        if !MACROS.contains(&name.as_str()) {
            return;
        }
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let Ok(mut args) = parser.parse2(mac.tokens.clone()) else { return };
        let before = args.to_token_stream().to_string();
        let shown = args.first().map(|cond| {
            let tokens: Vec<TokenTree> = cond.to_token_stream().into_iter().collect();
            let end = tokens.last().map_or(cond.span(), TokenTree::span).end();
            format!("assertion failed: {}", text_between(self.text(), cond.span().start(), end))
        });
        args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
        if args.to_token_stream().to_string() == before {
            return;
        }
        mac.tokens = args.to_token_stream();
        if matches!(name.as_str(), "assert" | "debug_assert") && args.len() == 1 {
            let cond = &args[0];
            mac.tokens = quote! { #cond, "{}", #shown };
        }
    }
}

/// Whether the right operand must be made the `u32` that shifts take.
fn makes_u32(used: &Use, op: &BinOp) -> bool {
    let shift = matches!(op, BinOp::Shl(_) | BinOp::Shr(_) | BinOp::ShlAssign(_) | BinOp::ShrAssign(_));
    shift && used.right != Scalar::U32
}

fn mathematics(used: &Use, method: &str, at: Span) -> TokenStream {
    let (ty, method) = (Ident::new(used.ty.name(), at), Ident::new(method, at));
    quote_spanned!(at=> ::hueshift::tier0::#ty::#method)
}

/// A method of a float as a call of the bundled function of its name.
fn called_on(used: &Use, method: &str, m: &syn::ExprMethodCall) -> Expr {
    let at = m.method.span();
    let path = mathematics(used, method, at);
    let (receiver, args) = (operand(&m.receiver, used.references[0]), m.args.iter());
    Expr::Verbatim(quote_spanned!(at=> #path(#receiver #(, #args)*)))
}

impl VisitMut for Rewriter<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        visit_mut::visit_expr_mut(self, e);
        let changed = match e {
            Expr::Binary(b) => self.binary(b),
            Expr::Unary(u) => self.negated(u),
            Expr::MethodCall(m) => self.method(m),
            Expr::Call(c) => {
                self.call(c);
                None
            }
            _ => None,
        };
        if let Some(changed) = changed {
            *e = changed;
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        self.macro_arguments(mac);
    }

    // Constants are computed by rustc, which refuses what overflows: they stay as they are.

    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }

    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}

    fn visit_item_static_mut(&mut self, _: &mut syn::ItemStatic) {}

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}
}
