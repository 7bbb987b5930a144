//! Loops: over reds, in several shapes, and over greens.

use super::build::{Around, Builder, Val, both};
use crate::ir::*;

/// Where a loop over reds asks whether it goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoopShape {
    /// `while i < n { … }`
    While,
    /// `while i != 0 { …; i -= 1 }`
    Down,
    /// `loop { …; if i >= n { break } … }`
    Middle,
    /// `loop { …; if i >= n { break } }`
    Last,
}

impl Builder<'_, '_> {
    /// A loop over a red or over a green.
    pub fn any_loop(&mut self, depth: usize) {
        let green = !self.pure && self.source.chance(1, 3);
        if self.source.chance(1, 5) {
            self.self_loop(green);
        } else if green {
            self.green_loop(depth);
        } else {
            self.red_loop(depth);
        }
    }

    /// The variables that a loop carries: those that it may change.
    fn carried(&mut self) -> Vec<usize> {
        let mut carried: Vec<usize> = Vec::new();
        for _ in 0..self.source.below(5) {
            let index = self.source.below(self.vars.len());
            if index < self.vars.len() && !carried.contains(&index) {
                carried.push(index);
            }
        }
        carried
    }

    /// Head with a counter and the carried variables; latch and exit with the carried variables.
    fn loop_blocks(&mut self, carried: &[usize]) -> [BlockId; 3] {
        let blocks = [self.block(), self.block(), self.block()];
        self.block_param(blocks[0], Type::Int);
        for block in blocks {
            for i in carried {
                self.block_param(block, self.vars[*i].scalar.ty());
            }
        }
        blocks
    }

    /// The parameters of `block` from `skip` on become the values of the carried variables, of unknown origin.
    fn take_params(&mut self, block: BlockId, skip: usize, carried: &[usize]) {
        for (i, var) in carried.iter().enumerate() {
            let operand = Operand::Value(self.graph.block(block).params[skip + i]);
            self.vars[*var] = Val { operand, deps: None, ..self.vars[*var] };
        }
    }

    /// Statements of a loop, with `break` and `continue`. What is declared in them stays until the loop's end.
    fn body(&mut self, depth: usize, around: Around) -> Around {
        self.loops.push(around);
        if depth > 1 && self.budget > 0 && self.source.chance(1, if self.merge_points { 2 } else { 4 }) {
            self.any_loop(depth - 1);
        }
        if !self.pure && self.current.is_some() && self.source.chance(1, 3) {
            self.straight_access(true);
        }
        if depth > 1 && self.budget > 0 && self.current.is_some() && self.source.chance(1, 2) {
            self.budget -= 1;
            self.branch_statement(depth - 1);
        }
        self.statements(depth - 1);
        match self.loops.pop() {
            Some(around) => around,
            None => unreachable!("every loop ends its own body"),
        }
    }

    /// `loop { …; i += 1; if i >= n { break } }` in a single block.
    fn self_loop(&mut self, green: bool) {
        let bound = if green { self.green_bound() } else { self.expr(Scalar::I64, 1) };
        let bound = self.small(bound, 3);
        let carried = self.carried();
        self.forget_greens(&carried, green);
        let (head, exit) = (self.block(), self.block());
        self.block_param(head, Type::Int);
        for i in &carried {
            self.block_param(head, self.vars[*i].scalar.ty());
            self.block_param(exit, self.vars[*i].scalar.ty());
        }
        let start = if self.merge_points && !green {
            self.op1(Opcode::Variable, &[Operand::int(0)], Type::Int)
        } else {
            Operand::int(0)
        };
        let mut args = vec![start];
        args.extend(self.values_of(&carried));
        self.jump(head, args);

        let (outside, containers) = (self.vars.clone(), self.containers.len());
        let in_red_loop = self.in_red_loop;
        self.in_red_loop |= !green;
        self.current = Some(head);
        if self.may_have_merge_point() && !green && self.source.chance(1, 2) {
            self.op_full(Opcode::MergePoint, &[], Imm::None, &[]);
        }
        self.take_params(head, 1, &carried);
        let counter = Operand::Value(self.graph.block(head).params[0]);
        self.vars.push(Val { operand: counter, scalar: Scalar::I64, deps: if green { bound.deps } else { None } });
        for _ in 0..self.source.below(4) {
            self.straight_statement();
        }
        let next = self.int_op(Opcode::IntAdd, counter, Operand::int(1));
        let more = self.int_op(Opcode::IntLt, next, bound.operand);
        let more = if green { self.op1(Opcode::Concrete, &[more], Type::Int) } else { more };
        let out = self.values_of(&carried);
        let mut args = vec![next];
        args.extend(out.iter().copied());
        self.branch(more, Edge::new(head, args), Edge::new(exit, out));
        self.in_red_loop = in_red_loop;
        self.vars = outside;
        self.containers.truncate(containers);
        self.current = Some(exit);
        self.take_params(exit, 0, &carried);
    }

