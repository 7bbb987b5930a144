//! A portal: a small machine whose program is a slice of numbers, with arms of random statements.

use super::Source;
use super::build::{Builder, Container, Shape, Val};
use super::calls::{Function, reference, slice};
use crate::ir::*;

/// `run(code: &[i64], pc: usize, fuel: i64, x: i64, y: …, s: &mut S)`: greens `code` and `pc`.
pub(super) fn portal(source: &mut Source<'_>, functions: &[Function], data: &[Container]) -> (Graph, Function) {
    let mut builder = Builder::new("run", source, functions);
    builder.merge_points = true;
    builder.allowed = 0b11;
    builder.demanded = 0b11;
    builder.budget = 28;
    builder.results = vec![Scalar::I64, Scalar::U8];
    builder.param(slice(Scalar::I64, false));
    builder.param(RustType::Scalar(Scalar::Usize));
    builder.param(RustType::Scalar(Scalar::I64));
    builder.param(RustType::Scalar(Scalar::I64));
    let scalar = builder.scalar();
    builder.param(RustType::Scalar(scalar));
    if builder.source.chance(1, 2) {
        builder.param(reference("S", true));
    }
    let params: Vec<RustType> = builder.graph.signature.params.iter().map(|p| p.ty.clone()).collect();
    builder.graph.attributes.portal = Some(Portal { greens: vec![0, 1], reds: (2..params.len()).collect() });
    builder.machine(data);
    let results = builder.results.clone();
    let (graph, demands, _) = builder.finish();
    let result_deps = results.iter().map(|_| None).collect();
    let function =
        Function { key: "run".to_owned(), params, results, demands, result_deps, elidable: false, counts_down: false };
    (graph, function)
}

/// The places of the parameters' leaves.
const CODE: usize = 0;
const LEN: usize = 1;
const PC: usize = 2;
const FUEL: usize = 3;

impl Builder<'_, '_> {
    fn machine(&mut self, data: &[Container]) {
        let entry: Vec<Operand> = self.graph.entry_params().iter().map(|v| Operand::Value(*v)).collect();
        // Doing this twice is doing it once: so calling the portal is the same as going on at its merge point.
        let fuel = self.int_op(Opcode::IntAnd, entry[FUEL], Operand::int(31));
        let fuel = if self.source.chance(1, 2) { self.int_op(Opcode::IntOr, fuel, Operand::int(8)) } else { fuel };
        let mut start = entry.clone();
        start[FUEL] = fuel;
        let head = self.block();
        let types: Vec<Type> = entry.iter().map(|o| self.graph.ty(*o)).collect();
        let leaves: Vec<Operand> = types.iter().map(|ty| self.block_param(head, *ty)).collect();
        self.jump(head, start);

        self.current = Some(head);
        self.op_full(Opcode::MergePoint, &leaves, Imm::None, &[]);
        // Of the parameters' variables (length, pc, fuel and two reds) the arms see pc and the reds.
        let red = |i: usize| Val { operand: leaves[FUEL + i], scalar: self.vars[2 + i].scalar, deps: None };
        let pc = Val { operand: leaves[PC], scalar: Scalar::Usize, deps: Some(0b10) };
        self.vars = vec![pc, red(1), red(2)];
        self.containers = data.to_vec();
        if let Some(state) = leaves.get(FUEL + 3) {
            self.containers.push(Container {
                base: *state,
                shape: Shape::State,
                kind: MemKind::Exclusive,
                deps: None,
                len: Operand::int(0),
                slot: false,
            });
        }
        self.step(head, &leaves);
    }

    /// One round: fetch, decode, an arm.
    fn step(&mut self, head: BlockId, leaves: &[Operand]) {
        let (fetch, done, go_on) = (self.block(), self.block(), self.block());
        let inside = self.int_op(Opcode::UintLt, leaves[PC], leaves[LEN]);
        self.branch(inside, Edge::new(fetch, []), Edge::new(done, []));
        self.current = Some(done);
        self.return_statement();
        self.current = Some(fetch);
        let desc = MemDesc {
            class: "[i64]".into(),
            field: "".into(),
            offset: 0,
            stride: 8,
            access: Access::I64,
            kind: MemKind::Immutable,
        };
        let insn = self.op_full(Opcode::Getarrayitem, &[leaves[CODE], leaves[PC]], Imm::mem(desc), &[Type::Int])[0];
        let fuel = self.int_op(Opcode::IntSub, leaves[FUEL], Operand::int(1));
        let burns = self.int_op(Opcode::IntGt, fuel, Operand::int(0));
        self.branch(burns, Edge::new(go_on, []), Edge::new(done, []));
        self.current = Some(go_on);
        self.vars.push(Val { operand: insn, scalar: Scalar::I64, deps: Some(0b11) });
        let kind = self.int_op(Opcode::IntAnd, insn, Operand::int(7));
        let count = self.source.below(5) + 1;
        let arms: Vec<BlockId> = (0..=count).map(|_| self.block()).collect();
        let cases = arms[1..].iter().enumerate().map(|(i, block)| (i as i64, Edge::new(*block, []))).collect();
        let default = Edge::new(arms[0], []);
        self.end(Terminator::Switch { value: kind, cases, default, time: Time::Now, promotion: false });
        let (vars, containers) = (self.vars.clone(), self.containers.clone());
        for arm in arms {
            self.current = Some(arm);
            self.vars.clone_from(&vars);
            self.containers.clone_from(&containers);
            self.statements(2);
            self.go_round(head, leaves, insn, fuel);
        }
    }

    /// The end of an arm: the next instruction, or another one, or the end.
    fn go_round(&mut self, head: BlockId, leaves: &[Operand], insn: Operand, fuel: Operand) {
        if self.current.is_none() {
            return;
        }
        let mut next = leaves.to_vec();
        next[FUEL] = fuel;
        for (i, place) in next[FUEL + 1..].iter_mut().take(2).enumerate() {
            *place = self.vars[1 + i].operand;
        }
        let field = self.int_op(Opcode::IntRshift, insn, Operand::int(3));
        let target = self.int_op(Opcode::IntAnd, field, Operand::int(7));
        let following = self.int_op(Opcode::IntAdd, leaves[PC], Operand::int(1));
        let with_pc = |pc: Operand| {
            let mut args = next.clone();
            args[PC] = pc;
            args
        };
        match self.source.below(8) {
            0 | 1 => self.jump(head, with_pc(following)),
            2 | 5..=7 => {
                let cond = self.condition();
                let (taken, not) = (self.block(), self.block());
                self.branch(cond.operand, Edge::new(taken, []), Edge::new(not, []));
                self.current = Some(not);
                self.jump(head, with_pc(following));
                self.current = Some(taken);
                self.op_full(Opcode::CanEnterJit, &[], Imm::None, &[]);
                self.jump(head, with_pc(target));
            }
            3 => {
                let place = self.expr(Scalar::I64, 1);
                let place = self.small(place, 3);
                let place = self.op1(Opcode::Promote, &[place.operand], Type::Int);
                self.jump(head, with_pc(place));
            }
            _ => self.return_statement(),
        }
    }
}
