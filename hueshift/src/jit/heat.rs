//! How often the interpreter behind exits comes by where no code can be entered: what is hot there is compiled.
//!
//! A place counts where the guest has jumped back to it, and where a portal is called. That is what the language says;
//! a guest may go round by something else, calls that its interpreter carries out, say. So behind very many merge
//! points in a row without either, each one counts.
//!
//! Where a green counts on, every round is another place. So no more is remembered than has room, places that nobody
//! comes back to are counted ever less, and a loop that has been traced inside of functions with other greens each time
//! must be ever hotter.

use flowgraph::eval;
use flowgraph::ir::Const;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// Where the interpreter stands: for each frame its place.
pub(super) type Position = Vec<Place>;

/// A place in a function: graph, block, op and greens.
type Place = (usize, usize, usize, Vec<Const>);

/// The same without greens.
type Bare = (usize, usize, usize);

/// After this many merge points in a row that don't count, each one does.
const PASSING: u32 = 10_000;

/// The most places that are counted at a time.
const PLACES: usize = 10_000;

/// Of arrivals without a jump back at least one in this many is counted.
const SKIPPED: u32 = 64;

/// When so many traces have begun at one place, inside of functions that have other greens each time, the next ones
/// must be twice as hot.
const TRACES: u32 = 8;

/// The same where also the greens of the innermost function are others each time, unless code that there is is entered
/// there as often.
const TRACES_IN_VAIN: u32 = 64;

/// Where more than one in so many traces and functions that were thrown away had been made before, places and calls must
/// be hotter, and where fewer than one in so many had, less hot again.
const MUCH_AGAIN: usize = 2;
const LITTLE_AGAIN: usize = 16;

/// So often thresholds are doubled at the most.
const MOST_DOUBLED: u32 = 20;

/// Arrivals of the interpreter at merge points.
#[derive(Default)]
pub(super) struct Heat {
    counts: FxHashMap<Position, u32>,
    /// How many traces have begun at a place in the innermost of several functions.
    traces: FxHashMap<Place, u32>,
    /// The same without greens, but for how often code was entered there.
    in_vain: FxHashMap<Bare, u32>,
    /// How many merge points in a row didn't count.
    passed: u32,
    /// Of arrivals without a jump back so many are skipped, and how many have been since one was counted.
    skipped: (u32, u32),
    /// Where traces have begun, and of what functions were made.
    begun: Begun,
    /// So many times thresholds have been doubled, since code is thrown away that is needed again.
    doubled: u32,
}

/// Where traces have begun, as hashes of positions, and what functions have been made of.
#[derive(Default)]
struct Begun {
    /// Since code was thrown away last, and before.
    latest: FxHashSet<u64>,
    before: FxHashSet<u64>,
}

impl Heat {
    /// The interpreter has come to a merge point: behind a jump back of the guest, or because a portal has been called.
    /// Gives whether that counts.
    pub fn comes_by(&mut self, jumped: bool, called: bool) -> bool {
        self.passed = if jumped || called { 0 } else { self.passed.saturating_add(1) };
        let (of, skipped) = &mut self.skipped;
        if jumped || !called && self.passed < PASSING {
            return jumped;
        }
        *skipped = if *skipped < *of { *skipped + 1 } else { 0 };
        *skipped == 0
    }

    /// It has come to a place that counts once more. Gives how often it has, as far as that is remembered.
    pub fn count(&mut self, position: &Position) -> u32 {
        if let Some(count) = self.counts.get_mut(position) {
            *count = count.saturating_add(1);
            return *count;
        }
        if self.counts.len() >= PLACES {
            self.counts.retain(|_, count| {
                *count /= 2;
                *count > 0
            });
            if self.counts.len() > PLACES / 2 {
                self.counts.clear();
            }
            self.skipped.0 = (2 * self.skipped.0 + 1).min(SKIPPED - 1);
        }
        self.counts.insert(position.clone(), 1);
        1
    }

    /// How hot a place must be, where `threshold` is enough as a rule.
    pub fn threshold(&self, position: &[Place], threshold: u32) -> u32 {
        let traces = innermost(position).and_then(|place| self.traces.get(place)).copied().unwrap_or_default();
        let in_vain = innermost(position).and_then(|place| self.in_vain.get(&bare(place))).copied().unwrap_or_default();
        times_doubled(threshold, traces / TRACES + in_vain / TRACES_IN_VAIN + self.doubled)
    }

    /// How often a portal must have been called, where so often is enough as a rule.
    pub fn threshold_of_calls(&self, threshold: u32) -> u32 {
        times_doubled(threshold, self.doubled)
    }

    /// A function is made, of what has this hash.
    pub fn made_function(&mut self, hash: u64) {
        self.begun.latest.insert(hash);
    }

