//! Runs that begin in the interpreter as rustc has compiled it, and go over to compiled code in their middle: they give what the
//! interpreter gives, with whatever a portal is made of.

use hueshift::JitOptions;
use hueshift::embed::{Error, Interpreter, Jit};
use hueshift::flowgraph::ir::TrapKind;
use std::cell::RefCell;

/// Thresholds at which different parts of a run are compiled.
const THRESHOLDS: [(u32, u32, usize); 4] = [(0, 1, 32), (1, 2, 1), (3, 1, 2), (7, 5, 32)];

/// The usual settings, but that what is hot is compiled there and then.
fn at_once() -> JitOptions {
    JitOptions { background: false, ..Jit::usual_options() }
}

fn jits<'p>(interpreter: &'static Interpreter) -> impl Iterator<Item = Jit<'p>> {
    THRESHOLDS.into_iter().flat_map(move |(threshold, bridge, cases)| {
        [false, true].map(|background| {
            let options =
                JitOptions { threshold, bridge, cases, background, slot_bytes: 1 << 22, ..Default::default() };
            Jit::with_options(interpreter, options)
        })
    })
}

#[hueshift::interpreter(entry outer(code))]
mod machine {
    use ops::step;

    pub mod ops {
        use hueshift::prelude::*;

        /// Not `Copy`, and handed over by value.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Regs {
            pub a: i64,
            pub f: f64,
        }

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Flag {
            Clear,
            Set { by: u8 },
        }

        /// A portal of another module, brought there by `use`.
        #[portal(greens(code, pc), reds(regs, flag, last, text, out))]
        pub fn step(
            code: &[u8],
            mut pc: usize,
            mut regs: Regs,
            mut flag: Flag,
            mut last: Option<i32>,
            mut text: &[u8],
            out: &mut [i64; 4],
        ) -> Result<i64, u8> {
            loop {
                merge_point!();
                let op = concrete(code[pc]);
                pc += 1;
                match op {
                    0 => regs.a += 3,
                    1 => regs.f = regs.f * 0.5 + regs.a as f64,
                    2 => {
                        if text.is_empty() {
                            return Ok(regs.a + regs.f as i64 + last.unwrap_or(-1) as i64);
                        }
                        last = match text[0] {
                            b'-' => None,
                            c => Some(c as i32),
                        };
                        text = &text[1..];
                    }
                    3 => {
                        flag = match flag {
                            Flag::Clear => Flag::Set { by: 1 },
                            Flag::Set { by } => {
                                if by > 4 {
                                    Flag::Clear
                                } else {
                                    Flag::Set { by: by + 1 }
                                }
                            }
                        };
                        if let Flag::Set { by: 3 } = flag {
                            out[(regs.a & 3) as usize] += 1;
                        }
                    }
                    4 => {
                        pc = 0;
                        can_enter_jit!();
                    }
                    5 => {
                        if regs.a > 100 {
                            return Err(code[pc]);
                        }
                        pc += 1;
                    }
                    6 => out[regs.a as usize] = 7,
                    _ => panic!("no opcode {op} at {pc}"),
                }
            }
        }
    }

    /// From here the portal is reached, with what it is lent.
    pub fn outer(code: &[u8], text: &[u8], out: &mut [i64; 4]) -> Result<i64, u8> {
        let regs = ops::Regs { a: 0, f: 1.5 };
        let got = step(code, 0, regs, ops::Flag::Clear, None, text, out)?;
        Ok(got + helper(code, text, out)?)
    }

    fn helper(code: &[u8], text: &[u8], out: &mut [i64; 4]) -> Result<i64, u8> {
        ops::step(code, 0, ops::Regs { a: 1, f: -1.0 }, ops::Flag::Set { by: 2 }, Some(5), text, out)
    }
}

