//! Enums: the file's own, `Option` and `Result`, all as one thing.
//!
//! A [`Shape`] says of an enum type what its variants are, where their fields lie in memory, and which words of the
//! value their leaves are (see [`crate::ir::union_of`]).

use super::items::{Program, Progress, ident_text};
use super::refusal::Reason;
use super::types::{Ty, rust_type};
use super::written::Site;
use crate::ir::{Field, Scalar, union_of};
use std::cell::RefCell;
use std::rc::Rc;
use syn::spanned::Spanned;

/// An enum as it is written.
pub(super) struct EnumItem<'s> {
    pub(super) item: &'s syn::ItemEnum,
    pub(super) module: super::items::ModuleId,
    /// It derives `PartialEq`.
    pub(super) comparable: bool,
    /// The types of the fields of each variant.
    pub(super) fields: RefCell<Progress<Rc<Vec<Vec<Ty>>>>>,
}

/// One variant of a [`Shape`].
#[derive(Debug)]
pub(super) struct VariantShape {
    pub(super) name: String,
    pub(super) discriminant: i64,
    pub(super) types: Vec<Ty>,
    /// The fields' names and their offsets from the start of the enum.
    pub(super) fields: Vec<(String, u32)>,
    /// Which leaves of the enum's value the leaves of the fields are (0 is the tag).
    pub(super) places: Vec<usize>,
}

/// An enum type in values and in memory.
#[derive(Debug)]
pub(super) struct Shape {
    /// The tag.
    pub(super) repr: Scalar,
    /// The container class of everything in it.
    pub(super) class: String,
    pub(super) variants: Vec<VariantShape>,
    /// The words of the payloads' union, behind the tag.
    pub(super) words: Vec<Scalar>,
}

impl Shape {
    pub(super) fn has_payload(&self) -> bool {
        self.variants.iter().any(|v| !v.types.is_empty())
    }

    pub(super) fn index_of(&self, discriminant: i64) -> Option<usize> {
        self.variants.iter().position(|v| v.discriminant == discriminant)
    }
}

impl<'s> Program<'s> {
    /// The types of the fields of an enum's variants. Resolves them, and lays the enum out, when they are first asked
    /// for.
    pub(super) fn enum_types(&self, name: &Rc<str>) -> Rc<Vec<Vec<Ty>>> {
        let Some(item) = self.enums.get(name) else { return Rc::default() };
        match &*item.fields.borrow() {
            Progress::Done(types) => return types.clone(),
            Progress::Busy => {
                let span = item.item.ident.span();
                self.refuse(self.file_of(item.module), span, Reason::Recursive, &format!("enum `{name}`"));
                self.unsupported.borrow_mut().insert(name.clone());
                return Rc::default();
            }
            Progress::Todo => {}
        }
        *item.fields.borrow_mut() = Progress::Busy;
        let mut all = Vec::new();
        for variant in &item.item.variants {
            let mut types = Vec::new();
            for field in &variant.fields {
                let ty = self.resolve_type(Site::of(item.module), &field.ty, true);
                if ty == Ty::Error {
                    self.unsupported.borrow_mut().insert(name.clone());
                }
                self.needs_layout(&ty);
                types.push(ty);
            }
            all.push(types);
        }
        if self.unsupported.borrow().contains(name) {
            all.iter_mut().flatten().for_each(|ty| *ty = Ty::Error);
        } else {
            self.lay_out_variants(name, item, &all);
        }
        let all = Rc::new(all);
        *item.fields.borrow_mut() = Progress::Done(all.clone());
        all
    }

    fn lay_out_variants(&self, name: &Rc<str>, item: &EnumItem<'s>, all: &[Vec<Ty>]) {
        let mut module = self.module.borrow_mut();
        let Some(mut decl) = module.enums.get(&**name).cloned() else { return };
        for ((variant, types), written) in decl.variants.iter_mut().zip(all).zip(&item.item.variants) {
            let fields = types.iter().zip(&written.fields).enumerate();
            let field = |(i, (ty, f)): (usize, (&Ty, &syn::Field))| {
                let name = f.ident.as_ref().map_or_else(|| i.to_string(), ident_text);
                Some(Field { name, ty: rust_type(ty)?, offset: 0, green: false })
            };
            variant.fields = fields.filter_map(field).collect();
        }
        let decl = module.lay_out_enum(name, decl.repr, decl.variants);
        let size = decl.size;
        module.enums.insert(name.to_string(), decl);
        drop(module);
        if size > i32::MAX as u32 / 2 {
            let span = item.item.ident.span();
            self.refuse(self.file_of(item.module), span, Reason::LargeValue, &format!("enum `{name}` is too large"));
        }
    }

    /// How many variants an enum type has; `None` for other types.
    pub(super) fn variant_count(&self, ty: &Ty) -> Option<usize> {
        match ty {
            Ty::Enum(name) => self.module.borrow().enums.get(&**name).map(|e| e.variants.len()),
            Ty::Option(_) | Ty::Result(..) => Some(2),
            _ => None,
        }
    }

