//! The guest's input and output: the command's own, or kept, where several runs are compared.

use crate::Done;
use crate::output;
use crate::problem::{Failure, Problem};
use crate::source;
use flowgraph::ir::Module;
use hueshift::io::{self, Io, StreamError};

/// Runs a guest on standard input and output. Output is flushed at the end, however the run ends. A reader of the
/// output that has gone away is a proper end of the run.
pub fn real(run: impl FnOnce() -> Result<(), Failure>) -> Done {
    let (done, io) = io::with(Io::real(), run);
    match io.finish() {
        Ok(()) => done,
        Err(error) if error.is_closed_pipe() => Ok(()),
        Err(error) => Err(stream_problem(&error)),
    }
}

fn stream_problem(error: &StreamError) -> Failure {
    Problem::new(error.to_string()).into()
}

/// Runs guests that read all of standard input, each from its beginning, if they read any; their output is kept.
pub fn kept<R>(reads: bool, run: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    let input = if reads { source::read_bytes("-")? } else { Vec::new() };
    io::with(Io::bytes(input), run).0
}

/// Whether a module's graphs read.
pub fn reads(module: &Module) -> bool {
    module.graphs.contains_key("prelude::get_byte")
}

/// Whether a module's graphs write.
pub fn writes(module: &Module) -> bool {
    module.graphs.contains_key("prelude::put_byte")
}

/// Prints what a guest has written while it was kept.
pub fn print(bytes: &[u8]) -> Done {
    output::print_bytes(bytes)
}
