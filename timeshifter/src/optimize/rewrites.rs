//! What the optimizer does, one rewrite after the other: counted, told of, and stopped after so many for whoever looks for the one that
//! is wrong.

use flowgraph::ir::{Const, Loc, Opcode, Operand};

/// One rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// What was done, in a word or two: `fold`, `same op`, `mask`.
    pub what: &'static str,
    /// The op or branch as it was, and what there is instead.
    pub change: String,
    /// What allows it.
    pub why: String,
    /// Where the op comes from.
    pub loc: Loc,
}

/// The rewrites of a graph.
#[derive(Debug, Default)]
pub struct Rewrites {
    fuel: Option<u64>,
    count: u64,
    told: Option<Vec<Rewrite>>,
}

impl Rewrites {
    /// As many as there are, or no more than `fuel`; with a text of each if they are to be explained.
    pub fn new(fuel: Option<u64>, explain: bool) -> Rewrites {
        Rewrites { fuel, count: 0, told: explain.then(Vec::new) }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What they were, if they are explained.
    pub fn told(&self) -> &[Rewrite] {
        self.told.as_deref().unwrap_or_default()
    }

    /// Whether a rewrite may be done; then it is counted, and told of with its change and the reason.
    pub(super) fn may(&mut self, what: &'static str, loc: Loc, told: impl FnOnce() -> (String, String)) -> bool {
        if self.fuel.is_some_and(|fuel| self.count >= fuel) {
            return false;
        }
        self.count += 1;
        if let Some(all) = &mut self.told {
            let (change, why) = told();
            all.push(Rewrite { what, change, why, loc });
        }
        true
    }
}

/// An operand as text.
pub(super) fn shown(operand: Operand) -> String {
    match operand {
        Operand::Value(value) => value.to_string(),
        Operand::Const(Const::Int(i)) => i.to_string(),
        Operand::Const(Const::Float(bits)) => format!("{:?}", f64::from_bits(bits)),
        Operand::Const(Const::Single(bits)) => format!("{:?}s", f32::from_bits(bits)),
        Operand::Const(Const::Addr(data, offset)) => format!("&{}{offset:+}", data.0),
    }
}

/// An op as text, without its results.
pub(super) fn shown_op(opcode: Opcode, args: &[Operand]) -> String {
    let args: Vec<String> = args.iter().map(|arg| shown(*arg)).collect();
    format!("{} {}", opcode.name(), args.join(", "))
}
