//! Loops of a guest whose interpreter walks a tree, and calls its portal for each: what traces have seen of one in one
//! place of the tree's walk, they know wherever they come to it again.

use hueshift::JitOptions;
use hueshift::embed::Jit;
use hueshift::events::{Reason, What};
use std::time::Duration;
use tree::{INTERPRETER, Node};

#[hueshift::interpreter]
mod tree {
    use hueshift::prelude::*;

    /// A node. The nodes of a loop lie side by side.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Node {
        Set {
            to: usize,
            value: i64,
        },
        Add {
            to: usize,
            from: usize,
        },
        /// Adds if the register is odd, takes away if it is even.
        Odd {
            at: usize,
            to: usize,
        },
        /// Counts a register down, and does the nodes from `first` to before `end` each time, until it is 0.
        Repeat {
            at: usize,
            first: usize,
            end: usize,
        },
    }

    fn row(nodes: &[Node], first: usize, end: usize, r: &mut [i64; 6]) {
        let mut i = concrete(first);
        while i < concrete(end) {
            match nodes[i] {
                Node::Set { to, value } => r[to] = value,
                Node::Add { to, from } => r[to] += r[from],
                Node::Odd { at, to } => {
                    if r[at] & 1 == 0 {
                        r[to] -= 1;
                    } else {
                        r[to] += r[at];
                    }
                }
                Node::Repeat { at, first, end } => repeat(nodes, at, first, end, r),
            }
            i += 1;
        }
    }

    /// A loop of the guest.
    #[portal(greens(nodes, at, first, end), reds(r))]
    pub fn repeat(nodes: &[Node], at: usize, first: usize, end: usize, r: &mut [i64; 6]) {
        loop {
            merge_point!();
            if r[at] == 0 {
                return;
            }
            r[at] -= 1;
            row(nodes, first, end, r);
            can_enter_jit!();
        }
    }
}

/// Three loops inside of each other, with a branch that goes both ways in each, and one that always goes the same way
/// as long as register 3 is the same. The outer one does the first nodes, up to `OUTER`.
const NESTED: &[Node] = &[
    Node::Odd { at: 0, to: 5 },
    Node::Set { to: 1, value: 30 },
    Node::Repeat { at: 1, first: 3, end: 6 },
    // the middle one
    Node::Odd { at: 1, to: 5 },
    Node::Set { to: 2, value: 30 },
    Node::Repeat { at: 2, first: 6, end: 9 },
    // the inner one
    Node::Odd { at: 2, to: 5 },
    Node::Odd { at: 3, to: 4 },
    Node::Add { to: 4, from: 5 },
];

/// A loop in whose rounds the same one is begun again.
const RECURSIVE: &[Node] =
    &[Node::Odd { at: 0, to: 5 }, Node::Repeat { at: 0, first: 0, end: 3 }, Node::Add { to: 4, from: 5 }];

/// How many nodes the outermost loop does.
const OUTER: usize = 3;

/// What is hot is compiled there and then; no bridge is taken often enough for a region, but with 0 loops aren't
/// entered with all that is known of them either.
fn options(region: u32) -> JitOptions {
    let hot = JitOptions { threshold: 40, bridge: 10, region, background: false, ..Jit::usual_options() };
    JitOptions { slot_bytes: 1 << 22, ..hot }
}

fn run(jit: &mut Jit<'_>, nodes: &'static [Node], rounds: i64, third: i64) {
    let (mut got, mut wanted) = ([rounds, 0, 0, third, 0, 1], [rounds, 0, 0, third, 0, 1]);
    tree::interp::repeat(nodes, 0, 0, OUTER, &mut wanted).expect("no trap");
    tree::jit::repeat(jit, nodes, 0, 0, OUTER, &mut got).expect("no trap");
    assert_eq!(got, wanted);
}

fn known(jit: &Jit<'_>) -> usize {
    jit.events().iter().filter(|event| event.reason == Reason::KnownLoop).count()
}

