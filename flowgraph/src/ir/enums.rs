//! Enums: their variants, how they lie in memory, and which SSA values they are.
//!
//! In SSA an enum is its tag (an int) and, if any variant has fields, the union of the payloads' leaves *by type*: the
//! k-th int leaf of every variant is the k-th int word, likewise for floats and singles. Ints come first, then floats,
//! then singles. Words that the variant present doesn't use are zero.
//!
//! ```text
//! enum Node { Push(u8, f64), Add, Jump { to: usize } }      tag: int, 0: int (the u8, or to), 1: float
//! ```
//!
//! In memory it is what `repr(C)` makes of it: the tag (an `i32` unless `#[repr(..)]` names another integer), then the
//! union of the variants' `repr(C)` structs at the union's alignment. `Option` and `Result` are enums with this very
//! layout.

use super::{Field, Leaf, Module, RustType, Scalar, Type};
use std::borrow::Cow;

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What its tag is.
    pub discriminant: i64,
    /// `V(A, B)` rather than `V { a: A, b: B }`.
    pub tuple: bool,
    /// Its fields in source order, with offsets from the start of the enum.
    pub fields: Vec<Field>,
}

/// An enum with its `repr(C)` layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumDecl {
    /// Its name.
    pub name: String,
    /// How the tag lies in memory (`i32` unless `#[repr(..)]` says otherwise).
    pub repr: Scalar,
    /// The variants in source order.
    pub variants: Vec<Variant>,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

impl EnumDecl {
    /// Whether any variant has a field. Without, the enum is C-like: a tag and nothing else.
    pub fn has_payload(&self) -> bool {
        self.variants.iter().any(|v| !v.fields.is_empty())
    }

    /// The variant with this tag.
    pub fn variant(&self, discriminant: i64) -> Option<(usize, &Variant)> {
        self.variants.iter().enumerate().find(|(_, v)| v.discriminant == discriminant)
    }
}

/// Where the leaves of each variant's fields are among the words of the union: the words' types, and for each variant
/// one index for each of its leaves. A `usize` shares a word with none but a `usize`: places in a guest's code are
/// known when compiling more often than the numbers that it computes, and a word that one variant has red is red for
/// all.
pub fn union_of(variants: &[Vec<Scalar>]) -> (Vec<Type>, Vec<Vec<usize>>) {
    const TYPES: [Type; 4] = [Type::Int, Type::Int, Type::Float, Type::Single];
    let class = |scalar: &Scalar| match scalar.ty() {
        Type::Float => 2,
        Type::Single => 3,
        _ => usize::from(*scalar == Scalar::Usize),
    };
    let count = |leaves: &[Scalar], of: usize| leaves.iter().filter(|scalar| class(scalar) == of).count();
    let most = [0, 1, 2, 3].map(|of| variants.iter().map(|leaves| count(leaves, of)).max().unwrap_or(0));
    let words = TYPES.iter().zip(most).flat_map(|(ty, n)| std::iter::repeat_n(*ty, n)).collect();
    let place = |leaves: &Vec<Scalar>| {
        let mut next = [0, most[0], most[0] + most[1], most[0] + most[1] + most[2]];
        let mut take = |scalar: &Scalar| {
            let of = class(scalar);
            next[of] += 1;
            next[of] - 1
        };
        leaves.iter().map(&mut take).collect()
    };
    (words, variants.iter().map(place).collect())
}

