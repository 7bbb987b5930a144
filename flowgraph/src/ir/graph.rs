//! Graphs, blocks, ops and terminators.

use super::{Attributes, Callee, Color, Loc, MemDesc, Opcode, Operand, Scalar, Signature, SlotDesc, Time, Trap, Type};
use smallvec::SmallVec;
use std::sync::Arc;

/// An SSA value of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A block of a graph. Block 0 is the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The entry of every graph.
    pub const ENTRY: BlockId = BlockId(0);

    /// As an index into [`Graph::blocks`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ValueId {
    /// As an index into [`Graph::values`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for ValueId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl std::fmt::Display for BlockId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// What is known about a value besides its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueInfo {
    /// Its type.
    pub ty: Type,
    /// Its color, from the colored stage on.
    pub color: Option<Color>,
}

/// What an op needs besides operands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Imm {
    /// Nothing.
    #[default]
    None,
    /// The descriptor of a memory op: behind a pointer, as it is larger than all the rest, and shared by many.
    Mem(Arc<MemDesc>),
    /// The target of a call, or the function whose result is said.
    Call(Callee),
    /// The size of a stack slot.
    Slot(SlotDesc),
    /// What the source calls the type of a value that is said to be a constant, where the value alone doesn't tell.
    Scalar(Scalar),
}

impl Imm {
    /// The descriptor of a memory op.
    pub fn mem(desc: impl Into<Arc<MemDesc>>) -> Imm {
        Imm::Mem(desc.into())
    }
}

/// One op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// Which.
    pub opcode: Opcode,
    /// The operands.
    pub args: SmallVec<[Operand; 3]>,
    /// The values that it defines.
    pub results: SmallVec<[ValueId; 2]>,
    /// Descriptor, callee or slot.
    pub imm: Imm,
    /// In a compiler graph: execute or emit.
    pub time: Time,
    /// Where it comes from.
    pub loc: Loc,
}

impl Op {
    /// The descriptor of a memory op.
    #[inline]
    pub fn mem(&self) -> Option<&MemDesc> {
        match &self.imm {
            Imm::Mem(desc) => Some(desc),
            _ => None,
        }
    }

    /// The target of a call.
    #[inline]
    pub fn callee(&self) -> Option<&Callee> {
        match &self.imm {
            Imm::Call(callee) if self.opcode != Opcode::RecordKnownResult => Some(callee),
            _ => None,
        }
    }

    /// The function whose result is said.
    pub fn recorded(&self) -> Option<&Callee> {
        match &self.imm {
            Imm::Call(callee) if self.opcode == Opcode::RecordKnownResult => Some(callee),
            _ => None,
        }
    }
}

/// A way from one block to another, with the arguments for its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it leads.
    pub block: BlockId,
    /// One operand for each parameter. Most blocks have no more than two: a block, with its edges, takes a quarter less
    /// than with room for four.
    pub args: SmallVec<[Operand; 2]>,
}

impl Edge {
    /// An edge.
    pub fn new(block: BlockId, args: impl IntoIterator<Item = Operand>) -> Edge {
        Edge { block, args: args.into_iter().collect() }
    }
}

/// The number in exits that no guard leads to.
pub const NO_GUARD: i64 = -1;

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Go on elsewhere.
    Jump(Edge),
    /// Go on in `then` if `cond` is not zero. `time` [`Time::Emit`] makes it a *split* of a compiler graph.
    Branch {
        /// The condition, an int.
        cond: Operand,
        /// Where a nonzero condition leads.
        then: Edge,
        /// Where zero leads.
        otherwise: Edge,
        /// Decide now, or emit.
        time: Time,
    },
    /// Go on by the value of an int. `time` as for `Branch`.
    Switch {
        /// What is looked at.
        value: Operand,
        /// Distinct values and where they lead.
        cases: Vec<(i64, Edge)>,
        /// Where all other values lead.
        default: Edge,
        /// Decide now, or emit.
        time: Time,
        /// In a residual graph: made by a promotion.
        promotion: bool,
    },
    /// Return the results.
    Return(Vec<Operand>),
    /// End the run.
    Trap(Trap),
    /// Residual graphs only: leave through exit `exit`, by guard number `guard`, with the live values of its snapshot.
    Exit {
        /// Which exit of the fragment (an index into the snapshots kept beside the graph).
        exit: u32,
        /// Which guard led here: an int operand; [`NO_GUARD`] where none does.
        guard: Operand,
        /// The live values.
        args: Vec<Operand>,
    },
    /// Residual graphs only: go on at the entry of another fragment (a tail call), and never come back.
    Enter {
        /// The key of the fragment's graph.
        graph: Arc<str>,
        /// One operand for each of its entry parameters.
        args: Vec<Operand>,
    },
}

