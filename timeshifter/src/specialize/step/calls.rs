//! Calls: inlined, specialized for their green arguments, left as they are, or carried out while compiling.

use crate::specialize::engine::{CopiedKey, Engine, FunctionKey, Unit};
use crate::specialize::error::{Met, SpecError};
use crate::specialize::event::What;
use crate::specialize::state::memory::Origin;
use crate::specialize::state::{Frame, GraphIx, Red, Reg, Regs, SlotId, State};
use crate::specialize::step::fold::red_of;
use crate::specialize::step::{Outcome, malformed, show_const, unreachable_here};
use flowgraph::ir::{BlockId, CallMode, Callee, Const, Imm, Loc, Op, Opcode, Operand, Type, ValueId};
use flowgraph::value::has_cell;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// So often a portal that calls itself is copied, for the same greens, into what is specialized at one go: further calls
/// are calls. One that calls itself twice with a green that counts down would be copied two to the power of that.
const COPIES: u32 = 16;

/// So often a function that has been found to come to itself with the same greens is copied into anything: there is code
/// of it that can be called. Where six functions call each other, there are 325 ways from one of them through others.
const RECURSIVE_COPIES: u32 = 1;

/// The green arguments of a call.
type GreenArguments = SmallVec<[(ValueId, Const); 8]>;

/// A call that is emitted while tracing, and to be carried out.
#[derive(Clone, Debug)]
pub(crate) struct Emitted {
    pub opcode: Opcode,
    pub imm: Imm,
    pub operands: SmallVec<[Operand; 4]>,
    /// Of its results.
    pub types: SmallVec<[Type; 2]>,
    /// The compiler graph that it is a call of.
    pub evaluated: GraphIx,
    /// All arguments of that, the green ones, too.
    pub all_args: SmallVec<[Red; 4]>,
}

impl Emitted {
    /// The residual function.
    pub fn function(&self) -> &str {
        match &self.imm {
            Imm::Call(callee) => &callee.name,
            _ => unreachable!("calls have callees"),
        }
    }

    /// Whether the function is one that is specialized for its green arguments.
    fn is_specialized(&self, engine: &Engine<'_>) -> bool {
        engine.fragment_of(self.function()).is_some()
    }
}