#[test]
fn what_goes_over_and_back() {
    let text = b"a-bc--defghijklmnop-q-r-stuvwxyz0123456789".repeat(3);
    let programs: [&[u8]; 5] =
        [&[0, 1, 2, 3, 4], &[0, 3, 2, 5, 9, 4], &[2, 1, 0, 3, 4], &[0, 2, 0, 6, 4], &[0, 2, 3, 9]];
    for code in programs {
        let mut wanted_out = [0; 4];
        let wanted = machine::interp::outer(code, &text, &mut wanted_out);
        for mut jit in jits(&machine::INTERPRETER) {
            for round in 0..3 {
                let mut out = [0; 4];
                let got = machine::jit::outer(&mut jit, code, &text, &mut out);
                match (&wanted, got) {
                    (Ok(wanted), Ok(got)) => assert_eq!(*wanted, got, "{code:?} in round {round}"),
                    (Err(wanted), Err(Error::Trap(got))) => assert_eq!(*wanted, got, "{code:?} in round {round}"),
                    (wanted, got) => panic!("{code:?} in round {round}: {wanted:?}, {got:?}"),
                }
                assert_eq!(wanted_out, out, "{code:?} in round {round}");
            }
        }
    }
}

thread_local! {
    /// What a host function has been told.
    static SEEN: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

#[hueshift::interpreter]
mod calls {
    use hueshift::prelude::*;

    /// A guest function calls another by a call of the portal.
    #[portal(greens(code, pc), reds(n))]
    pub fn run(code: &[u8], mut pc: usize, mut n: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                0 => {
                    n -= 1;
                    if n > 0 {
                        pc = 0;
                    }
                }
                1 => {
                    let to = code[pc] as usize;
                    pc += 1;
                    if n > 0 {
                        n += run(code, to, n - 1);
                    }
                }
                2 => return n,
                3 => seen(n),
                4 => n = again(code, n),
                5 => n = run(code, pc - 1, n + 1),
                _ => n /= n & 7,
            }
        }
    }

    #[dont_look_inside]
    fn seen(n: i64) {
        if n == 13 {
            panic!("thirteen: {n}");
        }
        super::SEEN.with_borrow_mut(|seen| seen.push(n));
    }

    /// Comes back to the interpreter, which has no `Jit` here.
    #[dont_look_inside]
    fn again(code: &[u8], n: i64) -> i64 {
        if n < 10 { run(code, 0, n + 1) } else { n }
    }
}

/// What a run gives and what its host function has been told.
fn told<T>(run: impl FnOnce() -> T) -> (T, Vec<i64>) {
    SEEN.take();
    let result = run();
    (result, SEEN.take())
}

#[test]
fn recursion_hosts_and_traps() {
    let programs: [&[u8]; 6] =
        [&[0, 2], &[3, 0, 2], &[1, 4, 3, 2, 1, 8, 0, 2, 3, 2], &[3, 4, 2], &[9, 3, 0, 2], &[1, 0, 2]];
    for code in programs {
        for n in [0, 1, 5, 12, 30] {
            let wanted = told(|| calls::interp::run(code, 0, n).map_err(|trap| trap.to_string()));
            for mut jit in jits(&calls::INTERPRETER) {
                for _ in 0..2 {
                    let got = told(|| calls::jit::run(&mut jit, code, 0, n).map_err(|error| error.to_string()));
                    assert_eq!(got, wanted, "{code:?} {n}");
                }
            }
        }
    }
}

#[test]
fn a_recursion_that_never_ends_is_a_trap() {
    for mut jit in jits(&calls::INTERPRETER) {
        let error = calls::jit::run(&mut jit, &[5], 0, 1).unwrap_err();
        assert_eq!(error.trap().expect("it is a trap").kind, TrapKind::StackExhausted);
    }
}

#[test]
fn traps_of_compiled_code_have_their_place() {
    let code = [9, 0, 2];
    let wanted = calls::interp::run(&code, 0, 24).unwrap_err();
    assert_eq!(wanted.kind, TrapKind::DivideByZero);
    for mut jit in jits(&calls::INTERPRETER) {
        let error = calls::jit::run(&mut jit, &code, 0, 24).unwrap_err();
        let trap = error.trap().expect("it is a trap");
        assert_eq!((&trap.message, trap.line), (&wanted.message, wanted.line));
    }
}

/// A program for the whole test: greens that are made later can't outlive a `Jit` that was there before.
const COUNTING: &[u8] = &[0, 2];

