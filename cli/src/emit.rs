//! `--emit`: residual code, as text.

use clap::ValueEnum;
use flowgraph::text::{print_graph_short, renumber};
use hueshift::Specialized;

/// A form of residual code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// Residual graphs.
    Residual,
    /// Cranelift's form.
    Clif,
    /// Machine instructions.
    Asm,
}

impl Emit {
    /// Residual code in this form: what a run can come to.
    pub fn text(self, made: &Specialized) -> String {
        self.of(made, made.residual.reachable())
    }

    /// All residual code in this form.
    pub fn all(self, made: &Specialized) -> String {
        self.of(made, made.residual.own.clone())
    }

    /// These graphs in this form.
    fn of(self, made: &Specialized, mut keys: Vec<String>) -> String {
        let residual = &made.residual;
        // Then the functions that these call, specialized or as they are.
        let mut at = 0;
        while let Some(graph) = keys.get(at).map(|key| &residual.module.graphs[key]) {
            at += 1;
            for callee in graph.blocks.iter().flat_map(|b| &b.ops).filter_map(|op| op.callee()) {
                let name = callee.name.to_string();
                if residual.module.graphs.contains_key(&name) && !keys.contains(&name) {
                    keys.push(name);
                }
            }
        }
        let text = |key: &String| match self {
            Emit::Residual => {
                let graph = renumber(residual.module.graphs.get(key)?);
                Some(print_graph_short(&residual.module, &graph).trim_end().to_owned() + "\n")
            }
            Emit::Clif => Some(format!("; {key}\n{}", made.machine.get(key)?.0)),
            Emit::Asm => Some(format!("; {key}\n{}", made.machine.get(key)?.1)),
        };
        keys.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }
}
