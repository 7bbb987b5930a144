//! `match` and patterns.
//!
//! Arms are tried in order. A run of arms whose patterns are plain values becomes one switch. The last arm of a match
//! that covers everything isn't tested.

use super::super::refusal::{Pos, Reason};
use super::super::tree::{Arm, CompareOp, Expr, ExprKind, Pat, PatKind};
use super::super::types::Ty;
use super::exhaustive::Coverage;
use super::{Lowerer, Val};
use crate::ir::{BlockId, MemKind, Opcode, Operand, Scalar, TrapKind};

impl Lowerer<'_, '_> {
    pub(super) fn match_value(&mut self, e: &Expr, scrutinee: &Expr, arms: &[Arm]) -> Val {
        let pos = e.pos;
        let vars = self.temporaries_for(e);
        let value = self.value(scrutinee);
        let ty = self.ty(&scrutinee.ty);
        if ty == Ty::Never {
            return self.nothing(&e.ty);
        }
        let coverage = self.coverage(arms, &ty);
        if coverage == Coverage::Partial {
            self.refuse(pos, Reason::NotExhaustive, "");
        }
        let join = self.b.new_block();
        let mut at = 0;
        while at < arms.len() && !self.b.is_dead() {
            let run = self.switchable(&arms[at..], &ty);
            let run = if run.iter().map(|(values, _)| values.len()).sum::<usize>() > 1 { run.len() } else { 0 };
            if run > 0 {
                let complete = coverage == Coverage::Full && at + run == arms.len();
                self.switch_arms(&arms[at..at + run], &ty, &value, &vars, join, complete, pos);
                at += run;
                continue;
            }
            let arm = &arms[at];
            let last = at + 1 == arms.len() && coverage == Coverage::Full && arm.guard.is_none();
            self.tested_arm(arm, &ty, &value, &vars, join, last);
            at += 1;
        }
        if !self.b.is_dead() {
            let message = Some("internal error: entered unreachable code".to_owned());
            self.trap_now(TrapKind::Unreachable, message, Vec::new(), pos);
        }
        self.b.enter(join);
        self.read_all(&vars)
    }

    fn arm_body(&mut self, arm: &Arm, vars: &[super::Var], join: BlockId) {
        let value = self.value(&arm.body);
        self.write_all(vars, &value);
        self.b.jump(join, arm.body.pos);
    }

    /// One arm with its tests; goes on where it doesn't match.
    fn tested_arm(&mut self, arm: &Arm, ty: &Ty, value: &[Operand], vars: &[super::Var], join: BlockId, certain: bool) {
        let next = self.b.new_block();
        // Alternatives that may overlap try the guard once each, as Rust does.
        let alternatives: Vec<&Pat> = match &arm.pat.kind {
            PatKind::Or(cases) if arm.guard.is_some() && !cases.iter().all(is_value) => cases.iter().collect(),
            _ => vec![&arm.pat],
        };
        let body = self.b.new_block();
        let mut failed = None;
        for (i, pat) in alternatives.iter().enumerate() {
            if let Some(failed) = failed.take() {
                self.b.enter(failed);
            }
            let fail = if i + 1 == alternatives.len() { next } else { self.b.new_block() };
            self.test(pat, ty, value, fail, certain);
            self.settle(pat);
            match &arm.guard {
                Some(guard) => self.condition(guard, body, fail),
                None => self.b.jump(body, arm.pat.pos),
            }
            failed = Some(fail);
        }
        self.b.enter(body);
        self.arm_body(arm, vars, join);
        self.b.enter(next);
    }

    /// The longest run of arms without guards whose patterns are lists of values of a single word.
    fn switchable(&mut self, arms: &[Arm], ty: &Ty) -> Vec<(Vec<i64>, Option<usize>)> {
        let mut out = Vec::new();
        let scalar = match ty {
            Ty::Scalar(s) if !s.is_float() => *s,
            Ty::Enum(_) => Scalar::I64,
            _ => return out,
        };
        for arm in arms {
            let mut values = Vec::new();
            if arm.guard.is_some() || !self.pattern_values(&arm.pat, &mut values) {
                break;
            }
            let _ = scalar;
            let binds = if let PatKind::Bind(id, _) = &arm.pat.kind { Some(*id) } else { None };
            out.push((values, binds));
        }
        out
    }

    fn pattern_values(&mut self, pat: &Pat, out: &mut Vec<i64>) -> bool {
        match &pat.kind {
            PatKind::Value(e) => match self.pattern_constant(e) {
                Some(v) => {
                    out.push(v);
                    true
                }
                None => false,
            },
            PatKind::Or(cases) => cases.iter().all(|c| self.pattern_values(c, out)),
            PatKind::Bind(_, Some(inner)) => self.pattern_values(inner, out),
            _ => false,
        }
    }

