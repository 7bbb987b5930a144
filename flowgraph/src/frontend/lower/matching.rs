//! `match` and patterns.
//!
//! A match on an enum with payloads goes by the tag first, to the arms that may match there. Otherwise arms are tried
//! in order; a run of arms whose patterns are plain values becomes one switch. The last arm of a match that covers
//! everything isn't tested.

use super::super::enums::Shape;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{Arm, CompareOp, Expr, ExprKind, LocalId, Pat, PatKind};
use super::super::types::Ty;
use super::alternatives::{alternatives, bindings, heads, is_bare, is_or};
use super::exhaustive::{Coverage, EMPTY_RANGE, number};
use super::subject::{Subject, enum_behind};
use super::{Lowerer, Val};
use crate::ir::{BlockId, Const, Opcode, Operand, Scalar, TrapKind};
use std::rc::Rc;

/// How a pattern is tested.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// Where to go if the value doesn't match.
    pub(super) fail: BlockId,
    /// It is known to match.
    pub(super) certain: bool,
    /// What shared references in it point to may change when they are gone.
    pub(super) changes: bool,
    /// The pattern's variables are bound in several places, which come together.
    pub(super) joined: bool,
}

impl Goal {
    pub(super) fn new(fail: BlockId, certain: bool, changes: bool) -> Goal {
        Goal { fail, certain, changes, joined: false }
    }
}

impl Lowerer<'_, '_> {
    pub(super) fn match_value(&mut self, e: &Expr, scrutinee: &Expr, arms: &[Arm]) -> Val {
        let pos = e.pos;
        let vars = self.temporaries_for(e);
        let changes = self.may_change(scrutinee);
        let subject = self.subject(scrutinee);
        let ty = self.ty(&scrutinee.ty);
        if ty == Ty::Never {
            return self.nothing(&e.ty);
        }
        let coverage = self.coverage(arms, &ty);
        if let Coverage::Partial(witness) = &coverage {
            let detail = format!("this match doesn't cover every value: `{witness}` is missing");
            self.refuse(pos, Reason::NotExhaustive, &detail);
        }
        let full = coverage == Coverage::Full;
        let join = self.b.new_block();
        let pats: Vec<&Pat> = arms.iter().map(|a| &a.pat).collect();
        let (subject, ty) = self.look_through(subject, &ty, &pats, changes, scrutinee.pos);
        let subject = self.tagged(subject, &ty, scrutinee.pos);
        let opened = matches!(subject, Subject::Ref(_)) || !matches!(ty, Ty::Ref(..));
        if let Some(shape) = enum_behind(self.p, &ty).filter(|s| s.has_payload() && opened) {
            self.dispatch(arms, &subject, &ty, &shape, &vars, join, full, changes, pos);
            self.b.enter(join);
            return self.read_all(&vars);
        }
        let mut at = 0;
        while at < arms.len() && !self.b.is_dead() {
            let run = self.switchable(&arms[at..], &ty);
            let run = if run.iter().map(|(values, _)| values.len()).sum::<usize>() > 1 { run.len() } else { 0 };
            if run > 0 {
                let complete = full && at + run == arms.len();
                let value = self.leaves_of(&subject, pos);
                self.switch_arms(&arms[at..at + run], &ty, &value, &vars, join, complete, pos);
                at += run;
                continue;
            }
            let arm = &arms[at];
            let certain = at + 1 == arms.len() && full && arm.guard.is_none();
            let (body, next) = (self.b.new_block(), self.b.new_block());
            self.test_arm(arm, &ty, &subject, body, Goal::new(next, certain, changes));
            self.b.enter(body);
            self.arm_body(arm, &vars, join);
            self.b.enter(next);
            at += 1;
        }
        self.uncovered(pos);
        self.b.enter(join);
        self.read_all(&vars)
    }

    /// The end of a match that something wasn't covered by: there is no such thing.
    fn uncovered(&mut self, pos: Pos) {
        if !self.b.is_dead() {
            let message = Some("internal error: entered unreachable code".to_owned());
            self.trap_now(TrapKind::Unreachable, message, Vec::new(), pos);
        }
    }

