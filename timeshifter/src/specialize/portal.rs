//! Portals that tier 0 runs: it is no graph, and hands over the words of a portal's parameters at the merge point.
//!
//! A portal's parameters are exactly its greens and reds (the resume contract, section 1). So the words of their leaves are
//! a frame that stands at the merge point, and such a frame is those words.

use super::engine::{Engine, RootKind, Unit};
use super::error::SpecError;
use super::memory::RootId;
use super::state::GraphIx;
use flowgraph::eval;
use flowgraph::ir::{BlockId, Loc, Opcode, Operand, ValueId, Word};

/// A portal, as tier 0 comes to it.
#[derive(Clone, Debug)]
pub struct Portal {
    /// The unit that its fragments belong to.
    pub unit: usize,
    graph: GraphIx,
    twin: Option<GraphIx>,
    /// Where the merge point is.
    block: BlockId,
    index: usize,
    /// The values of the parameters' leaves there, in order.
    leaves: Vec<ValueId>,
    /// The `&mut` among them, with the roots that they are.
    roots: Vec<(usize, RootId)>,
}

impl Engine<'_> {
    /// The portal whose compiler graph is `key`, to be traced from its merge point.
    ///
    /// # Errors
    /// If there is no such graph, or it has no merge point for all its parameters.
    pub fn portal(&mut self, key: &str) -> Result<Portal, SpecError> {
        let graph = self.find_graph(key)?;
        let source = self.program.graph(graph);
        let merge = source.block_ids().find_map(|block| {
            let at = source.block(block).ops.iter().position(|op| op.opcode == Opcode::MergePoint)?;
            Some((block, at))
        });
        let malformed = || SpecError::Malformed(format!("`{key}` is no portal"), source.loc);
        let (block, index) = merge.ok_or_else(malformed)?;
        let leaves = source.block(block).ops[index].args.iter().map(|arg| match arg {
            Operand::Value(value) => Ok(*value),
            Operand::Const(_) => Err(malformed()),
        });
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        if leaves.len() != source.entry_params().len() {
            return Err(malformed());
        }
        let references = self.references(graph);
        let exclusive = references.iter().enumerate().filter(|(_, reference)| **reference == Some(true));
        let roots = exclusive.map(|(at, _)| (at, self.new_root(RootKind::Outside))).collect();
        // It begins with the fragment that is made next, by the first trace.
        self.units.push(Unit { fragment: self.fragments.len(), graph, exits: true, done: true });
        Ok(Portal { unit: self.units.len() - 1, graph, twin: self.program.twin(graph), block, index, leaves, roots })
    }

    /// Begins a run that tier 0 has brought to a portal's merge point, with the words of its parameters' leaves. Gives the
    /// frame that they are.
    ///
    /// # Errors
    /// If there are more or fewer words than leaves.
    pub fn arrive(&mut self, portal: &Portal, words: &[Word]) -> Result<eval::Frame, SpecError> {
        if words.len() != portal.leaves.len() {
            return Err(SpecError::WrongArguments { expected: portal.leaves.len(), got: words.len() });
        }
        self.run_roots = portal.roots.iter().map(|(at, root)| (*root, words[*at])).collect();
        let mut regs = vec![0; self.program.graph(portal.graph).values.len()];
        for (value, word) in portal.leaves.iter().zip(words) {
            regs[value.index()] = *word;
        }
        let (block, index) = (portal.block.index(), portal.index);
        Ok(eval::Frame { graph: portal.graph.0 as usize, block, index, regs, slots: Vec::new() })
    }

    /// The words that frames are with which tier 0 can go on: those of the portal alone, at its merge point.
    pub fn leave(&self, portal: &Portal, frames: &[eval::Frame]) -> Option<Vec<Word>> {
        let [frame] = frames else { return None };
        let graph = GraphIx(frame.graph as u32);
        let here = (graph == portal.graph || Some(graph) == portal.twin)
            && (frame.block, frame.index) == (portal.block.index(), portal.index);
        here.then(|| portal.leaves.iter().map(|leaf| frame.regs[leaf.index()]).collect())
    }

    /// What a portal's frame at its merge point has been handed that no `&mut` can change: all but those themselves.
    pub(super) fn portal_arguments(&self, frame: &eval::Frame) -> Vec<ValueId> {
        let graph = GraphIx(frame.graph as u32);
        let op = self.program.graph(graph).block(BlockId(frame.block as u32)).ops.get(frame.index);
        let Some(op) = op.filter(|op| op.opcode == Opcode::MergePoint) else { return Vec::new() };
        let leaves = op.args.iter().zip(self.references(graph)).filter(|(_, reference)| *reference != Some(true));
        leaves.filter_map(|(arg, _)| arg.value()).collect()
    }

    /// Where a portal's merge point is in the source.
    pub fn portal_loc(&self, portal: &Portal) -> Loc {
        self.program.graph(portal.graph).block(portal.block).ops[portal.index].loc
    }
}
