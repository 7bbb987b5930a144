//! What a module declares: structs and enums that can be laid out, data and signatures of such types.
//!
//! A type is weighed by its parts: each scalar, reference and aggregate in it counts as one. What a value of it costs
//! to be taken apart is bounded by that.

use super::violation::{Rule, Violation};
use crate::ir::{EnumDecl, Module, RustType, StructDecl};
use rustc_hash::FxHashMap;

/// The most bytes of a type.
const MAX_BYTES: u64 = 1 << 30;

/// The most parts of what is handed over by value.
const MAX_PARTS: u64 = 1 << 16;

/// Everything that is wrong with declarations. If there is anything, nothing else can be checked.
pub(crate) fn declarations(module: &Module) -> Vec<Violation> {
    let mut check = Declarations { module, known: FxHashMap::default(), found: Vec::new(), at: String::new() };
    for name in module.structs.keys() {
        check.parts_of(name);
    }
    for name in module.enums.keys() {
        check.parts_of(name);
    }
    for data in &module.data {
        check.at = format!("data {}", data.name);
        if check.parts(&data.ty).is_some() && u64::from(module.layout(&data.ty).0) != data.bytes.len() as u64 {
            check.report(Rule::DataSize { ty: data.ty.to_string(), bytes: data.bytes.len() });
        }
        for (at, to) in &data.references {
            if to.0 as usize >= module.data.len() || u64::from(*at) + 8 > data.bytes.len() as u64 {
                check.report(Rule::NoSuchData(*to));
            }
        }
    }
    for graph in module.graphs.values() {
        check.at = format!("graph {}", graph.key);
        let signature = &graph.signature;
        for ty in signature.params.iter().map(|p| &p.ty).chain([&signature.result]) {
            if check.parts(ty).is_some_and(|parts| parts > MAX_PARTS) {
                check.report(Rule::TooLarge(ty.to_string()));
            }
        }
    }
    check.found
}

struct Declarations<'m> {
    module: &'m Module,
    /// The parts of each struct and enum; `None` while they are being counted, and where they can't be.
    known: FxHashMap<&'m str, Option<u64>>,
    found: Vec<Violation>,
    at: String,
}

impl<'m> Declarations<'m> {
    fn report(&mut self, rule: Rule) {
        self.found.push(Violation::of_declaration(&self.at, rule));
    }

    /// The parts of a type; `None` if there is something wrong with it, which has been reported.
    fn parts(&mut self, ty: &'m RustType) -> Option<u64> {
        match ty {
            RustType::Unit | RustType::Never | RustType::Scalar(_) | RustType::Str => Some(1),
            RustType::Option(inner) => Some(self.parts(inner)?.saturating_add(1)),
            RustType::Result(ok, err) => Some(self.parts(ok)?.saturating_add(self.parts(err)?).saturating_add(1)),
            RustType::Cell(inner) => self.parts(inner),
            // What is behind a reference may be a struct that is being looked at.
            RustType::Ref { to: inner, .. } | RustType::Slice { elem: inner, .. } => match &**inner {
                RustType::Struct(name) if self.module.structs.contains_key(name) => Some(2),
                RustType::Enum(name) if self.module.enums.contains_key(name) => Some(2),
                inner => self.parts(inner).map(|_| 2),
            },
            RustType::Struct(name) | RustType::Enum(name) => self.parts_of(name),
            RustType::Tuple(items) => {
                let parts: Vec<Option<u64>> = items.iter().map(|item| self.parts(item)).collect();
                parts.into_iter().try_fold(1u64, |sum, parts| Some(sum.saturating_add(parts?)))
            }
            RustType::Array(elem, n) => {
                let parts = self.parts(elem)?;
                let bytes = u64::from(self.module.layout(elem).0).max(1).saturating_mul(*n);
                if bytes > MAX_BYTES {
                    self.report(Rule::TooLarge(ty.to_string()));
                    return None;
                }
                Some(parts.saturating_mul(*n).saturating_add(1))
            }
        }
    }

    /// The parts of a struct or enum, which is checked when it is first asked for, after all that it has in it.
    fn parts_of(&mut self, name: &'m str) -> Option<u64> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        self.known.insert(name, None);
        let total = match (self.module.structs.get(name), self.module.enums.get(name)) {
            (Some(decl), _) => self.struct_parts(decl),
            (_, Some(decl)) => self.enum_parts(decl),
            (None, None) => {
                self.report(Rule::NoSuchType(name.to_owned()));
                None
            }
        };
        self.known.insert(name, total);
        total
    }

    fn enum_parts(&mut self, decl: &'m EnumDecl) -> Option<u64> {
        let outer = std::mem::replace(&mut self.at, format!("enum {}", decl.name));
        let fields = decl.variants.iter().flat_map(|v| &v.fields);
        let parts: Vec<Option<u64>> = fields.map(|field| self.parts(&field.ty)).collect();
        let mut total = parts.into_iter().try_fold(1u64, |sum, parts| Some(sum.saturating_add(parts?)));
        if total.is_none() {
            self.report(Rule::NoLayout);
        } else {
            let laid_out = self.module.lay_out_enum(&decl.name, decl.repr, decl.variants.clone());
            if laid_out != *decl {
                let offsets = laid_out.variants.iter().flat_map(|v| &v.fields).map(|f| f.offset).collect();
                self.report(Rule::Layout { offsets, size: laid_out.size, align: laid_out.align });
                total = None;
            } else if u64::from(decl.size) > MAX_BYTES {
                self.report(Rule::TooLarge(decl.name.clone()));
                total = None;
            }
        }
        self.at = outer;
        total
    }

    fn struct_parts(&mut self, decl: &'m StructDecl) -> Option<u64> {
        let name = &decl.name;
        let outer = std::mem::replace(&mut self.at, format!("struct {name}"));
        let parts: Vec<Option<u64>> = decl.fields.iter().map(|field| self.parts(&field.ty)).collect();
        let types: Vec<RustType> = decl.fields.iter().map(|field| field.ty.clone()).collect();
        let mut total = parts.into_iter().try_fold(1u64, |sum, parts| Some(sum.saturating_add(parts?)));
        if total.is_none() {
            self.report(Rule::NoLayout);
        } else {
            let (offsets, size, align) = self.module.tuple_offsets(&types);
            if !offsets.iter().eq(decl.fields.iter().map(|f| &f.offset)) || (size, align) != (decl.size, decl.align) {
                self.report(Rule::Layout { offsets, size, align });
                total = None;
            } else if u64::from(size) > MAX_BYTES {
                self.report(Rule::TooLarge(name.clone()));
                total = None;
            }
        }
        self.at = outer;
        total
    }
}
