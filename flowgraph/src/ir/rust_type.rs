//! The Rust types of the dialect, as far as arguments, results and memory layouts need them.

use super::{Access, Module, Type};
use std::fmt::Write;

/// A Rust scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    Isize,
    U8,
    U16,
    U32,
    U64,
    Usize,
    Bool,
    Char,
    F64,
    F32,
}

impl Scalar {
    /// Every scalar.
    pub const ALL: [Scalar; 14] = [
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::Isize,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::Usize,
        Scalar::Bool,
        Scalar::Char,
        Scalar::F64,
        Scalar::F32,
    ];

    /// The Rust name.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::Isize => "isize",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::Usize => "usize",
            Scalar::Bool => "bool",
            Scalar::Char => "char",
            Scalar::F64 => "f64",
            Scalar::F32 => "f32",
        }
    }

    /// The scalar with this Rust name.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.iter().copied().find(|s| s.name() == name)
    }

    /// Width in bits (a bool has 8, a char 32, as in memory).
    pub fn bits(self) -> u32 {
        self.access().size() * 8
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::Isize)
    }

    /// Whether it is an integer (neither bool nor char nor float).
    pub fn is_integer(self) -> bool {
        !matches!(self, Scalar::Bool | Scalar::Char | Scalar::F64 | Scalar::F32)
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F64 | Scalar::F32)
    }

    /// The SSA type that holds it.
    pub fn ty(self) -> Type {
        self.access().ty()
    }

    /// How it lies in memory.
    pub fn access(self) -> Access {
        match self {
            Scalar::I8 => Access::I8,
            Scalar::U8 => Access::U8,
            Scalar::Bool => Access::Bool,
            Scalar::I16 => Access::I16,
            Scalar::U16 => Access::U16,
            Scalar::I32 => Access::I32,
            Scalar::U32 | Scalar::Char => Access::U32,
            Scalar::I64 | Scalar::U64 | Scalar::Isize | Scalar::Usize => Access::I64,
            Scalar::F64 => Access::F64,
            Scalar::F32 => Access::F32,
        }
    }

    /// The canonical word of this type whose low bits are those of `word`.
    pub fn canonical(self, word: u64) -> u64 {
        if self == Scalar::Bool { u64::from(word != 0) } else { self.access().truncate(word) }
    }

    /// The value as Rust's `{}` prints it.
    pub fn display(self, word: u64) -> String {
        let mut out = String::new();
        self.write_display(&mut out, word);
        out
    }

    fn write_display(self, out: &mut String, word: u64) {
        // Writing to a string can't fail.
        let _ = match self {
            Scalar::Bool => write!(out, "{}", word != 0),
            Scalar::Char => match char::from_u32(word as u32) {
                Some(c) => write!(out, "{c}"),
                None => write!(out, "\\u{{{word:x}}}"),
            },
            Scalar::F64 => write!(out, "{}", f64::from_bits(word)),
            Scalar::F32 => write!(out, "{}", f32::from_bits(word as u32)),
            s if s.is_signed() => write!(out, "{}", word as i64),
            _ => write!(out, "{word}"),
        };
    }

    /// The value as Rust's `{:?}` prints it.
    pub fn debug(self, word: u64) -> String {
        let mut out = String::new();
        self.write_debug(&mut out, word);
        out
    }

    /// Appends the value as Rust's `{:?}` prints it.
    pub fn write_debug(self, out: &mut String, word: u64) {
        // Writing to a string can't fail.
        let _ = match (self, char::from_u32(word as u32)) {
            (Scalar::Char, Some(c)) => write!(out, "{c:?}"),
            (Scalar::F64, _) => write!(out, "{:?}", f64::from_bits(word)),
            (Scalar::F32, _) => write!(out, "{:?}", f32::from_bits(word as u32)),
            _ => {
                self.write_display(out, word);
                Ok(())
            }
        };
    }
}

