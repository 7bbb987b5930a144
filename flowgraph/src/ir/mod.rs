//! The intermediate representation: SSA with block parameters over one op table.
//!
//! A [`Module`] holds type declarations, constant data and [`Graph`]s. A graph is a list of [`Block`]s; a block has
//! parameters, [`Op`]s and a [`Terminator`] whose [`Edge`]s hand arguments to the parameters of the blocks they lead
//! to. Operands are values or constants; there are no constant ops. What each op does stands in [`Opcode`], once.
//!
//! ```text
//! graph plus_minus(x: int, y: int) -> int {
//! b0(v0: int, v1: int):
//!     v2 = int_add v0, v1
//!     return v2
//! }
//! ```
//!
//! Not promised: that ids stay the same from one stage to another, except that coloring and shifting keep blocks,
//! op positions and value ids exactly (a position is `(graph, block, op index)` in all of them).

mod attributes;
mod constant;
mod descriptor;
mod enums;
mod graph;
mod location;
mod module;
mod ops;
mod renaming;
mod rust_type;
mod trap;

pub use attributes::{Attributes, CallMode, Callee, Color, Portal, Time};
pub use constant::{Const, DataId, Operand};
pub use descriptor::{Access, MemDesc, MemKind, SlotDesc};
pub use enums::{EnumDecl, Variant, union_of};
pub use graph::{
    Block, BlockId, Edge, Graph, Imm, Mark, MarkKind, NO_GUARD, NameDef, Op, Terminator, ValueId, ValueInfo,
};
pub use location::{FileId, Loc, SourceFile};
pub use module::{Data, Module, Stage};
pub use ops::{Effect, Opcode, OperandType, Word, Words};
pub use renaming::Renaming;
pub use rust_type::{Field, KeyField, Leaf, Param, RustType, Scalar, Signature, StructDecl, own_name};
pub use trap::{Piece, Trap, TrapKind};

/// The type of an SSA value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A 64-bit word. Narrower Rust integers live in it sign- or zero-extended; so do bools, chars and raw addresses.
    Int,
    /// An `f64`.
    Float,
    /// An `f32`.
    Single,
}

impl Type {
    /// The name in text: `int`, `float` or `single`.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Float => "float",
            Type::Single => "single",
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
