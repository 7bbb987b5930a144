//! Functions from which a portal is reached, a second time: with a `Jit` that they hand on.
//!
//! ```text
//! fn run(code: &[u8], mut pc: usize, cpu: &mut Cpu) -> u64 { loop { merge_point!(); … } }
//!
//! fn __hueshift_second_run<'p>(code: &'p [u8], mut pc: usize, cpu: &mut Cpu, jit: &mut Jit<'p>) -> u64 {
//!     let (mut jumped, mut begins) = (true, true);
//!     'arrival: loop {
//!         if take(&mut jumped) && jit.arrives() && jit.is_hot(hash of code and pc, &mut begins) {
//!             match jit.enter(|| words of code, pc and cpu) { At(words) => pc = …, Returned(words) => return … }
//!         }
//!         loop {
//!             'step: { … }
//!             if jumped {
//!                 continue 'arrival;
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! The inner loop is the interpreter's, in which nothing is counted: what the guest does between two jumps back costs
//! what it costs in the first form, since each of its ways knows whether it jumps. Where the language doesn't say where
//! the guest jumps back, or the merge point is no loop's head, it stays where it is, and is tested each time.
//!
//! What becomes a green of a portal is lent for as long as compiled code may depend on it, `'p`. The functions
//! themselves stay as they are: who calls them gets tier 0, and nothing else.

mod steps;

use super::{Rewriter, ident_text};
use crate::expand::Entry;
use crate::values;
use flowgraph::ir::{Graph, Module, Opcode, Operand, RustType, ValueId};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::{HashMap, HashSet};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, FnArg, Pat, Signature, Stmt, Visibility};

/// Functions from which a portal is reached.
pub struct Leading {
    /// Where the language says that the guest jumps back.
    jumps: Jumps,
    /// By function: which of its parameters become greens of a portal.
    lent: HashMap<String, HashSet<usize>>,
    /// The callees of calls of them, by place.
    calls: HashMap<super::Place, String>,
}

/// Where a language says that the guest jumps back (`can_enter_jit!()`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Jumps {
    /// Nowhere, or in functions that don't lead to a portal: each merge point counts.
    Unsaid,
    /// In portals alone, where a local variable tells of it.
    InPortals,
    /// In other functions, too, which tell the `Jit`.
    Elsewhere,
}

impl Jumps {
    /// Of a lifted module, with what is `lent` by its functions that have a second form.
    fn of(module: &Module, lent: &HashMap<String, HashSet<usize>>) -> Jumps {
        let jumps = |graph: &&Graph| {
            graph.blocks.iter().flat_map(|block| &block.ops).any(|op| op.opcode == Opcode::CanEnterJit)
        };
        let jumping: Vec<&Graph> = module.graphs.values().filter(jumps).collect();
        match &jumping[..] {
            [] => Jumps::Unsaid,
            // One that has no second form can't tell of it.
            all if !all.iter().all(|graph| lent.contains_key(&graph.function)) => Jumps::Unsaid,
            all if all.iter().all(|graph| graph.attributes.portal.is_some()) => Jumps::InPortals,
            _ => Jumps::Elsewhere,
        }
    }
}

/// The name of the second form of a function.
pub fn second_name(name: &Ident) -> Ident {
    format_ident!("__hueshift_second_{}", ident_text(name), span = name.span())
}

