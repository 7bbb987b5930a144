//! What traces have seen of a guest program: which ways they have taken at splits, and which loops they were around.
//!
//! It is kept by *place*: where the frames stand from the innermost portal's on, and their greens. From where the
//! portal was called makes no difference: an interpreter that walks a tree calls its portal for each loop of the guest,
//! and a loop inside of two others has other frames below it when it is traced by itself, in the inner one, and in the
//! outer one. It is the same loop, and takes the same ways. (A portal that calls itself with the same greens isn't
//! copied into itself, so what is known doesn't go on for ever.)

use crate::specialize::chaos::Choice;
use crate::specialize::engine::Engine;
use crate::specialize::state::{Frame, Reg, State};
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
        let place = self.place(st);
        let ways = self.tracing.profile.ways.entry(place).or_default();
        if ways.len() < MOST_WAYS && !ways.contains(&way) {
            ways.push(way);
        }
    }

    /// The ways that traces have taken at a split.
    pub(crate) fn ways(&mut self, st: &State) -> Ways {
        let mut ways = self.tracing.profile.ways.get(&self.place(st)).cloned().unwrap_or_default();
        ways.retain(|_| !self.flips(Choice::Way));
        ways
    }

    /// Remembers that a trace makes a version of the merge point that it stands at.
    pub(crate) fn record_loop(&mut self, st: &State) {
        let place = self.place(st);
        self.tracing.profile.loops.insert(place);
    }

    /// Whether traces have made versions of a merge point in a portal that others have called, too, from wherever they
    /// called it.
    pub(crate) fn knows_loop(&self, st: &State) -> bool {
        self.first_frame_of_place(st) > 0 && self.tracing.profile.loops.contains(&self.place(st))
    }

    fn place(&self, st: &State) -> Place {
        let mut hasher = FxHasher::default();
        let last = st.frames.len() - 1;
        for (at, frame) in st.frames.iter().enumerate().skip(self.first_frame_of_place(st)) {
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

    /// The innermost portal's frame, or the first one.
    fn first_frame_of_place(&self, st: &State) -> usize {
        let is_portal = |frame: &Frame| self.program.graph(frame.graph).attributes.portal.is_some();
        st.frames.iter().rposition(is_portal).unwrap_or(0)
    }
}
