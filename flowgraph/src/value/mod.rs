//! Rust values at the edge of a run: arguments as text, in memory and as words; results and memory as `{:?}` text.
//!
//! ```text
//! parse       "0xA5A,{left: 1, right: 2}"  ->  a Value for each parameter
//! Arguments   Values                       ->  images of memory, words for the leaves, constants for the green ones
//! debug       words or memory              ->  "Pair { left: 1, right: 2 }", as Rust prints it
//! ```
//!
//! ```
//! use flowgraph::{ir::*, memory::Memory, value};
//! let module = Module::default();
//! let slice = RustType::Slice { mutable: true, elem: Box::new(RustType::Scalar(Scalar::I64)) };
//! let signature = Signature { params: vec![Param { name: "a".into(), ty: slice }], result: RustType::Unit };
//! let arguments = value::Arguments::parse(&module, &signature, "[4, 5]").unwrap();
//! let mut memory = Memory::new();
//! let placed = arguments.place(&mut memory);
//! memory.store(placed.words()[0], Access::I64, 6).unwrap();
//! assert_eq!(arguments.after(&module, &placed, &memory).unwrap()["a"], "[6, 5]");
//! ```

mod arguments;
mod debug;
mod parse;
#[cfg(test)]
mod tests;

pub use arguments::{Arguments, Image, LeafValue, Placed, has_cell, leads_to, part_path};
pub use debug::{debug, debug_words};
pub use parse::{ArgumentError, parse};

use crate::ir::{Field, Module, RustType, Scalar, Word};
use crate::memory::{BadAccess, Memory};

/// A value of some [`RustType`], which says how to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar.
    Word(Word),
    /// A variant of an enum, by index, and its fields. (No variant has the index `usize::MAX`: memory held a tag that
    /// none has.)
    Variant(usize, Vec<Value>),
    /// The fields of a struct, the items of a tuple, the elements of an array, the bytes of a `&str`, or nothing at
    /// all.
    Many(Vec<Value>),
    /// What a reference points to.
    Ref(Box<Value>),
    /// The elements of a slice.
    Slice(Vec<Value>),
}

/// References deeper than this are cut off when reading, and refused when parsing.
const MAX_DEPTH: usize = 100;

/// How many elements without a size a slice may have to be read.
const MAX_EMPTY: u64 = 1 << 26;

/// What stands for a variant where no variant has the tag.
const NO_VARIANT: usize = usize::MAX;

