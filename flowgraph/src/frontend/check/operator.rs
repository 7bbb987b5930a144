//! Operators, casts and assignments.

use super::super::infer::VarKind;
use super::super::numbers::no_negation;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{BinOp, CompareOp, Expr, ExprKind};
use super::super::types::{BOOL, Ty};
use super::super::uses::Used;
use super::Checker;
use super::expr::strip;
use crate::ir::Scalar;
use syn::spanned::Spanned;

enum Operator {
    Arithmetic(BinOp),
    Compare(CompareOp),
    And,
    Or,
    Assign(BinOp),
}

fn operator(op: &syn::BinOp) -> Option<Operator> {
    use syn::BinOp as B;
    Some(match op {
        B::Add(_) => Operator::Arithmetic(BinOp::Add),
        B::Sub(_) => Operator::Arithmetic(BinOp::Sub),
        B::Mul(_) => Operator::Arithmetic(BinOp::Mul),
        B::Div(_) => Operator::Arithmetic(BinOp::Div),
        B::Rem(_) => Operator::Arithmetic(BinOp::Rem),
        B::BitAnd(_) => Operator::Arithmetic(BinOp::And),
        B::BitOr(_) => Operator::Arithmetic(BinOp::Or),
        B::BitXor(_) => Operator::Arithmetic(BinOp::Xor),
        B::Shl(_) => Operator::Arithmetic(BinOp::Shl),
        B::Shr(_) => Operator::Arithmetic(BinOp::Shr),
        B::And(_) => Operator::And,
        B::Or(_) => Operator::Or,
        B::Eq(_) => Operator::Compare(CompareOp::Eq),
        B::Ne(_) => Operator::Compare(CompareOp::Ne),
        B::Lt(_) => Operator::Compare(CompareOp::Lt),
        B::Le(_) => Operator::Compare(CompareOp::Le),
        B::Gt(_) => Operator::Compare(CompareOp::Gt),
        B::Ge(_) => Operator::Compare(CompareOp::Ge),
        B::AddAssign(_) => Operator::Assign(BinOp::Add),
        B::SubAssign(_) => Operator::Assign(BinOp::Sub),
        B::MulAssign(_) => Operator::Assign(BinOp::Mul),
        B::DivAssign(_) => Operator::Assign(BinOp::Div),
        B::RemAssign(_) => Operator::Assign(BinOp::Rem),
        B::BitAndAssign(_) => Operator::Assign(BinOp::And),
        B::BitOrAssign(_) => Operator::Assign(BinOp::Or),
        B::BitXorAssign(_) => Operator::Assign(BinOp::Xor),
        B::ShlAssign(_) => Operator::Assign(BinOp::Shl),
        B::ShrAssign(_) => Operator::Assign(BinOp::Shr),
        _ => return None,
    })
}

impl Checker<'_, '_> {
    pub(super) fn unary(&mut self, u: &syn::ExprUnary, expected: Option<&Ty>, pos: Pos) -> Expr {
        match &u.op {
            syn::UnOp::Deref(_) => {
                let value = self.expr(&u.expr, None);
                match self.infer.shallow(&value.ty) {
                    Ty::Ref(_, to) => self.make(ExprKind::Deref(Box::new(value)), (*to).clone(), pos),
                    // Only as `(*slice)[i]` or `&*slice`, where it changes nothing.
                    Ty::Slice(..) | Ty::Str => value,
                    Ty::Error => self.error(pos),
                    other => {
                        let ty = self.show(&other);
                        self.refuse(u.span(), Reason::NoOperator, &format!("`{ty}` can't be dereferenced"))
                    }
                }
            }
            syn::UnOp::Not(_) => {
                let value = self.operand(&u.expr, expected);
                let fits = self.infer.is_integer(&value.ty) || self.infer.shallow(&value.ty) == BOOL;
                let ty = value.ty.clone();
                if !fits && ty != Ty::Error && ty != Ty::Never {
                    return self.no_operator(u, "!", &ty);
                }
                self.make(ExprKind::Not(Box::new(value)), ty, pos)
            }
            syn::UnOp::Neg(_) => {
                let value = self.expr(&u.expr, expected);
                self.note_use(u.op.span(), Used::Operator, &value.ty, None);
                let value = self.deref_scalar(value);
                let ty = self.infer.shallow(&value.ty);
                let signed = ty.as_scalar().is_none_or(|s| s.is_signed() || s.is_float());
                let fits = signed && (self.infer.is_integer(&ty) || self.infer.is_float(&ty));
                if !fits && ty != Ty::Error && ty != Ty::Never {
                    return self.no_operator(u, "-", &ty);
                }
                self.make(ExprKind::Neg(Box::new(value)), ty, pos)
            }
            _ => self.refuse(u.span(), Reason::Expression, "this operator"),
        }
    }

