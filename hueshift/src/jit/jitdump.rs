//! A dump of compiled code for `perf inject --jit`, which makes shared objects of it that `perf annotate` shows
//! instruction by instruction: `/tmp/jit-PID.dump`, one for the process, in the format of
//! `tools/perf/Documentation/jitdump-specification.txt` in the Linux kernel's sources.
#![allow(unsafe_code, reason = "the file is mapped so that profilers see it")]

use memmap2::{Mmap, MmapOptions};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

/// "JiTD", as a word.
const MAGIC: u32 = 0x4A69_5444;
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 40;
/// The kind of a record that has a function.
const CODE_LOAD: u32 = 0;
const RECORD_BYTES: usize = 56;

/// The machine, as in the headers of ELF files.
const MACHINE: u32 = if cfg!(target_arch = "x86_64") {
    62
} else if cfg!(target_arch = "aarch64") {
    183
} else {
    243
};

struct Dump {
    file: File,
    functions: u64,
    /// That it is mapped tells profilers where it is.
    _mapped: Mmap,
}

/// The process's dump; nothing before it is wanted for the first time, an error if it can't be written.
static DUMP: Mutex<Option<io::Result<Dump>>> = Mutex::new(None);

/// Where it is.
fn path() -> PathBuf {
    PathBuf::from(format!("/tmp/jit-{}.dump", std::process::id()))
}

/// Adds a function that has been installed at an address. A file that can't be written is left: the run matters more.
pub(super) fn add(name: &str, address: usize, code: &[u8]) {
    let Ok(mut dump) = DUMP.lock() else { return };
    let opened = dump.get_or_insert_with(Dump::create);
    if let Ok(open) = opened
        && let Err(error) = open.add(name, address as u64, code)
    {
        *opened = Err(error);
    }
}

/// What `perf record -k mono` stamps its samples with, in nanoseconds.
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Dump {
    fn create() -> io::Result<Dump> {
        let mut file = OpenOptions::new().create(true).truncate(true).read(true).write(true).open(path())?;
        let mut header = Vec::new();
        for word in [MAGIC, VERSION, HEADER_BYTES, MACHINE, 0, std::process::id()] {
            header.extend(word.to_ne_bytes());
        }
        header.extend(now().to_ne_bytes());
        header.extend(0u64.to_ne_bytes());
        file.write_all(&header)?;
        // SAFETY: nobody reads what is mapped; profilers only take down that it has been, and where the file is.
        let mapped = unsafe { MmapOptions::new().len(HEADER_BYTES as usize).map_exec(&file)? };
        Ok(Dump { file, functions: 0, _mapped: mapped })
    }

    fn add(&mut self, name: &str, address: u64, code: &[u8]) -> io::Result<()> {
        let bytes = RECORD_BYTES + name.len() + 1 + code.len();
        let mut record = Vec::with_capacity(bytes);
        record.extend(CODE_LOAD.to_ne_bytes());
        record.extend((bytes as u32).to_ne_bytes());
        record.extend(now().to_ne_bytes());
        // The process, and the thread: the one that it began with will do.
        record.extend(std::process::id().to_ne_bytes());
        record.extend(std::process::id().to_ne_bytes());
        for word in [address, address, code.len() as u64, self.functions] {
            record.extend(word.to_ne_bytes());
        }
        record.extend(name.as_bytes());
        record.push(0);
        record.extend(code);
        self.functions += 1;
        self.file.write_all(&record)
    }
}
