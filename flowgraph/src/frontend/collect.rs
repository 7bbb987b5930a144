//! Reading the files: parsing, and finding their items.

use super::brackets::unbalanced;
use super::conditional::attributes_of;
use super::enums::EnumItem;
use super::files::{candidates, folder};
use super::items::{
    AliasItem, ConstItem, FnItem, Item, ModuleId, ModuleScope, Program, Progress, Space, StructItem, ident_text,
};
use super::refusal::{Pos, Reason, Refusal};
use super::tree::ConstId;
use super::types::Ty;
use super::written::Site;
use crate::ir::{EnumDecl, FileId, Scalar, Variant};
use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use syn::spanned::Spanned;

/// Delimiters inside each other, at most.
const MAX_DEPTH: usize = 120;
/// Tokens of one group without a `;`, `,`, `=>` or the end of an item between them, at most: what a chain of operators,
/// methods or `else if`s nests.
const MAX_RUN: usize = 3000;

/// Parses a file, or refuses it.
pub(super) fn parse(name: &str, text: &Arc<str>, file: FileId) -> Result<syn::File, Vec<Refusal>> {
    let refusal = |span: Span, reason, detail: &str| {
        let pos = Pos::of(file, span);
        Refusal::new(name, text, pos.loc, pos.length, reason, detail)
    };
    let source = without_shebang(text.strip_prefix('\u{feff}').unwrap_or(text));
    let tokens = TokenStream::from_str(&source).map_err(|e| match unbalanced(&source, file) {
        Some((loc, detail)) => vec![Refusal::new(name, text, loc, 1, Reason::Syntax, &detail)],
        None => vec![refusal(e.span(), Reason::Syntax, &e.to_string())],
    })?;
    if let Some(span) = too_deep(&tokens) {
        return Err(vec![refusal(span, Reason::Nesting, "")]);
    }
    syn::parse2::<syn::File>(tokens)
        .map_err(|e| e.into_iter().map(|e| refusal(e.span(), Reason::Syntax, &e.to_string())).collect())
}

/// The text with spaces for a first line `#!…` that is no attribute: it is for the shell.
pub fn without_shebang(text: &str) -> Cow<'_, str> {
    let Some(behind) = text.strip_prefix("#!").filter(|behind| !behind.trim_start().starts_with('[')) else {
        return text.into();
    };
    let line = 2 + behind.find('\n').unwrap_or(behind.len());
    (" ".repeat(text[..line].chars().count()) + &text[line..]).into()
}

