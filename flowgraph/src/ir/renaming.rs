//! Copies of ops and blocks: what they compute has new names there, and what they use of each other has these.

use super::{Edge, Graph, Op, Operand, Terminator, ValueId};
use rustc_hash::FxHashMap;

/// What the values of something that is copied are in the copy. Those of which nothing is said are what they were.
#[derive(Clone, Debug, Default)]
pub struct Renaming(FxHashMap<ValueId, Operand>);

impl Renaming {
    /// Of a block's copy into which an edge leads: its parameters are what that hands over.
    pub fn entered(params: &[ValueId], edge: &Edge) -> Renaming {
        Renaming(params.iter().copied().zip(edge.args.iter().copied()).collect())
    }

    /// What an operand is in the copy.
    pub fn operand(&self, operand: Operand) -> Operand {
        operand.value().and_then(|value| self.0.get(&value)).copied().unwrap_or(operand)
    }

    /// Whether a value is something else in the copy.
    pub fn renames(&self, value: ValueId) -> bool {
        self.0.contains_key(&value)
    }

    /// From here on a value is this in the copy.
    pub fn insert(&mut self, value: ValueId, operand: Operand) {
        self.0.insert(value, operand);
    }

    /// Renames what an op uses.
    pub fn uses(&self, op: &mut Op) {
        op.args.iter_mut().for_each(|arg| *arg = self.operand(*arg));
    }

    /// Gives an op's results names of their own.
    pub fn results(&mut self, graph: &mut Graph, op: &mut Op) {
        for result in &mut op.results {
            let new = graph.new_value(graph.values[result.index()].ty);
            self.insert(*result, new.into());
            *result = new;
        }
    }

    /// Makes an op one of the copy: what it uses is renamed, and its results have names of their own.
    pub fn op(&mut self, graph: &mut Graph, op: &mut Op) {
        self.uses(op);
        self.results(graph, op);
    }

    /// Makes a terminator one of the copy.
    pub fn term(&self, term: &mut Terminator) {
        term.for_each_operand_mut(|operand| *operand = self.operand(*operand));
    }
}

impl Extend<(ValueId, Operand)> for Renaming {
    fn extend<T: IntoIterator<Item = (ValueId, Operand)>>(&mut self, values: T) {
        self.0.extend(values);
    }
}
