//! Values in the messages of traps, as `{:?}` shows them.
//!
//! ```text
//! called `Result::unwrap()` on an `Err` value: At { line: {:?}, why: TooLarge({:?}) }
//! ```
//!
//! A trap's message is fixed text with scalars in it. Which text an enum becomes depends on its tag, so the way to the
//! trap goes by the tags, and each variant has a trap of its own.

use super::super::refusal::Pos;
use super::super::types::Ty;
use super::{Lowerer, Val};
use crate::ir::{Operand, Scalar, TrapKind, own_name};

/// So many traps show one value at most.
const MOST_TRAPS: usize = 256;

/// What is still to be said.
#[derive(Clone)]
enum Part {
    Text(&'static str),
    Name(String),
    Value(Ty, Val),
}

/// What has been said: the message so far, and the operands that are shown in it.
#[derive(Clone)]
pub(super) struct Said {
    kind: TrapKind,
    message: String,
    args: Vec<(Operand, Scalar)>,
}

impl Said {
    pub(super) fn new(kind: TrapKind, message: String) -> Said {
        Said { kind, message, args: Vec::new() }
    }
}

impl Lowerer<'_, '_> {
    /// Whether a trap can show values of a type: there are no references in it, and not too many combinations of
    /// variants.
    pub(super) fn can_show(&self, ty: &Ty) -> bool {
        self.traps_to_show(ty).is_some_and(|n| n <= MOST_TRAPS)
    }

    /// How many traps it takes to show a value.
    fn traps_to_show(&self, ty: &Ty) -> Option<usize> {
        let all = |types: &[Ty]| types.iter().try_fold(1usize, |n, t| n.checked_mul(self.traps_to_show(t)?));
        match ty {
            Ty::Scalar(_) | Ty::Unit | Ty::Never | Ty::Error => Some(1),
            Ty::Tuple(items) => all(items),
            Ty::Struct(name) => all(&self.p.field_types(name)),
            Ty::Cell(t) => self.traps_to_show(t),
            Ty::Array(t, n) => {
                let one = self.traps_to_show(t)?;
                if one == 1 { Some(1) } else { one.checked_pow(u32::try_from(*n).ok()?) }
            }
            Ty::Enum(_) | Ty::Option(_) | Ty::Result(..) => {
                let count = self.p.variant_count(ty)?;
                (0..count).try_fold(0usize, |n, i| n.checked_add(all(&self.p.variant_types(ty, i))?))
            }
            Ty::Ref(..) | Ty::Slice(..) | Ty::Str | Ty::Var(_) => None,
        }
    }

    /// Traps; the message ends with a value.
    pub(super) fn trap_showing(&mut self, said: Said, ty: &Ty, value: Val, pos: Pos) {
        self.say(said, vec![Part::Value(ty.clone(), value)], pos);
    }

    /// Says what is left (the last part first), and traps.
    fn say(&mut self, mut said: Said, mut left: Vec<Part>, pos: Pos) {
        while let Some(part) = left.pop() {
            match part {
                Part::Text(text) => said.message.push_str(text),
                Part::Name(name) => said.message.push_str(&name),
                Part::Value(Ty::Scalar(scalar), value) => {
                    said.message.push_str("{:?}");
                    said.args.extend(value.first().map(|v| (*v, scalar)));
                }
                Part::Value(ty @ (Ty::Enum(_) | Ty::Option(_) | Ty::Result(..)), value) => {
                    return self.say_variant(&said, &ty, &value, &left, pos);
                }
                Part::Value(ty, value) => left.extend(self.parts_of(&ty, &value).into_iter().rev()),
            }
        }
        self.trap_now(said.kind, Some(said.message), said.args, pos);
    }

    /// Goes on by the tag of an enum.
    fn say_variant(&mut self, said: &Said, ty: &Ty, value: &[Operand], left: &[Part], pos: Pos) {
        let (Some(shape), Some(tag)) = (self.p.shape(ty), value.first().copied()) else { return };
        let blocks: Vec<_> = shape.variants.iter().map(|v| (v.discriminant, self.b.new_block())).collect();
        let Some((last, cases)) = blocks.split_last() else { return };
        match tag.as_int() {
            Some(known) => {
                let block = cases.iter().find(|(discriminant, _)| *discriminant == known).unwrap_or(last).1;
                self.b.jump(block, pos);
            }
            None => self.branch_on_tag(tag, &shape, cases, last.1, pos),
        }
        for (index, (_, block)) in blocks.iter().enumerate() {
            self.b.enter(*block);
            let leaves = self.payload(&shape, index, value);
            let (name, fields, tuple) = self.p.variant_names(ty, index);
            let types = self.p.variant_types(ty, index);
            let mut left = left.to_vec();
            left.extend(self.fields(name, &fields, tuple, &types, &leaves).into_iter().rev());
            self.say(said.clone(), left, pos);
        }
    }

    /// What a value that isn't an enum is shown as.
    fn parts_of(&self, ty: &Ty, value: &[Operand]) -> Vec<Part> {
        match ty {
            Ty::Tuple(types) => self.list("(", types, &[], value, if types.len() == 1 { ",)" } else { ")" }),
            Ty::Array(t, n) => self.list("[", &vec![(**t).clone(); *n as usize], &[], value, "]"),
            Ty::Cell(t) => {
                vec![Part::Text("Cell {{ value: "), Part::Value((**t).clone(), value.into()), Part::Text(" }}")]
            }
            Ty::Struct(key) => {
                let types = self.p.field_types(key);
                let written = self.p.structs.get(key).map(|s| &s.item.fields);
                let names = written.into_iter().flatten().filter_map(|f| f.ident.as_ref());
                let names: Vec<String> = names.map(super::super::items::ident_text).collect();
                let tuple = matches!(written, Some(syn::Fields::Unnamed(_)));
                self.fields(own_name(key).to_owned(), &names, tuple, &types, value)
            }
            _ => vec![Part::Text("()")],
        }
    }

    /// `Name`, `Name(a, b)` or `Name { a: 1, b: 2 }`.
    fn fields(&self, name: String, names: &[String], tuple: bool, types: &[Ty], value: &[Operand]) -> Vec<Part> {
        let mut parts = vec![Part::Name(name)];
        match (types.is_empty(), tuple) {
            (true, _) => {}
            (false, true) => parts.extend(self.list("(", types, &[], value, ")")),
            (false, false) => parts.extend(self.list(" {{ ", types, names, value, " }}")),
        }
        parts
    }

    /// Values between commas, with their names before them if they have any.
    fn list(
        &self,
        open: &'static str,
        types: &[Ty],
        names: &[String],
        mut value: &[Operand],
        close: &'static str,
    ) -> Vec<Part> {
        let mut parts = vec![Part::Text(open)];
        for (i, ty) in types.iter().enumerate() {
            if i > 0 {
                parts.push(Part::Text(", "));
            }
            parts.extend(names.get(i).map(|name| Part::Name(format!("{name}: "))));
            let n = (self.p.leaf_count(ty) as usize).min(value.len());
            parts.push(Part::Value(ty.clone(), value[..n].into()));
            value = &value[n..];
        }
        parts.push(Part::Text(close));
        parts
    }
}
