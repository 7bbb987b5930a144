//! Functions of which something is said: where debug assertions are on, their results are looked at.
//!
//! ```text
//! #[inverse_of(g)]                fn f(x: T) -> U {
//! fn f(x: T) -> U { body }            let given = x;
//!                                     let result = (move || -> U { body })();
//!                                     record_known_result!(given, g, result);
//!                                     result
//!                                 }
//! ```

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::{FnArg, ItemFn, Pat, ReturnType};

pub fn idempotent(item: TokenStream) -> TokenStream {
    let own = |function: &ItemFn, result: &Tokens| {
        let name = &function.sig.ident;
        let path = if is_method(function) { quote!(Self::#name) } else { quote!(#name) };
        quote!(::hueshift::prelude::record_known_result!(#result, #path, #result))
    };
    followed(item, own)
}

pub fn inverse_of(options: TokenStream, item: TokenStream) -> TokenStream {
    let other: syn::Path = match syn::parse(options) {
        Ok(path) => path,
        Err(error) => return error.to_compile_error().into(),
    };
    followed(item, |_, result| quote!(::hueshift::prelude::record_known_result!(__hueshift_given, #other, #result)))
}

fn is_method(function: &ItemFn) -> bool {
    matches!(function.sig.inputs.first(), Some(FnArg::Receiver(_)))
}

/// The function with what follows from its result.
fn followed(item: TokenStream, follows: impl Fn(&ItemFn, &Tokens) -> Tokens) -> TokenStream {
    let Ok(mut function) = syn::parse::<ItemFn>(item.clone()) else { return item };
    let given = match function.sig.inputs.first() {
        Some(FnArg::Receiver(_)) => quote!(self),
        Some(FnArg::Typed(typed)) => match &*typed.pat {
            Pat::Ident(pattern) => pattern.ident.to_token_stream(),
            _ => return refused(&function),
        },
        None => return refused(&function),
    };
    let ReturnType::Type(_, ty) = &function.sig.output else { return refused(&function) };
    let result = quote!(__hueshift_result);
    let (block, said) = (&function.block, follows(&function, &result));
    function.block = syn::parse_quote!({
        #[allow(unused_variables)]
        let __hueshift_given = #given;
        #[allow(clippy::redundant_closure_call, unused_mut)]
        let #result = (move || -> #ty #block)();
        #said;
        #result
    });
    function.into_token_stream().into()
}

fn refused(function: &ItemFn) -> TokenStream {
    let reason = "a function of which this is said has one parameter, a variable, and gives a number, `bool` or `char`";
    syn::Error::new_spanned(&function.sig, reason).to_compile_error().into()
}
