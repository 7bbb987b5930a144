//! Runs that tier 0 brings to a portal's merge point, and that go back there (the resume contract, section 1).

use super::{Jit, JitError, JitOptions, Next, Policy};
use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::Word;
use jitcodegen::Activation;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use timeshifter::specialize::{Choice, Door, Entrance, Portal, RunRoots};

/// Where a run is that tier 0 has brought to a merge point.
#[derive(Debug)]
pub enum Arrival {
    /// At the portal's merge point again, with these words in its parameters' leaves: tier 0 goes on from there.
    At(Vec<Word>),
    /// At the merge point of a portal inside of it, which tier 0 is to finish.
    Inside(Inside),
    /// The portal has returned, or trapped.
    Ended(eval::Outcome),
}

/// A run that stands at the merge point of a portal that another one has called. Tier 0 calls that portal, and hands
/// what it returns to [`Jit::go_on_behind`] (the resume contract, section 4). Runs that it doesn't come back to are
/// just dropped.
pub struct Inside {
    function: &'static str,
    words: Vec<Word>,
    /// Those outside of the portal, which stand at calls.
    callers: Vec<eval::Frame>,
    roots: RunRoots,
    slots: Vec<Word>,
    activation: Option<Activation>,
    abandoned: Abandoned,
    left_by: Option<u32>,
}

impl std::fmt::Debug for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside").field("function", &self.function).field("words", &self.words).finish_non_exhaustive()
    }
}

impl Inside {
    /// The function that is to be called.
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// Takes the words of its parameters' leaves.
    pub fn take_words(&mut self) -> Vec<Word> {
        std::mem::take(&mut self.words)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let own = self.callers.iter_mut().flat_map(|frame| frame.slots.drain(..));
        self.abandoned.0.borrow_mut().extend(own.chain(self.slots.drain(..)));
    }
}

/// What there is to know of runs that come from tier 0.
#[derive(Default)]
pub(super) struct FromTier0 {
    /// The portal that they come to, which is no graph there.
    pub portal: Option<Rc<Portal>>,
    /// They can go back.
    pub goes_back: bool,
    /// The portals that tier 0 finishes when runs have come to their merge points inside of this one.
    pub inner_portals: FxHashSet<&'static str>,
    /// How they enter compiled code.
    pub doors: Doors,
    /// Local aggregates of those that it didn't come back to.
    abandoned: Abandoned,
}

/// Local aggregates of runs that have been dropped, to be freed when the memory is at hand.
#[derive(Clone, Default)]
struct Abandoned(Rc<RefCell<Vec<Word>>>);

/// How runs from tier 0 enter compiled code, by their greens: looking for a version takes a hundred times as long.
#[derive(Default)]
pub(super) struct Doors {
    open: FxHashMap<Greens, Opened>,
    /// Where code is under way: until some is finished nobody need look for it.
    shut: FxHashSet<Greens>,
}

type Greens = SmallVec<[Word; 4]>;

/// Code, and the words of its parameters.
type Entering = (Rc<jitcodegen::Entry>, SmallVec<[Word; 8]>);

struct Opened {
    door: Door,
    entry: Rc<jitcodegen::Entry>,
    /// The key whose version it leads to, and how often its versions had become others: with other ones, one of them
    /// may be the better one to enter.
    key: usize,
    changes: u32,
}

impl Doors {
    fn open(&mut self, greens: Greens, opened: Opened) {
        self.open.insert(greens, opened);
    }

    /// Code has been finished: there may be some wherever it was under way.
    pub(super) fn unlock(&mut self) {
        self.shut.clear();
    }

    /// Where a run with these words enters.
    fn enter(&self, greens: &[Word], changes_of: impl Fn(usize) -> u32, words: &[Word]) -> Option<Entering> {
        let Opened { door, entry, key, changes } = self.open.get(greens)?;
        let is_same = changes_of(*key) == *changes;
        let fits = is_same && door.bounds.iter().all(|(leaf, bound)| bound.contains(words[*leaf] as i64));
        fits.then(|| (entry.clone(), door.order.iter().map(|leaf| words[*leaf]).collect()))
    }
}

/// As long as there are so few fragments, runs may be traced again for which there is code.
const FEW: usize = 200;

/// What takes so long pays for what is compiled in the end.
const WARM_UP: Duration = Duration::from_millis(40);

impl JitOptions {
    /// The settings of a JIT whose interpreter is tier 0: compiling takes some 10,000 times as long as a step of the
    /// interpreter, so it is for what comes by often. An exit costs some microseconds, and a bridge about as much as 50
    /// of them. (PyPy's thresholds are 1,039 and 200.)
    pub fn just_in_time() -> JitOptions {
        JitOptions {
            threshold: 1000,
            bridge: 50,
            region: 2000,
            background: true,
            warm_up: WARM_UP,
            ..JitOptions::default()
        }
    }
}

