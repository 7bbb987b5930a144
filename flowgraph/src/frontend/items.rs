//! The items of the files: modules, what names mean in them, structs, enums, constants, functions.

use super::enums::{EnumItem, Shape};
use super::numbers;
use super::recorded::Follows;
use super::refusal::{Pos, Reason, Refusal};
use super::tree::ConstId;
use super::types::{Ty, rust_type};
use super::written::Site;
use crate::ir::{Const, EnumDecl, FileId, Module, Scalar, StructDecl};
use proc_macro2::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use syn::spanned::Spanned;

pub(super) type ModuleId = usize;

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Module(ModuleId),
    Struct(Rc<str>),
    Enum(Rc<str>),
    Alias(usize),
    Function(usize),
    Const(ConstId),
    Variant(Rc<str>, usize),
    /// Something of the prelude, by name.
    Prelude(Rc<str>),
}

/// A type's namespace, or a value's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Type,
    Value,
}

#[derive(Default)]
pub(super) struct ModuleScope {
    /// `a::b::` or empty.
    pub(super) prefix: String,
    /// The folder of the files of its modules, with a `/` behind it.
    pub(super) folder: String,
    pub(super) parent: Option<ModuleId>,
    pub(super) file: FileId,
    pub(super) names: FxHashMap<(Space, String), Item>,
    /// Names imported: the path, from here.
    pub(super) imports: FxHashMap<String, Vec<String>>,
    /// Paths imported with `*`.
    pub(super) globs: Vec<Vec<String>>,
}

pub(super) struct StructItem<'s> {
    pub(super) item: &'s syn::ItemStruct,
    pub(super) module: ModuleId,
    pub(super) comparable: bool,
    pub(super) fields: RefCell<Progress<Vec<Ty>>>,
}

pub(super) enum Progress<T> {
    Todo,
    Busy,
    Done(T),
}

pub(super) struct AliasItem<'s> {
    pub(super) item: &'s syn::ItemType,
    pub(super) module: ModuleId,
    pub(super) busy: Cell<bool>,
}

pub(super) struct ConstItem {
    pub(super) name: String,
    pub(super) module: ModuleId,
    pub(super) ty: Rc<syn::Type>,
    pub(super) expr: Rc<syn::Expr>,
    /// `Self` in an `impl`.
    pub(super) self_ty: Option<Ty>,
    /// Constants of the enclosing function blocks.
    pub(super) scope: Vec<(String, ConstId)>,
    pub(super) value: RefCell<Progress<Option<Rc<ConstValue>>>>,
    pub(super) data: Cell<Option<crate::ir::DataId>>,
}

/// A computed constant: its leaves.
#[derive(Debug)]
pub(super) struct ConstValue {
    pub(super) ty: Ty,
    pub(super) leaves: Vec<Const>,
}

pub(super) struct FnItem<'s> {
    pub(super) path: Rc<str>,
    pub(super) module: ModuleId,
    pub(super) self_ty: Option<Ty>,
    pub(super) sig: &'s syn::Signature,
    pub(super) block: &'s syn::Block,
    pub(super) attrs: &'s [syn::Attribute],
    pub(super) public: bool,
    /// The types of the parameters and of the result; `None` if they were refused.
    pub(super) types: RefCell<Option<Rc<FnTypes>>>,
}

#[derive(Debug)]
pub(super) struct FnTypes {
    pub(super) params: Vec<Ty>,
    pub(super) result: Ty,
    /// The first parameter is `self`.
    pub(super) method: bool,
}

