//! Loops that bridges lead around: when the ways through such a loop have become hot, it is specialized again, as a
//! region.
//!
//! A bridge that leads back to a version counts how often it is taken, in a fragment before it. Whoever takes it goes
//! from one fragment to another, within the innermost loop that has both: a region of that loop, or of one around it,
//! spares that. What a region costs grows with the loop. So each loop adds up what has been counted in it and in the
//! loops within, and gets a region when that is in proportion to its size; of several the outermost one. Then whatever
//! enters the loop enters the region, with all that traces have seen of it by then.
//!
//! A loop also gets a region when its bridges have become far more than itself: of branches in a row there are more
//! ways than there can be bridges.

use super::joins::Cases;
use super::{Jit, JitError, Next};
use crate::clock::Tier;
use crate::switches;
use flowgraph::ir::{Access, Graph, Word};
use rustc_hash::FxHashMap;
use std::time::Instant;
use timeshifter::specialize::{Choice, Nest, Nests, NewRegion, TraceEnd, VersionId};

/// So many regions of a loop may be made before their time.
pub(super) const FEW: u32 = 6;

/// A region of a loop pays when bridges have been taken as often as the option `region` says for each so many of its
/// ops.
pub(super) const OPS: usize = 64;

/// When bridges have so many times as many ops as the loop that they lead around, its ways multiply: a region pays by
/// what it spares to make.
const BRIDGED: u64 = 4;

/// But not for fewer ops than these.
const FEW_OPS: usize = 1000;

/// Where regions of a loop were cut off, further ones may be twice as large each, so many times.
const WIDER: u32 = 3;

/// How the loops lie inside of each other is looked at again when there are more fragments, by one in so many.
const GROWTH: usize = 16;

/// What is known of the loops that bridges lead around.
#[derive(Default)]
pub(super) struct Regions {
    loops: FxHashMap<VersionId, Loop>,
    /// The bridges that count, by exit, with the value that is promoted there.
    counted: FxHashMap<(u32, Option<i64>), Counted>,
    /// How the loops lie inside of each other, when there were so many fragments.
    nests: (usize, Nests),
    /// How many ops bridges have that were made since it was looked at whether they have outgrown their loops.
    fresh: usize,
    /// How many regions were cut off as too large, by the head of the outermost loop that they are in: each further one
    /// in there has to pay for twice as much, and may be twice as large.
    cut_off: FxHashMap<VersionId, u32>,
    /// A region that machine code is being generated of.
    coming: Option<NewRegion>,
    /// The cases of promotions, ahead of time, by the unit that they belong to.
    pub(super) cases: FxHashMap<usize, Cases>,
}

/// A loop, by its head.
#[derive(Default)]
struct Loop {
    /// The fragments that were its code, the last one's being that which runs enter: what the traces have made, and
    /// regions.
    fragments: Vec<String>,
    /// How often bridges have been taken within it, but not within loops in it, since it is in a region.
    taken: u64,
    /// How many ops the bridges have that were made within it since, but not within loops in it.
    bridged: usize,
    /// How many regions have been begun.
    begun: u32,
}

/// A bridge that counts how often it is taken.
struct Counted {
    bridge: String,
    /// The fragment before it.
    counting: String,
    /// Nothing for a case that was specialized ahead of time.
    leads_to: Option<VersionId>,
    counter: Word,
}

impl Regions {
    /// The fragment that counts before the case of a promotion.
    pub fn counting(&self, exit: u32, value: i64) -> Option<&String> {
        self.counted.get(&(exit, Some(value))).map(|counted| &counted.counting)
    }

    /// The keys of all regions, and of the graphs that have been made of cases.
    pub fn made(&self) -> impl Iterator<Item = String> + '_ {
        let regions = self.loops.values().flat_map(|known| known.fragments.iter().skip(1));
        regions.chain(self.cases.values().flat_map(|cases| &cases.joined)).cloned()
    }

    /// The memory of all counters.
    pub fn counters(&self) -> impl Iterator<Item = Word> + '_ {
        self.counted.values().map(|counted| counted.counter)
    }

    /// A bridge of so many ops has been made within a loop.
    fn bridged(&mut self, nest: usize, ops: usize) {
        self.loops.entry(self.nests.1.nest(nest).head).or_default().bridged += ops;
        self.fresh += ops;
    }

    /// The outermost loop around one.
    fn outermost(&self, nest: usize) -> VersionId {
        let nests = &self.nests.1;
        nests.nest(nests.outwards(Some(nest)).last().unwrap_or(nest)).head
    }

    /// How many regions in the outermost loop around one were cut off.
    fn cut_off_around(&self, nest: usize) -> u32 {
        self.cut_off.get(&self.outermost(nest)).copied().unwrap_or_default()
    }

    /// Of a loop and those around it the outermost one of which a region pays, where the first one does after so many
    /// bridges. Each further one has to pay for twice as much as the one before.
    fn paying(&self, around: usize, first: u64) -> Option<usize> {
        let nests = &self.nests.1;
        let taken = nests.totals(|nest| self.loops.get(&nest.head).map_or(0, |known| known.taken));
        let cut_off = self.cut_off_around(around);
        let pays = |nest: &usize| {
            let Nest { head, ops, .. } = nests.nest(*nest);
            let begun = self.loops.get(head).map_or(0, |known| known.begun) + cut_off;
            taken[*nest] >> begun.min(20) >= first * ops.div_ceil(OPS).max(1) as u64
        };
        nests.outwards(Some(around)).filter(pays).last()
    }
}

