//! Enums: their parts in memory and among the leaves of a value, and ways to go by their tags.
//!
//! An enum is read and written by its tag: which fields there are depends on it. Everything in an enum has the class of
//! the outermost enum that it is in.

use super::super::enums::Shape;
use super::super::refusal::Pos;
use super::super::types::Ty;
use super::place::Mem;
use super::{Lowerer, Val};
use crate::ir::{BlockId, Opcode, Operand, Scalar};
use std::rc::Rc;

impl Lowerer<'_, '_> {
    /// Whether the type is an enum with a payload, perhaps in a `Cell`.
    pub(super) fn is_sum(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Cell(t) => self.is_sum(t),
            _ => self.p.has_payload(ty),
        }
    }

    /// The place in an enum's memory that begins `offset` bytes behind its start.
    fn part_of_enum(&mut self, mem: &Mem, shape: &Shape, name: &str, offset: u32, ty: Ty, pos: Pos) -> Mem {
        let mut part = if mem.within.is_some() { mem.clone() } else { self.without_offset(mem, pos) };
        let outer = part.within.clone().unwrap_or_else(|| shape.class.as_str().into());
        part.offset = part.offset.wrapping_add(i64::from(offset));
        part.class = Some((outer.to_string(), name.to_owned()));
        part.within = Some(outer);
        part.ty = ty;
        part
    }

    /// The place of a field of an enum's variant.
    pub(super) fn project_variant(&mut self, mem: &Mem, shape: &Shape, variant: usize, field: usize, pos: Pos) -> Mem {
        let variant = &shape.variants[variant];
        let (name, offset) = variant.fields.get(field).cloned().unwrap_or_default();
        let ty = variant.types.get(field).cloned().unwrap_or(Ty::Error);
        let name = format!("{}.{name}", variant.name);
        self.part_of_enum(mem, shape, &name, offset, ty, pos)
    }

    /// The place of an enum's tag.
    fn tag_place(&mut self, mem: &Mem, shape: &Shape, pos: Pos) -> Mem {
        self.part_of_enum(mem, shape, "tag", 0, Ty::Scalar(shape.repr), pos)
    }

    /// The tag of an enum in memory.
    pub(super) fn load_tag(&mut self, mem: &Mem, shape: &Shape, pos: Pos) -> Operand {
        let place = self.tag_place(&Lowerer::through_cell(mem), shape, pos);
        self.load_word(&place, 0, shape.repr, pos)
    }

    /// The shape of the enum with a payload that lies at a place, if one does.
    pub(super) fn sum_at(&mut self, mem: &Mem) -> Option<Rc<Shape>> {
        let ty = match &mem.ty {
            Ty::Cell(t) => (**t).clone(),
            ty => ty.clone(),
        };
        if self.is_sum(&ty) { self.p.shape(&ty) } else { None }
    }

    /// An enum in memory as a whole: the tag, and the fields of the variant that it says. In a local's own memory,
    /// where all bytes are always there, all words if these lie at the same places in all variants: to make those 0
    /// that aren't used takes a branch on the tag.
    pub(super) fn load_enum(&mut self, mem: &Mem, shape: &Shape, pos: Pos) -> Val {
        if let Some(places) = self.places_of_words(mem, shape, pos) {
            return places.iter().map(|(mem, scalar)| self.load_word(mem, 0, *scalar, pos)).collect();
        }
        let tag = self.load_tag(mem, shape, pos);
        self.load_payload(mem, shape, tag, pos)
    }

    /// An enum in memory as a whole whose tag has been read.
    pub(super) fn load_tagged(&mut self, mem: &Mem, tag: Operand, pos: Pos) -> Val {
        match self.sum_at(mem) {
            Some(shape) => self.load_payload(&Lowerer::through_cell(mem), &shape, tag, pos),
            None => self.load(mem, pos),
        }
    }

    fn load_payload(&mut self, mem: &Mem, shape: &Shape, tag: Operand, pos: Pos) -> Val {
        let vars: Vec<_> = shape.words.iter().map(|s| self.b.new_var(s.ty())).collect();
        self.by_variant(tag, shape, pos, |this, variant| {
            let fields = shape.variants[variant].types.len();
            let mut leaves = Val::new();
            for field in 0..fields {
                let place = this.project_variant(mem, shape, variant, field, pos);
                leaves.extend(this.load(&place, pos));
            }
            let whole = this.assemble(shape, variant, &leaves);
            this.write_all(&vars, &whole[1..]);
        });
        let mut value: Val = smallvec::smallvec![tag];
        value.extend(self.read_all(&vars));
        value
    }

    pub(super) fn store_enum(&mut self, mem: &Mem, shape: &Shape, value: &[Operand], pos: Pos) {
        let Some(tag) = value.first().copied() else { return };
        if tag.as_int().is_none()
            && let Some(places) = self.places_of_words(mem, shape, pos)
        {
            for ((mem, scalar), word) in places.iter().zip(value) {
                self.store_word(mem, 0, *scalar, *word, pos);
            }
            return;
        }
        let place = self.tag_place(mem, shape, pos);
        self.store_word(&place, 0, shape.repr, tag, pos);
        self.by_variant(tag, shape, pos, |this, variant| {
            let leaves = this.payload(shape, variant, value);
            let mut rest = leaves.as_slice();
            for (field, ty) in shape.variants[variant].types.iter().enumerate() {
                let n = (this.p.leaf_count(ty) as usize).min(rest.len());
                let place = this.project_variant(mem, shape, variant, field, pos);
                this.store(&place, &rest[..n], pos);
                rest = &rest[n..];
            }
        });
    }

    pub(super) fn store_tag(&mut self, mem: &Mem, shape: &Shape, variant: usize, pos: Pos) {
        let place = self.tag_place(mem, shape, pos);
        self.store_word(&place, 0, shape.repr, Operand::int(shape.variants[variant].discriminant), pos);
    }

    /// Where the words of an enum in a local's own memory lie.
    fn places_of_words(&mut self, mem: &Mem, shape: &Shape, pos: Pos) -> Option<Vec<(Mem, Scalar)>> {
        if mem.own { self.fixed_places_of_enum(mem, shape, pos) } else { None }
    }

    /// Where the leaves of a value lie, if that is the same whatever the tags of the enums in it say: each word of an
    /// enum lies at one place in all variants that use it, no two lie across each other, and all are plain numbers.
    fn fixed_places(&mut self, mem: &Mem, pos: Pos) -> Option<Vec<(Mem, Scalar)>> {
        if let Some(shape) = self.sum_at(mem) {
            return self.fixed_places_of_enum(&Lowerer::through_cell(mem), &shape, pos);
        }
        match &mem.ty {
            Ty::Scalar(scalar) => Some(vec![(mem.clone(), *scalar)]),
            Ty::Enum(_) => Some(vec![(mem.clone(), self.scalar(&mem.ty))]),
            Ty::Unit => Some(Vec::new()),
            Ty::Struct(_) | Ty::Tuple(_) => {
                let fields = 0..self.p.fields_of(&mem.ty).len();
                let mut places = Vec::new();
                for field in fields {
                    let field = self.project_field(mem, field, pos);
                    places.extend(self.fixed_places(&field, pos)?);
                }
                Some(places)
            }
            _ => None,
        }
    }

    fn fixed_places_of_enum(&mut self, mem: &Mem, shape: &Shape, pos: Pos) -> Option<Vec<(Mem, Scalar)>> {
        let tag = self.tag_place(mem, shape, pos);
        let mut places: Vec<Option<(Mem, Scalar)>> = vec![None; 1 + shape.words.len()];
        places[0] = Some((tag.clone(), shape.repr));
        for (variant, known) in shape.variants.iter().enumerate() {
            let mut words = known.places.iter();
            for field in 0..known.types.len() {
                // As part of the enum that the tag is part of, a field is found without computing an address.
                let field = self.project_variant(&tag, shape, variant, field, pos);
                for place in self.fixed_places(&field, pos)? {
                    match &mut places[*words.next()?] {
                        Some(known) if !is_same_place(known, &place) => return None,
                        Some(_) => {}
                        unknown => *unknown = Some(place),
                    }
                }
            }
        }
        let places: Vec<_> = places.into_iter().collect::<Option<_>>()?;
        let apart = places.iter().enumerate().all(|(i, place)| places[..i].iter().all(|other| are_apart(place, other)));
        apart.then_some(places)
    }

    /// Copies an enum that is too large to be a value.
    pub(super) fn copy_enum(&mut self, from: &Mem, to: &Mem, pos: Pos) {
        let Some(shape) = self.sum_at(from) else { return };
        let tag = self.load_tag(from, &shape, pos);
        let place = self.tag_place(to, &shape, pos);
        self.store_word(&place, 0, shape.repr, tag, pos);
        self.by_variant(tag, &shape, pos, |this, variant| {
            for field in 0..shape.variants[variant].types.len() {
                let source = this.project_variant(from, &shape, variant, field, pos);
                let target = this.project_variant(to, &shape, variant, field, pos);
                this.copy(&source, &target, pos);
            }
        });
    }

    /// The value of an enum: the tag of `variant`, and its fields' leaves where they belong.
    pub(super) fn assemble(&mut self, shape: &Shape, variant: usize, leaves: &[Operand]) -> Val {
        let known = &shape.variants[variant];
        let mut out: Val = smallvec::smallvec![Operand::int(known.discriminant)];
        out.extend(shape.words.iter().map(|s| super::super::ssa::zero(s.ty())));
        for (at, leaf) in known.places.iter().zip(leaves) {
            out[*at] = *leaf;
        }
        out
    }

    /// The leaves of the fields of `variant` in the value of an enum.
    pub(super) fn payload(&mut self, shape: &Shape, variant: usize, value: &[Operand]) -> Val {
        shape.variants[variant].places.iter().filter_map(|at| value.get(*at).copied()).collect()
    }

    /// Does something for the variant that a tag says, and comes together again. Variants without fields share one
    /// case.
    pub(super) fn by_variant(&mut self, tag: Operand, shape: &Shape, pos: Pos, mut case: impl FnMut(&mut Self, usize)) {
        if let Some(known) = tag.as_int() {
            if let Some(variant) = shape.index_of(known) {
                case(self, variant);
            }
            return;
        }
        let mut blocks: Vec<(usize, BlockId)> = Vec::new();
        for (i, variant) in shape.variants.iter().enumerate() {
            if !variant.types.is_empty() {
                blocks.push((i, self.b.new_block()));
            }
        }
        let join = self.b.new_block();
        let bare = (0..shape.variants.len()).find(|i| shape.variants[*i].types.is_empty());
        let (cases, default) = match (bare, blocks.split_last()) {
            (Some(bare), _) => {
                let default = self.b.new_block();
                let cases = blocks.clone();
                blocks.push((bare, default));
                (cases, default)
            }
            (None, Some((last, before))) => (before.to_vec(), last.1),
            (None, None) => return,
        };
        let cases: Vec<(i64, BlockId)> =
            cases.iter().map(|(i, block)| (shape.variants[*i].discriminant, *block)).collect();
        self.branch_on_tag(tag, shape, &cases, default, pos);
        for (variant, block) in blocks {
            self.b.enter(block);
            case(self, variant);
            self.b.jump(join, pos);
        }
        self.b.enter(join);
    }

    /// Goes where the tag leads; a branch where there are only two ways.
    pub(super) fn branch_on_tag(
        &mut self,
        tag: Operand,
        shape: &Shape,
        cases: &[(i64, BlockId)],
        default: BlockId,
        pos: Pos,
    ) {
        let bit = shape.variants.iter().all(|v| v.discriminant == 0 || v.discriminant == 1);
        match cases {
            [] => self.b.jump(default, pos),
            [(0, block)] => self.b.branch(tag, default, *block, pos),
            [(1, block)] if bit => self.b.branch(tag, *block, default, pos),
            [(value, block)] => {
                let equal = self.op2(Opcode::IntEq, tag, Operand::int(*value), pos);
                self.b.branch(equal, *block, default, pos);
            }
            _ => self.b.switch(tag, cases, default, pos),
        }
    }
}

/// The first byte of a place: what it is counted from, and the distance.
fn start((mem, _): &(Mem, Scalar)) -> ((Operand, Option<(Operand, u32)>), i64) {
    ((mem.base, mem.index), mem.offset)
}

fn is_same_place(a: &(Mem, Scalar), b: &(Mem, Scalar)) -> bool {
    start(a) == start(b) && a.1.access() == b.1.access() && a.0.kind == b.0.kind
}

/// Whether two places in one enum are seen to have no byte in common.
fn are_apart(a: &(Mem, Scalar), b: &(Mem, Scalar)) -> bool {
    let size = |(_, scalar): &(Mem, Scalar)| i64::from(scalar.access().size());
    let ((from, at), (to, other)) = (start(a), start(b));
    from == to && (at + size(a) <= other || other + size(b) <= at)
}