#[test]
fn only_what_is_hot_is_compiled() {
    let mut jit = Jit::with_options(&calls::INTERPRETER, at_once());
    assert_eq!(calls::jit::run(&mut jit, COUNTING, 0, 900).unwrap(), 0);
    assert_eq!(jit.stats().traces, 0);
    assert_eq!(calls::jit::run(&mut jit, COUNTING, 0, 900).unwrap(), 0);
    assert_eq!(jit.stats().traces, 1, "together they come by more than 1,000 times");
    let others = [COUNTING.to_vec(), COUNTING.to_vec()];
    let mut second = Jit::with_options(&calls::INTERPRETER, at_once());
    for code in &others {
        assert_eq!(calls::jit::run(&mut second, code, 0, 5000).unwrap(), 0);
    }
    assert_eq!(second.stats().traces, 2, "programs in different places have code of their own");
    assert_eq!(calls::aot::run(&mut jit, COUNTING, 0, 7).unwrap(), 0, "ahead of time by the same `Jit`");
}

#[test]
fn a_jit_is_for_one_interpreter() {
    let mut jit = Jit::new(&machine::INTERPRETER);
    assert!(matches!(calls::jit::run(&mut jit, COUNTING, 0, 7), Err(Error::OtherInterpreter { .. })));
}

#[hueshift::interpreter]
mod methods {
    use hueshift::prelude::*;

    pub struct Cpu {
        pub a: i64,
    }

    #[derive(Clone, Copy)]
    pub struct Code {
        pub times: i64,
        pub add: i64,
    }

    impl Cpu {
        #[portal(greens(code, pc), reds(self))]
        pub fn run(&mut self, code: &[u8], mut pc: usize) -> i64 {
            loop {
                merge_point!();
                match concrete(code[pc]) {
                    0 => self.a += 1,
                    1 => {
                        if self.a < 50 {
                            pc = 0;
                            can_enter_jit!();
                            continue;
                        }
                    }
                    _ => return self.a,
                }
                pc += 1;
            }
        }

        /// Named as the shim of a host function would be.
        pub fn host_log(&mut self, code: &[u8]) -> i64 {
            self.run(code, 0).wrapping_add(Code { times: 60, add: 2 }.sum(0, 0)) + log(3)
        }
    }

    /// The same.
    pub fn host_log(cpu: &mut Cpu, code: &[u8]) -> i64 {
        cpu.host_log(code)
    }

    impl Code {
        #[portal(greens(self), reds(n, sum))]
        pub fn sum(self, mut n: i64, mut sum: i64) -> i64 {
            loop {
                merge_point!();
                if n >= self.times {
                    return sum;
                }
                sum += self.add;
                n += 1;
                can_enter_jit!();
            }
        }
    }

    #[dont_look_inside]
    fn log(n: i64) -> i64 {
        n
    }

    #[portal(greens(code), reds(cpu))]
    pub fn outer(code: &[u8], cpu: &mut Cpu) -> i64 {
        loop {
            merge_point!();
            let got = host_log(cpu, code);
            if got > 10 {
                return got;
            }
        }
    }
}

#[test]
fn portals_that_are_methods() {
    let code = [0, 1, 2];
    let wanted = methods::outer(&code, &mut methods::Cpu { a: 0 });
    assert_eq!(wanted, 50 + 120 + 3);
    for mut jit in jits(&methods::INTERPRETER) {
        for _ in 0..3 {
            let mut cpu = methods::Cpu { a: 0 };
            assert_eq!(methods::jit::outer(&mut jit, &code, &mut cpu).unwrap(), wanted);
            assert_eq!(cpu.a, 50);
        }
        assert!(jit.stats().traces > 0 || jit.options().background);
    }
}

#[hueshift::interpreter(entry repeat(code, at))]
mod nested {
    use hueshift::prelude::*;

    /// A tree in an arena: a loop has the place of its body, a body is a list that ends in 0.
    pub fn repeat(code: &[u8], at: usize, count: i64, cells: &mut [i64; 4]) -> i64 {
        let mut sum = 0;
        loop_of(code, at, count, cells, &mut sum);
        sum
    }

