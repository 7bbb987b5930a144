//! Programs whose control flow is hard on traces: what becomes of their loops, with regions and without, in the
//! background, and where limits are met or code is refused.

use hueshift::JitOptions;
use hueshift::embed::Jit;
use hueshift::events::{Reason, What};
use hueshift::flowgraph::analysis::Order;
use hueshift::flowgraph::ir::Graph;

/// The usual settings, but that what is hot is compiled there and then.
fn at_once() -> JitOptions {
    JitOptions { background: false, ..Jit::usual_options() }
}

/// Runs until compiled code has been entered, whatever the other threads are at: each gives what the interpreter gives.
fn until_entered<'p, T>(jit: &mut Jit<'p>, wanted: &T, mut run: impl FnMut(&mut Jit<'p>) -> T)
where
    T: PartialEq + std::fmt::Debug,
{
    let begun = std::time::Instant::now();
    while jit.stats().entered < 20 {
        assert_eq!(*wanted, run(jit));
        assert!(begun.elapsed().as_secs() < 120, "nothing has been compiled: {:?}", jit.stats());
    }
    assert_eq!(*wanted, run(jit));
}

#[test]
fn code_that_is_generated_in_the_background() {
    let usual = JitOptions { threshold: 10, bridge: 3, slot_bytes: 1 << 22, ..Jit::usual_options() };
    assert!(usual.background);
    for (name, code) in hard_shapes() {
        for region in [0, 20] {
            let mut wanted_r = [7, 1, 300, 5];
            let wanted = (shapes::interp::run(&code, 0, &mut wanted_r).expect("no trap"), wanted_r);
            let mut jit = Jit::with_options(&shapes::INTERPRETER, JitOptions { region, ..usual.clone() });
            until_entered(&mut jit, &wanted, |jit| {
                let mut r = [7, 1, 300, 5];
                (shapes::jit::run(jit, &code, 0, &mut r).unwrap_or_else(|e| panic!("{name}: {e}")), r)
            });
            let compiled =
                jit.events().into_iter().any(|event| matches!(event.what, What::Compiled { bytes: 1.., .. }));
            assert!(compiled && jit.stats().code_bytes > 0, "{name}: {:?}", jit.stats());
        }
    }
}

/// Whatever the code generator refuses, at once or behind the run's back, the run goes on without it.
#[test]
fn code_that_is_refused_changes_nothing() {
    let mut refused = 0;
    for (name, code) in hard_shapes() {
        let mut wanted_r = [7, 1, 300, 5];
        let wanted = (shapes::interp::run(&code, 0, &mut wanted_r).expect("no trap"), wanted_r);
        for (number, background) in (1..9).flat_map(|number| [(number, false), (number, true)]) {
            let options = JitOptions { threshold: 2, bridge: 1, region: 20, background, ..at_once() };
            let options = JitOptions { refuse_code: Some(number), ..options };
            let mut jit = Jit::with_options(&shapes::INTERPRETER, options);
            let begun = std::time::Instant::now();
            while !jit.events().iter().any(|event| event.reason == Reason::CodeGeneration)
                && begun.elapsed().as_millis() < 200
            {
                let mut r = [7, 1, 300, 5];
                let got = shapes::jit::run(&mut jit, &code, 0, &mut r).expect("no trap");
                assert_eq!(wanted, (got, r), "{name}: {number}");
            }
            for _ in 0..3 {
                let mut r = [7, 1, 300, 5];
                let got = shapes::jit::run(&mut jit, &code, 0, &mut r).unwrap_or_else(|error| {
                    panic!(
                        "{name}: {number} {background}: {error} {:#?}",
                        jit.events().iter().map(|e| format!("{:?} {:?}", e.what, e.reason)).collect::<Vec<_>>()
                    )
                });
                assert_eq!(wanted, (got, r), "{name}: {number}");
            }
            refused += usize::from(jit.events().iter().any(|event| event.reason == Reason::CodeGeneration));
            // What is refused takes with it what has been begun since, but not the thread.
            let is_gone = |event: &hueshift::events::Event| matches!(&event.what, What::Refused { message } if message.contains("is gone"));
            assert!(!jit.events().iter().any(is_gone), "{name}: {number}: {:#?}", jit.events());
        }
    }
    assert!(refused > 20, "{refused}");
}

#[hueshift::interpreter]
mod promoting {
    use hueshift::prelude::*;

    /// What is done for one of the values has more in local variables than a frame of compiled code has room for.
    #[portal(greens(), reds(n, s))]
    pub fn run(mut n: i64, mut s: i64) -> i64 {
        while n > 0 {
            merge_point!();
            let k = promote(n & 15);
            if k == 12 {
                let mut a = [0i64; 140_000];
                a[(s & 7) as usize] = s;
                s = a[(n & 7) as usize] + 1;
            }
            s = s * 3 + k;
            n -= 1;
            can_enter_jit!();
        }
        s
    }
}

/// A case of a promotion that the code generator refuses leaves the others as they are: the interpreter goes on for it
/// alone.
#[test]
fn a_case_that_is_refused_is_the_only_one_without_code() {
    let (n, s) = (2_000, 1);
    let wanted = promoting::interp::run(n, s).expect("no trap");
    let options = JitOptions { threshold: 2, bridge: 1, slot_bytes: 1 << 22, ..at_once() };
    let options = JitOptions { warm_up: std::time::Duration::ZERO, ..options };
    for ahead_of_time in [false, true] {
        let mut jit = Jit::with_options(&promoting::INTERPRETER, options.clone());
        let got = match ahead_of_time {
            false => promoting::jit::run(&mut jit, n, s),
            true => promoting::aot::run(&mut jit, n, s),
        };
        assert_eq!(got.expect("no trap"), wanted);
        let events = jit.events();
        let refused = events.iter().filter(|event| event.reason == Reason::CodeGeneration).count();
        let promoted = events.iter().filter_map(|event| match event.what {
            What::Promoted { value, .. } => Some(value),
            _ => None,
        });
        let mut promoted: Vec<i64> = promoted.collect();
        promoted.sort_unstable();
        let others: Vec<i64> = (0..16).filter(|value| *value != 12).collect();
        assert_eq!((refused, promoted), (1, others));
        let stats = jit.stats();
        assert!(stats.exits < 2 * n as u64 / 16, "{stats:?}");
    }
}

#[hueshift::interpreter]
mod shapes {
    use hueshift::prelude::*;

    /// A register machine: an opcode, and what it works on.
    #[portal(greens(code, pc), reds(r))]
    pub fn run(code: &[u8], mut pc: usize, r: &mut [i64; 4]) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            let (a, b) = (concrete(code[pc + 1] as usize), concrete(code[pc + 2] as usize));
            pc += 3;
            match op {
                // A random number.
                0 => r[a] = ((r[a] * 1_103_515_245 + 12_345) >> 3) & 0x3FFF_FFFF,
                1 => r[a] += r[b],
                2 => r[a] ^= b as i64,
                3 => r[a] -= 1,
                // Forwards if a bit is clear, or none are.
                4 => {
                    if (r[a] >> (pc & 7)) & 1 == 0 {
                        pc = b;
                    }
                }
                5 => {
                    if r[a] > 0 {
                        if b < pc {
                            can_enter_jit!();
                        }
                        pc = b;
                    }
                }
                6 => r[a] = b as i64,
                7 => {
                    if r[a] == 123_456_789 {
                        r[b] = 0;
                    }
                }
                8 => {
                    pc = promote(r[a] as u64 & 3) as usize * 3 + b;
                }
                9 => {
                    if r[a] % 1000 == 7 {
                        r[b] += 1;
                    }
                    if r[a] < 0 {
                        panic!("below zero");
                    }
                }
                _ => return r[a],
            }
        }
    }
}

