//! A function under construction: blocks, the variables in scope, and what their values depend on.

use super::Source;
use super::calls::Function;
use crate::ir::*;
use smallvec::SmallVec;

/// Which parameters a value is computed from, by bits; `None` if it can't be green whatever is.
pub(super) type Deps = Option<u64>;

pub(super) fn both(a: Deps, b: Deps) -> Deps {
    Some(a? | b?)
}

/// What a value that is computed from all of these depends on.
pub(super) fn union(all: impl IntoIterator<Item = Deps>) -> Deps {
    all.into_iter().try_fold(0, |union, deps| Some(union | deps?))
}

/// A value of a Rust scalar type, in its canonical form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Val {
    pub operand: Operand,
    pub scalar: Scalar,
    pub deps: Deps,
}

impl Val {
    pub fn int(i: i64) -> Val {
        Val { operand: Operand::int(i), scalar: Scalar::I64, deps: Some(0) }
    }
}

/// What can be loaded from and stored to.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub base: Operand,
    pub shape: Shape,
    pub kind: MemKind,
    /// What the address depends on.
    pub deps: Deps,
    /// How many elements there are.
    pub len: Operand,
    /// It is a local.
    pub slot: bool,
}

/// What a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `S`.
    State,
    /// `C`, which has cells.
    Cells,
    /// `H`, which has references.
    Holder,
    /// Elements, without bounds checks if their number is a power of two that is known.
    Elements(Scalar),
    /// Bytes that are read in all widths.
    Bytes,
}

impl Container {
    /// Whether it may be a local that is still written.
    pub fn local(&self) -> bool {
        self.kind == MemKind::Exclusive && self.slot
    }
}

impl Shape {
    /// The shape of a struct.
    pub fn of_struct(ty: &RustType) -> Shape {
        match ty {
            RustType::Struct(name) if name == "C" => Shape::Cells,
            RustType::Struct(name) if name == "H" => Shape::Holder,
            _ => Shape::State,
        }
    }

    /// The shape of a slice of such elements.
    pub fn of_elements(elem: &RustType) -> Shape {
        match elem {
            RustType::Scalar(scalar) if *scalar != Scalar::U8 => Shape::Elements(*scalar),
            _ => Shape::Bytes,
        }
    }
}

/// A loop around the current statement.
pub(super) struct Around {
    pub latch: BlockId,
    pub exit: BlockId,
    /// The variables that it carries.
    pub carried: Vec<usize>,
    /// The carried variable (by its place among these) that stays green, and its value at the head.
    pub accumulator: Option<(usize, Operand)>,
    /// Whether somebody leaves it, or goes on, under a condition.
    pub jumps: bool,
}

/// A function under construction.
pub(super) struct Builder<'s, 'b> {
    pub source: &'s mut Source<'b>,
    pub graph: Graph,
    /// The block that is being filled; `None` behind a terminator.
    pub current: Option<BlockId>,
    pub vars: Vec<Val>,
    pub containers: Vec<Container>,
    pub loops: Vec<Around>,
    /// What may be called.
    pub functions: &'s [Function],
    /// How many statements may still come.
    pub budget: usize,
    /// Parameters that `concrete` may ask for.
    pub allowed: u64,
    /// Parameters that `concrete` has asked for.
    pub demanded: u64,
    /// What each return gives.
    pub returned: Vec<Vec<Deps>>,
    pub results: Vec<Scalar>,
    /// How many promotions may still come.
    pub promotions: usize,
    /// How many greens that reds choose may still come: each makes copies of what follows.
    pub choices: usize,
    /// Neither memory nor traps nor hints.
    pub pure: bool,
    /// Merge points may come, so red loops make what they carry red.
    pub merge_points: bool,
    /// Expressions are of what `concrete` may ask for.
    pub only_green: bool,
    /// There are structs with references.
    pub holders: bool,
    /// In a red loop.
    pub in_red_loop: bool,
    pub line: u32,
}

impl<'s, 'b> Builder<'s, 'b> {
    pub fn new(key: &str, source: &'s mut Source<'b>, functions: &'s [Function]) -> Builder<'s, 'b> {
        let mut graph = Graph::new(key, Signature { params: Vec::new(), result: RustType::Unit });
        let entry = graph.new_block();
        graph.loc = Loc { file: FileId(0), line: 1, column: 1 };
        Builder {
            source,
            graph,
            current: Some(entry),
            vars: Vec::new(),
            containers: Vec::new(),
            loops: Vec::new(),
            functions,
            budget: 0,
            allowed: 0,
            demanded: 0,
            returned: Vec::new(),
            results: Vec::new(),
            promotions: 3,
            choices: 3,
            pure: false,
            merge_points: false,
            only_green: false,
            holders: false,
            in_red_loop: false,
            line: 1,
        }
    }

    /// A place in the source that nothing else has.
    pub fn next_loc(&mut self) -> Loc {
        self.line += 1;
        Loc { file: FileId(0), line: self.line, column: 5 }
    }

