//! Interpreters embedded in a program: what the macros [`crate::interpreter`] and [`crate::interpreter_file`] make, and
//! what runs it.
//!
//! ```text
//! #[hueshift::interpreter]        lang::run(code, pc, cpu)            tier 0: the source, compiled by rustc
//! mod lang { … fn run … }   ──▶   lang::interp::run(code, pc, cpu)    the same; a panic is an `Err(Trap)`
//!                                 lang::aot::run(&mut jit, code, …)   compiled for code and pc, and run
//!                                 lang::jit::run(&mut jit, code, …)   tier 0, and compiled code where it is hot
//!                                 lang::residual::run(code, pc)       the residual graphs, for a test
//!                                 lang::INTERPRETER                   the lifted module, its entries and host functions
//! ```
//!
//! A [`Jit`] compiles an entry ahead of the run, for the greens of the first call with these greens, and keeps what it
//! compiled. What greens refer to is borrowed for as long as the `Jit` may be used, so rustc refuses to change or free
//! what compiled code depends on. Compiled code works on the program's own memory, at its real addresses.
//!
//! Not promised: the functions that are hidden from the documentation. They are for code that the macros make, and take
//! words on trust.

/// The chapter of the book, whose code is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Chapter;

mod compiled;
mod drivers;
mod greens;
mod hosts;
mod interpreter;
mod jit;
mod sampler;
mod tiers;
mod trap;
mod trials;
mod values;

pub use hosts::HostCall;
pub use interpreter::{Definition, Entry, HostFunction, Interpreter, PortalFunction};
pub use jit::{Error, Jit};
pub use tiers::{Entered, Green};
pub use trap::Trap;
pub use values::{Give, Pass, WordReader, WordWriter, pass_variant};
