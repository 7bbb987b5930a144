//! Floats of which only the sign is seen: something cheaper that has the same.
//!
//! A test whether `max(sqrt(s) - 0.5, e)` is negative sees of `sqrt(s) - 0.5` just that: and so is `s - 0.25`, without
//! the root. What takes the place of a value is NaN where that is, less than 0 where that is, and greater, as far as
//! any of these is seen; all else may differ. (M. Keeter's pictures are minima and maxima of distances, of which the
//! last is held against 0.)
//!
//! What it stands on: a difference has the sign that the exact one has, since the smallest numbers lose no bits when
//! they are subtracted; it is NaN for equal infinities alone. And a root is rounded, but never falls: so the numbers
//! whose roots lie below a constant are those below another one.

use super::peephole::Instead;
use crate::optimize::facts::done::SameOp;
use crate::optimize::facts::float_bound::FloatBound;
use crate::optimize::facts::floats::of_floats;
use crate::optimize::facts::known::Known;
use crate::optimize::facts::seen::{Seen, keeps_sign, number};
use flowgraph::ir::{Const, Op, Opcode, Operand, ValueId};
use smallvec::smallvec;

/// What has the same sign as the result of an op of which nobody sees more.
pub(crate) fn of_the_same_sign(op: &Op, known: &Known) -> Option<Instead> {
    use Opcode as O;
    let [result] = op.results[..] else { return None };
    let (seen, sees_nan) = (known.seen(result).of_number(), known.seen(result).contains(Seen::NAN));
    if !seen.is_some_of(Seen::SIGN) {
        return None;
    }
    let is = |operand: Operand| Some(Instead::Operand(operand, "only the sign is seen"));
    match (of_floats(op.opcode), &op.args[..]) {
        (O::FloatSub, [a, b]) => root_and_constant(op, [*a, *b], seen, known),
        (O::FloatSqrt, [a]) if not_negative(*a, known) => is(*a),
        (O::FloatMul, [a, b]) if keeps_sign(*b) => is(*a),
        (O::FloatMul, [a, b]) if keeps_sign(*a) => is(*b),
        (extreme @ (O::FloatMin | O::FloatMax), [a, b]) => {
            let [of_a, of_b] = [a, b].map(|operand| known.float(*operand));
            // What is there in place of NaN is no more seen than that, or it is what is seen.
            let nan_is_none = !sees_nan && seen == if extreme == O::FloatMin { Seen::NEGATIVE } else { Seen::POSITIVE };
            if !nan_is_none && (of_a.may_be_nan() || of_b.may_be_nan()) {
                return None;
            }
            // One that is never the reason for what is seen.
            let is_none = |of: FloatBound| match (extreme, of.lower(), of.upper()) {
                (O::FloatMax, _, Some(upper)) => upper < 0.0 || upper <= 0.0 && seen == Seen::POSITIVE,
                (_, Some(lower), _) => lower > 0.0 || lower >= 0.0 && seen == Seen::NEGATIVE,
                _ => false,
            };
            match (is_none(of_a), is_none(of_b)) {
                (true, _) => is(*b),
                (_, true) => is(*a),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `sqrt(s) - c`, or `c - sqrt(s)`, of which only one side of 0 is seen, without the root.
fn root_and_constant(op: &Op, args: [Operand; 2], seen: Seen, known: &Known) -> Option<Instead> {
    // What has been done needn't be done in another way.
    if seen == Seen::SIGN || known.done(&SameOp::of(op)).is_some() {
        return None;
    }
    let (at, constant) = if number(args[1]).is_some() { (0, args[1]) } else { (1, args[0]) };
    let below = (at == 0) == (seen == Seen::NEGATIVE);
    let (square, limit) = root_against(args[at], constant, below, known)?;
    let args = if at == 0 { smallvec![square, limit] } else { smallvec![limit, square] };
    Some(Instead::Op(op.opcode, args, "only the sign is seen"))
}

/// A test of floats without the difference or the root that it looks at.
pub(crate) fn test(op: &Op, known: &Known) -> Option<Instead> {
    use Opcode as O;
    let like = of_floats(op.opcode);
    let [a, b] = op.args[..] else { return None };
    if !matches!(like, O::FloatLt | O::FloatLe | O::FloatGt | O::FloatGe | O::FloatEq | O::FloatNe) {
        return None;
    }
    // The value first, and whether it is the first operand.
    let (value, constant, first) = match (a, b) {
        (Operand::Value(value), Operand::Const(_)) => (value, b, true),
        (Operand::Const(_), Operand::Value(value)) => (value, a, false),
        _ => return None,
    };
    let ordered = |one: Operand, other: Operand| if first { smallvec![one, other] } else { smallvec![other, one] };
    let seen = known.seen(value).of_number();
    if number(constant) == Some(0.0) && seen.is_some_of(Seen::SIGN) {
        let (one, other) = difference(value, matches!(like, O::FloatLt | O::FloatGt), known)?;
        return Some(Instead::Op(op.opcode, ordered(one, other), "the sign of a difference"));
    }
    if !seen.is_some_of(Seen::SIGN | Seen::COMPARED) {
        return None;
    }
    let below = match (like, first) {
        (O::FloatLt | O::FloatGe, true) | (O::FloatGt | O::FloatLe, false) => true,
        (O::FloatLe | O::FloatGt, true) | (O::FloatGe | O::FloatLt, false) => false,
        _ => return None,
    };
    let (square, limit) = root_against(value.into(), constant, below, known)?;
    Some(Instead::Op(op.opcode, ordered(square, limit), "the root is on that side"))
}

/// What is subtracted from what, where a test of a difference against 0 tests these as well. Two equal infinities,
/// whose difference is NaN, are neither less nor greater than each other: for such a test (`strict`) they needn't be
/// ruled out.
fn difference(value: ValueId, strict: bool, known: &Known) -> Option<(Operand, Operand)> {
    let definition = known.definition(value)?;
    let [a, b] = definition.args[..] else { return None };
    match of_floats(definition.opcode) {
        Opcode::FloatSub if strict || is_finite(a, known) || is_finite(b, known) => Some((a, b)),
        Opcode::FloatAdd => {
            let (other, constant) = if number(b).is_some() { (a, b) } else { (b, a) };
            let constant = number(constant).filter(|number| number.is_finite())?;
            Some((other, made(-constant, definition.opcode == Opcode::SingleAdd)))
        }
        _ => None,
    }
}

/// For a root and a constant: what the root is of, and a constant on the same side of it. `below`: the numbers less
/// than that are those whose roots are less than the constant; else the greater ones are those whose roots are greater.
fn root_against(root: Operand, constant: Operand, below: bool, known: &Known) -> Option<(Operand, Operand)> {
    let definition = known.definition(root.value()?)?;
    let single = match definition.opcode {
        Opcode::FloatSqrt => false,
        Opcode::SingleSqrt => true,
        _ => return None,
    };
    let (square, constant) = (definition.args[0], number(constant)?);
    let limit = if below { least_square(constant, single) } else { greatest_square(constant, single) }?;
    not_negative(square, known).then(|| (square, made(limit, single)))
}

/// So many neighbours are looked at: three or four numbers in a row have one root.
const NEIGHBOURS: usize = 8;

/// The least number whose root isn't less than a positive one.
fn least_square(root: f64, single: bool) -> Option<f64> {
    if !(root > 0.0 && root.is_finite()) {
        return None;
    }
    let mut square = rounded(root * root, single);
    for _ in 0..NEIGHBOURS {
        let before = neighbour(square, false, single);
        if sqrt(square, single) < root {
            square = neighbour(square, true, single);
        } else if sqrt(before, single) >= root {
            square = before;
        } else {
            return square.is_finite().then_some(square);
        }
    }
    None
}

/// The greatest number whose root isn't greater than a positive one.
fn greatest_square(root: f64, single: bool) -> Option<f64> {
    if !(root > 0.0 && root.is_finite()) {
        return None;
    }
    let mut square = rounded(root * root, single);
    for _ in 0..NEIGHBOURS {
        let next = neighbour(square, true, single);
        if sqrt(square, single) > root {
            square = neighbour(square, false, single);
        } else if sqrt(next, single) <= root {
            square = next;
        } else {
            return square.is_finite().then_some(square);
        }
    }
    None
}

fn rounded(number: f64, single: bool) -> f64 {
    if single { f64::from(number as f32) } else { number }
}

fn sqrt(number: f64, single: bool) -> f64 {
    if single { f64::from((number as f32).sqrt()) } else { number.sqrt() }
}

fn neighbour(number: f64, up: bool, single: bool) -> f64 {
    match (single, up) {
        (true, true) => f64::from((number as f32).next_up()),
        (true, false) => f64::from((number as f32).next_down()),
        (false, true) => number.next_up(),
        (false, false) => number.next_down(),
    }
}

fn made(number: f64, single: bool) -> Operand {
    Operand::Const(match single {
        true => Const::Single((number as f32).to_bits()),
        false => Const::Float(number.to_bits()),
    })
}

/// Whether an operand isn't less than 0; it may be NaN.
fn not_negative(operand: Operand, known: &Known) -> bool {
    known.float(operand).lower().is_some_and(|lower| lower >= 0.0)
}

/// Whether an operand isn't infinite; it may be NaN.
fn is_finite(operand: Operand, known: &Known) -> bool {
    let bound = known.float(operand);
    bound.lower().is_some_and(f64::is_finite) && bound.upper().is_some_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_on_the_side_of_their_roots() {
        let roots = [0.9f32, 0.5, 1.0, 3.0, 1e-20, 1e-30, 1e-45, 1.8e19, f32::MIN_POSITIVE, 0.12, 1.41, 1.9999999];
        for root in roots {
            let least = least_square(root.into(), true).expect("it is finite") as f32;
            assert!(least.sqrt() >= root && least.next_down().sqrt() < root, "{root}");
            let greatest = greatest_square(root.into(), true).expect("it is finite") as f32;
            assert!(greatest.sqrt() <= root && greatest.next_up().sqrt() > root, "{root}");
            let root = f64::from(root) * 1.000000001;
            let least = least_square(root, false).expect("it is finite");
            assert!(least.sqrt() >= root && least.next_down().sqrt() < root, "{root}");
            let greatest = greatest_square(root, false).expect("it is finite");
            assert!(greatest.sqrt() <= root && greatest.next_up().sqrt() > root, "{root}");
        }
        assert_eq!(least_square(1e30, true), None);
        assert_eq!(greatest_square(f64::INFINITY, false), None);
        assert_eq!(least_square(0.0, false), None);
    }
}
