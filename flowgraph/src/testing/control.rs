//! Statements: assignments, branches and joins, switches, checks, hints, returns.

use super::build::{Builder, Val, both, union};
use crate::ir::*;

/// An arm of a branch: where it ends (if it does), with the variables there.
struct Arm {
    end: Option<BlockId>,
    vars: Vec<Val>,
}

impl Builder<'_, '_> {
    /// Some statements.
    pub fn statements(&mut self, depth: usize) {
        let count = self.source.below(7);
        for _ in 0..count {
            if self.current.is_none() || self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        if self.pure {
            return match self.source.below(6) {
                0..=2 => self.assign(),
                3 => self.overflow(),
                4 if depth > 0 => self.branch_statement(depth),
                5 if depth > 0 => self.any_loop(depth),
                _ => self.assign(),
            };
        }
        match self.source.below(40) {
            0..=2 => self.assign(),
            3..=4 => self.overflow(),
            5..=6 if depth > 0 => self.branch_statement(depth),
            7..=8 if depth > 0 => self.switch_statement(depth),
            9..=11 if depth > 0 => self.any_loop(depth),
            12..=14 => self.load(),
            15..=18 => self.store(),
            19..=20 => self.trap_check(),
            21..=24 => self.call_statement(),
            25..=26 => self.hint(),
            27..=28 if self.containers.len() < 9 => self.slot(),
            29 if depth > 0 => self.leave(depth),
            30 => self.green_statement(),
            31..=32 if self.choices > 0 => self.green_choice(),
            33 => self.trap_check(),
            34 => self.promotion(),
            35 => self.green_statement(),
            36 => self.load(),
            37 => self.trap_check(),
            38 => self.green_statement(),
            39 => self.call_statement(),
            _ => self.assign(),
        }
    }

    /// A variable that is computed when compiling.
    fn green_statement(&mut self) {
        const SCALARS: [Scalar; 10] = [
            Scalar::F64,
            Scalar::I64,
            Scalar::F32,
            Scalar::I64,
            Scalar::F64,
            Scalar::I64,
            Scalar::U16,
            Scalar::F32,
            Scalar::I64,
            Scalar::F64,
        ];
        let scalar = SCALARS[self.source.below(SCALARS.len())];
        self.only_green = true;
        if self.source.chance(1, 3) {
            self.green_load();
        }
        let val = self.expr(scalar, 4);
        self.only_green = false;
        self.declare(val);
        self.concrete_at(self.vars.len() - 1);
    }

    /// A variable that is known when compiling, and one of several, as a red decides.
    fn green_choice(&mut self) {
        self.choices -= 1;
        let cond = self.condition();
        let (then, otherwise, join) = (self.block(), self.block(), self.block());
        self.branch(cond.operand, Edge::new(then, []), Edge::new(otherwise, []));
        for block in [then, otherwise] {
            self.current = Some(block);
            let number = self.constant(Scalar::I64);
            self.jump(join, vec![number.operand]);
        }
        let operand = self.block_param(join, Type::Int);
        self.current = Some(join);
        self.declare(Val { operand, scalar: Scalar::I64, deps: Some(0) });
        self.concrete_at(self.vars.len() - 1);
    }

    /// A statement without branches.
    pub fn straight_statement(&mut self) {
        match self.source.below(8) {
            4 => self.overflow(),
            5 if !self.pure => self.hint(),
            6 if !self.pure => self.straight_access(false),
            7 if !self.pure => self.straight_access(true),
            _ => self.assign(),
        }
    }

    /// `x = …`, of an old variable or a new one.
    fn assign(&mut self) {
        if self.vars.is_empty() || self.source.chance(1, 2) {
            let scalar = self.scalar();
            let val = self.expr(scalar, 3);
            return self.declare(val);
        }
        let index = self.source.below(self.vars.len());
        self.vars[index] = self.expr(self.vars[index].scalar, 3);
    }

    /// `overflowing_add` and its like: two results.
    fn overflow(&mut self) {
        const OPS: [Opcode; 3] = [Opcode::IntAddOvf, Opcode::IntSubOvf, Opcode::IntMulOvf];
        let opcode = OPS[self.source.below(3)];
        self.only_green = !self.pure && self.source.chance(1, 3);
        let (a, b) = (self.expr(Scalar::I64, 1), self.expr(Scalar::I64, 1));
        let asked = std::mem::take(&mut self.only_green);
        let results = self.op_full(opcode, &[a.operand, b.operand], Imm::None, &[Type::Int, Type::Int]);
        // Both results are asked for, or none: so says nothing of what either depends on.
        let deps = both(a.deps, b.deps);
        self.declare(Val { operand: results[0], scalar: Scalar::I64, deps });
        self.declare(Val { operand: results[1], scalar: Scalar::Bool, deps });
        if asked {
            // One of the two.
            let which = self.vars.len() - 1 - self.source.below(2);
            self.concrete_at(which);
        }
    }

    /// `if` with one or two arms.
    pub fn branch_statement(&mut self, depth: usize) {
        let cond = self.condition();
        let (then, otherwise) = (self.block(), self.block());
        self.branch(cond.operand, Edge::new(then, []), Edge::new(otherwise, []));
        let first = self.arm(then, |this| this.statements(depth - 1));
        let two = self.source.chance(1, 2);
        let second = self.arm(otherwise, |this| {
            if two {
                this.statements(depth - 1);
            }
        });
        self.join(vec![first, second], cond.deps.is_some());
    }

    /// `match` on an integer.
    fn switch_statement(&mut self, depth: usize) {
        let val = self.expr(Scalar::I64, 2);
        let val = if self.source.chance(3, 4) { self.small(val, 7) } else { val };
        let mut values: Vec<i64> = Vec::new();
        for _ in 0..self.source.below(4) + 1 {
            let value = if self.source.chance(1, 4) { self.source.int() } else { self.source.below(8) as i64 };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let blocks: Vec<BlockId> = values.iter().map(|_| self.block()).collect();
        let default = self.block();
        let edges: Vec<Edge> = blocks.iter().map(|block| Edge::new(*block, [])).collect();
        let mut cases: Vec<(i64, Edge)> = values.iter().copied().zip(edges).collect();
        if self.source.chance(1, 4) && cases.len() > 1 {
            // `a | b => …`
            cases[0].1 = cases[1].1.clone();
        }
        let targets: Vec<BlockId> = cases.iter().map(|(_, edge)| edge.block).collect();
        let term = Terminator::Switch {
            value: val.operand,
            cases,
            default: Edge::new(default, []),
            time: Time::Now,
            promotion: false,
        };
        self.end(term);
        let mut arms = Vec::new();
        for block in blocks.into_iter().filter(|block| targets.contains(block)).chain([default]) {
            arms.push(self.arm(block, |this| this.statements(depth - 1)));
        }
        self.join(arms, val.deps.is_some());
    }

    fn arm(&mut self, block: BlockId, body: impl FnOnce(&mut Self)) -> Arm {
        let (vars, containers) = (self.vars.clone(), self.containers.len());
        self.current = Some(block);
        body(self);
        // What is declared in the arm ends with it.
        self.containers.truncate(containers);
        let mut end = std::mem::replace(&mut self.vars, vars);
        end.truncate(self.vars.len());
        Arm { end: self.current.take(), vars: end }
    }

    /// Goes on behind some arms: variables that differ become parameters.
    fn join(&mut self, arms: Vec<Arm>, decided: bool) {
        let mut arms: Vec<Arm> = arms.into_iter().filter(|arm| arm.end.is_some()).collect();
        if arms.len() < 2 {
            if let Some(arm) = arms.pop() {
                self.current = arm.end;
                self.vars = arm.vars;
            }
            return;
        }
        let join = self.block();
        let mut args: Vec<Vec<Operand>> = vec![Vec::new(); arms.len()];
        for i in 0..self.vars.len() {
            let first = arms[0].vars[i];
            if arms.iter().all(|arm| arm.vars[i].operand == first.operand) {
                self.vars[i] = first;
                continue;
            }
            let operand = self.block_param(join, first.scalar.ty());
            for (list, arm) in args.iter_mut().zip(&arms) {
                list.push(arm.vars[i].operand);
            }
            let mut deps = union(arms.iter().map(|arm| arm.vars[i].deps));
            // A green that is chosen by a red makes a copy of what follows for each of its values: some, not many.
            if !decided && (self.in_red_loop || !self.source.chance(1, 2)) {
                deps = None;
            }
            self.vars[i] = Val { operand, scalar: first.scalar, deps };
        }
        for (arm, args) in arms.iter().zip(args) {
            self.current = arm.end;
            self.jump(join, args);
        }
        self.current = Some(join);
    }

    /// What ends a run, unless a condition holds: every kind of trap as often as every other.
    pub fn trap_check(&mut self) {
        const WITH_MESSAGE: [TrapKind; 4] =
            [TrapKind::Assert, TrapKind::Panic, TrapKind::Unreachable, TrapKind::Expect];
        const PLAIN: [TrapKind; 5] = [
            TrapKind::UnwrapNone,
            TrapKind::StepByZero,
            TrapKind::ClampOrder,
            TrapKind::SliceStart,
            TrapKind::SliceOrder,
        ];
        match self.source.below(14) {
            n @ 0..=3 => {
                let (cond, a) = (self.likely_condition(), self.expr(Scalar::I64, 1));
                let scalar = SHOWN[self.source.below(SHOWN.len())];
                let shown = self.leaf(scalar);
                let args = vec![(a.operand, Scalar::I64), (shown.operand, shown.scalar)];
                self.check(cond.operand, WITH_MESSAGE[n], Some("wrong: {} {{}} {:?}"), args);
            }
            n @ 4..=8 => {
                let (cond, a, b) = (self.likely_condition(), self.expr(Scalar::I64, 1), self.leaf(Scalar::I64));
                let kind = PLAIN[n - 4];
                let shown = [a, b].map(|val| (val.operand, Scalar::Usize));
                self.check(cond.operand, kind, None, shown[..kind.operands().unwrap_or(0)].to_vec());
            }
            9 => self.unsigned_division(),
            n => self.division(n < 12),
        }
    }

    /// What holds, as often as not, seven times in eight: runs shall not all end early.
    fn likely_condition(&mut self) -> Val {
        if self.source.chance(1, 2) {
            return self.condition();
        }
        let val = self.leaf(Scalar::I64);
        let val = self.small(val, 7);
        let number = Operand::int(self.source.below(8) as i64);
        Val { operand: self.int_op(Opcode::IntNe, val.operand, number), scalar: Scalar::Bool, ..val }
    }

    /// `a / b` or `a % b`, checked. Often enough `b` is 0, or -1 where `a` is the least number.
    fn division(&mut self, divides: bool) {
        let (mut a, mut b) = (self.expr(Scalar::I64, 1), self.leaf(Scalar::I64));
        let (zero, minus_one, min) = (Operand::int(0), Operand::int(-1), Operand::int(i64::MIN));
        match self.source.below(5) {
            1 => b = self.small(b, 3),
            2..=4 => {
                let cond = self.condition();
                let chosen = |this: &mut Self, val: Val, corner| Val {
                    operand: this.op1(Opcode::IntSelect, &[cond.operand, corner, val.operand], Type::Int),
                    scalar: val.scalar,
                    deps: both(cond.deps, val.deps),
                };
                a = chosen(self, a, min);
                b = chosen(self, b, minus_one);
            }
            _ => {}
        }
        let (opcode, by_zero, overflow) = match divides {
            true => (Opcode::IntFloordiv, TrapKind::DivideByZero, TrapKind::DivideOverflow),
            false => (Opcode::IntMod, TrapKind::RemainderByZero, TrapKind::RemainderOverflow),
        };
        let nonzero = self.int_op(Opcode::IntNe, b.operand, zero);
        self.check(nonzero, by_zero, None, vec![]);
        let not_minus_one = self.int_op(Opcode::IntNe, b.operand, minus_one);
        let not_min = self.int_op(Opcode::IntNe, a.operand, min);
        let fits = self.int_op(Opcode::IntOr, not_minus_one, not_min);
        self.check(fits, overflow, None, vec![]);
        let operand = self.int_op(opcode, a.operand, b.operand);
        self.declare(Val { operand, scalar: Scalar::I64, deps: both(a.deps, b.deps) });
    }

    /// The same on unsigned numbers.
    fn unsigned_division(&mut self) {
        let (a, mut b) = (self.expr(Scalar::I64, 1), self.leaf(Scalar::I64));
        if self.source.chance(1, 2) {
            b = self.small(b, 3);
        }
        let (opcode, by_zero) = match self.source.chance(1, 2) {
            true => (Opcode::UintFloordiv, TrapKind::DivideByZero),
            false => (Opcode::UintMod, TrapKind::RemainderByZero),
        };
        let nonzero = self.op1(Opcode::IntIsTrue, &[b.operand], Type::Int);
        self.check(nonzero, by_zero, None, vec![]);
        let operand = self.int_op(opcode, a.operand, b.operand);
        self.declare(Val { operand, scalar: Scalar::U64, deps: both(a.deps, b.deps) });
    }

    /// Words to the compiler.
    fn hint(&mut self) {
        let choice = self.source.below(10);
        let index = self.source.below(self.vars.len());
        let Some(val) = self.vars.get(index).copied() else { return };
        let ty = val.scalar.ty();
        match choice {
            0..=2 => self.concrete(index),
            3 => {
                let operand = self.op1(Opcode::Variable, &[val.operand], ty);
                self.vars[index] = Val { operand, deps: None, ..val };
            }
            4 | 5 => self.promotion(),
            6 => {
                let cond = self.condition();
                let operand = self.op1(Opcode::Likely, &[cond.operand], Type::Int);
                self.declare(Val { operand, ..cond });
            }
            // Questions whose answers differ from engine to engine: asked, and not used.
            7 => _ = self.op1(Opcode::IsConstant, &[val.operand], Type::Int),
            // A constant that doesn't look like one.
            9 if ty == Type::Int => {
                let constant = Operand::int(i64::from(self.source.byte()));
                let hidden = self.int_op(Opcode::IntXor, val.operand, constant);
                let operand = self.int_op(Opcode::IntXor, hidden, val.operand);
                self.op_full(Opcode::RecordExactValue, &[operand, constant], Imm::None, &[]);
                self.declare(Val { operand, scalar: Scalar::I64, deps: None });
            }
            8 => _ = self.op_full(Opcode::WeAreJitted, &[], Imm::None, &[Type::Int]),
            _ => self.concrete(index),
        }
    }

    /// `promote` of one of the newest variables: a loop's counter, the result of a call.
    fn promotion(&mut self) {
        let ints: Vec<Val> = self.vars.iter().rev().filter(|val| val.scalar.ty() == Type::Int).copied().collect();
        let newest = self.source.below(ints.len().min(4));
        let Some(val) = ints.get(newest).copied().filter(|_| self.promotions > 0) else { return };
        self.promotions -= 1;
        let operand = self.op1(Opcode::Promote, &[val.operand], Type::Int);
        self.declare(Val { operand, deps: Some(0), ..val });
    }

    /// `concrete` of a variable, or of the newest one of which it may be asked.
    fn concrete(&mut self, index: usize) {
        if !self.concrete_at(index) {
            let newest = (0..self.vars.len()).rev().find(|index| self.may_be_asked_for(&self.vars[*index]));
            newest.into_iter().for_each(|index| _ = self.concrete_at(index));
        }
    }

    fn may_be_asked_for(&self, val: &Val) -> bool {
        val.deps.is_some_and(|deps| deps & !self.allowed == 0) && val.operand.value().is_some()
    }

    /// `concrete` of a variable, if it may be asked of it.
    pub fn concrete_at(&mut self, index: usize) -> bool {
        let Some(val) = self.vars.get(index).copied().filter(|val| self.may_be_asked_for(val)) else { return false };
        self.demanded |= val.deps.unwrap_or_default();
        let operand = self.op1(Opcode::Concrete, &[val.operand], val.scalar.ty());
        self.declare(Val { operand, ..val });
        true
    }

    /// `return`, `break` or `continue`, under a condition.
    fn leave(&mut self, depth: usize) {
        let cond = self.condition();
        let (then, otherwise) = (self.block(), self.block());
        self.branch(cond.operand, Edge::new(then, []), Edge::new(otherwise, []));
        let arm = self.arm(then, |this| {
            this.statements(depth - 1);
            let (how, index) = (this.source.below(3), this.source.below(this.loops.len()));
            // The innermost loop first.
            let index = this.loops.len().wrapping_sub(1 + index);
            match this.loops.get_mut(index) {
                Some(around) if how > 0 => {
                    around.jumps = true;
                    let (to, accumulator) =
                        if how == 1 { (around.exit, None) } else { (around.latch, around.accumulator) };
                    let carried = around.carried.clone();
                    let mut args = this.values_of(&carried);
                    if let Some((place, value)) = accumulator {
                        args[place] = value;
                    }
                    this.jump(to, args);
                }
                _ => this.return_statement(),
            }
        });
        debug_assert!(arm.end.is_none());
        self.current = Some(otherwise);
    }

    /// `return`.
    pub fn return_statement(&mut self) {
        if self.current.is_none() {
            return;
        }
        let values: Vec<Val> = self.results.clone().into_iter().map(|scalar| self.expr(scalar, 1)).collect();
        self.returned.push(values.iter().map(|val| val.deps).collect());
        self.end(Terminator::Return(values.iter().map(|val| val.operand).collect()));
    }
}

/// What messages show. (A NaN is shown as `NaN` whatever its bits.)
const SHOWN: [Scalar; 6] = [Scalar::U8, Scalar::Bool, Scalar::I32, Scalar::F64, Scalar::U64, Scalar::F32];
