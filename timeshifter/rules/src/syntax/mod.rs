//! The language as text: read, and written.
//!
//! ```text
//! # comments stay where they are
//! add_sub_const: int_add(int_sub(C1, x), C2)     a name, and a pattern of ops, variables and numbers
//!     check x.known_nonnegative()                what must hold, any number of times
//!     C = C1 + C2                                what is computed
//!     => int_sub(C, x)                           what there is instead
//! ```
//!
//! The syntax is that of PyPy's `rpython/jit/metainterp/ruleopt`. Expressions are a subset of Python's, with its
//! precedences and its chains of comparisons (`0 <= C < LONG_BIT`); `u` behind a comparison or `>>` means: without a
//! sign.

mod parse;
mod print;
mod token;

pub use parse::parse;
pub(crate) use parse::parse_what_can_be;
pub use print::print;

/// From which byte of the text to which.
pub type Span = (usize, usize);

/// Something that is wrong with a file of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
    /// And what to do about it.
    pub help: String,
}

impl Problem {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Problem {
        Problem { span, message: message.into(), help: String::new() }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = help.into();
        self
    }
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// What stands between lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Between {
    /// An empty line.
    Blank,
    /// A comment on its own line, with its `#`.
    Comment {
        /// The comment, with its `#`.
        text: String,
        /// Whether there is space before it.
        moved_in: bool,
    },
}

/// A line with the comments before it and at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<T> {
    /// What stands before it.
    pub before: Vec<Between>,
    /// What it says.
    pub says: T,
    /// The comment at its end.
    pub after: Option<String>,
}

/// A file of rules.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct File {
    /// The rules, in order.
    pub rules: Vec<RuleText>,
    /// What stands behind the last one.
    pub end: Vec<Between>,
}

/// One rule as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleText {
    /// Name and pattern.
    pub head: Line<(Name, Pattern)>,
    /// What is checked and computed, in order.
    pub elements: Vec<Line<Element>>,
    /// What there is instead.
    pub target: Line<Pattern>,
}

impl RuleText {
    /// All comments inside: from the head's end on.
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        fn own(between: &Between) -> Option<&str> {
            match between {
                Between::Comment { text, .. } => Some(text),
                Between::Blank => None,
            }
        }
        let lines =
            self.elements.iter().flat_map(|line| line.before.iter().filter_map(own).chain(line.after.as_deref()));
        let target = self.target.before.iter().filter_map(own).chain(self.target.after.as_deref());
        self.head.after.as_deref().into_iter().chain(lines).chain(target)
    }
}

/// A term of ops, variables and numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// What a pattern is.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// An op.
    Op(Name, Vec<Pattern>),
    /// A variable, or one of `MININT MAXINT LONG_BIT`.
    Name(String),
    /// A number.
    Number(i64),
    /// A number with a fraction.
    Float(f64),
}

/// A line of a rule's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// `check`: the rule applies only where this holds.
    Check(Expr),
    /// A computed value.
    Compute(Name, Expr),
    /// `SORRY_Z3`: there is no proof.
    Sorry(Span),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number.
    Number(i64),
    /// A variable, or one of `MININT MAXINT LONG_BIT`.
    Name(String),
    /// `-` or `~`.
    Unary(&'static str, Box<Expr>),
    /// Arithmetic.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// A chain of comparisons.
    Compare(Box<Expr>, Vec<(&'static str, Expr)>),
    /// All of these hold.
    And(Vec<Expr>),
    /// One of these holds.
    Or(Vec<Expr>),
    /// This doesn't.
    Not(Box<Expr>),
    /// A function of numbers.
    Call(Name, Vec<Expr>),
    /// A method of a bound.
    Method(Box<Expr>, Name, Vec<Expr>),
    /// An attribute of a bound.
    Attribute(Box<Expr>, Name),
}
