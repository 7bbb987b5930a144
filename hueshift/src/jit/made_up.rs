//! Guards that no run reaches, forced in states made up for them (the book's chapter on internals).
//!
//! Such a guard lies in a fragment that was traced when it was too late for a run to come by again. Any state of the
//! right types won't do to enter it: an index that has been checked before the fragment is not checked in it, an
//! address must lead to what its type says, and compiled code checks nothing that the interpreter doesn't. A state that
//! satisfies all that code may rely on is the one that its trace began with, memory included: from there compiled code
//! passes every guard that the trace has passed. So that state is kept, and the fragment is entered in it, while the
//! guard is made to fail: once into the interpreter, once while a bridge is traced, once into that bridge.
//!
//! More states are made of it, by putting extreme values of its type, within what is known of it, in place of
//! each value that never becomes an index, an address or the content of memory ([`PlainValues`]); but not where the
//! interpreter says of values what they are, as which other values make that false isn't known.
//!
//! What compiled code must give in a state is what the interpreter gives that goes on from it: results, traps and
//! memory.

mod plain;

use super::{Jit, JitError, Next};
use crate::compiler::says_of_values;
use crate::forcing;
use crate::io;
use flowgraph::eval::{self, Evaluator};
use flowgraph::ir::{BlockId, Graph, Imm, NO_GUARD, Operand, Terminator, TrapKind, Word};
use flowgraph::memory::{Memory, Snapshot};
use plain::PlainValues;

/// Shows a run that has ended: what it gives, and what it leaves in memory, as text.
pub type Observe<'m> = dyn Fn(&eval::Outcome, &Memory) -> String + 'm;

/// What came of entering a guard's fragment in states made up for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeUp {
    /// How many states there were.
    pub states: usize,
    /// How many runs of compiled code.
    pub runs: usize,
    /// Whether the guard was made to fail in each run from the state that its trace began with.
    pub forced: bool,
    /// What differed from the interpreter's runs.
    pub wrong: Vec<String>,
}

/// How often compiled code is run in the state that a trace began with: the interpreter goes on behind the guard, then
/// a bridge is traced, then there is one.
const TIMES: usize = 3;

/// In a state that isn't one of a run the interpreter may do this often what it does in one that is.
const PATIENCE: u64 = 10;

/// A guard that waits for its fragment.
pub(super) struct Waiting<'m> {
    guard: i64,
    observe: Box<Observe<'m>>,
}

/// Where a trace begins.
pub(super) enum Start {
    /// At the entry, with the words of all its parameters.
    Entry(Vec<Word>),
    /// Behind an exit; the fragment's parameters are what that hands over.
    Exit(u32),
    /// Where the interpreter stands.
    Frames(Vec<eval::Frame>),
}

/// What a trace begins with.
pub(super) struct Beginning {
    start: Start,
    memory: Kept,
}

/// A fragment with the words of its parameters, and memory.
struct Entry<'k> {
    key: String,
    words: Vec<Word>,
    memory: &'k Kept,
}

/// The exit by which the evaluator stops where it was to come.
const ARRIVED: u32 = u32::MAX;

/// Memory at one moment, of the slot stack only what is used; and how far input and output have come.
struct Kept {
    regions: Snapshot,
    slots: Vec<u8>,
    io: Option<io::Kept>,
}

impl<'m> Jit<'m> {
    /// Lets guard `guard` (see [`super::JitOptions::force_guard`]), if a trace makes it, be forced in made-up states as
    /// soon as it is compiled.
    pub fn make_up(&mut self, guard: u32, observe: Box<Observe<'m>>) {
        self.waiting = Some(Waiting { guard: i64::from(guard), observe });
    }

    /// What came of that, if there was such a guard.
    pub fn made_up(&self) -> Option<&MadeUp> {
        self.made_up.as_ref()
    }

    /// Keeps what the trace begins with that is about to be made, if a guard waits for its fragment.
    pub(super) fn beginning(&self, start: impl FnOnce() -> Start) -> Option<Beginning> {
        self.waiting.as_ref()?;
        Some(Beginning { start: start(), memory: self.keep() })
    }

