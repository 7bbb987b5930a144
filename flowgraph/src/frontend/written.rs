//! Types and array lengths as they are written, and what they mean where they stand.

use super::items::{FnItem, Item, ModuleId, Program, Space, ident_text};
use super::refusal::{Pos, Reason};
use super::tree::ConstId;
use super::types::Ty;
use crate::ir::Scalar;
use std::rc::Rc;
use syn::spanned::Spanned;

/// Longer arrays are refused.
const MAX_LENGTH: u64 = 1 << 28;

/// What to write in place of an integer of 128 bits.
pub(super) const TWO_WORDS: &str =
    "keep it in two `u64`s: of a sum, `let low = a.wrapping_add(b);`, the carry is `low < a`";

/// Where a type or a constant is written: it decides what names mean.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) module: ModuleId,
    /// `Self` in an `impl`.
    pub(super) self_ty: Option<&'a Ty>,
    /// The constants of the enclosing function blocks.
    pub(super) consts: &'a [(String, ConstId)],
}

impl Site<'static> {
    /// Outside of functions and `impl`s.
    pub(super) fn of(module: ModuleId) -> Site<'static> {
        Site { module, self_ty: None, consts: &[] }
    }
}

impl FnItem<'_> {
    /// Where its signature is written.
    pub(super) fn site(&self) -> Site<'_> {
        Site { self_ty: self.self_ty.as_ref(), ..Site::of(self.module) }
    }
}

