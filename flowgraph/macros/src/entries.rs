//! The functions that are made for entries and for host functions.
//!
//! ```text
//! fn run(code: &[u8], mut pc: usize, cpu: &mut Cpu) -> u64        in the source, a portal with the greens code and pc
//! jit::run(jit: &mut Jit<'p>, code: &'p [u8], pc: usize, cpu: &mut Cpu) -> Result<u64, Error>
//! aot::run(jit: &mut Jit<'p>, code: &'p [u8], pc: usize, cpu: &mut Cpu) -> Result<u64, Error>
//! interp::run(code: &[u8], pc: usize, cpu: &mut Cpu) -> Result<u64, Trap>
//! residual::run(code: &[u8], pc: usize) -> Result<Golden, Error>
//! ```

use crate::expand::{Entry, visible_inside};
use crate::rewrite::{Leading, second_name};
use crate::{layout, values};
use flowgraph::host::param_types;
use flowgraph::ir::{Graph, Module, RustType};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, Lifetime, Pat, ReturnType, Signature, Type, TypeReference, Visibility};

/// An entry, as it stands in the source.
pub struct EntryFunction<'a> {
    /// Its flow graph.
    pub graph: &'a Graph,
    /// What is known of it.
    pub entry: &'a Entry,
    /// Its signature.
    pub sig: Signature,
    /// Its visibility.
    pub vis: Visibility,
    /// The type whose method it is.
    pub self_ty: Option<Type>,
}

/// A parameter: name and type.
struct Param {
    name: Ident,
    ty: Type,
}

/// The parameters of a function, `self` under a name of its own.
fn params(sig: &Signature, self_ty: Option<&Type>) -> Vec<Param> {
    let param = |(i, input): (usize, &FnArg)| match input {
        FnArg::Receiver(r) => {
            let own = self_ty.cloned().unwrap_or_else(|| syn::parse_quote!(Self));
            let ty = match &r.reference {
                Some((and, lifetime)) => {
                    let mutability = r.mutability;
                    syn::parse_quote!(#and #lifetime #mutability #own)
                }
                None => own,
            };
            Param { name: Ident::new("this", Span::call_site()), ty }
        }
        FnArg::Typed(t) => {
            let name = match &*t.pat {
                Pat::Ident(p) if p.subpat.is_none() => p.ident.clone(),
                _ => format_ident!("argument_{i}"),
            };
            let mut ty = (*t.ty).clone();
            Own(self_ty).visit_type_mut(&mut ty);
            Param { name, ty }
        }
    };
    sig.inputs.iter().enumerate().map(param).collect()
}

fn result(sig: &Signature, self_ty: Option<&Type>) -> Type {
    match &sig.output {
        ReturnType::Default => syn::parse_quote!(()),
        ReturnType::Type(_, ty) => {
            let mut ty = (**ty).clone();
            Own(self_ty).visit_type_mut(&mut ty);
            ty
        }
    }
}

/// Writes `Self` out.
struct Own<'a>(Option<&'a Type>);

impl VisitMut for Own<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match (self.0, &*ty) {
            (Some(own), Type::Path(p)) if p.qself.is_none() && p.path.is_ident("Self") => *ty = own.clone(),
            _ => visit_mut::visit_type_mut(self, ty),
        }
    }
}

/// Has rustc infer every lifetime in a type.
struct Inferred;

impl VisitMut for Inferred {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'_", lifetime.span());
    }
}

/// Gives every reference in a type the same lifetime, and every lifetime that is written out.
pub struct Lent<'a>(pub &'a Lifetime);

impl VisitMut for Lent<'_> {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = Some(self.0.clone());
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = self.0.clone();
    }
}

