//! One step: runs a state to its next outcome. Policies differ only in how they answer outcomes.
//!
//! ```text
//! fold       ops that only compute
//! access     loads and stores; packing: bytes of a local as another scalar than was stored
//! calls      inlined, specialized, left, or carried out at once; own: locals of a caller that become its callee's
//! recorded   what the author says of results and values
//! ```

pub(super) mod access;
pub(super) mod calls;
pub(super) mod fold;
pub(super) mod own;
pub(super) mod packing;
pub(super) mod recorded;

use crate::specialize::engine::Engine;
use crate::specialize::error::{Met, SpecError};
use crate::specialize::state::{Red, Reg, Regs, State};
use crate::specialize::step::access::Target;
use crate::specialize::step::calls::Emitted;
use crate::specialize::step::fold::{constants_of, red_of};
use crate::specialize::trace::profile::Way;
use flowgraph::ir::{
    Color, Const, Edge, Effect, Imm, Loc, MarkKind, Op, Opcode, Operand, OperandType, Terminator, Time, Trap, TrapKind,
    Type, ValueId, Word,
};
use smallvec::SmallVec;

/// What a policy has to answer.
#[derive(Debug)]
pub(crate) enum Outcome<'m> {
    /// At a mark: wait here, look for a version, or (having set `passed`) go on.
    Mark(MarkKind),
    /// A branch on a residual value.
    Split { cond: Red, then: &'m Edge, otherwise: &'m Edge, loc: Loc },
    /// A switch on a residual value.
    SwitchSplit { value: Red, cases: &'m [(i64, Edge)], default: &'m Edge, loc: Loc },
    /// A residual value is to be green from here on.
    Promotion { value: ValueId, loc: Loc },
    /// The outermost function returns.
    Returned(Vec<Red>, Loc),
    /// A trap.
    Trapped(Box<Trap>, Vec<Red>),
    /// Tracing: a specialized function is called, which whoever drives the engine carries out.
    Calls(Box<Emitted>),
    /// Tracing: a call that isn't looked into trapped in this run.
    CallTrapped(flowgraph::eval::TrapReport),
}

