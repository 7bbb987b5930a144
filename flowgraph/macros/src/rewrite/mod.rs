//! The changes to a source, and nothing else is changed:
//!
//! * arithmetic operators are made wrapping (`arithmetic`);
//! * structs and enums are `repr(C)`, with assertions behind them (`layout`);
//! * portals and recursive functions begin with a check of the stack;
//! * portals, and what leads to them, are there a second time (`tier0`): with a `Jit` that they hand on, and to which
//!   `merge_point!()` and `can_enter_jit!()` are calls. In the functions themselves they stand for nothing.
//!
//! Added are the modules `jit`, `aot`, `interp` and `residual` beside the entries, and shims beside the functions that
//! graphs call.

mod arithmetic;
mod tier0;

use crate::entries::{self, EntryFunction, Host};
use crate::expand::{Entry, by_value, parse_file};
use crate::layout;
use flowgraph::analysis::CallGraph;
use flowgraph::frontend::{Lifted, Use};
use flowgraph::ir::{Graph, Module};
use proc_macro2::{LineColumn, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::HashMap;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Item};
pub use tier0::{Leading, second_name};

/// File, line and column (from 0), as spans have them.
type Place = (u16, usize, usize);

/// The type that an `impl` is for, and the lifetimes that it declares.
struct Own {
    ty: syn::Type,
    lifetimes: Vec<syn::GenericParam>,
}

/// Changes a module's items.
pub struct Rewriter<'a> {
    module: &'a Module,
    entries: &'a [Entry],
    /// The files, name and text; none if the source is inline.
    files: &'a [(&'a str, &'a str)],
    /// The file being gone through, and the folder that the files of its modules are in.
    file: u16,
    folder: String,
    uses: HashMap<Place, &'a Use>,
    /// Graphs by the place of the function's name, and whether they begin with a check of the stack.
    graphs: HashMap<Place, (&'a Graph, bool)>,
    /// What can't be changed, and in which file.
    errors: Vec<(u16, syn::Error)>,
    /// Structs and enums that are handed to compiled code or host functions by value.
    passed: Vec<String>,
    hosts: Vec<TokenStream>,
    portals: Vec<TokenStream>,
    /// How deep the module being gone through lies in the interpreter.
    depth: usize,
    /// The functions from which a portal is reached.
    leading: Leading,
    /// What the functions of the module being gone through ask for.
    found: Vec<EntryFunction<'a>>,
    found_hosts: Vec<Host<'a>>,
}