/// Programs whose control flow is hard on traces: jumps both ways, loops inside of loops, promotions.
fn hard_shapes() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        // A branch that goes both ways, and one that never does.
        ("even odds", vec![0, 0, 0, 4, 0, 12, 1, 1, 0, 2, 1, 1, 7, 0, 2, 3, 2, 0, 5, 2, 0, 10, 1, 0]),
        ("three branches", {
            let step = |at: u8| vec![4, 0, at + 9, 1, 1, 0, 2, 1, at];
            [vec![0, 0, 0], step(3), step(12), step(21), vec![3, 2, 0, 5, 2, 0, 10, 1, 0]].concat()
        }),
        ("triangle", vec![6, 1, 9, 1, 3, 1, 0, 0, 0, 9, 0, 3, 3, 1, 0, 5, 1, 3, 3, 2, 0, 5, 2, 0, 10, 3, 0]),
        ("a machine of states", {
            let arms = [2, 1, 9, 1, 1, 0, 2, 3, 5, 1, 3, 1];
            [&[0, 0, 0, 8, 0, 6], &arms[..], &[3, 2, 0, 5, 2, 0, 10, 1, 0]].concat()
        }),
    ]
}

#[test]
fn regions_give_what_the_interpreter_gives() {
    for (name, code) in hard_shapes() {
        for rounds in [3, 40, 3000] {
            let mut wanted_r = [7, 1, rounds, 5];
            let wanted = shapes::interp::run(&code, 0, &mut wanted_r).expect("no trap");
            for (bridge, region) in [(1, 1), (2, 3), (1, 10), (7, 50)] {
                let options = JitOptions { threshold: 2, bridge, region, ..at_once() };
                let mut jit = Jit::with_options(&shapes::INTERPRETER, options);
                for round in 0..2 {
                    let mut r = [7, 1, rounds, 5];
                    let got = shapes::jit::run(&mut jit, &code, 0, &mut r).expect("no trap");
                    assert_eq!((wanted, wanted_r), (got, r), "{name}, {rounds} rounds, region={region}: {round}");
                }
                let stats = jit.stats();
                assert!(rounds < 3000 || stats.regions > 0, "{name}: {stats:?}");
                assert!(stats.regions < 40, "{name}: {stats:?}");
            }
        }
    }
}

