//! Arguments for runs, and what runs give.

use super::{Generated, Source};
use crate::eval::{EvalError, Evaluator, Outcome};
use crate::ir::*;
use crate::memory::Memory;
use crate::value::{Arguments, Value};
use indexmap::IndexMap;

/// The argument for one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value; for a reference, what it leads to.
    Value(Value),
    /// The very reference that another parameter is: shared references may be the same.
    Same(usize),
}

/// The arguments of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// One for each parameter of the entry.
    pub args: Vec<Argument>,
}

/// What lies behind the references after a run, as text, by path.
pub type MemoryAfter = IndexMap<String, String>;

impl Run {
    /// The value of an argument, its own or that of the one that it is the same as.
    pub fn value(&self, param: usize) -> &Value {
        match &self.args[param] {
            Argument::Value(value) => value,
            Argument::Same(other) => self.value(*other),
        }
    }
}

impl Generated {
    /// The arguments of run `run`, except that those in `greens` are the first run's: what is specialized once, for the
    /// greens of the first run, is run with these. In later runs greens and reds share no memory.
    pub fn run_with_greens(&self, run: usize, greens: &[usize]) -> Run {
        let is_green = |param: &usize| greens.contains(param);
        let (first, own) = (&self.runs[0], &self.runs[run]);
        if run == 0 {
            return own.clone();
        }
        let arg = |param: usize| {
            let from = if is_green(&param) { first } else { own };
            match &from.args[param] {
                // A copy of what the green holds.
                Argument::Same(other) if is_green(&param) != is_green(other) => {
                    Argument::Value(first.value(*other).clone())
                }
                arg => arg.clone(),
            }
        };
        let args = (0..own.args.len()).map(arg).collect();
        Run { args }
    }

    /// What the evaluator makes of [`Generated::run_with_greens`]: outcome, and memory afterwards.
    ///
    /// # Errors
    /// If the graphs are at fault.
    pub fn evaluate(&self, run: usize, greens: &[usize]) -> Result<(Outcome, MemoryAfter), EvalError> {
        let run = self.run_with_greens(run, greens);
        let signature = &self.module.graphs[&self.entry].signature;
        let values: Vec<Value> = (0..run.args.len()).map(|param| run.value(param).clone()).collect();
        let arguments = Arguments::new(&self.module, signature, &values);
        let mut memory = Memory::for_module(&self.module);
        let placed = arguments.place(&mut memory);
        let words = run.args.iter().enumerate().map(|(param, arg)| match arg {
            Argument::Value(_) => placed.parameter(param),
            Argument::Same(other) => placed.parameter(*other),
        });
        let words: Vec<Word> = words.flatten().copied().collect();
        let outcome = Evaluator::new(&self.module, &mut memory).with_fuel(1 << 26).call(&self.entry, &words)?;
        let after = arguments.after(&self.module, &placed, &memory)?;
        Ok((outcome, after))
    }
}

/// Whether two runs ended the same way. All NaNs are the same.
pub fn same_outcome(results: &[Type], a: &Outcome, b: &Outcome) -> bool {
    let same = |ty: &Type, a: &Word, b: &Word| match ty {
        Type::Int => a == b,
        Type::Float => a == b || (f64::from_bits(*a).is_nan() && f64::from_bits(*b).is_nan()),
        Type::Single => {
            let (a, b) = (*a as u32, *b as u32);
            a == b || (f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan())
        }
    };
    match (a, b) {
        (Outcome::Returned(a), Outcome::Returned(b)) => {
            a.len() == b.len() && results.iter().zip(a.iter().zip(b)).all(|(ty, (a, b))| same(ty, a, b))
        }
        _ => a == b,
    }
}

/// Random arguments.
pub(super) fn random_run(module: &Module, params: &[RustType], source: &mut Source<'_>) -> Run {
    let mut args: Vec<Argument> = Vec::new();
    for ty in params {
        let shared = matches!(ty, RustType::Ref { mutable: false, .. } | RustType::Slice { mutable: false, .. });
        let earlier = params[..args.len()].iter().position(|other| other == ty);
        args.push(match earlier {
            Some(earlier) if shared && source.chance(1, 3) => Argument::Same(earlier),
            _ => Argument::Value(random_value(module, ty, source)),
        });
    }
    Run { args }
}

fn random_value(module: &Module, ty: &RustType, source: &mut Source<'_>) -> Value {
    match ty {
        RustType::Scalar(Scalar::F64) => Value::Word(source.float()),
        RustType::Scalar(Scalar::F32) => Value::Word(u64::from((f64::from_bits(source.float()) as f32).to_bits())),
        // A place in a slice.
        RustType::Scalar(Scalar::Usize) if source.chance(3, 4) => Value::Word(source.below(4) as Word),
        RustType::Scalar(scalar) => Value::Word(scalar.canonical(source.int() as u64)),
        RustType::Cell(inner) => random_value(module, inner, source),
        RustType::Ref { to, .. } => Value::Ref(Box::new(random_value(module, to, source))),
        RustType::Slice { elem, .. } => {
            let len = source.below(10);
            Value::Slice((0..len).map(|_| random_value(module, elem, source)).collect())
        }
        RustType::Array(elem, n) => Value::Many((0..*n).map(|_| random_value(module, elem, source)).collect()),
        RustType::Struct(name) => {
            let fields = module.structs.get(name).map_or(&[][..], |decl| &decl.fields);
            Value::Many(fields.iter().map(|field| random_value(module, &field.ty, source)).collect())
        }
        _ => Value::Many(Vec::new()),
    }
}
