//! Soundness of the bounds of floats, against the definitions of the op table, with values that are often at corners.

use flowgraph::ir::{Opcode, OperandType, Type};
use proptest::prelude::*;
use timeshifter::optimize::float_bound::FloatBound;
use timeshifter::optimize::int_bound::IntBound;

const CORNERS: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -2.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    2e-310,
    9007199254740993.0,
    -9223372036854775808.0,
    18446744073709551616.0,
    3.0,
    -7.25,
];

fn corner() -> impl Strategy<Value = f64> {
    prop_oneof![
        5 => prop::sample::select(CORNERS.to_vec()),
        2 => (-20i32..20).prop_map(|n| f64::from(n) / 4.0),
        1 => any::<u64>().prop_map(f64::from_bits),
        1 => prop::sample::select(CORNERS.to_vec()).prop_map(f64::next_up),
        1 => prop::sample::select(CORNERS.to_vec()).prop_map(f64::next_down),
    ]
}

/// A value and a bound of it: the hull of one, two or three values, at times with NaN.
fn value_and_bound() -> impl Strategy<Value = (f64, FloatBound)> {
    (corner(), corner(), corner(), 0..3, any::<bool>()).prop_map(|(value, one, other, kind, nan)| {
        let mut bound = FloatBound::constant(value);
        if kind > 0 && !one.is_nan() {
            bound = bound.join(FloatBound::constant(one));
        }
        if kind > 1 && !other.is_nan() {
            bound = bound.join(FloatBound::constant(other));
        }
        (value, if nan { bound.or_nan() } else { bound })
    })
}

fn is_float(ty: &OperandType) -> bool {
    *ty == OperandType::Is(Type::Float)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20000))]

    #[test]
    fn each_op_holds_its_result(
        operands in [value_and_bound(), value_and_bound(), value_and_bound()],
        (int, int_bound) in (prop_oneof![-3i64..3, any::<i64>()], any::<i64>())
            .prop_map(|(x, y)| (x, IntBound::constant(x).join(IntBound::constant(y)))),
    ) {
        let floats: Vec<FloatBound> = operands.iter().map(|(_, bound)| *bound).collect();
        for op in Opcode::ALL.iter().filter(|op| op.is_pure() && op.results().iter().all(is_float)) {
            let words: Vec<u64> = op.operands().iter().zip(&operands)
                .map(|(ty, (value, _))| match ty {
                    OperandType::Is(Type::Int) => int as u64,
                    OperandType::Is(Type::Single) => u64::from((*value as f32).to_bits()),
                    _ => value.to_bits(),
                })
                .collect();
            let result = f64::from_bits(op.compute(&words).expect("pure")[0]);
            let found = FloatBound::transfer(*op, &floats, &[int_bound]);
            prop_assert!(found.contains(result), "{op:?} of {floats:?} isn't {found}: {words:x?} gives {result:?}");
        }
    }

    #[test]
    fn casts_to_integers_hold_their_results((value, bound) in value_and_bound()) {
        prop_assert!(bound.cast_float_to_int().contains(value as i64), "{bound}");
        prop_assert!(bound.cast_float_to_uint().contains(value as u64 as i64), "{bound}");
    }

    #[test]
    fn comparisons_are_decided_and_refined_soundly((x, a) in value_and_bound(), (y, b) in value_and_bound()) {
        use Opcode as O;
        for op in [O::FloatEq, O::FloatNe, O::FloatLt, O::FloatLe, O::FloatGt, O::FloatGe] {
            let result = op.compute(&[x.to_bits(), y.to_bits()]).expect("pure")[0] != 0;
            let decided = FloatBound::compare(op, a, b);
            prop_assert!(decided.is_none_or(|decided| decided == result), "{op:?} of {a} and {b} isn't {decided:?}");
            let refined = FloatBound::refine_comparison(op, a, b, result);
            let sound = refined.is_some_and(|(c, d)| c.contains(x) && d.contains(y) && c.implies(a) && d.implies(b));
            prop_assert!(sound, "{op:?} of {a} and {b}, {result}, leaves {refined:?}: {x:?}, {y:?}");
            // The contrary of what is decided is a contradiction.
            if let Some(decided) = decided {
                prop_assert_eq!(FloatBound::refine_comparison(op, a, b, !decided), None, "{:?} of {} and {}", op, a, b);
            }
        }
    }

    #[test]
    fn the_lattice_is_one((x, a) in value_and_bound(), (y, b) in value_and_bound()) {
        prop_assert!(a.contains(x));
        prop_assert!(a.join(b).contains(x) && a.join(b).contains(y));
        prop_assert!(a.widen(b).contains(x) && a.widen(b).contains(y) && a.join(b).implies(a.widen(b)));
        prop_assert_eq!(a.meet(b).is_some_and(|met| met.contains(x)), b.contains(x));
        prop_assert!(a.implies(a.join(b)) && a.meet(b).is_none_or(|met| met.implies(a) && met.implies(b)));
        prop_assert_eq!(a.implies(b), a.meet(b) == Some(a));
        prop_assert!(!a.implies(b) || b.contains(x));
        prop_assert_eq!(a.join(b), b.join(a));
        prop_assert_eq!(a.meet(b), b.meet(a));
    }

    #[test]
    fn widening_ends_in_time(chain in prop::collection::vec(value_and_bound(), 60)) {
        let (mut bound, mut steps) = (chain[0].1, 0);
        for (_, next) in chain {
            // What is there, pushed outward, and new things.
            let pushed = bound.add_bound(FloatBound::from_range(-1.0, 1.0).expect("not empty"));
            for next in [pushed, next] {
                let wide = bound.widen(next);
                steps += usize::from(wide != bound);
                bound = wide;
            }
        }
        prop_assert!(steps <= FloatBound::WIDENING_STEPS);
    }
}

