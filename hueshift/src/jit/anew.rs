//! Throwing all code away in the midst of a run, where there is too much of it.
//!
//! Code is full of what leads from graph to graph, so all of it goes, with all that is known of it, as LuaJIT flushes
//! its traces. What is still hot is soon there again, and what isn't is gone. That is for runs of whole programs, where
//! the interpreter behind exits goes on by itself; where tier 0 does, whole drivers are thrown away when no run is
//! inside of them.
//!
//! A run goes on from the interpreter's frames, which stand at a merge point: nothing else of it is in compiled code.
//! Only local aggregates may lie where that has put them. So their memory stays as it is until the run ends, unless
//! nothing leads there any more.

use super::{FRAME_BYTES, Jit, JitError, Policy, Stats, code_generator};
use crate::events::Reason;
use flowgraph::eval;
use flowgraph::ir::Word;
use flowgraph::memory::Memory;
use jitcodegen::Activation;
use std::ops::Range;
use timeshifter::specialize::{Argument, Choice, Flipped};

/// With fewer traces, bridges and functions than these there can hardly be too much code: there is no room even for
/// that.
const FEW: u64 = 4;

/// How often code was thrown away, and how the first run began.
#[derive(Default)]
pub(super) struct Generation {
    /// The arguments of the first run, and the words of all parameters.
    begun: Option<(Vec<Argument>, Vec<Word>)>,
    /// Its code has been thrown away.
    is_gone: bool,
    /// There is no room to go on elsewhere: code stays.
    stays: bool,
    /// How many guards there were when code was thrown away last.
    guards: usize,
}

impl Generation {
    /// A run begins by being traced.
    pub fn begins(&mut self, args: &[Argument], words: &[Word]) {
        self.begun = Some((args.to_vec(), words.to_vec()));
        self.is_gone = false;
    }

    /// Whether runs have no code to begin in any more.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// How a run begins with these words of the parameters that aren't known.
    fn beginning(&self, unknown: &[Word]) -> Option<(Vec<Argument>, Vec<Word>)> {
        let (args, words) = self.begun.as_ref()?;
        let mut unknown = unknown.iter().copied();
        let word = |(argument, word): (&Argument, &Word)| match argument {
            Argument::Known(_) => *word,
            Argument::Unknown => unknown.next().unwrap_or_default(),
        };
        Some((args.clone(), args.iter().zip(words).map(word).collect()))
    }

    /// How many guards there are, if so many have been made.
    pub fn guards(&self, made: usize) -> usize {
        made - self.guards
    }
}

impl Jit<'_> {
    /// Whether all code is to be thrown away, of a run that stands in the interpreter at a merge point.
    pub(super) fn is_to_start_over(&mut self) -> bool {
        let can =
            self.policy == Policy::Tracing && !self.tier0.goes_back && !self.options.make_up && !self.generation.stays;
        can && (self.engine.flips(Choice::Anew) || self.is_full())
    }

    /// Throws all code away. The run goes on from these frames; what local aggregates of compiled code they may refer
    /// to stays in `before`.
    pub(super) fn start_over(
        &mut self,
        frames: &[eval::Frame],
        activation: Option<Activation>,
        before: &mut Vec<Activation>,
    ) -> Result<(), JitError> {
        before.extend(activation);
        self.keep_what_is_referred_to(frames, before);
        let end = self.slots + self.options.slot_bytes;
        let begin = before.iter().map(|activation| activation.addresses().end).max().unwrap_or(self.slots);
        let free = (begin, end - begin);
        if free.1 < 4 * FRAME_BYTES {
            self.generation.stays = true;
            return Ok(());
        }
        self.throw_away(self.unit, free)
    }

    /// A run begins whose code has been thrown away.
    pub(super) fn begin_anew(&mut self, unknown: &[Word]) -> Result<eval::Outcome, JitError> {
        let Some((args, words)) = self.generation.beginning(unknown) else { return Err(JitError::NoEntry) };
        self.throw_away(None, (self.slots, self.options.slot_bytes))?;
        self.trace(&args, &words)
    }

    /// Throws all code away. The runs of a unit may go on in the interpreter. New code has these bytes for its local
    /// aggregates.
    fn throw_away(&mut self, unit: Option<usize>, slots: (u64, u64)) -> Result<(), JitError> {
        self.install_finished(true)?;
        let (code, guards) = code_generator(self.engine.memory, &self.options, slots, self.guards.take())?;
        let little = self.stats.traces + self.stats.bridges + self.calls.made() <= FEW;
        let gone = self.evicted(Reason::CodeBytes);
        (self.past, self.stats) = (Stats { flipped: Flipped::default(), ..gone }, Stats::default());
        (self.generation.guards, self.generation.is_gone) = (self.engine.guards_made(), true);
        (self.code, self.guards) = (code, guards);
        self.teller.start_over();
        for counter in std::mem::take(&mut self.regions).counters() {
            self.engine.memory.free(counter);
        }
        self.engine.start_over(unit);
        self.unit = unit.map(|_| 0);
        (self.exits, self.left_by, self.ahead, self.mapped) = Default::default();
        (self.tier0.doors, self.following, self.calls) = Default::default();
        self.heat.start_over(little);
        Ok(())
    }

    /// Of the local aggregates of compiled code only those stay that a run which stands at these frames may refer to: a
    /// word of a frame does, or one in another local aggregate.
    fn keep_what_is_referred_to(&self, frames: &[eval::Frame], all: &mut Vec<Activation>) {
        let memory = &*self.engine.memory;
        let slots =
            frames.iter().flat_map(|frame| &frame.slots).chain(&self.left_slots).chain(&self.engine.traced_slots);
        let mut words: Vec<Word> = frames.iter().flat_map(|frame| &frame.regs).copied().collect();
        let regions = slots.filter_map(|slot| Some(*slot..*slot + memory.size_of(*slot)?));
        words.extend(regions.flat_map(|region| read_words(memory, region)));
        let mut kept = Vec::new();
        while !words.is_empty() {
            let refers = |activation: &mut Activation| words.iter().any(|word| activation.contains(*word));
            let new: Vec<Activation> = all.extract_if(.., refers).collect();
            words = new.iter().flat_map(|activation| read_words(memory, activation.addresses())).collect();
            kept.extend(new);
        }
        *all = kept;
    }
}

/// What lies at these addresses.
fn read_words(memory: &Memory, addresses: Range<u64>) -> Vec<Word> {
    let bytes = memory.read(addresses.start, addresses.end - addresses.start).unwrap_or_default();
    bytes.as_chunks::<8>().0.iter().map(|word| Word::from_le_bytes(*word)).collect()
}
