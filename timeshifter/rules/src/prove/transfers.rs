//! What is known of bounds that ops give, beyond that they hold the members spoken of: facts for asking whether two
//! rules ever meet ([`super::meeting`]). No proof of a rule rests on them.

use super::formula::{Parts, contains, equal, is_constant};
use super::ops::{overflows, results, word};
use flowgraph::ir::Opcode;

/// A bound that an op gives holds what the op gives for other members than those that are spoken of: ends, and ends
/// with the lowest unknown bit turned over, where that is a member.
pub(super) fn holds(op: Opcode, args: &[Parts], result: &Parts) -> Vec<String> {
    let mut facts = Vec::new();
    // Products and quotients are too hard for so many questions; of bitwise ops and of selections all is known
    // ([`tight`]).
    let all_is_known =
        matches!(op, Opcode::IntAnd | Opcode::IntOr | Opcode::IntXor | Opcode::IntInvert | Opcode::IntSelect);
    if all_is_known || is_hard(op) {
        return facts;
    }
    let mut corners: Vec<(Vec<String>, Vec<String>)> = vec![(Vec::new(), Vec::new())];
    for arg in args {
        let mut values = vec![(arg.lower.clone(), None)];
        if arg.lower != arg.upper {
            values.push((arg.upper.clone(), None));
            let lowest = format!("(bvand {} (bvneg {}))", arg.tmask, arg.tmask);
            for end in [&arg.lower, &arg.upper] {
                let turned = format!("(bvxor {end} {lowest})");
                let inside = contains(arg, &turned);
                values.push((turned, Some(inside)));
            }
        }
        corners = corners
            .into_iter()
            .flat_map(|(taken, needs)| {
                values.iter().map(move |(value, need)| {
                    ([&taken[..], std::slice::from_ref(value)].concat(), needs.iter().chain(need).cloned().collect())
                })
            })
            .collect();
    }
    for (values, needs) in corners {
        // What gives any NaN has no value that could be looked for.
        let mut is_exact = true;
        let found = results(op, &values, &mut |_, _| {
            is_exact = false;
            word(0)
        });
        if let Some(value) = found.and_then(|found| found.into_iter().next()).filter(|_| is_exact) {
            facts.push(format!("(=> (and true {}) {})", needs.join(" "), contains(result, &value)));
        }
    }
    facts
}

/// Whether an op is hard to ask about.
pub(super) fn is_hard(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::IntMul
            | Opcode::IntMulOvf
            | Opcode::UintMulHigh
            | Opcode::IntFloordiv
            | Opcode::IntMod
            | Opcode::UintFloordiv
            | Opcode::UintMod
    )
}

