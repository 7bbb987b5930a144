//! What traces have seen of a guest program: which ways they have taken at splits, and which loops they were around.
//!
//! It is kept by *place*: where the frames stand, and their greens. It is kept once more for where they stand from the
//! innermost portal's on, from wherever that was called: an interpreter that walks a tree calls its portal for each
//! loop of the guest, and a loop inside of two others has other frames below it when it is traced by itself, in the
//! inner one, and in the outer one. It is the same loop, and takes the same ways. (A portal that calls itself with the
//! same greens isn't copied into itself, so what is known doesn't go on for ever.)
//!
//! Where many ways are taken, as where a value is promoted that each caller has another one of, those of other callers
//! say nothing.

use crate::specialize::chaos::Choice;
use crate::specialize::engine::Engine;
use crate::specialize::state::{Reg, State};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Where a path goes on behind a split: 1 or 0 for the sides of a branch, a switch's case or a promotion's value;
/// nothing for a switch's default.
pub(crate) type Way = Option<i64>;

/// The ways that have been seen at one place.
pub(crate) type Ways = SmallVec<[Way; 2]>;

/// So many are remembered at one place; the rest are exits.
const MOST_WAYS: usize = 1024;

/// As many ways may be taken over from where a portal was called by others.
const FEW_WAYS: usize = 2;

/// A place, as a hash. Places that share one share what is known of them: then a region has a side that isn't taken
/// there.
type Place = u64;

/// What traces have seen.
#[derive(Debug, Default)]
pub struct Profile {
    /// The ways that they have taken at splits.
    ways: FxHashMap<Place, Ways>,
    /// The merge points that they have made versions of.
    loops: FxHashSet<Place>,
}

impl Engine<'_> {
    /// Remembers which way a trace takes at the split that it stands at.
    pub(crate) fn record(&mut self, st: &State, way: Way) {
        self.tracing.decisions.push(way);
        for place in [self.place(st), self.place_in_portal(st)] {
            let ways = self.tracing.profile.ways.entry(place).or_default();
            if ways.len() < MOST_WAYS && !ways.contains(&way) {
                ways.push(way);
            }
        }
    }

    /// The ways that traces have taken at a split: with these frames, and if they are few, with others below the
    /// portal's.
    pub(crate) fn ways(&mut self, st: &State) -> Ways {
        let known = &self.tracing.profile.ways;
        let mut ways = known.get(&self.place(st)).cloned().unwrap_or_default();
        let elsewhere = known.get(&self.place_in_portal(st)).filter(|ways| ways.len() <= FEW_WAYS);
        for way in elsewhere.into_iter().flatten() {
            if !ways.contains(way) {
                ways.push(*way);
            }
        }
        ways.retain(|_| !self.flips(Choice::Way));
        ways
    }

    /// Remembers that a trace makes a version of the merge point that it stands at.
    pub(crate) fn record_loop(&mut self, st: &State) {
        let place = self.place_in_portal(st);
        self.tracing.profile.loops.insert(place);
    }

    /// Whether traces have made versions of a merge point in a portal that others have called, too, from wherever they
    /// called it.
    pub(crate) fn knows_loop(&self, st: &State) -> bool {
        self.innermost_portal(st).is_some_and(|first| first > 0)
            && self.tracing.profile.loops.contains(&self.place_in_portal(st))
    }

    /// The place at which all frames stand.
    fn place(&self, st: &State) -> Place {
        self.place_from(st, 0, FxHasher::default())
    }

    /// That at which the frames stand from the innermost portal's on.
    fn place_in_portal(&self, st: &State) -> Place {
        let mut hasher = FxHasher::default();
        true.hash(&mut hasher);
        self.place_from(st, self.innermost_portal(st).unwrap_or(0), hasher)
    }

    fn place_from(&self, st: &State, first: usize, mut hasher: FxHasher) -> Place {
        let last = st.frames.len() - 1;
        for (at, frame) in st.frames.iter().enumerate().skip(first) {
            (frame.graph, frame.block, frame.index).hash(&mut hasher);
            let (live, _) = self.live_registers(frame, at == last);
            for value in live {
                if let Some(Reg::Green(constant)) = frame.regs.get(*value) {
                    (value, constant).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    fn innermost_portal(&self, st: &State) -> Option<usize> {
        st.frames.iter().rposition(|frame| self.program.graph(frame.graph).attributes.portal.is_some())
    }
}
