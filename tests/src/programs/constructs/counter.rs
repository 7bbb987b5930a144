//! Walks through a program and counts: items, types, variables, patterns. [`super::expressions`] has what is in
//! functions.

use flowgraph::ir::Scalar;
use flowgraph::testing::Histogram;
use std::collections::{HashMap, HashSet};
use syn::visit::{self, Visit};
use syn::{Expr, Pat, Type};

#[derive(Default)]
pub(super) struct Counter {
    pub seen: Histogram,
    /// The scalar types of variables, as they are written.
    pub types: HashMap<String, Scalar>,
    /// Constants and variants can be told from variables by their names.
    module_depth: usize,
    /// The function that is looked at.
    pub function: Option<String>,
    /// The functions that are portals.
    pub portals: HashSet<String>,
    /// Patterns inside of each other.
    pattern_depth: usize,
}

impl Counter {
    pub fn see(&mut self, name: impl Into<String>) {
        self.seen.see(name);
    }

    fn attributes(&mut self, attrs: &[syn::Attribute]) {
        for attr in attrs {
            if let Some(name) = attr.path().get_ident() {
                self.see(format!("attribute: {name}"));
            }
        }
    }

    fn note(&mut self, pat: &Pat, ty: &Type) {
        if let (Pat::Ident(ident), Some(scalar)) = (pat, scalar_of(ty)) {
            self.types.insert(ident.ident.to_string(), scalar);
        }
    }
}

