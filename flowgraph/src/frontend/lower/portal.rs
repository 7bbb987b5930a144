//! Merge points, and what a portal must keep to (the resume contract, section 1).

use super::super::items::Program;
use super::super::refusal::{Pos, Reason};
use super::super::tree::{LocalId, Pat, PatKind};
use super::super::types::Ty;
use super::place::Mem;
use super::{Lowerer, Val, Var};
use crate::analysis::Liveness;
use crate::ir::{BlockId, Effect, Graph, Imm, MemKind, NameDef, Opcode, Operand, Portal, Terminator, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A portal whose body is being lowered.
pub(super) struct PortalBuild {
    /// The parameters in order, with what they refer to if that is a struct behind `&mut`.
    params: Vec<Option<(LocalId, Option<Ty>)>>,
    merge_points: Vec<Pos>,
    /// Where the parameters lie that need an address. The value goes across the merge point, and lies in another slot
    /// behind it: which one is meant in a loop around the merge point depends on the way there.
    bases: FxHashMap<LocalId, Var>,
}

/// A `#[green]` field behind a parameter: the parameter's variable, the field's number there, and what it holds at the
/// merge point.
struct KeyField {
    of: LocalId,
    number: usize,
    var: Var,
}

impl PortalBuild {
    pub(super) fn new(params: &[(Pat, Ty)], _portal: &Portal) -> PortalBuild {
        let param = |(pat, ty): &(Pat, Ty)| {
            let PatKind::Bind(id, None) = pat.kind else { return None };
            let behind = if let Ty::Ref(true, to) = ty { Some((**to).clone()) } else { None };
            Some((id, behind))
        };
        let params = params.iter().map(param).collect();
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
        let is_param = |portal: &&mut PortalBuild| portal.params.iter().flatten().any(|(param, _)| *param == id);
        let Some(portal) = self.portal.as_mut().filter(is_param) else { return };
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
        let params: Vec<(LocalId, Option<Ty>)> = portal.params.iter().flatten().cloned().collect();
        if portal.merge_points.len() > 1 {
            return self.refuse(pos, Reason::Portal, "a portal has one `merge_point!()`, this is its second");
        }
        // The parameters' values now are handed to the merge point's own block.
        let mut all = Vec::new();
        for (id, _) in &params {
            let vars = self.vars_of(*id);
            if let Some(mem) = self.slot(*id) {
                let value = self.load(&mem, pos);
                self.write_all(&vars, &value);
            } else {
                self.read_all(&vars);
            }
            all.push(vars);
        }
        let fields = self.key_fields(&params, pos);
        self.b.jump(block, pos);
        self.b.blocks[block.index()].pinned = true;
        let operands = || all.iter().flatten().copied().chain(fields.iter().map(|field| field.var));
        for var in operands() {
            self.b.add_phi(block, var);
        }
        self.b.enter(block);
        let operands: Val = operands().map(|v| self.b.read(v)).collect();
        self.b.op(Opcode::MergePoint, &operands, Imm::None, &[], pos);
        for ((id, _), vars) in params.iter().zip(all) {
            if self.slots[*id].is_some() {
                let value = self.read_all(&vars);
                self.define(*id, Some(&value), pos);
            }
        }
        self.know_key_fields(&params, &fields, pos);
    }

    /// What the `#[green]` fields behind the parameters hold, in variables.
    fn key_fields(&mut self, params: &[(LocalId, Option<Ty>)], pos: Pos) -> Vec<KeyField> {
        let mut fields = Vec::new();
        for (id, behind) in params {
            for (number, mem) in self.key_places(*id, behind.as_ref(), pos).into_iter().enumerate() {
                let value = self.load(&mem, pos);
                let [word] = value[..] else { continue };
                let var = self.b.new_var(Type::Int);
                self.b.write(var, word);
                fields.push(KeyField { of: *id, number, var });
            }
        }
        fields
    }

    /// Behind the merge point the fields hold what its key says: stored again, that is known from here on.
    fn know_key_fields(&mut self, params: &[(LocalId, Option<Ty>)], fields: &[KeyField], pos: Pos) {
        for (id, behind) in params {
            let places = self.key_places(*id, behind.as_ref(), pos);
            for KeyField { number, var, .. } in fields.iter().filter(|field| field.of == *id) {
                let value = self.b.read(*var);
                self.store(&places[*number], &[value], pos);
            }
        }
    }

    fn key_places(&mut self, id: LocalId, behind: Option<&Ty>, pos: Pos) -> Vec<Mem> {
        let Some(ty) = behind.filter(|ty| self.p.has_green_field(ty)) else { return Vec::new() };
        let vars = self.vars_of(id);
        let [address] = self.read_all(&vars)[..] else { return Vec::new() };
        self.green_fields(&Mem::new(address, MemKind::Exclusive, ty.clone()), pos)
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