/// A Rust type of the dialect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RustType {
    /// `()`.
    Unit,
    /// The type of an expression that doesn't come back (`return`, `panic!`).
    Never,
    /// A scalar.
    Scalar(Scalar),
    /// `&T` or `&mut T`, `T` a struct, array, tuple or scalar: one address.
    Ref {
        /// `&mut`.
        mutable: bool,
        /// What it points to.
        to: Box<RustType>,
    },
    /// `&[T]` or `&mut [T]`: address and length.
    Slice {
        /// `&mut`.
        mutable: bool,
        /// The element type.
        elem: Box<RustType>,
    },
    /// `&str`: address and length.
    Str,
    /// A struct of the module, by value.
    Struct(String),
    /// An enum of the module, by value: its tag, and the union of its payloads' words.
    Enum(String),
    /// `Option<T>`: an enum of `None` (0) and `Some(T)` (1).
    Option(Box<RustType>),
    /// `Result<T, E>`: an enum of `Ok(T)` (0) and `Err(E)` (1).
    Result(Box<RustType>, Box<RustType>),
    /// A tuple by value.
    Tuple(Vec<RustType>),
    /// `[T; N]` by value.
    Array(Box<RustType>, u64),
    /// `Cell<T>`, only as a field.
    Cell(Box<RustType>),
}

impl std::fmt::Display for RustType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let amp = |mutable: &bool| if *mutable { "&mut " } else { "&" };
        match self {
            RustType::Unit => f.write_str("()"),
            RustType::Never => f.write_str("!"),
            RustType::Scalar(s) => f.write_str(s.name()),
            RustType::Ref { mutable, to } => write!(f, "{}{to}", amp(mutable)),
            RustType::Slice { mutable, elem } => write!(f, "{}[{elem}]", amp(mutable)),
            RustType::Str => f.write_str("&str"),
            RustType::Struct(name) | RustType::Enum(name) => f.write_str(name),
            RustType::Tuple(items) => {
                f.write_str("(")?;
                for (i, t) in items.iter().enumerate() {
                    write!(f, "{}{t}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            RustType::Array(elem, n) => write!(f, "[{elem}; {n}]"),
            RustType::Cell(inner) => write!(f, "Cell<{inner}>"),
            RustType::Option(inner) => write!(f, "Option<{inner}>"),
            RustType::Result(ok, err) => write!(f, "Result<{ok}, {err}>"),
        }
    }
}

/// A field of a struct, or of an enum's variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; `0`, `1`, … in a tuple struct.
    pub name: String,
    /// Its type.
    pub ty: RustType,
    /// Its offset in bytes, as `repr(C)` has it.
    pub offset: u32,
    /// `#[green]`: part of the key of the portals that are handed the struct.
    pub green: bool,
}

/// A struct with its `repr(C)` layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructDecl {
    /// Its name.
    pub name: String,
    /// `struct S(A, B);`
    pub tuple: bool,
    /// The fields in source order.
    pub fields: Vec<Field>,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

impl StructDecl {
    /// The name without the modules that it is in, as `{:?}` prints it.
    pub fn own_name(&self) -> &str {
        own_name(&self.name)
    }
}

/// The last part of a path.
pub fn own_name(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name (`_` for a pattern).
    pub name: String,
    /// Its type.
    pub ty: RustType,
}

/// The source signature of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The parameters.
    pub params: Vec<Param>,
    /// The result.
    pub result: RustType,
}

/// One SSA value of a Rust value: where it is in it, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The path from the whole: empty, `.left`, `.regs[3]`, `.len` of a slice, …
    pub path: String,
    /// How it is shown. Addresses and lengths are `usize`.
    pub scalar: Scalar,
    /// The leaf is the address of a reference, mutable or not.
    pub reference: Option<bool>,
    /// The leaf is the number of elements of a slice, whose address is the leaf before. A field that is called `len` is
    /// none.
    pub is_length: bool,
    /// The leaf is the tag of an enum: the least and the greatest that there are.
    pub tags: Option<(i64, i64)>,
}

impl RustType {
    /// A scalar type.
    pub const fn scalar(s: Scalar) -> RustType {
        RustType::Scalar(s)
    }

    /// Whether values of this type are, or contain, a `&mut`.
    pub fn has_exclusive(&self) -> bool {
        match self {
            RustType::Ref { mutable, .. } | RustType::Slice { mutable, .. } => *mutable,
            RustType::Tuple(items) => items.iter().any(RustType::has_exclusive),
            RustType::Option(inner) => inner.has_exclusive(),
            RustType::Result(ok, err) => ok.has_exclusive() || err.has_exclusive(),
            _ => false,
        }
    }
}

