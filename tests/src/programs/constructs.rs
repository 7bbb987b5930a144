//! What generated programs are made of, counted from their text: so that a test can say that everything came up.
//!
//! [`constructs`] parses a program and looks at its syntax alone. Names are `group: class`. The types of variables are known where
//! they are written; that of a method's receiver is seen where it is such a variable, a literal with a suffix, an `as`, or
//! where the method is called by its path.

use super::methods::{METHODS, On};
use super::types::SCALARS;
use flowgraph::ir::Scalar;
use flowgraph::testing::Histogram;
use std::collections::HashMap;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Pat, Type};

/// Counts the constructs of a program.
pub fn constructs(source: &str) -> Histogram {
    let mut counter = Counter::default();
    if let Ok(file) = syn::parse_file(source) {
        counter.visit_file(&file);
    }
    counter.seen
}

#[derive(Default)]
struct Counter {
    seen: Histogram,
    /// The scalar types of variables, as they are written.
    types: HashMap<String, Scalar>,
    /// Constants and variants can be told from variables by their names.
    module_depth: usize,
    /// The function that is looked at.
    function: Option<String>,
    /// Patterns inside of each other.
    pattern_depth: usize,
}

impl Counter {
    fn see(&mut self, name: impl Into<String>) {
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

    /// The scalar type of an expression, where it can be seen.
    fn scalar_of_expr(&self, e: &Expr) -> Option<Scalar> {
        match e {
            Expr::Paren(p) => self.scalar_of_expr(&p.expr),
            Expr::Unary(u) => self.scalar_of_expr(&u.expr),
            Expr::Cast(c) => scalar_of(&c.ty),
            Expr::Path(p) => match p.path.get_ident() {
                Some(name) => self.types.get(&name.to_string()).copied(),
                None => Scalar::from_name(&p.path.segments.first()?.ident.to_string()),
            },
            Expr::Lit(l) => match &l.lit {
                syn::Lit::Int(i) => Scalar::from_name(i.suffix()),
                syn::Lit::Float(f) => Scalar::from_name(f.suffix()),
                syn::Lit::Byte(_) => Some(Scalar::U8),
                syn::Lit::Char(_) => Some(Scalar::Char),
                syn::Lit::Bool(_) => Some(Scalar::Bool),
                _ => None,
            },
            Expr::Binary(b) => match b.op {
                BinOp::Add(_)
                | BinOp::Sub(_)
                | BinOp::Mul(_)
                | BinOp::Div(_)
                | BinOp::Rem(_)
                | BinOp::BitAnd(_)
                | BinOp::BitOr(_)
                | BinOp::BitXor(_)
                | BinOp::Shl(_)
                | BinOp::Shr(_) => self.scalar_of_expr(&b.left),
                _ => Some(Scalar::Bool),
            },
            Expr::MethodCall(m) => {
                let name = m.method.to_string();
                let same = METHODS.iter().any(|m| m.name == name && m.result == super::methods::Of::Same);
                if same { self.scalar_of_expr(&m.receiver) } else { None }
            }
            _ => None,
        }
    }

    fn method_name(&mut self, name: &str, on: Option<Scalar>) {
        match name {
            "get" | "set" => self.see(format!("cell: {name}")),
            "len" | "is_empty" | "as_bytes" => self.see(format!("slice: {name}")),
            "is_some" | "is_none" | "is_ok" | "is_err" | "unwrap" | "expect" | "unwrap_or" => {
                self.see(format!("option: {name}"));
            }
            "rev" | "step_by" => self.see(format!("range: {name}")),
            _ if METHODS.iter().any(|m| m.name == name) => {
                self.see(format!("method: {name}"));
                if let Some(on) = on {
                    self.see(format!("method on {}: {name}", on.name()));
                }
            }
            _ if super::methods::MATHEMATICS.iter().any(|(m, _)| *m == name) => {
                self.see(format!("mathematics: {name}"))
            }
            _ => self.see("call: method"),
        }
    }
}

/// The scalar that a type is.
fn scalar_of(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Path(p) => Scalar::from_name(&p.path.get_ident()?.to_string()),
        Type::Paren(p) => scalar_of(&p.elem),
        _ => None,
    }
}