    /// Goes by the tag, and in each variant tries the arms that may match it.
    #[allow(clippy::too_many_arguments)]
    fn dispatch(
        &mut self,
        arms: &[Arm],
        subject: &Subject,
        ty: &Ty,
        shape: &Shape,
        vars: &[super::Var],
        join: BlockId,
        full: bool,
        changes: bool,
        pos: Pos,
    ) {
        let enum_subject = {
            let mut at = subject;
            while let Subject::Ref(inner) = at {
                at = inner;
            }
            at.clone()
        };
        let tag = self.tag_of(&enum_subject, shape, pos);
        let heads: Vec<Option<Vec<usize>>> = arms.iter().map(|a| heads(&a.pat)).collect();
        let applies = |arm: usize, variant: usize| heads[arm].as_ref().is_none_or(|h| h.contains(&variant));
        // The variants that some arm names, and the arms for each; all others have the same ones.
        let named: Vec<usize> =
            (0..shape.variants.len()).filter(|v| heads.iter().flatten().any(|h| h.contains(v))).collect();
        let rest: Vec<usize> = (0..shape.variants.len()).filter(|v| !named.contains(v)).collect();
        let known = tag.as_int().and_then(|t| shape.index_of(t));
        let mut cases: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        for variant in named {
            if known.is_none_or(|k| k == variant) {
                cases.push((Some(variant), (0..arms.len()).filter(|a| applies(*a, variant)).collect()));
            }
        }
        if known.map_or(!rest.is_empty(), |k| rest.contains(&k)) {
            let variant = if let [only] = rest.as_slice() { Some(*only) } else { known };
            cases.push((variant, (0..arms.len()).filter(|a| heads[*a].is_none()).collect()));
        }
        let times = |arm: usize| cases.iter().filter(|(_, list)| list.contains(&arm)).count();
        let bodies: Vec<BlockId> = arms.iter().map(|_| self.b.new_block()).collect();
        let shared: Vec<bool> = (0..arms.len()).map(|a| times(a) > 1 || is_or(&arms[a].pat)).collect();
        for (arm, _) in arms.iter().zip(&shared).filter(|(_, shared)| **shared) {
            self.place_slots(&arm.pat);
        }
        // Where a variant's first arm asks for no more than the variant, the tag leads to its body.
        let direct =
            |list: &[usize]| list.first().copied().filter(|a| arms[*a].guard.is_none() && is_bare(&arms[*a].pat));
        let blocks: Vec<BlockId> = cases
            .iter()
            .map(|(_, list)| match direct(list) {
                Some(arm) => bodies[arm],
                None => self.b.new_block(),
            })
            .collect();
        let end = self.b.new_block();
        match blocks.split_last() {
            Some((default, before)) => {
                let targets: Vec<(i64, BlockId)> = cases
                    .iter()
                    .zip(before)
                    .filter_map(|((variant, _), block)| Some((shape.variants[(*variant)?].discriminant, *block)))
                    .collect();
                self.branch_on_tag(tag, shape, &targets, *default, pos);
            }
            None => self.b.jump(end, pos),
        }
        for ((variant, list), block) in cases.iter().zip(blocks) {
            if direct(list).is_some() {
                continue;
            }
            self.b.enter(block);
            let subject = match variant {
                Some(v) => subject.with_tag(shape.variants[*v].discriminant),
                None => subject.clone(),
            };
            for (i, arm) in list.iter().enumerate() {
                if self.b.is_dead() {
                    break;
                }
                let last = i + 1 == list.len();
                let certain = last && full && arms[*arm].guard.is_none();
                let fail = self.b.new_block();
                let goal = Goal { joined: shared[*arm], ..Goal::new(fail, certain, changes) };
                self.test_arm(&arms[*arm], ty, &subject, bodies[*arm], goal);
                self.b.enter(fail);
            }
            self.b.jump(end, pos);
        }
        for (arm, body) in arms.iter().zip(bodies) {
            self.b.enter(body);
            if !self.b.is_dead() {
                self.arm_body(arm, vars, join);
            }
        }
        self.b.enter(end);
        self.uncovered(pos);
    }

    /// Tests an arm's pattern and guard: goes to `body` where they hold.
    fn test_arm(&mut self, arm: &Arm, ty: &Ty, subject: &Subject, body: BlockId, goal: Goal) {
        // Alternatives that may overlap try the guard once each, as Rust does.
        let alternatives = match arm.guard.is_some().then(|| alternatives(&arm.pat)) {
            None => vec![arm.pat.clone()],
            Some(Some(all)) => all,
            Some(None) => {
                let detail = "with a guard and so many alternatives";
                return self.refuse(arm.pat.pos, Reason::Pattern, detail);
            }
        };
        let goal = Goal { joined: goal.joined || alternatives.len() > 1, ..goal };
        if alternatives.len() > 1 {
            self.place_slots(&arm.pat);
        }
        for (i, pat) in alternatives.iter().enumerate() {
            let last = i + 1 == alternatives.len();
            let fail = if last { goal.fail } else { self.b.new_block() };
            self.test(pat, ty, subject, Goal { fail, ..goal });
            self.settle(pat);
            match &arm.guard {
                Some(guard) => self.condition(guard, body, fail),
                None => self.b.jump(body, arm.pat.pos),
            }
            if !last {
                self.b.enter(fail);
            }
        }
    }

