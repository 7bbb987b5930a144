//! Fragments: residual graphs being filled.
//!
//! A fragment is one residual graph. A residual block takes all live residual values as parameters, so dominance holds
//! by construction; the optimizer ([`crate::optimize`]) drops the parameters that are not needed. Beside the graph lies
//! what is known about its values wherever they are visible: what defined them, a bound, and which exclusive root an
//! address comes from.
//!
//! ```text
//! link     fragments that enter each other become one residual graph
//! output   what an engine has produced, as a module of such graphs
//! ```

pub(super) mod link;
pub(super) mod output;

use crate::specialize::engine::operands;
use crate::specialize::event::GuestPosition;
use crate::specialize::state::memory::Origin;
use crate::specialize::state::{GraphIx, VersionId};
use bounds::IntBound;
use flowgraph::ir::{
    Block, BlockId, Edge, Graph, Imm, Loc, Op, Opcode, Operand, RustType, Signature, Terminator, Time, Type, ValueId,
};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// What is known about a residual value, wherever it is visible.
#[derive(Clone, Debug)]
pub struct Info {
    /// Where it comes from, if it is an address.
    pub origin: Origin,
    /// What it can be, if it is an int.
    pub bound: IntBound,
    /// Where the pure op is that computes it: block and number.
    pub definition: Option<(BlockId, u32)>,
    /// It is a condition that usually holds.
    pub likely: bool,
}

impl Default for Info {
    fn default() -> Info {
        Info { origin: Origin::Outside, bound: IntBound::unbounded(), definition: None, likely: false }
    }
}

/// What an op gives, as far as it is known.
type Known = SmallVec<[Operand; 2]>;

/// What makes two pure ops, or two loads of what never changes, the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SameOp<'a> {
    /// What is done.
    pub opcode: Opcode,
    /// Of what.
    pub args: &'a [Operand],
    /// The rest of it.
    pub imm: &'a Imm,
}

impl SameOp<'_> {
    fn hash(&self) -> u64 {
        FxBuildHasher.hash_one(self)
    }

    /// What it gives where this op stands: it is the op, or a call whose result is recorded there.
    fn given_by(&self, op: &Op) -> Option<Known> {
        let SameOp { opcode, args, imm } = *self;
        if op.imm != *imm {
            None
        } else if op.opcode == Opcode::RecordKnownResult && opcode == Opcode::CallElidable {
            op.args.strip_suffix(args).map(Known::from_slice)
        } else {
            (op.opcode == opcode && op.args[..] == *args).then(|| operands(&op.results))
        }
    }
}

/// A residual graph being filled.
#[derive(Debug)]
pub struct Fragment {
    /// The graph. Signature, function and place in the source are given to it when it is taken from here.
    pub graph: Graph,
    /// The compiler graph that it is made from.
    pub source: GraphIx,
    /// What is known about its values, by value.
    pub info: Vec<Info>,
    /// For each block the one block that it can be reached from, if it is just one.
    parents: Vec<Option<BlockId>>,
    /// By hash of what is looked for: where an op of it is, block and number.
    seen: FxHashMap<u64, SmallVec<[(BlockId, u32); 1]>>,
    /// The number of ops emitted.
    pub size: usize,
    /// Which root function it belongs to: an index into the engine's units.
    pub unit: usize,
    /// The version of a loop that it is the code of.
    pub version: Option<VersionId>,
    /// It was not finished: nothing leads here.
    pub abandoned: bool,
    /// Where in the guest program it begins, as soon as that is known.
    pub at: Option<GuestPosition>,
}

/// How many dominating blocks are searched for an equal op.
const SEARCH: usize = 64;