impl Terminator {
    /// The edges, in order.
    #[inline]
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        let (first, cases, last): (_, &[(i64, Edge)], _) = match self {
            Terminator::Jump(edge) => (Some(edge), &[], None),
            Terminator::Branch { then, otherwise, .. } => (Some(then), &[], Some(otherwise)),
            Terminator::Switch { cases, default, .. } => (None, cases, Some(default)),
            Terminator::Return(_) | Terminator::Trap(_) | Terminator::Exit { .. } | Terminator::Enter { .. } => {
                (None, &[], None)
            }
        };
        Edges { alone: [first, last], cases: cases.iter().map(|(_, edge)| edge) }
    }

    /// The edges, in order, to change.
    #[inline]
    pub fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let (first, cases, last): (_, &mut [(i64, Edge)], _) = match self {
            Terminator::Jump(edge) => (Some(edge), &mut [], None),
            Terminator::Branch { then, otherwise, .. } => (Some(then), &mut [], Some(otherwise)),
            Terminator::Switch { cases, default, .. } => (None, cases, Some(default)),
            Terminator::Return(_) | Terminator::Trap(_) | Terminator::Exit { .. } | Terminator::Enter { .. } => {
                (None, &mut [], None)
            }
        };
        Edges { alone: [first, last], cases: cases.iter_mut().map(|(_, edge)| edge) }
    }

    /// The operands that the terminator itself looks at: not those of its edges.
    #[inline]
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        let (first, list, of_trap): (_, &[Operand], &[_]) = match self {
            Terminator::Jump(_) => (None, &[], &[]),
            Terminator::Branch { cond, .. } => (Some(*cond), &[], &[]),
            Terminator::Switch { value, .. } => (Some(*value), &[], &[]),
            Terminator::Return(values) => (None, values, &[]),
            Terminator::Trap(trap) => (None, &[], &trap.args),
            Terminator::Exit { guard, args, .. } => (Some(*guard), args, &[]),
            Terminator::Enter { args, .. } => (None, args, &[]),
        };
        first.into_iter().chain(list.iter().copied()).chain(of_trap.iter().map(|(operand, _)| *operand))
    }

    /// Calls `f` on every operand, those of the edges included.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Operand)) {
        match self {
            Terminator::Jump(_) => {}
            Terminator::Branch { cond, .. } => f(cond),
            Terminator::Switch { value, .. } => f(value),
            Terminator::Return(values) => values.iter_mut().for_each(&mut f),
            Terminator::Trap(trap) => trap.args.iter_mut().for_each(|(o, _)| f(o)),
            Terminator::Exit { guard, args, .. } => {
                f(guard);
                args.iter_mut().for_each(&mut f);
            }
            Terminator::Enter { args, .. } => args.iter_mut().for_each(&mut f),
        }
        for edge in self.edges_mut() {
            edge.args.iter_mut().for_each(&mut f);
        }
    }
}

/// The edges of a terminator: those of a jump or a branch, or those of a switch's cases and its default. Passes hardly
/// ask for anything as often, and most terminators have no cases, so this is no chain of iterators.
struct Edges<E, C> {
    /// Before the cases, and behind them.
    alone: [Option<E>; 2],
    cases: C,
}

impl<E, C: Iterator<Item = E>> Iterator for Edges<E, C> {
    type Item = E;

    #[inline]
    fn next(&mut self) -> Option<E> {
        let [first, last] = &mut self.alone;
        first.take().or_else(|| self.cases.next()).or_else(|| last.take())
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let alone = self.alone.iter().flatten().count();
        let (least, most) = self.cases.size_hint();
        (least + alone, most.map(|most| most + alone))
    }
}

/// What a mark makes of a position of a compiler graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MarkKind {
    /// States wait here for each other and are merged.
    LocalMerge,
    /// A table of versions, keyed by the greens.
    GlobalMerge,
}

impl MarkKind {
    /// The word in text.
    pub fn name(self) -> &'static str {
        match self {
            MarkKind::LocalMerge => "local_merge",
            MarkKind::GlobalMerge => "global_merge",
        }
    }
}

/// A merge point before op `at` of a block (`at` equal to the number of ops: before the terminator). Marks take no
/// position of their own, so that positions are the same in every stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    /// The index of the op that it stands before.
    pub at: u32,
    /// What it is.
    pub kind: MarkKind,
}

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The values that edges to it define.
    pub params: Vec<ValueId>,
    /// The ops, in order.
    pub ops: Vec<Op>,
    /// How it ends.
    pub term: Terminator,
    /// Where the terminator comes from.
    pub loc: Loc,
    /// Merge points of a compiler graph, ascending.
    pub marks: Vec<Mark>,
}

/// One definition of a source variable: `let`, a parameter, or an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameDef {
    /// The variable.
    pub name: String,
    /// Where it is defined.
    pub loc: Loc,
    /// Its SSA values, one for each leaf of its type.
    pub values: Vec<Operand>,
}

