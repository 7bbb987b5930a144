//! Runs in destructors while a panic unwinds. A test binary of its own, since the first run of its process is one.

use hueshift::JitOptions;
use hueshift::embed::{Error, Jit};
use hueshift::flowgraph::ir::TrapKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
                b'/' => sum /= left,
                b'j' if left > 0 => {
                    pc = 0;
                    can_enter_jit!();
                }
                _ => return sum,
            }
        }
    }
}

/// What a run gives that is made when this is dropped.
struct Last<'r>(&'static [u8], &'r mut Vec<Result<i64, TrapKind>>);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        let options = JitOptions { threshold: 3, background: false, ..Jit::usual_options() };
        let mut jit = Jit::with_options(&lang::INTERPRETER, options);
        let kind = |error: Error| error.trap().expect("a trap").kind;
        self.1.push(lang::jit::run(&mut jit, self.0, 0, 0, 100).map_err(kind));
        self.1.push(lang::interp::run(self.0, 0, 0, 100).map_err(|trap| trap.kind));
        assert!(jit.stats().traces > 0);
    }
}

#[test]
fn destructors_may_run_guests() {
    for (code, wanted) in [(&b"+-j."[..], Ok(5050)), (b"-/j.", Err(TrapKind::DivideByZero))] {
        for round in 0..2 {
            let mut got = Vec::new();
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _last = Last(code, &mut got);
                std::panic::resume_unwind(Box::new("on the way"));
            }));
            assert!(unwound.is_err());
            assert_eq!(got, [wanted, wanted], "{round}");
            // The next trap is one.
            assert_eq!(lang::interp::run(b"-/j.", 0, 0, 9).map_err(|trap| trap.kind), Err(TrapKind::DivideByZero));
        }
    }
}