/// A `#[green]` field behind a `&mut` parameter of a portal. It is part of the key of the portal's merge point, which
/// has one more operand for each of them, behind those that are the parameters'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// The leaf, among those of all parameters, that is the address of the struct.
    pub leaf: usize,
    /// How it is written: `frame.sp`.
    pub path: String,
    /// Its offset from that address, in bytes.
    pub offset: i64,
    /// What lies there.
    pub scalar: Scalar,
}

impl Module {
    /// The `#[green]` fields of what the parameters of a portal with this signature refer to: by parameter, then as
    /// they lie in the source, those of structs and tuples inside of structs at the place of these.
    pub fn key_fields(&self, signature: &Signature) -> Vec<KeyField> {
        let (mut leaf, mut found) = (0, Vec::new());
        for param in &signature.params {
            if let RustType::Ref { mutable: true, to } = &param.ty {
                self.collect_key_fields(
                    to,
                    &KeyField { leaf, path: param.name.clone(), offset: 0, scalar: Scalar::Usize },
                    &mut found,
                );
            }
            leaf += self.leaves(&param.ty).len();
        }
        found
    }

    fn collect_key_fields(&self, ty: &RustType, at: &KeyField, found: &mut Vec<KeyField>) {
        let part = |name: &str, offset: u32| KeyField {
            path: format!("{}.{name}", at.path),
            offset: at.offset + i64::from(offset),
            ..at.clone()
        };
        match ty {
            RustType::Struct(name) => {
                for field in self.structs.get(name).iter().flat_map(|s| &s.fields) {
                    let part = part(&field.name, field.offset);
                    // An array has as many leaves as elements: names of places are asked for with each event.
                    match field.green.then(|| self.leaves(&field.ty)).as_deref() {
                        Some([leaf]) => found.push(KeyField { scalar: leaf.scalar, ..part }),
                        _ => self.collect_key_fields(&field.ty, &part, found),
                    }
                }
            }
            RustType::Tuple(items) => {
                let (offsets, _, _) = self.tuple_offsets(items);
                for (i, (item, offset)) in items.iter().zip(offsets).enumerate() {
                    self.collect_key_fields(item, &part(&i.to_string(), offset), found);
                }
            }
            _ => {}
        }
    }