impl Leading {
    /// Of a lifted module, whose portals are among the entries.
    pub fn new(module: &Module, entries: &[Entry]) -> Leading {
        let mut lent: HashMap<String, HashSet<usize>> = HashMap::new();
        for graph in module.graphs.values().filter(|g| g.attributes.portal.is_some() && can_lead(module, g)) {
            let greens =
                entries.iter().find(|e| e.function == graph.function).map(|e| e.greens.iter().copied().collect());
            lent.insert(graph.function.clone(), greens.unwrap_or_default());
        }
        loop {
            let mut grown = false;
            for graph in module.graphs.values().filter(|g| can_lead(module, g)) {
                if let Some(now) = lent_parameters(module, graph, &lent) {
                    let before = lent.get(&graph.function).map(HashSet::len);
                    let all = lent.entry(graph.function.clone()).or_default();
                    all.extend(now);
                    grown |= before != Some(all.len());
                }
            }
            if !grown {
                break;
            }
        }
        let mut calls = HashMap::new();
        for op in module.graphs.values().flat_map(|g| &g.blocks).flat_map(|b| &b.ops) {
            if let Some(callee) = op.callee().filter(|callee| lent.contains_key(&*callee.name)) {
                let at = (op.loc.file.0, op.loc.line as usize, (op.loc.column as usize).saturating_sub(1));
                calls.insert(at, callee.name.to_string());
            }
        }
        Leading { jumps: Jumps::of(module, &lent), lent, calls }
    }

    /// Whether a portal is reached from a function.
    pub fn leads(&self, function: &str) -> bool {
        self.lent.contains_key(function)
    }

    /// The parameters of a function that become greens of a portal.
    pub fn lent(&self, function: &str) -> impl Iterator<Item = usize> + '_ {
        self.lent.get(function).into_iter().flatten().copied()
    }
}

/// Whether a function can have a second form: its text is rewritten, and no lifetime of its result would change.
fn can_lead(module: &Module, graph: &Graph) -> bool {
    !graph.is_host() && !graph.attributes.dont_look_inside && !module.has_reference(&graph.signature.result)
}

/// The parameters of a function that it hands on as greens of portals, directly or not; none if it doesn't lead to one.
fn lent_parameters(module: &Module, graph: &Graph, lent: &HashMap<String, HashSet<usize>>) -> Option<HashSet<usize>> {
    let mut sources: Vec<ValueId> = Vec::new();
    let mut leads = false;
    for op in graph.blocks.iter().flat_map(|b| &b.ops) {
        let Some((callee, greens)) = op.callee().and_then(|c| Some((c, lent.get(&*c.name)?))) else { continue };
        leads = true;
        let Some(callee) = module.graphs.get(&*callee.name) else { continue };
        let mut at = 0;
        for (i, param) in callee.signature.params.iter().enumerate() {
            for leaf in module.leaves(&param.ty) {
                if greens.contains(&i) && leaf.reference.is_some() {
                    sources.extend(op.args.get(at).and_then(|arg| arg.value()));
                }
                at += 1;
            }
        }
    }
    leads.then(|| parameters_of(module, graph, sources))
}

/// The parameters, but for `&mut` ones, from which values are computed.
fn parameters_of(module: &Module, graph: &Graph, mut sources: Vec<ValueId>) -> HashSet<usize> {
    let mut seen: HashSet<ValueId> = sources.iter().copied().collect();
    while let Some(value) = sources.pop() {
        let mut found: Vec<Operand> = Vec::new();
        for (at, block) in graph.blocks.iter().enumerate() {
            for op in block.ops.iter().filter(|op| op.results.contains(&value)) {
                // What is loaded is borrowed for as long as what it is loaded from.
                let operands =
                    if op.opcode == Opcode::IntAdd { &op.args[..] } else { &op.args[..op.args.len().min(1)] };
                found.extend(operands);
            }
            if let Some(position) = block.params.iter().position(|p| *p == value) {
                let edges = graph.edges().filter(|e| e.block.index() == at);
                found.extend(edges.filter_map(|e| e.args.get(position)));
            }
        }
        sources.extend(found.iter().filter_map(|o| o.value()).filter(|v| seen.insert(*v)));
    }
    let mut at = 0;
    let mut parameters = HashSet::new();
    for (i, param) in graph.signature.params.iter().enumerate() {
        let leaves = module.leaves(&param.ty).len();
        let own = graph.entry_params().iter().skip(at).take(leaves);
        if !param.ty.has_exclusive() && own.into_iter().any(|v| seen.contains(v)) {
            parameters.insert(i);
        }
        at += leaves;
    }
    parameters
}

