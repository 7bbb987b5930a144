//! From a source to its expansion, or to errors.

use crate::options::{EntryOption, FileOptions, ModuleOptions};
use crate::rewrite::Rewriter;
use crate::source::{self, Source};
use flowgraph::frontend::{Lifted, Refused, collect_files, lift_embedded, without_shebang};
use flowgraph::ir::{Module, RustType};
use flowgraph::text::print_module;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::io::ErrorKind;
use std::str::FromStr;
use syn::{Item, Visibility};

/// `#[interpreter(options)] item`
pub fn module(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let item = TokenStream::from(item);
    let expanded = module_tokens(options.into(), &item);
    // With the module as it is, what uses it has nothing else to complain about.
    expanded.unwrap_or_else(|error| [error.into_compile_error(), item].into_iter().collect()).into()
}

/// `interpreter_file!(options)`
pub fn file(options: proc_macro::TokenStream) -> proc_macro::TokenStream {
    file_tokens(options.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Until it is dropped, tokens are those of `proc_macro2` itself: they know their places in texts that the compiler
/// hasn't read, and don't mind the thread.
struct OwnTokens;

impl OwnTokens {
    fn begin() -> OwnTokens {
        proc_macro2::fallback::force();
        OwnTokens
    }
}

impl Drop for OwnTokens {
    fn drop(&mut self) {
        proc_macro2::fallback::unforce();
    }
}

fn module_tokens(options: TokenStream, item: &TokenStream) -> syn::Result<TokenStream> {
    let options: ModuleOptions = syn::parse2(options)?;
    let mut module: syn::ItemMod = syn::parse2(item.clone())?;
    let (Some((_, items)), Some(braces)) = (module.content.take(), body(item)) else {
        let message = "the text of this module is elsewhere: for a file use `hueshift::interpreter_file!`";
        return Err(syn::Error::new(module.ident.span(), message));
    };
    let Some(source) = Source::of_module(&braces) else {
        if source::is_editor() {
            return Ok(item.clone());
        }
        return Err(syn::Error::new(module.ident.span(), source::NO_TEXT));
    };
    let written = source::flat(braces.stream());
    let (lifted, read) = {
        let _own = OwnTokens::begin();
        let read = TokenStream::from_str(&source.text).map(source::flat);
        (lift_embedded(&[(&source.name, &source.text)]), read)
    };
    if read.ok().as_ref() != Some(&written) {
        return Err(syn::Error::new(module.ident.span(), source::NO_TEXT));
    }
    let lifted = lifted.map_err(|refused| in_tokens(&refused, braces.stream()))?;
    let entries = entries(&lifted.module, &options.entries)?;
    let graphs = print_module(&lifted.module);
    let name = module.ident.to_string();
    let body = Body { name: &name, lifted: &lifted, graphs: &graphs, entries: &entries, files: &[] }.tokens(items)?;
    let syn::ItemMod { attrs, vis, ident, .. } = module;
    let (inner, outer): (Vec<_>, Vec<_>) = attrs.into_iter().partition(|a| matches!(a.style, syn::AttrStyle::Inner(_)));
    Ok(quote! { #(#outer)* #vis mod #ident { #(#inner)* #body } })
}

/// The braces of a module.
fn body(item: &TokenStream) -> Option<Group> {
    match item.clone().into_iter().last() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

fn file_tokens(options: TokenStream) -> syn::Result<TokenStream> {
    let options: FileOptions = syn::parse2(options)?;
    let (vis, name) = options.module()?;
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let (path, span) = (options.path.value(), options.path.span());
    let read = |name: &str| match std::fs::read_to_string(std::path::Path::new(&folder).join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound && name != path => Ok(None),
        Err(e) => Err(syn::Error::new(span, format!("{name} in the crate's folder can't be read: {e}"))),
    };
    let text = read(&path)?.unwrap_or_default();
    let files = {
        let _own = OwnTokens::begin();
        collect_files(&path, text, read)?
    };
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Ok(expanded_files(&options, &files, (&vis, &name)).unwrap_or_else(|error| {
        let mut tokens = error.into_compile_error();
        if syn::parse_file(files[0].1).is_ok() {
            // As above: the file as rustc reads it.
            let path = std::path::Path::new(&folder).join(files[0].0).to_string_lossy().into_owned();
            tokens.extend(quote! { #[path = #path] #[allow(dead_code, unused_imports)] #vis mod #name; });
        }
        tokens
    }))
}

/// The module that an interpreter's files are.
fn expanded_files(
    options: &FileOptions,
    files: &[(&str, &str)],
    (vis, name): (&Visibility, &Ident),
) -> syn::Result<TokenStream> {
    let span = options.path.span();
    let here = |refused: Refused| syn::Error::new(span, format!("{} is refused\n\n{refused}", files[0].0));
    let lifted = {
        let _own = OwnTokens::begin();
        lift_embedded(files).map_err(here)?
    };
    let entries = entries(&lifted.module, &options.entries)?;
    let graphs = print_module(&lifted.module);
    let expanded = {
        let _own = OwnTokens::begin();
        let body = Body { name: &name.to_string(), lifted: &lifted, graphs: &graphs, entries: &entries, files };
        file_body(files[0].1, body)
    };
    let (attributes, body) = expanded.map_err(|message| syn::Error::new(span, message))?;
    let tokens = |text: String| TokenStream::from_str(&text).map_err(|e| syn::Error::new(span, e.to_string()));
    let (attributes, body) = (tokens(attributes)?, tokens(body)?);
    Ok(quote! { #attributes #vis mod #name { #body } })
}

/// The attributes of the module that a file is, and what is in it, as text; or what is wrong.
fn file_body(text: &str, body: Body<'_>) -> Result<(String, String), String> {
    let file = parse_file(text).map_err(|error| error.to_string())?;
    let attributes = file.attrs.into_iter().map(|mut attribute| {
        attribute.style = syn::AttrStyle::Outer;
        attribute.to_token_stream()
    });
    let attributes: TokenStream = attributes.collect();
    let tokens = body.tokens(file.items).map_err(|error| error.to_string())?;
    Ok((attributes.to_string(), tokens.to_string()))
}

/// What is in a file.
pub fn parse_file(text: &str) -> syn::Result<syn::File> {
    syn::parse_str(&without_shebang(text.strip_prefix('\u{feff}').unwrap_or(text)))
}

/// The refusals as errors in the user's source, by their places.
fn in_tokens(refused: &Refused, tokens: TokenStream) -> syn::Error {
    let mut flat = Vec::new();
    flatten(tokens, &mut flat);
    let mut all: Option<syn::Error> = None;
    for refusal in &refused.refusals {
        let (line, from) = (refusal.loc.line as usize, refusal.loc.column as usize - 1);
        let to = from + refusal.length as usize;
        let blamed = flat.iter().filter(|(l, column, _)| *l == line && (from..to).contains(column));
        let blamed: TokenStream = blamed.map(|(_, _, token)| token.clone()).collect();
        let message = format!("{} [{}]\n= {}", refusal.message, refusal.reason.id(), refusal.remedy);
        let error = match blamed.is_empty() {
            true => syn::Error::new(Span::call_site(), format!("{}:{line}:{}: {message}", refusal.file, from + 1)),
            false => syn::Error::new_spanned(blamed, message),
        };
        match &mut all {
            Some(all) => all.combine(error),
            None => all = Some(error),
        }
    }
    all.unwrap_or_else(|| syn::Error::new(Span::call_site(), refused.to_string()))
}

/// All tokens with line and column; delimiters as empty groups.
fn flatten(tokens: TokenStream, out: &mut Vec<(usize, usize, TokenTree)>) {
    for token in tokens {
        let start = token.span().start();
        match token {
            TokenTree::Group(group) => {
                let mut open = TokenTree::Group(Group::new(group.delimiter(), TokenStream::new()));
                open.set_span(group.span_open());
                out.push((start.line, start.column, open));
                flatten(group.stream(), out);
            }
            other => out.push((start.line, start.column, other)),
        }
    }
}

/// A function to be compiled: its path and the parameters that are known then.
pub struct Entry {
    /// The path.
    pub function: String,
    /// The parameters, from 0, ascending.
    pub greens: Vec<usize>,
}

/// The portals, and what the options name.
fn entries(module: &Module, options: &[EntryOption]) -> syn::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for graph in module.graphs.values() {
        if let Some(portal) = &graph.attributes.portal {
            let mut greens = portal.greens.clone();
            greens.sort_unstable();
            entries.push(Entry { function: graph.function.clone(), greens });
        }
    }
    for option in options {
        let function = option.name();
        let refuse = |span: Span, message: String| Err(syn::Error::new(span, message));
        let Some(graph) = module.graphs.get(&function) else {
            let names: Vec<&str> = module.graphs.keys().map(String::as_str).collect();
            let message =
                format!("there is no function `{function}` in the interpreter; there are: {}", names.join(", "));
            return Err(syn::Error::new_spanned(&option.function, message));
        };
        if entries.iter().any(|e| e.function == function) {
            let message =
                format!("`{function}` is an entry already: a portal is one, with the greens of its attribute");
            return Err(syn::Error::new_spanned(&option.function, message));
        }
        let params = &graph.signature.params;
        let mut greens = Vec::new();
        for name in &option.greens {
            match params.iter().position(|p| *name == p.name) {
                Some(i) if greens.contains(&i) => return refuse(name.span(), format!("`{name}` is named twice")),
                Some(i) => greens.push(i),
                None => return refuse(name.span(), format!("`{function}` has no parameter `{name}`")),
            }
        }
        greens.sort_unstable();
        entries.push(Entry { function, greens });
    }
    Ok(entries)
}

/// What goes into the module.
pub struct Body<'a> {
    /// The module's name.
    pub name: &'a str,
    /// The lifted module, and what its source uses.
    pub lifted: &'a Lifted,
    /// Its text.
    pub graphs: &'a str,
    /// What is compiled.
    pub entries: &'a [Entry],
    /// The files, name and text, if the source isn't inline.
    pub files: &'a [(&'a str, &'a str)],
}

impl Body<'_> {
    fn tokens(&self, mut items: Vec<Item>) -> syn::Result<TokenStream> {
        let mut rewriter = Rewriter::new(self.lifted, self.entries, self.files);
        rewriter.items(&mut items, "", 0).map_err(|error| match self.files.get(rewriter.file()) {
            Some((name, _)) => {
                let start = error.span().start();
                syn::Error::new(Span::call_site(), format!("{name}:{}:{}: {error}", start.line, start.column + 1))
            }
            None => error,
        })?;
        let (name, graphs) = (self.name, self.graphs);
        let entries = self.entries.iter().map(|Entry { function, greens }| {
            quote! { ::hueshift::embed::Entry { function: #function, greens: &[#(#greens),*] } }
        });
        let inline = self.lifted.module.files.iter().filter(|_| self.files.is_empty());
        let inline = inline.map(|file| &file.name).map(|name| quote! { (#name, ::core::option::Option::None) });
        let read = self.files.iter().map(|(path, _)| {
            quote! { (#path, ::core::option::Option::Some(::core::include_str!(
                ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path)
            ))) }
        });
        let files = inline.chain(read);
        let (hosts, portals) = rewriter.shims();
        let tuples = crate::layout::tuples(&self.lifted.module);
        Ok(quote! {
            #(#items)*
            #tuples
            /// The interpreter: what it was lifted to, and what can be compiled.
            pub static INTERPRETER: ::hueshift::Interpreter = ::hueshift::Interpreter::new(::hueshift::embed::Definition {
                name: #name,
                files: &[#(#files),*],
                graphs: #graphs,
                entries: &[#(#entries),*],
                hosts: &[#(#hosts),*],
                portals: &[#(#portals),*],
            });
        })
    }
}

/// Whether a function with this visibility can be named from a module inside of its own.
pub fn visible_inside(visibility: &Visibility) -> Visibility {
    match visibility {
        Visibility::Inherited => syn::parse_quote!(pub(super)),
        Visibility::Restricted(r) if r.path.is_ident("self") => syn::parse_quote!(pub(super)),
        Visibility::Restricted(r) if r.path.is_ident("super") => syn::parse_quote!(pub(in super::super)),
        other => other.clone(),
    }
}

/// The structs and enums that a value of this type has in it.
pub fn by_value(module: &Module, ty: &RustType, out: &mut Vec<String>) {
    match ty {
        RustType::Struct(name) | RustType::Enum(name) if out.contains(name) => {}
        RustType::Enum(name) => {
            out.push(name.clone());
            let variants = module.enums.get(name).map_or(&[][..], |e| &e.variants);
            variants.iter().flat_map(|v| &v.fields).for_each(|f| by_value(module, &f.ty, out));
        }
        RustType::Option(inner) => by_value(module, inner, out),
        RustType::Result(ok, err) => {
            by_value(module, ok, out);
            by_value(module, err, out);
        }
        RustType::Struct(name) => {
            out.push(name.clone());
            let fields = module.structs.get(name).map_or(&[][..], |s| &s.fields);
            fields.iter().for_each(|f| by_value(module, &f.ty, out));
        }
        RustType::Tuple(items) => items.iter().for_each(|ty| by_value(module, ty, out)),
        RustType::Array(inner, _) | RustType::Cell(inner) => by_value(module, inner, out),
        RustType::Unit | RustType::Never | RustType::Scalar(_) => {}
        RustType::Ref { .. } | RustType::Slice { .. } | RustType::Str => {}
    }
}
