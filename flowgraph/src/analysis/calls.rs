//! Who calls whom.

use crate::ir::{Graph, Module, Terminator};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

/// The call graph of a module. Graphs are named by their index in [`Module::graphs`].
#[derive(Clone, Debug)]
pub struct CallGraph {
    shape: DiGraph<(), ()>,
    groups: Vec<Vec<usize>>,
    recursive: Vec<bool>,
}

fn callees<'g>(module: &'g Module, graph: &'g Graph) -> impl Iterator<Item = usize> + 'g {
    graph.blocks.iter().flat_map(move |block| {
        let entered = match &block.term {
            Terminator::Enter { graph, .. } => Some(&**graph),
            _ => None,
        };
        let called = block.ops.iter().filter_map(|op| op.callee()).map(|callee| &*callee.name);
        let decided = block.ops.iter().filter_map(|op| module.decider(op.callee()?)).map(|graph| &*graph.key);
        called.chain(entered).chain(decided).filter_map(|name| module.graphs.get_index_of(name))
    })
}

impl CallGraph {
    /// Analyses a module.
    pub fn new(module: &Module) -> CallGraph {
        let mut shape: DiGraph<(), ()> = DiGraph::new();
        for _ in &module.graphs {
            shape.add_node(());
        }
        for (i, graph) in module.graphs.values().enumerate() {
            for callee in callees(module, graph) {
                shape.update_edge(NodeIndex::new(i), NodeIndex::new(callee), ());
            }
        }
        let groups: Vec<Vec<usize>> =
            kosaraju_scc(&shape).into_iter().map(|group| group.into_iter().map(NodeIndex::index).collect()).collect();
        let mut recursive = vec![false; module.graphs.len()];
        for group in &groups {
            for graph in group {
                let node = NodeIndex::new(*graph);
                recursive[*graph] = group.len() > 1 || shape.contains_edge(node, node);
            }
        }
        CallGraph { shape, groups, recursive }
    }

    /// The graphs that `graph` calls, each once, in the order of the module.
    pub fn callees(&self, graph: usize) -> Vec<usize> {
        let mut all: Vec<usize> = self.shape.neighbors(NodeIndex::new(graph)).map(NodeIndex::index).collect();
        all.sort_unstable();
        all
    }

    /// The groups of graphs that call each other, callees before callers.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Whether `graph` may be called while it runs.
    pub fn is_recursive(&self, graph: usize) -> bool {
        self.recursive[graph]
    }

    /// For each graph whether it is such, or calls one that is, directly or by way of graphs that lead `through`.
    pub fn leading_to(&self, is: impl Fn(usize) -> bool, through: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut leads = vec![false; self.recursive.len()];
        // What a group calls comes before it.
        for group in &self.groups {
            let any_does = group.iter().any(|graph| {
                is(*graph) || through(*graph) && self.callees(*graph).into_iter().any(|callee| leads[callee])
            });
            group.iter().for_each(|graph| leads[*graph] = any_does);
        }
        leads
    }

    /// `graph` and all that it may call, directly or not, in the order of the module.
    pub fn reachable(&self, graph: usize) -> Vec<usize> {
        let mut walk = Dfs::new(&self.shape, NodeIndex::new(graph));
        let mut all = Vec::new();
        while let Some(node) = walk.next(&self.shape) {
            all.push(node.index());
        }
        all.sort_unstable();
        all
    }
}