    #[portal(greens(code, at), reds(count, cells, sum))]
    pub fn loop_of(code: &[u8], at: usize, mut count: i64, cells: &mut [i64; 4], sum: &mut i64) {
        loop {
            merge_point!();
            if count == 0 {
                return;
            }
            *sum = *sum + row(code, at, count, cells);
            count -= 1;
            can_enter_jit!();
        }
    }

    /// The elements of a list: those that are loops have a local array each, which their loop is lent.
    #[unroll_safe]
    fn row(code: &[u8], mut at: usize, count: i64, cells: &mut [i64; 4]) -> i64 {
        let mut got = 0;
        loop {
            let op = concrete(code[at]);
            match op {
                0 => return got,
                1 => cells[(count & 3) as usize] += count,
                2 => {
                    let mut own = [count, 1, 2, 3];
                    let mut sum = 0;
                    loop_of(code, code[at + 1] as usize, (count & 7) + 1, &mut own, &mut sum);
                    got += sum + own[(count & 3) as usize];
                    at += 1;
                }
                3 => got = 100 / (cells[1] - count * 7),
                4 => {
                    if (count & 5) == 4 {
                        cells[0] += 2;
                    }
                }
                _ => cells[op as usize] += 1,
            }
            at += 1;
        }
    }

    /// As deep as the count: each activation has an array that the next one is lent.
    #[portal(greens(code), reds(depth, above))]
    pub fn descend(code: &[u8], depth: i64, above: &mut [i64; 2]) -> i64 {
        merge_point!();
        can_enter_jit!();
        if depth == 0 {
            above[(depth & 1) as usize] = code[0] as i64;
            return above[1];
        }
        let mut own = [depth, above[0]];
        let got = descend(code, depth - 1, &mut own);
        above[(depth & 1) as usize] += own[(depth & 1) as usize] & 3;
        got + own[0] + above[1]
    }
}

#[test]
fn portals_inside_of_portals_are_finished_by_tier_0() {
    // repeat { cells; repeat { cells; repeat { cells } } ; repeat { cells } }
    let code: &[u8] = &[1, 4, 2, 7, 2, 11, 0, 1, 2, 12, 0, 4, 1, 0];
    let trapping: &[u8] = &[1, 2, 4, 0, 1, 4, 3, 0];
    let mut finished = 0;
    for (code, count) in [(code, 40), (code, 7), (trapping, 10)] {
        let mut wanted_cells = [1; 4];
        let wanted = nested::interp::repeat(code, 0, count, &mut wanted_cells);
        // With regions the inner loops of a trace are known, and are left by few exits.
        let patient = [0, 2000].map(|region| JitOptions { threshold: 5, bridge: 100, region, ..at_once() });
        let patient = patient.map(|options| Jit::with_options(&nested::INTERPRETER, options));
        for mut jit in jits(&nested::INTERPRETER).chain(patient) {
            for round in 0..3 {
                let mut cells = [1; 4];
                let got = nested::jit::repeat(&mut jit, code, 0, count, &mut cells);
                assert_eq!(wanted.as_ref().map_err(|t| t.kind), kinds(&got), "{code:?} in round {round}");
                assert_eq!(wanted_cells, cells, "{code:?} in round {round}");
            }
            finished += jit.stats().finished;
        }
    }
    assert!(finished > 100, "{finished}");
}

fn kinds(got: &Result<i64, Error>) -> Result<&i64, TrapKind> {
    got.as_ref().map_err(|error| error.trap().expect("a trap").kind)
}

#[test]
fn runs_inside_of_runs_are_as_many_as_fit() {
    for mut jit in jits(&nested::INTERPRETER) {
        for depth in [3, 300, 20] {
            let (mut wanted_above, mut above) = ([1, 2], [1, 2]);
            let wanted = nested::descend(&[5], depth, &mut wanted_above);
            let got = nested::jit::descend(&mut jit, &[5], depth, &mut above).expect("no trap");
            assert_eq!((wanted, wanted_above), (got, above), "{depth}");
        }
    }
}

