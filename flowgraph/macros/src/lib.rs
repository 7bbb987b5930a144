//! The macros of hueshift, which the crate `hueshift` re-exports: [`macro@interpreter`] for an interpreter that is a
//! module of a crate, [`interpreter_file!`] for one that is a file.
//!
//! ```text
//! source   the text that is lifted, and that it is the text of what is compiled
//! expand   the front end's refusals as errors, and the expansion as a whole
//! rewrite  the changes to the source: arithmetic, layout, stack checks
//! layout   what is asserted of structs and enums
//! values   Rust values to words, and back
//! entries  the typed functions around compiled code and tier 0
//! options  what stands in the macros' parentheses
//! recorded functions of which something is said
//! ```
//!
//! The front end is that of the command, the crate `flowgraph`. It works on text with `proc_macro2`'s own tokens; what
//! is compiled are the compiler's tokens, with the user's places in them. Both have the same lines and columns, by
//! which the types that the front end has found reach the operators to be rewritten.

mod entries;
mod expand;
mod layout;
mod options;
mod recorded;
mod rewrite;
mod source;
mod values;

use proc_macro::TokenStream;

/// An interpreter in a module of this crate. `docs/embedding.md` has the whole story.
///
/// ```ignore
/// #[hueshift::interpreter(entry plus_minus(encoded_insn, nb_insn))]
/// mod lang {
///     use hueshift::prelude::*;
///     pub fn plus_minus(encoded_insn: i64, nb_insn: i64, x: i64, y: i64) -> i64 { x }
/// }
/// ```
///
/// Every portal of the module is an entry, with its greens. Other functions are entries if they are named as above,
/// with the parameters that are known when compiling.
#[proc_macro_attribute]
pub fn interpreter(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::module(options, item)
}

/// An interpreter in a file of its own, whose path is relative to the crate's folder.
///
/// ```ignore
/// hueshift::interpreter_file!("src/lang.rs", pub mod lang, entry plus_minus(encoded_insn, nb_insn));
/// ```
///
/// The rest as for [`macro@interpreter`]. Without `mod` the module has the file's name. The files of its modules are
/// found beside it, as those of a crate's root are.
#[proc_macro]
pub fn interpreter_file(options: TokenStream) -> TokenStream {
    expand::file(options)
}

macro_rules! hints {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// For the front end; under rustc it changes nothing.
        #[proc_macro_attribute]
        pub fn $name(_options: TokenStream, item: TokenStream) -> TokenStream {
            item
        }
    )*};
}

hints! {
    /// An interpreter loop: `#[portal(greens(code, pc), reds(cpu))]`.
    portal;
    /// A function that is pure as seen from outside.
    elidable;
    /// A function that is inlined in spite of its loops.
    unroll_safe;
    /// A function that is called and never looked into.
    dont_look_inside;
    /// A function that is looked into where a condition on its arguments holds: `#[look_inside_if(is_constant(n))]`.
    look_inside_if;
}

/// A function that changes nothing the second time: `f(f(x))` is `f(x)`. It is elidable, and of one parameter.
///
/// With debug assertions each call is followed by another that must give the same.
#[proc_macro_attribute]
pub fn idempotent(_options: TokenStream, item: TokenStream) -> TokenStream {
    recorded::idempotent(item)
}

/// A function that another one undoes: on `f`, `#[inverse_of(g)]` says that `g(f(x))` is `x`. Both are elidable, and of
/// one parameter.
///
/// With debug assertions each call of `f` is followed by one of `g` that must give what `f` was given.
#[proc_macro_attribute]
pub fn inverse_of(options: TokenStream, item: TokenStream) -> TokenStream {
    recorded::inverse_of(options, item)
}