    /// Enters the fragment `key` of a trace that has just been compiled in made-up states, if the guard is in its code.
    /// `words` are those of the fragment's parameters when the trace began. Memory is afterwards as before.
    pub(super) fn rehearse(&mut self, beginning: Option<Beginning>, key: &str, words: &[Word]) -> Result<(), JitError> {
        let Some(beginning) = beginning else { return Ok(()) };
        let has = |w: &Waiting<'_>| self.code.graphs.values().flat_map(forcing::guards).any(|g| g == w.guard);
        if !self.waiting.as_ref().is_some_and(has) {
            return Ok(());
        }
        let Some(Waiting { guard, observe }) = self.waiting.take() else { return Ok(()) };
        let now = self.keep();
        let slots = (std::mem::take(&mut self.left_slots), std::mem::take(&mut self.engine.traced_slots));
        let roots = self.engine.run_roots();
        let mut made_up = MadeUp::default();
        let mut states = vec![words.to_vec()];
        if let Start::Exit(exit) = beginning.start
            && !self.has_versions()
            && !says_of_values(self.engine.program.module)
        {
            states.extend(PlainValues::of(&self.engine, exit).states(words));
        }
        let mut steps = None;
        let done = states.iter().enumerate().try_for_each(|(n, state)| {
            let is_original = n == 0;
            let Some(wanted) = self.interpreted(&beginning, state, &mut steps, &*observe)? else { return Ok(()) };
            let entry = Entry { key: key.to_owned(), words: state.clone(), memory: &beginning.memory };
            let forced = self.enter(&entry, if is_original { TIMES } else { 1 }, &wanted, &*observe, &mut made_up);
            made_up.forced |= is_original && forced;
            if is_original && !forced {
                made_up.forced = self.enter_own(guard, &entry, steps, &wanted, &*observe, &mut made_up);
            }
            Ok(())
        });
        self.put_back(&now);
        self.guards.iter().for_each(|g| g.clear());
        (self.left_slots, self.engine.traced_slots) = slots;
        self.engine.restore_run(roots);
        self.made_up = Some(made_up);
        done
    }

    /// A `QuasiCell` that is written in a made-up state, and again when memory is as it was before, has the same
    /// version twice, with different contents: code that has been made for one would be entered for the other. From the
    /// state that a trace began with the same is written each time.
    fn has_versions(&self) -> bool {
        let mut ops = self.engine.program.module.graphs.values().flat_map(|g| &g.blocks).flat_map(|b| &b.ops);
        ops.any(|op| matches!(&op.imm, Imm::Mem(mem) if mem.is_version()))
    }

    /// Runs compiled code from an entry, and compares. Gives whether the guard failed each time.
    fn enter(
        &mut self,
        entry: &Entry<'_>,
        times: usize,
        wanted: &str,
        observe: &Observe<'m>,
        made_up: &mut MadeUp,
    ) -> bool {
        let Entry { key, words, memory } = entry;
        made_up.states += 1;
        let mut forced = true;
        for time in 1..=times {
            self.put_back(memory);
            self.guards.iter().for_each(|g| g.clear());
            let got = match self.go_on(Next::Code(key.clone(), words.clone())) {
                Ok(outcome) => observe(&outcome, self.engine.memory),
                Err(error) => error.to_string(),
            };
            made_up.runs += 1;
            forced &= self.guards.as_ref().is_some_and(|g| !g.forced().at.is_empty());
            if got != wanted {
                made_up.wrong.push(format!("`{key}` entered with {words:?} for time {time}: {got}, wanted {wanted}"));
            }
        }
        forced
    }

    /// Where compiled code was linked, it doesn't come through the guard's own fragment: only who enters there from
    /// elsewhere does. The evaluator of the fragments as they were made does come there; and there compiled code is
    /// entered.
    fn enter_own(
        &mut self,
        guard: i64,
        beginning: &Entry<'_>,
        steps: Option<u64>,
        wanted: &str,
        observe: &Observe<'m>,
        made_up: &mut MadeUp,
    ) -> bool {
        let own = |graph: &&Graph| forcing::guards(graph).any(|g| g == guard);
        let own: Vec<String> = self.code.graphs.values().filter(own).map(|g| g.key.clone()).collect();
        own.into_iter().any(|key| {
            let Some((words, frames)) = self.way_to(&key, beginning, steps) else { return false };
            let memory = self.keep();
            let forced = self.enter(&Entry { key, words, memory: &memory }, TIMES, wanted, observe, made_up);
            frames.iter().flat_map(|f| &f.slots).for_each(|slot| self.engine.memory.free(*slot));
            forced
        })
    }