    /// The word of a constant in a pattern.
    pub(super) fn pattern_constant(&mut self, e: &Expr) -> Option<i64> {
        let at = self.b.current();
        let value = self.value(e);
        debug_assert!(at == self.b.current());
        value.first()?.as_int()
    }

    #[allow(clippy::too_many_arguments)]
    fn switch_arms(
        &mut self,
        arms: &[Arm],
        ty: &Ty,
        value: &[Operand],
        vars: &[super::Var],
        join: BlockId,
        complete: bool,
        pos: Pos,
    ) {
        let Some(word) = value.first().copied() else { return };
        let blocks: Vec<BlockId> = arms.iter().map(|_| self.b.new_block()).collect();
        let mut cases: Vec<(i64, BlockId)> = Vec::new();
        for (arm, block) in arms.iter().zip(&blocks) {
            let mut values = Vec::new();
            self.pattern_values(&arm.pat, &mut values);
            for v in values {
                if !cases.iter().any(|(known, _)| *known == v) {
                    cases.push((v, *block));
                }
            }
        }
        let next = self.b.new_block();
        let default = match blocks.last() {
            Some(last) if complete => {
                cases.retain(|(_, b)| b != last);
                *last
            }
            _ => next,
        };
        match cases.as_slice() {
            [] => self.b.jump(default, pos),
            [(0, block)] => self.b.branch(word, default, *block, pos),
            [(1, block)] if *ty == Ty::Scalar(Scalar::Bool) => self.b.branch(word, *block, default, pos),
            [(v, block)] => {
                let equal = self.op2(Opcode::IntEq, word, Operand::int(*v), pos);
                self.b.branch(equal, *block, default, pos);
            }
            _ => self.b.switch(word, &cases, default, pos),
        }
        for (arm, block) in arms.iter().zip(blocks) {
            self.b.enter(block);
            if let PatKind::Bind(id, _) = &arm.pat.kind {
                self.bind(*id, value);
            }
            self.settle(&arm.pat);
            self.arm_body(arm, vars, join);
        }
        self.b.enter(next);
    }

    // ---- patterns

    fn bind(&mut self, id: usize, value: &[Operand]) {
        let vars = self.vars_of(id);
        self.write_all(&vars, value);
    }

    /// After a pattern has matched: names its variables, and makes the slots of those that need one.
    pub(super) fn settle(&mut self, pat: &Pat) {
        match &pat.kind {
            PatKind::Bind(id, inner) => {
                let vars = self.vars_of(*id);
                let value = self.read_all(&vars);
                self.define(*id, Some(&value), pat.pos);
                if let Some(inner) = inner {
                    self.settle(inner);
                }
            }
            PatKind::Fields(fields) => fields.iter().for_each(|(_, p)| self.settle(p)),
            PatKind::Elements(head, tail) => head.iter().chain(tail).for_each(|p| self.settle(p)),
            PatKind::Wrapped(_, Some(inner)) | PatKind::Deref(inner) => self.settle(inner),
            PatKind::Or(cases) => {
                if let Some(first) = cases.first() {
                    self.settle(first);
                }
            }
            PatKind::Wild | PatKind::Value(_) | PatKind::Range(..) | PatKind::Wrapped(_, None) => {}
        }
    }

