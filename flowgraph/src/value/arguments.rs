//! Arguments: from values to memory and words, and what became of them after a run.

use super::{ArgumentError, Reader, Value, debug, element, parse, parts};
use crate::ir::{Access, Const, Data, DataId, Module, RustType, Scalar, Signature, Type, Word};
use crate::memory::{BadAccess, Memory};
use indexmap::IndexMap;

/// What lies behind one reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The path of the reference: `p`, `vm.code`.
    pub name: String,
    /// What it refers to.
    pub ty: RustType,
    /// The parameter that it belongs to.
    pub param: usize,
    /// The bytes; zero where references lie.
    pub bytes: Vec<u8>,
    /// Where the addresses of other images go: offset, image.
    pub references: Vec<(usize, usize)>,
    /// The image is an item of the module's data.
    pub data: Option<DataId>,
}

/// One leaf of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafValue {
    /// A word of this type.
    Word(Type, Word),
    /// The address of an image.
    Address(usize),
}

/// The arguments of one call, apart from any memory: they may be placed as often as there are runs.
#[derive(Clone, Debug)]
pub struct Arguments {
    signature: Signature,
    images: Vec<Image>,
    /// For each parameter its leaves.
    leaves: Vec<Vec<LeafValue>>,
}

/// Arguments that lie in some memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    words: Vec<Vec<Word>>,
    addresses: Vec<u64>,
}

impl Placed {
    /// The words of all parameters' leaves, in order: the arguments of a call.
    pub fn words(&self) -> Vec<Word> {
        self.words.concat()
    }

    /// The words of one parameter's leaves.
    pub fn parameter(&self, param: usize) -> &[Word] {
        &self.words[param]
    }
}

impl Arguments {
    /// The arguments written as `text` (see [`parse`]).
    ///
    /// # Errors
    /// If the text doesn't fit the signature.
    pub fn parse(module: &Module, signature: &Signature, text: &str) -> Result<Arguments, ArgumentError> {
        Ok(Arguments::new(module, signature, &parse(module, signature, text)?))
    }

    /// The arguments with these values, one for each parameter.
    pub fn new(module: &Module, signature: &Signature, values: &[Value]) -> Arguments {
        let mut builder = Builder { module, images: Vec::new(), param: 0 };
        let mut leaves = Vec::new();
        for (i, (param, value)) in signature.params.iter().zip(values).enumerate() {
            builder.param = i;
            let mut out = Vec::new();
            builder.leaves(&param.ty, value, Path::Parameter(&param.name), &mut out);
            leaves.push(out);
        }
        Arguments { signature: signature.clone(), images: builder.images, leaves }
    }

    /// What lies behind the references in them, by number.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The leaves of each parameter.
    pub fn leaves(&self) -> &[Vec<LeafValue>] {
        &self.leaves
    }

    /// Makes what the references in the parameters `greens` point to items of the module's data, named after the
    /// parameters, so that their addresses are symbolic constants. To be done before the memory is made (or before
    /// [`Memory::add_data`]).
    pub fn name_greens(&mut self, module: &mut Module, greens: &[usize]) {
        for image in 0..self.images.len() {
            if greens.contains(&self.images[image].param) {
                self.name(module, image);
            }
        }
    }

    /// Makes an image an item of data, after what it refers to.
    fn name(&mut self, module: &mut Module, image: usize) -> DataId {
        if let Some(data) = self.images[image].data {
            return data;
        }
        let references = self.images[image].references.clone();
        let references = references.iter().map(|(at, to)| (*at as u32, self.name(module, *to))).collect();
        let image = &mut self.images[image];
        let mut name = image.name.clone();
        while module.data.iter().any(|d| d.name == name) {
            name.push('_');
        }
        let data = Data { name, ty: image.ty.clone(), bytes: image.bytes.clone(), references };
        *image.data.insert(module.add_data(data))
    }

