//! Graphs that suit a machine better: what counts in instructions, registers and jumps, not in ops.
//!
//! ```text
//! recursion    some levels of a small function that calls itself are one
//! next_round   behind a loop what counts in steps is counted from what the next round would begin with
//! shifts       values that move up round by round: two rounds become one, in which they stay where they are
//! products     where each round multiplies what the last one has left, four rounds become one
//! rounds       the way that a round of a small loop takes, for the two above
//! inversion    small loops that are tested before each round are tested behind it
//! arms         small arms are both done, and what they hand over is selected
//! steps        what rounds add to a value that the next one is handed is computed in place
//! ways         sums that are counted anew on the ways that hand them over
//! ```
//!
//! They make copies of graphs, or say of values how they are to be computed; what they do is the same as before, in
//! results, memory and traps.

pub(crate) mod arms;
pub(crate) mod inversion;
mod next_round;
mod products;
mod recursion;
mod rounds;
mod shifts;
pub(crate) mod steps;
pub(crate) mod ways;

use flowgraph::ir::Graph;
use std::borrow::Cow;

/// A graph that does the same and suits a machine better; of one that others call by a name, with some levels of its
/// recursion in one.
pub(crate) fn suited<'g>(graph: &'g Graph, called: Option<&str>) -> Cow<'g, Graph> {
    let mut suited = Cow::Borrowed(graph);
    if let Some(in_one) = called.and_then(|name| recursion::levels_in_one(graph, name)) {
        suited = Cow::Owned(in_one);
    }
    let passes = [next_round::counted_from_next_round, products::in_fours, shifts::unrolled, inversion::tested_behind];
    for pass in passes {
        if let Some(better) = pass(&suited) {
            suited = Cow::Owned(better);
        }
    }
    suited
}
