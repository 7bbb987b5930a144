//! Loops. What a `for` counts with is hidden from the body; no end of a range overflows.

use super::super::refusal::Pos;
use super::super::tree::{CompareOp, Expr, Pat, PatKind, Range};
use super::super::types::Ty;
use super::place::{Element, Mem};
use super::{LoopTargets, Lowerer, Val};
use crate::ir::{BlockId, Opcode, Operand, Scalar, TrapKind, Type};

impl Lowerer<'_, '_> {
    pub(super) fn loop_value(&mut self, e: &Expr, id: usize, body: &Expr) -> Val {
        let vars = self.temporaries_for(e);
        let (head, exit) = (self.b.new_block(), self.b.new_block());
        self.b.jump(head, e.pos);
        self.b.switch_to(head);
        self.loops[id] = Some(LoopTargets { exit, again: Some(head), value: vars.clone() });
        self.value(body);
        self.b.jump(head, e.pos);
        self.b.seal(head);
        self.b.enter(exit);
        self.read_all(&vars)
    }

    pub(super) fn while_loop(&mut self, id: usize, cond: &Expr, body: &Expr, pos: Pos) -> Val {
        let (head, inside, exit) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.b.jump(head, pos);
        self.b.switch_to(head);
        self.loops[id] = Some(LoopTargets { exit, again: Some(head), value: Vec::new() });
        self.condition(cond, inside, exit);
        self.b.enter(inside);
        self.value(body);
        self.b.jump(head, pos);
        self.b.seal(head);
        self.b.enter(exit);
        Val::new()
    }

    pub(super) fn for_range(&mut self, id: usize, pat: &Pat, range: &Range, body: &Expr, pos: Pos) -> Val {
        let one = |v: Val| v.first().copied().unwrap_or(Operand::int(0));
        let from = one(self.value(&range.from));
        let to = one(self.value(&range.to));
        let scalar = self.scalar(&range.from.ty);
        let step = range.step.as_ref().map(|s| one(self.value(s)));
        if let Some(step) = step {
            let zero = self.op1(Opcode::IntIsZero, step, range.pos);
            self.check_not(zero, TrapKind::StepByZero, &[], range.pos);
        }
        let walk = Walk { from, to, scalar, step: step.unwrap_or(Operand::int(1)), range, pos };
        match walk.tested_on_top() {
            Some(op) => self.walk_top(id, pat, &walk, op, body),
            None => self.walk_bottom(id, pat, &walk, body),
        }
        Val::new()
    }

    fn targets(&mut self, id: usize) -> (BlockId, BlockId, BlockId) {
        let (inside, again, exit) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.loops[id] = Some(LoopTargets { exit, again: Some(again), value: Vec::new() });
        (inside, again, exit)
    }

    /// The loop of which the test is at the head, since the counter can be stepped beyond the end.
    fn walk_top(&mut self, id: usize, pat: &Pat, w: &Walk<'_>, op: CompareOp, body: &Expr) {
        let pos = w.pos;
        let counter = self.b.new_var(Type::Int);
        let head = self.b.new_block();
        let (inside, again, exit) = self.targets(id);
        self.b.write(counter, if w.range.reversed { w.to } else { w.from });
        self.b.jump(head, pos);
        self.b.switch_to(head);
        let at = self.b.read(counter);
        let limit = if w.range.reversed { w.from } else { w.to };
        let more = self.compare_scalars(op, at, limit, w.scalar, pos);
        self.b.branch(more, inside, exit, pos);
        self.b.enter(inside);
        // An exclusive range walked downwards steps before the round.
        let early = w.range.reversed && !w.range.inclusive;
        let at = if early { self.op2(Opcode::IntSub, at, w.step, pos) } else { at };
        self.b.write(counter, at);
        self.round(pat, at, body, again, pos);
        let at = self.b.read(counter);
        let next = match (early, w.range.reversed) {
            (true, _) => at,
            (_, true) => self.op2(Opcode::IntSub, at, w.step, pos),
            _ => self.op2(Opcode::IntAdd, at, w.step, pos),
        };
        self.b.write(counter, next);
        self.b.jump(head, pos);
        self.b.seal(head);
        self.b.enter(exit);
    }