/// The outermost of the loops that are worth it becomes one graph, with the loops within, rather than each by itself.
#[test]
fn regions_are_of_whole_loop_nests() {
    let (_, code) = hard_shapes().swap_remove(2);
    let options = JitOptions { threshold: 2, bridge: 2, region: 30, ..at_once() };
    let mut jit = Jit::with_options(&shapes::INTERPRETER, options);
    let (mut r, mut wanted) = ([7, 1, 100_000, 5], [7, 1, 100_000, 5]);
    let got = shapes::jit::run(&mut jit, &code, 0, &mut r).expect("no trap");
    assert_eq!((got, r), (shapes::interp::run(&code, 0, &mut wanted).expect("no trap"), wanted));
    let made = jit.specialized().expect("it can be shown").remove(0).residual;
    assert!(made.own.iter().any(|key| loops(&made.module.graphs[key]) >= 2), "no graph has both loops in it");
}

/// How many loops a graph has.
fn loops(graph: &Graph) -> usize {
    let order = Order::new(graph);
    graph.block_ids().filter(|block| order.loop_at(*block).is_some()).count()
}

/// Where the guest jumps forward within a loop, and no other path comes there, nothing is cut.
#[test]
fn jumps_forward_within_a_loop_stay_in_its_graph() {
    let tlr = |n: i64, jit: &mut Jit<'_>| {
        let mut regs = [n, 0, 1, 1];
        (marking::jit::run(jit, MARKING, 0, &mut regs).expect("no trap"), regs)
    };
    let options = JitOptions { threshold: 10, ..at_once() };
    let mut jit = Jit::with_options(&marking::INTERPRETER, options);
    let mut regs = [10_000, 0, 1, 1];
    let wanted = (marking::interp::run(MARKING, 0, &mut regs).expect("no trap"), regs);
    assert_eq!(tlr(10_000, &mut jit), wanted);
    let made = jit.specialized().expect("it can be shown").remove(0).residual;
    assert!(made.own.iter().any(|key| loops(&made.module.graphs[key]) == 1), "the loop is cut into pieces");
    assert_eq!(jit.stats().traces, 1);
}

