//! A compiler module made ready to run: callees found, liveness and the order of positions known.
//!
//! ```text
//! addresses   which values may be addresses
//! arguments   registers that hold an argument of their function
//! borrows     which addresses are borrowed from a local or an argument itself
//! ranges      what values can be in any run
//! ```

pub(super) mod addresses;
pub(super) mod arguments;
pub(super) mod borrows;
pub(super) mod ranges;

use crate::specialize::error::SpecError;
use crate::specialize::merge::ahead::Lookahead;
use crate::specialize::program::addresses::addresses;
use crate::specialize::program::arguments::Arguments;
use crate::specialize::program::borrows::Borrows;
use crate::specialize::program::ranges::Ranges;
use crate::specialize::state::GraphIx;
use bounds::IntBound;
use flowgraph::analysis::{CallGraph, Liveness, Order};
use flowgraph::ir::{
    Access, Block, BlockId, Color, Graph, Loc, MarkKind, MemDesc, Module, Op, Opcode, Operand, RustType, Stage,
    Terminator, ValueId, Word,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;

/// What is known of a module's compiler graphs whatever data they work on: found out once for all programs of them, on
/// any thread.
#[derive(Debug)]
pub struct Analyses(Vec<Analysis>);

#[derive(Debug)]
struct Analysis {
    liveness: Liveness,
    order: Order,
    lookahead: Lookahead,
    arguments: Arguments,
    ranges: Ranges,
}

impl Analyses {
    /// Those of a module's graphs, which must have been verified.
    pub fn of(module: &Module) -> Analyses {
        let analysis = |(graph, ranges)| {
            let order = Order::new(graph);
            let (lookahead, arguments) = (Lookahead::new(graph, &order), Arguments::of(graph));
            Analysis { liveness: Liveness::new(graph), order, lookahead, arguments, ranges }
        };
        Analyses(module.graphs.values().zip(Ranges::of(module)).map(analysis).collect())
    }
}

/// One compiler graph.
#[derive(Debug)]
pub struct Loaded<'m> {
    /// The graph.
    pub graph: &'m Graph,
    /// Which values are needed where.
    pub liveness: &'m Liveness,
    /// The order of its blocks, and its loops.
    pub order: &'m Order,
    /// Whether it is the all-red twin.
    pub twin: bool,
    pub(crate) lookahead: &'m Lookahead,
    pub(crate) arguments: &'m Arguments,
    /// What values can be in any run.
    pub(crate) ranges: &'m Ranges,
    /// By value, whether it may be an address.
    pub(crate) is_address: Vec<bool>,
    /// Where references may lie in memory: which values are borrowed from a local or an argument itself.
    pub(crate) borrows: Option<Borrows>,
    marks: Vec<Vec<Option<MarkKind>>>,
    callees: FxHashMap<(BlockId, u32), GraphIx>,
    twin_of: Option<GraphIx>,
    /// Loop heads in whose loop there is a merge point of the language.
    guest_loops: Vec<bool>,
}

/// The compiler graphs of a module.
#[derive(Debug)]
pub struct Program<'m> {
    /// The module.
    pub module: &'m Module,
    /// Whether references may lie in memory, so that what is loaded may be one.
    pub references_in_memory: bool,
    graphs: Vec<Loaded<'m>>,
    may_trap: Vec<bool>,
    asks_host: Vec<bool>,
    marks_jumps: bool,
    by_key: FxHashMap<&'m str, GraphIx>,
    /// The variables that values are the values of, as far as it has been asked for.
    names: RefCell<FxHashMap<(GraphIx, ValueId), Option<&'m str>>>,
    /// What values usually are, as far as it has been asked for.
    usual: RefCell<FxHashMap<GraphIx, Ranges>>,
}