    /// One round with the value `at`, up to where the next one is prepared.
    fn round(&mut self, pat: &Pat, at: Operand, body: &Expr, again: BlockId, pos: Pos) {
        let ty = self.ty(&pat.ty);
        self.bind_all(pat, &ty, Val::from_slice(&[at]));
        self.value(body);
        self.b.jump(again, pos);
        self.b.enter(again);
    }

    /// The loop that is entered if there is a first value, and left behind the last one, without stepping.
    fn walk_bottom(&mut self, id: usize, pat: &Pat, w: &Walk<'_>, body: &Expr) {
        let pos = w.pos;
        let counter = self.b.new_var(Type::Int);
        let op = if w.range.inclusive { CompareOp::Le } else { CompareOp::Lt };
        let start = self.b.new_block();
        let (inside, again, exit) = self.targets(id);
        let any = self.compare_scalars(op, w.from, w.to, w.scalar, pos);
        self.b.branch(any, start, exit, pos);
        self.b.enter(start);
        // The distance from the first to the last value that the plain range has, as an unsigned word.
        let end = if w.range.inclusive { w.to } else { self.op2(Opcode::IntSub, w.to, Operand::int(1), pos) };
        let first = match (w.range.reversed, w.range.step_first) {
            (false, _) => w.from,
            (true, false) => end,
            (true, true) => {
                let distance = self.op2(Opcode::IntSub, end, w.from, pos);
                let steps = self.op2(Opcode::UintFloordiv, distance, w.step, pos);
                let whole = self.op2(Opcode::IntMul, steps, w.step, pos);
                self.op2(Opcode::IntAdd, w.from, whole, pos)
            }
        };
        self.b.write(counter, first);
        self.b.jump(inside, pos);
        self.b.switch_to(inside);
        let at = self.b.read(counter);
        self.round(pat, at, body, again, pos);
        let at = self.b.read(counter);
        let left = if w.range.reversed {
            self.op2(Opcode::IntSub, at, w.from, pos)
        } else {
            self.op2(Opcode::IntSub, end, at, pos)
        };
        let (next, next_block) = (self.b.new_block(), inside);
        let more = match w.step.as_int() {
            Some(1) => self.op2(Opcode::IntNe, left, Operand::int(0), pos),
            _ => self.op2(Opcode::UintGe, left, w.step, pos),
        };
        self.b.branch(more, next, exit, pos);
        self.b.enter(next);
        let opcode = if w.range.reversed { Opcode::IntSub } else { Opcode::IntAdd };
        let stepped = self.op2(opcode, at, w.step, pos);
        self.b.write(counter, stepped);
        self.b.jump(next_block, pos);
        self.b.seal(inside);
        self.b.enter(exit);
    }