pub(super) struct Program<'s> {
    pub(super) texts: Vec<(String, Arc<str>)>,
    /// The parsed files that no `mod` has taken yet.
    pub(super) files: Vec<(FileId, &'s syn::File)>,
    /// The source is compiled by rustc, too: the bodies of functions that aren't looked into are not its business here.
    pub(super) embedded: bool,
    pub(super) modules: Vec<ModuleScope>,
    pub(super) structs: FxHashMap<Rc<str>, StructItem<'s>>,
    pub(super) enums: FxHashMap<Rc<str>, EnumItem<'s>>,
    pub(super) shapes: RefCell<FxHashMap<String, Rc<Shape>>>,
    pub(super) aliases: Vec<AliasItem<'s>>,
    pub(super) consts: RefCell<Vec<Rc<ConstItem>>>,
    pub(super) functions: Vec<FnItem<'s>>,
    /// Methods, associated functions and constants by type and name.
    pub(super) associated: FxHashMap<(Rc<str>, String), Item>,
    /// What follows from calls, by function.
    pub(super) recorded: RefCell<FxHashMap<Rc<str>, Vec<Follows>>>,
    pub(super) module: RefCell<Module>,
    pub(super) refusals: RefCell<Vec<Refusal>>,
    /// The function being worked on, for refusals.
    pub(super) function: RefCell<Option<String>>,
    /// Scalar fields of which references are taken: (struct or tuple, field). Their accesses share a class with what
    /// such a reference points to.
    pub(super) referenced_fields: RefCell<FxHashSet<(String, usize)>>,
    /// Other such fields, by class and name: patterns bind them, and their addresses are asked for when other functions
    /// may have been lowered.
    pub(super) bound_fields: RefCell<FxHashSet<(String, String)>>,
    /// What operators and number methods are used on.
    pub(super) uses: RefCell<Vec<super::uses::Use>>,
    /// The classes of enums of whose payloads references are made.
    pub(super) referenced_payloads: RefCell<FxHashSet<String>>,
    /// How many data items without a name there are.
    pub(super) unnamed_data: Cell<usize>,
    /// How many constants are being computed, one for the other.
    pub(super) const_depth: Cell<usize>,
    /// Types of the dialect that can't be lifted yet.
    pub(super) unsupported: RefCell<FxHashSet<Rc<str>>>,
    /// The names that the present lookup has looked for in the glob imports of modules.
    pub(super) asked: RefCell<Vec<(ModuleId, Space, String)>>,
    /// What `use` brings, by name: into which module, the path, and where it is written.
    pub(super) imported: Vec<(ModuleId, Vec<String>, Pos)>,
    /// Who calls whom, refused functions included.
    pub(super) calls: RefCell<FxHashMap<String, FxHashSet<String>>>,
}

impl<'s> Program<'s> {
    // ---- refusals

    pub(super) fn refuse_at(&self, pos: Pos, reason: Reason, detail: &str) {
        self.refuse_with(pos, reason, detail, reason.remedy());
    }

    /// Refuses something for which there is a better remedy than what is usual for the reason.
    pub(super) fn refuse_with(&self, pos: Pos, reason: Reason, detail: &str, remedy: &str) {
        let (name, text) = match self.texts.get(usize::from(pos.loc.file.0)) {
            Some((name, text)) => (name.clone(), text.clone()),
            None => (String::new(), Arc::from("")),
        };
        let mut refusal = Refusal::new(&name, &text, pos.loc, pos.length, reason, detail);
        refusal.function = self.function.borrow().clone();
        refusal.remedy = remedy.to_owned();
        let mut refusals = self.refusals.borrow_mut();
        let known = refusals.iter().any(|r| r.loc == refusal.loc && r.message == refusal.message);
        if !known {
            refusals.push(refusal);
        }
    }

    /// Refuses the use of what was refused where it is defined.
    pub(super) fn echo(&self, pos: Pos, what: &str) {
        self.refuse_at(pos, Reason::NotYet, what);
        if let Some(last) = self.refusals.borrow_mut().last_mut() {
            last.echo = true;
        }
    }

    pub(super) fn refuse(&self, file: FileId, span: Span, reason: Reason, detail: &str) {
        self.refuse_at(Pos::of(file, span), reason, detail);
    }

    pub(super) fn file_of(&self, module: ModuleId) -> FileId {
        self.modules[module].file
    }

