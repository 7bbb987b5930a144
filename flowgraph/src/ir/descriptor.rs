//! What a memory op touches: container class, byte range, and what the type system proves about it.

use super::Type;
use std::sync::Arc;

/// How a scalar lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// One signed byte, sign-extended when loaded.
    I8,
    /// One byte, zero-extended.
    U8,
    /// Two bytes, sign-extended.
    I16,
    /// Two bytes, zero-extended.
    U16,
    /// Four bytes, sign-extended.
    I32,
    /// Four bytes, zero-extended.
    U32,
    /// Eight bytes: any 64-bit integer, or an address.
    I64,
    /// An `f64`.
    F64,
    /// An `f32`.
    F32,
    /// One byte that is 0 or 1: a `bool`. Who edits graphs as text sees to it.
    Bool,
}

impl Access {
    /// Every way to access memory.
    pub const ALL: [Access; 10] = [
        Access::I8,
        Access::U8,
        Access::I16,
        Access::U16,
        Access::I32,
        Access::U32,
        Access::I64,
        Access::F64,
        Access::F32,
        Access::Bool,
    ];

    /// The least and the most that a load gives, where that is an integer of fewer bits than a word.
    pub fn range(self) -> (i64, i64) {
        match self {
            Access::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
            Access::U8 => (0, i64::from(u8::MAX)),
            Access::Bool => (0, 1),
            Access::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Access::U16 => (0, i64::from(u16::MAX)),
            Access::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Access::U32 => (0, i64::from(u32::MAX)),
            Access::I64 | Access::F64 | Access::F32 => (i64::MIN, i64::MAX),
        }
    }

    /// Size in bytes.
    pub fn size(self) -> u32 {
        match self {
            Access::I8 | Access::U8 | Access::Bool => 1,
            Access::I16 | Access::U16 => 2,
            Access::I32 | Access::U32 | Access::F32 => 4,
            Access::I64 | Access::F64 => 8,
        }
    }

    /// The type of the value that is loaded or stored.
    pub fn ty(self) -> Type {
        match self {
            Access::F64 => Type::Float,
            Access::F32 => Type::Single,
            _ => Type::Int,
        }
    }

    /// The name in text: `i8 u8 i16 u16 i32 u32 i64 f64 f32 bool`.
    pub fn name(self) -> &'static str {
        match self {
            Access::I8 => "i8",
            Access::U8 => "u8",
            Access::I16 => "i16",
            Access::U16 => "u16",
            Access::I32 => "i32",
            Access::U32 => "u32",
            Access::I64 => "i64",
            Access::F64 => "f64",
            Access::F32 => "f32",
            Access::Bool => "bool",
        }
    }

    /// What a load gives when the bytes at its place were stored from `word`: the low bytes, extended.
    pub fn truncate(self, word: u64) -> u64 {
        match self {
            Access::I8 => word as i8 as i64 as u64,
            Access::U8 | Access::Bool => u64::from(word as u8),
            Access::I16 => word as i16 as i64 as u64,
            Access::U16 => u64::from(word as u16),
            Access::I32 => word as i32 as i64 as u64,
            Access::U32 | Access::F32 => u64::from(word as u32),
            Access::I64 | Access::F64 => word,
        }
    }
}

/// What Rust proves about a place in memory, from the reference that it is reached through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemKind {
    /// A plain field behind `&`: never changes while the program can see it. In a residual graph that is as long as it
    /// runs: what is loaded through a `&` that was made of a `&mut` is exclusive there, or shared.
    Immutable,
    /// Behind `&mut`, or a local: nobody who isn't handed the reference can see or change it.
    Exclusive,
    /// A `Cell`: shared and mutable, also behind a `&mut`, from which `&`s may have been made that are in use.
    Shared,
}

