//! What the annotator gives.

use flowgraph::ir::Module;

/// The colors of everything that an entry reaches.
#[derive(Clone, Debug)]
pub struct Colors {
    /// The colored module: a graph for each reached function and signature (the entry first), the all-red twin of each
    /// of these functions, and, without colors, the functions that are called without being looked into.
    pub module: Module,
}
