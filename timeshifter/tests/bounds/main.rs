//! The domains of the optimizer: what bounds of integers and floats say is true, and they obey the laws of lattices.
#![allow(missing_docs)]

mod floats;
mod lattice;
mod sets;
mod small;
mod wide;