    /// Makes the slots of a pattern's variables that need one, before it is tested in several places.
    fn place_slots(&mut self, pat: &Pat) {
        let mut bound = Vec::new();
        bindings(pat, &mut bound);
        for (id, pos) in bound {
            if self.needs_slot(id) && !self.placed.contains(&id) {
                let (name, ty) = (self.locals[id].name.clone(), self.locals[id].ty.clone());
                let mem = self.new_slot(&ty, &name, pos);
                self.slots[id] = Some(mem);
                self.placed.insert(id);
            }
        }
    }

    fn arm_body(&mut self, arm: &Arm, vars: &[super::Var], join: BlockId) {
        let value = self.value(&arm.body);
        self.write_all(vars, &value);
        self.b.jump(join, arm.body.pos);
    }

    /// The longest run of arms without guards whose patterns are lists of values of a single word.
    fn switchable(&mut self, arms: &[Arm], ty: &Ty) -> Vec<(Vec<i64>, Option<usize>)> {
        let mut out = Vec::new();
        if !matches!(ty, Ty::Enum(_)) && ty.as_scalar().is_none_or(Scalar::is_float) {
            return out;
        }
        for arm in arms {
            let mut values = Vec::new();
            if arm.guard.is_some() || !self.pattern_values(&arm.pat, &mut values) {
                break;
            }
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
            PatKind::Variant(index, _) => match self.shape_of(&pat.ty) {
                Some(shape) if !shape.has_payload() => {
                    out.push(shape.variants[*index].discriminant);
                    true
                }
                _ => false,
            },
            PatKind::Or(cases) => cases.iter().all(|c| self.pattern_values(c, out)),
            PatKind::Bind(_, Some(inner)) => self.pattern_values(inner, out),
            _ => false,
        }
    }

    fn shape_of(&mut self, ty: &Ty) -> Option<Rc<Shape>> {
        let ty = self.ty(ty);
        self.p.shape(&ty)
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
        let mut bound = Vec::new();
        bindings(pat, &mut bound);
        for (id, pos) in bound {
            if self.elements[id].is_some() {
                continue;
            }
            let vars = self.vars_of(id);
            let value = self.read_all(&vars);
            self.define(id, Some(&value), pos);
        }
    }

    /// Goes to `goal.fail` if the subject doesn't match, and goes on with the pattern's variables bound if it does.
    pub(super) fn test(&mut self, pat: &Pat, ty: &Ty, subject: &Subject, goal: Goal) {
        let pos = pat.pos;
        match &pat.kind {
            PatKind::Wild => {}
            PatKind::Bind(id, inner) => {
                if !self.placed.contains(id) {
                    self.slots[*id] = None;
                }
                self.elements[*id] = None;
                self.tainted[*id] |= goal.changes && ty.has_reference(true);
                if self.is_large(ty) {
                    let detail = format!("a value of the type {ty} is too large to be taken out by a pattern");
                    return self.refuse(pos, Reason::LargeValue, &detail);
                }
                let value = self.leaves_of(subject, pos);
                self.bind(*id, &value);
                if let Some(inner) = inner {
                    self.test(inner, ty, subject, goal);
                }
            }
            PatKind::BindRef(id, inner) => {
                self.bind_reference(*id, ty, subject, goal, pos);
                if let Some(inner) = inner {
                    self.test(inner, ty, subject, goal);
                }
            }
            PatKind::Value(e) => {
                if goal.certain {
                    return;
                }
                let wanted = self.value(e);
                if wanted.iter().any(|w| w.constant().is_some_and(is_nan)) {
                    self.refuse(pos, Reason::Pattern, "NaN, which equals nothing,");
                }
                let value = self.leaves_of(subject, pos);
                let equal = self.compare(CompareOp::Eq, &value, &wanted, ty, pos);
                self.match_or(equal, goal.fail, pos);
            }
            PatKind::Range(from, to, inclusive) => {
                if !goal.certain {
                    let value = self.leaves_of(subject, pos);
                    self.test_range(from.as_deref(), to.as_deref(), *inclusive, ty, &value, goal.fail, pos);
                }
            }
            PatKind::Fields(fields) => {
                let types = self.p.fields_of(ty);
                for (i, p) in fields {
                    let part = self.field_of(subject, ty, *i, p.pos);
                    let ty = types.get(*i).cloned().unwrap_or(Ty::Error);
                    self.test_part(p, &ty, part, goal);
                }
            }
            PatKind::Elements(head, tail) => {
                let Ty::Array(elem, n) = ty else { return };
                let from_end = (*n as usize).saturating_sub(tail.len());
                let places = (0..head.len()).chain(from_end..from_end + tail.len());
                for (i, p) in places.zip(head.iter().chain(tail)) {
                    let part = self.element_of(subject, elem, i, p.pos);
                    self.test_part(p, elem, part, goal);
                }
            }
            PatKind::Variant(index, fields) => {
                let Some(shape) = self.p.shape(ty) else { return };
                if !goal.certain {
                    let tag = self.tag_of(subject, &shape, pos);
                    self.test_tag(tag, &shape, *index, goal.fail, pos);
                }
                for (i, p) in fields {
                    let ty = shape.variants[*index].types.get(*i).cloned().unwrap_or(Ty::Error);
                    let part = self.variant_field(subject, &shape, *index, *i, p.pos);
                    self.test_part(p, &ty, part, goal);
                }
            }
            PatKind::Deref(inner) => {
                let Ty::Ref(_, to) = ty else { return };
                let to = self.ty(to);
                if let Some(part) = self.behind(subject, ty, goal.changes, pos) {
                    self.test_part(inner, &to, part, goal);
                }
            }
            PatKind::Or(cases) => self.test_or(pat, cases, ty, subject, goal),
        }
    }

