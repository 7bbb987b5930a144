//! The laws of the lattice, on all bounds of 4 bits and chains of 6 and 64.

use crate::sets::*;
use timeshifter::optimize::int_bound::{Bound, IntBound};

#[test]
fn each_bound_is_reduced_and_each_set_has_one() {
    let space = Space::new(all_bounds::<4>());
    for (bound, set) in space.bounds.iter().zip(&space.sets) {
        assert_ne!(*set, 0, "{bound:?}");
        assert_eq!(best::<4>(*set), Some(*bound));
        assert_eq!(bound.tvalue() & bound.tmask(), 0);
        assert_eq!(bound.ones() ^ bound.zeros() ^ bound.tmask(), u64::MAX);
        let unsigned = || places(*set).map(|x| (x as u64).wrapping_sub(8) & 15);
        assert_eq!(unsigned().min(), Some(bound.unsigned_lower()));
        assert_eq!(unsigned().max(), Some(bound.unsigned_upper()));
        assert_eq!(bound.get_constant_int().is_some(), set.count_ones() == 1);
        assert_eq!(bound.is_bool(), set & !singleton::<4>(0) & !singleton::<4>(1) == 0);
    }
}

#[test]
fn meet_is_the_intersection_and_join_the_smallest_bound_of_both() {
    let space = Space::new(all_bounds::<4>());
    for (a, a_set) in space.bounds.iter().zip(&space.sets) {
        for (b, b_set) in space.bounds.iter().zip(&space.sets) {
            let met = a.meet(*b);
            assert_eq!(met.map_or(0, set), a_set & b_set, "{a} and {b}");
            assert_eq!(met, best(a_set & b_set), "{a} and {b}");
            assert_eq!(Some(a.join(*b)), best(a_set | b_set), "{a} or {b}");
            assert_eq!(a.implies(*b), a_set & !b_set == 0, "{a} in {b}");
            assert_eq!(a.known_ne(*b), a_set & b_set == 0, "{a} not {b}");
        }
    }
}

#[test]
fn widening_holds_both() {
    let all = all_bounds::<4>();
    for a in &all {
        for b in &all {
            let wide = a.widen(*b);
            assert!(a.implies(wide) && b.implies(wide), "{a} then {b} isn't {wide}");
            assert_eq!(wide == *a, b.implies(*a));
        }
    }
}

/// Feeds the chain with bounds that are as new to it as can be, and as little.
fn chain<const W: u32>(dice: &mut Dice, next: impl Fn(&mut Dice, Bound<W>) -> Bound<W>) -> usize {
    let mut bound = next(dice, Bound::constant(0));
    let mut steps = 0;
    for _ in 0..400 {
        let wider = bound.widen(next(dice, bound));
        steps += usize::from(wider != bound);
        bound = wider;
    }
    steps
}

#[test]
fn widening_ends_in_time() {
    let all = all_bounds::<6>();
    let mut dice = Dice(3);
    let mut most = 0;
    for _ in 0..3000 {
        most = most.max(chain(&mut dice, |dice, _| all[dice.below(all.len())]));
        // The nearest numbers outside.
        most = most.max(chain::<64>(&mut dice, |dice, bound| {
            let far = 1i64 << dice.below(63);
            IntBound::constant(match dice.below(6) {
                0 => bound.upper().wrapping_add(1),
                1 => bound.lower().wrapping_sub(1),
                2 => bound.upper().wrapping_add(far),
                3 => bound.lower().wrapping_sub(far),
                4 => bound.lower().wrapping_add(far),
                _ => bound.upper() ^ (bound.tmask().wrapping_add(1) & !bound.tmask()) as i64,
            })
        }));
    }
    assert!(most <= IntBound::WIDENING_STEPS, "{most}");
    assert!(most > 5, "the test finds long chains: {most}");
}

#[test]
fn a_loop_counter_widens_to_what_it_is() {
    let step = |bound: IntBound, by: i64| bound.add_bound_no_overflow(IntBound::constant(by)).unwrap_or(bound);
    let mut counter = IntBound::constant(0);
    while counter.widen(step(counter, 8)) != counter {
        counter = counter.widen(step(counter, 8));
    }
    assert_eq!((counter.lower(), counter.upper()), (0, i64::MAX - 7));
    assert!(counter.known_nonnegative());
    assert_eq!(counter.zeros() & 7, 7);
}

#[test]
fn bounds_are_readable() {
    let shown = |bound: IntBound| bound.to_string();
    assert_eq!(shown(IntBound::unbounded()), "any");
    assert_eq!(shown(IntBound::constant(-5)), "-5");
    assert_eq!(shown(IntBound::boolean()), "0..=1");
    assert_eq!(shown(IntBound::from_bits(0b1010, 0b0100)), "bits 0…1?10");
    assert_eq!(shown(IntBound::from_bits(1, !1)), "bits ?…1");
}