/// The modules with functions for these entries, which lie `depth` modules deep in the interpreter.
///
/// # Errors
/// If one of them can't be called from Rust.
pub fn modules(
    module: &Module,
    entries: &[EntryFunction<'_>],
    leading: &Leading,
    depth: usize,
) -> syn::Result<TokenStream> {
    if entries.is_empty() {
        return Ok(TokenStream::new());
    }
    let up = std::iter::repeat_n(quote!(super::), depth + 1);
    let interpreter = quote! { #(#up)* INTERPRETER };
    let mut jit = Vec::new();
    let mut aot = Vec::new();
    let mut interp = Vec::new();
    let mut residual = Vec::new();
    for entry in entries {
        if refers(module, &entry.graph.signature.result) {
            let message =
                "an entry can't return a reference from compiled code: return an index, or fill in what is lent";
            return Err(syn::Error::new_spanned(&entry.sig.output, message));
        }
        refuse_options(module, &entry.graph.signature, &entry.sig)?;
        for i in &entry.entry.greens {
            let param = &entry.graph.signature.params[*i];
            if lends_exclusively(module, &param.ty) {
                let message = format!(
                    "the green `{}` is a `&mut`, which can't be lent to compiled code and changed as well: make it a `&`",
                    param.name
                );
                return Err(syn::Error::new_spanned(&entry.sig.inputs[*i], message));
            }
        }
        jit.push(entry.just_in_time(leading, &interpreter));
        aot.push(entry.compiled(module, &interpreter));
        interp.push(entry.interpreted(&interpreter));
        residual.push(entry.residual(module, &interpreter));
    }
    let allowed = quote! {
        #[allow(dead_code, unused_imports, clippy::too_many_arguments, clippy::needless_lifetimes, clippy::type_complexity)]
        #[allow(clippy::extra_unused_lifetimes, clippy::extra_unused_type_parameters)]
    };
    Ok(quote! {
        /// The entries as rustc compiles them, from where compiled code is entered that is made where they are hot.
        #allowed
        pub mod jit { use super::*; #(#jit)* }
        /// The entries in compiled code. The first call with some greens compiles.
        #allowed
        pub mod aot { use super::*; #(#aot)* }
        /// The entries as rustc compiles them; a panic is an error.
        #allowed
        pub mod interp { use super::*; #(#interp)* }
        /// The residual graphs of the entries: what compiled code is made of.
        #allowed
        pub mod residual { use super::*; #(#residual)* }
    })
}

/// Refuses what graphs and rustc lay out differently behind the references of a function that both call.
///
/// # Errors
/// If there is such a thing.
pub fn refuse_options(module: &Module, signature: &flowgraph::ir::Signature, sig: &Signature) -> syn::Result<()> {
    let refuse = |at: &dyn ToTokens, ty: RustType| {
        let message = format!(
            "there is a `{ty}` behind a reference here: Rust doesn't say how it lies in memory; use an enum of your own in its place"
        );
        Err(syn::Error::new_spanned(at.to_token_stream(), message))
    };
    for (param, input) in signature.params.iter().zip(&sig.inputs) {
        if let Some(ty) = layout::option_in_memory(module, &param.ty) {
            return refuse(input, ty);
        }
    }
    match layout::option_in_memory(module, &signature.result) {
        Some(ty) => refuse(&sig.output, ty),
        None => Ok(()),
    }
}

/// Whether a value of this type is a `&mut`, or has one in it.
fn lends_exclusively(module: &Module, ty: &RustType) -> bool {
    match ty {
        RustType::Struct(name) => {
            let fields = module.structs.get(name).map_or(&[][..], |s| &s.fields);
            fields.iter().any(|f| lends_exclusively(module, &f.ty))
        }
        RustType::Array(inner, _) | RustType::Cell(inner) => lends_exclusively(module, inner),
        ty => ty.has_exclusive(),
    }
}

/// Whether there is a reference in a value of this type.
fn refers(module: &Module, ty: &RustType) -> bool {
    module.has_reference(ty)
}

impl EntryFunction<'_> {
    /// Its name in messages and in a `Jit`.
    fn function(&self) -> &str {
        &self.graph.function
    }

    fn compiled(&self, module: &Module, interpreter: &TokenStream) -> TokenStream {
        let (mut params, function) = (params(&self.sig, self.self_ty.as_ref()), self.function());
        let lifetime = self.lifetime();
        for i in &self.entry.greens {
            if let Some(param) = params.get_mut(*i) {
                Lent(&lifetime).visit_type_mut(&mut param.ty);
            }
        }
        let lent = self.entry.greens.iter().filter_map(|i| params.get(*i)).map(|p| &p.name);
        let taken = |name: &str| params.iter().any(|p| p.name == name);
        let jit = Ident::new(if taken("jit") { "compiled_code" } else { "jit" }, Span::call_site());
        let passed = params.iter().enumerate().map(|(i, Param { name, .. })| {
            let green = self.entry.greens.contains(&i);
            let words = if green { quote!(__hueshift_greens) } else { quote!(__hueshift_reds) };
            values::pass(module, &self.graph.signature.params[i].ty, &quote!(#name), &quote!(&mut #words))
        });
        let (names, types): (Vec<_>, Vec<_>) = params.iter().map(|p| (&p.name, &p.ty)).unzip();
        let generics = self.sig.generics.params.iter();
        let bounds = &self.sig.generics.where_clause;
        let (name, vis, result) =
            (&self.sig.ident, visible_inside(&self.vis), result(&self.sig, self.self_ty.as_ref()));
        let given =
            values::give(module, &self.graph.signature.result, &Ident::new("__hueshift_words", Span::call_site()));
        let doc = format!("[`{function}`](super) in compiled code, which is made for its greens if there is none.");
        let errors = "\n# Errors\nIf the guest's run traps, or there can't be code for these greens.";
        quote! {
            #[doc = #doc]
            #[doc = #errors]
            #vis fn #name<#lifetime, #(#generics),*>(
                #jit: &mut ::hueshift::embed::Jit<#lifetime>,
                #(#names: #types),*
            ) -> ::core::result::Result<#result, ::hueshift::embed::Error> #bounds {
                #(#jit.lends(&#lent);)*
                let (mut __hueshift_greens, mut __hueshift_reds) = (::std::vec::Vec::<u64>::new(), ::std::vec::Vec::<u64>::new());
                #(#passed)*
                let __hueshift_words = #jit.call(&#interpreter, #function, __hueshift_greens, &__hueshift_reds)?;
                let mut __hueshift_words = ::hueshift::embed::WordReader::new(&__hueshift_words);
                ::core::result::Result::Ok(#given)
            }
        }
    }

    /// Runs its second form, if it has one: from others no portal is reached.
    fn just_in_time(&self, leading: &Leading, interpreter: &TokenStream) -> TokenStream {
        let (mut params, function) = (params(&self.sig, self.self_ty.as_ref()), self.function());
        let lifetime = self.lifetime();
        for i in self.entry.greens.iter().copied().chain(leading.lent(function)) {
            if let Some(param) = params.get_mut(i) {
                Lent(&lifetime).visit_type_mut(&mut param.ty);
            }
        }
        let leads = leading.leads(function);
        let (names, types): (Vec<_>, Vec<_>) = params.iter().map(|p| (&p.name, &p.ty)).unzip();
        let jit = Ident::new("__hueshift_jit", Span::call_site());
        let handed = leads.then(|| quote!(, #jit));
        let own = if leads { second_name(&self.sig.ident) } else { self.sig.ident.clone() };
        let path = match &self.self_ty {
            Some(ty) => quote!(<#ty>::#own),
            None => quote!(super::#own),
        };
        let generics = self.sig.generics.params.iter();
        let bounds = &self.sig.generics.where_clause;
        let (name, vis, result) =
            (&self.sig.ident, visible_inside(&self.vis), result(&self.sig, self.self_ty.as_ref()));
        let doc = format!("[`{function}`](super) as rustc compiles it, and in compiled code where it is hot.");
        let errors = "\n# Errors\nIf the guest's run traps, or code can't be made.";
        quote! {
            #[doc = #doc]
            #[doc = #errors]
            #vis fn #name<#lifetime, #(#generics),*>(
                #jit: &mut ::hueshift::embed::Jit<#lifetime>,
                #(#names: #types),*
            ) -> ::core::result::Result<#result, ::hueshift::embed::Error> #bounds {
                #jit.interpret(&#interpreter, |#jit| { let _ = &#jit; #path(#(#names),* #handed) })
            }
        }
    }

    /// What calls the second form of a portal with the values that words are, if it has one.
    pub fn shim(&self, module: &Module, leading: &Leading) -> Option<Shim> {
        let function = self.function();
        if self.graph.attributes.portal.is_none() || !leading.leads(function) {
            return None;
        }
        let name = format_ident!("__hueshift_portal_{}", function.replace("::", "_").to_lowercase());
        let second = second_name(&self.sig.ident);
        let path = path_of(self.self_ty.as_ref(), &second);
        let Carried { names, given, passed } = Carried::new(module, self.graph);
        let tokens = quote! {
            #[doc(hidden)]
            #[allow(clippy::let_unit_value)]
            pub(crate) fn #name<'__hueshift_p>(
                jit: &mut ::hueshift::embed::Jit<'__hueshift_p>,
                words: ::std::vec::Vec<u64>,
                results: &mut ::std::vec::Vec<u64>,
            ) {
                let mut words = ::hueshift::embed::WordReader::<'__hueshift_p>::owned(words);
                let _ = &mut words;
                #given
                let result = #path(#(#names,)* jit);
                #passed
            }
        };
        Some(Shim { name, tokens })
    }

    /// A lifetime that the function doesn't have yet.
    fn lifetime(&self) -> Lifetime {
        let taken = self.sig.generics.lifetimes().any(|l| l.lifetime.ident == "p");
        Lifetime::new(if taken { "'compiled" } else { "'p" }, Span::call_site())
    }

    fn interpreted(&self, interpreter: &TokenStream) -> TokenStream {
        let params = params(&self.sig, self.self_ty.as_ref());
        let (names, types): (Vec<_>, Vec<_>) = params.iter().map(|p| (&p.name, &p.ty)).unzip();
        let generics = &self.sig.generics;
        let bounds = &generics.where_clause;
        let (name, vis, result) =
            (&self.sig.ident, visible_inside(&self.vis), result(&self.sig, self.self_ty.as_ref()));
        let path = match &self.self_ty {
            Some(ty) => quote!(<#ty>::#name),
            None => quote!(super::#name),
        };
        let doc = format!("[`{}`](super) as rustc compiles it.", self.function());
        quote! {
            #[doc = #doc]
            #[doc = "\n# Errors\nIf it panics."]
            #vis fn #name #generics(#(#names: #types),*) -> ::core::result::Result<#result, ::hueshift::Trap> #bounds {
                ::hueshift::tier0::catch(&#interpreter, || #path(#(#names),*))
            }
        }
    }

    fn residual(&self, module: &Module, interpreter: &TokenStream) -> TokenStream {
        let params = params(&self.sig, self.self_ty.as_ref());
        let greens: Vec<&Param> = self.entry.greens.iter().filter_map(|i| params.get(*i)).collect();
        let (names, types): (Vec<_>, Vec<_>) = greens.iter().map(|p| (&p.name, &p.ty)).unzip();
        let lifetimes = self.sig.generics.params.iter();
        let passed = self.entry.greens.iter().zip(&names).map(|(i, name)| {
            let ty = &self.graph.signature.params[*i].ty;
            values::pass(module, ty, &quote!(#name), &quote!(&mut __hueshift_greens))
        });
        let (name, vis, function) = (&self.sig.ident, visible_inside(&self.vis), self.function());
        let doc = format!("What [`{function}`](super) is compiled to for these greens.");
        quote! {
            #[doc = #doc]
            #[doc = "\n# Errors\nIf there can't be code for these greens."]
            #[allow(clippy::extra_unused_lifetimes)]
            #vis fn #name<#(#lifetimes),*>(
                #(#names: #types),*
            ) -> ::core::result::Result<::hueshift::golden::Golden, ::hueshift::embed::Error> {
                let mut __hueshift_greens = ::std::vec::Vec::<u64>::new();
                #(#passed)*
                ::hueshift::embed::Jit::new(&#interpreter).residual(&#interpreter, #function, __hueshift_greens)
            }
        }
    }
}

/// A function that graphs call by its name.
pub struct Host<'a> {
    /// Its graph, which is a signature.
    pub graph: &'a Graph,
    /// Its signature.
    pub sig: Signature,
    /// The type whose method it is.
    pub self_ty: Option<Type>,
}

/// A function's name in the module that it is in, or that its type is in.
fn path_of(self_ty: Option<&Type>, function: &Ident) -> TokenStream {
    match self_ty {
        Some(ty) => {
            let mut ty = ty.clone();
            Inferred.visit_type_mut(&mut ty);
            quote!(<#ty>::#function)
        }
        None => quote!(#function),
    }
}

/// How a function from words to words makes the arguments from `words`, and appends what comes of `result` to
/// `results`.
struct Carried {
    names: Vec<Ident>,
    given: TokenStream,
    passed: TokenStream,
}

impl Carried {
    fn new(module: &Module, graph: &Graph) -> Carried {
        let params = &graph.signature.params;
        let names: Vec<Ident> = (0..params.len()).map(|i| format_ident!("__hueshift_{i}")).collect();
        let words = Ident::new("words", Span::call_site());
        let values = params.iter().map(|p| values::give(module, &p.ty, &words));
        let given = quote! { #(let #names = #values;)* };
        let passed = values::pass(module, &graph.signature.result, &quote!(result), &quote!(results));
        Carried { names, given, passed }
    }
}

/// A function from words to words, or a type that has one.
pub struct Shim {
    /// Its name.
    pub name: Ident,
    /// Itself.
    pub tokens: TokenStream,
}

impl Host<'_> {
    /// What calls the function with the values that words are.
    pub fn shim(&self, module: &Module) -> Shim {
        let name = format_ident!("__hueshift_host_{}", self.graph.function.replace("::", "_").to_lowercase());
        let function = &self.sig.ident;
        let path = path_of(self.self_ty.as_ref(), function);
        let Carried { names, given, passed } = Carried::new(module, self.graph);
        let (params, results) = (param_types(module, self.graph).len(), self.graph.results.len());
        let tokens = quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            pub(crate) struct #name;

            impl ::hueshift::embed::HostCall for #name {
                const PARAMS: usize = #params;
                const RESULTS: usize = #results;

                #[allow(clippy::let_unit_value)]
                #[inline]
                fn call(words: &[u64], results: &mut [u64]) {
                    let mut words = ::hueshift::embed::WordReader::new(words);
                    let results = &mut ::hueshift::embed::WordWriter::new(results);
                    let _ = &mut words;
                    #given
                    let result = #path(#(#names),*);
                    #passed
                    results.done();
                }
            }
        };
        Shim { name, tokens }
    }
}