    /// Evaluates residual graphs from an entry to where they enter the graph `key`: the words of its parameters, and
    /// the frames left, whose slots they may lead to.
    fn way_to(
        &mut self,
        key: &str,
        beginning: &Entry<'_>,
        steps: Option<u64>,
    ) -> Option<(Vec<Word>, Vec<eval::Frame>)> {
        let unit = self.engine.fragments[self.engine.fragment_of(key)?].unit;
        let mut graphs = self.engine.residual_graphs(0);
        let target = graphs.iter_mut().find(|g| g.key == key)?;
        let args = target.entry_params().iter().map(|p| Operand::Value(*p)).collect();
        let entry = target.block_mut(BlockId::ENTRY);
        entry.ops.clear();
        entry.term = Terminator::Exit { exit: ARRIVED, guard: Operand::int(NO_GUARD), args };
        let module = self.engine.residual_module_of(unit, graphs);
        self.put_back(beginning.memory);
        let fuel = steps?.saturating_mul(PATIENCE);
        let mut evaluator = Evaluator::new(&module, self.engine.memory).with_fuel(fuel);
        match evaluator.call(&beginning.key, &beginning.words) {
            Ok(eval::Outcome::Exited { exit: ARRIVED, args, frames, .. }) => Some((args, frames)),
            Ok(eval::Outcome::Exited { frames, .. }) => {
                frames.into_iter().for_each(|frame| evaluator.release(frame));
                None
            }
            _ => None,
        }
    }

    /// What the interpreter gives that goes on in a state; in how many `steps`, if it is the first: that of a run.
    /// `None` if another state turns out to be none that can be: the run doesn't end, touches what is no memory, or
    /// uses up the stack.
    fn interpreted(
        &mut self,
        beginning: &Beginning,
        words: &[Word],
        steps: &mut Option<u64>,
        observe: &Observe<'m>,
    ) -> Result<Option<String>, JitError> {
        let is_original = steps.is_none();
        self.put_back(&beginning.memory);
        let frames = match &beginning.start {
            Start::Entry(_) => Vec::new(),
            Start::Exit(exit) => match self.engine.blackhole(*exit, words) {
                Ok(frames) => frames,
                Err(_) if !is_original => return Ok(None),
                Err(error) => return Err(error.into()),
            },
            // Their slots are still needed after this run.
            Start::Frames(frames) => frames.iter().map(|f| eval::Frame { slots: Vec::new(), ..f.clone() }).collect(),
        };
        let mut evaluator = Evaluator::new(self.engine.program.module, self.engine.memory);
        evaluator.jitted = true;
        if let Some(steps) = *steps {
            evaluator.fuel = steps.saturating_mul(PATIENCE);
        }
        let ended = match &beginning.start {
            Start::Entry(all) => evaluator.call(&self.key, all),
            Start::Exit(_) | Start::Frames(_) => evaluator.resume(frames),
        };
        if is_original {
            *steps = Some(u64::MAX - evaluator.fuel);
        }
        Ok(match ended {
            Ok(eval::Outcome::Trapped(trap)) if !is_original && trap.kind == TrapKind::StackExhausted => None,
            Ok(outcome) => Some(observe(&outcome, self.engine.memory)),
            Err(_) if !is_original => None,
            Err(error) => return Err(error.into()),
        })
    }

    fn keep(&self) -> Kept {
        let memory = &self.engine.memory;
        let used = self.code.engine.slot_top().saturating_sub(self.slots);
        Kept {
            regions: memory.snapshot_but(Some(self.slots)),
            slots: memory.read(self.slots, used).unwrap_or_default(),
            io: io::keep(),
        }
    }

    fn put_back(&mut self, kept: &Kept) {
        self.engine.memory.refill(&kept.regions);
        kept.io.iter().for_each(io::put_back);
        if self.engine.memory.write(self.slots, &kept.slots).is_err() {
            unreachable!("the slot stack is a region as long as the driver lives");
        }
    }
}
