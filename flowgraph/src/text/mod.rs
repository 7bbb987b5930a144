//! The text of modules and graphs: what goldens, examples and bug reports are written in.
//!
//! ```text
//! module flow
//! file "pairs.rs"
//! struct Pair { left: i64 @0, right: i64 @8 } size 16 align 8
//! data TABLE: [u8; 2] = x"0a05"
//! entry sum
//!
//! graph sum(p: int) -> int {
//!     signature fn(p: &Pair) -> i64
//!     attributes pub
//! b0(v0: int):
//!     v1 = getfield v0 {Pair.left i64 +0 imm}     @4:5
//!     v2 = getarrayitem &TABLE, v1 {[u8] u8 +0 *1 imm}
//!     v3 = int_add v1, v2
//!     return v3
//! name left @4:9 = v1
//! }
//! ```
//!
//! One statement is one line; `//` begins a comment. Ops, blocks and values are written as in the example of
//! [`crate::ir`]. Beyond it: `branch v5, b1(v0), b2(v1, 3)`; `switch v3 [0: b1(v0), 5: b2(v1, 1)], b3`; `jump b1(v0)`;
//! `trap index_out_of_bounds(v1: usize, v2: usize) @4:9`; `trap panic "bad {}"(v1: i64)`;
//! `v5: int, v6: float = call f(v0, 7)`; `exit 3 guard 12 (v1, v2)`; `enter loop#2(v1, v2)`.
//!
//! In colored graphs a color's letter follows the type (`v0: int g`, `v2 g = …`). In compiler graphs emitted ops begin
//! with `emit`, emitted branches are `split` and `split_switch`, calls are `inline`, `fold`, `specialize` or `residual`
//! instead of `call`, and marks are the lines `local_merge` and `global_merge` before what they mark.
//!
//! Constants are decimal integers, floats as Rust's `{:?}` writes them (`2.5`, `1e300`), singles with an `s` behind
//! (`2.5s`), infinities and NaNs by their bits (`float:0x7ff8000000000000`, `single:0x7fc00000`), and addresses of data
//! (`&TABLE+8`). The references in an item of data stand behind its bytes, which are zero there, with their offsets:
//! `data CODES: [&[u8]; 1] = x"00000000000000000200000000000000" @0 &TABLE`. Places are `@line:column`, or
//! `@file:line:column` in files other than the first.
//!
//! [`parse_module`] of [`print_module`] is the identity, except for the texts of source files, which are not printed.
//! It holds for broken graphs too, as long as descriptors and callees stand where they belong, marks ascend, and every
//! type that is named is declared. The short form ([`print_graph_short`]) leaves out all that doesn't change what a
//! graph does and can be parsed as well.

mod error;
mod lex;
mod parse;
mod parse_body;
mod parse_graph;
mod place;
mod print;
mod renumber;
mod rust_type;

pub use error::TextError;
pub use parse::{parse_graph, parse_module};
pub use place::place_in;
pub use print::{print_graph, print_graph_short, print_module, print_op, print_operand, print_terminator};
pub use renumber::renumber;

use crate::ir::{CallMode, MemDesc, Op, Opcode, Operand, OperandType, Param, RustType, Scalar, Signature, Type};

/// What the text says of a result's type without writing it.
enum Implied {
    /// It is this.
    Is(Type),
    /// It is that of the operand.
    Like(Operand),
    /// Nothing.
    Nothing,
}

/// What a reader knows of the type of result `index` of an op.
fn implied_type(opcode: Opcode, args: &[Operand], mem: Option<&MemDesc>, index: usize) -> Implied {
    match opcode.results().get(index) {
        Some(OperandType::Is(ty)) => Implied::Is(*ty),
        Some(OperandType::Accessed) => Implied::Is(mem.map_or(Type::Int, |desc| desc.access.ty())),
        Some(OperandType::Any) => {
            let like = opcode.operands().iter().position(|t| *t == OperandType::Any).and_then(|i| args.get(i));
            like.map_or(Implied::Nothing, |operand| Implied::Like(*operand))
        }
        Some(OperandType::Rest) | None => Implied::Nothing,
    }
}

/// The words for a call, by op and mode.
const CALL_WORDS: [(&str, Opcode, CallMode); 11] = [
    ("call", Opcode::Call, CallMode::Plain),
    ("inline", Opcode::Call, CallMode::Inline),
    ("fold", Opcode::Call, CallMode::Fold),
    ("specialize", Opcode::Call, CallMode::Specialize),
    ("residual", Opcode::Call, CallMode::Residual),
    ("call_elidable", Opcode::CallElidable, CallMode::Plain),
    ("inline_elidable", Opcode::CallElidable, CallMode::Inline),
    ("fold_elidable", Opcode::CallElidable, CallMode::Fold),
    ("specialize_elidable", Opcode::CallElidable, CallMode::Specialize),
    ("residual_elidable", Opcode::CallElidable, CallMode::Residual),
    ("record_known_result", Opcode::RecordKnownResult, CallMode::Plain),
];

/// The word that an op begins with.
fn op_word(op: &Op) -> &'static str {
    let mode = op.callee().map(|callee| callee.mode).unwrap_or_default();
    let call = CALL_WORDS.iter().find(|(_, opcode, m)| *opcode == op.opcode && *m == mode);
    call.map_or(op.opcode.name(), |(word, ..)| word)
}

/// The signature that a graph has if none is written: that of its header in the widest Rust types.
fn default_signature(params: &[(String, Option<Type>)], results: &[Type]) -> Signature {
    let rust = |ty: Type| {
        RustType::Scalar(match ty {
            Type::Int => Scalar::I64,
            Type::Float => Scalar::F64,
            Type::Single => Scalar::F32,
        })
    };
    let params =
        params.iter().map(|(name, ty)| Param { name: name.clone(), ty: rust(ty.unwrap_or(Type::Int)) }).collect();
    let result = match results {
        [] => RustType::Unit,
        [one] => rust(*one),
        many => RustType::Tuple(many.iter().map(|ty| rust(*ty)).collect()),
    };
    Signature { params, result }
}
