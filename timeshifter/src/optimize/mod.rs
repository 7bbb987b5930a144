//! The optimizer: what residual graphs needn't do.
//!
//! ```text
//! cleanup      parameters that are always the same, jumps to jumps, what nobody needs
//!   dead         values and parameters that nobody uses
//!   handed       ops over what a join is handed as constants
//!   threads      ways past blocks that only decide; latches: copies of what comes before these
//!   equal        blocks that do the same become one
//!   in_step      parameters that rounds compute anew, and that are the same in each
//! forward      one walk down the dominator tree: what is decided, done before, or simpler
//!   flow         first the bounds of block parameters, and how they compare, to a fixed point; thresholds: where these
//!                come to rest
//!   integer      asking the rules what an op can be replaced by; peephole: what no rule says
//!   ends         what blocks end with: branches that ask for less, or can go one way only
//!   joins        what all ways to a join bring; over_joins: ops over that; stand_ins: parameters that are another value
//!   signs        what has the same sign and is cheaper
//! branches     fewer of them: as bits, as ranges, in rows, or none
//! loops        less to do in each round: hoisted, peeled, unrolled
//! backward     what nobody looks at, or only some do: stores, bits, what one way needs
//! facts        what is known of values and of memory
//! graph        its shape: dominators, loops, values that are something else
//! rewrites     counting what is done, for those who look for the one that is wrong
//! ```
//!
//! Everything works on finished graphs, and so serves every policy, and graphs that come as text.

mod backward;
mod branches;
mod cleanup;
mod facts;
mod forward;
mod graph;
mod loops;
mod rewrites;

pub use bounds as int_bound;
pub use facts::float_bound;
pub use forward::integer;
pub use loops::copies::copy_rounds;
pub use rewrites::{Firings, Kind, Kinds, Rewrite, Rewrites};

use backward::busy::hoist_busy;
use backward::carried::extend_later;
use backward::demanded::{drop_between, drop_undemanded};
use backward::locals::{drop_unseen_stores, load_nothing};
use backward::sink::sink;
use backward::stores::drop_dead_stores;
use backward::tails::merge_tails;
use branches::bits::branches_to_bits;
use branches::guards::merge_guards;
use branches::ranges::merge_ranges;
use branches::rows::merge_rows;
use branches::straighten::straighten;
use cleanup::equal::merge_equal_blocks;
use cleanup::in_step::merge_in_step;
use cleanup::{drop_recorded, drop_unreachable, drop_unused_values, simplify};
use flowgraph::ir::{Graph, Op, Operand};
use forward::{OverJoins, Walked, forward};
use int_bound::IntBound;
use loops::hoist::hoist;
use loops::invariant::hoist_invariants;

/// Goes through the ops of a residual graph, with what is known of operands where each stands; nothing of what the
/// entry is handed.
pub fn with_bounds(graph: &Graph, see: impl FnMut(&Op, &dyn Fn(Operand) -> IntBound)) {
    forward::flow::with_bounds(graph, see);
}

/// Of so many loops inside of each other something is taken out of all.
const HOISTS: usize = 2;

/// So often is looked for arms that change nothing, before anything else is done.
const STRAIGHTENED: usize = 2;

/// Of so many ops that are computed from each other what all ways do is done earlier.
const BUSY: usize = 3;

/// Graphs of no more ops than these are gone over again, so often at most, as long as there is something to be done:
/// what the last passes find may be news to the first, and it costs little. In larger ones only the last walks look at
/// ops over joins: where ways part by these, another walk would find more.
const SMALL: usize = 256;
const AGAIN: usize = 2;

/// So many walks there are at the end, as long as each finds behind itself what parameters are.
const LAST_WALKS: usize = 3;

/// Optimizes a residual graph whose entry is handed what lies in these bounds; nothing is known of parameters that have
/// none.
pub fn optimize(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) {
    let entry = with_lengths(graph, entry);
    for round in 0..=AGAIN {
        let before = rewrites.count();
        if (Passes { graph, entry: &entry, rewrites, threaded: false }).run().is_none() {
            drop_unreachable(graph);
        }
        let is_done = rewrites.count() == before || rewrites.is_spent();
        if is_done || round == AGAIN || ops_of(graph) > SMALL {
            break;
        }
    }
}

fn ops_of(graph: &Graph) -> usize {
    graph.blocks.iter().map(|block| block.ops.len()).sum()
}

/// The bounds of what the entry is handed, and that no length of a slice is negative, whoever enters.
fn with_lengths(graph: &Graph, entry: &[IntBound]) -> Vec<IntBound> {
    let mut bounds = entry.to_vec();
    for (_, _, length) in graph.slices() {
        let at = graph.entry_params().iter().position(|param| *param == length);
        let (Some(at), Some(lengths)) = (at, IntBound::from_range(0, i64::MAX)) else { continue };
        bounds.resize(bounds.len().max(at + 1), IntBound::unbounded());
        bounds[at] = bounds[at].meet(lengths).unwrap_or(bounds[at]);
    }
    bounds
}

/// All passes over one graph; each gives nothing more once there may be no more rewrites, as analyses count on a graph
/// that is clean.
struct Passes<'a> {
    graph: &'a mut Graph,
    entry: &'a [IntBound],
    rewrites: &'a mut Rewrites,
    /// Whether ways have parted earlier since this was last asked.
    threaded: bool,
}

