//! The front end: lifts Rust source in the dialect into flow graphs.
//!
//! ```text
//! text ── collect ──▶ items ── check ──▶ typed trees ── lower ──▶ ir::Module
//! ```
//!
//! `collect` parses the files and finds their items; `check` infers types and resolves names, methods and coercions;
//! `lower` builds graphs in SSA form on the fly. What isn't in the dialect is refused with its place, the reason and a
//! way out, and all refusals of the files are reported at once. The file is assumed to be one that rustc accepts:
//! borrows aren't checked, and of types only what lowering needs, but what can't be lifted faithfully is refused, never
//! guessed.
//!
//! ```
//! let text = "pub fn twice(x: i64) -> i64 { x + x }";
//! let module = flowgraph::frontend::lift(&[("twice.rs", text)]).unwrap();
//! assert_eq!(module.graphs["twice"].blocks.len(), 1);
//!
//! let refused = flowgraph::frontend::lift(&[("no.rs", "fn f() { let g = |x| x; }")]).unwrap_err();
//! assert!(refused.to_string().starts_with("no.rs:1:18: closures are not supported"));
//! ```

mod brackets;
mod check;
mod collect;
mod conditional;
mod consts;
mod enums;
mod extent;
mod files;
mod finish;
mod host;
mod infer;
mod items;
mod lower;
mod numbers;
mod quasi;
mod recorded;
mod refusal;
mod signature;
mod ssa;
mod tree;
mod types;
mod uses;
mod written;

pub use collect::without_shebang;
pub use files::{File, MAX_FILES, collect_files, read_files};
pub use refusal::{Reason, Refusal, Refused};
pub use uses::{Lifted, Use, Used};

use crate::ir::{FileId, Imm, Loc, Module, SourceFile, Stage};
use crate::verify::{self, Rule, assert_sound};
use check::Checker;
use items::Program;
use lower::Lowerer;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What parsing and checking recurse over is bounded; this is room enough for the bound.
const STACK: usize = 512 << 20;

/// Lifts files, given as name and text. The first is the root; the others are those of its modules, and of theirs: see
/// [`collect_files`].
///
/// # Errors
/// Everything in the files that isn't in the dialect, in source order.
pub fn lift(files: &[(&str, &str)]) -> Result<Module, Refused> {
    on_large_stack(|| lift_here(files, None, false).map(|lifted| lifted.module))
}

/// Lifts files that are compiled by rustc as well, and tells what operators and number methods are used on. The bodies
/// of `#[dont_look_inside]` functions are rustc's alone, and may be any Rust: they become host functions
/// ([`crate::host`]).
///
/// # Errors
/// As for [`lift`].
pub fn lift_embedded(files: &[(&str, &str)]) -> Result<Lifted, Refused> {
    on_large_stack(|| lift_here(files, None, true))
}

/// Lifts what the function `entry` can reach. What other functions use of the dialect that isn't supported *yet* is
/// passed over; what is outside of the dialect is refused wherever it is.
///
/// # Errors
/// As for [`lift`]; also if there is no such function.
pub fn lift_for(files: &[(&str, &str)], entry: &str) -> Result<Module, Refused> {
    on_large_stack(|| lift_here(files, Some(entry), false).map(|lifted| lifted.module))
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let mut work = Some(work);
        let run = std::thread::Builder::new().name("lift".to_owned()).stack_size(STACK);
        let work = work.take().unwrap_or_else(|| unreachable!("set above"));
        match run.spawn_scoped(scope, work) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => unreachable!("the operating system gives no thread: {error}"),
        }
    })
}

fn lift_here(files: &[(&str, &str)], entry: Option<&str>, embedded: bool) -> Result<Lifted, Refused> {
    let texts: Vec<(String, Arc<str>)> =
        files.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text))).collect();
    let mut parsed = Vec::new();
    let mut refusals = Vec::new();
    for (i, (name, text)) in texts.iter().enumerate() {
        let file = FileId(u16::try_from(i).unwrap_or(u16::MAX));
        match collect::parse(name, text, file) {
            Ok(syntax) => parsed.push((file, syntax)),
            Err(more) => refusals.extend(more),
        }
    }
    if let Some((name, text)) = texts.get(MAX_FILES) {
        let loc = Loc { line: 1, column: 1, file: FileId(u16::MAX) };
        let detail = format!("more than {MAX_FILES} files");
        refusals.push(Refusal::new(name, text, loc, 1, Reason::ModuleFile, &detail));
    }
    if !refusals.is_empty() {
        return Err(Refused { refusals });
    }
    let mut program = Program::new(texts);
    program.embedded = embedded;
    program.collect(&parsed);
    program.run();
    let sources = program.texts.iter().map(|(name, text)| SourceFile { name: name.clone(), text: Some(text.clone()) });
    let sources = sources.collect();
    let uses = program.uses.take();
    program.finish(sources, entry).map(|module| Lifted { module, uses })
}

