//! Terms to which rules may apply, made at random.

use crate::matching::{Interpreted, Subject};
use crate::rule::{Rule, Term};
use crate::sample::Random;
use crate::terms::Terms;
use bounds::IntBound;
use flowgraph::ir::{Const, Opcode, Operand, Type};

/// On how many instances it is tried whether rewriting ends.
const TRIES: u64 = 100;

/// An op that a rule's pattern matches, unless its constants make it one, and its operands among terms. Its checks may
/// hold or not.
pub fn instance_of(rule: &Rule, seed: u64) -> Option<(Terms, Opcode, Vec<Operand>)> {
    let mut random = Random::new(seed);
    let mut terms = Terms::default();
    let values = operands(&mut terms, &mut random, rule.vars.iter().map(|var| (var.ty(), var.is_constant())));
    let unified = vec![None; values.len()];
    let whole = build(&mut terms, &rule.pattern, &unified, &values);
    let (op, args) = Subject::definition(&terms, whole).filter(|_| terms.constant(whole).is_none())?;
    let args = args.to_vec();
    Some((terms, op, args))
}

/// Whether rewriting goes on without end somewhere that a rule applies. That is tried, so it may do so where this
/// doesn't see it.
pub fn goes_on(rule: &Rule, rules: &Interpreted) -> bool {
    let Some(number) = rules.rules().iter().position(|own| own.name == rule.name) else { return false };
    (0..TRIES).any(|seed| {
        let Some((mut terms, op, args)) = instance_of(rule, seed) else { return false };
        let Some(built) = rules.ask_one(number, op, &args, &terms) else { return false };
        let made = terms.built(&built);
        terms.normal(made, rules).is_none()
    })
}

/// Operands at random, by their types and whether they are constants. The constants are made first, as of the others
/// that is often known what a check asks for that is about both: that they can be shifted to the left by one of them,
/// or lie below it.
pub(crate) fn operands(
    terms: &mut Terms,
    random: &mut Random,
    wanted: impl Iterator<Item = (Type, bool)> + Clone,
) -> Vec<Operand> {
    let mut constants: Vec<i64> = Vec::new();
    let mut made: Vec<Option<Operand>> = Vec::new();
    for (ty, is_constant) in wanted.clone() {
        let constant = is_constant.then(|| constant(random, &constants, ty));
        constants.extend(constant.and_then(Operand::as_int));
        made.push(constant);
    }
    made.into_iter()
        .zip(wanted)
        .map(|(constant, (ty, _))| constant.unwrap_or_else(|| value(terms, random, &constants, ty)))
        .collect()
}

/// A constant, often one that has to do with those `before`.
fn constant(random: &mut Random, before: &[i64], ty: Type) -> Operand {
    match ty {
        // Conditions often are about two of them.
        Type::Int if !before.is_empty() && random.below(3) == 0 => {
            let other = before[random.below(before.len())];
            let related = [
                other,
                other.wrapping_neg(),
                !other,
                64i64.wrapping_sub(other),
                other.wrapping_add(1),
                1i64.wrapping_shl(other as u32).wrapping_sub(1),
                (-1i64).wrapping_shl(other as u32),
            ];
            Operand::int(related[random.below(related.len())])
        }
        Type::Int => Operand::int(random.int::<64>(&[0, 1, -1, 2, 3, 7, 8, 63, 255, i64::MIN, i64::MAX])),
        Type::Float => Operand::Const(Const::Float(random.float(ty) as u64)),
        _ => Operand::Const(Const::Single(random.float(ty) as u32)),
    }
}

/// An operand of which this or that is known.
fn value(terms: &mut Terms, random: &mut Random, constants: &[i64], ty: Type) -> Operand {
    if ty != Type::Int {
        return terms.unknown(IntBound::unbounded());
    }
    if random.below(10) == 0 {
        return Operand::int([0, 1, -1, 5][random.below(4)]);
    }
    let range = |low, high| IntBound::from_range(low, high).unwrap_or(IntBound::unbounded());
    let bound = if !constants.is_empty() && random.below(4) == 0 {
        let constant = constants[random.below(constants.len())];
        let amount = constant & 63;
        match random.below(5) {
            4 if constant > 0 => range(0, constant),
            0 => range(i64::MIN >> amount, i64::MAX >> amount),
            1 => range(0, i64::MAX >> amount),
            2 => range(0, 1i64.wrapping_shl(amount as u32).wrapping_sub(1)),
            _ => IntBound::from_bits(0, u64::MAX << amount),
        }
    } else {
        let value = random.int::<64>(&[0, 1, -1, 2, 5, 63, 1000]);
        match random.below(11) {
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
        }
    };
    terms.unknown(if bound.is_constant() { IntBound::unbounded() } else { bound })
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