fn operator(op: &BinOp) -> &'static str {
    match op {
        BinOp::Add(_) => "+",
        BinOp::Sub(_) => "-",
        BinOp::Mul(_) => "*",
        BinOp::Div(_) => "/",
        BinOp::Rem(_) => "%",
        BinOp::And(_) => "&&",
        BinOp::Or(_) => "||",
        BinOp::BitXor(_) => "^",
        BinOp::BitAnd(_) => "&",
        BinOp::BitOr(_) => "|",
        BinOp::Shl(_) => "<<",
        BinOp::Shr(_) => ">>",
        BinOp::Eq(_) => "==",
        BinOp::Lt(_) => "<",
        BinOp::Le(_) => "<=",
        BinOp::Ne(_) => "!=",
        BinOp::Ge(_) => ">=",
        BinOp::Gt(_) => ">",
        BinOp::AddAssign(_) => "+=",
        BinOp::SubAssign(_) => "-=",
        BinOp::MulAssign(_) => "*=",
        BinOp::DivAssign(_) => "/=",
        BinOp::RemAssign(_) => "%=",
        BinOp::BitXorAssign(_) => "^=",
        BinOp::BitAndAssign(_) => "&=",
        BinOp::BitOrAssign(_) => "|=",
        BinOp::ShlAssign(_) => "<<=",
        BinOp::ShrAssign(_) => ">>=",
        _ => "?",
    }
}

impl<'ast> Visit<'ast> for Counter {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Fn(f) => {
                self.attributes(&f.attrs);
                self.see("item: fn");
            }
            syn::Item::Struct(s) => {
                self.attributes(&s.attrs);
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
        match e {
            Expr::Array(_) => self.see("expression: array"),
            Expr::Repeat(_) => self.see("expression: [x; n]"),
            Expr::Assign(a) => self.see(match &*a.left {
                Expr::Tuple(_) => "assignment: to a tuple",
                Expr::Infer(_) => "assignment: to _",
                Expr::Field(_) => "assignment: to a field",
                Expr::Index(_) => "assignment: to an element",
                Expr::Unary(_) | Expr::Paren(_) => "assignment: through a reference",
                _ => "assignment: to a variable",
            }),
            Expr::Binary(b) => {
                let name = operator(&b.op);
                self.see(format!("operator: {name}"));
                if let Some(scalar) = self.scalar_of_expr(&b.left) {
                    self.see(format!("operator on {}: {name}", scalar.name()));
                }
            }
            Expr::Block(b) => self.see(if b.label.is_some() { "block: with a label" } else { "block: as a value" }),
            Expr::Break(b) => {
                let value = if b.expr.is_some() { " with a value" } else { "" };
                let label = if b.label.is_some() { " to a label" } else { "" };
                self.see(format!("jump: break{label}{value}"));
            }
            Expr::Continue(c) => {
                self.see(if c.label.is_some() { "jump: continue to a label" } else { "jump: continue" });
            }
            Expr::Return(r) => {
                self.see(if r.expr.is_some() { "jump: return with a value" } else { "jump: return" });
            }
            Expr::Try(_) => self.see("jump: ?"),
            Expr::Call(c) => self.call(c),
            Expr::Cast(c) => {
                self.see("expression: as");
                if let (Some(from), Some(to)) = (self.scalar_of_expr(&c.expr), scalar_of(&c.ty)) {
                    self.see(format!("as {}: from {}", to.name(), from.name()));
                }
            }
            Expr::Field(_) => self.see("expression: field"),
            Expr::ForLoop(f) => {
                self.see(match (range_of(&f.expr), &*f.pat) {
                    (true, _) => "loop: for over a range",
                    (false, Pat::Reference(_)) => "loop: for &x over a slice",
                    (false, _) => match &*f.expr {
                        Expr::Reference(r) if r.mutability.is_some() => "loop: for over a &mut slice",
                        _ => "loop: for over a slice",
                    },
                });
                self.label(f.label.is_some());
            }
            Expr::If(i) => {
                let chain = matches!(&*i.cond, Expr::Binary(_));
                match &*i.cond {
                    Expr::Let(_) => self.see("branch: if let"),
                    _ if chain && has_let(&i.cond) => self.see("branch: if let … && …"),
                    _ => self.see("branch: if"),
                }
                match &i.else_branch {
                    Some((_, e)) if matches!(&**e, Expr::If(_)) => self.see("branch: else if"),
                    Some(_) => self.see("branch: else"),
                    None => {}
                }
            }
            Expr::Match(m) => {
                self.see("branch: match");
                self.see(match &*m.expr {
                    Expr::Reference(r) if r.mutability.is_some() => "match: through &mut",
                    Expr::Reference(_) => "match: through &",
                    Expr::Tuple(_) => "match: on a tuple",
                    _ => "match: by value",
                });
            }
            Expr::Index(i) => match &*i.index {
                Expr::Range(r) => {
                    let (a, b) = (r.start.is_some(), r.end.is_some());
                    self.see(match (a, b) {
                        (true, true) => "part of a slice: a..b",
                        (true, false) => "part of a slice: a..",
                        (false, true) => "part of a slice: ..b",
                        (false, false) => "part of a slice: ..",
                    });
                }
                Expr::Lit(_) => self.see("expression: index by a constant"),
                _ => self.see("expression: index by a value"),
            },
            Expr::Lit(l) => self.literal(&l.lit),
            Expr::Loop(l) => {
                self.see("loop: loop");
                self.label(l.label.is_some());
            }
            Expr::While(w) => {
                self.see(if has_let(&w.cond) { "loop: while let" } else { "loop: while" });
                self.label(w.label.is_some());
            }
            Expr::Macro(m) => self.macro_use(&m.mac),
            Expr::MethodCall(m) => {
                self.arguments(m.args.iter());
                let on = self.scalar_of_expr(&m.receiver);
                self.method_name(&m.method.to_string(), on);
            }
            Expr::Range(r) => self.see(match r.limits {
                syn::RangeLimits::HalfOpen(_) => "range: a..b",
                syn::RangeLimits::Closed(_) => "range: a..=b",
            }),
            Expr::Struct(_) => self.see("expression: struct"),
            Expr::Tuple(_) => self.see("expression: tuple"),
            Expr::Unary(u) => {
                let name = match u.op {
                    syn::UnOp::Deref(_) => "*x",
                    syn::UnOp::Not(_) => "!",
                    _ => "-x",
                };
                self.see(format!("operator: {name}"));
            }
            _ => {}
        }
        visit::visit_expr(self, e);
    }

