//! Lowering: from the typed tree to a graph.
//!
//! Values are lists of SSA operands, one for each leaf of their type. A variable is a handful of SSA variables, or, if
//! it is referred to or indexed by what isn't a literal, a stack slot for all of its scope. Evaluation order is Rust's.
//! Everything a constant needs folds away in [`super::ssa`], so constants are lowered by the same code.

mod alternatives;
mod arithmetic;
mod control;
mod exhaustive;
mod expr;
mod given;
mod loops;
mod matching;
mod memory;
mod number;
mod place;
mod portal;
mod shown;
mod subject;
mod sum;

use super::finish::finish;
use super::infer::Infer;
use super::items::{FnItem, FnTypes, Program};
use super::refusal::{Pos, Reason};
use super::ssa::{Builder, Var};
use super::tree::{Body, Local, LocalId, Pat, PatKind};
use super::types::{Ty, rust_type};
use crate::ir::{
    Attributes, BlockId, Graph, Imm, Opcode, Operand, Param, Scalar, Signature, SlotDesc, Trap, TrapKind, Type,
};
pub(super) use portal::check_contract;

use matching::Goal;
use place::{Element, Mem};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use subject::Subject;

/// The leaves of a value.
pub(super) type Val = SmallVec<[Operand; 4]>;

/// At most so many leaves are held in SSA values, and handed on by value.
pub(super) const MAX_LEAVES: u64 = 64;

struct LoopTargets {
    exit: BlockId,
    again: Option<BlockId>,
    /// Where `break value` puts the value.
    value: Vec<Var>,
}

pub(super) struct Lowerer<'p, 's> {
    p: &'p Program<'s>,
    infer: Infer,
    locals: Vec<Local>,
    b: Builder,
    vars: Vec<Option<Vec<Var>>>,
    slots: Vec<Option<Mem>>,
    elements: Vec<Option<Element>>,
    /// Shared references that may point to what can be changed through another name.
    tainted: Vec<bool>,
    /// Variables of patterns whose slots have been made before the pattern is tested.
    placed: FxHashSet<LocalId>,
    owners: FxHashMap<Var, LocalId>,
    loops: Vec<Option<LoopTargets>>,
    portal: Option<portal::PortalBuild>,
    /// Where variables that begin without a value, and may have one only, get it.
    given: given::Given,
    /// A constant is computed: there is no run time.
    constant: bool,
    /// What the function returns.
    result: Ty,
}

impl<'p, 's> Lowerer<'p, 's> {
    pub(super) fn new(p: &'p Program<'s>, infer: Infer, locals: Vec<Local>, loops: usize, constant: bool) -> Self {
        let n = locals.len();
        Lowerer {
            p,
            infer,
            locals,
            b: Builder::new(),
            vars: vec![None; n],
            slots: vec![None; n],
            elements: vec![None; n],
            tainted: vec![false; n],
            placed: FxHashSet::default(),
            owners: FxHashMap::default(),
            loops: (0..loops).map(|_| None).collect(),
            portal: None,
            given: given::Given::default(),
            constant,
            result: Ty::Unit,
        }
    }