impl Jit<'_> {
    /// A fragment before the bridge `key`, whose trace has just ended, which counts how often it is taken; nothing if
    /// it leads to no version.
    pub(super) fn counted(
        &mut self,
        exit: u32,
        promoted: Option<i64>,
        key: &str,
        end: &TraceEnd,
    ) -> Result<Option<Graph>, JitError> {
        let TraceEnd::Enter(entered, _) = end else { return Ok(None) };
        match self.engine.version_of(entered) {
            Some(leads_to) => self.counting(exit, promoted, key, Some(leads_to)),
            None => Ok(None),
        }
    }

    /// A fragment before the fragment `key`, which counts how often that is entered from an exit.
    pub(super) fn counting(
        &mut self,
        exit: u32,
        promoted: Option<i64>,
        key: &str,
        leads_to: Option<VersionId>,
    ) -> Result<Option<Graph>, JitError> {
        if self.options.region == 0 {
            return Ok(None);
        }
        let counter = self.engine.memory.allocate(8);
        self.set_counter(counter)?;
        let site = &self.engine.exits[exit as usize];
        let empty = self.engine.empty_graph(site.fragment, &format!("{key}#counted"));
        let graph = switches::counting_graph(empty, &site.types(&self.engine), counter, exit, key);
        let (bridge, counting) = (key.to_owned(), graph.key.clone());
        let counted = Counted { bridge, counting, leads_to, counter };
        self.regions.counted.insert((exit, promoted), counted);
        Ok(Some(graph))
    }

    /// Serves the exit of a bridge that counts, if this is one: makes a region where one pays, and takes the bridge.
    pub(super) fn serve_counted(
        &mut self,
        exit: u32,
        position: Option<usize>,
        words: &[Word],
    ) -> Result<Option<Next>, JitError> {
        let promoted = position.map(|at| words[at] as i64);
        let Some(counted) = self.regions.counted.get(&(exit, promoted)) else { return Ok(None) };
        if !self.code.is_ready(&counted.counting) {
            return Ok(None); // nothing counts yet
        }
        let (bridge, counter, leads_to) = (counted.bridge.clone(), counted.counter, counted.leads_to);
        let counting = counted.counting.clone();
        self.set_counter(counter)?;
        let Some(leads_to) = leads_to else {
            let on = self.join_case(bridge, &counting)?;
            return Ok(Some(Next::Code(on, words.to_vec())));
        };
        let from = self.engine.exits[exit as usize].fragment;
        if !self.is_full()
            && self.regions.coming.is_none()
            && let Some(nest) = self.loop_for_region(from, leads_to)
        {
            self.make_region(nest)?;
        }
        Ok(Some(Next::Code(bridge, words.to_vec())))
    }

    /// The innermost loop around which a bridge leads from a fragment to a version.
    fn loop_around(&mut self, from: usize, to: VersionId) -> Option<usize> {
        let fragments = self.engine.fragments.len();
        if fragments > self.regions.nests.0 + self.regions.nests.0 / GROWTH {
            self.regions.nests = (fragments, self.engine.nests());
        }
        self.engine.loop_around(&mut self.regions.nests.1, from, to)
    }

    /// Adds up that a bridge has been taken again, from a fragment to a version. Gives the loop that a region pays for.
    fn loop_for_region(&mut self, from: usize, to: VersionId) -> Option<usize> {
        let first = u64::from(self.options.region);
        let around = self.loop_around(from, to)?;
        let known = self.regions.loops.entry(self.regions.nests.1.nest(around).head).or_default();
        known.taken += first;
        let early = known.begun < FEW && self.engine.flips(Choice::Region);
        self.regions.paying(around, first).or(early.then_some(around))
    }

    /// Makes a region of a loop around which a bridge of an exit has just led back to a version, if its bridges have
    /// become far more than itself.
    pub(super) fn bridge_made(&mut self, exit: u32, bridge: &str, end: &TraceEnd) -> Result<(), JitError> {
        let TraceEnd::Enter(entered, _) = end else { return Ok(()) };
        let (Some(to), Some(bridge)) = (self.engine.version_of(entered), self.engine.fragment_of(bridge)) else {
            return Ok(());
        };
        if self.options.region == 0 {
            return Ok(());
        }
        let (from, ops) = (self.engine.exits[exit as usize].fragment, self.engine.fragments[bridge].size);
        let Some(around) = self.loop_around(from, to) else { return Ok(()) };
        self.regions.bridged(around, ops);
        if self.regions.fresh < FEW_OPS / 4 || self.regions.coming.is_some() || self.is_full() {
            return Ok(());
        }
        self.regions.fresh = 0;
        let nests = &self.regions.nests.1;
        let own = nests.totals(|nest| self.ops_entered(nest.head) as u64);
        let known = |nest: &Nest| self.regions.loops.get(&nest.head);
        let bridged = nests.totals(|nest| known(nest).map_or(0, |known| known.bridged as u64));
        let times = BRIDGED << self.regions.cut_off_around(around).min(20);
        let is_outgrown = |nest: &usize| bridged[*nest] >= (times * own[*nest]).max(FEW_OPS as u64);
        match nests.outwards(Some(around)).filter(is_outgrown).last() {
            Some(nest) => self.make_region(nest),
            None => Ok(()),
        }
    }

    /// The ops of the fragment that runs come to at a loop's head.
    fn ops_entered(&self, head: VersionId) -> usize {
        self.engine.code_of(head).last().map_or(0, |last| self.engine.fragments[last].size)
    }

    fn set_counter(&mut self, counter: Word) -> Result<(), JitError> {
        let wrong = |e| JitError::Interpreter(flowgraph::eval::EvalError::from(e));
        let region = self.engine.lowered(Choice::Hot, self.options.region.into());
        self.engine.memory.store(counter, Access::I64, region).map_err(wrong)
    }

    /// Specializes a loop again, with all that traces have seen of it, and has machine code made of that.
    fn make_region(&mut self, nest: usize) -> Result<(), JitError> {
        let _making = self.enter_tier(Tier::Making);
        let begun = Instant::now();
        let nests = &self.regions.nests.1;
        for within in nests.within(nest) {
            let known = self.regions.loops.entry(within.head).or_default();
            (known.taken, known.bridged) = (0, 0);
        }
        self.regions.loops.entry(nests.nest(nest).head).or_default().begun += 1;
        let wider = self.regions.cut_off.get(&self.regions.outermost(nest)).map_or(0, |times| *times.min(&WIDER));
        let most_ops = self.engine.limits.region_ops.saturating_mul(1 << wider);
        let made = self.engine.specialize_region(nests, nest, most_ops);
        self.region_made(begun, made.is_some());
        let Some(made) = made else { return Ok(()) };
        let region = self.engine.region_key(&made);
        let size = self.engine.fragment_of(&region).map_or(0, |at| self.engine.fragments[at].size);
        if size > most_ops {
            *self.regions.cut_off.entry(self.regions.outermost(nest)).or_default() += 1;
        }
        match self.compile_new(&region) {
            Ok(()) => self.regions.coming = Some(made),
            // It is too large for the code generator: what the traces have made goes on.
            Err(JitError::Codegen(error)) => self.engine.refuse_region(made, error.to_string()),
            Err(error) => return Err(error),
        }
        self.install_region()
    }

    /// Has whatever enters a loop enter its region, if there is one whose machine code is ready.
    pub(super) fn install_region(&mut self) -> Result<(), JitError> {
        let Some(made) = self.regions.coming.take() else { return Ok(()) };
        let region = self.engine.region_key(&made);
        if self.code.is_refused(&region) {
            self.engine.refuse_region(made, "no machine code can be made of it".to_owned());
            return Ok(());
        }
        if !self.code.is_ready(&region) {
            self.regions.coming = Some(made);
            return Ok(());
        }
        let root = made.of();
        let known = self.regions.loops.entry(root).or_default();
        if known.fragments.is_empty() {
            let code = self.engine.code_of(root).map(|fragment| self.engine.fragments[fragment].graph.key.clone());
            known.fragments = code.collect();
        }
        self.engine.install_region(made);
        self.stats.regions += 1;
        for fragment in &known.fragments {
            // One that has been refused is entered by nobody.
            if self.code.is_ready(fragment) {
                self.code.engine.redirect(fragment, &region)?;
            }
        }
        known.fragments.push(region);
        Ok(())
    }
}
