//! Where the native stack is exhausted, what the guest has stored before has been stored.

use hueshift::JitOptions;
use hueshift::embed::Jit;

#[hueshift::interpreter]
mod lang {
    use hueshift::prelude::*;

    pub struct M {
        pub b: i64,
        pub t: i64,
        pub r: i64,
    }

    #[dont_look_inside]
    fn helper(x: i64) -> i64 {
        x + 1
    }

    #[portal(greens(), reds(m, a, i))]
    pub fn walk(m: &mut M, a: &mut [i64], mut i: i64) -> i64 {
        loop {
            merge_point!();
            if i <= 0 {
                return 0;
            }
            m.b += 1;
            a[(i & 7) as usize] += 1;
            if m.t == i {
                m.r = helper(m.r);
            }
            i -= 1;
            can_enter_jit!();
        }
    }
}

/// Calls `f` so deep in the stack.
#[inline(never)]
fn down(depth: usize, f: &mut dyn FnMut()) {
    let mut pad = [0u8; 32];
    std::hint::black_box(&mut pad);
    if depth == 0 {
        f()
    } else {
        down(depth - 1, f)
    }
    std::hint::black_box(&mut pad);
}

/// Deeper and deeper, in small steps, until the stack is exhausted a hundred times: at whatever point of the program that is.
fn sweep() {
    let options = JitOptions { threshold: 3, bridge: 2, background: false, ..Jit::usual_options() };
    let mut jit = Jit::with_options(&lang::INTERPRETER, options);
    let mut m = lang::M { b: 0, t: 7, r: 0 };
    let mut a = [0i64; 8];
    for _ in 0..50 {
        lang::jit::walk(&mut jit, &mut m, &mut a, 100).expect("there is stack enough");
    }
    assert_eq!(m.b, a.iter().sum::<i64>());
    let mut exhausted = 0;
    for depth in 0..16_000 {
        let mut m = lang::M { b: 0, t: 7, r: 0 };
        let mut a = [0i64; 8];
        let mut ended = Ok(0);
        down(depth, &mut || ended = lang::jit::walk(&mut jit, &mut m, &mut a, 100));
        let sum: i64 = a.iter().sum();
        if let Err(error) = &ended {
            assert!(error.to_string().contains("stack exhausted"), "{error}");
            assert!(m.b >= sum, "depth {depth}: {} was stored in front of {sum}", m.b);
            exhausted += 1;
            if exhausted == 100 {
                return;
            }
        }
    }
    panic!("the stack was exhausted {exhausted} times only");
}

#[test]
fn nothing_stored_is_lost() {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(sweep).expect("a thread");
    thread.join().expect("what is asserted holds");
}