/// A bound that an op gives holds no more than this.
pub(super) fn tight(op: Opcode, args: &[Parts], result: &Parts) -> Vec<String> {
    let mut facts = Vec::new();
    let zero = word(0);
    // The bits that are known to be ones, and those that may be.
    let bits = |ones: String, may_be: String| {
        format!("(and (= {} {ones}) (= (bvor {} {}) {may_be}))", result.tvalue, result.tvalue, result.tmask)
    };
    let is_value = |value: i64| format!("(and (= {} {w}) (= {} {w}))", result.lower, result.upper, w = word(value));
    let ordered = |mark: &str, a: &str, b: &str| format!("({mark} {a} {b})");
    let mut decided = |when_true: String, when_false: String| {
        facts.push(format!("(and (bvsge {} {zero}) (bvsle {} {}))", result.lower, result.upper, word(1)));
        facts.push(format!("(=> {when_true} {})", is_value(1)));
        facts.push(format!("(=> {when_false} {})", is_value(0)));
    };
    let apart = |a: &Parts, b: &Parts| {
        let bits = format!("(bvand (bvxor {} {}) (bvnot (bvor {} {})))", a.tvalue, b.tvalue, a.tmask, b.tmask);
        format!("(or (bvslt {} {}) (bvsgt {} {}) (not (= {bits} {zero})))", a.upper, b.lower, a.lower, b.upper)
    };
    let same =
        |a: &Parts, b: &Parts| format!("(and {} {} (= {} {}))", is_constant(a), is_constant(b), a.lower, b.lower);
    let nonzero =
        |a: &Parts| format!("(or (bvsgt {} {zero}) (bvslt {} {zero}) (not (= {} {zero})))", a.lower, a.upper, a.tvalue);
    match (op, args) {
        (Opcode::IntEq, [a, b]) => decided(same(a, b), apart(a, b)),
        (Opcode::IntNe, [a, b]) => decided(apart(a, b), same(a, b)),
        (Opcode::IntLt, [a, b]) => {
            decided(ordered("bvslt", &a.upper, &b.lower), ordered("bvsge", &a.lower, &b.upper));
        }
        (Opcode::IntLe, [a, b]) => {
            decided(ordered("bvsle", &a.upper, &b.lower), ordered("bvsgt", &a.lower, &b.upper));
        }
        (Opcode::IntGt, [a, b]) => {
            decided(ordered("bvsgt", &a.lower, &b.upper), ordered("bvsle", &a.upper, &b.lower));
        }
        (Opcode::IntGe, [a, b]) => {
            decided(ordered("bvsge", &a.lower, &b.upper), ordered("bvslt", &a.upper, &b.lower));
        }
        (Opcode::UintLt | Opcode::UintLe | Opcode::UintGt | Opcode::UintGe, [a, b]) => {
            let (when_true, when_false) = unsigned(op, a, b);
            decided(when_true, when_false);
        }
        (Opcode::IntIsTrue, [a]) => decided(nonzero(a), same(a, &constant(0))),
        (Opcode::IntIsZero, [a]) => decided(same(a, &constant(0)), nonzero(a)),
        // Of a bound each unknown bit is 0 in a member and 1 in another, so of these ops just this is known.
        (Opcode::IntAnd, [a, b]) => {
            facts.push(bits(
                format!("(bvand {} {})", a.tvalue, b.tvalue),
                format!("(bvand (bvor {} {}) (bvor {} {}))", a.tvalue, a.tmask, b.tvalue, b.tmask),
            ));
        }
        (Opcode::IntOr, [a, b]) => {
            facts.push(bits(
                format!("(bvor {} {})", a.tvalue, b.tvalue),
                format!("(bvor {} {} {} {})", a.tvalue, a.tmask, b.tvalue, b.tmask),
            ));
        }
        (Opcode::IntXor, [a, b]) => {
            let unknown = format!("(bvor {} {})", a.tmask, b.tmask);
            let known = format!("(bvand (bvxor {} {}) (bvnot {unknown}))", a.tvalue, b.tvalue);
            facts.push(bits(known.clone(), format!("(bvor {known} {unknown})")));
        }
        (Opcode::IntInvert, [a]) => {
            facts.push(bits(format!("(bvnot (bvor {} {}))", a.tvalue, a.tmask), format!("(bvnot {})", a.tvalue)));
        }
        (Opcode::IntLshift | Opcode::IntRshift | Opcode::UintRshift, [a, by]) => {
            let shift = match op {
                Opcode::IntLshift => "bvshl",
                Opcode::IntRshift => "bvashr",
                _ => "bvlshr",
            };
            let amount = format!("(bvand {} {})", by.lower, word(63));
            let shifted = |of: String| format!("({shift} {of} {amount})");
            let known = bits(shifted(a.tvalue.clone()), shifted(format!("(bvor {} {})", a.tvalue, a.tmask)));
            facts.push(format!("(=> {} {known})", is_constant(by)));
        }
        (Opcode::IntSelect, [c, a, b]) => {
            let (first, second) = (nonzero(c), same(c, &constant(0)));
            facts.push(format!("(=> {first} {})", equal(result, a)));
            facts.push(format!("(=> {second} {})", equal(result, b)));
            let less = |mark: &str, a: &str, b: &str| format!("(ite ({mark} {a} {b}) {a} {b})");
            let lower = format!("(= {} {})", result.lower, less("bvsle", &a.lower, &b.lower));
            let upper = format!("(= {} {})", result.upper, less("bvsge", &a.upper, &b.upper));
            let either = format!("(and {} {} {lower} {upper})", within(a, result), within(b, result));
            facts.push(format!("(=> (not (or {first} {second})) {either})"));
        }
        (Opcode::IntMul, [a, b]) => {
            // Below the lowest bit that one of them may have, a product has none.
            for one in [a, b] {
                let may_be = format!("(bvor {} {})", one.tvalue, one.tmask);
                let below = format!("(bvsub (bvand {may_be} (bvneg {may_be})) {})", word(1));
                facts.push(format!("(= (bvand (bvor {} {}) {below}) {zero})", result.tvalue, result.tmask));
            }
        }
        (Opcode::UintFloordiv, [a, b]) => {
            let (is_less, _) = unsigned(Opcode::UintLt, a, b);
            facts.push(format!("(=> {is_less} {})", is_value(0)));
        }
        _ => {}
    }
    facts
}

