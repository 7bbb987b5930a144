//! Portals and merge points: calling a portal has to be the same as going on at its merge point.

use super::{Checker, Rule};
use crate::ir::*;

impl Checker<'_> {
    pub(super) fn portal(&mut self) {
        let Some(portal) = &self.graph.attributes.portal else { return };
        let mut params: Vec<usize> = portal.greens.iter().chain(&portal.reds).copied().collect();
        params.sort_unstable();
        let count = self.graph.signature.params.len();
        if !params.into_iter().eq(0..count) {
            self.report(Rule::PortalParameters(count));
        }
    }

    pub(super) fn merge_point(&mut self, block: &Block, index: usize, op: &Op) {
        if op.opcode != Opcode::MergePoint {
            return;
        }
        if index != 0 {
            self.report(Rule::MergePointPlace);
        }
        let is_portal = self.graph.attributes.portal.is_some();
        if !is_portal && !op.args.is_empty() {
            self.report(Rule::MergePointNoPortal);
        }
        let types = |values: &[ValueId]| values.iter().map(|v| self.ty(Operand::Value(*v))).collect::<Vec<_>>();
        let operands_are_params = op.args.iter().copied().eq(block.params.iter().map(|v| Operand::Value(*v)));
        let mut wanted = types(&self.graph.blocks[0].params);
        wanted.extend(self.module.key_fields(&self.graph.signature).iter().map(|field| Some(field.scalar.ty())));
        if is_portal && (!operands_are_params || types(&block.params) != wanted) {
            self.report(Rule::MergePointOperands);
        }
    }
}
