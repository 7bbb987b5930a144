//! Functions of the host: what graphs call and nobody looks into, by name.
//!
//! A graph that is `dont_look_inside` and has no blocks is a *host function*: a signature. What it does is in a table,
//! [`Hosts`], that is part of the [`crate::memory::Memory`] which graphs run in; so the evaluator, the tracer, the
//! blackhole and generated code all find the same implementation there. It takes the words of the arguments (references
//! are addresses, slices an address and a length, as for every graph) and fills in those of the results. What it
//! answers with an error, or a panic, ends the run like a `panic!` of the guest where the call stands.
//!
//! ```
//! use flowgraph::host::{HostFunction, Hosts};
//! use flowgraph::ir::Type;
//! let mut hosts = Hosts::default();
//! let twice = HostFunction::new([Type::Int], [Type::Int], |args, results| {
//!     results[0] = args[0] * 2;
//!     Ok(())
//! });
//! hosts.register("twice", twice);
//! assert_eq!(hosts.call("twice", &[21]), Some(Ok(vec![42])));
//! assert_eq!(hosts.call("thrice", &[21]), None);
//! ```
//!
//! Not promised: that a function is called on the thread that registered it.

use crate::ir::{Graph, Module, Type, Word};
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What an implementation looks like: words of the arguments, and words of the results to be filled in.
pub type HostFn = dyn Fn(&[Word], &mut [Word]) -> Result<(), String> + Send + Sync;

/// An implementation that machine code calls as it is: words of the arguments, and words of the results to be filled in,
/// as many as the function's types say. It gives 0; or something else when it has failed, and [`fail`] has been told why.
/// It doesn't unwind.
pub type DirectFn = unsafe extern "C" fn(*const Word, *mut Word) -> i64;

thread_local! {
    /// Why the [`DirectFn`] that has just failed on this thread did.
    static FAILURE: Cell<Option<String>> = const { Cell::new(None) };
}

/// The [`DirectFn`] that runs on this thread is about to fail, with this message.
pub fn fail(message: String) {
    FAILURE.set(Some(message));
}

/// What a [`DirectFn`] that has just failed on this thread said.
pub fn take_failure() -> String {
    FAILURE.take().unwrap_or_else(|| "a function of the host failed".to_owned())
}

/// A function with its types.
#[derive(Clone)]
pub struct HostFunction {
    /// The types of its parameters' words.
    pub params: Vec<Type>,
    /// The types of its results' words.
    pub results: Vec<Type>,
    /// The function.
    pub function: Arc<HostFn>,
    /// The same for machine code of this process, if there is such a thing.
    pub direct: Option<DirectFn>,
}

impl HostFunction {
    /// A function from words of `params` to words of `results`.
    pub fn new(
        params: impl Into<Vec<Type>>,
        results: impl Into<Vec<Type>>,
        function: impl Fn(&[Word], &mut [Word]) -> Result<(), String> + Send + Sync + 'static,
    ) -> HostFunction {
        HostFunction { params: params.into(), results: results.into(), function: Arc::new(function), direct: None }
    }

    /// The same function, which machine code calls as `direct`: that does the same.
    pub fn with_direct(self, direct: DirectFn) -> HostFunction {
        HostFunction { direct: Some(direct), ..self }
    }

    /// Calls it. A panic is an error with its message.
    ///
    /// # Errors
    /// What the guest's run ends with.
    pub fn call(&self, args: &[Word]) -> Result<Vec<Word>, String> {
        let mut results = vec![0; self.results.len()];
        let done = catch_unwind(AssertUnwindSafe(|| (self.function)(args, &mut results)));
        done.unwrap_or_else(|payload| Err(panic_message(&*payload))).map(|()| results)
    }
}

impl std::fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fn({:?}) -> {:?}", self.params, self.results)
    }
}

/// What a panic says.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a function of the host panicked".to_owned())
}

/// The functions of a host by name. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    functions: Arc<BTreeMap<String, HostFunction>>,
}

impl Hosts {
    /// Adds a function. One of the same name goes.
    pub fn register(&mut self, name: &str, function: HostFunction) {
        Arc::make_mut(&mut self.functions).insert(name.to_owned(), function);
    }

    /// The function of this name.
    pub fn get(&self, name: &str) -> Option<&HostFunction> {
        self.functions.get(name)
    }

    /// Calls the function of this name, if there is one.
    pub fn call(&self, name: &str, args: &[Word]) -> Option<Result<Vec<Word>, String>> {
        Some(self.get(name)?.call(args))
    }

    /// The host functions of a module that have no implementation here, or one of other types.
    pub fn missing<'m>(&self, module: &'m Module) -> Vec<&'m str> {
        let fits = |graph: &Graph| {
            let params: Vec<Type> = param_types(module, graph);
            self.get(&graph.key).is_some_and(|f| f.params == params && f.results == graph.results)
        };
        let hosts = module.graphs.values().filter(|g| g.is_host());
        hosts.filter(|g| !fits(g)).map(|g| g.key.as_str()).collect()
    }
}

/// The types of the words that a function of the host takes, as its signature says.
pub fn param_types(module: &Module, graph: &Graph) -> Vec<Type> {
    let leaves = graph.signature.params.iter().flat_map(|p| module.leaves(&p.ty));
    leaves.map(|leaf| leaf.scalar.ty()).collect()
}
