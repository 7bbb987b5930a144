//! Values as Rust's `{:?}` prints them.

use super::{Reader, Value, element, parts};
use crate::ir::{Field, Module, RustType, Word, own_name};
use crate::memory::{BadAccess, Memory};

/// A value as Rust's `{:?}` prints it.
pub fn debug(module: &Module, ty: &RustType, value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, module, ty, value);
    out
}

/// Appends `items`, with commas between them, each by `write`.
fn list<T>(
    out: &mut String,
    brackets: [&str; 2],
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push_str(brackets[0]);
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
    out.push_str(brackets[1]);
}

/// Appends the fields of a struct or variant, with names or without.
fn fields(out: &mut String, module: &Module, fields: &[Field], tuple: bool, items: &[Value]) {
    let shown = fields.iter().zip(items);
    if tuple {
        list(out, ["(", ")"], shown, |out, (field, item)| write(out, module, &field.ty, item));
    } else {
        list(out, [" { ", " }"], shown, |out, (field, item)| {
            out.push_str(&field.name);
            out.push_str(": ");
            write(out, module, &field.ty, item);
        });
    }
}

fn write(out: &mut String, module: &Module, ty: &RustType, value: &Value) {
    match (ty, value) {
        (RustType::Scalar(s), Value::Word(word)) => s.write_debug(out, *word),
        (RustType::Enum(_) | RustType::Option(_) | RustType::Result(..), Value::Variant(index, items)) => {
            let decl = module.enum_of(ty);
            match decl.as_ref().and_then(|d| d.variants.get(*index)) {
                None => out.push_str(&format!("{ty}(no such variant)")),
                Some(variant) => {
                    out.push_str(&variant.name);
                    if !variant.fields.is_empty() {
                        fields(out, module, &variant.fields, variant.tuple, items);
                    }
                }
            }
        }
        (RustType::Cell(inner), _) => {
            out.push_str("Cell { value: ");
            write(out, module, inner, value);
            out.push_str(" }");
        }
        (RustType::Ref { to, .. }, Value::Ref(inner)) => write(out, module, to, inner),
        (RustType::Str, Value::Slice(items)) => {
            let bytes: Vec<u8> = items.iter().map(|b| if let Value::Word(w) = b { *w as u8 } else { 0 }).collect();
            out.push_str(&format!("{:?}", String::from_utf8_lossy(&bytes)));
        }
        (RustType::Slice { .. }, Value::Slice(items)) => {
            let elem = element(ty);
            list(out, ["[", "]"], items.iter(), |out, item| write(out, module, &elem, item));
        }
        (RustType::Array(elem, _), Value::Many(items)) => {
            list(out, ["[", "]"], items.iter(), |out, item| write(out, module, elem, item));
        }
        (RustType::Tuple(types), Value::Many(items)) => {
            let close = if types.len() == 1 { ",)" } else { ")" };
            list(out, ["(", close], types.iter().zip(items), |out, (ty, item)| write(out, module, ty, item));
        }
        (RustType::Struct(name), Value::Many(items)) if name.starts_with("QuasiCell.") => {
            out.push_str("QuasiCell { value: ");
            match (parts(module, ty).first(), items.first()) {
                (Some((RustType::Cell(content), _)), Some(item)) => write(out, module, content, item),
                _ => out.push('?'),
            }
            out.push_str(" }");
        }
        (RustType::Struct(name), Value::Many(items)) => match module.structs.get(name) {
            Some(decl) => {
                out.push_str(decl.own_name());
                if !decl.fields.is_empty() {
                    fields(out, module, &decl.fields, decl.tuple, items);
                }
            }
            None => {
                out.push_str(own_name(name));
                out.push_str("()");
            }
        },
        (RustType::Unit, _) => out.push_str("()"),
        (RustType::Never, _) => out.push('!'),
        _ => out.push('?'),
    }
}

/// The value of type `ty` whose leaves are `words`, as Rust's `{:?}` prints it; references are followed into memory.
///
/// # Errors
/// If a reference in it points outside of memory.
pub fn debug_words(module: &Module, memory: &Memory, ty: &RustType, words: &[Word]) -> Result<String, BadAccess> {
    let value = Reader { module, memory }.of_words(ty, &mut words.iter().copied())?;
    Ok(debug(module, ty, &value))
}