/// A graph: one function, at one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Its key in the module.
    pub key: String,
    /// The path of the function that it was made from (`Pair::sum`).
    pub function: String,
    /// The function's source signature. (A residual graph's entry has parameters for the reds only; see `params`.)
    pub signature: Signature,
    /// The names of the entry block's parameters, one for each: `x`, `p.left`.
    pub params: Vec<String>,
    /// The types of what `return` gives.
    pub results: Vec<Type>,
    /// The hints on the function.
    pub attributes: Attributes,
    /// The values, by [`ValueId`].
    pub values: Vec<ValueInfo>,
    /// The blocks, by [`BlockId`]; the first one is the entry and has no predecessors.
    pub blocks: Vec<Block>,
    /// Which values are what in the source.
    pub names: Vec<NameDef>,
    /// Where the function begins.
    pub loc: Loc,
}

impl Graph {
    /// A graph without blocks.
    pub fn new(key: &str, signature: Signature) -> Graph {
        Graph {
            key: key.to_owned(),
            function: key.to_owned(),
            signature,
            params: Vec::new(),
            results: Vec::new(),
            attributes: Attributes::default(),
            values: Vec::new(),
            blocks: Vec::new(),
            names: Vec::new(),
            loc: Loc::UNKNOWN,
        }
    }

    /// A new value.
    pub fn new_value(&mut self, ty: Type) -> ValueId {
        self.values.push(ValueInfo { ty, color: None });
        ValueId(u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX))
    }

    /// A new block, without parameters, that ends in an empty return until it is given its real end.
    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(Block {
            params: Vec::new(),
            ops: Vec::new(),
            term: Terminator::Return(Vec::new()),
            loc: Loc::UNKNOWN,
            marks: Vec::new(),
        });
        BlockId(u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX))
    }

    /// The block.
    #[inline]
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The block, to change.
    #[inline]
    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.index()]
    }

    /// The type of an operand.
    pub fn ty(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(v) => self.values[v.index()].ty,
            Operand::Const(c) => c.ty(),
        }
    }

    /// The ids of all blocks.
    #[inline]
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(|i| BlockId(i as u32))
    }

    /// The edges of all blocks, in their order.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.blocks.iter().flat_map(|block| block.term.edges())
    }

    /// The keys of what it calls: graphs, registered functions, `libm::NAME`.
    pub fn called(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|block| &block.ops).filter_map(Op::callee).map(|callee| &*callee.name)
    }

    /// The keys of the graphs that it goes on in.
    pub fn entered(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match &block.term {
            Terminator::Enter { graph, .. } => Some(&**graph),
            _ => None,
        })
    }

    /// By block: how many edges lead there. What comes to the entry from outside doesn't count.
    pub fn arrivals(&self) -> Vec<u32> {
        let mut arrivals = vec![0; self.blocks.len()];
        self.edges().for_each(|edge| arrivals[edge.block.index()] += 1);
        arrivals
    }

    /// The parameters of the entry block. A function of the host has none: only its signature is known.
    pub fn entry_params(&self) -> &[ValueId] {
        self.blocks.first().map_or(&[], |entry| &entry.params)
    }

    /// The slices that the entry is handed, each by its name, its address and the number of its elements. Their
    /// parameters' names say so: where one is called `x`, the other is `x.len`. No name in a source has a point in it.
    /// Names that two have say nothing, nor do those of parameters that have none in the source: they are all called
    /// `_`.
    pub fn slices(&self) -> impl Iterator<Item = (&str, ValueId, ValueId)> {
        let named = |wanted: &str| {
            let mut found = self.params.iter().zip(self.entry_params()).filter(|(name, _)| *name == wanted);
            found.next().map(|(_, value)| *value).filter(|_| found.next().is_none())
        };
        let names = self.params.iter().filter_map(|name| name.strip_suffix(".len"));
        let names = names.filter(|name| *name != "_" && !name.starts_with("_."));
        names.filter_map(move |name| Some((name, named(name)?, named(&format!("{name}.len"))?)))
    }

    /// Whether this is a function of the host (see [`crate::host`]): called by name, never looked into.
    pub fn is_host(&self) -> bool {
        self.blocks.is_empty() && self.attributes.dont_look_inside
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::ValueId;
    use crate::text::parse_module;

    #[test]
    fn slices_are_known_by_their_names() {
        let slices = |params: &str, numbers: &str| {
            let text = format!("module residual\ngraph f({params}) {{\nb0({numbers}):\n    return\n}}\n");
            let module = parse_module(&text).unwrap_or_else(|e| panic!("{e}"));
            let found = module.graphs["f"].slices().map(|(name, base, length)| (name.to_owned(), base, length));
            found.collect::<Vec<_>>()
        };
        let three = "v0: int, v1: int, v2: int";
        let tape = ("tape".to_owned(), ValueId(0), ValueId(2));
        assert_eq!(slices("tape: int, at: int, tape.len: int", three), [tape]);
        // A field called `len`, and parameters without a name.
        for none in ["x.len: int, y: int, z: int", "_: int, _.len: int, k: int", "_.a: int, _.a.len: int, k: int"] {
            assert_eq!(slices(none, three), [], "{none}");
        }
        let twice = "v0: int, v1: int, v2: int, v3: int";
        assert_eq!(slices("v3: int, v3.len: int, v3: int, k: int", twice), []);
    }
}