/// Whether one bound holds nothing that another doesn't.
fn within(one: &Parts, other: &Parts) -> String {
    let ends = format!("(bvsge {} {}) (bvsle {} {})", one.lower, other.lower, one.upper, other.upper);
    format!("(and {ends} (= (bvand {} (bvnot {})) {}))", one.tmask, other.tmask, word(0))
}

/// What a comparison of bounds is known to say.
pub(super) fn known(op: Opcode, args: &[Parts], answer: &str) -> Option<String> {
    match (op, args) {
        (Opcode::IntNe, [a, b]) => {
            let constant = |one: &Parts, other: &Parts| {
                format!("(=> {} (= {answer} (not {})))", is_constant(one), contains(other, &one.lower))
            };
            Some(format!("(and {} {})", constant(a, b), constant(b, a)))
        }
        (Opcode::UintLt | Opcode::UintLe | Opcode::UintGt | Opcode::UintGe, [a, b]) => {
            Some(format!("(= {answer} {})", unsigned(op, a, b).0))
        }
        _ => None,
    }
}

/// Where an unsigned comparison of bounds is known to be true, and where false.
fn unsigned(op: Opcode, a: &Parts, b: &Parts) -> (String, String) {
    // If some members are negative and others aren't, the ends in unsigned order are those of the bits.
    let end = |of: &Parts, bits: &str, end: &str| {
        format!("(ite (and (bvslt {} {z}) (bvsge {} {z})) {bits} {end})", of.lower, of.upper, z = word(0))
    };
    let least = |of: &Parts| end(of, &of.tvalue, &of.lower);
    let most = |of: &Parts| end(of, &format!("(bvor {} {})", of.tvalue, of.tmask), &of.upper);
    let less = |a: &Parts, b: &Parts| format!("(bvult {} {})", most(a), least(b));
    let less_or_same = |a: &Parts, b: &Parts| format!("(bvule {} {})", most(a), least(b));
    match op {
        Opcode::UintLt => (less(a, b), less_or_same(b, a)),
        Opcode::UintLe => (less_or_same(a, b), less(b, a)),
        Opcode::UintGt => (less(b, a), less_or_same(a, b)),
        _ => (less_or_same(b, a), less(a, b)),
    }
}

/// What holds where an op on members of these never overflows: it doesn't at their ends.
pub(super) fn cannot_overflow(op: Opcode, args: &[Parts], answer: &str) -> Vec<String> {
    let ends = |parts: &Parts| [parts.lower.clone(), parts.upper.clone()];
    let firsts = ends(&args[0]);
    let seconds = args.get(1).map_or_else(|| [String::new(), String::new()], ends);
    if is_hard(op) {
        return Vec::new();
    }
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)));
    pairs.filter_map(|(first, second)| Some(format!("(=> {answer} (not {}))", overflows(op, first, second)?))).collect()
}

