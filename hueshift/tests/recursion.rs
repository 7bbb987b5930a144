//! Guests that call their own functions: what is called often is compiled as what is jumped back to often, calls of specialized
//! functions are carried out in compiled code while a trace is made, and those that can't be compiled stop nothing.

use hueshift::embed::{Error, Interpreter, Jit, Trap};
use hueshift::events::Reason;
use hueshift::{JitOptions, Limits};
use std::cell::RefCell;

thread_local! {
    /// What the host function has been told.
    static SEEN: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

#[hueshift::interpreter(entry main(code))]
mod calls {
    use hueshift::prelude::*;

    pub const BASE: u8 = 0;
    pub const CALL: u8 = 1;
    pub const DEEPER: u8 = 2;
    pub const RETURN: u8 = 3;
    pub const LOOP: u8 = 4;
    pub const DIVIDE: u8 = 5;
    pub const TELL: u8 = 6;

    #[dont_look_inside]
    fn tell(n: i64) {
        super::SEEN.with_borrow_mut(|seen| seen.push(n));
    }

    /// One call of a guest function. `depth` grows with each [`DEEPER`]: there is no end to what could be compiled of that.
    #[portal(greens(code, pc, depth), reds(arg, sum))]
    fn run(code: &[u8], mut pc: usize, depth: i64, mut arg: i64, mut sum: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            let operand = code[pc + 1] as usize;
            pc += 2;
            match op {
                BASE => {
                    if arg < operand as i64 {
                        return arg + depth;
                    }
                }
                CALL => {
                    let less = concrete(code[pc]);
                    pc += 1;
                    sum += run(code, operand, depth, arg - less as i64, 0);
                }
                DEEPER => sum += run(code, operand, depth + 1, arg - 1, 0),
                RETURN => return sum + operand as i64,
                LOOP => {
                    arg -= 1;
                    if arg > 0 {
                        pc = operand;
                        can_enter_jit!();
                    }
                }
                DIVIDE => sum += 100 / (arg - operand as i64),
                TELL => tell(arg * 100 + operand as i64),
                _ => panic!("no opcode {op}"),
            }
        }
    }

    pub fn main(code: &[u8], arg: i64) -> i64 {
        run(code, 0, 0, arg, 0)
    }
}

use calls::{BASE, CALL, DEEPER, DIVIDE, LOOP, RETURN, TELL};

/// The n-th Fibonacci number, but for what it begins with.
const FIB: [u8; 10] = [BASE, 2, CALL, 0, 1, CALL, 0, 2, RETURN, 0];

/// Few calls are copied into each other, and few functions made at a time.
fn narrow() -> JitOptions {
    let limits = Limits { inline_depth: 4, functions: 5, ..Limits::default() };
    JitOptions { threshold: 3, bridge: 2, slot_bytes: 1 << 22, limits, ..JitOptions::default() }
}

/// The usual settings, but that what is hot is compiled there and then.
fn at_once() -> JitOptions {
    JitOptions { background: false, ..Jit::usual_options() }
}

fn jits() -> impl Iterator<Item = Jit<'static>> {
    let interpreter: &'static Interpreter = &calls::INTERPRETER;
    let settings = [(0, 1, 0), (2, 1, 0), (5, 3, 2), (40, 10, 5)].into_iter().map(|(threshold, bridge, region)| {
        JitOptions { threshold, bridge, region, slot_bytes: 1 << 22, ..JitOptions::default() }
    });
    let background = JitOptions { background: true, ..narrow() };
    settings.chain([narrow(), background]).map(move |options| Jit::with_options(interpreter, options))
}

fn told<T>(run: impl FnOnce() -> T) -> (T, Vec<i64>) {
    SEEN.take();
    (run(), SEEN.take())
}

/// Runs a program in tier 0, and with several thresholds: results, traps and what the host is told are the same.
fn compare(code: &'static [u8], args: &[i64]) {
    for arg in args {
        let wanted: (Result<i64, Trap>, _) = told(|| calls::interp::main(code, *arg));
        for (nth, mut jit) in jits().enumerate() {
            for round in 0..3 {
                let (got, seen) = told(|| calls::jit::main(&mut jit, code, *arg));
                let got = match got {
                    Ok(got) => Ok(got),
                    Err(Error::Trap(trap)) => Err(trap),
                    Err(error) => panic!("{code:?}, {arg}, setting {nth}, round {round}: {error}"),
                };
                assert_eq!((&wanted.0, &wanted.1), (&got, &seen), "{code:?}, {arg}, setting {nth}, round {round}");
            }
        }
    }
}

