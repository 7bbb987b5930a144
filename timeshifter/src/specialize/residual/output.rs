//! What an engine has produced, as a module of residual graphs.

use crate::specialize::engine::Engine;
use crate::specialize::residual::link::Cleaned;
use crate::specialize::step::recorded::{LOOK_AT_HINT, look_at_hint};
use flowgraph::ir::{Graph, Module, Stage};

impl Engine<'_> {
    /// The fragments from number `from` on as cleaned residual graphs, in the order in which they were made, but for
    /// those that nobody may use.
    pub fn residual_graphs(&self, from: usize) -> Vec<Graph> {
        self.cleaned_graphs(from).into_iter().map(|cleaned| cleaned.graph).collect()
    }

    /// The same, each with what machine code is made of.
    pub fn cleaned_graphs(&self, from: usize) -> Vec<Cleaned> {
        let usable = (from..self.fragments.len()).filter(|at| !self.fragments[*at].abandoned);
        usable.map(|at| self.cleaned(at)).collect()
    }

    /// All that has been produced: the residual graphs, and the functions that are called as they are with all that
    /// these call. Its entry is the fragment that `unit` begins with.
    pub fn residual_module(&self, unit: usize) -> Module {
        self.residual_module_of(unit, self.residual_graphs(0))
    }

    /// The residual module that consists of these graphs, and the functions that are called as they are.
    pub fn residual_module_of(&self, unit: usize, graphs: impl IntoIterator<Item = Graph>) -> Module {
        let source = self.program.module;
        let mut module = Module {
            stage: Stage::Residual,
            files: source.files.clone(),
            structs: source.structs.clone(),
            enums: source.enums.clone(),
            data: source.data.clone(),
            graphs: Default::default(),
            // There is none where all has just been thrown away.
            entry: self.fragments.get(self.units[unit].fragment).map(|fragment| fragment.graph.key.clone()),
        };
        for graph in graphs {
            module.graphs.insert(graph.key.clone(), graph);
        }
        for key in self.functions_as_they_are() {
            if let Some(graph) = source.graphs.get(&key) {
                module.graphs.insert(key, graph.clone());
            }
        }
        if !self.hint_checks.is_empty() {
            module.graphs.insert(LOOK_AT_HINT.to_owned(), look_at_hint());
        }
        module.graphs.extend(self.hint_checks.iter().map(|(key, graph)| (key.clone(), graph.clone())));
        module
    }

    /// The keys of the functions that residual code calls as they are, and of all that these call.
    pub fn functions_as_they_are(&self) -> Vec<String> {
        let mut found: Vec<String> = self.functions.as_they_are.iter().cloned().collect();
        let mut at = 0;
        while let Some(graph) = found.get(at).and_then(|key| self.program.module.graphs.get(key)) {
            let callees = graph.blocks.iter().flat_map(|b| &b.ops).filter_map(|op| op.callee());
            let new: Vec<String> = callees
                .filter(|c| c.libm().is_none())
                .map(|c| c.name.to_string())
                .filter(|n| !found.contains(n))
                .collect();
            for name in new {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            at += 1;
        }
        found
    }
}