    /// Whether a module is another, or inside of it.
    pub(super) fn is_inside(&self, module: ModuleId, outer: ModuleId) -> bool {
        std::iter::successors(Some(module), |at| self.modules[*at].parent).any(|at| at == outer)
    }

    /// The text between the start and the end of a span, with its white space collapsed.
    pub(super) fn source_text(&self, file: FileId, span: Span) -> String {
        let Some((_, text)) = self.texts.get(usize::from(file.0)) else { return String::new() };
        let (start, end) = (span.start(), span.end());
        let mut out = String::new();
        for (i, line) in text.lines().enumerate().skip(start.line.saturating_sub(1)) {
            if i + 1 > end.line {
                break;
            }
            let from = if i + 1 == start.line { start.column } else { 0 };
            let to = if i + 1 == end.line { end.column } else { usize::MAX };
            out.extend(line.chars().take(to).skip(from));
            out.push(' ');
        }
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    // ---- structs and enums

    pub(super) fn enum_info(&self, name: &str) -> Option<EnumDecl> {
        self.module.borrow().enums.get(name).cloned()
    }

    /// The types of a struct's fields. Resolves them, and lays the struct out, when they are first asked for.
    pub(super) fn field_types(&self, name: &Rc<str>) -> Vec<Ty> {
        let Some(item) = self.structs.get(name) else {
            return super::quasi::content(name).map(super::quasi::fields).unwrap_or_default();
        };
        match &*item.fields.borrow() {
            Progress::Done(types) => return types.clone(),
            Progress::Busy => {
                let span = item.item.ident.span();
                self.refuse(self.file_of(item.module), span, Reason::Recursive, &format!("struct `{name}`"));
                self.unsupported.borrow_mut().insert(name.clone());
                return Vec::new();
            }
            Progress::Todo => {}
        }
        *item.fields.borrow_mut() = Progress::Busy;
        let mut types = Vec::new();
        for field in &item.item.fields {
            let ty = self.resolve_type(Site::of(item.module), &field.ty, true);
            if ty == Ty::Error {
                self.unsupported.borrow_mut().insert(name.clone());
            }
            self.check_stored(&ty, item, &field.ty);
            self.needs_layout(&ty);
            self.check_green(&ty, item, field);
            types.push(ty);
        }
        if self.unsupported.borrow().contains(name) {
            types.iter_mut().for_each(|ty| *ty = Ty::Error);
        } else {
            self.lay_out(name, item, &types);
        }
        *item.fields.borrow_mut() = Progress::Done(types.clone());
        types
    }

    /// By-value structs and enums in `ty` must be laid out before what contains them.
    pub(super) fn needs_layout(&self, ty: &Ty) {
        match ty {
            Ty::Struct(name) => drop(self.field_types(name)),
            Ty::Enum(name) => drop(self.enum_types(name)),
            Ty::Result(t, e) => {
                self.needs_layout(t);
                self.needs_layout(e);
            }
            Ty::Array(t, _) | Ty::Cell(t) | Ty::Option(t) => self.needs_layout(t),
            Ty::Tuple(items) => items.iter().for_each(|t| self.needs_layout(t)),
            _ => {}
        }
    }

    fn check_stored(&self, ty: &Ty, item: &StructItem<'s>, at: &syn::Type) {
        if *ty != Ty::Error && rust_type(ty).is_none() {
            self.refuse(self.file_of(item.module), at.span(), Reason::NotYet, &format!("a field of the type {ty}"));
        }
    }

    /// A `#[green]` field is promoted when it is read.
    fn check_green(&self, ty: &Ty, item: &StructItem<'s>, field: &syn::Field) {
        let fits = match ty {
            Ty::Error => true,
            Ty::Scalar(scalar) => !matches!(scalar, Scalar::F32 | Scalar::F64),
            Ty::Enum(_) => !self.has_payload(ty),
            _ => false,
        };
        if !fits && is_green(field) {
            let detail = "a field of this type can't be `#[green]`";
            self.refuse(self.file_of(item.module), field.ty.span(), Reason::GreenField, detail);
        }
    }

    /// Whether a field of a struct is `#[green]`: read through a `&mut`, it is promoted.
    pub(super) fn is_green_field(&self, whole: &Ty, index: usize) -> bool {
        let Ty::Struct(name) = whole else { return false };
        self.structs.get(name).and_then(|s| s.item.fields.iter().nth(index)).is_some_and(is_green)
    }

    /// Whether one of its fields, or of the structs and tuples in it, is `#[green]`.
    pub(super) fn has_green_field(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Struct(_) | Ty::Tuple(_))
            && (self.fields_of(ty).iter().enumerate())
                .any(|(index, field)| self.is_green_field(ty, index) || self.has_green_field(field))
    }

