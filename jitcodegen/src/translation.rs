//! A batch of graphs with all that they refer to: what can be made Cranelift's form of, on whatever thread.

use crate::CodegenError;
use crate::code::{Definition, build};
use crate::engine::Tier;
use crate::fragment::FrameLayout;
use crate::function::{self, Common, Function, Helpers, Outside, Unit};
use crate::sites::SharedSites;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use flowgraph::ir::{Const, DataId, Graph, Operand};
use flowgraph::memory::Memory;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Graphs that are to be compiled together.
pub(crate) struct Translation<'a> {
    /// The graphs, each with its name.
    pub graphs: Vec<(Cow<'a, Graph>, String)>,
    /// In which capacity.
    pub tier: Tier,
    /// They, and the graphs that they call or enter, by name.
    pub functions: FxHashMap<String, Function>,
    /// The registered functions.
    pub helpers: Arc<Helpers>,
    /// Where the cells are of graphs that they enter, by name.
    pub heads: FxHashMap<String, usize>,
    /// Where the data lies that they refer to.
    pub data: FxHashMap<DataId, u64>,
    /// Where traps, exits and merge points are noted.
    pub sites: SharedSites,
    /// The activation frame that they share.
    pub layout: FrameLayout,
    /// The same for all of an engine.
    pub common: Common,
}

/// Graphs in Cranelift's form.
pub(crate) struct Translated {
    /// Each of them, in their order.
    pub definitions: Vec<Definition>,
    /// The numbers of their exits' sites.
    pub exits: Range<usize>,
}

impl Translation<'_> {
    /// Has the graphs of its own, to be handed to another thread.
    pub fn into_owned(self) -> Translation<'static> {
        let graphs = self.graphs.into_iter().map(|(graph, name)| (Cow::Owned(graph.into_owned()), name)).collect();
        Translation { graphs, ..self }
    }

    /// Makes Cranelift's form of all of them, or of none. Nobody else does, for the same sites, at the same time.
    pub fn translate(
        &self,
        isa: &dyn TargetIsa,
        builder: &mut FunctionBuilderContext,
    ) -> Result<Translated, CodegenError> {
        let first_exit = self.sites.lock().exits.len();
        let mut layout = self.layout.lock();
        let mut frame = *layout;
        let mut definitions = Vec::with_capacity(self.graphs.len());
        for (graph, name) in &self.graphs {
            let function = &self.functions[name];
            let mut unit = Unit {
                name,
                tier: &self.tier,
                functions: &self.functions,
                helpers: &self.helpers,
                sites: &self.sites,
                outside: Outside::Addresses { data: &self.data, heads: &self.heads },
                common: self.common,
                isa,
                frame: &mut frame,
            };
            let signature = function.shape().signature();
            let body = build(isa, builder, signature, |b| function::translate(graph, function, &mut unit, b))?;
            definitions.push(Definition { id: function.id, name: name.clone(), body });
        }
        *layout = frame;
        Ok(Translated { definitions, exits: first_exit..self.sites.lock().exits.len() })
    }
}

/// Where the data lies that a graph refers to, as far as it has a place.
pub(crate) fn data_of(graph: &Graph, memory: &Memory) -> Vec<(DataId, u64)> {
    let mut all = Vec::new();
    let mut add = |operand: &Operand| {
        if let Operand::Const(Const::Addr(data, _)) = operand {
            all.push((*data, memory.data_address(*data)));
        }
    };
    for block in &graph.blocks {
        block.ops.iter().flat_map(|op| &op.args).for_each(&mut add);
        block.term.operands().for_each(|operand| add(&operand));
        block.term.edges().flat_map(|edge| &edge.args).for_each(&mut add);
    }
    all.retain(|(_, address)| *address != 0);
    all
}
