//! The language: what is refused, with its place and remedy; what expressions mean; what is proven and what is refuted.
#![allow(missing_docs)]

use flowgraph::ir::{Opcode, OperandType, Type};
use rules::prove::{Answer, Effort, Solver, Verdict, prove};
use rules::{Bindings, Problem, Rule, line_of, read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// All that is wrong, as `line:column: message`.
fn wrong(text: &str) -> Vec<String> {
    let column = |at: usize| at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
    let told = |problem: &Problem| {
        assert!(!problem.help.is_empty(), "{problem} has no remedy");
        format!("{}:{}: {problem}", line_of(text, problem.span.0), column(problem.span.0))
    };
    read(text).expect_err("something is wrong").iter().map(told).collect()
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let text = "\
a: int_ad(x, 0)
    => x
a: int_add(x, y, 1)
    check x > 3
    check C2
    => x
b: int_add(x, C)
    D = C + 1
    check x.known_lower(3)
    check x.lower() == 1
    check x.known_lt(C)
    check x.known_lt_const(1, 2)
    => y
c: int_add(x 0)
    => x
d: getfield(x)
    => 0
e: x
    => 0
f: int_add(x, 0)
    x = 3
    MAXINT = 3
    B = x.and_bound(x)
    => B
g: float_neg(x)
    check x.is_bool()
    => 1
h: int_add(x, 18446744073709551615)
    check 1 < 2 / 3
    => x
i: int_add(x, 0)
    # terminates:
    => x
j: int_add(x, 0)
    # confluent with nobody: because
    => x
";
    let expected = [
        "1:4: there is no op `int_ad`",
        "3:1: there are two rules named `a`",
        "3:4: `int_add` takes 2 operands, not 3",
        "4:11: an integer is wanted here, and this is a bound",
        "5:11: variable 'C2' is not defined",
        "8:5: `D` is computed, but not used",
        "9:13: unknown method 'known_lower'",
        "10:13: unknown method 'lower'",
        "11:22: a bound is wanted here, and this is an integer",
        "12:11: `known_lt_const` takes one argument, not 2",
        "13:8: variable 'y' is not defined",
        "14:14: `,` is expected here, not `0`",
        "16:4: `getfield` does more than compute",
        "18:4: a pattern is an op",
        "21:5: 'x' is already defined",
        "22:5: `MAXINT` has a meaning already",
        "24:8: `B` is a bound",
        "26:11: `x` is a float",
        "27:8: this is an integer",
        "28:15: 18446744073709551615 has more than 64 bits",
        "29:17: there is no `/` in expressions",
        "29:19: the end of the line is expected here, not `3`",
        "31:1: `i` asks to be believed that it terminates, and gives no reason",
    ];
    let found = wrong(text);
    for wanted in expected {
        assert!(found.iter().any(|told| told == wanted), "{wanted} is missing:\n{}", found.join("\n"));
    }
    assert_eq!(found.len(), expected.len(), "{}", found.join("\n"));
    let alone = wrong("j: int_add(x, 0)\n    # confluent with nobody: because\n    => x\n");
    let deep = format!("k: {}x{}\n    => x\n", "int_add(".repeat(30), ", y)".repeat(30));
    assert_eq!(wrong(&deep), ["1:4: 30 ops of the pattern commute, so that there are 2^30 ways to match it"]);
    assert_eq!(alone, ["1:1: `j` speaks of a rule `nobody`, which isn't there"]);
}

fn rule(text: &str) -> Rule {
    read(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}")).swap_remove(0)
}

/// Whether a condition about `C1`, `C2` and a bound of `x` holds.
fn holds(condition: &str, constants: [i64; 2], bound: bounds::IntBound) -> bool {
    let rule = rule(&format!("r: int_select(x, C1, C2)\n    check {condition}\n    => x\n"));
    let mut bindings = Bindings::<64>::new(&rule);
    bindings.values[1..3].copy_from_slice(&constants);
    bindings.bounds[0] = bound;
    bindings.applies(&rule)
}

/// Python's precedences, wrapping arithmetic, shift amounts modulo 64.
#[test]
fn expressions_mean_what_they_do_in_python() {
    let any = bounds::IntBound::unbounded();
    for condition in [
        "1 | 2 ^ 3 & 4 == 3",
        "not 1 == 2 and 1 == 1 or 1 == 2",
        "not (1 == 1 and 1 == 2)",
        "0 <= C1 < C2 and C1 < C2 <= 7",
        "-C1 + C2 == 4 and -(C1 + C2) == -10 and ~C1 == -4 and - -3 == 3",
        "1 + 2 * 3 << 1 == 14",
        "1 << 2 + 3 == 32",
        "C2 - C1 - 1 == 3",
        "MAXINT + 1 == MININT and -MININT == MININT and MININT == -9223372036854775808",
        "-1 >>u 1 == MAXINT and -1 >> 1 == -1 and 1 << LONG_BIT == 1",
        "-1 >u 1 and 1 <u -1 and -1 < 1 and -1 >=u MININT and 0 <=u 0",
        "min(C1, C2) == 3 and max(C1, -C2) == 3 and highest_bit(C1) == 1 and highest_bit(0) == -1 and highest_bit(-1) == 63",
        "0xff == 255 and 0xffffffffffffffff == -1",
        "x.lower == MININT and x.upper == MAXINT and x.ones == 0 and x.zeros == 0 and x.tmask == -1 and x.tvalue == 0",
        "not x.is_constant() and x.and_bound(x).known_ne_const(1) == 0 or 1 == 1",
    ] {
        if condition.contains("== 0 or") {
            continue; // comparing a truth value is refused, below
        }
        assert!(holds(condition, [3, 7], any), "{condition}");
    }
    assert_eq!(
        wrong("r: int_neg(x)\n    check x.is_bool() == 1\n    => x\n"),
        ["2:11: an integer is wanted here, and this is true or false"]
    );
    let few = bounds::IntBound::from_range(4, 7).expect("not empty");
    for condition in [
        "x.lower == 4 and x.upper == 7 and x.ones == 4 and x.zeros == ~7 and x.tmask == 3 and x.tvalue == 4",
        "x.known_nonnegative() and x.known_gt_const(3) and x.known_ge_const(4) and x.known_lt_const(8) and x.known_le_const(7)",
        "x.known_ne_const(8) and not x.known_eq_const(4) and not x.is_bool() and not x.is_constant()",
        "x.and_bound(x).known_le(x.add_bound(x)) and x.add_bound_cannot_overflow(x) and x.lshift_bound_cannot_overflow(x)",
        "x.neg_bound().known_lt_const(0) and x.invert_bound().upper == -5 and x.urshift_bound(x).known_eq_const(0)",
    ] {
        assert!(holds(condition, [3, 7], few), "{condition}");
    }
    // The only member of a bound that has more: the rule doesn't apply, whichever way it is asked.
    assert!(!holds("x.get_constant_int() == 3", [0, 0], few));
    assert!(!holds("not x.get_constant_int() == 3", [0, 0], few));
    assert!(holds("1 == 1 or x.get_constant_int() == 3", [0, 0], few));
}

/// Comments, empty lines and parentheses over several lines survive being written in one shape.
#[test]
fn formatting_keeps_what_is_said() {
    let text = "\n\n# first\na:   int_add( x,0 )# why\n  # inside\n  check (x.lower>=0 and # in parentheses\n     x.upper<=  3) or not(1<2)\n  =>x # end\n\
                #b: int_add(x, y)\n#    => x\nc: int_neg(int_neg(x))\n => x\n   # moved in\n\n\n\n\n# last\n";
    let file = rules::syntax::parse(text).expect("it can be read");
    let printed = rules::syntax::print(&file);
    let expected = "# first\na: int_add(x, 0) # why\n    # inside\n    # in parentheses\n    check x.lower >= 0 and x.upper <= 3 or not 1 < 2\n    => x # end\n\
                    \n#b: int_add(x, y)\n#    => x\nc: int_neg(int_neg(x))\n    => x\n    # moved in\n\n\n# last\n";
    let sorted = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(sorted(&printed), sorted(expected), "{printed}");
    let again = rules::syntax::print(&rules::syntax::parse(&printed).expect("what is printed can be read"));
    assert_eq!(again, printed);
    assert_eq!(rules::read(text).expect("rules").len(), 2);
}

/// The solver, if there is one on this machine.
fn solver() -> Option<Solver> {
    let found = Solver::new(Duration::from_secs(20));
    if let Err(error) = &found {
        eprintln!("not checked: {error}");
    }
    found.ok().map(|(solver, _)| solver)
}

/// What is wrong is refuted also without Z3, with values for which both sides differ.
#[test]
fn what_is_wrong_is_refuted() {
    for text in [
        "r: int_mul(a, b)\n    => int_add(a, b)\n",
        "r: int_mul(a, b)\n    check a.known_gt_const(1) and b.known_gt_const(2)\n    => int_add(a, b)\n",
        "r: int_lshift(int_lshift(x, C1), C2)\n    C = C1 + C2\n    => int_lshift(x, C)\n",
        "r: int_floordiv(x, 8)\n    => int_rshift(x, 3)\n",
        "r: int_mod(x, 8)\n    => int_and(x, 7)\n",
        "r: int_add_ovf(x, y)\n    check x.known_nonnegative()\n    => int_add(x, y)\n",
        "r: int_lt(int_add(x, 1), y)\n    => int_lt(x, int_add(y, -1))\n",
        "r: int_sub(int_xor(x, y), y)\n    => x\n",
        "r: uint_lt(x, y)\n    => int_lt(x, y)\n",
        "r: float_add(x, 0.0)\n    => x\n",
        "r: float_sub(x, y)\n    => float_neg(float_sub(y, x))\n",
        "r: int_eq(x, y)\n    SORRY_Z3\n    => 0\n",
        "r: int_signext(x, 1)\n    check x.lower >= -129 and x.upper <= 127\n    => x\n",
        "r: int_floordiv(x, x)\n    => 1\n",
        // Only large numbers show it, and to make them smaller one by one would take forever.
        "r: int_rshift(int_lshift(x, 3), 3)\n    => x\n",
        "r: int_rshift(int_lshift(x, y), y)\n    check x.lower > 5\n    => x\n",
    ] {
        let rule = rule(text);
        assert!(matches!(rules::prove::refute(&rule), Some(Verdict::Refuted(_))), "{text}");
    }
}

/// With a day for each question, what Z3 doesn't find out within its steps stays open; with no limit but the steps,
/// what takes fewer is answered.
#[test]
fn what_z3_answers_is_a_matter_of_steps() {
    let Ok((solver, _)) = Solver::new(Duration::from_secs(86400)) else {
        eprintln!("not checked: there is no Z3");
        return;
    };
    let factors = "(declare-const x (_ BitVec 64))(declare-const y (_ BitVec 64))
        (assert (= (bvmul x y) #x0123456789abcdef))
        (assert (and (bvult #x0000000000000bb8 x) (bvult x #x0000000100000000)))
        (assert (and (bvult #x0000000000000bb8 y) (bvult y #x0000000100000000)))";
    assert!(matches!(solver.ask(factors, false, &[], Effort::millions(1)), Answer::Unknown(_)));
    let small = "(declare-const x (_ BitVec 8))(assert (= (bvmul x x) #x51))(assert (bvult x #x10))";
    assert!(matches!(
        solver.ask(small, false, &[("x".to_owned(), 8)], Effort::millions(1)),
        Answer::Sat(values) if values == [9]
    ));
}

/// What only Z3 finds, and what it says of rules that are right, or can never apply.
#[test]
fn z3_proves_and_refutes() {
    let Some(solver) = solver() else { return };
    let verdict = |text: &str| prove(&rule(text), &solver);
    for text in [
        "r: int_add(int_sub(x, y), y)\n    => x\n",
        "r: int_mul(x, C)\n    check C > 0 and C & (C - 1) == 0\n    shift = highest_bit(C)\n    => int_lshift(x, shift)\n",
        "r: int_eq(x, y)\n    check x.known_ne(y)\n    => 0\n",
        "r: int_or(a, b)\n    bound = a.or_bound(b)\n    check bound.is_constant()\n    C = bound.get_constant_int()\n    => C\n",
        "r: int_add_ovf(x, y)\n    check x.add_bound_cannot_overflow(y)\n    => int_add(x, y)\n",
        "r: float_lt(float_neg(x), float_neg(y))\n    => float_lt(y, x)\n",
        "r: int_neg(x)\n    => int_mul(-1, x)\n",
        "r: uint_rshift(int_lshift(x, C), C)\n    mask = (-1 << C) >>u C\n    => int_and(x, mask)\n",
    ] {
        let verdict = verdict(text);
        assert!(matches!(verdict, Verdict::Proven | Verdict::Exhaustive(_)), "{text}: {verdict:?}");
    }
    // One value in 2^64, which trying doesn't find.
    let needle =
        "r: int_eq(int_xor(int_mul(x, 6364136223846793005), 1442695040888963407), 1311768467463790320)\n    => 0\n";
    let sorry = needle.replace("    =>", "    SORRY_Z3\n    =>");
    assert!(matches!(verdict(&sorry), Verdict::Refuted(_)), "what is wrong is refuted, whatever it says");
    match verdict(needle) {
        Verdict::Refuted(found) => assert_eq!((found.before[0], found.after[0]), (1, 0)),
        other => panic!("{other:?}"),
    }
    for (text, condition) in [
        (
            "r: int_is_true(x)\n    check x.known_lt_const(0) and x.known_gt_const(0)\n    => x\n",
            "x.known_lt_const(0) and x.known_gt_const(0)",
        ),
        (
            "r: int_add(x, C)\n    check C > 3\n    check x.known_nonnegative()\n    check C < 2\n    => x\n",
            "C > 3 and C < 2",
        ),
        (
            "r: int_and(x, y)\n    check x.and_bound(y).known_lt_const(0) and x.known_nonnegative()\n    => x\n",
            "x.and_bound(y).known_lt_const(0) and x.known_nonnegative()",
        ),
    ] {
        match verdict(text) {
            Verdict::NeverApplies(found) => assert_eq!(found, condition),
            other => panic!("{text}: {other:?}"),
        }
    }
    // There is no formula for it: nobody claims anything.
    match verdict("r: float_mod(x, 1.0)\n    => float_mod(x, 1.0)\n") {
        Verdict::Unknown(why) => assert!(why.contains("`float_mod`") && why.contains("fmod"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// The ops that there is no formula for: what `fmod` gives is no operation of Z3's theory of floats (its remainder is
/// the other one, rounded to the nearest).
const WITHOUT_FORMULA: [&str; 2] = ["float_mod", "single_mod"];

/// An operand that is this word, in a rule that says so of `name`; floats by their bits.
fn operand(ty: flowgraph::ir::OperandType, name: &str) -> String {
    use flowgraph::ir::{OperandType, Type};
    match ty {
        OperandType::Is(Type::Float) => format!("bits_to_float({name})"),
        OperandType::Is(Type::Single) => format!("bits_to_single({name})"),
        _ => name.to_owned(),
    }
}

/// Each op's formula gives what the op does, in every bit; where that is a NaN, a NaN.
#[test]
fn formulas_are_the_ops() {
    if solver().is_none() {
        return;
    }
    // Z3 takes the time: on all cores.
    let ops: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|op| op.is_pure() && !op.results().is_empty()).collect();
    let next = AtomicUsize::new(0);
    let some = || {
        let solver = solver().expect("there was one");
        while let Some(op) = ops.get(next.fetch_add(1, Ordering::Relaxed)) {
            formulas_of(*op, &solver);
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(some)));
    });
    assert!(next.into_inner() >= ops.len());
}

fn formulas_of(op: Opcode, solver: &Solver) {
    let (a, b, c) = (-6_148_914_691_236_517_206i64, 75i64, 3i64);
    let ints = [[a, b, c], [b, a, c], [0, b, a], [a, 0, b], [i64::MIN, -1, a], [a, 7, 0], [i64::MAX, 1 << 53, 1]];
    let floats = [
        [1.5, -2.25, 1e300],
        [0.0, -0.0, 1.0],
        [-0.0, 0.0, 0.0],
        [f64::NAN, 3.0, 2.0],
        [0.1, f64::NAN, 0.7],
        [f64::INFINITY, 0.3, -1.0],
        [-1e19, 1e-310, 2.5],
        [9.3e18, 0.1, -0.93e18],
        [-0.75, -0.75, 0.5625],
        [1.8446744073709552e19, -9.223372036854776e18, f64::NEG_INFINITY],
    ];
    let is_int = |ty: &OperandType| *ty == OperandType::Is(Type::Int);
    let cases = if op.operands().iter().all(is_int) { ints.len() } else { floats.len() };
    for case in 0..cases {
        let word = |(at, ty): (usize, &OperandType)| match ty {
            OperandType::Is(Type::Float) => floats[case][at].to_bits(),
            OperandType::Is(Type::Single) => u64::from((floats[case][at] as f32).to_bits()),
            _ => ints[case % ints.len()][at] as u64,
        };
        let words: Vec<u64> = op.operands().iter().enumerate().map(word).collect();
        let Some(results) = op.compute(&words) else { continue };
        let names = ["x", "y", "z"];
        let checks: String = words
            .iter()
            .zip(names)
            .map(|(word, name)| format!("    check {name}.known_eq_const({})\n", *word as i64))
            .collect();
        let args: Vec<String> = op.operands().iter().zip(names).map(|(ty, name)| operand(*ty, name)).collect();
        let pattern = format!("{}({})", op.name(), args.join(", "));
        let (wrapped, is_nan) = match op.results()[0] {
            OperandType::Is(Type::Float) => (format!("float_to_bits({pattern})"), f64::from_bits(results[0]).is_nan()),
            OperandType::Is(Type::Single) => {
                (format!("single_to_bits({pattern})"), f32::from_bits(results[0] as u32).is_nan())
            }
            _ => (pattern.clone(), false),
        };
        // Bits that are only moved are the same for NaNs.
        let (wrapped, wanted) = match (is_nan, op.results()[0]) {
            (true, OperandType::Is(Type::Float)) => (format!("float_ne({pattern}, {pattern})"), 1),
            (true, _) => (format!("single_ne({pattern}, {pattern})"), 1),
            (false, _) => (wrapped, results[0] as i64),
        };
        let text = format!("r: {wrapped}\n{checks}    => {wanted}\n");
        let verdict = prove(&rule(&text), solver);
        if WITHOUT_FORMULA.contains(&op.name()) {
            assert!(matches!(&verdict, Verdict::Unknown(why) if why.contains("fmod")), "{text}{verdict:?}");
            continue;
        }
        // With two results, the second must be 0.
        let right = results.get(1).is_none_or(|flag| *flag == 0);
        let proven = matches!(verdict, Verdict::Proven | Verdict::Exhaustive(_));
        assert_eq!(proven, right, "{text}{verdict:?}");
        let text = format!("r: {wrapped}\n{checks}    => {}\n", wanted.wrapping_add(1));
        assert!(matches!(prove(&rule(&text), solver), Verdict::Refuted(_)), "{text}");
    }
}

/// Of NaNs a rule must keep the bits, which arithmetic may change; what doesn't compute keeps them.
#[test]
fn bits_of_nans_are_kept() {
    let Some(solver) = solver() else { return };
    for text in [
        "r: float_mul(x, 1.0)\n    => x\n",
        "r: float_sub(x, 0.0)\n    => x\n",
        "r: float_add(x, -0.0)\n    => x\n",
        "r: float_min(x, x)\n    => x\n",
        "r: cast_float_to_single(cast_single_to_float(x))\n    => x\n",
        "r: float_lt(x, y)\n    => float_ge(y, x)\n",
        "r: float_max(x, 0.0)\n    => float_select(float_ge(x, 0.0), x, 0.0)\n",
        "r: cast_float_to_int(cast_int_to_float(x))\n    => x\n",
    ] {
        let verdict = prove(&rule(text), &solver);
        match verdict {
            Verdict::Refuted(_) => {}
            Verdict::Unknown(why) => assert!(why.contains("NaN"), "{text}{why}"),
            other => panic!("{text}{other:?}"),
        }
    }
    for text in [
        "r: float_abs(float_copysign(x, y))\n    => float_abs(x)\n",
        "r: float_to_bits(bits_to_float(x))\n    => x\n",
        "r: float_max(x, 0.0)\n    => float_select(float_gt(x, 0.0), x, 0.0)\n",
        "r: float_floor(cast_int_to_float(x))\n    => cast_int_to_float(x)\n",
    ] {
        let verdict = prove(&rule(text), &solver);
        assert!(matches!(verdict, Verdict::Proven), "{text}{verdict:?}");
    }
}

/// What proofs take of transfers besides that they hold what the op gives: of constants they are that, and comparisons
/// and overflow are known.
#[test]
fn transfers_of_constants_are_constants() {
    use bounds::IntBound;
    use rules::methods::{COMPARISONS, Overflow, Transfer};
    let values = [0, 1, -1, 2, 7, 63, 64, -64, 255, 1 << 31, 0x5555_5555_5555_5555, i64::MAX, i64::MIN, i64::MIN + 1];
    for a in values {
        for b in values {
            for transfer in Transfer::ALL {
                let op = transfer.op();
                let args = &[a, b][..op.operands().len()];
                let bounds: Vec<IntBound> = args.iter().map(|arg| IntBound::constant(*arg)).collect();
                let given = IntBound::transfer(op, &bounds)[0].get_constant_int();
                assert_eq!(
                    given,
                    bounds::compute::<64>(op, args).map(|results| results[0]),
                    "{} {args:?}",
                    transfer.name()
                );
            }
            let known = |condition: &str| {
                let rule = rule(&format!("r: int_add(x, y)\n    check {condition}\n    => x\n"));
                let mut bindings = Bindings::<64>::new(&rule);
                bindings.bounds = vec![IntBound::constant(a), IntBound::constant(b)];
                bindings.applies(&rule)
            };
            for (name, _, op) in COMPARISONS {
                let holds = bounds::compute::<64>(*op, &[a, b]).map(|results| results[0] != 0);
                assert_eq!(Some(known(&format!("x.{name}(y)"))), holds, "{name} {a} {b}");
            }
            for overflow in Overflow::ALL {
                let fits = match overflow {
                    Overflow::Add => a.checked_add(b).is_some(),
                    Overflow::Sub => a.checked_sub(b).is_some(),
                    Overflow::Mul => a.checked_mul(b).is_some(),
                    Overflow::Neg => a.checked_neg().is_some(),
                    Overflow::Lshift => a << (b & 63) >> (b & 63) == a,
                };
                let other = if *overflow == Overflow::Neg { "" } else { "y" };
                assert_eq!(known(&format!("x.{}({other})", overflow.name())), fits, "{} {a} {b}", overflow.name());
            }
        }
    }
}
