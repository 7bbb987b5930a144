//! The typed tree: what checking makes of a function's body and lowering turns into a graph.
//!
//! Names are resolved, methods are known, coercions and automatic dereferences are explicit. Types may still hold
//! inference variables; they are resolved while lowering, when the whole body has been seen.

use super::numbers::NumberMethod;
use super::refusal::Pos;
use super::types::Ty;
use crate::ir::{Opcode, Scalar, TrapKind};
use std::rc::Rc;

pub(super) type LocalId = usize;
pub(super) type LoopId = usize;
pub(super) type ConstId = usize;

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) ty: Ty,
    pub(super) pos: Pos,
}

impl Expr {
    /// Where the value comes from: that of a block from its last expression.
    pub(super) fn value_pos(&self) -> Pos {
        let mut value = self;
        while let ExprKind::Block(Block { tail: Some(tail), .. }) = &value.kind {
            value = tail;
        }
        value.pos
    }

    fn comes_back(&self) -> bool {
        self.ty != Ty::Never && !matches!(self.kind, ExprKind::FromNever(_))
    }

    /// Whom to blame if the value doesn't fit: of branches the first that has one.
    pub(super) fn blamed_pos(&self) -> Pos {
        match &self.kind {
            ExprKind::Block(Block { tail: Some(tail), .. }) => tail.blamed_pos(),
            ExprKind::If(_, then, Some(otherwise)) => {
                let branch = if then.comes_back() { then } else { otherwise };
                branch.blamed_pos()
            }
            ExprKind::Match(_, arms) => {
                let first = arms.iter().find(|arm| arm.body.comes_back());
                first.map_or(self.pos, |arm| arm.body.blamed_pos())
            }
            _ => self.pos,
        }
    }
}

pub(super) type Sub = Box<Expr>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    /// What was refused.
    Error,
    Unit,
    Int(u64),
    Float(Rc<str>),
    Bool(bool),
    Char(char),
    Bytes(Rc<[u8]>),
    Text(Rc<str>),
    Local(LocalId),
    Const(ConstId),
    /// A variant of an enum, of `Option` or `Result`, by index: its fields in source order, with their indices.
    Variant(usize, Vec<(usize, Expr)>),
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    Repeat(Sub, u64),
    /// Fields in source order, with their indices.
    Struct(Vec<(usize, Expr)>),
    Field(Sub, usize),
    Index(Sub, Sub),
    Deref(Sub),
    /// A reference to a place; to a value only as an argument, or if the value is constant.
    Ref {
        mutable: bool,
        place: Sub,
        argument: bool,
    },
    SliceOf {
        base: Sub,
        from: Option<Sub>,
        to: Option<Sub>,
    },
    ArrayToSlice(Sub),
    /// The same leaves under another type: `&mut T` as `&T`.
    Freeze(Sub),
    /// An expression that doesn't come back, where a value is expected.
    FromNever(Sub),
    Not(Sub),
    Neg(Sub),
    Binary(BinOp, Sub, Sub),
    Compare(CompareOp, Sub, Sub),
    AndAlso(Sub, Sub),
    OrElse(Sub, Sub),
    /// `let PATTERN = value` as a condition.
    Let(Box<Pat>, Sub),
    Cast(Sub),
    Assign(Sub, Sub),
    /// Whether the right side is evaluated first (both sides are scalars).
    AssignOp(BinOp, Sub, Sub, bool),
    /// `_ = value`.
    Discard(Sub),
    Block(Block),
    If(Sub, Sub, Option<Sub>),
    Match(Sub, Vec<Arm>),
    Loop(LoopId, Sub),
    /// `'a: { .. }`
    Labelled(LoopId, Sub),
    While(LoopId, Sub, Sub),
    ForRange(LoopId, Box<Pat>, Box<Range>, Sub),
    ForSlice(LoopId, Box<Pat>, Sub, Sub),
    Break(LoopId, Option<Sub>),
    Continue(LoopId),
    Return(Option<Sub>),
    Call(Rc<str>, Vec<Expr>, bool),
    /// What a function gives for some arguments.
    KnownResult(Sub, Rc<str>, Vec<Expr>),
    /// What a value is.
    ExactValue(Sub, Sub),
    Number(NumberMethod, Vec<Expr>),
    /// `Scalar::from_le_bytes` and back: big-endian if set.
    FromBytes(Sub, bool),
    ToBytes(Sub, bool),
    Libm(&'static crate::math::Function, Vec<Expr>),
    Hint(Opcode, Option<Sub>),
    PromoteTag(Sub),
    Len(Sub),
    CellGet(Sub),
    CellSet(Sub, Sub),
    /// `read_u16_le(slice, i)`.
    ReadLe(Scalar, Sub, Sub),
    WriteLe(Scalar, Sub, Sub, Sub),
    /// `unwrap`, `expect`: the trap's kind and message.
    Unwrap {
        value: Sub,
        kind: TrapKind,
        message: Option<String>,
    },
    UnwrapOr(Sub, Sub),
    /// `is_some` and the like: the value's tag is `1`, or isn't.
    TagIs(Sub, bool),
    /// `value?`
    Question(Sub),
    Trap(TrapKind, Option<String>, Vec<Expr>),
    Assert(Sub, Option<String>, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) stmts: Vec<Stmt>,
    pub(super) tail: Option<Sub>,
}

#[derive(Clone, Debug)]
pub(super) enum Stmt {
    Let { pat: Pat, init: Option<Expr>, otherwise: Option<Expr> },
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) pat: Pat,
    pub(super) guard: Option<Expr>,
    pub(super) body: Expr,
}

#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) from: Expr,
    pub(super) to: Expr,
    pub(super) inclusive: bool,
    pub(super) step: Option<Expr>,
    pub(super) reversed: bool,
    /// `.step_by(k).rev()`: the last of the stepped values comes first.
    pub(super) step_first: bool,
    pub(super) pos: Pos,
}

#[derive(Clone, Debug)]
pub(super) struct Pat {
    pub(super) kind: PatKind,
    pub(super) ty: Ty,
    pub(super) pos: Pos,
}

#[derive(Clone, Debug)]
pub(super) enum PatKind {
    Wild,
    Bind(LocalId, Option<Box<Pat>>),
    /// A variable that is a reference to what is matched.
    BindRef(LocalId, Option<Box<Pat>>),
    /// A literal or constant.
    Value(Sub),
    Range(Option<Sub>, Option<Sub>, bool),
    /// Fields of a struct or tuple, by index.
    Fields(Vec<(usize, Pat)>),
    /// Elements of an array from the start, and from the end.
    Elements(Vec<Pat>, Vec<Pat>),
    /// A variant of an enum, of `Option` or `Result`, by index, and fields of it.
    Variant(usize, Vec<(usize, Pat)>),
    Or(Vec<Pat>),
    Deref(Box<Pat>),
}

/// A variable of the body.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) mutable: bool,
    /// Declared without a value.
    pub(super) late: bool,
    pub(super) pos: Pos,
    /// It needs an address.
    pub(super) addressed: bool,
}

/// A checked function (or constant) body.
pub(super) struct Body {
    pub(super) locals: Vec<Local>,
    pub(super) params: Vec<(Pat, Ty)>,
    pub(super) value: Expr,
    pub(super) result: Ty,
    pub(super) infer: super::infer::Infer,
    /// How many loop ids were given.
    pub(super) loops: usize,
    /// Something in it was refused, here or where it is defined: it can't be lowered.
    pub(super) failed: bool,
}
