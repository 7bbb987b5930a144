//! The optimizer: what residual graphs needn't do.
//!
//! ```text
//! cleanup      parameters that are always the same, jumps to jumps; dead: what nobody needs
//!   handed     ops over what a join is handed as constants
//! forward      one walk down the dominator tree: what is decided, done before, or simpler
//!   flow         first the bounds of block parameters, and how they compare, to a fixed point
//!   known        what holds on the way; conditions: what a test says; done: which ops have been done
//!   relations    how two values compare
//!   joins        what all ways to a join bring
//!   memory       what lies in memory
//!   integer      asking the rules what an op can be replaced by; peephole: what no rule says
//! in_step      parameters that rounds compute anew, and that are the same in each
//! threads      ways past blocks that only decide
//! straighten   arms that change nothing where they aren't taken are always done; assumed: what values are there
//! hoist        what is the same in each round of a loop is done before it
//! invariant    so is what only computes, behind effects as well
//! copies       rounds of loops for machine code alone, and what all of that needs; rounds: what they say of each other
//! peel         the first round of a loop, where that spares the others something
//! unroll       rounds of a loop that only looks for its end have one check
//! stores       one walk backward: what is overwritten before anybody looks
//! locals       what nobody else can look at: stores that no load comes behind, loads that no store came before
//! demanded     another one: which bits of values are looked at
//! busy         what all ways from a branch do is done before it
//! equal        blocks that do the same become one
//! bits         branches that only say whether they are taken
//! ranges       two tests whether a value lies in a range are one
//! rows         several checks at constant distances are one; guards: so are guards of one exit
//! sink         what only one way out of a block needs is done on that way
//! float_bound  what is known of a float, as `bounds` is of an integer: its interval, and whether it may be a NaN;
//!              floats: what follows on the way
//! seen         what is seen of a float; signs: what has the same sign and is cheaper
//! dominators   what dominates what; loops: where they come back from; replacements: values that are something else
//! rewrites     counting what is done, for those who look for the one that is wrong
//! ```
//!
//! Everything works on finished graphs, and so serves every policy, and graphs that come as text.

mod assumed;
mod bits;
mod busy;
mod cleanup;
mod conditions;
mod copies;
mod dead;
mod demanded;
mod dominators;
mod done;
mod equal;
pub mod float_bound;
mod floats;
mod flow;
mod forward;
mod guards;
mod handed;
mod hoist;
mod in_step;
pub mod integer;
mod invariant;
mod joins;
mod known;
mod locals;
mod loops;
mod memory;
mod peel;
mod peephole;
mod ranges;
mod relations;
mod replacements;
mod rewrites;
mod rounds;
mod rows;
mod seen;
mod signs;
mod sink;
mod stand_ins;
mod stores;
mod straighten;
mod threads;
mod thresholds;
mod unroll;

pub use bounds as int_bound;
pub use copies::copy_rounds;
pub use rewrites::{Firings, Kind, Kinds, Rewrite, Rewrites};

use bits::branches_to_bits;
use busy::hoist_busy;
use cleanup::{drop_recorded, drop_unreachable, drop_unused_values, simplify};
use demanded::{drop_between, drop_undemanded};
use equal::merge_equal_blocks;
use flowgraph::ir::{Graph, Op, Operand};
use forward::forward;
use guards::merge_guards;
use hoist::hoist;
use in_step::merge_in_step;
use int_bound::IntBound;
use invariant::hoist_invariants;
use locals::{drop_unseen_stores, load_nothing};
use ranges::merge_ranges;
use rows::merge_rows;
use sink::sink;
use std::cell::Cell;
use stores::drop_dead_stores;
use straighten::straighten;

/// Goes through the ops of a residual graph, with what is known of operands where each stands; nothing of what the
/// entry is handed.
pub fn with_bounds(graph: &Graph, see: impl FnMut(&Op, &dyn Fn(Operand) -> IntBound)) {
    flow::with_bounds(graph, see);
}

/// Of so many loops inside of each other something is taken out of all.
const HOISTS: usize = 2;

/// So often is looked for arms that change nothing, before anything else is done.
const STRAIGHTENED: usize = 2;

/// Of so many ops that are computed from each other what all ways do is done earlier.
const BUSY: usize = 3;

