//! What a join is soon followed by.
//!
//! Where `match` or `?` follow a call that is copied in, the arms of the callee join, each with another tag, and the
//! first thing done behind the join is to look at the tag:
//!
//! ```text
//! b3(v5: int r, v6: int r):  the result of `get`: 1 and a value, or 0
//!     local_merge
//!     return v5, v6          and in the caller: split v3, …
//! ```
//!
//! States that know what the split will do are not met with others there: the key of the join has the value that
//! decides. Each then goes its way, and no tag is left. A state that doesn't know it is met with its likes, as ever.

use crate::specialize::engine::Engine;
use crate::specialize::state::{Frame, Red, Reg, State};
use flowgraph::analysis::Order;
use flowgraph::ir::{BlockId, Const, Effect, Graph, MarkKind, Op, Operand, Terminator, Time, ValueId};
use rustc_hash::FxHashMap;

/// So many ops may stand between a join and what it is followed by: they are emitted for each value apart.
const MOST_OPS: usize = 8;

/// So many blocks.
const MOST_BLOCKS: usize = 4;

/// What follows on a position, without a choice in between.
#[derive(Clone, Debug)]
enum Ahead {
    /// A split, which this register decides.
    Split(ValueId),
    /// The function's end, with the registers that decide its results.
    Return(Vec<Option<ValueId>>),
}

/// By position: what follows on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookahead(FxHashMap<(BlockId, u32), Ahead>);

impl Lookahead {
    /// Looks ahead from the joins of a compiler graph, and from where its calls come back.
    pub(crate) fn new(graph: &Graph, order: &Order) -> Lookahead {
        let mut found = FxHashMap::default();
        for id in graph.block_ids() {
            let block = graph.block(id);
            let joins = block.marks.iter().filter(|m| m.kind == MarkKind::LocalMerge).map(|m| m.at);
            let calls = (1..).zip(&block.ops).filter(|(_, op)| op.callee().is_some()).map(|(behind, _)| behind);
            for at in joins.chain(calls) {
                if let Some(ahead) = ahead(graph, order, (id, at as usize)) {
                    found.insert((id, at), ahead);
                }
            }
        }
        Lookahead(found)
    }

    fn from(&self, block: BlockId, index: u32) -> Option<&Ahead> {
        self.0.get(&(block, index))
    }
}

fn ahead(graph: &Graph, order: &Order, from: (BlockId, usize)) -> Option<Ahead> {
    let mut path = vec![from];
    let mut passed = 0;
    loop {
        let (block, index) = *path.last()?;
        let ops = &graph.block(block).ops[index..];
        passed += ops.len();
        if passed > MOST_OPS || path.len() > MOST_BLOCKS || ops.iter().any(|op| op.opcode.effect() != Effect::Pure) {
            return None;
        }
        match &graph.block(block).term {
            Terminator::Jump(edge) if order.loop_at(edge.block).is_none() => path.push((edge.block, 0)),
            Terminator::Branch { cond: by, time: Time::Emit, .. }
            | Terminator::Switch { value: by, time: Time::Emit, .. } => {
                return register(graph, &path, *by).map(Ahead::Split);
            }
            Terminator::Return(values) => {
                return Some(Ahead::Return(values.iter().map(|v| register(graph, &path, *v)).collect()));
            }
            _ => return None,
        }
    }
}

/// The register at the beginning of a path that alone decides an operand at its end.
fn register(graph: &Graph, path: &[(BlockId, usize)], operand: Operand) -> Option<ValueId> {
    let mut register = operand.value()?;
    for (nth, (block, index)) in path.iter().enumerate().rev() {
        let code = graph.block(*block);
        for op in code.ops[*index..].iter().rev() {
            if op.results.contains(&register) {
                register = only_operand(op)?;
            }
        }
        if let Some(at) = code.params.iter().position(|p| *p == register)
            && let Some((before, _)) = nth.checked_sub(1).map(|before| path[before])
            && let Terminator::Jump(edge) = &graph.block(before).term
        {
            register = edge.args[at].value()?;
        }
    }
    Some(register)
}

/// The one operand of an op that is no constant.
fn only_operand(op: &Op) -> Option<ValueId> {
    let mut values = op.args.iter().filter_map(|arg| arg.value());
    let first = values.next()?;
    values.all(|v| v == first).then_some(first)
}

impl Engine<'_> {
    /// What is known in a state that stands at a join of what decides the split behind it.
    pub(crate) fn decided_ahead(&self, st: &State) -> Option<(ValueId, Const)> {
        let (innermost, outer) = st.frames.split_last()?;
        let known = |register: ValueId| match innermost.regs.get(register)? {
            Reg::Red(Red::Const(c)) => Some((register, c)),
            _ => None,
        };
        let mut results = match self.ahead_of(innermost, innermost.index)? {
            Ahead::Split(by) => return known(*by),
            Ahead::Return(results) => results.clone(),
        };
        for frame in outer.iter().rev() {
            let call = self.program.graph(frame.graph).block(frame.block).ops.get(frame.index as usize)?;
            let given = |value: ValueId| {
                let at = call.results.iter().position(|r| *r == value)?;
                results.get(at).copied().flatten()
            };
            match self.ahead_of(frame, frame.index + 1)? {
                Ahead::Split(by) => return known(given(*by)?),
                Ahead::Return(next) => results = next.iter().map(|v| v.and_then(given)).collect(),
            }
        }
        None
    }

    fn ahead_of(&self, frame: &Frame, index: u32) -> Option<&Ahead> {
        self.program.loaded(frame.graph).lookahead.from(frame.block, index)
    }
}
