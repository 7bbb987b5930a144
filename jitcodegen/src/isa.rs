//! What differs from machine to machine, and is hidden from the rest of the crate.

use crate::CodegenError;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use target_lexicon::Architecture;

/// How much Cranelift does about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OptLevel {
    /// For code that runs once: no optimization, and registers allocated in a single pass.
    Quick,
    /// No optimization: our own optimizer has run.
    None,
    /// The default.
    #[default]
    Speed,
}

/// The machine that code is made for.
pub(crate) struct Target {
    /// Cranelift's part.
    pub isa: OwnedTargetIsa,
    /// Whether ops that also tell of overflow exist; else they are spelled out.
    pub overflow_ops: bool,
}

impl Target {
    /// The machine that this runs on, with what its processor offers.
    pub fn host(level: OptLevel, verify: bool) -> Result<Target, CodegenError> {
        let builder = cranelift_native::builder().map_err(|e| CodegenError::Machine(e.to_owned()))?;
        let mut flags = settings::builder();
        let (opt_level, regalloc) = match level {
            OptLevel::Quick => ("none", "single_pass"),
            OptLevel::None => ("none", "backtracking"),
            OptLevel::Speed => ("speed", "backtracking"),
        };
        for (name, value) in [
            ("opt_level", opt_level),
            ("regalloc_algorithm", regalloc),
            ("enable_verifier", if verify { "true" } else { "false" }),
            // Tail calls on x86-64 need them.
            ("preserve_frame_pointers", "true"),
            ("unwind_info", "false"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
        ] {
            flags.set(name, value).map_err(|e| CodegenError::Machine(format!("{name}={value}: {e}")))?;
        }
        let isa = builder.finish(settings::Flags::new(flags)).map_err(|e| CodegenError::Machine(e.to_string()))?;
        let overflow_ops = !matches!(isa.triple().architecture, Architecture::Riscv64(_));
        Ok(Target { isa, overflow_ops })
    }
}
