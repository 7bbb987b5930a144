//! The functions of the program that graphs call.
#![allow(unsafe_code, reason = "machine code hands over where its words are")]

use super::interpreter::{HostFunction as Called, Interpreter};
use crate::tier0::{catch_even_bugs, catch_message};
use flowgraph::host::{HostFunction, Hosts, fail, param_types};
use flowgraph::ir::Word;

/// A `#[dont_look_inside]` function, from words to words. The macros make a type that has it.
pub trait HostCall {
    /// How many words its parameters are.
    const PARAMS: usize;
    /// How many words its results are.
    const RESULTS: usize;

    /// Calls it.
    fn call(words: &[Word], results: &mut [Word]);
}

impl Called {
    /// The function of this path in the source.
    pub const fn of<T: HostCall>(function: &'static str) -> Called {
        Called { function, call: T::call, direct: direct::<T>, words: (T::PARAMS, T::RESULTS) }
    }
}

/// The function, as machine code calls it: see [`flowgraph::host::DirectFn`].
unsafe extern "C" fn direct<T: HostCall>(words: *const Word, results: *mut Word) -> i64 {
    // SAFETY: machine code has so many words for the call alone: `host_functions` hands on no other functions.
    let (words, results) =
        unsafe { (std::slice::from_raw_parts(words, T::PARAMS), std::slice::from_raw_parts_mut(results, T::RESULTS)) };
    match catch_even_bugs(|| T::call(words, results)) {
        Ok(()) => 0,
        Err(message) => {
            fail(message);
            1
        }
    }
}

impl Interpreter {
    /// The functions that its graphs call and nobody looks into: the prelude's, and its own `#[dont_look_inside]` ones.
    pub fn host_functions(&self) -> Hosts {
        let mut hosts = crate::hosts();
        let module = self.module();
        for own in self.hosts() {
            let Some(graph) = module.graphs.get(own.function) else { continue };
            let call = own.call;
            let function = move |args: &[u64], results: &mut [u64]| catch_message(|| call(args, results));
            let params = param_types(module, graph);
            assert_eq!(own.words, (params.len(), graph.results.len()), "the words of `{}`", own.function);
            let function = HostFunction::new(params, graph.results.clone(), function);
            hosts.register(own.function, function.with_direct(own.direct));
        }
        hosts
    }
}
