//! Loops that bridges lead back to: when such a bridge has become hot, they are specialized again, as regions.
//!
//! A bridge that leads back to a loop counts how often it is taken, in a fragment before it. When it has been taken so often
//! that a region pays, the loop gets one, with all that traces have seen of it by then, and whatever enters the loop enters
//! the region.

use super::{Jit, JitError, Next};
use crate::switches;
use flowgraph::ir::{Access, Word};
use rustc_hash::FxHashMap;
use std::time::Instant;
use timeshifter::specialize::{Choice, TraceEnd, VersionId};

/// So many regions of a loop may be made before their time.
const FEW: usize = 6;

/// What is known of the loops that bridges lead back to.
#[derive(Default)]
pub(super) struct Regions {
    loops: FxHashMap<VersionId, Loop>,
    /// The loops that lie within the region of another one, by key: what leads back to them is missing there.
    covered: FxHashMap<usize, VersionId>,
    /// The bridges that count, by exit, with the value that is promoted there.
    counted: FxHashMap<(u32, Option<i64>), Counted>,
}

#[derive(Default)]
struct Loop {
    /// The fragments that were its code, the last one's being that which runs enter: what the traces have made, and regions.
    fragments: Vec<String>,
    /// How often bridges have been taken that lead back to it, since the last region was made.
    taken: u64,
}

impl Loop {
    /// How many regions it has had.
    fn regions(&self) -> usize {
        self.fragments.len().saturating_sub(1)
    }
}

/// A bridge that counts how often it is taken.
struct Counted {
    bridge: String,
    /// The fragment before it.
    counting: String,
    leads_to: VersionId,
    counter: Word,
}

impl Regions {
    /// The loop in whose region what leads back to this one belongs.
    fn root_of(&self, mut id: VersionId) -> VersionId {
        for _ in 0..self.covered.len() {
            match self.covered.get(&id.key) {
                Some(outer) if *outer != id => id = *outer,
                _ => break,
            }
        }
        id
    }

    /// The fragment that counts before the case of a promotion.
    pub fn counting(&self, exit: u32, value: i64) -> Option<&String> {
        self.counted.get(&(exit, Some(value))).map(|counted| &counted.counting)
    }

    /// The memory of all counters.
    pub fn counters(&self) -> impl Iterator<Item = Word> + '_ {
        self.counted.values().map(|counted| counted.counter)
    }
}

impl Jit<'_> {
    /// What an exit is to be pointed to for the bridge `key`, whose trace has just ended: itself, or a fragment before it that
    /// counts.
    pub(super) fn counted(
        &mut self,
        exit: u32,
        promoted: Option<i64>,
        key: &str,
        end: &TraceEnd,
    ) -> Result<String, JitError> {
        let TraceEnd::Enter(entered, _) = end else { return Ok(key.to_owned()) };
        let (Some(leads_to), true) = (self.engine.version_of(entered), self.options.region > 0) else {
            return Ok(key.to_owned());
        };
        let counter = self.engine.memory.allocate(8);
        self.set_counter(counter)?;
        let site = &self.engine.exits[exit as usize];
        let (leaves, types) = (self.engine.raw_graph(site.fragment), site.types(&self.engine));
        let graph = switches::counting_graph(&format!("{key}#counted"), &leaves, &types, counter, exit, key);
        self.compile_with(key, &[&graph])?;
        let (bridge, counting) = (key.to_owned(), graph.key.clone());
        let counted = Counted { bridge, counting, leads_to, counter };
        self.regions.counted.insert((exit, promoted), counted);
        Ok(graph.key)
    }

    /// Serves the exit of a bridge that has been taken often enough, if this is one: makes the region of the loop that the
    /// bridge leads back to, and takes the bridge.
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
        let (counter, root) = (counted.counter, self.regions.root_of(counted.leads_to));
        let full = self.is_full();
        let known = self.regions.loops.entry(root).or_default();
        known.taken += u64::from(self.options.region);
        // Each region of a loop has to pay for twice as much as the one before.
        let pays = known.taken >> known.regions().min(20) >= u64::from(self.options.region);
        let early = known.regions() < FEW && self.engine.flips(Choice::Region);
        if full || (!pays && !early) {
            self.set_counter(counter)?;
            let bridge = self.regions.counted[&(exit, promoted)].bridge.clone();
            return Ok(Some(Next::Code(bridge, words.to_vec())));
        }
        known.taken = 0;
        self.make_region(root)?;
        let Some(counted) = self.regions.counted.remove(&(exit, promoted)) else { return Ok(None) };
        let bridge = counted.bridge.clone();
        let leads_past = match (position, promoted) {
            (Some(position), Some(_)) => {
                *self.remade.entry(exit).or_default() += 1;
                let switch = self.switch_graph(exit, position, true);
                self.compile_with(&bridge, &[&switch])?;
                self.code.patch(exit, &switch.key)?;
                switch.key
            }
            _ => {
                self.code.patch(exit, &bridge)?;
                bridge.clone()
            }
        };
        self.install_finished(true)?;
        if self.code.is_ready(&leads_past) {
            // Nothing leads to the fragment that has counted any more.
            self.engine.memory.free(counter);
        } else {
            self.set_counter(counter)?;
            self.regions.counted.insert((exit, promoted), counted);
        }
        Ok(Some(Next::Code(bridge, words.to_vec())))
    }

    fn set_counter(&mut self, counter: Word) -> Result<(), JitError> {
        let wrong = |e| JitError::Interpreter(flowgraph::eval::EvalError::from(e));
        let region = self.engine.lowered(Choice::Hot, self.options.region.into());
        self.engine.memory.store(counter, Access::I64, region).map_err(wrong)
    }

    /// Specializes a loop again, with all that traces have seen of it, and has whatever enters it enter the region.
    fn make_region(&mut self, root: VersionId) -> Result<(), JitError> {
        let begun = Instant::now();
        let made = self.engine.specialize_region(root);
        self.region_made(begun, made.is_some());
        let Some(made) = made else { return Ok(()) };
        let region = self.engine.region_key(&made);
        // Regions are few: the run waits for them.
        match self.compile_new(&region).and_then(|()| self.install_finished(true)) {
            Ok(()) if self.code.is_ready(&region) => self.engine.install_region(made),
            // It is too large for the code generator: what the traces have made goes on.
            Ok(()) => {
                self.engine.refuse_region(made, "no machine code can be made of it".to_owned());
                return Ok(());
            }
            Err(JitError::Codegen(error)) => {
                self.engine.refuse_region(made, error.to_string());
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.stats.regions += 1;
        let traced = self.engine.version(root).fragment;
        let traced = &self.engine.fragments[traced].graph.key;
        let known = self.regions.loops.entry(root).or_default();
        if known.fragments.is_empty() {
            known.fragments.push(traced.clone());
        }
        for fragment in &known.fragments {
            // One that has been refused is entered by nobody.
            if self.code.is_ready(fragment) {
                self.code.engine.redirect(fragment, &region)?;
            }
        }
        known.fragments.push(region.clone());
        for key in self.engine.covered_by(&region) {
            if key != root.key {
                self.regions.covered.insert(key, root);
            }
        }
        Ok(())
    }
}