impl<'m> Engine<'m> {
    /// Runs `st` to its next outcome.
    pub(crate) fn step(&mut self, st: &mut State) -> Result<Outcome<'m>, SpecError> {
        loop {
            if let Some(outcome) = self.step_once(st)? {
                return Ok(outcome);
            }
        }
    }

    /// Runs one op or terminator of `st`.
    pub(crate) fn step_once(&mut self, st: &mut State) -> Result<Option<Outcome<'m>>, SpecError> {
        let frame = st.frame();
        let (graph, block, index) = (frame.graph, frame.block, frame.index);
        if !st.passed
            && let Some(kind) = self.program.mark(graph, block, index)
        {
            return Ok(Some(Outcome::Mark(kind)));
        }
        self.count_step(st)?;
        self.limit_ops(st)?;
        let code = self.program.graph(graph).block(block);
        match code.ops.get(index as usize) {
            Some(op) => self.step_op(st, op),
            None => self.step_terminator(st, &code.term, code.loc),
        }
    }

    /// Refuses to go on behind ops beyond the limit. That is looked at between steps: what diagnoses it goes on from
    /// here. A trace is stopped by whoever drives it.
    fn limit_ops(&mut self, st: &State) -> Result<(), SpecError> {
        let is_traced = self.settings.limits_stop_traces && st.concrete.is_some();
        if !is_traced && self.fragments[st.fragment].size > self.limits.unrolled_ops {
            return Err(self.endless_green_loop(st, Met::UnrolledOps(self.limits.unrolled_ops)));
        }
        Ok(())
    }

    pub(crate) fn count_step(&mut self, st: &State) -> Result<(), SpecError> {
        self.steps += 1;
        self.quiet_steps += 1;
        if self.quiet_steps > self.limits.green_steps {
            return Err(self.endless_green_loop(st, Met::GreenSteps(self.limits.green_steps)));
        }
        Ok(())
    }

    /// The operand as it is in the innermost frame.
    pub(crate) fn operand(&self, st: &State, operand: Operand, loc: Loc) -> Result<Red, SpecError> {
        red_in(&st.frame().regs, operand).map_err(|value| undefined(value, loc))
    }

    fn operands(&self, st: &State, operands: &[Operand], loc: Loc) -> Result<SmallVec<[Red; 4]>, SpecError> {
        let regs = &st.frame().regs;
        let mut reds = SmallVec::new();
        for operand in operands {
            match red_in(regs, *operand) {
                Ok(red) => reds.push(red),
                Err(value) => return Err(undefined(value, loc)),
            }
        }
        Ok(reds)
    }

    /// To the next op.
    pub(crate) fn advance(&self, st: &mut State) {
        st.frame_mut().index += 1;
        st.passed = false;
        st.back = false;
    }

    fn step_op(&mut self, st: &mut State, op: &'m Op) -> Result<Option<Outcome<'m>>, SpecError> {
        if let Some(word) = computed(&st.frame().regs, op) {
            if op.time == Time::Emit {
                self.count_fold(st);
            }
            self.set(st, op.results[0], Red::Const(Const::Int(word)), op.loc)?;
            self.advance(st);
            return Ok(None);
        }
        let args = self.operands(st, &op.args, op.loc)?;
        let result = match op.opcode.effect() {
            Effect::Call | Effect::ElidableCall => return self.step_call(st, op, &args),
            Effect::Pure if op.time == Time::Now => self.green_pure(op, &args)?,
            Effect::Pure => self.red_pure(st, op.opcode, &args, op.loc)?,
            Effect::Read | Effect::Write => match self.step_memory(st, op, &args) {
                // A check that only the residual program makes keeps every run from coming here.
                Err(SpecError::BadAccess { loc }) => return Ok(Some(unreachable_here(loc))),
                done => done?,
            },
            Effect::Allocate => {
                let Imm::Slot(desc) = &op.imm else { return Err(malformed(op)) };
                smallvec::smallvec![Red::Slot(self.new_slot(st, desc), 0)]
            }
            Effect::Hint if op.opcode == Opcode::RecordKnownResult => {
                self.record_known_result(st, op, &args)?;
                SmallVec::new()
            }
            Effect::Hint if op.opcode == Opcode::RecordExactValue => {
                self.record_exact_value(st, op, &args)?;
                SmallVec::new()
            }
            Effect::Hint => match self.step_hint(st, op, &args) {
                Hint::Value(red) => smallvec::smallvec![red],
                Hint::Nothing => SmallVec::new(),
                Hint::Jumped => {
                    st.jumped = true;
                    SmallVec::new()
                }
                Hint::Promote(value) => return Ok(Some(Outcome::Promotion { value, loc: op.loc })),
            },
        };
        for (value, red) in op.results.iter().zip(result) {
            self.set(st, *value, red, op.loc)?;
        }
        self.advance(st);
        Ok(None)
    }

    fn green_pure(&mut self, op: &Op, args: &[Red]) -> Result<SmallVec<[Red; 2]>, SpecError> {
        let given = constants_of(args).and_then(|c| self.compute(op.opcode, &c));
        let given = given.ok_or_else(|| SpecError::NotGreen { op: op.opcode.name().to_owned(), loc: op.loc })?;
        Ok(given.into_iter().map(Red::Const).collect())
    }

    fn step_memory(&mut self, st: &mut State, op: &Op, args: &[Red]) -> Result<SmallVec<[Red; 2]>, SpecError> {
        let Imm::Mem(desc) = &op.imm else { return Err(malformed(op)) };
        let indexed = !matches!(op.opcode, Opcode::Getfield | Opcode::Setfield);
        let target = Target { opcode: op.opcode, base: args[0], index: indexed.then(|| args[1]), desc };
        if op.opcode.effect() == Effect::Write {
            self.red_store(st, &target, args[args.len() - 1], op.loc)?;
            return Ok(SmallVec::new());
        }
        let loaded = match (op.time, args[0].constant(), target.index.map(Red::constant)) {
            (Time::Now, Some(base), None | Some(Some(_))) => Red::Const(self.green_load(base, &target, op.loc)?),
            (Time::Now, ..) if !matches!(args[0], Red::Slot(..)) => {
                return Err(SpecError::NotGreen { op: op.opcode.name().to_owned(), loc: op.loc });
            }
            _ => self.red_load(st, &target, op.loc)?,
        };
        Ok(smallvec::smallvec![loaded])
    }

    fn step_hint(&mut self, st: &State, op: &Op, args: &[Red]) -> Hint {
        let truth = |b: bool| Hint::Value(Red::Const(Const::Int(i64::from(b))));
        match op.opcode {
            Opcode::Promote => match args[0] {
                Red::Value(v) if self.result_color(st, op) == Some(Color::Green) => Hint::Promote(v),
                known => {
                    if let Some(value) = known.as_int() {
                        self.record_if_traced(st, Some(value));
                    }
                    Hint::Value(known)
                }
            },
            Opcode::WeAreJitted => truth(true),
            Opcode::IsConstant => truth(args[0].constant().is_some()),
            Opcode::IsVirtual => truth(matches!(args[0], Red::Slot(..))),
            Opcode::Likely => {
                // The value is what it was, so that what a branch on it tells is told of the condition itself.
                if let Red::Value(condition) = args[0] {
                    self.fragments[st.fragment].info[condition.index()].likely = true;
                }
                Hint::Value(args[0])
            }
            Opcode::Concrete | Opcode::Variable => Hint::Value(args[0]),
            Opcode::CanEnterJit => Hint::Jumped,
            _ => Hint::Nothing,
        }
    }

    fn result_color(&self, st: &State, op: &Op) -> Option<Color> {
        let result = op.results.first()?;
        self.program.graph(st.frame().graph).values[result.index()].color
    }

    // ---- terminators

    fn step_terminator(
        &mut self,
        st: &mut State,
        term: &'m Terminator,
        loc: Loc,
    ) -> Result<Option<Outcome<'m>>, SpecError> {
        match term {
            Terminator::Jump(edge) => self.go(st, edge, loc)?,
            Terminator::Branch { cond, then, otherwise, time } => match self.operand(st, *cond, loc)? {
                Red::Const(c) => {
                    let taken = self.memory.resolve(c) != 0;
                    self.count_decision(st, *time, Some(i64::from(taken)));
                    self.go(st, if taken { then } else { otherwise }, loc)?;
                }
                _ if *time == Time::Now => return Err(SpecError::NotGreen { op: "branch".to_owned(), loc }),
                Red::Slot(..) => self.go(st, then, loc)?, // an address is not zero
                cond => {
                    return Ok(Some(Outcome::Split { cond, then, otherwise, loc }));
                }
            },
            Terminator::Switch { value, cases, default, time, .. } => match self.operand(st, *value, loc)? {
                Red::Const(c) => {
                    let word = self.memory.resolve(c) as i64;
                    let case = cases.iter().find(|(case, _)| *case == word);
                    self.count_decision(st, *time, case.map(|(case, _)| *case));
                    self.go(st, case.map_or(default, |(_, e)| e), loc)?;
                }
                _ if *time == Time::Now => return Err(SpecError::NotGreen { op: "switch".to_owned(), loc }),
                value => {
                    let value = red_of(self.real(st, value, loc)?);
                    return Ok(Some(Outcome::SwitchSplit { value, cases, default, loc }));
                }
            },
            Terminator::Return(values) => {
                let values = self.operands(st, values, loc)?;
                if st.frames.len() == 1 {
                    return Ok(Some(Outcome::Returned(values.to_vec(), loc)));
                }
                st.frames.pop();
                self.finish_call(st, &values)?;
            }
            Terminator::Trap(trap) => {
                let args: SmallVec<[Operand; 4]> = trap.args.iter().map(|(o, _)| *o).collect();
                let args = self.operands(st, &args, loc)?;
                return Ok(Some(Outcome::Trapped(Box::new(trap.clone()), args.to_vec())));
            }
            Terminator::Exit { .. } | Terminator::Enter { .. } => {
                return Err(SpecError::Malformed("an exit in a compiler graph".to_owned(), loc));
            }
        }
        Ok(None)
    }

    /// Counts a split that is decided already. A region may know less, and have to decide it.
    fn count_decision(&mut self, st: &State, time: Time, way: Way) {
        if time == Time::Emit {
            self.count_fold(st);
            self.record_if_traced(st, way);
        }
    }

    fn record_if_traced(&mut self, st: &State, way: Way) {
        if st.concrete.is_some() {
            self.record(st, way);
        }
    }

    /// Takes an edge of the innermost frame.
    pub(crate) fn go(&mut self, st: &mut State, edge: &Edge, loc: Loc) -> Result<(), SpecError> {
        let frame = st.frame();
        let (graph, from) = (frame.graph, frame.block);
        let loaded = self.program.loaded(graph);
        let back = loaded.order.is_back_edge(from, edge.block);
        match (&edge.args[..], &loaded.graph.block(edge.block).params[..]) {
            ([], _) => {}
            ([arg], [param]) => self.set(st, *param, self.operand(st, *arg, loc)?, loc)?,
            (args, params) => {
                let args = self.operands(st, args, loc)?;
                for (param, red) in params.iter().zip(args) {
                    self.set(st, *param, red, loc)?;
                }
            }
        }
        let frame = st.frame_mut();
        frame.block = edge.block;
        frame.index = 0;
        st.back = back;
        st.passed = false;
        Ok(())
    }
}