    /// Places the arguments: allocates what has no place in the module's data, and fills all of it.
    pub fn place(&self, memory: &mut Memory) -> Placed {
        let place = |image: &Image, memory: &mut Memory| match image.data {
            Some(data) => memory.data_address(data),
            None => memory.allocate(image.bytes.len() as u64),
        };
        let addresses: Vec<u64> = self.images.iter().map(|image| place(image, memory)).collect();
        let word = |leaf: &LeafValue| match leaf {
            LeafValue::Word(_, word) => *word,
            LeafValue::Address(image) => addresses[*image],
        };
        let words = self.leaves.iter().map(|leaves| leaves.iter().map(word).collect()).collect();
        let placed = Placed { words, addresses };
        self.refresh(&placed, memory);
        placed
    }

    /// Gives placed arguments the contents back that they had before a run.
    pub fn refresh(&self, placed: &Placed, memory: &mut Memory) {
        for (image, at) in self.images.iter().zip(&placed.addresses) {
            let mut bytes = image.bytes.clone();
            for (offset, target) in &image.references {
                bytes[*offset..*offset + 8].copy_from_slice(&placed.addresses[*target].to_le_bytes());
            }
            memory.write(*at, &bytes).unwrap_or_else(|_| unreachable!("the place of an image holds its bytes"));
        }
    }

    /// The leaves of a parameter as constants: those of a green reference are symbolic ([`Const::Addr`]).
    pub fn constants(&self, placed: &Placed, param: usize) -> Vec<Const> {
        let constant = |leaf: &LeafValue| match leaf {
            LeafValue::Word(ty, word) => Const::from_word(*ty, *word),
            LeafValue::Address(image) => match self.images[*image].data {
                Some(data) => Const::Addr(data, 0),
                None => Const::Int(placed.addresses[*image] as i64),
            },
        };
        self.leaves[param].iter().map(constant).collect()
    }

    /// Memory after a run, as far as it can change: for each reference parameter what lies behind it, by path, as
    /// Rust's `{:?}` prints it. A `&mut` slice or array is one entry (`a`), a struct one for each field (`p.x`), nested
    /// structs whole and by field; behind `&` there are the `Cell`s only.
    ///
    /// # Errors
    /// If a reference points outside of memory now.
    pub fn after(
        &self,
        module: &Module,
        placed: &Placed,
        memory: &Memory,
    ) -> Result<IndexMap<String, String>, BadAccess> {
        let reader = Reader { module, memory };
        let mut after = After { module, out: IndexMap::new() };
        for (param, words) in self.signature.params.iter().zip(&placed.words) {
            let value = reader.of_words(&param.ty, &mut words.iter().copied())?;
            after.collect(&param.name, &param.ty, &value, false, true);
        }
        Ok(after.out)
    }
}

/// Where a value lies in the arguments. Only references have names, so a path is written where there is one.
#[derive(Clone, Copy)]
enum Path<'p> {
    /// A parameter.
    Parameter(&'p str),
    /// A part of what has this path and type, by number.
    Part(&'p Path<'p>, &'p RustType, usize),
    /// A field of a variant.
    Field(&'p Path<'p>, &'p str),
}

impl Path<'_> {
    fn text(self, module: &Module) -> String {
        match self {
            Path::Parameter(name) => name.to_owned(),
            Path::Part(whole, ty, i) => part_path(module, ty, &whole.text(module), i),
            Path::Field(whole, name) => format!("{}.{name}", whole.text(module)),
        }
    }
}

struct Builder<'a> {
    module: &'a Module,
    images: Vec<Image>,
    param: usize,
}

