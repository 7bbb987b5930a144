//! Merge points, and what a portal must keep to (the resume contract, section 1).

use super::super::items::Program;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{LocalId, Pat, PatKind};
use super::super::types::Ty;
use super::place::Mem;
use super::{Lowerer, Val, Var};
use crate::analysis::Liveness;
use crate::ir::{BlockId, Effect, Graph, Imm, NameDef, Opcode, Operand, Portal, Terminator, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A portal whose body is being lowered.
pub(super) struct PortalBuild {
    /// The parameters in order.
    params: Vec<Option<LocalId>>,
    merge_points: Vec<Pos>,
    /// Where the parameters lie that need an address. The value goes across the merge point, and lies in another slot behind
    /// it: which one is meant in a loop around the merge point depends on the way there.
    bases: FxHashMap<LocalId, Var>,
}

impl PortalBuild {
    pub(super) fn new(params: &[(Pat, Ty)], _portal: &Portal) -> PortalBuild {
        let local = |pat: &Pat| if let PatKind::Bind(id, None) = pat.kind { Some(id) } else { None };
        let params = params.iter().map(|(pat, _)| local(pat)).collect();
        PortalBuild { params, merge_points: Vec::new(), bases: FxHashMap::default() }
    }
}

impl Lowerer<'_, '_> {
    /// Where a local lies that needs an address.
    pub(super) fn slot(&mut self, id: LocalId) -> Option<Mem> {
        let mem = self.slots[id].clone()?;
        let base = self.portal.as_ref().and_then(|portal| portal.bases.get(&id).copied());
        Some(match base {
            Some(var) => Mem { base: self.b.read(var), ..mem },
            None => mem,
        })
    }

    /// Notes the slot of a local, if it is a portal's parameter.
    pub(super) fn set_base(&mut self, id: LocalId, base: Operand) {
        let Some(portal) = self.portal.as_mut().filter(|portal| portal.params.contains(&Some(id))) else { return };
        let var = *portal.bases.entry(id).or_insert_with(|| self.b.new_var(Type::Int));
        self.b.write(var, base);
    }

    pub(super) fn merge_point(&mut self, pos: Pos) {
        let block = self.b.new_block();
        let Some(portal) = &mut self.portal else {
            self.b.jump(block, pos);
            self.b.enter(block);
            self.b.blocks[block.index()].pinned = true;
            self.b.op(Opcode::MergePoint, &[], Imm::None, &[], pos);
            return;
        };
        portal.merge_points.push(pos);
        let params: Vec<LocalId> = portal.params.iter().flatten().copied().collect();
        if portal.merge_points.len() > 1 {
            return self.refuse(pos, Reason::Portal, "a portal has one `merge_point!()`, this is its second");
        }
        // The parameters' values now are handed to the merge point's own block.
        let mut all = Vec::new();
        for id in &params {
            let vars = self.vars_of(*id);
            if let Some(mem) = self.slot(*id) {
                let value = self.load(&mem, pos);
                self.write_all(&vars, &value);
            } else {
                self.read_all(&vars);
            }
            all.push(vars);
        }
        self.b.jump(block, pos);
        self.b.blocks[block.index()].pinned = true;
        for var in all.iter().flatten() {
            self.b.add_phi(block, *var);
        }
        self.b.enter(block);
        let operands: Val = all.iter().flatten().map(|v| self.b.read(*v)).collect();
        self.b.op(Opcode::MergePoint, &operands, Imm::None, &[], pos);
        for (id, vars) in params.into_iter().zip(all) {
            if self.slots[id].is_some() {
                let value = self.read_all(&vars);
                self.define(id, Some(&value), pos);
            }
        }
    }

    pub(super) fn check_portal(&mut self, pos: Pos) {
        if let Some(portal) = &self.portal
            && portal.merge_points.is_empty()
        {
            self.refuse(pos, Reason::Portal, "this portal has no `merge_point!()`");
        }
    }
}

/// Refuses what lives across the merge point without being a parameter, and effects before it.
pub(in super::super) fn check_contract(p: &Program<'_>, graph: &Graph, pos: Pos) {
    let merge =
        graph.block_ids().find(|b| graph.block(*b).ops.first().is_some_and(|op| op.opcode == Opcode::MergePoint));
    let Some(merge) = merge else {
        return p.refuse_at(pos, Reason::Portal, "the `merge_point!()` of this portal can't be reached");
    };
    let liveness = Liveness::new(graph);
    let own = &graph.block(merge).params;
    let mut said = FxHashSet::default();
    for value in liveness.live_before(merge, 0) {
        if own.contains(value) {
            continue;
        }
        let (name, loc) = owner(graph, *value);
        let at = if loc.is_known() { Pos { loc, length: 1 } } else { pos };
        if said.insert(name.clone()) {
            p.refuse_at(at, Reason::PortalLocal, &name);
        }
    }
    let memory = own_memory(graph);
    for block in before(graph, merge) {
        for op in &graph.block(block).ops {
            let what = match op.opcode.effect() {
                Effect::Write if op.args.first().is_none_or(|base| !memory.contains(base)) => "a write",
                Effect::Call => "a call",
                _ => continue,
            };
            p.refuse_at(Pos { loc: op.loc, length: 1 }, Reason::PortalEffect, what);
        }
    }
}

/// The addresses of the function's own variables, and of their parts.
fn own_memory(graph: &Graph) -> FxHashSet<Operand> {
    let mut own = FxHashSet::default();
    let mut before = usize::MAX;
    while own.len() != before {
        before = own.len();
        for op in graph.blocks.iter().flat_map(|b| &b.ops) {
            let part = op.opcode == Opcode::IntAdd && op.args.iter().any(|arg| own.contains(arg));
            if part || op.opcode == Opcode::StackSlot {
                own.extend(op.results.iter().map(|v| Operand::Value(*v)));
            }
        }
    }
    own
}

/// The blocks that are reached from the entry without passing the merge point.
fn before(graph: &Graph, merge: BlockId) -> Vec<BlockId> {
    let mut seen: FxHashSet<BlockId> = [BlockId::ENTRY].into_iter().collect();
    let mut work = vec![BlockId::ENTRY];
    let mut out = Vec::new();
    while let Some(block) = work.pop() {
        if block == merge {
            continue;
        }
        out.push(block);
        for edge in graph.block(block).term.edges() {
            if seen.insert(edge.block) {
                work.push(edge.block);
            }
        }
    }
    out.sort_unstable();
    out
}

/// The variable that a value is of, and where it was defined.
fn owner(graph: &Graph, value: ValueId) -> (String, crate::ir::Loc) {
    // A block parameter belongs to the variable whose values are handed to it.
    let mut candidates = vec![Operand::Value(value)];
    let mut next = 0;
    while next < candidates.len() && candidates.len() < 100 {
        let candidate = candidates[next];
        next += 1;
        let is_param = |n: &NameDef| graph.signature.params.iter().any(|p| p.name == n.name);
        let defs = || graph.names.iter().filter(|n| n.values.contains(&candidate));
        if let Some(def) = defs().find(|n| !is_param(n)).or_else(|| defs().next()) {
            return (def.name.clone(), def.loc);
        }
        let Operand::Value(v) = candidate else { continue };
        for block in graph.block_ids() {
            let Some(i) = graph.block(block).params.iter().position(|p| *p == v) else { continue };
            let edges = graph.blocks.iter().flat_map(|b| Terminator::edges(&b.term)).filter(|e| e.block == block);
            candidates.extend(
                edges.filter_map(|e| e.args.get(i)).copied().filter(|a| !candidates.contains(a)).collect::<Vec<_>>(),
            );
        }
    }
    let made = graph.blocks.iter().flat_map(|b| &b.ops).find(|op| op.results.contains(&value));
    ("a value".to_owned(), made.map_or(crate::ir::Loc::UNKNOWN, |op| op.loc))
}