    /// The types of a variant's fields; there may be inference variables in them.
    pub(super) fn variant_types(&self, ty: &Ty, index: usize) -> Vec<Ty> {
        match (ty, index) {
            (Ty::Enum(name), _) => self.enum_types(name).get(index).cloned().unwrap_or_default(),
            (Ty::Option(t), 1) | (Ty::Result(t, _), 0) | (Ty::Result(_, t), 1) => vec![(**t).clone()],
            _ => Vec::new(),
        }
    }

    /// The name of a variant, the names of its fields, and whether it is written with parentheses.
    pub(super) fn variant_names(&self, ty: &Ty, index: usize) -> (String, Vec<String>, bool) {
        let known = |name: &str, n: usize| (name.to_owned(), vec!["0".to_owned(); n], true);
        match (ty, index) {
            (Ty::Option(_), 0) => known("None", 0),
            (Ty::Option(_), _) => known("Some", 1),
            (Ty::Result(..), 0) => known("Ok", 1),
            (Ty::Result(..), _) => known("Err", 1),
            (Ty::Enum(name), _) => {
                let variant = self.enums.get(name).and_then(|e| e.item.variants.iter().nth(index));
                let Some(variant) = variant else { return known("", 0) };
                let named = |(i, f): (usize, &syn::Field)| f.ident.as_ref().map_or_else(|| i.to_string(), ident_text);
                let names = variant.fields.iter().enumerate().map(named).collect();
                (ident_text(&variant.ident), names, matches!(variant.fields, syn::Fields::Unnamed(_)))
            }
            _ => known("", 0),
        }
    }

    /// The shape of an enum type without inference variables; `None` for other types.
    pub(super) fn shape(&self, ty: &Ty) -> Option<Rc<Shape>> {
        if !matches!(ty, Ty::Enum(_) | Ty::Option(_) | Ty::Result(..)) {
            return None;
        }
        let class = ty.to_string();
        if let Some(known) = self.shapes.borrow().get(&class) {
            return Some(known.clone());
        }
        let count = self.variant_count(ty)?;
        let all: Vec<Vec<Ty>> = (0..count).map(|i| self.variant_types(ty, i)).collect();
        let scalars: Vec<Vec<Scalar>> = all
            .iter()
            .map(|types| {
                let mut out = Vec::new();
                types.iter().for_each(|t| self.leaf_scalars(t, &mut out));
                out
            })
            .collect();
        let (words, places) = union_of(&scalars);
        let mut kinds: Vec<Option<Scalar>> = vec![None; words.len()];
        for (scalar, at) in scalars.iter().flatten().zip(places.iter().flatten()) {
            kinds[*at] = Some(kinds[*at].map_or(*scalar, |known| if known == *scalar { known } else { Scalar::I64 }));
        }
        let module = self.module.borrow();
        let decl = rust_type(ty).and_then(|t| module.enum_of(&t).map(std::borrow::Cow::into_owned));
        drop(module);
        let variants = all.into_iter().zip(places).enumerate().map(|(i, (types, places))| {
            let laid_out = decl.as_ref().and_then(|d| d.variants.get(i));
            let fields = laid_out
                .map_or_else(Vec::new, |v| v.fields.iter().map(|f| (f.name.clone(), f.offset)).collect::<Vec<_>>());
            VariantShape {
                name: self.variant_names(ty, i).0,
                discriminant: laid_out.map_or(i as i64, |v| v.discriminant),
                types,
                fields,
                places: places.into_iter().map(|at| at + 1).collect(),
            }
        });
        let shape = Rc::new(Shape {
            repr: decl.as_ref().map_or(Scalar::I32, |d| d.repr),
            class: class.clone(),
            variants: variants.collect(),
            words: kinds.into_iter().flatten().collect(),
        });
        if !super::infer::Infer::is_unknown(ty) {
            self.shapes.borrow_mut().insert(class, shape.clone());
        }
        Some(shape)
    }

    /// Whether the type is an enum with a payload: it is taken apart by its tag.
    pub(super) fn has_payload(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Option(_) | Ty::Result(..) => true,
            Ty::Enum(name) => self.enum_types(name).iter().any(|v| !v.is_empty()),
            _ => false,
        }
    }

    /// Refuses the types of fields that can't lie in memory; to be called when all items are known.
    pub(super) fn check_enum(&self, name: &Rc<str>) {
        let types = self.enum_types(name);
        let Some(item) = self.enums.get(name) else { return };
        let fields = item.item.variants.iter().flat_map(|v| &v.fields);
        for (ty, field) in types.iter().flatten().zip(fields) {
            if *ty != Ty::Error && rust_type(ty).is_none() {
                let file = self.file_of(item.module);
                self.refuse(file, field.ty.span(), Reason::NotYet, &format!("a field of the type {ty}"));
            }
        }
    }
}