impl Jit<'_> {
    /// Runs that come to merge points of these portals inside of this driver's go back to tier 0 with them.
    pub fn finishes_inner_portals(&mut self, functions: impl IntoIterator<Item = &'static str>) {
        self.tier0.inner_portals.extend(functions);
    }

    /// Goes on with a run of the portal that this driver was made for, which stands at its merge point with `words` in
    /// its parameters' leaves: in compiled code if there is some for its greens, else by tracing. Gives nothing where
    /// neither can be.
    ///
    /// # Errors
    /// See [`JitError`]. The run can't go on then.
    pub fn at_merge_point(&mut self, words: &[Word]) -> Result<Option<Arrival>, JitError> {
        self.free_abandoned();
        self.install_finished(false)?;
        if self.engine.flips(Choice::Arrive) {
            return Ok(None);
        }
        // Each run has local aggregates of its own: where there are too many inside of each other, tier 0 goes on.
        let Some(activation) = self.code.engine.activation() else {
            self.turned_away();
            return Ok(None);
        };
        let portal = match self.tier0.portal.clone() {
            Some(portal) => portal,
            None => {
                (self.policy, self.tier0.goes_back) = (Policy::Tracing, true);
                self.engine.settings.limits_stop_traces = true;
                let portal = Rc::new(self.engine.portal(&self.key.clone())?);
                self.tier0.portal.insert(portal).clone()
            }
        };
        let words = self.engine.with_fields(&portal, words).map_err(JitError::from);
        let words = self.noted(words)?;
        self.unit = Some(portal.unit);
        self.stats.arrived += 1;
        let greens = portal.greens(&words);
        if let Some((entry, words)) = self.through_door(&portal, &greens, &words) {
            return self.run_in(&entry, &words, activation).map(Some);
        }
        let next = self.arrive(&portal, greens, &words);
        if !matches!(next, Ok(Some(_))) {
            self.engine.memory.open_foreign(false); // tier 0 goes on, and no run
        }
        self.noted(next)?.map(|next| self.go_on_to(next, Some(activation))).transpose()
    }

    /// Where a run with these greens and words enters, if others have entered there.
    fn through_door(&mut self, portal: &Portal, greens: &[Word], words: &[Word]) -> Option<Entering> {
        if self.engine.flips(Choice::Door) {
            return None;
        }
        let entering = self.tier0.doors.enter(greens, |key| self.engine.changes_of(key), words)?;
        self.stats.entered += 1;
        self.engine.begin_portal_run(portal, words);
        self.engine.memory.open_foreign(true);
        Some(entering)
    }

    /// Where a run goes on that stands at the portal's merge point, and finds no door.
    fn arrive(&mut self, portal: &Portal, greens: Greens, words: &[Word]) -> Result<Option<Next>, JitError> {
        if self.tier0.doors.shut.contains(&greens) && self.code.is_busy() {
            return Ok(None);
        }
        let frames = [self.engine.arrive(portal, words)?];
        self.engine.memory.open_foreign(true);
        let again = self.engine.fragments.len() < FEW && self.engine.flips(Choice::Retrace);
        let found = if again { None } else { self.engine.find_entry(&frames)? };
        let Some(Entrance { version, fragment, words }) = found else {
            return self.trace_frames(&frames, None);
        };
        self.compile_new(&fragment)?;
        if !self.code.is_ready(&fragment) {
            self.tier0.doors.shut.insert(greens);
            return Ok(None);
        }
        if let Some(door) = self.engine.door(portal, &frames[0], version) {
            let entry = Rc::new(self.code.engine.entry(&fragment)?);
            let (key, changes) = (version.key, self.engine.changes_of(version.key));
            self.tier0.doors.open(greens, Opened { door, entry, key, changes });
        }
        Ok(Some(Next::Code(fragment, words)))
    }

    /// A run that has come to the merge point of a portal that `frames` are inside of.
    pub(super) fn inside(
        &mut self,
        mut frames: Vec<eval::Frame>,
        function: &'static str,
        words: Vec<Word>,
        activation: Option<Activation>,
    ) -> Inside {
        let mut slots = frames.pop().map(|inner| inner.slots).unwrap_or_default();
        slots.append(&mut self.left_slots);
        slots.append(&mut self.engine.traced_slots);
        self.stats.finished += 1;
        let roots = self.engine.run_roots();
        // What refers to a local aggregate of compiled code is handed to the portal, is a word of a frame, or lies in
        // another local aggregate.
        let refers = |activation: &Activation| {
            let mut all = frames.iter().flat_map(|frame| &frame.regs).chain(&words);
            !slots.is_empty() || frames.iter().any(|f| !f.slots.is_empty()) || all.any(|w| activation.contains(*w))
        };
        let activation = activation.filter(refers);
        let (abandoned, left_by) = (self.tier0.abandoned.clone(), self.left_by);
        Inside { function, words, callers: frames, roots, slots, activation, abandoned, left_by }
    }

    /// Goes on with a run behind the call of a portal inside of it, which has returned these words.
    ///
    /// # Errors
    /// See [`JitError`]. The run can't go on then.
    pub fn go_on_behind(&mut self, mut inside: Inside, results: &[Word]) -> Result<Arrival, JitError> {
        self.engine.restore_run(std::mem::take(&mut inside.roots));
        self.left_slots.append(&mut inside.slots);
        self.left_by = inside.left_by;
        let (callers, activation) = (std::mem::take(&mut inside.callers), inside.activation.take());
        self.engine.memory.open_foreign(true);
        let frames = Evaluator::new(self.engine.program.module, self.engine.memory).returned(callers, results)?;
        self.go_on_to(Next::Frames(frames), activation)
    }

    pub(super) fn free_abandoned(&mut self) {
        for slot in self.tier0.abandoned.0.borrow_mut().drain(..) {
            self.engine.memory.free(slot);
        }
    }
}