    fn lay_out(&self, name: &Rc<str>, item: &StructItem<'s>, types: &[Ty]) {
        let Some(rust) = types.iter().map(rust_type).collect::<Option<Vec<_>>>() else { return };
        let mut module = self.module.borrow_mut();
        let (offsets, size, align) = module.tuple_offsets(&rust);
        let fields = item.item.fields.iter().zip(rust).zip(offsets).enumerate().map(|(i, ((field, ty), offset))| {
            let name = field.ident.as_ref().map_or_else(|| i.to_string(), ident_text);
            crate::ir::Field { name, ty, offset, green: is_green(field) }
        });
        let fields = fields.collect();
        let tuple = matches!(item.item.fields, syn::Fields::Unnamed(_));
        module.structs.insert(name.to_string(), StructDecl { name: name.to_string(), tuple, fields, size, align });
        if size > i32::MAX as u32 / 2 {
            drop(module);
            let span = item.item.ident.span();
            self.refuse(self.file_of(item.module), span, Reason::LargeValue, &format!("struct `{name}` is too large"));
        }
    }

    /// The index of a field.
    pub(super) fn field_index(&self, name: &str, field: &str) -> Option<usize> {
        self.field_names(name).iter().position(|f| f == field)
    }

    /// The names of a struct's fields.
    pub(super) fn field_names(&self, name: &str) -> Vec<String> {
        let fields = self.structs.get(name).into_iter().flat_map(|s| s.item.fields.iter().enumerate());
        fields.map(|(i, f)| f.ident.as_ref().map_or_else(|| i.to_string(), ident_text)).collect()
    }

    // ---- names

    /// What `segments` names, looked up from `module`.
    pub(super) fn lookup(&self, module: ModuleId, segments: &[String], space: Space) -> Option<Item> {
        let asked = self.asked.take();
        let found = self.lookup_within(module, segments, space, 0);
        *self.asked.borrow_mut() = asked;
        found
    }

