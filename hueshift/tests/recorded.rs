//! What an author says of results: compiled code leaves out the calls whose results are known by it, and where it is wrong that is found,
//! in tier 0 with debug assertions, and in compiled code where it is asked to look.

use hueshift::JitOptions;
use hueshift::embed::{Error, Jit};
use hueshift::tier0::catch_message;
use num_bigint::BigInt;
use std::cell::RefCell;
use std::str::FromStr;

thread_local! {
    /// Big integers, each of which is there once: a handle is its number.
    static ARENA: RefCell<Vec<BigInt>> = const { RefCell::new(Vec::new()) };
}

fn intern(big: BigInt) -> i64 {
    ARENA.with_borrow_mut(|arena| {
        let at = arena.iter().position(|other| *other == big).unwrap_or_else(|| {
            arena.push(big);
            arena.len() - 1
        });
        at as i64
    })
}

fn big(handle: i64) -> BigInt {
    ARENA.with_borrow(|arena| arena[handle as usize].clone())
}

#[hueshift::interpreter(
    entry twice_negated(),
    entry lower_case_twice(),
    entry there_and_back(),
    entry difference(),
    entry behind_a_join(),
    entry in_a_loop(),
    entry exactly(),
    entry wrong_result(),
    entry wrong_value(),
    entry one_of_two_is_wrong(),
    entry each_second_is_wrong(),
    entry large(),
    entry not_a_number()
)]
mod language {
    use hueshift::prelude::*;

    /// `-x`, of big integers.
    #[elidable]
    #[dont_look_inside]
    #[inverse_of(negated)]
    fn negated(x: i64) -> i64 {
        super::intern(-super::big(x))
    }

    #[elidable]
    #[dont_look_inside]
    fn sum(x: i64, y: i64) -> i64 {
        super::intern(super::big(x) + super::big(y))
    }

    pub fn twice_negated(x: i64) -> i64 {
        negated(negated(x))
    }

    /// What a guest language makes of `x - -y`: the negation of a negation is gone.
    pub fn difference(x: i64, y: i64) -> i64 {
        let minus = negated(y);
        sum(x, negated(minus))
    }

    /// The lower case of the ASCII characters in a word.
    #[elidable]
    #[idempotent]
    fn lower_case(word: u64) -> u64 {
        let mut lower = 0;
        let mut at = 0;
        while at < 64 {
            let c = (word >> at & 255) as u8;
            let small = match c {
                b'A'..=b'Z' => c + 32,
                _ => c,
            };
            lower |= (small as u64) << at;
            at += 8;
        }
        lower
    }

    pub fn lower_case_twice(word: u64) -> u64 {
        let once = lower_case(word);
        lower_case(once)
    }

    #[elidable]
    #[inverse_of(decoded)]
    fn encoded(c: u8) -> u32 {
        c as u32 * 2 + 1
    }

    #[elidable]
    fn decoded(code: u32) -> u8 {
        (code / 2) as u8
    }

    pub fn there_and_back(c: u8) -> u8 {
        decoded(encoded(c))
    }

    /// What is said in front of a join holds behind it.
    pub fn behind_a_join(c: u8, which: bool) -> u32 {
        let code = encoded(c);
        let more = if which { 1 } else { code };
        decoded(code) as u32 + more
    }

    #[elidable]
    fn next(x: i64) -> i64 {
        x + 1
    }

    #[elidable]
    fn last(x: i64) -> i64 {
        x - 1
    }

    pub fn in_a_loop(x: i64) -> i64 {
        let mut x = x;
        let mut sum = 0;
        while x > 0 {
            sum += x;
            let y = next(x);
            record_known_result!(x, last, y);
            x = last(y) - 1;
        }
        sum
    }

    pub fn exactly(width: i64, height: i64) -> i64 {
        record_exact_value!(height, 8);
        width * height
    }

    pub fn wrong_result(x: i64) -> i64 {
        let y = next(x);
        record_known_result!(x + 40, last, y);
        last(y)
    }

    #[elidable]
    #[idempotent]
    #[inverse_of(next)]
    fn same(x: i64) -> i64 {
        x
    }

    /// Two things are said at one place.
    pub fn one_of_two_is_wrong(x: i64) -> i64 {
        same(x) + 1
    }

    /// Of two things that are said in each round the second is wrong.
    pub fn each_second_is_wrong(rounds: i64) -> i64 {
        let mut x = 0;
        while x < rounds {
            record_known_result!(x - 1, last, x);
            record_known_result!(x, last, x + 2);
            x += 1;
        }
        x
    }

    /// What is said doesn't fit rustc's usual integer.
    pub fn large(x: i64, y: u64) -> i64 {
        record_exact_value!(x, 5000000000);
        record_exact_value!(y, 18446744073709551615);
        record_known_result!(4999999999, last, 5000000000);
        last(x)
    }

    pub fn not_a_number(x: f64) -> bool {
        record_exact_value!(x, f64::NAN);
        x >= 0.0
    }

    pub fn wrong_value(x: i64) -> i64 {
        record_exact_value!(x, 3);
        x + 1
    }
}

use language::aot;

fn jit<'p>() -> Jit<'p> {
    Jit::new(&language::INTERPRETER)
}

/// The calls in the residual graphs of an entry.
fn calls(entry: &str) -> Vec<String> {
    let graphs = language::INTERPRETER.residual(entry, "").unwrap_or_else(|e| panic!("{entry}: {e}"));
    let entry = graphs.module().graphs.values().next().expect("the entry's graph");
    let ops = entry.blocks.iter().flat_map(|block| &block.ops);
    ops.filter_map(|op| op.callee()).map(|callee| callee.name.to_string()).collect()
}

