//! C that prints the memory that a run may have changed: what [`flowgraph::value::Arguments::after`] finds, for
//! executables.

use super::show::{CannotShow, Shower, load, pointer, quoted};
use flowgraph::ir::{Access, Module, RustType, Signature};
use flowgraph::value::{has_cell, part_path, parts};
use std::fmt::Write;

/// Where a value is found.
#[derive(Clone)]
enum Place {
    /// Its leaves are words of an array from a number on.
    Words(usize),
    /// At an address: an expression.
    At(String),
}

/// Writes statements for one place after the other.
struct After<'s, 'm> {
    module: &'m Module,
    shower: &'s mut Shower<'m>,
    words: &'s str,
    out: String,
    /// Structs on the way, each entered once: a list behind references has no end as a type.
    inside: Vec<String>,
}

/// Statements that print what may have changed behind the parameters, whose words are an array of C's with this name.
pub(super) fn after<'m>(
    module: &'m Module,
    shower: &mut Shower<'m>,
    signature: &Signature,
    words: &str,
) -> Result<String, CannotShow> {
    let mut after = After { module, shower, words, out: String::new(), inside: Vec::new() };
    let mut at = 0;
    for param in &signature.params {
        after.collect(&param.name, &param.ty, Place::Words(at), false, true)?;
        at += module.leaves(&param.ty).len();
    }
    Ok(after.out)
}

impl After<'_, '_> {
    /// The word of a scalar or address that lies in a place.
    fn word(&self, place: &Place) -> String {
        match place {
            Place::Words(at) => format!("{}[{at}]", self.words),
            Place::At(at) => load(Access::I64, at),
        }
    }

    /// A line `path = value`.
    fn line(&mut self, path: &str, ty: &RustType, place: &Place) -> Result<(), CannotShow> {
        let shown = match place {
            Place::Words(at) => self.shower.words(ty, self.words, &mut at.clone())?,
            Place::At(at) => self.shower.call(ty, at)?,
        };
        let _ = write!(
            self.out,
            "    show_text(out, {});\n{shown}    show_text(out, \"\\n\");\n",
            quoted(&format!("{path} = "))
        );
        Ok(())
    }

    /// As the collecting of values does it: `exclusive` if the place was reached through `&mut`, `whole` if it is what
    /// a parameter is or points to.
    fn collect(
        &mut self,
        path: &str,
        ty: &RustType,
        place: Place,
        exclusive: bool,
        whole: bool,
    ) -> Result<(), CannotShow> {
        match ty {
            RustType::Ref { mutable, to } => {
                let behind = Place::At(pointer(&self.word(&place)));
                self.collect(path, to, behind, *mutable, whole)
            }
            RustType::Slice { mutable, elem } if *mutable || has_cell(self.module, elem) => self.line(path, ty, &place),
            RustType::Cell(inner) => self.line(path, inner, &place),
            RustType::Array(elem, _) if exclusive || has_cell(self.module, elem) => self.line(path, ty, &place),
            RustType::Struct(_) | RustType::Tuple(_) => {
                if exclusive && !whole {
                    self.line(path, ty, &place)?;
                }
                let name = ty.to_string();
                if self.inside.contains(&name) {
                    return Err(CannotShow(ty.clone()));
                }
                self.inside.push(name);
                let mut leaf = 0;
                for (i, (part, offset)) in parts(self.module, ty).iter().enumerate() {
                    let inner = match &place {
                        Place::Words(at) => Place::Words(at + leaf),
                        Place::At(at) => Place::At(format!("{at} + {offset}")),
                    };
                    leaf += self.module.leaves(part).len();
                    self.collect(&part_path(self.module, ty, path, i), part, inner, exclusive, false)?;
                }
                self.inside.pop();
                Ok(())
            }
            RustType::Enum(_) | RustType::Option(_) | RustType::Result(..) => {
                if exclusive || has_cell(self.module, ty) {
                    self.line(path, ty, &place)?;
                }
                self.behind_payloads(path, ty, &place)
            }
            RustType::Scalar(_) if exclusive => self.line(path, ty, &place),
            _ => Ok(()),
        }
    }

    /// What the payload of the variant that is there refers to; the payload itself has been shown.
    fn behind_payloads(&mut self, path: &str, ty: &RustType, place: &Place) -> Result<(), CannotShow> {
        if !self.module.has_reference(ty) {
            return Ok(());
        }
        let name = ty.to_string();
        let decl = self.module.enum_of(ty).filter(|_| !self.inside.contains(&name));
        let (Some(decl), Place::At(at)) = (decl, place) else { return Err(CannotShow(ty.clone())) };
        self.inside.push(name);
        for variant in &decl.variants {
            let tag = decl.repr.canonical(variant.discriminant as u64);
            let _ = writeln!(self.out, "    if ({} == {tag:#x}ull) {{", load(decl.repr.access(), at));
            for field in variant.fields.iter().filter(|f| self.module.has_reference(&f.ty)) {
                let inner = Place::At(format!("{at} + {}", field.offset));
                self.collect(&format!("{path}.{}", field.name), &field.ty, inner, false, false)?;
            }
            self.out += "    }\n";
        }
        self.inside.pop();
        Ok(())
    }
}
