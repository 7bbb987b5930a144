//! Code that nothing needs any more goes: a program that changes its hot loop for ever has bounded memory.

use hueshift::JitOptions;
use hueshift::embed::{Error, Jit};
use hueshift::events::{Event, What};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

#[hueshift::interpreter]
mod lang {
    use hueshift::prelude::*;

    /// Adds, jumps back, and calls itself. `kind` is green: each has code of its own.
    #[portal(greens(code, pc, kind), reds(sum, left))]
    pub fn run(code: &[u8], mut pc: usize, kind: i64, mut sum: i64, mut left: i64) -> i64 {
        loop {
            merge_point!();
            match concrete(code[pc]) {
                b'+' => sum += kind,
                b'x' => sum = (sum ^ left) * (kind | 1) & 0xffff,
                b'?' if left & 1 == 0 => sum += 3,
                b'c' if left & 15 == 9 => sum += run(code, 0, kind + 1000, sum & 7, 8),
                b'!' if kind == 13 && left == 1 => panic!("unlucky"),
                b'j' => {
                    left -= 1;
                    if left <= 0 {
                        return sum;
                    }
                    pc = 0;
                    can_enter_jit!();
                    continue;
                }
                _ => {}
            }
            pc += 1;
        }
    }
}

fn options(code_bytes: usize) -> JitOptions {
    JitOptions { threshold: 10, bridge: 3, region: 100, code_bytes, slot_bytes: 1 << 22, ..JitOptions::default() }
}

/// Runs the same in tier 0.
fn check(jit: &mut Jit<'static>, code: &'static [u8], kind: i64, left: i64) {
    match (lang::interp::run(code, 0, kind, 1, left), lang::jit::run(jit, code, 0, kind, 1, left)) {
        (Ok(wanted), Ok(got)) => assert_eq!(wanted, got, "{kind}"),
        (Err(wanted), Err(Error::Trap(got))) => assert_eq!(wanted, got, "{kind}"),
        (wanted, got) => panic!("{kind}: {wanted:?}, {got:?}"),
    }
}

/// Kilobytes that are in memory of this process, where the system says so.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next()?.parse().ok())
}

#[test]
fn a_hot_loop_that_changes_for_ever() {
    const MOST: usize = 20_000;
    let mut jit = Jit::with_options(&lang::INTERPRETER, options(MOST));
    let highest = Rc::new(Cell::new((0, 0)));
    let seen = highest.clone();
    jit.on_event(move |event: &Event| {
        if let What::Evicted { bytes, .. } = event.what {
            let (most, times) = seen.get();
            seen.set((bytes.max(most), times + 1));
        }
    });
    let mut early = None;
    for kind in 0..700 {
        check(&mut jit, b"+x?cj", kind, 200);
        assert!(jit.stats().code_bytes < 2 * MOST, "{:?}", jit.stats());
        if kind == 140 {
            early = resident();
        }
    }
    let (most, times) = highest.get();
    assert!(times > 10 && most < 2 * MOST, "{times} times, {most} bytes");
    assert_eq!(jit.stats().evictions, times);
    if let (Some(early), Some(late)) = (early, resident()) {
        println!("{early} KB at a fifth, {late} KB at the end, {times} evictions");
        assert!(late < early + 64_000, "{early} KB at a fifth, {late} KB at the end");
    }
}

/// However little code there may be, at whatever moment it is thrown away, runs give what they give without.
#[test]
fn whenever_code_is_thrown_away() {
    for code_bytes in [1, 500, 1500, 4000] {
        for background in [false, true] {
            let mut jit = Jit::with_options(&lang::INTERPRETER, JitOptions { background, ..options(code_bytes) });
            for round in 0..3 {
                for code in [&b"+x?cj"[..], b"+cx!j", b"cc?j"] {
                    for kind in [0, 1, 13, 0] {
                        check(&mut jit, code, kind + round, 150);
                    }
                }
            }
            assert!(background || jit.stats().evictions > 3, "{code_bytes}: {:?}", jit.stats());
        }
    }
}

/// Where there is room for no code at all, it isn't made again and again.
#[test]
fn no_room_at_all() {
    let mut jit = Jit::with_options(&lang::INTERPRETER, options(1));
    for kind in 0..300 {
        check(&mut jit, b"+x?cj", kind % 3, 200);
    }
    let stats = jit.stats();
    assert!(stats.evictions > 2 && stats.evictions < 20, "{stats:?}");
}

/// What is entered often stays longer than what isn't.
#[test]
fn the_coldest_go_first() {
    let mut jit = Jit::with_options(&lang::INTERPRETER, options(40_000));
    let hot: &'static [u8] = b"+x?j";
    let cold: Vec<&'static [u8]> = (1..60).map(|n| &*Vec::leak([&b"+?x".repeat(n)[..], b"j"].concat())).collect();
    for (at, code) in cold.iter().enumerate() {
        for _ in 0..5 {
            check(&mut jit, hot, 3, 50);
        }
        check(&mut jit, code, at as i64, 50);
    }
    assert!(jit.stats().evictions > 10, "{:?}", jit.stats());
    let evicted = |event: &&Event| matches!(event.what, What::Evicted { .. });
    let events = jit.events();
    let first_compiler = events.iter().filter(evicted).filter(|event| event.compiler == 0).count();
    assert_eq!(first_compiler, 0, "the first one is entered most often");
}

/// Guests that take turns, and have more code together than there may be. Compiled whenever they are hot again, they are
/// so eight times as often, and twice as slow.
#[test]
fn guests_that_crowd_each_other_out() {
    const ROUNDS: usize = 800;
    let options = JitOptions { background: true, warm_up: Duration::ZERO, ..options(6000) };
    let mut jit = Jit::with_options(&lang::INTERPRETER, options);
    let guests: Vec<&'static [u8]> = (1..9).map(|n| &*Vec::leak([&b"+?x".repeat(n)[..], b"j"].concat())).collect();
    // The compiler is made while tier 0 runs.
    while jit.stats().traces == 0 {
        check(&mut jit, guests[0], 3, 50);
    }
    for _ in 0..ROUNDS {
        for guest in &guests {
            check(&mut jit, guest, 3, 2000);
        }
    }
    let stats = jit.stats();
    println!("{} traces, {} evictions in {} runs", stats.traces, stats.evictions, ROUNDS * guests.len());
    assert!(stats.evictions > 3, "they have room together: {stats:?}");
    assert!(stats.traces < (ROUNDS * guests.len() / 16) as u64, "{stats:?}");
}
