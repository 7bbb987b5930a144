//! Values that are something else, until all operands have been changed.

use flowgraph::ir::{Graph, Operand, ValueId};

/// Which values are replaced by which operands, by value. Chains are shortened when they are followed.
pub(super) struct Replacements {
    by: Vec<Option<Operand>>,
    is_empty: bool,
}

impl Replacements {
    /// None yet, for the values of a graph.
    pub(super) fn new(graph: &Graph) -> Replacements {
        Replacements { by: vec![None; graph.values.len()], is_empty: true }
    }

    /// Whether nothing is replaced.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// There is one more value.
    pub(super) fn has_value(&mut self, value: ValueId) {
        self.by.resize(value.index() + 1, None);
    }

    /// What an operand is in the end.
    pub(super) fn find(&mut self, operand: Operand) -> Operand {
        let mut last = operand;
        while let Operand::Value(v) = last
            && let Some(to) = self.by[v.index()]
        {
            last = to;
        }
        let mut at = operand;
        while let Operand::Value(v) = at
            && let Some(to) = &mut self.by[v.index()]
        {
            at = std::mem::replace(to, last);
        }
        last
    }

    /// Replaces `value` by `operand`, unless that is the value itself in the end.
    pub(super) fn replace(&mut self, value: ValueId, operand: Operand) -> bool {
        let operand = self.find(operand);
        if operand == Operand::Value(value) {
            return false;
        }
        self.by[value.index()] = Some(operand);
        self.is_empty = false;
        true
    }

    /// Carries the replacements out, everywhere.
    pub(super) fn apply(mut self, graph: &mut Graph) {
        if self.is_empty {
            return;
        }
        for block in &mut graph.blocks {
            for arg in block.ops.iter_mut().flat_map(|op| op.args.iter_mut()) {
                *arg = self.find(*arg);
            }
            block.term.for_each_operand_mut(|operand| *operand = self.find(*operand));
        }
    }
}
