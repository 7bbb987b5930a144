//! A condition as rustc writes it in the message of a failing `assert!`: with its own spaces, and broken into lines.
//!
//! rustc prints syntax by Oppen's algorithm (*Prettyprinting*, TOPLAS 1980; `rustc_ast_pretty::pp`): text is broken
//! where a box doesn't fit the line. Each expression is a box whose further lines are indented by four.
//!
//! ```text
//! assert!(a==b)       assertion failed: a == b
//! ```
//!
//! Not written in this way is what holds statements (blocks, `if`, `match`), structs, closures, and macros.

/// How long lines may be, and how much of a line is left however deep it is indented.
const MARGIN: isize = 78;
const LEAST: isize = 60;

/// By how much the further lines of an expression are indented.
const INDENT: isize = 4;

/// The condition as rustc writes it; none if it holds what isn't known here.
pub(super) fn written(condition: &syn::Expr) -> Option<String> {
    let mut tokens = Tokens::default();
    tokens.expr(condition)?;
    Some(tokens.printed())
}

enum Token {
    Text(String),
    /// A blank, or a new line.
    Break,
    /// A box, and by how much it is indented.
    Begin(isize),
    End,
}

#[derive(Default)]
struct Tokens {
    list: Vec<Token>,
}

impl Tokens {
    fn text(&mut self, text: impl Into<String>) {
        self.list.push(Token::Text(text.into()));
    }

    fn expr(&mut self, e: &syn::Expr) -> Option<()> {
        self.list.push(Token::Begin(INDENT));
        self.inside(e)?;
        self.list.push(Token::End);
        Some(())
    }

    fn inside(&mut self, e: &syn::Expr) -> Option<()> {
        match e {
            syn::Expr::Paren(p) => {
                self.text("(");
                self.expr(&p.expr)?;
                self.text(")");
            }
            syn::Expr::Binary(b) => {
                self.expr(&b.left)?;
                self.between(operator(&b.op)?);
                self.expr(&b.right)?;
            }
            syn::Expr::Cast(c) => {
                let syn::Type::Path(ty) = &*c.ty else { return None };
                self.expr(&c.expr)?;
                self.between("as");
                self.path(ty.qself.as_ref(), &ty.path)?;
            }
            syn::Expr::Unary(u) => {
                self.text(match u.op {
                    syn::UnOp::Deref(_) => "*",
                    syn::UnOp::Not(_) => "!",
                    _ => "-",
                });
                self.expr(&u.expr)?;
            }
            syn::Expr::Reference(r) => {
                self.text(if r.mutability.is_some() { "&mut " } else { "&" });
                self.expr(&r.expr)?;
            }
            syn::Expr::Call(c) => {
                self.expr(&c.func)?;
                self.list(&c.args, ["(", ")"])?;
            }
            syn::Expr::MethodCall(m) if m.turbofish.is_none() => {
                self.expr(&m.receiver)?;
                self.text(".");
                self.text(m.method.to_string());
                self.list(&m.args, ["(", ")"])?;
            }
            syn::Expr::Field(f) => {
                self.expr(&f.base)?;
                self.text(".");
                self.text(match &f.member {
                    syn::Member::Named(name) => name.to_string(),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                });
            }
            syn::Expr::Index(i) => {
                self.expr(&i.expr)?;
                self.text("[");
                self.expr(&i.index)?;
                self.text("]");
            }
            syn::Expr::Tuple(t) => {
                let end = if t.elems.len() == 1 { ",)" } else { ")" };
                self.list(&t.elems, ["(", end])?;
            }
            syn::Expr::Array(a) => {
                self.list.push(Token::Begin(INDENT));
                self.list(&a.elems, ["[", "]"])?;
                self.list.push(Token::End);
            }
            syn::Expr::Lit(l) => self.text(literal(&l.lit)?),
            syn::Expr::Path(p) => self.path(p.qself.as_ref(), &p.path)?,
            _ => return None,
        }
        Some(())
    }

    /// An operator.
    fn between(&mut self, word: &str) {
        self.list.push(Token::Break);
        self.text(word);
        self.list.push(Token::Break);
    }

    fn path(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) -> Option<()> {
        if qself.is_some() || path.segments.iter().any(|s| !s.arguments.is_none()) {
            return None;
        }
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        // Each is a word of its own, but nothing is broken between them.
        self.text(format!("{}{}", if path.leading_colon.is_some() { "::" } else { "" }, names.join("::")));
        Some(())
    }

