//! The functions of a flow module, as the annotator sees them: shapes, parameter leaves, and who calls whom.

use crate::shape::Shape;
use crate::signature::{ParamLeaf, param_leaves};
use flowgraph::analysis::CallGraph;
use flowgraph::ir::{CallMode, Callee, Effect, Graph, Module, Op};
use rustc_hash::FxHashMap;

/// The index of a function among the graphs of the module.
pub(crate) type FnId = usize;

/// What is done with a call, as far as its function says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The callee is annotated too.
    LookedInto(FnId),
    /// Pure as seen from outside: may be called while compiling.
    Elidable,
    /// Only ever called at run time.
    Opaque,
}

/// A function.
pub(crate) struct Function<'m> {
    pub graph: &'m Graph,
    pub shape: Shape,
    pub leaves: Vec<ParamLeaf>,
    /// The part of the call graph that it is in: functions of one part call each other.
    pub component: usize,
}

/// All functions.
pub(crate) struct Program<'m> {
    pub module: &'m Module,
    pub functions: Vec<Function<'m>>,
    by_path: FxHashMap<&'m str, FnId>,
}

impl<'m> Program<'m> {
    pub fn new(module: &'m Module) -> Program<'m> {
        let by_path = module.graphs.keys().enumerate().map(|(i, k)| (k.as_str(), i)).collect();
        let functions = module
            .graphs
            .values()
            .map(|graph| {
                let (shape, leaves) = (Shape::of(graph), param_leaves(module, graph));
                Function { graph, shape, leaves, component: 0 }
            })
            .collect();
        let mut program = Program { module, functions, by_path };
        for (component, group) in CallGraph::new(module).groups().iter().enumerate() {
            for id in group {
                program.functions[*id].component = component;
            }
        }
        program
    }

    /// The function with this path.
    pub fn find(&self, path: &str) -> Option<FnId> {
        self.by_path.get(path).copied()
    }

    pub fn function(&self, id: FnId) -> &Function<'m> {
        &self.functions[id]
    }

    /// What is done with a call to `callee` by `op`.
    pub fn kind(&self, op: &Op, callee: &Callee) -> Kind {
        let elidable = op.opcode.effect() == Effect::ElidableCall;
        if let Some(decider) = self.module.decider(callee).and_then(|graph| self.find(&graph.key)) {
            return Kind::LookedInto(decider);
        }
        match self.find(&callee.name) {
            _ if callee.mode == CallMode::Residual => Kind::Opaque,
            _ if elidable => Kind::Elidable,
            Some(id) if self.functions[id].graph.attributes.elidable => Kind::Elidable,
            Some(id) if !self.functions[id].graph.attributes.dont_look_inside => Kind::LookedInto(id),
            _ => Kind::Opaque,
        }
    }
}