impl Program<'_> {
    /// Checks and lowers everything.
    fn run(&self) {
        let mut names: Vec<_> =
            self.structs.iter().map(|(name, s)| (s.item.ident.span().start().line, name.clone())).collect();
        names.sort();
        names.iter().for_each(|(_, name)| drop(self.field_types(name)));
        let mut names: Vec<_> =
            self.enums.iter().map(|(name, e)| (e.item.ident.span().start().line, name.clone())).collect();
        names.sort();
        names.iter().for_each(|(_, name)| self.check_enum(name));
        (0..self.aliases.len()).for_each(|id| drop(self.resolve_alias(id)));
        self.check_imports();
        for f in 0..self.functions.len() {
            self.resolve_signature(f);
        }
        let consts = self.consts.borrow().len();
        (0..consts).for_each(|id| drop(self.const_value(id)));
        self.find_recorded();
        let mut bodies = Vec::new();
        for (id, f) in self.functions.iter().enumerate() {
            *self.function.borrow_mut() = Some(f.path.to_string());
            let before = self.refusals.borrow().len();
            let Some(types) = self.fn_types(id) else {
                if f.sig.generics.type_params().next().is_none() {
                    self.check_refused_body(f);
                }
                continue;
            };
            let attributes = self.fn_attributes(f, &types);
            if self.embedded && attributes.dont_look_inside {
                self.add_own_host(f, &types, attributes);
                continue;
            }
            let decision = self.decision(f, &types);
            let body = Checker::function(self, f, &types);
            if self.refusals.borrow().len() == before && !body.failed {
                bodies.push((f, types, attributes, body, decision));
            }
        }
        for (f, types, attributes, body, decision) in bodies {
            *self.function.borrow_mut() = Some(f.path.to_string());
            let is_portal = attributes.portal.is_some();
            if let Some(graph) = Lowerer::function(self, f, &types, body, attributes) {
                if is_portal {
                    lower::check_contract(self, &graph, self.fn_pos(f));
                }
                if let Some(decision) = decision {
                    self.decider(f, &types, decision, &graph);
                }
                self.module.borrow_mut().graphs.insert(f.path.to_string(), graph);
            }
        }
        *self.function.borrow_mut() = None;
        self.check_elidable();
        self.add_hosts();
        self.add_quasi_functions();
        self.widen_classes();
    }

    /// What a reference into an enum's payload leads to has another class than the enum, and what one to a field leads
    /// to that a pattern binds, than that field: then the accesses of the enum, or of the field, are of the class that
    /// may be part of anything.
    fn widen_classes(&self) {
        let (referenced, fields) = (self.referenced_payloads.borrow(), self.bound_fields.borrow());
        if referenced.is_empty() && fields.is_empty() {
            return;
        }
        let mut module = self.module.borrow_mut();
        let ops = module.graphs.values_mut().flat_map(|g| &mut g.blocks).flat_map(|b| &mut b.ops);
        for op in ops {
            if let Imm::Mem(desc) = &mut op.imm
                && (referenced.contains(&*desc.class)
                    || fields.iter().any(|(class, field)| **class == *desc.class && **field == *desc.field))
            {
                Arc::make_mut(desc).class = crate::ir::MemDesc::ANY.into();
            }
        }
    }

    /// Refuses types that are too large to be handed over or to lie in memory.
    fn check_extents(&self) {
        let found = verify::declarations(&self.module.borrow());
        for (violation, ty) in
            found.iter().filter_map(|v| if let Rule::TooLarge(ty) = &v.rule { Some((v, ty)) } else { None })
        {
            let detail = format!("the type {ty} is too large");
            let function = self.functions.iter().find(|f| violation.item.strip_prefix("graph ") == Some(&*f.path));
            let of_struct = violation.item.strip_prefix("struct ").and_then(|name| self.structs.get(name));
            if let Some(f) = function {
                self.refuse_at(self.fn_pos(f), Reason::LargeValue, &detail);
            } else if let Some(s) = of_struct {
                self.refuse(self.file_of(s.module), s.item.ident.span(), Reason::LargeValue, &detail);
            }
        }
    }

    fn finish(self, files: Vec<SourceFile>, entry: Option<&str>) -> Result<Module, Refused> {
        self.check_extents();
        let mut refusals = self.refusals.take();
        let mut module = self.module.take();
        module.stage = Stage::Flow;
        module.files = files;
        if let Some(entry) = entry {
            let known: Vec<&str> = self.functions.iter().map(|f| &*f.path).collect();
            if known.contains(&entry) {
                self.drop_unreached(&mut refusals, &mut module, entry);
            } else {
                let (name, text) = self.texts.first().cloned().unwrap_or_else(|| (String::new(), Arc::from("")));
                let loc = Loc { line: 1, column: 1, ..Loc::default() };
                refusals.push(Refusal::new(&name, &text, loc, 1, Reason::Entry, &format!("`{entry}`")));
            }
            module.entry = Some(entry.to_owned());
        }
        if refusals.iter().any(|r| !r.echo) {
            refusals.retain(|r| !r.echo);
        }
        if refusals.is_empty() {
            assert_sound(&module, "lifting");
            return Ok(module);
        }
        refusals.sort_by_key(|r| r.loc);
        Err(Refused { refusals })
    }

    /// Drops the refusals of functions that `entry` can't reach and that use what isn't supported yet, and those of
    /// types that nothing reached uses.
    fn drop_unreached(&self, refusals: &mut Vec<Refusal>, module: &mut Module, entry: &str) {
        let calls = self.calls.borrow();
        let mut reached: FxHashSet<&str> = [entry].into_iter().collect();
        let mut work = vec![entry];
        while let Some(f) = work.pop() {
            for callee in calls.get(f).into_iter().flatten() {
                if reached.insert(callee) {
                    work.push(callee);
                }
            }
        }
        let later: FxHashSet<String> =
            refusals.iter().filter(|r| r.reason == Reason::NotYet).filter_map(|r| r.function.clone()).collect();
        refusals.retain(|r| match &r.function {
            Some(f) => reached.contains(f.as_str()) || !later.contains(f),
            None => r.reason != Reason::NotYet,
        });
        if refusals.is_empty() {
            module.graphs.retain(|key, _| reached.contains(key.as_str()));
        }
    }
}
