//! Loops of the interpreter that a trace goes through round by round, since it knows when they end.
//!
//! `for k in 0..3 { sum += a[k]; }` in an interpreter counts by a red, so a trace would make it a loop: with a local
//! array in memory, and a test in each round. But where it stands at the loop's head all that the loop counts by is
//! constant: so how many rounds are left is found out by counting.

use crate::specialize::engine::Engine;
use crate::specialize::state::{GraphIx, State};
use flowgraph::analysis::Loop;
use flowgraph::ir::{BlockId, Graph, Op, Operand, Terminator, ValueId, Word};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many rounds are gone through one by one.
const ROUNDS: usize = 16;

/// And so many ops of the interpreter, in all of these.
const OPS: usize = 400;

/// Ops are computed through so many others inside of each other.
const DEPTH: usize = 16;

/// A round, as far as constants say what it does.
struct Round<'a> {
    graph: &'a Graph,
    of: &'a Loop,
    /// By value that ops in the loop compute: the op.
    defined: FxHashMap<ValueId, &'a Op>,
    /// What is constant where the round begins.
    constants: FxHashMap<ValueId, Word>,
}

impl Engine<'_> {
    /// Whether the loop at whose head a state stands ends soon, whatever isn't known.
    pub(crate) fn ends_soon(&self, st: &State) -> bool {
        let frame = st.frame();
        if frame.index != 0 {
            return false;
        }
        let loaded = self.program.loaded(frame.graph);
        loaded.order.loop_at(frame.block).is_some_and(|l| self.rounds_left(st, frame.graph, l).is_some())
    }

    /// How many rounds of a loop are left, if that are few.
    fn rounds_left(&self, st: &State, ix: GraphIx, of: &Loop) -> Option<usize> {
        let loaded = self.program.loaded(ix);
        let (graph, order) = (loaded.graph, loaded.order);
        let body = || of.body.iter().map(|block| BlockId(block as u32));
        let ops: usize = body().map(|block| graph.block(block).ops.len()).sum();
        if ops > OPS {
            return None;
        }
        let latch = one(order.predecessors(of.head).iter().copied().filter(|from| of.body.contains(from.index())))?;
        let constants = st.frame().regs.iter().filter_map(|(value, reg)| Some((*value, reg.red().constant()?.word()?)));
        let mut constants: FxHashMap<ValueId, Word> = constants.collect();
        // What the round before has left there is something else in the next one.
        for block in body() {
            let params = graph.block(block).params.iter().filter(|_| block != of.head);
            let results = graph.block(block).ops.iter().flat_map(|op| &op.results);
            params.chain(results).for_each(|value| _ = constants.remove(value));
        }
        let defined = body().flat_map(|block| &graph.block(block).ops);
        let defined = defined.filter_map(|op| op.results.first().map(|result| (*result, op))).collect();
        let mut round = Round { graph, of, defined, constants };
        // What each round asks to go on.
        let asked = body().filter(|block| order.dominates(*block, latch));
        let asked: SmallVec<[BlockId; 4]> = asked.filter(|block| round.leaves(*block).is_some()).collect();
        if asked.is_empty() {
            return None;
        }
        for rounds in 0..=ROUNDS.min(OPS / ops.max(1)) {
            if asked.iter().any(|block| round.ends(*block)) {
                return Some(rounds);
            }
            round.next(latch)?;
        }
        None
    }
}

impl Round<'_> {
    /// Which side of a block's branch leaves the loop, if just one does, and for more than a trap.
    fn leaves(&self, block: BlockId) -> Option<bool> {
        let Terminator::Branch { then, otherwise, .. } = &self.graph.block(block).term else { return None };
        let out = |to: BlockId| {
            let traps = matches!(self.graph.block(to).term, Terminator::Trap(_));
            !self.of.body.contains(to.index()) && !traps
        };
        match (out(then.block), out(otherwise.block)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Whether the loop ends at a block in this round, as far as that is known.
    fn ends(&self, block: BlockId) -> bool {
        let Terminator::Branch { cond, .. } = &self.graph.block(block).term else { return false };
        self.word(*cond, DEPTH).is_some_and(|cond| self.leaves(block) == Some(cond != 0))
    }

    /// Goes on to the next round, if anything is known of that.
    fn next(&mut self, latch: BlockId) -> Option<()> {
        let edge = one(self.graph.block(latch).term.edges().filter(|edge| edge.block == self.of.head))?;
        let params = &self.graph.block(self.of.head).params;
        let handed: Vec<(ValueId, Option<Word>)> =
            params.iter().zip(&edge.args).map(|(param, arg)| (*param, self.word(*arg, DEPTH))).collect();
        for (param, word) in handed {
            match word {
                Some(word) => _ = self.constants.insert(param, word),
                None => _ = self.constants.remove(&param),
            }
        }
        params.iter().any(|param| self.constants.contains_key(param)).then_some(())
    }

    /// What an operand is in this round, if constants say so.
    fn word(&self, operand: Operand, depth: usize) -> Option<Word> {
        let value = match operand {
            Operand::Const(constant) => return constant.word(),
            Operand::Value(value) => value,
        };
        if let Some(word) = self.constants.get(&value) {
            return Some(*word);
        }
        let op = self.defined.get(&value).filter(|_| depth > 0)?;
        let words: SmallVec<[Word; 3]> = op.args.iter().map(|arg| self.word(*arg, depth - 1)).collect::<Option<_>>()?;
        op.opcode.compute(&words)?.first().copied()
    }
}

/// The only one of these, if there is just one.
fn one<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