impl<'m> Program<'m> {
    /// Loads a module of stage [`Stage::Compiler`], with the analyses of its graphs. The module must have been
    /// verified.
    ///
    /// # Errors
    /// If it is of another stage.
    pub fn load(module: &'m Module, analyses: &'m Analyses) -> Result<Program<'m>, SpecError> {
        if module.stage != Stage::Compiler {
            let what = format!("a {} module cannot be specialized, only a compiler module", module.stage.name());
            return Err(SpecError::Malformed(what, Loc::UNKNOWN));
        }
        let by_key: FxHashMap<&str, GraphIx> =
            module.graphs.keys().enumerate().map(|(i, k)| (k.as_str(), GraphIx(i as u32))).collect();
        let references_in_memory = references_in_memory(module);
        assert_eq!(module.graphs.len(), analyses.0.len(), "the analyses are of this module");
        let load = |(graph, analysis)| {
            let borrows = references_in_memory.then(|| Borrows::of(graph));
            Loaded::new(graph, analysis, &by_key, addresses(graph, module, references_in_memory), borrows)
        };
        let graphs: Vec<Loaded<'m>> = module.graphs.values().zip(&analyses.0).map(load).collect();
        let may_trap = may_trap(&graphs);
        let mut ops = module.graphs.values().flat_map(|g| &g.blocks).flat_map(|b| &b.ops);
        let marks_jumps = ops.any(|op| op.opcode == Opcode::CanEnterJit);
        let (names, usual) = (RefCell::default(), RefCell::default());
        let asks_host = asks_host(module);
        Ok(Program { module, references_in_memory, graphs, may_trap, asks_host, marks_jumps, by_key, names, usual })
    }

    /// The graph with this key.
    pub fn find(&self, key: &str) -> Option<GraphIx> {
        self.by_key.get(key).copied()
    }

    /// The graph.
    pub fn graph(&self, ix: GraphIx) -> &'m Graph {
        self.graphs[ix.0 as usize].graph
    }

    /// The graph with what is known about it.
    pub fn loaded(&self, ix: GraphIx) -> &Loaded<'m> {
        &self.graphs[ix.0 as usize]
    }

    /// Whether a call of a graph may end in a trap: its own, a callee's, or that of an exhausted stack.
    pub fn may_trap(&self, ix: GraphIx) -> bool {
        self.may_trap[ix.0 as usize]
    }

    /// Whether a call of a graph may call a function of the host, which may do anything.
    pub fn asks_host(&self, ix: GraphIx) -> bool {
        self.asks_host[ix.0 as usize]
    }

    /// Whether a reference may lie where an access goes.
    pub fn may_hold_reference(&self, desc: &MemDesc) -> bool {
        let class = &*desc.class;
        let module = self.module;
        let has = |ty: &RustType| module.has_reference(ty);
        if !self.references_in_memory || desc.access != Access::I64 {
            return false;
        }
        if let Some(of) = module.structs.get(class) {
            let own = of.fields.iter().find(|field| *field.name == *desc.field);
            return own.map_or_else(|| of.fields.iter().any(|f| has(&f.ty)), |field| has(&field.ty));
        }
        // Of an enum, a tuple or an element: by all that its class names, which may be anything.
        let structs = module.structs.values().map(|s| (&s.name, s.fields.iter().any(|f| has(&f.ty))));
        let enums =
            module.enums.values().map(|e| (&e.name, e.variants.iter().flat_map(|v| &v.fields).any(|f| has(&f.ty))));
        class == MemDesc::ANY
            || class.contains('&')
            || structs.chain(enums).any(|(name, has)| has && class.contains(name.as_str()))
    }

    /// Whether a value is green.
    pub fn is_green(&self, ix: GraphIx, value: ValueId) -> bool {
        self.graph(ix).values[value.index()].color == Some(Color::Green)
    }

    /// The words that a compiler graph is called with: green ones, and others.
    pub fn split_words(&self, ix: GraphIx, words: &[Word]) -> (SmallVec<[Word; 4]>, SmallVec<[Word; 8]>) {
        let (mut greens, mut others) = (SmallVec::new(), SmallVec::new());
        for (param, word) in self.graph(ix).entry_params().iter().zip(words) {
            if self.is_green(ix, *param) { greens.push(*word) } else { others.push(*word) }
        }
        (greens, others)
    }

    /// The mark at a position.
    pub fn mark(&self, ix: GraphIx, block: BlockId, index: u32) -> Option<MarkKind> {
        self.loaded(ix).marks[block.index()][index as usize]
    }

    /// The callee of the call op at a position.
    pub fn callee(&self, ix: GraphIx, block: BlockId, index: u32) -> Option<GraphIx> {
        self.loaded(ix).callees.get(&(block, index)).copied()
    }

    /// The all-red twin of a graph.
    pub fn twin(&self, ix: GraphIx) -> Option<GraphIx> {
        self.loaded(ix).twin_of
    }

    /// Whether a block is a loop head whose loop contains a `merge_point!()`.
    pub fn loop_has_merge_point(&self, ix: GraphIx, block: BlockId) -> bool {
        self.loaded(ix).guest_loops[block.index()]
    }

    /// Whether the op at a position is a `merge_point!()`.
    pub fn is_merge_point(&self, ix: GraphIx, block: BlockId, index: u32) -> bool {
        self.graph(ix).block(block).ops.get(index as usize).is_some_and(|op| op.opcode == Opcode::MergePoint)
    }

    /// Whether the language says where the guest jumps back (`can_enter_jit`): then merge points elsewhere begin no
    /// loops.
    pub fn marks_jumps(&self) -> bool {
        self.marks_jumps
    }

    /// Whether any function that is not a twin promotes.
    pub fn promotes(&self) -> bool {
        self.graphs.iter().any(|g| {
            !g.twin
                && g.graph.blocks.iter().flat_map(|b| &b.ops).any(|op| {
                    op.opcode == Opcode::Promote
                        && op.results.iter().all(|r| g.graph.values[r.index()].color == Some(Color::Green))
                })
        })
    }

    /// What a value usually is. Whether it is so must be asked.
    pub(crate) fn usual_range(&self, ix: GraphIx, value: ValueId) -> IntBound {
        let mut usual = self.usual.borrow_mut();
        usual.entry(ix).or_insert_with(|| Ranges::usual(self.module, self.graph(ix))).get(value)
    }

    /// The source name of a value, for messages: the variable that it is the value of, if it has one.
    pub fn name_of(&self, ix: GraphIx, value: ValueId) -> String {
        self.variable(ix, value).map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The variable that a value is the value of, if there is one.
    pub(crate) fn variable(&self, ix: GraphIx, value: ValueId) -> Option<&'m str> {
        let mut names = self.names.borrow_mut();
        *names.entry((ix, value)).or_insert_with(|| self.find_variable(ix, value))
    }

    fn find_variable(&self, ix: GraphIx, value: ValueId) -> Option<&'m str> {
        let graph = self.graph(ix);
        // A block parameter is named after what flows into it.
        let (mut todo, mut seen) = (vec![value], FxHashSet::from_iter([value]));
        while let Some(next) = todo.pop() {
            if let Some(def) = graph.names.iter().find(|n| n.values.contains(&Operand::Value(next))) {
                return Some(&def.name);
            }
            let parameter = |(at, block): (usize, &Block)| Some((at, block.params.iter().position(|p| *p == next)?));
            let Some((at, position)) = graph.blocks.iter().enumerate().find_map(parameter) else { continue };
            if at == 0 {
                return graph.params.get(position).map(String::as_str);
            }
            let edges = graph.edges().filter(|e| e.block.index() == at);
            let incoming = edges.filter_map(|edge| edge.args.get(position)?.value());
            todo.extend(incoming.filter(|value| seen.insert(*value)));
        }
        None
    }
}