/// Counts down register 0 from the byte 2 on: a jump forward that is always taken, and the jump back.
const MARKING: &[u8] = &[0, 1, 1, 6, 9, 9, 2, 1, 2, 9];

#[hueshift::interpreter]
mod marking {
    use hueshift::prelude::*;

    /// Every jump says that a loop may begin at its target.
    #[portal(greens(code, pc), reds(r))]
    pub fn run(code: &[u8], mut pc: usize, r: &mut [i64; 4]) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            let to = concrete(code[pc + 1] as usize);
            pc += 2;
            match op {
                0 => r[to] += r[2],
                1 => {
                    r[1] += r[0];
                    if r[0] > 0 {
                        pc = to;
                        can_enter_jit!();
                    }
                }
                2 => {
                    r[0] -= r[3];
                    if r[to] != -1 {
                        pc = concrete(code[pc] as usize);
                        can_enter_jit!();
                    }
                }
                _ => return r[1],
            }
        }
    }
}

/// An exit behind which the interpreter has far to go gets its bridge sooner than others.
#[test]
fn expensive_exits_are_bridged_sooner() {
    let options = JitOptions { threshold: 10, bridge: 100, ..at_once() };
    for (steps, most) in [(1000, 10), (1, 110)] {
        let code: &[u16] = &[steps];
        let mut jit = Jit::with_options(&long_way::INTERPRETER, options.clone());
        let wanted = long_way::interp::rounds(code, 2000, 0).expect("no trap");
        assert_eq!(long_way::jit::rounds(&mut jit, code, 2000, 0).expect("no trap"), wanted);
        let stats = jit.stats();
        assert!(stats.bridges >= 1 && stats.blackholed <= most, "{steps}: {stats:?}");
        assert!(steps == 1000 || stats.blackholed >= 95, "{stats:?}");
    }
}

#[hueshift::interpreter]
mod long_way {
    use hueshift::prelude::*;

    #[portal(greens(code), reds(n, sum))]
    pub fn rounds(code: &[u16], mut n: i64, mut sum: i64) -> i64 {
        loop {
            merge_point!();
            if n == 0 {
                return sum;
            }
            if n & 7 == 3 {
                let mut i = concrete(0);
                while i < concrete(code[0]) {
                    sum ^= n + i as i64;
                    i += 1;
                }
            }
            n -= 1;
            can_enter_jit!();
        }
    }
}

