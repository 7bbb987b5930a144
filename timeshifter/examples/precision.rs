//! How tight the transfers are, as a Markdown table: `cargo run --release -p timeshifter --example precision > docs/precision.md`.

#[path = "../tests/bounds/sets.rs"]
mod sets;

use flowgraph::ir::Opcode;
use sets::*;
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
    fn see<const W: u32>(&mut self, exact: Set, found: Bound<W>) {
        let best = best::<W>(exact).map_or(0, set);
        let excess = (set(found) & !best).count_ones();
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

fn unary<const W: u32>(op: Opcode, all: &[Bound<W>]) -> Count {
    let mut count = Count::default();
    for a in all {
        let results = integers::<W>().filter(|x| a.contains(*x)).map(|x| singleton::<W>(compute::<W>(op, x, 0)[0]));
        count.see(results.fold(0, |all, r| all | r), Bound::transfer(op, &[*a])[0]);
    }
    count
}

fn binary<const W: u32>(op: Opcode, result: usize, spaces: &[&Space<W>]) -> Count {
    let mut count = Count::default();
    for space in spaces {
        let images = space.images(op, result, false);
        for (a, a_set) in space.bounds.iter().zip(&space.sets) {
            for (i, b) in space.bounds.iter().enumerate() {
                let exact = places(*a_set).fold(0, |all, x| all | images[x][i]);
                count.see(exact, Bound::transfer(op, &[*a, *b])[result]);
            }
        }
    }
    count
}

/// Bounds by a constant second operand, and the other way round.
fn by_constants<const W: u32>(op: Opcode, space: &Space<W>) -> Count {
    let mut count = Count::default();
    for a in &space.bounds {
        for c in integers::<W>() {
            let results = integers::<W>().filter(|x| a.contains(*x)).map(|x| singleton::<W>(compute::<W>(op, x, c)[0]));
            count.see(results.fold(0, |all, r| all | r), Bound::transfer(op, &[*a, Bound::constant(c)])[0]);
        }
    }
    count
}

fn main() {
    let four = Space::new(all_bounds::<4>());
    let all_six = all_bounds::<6>();
    let mut dice = Dice(66);
    let sample = (0..700).map(|_| all_six[dice.below(all_six.len())]).collect();
    let bits = Space::new(all_bits::<6>());
    let ranges = Space::new(all_ranges::<6>().into_iter().step_by(5).collect());
    let mixed = Space::new(sample);
    let constants = Space::new(all_six.iter().step_by(5).copied().collect());

    println!("# How tight the transfers of `IntBound` are\n");
    println!(
        "For each op: the share of arguments for which the result is the tightest bound there is (%), how many numbers"
    );
    println!(
        "it holds beyond those of the tightest one (on average, at most), and how many that one holds on average.\n"
    );
    println!(
        "At 4 bits over all {} bounds (pairs of them); at 6 bits over all pairs of the {} known bits, the",
        four.bounds.len(),
        bits.bounds.len()
    );
    println!(
        "{} ranges of a grid, and {} of all {} bounds (ops on one integer: all); constants as second",
        ranges.bounds.len(),
        mixed.bounds.len(),
        all_six.len()
    );
    println!("operand with every fifth bound. Made by `cargo run --release -p timeshifter --example precision`.\n");
    println!(
        "| op | 4 bits: best % | excess | most | of | 6 bits: best % | excess | most | of | by constants: best % | excess | most | of |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for op in UNARY.into_iter().filter(|op| *op != Opcode::Promote) {
        println!("| `{}` | {} | {} | | | | |", op.name(), unary(op, &four.bounds).cells(), unary(op, &all_six).cells());
    }
    for op in BINARY {
        for result in 0..op.results().len() {
            let name = if op.results().len() == 1 { "" } else { [": value", ": flag"][result] };
            let small = binary(op, result, &[&four]);
            let large = binary(op, result, &[&bits, &ranges, &mixed]);
            let last = if result == 0 { by_constants(op, &constants).cells() } else { "| | |".into() };
            println!("| `{}`{name} | {} | {} | {last} |", op.name(), small.cells(), large.cells());
        }
    }
}