    pub(super) fn for_slice(&mut self, id: usize, pat: &Pat, subject: &Expr, body: &Expr, pos: Pos) -> Val {
        let (array, len, by_value) = match self.ty(&subject.ty) {
            Ty::Slice(_, elem) => {
                let kind = self.pointee_kind(subject);
                let slice = self.value(subject);
                let [address, len] = slice.as_slice() else { return Val::new() };
                (Mem::new(*address, kind, Ty::Array(elem, 0)), *len, false)
            }
            ty @ Ty::Array(..) => {
                let n = if let Ty::Array(_, n) = &ty { *n } else { 0 };
                let mem = match &subject.kind {
                    super::super::tree::ExprKind::Const(id) => match self.p.const_data(*id) {
                        Some(address) => Mem::new(Operand::Const(address), crate::ir::MemKind::Immutable, ty),
                        None => return Val::new(),
                    },
                    _ if self.is_large(&subject.ty) => {
                        // A copy: the array itself may be changed in the loop.
                        let mem = self.new_slot(&ty, "(array)", pos);
                        self.value_into(subject, &mem, true);
                        mem
                    }
                    _ => {
                        let value = self.value(subject);
                        self.spill(&value, &ty, pos)
                    }
                };
                (mem, Operand::int(n as i64), true)
            }
            _ => return Val::new(),
        };
        let counter = self.b.new_var(Type::Int);
        let head = self.b.new_block();
        let (inside, again, exit) = self.targets(id);
        self.b.write(counter, Operand::int(0));
        self.b.jump(head, pos);
        self.b.switch_to(head);
        let i = self.b.read(counter);
        let more = self.compare_scalars(CompareOp::Lt, i, len, Scalar::Usize, pos);
        self.b.branch(more, inside, exit, pos);
        self.b.enter(inside);
        let element = self.project_index(&array, i, pos);
        self.bind_element(pat, element, by_value, pos);
        self.value(body);
        self.b.jump(again, pos);
        self.b.enter(again);
        let i = self.b.read(counter);
        let next = self.op2(Opcode::IntAdd, i, Operand::int(1), pos);
        self.b.write(counter, next);
        self.b.jump(head, pos);
        self.b.seal(head);
        self.b.enter(exit);
        Val::new()
    }

    fn bind_element(&mut self, pat: &Pat, element: Mem, by_value: bool, pos: Pos) {
        let ty = self.ty(&pat.ty);
        match &pat.kind {
            PatKind::Wild => {}
            _ if by_value => {
                let value = self.read(super::place::Place::Mem(element), pos);
                self.bind_all(pat, &ty, value);
            }
            PatKind::Deref(inner) => {
                let value = self.read(super::place::Place::Mem(element.clone()), pos);
                self.bind_all(inner, &element.ty, value);
            }
            PatKind::Bind(id, None) if !self.locals[*id].mutable && !self.locals[*id].addressed => {
                self.elements[*id] = Some(Element { mem: element });
            }
            _ => {
                let address = self.address(&element, pos);
                self.bind_all(pat, &ty, Val::from_slice(&[address]));
            }
        }
    }
}

/// A range and the values of its ends.
struct Walk<'a> {
    from: Operand,
    to: Operand,
    scalar: Scalar,
    step: Operand,
    range: &'a Range,
    pos: Pos,
}

impl Walk<'_> {
    /// The comparison of the counter with the limit, if the counter may be stepped beyond it without overflow.
    fn tested_on_top(&self) -> Option<CompareOp> {
        let r = self.range;
        let step = self.step.as_int()?;
        let limit = if r.reversed { self.from } else { self.to };
        let wide = self.scalar.bits() == 64;
        // How far beyond the limit the counter may come.
        let room = |limit: i64| {
            if self.scalar.is_signed() || !wide {
                let end = if r.reversed { limit.checked_sub(step) } else { limit.checked_add(step) };
                end.is_some() && (self.scalar.is_signed() || !r.reversed || limit >= step)
            } else if r.reversed {
                (limit as u64).checked_sub(step as u64).is_some()
            } else {
                (limit as u64).checked_add(step as u64).is_some()
            }
        };
        let safe_step = (0..=i64::from(i32::MAX)).contains(&step);
        let op = match (r.reversed, r.inclusive) {
            (false, false) => CompareOp::Lt,
            (false, true) => CompareOp::Le,
            (true, false) => CompareOp::Gt,
            (true, true) => CompareOp::Ge,
        };
        // One step beyond an exclusive end is the end; narrow counters have room in their words.
        let exact = !r.inclusive && step == 1;
        let narrow_up = !wide && !r.reversed;
        let narrow_down = !wide && self.scalar.is_signed();
        let stepped_down = r.reversed && step != 1;
        let fits = exact
            || (safe_step && (narrow_up || (narrow_down && r.reversed)))
            || (safe_step && limit.as_int().is_some_and(room));
        (fits && !stepped_down).then_some(op)
    }
}
