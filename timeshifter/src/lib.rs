//! Shifts colored graphs in time into the graphs of a compiler, and runs that compiler.
//!
//! [`shift`] makes the compiler graphs.

pub mod shift;