    fn lookup_within(&self, module: ModuleId, segments: &[String], space: Space, depth: usize) -> Option<Item> {
        if depth > 10 {
            return None;
        }
        let (first, rest) = segments.split_first()?;
        if rest.is_empty() {
            return self.lookup_name(module, first, space, depth, true);
        }
        match first.as_str() {
            "self" => return self.lookup_within_item(Item::Module(module), rest, space, depth),
            "crate" => return self.lookup_within_item(Item::Module(0), rest, space, depth),
            "super" => {
                let parent = self.modules[module].parent.unwrap_or(0);
                return if let ["super", ..] = rest.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                    self.lookup_within(parent, rest, space, depth + 1)
                } else {
                    self.lookup_within_item(Item::Module(parent), rest, space, depth)
                };
            }
            "hueshift" => {
                return match rest {
                    [prelude, name] if prelude == "prelude" => prelude_item(name, space),
                    _ => None,
                };
            }
            _ => {}
        }
        let head = self.lookup_name(module, first, Space::Type, depth, true)?;
        self.lookup_within_item(head, rest, space, depth)
    }

    /// Refuses what `use` asks a module or an enum of these files for that isn't there.
    pub(super) fn check_imports(&self) {
        for (module, path, pos) in &self.imported {
            let Some((name, from)) = path.split_last() else { continue };
            let from = match from {
                [] => None,
                [own] if own == "self" => Some(Item::Module(*module)),
                // In an embedding crate what is around the root is rustc's alone.
                [outer] if outer == "super" => self.modules[*module].parent.map(Item::Module),
                [root] if root == "crate" => (!self.embedded).then_some(Item::Module(0)),
                from => self.lookup(*module, from, Space::Type),
            };
            let found = |space| self.lookup(*module, path, space).is_some();
            if matches!(from, Some(Item::Module(_) | Item::Enum(_))) && !found(Space::Type) && !found(Space::Value) {
                self.refuse_at(*pos, Reason::UnknownName, &format!("`{name}`"));
            }
        }
    }

    fn lookup_within_item(&self, head: Item, rest: &[String], space: Space, depth: usize) -> Option<Item> {
        let (name, after) = rest.split_first()?;
        match head {
            Item::Module(m) if after.is_empty() => self.lookup_name(m, name, space, depth, false),
            Item::Module(m) => {
                let next = self.lookup_name(m, name, Space::Type, depth, false)?;
                self.lookup_within_item(next, after, space, depth + 1)
            }
            Item::Enum(key) if after.is_empty() => {
                let variant = self.enum_info(&key).and_then(|e| e.variants.iter().position(|v| v.name == *name));
                let variant = variant.map(|i| Item::Variant(key.clone(), i));
                variant.or_else(|| self.associated.get(&(key, name.clone())).cloned())
            }
            Item::Struct(key) if after.is_empty() => self.associated.get(&(key, name.clone())).cloned(),
            Item::Alias(alias) => match self.resolve_alias(alias) {
                Ty::Struct(key) => self.lookup_within_item(Item::Struct(key), rest, space, depth + 1),
                Ty::Enum(key) => self.lookup_within_item(Item::Enum(key), rest, space, depth + 1),
                _ => None,
            },
            _ => None,
        }
    }

    fn lookup_name(&self, module: ModuleId, name: &str, space: Space, depth: usize, outward: bool) -> Option<Item> {
        let scope = &self.modules[module];
        if let Some(item) = scope.names.get(&(space, name.to_owned())) {
            return Some(item.clone());
        }
        if let Some(path) = scope.imports.get(name)
            && path.as_slice() != [name.to_owned()]
            && let Some(item) = self.lookup_within(module, path, space, depth + 1)
        {
            return Some(item);
        }
        // Modules may import each other's names: each is asked once.
        let question = (module, space, name.to_owned());
        if !self.asked.borrow().contains(&question) {
            self.asked.borrow_mut().push(question);
            let found = scope.globs.iter().find_map(|glob| {
                let path: Vec<String> = glob.iter().cloned().chain([name.to_owned()]).collect();
                self.lookup_within(module, &path, space, depth + 1)
            });
            if found.is_some() {
                return found;
            }
        }
        // Sibling files are modules of the root.
        if outward && module != 0 && space == Space::Type {
            let sibling = self.modules[0].names.get(&(space, name.to_owned()));
            return sibling.filter(|i| matches!(i, Item::Module(_))).cloned();
        }
        None
    }

    /// The place of a function's name.
    pub(super) fn fn_pos(&self, f: &FnItem<'_>) -> Pos {
        Pos::of(self.file_of(f.module), f.sig.ident.span())
    }
}

/// An identifier without `r#`.
pub(super) fn ident_text(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// What the prelude gives under a name.
fn prelude_item(name: &str, space: Space) -> Option<Item> {
    let known = match space {
        Space::Value => numbers::is_prelude_function(name),
        Space::Type => false,
    };
    known.then(|| Item::Prelude(name.into()))
}

fn is_green(field: &syn::Field) -> bool {
    field.attrs.iter().any(|a| a.path().is_ident("green"))
}