impl Builder<'_> {
    fn leaves(&mut self, ty: &RustType, value: &Value, path: Path<'_>, out: &mut Vec<LeafValue>) {
        match (ty, value) {
            (RustType::Scalar(s), Value::Word(word)) => out.push(LeafValue::Word(s.ty(), *word)),
            (RustType::Cell(inner), _) => self.leaves(inner, value, path, out),
            (_, Value::Variant(index, items)) => self.variant_leaves(ty, *index, items, path, out),
            (_, Value::Many(items)) => {
                for (i, ((part, _), item)) in parts(self.module, ty).iter().zip(items).enumerate() {
                    self.leaves(part, item, Path::Part(&path, ty, i), out);
                }
            }
            (_, Value::Ref(_)) => out.push(LeafValue::Address(self.image(ty, value, path))),
            (_, Value::Slice(items)) => {
                out.push(LeafValue::Address(self.image(ty, value, path)));
                out.push(LeafValue::Word(Type::Int, items.len() as Word));
            }
            _ => {}
        }
    }

    /// The tag, and the words of the union.
    fn variant_leaves(
        &mut self,
        ty: &RustType,
        index: usize,
        items: &[Value],
        path: Path<'_>,
        out: &mut Vec<LeafValue>,
    ) {
        let module = self.module;
        let Some(decl) = module.enum_of(ty) else { return };
        let Some(variant) = decl.variants.get(index) else { return };
        out.push(LeafValue::Word(Type::Int, decl.repr.canonical(variant.discriminant as Word)));
        let mut own = Vec::new();
        for (field, item) in variant.fields.iter().zip(items) {
            self.leaves(&field.ty, item, Path::Field(&path, &field.name), &mut own);
        }
        let words = module.payload_words(&decl);
        let mut all: Vec<LeafValue> = words.iter().map(|w| LeafValue::Word(w.scalar.ty(), 0)).collect();
        for (at, leaf) in module.variant_places(&decl).swap_remove(index).into_iter().zip(own) {
            all[at] = leaf;
        }
        out.extend(all);
    }

    /// The image of what a reference of type `ty` points to.
    fn image(&mut self, ty: &RustType, value: &Value, path: Path<'_>) -> usize {
        let (to, size) = match (ty, value) {
            (RustType::Ref { to, .. }, _) => ((**to).clone(), self.module.layout(to).0 as usize),
            (_, Value::Slice(items)) => {
                let elem = element(ty);
                let size = self.module.layout(&elem).0 as usize * items.len();
                (RustType::Array(Box::new(elem), items.len() as u64), size)
            }
            _ => (RustType::Unit, 0),
        };
        let (name, param) = (path.text(self.module), self.param);
        let (bytes, references) = (vec![0; size], Vec::new());
        self.images.push(Image { name, ty: to.clone(), param, bytes, references, data: None });
        let image = self.images.len() - 1;
        match value {
            Value::Ref(inner) => self.write(image, 0, &to, inner, path),
            Value::Slice(items) => {
                let elem = element(ty);
                let stride = self.module.layout(&elem).0 as usize;
                for (i, item) in items.iter().enumerate() {
                    self.write(image, i * stride, &elem, item, path);
                }
            }
            _ => {}
        }
        image
    }

    fn put(&mut self, image: usize, at: usize, access: Access, word: Word) {
        let size = access.size() as usize;
        self.images[image].bytes[at..at + size].copy_from_slice(&word.to_le_bytes()[..size]);
    }

    fn write(&mut self, image: usize, at: usize, ty: &RustType, value: &Value, path: Path<'_>) {
        match (ty, value) {
            (RustType::Scalar(s), Value::Word(word)) => self.put(image, at, s.access(), *word),
            (RustType::Cell(inner), _) => self.write(image, at, inner, value, path),
            (_, Value::Variant(index, items)) => {
                let module = self.module;
                let Some(decl) = module.enum_of(ty) else { return };
                let Some(variant) = decl.variants.get(*index) else { return };
                self.put(image, at, decl.repr.access(), variant.discriminant as Word);
                for (field, item) in variant.fields.iter().zip(items) {
                    self.write(image, at + field.offset as usize, &field.ty, item, Path::Field(&path, &field.name));
                }
            }
            (_, Value::Many(items)) => {
                for (i, ((part, offset), item)) in parts(self.module, ty).iter().zip(items).enumerate() {
                    self.write(image, at + *offset as usize, part, item, Path::Part(&path, ty, i));
                }
            }
            (_, Value::Ref(_)) => {
                let target = self.image(ty, value, path);
                self.images[image].references.push((at, target));
            }
            (_, Value::Slice(items)) => {
                let target = self.image(ty, value, path);
                self.images[image].references.push((at, target));
                self.put(image, at + 8, Scalar::Usize.access(), items.len() as Word);
            }
            _ => {}
        }
    }
}

/// Collects what can have changed.
struct After<'a> {
    module: &'a Module,
    out: IndexMap<String, String>,
}

