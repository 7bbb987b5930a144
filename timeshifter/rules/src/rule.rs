//! Rules as they are understood: names resolved, types checked.

use crate::methods::{Attribute, Overflow, Predicate, Transfer};
use crate::syntax::Span;
use flowgraph::ir::{Opcode, Type};

/// The number of a variable in its rule.
pub type VarId = usize;

/// One rule: where the pattern matches and the steps succeed, the target gives the same.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// In which line, from 1.
    pub line: usize,
    /// The variables: those of the pattern, then those that are computed.
    pub vars: Vec<Var>,
    /// How many of them are the pattern's.
    pub matched: usize,
    /// What is replaced: an op.
    pub pattern: Term,
    /// What is checked and computed, in order.
    pub steps: Vec<Step>,
    /// What there is instead.
    pub target: Term,
    /// Whether it says that there is no proof.
    pub sorry: bool,
    /// What it asks to be believed.
    pub exceptions: Vec<Exception>,
    /// The rule without its name and comments, in one shape: what its proof is of.
    pub text: String,
}

/// Something that a comment asks to be believed, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exception {
    /// `# terminates: reason`
    Terminates(String),
    /// `# confluent with rule: reason`
    Confluent {
        /// The other rule.
        with: String,
        /// Why.
        reason: String,
    },
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub kind: VarKind,
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// Any operand.
    Any(Type),
    /// An operand that is a constant: its name begins with `C`.
    Constant(Type),
    /// A computed integer.
    Int,
    /// A computed bound.
    Bound,
    /// A computed truth value.
    Bool,
}

/// A term of a pattern or target.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// An op: of its results, the first.
    Op(Opcode, Vec<Term>),
    /// A variable.
    Var(VarId),
    /// An integer.
    Int(Literal),
    /// A float.
    Float(f64),
}

/// An integer that is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A number.
    Number(i64),
    /// `MININT`
    MinInt,
    /// `MAXINT`
    MaxInt,
    /// `LONG_BIT`
    LongBit,
}

impl Literal {
    /// Its value at `W` bits.
    pub fn value<const W: u32>(self) -> i64 {
        match self {
            Literal::Number(number) => bounds::Bound::<W>::wrap(number),
            Literal::MinInt => bounds::Bound::<W>::MIN,
            Literal::MaxInt => bounds::Bound::<W>::MAX,
            Literal::LongBit => i64::from(W),
        }
    }

    /// Whether it is the same at `W` bits.
    pub fn fits<const W: u32>(self) -> bool {
        !matches!(self, Literal::Number(number) if bounds::Bound::<W>::wrap(number) != number)
    }
}

/// A line of a rule's body.
#[derive(Clone, Debug)]
pub enum Step {
    /// This must hold.
    Check(Bool, String),
    /// A variable is this integer.
    Int(VarId, Int),
    /// A variable is this bound.
    Bound(VarId, BoundExpr),
    /// A variable is this truth value.
    Bool(VarId, Bool),
}

/// An expression that is an integer; arithmetic wraps, and shift amounts are taken modulo the width, as the ops do.
#[derive(Clone, Debug)]
pub enum Int {
    /// A number.
    Literal(Literal),
    /// A constant of the pattern, or a computed integer.
    Var(VarId),
    /// What an op gives: the operators are ops.
    Op(Opcode, Vec<Int>),
    /// The smaller one, signed.
    Min(Box<[Int; 2]>),
    /// The larger one, signed.
    Max(Box<[Int; 2]>),
    /// The number of the highest bit that is set; -1 of 0.
    HighestBit(Box<Int>),
    /// A part of a bound.
    Attribute(Attribute, Box<BoundExpr>),
    /// The only member of a bound: where there are more, the rule doesn't apply.
    ConstantOf(Box<BoundExpr>),
}

