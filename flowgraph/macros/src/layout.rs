//! Layouts: `repr(C)` for what lies in memory, and assertions that rustc lays it out as graphs have it.

use crate::values;
use flowgraph::ir::{EnumDecl, Module, RustType, StructDecl};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, GenericParam, Generics, Index, ItemEnum, ItemStruct, parse_quote};

/// Adds what is missing to a struct, and gives what goes behind it.
pub fn structure(module: &Module, key: &str, item: &mut ItemStruct, passed: bool) -> TokenStream {
    let Some(decl) = module.structs.get(key) else { return TokenStream::new() };
    item.fields.iter_mut().for_each(|f| f.attrs.retain(|a| !a.path().is_ident("green")));
    if !reprs(&item.attrs).iter().any(|r| r == "C" || r == "transparent") {
        item.attrs.push(parse_quote!(#[repr(C)]));
    }
    let (name, lifetimes) = (&item.ident, any_lifetimes(&item.generics));
    let (size, align) = (decl.size as usize, decl.align as usize);
    let message = format!("hueshift: rustc lays `{name}` out otherwise than its graphs have it");
    let offsets = item.fields.iter().enumerate().zip(&decl.fields).map(|((i, field), f)| {
        let member = member(i, field);
        let offset = f.offset as usize;
        quote! { ::core::assert!(::core::mem::offset_of!(#name #lifetimes, #member) == #offset, #message); }
    });
    let at = Span::mixed_site().located_at(name.span());
    let asserted = may_be_shared(module, &RustType::Struct(key.to_owned())).then(|| {
        quote_spanned! {at=>
            const _: () = {
                ::core::assert!(::core::mem::size_of::<#name #lifetimes>() == #size, #message);
                ::core::assert!(::core::mem::align_of::<#name #lifetimes>() == #align, #message);
                #(#offsets)*
            };
        }
    });
    let values = passed.then(|| struct_values(module, decl, item));
    quote! { #asserted #values }
}

fn member(i: usize, field: &syn::Field) -> syn::Member {
    match &field.ident {
        Some(name) => name.clone().into(),
        None => Index::from(i).into(),
    }
}

/// A struct as words.
fn struct_values(module: &Module, decl: &StructDecl, item: &ItemStruct) -> TokenStream {
    let name = &item.ident;
    let members: Vec<syn::Member> = item.fields.iter().enumerate().map(|(i, f)| member(i, f)).collect();
    let lifetimes = any_lifetimes(&item.generics);
    let given = all_lifetimes(&item.generics);
    let words = Ident::new("words", Span::call_site());
    let passed =
        decl.fields.iter().zip(&members).map(|(f, m)| values::pass(module, &f.ty, &quote!(self.#m), &quote!(words)));
    let taken = decl.fields.iter().map(|f| values::give(module, &f.ty, &words));
    let parts = (0..members.len()).map(|i| Ident::new(&format!("field_{i}"), Span::call_site())).collect::<Vec<_>>();
    quote! {
        impl ::hueshift::embed::Pass for #name #lifetimes {
            fn pass(self, words: &mut impl ::core::iter::Extend<u64>) {
                #(#passed)*
            }
        }
        impl<'hueshift> ::hueshift::embed::Give<'hueshift> for #name #given {
            #[allow(unused_mut)]
            fn give(mut words: &mut ::hueshift::embed::WordReader<'hueshift>) -> Self {
                #(let #parts = #taken;)*
                #name { #(#members: #parts),* }
            }
        }
    }
}

/// Adds what is missing to an enum, and gives what goes behind it.
pub fn enumeration(module: &Module, key: &str, item: &mut ItemEnum, passed: bool) -> TokenStream {
    let Some(decl) = module.enums.get(key).filter(|d| !d.variants.is_empty()) else { return TokenStream::new() };
    let repr = Ident::new(decl.repr.name(), Span::mixed_site().located_at(item.ident.span()));
    let known = reprs(&item.attrs);
    if !known.iter().any(|r| *r == decl.repr.name()) {
        item.attrs.push(parse_quote!(#[repr(#repr)]));
    }
    if decl.has_payload() && !known.iter().any(|r| r == "C") {
        item.attrs.push(parse_quote!(#[repr(C)]));
    }
    let (name, lifetimes) = (&item.ident, any_lifetimes(&item.generics));
    let (size, align) = (decl.size as usize, decl.align as usize);
    let message = format!("hueshift: rustc lays `{name}` out otherwise than its graphs have it");
    let tags = item.variants.iter().zip(&decl.variants).filter(|_| !decl.has_payload()).map(|(variant, v)| {
        let (variant, tag) = (&variant.ident, v.discriminant);
        quote! { ::core::assert!(#name::#variant as i64 == #tag, #message); }
    });
    let at = Span::mixed_site().located_at(name.span());
    let asserted = may_be_shared(module, &RustType::Enum(key.to_owned())).then(|| {
        quote_spanned! {at=>
            const _: () = {
                ::core::assert!(::core::mem::size_of::<#name #lifetimes>() == #size, #message);
                ::core::assert!(::core::mem::align_of::<#name #lifetimes>() == #align, #message);
                #(#tags)*
            };
        }
    });
    let words = passed.then(|| enum_values(module, decl, item));
    quote! { #asserted #words }
}

/// An enum as words: its tag, and the union of its payloads.
fn enum_values(module: &Module, decl: &EnumDecl, item: &ItemEnum) -> TokenStream {
    let name = &item.ident;
    let (lifetimes, given) = (any_lifetimes(&item.generics), all_lifetimes(&item.generics));
    let count = module.payload_words(decl).len();
    let places = module.variant_places(decl);
    let variants = || item.variants.iter().zip(&decl.variants).zip(&places);
    let passed = variants().map(|((variant, v), places)| {
        let (ident, tag) = (&variant.ident, v.discriminant);
        let members: Vec<syn::Member> = variant.fields.iter().enumerate().map(|(i, f)| member(i, f)).collect();
        let values: Vec<Ident> =
            (0..members.len()).map(|i| Ident::new(&format!("field_{i}"), Span::mixed_site())).collect();
        let each = v.fields.iter().zip(&values);
        let appended = each.map(|(f, value)| values::pass(module, &f.ty, &quote!(#value), &quote!(&mut fields)));
        quote! {
            #name::#ident { #(#members: #values),* } => {
                let mut fields: ::std::vec::Vec<u64> = ::std::vec::Vec::new();
                #(#appended)*
                ::hueshift::embed::pass_variant(words, (#tag) as u64, #count, &[#(#places),*], &fields);
            }
        }
    });
    let made: Vec<TokenStream> = variants()
        .map(|((variant, v), places)| {
            let ident = &variant.ident;
            let words = Ident::new("words", Span::call_site());
            let taken: Vec<TokenStream> = v.fields.iter().map(|f| values::give(module, &f.ty, &words)).collect();
            let members = variant.fields.iter().enumerate().map(|(i, f)| member(i, f));
            quote! {{
                let mut words = words.variant(#count, &[#(#places),*]);
                let _ = &mut words;
                #name::#ident { #(#members: #taken),* }
            }}
        })
        .collect();
    let tags = decl.variants.iter().skip(1).map(|v| v.discriminant);
    let (first, rest) = (&made[0], &made[1..]);
    quote! {
        impl ::hueshift::embed::Pass for #name #lifetimes {
            fn pass(self, words: &mut impl ::core::iter::Extend<u64>) {
                match self { #(#passed)* }
            }
        }
        impl<'hueshift> ::hueshift::embed::Give<'hueshift> for #name #given {
            #[allow(unused_mut)]
            fn give(mut words: &mut ::hueshift::embed::WordReader<'hueshift>) -> Self {
                match words.word() as i64 {
                    #(#tags => #rest)*
                    _ => #first
                }
            }
        }
    }
}

/// What `#[repr(..)]` says.
fn reprs(attrs: &[Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attr in attrs.iter().filter(|a| a.path().is_ident("repr")) {
        let _ = attr.parse_nested_meta(|meta| {
            found.extend(meta.path.get_ident().map(ToString::to_string));
            if meta.input.peek(syn::token::Paren) {
                let inner;
                syn::parenthesized!(inner in meta.input);
                inner.parse::<TokenStream>()?;
            }
            Ok(())
        });
    }
    found
}

/// `<'_, '_>`, as many as there are.
fn any_lifetimes(generics: &Generics) -> TokenStream {
    lifetimes(generics, quote!('_))
}

fn all_lifetimes(generics: &Generics) -> TokenStream {
    lifetimes(generics, quote!('hueshift))
}

fn lifetimes(generics: &Generics, each: TokenStream) -> TokenStream {
    let count = generics.params.iter().filter(|p| matches!(p, GenericParam::Lifetime(_))).count();
    let each = std::iter::repeat_n(each, count);
    if count == 0 { TokenStream::new() } else { quote!(<#(#each),*>) }
}

/// The `Option` or `Result` that lies in memory where a value of this type leads, if there is one: graphs have a layout
/// of their own for it, and rustc another.
pub fn option_in_memory(module: &Module, ty: &RustType) -> Option<RustType> {
    option_behind(module, ty, false, &mut Vec::new())
}

/// Whether graphs and rustc may both work on a value of this type in memory. Where there is an `Option` in it they
/// don't: it is refused behind the references of entries and host functions, and otherwise each has values of its own.
fn may_be_shared(module: &Module, ty: &RustType) -> bool {
    option_behind(module, ty, true, &mut Vec::new()).is_none()
}

fn option_behind<'a>(
    module: &'a Module,
    ty: &'a RustType,
    in_memory: bool,
    seen: &mut Vec<(&'a str, bool)>,
) -> Option<RustType> {
    let mut behind = |ty: &'a RustType, in_memory: bool| option_behind(module, ty, in_memory, seen);
    match ty {
        RustType::Option(_) | RustType::Result(..) if in_memory => Some(ty.clone()),
        RustType::Option(inner) | RustType::Array(inner, _) | RustType::Cell(inner) => behind(inner, in_memory),
        RustType::Result(ok, err) => behind(ok, in_memory).or_else(|| behind(err, in_memory)),
        RustType::Ref { to: inner, .. } | RustType::Slice { elem: inner, .. } => behind(inner, true),
        RustType::Tuple(items) => items.iter().find_map(|ty| behind(ty, in_memory)),
        RustType::Struct(name) | RustType::Enum(name) => {
            if seen.contains(&(name, in_memory)) {
                return None;
            }
            seen.push((name, in_memory));
            let fields = module.structs.get(name).into_iter().flat_map(|s| &s.fields);
            let variants = module.enums.get(name).into_iter().flat_map(|e| &e.variants).flat_map(|v| &v.fields);
            fields.chain(variants).find_map(|f| option_behind(module, &f.ty, in_memory, seen))
        }
        RustType::Unit | RustType::Never | RustType::Scalar(_) | RustType::Str => None,
    }
}

/// Assertions about the tuples that lie in memory: Rust promises nothing of their layout.
pub fn tuples(module: &Module) -> TokenStream {
    let mut found = Vec::new();
    for graph in module.graphs.values() {
        let types = graph.signature.params.iter().map(|p| &p.ty).chain([&graph.signature.result]);
        types.for_each(|ty| tuples_behind(ty, false, &mut found));
    }
    for field in module.structs.values().flat_map(|s| &s.fields) {
        tuples_behind(&field.ty, true, &mut found);
    }
    let asserted = found.iter().filter(|ty| may_be_shared(module, ty)).map(|ty| {
        let RustType::Tuple(items) = ty else { return TokenStream::new() };
        let (offsets, size, _) = module.tuple_offsets(items);
        let name = ty.to_string();
        let Ok(written) = syn::parse_str::<syn::Type>(&name) else { return TokenStream::new() };
        let message = format!(
            "hueshift: rustc lays the tuple {name} out otherwise than graphs have it: use a struct in its place"
        );
        let offsets = offsets.iter().enumerate().map(|(i, offset)| {
            let (member, offset) = (Index::from(i), *offset as usize);
            quote! { ::core::assert!(::core::mem::offset_of!(#written, #member) == #offset, #message); }
        });
        let size = size as usize;
        quote! {
            const _: () = {
                ::core::assert!(::core::mem::size_of::<#written>() == #size, #message);
                #(#offsets)*
            };
        }
    });
    asserted.collect()
}

fn tuples_behind(ty: &RustType, in_memory: bool, out: &mut Vec<RustType>) {
    match ty {
        RustType::Tuple(items) => {
            if in_memory && !out.contains(ty) {
                out.push(ty.clone());
            }
            items.iter().for_each(|item| tuples_behind(item, in_memory, out));
        }
        RustType::Ref { to: inner, .. } | RustType::Slice { elem: inner, .. } => tuples_behind(inner, true, out),
        RustType::Array(inner, _) | RustType::Cell(inner) | RustType::Option(inner) => {
            tuples_behind(inner, in_memory, out)
        }
        RustType::Result(ok, err) => {
            tuples_behind(ok, in_memory, out);
            tuples_behind(err, in_memory, out);
        }
        RustType::Unit | RustType::Never | RustType::Scalar(_) => {}
        RustType::Str | RustType::Struct(_) | RustType::Enum(_) => {}
    }
}