#[test]
fn runs_enter_compiled_code_by_the_same_door() {
    let code: &[u8] = &[1, 0];
    let mut jit = Jit::with_options(&nested::INTERPRETER, JitOptions { threshold: 10, ..at_once() });
    let mut cells = [0; 4];
    for _ in 0..50 {
        nested::jit::repeat(&mut jit, code, 0, 20, &mut cells).expect("no trap");
    }
    let stats = jit.stats();
    assert_eq!(stats.traces, 1);
    assert!(stats.entered >= 40 && stats.arrived - stats.entered < 5, "{stats:?}");
}

/// A helper that leads to no portal says where the guest jumps back.
#[hueshift::interpreter(entry twice(code))]
mod helpers {
    use hueshift::prelude::*;

    fn back(to: usize) -> usize {
        can_enter_jit!();
        to
    }

    #[portal(greens(code, pc), reds(a, n))]
    pub fn helped(code: &[u8], mut pc: usize, mut a: i64, mut n: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                0 => a += n,
                1 => n -= 1,
                2 if n > 0 => pc = back(0),
                3 if n > 0 => {
                    pc = 0;
                    can_enter_jit!();
                }
                _ => return a,
            }
        }
    }

    /// It jumps, and leads to the portal.
    pub fn twice(code: &[u8], n: i64) -> i64 {
        can_enter_jit!();
        helped(code, 0, 0, n) + helped(code, 0, 1, n)
    }
}

/// Loops of portals that are left from the head of a loop, and from inside of a macro's tokens.
#[hueshift::interpreter]
mod leaving {
    use hueshift::prelude::*;

    #[portal(greens(code, pc), reds(a, n))]
    pub fn run(code: &[u8], mut pc: usize, mut a: i64, mut n: i64) -> i64 {
        'own: loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            match op {
                0 => {
                    let mut i = 0;
                    'inner: while i < 5 {
                        i += 1;
                        if i == 3 {
                            break 'inner;
                        }
                        a += i;
                    }
                }
                1 => {
                    for i in 0..(if n == -1 { break } else { 2 }) {
                        a += i;
                    }
                }
                2 => n -= 1,
                _ if n > 0 => {
                    pc = 0;
                    can_enter_jit!();
                }
                _ => break 'own,
            }
        }
        a + n
    }

    #[portal(greens(code, pc), reds(n))]
    pub fn checked(code: &[u8], mut pc: usize, mut n: i64) -> i64 {
        loop {
            merge_point!();
            let op = concrete(code[pc]);
            pc += 1;
            assert!(if op == 1 { break } else { n > -100 }, "there are {}", n);
            n -= 1;
            if n > 0 {
                pc = 0;
                can_enter_jit!();
            }
        }
        n
    }
}

#[test]
fn loops_are_left_and_helpers_say_where_the_guest_jumps() {
    for mut jit in jits(&leaving::INTERPRETER) {
        for (code, n) in [(&[0, 1, 2, 3], 1000), (&[0, 1, 2, 3], -1), (&[2, 0, 1, 3], 7)] {
            let wanted = leaving::interp::run(code, 0, 0, n);
            assert_eq!(wanted.ok(), leaving::jit::run(&mut jit, code, 0, 0, n).ok(), "{code:?} {n}");
        }
        let code: &[u8] = &[0, 0, 0, 1];
        for n in [1000, -50, -99] {
            let wanted = leaving::interp::checked(code, 0, n);
            assert_eq!(wanted.ok(), leaving::jit::checked(&mut jit, code, 0, n).ok(), "{n}");
        }
    }
    let mut jit = Jit::with_options(&helpers::INTERPRETER, JitOptions { threshold: 100, ..at_once() });
    for code in [&[0, 1, 2], &[0, 1, 3]] {
        let traces = jit.stats().traces;
        let got = helpers::jit::helped(&mut jit, code, 0, 0, 10_000).ok();
        assert_eq!(got, helpers::interp::helped(code, 0, 0, 10_000).ok());
        assert!(jit.stats().traces > traces, "{code:?}: {:?}", jit.stats());
        assert_eq!(helpers::jit::twice(&mut jit, code, 500).ok(), helpers::interp::twice(code, 500).ok());
    }
}

