//! Signatures and attributes of functions.

use super::collect::FUNCTIONS;
use super::items::{FnItem, FnTypes, Program, ident_text};
use super::lower::MAX_LEAVES;
use super::refusal::{Pos, Reason};
use super::types::Ty;
use crate::ir::{Attributes, Portal};
use std::rc::Rc;
use syn::spanned::Spanned;

/// The attributes of parameters.
const PARAMETERS: &[&str] = &["allow", "warn", "deny", "expect"];

impl Program<'_> {
    /// Resolves the types of a function's parameters and result.
    pub(super) fn resolve_signature(&self, id: usize) {
        let f = &self.functions[id];
        *self.function.borrow_mut() = Some(f.path.to_string());
        let before = self.refusals.borrow().len();
        let file = self.file_of(f.module);
        self.attributes(f.module, f.attrs, FUNCTIONS);
        self.check_hints(f);
        self.generics(f.module, &f.sig.generics);
        if f.sig.generics.type_params().next().is_some() {
            *self.function.borrow_mut() = None;
            return;
        }
        if let Some(token) = &f.sig.asyncness {
            self.refuse(file, token.span, Reason::Async, "");
        }
        if let Some(token) = &f.sig.unsafety {
            self.refuse(file, token.span, Reason::Unsafe, "");
        }
        if let Some(abi) = &f.sig.abi {
            self.refuse(file, abi.span(), Reason::Item, "a function with another ABI");
        }
        let mut params = Vec::new();
        let mut method = false;
        for input in &f.sig.inputs {
            let (syn::FnArg::Receiver(syn::Receiver { attrs, .. }) | syn::FnArg::Typed(syn::PatType { attrs, .. })) =
                input;
            self.attributes(f.module, attrs, PARAMETERS);
            let ty = match input {
                syn::FnArg::Receiver(r) => {
                    method = true;
                    self.receiver(f, r)
                }
                syn::FnArg::Typed(t) => self.resolve_type(f.site(), &t.ty, false),
            };
            self.check_handed(&ty, input.span(), f);
            params.push(ty);
        }
        let result = match &f.sig.output {
            syn::ReturnType::Default => Ty::Unit,
            syn::ReturnType::Type(_, t) if matches!(**t, syn::Type::Never(_)) => Ty::Never,
            syn::ReturnType::Type(_, t) => {
                let ty = self.resolve_type(f.site(), t, false);
                self.check_handed(&ty, t.span(), f);
                ty
            }
        };
        if self.refusals.borrow().len() == before && !params.contains(&Ty::Error) && result != Ty::Error {
            *f.types.borrow_mut() = Some(Rc::new(FnTypes { params, result, method }));
        }
        *self.function.borrow_mut() = None;
    }

    fn receiver(&self, f: &FnItem<'_>, r: &syn::Receiver) -> Ty {
        let Some(own) = f.self_ty.clone() else {
            self.refuse(self.file_of(f.module), r.span(), Reason::Item, "`self` outside of an `impl`");
            return Ty::Error;
        };
        if r.colon_token.is_some() {
            self.refuse(self.file_of(f.module), r.span(), Reason::Item, "a typed `self`");
            return Ty::Error;
        }
        match &r.reference {
            Some(_) => Ty::Ref(r.mutability.is_some(), Rc::new(own)),
            None => own,
        }
    }

    /// Refuses types that can't be handed over by value.
    fn check_handed(&self, ty: &Ty, span: proc_macro2::Span, f: &FnItem<'_>) {
        let file = self.file_of(f.module);
        if self.has_quasi_cell(ty) {
            self.refuse(
                file,
                span,
                Reason::QuasiCell,
                &format!("{ty} has a `QuasiCell` in it, and can't be handed over by value"),
            );
        }
        if self.leaf_count(ty) > MAX_LEAVES {
            self.refuse(
                file,
                span,
                Reason::LargeValue,
                &format!("a value of the type {ty} is too large to be handed over"),
            );
        }
    }

    /// The hints on a function.
    pub(super) fn fn_attributes(&self, f: &FnItem<'_>, _types: &FnTypes) -> Attributes {
        let mut attributes = Attributes { public: f.public, ..Attributes::default() };
        let mut doc = Vec::new();
        for attr in f.attrs {
            let name = attr.path().segments.last().map(|s| ident_text(&s.ident)).unwrap_or_default();
            match name.as_str() {
                "elidable" => attributes.elidable = true,
                "unroll_safe" => attributes.unroll_safe = true,
                "dont_look_inside" => attributes.dont_look_inside = true,
                "look_inside_if" => attributes.look_inside_if = Some(self.decider_of(f)),
                "portal" => attributes.portal = self.portal_attribute(f, attr),
                "doc" => {
                    if let syn::Meta::NameValue(m) = &attr.meta
                        && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &m.value
                    {
                        let text = text.value();
                        doc.push(text.strip_prefix(' ').map(str::to_owned).unwrap_or(text));
                    }
                }
                _ => {}
            }
        }
        attributes.doc = doc.join("\n");
        attributes
    }

    fn portal_attribute(&self, f: &FnItem<'_>, attr: &syn::Attribute) -> Option<Portal> {
        let file = self.file_of(f.module);
        let mut names: Vec<Option<String>> = Vec::new();
        for input in &f.sig.inputs {
            names.push(match input {
                syn::FnArg::Receiver(_) => Some("self".to_owned()),
                syn::FnArg::Typed(t) => match &*t.pat {
                    syn::Pat::Ident(i) if i.subpat.is_none() => Some(ident_text(&i.ident)),
                    other => {
                        self.refuse(file, other.span(), Reason::BadAttribute, "a portal's parameters must have names");
                        None
                    }
                },
            });
        }
        let mut portal = Portal::default();
        let mut listed: Vec<usize> = Vec::new();
        let parsed = attr.parse_nested_meta(|meta| {
            let green = meta.path.is_ident("greens");
            if !green && !meta.path.is_ident("reds") {
                return Err(meta.error("expected `greens(..)` or `reds(..)`"));
            }
            let content;
            syn::parenthesized!(content in meta.input);
            while !content.is_empty() {
                let ident: syn::Ident = syn::ext::IdentExt::parse_any(&content)?;
                let name = ident_text(&ident);
                match names.iter().position(|n| n.as_deref() == Some(&name)) {
                    None => {
                        let detail = format!("the portal has no parameter `{name}`");
                        self.refuse(file, ident.span(), Reason::BadAttribute, &detail);
                    }
                    Some(i) if listed.contains(&i) => {
                        self.refuse(file, ident.span(), Reason::BadAttribute, &format!("`{name}` is listed twice"));
                    }
                    Some(i) => {
                        listed.push(i);
                        if green { portal.greens.push(i) } else { portal.reds.push(i) }
                    }
                }
                if content.peek(syn::Token![,]) {
                    content.parse::<syn::Token![,]>()?;
                } else if !content.is_empty() {
                    return Err(content.error("expected `,`"));
                }
            }
            Ok(())
        });
        if let Err(e) = parsed {
            self.refuse(file, e.span(), Reason::BadAttribute, &e.to_string());
            return Some(portal); // what comes behind hasn't been read
        }
        for (i, name) in names.iter().enumerate() {
            if let Some(name) = name
                && !listed.contains(&i)
            {
                let detail = format!("`{name}` is neither green nor red in `#[portal(..)]`");
                self.refuse_at(Pos::of(file, f.sig.inputs[i].span()), Reason::BadAttribute, &detail);
            }
        }
        Some(portal)
    }

    /// A function whose signature was refused: its body is looked at for the functions that it calls and for further
    /// problems, with what is known of its parameters.
    pub(super) fn check_refused_body(&self, f: &FnItem<'_>) {
        let params = f.sig.inputs.iter().map(|_| Ty::Error).collect();
        let types = FnTypes { params, result: Ty::Error, method: false };
        super::check::Checker::function(self, f, &types);
    }
}