impl<'a> Rewriter<'a> {
    /// For a source that was lifted.
    pub fn new(lifted: &'a Lifted, entries: &'a [Entry], files: &'a [(&'a str, &'a str)]) -> Rewriter<'a> {
        let module = &lifted.module;
        let calls = CallGraph::new(module);
        let checked = |i: usize, graph: &Graph| graph.attributes.portal.is_some() || calls.is_recursive(i);
        let at = |loc: flowgraph::ir::Loc| (loc.file.0, loc.line as usize, loc.column as usize - 1);
        let graphs = module.graphs.values().enumerate().filter(|(_, graph)| graph.loc.is_known());
        let graphs = graphs.map(|(i, graph)| (at(graph.loc), (graph, checked(i, graph)))).collect();
        let mut passed = Vec::new();
        for graph in module.graphs.values() {
            let named = entries.iter().any(|e| e.function == graph.function) || graph.blocks.is_empty();
            let types = graph.signature.params.iter().map(|p| &p.ty).chain([&graph.signature.result]);
            types.filter(|_| named).for_each(|ty| by_value(module, ty, &mut passed));
        }
        let uses = lifted.uses.iter().map(|used| (at(used.loc), used)).collect();
        Rewriter {
            module,
            entries,
            files,
            file: 0,
            folder: files.first().map_or(String::new(), |(name, _)| folder(name).to_owned()),
            uses,
            graphs,
            errors: Vec::new(),
            passed,
            hosts: Vec::new(),
            portals: Vec::new(),
            depth: 0,
            leading: Leading::new(module, entries),
            found: Vec::new(),
            found_hosts: Vec::new(),
        }
    }

    /// The number of the file that it is at: after an error, that of the error.
    pub fn file(&self) -> usize {
        usize::from(self.file)
    }

    /// The host functions found, and the portals with a second form, for the definition of the interpreter.
    pub fn shims(self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        (self.hosts, self.portals)
    }

    /// Changes the items of a module, whose names begin with `prefix` in graphs, and which lies `depth` modules deep.
    ///
    /// # Errors
    /// If an entry can't be called from Rust.
    pub fn items(&mut self, items: &mut Vec<Item>, prefix: &str, depth: usize) -> syn::Result<()> {
        let outer = (std::mem::take(&mut self.found), std::mem::take(&mut self.found_hosts));
        self.depth = depth;
        for mut item in std::mem::take(items) {
            let mut behind = TokenStream::new();
            match &mut item {
                item if is_test(item) => {}
                Item::Mod(module) => {
                    let (file, folder) = (self.file, self.folder.clone());
                    if module.content.is_none() {
                        let items = self.module_file(module)?;
                        module.semi = None;
                        module.content = Some((syn::token::Brace::default(), items));
                    }
                    self.folder = format!("{folder}{}/", ident_text(&module.ident));
                    if let Some((_, items)) = &mut module.content {
                        self.items(items, &format!("{prefix}{}::", ident_text(&module.ident)), depth + 1)?;
                    }
                    (self.file, self.folder, self.depth) = (file, folder, depth);
                }
                Item::Struct(s) => {
                    let key = format!("{prefix}{}", ident_text(&s.ident));
                    behind = layout::structure(self.module, &key, s, self.passed.contains(&key));
                }
                Item::Enum(e) => {
                    let key = format!("{prefix}{}", ident_text(&e.ident));
                    behind = layout::enumeration(self.module, &key, e, self.passed.contains(&key));
                }
                Item::Impl(i) => self.methods(i),
                Item::Fn(f) => {
                    behind = self.second(&f.block, &f.sig, &f.vis).to_token_stream();
                    self.function(&mut f.block, &f.sig, &f.attrs, &f.vis, None);
                }
                _ => {}
            }
            items.push(item);
            items.push(Item::Verbatim(behind));
        }
        if let Some((file, error)) = self.errors.pop() {
            self.file = file;
            return Err(error);
        }
        let found = std::mem::replace(&mut self.found, outer.0);
        let found_hosts = std::mem::replace(&mut self.found_hosts, outer.1);
        items.push(Item::Verbatim(entries::modules(self.module, &found, &self.leading, depth)?));
        let path: TokenStream = prefix.parse().unwrap_or_default();
        for entry in found {
            let Some(shim) = entry.shim(self.module, &self.leading) else { continue };
            let (name, function) = (&shim.name, &entry.graph.function);
            self.portals.push(quote! { ::hueshift::embed::PortalFunction { function: #function, call: #path #name } });
            items.push(Item::Verbatim(shim.tokens));
        }
        for host in found_hosts {
            entries::refuse_options(self.module, &host.graph.signature, &host.sig)?;
            let shim = host.shim(self.module);
            let name = &shim.name;
            let function = &host.graph.function;
            self.hosts.push(quote! { ::hueshift::embed::HostFunction::of::<#path #name>(#function) });
            items.push(Item::Verbatim(shim.tokens));
        }
        Ok(())
    }

    /// What is in the file of a module. From here on that file is gone through.
    fn module_file(&mut self, module: &mut syn::ItemMod) -> syn::Result<Vec<Item>> {
        let name = ident_text(&module.ident);
        let names = [format!("{}{name}.rs", self.folder), format!("{}{name}/mod.rs", self.folder)];
        let Some(given) = self.files.iter().position(|(file, _)| names.iter().any(|n| n == file)) else {
            let message =
                format!("the module `{name}` is in another file: an interpreter of several is for `interpreter_file!`");
            return Err(syn::Error::new(module.ident.span(), message));
        };
        self.file = given as u16;
        let file = parse_file(self.files[given].1)?;
        module.attrs.extend(file.attrs.into_iter().map(|mut attribute| {
            attribute.style = syn::AttrStyle::Outer;
            attribute
        }));
        Ok(file.items)
    }

    fn place(&self, span: Span) -> Place {
        let start = span.start();
        (self.file, start.line, start.column)
    }

    /// The text of the file that is gone through.
    fn text(&self) -> &str {
        let file = self.module.files.get(usize::from(self.file));
        file.and_then(|file| file.text.as_deref()).unwrap_or_default()
    }

    fn methods(&mut self, item: &mut syn::ItemImpl) {
        let own = Own { ty: (*item.self_ty).clone(), lifetimes: item.generics.params.iter().cloned().collect() };
        let mut seconds = Vec::new();
        for item in &mut item.items {
            if let syn::ImplItem::Fn(f) = item
                && !f.attrs.iter().any(is_test_attribute)
            {
                seconds.extend(self.second(&f.block, &f.sig, &f.vis));
                self.function(&mut f.block, &f.sig, &f.attrs, &f.vis, Some(&own));
            }
        }
        item.items.extend(seconds.into_iter().map(syn::ImplItem::Verbatim));
    }

    fn function(
        &mut self,
        block: &mut syn::Block,
        sig: &syn::Signature,
        attrs: &[Attribute],
        vis: &syn::Visibility,
        own: Option<&Own>,
    ) {
        let self_ty = own.map(|own| own.ty.clone());
        let graph = self.graphs.get(&self.place(sig.ident.span())).copied();
        if let Some((graph, _)) = graph {
            if let Some(entry) = self.entries.iter().find(|e| e.function == graph.function) {
                let (mut sig, vis, self_ty) = (sig.clone(), vis.clone(), self_ty.clone());
                sig.generics.params.extend(own.iter().flat_map(|own| own.lifetimes.clone()));
                self.found.push(EntryFunction { graph, entry, sig, vis, self_ty });
            }
            if graph.blocks.is_empty() {
                self.found_hosts.push(Host { graph, sig: sig.clone(), self_ty });
            }
        }
        if attrs.iter().any(|a| a.path().segments.last().is_some_and(|s| s.ident == "dont_look_inside")) {
            // Any Rust: it means what it means.
            return;
        }
        self.rewrite(block, sig, graph.is_some_and(|(_, checked)| checked));
    }

    /// Changes a function's body.
    fn rewrite(&mut self, block: &mut syn::Block, sig: &syn::Signature, checked: bool) {
        self.visit_block_mut(block);
        if checked {
            // With the place that the trap has in graphs.
            let at = sig.ident.span();
            block.stmts.insert(0, syn::parse_quote_spanned!(at=> ::hueshift::tier0::check_stack();));
        }
    }
}

/// The text from one place to another, with single spaces.
fn text_between(text: &str, from: LineColumn, to: LineColumn) -> String {
    let (from, to) = ((from.line, from.column), (to.line, to.column));
    let mut out = String::new();
    for (i, line) in text.lines().enumerate().take(to.0).skip(from.0.saturating_sub(1)) {
        let start = if i + 1 == from.0 { from.1 } else { 0 };
        let end = if i + 1 == to.0 { to.1 } else { usize::MAX };
        out.extend(line.chars().take(end).skip(start));
        out.push(' ');
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The folder of a file's name with the `/` behind it, or nothing.
fn folder(name: &str) -> &str {
    &name[..name.rfind(['/', '\\']).map_or(0, |at| at + 1)]
}

/// A name without `r#`.
fn ident_text(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

fn is_test_attribute(attribute: &Attribute) -> bool {
    let path = attribute.path();
    path.is_ident("test")
        || (path.is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test"))
}

/// Whether an item is there for tests only: the front end doesn't see it.
fn is_test(item: &Item) -> bool {
    let attrs = match item {
        Item::Fn(f) => &f.attrs,
        Item::Mod(m) => &m.attrs,
        _ => return false,
    };
    attrs.iter().any(is_test_attribute)
}
