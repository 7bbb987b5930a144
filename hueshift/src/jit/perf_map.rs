//! A map of compiled code for profilers: `perf report` shows graphs by name where it would show addresses
//! (the format is that of `tools/perf/Documentation/jit-interface.txt` in the Linux kernel's sources).

use super::Jit;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

/// Where profilers look for it: in the system's folder for temporary files, which is `/tmp` for them.
fn path() -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
}

impl Jit<'_> {
    /// Adds what has been compiled since the last time, if the map is wanted: a line for each graph, with its address, its size, its
    /// name, and where it begins in the guest program. A file that can't be written is left: the run matters more.
    pub(super) fn map_new_code(&mut self) {
        if !self.options.perf_map {
            return;
        }
        let mut lines = String::new();
        for key in self.code.graphs.keys() {
            let Some((address, bytes)) = self.code.engine.code_of(key) else { continue };
            if !self.mapped.insert(key.clone()) {
                continue;
            }
            let fragment = self.engine.fragment_of(key).and_then(|fragment| self.engine.fragments[fragment].at);
            let place = fragment.map(|at| self.engine.green_key(at)).unwrap_or_default();
            let _ = writeln!(lines, "{address:x} {bytes:x} {key} [{place}]");
        }
        if !lines.is_empty()
            && let Ok(mut map) = OpenOptions::new().create(true).append(true).open(path())
        {
            let _ = map.write_all(lines.as_bytes());
        }
    }
}
