//! Soundness at 64 bits, against the definitions of the op table, with values that are often at corners.

use flowgraph::ir::{Opcode, OperandType, Type};
use proptest::prelude::*;
use timeshifter::optimize::int_bound::IntBound;

fn corner() -> impl Strategy<Value = i64> {
    let near_power = (0u32..64, -1i64..=1, any::<bool>()).prop_map(|(n, by, negate)| {
        let power = 1i64.wrapping_shl(n).wrapping_add(by);
        if negate { power.wrapping_neg() } else { power }
    });
    prop_oneof![
        3 => prop::sample::select(vec![0, 1, -1, i64::MIN, i64::MAX, 2, 3, 7, 8, 63, 64, 65]),
        3 => near_power,
        3 => -70i64..70,
        1 => any::<i64>(),
    ]
}

fn mask() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        (0u32..64).prop_map(|n| u64::MAX << n),
        (0u32..64).prop_map(|n| u64::MAX >> n),
        (0u32..64, 0u32..64).prop_map(|(a, b)| 1 << a | 1 << b),
        any::<u64>(),
    ]
}

/// A bound that holds the value: a range, bits, or both.
fn around(value: i64, others: (i64, i64), mask: u64) -> IntBound {
    let lower = value.min(others.0).min(others.1);
    let range = IntBound::from_range(lower, value.max(others.0).max(others.1));
    let bits = IntBound::from_bits(value as u64, mask);
    range.and_then(|range| range.meet(bits)).expect("it holds the value")
}

fn value_and_bound() -> impl Strategy<Value = (i64, IntBound)> {
    (corner(), (corner(), corner()), mask(), 0..4).prop_map(|(value, others, mask, kind)| {
        let bound = match kind {
            0 => around(value, others, mask),
            1 => around(value, others, u64::MAX),
            2 => IntBound::from_bits(value as u64, mask),
            _ => IntBound::constant(value),
        };
        (value, bound)
    })
}

fn is_int(ty: &OperandType) -> bool {
    *ty == OperandType::Is(Type::Int)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20000))]

    #[test]
    fn a_bound_holds_what_it_was_made_around((value, bound) in value_and_bound(), (other, another) in value_and_bound()) {
        prop_assert!(bound.contains(value), "{bound}");
        prop_assert!(bound.lower() <= value && value <= bound.upper());
        prop_assert!(bound.unsigned_lower() <= value as u64 && value as u64 <= bound.unsigned_upper());
        prop_assert!(bound.contains(bound.lower()) && bound.contains(bound.upper()));
        prop_assert!(bound.join(another).contains(value) && bound.join(another).contains(other));
        prop_assert!(bound.widen(another).contains(value) && bound.widen(another).contains(other));
        prop_assert_eq!(bound.meet(another).is_some_and(|met| met.contains(value)), another.contains(value));
        prop_assert_eq!(bound.meet(another), another.meet(bound));
        prop_assert!(bound.implies(bound.join(another)) && bound.meet(another).is_none_or(|met| met.implies(bound)));
    }

    #[test]
    fn each_op_gives_and_refines_soundly(
        operands in [value_and_bound(), value_and_bound(), value_and_bound()],
        others in (corner(), corner()),
        mask in mask(),
    ) {
        for op in Opcode::ALL.iter().filter(|op| op.is_pure() && op.results().iter().all(is_int)) {
            let n = op.operands().len();
            let words: Vec<u64> = operands[..n].iter().map(|(value, _)| *value as u64).collect();
            let args: Vec<IntBound> = op.operands().iter().zip(&operands)
                .map(|(ty, (_, bound))| if is_int(ty) { *bound } else { IntBound::unbounded() })
                .collect();
            // A single is kept in the low half.
            let single = |(word, ty): (&u64, &OperandType)| if *ty == OperandType::Is(Type::Single) { *word & 0xffff_ffff } else { *word };
            let words: Vec<u64> = words.iter().zip(op.operands()).map(single).collect();
            let results = op.compute(&words).expect("pure");
            let found = IntBound::transfer(*op, &args);
            prop_assert_eq!(found.len(), results.len());
            for (bound, result) in found.iter().zip(&results) {
                prop_assert!(bound.contains(*result as i64), "{op:?} of {args:?} isn't {bound}: {words:?} gives {result}");
            }
            let result = around(results[0] as i64, others, mask);
            let refined = IntBound::refine(*op, &args, result);
            let sound = |refined: &[IntBound]| {
                refined.len() == n && refined.iter().zip(&args).zip(&words).zip(op.operands())
                    .all(|(((new, old), word), ty)| !is_int(ty) || new.contains(*word as i64) && new.implies(*old))
            };
            prop_assert!(refined.as_ref().is_some_and(|r| sound(r)), "{result} = {op:?} of {args:?} leaves {refined:?}: {words:?}");
            if results.len() == 2 && results[1] == 0 {
                let refined = IntBound::refine_no_overflow(*op, &args, result);
                prop_assert!(refined.as_ref().is_some_and(|r| sound(r)), "{result} = {op:?} of {args:?} leaves {refined:?}: {words:?}");
                let (a, b) = (args[0], args[1]);
                let value = match op {
                    Opcode::IntAddOvf => a.add_bound_no_overflow(b),
                    Opcode::IntSubOvf => a.sub_bound_no_overflow(b),
                    _ => a.mul_bound_no_overflow(b),
                };
                prop_assert!(value.is_some_and(|v| v.contains(results[0] as i64)), "{op:?} of {args:?} isn't {value:?}: {words:?}");
            }
        }
    }

    #[test]
    fn predicates_of_overflow((x, a) in value_and_bound(), (y, b) in value_and_bound()) {
        prop_assert!(!a.add_bound_cannot_overflow(b) || x.checked_add(y).is_some());
        prop_assert!(!a.sub_bound_cannot_overflow(b) || x.checked_sub(y).is_some());
        prop_assert!(!a.mul_bound_cannot_overflow(b) || x.checked_mul(y).is_some());
        prop_assert!(!a.neg_bound_cannot_overflow() || x.checked_neg().is_some());
        prop_assert!(!a.lshift_bound_cannot_overflow(b) || x << (y & 63) >> (y & 63) == x);
    }

    #[test]
    fn knowing_an_order_is_right((x, a) in value_and_bound(), (y, b) in value_and_bound()) {
        let (ux, uy) = (x as u64, y as u64);
        let known = [
            (a.known_eq(b), a.known_eq_const(y), x == y), (a.known_ne(b), a.known_ne_const(y), x != y),
            (a.known_lt(b), a.known_lt_const(y), x < y), (a.known_le(b), a.known_le_const(y), x <= y),
            (a.known_gt(b), a.known_gt_const(y), x > y), (a.known_ge(b), a.known_ge_const(y), x >= y),
            (a.known_ult(b), a.known_ult_const(y), ux < uy), (a.known_ule(b), a.known_ule_const(y), ux <= uy),
            (a.known_ugt(b), a.known_ugt_const(y), ux > uy), (a.known_uge(b), a.known_uge_const(y), ux >= uy),
        ];
        for (both, constant, holds) in known {
            prop_assert!(!both || constant && holds);
            prop_assert!(!constant || holds);
        }
    }
}

