//! What differs from machine to machine, and is hidden from the rest of the crate.

use crate::CodegenError;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use std::fmt;
use target_lexicon::{Architecture, Triple};

/// A machine that code can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86-64, with what every such processor has.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// RISC-V: rv64gc.
    Riscv64,
}

impl Machine {
    /// All of them.
    pub const ALL: [Machine; 3] = [Machine::X86_64, Machine::Aarch64, Machine::Riscv64];

    /// The name: `x86_64`, `aarch64`, `riscv64`.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64",
            Machine::Aarch64 => "aarch64",
            Machine::Riscv64 => "riscv64",
        }
    }

    /// The machine that this runs on, if code can be made for it.
    pub fn host() -> Option<Machine> {
        Machine::ALL.into_iter().find(|machine| machine.name() == std::env::consts::ARCH)
    }

    fn triple(self) -> Triple {
        let text = match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
            Machine::Riscv64 => "riscv64gc-unknown-linux-gnu",
        };
        text.parse().unwrap_or_else(|e| unreachable!("{text} is a triple: {e}"))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much Cranelift does about a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OptLevel {
    /// For code that runs once: no optimization, and registers allocated in a single pass.
    Quick,
    /// No optimization: our own optimizer has run.
    #[default]
    None,
    /// Cranelift's own optimizer runs, too.
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
        Target::new(builder, level, verify, false)
    }

    /// Any machine of its kind, for code that is linked later; `pic` if it must run wherever it is loaded.
    pub fn of(machine: Machine, level: OptLevel, verify: bool, pic: bool) -> Result<Target, CodegenError> {
        let builder = isa::lookup(machine.triple()).map_err(|e| CodegenError::Machine(format!("{machine}: {e}")))?;
        Target::new(builder, level, verify, pic)
    }

    fn new(builder: isa::Builder, level: OptLevel, verify: bool, pic: bool) -> Result<Target, CodegenError> {
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
            ("is_pic", if pic { "true" } else { "false" }),
            ("use_colocated_libcalls", "false"),
            // Where blocks begin: for [`crate::placement`].
            ("machine_code_cfg_info", "true"),
        ] {
            flags.set(name, value).map_err(|e| CodegenError::Machine(format!("{name}={value}: {e}")))?;
        }
        let isa = builder.finish(settings::Flags::new(flags)).map_err(|e| CodegenError::Machine(e.to_string()))?;
        let overflow_ops = !matches!(isa.triple().architecture, Architecture::Riscv64(_));
        Ok(Target { isa, overflow_ops })
    }
}
