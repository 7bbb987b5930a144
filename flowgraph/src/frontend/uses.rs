//! What inference made of the operators and number methods of a source: what a macro needs to know that rewrites them.
//!
//! Rust's `+` traps in a debug build and wraps in a release build; the dialect's always wraps. So a source that is
//! embedded in a crate has its `+` rewritten to `i64::wrapping_add`, for which the type must be known, and how many
//! references are in front of the operands:
//!
//! ```
//! let text = "fn next(x: &u8) -> u8 { 1 + x }";
//! let lifted = flowgraph::frontend::lift_embedded(&[("a.rs", text)]).unwrap();
//! let used = &lifted.uses[0];
//! assert_eq!((used.loc.column, used.ty.name(), used.references), (27, "u8", [0, 1]));
//! ```

use super::check::Checker;
use super::infer::Infer;
use super::refusal::Pos;
use super::types::Ty;
use crate::ir::{Loc, Module, Scalar};
use crate::math::Function;

/// What is used at a place.
#[derive(Clone, Copy, Debug)]
pub enum Used {
    /// An operator of arithmetic, also in a compound assignment; or the `-` in front of an operand.
    Operator,
    /// The number method `abs` or `pow`, which overflow as operators do.
    Method(&'static str),
    /// A method of floats that is a function of the bundled mathematics library.
    Mathematics(&'static Function),
    /// The method `min` or `max` of floats: which of two zeros is the lesser is left open by Rust.
    Extreme(&'static str),
}

/// An operator or number method in a source, and what it is used on.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Where the operator, or the method's name, begins.
    pub loc: Loc,
    /// What it is.
    pub used: Used,
    /// The type computed with: that of the left operand or receiver, without references.
    pub ty: Scalar,
    /// The type of the right operand, where there is one: another than `ty` in shifts only.
    pub right: Scalar,
    /// How many references the left operand (or receiver) and the right one have in front.
    pub references: [u32; 2],
}

/// A module, and what its source uses.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The module.
    pub module: Module,
    /// The uses, in no particular order. Code that was refused, or isn't looked into, has none.
    pub uses: Vec<Use>,
}

/// A use whose types aren't known to the end yet.
pub(super) struct Pending {
    pub(super) pos: Pos,
    used: Used,
    left: Ty,
    right: Option<Ty>,
}

impl Pending {
    /// Why this can't be in a constant, which rustc computes its own way.
    pub(super) fn open_in_constants(&self) -> Option<String> {
        let Used::Extreme(name) = self.used else { return None };
        Some(format!("`{name}` of floats can't be in a constant: Rust leaves open which zero is the lesser"))
    }

    /// The use, once everything is known.
    pub(super) fn resolve(&self, infer: &mut Infer) -> Option<Use> {
        let mut scalar = |ty: &Ty| {
            let mut ty = infer.resolve(ty);
            let mut references = 0;
            while let Ty::Ref(_, to) = &ty {
                ty = (**to).clone();
                references += 1;
            }
            Some((ty.as_scalar()?, references))
        };
        let (ty, left) = scalar(&self.left)?;
        let (right, right_references) = self.right.as_ref().map_or(Some((ty, 0)), scalar)?;
        let references = [left, right_references];
        Some(Use { loc: self.pos.loc, used: self.used, ty, right, references })
    }
}

impl Checker<'_, '_> {
    /// Notes what is used at a place.
    pub(super) fn note_use(&mut self, at: proc_macro2::Span, used: Used, left: &Ty, right: Option<&Ty>) {
        let pos = Pos::of(self.file, at);
        self.uses.push(Pending { pos, used, left: left.clone(), right: right.cloned() });
    }
}