    /// Code can be entered where a run stands. What it has passed since the exit that it left by is a bridge's business.
    /// And a trace that began there, inside of other functions, was not in vain.
    pub fn enters(&mut self, frames: &[eval::Frame]) {
        self.passed = 0;
        if let [_, .., frame] = frames
            && let Some(in_vain) = self.in_vain.get_mut(&(frame.graph, frame.block, frame.index))
        {
            *in_vain = in_vain.saturating_sub(1);
        }
    }

    /// A trace begins there.
    pub fn traced(&mut self, position: &[Place]) {
        self.begun.latest.insert(FxBuildHasher.hash_one(position));
        if let Some(place) = innermost(position) {
            if self.traces.len() >= PLACES {
                self.traces.clear();
            }
            *self.traces.entry(place.clone()).or_default() += 1;
            *self.in_vain.entry(bare(place)).or_default() += 1;
        }
    }

    /// All code has been thrown away. Where it is so again and again for what had been there before, or there was only
    /// `little`, places must be hotter from now on.
    pub fn start_over(&mut self, little: bool) {
        let Begun { latest, before } = &mut self.begun;
        let again = latest.intersection(before).count();
        if little || MUCH_AGAIN * again > latest.len() {
            self.doubled = (self.doubled + 1).min(MOST_DOUBLED);
        } else if LITTLE_AGAIN * again < latest.len() {
            self.doubled = self.doubled.saturating_sub(1);
        }
        if before.len() >= PLACES {
            before.clear();
        }
        before.extend(latest.drain());
        self.counts.clear();
        self.traces.clear();
        self.in_vain.clear();
    }
}

fn times_doubled(threshold: u32, times: u32) -> u32 {
    threshold.max(1).saturating_mul(1 << times.min(MOST_DOUBLED))
}

/// The place in the innermost function, inside of others.
fn innermost(position: &[Place]) -> Option<&Place> {
    position.last().filter(|_| position.len() > 1)
}

fn bare((graph, block, index, _): &Place) -> Bare {
    (*graph, *block, *index)
}

/// Whether a place is worth a trace that has been come to so often: if it is come to again nevertheless, as what is
/// known there fits no version, then again, each time after twice as many.
pub(super) fn is_due(count: u32, threshold: u32) -> bool {
    count.is_multiple_of(threshold) && (count / threshold).is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(outer: i64, inner: i64) -> Position {
        vec![(0, 1, 0, vec![Const::Int(outer)]), (1, 2, 0, vec![Const::Int(inner)])]
    }

    #[test]
    fn places_that_never_come_again_are_forgotten_and_skipped() {
        let mut heat = Heat::default();
        assert!(heat.comes_by(false, true) && heat.comes_by(true, false) && !heat.comes_by(false, false));
        for outer in 0..100_000 {
            assert_eq!(heat.count(&position(outer, 0)), 1);
            assert!(heat.counts.len() <= PLACES);
        }
        let counted = (0..6400).filter(|_| heat.comes_by(false, true)).count();
        assert_eq!(counted, 100);
        assert!(heat.comes_by(true, false));
        // What is come to often stays.
        (1..100).for_each(|times| assert_eq!(heat.count(&position(-1, 0)), times));
        (0..PLACES as i64).for_each(|outer| _ = heat.count(&position(outer, 1)));
        assert!(heat.count(&position(-1, 0)) > 40);
    }

    #[test]
    fn what_is_passed_for_long_counts() {
        let mut heat = Heat::default();
        assert_eq!((0..2 * PASSING).filter(|_| heat.comes_by(false, false)).count() as u32, PASSING + 1);
        assert!(heat.comes_by(true, false) && !heat.comes_by(false, false));
    }

    #[test]
    fn what_is_passed_on_the_way_to_code_does_not_count() {
        let mut heat = Heat::default();
        for _ in 0..10 {
            assert!((0..PASSING / 2).all(|_| !heat.comes_by(false, false)));
            heat.enters(&[]);
        }
    }

    #[test]
    fn the_same_loop_in_ever_new_surroundings_must_be_ever_hotter() {
        let mut heat = Heat::default();
        for outer in 0..TRACES as i64 {
            assert_eq!(heat.threshold(&position(outer, 0), 2), 2);
            heat.traced(&position(outer, 0));
        }
        assert_eq!((heat.threshold(&position(100, 0), 2), heat.threshold(&position(100, 1), 2)), (4, 2));
        for inner in 1..=i64::from(TRACES_IN_VAIN) {
            heat.traced(&position(0, inner));
        }
        assert_eq!(heat.threshold(&position(0, -1), 2), 4);
        let frame = |graph, block| eval::Frame { graph, block, ..eval::Frame::default() };
        (0..=TRACES).for_each(|_| heat.enters(&[frame(0, 1), frame(1, 2)]));
        assert_eq!(heat.threshold(&position(0, -1), 2), 2);
        let alone = &position(0, 0)[..1];
        (0..100).for_each(|_| heat.traced(alone));
        assert_eq!(heat.threshold(alone, 0), 1);
    }
}
