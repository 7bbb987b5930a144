//! For each value, what forced its color: one edge, to a hint or to another value. Following the edges gives the chain.

use crate::demand::{Demand, Reason};
use crate::forward::Colored;
use crate::program::{FnId, Kind, Program};
use crate::shape::Def;
use crate::signature::{Letter, Want};
use flowgraph::ir::{BlockId, Color, Imm, Loc, MemKind, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;

/// The index of a graph in the colored module.
pub(crate) type GraphIx = usize;

/// Why a value has its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Green: the `concrete` at this place asks for it.
    Concrete(Loc),
    /// Green: part of the key of the merge point at this place.
    MergeKey(Loc),
    /// Green: the portal declares it so.
    PortalGreen,
    /// Green: this value, which must be green, is computed from it.
    Computes(ValueId),
    /// Green: it is returned to a caller, where this value must be green.
    Returned(GraphIx, ValueId),
    /// Green: it is passed to this graph, whose parameter must be green.
    Argument(GraphIx, ValueId),
    /// Green: the result of this hint.
    Hint(Opcode),
    /// Green or blue or red: computed from this value, or joined from it, which is.
    From(ValueId),
    /// Green: the argument is, in this signature.
    EagerArgument,
    /// Green or red, as what the callee returns.
    Result(GraphIx, Option<ValueId>),
    /// Red: a parameter.
    Parameter,
    /// Red: a parameter that is known at first.
    Known,
    /// Red: a parameter that the portal declares so.
    PortalRed,
    /// Red: read from memory that may change.
    Memory(MemKind),
    /// Red: from a call that isn't looked into.
    Opaque,
    /// Red: from a function that is called rather than copied in.
    Called,
    /// Red: made so by `variable`.
    Variable,
    /// Red: it changes in a loop that no green ends; its head is here.
    Uncontrolled(BlockId),
    /// Blue: the address of a local.
    Local,
    /// Red: nothing asks for it.
    NotAsked,
}

/// The causes of every value of every reached graph.
pub(crate) fn of_all(program: &Program<'_>, demand: &Demand<'_, '_>, reached: &[Rc<Colored>]) -> Vec<Vec<Cause>> {
    let mut index = Index { by_want: FxHashMap::default(), by_function: FxHashMap::default() };
    for (ix, colored) in reached.iter().enumerate() {
        index.by_want.entry((colored.function, colored.sig.want.clone())).or_insert(ix);
        index.by_function.entry(colored.function).or_insert(ix);
    }
    let keys: FxHashMap<_, GraphIx> =
        reached.iter().enumerate().map(|(ix, c)| ((c.function, c.sig.clone()), ix)).collect();
    let find = |site: &(FnId, crate::signature::Sig)| keys.get(site).copied();
    reached.iter().map(|colored| Causes { program, demand, index: &index, reached, colored }.find(&find)).collect()
}

struct Index {
    by_want: FxHashMap<(FnId, Want), GraphIx>,
    by_function: FxHashMap<FnId, GraphIx>,
}

struct Causes<'a, 'p, 'm> {
    program: &'a Program<'m>,
    demand: &'a Demand<'p, 'm>,
    index: &'a Index,
    reached: &'a [Rc<Colored>],
    colored: &'a Colored,
}

type Find<'f> = &'f dyn Fn(&(FnId, crate::signature::Sig)) -> Option<GraphIx>;