impl MemKind {
    /// The name in text: `imm`, `excl` or `shared`.
    pub fn name(self) -> &'static str {
        match self {
            MemKind::Immutable => "imm",
            MemKind::Exclusive => "excl",
            MemKind::Shared => "shared",
        }
    }
}

/// The descriptor of a memory op. The byte range is `[base + offset + index * stride, … + access.size())`.
///
/// Two accesses may alias only if their classes are equal and their byte ranges overlap, and never if they are derived
/// from two different exclusive roots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemDesc {
    /// The container class: a struct's name, `[T]` for array elements of type `T`, `bytes` for those of type `u8`,
    /// which raw accesses go to as well, [`MemDesc::ANY`] for what may be a part of any.
    pub class: Arc<str>,
    /// The field's name: `regs`, `left`; `Some.0` in a variant of an enum, whose own is its `tag`; empty for elements.
    pub field: Arc<str>,
    /// Constant offset from the base, in bytes.
    pub offset: i32,
    /// Bytes from one element to the next; 0 for fields.
    pub stride: u32,
    /// How the scalar lies there.
    pub access: Access,
    /// What is proven about the place.
    pub kind: MemKind,
}

/// A local aggregate that needs an address: an array indexed by a variable, or a local whose reference is passed on.
/// Its bytes are zero when the `stack_slot` op makes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlotDesc {
    /// Size in bytes.
    pub size: u32,
    /// The source variable, for people.
    pub name: Arc<str>,
}

impl MemDesc {
    /// Whether it is a part of a `QuasiCell`: nothing else has its class.
    pub fn is_of_quasi_cell(&self) -> bool {
        self.class.starts_with("QuasiCell.")
    }

    /// Whether it is the version of a `QuasiCell`, which only ever goes up.
    pub fn is_version(&self) -> bool {
        self.is_of_quasi_cell() && &*self.field == "version"
    }

    /// The class of what may be a part of any container.
    pub const ANY: &str = "any";

    /// Whether accesses of two classes may touch the same bytes under one root. A scalar's own class (`i64`, behind a
    /// `&mut i64` made from a field) may be part of any container.
    ///
    /// ```
    /// use flowgraph::ir::MemDesc;
    /// assert!(MemDesc::classes_may_alias("i64", "Pair"));
    /// assert!(!MemDesc::classes_may_alias("[i64]", "Pair"));
    /// assert!(!MemDesc::classes_may_alias("bytes", "Pair"));
    /// assert!(MemDesc::classes_may_alias("bytes", MemDesc::ANY));
    /// ```
    pub fn classes_may_alias(a: &str, b: &str) -> bool {
        let is_part = |class: &str| class == MemDesc::ANY || super::Scalar::from_name(class).is_some();
        a == b || is_part(a) || is_part(b)
    }

    /// Whether two fields of one class never have a byte in common, in the same container or in two: fields of other
    /// variants of an enum may lie at the same place.
    ///
    /// ```
    /// use flowgraph::ir::MemDesc;
    /// assert!(MemDesc::fields_are_apart("left", "right") && MemDesc::fields_are_apart("tag", "Some.0"));
    /// assert!(MemDesc::fields_are_apart("Add.0", "Add.1"));
    /// assert!(!MemDesc::fields_are_apart("Add.0", "Sub.1"));
    /// assert!(!MemDesc::fields_are_apart("left", "left") && !MemDesc::fields_are_apart("", "left"));
    /// ```
    pub fn fields_are_apart(a: &str, b: &str) -> bool {
        let differ = |((one, _), (other, _)): ((&str, &str), (&str, &str))| one != other;
        let are_of_variants = a.split_once('.').zip(b.split_once('.')).is_some_and(differ);
        a != b && !a.is_empty() && !b.is_empty() && !are_of_variants
    }

    /// Whether two accesses with equal base and index touch exactly the same scalar.
    pub fn same_place(&self, other: &MemDesc) -> bool {
        (self.offset, self.stride, self.access) == (other.offset, other.stride, other.access)
    }
}