    /// Expressions with commas between them.
    fn list(
        &mut self,
        items: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>,
        around: [&str; 2],
    ) -> Option<()> {
        self.text(around[0]);
        self.list.push(Token::Begin(0));
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text(",");
                self.list.push(Token::Break);
            }
            self.expr(item)?;
        }
        self.list.push(Token::End);
        self.text(around[1]);
        Some(())
    }

    /// How long what follows each token is, with it: of a box and of a break up to the next break outside of it.
    fn sizes(&self) -> Vec<isize> {
        let mut sizes = vec![0; self.list.len()];
        // The boxes that are open, or closed since the last break around them; in each its last break.
        let (mut waiting, mut total): (Vec<usize>, isize) = (Vec::new(), 0);
        for (at, token) in self.list.iter().enumerate() {
            match token {
                Token::Text(text) => total += text.len() as isize,
                Token::Begin(_) | Token::End => {
                    sizes[at] = -total;
                    waiting.push(at);
                }
                Token::Break => {
                    self.measure(&mut waiting, &mut sizes, total);
                    sizes[at] = -total;
                    waiting.push(at);
                    total += 1;
                }
            }
        }
        while !waiting.is_empty() {
            self.measure(&mut waiting, &mut sizes, total);
            // What is left is open.
            if let Some(at) = waiting.pop() {
                sizes[at] += total;
            }
        }
        sizes
    }

    /// What ends at a break: the boxes that are closed, and the break before it in the same box.
    fn measure(&self, waiting: &mut Vec<usize>, sizes: &mut [isize], total: isize) {
        let mut depth = 0;
        while let Some(at) = waiting.pop() {
            match self.list[at] {
                Token::Begin(_) if depth == 0 => {
                    waiting.push(at);
                    return;
                }
                Token::Begin(_) => depth -= 1,
                Token::End => depth += 1,
                _ => {}
            }
            sizes[at] += total;
            if depth == 0 && matches!(self.list[at], Token::Break) {
                return;
            }
        }
    }

    fn printed(&self) -> String {
        let sizes = self.sizes();
        let (mut out, mut indent, mut space) = (String::new(), 0, MARGIN);
        // Of each box that is open: the indentation around it if it is broken.
        let mut boxes: Vec<Option<isize>> = Vec::new();
        for (token, size) in self.list.iter().zip(sizes) {
            match token {
                Token::Text(text) => {
                    out.push_str(text);
                    space -= text.len() as isize;
                }
                Token::Begin(by) if size > space => {
                    boxes.push(Some(indent));
                    indent += by;
                }
                Token::Begin(_) => boxes.push(None),
                Token::End => indent = boxes.pop().flatten().unwrap_or(indent),
                Token::Break if size <= space || matches!(boxes.last(), Some(None)) => {
                    out.push(' ');
                    space -= 1;
                }
                Token::Break => {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent as usize));
                    space = (MARGIN - indent).max(LEAST);
                }
            }
        }
        out
    }
}

fn operator(op: &syn::BinOp) -> Option<&'static str> {
    Some(match op {
        syn::BinOp::Add(_) => "+",
        syn::BinOp::Sub(_) => "-",
        syn::BinOp::Mul(_) => "*",
        syn::BinOp::Div(_) => "/",
        syn::BinOp::Rem(_) => "%",
        syn::BinOp::And(_) => "&&",
        syn::BinOp::Or(_) => "||",
        syn::BinOp::BitXor(_) => "^",
        syn::BinOp::BitAnd(_) => "&",
        syn::BinOp::BitOr(_) => "|",
        syn::BinOp::Shl(_) => "<<",
        syn::BinOp::Shr(_) => ">>",
        syn::BinOp::Eq(_) => "==",
        syn::BinOp::Lt(_) => "<",
        syn::BinOp::Le(_) => "<=",
        syn::BinOp::Ne(_) => "!=",
        syn::BinOp::Ge(_) => ">=",
        syn::BinOp::Gt(_) => ">",
        _ => return None,
    })
}

/// A literal as it stands in the source.
fn literal(literal: &syn::Lit) -> Option<String> {
    Some(match literal {
        syn::Lit::Str(l) => l.token().to_string(),
        syn::Lit::ByteStr(l) => l.token().to_string(),
        syn::Lit::Byte(l) => l.token().to_string(),
        syn::Lit::Char(l) => l.token().to_string(),
        syn::Lit::Int(l) => l.token().to_string(),
        syn::Lit::Float(l) => l.token().to_string(),
        syn::Lit::Bool(l) => l.value.to_string(),
        _ => return None,
    })
}