/// With a threshold that is high enough only some arrivals are counted, for all of them; with code there is, all are looked at.
#[test]
fn a_run_is_hot_at_about_its_threshold() {
    let code: &[u8] = &[1, 0];
    for (rounds, is_hot) in [(800, false), (1200, true)] {
        let mut jit = Jit::with_options(&nested::INTERPRETER, JitOptions { threshold: 1000, ..at_once() });
        nested::jit::repeat(&mut jit, code, 0, rounds, &mut [0; 4]).expect("no trap");
        assert_eq!(jit.stats().traces, u64::from(is_hot), "{rounds} rounds");
        if is_hot {
            let before = jit.stats().entered;
            for _ in 0..50 {
                nested::jit::repeat(&mut jit, code, 0, 20, &mut [0; 4]).expect("no trap");
            }
            let entered = jit.stats().entered - before;
            assert!(entered > 40, "each run comes to the code that there is, but for those that are traced: {entered}");
        }
    }
}

/// The loops inside of one that is hot are left by exits that are as hot: they need not become so one after the other.
/// With regions they are known, and the first one's goes on behind all of them.
#[test]
fn what_lies_behind_inner_loops_is_compiled_with_the_outer_one() {
    let code: &[u8] = &[2, 7, 2, 7, 2, 7, 0, 1, 0];
    for (region, least_bridges) in [(0, 3), (2000, 1)] {
        let options = JitOptions { threshold: 30, bridge: 1_000_000, region, ..at_once() };
        let mut jit = Jit::with_options(&nested::INTERPRETER, options);
        let mut cells = [0; 4];
        nested::jit::loop_of(&mut jit, code, 0, 2000, &mut cells, &mut 0).expect("no trap");
        let stats = jit.stats();
        assert!(stats.bridges >= least_bridges && stats.blackholed < 20, "{stats:?}");
    }
}

/// What is lent to a portal inside of another is there until that portal has returned, also where nobody looks at it afterwards.
#[test]
fn what_is_lent_to_an_inner_portal_stays() {
    // The loop at 0 has that at 5 in it, and that the one at 0: the arrays of all these lie at the same place in compiled code.
    let code: &[u8] = &[5, 5, 4, 1, 0, 1, 4, 5, 0, 4, 1, 0];
    let mut wanted_cells = [1; 4];
    let wanted = lending::interp::repeat(code, 0, 60, &mut wanted_cells).expect("no trap");
    let mut finished = 0;
    for bridge in [1, 3, 20, 1000] {
        let options = JitOptions { threshold: 3, bridge, ..at_once() };
        let mut jit = Jit::with_options(&lending::INTERPRETER, options);
        for round in 0..3 {
            let mut cells = [1; 4];
            let got = lending::jit::repeat(&mut jit, code, 0, 60, &mut cells).expect("no trap");
            assert_eq!((wanted, wanted_cells), (got, cells), "bridge={bridge}, round {round}");
        }
        finished += jit.stats().finished;
    }
    assert!(finished > 100, "{finished}");
}

#[hueshift::interpreter]
mod lending {
    use hueshift::prelude::*;

    #[portal(greens(code, at), reds(count, cells))]
    pub fn repeat(code: &[u8], at: usize, mut count: i64, cells: &mut [i64; 4]) -> i64 {
        loop {
            merge_point!();
            if count == 0 {
                return cells[0] + 3 * cells[1] + 5 * cells[2] + 7 * cells[3];
            }
            let got = row(code, at, count, cells);
            cells[(got & 3) as usize] += got;
            count -= 1;
            can_enter_jit!();
        }
    }

    #[unroll_safe]
    fn row(code: &[u8], mut at: usize, count: i64, cells: &mut [i64; 4]) -> i64 {
        let mut got = count;
        loop {
            match concrete(code[at]) {
                0 => return got,
                1 => cells[(count & 3) as usize] += count,
                4 => {
                    if (count & 5) == 4 {
                        cells[0] += got;
                    }
                }
                _ => {
                    let mut own = [count, 1, 2, 3];
                    own[(got & 3) as usize] += 1;
                    got += repeat(code, code[at + 1] as usize, count >> 1, &mut own) & 1023;
                    at += 1;
                }
            }
            at += 1;
        }
    }
}
