//! The functions of the host that every interpreter has: the prelude's input and output.

use crate::io;
use flowgraph::host::{HostFunction, Hosts};
use flowgraph::ir::Type;

/// The prelude's functions. They work on the input and output of the thread that runs ([`io`]).
///
/// ```
/// use hueshift::{hosts, io::{self, Io}};
/// let (_, io) = io::with(Io::bytes([]), || hosts().call("prelude::put_byte", &[65]));
/// assert_eq!(io.output(), b"A");
/// ```
pub fn hosts() -> Hosts {
    let mut hosts = Hosts::default();
    let put = |args: &[u64], _: &mut [u64]| io::put(args[0] as u8).map_err(|e| e.to_string());
    hosts.register("prelude::put_byte", HostFunction::new([Type::Int], [], put));
    let get = |_: &[u64], results: &mut [u64]| {
        results[0] = io::get().map_err(|e| e.to_string())? as u64;
        Ok(())
    };
    hosts.register("prelude::get_byte", HostFunction::new([], [Type::Int], get));
    hosts
}
