//! Executing while specializing.

use super::engine::Engine;
use super::error::SpecError;
use super::state::{GraphIx, Red, State};
use flowgraph::eval::{Evaluator, Outcome, TrapReport};
use flowgraph::ir::{Imm, Op, Opcode, Operand, Type};
use smallvec::SmallVec;

impl Engine<'_> {
    /// Emits a call and carries it out, on the callee's compiler graph with all its arguments.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn emit_and_call(
        &mut self,
        st: &mut State,
        op: &Op,
        imm: Imm,
        operands: &[Operand],
        types: &[Type],
        callee: GraphIx,
        all_args: &[Red],
    ) -> Result<Result<SmallVec<[Red; 2]>, TrapReport>, SpecError> {
        let mut words = Vec::new();
        for red in all_args {
            let operand = self.real(st, *red, op.loc)?;
            words.push(self.concrete_word(st, operand));
        }
        let key = &self.program.graph(callee).key;
        let function = || self.program.graph(callee).function.clone();
        let mut evaluator = Evaluator::new(self.program.module, self.memory);
        evaluator.jitted = !self.program.graph(callee).attributes.dont_look_inside;
        let failed = |reason: String| SpecError::Evaluation { function: function(), reason, loc: op.loc };
        let words = match evaluator.call(key, &words).map_err(|e| failed(e.to_string()))? {
            Outcome::Returned(words) => words,
            Outcome::Trapped(trap) => return Ok(Err(trap)),
            _ => return Err(failed("it did not come to its end".to_owned())),
        };
        self.quiet_steps = 0;
        let values = self.fragments[st.fragment].push(st.block, Opcode::Call, operands, imm, types, op.loc);
        if let Some(concrete) = &mut st.concrete {
            concrete.extend(values.iter().copied().zip(words));
        }
        st.snapshot = None;
        Ok(Ok(values.into_iter().map(Red::Value).collect()))
    }
}
