//! Code memory: compiling functions and installing them where they can be executed.
//!
//! Functions are compiled first, all of a batch, and installed only if none was refused, so that no installed code
//! ever refers to something that isn't there. Nothing is freed before the whole [`Code`] is; it is shared by everybody
//! who may run it.
#![allow(unsafe_code, reason = "code memory is freed by hand, when its last owner is gone")]

use crate::CodegenError;
use crate::arena::{Arena, Place};
use crate::helpers;
use crate::isa::Target;
use crate::placement::{Blocks, Jumps, WINDOW};
use crate::translation::{Translated, Translation};
use cranelift_codegen::ir::{Function, LibCall, Signature, UserFuncName};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{Context, FinalizedMachReloc};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleReloc};
use rustc_hash::FxHashMap;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;
use target_lexicon::Architecture;

/// Address space for code: near calls reach across it on every machine.
const ARENA_BYTES: usize = 128 << 20;

/// Where functions begin that may begin anywhere.
const NATURAL: usize = 16;

/// A function in Cranelift's terms, to be compiled.
pub(crate) struct Definition {
    /// Which.
    pub id: FuncId,
    /// For messages.
    pub name: String,
    /// Its body.
    pub body: Function,
}

/// A function's machine code, to be installed.
pub(crate) struct Compiled {
    id: FuncId,
    alignment: u64,
    jumps: Jumps,
    bytes: Vec<u8>,
    relocs: Vec<ModuleReloc>,
    text: Text,
}

/// The texts of a compiled function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    /// In Cranelift's intermediate form, before its optimizer.
    pub clif: String,
    /// As machine instructions.
    pub asm: String,
}

/// The memory that holds code, and the compiler into it.
pub(crate) struct Code {
    module: ManuallyDrop<JITModule>,
    /// Where it is put.
    place: Arc<Place>,
    /// It matters to its machine where jumps lie.
    is_skewed: bool,
    workshop: Workshop,
    /// Bytes of machine code installed so far.
    pub bytes: usize,
    /// Those of each function.
    pub sizes: FxHashMap<FuncId, usize>,
    broken: Option<String>,
}

impl Code {
    /// Empty code memory for a target.
    pub fn new(target: Target) -> Result<Code, CodegenError> {
        let is_skewed = matches!(target.isa.triple().architecture, Architecture::X86_64);
        let mut builder = JITBuilder::with_isa(target.isa, Box::new(libcall_name));
        for (libcall, address) in helpers::libcalls() {
            builder.symbol(libcall_name(libcall), address);
        }
        let arena = Arena::new(ARENA_BYTES).map_err(|e| memory_error(&e))?;
        let place = arena.place();
        builder.memory_provider(Box::new(arena));
        Ok(Code {
            place,
            is_skewed,
            module: ManuallyDrop::new(JITModule::new(builder)),
            workshop: Workshop::new(),
            bytes: 0,
            sizes: FxHashMap::default(),
            broken: None,
        })
    }

    /// Announces a function of this signature, so that others can call it.
    pub fn declare(&mut self, signature: &Signature) -> Result<FuncId, CodegenError> {
        self.module.declare_anonymous_function(signature).map_err(|e| memory_error(&e))
    }

    /// The machine that its code is for.
    pub fn isa(&self) -> &dyn TargetIsa {
        self.module.isa()
    }

    /// Builds a function, compiles and installs it. Together with what is installed already it is complete.
    pub fn install(
        &mut self,
        id: FuncId,
        name: &str,
        signature: Signature,
        fill: impl FnOnce(&mut FunctionBuilder) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let Code { module, workshop, .. } = self;
        let body = build(module.isa(), &mut workshop.builder, signature, fill)?;
        let batch = vec![Definition { id, name: name.to_owned(), body }];
        let compiled = compile(module.isa(), &mut workshop.context, batch, false)?;
        self.define(compiled)?;
        self.finish()
    }

    /// Translates and compiles a batch.
    pub fn compile(&mut self, batch: &Translation, want_text: bool) -> Result<Batch, CodegenError> {
        self.workshop.compile(self.module.isa(), batch, want_text)
    }

    /// Writes the code of a batch that has been compiled: it can be run as soon as that is finished.
    pub fn define(&mut self, compiled: Vec<Compiled>) -> Result<Vec<Text>, CodegenError> {
        if let Some(message) = &self.broken {
            return Err(CodegenError::CodeMemory(message.clone()));
        }
        let mut texts = Vec::with_capacity(compiled.len());
        for Compiled { id, alignment, jumps, bytes, relocs, text } in compiled {
            if self.is_skewed && alignment <= u64::from(WINDOW) {
                let natural = self.place.next().next_multiple_of(NATURAL) as u32 % WINDOW;
                self.place.begin_at(jumps.skew(natural, alignment as u32));
            }
            let installed = self.module.define_function_bytes(id, alignment, &bytes, &relocs);
            installed.map_err(|e| self.break_down(&e))?;
            self.bytes += bytes.len();
            self.sizes.insert(id, bytes.len());
            texts.push(text);
        }
        Ok(texts)
    }

    /// Has all that has been written run. Together with what is installed already it is complete.
    pub fn finish(&mut self) -> Result<(), CodegenError> {
        if let Some(message) = &self.broken {
            return Err(CodegenError::CodeMemory(message.clone()));
        }
        self.module.finalize_definitions().map_err(|e| self.break_down(&e))
    }

    /// The address of an installed function.
    pub fn address(&self, id: FuncId) -> *const u8 {
        self.module.get_finalized_function(id)
    }

