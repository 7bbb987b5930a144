//! Loops with so many branches that go either way that no run takes the same way around twice, in long calls and in
//! short ones.

use hueshift::JitOptions;
use hueshift::embed::Jit;
use machine::{INTERPRETER, Machine};

#[hueshift::interpreter]
mod machine {
    use hueshift::prelude::*;

    pub struct Machine {
        pub regs: [i64; 4],
        pub fuel: u64,
    }

    /// `0`: the next random number to register 1. `1`: skips the next instruction if bit 62 of that is set. `2` and
    /// `3`: compute with register 2. `4`: two bits of it to register 3. `5`: once more, until register 0 is 0.
    #[portal(greens(code, pc), reds(m))]
    pub fn run(code: &[u8], mut pc: usize, m: &mut Machine) -> Option<i64> {
        loop {
            merge_point!();
            if m.fuel == 0 {
                return None;
            }
            m.fuel -= 1;
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                0 => m.regs[1] = m.regs[1].wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963),
                1 if m.regs[1] >> 62 & 1 == 1 => pc += 1,
                1 => {}
                2 => m.regs[2] = m.regs[2].wrapping_mul(3),
                3 => m.regs[2] = m.regs[2].wrapping_add(m.regs[1]),
                4 => m.regs[3] = m.regs[2] & 3,
                _ => {
                    m.regs[0] -= 1;
                    if m.regs[0] == 0 {
                        return Some(m.regs[2]);
                    }
                    pc = 0;
                    can_enter_jit!();
                }
            }
        }
    }
}

/// A round of so many branches, after which more is known than before the first one.
fn branches(count: usize) -> Vec<u8> {
    let mut code = [0, 1, 2, 1, 3].repeat(count);
    code.extend([0, 4, 5]);
    code
}

fn run<'p>(jit: &mut Jit<'p>, code: &'p [u8], rounds: i64) {
    let machine = || Machine { regs: [rounds, 1, 0, 0], fuel: 100_000_000 };
    let (mut wanted, mut got) = (machine(), machine());
    let result = machine::interp::run(code, 0, &mut wanted).expect("no trap");
    assert_eq!(machine::jit::run(jit, code, 0, &mut got).expect("no trap"), result);
    assert_eq!((got.regs, got.fuel), (wanted.regs, wanted.fuel));
}

/// Each bridge is one way around, and all begin where the round does. No run comes to the end of one, so none comes to
/// the version that they lead to: machine code comes later than the run that has been traced.
#[test]
fn ways_that_nobody_takes_to_their_end_become_a_region() {
    let code = branches(60);
    let mut jit = Jit::with_options(&INTERPRETER, JitOptions { slot_bytes: 1 << 22, ..Jit::usual_options() });
    let in_a_region = (0..100).any(|_| {
        run(&mut jit, &code, 2000);
        jit.stats().regions > 0
    });
    let stats = jit.stats();
    assert!(in_a_region && stats.bridges <= 15, "{stats:?}");
}

/// Calls so short that going over to code costs more than they take in tier 0: where they stay depends on the time, and
/// what they do doesn't. One that is long goes over anyway.
#[test]
fn many_short_calls() {
    let code = branches(1);
    let mut jit = Jit::with_options(&INTERPRETER, JitOptions { slot_bytes: 1 << 22, ..Jit::usual_options() });
    for rounds in (0..100_000).map(|call| 1 + call % 3) {
        run(&mut jit, &code, rounds);
    }
    let before = jit.stats();
    // Code may still be under way, which is made beside the run.
    let has_entered = (0..1000).any(|_| {
        run(&mut jit, &code, 100_000);
        jit.stats().entered > before.entered
    });
    assert!(has_entered, "{before:?} {:?}", jit.stats());
}
