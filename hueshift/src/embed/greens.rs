//! What greens refer to, as named data of the compiler's module.
//!
//! The memory stays where it is: an item of data gets its real address for its place, so that compiled code and the
//! program see the same. In graphs it has a name, that of the parameter, or the path from it to the reference
//! (`program.code`); so no graph shows an address. The walk along references goes through what can't change only, not
//! into a `Cell`.
#![allow(unsafe_code, reason = "adopts the memory behind references that the caller vouches for")]

use flowgraph::ir::{Access, Const, Data, DataId, Module, RustType, Scalar, Signature, Word};
use flowgraph::memory::{BadAccess, Memory};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::fmt::{Display, Formatter};

/// What one reference points to.
#[derive(Debug)]
struct Image {
    address: u64,
    size: u64,
    ty: RustType,
    name: String,
    bytes: Vec<u8>,
    /// Where references lie in it, and to what address they point.
    references: Vec<(u32, u64)>,
}

/// Named data that the leaves of greens refer to.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// By address: size, item.
    places: BTreeMap<u64, (u64, DataId)>,
}

impl Named {
    fn constant(&self, address: u64) -> Const {
        let found = self.places.range(..=address).next_back();
        match found.filter(|(start, (size, _))| address - **start < (*size).max(1)) {
            Some((start, (_, data))) => Const::Addr(*data, (address - start) as i64),
            // Nothing lies there, so the address of it is anybody's: one that is the same in every run.
            None => Const::Int(EMPTY),
        }
    }
}

/// The address of what has no size.
const EMPTY: i64 = 16;

/// Reads what the words of greens refer to.
struct Walk<'a> {
    module: &'a Module,
    /// Open: reads anything.
    memory: &'a Memory,
    images: Vec<Image>,
    waiting: VecDeque<usize>,
    seen: FxHashSet<(u64, RustType)>,
}

/// Makes what the greens refer to items of the module's data, placed in `memory` where it lies. Gives the constants
/// that the greens' leaves are, in order.
///
/// # Errors
/// If a reference leads to no memory: then the types of the source were not kept.
///
/// # Safety
/// The words are those of values of the parameters' types, and what they refer to stays as it is while `memory` is
/// used.
pub(super) unsafe fn name_greens(
    module: &mut Module,
    memory: &mut Memory,
    signature: &Signature,
    greens: &[usize],
    words: &[Word],
) -> Result<Vec<Const>, BadAccess> {
    let mut reader = Memory::new();
    // SAFETY: the walk reads what the types of references that the caller vouches for give it.
    unsafe { reader.trust_foreign() };
    reader.open_foreign(true);
    let mut walk =
        Walk { module, memory: &reader, images: Vec::new(), waiting: VecDeque::new(), seen: FxHashSet::default() };
    let mut taken = words.iter().copied();
    for param in greens.iter().filter_map(|g| signature.params.get(*g)) {
        walk.of_words(&param.ty, &mut taken, Path::Of(&param.name));
    }
    while let Some(image) = walk.waiting.pop_front() {
        let Image { ty, name, address, .. } = &walk.images[image];
        let (ty, name, address) = (ty.clone(), name.clone(), *address);
        walk.read(image, &ty, address, Path::Of(&name))?;
    }
    let mut named = Named::default();
    let (placed, merged): (Vec<Image>, Vec<Image>) =
        merge(walk.images).into_iter().partition(|image| item_around(memory, image).is_some());
    for image in placed {
        // A constant of the interpreter that compiled code has handed on.
        if let Some((start, size, id)) = item_around(memory, &image) {
            named.places.insert(start, (size, id));
        }
    }
    let (first, count) = (module.data.len(), merged.len());
    let targets: BTreeMap<u64, DataId> =
        merged.iter().enumerate().map(|(i, image)| (image.address, DataId((first + i) as u32))).collect();
    for image in merged {
        let mut name = image.name;
        while module.data.iter().any(|d| d.name == name) {
            name.push('_');
        }
        // A reference into the middle of an item has no way to be written down; only texts would show it.
        let known = |(at, to): &(u32, u64)| targets.get(to).map(|id| (*at, *id));
        let references = image.references.iter().filter_map(known).collect();
        module.add_data(Data { name, ty: image.ty, bytes: image.bytes, references });
        // SAFETY: the caller vouches for the memory; merged images don't overlap.
        let id = unsafe { memory.adopt_data(image.address, image.size) };
        named.places.insert(image.address, (image.size, id));
    }
    debug_assert_eq!(module.data.len(), first + count);
    let mut out = Vec::new();
    let mut taken = words.iter().copied();
    for param in greens.iter().filter_map(|g| signature.params.get(*g)) {
        for leaf in module.leaves(&param.ty) {
            let word = taken.next().unwrap_or_default();
            out.push(match leaf.reference {
                Some(_) => named.constant(word),
                None => Const::from_word(leaf.scalar.ty(), word),
            });
        }
    }
    Ok(out)
}

