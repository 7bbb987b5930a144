//! From colored graphs to the graphs of a compiler.
//!
//! Nothing moves: blocks, ops and values keep their places, so that a position means the same in every stage. What is
//! added is *when*: an op on greens is executed when compiling, a red one is emitted; a branch on a red is a split; a
//! call is carried out in one of the [`CallMode`]s; and [`Mark`](flowgraph::ir::Mark)s say where states wait for each
//! other.
//!
//! ```text
//! graph f#gr(x: int, y: int) -> int {
//! b0(v0: int g, v1: int r):
//!     v2 g = concrete v0
//!     v3 r = emit int_add v2, v1
//!     split v3, b1(), b2()
//! b3(v4: int r):                      both arms lead here
//!     local_merge
//!     return v4
//! }
//! ```
//!
//! Functions without colors (called, never looked into) stay as they are.

mod calls;
mod marks;
mod times;

use calls::Calls;
use flowgraph::ir::{CallMode, Graph, Imm, Module, Stage};
use hintannotator::{Colors, Shape, has_colors};
use indexmap::IndexMap;

/// The compiler made from `colors`.
pub fn shift(colors: &Colors) -> Module {
    shift_module(&colors.module)
}

/// The compiler made from a colored module.
pub fn shift_module(colored: &Module) -> Module {
    let shapes: IndexMap<&str, Shape> =
        colored.graphs.iter().filter(|(_, g)| has_colors(g)).map(|(k, g)| (k.as_str(), Shape::of(g))).collect();
    let calls = Calls::of(colored, &shapes);
    let mut out = colored.clone();
    out.stage = Stage::Compiler;
    for (key, shape) in &shapes {
        let Some(graph) = out.graphs.get_mut(*key) else { continue };
        set_modes(graph, &calls);
        times::set(graph);
        marks::set(graph, shape, &calls);
    }
    out
}

fn set_modes(graph: &mut Graph, calls: &Calls<'_>) {
    for block in 0..graph.blocks.len() {
        for op in 0..graph.blocks[block].ops.len() {
            let mode = calls.mode(graph, &graph.blocks[block].ops[op]);
            if let Imm::Call(callee) = &mut graph.blocks[block].ops[op].imm {
                callee.mode = mode.unwrap_or(CallMode::Residual);
            }
        }
    }
}