impl<'m> Loaded<'m> {
    fn new(
        graph: &'m Graph,
        Analysis { liveness, order, lookahead, arguments, ranges }: &'m Analysis,
        by_key: &FxHashMap<&str, GraphIx>,
        is_address: Vec<bool>,
        borrows: Option<Borrows>,
    ) -> Loaded<'m> {
        let mut callees = FxHashMap::default();
        let mut marks = Vec::new();
        for (b, block) in graph.blocks.iter().enumerate() {
            let mut here = vec![None; block.ops.len() + 1];
            for mark in &block.marks {
                if let Some(place) = here.get_mut(mark.at as usize) {
                    *place = Some(mark.kind);
                }
            }
            marks.push(here);
            for (i, op) in block.ops.iter().enumerate() {
                if let Some(ix) = op.callee().and_then(|c| by_key.get(&*c.name)) {
                    callees.insert((BlockId(b as u32), i as u32), *ix);
                }
            }
        }
        let guest_loops = graph
            .block_ids()
            .map(|head| {
                order.loop_at(head).is_some_and(|l| {
                    l.body.iter().any(|b| graph.blocks[b].ops.iter().any(|op| op.opcode == Opcode::MergePoint))
                })
            })
            .collect();
        let twin = graph.key.ends_with("#twin");
        let twin_of = by_key.get(format!("{}#twin", graph.function).as_str()).copied();
        Loaded {
            graph,
            liveness,
            order,
            twin,
            lookahead,
            arguments,
            ranges,
            is_address,
            borrows,
            marks,
            callees,
            twin_of,
            guest_loops,
        }
    }
}