#[test]
fn a_function_without_loops_is_compiled_when_it_is_called_often() {
    compare(&FIB, &[0, 1, 5, 12]);
    let mut jit = Jit::with_options(&calls::INTERPRETER, JitOptions { threshold: 20, ..at_once() });
    assert_eq!(calls::jit::main(&mut jit, &FIB, 20).unwrap(), 6765);
    let stats = jit.stats();
    assert!(stats.traces >= 1, "{stats:?}");
    // Each call is one of compiled code by compiled code, but for those at the beginning: there are 21,891.
    assert!(stats.arrived < 1000 && stats.interpreted < 5000, "{stats:?}");
}

#[test]
fn a_trace_calls_compiled_functions() {
    // A loop that calls fib(14) each time: while it is traced, too, that takes no interpreter.
    static CODE: [u8; 17] = [CALL, 7, 0, LOOP, 0, RETURN, 1, BASE, 2, CALL, 7, 1, CALL, 7, 2, RETURN, 0];
    compare(&CODE, &[1, 9]);
    let mut jit = Jit::with_options(&calls::INTERPRETER, JitOptions { threshold: 20, ..at_once() });
    assert_eq!(calls::interp::main(&CODE, 24), calls::jit::main(&mut jit, &CODE, 24).map_err(|_| unreachable!()));
    let stats = jit.stats();
    assert!(stats.interpreted < 5000, "{stats:?}");
}

#[test]
fn effects_of_calls_in_traces_happen_once_and_traps_are_the_same() {
    compare(&[BASE, 1, TELL, 7, CALL, 0, 1, TELL, 9, CALL, 0, 2, RETURN, 0], &[0, 3, 7]);
    compare(&[BASE, 1, TELL, 7, CALL, 0, 1, DIVIDE, 3, CALL, 0, 2, RETURN, 0], &[2, 3, 8]);
    // In a loop, and after some rounds of it.
    static LOOPED: [u8; 19] = [CALL, 7, 0, LOOP, 0, RETURN, 1, BASE, 2, DIVIDE, 5, CALL, 7, 1, TELL, 3, RETURN, 0, 0];
    compare(&LOOPED, &[4, 5, 12]);
}

#[test]
fn functions_that_cannot_be_compiled_are_interpreted() {
    // Each call has another depth, which is green.
    static DEEP: [u8; 6] = [BASE, 1, DEEPER, 0, RETURN, 1];
    compare(&DEEP, &[0, 5, 60]);
    // In a loop of compiled code, and among other calls.
    static CODE: [u8; 22] =
        [DEEPER, 9, CALL, 15, 1, LOOP, 0, RETURN, 2, BASE, 1, DEEPER, 9, RETURN, 1, BASE, 1, CALL, 15, 1, RETURN, 0];
    compare(&CODE, &[1, 40]);
    let mut jit = Jit::with_options(&calls::INTERPRETER, narrow());
    calls::jit::main(&mut jit, &CODE, 60).unwrap();
    let refused = jit.events().iter().filter(|event| event.reason == Reason::CallRefused).count();
    assert!((1..50).contains(&refused), "{refused}");
}

/// Whatever is refused: a trace, a function that it calls, or a bridge.
#[test]
fn functions_that_the_code_generator_refuses_are_interpreted() {
    static LOOPED: [u8; 17] = [CALL, 7, 0, LOOP, 0, RETURN, 1, BASE, 2, CALL, 7, 1, CALL, 7, 2, RETURN, 0];
    let wanted = calls::interp::main(&LOOPED, 11).expect("no trap");
    let mut refused = 0;
    for (number, background) in (1..7).flat_map(|number| [(number, false), (number, true)]) {
        let options = JitOptions { refuse_code: Some(number), background, ..narrow() };
        let mut jit = Jit::with_options(&calls::INTERPRETER, options);
        let begun = std::time::Instant::now();
        let is_refused = |event: &hueshift::events::Event| event.reason == Reason::CodeGeneration;
        while !jit.events().iter().any(is_refused) && begun.elapsed().as_millis() < 200 {
            assert_eq!(calls::jit::main(&mut jit, &LOOPED, 11).expect("no trap"), wanted, "{number} {background}");
        }
        for _ in 0..3 {
            assert_eq!(calls::jit::main(&mut jit, &LOOPED, 11).expect("no trap"), wanted, "{number} {background}");
        }
        refused += usize::from(jit.events().iter().any(is_refused));
    }
    assert!(refused > 5, "{refused}");
}