#[test]
fn negation_of_big_integers_is_its_own_inverse() {
    assert_eq!(calls("twice_negated"), [""; 0]);
    assert_eq!(calls("difference"), ["sum"]);
    let numbers = ["0", "-7", "123456789012345678901234567890", "-340282366920938463463374607431768211456"];
    let handles: Vec<i64> = numbers.iter().map(|text| intern(BigInt::from_str(text).expect("a number"))).collect();
    let mut jit = jit();
    for x in &handles {
        assert_eq!(
            aot::twice_negated(&mut jit, *x).expect("no trap"),
            language::interp::twice_negated(*x).expect("no trap")
        );
        assert_eq!(aot::twice_negated(&mut jit, *x).expect("no trap"), *x);
        for y in &handles {
            let sum = aot::difference(&mut jit, *x, *y).expect("no trap");
            assert_eq!(big(sum), big(*x) + big(*y));
            assert_eq!(sum, language::interp::difference(*x, *y).expect("no trap"));
        }
    }
}

#[test]
fn lower_case_of_lower_case_is_one_call() {
    assert_eq!(calls("lower_case_twice"), ["lower_case"]);
    let word = u64::from_le_bytes(*b"HueShift");
    assert_eq!(aot::lower_case_twice(&mut jit(), word).expect("no trap").to_le_bytes(), *b"hueshift");
}

#[test]
fn what_is_encoded_and_decoded_is_what_it_was() {
    assert_eq!(calls("there_and_back"), [""; 0]);
    assert_eq!(aot::there_and_back(&mut jit(), 200).expect("no trap"), 200);
}

#[test]
fn what_is_said_holds_behind_joins_and_in_loops() {
    assert_eq!(calls("behind_a_join"), ["encoded"]);
    assert_eq!(aot::behind_a_join(&mut jit(), b'a', true).expect("no trap"), 98);
    assert_eq!(aot::behind_a_join(&mut jit(), b'a', false).expect("no trap"), 97 + 195);
    assert_eq!(calls("in_a_loop"), [""; 0]);
    assert_eq!(aot::in_a_loop(&mut jit(), 10).expect("no trap"), 55);
}

#[test]
fn an_exact_value_is_a_constant() {
    let graphs = language::INTERPRETER.residual("exactly", "").expect("it is compiled").to_string();
    assert!(
        !graphs.contains("v0, v1\n") && (graphs.contains("v0, 8") || graphs.contains("int_lshift v0, 3")),
        "{graphs}"
    );
    assert_eq!(aot::exactly(&mut jit(), 5, 8).expect("no trap"), 40);
}

#[test]
fn tier_0_finds_wrong_hints_where_debug_assertions_are_on() {
    let wrong = [catch_message(|| language::wrong_result(5)), catch_message(|| language::wrong_value(5))];
    match cfg!(debug_assertions) {
        true => {
            let [result, value] = wrong.map(|caught| caught.expect_err("a panic"));
            assert!(result.contains("the result of `last` was said to be 45, but it is 5"), "{result}");
            assert!(value.contains("a value was said to be 3, but it is 5"), "{value}");
        }
        false => assert_eq!(wrong, [Ok(5), Ok(6)]),
    }
}

#[test]
fn compiled_code_finds_wrong_hints_where_it_looks() {
    let message = |ran: Result<i64, Error>| match ran {
        Err(Error::Trap(trap)) => trap.message,
        other => panic!("{other:?}"),
    };
    let looking = |every| {
        let options = JitOptions { check_hints: every, ..Jit::usual_options() };
        Jit::with_options(&language::INTERPRETER, options)
    };
    let mut jit = looking(1);
    let wrong = "the result of `last` was said to be 45, but it is 5";
    assert_eq!(message(aot::wrong_result(&mut jit, 5)), wrong);
    assert_eq!(message(aot::wrong_value(&mut jit, 5)), "a value was said to be 3, but it is 5");
    let wrong_inverse = "the result of `next` was said to be 5, but it is 6";
    assert_eq!(message(aot::one_of_two_is_wrong(&mut jit, 5)), wrong_inverse);
    // All NaNs are one.
    assert!(!aot::not_a_number(&mut jit, -f64::NAN).expect("no trap"));
    // What is true is found to be true.
    assert_eq!(aot::in_a_loop(&mut jit, 10).expect("no trap"), 55);
    assert_eq!(aot::exactly(&mut jit, 5, 8).expect("no trap"), 40);
    assert_eq!(aot::lower_case_twice(&mut jit, 65).expect("no trap"), 97);
    // The first time, and then once in so many times, as chance has it.
    let mut jit = looking(3);
    let mut looks = || match aot::wrong_result(&mut jit, 5) {
        Ok(given) => {
            assert_eq!(given, 45, "it isn't looked at");
            false
        }
        ran => {
            assert_eq!(message(ran), wrong);
            true
        }
    };
    assert!(looks());
    let looked = (0..300).filter(|_| looks()).count();
    assert!((70..130).contains(&looked), "{looked} times of 300");
    // Of two hints that come one after the other both are looked at.
    for every in [2, 4, 10] {
        let ran = aot::each_second_is_wrong(&mut looking(every), 1000);
        assert!(message(ran).starts_with("the result of `last` was said to be"), "1/{every}");
    }
}

#[test]
fn what_is_said_has_the_type_of_what_it_is_said_of() {
    assert_eq!(language::large(5_000_000_000, u64::MAX), 4_999_999_999);
    assert_eq!(aot::large(&mut jit(), 5_000_000_000, u64::MAX).expect("no trap"), 4_999_999_999);
}