impl Module {
    /// The variants of an enum type, of `Option` and `Result` too; `None` for other types and unknown names.
    pub fn enum_of(&self, ty: &RustType) -> Option<Cow<'_, EnumDecl>> {
        let variant = |name: &str, discriminant, payload: Option<&RustType>| {
            let field = |ty: &RustType| Field { name: "0".to_owned(), ty: ty.clone(), offset: 0, green: false };
            Variant {
                name: name.to_owned(),
                discriminant,
                tuple: true,
                fields: payload.map(field).into_iter().collect(),
            }
        };
        let variants = match ty {
            RustType::Enum(name) => return self.enums.get(name).map(Cow::Borrowed),
            RustType::Option(t) => vec![variant("None", 0, None), variant("Some", 1, Some(t))],
            RustType::Result(t, e) => vec![variant("Ok", 0, Some(t)), variant("Err", 1, Some(e))],
            _ => return None,
        };
        Some(Cow::Owned(self.lay_out_enum(&ty.to_string(), Scalar::I32, variants)))
    }

    /// The declaration of an enum whose variants' fields have no offsets yet. Their types must have been laid out.
    pub fn lay_out_enum(&self, name: &str, repr: Scalar, mut variants: Vec<Variant>) -> EnumDecl {
        let tag = repr.access().size();
        let (mut size, mut align) = (0, 1);
        let mut places = Vec::new();
        for variant in &variants {
            let types: Vec<RustType> = variant.fields.iter().map(|f| f.ty.clone()).collect();
            let (offsets, bytes, alignment) = self.tuple_offsets(&types);
            (size, align) = (bytes.max(size), alignment.max(align));
            places.push(offsets);
        }
        let start = tag.next_multiple_of(align);
        for (variant, offsets) in variants.iter_mut().zip(places) {
            for (field, offset) in variant.fields.iter_mut().zip(offsets) {
                field.offset = offset.saturating_add(start);
            }
        }
        let align = align.max(tag);
        let size = start.saturating_add(size).checked_next_multiple_of(align).unwrap_or(u32::MAX);
        EnumDecl { name: name.to_owned(), repr, variants, size, align }
    }

    /// The SSA values of each variant's fields, in order.
    pub fn variant_leaves(&self, decl: &EnumDecl) -> Vec<Vec<Leaf>> {
        let leaves = |f: &Field| self.leaves(&f.ty);
        decl.variants.iter().map(|v| v.fields.iter().flat_map(leaves).collect()).collect()
    }

    /// For each variant, which words of the union its leaves are.
    pub fn variant_places(&self, decl: &EnumDecl) -> Vec<Vec<usize>> {
        let variants = self.variant_leaves(decl);
        let scalars: Vec<Vec<Scalar>> = variants.iter().map(|v| v.iter().map(|l| l.scalar).collect()).collect();
        union_of(&scalars).1
    }

    /// The words of the union of an enum's payloads. A word that variants use differently is an `i64`; one that is a
    /// reference in any of them counts as one.
    pub fn payload_words(&self, decl: &EnumDecl) -> Vec<Leaf> {
        let variants = self.variant_leaves(decl);
        let scalars: Vec<Vec<Scalar>> = variants.iter().map(|v| v.iter().map(|l| l.scalar).collect()).collect();
        let (words, places) = union_of(&scalars);
        let mut out: Vec<Option<Leaf>> = vec![None; words.len()];
        for (leaf, at) in variants.iter().flatten().zip(places.iter().flatten()) {
            match &mut out[*at] {
                Some(known) => {
                    if known.scalar != leaf.scalar {
                        known.scalar = Scalar::I64;
                    }
                    known.reference = known.reference.max(leaf.reference);
                }
                empty => *empty = Some(Leaf { path: String::new(), ..leaf.clone() }),
            }
        }
        out.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shared_by_type() {
        let variants = vec![
            vec![Scalar::F64, Scalar::Usize, Scalar::U8],
            vec![Scalar::I64, Scalar::Bool, Scalar::F32],
            vec![Scalar::Usize],
            vec![],
        ];
        let (words, places) = union_of(&variants);
        assert_eq!(words, [Type::Int, Type::Int, Type::Int, Type::Float, Type::Single]);
        assert_eq!(places, [vec![3, 2, 0], vec![0, 1, 4], vec![2], vec![]]);
    }

    #[test]
    fn payloads_lie_at_the_alignment_of_their_union() {
        let module = Module::default();
        let scalar = |s| RustType::Scalar(s);
        let option = |s| module.enum_of(&RustType::Option(Box::new(scalar(s)))).map(Cow::into_owned).expect("an enum");
        let byte = option(Scalar::U8);
        assert_eq!((byte.variants[1].fields[0].offset, byte.size, byte.align), (4, 8, 4));
        let word = option(Scalar::I64);
        assert_eq!((word.variants[1].fields[0].offset, word.size, word.align), (8, 16, 8));
        let unit = module.lay_out_enum("E", Scalar::U8, Vec::new());
        assert_eq!((unit.size, unit.align), (1, 1));
    }
}
