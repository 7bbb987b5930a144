//! Shifts colored graphs in time into the graphs of a compiler, and runs that compiler.
//!
//! [`shift`] makes the compiler graphs; [`specialize`] runs them, and knows nothing of the source, of coloring, or of
//! machine code.

pub mod optimize;
pub mod shift;
pub mod specialize;