/// The middle loop's trace comes to the inner one, which has been traced by itself, and the outer one's to both. None
/// finds out again, exit by exit, which ways there are.
#[test]
fn a_loop_that_is_known_has_no_bridges() {
    let (mut with, mut without) =
        (Jit::with_options(&INTERPRETER, options(u32::MAX)), Jit::with_options(&INTERPRETER, options(0)));
    for jit in [&mut with, &mut without] {
        run(jit, NESTED, 300, 0);
    }
    assert!(known(&with) >= 2 && known(&without) == 0, "{}, {}", known(&with), known(&without));
    let all_of_it = |event: &hueshift::events::Event| match event.what {
        What::Region { ops, .. } if event.reason == Reason::KnownLoop => Some(ops),
        _ => None,
    };
    assert!(with.events().iter().filter_map(all_of_it).all(|ops| ops > 5), "{:#?}", with.events());
    let (with, without) = (with.stats(), without.stats());
    assert!(2 * with.bridges <= without.bridges, "{} bridges, not {}", with.bridges, without.bridges);
    assert!(2 * with.exits < without.exits, "{} exits, not {}", with.exits, without.exits);
    assert_eq!(without.regions, 0);
}

/// A way that no trace has taken anywhere is an exit there, too, and gets its bridge when it is taken.
#[test]
fn what_no_trace_has_seen_is_an_exit() {
    let mut jit = Jit::with_options(&INTERPRETER, options(u32::MAX));
    run(&mut jit, NESTED, 300, 0);
    let (before, known_before) = (jit.stats(), known(&jit));
    run(&mut jit, NESTED, 300, 0);
    let again = jit.stats();
    assert_eq!((before.traces, known_before), (again.traces, known(&jit)), "{again:?}");
    // Register 3 is odd for the first time.
    run(&mut jit, NESTED, 300, 1);
    let after = jit.stats();
    assert!(known_before >= 2 && after.bridges > again.bridges && after.exits > again.exits + 5, "{after:?}");
}

/// Where such a loop can't be specialized, it is traced, as one that isn't known.
#[test]
fn a_known_loop_that_is_refused_is_traced() {
    let (mut refused, mut made) = (0, 0);
    for unrolled_ops in 4..60 {
        let mut options = options(u32::MAX);
        options.limits.unrolled_ops = unrolled_ops;
        let mut jit = Jit::with_options(&INTERPRETER, options);
        let mut got = [200, 0, 0, 0, 0, 1];
        // A trace may meet the limit itself, which is another matter.
        let done = tree::jit::repeat(&mut jit, NESTED, 0, 0, OUTER, &mut got);
        if done.is_ok() {
            let mut wanted = [200, 0, 0, 0, 0, 1];
            tree::interp::repeat(NESTED, 0, 0, OUTER, &mut wanted).expect("no trap");
            assert_eq!(got, wanted, "{unrolled_ops}");
            refused += jit.events().iter().filter(|event| event.reason == Reason::RegionRefused).count();
            made += known(&jit);
        }
    }
    assert!(refused > 0 && made > 0, "{refused}, {made}");
}

/// A portal that calls itself with the same greens is called in compiled code, too: that it is known doesn't copy it
/// into itself as often as there is room.
#[test]
fn a_recursion_is_not_copied_into_itself() {
    let mut jit = Jit::with_options(&INTERPRETER, options(u32::MAX));
    for rounds in 0..2000 {
        run(&mut jit, RECURSIVE, rounds % 20, 0);
    }
    let stats = jit.stats();
    assert!(known(&jit) > 0 && stats.emitted < 200, "{stats:?}");
}

#[hueshift::interpreter]
mod sites {
    use hueshift::prelude::*;

