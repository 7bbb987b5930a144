//! Counts expressions: operators, loops, branches, calls, literals, macros.

use super::super::methods::{MATHEMATICS, METHODS, Of};
use super::counter::{Counter, scalar_of};
use flowgraph::ir::Scalar;
use syn::visit::Visit;
use syn::{BinOp, Expr, Pat};

impl Counter {
    /// Counts an expression without what is in it.
    pub fn expression(&mut self, e: &Expr) {
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
    }

    /// The scalar type of an expression, where it can be seen.
    pub fn scalar_of_expr(&self, e: &Expr) -> Option<Scalar> {
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
                let same = METHODS.iter().any(|m| m.name == name && m.result == Of::Same);
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
            _ if MATHEMATICS.iter().any(|(m, _)| *m == name) => self.see(format!("mathematics: {name}")),
            _ => self.see("call: method"),
        }
    }

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
            [name] if self.portals.contains(*name) => {
                self.see(match &self.function {
                    Some(function) if function == name => "call: of a portal by itself",
                    Some(function) if self.portals.contains(function) => "call: of a portal by another",
                    _ => "call: of a portal",
                });
            }
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

    pub fn macro_use(&mut self, mac: &syn::Macro) {
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
