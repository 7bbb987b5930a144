//! Portals that do something before their merge point, inside of another one: tier 0 finishes an inner portal by calling
//! it anew.

use hueshift::JitOptions;
use hueshift::embed::Jit;

#[hueshift::interpreter]
mod lang {
    use hueshift::prelude::*;

    fn stepped(x: i64) -> i64 {
        if x % 3 == 0 { x + 5 } else { x - 1 }
    }

    fn ends(x: i64) -> bool {
        x % 13 == 0 || x >= 66_000
    }

    /// What is done before the merge point is done once a call.
    #[portal(greens(code, pc), reds(x))]
    pub fn counted(code: &[u8], mut pc: usize, mut x: i64) -> i64 {
        x += 1;
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            if op == b'3' {
                x = stepped(x);
            } else if ends(x) {
                return x;
            } else {
                x += 2;
                pc = 0;
                can_enter_jit!();
            }
        }
    }

    /// What is done before the merge point is done once a round.
    #[portal(greens(code, pc), reds(x))]
    pub fn late(code: &[u8], mut pc: usize, mut x: i64) -> i64 {
        loop {
            x += 1;
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            if op == b'3' {
                x = stepped(x);
            } else if ends(x) {
                return x;
            } else {
                x += 2;
                pc = 0;
                can_enter_jit!();
            }
        }
    }

    /// What it is called with is even; later it needn't be.
    #[portal(greens(code, pc), reds(x))]
    pub fn asserted(code: &[u8], mut pc: usize, mut x: i64) -> i64 {
        assert!(x % 2 == 0, "odd at the start: {}", x);
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            if op == b'3' {
                x = stepped(x);
            } else if ends(x) {
                return x;
            } else {
                x += 2;
                pc = 0;
                can_enter_jit!();
            }
        }
    }

    /// It has asked already.
    #[portal(greens(code, pc), reds(x))]
    pub fn asks(code: &[u8], mut pc: usize, mut x: i64) -> i64 {
        while x < 70_000 {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            if op == b'3' {
                x = stepped(x);
            } else if ends(x) {
                return x;
            } else {
                x += 2;
                pc = 0;
                can_enter_jit!();
            }
        }
        x
    }

    #[portal(greens(code, k), reds(a, n))]
    pub fn outer(code: &[u8], k: i64, mut a: i64, mut n: i64) -> i64 {
        loop {
            merge_point!();
            a += match k {
                0 => counted(code, 0, a & 0xffff),
                1 => late(code, 0, a & 0xffff),
                2 => asserted(code, 0, a & 0xfffe),
                _ => asks(code, 0, a & 0xffff),
            };
            a &= 0xff_ffff;
            n -= 1;
            if n <= 0 {
                return a;
            }
            can_enter_jit!();
        }
    }
}

/// A run at the merge point of an inner portal is finished by calling that anew, but only where that does nothing twice.
#[test]
fn inner_portals_are_not_begun_twice() {
    for k in 0..4 {
        let wanted = lang::interp::outer(b"3l", k, 1, 300).unwrap();
        let mut finished = 0;
        for (threshold, bridge) in [(2, 3), (5, 2), (50, 50)] {
            let options = JitOptions {
                threshold,
                bridge,
                region: 20,
                background: false,
                slot_bytes: 1 << 22,
                ..JitOptions::just_in_time()
            };
            let mut jit = Jit::with_options(&lang::INTERPRETER, options);
            assert_eq!(lang::jit::outer(&mut jit, b"3l", k, 1, 300).unwrap(), wanted, "{k} {threshold}");
            finished += jit.stats().finished;
        }
        // The one that only asks is finished in tier 0.
        assert_eq!(finished > 0, k == 3, "{k}: {finished}");
    }
}
