//! Blocks, conditions and branches.

use super::super::refusal::Reason;
use super::super::tree::{Block, Expr, ExprKind, Pat, PatKind, Stmt};
use super::{Goal, LoopTargets, Lowerer, Val};
use crate::ir::{BlockId, Operand};
use smallvec::smallvec;

impl Lowerer<'_, '_> {
    pub(super) fn block(&mut self, block: &Block) -> Val {
        self.statements(&block.stmts);
        block.tail.as_ref().map(|t| self.value(t)).unwrap_or_default()
    }

    pub(super) fn statements(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Expr(e) => self.discard(e),
                Stmt::Let { pat, init, otherwise } => self.let_stmt(pat, init.as_ref(), otherwise.as_ref()),
            }
        }
    }

    /// Evaluates an expression for its effects.
    pub(super) fn discard(&mut self, e: &Expr) {
        if self.is_large(&e.ty) {
            let mem = self.new_slot(&e.ty, "(temporary)", e.pos);
            return self.value_into(e, &mem, true);
        }
        self.value(e);
    }

    fn let_stmt(&mut self, pat: &Pat, init: Option<&Expr>, otherwise: Option<&Expr>) {
        let Some(init) = init else { return self.let_later(pat) };
        if self.is_large(&init.ty) && matches!(pat.kind, PatKind::Bind(_, None) | PatKind::Wild) {
            return self.let_large(pat, init);
        }
        let ty = self.ty(&pat.ty);
        if !matches!(pat.kind, PatKind::Bind(_, None)) {
            return self.let_pattern(pat, &ty, init, otherwise);
        }
        let value = self.value(init);
        if let PatKind::Bind(id, None) = &pat.kind {
            self.known_type(*id);
            if self.may_change(init) {
                self.tainted[*id] = true;
            }
            self.define(*id, Some(&value), pat.pos);
        }
    }

    /// Begins variables that get their values later.
    fn let_later(&mut self, pat: &Pat) {
        match &pat.kind {
            PatKind::Bind(id, None) => {
                self.known_type(*id);
                self.given.begins(self.b.current(), *id);
                self.define(*id, None, pat.pos);
            }
            PatKind::Fields(fields) => fields.iter().for_each(|(_, field)| self.let_later(field)),
            PatKind::Elements(first, last) => first.iter().chain(last).for_each(|element| self.let_later(element)),
            _ => {}
        }
    }

    fn let_pattern(&mut self, pat: &Pat, ty: &super::Ty, init: &Expr, otherwise: Option<&Expr>) {
        let changes = self.may_change(init);
        let subject = self.subject(init);
        let leave = self.b.new_block();
        self.test(pat, ty, &subject, Goal::new(leave, otherwise.is_none(), changes));
        self.settle(pat);
        let Some(otherwise) = otherwise else { return self.b.seal(leave) };
        let go_on = self.b.new_block();
        self.b.jump(go_on, pat.pos);
        self.b.enter(leave);
        self.value(otherwise);
        self.b.jump(go_on, pat.pos);
        self.b.enter(go_on);
    }

    /// Refuses a variable of whose type nothing is known.
    fn known_type(&mut self, id: usize) {
        let ty = self.locals[id].ty.clone();
        if super::super::infer::Infer::is_unknown(&self.ty(&ty)) {
            let (pos, name) = (self.locals[id].pos, format!("`{}`", self.locals[id].name));
            self.refuse(pos, Reason::UnknownType, &name);
        }
    }

    fn let_large(&mut self, pat: &Pat, init: &Expr) {
        match &pat.kind {
            PatKind::Bind(id, None) => {
                let (name, ty) = (self.locals[*id].name.clone(), self.locals[*id].ty.clone());
                let mem = self.new_slot(&ty, &name, pat.pos);
                self.value_into(init, &mem, true);
                self.b.name(&name, pat.pos, &[mem.base]);
                self.slots[*id] = Some(mem);
            }
            _ => self.discard(init),
        }
    }

    // ---- conditions

    /// Goes to `then` if the condition holds, else to `otherwise`. Variables of `let` patterns are bound in `then`.
    pub(super) fn condition(&mut self, e: &Expr, then: BlockId, otherwise: BlockId) {
        match &e.kind {
            ExprKind::AndAlso(a, b) => {
                let middle = self.b.new_block();
                self.condition(a, middle, otherwise);
                self.b.enter(middle);
                self.condition(b, then, otherwise);
            }
            ExprKind::OrElse(a, b) => {
                let middle = self.b.new_block();
                self.condition(a, then, middle);
                self.b.enter(middle);
                self.condition(b, then, otherwise);
            }
            ExprKind::Not(inner) => self.condition(inner, otherwise, then),
            ExprKind::Let(pat, value) => {
                let changes = self.may_change(value);
                let subject = self.subject(value);
                let ty = self.ty(&value.ty);
                let (subject, ty) = self.look_through(subject, &ty, &[pat], changes, value.pos);
                let subject = self.tagged(subject, &ty, value.pos);
                self.test(pat, &ty, &subject, Goal::new(otherwise, false, changes));
                self.settle(pat);
                self.b.jump(then, e.pos);
            }
            _ => {
                let value = self.value(e);
                let cond = value.first().copied().unwrap_or(Operand::int(0));
                self.b.branch(cond, then, otherwise, e.pos);
            }
        }
    }

    /// A condition with `&&`, `||` or `let` in it as a value.
    pub(super) fn condition_value(&mut self, e: &Expr) -> Val {
        let result = self.b.new_var(crate::ir::Type::Int);
        let join = self.b.new_block();
        // The last operand's value is the result where it decides.
        match &e.kind {
            ExprKind::AndAlso(a, b) | ExprKind::OrElse(a, b) => {
                let and = matches!(e.kind, ExprKind::AndAlso(..));
                let (more, skip) = (self.b.new_block(), self.b.new_block());
                if and {
                    self.condition(a, more, skip)
                } else {
                    self.condition(a, skip, more)
                }
                self.b.enter(more);
                let value = self.value(b);
                self.b.write(result, value.first().copied().unwrap_or(Operand::int(0)));
                self.b.jump(join, e.pos);
                self.b.enter(skip);
                self.b.write(result, Operand::int(i64::from(!and)));
                self.b.jump(join, e.pos);
            }
            _ => {
                let (yes, no) = (self.b.new_block(), self.b.new_block());
                self.condition(e, yes, no);
                self.b.enter(yes);
                self.b.write(result, Operand::int(1));
                self.b.jump(join, e.pos);
                self.b.enter(no);
                self.b.write(result, Operand::int(0));
                self.b.jump(join, e.pos);
            }
        }
        self.b.enter(join);
        smallvec![self.b.read(result)]
    }

    pub(super) fn if_value(&mut self, e: &Expr, cond: &Expr, then: &Expr, otherwise: Option<&Expr>) -> Val {
        let vars = self.temporaries_for(e);
        let (yes, no, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.condition(cond, yes, no);
        self.b.enter(yes);
        let value = self.value(then);
        self.write_all(&vars, &value);
        self.b.jump(join, then.pos);
        self.b.enter(no);
        if let Some(otherwise) = otherwise {
            let value = self.value(otherwise);
            self.write_all(&vars, &value);
        }
        self.b.jump(join, e.pos);
        self.b.enter(join);
        self.read_all(&vars)
    }

    /// Temporaries for the value of a branching expression.
    pub(super) fn temporaries_for(&mut self, e: &Expr) -> Vec<super::Var> {
        if self.is_large(&e.ty) {
            let ty = self.ty(&e.ty);
            let detail = format!("a value of the type {ty} is too large to come out of branches");
            self.refuse(e.pos, Reason::LargeValue, &detail);
            return Vec::new();
        }
        let ty = e.ty.clone();
        self.temporaries(&ty)
    }

    pub(super) fn labelled(&mut self, e: &Expr, id: usize, body: &Expr) -> Val {
        let vars = self.temporaries_for(e);
        let exit = self.b.new_block();
        self.loops[id] = Some(LoopTargets { exit, again: None, value: vars.clone() });
        let value = self.value(body);
        self.write_all(&vars, &value);
        self.b.jump(exit, e.pos);
        self.b.enter(exit);
        self.read_all(&vars)
    }
}
