//! How tight the transfers are, as a Markdown table: `cargo run --release -p timeshifter --example precision >
//! docs/precision.md`.
//!
//! Each op is tried on all bounds of four bits and of six, pairs of them where it has two operands, and the program
//! ends with a panic if a result isn't in the bound.

#[path = "../tests/bounds/sets.rs"]
mod sets;

use flowgraph::ir::Opcode;
use sets::*;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::thread;
use timeshifter::optimize::int_bound::Bound;

#[derive(Default)]
struct Count {
    all: usize,
    best: usize,
    excess: usize,
    most: u32,
    members: usize,
}

impl Count {
    fn see(&mut self, best: Set, found: Set) {
        let excess = (found & !best).count_ones();
        self.all += 1;
        self.best += usize::from(excess == 0);
        self.excess += excess as usize;
        self.most = self.most.max(excess);
        self.members += best.count_ones() as usize;
    }

    fn cells(&self) -> String {
        let percent = 100.0 * self.best as f64 / self.all as f64;
        // Never rounded up to all.
        let percent = if self.best == self.all { "100".into() } else { format!("{:.2}", percent.min(99.99)) };
        let (excess, members) = (self.excess as f64 / self.all as f64, self.members as f64 / self.all as f64);
        format!("{percent} | {excess:.3} | {} | {members:.2}", self.most)
    }
}

/// The sets of ranges and known bits, without going through the integers: there are thousands of millions to make.
struct Sets<const W: u32> {
    /// By bit, from the lowest: the integers that have it.
    with: Vec<Set>,
    all: Set,
}

impl<const W: u32> Sets<W> {
    fn new() -> Self {
        let with = |bit: u32| integers::<W>().filter(|x| x >> bit & 1 == 1).map(singleton::<W>).sum();
        Sets { with: (0..W).map(with).collect(), all: integers::<W>().map(singleton::<W>).sum() }
    }

    /// All from one place to another.
    fn between(&self, first: u32, last: u32) -> Set {
        self.all & (u64::MAX << first) & (u64::MAX >> (63 - last))
    }

    /// What the tightest bound of a set stands for, which isn't empty.
    fn best(&self, exact: Set) -> Set {
        let range = self.between(exact.trailing_zeros(), 63 - exact.leading_zeros());
        self.with.iter().fold(range, |best, with| match (exact & with, exact & !with) {
            (0, _) => best & !with,
            (_, 0) => best & with,
            _ => best,
        })
    }

    /// What a bound stands for.
    fn of(&self, bound: Bound<W>) -> Set {
        let place = |value: i64| (value - Bound::<W>::MIN) as u32;
        let range = self.between(place(bound.lower()), place(bound.upper()));
        self.with.iter().enumerate().fold(range, |set, (bit, with)| {
            match (bound.zeros() >> bit & 1, bound.ones() >> bit & 1) {
                (1, _) => set & !with,
                (_, 1) => set & with,
                _ => set,
            }
        })
    }
}

fn unary<const W: u32>(op: Opcode, all: &[Bound<W>], sets: &Sets<W>) -> Count {
    let mut count = Count::default();
    for a in all {
        let results = integers::<W>().filter(|x| a.contains(*x)).map(|x| singleton::<W>(compute::<W>(op, x, 0)[0]));
        let (exact, found) = (results.fold(0, |all, r| all | r), sets.of(Bound::transfer(op, &[*a])[0]));
        assert_eq!(exact & !found, 0, "{op:?} of {a}");
        count.see(sets.best(exact), found);
    }
    count
}

/// All pairs of bounds, and those among them whose second one is a constant.
fn binary<const W: u32>(op: Opcode, result: usize, space: &Space<W>, sets: &Sets<W>) -> (Count, Count) {
    let (mut count, mut by_constants) = (Count::default(), Count::default());
    let images = space.images(op, result, false);
    let mut exact = vec![0; space.bounds.len()];
    for (a, a_set) in space.bounds.iter().zip(&space.sets) {
        exact.fill(0);
        for x in places(*a_set) {
            exact.iter_mut().zip(&images[x]).for_each(|(exact, image)| *exact |= image);
        }
        for (b, exact) in space.bounds.iter().zip(&exact) {
            let found = sets.of(Bound::transfer(op, &[*a, *b])[result]);
            assert_eq!(exact & !found, 0, "{op:?} of {a} and {b}");
            let best = sets.best(*exact);
            count.see(best, found);
            if b.get_constant_int().is_some() {
                by_constants.see(best, found);
            }
        }
    }
    (count, by_constants)
}

fn main() {
    let (four, six) = (Space::new(all_bounds::<4>()), Space::new(all_bounds::<6>()));
    let (four_sets, six_sets) = (Sets::new(), Sets::new());
    let pairs: Vec<(Opcode, usize)> =
        BINARY.into_iter().flat_map(|op| (0..op.results().len()).map(move |result| (op, result))).collect();
    // The last one first: a thread takes what none has taken yet.
    let left = Mutex::new((0..pairs.len()).rev().collect::<Vec<usize>>());
    let rows = Mutex::new(vec![String::new(); pairs.len()]);
    let work = || {
        loop {
            let Some(number) = left.lock().ok().and_then(|mut left| left.pop()) else { return };
            let (op, result) = pairs[number];
            let name = if op.results().len() == 1 { "" } else { [": value", ": flag"][result] };
            let (small, _) = binary(op, result, &four, &four_sets);
            let (large, by_constants) = binary(op, result, &six, &six_sets);
            let last = if result == 0 { by_constants.cells() } else { "| | |".into() };
            let row = format!("| `{}`{name} | {} | {} | {last} |", op.name(), small.cells(), large.cells());
            if std::io::stderr().is_terminal() {
                eprintln!("{} of {}: {}{name}", number + 1, pairs.len(), op.name());
            }
            if let Ok(mut rows) = rows.lock() {
                rows[number] = row;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });

    println!("# How tight the transfers of `IntBound` are\n");
    println!(
        "For each op: the share of arguments for which the result is the tightest bound there is (%), how many numbers"
    );
    println!(
        "it holds beyond those of the tightest one (on average, at most), and how many that one holds on average.\n"
    );
    println!(
        "Over all bounds of 4 bits ({}) and of 6 ({}), all pairs of them where an op has two operands. Each result is",
        four.bounds.len(),
        six.bounds.len()
    );
    println!("looked at: the bound holds it. Made by `cargo run --release -p timeshifter --example precision`.\n");
    println!(
        "| op | 4 bits: best % | excess | most | of | 6 bits: best % | excess | most | of | 6 bits, by constants: best % | excess | most | of |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for op in UNARY.into_iter().filter(|op| *op != Opcode::Promote) {
        let (small, large) = (unary(op, &four.bounds, &four_sets), unary(op, &six.bounds, &six_sets));
        println!("| `{}` | {} | {} | | | | |", op.name(), small.cells(), large.cells());
    }
    if let Ok(rows) = rows.into_inner() {
        rows.iter().for_each(|row| println!("{row}"));
    }
}
