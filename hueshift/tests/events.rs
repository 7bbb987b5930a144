//! Events: each kind is told of by some program, with why, where, and how often.

use hueshift::embed::{Error, Interpreter, Jit};
use hueshift::events::{End, Event, Reason, What};
use hueshift::{JitOptions, Limits};
use std::cell::RefCell;
use std::rc::Rc;

#[hueshift::interpreter(entry start(code))]
mod lang {
    use hueshift::prelude::*;

    /// The accumulator is a constant where this begins.
    pub fn start(code: &[u8], n: i64) -> i64 {
        run(code, 0, 0, n)
    }

    #[portal(greens(code, pc), reds(a, n))]
    pub fn run(code: &[u8], mut pc: usize, mut a: i64, mut n: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                0 => a += n,
                1 => {
                    n -= 1;
                    if n > 0 {
                        pc = 0;
                        can_enter_jit!();
                    }
                }
                2 => {
                    if n & 1 == 0 {
                        a += 1;
                    }
                }
                3 => {
                    let low = promote(n & 7);
                    a += concrete(low) * 2;
                }
                4 => {
                    let mut steps = concrete(0);
                    while a + steps < n {
                        steps = concrete(steps + 1);
                    }
                }
                _ => return a,
            }
        }
    }
}

/// Five registers, each of which gets another constant in rounds of its own.
#[hueshift::interpreter(entry start())]
mod registers {
    use hueshift::prelude::*;

    pub fn start(n: i64) -> i64 {
        run(0, 0, 0, 0, 0, n)
    }

    #[portal(greens(), reds(a, b, c, d, e, n))]
    pub fn run(mut a: i64, mut b: i64, mut c: i64, mut d: i64, mut e: i64, mut n: i64) -> i64 {
        loop {
            merge_point!();
            match promote(n) {
                6 => a = 1,
                5 => b = 2,
                4 => c = 3,
                3 => d = 4,
                2 => e = 5,
                _ => {}
            }
            n -= 1;
            if n == 0 {
                return a + b * 10 + c * 100 + d * 1000 + e * 10_000;
            }
            can_enter_jit!();
        }
    }
}

const LOOP: &[u8] = &[0, 1, 255];
const BRANCH: &[u8] = &[2, 1, 255];
const PROMOTION: &[u8] = &[3, 1, 255];
const ENDLESS: &[u8] = &[4, 255];

fn options() -> JitOptions {
    JitOptions { threshold: 5, bridge: 4, slot_bytes: 1 << 22, ..JitOptions::default() }
}

/// What a `Jit` with these settings tells of some runs.
fn told(options: JitOptions, runs: impl FnOnce(&mut Jit<'static>)) -> Vec<Event> {
    told_of(&lang::INTERPRETER, options, runs)
}

fn told_of(interpreter: &'static Interpreter, options: JitOptions, runs: impl FnOnce(&mut Jit<'static>)) -> Vec<Event> {
    let mut jit = Jit::with_options(interpreter, options);
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hears = heard.clone();
    jit.on_event(move |event| hears.borrow_mut().push(event.clone()));
    runs(&mut jit);
    let heard = heard.take();
    let kept = jit.events();
    assert_eq!(heard[heard.len() - kept.len()..], kept, "the latest are kept");
    assert_eq!(jit.forgotten_events(), (heard.len() - kept.len()) as u64);
    heard
}

fn just_in_time(code: &'static [u8], n: i64, options: JitOptions) -> Vec<Event> {
    let wanted = lang::run(code, 0, 0, n);
    told(options, |jit| assert_eq!(lang::jit::run(jit, code, 0, 0, n).expect("a result"), wanted))
}

fn ahead_of_time() -> Vec<Event> {
    told(options(), |jit| assert_eq!(lang::aot::start(jit, LOOP, 10).expect("a result"), 55))
}

fn endless() -> Vec<Event> {
    let options = JitOptions { limits: Limits { loop_keys: 50, ..Limits::default() }, ..options() };
    told(options, |jit| {
        let refused = lang::aot::run(jit, ENDLESS, 0, 0, 3).expect_err("endless");
        assert!(matches!(refused, Error::Jit(_)), "{refused}");
    })
}

/// A cell that compiled code knows, and that the host writes.
#[hueshift::interpreter]
mod cells {
    use hueshift::prelude::*;

    pub struct Steps {
        pub by: QuasiCell<i64>,
    }

    #[portal(greens(code, steps), reds(a, n))]
    pub fn run(code: &[u8], steps: &Steps, mut a: i64, mut n: i64) -> i64 {
        while n > 0 {
            merge_point!();
            a += steps.by.get() + concrete(code[0]) as i64;
            n -= 1;
        }
        a
    }
}

