//! Many guest programs in one `Jit`. A test binary of its own, as it counts the threads of its process.

use hueshift::JitOptions;
use hueshift::embed::Jit;
use hueshift::events::{Reason, What};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

#[hueshift::interpreter]
mod lang {
    use hueshift::prelude::*;

    #[portal(greens(code, pc), reds(sum, left))]
    pub fn run(code: &[u8], mut pc: usize, mut sum: i64, mut left: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                b'+' => sum += left,
                b'-' => left -= 1,
                b'j' if left > 0 => {
                    pc = 0;
                    can_enter_jit!();
                }
                _ => return sum,
            }
        }
    }
}

/// How many threads this process has, where the system says so.
fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// Programs that run once each: nobody comes back to what has been made for them in the background.
#[test]
fn there_may_be_so_many_at_a_time() {
    for background in [false, true] {
        let warm_up = Duration::ZERO;
        let options = JitOptions { threshold: 10, background, warm_up, slot_bytes: 1 << 22, ..Jit::usual_options() };
        let mut jit = Jit::with_options(&lang::INTERPRETER, options);
        let gone = Rc::new(Cell::new(0));
        let seen = gone.clone();
        jit.on_event(move |event| {
            if let What::Evicted { .. } = event.what {
                assert_eq!(event.reason, Reason::GuestPrograms);
                seen.set(seen.get() + 1);
            }
        });
        let code = Vec::leak(b"+-j.".repeat(700));
        let mut programs = code.chunks(4);
        let run = |jit: &mut Jit<'static>, program: &'static [u8]| {
            assert_eq!(lang::jit::run(jit, program, 0, 0, 400).expect("no trap"), 400 * 401 / 2);
        };
        // With the first one the compiler is made.
        let first = programs.next().expect("a program");
        while jit.stats().traces == 0 {
            run(&mut jit, first);
        }
        programs.for_each(|program| run(&mut jit, program));
        assert!(jit.stats().traces >= 700, "each is compiled: {:?}", jit.stats());
        // Those that have gone are hot again as soon as they were at first.
        let before = jit.stats().traces;
        run(&mut jit, first);
        assert_eq!((jit.stats().traces - before, jit.stats().evictions), (1, gone.get()), "{background}");
        assert!(gone.get() > 400, "{} of 700", gone.get());
        if let Some(threads) = threads() {
            assert!(threads < 300, "{background}: {threads} threads");
        }
    }
}