/// The bound of one number.
pub(super) fn constant(value: i64) -> Parts {
    Parts::of(&bounds::IntBound::constant(value))
}

#[cfg(test)]
mod tests {
    use super::{holds, known, tight};
    use crate::eval::cannot_overflow;
    use crate::methods::Overflow;
    use crate::prove::formula::{Parts, overflow_op};
    use crate::prove::solver::{Answer, Effort, Solver};
    use crate::sample::Random;
    use bounds::IntBound;
    use flowgraph::ir::Opcode;
    use std::time::Duration;

    /// The facts are true of the bounds that ops really give.
    #[test]
    fn transfers_are_as_the_facts_say() {
        let Ok((solver, _)) = Solver::new(Duration::from_secs(20)) else {
            eprintln!("skipped: there is no Z3");
            return;
        };
        let mut random = Random::new(7);
        let int = flowgraph::ir::OperandType::Is(flowgraph::ir::Type::Int);
        let is_of_ints = |op: &Opcode| {
            op.is_pure() && op.results().first() == Some(&int) && op.operands().iter().all(|own| *own == int)
        };
        let mut asked = 0;
        for op in Opcode::ALL.iter().copied().filter(is_of_ints) {
            let arity = op.operands().len();
            let mut all = String::new();
            for _ in 0..100 {
                let args: Vec<IntBound> = (0..arity)
                    .map(|_| match random.below(4) {
                        0 => IntBound::constant(random.int::<64>(&[0, 1, -1, 63])),
                        1 => IntBound::boolean(),
                        _ => {
                            let value = random.int::<64>(&[0, 1, -1, 5]);
                            random.bound::<64>(value)
                        }
                    })
                    .collect();
                let words: Vec<u64> = args.iter().map(|arg| arg.lower() as u64).collect();
                if op.compute(&words).is_none() {
                    continue;
                }
                let result = IntBound::transfer(op, &args)[0];
                let parts: Vec<Parts> = args.iter().map(Parts::of).collect();
                let known = known(op, &parts, if result.lower() == 1 { "true" } else { "false" });
                for fact in [holds(op, &parts, &Parts::of(&result)), tight(op, &parts, &Parts::of(&result))]
                    .concat()
                    .into_iter()
                    .chain(known)
                {
                    all.push_str(&format!("(assert {fact})\n"));
                }
                asked += 1;
            }
            assert!(matches!(solver.ask(&all, false, &[], Effort::ALL), Answer::Sat(_)), "{}", op.name());
        }
        assert!(asked > 1000, "{asked}");
    }

    /// What is said of overflow is true of what bounds really answer.
    #[test]
    fn answers_are_as_the_facts_say() {
        let Ok((solver, _)) = Solver::new(Duration::from_secs(20)) else {
            eprintln!("skipped: there is no Z3");
            return;
        };
        let mut random = Random::new(11);
        let mut all = String::new();
        let mut never = 0;
        for _ in 0..300 {
            for overflow in [Overflow::Add, Overflow::Sub, Overflow::Neg, Overflow::Lshift] {
                let op = overflow_op(overflow);
                let mut bound = || {
                    let value = random.int::<64>(&[0, 1, -1, 5, 63]) >> random.below(50);
                    random.bound::<64>(value)
                };
                let args: Vec<IntBound> = op.operands().iter().map(|_| bound()).collect();
                let answer = cannot_overflow(overflow, &args);
                never += u32::from(answer);
                let parts: Vec<Parts> = args.iter().map(Parts::of).collect();
                for fact in super::cannot_overflow(op, &parts, &answer.to_string()) {
                    all.push_str(&format!("(assert {fact})\n"));
                }
            }
        }
        assert!(never > 100, "{never}");
        assert!(matches!(solver.ask(&all, false, &[], Effort::ALL), Answer::Sat(_)));
    }
}