/// The dump for `perf inject` is what its specification says: a header, and a record for each graph with its machine code.
#[cfg(target_os = "linux")]
#[test]
fn a_dump_of_compiled_code() {
    let mut jit = Jit::with_options(&shapes::INTERPRETER, JitOptions { threshold: 2, jitdump: true, ..at_once() });
    let (_, code) = hard_shapes().swap_remove(0);
    shapes::jit::run(&mut jit, &code, 0, &mut [7, 1, 300, 5]).expect("no trap");
    let dump = std::fs::read(format!("/tmp/jit-{}.dump", std::process::id())).expect("it has been written");
    let word = |at: usize| u32::from_ne_bytes(dump[at..at + 4].try_into().expect("four bytes")) as usize;
    let long = |at: usize| u64::from_ne_bytes(dump[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!([word(0), word(4), word(8)], [0x4A69_5444, 1, 40]);
    assert_eq!(word(20), std::process::id() as usize);
    let (mut at, mut names, mut bytes, mut stamp) = (40, Vec::new(), 0, long(24));
    while at < dump.len() {
        let (size, number, code_size) = (word(at + 4), long(at + 48), long(at + 40) as usize);
        assert_eq!((word(at), number), (0, names.len() as u64));
        assert!(long(at + 8) >= stamp && long(at + 24) == long(at + 32));
        stamp = long(at + 8);
        let name = &dump[at + 56..at + size - code_size - 1];
        assert_eq!(dump[at + size - code_size - 1], 0);
        names.push(String::from_utf8(name.to_vec()).expect("it is text"));
        bytes += code_size;
        at += size;
    }
    assert_eq!(at, dump.len());
    assert!(names.iter().any(|name| name.contains("pc=")), "{names:?}");
    assert!(bytes > 0 && bytes <= jit.stats().code_bytes, "{bytes}");
}

/// A limit that a trace meets stops the trace, and not the run.
#[test]
fn limits_stop_traces_and_not_runs() {
    let (name, code) = hard_shapes().swap_remove(1);
    let mut wanted_r = [7, 1, 300, 5];
    let wanted = shapes::interp::run(&code, 0, &mut wanted_r).expect("no trap");
    for limit in [1, 3, 7, 20] {
        for which in 0..2 {
            let mut options = JitOptions { threshold: 2, bridge: 1, region: 3, ..at_once() };
            *[&mut options.limits.unrolled_ops, &mut options.limits.residual_ops][which] = limit;
            options.limits.green_steps = if which == 0 { u64::MAX } else { limit as u64 };
            let mut jit = Jit::with_options(&shapes::INTERPRETER, options);
            let mut r = [7, 1, 300, 5];
            let got = shapes::jit::run(&mut jit, &code, 0, &mut r).unwrap_or_else(|e| panic!("{name} {limit}: {e}"));
            assert_eq!((wanted, wanted_r), (got, r), "{name} {limit}");
        }
    }
}

#[hueshift::interpreter(entry power())]
mod promoted {
    use hueshift::prelude::*;

    /// x to the power of n, and what is done for some n besides.
    pub fn power(x: i64, n: u32, parts: &mut [i64; 4]) -> i64 {
        let n = promote(n);
        let mut left = concrete(n);
        let mut result = 1;
        while left > 0 {
            result *= x;
            parts[(left & 3) as usize] += result;
            left -= 1;
        }
        parts[0] -= x;
        result
    }
}

/// Ahead of time, the code for a value that is promoted may meet a limit: runs with that value go on in the interpreter, runs with others
/// have code.
#[test]
fn limits_of_one_value_leave_the_others() {
    let mut options = at_once();
    options.limits.unrolled_ops = 100;
    let mut jit = Jit::with_options(&promoted::INTERPRETER, options);
    for n in [3, 5000, 7, 5000, 3, 100_000, 2] {
        let (mut wanted, mut parts) = ([1, 2, 3, 4], [1, 2, 3, 4]);
        let result = promoted::power(3, n, &mut wanted);
        let got = promoted::aot::power(&mut jit, 3, n, &mut parts).unwrap_or_else(|e| panic!("{n}: {e}"));
        assert_eq!((got, parts), (result, wanted), "{n}");
    }
    let told: Vec<_> = jit.events().into_iter().filter(|event| matches!(event.what, What::Refused { .. })).collect();
    assert_eq!(told.iter().map(|event| event.reason).collect::<Vec<_>>(), [Reason::EndlessGreen; 2], "{told:?}");
    let made = jit.specialized().expect("it can be shown").remove(0);
    assert_eq!(made.residual.switches, 1, "{:?}", made.residual.own);
    assert_eq!(jit.stats().cases, 3);
}

#[hueshift::interpreter(entry countdown())]
mod many_values {
    use hueshift::prelude::*;

    pub struct Counter {
        #[green]
        pub left: i64,
        pub total: i64,
    }

    /// Each value of the field is another case, behind the one before.
    pub fn countdown(counter: &mut Counter) -> i64 {
        while counter.left > 0 {
            counter.left -= 1;
            counter.total = counter.total * 3 + counter.left;
        }
        counter.total
    }

    #[elidable]
    fn fibonacci(n: i64) -> i64 {
        if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
    }

    /// A value asks for a call that takes too long for the compiler.
    #[portal(greens(code, at), reds(sum))]
    pub fn sums(code: &[u8], mut at: usize, mut sum: i64) -> i64 {
        loop {
            merge_point!();
            let n = promote(code[(sum as usize) % code.len()]);
            sum = sum * 3 + concrete(fibonacci(n as i64 & 31));
            at += 1;
            if at >= code.len() {
                return sum;
            }
            can_enter_jit!();
        }
    }
}

/// Ahead of time, code for new values grows to a cap.
#[test]
fn values_without_end_leave_room_for_the_run() {
    let count = |jit: &mut Jit<'_>, left: i64| {
        let mut counter = many_values::Counter { left, total: 1 };
        many_values::aot::countdown(jit, &mut counter).map(|result| (result, counter.left, counter.total))
    };
    let options = JitOptions { code_bytes: 100_000, ..at_once() };
    let mut jit = Jit::with_options(&many_values::INTERPRETER, options);
    for left in [10, 3000, 3000, 20] {
        let mut wanted = many_values::Counter { left, total: 1 };
        let result = many_values::countdown(&mut wanted);
        assert_eq!(count(&mut jit, left).expect("no limit ends the run"), (result, wanted.left, wanted.total));
    }
    let stats = jit.stats();
    assert!(stats.cases > 100 && stats.code_bytes < 300_000, "{stats:?}");
}

/// A call that is to be made while compiling, and takes too long for that, stops a trace, and not the run.
#[test]
fn calls_that_take_too_long_stop_traces() {
    let code: Vec<u8> = (0..60u8).map(|at| if at % 7 == 3 { 25 } else { at % 5 }).collect();
    let wanted = many_values::interp::sums(&code, 0, 1).expect("no trap");
    let mut options = JitOptions { threshold: 2, bridge: 1, ..at_once() };
    options.limits.green_steps = 5000;
    let mut jit = Jit::with_options(&many_values::INTERPRETER, options);
    for _ in 0..6 {
        assert_eq!(many_values::jit::sums(&mut jit, &code, 0, 1).expect("no limit ends the run"), wanted);
    }
    assert!(jit.events().iter().any(|event| event.reason == Reason::CallRefused), "{:?}", jit.events());
}

/// A driver that no run has gone on in has nothing to show, and that is no error.
#[test]
fn what_has_not_begun_is_not_shown() {
    let (_, code) = hard_shapes().swap_remove(0);
    let mut without = 0;
    for chaos in 1..60 {
        let mut jit = Jit::with_options(&shapes::INTERPRETER, JitOptions { threshold: 3, chaos, ..at_once() });
        shapes::jit::run(&mut jit, &code, 0, &mut [7, 1, 5, 5]).expect("no trap");
        without += usize::from(jit.specialized().expect("what there is can be shown").is_empty());
    }
    assert!(without > 0 && without < 59, "{without}");
}

/// A region that grows too large is given up, and what the traces have made goes on.
#[test]
fn regions_that_are_refused_change_nothing() {
    let (name, code) = hard_shapes().swap_remove(2);
    let mut wanted_r = [7, 1, 3000, 5];
    let wanted = shapes::interp::run(&code, 0, &mut wanted_r).expect("no trap");
    let mut refused = 0;
    for unrolled_ops in 4..40 {
        let mut options = JitOptions { threshold: 2, bridge: 1, region: 5, ..at_once() };
        options.limits.unrolled_ops = unrolled_ops;
        let mut jit = Jit::with_options(&shapes::INTERPRETER, options);
        let mut r = [7, 1, 3000, 5];
        let got = shapes::jit::run(&mut jit, &code, 0, &mut r);
        let Ok(got) = got else { continue }; // a trace has met the limit, which is another matter
        assert_eq!((wanted, wanted_r), (got, r), "{name}, {unrolled_ops}");
        refused += jit.events().iter().filter(|event| event.reason == Reason::RegionRefused).count();
    }
    assert!(refused > 0);
}
