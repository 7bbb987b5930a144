//! What each stage has and hasn't: colors, times, modes, marks, exits.

use super::{Checker, Rule};
use crate::ir::*;

impl Checker<'_> {
    /// The stage, as far as messages go: a graph without colors is a flow graph wherever it is.
    fn stage(&self) -> Stage {
        if self.has_colors() || self.module.stage == Stage::Residual { self.module.stage } else { Stage::Flow }
    }

    fn color(&self, v: ValueId) -> Option<Color> {
        self.graph.values.get(v.index()).and_then(|info| info.color)
    }

    fn is_green(&self, v: ValueId) -> bool {
        self.color(v) == Some(Color::Green)
    }

    /// The operands of an op that aren't known when compiling.
    fn reds(&self, op: &Op) -> Vec<ValueId> {
        op.args.iter().filter_map(|arg| self.not_green(*arg)).collect()
    }

    /// The value of an operand that isn't known when compiling.
    fn not_green(&self, operand: Operand) -> Option<ValueId> {
        operand.value().filter(|v| !self.is_green(*v))
    }

    /// Values that have to have colors.
    pub(super) fn colors_of(&mut self, values: &[ValueId]) {
        for v in values {
            if self.color(*v).is_none() {
                self.report(Rule::NoColor(*v));
            }
        }
    }

    pub(super) fn marks(&mut self, block: &Block) {
        let stage = self.stage();
        if stage != Stage::Compiler && !block.marks.is_empty() {
            self.report(Rule::MarkInStage(stage));
        }
        if !block.marks.is_sorted_by_key(|mark| mark.at) {
            self.report(Rule::MarkOrder);
        }
        if let Some(mark) = block.marks.iter().find(|mark| mark.at as usize > block.ops.len()) {
            self.report(Rule::MarkRange { at: mark.at, ops: block.ops.len() });
        }
        if !self.has_colors() {
            for v in block.params.iter().chain(block.ops.iter().flat_map(|op| &op.results)) {
                if self.color(*v).is_some() {
                    self.report(Rule::ColorInStage { value: *v, stage });
                }
            }
        }
    }

    pub(super) fn op_stage(&mut self, op: &Op) {
        let stage = self.stage();
        if op.time == Time::Emit && stage != Stage::Compiler {
            self.report(Rule::EmitInStage(stage));
        }
        if let Some(callee) = op.callee()
            && (callee.mode == CallMode::Plain) == (stage == Stage::Compiler)
            && !self.decides(callee)
        {
            self.report(Rule::CallModeInStage { mode: callee.mode.name(), stage });
        }
        if self.has_colors() {
            self.colors_of(&op.results);
            self.green_results(op);
        }
        if stage == Stage::Compiler {
            self.time(op);
        }
    }

    /// Whether this is the graph that decides about calls of `callee`, and the call says what is decided.
    fn decides(&self, callee: &Callee) -> bool {
        let target = self.module.graphs.get(&*callee.name);
        matches!(callee.mode, CallMode::Inline | CallMode::Residual)
            && matches!(self.stage(), Stage::Flow | Stage::Colored)
            && target.is_some_and(|g| g.attributes.look_inside_if.as_ref() == Some(&self.graph.function))
    }

    /// A green result is computed from greens and from what never changes. A promotion makes one of a red; what a call
    /// makes green is its callee's business.
    fn green_results(&mut self, op: &Op) {
        let Some(green) = op.results.iter().copied().find(|v| self.is_green(*v)) else { return };
        if op.opcode == Opcode::Promote || op.callee().is_some() {
            return;
        }
        for from in self.reds(op) {
            self.report(Rule::GreenFromRed { value: green, from });
        }
        if let Some(desc) = op.mem()
            && desc.kind != MemKind::Immutable
            && !self.is_green_field(desc)
        {
            self.report(Rule::GreenFromMemory { value: green, kind: desc.kind });
        }
    }

    /// Whether the place is a field that belongs to the key (`#[green]`).
    fn is_green_field(&self, desc: &MemDesc) -> bool {
        let fields = self.module.structs.get(&*desc.class).map_or(&[][..], |decl| &decl.fields);
        fields.iter().any(|field| field.green && *field.name == *desc.field)
    }

    fn time(&mut self, op: &Op) {
        if let Some(Callee { mode: CallMode::Fold, .. }) = op.callee() {
            for v in self.reds(op) {
                self.report(Rule::FoldsRed(v));
            }
        }
        let looked_into = matches!(op.callee(), Some(callee) if callee.mode != CallMode::Residual);
        if op.opcode == Opcode::Promote || looked_into {
            return;
        }
        for v in &op.results {
            match (op.time, self.is_green(*v)) {
                (Time::Now, false) => self.report(Rule::ExecutesRed(*v)),
                (Time::Emit, true) => self.report(Rule::EmitsGreen(*v)),
                _ => {}
            }
        }
    }

    pub(super) fn terminator_stage(&mut self, term: &Terminator) {
        let stage = self.stage();
        match term {
            Terminator::Exit { .. } | Terminator::Enter { .. } if stage != Stage::Residual => {
                let what = if matches!(term, Terminator::Exit { .. }) { "an exit" } else { "a way into a fragment" };
                self.report(Rule::ResidualOnly { what, stage });
            }
            Terminator::Switch { promotion: true, .. } if stage != Stage::Residual => {
                self.report(Rule::ResidualOnly { what: "a promotion's switch", stage });
            }
            _ => {}
        }
        if let Terminator::Branch { cond: on, time, .. } | Terminator::Switch { value: on, time, .. } = term {
            match (time, self.not_green(*on)) {
                (Time::Emit, _) if stage != Stage::Compiler => self.report(Rule::EmitInStage(stage)),
                (Time::Now, Some(v)) if stage == Stage::Compiler => self.report(Rule::BranchOnRed(v)),
                (Time::Emit, None) => self.report(Rule::SplitOnGreen),
                _ => {}
            }
        }
        if !self.has_colors() {
            return;
        }
        for edge in term.edges() {
            let Some(target) = self.graph.blocks.get(edge.block.index()) else { continue };
            for (param, arg) in target.params.iter().zip(&edge.args) {
                if let (true, Some(from)) = (self.is_green(*param), self.not_green(*arg)) {
                    self.report(Rule::GreenParameter { to: edge.block, param: *param, from });
                }
            }
        }
    }
}
