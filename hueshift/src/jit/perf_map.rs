//! Compiled code for profilers, which show graphs by name where they would show addresses: a map for `perf report` (the
//! format is that of `tools/perf/Documentation/jit-interface.txt` in the Linux kernel's sources), and a dump for
//! `perf inject`.

use super::Jit;
use super::jitdump;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

/// Where profilers look for the map: in the system's folder for temporary files, which is `/tmp` for them.
fn path() -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
}

impl Jit<'_> {
    /// Adds what has been compiled since the last time to the map and to the dump, if they are wanted: each graph with
    /// its address, its size, its name, and where it begins in the guest program. A file that can't be written is left:
    /// the run matters more.
    pub(super) fn map_new_code(&mut self) {
        if !self.options.perf_map && !self.options.jitdump {
            return;
        }
        let mut lines = String::new();
        for key in self.code.graphs.keys() {
            if self.mapped.contains(key) {
                continue;
            }
            let Some((address, bytes)) = self.code.engine.code_of(key) else { continue };
            self.mapped.insert(key.clone());
            let fragment = self.engine.fragment_of(key).and_then(|fragment| self.engine.fragments[fragment].at);
            let place = fragment.map(|at| self.engine.green_key(at)).unwrap_or_default();
            let name = format!("{key} [{place}]");
            let _ = writeln!(lines, "{address:x} {bytes:x} {name}");
            if self.options.jitdump
                && let Some(code) = self.code.engine.machine_code(key)
            {
                jitdump::add(&name, address, &code);
            }
        }
        if self.options.perf_map
            && !lines.is_empty()
            && let Ok(mut map) = OpenOptions::new().create(true).append(true).open(path())
        {
            let _ = map.write_all(lines.as_bytes());
        }
    }
}
