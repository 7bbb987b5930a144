//! What the branches on the way to a block say of a value: enough to leave out what the graph has checked itself.
//!
//! Only branches that a block can't be reached around are looked at: those at the ends of a chain of single
//! predecessors.

use flowgraph::ir::{BlockId, Graph, Opcode, Operand, Terminator, ValueId};

/// How far up a chain of predecessors to look.
const DISTANCE: usize = 16;

/// The only edge into a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// None was seen yet.
    Never,
    /// From here, if the branch there was taken (`Some(true)`), was not (`Some(false)`), or in some other way.
    From(BlockId, Option<bool>),
    /// There are several.
    ManyWays,
}

/// The single predecessors of a graph's blocks, and where its values are defined.
pub(crate) struct Facts {
    entered: Vec<Entered>,
    /// By value: block and index of the op that defines it.
    defined: Vec<Option<(BlockId, usize)>>,
}

impl Facts {
    /// Looks at a graph.
    pub fn new(graph: &Graph) -> Facts {
        let mut facts =
            Facts { entered: vec![Entered::Never; graph.blocks.len()], defined: vec![None; graph.values.len()] };
        for id in graph.block_ids() {
            let block = graph.block(id);
            for (at, op) in block.ops.iter().enumerate() {
                for result in &op.results {
                    facts.defined[result.index()] = Some((id, at));
                }
            }
            let branch = matches!(block.term, Terminator::Branch { .. });
            for (i, edge) in block.term.edges().enumerate() {
                let entered = &mut facts.entered[edge.block.index()];
                let taken = branch.then_some(i == 0);
                *entered = if *entered == Entered::Never { Entered::From(id, taken) } else { Entered::ManyWays };
            }
        }
        facts
    }

    /// Whether a value can't be `word` in a block.
    pub fn differs(&self, graph: &Graph, value: ValueId, word: i64, block: BlockId) -> bool {
        let mut at = block;
        for _ in 0..DISTANCE {
            let Entered::From(from, taken) = self.entered[at.index()] else { return false };
            if let (Some(taken), Terminator::Branch { cond, .. }) = (taken, &graph.block(from).term)
                && self.says_differs(graph, *cond, taken, value, word)
            {
                return true;
            }
            at = from;
        }
        false
    }

    /// Whether `cond` being true (or false) says that a value isn't `word`.
    fn says_differs(&self, graph: &Graph, cond: Operand, holds: bool, value: ValueId, word: i64) -> bool {
        let Operand::Value(cond) = cond else { return false };
        if cond == value {
            return word == 0 && holds;
        }
        let Some((block, at)) = self.defined[cond.index()] else { return false };
        let op = &graph.block(block).ops[at];
        let is_value = |i: usize| op.args[i] == Operand::Value(value);
        let with_word =
            || (is_value(0) && op.args[1].as_int() == Some(word)) || (is_value(1) && op.args[0].as_int() == Some(word));
        match op.opcode {
            Opcode::Likely => self.says_differs(graph, op.args[0], holds, value, word),
            Opcode::IntIsTrue => word == 0 && holds && is_value(0),
            Opcode::IntIsZero => word == 0 && !holds && is_value(0),
            Opcode::IntNe => holds && with_word(),
            Opcode::IntEq => !holds && with_word(),
            _ => false,
        }
    }
}