/// What the rules of an optimizer hope for.
#[test]
fn examples() {
    let any = IntBound::unbounded();
    let (zero, one) = (IntBound::constant(0), IntBound::constant(1));
    let refine = |op, a, b, r| IntBound::refine(op, &[a, b], r).expect("no contradiction");
    let range = |lower, upper| IntBound::from_range(lower, upper).expect("not empty");

    // The low bit of x, from x & 1 == 0.
    assert_eq!(refine(Opcode::IntAnd, any, one, zero)[0].zeros(), 1);
    // x + 3 < 10 says of x that it is below 7, or so large that the sum wraps: nothing as a signed range ...
    let sum = refine(Opcode::IntLt, any, IntBound::constant(10), one)[0];
    assert_eq!(refine(Opcode::IntAdd, any, IntBound::constant(3), sum)[0], any);
    // ... but if it did not overflow, it is below 7, as it is for an x that cannot overflow.
    let three = IntBound::constant(3);
    let checked = IntBound::refine_no_overflow(Opcode::IntAddOvf, &[any, three], sum).expect("no contradiction");
    assert_eq!(checked[0], range(i64::MIN, 6));
    assert_eq!(refine(Opcode::IntAdd, IntBound::nonnegative(), three, sum)[0].upper(), i64::MAX);
    assert_eq!(refine(Opcode::IntAdd, range(0, i64::MAX - 3), three, sum)[0], range(0, 6));
    // An index that passed the unsigned check.
    assert_eq!(refine(Opcode::UintLt, any, IntBound::constant(100), one)[0], range(0, 99));
    // y == x + 1, for y of 1 to 10.
    assert_eq!(refine(Opcode::IntAdd, any, one, range(1, 10))[0], range(0, 9));
    // Contradictions.
    assert_eq!(IntBound::refine(Opcode::IntLt, &[any, IntBound::constant(i64::MIN)], one), None);
    assert_eq!(IntBound::refine(Opcode::IntMul, &[any, IntBound::constant(6)], one), None);
    assert_eq!(IntBound::refine(Opcode::IntLshift, &[any, one], one), None);
    // x * 3 == 12 has one solution, x << 1 == 12 has two, which agree but for the sign.
    assert_eq!(refine(Opcode::IntMul, any, three, IntBound::constant(12))[0], IntBound::constant(4));
    assert_eq!(refine(Opcode::IntLshift, any, one, IntBound::constant(12))[0], IntBound::from_bits(6, 1 << 63));
    // A tag of three bits below an aligned pointer.
    let tagged = IntBound::from_bits(0, !7).or_bound(IntBound::constant(5));
    assert_eq!(tagged.and_bound(IntBound::constant(7)), IntBound::constant(5));
    assert_eq!(tagged.sub_bound(IntBound::constant(5)).ctz_bound().lower(), 3);
    // Bytes.
    assert_eq!(any.and_bound(IntBound::constant(255)).mul_bound(IntBound::constant(257)).upper(), 0xffff);
    assert_eq!(any.signext_bound(one), range(-128, 127));
}

/// What isn't negative, and what is less in the order without signs, have ends with a sign, too: so lengths learn of
/// checks.
#[test]
fn unsigned_comparisons_teach_what_is_not_negative() {
    let range = |low, high| IntBound::from_range(low, high).unwrap();
    let (three, length) = (IntBound::constant(3), IntBound::nonnegative());
    for (op, holds, least) in
        [(Opcode::UintGt, 0, 3), (Opcode::UintLe, 1, 3), (Opcode::UintLt, 1, 4), (Opcode::UintGe, 0, 4)]
    {
        let after = IntBound::refine(op, &[three, length], IntBound::constant(holds)).unwrap();
        assert_eq!(after[1], range(least, i64::MAX), "{}", op.name());
    }
    let after = IntBound::refine(Opcode::UintLt, &[range(-9, 9), range(0, 5)], IntBound::constant(1)).unwrap();
    assert_eq!(after[..], [range(0, 4), range(1, 5)]);
}