    /// The graph of a function.
    pub(super) fn function(
        p: &'p Program<'s>,
        f: &FnItem<'s>,
        types: &FnTypes,
        body: Body,
        attributes: Attributes,
    ) -> Option<Graph> {
        let Body { locals, params, value, result, infer, loops, .. } = body;
        let mut lowerer = Lowerer::new(p, infer, locals, loops, false);
        lowerer.result = types.result.clone();
        let pos = p.fn_pos(f);
        let before = p.refusals.borrow().len();
        let mut names = Vec::new();
        let mut signature =
            Signature { params: Vec::new(), result: rust_type(&types.result).unwrap_or(crate::ir::RustType::Unit) };
        let mut all = Vec::new();
        for (pat, ty) in &params {
            let name = match &pat.kind {
                PatKind::Bind(id, None) => lowerer.locals[*id].name.clone(),
                _ => "_".to_owned(),
            };
            let mut scalars = Vec::new();
            p.leaf_scalars(ty, &mut scalars);
            let values: Val = scalars
                .iter()
                .map(|s| {
                    let v = lowerer.b.new_value(s.ty());
                    lowerer.b.entry_params.push(v);
                    Operand::Value(v)
                })
                .collect();
            let rust = rust_type(ty);
            match &rust {
                Some(rust) => names.extend(p.module.borrow().leaves(rust).iter().map(|l| format!("{name}{}", l.path))),
                None => names.extend((0..scalars.len()).map(|i| format!("{name}.{i}"))),
            }
            signature.params.push(Param { name, ty: rust.unwrap_or(crate::ir::RustType::Unit) });
            all.push(values);
        }
        if let Some(portal) = &attributes.portal {
            lowerer.portal = Some(portal::PortalBuild::new(&params, portal));
        }
        for ((pat, ty), values) in params.iter().zip(all) {
            lowerer.bind_all(pat, ty, values);
        }
        let is_never = types.result == Ty::Never;
        let values = lowerer.value(&value);
        if !lowerer.b.is_dead() {
            let values = if is_never { Vec::new() } else { values.to_vec() };
            lowerer.b.ret(values, value.value_pos());
        }
        lowerer.check_undefined();
        lowerer.check_given_once();
        lowerer.check_portal(pos);
        if p.refusals.borrow().len() > before {
            return None;
        }
        let mut scalars = Vec::new();
        p.leaf_scalars(&result, &mut scalars);
        let mut graph = finish(lowerer.b, &f.path, signature, attributes);
        graph.params = names;
        graph.results = scalars.iter().map(|s| s.ty()).collect();
        graph.loc = pos.loc;
        Some(graph)
    }

    // ---- types

    fn ty(&mut self, ty: &Ty) -> Ty {
        self.infer.resolve(ty)
    }

    fn scalar(&mut self, ty: &Ty) -> Scalar {
        match self.ty(ty) {
            Ty::Scalar(s) => s,
            ty @ (Ty::Enum(_) | Ty::Option(_) | Ty::Result(..)) => self.p.shape(&ty).map_or(Scalar::I32, |s| s.repr),
            _ => Scalar::Usize,
        }
    }

    fn scalars(&mut self, ty: &Ty) -> Vec<Scalar> {
        let ty = self.ty(ty);
        let mut out = Vec::new();
        self.p.leaf_scalars(&ty, &mut out);
        out
    }

    fn leaf_count(&mut self, ty: &Ty) -> u64 {
        let ty = self.ty(ty);
        self.p.leaf_count(&ty)
    }

    /// Whether values of the type are too large for SSA.
    fn is_large(&mut self, ty: &Ty) -> bool {
        !self.constant && self.leaf_count(ty) > MAX_LEAVES
    }

    fn refuse(&self, pos: Pos, reason: Reason, detail: &str) {
        self.p.refuse_at(pos, reason, detail);
    }

    /// What stands for the value of an expression that doesn't come back, or was refused.
    fn nothing(&mut self, ty: &Ty) -> Val {
        if self.is_large(ty) {
            return Val::new();
        }
        self.scalars(ty).iter().map(|s| super::ssa::zero(s.ty())).collect()
    }

    // ---- temporaries that join branches

    fn temporaries(&mut self, ty: &Ty) -> Vec<Var> {
        self.scalars(ty).iter().map(|s| self.b.new_var(s.ty())).collect()
    }

    fn write_all(&mut self, vars: &[Var], values: &[Operand]) {
        for (var, value) in vars.iter().zip(values) {
            self.b.write(*var, *value);
        }
    }

    fn read_all(&mut self, vars: &[Var]) -> Val {
        vars.iter().map(|v| self.b.read(*v)).collect()
    }

    // ---- variables

    /// The SSA variables of a local.
    fn vars_of(&mut self, id: LocalId) -> Vec<Var> {
        if let Some(vars) = &self.vars[id] {
            return vars.clone();
        }
        let ty = self.locals[id].ty.clone();
        let vars = if self.is_large(&ty) { Vec::new() } else { self.temporaries(&ty) };
        self.owners.extend(vars.iter().map(|v| (*v, id)));
        self.vars[id] = Some(vars.clone());
        vars
    }

    fn needs_slot(&mut self, id: LocalId) -> bool {
        let ty = self.locals[id].ty.clone();
        !self.constant && (self.locals[id].addressed || self.is_large(&ty))
    }

    /// Whether the code so far never comes to its end.
    pub(super) fn has_trapped(&self) -> bool {
        self.b.is_dead()
    }

