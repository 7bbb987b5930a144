//! Asking rules about an op: those of `timeshifter/rules/integer.rules`, compiled to decision trees when this is built;
//! others as they stand.

use crate::optimize::facts::known::Known;
use flowgraph::ir::{Opcode, Operand};
use rules::{Fired, Interpreted, Rule, Subject};
use std::borrow::Cow;

#[allow(non_snake_case, unused_variables, unused_parens, clippy::all)]
mod compiled {
    use bounds::IntBound;
    use flowgraph::ir::{Const, Opcode, Operand};
    use rules::{At, Built, Fired, Subject, at, same};

    include!(concat!(env!("OUT_DIR"), "/integer.rs"));
}

pub use compiled::RULES;

/// Which rules are asked.
#[derive(Debug, Default)]
pub(crate) enum Asked {
    /// The optimizer's own.
    #[default]
    Own,
    /// These, and none else.
    Others(Interpreted),
}

impl Asked {
    /// What there is instead of an op, by the first rule that applies.
    pub fn ask(&self, op: Opcode, args: &[Operand], known: &Known) -> Option<Fired> {
        match self {
            Asked::Own => compiled::rewrite(op, args, known),
            Asked::Others(rules) => rules.ask(op, args, known),
        }
    }

    /// The name of a rule.
    pub fn name(&self, rule: usize) -> Cow<'static, str> {
        match self {
            Asked::Own => RULES[rule].into(),
            Asked::Others(rules) => rules.rules()[rule].name.clone().into(),
        }
    }

    /// The rules' names and the ops that they replace, in order.
    pub fn all(&self) -> Vec<String> {
        match self {
            Asked::Own => RULES.iter().map(|name| (*name).to_owned()).collect(),
            Asked::Others(rules) => rules.rules().iter().map(|rule: &Rule| rule.name.clone()).collect(),
        }
    }
}

/// The first of the optimizer's own rules that applies to an op: the compiled form, for whoever compares it with the
/// interpreter.
pub fn rewrite<S: Subject>(op: Opcode, args: &[Operand], subject: &S) -> Option<Fired> {
    compiled::rewrite(op, args, subject)
}