    fn visit_stmt(&mut self, s: &'ast syn::Stmt) {
        if let syn::Stmt::Macro(m) = s {
            self.macro_use(&m.mac);
        }
        visit::visit_stmt(self, s);
    }
}

impl Counter {
    fn label(&mut self, labelled: bool) {
        if labelled {
            self.see("loop: with a label");
        }
    }

    fn literal(&mut self, lit: &syn::Lit) {
        self.see(match lit {
            syn::Lit::Int(i) if i.suffix().is_empty() => "literal: integer",
            syn::Lit::Int(_) => "literal: integer with a suffix",
            syn::Lit::Float(_) => "literal: float",
            syn::Lit::Bool(_) => "literal: bool",
            syn::Lit::Char(_) => "literal: char",
            syn::Lit::Byte(_) => "literal: byte",
            syn::Lit::Str(_) => "literal: str",
            syn::Lit::ByteStr(_) => "literal: byte string",
            _ => "literal: other",
        });
    }

    /// What is handed by reference.
    fn arguments<'e>(&mut self, args: impl Iterator<Item = &'e Expr>) {
        for arg in args {
            if let Expr::Reference(r) = arg {
                let mutable = if r.mutability.is_some() { "&mut " } else { "&" };
                let what = match &*r.expr {
                    Expr::Path(p) if p.path.get_ident().is_some() => "variable",
                    Expr::Index(i) if matches!(&*i.index, Expr::Range(_)) => "part of a slice",
                    Expr::Field(_) => "field",
                    Expr::Unary(_) => "*x",
                    Expr::Array(_) => "array",
                    _ => continue,
                };
                self.see(format!("argument: {mutable}{what}"));
            }
        }
    }

    fn call(&mut self, c: &syn::ExprCall) {
        self.arguments(c.args.iter());
        let Expr::Path(p) = &*c.func else { return };
        let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["Cell", "new"] => self.see("cell: new"),
            ["Some"] | ["Ok"] | ["Err"] => self.see(format!("expression: {}", names[0])),
            [hint @ ("concrete" | "variable" | "promote" | "promote_tag" | "likely")] => {
                self.see(format!("hint: {hint}"));
            }
            [io @ ("put_byte" | "get_byte")] => self.see(format!("prelude: {io}")),
            [helper] if helper.ends_with("_le") => self.see(format!("prelude: {helper}")),
            [name] if Some(name) == self.function.as_deref().as_ref() => self.see("call: of itself"),
            [ty, "from"] if Scalar::from_name(ty).is_some() => self.see("expression: T::from"),
            [ty, name @ ("from_bits" | "from_le_bytes" | "from_be_bytes")] if Scalar::from_name(ty).is_some() => {
                self.see(format!("expression: T::{name}"));
            }
            [ty, name] if Scalar::from_name(ty).is_some() => {
                self.see("call: of a number's method by its path");
                self.method_name(name, Scalar::from_name(ty));
            }
            [.., last] if last.starts_with('f') => {
                self.see(if names.len() > 1 { "call: by a path" } else { "call: function" });
            }
            _ => {}
        }
    }

    fn macro_use(&mut self, mac: &syn::Macro) {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        let args = syn::parse::Parser::parse2(parser, mac.tokens.clone()).unwrap_or_default();
        let shown = args.iter().skip_while(|a| !matches!(a, Expr::Lit(l) if matches!(l.lit, syn::Lit::Str(_)))).count();
        self.see(format!("macro: {name}!"));
        if shown > 1 {
            self.see(format!("macro: {name}! that shows values"));
        }
        for arg in &args {
            self.visit_expr(arg);
        }
    }
}