/// The operand, if it is defined.
fn red_in(regs: &Regs, operand: Operand) -> Result<Red, ValueId> {
    match operand {
        Operand::Const(c) => Ok(Red::Const(c)),
        Operand::Value(v) => regs.get(v).map(Reg::red).ok_or(v),
    }
}

#[cold]
fn undefined(value: ValueId, loc: Loc) -> SpecError {
    SpecError::Malformed(format!("{value} is used but not defined on this way"), loc)
}

/// What an op that only computes gives, if it gives one int and all its operands are ints that are known. Most of the
/// ops of an interpreter are such; all others are looked at more closely.
fn computed(regs: &Regs, op: &Op) -> Option<i64> {
    if op.results.len() != 1 || op.opcode.effect() != Effect::Pure {
        return None;
    }
    let mut words = [0; 3];
    let words = words.get_mut(..op.args.len())?;
    for (word, arg) in words.iter_mut().zip(&op.args) {
        *word = red_in(regs, *arg).ok()?.as_int()? as Word;
    }
    let given = op.opcode.compute(words)?;
    (op.opcode.results() == [OperandType::Is(Type::Int)]).then(|| given[0] as i64)
}

enum Hint {
    Value(Red),
    Jumped,
    Nothing,
    Promote(ValueId),
}

/// The end of a path that no run can take.
pub(crate) fn unreachable_here<'m>(loc: Loc) -> Outcome<'m> {
    let message = Some("a read outside of the memory that is known when compiling".to_owned());
    Outcome::Trapped(Box::new(Trap { kind: TrapKind::Unreachable, message, args: Vec::new(), loc }), Vec::new())
}

pub(crate) fn malformed(op: &Op) -> SpecError {
    SpecError::Malformed(format!("`{}` lacks what it needs", op.opcode.name()), op.loc)
}

/// A constant as messages show it.
pub(crate) fn show_const(c: Const) -> String {
    match c {
        Const::Int(i) => i.to_string(),
        Const::Float(bits) => format!("{:?}", f64::from_bits(bits)),
        Const::Single(bits) => format!("{:?}", f32::from_bits(bits)),
        Const::Addr(_, offset) => format!("&data+{offset}"),
    }
}
