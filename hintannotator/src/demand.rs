//! Backward: what must be green, and why.
//!
//! A hint, a portal's key or a demanded result asks for a value; the demand goes on to all that the value is computed
//! from, over joins, calls and returns, but not to the conditions that merely choose. It is found once for every
//! function and demanded part of its result, independently of the colors of arguments. Where a demand reaches what
//! can't be green (a red parameter, memory that changes, a call that isn't looked into), that is an error, blamed on
//! the whole way.

use crate::program::{FnId, Kind, Program};
use crate::shape::Def;
use crate::signature::Want;
use flowgraph::ir::{BlockId, Effect, Imm, MemKind, Opcode, Operand, Terminator, ValueId};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// The index of an [`Instance`].
pub(crate) type InstanceId = usize;

/// Why a value is demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// An operand of the `concrete` at this op.
    Concrete(BlockId, usize),
    /// Part of the key of the merge point at this op.
    MergeKey(BlockId, usize),
    /// A parameter of a portal, declared green.
    PortalGreen,
    /// Another value of the function is computed from it.
    Computes(ValueId),
    /// It is what the function returns, and a caller demands this value.
    Returned(InstanceId, ValueId),
    /// It is an argument of a call, whose callee demands this parameter.
    Argument(InstanceId, ValueId),
}

/// Why a demanded value can't be green.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Obstacle {
    /// A parameter of the entry that isn't known when compiling.
    RedParameter,
    /// A parameter of a portal, declared red.
    PortalRed,
    /// The address of a `&mut`.
    Exclusive,
    /// Read from memory that may change.
    Memory(MemKind),
    /// The address of a local.
    Local,
    /// The result of a call that isn't looked into.
    Opaque,
    /// Made red by `variable`.
    Variable,
    /// A question to the compiler, whose answer may change from state to state.
    Question,
}

/// A function whose result is demanded in a certain part.
pub(crate) struct Instance {
    pub function: FnId,
    pub want: Want,
    /// The demanded values, in the order in which they were found.
    pub demanded: IndexMap<ValueId, Reason>,
    /// The demanded values that can't be green.
    pub blocked: Vec<(ValueId, Obstacle)>,
    /// Where it is called from: which instance, and which op.
    callers: Vec<(InstanceId, BlockId, usize)>,
    /// Parameters of merge points that a portal declares red.
    reds: BTreeSet<ValueId>,
}

/// All demands of a program.
pub(crate) struct Demand<'p, 'm> {
    program: &'p Program<'m>,
    pub instances: Vec<Instance>,
    ids: FxHashMap<(FnId, Want), InstanceId>,
    todo: VecDeque<(InstanceId, ValueId)>,
}

impl<'p, 'm> Demand<'p, 'm> {
    /// Finds the demands of `entry`, of whose parameter leaves those in `known` are known, and of all that it calls.
    pub fn find(program: &'p Program<'m>, entry: FnId, known: &[bool]) -> Demand<'p, 'm> {
        let mut demand = Demand { program, instances: Vec::new(), ids: FxHashMap::default(), todo: VecDeque::new() };
        let results = program.function(entry).graph.results.len();
        let root = demand.instance(entry, vec![false; results]);
        demand.drain();
        demand.instances[root].block_unknown(program, known);
        demand
    }

    /// The instance of a function for what is wanted of its result.
    pub fn lookup(&self, function: FnId, want: &Want) -> Option<&Instance> {
        self.ids.get(&(function, want.clone())).map(|id| &self.instances[*id])
    }

    fn instance(&mut self, function: FnId, want: Want) -> InstanceId {
        if let Some(id) = self.ids.get(&(function, want.clone())) {
            return *id;
        }
        let id = self.instances.len();
        self.ids.insert((function, want.clone()), id);
        self.instances.push(Instance {
            function,
            want,
            demanded: IndexMap::new(),
            blocked: Vec::new(),
            callers: Vec::new(),
            reds: BTreeSet::new(),
        });
        self.seed(id);
        id
    }

    /// What the hints of a function ask for.
    fn seed(&mut self, id: InstanceId) {
        let function = self.program.function(self.instances[id].function);
        let graph = function.graph;
        if graph.attributes.portal.is_some() {
            for (param, leaf) in graph.entry_params().iter().zip(&function.leaves) {
                match leaf.key {
                    Some(true) => self.ask(id, Operand::Value(*param), Reason::PortalGreen),
                    _ => _ = self.instances[id].reds.insert(*param),
                }
            }
        }
        for block in graph.block_ids() {
            for (i, op) in graph.block(block).ops.iter().enumerate() {
                match op.opcode {
                    Opcode::Concrete => self.ask(id, op.args[0], Reason::Concrete(block, i)),
                    Opcode::MergePoint => {
                        for (arg, leaf) in op.args.iter().zip(&function.leaves) {
                            match leaf.key {
                                Some(true) => self.ask(id, *arg, Reason::MergeKey(block, i)),
                                Some(false) => self.instances[id].reds.extend(arg.value()),
                                None => {}
                            }
                        }
                        // Behind the parameters' leaves, `#[green]` fields.
                        for arg in op.args.iter().skip(function.leaves.len()) {
                            self.ask(id, *arg, Reason::MergeKey(block, i));
                        }
                    }
                    _ => {}
                }
            }
        }
        for block in graph.block_ids() {
            for i in 0..graph.block(block).ops.len() {
                self.call(id, block, i);
            }
        }
    }