/// Whether anything that may lie in memory has a reference in it: a field, what a parameter or data leads to, or a
/// local.
fn references_in_memory(module: &Module) -> bool {
    let holds = |ty: &RustType| module.has_reference(ty);
    let behind = |ty: &RustType| match ty {
        RustType::Ref { to, .. } => holds(to),
        RustType::Slice { elem, .. } => holds(elem),
        _ => false,
    };
    let variants = module.enums.values().flat_map(|e| &e.variants);
    // An array, a tuple or an option is named by what is in it.
    let mut accesses = module.graphs.values().flat_map(|g| &g.blocks).flat_map(|b| &b.ops).filter_map(|op| op.mem());
    module.structs.values().flat_map(|s| &s.fields).chain(variants.flat_map(|v| &v.fields)).any(|f| holds(&f.ty))
        || module.graphs.values().flat_map(|g| &g.signature.params).any(|p| behind(&p.ty))
        || module.data.iter().any(|d| holds(&d.ty))
        || accesses.any(|desc| desc.class.contains('&'))
}

/// Which graphs are functions of the host, or call some.
fn asks_host(module: &Module) -> Vec<bool> {
    let graphs: Vec<&Graph> = module.graphs.values().collect();
    let asks = |graph: usize| {
        let callees = graphs[graph].blocks.iter().flat_map(|block| &block.ops).filter_map(|op| op.callee());
        let mut unknown =
            callees.filter(|callee| callee.libm().is_none() && !module.graphs.contains_key(&*callee.name));
        graphs[graph].is_host() || unknown.next().is_some()
    };
    CallGraph::new(module).leading_to(asks, |_| true)
}

/// Which graphs may trap: all but those that neither trap nor take of the stack, which may be exhausted by then.
fn may_trap(graphs: &[Loaded<'_>]) -> Vec<bool> {
    let takes_stack = |op: &Op| {
        let calls = op.callee().is_some_and(|callee| callee.libm().is_none());
        calls || op.opcode == Opcode::StackSlot
    };
    let may_trap = |graph: &Graph| {
        let traps = graph.blocks.iter().any(|b| matches!(b.term, Terminator::Trap(_)));
        graph.is_host() || traps || graph.blocks.iter().flat_map(|b| &b.ops).any(takes_stack)
    };
    graphs.iter().map(|loaded| may_trap(loaded.graph)).collect()
}