    fn no_operator(&mut self, at: &impl Spanned, op: &str, ty: &Ty) -> Expr {
        let scalar = self.infer.shallow(ty).as_scalar();
        let detail = format!("`{}` has no operator `{op}`", self.show(ty));
        match scalar.filter(|s| s.is_integer() && op == "-") {
            Some(unsigned) => self.refuse_with(at.span(), Reason::NoOperator, &detail, &no_negation(unsigned)),
            None => self.refuse(at.span(), Reason::NoOperator, &detail),
        }
    }

    /// An operand: a reference to a scalar counts as the scalar.
    fn operand(&mut self, e: &syn::Expr, expected: Option<&Ty>) -> Expr {
        let value = self.expr(e, expected);
        self.deref_scalar(value)
    }

    fn deref_scalar(&mut self, value: Expr) -> Expr {
        match self.infer.shallow(&value.ty) {
            Ty::Ref(_, to) if matches!(self.infer.shallow(&to), Ty::Scalar(_) | Ty::Var(_) | Ty::Ref(..)) => {
                let pos = value.pos;
                let inner = Expr { kind: ExprKind::Deref(Box::new(value)), ty: (*to).clone(), pos };
                self.deref_scalar(inner)
            }
            _ => value,
        }
    }

    pub(super) fn binary(&mut self, b: &syn::ExprBinary, expected: Option<&Ty>, pos: Pos) -> Expr {
        // A chain of operators nests to the left: walk down in a loop, not by recursion.
        match operator(&b.op) {
            Some(Operator::Arithmetic(op)) => {
                // Not a coercion site: rustc hands no expectation down either, but for what literals default to that
                // makes no difference where both sides are unified.
                let _ = expected;
                let left = self.expr(&b.left, None);
                let right = self.expr(&b.right, None);
                self.note_use(b.op.span(), Used::Operator, &left.ty, Some(&right.ty));
                let (left, right) = (self.deref_scalar(left), self.deref_scalar(right));
                self.arithmetic(op, left, right, b, pos)
            }
            Some(Operator::Compare(op)) => {
                let left = self.expr(&b.left, None);
                let right = self.expr(&b.right, None);
                self.compare(op, left, right, b, pos)
            }
            Some(short @ (Operator::And | Operator::Or)) => {
                let left = self.condition(&b.left);
                let diverges = self.diverges;
                let right = self.condition(&b.right);
                self.diverges = diverges;
                let (left, right) = (Box::new(left), Box::new(right));
                let and = matches!(short, Operator::And);
                self.make(if and { ExprKind::AndAlso(left, right) } else { ExprKind::OrElse(left, right) }, BOOL, pos)
            }
            Some(Operator::Assign(op)) => self.assign_op(op, b, pos),
            None => self.refuse(b.op.span(), Reason::Expression, "this operator"),
        }
    }

    /// A `bool`.
    pub(super) fn condition(&mut self, e: &syn::Expr) -> Expr {
        let value = self.expr(e, Some(&BOOL));
        self.coerce(value, &BOOL)
    }