/// The item of data that has its place already and that an image lies in: where it begins, its size, and its id.
fn item_around(memory: &Memory, image: &Image) -> Option<(u64, u64, DataId)> {
    let Some(Const::Addr(id, offset)) = memory.symbol(image.address) else { return None };
    let (start, size) = (image.address - offset as u64, memory.data_size(id));
    (image.size > 0 && image.address + image.size <= start + size).then_some((start, size, id))
}

/// The way from a parameter to a part of what it refers to: made a text of only where something is named after it.
#[derive(Clone, Copy)]
enum Path<'a> {
    Of(&'a str),
    Field(&'a Path<'a>, &'a str),
    Part(&'a Path<'a>, u64),
    Item(&'a Path<'a>, u64),
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Path::Of(name) => f.write_str(name),
            Path::Field(of, name) => write!(f, "{of}.{name}"),
            Path::Part(of, at) => write!(f, "{of}.{at}"),
            Path::Item(of, at) => write!(f, "{of}[{at}]"),
        }
    }
}

/// What is done with a part of an aggregate: its type, its offset and the way to it.
type OfPart<'f, 'm, E> = dyn FnMut(&mut Walk<'m>, &RustType, u64, Path<'_>) -> Result<(), E> + 'f;

impl<'m> Walk<'m> {
    fn of_words(&mut self, ty: &RustType, words: &mut dyn Iterator<Item = Word>, name: Path<'_>) {
        let mut next = || words.next().unwrap_or_default();
        match ty {
            RustType::Ref { to, .. } => self.image(to, next(), None, name),
            RustType::Slice { elem, .. } => {
                let address = next();
                self.image(elem, address, Some(next()), name);
            }
            RustType::Str => {
                let address = next();
                self.image(&RustType::Scalar(Scalar::U8), address, Some(next()), name);
            }
            RustType::Struct(_) | RustType::Tuple(_) | RustType::Array(..) => {
                let done = self.each_part(ty, name, &mut |walk, part, _, name| {
                    walk.of_words(part, words, name);
                    Ok::<(), Infallible>(())
                });
                let Ok(()) = done;
            }
            RustType::Cell(inner) => self.of_words(inner, words, name),
            RustType::Scalar(_) => drop(next()),
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let leaves = self.module.leaves(ty).len();
                let own: Vec<Word> = (0..leaves).map(|_| next()).collect();
                let module = self.module;
                let Some(decl) = module.enum_of(ty) else { return };
                let Some((index, variant)) = own.first().and_then(|tag| decl.variant(*tag as i64)) else { return };
                let places = &module.variant_places(&decl)[index];
                let mut words = places.iter().filter_map(|at| own.get(at + 1).copied());
                for field in &variant.fields {
                    let words = &mut words as &mut dyn Iterator<Item = Word>;
                    self.of_words(&field.ty, words, Path::Field(&name, &field.name));
                }
            }
            RustType::Unit | RustType::Never => {}
        }
    }

    /// Notes what a reference points to, to be read later. `count` elements of a slice.
    fn image(&mut self, ty: &RustType, address: u64, count: Option<u64>, name: Path<'_>) {
        let ty = match count {
            Some(n) => RustType::Array(Box::new(ty.clone()), n),
            None => ty.clone(),
        };
        let size = match &ty {
            RustType::Array(elem, n) => u64::from(self.module.layout(elem).0).saturating_mul(*n),
            ty => u64::from(self.module.layout(ty).0),
        };
        if size == 0 || !self.seen.insert((address, ty.clone())) {
            return;
        }
        let bytes = vec![0; size as usize];
        self.images.push(Image { address, size, ty, name: name.to_string(), bytes, references: Vec::new() });
        self.waiting.push_back(self.images.len() - 1);
    }

    /// Does something with each part of an aggregate.
    fn each_part<E>(&mut self, ty: &RustType, name: Path<'_>, f: &mut OfPart<'_, 'm, E>) -> Result<(), E> {
        match ty {
            RustType::Struct(key) => {
                for field in self.module.structs.get(key).map_or(&[][..], |s| &s.fields) {
                    f(self, &field.ty, u64::from(field.offset), Path::Field(&name, &field.name))?;
                }
            }
            RustType::Tuple(items) => {
                let offsets = self.module.tuple_offsets(items).0;
                for (i, (ty, at)) in (0..).zip(items.iter().zip(offsets)) {
                    f(self, ty, u64::from(at), Path::Part(&name, i))?;
                }
            }
            RustType::Array(elem, n) => {
                let size = u64::from(self.module.layout(elem).0);
                for i in 0..*n {
                    f(self, elem, i * size, Path::Item(&name, i))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn read(&mut self, image: usize, ty: &RustType, at: u64, name: Path<'_>) -> Result<(), BadAccess> {
        let offset = at - self.images[image].address;
        match ty {
            RustType::Scalar(s) => self.copy(image, at, s.access())?,
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                let module = self.module;
                let Some(decl) = module.enum_of(ty) else { return Ok(()) };
                self.copy(image, at, decl.repr.access())?;
                let tag = self.memory.load(at, decl.repr.access())?;
                let fields = decl.variant(tag as i64).map_or(&[][..], |(_, v)| &v.fields);
                for field in fields {
                    self.read(image, &field.ty, at + u64::from(field.offset), Path::Field(&name, &field.name))?;
                }
            }
            RustType::Cell(inner) if !self.module.has_reference(inner) => self.read(image, inner, at, name)?,
            RustType::Array(elem, n) if matches!(**elem, RustType::Scalar(_)) => {
                let size = u64::from(self.module.layout(elem).0);
                let bytes = self.memory.read(at, size * n)?;
                self.images[image].bytes[offset as usize..][..bytes.len()].copy_from_slice(&bytes);
            }
            RustType::Struct(_) | RustType::Tuple(_) | RustType::Array(..) => {
                self.each_part(ty, name, &mut |walk, part, offset, name| walk.read(image, part, at + offset, name))?;
            }
            RustType::Ref { to, .. } => {
                let target = self.memory.load(at, Access::I64)?;
                self.images[image].references.push((offset as u32, target));
                self.image(to, target, None, name);
            }
            RustType::Slice { .. } | RustType::Str => {
                let target = self.memory.load(at, Access::I64)?;
                let len = self.memory.load(at + 8, Access::I64)?;
                self.copy(image, at + 8, Access::I64)?;
                let elem = match ty {
                    RustType::Slice { elem, .. } => (**elem).clone(),
                    _ => RustType::Scalar(Scalar::U8),
                };
                if len > 0 {
                    self.images[image].references.push((offset as u32, target));
                }
                self.image(&elem, target, Some(len), name);
            }
            RustType::Cell(_) | RustType::Unit | RustType::Never => {}
        }
        Ok(())
    }

    fn copy(&mut self, image: usize, at: u64, access: Access) -> Result<(), BadAccess> {
        let word = self.memory.load(at, access)?.to_le_bytes();
        let (offset, size) = ((at - self.images[image].address) as usize, access.size() as usize);
        self.images[image].bytes[offset..offset + size].copy_from_slice(&word[..size]);
        Ok(())
    }
}

/// Images that don't overlap: those that did are one each, of bytes unless one of them holds all others.
fn merge(mut images: Vec<Image>) -> Vec<Image> {
    images.sort_by_key(|i| (i.address, std::cmp::Reverse(i.size)));
    let mut out: Vec<Image> = Vec::new();
    for image in images {
        let Some(last) = out.last_mut().filter(|last| image.address < last.address + last.size) else {
            out.push(image);
            continue;
        };
        let shift = image.address - last.address;
        let end = shift + image.size;
        if end > last.size {
            last.bytes.resize(end as usize, 0);
            last.size = end;
            last.ty = RustType::Array(Box::new(RustType::Scalar(Scalar::U8)), end);
        }
        for (at, byte) in image.bytes.iter().enumerate() {
            last.bytes[shift as usize + at] |= byte;
        }
        for (at, to) in image.references {
            let reference = (at + shift as u32, to);
            if !last.references.contains(&reference) {
                last.references.push(reference);
            }
        }
    }
    out
}