    fn step(k: i64, mut x: i64, cells: &mut [i64; 4]) -> i64 {
        x = x * (2 * k + 3) + (cells[(k & 3) as usize] ^ k);
        x = x * (2 * k + 5) + (cells[((k + 1) & 3) as usize] ^ (k + 1));
        cells[((k >> 2) & 3) as usize] += x & 7;
        x
    }

    /// A loop that all sites share, and that promotes what each hands over another one of.
    #[portal(greens(most), reds(op, times, x, cells))]
    pub fn each(most: i64, op: i64, mut times: i64, mut x: i64, cells: &mut [i64; 4]) -> i64 {
        loop {
            merge_point!();
            if times <= 0 {
                return x;
            }
            times -= 1;
            x = step(promote(op), x, cells) & most;
            if x & 64 == 0 {
                cells[1] += 1;
            } else {
                x += 5;
            }
            can_enter_jit!();
        }
    }

    /// Goes by so many sites in each round.
    #[portal(greens(sites, most), reds(rounds, x, cells))]
    pub fn all(sites: i64, most: i64, mut rounds: i64, mut x: i64, cells: &mut [i64; 4]) -> i64 {
        loop {
            merge_point!();
            if rounds <= 0 {
                return x;
            }
            rounds -= 1;
            let mut site = concrete(sites);
            while site > 0 {
                site -= 1;
                x = each(most, site, 3 + (x & 1), x, cells);
            }
            can_enter_jit!();
        }
    }
}

fn all_sites(options: JitOptions) -> Jit<'static> {
    let mut jit = Jit::with_options(&sites::INTERPRETER, options);
    let (count, most, rounds) = (10, 0xff_ffff, 400);
    let (mut cells, mut wanted_cells) = ([1, 2, 3, 4], [1, 2, 3, 4]);
    let wanted = sites::interp::all(count, most, rounds, 1, &mut wanted_cells).expect("no trap");
    let got = sites::jit::all(&mut jit, count, most, rounds, 1, &mut cells).expect("no trap");
    assert_eq!((got, cells), (wanted, wanted_cells));
    jit
}

/// The values that others promote are no values of this caller: code for all of them at each site would be quadratic.
#[test]
fn values_of_other_callers_say_nothing() {
    let mut with = all_sites(options(1000));
    let mut without = all_sites(options(0));
    assert!(known(&with) > 2, "{}", known(&with));
    let (with, without) = (with.stats(), without.stats());
    assert!(2 * with.emitted <= 3 * without.emitted, "{} ops, not {}", with.emitted, without.emitted);
}

/// A row of loops: behind each the next one is known, but what is made at once there has soon cost too much for what
/// comes of it.
#[test]
fn a_row_of_loops_is_not_followed_for_ever() {
    const LOOPS: usize = 200;
    let row = (0..LOOPS)
        .flat_map(|_| [Node::Set { to: 1, value: 20 }, Node::Repeat { at: 1, first: 2 * LOOPS, end: 2 * LOOPS + 100 }]);
    let body = (0..100).map(|node| Node::Odd { at: 1, to: 2 + node % 4 });
    let nodes: &'static [Node] = row.chain(body).collect::<Vec<_>>().leak();
    // No time has a say.
    let options = JitOptions { warm_up: Duration::ZERO, ..options(u32::MAX) };
    let mut jit = Jit::with_options(&INTERPRETER, options);
    let (mut got, mut wanted) = ([50, 0, 0, 0, 0, 1], [50, 0, 0, 0, 0, 1]);
    tree::interp::repeat(nodes, 0, 0, 2 * LOOPS, &mut wanted).expect("no trap");
    tree::jit::repeat(&mut jit, nodes, 0, 0, 2 * LOOPS, &mut got).expect("no trap");
    assert_eq!(got, wanted);
    let (stats, known) = (jit.stats(), known(&jit));
    assert!(known >= 2, "only {known} of the loops were entered with what is known");
    assert!(stats.steps < 800_000, "{known} loops have cost {} steps", stats.steps);
}