impl After<'_> {
    fn insert(&mut self, path: &str, ty: &RustType, value: &Value) {
        self.out.insert(path.to_owned(), debug(self.module, ty, value));
    }

    /// `exclusive`: the place was reached through `&mut`; `whole`: it is what a parameter is or points to.
    fn collect(&mut self, path: &str, ty: &RustType, value: &Value, exclusive: bool, whole: bool) {
        match (ty, value) {
            (RustType::Ref { mutable, to }, Value::Ref(inner)) => self.collect(path, to, inner, *mutable, whole),
            (RustType::Slice { mutable, elem }, _) if *mutable || has_cell(self.module, elem) => {
                self.insert(path, ty, value);
            }
            (RustType::Cell(inner), _) => self.insert(path, inner, value),
            (RustType::Array(elem, _), _) if exclusive || has_cell(self.module, elem) => self.insert(path, ty, value),
            (RustType::Struct(_) | RustType::Tuple(_), Value::Many(items)) => {
                if exclusive && !whole {
                    self.insert(path, ty, value);
                }
                for (i, ((part, _), item)) in parts(self.module, ty).iter().zip(items).enumerate() {
                    self.collect(&part_path(self.module, ty, path, i), part, item, exclusive, false);
                }
            }
            (_, Value::Variant(index, items)) => {
                if exclusive || has_cell(self.module, ty) {
                    self.insert(path, ty, value);
                }
                let decl = self.module.enum_of(ty);
                let variant = decl.as_ref().and_then(|d| d.variants.get(*index));
                for (field, item) in variant.iter().flat_map(|v| &v.fields).zip(items) {
                    // What a payload refers to; the payload itself has been shown.
                    if self.module.has_reference(&field.ty) {
                        self.collect(&format!("{path}.{}", field.name), &field.ty, item, false, false);
                    }
                }
            }
            (RustType::Scalar(_), _) if exclusive => self.insert(path, ty, value),
            _ => {}
        }
    }
}

/// The path of part `i` of what `path` names: `p.x`, `pair.0`, `a[3]`.
pub fn part_path(module: &Module, ty: &RustType, path: &str, i: usize) -> String {
    match ty {
        RustType::Struct(name) => match module.structs.get(name).and_then(|s| s.fields.get(i)) {
            Some(field) => format!("{path}.{}", field.name),
            None => path.to_owned(),
        },
        RustType::Array(..) => format!("{path}[{i}]"),
        _ => format!("{path}.{i}"),
    }
}

/// Whether a `Cell` is in the type, or behind it.
pub fn has_cell(module: &Module, ty: &RustType) -> bool {
    leads_to(module, ty, |ty| matches!(ty, RustType::Cell(_)))
}

/// Whether a type of which `is` holds is in the type, or behind it.
pub fn leads_to(module: &Module, ty: &RustType, is: impl Fn(&RustType) -> bool) -> bool {
    leads_to_unseen(module, ty, &is, &mut Vec::new())
}

fn leads_to_unseen<'t>(
    module: &'t Module,
    ty: &'t RustType,
    is: &dyn Fn(&RustType) -> bool,
    seen: &mut Vec<&'t str>,
) -> bool {
    is(ty)
        || match ty {
            RustType::Ref { to: inner, .. }
            | RustType::Slice { elem: inner, .. }
            | RustType::Array(inner, _)
            | RustType::Cell(inner)
            | RustType::Option(inner) => leads_to_unseen(module, inner, is, seen),
            RustType::Result(ok, err) => {
                leads_to_unseen(module, ok, is, seen) || leads_to_unseen(module, err, is, seen)
            }
            RustType::Tuple(items) => items.iter().any(|item| leads_to_unseen(module, item, is, seen)),
            RustType::Struct(name) if !seen.contains(&name.as_str()) => {
                seen.push(name);
                let fields = module.structs.get(name).map_or(&[][..], |s| &s.fields);
                fields.iter().any(|f| leads_to_unseen(module, &f.ty, is, seen))
            }
            RustType::Enum(name) if !seen.contains(&name.as_str()) => {
                seen.push(name);
                let variants = module.enums.get(name).map_or(&[][..], |e| &e.variants);
                variants.iter().flat_map(|v| &v.fields).any(|f| leads_to_unseen(module, &f.ty, is, seen))
            }
            _ => false,
        }
}
