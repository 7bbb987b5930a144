//! What the branches on the way to a block say of a value: enough to leave out what the graph has checked itself.
//!
//! Branches that a block can't be reached around are looked at: those at the ends of a chain of single predecessors. Of
//! what a block at the head of the chain is handed, besides, those that each way there begins with.

use flowgraph::ir::{BlockId, Graph, Opcode, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

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
    /// By block with several ways there, all of them: from which block, by which of its edges.
    ways: FxHashMap<BlockId, Vec<(BlockId, usize)>>,
    /// By value: block and index of the op that defines it.
    defined: Vec<Option<(BlockId, usize)>>,
}

impl Facts {
    /// Looks at a graph.
    pub fn new(graph: &Graph) -> Facts {
        let mut facts = Facts {
            entered: vec![Entered::Never; graph.blocks.len()],
            ways: FxHashMap::default(),
            defined: vec![None; graph.values.len()],
        };
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
        for id in graph.block_ids() {
            for (number, edge) in graph.block(id).term.edges().enumerate() {
                if facts.entered[edge.block.index()] == Entered::ManyWays && !graph.block(edge.block).params.is_empty()
                {
                    facts.ways.entry(edge.block).or_default().push((id, number));
                }
            }
        }
        facts
    }

    /// Whether a value can't be `word` in a block.
    pub fn differs(&self, graph: &Graph, value: ValueId, word: i64, block: BlockId) -> bool {
        let mut at = block;
        for _ in 0..DISTANCE {
            let Entered::From(from, taken) = self.entered[at.index()] else {
                return self.differs_on_all_ways(graph, value, word, at);
            };
            if let (Some(taken), Terminator::Branch { cond, .. }) = (taken, &graph.block(from).term)
                && self.says_differs(graph, *cond, taken, value, word)
            {
                return true;
            }
            at = from;
        }
        false
    }

    /// Whether a block is handed anything but `word` as a value, as the branches say that lead there.
    fn differs_on_all_ways(&self, graph: &Graph, value: ValueId, word: i64, block: BlockId) -> bool {
        let Some(number) = graph.block(block).params.iter().position(|param| *param == value) else { return false };
        let ways = self.ways.get(&block).map_or(&[][..], Vec::as_slice);
        let differs = |(from, side): &(BlockId, usize)| {
            let term = &graph.block(*from).term;
            let handed = term.edges().nth(*side).and_then(|edge| edge.args.get(number));
            match (handed, term) {
                (Some(Operand::Const(known)), _) => known.as_int().is_some_and(|known| known != word),
                (Some(Operand::Value(handed)), Terminator::Branch { cond, .. }) => {
                    self.says_differs(graph, *cond, *side == 0, *handed, word)
                }
                _ => false,
            }
        };
        !ways.is_empty() && ways.iter().all(differs)
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
