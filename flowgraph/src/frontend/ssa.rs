//! Building a graph in SSA form on the fly.
//!
//! Braun, Buchwald, Hack, Leißa, Mallon, Zwinkau: *Simple and Efficient Construction of Static Single Assignment
//! Form* (CC 2013): a variable is looked up where it is read, block by block backwards; a block whose predecessors
//! aren't all known yet (a loop's head) gets a parameter at once that is filled when it is *sealed*. Instead of
//! removing trivial parameters while building, [`super::finish`] does it once at the end. All walks are iterative.

use super::refusal::Pos;
use crate::ir::{BlockId, Loc};
use crate::ir::{Const, Edge, Imm, NameDef, Op, Opcode, Operand, OperandType, Terminator, Time, Trap, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A variable: one leaf of a source variable, or a temporary that joins branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Var(pub(super) u32);

/// A block parameter and where its arguments come from.
#[derive(Clone, Debug)]
pub(super) struct Phi {
    pub(super) value: ValueId,
    pub(super) var: Var,
    /// One argument a predecessor.
    pub(super) args: Vec<(BlockId, Operand)>,
}

/// A block being built.
#[derive(Debug, Default)]
pub(super) struct BlockData {
    pub(super) phis: Vec<Phi>,
    pub(super) ops: Vec<Op>,
    pub(super) term: Option<Terminator>,
    pub(super) loc: Loc,
    pub(super) preds: Vec<BlockId>,
    pub(super) sealed: bool,
    /// A merge point's: it stays, with all its parameters.
    pub(super) pinned: bool,
    /// Nothing leads here: code after a `return`.
    pub(super) dead: bool,
}

pub(super) struct Builder {
    pub(super) blocks: Vec<BlockData>,
    pub(super) values: Vec<Type>,
    pub(super) names: Vec<NameDef>,
    pub(super) entry_params: Vec<ValueId>,
    vars: Vec<Type>,
    defs: FxHashMap<(BlockId, Var), Operand>,
    current: BlockId,
    /// `int_is_zero` results and what they ask about, so that branches on them can be turned round.
    negations: FxHashMap<ValueId, Operand>,
    /// Variables that were read where they have no value.
    pub(super) undefined: Vec<(Var, Loc)>,
    /// Where the last op came from, for reads that find nothing.
    last_loc: Loc,
}

impl Builder {
    pub(super) fn new() -> Builder {
        let mut builder = Builder {
            blocks: Vec::new(),
            values: Vec::new(),
            names: Vec::new(),
            entry_params: Vec::new(),
            vars: Vec::new(),
            defs: FxHashMap::default(),
            current: BlockId::ENTRY,
            negations: FxHashMap::default(),
            undefined: Vec::new(),
            last_loc: Loc::UNKNOWN,
        };
        builder.new_block();
        builder.blocks[0].sealed = true;
        builder
    }

    pub(super) fn new_value(&mut self, ty: Type) -> ValueId {
        self.values.push(ty);
        ValueId(u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn new_block(&mut self) -> BlockId {
        self.blocks.push(BlockData::default());
        BlockId(u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn new_var(&mut self, ty: Type) -> Var {
        self.vars.push(ty);
        Var(u32::try_from(self.vars.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn current(&self) -> BlockId {
        self.current
    }

    pub(super) fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Whether code emitted now can't be reached.
    pub(super) fn is_dead(&self) -> bool {
        self.blocks[self.current.index()].dead
    }

    /// Goes on in a block that nothing leads to.
    pub(super) fn go_dead(&mut self) {
        let block = self.new_block();
        let data = &mut self.blocks[block.index()];
        data.sealed = true;
        data.dead = true;
        self.current = block;
    }

    /// The type of an operand.
    pub(super) fn ty(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(v) => self.values[v.index()],
            Operand::Const(c) => c.ty(),
        }
    }

    // ---- ops

    /// An op as it is.
    pub(super) fn op(
        &mut self,
        opcode: Opcode,
        args: &[Operand],
        imm: Imm,
        results: &[Type],
        pos: Pos,
    ) -> SmallVec<[Operand; 2]> {
        let results: SmallVec<[ValueId; 2]> = results.iter().map(|ty| self.new_value(*ty)).collect();
        let out = results.iter().map(|v| Operand::Value(*v)).collect();
        self.last_loc = pos.loc;
        let op = Op { opcode, args: SmallVec::from_slice(args), results, imm, time: Time::Now, loc: pos.loc };
        self.blocks[self.current.index()].ops.push(op);
        out
    }

    /// A pure op with one result, folded where all operands are constants.
    pub(super) fn pure(&mut self, opcode: Opcode, args: &[Operand], pos: Pos) -> Operand {
        self.pure_all(opcode, args, pos)[0]
    }

    /// A pure op with all its results, folded where all operands are constants.
    pub(super) fn pure_all(&mut self, opcode: Opcode, args: &[Operand], pos: Pos) -> SmallVec<[Operand; 2]> {
        let types: SmallVec<[Type; 2]> = opcode
            .results()
            .iter()
            .map(|t| match t {
                OperandType::Is(ty) => *ty,
                _ => args.first().map_or(Type::Int, |a| self.ty(*a)),
            })
            .collect();
        let words: Option<SmallVec<[u64; 4]>> = args.iter().map(|a| a.constant().and_then(Const::word)).collect();
        let foldable = opcode.is_pure() && !observes_nan(opcode, args);
        if let Some(folded) = words.filter(|_| foldable).and_then(|w| opcode.compute(&w)) {
            return folded.iter().zip(&types).map(|(w, ty)| Operand::Const(Const::from_word(*ty, *w))).collect();
        }
        let out = self.op(opcode, args, Imm::None, &types, pos);
        if let (Opcode::IntIsZero, Operand::Value(v)) = (opcode, out[0]) {
            self.negations.insert(v, args[0]);
        }
        out
    }

    // ---- control flow

    fn end(&mut self, term: Terminator, pos: Pos) {
        let from = self.current;
        if self.blocks[from.index()].term.is_none() {
            if !self.blocks[from.index()].dead {
                let targets: SmallVec<[BlockId; 4]> = term.edges().map(|e| e.block).collect();
                for target in targets {
                    let preds = &mut self.blocks[target.index()].preds;
                    if !preds.contains(&from) {
                        preds.push(from);
                    }
                }
            }
            let data = &mut self.blocks[from.index()];
            data.term = Some(term);
            data.loc = pos.loc;
        }
        self.go_dead();
    }

    pub(super) fn jump(&mut self, to: BlockId, pos: Pos) {
        self.end(Terminator::Jump(edge(to)), pos);
    }

    /// Branches, or goes on at once where the condition is a constant. A negated condition turns the branch round.
    pub(super) fn branch(&mut self, cond: Operand, then: BlockId, otherwise: BlockId, pos: Pos) {
        let (mut cond, mut then, mut otherwise) = (cond, then, otherwise);
        while let Some(inner) = cond.value().and_then(|v| self.negations.get(&v)) {
            cond = *inner;
            std::mem::swap(&mut then, &mut otherwise);
        }
        match cond.as_int() {
            Some(0) => self.jump(otherwise, pos),
            Some(_) => self.jump(then, pos),
            None => {
                let term = Terminator::Branch { cond, then: edge(then), otherwise: edge(otherwise), time: Time::Now };
                self.end(term, pos);
            }
        }
    }

    /// Switches, or goes on at once where the value is a constant.
    pub(super) fn switch(&mut self, value: Operand, cases: &[(i64, BlockId)], default: BlockId, pos: Pos) {
        if let Some(known) = value.as_int() {
            let target = cases.iter().find(|(case, _)| *case == known).map_or(default, |(_, b)| *b);
            return self.jump(target, pos);
        }
        let cases = cases.iter().map(|(case, block)| (*case, edge(*block))).collect();
        self.end(Terminator::Switch { value, cases, default: edge(default), time: Time::Now, promotion: false }, pos);
    }

    pub(super) fn ret(&mut self, values: Vec<Operand>, pos: Pos) {
        self.end(Terminator::Return(values), pos);
    }

    pub(super) fn trap(&mut self, trap: Trap, pos: Pos) {
        self.end(Terminator::Trap(trap), pos);
    }

    // ---- variables

    pub(super) fn write(&mut self, var: Var, value: Operand) {
        self.defs.insert((self.current, var), value);
    }

    /// What is read next is read here, for messages.
    pub(super) fn at(&mut self, pos: Pos) {
        self.last_loc = pos.loc;
    }

    pub(super) fn read(&mut self, var: Var) -> Operand {
        let mut open = Vec::new();
        let value = self.lookup(var, self.current, &mut open);
        self.fill(open);
        value
    }

    fn lookup(&mut self, var: Var, from: BlockId, open: &mut Vec<(BlockId, usize)>) -> Operand {
        let mut passed: SmallVec<[BlockId; 8]> = SmallVec::new();
        let mut block = from;
        let value = loop {
            if let Some(value) = self.defs.get(&(block, var)) {
                break *value;
            }
            passed.push(block);
            let data = &self.blocks[block.index()];
            match (data.sealed, data.preds.as_slice()) {
                // Round and round in a loop that nothing leads to.
                (true, [_]) if passed.len() > self.blocks.len() => break zero(self.vars[var.0 as usize]),
                (true, []) => {
                    if !data.dead {
                        self.undefined.push((var, self.last_loc));
                    }
                    break zero(self.vars[var.0 as usize]);
                }
                (true, [only]) => block = *only,
                _ => {
                    let phi = self.add_phi(block, var);
                    if self.blocks[block.index()].sealed {
                        open.push((block, phi));
                    }
                    break Operand::Value(self.blocks[block.index()].phis[phi].value);
                }
            }
        };
        for block in passed {
            self.defs.insert((block, var), value);
        }
        value
    }

    pub(super) fn add_phi(&mut self, block: BlockId, var: Var) -> usize {
        let value = self.new_value(self.vars[var.0 as usize]);
        self.defs.insert((block, var), Operand::Value(value));
        let phis = &mut self.blocks[block.index()].phis;
        phis.push(Phi { value, var, args: Vec::new() });
        phis.len() - 1
    }

    fn fill(&mut self, mut open: Vec<(BlockId, usize)>) {
        while let Some((block, phi)) = open.pop() {
            let var = self.blocks[block.index()].phis[phi].var;
            for pred in self.blocks[block.index()].preds.clone() {
                let value = self.lookup(var, pred, &mut open);
                self.blocks[block.index()].phis[phi].args.push((pred, value));
            }
        }
    }

    /// All predecessors of the block are known.
    pub(super) fn seal(&mut self, block: BlockId) {
        let data = &mut self.blocks[block.index()];
        if data.sealed {
            return;
        }
        data.sealed = true;
        data.dead |= data.preds.is_empty();
        let open = (0..data.phis.len()).map(|i| (block, i)).collect();
        self.fill(open);
    }

    /// Seals the block and goes on in it.
    pub(super) fn enter(&mut self, block: BlockId) {
        self.seal(block);
        self.current = block;
    }

    /// Records a definition of a source variable.
    pub(super) fn name(&mut self, name: &str, pos: Pos, values: &[Operand]) {
        if !self.is_dead() {
            self.names.push(NameDef { name: name.to_owned(), loc: pos.loc, values: values.to_vec() });
        }
    }
}

fn edge(block: BlockId) -> Edge {
    Edge { block, args: smallvec![] }
}

/// The constant zero of a type.
pub(super) fn zero(ty: Type) -> Operand {
    Operand::Const(Const::from_word(ty, 0))
}

/// The bits of a NaN differ from machine to machine, so what shows them isn't folded.
fn observes_nan(opcode: Opcode, args: &[Operand]) -> bool {
    match (opcode, args) {
        (Opcode::FloatToBits, [Operand::Const(Const::Float(bits))]) => f64::from_bits(*bits).is_nan(),
        (Opcode::SingleToBits, [Operand::Const(Const::Single(bits))]) => f32::from_bits(*bits).is_nan(),
        _ => false,
    }
}
