//! The driver over many runs: what it takes it gives back; and what a question to the compiler gives in its code.

use flowgraph::ir::Word;
use hueshift::{Jit, JitOptions, abort_everywhere, force_every_guard};
use hueshift_tests::Switches;
use hueshift_tests::pipeline::Pipeline;

/// Everything that takes memory: a local that is forced, calls that trap, loops over reds, promotions.
const SOURCE: &str = "
use hueshift::prelude::*;

#[dont_look_inside]
fn fill(into: &mut [i64; 4], x: i64) {
    into[(x & 3) as usize] = x;
}

pub fn run(cells: &mut [i64], n: i64) -> i64 {
    let mut local = [0; 4];
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        can_enter_jit!();
        let step = promote(n & 1) + 1;
        fill(&mut local, n);
        if n % 3 == 0 {
            cells[(n % 5) as usize] += local[(n & 3) as usize];
        }
        sum += local[(step & 3) as usize];
        n -= step;
    }
    sum
}
";

/// Two thousand drivers over one memory, one after the other, each stopped, disturbed or neither; and one that runs often.
#[test]
fn drivers_give_their_memory_back() {
    let pipeline = Pipeline::new("run.rs", SOURCE, "run", &[]).expect("a source of the dialect");
    // With four cells a run can end in a trap, too.
    for cells in ["[0; 5]", "[0; 4]"] {
        let mut prepared = pipeline.prepare(&format!("{cells}, 25")).expect("arguments that fit");
        let words: Vec<Word> = prepared.placed.words();
        let args = prepared.compiler.arguments(&prepared.arguments, &prepared.placed);
        let regions = prepared.memory.regions();
        let mut ends = Vec::new();
        for turn in 0..1000 {
            let options = JitOptions {
                abort_at: (turn % 3 == 0).then_some(turn % 97),
                force_guard: (turn % 3 == 1).then_some(turn as u32 % 23),
                ..Switches::default().options()
            };
            prepared.arguments.refresh(&prepared.placed, &mut prepared.memory);
            let mut jit = Jit::new(&prepared.compiler, &mut prepared.memory, options).expect("a driver");
            let with_slots = jit.memory().regions();
            ends.push(jit.trace(&args, &words).expect("a run"));
            for _ in 0..if turn == 0 { 50 } else { 1 } {
                jit.run(&words).expect("a run");
                assert_eq!(jit.memory().regions(), with_slots, "turn {turn}");
            }
            drop(jit);
            assert_eq!(prepared.memory.regions(), regions, "turn {turn}");
        }
        assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    }
}

/// `we_are_jitted()` is true in all that the compiler looks into, inlined, called or interpreted behind an exit, and
/// nowhere else.
#[test]
fn jitted_is_what_is_looked_into() {
    const ASKING: &str = "
use hueshift::prelude::*;

fn ask(x: i64) -> i64 {
    if we_are_jitted() { x } else { 1_000_000 }
}

fn ask_in_a_loop(x: i64) -> i64 {
    let mut i = 0;
    let mut sum = 0;
    while i < x {
        sum += ask(i);
        i += 1;
    }
    sum
}

#[dont_look_inside]
fn ask_outside(x: i64) -> i64 {
    ask(x)
}

pub fn run(asked: &mut i64, n: i64) -> i64 {
    let mut n = n;
    let mut sum = 0;
    while n > 0 {
        merge_point!();
        if n % 3 == 0 {
            *asked += ask_outside(n);
        }
        sum += if n % 4 == 0 { ask(n) } else { ask_in_a_loop(n) };
        n -= 1;
    }
    sum
}
";
    let pipeline = Pipeline::new("asking.rs", ASKING, "run", &[]).expect("a source of the dialect");
    let args = "0, 12";
    let inside: i64 = (1..=12).map(|n| if n % 4 == 0 { n } else { n * (n - 1) / 2 }).sum();
    let ran = hueshift::interpret(&mut pipeline.compiler.clone(), args).expect("a run");
    assert_eq!(ran.ending, hueshift::Ending::Returned(inside.to_string()));
    assert_eq!(ran.after.values().collect::<Vec<_>>(), ["4000000"]);
    let eager =
        hueshift::spec(&mut pipeline.compiler.clone(), args, hueshift::Policy::Eager, &Switches::default().options());
    assert_eq!(eager.expect("a run").ran, ran);
    let aborts =
        abort_everywhere(&pipeline.compiler, args, &Switches::default().options()).expect("an undisturbed run");
    let guards =
        force_every_guard(&pipeline.compiler, args, &Switches::default().options(), None).expect("an undisturbed run");
    assert_eq!(aborts.wrong, [""; 0]);
    assert_eq!(guards.wrong, [""; 0]);
    assert!(guards.is_complete() && guards.guards[0] > 3, "{guards:?}");
}