    /// Makes sure that the callee of the op, if it is a call that is looked into, is annotated for what is demanded of
    /// the op's results, and that what the callee demands of its parameters is demanded of the arguments.
    fn call(&mut self, id: InstanceId, block: BlockId, i: usize) {
        let program = self.program;
        let op = &program.function(self.instances[id].function).graph.block(block).ops[i];
        let Some(callee) = op.callee() else { return };
        let Kind::LookedInto(function) = program.kind(op, callee) else { return };
        let demanded = &self.instances[id].demanded;
        let want: Want = op.results.iter().map(|r| demanded.contains_key(r)).collect();
        let wanted: Vec<ValueId> = op.results.iter().copied().filter(|r| demanded.contains_key(r)).collect();
        let callee = self.instance(function, want.clone());
        if !self.instances[callee].callers.contains(&(id, block, i)) {
            self.instances[callee].callers.push((id, block, i));
            for v in wanted {
                let Some(leaf) = op.results.iter().position(|r| *r == v) else { continue };
                self.ask_for_result(callee, leaf, Reason::Returned(id, v));
            }
            for (param, arg) in program.function(function).graph.entry_params().iter().zip(&op.args) {
                if self.instances[callee].demanded.contains_key(param) {
                    self.ask(id, *arg, Reason::Argument(callee, *param));
                }
            }
        }
    }

    fn ask_for_result(&mut self, id: InstanceId, leaf: usize, reason: Reason) {
        let graph = self.program.function(self.instances[id].function).graph;
        for block in &graph.blocks {
            if let Terminator::Return(values) = &block.term
                && let Some(value) = values.get(leaf)
            {
                self.ask(id, *value, reason);
            }
        }
    }

    fn ask(&mut self, id: InstanceId, operand: Operand, reason: Reason) {
        if let Operand::Value(v) = operand {
            let instance = &mut self.instances[id];
            if let indexmap::map::Entry::Vacant(entry) = instance.demanded.entry(v) {
                entry.insert(reason);
                self.todo.push_back((id, v));
            }
        }
    }

    fn drain(&mut self) {
        while let Some((id, v)) = self.todo.pop_front() {
            self.go_on(id, v);
        }
    }

    fn go_on(&mut self, id: InstanceId, v: ValueId) {
        let program = self.program;
        let function = program.function(self.instances[id].function);
        let graph = function.graph;
        if self.instances[id].reds.contains(&v) {
            self.instances[id].blocked.push((v, Obstacle::PortalRed));
            return;
        }
        match function.shape.defs[v.index()] {
            Def::Nowhere => {}
            Def::Param { block: BlockId::ENTRY, index } => {
                if function.leaves[index].exclusive {
                    self.instances[id].blocked.push((v, Obstacle::Exclusive));
                    return;
                }
                for (caller, block, op) in self.instances[id].callers.clone() {
                    let site = &program.function(self.instances[caller].function).graph.block(block).ops[op];
                    if let Some(arg) = site.args.get(index) {
                        self.ask(caller, *arg, Reason::Argument(id, v));
                    }
                }
            }
            Def::Param { block, index } => {
                for (_, arg) in function.shape.inputs(graph, block, index) {
                    self.ask(id, arg, Reason::Computes(v));
                }
            }
            Def::Op { block, op: i } => {
                let op = &graph.block(block).ops[i];
                let obstacle = match (op.opcode, op.opcode.effect(), &op.imm) {
                    (Opcode::Concrete | Opcode::Promote, ..) => return,
                    (Opcode::IsConstant | Opcode::IsVirtual, ..) => Some(Obstacle::Question),
                    (Opcode::Variable, ..) => Some(Obstacle::Variable),
                    (_, Effect::Read, Imm::Mem(mem)) if mem.kind != MemKind::Immutable => {
                        Some(Obstacle::Memory(mem.kind))
                    }
                    (_, Effect::Allocate | Effect::Write, _) => Some(Obstacle::Local),
                    (_, Effect::Call | Effect::ElidableCall, Imm::Call(callee)) => match program.kind(op, callee) {
                        Kind::LookedInto(_) => {
                            self.call(id, block, i);
                            return;
                        }
                        Kind::Elidable => None,
                        Kind::Opaque => Some(Obstacle::Opaque),
                    },
                    _ => None,
                };
                match obstacle {
                    Some(obstacle) => self.instances[id].blocked.push((v, obstacle)),
                    None => {
                        for r in &op.results {
                            self.ask(id, Operand::Value(*r), Reason::Computes(v));
                        }
                        for arg in &op.args {
                            self.ask(id, *arg, Reason::Computes(v));
                        }
                    }
                }
            }
        }
    }
}

impl Instance {
    /// Notes which demanded parameters of the entry aren't known.
    fn block_unknown(&mut self, program: &Program<'_>, known: &[bool]) {
        let params = program.function(self.function).graph.entry_params();
        for (p, _) in params.iter().zip(known).filter(|(_, known)| !**known) {
            if self.demanded.contains_key(p) && !self.blocked.iter().any(|(v, _)| v == p) {
                self.blocked.push((*p, Obstacle::RedParameter));
            }
        }
    }
}