/// An expression that is true or false.
#[derive(Clone, Debug)]
pub enum Bool {
    /// A computed truth value.
    Var(VarId),
    /// Not this.
    Not(Box<Bool>),
    /// All of these, from left to right.
    And(Vec<Bool>),
    /// One of these, from left to right.
    Or(Vec<Bool>),
    /// A comparison.
    Compare(Opcode, Box<[Int; 2]>),
    /// What is known of a bound.
    Predicate(Predicate, Box<BoundExpr>),
    /// What is known of two.
    Known(Opcode, Box<[BoundExpr; 2]>),
    /// That an op on members of these never overflows.
    CannotOverflow(Overflow, Vec<BoundExpr>),
}

/// An expression that is a bound.
#[derive(Clone, Debug)]
pub enum BoundExpr {
    /// That of an operand, or a computed one.
    Var(VarId),
    /// Of this integer alone.
    Constant(Box<Int>),
    /// What an op makes of bounds.
    Transfer(Transfer, Vec<BoundExpr>),
}

impl Term {
    /// All variables, each as often as it occurs.
    pub fn vars(&self) -> Vec<VarId> {
        let mut found = Vec::new();
        self.each(&mut |term| {
            if let Term::Var(var) = term {
                found.push(*var);
            }
        });
        found
    }

    /// The term and all in it, from the outside.
    pub fn each<'t>(&'t self, f: &mut impl FnMut(&'t Term)) {
        f(self);
        if let Term::Op(_, args) = self {
            args.iter().for_each(|arg| arg.each(f));
        }
    }

    /// How many ops there are.
    pub fn ops(&self) -> usize {
        match self {
            Term::Op(_, args) => 1 + args.iter().map(Term::ops).sum::<usize>(),
            _ => 0,
        }
    }

    /// The type of what it gives.
    pub fn ty(&self, vars: &[Var]) -> Type {
        match self {
            Term::Op(op, _) => result_type(*op),
            Term::Var(var) => vars[*var].ty(),
            Term::Int(_) => Type::Int,
            Term::Float(_) => Type::Float,
        }
    }
}

/// The type of an op's first result.
pub(crate) fn result_type(op: Opcode) -> Type {
    match op.results().first() {
        Some(flowgraph::ir::OperandType::Is(ty)) => *ty,
        _ => Type::Int,
    }
}

impl Var {
    /// The type of what it stands for.
    pub fn ty(&self) -> Type {
        match self.kind {
            VarKind::Any(ty) | VarKind::Constant(ty) => ty,
            VarKind::Int | VarKind::Bound | VarKind::Bool => Type::Int,
        }
    }

    /// Whether it matches constants only.
    pub fn is_constant(&self) -> bool {
        matches!(self.kind, VarKind::Constant(_))
    }
}

impl Rule {
    /// The op that it replaces.
    pub fn root(&self) -> (Opcode, &[Term]) {
        match &self.pattern {
            Term::Op(op, args) => (*op, args),
            _ => unreachable!("a pattern is an op"),
        }
    }

    /// The line that it says for itself: its pattern and target.
    pub fn arrow(&self) -> String {
        format!("{} => {}", self.show(&self.pattern), self.show(&self.target))
    }

    /// A term as text.
    pub fn show(&self, term: &Term) -> String {
        match term {
            Term::Op(op, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.show(arg)).collect();
                format!("{}({})", op.name(), args.join(", "))
            }
            Term::Var(var) => self.vars[*var].name.clone(),
            Term::Int(Literal::Number(number)) => number.to_string(),
            Term::Int(Literal::MinInt) => "MININT".to_owned(),
            Term::Int(Literal::MaxInt) => "MAXINT".to_owned(),
            Term::Int(Literal::LongBit) => "LONG_BIT".to_owned(),
            Term::Float(number) => format!("{number:?}"),
        }
    }

    /// The order in which rules are asked: those that give constants or variables before those that make ops; else that
    /// of the file.
    pub fn rank(&self) -> u8 {
        u8::from(matches!(self.target, Term::Op(..)))
    }

    /// Whether it may only be used where what it matches inside has no other use: because it makes more than one op.
    pub fn needs_single_use(&self) -> bool {
        self.target.ops() > 1
    }
}