/// The ends of what corners give are reached: the bound is the hull of what the members at the ends give.
#[test]
fn monotone_ops_are_tight() {
    use Opcode as O;
    for op in [O::FloatNeg, O::FloatFloor, O::FloatCeil, O::FloatTrunc, O::FloatNearest] {
        for lower in CORNERS {
            for upper in CORNERS {
                let Some(bound) = FloatBound::from_range(lower, upper) else { continue };
                let apply = |x: f64| FloatBound::constant(f64::from_bits(op.compute(&[x.to_bits()]).expect("pure")[0]));
                assert_eq!(
                    FloatBound::transfer(op, &[bound], &[]),
                    apply(lower).join(apply(upper)),
                    "{op:?} of {bound}"
                );
            }
        }
    }
}

#[test]
fn constants_give_constants() {
    use Opcode as O;
    let ops = [O::FloatAdd, O::FloatSub, O::FloatMul, O::FloatTruediv, O::FloatMin, O::FloatMax, O::FloatCopysign];
    for op in ops {
        for a in CORNERS {
            for b in CORNERS {
                let result =
                    FloatBound::constant(f64::from_bits(op.compute(&[a.to_bits(), b.to_bits()]).expect("pure")[0]));
                let found = FloatBound::transfer(op, &[FloatBound::constant(a), FloatBound::constant(b)], &[]);
                // Of NaN's sign nothing is known.
                let of_nan = op == O::FloatCopysign && b.is_nan();
                assert!(found == result || of_nan && result.implies(found), "{op:?} of {a:?} and {b:?}: {found}");
            }
        }
    }
}

#[test]
fn examples() {
    let range = |lower, upper| FloatBound::from_range(lower, upper).expect("not empty");
    let any = FloatBound::unbounded();
    let infinity = FloatBound::constant(f64::INFINITY);
    assert_eq!(infinity.sub_bound(infinity), FloatBound::only_nan());
    assert_eq!(range(0.0, 1.0).mul_bound(infinity).to_string(), "inf or NaN");
    assert_eq!(range(-1.0, 1.0).truediv_bound(range(2.0, 4.0)), range(-0.5, 0.5));
    assert_eq!(range(-1.0, 4.0).sqrt_bound(), range(-0.0, 2.0).or_nan());
    assert_eq!(any.abs_bound(), range(0.0, f64::INFINITY).or_nan());
    assert_eq!(any.min_bound(FloatBound::constant(3.0)), range(f64::NEG_INFINITY, 3.0));
    // a < 0 says that it is a number, and at most the first below zero.
    let (a, _) =
        FloatBound::refine_comparison(Opcode::FloatLt, any, FloatBound::constant(0.0), true).expect("possible");
    assert_eq!(a, range(f64::NEG_INFINITY, -5e-324));
    // a == 0 leaves both zeros; a != a is so of NaN alone.
    let (a, _) =
        FloatBound::refine_comparison(Opcode::FloatEq, any, FloatBound::constant(0.0), true).expect("possible");
    assert_eq!(a, range(-0.0, 0.0));
    assert_eq!(range(0.0, 1.0).known_ne(range(2.0, 3.0)), Some(true));
    assert_eq!(FloatBound::only_nan().known_eq(FloatBound::only_nan()), Some(false));
    assert_eq!(FloatBound::constant(0.0).known_eq(FloatBound::constant(-0.0)), Some(true));
    assert_eq!(FloatBound::cast_int_to_float(IntBound::boolean()), range(0.0, 1.0));
}
