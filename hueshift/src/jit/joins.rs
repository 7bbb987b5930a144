//! Cases of promotions, ahead of time: those that are entered often become one graph with all that they lead to.
//!
//! Ahead of time a promotion is an exit, and each value that runs bring gets a fragment, which is entered through a
//! switch. A loop that promotes goes through it in each round, with all that it has in registers handed over, and
//! nothing that one fragment knows or keeps is known to the next. So each case counts how often it is entered. When
//! that is in proportion to what it leads to, this is linked anew, the promotions as switches over the cases that there
//! are by then: whoever enters the case enters that graph, and comes back only for other values.

use super::regions::{FEW, OPS};
use super::{Jit, JitError};
use crate::clock::Tier;
use crate::events::{Reason, What};
use std::time::Instant;
use timeshifter::specialize::{Choice, Linking};

/// What is known of the cases of one unit.
#[derive(Default)]
pub(super) struct Cases {
    /// How often they have been entered, since there was a graph.
    entered: u64,
    /// How often it takes at least until a graph pays.
    needed: u64,
    /// The graphs, by key, that have been made of cases.
    pub joined: Vec<String>,
    /// How many have been begun.
    begun: u32,
}

impl Jit<'_> {
    /// A case has been entered again, by the fragment `counting` before it. Gives where the run goes on: in the graph
    /// that the case has become, if it pays now, or in the case.
    pub(super) fn join_case(&mut self, case: String, counting: &str) -> Result<String, JitError> {
        let Some(at) = self.engine.fragment_of(&case) else { return Ok(case) };
        if self.is_full() {
            return Ok(case);
        }
        let Some(ops) = self.joining_pays(at) else { return Ok(case) };
        let _making = self.enter_tier(Tier::Making);
        let begun = Instant::now();
        let joined = self.engine.new_joined(at);
        self.joined(begun, ops);
        self.engine.finish_fragments();
        let cases = |exit: u32| self.exits.switches.get(&exit).map_or(&[][..], Vec::as_slice);
        let done = self.code.compile_joined(&self.engine, &joined, &cases);
        match self.made_or_refused(done, &joined, begun) {
            // It is too large for the code generator: the cases go on.
            Err(JitError::Codegen(error)) => {
                self.tell(What::Refused { message: error.to_string() }, Reason::RegionRefused, self.begun_at());
                return Ok(case);
            }
            done => done?,
        }
        self.install_finished(true)?;
        self.map_new_code();
        if !self.code.is_ready(&joined) {
            return Ok(case);
        }
        self.code.engine.redirect(counting, &joined)?;
        self.stats.regions += 1;
        let unit = self.engine.fragments[at].unit;
        self.regions.cases.entry(unit).or_default().joined.push(joined.clone());
        Ok(joined)
    }

    /// Adds up that a case has been entered again. If a graph of it and of what it leads to pays, gives how many ops
    /// these have. Each further graph has to pay for twice as much as the one before.
    fn joining_pays(&mut self, case: usize) -> Option<usize> {
        let first = u64::from(self.options.region);
        let unit = self.engine.fragments[case].unit;
        let known = self.regions.cases.entry(unit).or_default();
        known.entered += first;
        let early = known.begun < FEW && self.engine.flips(Choice::Region);
        if known.entered < known.needed && !early {
            return None;
        }
        let cases = |exit: u32| self.exits.switches.get(&exit).map_or(&[][..], Vec::as_slice);
        let ops = self.engine.ops_linked(case, Linking { apart: &|_| false, cases: &cases });
        known.needed = (first * ops.div_ceil(OPS).max(1) as u64).saturating_mul(1 << known.begun.min(20));
        if known.entered < known.needed && !early {
            return None;
        }
        (known.entered, known.needed) = (0, 0);
        known.begun += 1;
        Some(ops)
    }
}
