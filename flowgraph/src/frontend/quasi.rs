//! `QuasiCell<T>`: a cell that is read often and written rarely.
//!
//! Beside its value it has a *version*, which every write counts up. A version has one value, so where the compiler
//! knows the cell's address, reading it is a promotion of its version and a call of an elidable function of address and
//! version, which folds. What is left of it in compiled code is one test of the version for each stretch of code in
//! which nobody can have written: from a loop's head, or a call, to the next. What fails there has the next version,
//! and gets its own code. At version [`VERSIONS`] counting ends, and the cell is an ordinary one: so one that is
//! written all the time can't have code made for it for ever.
//!
//! (The technique is that of versioned objects: C. F. Bolz, L. Tratt, *The Impact of Meta-Tracing on VM Design and
//! Implementation*, 2015.)
//!
//! ```text
//! get(cell):  if is_constant(cell) && promote(cell.version) < VERSIONS { known(cell, version) } else { cell.value }
//! set(cell):  cell.value = value; cell.version += cell.version < VERSIONS
//! known(cell, version), elidable:  cell.value, if that is still the cell's version
//! ```
//!
//! A compiler that is ahead of the run folds a write and what reads it behind it: there `known` is called with a
//! version that the cell hasn't come to yet, traps, and so is left to the run.

use super::items::Program;
use super::types::Ty;
use crate::ir::{Field, RustType, Scalar, StructDecl};
use crate::text::parse_graph;
use std::rc::Rc;

/// So many versions of a cell have code of their own; `hueshift::prelude::QuasiCell` counts as far.
const VERSIONS: u32 = 8;

/// What the names of the types begin with: no item of a source can be named like this.
const PREFIX: &str = "QuasiCell.";

/// The name of the type `QuasiCell<scalar>`.
fn type_name(scalar: Scalar) -> String {
    format!("{PREFIX}{}", scalar.name())
}

/// What is in a `QuasiCell`, if the struct is one.
pub(super) fn content(name: &str) -> Option<Scalar> {
    Scalar::from_name(name.strip_prefix(PREFIX)?)
}

/// The types of its fields.
pub(super) fn fields(content: Scalar) -> Vec<Ty> {
    [content, Scalar::U32].map(|scalar| Ty::Cell(Rc::new(Ty::Scalar(scalar)))).to_vec()
}

/// The key of the function that reads one, or writes it.
pub(super) fn function(content: Scalar, name: &str) -> String {
    format!("{}::{name}", type_name(content))
}

impl Program<'_> {
    /// The type `QuasiCell<scalar>`, laid out.
    pub(super) fn quasi_cell(&self, content: Scalar) -> Ty {
        let name = type_name(content);
        let mut module = self.module.borrow_mut();
        if !module.structs.contains_key(&name) {
            let types = [content, Scalar::U32].map(|scalar| RustType::Cell(Box::new(RustType::Scalar(scalar))));
            let (offsets, size, align) = module.tuple_offsets(&types);
            let fields = ["value", "version"].iter().zip(types).zip(offsets);
            let fields =
                fields.map(|((name, ty), offset)| Field { name: (*name).to_owned(), ty, offset, green: false });
            let decl = StructDecl { name: name.clone(), tuple: false, fields: fields.collect(), size, align };
            module.structs.insert(name.clone(), decl);
        }
        Ty::Struct(name.into())
    }

    /// Whether a value of the type has a `QuasiCell` in it.
    pub(super) fn has_quasi_cell(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Struct(name) => {
                content(name).is_some() || self.field_types(name).iter().any(|t| self.has_quasi_cell(t))
            }
            Ty::Enum(name) => self.enum_types(name).iter().flatten().any(|t| self.has_quasi_cell(t)),
            Ty::Tuple(items) => items.iter().any(|t| self.has_quasi_cell(t)),
            Ty::Array(t, _) | Ty::Option(t) | Ty::Cell(t) => self.has_quasi_cell(t),
            Ty::Result(t, e) => self.has_quasi_cell(t) || self.has_quasi_cell(e),
            _ => false,
        }
    }

    /// Notes that `get` is called: what it calls is reached, too.
    pub(super) fn note_quasi_get(&self, content: Scalar) {
        let mut calls = self.calls.borrow_mut();
        calls.entry(function(content, "get")).or_default().insert(function(content, "known"));
    }

    /// Adds the functions of cells that are called.
    pub(super) fn add_quasi_functions(&self) {
        let calls = self.calls.borrow();
        let called = |key: &str| calls.values().any(|callees| callees.contains(key));
        let mut module = self.module.borrow_mut();
        for content in &Scalar::ALL {
            for (name, text) in [("get", get(*content)), ("known", known(*content)), ("set", set(*content))] {
                let key = function(*content, name);
                if !called(&key) {
                    continue;
                }
                let offset = module.structs.get(&type_name(*content)).map_or(0, |decl| decl.fields[1].offset);
                let text = text.replace("OFFSET", &offset.to_string());
                match parse_graph(&text, &module) {
                    Ok(graph) => _ = module.graphs.insert(key, graph),
                    Err(error) => unreachable!("the text of `{key}` is that of a graph: {error}"),
                }
            }
        }
    }
}

/// The descriptors of the value and of the version.
fn places(content: Scalar) -> [String; 2] {
    let (class, access) = (type_name(content), content.access().name());
    [format!("{{{class:?}.value {access} +0 shared}}"), format!("{{{class:?}.version u32 +OFFSET shared}}")]
}

fn get(content: Scalar) -> String {
    let ([value, version], ty, rust) = (places(content), content.ty().name(), content.name());
    let (key, known, class) = (function(content, "get"), function(content, "known"), type_name(content));
    format!(
        "graph {key}(cell: int) -> {ty} {{
    doc \"What is in a cell that is written rarely.\"
    signature fn(cell: &{class}) -> {rust}
b0(v0: int):
    v1 = is_constant v0
    branch v1, b1, b3
b1:
    v2 = getfield v0 {version}
    v3 = promote v2
    v4 = int_lt v3, {VERSIONS}
    branch v4, b2, b3
b2:
    v5: {ty} = call_elidable {known}(v0, v3)
    return v5
b3:
    v6 = getfield v0 {value}
    return v6
}}
"
    )
}

fn known(content: Scalar) -> String {
    let ([value, version], ty, rust) = (places(content), content.ty().name(), content.name());
    let (key, class) = (function(content, "known"), type_name(content));
    format!(
        "graph {key}(cell: int, version: int) -> {ty} {{
    doc \"What is in a cell of this version.\"
    signature fn(cell: &{class}, version: u32) -> {rust}
    attributes elidable
b0(v0: int, v1: int):
    v2 = getfield v0 {version}
    v3 = int_eq v2, v1
    branch v3, b1, b2
b1:
    v4 = getfield v0 {value}
    return v4
b2:
    trap unreachable \"another version of a cell\"
}}
"
    )
}

fn set(content: Scalar) -> String {
    let ([value, version], ty, rust) = (places(content), content.ty().name(), content.name());
    let (key, class) = (function(content, "set"), type_name(content));
    format!(
        "graph {key}(cell: int, value: {ty}) {{
    doc \"Puts something else into a cell.\"
    signature fn(cell: &{class}, value: {rust})
b0(v0: int, v1: {ty}):
    setfield v0, v1 {value}
    v2 = getfield v0 {version}
    v3 = int_lt v2, {VERSIONS}
    v4 = int_add v2, v3
    setfield v0, v4 {version}
    return
}}
"
    )
}
