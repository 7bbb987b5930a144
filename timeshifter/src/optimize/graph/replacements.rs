//! Values that are something else, until all operands have been changed: classes of values that are the same, each with
//! the operand that stands for it (B. Galler, M. Fischer, "An improved equivalence algorithm", 1964; the sets are those
//! of the crate `ena`).

use ena::unify::{InPlaceUnificationTable, NoError, UnifyKey, UnifyValue};
use flowgraph::ir::{Graph, Operand, ValueId};

/// A member of a class: a value, or several that are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member(u32);

/// What stands for a class.
#[derive(Clone, Copy, Debug)]
struct Meaning(Operand);

impl UnifyKey for Member {
    type Value = Meaning;

    fn index(&self) -> u32 {
        self.0
    }

    fn from_index(index: u32) -> Member {
        Member(index)
    }

    fn tag() -> &'static str {
        "value"
    }
}

impl UnifyValue for Meaning {
    type Error = NoError;

    /// What is replaced comes first.
    fn unify_values(_replaced: &Meaning, by: &Meaning) -> Result<Meaning, NoError> {
        Ok(*by)
    }
}

/// Which values are replaced by which operands.
pub(crate) struct Replacements {
    values: usize,
    /// By value: the member of the classes that it is, alone or with others of its class, and one more; 0 if it is
    /// none, as most. Empty until something is replaced.
    members: Vec<u32>,
    has_constants: bool,
    classes: InPlaceUnificationTable<Member>,
}

impl Replacements {
    /// None yet, for the values of a graph.
    pub(crate) fn new(graph: &Graph) -> Replacements {
        let classes = InPlaceUnificationTable::new();
        Replacements { values: graph.values.len(), members: Vec::new(), has_constants: false, classes }
    }

    /// Whether nothing is replaced.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether anything is replaced by a constant.
    pub(crate) fn has_constants(&self) -> bool {
        self.has_constants
    }

    /// There is one more value.
    pub(crate) fn has_value(&mut self, value: ValueId) {
        debug_assert_eq!(value.index(), self.values, "values are numbered one after the other");
        self.values += 1;
        if !self.is_empty() {
            self.members.push(0);
        }
    }

    /// What an operand is in the end.
    pub(crate) fn find(&mut self, operand: Operand) -> Operand {
        let Operand::Value(value) = operand else { return operand };
        match self.members.get(value.index()) {
            None | Some(0) => operand,
            Some(number) => self.classes.probe_value(Member(number - 1)).0,
        }
    }

    /// Replaces `value` by `operand`, unless that is the value itself in the end.
    pub(crate) fn replace(&mut self, value: ValueId, operand: Operand) -> bool {
        let operand = self.find(operand);
        if operand == Operand::Value(value) {
            return false;
        }
        debug_assert_eq!(self.find(value.into()), value.into(), "{value} is replaced once");
        if self.is_empty() {
            self.members = vec![0; self.values];
        }
        let stands = match operand {
            Operand::Value(other) => self.member(other),
            constant => {
                self.has_constants = true;
                self.classes.new_key(Meaning(constant))
            }
        };
        match self.members[value.index()] {
            // As a rule nothing has been replaced by it: then it needs no member of its own.
            0 => self.members[value.index()] = stands.0 + 1,
            number => self.classes.union(Member(number - 1), stands),
        }
        true
    }

    /// The member that a value is.
    fn member(&mut self, value: ValueId) -> Member {
        let number = &mut self.members[value.index()];
        if *number == 0 {
            *number = self.classes.new_key(Meaning(value.into())).0 + 1;
        }
        Member(*number - 1)
    }

    /// Carries the replacements out, everywhere.
    pub(crate) fn apply(mut self, graph: &mut Graph) {
        if self.is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use flowgraph::ir::{RustType, Signature, Type};

    #[test]
    fn what_is_replaced_is_found_through_all_that_replaces_it() {
        let mut graph = Graph::new("f", Signature { params: Vec::new(), result: RustType::Unit });
        let values: Vec<ValueId> = (0..6).map(|_| graph.new_value(Type::Int)).collect();
        let mut replaced = Replacements::new(&graph);
        assert!(replaced.is_empty() && replaced.find(values[1].into()) == values[1].into());
        assert!(replaced.replace(values[1], values[2].into()));
        assert!(replaced.replace(values[2], values[3].into()));
        assert!(!replaced.replace(values[3], values[1].into()), "it is that itself");
        assert!(!replaced.has_constants());
        let more = graph.new_value(Type::Int);
        replaced.has_value(more);
        assert!(replaced.replace(more, values[1].into()));
        assert!(replaced.replace(values[3], Operand::int(7)));
        assert!(replaced.has_constants());
        for value in [values[1], values[2], values[3], more] {
            assert_eq!(replaced.find(value.into()), Operand::int(7));
        }
        assert_eq!(replaced.find(values[4].into()), values[4].into(), "nothing is said of it");
    }
}
