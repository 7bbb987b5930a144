//! Values as words, where the library's traits can't know how: the words of an `Option` or a `Result` depend on all of
//! its payloads' leaves, which the lifted module knows.

use flowgraph::ir::{Module, RustType};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Whether there is an `Option` or `Result` in a value of this type, other than in a field of a struct or enum.
fn has_option(ty: &RustType) -> bool {
    match ty {
        RustType::Option(_) | RustType::Result(..) => true,
        RustType::Tuple(items) => items.iter().any(has_option),
        RustType::Array(inner, _) | RustType::Cell(inner) => has_option(inner),
        _ => false,
    }
}

fn names(count: usize) -> Vec<Ident> {
    (0..count).map(|i| Ident::new(&format!("__hueshift_part_{i}"), Span::call_site())).collect()
}

/// A statement that appends the words of `value` to `words`, a `&mut impl Extend<u64>`.
pub fn pass(module: &Module, ty: &RustType, value: &TokenStream, words: &TokenStream) -> TokenStream {
    pass_inside(module, ty, value, words, 0)
}

/// [`pass`] inside of so many payloads, each of which has a vector of its own.
fn pass_inside(
    module: &Module,
    ty: &RustType,
    value: &TokenStream,
    words: &TokenStream,
    payloads: usize,
) -> TokenStream {
    if !has_option(ty) {
        return quote! { ::hueshift::embed::Pass::pass(#value, #words); };
    }
    match ty {
        RustType::Tuple(items) => {
            let parts = names(items.len());
            let passed =
                items.iter().zip(&parts).map(|(ty, part)| pass_inside(module, ty, &quote!(#part), words, payloads));
            quote! {{ let (#(#parts,)*) = #value; #(#passed)* }}
        }
        RustType::Array(inner, _) => {
            let passed = pass_inside(module, inner, &quote!(__hueshift_item), words, payloads);
            quote! { for __hueshift_item in #value { #passed } }
        }
        RustType::Cell(inner) => pass_inside(module, inner, &quote!(#value.into_inner()), words, payloads),
        ty => {
            let arms = variants(module, ty).into_iter().enumerate().map(|(tag, variant)| {
                let (tag, places, count) = (tag as u64, variant.places, variant.count);
                let appended = |fields: TokenStream| {
                    quote! { ::hueshift::embed::pass_variant(#words, #tag, #count, &[#(#places),*], &#fields) }
                };
                let path = variant.path;
                match variant.payload {
                    None => {
                        let appended = appended(quote!([]));
                        quote! { #path => #appended, }
                    }
                    Some(ty) => {
                        let fields = Ident::new(&format!("__hueshift_fields_{payloads}"), Span::call_site());
                        let (payload, into) = (quote!(__hueshift_payload), quote!(&mut #fields));
                        let passed = pass_inside(module, &ty, &payload, &into, payloads + 1);
                        let appended = appended(quote!(#fields));
                        quote! { #path(#payload) => {
                            let mut #fields = ::std::vec::Vec::<u64>::new();
                            #passed
                            #appended
                        } }
                    }
                }
            });
            quote! { match #value { #(#arms)* } }
        }
    }
}

/// An expression that takes a value's words from `words`, a `WordReader` that is a variable.
pub fn give(module: &Module, ty: &RustType, words: &Ident) -> TokenStream {
    if !has_option(ty) {
        return quote! { ::hueshift::embed::Give::give(&mut #words) };
    }
    match ty {
        RustType::Tuple(items) => {
            let given = items.iter().map(|ty| give(module, ty, words));
            quote! { (#(#given,)*) }
        }
        RustType::Array(inner, _) => {
            let given = give(module, inner, words);
            quote! { ::core::array::from_fn(|_| #given) }
        }
        RustType::Cell(inner) => {
            let given = give(module, inner, words);
            quote! { ::core::cell::Cell::new(#given) }
        }
        ty => {
            let fields = Ident::new("__hueshift_fields", Span::call_site());
            let arms = variants(module, ty).into_iter().map(|variant| {
                let (path, places, count) = (variant.path, variant.places, variant.count);
                let value = match variant.payload {
                    None => quote!(#path),
                    Some(ty) => {
                        let given = give(module, &ty, &fields);
                        quote! { #path(#given) }
                    }
                };
                quote! {{
                    let mut #fields = #words.variant(#count, &[#(#places),*]);
                    let _ = &mut #fields;
                    #value
                }}
            });
            let arms: Vec<TokenStream> = arms.collect();
            let (first, second) = (&arms[0], &arms[1]);
            quote! { if #words.word() == 0 { #first } else { #second } }
        }
    }
}

/// A variant of `Option` or `Result`.
struct Variant {
    path: TokenStream,
    payload: Option<RustType>,
    /// Which words of the union are its leaves.
    places: Vec<usize>,
    /// How many words the union has.
    count: usize,
}

/// In the order of their tags.
fn variants(module: &Module, ty: &RustType) -> Vec<Variant> {
    let Some(decl) = module.enum_of(ty) else { return Vec::new() };
    let count = module.payload_words(&decl).len();
    let places = module.variant_places(&decl);
    let payloads = match ty {
        RustType::Option(some) => [
            (quote!(::core::option::Option::None), None),
            (quote!(::core::option::Option::Some), Some((**some).clone())),
        ],
        RustType::Result(ok, err) => [
            (quote!(::core::result::Result::Ok), Some((**ok).clone())),
            (quote!(::core::result::Result::Err), Some((**err).clone())),
        ],
        _ => return Vec::new(),
    };
    let variant = |((path, payload), places)| Variant { path, payload, places, count };
    payloads.into_iter().zip(places).map(variant).collect()
}