    /// A new stack slot for a value of type `ty`.
    fn new_slot(&mut self, ty: &Ty, name: &str, pos: Pos) -> Mem {
        let ty = self.ty(ty);
        if rust_type(&ty).is_none() && ty != Ty::Error {
            self.refuse(pos, Reason::NotYet, &format!("a reference to a variable of the type {ty}"));
        }
        let size = self.p.layout(&ty).0;
        let desc = SlotDesc { size, name: name.into() };
        let base = self.b.op(Opcode::StackSlot, &[], Imm::Slot(desc), &[Type::Int], pos)[0];
        Mem { own: true, ..Mem::new(base, crate::ir::MemKind::Exclusive, ty) }
    }

    /// Declares a local, with its value if it has one.
    fn define(&mut self, id: LocalId, value: Option<&[Operand]>, pos: Pos) {
        let (name, ty) = (self.locals[id].name.clone(), self.locals[id].ty.clone());
        if self.needs_slot(id) {
            let mem = match &self.slots[id] {
                Some(mem) if self.placed.contains(&id) => mem.clone(),
                _ => self.new_slot(&ty, &name, pos),
            };
            if let Some(value) = value {
                self.store(&mem, value, pos);
            }
            self.b.name(&name, pos, &[mem.base]);
            self.set_base(id, mem.base);
            self.slots[id] = Some(mem);
            return;
        }
        let vars = self.vars_of(id);
        if let Some(value) = value {
            self.write_all(&vars, value);
            if !name.starts_with('(') {
                self.b.name(&name, pos, value);
            }
        }
    }

    /// Binds an irrefutable pattern.
    fn bind_all(&mut self, pat: &Pat, ty: &Ty, value: Val) {
        let never = self.b.new_block();
        self.test(pat, ty, &Subject::Value(value), Goal::new(never, true, false));
        self.b.seal(never);
        self.settle(pat);
    }

    // ---- traps

    fn trap_now(&mut self, kind: TrapKind, message: Option<String>, args: Vec<(Operand, Scalar)>, pos: Pos) {
        self.b.trap(Trap { kind, message, args, loc: pos.loc }, pos);
    }

    /// Goes on if `ok`, and traps otherwise.
    fn check(&mut self, ok: Operand, kind: TrapKind, args: &[(Operand, Scalar)], pos: Pos) {
        self.check_saying(ok, kind, None, args, pos);
    }

    fn check_saying(
        &mut self,
        ok: Operand,
        kind: TrapKind,
        message: Option<String>,
        args: &[(Operand, Scalar)],
        pos: Pos,
    ) {
        if ok.as_int().is_some_and(|i| i != 0) {
            return;
        }
        let (go_on, stop) = (self.b.new_block(), self.b.new_block());
        self.b.branch(ok, go_on, stop, pos);
        self.b.enter(stop);
        self.trap_now(kind, message, args.to_vec(), pos);
        self.b.enter(go_on);
    }

    /// Traps if `bad`.
    fn check_not(&mut self, bad: Operand, kind: TrapKind, args: &[(Operand, Scalar)], pos: Pos) {
        let ok = self.b.pure(Opcode::IntIsZero, &[bad], pos);
        self.check(ok, kind, args, pos);
    }

    fn check_undefined(&mut self) {
        let undefined = std::mem::take(&mut self.b.undefined);
        for (var, loc) in undefined {
            if let Some(id) = self.owners.get(&var) {
                let local = &self.locals[*id];
                let pos = if loc.is_known() { Pos { loc, length: 1 } } else { local.pos };
                let name = local.name.clone();
                self.refuse(pos, Reason::Uninitialised, &name);
            }
        }
    }

    // ---- small emitters

    fn op1(&mut self, opcode: Opcode, a: Operand, pos: Pos) -> Operand {
        self.b.pure(opcode, &[a], pos)
    }

    fn op2(&mut self, opcode: Opcode, a: Operand, b: Operand, pos: Pos) -> Operand {
        self.b.pure(opcode, &[a, b], pos)
    }

    /// `a + constant`, without an op for zero.
    fn add_constant(&mut self, a: Operand, constant: i64, pos: Pos) -> Operand {
        match a {
            _ if constant == 0 => a,
            Operand::Const(crate::ir::Const::Addr(data, offset)) => {
                Operand::Const(crate::ir::Const::Addr(data, offset.wrapping_add(constant)))
            }
            _ => self.op2(Opcode::IntAdd, a, Operand::int(constant), pos),
        }
    }
}
