//! The contract between generated code and its host: how values travel, what a status means, and the [`Context`].
//!
//! Every compiled graph is one function of the `Tail` calling convention. It takes the address of the context and
//! then its parameters, each in a register of its type; a graph with more than [`REGISTER_VALUES`] parameters takes the
//! context alone and finds them in [`Context::values`]. It returns a status word. Everything else goes through the
//! context:
//!
//! ```text
//! 0 returned   the results are in `results`; read before anything else is called
//! 1 trapped    `trap_site` says which trap, `values` has its operands
//! 2 exited     `exit_site` and `guard` say by which exit, `values` has its live values
//! ```
//!
//! What is behind an exit, the host or a bridge, finds `values`, `guard` and `exit_cell` there (see
//! [`crate::fragment`]). Each of these is consumed by whoever the status is returned to before any other code runs, so
//! one context serves all activations of a thread, nested ones too.

use cranelift_codegen::ir::{self, AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;
use flowgraph::ir::Type;
use smallvec::SmallVec;
use std::mem::offset_of;

/// How many values travel in registers (or, past the machine's own, in the native argument area).
pub const REGISTER_VALUES: usize = 12;

/// The most parameters, results or exit values of one graph.
pub const MAX_VALUES: usize = 1024;

/// The most operands of one trap.
pub const MAX_TRAP_ARGS: usize = 64;

/// In place of a registered function's number: generated code has called it itself, and it has failed.
pub const HAS_FAILED: u64 = u64::MAX;

const _: () = assert!(MAX_TRAP_ARGS <= MAX_VALUES);

/// What generated code returns.
pub(crate) mod status {
    /// The results are in the context.
    pub const RETURNED: i64 = 0;
    /// The trap is in the context.
    pub const TRAPPED: i64 = 1;
    /// The exit is in the context.
    pub const EXITED: i64 = 2;
}

/// What a merge point's hook returns to generated code.
pub(crate) mod hook {
    /// Go on with the values in the context.
    pub const CONTINUE: i64 = 0;
    /// The portal returns; its results are in the context.
    pub const RETURN: i64 = 1;
    /// The portal's run has trapped.
    pub const TRAPPED: i64 = 2;
}

/// What generated code and its host share. Only its address travels.
#[repr(C)]
pub(crate) struct Context {
    /// The cell of the exit taken.
    pub exit_cell: u64,
    /// The number of the guard that took it.
    pub guard: u64,
    /// Functions that call trap when the stack pointer is below this.
    pub stack_limit: u64,
    /// The next free byte of the slot stack, in which local aggregates lie.
    pub slot_top: u64,
    /// Arguments of entries and calls that don't use registers, the live values of exits, the operands of traps, the
    /// values at merge points. As many as travel in registers lie in the first 128 bytes, which instructions of x86-64
    /// reach with one byte.
    pub values: [u64; MAX_VALUES],
    /// Merge points left to pass before the host is asked at one.
    pub merge_points_left: u64,
    /// The end of the slot stack.
    pub slot_limit: u64,
    /// The activation frame: the part of the slot stack that the fragments of this run share.
    pub frame: u64,
    /// The number of the trap that ended the run.
    pub trap_site: u64,
    /// The number of the exit taken, if the host is behind it.
    pub exit_site: u64,
    /// `fn(context, helper, trap site) -> status`: calls a registered function.
    pub call_helper: usize,
    /// `fn(context, merge site) -> hook answer`.
    pub merge_point: usize,
    /// `fn(context) -> status`: finishes an activation that was called and has left through an exit.
    pub finish_exit: usize,
    /// `fn(address, bytes)`: fills with zeros.
    pub clear: usize,
    /// `fn(context, address, bytes, trap site) -> status`: whether there is memory (see [`crate::Options::bounds`]).
    pub check_access: usize,
    /// The [`crate::run::Host`].
    pub host: usize,
    /// The results of what returned last.
    pub results: [u64; MAX_VALUES],
}

const _: () = assert!(offset::word(offset::VALUES, REGISTER_VALUES) <= 128, "what instructions reach with one byte");

/// Offsets in the context, as Cranelift wants them.
pub(crate) mod offset {
    use super::{Context, offset_of};

    macro_rules! offsets {
        ($($name:ident = $field:ident;)*) => {
            $(pub const $name: i32 = offset_of!(Context, $field) as i32;)*

            /// All of them, with the names of the fields.
            pub const NAMED: &[(&str, i32)] = &[$((stringify!($field), $name)),*];
        };
    }
    offsets! {
        EXIT_CELL = exit_cell;
        GUARD = guard;
        STACK_LIMIT = stack_limit;
        SLOT_TOP = slot_top;
        VALUES = values;
        MERGE_POINTS_LEFT = merge_points_left;
        SLOT_LIMIT = slot_limit;
        FRAME = frame;
        TRAP_SITE = trap_site;
        EXIT_SITE = exit_site;
        CALL_HELPER = call_helper;
        MERGE_POINT = merge_point;
        FINISH_EXIT = finish_exit;
        CLEAR = clear;
        CHECK_ACCESS = check_access;
        RESULTS = results;
    }

    /// The offset of word `index` of an array of the context.
    pub const fn word(array: i32, index: usize) -> i32 {
        array + 8 * index as i32
    }
}

/// The Cranelift type that holds a value.
pub(crate) fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::Int => types::I64,
        Type::Float => types::F64,
        Type::Single => types::F32,
    }
}

/// How the parameters of a graph travel. Two graphs of equal shapes can stand in for each other behind a code pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// In registers, of these types.
    Registers(SmallVec<[Type; 8]>),
    /// In [`Context::values`].
    Memory,
}

impl Shape {
    /// The shape in which values of these types travel.
    pub fn of(types: &[Type]) -> Shape {
        if types.len() <= REGISTER_VALUES { Shape::Registers(types.into()) } else { Shape::Memory }
    }

    /// The types of what travels in registers.
    pub fn registers(&self) -> &[Type] {
        match self {
            Shape::Registers(types) => types,
            Shape::Memory => &[],
        }
    }

    /// The signature of a function that takes values of this shape.
    pub fn signature(&self) -> Signature {
        let mut sig = Signature::new(CallConv::Tail);
        sig.params.push(AbiParam::new(types::I64));
        sig.params.extend(self.registers().iter().map(|ty| AbiParam::new(clif_type(*ty))));
        sig.returns.push(AbiParam::new(types::I64));
        sig
    }
}

/// A signature of the platform's own calling convention.
pub(crate) fn host_signature(conv: CallConv, params: &[ir::Type], results: &[ir::Type]) -> Signature {
    let mut sig = Signature::new(conv);
    sig.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    sig.returns.extend(results.iter().map(|ty| AbiParam::new(*ty)));
    sig
}