/// The second form's last parameter.
fn hidden() -> Ident {
    Ident::new("__hueshift_jit", Span::call_site())
}

impl Rewriter<'_> {
    /// The second form of a function, whose block has not been rewritten yet; nothing if no portal is reached from it.
    pub(super) fn second(&mut self, block: &syn::Block, sig: &Signature, vis: &Visibility) -> Option<TokenStream> {
        let (graph, checked) = self.graphs.get(&self.place(sig.ident.span())).copied()?;
        if !self.leading.leads(&graph.function) {
            return None;
        }
        let lifetime = syn::Lifetime::new("'__hueshift_p", Span::call_site());
        let (mut sig, mut block) = (sig.clone(), block.clone());
        let merge_point = graph.attributes.portal.as_ref().map(|_| self.merge_point(graph, &sig));
        for i in self.leading.lent(&graph.function) {
            if let Some(input) = sig.inputs.iter_mut().nth(i) {
                lend(input, &lifetime);
            }
        }
        for input in &mut sig.inputs {
            if merge_point.is_some() {
                make_mutable(input);
            }
        }
        if merge_point.is_some() && self.leading.jumps != Jumps::Unsaid {
            steps::split(&mut block, &self.jumped_there());
        }
        Second { rewriter: self, merge_point }.visit_block_mut(&mut block);
        self.rewrite(&mut block, &sig, checked);
        let (name, jit) = (second_name(&sig.ident), hidden());
        if graph.attributes.portal.is_some() && self.leading.jumps != Jumps::Unsaid {
            // What a guest calls often is as worth compiling as what it jumps back to.
            let jumped = hidden_jumped();
            block.stmts.insert(0, syn::parse_quote! { let mut #jumped = true; });
        }
        if graph.attributes.portal.is_some() {
            let begins = hidden_begins();
            block.stmts.insert(0, syn::parse_quote! { let mut #begins = true; });
        }
        let generics = sig.generics.params.iter();
        let (inputs, output, bounds) = (sig.inputs.iter(), &sig.output, &sig.generics.where_clause);
        Some(quote! {
            #[doc(hidden)]
            #[allow(dead_code, unused_mut, unused_assignments, unused_variables, unreachable_code, clippy::all)]
            #vis fn #name<#lifetime, #(#generics),*>(
                #(#inputs,)* #jit: &mut ::hueshift::embed::Jit<#lifetime>
            ) #output #bounds #block
        })
    }

    /// Whether the guest has jumped back, asked at the end of a step.
    fn jumped_there(&self) -> TokenStream {
        let (jumped, jit) = (hidden_jumped(), hidden());
        match self.leading.jumps {
            // It is left for the merge point to take.
            Jumps::Elsewhere => quote!({ #jumped |= #jit.has_jumped(); #jumped }),
            _ => quote!(#jumped),
        }
    }

    /// What stands for a portal's merge point.
    fn merge_point(&self, graph: &Graph, sig: &Signature) -> TokenStream {
        let jit = hidden();
        let entry = self.entries.iter().position(|e| e.function == graph.function).unwrap_or_default();
        let greens = self.entries.get(entry).map_or(&[][..], |e| &e.greens);
        let (words, reader) = (Ident::new("__hueshift_words", Span::call_site()), hidden_reader());
        let (mut hash, mut lent, mut given) = (quote!(#entry as u64), Vec::new(), Vec::new());
        let (mut taken, mut passed) = (Vec::new(), Vec::new());
        for (i, (param, input)) in graph.signature.params.iter().zip(&sig.inputs).enumerate() {
            let (name, by_reference, may_change) = match input {
                FnArg::Receiver(r) => (quote!(self), r.reference.is_some(), r.reference.is_none()),
                FnArg::Typed(t) => {
                    let Pat::Ident(pattern) = &*t.pat else { continue };
                    let by_reference = matches!(*t.ty, syn::Type::Reference(_));
                    let name = pattern.ident.to_token_stream();
                    // What isn't `mut` is what it was, and so is its share of the hash: that is computed before the
                    // loop. A `&mut` under a name of its own has been moved.
                    let stays = by_reference || has_hash(&param.ty) && !param.ty.has_exclusive();
                    let is_fixed = pattern.mutability.is_none() && stays;
                    (name, by_reference, !is_fixed)
                }
            };
            if greens.contains(&i) {
                lent.push(quote! { #jit.lends(&#name); });
                if has_hash(&param.ty) {
                    hash = quote! { ::hueshift::embed::Green::mix(&#name, #hash) };
                }
            }
            let value = match &param.ty {
                ty if by_reference && ty.has_exclusive() => quote!(&mut *#name),
                _ => quote!(#name),
            };
            let own = format_ident!("__hueshift_argument_{i}", span = Span::call_site());
            taken.push(quote! { let #own = #value; });
            passed.push(values::pass(self.module, &param.ty, &own.to_token_stream(), &quote!(&mut #words)));
            let leaves = self.module.leaves(&param.ty).len();
            given.push(if may_change {
                let value = values::give(self.module, &param.ty, &reader);
                quote! { #name = #value; }
            } else {
                quote! { #reader.skip(#leaves); }
            });
        }
        let result = values::give(self.module, &graph.signature.result, &reader);
        let count: usize = graph.signature.params.iter().map(|param| self.module.leaves(&param.ty).len()).sum();
        let (jumped, begins) = (hidden_jumped(), hidden_begins());
        let counts = match self.leading.jumps {
            Jumps::Unsaid => quote!(true),
            Jumps::InPortals => quote!(::std::mem::take(&mut #jumped)),
            Jumps::Elsewhere => quote!(::std::mem::take(&mut #jumped) | #jit.has_jumped()),
        };
        quote! {{
            #(#lent)*
            if #counts && #jit.arrives() {
                let __hueshift_hash = #hash;
                if #jit.is_hot(__hueshift_hash, &mut #begins) {
                    #(#taken)*
                    let __hueshift_arguments = move || {
                        let mut #words = ::std::vec::Vec::with_capacity(#count);
                        #(#passed)*
                        #words
                    };
                    match #jit.enter(#entry, __hueshift_hash, __hueshift_arguments) {
                        ::hueshift::embed::Entered::Returned(mut #reader) => {
                            let _ = &mut #reader;
                            return #result;
                        }
                        ::hueshift::embed::Entered::At(mut #reader) => { #(#given)* }
                    }
                }
            }
        }}
    }
}

/// The variable of a portal that says whether it has just begun, or the guest has jumped back.
fn hidden_jumped() -> Ident {
    Ident::new("__hueshift_jumped", Span::call_site())
}

/// The variable of a portal that says whether it hasn't come to where there may be code.
fn hidden_begins() -> Ident {
    Ident::new("__hueshift_begins", Span::call_site())
}

fn hidden_reader() -> Ident {
    Ident::new("__hueshift_reader", Span::call_site())
}

/// Whether the library knows how to mix a value of this type into a hash; others share counters.
fn has_hash(ty: &RustType) -> bool {
    match ty {
        RustType::Scalar(s) => !s.is_float(),
        RustType::Ref { .. } | RustType::Slice { .. } | RustType::Str => true,
        _ => false,
    }
}

/// Lets a parameter that is handed over by value come back from compiled code.
fn make_mutable(input: &mut FnArg) {
    match input {
        FnArg::Receiver(r) if r.reference.is_none() => drop(r.mutability.get_or_insert_with(Default::default)),
        FnArg::Typed(t) if !matches!(*t.ty, syn::Type::Reference(_)) => {
            if let Pat::Ident(p) = &mut *t.pat {
                p.mutability.get_or_insert_with(Default::default);
            }
        }
        FnArg::Receiver(_) | FnArg::Typed(_) => {}
    }
}

/// Gives a parameter's references the lifetime of what is lent.
fn lend(input: &mut FnArg, lifetime: &syn::Lifetime) {
    match input {
        FnArg::Receiver(receiver) => {
            if let Some((_, own)) = &mut receiver.reference {
                *own = Some(lifetime.clone());
            }
        }
        FnArg::Typed(t) => crate::entries::Lent(lifetime).visit_type_mut(&mut t.ty),
    }
}

/// Makes a function's body that of its second form.
struct Second<'r, 'a> {
    rewriter: &'r Rewriter<'a>,
    merge_point: Option<TokenStream>,
}

impl Second<'_, '_> {
    /// The callee of a call at one of these places, if a portal is reached from it.
    fn callee(&self, at: &[Span]) -> Option<&str> {
        let calls = &self.rewriter.leading.calls;
        at.iter().find_map(|span| calls.get(&self.rewriter.place(*span))).map(String::as_str)
    }

    fn replacement(&self, mac: &syn::Macro) -> Option<TokenStream> {
        let jit = hidden();
        match mac.path.segments.last()?.ident.to_string().as_str() {
            "merge_point" => self.merge_point.clone(),
            // Nobody asks where the guest jumps.
            "can_enter_jit" if self.rewriter.leading.jumps == Jumps::Unsaid => None,
            "can_enter_jit" if self.merge_point.is_some() => {
                let jumped = hidden_jumped();
                Some(quote! { #jumped = true })
            }
            "can_enter_jit" => Some(quote! { #jit.jump() }),
            _ => None,
        }
    }
}

impl VisitMut for Second<'_, '_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(mac) = stmt
            && let Some(tokens) = self.replacement(&mac.mac)
        {
            *stmt = Stmt::Expr(Expr::Verbatim(tokens), Some(Default::default()));
            return;
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let jit = hidden();
        match expr {
            Expr::Macro(mac) => {
                if let Some(tokens) = self.replacement(&mac.mac) {
                    *expr = Expr::Verbatim(tokens);
                }
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &mut *call.func else { return };
                let Some(name) = path.path.segments.last().map(|s| s.ident.clone()) else { return };
                let start = path.path.segments.first().map_or(name.span(), |s| s.ident.span());
                let Some(callee) = self.callee(&[start, name.span()]) else { return };
                if callee.rsplit("::").next() != Some(&ident_text(&name)) {
                    return;
                }
                path.path = self.path_of(callee, &path.path, &name);
                call.args.push(syn::parse_quote!(&mut *#jit));
            }
            Expr::MethodCall(call) => {
                let start = first_span(&call.receiver);
                let Some(callee) = self.callee(&[call.method.span(), start]) else { return };
                if callee.rsplit("::").next() != Some(&ident_text(&call.method)) {
                    return;
                }
                call.method = second_name(&call.method);
                call.args.push(syn::parse_quote!(&mut *#jit));
            }
            _ => {}
        }
    }
}

impl Second<'_, '_> {
    /// The path of the second form. A function may have been brought here by a `use`, which its second form hasn't: so
    /// it is named from the interpreter's own module on. A type's is named as the function is.
    fn path_of(&self, callee: &str, path: &syn::Path, name: &Ident) -> syn::Path {
        let module = self.rewriter.module;
        let owner = callee.rsplit_once("::").map_or("", |(owner, _)| owner);
        let mut path = path.clone();
        if module.structs.contains_key(owner) || module.enums.contains_key(owner) {
            if let Some(last) = path.segments.last_mut() {
                last.ident = second_name(name);
            }
            return path;
        }
        let up = std::iter::repeat_n(quote!(super::), self.rewriter.depth);
        let modules = owner.split("::").filter(|part| !part.is_empty()).map(|part| {
            let part = Ident::new_raw(part, Span::call_site());
            quote!(#part::)
        });
        let second = second_name(name);
        let lead = if self.rewriter.depth == 0 { quote!(self::) } else { TokenStream::new() };
        syn::parse_quote!(#lead #(#up)* #(#modules)* #second)
    }
}

/// Where an expression begins.
fn first_span(expr: &Expr) -> Span {
    expr.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}
