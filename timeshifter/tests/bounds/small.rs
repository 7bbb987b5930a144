//! Soundness of everything at few bits, where all can be gone through: all bounds of 3 and 4 bits, and of 6 bits all
//! known bits, a grid of ranges, and a sample of the rest.

use crate::sets::*;
use flowgraph::ir::Opcode;
use timeshifter::optimize::int_bound::Bound;

fn six_bits() -> Vec<Space<6>> {
    let ranges: Vec<_> = all_ranges::<6>().into_iter().step_by(7).collect();
    let all = all_bounds::<6>();
    let mut dice = Dice(6);
    let sample = (0..400).map(|_| all[dice.below(all.len())]).collect();
    vec![Space::new(all_bits::<6>()), Space::new(ranges), Space::new(sample)]
}

fn forward<const W: u32>(space: &Space<W>, op: Opcode) {
    let results = Bound::<W>::transfer(op, &[Bound::unbounded(), Bound::unbounded()]).len();
    for result in 0..results {
        let images = space.images(op, result, false);
        for (a, a_set) in space.bounds.iter().zip(&space.sets) {
            for (i, b) in space.bounds.iter().enumerate() {
                let exact = places(*a_set).fold(0, |all, x| all | images[x][i]);
                let found = Bound::transfer(op, &[*a, *b])[result];
                assert_eq!(exact & !set(found), 0, "{op:?} of {a} and {b} isn't {found}");
            }
        }
    }
}

#[test]
fn unary_ops_hold_all_results() {
    fn check<const W: u32>() {
        for op in UNARY {
            for a in all_bounds::<W>() {
                let found = Bound::<W>::transfer(op, &[a])[0];
                for x in integers::<W>().filter(|x| a.contains(*x)) {
                    assert!(found.contains(compute::<W>(op, x, 0)[0]), "{op:?} of {a} isn't {found}: {x}");
                }
            }
        }
    }
    check::<3>();
    check::<4>();
    check::<6>();
}

#[test]
fn binary_ops_hold_all_results_at_3_and_4_bits() {
    let (three, four) = (Space::new(all_bounds::<3>()), Space::new(all_bounds::<4>()));
    for op in BINARY {
        forward(&three, op);
        forward(&four, op);
    }
}

#[test]
fn binary_ops_hold_all_results_at_6_bits() {
    for space in six_bits() {
        for op in BINARY {
            forward(&space, op);
        }
    }
}

/// What `refine` takes away from operands must have been unable to give the result.
fn backward<const W: u32>(space: &Space<W>, op: Opcode, results: impl Fn(&mut Dice) -> Vec<usize>) {
    let (images, swapped) = (space.images(op, 0, false), space.images(op, 0, true));
    let mut dice = Dice(op as u64 + 1);
    for (i, a) in space.bounds.iter().enumerate() {
        for (j, b) in space.bounds.iter().enumerate() {
            for k in results(&mut dice) {
                let (r, r_set) = (space.bounds[k], space.sets[k]);
                let able = |set: Set, images: &[Vec<Set>], other: usize| {
                    places(set).filter(|x| images[*x][other] & r_set != 0).map(|x| 1 << x).sum::<Set>()
                };
                let (a_able, b_able) = (able(space.sets[i], &images, j), able(space.sets[j], &swapped, i));
                match Bound::refine(op, &[*a, *b], r) {
                    None => assert_eq!(a_able, 0, "{r} = {op:?} of {a} and {b} is no contradiction"),
                    Some(found) => {
                        let shown = || format!("{r} = {op:?} of {a} and {b} leaves more than {found:?}");
                        assert_eq!(a_able & !set(found[0]), 0, "{}", shown());
                        assert_eq!(b_able & !set(found[1]), 0, "{}", shown());
                        assert!(found[0].implies(*a) && found[1].implies(*b), "{}", shown());
                    }
                }
            }
        }
    }
}

#[test]
fn refining_keeps_what_is_possible_at_3_bits() {
    let space = Space::new(all_bounds::<3>());
    let all: Vec<usize> = (0..space.bounds.len()).collect();
    for op in BINARY {
        backward(&space, op, |_| all.clone());
    }
}

#[test]
fn refining_keeps_what_is_possible_at_4_bits() {
    let space = Space::new(all_bounds::<4>());
    let decided = [0, 1].map(|c| space.bounds.iter().position(|b| *b == Bound::constant(c)).expect("all are there"));
    for op in BINARY {
        if op.is_comparison() {
            backward(&space, op, |_| decided.to_vec());
        } else {
            // A small bound, mostly, and any.
            backward(&space, op, |dice| {
                let one = (0..4).map(|_| dice.below(space.bounds.len())).min_by_key(|i| space.sets[*i].count_ones());
                one.into_iter().chain([dice.below(space.bounds.len())]).collect()
            });
        }
    }
}

#[test]
fn refining_keeps_what_is_possible_at_6_bits() {
    for space in six_bits() {
        let (n, every) = (space.bounds.len(), Space::new(space.bounds.iter().step_by(2).copied().collect()));
        for op in BINARY {
            backward(&every, op, |dice| vec![dice.below(n / 2)]);
        }
    }
}

