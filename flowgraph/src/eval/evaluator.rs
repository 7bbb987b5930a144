//! Frames, calls and control flow.

use super::{CallAnswer, EvalError, Hooks, MergeAnswer, MergePoint, NoHooks, Outcome, TrapReport, execute};
use crate::ir::{
    Block, BlockId, CallMode, Edge, Graph, Imm, Loc, Module, Op, Opcode, Operand, Terminator, TrapKind, Word, Words,
};
use crate::memory::Memory;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// How many frames a run may have unless it is said otherwise.
pub const DEFAULT_DEPTH: usize = 20_000;

/// How many bytes of stack slots there may be at once unless set otherwise; as many as generated code has.
pub const DEFAULT_SLOT_BYTES: u64 = 64 << 20;

/// Most ops have no more arguments.
const FEW: usize = 4;

/// An activation: a position and the registers there. A frame that waits for a callee stands *at* the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Which graph of the module, by its index in [`Module::graphs`].
    pub graph: usize,
    /// The block's index.
    pub block: usize,
    /// The op that comes next; the number of ops for the terminator.
    pub index: usize,
    /// A word for each value, by [`crate::ir::ValueId`]; anything for those that aren't live.
    pub regs: Vec<Word>,
    /// The addresses of the frame's stack slots, freed when it ends.
    pub slots: Vec<Word>,
}

/// Why a frame was left.
enum Flow {
    /// Go on in this one: it has been called, has been returned to, or goes on instead.
    Next(Frame),
    /// The run is over.
    End(Outcome),
}

/// What an evaluator knows of its module's graphs, and registers of frames that have ended: with this the next one of
/// the same module needn't begin anew.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Graphs by the address of the name in a call, so that names are hashed once.
    resolved: FxHashMap<usize, usize>,
    registers: Vec<Vec<Word>>,
}

/// The registers of so many frames are kept.
const MOST_SPARE: usize = 64;

/// Runs graphs of a module.
#[derive(Debug)]
pub struct Evaluator<'m, H = NoHooks> {
    module: &'m Module,
    memory: &'m mut Memory,
    /// The host's hooks.
    pub hooks: H,
    /// Steps left: one for each op and each terminator. [`u64::MAX`] unless set.
    pub fuel: u64,
    /// How many frames there may be; one more is a [`TrapKind::StackExhausted`] trap.
    pub depth_limit: usize,
    /// How many bytes of stack slots there may be; more are a [`TrapKind::StackExhausted`] trap, too.
    pub slot_limit: u64,
    /// What `we_are_jitted` gives; in functions that a compiler graph calls as they are, it is false nevertheless.
    pub jitted: bool,
    /// What the memory had when the evaluator was made.
    allocated_before: u64,
    callers: Vec<Frame>,
    /// To be handed to the next evaluator of the same module.
    pub scratch: Scratch,
}

impl<'m> Evaluator<'m, NoHooks> {
    /// An evaluator without hooks. `memory` must have the module's data (see [`Memory::for_module`]).
    pub fn new(module: &'m Module, memory: &'m mut Memory) -> Evaluator<'m, NoHooks> {
        Evaluator {
            module,
            allocated_before: memory.allocated(),
            memory,
            hooks: NoHooks,
            fuel: u64::MAX,
            depth_limit: DEFAULT_DEPTH,
            slot_limit: DEFAULT_SLOT_BYTES,
            jitted: false,
            callers: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

impl<'m, H: Hooks> Evaluator<'m, H> {
    /// The same evaluator with other hooks.
    pub fn with_hooks<G: Hooks>(self, hooks: G) -> Evaluator<'m, G> {
        Evaluator {
            module: self.module,
            memory: self.memory,
            hooks,
            fuel: self.fuel,
            depth_limit: self.depth_limit,
            slot_limit: self.slot_limit,
            allocated_before: self.allocated_before,
            jitted: self.jitted,
            callers: self.callers,
            scratch: self.scratch,
        }
    }

    /// The same evaluator with this much fuel.
    pub fn with_fuel(mut self, fuel: u64) -> Evaluator<'m, H> {
        self.fuel = fuel;
        self
    }