    /// The machine code of an installed function, as it lies in memory.
    pub fn bytes(&self, id: FuncId) -> Option<Vec<u8>> {
        let size = self.sizes.get(&id).copied()?;
        // SAFETY: so many bytes have been written there when it was installed, and nothing is freed or changed while
        // `self` is.
        Some(unsafe { std::slice::from_raw_parts(self.address(id), size) }.to_vec())
    }

    /// Half a batch is installed: nothing that comes later can rely on it.
    fn break_down(&mut self, error: &dyn std::fmt::Display) -> CodegenError {
        self.broken = Some(error.to_string());
        memory_error(error)
    }
}

/// A batch that has been compiled.
pub(crate) struct Batch {
    /// The code of each of its functions.
    pub code: Vec<Compiled>,
    /// The numbers of its exits' sites.
    pub exits: Range<usize>,
}

/// What is at hand, over and over, where graphs are translated and compiled: each thread that does so has its own.
pub(crate) struct Workshop {
    builder: FunctionBuilderContext,
    context: Context,
}

impl Workshop {
    /// An empty one.
    pub fn new() -> Workshop {
        Workshop { builder: FunctionBuilderContext::new(), context: Context::new() }
    }

    /// Translates and compiles a batch; all or none.
    pub fn compile(
        &mut self,
        isa: &dyn TargetIsa,
        batch: &Translation,
        want_text: bool,
    ) -> Result<Batch, CodegenError> {
        let Translated { definitions, exits } = batch.translate(isa, &mut self.builder)?;
        let code = compile(isa, &mut self.context, definitions, want_text)?;
        Ok(Batch { code, exits })
    }
}

/// Builds the body of a function.
pub(crate) fn build(
    isa: &dyn TargetIsa,
    builder: &mut FunctionBuilderContext,
    signature: Signature,
    fill: impl FnOnce(&mut FunctionBuilder) -> Result<(), CodegenError>,
) -> Result<Function, CodegenError> {
    let mut body = Function::new();
    body.signature = signature;
    // Not given back if the body is left unfinished: it would remember it.
    let mut scratch = std::mem::take(builder);
    let mut b = FunctionBuilder::new(&mut body, &mut scratch);
    fill(&mut b)?;
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
    *builder = scratch;
    Ok(body)
}

/// Compiles functions; all or none.
fn compile(
    isa: &dyn TargetIsa,
    context: &mut Context,
    batch: Vec<Definition>,
    want_text: bool,
) -> Result<Vec<Compiled>, CodegenError> {
    let mut compiled = Vec::with_capacity(batch.len());
    for Definition { id, name, body } in batch {
        context.clear();
        context.func = body;
        context.func.name = UserFuncName::testcase(&name);
        context.set_disasm(want_text);
        let clif = if want_text { context.func.display().to_string() } else { String::new() };
        let code = context.compile(isa, &mut Default::default());
        let code = code.map_err(|e| CodegenError::of_cranelift(&name, &e.inner))?;
        let text = Text { clif, asm: code.vcode.clone().unwrap_or_default() };
        let bytes = code.buffer.data().to_vec();
        let alignment = u64::from(code.buffer.alignment);
        let jumps = Jumps::of(&Blocks { starts: &code.bb_starts, code: &bytes });
        let relocs: Vec<FinalizedMachReloc> = code.buffer.relocs().to_vec();
        let relocs = relocs.iter().map(|r| ModuleReloc::from_mach_reloc(r, &context.func, id)).collect();
        compiled.push(Compiled { id, alignment, jumps, bytes, relocs, text });
    }
    Ok(compiled)
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: taken once, here. Code is run only by those who share ownership of it, and they are gone.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

fn memory_error(error: &dyn std::fmt::Display) -> CodegenError {
    CodegenError::CodeMemory(error.to_string())
}

/// The symbol of a library function that Cranelift calls where the machine lacks an instruction.
fn libcall_name(libcall: LibCall) -> String {
    format!("hueshift_{libcall}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::OptLevel;

    /// Where it matters how far behind a boundary of 32 bytes functions begin, they are put so that the jumps of their
    /// loops don't touch one.
    #[test]
    fn functions_are_put_where_their_jumps_are_fast() {
        let target = Target::host(OptLevel::Quick, true).expect("a target");
        let mut code = Code::new(target).expect("memory");
        // A loop whose jump ends 32 and 16 bytes behind the beginning.
        let bytes = |end: usize, back: u8| {
            let mut bytes = vec![0x90; 40];
            bytes[end - 6..end].copy_from_slice(&[0x0f, 0x85, back.wrapping_neg(), 0xff, 0xff, 0xff]);
            bytes
        };
        let codes = [bytes(32, 24), bytes(16, 12)];
        let blocks =
            [Blocks { starts: &[0, 8, 32, 40], code: &codes[0] }, Blocks { starts: &[0, 4, 16, 40], code: &codes[1] }];
        let signature = Signature::new(code.isa().default_call_conv());
        let functions: Vec<FuncId> = (0..8).map(|_| code.declare(&signature).expect("a declaration")).collect();
        for (at, id) in functions.iter().enumerate() {
            let jumps = Jumps::of(&blocks[at % 2]);
            let (bytes, relocs, text) = (vec![0; 40 + 3 * at], Vec::new(), Text::default());
            code.define(vec![Compiled { id: *id, alignment: 1, jumps, bytes, relocs, text }]).expect("it has room");
        }
        code.finish().expect("pages that can be run");
        for (at, id) in functions.iter().enumerate().filter(|_| code.is_skewed) {
            let skew = (code.address(*id).addr() % 32) as u32;
            assert_eq!(Jumps::of(&blocks[at % 2]).skew(skew, 1), skew, "function {at}");
        }
    }
}