impl Passes<'_> {
    fn run(&mut self) -> Option<()> {
        self.simplify()?;
        if self.rewrites.only_cleans() {
            drop_recorded(self.graph, self.rewrites);
            return self.simplify();
        }
        self.before_walking()?;
        let Walked { has_loops, .. } = self.first_walks()?;
        let mut news = self.behind_first_walks()?;
        if has_loops {
            news |= self.out_of_loops()?;
        }
        news |= self.without_needless()?;
        let later = has_loops && extend_later(self.graph, self.entry, self.rewrites);
        news |= self.simplified(later)?;
        news |= self.merged()?;
        self.last_walks(news)
    }

    fn simplify(&mut self) -> Option<()> {
        self.threaded |= simplify(self.graph, self.rewrites);
        (!self.rewrites.is_spent()).then_some(())
    }

    /// Simplifies the graph if a pass has changed it. Gives whether it has.
    fn simplified(&mut self, changed: bool) -> Option<bool> {
        if changed {
            self.simplify()?;
        }
        Some(changed)
    }

    /// What the first walk should find done.
    fn before_walking(&mut self) -> Option<()> {
        let are_bits = branches_to_bits(self.graph, self.rewrites);
        self.simplified(are_bits)?;
        drop_unused_values(self.graph);
        // Sums of sums that are cut off in between are none yet.
        let dropped = drop_between(self.graph, self.rewrites);
        self.simplified(dropped)?;
        // On the way where it is needed more may be known of what an op is handed.
        sink(self.graph, self.rewrites, false);
        // What one arm stores is known behind it when it has no branch any more.
        for _ in 0..STRAIGHTENED {
            let straight = straighten(self.graph, self.entry, self.rewrites);
            if !self.simplified(straight)? {
                break;
            }
        }
        merge_tails(self.graph, self.rewrites);
        let merged = merge_in_step(self.graph, self.rewrites);
        self.simplified(merged)?;
        self.threaded = false;
        load_nothing(self.graph, self.rewrites);
        Some(())
    }

    fn walk(&mut self) -> Walked {
        forward(self.graph, self.entry, self.rewrites, OverJoins::All)
    }

    fn first_walks(&mut self) -> Option<Walked> {
        // Only when parameters have gone that are always the same is it plain which ops are equal; and two tests of one
        // value may be one of a range, where what they say apart is no matter.
        let over = if ops_of(self.graph) <= SMALL { OverJoins::Handed } else { OverJoins::None };
        let walked = forward(self.graph, self.entry, self.rewrites, over);
        let dropped = drop_recorded(self.graph, self.rewrites);
        self.simplified(dropped || walked.changed)?;
        // What was handed over may be 1 and 0 since.
        let merged = branches_to_bits(self.graph, self.rewrites) | merge_ranges(self.graph, self.entry, self.rewrites);
        if !self.simplified(merged)? && !walked.to_part {
            return Some(walked);
        }
        let walked = self.walk();
        self.simplify()?;
        Some(walked)
    }

    /// Gives whether there is anything new for another walk.
    fn behind_first_walks(&mut self) -> Option<bool> {
        // What arms load and store is plainer now.
        let straight = straighten(self.graph, self.entry, self.rewrites);
        self.simplified(straight)?;
        let merged = merge_tails(self.graph, self.rewrites);
        // Where ways part earlier, each brings more of what has been found.
        Some(straight | merged | self.threaded)
    }

    /// From an inner loop into the outer one, and out of that.
    fn out_of_loops(&mut self) -> Option<bool> {
        let mut changed = false;
        for pass in [hoist, hoist_invariants] {
            for _ in 0..HOISTS {
                let hoisted = pass(self.graph, self.rewrites);
                if !self.simplified(hoisted)? {
                    break;
                }
                changed = true;
            }
        }
        Some(changed)
    }

    /// Without stores that nobody sees, and bits that nobody looks at: a store between two checks may be none any more.
    fn without_needless(&mut self) -> Option<bool> {
        let changed = drop_dead_stores(self.graph, self.rewrites)
            | drop_unseen_stores(self.graph, self.rewrites)
            | drop_undemanded(self.graph, self.rewrites);
        self.simplified(changed)
    }

    /// What several blocks do, or several checks ask, once.
    fn merged(&mut self) -> Option<bool> {
        let mut changed = false;
        // What is computed from what has gone up may go up as well.
        for _ in 0..BUSY {
            if !hoist_busy(self.graph, self.rewrites) {
                break;
            }
            changed = true;
        }
        let equal = merge_equal_blocks(self.graph, self.rewrites) | merge_in_step(self.graph, self.rewrites);
        changed |= self.simplified(equal)?;
        let checks =
            merge_rows(self.graph, self.entry, self.rewrites) | merge_guards(self.graph, self.entry, self.rewrites);
        changed |= self.simplified(checks)?;
        Some(changed)
    }

    /// One walk for all that is new: of what is done before a loop more is known in it, and behind what is always done,
    /// and behind one check for several. Then some more, as long as they find behind themselves what parameters are.
    fn last_walks(&mut self, news: bool) -> Option<()> {
        let mut late = false;
        if news {
            let walked = self.walk();
            late = walked.late;
            if self.simplified(walked.changed)? {
                self.without_needless()?;
            }
        }
        // What tests have become needless for has fewer users now.
        let mut walks = if sink(self.graph, self.rewrites, true) | late { LAST_WALKS } else { 0 };
        while walks > 0 {
            let walked = self.walk();
            self.simplified(walked.changed)?;
            walks = if walked.late { walks - 1 } else { 0 };
        }
        Some(())
    }
}
