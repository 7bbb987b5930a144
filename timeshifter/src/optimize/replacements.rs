//! Values that are something else, until all operands have been changed: classes of values that are the same, each with the operand that stands
//! for it (B. Galler, M. Fischer, "An improved equivalence algorithm", 1964; the sets are those of the crate `ena`).

use ena::unify::{InPlaceUnificationTable, NoError, UnifyKey, UnifyValue};
use flowgraph::ir::{Graph, Operand, ValueId};

/// A value, as a member of its class.
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
pub(super) struct Replacements {
    values: usize,
    /// The classes, once there are any.
    classes: Option<InPlaceUnificationTable<Member>>,
}

impl Replacements {
    /// None yet, for the values of a graph.
    pub(super) fn new(graph: &Graph) -> Replacements {
        Replacements { values: graph.values.len(), classes: None }
    }

    /// Whether nothing is replaced.
    pub(super) fn is_empty(&self) -> bool {
        self.classes.is_none()
    }

    /// There is one more value.
    pub(super) fn has_value(&mut self, value: ValueId) {
        debug_assert_eq!(value.index(), self.values, "values are numbered one after the other");
        self.values += 1;
        if let Some(classes) = &mut self.classes {
            classes.new_key(Meaning(value.into()));
        }
    }

    /// What an operand is in the end.
    pub(super) fn find(&mut self, operand: Operand) -> Operand {
        match (operand, &mut self.classes) {
            (Operand::Value(value), Some(classes)) => classes.probe_value(Member(value.0)).0,
            _ => operand,
        }
    }

    /// Replaces `value` by `operand`, unless that is the value itself in the end.
    pub(super) fn replace(&mut self, value: ValueId, operand: Operand) -> bool {
        let operand = self.find(operand);
        if operand == Operand::Value(value) {
            return false;
        }
        debug_assert_eq!(self.find(value.into()), value.into(), "{value} is replaced once");
        let values = self.values as u32;
        let classes = self.classes.get_or_insert_with(|| {
            let mut classes = InPlaceUnificationTable::new();
            classes.reserve(values as usize);
            for number in 0..values {
                classes.new_key(Meaning(ValueId(number).into()));
            }
            classes
        });
        match operand {
            Operand::Value(other) => classes.union(Member(value.0), Member(other.0)),
            constant => classes.union_value(Member(value.0), Meaning(constant)),
        }
        true
    }

    /// Carries the replacements out, everywhere.
    pub(super) fn apply(mut self, graph: &mut Graph) {
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
