//! Code around graphs: what exits lead to, and the ways in.

use crate::abi::{self, Shape, offset, status};
use crate::fragment::exit_cell;
use crate::function::context_access;
use cranelift_codegen::ir::{self, InstBuilder, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;

/// Code that is no graph's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Glue {
    /// What an exit without a bridge leads to.
    Stub,
    /// The way from exits to bridges of a shape.
    Arrival(Shape),
    /// The way in from Rust for a shape: `fn(code, context) -> status`, arguments in the context's values.
    Trampoline(Shape),
}

impl Glue {
    /// What it is called in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Glue::Stub => "exit",
            Glue::Arrival(_) => "arrival",
            Glue::Trampoline(_) => "entry",
        }
    }

    /// Its signature; the platform's convention is `host`.
    pub fn signature(&self, host: CallConv) -> Signature {
        match self {
            Glue::Stub | Glue::Arrival(_) => Shape::Memory.signature(),
            Glue::Trampoline(_) => abi::host_signature(host, &[types::I64; 2], &[types::I64]),
        }
    }

    /// Builds its body.
    pub fn build(&self, b: &mut FunctionBuilder) {
        match self {
            Glue::Stub => build_stub(b),
            Glue::Arrival(shape) => build_arrival(shape, b),
            Glue::Trampoline(shape) => build_trampoline(shape, b),
        }
    }
}

/// Returns to the host, and tells it which exit it was.
fn build_stub(b: &mut FunctionBuilder) {
    let (context, cell) = behind_exit(b);
    let site = b.ins().load(types::I64, context_access(), cell, exit_cell::offset(exit_cell::SITE));
    b.ins().store(context_access(), site, context, offset::EXIT_SITE);
    let exited = b.ins().iconst(types::I64, status::EXITED);
    b.ins().return_(&[exited]);
}

/// Loads what the exit has left into registers, and goes on to the bridge.
fn build_arrival(shape: &Shape, b: &mut FunctionBuilder) {
    let (context, cell) = behind_exit(b);
    let bridge = b.ins().load(types::I64, context_access(), cell, exit_cell::offset(exit_cell::BRIDGE));
    let args = entry_arguments(shape, b, context);
    let signature = b.import_signature(shape.signature());
    b.ins().return_call_indirect(signature, bridge, &args);
}

/// Begins a function that an exit leads to. Gives the context and the exit's cell.
fn behind_exit(b: &mut FunctionBuilder) -> (ir::Value, ir::Value) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let context = b.block_params(entry)[0];
    (context, b.ins().load(types::I64, context_access(), context, offset::EXIT_CELL))
}

fn build_trampoline(shape: &Shape, b: &mut FunctionBuilder) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let (code, context) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    let args = entry_arguments(shape, b, context);
    let signature = b.import_signature(shape.signature());
    let call = b.ins().call_indirect(signature, code, &args);
    let result = b.inst_results(call)[0];
    b.ins().return_(&[result]);
}

/// The way in from C to one function of a shape: `fn(context) -> status`.
pub(crate) fn build_entrance(shape: &Shape, callee: ir::FuncRef, b: &mut FunctionBuilder) {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let context = b.block_params(entry)[0];
    let args = entry_arguments(shape, b, context);
    let call = b.ins().call(callee, &args);
    let result = b.inst_results(call)[0];
    b.ins().return_(&[result]);
}

fn entry_arguments(shape: &Shape, b: &mut FunctionBuilder, context: ir::Value) -> Vec<ir::Value> {
    let mut args = vec![context];
    for (i, ty) in shape.registers().iter().enumerate() {
        let at = offset::word(offset::VALUES, i);
        args.push(b.ins().load(abi::clif_type(*ty), context_access(), context, at));
    }
    args
}
