//! Writing results.

use crate::problem::{Failure, Problem, file_problem};
use serde_json::ser::Formatter;
use std::io::{self, Write};
use std::path::Path;

/// Writes to standard output. A reader that has gone away is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output. A reader that has gone away is no error.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written("standard output", out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes to standard error what is no message. A reader that has gone away is no error.
pub fn print_aside(text: &str) -> Result<(), Failure> {
    written("standard error", io::stderr().lock().write_all(text.as_bytes()))
}

/// What came of writing to a stream.
pub fn written(stream: &str, done: io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::new(format!("{stream} can't be written: {e}")).into())
        }
        _ => Ok(()),
    }
}

/// Writes to a file, or to standard output.
pub fn write(to: Option<&Path>, text: &str) -> Result<(), Failure> {
    match to {
        None => print(text),
        Some(path) => {
            std::fs::write(path, text).map_err(|e| file_problem(&path.display().to_string(), "written", &e).into())
        }
    }
}

/// JSON on one line, with blanks after commas and colons.
pub fn json(value: &serde_json::Value) -> String {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
            if first { Ok(()) } else { w.write_all(b", ") }
        }
        fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
            w.write_all(b": ")
        }
        fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
            if first { Ok(()) } else { w.write_all(b", ") }
        }
    }
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Spaced);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => unreachable!("a JSON value is written to memory"),
    }
}