fn written() -> Vec<Event> {
    let (code, steps) = ([7], cells::Steps { by: hueshift::prelude::QuasiCell::new(1) });
    let mut jit = Jit::with_options(&cells::INTERPRETER, options());
    for by in [1, 5] {
        steps.by.set(by);
        assert_eq!(cells::jit::run(&mut jit, &code, &steps, 0, 100).expect("a result"), 100 * (7 + by));
    }
    jit.events()
}

/// The program that has an event of this kind happen. A kind without one doesn't compile.
fn example(what: &What) -> fn() -> Vec<Event> {
    match what {
        What::Hot { .. } | What::Traced { .. } | What::Closed { .. } | What::Compiled { .. } => {
            || just_in_time(LOOP, 100, options())
        }
        What::Exit { .. } | What::Bridge { .. } => || just_in_time(BRANCH, 100, options()),
        What::Region { .. } => || just_in_time(BRANCH, 1000, JitOptions { region: 20, ..options() }),
        What::Promoted { .. } => || just_in_time(PROMOTION, 100, options()),
        What::Limit { .. } => || just_in_time(PROMOTION, 100, JitOptions { cases: 2, ..options() }),
        What::Specialized { .. } | What::Widened { .. } => ahead_of_time,
        What::Evicted { .. } => || just_in_time(LOOP, 100, JitOptions { code_bytes: 1, ..options() }),
        What::Invalidated { .. } => written,
        What::Refused { .. } => endless,
    }
}

/// Code that is made less specific says for which variables.
#[test]
fn variables_that_are_no_longer_constants_are_named() {
    let widened = |event: &Event| match &event.what {
        What::Widened { variables, .. } => Some(variables.clone()),
        _ => None,
    };
    // The version behind that one loses what else was known of values: no constants.
    let named: Vec<Vec<String>> = ahead_of_time().iter().filter_map(widened).collect();
    assert_eq!(named, [vec!["a".to_owned()], vec![]]);
}

#[test]
fn each_kind_happens() {
    let graph = String::new;
    let kinds = [
        What::Hot { count: 0 },
        What::Traced { ops: 0, steps: 0, end: End::Closed },
        What::Specialized { ops: 0, steps: 0 },
        What::Closed { graph: graph() },
        What::Widened { versions: 0, variables: Vec::new() },
        What::Promoted { exit: 0, value: 0, cases: 0, seen: 0 },
        What::Exit { exit: 0, taken: 0, value: None },
        What::Bridge { exit: 0, taken: 0 },
        What::Region { ops: 0, steps: 0 },
        What::Compiled { graph: graph(), graphs: 0, ops: 0, bytes: 0 },
        What::Evicted { graphs: 0, bytes: 0 },
        What::Invalidated { exit: 0, written: 0 },
        What::Limit { limit: 0, name: None, exit: None },
        What::Refused { message: String::new() },
    ];
    for kind in kinds {
        let events = example(&kind)();
        let own: Vec<&Event> = events.iter().filter(|event| event.what.kind() == kind.kind()).collect();
        assert!(!own.is_empty(), "{}: {events:#?}", kind.kind());
        for event in own {
            assert!(event.at.is_some() && event.key.contains("code"), "{event:?}");
            let timed = matches!(
                event.what,
                What::Traced { .. } | What::Specialized { .. } | What::Region { .. } | What::Compiled { .. }
            );
            assert_eq!(event.duration_us.is_some(), timed, "{event:?}");
        }
        assert!(events.is_sorted_by_key(|event| event.us), "{events:#?}");
    }
}

#[test]
fn a_loop_from_hot_to_left() {
    let events = just_in_time(LOOP, 100, options());
    let [hot, closed, traced, compiled, exit] = &events[..] else { panic!("{events:#?}") };
    assert_eq!((&hot.what, hot.reason, &*hot.key), (&What::Hot { count: 5 }, Reason::Threshold, "code, pc=0"));
    assert_eq!((closed.reason, &closed.key), (Reason::LoopClosed, &hot.key));
    assert!(matches!(traced.what, What::Traced { ops: 1.., steps: 1.., end: End::Closed }), "{traced:?}");
    assert_eq!(traced.reason, Reason::HotLoop);
    assert!(matches!(compiled.what, What::Compiled { ops: 1.., bytes: 1.., .. }), "{compiled:?}");
    assert!(matches!(exit.what, What::Exit { taken: 1, .. }), "{exit:?}");
    assert_eq!((exit.reason, &*exit.key), (Reason::GuardFailed, "code, pc=1"));
    let line = |event: &Event| event.at.as_ref().map(|place| place.line);
    assert!(line(hot) < line(exit) && line(hot).is_some(), "{hot:?} {exit:?}");
}