/// Where the nesting that parser and checker recurse over goes beyond what the stack is made for.
fn too_deep(tokens: &TokenStream) -> Option<Span> {
    let mut stack = vec![(tokens.clone().into_iter(), 0usize, false)];
    // The first half of a `=>`: arms in braces have nothing else between them.
    let mut begins_arrow = false;
    while let Some((rest, run, after_block)) = stack.last_mut() {
        let Some(token) = rest.next() else {
            stack.pop();
            continue;
        };
        let separates = match &token {
            TokenTree::Punct(p) => matches!(p.as_char(), ';' | ',') || begins_arrow && p.as_char() == '>',
            TokenTree::Ident(i) => *after_block && !matches!(i.to_string().as_str(), "else" | "as"),
            _ => false,
        };
        begins_arrow = matches!(&token, TokenTree::Punct(p) if p.as_char() == '=' && p.spacing() == Spacing::Joint);
        *run = if separates { 0 } else { *run + 1 };
        *after_block = matches!(&token, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
        if *run > MAX_RUN {
            return Some(token.span());
        }
        if let TokenTree::Group(group) = &token {
            if stack.len() >= MAX_DEPTH {
                return Some(group.span_open());
            }
            stack.push((group.stream().into_iter(), 0, false));
        }
    }
    None
}

/// The name of the module that a file is which no module asks for.
fn stem(name: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.strip_suffix(".rs").unwrap_or(base).to_owned()
}

impl<'s> Program<'s> {
    pub(super) fn new(texts: Vec<(String, Arc<str>)>) -> Program<'s> {
        Program {
            texts,
            files: Vec::new(),
            embedded: false,
            modules: Vec::new(),
            structs: Default::default(),
            enums: Default::default(),
            shapes: RefCell::default(),
            aliases: Vec::new(),
            consts: RefCell::default(),
            functions: Vec::new(),
            associated: Default::default(),
            recorded: RefCell::default(),
            module: RefCell::default(),
            refusals: RefCell::default(),
            function: RefCell::default(),
            referenced_fields: RefCell::default(),
            bound_fields: RefCell::default(),
            uses: RefCell::default(),
            referenced_payloads: RefCell::default(),
            unnamed_data: Cell::new(0),
            const_depth: Cell::new(0),
            unsupported: RefCell::default(),
            calls: RefCell::default(),
            asked: RefCell::default(),
            imported: Vec::new(),
        }
    }

    /// Finds the items of the parsed files: those of the first in the root, those of the others in the modules that are
    /// declared for them. A file that no module asks for is a module of the root.
    pub(super) fn collect(&mut self, files: &'s [(FileId, syn::File)]) {
        let mut impls = Vec::new();
        let Some(((root, parsed), rest)) = files.split_first() else { return };
        self.files = rest.iter().map(|(file, parsed)| (*file, parsed)).collect();
        let folder = folder(&self.texts[usize::from(root.0)].0).to_owned();
        self.modules.push(ModuleScope { folder, file: *root, ..ModuleScope::default() });
        self.collect_parsed(0, parsed, &mut impls);
        while !self.files.is_empty() {
            let (file, parsed) = self.files.remove(0);
            let name = stem(&self.texts[usize::from(file.0)].0);
            let module = self.add_child(0, &name, file);
            self.modules[0].names.entry((Space::Type, name)).or_insert(Item::Module(module));
            self.collect_parsed(module, parsed, &mut impls);
        }
        for (module, item) in impls {
            self.collect_impl(module, item);
        }
    }

    /// A new module inside of another.
    fn add_child(&mut self, parent: ModuleId, name: &str, file: FileId) -> ModuleId {
        let prefix = format!("{}{name}::", self.modules[parent].prefix);
        let folder = format!("{}{name}/", self.modules[parent].folder);
        self.modules.push(ModuleScope { prefix, folder, parent: Some(parent), file, ..ModuleScope::default() });
        self.modules.len() - 1
    }

    /// `mod name;`: a file of its own.
    fn collect_file(&mut self, module: ModuleId, ident: &syn::Ident, impls: &mut Vec<(ModuleId, &'s syn::ItemImpl)>) {
        let outer = self.file_of(module);
        let name = ident_text(ident);
        let names = candidates(&self.modules[module].folder, &name);
        let text_of = |file: &FileId| &self.texts[usize::from(file.0)].0;
        let found: Vec<usize> = (0..self.files.len()).filter(|i| names.contains(text_of(&self.files[*i].0))).collect();
        let [beside, inside] = &names;
        match found.as_slice() {
            [at] => {
                let (file, parsed) = self.files.remove(*at);
                let inner = self.add_child(module, &name, file);
                self.define(module, Space::Type, ident, Item::Module(inner));
                self.collect_parsed(inner, parsed, impls);
            }
            [] => {
                let taken = self.texts.iter().any(|(known, _)| names.contains(known));
                let detail = match taken {
                    true => format!("the file of the module `{name}` is that of another module already"),
                    false => format!("there is neither a file `{beside}` nor `{inside}` for the module `{name}`"),
                };
                self.refuse(outer, ident.span(), Reason::ModuleFile, &detail);
            }
            _ => {
                let detail = format!("there is a file `{beside}` and also `{inside}` for the module `{name}`");
                self.refuse(outer, ident.span(), Reason::ModuleFile, &detail);
            }
        }
    }

    fn collect_parsed(
        &mut self,
        module: ModuleId,
        parsed: &'s syn::File,
        impls: &mut Vec<(ModuleId, &'s syn::ItemImpl)>,
    ) {
        self.attributes(module, &parsed.attrs, &["allow", "warn", "deny", "doc", "expect"]);
        super::conditional::check(self, module, parsed);
        self.collect_items(module, &parsed.items, impls);
    }

    fn define(&mut self, module: ModuleId, space: Space, ident: &syn::Ident, item: Item) {
        let name = ident_text(ident);
        if self.modules[module].names.contains_key(&(space, name.clone())) {
            self.refuse(self.file_of(module), ident.span(), Reason::Duplicate, &format!("`{name}`"));
        }
        self.modules[module].names.insert((space, name), item);
    }

    fn collect_items(
        &mut self,
        module: ModuleId,
        items: &'s [syn::Item],
        impls: &mut Vec<(ModuleId, &'s syn::ItemImpl)>,
    ) {
        let file = self.file_of(module);
        for item in items {
            // A test's imports are looked at, and forgotten.
            if is_test(attributes_of(item)) && !matches!(item, syn::Item::Use(_)) {
                continue;
            }
            match item {
                syn::Item::Fn(f) => {
                    let path: Rc<str> = format!("{}{}", self.modules[module].prefix, ident_text(&f.sig.ident)).into();
                    let public = !matches!(f.vis, syn::Visibility::Inherited);
                    let id = self.add_function(path, module, None, &f.sig, &f.block, &f.attrs, public);
                    self.define(module, Space::Value, &f.sig.ident, Item::Function(id));
                }
                syn::Item::Struct(s) => self.collect_struct(module, s),
                syn::Item::Enum(e) => self.collect_enum(module, e),
                syn::Item::Const(c) => {
                    self.generics(module, &c.generics);
                    self.attributes(module, &c.attrs, LINTS);
                    let id = self.add_const(Site::of(module), &c.ident, &c.ty, &c.expr);
                    if c.ident != "_" {
                        self.define(module, Space::Value, &c.ident, Item::Const(id));
                    }
                }
                syn::Item::Static(s) => {
                    self.attributes(module, &s.attrs, LINTS);
                    if let syn::StaticMutability::Mut(m) = &s.mutability {
                        self.refuse(file, m.span, Reason::Item, "`static mut`");
                    }
                    let id = self.add_const(Site::of(module), &s.ident, &s.ty, &s.expr);
                    self.define(module, Space::Value, &s.ident, Item::Const(id));
                }
                syn::Item::Type(t) => {
                    self.generics(module, &t.generics);
                    self.aliases.push(AliasItem { item: t, module, busy: Cell::new(false) });
                    self.define(module, Space::Type, &t.ident, Item::Alias(self.aliases.len() - 1));
                }
                syn::Item::Mod(m) => {
                    if let Some(path) = m.attrs.iter().find(|a| a.path().is_ident("path")) {
                        self.refuse(file, path.span(), Reason::Attribute, "`#[path]`");
                    }
                    match &m.content {
                        Some((_, items)) => {
                            let inner = self.add_child(module, &ident_text(&m.ident), file);
                            self.define(module, Space::Type, &m.ident, Item::Module(inner));
                            self.collect_items(inner, items, impls);
                        }
                        None => self.collect_file(module, &m.ident, impls),
                    }
                }
                syn::Item::Use(u) => {
                    let before = self.imported.len();
                    self.collect_use(module, &u.tree, &mut Vec::new());
                    if is_test(&u.attrs) {
                        self.imported.truncate(before);
                    }
                }
                syn::Item::Impl(i) => impls.push((module, i)),
                syn::Item::Trait(t) => self.refuse(file, t.ident.span(), Reason::Trait, "a trait"),
                syn::Item::Macro(m) => {
                    let name = format!("`{}!`", path_text(&m.mac.path));
                    self.refuse(file, m.mac.path.span(), Reason::Macro, &name);
                }
                syn::Item::ExternCrate(e) => self.refuse(file, e.span(), Reason::Item, "`extern crate`"),
                syn::Item::ForeignMod(e) => self.refuse(file, e.abi.span(), Reason::Item, "a foreign module"),
                syn::Item::Union(u) => self.refuse(file, u.ident.span(), Reason::Item, "a union"),
                other => self.refuse(file, other.span(), Reason::Item, "this item"),
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn add_function(
        &mut self,
        path: Rc<str>,
        module: ModuleId,
        self_ty: Option<Ty>,
        sig: &'s syn::Signature,
        block: &'s syn::Block,
        attrs: &'s [syn::Attribute],
        public: bool,
    ) -> usize {
        self.functions.push(FnItem { path, module, self_ty, sig, block, attrs, public, types: RefCell::new(None) });
        self.functions.len() - 1
    }

    pub(super) fn add_const(&self, site: Site<'_>, ident: &syn::Ident, ty: &syn::Type, expr: &syn::Expr) -> ConstId {
        let owner = match site.self_ty {
            Some(ty) => format!("{ty}::"),
            None => self.modules[site.module].prefix.clone(),
        };
        let name = format!("{owner}{}", ident_text(ident));
        let value = RefCell::new(Progress::Todo);
        let (ty, expr) = (Rc::new(ty.clone()), Rc::new(expr.clone()));
        let (self_ty, scope) = (site.self_ty.cloned(), site.consts.to_vec());
        let item = ConstItem { name, module: site.module, ty, expr, self_ty, scope, value, data: Cell::new(None) };
        let mut consts = self.consts.borrow_mut();
        consts.push(Rc::new(item));
        consts.len() - 1
    }

    fn collect_struct(&mut self, module: ModuleId, s: &'s syn::ItemStruct) {
        self.generics(module, &s.generics);
        self.attributes(module, &s.attrs, TYPES);
        for field in &s.fields {
            self.attributes(module, &field.attrs, &["doc", "green", "allow", "cfg_attr"]);
        }
        self.distinct_fields(module, &s.fields);
        let key: Rc<str> = format!("{}{}", self.modules[module].prefix, ident_text(&s.ident)).into();
        let comparable = derives(&s.attrs, "PartialEq");
        let item = StructItem { item: s, module, comparable, fields: RefCell::new(Progress::Todo) };
        self.structs.insert(key.clone(), item);
        self.define(module, Space::Type, &s.ident, Item::Struct(key));
    }

    fn collect_enum(&mut self, module: ModuleId, e: &'s syn::ItemEnum) {
        for field in e.variants.iter().flat_map(|v| &v.fields) {
            self.attributes(module, &field.attrs, &["doc", "allow", "cfg_attr"]);
        }
        for variant in &e.variants {
            self.attributes(module, &variant.attrs, &["doc", "allow", "cfg_attr", "default"]);
            self.distinct_fields(module, &variant.fields);
        }
        let file = self.file_of(module);
        self.generics(module, &e.generics);
        self.attributes(module, &e.attrs, TYPES);
        let name = format!("{}{}", self.modules[module].prefix, ident_text(&e.ident));
        let key: Rc<str> = name.as_str().into();
        self.define(module, Space::Type, &e.ident, Item::Enum(key.clone()));
        let mut variants: Vec<(String, i64)> = Vec::new();
        let mut next = Some(0i64);
        for v in &e.variants {
            if let Some((_, expr)) = &v.discriminant {
                match discriminant(expr) {
                    Some(n) => next = Some(n),
                    None => {
                        self.refuse(file, expr.span(), Reason::Constant, "a discriminant must be an integer literal")
                    }
                }
            }
            let Some(value) = next else {
                self.refuse(file, v.span(), Reason::LiteralRange, "of this discriminant");
                continue;
            };
            if variants.iter().any(|(n, d)| *d == value || *n == ident_text(&v.ident)) {
                self.refuse(file, v.ident.span(), Reason::Duplicate, &format!("`{}` (or its discriminant)", v.ident));
            }
            variants.push((ident_text(&v.ident), value));
            next = value.checked_add(1);
        }
        let narrow = variants.iter().all(|(_, v)| i32::try_from(*v).is_ok());
        let default = if narrow { Scalar::I32 } else { Scalar::I64 };
        let repr = repr(&e.attrs).unwrap_or(default);
        for ((_, value), v) in variants.iter().zip(&e.variants) {
            if repr.canonical(*value as u64) as i64 != *value {
                self.refuse(file, v.span(), Reason::LiteralRange, "of this discriminant");
            }
        }
        let variants = variants.into_iter().zip(&e.variants).map(|((name, discriminant), v)| {
            let tuple = matches!(&v.fields, syn::Fields::Unnamed(f) if !f.unnamed.is_empty());
            Variant { name, discriminant, tuple, fields: Vec::new() }
        });
        let size = repr.access().size();
        let decl = EnumDecl { name: name.clone(), repr, variants: variants.collect(), size, align: size };
        let comparable = derives(&e.attrs, "PartialEq");
        let fields = RefCell::new(Progress::Todo);
        self.enums.insert(key, EnumItem { item: e, module, comparable, fields });
        self.module.borrow_mut().enums.insert(name, decl);
    }

    /// Refuses two fields of one name.
    fn distinct_fields(&self, module: ModuleId, fields: &syn::Fields) {
        let names: Vec<&syn::Ident> = fields.iter().filter_map(|f| f.ident.as_ref()).collect();
        for (_, name) in names.iter().enumerate().filter(|(i, name)| names[..*i].contains(name)) {
            self.refuse(self.file_of(module), name.span(), Reason::Duplicate, &format!("the field `{name}`"));
        }
    }

    fn collect_use(&mut self, module: ModuleId, tree: &syn::UseTree, prefix: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(p) => {
                prefix.push(ident_text(&p.ident));
                self.collect_use(module, &p.tree, prefix);
                prefix.pop();
            }
            syn::UseTree::Name(n) if n.ident == "self" => {
                if let Some(name) = prefix.last().cloned() {
                    self.modules[module].imports.insert(name, prefix.clone());
                }
            }
            syn::UseTree::Name(n) => {
                let name = ident_text(&n.ident);
                let path: Vec<String> = prefix.iter().cloned().chain([name.clone()]).collect();
                self.imported.push((module, path.clone(), Pos::of(self.file_of(module), n.ident.span())));
                self.modules[module].imports.insert(name, path);
            }
            syn::UseTree::Rename(r) => {
                let path: Vec<String> = prefix.iter().cloned().chain([ident_text(&r.ident)]).collect();
                self.imported.push((module, path.clone(), Pos::of(self.file_of(module), r.ident.span())));
                self.modules[module].imports.insert(ident_text(&r.rename), path);
            }
            syn::UseTree::Glob(_) => self.modules[module].globs.push(prefix.clone()),
            syn::UseTree::Group(g) => {
                for tree in &g.items {
                    self.collect_use(module, tree, prefix);
                }
            }
        }
    }

    fn collect_impl(&mut self, module: ModuleId, i: &'s syn::ItemImpl) {
        let file = self.file_of(module);
        if let Some((_, path, _)) = &i.trait_ {
            self.refuse(file, path.span(), Reason::Trait, "implementing a trait");
            return;
        }
        self.generics(module, &i.generics);
        let ty = self.resolve_type(Site::of(module), &i.self_ty, false);
        let key = match &ty {
            Ty::Struct(key) | Ty::Enum(key) => key.clone(),
            Ty::Error => return,
            _ => {
                self.refuse(file, i.self_ty.span(), Reason::Trait, "an `impl` for a type that isn't of the file");
                return;
            }
        };
        for item in &i.items {
            let (ident, found) = match item {
                syn::ImplItem::Fn(f) => {
                    let path: Rc<str> = format!("{key}::{}", ident_text(&f.sig.ident)).into();
                    let public = !matches!(f.vis, syn::Visibility::Inherited);
                    let id = self.add_function(path, module, Some(ty.clone()), &f.sig, &f.block, &f.attrs, public);
                    (&f.sig.ident, Item::Function(id))
                }
                syn::ImplItem::Const(c) => {
                    let id = self.add_const(Site { self_ty: Some(&ty), ..Site::of(module) }, &c.ident, &c.ty, &c.expr);
                    (&c.ident, Item::Const(id))
                }
                other => {
                    self.refuse(file, other.span(), Reason::Item, "this item in an `impl`");
                    continue;
                }
            };
            if self.associated.insert((key.clone(), ident_text(ident)), found).is_some() {
                self.refuse(file, ident.span(), Reason::Duplicate, &format!("`{key}::{ident}`"));
            }
        }
    }

    /// Refuses type and const parameters; lifetimes are ignored.
    pub(super) fn generics(&self, module: ModuleId, generics: &syn::Generics) {
        for param in &generics.params {
            if !matches!(param, syn::GenericParam::Lifetime(_)) {
                self.refuse(self.file_of(module), param.span(), Reason::Generic, "");
            }
        }
    }

    /// Refuses attributes other than those known.
    pub(super) fn attributes(&self, module: ModuleId, attrs: &[syn::Attribute], known: &[&str]) {
        for attr in attrs {
            let name = path_text(attr.path());
            let short = name.rsplit("::").next().unwrap_or_default().to_owned();
            if name == "cfg" {
                continue; // refused wherever it stands
            }
            let is_plain = short != "green" || matches!(attr.meta, syn::Meta::Path(_));
            if known.contains(&short.as_str()) && is_plain
                || name.starts_with("rustfmt::")
                || name.starts_with("clippy::")
            {
                continue;
            }
            let file = self.file_of(module);
            self.refuse(file, attr.path().span(), Reason::Attribute, &format!("`#[{name}]`"));
        }
    }
}

const LINTS: &[&str] = &["doc", "allow", "warn", "deny", "expect", "rustfmt"];
const TYPES: &[&str] = &["doc", "allow", "warn", "deny", "expect", "derive", "repr", "must_use", "non_exhaustive"];
/// The attributes of functions.
pub(super) const FUNCTIONS: &[&str] = &[
    "doc",
    "allow",
    "warn",
    "deny",
    "expect",
    "inline",
    "must_use",
    "cold",
    "portal",
    "elidable",
    "unroll_safe",
    "dont_look_inside",
    "look_inside_if",
    "idempotent",
    "inverse_of",
];

pub(super) fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|a| {
        a.path().is_ident("test")
            || (a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|i| i == "test"))
    })
}

pub(super) fn path_text(path: &syn::Path) -> String {
    path.segments.iter().map(|s| ident_text(&s.ident)).collect::<Vec<_>>().join("::")
}

/// Whether an attribute has this name, with or without a path in front.
pub(super) fn is_named(attr: &syn::Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == name)
}

fn derives(attrs: &[syn::Attribute], what: &str) -> bool {
    let mut found = false;
    for attr in attrs.iter().filter(|a| a.path().is_ident("derive")) {
        let _ = attr.parse_nested_meta(|meta| {
            found |= meta.path.is_ident(what);
            Ok(())
        });
    }
    found
}

fn repr(attrs: &[syn::Attribute]) -> Option<Scalar> {
    let mut found = None;
    for attr in attrs.iter().filter(|a| a.path().is_ident("repr")) {
        let _ = attr.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            found = found.or(Scalar::from_name(&name).filter(|s| s.is_integer()));
            Ok(())
        });
    }
    found
}

fn discriminant(expr: &syn::Expr) -> Option<i64> {
    match expr {
        syn::Expr::Lit(l) => match &l.lit {
            syn::Lit::Int(i) => i.base10_parse::<i64>().ok(),
            syn::Lit::Byte(b) => Some(i64::from(b.value())),
            _ => None,
        },
        syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => match &*u.expr {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(i), .. }) => {
                i.base10_parse::<i128>().ok().and_then(|n| i64::try_from(-n).ok())
            }
            _ => None,
        },
        syn::Expr::Paren(p) => discriminant(&p.expr),
        _ => None,
    }
}