impl<'m> Engine<'m> {
    pub(crate) fn step_call(
        &mut self,
        st: &mut State,
        op: &Op,
        args: &[Red],
    ) -> Result<Option<Outcome<'m>>, SpecError> {
        let callee = op.callee().ok_or_else(|| malformed(op))?;
        if let Some(name) = callee.libm() {
            return self.call_libm(st, op, callee, name, args).map(|()| None);
        }
        match callee.mode {
            CallMode::Inline => self.call_inline(st, op, args),
            CallMode::Specialize => self.call_specialized(st, op, args),
            CallMode::Fold | CallMode::Residual | CallMode::Plain => self.call_residual(st, op, callee, args),
        }
    }

    fn call_libm(
        &mut self,
        st: &mut State,
        op: &Op,
        callee: &Callee,
        name: &str,
        args: &[Red],
    ) -> Result<(), SpecError> {
        let function = flowgraph::math::function(name).ok_or_else(|| malformed(op))?;
        let constants: Option<Vec<u64>> = args.iter().map(|a| a.constant().map(|c| self.memory.resolve(c))).collect();
        let result = match constants {
            Some(words) => {
                self.count_fold(st);
                Red::Const(Const::from_word(function.result(), function.compute(&words)))
            }
            None => {
                let operands: SmallVec<[Operand; 3]> =
                    args.iter().map(|a| self.real(st, *a, op.loc)).collect::<Result<_, _>>()?;
                let imm = Imm::Call(Callee { mode: CallMode::Plain, ..callee.clone() });
                self.emit_pure(st, Opcode::CallElidable, &operands, imm, &[function.result()], op.loc)?[0]
            }
        };
        if let Some(value) = op.results.first() {
            self.set(st, *value, result, op.loc)?;
        }
        self.advance(st);
        Ok(())
    }

    fn callee_graph(&self, st: &State, op: &Op) -> Result<GraphIx, SpecError> {
        let frame = st.frame();
        self.program.callee(frame.graph, frame.block, frame.index).ok_or_else(|| malformed(op))
    }

    /// The green arguments of a call, as the callee colors them.
    fn green_arguments(&self, callee: GraphIx, args: &[Red], op: &Op) -> Result<GreenArguments, SpecError> {
        let mut greens = GreenArguments::new();
        for (param, red) in self.program.graph(callee).entry_params().iter().zip(args) {
            if self.program.is_green(callee, *param) {
                let constant =
                    red.constant().ok_or_else(|| SpecError::NotGreen { op: "call".to_owned(), loc: op.loc })?;
                greens.push((*param, constant));
            }
        }
        Ok(greens)
    }

    fn call_inline(&mut self, st: &mut State, op: &Op, args: &[Red]) -> Result<Option<Outcome<'m>>, SpecError> {
        let callee = self.callee_graph(st, op)?;
        let greens = self.green_arguments(callee, args, op)?;
        let key: SmallVec<[Const; 8]> = greens.iter().map(|(_, c)| *c).collect();
        let recursive = st.frames.iter().any(|f| f.graph == callee && *f.greens == key[..]);
        if recursive {
            self.functions.recursive.entry((callee, key.clone())).or_default();
        }
        let deep = st.frames.len() >= self.limits.inline_depth;
        if recursive || deep || self.is_copied_often(st, op, callee, &key) || self.leaves_call(st, op) {
            if deep && !recursive {
                let function = self.program.graph(callee).function.clone();
                self.happened_at(What::InlineDepth { function }, st, op.loc);
            }
            return self.call_specialized(st, op, args);
        }
        let mut regs = Regs::with_room(args.len());
        for (param, red) in self.program.graph(callee).entry_params().iter().zip(args) {
            let reg = match red {
                Red::Const(c) if self.program.is_green(callee, *param) => Reg::Green(*c),
                red => Reg::Red(*red),
            };
            regs.set(*param, reg);
        }
        st.frame_mut().stack = None;
        let (block, greens) = (BlockId::ENTRY, Rc::from(&key[..]));
        st.frames.push(Frame { graph: callee, block, index: 0, stack: None, regs, greens });
        st.passed = false;
        st.back = false;
        Ok(None)
    }

    /// Whether a function that comes to itself with the same greens, or a portal that calls itself, has been copied so
    /// often for these greens that it is better called. Of the functions that there may be half are left to recursions,
    /// which can't do without.
    fn is_copied_often(&mut self, st: &State, op: &Op, callee: GraphIx, greens: &[Const]) -> bool {
        if op.results.iter().any(|result| self.program.is_green(st.frame().graph, *result)) {
            return false;
        }
        let key: CopiedKey = (callee, greens.into());
        if let Some(copies) = self.functions.recursive.get_mut(&key) {
            *copies += 1;
            return *copies > RECURSIVE_COPIES;
        }
        if self.program.graph(callee).attributes.portal.is_none()
            || self.functions.made.len() >= self.limits.functions / 2
            || !st.frames.iter().any(|frame| frame.graph == callee)
        {
            return false;
        }
        let copies = self.functions.copied.entry(key).or_default();
        *copies += 1;
        *copies > COPIES
    }

    /// The caller, standing at its call op, takes the results and goes on.
    pub(crate) fn finish_call(&mut self, st: &mut State, results: &[Red]) -> Result<(), SpecError> {
        let frame = st.frame();
        let code = self.program.graph(frame.graph).block(frame.block);
        let op = &code.ops[frame.index as usize];
        for (value, red) in op.results.iter().zip(results) {
            self.set(st, *value, *red, op.loc)?;
        }
        self.advance(st);
        Ok(())
    }

    /// Emits a call to the callee specialized for its green arguments.
    fn call_specialized(&mut self, st: &mut State, op: &Op, args: &[Red]) -> Result<Option<Outcome<'m>>, SpecError> {
        let callee = self.callee_graph(st, op)?;
        let source = self.program.graph(callee);
        if op.results.iter().any(|r| self.program.is_green(st.frame().graph, *r)) {
            let values = self.shown(callee, &self.green_arguments(callee, args, op)?);
            let deep = st.frames.len() >= self.limits.inline_depth;
            let met = if deep { Met::InlineDepth(self.limits.inline_depth) } else { Met::Itself };
            return Err(SpecError::EndlessRecursion { function: source.function.clone(), values, met, loc: op.loc });
        }
        let greens = self.green_arguments(callee, args, op)?.to_vec();
        let own = self.own_arguments(st, callee, args, &greens);
        let mut handed: SmallVec<[Red; 4]> = SmallVec::new();
        let mut references = Vec::new();
        let all_references = self.handed_references(callee);
        for ((param, red), reference) in source.entry_params().iter().zip(args).zip(all_references) {
            if let Some((_, shape)) = own.iter().find(|(own, _)| own == param) {
                handed.extend(shape.held(st, *red));
                references.resize(handed.len(), None);
            } else if !self.program.is_green(callee, *param) {
                handed.push(*red);
                references.push(reference);
            }
        }
        let name = self.function_name(FunctionKey { graph: callee, greens, own })?;
        let imm = Imm::Call(Callee::plain(&name));
        self.emit_call(st, op, imm, &handed, &references, Opcode::Call, callee, args)
    }

    /// For each entry parameter whether it is a reference, and a mutable one.
    pub(crate) fn references(&self, graph: GraphIx) -> Vec<Option<bool>> {
        let signature = &self.program.graph(graph).signature;
        signature.params.iter().flat_map(|p| self.program.module.leaves(&p.ty)).map(|leaf| leaf.reference).collect()
    }

    /// For each entry parameter whether it is a reference, and one through which a call may change what it leads to: a
    /// mutable one, or one to something with cells in it, which change behind a shared reference, too.
    fn handed_references(&self, graph: GraphIx) -> Vec<Option<bool>> {
        let module = self.program.module;
        let params = self.program.graph(graph).signature.params.iter();
        let leaves = params.flat_map(|p| {
            let cells = has_cell(module, &p.ty);
            module.leaves(&p.ty).into_iter().map(move |leaf| leaf.reference.map(|mutable| mutable || cells))
        });
        leaves.collect()
    }

    /// Whether a function may change what others see, too: something that it is handed, or what the host has.
    fn may_change_shared(&self, graph: GraphIx) -> bool {
        self.program.asks_host(graph) || self.handed_references(graph).contains(&Some(true))
    }

    /// Whether a function may come to a cell: by what it is handed, as there are no globals.
    fn may_come_to_cells(&self, graph: GraphIx) -> bool {
        self.program.graph(graph).signature.params.iter().any(|p| has_cell(self.program.module, &p.ty))
    }

    /// Green arguments as messages show them.
    fn shown(&self, callee: GraphIx, greens: &[(ValueId, Const)]) -> String {
        let graph = self.program.graph(callee);
        let name = |param: ValueId| {
            // A leaf of a parameter has a name of its own there: `s.len`.
            let at = graph.entry_params().iter().position(|own| *own == param);
            at.and_then(|at| graph.params.get(at).cloned()).unwrap_or_else(|| self.program.name_of(callee, param))
        };
        let shown = |(param, c): &(ValueId, Const)| format!("{} = {}", name(*param), show_const(*c));
        greens.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    /// The residual name of a function specialized for its greens; it is made later if it hasn't been.
    pub(crate) fn function_name(&mut self, key: FunctionKey) -> Result<String, SpecError> {
        let graph = key.graph;
        if let Some(unit) = self.functions.made.get(&key) {
            return Ok(self.fragments[self.units[*unit].fragment].graph.key.clone());
        }
        if self.functions.refused.contains(&key) {
            return Err(SpecError::Refused { function: self.program.graph(graph).function.clone() });
        }
        let of_it = |(other, _): &(&FunctionKey, &usize)| other.graph == graph && !other.greens.is_empty();
        if self.functions.made.iter().skip(self.functions.before).filter(of_it).count() >= self.limits.functions {
            return Err(SpecError::EndlessRecursion {
                function: self.program.graph(graph).function.clone(),
                values: self.shown(graph, &key.greens),
                met: Met::Functions(self.limits.functions),
                loc: self.program.graph(graph).loc,
            });
        }
        let name = self.fresh_name(graph);
        let fragment = self.new_fragment(graph, &name, self.units.len());
        self.units.push(Unit { fragment, graph, exits: false, done: false, given: Vec::new(), values: 0 });
        self.functions.made.insert(key, self.units.len() - 1);
        Ok(name)
    }

    /// Emits a call, with what it may see stored before it and what it may change forgotten after it.
    #[allow(clippy::too_many_arguments)]
    fn emit_call(
        &mut self,
        st: &mut State,
        op: &Op,
        imm: Imm,
        args: &[Red],
        references: &[Option<bool>],
        opcode: Opcode,
        evaluated: GraphIx,
        all_args: &[Red],
    ) -> Result<Option<Outcome<'m>>, SpecError> {
        // A slot may be handed over more than once; it is forced once.
        let mut forced = FxHashMap::default();
        let args = self.settled(st, args, &mut forced, op.loc)?;
        let all_args = match st.concrete {
            Some(_) => self.settled(st, all_args, &mut forced, op.loc)?,
            None => SmallVec::new(), // nobody carries it out
        };
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        for (red, reference) in args.iter().zip(references) {
            operands.push(match reference {
                Some(mutable) => self.hand_over(st, *red, *mutable, op.loc)?,
                None => self.real(st, *red, op.loc)?,
            });
        }
        if self.may_come_to_cells(evaluated) {
            self.hand_over_cells(st, op.loc)?;
        }
        if self.program.may_trap(evaluated) {
            self.flush_outside(st, op.loc)?; // what was stored before a trap must be home
        }
        let types: SmallVec<[Type; 2]> = {
            let values = &self.program.graph(st.frame().graph).values;
            op.results.iter().map(|r| values[r.index()].ty).collect()
        };
        let known = match opcode {
            Opcode::CallElidable => self.find_pure(st, opcode, &operands, &imm),
            _ => None,
        };
        let results: SmallVec<[Red; 2]> = if let Some(results) = known {
            results
        } else if st.concrete.is_some() {
            let call = Emitted { opcode, imm, operands, types, evaluated, all_args };
            if self.settings.calls_compiled && call.is_specialized(self) {
                return Ok(Some(Outcome::Calls(Box::new(call))));
            }
            match self.interpret_call(st, op, &call)? {
                Ok(words) => self.emit_called(st, op, &call, words),
                Err(trap) => return Ok(Some(Outcome::CallTrapped(trap))),
            }
        } else if opcode == Opcode::CallElidable {
            self.emit_pure(st, opcode, &operands, imm, &types, op.loc)?
        } else {
            self.quiet_steps = 0;
            let fragment = &mut self.fragments[st.fragment];
            fragment.push(st.block, opcode, &operands, imm, &types, op.loc).into_iter().map(Red::Value).collect()
        };
        self.called(st, op, opcode, evaluated, results)?;
        Ok(None)
    }

    /// Behind a call: what it may have changed is forgotten, and what it has returned is where it is wanted.
    pub(crate) fn called(
        &mut self,
        st: &mut State,
        op: &Op,
        opcode: Opcode,
        callee: GraphIx,
        results: SmallVec<[Red; 2]>,
    ) -> Result<(), SpecError> {
        if opcode == Opcode::Call && self.may_change_shared(callee) {
            st.memory.forget_shared();
        }
        let leaves = self.program.module.leaves(&self.program.graph(callee).signature.result);
        let ranges = self.program.loaded(st.frame().graph).ranges;
        for (at, (value, red)) in op.results.iter().zip(results).enumerate() {
            if let Red::Value(v) = red {
                let info = &mut self.fragments[st.fragment].info[v.index()];
                info.bound = info.bound.meet(ranges.get(*value)).unwrap_or(info.bound);
                if leaves.get(at).is_some_and(|leaf| leaf.reference.is_some()) {
                    info.origin = Origin::Unknown;
                }
            }
            self.set(st, *value, red, op.loc)?;
        }
        self.advance(st);
        Ok(())
    }

    /// Whether what a function is handed is the same as long as its arguments are: no reference leads to what may be
    /// written, by this code or by the function. A call that is handed such references depends on when it is made.
    pub(crate) fn lasts(&self, st: &State, graph: GraphIx, args: &[Red]) -> bool {
        self.references(graph).into_iter().zip(args).all(|(reference, red)| match reference {
            None => true,
            Some(mutable) => {
                !mutable && !matches!(red, Red::Slot(..)) && matches!(self.origin(st, *red), Origin::Outside)
            }
        })
    }

    /// Operands with addresses in place of slots.
    fn settled(
        &mut self,
        st: &mut State,
        reds: &[Red],
        forced: &mut FxHashMap<SlotId, ValueId>,
        loc: Loc,
    ) -> Result<SmallVec<[Red; 4]>, SpecError> {
        let mut out = SmallVec::new();
        for red in reds {
            out.push(match *red {
                Red::Slot(id, at) => {
                    let base = self.force_with(st, id, forced, loc)?;
                    red_of(self.add_offset(st, base, at, loc)?)
                }
                other => other,
            });
        }
        Ok(out)
    }

    /// A call to a function as it is: elidable ones with known arguments are called while compiling.
    fn call_residual(
        &mut self,
        st: &mut State,
        op: &Op,
        callee: &Callee,
        args: &[Red],
    ) -> Result<Option<Outcome<'m>>, SpecError> {
        let target = self.callee_graph(st, op)?;
        let source = self.program.graph(target);
        let elidable = source.attributes.elidable && self.lasts(st, target, args);
        let constants: Option<Vec<Const>> = args.iter().map(|a| a.constant()).collect();
        if let Some(constants) = constants
            && (elidable || callee.mode == CallMode::Fold)
        {
            match self.call_now(target, &constants, op.loc) {
                Ok(Some(words)) => {
                    // A reference must lead to what compiled code can name.
                    let constants = self.result_constants(target, &words);
                    if constants.is_some() || callee.mode == CallMode::Fold {
                        self.count_fold(st);
                        let plain = || words.iter().zip(&source.results).map(|(word, ty)| Const::from_word(*ty, *word));
                        for (value, constant) in op.results.iter().zip(constants.unwrap_or_else(|| plain().collect())) {
                            self.set(st, *value, Red::Const(constant), op.loc)?;
                        }
                        self.advance(st);
                        return Ok(None);
                    }
                }
                Ok(None) if callee.mode == CallMode::Fold => {
                    return self.call_that_traps(st, op, &constants, target).map(Some);
                }
                Err(error) if callee.mode == CallMode::Fold => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        if callee.mode == CallMode::Fold {
            return Err(SpecError::NotGreen { op: format!("call of {}", source.function), loc: op.loc });
        }
        self.functions.as_they_are.insert(source.key.clone());
        let references = self.handed_references(target);
        let imm = Imm::Call(Callee::plain(&source.key));
        let opcode = if elidable { Opcode::CallElidable } else { Opcode::Call };
        self.emit_call(st, op, imm, args, &references, opcode, target, args)
    }

    /// The words that a function has returned, as constants: references by name. Nothing if one leads to what has no
    /// name.
    fn result_constants(&self, function: GraphIx, words: &[u64]) -> Option<Vec<Const>> {
        let source = self.program.graph(function);
        let leaves = self.program.module.leaves(&source.signature.result);
        let constant = |(at, (word, ty)): (usize, (&u64, &Type))| match leaves.get(at).and_then(|leaf| leaf.reference) {
            // What is not there, as of `None`, is 0.
            Some(_) if *word != 0 => self.memory.symbol(*word),
            _ => Some(Const::from_word(*ty, *word)),
        };
        words.iter().zip(&source.results).enumerate().map(constant).collect()
    }

    /// A call that is known to trap is made by the residual program, which so traps as it should. Nothing comes after
    /// it.
    fn call_that_traps(
        &mut self,
        st: &mut State,
        op: &Op,
        args: &[Const],
        target: GraphIx,
    ) -> Result<Outcome<'m>, SpecError> {
        let source = self.program.graph(target);
        self.functions.as_they_are.insert(source.key.clone());
        self.flush_outside(st, op.loc)?;
        let imm = Imm::Call(Callee::plain(&source.key));
        let operands: SmallVec<[Operand; 4]> = args.iter().map(|c| Operand::Const(*c)).collect();
        if st.concrete.is_some() {
            let all_args: SmallVec<[Red; 4]> = args.iter().map(|c| Red::Const(*c)).collect();
            let types = SmallVec::from_slice(&source.results);
            let call = Emitted { opcode: Opcode::Call, imm, operands, types, evaluated: target, all_args };
            let called = self.interpret_call(st, op, &call)?;
            return Ok(match called {
                Err(trap) => Outcome::CallTrapped(trap),
                Ok(words) => {
                    self.emit_called(st, op, &call, words);
                    unreachable_here(op.loc)
                }
            });
        }
        self.quiet_steps = 0;
        self.fragments[st.fragment].push(st.block, Opcode::Call, &operands, imm, &source.results, op.loc);
        Ok(unreachable_here(op.loc))
    }

    /// Calls a function while compiling. Gives nothing if it traps.
    fn call_now(&mut self, target: GraphIx, args: &[Const], loc: Loc) -> Result<Option<Vec<u64>>, SpecError> {
        let source = self.program.graph(target);
        let words: Vec<u64> = args.iter().map(|c| self.memory.resolve(*c)).collect();
        let failed = |reason: String| SpecError::Evaluation { function: source.function.clone(), reason, loc };
        let mut evaluator =
            flowgraph::eval::Evaluator::new(self.program.module, self.memory).with_fuel(self.limits.green_steps);
        match evaluator.call(&source.key, &words) {
            Ok(flowgraph::eval::Outcome::Returned(words)) => Ok(Some(words)),
            Ok(flowgraph::eval::Outcome::Trapped(_)) => Ok(None),
            Ok(_) => Err(failed("it did not come to its end".to_owned())),
            Err(flowgraph::eval::EvalError::OutOfFuel) => {
                let (function, steps) = (source.function.clone(), self.limits.green_steps);
                Err(SpecError::EndlessCall { function, steps, loc })
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }
}