impl Program<'_> {
    /// The type that is written at `site`. References and `Option`s of
    /// everything are allowed; `field` allows `Cell`.
    pub(super) fn resolve_type(&self, site: Site<'_>, ty: &syn::Type, field: bool) -> Ty {
        let file = self.file_of(site.module);
        let again = |t: &syn::Type| self.resolve_type(site, t, field);
        let refuse = |reason, detail: &str| {
            self.refuse(file, ty.span(), reason, detail);
            Ty::Error
        };
        match ty {
            syn::Type::Paren(t) => again(&t.elem),
            syn::Type::Group(t) => again(&t.elem),
            syn::Type::Never(_) => refuse(Reason::Type, "`!`, other than as the result of a function,"),
            syn::Type::Tuple(t) if t.elems.is_empty() => Ty::Unit,
            syn::Type::Tuple(t) => Ty::Tuple(t.elems.iter().map(again).collect()),
            syn::Type::Array(t) => {
                let elem = again(&t.elem);
                match self.array_length(site, &t.len) {
                    Some(n) if elem != Ty::Error => Ty::Array(Rc::new(elem), n),
                    _ => Ty::Error,
                }
            }
            syn::Type::Reference(r) => {
                let mutable = r.mutability.is_some();
                match &*r.elem {
                    syn::Type::Slice(s) => match again(&s.elem) {
                        Ty::Error => Ty::Error,
                        elem => Ty::Slice(mutable, Rc::new(elem)),
                    },
                    syn::Type::Path(p) if p.qself.is_none() && p.path.is_ident("str") => {
                        if mutable {
                            refuse(Reason::Type, "`&mut str`")
                        } else {
                            Ty::Str
                        }
                    }
                    syn::Type::TraitObject(_) => refuse(Reason::Dyn, ""),
                    inner => match self.resolve_type(site, inner, true) {
                        Ty::Error => Ty::Error,
                        to => Ty::Ref(mutable, Rc::new(to)),
                    },
                }
            }
            syn::Type::Path(p) if p.qself.is_none() => self.resolve_path_type(site, p, field),
            syn::Type::TraitObject(_) => refuse(Reason::Dyn, ""),
            syn::Type::ImplTrait(_) => refuse(Reason::Trait, "`impl Trait`"),
            syn::Type::Ptr(_) => refuse(Reason::Type, "of a raw pointer"),
            syn::Type::BareFn(_) => refuse(Reason::Type, "of a function pointer"),
            syn::Type::Infer(_) => refuse(Reason::UnknownType, "`_`"),
            _ => {
                let text = self.source_text(file, ty.span());
                refuse(Reason::Type, &format!("`{text}`"))
            }
        }
    }

    fn resolve_path_type(&self, site: Site<'_>, p: &syn::TypePath, field: bool) -> Ty {
        let file = self.file_of(site.module);
        let refuse = |reason, detail: &str| {
            self.refuse(file, p.span(), reason, detail);
            Ty::Error
        };
        let segments: Vec<String> = p.path.segments.iter().map(|s| ident_text(&s.ident)).collect();
        let Some(last) = p.path.segments.last() else { return Ty::Error };
        let args: Vec<&syn::Type> = match &last.arguments {
            syn::PathArguments::AngleBracketed(a) => {
                let types =
                    a.args.iter().filter_map(|g| if let syn::GenericArgument::Type(t) = g { Some(t) } else { None });
                types.collect()
            }
            _ => Vec::new(),
        };
        if let ([name], Some(ty)) = (segments.as_slice(), site.self_ty)
            && name == "Self"
        {
            return ty.clone();
        }
        match self.lookup(site.module, &segments, Space::Type) {
            Some(Item::Struct(_) | Item::Enum(_) | Item::Alias(_)) if !args.is_empty() => refuse(Reason::Generic, ""),
            Some(Item::Struct(key) | Item::Enum(key)) if self.unsupported.borrow().contains(&key) => {
                self.echo(Pos::of(file, p.span()), &format!("`{key}`"));
                Ty::Error
            }
            Some(Item::Struct(key)) => Ty::Struct(key),
            Some(Item::Enum(key)) => Ty::Enum(key),
            Some(Item::Alias(id)) => self.resolve_alias(id),
            _ => {
                let resolve = |t: &syn::Type| self.resolve_type(site, t, field);
                match (segments.last().map(String::as_str).unwrap_or_default(), args.as_slice()) {
                    (name, []) if Scalar::from_name(name).is_some() => {
                        Scalar::from_name(name).map_or(Ty::Error, Ty::Scalar)
                    }
                    ("Option", [t]) => match resolve(t) {
                        Ty::Error => Ty::Error,
                        t => Ty::Option(Rc::new(t)),
                    },
                    ("Result", [t, e]) => match (resolve(t), resolve(e)) {
                        (Ty::Error, _) | (_, Ty::Error) => Ty::Error,
                        (t, e) => Ty::Result(Rc::new(t), Rc::new(e)),
                    },
                    ("Cell", [t]) if field => match resolve(t) {
                        Ty::Error => Ty::Error,
                        t => Ty::Cell(Rc::new(t)),
                    },
                    ("Cell", [_]) => {
                        let cell = self.source_text(file, p.span());
                        let remedy = format!(
                            "make it the field of a struct, `pub struct Slot {{ pub value: {cell} }}`, and write `Slot` here, as in `&[Slot]`; \
                             what only one function changes needs no `Cell`: take `&mut`"
                        );
                        self.refuse_with(Pos::of(file, p.span()), Reason::Type, "`Cell` outside of a struct", &remedy);
                        Ty::Error
                    }
                    ("Cell", _) => refuse(Reason::Type, "`Cell` outside of a struct"),
                    ("QuasiCell", [t]) if field => match resolve(t) {
                        Ty::Error => Ty::Error,
                        Ty::Scalar(content) => self.quasi_cell(content),
                        t => refuse(Reason::QuasiCell, &format!("a `QuasiCell` of the type {t} is not supported")),
                    },
                    ("QuasiCell", _) => refuse(Reason::QuasiCell, "a `QuasiCell` outside of a struct is not supported"),
                    ("Gc" | "GcArray" | "List", _) => refuse(Reason::NotYet, &format!("`{}`", segments.join("::"))),
                    (name @ ("i128" | "u128"), _) => {
                        self.refuse_with(Pos::of(file, p.span()), Reason::Type, &format!("`{name}`"), TWO_WORDS);
                        Ty::Error
                    }
                    ("Vec" | "String" | "Box" | "Rc" | "Arc" | "HashMap" | "RefCell" | "str", _) => {
                        refuse(Reason::Type, &format!("`{}`", segments.join("::")))
                    }
                    _ => refuse(Reason::UnknownName, &format!("type `{}`", segments.join("::"))),
                }
            }
        }
    }

    /// The type that an alias stands for.
    pub(super) fn resolve_alias(&self, id: usize) -> Ty {
        let alias = &self.aliases[id];
        if alias.busy.replace(true) {
            let (span, name) = (alias.item.ident.span(), format!("type `{}`", alias.item.ident));
            self.refuse(self.file_of(alias.module), span, Reason::Recursive, &name);
            return Ty::Error;
        }
        let ty = self.resolve_type(Site::of(alias.module), &alias.item.ty, true);
        alias.busy.set(false);
        ty
    }

    /// The length in an array type or a repeat expression.
    pub(super) fn array_length(&self, site: Site<'_>, expr: &syn::Expr) -> Option<u64> {
        let literal = match expr {
            syn::Expr::Lit(l) => match &l.lit {
                syn::Lit::Int(i) => i.base10_parse::<u64>().ok(),
                _ => None,
            },
            _ => None,
        };
        let n = match literal {
            Some(n) => n,
            None => self.eval_length(site, expr)?,
        };
        if n > MAX_LENGTH {
            let detail = format!("an array of {n} elements is too long: the limit is {MAX_LENGTH}");
            self.refuse(self.file_of(site.module), expr.span(), Reason::LongArray, &detail);
            return None;
        }
        Some(n)
    }
}
