//! The merge points that a trace has come by, and the first round of a loop.
//!
//! That a loop begins at a merge point shows only when a trace comes there again. It has specialized the loop's first
//! round by then, straight on and with all that was known before the loop; the version that it makes now is for any
//! round. If all further rounds up to where the trace closes go the same way, and the state before the loop implies the
//! version, the first round's code is needless: what stands before the loop enters the version, and the round is cut
//! off. Its run has been carried out, of course, and from where it began compiled code goes the way that the trace has
//! gone.

use crate::specialize::engine::Engine;
use crate::specialize::error::SpecError;
use crate::specialize::state::{Key, State, VersionId};
use flowgraph::analysis::reverse_postorder;
use flowgraph::ir::{Edge, Graph, Operand, Terminator};
use rustc_hash::FxHashMap;

/// Of so many merge points in a row the states are kept: those that a loop may begin at are the first of its round.
const KEPT: usize = 128;

/// The merge points that a trace has come by.
#[derive(Debug)]
pub(crate) struct Heads {
    /// The trace's number.
    pub trace: usize,
    /// It began at a merge point, for the loop there, and hasn't left it.
    pub at_first: bool,
    /// How many versions it has made of each key.
    pub rounds: FxHashMap<Key, usize>,
    /// Where it has gone straight on since it made the last one; and from what, if that is kept.
    passed: FxHashMap<Key, Option<Box<Passed>>>,
    /// The first rounds of loops whose further rounds have gone the same way.
    first_rounds: FxHashMap<Key, FirstRound>,
}

/// How a trace stood where it went straight on.
#[derive(Debug)]
struct Passed {
    /// Without the values of the run.
    st: State,
    /// How many ops there were in the block.
    ops: usize,
    /// How many in the fragment, and exits in all.
    emitted: (usize, usize),
    /// How many decisions the trace had come by.
    decisions: usize,
}

/// A round for which the trace has gone straight on.
#[derive(Debug)]
struct FirstRound {
    passed: Box<Passed>,
    /// The version that was made behind it.
    version: VersionId,
    /// How many decisions the trace had come by then.
    decisions: usize,
    /// How many at the end of the latest round.
    latest: usize,
}

impl Heads {
    /// None, of this trace.
    pub fn new(trace: usize, at_first: bool) -> Heads {
        let (rounds, passed, first_rounds) = Default::default();
        Heads { trace, at_first, rounds, passed, first_rounds }
    }

    /// Whether it has gone straight on there since it made its last version.
    pub fn has_passed(&self, key: &Key) -> bool {
        self.passed.contains_key(key)
    }
}

impl Engine<'_> {
    /// The trace goes straight on past a merge point.
    pub(crate) fn pass_head(&mut self, st: &mut State, key: Key, heads: &mut Heads) {
        if heads.passed.len() >= KEPT {
            heads.passed.entry(key).or_default();
            return;
        }
        heads.passed.entry(key).or_insert_with(|| {
            let concrete = st.concrete.take();
            let fragment = &self.fragments[st.fragment];
            let (ops, emitted) = (fragment.graph.block(st.block).ops.len(), (fragment.size, self.exits.len()));
            let kept = Passed { st: st.clone(), ops, emitted, decisions: self.tracing.decisions.len() };
            st.concrete = concrete;
            Some(Box::new(kept))
        });
    }

    /// The trace has made a version of a key, and came there from the fragment `from`. If it went straight on there
    /// before, and has emitted anything since, that may have been needless.
    pub(crate) fn made_version(&mut self, key: Key, version: VersionId, from: usize, heads: &mut Heads) {
        let passed = heads.passed.remove(&key).flatten();
        heads.passed.clear();
        let Some(passed) = passed else { return };
        if from != passed.st.fragment || (self.fragments[from].size, self.exits.len()) != passed.emitted {
            heads.first_rounds.insert(
                key,
                FirstRound {
                    passed,
                    version,
                    decisions: self.tracing.decisions.len(),
                    latest: self.tracing.decisions.len(),
                },
            );
        }
    }

    /// The trace comes to a merge point: another round of a loop ends there, if it has made versions for it.
    pub(crate) fn ends_round(&self, key: &Key, heads: &mut Heads) {
        let Some(FirstRound { passed, decisions, latest, .. }) = heads.first_rounds.get_mut(key) else { return };
        let first = self.tracing.decisions.get(passed.decisions..*decisions);
        if first.is_none() || first != self.tracing.decisions.get(*latest..) {
            heads.first_rounds.remove(key);
        } else {
            *latest = self.tracing.decisions.len();
        }
    }

    /// The trace closes at a merge point. If all rounds of the loop went the way of the first one, what the trace came
    /// from before that enters the version that was made behind it, if it can.
    pub(crate) fn cut_first_round(&mut self, key: &Key, heads: &mut Heads) -> Result<(), SpecError> {
        let Some(FirstRound { passed, version, .. }) = heads.first_rounds.remove(key) else { return Ok(()) };
        let Passed { mut st, ops, .. } = *passed;
        let (fragment, block, loc) = (st.fragment, st.block, self.loc(&st));
        let (template, head) = (self.version(version).template.clone(), self.version(version).block);
        let cut = self.fragments[fragment].graph.block_mut(block).ops.split_off(ops);
        self.fragments[fragment].forget_ops(); // what was done in the round isn't done any more
        let Some(args) = self.bind(&mut st, &template, head, false, loc)? else {
            self.fragments[fragment].graph.block_mut(block).ops.extend(cut);
            return Ok(());
        };
        self.link(&st, version, args, loc);
        let fragment = &mut self.fragments[fragment];
        clear_unreachable(&mut fragment.graph);
        fragment.size = fragment.graph.blocks.iter().map(|block| block.ops.len()).sum();
        Ok(())
    }
}

/// Leaves nothing in blocks that nothing leads to.
fn clear_unreachable(graph: &mut Graph) {
    let mut leads = vec![false; graph.blocks.len()];
    reverse_postorder(graph).into_iter().for_each(|block| leads[block.index()] = true);
    for id in graph.block_ids().filter(|block| !leads[block.index()]) {
        let block = graph.block_mut(id);
        block.ops.clear();
        block.term = Terminator::Jump(Edge::new(id, block.params.iter().copied().map(Operand::Value)));
    }
}
