//! Runs that tier 0 brings to a portal's merge point, and that go back there (the resume contract, section 1).

use super::{Jit, JitError, JitOptions, Next, Policy};
use flowgraph::eval;
use flowgraph::ir::Word;

/// Where a run is that tier 0 has brought to a merge point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// At the portal's merge point again, with these words in its parameters' leaves: tier 0 goes on from there.
    At(Vec<Word>),
    /// The portal has returned, or trapped.
    Ended(eval::Outcome),
}

impl JitOptions {
    /// The settings of a JIT whose interpreter is tier 0: compiling takes some 10,000 times as long as a step of the interpreter,
    /// so it is for what comes by often. (PyPy's thresholds are 1,039 and 200.)
    pub fn just_in_time() -> JitOptions {
        JitOptions { threshold: 1000, bridge: 200, ..JitOptions::default() }
    }
}

impl Jit<'_> {
    /// Goes on with a run of the portal that this driver was made for, which stands at its merge point with `words` in its
    /// parameters' leaves: in compiled code if there is some for its greens, else by tracing. Gives nothing where neither can
    /// be.
    ///
    /// # Errors
    /// See [`JitError`]. The run can't go on then.
    pub fn at_merge_point(&mut self, words: &[Word]) -> Result<Option<Arrival>, JitError> {
        let portal = match self.portal.take() {
            Some(portal) => portal,
            None => {
                self.policy = Policy::Tracing;
                self.engine.portal(&self.key.clone())?
            }
        };
        let frame = self.engine.arrive(&portal, words);
        self.unit = Some(portal.unit);
        self.portal = Some(portal);
        let frames = [frame?];
        self.engine.memory.open_foreign(true);
        let next = match self.engine.find_entry(&frames)? {
            Some((key, words)) => {
                self.compile_new(&key)?;
                Some(Next::Code(key, words))
            }
            None => self.trace_frames(&frames)?,
        };
        next.map(|next| self.go_on_to(next)).transpose()
    }
}
