//! Writing results.

use crate::problem::{Failure, Problem};
use std::io::Write;
use std::path::Path;

/// Writes to standard output. A reader that has gone away is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes to a file, or to standard output.
pub fn write(to: Option<&Path>, text: &str) -> Result<(), Failure> {
    match to {
        None => print(text),
        Some(path) => {
            std::fs::write(path, text).map_err(|e| Problem::new(format!("{} can't be written: {e}", path.display())))?
        }
    }
    Ok(())
}
