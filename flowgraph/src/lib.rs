//! Flow graphs: the one IR that every stage of hueshift speaks, and the way into it.
//!
//! An interpreter's graph, its colored form, the compiler graph made from that and the residual graph that the
//! compiler produces are all an [`ir::Graph`] over the same op table ([`ir::Opcode`]), with the same text, verifier,
//! evaluator and drawings. This crate knows nothing of how colors are found or what the stages do: it only has the
//! slots in which they write.
//!
//! ```text
//! frontend   Rust source in the dialect  ->  ir::Module of flow graphs
//! text       ir::Module                 <->  text
//! verify     ir::Module                  ->  every violated invariant, with block and op
//! eval       ir::Module + arguments      ->  result, memory, trap        (the oracle of every other engine)
//! draw       ir::Module                  ->  dot, svg, html
//! ```

pub mod analysis;
pub mod draw;
pub mod eval;
pub mod frontend;
pub mod host;
pub mod ir;
pub mod math;
pub mod memory;
pub mod near;
#[cfg(test)]
mod sketch;
pub mod testing;
pub mod text;
pub mod value;
pub mod verify;
