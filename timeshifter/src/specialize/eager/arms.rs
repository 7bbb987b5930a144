//! The arms of a split.
//!
//! An arm is a fork of the state, but for one that only traps, as behind every check: what there is to be done on it is
//! known at once, and the state goes on by itself.

use crate::specialize::engine::{Engine, RootKind};
use crate::specialize::error::SpecError;
use crate::specialize::merge::operand_of;
use crate::specialize::state::{Red, State, slot_of};
use flowgraph::ir::{BlockId, Const, Edge, Imm, Loc, MemDesc, Opcode, Operand, Terminator, Time, Trap, Type};
use smallvec::SmallVec;
use std::sync::Arc;

/// Operands that are constants on an arm.
type Decisions = SmallVec<[(Red, Const); 2]>;

/// A trap with its operands, and the stores that have to be made before it: address, value, where.
struct TrapArm {
    trap: Trap,
    stores: Vec<(Operand, Operand, Arc<MemDesc>)>,
}

impl Engine<'_> {
    /// Splits the state on `cond`: it goes on itself on one side; the other, if anything but a trap is there, is given
    /// back.
    pub(crate) fn split(
        &mut self,
        st: &mut State,
        cond: Red,
        (then, otherwise): (&Edge, &Edge),
        loc: Loc,
    ) -> Result<Option<State>, SpecError> {
        self.trim_registers(st);
        self.flush_copied(st, loc)?;
        let parent = st.block;
        let fragment = &mut self.fragments[st.fragment];
        let (on_true, on_false) = (fragment.new_block(Some(parent)), fragment.new_block(Some(parent)));
        let asked = match operand_of(cond) {
            Operand::Value(v) if fragment.info[v.index()].likely => {
                fragment.push(parent, Opcode::Likely, &[v.into()], Imm::None, &[Type::Int], loc)[0].into()
            }
            other => other,
        };
        let branch = Terminator::Branch {
            cond: asked,
            then: Edge::new(on_true, []),
            otherwise: Edge::new(on_false, []),
            time: Time::Now,
        };
        fragment.end(parent, branch, loc);
        for (taken, edge, block, going_on) in
            [(false, otherwise, on_false, (true, then, on_true)), (true, then, on_true, (false, otherwise, on_false))]
        {
            let decisions = self.decisions(st, cond, taken);
            if self.end_in_trap_arm(st, edge, block, &decisions)? {
                let (taken, edge, block) = going_on;
                self.take_arm(st, cond, taken, edge, block, loc)?;
                return Ok(None);
            }
        }
        let mut other = self.fork(st);
        self.take_arm(st, cond, true, then, on_true, loc)?;
        self.take_arm(&mut other, cond, false, otherwise, on_false, loc)?;
        Ok(Some(other))
    }

    /// Goes on on one side of a branch. The other one is an exit, but for one that only traps: there is nothing to go
    /// on with.
    pub(crate) fn keep_to(
        &mut self,
        st: &mut State,
        cond: Red,
        taken: bool,
        (then, otherwise): (&Edge, &Edge),
        loc: Loc,
    ) -> Result<(), SpecError> {
        let (own, other) = if taken { (then, otherwise) } else { (otherwise, then) };
        if matches!(self.program.graph(st.frame().graph).block(other.block).term, Terminator::Trap(_)) {
            self.flush_copied(st, loc)?;
        }
        let out = match self.trap_arm(st, other, &self.decisions(st, cond, !taken))? {
            None => self.guard_exit(st, Some((cond, taken)), loc),
            Some(arm) => {
                self.trim_registers(st);
                let trap = self.next_block(st);
                // No step: a trace that is about to meet a limit stops before its next one.
                self.make_trap_arm(st, trap, arm);
                Edge::new(trap, [])
            }
        };
        let next = self.next_block(st);
        let on = Edge::new(next, []);
        let (then, otherwise) = if taken { (on, out) } else { (out, on) };
        let branch = Terminator::Branch { cond: operand_of(cond), then, otherwise, time: Time::Now };
        self.fragments[st.fragment].end(st.block, branch, loc);
        self.take_arm(st, cond, taken, own, next, loc)
    }

    fn take_arm(
        &mut self,
        st: &mut State,
        cond: Red,
        taken: bool,
        edge: &Edge,
        block: BlockId,
        loc: Loc,
    ) -> Result<(), SpecError> {
        st.block = block;
        self.learn(st, cond, taken);
        self.go(st, edge, loc)
    }

    /// Splits the state by the value of an int: the arms that don't end in a trap at once.
    pub(crate) fn split_switch(
        &mut self,
        mut st: State,
        value: Red,
        (cases, default): (&[(i64, Edge)], &Edge),
        loc: Loc,
    ) -> Result<Vec<State>, SpecError> {
        self.trim_registers(&mut st);
        self.flush_copied(&mut st, loc)?;
        let bound = self.bound(&st, value);
        let mut made = Vec::new();
        let mut arms = Vec::new();
        let possible = cases.iter().filter(|(case, _)| bound.contains(*case));
        for (case, edge) in possible.map(|(c, e)| (Some(*c), e)).chain([(None, default)]) {
            let block = self.fragments[st.fragment].new_block(Some(st.block));
            made.push((case, Edge::new(block, [])));
            let decisions: Decisions = case.into_iter().map(|c| (value, Const::Int(c))).collect();
            if self.end_in_trap_arm(&st, edge, block, &decisions)? {
                continue;
            }
            let mut arm = self.fork(&st);
            arm.block = block;
            for (value, constant) in decisions {
                self.learn_equal(&mut arm, value, constant);
            }
            self.go(&mut arm, edge, loc)?;
            arms.push(arm);
        }
        self.end_in_switch(&st, value, made, loc);
        Ok(arms)
    }

    /// Ends the state's block in a switch to these edges, the default's, which has no case, being the last.
    pub(crate) fn end_in_switch(&mut self, st: &State, value: Red, mut made: Vec<(Option<i64>, Edge)>, loc: Loc) {
        let Some((_, default)) = made.pop() else { unreachable!("the default is always made") };
        let cases = made.into_iter().filter_map(|(case, edge)| Some((case?, edge))).collect();
        let term = Terminator::Switch { value: operand_of(value), cases, default, time: Time::Now, promotion: false };
        self.fragments[st.fragment].end(st.block, term, loc);
    }

    /// A copy of a state.
    pub(crate) fn fork(&mut self, st: &State) -> State {
        self.work += st.size();
        st.clone()
    }

    /// Forgets registers of the innermost frame that are not needed behind its next op, when many have gathered since
    /// that was done last: where no marks come, nobody else does it.
    pub(crate) fn trim_registers(&mut self, st: &mut State) {
        let frame = st.frame_mut();
        let live = self.program.loaded(frame.graph).liveness.live_before(frame.block, frame.index as usize);
        if frame.regs.len() > 2 * live.len() + 16 {
            self.work += frame.regs.len();
            frame.regs.keep(live);
        }
    }

    /// Fills `block` if there is nothing on the way along `edge` but a trap.
    fn end_in_trap_arm(
        &mut self,
        st: &State,
        edge: &Edge,
        block: BlockId,
        decisions: &Decisions,
    ) -> Result<bool, SpecError> {
        if self.program.mark(st.frame().graph, edge.block, 0).is_some() {
            return Ok(false); // it is joined with others
        }
        let Some(arm) = self.trap_arm(st, edge, decisions)? else { return Ok(false) };
        self.count_step(st)?;
        self.make_trap_arm(st, block, arm);
        Ok(true)
    }

    fn make_trap_arm(&mut self, st: &State, block: BlockId, arm: TrapArm) {
        let TrapArm { trap, stores } = arm;
        let fragment = &mut self.fragments[st.fragment];
        for (base, value, desc) in stores {
            self.quiet_steps = 0;
            fragment.push(block, Opcode::Setfield, &[base, value], Imm::mem(desc), &[], trap.loc);
        }
        let loc = trap.loc;
        fragment.end(block, Terminator::Trap(trap), loc);
    }

    /// What is to be done along `edge`, if that is nothing but to trap.
    fn trap_arm(&self, st: &State, edge: &Edge, decisions: &Decisions) -> Result<Option<TrapArm>, SpecError> {
        let graph = st.frame().graph;
        let target = self.program.graph(graph).block(edge.block);
        let Terminator::Trap(trap) = &target.term else { return Ok(None) };
        if !target.ops.is_empty() {
            return Ok(None);
        }
        let decided = |red: Red| match decisions.iter().find(|(value, _)| *value == red) {
            Some((_, constant)) => Some(Operand::Const(*constant)),
            None if slot_of(red).is_some() => None,
            None => Some(operand_of(red)),
        };
        let mut trap = trap.clone();
        for (operand, _) in &mut trap.args {
            let given = target.params.iter().position(|p| *operand == Operand::Value(*p)).map(|at| edge.args[at]);
            let red = self.operand(st, given.unwrap_or(*operand), trap.loc)?;
            let Some(known) = decided(red) else { return Ok(None) };
            *operand = known;
        }
        let mut stores = Vec::new();
        for (place, location) in &st.memory.places {
            if location.dirty && self.roots.kinds[place.0.0 as usize] == RootKind::Outside {
                let base = st.memory.roots.get(&place.0).copied().and_then(decided);
                let (Some(base), Some(value)) = (base, decided(location.value)) else { return Ok(None) };
                stores.push((base, value, location.desc.clone()));
            }
        }
        Ok(Some(TrapArm { trap, stores }))
    }
}