    /// The SSA values that a value of type `ty` consists of, in order.
    pub fn leaves(&self, ty: &RustType) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.collect_leaves(ty, "", &mut out);
        out
    }

    fn collect_leaves(&self, ty: &RustType, path: &str, out: &mut Vec<Leaf>) {
        let leaf = |scalar, reference| Leaf { path: path.to_owned(), scalar, reference, is_length: false, tags: None };
        match ty {
            RustType::Unit | RustType::Never => {}
            RustType::Scalar(s) => out.push(leaf(*s, None)),
            RustType::Cell(inner) => self.collect_leaves(inner, path, out),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let Some(decl) = self.enum_of(ty) else { return out.push(leaf(Scalar::I32, None)) };
                let tags = || decl.variants.iter().map(|variant| variant.discriminant);
                let tag = Leaf { tags: tags().min().zip(tags().max()), ..leaf(decl.repr, None) };
                if !decl.has_payload() {
                    return out.push(tag);
                }
                out.push(Leaf { path: format!("{path}.tag"), ..tag });
                let words = self.payload_words(&decl).into_iter().enumerate();
                // Of another variant it may be anything.
                let word = |(i, word)| Leaf { path: format!("{path}.{i}"), is_length: false, tags: None, ..word };
                out.extend(words.map(word));
            }
            RustType::Ref { mutable, .. } => out.push(leaf(Scalar::Usize, Some(*mutable))),
            RustType::Slice { .. } | RustType::Str => {
                out.push(leaf(Scalar::Usize, Some(matches!(ty, RustType::Slice { mutable: true, .. }))));
                out.push(Leaf { path: format!("{path}.len"), is_length: true, ..leaf(Scalar::Usize, None) });
            }
            RustType::Struct(name) => {
                for field in self.structs.get(name).iter().flat_map(|s| &s.fields) {
                    self.collect_leaves(&field.ty, &format!("{path}.{}", field.name), out);
                }
            }
            RustType::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.collect_leaves(item, &format!("{path}.{i}"), out);
                }
            }
            RustType::Array(elem, n) => {
                let leaves = self.leaves(elem);
                for i in (0..*n).take_while(|_| !leaves.is_empty()) {
                    let place = |leaf: &Leaf| Leaf { path: format!("{path}[{i}]{}", leaf.path), ..leaf.clone() };
                    out.extend(leaves.iter().map(place));
                }
            }
        }
    }

    /// Whether a value of type `ty` is, or has in it, a reference.
    pub fn has_reference(&self, ty: &RustType) -> bool {
        match ty {
            RustType::Unit | RustType::Never | RustType::Scalar(_) => false,
            RustType::Ref { .. } | RustType::Slice { .. } | RustType::Str => true,
            RustType::Cell(inner) | RustType::Array(inner, _) | RustType::Option(inner) => self.has_reference(inner),
            RustType::Result(ok, err) => self.has_reference(ok) || self.has_reference(err),
            RustType::Enum(name) => {
                let variants = self.enums.get(name).map_or(&[][..], |e| &e.variants);
                variants.iter().flat_map(|v| &v.fields).any(|f| self.has_reference(&f.ty))
            }
            RustType::Tuple(items) => items.iter().any(|item| self.has_reference(item)),
            RustType::Struct(name) => {
                self.structs.get(name).iter().flat_map(|s| &s.fields).any(|f| self.has_reference(&f.ty))
            }
        }
    }

    /// Size and alignment of a type in memory, in bytes, as `repr(C)` has them.
    pub fn layout(&self, ty: &RustType) -> (u32, u32) {
        match ty {
            RustType::Unit | RustType::Never => (0, 1),
            RustType::Scalar(s) => (s.access().size(), s.access().size()),
            RustType::Ref { .. } => (8, 8),
            RustType::Slice { .. } | RustType::Str => (16, 8),
            RustType::Cell(inner) => self.layout(inner),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                self.enum_of(ty).map_or((4, 4), |e| (e.size, e.align))
            }
            RustType::Struct(name) => self.structs.get(name).map_or((0, 1), |s| (s.size, s.align)),
            RustType::Tuple(items) => {
                let offsets = self.tuple_offsets(items);
                (offsets.1, offsets.2)
            }
            RustType::Array(elem, n) => {
                let (size, align) = self.layout(elem);
                (size.saturating_mul(u32::try_from(*n).unwrap_or(u32::MAX)), align)
            }
        }
    }

    /// The offsets of a tuple's (or a struct's) fields in `repr(C)` order, its size and its alignment, in bytes.
    pub fn tuple_offsets(&self, items: &[RustType]) -> (Vec<u32>, u32, u32) {
        let (mut offsets, mut end, mut align) = (Vec::new(), 0u32, 1u32);
        for item in items {
            let (size, item_align) = self.layout(item);
            end = end.next_multiple_of(item_align);
            offsets.push(end);
            end = end.saturating_add(size);
            align = align.max(item_align);
        }
        (offsets, end.checked_next_multiple_of(align).unwrap_or(u32::MAX), align)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_fields_are_found_beside_arrays_of_any_length() {
        let field =
            |name: &str, ty: RustType, offset: u32, green: bool| Field { name: name.to_owned(), ty, offset, green };
        // Nobody could go through its elements.
        let memory = RustType::Array(Box::new(RustType::Scalar(Scalar::U8)), 1 << 60);
        let fields = vec![field("memory", memory, 8, false), field("pc", RustType::Scalar(Scalar::U16), 4, true)];
        let cpu = StructDecl { name: "Cpu".to_owned(), tuple: false, fields, size: u32::MAX, align: 8 };
        let mut module = Module::default();
        module.structs.insert("Cpu".to_owned(), cpu);
        let ty = RustType::Ref { mutable: true, to: Box::new(RustType::Struct("Cpu".to_owned())) };
        let params = vec![Param { name: "cpu".to_owned(), ty }];
        let found = module.key_fields(&Signature { params, result: RustType::Unit });
        let found: Vec<_> = found.iter().map(|field| (&*field.path, field.leaf, field.offset, field.scalar)).collect();
        assert_eq!(found, [("cpu.pc", 0, 4, Scalar::U16)]);
    }
}