/// The types of the parts of a struct, tuple or array, with their offsets in memory.
pub fn parts<'t>(module: &'t Module, ty: &'t RustType) -> Vec<(&'t RustType, u32)> {
    match ty {
        RustType::Struct(name) => {
            module.structs.get(name).iter().flat_map(|s| &s.fields).map(|f| (&f.ty, f.offset)).collect()
        }
        RustType::Tuple(items) => items.iter().zip(module.tuple_offsets(items).0).collect(),
        RustType::Array(elem, n) => {
            let size = module.layout(elem).0;
            (0..*n).map(|i| (&**elem, size * i as u32)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a slice or `&str` has as its elements.
fn element(ty: &RustType) -> RustType {
    match ty {
        RustType::Slice { elem, .. } => (**elem).clone(),
        _ => RustType::Scalar(Scalar::U8),
    }
}

/// Reads values from memory and words.
struct Reader<'a> {
    module: &'a Module,
    memory: &'a Memory,
}

impl Reader<'_> {
    fn at(&self, ty: &RustType, address: u64, depth: usize) -> Result<Value, BadAccess> {
        match ty {
            RustType::Unit | RustType::Never => Ok(Value::Many(Vec::new())),
            RustType::Scalar(s) => self.memory.load(address, s.access()).map(Value::Word),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let Some(decl) = self.module.enum_of(ty) else { return Ok(Value::Variant(NO_VARIANT, Vec::new())) };
                let tag = self.memory.load(address, decl.repr.access())?;
                let Some((index, variant)) = decl.variant(tag as i64) else {
                    return Ok(Value::Variant(NO_VARIANT, Vec::new()));
                };
                let field = |f: &Field| self.at(&f.ty, address + u64::from(f.offset), depth);
                Ok(Value::Variant(index, variant.fields.iter().map(field).collect::<Result<_, _>>()?))
            }
            RustType::Cell(inner) => self.at(inner, address, depth),
            RustType::Struct(_) | RustType::Tuple(_) | RustType::Array(..) => parts(self.module, ty)
                .iter()
                .map(|(part, offset)| self.at(part, address + u64::from(*offset), depth))
                .collect::<Result<_, _>>()
                .map(Value::Many),
            RustType::Ref { .. } | RustType::Slice { .. } | RustType::Str => {
                let load = |offset| self.memory.load(address + offset, crate::ir::Access::I64);
                let len = if matches!(ty, RustType::Ref { .. }) { 0 } else { load(8)? };
                self.behind(ty, load(0)?, len, depth)
            }
        }
    }

    /// What a reference of type `ty` points to.
    fn behind(&self, ty: &RustType, address: u64, len: u64, depth: usize) -> Result<Value, BadAccess> {
        if depth == MAX_DEPTH {
            return Err(BadAccess { address, size: 0, write: false });
        }
        if let RustType::Ref { to, .. } = ty {
            return Ok(Value::Ref(Box::new(self.at(to, address, depth + 1)?)));
        }
        let elem = element(ty);
        let size = u64::from(self.module.layout(&elem).0);
        // One check for all, so that a wild length ends here and not at the end of memory.
        if size > 0 && len > 0 {
            self.memory.read(address.wrapping_add(len.saturating_mul(size)).wrapping_sub(1), 1)?;
        }
        // Elements without a size are not in memory; more of them than arguments may have, nobody has written.
        if size == 0 && len > MAX_EMPTY {
            return Err(BadAccess { address, size: 0, write: false });
        }
        let elements = (0..len).map(|i| self.at(&elem, address + i * size, depth + 1));
        elements.collect::<Result<_, _>>().map(Value::Slice)
    }

    fn of_words(&self, ty: &RustType, words: &mut dyn Iterator<Item = Word>) -> Result<Value, BadAccess> {
        let mut next = || words.next().unwrap_or(0);
        match ty {
            RustType::Unit | RustType::Never => Ok(Value::Many(Vec::new())),
            RustType::Scalar(_) => Ok(Value::Word(next())),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let Some(decl) = self.module.enum_of(ty) else { return Ok(Value::Variant(NO_VARIANT, Vec::new())) };
                let tag = decl.repr.canonical(next());
                let payload: Vec<Word> = self.module.payload_words(&decl).iter().map(|_| next()).collect();
                let Some((index, variant)) = decl.variant(tag as i64) else {
                    return Ok(Value::Variant(NO_VARIANT, Vec::new()));
                };
                let places = self.module.variant_places(&decl).swap_remove(index);
                let mut words = places.into_iter().map(|at| payload.get(at).copied().unwrap_or(0));
                let fields =
                    variant.fields.iter().map(|f| self.of_words(&f.ty, &mut words as &mut dyn Iterator<Item = Word>));
                Ok(Value::Variant(index, fields.collect::<Result<_, _>>()?))
            }
            RustType::Cell(inner) => self.of_words(inner, words),
            RustType::Struct(_) | RustType::Tuple(_) | RustType::Array(..) => parts(self.module, ty)
                .iter()
                .map(|(part, _)| self.of_words(part, words))
                .collect::<Result<_, _>>()
                .map(Value::Many),
            RustType::Ref { .. } => self.behind(ty, next(), 0, 0),
            RustType::Slice { .. } | RustType::Str => {
                let address = next();
                self.behind(ty, address, next(), 0)
            }
        }
    }
}