    /// The same evaluator with what one before it, of the same module, has left.
    pub fn with_scratch(mut self, scratch: Scratch) -> Evaluator<'m, H> {
        self.scratch = scratch;
        self
    }

    /// The memory.
    pub fn memory(&mut self) -> &mut Memory {
        self.memory
    }

    /// Calls the graph `key`.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn call(&mut self, key: &str, args: &[Word]) -> Result<Outcome, EvalError> {
        let graph = self.index_of(key)?;
        if self.module.graphs[graph].is_host() {
            return Ok(match self.call_host(graph, args, self.module.graphs[graph].loc)? {
                Ok(words) => Outcome::Returned(words),
                Err(report) => Outcome::Trapped(report),
            });
        }
        let frame = self.enter(graph, args)?;
        self.run(vec![frame], false)
    }

    /// Has the host do what a graph without blocks stands for. What fails is blamed on `loc`.
    fn call_host(&self, graph: usize, args: &[Word], loc: Loc) -> Result<Result<Vec<Word>, TrapReport>, EvalError> {
        let name = &self.module.graphs[graph].key;
        let Some(function) = self.memory.hosts().get(name) else { return Err(EvalError::NoHost(name.clone())) };
        if function.params.len() != args.len() {
            let (wanted, given) = (function.params.len(), args.len());
            return Err(EvalError::WrongCount { graph: name.clone(), wanted, given });
        }
        Ok(function.call(args).map_err(|message| TrapReport { kind: TrapKind::Panic, message, loc }))
    }

    /// A frame at a position of the graph `key`, for [`Evaluator::resume`].
    ///
    /// # Errors
    /// If there is no such graph.
    pub fn frame(&self, key: &str, block: BlockId, index: usize, regs: Vec<Word>) -> Result<Frame, EvalError> {
        Ok(Frame { graph: self.index_of(key)?, block: block.index(), index, regs, slots: Vec::new() })
    }

    /// Goes on with these frames, outermost first. All but the last stand at the calls that they wait in. If the last
    /// one stands at a merge point, that is stepped over without asking the hooks.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn resume(&mut self, frames: Vec<Frame>) -> Result<Outcome, EvalError> {
        self.run(frames, true)
    }

    /// Goes on with these frames, outermost first, all of which stand at the calls that they wait in; the last one's
    /// callee has returned `words`.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn resume_returning(&mut self, frames: Vec<Frame>, words: &[Word]) -> Result<Outcome, EvalError> {
        if frames.is_empty() {
            return Ok(Outcome::Returned(words.to_vec()));
        }
        let frames = self.returned(frames, words)?;
        self.run(frames, false)
    }

    /// These frames, all of which stand at the calls that they wait in, behind the last one's call, which gives
    /// `words`.
    ///
    /// # Errors
    /// If it doesn't stand at a call, or that gives other words.
    pub fn returned(&self, mut frames: Vec<Frame>, words: &[Word]) -> Result<Vec<Frame>, EvalError> {
        if let Some(frame) = frames.last_mut() {
            self.finish_call(frame, words)?;
        }
        Ok(frames)
    }

    /// Frees the stack slots of a frame that will not be resumed.
    pub fn release(&mut self, frame: Frame) {
        for slot in frame.slots {
            self.memory.free(slot);
        }
    }

    fn index_of(&self, key: &str) -> Result<usize, EvalError> {
        self.module.graphs.get_index_of(key).ok_or_else(|| EvalError::UnknownGraph(key.to_owned()))
    }

    fn resolve(&mut self, name: &Arc<str>) -> Result<usize, EvalError> {
        let at = Arc::as_ptr(name).cast::<u8>() as usize;
        if let Some(index) = self.scratch.resolved.get(&at) {
            return Ok(*index);
        }
        let index = self.index_of(name)?;
        self.scratch.resolved.insert(at, index);
        Ok(index)
    }

    fn enter(&mut self, graph: usize, args: &[Word]) -> Result<Frame, EvalError> {
        let callee = &self.module.graphs[graph];
        let params = callee.entry_params();
        if params.len() != args.len() {
            return Err(EvalError::WrongCount { graph: callee.key.clone(), wanted: params.len(), given: args.len() });
        }
        let mut regs = self.scratch.registers.pop().unwrap_or_default();
        regs.clear();
        regs.resize(callee.values.len(), 0);
        for (param, word) in params.iter().zip(args) {
            regs[param.index()] = *word;
        }
        Ok(Frame { graph, regs, ..Frame::default() })
    }

    fn run(&mut self, mut frames: Vec<Frame>, mut stepping_over: bool) -> Result<Outcome, EvalError> {
        let Some(mut frame) = frames.pop() else { return Ok(Outcome::Returned(Vec::new())) };
        self.callers = frames;
        loop {
            match self.run_frame(&mut frame, stepping_over) {
                Ok(Flow::Next(next)) => frame = next,
                Ok(Flow::End(outcome)) => {
                    match &outcome {
                        // Whoever goes on needs the frames and their slots.
                        Outcome::Exited { .. } | Outcome::Stopped { .. } => {}
                        Outcome::Returned(_) | Outcome::Trapped(_) => self.release_all(frame),
                    }
                    return Ok(outcome);
                }
                Err(error) => {
                    self.release_all(frame);
                    return Err(error);
                }
            }
            stepping_over = false;
        }
    }

    fn release_all(&mut self, last: Frame) {
        self.release(last);
        while let Some(frame) = self.callers.pop() {
            self.release(frame);
        }
    }

    fn burn(&mut self) -> Result<(), EvalError> {
        self.fuel = self.fuel.checked_sub(1).ok_or(EvalError::OutOfFuel)?;
        Ok(())
    }

    fn word(&self, frame: &Frame, operand: Operand) -> Word {
        match operand {
            Operand::Value(v) => frame.regs.get(v.index()).copied().unwrap_or(0),
            Operand::Const(c) => self.memory.resolve(c),
        }
    }

    fn words(&self, frame: &Frame, operands: &[Operand]) -> SmallVec<[Word; 8]> {
        operands.iter().map(|o| self.word(frame, *o)).collect()
    }

    /// Runs from the frame's position to where another one goes on.
    fn run_frame(&mut self, frame: &mut Frame, mut stepping_over: bool) -> Result<Flow, EvalError> {
        let module = self.module;
        let bad = |frame: &Frame, graph: &str| EvalError::BadPosition {
            graph: graph.to_owned(),
            block: BlockId(frame.block as u32),
            index: frame.index,
        };
        let Some((_, graph)) = module.graphs.get_index(frame.graph) else { return Err(bad(frame, "?")) };
        if frame.regs.len() < graph.values.len() {
            frame.regs.resize(graph.values.len(), 0);
        }
        loop {
            let block = graph.blocks.get(frame.block).filter(|block| frame.index <= block.ops.len());
            let block = block.ok_or_else(|| bad(frame, &graph.key))?;
            if let Some(flow) = self.run_ops(frame, graph, block, stepping_over)? {
                return Ok(flow);
            }
            self.burn()?;
            if let Some(flow) = self.run_terminator(frame, graph, &block.term)? {
                return Ok(flow);
            }
            stepping_over = false;
        }
    }

    /// Runs the ops that are left of a block, or up to one behind which another frame goes on.
    fn run_ops(
        &mut self,
        frame: &mut Frame,
        graph: &Graph,
        block: &Block,
        mut stepping_over: bool,
    ) -> Result<Option<Flow>, EvalError> {
        let mut few = [0; FEW];
        while let Some(op) = block.ops.get(frame.index) {
            self.burn()?;
            self.hooks.op(graph, frame, op);
            let many;
            let args = match few.get_mut(..op.args.len()) {
                Some(words) => {
                    words.iter_mut().zip(&op.args).for_each(|(word, arg)| *word = self.word(frame, *arg));
                    &*words
                }
                None => {
                    many = self.words(frame, &op.args);
                    &many[..]
                }
            };
            match op.opcode {
                Opcode::Call | Opcode::CallElidable => {
                    if let Some(flow) = self.run_call(frame, op, args)? {
                        return Ok(Some(flow));
                    }
                }
                Opcode::MergePoint if !stepping_over => {
                    if let Some(flow) = self.run_merge_point(frame, graph, op, args)? {
                        return Ok(Some(flow));
                    }
                }
                Opcode::StackSlot => {
                    if let Some(end) = self.run_slot(frame, op)? {
                        return Ok(Some(end));
                    }
                }
                _ => {
                    let jitted = op.opcode == Opcode::WeAreJitted && self.jitted && self.is_looked_into();
                    let results = execute(op, args, self.memory, jitted)?;
                    for (result, word) in op.results.iter().zip(&results) {
                        frame.regs[result.index()] = *word;
                    }
                }
            }
            stepping_over = false;
            frame.index += 1;
        }
        Ok(None)
    }

    /// Whether the compiler looks into the function that runs, and didn't just call it, or one that has called it, as
    /// it is.
    fn is_looked_into(&self) -> bool {
        let as_it_is = |frame: &Frame| {
            let block = self.module.graphs.get_index(frame.graph).and_then(|(_, g)| g.blocks.get(frame.block));
            let callee = block.and_then(|b| b.ops.get(frame.index)).and_then(Op::callee);
            callee.is_some_and(|c| matches!(c.mode, CallMode::Residual | CallMode::Fold))
        };
        !self.callers.iter().any(as_it_is)
    }

    /// A slot whose declaration is reached again is the same place, zero again.
    fn run_slot(&mut self, frame: &mut Frame, op: &Op) -> Result<Option<Flow>, EvalError> {
        let Some(result) = op.results.first() else { return Err(EvalError::NotExecutable(op.opcode.name())) };
        let old = frame.regs[result.index()];
        if let Some(at) = frame.slots.iter().position(|s| *s == old) {
            frame.slots.swap_remove(at);
            self.memory.free(old);
        }
        let size = if let Imm::Slot(slot) = &op.imm { u64::from(slot.size) } else { 0 };
        let used = self.memory.allocated().saturating_sub(self.allocated_before);
        if used + size > self.slot_limit {
            return Ok(Some(Flow::End(Outcome::Trapped(stack_exhausted(self.module.graphs[frame.graph].loc)))));
        }
        let words = execute(op, &[], self.memory, self.jitted)?;
        frame.slots.extend(words.iter());
        frame.regs[result.index()] = words[0];
        Ok(None)
    }

    fn run_call(&mut self, frame: &mut Frame, op: &Op, args: &[Word]) -> Result<Option<Flow>, EvalError> {
        let Some(callee) = op.callee() else { return Err(EvalError::NotExecutable(op.opcode.name())) };
        if callee.libm().is_some() {
            let results = execute(op, args, self.memory, self.jitted)
                .map_err(|_| EvalError::UnknownGraph(callee.name.to_string()))?;
            self.define(frame, op, &results)?;
            return Ok(None);
        }
        match self.hooks.call(self.callers.len(), &callee.name, args, self.memory) {
            CallAnswer::Enter => {}
            CallAnswer::Return(words) => {
                self.define(frame, op, &words)?;
                return Ok(None);
            }
            CallAnswer::Trap(report) => return Ok(Some(Flow::End(Outcome::Trapped(report)))),
            CallAnswer::Stop => return Ok(Some(self.stop(frame))),
        }
        let graph = self.resolve(&callee.name)?;
        if self.module.graphs[graph].is_host() {
            return match self.call_host(graph, args, op.loc)? {
                Ok(words) => self.define(frame, op, &words).map(|()| None),
                Err(report) => Ok(Some(Flow::End(Outcome::Trapped(report)))),
            };
        }
        if self.callers.len() + 1 >= self.depth_limit {
            return Ok(Some(Flow::End(Outcome::Trapped(stack_exhausted(self.module.graphs[graph].loc)))));
        }
        let next = self.enter(graph, args)?;
        self.callers.push(std::mem::take(frame));
        Ok(Some(Flow::Next(next)))
    }

    fn run_merge_point(
        &mut self,
        frame: &mut Frame,
        graph: &Graph,
        op: &Op,
        words: &[Word],
    ) -> Result<Option<Flow>, EvalError> {
        let at = MergePoint { depth: self.callers.len(), graph, frame, words };
        match self.hooks.merge_point(at, self.memory) {
            MergeAnswer::Continue => {}
            MergeAnswer::Update(words) => {
                if words.len() != op.args.len() {
                    let (wanted, given) = (op.args.len(), words.len());
                    return Err(EvalError::WrongCount { graph: graph.key.clone(), wanted, given });
                }
                for (operand, word) in op.args.iter().zip(words) {
                    if let Operand::Value(v) = operand {
                        frame.regs[v.index()] = word;
                    }
                }
            }
            MergeAnswer::Return(words) => return self.run_return(frame, words.into()).map(Some),
            MergeAnswer::Trap(report) => return Ok(Some(Flow::End(Outcome::Trapped(report)))),
            MergeAnswer::Stop => return Ok(Some(self.stop(frame))),
        }
        Ok(None)
    }

    fn all_frames(&mut self, last: &mut Frame) -> Vec<Frame> {
        let mut frames = std::mem::take(&mut self.callers);
        frames.push(std::mem::take(last));
        frames
    }

    fn stop(&mut self, frame: &mut Frame) -> Flow {
        Flow::End(Outcome::Stopped { frames: self.all_frames(frame) })
    }

    fn define(&self, frame: &mut Frame, op: &Op, words: &[Word]) -> Result<(), EvalError> {
        if op.results.len() != words.len() {
            let graph = self.module.graphs[frame.graph].key.clone();
            return Err(EvalError::WrongCount { graph, wanted: op.results.len(), given: words.len() });
        }
        for (result, word) in op.results.iter().zip(words) {
            frame.regs[result.index()] = *word;
        }
        Ok(())
    }

    /// Gives a waiting frame what its callee returned, and moves it past the call.
    fn finish_call(&self, frame: &mut Frame, words: &[Word]) -> Result<(), EvalError> {
        let graph = self.module.graphs.get_index(frame.graph).map(|(_, g)| g);
        let op = graph.and_then(|g| g.blocks.get(frame.block)).and_then(|b| b.ops.get(frame.index));
        match (graph, op) {
            (Some(graph), Some(op)) if op.callee().is_some() => {
                frame.regs.resize(graph.values.len().max(frame.regs.len()), 0);
                self.define(frame, op, words)?;
                frame.index += 1;
                Ok(())
            }
            _ => Err(EvalError::BadPosition {
                graph: graph.map_or_else(|| "?".to_owned(), |g| g.key.clone()),
                block: BlockId(frame.block as u32),
                index: frame.index,
            }),
        }
    }

    fn run_return(&mut self, frame: &mut Frame, words: Words) -> Result<Flow, EvalError> {
        for slot in frame.slots.drain(..) {
            self.memory.free(slot);
        }
        match self.callers.pop() {
            None => Ok(Flow::End(Outcome::Returned(words.into_vec()))),
            Some(mut caller) => {
                self.finish_call(&mut caller, &words)?;
                if self.scratch.registers.len() < MOST_SPARE {
                    self.scratch.registers.push(std::mem::take(&mut frame.regs));
                }
                Ok(Flow::Next(caller))
            }
        }
    }

    /// Leaves a block; for another one of the same frame unless it is said otherwise.
    fn run_terminator(
        &mut self,
        frame: &mut Frame,
        graph: &Graph,
        term: &Terminator,
    ) -> Result<Option<Flow>, EvalError> {
        let edge = match term {
            Terminator::Jump(edge) => edge,
            Terminator::Branch { cond, then, otherwise, .. } => {
                if self.word(frame, *cond) != 0 {
                    then
                } else {
                    otherwise
                }
            }
            Terminator::Switch { value, cases, default, .. } => {
                let value = self.word(frame, *value) as i64;
                cases.iter().find(|(case, _)| *case == value).map_or(default, |(_, edge)| edge)
            }
            Terminator::Return(values) => {
                let words = values.iter().map(|o| self.word(frame, *o)).collect();
                return self.run_return(frame, words).map(Some);
            }
            Terminator::Trap(trap) => {
                let words: Vec<Word> = trap.args.iter().map(|(o, _)| self.word(frame, *o)).collect();
                let report = TrapReport { kind: trap.kind, message: trap.render(&words), loc: trap.loc };
                return Ok(Some(Flow::End(Outcome::Trapped(report))));
            }
            Terminator::Exit { exit, guard, args } => {
                let guard = self.word(frame, *guard) as i64;
                let args = self.words(frame, args).into_vec();
                let frames = self.all_frames(frame);
                return Ok(Some(Flow::End(Outcome::Exited { exit: *exit, guard, args, frames })));
            }
            Terminator::Enter { graph: entered, args } => {
                let args = self.words(frame, args);
                let graph = self.resolve(entered)?;
                let mut next = self.enter(graph, &args)?;
                // The same activation goes on: its slots are reachable from the arguments.
                next.slots = std::mem::take(&mut frame.slots);
                return Ok(Some(Flow::Next(next)));
            }
        };
        self.follow(frame, graph, edge)?;
        Ok(None)
    }

    fn follow(&mut self, frame: &mut Frame, graph: &Graph, edge: &Edge) -> Result<(), EvalError> {
        let words = self.words(frame, &edge.args);
        let Some(target) = graph.blocks.get(edge.block.index()).filter(|b| b.params.len() == words.len()) else {
            return Err(EvalError::BadPosition { graph: graph.key.clone(), block: edge.block, index: 0 });
        };
        for (param, word) in target.params.iter().zip(&words) {
            frame.regs[param.index()] = *word;
        }
        (frame.block, frame.index) = (edge.block.index(), 0);
        Ok(())
    }
}

/// The trap of a recursion that is too deep, blamed on the function that could not be entered.
fn stack_exhausted(loc: Loc) -> TrapReport {
    TrapReport { kind: TrapKind::StackExhausted, message: TrapKind::StackExhausted.template().to_owned(), loc }
}