    /// Goes to `fail` if the value doesn't match, and goes on with the pattern's variables bound if it does.
    /// `certain`: it is known to match.
    pub(super) fn test(&mut self, pat: &Pat, ty: &Ty, value: &[Operand], fail: BlockId, certain: bool) {
        let pos = pat.pos;
        match &pat.kind {
            PatKind::Wild => {}
            PatKind::Bind(id, inner) => {
                self.slots[*id] = None;
                self.bind(*id, value);
                if let Some(inner) = inner {
                    self.test(inner, ty, value, fail, certain);
                }
            }
            PatKind::Value(e) => {
                if certain {
                    return;
                }
                let wanted = self.value(e);
                let equal = self.compare(CompareOp::Eq, value, &wanted, ty, pos);
                self.match_or(equal, fail, pos);
            }
            PatKind::Range(from, to, inclusive) => {
                if !certain {
                    self.test_range(from.as_deref(), to.as_deref(), *inclusive, ty, value, fail, pos);
                }
            }
            PatKind::Fields(fields) => {
                let types = self.p.fields_of(ty);
                for (i, p) in fields {
                    let (at, n) = self.leaf_range(ty, *i);
                    let part: Val = value.iter().skip(at).take(n).copied().collect();
                    let ty = types.get(*i).cloned().unwrap_or(Ty::Error);
                    self.test(p, &ty, &part, fail, certain);
                }
            }
            PatKind::Elements(head, tail) => {
                let Ty::Array(elem, n) = ty else { return };
                let size = self.p.leaf_count(elem) as usize;
                let from_end = (*n as usize).saturating_sub(tail.len());
                let places = (0..head.len()).chain(from_end..from_end + tail.len());
                for (i, p) in places.zip(head.iter().chain(tail)) {
                    let part: Val = value.iter().skip(i * size).take(size).copied().collect();
                    self.test(p, elem, &part, fail, certain);
                }
            }
            PatKind::Wrapped(tag, inner) => {
                let Some((found, rest)) = value.split_first() else { return };
                if !certain {
                    let ok = self.b.new_block();
                    if *tag {
                        self.b.branch(*found, ok, fail, pos)
                    } else {
                        self.b.branch(*found, fail, ok, pos)
                    }
                    self.b.enter(ok);
                }
                let Some(inner) = inner else { return };
                let (payload, part): (Ty, &[Operand]) = match ty {
                    Ty::Option(t) => ((**t).clone(), rest),
                    Ty::Result(t, err) => {
                        let n = (self.p.leaf_count(t) as usize).min(rest.len());
                        if *tag { ((**err).clone(), &rest[n..]) } else { ((**t).clone(), &rest[..n]) }
                    }
                    _ => return,
                };
                self.test(inner, &payload, part, fail, certain);
            }
            PatKind::Deref(inner) => {
                let Ty::Ref(mutable, to) = ty else { return };
                let kind = if *mutable { MemKind::Exclusive } else { MemKind::Immutable };
                let Some(address) = value.first() else { return };
                let mem = super::place::Mem::new(*address, kind, (**to).clone());
                let loaded = if matches!(inner.kind, PatKind::Wild) {
                    Val::new()
                } else {
                    self.read(super::place::Place::Mem(mem), pos)
                };
                self.test(inner, to, &loaded, fail, certain);
            }
            PatKind::Or(cases) => self.test_or(pat, cases, ty, value, fail, certain),
        }
    }

    fn test_or(&mut self, pat: &Pat, cases: &[Pat], ty: &Ty, value: &[Operand], fail: BlockId, certain: bool) {
        let pos = pat.pos;
        let binds = cases.iter().any(|c| !is_value(c));
        if certain && !binds {
            return;
        }
        let matched = self.b.new_block();
        let mut values = Vec::new();
        if value.len() == 1 && !binds && self.pattern_values(pat, &mut values) && values.len() > 1 {
            let mut targets: Vec<(i64, BlockId)> = Vec::new();
            for v in values {
                if !targets.iter().any(|(known, _)| *known == v) {
                    targets.push((v, matched));
                }
            }
            self.b.switch(value[0], &targets, fail, pos);
            return self.b.enter(matched);
        }
        for (i, case) in cases.iter().enumerate() {
            let last = i + 1 == cases.len();
            let next = if last { fail } else { self.b.new_block() };
            self.test(case, ty, value, next, certain && last);
            self.b.jump(matched, pos);
            if !last {
                self.b.enter(next);
            }
        }
        self.b.enter(matched);
    }

    fn match_or(&mut self, holds: Operand, fail: BlockId, pos: Pos) {
        if holds.as_int().is_some_and(|i| i != 0) {
            return;
        }
        let ok = self.b.new_block();
        self.b.branch(holds, ok, fail, pos);
        self.b.enter(ok);
    }

    #[allow(clippy::too_many_arguments)]
    fn test_range(
        &mut self,
        from: Option<&Expr>,
        to: Option<&Expr>,
        inclusive: bool,
        ty: &Ty,
        value: &[Operand],
        fail: BlockId,
        pos: Pos,
    ) {
        let scalar = self.scalar(ty);
        let Some(word) = value.first().copied() else { return };
        let constant = |this: &mut Self, e: &Expr| this.pattern_constant(e).unwrap_or(0);
        if let Some(from) = from {
            let low = constant(self, from);
            // Nothing is below the smallest value.
            if low != Lowerer::minimum(scalar) || matches!(from.kind, ExprKind::Char(_)) && low != 0 {
                let ok = self.compare_scalars(CompareOp::Ge, word, Operand::int(low), scalar, pos);
                self.match_or(ok, fail, pos);
            }
        }
        if let Some(to) = to {
            let high = constant(self, to);
            if !inclusive || high != Lowerer::maximum(scalar) {
                let op = if inclusive { CompareOp::Le } else { CompareOp::Lt };
                let ok = self.compare_scalars(op, word, Operand::int(high), scalar, pos);
                self.match_or(ok, fail, pos);
            }
        }
    }
}

/// Whether a pattern is a value, a range, or alternatives of these: it binds nothing, and alternatives don't overlap in
/// a way that effects could tell.
fn is_value(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Value(_) | PatKind::Range(..) => true,
        PatKind::Or(cases) => cases.iter().all(is_value),
        _ => false,
    }
}
