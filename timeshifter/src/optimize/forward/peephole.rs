//! What one op can be replaced by that no rule says: what needs to know of floats more than their bits, or how values
//! compare.

use crate::optimize::branches::ranges::{Range, joined_bits};
use crate::optimize::facts::floats;
use crate::optimize::facts::known::Known;
use crate::optimize::facts::relations::{ALL, asked, swapped, test_for};
use flowgraph::ir::{Op, Opcode, Operand};
use smallvec::{SmallVec, smallvec};

/// What there is instead of an op.
#[derive(Debug, PartialEq)]
pub(crate) enum Instead {
    /// Its result is this operand.
    Operand(Operand, &'static str),
    /// This op gives the same.
    Op(Opcode, SmallVec<[Operand; 3]>, &'static str),
    /// A comparison of the distance of a value from another one.
    Distance {
        /// What compares.
        test: Opcode,
        /// The value, and what is subtracted from it.
        from: [Operand; 2],
        /// With what.
        against: Operand,
    },
    /// A selection between two operands by a comparison.
    Selected {
        /// What compares.
        less: Opcode,
        /// What it compares: the first of `from` is taken where the first of these is less.
        compared: [Operand; 2],
        /// What selects.
        select: Opcode,
        /// From what.
        from: [Operand; 2],
    },
}

/// What there is instead of an op, if anything.
pub(crate) fn instead(op: &Op, known: &Known) -> Option<Instead> {
    match op.opcode {
        Opcode::FloatMin | Opcode::FloatMax | Opcode::SingleMin | Opcode::SingleMax => floats::extreme(op, known),
        Opcode::FloatAbs | Opcode::SingleAbs => floats::size(op, known),
        Opcode::UintMod if known.is_less(op.args[0], op.args[1]) => {
            Some(Instead::Operand(op.args[0], "it is less than what it is divided by"))
        }
        Opcode::IntFloordiv => exact_quotient(op, known),
        Opcode::IntCtz => lowest_bit(op, known),
        Opcode::IntAnd | Opcode::IntOr => {
            one_test(op, known).or_else(|| opposites(op, known)).or_else(|| one_range(op, known))
        }
        Opcode::IntXor | Opcode::IntEq | Opcode::IntNe => one_test(op, known).or_else(|| opposites(op, known)),
        _ => floats::unchanged(op, known).or_else(|| floats::by_a_power(op)),
    }
}

/// A quotient by a power of two that leaves nothing over is a shift, also where signs aren't known. As a rule it would
/// have a pair of which nobody knows whether it ever meets.
fn exact_quotient(op: &Op, known: &Known) -> Option<Instead> {
    let by = op.args[1].as_int().filter(|by| *by > 0 && by & (by - 1) == 0)?;
    let rest = by as u64 - 1;
    let shift = Operand::int(i64::from(by.trailing_zeros()));
    (known.bound(op.args[0]).zeros() & rest == rest)
        .then(|| Instead::Op(Opcode::IntRshift, smallvec![op.args[0], shift], "nothing is left over"))
}

/// The lowest bit of what is not 0 lies below bits that are set above all of it: these end the count of narrow values.
fn lowest_bit(op: &Op, known: &Known) -> Option<Instead> {
    let (Opcode::IntOr, &[of, above]) = known.definition_of(op.args[0])? else { return None };
    let (bound, above) = (known.bound(of), above.as_int()?);
    let is_below = bound.lower() > 0 && bound.upper() < above & above.wrapping_neg();
    is_below.then(|| Instead::Op(Opcode::IntCtz, smallvec![of], "a bit is set below"))
}

/// Two comparisons of the same values, joined to one bit: what they ask for together one test asks for, or none.
fn one_test(op: &Op, known: &Known) -> Option<Instead> {
    let (first, second) = (known.definition_of(op.args[0])?, known.definition_of(op.args[1])?);
    let ((of_first, signs), (mut of_second, other)) = (asked(first.0)?, asked(second.0)?);
    let ([a, b], [c, d]) = (<[Operand; 2]>::try_from(first.1).ok()?, <[Operand; 2]>::try_from(second.1).ok()?);
    if (a, b) == (d, c) {
        of_second = swapped(of_second);
    } else if (a, b) != (c, d) {
        return None;
    }
    if signs.zip(other).is_some_and(|(signs, other)| signs != other) {
        return None;
    }
    let possible = match op.opcode {
        Opcode::IntAnd => of_first & of_second,
        Opcode::IntOr => of_first | of_second,
        Opcode::IntEq => ALL & !(of_first ^ of_second),
        _ => of_first ^ of_second,
    };
    let why = "both compare the same";
    Some(match possible {
        0 | ALL => Instead::Operand(Operand::int(i64::from(possible != 0)), why),
        _ => Instead::Op(test_for(possible, signs.or(other).unwrap_or(true))?, smallvec![a, b], why),
    })
}

/// A bit, joined to the bit that it isn't: one of them is 1, and the other 0. Where that one is part of what it is joined
/// to, the rest is enough: `a & (!a | b)` is `a & b`.
fn opposites(op: &Op, known: &Known) -> Option<Instead> {
    let [a, b] = op.args[..] else { return None };
    let why = "one of both is what the other isn't";
    if are_opposites(a, b, known) {
        let both = matches!(op.opcode, Opcode::IntOr | Opcode::IntXor | Opcode::IntNe);
        return Some(Instead::Operand(Operand::int(i64::from(both)), why));
    }
    let inner = match op.opcode {
        Opcode::IntAnd => Opcode::IntOr,
        Opcode::IntOr => Opcode::IntAnd,
        _ => return None,
    };
    [(a, b), (b, a)].into_iter().find_map(|(bit, joined)| {
        let (_, parts) = known.definition_of(joined).filter(|(opcode, _)| *opcode == inner)?;
        let rest = [(parts[0], parts[1]), (parts[1], parts[0])].into_iter();
        let mut rest = rest.filter(|(part, _)| are_opposites(bit, *part, known)).map(|(_, rest)| rest);
        // Of a bit that is 1 `a | b` is 1, whatever else is set in `b`.
        let rest = rest.find(|rest| op.opcode == Opcode::IntAnd || known.bound(*rest).is_bool())?;
        Some(Instead::Op(op.opcode, smallvec![bit, rest], why))
    })
}

/// Whether both are bits, and always one of them is 1.
fn are_opposites(a: Operand, b: Operand, known: &Known) -> bool {
    let is_not = |bit: Operand, other: Operand| {
        known.bound(other).is_bool()
            && known.definition_of(bit).is_some_and(|(opcode, args)| match opcode {
                Opcode::IntIsZero => args[0] == other,
                Opcode::IntXor => args[0] == other && args[1].as_int() == Some(1),
                _ => false,
            })
    };
    is_not(a, b) || is_not(b, a) || are_opposite_tests(a, b, known)
}

/// Whether one comparison holds exactly where the other doesn't.
fn are_opposite_tests(a: Operand, b: Operand, known: &Known) -> bool {
    let (Some((one, these)), Some((other, those))) = (known.definition_of(a), known.definition_of(b)) else {
        return false;
    };
    let negated = other.negated();
    negated == Some(one) && these == those
        || matches!((these, those), ([a, b], [c, d]) if (a, b) == (d, c))
            && negated.and_then(Opcode::mirrored) == Some(one)
}

/// Two tests whether a value lies in a range, joined to one bit.
fn one_range(op: &Op, known: &Known) -> Option<Instead> {
    let (Range { value, low, test, against }, is_in) = joined_bits(op.opcode, &op.args, known)?;
    let test = if is_in { test } else { test.negated()? };
    Some(match low {
        0 => Instead::Op(test, smallvec![value, against], "both ask for one range"),
        low => Instead::Distance { test, from: [value, Operand::int(low)], against },
    })
}
