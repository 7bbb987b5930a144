//! Types while checking: those of the dialect, with inference variables, and how many SSA values each takes.

use super::items::Program;
use crate::ir::{Module, RustType, Scalar};
use std::rc::Rc;

/// A type, possibly with inference variables in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    /// Something refused already: fits everything.
    Error,
    Unit,
    Never,
    Scalar(Scalar),
    Ref(bool, Rc<Ty>),
    Slice(bool, Rc<Ty>),
    Str,
    Struct(Rc<str>),
    Enum(Rc<str>),
    Tuple(Rc<[Ty]>),
    Array(Rc<Ty>, u64),
    Cell(Rc<Ty>),
    /// `Option<T>`: an enum of `None` and `Some`.
    Option(Rc<Ty>),
    /// `Result<T, E>`: an enum of `Ok` and `Err`.
    Result(Rc<Ty>, Rc<Ty>),
    Var(u32),
}

pub(super) const BOOL: Ty = Ty::Scalar(Scalar::Bool);
pub(super) const USIZE: Ty = Ty::Scalar(Scalar::Usize);

impl Ty {
    pub(super) fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Ty::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// Whether values of the type hold a `&mut`, or a reference at all if `any`.
    pub(super) fn has_reference(&self, any: bool) -> bool {
        match self {
            Ty::Ref(m, _) | Ty::Slice(m, _) => any || *m,
            Ty::Str => any,
            Ty::Tuple(items) => items.iter().any(|t| t.has_reference(any)),
            Ty::Array(t, _) | Ty::Option(t) | Ty::Cell(t) => t.has_reference(any),
            Ty::Result(t, e) => t.has_reference(any) || e.has_reference(any),
            _ => false,
        }
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let amp = |mutable: &bool| if *mutable { "&mut " } else { "&" };
        match self {
            Ty::Error | Ty::Var(_) => f.write_str("_"),
            Ty::Unit => f.write_str("()"),
            Ty::Never => f.write_str("!"),
            Ty::Scalar(s) => f.write_str(s.name()),
            Ty::Ref(m, t) => write!(f, "{}{t}", amp(m)),
            Ty::Slice(m, t) => write!(f, "{}[{t}]", amp(m)),
            Ty::Str => f.write_str("&str"),
            Ty::Struct(n) | Ty::Enum(n) => f.write_str(n),
            Ty::Tuple(items) => {
                f.write_str("(")?;
                for (i, t) in items.iter().enumerate() {
                    write!(f, "{}{t}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Ty::Array(t, n) => write!(f, "[{t}; {n}]"),
            Ty::Cell(t) => write!(f, "Cell<{t}>"),
            Ty::Option(t) => write!(f, "Option<{t}>"),
            Ty::Result(t, e) => write!(f, "Result<{t}, {e}>"),
        }
    }
}

/// The type as the IR has it. `None` for unresolved types.
pub(super) fn rust_type(ty: &Ty) -> Option<RustType> {
    Some(match ty {
        Ty::Unit => RustType::Unit,
        Ty::Never => RustType::Never,
        Ty::Scalar(s) => RustType::Scalar(*s),
        Ty::Ref(mutable, t) => RustType::Ref { mutable: *mutable, to: Box::new(rust_type(t)?) },
        Ty::Slice(mutable, t) => RustType::Slice { mutable: *mutable, elem: Box::new(rust_type(t)?) },
        Ty::Str => RustType::Str,
        Ty::Struct(n) => RustType::Struct(n.to_string()),
        Ty::Enum(n) => RustType::Enum(n.to_string()),
        Ty::Tuple(items) => RustType::Tuple(items.iter().map(rust_type).collect::<Option<_>>()?),
        Ty::Array(t, n) => RustType::Array(Box::new(rust_type(t)?), *n),
        Ty::Cell(t) => RustType::Cell(Box::new(rust_type(t)?)),
        Ty::Option(t) => RustType::Option(Box::new(rust_type(t)?)),
        Ty::Result(t, e) => RustType::Result(Box::new(rust_type(t)?), Box::new(rust_type(e)?)),
        Ty::Error | Ty::Var(_) => return None,
    })
}

/// The container class of the elements of a `[elem]`, and of what a reference to a lone `elem` points to: everything
/// that may be the same memory has the same class.
pub(super) fn element_class(elem: &Ty) -> String {
    match elem {
        Ty::Scalar(Scalar::U8) => "bytes".to_owned(),
        _ => format!("[{elem}]"),
    }
}

impl Program<'_> {
    /// How many SSA values a value of the type takes.
    pub(super) fn leaf_count(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Error | Ty::Unit | Ty::Never | Ty::Var(_) => 0,
            Ty::Scalar(_) | Ty::Ref(..) => 1,
            Ty::Enum(_) | Ty::Option(_) | Ty::Result(..) => {
                self.shape(ty).map_or(1, |shape| 1 + shape.words.len() as u64)
            }
            Ty::Slice(..) | Ty::Str => 2,
            Ty::Struct(name) => self.field_types(name).iter().fold(0, |n, t| n.saturating_add(self.leaf_count(t))),
            Ty::Tuple(items) => items.iter().fold(0, |n: u64, t| n.saturating_add(self.leaf_count(t))),
            Ty::Array(t, n) => self.leaf_count(t).saturating_mul(*n),
            Ty::Cell(t) => self.leaf_count(t),
        }
    }

    /// The scalars of the SSA values, in order. Only for types of few leaves.
    pub(super) fn leaf_scalars(&self, ty: &Ty, out: &mut Vec<Scalar>) {
        match ty {
            Ty::Error | Ty::Unit | Ty::Never | Ty::Var(_) => {}
            Ty::Scalar(s) => out.push(*s),
            Ty::Enum(_) | Ty::Option(_) | Ty::Result(..) => match self.shape(ty) {
                Some(shape) => out.extend([shape.repr].iter().chain(&shape.words)),
                None => out.push(Scalar::I32),
            },
            Ty::Ref(..) => out.push(Scalar::Usize),
            Ty::Slice(..) | Ty::Str => out.extend([Scalar::Usize, Scalar::Usize]),
            Ty::Struct(name) => self.field_types(name).iter().for_each(|t| self.leaf_scalars(t, out)),
            Ty::Tuple(items) => items.iter().for_each(|t| self.leaf_scalars(t, out)),
            Ty::Array(t, n) => {
                let mut one = Vec::new();
                self.leaf_scalars(t, &mut one);
                (0..*n).take_while(|_| !one.is_empty()).for_each(|_| out.extend(&one));
            }
            Ty::Cell(t) => self.leaf_scalars(t, out),
        }
    }

    /// The types of the fields of a struct or tuple.
    pub(super) fn fields_of(&self, ty: &Ty) -> Vec<Ty> {
        match ty {
            Ty::Struct(name) => self.field_types(name),
            Ty::Tuple(items) => items.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Size and alignment in memory.
    pub(super) fn layout(&self, ty: &Ty) -> (u32, u32) {
        rust_type(ty).map_or((0, 1), |t| self.module.borrow().layout(&t))
    }

    /// The byte offset of field `index` of a struct or tuple, and the field's name.
    pub(super) fn field_place(&self, ty: &Ty, index: usize) -> (u32, String) {
        match ty {
            Ty::Struct(name) => {
                let module = self.module.borrow();
                let field = module.structs.get(&**name).and_then(|s| s.fields.get(index));
                field.map_or((0, String::new()), |f| (f.offset, f.name.clone()))
            }
            Ty::Tuple(items) => {
                let items: Vec<RustType> = items.iter().filter_map(rust_type).collect();
                let offsets = Module::tuple_offsets(&self.module.borrow(), &items).0;
                (offsets.get(index).copied().unwrap_or(0), index.to_string())
            }
            _ => (0, String::new()),
        }
    }
}