impl Fragment {
    /// An empty fragment with an entry block, for code of the compiler graph `source`.
    pub fn new(key: &str, source: GraphIx, unit: usize) -> Fragment {
        let mut graph = Graph::new(key, Signature { params: Vec::new(), result: RustType::Unit });
        // Most fragments are the code of one version, which comes to the next mark in the block behind the entry.
        graph.blocks.reserve_exact(2);
        let (info, parents, seen) = (Vec::new(), Vec::new(), FxHashMap::default());
        let (version, abandoned) = (None, false);
        let mut fragment = Fragment { graph, source, info, parents, seen, size: 0, unit, version, abandoned, at: None };
        fragment.new_block(None);
        fragment
    }

    /// A new block. `parent` is the block that alone leads to it.
    pub fn new_block(&mut self, parent: Option<BlockId>) -> BlockId {
        self.parents.push(parent);
        self.graph.new_block()
    }

    /// A new value.
    pub fn new_value(&mut self, ty: Type) -> ValueId {
        self.info.push(Info::default());
        self.graph.new_value(ty)
    }

    /// A new parameter of `block`.
    pub fn new_param(&mut self, block: BlockId, ty: Type) -> ValueId {
        let value = self.new_value(ty);
        self.graph.block_mut(block).params.push(value);
        value
    }

    /// What is known about a value.
    pub fn info(&self, value: ValueId) -> &Info {
        &self.info[value.index()]
    }

    /// The pure op that computes a value.
    pub fn definition(&self, value: ValueId) -> Option<&Op> {
        let (block, at) = self.info(value).definition?;
        self.graph.block(block).ops.get(at as usize)
    }

    /// Appends an op to a block; its results are new values of the types given.
    pub fn push(
        &mut self,
        block: BlockId,
        opcode: Opcode,
        args: &[Operand],
        imm: Imm,
        results: &[Type],
        loc: Loc,
    ) -> SmallVec<[ValueId; 2]> {
        let results: SmallVec<[ValueId; 2]> = results.iter().map(|ty| self.new_value(*ty)).collect();
        if opcode.is_pure()
            && let [result] = results[..]
        {
            let at = self.graph.block(block).ops.len() as u32;
            self.info[result.index()].definition = Some((block, at));
        }
        self.size += 1;
        self.graph.block_mut(block).ops.push(Op {
            opcode,
            args: args.into(),
            results: results.clone(),
            imm,
            time: Time::Now,
            loc,
        });
        results
    }

    /// The results of an equal op that every way to `block` passes.
    pub fn find(&self, block: BlockId, same: SameOp) -> Option<Known> {
        let places = self.seen.get(&same.hash())?;
        let given = |(block, at): &(BlockId, u32)| same.given_by(&self.graph.block(*block).ops[*at as usize]);
        let mut at = Some(block);
        for _ in 0..SEARCH {
            let block = at?;
            if let Some(results) = places.iter().filter(|(b, _)| *b == block).find_map(given) {
                return Some(results);
            }
            at = self.parents[block.index()];
        }
        None
    }

    /// Remembers the latest op of a block for [`Fragment::find`]: it is this one, or records its result.
    pub fn remember(&mut self, block: BlockId, same: SameOp) {
        let at = self.graph.block(block).ops.len() as u32 - 1;
        self.seen.entry(same.hash()).or_default().push((block, at));
    }

    /// Forgets what has been remembered for [`Fragment::find`]: the graph is finished.
    pub fn forget_ops(&mut self) {
        self.seen = FxHashMap::default();
    }

    /// Makes `head` enterable from other fragments: the entry takes the same parameters and jumps there.
    pub fn make_entry(&mut self, head: BlockId) {
        let params = self.graph.block(head).params.clone();
        let args: SmallVec<[Operand; 2]> = params
            .iter()
            .map(|p| Operand::Value(self.new_param(BlockId::ENTRY, self.graph.values[p.index()].ty)))
            .collect();
        self.end(BlockId::ENTRY, Terminator::Jump(Edge { block: head, args }), Loc::UNKNOWN);
    }

    /// Ends a block.
    pub fn end(&mut self, block: BlockId, term: Terminator, loc: Loc) {
        let Block { term: old, loc: old_loc, .. } = self.graph.block_mut(block);
        *old = term;
        *old_loc = loc;
    }
}