    /// A portal has one merge point, of its own.
    fn may_have_merge_point(&self) -> bool {
        self.merge_points && self.graph.attributes.portal.is_none()
    }

    /// A merge point is keyed by its greens: nothing that a red loop changes may begin as one.
    fn forget_greens(&mut self, carried: &[usize], green: bool) {
        if !self.merge_points || green {
            return;
        }
        for i in carried {
            let val = self.vars[*i];
            let operand = self.op1(Opcode::Variable, &[val.operand], val.scalar.ty());
            self.vars[*i] = Val { operand, deps: None, ..val };
        }
    }

    /// A number that may be asked for; it is.
    fn green_bound(&mut self) -> Val {
        let green = |val: &&Val, allowed: u64| {
            val.scalar.ty() == Type::Int && val.deps.is_some_and(|deps| deps & !allowed == 0)
        };
        let candidates: Vec<Val> = self.vars.iter().filter(|val| green(val, self.allowed)).copied().collect();
        let bound = match self.source.pick(&candidates) {
            Some(val) => *val,
            None => Val::int(self.source.below(4) as i64),
        };
        self.demanded |= bound.deps.unwrap_or_default();
        bound
    }

    /// A loop that goes on as long as a red says so.
    pub fn red_loop(&mut self, depth: usize) {
        let shape = [LoopShape::While, LoopShape::Down, LoopShape::Middle, LoopShape::Last][self.source.below(4)];
        let bound = self.expr(Scalar::I64, 1);
        let bound = self.small(bound, if depth > 1 { 7 } else { 3 });
        let carried = self.carried();
        let at_head = matches!(shape, LoopShape::While | LoopShape::Down);
        let merge_point = self.may_have_merge_point() && at_head && self.source.chance(3, 4);
        self.forget_greens(&carried, false);
        let [head, latch, exit] = self.loop_blocks(&carried);
        let (start, step) = match shape {
            LoopShape::Down => (bound.operand, -1),
            _ => (Operand::int(0), 1),
        };
        let start = if self.merge_points { self.op1(Opcode::Variable, &[start], Type::Int) } else { start };
        let mut args = vec![start];
        args.extend(self.values_of(&carried));
        self.jump(head, args);

        let (vars, containers) = (self.vars.len(), self.containers.len());
        let outside = self.vars.clone();
        let in_red_loop = std::mem::replace(&mut self.in_red_loop, true);
        let counter = Operand::Value(self.graph.block(head).params[0]);
        self.current = Some(head);
        if merge_point {
            self.op_full(Opcode::MergePoint, &[], Imm::None, &[]);
        }
        self.take_params(head, 1, &carried);
        let mut around = Around { latch, exit, carried: carried.clone(), accumulator: None, jumps: false };
        match shape {
            LoopShape::While => self.go_on_while(Opcode::IntLt, counter, bound.operand, &around),
            LoopShape::Down => self.go_on_while(Opcode::IntNe, counter, Operand::int(0), &around),
            LoopShape::Middle | LoopShape::Last => {}
        }
        self.vars.push(Val { operand: counter, scalar: Scalar::I64, deps: None });
        around = self.body(depth, around);
        if matches!(shape, LoopShape::Middle | LoopShape::Last) && self.current.is_some() {
            self.go_on_while(Opcode::IntLt, counter, bound.operand, &around);
        }
        if shape == LoopShape::Middle {
            self.body(depth, around);
        }
        let args = self.values_of(&carried);
        self.jump(latch, args);

        self.current = Some(latch);
        self.take_params(latch, 0, &carried);
        let next = self.int_op(Opcode::IntAdd, counter, Operand::int(step));
        let mut args = vec![next];
        args.extend(self.values_of(&carried));
        if shape == LoopShape::Last || shape == LoopShape::Middle {
            // `continue` comes by here without being asked: so ask again.
            let more = self.int_op(Opcode::IntLe, next, Operand::int(8));
            let out = self.values_of(&carried);
            self.branch(more, Edge::new(head, args), Edge::new(exit, out));
        } else {
            self.jump(head, args);
        }
        self.in_red_loop = in_red_loop;
        self.vars = outside;
        debug_assert_eq!(self.vars.len(), vars);
        self.containers.truncate(containers);
        self.current = Some(exit);
        self.take_params(exit, 0, &carried);
    }