fn quoted(ty: &Type) -> String {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}

fn range_of(e: &Expr) -> bool {
    match e {
        Expr::Range(_) => true,
        Expr::Paren(p) => range_of(&p.expr),
        Expr::MethodCall(m) => range_of(&m.receiver),
        _ => false,
    }
}

fn has_let(e: &Expr) -> bool {
    match e {
        Expr::Let(_) => true,
        Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        _ => false,
    }
}

/// The classes that must come up, by group; those of number methods and `as` are tables of their own.
const REQUIRED: &[(&str, &[&str])] = &[
    (
        "item",
        &[
            "fn",
            "struct",
            "tuple struct",
            "unit struct",
            "struct with cells",
            "struct with a lifetime",
            "enum with fields",
            "enum without fields",
            "const",
            "const table",
            "const in a function",
            "static",
            "type alias",
            "mod",
            "mod in a mod",
            "use",
            "impl",
            "associated fn",
            "associated const",
        ],
    ),
    ("variant", &["with braces", "with parentheses", "without fields", "with a discriminant"]),
    ("receiver", &["self", "&self", "&mut self"]),
    (
        "type",
        &[
            "i8",
            "i16",
            "i32",
            "i64",
            "isize",
            "u8",
            "u16",
            "u32",
            "u64",
            "usize",
            "bool",
            "char",
            "f64",
            "f32",
            "()",
            "tuple",
            "array",
            "Option",
            "Result",
            "Cell",
            "&T",
            "&mut T",
            "&[T]",
            "&mut [T]",
            "&str",
            "a name",
            "a lifetime",
        ],
    ),
    ("let", &["initialised later", "else", "with a type", "without a type", "_", "a pattern", "mut"]),
    (
        "pattern",
        &[
            "x @",
            "mut x",
            "variable",
            "const",
            "literal",
            "|",
            "path",
            "a..=b",
            "..=b",
            "a..b",
            "a..",
            "&x",
            "..",
            "array",
            "struct",
            "tuple",
            "tuple struct",
            "_",
            "nested",
            "guard",
        ],
    ),
    ("assignment", &["to a tuple", "to _", "to a field", "to an element", "through a reference", "to a variable"]),
    (
        "operator",
        &[
            "+", "-", "*", "/", "%", "&&", "||", "^", "&", "|", "<<", ">>", "==", "<", "<=", "!=", ">=", ">", "+=",
            "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>=", "*x", "!", "-x",
        ],
    ),
    ("block", &["with a label", "as a value"]),
    (
        "jump",
        &[
            "break",
            "break to a label",
            "break with a value",
            "break to a label with a value",
            "continue",
            "continue to a label",
            "return",
            "return with a value",
            "?",
        ],
    ),
    (
        "loop",
        &[
            "for over a range",
            "for over a slice",
            "for &x over a slice",
            "for over a &mut slice",
            "loop",
            "while",
            "while let",
            "with a label",
        ],
    ),
    ("range", &["a..b", "a..=b", "rev", "step_by"]),
    ("branch", &["if", "if let", "if let … && …", "else if", "else", "match"]),
    ("match", &["through &mut", "through &", "on a tuple", "by value"]),
    ("part of a slice", &["a..b", "a..", "..b", ".."]),
    (
        "expression",
        &[
            "array",
            "[x; n]",
            "as",
            "field",
            "index by a constant",
            "index by a value",
            "struct",
            "tuple",
            "Some",
            "Ok",
            "Err",
            "T::from",
            "T::from_bits",
            "T::from_le_bytes",
            "T::from_be_bytes",
        ],
    ),
    ("literal", &["integer", "integer with a suffix", "float", "bool", "char", "byte", "str", "byte string"]),
    ("cell", &["new", "get", "set"]),
    ("slice", &["len", "is_empty", "as_bytes"]),
    ("option", &["is_some", "is_none", "is_ok", "is_err", "unwrap", "expect", "unwrap_or"]),
    (
        "argument",
        &["&variable", "&mut variable", "&part of a slice", "&mut part of a slice", "&*x", "&mut *x", "&array"],
    ),
    ("call", &["function", "method", "of itself", "by a path", "of a number's method by its path"]),
    ("hint", &["concrete", "variable", "promote", "promote_tag", "likely"]),
    ("attribute", &["elidable", "dont_look_inside", "unroll_safe", "portal", "derive", "repr"]),
    (
        "prelude",
        &[
            "read_u16_le",
            "read_i16_le",
            "read_u32_le",
            "read_i32_le",
            "read_u64_le",
            "read_i64_le",
            "write_u16_le",
            "write_i16_le",
            "write_u32_le",
            "write_i32_le",
            "write_u64_le",
            "write_i64_le",
        ],
    ),
    (
        "macro",
        &[
            "panic!",
            "panic! that shows values",
            "unreachable!",
            "unreachable! that shows values",
            "assert!",
            "assert! that shows values",
            "assert_eq!",
            "assert_ne!",
            "debug_assert!",
            "todo!",
            "unimplemented!",
            "merge_point!",
            "can_enter_jit!",
        ],
    ),
];

/// The names of all classes that must come up.
pub fn all() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (group, classes) in REQUIRED {
        names.extend(classes.iter().map(|class| format!("{group}: {class}")));
    }
    let mut methods: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
    methods.sort_unstable();
    methods.dedup();
    names.extend(methods.into_iter().map(|name| format!("method: {name}")));
    names.extend(super::methods::MATHEMATICS.iter().map(|(name, _)| format!("mathematics: {name}")));
    names
}

/// The names of the classes that a nightly run must have besides: each method on each type, and `as` between all types.
pub fn by_type() -> Vec<String> {
    let mut names = Vec::new();
    for on in SCALARS {
        for method in METHODS.iter().filter(|m| m.on.takes(on) && m.on != On::Ascii) {
            names.push(format!("method on {}: {}", on.name(), method.name));
        }
        for from in SCALARS.into_iter().filter(|from| super::methods::is_castable(*from, on)) {
            names.push(format!("as {}: from {}", on.name(), from.name()));
        }
    }
    names
}
