//! The functions of the program that graphs call.

use super::interpreter::Interpreter;
use crate::tier0::catch_message;
use flowgraph::host::{HostFunction, Hosts, param_types};

impl Interpreter {
    /// The functions that its graphs call and nobody looks into: the prelude's, and its own `#[dont_look_inside]` ones.
    pub fn host_functions(&self) -> Hosts {
        let mut hosts = crate::hosts();
        let module = self.module();
        for own in self.hosts() {
            let Some(graph) = module.graphs.get(own.function) else { continue };
            let call = own.call;
            let function = move |args: &[u64], results: &mut [u64]| catch_message(|| call(args, results));
            hosts
                .register(own.function, HostFunction::new(param_types(module, graph), graph.results.clone(), function));
        }
        hosts
    }
}