/// The scalar that a type is.
pub(super) fn scalar_of(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Path(p) => Scalar::from_name(&p.path.get_ident()?.to_string()),
        Type::Paren(p) => scalar_of(&p.elem),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Counter {
    fn visit_file(&mut self, file: &'ast syn::File) {
        let portals = file.items.iter().filter_map(|item| match item {
            syn::Item::Fn(f) if f.attrs.iter().any(|a| a.path().is_ident("portal")) => Some(f.sig.ident.to_string()),
            _ => None,
        });
        self.portals = portals.collect();
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Fn(f) => {
                self.attributes(&f.attrs);
                self.see("item: fn");
            }
            syn::Item::Struct(s) => {
                self.attributes(&s.attrs);
                s.fields.iter().for_each(|f| self.attributes(&f.attrs));
                let cells = s.fields.iter().any(|f| quoted(&f.ty).starts_with("Cell"));
                self.see(match &s.fields {
                    syn::Fields::Named(_) => "item: struct",
                    syn::Fields::Unnamed(_) => "item: tuple struct",
                    syn::Fields::Unit => "item: unit struct",
                });
                if cells {
                    self.see("item: struct with cells");
                }
                if !s.generics.params.is_empty() {
                    self.see("item: struct with a lifetime");
                }
            }
            syn::Item::Enum(e) => {
                self.attributes(&e.attrs);
                let fields = e.variants.iter().any(|v| !v.fields.is_empty());
                self.see(if fields { "item: enum with fields" } else { "item: enum without fields" });
                for variant in &e.variants {
                    self.see(match &variant.fields {
                        syn::Fields::Named(_) => "variant: with braces",
                        syn::Fields::Unnamed(_) => "variant: with parentheses",
                        syn::Fields::Unit => "variant: without fields",
                    });
                    if variant.discriminant.is_some() {
                        self.see("variant: with a discriminant");
                    }
                }
            }
            syn::Item::Const(c) => {
                let table = matches!(&*c.ty, Type::Array(_));
                let inside = self.function.is_some();
                self.see(if inside {
                    "item: const in a function"
                } else if table {
                    "item: const table"
                } else {
                    "item: const"
                });
            }
            syn::Item::Static(_) => self.see("item: static"),
            syn::Item::Type(_) => self.see("item: type alias"),
            syn::Item::Mod(_) => {
                self.see(if self.module_depth > 0 { "item: mod in a mod" } else { "item: mod" });
                self.module_depth += 1;
                visit::visit_item(self, item);
                self.module_depth -= 1;
                return;
            }
            syn::Item::Use(_) => self.see("item: use"),
            syn::Item::Impl(_) => self.see("item: impl"),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        let before = self.function.replace(f.sig.ident.to_string());
        visit::visit_item_fn(self, f);
        self.function = before;
    }

    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.attributes(&f.attrs);
        if f.sig.receiver().is_none() {
            self.see("item: associated fn");
        }
        let before = self.function.replace(f.sig.ident.to_string());
        visit::visit_impl_item_fn(self, f);
        self.function = before;
    }

    fn visit_impl_item_const(&mut self, c: &'ast syn::ImplItemConst) {
        self.see("item: associated const");
        visit::visit_impl_item_const(self, c);
    }

    fn visit_receiver(&mut self, r: &'ast syn::Receiver) {
        self.see(match (r.reference.is_some(), r.mutability.is_some()) {
            (false, _) => "receiver: self",
            (true, false) => "receiver: &self",
            (true, true) => "receiver: &mut self",
        });
        visit::visit_receiver(self, r);
    }

    fn visit_pat_type(&mut self, p: &'ast syn::PatType) {
        self.note(&p.pat, &p.ty);
        visit::visit_pat_type(self, p);
    }

    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Path(p) => {
                if let Some(segment) = p.path.segments.last() {
                    let name = segment.ident.to_string();
                    if Scalar::from_name(&name).is_some() || matches!(&*name, "Option" | "Result" | "Cell" | "Self") {
                        self.see(format!("type: {name}"));
                    } else {
                        self.see("type: a name");
                    }
                }
            }
            Type::Tuple(t) if t.elems.is_empty() => self.see("type: ()"),
            Type::Tuple(_) => self.see("type: tuple"),
            Type::Array(_) => self.see("type: array"),
            Type::Reference(r) => {
                let mutable = if r.mutability.is_some() { "&mut " } else { "&" };
                let what = match &*r.elem {
                    Type::Slice(_) => "[T]",
                    Type::Path(p) if p.path.is_ident("str") => "str",
                    _ => "T",
                };
                self.see(format!("type: {mutable}{what}"));
                if r.lifetime.is_some() {
                    self.see("type: a lifetime");
                }
            }
            _ => {}
        }
        visit::visit_type(self, ty);
    }

    fn visit_local(&mut self, l: &'ast syn::Local) {
        let late = l.init.is_none();
        let diverges = l.init.as_ref().is_some_and(|i| i.diverge.is_some());
        self.see(match (&l.pat, late, diverges) {
            (_, true, _) => "let: initialised later",
            (_, _, true) => "let: else",
            (Pat::Type(_), ..) => "let: with a type",
            (Pat::Ident(_), ..) => "let: without a type",
            (Pat::Wild(_), ..) => "let: _",
            _ => "let: a pattern",
        });
        let pat = if let Pat::Type(t) = &l.pat { &*t.pat } else { &l.pat };
        if matches!(pat, Pat::Ident(i) if i.mutability.is_some()) {
            self.see("let: mut");
        }
        if let (Pat::Ident(ident), Some(init)) = (&l.pat, &l.init)
            && let Some(scalar) = self.scalar_of_expr(&init.expr)
        {
            self.types.insert(ident.ident.to_string(), scalar);
        }
        visit::visit_local(self, l);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        let kind = match pat {
            Pat::Ident(i) if i.subpat.is_some() => "x @",
            Pat::Ident(i) if i.mutability.is_some() => "mut x",
            Pat::Ident(i) if i.ident.to_string().starts_with('C') => "const",
            Pat::Ident(_) => "variable",
            Pat::Lit(_) => "literal",
            Pat::Or(_) => "|",
            Pat::Path(_) => "path",
            Pat::Range(r) => match (&r.limits, r.start.is_some(), r.end.is_some()) {
                (syn::RangeLimits::Closed(_), true, _) => "a..=b",
                (syn::RangeLimits::Closed(_), false, _) => "..=b",
                (_, _, true) => "a..b",
                _ => "a..",
            },
            Pat::Reference(_) => "&x",
            Pat::Rest(_) => "..",
            Pat::Slice(_) => "array",
            Pat::Struct(_) => "struct",
            Pat::Tuple(_) => "tuple",
            Pat::TupleStruct(_) => "tuple struct",
            Pat::Wild(_) => "_",
            _ => "",
        };
        if !kind.is_empty() {
            self.see(format!("pattern: {kind}"));
        }
        let holds = matches!(pat, Pat::Slice(_) | Pat::Struct(_) | Pat::Tuple(_) | Pat::TupleStruct(_));
        if holds && self.pattern_depth > 0 {
            self.see("pattern: nested");
        }
        self.pattern_depth += usize::from(holds);
        visit::visit_pat(self, pat);
        self.pattern_depth -= usize::from(holds);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if arm.guard.is_some() {
            self.see("pattern: guard");
        }
        visit::visit_arm(self, arm);
    }
    fn visit_expr(&mut self, e: &'ast Expr) {
        self.expression(e);
        visit::visit_expr(self, e);
    }

    fn visit_stmt(&mut self, s: &'ast syn::Stmt) {
        if let syn::Stmt::Macro(m) = s {
            self.macro_use(&m.mac);
        }
        visit::visit_stmt(self, s);
    }
}

fn quoted(ty: &Type) -> String {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}