    /// A new parameter, with the values of its leaves.
    pub fn param(&mut self, ty: RustType) {
        let index = self.graph.signature.params.len();
        let name = format!("p{index}");
        let deps = Some(1 << index);
        let mut leaf = |name: String, ty: Type| {
            let v = self.graph.new_value(ty);
            self.graph.blocks[0].params.push(v);
            self.graph.params.push(name);
            Operand::Value(v)
        };
        match &ty {
            RustType::Scalar(scalar) => {
                let operand = leaf(name.clone(), scalar.ty());
                self.vars.push(Val { operand, scalar: *scalar, deps });
            }
            RustType::Ref { mutable, to } => {
                let base = leaf(name.clone(), Type::Int);
                let shape = Shape::of_struct(to);
                let (kind, deps) = if *mutable { (MemKind::Exclusive, None) } else { (MemKind::Immutable, deps) };
                self.containers.push(Container { base, shape, kind, deps, len: Operand::int(0), slot: false });
            }
            RustType::Slice { mutable, elem } => {
                let base = leaf(name.clone(), Type::Int);
                let len = leaf(format!("{name}.len"), Type::Int);
                let (kind, from) = if *mutable { (MemKind::Exclusive, None) } else { (MemKind::Immutable, deps) };
                let shape = Shape::of_elements(elem);
                self.vars.push(Val { operand: len, scalar: Scalar::Usize, deps: from });
                self.containers.push(Container { base, shape, kind, deps: from, len, slot: false });
            }
            _ => {}
        }
        self.graph.signature.params.push(Param { name, ty });
    }

    pub fn block(&mut self) -> BlockId {
        let block = self.graph.new_block();
        let loc = self.next_loc();
        self.graph.block_mut(block).loc = loc;
        block
    }

    /// A new parameter of a block.
    pub fn block_param(&mut self, block: BlockId, ty: Type) -> Operand {
        let v = self.graph.new_value(ty);
        self.graph.block_mut(block).params.push(v);
        Operand::Value(v)
    }

    /// Adds an op; its results.
    pub fn op_full(&mut self, opcode: Opcode, args: &[Operand], imm: Imm, results: &[Type]) -> Vec<Operand> {
        let loc = self.next_loc();
        let results: SmallVec<[ValueId; 2]> = results.iter().map(|ty| self.graph.new_value(*ty)).collect();
        let operands = results.iter().map(|v| Operand::Value(*v)).collect();
        if let Some(block) = self.current {
            let op = Op { opcode, args: args.iter().copied().collect(), results, imm, time: Time::Now, loc };
            self.graph.block_mut(block).ops.push(op);
        }
        operands
    }

    /// Adds an op with one result.
    pub fn op1(&mut self, opcode: Opcode, args: &[Operand], ty: Type) -> Operand {
        self.op_full(opcode, args, Imm::None, &[ty])[0]
    }

    /// Adds an op on ints that gives an int.
    pub fn int_op(&mut self, opcode: Opcode, a: Operand, b: Operand) -> Operand {
        self.op1(opcode, &[a, b], Type::Int)
    }

    /// Ends the block.
    pub fn end(&mut self, term: Terminator) {
        if let Some(block) = self.current.take() {
            self.graph.block_mut(block).term = term;
        }
    }

    pub fn jump(&mut self, to: BlockId, args: Vec<Operand>) {
        self.end(Terminator::Jump(Edge::new(to, args)));
    }

    pub fn branch(&mut self, cond: Operand, then: Edge, otherwise: Edge) {
        self.end(Terminator::Branch { cond, then, otherwise, time: Time::Now });
    }

    /// Goes on in a new block if `cond` holds, else traps.
    pub fn check(&mut self, cond: Operand, kind: TrapKind, message: Option<&str>, args: Vec<(Operand, Scalar)>) {
        let (good, bad) = (self.block(), self.block());
        self.branch(cond, Edge::new(good, []), Edge::new(bad, []));
        let loc = self.next_loc();
        self.current = Some(bad);
        self.end(Terminator::Trap(Trap { kind, message: message.map(str::to_owned), args, loc }));
        self.current = Some(good);
    }

    /// The current values of variables.
    pub fn values_of(&self, vars: &[usize]) -> Vec<Operand> {
        vars.iter().map(|i| self.vars[*i].operand).collect()
    }

    /// A new variable, with a name.
    pub fn declare(&mut self, val: Val) {
        self.graph.names.push(NameDef {
            name: format!("x{}", self.vars.len()),
            loc: Loc { file: FileId(0), line: self.line, column: 9 },
            values: vec![val.operand],
        });
        self.vars.push(val);
    }

    /// The function, done: signature, results, unreachable blocks gone.
    pub fn finish(mut self) -> (Graph, u64, Vec<Vec<Deps>>) {
        let mut results: Vec<RustType> = self.results.iter().copied().map(RustType::Scalar).collect();
        self.graph.results = self.results.iter().map(|scalar| scalar.ty()).collect();
        self.graph.signature.result = match results.len() {
            0 => RustType::Unit,
            1 => results.remove(0),
            _ => RustType::Tuple(results),
        };
        (crate::text::renumber(&self.graph), self.demanded, self.returned)
    }
}
