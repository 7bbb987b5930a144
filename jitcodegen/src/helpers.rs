//! Functions outside of generated code that it calls: the mathematics library, and what hosts register.
//!
//! Mathematical functions are called directly, in the platform's calling convention, and are those that the evaluator
//! uses, so that both agree to the last bit. Registered functions are Rust closures; they are called through one shim
//! that catches panics and answers with a status word, since nothing may unwind through generated code. Those that answer
//! so themselves are called as they are.

use crate::sites::SharedSites;
use cranelift_codegen::ir::LibCall;
use flowgraph::eval::TrapReport;
use flowgraph::host::DirectFn;
use flowgraph::ir::{Loc, Type};
use flowgraph::math::Function;

/// A function that a host registers under a name, for `call` ops of that name.
pub struct Helper {
    /// The types of its parameters.
    pub params: Vec<Type>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// The function: takes words, fills in the words of the results.
    pub function: Box<HelperFn>,
    /// The same function without the shim, if there is such a thing: machine code calls it then.
    pub direct: Option<DirectFn>,
}

/// What a registered function looks like.
pub type HelperFn = dyn Fn(&HelperCx<'_>, &[u64], &mut [u64]) -> Result<(), Failure>;

/// What a registered function may know of its call.
#[derive(Clone, Copy)]
pub struct HelperCx<'a> {
    pub(crate) sites: &'a SharedSites,
    pub(crate) site: u64,
}

impl HelperCx<'_> {
    /// Where in the source the call stands.
    pub fn loc(&self) -> Loc {
        self.sites.lock().traps[self.site as usize].trap.loc
    }
}

/// Why a registered function doesn't return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The guest's run ends like with `panic!`, with this message, at the call.
    Message(String),
    /// It ends with this trap, of code that the function has run.
    Trap(TrapReport),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Message(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::Message(message.to_owned())
    }
}

/// A function that generated code calls directly.
#[derive(Clone, Copy)]
pub(crate) struct Direct {
    /// The types of its parameters.
    pub params: &'static [Type],
    /// The type of its result.
    pub result: Type,
    /// Where it is.
    pub address: usize,
}

impl From<&Function> for Direct {
    fn from(function: &Function) -> Direct {
        Direct { params: function.params(), result: function.result(), address: function.address() }
    }
}

macro_rules! support {
    ($($name:literal ($($arg:ident : $ty:ident),*) -> $result:ident = $body:expr;)*) => {
        /// What generated code needs where the machine lacks an instruction, by name.
        pub(crate) fn support(name: &str) -> Option<Direct> {
            match name {
                $($name => {
                    extern "C" fn function($($arg: support!(@rust $ty)),*) -> support!(@rust $result) { $body }
                    Some(Direct {
                        params: &[$(support!(@type $ty)),*],
                        result: support!(@type $result),
                        address: function as *const () as usize,
                    })
                })*
                _ => None,
            }
        }
    };
    (@rust float) => { f64 };
    (@rust single) => { f32 };
    (@type float) => { Type::Float };
    (@type single) => { Type::Single };
}

support! {
    "fmod"(a: float, b: float) -> float = libm::fmod(a, b);
    "fmodf"(a: single, b: single) -> single = libm::fmodf(a, b);
    "CeilF32"(a: single) -> single = a.ceil();
    "CeilF64"(a: float) -> float = a.ceil();
    "FloorF32"(a: single) -> single = a.floor();
    "FloorF64"(a: float) -> float = a.floor();
    "TruncF32"(a: single) -> single = a.trunc();
    "TruncF64"(a: float) -> float = a.trunc();
    "NearestF32"(a: single) -> single = a.round_ties_even();
    "NearestF64"(a: float) -> float = a.round_ties_even();
    "FmaF32"(a: single, b: single, c: single) -> single = libm::fmaf(a, b, c);
    "FmaF64"(a: float, b: float, c: float) -> float = libm::fma(a, b, c);
}

/// The symbol of a function of the mathematics library in executables: of those whose bits are the same everywhere,
/// since their results are exact, or computed by steps that are (in the host of executables).
pub(crate) fn exact_symbol(name: &str) -> Option<&'static str> {
    Some(match name {
        "round" => "round",
        "round_f32" => "roundf",
        "powi" => "hueshift_powi",
        "powi_f32" => "hueshift_powi_f32",
        _ => return None,
    })
}

/// The functions that Cranelift calls where the machine lacks an instruction.
pub(crate) fn libcalls() -> impl Iterator<Item = (LibCall, *const u8)> {
    LibCall::all_libcalls().iter().filter_map(|l| Some((*l, support(&l.to_string())?.address as *const u8)))
}