    fn arithmetic(&mut self, op: BinOp, left: Expr, right: Expr, b: &syn::ExprBinary, pos: Pos) -> Expr {
        let ty = self.arithmetic_type(op, &left, &right, b);
        let (left, right) = (self.never_as(left, &ty), self.never_as(right, &ty));
        self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, pos)
    }

    /// An operand that doesn't come back, as a value.
    fn never_as(&mut self, e: Expr, ty: &Ty) -> Expr {
        if e.ty == Ty::Never { self.coerce(e, ty) } else { e }
    }

    fn arithmetic_type(&mut self, op: BinOp, left: &Expr, right: &Expr, b: &syn::ExprBinary) -> Ty {
        if left.ty == Ty::Never || right.ty == Ty::Never {
            return if left.ty == Ty::Never { right.ty.clone() } else { left.ty.clone() };
        }
        let ty = self.infer.shallow(&left.ty);
        if ty == Ty::Error || self.infer.shallow(&right.ty) == Ty::Error {
            return Ty::Error;
        }
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            let fits = self.infer.is_integer(&left.ty) && self.infer.is_integer(&right.ty);
            if !fits {
                self.no_operator(b, &self.text(&b.op), &ty);
            }
            return ty;
        }
        if !self.infer.unify(&left.ty, &right.ty) {
            self.mismatch(right.pos, &ty, &right.ty.clone());
            return ty;
        }
        let integer = self.infer.is_integer(&ty);
        let float = self.infer.is_float(&ty);
        let boolean = self.infer.shallow(&ty) == BOOL;
        let unknown = self.infer.kind(&ty) == Some(VarKind::Any);
        let bitwise = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
        if unknown {
            self.refuse(b.left.span(), Reason::UnknownType, &format!("`{}`", self.text(&b.left)));
            return Ty::Error;
        }
        if !(integer || (float && !bitwise) || (boolean && bitwise)) {
            self.no_operator(b, &self.text(&b.op), &ty);
        }
        ty
    }

    fn compare(&mut self, op: CompareOp, left: Expr, right: Expr, b: &syn::ExprBinary, pos: Pos) -> Expr {
        // `&T == &T` compares what they point to.
        let both = (self.infer.shallow(&left.ty), self.infer.shallow(&right.ty));
        if let (Ty::Ref(_, t), Ty::Ref(_, u)) = &both {
            let (left_pos, right_pos) = (left.pos, right.pos);
            let left = Expr { kind: ExprKind::Deref(Box::new(left)), ty: (**t).clone(), pos: left_pos };
            let right = Expr { kind: ExprKind::Deref(Box::new(right)), ty: (**u).clone(), pos: right_pos };
            return self.compare(op, left, right, b, pos);
        }
        if both.0 == Ty::Never || both.1 == Ty::Never {
            let ty = if both.0 == Ty::Never { both.1 } else { both.0 };
            let (left, right) = (self.never_as(left, &ty), self.never_as(right, &ty));
            return self.make(ExprKind::Compare(op, Box::new(left), Box::new(right)), BOOL, pos);
        }
        if let Some(slice) = [&both.0, &both.1].into_iter().find(|ty| matches!(ty, Ty::Slice(..) | Ty::Str)) {
            self.no_operator(b, &self.text(&b.op), &slice.clone());
            return Expr { kind: ExprKind::Error, ty: BOOL, pos };
        }
        if !self.infer.unify(&left.ty, &right.ty) {
            self.mismatch(right.pos, &left.ty, &right.ty.clone());
            return Expr { kind: ExprKind::Error, ty: BOOL, pos };
        }
        let ty = self.infer.resolve(&left.ty);
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        if !self.comparable(&ty, equality) {
            self.no_operator(b, &self.text(&b.op), &ty);
        }
        self.make(ExprKind::Compare(op, Box::new(left), Box::new(right)), BOOL, pos)
    }

    fn comparable(&self, ty: &Ty, equality: bool) -> bool {
        match ty {
            Ty::Error | Ty::Scalar(_) | Ty::Never => true,
            Ty::Unit => equality,
            Ty::Enum(name) => {
                let types = self.p.enum_types(name);
                let derived = types.iter().all(Vec::is_empty) || self.p.enums.get(name).is_some_and(|e| e.comparable);
                equality && derived && types.iter().flatten().all(|t| self.comparable(t, equality))
            }
            Ty::Result(t, e) => equality && self.comparable(t, equality) && self.comparable(e, equality),
            Ty::Tuple(items) => equality && items.iter().all(|t| self.comparable(t, equality)),
            Ty::Option(t) | Ty::Array(t, _) => equality && self.comparable(t, equality),
            Ty::Struct(name) => {
                let derived = self.p.structs.get(name).is_some_and(|s| s.comparable);
                equality && derived && self.p.field_types(name).iter().all(|t| self.comparable(t, equality))
            }
            _ => false,
        }
    }

    pub(super) fn cast(&mut self, value: Expr, to: Ty, pos: Pos) -> Expr {
        let value = if value.ty == Ty::Never { self.coerce(value, &to) } else { value };
        let from = self.infer.shallow(&value.ty);
        let allowed = match (&from, &to) {
            (Ty::Error, _) | (_, Ty::Error) => true,
            (Ty::Enum(_), Ty::Scalar(t)) => t.is_integer() && !self.p.has_payload(&from),
            (Ty::Scalar(Scalar::Bool), Ty::Scalar(t)) => t.is_integer() || *t == Scalar::Bool,
            (Ty::Scalar(Scalar::Char), Ty::Scalar(t)) => t.is_integer() || *t == Scalar::Char,
            (Ty::Scalar(Scalar::U8), Ty::Scalar(Scalar::Char)) => true,
            (Ty::Scalar(f), Ty::Scalar(t)) => (f.is_integer() || f.is_float()) && (t.is_integer() || t.is_float()),
            (Ty::Var(_), Ty::Scalar(Scalar::Char)) => self.infer.unify(&from, &Ty::Scalar(Scalar::U8)),
            (Ty::Var(_), Ty::Scalar(t)) if *t != Scalar::Bool => {
                self.infer.is_integer(&from) || self.infer.is_float(&from)
            }
            _ => false,
        };
        if !allowed {
            let detail = format!("`{}` to `{to}`", self.show(&from));
            self.p.refuse_at(pos, Reason::Cast, &detail);
        }
        self.make(ExprKind::Cast(Box::new(value)), to, pos)
    }

    pub(super) fn assign(&mut self, a: &syn::ExprAssign, pos: Pos) -> Expr {
        match strip(&a.left) {
            syn::Expr::Infer(_) => {
                let value = self.expr(&a.right, None);
                return self.make(ExprKind::Discard(Box::new(value)), Ty::Unit, pos);
            }
            syn::Expr::Tuple(t) => return self.assign_tuple(t, &a.right, pos),
            left @ (syn::Expr::Struct(_) | syn::Expr::Array(_)) => {
                self.expr(&a.right, None);
                let what = if let syn::Expr::Array(_) = left { "an array" } else { "a struct" };
                return self.refuse(left.span(), Reason::Expression, &format!("{what} on the left of `=`"));
            }
            _ => {}
        }
        // Rust evaluates the right side first; names are looked up in either order.
        let place = self.expr(&a.left, None);
        let value = self.expr(&a.right, Some(&place.ty));
        let value = self.coerce(value, &place.ty);
        self.writable(&place, &a.left, true);
        self.make(ExprKind::Assign(Box::new(place), Box::new(value)), Ty::Unit, pos)
    }

    /// `(a, b) = value`: the value is bound to temporaries, which are then assigned from left to right.
    fn assign_tuple(&mut self, t: &syn::ExprTuple, right: &syn::Expr, pos: Pos) -> Expr {
        use super::super::tree::{Block, Pat, PatKind, Stmt};
        let value = self.expr(right, None);
        let mut fields = Vec::new();
        let mut assigns = Vec::new();
        let mut types = Vec::new();
        let mut refused = false;
        self.scopes.push(Vec::new());
        for (i, target) in t.elems.iter().enumerate() {
            let ty = self.infer.fresh(VarKind::Any);
            types.push(ty.clone());
            let (kind, assign) = match strip(target) {
                syn::Expr::Infer(_) => (PatKind::Wild, None),
                syn::Expr::Tuple(_) | syn::Expr::Array(_) | syn::Expr::Struct(_) | syn::Expr::Range(_) => {
                    let what = match strip(target) {
                        syn::Expr::Tuple(_) => "a nested tuple",
                        syn::Expr::Array(_) => "an array",
                        syn::Expr::Struct(_) => "a struct",
                        _ => "`..`",
                    };
                    self.refuse(target.span(), Reason::Expression, &format!("{what} on the left of `=`"));
                    refused = true;
                    (PatKind::Wild, None)
                }
                _ => {
                    let place = self.expr(target, None);
                    self.same(&place, &ty);
                    self.writable(&place, target, true);
                    let local = self.declare("(assigned)", ty.clone(), false, pos);
                    let value = Expr { kind: ExprKind::Local(local), ty: ty.clone(), pos };
                    let assign = ExprKind::Assign(Box::new(place), Box::new(value));
                    (PatKind::Bind(local, None), Some(Expr { kind: assign, ty: Ty::Unit, pos }))
                }
            };
            fields.push((i, Pat { kind, ty, pos }));
            assigns.extend(assign.map(Stmt::Expr));
        }
        self.scopes.pop();
        if refused {
            return self.error(pos);
        }
        let ty = Ty::Tuple(types.into());
        let value = self.coerce(value, &ty);
        let pat = Pat { kind: PatKind::Fields(fields), ty, pos };
        let mut stmts = vec![Stmt::Let { pat, init: Some(value), otherwise: None }];
        stmts.extend(assigns);
        self.make(ExprKind::Block(Block { stmts, tail: None }), Ty::Unit, pos)
    }

    fn assign_op(&mut self, op: BinOp, b: &syn::ExprBinary, pos: Pos) -> Expr {
        let place = self.expr(&b.left, None);
        let raw = self.expr(&b.right, None);
        // With a reference on the right this is a call of `AddAssign<&T>`, whose receiver comes first.
        self.note_use(b.op.span(), Used::Operator, &place.ty, Some(&raw.ty));
        let right_first = !matches!(self.infer.shallow(&raw.ty), Ty::Ref(..));
        let value = self.deref_scalar(raw);
        let ty = self.arithmetic_type(op, &place, &value, b);
        let value = self.never_as(value, &ty);
        // A variable that gets its value later has to have it by now, and then has it for good: lowering looks at both.
        self.writable(&place, &b.left, matches!(place.kind, ExprKind::Local(_)));
        self.make(ExprKind::AssignOp(op, Box::new(place), Box::new(value), right_first), Ty::Unit, pos)
    }
}