impl Causes<'_, '_, '_> {
    fn find(&self, find: Find<'_>) -> Vec<Cause> {
        let graph = self.program.function(self.colored.function).graph;
        let mut causes: Vec<Option<Cause>> =
            (0..graph.values.len()).map(|v| self.own(ValueId(v as u32), find)).collect();
        let mut users: Vec<Vec<ValueId>> = vec![Vec::new(); graph.values.len()];
        for v in (0..graph.values.len() as u32).map(ValueId).filter(|v| causes[v.index()].is_none()) {
            for input in self.inputs(v) {
                users[input.index()].push(v);
            }
        }
        let mut todo: VecDeque<usize> = (0..causes.len()).filter(|v| causes[*v].is_some()).collect();
        while let Some(from) = todo.pop_front() {
            for user in &users[from] {
                if causes[user.index()].is_none() {
                    causes[user.index()] = Some(Cause::From(ValueId(from as u32)));
                    todo.push_back(user.index());
                }
            }
        }
        causes.into_iter().map(|c| c.unwrap_or(Cause::NotAsked)).collect()
    }

    fn color(&self, v: ValueId) -> Color {
        self.colored.colors[v.index()]
    }

    /// The values of the same color that `v` is computed or joined from.
    fn inputs(&self, v: ValueId) -> Vec<ValueId> {
        let function = self.program.function(self.colored.function);
        let operands: Vec<Operand> = match function.shape.defs[v.index()] {
            Def::Nowhere => Vec::new(),
            Def::Param { block, index } => {
                function.shape.inputs(function.graph, block, index).map(|(_, a)| a).collect()
            }
            Def::Op { block, op } => function.graph.block(block).ops[op].args.to_vec(),
        };
        operands.into_iter().filter_map(Operand::value).filter(|w| self.color(*w) == self.color(v)).collect()
    }

    /// The cause of a color that doesn't come from another value of the same function and color.
    fn own(&self, v: ValueId, find: Find<'_>) -> Option<Cause> {
        let function = self.program.function(self.colored.function);
        let def = function.shape.defs[v.index()];
        let op = match def {
            Def::Op { block, op } => Some((block, op, &function.graph.block(block).ops[op])),
            _ => None,
        };
        if self.color(v) == Color::Green {
            if let Some((.., op)) = op
                && matches!(op.opcode, Opcode::Concrete | Opcode::Promote)
            {
                return Some(Cause::Hint(op.opcode));
            }
            return self.demanded(v).or_else(|| match def {
                Def::Param { block: BlockId::ENTRY, .. } => Some(Cause::EagerArgument),
                Def::Op { block, op } => self.result(block, op, v, find),
                _ => None,
            });
        }
        if let Some(head) = self.colored.uncontrolled.get(&v) {
            return Some(Cause::Uncontrolled(*head));
        }
        match def {
            Def::Param { block: BlockId::ENTRY, index } => Some(match self.colored.sig.letters.get(index) {
                Some(Letter::Known) => Cause::Known,
                _ if function.leaves[index].key == Some(false) => Cause::PortalRed,
                _ => Cause::Parameter,
            }),
            Def::Op { block, op: i } => {
                let op = &function.graph.block(block).ops[i];
                match (op.opcode, &op.imm) {
                    (Opcode::Variable, _) => Some(Cause::Variable),
                    (Opcode::StackSlot, _) => Some(Cause::Local),
                    (_, Imm::Mem(mem)) if mem.kind != MemKind::Immutable => Some(Cause::Memory(mem.kind)),
                    (_, Imm::Call(callee)) => match self.program.kind(op, callee) {
                        Kind::Opaque => Some(Cause::Opaque),
                        Kind::Elidable => None,
                        Kind::LookedInto(_) => self.result(block, i, v, find),
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn demanded(&self, v: ValueId) -> Option<Cause> {
        let colored = self.colored;
        let instance = self.demand.lookup(colored.function, &colored.sig.want)?;
        let graph = self.program.function(colored.function).graph;
        Some(match *instance.demanded.get(&v)? {
            Reason::Concrete(block, op) => Cause::Concrete(graph.block(block).ops[op].loc),
            Reason::MergeKey(block, op) => Cause::MergeKey(graph.block(block).ops[op].loc),
            Reason::PortalGreen => Cause::PortalGreen,
            Reason::Computes(by) => Cause::Computes(by),
            Reason::Returned(id, by) => Cause::Returned(self.graph_of(id)?, by),
            Reason::Argument(id, by) => Cause::Argument(self.graph_of(id)?, by),
        })
    }

    /// A reached graph of the instance, or of its function where calls want more of it.
    fn graph_of(&self, instance: usize) -> Option<GraphIx> {
        let instance = &self.demand.instances[instance];
        let exact = self.index.by_want.get(&(instance.function, instance.want.clone()));
        exact.or_else(|| self.index.by_function.get(&instance.function)).copied()
    }

    /// The result of a call that is looked into, as what the callee returns.
    fn result(&self, block: BlockId, op: usize, v: ValueId, find: Find<'_>) -> Option<Cause> {
        let site = self.colored.calls.get(&(block, op))?;
        let ix = find(site)?;
        let callee = &self.reached[ix];
        if !callee.is_inlined(self.program) {
            return Some(Cause::Called);
        }
        let graph = self.program.function(callee.function).graph;
        let results = &self.program.function(self.colored.function).graph.block(block).ops[op].results;
        let leaf = results.iter().position(|r| *r == v)?;
        let returned = graph.blocks.iter().find_map(|b| match &b.term {
            Terminator::Return(values) => {
                values.get(leaf)?.value().filter(|w| callee.colors[w.index()] == self.color(v))
            }
            _ => None,
        });
        Some(Cause::Result(ix, returned))
    }
}
