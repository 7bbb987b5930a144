//! Linking, by the C compiler of the target.

use super::Standalone;
use jitcodegen::Machine;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// How to link.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// The machine that the code was made for.
    pub machine: Machine,
    /// The C compiler to use, instead of the target's usual one.
    pub compiler: Option<OsString>,
    /// Whether the executable may be loaded anywhere.
    pub pie: bool,
}

/// Why there is no executable.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The C compiler is not there.
    #[error("the C compiler `{}` for {machine} can't be run: {error}", .compiler.to_string_lossy())]
    NoCompiler {
        /// The machine to compile for.
        machine: Machine,
        /// The command.
        compiler: OsString,
        /// What the system says.
        error: std::io::Error,
    },
    /// It failed.
    #[error("the C compiler `{}` for {machine} failed:\n{said}", .compiler.to_string_lossy())]
    Failed {
        /// The machine to compile for.
        machine: Machine,
        /// The command.
        compiler: OsString,
        /// What it printed.
        said: String,
    },
    /// A file can't be written.
    #[error("{} can't be written: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}

/// The C compiler that makes executables for a machine, as Debian and most others call it.
pub fn c_compiler(machine: Machine) -> &'static str {
    match machine {
        machine if Machine::host() == Some(machine) => "cc",
        Machine::X86_64 => "x86_64-linux-gnu-gcc",
        Machine::Aarch64 => "aarch64-linux-gnu-gcc",
        Machine::Riscv64 => "riscv64-linux-gnu-gcc",
    }
}

/// A directory of its own, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, LinkError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hueshift-{}-{number}", std::process::id()));
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(Scratch(path)),
            Err(error) => Err(LinkError::Write { path, error }),
        }
    }

    fn write(&self, name: &str, contents: &[u8]) -> Result<PathBuf, LinkError> {
        let path = self.0.join(name);
        match std::fs::write(&path, contents) {
            Ok(()) => Ok(path),
            Err(error) => Err(LinkError::Write { path, error }),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed stays where temporary files are.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Copies a file to its place. A file that is there is replaced and not written into: it may be running.
fn put(from: &Path, to: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(to).is_ok_and(|there| there.is_file()) {
        std::fs::remove_file(to)?;
    }
    std::fs::copy(from, to).map(drop)
}

/// Makes the executable `out`.
///
/// # Errors
/// See [`LinkError`].
pub fn link(standalone: &Standalone, options: &LinkOptions, out: &Path) -> Result<(), LinkError> {
    let scratch = Scratch::new()?;
    let object = scratch.write("program.o", &standalone.object)?;
    let source = scratch.write("host.c", standalone.source.as_bytes())?;
    let machine = options.machine;
    let compiler = options.compiler.clone().unwrap_or_else(|| OsString::from(c_compiler(machine)));
    let position = if options.pie { ["-pie", "-fPIE"] } else { ["-no-pie", "-fno-pie"] };
    let mut command = Command::new(&compiler);
    // A sum of a product must be rounded twice, as it is everywhere else.
    command.args(["-std=gnu11", "-O1", "-ffp-contract=off", "-pthread"]).args(position);
    let linked = scratch.0.join("program");
    command.arg("-o").arg(&linked).arg(source).arg(object).arg("-lm");
    match command.output() {
        Err(error) => Err(LinkError::NoCompiler { machine, compiler, error }),
        Ok(done) if done.status.success() => {
            put(&linked, out).map_err(|error| LinkError::Write { path: out.to_owned(), error })
        }
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr).trim_end().to_owned();
            Err(LinkError::Failed { machine, compiler, said })
        }
    }
}
