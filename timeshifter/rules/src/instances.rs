//! Terms to which rules may apply, made at random.

use crate::matching::{Interpreted, Subject};
use crate::rule::{Rule, Term};
use crate::sample::Random;
use crate::terms::Terms;
use bounds::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, Type};

/// On how many instances it is tried whether rewriting ends.
const TRIES: u64 = 100;

/// An op that a rule's pattern matches, unless its constants make it one, and its operands among terms. Its checks may hold or not.
pub fn instance_of(rule: &Rule, seed: u64) -> Option<(Terms, Opcode, Vec<Operand>)> {
    let mut random = Random::new(seed);
    let mut terms = Terms::default();
    let mut values = Vec::new();
    for var in &rule.vars {
        let value = instance(&mut terms, &mut random, &values, var.ty(), var.is_constant());
        values.push(value);
    }
    let unified = vec![None; values.len()];
    let whole = build(&mut terms, &rule.pattern, &unified, &values);
    let (op, args) = Subject::definition(&terms, whole).filter(|_| terms.constant(whole).is_none())?;
    let args = args.to_vec();
    Some((terms, op, args))
}

/// Whether rewriting goes on without end somewhere that a rule applies. That is tried, so it may do so where this doesn't see it.
pub fn goes_on(rule: &Rule, rules: &Interpreted) -> bool {
    let Some(number) = rules.rules().iter().position(|own| own.name == rule.name) else { return false };
    (0..TRIES).any(|seed| {
        let Some((mut terms, op, args)) = instance_of(rule, seed) else { return false };
        let Some(built) = rules.ask_one(number, op, &args, &terms) else { return false };
        let made = terms.built(&built);
        terms.normal(made, rules).is_none()
    })
}

/// An operand of which this or that is known; or a constant, often one that has to do with those `before`.
pub(crate) fn instance(
    terms: &mut Terms,
    random: &mut Random,
    before: &[Operand],
    ty: Type,
    constant: bool,
) -> Operand {
    let constants: Vec<i64> = before.iter().filter_map(|operand| operand.as_int()).collect();
    match (ty, constant) {
        // Conditions often are about two of them.
        (Type::Int, true) if !constants.is_empty() && random.below(3) == 0 => {
            let other = constants[random.below(constants.len())];
            let related = [other, other.wrapping_neg(), !other, 64i64.wrapping_sub(other), other.wrapping_add(1)];
            Operand::int(related[random.below(related.len())])
        }
        (Type::Int, true) => Operand::int(random.int::<64>(&[0, 1, -1, 2, 3, 7, 8, 63, 255, i64::MIN, i64::MAX])),
        (Type::Float, true) => Operand::Const(Const::Float(random.float(ty) as u64)),
        (_, true) => Operand::Const(Const::Single(random.float(ty) as u32)),
        (Type::Int, false) if random.below(10) == 0 => Operand::int([0, 1, -1, 5][random.below(4)]),
        (Type::Int, false) => {
            let value = random.int::<64>(&[0, 1, -1, 2, 5, 63, 1000]);
            let range = |low, high| IntBound::from_range(low, high).unwrap_or(IntBound::unbounded());
            let bound = match random.below(11) {
                10 => range(1, 2 + random.below(200) as i64),
                9 => range(-2, -1),
                8 => range(-1, 0),
                7 => IntBound::from_bits(0, [2, 3, 7, 15, 240, 255, 256, 1 << 63][random.below(8)]),
                6 => range(i64::MIN, -1),
                0 => IntBound::boolean(),
                1 => IntBound::nonnegative(),
                2 => random.bound::<64>(value),
                3 => IntBound::from_bits(0, random.word()),
                _ => IntBound::unbounded(),
            };
            let bound = if bound.is_constant() { IntBound::unbounded() } else { bound };
            terms.unknown(bound)
        }
        _ => terms.unknown(IntBound::unbounded()),
    }
}

/// A term as it stands, with operands for its variables.
pub(crate) fn build(terms: &mut Terms, term: &Term, unified: &[Option<Term>], values: &[Operand]) -> Operand {
    match term {
        Term::Op(op, args) => {
            let args: Vec<Operand> = args.iter().map(|arg| build(terms, arg, unified, values)).collect();
            terms.op(*op, &args)
        }
        Term::Int(literal) => Operand::int(literal.value::<64>()),
        Term::Float(number) => Operand::Const(Const::Float(number.to_bits())),
        Term::Var(var) => match &unified[*var] {
            Some(term) => build(terms, term, unified, values),
            None => values[*var],
        },
    }
}
