//! Terms as rules see them: ops on numbered values, each once, with what is known of them. Rewriting one to the end
//! gives its normal form.

use crate::matching::{Built, Interpreted, Subject};
use bounds::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, OperandType, Type, ValueId};
use smallvec::SmallVec;
use std::collections::HashMap;

/// So many rewrites, and it is said not to end.
const MOST: usize = 1000;

/// Some terms.
#[derive(Debug, Default)]
pub struct Terms {
    definitions: Vec<Option<(Opcode, SmallVec<[Operand; 3]>)>>,
    bounds: Vec<IntBound>,
    known: HashMap<(Opcode, SmallVec<[Operand; 3]>), Operand>,
}

impl Terms {
    /// A value of which this is known.
    pub fn unknown(&mut self, bound: IntBound) -> Operand {
        self.value(None, bound)
    }

    /// What an op gives, as it stands. The same op on the same operands is the same.
    pub fn op(&mut self, op: Opcode, args: &[Operand]) -> Operand {
        let key = (op, SmallVec::from_slice(args));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let bounds: Vec<IntBound> = args.iter().map(|arg| Subject::bound(self, *arg)).collect();
        let gives_int = op.results().first() == Some(&OperandType::Is(Type::Int));
        let bound = if gives_int { IntBound::transfer(op, &bounds)[0] } else { IntBound::unbounded() };
        let value = self.value(Some(key.clone()), bound);
        self.known.insert(key, value);
        value
    }

    fn value(&mut self, definition: Option<(Opcode, SmallVec<[Operand; 3]>)>, bound: IntBound) -> Operand {
        self.definitions.push(definition);
        self.bounds.push(bound);
        Operand::Value(ValueId(u32::try_from(self.bounds.len() - 1).unwrap_or(u32::MAX)))
    }

    /// What an operand is when no rule applies any more; nothing, if that takes too long.
    pub fn normal(&mut self, operand: Operand, rules: &Interpreted) -> Option<Operand> {
        let mut left = MOST;
        self.normal_of(operand, rules, &mut left)
    }

    fn normal_of(&mut self, operand: Operand, rules: &Interpreted, left: &mut usize) -> Option<Operand> {
        if let Some(constant) = self.constant(operand) {
            return Some(Operand::Const(constant));
        }
        let Some((op, args)) = Subject::definition(self, operand).map(|(op, args)| (op, args.to_vec())) else {
            return Some(operand);
        };
        let args = args.into_iter().map(|arg| self.normal_of(arg, rules, left)).collect::<Option<Vec<Operand>>>()?;
        self.normal_op(op, args, rules, left)
    }

    /// The same of an op on operands that are normal.
    fn normal_op(
        &mut self,
        op: Opcode,
        mut args: Vec<Operand>,
        rules: &Interpreted,
        left: &mut usize,
    ) -> Option<Operand> {
        *left = left.checked_sub(1)?;
        let words: Option<Vec<u64>> = args.iter().map(|arg| word(*arg)).collect();
        if let Some(words) = words
            && let Some(results) = op.compute(&words)
            && let Some(OperandType::Is(ty)) = op.results().first()
        {
            return Some(Operand::Const(constant(*ty, results[0])));
        }
        if op.is_commutative() {
            // One order for all: constants behind values, and these by their numbers.
            args[..2].sort_by_key(|arg| (arg.value().is_none(), arg.value().map(|value| value.index())));
        }
        let same = self.op(op, &args);
        if let Some(constant) = self.constant(same) {
            return Some(Operand::Const(constant));
        }
        match rules.ask(op, &args, self) {
            None => Some(same),
            Some(fired) => self.normal_built(fired.target, rules, left),
        }
    }

    /// The same of what a rule has made.
    pub fn normal_built(&mut self, built: Built, rules: &Interpreted, left: &mut usize) -> Option<Operand> {
        match built {
            Built::Operand(operand) => self.normal_of(operand, rules, left),
            Built::Op(op, args) => {
                let args = args
                    .into_iter()
                    .map(|arg| self.normal_built(arg, rules, left))
                    .collect::<Option<Vec<Operand>>>()?;
                self.normal_op(op, args, rules, left)
            }
        }
    }

    /// What a rule has made, as it stands.
    pub fn built(&mut self, built: &Built) -> Operand {
        match built {
            Built::Operand(operand) => *operand,
            Built::Op(op, args) => {
                let args: Vec<Operand> = args.iter().map(|arg| self.built(arg)).collect();
                self.op(*op, &args)
            }
        }
    }

    /// An operand as text: unknown values with what is known of them.
    pub fn show(&self, operand: Operand) -> String {
        match operand {
            Operand::Const(Const::Int(number)) => number.to_string(),
            Operand::Const(Const::Float(bits)) => format!("{:?}", f64::from_bits(bits)),
            Operand::Const(other) => format!("{other:?}"),
            Operand::Value(value) => match &self.definitions[value.index()] {
                Some((op, args)) => {
                    let args: Vec<String> = args.iter().map(|arg| self.show(*arg)).collect();
                    format!("{}({})", op.name(), args.join(", "))
                }
                None if self.bounds[value.index()].is_unbounded() => format!("{value}"),
                None => format!("{value}:[{}]", self.bounds[value.index()]),
            },
        }
    }
}

/// The word that a constant is.
fn word(operand: Operand) -> Option<u64> {
    match operand {
        Operand::Const(Const::Int(number)) => Some(number as u64),
        Operand::Const(Const::Float(bits)) => Some(bits),
        Operand::Const(Const::Single(bits)) => Some(u64::from(bits)),
        _ => None,
    }
}

fn constant(ty: Type, word: u64) -> Const {
    match ty {
        Type::Float => Const::Float(word),
        Type::Single => Const::Single(word as u32),
        _ => Const::Int(word as i64),
    }
}

impl Subject for Terms {
    fn definition(&self, operand: Operand) -> Option<(Opcode, &[Operand])> {
        let definition = self.definitions[operand.value()?.index()].as_ref()?;
        Some((definition.0, &definition.1))
    }

    fn bound(&self, operand: Operand) -> IntBound {
        match operand {
            Operand::Const(Const::Int(number)) => IntBound::constant(number),
            Operand::Const(_) => IntBound::unbounded(),
            Operand::Value(value) => self.bounds[value.index()],
        }
    }

    fn used_once(&self, _: Operand) -> bool {
        true
    }
}