/// Graphs of no more ops than these are gone over again, so often at most, as long as there is something to be done:
/// what the last passes find may be news to the first, and it costs little.
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
        if passes(graph, &entry, rewrites).is_none() {
            drop_unreachable(graph);
        }
        let is_done = rewrites.count() == before || rewrites.is_spent();
        if is_done || round == AGAIN || graph.blocks.iter().map(|block| block.ops.len()).sum::<usize>() > SMALL {
            break;
        }
    }
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

/// All passes, or nothing more once there may be no more rewrites: analyses count on a graph that is clean.
fn passes(graph: &mut Graph, entry: &[IntBound], rewrites: &mut Rewrites) -> Option<()> {
    let threaded = Cell::new(false);
    let simplify = |graph: &mut Graph, rewrites: &mut Rewrites| {
        threaded.set(simplify(graph, rewrites) | threaded.get());
        (!rewrites.is_spent()).then_some(())
    };
    simplify(graph, rewrites)?;
    if rewrites.only_cleans() {
        drop_recorded(graph, rewrites);
        return simplify(graph, rewrites);
    }
    if branches_to_bits(graph, rewrites) {
        simplify(graph, rewrites)?;
    }
    drop_unused_values(graph);
    // Sums of sums that are cut off in between are none yet.
    if drop_between(graph, rewrites) {
        simplify(graph, rewrites)?;
    }
    // On the way where it is needed more may be known of what an op is handed.
    sink(graph, rewrites, false);
    // What one arm stores is known behind it when it has no branch any more.
    for _ in 0..STRAIGHTENED {
        if !straighten(graph, entry, rewrites) {
            break;
        }
        simplify(graph, rewrites)?;
    }
    if merge_in_step(graph, rewrites) {
        simplify(graph, rewrites)?;
    }
    threaded.set(false);
    load_nothing(graph, rewrites);
    // Only when parameters have gone that are always the same is it plain which ops are equal.
    let mut walked = forward(graph, entry, rewrites);
    if drop_recorded(graph, rewrites) || walked.changed {
        simplify(graph, rewrites)?;
    }
    // What was handed over may be 1 and 0 since.
    if branches_to_bits(graph, rewrites) | merge_ranges(graph, entry, rewrites) {
        simplify(graph, rewrites)?;
        walked = forward(graph, entry, rewrites);
        simplify(graph, rewrites)?;
    }
    let has_loops = walked.has_loops;
    // What arms load and store is plainer now.
    let mut news = straighten(graph, entry, rewrites);
    if news {
        simplify(graph, rewrites)?;
    }
    // Where ways part earlier, each brings more of what has been found.
    news |= threaded.get();
    // From an inner loop into the outer one, and out of that.
    for _ in 0..HOISTS {
        if !has_loops || !hoist(graph, rewrites) {
            break;
        }
        news = true;
        simplify(graph, rewrites)?;
    }
    for _ in 0..HOISTS {
        if !has_loops || !hoist_invariants(graph, rewrites) {
            break;
        }
        news = true;
        simplify(graph, rewrites)?;
    }
    // A store between two checks may be none any more.
    let without_needless = |graph: &mut Graph, rewrites: &mut Rewrites| {
        let changed =
            drop_dead_stores(graph, rewrites) | drop_unseen_stores(graph, rewrites) | drop_undemanded(graph, rewrites);
        if changed { simplify(graph, rewrites).map(|()| true) } else { Some(false) }
    };
    news |= without_needless(graph, rewrites)?;
    // What is computed from what has gone up may go up as well.
    for _ in 0..BUSY {
        if !hoist_busy(graph, rewrites) {
            break;
        }
        news = true;
    }
    if merge_equal_blocks(graph, rewrites) | merge_in_step(graph, rewrites) {
        news = true;
        simplify(graph, rewrites)?;
    }
    if merge_rows(graph, entry, rewrites) | merge_guards(graph, entry, rewrites) {
        news = true;
        simplify(graph, rewrites)?;
    }
    // One walk for all that is new: of what is done before a loop more is known in it, and behind what is always done,
    // and behind one check for several.
    let mut late = false;
    if news {
        walked = forward(graph, entry, rewrites);
        late = walked.late;
        if walked.changed {
            simplify(graph, rewrites)?;
            without_needless(graph, rewrites)?;
        }
    }
    // What tests have become needless for has fewer users now.
    let mut walks = if sink(graph, rewrites, true) | late { LAST_WALKS } else { 0 };
    while walks > 0 {
        walked = forward(graph, entry, rewrites);
        if walked.changed {
            simplify(graph, rewrites)?;
        }
        walks = if walked.late { walks - 1 } else { 0 };
    }
    Some(())
}