    /// Tests a part that may be in memory: what is looked at more than once is read once.
    fn test_part(&mut self, pat: &Pat, ty: &Ty, part: Subject, goal: Goal) {
        let part = match (&part, &pat.kind) {
            (_, PatKind::Wild | PatKind::BindRef(..)) => part,
            (Subject::Mem(_), PatKind::Variant(..) | PatKind::Or(_)) if self.is_sum(ty) => {
                self.tagged(part, ty, pat.pos)
            }
            (Subject::Mem(_), _) if matches!(ty, Ty::Scalar(_) | Ty::Enum(_) | Ty::Ref(..)) && !self.is_sum(ty) => {
                Subject::Value(self.leaves_of(&part, pat.pos))
            }
            _ => part,
        };
        self.test(pat, ty, &part, goal);
    }

    /// Goes on if the tag is that of `variant`.
    fn test_tag(&mut self, tag: Operand, shape: &Shape, variant: usize, fail: BlockId, pos: Pos) {
        let wanted = shape.variants[variant].discriminant;
        if shape.variants.len() == 1 || tag.as_int() == Some(wanted) {
            return;
        }
        let ok = self.b.new_block();
        self.branch_on_tag(tag, shape, &[(wanted, ok)], fail, pos);
        self.b.enter(ok);
    }

    fn bind_reference(&mut self, id: LocalId, ty: &Ty, subject: &Subject, goal: Goal, pos: Pos) {
        if !self.placed.contains(&id) {
            self.slots[id] = None;
        }
        self.elements[id] = None;
        if !goal.joined && self.refer(id, subject) {
            return;
        }
        let mem = match subject {
            Subject::Mem(mem) | Subject::Tagged(mem, _) => mem.clone(),
            other => {
                // A temporary value, which lives as long as the match.
                let value = self.leaves_of(other, pos);
                self.spill(&value, ty, pos)
            }
        };
        self.tainted[id] = mem.kind != crate::ir::MemKind::Immutable;
        let address = self.address(&mem, pos);
        self.bind(id, &[address]);
    }

    fn test_or(&mut self, pat: &Pat, cases: &[Pat], ty: &Ty, subject: &Subject, goal: Goal) {
        let pos = pat.pos;
        let mut bound = Vec::new();
        bindings(pat, &mut bound);
        if goal.certain && bound.is_empty() {
            return;
        }
        let goal = Goal { joined: true, ..goal };
        if !goal.certain && bound.is_empty() && self.leaf_count(ty) == 1 && !matches!(ty, Ty::Ref(..)) {
            let mut values = Vec::new();
            if self.pattern_values(pat, &mut values) && values.len() > 1 {
                let matched = self.b.new_block();
                let mut targets: Vec<(i64, BlockId)> = Vec::new();
                for v in values {
                    if !targets.iter().any(|(known, _)| *known == v) {
                        targets.push((v, matched));
                    }
                }
                let value = self.leaves_of(subject, pos);
                self.b.switch(value[0], &targets, goal.fail, pos);
                return self.b.enter(matched);
            }
        }
        self.place_slots(pat);
        let matched = self.b.new_block();
        for (i, case) in cases.iter().enumerate() {
            let last = i + 1 == cases.len();
            let fail = if last { goal.fail } else { self.b.new_block() };
            self.test(case, ty, subject, Goal { fail, certain: goal.certain && last, ..goal });
            self.b.jump(matched, pos);
            if !last {
                self.b.enter(fail);
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
        if let (Some(from), Some(to)) = (from, to) {
            let (low, high) = (number(constant(self, from), scalar), number(constant(self, to), scalar));
            if low > high || (low == high && !inclusive) {
                self.refuse(pos, Reason::Pattern, EMPTY_RANGE);
            }
        }
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

/// Whether a constant is a float that isn't a number.
fn is_nan(constant: Const) -> bool {
    match constant {
        Const::Float(bits) => f64::from_bits(bits).is_nan(),
        Const::Single(bits) => f32::from_bits(bits).is_nan(),
        _ => false,
    }
}