    /// Goes on in a new block if the comparison holds (and perhaps something else, too), else to the exit.
    fn go_on_while(&mut self, opcode: Opcode, a: Operand, b: Operand, around: &Around) {
        let mut more = self.int_op(opcode, a, b);
        if self.source.chance(1, 4) {
            let also = self.condition();
            let also = self.op1(Opcode::IntIsTrue, &[also.operand], Type::Int);
            more = self.int_op(Opcode::IntAnd, more, also);
        }
        let body = self.block();
        let out = self.values_of(&around.carried);
        self.branch(more, Edge::new(body, []), Edge::new(around.exit, out));
        self.current = Some(body);
    }

    /// A loop that is unrolled: its counter is asked for.
    fn green_loop(&mut self, depth: usize) {
        let limit = if depth > 1 { 7 } else { 3 };
        let bound = self.green_bound();
        let bound = self.small(bound, limit);
        let carried = self.carried();
        let [head, latch, exit] = self.loop_blocks(&carried);
        // One of the carried variables may be green, too, if what it becomes is.
        let accumulator = carried.iter().position(|i| {
            let val = self.vars[*i];
            val.scalar == Scalar::I64 && val.deps.is_some_and(|deps| deps & !self.allowed == 0)
        });
        let mut args = vec![Operand::int(0)];
        args.extend(self.values_of(&carried));
        let accumulated = accumulator.map(|i| both(self.vars[carried[i]].deps, bound.deps));
        self.jump(head, args);

        let containers = self.containers.len();
        let outside = self.vars.clone();
        self.current = Some(head);
        let counter = Operand::Value(self.graph.block(head).params[0]);
        self.take_params(head, 1, &carried);
        let more = self.int_op(Opcode::IntLt, counter, bound.operand);
        let more = self.op1(Opcode::Concrete, &[more], Type::Int);
        let body = self.block();
        let out = self.values_of(&carried);
        self.branch(more, Edge::new(body, []), Edge::new(exit, out));
        self.current = Some(body);
        self.vars.push(Val { operand: counter, scalar: Scalar::I64, deps: bound.deps });
        if let (Some(i), Some(deps)) = (accumulator, accumulated) {
            self.vars[carried[i]].deps = deps;
        }
        let at_head = |i: usize| Operand::Value(self.graph.block(head).params[1 + i]);
        let accumulator_at_head = accumulator.map(|i| (i, at_head(i)));
        let around = Around { latch, exit, carried: carried.clone(), accumulator: accumulator_at_head, jumps: false };
        let around = self.body(depth, around);
        let mut args = self.values_of(&carried);
        let mut stays_green = !around.jumps;
        if let (Some(i), Some(Some(deps))) = (accumulator, accumulated) {
            // Whatever the body made of it, it has to be made of what it began with, in case that was asked for.
            let now = self.vars[carried[i]].deps;
            if around.jumps || now.is_none_or(|now| now & !deps != 0) {
                args[i] = Operand::Value(self.graph.block(head).params[1 + i]);
                stays_green = false;
            }
        }
        self.jump(latch, args);

        self.current = Some(latch);
        self.take_params(latch, 0, &carried);
        let next = self.int_op(Opcode::IntAdd, counter, Operand::int(1));
        let mut args = vec![next];
        args.extend(self.values_of(&carried));
        self.jump(head, args);
        self.vars = outside;
        self.containers.truncate(containers);
        self.current = Some(exit);
        self.take_params(exit, 0, &carried);
        if let (Some(i), Some(deps), true) = (accumulator, accumulated, stays_green) {
            self.vars[carried[i]].deps = deps;
        }
    }
}