#[test]
fn an_exit_until_it_has_a_bridge() {
    let events = just_in_time(BRANCH, 100, options());
    let Some(bridge) = events.iter().find(|event| matches!(event.what, What::Bridge { .. })) else {
        panic!("{events:#?}")
    };
    let What::Bridge { exit: own, taken: 4 } = bridge.what else { panic!("{bridge:?}") };
    assert_eq!((bridge.reason, &*bridge.key), (Reason::HotExit, "code, pc=0"));
    let taken = events.iter().filter_map(|event| match event.what {
        What::Exit { exit, taken, value: None } if exit == own => Some(taken),
        _ => None,
    });
    assert_eq!(taken.collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_promotion_with_too_many_values() {
    let events = just_in_time(PROMOTION, 100, JitOptions { cases: 2, ..options() });
    let values = events.iter().filter_map(|event| match event.what {
        What::Promoted { cases, seen, .. } => Some((cases, seen, event.reason)),
        _ => None,
    });
    let [first, second] = values.collect::<Vec<_>>()[..] else { panic!("{events:#?}") };
    assert_eq!(first, (1, 1, Reason::FirstValue));
    // An exit gets code when it has been taken four times, with one or the other of several values.
    assert!(second.0 == 2 && (1..4).contains(&second.1) && second.2 == Reason::NewValue, "{second:?}");
    let full: Vec<&Event> = events.iter().filter(|event| event.reason == Reason::Cases).collect();
    let [Event { what: What::Limit { limit: 2, exit: Some(_), .. }, .. }] = full[..] else { panic!("{events:#?}") };
    let others: Vec<&Event> = events.iter().filter(|event| event.reason == Reason::ValueWithoutCase).collect();
    let with_value = |event: &&Event| matches!(event.what, What::Exit { value: Some(_), .. });
    assert!(!others.is_empty() && others.iter().all(with_value), "{events:#?}");
}

/// Ahead of time each way that brings another constant makes a version without that one. From four times as many as
/// keep all that is known on, the next keeps no constants.
#[test]
fn the_last_version_has_a_reason_of_its_own() {
    let widened = |versions| {
        let limits = Limits { versions, ..Limits::default() };
        let options = JitOptions { limits, ..options() };
        let run = |jit: &mut Jit<'static>| assert_eq!(registers::aot::start(jit, 9).expect("a result"), 54_321);
        let events = told_of(&registers::INTERPRETER, options, run);
        let widened = events.into_iter().filter_map(|event| match event.what {
            What::Widened { variables, .. } => Some((variables.concat(), event.reason)),
            _ => None,
        });
        widened.collect::<Vec<_>>()
    };
    let differs = |name: &str| (name.to_owned(), Reason::ArrivalDiffers);
    assert_eq!(widened(2), ["a", "b", "c", "d", "e"].map(differs));
    assert_eq!(widened(1).last(), Some(&("de".to_owned(), Reason::TooManyVersions)));
}

#[test]
fn limits_and_refusals_have_their_reasons() {
    let short = JitOptions { limits: Limits { trace_steps: 3, ..Limits::default() }, ..options() };
    let events = just_in_time(LOOP, 100, short);
    assert!(events.iter().any(|event| event.reason == Reason::TraceSteps), "{events:#?}");
    assert!(events.iter().any(|e| matches!(e.what, What::Traced { end: End::Stopped, .. })), "{events:#?}");
    let events = endless();
    let [refused] = &events[..] else { panic!("{events:#?}") };
    let What::Refused { message } = &refused.what else { panic!("{refused:?}") };
    assert!(refused.reason == Reason::EndlessGreen && message.contains("`steps` keeps changing"), "{refused:?}");
}

/// Calls inside of each other, and runs.
#[hueshift::interpreter(entry start(code))]
mod calls {
    use hueshift::prelude::*;

    pub fn start(code: &[u8], n: i64) -> i64 {
        once(code, n) + 1
    }

    fn once(code: &[u8], n: i64) -> i64 {
        twice(code, n) * 2
    }

    #[unroll_safe]
    fn twice(code: &[u8], n: i64) -> i64 {
        let mut sum = 0;
        let mut at = 0;
        while at < code.len() {
            sum += if n > concrete(code[at]) as i64 { 1 } else { n };
            at += 1;
        }
        sum
    }

    /// As deep as the depth: each activation has an array that the next one is lent.
    #[portal(greens(code), reds(depth, above))]
    pub fn descend(code: &[u8], depth: i64, above: &mut [i64; 2]) -> i64 {
        merge_point!();
        can_enter_jit!();
        if depth == 0 {
            return above[1] + code[0] as i64;
        }
        let mut own = [depth, above[0]];
        let got = descend(code, depth - 1, &mut own);
        got + own[(depth & 1) as usize]
    }
}

/// The limits that are met, with their reasons and names.
fn limits(events: &[Event]) -> Vec<(u64, Option<String>, Reason)> {
    let limit = |event: &Event| match &event.what {
        What::Limit { limit, name, .. } => Some((*limit, name.clone(), event.reason)),
        _ => None,
    };
    events.iter().filter_map(limit).collect()
}

#[test]
fn limits_of_what_is_copied_in() {
    let code = &[1, 2, 3, 4, 5, 6, 7, 8];
    let with = |limits: Limits| {
        told_of(&calls::INTERPRETER, JitOptions { limits, ..options() }, |jit| {
            assert_eq!(calls::aot::start(jit, code, 5).expect("a result"), calls::start(code, 5));
        })
    };
    assert_eq!(limits(&with(Limits::default())), []);
    let met = limits(&with(Limits { inline_depth: 2, ..Limits::default() }));
    assert_eq!(met, [(2, Some("twice".to_owned()), Reason::InlineDepth)]);
    let met = limits(&with(Limits { residual_ops: 5, ..Limits::default() }));
    assert!(!met.is_empty() && met.iter().all(|met| *met == (5, None, Reason::ResidualOps)), "{met:?}");
}

#[test]
fn runs_inside_of_runs_without_room() {
    let events = told_of(&calls::INTERPRETER, JitOptions { bridge: 1000, slot_bytes: 1 << 20, ..options() }, |jit| {
        let got = calls::jit::descend(jit, &[5], 300, &mut [1, 2]).expect("a result");
        assert_eq!(got, calls::descend(&[5], 300, &mut [1, 2]));
    });
    let met = limits(&events);
    assert!(!met.is_empty() && met.iter().all(|met| *met == (1 << 20, None, Reason::SlotBytes)), "{met:?}");
}

/// Nothing in a `Jit` that lives long grows with what happens in it.
#[test]
fn the_latest_events_are_kept() {
    let options = JitOptions { kept_events: 3, ..options() };
    let events = just_in_time(BRANCH, 100, options);
    assert!(events.len() > 3, "{events:#?}");
}

#[test]
fn sizes_and_times() {
    let timed = JitOptions { time_tiers: true, ..options() };
    let mut jit = Jit::with_options(&lang::INTERPRETER, timed);
    assert!(jit.sizes().is_empty());
    for code in [LOOP, BRANCH] {
        lang::jit::run(&mut jit, code, 0, 0, 20_000).expect("a result");
    }
    let (stats, sizes) = (jit.stats(), jit.sizes());
    for time in [stats.tier0, stats.running, stats.interpreting, stats.driving, stats.specializing, stats.compiling] {
        assert!(!time.is_zero(), "{stats:?}");
    }
    assert!(stats.specializing + stats.compiling <= stats.driving && stats.optimizing < stats.compiling, "{stats:?}");
    assert_eq!(stats.exits, stats.blackholed + stats.bridges + stats.cases);
    assert!(sizes.is_sorted_by(|a, b| a.bytes >= b.bytes) && sizes[0].key.starts_with("code, pc="), "{sizes:?}");
    assert_eq!(sizes.iter().map(|size| size.ops).sum::<usize>(), stats.residual);
    let bytes: usize = sizes.iter().map(|size| size.bytes).sum();
    assert!(bytes > 0 && bytes <= stats.code_bytes, "{sizes:?} {stats:?}");
    let compilers = |size: &hueshift::Size| size.compiler;
    assert!(sizes.iter().map(compilers).max() == Some(1), "each program has a compiler: {sizes:?}");

    let mut jit = Jit::with_options(&lang::INTERPRETER, options());
    lang::jit::run(&mut jit, LOOP, 0, 0, 100).expect("a result");
    assert!(jit.stats().running.is_zero(), "nobody asked for times");
}

/// Promotions in functions that are called.
#[hueshift::interpreter(entry start(code))]
mod promoting {
    use hueshift::prelude::*;

    pub fn start(code: &[u8], n: i64) -> i64 {
        few(n) + any(n) + code.len() as i64
    }

    fn few(n: i64) -> i64 {
        let mut sum = 0;
        let mut i = 0;
        while i < n {
            sum += 1 << concrete(promote(i & 7));
            i += 1;
        }
        sum
    }

    fn any(n: i64) -> i64 {
        let mut sum = 0;
        let mut i = 0;
        while i < n {
            sum += i * concrete(promote(n));
            i += 1;
        }
        sum
    }
}

#[test]
fn promotions_in_calls() {
    let events = told_of(&promoting::INTERPRETER, options(), |jit| {
        assert_eq!(promoting::aot::start(jit, &[1], 9).expect("a result"), promoting::start(&[1], 9));
    });
    let told = events.iter().filter(|event| event.reason == Reason::PromotedInCall);
    let told: Vec<&What> = told.map(|event| &event.what).collect();
    // Of eight values each has its code.
    let [What::Refused { message }] = told[..] else { panic!("{told:?}") };
    assert!(message.contains("`any`"), "{message}");
}