#[test]
fn refining_unary_ops_keeps_what_is_possible() {
    fn check<const W: u32>(step: usize) {
        let all = all_bounds::<W>();
        for op in UNARY {
            for a in all.iter().step_by(step) {
                for r in all.iter().step_by(step) {
                    let able = |x: &i64| a.contains(*x) && r.contains(compute::<W>(op, *x, 0)[0]);
                    match Bound::refine(op, &[*a], *r) {
                        None => assert_eq!(integers::<W>().find(able), None, "{r} = {op:?} of {a}"),
                        Some(found) => {
                            assert!(found[0].implies(*a));
                            let lost = integers::<W>().filter(able).find(|x| !found[0].contains(*x));
                            assert_eq!(lost, None, "{r} = {op:?} of {a} leaves more than {}", found[0]);
                        }
                    }
                }
            }
        }
    }
    check::<3>(1);
    check::<4>(1);
    check::<6>(37);
}

#[test]
fn without_overflow_values_and_operands_are_sound() {
    type Forward<const W: u32> = fn(Bound<W>, Bound<W>) -> Option<Bound<W>>;
    fn check<const W: u32>() {
        let space = Space::<W>::new(all_bounds::<W>());
        let ops: [(Opcode, Forward<W>); 3] = [
            (Opcode::IntAddOvf, Bound::add_bound_no_overflow),
            (Opcode::IntSubOvf, Bound::sub_bound_no_overflow),
            (Opcode::IntMulOvf, Bound::mul_bound_no_overflow),
        ];
        let mut dice = Dice(4);
        for (op, no_overflow) in ops {
            for a in &space.bounds {
                for b in &space.bounds {
                    let r = space.bounds[dice.below(space.bounds.len())];
                    let (value, operands) = (no_overflow(*a, *b), Bound::refine_no_overflow(op, &[*a, *b], r));
                    for x in integers::<W>().filter(|x| a.contains(*x)) {
                        for y in integers::<W>().filter(|y| b.contains(*y)) {
                            let computed = compute::<W>(op, x, y);
                            if computed[1] == 0 {
                                assert!(
                                    value.is_some_and(|v| v.contains(computed[0])),
                                    "{op:?} of {a} and {b}: {x}, {y}"
                                );
                                if r.contains(computed[0]) {
                                    let kept = operands.as_ref().is_some_and(|o| o[0].contains(x) && o[1].contains(y));
                                    assert!(
                                        kept,
                                        "{r} = {op:?} of {a} and {b} leaves more than {operands:?}: {x}, {y}"
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    check::<3>();
    check::<4>();
}

#[test]
fn select_holds_and_refines() {
    let all = all_bounds::<3>();
    for cond in &all {
        for a in &all {
            for b in &all {
                let possible =
                    if cond.contains(0) { set(*b) } else { 0 } | if set(*cond) & !16 != 0 { set(*a) } else { 0 };
                assert_eq!(Some(cond.select(*a, *b)), best(possible));
            }
        }
    }
    let mut dice = Dice(8);
    for _ in 0..300_000 {
        let [cond, a, b, r] = [(); 4].map(|()| all[dice.below(all.len())]);
        let refined = Bound::refine(Opcode::IntSelect, &[cond, a, b], r);
        for c in integers::<3>().filter(|c| cond.contains(*c)) {
            let chosen = if c != 0 { a } else { b };
            if let Some(both) = chosen.meet(r) {
                let found = refined.as_ref().expect("the chosen one can be it");
                assert!(found[0].contains(c), "{cond} ? {a} : {b} = {r}");
                assert!(both.implies(found[if c != 0 { 1 } else { 2 }]), "{cond} ? {a} : {b} = {r}");
            }
        }
    }
}

#[test]
fn cannot_overflow_exactly_when_it_cannot() {
    let space = Space::new(all_bounds::<4>());
    for (a, a_set) in space.bounds.iter().zip(&space.sets) {
        for (b, b_set) in space.bounds.iter().zip(&space.sets) {
            let overflows = |op: Opcode| {
                places(*a_set).any(|x| places(*b_set).any(|y| compute::<4>(op, x as i64 - 8, y as i64 - 8)[1] != 0))
            };
            assert_eq!(a.add_bound_cannot_overflow(*b), !overflows(Opcode::IntAddOvf), "{a} + {b}");
            assert_eq!(a.sub_bound_cannot_overflow(*b), !overflows(Opcode::IntSubOvf), "{a} - {b}");
            assert_eq!(a.mul_bound_cannot_overflow(*b), !overflows(Opcode::IntMulOvf), "{a} * {b}");
            let loses = places(*a_set).any(|x| {
                places(*b_set).any(|y| {
                    let (x, amount) = (x as i64 - 8, (y as i64 - 8) & 3);
                    wrap::<4>(x << amount) != x << amount
                })
            });
            assert_eq!(a.lshift_bound_cannot_overflow(*b), !loses, "{a} << {b}");
        }
        assert_eq!(a.neg_bound_cannot_overflow(), !a.contains(-8));
    }
}
